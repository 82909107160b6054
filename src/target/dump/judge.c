/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows are to be believed where two contradict each other. Many rows know better than one:
 * where most SMs or warps lie outside what the row of their device says, that row is damaged, and
 * so is the row of a grid that most of its blocks or warps do not fit. Otherwise the row that does
 * not fit is.
 */
#include <warpscope/doubt.h>

#include "state/possible.h"
#include "target/dump/dump.h"

enum {
	ASKED = 128, /* warps that are looked at */
	FEW = 4,     /* lanes */
};

/* Whether most SMs of a device, which have one number each, are beyond those that it says it has.
 */
static bool sms_contradict(const struct ws_core *core, uint32_t device, uint32_t claimed)
{
	uint32_t beyond = 0, first = core->sms.first[device], n = core->sms.first[device + 1];
	uint64_t before = UINT64_MAX;
	for (uint32_t i = first; i < n; i++) {
		uint64_t id = wsi_row_id(WSI_KIND_SM, wsi_core_row(core, core->sms.at[i]));
		if (id == before || id >= WS_MOST_IDS)
			return false; /* these rows are damaged themselves */
		before = id;
		beyond += id >= claimed;
	}
	return n - first > 1 && 2 * beyond > n - first;
}

static bool warps_contradict(const struct ws_core *core, uint32_t device, uint32_t claimed)
{
	uint32_t beyond = 0, asked = 0, step = core->warps.n / ASKED + 1;
	for (uint32_t w = 0; w < core->warps.n; w += step) {
		struct ws_warp warp;
		if (ws_target_warp(&core->target, w, &warp, NULL) != WS_OK || warp.damaged ||
		    warp.device_index != device || warp.id >= WS_MOST_IDS)
			continue;
		asked++;
		beyond += warp.id >= claimed;
	}
	return asked > 1 && 2 * beyond > asked;
}

/* Whether the SMs of a device stand in the order of their numbers: without a row of the device that
 * tells how many there are, that is what tells that the numbers are numbers of SMs. */
static bool sms_rise(const struct ws_core *core, uint32_t device)
{
	uint64_t least = 0;
	for (uint32_t i = core->sms.first[device]; i < core->sms.first[device + 1]; i++) {
		uint64_t id = wsi_row_id(WSI_KIND_SM, wsi_core_row(core, core->sms.at[i]));
		if (id < least)
			return false;
		least = id + 1;
	}
	return true;
}

static void devices_judge(struct ws_core *core)
{
	for (uint32_t i = 0; i < core->devices.n; i++)
		core->most[i] = (struct wsi_most){ WS_MOST_IDS, WS_MOST_IDS };
	for (uint32_t i = 0; i < core->devices.n; i++) {
		struct ws_device device;
		core->damaged_devices[i] =
			ws_target_device(&core->target, i, &device, NULL) != WS_OK ||
			!wsi_state_device_possible(&device) ||
			(device.n_sms && sms_contradict(core, i, device.n_sms)) ||
			(device.n_warps_per_sm && warps_contradict(core, i, device.n_warps_per_sm));
		if (!core->damaged_devices[i])
			core->most[i] = (struct wsi_most){ ws_device_most_sms(&device),
							   ws_device_most_warps(&device) };
		else if (!sms_rise(core, i))
			core->most[i].sms = 0;
	}
}

/* How the blocks and warps of a grid fit it. */
struct votes {
	uint32_t fit, contradict;
};

/* Whether a warp fits its grid; one of each block is asked. False: nobody can tell. */
static bool warp_votes(const struct ws_core *core, uint32_t warp_index, bool *has_voted,
		       uint32_t *ret_grid, bool *ret_fits)
{
	struct ws_warp warp;
	struct ws_block block;
	struct ws_grid grid;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	if (ws_target_warp(&core->target, warp_index, &warp, NULL) != WS_OK || warp.damaged ||
	    ws_target_block(&core->target, warp.block_index, &block, NULL) != WS_OK ||
	    block.grid_index == WS_NONE || has_voted[warp.block_index] ||
	    ws_target_grid(&core->target, block.grid_index, &grid, NULL) != WS_OK ||
	    ws_target_lanes(&core->target, warp_index, lanes, &n, NULL) != WS_OK || n < 2 ||
	    ws_lanes_astray(NULL, &warp, lanes, n))
		return false;
	has_voted[warp.block_index] = true;
	*ret_grid = block.grid_index;
	*ret_fits = !block.damaged && !ws_lanes_astray(&grid, &warp, lanes, n);
	return true;
}

