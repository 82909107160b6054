/* SPDX-License-Identifier: Apache-2.0 */
/* Watchpoints on memory of a software GPU that runs. */
#include "target/sim/live.h"

_Static_assert((int)WS_WATCH_READ == WSI_WATCH_READ && (int)WS_WATCH_WRITE == WSI_WATCH_WRITE &&
		       (int)WS_WATCH_CHANGE == WSI_WATCH_CHANGE &&
		       (int)WS_WATCH_BYTES == WSI_TOUCH_BYTES,
	       "the engine's numbers are those of the waist");

/* Whether all of a range is there. */
static enum ws_status is_range_there(const struct ws_target *target, const struct ws_watch *watch,
				     struct ws_error *err)
{
	uint8_t bytes[4096];
	struct ws_address at = watch->at;
	enum ws_status st = WS_OK;
	for (uint64_t left = watch->size_bytes; left > 0 && st == WS_OK;) {
		size_t n = (size_t)wsi_min_u64(left, sizeof bytes), got;
		st = sim_read_memory(target, &at, bytes, n, &got, err);
		at.address += n;
		left -= n;
	}
	return st;
}

static enum ws_status no_use(struct ws_error *err)
{
	return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "kernels only read this memory");
}

enum ws_status sim_watch(struct ws_target *target, const struct ws_watch *watch,
			 uint32_t *ret_number, struct ws_error *err)
{
	static const enum ws_sass_space spaces[] = {
		[WS_SPACE_GLOBAL] = WS_SASS_SPACE_GLOBAL,
		[WS_SPACE_SHARED] = WS_SASS_SPACE_SHARED,
		[WS_SPACE_LOCAL] = WS_SASS_SPACE_LOCAL,
		[WS_SPACE_PARAM] = WS_SASS_SPACE_CONSTANT,
		[WS_SPACE_CONST] = WS_SASS_SPACE_CONSTANT,
	};
	struct sim_target *t = sim_of(target);
	struct sim_place p;
	enum ws_status st = is_range_there(target, watch, err);
	if (st == WS_OK)
		st = sim_place_of(t, &watch->at, &p, err);
	if (st != WS_OK)
		return st;
	struct wsi_watch made = {
		.space = spaces[p.space],
		.start = p.address,
		.len = watch->size_bytes,
		.bank = p.bank,
		.lane = p.lane,
		.kinds = watch->kinds,
	};
	if (made.space == WS_SASS_SPACE_CONSTANT && watch->kinds != WS_WATCH_READ)
		return no_use(err);
	if (p.grid)
		made.grid = p.grid->id;
	if (p.warp) {
		made.grid = p.warp->block->grid->id;
		made.block = p.warp->block->idx;
		made.warp = p.warp->id;
	}
	return wsi_watch_add(t->sim, &made, ret_number, err);
}

enum ws_status sim_unwatch(struct ws_target *target, uint32_t number, struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	(void)err;
	pthread_mutex_lock(&t->live->lock);
	sim_take(t->live, true);
	wsi_watch_remove(t->sim, number);
	sim_give(t->live);
	pthread_mutex_unlock(&t->live->lock);
	return WS_OK;
}

uint32_t sim_warp_at(const struct sim_target *t, uint32_t sm, uint32_t slot)
{
	for (uint32_t i = t->rows.first_warp[sm]; i < t->rows.first_warp[sm + 1]; i++)
		if (t->rows.warps[i]->slot == slot)
			return i;
	return WS_NONE;
}

enum ws_status sim_watch_hit(const struct ws_target *target, uint32_t index,
			     struct ws_watch_hit *ret_hit, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	if (sim_runs(t))
		return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "the device is running");
	const struct wsi_watch_hit *hit = wsi_watch_hit_at(t->sim, index);
	if (!hit)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no more watchpoints were hit");
	*ret_hit = (struct ws_watch_hit){
		.number = hit->number,
		.kinds = hit->kinds,
		.warp_index = sim_warp_at(t, hit->sm, hit->slot),
		.lanes = hit->lanes,
		.lane = hit->lane,
		.pc = hit->pc,
		.address = hit->address,
		.n = hit->n,
	};
	memcpy(ret_hit->before, hit->before, sizeof ret_hit->before);
	memcpy(ret_hit->now, hit->now, sizeof ret_hit->now);
	return WS_OK;
}
