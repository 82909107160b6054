/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose GPU is debugged: started, or attached to, until its driver has let us in; then
 * what it comes to beside its kernels. The variables and functions are those that the debugger API
 * documents for the debugged process.
 */
#include "debug/debug.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <warpscope/cudbg.h>
#include <warpscope/meeting.h>
#include <warpscope/provider.h>

#include "debug/host.h"
#include "exec/exec.h"

static const char driver[] = "libcuda.so";

enum {
	MOST_WAIT = 10, /* seconds for the driver, once it knows of us */
	MOST_NAME = 512,
};

struct debug_program {
	struct debug_host *host; /* owned */
	bool is_ours;            /* it was started here */
	uint64_t loaded;         /* places, 0: not there: the loader has mapped a library, */
	uint64_t begins;         /* the driver is about to begin, */
	uint64_t failed;         /* a call of it has failed, */
	uint64_t broken;         /* and it has failed itself */
	uint32_t session;
	bool reports; /* calls that fail stop it */
	bool is_over; /* it has ended, or goes on without us */
};

/* ---- variables of the driver in it ---- */

static bool set_variable(const struct debug_program *p, const char *name, uint32_t value)
{
	uint64_t at = debug_host_symbol(p->host, driver, name);
	return at && debug_host_write(p->host, at, &value, sizeof value);
}

static uint64_t variable(const struct debug_program *p, const char *name, size_t n_bytes)
{
	uint64_t at = debug_host_symbol(p->host, driver, name), value = 0;
	return at && debug_host_read(p->host, at, &value, n_bytes) ? value : 0;
}

/* Who we are; `begins`: and that we are there, last of all. */
static bool introduce(struct debug_program *p, bool begins)
{
	static uint32_t last_session;
	p->session = ++last_session;
	return set_variable(p, "cudbgApiClientPid", (uint32_t)getpid()) &&
	       set_variable(p, "cudbgApiClientRevision", CUDBG_API_VERSION_REVISION) &&
	       set_variable(p, "cudbgSessionId", p->session) &&
	       set_variable(p, "cudbgDebuggerCapabilities",
			    CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS |
				    CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_FLUSH_PRINTF_ON_SUSPEND |
				    CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH) &&
	       set_variable(p, "cudbgReportDriverApiErrorFlags",
			    CUDBG_REPORT_DRIVER_API_ERROR_FLAGS_SUPPRESS_NOT_READY) &&
	       (!begins || set_variable(p, "cudbgIpcFlag", 1));
}

/* ---- words ---- */

static void say_signal(struct debugger *d, const char *what, int number)
{
	ws_out_printf(&d->cli->out, "%s signal %d, ", what, number);
	ws_out_escaped(&d->cli->out, ws_str_of(strsignal(number)));
	ws_out_text(&d->cli->out, ".\n");
}

static void say_end(struct debugger *d, const struct debug_host_news *news)
{
	const struct ws_value status = ws_value_int(news->status);
	if (news->signal) {
		say_signal(d, "The program was ended by", news->signal);
		return;
	}
	debug_value_name(d, ws_str_of("_exitcode"), &status);
	ws_out_printf(&d->cli->out, "The program has exited with status %d.\n", news->status);
}

static void put_text(struct debugger *d, const char *address, const char *size)
{
	const struct debug_program *p = d->program;
	char text[MOST_NAME] = "";
	uint64_t at = variable(p, address, 8), n = variable(p, size, 8);
	n = n < sizeof text ? n : sizeof text - 1;
	if (!at || !debug_host_read(p->host, at, text, (size_t)n))
		text[0] = '\0';
	ws_out_escaped(&d->cli->out, ws_str_of(*text ? text : "?"));
}

