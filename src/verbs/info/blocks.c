/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/info/blocks.h"

#include <stdlib.h>
#include <string.h>

/* ---- finding ---- */

struct collect {
	struct wsi_blocks *blocks;
	const struct ws_threads *threads;
	uint32_t *entry_of; /* by block index: entry + 1, or 0 */
	uint32_t *block_of; /* of each warp found, its entry */
	uint32_t *grouped;  /* warps, block by block */
};

static struct wsi_block_entry *entry_add(struct collect *collect, uint32_t block_index,
					 const struct ws_block *block)
{
	struct wsi_blocks *blocks = collect->blocks;
	struct wsi_block_entry *entry = &blocks->entries[blocks->n_entries++];
	const struct ws_threads *threads = collect->threads;
	*entry = (struct wsi_block_entry){ .kernel = wsi_threads_kernel(threads, block->grid_index),
					   .block_index = block_index,
					   .sm_index = block->sm_index,
					   .device_index = block->device_index,
					   .idx = block->idx,
					   .have_cluster = wsi_threads_has_clusters(threads, block),
					   .cluster_idx = block->cluster_idx,
					   .grid = block->grid_index < threads->counts.grids
							   ? &threads->grids[block->grid_index]
							   : NULL };
	collect->entry_of[block_index] = (uint32_t)blocks->n_entries;
	return entry;
}

static void take_warp(void *user, const struct ws_resident *place)
{
	struct collect *collect = user;
	struct wsi_blocks *blocks = collect->blocks;
	uint32_t block_index = place->warp.block_index;
	if (place->block_status != WS_OK)
		return;
	if (!collect->entry_of[block_index])
		entry_add(collect, block_index, &place->block);
	uint32_t entry = collect->entry_of[block_index] - 1;
	blocks->entries[entry].n_warps++;
	blocks->warps[blocks->n_warps] = place->warp_index;
	collect->block_of[blocks->n_warps++] = entry;
}

/* Blocks that have no warp, when nothing is asked of warps. */
static void take_empty_blocks(struct collect *collect, const struct ws_filter *filter)
{
	const struct ws_threads *threads = collect->threads;
	if (ws_filter_limits(filter, WS_FILTER_warp) || ws_filter_limits(filter, WS_FILTER_lane) ||
	    ws_filter_limits(filter, WS_FILTER_thread))
		return;
	for (uint32_t i = 0; i < threads->counts.blocks; i++) {
		struct ws_block block;
		struct ws_sm sm;
		if (collect->entry_of[i] ||
		    ws_target_block(threads->target, i, &block, NULL) != WS_OK ||
		    ws_target_sm(threads->target, block.sm_index, &sm, NULL) != WS_OK)
			continue;
		uint32_t kernel = wsi_threads_kernel(threads, block.grid_index);
		if (ws_filter_number(filter, WS_FILTER_device,
				     threads->devices[block.device_index].id) &&
		    ws_filter_number(filter, WS_FILTER_sm, sm.id) &&
		    ws_filter_number(filter, WS_FILTER_kernel,
				     kernel == WS_NONE ? -1 : (int64_t)kernel) &&
		    ws_filter_number(filter, WS_FILTER_grid, block.grid_id) &&
		    ws_filter_dim3(filter, WS_FILTER_block, block.idx) &&
		    (!ws_filter_limits(filter, WS_FILTER_cluster) ||
		     (wsi_threads_has_clusters(threads, &block) &&
		      ws_filter_dim3(filter, WS_FILTER_cluster, block.cluster_idx))))
			entry_add(collect, i, &block);
	}
}

/* Groups the warps by block; within one they keep the order of warp ids. */
static void group_warps(struct collect *collect)
{
	struct wsi_blocks *blocks = collect->blocks;
	size_t at = 0;
	for (size_t i = 0; i < blocks->n_entries; i++) {
		blocks->entries[i].first_warp = at;
		at += blocks->entries[i].n_warps;
		blocks->entries[i].n_warps = 0;
	}
	for (size_t i = 0; i < blocks->n_warps; i++) {
		struct wsi_block_entry *entry = &blocks->entries[collect->block_of[i]];
		collect->grouped[entry->first_warp + entry->n_warps++] = blocks->warps[i];
	}
	uint32_t *warps = blocks->warps;
	blocks->warps = collect->grouped;
	collect->grouped = warps;
}

static int entry_compare(const void *left, const void *right)
{
	const struct wsi_block_entry *a = left, *b = right;
	int order = WSI_ORDER(a->kernel, b->kernel);
	order = order ? order : wsi_dim3_compare(a->idx, b->idx);
	return order ? order : WSI_ORDER(a->block_index, b->block_index);
}

void wsi_blocks_find(struct wsi_blocks *blocks, struct wsi_info *info)
{
	const struct ws_counts *counts = &info->threads->counts;
	*blocks = (struct wsi_blocks){
		.entries = wsi_info_alloc(info, counts->blocks, sizeof *blocks->entries),
		.warps = wsi_info_alloc(info, counts->warps, sizeof *blocks->warps)
	};
	struct collect collect = {
		.blocks = blocks,
		.threads = info->threads,
		.entry_of = wsi_info_alloc(info, counts->blocks, sizeof *collect.entry_of),
		.block_of = wsi_info_alloc(info, counts->warps, sizeof *collect.block_of),
		.grouped = wsi_info_alloc(info, counts->warps, sizeof *collect.grouped),
	};
	if (info->status != WS_NO_MEMORY) {
		ws_threads_walk(info->threads, &info->filter, WS_WALK_WARPS, take_warp, &collect);
		take_empty_blocks(&collect, &info->filter);
		group_warps(&collect);
		qsort(blocks->entries, blocks->n_entries, sizeof *blocks->entries, entry_compare);
	}
	wsi_free(collect.entry_of);
	wsi_free(collect.block_of);
	wsi_free(collect.grouped);
}

void wsi_blocks_fini(struct wsi_blocks *blocks)
{
	wsi_free(blocks->entries);
	wsi_free(blocks->warps);
	*blocks = (struct wsi_blocks){ 0 };
}
