/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks that a filter lets through in cuda-gdb's order (kernel, then block index with x
 * fastest) with their warps.
 */
#ifndef WARPSCOPE_CLI_BLOCKS_H
#define WARPSCOPE_CLI_BLOCKS_H

#include "info/dim3.h"
#include "session.h"

struct block_entry {
	uint32_t kernel; /* id; WS_NONE: its grid is not in the dump */
	uint32_t block_index, sm_index, device_index;
	struct ws_dim3 idx, cluster_idx;
	bool have_cluster;
	const struct ws_grid *grid; /* NULL: not in the dump */
	size_t first_warp, n_warps; /* in blocks.warps */
};

struct info_blocks {
	struct block_entry *entries; /* owned */
	uint32_t *warps;             /* owned; warp indices, block by block */
	size_t n_entries, n_warps;
};

void blocks_find(struct info_blocks *blocks, const struct cli_session *session,
		 const struct ws_filter *filter);
void blocks_fini(struct info_blocks *blocks);

#endif
