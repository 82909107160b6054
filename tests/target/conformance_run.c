/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint32_t n_devices(const struct ws_target *target)
{
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	return counts.devices;
}

/* Whether a device stands, or an event says that it will not be long. */
static bool stands_or_tells(struct ws_target *target, uint32_t device_index)
{
	struct ws_event event;
	while (ws_target_running(target, device_index))
		if (ws_target_next_event(target, &event, NULL) != WS_OK)
			return false;
	return true;
}

static void all_devices_stop_and_go(struct ws_target *target)
{
	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(ws_target_resume(target, WS_NONE, NULL), WS_OK);
		for (uint32_t i = 0; i < n_devices(target); i++)
			assert_true(ws_target_running(target, i));
	}
	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(ws_target_suspend(target, WS_NONE, true, NULL), WS_OK);
		for (uint32_t i = 0; i < n_devices(target); i++)
			assert_false(ws_target_running(target, i));
	}
}

static void one_device_stops_and_goes_alone(struct ws_target *target)
{
	uint32_t n = n_devices(target);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(ws_target_resume(target, i, NULL), WS_OK);
		for (uint32_t k = 0; k < n; k++)
			assert_int_equal(ws_target_running(target, k), k == i);
		assert_int_equal(ws_target_suspend(target, i, true, NULL), WS_OK);
		assert_false(ws_target_running(target, i));
	}
}

static void one_device_stops_without_waiting(struct ws_target *target)
{
	assert_int_equal(ws_target_resume(target, WS_NONE, NULL), WS_OK);
	assert_int_equal(ws_target_suspend(target, 0, false, NULL), WS_OK);
	assert_true(stands_or_tells(target, 0));
	for (uint32_t i = 1; i < n_devices(target); i++)
		assert_true(ws_target_running(target, i));
	assert_int_equal(ws_target_suspend(target, WS_NONE, true, NULL), WS_OK);
}

static void no_device_past_the_count_runs(struct ws_target *target)
{
	uint32_t n = n_devices(target);
	assert_int_equal(ws_target_resume(target, n, NULL), WS_ARGUMENT);
	assert_int_equal(ws_target_suspend(target, n, true, NULL), WS_ARGUMENT);
	assert_int_equal(ws_target_plant(target, n, 16, NULL), WS_ARGUMENT);
	assert_int_equal(ws_target_unplant(target, n, 16, NULL), WS_ARGUMENT);
}

static void a_running_device_is_not_read(struct ws_target *target)
{
	struct ws_sm sm;
	uint32_t value, n;
	assert_int_equal(ws_target_resume(target, WS_NONE, NULL), WS_OK);
	assert_int_equal(ws_target_sm(target, 0, &sm, NULL), WS_RUNNING);
	enum ws_status st = ws_target_registers(target, 0, 0, WS_REG_R, 0, 1, &value, &n, NULL);
	assert_true(st == WS_RUNNING || st == WS_OK);
	assert_int_equal(ws_target_suspend(target, WS_NONE, true, NULL), WS_OK);
	assert_int_equal(ws_target_sm(target, 0, &sm, NULL), WS_OK);
}

static void a_step_needs_a_warp(struct ws_target *target)
{
	struct ws_counts counts;
	uint64_t moved = 0;
	ws_target_counts(target, &counts);
	struct ws_step step = { .warp_index = counts.warps, .lane = WS_NONE, .steps = 1 };
	assert_int_equal(ws_target_step(target, &step, &moved, NULL), WS_ARGUMENT);
	assert_int_equal(ws_target_run_until(target, counts.sms, 1, 16, 0, NULL), WS_ARGUMENT);
	assert_int_equal(moved, 0);
	step.warp_index = 0;
	assert_int_equal(ws_target_step(target, &step, &moved, NULL), WS_OK);
	assert_int_not_equal(moved, 0);
}

static void no_breakpoint_without_code(struct ws_target *target)
{
	struct ws_warp warp;
	assert_int_equal(ws_target_warp(target, 0, &warp, NULL), WS_OK);
	assert_int_equal(ws_target_plant(target, 0, 16, NULL), WS_ABSENT);
	assert_int_equal(
		ws_target_run_until(target, warp.sm_index, UINT64_C(1) << warp.id, 16, 0, NULL),
		WS_ABSENT);
}

static void no_event_waits_at_first(struct ws_target *target)
{
	struct ws_event event;
	assert_int_equal(ws_target_next_event(target, &event, NULL), WS_ABSENT);
	assert_int_equal(ws_target_acknowledge(target, NULL), WS_OK);
}

const struct conformance_check conformance_run_checks[] = {
	{ "no event waits at first", no_event_waits_at_first },
	{ "all devices stop and go", all_devices_stop_and_go },
	{ "one device stops and goes alone", one_device_stops_and_goes_alone },
	{ "one device stops without waiting", one_device_stops_without_waiting },
	{ "no device past the count runs", no_device_past_the_count_runs },
	{ "a running device is not read", a_running_device_is_not_read },
	{ "a step needs a warp", a_step_needs_a_warp },
	{ "no breakpoint without code", no_breakpoint_without_code },
	{ NULL, NULL },
};
