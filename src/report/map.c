/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map of the GPU. SMs and blocks are read here; a warp is written by the walk (scan.c), which
 * knows its faults and groups. Indices are the target's, so nothing is searched.
 */
#include "report/build.h"

static enum ws_status map_sms(struct wsi_build *build)
{
	struct ws_report_map *map = &build->report->map;
	struct ws_report_sm *sms =
		wsi_arena_zalloc_array(build->arena, build->counts.sms, sizeof *sms);
	if (!sms)
		return WS_NO_MEMORY;
	for (uint32_t i = 0; i < build->counts.sms; i++) {
		struct ws_sm sm;
		sms[i].status = ws_target_sm(build->target, i, &sm, NULL);
		if (sms[i].status != WS_OK)
			continue;
		sms[i].device_index = sm.device_index;
		sms[i].id = sm.id;
		sms[i].exception_status = sm.have & WS_SM_EXCEPTION ? WS_OK : WS_ABSENT;
		sms[i].exception = sm.exception;
		if (sm.first_warp_index <= build->counts.warps &&
		    sm.n_warps <= build->counts.warps - sm.first_warp_index) {
			sms[i].first_warp = sm.first_warp_index;
			sms[i].n_warps = sm.n_warps;
		}
	}
	map->sms = sms;
	map->n_sms = build->counts.sms;
	return WS_OK;
}

static enum ws_status map_blocks(struct wsi_build *build)
{
	struct ws_report_map *map = &build->report->map;
	struct ws_report_block *blocks =
		wsi_arena_zalloc_array(build->arena, build->counts.blocks, sizeof *blocks);
	if (!blocks)
		return WS_NO_MEMORY;
	for (uint32_t i = 0; i < build->counts.blocks; i++) {
		struct ws_block block;
		blocks[i].status = ws_target_block(build->target, i, &block, NULL);
		if (blocks[i].status != WS_OK)
			continue;
		blocks[i].kernel = block.grid_index < build->counts.grids
					   ? build->kernel_of_grid[block.grid_index]
					   : WS_NONE;
		blocks[i].idx = block.idx;
	}
	map->blocks = blocks;
	map->n_blocks = build->counts.blocks;
	return WS_OK;
}

enum ws_status wsi_report_map_start(struct wsi_build *build)
{
	uint32_t n = build->counts.warps;
	build->map_warps = wsi_arena_zalloc_array(build->arena, n, sizeof *build->map_warps);
	if (!build->map_warps)
		return WS_NO_MEMORY;
	build->report->map.warps = build->map_warps;
	build->report->map.n_warps = n;
	enum ws_status st = map_sms(build);
	return st == WS_OK ? map_blocks(build) : st;
}

enum ws_status wsi_report_map_finish(struct wsi_build *build)
{
	uint32_t *final = wsi_zalloc_array(build->n_groups, sizeof *final);
	if (!final)
		return WS_NO_MEMORY;
	for (uint32_t i = 0; i < build->n_groups; i++)
		final[build->groups[i].found] = i;
	for (uint32_t i = 0; i < build->counts.warps; i++) {
		uint32_t *group = &build->map_warps[i].group;
		if (build->map_warps[i].known && *group != WS_NONE)
			*group = final[*group];
	}
	wsi_free(final);
	return WS_OK;
}
