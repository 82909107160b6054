/* SPDX-License-Identifier: Apache-2.0 */
/* What each capability of the debugger API is good for, while a program runs. usage:
 * test_capabilities FATBIN */
#define _XOPEN_SOURCE 700 /* setenv */
#include "debugged.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what each capability is good for; the others are not needed for it ---- */

static bool tells_stops(void)
{
	let_fail();
	return count(CUDBG_EVENT_ALL_DEVICES_SUSPENDED) > 0;
}

static bool tells_functions(void)
{
	do_steps("l");
	return count(CUDBG_EVENT_FUNCTIONS_LOADED) > 0 &&
	       events[first(CUDBG_EVENT_FUNCTIONS_LOADED)].cases.functionsLoaded.count > 0;
}

static bool tells_no_switches(void)
{
	return count(CUDBG_EVENT_CTX_PUSH) + count(CUDBG_EVENT_CTX_POP) == 0;
}

static bool keeps_logs(void)
{
	CUDBGCudaLogMessage record;
	uint32_t n = 0;
	tell('b');
	assert_int_equal(hear(MOST_MS), '-');
	return api->consumeCudaLogs(&record, 1, &n) == CUDBG_SUCCESS && n == 1;
}

static bool keeps_stacks(void)
{
	uint64_t stack[8];
	uint32_t n = 0;
	do_steps("l");
	assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
	const uint64_t grid = events[first(CUDBG_EVENT_KERNEL_READY)].cases.kernelReady.gridId;
	const CUDBGResult result = api->readCPUCallStack(0, grid, stack, 8, &n);
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	return result == CUDBG_SUCCESS;
}

static bool stops_at_launches(void)
{
	const CUDBGBreakpointHandle handle = CUDBG_BREAKPOINT_HANDLE_BREAK_ON_LAUNCH;
	if (api->enableBreakpoint(handle) != CUDBG_SUCCESS) {
		assert_int_equal(api->disableBreakpoint(handle), CUDBG_ERROR_NOT_SUPPORTED);
		do_steps("l");
		return false;
	}
	tell('l');
	await_stop();
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'l');
	return true;
}

/* Lines that came through a pipe so far. */
static unsigned lines_of(int pipe)
{
	struct pollfd polled = { pipe, POLLIN, 0 };
	char text[4096];
	unsigned n = 0;
	while (poll(&polled, 1, 0) > 0) {
		ssize_t len = read(pipe, text, sizeof text);
		for (ssize_t i = 0; i < len; i++)
			n += text[i] == '\n';
		if (len <= 0)
			break;
	}
	return n;
}

/* A kernel stands where its first warp has printed; nothing is lost, nor printed twice. */
static bool flushes_text(void)
{
	char say[] = "say", text[128] = "";
	uint64_t at;
	uint32_t size = 0;
	uintptr_t symbol;
	bool found = false;
	do_steps("s"); /* it is loaded */
	assert_int_equal(lines_of(program.out), SAYS);
	n_events = 0;
	acknowledges = false;
	tell('s');
	for (int i = 0; i < MOST_MS && count(CUDBG_EVENT_KERNEL_READY) == 0; i++)
		assert_int_equal(hear(1), 0);
	assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
	assert_int_equal(api->lookupDeviceCodeSymbol(say, &found, &symbol), CUDBG_SUCCESS);
	assert_true(found);
	for (at = symbol; strncmp(text, "EXIT", 4) != 0; at += size)
		assert_int_equal(api->disassemble(0, at, &size, text, sizeof text), CUDBG_SUCCESS);
	at -= size;
	assert_int_equal(api->setBreakpoint(0, at), CUDBG_SUCCESS);
	assert_int_equal(api->acknowledgeSyncEvents(), CUDBG_SUCCESS);
	acknowledges = true;
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	await_stop();
	const unsigned early = lines_of(program.out);
	assert_int_equal(api->unsetBreakpoint(0, at), CUDBG_SUCCESS);
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 's');
	assert_int_equal(early + lines_of(program.out), SAYS);
	return early > 0;
}

/* Exceptions in exited warps are for tests/api: a program's faults are seen at once here. */
static void test_capabilities(void **state)
{
	static const struct {
		uint32_t bit;
		bool (*works)(void);
	} of[] = {
		{ STOPS, tells_stops },   { LAZY, tells_functions },
		{ LOGS, keeps_logs },     { NO_SWITCHES, tells_no_switches },
		{ STACKS, keeps_stacks }, { AT_LAUNCH, stops_at_launches },
		{ PRINTF, flushes_text },
	};
	(void)state;
	for (unsigned i = 0; i < 2 * sizeof of / sizeof of[0]; i++) {
		const uint32_t bit = of[i / 2].bit, others = 0xff & ~bit;
		CUDBGCapabilityFlags flags;
		start(i % 2 ? bit : others, true);
		assert_int_equal(api->getSupportedDebuggerCapabilities(&flags), CUDBG_SUCCESS);
		assert_int_equal(flags, 0xff);
		assert_int_equal(api->initialize(), CUDBG_SUCCESS);
		do_steps("icm");
		assert_int_equal(api->getSupportedDebuggerCapabilities(&flags), CUDBG_SUCCESS);
		assert_int_equal(flags, 0xff);
		if (of[i / 2].works() != (i % 2 == 1))
			fail_msg("capability 0x%x is %s", (unsigned)bit, i % 2 ? "off" : "on");
		end();
	}
}

