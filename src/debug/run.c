/* SPDX-License-Identifier: Apache-2.0 */
/* The device let run, waited for, and what its stop means. */
#include "debug/session.h"

#include <time.h>

/* ---- what has changed ---- */

/* Whether `take` is done after the warps of an SM, by their slots. */
static bool each_of_sm(struct ws_debug *d, const struct ws_change *change,
		       wsi_debug_take_warp *take, void *user)
{
	for (uint64_t left = change->warps; left; left &= left - 1) {
		uint32_t slot = 0, index;
		struct ws_warp warp;
		while (!(left >> slot & 1))
			slot++;
		if (ws_target_find_warp(d->target, change->sm_index, slot, &index, NULL) == WS_OK &&
		    ws_target_warp(d->target, index, &warp, NULL) == WS_OK &&
		    take(user, index, &warp))
			return true;
	}
	return false;
}

bool wsi_debug_each_changed(struct ws_debug *d, wsi_debug_take_warp *take, void *user)
{
	struct ws_change changes[WS_MAX_CHANGES];
	struct ws_warp warp;
	uint32_t n;
	if (ws_target_changes(d->target, d->before, changes, &n)) {
		for (uint32_t i = 0; i < n; i++)
			if (each_of_sm(d, &changes[i], take, user))
				return true;
		return false;
	}
	for (uint32_t i = 0; ws_target_warp(d->target, i, &warp, NULL) == WS_OK; i++)
		if (take(user, i, &warp))
			return true;
	return false;
}

/* ---- events ---- */

static void lose_device(struct ws_debug *d)
{
	d->state = WS_DEBUG_LOST;
	d->has_focus = false;
	d->owed = 0;
	wsi_debug_tell(d, WS_DEBUG_DEVICE_LOST, NULL, NULL);
}

static void acknowledge(struct ws_debug *d, uint64_t event)
{
	struct ws_error err;
	if (event && ws_target_acknowledge(d->target, event, &err) != WS_OK)
		wsi_debug_tell(d, WS_DEBUG_PROBLEM, NULL, &err);
}

/* Takes what the target has to tell. `*ret_stopped`: a fault or a breakpoint stopped it. */
static void take_events(struct ws_debug *d, bool *ret_stopped)
{
	struct ws_event event;
	while (ws_target_next_event(d->target, &event, NULL) == WS_OK) {
		*ret_stopped |= event.kind == WS_EVENT_STOPPED;
		if (event.kind == WS_EVENT_FAILED)
			lose_device(d);
		else if (event.sync && d->program)
			d->owed = event.sequence;
		else if (event.sync)
			acknowledge(d, event.sequence);
	}
}

void ws_debug_listen(struct ws_debug *d)
{
	bool stopped = false;
	if (wsi_program_lost_device(d))
		take_events(d, &stopped);
}

void wsi_debug_take_events(struct ws_debug *d)
{
	bool stopped = false;
	take_events(d, &stopped);
}

/* ---- waiting ---- */

/* What `await` answers beside reasons. */
enum {
	NOTHING = -1, /* it runs */
	STOPPED = -2, /* by a breakpoint or a fault */
	WAITS = -3,   /* the program has changed something, and waits for us */
};

static int look_at_program(struct ws_debug *d)
{
	const enum wsi_program_state state = wsi_program_look(d);
	return state == WSI_PROGRAM_STANDS  ? WS_DEBUG_AT_PROGRAM
	       : state == WSI_PROGRAM_ENDED ? WS_DEBUG_PROGRAM_GONE
	       : d->owed                    ? WAITS
					    : NOTHING;
}

