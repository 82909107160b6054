/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that move the device, and what is told of each stop. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/exception.h>

#include "session.h"

/* ---- the thread ---- */

static bool same_thread(const struct ws_debug_thread *a, const struct ws_debug_thread *b)
{
	return a->device_id == b->device_id && a->sm_id == b->sm_id && a->warp_id == b->warp_id &&
	       a->lane == b->lane && a->grid_id == b->grid_id &&
	       memcmp(&a->block, &b->block, sizeof a->block) == 0;
}

/* "[WORDS CUDA kernel 0, grid 1, ...]" */
static void print_focus(struct debugger *d, const char *words)
{
	struct cli_session session;
	if (session_open(&session, d->cli, "device") == CLI_ANSWERED) {
		ws_out_printf(&d->cli->out, "[%s CUDA ", words);
		ws_threads_focus_text(&session.threads, &d->cli->out);
		ws_out_text(&d->cli->out, "]\n");
	}
	session_close(&session);
}

void debug_print_switch(struct debugger *d)
{
	struct debug_told *told = &d->told;
	struct ws_debug_thread thread;
	if (!ws_debug_thread(d->session, &thread) ||
	    (told->any && same_thread(&told->thread, &thread)))
		return;
	print_focus(d, told->any ? "Switching focus to" : "Current focus set to");
	told->any = true;
	told->thread = thread;
	told->function = 0;
}

/* The function, as far as it tells whether that changed. */
static uint64_t function_of(const struct debugger *d, const struct ws_lane *lane,
			    const struct ws_debug_position *position)
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
	struct frame_look look = { .stack = { .vars = NULL } };
	if (debug_frames_open(d, &look))
		look_print_frame(&look, look.stack.at, d->told.next == DEBUG_NUMBERED);
	look_close(&look);
}

void debug_print_thread(struct debugger *d)
{
	struct ws_lane lane;
	struct ws_debug_position position;
	struct debug_told *told = &d->told;
	const struct ws_focus *focus = ws_debug_focus(d->session);
	if (!focus)
		return;
	debug_print_switch(d);
	if (ws_target_lane(d->target, focus->warp_index, focus->lane, &lane, NULL) != WS_OK)
		return;
	ws_debug_position(d->session, lane.pc, &position);
	const uint64_t function = function_of(d, &lane, &position);
	const bool whole = told->next != DEBUG_IF_OTHER || told->function != function;
	if (whole)
		print_call(d);
	if (!debug_list_line(d) && !whole)
		debug_list_missing(d);
	told->function = function;
	told->next = DEBUG_IF_OTHER;
	debug_print_instruction(d, lane.pc);
	debug_display_all(d);
}

/* ---- what stopped it ---- */

static void print_fault(struct debugger *d, const struct ws_debug_stop *stop)
{
	const struct ws_exception *exception = ws_exception_find(stop->exception);
	ws_out_printf(&d->cli->out, "CUDA exception: %s (see: report)\n",
		      exception ? exception->label : "of a kind that is not known");
}

static void print_breakpoint(struct debugger *d, const struct ws_debug_breakpoint *hit)
{
	debug_print_switch(d);
	ws_out_printf(&d->cli->out, "%s %u, ",
		      hit->is_temporary ? "Temporary breakpoint" : "Breakpoint", hit->number);
	d->told.next = DEBUG_CALL;
}

/* What is told before the thread. */
static void print_stop_reason(struct debugger *d, const struct ws_debug_stop *stop)
{
	static const char *const words[] = {
		[WS_DEBUG_AT_TRAP] = "Stopped at a trap.",
		[WS_DEBUG_AT_LAUNCH] = "Stopped at the first instruction of a kernel.",
		[WS_DEBUG_THREAD_EXITED] = "The thread has exited.",
		[WS_DEBUG_INTERRUPTED] = "Interrupted.",
		[WS_DEBUG_DEADLOCK] =
			"All threads that are left wait for each other (see: report).",
		[WS_DEBUG_ALL_ENDED] = "All kernels have ended.",
		[WS_DEBUG_HISTORY_BEGINS] = "Here history begins.",
		[WS_DEBUG_NO_DEVICE] = NULL,
	};
	if (stop->reason == WS_DEBUG_AT_BREAKPOINT)
		print_breakpoint(d, stop->breakpoint);
	else if (stop->reason == WS_DEBUG_AT_WATCHPOINT)
		debug_watch_tell(d, stop);
	else if (stop->reason == WS_DEBUG_AT_FAULT)
		print_fault(d, stop);
	if (words[stop->reason])
		ws_out_printf(&d->cli->out, "%s\n", words[stop->reason]);
}

