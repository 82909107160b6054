/* SPDX-License-Identifier: Apache-2.0 */
#include <warpscope/doubt.h>

#include "base/base.h"

struct teller {
	ws_doubt_fn *each;
	void *user;
};

static void tell(const struct teller *to, enum ws_doubt_kind kind, uint32_t lane,
		 const char *format, ...) WS_PRINTF(4, 5);
static void tell(const struct teller *to, enum ws_doubt_kind kind, uint32_t lane,
		 const char *format, ...)
{
	struct ws_doubt doubt = {
		.kind = kind,
		.lane = lane,
		.hides = kind >= WS_DOUBT_BLOCK_GRID ? WS_HIDES_HANG : WS_HIDES_FAULT,
	};
	va_list args;
	va_start(args, format);
	(void)vsnprintf(doubt.message, sizeof doubt.message, format, args);
	va_end(args);
	to->each(to->user, &doubt);
}

void ws_device_doubts(const struct ws_device *device, ws_doubt_fn *each, void *user)
{
	const struct teller to = { each, user };
	if (device->status != 0)
		tell(&to, WS_DOUBT_DEVICE_STATUS, WS_NONE,
		     "the driver could not collect this device: result %u", device->status);
}

void ws_block_doubts(const struct ws_block *block, ws_doubt_fn *each, void *user)
{
	const struct teller to = { each, user };
	if (block->grid_index == WS_NONE)
		tell(&to, WS_DOUBT_BLOCK_GRID, WS_NONE,
		     "grid %" PRId64 " of a block is not in the grid table of the device",
		     block->grid_id);
}

void ws_grid_doubts(const struct ws_grid *grid, ws_doubt_fn *each, void *user)
{
	const struct teller to = { each, user };
	if (grid->context_index == WS_NONE)
		tell(&to, WS_DOUBT_GRID_CONTEXT, WS_NONE,
		     "context 0x%" PRIx64 " of grid %" PRId64
		     " is not in the context table of the device",
		     grid->context_id, grid->id);
	else if (grid->module_index == WS_NONE)
		tell(&to, WS_DOUBT_GRID_MODULE, WS_NONE,
		     "module 0x%" PRIx64 " of grid %" PRId64
		     " is not in the module table of its context",
		     grid->module_handle, grid->id);
}

void ws_sm_doubts(const struct ws_device *device, const struct ws_sm *before,
		  const struct ws_sm *sm, ws_doubt_fn *each, void *user)
{
	const struct teller to = { each, user };
	if (device->n_sms && sm->id >= device->n_sms)
		tell(&to, WS_DOUBT_SM_ID, WS_NONE, "SM %u; the device has %u", sm->id,
		     device->n_sms);
	if (before && before->id == sm->id)
		tell(&to, WS_DOUBT_SM_TWICE, WS_NONE, "SM %u is also in another row", sm->id);
	if (sm->damaged)
		tell(&to, WS_DOUBT_SM_ROW, WS_NONE, "SM %u: its row holds impossible values",
		     sm->id);
}

void ws_warp_doubts(const struct ws_device *device, const struct ws_warp *before,
		    const struct ws_warp *warp, const struct ws_lane *lanes, uint32_t n_lanes,
		    ws_doubt_fn *each, void *user)
{
	const struct teller to = { each, user };
	uint32_t present = 0, extra = 0;
	for (uint32_t i = 0; i < n_lanes; i++) {
		uint32_t bit = lanes[i].id < WS_MAX_LANES ? UINT32_C(1) << lanes[i].id : 0;
		present |= bit;
		if (lanes[i].exception || !warp->valid_lanes)
			extra |= bit & ~warp->valid_lanes;
		if (lanes[i].damaged)
			tell(&to, WS_DOUBT_LANE_ROW, lanes[i].id,
			     "warp %u, lane %u: its row holds impossible values", warp->id,
			     lanes[i].id);
	}
	if (device->n_warps_per_sm && warp->id >= device->n_warps_per_sm)
		tell(&to, WS_DOUBT_WARP_ID, WS_NONE, "warp %u; an SM of the device has %u",
		     warp->id, device->n_warps_per_sm);
	if (before && before->id == warp->id)
		tell(&to, WS_DOUBT_WARP_TWICE, WS_NONE, "warp %u is also in another row", warp->id);
	if (warp->damaged)
		tell(&to, WS_DOUBT_WARP_ROW, WS_NONE, "warp %u: its row holds impossible values",
		     warp->id);
	if (!(warp->have & WS_WARP_BROKEN))
		tell(&to, WS_DOUBT_WARP_BROKEN, WS_NONE,
		     "warp %u: nothing tells whether it stopped at a trap", warp->id);
	if (warp->active_lanes & ~warp->valid_lanes)
		tell(&to, WS_DOUBT_WARP_ACTIVE, WS_NONE,
		     "warp %u: active lanes 0x%x are not all among the valid ones 0x%x", warp->id,
		     warp->active_lanes, warp->valid_lanes);
	if (warp->valid_lanes & ~present)
		tell(&to, WS_DOUBT_LANES_MISSING, WS_NONE,
		     "warp %u: no rows of lanes 0x%x, which are valid", warp->id,
		     warp->valid_lanes & ~present);
	if (extra)
		tell(&to, WS_DOUBT_LANES_EXTRA, WS_NONE,
		     "warp %u: rows of lanes 0x%x, which are not valid", warp->id, extra);
}
