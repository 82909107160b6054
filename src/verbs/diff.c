/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between two targets.
 *
 * What is few (verdict, exceptions, kernels, groups of threads, modules) becomes a list of items
 * with a key and a value on each side; both lists are sorted by key and merged. Warps are matched
 * by what stays the same from run to run: device, grid, block, and the first thread; then registers
 * are compared lane by lane. Memory is compared range by range (diff_memory.c). Nothing is kept per
 * lane or per byte.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/cubin.h>
#include <warpscope/report.h>

#include "verbs/diff.h"

enum { TEXT = DIFF_TEXT, MAX_REGS = 256 };

static const char *const kind_names[] = {
#define X(name) #name,
	WS_DIFF_KIND_LIST(X)
#undef X
};

/* ---- telling ---- */

void wsi_diff_tell(struct wsi_diff *diff, enum ws_diff_kind kind, const char *key, const char *a,
		   const char *b)
{
	diff->counts.found[kind]++;
	if (diff->limit && diff->counts.found[kind] > diff->limit)
		return;
	if (!diff->is_out_of_memory) /* else one side may not be whole */
		diff->tell(diff->user, &(struct ws_difference){ kind, key, a, b });
}

/* ---- lists of items ---- */

struct diff_item {
	char key[TEXT], value[TEXT];
};

struct items {
	struct diff_item *at; /* owned */
	size_t n, cap;
	bool is_out_of_memory;
	struct diff_item lost; /* what there was no memory for */
};

static struct diff_item *items_add(struct items *items)
{
	if (wsi_grow(&items->at, &items->cap, items->n, sizeof *items->at, UINT32_MAX))
		return &items->at[items->n++];
	items->is_out_of_memory = true;
	return &items->lost;
}

static int item_order(const void *left, const void *right)
{
	const struct diff_item *a = left, *b = right;
	int order = strcmp(a->key, b->key);
	return order ? order : strcmp(a->value, b->value);
}

static void items_compare(struct wsi_diff *diff, enum ws_diff_kind kind, struct items items[2])
{
	size_t at[2] = { 0, 0 };
	for (int s = 0; s < 2; s++) {
		diff->is_out_of_memory |= items[s].is_out_of_memory;
		if (items[s].n)
			qsort(items[s].at, items[s].n, sizeof *items[s].at, item_order);
	}
	while (at[0] < items[0].n || at[1] < items[1].n) {
		const struct diff_item *a = at[0] < items[0].n ? &items[0].at[at[0]] : NULL;
		const struct diff_item *b = at[1] < items[1].n ? &items[1].at[at[1]] : NULL;
		int order = !a ? 1 : !b ? -1 : strcmp(a->key, b->key);
		at[0] += order <= 0;
		at[1] += order >= 0;
		if (order == 0 && strcmp(a->value, b->value) == 0)
			continue;
		wsi_diff_tell(diff, kind, order > 0 ? b->key : a->key, order <= 0 ? a->value : NULL,
			      order >= 0 ? b->value : NULL);
	}
	wsi_free(items[0].at);
	wsi_free(items[1].at);
}

/* ---- what a report has ---- */

#define STR(text) (int)((text).len > 200 ? 200 : (text).len), (text).ptr ? (text).ptr : ""

static void verdict_items(const struct wsi_diff_side *side, struct items *items)
{
	struct diff_item *item = items_add(items);
	snprintf(item->key, TEXT, "verdict");
	snprintf(item->value, TEXT, "%s", side->report->summary);
}

static void device_items(const struct wsi_diff_side *side, struct items *items)
{
	for (uint32_t i = 0; i < side->counts.devices; i++) {
		struct ws_device device;
		if (ws_target_device(side->target, i, &device, NULL) != WS_OK)
			continue;
		struct diff_item *item = items_add(items);
		snprintf(item->key, TEXT, "%u", device.id);
		snprintf(item->value, TEXT, "%.*s %.*s", STR(device.name), STR(device.sm_type));
	}
}

