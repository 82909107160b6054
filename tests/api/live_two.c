/* SPDX-License-Identifier: Apache-2.0 */
/* The API over two devices that really run in one process, with the same addresses on both. */
#include "live.h"

#include <unistd.h>

#include <warpscope/core.h>
#include <warpscope/join.h>

static struct device other;
static struct ws_target *both;

/* A device with a kernel of one warp queued: spins, faults or calls. */
static struct ws_target *ready(struct device *d, const char *kernel)
{
	bool spins = strcmp(kernel, "spins") == 0, faults = strcmp(kernel, "faults") == 0;
	device_open(d, kernels, 4);
	const uint64_t args[] = { spins ? d->in : d->out, spins ? d->out : d->in, 5 };
	device_launch(d, kernel, 1, 32, args, faults ? 3 : spins ? 2 : 1);
	if (spins) { /* its block is there from the beginning */
		enum ws_sim_outcome outcome;
		assert_int_equal(ws_sim_run(d->sim, 100, &outcome, NULL), WS_OK);
	}
	device_debug(d);
	return d->target;
}

static void begin_two(const char *kernel, const char *other_kernel)
{
	CUDBGEvent event;
	struct ws_target *const targets[] = { ready(&device, kernel), ready(&other, other_kernel) };
	assert_int_equal(ws_target_join(targets, 2, &both, NULL), WS_OK);
	assert_int_equal(route_open(both, &api), WS_OK);
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS |
				    CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH;
	GOOD0(initialize);
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_DEFER);
	while (CALL(getNextEvent, CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS)
		continue;
	GOOD0(acknowledgeSyncEvents);
}

static int stop_two(void **state)
{
	route_close(api);
	api = NULL;
	ws_target_close(both);
	both = NULL;
	device_close(&other);
	return stop(state);
}

static uint64_t valid_of(uint32_t dev)
{
	uint64_t mask;
	GOOD(readValidWarps, dev, 0, &mask);
	return mask;
}

/* Waits for the event of a stop. */
static CUDBGEvent await_stop(void)
{
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_int_equal(event.kind, CUDBG_EVENT_ALL_DEVICES_SUSPENDED);
	GOOD0(acknowledgeSyncEvents);
	return event;
}

static void each_device_stops_and_goes_alone(void **state)
{
	(void)state;
	uint32_t n;
	uint64_t mask;
	begin_two("spins", "spins");
	GOOD(getNumDevices, &n);
	assert_int_equal(n, 2);
	while (valid_of(0) != 1 || valid_of(1) != 1) { /* until both kernels are there */
		GOOD0(resumeAllDevices);
		doze();
		GOOD(suspendAllDevices, 0);
	}
	for (uint32_t dev = 0; dev < 2; dev++) {
		GOOD(resumeDevice, dev);
		assert_int_equal(CALL(resumeDevice, dev), CUDBG_ERROR_RUNNING_DEVICE);
		assert_int_equal(CALL(readValidWarps, dev, 0, &mask), CUDBG_ERROR_RUNNING_DEVICE);
		GOOD(readValidWarps, !dev, 0, &mask); /* the other one stands */
		assert_int_equal(CALL(suspendDevice, !dev), CUDBG_ERROR_SUSPENDED_DEVICE);
		GOOD(suspendDevice, dev);
		assert_int_equal(valid_of(dev), 1);
		expect_nothing();
	}
	GOOD0(resumeAllDevices);
	assert_int_equal(CALL0(resumeAllDevices), CUDBG_ERROR_RUNNING_DEVICE);
	GOOD(suspendDevice, 1);
	GOOD0(resumeAllDevices); /* one of them stood */
	GOOD(suspendDevice, 0);
	GOOD(suspendAllDevices, 0); /* one of them ran */
	assert_int_equal(valid_of(1), 1);
	GOOD0(resumeAllDevices);
	GOOD(suspendAllDevices, 1);
	CUDBGEvent event = await_stop(); /* one event for both */
	assert_true(event.cases.allDevicesSuspended.brokenDevicesMask == 0);
	assert_int_equal(valid_of(0), 1);
	assert_int_equal(valid_of(1), 1);
	expect_nothing();
}

