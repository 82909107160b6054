/* SPDX-License-Identifier: Apache-2.0 */
/* The API over a device that really runs: state at a stop, events, logs, the host's side. */
#include "live.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <warpscope/core.h>

#undef calloc
#undef free

/* ---- state ---- */

/* Stands in the innermost function of `calls`. */
static void stop_inside(void)
{
	CUDBGBreakpointHandle handle;
	start_over("calls", 1, 40, false, NULL, 0);
	GOOD(insertBreakpoint, DEV, find(WS_OP_RET, 0), &handle);
	GOOD0(resumeAllDevices);
	expect_stop();
}

static void all_of_a_stop_can_be_read(void **state)
{
	(void)state;
	uint32_t n, value, lanes;
	uint64_t wide, pc;
	bool yes;
	CuDim3 dim;
	CuDim2 flat;
	char text[64];
	stop_inside();
	uint32_t sm, wp;
	one_broken(&sm, &wp);
	GOOD(getNumDevices, &n);
	assert_int_equal(n, 1);
	GOOD(getNumSMs, DEV, &n);
	assert_int_equal(n, 4);
	GOOD(getNumWarps, DEV, &n);
	assert_int_equal(n, 64);
	GOOD(getNumLanes, DEV, &n);
	assert_int_equal(n, 32);
	GOOD(getSmType, DEV, text, sizeof text);
	assert_string_equal(text, "sm_90");
	GOOD(readValidLanes, DEV, sm, wp, &lanes);
	assert_int_equal(lanes, wp == 0 ? UINT32_MAX : 0xff);
	GOOD(readActiveLanes, DEV, sm, wp, &value);
	assert_int_equal(value, lanes);
	GOOD(readGridId, DEV, sm, wp, &wide);
	assert_int_equal(wide, 1);
	GOOD(readGridId50, DEV, sm, wp, &n);
	assert_int_equal(n, 1);
	GOOD(readBlockIdx, DEV, sm, wp, &dim);
	assert_int_equal(dim.x, 0);
	GOOD(readBlockIdx32, DEV, sm, wp, &flat);
	assert_int_equal(flat.x, 0);
	GOOD(readThreadIdx, DEV, sm, wp, 5, &dim);
	assert_int_equal(dim.x, wp * 32 + 5);
	GOOD(readLaneStatus, DEV, sm, wp, 5, &yes);
	assert_false(yes);
	pc = pc_of(sm, wp, 5);
	assert_true(pc == find(WS_OP_RET, 0));
	GOOD(readPC, DEV, sm, wp, 5, &wide);
	assert_true(wide < pc);
	GOOD(readCallDepth, DEV, sm, wp, 5, &n);
	assert_int_equal(n, 2);
	GOOD(readCallDepth32, DEV, sm, wp, &n);
	assert_int_equal(n, 2);
	for (uint32_t level = 0; level < 2; level++) {
		GOOD(readVirtualReturnAddress, DEV, sm, wp, 5, level, &wide);
		struct ws_insn insn;
		uint8_t bytes[WS_SASS_BYTES];
		GOOD(readCodeMemory, DEV, wide - WS_SASS_BYTES, bytes, sizeof bytes);
		ws_sass_decode(90, bytes, &insn);
		assert_int_equal(insn.operation, WS_OP_CALL);
	}
	GOOD(readErrorPC, DEV, sm, wp, &wide, &yes);
	assert_false(yes);
	GOOD(getGridDim, DEV, sm, wp, &dim);
	assert_int_equal(dim.x, 1);
	GOOD(getBlockDim, DEV, sm, wp, &dim);
	assert_int_equal(dim.x, 40);
	GOOD(readParamMemory, DEV, sm, wp, 0x210, &wide, sizeof wide);
	assert_true(wide == device.out);
	CUDBGGridStatus status;
	GOOD(getGridStatus, DEV, 1, &status);
	assert_int_equal(status, CUDBG_GRID_STATUS_ACTIVE);
	CUDBGGridInfo info;
	GOOD(getGridInfo, DEV, 1, &info);
	assert_true(info.blockDim.x == 40 && info.origin == CUDBG_KNL_ORIGIN_CPU);
	uint64_t faulted = 1;
	GOOD(readDeviceExceptionState80, DEV, &faulted);
	assert_int_equal(faulted, 0);
	CUDBGWarpResources resources;
	GOOD(readWarpResources, DEV, sm, wp, &resources);
	assert_in_range(resources.numRegisters, 8, 64);
	/* inner() is at its end: some register holds what it returns */
	uint32_t registers[16], found = 0, argument = wp * 32 + 5 + 2;
	GOOD(readRegisterRange60, DEV, sm, wp, 5, 0, 16, registers);
	for (int i = 0; i < 16; i++)
		found += registers[i] == argument * 7 + 1;
	assert_int_not_equal(found, 0);
}

