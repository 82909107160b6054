// SPDX-License-Identifier: Apache-2.0
// Blocks that wait for each other: cooperative launches.
#include <cooperative_groups.h>
#include "kernel.h"

// Each round adds to each word its neighbour of the round before.
KERNEL grid_rounds(u32 *a, u32 *b, int rounds)
{
	int t = thread_number(), n = (int)(gridDim.x * blockDim.x);
	for (int i = 0; i < rounds; i++) {
		const u32 *from = i & 1 ? b : a;
		u32 *to = i & 1 ? a : b;
		to[t] = from[t] + from[(t + 1) % n];
		cooperative_groups::this_grid().sync();
	}
}
