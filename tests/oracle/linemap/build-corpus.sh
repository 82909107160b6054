#!/bin/sh
# Builds the corpus of the line map's oracle tests into a folder (about 20 minutes on one core, 500 MB with -j 1).
#
#   build-corpus.sh OUT [ARCH ...]        ARCH: 75 80 86 89 90 100 120, by default all
#
# Needs nvcc, ptxas, nvlink and NVRTC 13.0 with the CCCL headers (CUDA_HOME, default /usr/local/cuda). What is there
# already is not built again. Nothing of it is committed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kernels=$here/../../kernels
out=${1:?usage: build-corpus.sh OUT [ARCH ...]}
shift
cuda=${CUDA_HOME:-/usr/local/cuda}
PATH=$cuda/bin:$PATH
mkdir -p "$out"
out=$(cd "$out" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

build() { # build NAME COMMAND...: the command writes NAME to a temporary folder
	target=$1
	shift
	[ -e "$out/$target" ] && return
	"$@" -o "$tmp/$target" && mv "$tmp/$target" "$out/$target" && echo "$target"
}

for a in ${*:-75 80 86 89 90 100 120}; do
	cu="nvcc -arch=sm_$a -std=c++17 -cubin"
	li="$cu -O3 -lineinfo"
	build "chains.li.sm_$a.cubin" $li "$here/chains.cu"
	build "chains64.li.sm_$a.cubin" $li -DKERNELS=64 -DUNROLL=10 "$here/chains.cu"
	build "chains.dopt.sm_$a.cubin" $cu -G -dopt=on -DUNROLL=4 "$here/chains.cu"
	build "chains.G.sm_$a.cubin" $cu -G -DUNROLL=4 "$here/chains.cu"
	build "cub_block.li.sm_$a.cubin" $li "$here/cub_block.cu"
	build "thrust.li.sm_$a.cubin" $li "$here/thrust_algorithms.cu"
	for name in deep calls pair; do
		build "$name.li.sm_$a.cubin" $li "$kernels/$name.cu"
		build "$name.G.sm_$a.cubin" $cu -G "$kernels/$name.cu"
		build "$name.dopt.sm_$a.cubin" $cu -G -dopt=on "$kernels/$name.cu"
	done
	build "link_a.li.sm_$a.cubin" $li -rdc=true "$kernels/link_a.cu"
	build "link_b.li.sm_$a.cubin" $li -rdc=true "$kernels/link_b.cu"
	build "link_a.G.sm_$a.cubin" $cu -G -rdc=true "$kernels/link_a.cu"
	build "linked.li.sm_$a.cubin" nvlink -arch=sm_$a "$out/link_a.li.sm_$a.cubin" "$out/link_b.li.sm_$a.cubin"
	build "linked.mix.sm_$a.cubin" nvlink -arch=sm_$a "$out/link_a.G.sm_$a.cubin" "$out/link_b.li.sm_$a.cubin"
	build "python_style.sm_$a.cubin" ptxas -arch=sm_$a "$here/python_style.ptx"
	build "python_style.g.sm_$a.cubin" ptxas -arch=sm_$a -g "$here/python_style.ptx"
	[ -e "$out/runtime.sm_$a.cubin" ] ||
		python3 "$here/nvrtc.py" "$cuda/lib64/libnvrtc.so" "sm_$a" "$here/runtime.cu" "$out/runtime.sm_$a.cubin"
done
