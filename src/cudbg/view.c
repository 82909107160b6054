/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the target as the calling thread sees them. The last warp stays decoded, and so do those
 * of its lanes that were read.
 */
#include "cudbg/session.h"

/* The thread's view, turned to a warp. */
static struct wsi_view *view_of(const struct wsi_cudbg *s, const struct wsi_cudbg_at *at)
{
	struct wsi_view *view = &wsi_cudbg_thread.view;
	if (view->serial != s->serial || view->warp_index != at->slot->warp_index) {
		view->serial = s->serial;
		view->warp_index = at->slot->warp_index;
		view->have_warp = view->have_block = false;
		view->lanes = 0;
		view->n_frames = 0;
		view->frames_of = WS_NONE;
	}
	return view;
}

const struct ws_warp *wsi_cudbg_warp(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
				     CUDBGResult *ret_result)
{
	struct wsi_view *view = view_of(s, at);
	if (!view->have_warp) {
		struct ws_error err;
		enum ws_status st =
			ws_target_warp(s->target, at->slot->warp_index, &view->warp, &err);
		if (st != WS_OK) {
			*ret_result = wsi_cudbg_row_status(s, st, &err);
			return NULL;
		}
		view->have_warp = true;
	}
	return &view->warp;
}

const struct ws_block *wsi_cudbg_block(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
				       CUDBGResult *ret_result)
{
	struct wsi_view *view = view_of(s, at);
	if (!view->have_block) {
		const struct ws_warp *warp = wsi_cudbg_warp(s, at, ret_result);
		if (!warp)
			return NULL;
		struct ws_error err;
		enum ws_status st =
			ws_target_block(s->target, warp->block_index, &view->block, &err);
		if (st != WS_OK) {
			*ret_result = wsi_cudbg_row_status(s, st, &err);
			return NULL;
		}
		view->have_block = true;
	}
	return &view->block;
}

const struct ws_lane *wsi_cudbg_decode_lane(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
					    uint32_t ln, CUDBGResult *ret_result)
{
	struct wsi_view *view = view_of(s, at);
	struct ws_error err;
	enum ws_status st =
		ws_target_lane(s->target, at->slot->warp_index, ln, &view->lane[ln], &err);
	if (st != WS_OK) {
		*ret_result = wsi_cudbg_held_status(s, st, &err);
		return NULL;
	}
	view->lanes |= 1u << ln;
	return &view->lane[ln];
}

bool wsi_cudbg_decode_frames(struct wsi_cudbg *s, const struct wsi_cudbg_at *at, uint32_t ln,
			     CUDBGResult *ret_result)
{
	struct wsi_view *view = view_of(s, at);
	struct ws_error err;
	enum ws_status st = ws_target_call_stack(s->target, at->slot->warp_index, ln, view->frame,
						 WSI_VIEW_FRAMES, &view->n_frames, &err);
	view->frames_of = st == WS_OK ? ln : WS_NONE;
	if (st != WS_OK)
		*ret_result = wsi_cudbg_held_status(s, st, &err);
	return st == WS_OK;
}

static CUDBGResult no_grid(struct wsi_cudbg *s, const struct wsi_cudbg_at *at, uint64_t id)
{
	return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_GRID, "device %u has no grid %" PRId64,
			      at->dev, (int64_t)id);
}

CUDBGResult wsi_cudbg_grid_of(struct wsi_cudbg *s, const struct wsi_cudbg_at *at,
			      struct ws_grid *ret_grid)
{
	CUDBGResult result = CUDBG_SUCCESS;
	const struct ws_block *block = wsi_cudbg_block(s, at, &result);
	if (!block)
		return result;
	if (block->grid_index == WS_NONE)
		return no_grid(s, at, (uint64_t)block->grid_id);
	struct ws_error err;
	enum ws_status st = ws_target_grid(s->target, block->grid_index, ret_grid, &err);
	return st == WS_OK ? CUDBG_SUCCESS : wsi_cudbg_row_status(s, st, &err);
}

CUDBGResult wsi_cudbg_grid_by_id(struct wsi_cudbg *s, const struct wsi_cudbg_at *at, uint64_t id,
				 uint64_t id_mask, struct ws_grid *ret_grid, uint32_t *ret_index)
{
	struct ws_counts counts;
	ws_target_counts(s->target, &counts);
	for (uint32_t i = 0; i < counts.grids; i++) {
		struct ws_grid grid;
		struct ws_error err;
		enum ws_status st = ws_target_grid(s->target, i, &grid, &err);
		if (st != WS_OK)
			return wsi_cudbg_row_status(s, st, &err);
		if (grid.device_index != at->device->index || ((uint64_t)grid.id & id_mask) != id)
			continue;
		*ret_grid = grid;
		*ret_index = i;
		return CUDBG_SUCCESS;
	}
	return no_grid(s, at, id);
}

CUDBGResult wsi_cudbg_context_of(struct wsi_cudbg *s, const struct ws_grid *grid,
				 struct ws_context *ret_context)
{
	if (grid->context_index == WS_NONE)
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_CONTEXT,
				      "grid %" PRId64 " belongs to context 0x%" PRIx64
				      ", which is not known",
				      grid->id, grid->context_id);
	struct ws_error err;
	enum ws_status st = ws_target_context(s->target, grid->context_index, ret_context, &err);
	return st == WS_OK ? CUDBG_SUCCESS : wsi_cudbg_row_status(s, st, &err);
}
