/* SPDX-License-Identifier: Apache-2.0 */
/* The API over a device that really runs: steps that do not wait, as their events tell them, and
 * breakpoints that share an address. */
#include "live.h"

/* ---- steps that do not wait ---- */

static void until_later(uint32_t sm, uint64_t warps, uint64_t pc)
{
	GOOD(resumeWarpsUntilPC, DEV, sm, warps, pc, CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING);
}

/* Waits for the event of a step, which says this of SM `sm`. */
static void expect_step(uint32_t sm, uint64_t asked, uint64_t stepped, bool broke,
			CUDBGSingleStepType type)
{
	CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
	assert_int_equal(event.kind, CUDBG_EVENT_SINGLE_STEP_COMPLETE);
	assert_int_equal(event.cases.singleStepComplete.dev, DEV);
	assert_int_equal(event.cases.singleStepComplete.sm, sm);
	assert_int_equal(event.cases.singleStepComplete.context, 1);
	assert_int_equal(event.cases.singleStepComplete.originalWarpMask, asked);
	assert_int_equal(event.cases.singleStepComplete.finalWarpMask, stepped);
	assert_int_equal(event.cases.singleStepComplete.brokenDevicesMask, broke);
	assert_int_equal(event.cases.singleStepComplete.faultedDevicesMask, 0);
	assert_int_equal(event.cases.singleStepComplete.type, type);
	GOOD0(acknowledgeSyncEvents);
	expect_nothing();
}

/* A warp that was broken before is not one that hit a breakpoint "during the step". */
static void the_event_of_a_step_says_where_it_was(void **state)
{
	(void)state;
	uint64_t mask = 0;
	start_over("calls", 3, 64, false, NULL, 0);
	stop_at_start();
	assert_int_equal(broken(0), 1);
	GOOD(singleStepWarp, DEV, 2, 1, UINT32_MAX, 3, CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING, &mask);
	assert_int_equal(mask, 2);
	expect_step(2, 2, 2, false, CUDBG_SINGLE_STEP_TYPE_SINGLE_STEP_WARP);
	assert_true(pc_of(2, 1, 0) == entry() + 3 * WS_SASS_BYTES);
	until_later(2, 3, entry() + 4 * WS_SASS_BYTES);
	expect_step(2, 3, 3, true, CUDBG_SINGLE_STEP_TYPE_RESUME_WARPS_UNTIL_PC);
	until_later(2, 3, entry() + 4 * WS_SASS_BYTES); /* they are there */
	expect_step(2, 3, 0, true, CUDBG_SINGLE_STEP_TYPE_RESUME_WARPS_UNTIL_PC);
	assert_int_equal(broken(2), 3);
	assert_int_equal(broken(0), 1);
}

/* "Warps that ended up being stepped", and not only those that were asked for. */
static void the_event_of_a_step_names_who_moved(void **state)
{
	(void)state;
	const uint64_t rounds = 20;
	uint64_t mask = 0;
	start_over("meets", 1, 128, false, &rounds, 1);
	stop_at_start();
	step_to(0, 0, find(WS_OP_BAR, 0));
	GOOD(singleStepWarp, DEV, 0, 0, UINT32_MAX, 1, CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING, &mask);
	assert_int_equal(mask, 1);
	expect_step(0, 1, 0xf, false, CUDBG_SINGLE_STEP_TYPE_SINGLE_STEP_WARP);
}

/* Where the block's own warps suffice, those of other blocks stay where they are. */
static void a_barrier_of_a_block_moves_no_other_block(void **state)
{
	(void)state;
	const uint64_t rounds = 20;
	uint64_t begin = 0, barrier;
	start_over("meets", 2, 128, false, &rounds, 1);
	stop_at_start();
	barrier = find(WS_OP_BAR, 0);
	begin = pc_of(0, 1, 0);
	step_to(1, 2, barrier);
	assert_int_equal(step(1, 2, UINT32_MAX, 1, 0), 0xf);
	assert_true(pc_of(1, 2, 0) == barrier + WS_SASS_BYTES);
	for (uint32_t wp = 0; wp < 4; wp++)
		assert_true(pc_of(0, wp, 0) == begin);
}

/* "If an unsteppable barrier is hit by the resumed warps, this method returns early": it is done,
 * and nobody is where it was to go. */
static void waiting_at_a_barrier_completes_a_step(void **state)
{
	(void)state;
	const uint64_t rounds = 20;
	start_over("meets", 1, 128, false, &rounds, 1);
	stop_at_start();
	uint64_t barrier = find(WS_OP_BAR, 0);
	(void)step(0, 0, UINT32_MAX, 1, 0); /* from where the launch stopped it */
	until_later(0, 0xc, find(WS_OP_EXIT, 0));
	expect_step(0, 0xc, 0xc, false, CUDBG_SINGLE_STEP_TYPE_RESUME_WARPS_UNTIL_PC);
	assert_true(pc_of(0, 2, 0) == barrier && pc_of(0, 3, 0) == barrier);
	assert_int_equal(broken(0), 0);
}

