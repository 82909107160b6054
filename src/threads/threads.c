/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a target: the focus in numbers, and the walk over warps. */
#include "threads/threads.h"

#include "base/base.h"

static void coords_number(struct ws_coords *coords, enum ws_filter_word word, int64_t number)
{
	coords->known[word] = true;
	coords->number[word][0] = number;
}

static void coords_dim3(struct ws_coords *coords, enum ws_filter_word word, struct ws_dim3 dim)
{
	coords->known[word] = true;
	coords->number[word][0] = dim.x;
	coords->number[word][1] = dim.y;
	coords->number[word][2] = dim.z;
}

bool wsi_threads_has_clusters(const struct ws_threads *threads, const struct ws_block *block)
{
	if (!(block->have & WS_BLOCK_CLUSTER_IDX))
		return false;
	if (block->have & WS_BLOCK_CLUSTER_DIM)
		return block->cluster_dim.x != 0;
	return block->grid_index < threads->counts.grids &&
	       threads->grids[block->grid_index].cluster_dim.x != 0;
}

/* The numbers of the focus, each as far as it can be read. */
static void coords_of_focus(struct ws_threads *threads)
{
	const struct ws_focus *focus = &threads->focus;
	struct ws_sm sm;
	struct ws_warp warp;
	struct ws_block block;
	struct ws_lane lane;
	struct ws_coords *at = &threads->at;
	coords_number(at, WS_FILTER_device, threads->devices[focus->device_index].id);
	coords_number(at, WS_FILTER_lane, focus->lane);
	if (ws_target_sm(threads->target, focus->sm_index, &sm, NULL) == WS_OK)
		coords_number(at, WS_FILTER_sm, sm.id);
	if (ws_target_warp(threads->target, focus->warp_index, &warp, NULL) == WS_OK)
		coords_number(at, WS_FILTER_warp, warp.id);
	if (focus->grid_index != WS_NONE)
		coords_number(at, WS_FILTER_kernel, wsi_threads_kernel(threads, focus->grid_index));
	if (ws_target_block(threads->target, focus->block_index, &block, NULL) == WS_OK) {
		coords_number(at, WS_FILTER_grid, block.grid_id);
		coords_dim3(at, WS_FILTER_block, block.idx);
		if (wsi_threads_has_clusters(threads, &block))
			coords_dim3(at, WS_FILTER_cluster, block.cluster_idx);
	}
	if (ws_target_lane(threads->target, focus->warp_index, focus->lane, &lane, NULL) == WS_OK)
		coords_dim3(at, WS_FILTER_thread, lane.thread);
}

void ws_threads_focus_on(struct ws_threads *threads, const struct ws_focus *focus)
{
	threads->focus = *focus;
	threads->have_focus = true;
	memset(&threads->at, 0, sizeof threads->at);
	coords_of_focus(threads);
}

enum ws_status ws_threads_init(struct ws_threads *threads, const struct ws_target *target,
			       const struct ws_focus *focus, struct ws_error *err)
{
	memset(threads, 0, sizeof *threads);
	threads->target = target;
	ws_target_counts(target, &threads->counts);
	const struct ws_counts *counts = &threads->counts;
	threads->devices = wsi_zalloc_array((size_t)counts->devices + 1, sizeof *threads->devices);
	threads->grids = wsi_zalloc_array((size_t)counts->grids + 1, sizeof *threads->grids);
	threads->kernel_ids =
		wsi_zalloc_array((size_t)counts->grids + 1, sizeof *threads->kernel_ids);
	if (!threads->devices || !threads->grids || !threads->kernel_ids) {
		ws_threads_fini(threads);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "no memory for the rows");
	}
	for (uint32_t i = 0; i < counts->devices; i++) {
		if (ws_target_device(target, i, &threads->devices[i], NULL) != WS_OK)
			memset(&threads->devices[i], 0, sizeof threads->devices[i]);
	}
	for (uint32_t i = 0; i < counts->grids; i++) {
		if (ws_target_grid(target, i, &threads->grids[i], NULL) != WS_OK)
			memset(&threads->grids[i], 0, sizeof threads->grids[i]);
	}
	/* kernels keep their numbers whichever thread is looked at */
	struct ws_focus first = { .lane = 0 };
	const bool have_first = ws_focus_find(target, &first, NULL) == WS_OK;
	ws_focus_kernel_ids(target, have_first ? &first : NULL, threads->kernel_ids);
	threads->have_focus = focus || have_first;
	threads->focus = focus ? *focus : first;
	if (threads->have_focus)
		coords_of_focus(threads);
	return WS_OK;
}

void ws_threads_fini(struct ws_threads *threads)
{
	wsi_free(threads->devices);
	wsi_free(threads->grids);
	wsi_free(threads->kernel_ids);
	memset(threads, 0, sizeof *threads);
}

