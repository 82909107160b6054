/* SPDX-License-Identifier: Apache-2.0 */
/* The API over a device that really runs: what each static capability is good for, and that it is
 * as it was when the session began. Those of logs and launch stacks may change: live_contracts.c.
 */
#include "live.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- a device, and what is told of it ---- */

static atomic_size_t n_printed;

static size_t print(void *user, const uint8_t *text, size_t len)
{
	(void)user;
	(void)text;
	atomic_fetch_add(&n_printed, len);
	return len;
}

static void open_kernels(const char *fatbin, bool lazy)
{
	const struct ws_sim_options options = {
		.size = sizeof options, .n_sms = 4, .lazy = lazy, .print = print
	};
	device_make(&device, &options, fatbin);
}

/* Takes all events; a bit for the kind of each. */
static uint64_t take_events(void)
{
	CUDBGEvent event;
	uint64_t kinds = 0;
	for (unsigned queue = 0; queue < 2; queue++)
		while (CALL(getNextEvent, (CUDBGEventQueueType)queue, &event) == CUDBG_SUCCESS)
			kinds |= UINT64_C(1) << event.kind;
	GOOD0(acknowledgeSyncEvents);
	return kinds;
}

/* Lets the device run, on from each stop, until a kernel has finished; what was told. */
static uint64_t run_to_end(void)
{
	uint64_t kinds = 0, mask;
	while (!(kinds >> CUDBG_EVENT_KERNEL_FINISHED & 1)) {
		if (CALL(readValidWarps, DEV, 0, &mask) == CUDBG_SUCCESS)
			GOOD0(resumeAllDevices);
		doze();
		kinds |= take_events();
	}
	return kinds;
}

/* ---- what each is good for ---- */

static void launch_calls(void)
{
	open_kernels(kernels, false);
	device_launch(&device, "calls", 1, 32, &device.out, 1);
}

static void have_lazy_code(void)
{
	open_kernels(kernels, true);
}

/* Of the one that was needed; the others are not there yet. */
static bool functions_are_told(void)
{
	char other[] = "faults";
	uintptr_t address;
	bool is_there = false;
	(void)device_launch_later(&device, "calls", 1, 32, &device.out, 1);
	bool told = run_to_end() >> CUDBG_EVENT_FUNCTIONS_LOADED & 1;
	GOOD(suspendAllDevices, 0);
	GOOD(lookupDeviceCodeSymbol, other, &is_there, &address);
	return told && !is_there;
}

static bool stops_are_told(void)
{
	GOOD(setBreakpoint, DEV, entry() + 2 * WS_SASS_BYTES);
	return run_to_end() >> CUDBG_EVENT_ALL_DEVICES_SUSPENDED & 1;
}

static bool launches_are_broken_at(void)
{
	return CALL(enableBreakpoint, CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH) == CUDBG_SUCCESS;
}

static atomic_bool has_switched;

static void *switch_contexts(void *data)
{
	(void)data;
	for (int is_current = 1; is_current >= 0; is_current--)
		if (ws_sim_host_switch(device.target, is_current, 77, NULL) != WS_OK)
			return NULL;
	atomic_store(&has_switched, true);
	return NULL;
}

static bool switches_are_not_told(void)
{
	pthread_t thread;
	uint64_t kinds = 0;
	atomic_store(&has_switched, false);
	GOOD0(resumeAllDevices);
	assert_int_equal(pthread_create(&thread, NULL, switch_contexts, NULL), 0);
	while (!atomic_load(&has_switched)) {
		doze();
		kinds |= take_events();
	}
	pthread_join(thread, NULL);
	return !(kinds >> CUDBG_EVENT_CTX_PUSH & 1) && !(kinds >> CUDBG_EVENT_CTX_POP & 1);
}

/* The first warp writes outside and ends; the second goes on until that is seen. */
static void launch_a_late_fault(void)
{
	static const char text[] =
		".arch sm_90a\n.kernel k\nS2R R2, SR_TID.X\n"
		"ISETP.GE.AND P0, PT, R2, 0x20, PT\nMOV R4, 0x100\nMOV R5, RZ\n"
		"@!P0 ST.E [R4], R2\n@!P0 EXIT\nagain: NOP\nBRA `(again)\n.end\n";
	const struct ws_sim_options options = { .size = sizeof options, .n_sms = 4, .late = 1000 };
	struct ws_sim_launch launch = {
		.size = sizeof launch, .kernel = "k", .grid = { 1, 1, 1 }, .block = { 64, 1, 1 }
	};
	device_make(&device, &options, kernels);
	launch.module = load_text(text);
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
}

static bool faults_of_the_ended_are_told(void)
{
	uint64_t mask[4] = { 0 }, warps = 0;
	GOOD0(resumeAllDevices);
	while (CALL(readValidWarps, DEV, 0, &warps) != CUDBG_SUCCESS)
		doze();
	assert_int_equal(warps, 2); /* the first has ended */
	GOOD(readDeviceExceptionState, DEV, mask, 4);
	CUDBGException_t exception;
	uint64_t pc;
	bool has_pc;
	GOOD(readSmException, DEV, 0, &exception, &pc, &has_pc);
	assert_int_equal(exception,
			 mask[0] ? CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS : CUDBG_EXCEPTION_NONE);
	return mask[0] == 1;
}

static void launch_print(void)
{
	const uint64_t n = 32;
	open_kernels(service, false);
	device_launch(&device, "print_some", 1, 32, &n, 1);
}

static bool text_comes_at_a_stop(void)
{
	atomic_store(&n_printed, 0);
	(void)run_to_end();
	GOOD(suspendAllDevices, 0);
	return atomic_load(&n_printed) > 0;
}

static void capabilities_are_those_of_the_beginning(void **state)
{
	static const struct {
		uint32_t bit;
		void (*launch)(void);
		bool (*works)(void);
	} of[] = {
		{ CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING, have_lazy_code,
		  functions_are_told },
		{ CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS, launch_calls, stops_are_told },
		{ CUDBG_DEBUGGER_CAPABILITY_REPORT_EXCEPTIONS_IN_EXITED_WARPS, launch_a_late_fault,
		  faults_of_the_ended_are_told },
		{ CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS, launch_calls,
		  switches_are_not_told },
		{ CUDBG_DEBUGGER_CAPABILITY_FLUSH_PRINTF_ON_SUSPEND, launch_print,
		  text_comes_at_a_stop },
		{ CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH, launch_calls, launches_are_broken_at },
	};
	for (unsigned i = 0; i < 4 * sizeof of / sizeof *of; i++) {
		const uint32_t bit = of[i / 4].bit;
		const bool is_on = i & 1, changes = i & 2;
		of[i / 4].launch();
		open_table();
		cudbgDebuggerCapabilities = is_on ? bit : 0;
		begin_session();
		cudbgDebuggerCapabilities ^= changes ? bit : 0;
		if (of[i / 4].works() != is_on)
			fail_msg("capability 0x%x, %s%s", (unsigned)bit, is_on ? "on" : "off",
				 changes ? " and changed afterwards" : "");
		(void)stop(state);
	}
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_capabilities_tests[] = {
	TEST(capabilities_are_those_of_the_beginning),
};
const size_t n_live_capabilities_tests =
	sizeof live_capabilities_tests / sizeof *live_capabilities_tests;
