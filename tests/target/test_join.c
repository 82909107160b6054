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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stop_from_before_a_resume_stops_nobody_after_it,
						join_two, part_two),
		cmocka_unit_test_setup_teardown(a_stop_of_one_stops_the_other, join_two, part_two),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
