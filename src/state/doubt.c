/* SPDX-License-Identifier: Apache-2.0 */
#include <warpscope/doubt.h>

#include "base/base.h"
#include "state/possible.h"

struct teller {
	ws_doubt_fn *each;
	void *user;
};

static void tell_doubt(const struct teller *to, enum ws_doubt_kind kind, uint32_t lane,
		       const char *format, ...) WS_PRINTF(4, 5);
static void tell_doubt(const struct teller *to, enum ws_doubt_kind kind, uint32_t lane,
		       const char *format, ...)
{
	static const uint8_t hides[] = {
		[WS_DOUBT_DEVICE_STATUS] = WS_HIDES_FAULT,
		[WS_DOUBT_DEVICE_ROW] = WS_HIDES_NOTHING, /* its SMs are in other rows */
		[WS_DOUBT_SM_ID] = WS_HIDES_FAULT,
		[WS_DOUBT_SM_TWICE] = WS_HIDES_FAULT,
		[WS_DOUBT_SM_ROW] = WS_HIDES_FAULT,
		[WS_DOUBT_WARP_ID] = WS_HIDES_FAULT,
		[WS_DOUBT_WARP_TWICE] = WS_HIDES_FAULT,
		[WS_DOUBT_WARP_ROW] = WS_HIDES_FAULT,
		[WS_DOUBT_WARP_ACTIVE] = WS_HIDES_FAULT,
		[WS_DOUBT_WARP_BROKEN] = WS_HIDES_FAULT,
		[WS_DOUBT_LANES_MISSING] = WS_HIDES_FAULT,
		[WS_DOUBT_LANES_EXTRA] = WS_HIDES_FAULT,
		[WS_DOUBT_LANE_ROW] = WS_HIDES_FAULT,
		[WS_DOUBT_LANE_PLACE] = WS_HIDES_FAULT,
		[WS_DOUBT_BLOCK_ROW] = WS_HIDES_HANG,
		[WS_DOUBT_BLOCK_GRID] = WS_HIDES_HANG,
		[WS_DOUBT_GRID_ROW] = WS_HIDES_HANG,
		[WS_DOUBT_GRID_CONTEXT] = WS_HIDES_HANG,
		[WS_DOUBT_GRID_MODULE] = WS_HIDES_HANG,
	};
	struct ws_doubt doubt = {
		.kind = kind,
		.lane = lane,
		.hides = (enum ws_hides)hides[kind],
	};
	va_list args;
	va_start(args, format);
	(void)vsnprintf(doubt.message, sizeof doubt.message, format, args);
	va_end(args);
	to->each(to->user, &doubt);
}

/* ---- rows by themselves ---- */

/* Numbers that no device has; 0 is what is not known. */
bool wsi_state_device_possible(const struct ws_device *device)
{
	bool empty = !device->n_sms && !device->n_warps_per_sm && !device->n_lanes_per_warp;
	return !empty && device->id < WS_MOST_IDS && device->n_sms <= WS_MOST_IDS &&
	       device->n_warps_per_sm <= WS_MOST_IDS &&
	       (device->n_lanes_per_warp == 0 || device->n_lanes_per_warp == WS_MAX_LANES) &&
	       device->n_regs_per_lane <= WS_MOST_IDS && device->n_preds_per_lane <= WS_MOST_IDS &&
	       device->n_uniform_regs <= WS_MOST_IDS && device->n_uniform_preds <= WS_MOST_IDS &&
	       device->sm_major < 1024 && device->sm_minor < 16 && device->instruction_bytes <= 64;
}

/* [public doc: CUDA programming guide, compute capabilities] */
bool wsi_state_grid_possible(const struct ws_grid *grid)
{
	const struct ws_dim3 *blocks = &grid->grid_dim, *threads = &grid->block_dim;
	uint64_t n = (uint64_t)threads->x * threads->y;
	return blocks->x && blocks->x <= INT32_MAX && blocks->y && blocks->y <= UINT16_MAX &&
	       blocks->z && blocks->z <= UINT16_MAX && n && n <= 1024 && threads->z &&
	       threads->z <= 64 && n * threads->z <= 1024 && grid->n_regs <= WS_MAX_REGS;
}

