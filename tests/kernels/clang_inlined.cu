// What clang 14 makes of functions that it inlines in a debug build; build.sh says how it is compiled. The access is far outside.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

__device__ inline __attribute__((always_inline)) float fetch(float *base, int where)
{
	float got = base[where];
	return got + 1;
}

__device__ inline __attribute__((always_inline)) float twice(float *from, int where)
{
	int same = where * 1;
	return fetch(from, same) * 2;
}

extern "C" __global__ void fetches(float *from, int *index, float *out, int n)
{
	int i = __nvvm_read_ptx_sreg_tid_x();
	float result = twice(from, index[i]);
	if (i < n)
		out[i] = result;
}
