/* SPDX-License-Identifier: Apache-2.0 */
/* Random instruction words, for tests that go through the rows of the instruction table. */
#ifndef TEST_SIM_WORDS_H
#define TEST_SIM_WORDS_H

#include <stdint.h>

/* The next number of a sequence (splitmix64); `*seed` is where it is. */
static inline uint64_t random_number(uint64_t *seed)
{
	uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static inline void set_bits(uint64_t word[2], unsigned lo, unsigned len, uint64_t value)
{
	for (unsigned i = 0; i < len; i++) {
		uint64_t bit = UINT64_C(1) << (lo + i) % 64, *part = &word[(lo + i) / 64];
		*part = value >> i & 1 ? *part | bit : *part & ~bit;
	}
}

#endif
