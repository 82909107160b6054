/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks that a filter lets through in cuda-gdb's order (kernel, then block index with x
 * fastest) with their warps, and the rule that joins neighbours to one row.
 */
#ifndef WARPSCOPE_CLI_BLOCKS_H
#define WARPSCOPE_CLI_BLOCKS_H

#include "session.h"

struct block_entry {
	uint32_t kernel; /* id; WS_NONE: its grid is not in the dump */
	uint32_t block_index, sm_index, device_index;
	struct ws_dim3 idx, cluster_idx;
	bool have_cluster;
	const struct ws_grid *grid; /* NULL: not in the dump */
	size_t first_warp, n_warps; /* in blocks.warps */
};

struct blocks {
	struct block_entry *entries; /* owned */
	uint32_t *warps;             /* owned; warp indices, block by block */
	size_t n_entries, n_warps;
};

void blocks_find(struct blocks *blocks, const struct session *session, const struct filter *filter);
void blocks_fini(struct blocks *blocks);

/* Whether `next` stands right behind `at` in an extent, x fastest. `ret_wrapped`, if not NULL:
 * whether `at` is the last and `next` the first (of the block behind, say). */
bool dim3_follows(struct ws_dim3 at, struct ws_dim3 next, struct ws_dim3 extent, bool *ret_wrapped);
/* Order of a table: z, then y, then x. Negative, 0, positive. */
int dim3_compare(struct ws_dim3 a, struct ws_dim3 b);
static inline bool dim3_equal(struct ws_dim3 a, struct ws_dim3 b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z;
}

#endif
