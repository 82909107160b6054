/* SPDX-License-Identifier: Apache-2.0 */
/* The API over a device that really runs: sentences of the manual that have no place elsewhere. */
#include "live.h"

static void log_once(const char *text)
{
	ws_sim_host_begin(device.target, true);
	assert_int_equal(ws_sim_log(device.sim, WS_SIM_LOG_WARNING, text, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, NULL), WS_OK);
}

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

/* "Static flag: cannot be changed after initialization." */
static void the_capability_of_stops_may_not_change(void **state)
{
	(void)state;
	uint32_t n;
	start_over("calls", 1, 32, false, NULL, 0);
	cudbgDebuggerCapabilities = 0;
	GOOD(getNumDevices, &n);
	GOOD(setBreakpoint, DEV, entry() + 32);
	GOOD0(resumeAllDevices);
	expect_stop();
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
	const uint64_t rounds = 3;
	CUDBGCbuWarpState cbu;
	uint32_t any = 0;
	device_open(&device, kernels, 4);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(ws_sim_write(device.sim, device.in + 4 * i, &i, 4, NULL), WS_OK);
	const uint64_t args[] = { device.out, device.in, rounds };
	device_launch(&device, "parts", 1, 32, args, 3);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	GOOD(getCbuWarpState, DEV, 0, 1, &cbu, 1);
	for (int i = 0; i < CUDBG_MAX_WARP_BARRIERS; i++)
		assert_int_equal(cbu.barrierMasks[i], 0);
	uint64_t inside = find(WS_OP_BSYNC, 1);
	for (int i = 0; i < 2000 && pc_of(0, 0, 6) != inside; i++)
		(void)step(0, 0, 6, 1, CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS);
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
	assert_int_equal(CALL(writeRpcRegisters, DEV, 0, 0, 0, &bus, &unit),
			 CUDBG_ERROR_NOT_SUPPORTED);
	GOOD(getDevicePCIBusInfo, DEV, &bus, &unit);
	assert_true(bus == 0 && unit == 0); /* it is on no bus */
	GOOD0(requestCleanupOnDetach55);
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_contracts_tests[] = {
	TEST(the_capability_of_logs_may_change),
	TEST(the_capability_of_stops_may_not_change),
	TEST(a_state_that_is_there_already_is_a_conflict),
	TEST(running_to_a_pc_takes_no_step_flag),
	TEST(barrier_masks_are_of_the_warp),
	TEST(what_is_not_kept_is_missing),
};
const size_t n_live_contracts_tests = sizeof live_contracts_tests / sizeof *live_contracts_tests;