static void an_address_of_two_devices_is_ambiguous(void **state)
{
	(void)state;
	static uint32_t words[64];
	const uint64_t pinned = UINT64_C(0x200000000);
	uint64_t own = 0;
	uint32_t word = 1, back = 0;
	begin_two("calls", "calls");
	assert_true(device.out == other.out);
	ws_sim_host_begin(other.target, true);
	assert_int_equal(ws_sim_alloc(other.sim, 1 << 20, &own, NULL), WS_OK);
	assert_int_equal(ws_sim_map(other.sim, pinned, words, sizeof words, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(other.target, true, NULL, NULL), WS_OK);
	ws_sim_host_begin(device.target, true);
	assert_int_equal(ws_sim_map(device.sim, pinned, words, sizeof words, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, NULL), WS_OK);
	assert_int_equal(CALL(readGlobalMemory, device.out, &back, sizeof back),
			 CUDBG_ERROR_AMBIGUOUS_MEMORY_ADDRESS);
	assert_int_equal(CALL(writeGlobalMemory, device.out, &word, sizeof word),
			 CUDBG_ERROR_AMBIGUOUS_MEMORY_ADDRESS);
	for (uint32_t dev = 0; dev < 2; dev++) {
		word = 0x100 + dev;
		GOOD(writeGenericMemory, dev, 0, 0, 0, device.out, &word, sizeof word);
	}
	for (uint32_t dev = 0; dev < 2; dev++) {
		GOOD(readGenericMemory, dev, 0, 0, 0, device.out, &back, sizeof back);
		assert_int_equal(back, 0x100 + dev);
		GOOD(readGlobalMemory31, dev, device.out, &back, sizeof back);
		assert_int_equal(back, 0x100 + dev);
	}
	GOOD(writeGlobalMemory, own + 4096, &word, sizeof word); /* only one has that */
	GOOD(readGlobalMemory, own + 4096, &back, sizeof back);
	assert_int_equal(back, word);
	assert_int_equal(CALL(readGlobalMemory, 64, &back, sizeof back),
			 CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM);
	GOOD(writeGlobalMemory, pinned + 8, &word, sizeof word); /* the host's: one memory */
	assert_int_equal(words[2], word);
	GOOD(getHostAddrFromDeviceAddr, 1, pinned + 8, &own);
	GOOD(readPinnedMemory, own, &back, sizeof back);
	assert_int_equal(back, word);
}

static void a_breakpoint_of_one_stops_both(void **state)
{
	(void)state;
	CUDBGBreakpointHandle handle, hit_handle;
	CUDBGGridInfo info;
	uint64_t mask, pc;
	begin_two("spins", "calls");
	GOOD(getGridInfo, 1, 1, &info);
	GOOD(insertBreakpoint, 1, info.functionEntry + 32, &handle);
	GOOD0(resumeAllDevices);
	CUDBGEvent event = await_stop();
	assert_true(event.cases.allDevicesSuspended.brokenDevicesMask == 2 &&
		    event.cases.allDevicesSuspended.faultedDevicesMask == 0);
	assert_int_equal(CALL(suspendDevice, 0), CUDBG_ERROR_SUSPENDED_DEVICE);
	GOOD(readBrokenWarps, 0, 0, &mask);
	assert_int_equal(mask, 0);
	GOOD(readBrokenWarps, 1, 0, &mask);
	assert_int_equal(mask, 1);
	GOOD(getWarpHitBreakpoint, 1, 0, 0, &hit_handle);
	assert_true(hit_handle == handle);
	GOOD(readVirtualPC, 1, 0, 0, 0, &pc);
	assert_true(pc == info.functionEntry + 32);
	GOOD(singleStepWarp, 1, 0, 0, UINT32_MAX, 1, 0, &mask);
	GOOD(singleStepWarp, 0, 0, 0, UINT32_MAX, 1, 0, &mask); /* each has its own warps */
	expect_nothing();
	GOOD(resumeDevice, 1);
	event = await(CUDBG_EVENT_QUEUE_TYPE_ASYNC);
	assert_true(event.kind == CUDBG_EVENT_KERNEL_FINISHED &&
		    event.cases.kernelFinished.dev == 1);
	assert_int_equal(valid_of(0), 1); /* the first was left standing */
}

static void a_fault_of_one_is_told_of_it(void **state)
{
	(void)state;
	CUDBGException_t exception;
	uint64_t mask[4] = { 0 };
	begin_two("faults", "spins");
	GOOD0(resumeAllDevices);
	CUDBGEvent event = await_stop();
	assert_true(event.cases.allDevicesSuspended.faultedDevicesMask == 1);
	GOOD(readLaneException, 0, 0, 0, 5, &exception);
	assert_int_equal(exception, CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS);
	GOOD(readDeviceExceptionState, 1, mask, 4);
	assert_int_equal(mask[0], 0);
	GOOD(readDeviceExceptionState, 0, mask, 4);
	assert_int_equal(mask[0], 1);
	/* a dump has both devices, with what each holds */
	struct ws_target *dump;
	struct ws_counts counts;
	struct ws_sm sm;
	GOOD(generateCoredump, api_call_file(), CUDBG_COREDUMP_SKIP_GLOBAL_MEMORY);
	assert_int_equal(ws_core_open(api_call_file(), NULL, &dump, NULL), WS_OK);
	ws_target_counts(dump, &counts);
	assert_true(counts.devices == 2 && counts.warps == 2 && counts.modules == 2);
	assert_int_equal(ws_target_sm(dump, 0, &sm, NULL), WS_OK);
	assert_int_equal(sm.exception, CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS);
	ws_target_close(dump);
	assert_int_equal(unlink(api_call_file()), 0);
}

static void launches_of_both_wait_for_one_client(void **state)
{
	(void)state;
	begin_two("calls", "calls");
	GOOD0(resumeAllDevices);
	for (int i = 0; i < 2; i++)
		expect_end();
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_EVENT);
	const uint64_t args[] = { device.out };
	(void)device_launch_later(&device, "calls", 1, 32, args, 1);
	(void)device_launch_later(&other, "calls", 1, 32, args, 1);
	uint32_t seen = 0;
	for (int i = 0; i < 2; i++) {
		CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
		assert_true(event.kind == CUDBG_EVENT_KERNEL_READY &&
			    event.cases.kernelReady.gridId == 2);
		seen |= 1u << event.cases.kernelReady.dev;
	}
	assert_int_equal(seen, 3);
	GOOD0(acknowledgeSyncEvents);
	for (int i = 0; i < 2; i++)
		expect_end();
	expect_nothing();
}

