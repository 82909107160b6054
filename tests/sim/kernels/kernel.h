// SPDX-License-Identifier: Apache-2.0
// What all kernels here use.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define KERNEL extern "C" __global__ void

__device__ static inline int thread_number()
{
	return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}
