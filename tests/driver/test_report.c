/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a debugger is told of errors. The functions where it has its breakpoints are defined here,
 * before the driver's, so that each call of one is seen. usage: test_report FATBIN NAMES...
 *
 * NAMES: the functions of the driver, and those of the runtime.
 */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE, RTLD_DEFAULT, dladdr1 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <warpscope/cudadebugger.h>

#include "api.h"

enum { DRIVER = 1, RUNTIME = 2 };

static struct {
	unsigned n, n_internal, n_begun;
	uint32_t source;
	uint64_t code, internal;
	char function[64], name[64], text[128];
} seen;

static void copy(char *to, size_t room, uint64_t at, uint64_t n)
{
	if (n == 0 || n > room || ((const char *)(uintptr_t)at)[n - 1] != 0)
		abort();
	memcpy(to, (const void *)(uintptr_t)at, n);
}

void cudbgReportDriverApiError(void)
{
	seen.n++;
	seen.code = cudbgReportedDriverApiErrorCode;
	seen.source = cudbgReportedDriverApiErrorSource;
	copy(seen.function, sizeof seen.function, cudbgReportedDriverApiErrorFuncNameAddr,
	     cudbgReportedDriverApiErrorFuncNameSize);
	copy(seen.name, sizeof seen.name, cudbgReportedDriverApiErrorNameAddr,
	     cudbgReportedDriverApiErrorNameSize);
	copy(seen.text, sizeof seen.text, cudbgReportedDriverApiErrorStringAddr,
	     cudbgReportedDriverApiErrorStringSize);
}

void cudbgReportDriverInternalError(void)
{
	seen.n_internal++;
	seen.internal = cudbgReportedDriverInternalErrorCode;
}

void cudbgPreInit(void)
{
	int n;
	seen.n_begun += cuDeviceGetCount(&n) == CUDA_ERROR_NOT_INITIALIZED ? 1 : 100;
}

static void assert_told(unsigned n, uint32_t source, uint64_t code, const char *function,
			const char *name, const char *text)
{
	assert_int_equal(seen.n, n);
	assert_int_equal(seen.source, source);
	assert_int_equal(seen.code, code);
	assert_string_equal(seen.function, function);
	assert_string_equal(seen.name, name);
	assert_string_equal(seen.text, text);
	seen.n = 0;
}

/* Of the runtime: declared here, as both headers do not go together. */
int cudaMalloc(void **at, size_t n);
int cudaMemcpy(void *to, const void *from, size_t n, int direction);
int cudaPointerGetAttributes(void *attributes, const void *at);
int cudaGetLastError(void);
int cudaDeviceGetP2PAttribute(int *value, int attribute, int from, int to);

/* ---- what can go wrong outside: each in a process of its own, before this one begins ---- */

static void limit(int what, rlim_t to)
{
	const struct rlimit most = { to, to };
	if (setrlimit(what, &most) != 0)
		abort();
}

/* No descriptor is left. */
static void no_descriptors(void)
{
	int fd = dup(STDERR_FILENO);
	close(fd);
	limit(RLIMIT_NOFILE, (rlim_t)fd);
}

/* No process is: for the superuser there is no such limit. */
static void no_processes(void)
{
	if (geteuid() == 0 && setuid(65534) != 0)
		abort();
	limit(RLIMIT_NPROC, 0);
}

static void no_such_device(void)
{
	setenv("WARPSCOPE_SOFTWARE_GPU", "sm_1", 1);
}

/* The place of what is to be mapped next is taken. */
static void no_place(void)
{
	CUcontext context;
	void *first;
	if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
	    cuCtxSetCurrent(context) != CUDA_SUCCESS ||
	    cuMemAllocHost(&first, 4096) != CUDA_SUCCESS || seen.n_internal > 0)
		abort();
	for (char *at = first, *end = at + (1 << 20); at < end; at += 4096)
		(void)mmap(at, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			   -1, 0);
}

