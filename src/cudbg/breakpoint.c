/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breakpoints. The client's are kept here, with and without a handle, in one list; the target only
 * knows which addresses are planted. An address is planted while an enabled breakpoint is there.
 */
#include "cudbg-functions.h"

enum { MAX_BREAKPOINTS = 1 << 20 };

/* ---- the list ---- */

static bool is_planted(const struct wsi_cudbg *s, uint32_t dev, uint64_t address)
{
	for (size_t i = 0; i < s->n_breakpoints; i++)
		if (s->breakpoints[i].dev == dev && s->breakpoints[i].address == address &&
		    s->breakpoints[i].enabled)
			return true;
	return false;
}

static struct wsi_cudbg_breakpoint *code_breakpoint_find(struct wsi_cudbg *s,
							 CUDBGBreakpointHandle handle)
{
	for (size_t i = 0; i < s->n_breakpoints && handle != CUDBG_BREAKPOINT_HANDLE_LEGACY; i++)
		if (s->breakpoints[i].handle == handle)
			return &s->breakpoints[i];
	return NULL;
}

static struct wsi_cudbg_breakpoint *find_breakpoint_at(struct wsi_cudbg *s, uint32_t dev,
						       uint64_t address, bool legacy)
{
	for (size_t i = 0; i < s->n_breakpoints; i++) {
		struct wsi_cudbg_breakpoint *b = &s->breakpoints[i];
		if (b->dev == dev && b->address == address &&
		    (b->handle == CUDBG_BREAKPOINT_HANDLE_LEGACY) == legacy)
			return b;
	}
	return NULL;
}

static CUDBGResult planted(struct wsi_cudbg *s, enum ws_status st, const struct ws_error *err)
{
	if (st == WS_OK)
		return CUDBG_SUCCESS;
	return st == WS_ABSENT ? wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ADDRESS, "%s", err->message)
			       : wsi_cudbg_row_status(s, st, err);
}

/* While the client detaches nothing stays planted: a plant is only tried, for what it answers. */
static enum ws_status plant(struct wsi_cudbg *s, const struct wsi_cudbg_breakpoint *b, bool on,
			    struct ws_error *err)
{
	uint32_t index = s->stock->device[b->dev].index;
	enum ws_status st = WS_OK;
	if (on || s->detaches)
		st = ws_target_plant(s->target, index, b->address, err);
	if (st == WS_OK && (!on || s->detaches))
		st = ws_target_unplant(s->target, index, b->address, err);
	return st;
}

/* Arms or disarms one of the list. */
static CUDBGResult arm(struct wsi_cudbg *s, struct wsi_cudbg_breakpoint *b, bool on)
{
	struct ws_error err = { .status = WS_OK };
	enum ws_status st = WS_OK;
	if (b->enabled == on)
		return CUDBG_SUCCESS;
	b->enabled = false;
	if (!is_planted(s, b->dev, b->address))
		st = plant(s, b, on, &err);
	b->enabled = st == WS_OK ? on : !on;
	return on || st == WS_OK ? planted(s, st, &err) : wsi_cudbg_row_status(s, st, &err);
}

static CUDBGResult code_breakpoint_add(struct wsi_cudbg *s, uint32_t dev, uint64_t address,
				       CUDBGBreakpointHandle handle)
{
	if (!wsi_grow(&s->breakpoints, &s->cap_breakpoints, s->n_breakpoints,
		      sizeof *s->breakpoints, MAX_BREAKPOINTS))
		return wsi_cudbg_status(s, WS_NO_MEMORY, NULL);
	struct wsi_cudbg_breakpoint *b = &s->breakpoints[s->n_breakpoints];
	*b = (struct wsi_cudbg_breakpoint){ handle, dev, address, false };
	s->n_breakpoints++;
	CUDBGResult result = arm(s, b, true);
	if (result != CUDBG_SUCCESS)
		s->n_breakpoints--;
	return result;
}

static CUDBGResult breakpoint_drop(struct wsi_cudbg *s, struct wsi_cudbg_breakpoint *b)
{
	CUDBGResult result = arm(s, b, false);
	if (result == CUDBG_SUCCESS)
		*b = s->breakpoints[--s->n_breakpoints];
	return result;
}

void wsi_cudbg_leave_breakpoints(struct wsi_cudbg *s)
{
	for (size_t i = 0; i < s->n_breakpoints && !s->detaches; i++) {
		const struct wsi_cudbg_breakpoint *b = &s->breakpoints[i];
		if (b->enabled) /* a second one at an address is not planted any more */
			(void)!ws_target_unplant(s->target, s->stock->device[b->dev].index,
						 b->address, NULL);
	}
	(void)!ws_target_stop_at_launch(s->target, false, NULL);
	s->detaches = true;
}

void wsi_cudbg_drop_breakpoints(struct wsi_cudbg *s)
{
	while (s->n_breakpoints) {
		struct wsi_cudbg_breakpoint *last = &s->breakpoints[s->n_breakpoints - 1];
		(void)arm(s, last, false);
		s->n_breakpoints--;
	}
	if (s->break_on_launch)
		(void)!ws_target_stop_at_launch(s->target, false, NULL);
	s->break_on_launch = false;
}

