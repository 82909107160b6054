/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's side of live debugging: the variables and functions that the debugger API documents
 * for it. Debuggers find them by their names, write who they are, and then
 *
 *     set cudbgIpcFlag before cuInit() is done: the program was started by a debugger
 *     write to a descriptor, or call cudbgApiInit() or cudbgApiAttach(): attached to it later
 *
 * A thread to which a debugger has lent itself for a call may have been in the middle of anything,
 * and all others may stand still: no lock is taken here, and no memory.
 */
#define _GNU_SOURCE /* dladdr, gettid, pipe2 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <warpscope/cudadebugger.h>

#include "driver.h"

uint32_t cudbgIpcFlag, cudbgRpcEnabled, cudbgApiClientPid, cudbgApiClientRevision, cudbgSessionId;
uint32_t cudbgAttachHandlerAvailable, cudbgEnableLaunchBlocking, cudbgResumeForAttachDetach;
uint32_t cudbgDebuggerInitialized, cudbgDebuggerCapabilities, cudbgUseExternalDebugger = 1;
int32_t cudbgInitiateDebuggerAttachProcedureFd = -1;
uint32_t CUDBG_I_AM_DEBUGGER;
/* Documented by their names only; nothing here is behind them. */
CUDBG_EXPORT extern char cudbgInjectionPath[4096];
char cudbgInjectionPath[4096];
CUDBG_EXPORT extern uint32_t cudbgEnablePreemptionDebugging;
uint32_t cudbgEnablePreemptionDebugging;

static int control = -1, runs = -1, dumps = -1, gone = -1, asked = -1;
static atomic_uchar session; /* number of the last, as the agent counts */

/* What a debugger writes, the compiler does not see. */
static uint32_t read_variable(const uint32_t *variable)
{
	return __atomic_load_n(variable, __ATOMIC_SEQ_CST);
}

static void write_variable(uint32_t *variable, uint32_t value)
{
	__atomic_store_n(variable, value, __ATOMIC_SEQ_CST);
}

BREAK_HERE(cudbgPreInit)
BREAK_HERE(cudbgReportAttachProcedureFinished)

void debug_connected(const int *ends)
{
	control = ends[0];
	runs = ends[WIRE_RUNS - WIRE_DEBUG];
	dumps = ends[WIRE_DUMPS - WIRE_DEBUG];
	gone = ends[WIRE_GONE - WIRE_DEBUG];
}

uint32_t debug_tid(void)
{
	static _Thread_local uint32_t tid;
	if (tid == 0)
		tid = (uint32_t)gettid();
	return tid;
}

/* Announces the debugger to the agent. `waits`: until it listens. */
static void announce(bool waits)
{
	struct wire_debug debug = {
		.client = read_variable(&cudbgApiClientPid),
		.session = read_variable(&cudbgSessionId),
		.revision = read_variable(&cudbgApiClientRevision),
		.capabilities = read_variable(&cudbgDebuggerCapabilities),
		.is_blocking = read_variable(&cudbgEnableLaunchBlocking),
		.waits = waits,
		.contexts = driver_contexts(),
		.tid = debug_tid(),
		.is_rpc = read_variable(&cudbgRpcEnabled),
	};
	struct wire_debugged reply;
	/* not yet initialized: it tries again */
	int32_t result = CUDBG_ERROR_ATTACH_NOT_POSSIBLE;
	if (control >= 0 && debug.client != 0)
		result = wire_send(control, &debug, sizeof debug, NULL, 0, -1) &&
					 wire_receive(control, &reply, sizeof reply, NULL)
				 ? reply.result
				 : CUDBG_ERROR_COMMUNICATION_FAILURE;
	__atomic_store_n(&cudbgReportedDriverInternalErrorCode, (uint64_t)result, __ATOMIC_SEQ_CST);
	if (result == CUDBG_SUCCESS) {
		session = reply.session;
		write_variable(&cudbgResumeForAttachDetach, !waits && debug.contexts > 0);
		write_variable(&cudbgDebuggerInitialized, 1);
	}
}

void cudbgApiInit(uint32_t arg)
{
	(void)arg; /* 2, in the procedure that calls it */
	announce(false);
}

void cudbgApiAttach(void)
{
	announce(false);
}

/* What is left to do the agent does when it is asked to (requestCleanupOnDetach). */
void cudbgApiDetach(void)
{
	write_variable(&cudbgResumeForAttachDetach, driver_contexts() > 0);
}

/* ---- a debugger that comes later, or goes ---- */

/* One that was killed leaves its breakpoints, which nobody would take care of. */
bool debug_has_left(void)
{
	return session != 0 && !read_variable(&cudbgDebuggerInitialized);
}

