#!/bin/sh
# Builds the static program for one architecture: dist.sh ARCH FOLDER. It gets FOLDER/sysroot, FOLDER/build and FOLDER/warpscope.
set -eu
arch=$1
folder=$2
tools=$(dirname "$0")
case $arch in
amd64) triplet=x86_64-linux-gnu cpu=x86_64 ;;
arm64) triplet=aarch64-linux-gnu cpu=aarch64 ;;
*) echo "dist.sh: amd64 or arm64, not $arch" >&2 && exit 2 ;;
esac
unset CFLAGS CPPFLAGS LDFLAGS CPATH C_INCLUDE_PATH LIBRARY_PATH # of this machine, like its libraries
mkdir -p "$folder"
"$tools/quietly.sh" "Fetching the libraries for $arch ..." "$tools/sysroot.sh" "$arch" "$folder/sysroot"
root=$(realpath "$folder/sysroot/root")
ccache=
! command -v ccache >/dev/null || ccache="'ccache', "
source=$(realpath --relative-to="$folder/build" .)
# Both architectures are built as for another machine, so that nothing of this one but the compiler and its libgcc gets in (-B: a
# compiler for this machine would look there before it looks in the folder). The map says what was linked; the names of sources are
# those below the checkout, wherever that is.
cat >"$folder/machine.new" <<-END
	[binaries]
	c = [$ccache'$triplet-gcc', '--sysroot=$root', '-B$root/usr/lib/$triplet/']
	ar = '$triplet-ar'
	strip = '$triplet-strip'
	pkgconfig = 'pkg-config'
	[properties]
	sys_root = '$root'
	pkg_config_libdir = '$root/usr/lib/$triplet/pkgconfig'
	[built-in options]
	prefer_static = true
	c_args = ['-ffile-prefix-map=$source/=', '-ffunction-sections', '-fdata-sections']
	c_link_args = ['-Wl,-Map=warpscope.map', '-Wl,--gc-sections']
	[project options]
	static = true
	tests = false
	zstd = 'enabled'
	lz4 = 'enabled'
	demangle = 'enabled'
	libedit = 'enabled'
	[host_machine]
	system = 'linux'
	cpu_family = '$cpu'
	cpu = '$cpu'
	endian = 'little'
END
cmp -s "$folder/machine.new" "$folder/machine" || { rm -rf "$folder/build" && mv "$folder/machine.new" "$folder/machine"; }
"$tools/configure.sh" "$folder/build" --cross-file "$folder/machine"
"$tools/quietly.sh" "Building the program for $arch, a few minutes the first time ..." ninja -C "$folder/build" warpscope
"$triplet-strip" -o "$folder/warpscope" "$folder/build/warpscope"
