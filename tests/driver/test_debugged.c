/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program under a debugger, and the debugger: two processes of this test, each with the driver's
 * library as its documentation has it. The program does a step when it is told to, so that the
 * debugger knows what an event is of. usage: test_debugged FATBIN
 */
#define _GNU_SOURCE /* struct ucred */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/sockios.h>

#include <warpscope/cudadebugger.h>

#include "api.h"

enum {
	STOPS = CUDBG_DEBUGGER_CAPABILITY_SUSPEND_EVENTS,
	LAZY = CUDBG_DEBUGGER_CAPABILITY_LAZY_FUNCTION_LOADING,
	NO_SWITCHES = CUDBG_DEBUGGER_CAPABILITY_NO_CONTEXT_PUSH_POP_EVENTS,
	PRINTF = CUDBG_DEBUGGER_CAPABILITY_FLUSH_PRINTF_ON_SUSPEND,
	LOGS = CUDBG_DEBUGGER_CAPABILITY_ENABLE_CUDA_LOGS,
	STACKS = CUDBG_DEBUGGER_CAPABILITY_COLLECT_CPU_CALL_STACK_FOR_KERNEL_LAUNCHES,
	AT_LAUNCH = CUDBG_DEBUGGER_CAPABILITY_BREAK_ON_LAUNCH,
	MOST_MS = 60000,
	SAYS = 64, /* lines that a kernel prints */
};

static const char *fatbin;

/* ---- the program ---- */

static int said = -1;

/* The debugger would have a breakpoint here. */
void cudbgReportAttachProcedureFinished(void)
{
	(void)!write(said, "F", 1);
}

/* What its debugger wants later on. */
static const uint32_t want = STOPS | NO_SWITCHES | STACKS | LOGS;

static __attribute__((noinline)) bool do_step(char step)
{
	static CUcontext context;
	static CUmodule module;
	static CUdeviceptr numbers, other;
	static uint32_t *flag;
	CUfunction store;
	unsigned first = step == 'f' ? 1u << 30 : 0;
	int two = SAYS / 32;
	char nonsense[64];
	void *args[] = { &numbers, &first }, *number[] = { &two }, *told[] = { &flag };
	switch (step) {
	case 'i':
		return cuInit(0) == CUDA_SUCCESS;
	case 'c':
		return cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
		       cuCtxSetCurrent(context) == CUDA_SUCCESS;
	case 'm':
		return cuModuleLoad(&module, fatbin) == CUDA_SUCCESS &&
		       cuMemAlloc(&numbers, 4096) == CUDA_SUCCESS;
	case 'l':
	case 'f':
		return cuModuleGetFunction(&store, module, "store") == CUDA_SUCCESS &&
		       cuLaunchKernel(store, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL) ==
			       CUDA_SUCCESS &&
		       cuCtxSynchronize() ==
			       (step == 'f' ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS);
	case 's':
		return cuModuleGetFunction(&store, module, "say") == CUDA_SUCCESS &&
		       cuLaunchKernel(store, SAYS / 32, 1, 1, 32, 1, 1, 0, NULL, number, NULL) ==
			       CUDA_SUCCESS &&
		       cuCtxSynchronize() == CUDA_SUCCESS && fflush(stdout) == 0;
	case 'h': /* a kernel waits for the host, and runs when another call is answered, */
		return cuMemAllocHost((void **)&flag, 64) == CUDA_SUCCESS && (*flag = 0) == 0 &&
		       cuModuleGetFunction(&store, module, "wait") == CUDA_SUCCESS &&
		       cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, told, NULL) ==
			       CUDA_SUCCESS &&
		       cuMemAlloc(&other, 64) == CUDA_SUCCESS;
	case 'u': /* which comes */
		return *flag == 0 && (*(volatile uint32_t *)flag = 21) != 0 &&
		       cuCtxSynchronize() == CUDA_SUCCESS && flag[1] == 42;
	case 'b': /* no start of an allocation */
		return cuMemFree(numbers + 1) == CUDA_SUCCESS;
	case 'w':
		cudbgDebuggerCapabilities = want;
		return true;
	case 'k': /* what is no request, wherever it is read */
		memset(nonsense, 0xff, sizeof nonsense);
		for (int fd = 3; fd < 64; fd++)
			(void)send(fd, nonsense, sizeof nonsense, MSG_NOSIGNAL | MSG_DONTWAIT);
		return true;
	case 'r':
		return cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS;
	default:
		return false;
	}
}