static void *wait_for_debuggers(void *unused)
{
	struct pollfd polled[] = {
		{ asked, POLLIN, 0 },
		{ gone, POLLIN, 0 },
		{ runs, POLLIN, 0 },
		{ dumps, POLLIN, 0 },
	};
	unsigned char byte;
	(void)unused;
	for (;;) {
		if (poll(polled, sizeof polled / sizeof polled[0], -1) < 0)
			continue;
		if (polled[1].revents & POLLIN && read(gone, &byte, 1) == 1) {
			if (byte == session) {
				write_variable(&cudbgDebuggerInitialized, 0);
				write_variable(&cudbgIpcFlag, 0);
			}
		} else if (polled[1].revents) { /* the agent is lost, and so is all of this */
			return NULL;
		}
		if (polled[2].revents & POLLIN && read(runs, &byte, 1) == 1)
			(void)!send(runs, &byte, 1, MSG_NOSIGNAL);
		if (polled[3].revents & POLLIN && read(dumps, &byte, 1) == 1) {
			coredump_tell(byte);
			(void)!send(dumps, &byte, 1, MSG_NOSIGNAL);
		}
		if (polled[0].revents & POLLIN && read(asked, &byte, 1) == 1) {
			announce(false);
			cudbgReportAttachProcedureFinished();
		}
	}
}

/* Under the program's signals none may come to this thread. */
static void start_capability_thread(void)
{
	int ends[2];
	sigset_t all, before;
	pthread_attr_t small;
	pthread_t thread;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	asked = ends[0];
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&small);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	bool ok = pthread_create(&thread, &small, wait_for_debuggers, NULL) == 0;
	pthread_attr_destroy(&small);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ok) {
		cudbgAttachHandlerAvailable = 1;
		cudbgInitiateDebuggerAttachProcedureFd = ends[1];
	} else {
		close(ends[0]);
		close(ends[1]);
	}
}

void debug_begin(void)
{
	if (read_variable(&cudbgIpcFlag))
		announce(true);
	start_capability_thread();
}

void debug_tell(enum wire_change change)
{
	const struct wire_context context = { (uint32_t)change, debug_tid() };
	uint64_t word[WIRE_WORDS] = { 0 };
	if (read_variable(&cudbgDebuggerInitialized))
		(void)driver_call(WIRE_CONTEXT, word, &context, sizeof context, -1, NULL, NULL);
}

/* ---- what a debugger may want while the program runs ---- */

/* Whether a debugger wants this; what it wants may have changed. */
static bool is_capability_wanted(uint32_t capability)
{
	static atomic_uint told;
	if (!read_variable(&cudbgDebuggerInitialized))
		return false;
	const uint32_t wanted = read_variable(&cudbgDebuggerCapabilities);
	if (atomic_exchange(&told, wanted) != wanted) {
		uint64_t word[WIRE_WORDS] = { wanted };
		(void)driver_call(WIRE_WANTED, word, NULL, 0, -1, NULL, NULL);
	}
	return (wanted & capability) != 0;
}

uint32_t debug_stack(uint64_t ret_stack[DEBUG_STACK])
{
	enum { OURS = 8 /* frames of this library, at most */ };
	void *frames[DEBUG_STACK + OURS];
	Dl_info self, of;
	uint32_t n = 0;
	if (!is_capability_wanted(
		    CUDBG_DEBUGGER_CAPABILITY_COLLECT_CPU_CALL_STACK_FOR_KERNEL_LAUNCHES) ||
	    !dladdr((void *)(uintptr_t)&control, &self))
		return 0;
	int n_frames = backtrace(frames, DEBUG_STACK + OURS), from = 0;
	for (int i = 0; i < n_frames && i < OURS; i++)
		if (dladdr(frames[i], &of) && of.dli_fbase == self.dli_fbase)
			from = i + 1;
	for (int i = from; i < n_frames && n < DEBUG_STACK; i++)
		ret_stack[n++] = (uintptr_t)frames[i];
	return n;
}

void debug_flush(void)
{
	if (is_capability_wanted(CUDBG_DEBUGGER_CAPABILITY_FLUSH_PRINTF_ON_SUSPEND))
		driver_print_out();
}

void debug_log(const char *function, const char *name, const char *text)
{
	uint64_t word[WIRE_WORDS] = { debug_tid() };
	char line[256];
	if (!is_capability_wanted(CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS))
		return;
	int n = snprintf(line, sizeof line, "%s: %s: %s", function, name ? name : "?",
			 text ? text : "?");
	if (n > 0)
		(void)driver_call(WIRE_LOG, word, line,
				  (size_t)n < sizeof line ? (size_t)n : sizeof line - 1, -1, NULL,
				  NULL);
}
