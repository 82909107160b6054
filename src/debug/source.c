/* SPDX-License-Identifier: Apache-2.0 */
/* Targets that a session makes itself: a software GPU, another provider's device. */
#include "debug/session.h"

#include <warpscope/cudbg.h>
#include <warpscope/provider.h>
#include <warpscope/sim_target.h>

#include "target/sim/live.h"

/* The software GPU through the function table of the debugger API, as a client of that has it. */
static enum ws_status go_through_api(struct ws_debug *d, struct ws_error *err)
{
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS |
				    CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH;
	const enum ws_status st = ws_cudbg_api(d->device, &d->api, err);
	return st == WS_OK ? ws_target_from_api(d->api, WS_CUDBG_SLOTS_MAJOR, WS_CUDBG_SLOTS_MINOR,
						&d->made, err)
			   : st;
}

enum ws_status ws_debug_use_sim(struct ws_debug *d, struct ws_sim *sim, bool through_api,
				struct ws_error *err)
{
	enum ws_status st = ws_sim_target_live(sim, &d->device, err);
	if (st == WS_OK && through_api)
		st = go_through_api(d, err);
	if (st == WS_OK) {
		d->sim = sim;
		st = wsi_debug_use(d, through_api ? d->made : d->device, false, err);
	}
	if (st != WS_OK)
		ws_debug_leave(d);
	return st;
}

enum ws_status ws_debug_use_provider(struct ws_debug *d, const char *library, struct ws_error *err)
{
	enum ws_status st = ws_target_open_provider(library, &d->made, err);
	if (st == WS_OK)
		st = ws_debug_use(d, d->made, err);
	if (st != WS_OK)
		ws_debug_leave(d);
	return st;
}

void wsi_source_leave(struct ws_debug *d)
{
	ws_target_close(d->made);
	ws_cudbg_release(d->api);
	ws_target_close(d->device);
	d->made = d->device = NULL;
	d->api = NULL;
}

bool wsi_source_is_stuck(const struct ws_debug *d)
{
	return d->device && wsi_live_stuck(d->device);
}

bool wsi_source_is_idle(const struct ws_debug *d)
{
	return d->device && wsi_live_idle(d->device);
}

void wsi_source_tell_printed(struct ws_debug *d)
{
	struct ws_error err;
	if (!d->device)
		return; /* its program prints that itself */
	ws_sim_host_begin(d->device, true);
	const struct ws_debug_notice notice = { .kind = WS_DEBUG_PRINTED,
						.printed = ws_sim_printed(d->sim) };
	if (d->client.tell && notice.printed.len)
		d->client.tell(d->client.user, &notice);
	ws_sim_clear_printed(d->sim);
	if (ws_sim_host_end(d->device, true, NULL, &err) != WS_OK)
		wsi_debug_tell(d, WS_DEBUG_PROBLEM, NULL, &err);
}
