/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a debugger is told of errors. The functions where it has its breakpoints are defined here,
 * before the driver's, so that each call of one is seen. usage: test_report FATBIN
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "api.h"

extern uint32_t cudbgReportDriverApiErrorFlags, cudbgReportedDriverApiErrorSource;
extern uint64_t cudbgReportedDriverApiErrorCode, cudbgReportedDriverInternalErrorCode;
extern uint64_t cudbgReportedDriverApiErrorFuncNameSize, cudbgReportedDriverApiErrorFuncNameAddr;
extern uint64_t cudbgReportedDriverApiErrorNameSize, cudbgReportedDriverApiErrorNameAddr;
extern uint64_t cudbgReportedDriverApiErrorStringSize, cudbgReportedDriverApiErrorStringAddr;

enum { DRIVER = 1, RUNTIME = 2, COMMUNICATION_FAILURE = 28 };

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

void cudbgReportDriverApiError(void);
void cudbgReportDriverInternalError(void);
void cudbgPreInit(void);

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
	assert_int_equal(seen.internal, COMMUNICATION_FAILURE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_beginning_is_told),
		cmocka_unit_test(errors_of_the_driver_are_told),
		cmocka_unit_test(errors_of_the_runtime_are_told_once),
		cmocka_unit_test(what_is_missing_is_an_error_like_others),
		cmocka_unit_test_prestate(what_is_not_ready_may_be_left_out,
					  argc == 2 ? argv[1] : NULL),
		cmocka_unit_test(an_agent_that_is_gone_is_told),
	};
	return argc == 2 ? cmocka_run_group_tests_name("errors for a debugger", tests, NULL, NULL)
			 : 2;
}
