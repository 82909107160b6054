#!/bin/sh
# Unpacks the packages of tools/packages-sysroot.txt for one architecture: sysroot.sh ARCH FOLDER
# FOLDER/debs has them as Debian signed them, FOLDER/root what is in them. apt works with lists of its own there, so the machine
# knows no other architecture afterwards, and nobody has to be root (docs/decisions/0087-static-programs.md).
set -eu
arch=$1
list=$(dirname "$0")/packages-sysroot.txt
[ ! "$2/done" -nt "$list" ] || exit 0
rm -rf "$2"
mkdir -p "$2/lists/partial" "$2/cache/archives/partial" "$2/debs" "$2/root"
folder=$(realpath "$2")
packages=$(sed 's/#.*//' "$list")
: >"$folder/status"
apt() {
	apt-get -q -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$folder" -o Dir::State::lists="$folder/lists" \
		-o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" -o Acquire::Languages=none -o APT::Sandbox::User= \
		-o Debug::NoLocking=true "$@"
}
apt update
cd "$folder/debs"
# shellcheck disable=SC2086
apt download $packages
for deb in *.deb; do
	dpkg-deb -x "$deb" "$folder/root"
done
rm -rf "$folder/lists" "$folder/cache"
touch "$folder/done"