/* Tells of a stop. */
static void tell_debug_stop(struct debugger *d, const struct ws_debug_stop *stop)
{
	const bool is_hit = stop->reason == WS_DEBUG_AT_BREAKPOINT || stop->n_hits > 0;
	if (is_hit)
		gdb_set_due(&d->gdb, stop->breakpoint->commands, stop->breakpoint->n_commands);
	if (stop->reason == WS_DEBUG_AT_BREAKPOINT && stop->breakpoint->n_commands > 0 &&
	    strcmp(stop->breakpoint->commands[0], "silent") == 0)
		return;
	print_stop_reason(d, stop);
	debug_print_thread(d);
}

/* ---- commands ---- */

void debug_go(struct debugger *d)
{
	struct ws_debug_stop stop;
	struct ws_error err;
	if (ws_debug_run(d->session, &stop, &err) != WS_OK) {
		cli_fail(NULL, &err);
		debug_follow(d);
	} else if (stop.reason == WS_DEBUG_PROGRAM_GONE) {
		debug_follow(d);
		d->told.any = false;
	} else {
		debug_follow(d);
		tell_debug_stop(d, &stop);
	}
}

void debug_step(struct debugger *d, enum ws_debug_step_kind how, uint64_t times)
{
	struct ws_debug_stop stop;
	struct ws_error err;
	if (ws_debug_step(d->session, how, times, &stop, &err) != WS_OK) {
		cli_fail(NULL, &err);
		debug_follow(d);
		return;
	}
	if (stop.reason == WS_DEBUG_NO_CALLER)
		cli_say("The kernel itself has no caller.\n");
	else if (stop.reason == WS_DEBUG_NO_END)
		cli_say("No end after %u instructions.\n", (unsigned)WS_DEBUG_MAX_STEPS);
	debug_follow(d);
	if (stop.reason == WS_DEBUG_NO_CALLER)
		return;
	if (stop.reason == WS_DEBUG_INTERRUPTED)
		print_stop_reason(d, &stop);
	if (stop.reason == WS_DEBUG_INTERRUPTED || stop.reason == WS_DEBUG_NO_END)
		debug_print_thread(d);
	else
		tell_debug_stop(d, &stop);
}

static bool can_go_back(const struct debugger *d)
{
	const bool can = ws_target_can(d->target, WS_CAN_GO_BACK);
	if (!can)
		cli_say("Going back is not offered by this provider.\n");
	return can;
}

/* After the device was put back. `begins`: what is said where history begins, or NULL. */
static void went_back(struct debugger *d, enum ws_status st, const struct ws_debug_stop *stop,
		      const char *begins, const struct ws_error *err)
{
	debug_follow(d);
	if (st != WS_OK) {
		cli_fail(NULL, err);
	} else if (stop->reason == WS_DEBUG_HISTORY_BEGINS && begins) {
		ws_out_printf(&d->cli->out, "%s\n", begins);
		debug_print_thread(d);
	} else {
		tell_debug_stop(d, stop);
	}
}

void debug_step_back(struct debugger *d, enum ws_debug_step_kind how, uint64_t times)
{
	struct ws_debug_stop stop;
	struct ws_error err;
	if (!can_go_back(d))
		return;
	const enum ws_status st = ws_debug_step_back(d->session, how, times, &stop, &err);
	if (st == WS_OK && stop.reason == WS_DEBUG_INTERRUPTED)
		stop.reason = WS_DEBUG_STEPPED;
	went_back(d, st, &stop, "Here the thread's history begins.", &err);
}

void debug_go_back(struct debugger *d)
{
	struct ws_debug_stop stop;
	struct ws_error err;
	if (can_go_back(d))
		went_back(d, ws_debug_run_back(d->session, &stop, &err), &stop, NULL, &err);
}

void debug_last_write(struct debugger *d, const char *text)
{
	struct ws_debug_memory memory;
	struct ws_debug_stop stop;
	struct ws_error err;
	enum ws_reg_kind kind;
	uint32_t number;
	enum ws_status st;
	const bool is_register = debug_register(text, &kind, &number);
	if (is_register ? !debug_has_thread(d) : !debug_memory(d, text, &memory))
		return;
	if (!can_go_back(d))
		return;
	st = is_register ? ws_debug_register_writer(d->session, kind, number, &stop, &err)
			 : ws_debug_memory_writer(d->session, &memory, &stop, &err);
	went_back(d, st, &stop, "Nothing has written it as far as history reaches.", &err);
}
