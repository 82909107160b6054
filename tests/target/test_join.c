/* SPDX-License-Identifier: Apache-2.0 */
/* Targets joined, when what a part tells comes late. What they promise as any target is in the
 * suite of all back ends (test_target.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <warpscope/join.h>

#include "fake.h"

static struct fake parts[2];
static struct ws_target *both;

static int join_two(void **state)
{
	struct ws_target *targets[2];
	(void)state;
	for (int i = 0; i < 2; i++) {
		fake_init(&parts[i], 1, 1, 32);
		fake_may_run(&parts[i]);
		targets[i] = &parts[i].target;
	}
	assert_int_equal(ws_target_join(targets, 2, &both, NULL), WS_OK);
	assert_int_equal(ws_target_want(both, WS_WANT_STOPS, NULL), WS_OK);
	return 0;
}

static int part_two(void **state)
{
	(void)state;
	ws_target_close(both);
	for (int i = 0; i < 2; i++)
		ws_target_close(&parts[i].target);
	return 0;
}

/* A part stops by itself. Its thread does not come to tell. */
static void stops_untold(struct fake *part)
{
	const struct ws_event event = { .kind = WS_EVENT_STOPPED,
					.sync = true,
					.broken_devices = 1 };
	part->runs[0] = false;
	part->wake = NULL;
	fake_event(part, &event);
}

static void a_stop_from_before_a_resume_stops_nobody_after_it(void **state)
{
	struct ws_event event;
	(void)state;
	assert_int_equal(ws_target_resume(both, WS_NONE, NULL), WS_OK);
	assert_int_equal(ws_target_suspend(both, 0, true, NULL), WS_OK);
	while (ws_target_next_event(both, &event, NULL) == WS_OK)
		continue;
	stops_untold(&parts[1]);
	assert_int_equal(ws_target_resume(both, 0, NULL), WS_OK);
	assert_true(ws_target_running(both, 0));
	assert_int_equal(ws_target_next_event(both, &event, NULL), WS_OK);
	assert_int_equal(event.kind, WS_EVENT_STOPPED);
	assert_int_equal(event.broken_devices, 2);
	assert_true(ws_target_running(both, 0));
}

static void a_stop_of_one_stops_the_other(void **state)
{
	struct ws_event event;
	(void)state;
	assert_int_equal(ws_target_resume(both, WS_NONE, NULL), WS_OK);
	stops_untold(&parts[1]);
	(void)!ws_target_next_event(both, &event, NULL);
	assert_false(ws_target_running(both, 0));
}

static void only_targets_that_run_are_joined_and_not_too_many(void **state)
{
	enum { MANY = WS_MAX_JOINED + 1 };
	static struct fake fakes[MANY];
	struct ws_target *targets[MANY], *joined = NULL;
	struct ws_counts counts;
	struct ws_error err;
	(void)state;
	for (int i = 0; i < MANY; i++) {
		fake_init(&fakes[i], 1, 1, 32);
		fake_may_run(&fakes[i]);
		targets[i] = &fakes[i].target;
	}
	assert_int_equal(ws_target_join(targets, 0, &joined, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "0 targets");
	assert_int_equal(ws_target_join(targets, MANY, &joined, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "33 targets");
	assert_int_equal(ws_target_join(targets, WS_MAX_JOINED, &joined, &err), WS_OK);
	ws_target_counts(joined, &counts);
	assert_int_equal(counts.devices, WS_MAX_JOINED);
	assert_int_equal(counts.warps, WS_MAX_JOINED);
	assert_int_equal(ws_target_resume(joined, WS_NONE, &err), WS_OK);
	for (uint32_t i = 0; i < WS_MAX_JOINED; i++)
		assert_true(ws_target_running(joined, i));
	stops_untold(&fakes[WS_MAX_JOINED - 1]);
	(void)!ws_target_next_event(joined, &(struct ws_event){ .kind = 0 }, NULL);
	for (uint32_t i = 0; i < WS_MAX_JOINED; i++)
		assert_false(ws_target_running(joined, i));
	ws_target_close(joined);
	fakes[1].device[0].id = 1; /* its only one is not device 0 */
	assert_int_equal(ws_target_join(targets, 2, &joined, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "target 1 cannot be joined");
	fakes[1].device[0].id = 0;
	ws_target_close(&fakes[0].target);
	fake_init(&fakes[0], 1, 1, 32); /* it cannot run */
	assert_int_equal(ws_target_join(targets, 2, &joined, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "target 0 cannot be joined");
	for (int i = 0; i < MANY; i++)
		ws_target_close(&fakes[i].target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stop_from_before_a_resume_stops_nobody_after_it,
						join_two, part_two),
		cmocka_unit_test_setup_teardown(a_stop_of_one_stops_the_other, join_two, part_two),
		cmocka_unit_test(only_targets_that_run_are_joined_and_not_too_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
