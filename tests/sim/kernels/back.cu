// SPDX-License-Identifier: Apache-2.0
// Where a fault is far from its cause: what a debugger goes back for.
#include "kernel.h"

// A table of indices; one thread spoils an entry that another one uses later.
KERNEL spoils(u32 *table, u32 *out, u32 n)
{
	u32 t = threadIdx.x;
	table[t] = (t * 7 + 3) % n;
	__syncthreads();
	if (t == 37)
		table[table[5]] = n << 20;
	__syncthreads();
	u32 sum = 0;
	for (u32 i = 0; i < 4; i++)
		sum += out[table[(t + i) % n]];
	out[t] = sum;
}

// Long enough that snapshots matter.
KERNEL counts(u32 *out, u32 rounds)
{
	u32 n = threadIdx.x;
	for (u32 i = 0; i < rounds; i++)
		n = n * 1664525 + 1013904223;
	out[blockIdx.x * blockDim.x + threadIdx.x] = n;
}