static _Noreturn void be_program(int told)
{
	char step;
	while (read(told, &step, 1) == 1) {
		if (step == 'a') /* as debuggers have it called */
			cudbgApiAttach();
		if (step == 'A')
			cudbgApiInit(2);
		if (step == 'D')
			cudbgApiDetach();
		/* the thread that lets debuggers in writes it too */
		const uint64_t *variable = &cudbgReportedDriverInternalErrorCode;
		const char code = (char)(__atomic_load_n(variable, __ATOMIC_SEQ_CST) + 1);
		if (strchr("aAD", step) && write(said, &code, 1) == 1)
			continue;
		if (write(said, do_step(step) ? &step : "-", 1) != 1)
			break;
	}
	_exit(0);
}

/* ---- the debugger ---- */

static struct {
	pid_t pid;
	int tell, hear, out; /* the last is its standard output */
} program;

static CUDBGAPI api;
static CUDBGEvent events[64];
static unsigned n_events;
static atomic_uint n_calls;
static bool acknowledges;

static void called(CUDBGEventCallbackData *data)
{
	(void)data;
	atomic_fetch_add(&n_calls, 1);
}

/* `begins`: as its debugger has it from the beginning on. */
static void start(uint32_t wanted, bool begins)
{
	static uint32_t session;
	int to[2], from[2], out[2];
	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	assert_int_equal(pipe(out), 0);
	cudbgApiClientPid = (uint32_t)getpid();
	cudbgSessionId = ++session;
	program.pid = fork();
	if (program.pid == 0) {
		said = from[1];
		close(to[1]);
		close(from[0]);
		close(out[0]);
		dup2(out[1], STDOUT_FILENO);
		close(out[1]);
		cudbgDebuggerCapabilities = wanted;
		cudbgIpcFlag = begins;
		be_program(to[0]);
	}
	close(to[0]);
	close(from[1]);
	close(out[1]);
	program.tell = to[1];
	program.hear = from[0];
	program.out = out[0];
	n_events = 0;
	acknowledges = true;
	atomic_store(&n_calls, 0);
	assert_int_equal(cudbgGetAPI(13, 0, 0, &api), CUDBG_SUCCESS);
}

static void bury(void)
{
	int status;
	close(program.tell);
	assert_int_equal(waitpid(program.pid, &status, 0), program.pid);
	assert_int_equal(status, 0);
	close(program.hear);
	close(program.out);
}

static void end(void)
{
	assert_int_equal(api->finalize(), CUDBG_SUCCESS);
	bury();
}

static void take_events(void)
{
	CUDBGEvent event;
	bool any = false;
	for (unsigned type = 0; type < 2; type++)
		while (api->getNextEvent((CUDBGEventQueueType)type, &event) == CUDBG_SUCCESS &&
		       n_events < sizeof events / sizeof events[0]) {
			events[n_events++] = event;
			any = true;
		}
	if (any && acknowledges)
		assert_int_equal(api->acknowledgeSyncEvents(), CUDBG_SUCCESS);
}

/* What the program said within a time; 0: nothing. */
static char hear(int ms)
{
	struct timespec now, since;
	char byte = 0;
	clock_gettime(CLOCK_MONOTONIC, &since);
	do {
		struct pollfd polled = { program.hear, POLLIN, 0 };
		if (poll(&polled, 1, 2) > 0 && read(program.hear, &byte, 1) == 1)
			break;
		take_events();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - since.tv_sec) * 1000 + (now.tv_nsec - since.tv_nsec) / 1000000 < ms);
	take_events();
	return byte;
}

static void tell(char step)
{
	assert_int_equal(write(program.tell, &step, 1), 1);
}

static void do_steps(const char *steps)
{
	for (; *steps; steps++) {
		tell(*steps);
		assert_int_equal(hear(MOST_MS), *steps);
	}
}

static unsigned count(CUDBGEventKind kind)
{
	unsigned n = 0;
	for (unsigned i = 0; i < n_events; i++)
		n += events[i].kind == kind;
	return n;
}

