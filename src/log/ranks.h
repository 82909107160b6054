/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of a job: some of them, and as text. */
#ifndef WSI_LOG_RANKS_H
#define WSI_LOG_RANKS_H

#include "base/arena.h"

enum { WSI_FEW = 64 };

/* Some different numbers; more are not kept. */
struct wsi_few {
	uint64_t number[WSI_FEW];
	uint32_t n;
	bool more;
};

void wsi_few_add(struct wsi_few *few, uint64_t number);

/* "0-3,7": sorted numbers; `more`: there are others. NULL: memory is out. */
const char *wsi_ranks_text(struct wsi_arena *arena, const uint64_t *ranks, size_t n, bool more);

#endif
