/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls of the API over a device that runs, while a host thread launches kernels that part,
 * wait, spin, hang and fault. A model says what each answer may be: whether the device stands,
 * which breakpoints there are, how many events may still come. Clients end at any point; then the
 * device must be sound.
 *
 * usage: random_live CALLS SEED KERNELS    a fatbin of tests/sim/kernels/live.cu
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/cudbg.h>

#include "harness.h"
#include "target/device.h"

/* It is no code of the library. */
#undef abort
#undef printf

enum { SMS = 4, WARPS = 64, LANES = 32, ROUND = 400, MAX_BREAKPOINTS = 12 };

/* Whether the device stands, as far as anybody can know. */
enum state {
	STANDS,
	RUNS,      /* nothing but a call can stop it */
	MAY_STAND, /* it ran, and may have stopped by itself */
};

struct breakpoint {
	CUDBGBreakpointHandle handle;
	uint64_t pc;
	bool enabled;
};

static struct {
	enum state state;
	bool can_fault, at_launch, legacy;
	struct breakpoint breakpoints[MAX_BREAKPOINTS];
	unsigned n_breakpoints;
	CUDBGBreakpointHandle last_handle;
	unsigned stops_due;     /* events of stops and steps that may still come */
	uint64_t last_finished; /* grid */
} model;

static const char *kernels;
static struct device device;
static CUDBGAPI api;
static uint64_t seed, n_calls;
static unsigned slot_counts[WSI_API_SLOTS];
static uint64_t entry;

static void wrong(const char *format, ...) WS_PRINTF(1, 2);

static void wrong(const char *format, ...)
{
	va_list args;
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
	n_calls++;
	slot_counts[slot]++;
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

static void it_runs(void)
{
	model.state = may_stop() ? MAY_STAND : RUNS;
	model.stops_due++;
}

/* What a call with the need to find the device standing, or running, has shown. */
static bool stands(CUDBGResult result, CUDBGResult if_running, const char *what)
{
	bool runs = result == if_running;
	if ((runs && model.state == STANDS) || (!runs && model.state == RUNS))
		wrong("%s: %s, but the device %s", what, text_of(result),
		      model.state == STANDS ? "stands" : "runs");
	if (!runs)
		model.state = STANDS;
	return !runs;
}

/* ---- calls ---- */

static void suspend(void)
{
	CUDBGResult result;
	uint32_t how = pick(3);
	if (how == 0) {
		result = CALL(suspendDevice, 0);
	} else {
		result = CALL(suspendAllDevices, how == 2);
	}
	if (result == CUDBG_ERROR_SUSPENDED_DEVICE) {
		(void)stands(result, CUDBG_SUCCESS, "suspend");
		return;
	}
	must(result, CUDBG_SUCCESS, "suspend");
	if (model.state == STANDS)
		wrong("a device that stands was suspended");
	model.state = how == 2 ? MAY_STAND : STANDS;
}

static void resume(void)
{
	CUDBGResult result = pick(2) ? CALL(resumeDevice, 0) : CALL0(resumeAllDevices);
	if (stands(result, CUDBG_ERROR_RUNNING_DEVICE, "resume")) {
		must(result, CUDBG_SUCCESS, "resume");
		it_runs();
	}
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
	int addr = api_arg(slot, "addr");
	if (addr >= 0 && pick(2))
		call.v[addr].number = pick(2) ? device.out + pick(4000) : entry + pick(200);
	api_call_buffers(&call);
	const char *why = api_call_run(&call, api, &result);
	note(slot, result);
	if (why)
		wrong("%s", why);
	if (fn->stopped)
		(void)stands(result, CUDBG_ERROR_RUNNING_DEVICE, fn->name);
	if (result == CUDBG_SUCCESS && strncmp(fn->name, "write", 5) == 0)
		model.can_fault = true; /* an address that it computes with may be another now */
	api_call_fini(&call);
}

/* ---- steps ---- */

static bool any_warp(uint32_t *ret_sm, uint32_t *ret_wp)
{
	uint64_t mask = 0;
	*ret_sm = pick(SMS);
	CUDBGResult result = CALL(readValidWarps, 0, *ret_sm, &mask);
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
		result = CALL(resumeWarpsUntilPC, 0, sm, mask, entry + 16 * pick(40),
			      later ? CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING : 0);
		if (result == CUDBG_ERROR_INVALID_ADDRESS)
			return; /* past the kernel */
	} else {
		later = flags & CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING;
		result = CALL(singleStepWarp, 0, sm, wp, pick(3) ? UINT32_MAX : pick(LANES),
			      1 + pick(20), flags, &moved);
		if (result == CUDBG_SUCCESS && !(moved & (later ? 1ull << wp : UINT64_MAX)))
			wrong("a step moved nobody");
	}
	if (result != CUDBG_ERROR_WARP_RESUME_NOT_POSSIBLE)
		must(result, CUDBG_SUCCESS, "step");
	if (result == CUDBG_SUCCESS && later) {
		model.state = MAY_STAND;
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
	CUDBGResult result = CALL(insertBreakpoint, 0, pc, &handle);
	bool taken = false;
	for (unsigned i = 0; i < model.n_breakpoints; i++)
		taken = taken || model.breakpoints[i].pc == pc;
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
	model.breakpoints[model.n_breakpoints++] = (struct breakpoint){ handle, pc, true };
	if (model.state == RUNS)
		model.state = MAY_STAND;
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
		if (model.state == RUNS)
			model.state = MAY_STAND;
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
		result = model.legacy ? CALL(unsetBreakpoint, 0, entry + 48)
				      : CALL(setBreakpoint, 0, entry + 48);
		must(result, CUDBG_SUCCESS, "setBreakpoint");
		model.legacy = !model.legacy;
	}
	if (model.state == RUNS && may_stop())
		model.state = MAY_STAND;
}

