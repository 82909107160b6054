/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debugger API for a debugger that opens this library in its own process, once it has said
 * there who it is. Its table is that of libwarpscope, over a socket to the process that has the
 * device of the program (docs/decisions/0082-debuggers-of-a-program.md).
 *
 * A debugger may begin its session while the program stands before cuInit(), where nobody can
 * answer: it has begun then, without a device, and goes on when the program has. Until that the
 * table has no events, and what asks for a device answers UNINITIALIZED; the callback tells that
 * there are events, and with the first that is taken the table is the program's.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <warpscope/cudbg.h>
#include <warpscope/meeting.h>

#include "driver.h"

enum {
	TRIES = 20, /* until a session begins without a device */
	PAUSE_NS = 5000000,
	N_SLOTS = sizeof(struct CUDBGAPI_st) / sizeof(void (*)(void)),
};

/* What is used of libwarpscope. */
static struct {
	__typeof__(ws_cudbg_meet) *meet;
	__typeof__(ws_cudbg_connect) *connect;
	__typeof__(ws_cudbg_release) *release;
	__typeof__(ws_cudbg_ask) *ask;
} library;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUDBGAPI_st table; /* handed out; only calls of it change it */
static CUDBGAPI real;
static uint32_t asked_major, asked_minor;
static pthread_t thread;
static bool has_thread;
static atomic_bool ends;
static struct { /* what was set before */
	CUDBGNotifyNewEventCallback callback;
	CUDBGNotifyNewEventCallback31 callback31;
	void *data;
} notify;

static void nap(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	nanosleep(&pause, NULL);
}

static bool provided_find(void *handle, const char *name, void *ret_function)
{
	void *at = dlsym(handle, name);
	memcpy(ret_function, &at, sizeof at);
	return at != NULL;
}

/* The library lies where the two are installed, or were built; once. */
static bool load_provider(void)
{
	static const char ours[] = "/warpscope/software-gpu";
	char path[4096];
	Dl_info self;
	if (library.ask)
		return true;
	if (!dladdr((void *)(uintptr_t)&table, &self))
		return false;
	const char *slash = strrchr(self.dli_fname, '/');
	size_t len = slash ? (size_t)(slash - self.dli_fname) : 0;
	bool is_installed = len >= sizeof ours - 1 &&
			    memcmp(slash - (sizeof ours - 1), ours, sizeof ours - 1) == 0;
	int n = snprintf(path, sizeof path, "%.*s/%s/libwarpscope.so.0", (int)len, self.dli_fname,
			 is_installed ? "../.." : "../src");
	if (!slash || n < 0 || (size_t)n >= sizeof path)
		return false;
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return handle && provided_find(handle, "ws_cudbg_meet", &library.meet) &&
	       provided_find(handle, "ws_cudbg_connect", &library.connect) &&
	       provided_find(handle, "ws_cudbg_release", &library.release) &&
	       provided_find(handle, "ws_cudbg_ask", &library.ask);
}

static CUDBGResult provider_initialize(void);
static CUDBGResult finalize(void);
static CUDBGResult keep_callback(CUDBGNotifyNewEventCallback callback, void *data);
static CUDBGResult keep_callback31(CUDBGNotifyNewEventCallback31 callback, void *data);

/* Makes the table that of the program, if there is one; NULL: there is not. */
static CUDBGAPI settle_provider(void)
{
	pthread_mutex_lock(&lock);
	CUDBGAPI of_program = real;
	if (of_program) {
		table = *of_program;
		table.initialize = provider_initialize;
		table.finalize = finalize;
		table.setNotifyNewEventCallback = keep_callback;
		table.setNotifyNewEventCallback31 = keep_callback31;
	}
	pthread_mutex_unlock(&lock);
	return of_program;
}

/* ---- before there is a device ---- */

static CUDBGResult not_yet(void)
{
	return CUDBG_ERROR_UNINITIALIZED;
}

static CUDBGResult nothing(void)
{
	return CUDBG_SUCCESS;
}

static CUDBGResult no_event(CUDBGEventQueueType type, CUDBGEvent *event)
{
	CUDBGAPI of_program = settle_provider();
	return of_program ? of_program->getNextEvent(type, event) : CUDBG_ERROR_NO_EVENT_AVAILABLE;
}

static CUDBGResult no_devices(uint32_t *ret_n)
{
	CUDBGAPI of_program = settle_provider();
	if (of_program)
		return of_program->getNumDevices(ret_n);
	if (!ret_n)
		return CUDBG_ERROR_INVALID_ARGS;
	*ret_n = 0;
	return has_thread ? CUDBG_SUCCESS : CUDBG_ERROR_UNINITIALIZED;
}

static CUDBGResult capabilities(CUDBGCapabilityFlags *ret)
{
	if (!ret)
		return CUDBG_ERROR_INVALID_ARGS;
	*ret = (CUDBGCapabilityFlags)(CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING |
				      CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				      CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS |
				      CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS |
				      CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS |
				      CUDBG_DEBUGGER_CAPABILITY_COLLECT_CPU_CALL_STACK_FOR_KERNEL_LAUNCHES |
				      CUDBG_DEBUGGER_CAPABILITY_FLUSH_PRINTF_ON_SUSPEND |
				      CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH);
	return CUDBG_SUCCESS;
}

