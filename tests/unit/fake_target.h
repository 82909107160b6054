/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target over arrays, for tests of what stands above the waist: fill the arrays, then use
 * `target`. Every list element may be made unreadable by its status. One device, one context; block
 * i belongs to the grid that its `grid_index` says.
 */
#ifndef WS_TEST_FAKE_TARGET_H
#define WS_TEST_FAKE_TARGET_H

#include <warpscope/target.h>

enum {
	FAKE_MAX_SMS = 4,
	FAKE_MAX_WARPS = 8,
	FAKE_MAX_GRIDS = 4,
	FAKE_MAX_CALLERS = 8,
};

struct fake_target {
	struct ws_target target;
	struct ws_device device;
	struct ws_image image;
	struct ws_grid grid[FAKE_MAX_GRIDS];
	struct ws_sm sm[FAKE_MAX_SMS];
	struct ws_block block[FAKE_MAX_WARPS];
	struct ws_warp warp[FAKE_MAX_WARPS];
	enum ws_status warp_status[FAKE_MAX_WARPS], lanes_status[FAKE_MAX_WARPS];
	struct ws_lane lane[FAKE_MAX_WARPS][WS_MAX_LANES];
	uint32_t n_lanes[FAKE_MAX_WARPS];
	struct ws_return_address callers[FAKE_MAX_CALLERS]; /* of every lane */
	uint32_t n_callers;
	bool has_facts; /* it is a file: `facts`, `diagnostics` */
	struct ws_dump_facts facts;
	struct ws_diagnostic diagnostics[2];
	uint32_t n_diagnostics;
};

/*
 * One device with `n_sms` SMs of one warp each, `n_lanes` active lanes a warp at pc 0x1000, a block
 * per warp (idx.x counts), all of grid 0, whose id is 1.
 */
void fake_target_init(struct fake_target *fake, uint32_t n_sms, uint32_t n_lanes);

#endif
