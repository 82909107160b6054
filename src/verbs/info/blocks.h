/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks that a filter lets through in cuda-gdb's order (kernel, then block index with x
 * fastest) with their warps.
 */
#ifndef WSI_VERBS_BLOCKS_H
#define WSI_VERBS_BLOCKS_H

#include "verbs/info/dim3.h"
#include "verbs/info/info.h"

struct wsi_block_entry {
	uint32_t kernel; /* id; WS_NONE: its grid is not in the dump */
	uint32_t block_index, sm_index, device_index;
	struct ws_dim3 idx, cluster_idx;
	bool have_cluster;
	const struct ws_grid *grid; /* NULL: not in the dump */
	size_t first_warp, n_warps; /* in blocks.warps */
};

struct wsi_blocks {
	struct wsi_block_entry *entries; /* owned */
	uint32_t *warps;                 /* owned; warp indices, block by block */
	size_t n_entries, n_warps;
};

/* Without memory there are none, and the answer fails. */
void wsi_blocks_find(struct wsi_blocks *blocks, struct wsi_info *info);
void wsi_blocks_fini(struct wsi_blocks *blocks);

#endif
