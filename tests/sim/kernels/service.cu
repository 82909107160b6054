// SPDX-License-Identifier: Apache-2.0
// What kernels ask of the device's services, and what waits.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include "kernel.h"

KERNEL print_some(int n)
{
	int i = thread_number();
	if (i < n)
		printf("thread %d of %u: %s %5.2f %llx\n", i, gridDim.x * blockDim.x, i & 1 ? "odd" : "even", i * 0.25, 0x123456789aull + (u64)i);
}

KERNEL heap_lists(u32 *out, int n)
{
	struct Link {
		Link *next;
		u32 value;
	};
	int i = thread_number();
	if (i >= n)
		return;
	Link *list = nullptr;
	for (int k = 0; k <= i % 5; k++) {
		Link *link = (Link *)malloc(sizeof *link);
		link->value = (u32)(i + k);
		link->next = list;
		list = link;
	}
	u32 sum = 0;
	while (list) {
		Link *next = list->next;
		sum = sum * 7 + list->value;
		free(list);
		list = next;
	}
	out[i] = sum;
}

KERNEL clocks(u32 *out, int n)
{
	int i = thread_number();
	s64 before = clock64();
	u32 sum = 0;
	for (int k = 0; k < 50; k++)
		sum += (u32)k * sum + 1;
	__nanosleep(100);
	s64 after = clock64();
	if (i < n)
		out[i] = after > before ? 1 + 0 * sum : 0;
}

KERNEL asserts(const u32 *in, u32 limit)
{
	assert(in[thread_number()] < limit);
}

KERNEL traps(const u32 *in, u32 limit)
{
	if (in[thread_number()] >= limit)
		__trap();
}
