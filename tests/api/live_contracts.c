/* SPDX-License-Identifier: Apache-2.0 */
/* The API over a device that really runs: sentences of the manual that have no place elsewhere. */
#include "live.h"

#include <pthread.h>
#include <stdatomic.h>

/* "Dynamic flag: can be changed after initialization." */
static void the_capability_of_logs_may_change(void **state)
{
	(void)state;
	CUDBGCudaLogMessage134 record;
	uint32_t n;
	device_open(&device, kernels, 4);
	begin(0);
	log_once("unheard");
	assert_int_equal(CALL(consumeCudaLogs134, &record, 1, &n), CUDBG_ERROR_NO_EVENT_AVAILABLE);
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS;
	GOOD(getNumDevices, &n);
	log_once("heard");
	expect(CUDBG_EVENT_QUEUE_TYPE_ASYNC, CUDBG_EVENT_CUDA_LOGS_AVAILABLE);
	GOOD(consumeCudaLogs134, &record, 1, &n);
	assert_string_equal(record.message, "heard");
	cudbgDebuggerCapabilities = 0;
	GOOD(getNumDevices, &n);
	log_once("unheard");
	expect_nothing();
	assert_int_equal(CALL(consumeCudaLogs134, &record, 1, &n), CUDBG_ERROR_NO_EVENT_AVAILABLE);
}

static void a_state_that_is_there_already_is_a_conflict(void **state)
{
	(void)state;
	CUDBGBreakpointHandle a, b;
	uint32_t enabled = 9;
	start_over("calls", 1, 32, false, NULL, 0);
	GOOD(insertBreakpoint, DEV, entry() + 32, &a);
	assert_int_equal(CALL(insertBreakpoint, DEV, entry() + 32, &b),
			 CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT);
	assert_int_equal(CALL(enableBreakpoint, a), CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT);
	GOOD(disableBreakpoint, a);
	assert_int_equal(CALL(disableBreakpoint, a), CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT);
	assert_int_equal(CALL(insertBreakpoint, DEV, entry() + 32, &b),
			 CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT); /* disabled, but there */
	GOOD(isBreakpointEnabled, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH, &enabled);
	assert_int_equal(enabled, 0);
	assert_int_equal(CALL(disableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH),
			 CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT);
	static const CUDBGBreakpointHandle special[] = { CUDBG_BREAKPOINT_HANDLE_TRAP,
							 CUDBG_BREAKPOINT_HANDLE_LEGACY,
							 CUDBG_BREAKPOINT_HANDLE_INTERNAL,
							 CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH };
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(CALL(removeBreakpoint, special[i]), CUDBG_ERROR_INVALID_ARGS);
	GOOD(removeBreakpoint, a);
	GOOD(insertBreakpoint, DEV, entry() + 32, &b);
}

/* "This flag is only valid for the singleStepWarp() API method" */
static void running_to_a_pc_takes_no_step_flag(void **state)
{
	(void)state;
	start_over("calls", 1, 32, false, NULL, 0);
	stop_at_start();
	assert_int_equal(CALL(resumeWarpsUntilPC, DEV, 0, 1, entry() + 32,
			      CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS),
			 CUDBG_ERROR_INVALID_ARGS);
	assert_true(pc_of(0, 0, 0) == entry());
}

/* One mask for each barrier register of a warp: lanes of which any keeps it (decision 62). */
static void barrier_masks_are_of_the_warp(void **state)
{
	(void)state;
	CUDBGCbuWarpState cbu;
	uint32_t any = 0;
	start_whole();
	GOOD(getCbuWarpState, DEV, 0, 1, &cbu, 1);
	for (int i = 0; i < CUDBG_MAX_WARP_BARRIERS; i++)
		assert_int_equal(cbu.barrierMasks[i], 0);
	(void)go_to_meeting();
	GOOD(getCbuWarpState, DEV, 0, 1, &cbu, 1);
	for (int i = 0; i < CUDBG_MAX_WARP_BARRIERS; i++)
		any |= cbu.barrierMasks[i];
	assert_true(any == UINT32_MAX); /* all lanes are to meet */
}

