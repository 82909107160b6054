/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint32_t n_devices(const struct ws_target *target)
{
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	return counts.devices;
}

/* Whether a device comes to stand, in 20 seconds at most. */
static bool comes_to_stand(struct ws_target *target, uint32_t device_index)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	for (int i = 0; i < 20000 && ws_target_running(target, device_index); i++) {
		struct ws_event event;
		if (ws_target_next_event(target, &event, NULL) == WS_ABSENT)
			nanosleep(&moment, NULL);
		if (ws_target_update(target, NULL) != WS_OK)
			return false;
	}
	return !ws_target_running(target, device_index);
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
	assert_true(comes_to_stand(target, 0));
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

/* Whether a warp is among the changes since a generation, or anything is. */
static bool is_told_changed(const struct ws_target *target, uint64_t since,
			    const struct ws_warp *warp)
{
	struct ws_change changes[WS_MAX_CHANGES];
	uint32_t n = 0;
	if (!ws_target_changes(target, since, changes, &n))
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (changes[i].sm_index == warp->sm_index && changes[i].warps >> warp->id & 1)
			return true;
	return false;
}

/* Of the first warp, and of the last, which may be another device's. */
static void a_step_tells_what_it_changed(struct ws_target *target)
{
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	for (unsigned i = 0; i < 4; i++) {
		struct ws_step step = { .warp_index = i % 2 ? counts.warps - 1 : 0,
					.lane = WS_NONE,
					.steps = 1 };
		struct ws_warp warp;
		uint64_t before = target->generation, moved = 0;
		assert_int_equal(ws_target_warp(target, step.warp_index, &warp, NULL), WS_OK);
		assert_false(is_told_changed(target, before, &warp));
		assert_int_equal(ws_target_step(target, &step, &moved, NULL), WS_OK);
		assert_true(target->generation > before);
		assert_true(is_told_changed(target, before, &warp));
	}
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
	assert_int_equal(ws_target_acknowledge(target, UINT64_MAX, NULL), WS_OK);
}

static struct ws_event event_of(struct ws_target *target, enum ws_event_kind kind)
{
	struct ws_event event;
	memset(&event, 0, sizeof event);
	assert_int_equal(ws_target_next_event(target, &event, NULL), WS_OK);
	assert_int_equal(event.kind, kind);
	return event;
}

static void who_waits_for_a_later_event_waits_on(struct ws_target *target)
{
	struct ws_event event;
	conformance_raise(WS_EVENT_CONTEXT_CREATED, true);
	conformance_raise(WS_EVENT_MODULE_UNLOADED, true);
	assert_int_equal(conformance_waiting(), 2);
	struct ws_event first = event_of(target, WS_EVENT_CONTEXT_CREATED);
	struct ws_event second = event_of(target, WS_EVENT_MODULE_UNLOADED);
	assert_true(first.sync && second.sync && first.sequence &&
		    second.sequence > first.sequence);
	assert_int_equal(ws_target_next_event(target, &event, NULL), WS_ABSENT);
	assert_int_equal(ws_target_acknowledge(target, first.sequence - 1, NULL), WS_OK);
	assert_int_equal(conformance_waiting(), 2);
	assert_int_equal(ws_target_acknowledge(target, first.sequence, NULL), WS_OK);
	assert_in_range(conformance_waiting(), 1, 2);
	assert_int_equal(ws_target_acknowledge(target, second.sequence, NULL), WS_OK);
	assert_int_equal(conformance_waiting(), 0);
}

static void only_what_is_wanted_is_told(struct ws_target *target)
{
	static const struct {
		enum ws_event_kind kind;
		uint32_t want;
	} kinds[] = {
		{ WS_EVENT_GRID_READY, WS_WANT_LAUNCHES },
		{ WS_EVENT_FUNCTIONS_LOADED, WS_WANT_FUNCTIONS },
		{ WS_EVENT_STOPPED, WS_WANT_STOPS },
		{ WS_EVENT_CONTEXT_PUSHED, WS_WANT_CONTEXT_SWITCHES },
		{ WS_EVENT_CONTEXT_POPPED, WS_WANT_CONTEXT_SWITCHES },
		{ WS_EVENT_LOGS_AVAILABLE, WS_WANT_LOGS },
		{ WS_EVENT_LOGS_THRESHOLD, WS_WANT_LOGS },
		{ WS_EVENT_LOG_RULES, WS_WANT_LOGS },
	};
	struct ws_event event;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		assert_int_equal(ws_target_want(target, 0, NULL), WS_OK);
		conformance_raise(kinds[i].kind, true);
		assert_int_equal(ws_target_next_event(target, &event, NULL), WS_ABSENT);
		assert_int_equal(conformance_waiting(), 0);
		assert_int_equal(ws_target_want(target, kinds[i].want, NULL), WS_OK);
		conformance_raise(kinds[i].kind, true);
		event = event_of(target, kinds[i].kind);
		assert_int_equal(ws_target_acknowledge(target, event.sequence, NULL), WS_OK);
		assert_int_equal(conformance_waiting(), 0);
	}
}

static void launches_wait_only_for_who_wants_them(struct ws_target *target)
{
	assert_int_equal(ws_target_want(target, WS_WANT_LAUNCHES, NULL), WS_OK);
	conformance_raise(WS_EVENT_GRID_READY, true);
	(void)event_of(target, WS_EVENT_GRID_READY);
	assert_int_equal(conformance_waiting(), 1);
	assert_int_equal(ws_target_want(target, 0, NULL), WS_OK);
	assert_int_equal(conformance_waiting(), 0);
}

static void events_change_no_row_by_themselves(struct ws_target *target)
{
	uint64_t before = target->generation;
	assert_int_equal(ws_target_want(target, WS_WANT_STOPS, NULL), WS_OK);
	conformance_raise(WS_EVENT_STOPPED, false);
	(void)event_of(target, WS_EVENT_STOPPED);
	assert_true(target->generation == before);
	assert_int_equal(ws_target_update(target, NULL), WS_OK);
}

const struct conformance_check conformance_run_checks[] = {
	{ "no event waits at first", no_event_waits_at_first },
	{ "all devices stop and go", all_devices_stop_and_go },
	{ "one device stops and goes alone", one_device_stops_and_goes_alone },
	{ "one device stops without waiting", one_device_stops_without_waiting },
	{ "no device past the count runs", no_device_past_the_count_runs },
	{ "a running device is not read", a_running_device_is_not_read },
	{ "a step needs a warp", a_step_needs_a_warp },
	{ "a step tells what it changed", a_step_tells_what_it_changed },
	{ "no breakpoint without code", no_breakpoint_without_code },
	{ NULL, NULL },
};

const struct conformance_check conformance_event_checks[] = {
	{ "who waits for a later event waits on", who_waits_for_a_later_event_waits_on },
	{ "only what is wanted is told", only_what_is_wanted_is_told },
	{ "launches wait only for who wants them", launches_wait_only_for_who_wants_them },
	{ "events change no row by themselves", events_change_no_row_by_themselves },
	{ NULL, NULL },
};
