/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose GPU is debugged: started, or attached to, until its driver has let us in; then
 * what it comes to beside its kernels. The variables and functions are those that the debugger API
 * documents for the debugged process.
 */
#include "debug/session.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <warpscope/cudbg.h>
#include <warpscope/meeting.h>
#include <warpscope/provider.h>

#include "debug/host.h"

static const char driver[] = "libcuda.so";

enum { MOST_WAIT = 10 /* seconds for the driver, once it knows of us */ };

struct wsi_program {
	struct wsi_host *host; /* owned */
	bool is_ours;          /* it was started here */
	uint64_t loaded;       /* places, 0: not there: the loader has mapped a library, */
	uint64_t begins;       /* the driver is about to begin, */
	uint64_t failed;       /* a call of it has failed, */
	uint64_t broken;       /* and it has failed itself */
	uint32_t session;
	CUDBGAPI api;             /* owned; NULL until we are in */
	struct ws_target *target; /* owned; over that */
	bool is_over;             /* it has ended, or goes on without us */
};

/* ---- variables of the driver in it ---- */

static bool set_variable(const struct wsi_program *p, const char *name, uint32_t value)
{
	uint64_t at = wsi_host_symbol(p->host, driver, name);
	return at && wsi_host_write(p->host, at, &value, sizeof value);
}

static uint64_t variable(const struct wsi_program *p, const char *name, size_t n_bytes)
{
	uint64_t at = wsi_host_symbol(p->host, driver, name), value = 0;
	return at && wsi_host_read(p->host, at, &value, n_bytes) ? value : 0;
}

/* Who we are; `begins`: and that we are there, last of all. */
static bool introduce_debugger(struct wsi_program *p, bool begins)
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

/* ---- what it came to ---- */

/* Keeps and tells it. */
static void tell_news(struct ws_debug *d, enum ws_debug_news_kind kind, uint64_t number)
{
	d->news.kind = kind;
	d->news.number = number;
	if (kind == WS_DEBUG_EXITED)
		wsi_debug_set_exit_code(d, (int64_t)number);
	const struct ws_debug_notice notice = { .kind = WS_DEBUG_PROGRAM_NEWS, .news = &d->news };
	if (d->client.tell)
		d->client.tell(d->client.user, &notice);
}

static void tell_end(struct ws_debug *d, const struct wsi_host_news *news)
{
	if (news->signal)
		tell_news(d, WS_DEBUG_ENDED_BY_SIGNAL, (uint64_t)news->signal);
	else
		tell_news(d, WS_DEBUG_EXITED, (uint64_t)news->status);
}

static void read_news_text(const struct ws_debug *d, const char *address, const char *size,
			   char ret_text[WS_DEBUG_NEWS_TEXT])
{
	const struct wsi_program *p = d->program;
	const uint64_t at = variable(p, address, 8);
	const uint64_t n = wsi_min_u64(variable(p, size, 8), WS_DEBUG_NEWS_TEXT - 1);
	memset(ret_text, 0, WS_DEBUG_NEWS_TEXT);
	if (!at || !wsi_host_read(p->host, at, ret_text, (size_t)n) || !*ret_text)
		memcpy(ret_text, "?", 2);
}

static void tell_error(struct ws_debug *d)
{
	read_news_text(d, "cudbgReportedDriverApiErrorFuncNameAddr",
		       "cudbgReportedDriverApiErrorFuncNameSize", d->news.function);
	read_news_text(d, "cudbgReportedDriverApiErrorNameAddr",
		       "cudbgReportedDriverApiErrorNameSize", d->news.error);
	read_news_text(d, "cudbgReportedDriverApiErrorStringAddr",
		       "cudbgReportedDriverApiErrorStringSize", d->news.text);
	tell_news(d, WS_DEBUG_CALL_FAILED,
		  variable(d->program, "cudbgReportedDriverApiErrorCode", 8));
}

static uint32_t internal_error(const struct wsi_program *p)
{
	return (uint32_t)variable(p, "cudbgReportedDriverInternalErrorCode", 8);
}

/* ---- until the driver begins ---- */

/* Seconds that no change of the clock moves. */
static time_t debug_now(void)
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

