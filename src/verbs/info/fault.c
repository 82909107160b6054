/* SPDX-License-Identifier: Apache-2.0 */
/* info exceptions (every one, wherever it is), info barriers (who waits for whom). */
#include "verbs/info/info.h"

#include <stdio.h>
#include <string.h>

#include <warpscope/exception.h>

/* ---- exceptions ---- */

static const struct ws_rows_column exception_columns[] = {
	{ "Dev", "device", 0 },
	{ "SM", "sm", 0 },
	{ "Wp", "warp", 0 },
	{ "Lanes Mask", "lanes_mask", 0 },
	{ "Exception", "exception", 0 },
	{ "Code", "code", 0 },
	{ NULL, "name", WS_ROWS_DATA },
	{ NULL, "cuda_gdb", WS_ROWS_DATA },
	{ "Error PC", "errorpc", 0 },
	{ "Kernel", "kernel", 0 },
	{ "BlockIdx", "blockIdx", 0 },
	{ "Filename", "filename", 0 },
	{ "Line", "line", 0 },
	{ "Function", "function", WS_ROWS_LEFT },
	{ "By", "blame", WS_ROWS_WIDE },
	{ "Target Block", "cluster_target_block", WS_ROWS_WIDE },
	{ "Driver's Words", "exception_text", WS_ROWS_WIDE | WS_ROWS_LEFT },
};

/* One row: lanes of one warp with one code, or an SM whose warps left. */
struct fault {
	const char *blame; /* lane, suspect, sm, trap */
	uint32_t code, lanes;
	const struct ws_resident *place; /* NULL: the SM's row alone */
	const struct ws_sm *sm;
	bool focus;
};

static void fault_code_cells(struct ws_rows *rows, const struct fault *fault)
{
	const struct ws_exception *kind = ws_exception_find(fault->code);
	if (fault->code)
		wsi_info_cell_exception(rows, fault->code);
	else
		ws_rows_text(rows, "Trap or breakpoint");
	ws_rows_number(rows, fault->code);
	wsi_rows_text_or_none(rows, kind ? kind->name : NULL);
	wsi_rows_text_or_none(rows, kind ? kind->cuda_gdb : NULL);
}

static void fault_row(struct ws_rows *rows, struct wsi_info *info, const struct fault *fault)
{
	const struct ws_threads *threads = info->threads;
	const struct ws_resident *place = fault->place;
	const struct ws_sm *sm = fault->sm;
	bool has_pc = place ? place->warp.error_pc_valid : sm->error_pc_valid;
	uint64_t pc = place ? place->warp.error_pc : sm->error_pc;
	ws_rows_begin(rows, fault->focus);
	ws_rows_number(rows, threads->devices[sm->device_index].id);
	ws_rows_number(rows, sm->id);
	ws_rows_or_none(rows, 2, place);
	ws_rows_number(rows, place ? place->warp.id : 0);
	ws_rows_hex(rows, fault->lanes, 8);
	fault_code_cells(rows, fault);
	ws_rows_if(rows, 1, has_pc);
	ws_rows_hex(rows, pc, 16);
	wsi_info_cell_kernel(rows, place ? place->kernel : WS_NONE);
	wsi_info_cell_dim3(rows, place ? place->block_status : WS_ABSENT,
			   place ? place->block.idx : (struct ws_dim3){ 0 });
	const struct ws_symbol *symbol =
		wsi_info_symbol(info, has_pc, sm->device_index, place ? place->grid : NULL, pc);
	wsi_info_cells_line(rows, symbol);
	wsi_info_cell_function(rows, symbol);
	ws_rows_text(rows, fault->blame);
	wsi_info_cells_sm_words(rows, sm);
	ws_rows_end(rows);
}

/* The warp's lanes by exception code: one row for each code. Returns the number of rows. */
static unsigned fault_rows_of_warp(struct ws_rows *rows, struct wsi_info *info,
				   const struct ws_resident *place, const struct ws_blame *blame)
{
	static const char *const words[] = {
		[WS_BLAME_LANE] = "lane", [WS_BLAME_SUSPECT] = "suspect", [WS_BLAME_TRAP] = "trap"
	};
	const struct ws_threads *threads = info->threads;
	uint32_t done = 0;
	unsigned n = 0;
	for (uint32_t i = 0; i < place->n_lanes; i++) {
		struct fault fault = { .place = place,
				       .sm = &place->sm,
				       .blame = words[blame->by],
				       .code = blame->by == WS_BLAME_LANE
						       ? place->lanes[i].exception
						       : blame->code };
		for (uint32_t j = i; j < place->n_lanes; j++) {
			const struct ws_lane *lane = &place->lanes[j];
			uint32_t bit = 1u << (lane->id & 31);
			if (!(blame->lanes & bit) || done & bit ||
			    (blame->by == WS_BLAME_LANE && lane->exception != fault.code))
				continue;
			done |= bit;
			fault.lanes |= bit;
			fault.focus = fault.focus || (ws_threads_has_focus(threads, place) &&
						      threads->focus.lane == lane->id);
		}
		if (fault.lanes) {
			fault_row(rows, info, &fault);
			n++;
		}
	}
	return n;
}

