// SPDX-License-Identifier: Apache-2.0
// Copies in the background and barriers in memory; from sm_80 on.
#include <cuda/barrier>
#include <cuda_pipeline.h>
#include "kernel.h"

KERNEL async_copy(u32 *out, const u32 *in)
{
	__shared__ uint4 tile[2][64];
	int t = (int)threadIdx.x, from = (int)blockIdx.x * 256;
	const uint4 *source = (const uint4 *)in + from;
	u32 sum = 0;
	__pipeline_memcpy_async(&tile[0][t], source + t, 16);
	__pipeline_commit();
	for (int k = 0; k < 4; k++) {
		if (k + 1 < 4)
			__pipeline_memcpy_async(&tile[(k + 1) & 1][t], source + (k + 1) * 64 + t, 16);
		__pipeline_commit();
		__pipeline_wait_prior(1);
		__syncthreads();
		uint4 v = tile[k & 1][63 - t];
		sum = sum * 3 + v.x + v.y * 5 + v.z * 7 + v.w;
		__syncthreads();
	}
	out[thread_number()] = sum;
}

KERNEL memory_barrier(u32 *out, const u32 *in, int rounds)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> barrier;
	__shared__ u32 value[128];
	int t = (int)threadIdx.x;
	if (t == 0)
		init(&barrier, (int)blockDim.x);
	__syncthreads();
	u32 v = in[thread_number()];
	for (int k = 0; k < rounds; k++) {
		value[t] = v;
		barrier.arrive_and_wait();
		v = v * 3 + value[(t + 37) & 127];
		barrier.arrive_and_wait();
	}
	out[thread_number()] = v;
}