/* "If it's interrupted by a breakpoint or an exception, a CUDBG_EVENT_ALL_DEVICES_SUSPENDED event
 * will be sent instead." */
static void a_fault_interrupts_a_step(void **state)
{
	const uint64_t bad = 40;
	for (int single = 0; single < 2; single++) {
		CUDBGException_t exception;
		uint64_t mask;
		start_over("faults", 1, 64, true, &bad, 1);
		stop_at_start();
		if (single)
			GOOD(singleStepWarp, DEV, 0, 1, UINT32_MAX, 1000,
			     CUDBG_SINGLE_STEP_FLAGS_NON_BLOCKING, &mask);
		else
			until_later(0, 3, find(WS_OP_EXIT, 0));
		CUDBGEvent event = await(CUDBG_EVENT_QUEUE_TYPE_SYNC);
		assert_true(event.kind == CUDBG_EVENT_ALL_DEVICES_SUSPENDED &&
			    event.cases.allDevicesSuspended.faultedDevicesMask == 1);
		expect_nothing();
		GOOD(readLaneException, DEV, 0, 1, 40 % 32, &exception);
		assert_int_equal(exception, CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS);
		if (!single)
			(void)stop(state);
	}
}

/* ---- breakpoints ---- */

/* With a handle and without one at an address: each counts while it is enabled, and the handle
 * tells more. A new session begins with 1 again. */
static void breakpoints_may_share_an_address(void **state)
{
	(void)state;
	CUDBGBreakpointHandle handle, again;
	start_over("calls", 1, 96, false, NULL, 0);
	uint64_t pc = entry() + 2 * WS_SASS_BYTES;
	GOOD(setBreakpoint, DEV, pc);
	GOOD(insertBreakpoint, DEV, pc, &handle);
	assert_int_equal(handle, 1);
	GOOD0(resumeAllDevices);
	expect_stop();
	assert_true(broken(0) == 1 && hit(0, 0) == handle);
	GOOD(disableBreakpoint, handle);
	GOOD0(resumeAllDevices);
	expect_stop();
	assert_true(broken(0) == 2 && hit(0, 1) == CUDBG_BREAKPOINT_HANDLE_LEGACY);
	GOOD(unsetBreakpoint, DEV, pc);
	GOOD0(resumeAllDevices);
	expect_end(); /* the third one passes it */
	expect_nothing();
	GOOD0(finalize);
	begin_session();
	GOOD(insertBreakpoint, DEV, pc, &again);
	assert_int_equal(again, 1);
}

/* What is no breakpoint of the client's cannot be treated as one. */
static void special_handles_are_not_the_clients(void **state)
{
	(void)state;
	static const CUDBGBreakpointHandle special[] = { CUDBG_BREAKPOINT_HANDLE_TRAP,
							 CUDBG_BREAKPOINT_HANDLE_LEGACY,
							 CUDBG_BREAKPOINT_HANDLE_INTERNAL,
							 CUDBG_BREAKPOINT_HANDLE_INVALID };
	uint32_t enabled;
	start_over("calls", 1, 32, false, NULL, 0);
	GOOD(setBreakpoint, DEV, entry() + WS_SASS_BYTES);
	for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
		assert_int_equal(CALL(removeBreakpoint, special[i]), CUDBG_ERROR_INVALID_ARGS);
		assert_int_equal(CALL(enableBreakpoint, special[i]), CUDBG_ERROR_INVALID_ARGS);
		assert_int_equal(CALL(disableBreakpoint, special[i]), CUDBG_ERROR_INVALID_ARGS);
		assert_int_equal(CALL(isBreakpointEnabled, special[i], &enabled),
				 CUDBG_ERROR_INVALID_ARGS);
	}
	GOOD(unsetBreakpoint, DEV, entry() + WS_SASS_BYTES); /* it is still there */
	assert_int_equal(CALL(unsetBreakpoint, DEV, entry() + WS_SASS_BYTES),
			 CUDBG_ERROR_INVALID_ARGS);
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_steps_tests[] = {
	TEST(the_event_of_a_step_says_where_it_was),
	TEST(the_event_of_a_step_names_who_moved),
	TEST(a_barrier_of_a_block_moves_no_other_block),
	TEST(waiting_at_a_barrier_completes_a_step),
	TEST(a_fault_interrupts_a_step),
	TEST(breakpoints_may_share_an_address),
	TEST(special_handles_are_not_the_clients),
};
const size_t n_live_steps_tests = sizeof live_steps_tests / sizeof *live_steps_tests;