/* The next thing that happens to it; WSI_HOST_NOTHING: Ctrl-C. */
static struct wsi_host_news wait_for_news(struct ws_debug *d, struct wsi_program *p)
{
	wsi_host_go(p->host);
	for (;;) {
		struct wsi_host_news news = wsi_host_look(p->host);
		if (news.event != WSI_HOST_NOTHING || ws_debug_interrupted(d)) {
			(void)wsi_host_halt(p->host);
			return news;
		}
		nap();
	}
}

/* Marks where it is to be stopped next: as soon as the driver is there, where that begins. */
static bool mark_next(struct wsi_program *p)
{
	p->begins = wsi_host_symbol(p->host, driver, "cudbgPreInit");
	if (p->begins) {
		wsi_host_unmark(p->host, p->loaded);
		return wsi_host_mark(p->host, p->begins);
	}
	p->loaded = wsi_host_loader_symbol(p->host, "_dl_debug_state");
	return p->loaded && wsi_host_mark(p->host, p->loaded);
}

/* Lets it run until its driver is about to begin. */
static enum ws_status run_to_driver(struct ws_debug *d, struct ws_error *err)
{
	struct wsi_program *p = d->program;
	bool ok = mark_next(p);
	while (ok) {
		struct wsi_host_news news = wait_for_news(d, p);
		if (news.event == WSI_HOST_NOTHING)
			break;
		if (news.event == WSI_HOST_AT_PLACE && news.place == p->begins)
			return WS_OK;
		if (news.event == WSI_HOST_ENDED) {
			tell_end(d, &news);
			break;
		}
		if (news.event == WSI_HOST_AT_PLACE || news.event == WSI_HOST_EXECUTED)
			ok = mark_next(p);
	}
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
			ok ? "the program has not begun to use CUDA"
			   : "the program cannot load a driver: it has no loader of libraries");
}

/* ---- meeting ---- */

/* Where it stops once the driver works, and where that may not come to work. */
static void mark_reports(struct wsi_program *p, bool works)
{
	p->broken = wsi_host_symbol(p->host, driver, "cudbgReportDriverInternalError");
	if (p->broken)
		(void)wsi_host_mark(p->host, p->broken);
	p->failed = works ? wsi_host_symbol(p->host, driver, "cudbgReportDriverApiError") : 0;
	if (p->failed)
		(void)wsi_host_mark(p->host, p->failed);
}

/* Waits until the driver has somebody listen for us, while the program runs. `*ret_told`: it says
 * why nobody will. */
static enum ws_status meet_driver(struct ws_debug *d, int *ret_socket, bool *ret_told,
				  struct ws_error *err)
{
	struct wsi_program *p = d->program;
	const time_t end = debug_now() + MOST_WAIT;
	const uint32_t uid = wsi_host_uid(p->host);
	enum ws_status st;
	for (;;) {
		st = ws_cudbg_meet(p->session, uid, ret_socket, err);
		if (st != WS_ABSENT || debug_now() > end)
			return st;
		const struct wsi_host_news news = wsi_host_look(p->host);
		if (news.event == WSI_HOST_AT_PLACE && news.place == p->broken) {
			tell_news(d, WS_DEBUG_DRIVER_FAILED, internal_error(p));
			*ret_told = true;
			return st;
		}
		if (news.event == WSI_HOST_ENDED)
			return st;
		wsi_host_go(p->host);
		nap();
	}
}

/* The target of the program, which stands. */
static enum ws_status connect_to(struct ws_debug *d, struct ws_error *err)
{
	struct wsi_program *p = d->program;
	int socket;
	bool is_told = false;
	enum ws_status st = meet_driver(d, &socket, &is_told, err);
	(void)wsi_host_halt(p->host);
	if (is_told)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the program has no device");
	if (st == WS_OK)
		st = ws_cudbg_connect(socket, &p->api, err);
	if (st == WS_OK)
		st = ws_target_from_api(p->api, WS_CUDBG_SLOTS_MAJOR, WS_CUDBG_SLOTS_MINOR,
					&p->target, err);
	if (st != WS_OK)
		return wsi_context(err, st, "the software GPU of the program");
	mark_reports(p, true);
	wsi_host_keep(p->host);
	return WS_OK;
}

