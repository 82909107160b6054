/* SPDX-License-Identifier: Apache-2.0 */
/* The device under the debugger: made, let run, waited for. */
#include "debug/debug.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <warpscope/cudbg.h>
#include <warpscope/exception.h>
#include <warpscope/provider.h>

#include "session.h"

enum { HISTORY_MIB = 256 };

/* ---- interruption ---- */

static atomic_bool interrupted;

static void interrupt(int number)
{
	(void)number;
	atomic_store(&interrupted, true);
}

bool debug_interrupted(void)
{
	return atomic_exchange(&interrupted, false);
}

/* ---- the focus ---- */

bool debug_focus_of(const struct debugger *d, uint32_t warp_index, uint32_t lane,
		    struct ws_focus *ret_focus)
{
	struct ws_warp warp;
	struct ws_block block;
	if (ws_target_warp(d->target, warp_index, &warp, NULL) != WS_OK ||
	    ws_target_block(d->target, warp.block_index, &block, NULL) != WS_OK)
		return false;
	*ret_focus = (struct ws_focus){
		.device_index = warp.device_index,
		.sm_index = warp.sm_index,
		.warp_index = warp_index,
		.block_index = warp.block_index,
		.grid_index = block.grid_index,
		.lane = lane,
	};
	return true;
}

void debug_focus_on(struct debugger *d, const struct ws_focus *focus)
{
	struct ws_device device = { 0 };
	struct ws_sm sm = { 0 };
	struct ws_warp warp = { 0 };
	struct ws_block block = { 0 };
	d->focus = *focus;
	d->has_focus = ws_target_device(d->target, focus->device_index, &device, NULL) == WS_OK &&
		       ws_target_sm(d->target, focus->sm_index, &sm, NULL) == WS_OK &&
		       ws_target_warp(d->target, focus->warp_index, &warp, NULL) == WS_OK &&
		       ws_target_block(d->target, focus->block_index, &block, NULL) == WS_OK;
	d->thread =
		(struct thread){ device.id, sm.id, warp.id, focus->lane, block.grid_id, block.idx };
	d->cli->focus = d->has_focus ? &d->focus : NULL;
	d->cli->frame = d->level = d->nth = 0;
	debug_list_here(d);
}

bool debug_find_thread(const struct debugger *d, const struct thread *was, struct ws_focus *ret)
{
	uint32_t device, sm, warp_index;
	struct ws_warp warp;
	struct ws_block block;
	struct ws_lane lane;
	if (ws_target_find_device(d->target, was->device_id, &device, NULL) != WS_OK ||
	    ws_target_find_sm(d->target, device, was->sm_id, &sm, NULL) != WS_OK ||
	    ws_target_find_warp(d->target, sm, was->warp_id, &warp_index, NULL) != WS_OK ||
	    !debug_focus_of(d, warp_index, was->lane, ret) ||
	    ws_target_warp(d->target, warp_index, &warp, NULL) != WS_OK ||
	    ws_target_block(d->target, ret->block_index, &block, NULL) != WS_OK ||
	    ws_target_lane(d->target, warp_index, was->lane, &lane, NULL) != WS_OK)
		return false;
	return block.grid_id == was->grid_id && (warp.valid_lanes >> was->lane & 1) &&
	       memcmp(&block.idx, &was->block, sizeof block.idx) == 0;
}

bool debug_refocus(struct debugger *d)
{
	struct ws_focus focus;
	bool same = d->has_focus && debug_find_thread(d, &d->thread, &focus);
	d->has_focus = false;
	d->cli->focus = NULL;
	if (d->lost)
		return false;
	if (same || ws_focus_find(d->target, &focus, NULL) == WS_OK)
		debug_focus_on(d, &focus);
	return same;
}

bool debug_has_thread(const struct debugger *d)
{
	if (d->has_focus)
		return true;
	cli_say("There is no thread: %s.\n", d->dump      ? "the dump has none to look at"
					     : d->lost    ? "the device is lost"
					     : d->over    ? "all kernels have ended"
					     : d->started ? "no block is resident"
							  : "nothing runs yet (run, or start)");
	return false;
}