/* Number of the first of a kind among the events. */
static unsigned first(CUDBGEventKind kind)
{
	unsigned i = 0;
	while (i < n_events && events[i].kind != kind)
		i++;
	assert_true(i < n_events);
	return i;
}

/* ---- tests ---- */

static void test_life(void **state)
{
	uint32_t n = 7;
	(void)state;
	start(STOPS | NO_SWITCHES, true);
	/* it stands before cuInit(), as for a breakpoint there */
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	assert_int_equal(api->getNumDevices(&n), CUDBG_SUCCESS);
	assert_int_equal(n, 0);
	assert_int_equal(api->setNotifyNewEventCallback(called, NULL), CUDBG_SUCCESS);
	assert_int_equal(api->suspendDevice(0), CUDBG_ERROR_UNINITIALIZED);
	do_steps("i");
	tell('c');
	for (int i = 0; i < MOST_MS && atomic_load(&n_calls) == 0; i++)
		(void)poll(NULL, 0, 1);
	assert_int_equal(atomic_load(&n_calls), 1);
	assert_int_equal(hear(MOST_MS), 'c');
	assert_int_equal(api->getNumDevices(&n), CUDBG_SUCCESS);
	assert_int_equal(n, 1);
	assert_int_equal(n_events, 1);
	assert_int_equal(events[0].kind, CUDBG_EVENT_CTX_CREATE);
	assert_int_equal(events[0].cases.contextCreate.tid, program.pid);
	do_steps("ml");
	assert_int_equal(count(CUDBG_EVENT_ELF_IMAGE_LOADED), 1);
	const CUDBGEvent ready = events[first(CUDBG_EVENT_KERNEL_READY)];
	assert_int_equal(ready.cases.kernelReady.tid, program.pid);
	assert_true(first(CUDBG_EVENT_ELF_IMAGE_LOADED) < first(CUDBG_EVENT_KERNEL_READY));
	assert_true(first(CUDBG_EVENT_KERNEL_READY) < first(CUDBG_EVENT_KERNEL_FINISHED));
	do_steps("r");
	assert_int_equal(count(CUDBG_EVENT_ELF_IMAGE_UNLOADED), 1);
	assert_int_equal(count(CUDBG_EVENT_CTX_DESTROY), 1);
	const uint64_t gone =
		events[first(CUDBG_EVENT_ELF_IMAGE_UNLOADED)].cases.elfImageUnloaded.handle;
	assert_int_equal(gone,
			 events[first(CUDBG_EVENT_ELF_IMAGE_LOADED)].cases.elfImageLoaded.handle);
	n_events = 0;
	do_steps("cml");
	assert_int_equal(count(CUDBG_EVENT_CTX_CREATE), 1);
	assert_int_not_equal(
		events[first(CUDBG_EVENT_ELF_IMAGE_LOADED)].cases.elfImageLoaded.handle, gone);
	end();
}

/* The program's thread goes on when its event is acknowledged, and not before. */
static void test_waiting(void **state)
{
	(void)state;
	start(STOPS | NO_SWITCHES, true);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	do_steps("i");
	acknowledges = false;
	tell('c');
	assert_int_equal(hear(200), 0);
	assert_int_equal(count(CUDBG_EVENT_CTX_CREATE), 1);
	assert_int_equal(api->acknowledgeSyncEvents(), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'c');
	tell('m');
	assert_int_equal(hear(200), 0);
	assert_int_equal(count(CUDBG_EVENT_ELF_IMAGE_LOADED), 1);
	assert_int_equal(api->acknowledgeSyncEvents(), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'm');
	tell('l');
	assert_int_equal(hear(200), 0);
	assert_int_equal(count(CUDBG_EVENT_KERNEL_READY), 1);
	assert_int_equal(count(CUDBG_EVENT_KERNEL_FINISHED), 0);
	assert_int_equal(api->acknowledgeSyncEvents(), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'l');
	end();
}

/* While the device stands for the debugger the program's requests wait, and then are done. */
static void test_standing(void **state)
{
	(void)state;
	start(STOPS | NO_SWITCHES, true);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	do_steps("ic");
	assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
	tell('m');
	assert_int_equal(hear(200), 0);
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'm');
	end();
}

