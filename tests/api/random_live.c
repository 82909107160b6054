/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls of the API over a device that runs, while a host thread launches kernels that part,
 * wait, spin, hang and fault. A model says what each answer may be: whether the device stands,
 * which breakpoints there are, how many events may still come. Clients end at any point; then the
 * device must be sound.
 *
 * With two devices they are one process, each with a host thread of its own: a device that stops by
 * itself stops the other.
 *
 * usage: random_live CALLS SEED KERNELS DEVICES    a fatbin of tests/sim/kernels/live.cu; 1 or 2
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/cudbg.h>
#include <warpscope/join.h>

#include "harness.h"
#include "route.h"
#include "target/device.h"

/* It is no code of the library. */
#undef abort
#undef printf

enum { SMS = 4, WARPS = 64, LANES = 32, ROUND = 400, MAX_BREAKPOINTS = 12, DEVICES = 2 };

/* Whether the device stands, as far as anybody can know. */
enum state {
	STANDS,
	RUNS,      /* nothing but a call can stop it */
	MAY_STAND, /* it ran, and may have stopped by itself */
};

struct breakpoint {
	CUDBGBreakpointHandle handle;
	uint32_t dev;
	uint64_t pc;
	bool enabled;
};

static struct {
	enum state state[DEVICES];
	bool can_fault, at_launch, legacy;
	uint32_t legacy_dev;
	struct breakpoint breakpoints[MAX_BREAKPOINTS];
	unsigned n_breakpoints;
	CUDBGBreakpointHandle last_handle;
	unsigned stops_due;              /* events of stops and steps that may still come */
	uint64_t last_finished[DEVICES]; /* grid */
} model;

static const char *kernels;
static struct device devices[DEVICES];
static struct ws_target *target; /* of the only device, or of both */
static uint32_t n_devices, dev;  /* `dev`: that a call is about */
static CUDBGAPI api;
static uint64_t seed, n_calls;
static unsigned slot_counts[WSI_API_SLOTS];
static uint64_t entry;
static bool is_gone; /* the client, whose calls tell of nothing any more */
static bool is_next; /* the calls are those of the one that comes after it */
static unsigned n_gone, n_faults, n_hangs;

static void wrong(const char *format, ...) WS_PRINTF(1, 2);

static void wrong(const char *format, ...)
{
	va_list args;
	if (is_gone)
		return;
	printf("not ok 1 - random calls of a running device\n# call %llu: ",
	       (unsigned long long)n_calls);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	abort();
}