uint32_t wsi_threads_kernel(const struct ws_threads *threads, uint32_t grid_index)
{
	return grid_index < threads->counts.grids ? threads->kernel_ids[grid_index] : WS_NONE;
}

/* ---- showing the focus ---- */

/* cuda-gdb's order of a focus line. */
static const struct {
	enum ws_filter_word word;
	const char *name, *key;
	bool triple;
} focus_line[] = {
	{ WS_FILTER_kernel, "kernel", "kernel", false },
	{ WS_FILTER_grid, "grid", "grid", false },
	{ WS_FILTER_cluster, "cluster", "clusterIdx", true },
	{ WS_FILTER_block, "block", "blockIdx", true },
	{ WS_FILTER_thread, "thread", "threadIdx", true },
	{ WS_FILTER_device, "device", "device", false },
	{ WS_FILTER_sm, "sm", "sm", false },
	{ WS_FILTER_warp, "warp", "warp", false },
	{ WS_FILTER_lane, "lane", "lane", false },
};

enum { N_FOCUS_LINE = sizeof focus_line / sizeof focus_line[0] };

void ws_threads_focus_json(const struct ws_threads *threads, struct ws_json *json)
{
	if (!threads->have_focus) {
		ws_json_null(json);
		return;
	}
	ws_json_object(json);
	for (size_t i = 0; i < N_FOCUS_LINE; i++) {
		enum ws_filter_word word = focus_line[i].word;
		const int64_t *number = threads->at.number[word];
		if (!ws_json_key_or_null(json, focus_line[i].key, threads->at.known[word]))
			continue;
		if (focus_line[i].triple)
			ws_json_dim3(json,
				     (struct ws_dim3){ (uint32_t)number[0], (uint32_t)number[1],
						       (uint32_t)number[2] });
		else
			ws_json_i64(json, number[0]);
	}
	ws_json_end(json);
}

void ws_threads_focus_text(const struct ws_threads *threads, struct ws_out *out)
{
	const char *separator = "";
	for (size_t i = 0; i < N_FOCUS_LINE; i++) {
		enum ws_filter_word word = focus_line[i].word;
		const int64_t *number = threads->at.number[word];
		if (!threads->at.known[word])
			continue;
		ws_out_printf(out, "%s%s ", separator, focus_line[i].name);
		if (focus_line[i].triple)
			ws_out_printf(out, "(%lld,%lld,%lld)", (long long)number[0],
				      (long long)number[1], (long long)number[2]);
		else
			ws_out_printf(out, "%lld", (long long)number[0]);
		separator = ", ";
	}
}

/* ---- walking ---- */

static bool wants_lanes(const struct ws_filter *filter)
{
	return ws_filter_limits(filter, WS_FILTER_lane) ||
	       ws_filter_limits(filter, WS_FILTER_thread);
}

/* Reads the warp's lanes and keeps those that match. */
static bool place_lanes(const struct ws_threads *threads, const struct ws_filter *filter,
			struct ws_resident *place)
{
	uint32_t n = 0, kept = 0;
	place->lanes_status =
		ws_target_lanes(threads->target, place->warp_index, place->lanes, &n, NULL);
	if (place->lanes_status != WS_OK)
		return !wants_lanes(filter);
	if (!wants_lanes(filter)) {
		place->n_lanes = n;
		place->all_lanes = true;
		return true;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (ws_filter_number(filter, WS_FILTER_lane, place->lanes[i].id) &&
		    ws_filter_dim3(filter, WS_FILTER_thread, place->lanes[i].thread))
			place->lanes[kept++] = place->lanes[i];
	}
	place->n_lanes = kept;
	place->all_lanes = kept == n;
	return kept > 0;
}

static bool block_matches(const struct ws_threads *threads, const struct ws_filter *filter,
			  const struct ws_resident *place)
{
	bool asked = ws_filter_limits(filter, WS_FILTER_kernel) ||
		     ws_filter_limits(filter, WS_FILTER_grid) ||
		     ws_filter_limits(filter, WS_FILTER_block) ||
		     ws_filter_limits(filter, WS_FILTER_cluster);
	if (!asked || place->block_status != WS_OK)
		return !asked;
	int64_t kernel = place->kernel == WS_NONE ? -1 : (int64_t)place->kernel;
	bool has_cluster = wsi_threads_has_clusters(threads, &place->block);
	return ws_filter_number(filter, WS_FILTER_kernel, kernel) &&
	       ws_filter_number(filter, WS_FILTER_grid, place->block.grid_id) &&
	       ws_filter_dim3(filter, WS_FILTER_block, place->block.idx) &&
	       (!ws_filter_limits(filter, WS_FILTER_cluster) ||
		(has_cluster &&
		 ws_filter_dim3(filter, WS_FILTER_cluster, place->block.cluster_idx)));
}