static void kernel_items(const struct wsi_diff_side *side, struct items *items)
{
	for (uint32_t i = 0; i < side->report->n_kernels; i++) {
		const struct ws_report_kernel *kernel = &side->report->kernels[i];
		const struct ws_dim3 *grid = &kernel->grid.grid_dim,
				     *block = &kernel->grid.block_dim;
		struct diff_item *item = items_add(items);
		snprintf(item->key, TEXT, "device %u grid %" PRId64, kernel->device,
			 kernel->grid.id);
		snprintf(item->value, TEXT, "%.*s <<<(%u,%u,%u),(%u,%u,%u)>>>",
			 STR(kernel->name_short), grid->x, grid->y, grid->z, block->x, block->y,
			 block->z);
	}
}

static void place_text(char text[TEXT], const struct ws_report_frame *frame)
{
	snprintf(text, TEXT, "%.*s+0x%" PRIx64 " %.*s:%u", STR(frame->function_short),
		 frame->rel_pc, STR(frame->file), frame->line);
}

static void exception_items(const struct wsi_diff_side *side, struct items *items)
{
	for (uint32_t i = 0; i < side->report->n_exceptions; i++) {
		const struct ws_report_exception *one = &side->report->exceptions[i];
		struct diff_item *item = items_add(items);
		char place[TEXT] = "nowhere known";
		if (one->n_frames)
			place_text(place, &one->frames[0]);
		snprintf(item->key, TEXT, "%u %.80s at %.300s", one->code, one->label, place);
		snprintf(item->value, TEXT,
			 "%" PRIu64 " lanes, first in device %u block (%u,%u,%u) thread (%u,%u,%u)",
			 one->n_lanes, one->at.device, one->at.block.x, one->at.block.y,
			 one->at.block.z, one->at.thread.x, one->at.thread.y, one->at.thread.z);
	}
}

static void group_items(const struct wsi_diff_side *side, struct items *items)
{
	for (uint32_t i = 0; i < side->report->n_groups; i++) {
		const struct ws_report_group *group = &side->report->groups[i];
		struct diff_item *item = items_add(items);
		char place[TEXT];
		place_text(place, &group->frame);
		snprintf(item->key, TEXT, "%s at %.360s", ws_thread_state_text(group->state),
			 place);
		snprintf(item->value, TEXT, "%" PRIu64 " lanes of %" PRIu64 " warps",
			 group->n_lanes, group->n_warps);
	}
}

static void module_items(const struct wsi_diff_side *side, struct items *items)
{
	for (uint32_t i = 0; i < side->counts.modules; i++) {
		struct ws_module module;
		struct ws_device device;
		struct ws_cubin *cubin;
		struct ws_code_id id;
		char text[WS_CODE_ID_TEXT] = "unknown code";
		if (ws_target_module(side->target, i, &module, NULL) != WS_OK ||
		    ws_target_device(side->target, module.device_index, &device, NULL) != WS_OK)
			continue;
		struct ws_span bytes = module.relocated.len ? module.relocated : module.original;
		enum ws_status st = bytes.len ? ws_cubin_open(bytes, &cubin, NULL) : WS_ABSENT;
		if (st == WS_OK) {
			st = ws_cubin_image_id(cubin, &id, NULL);
			if (st == WS_OK)
				ws_code_id_text(&id, text);
			ws_cubin_close(cubin);
		}
		items->is_out_of_memory |= st == WS_NO_MEMORY;
		struct diff_item *item = items_add(items);
		snprintf(item->key, TEXT, "device %u %s", device.id, text);
		snprintf(item->value, TEXT, "loaded as 0x%" PRIx64, module.handle);
	}
}

/* ---- warps ---- */

static uint32_t read_side_registers(const struct wsi_diff_side *side, uint32_t warp, uint32_t lane,
				    enum ws_reg_kind kind, uint32_t values[MAX_REGS])
{
	uint32_t n;
	enum ws_status st =
		ws_target_registers(side->target, warp, lane, kind, 0, MAX_REGS, values, &n, NULL);
	return st == WS_OK ? n : 0;
}