static uint32_t pick(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static const char *text_of(CUDBGResult result)
{
	return cudbgGetErrorString(result);
}

static CUDBGResult note(unsigned slot, CUDBGResult result)
{
	const struct wsi_api_fn *fn = &wsi_api_functions[slot];
	n_calls += !is_next;
	slot_counts[slot]++;
	is_gone = is_gone ||
		  (route_is_cut() && !is_next && result == CUDBG_ERROR_COMMUNICATION_FAILURE);
	if ((unsigned)result >= 64 || !((fn->codes | fn->extensions) >> result & 1))
		wrong("%s answered %s, which the tables do not list", fn->name, text_of(result));
	return result;
}

#define CALL(name, ...) note(SLOT(name), api->name(__VA_ARGS__))
#define CALL0(name) note(SLOT(name), api->name())

static void must(CUDBGResult result, CUDBGResult expected, const char *what)
{
	if (result != expected)
		wrong("%s: %s, not %s", what, text_of(result), text_of(expected));
}

/* ---- the state ---- */

static bool may_stop(void)
{
	bool any = model.can_fault || model.at_launch || model.legacy;
	for (unsigned i = 0; i < model.n_breakpoints; i++)
		any = any || model.breakpoints[i].enabled;
	return any;
}

/* What stops one device stops all; and one that was asked to stop may yet do so. */
static void may_stop_now(void)
{
	bool any = may_stop();
	for (uint32_t i = 0; i < n_devices; i++)
		any = any || model.state[i] == MAY_STAND;
	for (uint32_t i = 0; i < n_devices; i++)
		if (model.state[i] == RUNS && any)
			model.state[i] = MAY_STAND;
}

static void it_runs(uint32_t i)
{
	model.state[i] = RUNS;
	model.stops_due++;
	may_stop_now();
}

/* What a call with the need to find a device standing, or running, has shown. */
static bool stands_of(uint32_t i, CUDBGResult result, CUDBGResult if_running, const char *what)
{
	bool runs = result == if_running;
	if ((runs && model.state[i] == STANDS) || (!runs && model.state[i] == RUNS))
		wrong("%s: %s, but device %u %s", what, text_of(result), i,
		      model.state[i] == STANDS ? "stands" : "runs");
	if (!runs)
		model.state[i] = STANDS;
	return !runs;
}

static bool stands(CUDBGResult result, CUDBGResult if_running, const char *what)
{
	return stands_of(dev, result, if_running, what);
}

static bool all_are(enum state state)
{
	bool all = true;
	for (uint32_t i = 0; i < n_devices; i++)
		all = all && model.state[i] == state;
	return all;
}

/* ---- calls ---- */

static void suspend_all(bool wait)
{
	CUDBGResult result = CALL(suspendAllDevices, !wait);
	bool stood = result == CUDBG_ERROR_SUSPENDED_DEVICE;
	if (!stood)
		must(result, CUDBG_SUCCESS, "suspend");
	if (!stood && all_are(STANDS))
		wrong("devices that stand were suspended");
	for (uint32_t i = 0; i < n_devices; i++) {
		if (stood && model.state[i] == RUNS)
			wrong("device %u runs, but all are suspended", i);
		if (stood || wait || model.state[i] == STANDS)
			model.state[i] = STANDS;
		else
			model.state[i] = MAY_STAND;
	}
}

static void suspend(void)
{
	if (pick(3) > 0) {
		suspend_all(pick(2));
		return;
	}
	CUDBGResult result = CALL(suspendDevice, dev);
	if (result == CUDBG_ERROR_SUSPENDED_DEVICE) {
		(void)stands(result, CUDBG_SUCCESS, "suspend");
		return;
	}
	must(result, CUDBG_SUCCESS, "suspend");
	if (model.state[dev] == STANDS)
		wrong("a device that stands was suspended");
	model.state[dev] = STANDS;
}

static void resume(void)
{
	if (pick(2)) {
		CUDBGResult result = CALL(resumeDevice, dev);
		if (stands(result, CUDBG_ERROR_RUNNING_DEVICE, "resume")) {
			must(result, CUDBG_SUCCESS, "resume");
			it_runs(dev);
		}
		return;
	}
	CUDBGResult result = CALL0(resumeAllDevices);
	bool ran = result == CUDBG_ERROR_RUNNING_DEVICE;
	if (!ran)
		must(result, CUDBG_SUCCESS, "resume");
	if (!ran && all_are(RUNS))
		wrong("devices that run were resumed");
	for (uint32_t i = 0; i < n_devices; i++) {
		if (ran && model.state[i] == STANDS)
			wrong("device %u stands, but all run", i);
		if (!ran && model.state[i] == MAY_STAND && n_devices > 1)
			model.stops_due++; /* it may have stood, or still be about to stop */
		else if (!ran)
			it_runs(i);
	}
	may_stop_now();
}

/* A call of any function with random coordinates; not those that the model must follow. */
static void any_function(void)
{
	struct api_call call;
	CUDBGResult result;
	unsigned slot;
	const struct wsi_api_fn *fn;
	do {
		slot = pick(WSI_API_SLOTS);
		fn = &wsi_api_functions[slot];
	} while (!strncmp(fn->name, "setNotify", 9) || strstr(fn->name, "Breakpoint") ||
		 strstr(fn->name, "resume") || strstr(fn->name, "suspend") ||
		 strstr(fn->name, "singleStep") || strstr(fn->name, "NextEvent") ||
		 strstr(fn->name, "getNext") || slot == SLOT(initialize) ||
		 slot == SLOT(finalize) || strstr(fn->name, "CleanupOnDetach") ||
		 (slot == SLOT(generateCoredump) && pick(20)));
	api_call_init(&call, slot);
	static const struct {
		const char *name;
		uint32_t n;
	} coordinates[] = { { "sm", SMS }, { "vsm", SMS }, { "wp", 6 }, { "ln", LANES } };
	for (size_t i = 0; i < sizeof coordinates / sizeof *coordinates; i++) {
		int arg = api_arg(slot, coordinates[i].name);
		if (arg >= 0)
			call.v[arg].number = pick(coordinates[i].n);
	}
	int addr = api_arg(slot, "addr"), of = api_arg(slot, "dev");
	if (addr >= 0 && pick(2))
		call.v[addr].number = pick(2) ? devices[0].out + pick(4000) : entry + pick(200);
	if (of >= 0)
		call.v[of].number = dev;
	api_call_buffers(&call);
	const char *why = api_call_run(&call, api, &result);
	note(slot, result);
	if (why)
		wrong("%s", why);
	/* readConstMemory129 reads global memory, of any device */
	bool of_one = n_devices == 1 || (of >= 0 && slot != SLOT(readConstMemory129));
	if (fn->stopped && of_one)
		(void)stands(result, CUDBG_ERROR_RUNNING_DEVICE, fn->name);
	if (result == CUDBG_SUCCESS && strncmp(fn->name, "write", 5) == 0) {
		model.can_fault = true; /* an address that it computes with may be another now */
		may_stop_now();
	}
	api_call_fini(&call);
}

/* ---- steps ---- */

static bool any_warp(uint32_t *ret_sm, uint32_t *ret_wp)
{
	uint64_t mask = 0;
	*ret_sm = pick(SMS);
	CUDBGResult result = CALL(readValidWarps, dev, *ret_sm, &mask);
	if (!stands(result, CUDBG_ERROR_RUNNING_DEVICE, "readValidWarps") || mask == 0)
		return false;
	do {
		*ret_wp = pick(WARPS);
	} while (!(mask >> *ret_wp & 1));
	return true;
}

static void step(void)
{
	uint32_t sm, wp, flags = pick(4) ? pick(2) : pick(4);
	uint64_t moved = 0;
	if (!any_warp(&sm, &wp))
		return;
	CUDBGResult result;
	bool later = false;
	if (pick(4) == 0) {
		uint64_t mask = 1ull << wp;
		later = pick(4) == 0;
		result = CALL(resumeWarpsUntilPC, dev, sm, mask, entry + 16 * pick(40),
			      later ? CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING : 0);
		if (result == CUDBG_ERROR_INVALID_ADDRESS)
			return; /* past the kernel */
	} else {
		later = flags & CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING;
		result = CALL(singleStepWarp, dev, sm, wp, pick(3) ? UINT32_MAX : pick(LANES),
			      1 + pick(20), flags, &moved);
		if (result == CUDBG_SUCCESS && !(moved & (later ? 1ull << wp : UINT64_MAX)))
			wrong("a step moved nobody");
	}
	if (result != CUDBG_ERROR_WARP_RESUME_NOT_POSSIBLE)
		must(result, CUDBG_SUCCESS, "step");
	if (result == CUDBG_SUCCESS && later) {
		model.state[dev] = MAY_STAND;
		model.stops_due++;
	}
}

/* ---- breakpoints ---- */

static void add_breakpoint(void)
{
	CUDBGBreakpointHandle handle = 0;
	uint64_t pc = entry + 16 * pick(30) + (pick(20) == 0 ? 8 : 0);
	if (model.n_breakpoints == MAX_BREAKPOINTS)
		return;
	CUDBGResult result = CALL(insertBreakpoint, dev, pc, &handle);
	bool taken = false;
	for (unsigned i = 0; i < model.n_breakpoints; i++)
		taken = taken || (model.breakpoints[i].pc == pc && model.breakpoints[i].dev == dev);
	if (result == CUDBG_ERROR_RUNNING_DEVICE) {
		(void)stands(result, CUDBG_ERROR_RUNNING_DEVICE, "insertBreakpoint");
		return;
	}
	if (taken)
		must(result, CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT, "insertBreakpoint");
	else if (pc % 16 != 0)
		must(result, CUDBG_ERROR_INVALID_ADDRESS, "insertBreakpoint");
	if (result != CUDBG_SUCCESS)
		return;
	if (handle <= model.last_handle)
		wrong("handle %llu after %llu", (unsigned long long)handle,
		      (unsigned long long)model.last_handle);
	model.last_handle = handle;
	model.breakpoints[model.n_breakpoints++] = (struct breakpoint){ handle, dev, pc, true };
	may_stop_now();
}

static void alter_breakpoint(void)
{
	uint32_t i = pick(model.n_breakpoints), enabled = 9;
	struct breakpoint *b = &model.breakpoints[i];
	CUDBGResult result;
	switch (pick(4)) {
	case 0:
		result = CALL(removeBreakpoint, b->handle);
		must(result, CUDBG_SUCCESS, "removeBreakpoint");
		*b = model.breakpoints[--model.n_breakpoints];
		return;
	case 1:
		result = CALL(isBreakpointEnabled, b->handle, &enabled);
		must(result, CUDBG_SUCCESS, "isBreakpointEnabled");
		if (enabled != b->enabled)
			wrong("breakpoint %llu: enabled is %u", (unsigned long long)b->handle,
			      enabled);
		return;
	case 2:
		result = CALL(enableBreakpoint, b->handle);
		must(result, b->enabled ? CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT : CUDBG_SUCCESS,
		     "enableBreakpoint");
		b->enabled = true;
		may_stop_now();
		return;
	default:
		result = CALL(disableBreakpoint, b->handle);
		must(result, b->enabled ? CUDBG_SUCCESS : CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT,
		     "disableBreakpoint");
		b->enabled = false;
	}
}

static void other_breakpoints(void)
{
	CUDBGResult result;
	if (pick(2)) {
		result = model.at_launch
				 ? CALL(disableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH)
				 : CALL(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
		must(result, CUDBG_SUCCESS, "break on launch");
		model.at_launch = !model.at_launch;
	} else {
		model.legacy_dev = model.legacy ? model.legacy_dev : dev;
		result = model.legacy ? CALL(unsetBreakpoint, model.legacy_dev, entry + 48)
				      : CALL(setBreakpoint, model.legacy_dev, entry + 48);
		must(result, CUDBG_SUCCESS, "setBreakpoint");
		model.legacy = !model.legacy;
	}
	may_stop_now();
}

/* Each broken warp says what it hit, and others nothing. */
static void look_at_hits(void)
{
	uint32_t sm, wp;
	uint64_t mask = 0;
	CUDBGBreakpointHandle handle = 0;
	if (!any_warp(&sm, &wp))
		return;
	must(CALL(readBrokenWarps, dev, sm, &mask), CUDBG_SUCCESS, "readBrokenWarps");
	CUDBGResult result = CALL(getWarpHitBreakpoint, dev, sm, wp, &handle);
	must(result, mask >> wp & 1 ? CUDBG_SUCCESS : CUDBG_ERROR_INVALID_ARGS,
	     "getWarpHitBreakpoint");
	if (result == CUDBG_SUCCESS &&
	    (handle == 0 || (!(handle >> 63) && handle > model.last_handle)))
		wrong("a warp hit breakpoint 0x%llx", (unsigned long long)handle);
}

/* ---- events ---- */

static void take_event(void)
{
	CUDBGEvent event;
	CUDBGEventQueueType queue = (CUDBGEventQueueType)pick(2);
	CUDBGResult result = CALL(getNextEvent, queue, &event);
	if (result == CUDBG_ERROR_NO_EVENT_AVAILABLE)
		return;
	must(result, CUDBG_SUCCESS, "getNextEvent");
	switch ((uint32_t)event.kind) {
	case CUDBG_EVENT_ALL_DEVICES_SUSPENDED:
	case CUDBG_EVENT_SINGLE_STEP_COMPLETE:
		if (queue != CUDBG_EVENT_QUEUE_TYPE_SYNC || model.stops_due-- == 0)
			wrong("an event of a stop that nothing caused");
		break;
	case CUDBG_EVENT_KERNEL_FINISHED:
		if (event.cases.kernelFinished.dev >= n_devices)
			wrong("a kernel of device %u finished", event.cases.kernelFinished.dev);
		uint64_t *last = &model.last_finished[event.cases.kernelFinished.dev];
		if (event.cases.kernelFinished.gridId <= *last)
			wrong("grid %llu finished after %llu",
			      (unsigned long long)event.cases.kernelFinished.gridId,
			      (unsigned long long)*last);
		*last = event.cases.kernelFinished.gridId;
		break;
	case CUDBG_EVENT_KERNEL_READY:
	case CUDBG_EVENT_CTX_CREATE:
	case CUDBG_EVENT_ELF_IMAGE_LOADED:
		break;
	default:
		wrong("event %u", event.kind);
	}
	if (pick(2))
		(void)CALL0(acknowledgeSyncEvents);
}

/* ---- the session ---- */

static void session_begins(void)
{
	must(CALL0(initialize), CUDBG_SUCCESS, "initialize");
	model.n_breakpoints = 0;
	model.at_launch = model.legacy = false;
	model.last_handle = 0;
	model.stops_due++; /* initialize tells of a device that stands */
	if (pick(2))
		(void)CALL(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_DEFER);
}

static void session_again(void)
{
	must(CALL0(finalize), CUDBG_SUCCESS, "finalize");
	session_begins();
	for (uint32_t i = 0; i < n_devices; i++)
		if (model.state[i] == RUNS) /* who had breakpoints may have stopped before */
			model.state[i] = MAY_STAND;
}

/* ---- the host ---- */

static atomic_bool host_stops;

struct host {
	pthread_t thread;
	struct device *device;
	bool waits; /* for a device that stands; it is not to be left so */
	uint64_t seed;
};

static void *host(void *data)
{
	struct host *own = data;
	struct device *d = own->device;
	const uint64_t args[] = { d->out, d->in, 3 };
	const struct timespec moment = { .tv_nsec = 300000 };
	while (!atomic_load(&host_stops)) {
		uint64_t event = 0;
		if (own->waits)
			ws_sim_host_begin(d->target, false);
		else if (!ws_sim_host_try(d->target)) {
			nanosleep(&moment, NULL);
			continue;
		}
		own->seed = own->seed * 6364136223846793005u + 1442695040888963407u;
		device_launch(d, own->seed >> 40 & 1 ? "calls" : "parts",
			      (unsigned)(1 + (own->seed >> 50) % 3), 64, args,
			      own->seed >> 40 & 1 ? 1 : 3);
		if (ws_sim_host_end(d->target, false, &event, NULL) != WS_OK)
			abort();
		ws_sim_host_await(d->target, event);
		nanosleep(&moment, NULL);
	}
	return NULL;
}

/* ---- after a client: the next one ---- */

enum { KEPT_AT = 1 << 19, KEPT_WORDS = 64, SOON = 20000, LATE = 5000000 };

/* Memory that no kernel is given, and what it holds. */
static uint64_t kept_of[DEVICES];

static uint32_t kept_word(uint32_t i)
{
	return i * 2654435761u + 5;
}

static void keep(struct device *d)
{
	uint64_t *at = &kept_of[d - devices];
	uint32_t words[KEPT_WORDS];
	for (uint32_t i = 0; i < KEPT_WORDS; i++)
		words[i] = kept_word(i);
	if (ws_sim_alloc(d->sim, 2 * KEPT_AT, at, NULL) != WS_OK ||
	    ws_sim_write(d->sim, *at += KEPT_AT, words, sizeof words, NULL) != WS_OK)
		abort();
}

/* Without a debugger, as far as it gets. */
static enum ws_sim_outcome run_alone(struct device *d, uint64_t instructions)
{
	enum ws_sim_outcome outcome;
	if (ws_sim_run(d->sim, instructions, &outcome, NULL) != WS_OK)
		wrong("the device does not run");
	return outcome;
}

static CUDBGEvent await(CUDBGEventQueueType queue)
{
	const struct timespec moment = { .tv_nsec = 200000 };
	CUDBGEvent event;
	for (int i = 0; CALL(getNextEvent, queue, &event) != CUDBG_SUCCESS; i++) {
		if (i == 100000)
			wrong("the next client waits for an event that does not come");
		nanosleep(&moment, NULL);
	}
	return event;
}

static void expect_nothing(void)
{
	CUDBGEvent event;
	for (unsigned queue = 0; queue < 2; queue++)
		must(CALL(getNextEvent, (CUDBGEventQueueType)queue, &event),
		     CUDBG_ERROR_NO_EVENT_AVAILABLE, "events of the next client");
}

/* As the API numbers it; 0: there is none. */
static uint32_t exception_of(const struct device *d, struct ws_sim_fault *ret)
{
	if (!ws_sim_fault(d->sim, ret) || ret->exception == WS_SIM_TRAP)
		return CUDBG_EXCEPTION_NONE;
	return ret->exception == WS_SIM_UNIMPLEMENTED
		       ? (uint32_t)CUDBG_EXCEPTION_WARP_ILLEGAL_INSTRUCTION
		       : ret->exception;
}

/* It learns how the device stands, and no more. */
static void client_comes(struct device *d, enum ws_sim_outcome outcome)
{
	unsigned seen[32] = { 0 };
	struct ws_sim_fault fault;
	const bool faulted = exception_of(d, &fault) != 0;
	CUDBGEvent event;
	device_debug(d);
	if (route_open(d->target, &api) != WS_OK)
		abort();
	must(CALL0(initialize), CUDBG_SUCCESS, "initialize of the next client");
	while (CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS) {
		seen[event.kind % 32]++;
		if (event.kind == CUDBG_EVENT_ALL_DEVICES_SUSPENDED &&
		    event.cases.allDevicesSuspended.faultedDevicesMask != faulted)
			wrong("the next client is told of %s fault", faulted ? "no" : "a");
	}
	if (seen[CUDBG_EVENT_CTX_CREATE] != 1 || seen[CUDBG_EVENT_ELF_IMAGE_LOADED] != 1 ||
	    seen[CUDBG_EVENT_ALL_DEVICES_SUSPENDED] != 1 ||
	    (outcome != WS_SIM_LIMIT && /* that may be between two kernels */
	     (seen[CUDBG_EVENT_KERNEL_READY] > 0) != (outcome != WS_SIM_DONE)))
		wrong("the next client is told of %u contexts, %u images, %u stops, %u kernels",
		      seen[CUDBG_EVENT_CTX_CREATE], seen[CUDBG_EVENT_ELF_IMAGE_LOADED],
		      seen[CUDBG_EVENT_ALL_DEVICES_SUSPENDED], seen[CUDBG_EVENT_KERNEL_READY]);
	must(CALL0(acknowledgeSyncEvents), CUDBG_SUCCESS, "acknowledge");
	must(CALL(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_DEFER), CUDBG_SUCCESS,
	     "launch mode");
	expect_nothing();
}

static void client_goes(struct device *d)
{
	expect_nothing();
	must(CALL0(finalize), CUDBG_SUCCESS, "finalize of the next client");
	route_close(api);
	ws_target_close(d->target);
	d->target = NULL;
}

/* A sum over the warps that are there; 0: none. */
static uint64_t warps_there(void)
{
	uint64_t sum = 0;
	for (uint32_t sm = 0; sm < SMS; sm++) {
		uint64_t mask = 0;
		must(CALL(readValidWarps, 0, sm, &mask), CUDBG_SUCCESS, "readValidWarps");
		for (uint32_t wp = 0; wp < WARPS; wp++) {
			uint32_t lanes = 0;
			uint64_t grid = 0;
			if (!(mask >> wp & 1))
				continue;
			must(CALL(readValidLanes, 0, sm, wp, &lanes), CUDBG_SUCCESS, "its lanes");
			must(CALL(readGridId, 0, sm, wp, &grid), CUDBG_SUCCESS, "its grid");
			CUDBGGridStatus status = CUDBG_GRID_STATUS_INVALID;
			must(CALL(getGridStatus, 0, grid, &status), CUDBG_SUCCESS, "its status");
			if (lanes == 0 || status != CUDBG_GRID_STATUS_ACTIVE)
				wrong("SM %u warp %u: lanes 0x%x of a grid with status %u", sm, wp,
				      lanes, status);
			sum = sum * 31 + mask + lanes + grid;
		}
	}
	return sum;
}

static void same(uint64_t is, uint64_t should_be, const char *what)
{
	if (is != should_be)
		wrong("to the next client, %s is 0x%llx, not 0x%llx", what, (unsigned long long)is,
		      (unsigned long long)should_be);
}

/* The fault is where and what the device says that it is; without one there is none. */
static void check_fault(const struct device *d)
{
	struct ws_sim_fault fault;
	uint64_t faulted = 0, broken = 0, grid = 0, pc = 0;
	uint32_t lane = 0, exception = exception_of(d, &fault);
	bool has_pc = false;
	CUDBGException_t of_sm = CUDBG_EXCEPTION_NONE, of_lane = CUDBG_EXCEPTION_NONE;
	must(CALL(readDeviceExceptionState, 0, &faulted, 1), CUDBG_SUCCESS, "faults");
	same(faulted, exception ? UINT64_C(1) << fault.sm : 0, "the mask of SMs with a fault");
	if (!exception)
		return;
	while (!(fault.lanes >> lane & 1))
		lane++;
	must(CALL(readBrokenWarps, 0, fault.sm, &broken), CUDBG_SUCCESS, "broken warps");
	same(broken >> fault.warp & 1, 1, "that the warp is broken");
	must(CALL(readGridId, 0, fault.sm, fault.warp, &grid), CUDBG_SUCCESS, "its grid");
	same(grid, fault.grid, "its grid");
	must(CALL(readSmException, 0, fault.sm, &of_sm, &pc, &has_pc), CUDBG_SUCCESS, "of the SM");
	same(of_sm, exception, "the exception");
	same(has_pc ? pc : 0, fault.error_pc, "its pc");
	must(CALL(readLaneException, 0, fault.sm, fault.warp, lane, &of_lane), CUDBG_SUCCESS,
	     "of the lane");
	same(of_lane, exception, "the exception of a lane");
}

static void check_memory(struct device *d)
{
	const uint64_t at = kept_of[d - devices];
	uint32_t words[KEPT_WORDS], other = ~kept_word(7);
	for (int i = 0; i < 2; i++) {
		must(CALL(readGlobalMemory, at, words, sizeof words), CUDBG_SUCCESS, "memory");
		for (uint32_t k = 0; k < KEPT_WORDS; k++)
			same(words[k], i && k == 7 ? other : kept_word(k), "a word in memory");
		must(CALL(writeGlobalMemory, at + 4 * 7, &other, sizeof other), CUDBG_SUCCESS,
		     "memory");
	}
	same(device_word(d, at + 4 * 7), other, "what it wrote, as the host sees it,");
	other = kept_word(7);
	must(CALL(writeGlobalMemory, at + 4 * 7, &other, sizeof other), CUDBG_SUCCESS, "memory");
}

/* What hangs can be let go and stopped again; what only takes long may end meanwhile. */
static void check_hang(enum ws_sim_outcome outcome)
{
	CUDBGEvent event;
	for (int i = 0; i < 2; i++) {
		if (warps_there() == 0 && outcome == WS_SIM_STUCK)
			wrong("the next client sees no warp that hangs");
		if (i == 0) {
			must(CALL0(resumeAllDevices), CUDBG_SUCCESS, "a hang goes on");
			must(CALL(suspendAllDevices, 0), CUDBG_SUCCESS, "a hang stops");
		}
	}
	while (CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event) == CUDBG_SUCCESS)
		same(event.kind, CUDBG_EVENT_KERNEL_FINISHED, "the event of an end");
}

/* Going on after a fault ends all that was launched, and tells so; what has not begun never does.
 */
static void end_fault(struct device *d)
{
	struct ws_counts counts;
	uint32_t n = 0, word = 0;
	must(CALL(writeGlobalMemory, d->out + 20, &word, sizeof word), CUDBG_SUCCESS, "memory");
	(void)device_launch_later(d, "calls", 1, 32, &d->out, 1);
	ws_target_counts(d->target, &counts);
	for (uint32_t i = 0; i < counts.grids; i++) {
		struct ws_grid grid;
		if (ws_target_grid(d->target, i, &grid, NULL) != WS_OK)
			abort();
		n += grid.status == CUDBG_GRID_STATUS_ACTIVE ||
		     grid.status == CUDBG_GRID_STATUS_PENDING;
	}
	must(CALL0(resumeAllDevices), CUDBG_SUCCESS, "going on after a fault");
	for (; n > 0; n--)
		same(await(CUDBG_EVENT_QUEUE_TYPE_ASYNC).kind, CUDBG_EVENT_KERNEL_FINISHED,
		     "the event of a kernel that a fault ended");
	must(CALL(suspendAllDevices, 0), CUDBG_SUCCESS, "suspend after a fault");
	must(CALL(readGlobalMemory, d->out + 20, &word, sizeof word), CUDBG_SUCCESS, "memory");
	same(word, 0, "what a kernel behind a fault computed");
}

/* What hangs for ever goes with its context; the host's next device takes its place. */
static void reset(struct device *d)
{
	struct device fresh;
	device_open(&fresh, kernels, SMS);
	ws_sim_host_begin(d->target, true);
	if (ws_sim_host_replace(d->target, fresh.sim, NULL) != WS_OK ||
	    ws_sim_host_context(d->target, true, 1, NULL) != WS_OK ||
	    ws_sim_host_end(d->target, true, NULL, NULL) != WS_OK)
		abort();
	static const CUDBGEventKind kinds[] = { CUDBG_EVENT_ELF_IMAGE_UNLOADED,
						CUDBG_EVENT_CTX_DESTROY, CUDBG_EVENT_CTX_CREATE,
						CUDBG_EVENT_ELF_IMAGE_LOADED };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		same(await(CUDBG_EVENT_QUEUE_TYPE_SYNC).kind, kinds[i], "an event of a reset");
	must(CALL0(acknowledgeSyncEvents), CUDBG_SUCCESS, "acknowledge");
	ws_sim_destroy(d->sim);
	fresh.target = d->target;
	*d = fresh;
}

/* The next kernel has the whole device, and the one after it does what it should. */
static void check_launch(struct device *d)
{
	const uint64_t args[] = { d->in, 0 };
	uint32_t word = 0;
	uint64_t mask = 0;
	same(warps_there(), 0, "what is there");
	check_fault(d);
	must(CALL(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH), CUDBG_SUCCESS,
	     "break on launch");
	(void)device_launch_later(d, "few_spin", 2 * SMS, 1024, args, 2);
	must(CALL0(resumeAllDevices), CUDBG_SUCCESS, "the next kernel");
	same(await(CUDBG_EVENT_QUEUE_TYPE_SYNC).kind, CUDBG_EVENT_ALL_DEVICES_SUSPENDED, "a stop");
	for (uint32_t sm = 0; sm < SMS; sm++) {
		must(CALL(readValidWarps, 0, sm, &mask), CUDBG_SUCCESS, "its warps");
		same(mask, UINT64_MAX, "the mask of warps of a kernel that fills the device");
	}
	must(CALL(disableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH), CUDBG_SUCCESS,
	     "break on launch");
	must(CALL(writeGlobalMemory, d->out + 20, &word, sizeof word), CUDBG_SUCCESS, "memory");
	(void)device_launch_later(d, "calls", 1, 32, &d->out, 1);
	must(CALL0(resumeAllDevices), CUDBG_SUCCESS, "the next kernel");
	for (int i = 0; i < 2; i++)
		same(await(CUDBG_EVENT_QUEUE_TYPE_ASYNC).kind, CUDBG_EVENT_KERNEL_FINISHED,
		     "the event of its end");
	must(CALL(suspendAllDevices, 0), CUDBG_SUCCESS, "suspend after it");
	must(CALL(readGlobalMemory, d->out + 20, &word, sizeof word), CUDBG_SUCCESS, "memory");
	same(word, 3 * (7 * 7 + 1) + 7 * 5 + 1, "what it computed");
}

static bool is_hang(enum ws_sim_outcome outcome)
{
	return outcome != WS_SIM_DONE && outcome != WS_SIM_FAULTED;
}

/* Whatever was done to a device, the next client finds it as it is and can use it: one that is
 * idle, one with a fault, and one that hangs. */
static void check_soundness(struct device *d)
{
	const uint32_t one = 1;
	const uint64_t args[] = { d->out, d->in, 70 };
	if (pick(4) == 0) /* the host goes on */
		device_launch(d, "faults", 3, 64, args, 3);
	enum ws_sim_outcome outcome = run_alone(d, SOON);
	client_comes(d, outcome);
	check_memory(d);
	if (is_hang(outcome)) {
		n_hangs++;
		check_hang(outcome);
	}
	if (is_hang(outcome) && pick(2)) { /* it is given what most kernels wait for */
		must(CALL(writeGlobalMemory, d->in, &one, sizeof one), CUDBG_SUCCESS, "memory");
		client_goes(d);
		outcome = run_alone(d, LATE);
		client_comes(d, outcome);
	}
	check_fault(d);
	if (outcome == WS_SIM_FAULTED) {
		n_faults++;
		end_fault(d);
	} else if (outcome != WS_SIM_DONE) {
		reset(d);
	}
	check_launch(d);
	client_goes(d);
}

/* A device with a kernel queued that runs, parts, faults or hangs. */
static void open_device(struct device *d)
{
	static const char *const first[] = { "spins", "parts", "calls", "never_meets", "faults" };
	uint32_t kind = pick(20);
	const char *kernel = first[kind < 18 ? kind % 3 : kind - 15];
	device_open(d, kernels, SMS);
	keep(d);
	const uint64_t spin[] = { d->in, d->out }, other[] = { d->out, d->in, 70 };
	bool spins = kernel == first[0] || kernel == first[3];
	device_launch(d, kernel, 3, 64, spins ? spin : other,
		      spins                ? 2
		      : kernel == first[2] ? 1
					   : 3);
	model.can_fault = model.can_fault || kernel == first[4];
	device_debug(d);
}

static void open_all(void)
{
	struct ws_target *parts[DEVICES];
	struct ws_grid grid;
	for (uint32_t i = 0; i < n_devices; i++) {
		open_device(&devices[i]);
		parts[i] = devices[i].target;
	}
	target = parts[0];
	if ((n_devices > 1 && ws_target_join(parts, n_devices, &target, NULL) != WS_OK) ||
	    ws_target_grid(target, 0, &grid, NULL) != WS_OK || route_open(target, &api) != WS_OK)
		abort();
	entry = grid.function_entry;
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH;
}

static void one_call(void)
{
	uint32_t what = pick(100);
	dev = pick(n_devices);
	if (what < 8)
		resume();
	else if (what < 14)
		suspend();
	else if (what < 20)
		step();
	else if (what < 23)
		add_breakpoint();
	else if (what < 28 && model.n_breakpoints > 0)
		alter_breakpoint();
	else if (what < 29)
		other_breakpoints();
	else if (what < 33)
		look_at_hits();
	else if (what < 45)
		take_event();
	else if (what == 45 && pick(10) == 0)
		session_again();
	else
		any_function();
}

/* Cuts the route after some time, where it is one that is cut. */
static void *cut(void *data)
{
	nanosleep(data, NULL);
	route_cut(api);
	return NULL;
}

static void round_of_calls(uint64_t until)
{
	struct host hosts[DEVICES];
	struct timespec moment = { .tv_nsec = pick(1u << pick(25)) };
	pthread_t cutter;
	const bool goes_on = pick(2); /* without a client */
	memset(&model, 0, sizeof model);
	open_all();
	if (route_is_cut() && pthread_create(&cutter, NULL, cut, &moment) != 0)
		abort();
	session_begins();
	atomic_store(&host_stops, false);
	for (uint32_t i = 0; i < n_devices; i++) {
		hosts[i] =
			(struct host){ .device = &devices[i], .waits = goes_on, .seed = seed + i };
		if (pthread_create(&hosts[i].thread, NULL, host, &hosts[i]) != 0)
			abort();
	}
	for (uint32_t i = 0; route_is_cut() ? !is_gone : i < ROUND && n_calls < until; i++)
		one_call();
	/* the client is gone, wherever it was */
	if (route_is_cut())
		pthread_join(cutter, NULL);
	n_gone += is_gone;
	is_gone = false;
	is_next = true;
	route_close(api);
	atomic_store(&host_stops, true);
	if (ws_target_want(target, 0, NULL) != WS_OK ||
	    (goes_on && ws_target_resume(target, WS_NONE, NULL) != WS_OK))
		abort();
	for (uint32_t i = 0; i < n_devices; i++)
		pthread_join(hosts[i].thread, NULL);
	if (n_devices > 1)
		ws_target_close(target);
	for (uint32_t i = 0; i < n_devices; i++) {
		ws_target_close(devices[i].target);
		devices[i].target = NULL;
		check_soundness(&devices[i]);
		device_close(&devices[i]);
	}
	is_next = false;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	uint64_t until = strtoull(argv[1], NULL, 10);
	seed = strtoull(argv[2], NULL, 10);
	kernels = argv[3];
	n_devices = argv[4][0] == '2' ? 2 : 1;
	while (n_calls < until)
		round_of_calls(until);
	unsigned used = 0;
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++)
		used += slot_counts[slot] > 0;
	printf("ok 1 - random calls of a running device\n# %llu calls of %u functions, seed %s; "
	       "%u clients were lost, %u left a fault and %u a hang\n1..1\n",
	       (unsigned long long)n_calls, used, argv[2], n_gone, n_faults, n_hangs);
	return 0;
}
