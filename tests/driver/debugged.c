/* SPDX-License-Identifier: Apache-2.0 */
/* See debugged.h. */
#define _XOPEN_SOURCE 700
#include "debugged.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api.h"

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

__attribute__((noinline)) bool do_step(char step)
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

struct debugged program;

CUDBGAPI api;
CUDBGEvent events[64];
unsigned n_events;
atomic_uint n_calls;
bool acknowledges;

void called(CUDBGEventCallbackData *data)
{
	(void)data;
	atomic_fetch_add(&n_calls, 1);
}

void start(uint32_t wanted, bool begins)
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

void bury(void)
{
	int status;
	close(program.tell);
	assert_int_equal(waitpid(program.pid, &status, 0), program.pid);
	assert_int_equal(status, 0);
	close(program.hear);
	close(program.out);
}

void end(void)
{
	assert_int_equal(api->finalize(), CUDBG_SUCCESS);
	bury();
}

void take_events(void)
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

char hear(int ms)
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

void tell(char step)
{
	assert_int_equal(write(program.tell, &step, 1), 1);
}

void do_steps(const char *steps)
{
	for (; *steps; steps++) {
		tell(*steps);
		assert_int_equal(hear(MOST_MS), *steps);
	}
}

unsigned count(CUDBGEventKind kind)
{
	unsigned n = 0;
	for (unsigned i = 0; i < n_events; i++)
		n += events[i].kind == kind;
	return n;
}

unsigned first(CUDBGEventKind kind)
{
	unsigned i = 0;
	while (i < n_events && events[i].kind != kind)
		i++;
	assert_true(i < n_events);
	return i;
}

void await_stop(void)
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

void let_fail(void)
{
	tell('f');
	await_stop();
	assert_int_equal(api->resumeDevice(0), CUDBG_SUCCESS);
	assert_int_equal(hear(MOST_MS), 'f');
}

bool debugged_init(int argc, char **argv)
{
	fatbin = argv[argc - 1];
	signal(SIGPIPE, SIG_IGN);
	return argc == 2;
}