static void causes_outside_are_told(void **state)
{
	static const struct {
		void (*prepare)(void);
		CUDBGResult told;
		CUresult result;
		bool later; /* not in cuInit() */
	} causes[] = {
		{ no_descriptors, CUDBG_ERROR_OS_RESOURCES, CUDA_ERROR_NO_DEVICE, false },
		{ no_processes, CUDBG_ERROR_FORK_FAILED, CUDA_ERROR_NO_DEVICE, false },
		{ no_such_device, CUDBG_ERROR_INVALID_ENVVAR_ARGS, CUDA_ERROR_NO_DEVICE, false },
		{ no_place, CUDBG_ERROR_MEMORY_MAPPING_FAILED, CUDA_ERROR_OUT_OF_MEMORY, true },
	};
	(void)state;
	for (unsigned i = 0; i < sizeof causes / sizeof causes[0]; i++) {
		int status;
		pid_t pid = fork();
		if (pid == 0) {
			void *host;
			causes[i].prepare();
			CUresult result = causes[i].later ? cuMemAllocHost(&host, 4096) : cuInit(0);
			_exit(result != causes[i].result        ? 1
			      : seen.n_internal != 1            ? 2
			      : seen.internal != causes[i].told ? 3
								: 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status != 0)
			fail_msg("cause %u: status 0x%x", i, (unsigned)status);
	}
}

/* ---- every function ---- */

/* Not: what tells of errors, gives no result, or an error from before, or takes structures that do
 * not fit into registers. */
static bool can_be_called(const char *name)
{
	static const char *const others[] = {
		"cudaGetErrorName", "cudaGetErrorString",  "cudaCreateChannelDesc",
		"cudaGetLastError", "cudaPeekAtLastError", "cudaMalloc3D",
		"cudaMemset3D",     "cudaMallocMipmapped",
	};
	bool can = strncmp(name, "__", 2) != 0;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		can = can && strncmp(name, others[i], strlen(others[i])) != 0;
	return can;
}

/* Calls it with nothing but zeros. False: its error was not told as it should be. */
static bool is_told(const char *name)
{
	typedef int call_of(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
			    uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
	call_of *call;
	void *at = dlsym(RTLD_DEFAULT, name);
	char own[128];
	memcpy(&call, &at, sizeof at);
	seen.n = 0;
	seen.code = 0;
	const int result = at ? call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) : -1;
	snprintf(own, sizeof own, "%s", name);
	char *end = strstr(own, "_pt"); /* forms for default streams of threads may be one here */
	if (end)
		*end = '\0';
	bool ok = result == 0 ? seen.n == 0
			      : seen.n == 1 && seen.code == (uint64_t)result &&
					(strcmp(seen.function, own) == 0 ||
					 strcmp(seen.function, name) == 0) &&
					seen.name[0] && seen.text[0];
	if (!ok)
		printf("# %s: %d, told %u times of %s\n", name, result, seen.n, seen.function);
	return ok;
}

static char **function_files; /* of functions */

/* In a process of its own, where one may end the context that others use. */
static int call_all(void)
{
	unsigned wrong = 0, n = 0;
	char name[128];
	for (char **list = function_files; *list; list++) {
		FILE *names = fopen(*list, "r");
		while (names && fgets(name, sizeof name, names)) {
			CUcontext context;
			name[strcspn(name, "\n")] = '\0';
			if (*name == '#' || !can_be_called(name))
				continue;
			if (cuInit(0) != CUDA_SUCCESS ||
			    cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
			    cuCtxSetCurrent(context) != CUDA_SUCCESS)
				return 1;
			wrong += !is_told(name);
			n++;
		}
		if (names)
			fclose(names);
	}
	fflush(stdout);
	return wrong > 0 || n < 800;
}

static void every_error_is_told(void **state)
{
	int status;
	(void)state;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(call_all());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The program's user may hide the device. */
static void a_device_may_be_hidden(void **state)
{
	static const struct {
		const char *list;
		CUresult result;
	} lists[] = {
		{ "0", CUDA_SUCCESS },          { " 0, 1", CUDA_SUCCESS },
		{ "0,-1", CUDA_SUCCESS },       { "", CUDA_ERROR_NO_DEVICE },
		{ "-1", CUDA_ERROR_NO_DEVICE }, { "1,0", CUDA_ERROR_NO_DEVICE },
		{ "00", CUDA_ERROR_NO_DEVICE },
	};
	(void)state;
	for (unsigned i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		int status;
		pid_t pid = fork();
		if (pid == 0) {
			setenv("CUDA_VISIBLE_DEVICES", lists[i].list, 1);
			_exit(cuInit(0) != lists[i].result || seen.n_internal > 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status != 0)
			fail_msg("\"%s\": status 0x%x", lists[i].list, (unsigned)status);
	}
}

/* By their names and sizes, in the driver itself: debuggers find them there. */
static void what_debuggers_look_up_is_there(void **state)
{
	static const struct {
		const char *name;
		unsigned n_bytes; /* 0: a function */
	} documented[] = {
		{ "cudbgIpcFlag", 4 },
		{ "cudbgRpcEnabled", 4 },
		{ "cudbgApiClientPid", 4 },
		{ "cudbgApiClientRevision", 4 },
		{ "cudbgSessionId", 4 },
		{ "cudbgAttachHandlerAvailable", 4 },
		{ "cudbgEnableLaunchBlocking", 4 },
		{ "cudbgResumeForAttachDetach", 4 },
		{ "cudbgDebuggerInitialized", 4 },
		{ "cudbgDebuggerCapabilities", 4 },
		{ "cudbgUseExternalDebugger", 4 },
		{ "cudbgInitiateDebuggerAttachProcedureFd", 4 },
		{ "cudbgInjectionPath", 4096 },
		{ "cudbgReportDriverApiErrorFlags", 4 },
		{ "cudbgReportedDriverApiErrorCode", 8 },
		{ "cudbgReportedDriverApiErrorFuncNameSize", 8 },
		{ "cudbgReportedDriverApiErrorFuncNameAddr", 8 },
		{ "cudbgReportedDriverApiErrorNameSize", 8 },
		{ "cudbgReportedDriverApiErrorNameAddr", 8 },
		{ "cudbgReportedDriverApiErrorStringSize", 8 },
		{ "cudbgReportedDriverApiErrorStringAddr", 8 },
		{ "cudbgReportedDriverApiErrorSource", 4 },
		{ "cudbgReportedDriverInternalErrorCode", 8 },
		{ "cudbgReportDriverApiError", 0 },
		{ "cudbgReportDriverInternalError", 0 },
		{ "cudbgReportAttachProcedureFinished", 0 },
		{ "cudbgPreInit", 0 },
		{ "cudbgApiInit", 0 },
		{ "cudbgApiAttach", 0 },
		{ "cudbgApiDetach", 0 },
		{ "cudbgGetAPI", 0 },
		{ "cudbgGetAPIVersion", 0 },
	};
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	(void)state;
	assert_non_null(driver);
	for (unsigned i = 0; i < sizeof documented / sizeof documented[0]; i++) {
		void *found = NULL;
		Dl_info info;
		void *at = dlsym(driver, documented[i].name);
		if (!at || !dladdr1(at, &info, &found, RTLD_DL_SYMENT) || !found)
			fail_msg("%s is not there", documented[i].name);
		const ElfW(Sym) *symbol = found;
		const unsigned n = documented[i].n_bytes;
		const unsigned type = ELF64_ST_TYPE(symbol->st_info);
		if (n ? type != STT_OBJECT || symbol->st_size != n : type != STT_FUNC)
			fail_msg("%s has %lu bytes", documented[i].name,
				 (unsigned long)symbol->st_size);
	}
	dlclose(driver);
}

static void the_beginning_is_told(void **state)
{
	CUcontext context;
	(void)state;
	assert_int_equal(cuInit(0), CUDA_SUCCESS);
	assert_int_equal(cuInit(0), CUDA_SUCCESS);
	assert_int_equal(seen.n_begun, 1);
	assert_told(1, DRIVER, CUDA_ERROR_NOT_INITIALIZED, "cuDeviceGetCount",
		    "CUDA_ERROR_NOT_INITIALIZED", "initialization error");
	assert_int_equal(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
	assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
	assert_int_equal(seen.n, 0);
}

static void errors_of_the_driver_are_told(void **state)
{
	(void)state;
	assert_int_equal(cuMemAlloc(NULL, 4), CUDA_ERROR_INVALID_VALUE);
	assert_told(1, DRIVER, CUDA_ERROR_INVALID_VALUE, "cuMemAlloc_v2",
		    "CUDA_ERROR_INVALID_VALUE", "invalid argument");
}

static void what_is_missing_is_an_error_like_others(void **state)
{
	CUcontext context;
	int value;
	(void)state;
	assert_int_equal(cuCtxAttach(&context, 0), CUDA_ERROR_NOT_SUPPORTED);
	assert_told(1, DRIVER, CUDA_ERROR_NOT_SUPPORTED, "cuCtxAttach", "CUDA_ERROR_NOT_SUPPORTED",
		    "operation not supported");
	assert_int_equal(cudaDeviceGetP2PAttribute(&value, 1, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
	assert_told(1, RUNTIME, CUDA_ERROR_NOT_SUPPORTED, "cudaDeviceGetP2PAttribute",
		    "cudaErrorNotSupported", "operation not supported");
	assert_int_equal(cudaGetLastError(), CUDA_ERROR_NOT_SUPPORTED);
}

static void errors_of_the_runtime_are_told_once(void **state)
{
	char host[4], attributes[96];
	(void)state;
	assert_int_equal(cudaMalloc(NULL, 4), 1);
	assert_told(1, RUNTIME, 1, "cudaMalloc", "cudaErrorInvalidValue", "invalid argument");
	assert_int_equal(cudaMemcpy(host, host, 4, 77), 21);
	assert_told(1, RUNTIME, 21, "cudaMemcpy", "cudaErrorInvalidMemcpyDirection",
		    "invalid copy direction for memcpy");
	(void)cudaGetLastError();
	/* what the runtime asks the driver in vain is no error of the program */
	assert_int_equal(cudaPointerGetAttributes(attributes, host), 0);
	assert_int_equal(seen.n, 0);
	/* the driver is heard again */
	assert_int_equal(cuMemAlloc(NULL, 4), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(seen.n, 1);
	seen.n = 0;
}

static void what_is_not_ready_may_be_left_out(void **state)
{
	const char *fatbin = *state;
	CUmodule module;
	CUfunction wait;
	uint32_t *flag;
	assert_int_equal(cuModuleLoad(&module, fatbin), CUDA_SUCCESS);
	assert_int_equal(cuModuleGetFunction(&wait, module, "wait"), CUDA_SUCCESS);
	assert_int_equal(cuMemAllocHost((void **)&flag, 64), CUDA_SUCCESS);
	*flag = 0;
	void *args[] = { &flag };
	assert_int_equal(cuLaunchKernel(wait, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), CUDA_SUCCESS);
	assert_int_equal(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	assert_told(1, DRIVER, CUDA_ERROR_NOT_READY, "cuStreamQuery", "CUDA_ERROR_NOT_READY",
		    "device not ready");
	cudbgReportDriverApiErrorFlags = 1;
	assert_int_equal(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	assert_int_equal(seen.n, 0);
	assert_int_equal(cuMemAlloc(NULL, 4), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(seen.n, 1);
	*(volatile uint32_t *)flag = 1;
	assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
}

/* The last: as if the agent had died, its sockets end. */
static void an_agent_that_is_gone_is_told(void **state)
{
	CUdeviceptr at;
	struct stat about;
	(void)state;
	for (int fd = 3; fd < 256; fd++)
		if (fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode))
			(void)shutdown(fd, SHUT_RDWR);
	seen.n = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(cuMemAlloc(&at, 4), CUDA_ERROR_DEVICE_UNAVAILABLE);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.n_internal, 1);
	assert_int_equal(seen.internal, CUDBG_ERROR_COMMUNICATION_FAILURE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(causes_outside_are_told),
		cmocka_unit_test(every_error_is_told),
		cmocka_unit_test(a_device_may_be_hidden),
		cmocka_unit_test(what_debuggers_look_up_is_there),
		cmocka_unit_test(the_beginning_is_told),
		cmocka_unit_test(errors_of_the_driver_are_told),
		cmocka_unit_test(errors_of_the_runtime_are_told_once),
		cmocka_unit_test(what_is_missing_is_an_error_like_others),
		cmocka_unit_test_prestate(what_is_not_ready_may_be_left_out,
					  argc > 2 ? argv[1] : NULL),
		cmocka_unit_test(an_agent_that_is_gone_is_told),
	};
	if (argc < 3)
		return 2;
	function_files = argv + 2;
	return cmocka_run_group_tests_name("errors for a debugger", tests, NULL, NULL);
}