static void what_is_not_kept_is_missing(void **state)
{
	(void)state;
	uint64_t addresses[4];
	uint32_t n = 9, bus = 9, unit = 9;
	start_over("calls", 1, 32, false, NULL, 0);
	stop_at_start();
	assert_int_equal(CALL(readCPUCallStack, DEV, 1, addresses, 4, &n),
			 CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(readCPUCallStack, DEV, 99, addresses, 4, &n),
			 CUDBG_ERROR_INVALID_GRID);
	GOOD(getDevicePCIBusInfo, DEV, &bus, &unit);
	assert_true(bus == 0 && unit == 0); /* it is on no bus */
	GOOD0(requestCleanupOnDetach55);
	expect_nothing(); /* the program is not to be resumed for that */
}

/* What the client writes is what the kernel stores; only active lanes are written. */
static void the_rpc_is_read_and_written(void **state)
{
	(void)state;
	static const char text[] =
		".arch sm_90a\n.kernel k\n.param out 8\nS2R R0, SR_LANEID\n"
		"IADD3 R1, R0, 0x700, RZ\nRPCMOV.32 Rpc.LO, R0\nRPCMOV.32 Rpc.HI, R1\n"
		"LOP3.LUT P0, RZ, R0, 0x1, RZ, 0xc0, !PT\n@P0 BRA `(odd)\n"
		"RPCMOV.32 R4, Rpc.LO\nRPCMOV.32 R5, Rpc.HI\nMOV R6, 0x8\n"
		"IMAD.WIDE.U32 R2, R0, R6, c[0x0][`(out)]\nST.E.64 [R2], R4\n"
		"odd: EXIT\n.end\n";
	struct ws_sim_launch launch = {
		.size = sizeof launch,
		.kernel = "k",
		.grid = { 1, 1, 1 },
		.block = { 32, 1, 1 },
		.args = (const void *const[]){ &device.out },
		.n_args = 1,
	};
	const uint32_t new_lo = 0x1234, new_hi = 0xabcd;
	uint32_t lo = 9, hi = 9, words[2], active = 0;
	device_open(&device, kernels, 4);
	launch.module = load_text(text);
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	uint64_t first = entry();
	GOOD(readRpcRegisters, DEV, 0, 0, 6, &lo, &hi);
	assert_true(lo == 0 && hi == 0);
	(void)step(0, 0, 6, 6, 0);
	assert_int_equal(lanes_at(0, 0, first + 6 * WS_SASS_BYTES), 0x55555555);
	GOOD(readActiveLanes, DEV, 0, 0, &active);
	assert_int_equal(active, 0x55555555);
	for (uint32_t ln = 0; ln < 32; ln++) {
		bool writes = active >> ln & 1;
		GOOD(readRpcRegisters, DEV, 0, 0, ln, &lo, &hi);
		assert_true(lo == ln && hi == ln + 0x700);
		assert_int_equal(CALL(writeRpcRegisters, DEV, 0, 0, ln, &new_lo, &new_hi),
				 writes ? CUDBG_SUCCESS : CUDBG_ERROR_INVALID_LANE);
		GOOD(readRpcRegisters, DEV, 0, 0, ln, &lo, &hi);
		assert_true(lo == (writes ? new_lo : ln) && hi == (writes ? new_hi : ln + 0x700));
	}
	GOOD0(resumeAllDevices);
	assert_int_equal(CALL(writeRpcRegisters, DEV, 0, 0, 6, &lo, &hi),
			 CUDBG_ERROR_RUNNING_DEVICE);
	expect_end();
	assert_int_equal(ws_sim_host_wait(device.target), WS_SIM_DONE);
	for (uint32_t ln = 0; ln < 32; ln += 2) {
		assert_int_equal(ws_sim_read(device.sim, device.out + 8 * ln, words, 8, NULL),
				 WS_OK);
		assert_true(words[0] == new_lo && words[1] == new_hi);
	}
}

/* ---- the host ---- */

