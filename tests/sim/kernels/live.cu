// SPDX-License-Identifier: Apache-2.0
// What a debugger meets: code that runs for long, parts, waits, hangs, faults.
#include "kernel.h"

// Runs until the host says stop.
KERNEL spins(volatile u32 *go, u32 *out)
{
	u32 n = 0;
	while (*go == 0)
		n++;
	out[thread_number()] = n ? 1 : 2;
}

// The two halves of a warp part and meet again.
KERNEL parts(u32 *out, const u32 *in, int rounds)
{
	int i = thread_number();
	u32 v = in[i];
	for (int k = 0; k < rounds; k++) {
		if (v & 1)
			for (u32 m = 0; m < v % 5 + 2; m++)
				v = v * 3 + out[m];
		else
			for (u32 m = 0; m < v % 7 + 1; m++)
				v = v / 2 + out[m + 7];
		out[i] = v;
	}
}

// Each warp of a block waits for the slowest.
KERNEL meets(u32 *out, int rounds)
{
	__shared__ u32 value[256];
	int t = (int)threadIdx.x;
	value[t] = (u32)t;
	for (int k = 0; k < rounds * (t / 32); k++)
		value[t] = value[t] * 5 + (u32)k;
	__syncthreads();
	out[thread_number()] = value[(t + 32) % blockDim.x];
}

// The first warp never comes to the barrier: it waits for the others, who wait there.
KERNEL never_meets(volatile u32 *flag, u32 *out)
{
	if (threadIdx.x < 32)
		while (*flag == 0)
			;
	__syncthreads();
	out[thread_number()] = 1;
	*flag = 1;
}

// One thread reads where nothing is.
KERNEL faults(u32 *out, const u32 *in, u32 bad)
{
	int i = thread_number();
	out[i] = (u32)i;
	if ((u32)i == bad)
		in += 1ull << 40;
	out[i] = in[i];
}

static __device__ __noinline__ u32 inner(u32 v)
{
	return v * 7 + 1;
}

static __device__ __noinline__ u32 outer(u32 v)
{
	return inner(v + 2) * 3 + inner(v);
}

KERNEL calls(u32 *out)
{
	out[thread_number()] = outer((u32)thread_number());
}

// The first warp of the first `n` blocks spins; all others wait for threads that do not exist.
KERNEL few_spin(volatile u32 *go, u32 n)
{
	if (blockIdx.x < n && threadIdx.x < 32)
		while (*go == 0)
			;
	asm volatile("bar.sync 1, 1024;");
}
