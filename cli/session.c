/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

static void coords_number(struct coords *coords, enum filter_word word, int64_t number)
{
	coords->known[word] = true;
	coords->number[word][0] = number;
}

static void coords_dim3(struct coords *coords, enum filter_word word, struct ws_dim3 dim)
{
	coords->known[word] = true;
	coords->number[word][0] = dim.x;
	coords->number[word][1] = dim.y;
	coords->number[word][2] = dim.z;
}

bool session_has_clusters(const struct session *session, const struct ws_block *block)
{
	if (!(block->have & WS_BLOCK_CLUSTER_IDX))
		return false;
	if (block->have & WS_BLOCK_CLUSTER_DIM)
		return block->cluster_dim.x != 0;
	return block->grid_index < session->counts.grids &&
	       session->grids[block->grid_index].cluster_dim.x != 0;
}

/* The numbers of the focus, each as far as it can be read. */
static void coords_of_focus(struct session *session)
{
	const struct ws_focus *focus = &session->focus;
	struct ws_sm sm;
	struct ws_warp warp;
	struct ws_block block;
	struct ws_lane lane;
	struct coords *at = &session->at;
	coords_number(at, FILTER_device, session->devices[focus->device_index].id);
	coords_number(at, FILTER_lane, focus->lane);
	if (ws_target_sm(session->target, focus->sm_index, &sm, NULL) == WS_OK)
		coords_number(at, FILTER_sm, sm.id);
	if (ws_target_warp(session->target, focus->warp_index, &warp, NULL) == WS_OK)
		coords_number(at, FILTER_warp, warp.id);
	if (focus->grid_index != WS_NONE)
		coords_number(at, FILTER_kernel, session_kernel(session, focus->grid_index));
	if (ws_target_block(session->target, focus->block_index, &block, NULL) == WS_OK) {
		coords_number(at, FILTER_grid, block.grid_id);
		coords_dim3(at, FILTER_block, block.idx);
		if (session_has_clusters(session, &block))
			coords_dim3(at, FILTER_cluster, block.cluster_idx);
	}
	if (ws_target_lane(session->target, focus->warp_index, focus->lane, &lane, NULL) == WS_OK)
		coords_dim3(at, FILTER_thread, lane.thread);
}

void session_focus_on(struct session *session, const struct ws_focus *focus)
{
	session->focus = *focus;
	session->have_focus = true;
	memset(&session->at, 0, sizeof session->at);
	coords_of_focus(session);
}

int session_open(struct session *session, struct cli *cli, const char *path)
{
	memset(session, 0, sizeof *session);
	session->cli = cli;
	session->path = path;
	int status = cli_target_open(cli, path, &session->target);
	if (status != CLI_ANSWERED)
		return status;
	ws_target_counts(session->target, &session->counts);
	const struct ws_counts *counts = &session->counts;
	session->devices = cli_alloc(counts->devices, sizeof *session->devices);
	session->grids = cli_alloc(counts->grids, sizeof *session->grids);
	session->kernel_ids = cli_alloc(counts->grids, sizeof *session->kernel_ids);
	for (uint32_t i = 0; i < counts->devices; i++) {
		if (ws_target_device(session->target, i, &session->devices[i], NULL) != WS_OK)
			memset(&session->devices[i], 0, sizeof session->devices[i]);
	}
	for (uint32_t i = 0; i < counts->grids; i++) {
		if (ws_target_grid(session->target, i, &session->grids[i], NULL) != WS_OK)
			memset(&session->grids[i], 0, sizeof session->grids[i]);
	}
	/* kernels keep their numbers whichever thread is looked at */
	struct ws_focus first = { .lane = 0 };
	const bool have_first = ws_focus_find(session->target, &first, NULL) == WS_OK;
	ws_focus_kernel_ids(session->target, have_first ? &first : NULL, session->kernel_ids);
	session->have_focus = cli->focus || have_first;
	session->focus = cli->focus ? *cli->focus : first;
	if (session->have_focus)
		coords_of_focus(session);
	return CLI_ANSWERED;
}

void session_close(struct session *session)
{
	cli_target_close(session->cli, session->target);
	free(session->devices);
	free(session->grids);
	free(session->kernel_ids);
	memset(session, 0, sizeof *session);
}

const struct coords *session_coords(const struct session *session)
{
	return session->have_focus ? &session->at : NULL;
}

