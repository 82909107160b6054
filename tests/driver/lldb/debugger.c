/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debugger of a program's GPU, in the order in which LLDB's server for NVIDIA GPUs calls the
 * debugger API: the second way into it, beside that of cuda-gdb. It opens the driver's library in
 * its own process, and uses nothing but that library and ptrace.
 *
 *   lldb [-d] FUNCTION PROGRAM...
 *
 * It stops once in the device function and shows who stands there, goes on to a fault or to the
 * end, and detaches from a program that has failed; -d: from the first stop on.
 */
#define _GNU_SOURCE /* pipe2 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <warpscope/cudadebugger.h>

#include "image.h"
#include "process.h"
#include "state.h"

enum {
	CAPABILITIES = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
		       CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS,
	MOST_WAIT_MS = 5000,
};

static struct process program;
static CUDBGAPI api;
static void *driver; /* the library, in this process */
static int wake[2], children;
static const char *function; /* where to stop; NULL: no more */

struct happened {
	bool stopped, faulted, detached;
};

/* ---- the variables of the driver ---- */

static uint64_t place(const char *name)
{
	return process_place(&program, dlsym(driver, name));
}

static bool set(const char *name, uint32_t value)
{
	uint64_t at = place(name);
	return at && process_write(&program, at, &value, sizeof value);
}

/* ... which the library in this process is told, too: by them the two find each other. */
static bool set_both(const char *name, uint32_t value)
{
	uint32_t *here = dlsym(driver, name);
	if (here)
		*here = value;
	return set(name, value);
}

static uint32_t get(const char *name)
{
	uint32_t value = 0;
	uint64_t at = place(name);
	return at && process_read(&program, at, &value, sizeof value) ? value : 0;
}

/* ---- until the program comes to cuInit() ---- */

static bool open_driver(void)
{
	char path[PATH_MAX];
	if (!process_file(&program, "/libcuda.so", path, sizeof path))
		return false;
	driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!driver)
		fprintf(stderr, "%s\n", dlerror());
	return driver != NULL;
}

/* The loader of libraries calls an empty function whenever it has mapped some. */
static bool run_to_driver(char *const argv[])
{
	setenv("CUDA_MODULE_LOADING", "EAGER", 1); /* all code is there when its image is */
	if (!process_start(&program, argv))
		return false;
	const void *loaded = dlsym(RTLD_DEFAULT, "_dl_debug_state");
	enum process_news news = PROCESS_BEGINS;
	bool is_loaded = false;
	while (news != PROCESS_ENDED) {
		if (is_loaded && news == PROCESS_AT_MARK)
			return true;
		if (news == PROCESS_AT_MARK)
			process_return(&program);
		is_loaded = open_driver();
		if (!process_mark(&program,
				  is_loaded ? place("cuInit") : process_place(&program, loaded)))
			break;
		process_go(&program);
		news = process_look(&program, true);
	}
	fprintf(stderr, "the program does not use the CUDA driver\n");
	return false;
}

/* ---- a session begins: the program stands at cuInit() ---- */

static void called(void *data)
{
	(void)data; /* here only events could be taken: the loop does that */
	(void)!write(wake[1], "", 1);
}

static bool introduce(uint32_t revision)
{
	return set_both("cudbgApiClientPid", (uint32_t)getpid()) &&
	       set_both("cudbgApiClientRevision", revision) && set_both("cudbgSessionId", 0) &&
	       set("cudbgDebuggerCapabilities", CAPABILITIES) &&
	       set("cudbgReportDriverApiErrorFlags",
		   CUDBG_REPORT_DRIVER_API_ERROR_FLAGS_SUPPRESS_NOT_READY) &&
	       set("cudbgIpcFlag", 1); /* last: who comes, must be known */
}

static CUDBGResult initialize(void)
{
	CUDBGResult result = api->initialize();
	for (long ms = 100, all = 0;
	     result == CUDBG_ERROR_ATTACH_NOT_POSSIBLE && all < MOST_WAIT_MS;
	     all += ms, ms = ms < 500 ? 2 * ms : 1000) {
		(void)poll(NULL, 0, (int)ms);
		result = api->initialize();
	}
	return result;
}

