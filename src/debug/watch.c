/* SPDX-License-Identifier: Apache-2.0 */
/* Watchpoints: memory, and what is told when a kernel accesses it. */
#include "debug/session.h"

/* ---- making ---- */

struct wsi_debug_breakpoint wsi_debug_watch_of(const struct ws_debug *d,
					       const struct ws_debug_memory *memory, uint32_t kinds)
{
	return (struct wsi_debug_breakpoint){
		.is = { .watches = kinds, .memory = *memory },
		.of_thread = d->has_focus && memory->at.space != WS_SPACE_GLOBAL,
		.owner = d->thread,
	};
}

enum ws_status wsi_debug_watch_plant(const struct ws_debug *d,
				     struct wsi_debug_breakpoint *watchpoint, struct ws_error *err)
{
	struct ws_focus focus;
	struct ws_address *at = &watchpoint->is.memory.at;
	if (watchpoint->of_thread && !wsi_debug_find_thread(d, &watchpoint->owner, &focus))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "its thread is not there");
	if (watchpoint->of_thread) {
		at->device_index = focus.device_index;
		at->grid_index = focus.grid_index;
		at->warp_index = focus.warp_index;
		at->lane = focus.lane;
	}
	const struct ws_watch watch = { .at = *at,
					.size_bytes = watchpoint->is.memory.size_bytes,
					.kinds = watchpoint->is.watches };
	return ws_target_watch(d->target, &watch, &watchpoint->target_number, err);
}

enum ws_status ws_debug_watch(struct ws_debug *d, const char *where,
			      const struct ws_debug_memory *memory, uint32_t kinds,
			      const char *condition, const struct ws_debug_breakpoint **ret_made,
			      struct ws_error *err)
{
	struct wsi_debug_breakpoint made = wsi_debug_watch_of(d, memory, kinds);
	const enum ws_status st = wsi_breakpoint_name(&made, where, condition, err);
	if (st == WS_OK)
		return wsi_breakpoint_add(d, &made, ret_made, err);
	wsi_breakpoint_fini(&made);
	return st;
}

/* ---- hits ---- */

static struct wsi_debug_breakpoint *watchpoint_find(const struct ws_debug *d,
						    uint32_t target_number)
{
	for (size_t i = 0; i < d->n_breakpoints; i++) {
		struct wsi_debug_breakpoint *one = &d->breakpoints[i];
		if (one->is.watches && one->is.is_enabled && one->target_number == target_number)
			return one;
	}
	return NULL;
}

/* The first of those who hit a watchpoint that its condition holds for. */
static bool who(struct ws_debug *d, const struct wsi_debug_breakpoint *one,
		const struct ws_watch_hit *hit, struct ws_focus *ret_focus)
{
	for (uint32_t i = 0; i < WS_MAX_LANES; i++) {
		uint32_t lane = (hit->lane + i) % WS_MAX_LANES;
		if ((hit->lanes >> lane & 1) &&
		    wsi_debug_focus_of(d, hit->warp_index, lane, ret_focus) &&
		    wsi_breakpoint_holds(d, one, ret_focus))
			return true;
	}
	return false;
}

/* The number that the watched bytes are; the first `access.n` of them from its first one on were
 * others before. */
static void read_watched_number(const struct ws_debug *d, struct ws_debug_hit *hit)
{
	const struct ws_debug_memory *memory = &hit->watchpoint->memory;
	const uint32_t at = (uint32_t)(hit->access.address - memory->at.address);
	struct ws_address address = memory->at;
	size_t n;
	address.warp_index = d->focus.warp_index;
	address.grid_index = d->focus.grid_index;
	if (!memory->number_bytes ||
	    ws_target_read_memory(d->target, &address, hit->now, memory->number_bytes, &n, NULL) !=
		    WS_OK ||
	    (uint64_t)at + hit->access.n > memory->number_bytes)
		return;
	memcpy(hit->old, hit->now, sizeof hit->old);
	memcpy(hit->old + at, hit->access.before, hit->access.n);
	hit->has_number = true;
}

bool wsi_debug_watch_hit(struct ws_debug *d)
{
	struct ws_watch_hit access;
	struct ws_focus focus;
	d->n_hits = 0;
	for (uint32_t i = 0; ws_target_watch_hit(d->target, i, &access, NULL) == WS_OK; i++) {
		struct wsi_debug_breakpoint *one = watchpoint_find(d, access.number);
		if (!one || !who(d, one, &access, &focus) || !wsi_breakpoint_counts(one) ||
		    !wsi_grow(&d->hits, &d->cap_hits, d->n_hits, sizeof *d->hits, SIZE_MAX))
			continue;
		if (d->n_hits == 0)
			wsi_debug_focus_on(d, &focus);
		struct ws_debug_hit *hit = &d->hits[d->n_hits++];
		*hit = (struct ws_debug_hit){ .watchpoint = &one->is, .access = access };
		read_watched_number(d, hit);
	}
	return d->n_hits > 0;
}

struct wsi_debug_breakpoint *wsi_debug_watch_ahead(struct ws_debug *d,
						   const struct ws_back_found *found)
{
	struct wsi_debug_breakpoint *one = watchpoint_find(d, found->watch);
	const struct ws_watch_hit hit = { .warp_index = found->warp_index, .lanes = found->lanes };
	struct ws_focus focus;
	if (!one || !who(d, one, &hit, &focus))
		return NULL;
	wsi_debug_focus_on(d, &focus);
	return one;
}
