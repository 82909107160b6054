/* SPDX-License-Identifier: Apache-2.0 */
#include "write/select.h"

#include <warpscope/cubin.h>

#include "base/map.h"

/* What is looked at of one target. */
struct select_scan {
	const struct ws_target *target;
	struct ws_counts counts;
	struct wsi_selection *selection;
	bool *hidden; /* owned: per device, an SM has a fault and no warp to blame for it */
	struct wsi_map kernels; /* owned: device and entry of those whose launches are wanted */
	bool no_memory;
	struct ws_error *err;
};

void wsi_selection_fini(struct wsi_selection *selection)
{
#define X(list) wsi_free(selection->list);
	WSI_SELECTED_LISTS(X)
#undef X
	*selection = (struct wsi_selection){ 0 };
}

static enum ws_status selection_init(struct wsi_selection *selection,
				     const struct ws_counts *counts, struct ws_error *err)
{
	bool ok = true;
#define X(list)                                                         \
	selection->list = wsi_zalloc_array(counts->list, sizeof(bool)); \
	ok = ok && selection->list;
	WSI_SELECTED_LISTS(X)
#undef X
	if (ok)
		return WS_OK;
	wsi_selection_fini(selection);
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "choosing what to write");
}

/* Whether a thread of the warp faulted, or stopped at a trap. The fault may be told by the lane or,
 * where the warp knows its place, by the SM. */
static bool selected_warp_faulted(const struct select_scan *scan, const struct ws_sm *sm,
				  uint32_t warp_index, struct ws_warp *ret_warp)
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
static uint32_t context_of_block(const struct select_scan *scan, uint32_t block_index)
{
	struct ws_block block;
	struct ws_grid grid;
	if (ws_target_block(scan->target, block_index, &block, NULL) != WS_OK ||
	    block.grid_index == WS_NONE ||
	    ws_target_grid(scan->target, block.grid_index, &grid, NULL) != WS_OK)
		return WS_NONE;
	return grid.context_index;
}

