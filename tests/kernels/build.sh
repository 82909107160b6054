#!/bin/sh
# Compiles the kernels of this folder into tests/data/cubins (or the folder given as first argument).
# As `build.sh planted` only those of planted faults and hangs: tests/kernels/plant.py does so, and makes the states from them.
#
# Needs nvcc, ptxas and nvlink 13.0 (CUDA_HOME, default /usr/local/cuda). The sources are first copied to $SRC, because
# the compiler writes absolute paths into the cubins: committed cubins name /src/ws/tests/kernels and nothing of the
# machine that built them. Times of the copies are fixed, so that a rebuild gives the same bytes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
only=
if [ "${1:-}" = planted ]; then
	only=planted
	shift
fi
out=${1:-$here/../data/cubins}
cuda=${CUDA_HOME:-/usr/local/cuda}
SRC=/src/ws/tests/kernels
PATH=$cuda/bin:$PATH
mkdir -p "$out"
out=$(cd "$out" && pwd)

rm -rf "$SRC"
trap 'rm -rf "$SRC"; rmdir -p "${SRC%/*}" 2>/dev/null || true' EXIT # pages must not find sources where the cubins say they are
mkdir -p "$SRC/tmp"
cp -R "$here"/*.cu "$here"/*.ptx "$here/include" "$SRC"
find "$SRC" -type f -exec touch -d '2025-01-01 00:00:00 UTC' {} +
cd "$SRC"

compile() { # compile ARCH OUTPUT SOURCE FLAG...
	arch=$1 output=$2 source=$3
	shift 3
	rm -rf tmp/* # intermediate names land in the cubin: keep them fixed
	nvcc -arch="sm_$arch" -std=c++17 --keep --keep-dir tmp "$@" -cubin -o "tmp/$output" "$SRC/$source"
	cp "tmp/$output" "$out/$output"
}

# The planted faults; plant.py makes the states from them.
mkdir -p "$out/../faults"
for arch in 80 90 100; do
	for kind in O3 G; do
		flag=-$kind
		compile $arch "faults.$kind.sm_$arch.cubin" faults.cu "$flag"
		gzip -9n <"$out/faults.$kind.sm_$arch.cubin" >"$out/../faults/faults.$kind.sm_$arch.cubin.gz"
		rm "$out/faults.$kind.sm_$arch.cubin"
	done
done

# The planted hangs; plant.py makes the states from them. What debuggers need beside the code is emptied: it is large.
mkdir -p "$out/../hangs"
hangs() { # hangs ARCH KIND
	compile "$1" "hangs.$2.sm_$1.cubin" hangs.cu "-$2" -diag-suppress 20054
	python3 "$here/drop_debug.py" <"$out/hangs.$2.sm_$1.cubin" | gzip -9n >"$out/../hangs/hangs.$2.sm_$1.cubin.gz"
	rm "$out/hangs.$2.sm_$1.cubin"
}
for arch in 80 90 100; do
	hangs $arch O3
	hangs $arch G
done
hangs 120 O3

[ -z "$only" ] || exit 0

for arch in 80 90 100; do
	compile $arch "deep.li.sm_$arch.cubin" deep.cu -O3 -lineinfo -I"$SRC/include"
	compile $arch "calls.G.sm_$arch.cubin" calls.cu -G
	compile $arch "calls.li.sm_$arch.cubin" calls.cu -O3 -lineinfo
	compile $arch "nested.li.sm_$arch.cubin" nested.cu -O3 -lineinfo
done
compile 90 pair.li.sm_90.cubin pair.cu -O3 -lineinfo
compile 90 pair.G.sm_90.cubin pair.cu -G
compile 90 params.G.sm_90.cubin params.cu -G
compile 80 hang.li.sm_80.cubin hang.cu -O3 -lineinfo
compile 90 hang.li.sm_90.cubin hang.cu -O3 -lineinfo
compile 90 stop.li.sm_90.cubin stop.cu -O3 -lineinfo
compile 90 wait.li.sm_90.cubin wait.cu -O3 -lineinfo
compile 90 cluster.li.sm_90.cubin cluster.cu -O3 -lineinfo
compile 90 toolkit.li.sm_90.cubin toolkit.cu -O3 -lineinfo
compile 90 longname.li.sm_90.cubin longname.cu -O3 -lineinfo
compile 80 bare.none.sm_80.cubin bare.cu -O3
compile 90 bare.none.sm_90.cubin bare.cu -O3

# One kernel for each kind of exception.
mkdir -p "$out/../exceptions"
packed() { # packed ARCH NAME FLAG...: of NAME's source
	arch=$1 name=$2
	shift 2
	compile "$arch" "$name" "${name%%.*}.cu" "$@"
	gzip -9n <"$out/$name" >"$out/../exceptions/$name.gz"
	rm "$out/$name"
}
packed 80 except.li.sm_80.cubin -O3 -lineinfo
packed 90 except.li.sm_90.cubin -O3 -lineinfo
packed 90 except.G.sm_90.cubin -G
packed 100a except.li.sm_100a.cubin -O3 -lineinfo
packed 80 operands.li.sm_80.cubin -O3 -lineinfo
packed 90a operands.li.sm_90a.cubin -O3 -lineinfo

linked() { # linked ARCH OBJECT OBJECT OUTPUT
	compile "$1" "$2.li.sm_$1.cubin" "$2.cu" -O3 -lineinfo -rdc=true
	compile "$1" "$3.li.sm_$1.cubin" "$3.cu" -O3 -lineinfo -rdc=true
	rm -rf tmp/*
	cp "$out/$2.li.sm_$1.cubin" "$out/$3.li.sm_$1.cubin" tmp
	(cd tmp && nvlink -arch="sm_$1" "$2.li.sm_$1.cubin" "$3.li.sm_$1.cubin" -o "$4.li.sm_$1.cubin")
	cp "tmp/$4.li.sm_$1.cubin" "$out"
}
linked 80 link_a link_b linked
linked 90 link_a link_b linked
linked 90 unset_a unset_b unset
rm "$out/unset_a.li.sm_90.cubin" "$out/unset_b.li.sm_90.cubin"

compile 90 dropped.o.cubin dropped.cu -O3 -lineinfo -rdc=true
rm -rf tmp/*
mv "$out/dropped.o.cubin" tmp
(cd tmp && nvlink -arch=sm_90 dropped.o.cubin -o dropped.li.sm_90.cubin)
cp tmp/dropped.li.sm_90.cubin "$out"

compile 90 a.cubin twins.cu -O3 -rdc=true -DTWIN=first '-DTEXT="%f, said the first\n"'
mv "$out/a.cubin" "$SRC"
compile 90 b.cubin twins.cu -O3 -rdc=true -DTWIN=second '-DTEXT="%f\n"'
mv "$SRC/a.cubin" "$out/b.cubin" tmp
(cd tmp && nvlink -arch=sm_90 a.cubin b.cubin -o twins.none.sm_90.cubin)
cp tmp/twins.none.sm_90.cubin "$out"

for arch in 80 90; do
	ptxas -arch=sm_$arch -o "$out/textures.none.sm_$arch.cubin" textures.ptx
done
ptxas -arch=sm_80 -c -o "$out/textures-object.none.sm_80.cubin" textures.ptx

for arch in 80 90; do
	compile $arch "longparams.li.sm_$arch.cubin" longparams.cu -O3 -lineinfo
	ptxas -arch=sm_$arch -o "$out/hidden.none.sm_$arch.cubin" hidden.ptx
done

# Objects with something of every kind for a linker to fill in.
for arch in 80 90 100; do
	compile $arch "names.none.sm_$arch.cubin" names.cu -O3 -rdc=true
done

# What clang 14 makes of debug information, assembled by ptxas.
for name in shared inlined; do
	rm -rf tmp/*
	clang-14 -x cuda --cuda-gpu-arch=sm_75 --cuda-device-only -nocudainc -nocudalib -Wno-unknown-cuda-version -g -O0 -S \
		-o tmp/$name.ptx clang_$name.cu
	ptxas -arch=sm_80 -g -o tmp/$name.clang.sm_80.cubin tmp/$name.ptx
	cp tmp/$name.clang.sm_80.cubin "$out"
done
# PTX that clang 22 and Triton made; clang_byvalue.cu and triton_vars.py say how.
for name in byvalue.clang vars.triton; do
	rm -rf tmp/*
	ptxas -arch=sm_80 -g -o "tmp/$name.sm_80.cubin" "${name#*.}_${name%.*}.ptx"
	cp "tmp/$name.sm_80.cubin" "$out"
done

# Fatbins, as they lie in host programs: bare.cu again, now with lines, so that lines can be borrowed from them.
pack() { # pack OUTPUT FLAG...
	output=$1
	shift
	rm -rf tmp/*
	nvcc -std=c++17 --keep --keep-dir tmp "$@" -fatbin -o "tmp/$output" "$SRC/bare.cu"
	cp "tmp/$output" "$out/../fatbins/$output"
}
mkdir -p "$out/../fatbins"
both="-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]"
# shellcheck disable=SC2086 # the words of $both are arguments
pack bare.li.zstd.fatbin -O3 -lineinfo $both --compress-mode=size
pack bare.G.lz4.fatbin -G -arch=sm_90 --compress-mode=speed

# Addresses that arithmetic made wrong: with lines, with -G, and with neither.
mkdir -p "$out/../overflow"
each="-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_100a,code=sm_100a \
	-gencode arch=compute_120a,code=sm_120a"
wrong() { # wrong KIND FLAG...
	output=overflow.$1.fatbin
	shift
	rm -rf tmp/*
	# shellcheck disable=SC2086 # the words of $each are arguments
	nvcc -std=c++17 --keep --keep-dir tmp $each --compress-mode=size "$@" -fatbin -o "tmp/$output" "$SRC/overflow.cu"
	cp "tmp/$output" "$out/../overflow/$output"
}
wrong li -lineinfo
wrong G -G
wrong none