/* From before its driver begins. */
static enum ws_status enter_with_driver(struct ws_debug *d, struct ws_error *err)
{
	struct wsi_program *p = d->program;
	wsi_host_unmark(p->host, p->begins);
	if (!introduce_debugger(p, true))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"the program's driver is not one that can be debugged");
	mark_reports(p, false);
	wsi_host_go(p->host);
	const enum ws_status st = connect_to(d, err);
	if (st == WS_OK)
		tell_news(d, WS_DEBUG_CUDA_BEGINS, 0);
	return st;
}

/* ---- attaching: to a program whose driver runs already ---- */

/*
 * By the descriptor that the driver waits at. When it is done it calls a function, for a
 * breakpoint; but a breakpoint would stay if we were killed, and before that it says so in a
 * variable.
 */
static bool ask_by_descriptor(struct wsi_program *p, uint32_t descriptor)
{
	const time_t end = debug_now() + MOST_WAIT;
	char path[60];
	bool is_done = false;
	snprintf(path, sizeof path, "/proc/%d/fd/%" PRIu32, (int)wsi_host_pid(p->host), descriptor);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, "", 1) == 1;
	if (fd >= 0)
		close(fd);
	while (ok && !is_done && debug_now() <= end) {
		wsi_host_go(p->host);
		nap();
		ok = wsi_host_look(p->host).event != WSI_HOST_ENDED;
		is_done = ok && variable(p, "cudbgDebuggerInitialized", 4);
	}
	return wsi_host_halt(p->host) && is_done;
}

/* By a call of a function of the driver. */
static bool ask_by_call(struct wsi_program *p, const char *name, uint64_t argument)
{
	uint64_t function = wsi_host_symbol(p->host, driver, name);
	return function && wsi_host_call(p->host, function, argument);
}

/* Waits for an event of the device while the program runs. */
static bool await_event(struct ws_debug *d, enum ws_event_kind kind)
{
	const time_t end = debug_now() + MOST_WAIT;
	struct ws_event event;
	struct ws_error err;
	bool found = false;
	wsi_host_go(d->program->host);
	while (!found && debug_now() <= end) {
		struct wsi_host_news news = wsi_host_look(d->program->host);
		if (news.event == WSI_HOST_ENDED) {
			tell_end(d, &news);
			d->program->is_over = true;
			return false;
		}
		if (news.event != WSI_HOST_NOTHING)
			wsi_host_go(d->program->host);
		while (!found && ws_target_next_event(d->program->target, &event, NULL) == WS_OK) {
			if (event.kind == WS_EVENT_FAILED)
				return false;
			found = event.kind == kind;
			if (event.sync && ws_target_acknowledge(d->program->target, event.sequence,
								&err) != WS_OK)
				return false;
		}
		nap();
	}
	return wsi_host_halt(d->program->host) && found;
}

/* Waits while the driver is mapped but does not work yet. 1: it begins now; 0: it works; -1: it did
 * neither until Ctrl-C, or the program ended. */
static int await_driver(struct ws_debug *d, struct wsi_program *p)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	p->begins = wsi_host_symbol(p->host, driver, "cudbgPreInit");
	if (!p->begins || !wsi_host_mark(p->host, p->begins))
		return -1;
	for (;;) {
		wsi_host_go(p->host);
		nanosleep(&pause, NULL);
		struct wsi_host_news news = wsi_host_look(p->host);
		(void)wsi_host_halt(p->host);
		if (news.event == WSI_HOST_AT_PLACE && news.place == p->begins)
			return 1;
		if (news.event == WSI_HOST_ENDED || ws_debug_interrupted(d))
			return -1;
		int32_t fd = (int32_t)variable(p, "cudbgInitiateDebuggerAttachProcedureFd", 4);
		if (fd >= 0) {
			wsi_host_unmark(p->host, p->begins);
			return 0;
		}
	}
}

/* Has the driver let us in. */
static bool ask_to_attach(struct wsi_program *p, enum ws_debug_attach_way how)
{
	static const char descriptor[] = "cudbgInitiateDebuggerAttachProcedureFd";
	if (how == WS_DEBUG_BY_INIT)
		return ask_by_call(p, "cudbgApiInit", 2);
	if (how == WS_DEBUG_BY_CALL || !wsi_host_symbol(p->host, driver, descriptor))
		return ask_by_call(p, "cudbgApiAttach", 0);
	return ask_by_descriptor(p, (uint32_t)variable(p, descriptor, 4));
}