bool wsi_state_block_possible(const struct ws_block *block)
{
	return block->idx.x < INT32_MAX && block->idx.y < UINT16_MAX && block->idx.z < UINT16_MAX;
}

/* ---- what is doubted ---- */

#define CONTRADICTS "its row holds values that are impossible or contradict other rows"

void ws_device_doubts(const struct ws_device *device, ws_doubt_fn *each, void *user)
{
	const struct teller to = { each, user };
	if (device->status != 0)
		tell_doubt(&to, WS_DOUBT_DEVICE_STATUS, WS_NONE,
			   "the driver could not collect this device: result %u", device->status);
	if (device->damaged)
		tell_doubt(&to, WS_DOUBT_DEVICE_ROW, WS_NONE, "device %u: " CONTRADICTS,
			   device->id);
}

void ws_block_doubts(const struct ws_block *block, const struct ws_grid *grid, ws_doubt_fn *each,
		     void *user)
{
	const struct teller to = { each, user };
	if (!wsi_state_block_possible(block))
		tell_doubt(&to, WS_DOUBT_BLOCK_ROW, WS_NONE,
			   "block (%u,%u,%u): no grid is that large", block->idx.x, block->idx.y,
			   block->idx.z);
	else if (block->damaged && grid)
		tell_doubt(&to, WS_DOUBT_BLOCK_ROW, WS_NONE,
			   "block (%u,%u,%u) is outside its extent (%u,%u,%u)", block->idx.x,
			   block->idx.y, block->idx.z, grid->grid_dim.x, grid->grid_dim.y,
			   grid->grid_dim.z);
	if (block->grid_index == WS_NONE)
		tell_doubt(&to, WS_DOUBT_BLOCK_GRID, WS_NONE,
			   "grid %" PRId64 " of a block is not in the grid table of the device",
			   block->grid_id);
}

void ws_grid_doubts(const struct ws_grid *grid, ws_doubt_fn *each, void *user)
{
	const struct teller to = { each, user };
	if (grid->damaged)
		tell_doubt(&to, WS_DOUBT_GRID_ROW, WS_NONE, "grid %" PRId64 ": " CONTRADICTS,
			   grid->id);
	if (grid->context_index == WS_NONE)
		tell_doubt(&to, WS_DOUBT_GRID_CONTEXT, WS_NONE,
			   "context 0x%" PRIx64 " of grid %" PRId64
			   " is not in the context table of the device",
			   grid->context_id, grid->id);
	else if (grid->module_index == WS_NONE)
		tell_doubt(&to, WS_DOUBT_GRID_MODULE, WS_NONE,
			   "module 0x%" PRIx64 " of grid %" PRId64
			   " is not in the module table of its context",
			   grid->module_handle, grid->id);
}

void ws_sm_doubts(const struct ws_device *device, const struct ws_sm *before,
		  const struct ws_sm *sm, ws_doubt_fn *each, void *user)
{
	const struct teller to = { each, user };
	bool beyond = sm->id >= ws_device_most_sms(device);
	if (beyond)
		tell_doubt(&to, WS_DOUBT_SM_ID, WS_NONE, "SM %u; the device has %u", sm->id,
			   ws_device_most_sms(device));
	if (before && before->id == sm->id)
		tell_doubt(&to, WS_DOUBT_SM_TWICE, WS_NONE, "SM %u is also in another row", sm->id);
	if (sm->damaged && !beyond)
		tell_doubt(&to, WS_DOUBT_SM_ROW, WS_NONE, "SM %u: " CONTRADICTS, sm->id);
}

/* ---- lanes ---- */

/* Number of a thread in its block; false when it lies outside, or where no block has threads. */
static inline bool thread_number(const struct ws_dim3 *dim, const struct ws_dim3 *at,
				 uint64_t *ret_number)
{
	*ret_number = ((uint64_t)at->z * dim->y + at->y) * dim->x + at->x;
	return at->x < dim->x && at->y < dim->y && at->z < dim->z;
}

/* The start of a warp's threads that most rows agree on (Boyer and Moore's vote); UINT64_MAX: none.
 */
