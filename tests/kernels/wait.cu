// Kernels that wait in each of the ways that a report tells apart.
#include <cooperative_groups.h>

__global__ void early_exit(float *data, int n)
{
	__shared__ float tile[128];
	if ((int)threadIdx.x >= n)
		return;
	tile[threadIdx.x] = data[threadIdx.x];
	__syncthreads(); // @mark barrier
	data[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

__global__ void diverged(int *next)
{
	int at = threadIdx.x;
	if (threadIdx.x & 1)
		while (next[at] != at) // @mark chase
			at = next[at] & 127;
	__syncwarp(); // @mark meet
	next[threadIdx.x] = __shfl_down_sync(0xffffffff, at, 1);
}

__global__ void spin_flag(volatile int *flag, int *out)
{
	while (*flag == 0) // @mark spin
		;
	out[threadIdx.x] = *flag;
}

__global__ void try_wait(int *out)
{
	__shared__ unsigned long long barrier;
	unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(at));
	__syncthreads();
	unsigned done = 0;
	while (!done) // @mark loop
		asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" // @mark try
			     : "=r"(done)
			     : "r"(at)
			     : "memory");
	out[threadIdx.x] = at;
}

__global__ void all_blocks(int *data)
{
	data[blockIdx.x] = 1;
	cooperative_groups::this_grid().sync(); // @mark grid
	data[blockIdx.x] += data[(blockIdx.x + 1) % gridDim.x];
}

extern "C" __global__ void ncclDevKernel_AllReduce_Sum_f32_RING_LL(volatile int *ready, float *out)
{
	while (*ready < 7) // @mark peer
		;
	out[threadIdx.x] = *ready;
}

// Threads wait for each other at one barrier from two places.
__global__ void two_places(volatile int *flag, int *out)
{
	if (threadIdx.x < 32) {
		out[threadIdx.x] = 1;
		asm volatile("bar.sync 0;" ::: "memory"); // @mark first_place
		out[threadIdx.x] = 2;
	} else {
		while (threadIdx.x >= 64 && *flag == 0) // @mark elsewhere
			;
		out[threadIdx.x] = 3;
		asm volatile("bar.sync 0;" ::: "memory"); // @mark second_place
		out[threadIdx.x] = 4;
	}
}
