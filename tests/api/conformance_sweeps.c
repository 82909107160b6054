/* SPDX-License-Identifier: Apache-2.0 */
/* Every function called with each argument wrong in turn, in each state, over each failure. */
#include "conformance.h"

/* ---- sweeps over all functions ---- */

void before_initialize_everything_is_uninitialized(void **state)
{
	(void)state;
	start(false);
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
		const struct wsi_api_fn *fn = &wsi_api_functions[slot];
		if (fn->any_state)
			continue;
		assert_int_equal(run_good(slot), CUDBG_ERROR_UNINITIALIZED);
		struct api_call call; /* before arguments are looked at */
		api_call_init(&call, slot);
		assert_int_equal(run(&call), CUDBG_ERROR_UNINITIALIZED);
	}
	CUDBGCapabilityFlags flags;
	assert_int_equal(CALL(getSupportedDebuggerCapabilities, &flags), CUDBG_SUCCESS);
	assert_int_equal(flags & 15, 15);
	assert_int_equal(CALL0(initializeAttachStub), CUDBG_SUCCESS);
	assert_int_equal(CALL(setNotifyNewEventCallback41, NULL), CUDBG_SUCCESS);
	stop();
}

void null_is_refused_pointer_by_pointer(void **state)
{
	(void)state;
	for (int running = 0; running < 2; running++) {
		start_ready(running, 0);
		for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
			const struct wsi_api_fn *fn = &wsi_api_functions[slot];
			for (unsigned i = 0; i < fn->n_args; i++) {
				if (fn->args[i].way == WSI_API_VALUE || fn->args[i].optional)
					continue;
				struct api_call call;
				api_call_init(&call, slot);
				api_call_buffers(&call);
				call.v[i].pointer = NULL;
				CUDBGResult result = run(&call);
				if (result != CUDBG_ERROR_INVALID_ARGS)
					fail_msg("%s with %s NULL: %s", fn->name, fn->args[i].name,
						 cudbgGetErrorString(result));
				api_call_fini(&call);
			}
		}
		stop();
	}
}

/* A coordinate out of range, or of an empty place, in an otherwise good call. */
static void expect_bad(const char *name, uint64_t value, bool empty_slot)
{
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
		CUDBGResult expected;
		struct api_call call;
		if (!api_bad_place(slot, name, empty_slot, &expected))
			continue;
		api_call_init(&call, slot);
		call.v[api_arg(slot, name)].number = value;
		api_call_buffers(&call);
		CUDBGResult result = run(&call);
		if (result != expected)
			fail_msg("%s with %s %u: %s", wsi_api_functions[slot].name, name,
				 (unsigned)value, cudbgGetErrorString(result));
		api_call_fini(&call);
	}
}

void each_coordinate_is_checked_apart(void **state)
{
	(void)state;
	for (int running = 0; running < 2; running++) {
		start_ready(running, 0);
		expect_bad("dev", 3, false);
		expect_bad("dev", UINT32_MAX, false);
		expect_bad("dev", 1, false); /* ids have a gap there */
		expect_bad("sm", 130, false);
		expect_bad("sm", UINT32_MAX, false);
		expect_bad("wp", 8, false);
		expect_bad("wp", UINT32_MAX, false);
		expect_bad("wp", 1, true);
		expect_bad("ln", 32, false);
		expect_bad("ln", UINT32_MAX, false);
		expect_bad("ln", 31, false); /* a lane without a thread */
		stop();
	}
}

void a_running_device_answers_running(void **state)
{
	(void)state;
	start_ready(true, 0);
	fake.runs[0] = true;
	for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++) {
		const struct wsi_api_fn *fn = &wsi_api_functions[slot];
		if (!fn->stopped)
			continue;
		CUDBGResult result = run_good(slot);
		if (result != CUDBG_ERROR_RUNNING_DEVICE)
			fail_msg("%s: %s", fn->name, cudbgGetErrorString(result));
	}
	fake.runs[1] = true;
	assert_int_equal(CALL0(resumeAllDevices), CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(suspendAllDevices, 0), CUDBG_SUCCESS);
	assert_int_equal(CALL(suspendAllDevices, 0), CUDBG_ERROR_SUSPENDED_DEVICE);
	uint64_t mask;
	assert_int_equal(CALL(readValidWarps, 0, 1, &mask), CUDBG_SUCCESS);
	assert_int_equal(mask, 0xe1);
	assert_int_equal(CALL0(resumeAllDevices), CUDBG_SUCCESS);
	assert_int_equal(CALL(readValidWarps, 0, 1, &mask), CUDBG_ERROR_RUNNING_DEVICE);
	assert_int_equal(CALL(suspendDevice, 0), CUDBG_SUCCESS);
	assert_int_equal(CALL(suspendDevice, 0), CUDBG_ERROR_SUSPENDED_DEVICE);
	assert_int_equal(CALL(resumeDevice, 0), CUDBG_SUCCESS);
	assert_int_equal(CALL(resumeDevice, 0), CUDBG_ERROR_RUNNING_DEVICE);
	stop();
}

/* One with handle 1; with `disabled` that only, else also one without a handle. */
static void some_breakpoints(bool disabled)
{
	uint64_t handle;
	(void)CALL(insertBreakpoint, 0, FAKE_CODE + 64, &handle);
	if (disabled)
		(void)CALL(disableBreakpoint, handle);
	else
		(void)CALL(setBreakpoint, 0, FAKE_CODE);
}

/* Whatever member of the target fails, and how: codes are listed, outputs untouched. */
void failures_of_the_target_come_through(void **state)
{
	(void)state;
	static const enum ws_status statuses[] = { WS_ABSENT,    WS_EXCLUDED,  WS_RUNNING,
						   WS_MALFORMED, WS_TRUNCATED, WS_UNSUPPORTED,
						   WS_ARGUMENT,  WS_LIMIT,     WS_NO_MEMORY,
						   WS_IO };
	for (int running = 0; running < 2; running++)
		for (int op = FAKE_DEVICE; op < FAKE_OPS; op++)
			for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
				start_ready(running, 0);
				if (running)
					some_breakpoints(op == FAKE_PLANT);
				fake.fail_op = (enum fake_op)op;
				fake.fail_status = statuses[i];
				for (unsigned slot = 0; slot < WSI_API_SLOTS; slot++)
					if (!ends_session(slot) &&
					    (slot != SLOT(resumeDevice) || op == FAKE_RESUME) &&
					    (slot != SLOT(resumeAllDevices) || op == FAKE_RESUME))
						(void)run_good(slot);
				fake.runs[0] = fake.runs[1] = true;
				(void)run_good(SLOT(suspendDevice));
				fake.runs[0] = fake.runs[1] = true;
				(void)run_good(SLOT(suspendAllDevices));
				stop();
			}
}
