#!/bin/sh
# Builds the module of the page for WebAssembly: page.sh FOLDER. It gets FOLDER/sysroot, and FOLDER/build with page/module.js and .wasm.
set -eu
folder=$1
tools=$(dirname "$0")
unset CFLAGS CPPFLAGS LDFLAGS CPATH C_INCLUDE_PATH LIBRARY_PATH # of this machine, like its libraries
export NODE_PATH=/usr/share/nodejs
! command -v ccache >/dev/null || export EM_COMPILER_WRAPPER=ccache
mkdir -p "$folder"
"$tools/quietly.sh" "Fetching and compiling the libraries for the page ..." "$tools/sysroot-page.sh" "$folder/sysroot"
root=$(realpath "$folder/sysroot/root")
source=$(realpath --relative-to="$folder/build" .)
cat >"$folder/machine.new" <<-END
	[binaries]
	c = 'emcc'
	ar = 'emar'
	strip = 'true'
	pkgconfig = 'pkg-config'
	[properties]
	pkg_config_libdir = '$root/lib/pkgconfig'
	[built-in options]
	b_pie = false
	b_staticpic = false
	c_args = ['-D_XOPEN_SOURCE=700', '-I$root/include', '-ffile-prefix-map=$source/=', '-Wno-unused-command-line-argument']
	c_link_args = ['-L$root/lib']
	[project options]
	static = true
	tests = false
	zstd = 'enabled'
	lz4 = 'enabled'
	demangle = 'enabled'
	libedit = 'disabled'
	[host_machine]
	system = 'emscripten'
	cpu_family = 'wasm32'
	cpu = 'wasm32'
	endian = 'little'
END
cmp -s "$folder/machine.new" "$folder/machine" || { rm -rf "$folder/build" && mv "$folder/machine.new" "$folder/machine"; }
"$tools/configure.sh" "$folder/build" --cross-file "$folder/machine"
"$tools/quietly.sh" "Building the module of the page, ten minutes the first time ..." ninja -C "$folder/build"
