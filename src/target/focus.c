/* SPDX-License-Identifier: Apache-2.0 */
#include <warpscope/focus.h>

#include <warpscope/doubt.h>

#include "base/base.h"

/* ---- exceptions ---- */

/* The lane in a mask; 0 for one that the warp does not have. What a damaged row says of that is not
 * asked. */
static uint32_t lane_bit(const struct ws_warp *warp, const struct ws_lane *lane)
{
	uint32_t bit = lane->id < WS_MAX_LANES ? UINT32_C(1) << lane->id : 0;
	return warp->damaged ? bit : bit & warp->valid_lanes;
}

/* Lanes that carry an exception of their own. */
static uint32_t lanes_own(const struct ws_warp *warp, const struct ws_lane *lanes, uint32_t n)
{
	uint32_t own = 0;
	for (uint32_t i = 0; i < n; i++)
		if (lanes[i].exception && !lanes[i].damaged)
			own |= lane_bit(warp, &lanes[i]);
	return own;
}

uint32_t ws_focus_unclaimed(const struct ws_target *target, uint32_t sm_index)
{
	struct ws_sm sm;
	if (ws_target_sm(target, sm_index, &sm, NULL) != WS_OK || !(sm.have & WS_SM_EXCEPTION) ||
	    sm.exception == 0 || sm.damaged)
		return 0;
	for (uint32_t w = 0; w < sm.n_warps; w++) {
		struct ws_warp warp;
		struct ws_lane lanes[WS_MAX_LANES];
		uint32_t n;
		if (ws_target_warp(target, sm.first_warp_index + w, &warp, NULL) == WS_OK &&
		    ws_target_lanes(target, sm.first_warp_index + w, lanes, &n, NULL) == WS_OK &&
		    lanes_own(&warp, lanes, n))
			return 0;
	}
	return sm.exception;
}

/* A `ws_doubt_fn` that remembers that it was called. */
static void note_doubt(void *user, const struct ws_doubt *doubt)
{
	bool *any = user;
	(void)doubt;
	*any = true;
}

bool ws_focus_misread(const struct ws_target *target, uint32_t first_sm, uint32_t *ret_end)
{
	struct ws_counts counts;
	struct ws_device device = { 0 };
	struct ws_sm sm, before;
	bool any = false, has_before = false, is_known = false;
	uint32_t n_doubtful = 0, i = first_sm;
	ws_target_counts(target, &counts);
	for (; i < counts.sms; i++) {
		bool doubtful = false, is_there = ws_target_sm(target, i, &sm, NULL) == WS_OK;
		if (is_there && any && sm.device_index != before.device_index)
			break;
		if (is_there && !any)
			is_known =
				ws_target_device(target, sm.device_index, &device, NULL) == WS_OK;
		if (is_there && is_known)
			ws_sm_doubts(&device, has_before ? &before : NULL, &sm, note_doubt,
				     &doubtful);
		n_doubtful += doubtful;
		has_before = is_there;
		any = any || is_there;
		before = is_there ? sm : before;
	}
	*ret_end = i;
	bool surplus = is_known && i - first_sm > ws_device_most_sms(&device);
	return surplus || 2 * n_doubtful > i - first_sm;
}

/* At a breakpoint, or where a debugger wanted it: there is nobody to blame. */
static bool stopped_by_debugger(const struct ws_warp *warp)
{
	return (warp->have & WS_WARP_STOP) && warp->stop != WS_STOP_TRAP;
}

void ws_focus_blame(const struct ws_warp *warp, const struct ws_lane *lanes, uint32_t n_lanes,
		    uint32_t unclaimed, struct ws_blame *ret_blame)
{
	uint32_t own = lanes_own(warp, lanes, n_lanes), active = 0;
	for (uint32_t i = 0; i < n_lanes; i++)
		if (!lanes[i].damaged)
			active |= lane_bit(warp, &lanes[i]) & warp->active_lanes;
	*ret_blame = (struct ws_blame){ .by = WS_BLAME_NOBODY };
	if (own)
		*ret_blame = (struct ws_blame){ .by = WS_BLAME_LANE, .lanes = own };
	else if (unclaimed && warp->error_pc_valid && !warp->damaged)
		*ret_blame = (struct ws_blame){ WS_BLAME_SUSPECT, active, unclaimed };
	else if (warp->broken && !warp->damaged && active && !stopped_by_debugger(warp))
		*ret_blame = (struct ws_blame){ .by = WS_BLAME_TRAP, .lanes = active };
}

