/* SPDX-License-Identifier: Apache-2.0 */
/* Going back on a software GPU that runs. */
#include "target/sim/live.h"

enum ws_status sim_keep_history(struct ws_target *target, uint64_t max_bytes, struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	enum ws_status st = sim_stands(t, err);
	return st == WS_OK ? wsi_history_keep(t->sim, max_bytes, err) : st;
}

/* Grids that have not ended, once more. */
static void revive(struct sim_live *live)
{
	const struct wsi_grid *first = live->t->sim->queue;
	while (first && live->n_done > 0 && (uint64_t)live->done[live->n_done - 1].id >= first->id)
		live->n_done--;
	live->failed = live->stalled = false;
}

static enum ws_status earlier_stop_find(struct sim_target *t, const struct ws_back *back,
					struct wsi_history_found *ret_found, struct ws_error *err)
{
	static const enum wsi_back whats[] = {
		[WS_BACK_STEP] = WSI_BACK_LANE,
		[WS_BACK_STOP] = WSI_BACK_STOPS,
		[WS_BACK_WATCH] = WSI_BACK_WATCH,
		[WS_BACK_REGISTER] = WSI_BACK_REG,
	};
	*ret_found = (struct wsi_history_found){ .any = true, .at = back->position };
	if (back->kind == WS_BACK_POSITION)
		return wsi_history_go(t->sim, back->position, err);
	struct wsi_history_search search = {
		.what = whats[back->kind],
		.number = back->kind == WS_BACK_WATCH ? back->watch : back->reg,
		.is_predicate = back->reg_kind == WS_REG_P,
	};
	if (back->kind == WS_BACK_REGISTER && back->reg_kind != WS_REG_R &&
	    back->reg_kind != WS_REG_P)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"only registers of a thread are looked for");
	if (back->kind == WS_BACK_STEP || back->kind == WS_BACK_REGISTER) {
		const struct wsi_warp *warp = t->rows.warps[back->warp_index];
		search.who.grid = warp->block->grid->id;
		search.who.block = warp->block->idx;
		search.who.warp = warp->id;
		search.who.lane = back->lane;
	}
	return wsi_history_back(t->sim, &search, ret_found, err);
}

enum ws_status sim_go_back(struct ws_target *target, const struct ws_back *back,
			   struct ws_back_found *ret_found, struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	struct wsi_history_found found;
	enum ws_status st = sim_stands(t, err);
	if (st != WS_OK)
		return st;
	pthread_mutex_lock(&t->live->lock);
	st = earlier_stop_find(t, back, &found, err);
	revive(t->live);
	enum ws_status renewed = sim_renew(t, true, st == WS_OK ? err : NULL);
	pthread_mutex_unlock(&t->live->lock);
	st = st == WS_OK ? renewed : st;
	if (st != WS_OK)
		return st;
	*ret_found = (struct ws_back_found){
		.any = found.any,
		.position = wsi_position(t->sim),
		.warp_index = found.any ? sim_warp_at(t, found.sm, found.slot) : WS_NONE,
		.lanes = found.lanes,
		.watch = found.watch,
		.n_again = found.n_again,
	};
	return WS_OK;
}