static uint64_t start_of_most(const struct ws_dim3 *dim, const struct ws_lane *lanes, uint32_t n)
{
	uint64_t start = UINT64_MAX, number;
	uint32_t votes = 0, agree = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!thread_number(dim, &lanes[i].thread, &number) || number < lanes[i].id)
			continue;
		if (votes == 0)
			start = number - lanes[i].id;
		votes = start == number - lanes[i].id ? votes + 1 : votes - 1;
	}
	for (uint32_t i = 0; i < n; i++)
		agree += thread_number(dim, &lanes[i].thread, &number) &&
			 number - lanes[i].id == start;
	return 2 * agree > n && start % WS_MAX_LANES == 0 ? start : UINT64_MAX;
}

/* Without the block's dimensions: a thread follows on the one in the lane before, in x or at the
 * beginning of a row. */
static bool thread_follows(const struct ws_lane *lane, const struct ws_lane *before)
{
	const struct ws_dim3 *at = &lane->thread, *last = &before->thread;
	uint32_t step = lane->id - before->id;
	if (at->y == last->y && at->z == last->z)
		return at->x == last->x + step;
	if (at->z == last->z)
		return at->x < step && at->y > last->y && at->y - last->y <= step;
	return at->x < step && at->z > last->z && at->z - last->z <= step;
}

/* Whether some block has this thread: 1024 threads at most, 64 in z [public doc: CUDA programming
 * guide, compute capabilities]. */
static bool thread_possible(const struct ws_dim3 *at)
{
	return at->x < 1024 && at->y < 1024 && at->z < 64 &&
	       (at->x + 1) * (at->y + 1) * (at->z + 1) <= 1024;
}

static uint32_t all_rows(uint32_t n)
{
	return n < WS_MAX_LANES ? (UINT32_C(1) << n) - 1 : UINT32_MAX;
}

/* The same where no grid tells the dimensions. */
static uint32_t astray_alone(const struct ws_lane *lanes, uint32_t n)
{
	uint32_t astray = 0, jumps = 0;
	bool before = false; /* it follows on the one before */
	for (uint32_t i = 0; i < n; i++) {
		bool after = i + 1 < n && thread_follows(&lanes[i + 1], &lanes[i]);
		bool alone = n > 1 && !before && !after;
		if (alone || !thread_possible(&lanes[i].thread))
			astray |= UINT32_C(1) << i;
		jumps += i > 0 && !before;
		before = after;
	}
	return 2 * jumps > n ? all_rows(n) : astray;
}

/* Rows of lanes that are valid, as far as the warp's row can tell. */
static uint32_t valid_rows(const struct ws_warp *warp, const struct ws_lane *lanes, uint32_t n)
{
	uint32_t valid = 0;
	for (uint32_t i = 0; i < n; i++)
		valid |= lanes[i].id < WS_MAX_LANES &&
					 (warp->damaged || warp->valid_lanes >> lanes[i].id & 1)
				 ? UINT32_C(1) << i
				 : 0;
	return valid;
}

/* Whether the rows are of one lane after the other, and each of the thread that belongs there. */
static bool all_follow(const struct ws_dim3 *dim, const struct ws_lane *lanes, uint32_t n)
{
	struct ws_dim3 next = lanes[0].thread;
	const uint32_t first = lanes[0].id;
	uint64_t number;
	if (!thread_number(dim, &next, &number) || (number - first) % WS_MAX_LANES != 0)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct ws_dim3 *at = &lanes[i].thread;
		if (at->x != next.x || at->y != next.y || at->z != next.z || next.z == dim->z ||
		    lanes[i].id != first + i)
			return false;
		if (++next.x < dim->x)
			continue;
		next.x = 0;
		if (++next.y < dim->y)
			continue;
		next.y = 0;
		next.z++;
	}
	return true;
}

uint32_t ws_lanes_astray(const struct ws_grid *grid, const struct ws_warp *warp,
			 const struct ws_lane *lanes, uint32_t n_lanes)
{
	const uint32_t n = n_lanes < WS_MAX_LANES ? n_lanes : WS_MAX_LANES;
	const struct ws_dim3 *dim = grid ? &grid->block_dim : NULL;
	if (!grid || grid->damaged || !dim->x || !dim->y || !dim->z)
		return astray_alone(lanes, n) & valid_rows(warp, lanes, n);
	if (n && all_follow(dim, lanes, n)) /* nearly always */
		return 0;
	uint32_t astray = 0;
	uint64_t start = start_of_most(dim, lanes, n), number;
	for (uint32_t i = 0; i < n; i++)
		if (start == UINT64_MAX || !thread_number(dim, &lanes[i].thread, &number) ||
		    number != start + lanes[i].id)
			astray |= UINT32_C(1) << i;
	return astray & valid_rows(warp, lanes, n);
}

