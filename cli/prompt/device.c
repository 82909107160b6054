/* SPDX-License-Identifier: Apache-2.0 */
/* The device under the session: made, and what the session asks and tells of it. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "exec/exec.h"

enum { HISTORY_MIB = 256 };

/* ---- the session ---- */

static struct ws_debug *interrupted; /* by Ctrl-C */

static void interrupt(int number)
{
	(void)number;
	ws_debug_interrupt(interrupted);
}

static void print_news(struct debugger *d, const struct ws_debug_news *news)
{
	static const char *const words[] = {
		[WS_DEBUG_NO_DRIVER_YET] = "The program has not loaded the CUDA driver yet.",
		[WS_DEBUG_NO_CUDA_YET] = "The program has not begun to use CUDA yet.",
		[WS_DEBUG_CUDA_BEGINS] = "The program begins to use CUDA.",
		[WS_DEBUG_BECAME_ANOTHER] = "The program has become another one.",
	};
	struct ws_out *out = &d->cli->out;
	if (words[news->kind]) {
		ws_out_printf(out, "%s\n", words[news->kind]);
		cli_flush(d->cli); /* it may take long until there is more */
	} else if (news->kind == WS_DEBUG_CALL_FAILED) {
		ws_out_printf(out, "CUDA API error: %s returned %s (%" PRIu64 "): %s\n",
			      news->function, news->error, news->number, news->text);
	} else if (news->kind == WS_DEBUG_DRIVER_FAILED) {
		ws_out_printf(out, "CUDA internal error: %s (%" PRIu64 ")\n",
			      cudbgGetErrorString((CUDBGResult)news->number), news->number);
	} else if (news->kind == WS_DEBUG_EXITED) {
		ws_out_printf(out, "The program has exited with status %" PRIu64 ".\n",
			      news->number);
	} else {
		ws_out_printf(out, "The program %s signal %" PRIu64 ", %s.\n",
			      news->kind == WS_DEBUG_SIGNALED ? "received" : "was ended by",
			      news->number, strsignal((int)news->number));
	}
}

static void tell_notice(void *user, const struct ws_debug_notice *notice)
{
	struct debugger *d = user;
	const struct ws_debug_breakpoint *one = notice->breakpoint;
	switch (notice->kind) {
	case WS_DEBUG_PROBLEM:
		cli_fail(NULL, notice->err);
		break;
	case WS_DEBUG_NOT_PLANTED:
		cli_say("%s %u: %s.\n", one->watches ? "Watchpoint" : "Breakpoint", one->number,
			notice->err->message);
		break;
	case WS_DEBUG_CONDITION:
		cli_note("The condition of breakpoint %u: %s.\n", one->number,
			 notice->err->message);
		break;
	case WS_DEBUG_PROGRAM_NEWS:
		print_news(d, notice->news);
		break;
	case WS_DEBUG_PRINTED:
		run_print_lines(&d->cli->out, notice->printed);
		break;
	case WS_DEBUG_DEVICE_LOST:
		ws_out_text(&d->cli->out,
			    "The process that has the software GPU has died: the device is lost, "
			    "with all that was on it.\n");
		d->cli->focus = NULL;
		d->told.any = false;
		break;
	}
}

/* $_gdb_setting() and what is like it. */
static bool call(void *user, struct ws_str name, struct ws_str argument, struct ws_value *ret_value)
{
	return gdb_setting_value(&((struct debugger *)user)->gdb, name, argument, ret_value);
}

int debug_begin(struct debugger *d)
{
	const struct ws_debug_client client = {
		.size = sizeof client,
		.user = d,
		.tell = tell_notice,
		.call = call,
	};
	struct ws_error err;
	return ws_debug_create(&client, &d->session, &err) == WS_OK ? CLI_ANSWERED
								    : cli_fail(NULL, &err);
}

/* ---- the focus ---- */

struct ws_focus debug_focus(const struct debugger *d)
{
	const struct ws_focus *focus = ws_debug_focus(d->session);
	return focus ? *focus : (struct ws_focus){ 0 };
}

void debug_follow(struct debugger *d)
{
	d->cli->focus = ws_debug_focus(d->session);
	d->cli->frame = 0;
	debug_list_here(d);
}

