#!/bin/sh
# Compiles the kernels of this folder into tests/data/sim: one fatbin of all architectures for each file and optimisation.
#
# usage: build.sh [NAME]...    NAME: only that file, e.g. warp
#
# Needs nvcc 13.0 (CUDA_HOME, default /usr/local/cuda). As in tests/kernels/build.sh the sources are copied to a fixed place
# with fixed times first, so that a rebuild gives the same bytes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../../data/sim
cuda=${CUDA_HOME:-/usr/local/cuda}
SRC=/src/ws/tests/sim/kernels
PATH=$cuda/bin:$PATH
mkdir -p "$out"
out=$(cd "$out" && pwd)

rm -rf "$SRC"
trap 'rm -rf "$SRC"; rmdir -p "${SRC%/*}" 2>/dev/null || true' EXIT # pages must not find sources where the cubins say they are
mkdir -p "$SRC/tmp"
cp "$here"/*.cu "$here"/*.h "$here"/*.ptx "$SRC"
find "$SRC" -type f -exec touch -d '2025-01-01 00:00:00 UTC' {} +
cd "$SRC"

pack() { # pack NAME ARCH...
	name=$1
	shift
	case $names in
	"  " | *" $name "*) ;;
	*) return ;;
	esac
	archs=
	for arch in "$@"; do
		archs="$archs -gencode arch=compute_$arch,code=sm_$arch"
	done
	for kind in O3 G; do
		case $name.$kind in # optimised code has no variables
		vars.O3 | inlined.O3) continue ;;
		esac
		rm -rf tmp/*
		lines=
		case $name.$kind in # findings name lines; -G has them
		check.O3 | debug.O3 | back.O3 | driver.O3) lines=-lineinfo ;;
		esac
		# shellcheck disable=SC2086 # the words of $archs and $lines are arguments
		nvcc -std=c++17 "-$kind" -fmad=false $lines --keep --keep-dir tmp $archs -fatbin --compress-mode=size -diag-suppress 177,20054 \
			-o "tmp/$name.fatbin" "$SRC/$name.cu"
		cp "tmp/$name.fatbin" "$out/$name.$kind.fatbin"
	done
}

link() { # link NAME ARCH...: launches from the device, with our own entry points
	name=$1
	shift
	case $names in
	"  " | *" $name "*) ;;
	*) return ;;
	esac
	for kind in O3 G; do
		rm -rf tmp/*
		images=
		for arch in "$@"; do
			ptxas -c "-arch=sm_$arch" device_runtime.ptx -o tmp/runtime.cubin
			nvcc -std=c++17 "-$kind" -fmad=false -rdc=true "-arch=sm_$arch" -cubin -o "tmp/$name.cubin" "$SRC/$name.cu"
			nvlink "-arch=sm_$arch" "tmp/$name.cubin" tmp/runtime.cubin -o "tmp/sm_$arch.cubin"
			images="$images --image3=kind=elf,sm=$arch,file=tmp/sm_$arch.cubin"
		done
		# shellcheck disable=SC2086 # the words of $images are arguments
		fatbinary --64 --compress-mode=size --create="$out/$name.$kind.fatbin" $images
	done
}

guard() { # guard NAME ARCH...: with lines, functions that can be called from elsewhere, and guards of their stacks
	name=$1
	shift
	case $names in
	"  " | *" $name "*) ;;
	*) return ;;
	esac
	rm -rf tmp/*
	images=
	for arch in "$@"; do
		nvcc -std=c++17 -O3 -lineinfo -fmad=false -rdc=true -Xptxas -device-stack-protector=true "-arch=sm_$arch" -cubin \
			-o "tmp/$name.cubin" "$SRC/$name.cu"
		nvlink "-arch=sm_$arch" "tmp/$name.cubin" -o "tmp/sm_$arch.cubin"
		images="$images --image3=kind=elf,sm=$arch,file=tmp/sm_$arch.cubin"
	done
	# shellcheck disable=SC2086 # the words of $images are arguments
	fatbinary --64 --compress-mode=size --create="$out/$name.O3.fatbin" $images
}

names=" $* "
all="75 80 86 89 90a 100a 120a"
for name in integer float half memory shared warp atomics diverge whole tensor service grid; do
	# shellcheck disable=SC2086 # the words of $all are arguments
	pack $name $all
done
pack texture $all
pack mbarrier 80 86 89 90a 100a 120a
pack async 80 86 89 90a 100a 120a
pack group 90a
pack tcgen 100a
pack scaled 120a
pack cancel 100a 120a
pack sparse 80 86 89 90a 100a 120a
pack bulk 90a 100a 120a
pack cluster 90a 100a 120a
pack live 90a
# shellcheck disable=SC2086
pack check $all
pack debug 80 90a
pack back 90a
pack bounds 90a
pack driver 80 90a 120a
pack graph 80 90a 120a
# shellcheck disable=SC2086
pack inlined $all
# shellcheck disable=SC2086
link child $all
# shellcheck disable=SC2086
pack vars $all
# shellcheck disable=SC2086
guard reasons $all
