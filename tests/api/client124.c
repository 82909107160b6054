/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client built against a header of the shape of 12.4 (made from the tables), run against this
 * library: it knows 133 slots, with the names and layouts of then. Prints TAP.
 */
#include "cudadebugger124.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_tests, n_failed;

static void check(int good, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", ++n_tests, name);
	n_failed += !good;
}

static void read_warps(CUDBGAPI api)
{
	uint64_t mask = 0;
	uint32_t n_sms = 0, found = 0;
	CUDBGGridInfo info;
	CUDBGWarpState state;
	int good = api->getNumSMs(0, &n_sms) == CUDBG_SUCCESS;
	memset(&info, 0x77, sizeof info);
	for (uint32_t sm = 0; sm < n_sms; sm++) {
		good = good && api->readValidWarps(0, sm, &mask) == CUDBG_SUCCESS;
		for (uint32_t wp = 0; wp < 64; wp++) {
			if (!(mask >> wp & 1))
				continue;
			good = good && api->readWarpState(0, sm, wp, &state) == CUDBG_SUCCESS &&
			       api->getGridInfo(0, state.gridId, &info) == CUDBG_SUCCESS;
			found++;
		}
	}
	check(good && found > 0, "warps and grids in the layouts of 12.4");
	check(info.gridDim.x > 0 && info.blockDim.x > 0, "a grid has dimensions");
	CuDim3 cluster;
	check(api->getClusterDim(0, state.gridId, &cluster) == CUDBG_SUCCESS,
	      "getClusterDim still takes a grid id");
	uint32_t registers[4], size;
	uint64_t address;
	CUDBGDeviceInfoSizes sizes;
	check(api->getDeviceInfoSizes(0, &sizes) == CUDBG_SUCCESS && sizes.requiredBufferSize > 0,
	      "getDeviceInfoSizes");
	check(api->readRegisterRange(0, 500, 0, 0, 0, 4, registers) == CUDBG_ERROR_INVALID_ARGS,
	      "readRegisterRange without the count of 13.2");
	check(api->getConstBankAddress(0, state.gridId, 99, &address, &size) ==
		      CUDBG_ERROR_MISSING_DATA,
	      "getConstBankAddress, of 12.4 itself");
}

int main(void)
{
	CUDBGAPI api = NULL;
	uint32_t n = 0, events = 0;
	CUDBGEvent event;
	printf("1..12\n");
	if (!getenv("WARPSCOPE_CORE")) {
		printf("Bail out! WARPSCOPE_CORE is not set\n");
		return 1;
	}
	check(cudbgGetAPI(12, 4, 142, &api) == CUDBG_SUCCESS && api, "a table for 12.4");
	check(api->getNumDevices(&n) == CUDBG_ERROR_UNINITIALIZED, "uninitialized first");
	check(api->initialize() == CUDBG_SUCCESS, "initialize opens the dump");
	check(api->getNumDevices(&n) == CUDBG_SUCCESS && n == 1, "one device");
	while (api->getNextEvent(CUDBG_EVENT_QUEUE_TYPE_SYNC, &event) == CUDBG_SUCCESS)
		events++;
	check(events >= 3 && api->acknowledgeSyncEvents() == CUDBG_SUCCESS, "events");
	read_warps(api);
	check(api->finalize() == CUDBG_SUCCESS, "finalize");
	return n_failed != 0;
}
