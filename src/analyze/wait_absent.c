/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is missing at a barrier of a block: the threads of the block that stand elsewhere, and those
 * that no resident warp holds any more. At a convergence barrier: the lanes of the warp that it
 * names and that stand elsewhere.
 */
#include "analyze/wait.h"

static const struct ws_report_group *group_of_part(const struct wsi_waits *w,
						   const struct wsi_part *part)
{
	return part->group < w->build->n_groups ? &w->build->groups[part->group].g : NULL;
}

struct absentees {
	struct ws_report_absentee list[WSI_MAX_ABSENTEES];
	uint32_t n;
};

static enum ws_absentee_state absentee_state(const struct wsi_waits *w, const struct wsi_part *part)
{
	const struct ws_report_group *group = group_of_part(w, part);
	if (part->wait != WS_NONE)
		return WS_ABSENTEE_WAITS;
	if (group && group->state == WS_THREAD_FAULTED)
		return WS_ABSENTEE_FAULTED;
	if (group && group->state == WS_THREAD_TRAPPED)
		return WS_ABSENTEE_TRAPPED;
	return WS_ABSENTEE_RUNS;
}

static void add_absentee(struct ws_report_wait *wait, struct absentees *list,
			 struct ws_report_absentee one)
{
	uint32_t at = 0;
	while (at < list->n &&
	       (list->list[at].state != one.state || list->list[at].group != one.group ||
		list->list[at].wait != one.wait))
		at++;
	wait->n_missing += one.n_lanes;
	if (one.state == WS_ABSENTEE_EXITED || one.state == WS_ABSENTEE_FAULTED)
		wait->n_never += one.n_lanes;
	if (at == WSI_MAX_ABSENTEES)
		at--;
	if (at == list->n) {
		list->list[list->n++] = one;
	} else {
		list->list[at].n_lanes += one.n_lanes;
		list->list[at].n_warps += one.n_warps;
	}
}

static void add_absent_part(struct wsi_waits *w, uint32_t wait, struct absentees *list,
			    const struct wsi_part *part, uint32_t lanes)
{
	struct wsi_part some = *part;
	some.lanes = lanes;
	struct ws_report_absentee one = { .state = absentee_state(w, part),
					  .n_lanes = wsi_count_lanes(lanes),
					  .n_warps = 1,
					  .example = wsi_part_thread(w, &some),
					  .group = part->group < w->build->n_groups ? part->group
										    : WS_NONE,
					  .wait = part->wait };
	add_absentee(&w->list[wait], list, one);
}

/* Threads of a block that no resident warp holds. */
static void add_exited(struct wsi_waits *w, const struct wsi_part *first, uint64_t resident,
		       uint64_t expected, struct absentees *list)
{
	bool complete = w->build->report->dump_status != WS_OK || w->build->report->dump.complete;
	struct ws_report_thread at = { .device = WS_NONE,
				       .sm = WS_NONE,
				       .warp = WS_NONE,
				       .lane = WS_NONE,
				       .warp_index = WS_NONE,
				       .block_status = WS_ABSENT };
	if (resident >= expected)
		return;
	if (first->block < w->build->report->map.n_blocks &&
	    w->build->report->map.blocks[first->block].status == WS_OK) {
		at.block_status = WS_OK;
		at.block = w->build->report->map.blocks[first->block].idx;
	}
	struct ws_report_absentee one = {
		.state = complete ? WS_ABSENTEE_EXITED : WS_ABSENTEE_UNKNOWN,
		.n_lanes = expected - resident,
		.n_warps = (expected - resident + WS_MAX_LANES - 1) / WS_MAX_LANES,
		.example = at,
		.group = WS_NONE,
		.wait = WS_NONE,
	};
	add_absentee(&w->list[first->wait], list, one);
}

/* Threads of a block, or 0. */
static uint64_t block_threads(const struct wsi_waits *w, uint32_t kernel)
{
	if (kernel >= w->build->report->n_kernels || w->build->kernels[kernel].grid_status != WS_OK)
		return 0;
	const struct ws_dim3 *dim = &w->build->kernels[kernel].grid.block_dim;
	uint64_t n = (uint64_t)dim->x * dim->y;
	return n && dim->z <= UINT32_MAX / n ? n * dim->z : 0;
}