/* Each broken warp says what it hit, and others nothing. */
static void look_at_hits(void)
{
	uint32_t sm, wp;
	uint64_t mask = 0;
	CUDBGBreakpointHandle handle = 0;
	if (!any_warp(&sm, &wp))
		return;
	must(CALL(readBrokenWarps, 0, sm, &mask), CUDBG_SUCCESS, "readBrokenWarps");
	CUDBGResult result = CALL(getWarpHitBreakpoint, 0, sm, wp, &handle);
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
		if (event.cases.kernelFinished.gridId <= model.last_finished)
			wrong("grid %llu finished after %llu",
			      (unsigned long long)event.cases.kernelFinished.gridId,
			      (unsigned long long)model.last_finished);
		model.last_finished = event.cases.kernelFinished.gridId;
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
	if (model.state == RUNS) /* who had breakpoints may have stopped before */
		model.state = MAY_STAND;
}

/* ---- the host ---- */

static atomic_bool host_stops;

static void *host(void *data)
{
	uint64_t own = *(uint64_t *)data;
	const uint64_t args[] = { device.out, device.in, 3 };
	while (!atomic_load(&host_stops)) {
		uint64_t event = 0;
		own = own * 6364136223846793005u + 1442695040888963407u;
		ws_sim_host_begin(device.target, false);
		device_launch(&device, own >> 40 & 1 ? "calls" : "parts",
			      (unsigned)(1 + (own >> 50) % 3), 64, args, own >> 40 & 1 ? 1 : 3);
		if (ws_sim_host_end(device.target, false, &event, NULL) != WS_OK)
			abort();
		ws_sim_host_await(device.target, event);
		const struct timespec moment = { .tv_nsec = 300000 };
		nanosleep(&moment, NULL);
	}
	return NULL;
}

/* Without a debugger the device works, whatever was done to it. */
static void check_soundness(void)
{
	enum ws_sim_outcome outcome;
	uint32_t one = 1, got = 0;
	if (ws_sim_write(device.sim, device.in, &one, sizeof one, NULL) != WS_OK ||
	    ws_sim_run(device.sim, 50000000, &outcome, NULL) != WS_OK)
		wrong("the device is not sound");
	if (outcome != WS_SIM_DONE)
		return; /* a fault, or a hang of the kernel's own */
	device_launch(&device, "calls", 1, 32, &device.out, 1);
	if (ws_sim_run(device.sim, 0, &outcome, NULL) != WS_OK || outcome != WS_SIM_DONE ||
	    ws_sim_read(device.sim, device.out + 20, &got, sizeof got, NULL) != WS_OK ||
	    got != 3 * (7 * 7 + 1) + 7 * 5 + 1)
		wrong("a kernel that was run afterwards computed %u", got);
}

static void round_of_calls(uint64_t until)
{
	static const char *const first[] = { "spins", "parts", "calls", "never_meets", "faults" };
	uint32_t kind = pick(20);
	const char *kernel = first[kind < 18 ? kind % 3 : kind - 15];
	pthread_t thread;
	memset(&model, 0, sizeof model);
	device_open(&device, kernels, SMS);
	const uint64_t spin[] = { device.in, device.out }, other[] = { device.out, device.in, 70 };
	bool spins = kernel == first[0] || kernel == first[3];
	device_launch(&device, kernel, 3, 64, spins ? spin : other,
		      spins                ? 2
		      : kernel == first[2] ? 1
					   : 3);
	model.can_fault = kernel == first[4];
	device_debug(&device);
	struct ws_grid grid;
	if (ws_target_grid(device.target, 0, &grid, NULL) != WS_OK ||
	    ws_cudbg_api(device.target, &api, NULL) != WS_OK)
		abort();
	entry = grid.function_entry;
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS;
	session_begins();
	uint64_t own = seed;
	atomic_store(&host_stops, false);
	if (pthread_create(&thread, NULL, host, &own) != 0)
		abort();
	for (uint32_t i = 0; i < ROUND && n_calls < until; i++) {
		uint32_t what = pick(100);
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
	/* the client is gone, wherever it was */
	ws_cudbg_release(api);
	atomic_store(&host_stops, true);
	if (ws_target_want(device.target, 0, NULL) != WS_OK ||
	    ws_target_resume(device.target, WS_NONE, NULL) != WS_OK)
		abort();
	pthread_join(thread, NULL);
	ws_target_close(device.target);
	device.target = NULL;
	check_soundness();
	device_close(&device);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	uint64_t until = strtoull(argv[1], NULL, 10);
	seed = strtoull(argv[2], NULL, 10);
	kernels = argv[3];
	while (n_calls < until)
		round_of_calls(until);
	unsigned used = 0;
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++)
		used += slot_counts[slot] > 0;
	printf("ok 1 - random calls of a running device\n# %llu calls of %u functions, seed "
	       "%s\n1..1\n",
	       (unsigned long long)n_calls, used, argv[2]);
	return 0;
}