/* Registers of one lane, or of the warp (`lane` WS_NONE), which `owner` names. */
static void registers_compare(struct wsi_diff *diff, const uint32_t warps[2], uint32_t lane,
			      enum ws_reg_kind kind, const char *prefix, const char *owner)
{
	uint32_t values[2][MAX_REGS], n[2];
	char key[TEXT], text[2][16];
	for (int s = 0; s < 2; s++)
		n[s] = read_side_registers(&diff->side[s], warps[s], lane, kind, values[s]);
	for (uint32_t r = 0; r < n[0] || r < n[1]; r++) {
		if (r < n[0] && r < n[1] && values[0][r] == values[1][r])
			continue;
		if (diff->limit && diff->counts.found[WS_DIFF_register] >= diff->limit) {
			diff->counts.found[WS_DIFF_register]++;
			continue;
		}
		snprintf(key, TEXT, "%.320s %s%u", owner, prefix, r);
		for (int s = 0; s < 2; s++)
			snprintf(text[s], sizeof text[s], "0x%08" PRIx32,
				 r < n[s] ? values[s][r] : 0);
		wsi_diff_tell(diff, WS_DIFF_register, key, r < n[0] ? text[0] : NULL,
			      r < n[1] ? text[1] : NULL);
	}
}

static void lanes_compare(struct wsi_diff *diff, const uint32_t warps[2], const char *warp)
{
	struct ws_lane lanes[2][WS_MAX_LANES];
	uint32_t n[2] = { 0, 0 }, at = 0;
	char key[TEXT], text[2][64];
	for (int s = 0; s < 2; s++) {
		if (ws_target_lanes(diff->side[s].target, warps[s], lanes[s], &n[s], NULL) != WS_OK)
			return;
	}
	for (uint32_t i = 0; i < n[0]; i++) {
		struct ws_lane *a = &lanes[0][i];
		const struct ws_lane *b;
		while (at < n[1] && lanes[1][at].id < a->id)
			at++;
		if (at == n[1] || lanes[1][at].id != a->id)
			continue;
		b = &lanes[1][at];
		snprintf(key, TEXT, "%.300s lane %u", warp, a->id);
		if (a->rel_pc != b->rel_pc || a->exception != b->exception) {
			snprintf(text[0], sizeof text[0], "pc +0x%" PRIx64 " exception %u",
				 a->rel_pc, a->exception);
			snprintf(text[1], sizeof text[1], "pc +0x%" PRIx64 " exception %u",
				 b->rel_pc, b->exception);
			wsi_diff_tell(diff, WS_DIFF_warp, key, text[0], text[1]);
		}
		if (a->rel_pc != b->rel_pc) /* then the pc is another, too */
			a->pc = b->pc;
		wsi_diff_row(diff, WS_ROW_LANE, key, a, b);
		wsi_diff_stacks(diff, warps, a->id, key);
		registers_compare(diff, warps, a->id, WS_REG_R, "R", key);
		registers_compare(diff, warps, a->id, WS_REG_P, "P", key);
	}
}

/* A `wsi_diff_pair_fn`. */
static void warps_compare(struct wsi_diff *diff, enum ws_row row, const uint32_t warps[2],
			  const char *key)
{
	struct ws_warp a, b;
	if (ws_target_warp(diff->side[0].target, warps[0], &a, NULL) == WS_OK &&
	    ws_target_warp(diff->side[1].target, warps[1], &b, NULL) == WS_OK)
		wsi_diff_row(diff, row, key, &a, &b);
	registers_compare(diff, warps, WS_NONE, WS_REG_UR, "UR", key);
	registers_compare(diff, warps, WS_NONE, WS_REG_UP, "UP", key);
	lanes_compare(diff, warps, key);
	wsi_diff_memory_of_warp(diff, warps, key);
}

/* ---- the whole ---- */

typedef void items_fill(const struct wsi_diff_side *side, struct items *items);

static void compare_all(struct wsi_diff *diff)
{
	static items_fill *const fills[] = {
		[WS_DIFF_verdict] = verdict_items, [WS_DIFF_device] = device_items,
		[WS_DIFF_kernel] = kernel_items,   [WS_DIFF_exception] = exception_items,
		[WS_DIFF_group] = group_items,     [WS_DIFF_module] = module_items,
	};
	for (enum ws_diff_kind kind = WS_DIFF_verdict; kind <= WS_DIFF_module; kind++) {
		struct items items[2] = { { 0 }, { 0 } };
		for (int s = 0; s < 2; s++)
			fills[kind](&diff->side[s], &items[s]);
		items_compare(diff, kind, items);
	}
	wsi_diff_tables(diff);
	wsi_diff_match(diff, WS_ROW_WARP, "resident", warps_compare);
	wsi_diff_memory_global(diff);
	wsi_diff_match(diff, WS_ROW_GRID, NULL, wsi_diff_memory_of_grid);
}

