/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The word of a memory barrier (mbarrier). Its layout is not documented; where the counts lie is
 * what the compiler writes for mbarrier.init and reads for mbarrier.pending_count:
 *
 *   sm_90 on   bits 1 to 20   0x100000 - arrivals that a phase expects
 *              bits 43 to 62  0x100000 - arrivals still pending
 *              bit 63         phase
 *   sm_80      bits 0 to 29   0x40000000 - arrivals that a phase expects
 *              bits 32 to 62  0x80000000 - arrivals still pending
 *              bit 63         phase
 *
 * [measured: ptxas 13.0 for sm_80 and sm_90, mbarrier.init, pending_count and try_wait.parity].
 * From sm_90 on the bits between hold the count of transactions: in bits 21 to 41, by a public test
 * program; its sign is not known. The software GPU counts what is announced up.
 */
#include "objects/mbarrier.h"

#include <stdlib.h>

enum { TX_AT = 21, TX_SIGN = 1 << 20 };

void wsi_barrier_decode(unsigned sm, uint64_t word, struct wsi_barrier *ret_barrier)
{
	struct wsi_barrier b = { .phase = (unsigned)(word >> 63) };
	if (sm >= 90) {
		uint32_t bytes = (uint32_t)(word >> TX_AT) & (2 * TX_SIGN - 1);
		b.expected = (uint32_t)(0 - (word >> 1)) & 0xfffff;
		b.pending = (uint32_t)(0 - (word >> 43)) & 0xfffff;
		b.tx = (int32_t)(bytes ^ TX_SIGN) - TX_SIGN;
		b.bytes = (uint32_t)abs(b.tx);
		b.others = word & UINT64_C(0x000007ffffe00001);
	} else {
		b.expected = (uint32_t)(0 - word) & 0x3fffffff;
		b.pending = (uint32_t)(0 - (word >> 32)) & 0x7fffffff;
		b.others = word & 0xc0000000;
	}
	b.in_use = b.expected && b.expected <= WSI_BARRIER_MAX_COUNT && b.pending <= b.expected;
	*ret_barrier = b;
}

uint64_t wsi_barrier_encode(unsigned sm, const struct wsi_barrier *b)
{
	uint64_t word = (uint64_t)b->phase << 63;
	if (sm < 90)
		return word | (uint64_t)((0 - b->pending) & 0x7fffffff) << 32 |
		       ((0 - b->expected) & 0x3fffffff);
	return word | (uint64_t)((0 - b->pending) & 0xfffff) << 43 |
	       (uint64_t)((uint32_t)b->tx & (2 * TX_SIGN - 1)) << TX_AT |
	       (uint64_t)((0 - b->expected) & 0xfffff) << 1;
}