/* The part of a place below its SM. */
static bool place_warp(const struct ws_threads *threads, const struct ws_filter *filter,
		       enum ws_walk what, uint32_t warp_index, struct ws_resident *place)
{
	place->warp_index = warp_index;
	if (ws_target_warp(threads->target, warp_index, &place->warp, NULL) != WS_OK ||
	    !ws_filter_number(filter, WS_FILTER_warp, place->warp.id))
		return false;
	place->block_status =
		ws_target_block(threads->target, place->warp.block_index, &place->block, NULL);
	if (place->block_status != WS_OK)
		memset(&place->block, 0, sizeof place->block);
	uint32_t grid = place->block_status == WS_OK ? place->block.grid_index : WS_NONE;
	place->kernel = wsi_threads_kernel(threads, grid);
	place->grid = grid < threads->counts.grids ? &threads->grids[grid] : NULL;
	if (!block_matches(threads, filter, place))
		return false;
	place->n_lanes = 0;
	place->all_lanes = false;
	place->lanes_status = WS_OK;
	return (what == WS_WALK_WARPS && !wants_lanes(filter)) ||
	       place_lanes(threads, filter, place);
}

static bool place_sm(const struct ws_threads *threads, const struct ws_filter *filter,
		     uint32_t sm_index, struct ws_resident *place)
{
	place->sm_index = sm_index;
	if (ws_target_sm(threads->target, sm_index, &place->sm, NULL) != WS_OK ||
	    place->sm.device_index >= threads->counts.devices)
		return false;
	place->device = &threads->devices[place->sm.device_index];
	return ws_filter_number(filter, WS_FILTER_device, place->device->id) &&
	       ws_filter_number(filter, WS_FILTER_sm, place->sm.id);
}

void ws_threads_walk(const struct ws_threads *threads, const struct ws_filter *filter,
		     enum ws_walk what, ws_threads_visit *visit, void *user)
{
	struct ws_resident place;
	for (uint32_t s = 0; s < threads->counts.sms; s++) {
		if (!place_sm(threads, filter, s, &place))
			continue;
		for (uint32_t w = 0; w < place.sm.n_warps; w++) {
			if (place_warp(threads, filter, what, place.sm.first_warp_index + w,
				       &place))
				visit(user, &place);
		}
	}
}

struct first_thread {
	bool found;
	struct ws_focus focus;
};

/* A `ws_threads_visit`. */
static void take_first_thread(void *user, const struct ws_resident *place)
{
	struct first_thread *first = user;
	if (first->found || place->n_lanes == 0)
		return;
	first->found = true;
	first->focus = ws_resident_focus(place, &place->lanes[0]);
}

struct ws_focus ws_resident_focus(const struct ws_resident *place, const struct ws_lane *lane)
{
	return (struct ws_focus){
		.device_index = place->warp.device_index,
		.sm_index = place->sm_index,
		.warp_index = place->warp_index,
		.block_index = place->warp.block_index,
		.grid_index = place->block_status == WS_OK ? place->block.grid_index : WS_NONE,
		.lane = lane->id,
	};
}

bool ws_threads_first(const struct ws_threads *threads, const struct ws_filter *filter,
		      struct ws_focus *ret_focus)
{
	struct first_thread first = { .found = false };
	ws_threads_walk(threads, filter, WS_WALK_LANES, take_first_thread, &first);
	if (first.found)
		*ret_focus = first.focus;
	return first.found;
}

/* ---- the nearest thread ---- */

enum { DISTANCES = 2 + 3 * WS_FILTER_N_WORDS, N_HARDWARE = 4 };

static const enum ws_filter_word hardware_words[N_HARDWARE] = { WS_FILTER_device, WS_FILTER_sm,
								WS_FILTER_warp, WS_FILTER_lane };
static const enum ws_filter_word launch_words[] = { WS_FILTER_block, WS_FILTER_thread };

struct nearest {
	const struct ws_threads *threads;
	const enum ws_filter_word *words; /* by which threads are compared, the first decides */
	size_t n_words;
	bool keeps_kernel, keeps_block; /* one of the same is nearer than any other */
	bool found;
	uint64_t distance[DISTANCES];
	struct ws_focus focus;
};

static void coords_of_lane(struct ws_coords *coords, const struct ws_resident *place,
			   const struct ws_lane *lane)
{
	coords_number(coords, WS_FILTER_device, place->device->id);
	coords_number(coords, WS_FILTER_sm, place->sm.id);
	coords_number(coords, WS_FILTER_warp, place->warp.id);
	coords_number(coords, WS_FILTER_lane, lane->id);
	coords_dim3(coords, WS_FILTER_block, place->block.idx);
	coords_dim3(coords, WS_FILTER_thread, lane->thread);
}