/* ---- making ---- */

/* The software GPU through the function table of the debugger API, as a client of that has it. */
static enum ws_status go_through_api(struct debugger *d, struct ws_error *err)
{
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS |
				    CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH;
	enum ws_status st = ws_cudbg_api(d->device, &d->api, err);
	return st == WS_OK ? ws_target_from_api(d->api, WS_CUDBG_SLOTS_MAJOR, WS_CUDBG_SLOTS_MINOR,
						&d->target, err)
			   : st;
}

/* What another provider debugs: how much it launches only its program knows. */
static int make_of_provider(struct debugger *d)
{
	struct ws_error err;
	if (ws_target_open_provider(d->cli->api_lib, &d->target, &err) != WS_OK)
		return cli_fail(d->cli->api_lib, &err);
	d->n_launches = UINT64_MAX;
	if (ws_target_can(d->target, WS_CAN_RUN))
		return CLI_ANSWERED;
	cli_warn("%s: what it debugs cannot run: report and the other verbs take --api-lib too",
		 d->cli->api_lib);
	return CLI_NO_ANSWER;
}

static int make_of_image(struct debugger *d)
{
	struct ws_counts counts;
	struct ws_error err;
	int status = run_setup_make(&d->setup, d->cli);
	if (status != CLI_ANSWERED)
		return status;
	if (ws_sim_target_live(d->setup.sim, &d->device, &err) != WS_OK)
		return cli_fail(NULL, &err);
	ws_target_counts(d->device, &counts);
	d->n_launches = counts.grids;
	if (!d->through_api)
		d->target = d->device;
	else if (go_through_api(d, &err) != WS_OK)
		return cli_fail(NULL, &err);
	return CLI_ANSWERED;
}

int debug_make(struct debugger *d)
{
	struct ws_error err;
	signal(SIGINT, interrupt);
	d->started = false;
	int status = d->cli->api_lib                   ? make_of_provider(d)
		     : d->software_gpu || d->pid.given ? debug_program_make(d)
						       : make_of_image(d);
	if (status != CLI_ANSWERED)
		return status;
	if (ws_target_want(d->target, WS_WANT_STOPS | WS_WANT_LEFT_EXCEPTIONS, &err) != WS_OK)
		return cli_fail(NULL, &err);
	const uint64_t mib = d->history.given ? d->history.value : HISTORY_MIB;
	if (ws_target_can(d->target, WS_CAN_GO_BACK) &&
	    ws_target_keep_history(d->target, mib << 20, &err) != WS_OK)
		return cli_fail(NULL, &err);
	d->n_ended = 0;
	d->over = d->lost = d->has_focus = false;
	d->cli->live = d->target;
	d->cli->focus = NULL;
	debug_breakpoints_plant(d);
	if (d->started) {
		debug_refocus(d);
		debug_print_thread(d);
	}
	return CLI_ANSWERED;
}

void debug_unmake(struct debugger *d)
{
	if (d->pid.given)
		debug_program_detach(d);
	debug_values_leave(d);
	debug_list_fini(d);
	ws_vars_destroy(d->vars);
	d->vars = NULL;
	d->told.any = false;
	if (d->target != d->device)
		ws_target_close(d->target);
	ws_cudbg_release(d->api);
	debug_program_unmake(d);
	ws_target_close(d->device);
	d->target = d->device = NULL;
	d->api = NULL;
	d->cli->live = NULL;
	d->cli->focus = NULL;
	d->has_focus = false;
	run_setup_unmake(&d->setup);
}

/* ---- running ---- */

/* Whether `take` is done after the warps of an SM, by their slots. */
static bool each_of_sm(struct debugger *d, const struct ws_change *change, debug_take_warp *take,
		       void *user)
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

bool debug_each_changed(struct debugger *d, debug_take_warp *take, void *user)
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

static void lose_device(struct debugger *d)
{
	ws_out_text(&d->cli->out,
		    "The process that has the software GPU has died: the device is lost, "
		    "with all that was on it.\n");
	d->lost = true;
	d->has_focus = false;
	d->cli->focus = NULL;
	d->told.any = false;
	debug_program_owe(d, 0);
}

