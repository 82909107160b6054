/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-step: what a step of one warp costs a client of the debugger API, over a fake target of
 * 10,000 warps: the step, the masks of its SM, and getDeviceInfo's update. The floor is the same
 * after everything changed, that is, taking stock of the whole device.
 */
#include <warpscope/cudbg.h>

#include "bench.h"
#include "target/fake.h"

enum { SMS = 157, WARPS = 64, LANES = 32, STEPS = 2000 };

static struct fake fake;
static CUDBGAPI api;
static uint8_t *buffer;
static uint32_t buffer_size;

static void check(CUDBGResult result, const char *what)
{
	if (result == CUDBG_SUCCESS)
		return;
	fprintf(stderr, "bench: %s: %s\n", what, cudbgGetErrorString(result));
	exit(1);
}

/* What a debugger reads after a stop. */
static uint32_t look(uint32_t sm)
{
	uint64_t valid;
	uint32_t length;
	check(api->readValidWarps(0, sm, &valid), "readValidWarps");
	check(api->getDeviceInfo(0, CUDBG_RESPONSE_TYPE_UPDATE, buffer, buffer_size, &length),
	      "getDeviceInfo");
	return length;
}

/* Seconds for one round; `*ret_bytes`: of the last response. */
static double steps(uint32_t n, uint32_t *ret_bytes)
{
	double begin = now();
	for (uint32_t i = 0; i < n; i++) {
		uint64_t moved;
		uint32_t sm = i * 7 % SMS;
		check(api->singleStepWarp65(0, sm, i % WARPS, 1, &moved), "singleStepWarp");
		*ret_bytes = look(sm);
	}
	return (now() - begin) / n;
}

static double whole(uint32_t *ret_bytes)
{
	double begin = now();
	ws_target_changed(&fake.target, &fake.target.counts);
	*ret_bytes = look(0);
	return now() - begin;
}

int main(void)
{
	struct times times;
	struct ws_error err;
	CUDBGDeviceInfoSizes sizes;
	uint32_t step_bytes = 0, whole_bytes = 0;
	fake_init(&fake, SMS, WARPS, LANES);
	fake_may_run(&fake);
	fake.pc_step = 16;
	must(ws_cudbg_api(&fake.target, &api, &err), &err);
	check(api->initialize(), "initialize");
	check(api->getDeviceInfoSizes(0, &sizes), "getDeviceInfoSizes");
	buffer_size = sizes.requiredBufferSize;
	buffer = malloc(buffer_size);
	if (!buffer)
		return 1;
	(void)whole(&whole_bytes);
	for (int i = 0; i < RUNS; i++) {
		times.floor[i] = whole(&whole_bytes);
		times.ours[i] = steps(STEPS, &step_bytes);
	}
	double all = best(times.floor), one = best(times.ours);
	printf("a step of one of %d warps through the debugger API\n", SMS * WARPS);
	printf("  step       %9.2f us, %u bytes; the whole device %9.2f us, %u bytes; ratio %.5f "
	       "%s\n",
	       one * 1e6, step_bytes, all * 1e6, whole_bytes, one / all,
	       one / all <= 0.002 ? "good" : "TOO SLOW");
	check(api->finalize(), "finalize");
	ws_cudbg_release(api);
	ws_target_close(&fake.target);
	free(buffer);
	return 0;
}
