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

const struct CMUnitTest live_child_tests[] = {
	cmocka_unit_test_teardown(launches_of_the_device_stop_and_are_not_told, stop),
};
const size_t n_live_child_tests = sizeof live_child_tests / sizeof *live_child_tests;