/* Until the device has stopped, which is not always told. */
static void await_stop(void)
{
	CUDBGResult result = CUDBG_ERROR_RUNNING_DEVICE;
	uint64_t mask;
	for (int i = 0; i < MOST_MS && result == CUDBG_ERROR_RUNNING_DEVICE; i++) {
		assert_int_equal(hear(1), 0);
		result = api->readValidWarps(0, 0, &mask);
	}
	assert_int_equal(result, CUDBG_SUCCESS);
	take_events();
}

/* A fault stops the device; the program learns of it when the debugger lets it go on. */
static void let_fail(void)
{
	tell('f');
	await_stop();
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'f');
}

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

/* ---- the process that has the device dies, or ends with the program ---- */

/* It is who listened at the socket that leads to it. */
static pid_t find_agent(int *ret_socket)
{
	for (int fd = 3; fd < 256; fd++) {
		struct ucred peer;
		socklen_t n = sizeof peer;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.pid > 0 &&
		    peer.pid != getpid()) {
			*ret_socket = fd;
			return peer.pid;
		}
	}
	fail_msg("there is no agent");
	return 0;
}

/* Whether all threads of a process stand. */
static bool stands(pid_t pid)
{
	char path[300], about[200], state = 'T';
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	assert_non_null(tasks);
	for (const struct dirent *task; state == 'T' && (task = readdir(tasks));) {
		snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, task->d_name);
		FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (file && fgets(about, sizeof about, file))
			state = strrchr(about, ')')[2];
		if (file)
			fclose(file);
	}
	closedir(tasks);
	return state == 'T';
}

static CUDBGResult result_of_call;

static void *make_call(void *unused)
{
	uint64_t mask;
	(void)unused;
	result_of_call = api->readValidWarps(0, 0, &mask);
	return NULL;
}

/* Kills it when a call has come to it and is not answered. */
static void kill_in_a_call(pid_t agent, int socket)
{
	pthread_t thread;
	int n_unread = 0;
	assert_int_equal(kill(agent, SIGSTOP), 0);
	while (!stands(agent))
		(void)poll(NULL, 0, 1);
	assert_int_equal(pthread_create(&thread, NULL, make_call, NULL), 0);
	while (n_unread == 0)
		assert_int_equal(ioctl(socket, SIOCOUTQ, &n_unread), 0);
	assert_int_equal(kill(agent, SIGKILL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(result_of_call, CUDBG_ERROR_COMMUNICATION_FAILURE);
}

/* All that is told from now on; what the callback was called for until now is `before`. */
static void take_the_rest(unsigned before)
{
	CUDBGEvent event;
	CUDBGResult result = CUDBG_SUCCESS;
	for (int i = 0; i < MOST_MS && atomic_load(&n_calls) == before; i++)
		(void)poll(NULL, 0, 1);
	assert_true(atomic_load(&n_calls) > before);
	n_events = 0;
	for (int i = 0; i < MOST_MS && result != CUDBG_ERROR_COMMUNICATION_FAILURE; i++) {
		result = api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event);
		if (result == CUDBG_SUCCESS)
			events[n_events++] = event;
		else
			(void)poll(NULL, 0, 1);
	}
	assert_int_equal(result, CUDBG_ERROR_COMMUNICATION_FAILURE);
	assert_int_equal(api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_ASYNC, &event), result);
}

/* Each call says so, one event does, and so does the program's. */
static void test_loss(void **state)
{
	enum { RUNS, STANDS, IN_A_CALL, GIVES_UP, MOMENTS };
	(void)state;
	for (int moment = RUNS; moment < MOMENTS; moment++) {
		uint64_t mask;
		int socket = -1;
		start(STOPS | NO_SWITCHES, true);
		assert_int_equal(api->initialize(), CUDBG_SUCCESS);
		assert_int_equal(api->setNotifyNewEventCallback(called, NULL), CUDBG_SUCCESS);
		do_steps(moment == RUNS ? "icmh" : "icm");
		if (moment == STANDS)
			assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
		const unsigned before = atomic_load(&n_calls);
		const pid_t agent = find_agent(&socket);
		if (moment == IN_A_CALL)
			kill_in_a_call(agent, socket);
		else if (moment == GIVES_UP)
			tell('k');
		else
			assert_int_equal(kill(agent, SIGKILL), 0);
		take_the_rest(before);
		assert_int_equal(n_events, 1);
		assert_int_equal(events[0].kind, CUDBG_EVENT_INTERNAL_ERROR);
		assert_int_equal(events[0].cases.internalError.errorType,
				 CUDBG_ERROR_COMMUNICATION_FAILURE);
		assert_int_equal(api->readValidWarps(0, 0, &mask),
				 CUDBG_ERROR_COMMUNICATION_FAILURE);
		assert_int_equal(api->acknowledgeSyncEvents(), CUDBG_ERROR_COMMUNICATION_FAILURE);
		acknowledges = false; /* nobody may be left who could be told */
		if (moment == GIVES_UP)
			assert_int_equal(hear(MOST_MS), 'k');
		tell('m');
		assert_int_equal(hear(MOST_MS), '-');
		assert_int_equal(api->finalize(), CUDBG_ERROR_COMMUNICATION_FAILURE);
		bury();
	}
}

