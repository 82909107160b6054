/* SPDX-License-Identifier: Apache-2.0 */
/* Every function over a device that really runs: before its session, with each argument wrong in
 * turn, and from inside the callback. */
#include <pthread.h>
#include <stdio.h>

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

/* ---- words for what is wrong ---- */

#define WRONG(code, name, ...) assert_int_equal(CALL(name, __VA_ARGS__), CUDBG_ERROR_##code)

static void what_a_stopped_thread_lacks_is_named(void **state)
{
	(void)state;
	uint32_t n, sm, wp;
	uint64_t ra;
	char text[100];
	CUDBGAttributeValuePair pair = { (CUDBGAttribute)99, 0 };
	CUDBGBarrierScope scope;
	start_over("calls", 1, 40, false, NULL, 0);
	GOOD(setBreakpoint, DEV, find(WS_OP_RET, 0));
	GOOD0(resumeAllDevices);
	expect_stop();
	one_broken(&sm, &wp);
	WRONG(INVALID_CALL_LEVEL, readReturnAddress, DEV, sm, wp, 0, 99, &ra);
	WRONG(INVALID_CALL_LEVEL, readVirtualReturnAddress, DEV, sm, wp, 0, 99, &ra);
	WRONG(INVALID_CALL_LEVEL, readReturnAddress32, DEV, sm, wp, 99, &ra);
	WRONG(INVALID_CALL_LEVEL, readVirtualReturnAddress32, DEV, sm, wp, 99, &ra);
	WRONG(INVALID_ATTRIBUTE, getGridAttribute, DEV, sm, wp, (CUDBGAttribute)99, &ra);
	WRONG(INVALID_ATTRIBUTE, getGridAttributes, DEV, sm, wp, &pair, 1);
	WRONG(BUFFER_TOO_SMALL, getDeviceName, DEV, text, 2);
	WRONG(BUFFER_TOO_SMALL, getDeviceType, DEV, text, 2);
	WRONG(BUFFER_TOO_SMALL, getSmType, DEV, text, 2);
	WRONG(BUFFER_TOO_SMALL, getErrorStringEx, text, 2, &n);
	WRONG(BUFFER_TOO_SMALL, getHardwareBarrierInfo, DEV, sm, wp, 0, &scope, text, 0, &n);
	WRONG(INVALID_ADDRESS, getAdjustedCodeAddress, DEV, 16, &ra, CUDBG_ADJ_CURRENT_ADDRESS);
	WRONG(INVALID_ADDRESS, disassemble, DEV, 16, &n, text, sizeof text);
	WRONG(INVALID_ADDRESS, setBreakpoint, DEV, 16);
	WRONG(INVALID_ADDRESS, setBreakpoint31, 16);
	WRONG(INVALID_ARGS, unsetBreakpoint, DEV, 16);
	WRONG(INVALID_ADDRESS, unsetBreakpoint31, 16);
}

static void memory_that_is_not_there_is_named(void **state)
{
	(void)state;
	const uint64_t nowhere = 64;
	uint64_t address;
	uint8_t bytes[16] = { 0 };
	start_over("calls", 1, 40, false, NULL, 0);
	stop_at_start();
	uint64_t pc = pc_of(0, 0, 0);
	WRONG(INVALID_ADDRESS, readCodeMemory, DEV, 16, bytes, 16);
	GOOD(writeLocalMemory, DEV, 0, 0, 0, 8, bytes, 4);
	WRONG(INVALID_ADDRESS, readLocalMemory, DEV, 0, 0, 0, 1u << 30, bytes, 4);
	WRONG(INVALID_ADDRESS, writeLocalMemory, DEV, 0, 0, 0, 1u << 30, bytes, 4);
	WRONG(INVALID_MEMORY_ACCESS, readSharedMemory, DEV, 0, 0, 1u << 30, bytes, 4);
	WRONG(INVALID_MEMORY_ACCESS, writeSharedMemory, DEV, 0, 0, 1u << 30, bytes, 4);
	WRONG(INVALID_MEMORY_ACCESS, getConstBankAddress123, DEV, 0, 0, 0, 1u << 30, &address);
	WRONG(INVALID_ARGS, readParamMemory, DEV, 0, 0, 1u << 30, bytes, 4);
	WRONG(ADDRESS_NOT_IN_DEVICE_MEM, readGlobalMemory, nowhere, bytes, 4);
	WRONG(ADDRESS_NOT_IN_DEVICE_MEM, writeGlobalMemory, nowhere, bytes, 4);
	WRONG(ADDRESS_NOT_IN_DEVICE_MEM, readGenericMemory, DEV, 0, 0, 0, nowhere, bytes, 4);
	WRONG(ADDRESS_NOT_IN_DEVICE_MEM, writeGenericMemory, DEV, 0, 0, 0, nowhere, bytes, 4);
	WRONG(ADDRESS_NOT_IN_DEVICE_MEM, readGlobalMemory55, DEV, 0, 0, 0, nowhere, bytes, 4);
	WRONG(ADDRESS_NOT_IN_DEVICE_MEM, writeGlobalMemory55, DEV, 0, 0, 0, nowhere, bytes, 4);
	WRONG(ADDRESS_NOT_IN_DEVICE_MEM, readGlobalMemory31, DEV, nowhere, bytes, 4);
	WRONG(ADDRESS_NOT_IN_DEVICE_MEM, readConstMemory129, DEV, nowhere, bytes, 4);
	WRONG(INVALID_WARP_MASK, resumeWarpsUntilPC60, DEV, 0, 0x10, pc);
}

