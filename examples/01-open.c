/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a dump and prints why each warp stopped: 01-open DUMP
 */
#include <inttypes.h>
#include <stdio.h>

#include <warpscope/core.h>
#include <warpscope/exception.h>

/* The first exception among the lanes of a warp; 0 when there is none. */
static uint32_t warp_exception(const struct ws_target *target, uint32_t warp_index)
{
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	if (ws_target_lanes(target, warp_index, lanes, &n, NULL) != WS_OK)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		if (lanes[i].exception)
			return lanes[i].exception;
	}
	return 0;
}

static void warp_print(const struct ws_target *target, uint32_t warp_index)
{
	struct ws_warp warp;
	struct ws_sm sm;
	if (ws_target_warp(target, warp_index, &warp, NULL) != WS_OK ||
	    ws_target_sm(target, warp.sm_index, &sm, NULL) != WS_OK)
		return; /* damaged: that costs this warp only */
	uint32_t code = warp_exception(target, warp_index);
	const struct ws_exception *exception = code ? ws_exception_find(code) : NULL;
	printf("sm %u warp %u: ", sm.id, warp.id);
	if (code)
		printf("%s (%u)", exception ? exception->label : "exception", code);
	else
		printf("%s", warp.broken ? "trap or breakpoint" : "no exception");
	if (warp.error_pc_valid)
		printf(" at 0x%" PRIx64, warp.error_pc);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct ws_error err;
	struct ws_target *target;
	if (argc != 2 || ws_core_open(argv[1], NULL, &target, &err) != WS_OK) {
		fprintf(stderr, "%s\n", argc == 2 ? err.message : "usage: 01-open DUMP");
		return 1;
	}
	struct ws_counts counts;
	ws_target_counts(target, &counts);
	for (uint32_t i = 0; i < counts.warps; i++)
		warp_print(target, i);
	ws_target_close(target);
	return 0;
}