/* "CUDA API error: cuMemFree returned CUDA_ERROR_INVALID_VALUE (1): invalid argument" */
static void say_error(struct debugger *d)
{
	struct ws_out *out = &d->cli->out;
	ws_out_text(out, "CUDA API error: ");
	put_text(d, "cudbgReportedDriverApiErrorFuncNameAddr",
		 "cudbgReportedDriverApiErrorFuncNameSize");
	ws_out_text(out, " returned ");
	put_text(d, "cudbgReportedDriverApiErrorNameAddr", "cudbgReportedDriverApiErrorNameSize");
	ws_out_printf(out, " (%" PRIu64 "): ",
		      variable(d->program, "cudbgReportedDriverApiErrorCode", 8));
	put_text(d, "cudbgReportedDriverApiErrorStringAddr",
		 "cudbgReportedDriverApiErrorStringSize");
	ws_out_text(out, "\n");
}

static uint32_t internal_error(const struct debug_program *p)
{
	return (uint32_t)variable(p, "cudbgReportedDriverInternalErrorCode", 8);
}

/* "CUDA internal error: CUDBG_ERROR_FORK_FAILED (38)" */
static void say_internal_error(struct debugger *d)
{
	const uint32_t code = internal_error(d->program);
	ws_out_text(&d->cli->out, "CUDA internal error: ");
	ws_out_escaped(&d->cli->out, ws_str_of(cudbgGetErrorString((CUDBGResult)code)));
	ws_out_printf(&d->cli->out, " (%" PRIu32 ")\n", code);
}

/* ---- until the driver begins ---- */

/* Seconds that no change of the clock moves. */
static time_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

static void nap(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	nanosleep(&moment, NULL);
}

/* The next thing that happens to it; HOST_NOTHING: Ctrl-C. */
static struct debug_host_news wait_for_news(const struct debugger *d, struct debug_program *p)
{
	debug_host_go(p->host);
	for (;;) {
		struct debug_host_news news = debug_host_look(p->host);
		if (news.event != HOST_NOTHING || debug_interrupted(d)) {
			(void)debug_host_halt(p->host);
			return news;
		}
		nap();
	}
}

/* Marks where it is to be stopped next: as soon as the driver is there, where that begins. */
static bool mark_next(struct debug_program *p)
{
	p->begins = debug_host_symbol(p->host, driver, "cudbgPreInit");
	if (p->begins) {
		debug_host_unmark(p->host, p->loaded);
		return debug_host_mark(p->host, p->begins);
	}
	p->loaded = debug_host_loader_symbol(p->host, "_dl_debug_state");
	return p->loaded && debug_host_mark(p->host, p->loaded);
}

/* Lets it run until its driver is about to begin. False: it does not, and that is told. */
static bool run_to_driver(struct debugger *d)
{
	struct debug_program *p = d->program;
	bool ok = mark_next(p);
	while (ok) {
		struct debug_host_news news = wait_for_news(d, p);
		if (news.event == HOST_NOTHING)
			break;
		if (news.event == HOST_AT_PLACE && news.place == p->begins)
			return true;
		if (news.event == HOST_ENDED) {
			say_end(d, &news);
			break;
		}
		if (news.event == HOST_AT_PLACE || news.event == HOST_EXECUTED)
			ok = mark_next(p);
	}
	cli_warn(ok ? "the program has not begun to use CUDA"
		    : "the program cannot load a driver: it has no loader of libraries");
	return false;
}

/* ---- meeting ---- */

/* Where it stops once the driver works, and where that may not come to work. */
static void mark_reports(struct debug_program *p, bool works)
{
	p->broken = debug_host_symbol(p->host, driver, "cudbgReportDriverInternalError");
	if (p->broken)
		(void)debug_host_mark(p->host, p->broken);
	p->failed = works ? debug_host_symbol(p->host, driver, "cudbgReportDriverApiError") : 0;
	if (p->failed)
		(void)debug_host_mark(p->host, p->failed);
}

/* Waits until the driver has somebody listen for us, while the program runs. `*ret_told`: it says
 * why nobody will. */
