/* SPDX-License-Identifier: Apache-2.0 */
/* What changed in a target that runs: told by its back end, asked by what keeps something of it. */
#include <warpscope/target.h>

#include "base/base.h"
#include "target/internal.h"

void ws_target_changed(struct ws_target *target, const struct ws_counts *counts)
{
	target->counts = *counts;
	target->own->oldest = ++target->generation;
	atomic_store_explicit(&target->own->current, NULL, memory_order_relaxed);
	target->own->n_changes = 0;
}

/* Forgets the oldest generations until there is room; what was kept of those must be read anew. */
static void make_generation_room(struct ws_target_own *own, uint32_t n)
{
	uint32_t gone = 0;
	while (own->n_changes - gone + n > WS_MAX_CHANGES) {
		own->oldest = own->changes[gone].generation;
		while (gone < own->n_changes && own->changes[gone].generation == own->oldest)
			gone++;
	}
	own->n_changes -= gone;
	memmove(own->changes, own->changes + gone, own->n_changes * sizeof *own->changes);
}

void ws_target_changed_warps(struct ws_target *target, const struct ws_change *changes, uint32_t n)
{
	struct ws_target_own *own = target->own;
	target->generation++;
	if (n > WS_MAX_CHANGES) { /* too many to be told */
		own->n_changes = 0;
		own->oldest = target->generation;
		return;
	}
	make_generation_room(own, n);
	for (uint32_t i = 0; i < n; i++)
		own->changes[own->n_changes++] =
			(struct wsi_dated_change){ target->generation, changes[i] };
}

bool ws_target_changes(const struct ws_target *target, uint64_t since,
		       struct ws_change ret_changes[WS_MAX_CHANGES], uint32_t *ret_n)
{
	const struct ws_target_own *own = target->own;
	if (since < own->oldest)
		return false;
	uint32_t first = own->n_changes;
	while (first && own->changes[first - 1].generation > since)
		first--;
	*ret_n = own->n_changes - first;
	for (uint32_t i = 0; i < *ret_n; i++)
		ret_changes[i] = own->changes[first + i].change;
	return true;
}

bool ws_event_is_wanted(enum ws_event_kind kind, uint32_t wants)
{
	switch (kind) {
	case WS_EVENT_GRID_READY:
		return wants & WS_WANT_LAUNCHES;
	case WS_EVENT_FUNCTIONS_LOADED:
		return wants & WS_WANT_FUNCTIONS;
	case WS_EVENT_STOPPED:
		return wants & WS_WANT_STOPS;
	case WS_EVENT_CONTEXT_PUSHED:
	case WS_EVENT_CONTEXT_POPPED:
		return wants & WS_WANT_CONTEXT_SWITCHES;
	case WS_EVENT_LOGS_AVAILABLE:
	case WS_EVENT_LOGS_THRESHOLD:
	case WS_EVENT_LOG_RULES:
		return wants & WS_WANT_LOGS;
	case WS_EVENT_CONTEXT_CREATED:
	case WS_EVENT_CONTEXT_DESTROYED:
	case WS_EVENT_MODULE_LOADED:
	case WS_EVENT_MODULE_UNLOADED:
	case WS_EVENT_GRID_FINISHED:
	case WS_EVENT_STEP_DONE:
	case WS_EVENT_ATTACHED:
	case WS_EVENT_DETACHED:
	case WS_EVENT_FAILED:
		break;
	}
	return true;
}
