// SPDX-License-Identifier: Apache-2.0
// What programs of tests/driver put into graphs, and variables that host and device share.
#include "kernel.h"

__managed__ u32 both = 5;
__managed__ u32 list[4];
__device__ u32 alone = 3;

KERNEL use_both(u32 by)
{
	list[threadIdx.x] += threadIdx.x;
	if (threadIdx.x == 0)
		both += by * alone;
}

KERNEL plus(u32 *at, u32 by)
{
	at[threadIdx.x] += by;
}

KERNEL times(u32 *at, u32 by)
{
	at[threadIdx.x] *= by;
}