/* Nothing moves after a fault, whatever the age of the call. */
static void after_a_fault_no_form_of_a_step_goes_on(void **state)
{
	(void)state;
	uint32_t sm, wp;
	uint64_t moved;
	run_into_fault();
	expect_stop();
	one_broken(&sm, &wp);
	uint64_t pc = pc_of(sm, wp, 40 % 32);
	WRONG(WARP_RESUME_NOT_POSSIBLE, singleStepWarp40, DEV, sm, wp);
	WRONG(WARP_RESUME_NOT_POSSIBLE, singleStepWarp41, DEV, sm, wp, &moved);
	WRONG(WARP_RESUME_NOT_POSSIBLE, singleStepWarp65, DEV, sm, wp, 1, &moved);
	WRONG(WARP_RESUME_NOT_POSSIBLE, resumeWarpsUntilPC60, DEV, sm, 1ull << wp, pc);
	assert_true(pc_of(sm, wp, 40 % 32) == pc);
}

/* writeGlobalMemory31 ends with Hopper. */
static void before_hopper_the_oldest_call_writes(void **state)
{
	(void)state;
	const struct ws_sim_options options = { .size = sizeof options,
						.device = "sm_80",
						.n_sms = 2 };
	uint32_t word = 0x11223344, back = 0;
	device = (struct device){ .sim = NULL };
	assert_int_equal(ws_sim_create(&options, &device.sim, NULL), WS_OK);
	assert_int_equal(ws_sim_alloc(device.sim, 4096, &device.out, NULL), WS_OK);
	const struct ws_sim_launch launch = {
		.size = sizeof launch,
		.kernel = "k",
		.grid = { 1, 1, 1 },
		.block = { 32, 1, 1 },
		.module = load_text(".arch sm_80\n.kernel k\nNOP\nEXIT\n.end\n"),
	};
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	begin(CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS);
	stop_at_start();
	GOOD(writeGlobalMemory31, DEV, device.out, &word, sizeof word);
	GOOD(readGlobalMemory31, DEV, device.out, &back, sizeof back);
	assert_int_equal(back, word);
	WRONG(ADDRESS_NOT_IN_DEVICE_MEM, writeGlobalMemory31, DEV, 64, &word, sizeof word);
	GOOD0(resumeAllDevices);
	expect_end();
}

/* ---- the callback ---- */

static CUDBGResult in_callback[WSI_API_SLOTS];
static char wrong_in_callback[200];
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
		const char *wrong = api_call_run(&call, api, &in_callback[slot]);
		if (wrong)
			snprintf(wrong_in_callback, sizeof wrong_in_callback, "%s", wrong);
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
	assert_string_equal(wrong_in_callback, "");
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
	TEST(what_a_stopped_thread_lacks_is_named),
	TEST(memory_that_is_not_there_is_named),
	TEST(after_a_fault_no_form_of_a_step_goes_on),
	TEST(before_hopper_the_oldest_call_writes),
	TEST(inside_the_callback_of_a_stop_only_events_are_served),
};
const size_t n_live_sweeps_tests = sizeof live_sweeps_tests / sizeof *live_sweeps_tests;