static bool begin(void)
{
	__typeof__(cudbgGetAPIVersion) *version;
	__typeof__(cudbgGetAPI) *get_api;
	uint32_t major = 0, minor = 0, revision = 0;
	CUDBGCapabilityFlags can = CUDBG_DEBUGGER_CAPABILITY_NONE;
	*(void **)&version = dlsym(driver, "cudbgGetAPIVersion");
	*(void **)&get_api = dlsym(driver, "cudbgGetAPI");
	if (!version || !get_api ||
	    failed("cudbgGetAPIVersion", version(&major, &minor, &revision)))
		return false;
	if (major != CUDBG_API_VERSION_MAJOR) {
		fprintf(stderr, "the driver has another API: %u.%u\n", major, minor);
		return false;
	}
	if (minor > CUDBG_API_VERSION_MINOR)
		minor = CUDBG_API_VERSION_MINOR;
	if (revision > CUDBG_API_VERSION_REVISION)
		revision = CUDBG_API_VERSION_REVISION;
	if (!introduce(revision)) {
		fprintf(stderr, "the driver cannot be debugged\n");
		return false;
	}
	if (failed("cudbgGetAPI", get_api(major, minor, revision, &api)) ||
	    failed("initialize", initialize()) ||
	    failed("getSupportedDebuggerCapabilities", api->getSupportedDebuggerCapabilities(&can)))
		return false;
	if ((can & CAPABILITIES) != CAPABILITIES) {
		fprintf(stderr, "the driver does not tell of stops\n");
		return false;
	}
	return !failed("setNotifyNewEventCallback31",
		       api->setNotifyNewEventCallback31(called, NULL));
}

/* ---- events ---- */

/* The device runs on; who caused the event waits until it is acknowledged. */
static void take_image(uint32_t dev, uint64_t handle, uint64_t n)
{
	void *bytes = malloc(n ? n : 1);
	if (bytes && !failed("getElfImageByHandle",
			     api->getElfImageByHandle(dev, handle, CUDBG_ELF_IMAGE_TYPE_RELOCATED,
						      bytes, n)))
		image_add(handle, bytes, (size_t)n);
	else
		free(bytes);
	const uint64_t place = function ? image_function(function) : 0;
	if (place && !failed("setBreakpoint", api->setBreakpoint(dev, place)))
		printf("breakpoint at %s\n", function);
}

/* An event; `ret` is what the loop has to know of it. */
static void take_event(const CUDBGEvent *event, struct happened *ret)
{
	switch ((unsigned)event->kind) {
	case CUDBG_EVENT_CTX_CREATE:
		printf("context created\n");
		break;
	case CUDBG_EVENT_CTX_DESTROY:
		printf("context destroyed\n");
		break;
	case CUDBG_EVENT_ELF_IMAGE_LOADED:
		printf("image loaded\n");
		take_image(event->cases.elfImageLoaded.dev, event->cases.elfImageLoaded.handle,
			   event->cases.elfImageLoaded.size);
		break;
	case CUDBG_EVENT_ELF_IMAGE_UNLOADED:
		printf("image unloaded\n");
		image_drop(event->cases.elfImageUnloaded.handle);
		break;
	case CUDBG_EVENT_KERNEL_READY:
		printf("grid %" PRIu64 " ready\n", event->cases.kernelReady.gridId);
		break;
	case CUDBG_EVENT_KERNEL_FINISHED:
		printf("grid %" PRIu64 " finished\n", event->cases.kernelFinished.gridId);
		break;
	case CUDBG_EVENT_ALL_DEVICES_SUSPENDED:
		ret->stopped = true;
		ret->faulted = event->cases.allDevicesSuspended.faultedDevicesMask != 0;
		break;
	case CUDBG_EVENT_INTERNAL_ERROR: /* nothing will answer any more */
		printf("the device is lost\n");
		break;
	case CUDBG_EVENT_DETACH_COMPLETE:
		ret->detached = true;
		break;
	default:
		printf("event %d\n", (int)event->kind);
		break;
	}
}

/* All events that there are; those that hold up a thread of the program are acknowledged at once.
 */
static struct happened take_events(void)
{
	struct happened happened = { 0 };
	CUDBGEvent event;
	bool any = false;
	while (api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event) == CUDBG_SUCCESS &&
	       event.kind != CUDBG_EVENT_INVALID)
		take_event(&event, &happened);
	for (; api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS &&
	       event.kind != CUDBG_EVENT_INVALID;
	     any = true)
		take_event(&event, &happened);
	const CUDBGResult result = any ? api->acknowledgeSyncEvents() : CUDBG_SUCCESS;
	if (result != CUDBG_ERROR_COMMUNICATION_FAILURE) /* as when the program has ended */
		(void)failed("acknowledgeSyncEvents", result);
	return happened;
}

