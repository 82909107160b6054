/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this back end share. */
#ifndef WSI_TARGET_SIM_H
#define WSI_TARGET_SIM_H

#include <warpscope/sim_target.h>

#include "sim/device.h"

/* Lists of what the device has, in the order of the target's rows. */
struct sim_target {
	struct ws_target target;
	struct ws_sim *sim;             /* borrowed */
	struct wsi_grid **grids;        /* owned; of the queue */
	struct wsi_block **blocks;      /* owned; by SM */
	struct wsi_warp **warps;        /* owned; by SM and slot; those that have threads left */
	uint32_t *block_of;             /* owned; of each warp, its index in `blocks` */
	uint32_t *first_warp;           /* owned; of each SM, and one more at the end */
	struct ws_memory_range *ranges; /* owned */
	size_t n_ranges, cap_ranges;
	char name[48], sm_type[16];
};

static inline struct sim_target *sim_of(const struct ws_target *target)
{
	return target->state;
}

/* Index of a warp's grid. */
uint32_t sim_grid_of(const struct sim_target *t, const struct wsi_grid *grid);

/* memory.c */
enum ws_status sim_ranges_collect(struct sim_target *t, struct ws_error *err) WS_MUST_USE;
enum ws_status sim_memory_range(const struct ws_target *target, uint32_t index,
				struct ws_memory_range *ret_range, struct ws_error *err);
enum ws_status sim_read_memory(const struct ws_target *target, const struct ws_address *at,
			       void *buffer, size_t len, size_t *ret_n, struct ws_error *err);

#endif
