// SPDX-License-Identifier: Apache-2.0
// What a program asks of the driver (tests/driver): the usual kinds of arguments, variables, printing, a fault.
#include <stdio.h>

#include "kernel.h"

__constant__ u32 scale = 3;
__device__ u32 total;

KERNEL add(const u32 *a, const u32 *b, u32 *sum, u32 n)
{
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		sum[i] = a[i] + scale * b[i];
}

KERNEL count(unsigned char step, u64 n)
{
	for (u64 i = threadIdx.x; i < n; i += blockDim.x)
		atomicAdd(&total, step);
}

KERNEL say(int n)
{
	printf("block %u of %d\n", blockIdx.x, n);
}

KERNEL store(u32 *to, u32 i)
{
	to[i + threadIdx.x] = i;
}

KERNEL wait(volatile u32 *flag)
{
	while (*flag == 0)
		continue;
	flag[1] = 2 * flag[0];
}

KERNEL shared(u32 *out)
{
	extern __shared__ u32 mine[];
	mine[threadIdx.x] = threadIdx.x;
	__syncthreads();
	out[threadIdx.x] = mine[blockDim.x - 1 - threadIdx.x];
}

// One thread each: its block's rank in a cluster, and how many blocks that has.
KERNEL ranks(u32 *out)
{
	u32 rank = 0, n = 1;
#if __CUDA_ARCH__ >= 900
	asm("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(n));
#endif
	out[blockIdx.x] = rank | n << 16;
}