/* What follows once we are in. */
static enum ws_status collect_after_attach(struct ws_debug *d, enum ws_debug_attach_way how,
					   struct ws_error *err)
{
	struct wsi_program *p = d->program;
	if (how != WS_DEBUG_BY_DESCRIPTOR)
		(void)p->api->initializeAttachStub();
	const enum ws_status st = ws_target_want(p->target, 0, err);
	if (st != WS_OK)
		return st;
	if (variable(p, "cudbgResumeForAttachDetach", 4) && !await_event(d, WS_EVENT_ATTACHED))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				p->is_over ? "the program has ended"
					   : "the program's driver did not say which devices it "
					     "has");
	(void)set_variable(p, "cudbgIpcFlag", 1);
	return WS_OK;
}

/* `*ret_has_begun`: it may have run kernels. */
static enum ws_status program_attach(struct ws_debug *d, enum ws_debug_attach_way how,
				     bool *ret_has_begun, struct ws_error *err)
{
	struct wsi_program *p = d->program;
	int begins = 0;
	if (!wsi_host_symbol(p->host, driver, "cudbgDebuggerInitialized")) {
		tell_news(d, WS_DEBUG_NO_DRIVER_YET, 0);
		const enum ws_status st = run_to_driver(d, err);
		return st == WS_OK ? enter_with_driver(d, err) : st;
	}
	if (variable(p, "cudbgDebuggerInitialized", 4))
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"the program has a debugger already");
	if ((int32_t)variable(p, "cudbgInitiateDebuggerAttachProcedureFd", 4) < 0) {
		tell_news(d, WS_DEBUG_NO_CUDA_YET, 0);
		begins = await_driver(d, p);
	}
	if (begins > 0)
		return enter_with_driver(d, err);
	if (begins < 0 || !introduce_debugger(p, false) || !ask_to_attach(p, how))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"the program's driver cannot be attached to");
	const enum ws_status st = connect_to(d, err);
	*ret_has_begun = true;
	return st == WS_OK ? collect_after_attach(d, how, err) : st;
}

/* ---- the session's program ---- */

static enum ws_status program_make(struct ws_debug *d, struct wsi_host *host, bool is_ours,
				   struct ws_error *err)
{
	d->program = wsi_zalloc(sizeof *d->program);
	if (!d->program) {
		wsi_host_leave(host, is_ours);
		return wsi_debug_no_memory(err);
	}
	d->program->host = host;
	d->program->is_ours = is_ours;
	return WS_OK;
}

/* The session begins with its target; or ends, as the program could not be entered. */
static enum ws_status program_begin(struct ws_debug *d, enum ws_status st, bool has_begun,
				    struct ws_error *err)
{
	if (st == WS_OK)
		st = wsi_debug_use(d, d->program->target, has_begun, err);
	if (st != WS_OK)
		wsi_program_leave(d);
	return st;
}

enum ws_status ws_debug_start(struct ws_debug *d, char *const argv[], struct ws_error *err)
{
	struct wsi_host *host = wsi_host_start(argv);
	if (!host)
		return wsi_fail_errno(err, "%s", argv[0]);
	enum ws_status st = program_make(d, host, true, err);
	if (st != WS_OK)
		return st;
	st = run_to_driver(d, err);
	if (st == WS_OK)
		st = enter_with_driver(d, err);
	return program_begin(d, st, false, err);
}

enum ws_status ws_debug_attach(struct ws_debug *d, uint32_t pid, enum ws_debug_attach_way how,
			       struct ws_error *err)
{
	struct wsi_host *host = wsi_host_attach((pid_t)pid);
	bool has_begun = false;
	if (!host)
		return wsi_fail_errno(err, "process %" PRIu32, pid);
	enum ws_status st = program_make(d, host, false, err);
	if (st != WS_OK)
		return st;
	st = program_attach(d, how, &has_begun, err);
	return program_begin(d, st, has_begun, err);
}

