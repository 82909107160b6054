// Kernels that stop themselves, or ask the wrong memory.
#include <assert.h>

__device__ __noinline__ void check_index(int i, int limit)
{
	assert(i >= 0 && i < limit); // @mark assert
}

__global__ void checked_gather(int const *index, float const *src, float *dst, int limit)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	check_index(index[i], limit); // @mark call_check
	dst[i] = src[index[i]];
}

__global__ void trap_if_odd(int *data)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (data[i] & 1)
		asm volatile("trap;"); // @mark trap
	data[i] = 0; // @mark after_trap
}

__global__ void shared_overrun(int *out, int at)
{
	extern __shared__ int dynamic[];
	dynamic[threadIdx.x] = at;
	__syncthreads();
	out[threadIdx.x] = dynamic[threadIdx.x * at]; // @mark shared_load
}