void debug_take_events(struct debugger *d, bool *ret_stopped)
{
	struct ws_event event;
	struct ws_error err;
	while (ws_target_next_event(d->target, &event, NULL) == WS_OK) {
		*ret_stopped |= event.kind == WS_EVENT_STOPPED;
		d->n_ended += event.kind == WS_EVENT_GRID_FINISHED;
		if (d->program && event.kind == WS_EVENT_FAILED)
			lose_device(d);
		else if (d->program && event.sync)
			debug_program_owe(d, event.sequence);
		else if (event.sync &&
			 ws_target_acknowledge(d->target, event.sequence, &err) != WS_OK)
			cli_fail(NULL, &err);
	}
}

enum outcome {
	RUNS,        /* nothing happened */
	STOPPED,     /* by a breakpoint or a fault */
	ENDED,       /* all launches have */
	STUCK,       /* all that is left waits for each other */
	INTERRUPTED, /* by Ctrl-C */
	WAITS,       /* the program has changed something, and waits for us */
	TOLD,        /* the program came to something, and what is told */
	LOST,        /* its device is, and that is told */
	GONE,        /* the program has ended, and how is told */
};

static enum outcome look_at_program(struct debugger *d)
{
	static const enum outcome outcomes[] = {
		[PROGRAM_RUNS] = RUNS,
		[PROGRAM_STANDS] = TOLD,
		[PROGRAM_ENDED] = GONE,
	};
	if (!d->program)
		return RUNS;
	enum outcome outcome = outcomes[debug_program_look(d)];
	return outcome == RUNS && debug_program_owes(d) ? WAITS : outcome;
}

/* Waits for what happens to a device that runs. */
static enum outcome await(struct debugger *d)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	const bool was_lost = d->lost;
	bool stopped = false;
	enum outcome outcome;
	for (;;) {
		bool stuck = d->device && ws_sim_host_stuck(d->device);
		debug_take_events(d, &stopped);
		if (d->lost && !was_lost)
			return LOST;
		if (stopped)
			return STOPPED;
		outcome = look_at_program(d);
		if (outcome != RUNS)
			return outcome;
		if (d->n_ended >= d->n_launches)
			return ENDED;
		if (stuck)
			return STUCK;
		if (debug_interrupted())
			return INTERRUPTED;
		nanosleep(&moment, NULL);
	}
}

/* What kernels have printed so far. */
void debug_flush_printed(struct debugger *d)
{
	struct ws_error err;
	if (!d->device)
		return; /* its program prints that itself */
	ws_sim_host_begin(d->device, true);
	run_print_lines(&d->cli->out, ws_sim_printed(d->setup.sim));
	ws_sim_clear_printed(d->setup.sim);
	if (ws_sim_host_end(d->device, true, NULL, &err) != WS_OK)
		cli_fail(NULL, &err);
}

static void print_fault(struct debugger *d)
{
	struct ws_out *out = &d->cli->out;
	struct ws_sm sm = { 0 };
	struct ws_lane lane = { 0 };
	bool has_sm = ws_target_sm(d->target, d->focus.sm_index, &sm, NULL) == WS_OK;
	bool has_lane =
		ws_target_lane(d->target, d->focus.warp_index, d->focus.lane, &lane, NULL) == WS_OK;
	uint32_t code = has_lane && lane.exception ? lane.exception : has_sm ? sm.exception : 0;
	const struct ws_exception *exception = ws_exception_find(code);
	if (!code)
		ws_out_text(out, "Stopped at a trap.\n");
	else
		ws_out_printf(out, "CUDA exception: %s (see: report)\n",
			      exception ? exception->label : "of a kind that is not known");
}

/* Whether a fault or a trap of the thread stopped the device. */
static bool is_to_blame(const struct debugger *d, const struct ws_focus *focus)
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