/* ---- detaching: it goes on as if nobody had been there ---- */

static void leave_driver(struct ws_debug *d)
{
	struct wsi_program *p = d->program;
	wsi_host_unmark(p->host, p->failed);
	wsi_host_unmark(p->host, p->broken);
	(void)p->api->clearAttachState();
	(void)ask_by_call(p, "cudbgApiDetach", 0);
	const bool is_lost = d->state == WS_DEBUG_LOST;
	uint32_t resume = is_lost ? 0 : (uint32_t)variable(p, "cudbgResumeForAttachDetach", 4);
	if (resume)
		(void)p->api->requestCleanupOnDetach(resume);
	(void)set_variable(p, "cudbgDebuggerInitialized", 0);
	if (resume)
		(void)await_event(d, WS_EVENT_DETACHED);
	(void)set_variable(p, "cudbgIpcFlag", 0);
}

bool ws_debug_detach(struct ws_debug *d)
{
	struct wsi_program *p = d->program;
	if (!p || !d->target || p->is_over)
		return true;
	if (wsi_host_halt(p->host))
		leave_driver(d);
	bool has_ended = p->is_over;
	if (!has_ended) {
		const struct wsi_host_news news = wsi_host_look(p->host);
		has_ended = news.event == WSI_HOST_ENDED;
		if (has_ended)
			tell_end(d, &news);
	}
	p->is_ours = false;
	p->is_over = true;
	d->state = WS_DEBUG_OVER;
	return !has_ended;
}

void wsi_program_leave(struct ws_debug *d)
{
	struct wsi_program *p = d->program;
	if (!p)
		return;
	if (!p->is_ours)
		(void)ws_debug_detach(d);
	ws_target_close(p->target);
	ws_cudbg_release(p->api);
	wsi_host_leave(p->host, p->is_ours);
	wsi_free(p);
	d->program = NULL;
}

/* ---- while it runs ---- */

void wsi_program_go(struct ws_debug *d)
{
	if (d->program)
		wsi_host_go(d->program->host);
}

void wsi_program_halt(struct ws_debug *d)
{
	if (d->program)
		(void)wsi_host_halt(d->program->host);
}

bool wsi_program_lost_device(const struct ws_debug *d)
{
	uint32_t n;
	return d->program && !d->program->is_over && d->state != WS_DEBUG_LOST &&
	       d->program->api->getNumDevices(&n) == CUDBG_ERROR_COMMUNICATION_FAILURE;
}

/* The driver has failed itself: tells so, unless it is because of a device whose loss is told.
 * False: that is no news at all. */
static bool tell_internal_error(struct ws_debug *d)
{
	const uint32_t code = internal_error(d->program);
	const bool was_lost = d->state == WS_DEBUG_LOST;
	if (code == CUDBG_ERROR_COMMUNICATION_FAILURE) {
		ws_debug_listen(d);
		if (d->state == WS_DEBUG_LOST)
			return !was_lost;
	}
	tell_news(d, WS_DEBUG_DRIVER_FAILED, code);
	return true;
}

enum wsi_program_state wsi_program_look(struct ws_debug *d)
{
	if (!d->program)
		return WSI_PROGRAM_RUNS;
	struct wsi_program *p = d->program;
	const struct wsi_host_news news = wsi_host_look(p->host);
	switch (news.event) {
	case WSI_HOST_NOTHING:
		return WSI_PROGRAM_RUNS;
	case WSI_HOST_AT_PLACE:
		if (news.place != p->broken) {
			tell_error(d);
		} else if (!tell_internal_error(d)) {
			wsi_host_go(p->host);
			return WSI_PROGRAM_RUNS;
		}
		return WSI_PROGRAM_STANDS;
	case WSI_HOST_SIGNAL:
		tell_news(d, WS_DEBUG_SIGNALED, (uint64_t)news.signal);
		return WSI_PROGRAM_STANDS;
	case WSI_HOST_EXECUTED:
		tell_news(d, WS_DEBUG_BECAME_ANOTHER, 0);
		break;
	case WSI_HOST_ENDED:
		tell_end(d, &news);
		break;
	}
	p->is_over = true;
	return WSI_PROGRAM_ENDED;
}