/* Waits for what happens to a device that runs. */
static int await(struct ws_debug *d)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	const bool was_lost = d->state == WS_DEBUG_LOST;
	bool stopped = false;
	for (;;) {
		const bool stuck = wsi_source_is_stuck(d), idle = wsi_source_is_idle(d);
		take_events(d, &stopped);
		if (d->state == WS_DEBUG_LOST && !was_lost)
			return WS_DEBUG_NO_DEVICE;
		if (stopped)
			return STOPPED;
		const int outcome = look_at_program(d);
		if (outcome != NOTHING)
			return outcome;
		if (idle)
			return WS_DEBUG_ALL_ENDED;
		if (stuck)
			return WS_DEBUG_DEADLOCK;
		if (ws_debug_interrupted(d))
			return WS_DEBUG_INTERRUPTED;
		nanosleep(&moment, NULL);
	}
}

/* ---- what stopped it ---- */

/* Whether a fault or a trap of the thread stopped the device. */
static bool is_to_blame(const struct ws_debug *d, const struct ws_focus *focus)
{
	struct ws_lane lanes[WS_MAX_LANES];
	struct ws_warp warp;
	struct ws_blame blame;
	uint32_t n;
	if (ws_focus_unclaimed(d->target, focus->sm_index))
		return true;
	if (ws_target_warp(d->target, focus->warp_index, &warp, NULL) != WS_OK ||
	    ws_target_lanes(d->target, focus->warp_index, lanes, &n, NULL) != WS_OK)
		return false;
	ws_focus_blame(&warp, lanes, n, 0, &blame);
	return blame.by != WS_BLAME_NOBODY;
}

static uint32_t stop_exception_of(const struct ws_debug *d)
{
	struct ws_sm sm = { 0 };
	struct ws_lane lane = { 0 };
	const bool has_sm = ws_target_sm(d->target, d->focus.sm_index, &sm, NULL) == WS_OK;
	const bool has_lane =
		ws_target_lane(d->target, d->focus.warp_index, d->focus.lane, &lane, NULL) == WS_OK;
	return has_lane && lane.exception ? lane.exception : has_sm ? sm.exception : 0;
}

/* The first active lane of the first warp that stands at the start of its kernel. */
static bool at_launch(const struct ws_debug *d, struct ws_focus *ret)
{
	struct ws_warp warp;
	for (uint32_t i = 0; ws_target_warp(d->target, i, &warp, NULL) == WS_OK; i++)
		if ((warp.have & WS_WARP_STOP) && warp.stop == WS_STOP_LAUNCH &&
		    wsi_debug_focus_of(d, i, wsi_first_bit(warp.active_lanes), ret))
			return true;
	return false;
}

/* What stopped the device, and who is to be looked at then. False: nothing that is to be told. */
static bool find_stop(struct ws_debug *d, struct ws_debug_stop *stop)
{
	struct ws_focus focus;
	struct wsi_debug_breakpoint *hit = wsi_breakpoint_hit(d);
	if (hit) {
		stop->reason = WS_DEBUG_AT_BREAKPOINT;
		stop->breakpoint = wsi_breakpoint_tell(d, hit);
	} else if (wsi_debug_watch_hit(d)) {
		stop->reason = WS_DEBUG_AT_WATCHPOINT;
		stop->breakpoint = d->hits[0].watchpoint;
		stop->hits = d->hits;
		stop->n_hits = d->n_hits;
	} else if (ws_focus_find(d->target, &focus, NULL) == WS_OK && is_to_blame(d, &focus)) {
		wsi_debug_focus_on(d, &focus);
		stop->exception = stop_exception_of(d);
		stop->reason = stop->exception ? WS_DEBUG_AT_FAULT : WS_DEBUG_AT_TRAP;
	} else if (at_launch(d, &focus)) {
		wsi_debug_focus_on(d, &focus);
		stop->reason = WS_DEBUG_AT_LAUNCH;
	} else {
		return false;
	}
	return true;
}

/* For wsi_debug_each_changed(). */
static bool is_broken(void *user, uint32_t warp_index, const struct ws_warp *warp)
{
	(void)user;
	(void)warp_index;
	return warp->broken;
}