uint32_t session_kernel(const struct session *session, uint32_t grid_index)
{
	return grid_index < session->counts.grids ? session->kernel_ids[grid_index] : WS_NONE;
}

bool session_suspect(const struct session *session, struct ws_report_thread *ret_thread)
{
	if (session->cli->focus) /* the user has chosen */
		return false;
	struct ws_report_options options = { .size = sizeof options, .no_source = true };
	const struct ws_report *report;
	struct ws_error err;
	if (ws_report_create(session->target, &options, &report, &err) != WS_OK) {
		cli_warn("%s: %s", session->path, err.message);
		return false;
	}
	bool found = report->focus && report->focus->suspect.lane != WS_NONE;
	if (found)
		*ret_thread = report->focus->suspect;
	else if (session->have_focus)
		cli_warn("%s: no thread is left that can be guilty; showing cuda-gdb's focus",
			 session->path);
	ws_report_destroy(report);
	return found;
}

void session_limit_to_suspect(const struct session *session, struct filter *filter)
{
	static const enum filter_word words[] = { FILTER_device, FILTER_sm, FILTER_warp,
						  FILTER_lane };
	struct ws_report_thread at = { .lane = WS_NONE };
	bool found = session_suspect(session, &at);
	const uint32_t numbers[] = { at.device, at.sm, at.warp, at.lane };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (!found) {
			filter_current(filter, session_coords(session), words[i]);
			continue;
		}
		filter->word[words[i]].limited[0] = true;
		filter->word[words[i]].number[0] = numbers[i];
	}
}

/* ---- showing the focus ---- */

/* cuda-gdb's order of a focus line. */
static const struct {
	enum filter_word word;
	const char *name, *key;
	bool triple;
} focus_line[] = {
	{ FILTER_kernel, "kernel", "kernel", false },
	{ FILTER_grid, "grid", "grid", false },
	{ FILTER_cluster, "cluster", "clusterIdx", true },
	{ FILTER_block, "block", "blockIdx", true },
	{ FILTER_thread, "thread", "threadIdx", true },
	{ FILTER_device, "device", "device", false },
	{ FILTER_sm, "sm", "sm", false },
	{ FILTER_warp, "warp", "warp", false },
	{ FILTER_lane, "lane", "lane", false },
};

enum { N_FOCUS_LINE = sizeof focus_line / sizeof focus_line[0] };

void session_json_focus(const struct session *session, struct ws_json *json)
{
	if (!session->have_focus) {
		ws_json_null(json);
		return;
	}
	ws_json_object(json);
	for (size_t i = 0; i < N_FOCUS_LINE; i++) {
		enum filter_word word = focus_line[i].word;
		const int64_t *number = session->at.number[word];
		ws_json_key(json, focus_line[i].key);
		if (!session->at.known[word])
			ws_json_null(json);
		else if (focus_line[i].triple)
			ws_json_dim3(json,
				     (struct ws_dim3){ (uint32_t)number[0], (uint32_t)number[1],
						       (uint32_t)number[2] });
		else
			ws_json_i64(json, number[0]);
	}
	ws_json_end(json);
}