static void scan_sm(struct select_scan *scan, uint32_t sm_index)
{
	struct ws_sm sm;
	if (ws_target_sm(scan->target, sm_index, &sm, NULL) != WS_OK)
		return;
	bool blamed = false;
	for (uint32_t w = 0; w < sm.n_warps; w++) {
		struct ws_warp warp;
		if (!selected_warp_faulted(scan, &sm, sm.first_warp_index + w, &warp))
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
static void keep_hidden(struct select_scan *scan)
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
static void keep_below(const struct select_scan *scan)
{
	const struct wsi_selection *selection = scan->selection;
	for (uint32_t i = 0; i < scan->counts.modules; i++) {
		struct ws_module module;
		if (ws_target_module(scan->target, i, &module, NULL) == WS_OK)
			selection->modules[i] = selection->contexts[module.context_index];
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
	struct select_scan scan = { .target = target, .selection = selection, .err = err };
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

/* ---- warps and what they need ---- */

static void keep_image(const struct select_scan *scan, uint32_t module_index)
{
	struct ws_module module;
	if (module_index == WS_NONE ||
	    ws_target_module(scan->target, module_index, &module, NULL) != WS_OK)
		return;
	scan->selection->modules[module_index] = true;
	scan->selection->contexts[module.context_index] = true;
}

static void keep_grid(const struct select_scan *scan, uint32_t grid_index)
{
	struct ws_grid grid;
	if (ws_target_grid(scan->target, grid_index, &grid, NULL) != WS_OK)
		return;
	scan->selection->grids[grid_index] = true;
	if (grid.context_index != WS_NONE)
		scan->selection->contexts[grid.context_index] = true;
	keep_image(scan, grid.module_index);
}

static struct wsi_map_key kernel_key(uint32_t device_index, uint64_t entry)
{
	return (struct wsi_map_key){ { device_index, entry } };
}

/* The module that has the code at an address; `launches`: those of its kernel too, where no block
 * tells which one it is. */
static void keep_code(struct select_scan *scan, struct ws_cubin_set *cubins, uint32_t device_index,
		      uint64_t address, bool launches)
{
	struct ws_cubin_hint hint = { WS_NONE, device_index, WS_NONE };
	struct ws_place place;
	if (ws_cubin_set_find_address(cubins, address, &hint, &place, NULL) != WS_OK)
		return;
	keep_image(scan, place.module_index);
	if (!launches || !place.owner)
		return;
	struct wsi_map_key key = kernel_key(device_index, place.owner->gpu_va);
	bool is_new;
	if (!wsi_map_put(&scan->kernels, &key, 0, &is_new))
		scan->no_memory = true;
}

static void keep_launches(const struct select_scan *scan)
{
	for (uint32_t i = 0; scan->kernels.n_used && i < scan->counts.grids; i++) {
		struct ws_grid grid;
		if (ws_target_grid(scan->target, i, &grid, NULL) != WS_OK)
			continue;
		struct wsi_map_key key = kernel_key(grid.device_index, grid.function_entry);
		if (wsi_map_find(&scan->kernels, &key))
			keep_grid(scan, i);
	}
}

/* The modules of where the threads of a warp are, and whence they came. */
static void keep_code_of(struct select_scan *scan, struct ws_cubin_set *cubins, uint32_t warp_index,
			 const struct ws_warp *warp, bool launches)
{
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	if (warp->error_pc_valid)
		keep_code(scan, cubins, warp->device_index, warp->error_pc, launches);
	if (ws_target_lanes(scan->target, warp_index, lanes, &n, NULL) != WS_OK)
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct ws_return_address frames[64];
		uint32_t n_frames = 0;
		keep_code(scan, cubins, warp->device_index, lanes[i].pc, launches);
		if (ws_target_call_stack(scan->target, warp_index, lanes[i].id, frames,
					 WSI_COUNT(frames), &n_frames, NULL) != WS_OK)
			continue;
		for (uint32_t f = 0; f < n_frames && f < WSI_COUNT(frames); f++)
			keep_code(scan, cubins, warp->device_index, frames[f].address, false);
	}
}

static void keep_warp(struct select_scan *scan, struct ws_cubin_set *cubins, uint32_t warp_index,
		      const struct ws_warp *warp)
{
	struct wsi_selection *selection = scan->selection;
	struct ws_block block;
	selection->warps[warp_index] = true;
	selection->blocks[warp->block_index] = true;
	bool known = ws_target_block(scan->target, warp->block_index, &block, NULL) == WS_OK &&
		     block.grid_index != WS_NONE;
	keep_code_of(scan, cubins, warp_index, warp, !known);
	if (known)
		keep_grid(scan, block.grid_index);
}

/* Keeps what an SM shows of faults; false when it shows none. */
static bool keep_sm(struct select_scan *scan, struct ws_cubin_set *cubins, uint32_t sm_index)
{
	struct ws_sm sm;
	if (ws_target_sm(scan->target, sm_index, &sm, NULL) != WS_OK)
		return false;
	bool found = sm.exception != 0;
	if (found && sm.error_pc_valid)
		keep_code(scan, cubins, sm.device_index, sm.error_pc, true);
	for (uint32_t w = 0; w < sm.n_warps; w++) {
		struct ws_warp warp;
		if (!selected_warp_faulted(scan, &sm, sm.first_warp_index + w, &warp))
			continue;
		found = true;
		keep_warp(scan, cubins, sm.first_warp_index + w, &warp);
	}
	return found;
}

enum ws_status wsi_select_faulted_warps(const struct ws_target *target,
					struct wsi_selection *selection, struct ws_error *err)
{
	struct select_scan scan = { .target = target, .selection = selection, .err = err };
	struct ws_cubin_set *cubins = NULL;
	ws_target_counts(target, &scan.counts);
	enum ws_status st = selection_init(selection, &scan.counts, err);
	if (st == WS_OK)
		st = ws_target_cubins(target, &cubins, err);
	bool found = false;
	for (uint32_t i = 0; i < scan.counts.sms && st == WS_OK; i++)
		found = keep_sm(&scan, cubins, i) || found;
	keep_launches(&scan);
	wsi_map_fini(&scan.kernels);
	if (st == WS_OK && scan.no_memory)
		st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "choosing what to write");
	if (st != WS_OK || !found)
		wsi_selection_fini(selection); /* nobody to blame: all are kept */
	return st;
}