static CUDBGBreakpointHandle handle_in_response(void)
{
	return ask_info(CUDBG_RESPONSE_TYPE_FULL)->warp[0][0].handle;
}

static void both_ways_tell_what_was_hit(void **state)
{
	(void)state;
	CUDBGBreakpointHandle handle;
	start_over("calls", 1, 32, false, NULL, 0);
	uint64_t pc = entry() + 2 * WS_SASS_BYTES;
	GOOD(insertBreakpoint, DEV, pc, &handle);
	stop_at_start();
	assert_true(hit(0, 0) == CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
	assert_true(handle_in_response() == CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
	GOOD0(resumeAllDevices);
	expect_stop();
	assert_true(hit(0, 0) == handle && handle_in_response() == handle);
	GOOD(resumeWarpsUntilPC, DEV, 0, 1, pc + 2 * WS_SASS_BYTES, 0);
	assert_true(handle_in_response() == CUDBG_BREAKPOINT_HANDLE_INTERNAL);
	GOOD(setBreakpoint, DEV, pc + 3 * WS_SASS_BYTES);
	GOOD0(resumeAllDevices);
	expect_stop();
	assert_true(handle_in_response() == CUDBG_BREAKPOINT_HANDLE_LEGACY);
	(void)step(0, 0, UINT32_MAX, 1, 0);
	assert_true(handle_in_response() == 0);
}

/* It has no exception: no device has a fault. */
static void a_trap_is_a_breakpoint_in_every_way(void **state)
{
	(void)state;
	run_into_trap();
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_true(event.kind == CUDBG_EVENT_ALL_DEVICES_SUSPENDED &&
		    event.cases.allDevicesSuspended.brokenDevicesMask == 1 &&
		    event.cases.allDevicesSuspended.faultedDevicesMask == 0);
	assert_true(hit(0, 0) == CUDBG_BREAKPOINT_HANDLE_TRAP);
	assert_true(handle_in_response() == CUDBG_BREAKPOINT_HANDLE_TRAP);
	assert_int_equal(ask_info(CUDBG_RESPONSE_TYPE_FULL)->faulted, 0);
}

static uint64_t updated_warps(void)
{
	const struct told *told = ask_info(CUDBG_RESPONSE_TYPE_UPDATE);
	return told->is_update && told->updated & 1 ? told->updated_warps[0] : 0;
}

static void who_a_barrier_lets_go_has_changed(void **state)
{
	(void)state;
	const uint64_t rounds = 20;
	start_over("meets", 1, 128, false, &rounds, 1);
	stop_at_start();
	uint64_t barrier = find(WS_OP_BAR, 0);
	(void)updated_warps();                                /* the first response is whole */
	GOOD(resumeWarpsUntilPC, DEV, 0, 7, barrier + 16, 0); /* they wait: early */
	assert_int_equal(updated_warps(), 7);
	GOOD(resumeWarpsUntilPC, DEV, 0, 8, barrier, 0);
	assert_int_equal(updated_warps(), 8);
	assert_int_equal(step(0, 3, UINT32_MAX, 1, 0), 8); /* it alone moves; all go on */
	assert_int_equal(updated_warps(), 0xf);
	assert_true(pc_of(0, 0, 0) == barrier + 16);
	assert_int_equal(updated_warps(), 0);
}

/* Rows of warps and lanes, and registers, of two targets. */
static void same_state(const struct ws_target *a, const struct ws_target *b)
{
	struct ws_counts na, nb;
	ws_target_counts(a, &na);
	ws_target_counts(b, &nb);
	assert_true(na.warps == nb.warps && na.warps > 0 && na.blocks == nb.blocks);
	for (uint32_t i = 0; i < na.warps; i++) {
		struct ws_warp wa, wb;
		struct ws_lane la[WS_MAX_LANES], lb[WS_MAX_LANES];
		uint32_t n_a, n_b, ra[64], rb[64], got_a = 0, got_b = 0;
		assert_int_equal(ws_target_warp(a, i, &wa, NULL), WS_OK);
		assert_int_equal(ws_target_warp(b, i, &wb, NULL), WS_OK);
		assert_true(wa.id == wb.id && wa.valid_lanes == wb.valid_lanes &&
			    wa.active_lanes == wb.active_lanes && wa.broken == wb.broken);
		assert_int_equal(ws_target_lanes(a, i, la, &n_a, NULL), WS_OK);
		assert_int_equal(ws_target_lanes(b, i, lb, &n_b, NULL), WS_OK);
		assert_int_equal(n_a, n_b);
		for (uint32_t k = 0; k < n_a; k++) {
			assert_true(la[k].pc == lb[k].pc && la[k].call_depth == lb[k].call_depth);
			assert_int_equal(ws_target_registers(a, i, la[k].id, WS_REG_R, 0, 64, ra,
							     &got_a, NULL),
					 WS_OK);
			assert_int_equal(ws_target_registers(b, i, la[k].id, WS_REG_R, 0, 64, rb,
							     &got_b, NULL),
					 WS_OK);
			assert_true(got_a <= got_b);
			assert_memory_equal(ra, rb, got_a * sizeof *ra);
		}
	}
}

static void a_dump_at_a_stop_says_the_same(void **state)
{
	(void)state;
	struct ws_target *dump;
	stop_inside();
	GOOD(generateCoredump, api_call_file(), CUDBG_COREDUMP_DEFAULT_FLAGS);
	assert_int_equal(ws_core_open(api_call_file(), NULL, &dump, NULL), WS_OK);
	same_state(device.target, dump);
	ws_target_close(dump);
	assert_int_equal(unlink(api_call_file()), 0);
}

/* ---- launches and images ---- */

static void a_launch_that_is_told_waits(void **state)
{
	(void)state;
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_EVENT);
	GOOD0(resumeAllDevices);
	const uint64_t args[] = { device.out };
	(void)device_launch_later(&device, "calls", 2, 64, args, 1);
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_true(event.kind == CUDBG_EVENT_KERNEL_READY && event.cases.kernelReady.gridId == 1 &&
		    event.cases.kernelReady.gridDim.x == 2 &&
		    event.cases.kernelReady.blockDim.x == 64 &&
		    event.cases.kernelReady.type == CUDBG_KNL_TYPE_APPLICATION &&
		    event.cases.kernelReady.origin == CUDBG_KNL_ORIGIN_CPU);
	for (int i = 0; i < 30; i++)
		doze();
	GOOD(suspendAllDevices, 0);
	for (uint32_t sm = 0; sm < 4; sm++)
		assert_int_equal(valid(sm), 0);
	CUDBGGridStatus status;
	GOOD(getGridStatus, DEV, 1, &status);
	assert_int_equal(status, CUDBG_GRID_STATUS_PENDING);
	GOOD0(resumeAllDevices);
	expect_nothing();
	GOOD0(acknowledgeSyncEvents);
	expect_end();
	/* nobody waits for who does not want to be told */
	(void)device_launch_later(&device, "calls", 2, 64, args, 1);
	event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_int_equal(event.kind, CUDBG_EVENT_KERNEL_READY);
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_DEFER);
	expect_end();
}