/* NOT_SUPPORTED before anything else, where nothing can be planted. */
static CUDBGResult can_plant(struct wsi_cudbg *s)
{
	return ws_target_can(s->target, WS_CAN_BREAK)
		       ? CUDBG_SUCCESS
		       : wsi_cudbg_fail(s, CUDBG_ERROR_NOT_SUPPORTED,
					"this target has no breakpoints");
}

static CUDBGResult no_handle(struct wsi_cudbg *s, CUDBGBreakpointHandle handle)
{
	return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
			      "handle 0x%" PRIx64 " does not name a breakpoint that this works on",
			      handle);
}

/* ---- with handles ---- */

CUDBGResult wsi_cudbg_insertBreakpoint(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint64_t addr,
				       CUDBGBreakpointHandle *handle)
{
	CUDBGResult result = can_plant(s);
	if (result != CUDBG_SUCCESS)
		return result;
	if (find_breakpoint_at(s, at->dev, addr, false))
		return wsi_cudbg_fail(s, CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT,
				      "0x%" PRIx64 " has a breakpoint", addr);
	result = code_breakpoint_add(s, at->dev, addr, s->next_handle);
	if (result == CUDBG_SUCCESS)
		*handle = s->next_handle++;
	return result;
}

/* Does `one` to every breakpoint with a handle. */
static CUDBGResult for_all(struct wsi_cudbg *s,
			   CUDBGResult (*one)(struct wsi_cudbg *s, struct wsi_cudbg_breakpoint *b))
{
	for (size_t i = s->n_breakpoints; i-- > 0;) {
		if (s->breakpoints[i].handle == CUDBG_BREAKPOINT_HANDLE_LEGACY)
			continue;
		CUDBGResult result = one(s, &s->breakpoints[i]);
		if (result != CUDBG_SUCCESS)
			return result;
	}
	return CUDBG_SUCCESS;
}

static CUDBGResult enable(struct wsi_cudbg *s, struct wsi_cudbg_breakpoint *b)
{
	return arm(s, b, true);
}

static CUDBGResult disable(struct wsi_cudbg *s, struct wsi_cudbg_breakpoint *b)
{
	return arm(s, b, false);
}

CUDBGResult wsi_cudbg_removeBreakpoint(struct wsi_cudbg *s, CUDBGBreakpointHandle handle)
{
	CUDBGResult result = can_plant(s);
	if (result != CUDBG_SUCCESS)
		return result;
	if (handle == CUDBG_BREAKPOINT_HANDLE_ALL_USER_BREAKPOINTS)
		return for_all(s, breakpoint_drop);
	struct wsi_cudbg_breakpoint *b = code_breakpoint_find(s, handle);
	return b ? breakpoint_drop(s, b) : no_handle(s, handle);
}

static CUDBGResult set_break_on_launch(struct wsi_cudbg *s, bool on)
{
	struct ws_error err = { .status = WS_OK };
	if (!(s->capabilities & CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH))
		return wsi_cudbg_fail(s, CUDBG_ERROR_NOT_SUPPORTED,
				      "the client did not ask for break on launch");
	if (s->break_on_launch == on)
		return wsi_cudbg_fail(s, CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT,
				      "break on launch is already in this state");
	enum ws_status st = ws_target_stop_at_launch(s->target, on, &err);
	if (st != WS_OK)
		return wsi_cudbg_row_status(s, st, &err);
	s->break_on_launch = on;
	return CUDBG_SUCCESS;
}

static CUDBGResult set_enabled(struct wsi_cudbg *s, CUDBGBreakpointHandle handle, bool on)
{
	CUDBGResult result = can_plant(s);
	if (result != CUDBG_SUCCESS)
		return result;
	if (handle == CUDBG_BREAKPOINT_HANDLE_ALL_USER_BREAKPOINTS)
		return for_all(s, on ? enable : disable);
	if (handle == CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH)
		return set_break_on_launch(s, on);
	struct wsi_cudbg_breakpoint *b = code_breakpoint_find(s, handle);
	if (!b)
		return no_handle(s, handle);
	if (b->enabled == on)
		return wsi_cudbg_fail(s, CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT,
				      "breakpoint %" PRIu64 " is already in this state", handle);
	return arm(s, b, on);
}

CUDBGResult wsi_cudbg_enableBreakpoint(struct wsi_cudbg *s, CUDBGBreakpointHandle handle)
{
	return set_enabled(s, handle, true);
}

CUDBGResult wsi_cudbg_disableBreakpoint(struct wsi_cudbg *s, CUDBGBreakpointHandle handle)
{
	return set_enabled(s, handle, false);
}