/* ---- focus ---- */

/* The best thread so far. Ranks are those of ws_focus_find(), the lower the better. */
struct focus_search {
	struct ws_focus focus;
	enum {
		RANK_EXCEPTION,
		RANK_TRAP,
		RANK_ANY,
		RANK_NONE,
	} rank;
};

static void search_warp(struct focus_search *search, const struct ws_target *target,
			uint32_t warp_index, uint32_t unclaimed)
{
	struct ws_warp warp;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n;
	if (ws_target_warp(target, warp_index, &warp, NULL) != WS_OK ||
	    ws_target_lanes(target, warp_index, lanes, &n, NULL) != WS_OK)
		return;
	struct ws_blame blame;
	ws_focus_blame(&warp, lanes, n, unclaimed, &blame);
	for (uint32_t i = 0; i < n; i++) {
		bool blamed = lanes[i].id < WS_MAX_LANES && blame.lanes >> lanes[i].id & 1;
		unsigned rank = !blamed                     ? RANK_ANY
				: blame.by == WS_BLAME_TRAP ? RANK_TRAP
							    : RANK_EXCEPTION;
		if (rank >= search->rank)
			continue;
		search->rank = rank;
		search->focus.device_index = warp.device_index;
		search->focus.sm_index = warp.sm_index;
		search->focus.warp_index = warp_index;
		search->focus.block_index = warp.block_index;
		search->focus.lane = lanes[i].id;
	}
}

enum ws_status ws_focus_find(const struct ws_target *target, struct ws_focus *ret_focus,
			     struct ws_error *err)
{
	struct focus_search search = { .rank = RANK_NONE };
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	for (uint32_t s = 0; s < counts.sms && search.rank != RANK_EXCEPTION; s++) {
		struct ws_sm sm;
		if (ws_target_sm(target, s, &sm, NULL) != WS_OK || sm.n_warps == 0)
			continue;
		uint32_t unclaimed = ws_focus_unclaimed(target, s);
		for (uint32_t w = 0; w < sm.n_warps && search.rank != RANK_EXCEPTION; w++)
			search_warp(&search, target, sm.first_warp_index + w, unclaimed);
	}
	if (search.rank == RANK_NONE)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no thread is left on any device");
	struct ws_block block;
	search.focus.grid_index =
		ws_target_block(target, search.focus.block_index, &block, NULL) == WS_OK
			? block.grid_index
			: WS_NONE;
	*ret_focus = search.focus;
	return WS_OK;
}

/* ---- kernel ids ---- */

static void number_kernels_of_sm(const struct ws_target *target, uint32_t sm_index, uint32_t *ids,
				 uint32_t n_grids, uint32_t *next)
{
	struct ws_sm sm;
	if (ws_target_sm(target, sm_index, &sm, NULL) != WS_OK)
		return;
	uint32_t last_block = WS_NONE;
	for (uint32_t w = 0; w < sm.n_warps; w++) {
		struct ws_warp warp;
		struct ws_block block;
		if (ws_target_warp(target, sm.first_warp_index + w, &warp, NULL) != WS_OK ||
		    warp.block_index == last_block)
			continue;
		last_block = warp.block_index;
		if (ws_target_block(target, warp.block_index, &block, NULL) == WS_OK &&
		    block.grid_index < n_grids && ids[block.grid_index] == WS_NONE)
			ids[block.grid_index] = (*next)++;
	}
}

void ws_focus_kernel_ids(const struct ws_target *target, const struct ws_focus *focus,
			 uint32_t *ret_ids)
{
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	uint32_t next = 0;
	for (uint32_t g = 0; g < counts.grids; g++)
		ret_ids[g] = WS_NONE;
	if (focus)
		number_kernels_of_sm(target, focus->sm_index, ret_ids, counts.grids, &next);
	for (uint32_t s = 0; s < counts.sms; s++)
		number_kernels_of_sm(target, s, ret_ids, counts.grids, &next);
	for (uint32_t g = 0; g < counts.grids; g++) {
		if (ret_ids[g] == WS_NONE)
			ret_ids[g] = next++;
	}
}