static atomic_int host_went_on;

static void *launch_and_wait(void *data)
{
	(void)data;
	const uint64_t args[] = { device.out };
	ws_sim_host_begin(device.target, false);
	device_launch(&device, "calls", 1, 32, args, 1);
	uint64_t event = 0;
	if (ws_sim_host_end(device.target, false, &event, NULL) == WS_OK)
		ws_sim_host_await(device.target, event);
	atomic_store(&host_went_on, 1);
	return NULL;
}

static void a_host_thread_waits_for_the_debugger(void **state)
{
	(void)state;
	pthread_t thread;
	device_open(&device, kernels, 4);
	begin(0);
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_EVENT);
	atomic_store(&host_went_on, 0);
	assert_int_equal(pthread_create(&thread, NULL, launch_and_wait, NULL), 0);
	for (int i = 0; i < 20; i++)
		doze();
	expect_nothing(); /* the device stands: the host's call waits */
	GOOD0(resumeAllDevices);
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_int_equal(event.kind, CUDBG_EVENT_KERNEL_READY);
	for (int i = 0; i < 20; i++)
		doze();
	assert_int_equal(atomic_load(&host_went_on), 0);
	GOOD0(acknowledgeSyncEvents);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&host_went_on), 1);
	expect_end();
}

static void an_image_that_is_loaded_is_told(void **state)
{
	(void)state;
	struct ws_span image;
	start_spinning(1, 32);
	GOOD0(resumeAllDevices);
	assert_int_equal(ws_sim_module_image(device.sim, 0, &image, NULL), WS_OK);
	struct device other;
	device_open(&other, service, 1);
	struct ws_span bytes;
	assert_int_equal(ws_sim_module_image(other.sim, other.module, &bytes, NULL), WS_OK);
	ws_sim_host_begin(device.target, false);
	assert_int_equal(ws_sim_load(device.sim, bytes, NULL, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, false, NULL, NULL), WS_OK);
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_true(event.kind == CUDBG_EVENT_ELF_IMAGE_LOADED &&
		    event.cases.elfImageLoaded.handle == 2 &&
		    event.cases.elfImageLoaded.size == bytes.len);
	uint8_t *copy = calloc(1, bytes.len);
	assert_non_null(copy);
	GOOD(getElfImageByHandle, DEV, 2, CUDBG_ELF_IMAGE_TYPE_RELOCATED, copy, bytes.len);
	assert_memory_equal(copy, "\177ELF", 4); /* while it runs */
	GOOD(getElfImageByHandle, DEV, 2, CUDBG_ELF_IMAGE_TYPE_NONRELOCATED, copy, bytes.len);
	assert_memory_equal(copy, "\177ELF", 4);
	assert_int_equal(
		CALL(getElfImageByHandle, DEV, 3, CUDBG_ELF_IMAGE_TYPE_RELOCATED, copy, bytes.len),
		CUDBG_ERROR_RUNNING_DEVICE);
	memset(copy, 0, bytes.len);
	GOOD0(acknowledgeSyncEvents);
	GOOD(suspendAllDevices, 0);
	GOOD(getElfImageByHandle, DEV, 2, CUDBG_ELF_IMAGE_TYPE_RELOCATED, copy, bytes.len);
	assert_memory_equal(copy, "\177ELF", 4);
	free(copy);
	device_close(&other);
}

