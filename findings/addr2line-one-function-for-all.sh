#!/usr/bin/env bash
# binutils' addr2line opens a cubin and, if it was compiled with -G, gives one wrong function for every address of every kernel.
#
# Guess before the run: addr2line does not know the machine (EM_CUDA) and says "file format not recognized".
#
# Seen (binutils 2.40-2, nvcc 13.0.88, sm_90): it is opened as "elf64-little". A cubin is of type EXEC, yet its debug sections still have
# relocations, and every kernel has a section of its own at address 0. addr2line applies no relocation, so all functions begin at 0, and
# whatever section -j names, the answer for each offset of both kernels is the function `helper` with a line of `second`, exit 0,
# no warning. Without debug information the same call names each kernel rightly, from the symbol table: -G makes it worse.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 \
	nvidia-cuda-runtime==13.0.88
for package in binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2; do
	apt-get download -q "$package" >/dev/null 2>&1
done
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu

cat >in.cu <<'CU'
__device__ __noinline__ float helper(const float *p, int i)
{
	return p[3 * i] + 1.f;
}
extern "C" __global__ void first(const float *p, float *o)
{
	o[threadIdx.x] = helper(p, threadIdx.x);
}
extern "C" __global__ void second(const float *p, float *o)
{
	o[threadIdx.x] = helper(p, threadIdx.x + 1) * 2.f;
}
CU
nvcc=$(find venv -path '*bin/nvcc')
"$nvcc" -arch=sm_90 -G -cubin in.cu -o debug.cubin
"$nvcc" -arch=sm_90 -cubin in.cu -o plain.cubin
ask() { root/usr/bin/x86_64-linux-gnu-addr2line -C -f -e "$1" -j ".text.$2" "$3" | sed 's|/.*/||' | paste -sd' '; }
for file in debug plain; do
	for kernel in first second; do
		for offset in 0x10 0x80; do
			echo "$file $kernel+$offset: $(ask $file.cubin $kernel $offset)"
		done
	done
done | tee seen
grep -c '^debug .*: helper(float const\*, int) in.cu:9$' seen | grep -qx 4 || { echo CHANGED; exit 1; }
grep -c '^plain \(first\|second\)+0x[18]0: \1 ' seen | grep -qx 4 || { echo CHANGED; exit 1; }
echo 'as described'