static enum ws_status meet(struct debugger *d, int *ret_socket, bool *ret_told,
			   struct ws_error *err)
{
	struct debug_program *p = d->program;
	const time_t end = now() + MOST_WAIT;
	const uint32_t uid = debug_host_uid(p->host);
	enum ws_status st;
	for (;;) {
		st = ws_cudbg_meet(p->session, uid, ret_socket, err);
		if (st != WS_ABSENT || now() > end)
			return st;
		const struct debug_host_news news = debug_host_look(p->host);
		if (news.event == HOST_AT_PLACE && news.place == p->broken) {
			say_internal_error(d);
			*ret_told = true;
			return st;
		}
		if (news.event == HOST_ENDED)
			return st;
		debug_host_go(p->host);
		nap();
	}
}

/* The target of the program, which stands. */
static int connect_to(struct debugger *d)
{
	struct debug_program *p = d->program;
	struct ws_error err;
	int socket;
	bool is_told = false;
	enum ws_status st = meet(d, &socket, &is_told, &err);
	(void)debug_host_halt(p->host);
	if (is_told) {
		cli_warn("the program has no device");
		return CLI_NO_ANSWER;
	}
	if (st == WS_OK)
		st = ws_cudbg_connect(socket, &d->api, &err);
	if (st == WS_OK)
		st = ws_target_from_api(d->api, WS_CUDBG_SLOTS_MAJOR, WS_CUDBG_SLOTS_MINOR,
					&d->target, &err);
	if (st != WS_OK)
		return cli_fail("the software GPU of the program", &err);
	mark_reports(p, true);
	d->facts.n_launches = UINT64_MAX;
	d->facts.has_program = true;
	debug_host_keep(p->host);
	return CLI_ANSWERED;
}

/* From before its driver begins. */
static int enter_with_driver(struct debugger *d)
{
	struct debug_program *p = d->program;
	debug_host_unmark(p->host, p->begins);
	if (!introduce(p, true)) {
		cli_warn("the program's driver is not one that can be debugged");
		return CLI_NO_ANSWER;
	}
	mark_reports(p, false);
	debug_host_go(p->host);
	int status = connect_to(d);
	if (status == CLI_ANSWERED)
		ws_out_text(&d->cli->out, "The program begins to use CUDA.\n");
	return status;
}

static int start(struct debugger *d)
{
	struct debug_program *p = d->program;
	p->is_ours = true;
	if (!exec_gpu_set(d->setup.device))
		return CLI_NO_ANSWER;
	cli_flush(d->cli);
	p->host = debug_host_start(d->words);
	if (!p->host) {
		cli_warn("%s: %s", d->words[0], strerror(errno));
		return CLI_NO_ANSWER;
	}
	return run_to_driver(d) ? enter_with_driver(d) : CLI_NO_ANSWER;
}

/* ---- attaching: to a program whose driver runs already ---- */

/*
 * By the descriptor that the driver waits at. When it is done it calls a function, for a
 * breakpoint; but a breakpoint would stay if we were killed, and before that it says so in a
 * variable.
 */
static bool ask_by_descriptor(struct debug_program *p, uint32_t descriptor)
{
	const time_t end = now() + MOST_WAIT;
	char path[60];
	bool is_done = false;
	snprintf(path, sizeof path, "/proc/%d/fd/%" PRIu32, (int)debug_host_pid(p->host),
		 descriptor);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, "", 1) == 1;
	if (fd >= 0)
		close(fd);
	while (ok && !is_done && now() <= end) {
		debug_host_go(p->host);
		nap();
		ok = debug_host_look(p->host).event != HOST_ENDED;
		is_done = ok && variable(p, "cudbgDebuggerInitialized", 4);
	}
	return debug_host_halt(p->host) && is_done;
}

/* By a call of a function of the driver. */
static bool ask_by_call(struct debug_program *p, const char *name, uint64_t argument)
{
	uint64_t function = debug_host_symbol(p->host, driver, name);
	return function && debug_host_call(p->host, function, argument);
}

