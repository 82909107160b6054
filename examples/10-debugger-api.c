/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the CUDA Debugger API: which thread failed, where. It uses nothing but calls of CUDA
 * 12.4, so it builds against NVIDIA's cudadebugger.h too, and runs on any provider of that API.
 *
 *   cc 10-debugger-api.c $(pkg-config --cflags --libs warpscope)
 *   WARPSCOPE_CORE=core.nvcudmp ./a.out
 */
#if defined(USE_VENDOR_HEADER)
#include <cudadebugger.h>
#else
#include <warpscope/cudadebugger.h>
#endif

#include <stdio.h>

static CUDBGAPI api;

static int failed(const char *what, CUDBGResult result)
{
	char text[300] = "";
	if (result == CUDBG_SUCCESS)
		return 0;
	(void)api->getErrorStringEx(text, sizeof text, NULL);
	fprintf(stderr, "%s: %s %s\n", what, cudbgGetErrorString(result), text);
	return 1;
}

/* Prints the lanes of a warp that have an exception; returns how many. */
static unsigned show_warp(uint32_t dev, uint32_t sm, uint32_t wp)
{
	uint32_t valid = 0;
	unsigned n = 0;
	if (failed("readValidLanes", api->readValidLanes(dev, sm, wp, &valid)))
		return 0;
	for (uint32_t ln = 0; ln < 32; ln++) {
		CUDBGException_t exception = CUDBG_EXCEPTION_NONE;
		CuDim3 block = { 0, 0, 0 }, thread = { 0, 0, 0 };
		uint64_t pc = 0, error_pc = 0;
		bool have_error_pc = false;
		if (!(valid >> ln & 1) ||
		    failed("readLaneException",
			   api->readLaneException(dev, sm, wp, ln, &exception)) ||
		    exception == CUDBG_EXCEPTION_NONE)
			continue;
		if (failed("readBlockIdx", api->readBlockIdx(dev, sm, wp, &block)) ||
		    failed("readThreadIdx", api->readThreadIdx(dev, sm, wp, ln, &thread)) ||
		    failed("readVirtualPC", api->readVirtualPC(dev, sm, wp, ln, &pc)) ||
		    failed("readErrorPC", api->readErrorPC(dev, sm, wp, &error_pc, &have_error_pc)))
			continue;
		printf("device %u SM %u warp %u lane %u: exception %d, block (%u,%u,%u) thread "
		       "(%u,%u,%u), pc 0x%llx",
		       dev, sm, wp, ln, (int)exception, block.x, block.y, block.z, thread.x,
		       thread.y, thread.z, (unsigned long long)pc);
		if (have_error_pc)
			printf(", error pc 0x%llx", (unsigned long long)error_pc);
		printf("\n");
		n++;
	}
	return n;
}

int main(void)
{
	CUDBGEvent event;
	uint32_t n_devices = 0;
	unsigned n = 0;
	if (cudbgGetAPI(12, 4, 142, &api) != CUDBG_SUCCESS ||
	    failed("initialize", api->initialize()))
		return 1;
	while (api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS)
		continue;
	(void)api->acknowledgeSyncEvents();
	if (failed("getNumDevices", api->getNumDevices(&n_devices)))
		return 1;
	for (uint32_t dev = 0; dev < n_devices; dev++) {
		uint32_t n_sms = 0;
		if (api->getNumSMs(dev, &n_sms) != CUDBG_SUCCESS)
			continue; /* a number that no device has */
		for (uint32_t sm = 0; sm < n_sms; sm++) {
			uint64_t warps = 0;
			if (failed("readValidWarps", api->readValidWarps(dev, sm, &warps)))
				continue;
			for (uint32_t wp = 0; warps; wp++, warps >>= 1)
				if (warps & 1)
					n += show_warp(dev, sm, wp);
		}
	}
	printf("%u threads with an exception\n", n);
	return failed("finalize", api->finalize());
}
