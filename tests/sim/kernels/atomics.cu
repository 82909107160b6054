// SPDX-License-Identifier: Apache-2.0
// Atomic operations in global and shared memory, and what is built with them.
#include "kernel.h"

KERNEL atomic_words(u32 *cell, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 v = in[i];
	atomicAdd(&cell[0], v);
	atomicSub(&cell[1], v);
	atomicMin(&cell[2], v);
	atomicMax(&cell[3], v);
	atomicMin((int *)&cell[4], (int)v);
	atomicMax((int *)&cell[5], (int)v);
	atomicAnd(&cell[6], v | 0xff);
	atomicOr(&cell[7], v & 0xff00ff);
	atomicXor(&cell[8], v);
	atomicInc(&cell[9], 99);
	atomicDec(&cell[10], 99);
}

KERNEL atomic_wide(u64 *cell, const u64 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u64 v = in[i];
	atomicAdd(&cell[0], v);
	atomicMin(&cell[1], v);
	atomicMax(&cell[2], v);
	atomicMin((s64 *)&cell[3], (s64)v);
	atomicAnd(&cell[4], v | 0xff);
	atomicOr(&cell[5], v & 0xff00ff);
	atomicXor(&cell[6], v);
}

KERNEL atomic_floats(float *sum, double *wide_sum, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	atomicAdd(sum, (float)(in[i] & 1023));
	atomicAdd(wide_sum, (double)in[i]);
}

// Each thread gets a number of its own: what comes back is checked.
KERNEL atomic_returns(u32 *seen, u32 *cell, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	atomicAdd(&seen[atomicAdd(&cell[0], 1u)], 1u);
	u32 previous = atomicExch(&cell[1], (u32)i + 1);
	if (previous)
		atomicAdd(&seen[n + (int)previous - 1], 1u);
	u32 ticket = atomicInc(&cell[2], (u32)n / 2 - 1);
	atomicAdd(&seen[2 * n + (int)ticket], 1u);
}

KERNEL compare_and_swap(u32 *cell, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 old = *(volatile u32 *)cell, assumed;
	do {
		assumed = old;
		old = atomicCAS(cell, assumed, assumed * 3 + 0 * in[i] + (assumed & 1));
	} while (old != assumed);
}

KERNEL compare_and_swap_wide(u64 *cell, const u64 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u64 old = *(volatile u64 *)cell, assumed;
	do {
		assumed = old;
		old = atomicCAS(cell, assumed, (assumed ^ in[i]) + 1 - 1);
	} while (old != assumed);
}

KERNEL shared_atomics(u32 *out, const u32 *in)
{
	__shared__ u32 cell[8];
	__shared__ u64 wide;
	__shared__ float sum;
	int t = (int)threadIdx.x;
	if (t < 8)
		cell[t] = t == 1 ? 0xffffffffu : 0;
	if (t == 0) {
		wide = 0;
		sum = 0;
	}
	__syncthreads();
	u32 v = in[thread_number()];
	atomicAdd(&cell[0], v);
	atomicMin(&cell[1], v);
	atomicMax(&cell[2], v);
	atomicOr(&cell[3], v & 0xf0f0);
	atomicXor(&cell[4], v);
	atomicInc(&cell[5], 36);
	atomicAdd(&wide, (u64)v << 16);
	atomicAdd(&sum, (float)(v & 255));
	__syncthreads();
	if (t < 6)
		out[(int)blockIdx.x * 10 + t] = cell[t];
	if (t == 6) {
		out[(int)blockIdx.x * 10 + 6] = (u32)wide;
		out[(int)blockIdx.x * 10 + 7] = (u32)(wide >> 32);
		out[(int)blockIdx.x * 10 + 8] = __float_as_uint(sum);
	}
}

KERNEL spin_lock(u32 *lock, u32 *value, int rounds)
{
	for (int k = 0; k < rounds; k++) {
		bool done = false;
		while (!done) {
			if (atomicCAS(lock, 0u, 1u) == 0) {
				__threadfence();
				*(volatile u32 *)value = *(volatile u32 *)value + 1;
				__threadfence();
				atomicExch(lock, 0u);
				done = true;
			}
		}
	}
}

__device__ u32 blocks_done;

// The block that finishes last adds up what all have left.
KERNEL last_block_sum(u32 *out, u32 *part, const u32 *in, int n)
{
	__shared__ u32 sum;
	__shared__ bool last;
	if (threadIdx.x == 0)
		sum = 0;
	__syncthreads();
	u32 mine = 0;
	for (int i = thread_number(); i < n; i += (int)(gridDim.x * blockDim.x))
		mine += in[i];
	atomicAdd(&sum, mine);
	__syncthreads();
	if (threadIdx.x == 0) {
		part[blockIdx.x] = sum;
		__threadfence();
		last = atomicAdd(&blocks_done, 1u) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && threadIdx.x == 0) {
		u32 total = 0;
		for (u32 k = 0; k < gridDim.x; k++)
			total += ((volatile u32 *)part)[k];
		*out = total;
		blocks_done = 0;
	}
}

// A barrier of all blocks: they must be resident together.
KERNEL grid_barrier(u32 *out, u32 *arrived, const u32 *in, int rounds)
{
	int i = thread_number(), n = (int)(gridDim.x * blockDim.x);
	u32 v = in[i];
	for (int k = 0; k < rounds; k++) {
		((volatile u32 *)out)[(k & 1) * n + i] = v;
		__threadfence();
		__syncthreads();
		if (threadIdx.x == 0) {
			atomicAdd(arrived, 1u);
			while (*(volatile u32 *)arrived < gridDim.x * (u32)(k + 1))
				__nanosleep(20);
		}
		__syncthreads();
		v = v * 3 + ((volatile u32 *)out)[(k & 1) * n + (i + (int)blockDim.x) % n];
	}
	out[2 * n + i] = v;
}