/* ---- notification ---- */

static atomic_uint called;

static void on_event(CUDBGEventCallbackData *data)
{
	(void)data;
	atomic_fetch_add(&called, 1);
}

static void on_event31(void *data)
{
	(void)data;
	atomic_fetch_add(&called, 1);
}

static void on_event40(CUDBGEventCallbackData40 *data)
{
	(void)data;
	atomic_fetch_add(&called, 1);
}

static void on_event41(CUDBGEventCallbackData41 *data)
{
	atomic_fetch_add(&called, data->timeout == 0);
}

static void every_generation_of_callbacks_is_called(void **state)
{
	(void)state;
	start_over("calls", 4, 32, false, NULL, 0);
	GOOD(setBreakpoint, DEV, entry() + WS_SASS_BYTES);
	for (int i = 0; i < 4; i++) {
		if (i == 0)
			GOOD(setNotifyNewEventCallback, on_event, NULL);
		else if (i == 1)
			GOOD(setNotifyNewEventCallback31, on_event31, NULL);
		else if (i == 2)
			GOOD(setNotifyNewEventCallback40, on_event40);
		else
			GOOD(setNotifyNewEventCallback41, on_event41);
		unsigned before = atomic_load(&called);
		GOOD0(resumeAllDevices);
		for (int k = 0; k < 50000 && atomic_load(&called) == before; k++)
			doze();
		assert_true(atomic_load(&called) > before);
		expect_stop();
	}
}