CUDBGResult wsi_cudbg_isBreakpointEnabled(struct wsi_cudbg *s, CUDBGBreakpointHandle handle,
					  uint32_t *enabled)
{
	CUDBGResult result = can_plant(s);
	if (result != CUDBG_SUCCESS)
		return result;
	if (handle == CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH) {
		*enabled = s->break_on_launch;
		return CUDBG_SUCCESS;
	}
	const struct wsi_cudbg_breakpoint *b = code_breakpoint_find(s, handle);
	if (!b)
		return no_handle(s, handle);
	*enabled = b->enabled;
	return CUDBG_SUCCESS;
}

/* The client's breakpoint at an address: one with a handle tells more than one without. */
static CUDBGBreakpointHandle handle_at(const struct wsi_cudbg *s, uint32_t dev, uint64_t pc)
{
	CUDBGBreakpointHandle hit = CUDBG_BREAKPOINT_HANDLE_TRAP;
	for (size_t i = 0; i < s->n_breakpoints; i++) {
		const struct wsi_cudbg_breakpoint *b = &s->breakpoints[i];
		if (b->dev != dev || b->address != pc || !b->enabled)
			continue;
		hit = b->handle;
		if (hit != CUDBG_BREAKPOINT_HANDLE_LEGACY)
			break;
	}
	return hit;
}

CUDBGBreakpointHandle wsi_cudbg_hit(const struct wsi_cudbg *s, uint32_t dev, uint32_t warp_index,
				    const struct ws_warp *warp)
{
	struct ws_lane lane;
	uint32_t active = warp->active_lanes & warp->valid_lanes;
	if (warp->have & WS_WARP_STOP)
		switch (warp->stop) {
		case WS_STOP_TRAP:
			return CUDBG_BREAKPOINT_HANDLE_TRAP;
		case WS_STOP_PLANTED:
			return handle_at(s, dev, warp->stop_pc);
		case WS_STOP_LAUNCH:
			return CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH;
		case WS_STOP_INTERNAL:
			return CUDBG_BREAKPOINT_HANDLE_INTERNAL;
		}
	/* a provider of before 13.2 does not tell: then the place counts */
	if (!s->n_breakpoints || !active)
		return CUDBG_BREAKPOINT_HANDLE_TRAP;
	return ws_target_lane(s->target, warp_index, wsi_first_bit(active), &lane, NULL) == WS_OK
		       ? handle_at(s, dev, lane.pc)
		       : CUDBG_BREAKPOINT_HANDLE_TRAP;
}

CUDBGResult wsi_cudbg_getWarpHitBreakpoint(struct wsi_cudbg *s, struct wsi_cudbg_at *at,
					   CUDBGBreakpointHandle *handle)
{
	if (!(at->row->broken >> at->wp & 1))
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS,
				      "SM %u warp %u did not stop at a breakpoint", at->sm, at->wp);
	*handle = at->slot->hit;
	return CUDBG_SUCCESS;
}

/* ---- without handles ---- */

CUDBGResult wsi_cudbg_setBreakpoint(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint64_t addr)
{
	CUDBGResult result = can_plant(s);
	if (result != CUDBG_SUCCESS || find_breakpoint_at(s, at->dev, addr, true))
		return result;
	return code_breakpoint_add(s, at->dev, addr, CUDBG_BREAKPOINT_HANDLE_LEGACY);
}

CUDBGResult wsi_cudbg_unsetBreakpoint(struct wsi_cudbg *s, struct wsi_cudbg_at *at, uint64_t addr)
{
	CUDBGResult result = can_plant(s);
	if (result != CUDBG_SUCCESS)
		return result;
	struct wsi_cudbg_breakpoint *b = find_breakpoint_at(s, at->dev, addr, true);
	return b ? breakpoint_drop(s, b)
		 : wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ARGS, "no breakpoint at 0x%" PRIx64, addr);
}

/* Finds the device whose code lies at an address. */
static CUDBGResult guess_device(struct wsi_cudbg *s, uint64_t addr, struct wsi_cudbg_at *at)
{
	uint32_t dev;
	CUDBGResult result = can_plant(s);
	if (result != CUDBG_SUCCESS)
		return result;
	if (!wsi_cudbg_device_of_code(s, addr, &dev))
		return wsi_cudbg_fail(s, CUDBG_ERROR_INVALID_ADDRESS,
				      "no device has code at 0x%" PRIx64, addr);
	return wsi_cudbg_find(s, 1, &dev, 0, at);
}

CUDBGResult wsi_cudbg_setBreakpoint31(struct wsi_cudbg *s, uint64_t addr)
{
	struct wsi_cudbg_at at;
	CUDBGResult result = guess_device(s, addr, &at);
	return result == CUDBG_SUCCESS ? wsi_cudbg_setBreakpoint(s, &at, addr) : result;
}

CUDBGResult wsi_cudbg_unsetBreakpoint31(struct wsi_cudbg *s, uint64_t addr)
{
	struct wsi_cudbg_at at;
	CUDBGResult result = guess_device(s, addr, &at);
	return result == CUDBG_SUCCESS ? wsi_cudbg_unsetBreakpoint(s, &at, addr) : result;
}