/* Waits until the API has called, or something happened to the program. False: for too long. */
static bool await(int ms)
{
	struct pollfd polled[] = { { wake[0], POLLIN, 0 }, { children, POLLIN, 0 } };
	struct signalfd_siginfo about;
	char bytes[64];
	int n = poll(polled, 2, ms);
	if (n > 0 && polled[0].revents)
		(void)!read(wake[0], bytes, sizeof bytes);
	if (n > 0 && polled[1].revents)
		(void)!read(children, &about, sizeof about);
	return n != 0;
}

/* ---- stops, and the end ---- */

/* RUNNING_DEVICE and SUSPENDED_DEVICE say that it is so already. */
static void resume(uint32_t dev)
{
	CUDBGResult result = api->resumeDevice(dev);
	if (result != CUDBG_ERROR_RUNNING_DEVICE)
		(void)failed("resumeDevice", result);
}

static void show_stop(uint32_t dev)
{
	CUDBGResult result = api->suspendDevice(dev);
	if (result == CUDBG_ERROR_SUSPENDED_DEVICE || !failed("suspendDevice", result))
		show_device(api, dev);
}

static void remove_breakpoint(uint32_t dev)
{
	const uint64_t place = image_function(function);
	if (place)
		(void)failed("unsetBreakpoint", api->unsetBreakpoint(dev, place));
}

static void for_devices(void (*call)(uint32_t dev))
{
	uint32_t n = 0;
	if (!failed("getNumDevices", api->getNumDevices(&n)))
		for (uint32_t dev = 0; dev < n; dev++)
			call(dev);
}

/* Everything goes on, and nobody in the program knows that somebody was there. */
static bool detach(void)
{
	struct happened happened = { 0 };
	uint32_t resumes = 0;
	if (!process_stop(&program) || failed("clearAttachState", api->clearAttachState()) ||
	    !process_call(&program, place("cudbgApiDetach")))
		return false;
	resumes = get("cudbgResumeForAttachDetach");
	if (resumes && failed("requestCleanupOnDetach", api->requestCleanupOnDetach(resumes)))
		return false;
	(void)set("cudbgDebuggerCapabilities", 0);
	(void)set("cudbgDebuggerInitialized", 0);
	process_go(&program);
	while (resumes && !happened.detached && await(MOST_WAIT_MS)) {
		happened = take_events();
		if (process_look(&program, false) == PROCESS_ENDED)
			break;
	}
	(void)set("cudbgIpcFlag", 0);
	printf("detached\n");
	return !resumes || happened.detached || program.has_ended;
}

/* Until the program ends, or is detached from. */
static bool debug(bool detaches)
{
	process_go(&program);
	for (;;) {
		(void)await(-1);
		struct happened happened = take_events();
		if (happened.stopped) {
			printf("stopped: %s\n", happened.faulted ? "a fault" : "a breakpoint");
			for_devices(show_stop);
			if (function)
				for_devices(remove_breakpoint);
			function = NULL; /* once is enough */
			if (happened.faulted || detaches)
				return detach();
			for_devices(resume);
		}
		if (process_look(&program, false) == PROCESS_ENDED)
			return true;
	}
}

int main(int argc, char **argv)
{
	const bool detaches = argc > 1 && strcmp(argv[1], "-d") == 0;
	sigset_t child;
	if (argc < 3 + detaches) {
		fprintf(stderr, "usage: %s [-d] FUNCTION PROGRAM...\n", argv[0]);
		return 2;
	}
	function = argv[1 + detaches];
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!run_to_driver(argv + 2 + detaches))
		return 2;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	children = signalfd(-1, &child, SFD_CLOEXEC);
	if (children < 0 || pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0 || !begin() ||
	    !debug(detaches))
		return 2;
	process_leave(&program);
	(void)api->finalize();
	if (!program.has_ended) /* it is still a child of this process */
		(void)waitpid(program.pid, &program.status, 0);
	printf("the program has ended with status %d\n", WIFEXITED(program.status)
								 ? WEXITSTATUS(program.status)
								 : 128 + WTERMSIG(program.status));
	return 0;
}