/* Lanes with an exception that is not theirs for certain: such a row, or its warp's, is damaged. */
static unsigned count_doubted(const struct ws_resident *place, const struct ws_blame *blame)
{
	uint32_t listed = blame->by == WS_BLAME_LANE ? blame->lanes : 0;
	unsigned n = 0;
	for (uint32_t i = 0; i < place->n_lanes; i++)
		n += place->lanes[i].exception && !(listed >> (place->lanes[i].id & 31) & 1);
	return n;
}

static void produce_exceptions(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	const struct ws_threads *threads = info->threads;
	uint32_t end = 0;
	bool misread = false, untold = false;
	info->told->n_doubted_sms = info->told->n_doubted_lanes = 0;
	for (uint32_t s = 0; s < threads->counts.sms; s++) {
		struct ws_sm sm;
		if (s == end)
			misread = ws_focus_misread(threads->target, s, &end);
		if (ws_target_sm(threads->target, s, &sm, NULL) != WS_OK)
			continue;
		untold |= !(sm.have & WS_SM_EXCEPTION);
		uint32_t unclaimed = ws_focus_unclaimed(threads->target, s);
		bool taken = false;
		for (uint32_t w = 0; w < sm.n_warps; w++) {
			struct ws_resident place;
			if (!ws_threads_resident(threads, &info->filter, WS_WALK_LANES,
						 sm.first_warp_index + w, &place))
				continue;
			if (place.lanes_status != WS_OK)
				wsi_info_unreadable(info, rows);
			struct ws_blame blame;
			ws_focus_blame(&place.warp, place.lanes, place.n_lanes, unclaimed, &blame);
			info->told->n_doubted_lanes += count_doubted(&place, &blame);
			if (blame.by != WS_BLAME_NOBODY &&
			    fault_rows_of_warp(rows, info, &place, &blame) > 0 &&
			    blame.by != WS_BLAME_TRAP)
				taken = true;
		}
		if (taken || wsi_info_asks_below_sm(info) ||
		    !ws_filter_number(&info->filter, WS_FILTER_device,
				      threads->devices[sm.device_index].id) ||
		    !ws_filter_number(&info->filter, WS_FILTER_sm, sm.id))
			continue;
		if (sm.damaged ? sm.exception != 0 : misread && unclaimed)
			info->told->n_doubted_sms++;
		else if (unclaimed)
			fault_row(rows, info,
				  &(struct fault){ .blame = "sm", .code = unclaimed, .sm = &sm });
	}
	if (info->told->n_doubted_sms || info->told->n_doubted_lanes)
		rows->none = "No CUDA exceptions that are certain.";
	else if (untold)
		rows->none = "No CUDA exceptions of threads; those of SMs are not known.";
}

INFO_TABLE(exceptions, exception_columns, produce_exceptions)

/* ---- barriers ---- */

static const struct ws_rows_column barrier_columns[] = {
	{ NULL, "device", WS_ROWS_DATA },
	{ NULL, "sm", WS_ROWS_DATA },
	{ NULL, "warp", WS_ROWS_DATA },
	{ "Ln(s)", "lanes", WS_ROWS_LEFT },
	{ NULL, "lanes_mask", WS_ROWS_DATA },
	{ "Thread State", "cbu_state", WS_ROWS_LEFT },
	{ "Active", "active", 0 },
	{ "Exited", "exited", 0 },
	{ "Collective", "collective", 0 },
	{ "Warp Convergence Barrier(s)", "convergence_barriers", WS_ROWS_LEFT },
	{ NULL, "barrier_scope", WS_ROWS_DATA },
	{ NULL, "barrier_text", WS_ROWS_DATA },
	{ NULL, "doubt", WS_ROWS_DATA },
};

enum {
	MAX_BARRIERS = 32,
};

/* What one lane has to do with barriers; lanes with the same are one row. */
struct lane_barriers {
	bool have_state, active, exited, collective, damaged;
	uint32_t state, barriers; /* bit i: takes part in Bi */
	uint32_t id;              /* of the lane; those of one row differ */
};

static bool same_barriers(const struct lane_barriers *a, const struct lane_barriers *b)
{
	return a->have_state == b->have_state && a->state == b->state && a->active == b->active &&
	       a->exited == b->exited && a->collective == b->collective &&
	       a->barriers == b->barriers && a->damaged == b->damaged;
}

/* "0-3,5" of a mask. */
static void lanes_text(uint32_t lanes, char *text, size_t size)
{
	size_t at = 0;
	text[0] = '\0';
	for (unsigned i = 0; i < WS_MAX_LANES && at < size; i++) {
		if (!(lanes >> i & 1))
			continue;
		unsigned last = i;
		while (last + 1 < WS_MAX_LANES && lanes >> (last + 1) & 1)
			last++;
		int n = last > i ? snprintf(text + at, size - at, "%s%u-%u", at ? "," : "", i, last)
				 : snprintf(text + at, size - at, "%s%u", at ? "," : "", i);
		at += (size_t)n;
		i = last;
	}
}

