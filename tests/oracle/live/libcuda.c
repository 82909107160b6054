/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of a driver's library as a debugger looks for: the variables and functions of the
 * debugger API by their public names, and cuInit. It does nothing; live.py answers the debugger's
 * calls.
 */
#include <stdint.h>

uint32_t cudbgIpcFlag, cudbgRpcEnabled, cudbgApiClientPid, cudbgSessionId, cudbgApiClientRevision;
uint32_t cudbgDebuggerInitialized, cudbgDebuggerCapabilities, cudbgAttachHandlerAvailable;
uint32_t cudbgEnableLaunchBlocking, cudbgEnableIntegratedMemcheck, cudbgEnablePreemptionDebugging;
uint32_t cudbgUseExternalDebugger = 1, cudbgReportDriverApiErrorFlags, cudbgResumeForAttachDetach;
uint64_t cudbgReportedDriverApiErrorCode, cudbgReportedDriverInternalErrorCode;
uint64_t cudbgReportedDriverApiErrorFuncNameAddr, cudbgReportedDriverApiErrorFuncNameSize;
char cudbgInjectionPath[4096];

#define BREAKPOINT_HERE __attribute__((noinline)) void
BREAKPOINT_HERE cudbgReportDriverApiError(void);
BREAKPOINT_HERE cudbgReportDriverInternalError(void);
void cudbgApiInit(uint32_t arg);
void cudbgApiAttach(void);
void cudbgApiDetach(void);
void cudbgMain(int a, uint32_t b, uint32_t c, uint32_t d, int e, int f, int g, int h);
int cuInit(unsigned flags);

BREAKPOINT_HERE cudbgReportDriverApiError(void)
{
	__asm__ volatile("");
}

BREAKPOINT_HERE cudbgReportDriverInternalError(void)
{
	__asm__ volatile("");
}

void cudbgApiInit(uint32_t arg)
{
	(void)arg;
}

void cudbgApiAttach(void)
{
}

void cudbgApiDetach(void)
{
}

void cudbgMain(int a, uint32_t b, uint32_t c, uint32_t d, int e, int f, int g, int h)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
}

int cuInit(unsigned flags)
{
	return (int)flags;
}