/* A program that ends, whichever way and whatever the device does, has lost no agent. */
static void test_farewell(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		const bool stands_still = i & 1, runs = i & 2, is_killed = i & 4;
		int status;
		start(STOPS | NO_SWITCHES, true);
		assert_int_equal(api->initialize(), CUDBG_SUCCESS);
		assert_int_equal(api->setNotifyNewEventCallback(called, NULL), CUDBG_SUCCESS);
		do_steps(runs ? "icmh" : "icm");
		if (stands_still)
			assert_int_equal(api->suspendDevice(0), CUDBG_SUCCESS);
		const unsigned before = atomic_load(&n_calls);
		if (is_killed)
			kill(program.pid, SIGKILL);
		close(program.tell);
		assert_int_equal(waitpid(program.pid, &status, 0), program.pid);
		take_the_rest(before);
		for (unsigned j = 0; j < n_events; j++)
			assert_int_not_equal(events[j].kind, CUDBG_EVENT_INTERNAL_ERROR);
		assert_int_equal(api->finalize(), CUDBG_ERROR_COMMUNICATION_FAILURE);
		close(program.hear);
		close(program.out);
	}
}

/* ---- attaching and detaching, as the manual of the API has them (2.5) ---- */

/* A variable of the program, which lies where it lies here. */
static uint32_t peek(const void *variable)
{
	char path[40];
	uint32_t value;
	snprintf(path, sizeof path, "/proc/%d/mem", (int)program.pid);
	int fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, &value, sizeof value, (off_t)(uintptr_t)variable), sizeof value);
	close(fd);
	return value;
}

static void poke(const void *variable, uint32_t value)
{
	char path[40];
	snprintf(path, sizeof path, "/proc/%d/mem", (int)program.pid);
	int fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, &value, sizeof value, (off_t)(uintptr_t)variable),
			 sizeof value);
	close(fd);
}

/* By the descriptor, with a place to break on. */
static void ask_by_descriptor(void)
{
	char path[64], byte;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)program.pid,
		 (int)peek(&cudbgInitiateDebuggerAttachProcedureFd));
	int fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_int_equal(read(program.hear, &byte, 1), 1); /* nobody listens to events yet */
	assert_int_equal(byte, 'F');
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
}

static void ask_by_call(char step)
{
	CUDBGResult result = CUDBG_ERROR_ATTACH_NOT_POSSIBLE;
	tell(step);
	assert_int_equal(hear(MOST_MS), CUDBG_SUCCESS + 1);
	for (int i = 0; i < MOST_MS && result != CUDBG_SUCCESS; i++) {
		result = api->initialize();
		(void)poll(NULL, 0, 1);
	}
	assert_int_equal(result, CUDBG_SUCCESS);
	assert_int_equal(api->initializeAttachStub(), CUDBG_SUCCESS);
}

/* What there is, and ATTACH_COMPLETE behind it; or nothing, and that is known beforehand. That the
 * devices stand is told in both cases. */
static void collect(bool has_context)
{
	n_events = 0;
	assert_int_equal(peek(&cudbgResumeForAttachDetach), has_context);
	if (has_context) {
		for (int i = 0; i < MOST_MS && count(CUDBG_EVENT_ATTACH_COMPLETE) == 0; i++)
			assert_int_equal(hear(1), 0);
		assert_int_equal(first(CUDBG_EVENT_CTX_CREATE), 0);
		assert_int_equal(first(CUDBG_EVENT_ELF_IMAGE_LOADED), 1);
		assert_int_equal(first(CUDBG_EVENT_KERNEL_READY), n_events - 2);
		assert_int_equal(first(CUDBG_EVENT_ATTACH_COMPLETE), n_events - 1);
	} else {
		poke(&cudbgIpcFlag, 1);
		take_events();
		assert_int_equal(n_events, count(CUDBG_EVENT_ALL_DEVICES_SUSPENDED));
	}
	assert_int_equal(api->suspendDevice(0), CUDBG_ERROR_SUSPENDED_DEVICE);
}

