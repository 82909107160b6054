/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of breakpoints, asked while the device executes. */
#include "target/sim/live.h"

struct condition_filter {
	struct wsi_filter base; /* first */
	const struct sim_target *t;
	ws_stop_if_fn *holds;
	const void *condition; /* borrowed */
};

struct arriving {
	const struct sim_target *t;
	struct wsi_warp *warp;
};

static bool reg(const struct ws_arrival *arrival, enum ws_reg_kind kind, uint32_t number,
		uint32_t words, unsigned lane, uint64_t *ret_bits)
{
	const struct arriving *a = arrival->state;
	uint32_t count = sim_register_count(a->t, a->warp, kind);
	*ret_bits = 0;
	for (uint32_t i = 0; i < words && i < 2; i++) {
		if (number + i >= count)
			return false;
		*ret_bits |= (uint64_t)sim_register(a->warp, lane, kind, number + i) << 32 * i;
	}
	return true;
}

static uint32_t place_of_lane(const struct ws_arrival *arrival, uint32_t dim, uint32_t axis,
			      unsigned lane)
{
	const struct arriving *a = arrival->state;
	const struct wsi_block *block = a->warp->block;
	struct ws_dim3 all = { 0 };
	switch ((enum ws_arrival_dim)dim) {
	case WS_ARRIVAL_THREAD_IDX:
		all = sim_thread_of(a->warp, lane);
		break;
	case WS_ARRIVAL_BLOCK_IDX:
		all = block->idx;
		break;
	case WS_ARRIVAL_BLOCK_DIM:
		all = block->grid->block;
		break;
	case WS_ARRIVAL_GRID_DIM:
		all = block->grid->dim;
		break;
	case WS_ARRIVAL_CLUSTER_IDX:
		all = sim_cluster_idx(block);
		break;
	case WS_ARRIVAL_CLUSTER_DIM:
		all = sim_cluster_dim(block);
		break;
	}
	return wsi_axis(all, axis);
}

static bool read(const struct ws_arrival *arrival, const struct ws_address *at, void *buffer,
		 size_t len)
{
	const struct arriving *a = arrival->state;
	size_t got = 0;
	return sim_read_of_warp(a->t, a->warp, at, buffer, len, &got, NULL) == WS_OK;
}

static uint32_t lanes_of(const struct wsi_filter *filter, struct wsi_warp *warp, uint32_t group)
{
	const struct condition_filter *f = (const struct condition_filter *)filter;
	struct arriving arriving = { f->t, warp };
	const struct ws_arrival arrival = {
		.lanes = group,
		.state = &arriving,
		.reg = reg,
		.place = place_of_lane,
		.read = read,
	};
	return f->holds(f->condition, &arrival);
}

enum ws_status sim_stop_if(struct ws_target *target, uint32_t device_index, uint64_t pc,
			   ws_stop_if_fn *holds, const void *condition, struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	struct condition_filter *filter = holds ? wsi_zalloc(sizeof *filter) : NULL;
	(void)device_index;
	if (holds && !filter)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	if (filter)
		*filter = (struct condition_filter){ { lanes_of }, t, holds, condition };
	wsi_hold(&t->live->lock);
	sim_take(t->live, true);
	enum ws_status st = wsi_stub_filter(t->sim, pc, filter ? &filter->base : NULL, err);
	sim_give(t->live);
	return st;
}
