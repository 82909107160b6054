/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread pages name. An exception is carried by all lanes of a warp, or shared by its active
 * ones; the access of the instruction clears some of them. The first that is left is the thread
 * that the headline, the registers and the pictures show. cuda-gdb's focus, the first lane of all,
 * is kept beside it in `at`.
 */
#include "explain/explain.h"

/* Lanes that the accesses of the instruction do not clear. With several accesses of which one is
 * wrong, that one decides. */
static uint32_t not_cleared(const struct ws_report_exception *e)
{
	uint32_t suspects = 0;
	if (e->n_accesses == 0 || e->accesses[0].found.confidence != WS_CONFIDENCE_CERTAIN)
		return UINT32_MAX; /* another instruction may have failed */
	for (uint32_t i = 0; i < e->n_accesses; i++) {
		if (i == 0 || e->accesses[i].wrong || !e->accesses[0].wrong)
			suspects |= e->accesses[i].suspects;
	}
	return suspects;
}

static struct ws_report_thread thread_of(const struct wsi_scene *scene, uint32_t lane)
{
	struct ws_report_thread thread = scene->e->at;
	thread.lane = lane;
	thread.thread = scene->lane[lane].thread;
	return thread;
}

static bool stands_out(const struct ws_report_exception *e, uint32_t lane)
{
	const struct ws_report_access *access = e->n_accesses ? &e->accesses[0] : NULL;
	if (e->n_suspects == 1)
		return true;
	return access && access->lane == lane &&
	       access->found.confidence == WS_CONFIDENCE_CERTAIN &&
	       access->wrong & (access->lanes_known | access->lanes_likely) & 1u << lane;
}

enum ws_status wsi_suspects(struct wsi_scene *scene)
{
	struct ws_report_exception *e = scene->e;
	uint32_t blamed = e->lanes_blamed & scene->lanes, first = WS_NONE, last = WS_NONE;
	if (e->blame == WS_BLAME_NOBODY || e->blame == WS_BLAME_TRAP || !blamed)
		return WS_OK;
	uint32_t lanes = blamed & not_cleared(e);
	if (lanes)
		e->lanes_suspect = lanes;
	e->n_suspects -= wsi_count_bits(blamed & ~e->lanes_suspect);
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (!(e->lanes_suspect >> lane & 1))
			continue;
		first = first == WS_NONE ? lane : first;
		last = lane;
	}
	uint32_t told = e->n_accesses ? e->accesses[0].lane : WS_NONE;
	if (told == WS_NONE || !(e->lanes_suspect >> told & 1))
		told = first;
	e->suspect = thread_of(scene, told);
	e->first_suspect = thread_of(scene, first);
	e->last_suspect = thread_of(scene, last);
	e->suspect_stands_out = stands_out(e, told);
	return WS_OK;
}