static void detach(bool has_context)
{
	assert_int_equal(peek(&cudbgDebuggerInitialized), 1);
	assert_int_equal(api->clearAttachState(), CUDBG_SUCCESS);
	tell('D');
	(void)hear(MOST_MS);
	const uint32_t resume = peek(&cudbgResumeForAttachDetach);
	assert_int_equal(resume, has_context);
	if (resume)
		assert_int_equal(api->requestCleanupOnDetach(resume), CUDBG_SUCCESS);
	poke(&cudbgDebuggerInitialized, 0);
	for (int i = 0; i < MOST_MS && resume && count(CUDBG_EVENT_DETACH_COMPLETE) == 0; i++)
		assert_int_equal(hear(1), 0);
	assert_int_equal(count(CUDBG_EVENT_DETACH_COMPLETE), has_context);
	poke(&cudbgIpcFlag, 0);
	assert_int_equal(api->finalize(), CUDBG_SUCCESS);
}

/* Each way twice: to a program that has no context yet, or whose kernel runs. */
static void attach_twice(const char *way, bool has_context)
{
	start(STOPS | NO_SWITCHES, false);
	do_steps(has_context ? "icmh" : "i");
	for (unsigned i = 0; i < 2; i++) {
		if (i == 1)
			poke(&cudbgSessionId, ++cudbgSessionId);
		if (*way == 'F')
			ask_by_descriptor();
		else
			ask_by_call(*way);
		collect(has_context);
		if (i == 1 && !has_context) { /* it is told of what comes */
			tell('c');
			assert_int_equal(hear(100), 0); /* all devices stand */
			assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
			assert_int_equal(hear(MOST_MS), 'c');
			assert_int_equal(count(CUDBG_EVENT_CTX_CREATE), 1);
			has_context = true;
		}
		detach(has_context);
	}
	do_steps(count(CUDBG_EVENT_KERNEL_READY) ? "u" : "ml");
	bury();
}

static void test_attach(void **state)
{
	(void)state;
	for (const char *way = "FaA"; *way; way++) {
		attach_twice(way, false);
		attach_twice(way, true);
	}
}

/* Why nobody was let in, for who called the function: its code, and 1. */
static void test_refusals(void **state)
{
	int socket = -1;
	uint32_t n;
	(void)state;
	start(STOPS | NO_SWITCHES, false);
	tell('a'); /* before cuInit() */
	assert_int_equal(hear(MOST_MS), CUDBG_ERROR_ATTACH_NOT_POSSIBLE + 1);
	do_steps("i");
	tell('a');
	assert_int_equal(hear(MOST_MS), CUDBG_SUCCESS + 1);
	tell('a'); /* there is one already */
	assert_int_equal(hear(MOST_MS), CUDBG_ERROR_ATTACH_NOT_POSSIBLE + 1);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	acknowledges = false; /* nobody may be left who could be told */
	assert_int_equal(kill(find_agent(&socket), SIGKILL), 0);
	while (api->getNumDevices(&n) == CUDBG_SUCCESS)
		(void)poll(NULL, 0, 1);
	tell('a');
	assert_int_equal(hear(MOST_MS), CUDBG_ERROR_COMMUNICATION_FAILURE + 1);
	bury();
	(void)api->finalize();
}

/* The name at which somebody listens for this session of a process, as the system lists it. */
static bool find_listener(pid_t client, struct sockaddr_un *ret_name, socklen_t *ret_len)
{
	char prefix[80], line[300];
	bool found = false;
	int n = snprintf(prefix, sizeof prefix, " @warpscope-gpu/%d/%u/", (int)client,
			 cudbgSessionId);
	FILE *list = fopen("/proc/net/unix", "r");
	while (list && !found && fgets(line, sizeof line, list)) {
		const char *name = strstr(line, prefix);
		found = name && strlen(name) == (size_t)n + 32 + 1; /* and no fewer secrets */
		if (!found)
			continue;
		*ret_name = (struct sockaddr_un){ .sun_family = AF_UNIX };
		memcpy(ret_name->sun_path + 1, name + 2, (size_t)n - 2 + 32);
		*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n - 2 +
				       32);
	}
	if (list)
		fclose(list);
	return found;
}