/* ---- logs ---- */

static void the_log_is_told_and_drained(void **state)
{
	(void)state;
	CUDBGCudaLogMessage134 records[100];
	CUDBGCudaLogMessage old;
	uint32_t n;
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS);
	assert_int_equal(CALL(consumeCudaLogs134, records, 9, &n), CUDBG_ERROR_NO_EVENT_AVAILABLE);
	log_once("first");
	log_once("second");
	expect(CUDBG_EVENT_QUEUE_TYPE_ASYNC, CUDBG_EVENT_CUDA_LOGS_AVAILABLE);
	expect_nothing(); /* of the second one nobody is told */
	GOOD(consumeCudaLogs, &old, 1, &n);
	assert_true(n == 1 && old.logLevel == CUDBG_CUDA_LOG_LEVEL_WARNING);
	assert_string_equal(old.message, "first");
	log_once("third");
	expect_nothing(); /* it was not drained to its end */
	GOOD(consumeCudaLogs134, records, 9, &n);
	assert_int_equal(n, 2);
	assert_string_equal(records[1].message, "third");
	/* a launch that fails says so; and it is the first after a full drain */
	const struct ws_sim_launch launch = { .size = sizeof launch, .kernel = "no_such_kernel" };
	ws_sim_host_begin(device.target, true);
	assert_int_not_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, NULL), WS_OK);
	expect(CUDBG_EVENT_QUEUE_TYPE_ASYNC, CUDBG_EVENT_CUDA_LOGS_AVAILABLE);
	GOOD(consumeCudaLogs134, records, 9, &n);
	assert_true(n == 1 && records[0].logLevel == CUDBG_CUDA_LOG_LEVEL_ERROR);
	assert_non_null(strstr(records[0].message, "CUDA_ERROR_"));
	for (int i = 0; i < 70; i++)
		log_once("many");
	expect(CUDBG_EVENT_QUEUE_TYPE_ASYNC, CUDBG_EVENT_CUDA_LOGS_AVAILABLE);
	expect(CUDBG_EVENT_QUEUE_TYPE_SYNC, CUDBG_EVENT_CUDA_LOGS_THRESHOLD_REACHED);
	GOOD(consumeCudaLogs134, records, 100, &n);
	assert_int_equal(n, 70); /* no one was lost meanwhile */
	expect_nothing();
}

static void rules_of_the_log_decide(void **state)
{
	(void)state;
	CUDBGCudaLogMessage134 records[9];
	CUDBGCudaLogRule rules[] = {
		{ CUDBG_CUDA_LOG_RULE_ACTION_EXCLUDE, CUDBG_CUDA_LOG_LEVEL_FILTER_ANY, UINT64_MAX,
		  "^secret" },
		{ CUDBG_CUDA_LOG_RULE_ACTION_SEND_SYNC, CUDBG_CUDA_LOG_LEVEL_FILTER_WARNING,
		  UINT64_MAX, "urgent" },
	};
	uint32_t n, set = 0;
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS);
	GOOD(setCudaLogRules, rules, 2, &set);
	expect(CUDBG_EVENT_QUEUE_TYPE_ASYNC, CUDBG_EVENT_CUDA_LOGS_RULESET_CHANGED);
	log_once("secret thing");
	expect_nothing();
	log_once("an urgent thing");
	expect(CUDBG_EVENT_QUEUE_TYPE_SYNC, CUDBG_EVENT_CUDA_LOGS_AVAILABLE);
	log_once("a thing");
	GOOD(consumeCudaLogs134, records, 9, &n);
	assert_int_equal(n, 2);
	assert_true(records[0].matchedRulesetIndex == set && records[0].matchedRuleIndex == 1);
	assert_true(records[1].matchedRuleIndex == UINT32_MAX);
	rules[0].messageFilterRegex = "(";
	assert_int_equal(CALL(setCudaLogRules, rules, 2, &set), CUDBG_ERROR_INVALID_ARGS);
}

