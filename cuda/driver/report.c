/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a debugger of the program is told of errors, by the names that the debugger API documents:
 * variables are filled, then an empty function is called, where it has a breakpoint.
 */
#include "report.h"

#include <string.h>

#include <warpscope/cudadebugger.h>

#include "driver.h"

uint32_t cudbgReportDriverApiErrorFlags, cudbgReportedDriverApiErrorSource;
uint64_t cudbgReportedDriverApiErrorCode, cudbgReportedDriverInternalErrorCode;
uint64_t cudbgReportedDriverApiErrorFuncNameSize, cudbgReportedDriverApiErrorFuncNameAddr;
uint64_t cudbgReportedDriverApiErrorNameSize, cudbgReportedDriverApiErrorNameAddr;
uint64_t cudbgReportedDriverApiErrorStringSize, cudbgReportedDriverApiErrorStringAddr;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the variables are one report's */
static _Thread_local bool is_runtime; /* the thread is in a call of the runtime, which reports */
static _Thread_local const char *told_as; /* ... of a function that has another do its work */

BREAK_HERE(cudbgReportDriverApiError)
BREAK_HERE(cudbgReportDriverInternalError)

/* A text's place, and its bytes with the 0 at its end. */
static void put(const char *text, uint64_t *ret_address, uint64_t *ret_size)
{
	*ret_address = (uintptr_t)text;
	*ret_size = text ? strlen(text) + 1 : 0;
}

static void report_driver_error(int result, const char *function, const char *name,
				const char *text, CUDBGReportedDriverApiErrorSource source)
{
	const uint32_t quiet = CUDBG_REPORT_DRIVER_API_ERROR_FLAGS_SUPPRESS_NOT_READY;
	log_error(result, function, name);
	pthread_mutex_lock(&lock);
	if (result != CUDA_ERROR_NOT_READY || !(cudbgReportDriverApiErrorFlags & quiet)) {
		cudbgReportedDriverApiErrorCode = (uint64_t)result;
		cudbgReportedDriverApiErrorSource = source;
		put(function, &cudbgReportedDriverApiErrorFuncNameAddr,
		    &cudbgReportedDriverApiErrorFuncNameSize);
		put(name, &cudbgReportedDriverApiErrorNameAddr,
		    &cudbgReportedDriverApiErrorNameSize);
		put(text, &cudbgReportedDriverApiErrorStringAddr,
		    &cudbgReportedDriverApiErrorStringSize);
		if (!debug_has_left())
			cudbgReportDriverApiError();
	}
	pthread_mutex_unlock(&lock);
	if (result != CUDA_ERROR_NOT_READY)
		debug_log(function, name, text);
}

const char *driver_told_as(const char *function)
{
	const char *before = told_as;
	told_as = function;
	return before;
}

CUresult driver_done(CUresult result, const char *function)
{
	const char *name = NULL, *text = NULL;
	if (result == CUDA_SUCCESS || is_runtime)
		return result;
	(void)cuGetErrorName(result, &name);
	(void)cuGetErrorString(result, &text);
	report_driver_error((int)result, told_as ? told_as : function, name, text,
			    CUDBG_REPORTED_DRIVER_API_ERROR_SOURCE_DRIVER);
	return result;
}

int entry_failed(const char *function)
{
	return (int)driver_done(CUDA_ERROR_NOT_SUPPORTED, function);
}

void driver_report_internal(uint32_t result)
{
	pthread_mutex_lock(&lock);
	__atomic_store_n(&cudbgReportedDriverInternalErrorCode, result, __ATOMIC_SEQ_CST);
	if (!debug_has_left())
		cudbgReportDriverInternalError();
	pthread_mutex_unlock(&lock);
}

void warpscope_runtime_begin(void)
{
	is_runtime = true;
}

void warpscope_runtime_end(int result, const char *function, const char *name, const char *text)
{
	is_runtime = false;
	if (result != 0)
		report_driver_error(result, function, name, text,
				    CUDBG_REPORTED_DRIVER_API_ERROR_SOURCE_RUNTIME);
}
