/* SPDX-License-Identifier: Apache-2.0 */
/* See event.h. */
#include "sim/event/event.h"

#include <time.h>

#include "sim/event/watchpoint.h"

void wsi_stub_halt(struct ws_sim *sim, struct wsi_warp *warp, enum wsi_halt why, uint32_t lanes,
		   uint64_t pc)
{
	if (sim->debug->replays && why != WSI_HALT_INTERNAL)
		return;
	warp->halt = (uint8_t)why;
	warp->halt_pc = pc;
	for (uint32_t left = lanes; left; left &= left - 1)
		warp->seen[wsi_first_bit(left)] = pc;
	sim->debug->broken[warp->block->sm] |= UINT64_C(1) << warp->slot;
	sim->debug->halted |= why != WSI_HALT_INTERNAL;
}

/* ---- what the engine tells ---- */

enum ws_status ws_sim_log(struct ws_sim *sim, enum ws_sim_log_level level, uint32_t host_tid,
			  const char *text, struct ws_error *err)
{
	struct timespec now;
	if (!sim->debug)
		return WS_OK;
	struct wsi_log *log = wsi_zalloc(sizeof *log), **end = &sim->debug->logs;
	if (!log)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a record of the log");
	while (*end)
		end = &(*end)->next;
	clock_gettime(CLOCK_REALTIME, &now);
	log->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	log->level = level;
	log->host_tid = host_tid;
	wsi_format(log->text, "%s", text);
	*end = log;
	return WS_OK;
}

void wsi_stub_moved(struct ws_sim *sim, const struct wsi_warp *warp)
{
	sim->debug->moved[warp->block->sm] |= UINT64_C(1) << warp->slot;
	sim->debug->new_lists |= warp->live == 0;
}

void wsi_stub_watched(struct ws_sim *sim, struct wsi_warp *warp)
{
	const struct wsi_watch_hit *hit = wsi_watch_hit_at(sim, 0);
	wsi_stub_halt(sim, warp, WSI_HALT_WATCHED, 0, wsi_lane_pc(warp, hit->lane));
}

void wsi_stub_entered(struct ws_sim *sim, struct wsi_block *block, bool is_first)
{
	sim->debug->new_lists = true;
	if (is_first && sim->debug->stop_at_launch)
		wsi_stub_halt(sim, block->warps[0], WSI_HALT_LAUNCH, block->warps[0]->live,
			      block->grid->entry);
}

void wsi_stub_finished(struct wsi_stub *debug, struct wsi_grid *grid)
{
	struct wsi_grid **end = &debug->finished;
	while (*end)
		end = &(*end)->next;
	grid->next = NULL;
	*end = grid;
	debug->new_lists = true;
}

void wsi_stub_drop_finished(struct wsi_stub *debug)
{
	while (debug->finished) {
		struct wsi_grid *grid = debug->finished;
		debug->finished = grid->next;
		wsi_free(grid);
	}
}

/* ---- what happens while it runs again ---- */

static void last_access_find(struct ws_sim *sim, const struct wsi_warp *warp, uint64_t at,
			     uint32_t lanes, uint32_t watch)
{
	struct wsi_sought *sought = &sim->debug->sought;
	if (at < sought->before)
		sought->found = (struct wsi_history_found){
			.any = true,
			.at = at,
			.sm = warp->block->sm,
			.slot = warp->slot,
			.lanes = lanes,
			.watch = watch,
		};
}

void wsi_search_met(struct ws_sim *sim, const struct wsi_warp *warp, uint32_t lanes)
{
	if (sim->debug->sought.search.what == WSI_BACK_STOPS)
		last_access_find(sim, warp, wsi_position(sim), lanes, 0);
}

void wsi_search_watched(struct ws_sim *sim, const struct wsi_warp *warp)
{
	const struct wsi_history_search *search = &sim->debug->sought.search;
	const struct wsi_watch_hit *hit;
	for (uint32_t i = 0; (hit = wsi_watch_hit_at(sim, i)); i++)
		if (search->what == WSI_BACK_STOPS ||
		    (search->what == WSI_BACK_WATCH && search->number == hit->number))
			last_access_find(sim, warp, wsi_position(sim) - 1, hit->lanes, hit->number);
	wsi_watch_forget(sim);
}

static bool is_same(const struct wsi_warp *warp, const struct wsi_lane_id *who)
{
	return warp->id == who->warp && warp->block->grid->id == who->grid &&
	       memcmp(&warp->block->idx, &who->block, sizeof who->block) == 0;
}

void wsi_search_group(const struct wsi_run *run)
{
	const struct wsi_history_search *search = &run->sim->debug->sought.search;
	if (search->what == WSI_BACK_LANE && (run->group >> search->who.lane & 1) &&
	    is_same(run->warp, &search->who))
		last_access_find(run->sim, run->warp, wsi_position(run->sim) - 1, run->group, 0);
}

void wsi_search_marked(const struct wsi_run *run)
{
	const struct wsi_history_search *search = &run->sim->debug->sought.search;
	if ((run->mask >> search->who.lane & 1) && is_same(run->warp, &search->who))
		last_access_find(run->sim, run->warp, wsi_position(run->sim), run->mask, 0);
}