static void without_the_capability_there_is_no_log(void **state)
{
	(void)state;
	CUDBGCudaLogMessage134 record;
	uint32_t n;
	device_open(&device, kernels, 4);
	begin(0);
	log_once("unheard");
	expect_nothing();
	assert_int_equal(CALL(consumeCudaLogs134, &record, 1, &n), CUDBG_ERROR_NO_EVENT_AVAILABLE);
}

/* ---- the host's memory ---- */

static void memory_of_the_host_has_two_addresses(void **state)
{
	(void)state;
	static uint32_t words[1024];
	const uint64_t at = UINT64_C(0x200000000);
	uint64_t host;
	uint32_t word = 7;
	start_spinning(1, 32);
	ws_sim_host_begin(device.target, true);
	assert_int_equal(ws_sim_map(device.sim, at, words, sizeof words, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, NULL), WS_OK);
	GOOD(getHostAddrFromDeviceAddr, DEV, at + 40, &host);
	assert_true(host == (uint64_t)(uintptr_t)&words[10]);
	GOOD(writePinnedMemory, host, &word, sizeof word);
	assert_int_equal(words[10], 7);
	GOOD(readGlobalMemory, at + 40, &word, sizeof word);
	words[11] = 8;
	GOOD(readPinnedMemory, host + 4, &word, sizeof word);
	assert_int_equal(word, 8);
	assert_int_equal(CALL(readPinnedMemory, 64, &word, sizeof word),
			 CUDBG_ERROR_MEMORY_MAPPING_FAILED);
}

/* ---- ends ---- */

static void a_client_that_goes_leaves_a_device_that_runs(void **state)
{
	(void)state;
	start_over("calls", 2, 64, false, NULL, 0);
	GOOD(setBreakpoint, DEV, entry() + WS_SASS_BYTES);
	GOOD0(resumeAllDevices);
	GOOD0(finalize);
	assert_int_equal(ws_target_resume(device.target, WS_NONE, NULL), WS_OK);
	while (ws_target_running(device.target, 0) && device_word(&device, device.out + 4) == 0) {
		assert_int_equal(ws_target_update(device.target, NULL), WS_OK);
		assert_int_equal(ws_target_resume(device.target, WS_NONE, NULL), WS_OK);
		doze();
	}
	assert_int_equal(ws_sim_host_wait(device.target), WS_SIM_DONE);
	GOOD0(initialize);
	GOOD(suspendAllDevices, 0);
}

static void detaching_takes_everything_out(void **state)
{
	(void)state;
	start_over("calls", 2, 64, false, NULL, 0);
	GOOD(setBreakpoint, DEV, entry() + 2 * WS_SASS_BYTES);
	stop_at_start();
	GOOD(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
	GOOD(requestCleanupOnDetach, 1);
	expect(CUDBG_EVENT_QUEUE_TYPE_SYNC, CUDBG_EVENT_DETACH_COMPLETE);
	expect_end();
	(void)device_launch_later(&device, "calls", 2, 64, &device.out, 1);
	expect_end(); /* nor is its launch broken at */
	expect_nothing();
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_state_tests[] = {
	TEST(all_of_a_stop_can_be_read),
	TEST(both_ways_tell_what_was_hit),
	TEST(a_trap_is_a_breakpoint_in_every_way),
	TEST(who_a_barrier_lets_go_has_changed),
	TEST(a_dump_at_a_stop_says_the_same),
	TEST(a_launch_that_is_told_waits),
	TEST(a_host_thread_waits_for_the_debugger),
	TEST(an_image_that_is_loaded_is_told),
	TEST(every_generation_of_callbacks_is_called),
	TEST(the_log_is_told_and_drained),
	TEST(rules_of_the_log_decide),
	TEST(without_the_capability_there_is_no_log),
	TEST(memory_of_the_host_has_two_addresses),
	TEST(a_client_that_goes_leaves_a_device_that_runs),
	TEST(detaching_takes_everything_out),
};
const size_t n_live_state_tests = sizeof live_state_tests / sizeof *live_state_tests;