static enum ws_status grids_judge(struct ws_core *core, struct ws_error *err)
{
	wsi_scoped_free struct votes *votes = wsi_zalloc_array(core->grids.n, sizeof *votes);
	wsi_scoped_free bool *has_voted = wsi_zalloc_array(core->blocks.n, sizeof *has_voted);
	uint32_t step = core->warps.n / ASKED + 1;
	if (!votes || !has_voted)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "votes on %u grids",
				core->grids.n);
	for (uint32_t w = 0; w < core->warps.n; w += step) {
		uint32_t grid;
		bool fits;
		if (warp_votes(core, w, has_voted, &grid, &fits))
			*(fits ? &votes[grid].fit : &votes[grid].contradict) += 1;
	}
	for (uint32_t i = 0; i < core->grids.n; i++) {
		struct ws_grid grid;
		core->damaged_grids[i] =
			ws_target_grid(&core->target, i, &grid, NULL) != WS_OK ||
			!wsi_state_grid_possible(&grid) ||
			(votes[i].contradict > 1 && votes[i].contradict > votes[i].fit);
	}
	return WS_OK;
}

enum ws_status wsi_core_judge(struct ws_core *core, struct ws_error *err)
{
	core->damaged_devices = wsi_zalloc_array(core->devices.n, sizeof *core->damaged_devices);
	core->damaged_grids = wsi_zalloc_array(core->grids.n, sizeof *core->damaged_grids);
	core->most = wsi_zalloc_array(core->devices.n, sizeof *core->most);
	if (!core->damaged_devices || !core->damaged_grids || !core->most)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "judgement of %u grids",
				core->grids.n);
	devices_judge(core);
	return grids_judge(core, err);
}

static bool is_displaced(const struct ws_core *core, const struct ws_warp *warp)
{
	struct ws_block block;
	return ws_target_block(&core->target, warp->block_index, &block, NULL) != WS_OK ||
	       block.damaged;
}

/* Whether the lane that follows on one is not where it belongs: other bytes may begin within the
 * row of this one, behind the number of its thread. */
static bool is_torn(const struct ws_warp *warp, const struct ws_lane *lanes, uint32_t n, uint32_t i,
		    uint32_t astray)
{
	uint32_t above = (uint32_t)((uint64_t)warp->valid_lanes >> (lanes[i].id + 1));
	uint32_t next = above ? lanes[i].id + 1 + (uint32_t)__builtin_ctz(above) : WS_NONE;
	if (warp->damaged || next == WS_NONE)
		return false;
	return i + 1 < n && (lanes[i + 1].id > next || astray >> (i + 1) & 1);
}

/* Marks those among the lanes of a warp that prove nothing where they are; all, where most rows of
 * their table do not. Returns whether all are lost. */
static bool lanes_mark(const struct ws_core *core, uint32_t warp_index, uint32_t n_rows,
		       struct ws_lane *lanes, uint32_t n)
{
	struct ws_warp warp;
	struct ws_grid grid;
	bool has_grid = wsi_core_grid_of(core, wsi_core_block_of(core, warp_index), &grid);
	wsi_core_warp_row(core, warp_index, &warp);
	uint32_t astray = ws_lanes_astray(has_grid ? &grid : NULL, &warp, lanes, n), sound = 0;
	for (uint32_t i = 0; i < n; i++) {
		lanes[i].damaged = lanes[i].damaged || astray >> i & 1 ||
				   (lanes[i].exception && is_torn(&warp, lanes, n, i, astray));
		sound += !lanes[i].damaged;
	}
	/* few rows look like lanes by chance: all above them has to be sound */
	bool few =
		n < FEW && (warp.damaged || (has_grid && grid.damaged) ||
			    core->damaged_devices[warp.device_index] || is_displaced(core, &warp));
	bool lost = few || 2 * sound < n_rows;
	for (uint32_t i = 0; i < n && lost; i++)
		lanes[i].damaged = true;
	return lost;
}

void wsi_core_judge_lanes(const struct ws_core *core, uint32_t warp_index, uint32_t n_rows,
			  struct ws_lane *lanes, uint32_t n)
{
	struct ws_span in = wsi_core_row(core, core->warps.at[warp_index]);
	bool asked =
		wsi_at_u32(in, WSI_AT_warp_broken) || wsi_at_u32(in, WSI_AT_warp_error_pc_valid);
	for (uint32_t i = 0; i < n; i++)
		asked = asked || lanes[i].exception;
	if (asked) /* of few warps */
		(void)lanes_mark(core, warp_index, n_rows, lanes, n);
}

bool wsi_core_judge_trap(const struct ws_core *core, uint32_t warp_index)
{
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0, n_rows = wsi_core_lanes_rows(core, warp_index, lanes, &n);
	return !lanes_mark(core, warp_index, n_rows, lanes, n);
}

bool wsi_core_judge_lane(const struct ws_core *core, uint32_t warp_index, uint32_t lane)
{
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0, n_rows = wsi_core_lanes_rows(core, warp_index, lanes, &n);
	(void)lanes_mark(core, warp_index, n_rows, lanes, n);
	for (uint32_t i = 0; i < n; i++)
		if (lanes[i].id == lane)
			return lanes[i].damaged;
	return true;
}