/* Waits for an event of the device while the program runs. */
static bool await_event(struct debugger *d, enum ws_event_kind kind)
{
	const time_t end = now() + MOST_WAIT;
	struct ws_event event;
	struct ws_error err;
	bool found = false;
	debug_host_go(d->program->host);
	while (!found && now() <= end) {
		struct debug_host_news news = debug_host_look(d->program->host);
		if (news.event == HOST_ENDED)
			return false;
		if (news.event != HOST_NOTHING)
			debug_host_go(d->program->host);
		while (!found && ws_target_next_event(d->target, &event, NULL) == WS_OK) {
			if (event.kind == WS_EVENT_FAILED)
				return false;
			found = event.kind == kind;
			if (event.sync &&
			    ws_target_acknowledge(d->target, event.sequence, &err) != WS_OK)
				return false;
		}
		nap();
	}
	return debug_host_halt(d->program->host) && found;
}

/* Waits while the driver is mapped but does not work yet. 1: it begins now; 0: it works; -1: it did
 * neither until Ctrl-C, or the program ended. */
static int await_driver(const struct debugger *d, struct debug_program *p)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	p->begins = debug_host_symbol(p->host, driver, "cudbgPreInit");
	if (!p->begins || !debug_host_mark(p->host, p->begins))
		return -1;
	for (;;) {
		debug_host_go(p->host);
		nanosleep(&pause, NULL);
		struct debug_host_news news = debug_host_look(p->host);
		(void)debug_host_halt(p->host);
		if (news.event == HOST_AT_PLACE && news.place == p->begins)
			return 1;
		if (news.event == HOST_ENDED || debug_interrupted(d))
			return -1;
		int32_t fd = (int32_t)variable(p, "cudbgInitiateDebuggerAttachProcedureFd", 4);
		if (fd >= 0) {
			debug_host_unmark(p->host, p->begins);
			return 0;
		}
	}
}

/* Has the driver let us in. */
static bool ask(struct debugger *d)
{
	struct debug_program *p = d->program;
	const char *how = d->attach_by ? d->attach_by : "descriptor";
	if (strcmp(how, "init") == 0)
		return ask_by_call(p, "cudbgApiInit", 2);
	if (strcmp(how, "call") == 0 ||
	    !debug_host_symbol(p->host, driver, "cudbgInitiateDebuggerAttachProcedureFd"))
		return ask_by_call(p, "cudbgApiAttach", 0);
	return ask_by_descriptor(
		p, (uint32_t)variable(p, "cudbgInitiateDebuggerAttachProcedureFd", 4));
}

/* What follows once we are in. */
static int collect(struct debugger *d)
{
	struct debug_program *p = d->program;
	struct ws_error err;
	if (d->attach_by && strcmp(d->attach_by, "descriptor") != 0)
		(void)d->api->initializeAttachStub();
	if (ws_target_want(d->target, 0, &err) != WS_OK)
		return cli_fail(NULL, &err);
	if (variable(p, "cudbgResumeForAttachDetach", 4) && !await_event(d, WS_EVENT_ATTACHED)) {
		cli_warn("the program's driver did not say which devices it has");
		return CLI_NO_ANSWER;
	}
	(void)set_variable(p, "cudbgIpcFlag", 1);
	d->facts.has_begun = true;
	return CLI_ANSWERED;
}

static int attach(struct debugger *d)
{
	struct debug_program *p = d->program;
	p->host = debug_host_attach((pid_t)d->pid.value);
	if (!p->host) {
		cli_warn("process %" PRIu64 ": %s", d->pid.value, strerror(errno));
		return CLI_NO_ANSWER;
	}
	if (!debug_host_symbol(p->host, driver, "cudbgDebuggerInitialized")) {
		ws_out_text(&d->cli->out, "The program has not loaded the CUDA driver yet.\n");
		cli_flush(d->cli);
		return run_to_driver(d) ? enter_with_driver(d) : CLI_NO_ANSWER;
	}
	if (variable(p, "cudbgDebuggerInitialized", 4)) {
		cli_warn("the program has a debugger already");
		return CLI_NO_ANSWER;
	}
	int begins = 0;
	if ((int32_t)variable(p, "cudbgInitiateDebuggerAttachProcedureFd", 4) < 0) {
		ws_out_text(&d->cli->out, "The program has not begun to use CUDA yet.\n");
		cli_flush(d->cli);
		begins = await_driver(d, p);
	}
	if (begins > 0)
		return enter_with_driver(d);
	if (begins < 0 || !introduce(p, false) || !ask(d)) {
		cli_warn("the program's driver cannot be attached to");
		return CLI_NO_ANSWER;
	}
	int status = connect_to(d);
	return status == CLI_ANSWERED ? collect(d) : status;
}

