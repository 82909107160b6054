/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks that a filter lets through in cuda-gdb's order (kernel, then block index with x
 * fastest) with their warps.
 */
#ifndef WSI_VERBS_BLOCKS_H
#define WSI_VERBS_BLOCKS_H

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

/* ---- order of block and thread indices, and which are neighbours: what joins rows ---- */

static inline bool wsi_dim3_equal(struct ws_dim3 a, struct ws_dim3 b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Whether `next` stands right behind `at` in an extent, x fastest. `ret_wrapped`, if not NULL:
 * whether `at` is the last and `next` the first (of the block behind, say). */
static inline bool wsi_dim3_follows(struct ws_dim3 at, struct ws_dim3 next, struct ws_dim3 extent,
				    bool *ret_wrapped)
{
	bool wrapped = false;
	if (++at.x >= extent.x) {
		at.x = 0;
		if (++at.y >= extent.y) {
			at.y = 0;
			wrapped = ++at.z >= extent.z;
			if (wrapped)
				at.z = 0;
		}
	}
	if (ret_wrapped)
		*ret_wrapped = wrapped;
	return (!wrapped || ret_wrapped) && wsi_dim3_equal(at, next);
}

/* Order of a table: z, then y, then x. Negative, 0, positive. */
static inline int wsi_dim3_compare(struct ws_dim3 a, struct ws_dim3 b)
{
	return WSI_ORDER_THEN(a.z, b.z, WSI_ORDER_THEN(a.y, b.y, WSI_ORDER(a.x, b.x)));
}

#endif
