#!/bin/sh
# Compiles the source packages of tools/sources-page.txt for WebAssembly: sysroot-page.sh FOLDER
# FOLDER/sources has them as Debian signed them, unpacked, FOLDER/root headers, archives, files for pkg-config, and their licences. apt
# works with lists of its own there, as for tools/sysroot.sh: the machine's sources may name no source packages.
set -eu
list=$(dirname "$0")/sources-page.txt
[ ! "$1/done" -nt "$list" ] || [ ! "$1/done" -nt "$0" ] || exit 0
rm -rf "$1"
mkdir -p "$1/lists/partial" "$1/cache/archives/partial" "$1/sources" "$1/root/include" "$1/root/lib/pkgconfig" "$1/root/licences"
folder=$(realpath "$1")
root=$folder/root
packages=$(sed 's/#.*//' "$list")
apt-get indextargets --format "deb-src \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" 'Created-By: Packages' 'Origin: Debian' |
	awk '!seen[$0]++' >"$folder/sources.list" # in their order: of two archives with one version, the first
apt() {
	apt-get -q -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$folder/lists" \
		-o Dir::Cache="$folder/cache" -o Acquire::Languages=none -o APT::Sandbox::User= -o Debug::NoLocking=true "$@"
}
# shellcheck disable=SC2086
fetch() {
	apt update && (cd "$folder/sources" && apt source $packages)
}
# A mirror may have the list of the security archive without its sources: then those of the release.
if ! fetch; then
	echo "sysroot-page.sh: not all of it can be had; taking the sources of the release alone, without later updates" >&2
	sed -i 1q "$folder/sources.list"
	fetch
fi

# library NAME VERSION FOLDER FLAGS FILE...: an archive from files of a folder, and what pkg-config tells of it
library() {
	name=$1 version=$2 where=$3 flags=$4
	shift 4
	mkdir -p "$folder/objects/$name"
	for file in "$@"; do
		# shellcheck disable=SC2086
		echo "cd '$where' && emcc -O2 -w -ffile-prefix-map='$folder'=/ $flags -c '$file' -o '$folder/objects/$name/$(basename "$file" .c).o'"
	done | xargs -d '\n' -P "$(nproc)" -n 1 sh -c
	emar rcs "$root/lib/lib$name.a" "$folder/objects/$name"/*.o
	printf 'Name: %s\nDescription: for the page\nVersion: %s\nLibs: -L%s/lib -l%s\nCflags: -I%s/include\n' \
		"$name" "$version" "$root" "$name" "$root" >"$root/lib/pkgconfig/$name.pc"
}
source_of() {
	echo "$folder/sources/"$1-*/
}
version_of() {
	(cd "$(source_of "$1")" && dpkg-parsechangelog -S Version | sed 's/^[0-9]*://; s/[+-].*//')
}

z=$(source_of zlib) zstd=$(source_of libzstd) lz4=$(source_of lz4) iberty=$(source_of libiberty)
library z "$(version_of zlib)" "$z" '-D_LARGEFILE64_SOURCE=1 -DHAVE_HIDDEN' adler32.c crc32.c deflate.c inffast.c inflate.c inftrees.c trees.c zutil.c
mv "$root/lib/pkgconfig/z.pc" "$root/lib/pkgconfig/zlib.pc"
library zstd "$(version_of libzstd)" "$zstd/lib" '-DZSTD_LEGACY_SUPPORT=0 -DZSTD_DISABLE_ASM' "$zstd"/lib/common/*.c "$zstd"/lib/decompress/*.c
mv "$root/lib/pkgconfig/zstd.pc" "$root/lib/pkgconfig/libzstd.pc"
library lz4 "$(version_of lz4)" "$lz4/lib" '' lz4.c
mv "$root/lib/pkgconfig/lz4.pc" "$root/lib/pkgconfig/liblz4.pc"
library iberty "$(version_of libiberty)" "$iberty" '-DHAVE_STDLIB_H -DHAVE_STRING_H -DHAVE_LIMITS_H -Iinclude' libiberty/cp-demangle.c
mkdir "$root/include/libiberty"
cp "$z/zlib.h" "$z/zconf.h" "$zstd/lib/zstd.h" "$zstd/lib/zstd_errors.h" "$lz4/lib/lz4.h" "$root/include"
cp "$iberty/include/demangle.h" "$iberty/include/libiberty.h" "$iberty/include/ansidecl.h" "$root/include/libiberty"
for package in $packages; do
	cp "$(source_of "$package")/debian/copyright" "$root/licences/$package"
done
rm -rf "$folder/lists" "$folder/cache" "$folder/objects"
touch "$folder/done"
