/* SPDX-License-Identifier: Apache-2.0 */
/* The word of a barrier object in memory (mbarrier), as far as its layout is known. */
#ifndef WSI_OBJECTS_MBARRIER_H
#define WSI_OBJECTS_MBARRIER_H

#include <warpscope/base.h>

enum {
	WSI_BARRIER_MAX_COUNT = 0xfffff
}; /* [public doc: PTX ISA, contents of the mbarrier object] */

/* What the 64 bits of a barrier object (mbarrier) say. */
struct wsi_barrier {
	uint32_t expected, pending; /* arrivals */
	uint32_t bytes;             /* of copies, without their sign: announced or come, not both */
	int32_t tx;                 /* the same with the sign that the software GPU gives it */
	unsigned phase;             /* parity */
	uint64_t others;            /* bits beside the arrivals and the phase, in place */
	bool in_use;                /* false: no barrier in use holds such counts */
};

void wsi_barrier_decode(unsigned sm, uint64_t word, struct wsi_barrier *ret_barrier);
/* The opposite: of arrivals, `tx` and phase. */
uint64_t wsi_barrier_encode(unsigned sm, const struct wsi_barrier *barrier);

#endif