static void diff_free(struct wsi_diff *diff)
{
	for (int s = 0; s < 2; s++)
		ws_report_destroy(diff->side[s].report);
	wsi_free(diff);
}

enum ws_status ws_diff(const struct ws_target *a, const struct ws_target *b, uint64_t limit,
		       ws_diff_fn *tell, void *user, struct ws_diff_counts *ret_counts,
		       struct ws_error *err)
{
	const struct ws_report_options report = { .size = sizeof report, .no_source = true };
	struct wsi_diff *diff = wsi_zalloc(sizeof *diff); /* too large for a stack */
	enum ws_status st = WS_OK;
	if (!diff)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	diff->tell = tell;
	diff->user = user;
	diff->limit = limit;
	diff->block = WS_NONE;
	for (int s = 0; s < 2 && st == WS_OK; s++) {
		struct wsi_diff_side *side = &diff->side[s];
		side->target = s ? b : a;
		ws_target_counts(side->target, &side->counts);
		st = ws_report_create(side->target, &report, &side->report, err);
	}
	if (st == WS_OK) {
		compare_all(diff);
		for (int kind = 0; kind < WS_N_DIFF_KINDS; kind++)
			diff->counts.total += diff->counts.found[kind];
		*ret_counts = diff->counts;
		if (diff->is_out_of_memory)
			st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	}
	diff_free(diff);
	return st;
}

/* ---- text and JSON ---- */

static void difference_text(void *user, const struct ws_difference *one)
{
	struct ws_out *out = user;
	const char *a = one->a, *b = one->b;
	ws_out_printf(out, "%s %-9s ", a && b ? "~" : a ? "-" : "+", kind_names[one->kind]);
	ws_out_escaped(out, ws_str_of(one->key));
	ws_out_text(out, ": ");
	ws_out_escaped(out, ws_str_of(a ? a : b));
	if (a && b) {
		ws_out_text(out, " -> ");
		ws_out_escaped(out, ws_str_of(b));
	}
	ws_out_text(out, "\n");
}

static void counts_text(const struct ws_diff_counts *counts, uint64_t limit, struct ws_out *out)
{
	if (counts->total == 0)
		ws_out_text(out, "no difference\n");
	for (int kind = 0; kind < WS_N_DIFF_KINDS; kind++) {
		if (limit && counts->found[kind] > limit)
			ws_out_printf(out,
				      "%s: %" PRIu64 " differences, %" PRIu64
				      " shown; --limit 0 shows all\n",
				      kind_names[kind], counts->found[kind], limit);
	}
}

static void difference_json(void *user, const struct ws_difference *one)
{
	struct ws_json *json = user;
	ws_json_object(json);
	ws_json_key_text(json, "kind", kind_names[one->kind]);
	ws_json_key_text(json, "key", one->key);
	ws_json_key_text(json, "a", one->a);
	ws_json_key_text(json, "b", one->b);
	ws_json_end(json);
}

static void counts_json(const struct ws_diff_counts *counts, struct ws_json *json)
{
	ws_json_end(json);
	ws_json_key_object(json, "counts");
	for (int kind = 0; kind < WS_N_DIFF_KINDS; kind++)
		ws_json_key_u64(json, kind_names[kind], counts->found[kind]);
	ws_json_end(json);
	ws_json_key_bool(json, "same", counts->total == 0);
	ws_json_end(json);
}

enum ws_status ws_diff_answer(const struct ws_target *a, const struct ws_target *b,
			      const char *const paths[2], uint64_t limit,
			      const struct ws_answer_style *style,
			      struct ws_diff_counts *ret_counts, struct ws_error *err)
{
	struct ws_json json;
	enum ws_status st;
	if (!style->json) {
		st = ws_diff(a, b, limit, difference_text, style->out, ret_counts, err);
		if (st == WS_OK)
			counts_text(ret_counts, limit, style->out);
		return st;
	}
	ws_json_begin(&json, style->out, "warpscope-diff-1");
	ws_json_key_text(&json, "a", paths[0]);
	ws_json_key_text(&json, "b", paths[1]);
	ws_json_key_array(&json, "differences");
	st = ws_diff(a, b, limit, difference_json, &json, ret_counts, err);
	if (st == WS_OK)
		counts_json(ret_counts, &json);
	return st;
}