int debug_program_make(struct debugger *d)
{
	d->program = cli_alloc(1, sizeof *d->program);
	return d->pid.given ? attach(d) : start(d);
}

/* ---- detaching: it goes on as if nobody had been there ---- */

void debug_program_detach(struct debugger *d)
{
	struct debug_program *p = d->program;
	if (!p || !p->host || !d->target || p->is_over || !debug_host_halt(p->host))
		return;
	p->is_ours = false;
	debug_host_unmark(p->host, p->failed);
	debug_host_unmark(p->host, p->broken);
	(void)d->api->clearAttachState();
	(void)ask_by_call(p, "cudbgApiDetach", 0);
	uint32_t resume =
		debug_is_lost(d) ? 0 : (uint32_t)variable(p, "cudbgResumeForAttachDetach", 4);
	if (resume)
		(void)d->api->requestCleanupOnDetach(resume);
	(void)set_variable(p, "cudbgDebuggerInitialized", 0);
	if (resume)
		(void)await_event(d, WS_EVENT_DETACHED);
	(void)set_variable(p, "cudbgIpcFlag", 0);
	p->is_over = true;
}

void debug_program_unmake(struct debugger *d)
{
	struct debug_program *p = d->program;
	if (!p)
		return;
	if (p->host)
		debug_host_leave(p->host, p->is_ours);
	free(p);
	d->program = NULL;
}

/* ---- while it runs ---- */

void debug_program_go(struct debugger *d)
{
	if (d->program)
		debug_host_go(d->program->host);
}

void debug_program_halt(struct debugger *d)
{
	if (d->program)
		(void)debug_host_halt(d->program->host);
}

bool debug_program_is_over(const struct debugger *d)
{
	return d->program && d->program->is_over;
}

bool debug_program_lost(struct debugger *d)
{
	uint32_t n;
	if (d->program && d->api && d->target && !debug_is_lost(d) && !debug_is_over(d) &&
	    d->api->getNumDevices(&n) == CUDBG_ERROR_COMMUNICATION_FAILURE)
		ws_debug_listen(d->session);
	return debug_is_lost(d);
}

/* The driver has noticed that the device is lost. Whether that is news. */
static bool is_news(struct debugger *d)
{
	const bool was_lost = debug_is_lost(d);
	if (internal_error(d->program) != CUDBG_ERROR_COMMUNICATION_FAILURE ||
	    !debug_program_lost(d))
		say_internal_error(d);
	else if (was_lost)
		return false;
	return true;
}

enum ws_debug_program debug_program_look(struct debugger *d)
{
	if (!d->program)
		return WS_DEBUG_PROGRAM_RUNS;
	struct debug_host_news news = debug_host_look(d->program->host);
	switch (news.event) {
	case HOST_NOTHING:
		return WS_DEBUG_PROGRAM_RUNS;
	case HOST_AT_PLACE:
		if (news.place == d->program->broken && !is_news(d)) {
			debug_host_go(d->program->host);
			return WS_DEBUG_PROGRAM_RUNS;
		}
		if (news.place != d->program->broken)
			say_error(d);
		return WS_DEBUG_PROGRAM_STANDS;
	case HOST_SIGNAL:
		say_signal(d, "The program received", news.signal);
		return WS_DEBUG_PROGRAM_STANDS;
	case HOST_EXECUTED:
		ws_out_text(&d->cli->out, "The program has become another one.\n");
		break;
	case HOST_ENDED:
		say_end(d, &news);
		break;
	}
	d->program->is_over = true;
	return WS_DEBUG_PROGRAM_ENDED;
}
