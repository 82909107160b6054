/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor memory of sm_100: 512 columns of 128 lanes of 32 bits in an SM, given out to blocks in
 * units of 32 columns. An address has the lane in its upper half, the column in its lower.
 */
#ifndef WSI_SIM_TMEM_H
#define WSI_SIM_TMEM_H

#include "sim/exec/access.h"

enum { WSI_TMEM_LANES = 128, WSI_TMEM_COLUMNS = 512, WSI_TMEM_UNIT = 32, WSI_TMEM_UNITS = 16 };

/* What a block has of it: a block only finds its own columns. */
struct wsi_tensor {
	uint32_t columns; /* a bit for each unit */
	uint32_t cell[WSI_TMEM_COLUMNS][WSI_TMEM_LANES];
};

/* A cell of a block. NULL: not the block's, and the fault is recorded. */
uint32_t *wsi_tmem_cell(struct wsi_run *run, const struct wsi_block *block, uint32_t lane,
			uint32_t column);

/* The blocks that an instruction for one or two blocks (`.2CTA`) works on: 1 or 2, of a pair the
 * even rank first. 0: the other one is not there, and the fault is recorded. */
unsigned wsi_tmem_blocks(struct wsi_run *run, bool pair, struct wsi_block *ret_blocks[2]);

/* What a driver leaves in the reserved part of the shared memory of a block. */
void wsi_tmem_enter(const struct ws_sim *sim, struct wsi_block *block);

/* Before the last threads of a block exit: false if it still has columns, and the fault is
 * recorded. */
bool wsi_tmem_leave(struct wsi_run *run, uint32_t lanes);

#endif
