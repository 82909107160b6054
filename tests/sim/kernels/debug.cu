// SPDX-License-Identifier: Apache-2.0
// What a debugger's user walks through: inlined and called functions, branches, loops, an index that goes wrong.
#include "kernel.h"

static __device__ __forceinline__ u32 twice(u32 v)
{
	u32 w = v + v;
	return w ^ 1;
}

static __device__ __forceinline__ u32 mixed(u32 v)
{
	u32 w = twice(v + 3);
	return w * 5;
}

static __device__ __noinline__ u32 folded(u32 v, u32 n)
{
	for (u32 i = 0; i < n; i++)
		v = v * 3 + i;
	return v;
}

// Inlined calls, and a call.
KERNEL calls(u32 *out, const u32 *in)
{
	int i = thread_number();
	u32 v = in[i];
	v = mixed(v);
	out[i] = v;
	v = folded(v, 3);
	out[i] += v;
}

// Odd and even threads part, and meet again.
KERNEL parts_once(u32 *out, const u32 *in)
{
	int i = thread_number();
	u32 v = in[i];
	if (v & 1)
		out[i] = folded(v, 2);
	else
		out[i] = folded(v, 4) + 1;
	__syncwarp();
	out[i] += 100;
}

// Neighbours through shared memory.
KERNEL shifts(u32 *out, const u32 *in)
{
	__shared__ u32 value[64];
	u32 t = threadIdx.x;
	value[t] = in[t] * 2;
	__syncthreads();
	out[t] = value[(t + 1) % blockDim.x];
}

// Follows a chain of indices; one of them leads out of the array.
KERNEL chain(u32 *out, const u32 *in, u32 steps)
{
	u32 at = threadIdx.x;
	for (u32 i = 0; i < steps; i++)
		at = in[at];
	out[threadIdx.x] = at;
}