bool wsi_debug_after_step(struct ws_debug *d, struct ws_debug_stop *stop)
{
	/* what only steps here is not broken */
	if (wsi_debug_each_changed(d, is_broken, NULL) && find_stop(d, stop))
		return true;
	struct wsi_debug_breakpoint *hit = wsi_breakpoint_stepped_to(d);
	if (!hit)
		return false;
	stop->reason = WS_DEBUG_AT_BREAKPOINT;
	stop->breakpoint = wsi_breakpoint_tell(d, hit);
	return true;
}

void wsi_debug_stop_at(struct ws_debug *d, struct ws_debug_stop *stop)
{
	struct ws_lane lane;
	stop->has_thread = d->has_focus && ws_target_lane(d->target, d->focus.warp_index,
							  d->focus.lane, &lane, NULL) == WS_OK;
	stop->pc = stop->has_thread ? lane.pc : 0;
}

/* ---- running ---- */

/* Lets everything run until something happens, and stand. `*ret_outcome`: what it was. */
static enum ws_status run_until_stop(struct ws_debug *d, int *ret_outcome, struct ws_error *err)
{
	const bool runs = d->state != WS_DEBUG_LOST;
	enum ws_status st = runs ? ws_target_resume(d->target, WS_NONE, err) : WS_OK;
	if (st == WS_OK) {
		acknowledge(d, d->owed);
		d->owed = 0;
		wsi_program_go(d);
	}
	*ret_outcome = st == WS_OK ? await(d) : look_at_program(d);
	if (*ret_outcome == WS_DEBUG_PROGRAM_GONE)
		return WS_OK;
	wsi_program_halt(d);
	if (st == WS_OK && d->state != WS_DEBUG_LOST)
		st = ws_target_suspend(d->target, WS_NONE, true, err);
	if (st == WS_OK && d->state != WS_DEBUG_LOST)
		st = ws_target_update(d->target, err);
	if (st != WS_OK)
		ws_debug_listen(d); /* why that is */
	if (d->state != WS_DEBUG_LOST)
		return st;
	if (*ret_outcome != WS_DEBUG_AT_PROGRAM)
		*ret_outcome = WS_DEBUG_NO_DEVICE;
	return WS_OK;
}

enum ws_status ws_debug_run(struct ws_debug *d, struct ws_debug_stop *ret_stop,
			    struct ws_error *err)
{
	struct ws_debug_stop stop = { .reason = WS_DEBUG_STEPPED };
	int outcome;
	bool is_found = false;
	d->news.kind = WS_DEBUG_NO_NEWS;
	if (d->state == WS_DEBUG_FRESH)
		d->state = WS_DEBUG_STANDS;
	do {
		d->before = d->target->generation;
		const enum ws_status st = run_until_stop(d, &outcome, err);
		if (st != WS_OK)
			return st;
		if (outcome == WAITS)
			wsi_breakpoints_find(d);
		if (outcome == STOPPED) {
			(void)wsi_debug_refresh(d);
			is_found = find_stop(d, &stop);
		}
	} while (outcome == WAITS || (outcome == STOPPED && !is_found));
	if (outcome == WS_DEBUG_PROGRAM_GONE)
		d->has_focus = false;
	else
		wsi_debug_stands(d);
	if (outcome == WS_DEBUG_ALL_ENDED)
		wsi_debug_set_exit_code(d, 0);
	if (outcome == WS_DEBUG_PROGRAM_GONE || outcome == WS_DEBUG_ALL_ENDED)
		d->state = WS_DEBUG_OVER;
	if (outcome >= 0)
		stop.reason = (enum ws_debug_reason)outcome;
	if (outcome == WS_DEBUG_AT_PROGRAM || outcome == WS_DEBUG_PROGRAM_GONE)
		stop.news = &d->news;
	wsi_debug_stop_at(d, &stop);
	*ret_stop = stop;
	return WS_OK;
}
