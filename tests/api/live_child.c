/* SPDX-License-Identifier: Apache-2.0 */
/* Grids that the device launches: stops at their launch, parents, origins, status, no events. */
#include "live.h"

static void launches_of_the_device_stop_and_are_not_told(void **state)
{
	static const struct {
		uint64_t id, parent;
		CUDBGGridStatus first; /* of grid 1 */
	} grids[] = {
		{ 1, 0, CUDBG_GRID_STATUS_ACTIVE },     { 3, 1, CUDBG_GRID_STATUS_SLEEPING },
		{ 6, 3, CUDBG_GRID_STATUS_SLEEPING },   { 7, 3, CUDBG_GRID_STATUS_SLEEPING },
		{ 4, 1, CUDBG_GRID_STATUS_SLEEPING },   { 8, 4, CUDBG_GRID_STATUS_SLEEPING },
		{ 9, 4, CUDBG_GRID_STATUS_SLEEPING },   { 2, 1, CUDBG_GRID_STATUS_TERMINATED },
		{ 5, 1, CUDBG_GRID_STATUS_TERMINATED },
	};
	(void)state;
	device_open(&device, children, 4);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	GOOD(setKernelLaunchNotificationMode, CUDBG_KNL_LAUNCH_NOTIFY_EVENT);
	GOOD(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
	GOOD0(resumeAllDevices);
	const uint64_t args[] = { device.out };
	(void)device_launch_later(&device, "order", 1, 32, args, 1);
	expect(CUDBG_EVENT_QUEUE_TYPE_SYNC, CUDBG_EVENT_KERNEL_READY);
	GOOD0(acknowledgeSyncEvents);
	for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
		uint32_t sm, wp;
		uint64_t id;
		CUDBGGridInfo info;
		CUDBGGridStatus status;
		expect_stop();
		one_broken(&sm, &wp);
		assert_true(hit(sm, wp) == CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH);
		GOOD(readGridId, DEV, sm, wp, &id);
		assert_int_equal(id, grids[i].id);
		GOOD(getGridInfo, DEV, id, &info);
		assert_int_equal(info.parentGridId, grids[i].parent);
		assert_int_equal(info.origin, i ? CUDBG_KNL_ORIGIN_GPU : CUDBG_KNL_ORIGIN_CPU);
		assert_int_equal(info.type, CUDBG_KNL_TYPE_APPLICATION);
		GOOD(getGridStatus, DEV, id, &status);
		assert_int_equal(status, CUDBG_GRID_STATUS_ACTIVE);
		GOOD(getGridStatus, DEV, 1, &status);
		assert_int_equal(status, grids[i].first);
		GOOD0(resumeAllDevices);
	}
	expect_end();
	expect_nothing();
}

static void has_status(uint64_t id, CUDBGGridStatus expected)
{
	CUDBGGridStatus status, old;
	GOOD(getGridStatus, DEV, id, &status);
	GOOD(getGridStatus50, DEV, (uint32_t)id, &old);
	if (status != expected || old != expected)
		fail_msg("grid %llu has status %u (by the old call %u), not %u",
			 (unsigned long long)id, status, old, expected);
}

/* The host's program makes a context, or lets it go. */
static void have_context(bool exists)
{
	ws_sim_host_begin(device.target, true);
	assert_int_equal(ws_sim_host_context(device.target, exists, 77, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, NULL), WS_OK);
}

/* Every status there is: of a grid that sleeps while its children run, of one of these, of those
 * that wait and that have finished, of one that finished so long ago that it is listed no more, and
 * of none. */
static void grids_have_all_statuses(void **state)
{
	enum { MANY = 40 };
	(void)state;
	device_open(&device, children, 4);
	const uint64_t args[] = { device.out, 7 };
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	for (uint64_t i = 0; i < MANY; i++) {
		(void)device_launch_later(&device, "note", 1, 32, args, 2);
		has_status(i + 1, CUDBG_GRID_STATUS_PENDING + (i == 0)); /* the first is next */
	}
	GOOD0(resumeAllDevices);
	for (unsigned i = 0; i < MANY; i++)
		expect_end();
	GOOD(suspendAllDevices, 0);
	has_status(MANY + 1, CUDBG_GRID_STATUS_INVALID);
	has_status(0, CUDBG_GRID_STATUS_INVALID);
	has_status(MANY, CUDBG_GRID_STATUS_TERMINATED);
	has_status(1, CUDBG_GRID_STATUS_UNDETERMINED);
	CUDBGGridInfo info;
	assert_int_equal(CALL(getGridInfo, DEV, 1, &info), CUDBG_ERROR_INVALID_GRID);
	(void)device_launch_later(&device, "order", 1, 32, args, 1);
	(void)device_launch_later(&device, "order", 1, 32, args, 1);
	stop_at_start(); /* the parent's */
	has_status(MANY + 1, CUDBG_GRID_STATUS_ACTIVE);
	has_status(MANY + 2, CUDBG_GRID_STATUS_PENDING);
	stop_at_start(); /* its first child's */
	has_status(MANY + 1, CUDBG_GRID_STATUS_SLEEPING);
}

/* A context takes its grids with it; those of the next one have other ids. */
static void grids_go_with_their_context(void **state)
{
	uint64_t address;
	uint32_t bytes;
	CUDBGGridInfo info;
	CUDBGGridInfo120 info120;
	CUDBGGridInfo55 info55;
	CuDim3 dim;
	(void)state;
	start_over("calls", 1, 32, false, NULL, 0);
	GOOD0(resumeAllDevices);
	expect_end();
	GOOD(suspendAllDevices, 0);
	GOOD(getGridInfo, DEV, 1, &info);
	have_context(false);
	expect(CUDBG_EVENT_QUEUE_TYPE_SYNC, CUDBG_EVENT_CTX_DESTROY);
	assert_int_equal(CALL(getGridInfo, DEV, 1, &info), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getGridInfo120, DEV, 1, &info120), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getGridInfo55, DEV, 1, &info55), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getClusterDim120, DEV, 1, &dim), CUDBG_ERROR_INVALID_GRID);
	assert_int_equal(CALL(getConstBankAddress, DEV, 1, 0, &address, &bytes),
			 CUDBG_ERROR_INVALID_GRID);
	has_status(1, CUDBG_GRID_STATUS_INVALID);
	have_context(true);
	expect(CUDBG_EVENT_QUEUE_TYPE_SYNC, CUDBG_EVENT_CTX_CREATE);
	has_status(1, CUDBG_GRID_STATUS_INVALID);
	(void)device_launch_later(&device, "calls", 1, 32, &device.out, 1);
	has_status(2, CUDBG_GRID_STATUS_ACTIVE);
	GOOD(getGridInfo, DEV, 2, &info);
}

const struct CMUnitTest live_child_tests[] = {
	cmocka_unit_test_teardown(launches_of_the_device_stop_and_are_not_told, stop),
	cmocka_unit_test_teardown(grids_have_all_statuses, stop),
	cmocka_unit_test_teardown(grids_go_with_their_context, stop),
};
const size_t n_live_child_tests = sizeof live_child_tests / sizeof *live_child_tests;