/* The first active lane of the first warp that stands at the start of its kernel. */
static bool at_launch(const struct debugger *d, struct ws_focus *ret)
{
	struct ws_warp warp;
	for (uint32_t i = 0; ws_target_warp(d->target, i, &warp, NULL) == WS_OK; i++) {
		uint32_t lane = 0;
		while (lane + 1 < WS_MAX_LANES && !(warp.active_lanes >> lane & 1))
			lane++;
		if ((warp.have & WS_WARP_STOP) && warp.stop == WS_STOP_LAUNCH &&
		    debug_focus_of(d, i, lane, ret))
			return true;
	}
	return false;
}

/* What stopped the device, and who is to be looked at then. */
struct stop {
	bool any, at_launch;
	bool watched;
	struct breakpoint *hit; /* NULL: something else */
};

static struct stop find_stop(struct debugger *d)
{
	struct ws_focus focus;
	struct stop stop = { .hit = debug_hit(d) };
	if (!stop.hit && debug_watch_hit(d)) {
		stop.any = stop.watched = true;
	} else if (!stop.hit && ws_focus_find(d->target, &focus, NULL) == WS_OK &&
		   is_to_blame(d, &focus)) {
		debug_focus_on(d, &focus);
		stop.any = true;
	} else if (!stop.hit && at_launch(d, &focus)) {
		debug_focus_on(d, &focus);
		stop.any = stop.at_launch = true;
	}
	stop.any |= stop.hit != NULL;
	return stop;
}

void debug_print_hit(struct debugger *d, struct breakpoint *hit)
{
	struct ws_out *out = &d->cli->out;
	debug_print_switch(d);
	ws_out_printf(out, "%s %u, ", hit->temporary ? "Temporary breakpoint" : "Breakpoint",
		      hit->number);
	d->told.goes_on = true;
	d->due = hit->number;
}

static void print_stop(struct debugger *d, const struct stop *stop)
{
	debug_flush_printed(d);
	debug_refocus(d);
	if (stop->hit && stop->hit->n_commands > 0 &&
	    strcmp(stop->hit->commands[0], "silent") == 0) {
		d->due = stop->hit->number;
		return;
	}
	if (stop->hit)
		debug_print_hit(d, stop->hit);
	else if (stop->watched)
		debug_watch_tell(d);
	else if (stop->at_launch)
		ws_out_text(&d->cli->out, "Stopped at the first instruction of a kernel.\n");
	else
		print_fault(d);
	debug_print_thread(d);
}

static bool same_thread(const struct thread *a, const struct thread *b)
{
	return a->device_id == b->device_id && a->sm_id == b->sm_id && a->warp_id == b->warp_id &&
	       a->lane == b->lane && a->grid_id == b->grid_id &&
	       memcmp(&a->block, &b->block, sizeof a->block) == 0;
}

/* "[WORDS CUDA kernel 0, grid 1, ...]" */
static void print_focus(struct debugger *d, const char *words)
{
	struct session session;
	if (session_open(&session, d->cli, "device") == CLI_ANSWERED) {
		ws_out_printf(&d->cli->out, "[%s CUDA ", words);
		session_print_focus(&session, &d->cli->out);
		ws_out_text(&d->cli->out, "]\n");
	}
	session_close(&session);
}

void debug_print_switch(struct debugger *d)
{
	struct debug_told *told = &d->told;
	if (!d->has_focus || (told->any && same_thread(&told->thread, &d->thread)))
		return;
	print_focus(d, told->any ? "Switching focus to" : "Current focus set to");
	told->any = true;
	told->thread = d->thread;
	told->function = 0;
}

/* The function, as far as it tells whether that changed. */
static uint64_t function_of(const struct debugger *d, const struct ws_lane *lane,
			    const struct position *position)
{
	uint64_t key = ((uint64_t)lane->call_depth << 8) + position->n + 1;
	const char *name = position->n ? position->chain[0].function : NULL;
	for (; name && *name; name++)
		key = key * 31 + (unsigned char)*name;
	return key ^ debug_function_address(d, lane->pc);
}

/* "axpy (n=5) at src/axpy.cu:12" */
static void print_call(struct debugger *d)
{
	struct look look = { .vars = NULL };
	if (look_open(&look, d->cli, d->dump ? d->dump : "device", 0, NULL,
		      (struct cli_given){ 0 }) == CLI_ANSWERED)
		(d->told.numbered ? look_print_frame : look_print_call)(&look, look.at,
									&d->cli->out);
	look_close(&look);
}

