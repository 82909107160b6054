/* SPDX-License-Identifier: Apache-2.0 */
/* Every function over a device that really runs: before its session, with each argument wrong in
 * turn, and from inside the callback. */
#include <pthread.h>

#include "live.h"

/* One call; what the harness finds wrong fails the test. */
static CUDBGResult run(struct api_call *call)
{
	CUDBGResult result;
	const char *wrong = api_call_run(call, api, &result);
	if (wrong)
		fail_msg("%s", wrong);
	return result;
}

static CUDBGResult run_good(unsigned slot)
{
	struct api_call call;
	api_call_init(&call, slot);
	api_call_buffers(&call);
	CUDBGResult result = run(&call);
	api_call_fini(&call);
	return result;
}

static void expect_result(unsigned slot, CUDBGResult result, CUDBGResult expected, const char *what)
{
	if (result != expected)
		fail_msg("%s with %s: %s, not %s", wsi_api_functions[slot].name, what,
			 cudbgGetErrorString(result), cudbgGetErrorString(expected));
}

static void a_device_without_a_session_answers_uninitialized(void **state)
{
	(void)state;
	device_open(&device, kernels, 4);
	device_launch(&device, "calls", 2, 40, &device.out, 1);
	open_table();
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++)
		if (!wsi_api_functions[slot].any_state)
			expect_result(slot, run_good(slot), CUDBG_ERROR_UNINITIALIZED,
				      "no session");
	begin_session();
	GOOD0(resumeAllDevices); /* and it was not touched */
	expect_end();
	GOOD0(finalize);
	assert_int_equal(CALL0(resumeAllDevices), CUDBG_ERROR_UNINITIALIZED);
}

/* Blocks of 40 threads on two SMs: the last lanes of warp 1 have no thread, warp 2 is none. */
static void stand_in_two_blocks(void)
{
	start_over("calls", 2, 40, false, NULL, 0);
	stop_at_start();
	assert_true(valid(1) == 3);
}

static void null_is_refused_while_a_kernel_stands(void **state)
{
	(void)state;
	stand_in_two_blocks();
	uint64_t pc = pc_of(0, 0, 0);
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
		const struct wsi_api_fn *fn = &wsi_api_functions[slot];
		for (unsigned i = 0; i < fn->n_args; i++) {
			struct api_call call;
			if (fn->args[i].way == WSI_API_VALUE || fn->args[i].optional)
				continue;
			api_call_init(&call, slot);
			api_call_buffers(&call);
			call.v[i].pointer = NULL;
			expect_result(slot, run(&call), CUDBG_ERROR_INVALID_ARGS, fn->args[i].name);
			api_call_fini(&call);
		}
	}
	assert_true(pc_of(0, 0, 0) == pc && valid(0) == 3);
	GOOD0(resumeAllDevices);
	expect_end();
}

static void wrong_places_of_a_kernel_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint64_t value, wp;
		bool is_empty;
	} wrong[] = {
		{ "dev", 1, 0, false }, { "dev", UINT32_MAX, 0, false },
		{ "sm", 4, 0, false },  { "sm", UINT32_MAX, 0, false },
		{ "wp", 64, 0, false }, { "wp", UINT32_MAX, 0, false },
		{ "wp", 2, 0, true },   { "ln", 32, 0, false },
		{ "ln", 31, 1, false }, { "ln", UINT32_MAX, 0, false },
	};
	stand_in_two_blocks();
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++)
		for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
			struct api_call call;
			CUDBGResult expected;
			int arg = api_arg(slot, wrong[i].name), wp = api_arg(slot, "wp");
			if (!api_bad_place(slot, wrong[i].name, wrong[i].is_empty, &expected))
				continue;
			api_call_init(&call, slot);
			if (wp >= 0)
				call.v[wp].number = wrong[i].wp;
			call.v[arg].number = wrong[i].value;
			api_call_buffers(&call);
			expect_result(slot, run(&call), expected, wrong[i].name);
			api_call_fini(&call);
		}
	GOOD0(resumeAllDevices);
	expect_end();
}

/* ---- the callback ---- */

static CUDBGResult in_callback[WSI_API_SLOTS];
static bool was_called;
static pthread_mutex_t called_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;

/* On the session's own thread, where a failed check would not be heard. */
static void call_everything(CUDBGEventCallbackData *data)
{
	(void)data;
	pthread_mutex_lock(&called_lock);
	for (unsigned slot = 0; slot < WSI_API_SLOTS && !was_called; slot++) {
		struct api_call call;
		api_call_init(&call, slot);
		api_call_buffers(&call);
		(void)api_call_run(&call, api, &in_callback[slot]);
		api_call_fini(&call);
	}
	was_called = true;
	pthread_cond_signal(&called);
	pthread_mutex_unlock(&called_lock);
}

static void inside_the_callback_of_a_stop_only_events_are_served(void **state)
{
	(void)state;
	CUDBGBreakpointHandle handle;
	was_called = false;
	start_over("calls", 1, 32, false, NULL, 0);
	GOOD(insertBreakpoint, DEV, entry(), &handle);
	GOOD(setNotifyNewEventCallback, call_everything, NULL);
	GOOD0(resumeAllDevices);
	pthread_mutex_lock(&called_lock);
	while (!was_called)
		pthread_cond_wait(&called, &called_lock);
	pthread_mutex_unlock(&called_lock);
	GOOD(setNotifyNewEventCallback, NULL, NULL);
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++)
		if (wsi_api_functions[slot].in_callback ==
		    (in_callback[slot] == CUDBG_ERROR_RECURSIVE_API_CALL))
			fail_msg("%s inside the callback: %s", wsi_api_functions[slot].name,
				 cudbgGetErrorString(in_callback[slot]));
	/* the device is where it stopped, whatever was asked */
	uint32_t sm, wp;
	one_broken(&sm, &wp);
	assert_true(hit(sm, wp) == handle && pc_of(sm, wp, 0) == entry());
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_sweeps_tests[] = {
	TEST(a_device_without_a_session_answers_uninitialized),
	TEST(null_is_refused_while_a_kernel_stands),
	TEST(wrong_places_of_a_kernel_are_refused),
	TEST(inside_the_callback_of_a_stop_only_events_are_served),
};
const size_t n_live_sweeps_tests = sizeof live_sweeps_tests / sizeof *live_sweeps_tests;