static CUDBGResult keep_callback(CUDBGNotifyNewEventCallback callback, void *data)
{
	pthread_mutex_lock(&lock);
	notify.callback = callback;
	notify.data = data;
	CUDBGResult result = real ? real->setNotifyNewEventCallback(callback, data) : CUDBG_SUCCESS;
	pthread_mutex_unlock(&lock);
	return result;
}

static CUDBGResult keep_callback31(CUDBGNotifyNewEventCallback31 callback, void *data)
{
	pthread_mutex_lock(&lock);
	notify.callback31 = callback;
	notify.data = data;
	CUDBGResult result =
		real ? real->setNotifyNewEventCallback31(callback, data) : CUDBG_SUCCESS;
	pthread_mutex_unlock(&lock);
	return result;
}

/* The table as it is without a device. */
static void clear(void)
{
	CUDBGResult (*slot)(void) = not_yet;
	for (size_t i = 0; i < N_SLOTS; i++)
		memcpy((char *)&table + i * sizeof slot, &slot, sizeof slot);
	table.initialize = provider_initialize;
	table.finalize = finalize;
	table.getNumDevices = no_devices;
	table.getNextEvent = no_event;
	table.acknowledgeSyncEvents = nothing;
	table.initializeAttachStub = nothing;
	table.getSupportedDebuggerCapabilities = capabilities;
	table.setNotifyNewEventCallback = keep_callback;
	table.setNotifyNewEventCallback31 = keep_callback31;
}

/* ---- a session ---- */

/* Whether the program's device could be reached, and the session begins. */
static bool reach_device(CUDBGResult *ret_result)
{
	struct ws_error err;
	int socket;
	CUDBGAPI made;
	*ret_result = CUDBG_ERROR_ATTACH_NOT_POSSIBLE;
	enum ws_status st =
		library.meet(*(volatile uint32_t *)&cudbgSessionId, geteuid(), &socket, &err);
	if (st != WS_OK || library.connect(socket, &made, &err) != WS_OK)
		return st != WS_ABSENT; /* it will not be better later */
	library.ask(made, asked_major, asked_minor);
	*ret_result = made->initialize();
	if (*ret_result != CUDBG_SUCCESS) {
		library.release(made);
		return true;
	}
	pthread_mutex_lock(&lock);
	real = made;
	if (notify.callback)
		(void)made->setNotifyNewEventCallback(notify.callback, notify.data);
	if (notify.callback31)
		(void)made->setNotifyNewEventCallback31(notify.callback31, notify.data);
	pthread_mutex_unlock(&lock);
	return true;
}

static void *reach_later(void *unused)
{
	CUDBGResult result;
	(void)unused;
	while (!atomic_load(&ends) && !reach_device(&result))
		nap();
	return NULL;
}

static CUDBGResult provider_initialize(void)
{
	CUDBGResult result = CUDBG_SUCCESS;
	if (settle_provider() || has_thread)
		return CUDBG_SUCCESS;
	if (!load_provider())
		return CUDBG_ERROR_INITIALIZATION_FAILURE;
	for (unsigned i = 0; i < TRIES; i++) {
		if (reach_device(&result)) {
			(void)settle_provider();
			return result;
		}
		nap();
	}
	atomic_store(&ends, false);
	has_thread = pthread_create(&thread, NULL, reach_later, NULL) == 0;
	return has_thread ? CUDBG_SUCCESS : CUDBG_ERROR_OS_RESOURCES;
}

static CUDBGResult finalize(void)
{
	CUDBGResult result = CUDBG_SUCCESS;
	const bool began_late = has_thread;
	atomic_store(&ends, true);
	if (has_thread)
		pthread_join(thread, NULL);
	has_thread = false;
	pthread_mutex_lock(&lock);
	if (!real && !began_late)
		result = CUDBG_ERROR_UNINITIALIZED;
	CUDBGAPI gone = real;
	real = NULL;
	clear();
	memset(&notify, 0, sizeof notify);
	pthread_mutex_unlock(&lock);
	if (gone) {
		result = gone->finalize();
		library.release(gone);
	}
	return result;
}

/* ---- what a debugger looks up ---- */

CUDBGResult cudbgGetAPIVersion(uint32_t *major, uint32_t *minor, uint32_t *rev)
{
	if (!major || !minor || !rev)
		return CUDBG_ERROR_INVALID_ARGS;
	*major = CUDBG_API_VERSION_MAJOR;
	*minor = CUDBG_API_VERSION_MINOR;
	*rev = CUDBG_API_VERSION_REVISION;
	return CUDBG_SUCCESS;
}

CUDBGResult cudbgGetAPI(uint32_t major, uint32_t minor, uint32_t rev, CUDBGAPI *api)
{
	(void)rev;
	if (!api)
		return CUDBG_ERROR_INVALID_ARGS;
	if (major != 12 && major != 13)
		return CUDBG_ERROR_INCOMPATIBLE_API;
	pthread_mutex_lock(&lock);
	asked_major = major;
	asked_minor = minor;
	if (!table.initialize)
		clear();
	pthread_mutex_unlock(&lock);
	*api = &table;
	return CUDBG_SUCCESS;
}