static void lane_doubts(const struct teller *to, const struct ws_grid *grid,
			const struct ws_warp *warp, const struct ws_lane *lanes, uint32_t n_lanes)
{
	uint32_t astray = ws_lanes_astray(grid, warp, lanes, n_lanes);
	for (uint32_t i = 0; i < n_lanes; i++) {
		const struct ws_lane *lane = &lanes[i];
		if (lane->damaged)
			tell_doubt(to, WS_DOUBT_LANE_ROW, lane->id,
				   "warp %u, lane %u: " CONTRADICTS, warp->id, lane->id);
	}
	for (; astray; astray &= astray - 1) {
		const struct ws_lane *lane = &lanes[__builtin_ctz(astray)];
		const struct ws_dim3 *at = &lane->thread, *dim = grid ? &grid->block_dim : NULL;
		uint64_t number;
		if (dim && dim->x && !thread_number(dim, at, &number))
			tell_doubt(to, WS_DOUBT_LANE_PLACE, lane->id,
				   "warp %u, lane %u: thread (%u,%u,%u) is outside its extent "
				   "(%u,%u,%u)",
				   warp->id, lane->id, at->x, at->y, at->z, dim->x, dim->y, dim->z);
		else
			tell_doubt(to, WS_DOUBT_LANE_PLACE, lane->id,
				   "warp %u, lane %u: thread (%u,%u,%u) cannot be in this lane",
				   warp->id, lane->id, at->x, at->y, at->z);
	}
}

void ws_warp_doubts(const struct ws_device *device, const struct ws_grid *grid,
		    const struct ws_warp *before, const struct ws_warp *warp,
		    const struct ws_lane *lanes, uint32_t n_lanes, ws_doubt_fn *each, void *user)
{
	const struct teller to = { each, user };
	uint32_t present = 0, extra = 0;
	for (uint32_t i = 0; i < n_lanes; i++) {
		uint32_t bit = lanes[i].id < WS_MAX_LANES ? UINT32_C(1) << lanes[i].id : 0;
		present |= bit;
		if (lanes[i].exception || !warp->valid_lanes)
			extra |= bit & ~warp->valid_lanes;
	}
	bool beyond = warp->id >= ws_device_most_warps(device);
	if (beyond)
		tell_doubt(&to, WS_DOUBT_WARP_ID, WS_NONE, "warp %u; an SM of the device has %u",
			   warp->id, ws_device_most_warps(device));
	if (before && before->id == warp->id)
		tell_doubt(&to, WS_DOUBT_WARP_TWICE, WS_NONE, "warp %u is also in another row",
			   warp->id);
	if (warp->damaged && !beyond)
		tell_doubt(&to, WS_DOUBT_WARP_ROW, WS_NONE, "warp %u: " CONTRADICTS, warp->id);
	if (!(warp->have & WS_WARP_BROKEN))
		tell_doubt(&to, WS_DOUBT_WARP_BROKEN, WS_NONE,
			   "warp %u: nothing tells whether it stopped at a trap", warp->id);
	if (warp->active_lanes & ~warp->valid_lanes)
		tell_doubt(&to, WS_DOUBT_WARP_ACTIVE, WS_NONE,
			   "warp %u: active lanes 0x%x are not all among the valid ones 0x%x",
			   warp->id, warp->active_lanes, warp->valid_lanes);
	if (warp->valid_lanes & ~present)
		tell_doubt(&to, WS_DOUBT_LANES_MISSING, WS_NONE,
			   "warp %u: no rows of lanes 0x%x, which are valid", warp->id,
			   warp->valid_lanes & ~present);
	if (extra)
		tell_doubt(&to, WS_DOUBT_LANES_EXTRA, WS_NONE,
			   "warp %u: rows of lanes 0x%x, which are not valid", warp->id, extra);
	lane_doubts(&to, grid, warp, lanes, n_lanes);
}
