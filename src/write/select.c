/* SPDX-License-Identifier: Apache-2.0 */
#include "write/select.h"

/* What is looked at of one target. */
struct scan {
	const struct ws_target *target;
	struct ws_counts counts;
	struct wsi_selection *selection;
	bool *hidden; /* owned: per device, an SM has a fault and no warp to blame for it */
	struct ws_error *err;
};

void wsi_selection_fini(struct wsi_selection *selection)
{
	wsi_free(selection->contexts);
	wsi_free(selection->images);
	wsi_free(selection->grids);
	wsi_free(selection->blocks);
	wsi_free(selection->warps);
	*selection = (struct wsi_selection){ 0 };
}

static enum ws_status selection_init(struct wsi_selection *selection,
				     const struct ws_counts *counts, struct ws_error *err)
{
	*selection = (struct wsi_selection){
		.contexts = wsi_zalloc_array(counts->contexts, sizeof(bool)),
		.images = wsi_zalloc_array(counts->images, sizeof(bool)),
		.grids = wsi_zalloc_array(counts->grids, sizeof(bool)),
		.blocks = wsi_zalloc_array(counts->blocks, sizeof(bool)),
		.warps = wsi_zalloc_array(counts->warps, sizeof(bool)),
	};
	if (selection->contexts && selection->images && selection->grids && selection->blocks &&
	    selection->warps)
		return WS_OK;
	wsi_selection_fini(selection);
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "choosing what to write");
}

/* Whether a thread of the warp faulted, or stopped at a trap. The fault may be told by the lane or,
 * where the warp knows its place, by the SM. */
static bool warp_faulted(const struct scan *scan, const struct ws_sm *sm, uint32_t warp_index,
			 struct ws_warp *ret_warp)
{
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	if (ws_target_warp(scan->target, warp_index, ret_warp, NULL) != WS_OK)
		return false;
	if (ret_warp->broken || (sm->exception && ret_warp->error_pc_valid))
		return true;
	if (ws_target_lanes(scan->target, warp_index, lanes, &n, NULL) != WS_OK)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (lanes[i].exception)
			return true;
	}
	return false;
}

/* Context of a block; WS_NONE when it cannot be told. */
static uint32_t context_of_block(const struct scan *scan, uint32_t block_index)
{
	struct ws_block block;
	struct ws_grid grid;
	if (ws_target_block(scan->target, block_index, &block, NULL) != WS_OK ||
	    block.grid_index == WS_NONE ||
	    ws_target_grid(scan->target, block.grid_index, &grid, NULL) != WS_OK)
		return WS_NONE;
	return grid.context_index;
}

static void scan_sm(struct scan *scan, uint32_t sm_index)
{
	struct ws_sm sm;
	if (ws_target_sm(scan->target, sm_index, &sm, NULL) != WS_OK)
		return;
	bool blamed = false;
	for (uint32_t w = 0; w < sm.n_warps; w++) {
		struct ws_warp warp;
		if (!warp_faulted(scan, &sm, sm.first_warp_index + w, &warp))
			continue;
		uint32_t context = context_of_block(scan, warp.block_index);
		blamed = true;
		if (context != WS_NONE)
			scan->selection->contexts[context] = true;
	}
	if (sm.exception && !blamed && sm.device_index < scan->counts.devices)
		scan->hidden[sm.device_index] = true;
}

/* A device of which only an SM tells of a fault keeps every context: none can be ruled out. */
static void keep_hidden(struct scan *scan)
{
	bool *kept = scan->selection->contexts;
	for (uint32_t i = 0; i < scan->counts.contexts; i++) {
		struct ws_context context;
		if (kept[i] && ws_target_context(scan->target, i, &context, NULL) == WS_OK)
			scan->hidden[context.device_index] = false;
	}
	for (uint32_t i = 0; i < scan->counts.contexts; i++) {
		struct ws_context context;
		if (ws_target_context(scan->target, i, &context, NULL) == WS_OK &&
		    scan->hidden[context.device_index])
			kept[i] = true;
	}
}

/* What belongs to a context that is kept, and what cannot be told to belong to another. */
static void keep_below(const struct scan *scan)
{
	const struct wsi_selection *selection = scan->selection;
	for (uint32_t i = 0; i < scan->counts.images; i++) {
		struct ws_image image;
		if (ws_target_image(scan->target, i, &image, NULL) == WS_OK)
			selection->images[i] = selection->contexts[image.context_index];
	}
	for (uint32_t i = 0; i < scan->counts.grids; i++) {
		struct ws_grid grid;
		if (ws_target_grid(scan->target, i, &grid, NULL) == WS_OK)
			selection->grids[i] = grid.context_index == WS_NONE ||
					      selection->contexts[grid.context_index];
	}
	for (uint32_t i = 0; i < scan->counts.blocks; i++) {
		uint32_t context = context_of_block(scan, i);
		selection->blocks[i] = context == WS_NONE || selection->contexts[context];
	}
	for (uint32_t i = 0; i < scan->counts.warps; i++) {
		struct ws_warp warp;
		if (ws_target_warp(scan->target, i, &warp, NULL) == WS_OK)
			selection->warps[i] = selection->blocks[warp.block_index];
	}
}

enum ws_status wsi_select_faulted_contexts(const struct ws_target *target,
					   struct wsi_selection *selection, struct ws_error *err)
{
	struct scan scan = { .target = target, .selection = selection, .err = err };
	ws_target_counts(target, &scan.counts);
	enum ws_status st = selection_init(selection, &scan.counts, err);
	if (st != WS_OK)
		return st;
	scan.hidden = wsi_zalloc_array(scan.counts.devices, sizeof *scan.hidden);
	if (!scan.hidden) {
		wsi_selection_fini(selection);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "choosing what to write");
	}
	for (uint32_t i = 0; i < scan.counts.sms; i++)
		scan_sm(&scan, i);
	keep_hidden(&scan);
	keep_below(&scan);
	wsi_free(scan.hidden);
	return WS_OK;
}
