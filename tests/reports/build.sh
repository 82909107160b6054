#!/bin/sh
# Compiles the kernels of this folder into tests/data/reports, one fatbin of all architectures for each file, optimised and with
# -G, and for each Python kernel.
#
# usage: build.sh [NAME]...    NAME: only that file, e.g. overflow, or `python`
#
# Needs nvcc 13.0 (CUDA_HOME, default /usr/local/cuda); for the Python kernels PYTHON (default python3) with triton 3.9.0 and
# numba-cuda 0.30.4. As in tests/kernels/build.sh the sources are copied to a fixed place with fixed times first, so that a
# rebuild gives the same bytes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../data/reports
cuda=${CUDA_HOME:-/usr/local/cuda}
SRC=/src/ws/tests/reports/kernels
PATH=$cuda/bin:$PATH
mkdir -p "$out"
out=$(cd "$out" && pwd)

rm -rf "$SRC"
trap 'rm -rf "$SRC"; rmdir -p "${SRC%/*}" 2>/dev/null || true' EXIT # pages must not find sources where the cubins say they are
mkdir -p "$SRC/tmp"
cp "$here"/kernels/* "$SRC"
find "$SRC" -type f -exec touch -d '2025-01-01 00:00:00 UTC' {} +
cd "$SRC"

names=" $* "
wanted() { # wanted NAME
	case $names in
	"  " | *" $1 "*) ;;
	*) return 1 ;;
	esac
}

pack() { # pack NAME ARCH...
	name=$1
	shift
	wanted "$name" || return 0
	archs=
	for arch in "$@"; do
		archs="$archs -gencode arch=compute_$arch,code=sm_$arch"
	done
	for kind in "" .G; do
		rm -rf tmp/*
		flags="-O3 -lineinfo"
		[ -z "$kind" ] || flags=-G
		# shellcheck disable=SC2086 # the words of $flags and $archs are arguments
		nvcc -std=c++17 $flags --keep --keep-dir tmp $archs -fatbin --compress-mode=size -diag-suppress 186 -o "tmp/$name.fatbin" "$SRC/$name.cu"
		cp "tmp/$name.fatbin" "$out/$name$kind.fatbin"
	done
}

for name in overflow index bounds pointers align shared stop hang again; do
	pack $name 80 90a 100a 120a
done
pack hopper 90a 100a 120a

if wanted python; then
	rm -rf tmp/*
	TRITON_CACHE_DIR=$SRC/tmp/cache TRITON_DEFAULT_FP_FUSION=1 PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" front_ends.py tmp
	for first in tmp/*.sm_80.cubin; do
		name=$(basename "$first" .sm_80.cubin)
		images=
		for arch in 80 90 100 120; do
			images="$images --image3=kind=elf,sm=$arch,file=tmp/$name.sm_$arch.cubin"
		done
		# shellcheck disable=SC2086 # the words of $images are arguments
		fatbinary --64 --compress-mode=size --create="$out/$name.fatbin" $images
	done
fi
