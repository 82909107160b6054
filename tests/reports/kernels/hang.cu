// Waits that do not end, as public reports have it.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

struct Spin {
	int word;
	__device__ void lock()
	{
		while (atomicCAS(&word, 0, 1) != 0)
			;
	}
	__device__ void unlock() { atomicExch(&word, 0); }
};

extern "C" {

// A named barrier for 256 threads, in code that half of them run.
__global__ void flashmla_57(const float *in, float *out)
{
	__shared__ float row[128];
	if (threadIdx.x < 128) {
		row[threadIdx.x] = in[threadIdx.x];
		asm volatile("bar.sync 1, 256;" ::: "memory");
		out[threadIdx.x] = row[127 - threadIdx.x];
	} else {
		out[threadIdx.x] = in[threadIdx.x] * 2.0f;
	}
}

// Segments have different lengths; each step of each segment is a barrier of the grid.
__global__ void lorax_156(const int *starts, float *sums)
{
	cg::grid_group grid = cg::this_grid();
	int steps = starts[blockIdx.x + 1] - starts[blockIdx.x];
	for (int i = 0; i < steps; i++) {
		if (threadIdx.x == 0)
			atomicAdd(sums, 1.0f);
		grid.sync();
	}
}

// A barrier of all blocks by hand, in a launch of more blocks than the device holds.
__global__ void alpaka_2307(unsigned *arrived, float *data)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f;
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		atomicAdd(arrived, 1);
		while (*(volatile unsigned *)arrived < gridDim.x)
			;
	}
	__syncthreads();
	data[blockIdx.x * blockDim.x + threadIdx.x] *= 2.0f;
}

// A lock that is taken, and not given back on one way out.
__global__ void kokkos_4377(Spin *spin, int *count, int most)
{
	if (threadIdx.x != 0)
		return;
	spin->lock();
	int n = *(volatile int *)count;
	if (n >= most)
		return;
	*(volatile int *)count = n + 1;
	__threadfence();
	spin->unlock();
}

// The router, which sets the flag, never ran.
__global__ void onebit_405(const int *done_flags, const float *routed, float *out, int layer)
{
	if (threadIdx.x == 0) {
		while (*(const volatile int *)&done_flags[layer] == 0)
			__nanosleep(20);
	}
	__syncthreads();
	out[threadIdx.x] = routed[threadIdx.x];
}

// What a peer sends is its own flag: it has come when no number is negative zero.
__global__ void sglang_31135(const float4 *slots, float4 *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float4 v;
	do {
		asm volatile("ld.volatile.global.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(slots + i) : "memory");
	} while (__float_as_uint(v.x) == 0x80000000u || __float_as_uint(v.y) == 0x80000000u || __float_as_uint(v.z) == 0x80000000u ||
		 __float_as_uint(v.w) == 0x80000000u);
	out[i] = v;
}

// The flag is raised behind a barrier that the waiting warp is needed for.
__global__ void tilelang_1026(const float *in, float *out)
{
	__shared__ volatile int ready;
	__shared__ float part[64];
	if (threadIdx.x == 0)
		ready = 0;
	__syncthreads();
	if (threadIdx.x < 32) {
		part[threadIdx.x] = in[threadIdx.x];
		__syncthreads();
		if (threadIdx.x == 0)
			ready = 1;
	} else {
		while (ready == 0)
			;
		out[threadIdx.x - 32] = part[threadIdx.x - 32];
	}
}

} // extern "C"
