// Kernels that stop for a reason that the code and its operands tell; tests/cli/test_reasons.py has their planted truth.
#include <cooperative_groups.h>
#include <cassert>
#include <cstdint>

// A local array is overrun; its function has a guard (build.sh: -device-stack-protector).
__device__ __noinline__ int digest(const char *text, int n)
{
	char copy[64];
	for (int i = 0; i < n; i++)
		copy[i] = text[i];
	int sum = 0;
	for (int i = 0; i < 64; i++)
		sum = sum * 31 + copy[i * n & 63];
	return sum;
}

__device__ __noinline__ int deep(int n, int *out)
{
	volatile int held[64];
	for (int i = 0; i < 64; i++)
		held[i] = n + i;
	return n ? deep(n - 1, out) + held[n & 63] : held[1];
}

template <typename T> __device__ __forceinline__ void check_index(T i, T n)
{
	assert(i >= 0);
	assert(i < n);
}

extern "C" {

__global__ void overruns(int *out, const char *text, int n)
{
	out[threadIdx.x] = digest(text, n);
}

__global__ void recurses(int *out, int n)
{
	out[threadIdx.x] = deep(n, out);
}

__global__ void asserts_index(const int *index, int n, int *out)
{
	check_index(index[threadIdx.x], n);
	out[threadIdx.x] = 1;
}

__global__ void asserts_sizes(int batch, unsigned heads, int *out)
{
	assert(batch > 0 && "batch size");
	out[0] = batch;
	assert(heads < 129 && "head count");
	out[1] = heads;
}

__global__ void asserts_number(const float *in, int *out, float limit)
{
	float v = in[threadIdx.x];
	assert(v <= limit);
	out[threadIdx.x] = (int)v;
}

__global__ void traps_beyond(int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i > n)
		__trap();
	out[i] = i;
}

// Blocks from `n` on leave before the barrier of the grid.
__global__ void phases(int *out, int n)
{
	if ((int)blockIdx.x >= n)
		return;
	out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
	cooperative_groups::this_grid().sync();
	out[blockIdx.x * blockDim.x + threadIdx.x] += out[0];
}

// Lanes that are not in the mask that they wait with.
__global__ void lacks_itself(int *out, unsigned mask)
{
	int lane = threadIdx.x;
	if (lane & 1)
		asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
	out[lane] = lane;
}

#if __CUDA_ARCH_FEAT_SM100_ALL
// A product of matrices whose instruction descriptor is the launch's.
__global__ void multiplies(int *out, uint64_t matrix, uint32_t descriptor)
{
	__shared__ uint32_t at;
	asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"((uint32_t)__cvta_generic_to_shared(&at)) : "memory");
	__syncthreads();
	uint32_t d = at;
	if (threadIdx.x == 0)
		asm volatile("{ .reg .pred p; setp.ne.u32 p, 1, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %1, %2, p; }" ::"r"(d), "l"(matrix),
			     "r"(descriptor) : "memory");
	__syncthreads();
	asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(d));
	out[threadIdx.x] = 1;
}
#endif
}
