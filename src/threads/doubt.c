/* SPDX-License-Identifier: Apache-2.0 */
/* What of a row of SMs, warps or lanes cannot be. */
#include <stdio.h>

#include <warpscope/doubt.h>

#include "base/base.h"
#include "threads/threads.h"

struct first_doubt {
	struct wsi_thread_doubt *doubt; /* its text is empty: nothing yet */
	uint32_t lane; /* rows of other lanes do not matter; WS_NONE: all do, WSI_DOUBT_NO_LANE:
			  none does */
};

static void keep_first(void *user, const struct ws_doubt *doubt)
{
	struct first_doubt *first = user;
	/* the cell of what nothing tells is empty: that says it */
	if (doubt->lane < WS_MAX_LANES)
		first->doubt->lanes |= UINT32_C(1) << doubt->lane;
	if (*first->doubt->text || doubt->kind == WS_DOUBT_WARP_BROKEN)
		return;
	if (doubt->lane != WS_NONE && first->lane != WS_NONE && first->lane != doubt->lane)
		return;
	snprintf(first->doubt->text, sizeof first->doubt->text, "%s", doubt->message);
}

struct wsi_thread_doubt wsi_threads_doubt_sm(const struct ws_threads *threads, uint32_t index)
{
	struct wsi_thread_doubt ret = { .text = "" };
	struct first_doubt first = { &ret, WS_NONE };
	struct ws_sm before, sm;
	if (ws_target_sm(threads->target, index, &sm, NULL) != WS_OK)
		return ret;
	bool any = index > 0 && ws_target_sm(threads->target, index - 1, &before, NULL) == WS_OK &&
		   before.device_index == sm.device_index;
	const struct ws_device *device = &threads->devices[sm.device_index];
	ws_sm_doubts(device, any ? &before : NULL, &sm, keep_first, &first);
	return ret;
}

struct wsi_thread_doubt wsi_threads_doubt_warp(const struct ws_threads *threads,
					       const struct ws_resident *place, uint32_t lane)
{
	struct wsi_thread_doubt ret = { .text = "" };
	struct first_doubt first = { &ret, lane };
	struct ws_warp before;
	struct ws_lane all[WS_MAX_LANES];
	const struct ws_lane *lanes = place->all_lanes ? place->lanes : all;
	uint32_t n = place->n_lanes, index = place->warp_index;
	if (place->lanes_status != WS_OK ||
	    (!place->all_lanes && ws_target_lanes(threads->target, index, all, &n, NULL) != WS_OK))
		return ret; /* counted as unreadable */
	bool any = index > place->sm.first_warp_index &&
		   ws_target_warp(threads->target, index - 1, &before, NULL) == WS_OK;
	ws_warp_doubts(place->device, place->grid, any ? &before : NULL, &place->warp, lanes, n,
		       keep_first, &first);
	return ret;
}

struct wsi_thread_doubt wsi_threads_doubt_device(const struct ws_threads *threads, uint32_t index)
{
	struct wsi_thread_doubt ret = { .text = "" };
	struct first_doubt first = { &ret, WS_NONE };
	/* one that could not be collected holds what can be */
	if (threads->devices[index].damaged)
		ws_device_doubts(&threads->devices[index], keep_first, &first);
	return ret;
}

struct wsi_thread_doubt wsi_threads_doubt_grid(const struct ws_threads *threads, uint32_t index)
{
	struct wsi_thread_doubt ret = { .text = "" };
	struct first_doubt first = { &ret, WS_NONE };
	ws_grid_doubts(&threads->grids[index], keep_first, &first);
	return *ret.text ? ret
			 : wsi_threads_doubt_device(threads, threads->grids[index].device_index);
}
