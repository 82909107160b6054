/* SPDX-License-Identifier: Apache-2.0 */
/* Going back in what a device has executed. */
#include "debug/session.h"

enum ws_status wsi_debug_back(struct ws_debug *d, const struct ws_back *back,
			      struct ws_back_found *ret_found, struct ws_error *err)
{
	const enum ws_status st = ws_target_go_back(d->target, back, ret_found, err);
	if (st == WS_OK && d->state == WS_DEBUG_OVER)
		d->state = WS_DEBUG_STANDS;
	(void)wsi_debug_refresh(d);
	return st;
}

/* The breakpoint that a warp stands at and that is to be told. */
static struct wsi_debug_breakpoint *stopped_at(struct ws_debug *d,
					       const struct ws_back_found *found)
{
	return wsi_debug_focus_on_first(d, found->warp_index, found->lanes)
		       ? wsi_breakpoint_stepped_to(d)
		       : NULL;
}

enum ws_status ws_debug_run_back(struct ws_debug *d, struct ws_debug_stop *ret_stop,
				 struct ws_error *err)
{
	const struct ws_back back = { .kind = WS_BACK_STOP };
	struct ws_debug_stop stop = { .reason = WS_DEBUG_HISTORY_BEGINS };
	struct ws_back_found found;
	struct wsi_debug_breakpoint *hit = NULL;
	while (!hit) {
		const enum ws_status st = wsi_debug_back(d, &back, &found, err);
		if (st != WS_OK)
			return st;
		const bool is_interrupted = found.any && ws_debug_interrupted(d);
		if (is_interrupted)
			stop.reason = WS_DEBUG_INTERRUPTED;
		if (!found.any || is_interrupted)
			break;
		hit = found.watch ? wsi_debug_watch_ahead(d, &found) : stopped_at(d, &found);
	}
	if (hit) {
		stop.reason = hit->is.watches ? WS_DEBUG_AT_WATCHPOINT : WS_DEBUG_AT_BREAKPOINT;
		stop.breakpoint = wsi_breakpoint_tell(d, hit);
	}
	wsi_debug_stop_at(d, &stop);
	*ret_stop = stop;
	return WS_OK;
}

static enum ws_status to_writer(struct ws_debug *d, const struct ws_back *back,
				struct ws_back_found *ret_found, struct ws_debug_stop *ret_stop,
				struct ws_error *err)
{
	struct ws_debug_stop stop = { .reason = WS_DEBUG_STEPPED };
	const enum ws_status st = wsi_debug_back(d, back, ret_found, err);
	if (st != WS_OK)
		return st;
	if (!ret_found->any)
		stop.reason = WS_DEBUG_HISTORY_BEGINS;
	wsi_debug_stop_at(d, &stop);
	*ret_stop = stop;
	return WS_OK;
}

enum ws_status ws_debug_register_writer(struct ws_debug *d, enum ws_reg_kind kind, uint32_t number,
					struct ws_debug_stop *ret_stop, struct ws_error *err)
{
	const struct ws_back back = {
		.kind = WS_BACK_REGISTER,
		.reg_kind = kind,
		.reg = number,
		.warp_index = d->focus.warp_index,
		.lane = d->focus.lane,
	};
	struct ws_back_found found;
	return d->has_focus ? to_writer(d, &back, &found, ret_stop, err)
			    : wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no thread");
}

enum ws_status ws_debug_memory_writer(struct ws_debug *d, const struct ws_debug_memory *memory,
				      struct ws_debug_stop *ret_stop, struct ws_error *err)
{
	struct wsi_debug_breakpoint watchpoint = wsi_debug_watch_of(d, memory, WS_WATCH_WRITE);
	struct ws_back_found found;
	struct ws_error left;
	enum ws_status st = wsi_debug_watch_plant(d, &watchpoint, err);
	if (st != WS_OK)
		return st;
	const struct ws_back back = { .kind = WS_BACK_WATCH, .watch = watchpoint.target_number };
	st = to_writer(d, &back, &found, ret_stop, err);
	if (ws_target_unwatch(d->target, watchpoint.target_number, &left) != WS_OK)
		wsi_debug_tell(d, WS_DEBUG_PROBLEM, NULL, &left);
	if (st == WS_OK && found.any && /* who wrote it */
	    wsi_debug_focus_on_first(d, found.warp_index, found.lanes))
		wsi_debug_stop_at(d, ret_stop);
	return st;
}