/* Events say which device they are of. */
static void events_are_of_their_device(void **state)
{
	(void)state;
	struct ws_span image;
	uint64_t mask;
	begin_two("calls", "calls");
	for (int exists = 0; exists < 2; exists++) {
		ws_sim_host_begin(other.target, true);
		assert_int_equal(ws_sim_host_context(other.target, exists, 55, NULL), WS_OK);
		assert_int_equal(ws_sim_host_end(other.target, true, NULL, NULL), WS_OK);
		CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
		assert_true(
			event.kind == (exists ? CUDBG_EVENT_CTX_CREATE : CUDBG_EVENT_CTX_DESTROY) &&
			event.cases.contextCreate.dev == 1 && event.cases.contextCreate.tid == 55);
	}
	ws_sim_host_begin(other.target, true);
	assert_int_equal(ws_sim_module_image(other.sim, 0, &image, NULL), WS_OK);
	assert_int_equal(ws_sim_load(other.sim, image, NULL, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(other.target, true, NULL, NULL), WS_OK);
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_true(event.kind == CUDBG_EVENT_ELF_IMAGE_LOADED &&
		    event.cases.elfImageLoaded.dev == 1);
	GOOD(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
	GOOD(resumeDevice, 1);
	event = await_stop();
	assert_int_equal(event.cases.allDevicesSuspended.brokenDevicesMask, 2);
	GOOD(singleStepWarp, 1, 0, 0, UINT32_MAX, 1, CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING, &mask);
	event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_true(event.kind == CUDBG_EVENT_SINGLE_STEP_COMPLETE &&
		    event.cases.singleStepComplete.dev == 1);
	CUDBGGridInfo info;
	GOOD(getGridInfo, 1, 1, &info);
	GOOD(resumeWarpsUntilPC, 1, 0, 1, info.functionEntry + 64,
	     CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING);
	event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_true(event.kind == CUDBG_EVENT_SINGLE_STEP_COMPLETE &&
		    event.cases.singleStepComplete.dev == 1 &&
		    event.cases.singleStepComplete.brokenDevicesMask == 2);
	GOOD0(acknowledgeSyncEvents);
	expect_nothing();
}

/* The same code is at the same address on both: each has breakpoints of its own. */
static void a_breakpoint_is_of_one_device(void **state)
{
	(void)state;
	CUDBGBreakpointHandle handles[2], hit_handle;
	CUDBGGridInfo info;
	begin_two("calls", "calls");
	GOOD(getGridInfo, 1, 1, &info);
	const uint64_t pc = info.functionEntry + 32;
	for (uint32_t dev = 0; dev < 2; dev++)
		GOOD(insertBreakpoint, dev, pc, &handles[dev]);
	assert_true(handles[0] != handles[1]);
	GOOD0(resumeAllDevices);
	uint64_t devices_hit = 0;
	while (devices_hit != 3) {
		CUDBGEvent event = await_stop();
		uint64_t mask = event.cases.allDevicesSuspended.brokenDevicesMask;
		devices_hit |= mask;
		for (uint32_t dev = 0; dev < 2; dev++) {
			if (!(mask >> dev & 1))
				continue;
			GOOD(getWarpHitBreakpoint, dev, 0, 0, &hit_handle);
			assert_true(hit_handle == handles[dev]);
		}
		if (devices_hit != 3)
			GOOD0(resumeAllDevices);
	}
	/* without that of the first, the second's is still planted */
	GOOD(removeBreakpoint, handles[0]);
	const uint64_t args[] = { device.out };
	(void)device_launch_later(&device, "calls", 1, 32, args, 1);
	(void)device_launch_later(&other, "calls", 1, 32, args, 1);
	GOOD0(resumeAllDevices);
	CUDBGEvent event = await_stop();
	assert_int_equal(event.cases.allDevicesSuspended.brokenDevicesMask, 2);
	GOOD(setBreakpoint, 0, pc);
	GOOD(setBreakpoint, 1, pc);
	GOOD(unsetBreakpoint, 0, pc);
	GOOD(unsetBreakpoint, 1, pc);
}

static void log_on(struct device *d, const char *text)
{
	ws_sim_host_begin(d->target, true);
	assert_int_equal(ws_sim_log(d->sim, WS_SIM_LOG_WARNING, 7, text, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(d->target, true, NULL, NULL), WS_OK);
}

/* One process has one log, whichever device a record is about. */
static void both_have_one_log(void **state)
{
	(void)state;
	CUDBGCudaLogMessage134 records[4];
	const CUDBGCudaLogRule rule = { .messageFilterRegex = NULL };
	uint32_t n, set;
	begin_two("calls", "calls");
	cudbgDebuggerCapabilities |= CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS;
	GOOD(getNumDevices, &n);
	for (int round = 0; round < 2; round++) {
		log_on(&other, "first");
		log_on(&device, "second");
		expect(CUDBG_EVENT_QUEUE_TYPE_ASYNC, CUDBG_EVENT_CUDA_LOGS_AVAILABLE);
		expect_nothing();
		GOOD(consumeCudaLogs134, records, 1, &n);
		log_on(&device, "third"); /* not all was read */
		expect_nothing();
		GOOD(consumeCudaLogs134, records + 1, 3, &n);
		assert_int_equal(n, 2);
		assert_int_equal(CALL(consumeCudaLogs134, records, 4, &n),
				 CUDBG_ERROR_NO_EVENT_AVAILABLE);
	}
	GOOD(setCudaLogRules, &rule, 0, &set);
	expect(CUDBG_EVENT_QUEUE_TYPE_ASYNC, CUDBG_EVENT_CUDA_LOGS_RULESET_CHANGED);
	expect_nothing();
}

/* A watchpoint is of one device, whatever the addresses of the other; its hit stops both. */
static void a_watchpoint_of_one_stops_both(void **state)
{
	(void)state;
	static uint32_t words[64];
	const uint64_t pinned = UINT64_C(0x200000000);
	struct ws_watch watch = { .size_bytes = 4, .kinds = WS_WATCH_WRITE };
	struct ws_watch_hit hit;
	struct ws_error err;
	struct ws_warp warp;
	struct ws_sm sm;
	uint32_t number = 0;
	begin_two("spins", "calls");
	assert_true(ws_target_can(both, WS_CAN_WATCH) && ws_target_can(both, WS_CAN_STOP_IF));
	watch.at = (struct ws_address){ .space = WS_SPACE_GLOBAL,
					.device_index = 1,
					.grid_index = WS_NONE,
					.warp_index = WS_NONE,
					.address = other.out + 20 };
	assert_int_equal(ws_target_watch(both, &watch, &number, &err), WS_OK);
	GOOD0(resumeAllDevices);
	CUDBGEvent event = await_stop();
	assert_int_equal(event.cases.allDevicesSuspended.brokenDevicesMask, 2);
	assert_int_equal(valid_of(1), 1); /* takes in that it stands */
	assert_int_equal(ws_target_watch_hit(both, 0, &hit, &err), WS_OK);
	assert_true(hit.number == number && hit.address == other.out + 20 && hit.lane == 5);
	assert_int_equal(ws_target_warp(both, hit.warp_index, &warp, &err), WS_OK);
	assert_int_equal(ws_target_sm(both, warp.sm_index, &sm, &err), WS_OK);
	assert_int_equal(sm.device_index, 1);
	assert_int_equal(ws_target_watch_hit(both, 1, &hit, &err), WS_ABSENT);
	assert_int_equal(ws_target_unwatch(both, number, &err), WS_OK);
	/* the host's memory is one for both */
	struct device *const of[] = { &device, &other };
	for (int i = 0; i < 2; i++) {
		ws_sim_host_begin(of[i]->target, true);
		assert_int_equal(ws_sim_map(of[i]->sim, pinned, words, sizeof words, NULL), WS_OK);
		assert_int_equal(ws_sim_host_end(of[i]->target, true, NULL, NULL), WS_OK);
	}
	watch.at.address = pinned;
	assert_int_equal(ws_target_watch(both, &watch, &number, &err), WS_UNSUPPORTED);
}

#define TEST(name) cmocka_unit_test_teardown(name, stop_two)
const struct CMUnitTest live_two_tests[] = {
	TEST(each_device_stops_and_goes_alone),
	TEST(an_address_of_two_devices_is_ambiguous),
	TEST(a_breakpoint_of_one_stops_both),
	TEST(a_fault_of_one_is_told_of_it),
	TEST(launches_of_both_wait_for_one_client),
	TEST(a_watchpoint_of_one_stops_both),
	TEST(events_are_of_their_device),
	TEST(a_breakpoint_is_of_one_device),
	TEST(both_have_one_log),
};
const size_t n_live_two_tests = sizeof live_two_tests / sizeof *live_two_tests;
