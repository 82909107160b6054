/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generic addresses. A context has a window for shared and one for local memory; addresses outside
 * both are global. The dump gives where the windows begin, not their sizes.
 *
 * Sizes [guess, as other readers do]: 16 MiB each. From sm_90 on a block reaches the shared memory
 * of the other blocks of its cluster: address = window + rank of the block in the cluster * 16 MiB
 * + offset, so the shared window is taken to go on for 4 GiB, but not over the other window and not
 * over global memory that the dump has.
 */
#include "target/dump/dump.h"

static struct ws_dim3 cluster_dim_of(const struct ws_core *core, const struct ws_block *block)
{
	struct ws_grid grid;
	if (block->have & WS_BLOCK_CLUSTER_DIM && block->cluster_dim.x)
		return block->cluster_dim;
	if (block->grid_index != WS_NONE &&
	    ws_target_grid(&core->target, block->grid_index, &grid, NULL) == WS_OK &&
	    grid.have & WS_GRID_CLUSTER && grid.cluster_dim.x)
		return grid.cluster_dim;
	return (struct ws_dim3){ 1, 1, 1 };
}

static bool same_cluster(const struct ws_block *a, const struct ws_block *b, struct ws_dim3 dim)
{
	return a->device_index == b->device_index && a->grid_id == b->grid_id &&
	       a->idx.x / dim.x == b->idx.x / dim.x && a->idx.y / dim.y == b->idx.y / dim.y &&
	       a->idx.z / dim.z == b->idx.z / dim.z;
}

/* The block with that rank in the cluster of a block, or WS_NONE. */
static uint32_t block_by_rank(const struct ws_core *core, uint32_t block_index, uint64_t rank)
{
	struct ws_block self, other;
	if (ws_target_block(&core->target, block_index, &self, NULL) != WS_OK)
		return WS_NONE;
	struct ws_dim3 dim = cluster_dim_of(core, &self);
	dim.y = dim.y ? dim.y : 1;
	dim.z = dim.z ? dim.z : 1;
	if (wsi_dim3_rank(self.idx, dim) == rank)
		return block_index;
	for (uint32_t i = 0; i < core->blocks.n; i++) {
		if (ws_target_block(&core->target, i, &other, NULL) == WS_OK &&
		    same_cluster(&self, &other, dim) && wsi_dim3_rank(other.idx, dim) == rank)
			return i;
	}
	return WS_NONE;
}

static enum ws_status shared_fill(const struct ws_core *core, uint64_t offset, bool has_ranks,
				  struct wsi_resolved *to, struct ws_error *err)
{
	uint64_t rank = offset / WS_WINDOW_BYTES;
	uint32_t block = wsi_core_block_of(core, to->at.warp_index);
	if (has_ranks)
		block = block_by_rank(core, block, rank);
	if (block == WS_NONE)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"shared memory of block %" PRIu64
				" of the cluster, which is not in the dump",
				rank);
	to->at.space = WS_SPACE_SHARED;
	to->at.address = offset % WS_WINDOW_BYTES;
	to->block_index = block;
	return WS_OK;
}

enum ws_status wsi_core_resolve(const struct ws_core *core, const struct ws_address *at,
				struct wsi_resolved *ret_resolved, struct ws_error *err)
{
	struct ws_warp warp;
	struct ws_grid grid;
	struct ws_context context;
	struct ws_device device;
	struct wsi_global global;
	struct wsi_resolved to = { .at = *at, .block_index = WS_NONE };
	enum ws_status st = ws_target_warp(&core->target, at->warp_index, &warp, err);
	if (st == WS_OK)
		st = ws_target_device(&core->target, warp.device_index, &device, err);
	if (st != WS_OK)
		return st;
	if (!wsi_core_grid_of(core, warp.block_index, &grid) || grid.context_index == WS_NONE ||
	    ws_target_context(&core->target, grid.context_index, &context, NULL) != WS_OK)
		return wsi_fail(err, WS_MALFORMED, WS_NO_OFFSET,
				"the windows of generic addresses are unknown: the dump does not "
				"link the warp to a context");
	uint64_t offset;
	bool has_ranks = device.sm_major >= 9;
	if (ws_context_window(&context, WS_SPACE_LOCAL, has_ranks, at->address, &offset)) {
		to.at.space = WS_SPACE_LOCAL;
		to.at.address = offset;
	} else if (ws_context_window(&context, WS_SPACE_SHARED, has_ranks, at->address, &offset) &&
		   (offset < WS_WINDOW_BYTES || !wsi_core_global_at(core, at->address, &global))) {
		st = shared_fill(core, offset, has_ranks, &to, err);
		if (st != WS_OK)
			return st;
	} else {
		to.at.space = WS_SPACE_GLOBAL;
	}
	*ret_resolved = to;
	return WS_OK;
}
