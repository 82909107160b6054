/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API over a device that really runs: what the manual promises of run control, breakpoints,
 * steps and events, kernel by kernel on the software GPU.
 *
 * usage: test_live KERNELS...    fatbins of tests/sim/kernels; WS_TEST_ONLY names a test
 */
#include <stdlib.h>

#include "live.h"

/* ---- run control ---- */

static void a_kernel_runs_to_its_end(void **state)
{
	(void)state;
	start_over("calls", 2, 64, false, NULL, 0);
	assert_int_equal(valid(0), 0); /* nothing runs before it is resumed */
	GOOD0(resumeAllDevices);
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_ASYNC);
	assert_true(event.kind == CUDBG_EVENT_KERNEL_FINISHED &&
		    event.cases.kernelFinished.gridId == 1 &&
		    event.cases.kernelFinished.dev == DEV);
	assert_int_equal(ws_sim_host_wait(device.target), WS_SIM_DONE);
	assert_int_equal(device_word(&device, device.out + 4 * 5), 3 * (7 * 7 + 1) + 7 * 5 + 1);
	CUDBGGridStatus status;
	assert_int_equal(CALL(getGridStatus, DEV, 1, &status), CUDBG_ERROR_RUNNING_DEVICE);
	GOOD(suspendAllDevices, 0);
	GOOD(getGridStatus, DEV, 1, &status);
	assert_int_equal(status, CUDBG_GRID_STATUS_TERMINATED);
	GOOD(getGridStatus, DEV, 99, &status);
	assert_int_equal(status, CUDBG_GRID_STATUS_INVALID);
}

static void a_device_stops_and_goes_at_any_pc(void **state)
{
	(void)state;
	uint64_t mask, pcs[8], n_pcs = 0;
	start_spinning(2, 64);
	assert_int_equal(CALL(suspendDevice, DEV), CUDBG_ERROR_SUSPENDED_DEVICE);
	assert_int_equal(CALL(suspendAllDevices, 0), CUDBG_ERROR_SUSPENDED_DEVICE);
	for (int i = 0; i < 8; i++) {
		if (i % 2)
			GOOD(resumeDevice, DEV);
		else
			GOOD0(resumeAllDevices);
		assert_int_equal(CALL(resumeDevice, DEV), CUDBG_ERROR_RUNNING_DEVICE);
		assert_int_equal(CALL0(resumeAllDevices), CUDBG_ERROR_RUNNING_DEVICE);
		assert_int_equal(CALL(readValidWarps, DEV, 0, &mask), CUDBG_ERROR_RUNNING_DEVICE);
		for (int k = 0; k < i; k++)
			doze();
		if (i % 2)
			GOOD(suspendDevice, DEV);
		else
			GOOD(suspendAllDevices, 0);
		if (valid(0))
			pcs[n_pcs++] = pc_of(0, 0, 0);
		expect_nothing(); /* nobody is told of what it asked for */
	}
	assert_int_equal(valid(0), 3);
	assert_in_range(n_pcs, 1, 8);
	for (uint64_t i = 0; i < n_pcs; i++)
		assert_in_range(pcs[i], entry(), entry() + 0x400);
}

static void a_suspend_that_does_not_wait_tells_when_it_is_done(void **state)
{
	(void)state;
	uint64_t mask;
	start_spinning(1, 32);
	GOOD0(resumeAllDevices);
	GOOD(suspendAllDevices, 1);
	expect_stop();
	GOOD(readValidWarps, DEV, 0, &mask);
	assert_int_equal(CALL(suspendAllDevices, 1), CUDBG_ERROR_SUSPENDED_DEVICE);
	expect_nothing();
}

static void what_needs_a_stopped_device_says_that_it_runs(void **state)
{
	(void)state;
	start_spinning(2, 64);
	GOOD0(resumeAllDevices);
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
		struct api_call call;
		CUDBGResult result;
		if (!wsi_api_functions[slot].stopped)
			continue;
		api_call_init(&call, slot);
		api_call_buffers(&call);
		const char *wrong = api_call_run(&call, api, &result);
		if (wrong || result != CUDBG_ERROR_RUNNING_DEVICE)
			fail_msg("%s: %s %s", wsi_api_functions[slot].name,
				 cudbgGetErrorString(result), wrong ? wrong : "");
		api_call_fini(&call);
	}
}