/* Takes a lane if it is nearer than the one that was found before. */
static void take_nearer(struct nearest *nearest, const struct ws_resident *place,
			const struct ws_lane *lane)
{
	const struct ws_focus *now = &nearest->threads->focus,
			      lane_focus = ws_resident_focus(place, lane);
	uint64_t distance[DISTANCES] = { 0 };
	struct ws_coords to = { .known = { false } };
	size_t n = 0, i = 0;
	coords_of_lane(&to, place, lane);
	distance[n++] = nearest->keeps_kernel && lane_focus.grid_index != now->grid_index;
	distance[n++] = nearest->keeps_block && lane_focus.block_index != now->block_index;
	for (size_t word = 0; word < nearest->n_words; word++) {
		const int64_t *a = nearest->threads->at.number[nearest->words[word]];
		const int64_t *b = to.number[nearest->words[word]];
		for (size_t axis = 0; axis < 3; axis++)
			distance[n++] = (uint64_t)(a[axis] > b[axis] ? a[axis] - b[axis]
								     : b[axis] - a[axis]);
	}
	while (i < n && distance[i] == nearest->distance[i])
		i++;
	if (nearest->found && (i == n || distance[i] > nearest->distance[i]))
		return;
	nearest->found = true;
	memcpy(nearest->distance, distance, sizeof distance);
	nearest->focus = lane_focus;
}

/* A `ws_threads_visit`. */
static void take_nearest(void *user, const struct ws_resident *place)
{
	for (uint32_t i = 0; i < place->n_lanes; i++)
		take_nearer(user, place, &place->lanes[i]);
}

/* A word alone is looked for only in what the focus is within. */
static void stay_within(const struct ws_threads *threads, struct ws_filter *filter)
{
	static const enum ws_filter_word within[][2] = {
		{ WS_FILTER_thread, WS_FILTER_block }, { WS_FILTER_block, WS_FILTER_grid },
		{ WS_FILTER_lane, WS_FILTER_warp },    { WS_FILTER_warp, WS_FILTER_sm },
		{ WS_FILTER_sm, WS_FILTER_device },
	};
	int n = 0;
	for (int word = 0; word < WS_FILTER_N_WORDS; word++)
		n += ws_filter_limits(filter, (enum ws_filter_word)word);
	for (size_t i = 0; n == 1 && i < sizeof within / sizeof within[0]; i++)
		if (ws_filter_limits(filter, within[i][0]))
			ws_filter_current(filter, &threads->at, within[i][1]);
}

bool ws_threads_nearest(const struct ws_threads *threads, const struct ws_filter *given,
			struct ws_focus *ret_focus)
{
	struct ws_filter filter = *given;
	struct nearest nearest = { .threads = threads,
				   .words = launch_words,
				   .n_words = sizeof launch_words / sizeof launch_words[0] };
	for (size_t i = 0; i < N_HARDWARE; i++) {
		if (ws_filter_limits(given, hardware_words[i])) {
			nearest.words = hardware_words;
			nearest.n_words = N_HARDWARE;
		}
	}
	nearest.keeps_kernel = threads->have_focus && !ws_filter_limits(given, WS_FILTER_device);
	nearest.keeps_block = nearest.keeps_kernel && !ws_filter_limits(given, WS_FILTER_sm);
	if (threads->have_focus)
		stay_within(threads, &filter);
	ws_threads_walk(threads, &filter, WS_WALK_LANES, take_nearest, &nearest);
	if (nearest.found)
		*ret_focus = nearest.focus;
	return nearest.found;
}

bool ws_threads_resident(const struct ws_threads *threads, const struct ws_filter *filter,
			 enum ws_walk what, uint32_t warp_index, struct ws_resident *ret_place)
{
	struct ws_warp warp;
	return ws_target_warp(threads->target, warp_index, &warp, NULL) == WS_OK &&
	       place_sm(threads, filter, warp.sm_index, ret_place) &&
	       place_warp(threads, filter, what, warp_index, ret_place);
}

bool ws_threads_has_focus(const struct ws_threads *threads, const struct ws_resident *place)
{
	return threads->have_focus && threads->focus.warp_index == place->warp_index;
}

void ws_resident_json(const struct ws_resident *place, const struct ws_lane *lane,
		      struct ws_json *json)
{
	ws_json_key_u64(json, "device", place->device->id);
	ws_json_key_u64(json, "sm", place->sm.id);
	ws_json_key_u64(json, "warp", place->warp.id);
	ws_json_key_u64(json, "lane", lane->id);
	if (ws_json_key_given(json, "kernel", place->kernel != WS_NONE ? WS_OK : WS_ABSENT))
		ws_json_u64(json, place->kernel);
	if (ws_json_key_given(json, "blockIdx", place->block_status))
		ws_json_dim3(json, place->block.idx);
	ws_json_key_dim3(json, "threadIdx", lane->thread);
	ws_json_key_hex(json, "pc", lane->pc);
}