void debug_print_thread(struct debugger *d)
{
	struct ws_lane lane;
	struct position position;
	struct debug_told *told = &d->told;
	if (!d->has_focus)
		return;
	debug_print_switch(d);
	if (ws_target_lane(d->target, d->focus.warp_index, d->focus.lane, &lane, NULL) != WS_OK)
		return;
	debug_position(d, lane.pc, &position);
	const uint64_t function = function_of(d, &lane, &position);
	const bool whole = told->goes_on || told->numbered || told->function != function;
	if (whole)
		print_call(d);
	if (!debug_list_line(d) && !whole)
		debug_list_missing(d);
	told->function = function;
	told->goes_on = told->numbered = false;
	debug_print_instruction(d, lane.pc);
	debug_display_all(d);
}

bool debug_after_stop(struct debugger *d)
{
	debug_refocus(d);
	const struct stop stop = find_stop(d);
	if (stop.any)
		print_stop(d, &stop);
	return stop.any;
}

/* For debug_each_changed(). */
static bool is_broken(void *user, uint32_t warp_index, const struct ws_warp *warp)
{
	(void)user;
	(void)warp_index;
	return warp->broken;
}

bool debug_after_step(struct debugger *d)
{
	struct stop stop = { .any = false };
	if (debug_each_changed(d, is_broken, NULL)) /* what only steps here is not */
		stop = find_stop(d);
	if (!stop.any)
		stop.hit = debug_stepped_to(d);
	stop.any |= stop.hit != NULL;
	if (stop.any)
		print_stop(d, &stop);
	return stop.any;
}

/* The device stands again, or has nothing left. */
static bool halted(struct debugger *d, struct ws_error *err)
{
	return ws_target_suspend(d->target, WS_NONE, true, err) == WS_OK &&
	       ws_target_update(d->target, err) == WS_OK;
}

static void came_to(struct debugger *d, enum outcome outcome)
{
	debug_flush_printed(d);
	debug_refocus(d);
	d->over = outcome == ENDED;
	if (d->over) {
		const struct ws_value zero = ws_value_int(0);
		debug_value_name(d, ws_str_of("_exitcode"), &zero);
	}
	if (outcome != TOLD && outcome != LOST)
		ws_out_text(
			&d->cli->out,
			outcome == ENDED ? "All kernels have ended.\n"
			: outcome == STUCK
				? "All threads that are left wait for each other (see: report).\n"
				: "Interrupted.\n");
	debug_print_thread(d);
}

/* The program is gone, and its device. */
static void lose(struct debugger *d)
{
	d->over = true;
	d->has_focus = false;
	d->cli->focus = NULL;
	d->told.any = false;
}

/* Lets everything run until something happens. False: the device cannot be made to, and that is
 * told. */
static bool go(struct debugger *d, enum outcome *ret_outcome)
{
	struct ws_error err;
	enum ws_status st = d->lost ? WS_OK : ws_target_resume(d->target, WS_NONE, &err);
	if (st == WS_OK && d->program)
		debug_program_go(d);
	*ret_outcome = st == WS_OK ? await(d) : look_at_program(d);
	if (*ret_outcome == GONE)
		return true;
	if (d->program)
		debug_program_halt(d);
	if (st == WS_OK && !d->lost && halted(d, &err))
		return true;
	if (debug_program_lost(d)) {
		*ret_outcome = *ret_outcome == TOLD ? TOLD : LOST;
		return true;
	}
	cli_fail(NULL, &err);
	return false;
}

void debug_go(struct debugger *d)
{
	enum outcome outcome;
	bool goes_on;
	d->started = true;
	do {
		d->before = d->target->generation;
		if (!go(d, &outcome))
			return;
		if (outcome == WAITS)
			debug_breakpoints_find(d);
		goes_on = outcome == WAITS || (outcome == STOPPED && !debug_after_stop(d));
	} while (goes_on);
	if (outcome == GONE)
		lose(d);
	else if (outcome != STOPPED)
		came_to(d, outcome);
}