/* Nobody but the process that was announced gets in. */
static void test_strangers(void **state)
{
	struct sockaddr_un name;
	socklen_t len = 0;
	char byte;
	(void)state;
	start(STOPS | NO_SWITCHES, true);
	tell('i'); /* it waits for us */
	pid_t stranger = fork();
	if (stranger == 0) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (geteuid() == 0 && setuid(65534) != 0)
			_exit(3);
		for (int i = 0; i < MOST_MS / 10 && !find_listener(getppid(), &name, &len); i++)
			(void)poll(NULL, 0, 10);
		if (connect(fd, (struct sockaddr *)&name, len) != 0)
			_exit(4);
		_exit(read(fd, &byte, 1) == 0 ? 0 : 1); /* turned away without a word */
	}
	int status;
	assert_int_equal(waitpid(stranger, &status, 0), stranger);
	assert_int_equal(status, 0);
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'i');
	uint32_t n = 0;
	assert_int_equal(api->getNumDevices(&n), CUDBG_SUCCESS);
	assert_int_equal(n, 1); /* we are the one who got in */
	end();
}

/* Who took names before: all that can be known of it, and some more. Neither does the debugger talk
 * to another user, also where it is root, nor is it kept out. */
static void test_squatters(void **state)
{
	char byte = 'k';
	int ready[2];
	(void)state;
	if (geteuid() != 0)
		skip(); /* who is somebody else? */
	assert_int_equal(pipe(ready), 0);
	const uint32_t session = cudbgSessionId + 1; /* start() takes the next */
	pid_t squatter = fork();
	if (squatter == 0) {
		if (setuid(65534) != 0)
			_exit(3);
		for (unsigned i = 0; i < 100; i++) {
			struct sockaddr_un name = { .sun_family = AF_UNIX };
			const unsigned next = session + i / 10;
			int n = i % 10 ? snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
						  "warpscope-gpu/%d/%u/%032u", (int)getppid(), next,
						  i)
				       : snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
						  "warpscope-gpu/%d/%u", (int)getppid(), next);
			int fd = socket(AF_UNIX, SOCK_STREAM, 0);
			socklen_t len =
				(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
			if (bind(fd, (struct sockaddr *)&name, len) != 0 ||
			    listen(fd, i % 3 ? 8 : 0) != 0)
				_exit(4);
		}
		(void)!write(ready[1], &byte, 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	start(STOPS | NO_SWITCHES, true);
	tell('i');
	assert_int_equal(api->initialize(), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'i');
	uint32_t n = 0;
	assert_int_equal(api->getNumDevices(&n), CUDBG_SUCCESS);
	assert_int_equal(n, 1); /* not the squatter's answer */
	end();
	kill(squatter, SIGKILL);
	assert_int_equal(waitpid(squatter, NULL, 0), squatter);
	close(ready[0]);
	close(ready[1]);
}

static void test_versions(void **state)
{
	CUDBGAPI other;
	uint32_t major, minor, revision;
	(void)state;
	assert_int_equal(cudbgGetAPI(11, 8, 0, &other), CUDBG_ERROR_INCOMPATIBLE_API);
	assert_int_equal(cudbgGetAPI(12, 4, 0, NULL), CUDBG_ERROR_INVALID_ARGS);
	assert_int_equal(cudbgGetAPIVersion(&major, &minor, &revision), CUDBG_SUCCESS);
	assert_int_equal(major, 13);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),           cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_standing),       cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_lazy_functions), cmocka_unit_test(test_eager_functions),
		cmocka_unit_test(test_attach),         cmocka_unit_test(test_later_wishes),
		cmocka_unit_test(test_loss),           cmocka_unit_test(test_farewell),
		cmocka_unit_test(test_refusals),       cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_squatters),      cmocka_unit_test(test_versions),
	};
	if (argc != 2)
		return 2;
	fatbin = argv[1];
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