/* What the debugger has of the module: how many functions, and where the first is. */
static uint32_t loaded_functions(uint64_t *ret_address)
{
	CUDBGLoadedFunctionInfo info = { 0, 0 };
	const uint64_t handle =
		events[first(CUDBG_EVENT_ELF_IMAGE_LOADED)].cases.elfImageLoaded.handle;
	uint32_t n = 0;
	while (api->getLoadedFunctionInfo(0, handle, &info, n + 1, 0) == CUDBG_SUCCESS)
		n++;
	if (n > 0)
		assert_int_equal(api->getLoadedFunctionInfo(0, handle, &info, 0, 1), CUDBG_SUCCESS);
	*ret_address = info.address;
	return n;
}

/* A kernel is loaded when the program asks for it, and the program waits until its debugger knows;
 * until then there is no code to break at. */
static void test_lazy_functions(void **state)
{
	uint64_t address, early;
	uintptr_t symbol;
	bool found;
	char store[] = "store";
	(void)state;
	start(STOPS | LAZY | NO_SWITCHES, true);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	do_steps("icm");
	assert_int_equal(count(CUDBG_EVENT_FUNCTIONS_LOADED), 0);
	assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
	assert_int_equal(loaded_functions(&early), 0);
	assert_int_equal(api->lookupDeviceCodeSymbol(store, &found, &symbol), CUDBG_SUCCESS);
	assert_false(found);
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	acknowledges = false;
	tell('l');
	assert_int_equal(hear(200), 0);
	assert_int_equal(count(CUDBG_EVENT_FUNCTIONS_LOADED), 1);
	assert_int_equal(count(CUDBG_EVENT_KERNEL_READY), 0);
	assert_int_equal(events[first(CUDBG_EVENT_FUNCTIONS_LOADED)].cases.functionsLoaded.count,
			 1);
	assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
	assert_int_equal(loaded_functions(&address), 1);
	assert_int_equal(api->lookupDeviceCodeSymbol(store, &found, &symbol), CUDBG_SUCCESS);
	assert_true(found && symbol == address);
	assert_int_equal(api->setBreakpoint(0, address + 1024 * 1024), CUDBG_ERROR_INVALID_ADDRESS);
	assert_int_equal(api->setBreakpoint(0, address), CUDBG_SUCCESS);
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	acknowledges = true;
	assert_int_equal(api->acknowledgeSyncEvents(), CUDBG_SUCCESS);
	await_stop(); /* it is there */
	assert_int_equal(count(CUDBG_EVENT_ALL_DEVICES_SUSPENDED), 1);
	assert_int_equal(api->unsetBreakpoint(0, address), CUDBG_SUCCESS);
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'l');
	do_steps("l"); /* loaded already: nobody is told again */
	assert_int_equal(count(CUDBG_EVENT_FUNCTIONS_LOADED), 1);
	end();
}

/* The program's choice, and that of a debugger that is not told of functions. */
static void test_eager_functions(void **state)
{
	uint64_t address;
	(void)state;
	for (unsigned by_variable = 0; by_variable < 2; by_variable++) {
		setenv("CUDA_MODULE_LOADING", by_variable ? "EAGER" : "LAZY", 1);
		start(STOPS | NO_SWITCHES | (by_variable ? LAZY : 0), true);
		assert_int_equal(api->initialize(), CUDBG_SUCCESS);
		do_steps("icm");
		assert_int_equal(count(CUDBG_EVENT_FUNCTIONS_LOADED), by_variable);
		assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
		assert_true(loaded_functions(&address) > 1);
		assert_int_equal(api->setBreakpoint(0, address), CUDBG_SUCCESS);
		assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
		end();
	}
	unsetenv("CUDA_MODULE_LOADING");
}

/* The launching thread's calls, and why calls failed: only from when they are wanted. */
static void test_later_wishes(void **state)
{
	CUDBGCudaLogMessage record;
	uint64_t stack[8];
	uint32_t n = 0;
	(void)state;
	start(STOPS | NO_SWITCHES, true);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	do_steps("icml");
	tell('b');
	assert_int_equal(hear(MOST_MS), '-');
	assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
	uint64_t grid = events[first(CUDBG_EVENT_KERNEL_READY)].cases.kernelReady.gridId;
	assert_int_equal(api->readCPUCallStack(0, grid, stack, 8, &n), CUDBG_ERROR_MISSING_DATA);
	assert_int_equal(api->consumeCudaLogs(&record, 1, &n), CUDBG_ERROR_NO_EVENT_AVAILABLE);
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	tell('w'); /* a debugger would write the variable itself */
	assert_int_equal(hear(MOST_MS), 'w');
	n_events = 0;
	do_steps("l");
	tell('b');
	assert_int_equal(hear(MOST_MS), '-');
	assert_true(count(CUDBG_EVENT_CUDA_LOGS_AVAILABLE) > 0);
	assert_int_equal(api->consumeCudaLogs(&record, 1, &n), CUDBG_SUCCESS);
	assert_int_equal(n, 1);
	assert_non_null(strstr(record.message, "cuMemFree"));
	assert_non_null(strstr(record.message, "CUDA_ERROR_INVALID_VALUE"));
	assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
	grid = events[first(CUDBG_EVENT_KERNEL_READY)].cases.kernelReady.gridId;
	assert_int_equal(api->readCPUCallStack(0, grid, stack, 8, &n), CUDBG_SUCCESS);
	assert_true(n > 1);
	const uintptr_t function = (uintptr_t)do_step; /* the same in both, as one is forked */
	assert_true(stack[0] > function && stack[0] < function + 4096);
	end();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_lazy_functions),
		cmocka_unit_test(test_eager_functions),
		cmocka_unit_test(test_later_wishes),
	};
	return DEBUGGED_MAIN(argc, argv, tests);
}