/* "Collect CPU call stacks of kernel launches": a dynamic capability. */
static void who_launched_is_told(void **state)
{
	(void)state;
	uint64_t addresses[4] = { 0 };
	uint32_t n = 9;
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_EVENT);
	ws_sim_host_begin(device.target, true);
	assert_int_equal(ws_sim_launch(device.sim, &host_launch, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, NULL), WS_OK);
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_int_equal(event.kind, CUDBG_EVENT_KERNEL_READY);
	assert_int_equal(event.cases.kernelReady.tid, 4321);
	assert_int_equal(event.cases.kernelReady.type, CUDBG_KNL_TYPE_SYSTEM);
	GOOD0(acknowledgeSyncEvents);
	assert_int_equal(CALL(readCPUCallStack, DEV, 1, addresses, 4, &n),
			 CUDBG_ERROR_MISSING_DATA);
	cudbgDebuggerCapabilities |=
		CUDBG_DEBUGGER_CAPABILITY_COLLECT_CPU_CALL_STACK_FOR_KERNEL_LAUNCHES;
	for (int done = 0; done < 2; done++) {
		memset(addresses, 0, sizeof addresses);
		GOOD(readCPUCallStack, DEV, 1, addresses, 2, &n);
		assert_true(n == 3 && addresses[0] == host_frames[0] &&
			    addresses[1] == host_frames[1] && addresses[2] == 0);
		GOOD0(resumeAllDevices);
		if (!done)
			expect_end();
		GOOD(suspendAllDevices, 0);
	}
	cudbgDebuggerCapabilities = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS;
	assert_int_equal(CALL(readCPUCallStack, DEV, 1, addresses, 4, &n),
			 CUDBG_ERROR_MISSING_DATA);
}

static atomic_int progress;

/* A host thread that launches, and one that makes the context current and lets it go. */
static void *launches(void *data)
{
	const uint64_t args[] = { device.in, device.out };
	(void)data;
	ws_sim_host_await(device.target, device_launch_later(&device, "spins", 1, 32, args, 2));
	atomic_store(&progress, 1);
	return NULL;
}

static void *switches(void *data)
{
	(void)data;
	if (ws_sim_host_switch(device.target, true, 77, NULL) == WS_OK)
		atomic_store(&progress, 1);
	if (ws_sim_host_switch(device.target, false, 77, NULL) == WS_OK)
		atomic_store(&progress, 2);
	return NULL;
}

static void wait_for(int stage)
{
	for (int i = 0; i < 50000 && atomic_load(&progress) != stage; i++)
		doze();
	assert_int_equal(atomic_load(&progress), stage);
}

/* "This variable is set by the API client to enable blocking launches." */
static void launches_block_if_the_client_says_so(void **state)
{
	(void)state;
	pthread_t thread;
	const uint32_t one = 1;
	uint64_t value = 9;
	for (uint32_t blocks = 0; blocks < 2; blocks++) {
		device_open(&device, kernels, 4);
		cudbgEnableLaunchBlocking = blocks;
		begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
		GOOD0(resumeAllDevices);
		atomic_store(&progress, 0);
		assert_int_equal(pthread_create(&thread, NULL, launches, NULL), 0);
		if (!blocks)
			wait_for(1); /* it spins still */
		for (int i = 0; i < 100; i++)
			doze();
		assert_int_equal(atomic_load(&progress), !blocks);
		GOOD(suspendAllDevices, 0);
		run_until(1, 0, 0);
		GOOD(getGridAttribute, DEV, 0, 0, CUDBG_ATTR_GRID_LAUNCH_BLOCKING, &value);
		assert_int_equal(value, blocks);
		GOOD(writeGlobalMemory, device.in, &one, sizeof one);
		GOOD0(resumeAllDevices);
		expect_end();
		wait_for(1);
		pthread_join(thread, NULL);
		cudbgEnableLaunchBlocking = 0;
		if (!blocks)
			(void)stop(state);
	}
}

