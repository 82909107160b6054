/* SPDX-License-Identifier: Apache-2.0 */
/* What every unit test includes first: the internal base, then cmocka with what it needs. */
#ifndef WS_TEST_UNIT_H
#define WS_TEST_UNIT_H

#include "base/base.h"

#include <setjmp.h>

#undef malloc
#undef calloc
#undef realloc
#undef free
#include <cmocka.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static inline void store_le(uint8_t *to, uint64_t value, unsigned n_bytes)
{
	for (unsigned i = 0; i < n_bytes; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

/* Bytes that a test writes one after the other. */
struct byte_row {
	uint8_t bytes[512];
	size_t n;
};

static inline void byte_row_put(struct byte_row *made, const void *bytes, size_t n)
{
	assert_true(made->n + n <= sizeof made->bytes);
	memcpy(made->bytes + made->n, bytes, n);
	made->n += n;
}

/* Bytes that are allocated; 0 where nobody tells, as under a sanitizer, which finds leaks itself.
 */
static inline size_t bytes_in_use(void)
{
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
	struct mallinfo2 all = mallinfo2();
	return all.uordblks + all.hblkhd;
#endif
#endif
	return 0;
}

/* What `test` allocates does not pile up when it runs again and again. The allocator's lists of
 * what was freed grow for some time, too; a leak grows each time. */
static inline void assert_frees_all(void (*test)(void **state))
{
	enum { FIRST = 48, MORE = 16, TIMES = 8, LEAST_CHUNK = 32 };
	size_t most;
	int times = 0;
	for (int i = 0; i < FIRST; i++)
		test(NULL);
	do {
		most = bytes_in_use() + MORE * LEAST_CHUNK - 1;
		for (int i = 0; i < MORE; i++)
			test(NULL);
	} while (bytes_in_use() > most && ++times < TIMES);
	assert_in_range(bytes_in_use(), 0, most);
}

#endif