bool debug_focus_on(struct debugger *d, uint32_t warp_index, uint32_t lane)
{
	const bool good = ws_debug_set_focus(d->session, warp_index, lane);
	debug_follow(d);
	return good;
}

bool debug_has_thread(const struct debugger *d)
{
	static const char *const why[] = {
		[WS_DEBUG_EMPTY] = "nothing runs yet (run, or start)",
		[WS_DEBUG_FIXED] = "the dump has none to look at",
		[WS_DEBUG_FRESH] = "nothing runs yet (run, or start)",
		[WS_DEBUG_STANDS] = "no block is resident",
		[WS_DEBUG_OVER] = "all kernels have ended",
		[WS_DEBUG_LOST] = "the device is lost",
	};
	if (!ws_debug_focus(d->session))
		cli_say("There is no thread: %s.\n", why[ws_debug_state(d->session)]);
	return ws_debug_focus(d->session) != NULL;
}

/* ---- making ---- */

/* What another provider debugs. */
static int make_of_provider(struct debugger *d)
{
	struct ws_error err;
	if (ws_debug_use_provider(d->session, d->cli->api_lib, &err) != WS_OK)
		return cli_fail(d->cli->api_lib, &err);
	if (ws_debug_state(d->session) != WS_DEBUG_FIXED)
		return CLI_ANSWERED;
	cli_warn("%s: what it debugs cannot run: report and the other verbs take --api-lib too",
		 d->cli->api_lib);
	return CLI_NO_ANSWER;
}

static int make_of_image(struct debugger *d)
{
	struct ws_error err;
	const int status = run_setup_make(&d->setup, d->cli);
	if (status != CLI_ANSWERED)
		return status;
	return ws_debug_use_sim(d->session, d->setup.sim, d->through_api, &err) == WS_OK
		       ? CLI_ANSWERED
		       : cli_fail(NULL, &err);
}

static int make_of_program(struct debugger *d)
{
	struct ws_error err;
	if (!exec_gpu_set(d->setup.device))
		return CLI_NO_ANSWER;
	cli_flush(d->cli);
	return ws_debug_start(d->session, d->gdb.settings.program, &err) == WS_OK
		       ? CLI_ANSWERED
		       : cli_fail(NULL, &err);
}

static int make_of_process(struct debugger *d)
{
	struct ws_error err;
	return ws_debug_attach(d->session, (uint32_t)d->pid.value, d->attach_way, &err) == WS_OK
		       ? CLI_ANSWERED
		       : cli_fail(NULL, &err);
}

/* What has been made is what commands ask. */
static void look_at(struct debugger *d, struct ws_target *target)
{
	d->target = d->cli->live = target;
	debug_follow(d);
}

int debug_make(struct debugger *d)
{
	static int (*const make[])(struct debugger * d) = {
		[DEBUG_IMAGE] = make_of_image,
		[DEBUG_DEVICE] = make_of_provider,
		[DEBUG_PROGRAM] = make_of_program,
		[DEBUG_PROCESS] = make_of_process,
	};
	const uint64_t mib = d->history.given ? d->history.value : HISTORY_MIB;
	struct ws_error err;
	interrupted = d->session;
	signal(SIGINT, interrupt);
	const int status = make[d->what](d);
	if (status != CLI_ANSWERED)
		return status;
	look_at(d, ws_debug_target(d->session));
	if (d->what < DEBUG_PROGRAM && ws_target_can(d->target, WS_CAN_GO_BACK) &&
	    ws_target_keep_history(d->target, mib << 20, &err) != WS_OK)
		return cli_fail(NULL, &err);
	if (ws_debug_state(d->session) == WS_DEBUG_STANDS)
		debug_print_thread(d);
	return CLI_ANSWERED;
}

int debug_use(struct debugger *d, struct ws_target *target)
{
	struct ws_error err;
	if (ws_debug_use(d->session, target, &err) != WS_OK) {
		ws_target_close(target);
		return cli_fail(NULL, &err);
	}
	look_at(d, target);
	return CLI_ANSWERED;
}

void debug_unmake(struct debugger *d)
{
	debug_list_fini(d);
	if (d->session)
		ws_debug_leave(d->session);
	if (d->dump)
		ws_target_close(d->target);
	d->vars = NULL;
	d->told.any = false;
	d->target = NULL;
	d->cli->live = NULL;
	d->cli->focus = NULL;
	run_setup_unmake(&d->setup);
}