static void switches_of_contexts_are_told_and_wait(void **state)
{
	(void)state;
	static const CUDBGEventKind kinds[] = { CUDBG_EVENT_CTX_PUSH, CUDBG_EVENT_CTX_POP };
	pthread_t thread;
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	GOOD0(resumeAllDevices);
	atomic_store(&progress, 0);
	assert_int_equal(pthread_create(&thread, NULL, switches, NULL), 0);
	for (int i = 0; i < 2; i++) {
		CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
		assert_true(event.kind == kinds[i] && event.cases.contextPush.tid == 77 &&
			    event.cases.contextPush.context == 1);
		for (int k = 0; k < 20; k++)
			doze();
		assert_int_equal(atomic_load(&progress), i);
		GOOD0(acknowledgeSyncEvents);
		wait_for(i + 1);
	}
	pthread_join(thread, NULL);
	(void)stop(state);
	device_open(&device, kernels, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS);
	atomic_store(&progress, 0);
	assert_int_equal(pthread_create(&thread, NULL, switches, NULL), 0);
	wait_for(2);
	pthread_join(thread, NULL);
	expect_nothing();
}

static void managed_memory_is_listed(void **state)
{
	(void)state;
	CUDBGMemoryInfo regions[2];
	uint64_t managed, host;
	uint32_t n = 0, word = 0x55aa, back = 0;
	device_open(&device, kernels, 4);
	assert_int_equal(ws_sim_alloc_managed(device.sim, 4096, &managed, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	GOOD(getManagedMemoryRegionInfo, 0, regions, 2, &n);
	assert_true(n == 1 && regions[0].startAddress == managed && regions[0].size == 4096);
	GOOD(getHostAddrFromDeviceAddr, DEV, managed + 8, &host);
	assert_true(host == managed + 8); /* one address for both */
	GOOD(writeGlobalMemory, managed + 4092, &word, sizeof word);
	GOOD(readGlobalMemory, managed + 4092, &back, sizeof back);
	assert_int_equal(back, word);
}

/* Block 0 of a cluster reads where the shared memory of block 1 has ended. */
static void an_access_to_another_block_names_it(void **state)
{
	(void)state;
	static const char text[] = ".arch sm_90a\n.kernel far\n.param a 8\nMOV R2, 0x1ff0000\n"
				   "LDS R0, [R2]\nEXIT\n.end\n";
	struct ws_sim_launch launch = {
		.size = sizeof launch,
		.kernel = "far",
		.grid = { 6, 1, 1 },
		.block = { 32, 1, 1 },
		.cluster = { 2, 1, 1 },
		.args = (const void *const[]){ &device.out },
		.n_args = 1,
	};
	CuDim3 target = { 9, 9, 9 };
	CUDBGException_t exception;
	bool yes = false;
	uint32_t sm, wp;
	device_open(&device, kernels, 4);
	launch.module = load_text(text);
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	GOOD0(resumeAllDevices);
	expect_stop();
	one_broken(&sm, &wp);
	GOOD(readLaneException, DEV, sm, wp, 0, &exception);
	assert_int_equal(exception, CUDBG_EXCEPTION_CLUSTER_OUT_OF_RANGE_ADDRESS);
	CuDim3 own;
	GOOD(readBlockIdx, DEV, sm, wp, &own);
	GOOD(getClusterExceptionTargetBlock, DEV, sm, wp, &target, &yes);
	assert_true(yes && target.x == (own.x | 1) && target.y == 0 && target.z == 0);
	const CuDim3 in_response = ask_info(CUDBG_RESPONSE_TYPE_FULL)->warp[sm][wp].cluster_target;
	assert_memory_equal(&in_response, &target, sizeof target);
	assert_true(own.x % 2 == 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_contracts_tests[] = {
	TEST(the_capability_of_logs_may_change),
	TEST(a_state_that_is_there_already_is_a_conflict),
	TEST(running_to_a_pc_takes_no_step_flag),
	TEST(barrier_masks_are_of_the_warp),
	TEST(what_is_not_kept_is_missing),
	TEST(the_rpc_is_read_and_written),
	TEST(who_launched_is_told),
	TEST(launches_block_if_the_client_says_so),
	TEST(switches_of_contexts_are_told_and_wait),
	TEST(managed_memory_is_listed),
	TEST(an_access_to_another_block_names_it),
};
const size_t n_live_contracts_tests = sizeof live_contracts_tests / sizeof *live_contracts_tests;
