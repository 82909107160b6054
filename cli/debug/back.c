/* SPDX-License-Identifier: Apache-2.0 */
/* Going back in what a device has executed. */
#include "debug/debug.h"

#include <string.h>

#include <warpscope/cudadebugger.h>

/* How many launches have ended by now. */
static void count_ended(struct debugger *d)
{
	struct ws_grid grid;
	uint64_t left = 0;
	for (uint32_t i = 0; ws_target_grid(d->target, i, &grid, NULL) == WS_OK; i++)
		left += grid.status != CUDBG_GRID_STATUS_TERMINATED;
	d->n_ended = d->n_launches - left;
	d->over = false;
}

bool debug_back(struct debugger *d, const struct ws_back *back, struct ws_back_found *ret_found)
{
	struct ws_error err;
	if (!ws_target_can(d->target, WS_CAN_GO_BACK)) {
		cli_say("Going back is not offered by this provider.\n");
		return false;
	}
	enum ws_status st = ws_target_go_back(d->target, back, ret_found, &err);
	if (st != WS_OK)
		cli_fail(NULL, &err);
	else
		count_ended(d);
	debug_refocus(d);
	return st == WS_OK;
}

/* The breakpoint that a warp stands at and that is to be told. */
static struct breakpoint *stopped_at(struct debugger *d, const struct ws_back_found *found)
{
	struct ws_focus focus;
	uint32_t lane = 0;
	while (lane + 1 < WS_MAX_LANES && !(found->lanes >> lane & 1))
		lane++;
	if (!debug_focus_of(d, found->warp_index, lane, &focus))
		return NULL;
	debug_focus_on(d, &focus);
	return debug_stepped_to(d);
}

void debug_go_back(struct debugger *d)
{
	const struct ws_back back = { .kind = WS_BACK_STOP };
	struct ws_back_found found;
	struct breakpoint *hit = NULL;
	while (!hit) {
		if (!debug_back(d, &back, &found))
			return;
		if (!found.any || debug_interrupted())
			break;
		hit = found.watch ? debug_watch_ahead(d, &found) : stopped_at(d, &found);
	}
	if (!hit)
		ws_out_text(&d->cli->out, found.any ? "Interrupted.\n" : "Here history begins.\n");
	else if (hit->watch.kinds)
		debug_watch_value(d, hit);
	else
		debug_print_hit(d, hit);
	debug_print_thread(d);
}

void debug_last_write(struct debugger *d, const char *text)
{
	struct breakpoint watchpoint;
	struct ws_back back = { .kind = WS_BACK_REGISTER };
	struct ws_back_found found = { .any = false };
	bool ok;
	if (debug_register(text, &back.reg_kind, &back.reg)) {
		if (!debug_has_thread(d))
			return;
		back.warp_index = d->focus.warp_index;
		back.lane = d->focus.lane;
		ok = debug_back(d, &back, &found);
	} else {
		if (!debug_watch_once(d, text, &watchpoint))
			return;
		back.kind = WS_BACK_WATCH;
		back.watch = watchpoint.target_number;
		ok = debug_back(d, &back, &found);
		debug_watch_unplant(d, &watchpoint);
		if (ok && found.any) { /* who wrote it */
			struct ws_focus focus;
			uint32_t lane = 0;
			while (lane + 1 < WS_MAX_LANES && !(found.lanes >> lane & 1))
				lane++;
			if (debug_focus_of(d, found.warp_index, lane, &focus))
				debug_focus_on(d, &focus);
		}
	}
	if (ok && !found.any)
		ws_out_text(&d->cli->out, "Nothing has written it as far as history reaches.\n");
	if (ok)
		debug_print_thread(d);
}