void session_print_focus(const struct session *session, struct ws_out *out)
{
	const char *separator = "";
	for (size_t i = 0; i < N_FOCUS_LINE; i++) {
		enum filter_word word = focus_line[i].word;
		const int64_t *number = session->at.number[word];
		if (!session->at.known[word])
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

static bool wants_lanes(const struct filter *filter)
{
	return filter_limits(filter, FILTER_lane) || filter_limits(filter, FILTER_thread);
}

/* Reads the warp's lanes and keeps those that match. */
static bool place_lanes(const struct session *session, const struct filter *filter,
			struct place *place)
{
	uint32_t n = 0, kept = 0;
	place->lanes_status =
		ws_target_lanes(session->target, place->warp_index, place->lanes, &n, NULL);
	if (place->lanes_status != WS_OK)
		return !wants_lanes(filter);
	if (!wants_lanes(filter)) {
		place->n_lanes = n;
		return true;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (filter_number(filter, FILTER_lane, place->lanes[i].id) &&
		    filter_dim3(filter, FILTER_thread, place->lanes[i].thread))
			place->lanes[kept++] = place->lanes[i];
	}
	place->n_lanes = kept;
	return kept > 0;
}

static bool block_matches(const struct session *session, const struct filter *filter,
			  const struct place *place)
{
	bool asked = filter_limits(filter, FILTER_kernel) || filter_limits(filter, FILTER_grid) ||
		     filter_limits(filter, FILTER_block) || filter_limits(filter, FILTER_cluster);
	if (!asked || place->block_status != WS_OK)
		return !asked;
	int64_t kernel = place->kernel == WS_NONE ? -1 : (int64_t)place->kernel;
	bool has_cluster = session_has_clusters(session, &place->block);
	return filter_number(filter, FILTER_kernel, kernel) &&
	       filter_number(filter, FILTER_grid, place->block.grid_id) &&
	       filter_dim3(filter, FILTER_block, place->block.idx) &&
	       (!filter_limits(filter, FILTER_cluster) ||
		(has_cluster && filter_dim3(filter, FILTER_cluster, place->block.cluster_idx)));
}

/* The part of a place below its SM. */
static bool place_warp(const struct session *session, const struct filter *filter,
		       enum walk_what what, uint32_t warp_index, struct place *place)
{
	place->warp_index = warp_index;
	if (ws_target_warp(session->target, warp_index, &place->warp, NULL) != WS_OK ||
	    !filter_number(filter, FILTER_warp, place->warp.id))
		return false;
	place->block_status =
		ws_target_block(session->target, place->warp.block_index, &place->block, NULL);
	if (place->block_status != WS_OK)
		memset(&place->block, 0, sizeof place->block);
	uint32_t grid = place->block_status == WS_OK ? place->block.grid_index : WS_NONE;
	place->kernel = session_kernel(session, grid);
	place->grid = grid < session->counts.grids ? &session->grids[grid] : NULL;
	if (!block_matches(session, filter, place))
		return false;
	place->n_lanes = 0;
	place->lanes_status = WS_OK;
	return (what == WALK_WARPS && !wants_lanes(filter)) || place_lanes(session, filter, place);
}

static bool place_sm(const struct session *session, const struct filter *filter, uint32_t sm_index,
		     struct place *place)
{
	place->sm_index = sm_index;
	if (ws_target_sm(session->target, sm_index, &place->sm, NULL) != WS_OK ||
	    place->sm.device_index >= session->counts.devices)
		return false;
	place->device = &session->devices[place->sm.device_index];
	return filter_number(filter, FILTER_device, place->device->id) &&
	       filter_number(filter, FILTER_sm, place->sm.id);
}

void walk(const struct session *session, const struct filter *filter, enum walk_what what,
	  walk_visit *visit, void *user)
{
	struct place place;
	for (uint32_t s = 0; s < session->counts.sms; s++) {
		if (!place_sm(session, filter, s, &place))
			continue;
		for (uint32_t w = 0; w < place.sm.n_warps; w++) {
			if (place_warp(session, filter, what, place.sm.first_warp_index + w,
				       &place))
				visit(user, &place);
		}
	}
}

struct first {
	bool found;
	struct ws_focus focus;
};

/* A `walk_visit`. */
static void take_first(void *user, const struct place *place)
{
	struct first *first = user;
	if (first->found || place->n_lanes == 0)
		return;
	first->found = true;
	first->focus = place_focus(place, &place->lanes[0]);
}

struct ws_focus place_focus(const struct place *place, const struct ws_lane *lane)
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

bool session_first(const struct session *session, const struct filter *filter,
		   struct ws_focus *ret_focus)
{
	struct first first = { .found = false };
	walk(session, filter, WALK_LANES, take_first, &first);
	if (first.found)
		*ret_focus = first.focus;
	return first.found;
}

/* ---- the nearest thread ---- */

enum { DISTANCES = 2 + 3 * FILTER_N_WORDS, N_HARDWARE = 4 };

static const enum filter_word hardware_words[N_HARDWARE] = { FILTER_device, FILTER_sm, FILTER_warp,
							     FILTER_lane };
static const enum filter_word launch_words[] = { FILTER_block, FILTER_thread };

struct nearest {
	const struct session *session;
	const enum filter_word *words; /* by which threads are compared, the first decides */
	size_t n_words;
	bool keeps_kernel, keeps_block; /* one of the same is nearer than any other */
	bool found;
	uint64_t distance[DISTANCES];
	struct ws_focus focus;
};

static void coords_of_lane(struct coords *coords, const struct place *place,
			   const struct ws_lane *lane)
{
	coords_number(coords, FILTER_device, place->device->id);
	coords_number(coords, FILTER_sm, place->sm.id);
	coords_number(coords, FILTER_warp, place->warp.id);
	coords_number(coords, FILTER_lane, lane->id);
	coords_dim3(coords, FILTER_block, place->block.idx);
	coords_dim3(coords, FILTER_thread, lane->thread);
}

/* Takes a lane if it is nearer than the one that was found before. */
static void take_nearer(struct nearest *nearest, const struct place *place,
			const struct ws_lane *lane)
{
	const struct ws_focus *now = &nearest->session->focus,
			      lane_focus = place_focus(place, lane);
	uint64_t distance[DISTANCES] = { 0 };
	struct coords to = { .known = { false } };
	size_t n = 0, i = 0;
	coords_of_lane(&to, place, lane);
	distance[n++] = nearest->keeps_kernel && lane_focus.grid_index != now->grid_index;
	distance[n++] = nearest->keeps_block && lane_focus.block_index != now->block_index;
	for (size_t word = 0; word < nearest->n_words; word++) {
		const int64_t *a = nearest->session->at.number[nearest->words[word]];
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

/* A `walk_visit`. */
static void take_nearest(void *user, const struct place *place)
{
	for (uint32_t i = 0; i < place->n_lanes; i++)
		take_nearer(user, place, &place->lanes[i]);
}

/* A word alone is looked for only in what the focus is within. */
static void stay_within(const struct session *session, struct filter *filter)
{
	static const enum filter_word within[][2] = {
		{ FILTER_thread, FILTER_block }, { FILTER_block, FILTER_grid },
		{ FILTER_lane, FILTER_warp },    { FILTER_warp, FILTER_sm },
		{ FILTER_sm, FILTER_device },
	};
	int n = 0;
	for (int word = 0; word < FILTER_N_WORDS; word++)
		n += filter_limits(filter, (enum filter_word)word);
	for (size_t i = 0; n == 1 && i < sizeof within / sizeof within[0]; i++)
		if (filter_limits(filter, within[i][0]))
			filter_current(filter, session_coords(session), within[i][1]);
}

bool session_nearest(const struct session *session, const struct filter *given,
		     struct ws_focus *ret_focus)
{
	struct filter filter = *given;
	struct nearest nearest = { .session = session,
				   .words = launch_words,
				   .n_words = sizeof launch_words / sizeof launch_words[0] };
	for (size_t i = 0; i < N_HARDWARE; i++) {
		if (filter_limits(given, hardware_words[i])) {
			nearest.words = hardware_words;
			nearest.n_words = N_HARDWARE;
		}
	}
	nearest.keeps_kernel = session->have_focus && !filter_limits(given, FILTER_device);
	nearest.keeps_block = nearest.keeps_kernel && !filter_limits(given, FILTER_sm);
	if (session->have_focus)
		stay_within(session, &filter);
	walk(session, &filter, WALK_LANES, take_nearest, &nearest);
	if (nearest.found)
		*ret_focus = nearest.focus;
	return nearest.found;
}

bool walk_place(const struct session *session, const struct filter *filter, enum walk_what what,
		uint32_t warp_index, struct place *ret_place)
{
	struct ws_warp warp;
	return ws_target_warp(session->target, warp_index, &warp, NULL) == WS_OK &&
	       place_sm(session, filter, warp.sm_index, ret_place) &&
	       place_warp(session, filter, what, warp_index, ret_place);
}

bool place_has_focus(const struct session *session, const struct place *place)
{
	return session->have_focus && session->focus.warp_index == place->warp_index;
}

void place_json(const struct place *place, const struct ws_lane *lane, struct ws_json *json)
{
	ws_json_key_u64(json, "device", place->device->id);
	ws_json_key_u64(json, "sm", place->sm.id);
	ws_json_key_u64(json, "warp", place->warp.id);
	ws_json_key_u64(json, "lane", lane->id);
	if (place->kernel != WS_NONE)
		ws_json_key_u64(json, "kernel", place->kernel);
	else
		ws_json_missing(json, "kernel", WS_ABSENT);
	if (place->block_status == WS_OK)
		ws_json_key_dim3(json, "blockIdx", place->block.idx);
	else
		ws_json_missing(json, "blockIdx", place->block_status);
	ws_json_key_dim3(json, "threadIdx", lane->thread);
	ws_json_key_hex(json, "pc", lane->pc);
}
