// SPDX-License-Identifier: Apache-2.0
// Kernels that were built for certain blocks (tests/driver).
#include "kernel.h"

// At most 64 threads.
KERNEL __launch_bounds__(64) bounded(u32 *out)
{
	out[threadIdx.x] = threadIdx.x;
}

// 8 x 4 threads, and no others.
KERNEL __block_size__((8, 4, 1)) exact(u32 *out)
{
	out[threadIdx.y * 8 + threadIdx.x] = threadIdx.x;
}
