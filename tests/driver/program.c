/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small program of the driver API, as users have them. usage: program FATBIN MODE
 *
 * say: a kernel prints. fault: one writes outside. missing: asks for what is not there. wait: one
 * waits for the host, which never comes. told: it comes with a line of standard input, which is
 * then read to its end. many: launches for ever. lines: a launch for each line of standard input.
 * early: the same, and has no context before the first. ask-...: the program itself asks for dumps.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api.h"

static void put_line(const char *line)
{
	printf("%s\n", line);
	fflush(stdout);
}

static int fails(CUresult result, const char *what)
{
	const char *name = "?";
	if (result == CUDA_SUCCESS)
		return 0;
	(void)cuGetErrorName(result, &name);
	printf("%s: %s\n", what, name);
	fflush(stdout);
	return 1;
}

static CUfunction find(CUmodule module, const char *name)
{
	CUfunction function = NULL;
	(void)fails(cuModuleGetFunction(&function, module, name), name);
	return function;
}

static int launch(CUfunction function, void **args)
{
	return fails(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, NULL, args, NULL),
		     "cuLaunchKernel");
}

static void tell(void *data, int process, CUdevice device)
{
	char name[40];
	snprintf(name, sizeof name, "api.%d", (int)getpid());
	printf("%s, of device %d; it is %s; %s\n", (const char *)data, device,
	       access(name, F_OK) == 0 ? "there" : "not there",
	       process == (int)getpid() ? "of this process" : "of another");
	fflush(stdout);
}

/* Is told of dumps, by two functions of which one is not wanted any more. */
static int listen_to_dumps(void)
{
	static char begins[] = "a dump begins", made[] = "a dump is made", wrong[] = "wrong";
	CUcoredumpCallbackHandle one, other;
	if (cuCoredumpRegisterStartCallback(NULL, begins, &one) != CUDA_ERROR_INVALID_VALUE ||
	    cuCoredumpRegisterStartCallback(tell, begins, NULL) != CUDA_ERROR_INVALID_VALUE ||
	    cuCoredumpDeregisterStartCallback(NULL) != CUDA_ERROR_INVALID_VALUE)
		return 1;
	return fails(cuCoredumpRegisterStartCallback(tell, begins, &one), "first") ||
	       fails(cuCoredumpRegisterCompleteCallback(tell, made, &one), "second") ||
	       fails(cuCoredumpRegisterCompleteCallback(tell, wrong, &other), "third") ||
	       cuCoredumpDeregisterStartCallback(other) != CUDA_ERROR_INVALID_VALUE ||
	       fails(cuCoredumpDeregisterCompleteCallback(other), "off") ||
	       cuCoredumpDeregisterCompleteCallback(other) != CUDA_ERROR_INVALID_VALUE;
}

/* What environment variables would ask for, by the program itself. */
static int ask_for_dumps(void)
{
	bool on = true;
	char file[] = "api.%p", pipe[] = "pipe.%p";
	size_t one = sizeof on, n_file = sizeof file, n_pipe = sizeof pipe;
	return fails(cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &one), "on") ||
	       fails(cuCoredumpSetAttributeGlobal(CU_COREDUMP_FILE, file, &n_file), "file") ||
	       fails(cuCoredumpSetAttributeGlobal(CU_COREDUMP_PIPE, pipe, &n_pipe), "pipe") ||
	       fails(cuCoredumpSetAttributeGlobal(CU_COREDUMP_ENABLE_USER_TRIGGER, &on, &one),
		     "trigger");
}

static int launch_by_lines(CUfunction function, void **args)
{
	char line[80];
	while (fgets(line, sizeof line, stdin)) {
		if (launch(function, args) || fails(cuCtxSynchronize(), "cuCtxSynchronize"))
			return 1;
		put_line("done");
	}
	return 0;
}

/* A kernel that waits for the host. When another call is answered, it runs. */
static int launch_waiting(CUfunction function, void *host)
{
	CUdeviceptr at = (uintptr_t)host, other;
	void *args[] = { &at };
	return launch(function, args) || fails(cuMemAlloc(&other, 64), "cuMemAlloc");
}

/* A kernel doubles the number that it is told. */
static int wait_for_line(CUfunction function, volatile uint32_t *host)
{
	char line[80];
	if (launch_waiting(function, (void *)(uintptr_t)host))
		return 1;
	put_line("waits");
	if (fgets(line, sizeof line, stdin))
		host[0] = 21;
	if (fails(cuCtxSynchronize(), "cuCtxSynchronize"))
		return 1;
	printf("told %u\n", (unsigned)host[1]);
	while (fgets(line, sizeof line, stdin))
		continue;
	return 0;
}

static int go(const char *mode, CUmodule module)
{
	CUdeviceptr at;
	void *host;
	int two = 2;
	bool asks = strncmp(mode, "ask-", 4) == 0;
	mode += asks ? 4 : 0;
	unsigned i = strcmp(mode, "fault") == 0 ? 1u << 30 : 0;
	void *number[] = { &two }, *place[] = { &at, &i };
	if (asks && (listen_to_dumps() || ask_for_dumps()))
		return 1;
	if (fails(cuMemAlloc(&at, 4096), "cuMemAlloc") ||
	    fails(cuMemAllocHost(&host, 4096), "cuMemAllocHost"))
		return 1;
	if (strcmp(mode, "told") == 0)
		return wait_for_line(find(module, "wait"), host);
	if (strcmp(mode, "lines") == 0 || strcmp(mode, "early") == 0)
		return launch_by_lines(find(module, "store"), place);
	if (strcmp(mode, "wait") == 0) {
		if (launch_waiting(find(module, "wait"), host))
			return 1;
		put_line("waits");
	} else if (strcmp(mode, "missing") == 0) {
		CUcontext context;
		(void)fails(cuCtxAttach(&context, 0), "cuCtxAttach");
		put_line("waits");
	} else { /* it is said first, as another thread may see at once how a launch ends */
		bool says = strcmp(mode, "say") == 0;
		CUfunction function = find(module, says ? "say" : "store");
		put_line(says ? "before" : "waits");
		do {
			if (launch(function, says ? number : place))
				return 1;
		} while (strcmp(mode, "many") == 0);
	}
	int failed = fails(cuCtxSynchronize(), "cuCtxSynchronize");
	put_line("after");
	return failed;
}

/* Until a line comes. */
static int stay_early(void)
{
	char line[80];
	put_line("waits");
	return !fgets(line, sizeof line, stdin);
}

int main(int argc, char **argv)
{
	CUcontext context;
	CUmodule module;
	if (argc != 3 || fails(cuInit(0), "cuInit") ||
	    (strcmp(argv[2], "early") == 0 && stay_early()) ||
	    fails(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain") ||
	    fails(cuCtxSetCurrent(context), "cuCtxSetCurrent") ||
	    fails(cuModuleLoad(&module, argv[1]), "cuModuleLoad"))
		return 2;
	put_line("ready");
	return go(argv[2], module);
}