/* One barrier of one block: parts `from` to before `to` are the block's. */
static void check_barrier(struct wsi_waits *w, size_t from, size_t to, size_t asked,
			  struct absentees *lists)
{
	const struct wsi_part *first = &w->parts[asked];
	const struct ws_report_wait *wait = &w->list[first->wait];
	uint64_t resident = 0, arrived = 0;
	uint64_t expected = block_threads(w, wait->kernel);
	for (size_t i = from; i < to; i++) {
		const struct wsi_part *part = &w->parts[i];
		bool here = part->wait != WS_NONE && w->list[part->wait].kind == WS_WAIT_BARRIER &&
			    part->barrier == first->barrier;
		resident += wsi_count_lanes(part->lanes);
		arrived += here ? wsi_count_lanes(part->lanes) : 0;
	}
	if (wait->expected && arrived >= wait->expected)
		return;
	for (size_t i = from; i < to; i++) {
		const struct wsi_part *part = &w->parts[i];
		bool here = part->wait != WS_NONE && w->list[part->wait].kind == WS_WAIT_BARRIER &&
			    part->barrier == first->barrier;
		if (!here)
			add_absent_part(w, first->wait, &lists[first->wait], part, part->lanes);
	}
	add_exited(w, first, resident, expected, &lists[first->wait]);
}

/* Every wait at a barrier in a block, once for each. `checked`: by wait, the last block. */
static void check_block(struct wsi_waits *w, size_t from, size_t to, struct absentees *lists,
			size_t *checked)
{
	for (size_t i = from; i < to; i++) {
		const struct wsi_part *part = &w->parts[i];
		if (part->wait == WS_NONE || w->list[part->wait].kind != WS_WAIT_BARRIER ||
		    part->barrier == WS_NONE || checked[part->wait] == from + 1)
			continue;
		checked[part->wait] = from + 1;
		check_barrier(w, from, to, i, lists);
	}
}

/* Lanes of a warp that others of it wait for: parts `from` to before `to` are the warp's. */
static void check_warp(struct wsi_waits *w, size_t from, size_t to, struct absentees *lists)
{
	for (size_t i = from; i < to; i++) {
		const struct wsi_part *part = &w->parts[i];
		if (part->wait == WS_NONE || w->list[part->wait].kind != WS_WAIT_CONVERGENCE)
			continue;
		for (size_t k = from; k < to; k++) {
			uint32_t missing = w->parts[k].lanes & part->mask;
			if (k != i && missing && w->parts[k].wait != part->wait)
				add_absent_part(w, part->wait, &lists[part->wait], &w->parts[k],
						missing);
		}
	}
}

/* The end of the parts of one block, or of one warp. */
static size_t run_end(const struct wsi_waits *w, size_t from, bool by_block)
{
	const struct wsi_part *first = &w->parts[from];
	size_t to = from + 1;
	while (to < w->n_parts &&
	       (by_block ? w->parts[to].block == first->block : w->parts[to].warp == first->warp))
		to++;
	return to;
}

static int compare_absentees(const void *left, const void *right)
{
	const struct ws_report_absentee *a = left, *b = right;
	if (a->state != b->state)
		return a->state < b->state ? -1 : 1;
	if (a->n_lanes != b->n_lanes)
		return a->n_lanes > b->n_lanes ? -1 : 1;
	return a->group < b->group ? -1 : a->group > b->group;
}

static enum ws_status keep_lists(struct wsi_waits *w, struct absentees *lists)
{
	for (size_t i = 0; i < w->n_list; i++) {
		struct ws_report_absentee *kept =
			wsi_arena_zalloc_array(w->build->arena, lists[i].n, sizeof *kept);
		if (!kept)
			return WS_NO_MEMORY;
		if (lists[i].n)
			qsort(lists[i].list, lists[i].n, sizeof *lists[i].list, compare_absentees);
		memcpy(kept, lists[i].list, lists[i].n * sizeof *kept);
		w->list[i].absentees = kept;
		w->list[i].n_absentees = lists[i].n;
	}
	return WS_OK;
}

enum ws_status wsi_wait_absentees(struct wsi_waits *w)
{
	struct absentees *lists = wsi_zalloc_array(w->n_list, sizeof *lists);
	size_t *checked = wsi_zalloc_array(w->n_list, sizeof *checked);
	enum ws_status st = lists && checked ? WS_OK : WS_NO_MEMORY;
	for (size_t from = 0, to; from < w->n_parts && st == WS_OK; from = to) {
		to = run_end(w, from, true);
		if (w->parts[from].block != WS_NONE)
			check_block(w, from, to, lists, checked);
	}
	for (size_t from = 0, to; from < w->n_parts && st == WS_OK; from = to) {
		to = run_end(w, from, false);
		check_warp(w, from, to, lists);
	}
	if (st == WS_OK)
		st = keep_lists(w, lists);
	wsi_free(lists);
	wsi_free(checked);
	return st;
}