static void barriers_text(uint32_t barriers, char *text, size_t size)
{
	size_t at = 0;
	text[0] = '\0';
	for (unsigned i = 0; i < MAX_BARRIERS && at < size; i++) {
		if (barriers >> i & 1)
			at += (size_t)snprintf(text + at, size - at, "%sB%u", at ? "," : "", i);
	}
}

static void barrier_row(struct ws_rows *rows, struct wsi_info *info,
			const struct ws_resident *place, const struct lane_barriers *what,
			uint32_t lanes, enum ws_status barriers_status)
{
	char text[128];
	const struct ws_threads *threads = info->threads;
	const struct ws_warp *warp = &place->warp;
	const struct wsi_thread_doubt doubt = wsi_threads_doubt_warp(threads, place, what->id);
	wsi_rows_doubt(rows, doubt.text, &info->told->n_doubted_rows);
	ws_rows_begin(rows, ws_threads_has_focus(threads, place) &&
				    lanes >> (threads->focus.lane & 31) & 1);
	ws_rows_number(rows, place->device->id);
	ws_rows_number(rows, place->sm.id);
	ws_rows_number(rows, warp->id);
	lanes_text(lanes, text, sizeof text);
	ws_rows_text(rows, text);
	ws_rows_hex(rows, lanes, 8);
	ws_rows_if(rows, 1, what->have_state);
	wsi_info_cell_cbu_state(rows, what->state);
	ws_rows_if(rows, 3, warp->have & WS_WARP_CBU);
	ws_rows_bool(rows, what->active);
	ws_rows_bool(rows, what->exited);
	ws_rows_bool(rows, what->collective);
	barriers_text(what->barriers, text, sizeof text);
	ws_rows_given(rows, 1, barriers_status);
	ws_rows_or_none(rows, 1, what->barriers);
	ws_rows_text(rows, text);
	ws_rows_if(rows, 2, warp->have & WS_WARP_BARRIER);
	ws_rows_number(rows, warp->barrier_scope);
	ws_rows_str(rows, warp->barrier_text);
	wsi_rows_text_or_none(rows, doubt.text);
	ws_rows_end(rows);
}

static void barrier_rows(struct ws_rows *rows, struct wsi_info *info,
			 const struct ws_resident *place)
{
	static const char *const scopes[] = { "",
					      " waits at a warp barrier",
					      " waits at a warp group barrier",
					      " waits at a block barrier",
					      " waits at a cluster barrier",
					      " waits at a kernel barrier" };
	const struct ws_warp *warp = &place->warp;
	uint32_t masks[MAX_BARRIERS], n_masks = 0, done = 0;
	enum ws_status st =
		ws_target_registers(info->threads->target, place->warp_index, 0, WS_REG_BARRIER, 0,
				    MAX_BARRIERS, masks, &n_masks, NULL);
	struct lane_barriers lane[WS_MAX_LANES] = { 0 };
	for (uint32_t i = 0; i < place->n_lanes; i++) {
		unsigned id = place->lanes[i].id & 31;
		lane[i].have_state = place->lanes[i].have & WS_LANE_CBU_STATE;
		lane[i].state = place->lanes[i].cbu_state;
		lane[i].active = warp->cbu_active_lanes >> id & 1;
		lane[i].exited = warp->cbu_exited_lanes >> id & 1;
		lane[i].id = id;
		lane[i].damaged = place->lanes[i].damaged;
		lane[i].collective = warp->cbu_collective_lanes >> id & 1;
		for (uint32_t b = 0; st == WS_OK && b < n_masks; b++)
			lane[i].barriers |= (masks[b] >> id & 1) << b;
	}
	size_t scope =
		warp->have & WS_WARP_BARRIER && warp->barrier_scope < 6 ? warp->barrier_scope : 0;
	ws_rows_heading(rows, "Device %u SM %u Wp %u%s", place->device->id, place->sm.id, warp->id,
			scopes[scope]);
	for (uint32_t i = 0; i < place->n_lanes; i++) {
		uint32_t lanes = 0;
		if (done >> i & 1)
			continue;
		for (uint32_t j = i; j < place->n_lanes; j++) {
			if (!same_barriers(&lane[i], &lane[j]))
				continue;
			done |= 1u << j;
			lanes |= 1u << (place->lanes[j].id & 31);
		}
		barrier_row(rows, info, place, &lane[i], lanes, st);
	}
}

static void visit_barriers(void *user, const struct ws_resident *place)
{
	struct wsi_info *info = user;
	if (place->lanes_status != WS_OK)
		wsi_info_unreadable(info, info->rows);
	else
		barrier_rows(info->rows, info, place);
}

static void produce_barriers(struct ws_rows *rows, void *user)
{
	const struct wsi_info *info = user;
	(void)rows;
	ws_threads_walk(info->threads, &info->filter, WS_WALK_LANES, visit_barriers, user);
}

INFO_TABLE(barriers, barrier_columns, produce_barriers)