/* What a grid is does not change, and what belongs to the device is known; how far a grid is, and
 * memory, are asked of a device that stands. */
static void what_does_not_change_can_be_asked_while_it_runs(void **state)
{
	(void)state;
	CUDBGGridInfo info;
	CUDBGGridInfo120 v120;
	CUDBGGridInfo55 v55;
	CUDBGGridStatus status;
	CUDBGDeviceInfoSizes sizes;
	CUDBGMemoryInfo regions[2];
	CuDim3 dim;
	uint64_t address, frames[2];
	uint32_t n, word = 0;
	start_spinning(2, 64);
	GOOD0(resumeAllDevices);
	GOOD(getGridInfo, DEV, 1, &info);
	GOOD(getGridInfo120, DEV, 1, &v120);
	GOOD(getGridInfo55, DEV, 1, &v55);
	assert_true(info.gridDim.x == 2 && v120.blockDim.x == 64 && v55.gridId64 == 1);
	GOOD(getClusterDim120, DEV, 1, &dim);
	GOOD(getDeviceInfoSizes, DEV, &sizes);
	GOOD(getDevicePCIBusInfo, DEV, &n, &n);
	assert_int_equal(CALL(readCPUCallStack, DEV, 1, frames, 2, &n), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(CALL(getGridStatus, DEV, 1, &status), CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(getGridStatus, DEV, 99, &status), CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(getConstBankAddress, DEV, 1, 0, &address, &n),
			 CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(getGridStatus50, DEV, 1, &status), CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(readGlobalMemory, device.in, &word, 4), CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(writeGlobalMemory, device.in, &word, 4), CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(readPinnedMemory, 0x1000, &word, 4), CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(writePinnedMemory, 0x1000, &word, 4), CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(getHostAddrFromDeviceAddr, DEV, device.in, &address),
			 CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(getManagedMemoryRegionInfo, 0, regions, 2, &n),
			 CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(generateCoredump, "/nowhere", 0), CUDBG_ERROR_RUNNING_DEVICE);
}

static void a_hang_can_be_stopped_and_read(void **state)
{
	(void)state;
	device_open(&device, kernels, 4);
	const uint64_t args[] = { device.in, device.out };
	device_launch(&device, "never_meets", 1, 128, args, 2);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	run_until(0xf, 0, 0);
	uint64_t barrier = find(WS_OP_BAR, 0);
	run_until(0xf, 0xe, barrier);
	assert_true(pc_of(0, 0, 0) != barrier);
	/* what the first warp waits for is written by hand: then all is well */
	uint32_t one = 1;
	GOOD(writeGlobalMemory, device.in, &one, sizeof one);
	GOOD0(resumeAllDevices);
	expect_end();
}

/* ---- breakpoints ---- */

/* cuda-gdb lets the device run after that, with its breakpoints. */
static void after_the_first_step_of_a_detach_nobody_stops(void **state)
{
	(void)state;
	start_over("calls", 3, 64, false, NULL, 0);
	uint64_t pc = entry() + 2 * WS_SASS_BYTES;
	GOOD(setBreakpoint, DEV, pc);
	GOOD0(clearAttachState);
	GOOD(setBreakpoint, DEV, pc + WS_SASS_BYTES);
	GOOD0(resumeAllDevices);
	expect_end();
	GOOD(unsetBreakpoint, DEV, pc);
	GOOD(unsetBreakpoint, DEV, pc + WS_SASS_BYTES);
	GOOD0(finalize);
	GOOD0(initialize); /* the next session has its own */
	GOOD(setBreakpoint, DEV, pc);
	const uint64_t args[] = { device.out };
	(void)device_launch_later(&device, "calls", 1, 32, args, 1);
	CUDBGEvent event = { .kind = CUDBG_EVENT_INVALID };
	while (event.kind != CUDBG_EVENT_ALL_DEVICES_SUSPENDED) {
		event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
		GOOD0(acknowledgeSyncEvents);
	}
}

static void a_breakpoint_stops_each_warp_once(void **state)
{
	(void)state;
	CUDBGBreakpointHandle a, b;
	uint32_t sm, wp, enabled;
	start_over("calls", 3, 64, false, NULL, 0);
	uint64_t pc = entry() + 2 * WS_SASS_BYTES;
	GOOD(insertBreakpoint, DEV, pc, &a);
	GOOD(insertBreakpoint, DEV, pc + WS_SASS_BYTES, &b);
	assert_true(a == 1 && b > a);
	GOOD(disableBreakpoint, b);
	for (unsigned i = 0; i < 6; i++) {
		GOOD0(resumeAllDevices);
		CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
		assert_true(event.kind == CUDBG_EVENT_ALL_DEVICES_SUSPENDED &&
			    event.cases.allDevicesSuspended.brokenDevicesMask == 1 &&
			    event.cases.allDevicesSuspended.faultedDevicesMask == 0);
		one_broken(&sm, &wp);
		assert_true(pc_of(sm, wp, 0) == pc && hit(sm, wp) == a);
		if (i == 0) {
			CUDBGBreakpointHandle none;
			assert_int_equal(CALL(getWarpHitBreakpoint, DEV, sm, wp ^ 1, &none),
					 CUDBG_ERROR_INVALID_ARGS);
		}
	}
	GOOD(isBreakpointEnabled, b, &enabled);
	assert_int_equal(enabled, 0);
	GOOD0(resumeAllDevices); /* six warps were there, and no one comes again */
	expect_end();
	expect_nothing();
}

/* A lane that was stepped to a breakpoint has been seen there: it goes on. */
static void a_step_to_a_breakpoint_has_hit_it(void **state)
{
	(void)state;
	CUDBGBreakpointHandle handle;
	start_over("calls", 1, 64, false, NULL, 0);
	stop_at_start();
	GOOD(insertBreakpoint, DEV, entry() + 2 * WS_SASS_BYTES, &handle);
	(void)step(0, 0, UINT32_MAX, 2, 0);
	assert_true(pc_of(0, 0, 0) == entry() + 2 * WS_SASS_BYTES);
	GOOD0(resumeAllDevices);
	expect_stop();
	assert_true(broken(0) == 2 && hit(0, 1) == handle); /* only the other warp */
	GOOD0(resumeAllDevices);
	expect_end();
}

static void a_breakpoint_without_a_handle_is_legacy(void **state)
{
	(void)state;
	uint32_t sm, wp;
	start_over("calls", 1, 32, false, NULL, 0);
	uint64_t pc = entry() + WS_SASS_BYTES;
	GOOD(setBreakpoint, DEV, pc);
	GOOD0(resumeAllDevices);
	expect_stop();
	one_broken(&sm, &wp);
	assert_true(hit(sm, wp) == CUDBG_BREAKPOINT_HANDLE_LEGACY && pc_of(sm, wp, 0) == pc);
	GOOD(unsetBreakpoint31, pc);
	assert_true(hit(sm, wp) == CUDBG_BREAKPOINT_HANDLE_LEGACY); /* as of when it stopped */
	GOOD(setBreakpoint31, pc); /* it has stopped there already: it goes on */
	GOOD0(resumeAllDevices);
	expect_end();
	expect_nothing();
}

static void no_breakpoint_where_no_instruction_begins(void **state)
{
	(void)state;
	CUDBGBreakpointHandle handle;
	start_over("calls", 1, 32, false, NULL, 0);
	uint64_t pc = entry(), adjusted;
	assert_int_equal(CALL(insertBreakpoint, DEV, 16, &handle), CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(CALL(insertBreakpoint, DEV, pc + 8, &handle), CUDBG_ERROR_INVALID_ADDRESS);
	GOOD(getAdjustedCodeAddress, DEV, pc + 8, &adjusted, CUDBG_ADJ_CURRENT_ADDRESS);
	assert_true(adjusted == pc);
	GOOD(insertBreakpoint, DEV, adjusted, &handle);
	assert_int_equal(CALL(insertBreakpoint, DEV, adjusted, &handle),
			 CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT);
}

static void break_on_launch_is_hit_once_per_launch(void **state)
{
	(void)state;
	uint32_t sm, wp;
	start_over("calls", 3, 64, false, NULL, 0);
	const uint64_t args[] = { device.out };
	(void)device_launch_later(&device, "calls", 2, 64, args, 1);
	GOOD(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
	assert_int_equal(CALL(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH),
			 CUDBG_ERROR_BREAKPOINT_STATE_CONFLICT);
	for (uint64_t grid = 1; grid <= 2; grid++) {
		uint64_t id;
		GOOD0(resumeAllDevices);
		expect_stop();
		one_broken(&sm, &wp);
		assert_true(hit(sm, wp) == CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
		assert_true(pc_of(sm, wp, 0) == entry());
		GOOD(readGridId, DEV, sm, wp, &id);
		assert_true(id == grid);
		if (grid == 2)
			expect_end(); /* of the first */
	}
	GOOD(disableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
	GOOD0(resumeAllDevices);
	expect_end();
	(void)device_launch_later(&device, "calls", 2, 64, args, 1);
	expect_end();
	expect_nothing();
}

static void a_trap_in_the_code_is_a_trap(void **state)
{
	(void)state;
	uint32_t sm, wp;
	run_into_trap();
	expect_stop();
	one_broken(&sm, &wp);
	assert_true(hit(sm, wp) == CUDBG_BREAKPOINT_HANDLE_TRAP);
	CUDBGException_t exception;
	GOOD(readLaneException, DEV, sm, wp, 0, &exception);
	assert_int_equal(exception, CUDBG_EXCEPTION_NONE);
}

/* ---- steps ---- */

static void a_step_is_one_instruction_of_one_warp(void **state)
{
	(void)state;
	start_over("calls", 2, 64, false, NULL, 0);
	stop_at_start();
	uint64_t pc = pc_of(0, 0, 0), other = pc_of(0, 1, 0), far = pc_of(1, 0, 0);
	assert_int_equal(step(0, 0, UINT32_MAX, 1, 0), 1);
	assert_true(pc_of(0, 0, 0) == pc + 16 && pc_of(0, 0, 31) == pc + 16);
	assert_int_equal(step(0, 0, 5, 3, 0), 1);
	assert_true(pc_of(0, 0, 0) == pc + 64);
	uint64_t mask;
	GOOD(singleStepWarp65, DEV, 0, 1, 2, &mask);
	assert_int_equal(mask, 2);
	GOOD(singleStepWarp41, DEV, 0, 1, &mask);
	assert_int_equal(mask, 2);
	GOOD(singleStepWarp40, DEV, 0, 1);
	assert_true(pc_of(0, 1, 0) == other + 64);
	assert_true(pc_of(1, 0, 0) == far);
	assert_int_equal(broken(0), 0); /* it stands, but at no breakpoint */
	expect_nothing();
	GOOD0(resumeAllDevices);
	expect_end();
}

static void a_default_step_leaves_a_convergence_barrier(void **state)
{
	(void)state;
	uint64_t meet = start_parted();
	uint32_t here = lanes_at(0, 0, meet);
	assert_true(here != 0 && here != UINT32_MAX);
	assert_int_equal(step(0, 0, 6, 1, 0), 1);
	assert_true(lanes_at(0, 0, meet + 16) == UINT32_MAX); /* all have met */
}

static void a_step_without_that_turns_to_the_other_lanes(void **state)
{
	(void)state;
	uint64_t meet = start_parted();
	uint32_t here = lanes_at(0, 0, meet), active;
	assert_int_equal(step(0, 0, 6, 1, CUDBG_SINGLE_STEP_FLAGS_NO_STEP_OVER_WARP_BARRIERS), 1);
	assert_true(lanes_at(0, 0, meet) == here); /* they wait */
	GOOD(readActiveLanes, DEV, 0, 0, &active);
	assert_true(active != 0 && (active & here) == 0);
	uint64_t mask;
	GOOD(singleStepWarp65, DEV, 0, 0, 1, &mask); /* the same: no hint and that flag */
	assert_true(lanes_at(0, 0, meet) == here);
	/* a hint at a lane that waits: it is brought on */
	(void)step(0, 0, 6, 1, 0);
	assert_true(lanes_at(0, 0, meet + 16) == UINT32_MAX);
}

static void a_step_over_a_block_barrier_moves_other_warps(void **state)
{
	(void)state;
	const uint64_t rounds = 20;
	start_over("meets", 1, 128, false, &rounds, 1);
	stop_at_start();
	uint64_t barrier = find(WS_OP_BAR, 0), before = pc_of(0, 3, 0);
	step_to(0, 0, barrier);
	assert_true(pc_of(0, 3, 0) == before);
	assert_int_equal(step(0, 0, UINT32_MAX, 1, 0), 0xf);
	assert_true(pc_of(0, 0, 0) == barrier + 16);
	GOOD0(resumeAllDevices);
	expect_end();
}

static void warps_run_until_a_pc(void **state)
{
	(void)state;
	const uint64_t rounds = 20;
	start_over("meets", 1, 128, false, &rounds, 1);
	stop_at_start();
	uint64_t barrier = find(WS_OP_BAR, 0), before = pc_of(0, 0, 0);
	GOOD(resumeWarpsUntilPC, DEV, 0, 0xc, barrier, 0);
	assert_true(pc_of(0, 2, 0) == barrier && pc_of(0, 3, 0) == barrier);
	assert_true(pc_of(0, 0, 0) == before && pc_of(0, 1, 0) == before);
	assert_int_equal(broken(0), 0xd); /* the first one is where the launch stopped it */
	assert_true(hit(0, 2) == CUDBG_BREAKPOINT_HANDLE_INTERNAL);
	/* they wait for the other two: it returns, though they are not there */
	GOOD(resumeWarpsUntilPC, DEV, 0, 0xc, find(WS_OP_EXIT, 0), 0);
	assert_true(pc_of(0, 2, 0) == barrier && pc_of(0, 3, 0) == barrier);
	assert_int_equal(broken(0), 1);
	expect_nothing();
	assert_int_equal(CALL(resumeWarpsUntilPC, DEV, 0, 0x10, barrier, 0),
			 CUDBG_ERROR_INVALID_WARP_MASK);
	assert_int_equal(CALL(resumeWarpsUntilPC, DEV, 0, 1, 16, 0), CUDBG_ERROR_INVALID_ADDRESS);
	GOOD(resumeWarpsUntilPC60, DEV, 0, 0xf, find(WS_OP_EXIT, 0));
	assert_int_equal(broken(0), 0xf);
	GOOD0(resumeAllDevices);
	expect_end();
}

static void a_step_that_does_not_wait_tells_when_it_is_done(void **state)
{
	(void)state;
	uint64_t mask = 0;
	start_over("calls", 1, 64, false, NULL, 0);
	stop_at_start();
	uint64_t pc = pc_of(0, 1, 0);
	GOOD(singleStepWarp, DEV, 0, 1, UINT32_MAX, 2, CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING, &mask);
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_int_equal(event.kind, CUDBG_EVENT_SINGLE_STEP_COMPLETE);
	assert_true(event.cases.singleStepComplete.dev == DEV &&
		    event.cases.singleStepComplete.sm == 0 &&
		    event.cases.singleStepComplete.context == 1 &&
		    event.cases.singleStepComplete.originalWarpMask == 2 &&
		    event.cases.singleStepComplete.finalWarpMask == 2 &&
		    event.cases.singleStepComplete.brokenDevicesMask == 0 &&
		    event.cases.singleStepComplete.faultedDevicesMask == 0 &&
		    event.cases.singleStepComplete.type == CUDBG_SINGLE_STEP_TYPE_SINGLE_STEP_WARP);
	assert_true(pc_of(0, 1, 0) == pc + 32);
	GOOD(resumeWarpsUntilPC, DEV, 0, 3, find(WS_OP_EXIT, 0),
	     CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING);
	event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_true(event.kind == CUDBG_EVENT_SINGLE_STEP_COMPLETE &&
		    event.cases.singleStepComplete.originalWarpMask == 3 &&
		    event.cases.singleStepComplete.brokenDevicesMask == 1 &&
		    event.cases.singleStepComplete.type ==
			    CUDBG_SINGLE_STEP_TYPE_RESUME_WARPS_UNTIL_PC);
	assert_int_equal(broken(0), 3);
}

static void a_breakpoint_interrupts_a_step(void **state)
{
	(void)state;
	CUDBGBreakpointHandle handle;
	start_over("calls", 1, 32, false, NULL, 0);
	stop_at_start();
	uint64_t pc = entry() + 3 * WS_SASS_BYTES;
	GOOD(insertBreakpoint, DEV, pc, &handle);
	GOOD(resumeWarpsUntilPC, DEV, 0, 1, find(WS_OP_EXIT, 0),
	     CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING);
	expect_stop();
	assert_true(pc_of(0, 0, 0) == pc && hit(0, 0) == handle);
	GOOD0(resumeAllDevices);
	expect_end();
	expect_nothing();
}

static void a_hang_cannot_be_stepped_over(void **state)
{
	(void)state;
	uint64_t mask;
	device_open(&device, kernels, 4);
	const uint64_t args[] = { device.in, device.out };
	device_launch(&device, "never_meets", 1, 64, args, 2);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	uint64_t barrier = find(WS_OP_BAR, 0);
	step_to(0, 1, barrier);
	GOOD(resumeWarpsUntilPC, DEV, 0, 2, barrier + 16, 0); /* it waits: early */
	assert_true(pc_of(0, 1, 0) == barrier);
	assert_int_equal(CALL(singleStepWarp, DEV, 0, 1, UINT32_MAX, 1, 0, &mask), CUDBG_SUCCESS);
	assert_true(pc_of(0, 1, 0) == barrier); /* others ran for it, in vain */
}

/* ---- faults ---- */

static void a_fault_stops_the_device_and_ends_what_runs(void **state)
{
	(void)state;
	uint32_t sm, wp;
	uint64_t mask, pc;
	bool valid_pc;
	run_into_fault();
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_true(event.kind == CUDBG_EVENT_ALL_DEVICES_SUSPENDED &&
		    event.cases.allDevicesSuspended.faultedDevicesMask == 1);
	one_broken(&sm, &wp);
	CUDBGException_t exception;
	GOOD(readLaneException, DEV, sm, wp, 40 % 32, &exception);
	assert_int_equal(exception, CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS);
	GOOD(readErrorPC, DEV, sm, wp, &pc, &valid_pc);
	assert_true(valid_pc && pc == pc_of(sm, wp, 40 % 32));
	assert_int_equal(CALL(singleStepWarp, DEV, sm, wp, UINT32_MAX, 1, 0, &mask),
			 CUDBG_ERROR_WARP_RESUME_NOT_POSSIBLE);
	assert_int_equal(CALL(resumeWarpsUntilPC, DEV, sm, 1ull << wp, pc, 0),
			 CUDBG_ERROR_WARP_RESUME_NOT_POSSIBLE);
	GOOD0(resumeAllDevices);
	expect_end();
	assert_int_equal(ws_sim_host_wait(device.target), WS_SIM_FAULTED);
	GOOD(suspendAllDevices, 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(valid(i), 0);
	/* the device can be used again */
	const uint64_t args[] = { device.out };
	(void)device_launch_later(&device, "calls", 1, 32, args, 1);
	GOOD0(resumeAllDevices);
	expect_end();
	assert_int_equal(ws_sim_host_wait(device.target), WS_SIM_DONE);
}

/* ---- alteration ---- */

static void what_is_written_counts(void **state)
{
	(void)state;
	uint64_t bad = 40;
	start_over("faults", 2, 64, true, &bad, 1);
	stop_at_start();
	uint32_t none = UINT32_MAX, back = 0;
	GOOD(writeParamMemory, DEV, 0, 0, 0x210 + 16, &none, sizeof none);
	GOOD(readParamMemory, DEV, 0, 0, 0x210 + 16, &back, sizeof back);
	assert_int_equal(back, none);
	GOOD(writeRegister, DEV, 0, 0, 3, 7, 0x1234);
	GOOD(readRegister, DEV, 0, 0, 3, 7, &back);
	assert_int_equal(back, 0x1234);
	GOOD(readRegister, DEV, 0, 0, 4, 7, &back);
	assert_int_equal(back, 0);
	GOOD(writeUniformRegister, DEV, 0, 0, 9, 77);
	GOOD(readUniformRegisterRange, DEV, 0, 0, 9, 1, &back);
	assert_int_equal(back, 77);
	const uint32_t set[7] = { 1, 0, 1, 1, 0, 0, 1 };
	uint32_t got[7];
	GOOD(writePredicates, DEV, 0, 0, 31, 7, set);
	GOOD(readPredicates, DEV, 0, 0, 31, 7, got);
	assert_memory_equal(got, set, sizeof set);
	GOOD(writeUniformPredicates, DEV, 0, 0, 7, set);
	GOOD(readUniformPredicates, DEV, 0, 0, 7, got);
	assert_memory_equal(got, set, sizeof set);
	const char text[] = "local";
	char copy[sizeof text];
	GOOD(writeLocalMemory, DEV, 0, 0, 5, 99, text, sizeof text);
	GOOD(readLocalMemory, DEV, 0, 0, 5, 99, copy, sizeof copy);
	assert_string_equal(copy, text);
	GOOD(readLocalMemory, DEV, 0, 0, 6, 99, copy, sizeof copy);
	assert_int_equal(copy[0], 0);
	GOOD0(resumeAllDevices);
	expect_end(); /* no thread is the bad one now */
}

static void a_word_of_the_client_ends_a_loop(void **state)
{
	(void)state;
	uint32_t one = 1;
	start_spinning(1, 64);
	GOOD0(resumeAllDevices);
	doze();
	GOOD(suspendAllDevices, 0);
	GOOD(writeGenericMemory, DEV, 0, 0, 0, device.in, &one, sizeof one);
	GOOD0(resumeAllDevices);
	expect_end();
	assert_int_equal(ws_sim_host_wait(device.target), WS_SIM_DONE);
}

int main(int argc, char **argv)
{
	if (argc != 8)
		return 2;
	live_images(argv + 1);
#define TEST(name) cmocka_unit_test_teardown(name, stop)
	const struct CMUnitTest tests[] = {
		TEST(a_kernel_runs_to_its_end),
		TEST(a_device_stops_and_goes_at_any_pc),
		TEST(a_suspend_that_does_not_wait_tells_when_it_is_done),
		TEST(what_needs_a_stopped_device_says_that_it_runs),
		TEST(what_does_not_change_can_be_asked_while_it_runs),
		TEST(a_hang_can_be_stopped_and_read),
		TEST(after_the_first_step_of_a_detach_nobody_stops),
		TEST(a_breakpoint_stops_each_warp_once),
		TEST(a_step_to_a_breakpoint_has_hit_it),
		TEST(a_breakpoint_without_a_handle_is_legacy),
		TEST(no_breakpoint_where_no_instruction_begins),
		TEST(break_on_launch_is_hit_once_per_launch),
		TEST(a_trap_in_the_code_is_a_trap),
		TEST(a_step_is_one_instruction_of_one_warp),
		TEST(a_default_step_leaves_a_convergence_barrier),
		TEST(a_step_without_that_turns_to_the_other_lanes),
		TEST(a_step_over_a_block_barrier_moves_other_warps),
		TEST(warps_run_until_a_pc),
		TEST(a_step_that_does_not_wait_tells_when_it_is_done),
		TEST(a_breakpoint_interrupts_a_step),
		TEST(a_hang_cannot_be_stepped_over),
		TEST(a_fault_stops_the_device_and_ends_what_runs),
		TEST(what_is_written_counts),
		TEST(a_word_of_the_client_ends_a_loop),
	};
	const struct {
		const struct CMUnitTest *tests;
		size_t n;
	} parts[] = {
		{ tests, sizeof tests / sizeof *tests },
		{ live_capabilities_tests, n_live_capabilities_tests },
		{ live_child_tests, n_live_child_tests },
		{ live_engine_tests, n_live_engine_tests },
		{ live_state_tests, n_live_state_tests },
		{ live_forms_tests, n_live_forms_tests },
		{ live_contracts_tests, n_live_contracts_tests },
		{ live_info_tests, n_live_info_tests },
		{ live_rules_tests, n_live_rules_tests },
		{ live_steps_tests, n_live_steps_tests },
		{ live_sweeps_tests, n_live_sweeps_tests },
		{ live_threads_tests, n_live_threads_tests },
		{ live_told_tests, n_live_told_tests },
		{ live_two_tests, n_live_two_tests },
	};
	struct CMUnitTest all[200];
	size_t n = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (n + parts[i].n > sizeof all / sizeof *all)
			return 2;
		memcpy(all + n, parts[i].tests, parts[i].n * sizeof *all);
		n += parts[i].n;
	}
	if (getenv("WS_TEST_ONLY"))
		cmocka_set_test_filter(getenv("WS_TEST_ONLY"));
	return _cmocka_run_group_tests("live", all, n, NULL, NULL);
}
