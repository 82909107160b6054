/* SPDX-License-Identifier: Apache-2.0 */
/* info where ADDRESS: everything that the input knows of an address. */
#include "verbs/info/info.h"

#include <warpscope/report.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/line.h>
#include <warpscope/symbols.h>

enum {
	MAX_CHAIN = 64,
	MAX_HITS = 16,    /* ranges, windows */
	MAX_HOLDERS = 96, /* registers */
	MAX_REGS = 256,
};

struct window {
	uint64_t context;    /* its id */
	enum ws_space space; /* shared or local */
	uint64_t offset;
};

struct where_hit {
	struct ws_memory_range range;
	uint64_t offset;
};

struct where {
	uint64_t address;
	enum ws_status code_status;
	struct ws_place code;
	enum ws_status line_status;
	struct ws_line_pos chain[MAX_CHAIN];
	size_t n_chain;
	enum ws_status memory_status; /* WS_OK: ranges could be looked at */
	struct where_hit hits[MAX_HITS];
	size_t n_hits;
	bool has_below, has_above;
	struct ws_memory_range below, above; /* nearest of global memory */
	struct window windows[MAX_HITS];
	size_t n_windows;
	char holders[MAX_HOLDERS][24]; /* of the focus: registers, pairs, pcs */
	size_t n_holders;
};

/* ---- looking ---- */

static void look_at_code(struct where *where, struct wsi_info *info)
{
	const struct ws_threads *threads = info->threads;
	struct ws_cubin_hint hint = { .module_index = WS_NONE,
				      .device_index = WS_NONE,
				      .context_index = WS_NONE };
	if (threads->have_focus && threads->focus.grid_index != WS_NONE)
		hint.module_index = threads->grids[threads->focus.grid_index].module_index;
	struct ws_cubin_set *set;
	where->code_status = ws_target_cubins(threads->target, &set, info->err);
	if (where->code_status == WS_OK)
		where->code_status =
			ws_cubin_set_find_address(set, where->address, &hint, &where->code, NULL);
	else
		info->status = where->code_status;
	where->line_status = where->code_status;
	if (where->code_status != WS_OK)
		return;
	where->line_status =
		ws_cubin_line_find(where->code.cubin, where->code.section, where->code.sec_off,
				   where->chain, MAX_CHAIN, &where->n_chain, NULL);
	if (where->n_chain > MAX_CHAIN)
		where->n_chain = MAX_CHAIN;
}

static void look_at_windows(struct where *where, const struct ws_threads *threads)
{
	static const enum ws_space spaces[] = { WS_SPACE_SHARED, WS_SPACE_LOCAL };
	for (uint32_t i = 0; i < threads->counts.contexts; i++) {
		struct ws_context context;
		if (ws_target_context(threads->target, i, &context, NULL) != WS_OK)
			continue;
		bool clusters = threads->devices[context.device_index].sm_major >= 9;
		for (unsigned s = 0; s < 2 && where->n_windows < MAX_HITS; s++) {
			struct window window = { context.id, spaces[s], 0 };
			if (ws_context_window(&context, spaces[s], clusters, where->address,
					      &window.offset))
				where->windows[where->n_windows++] = window;
		}
	}
}

/* Whether the range's addresses are those of the whole device (a block's or a lane's are its own).
 */
static bool is_device_wide(const struct ws_memory_range *range)
{
	return range->space == WS_SPACE_GLOBAL || range->space == WS_SPACE_CODE ||
	       range->space == WS_SPACE_CONST;
}

/* Whether the focus sees the range under the address as it is. */
static bool is_of_focus(const struct ws_threads *threads, const struct ws_memory_range *range)
{
	if (is_device_wide(range))
		return true;
	if (!threads->have_focus)
		return false;
	if (range->space == WS_SPACE_SHARED)
		return range->block_index == threads->focus.block_index;
	if (range->space == WS_SPACE_LOCAL)
		return range->warp_index == threads->focus.warp_index &&
		       range->lane == threads->focus.lane;
	return range->grid_index != WS_NONE && range->grid_index == threads->focus.grid_index;
}

static bool range_has(const struct ws_memory_range *range, uint64_t address)
{
	return address >= range->start && address - range->start < range->size;
}

/* What the focus reads at the address: by the range's own addresses, or through a window. */
static void look_for_hit(struct where *where, const struct ws_threads *threads,
			 const struct ws_memory_range *range)
{
	uint64_t address = where->address;
	bool found = range_has(range, address);
	for (size_t i = 0; !found && i < where->n_windows; i++) {
		address = where->windows[i].offset;
		found = range->space == where->windows[i].space && range_has(range, address);
	}
	if (found && is_of_focus(threads, range) && where->n_hits < MAX_HITS)
		where->hits[where->n_hits++] =
			(struct where_hit){ .range = *range, .offset = address - range->start };
}

static void look_at_range(struct where *where, const struct ws_threads *threads,
			  const struct ws_memory_range *range)
{
	uint64_t address = where->address;
	look_for_hit(where, threads, range);
	if (range_has(range, address))
		return;
	if (range->space != WS_SPACE_GLOBAL || range->size == 0)
		return;
	if (range->start > address) {
		if (!where->has_above || range->start < where->above.start)
			where->above = *range;
		where->has_above = true;
	} else {
		if (!where->has_below ||
		    range->start + range->size > where->below.start + where->below.size)
			where->below = *range;
		where->has_below = true;
	}
}

static void look_at_memory(struct where *where, const struct ws_threads *threads)
{
	struct ws_memory_range range;
	enum ws_status st = WS_OK;
	for (uint32_t i = 0; st == WS_OK; i++) {
		st = ws_target_memory_range(threads->target, i, &range, NULL);
		if (st == WS_OK)
			look_at_range(where, threads, &range);
	}
	where->memory_status = st == WS_ABSENT ? WS_OK : st;
}

static WS_PRINTF(2, 3) void holder_add(struct where *where, const char *format, ...)
{
	if (where->n_holders == MAX_HOLDERS)
		return;
	char *holder = where->holders[where->n_holders++];
	va_list args;
	va_start(args, format);
	vsnprintf(holder, sizeof where->holders[0], format, args);
	va_end(args);
}

/* Registers that hold the address: one of 32 bits, or two neighbours, the lower first. */
static void look_at_file(struct where *where, const uint32_t *values, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++) {
		if (where->address <= UINT32_MAX && values[i] == where->address)
			holder_add(where, "%s%u", name, i);
		else if (where->address > UINT32_MAX && i + 1 < n &&
			 ((uint64_t)values[i + 1] << 32 | values[i]) == where->address)
			holder_add(where, "%s%u:%s%u", name, i, name, i + 1);
	}
}

static void look_at_registers(struct where *where, const struct ws_threads *threads)
{
	uint32_t values[MAX_REGS], n;
	const struct ws_focus *focus = &threads->focus;
	struct ws_lane lane;
	struct ws_warp warp;
	struct ws_return_address calls[MAX_CHAIN];
	if (!threads->have_focus)
		return;
	if (ws_target_lane(threads->target, focus->warp_index, focus->lane, &lane, NULL) == WS_OK &&
	    lane.pc == where->address)
		holder_add(where, "pc");
	if (ws_target_warp(threads->target, focus->warp_index, &warp, NULL) == WS_OK &&
	    warp.error_pc_valid && warp.error_pc == where->address)
		holder_add(where, "errorpc");
	if (ws_target_call_stack(threads->target, focus->warp_index, focus->lane, calls, MAX_CHAIN,
				 &n, NULL) == WS_OK) {
		for (uint32_t i = 0; i < n && i < MAX_CHAIN; i++) {
			if (calls[i].address == where->address)
				holder_add(where, "return address %u", calls[i].level);
		}
	}
	if (ws_target_registers(threads->target, focus->warp_index, focus->lane, WS_REG_R, 0,
				MAX_REGS, values, &n, NULL) == WS_OK)
		look_at_file(where, values, n, "R");
	if (ws_target_registers(threads->target, focus->warp_index, focus->lane, WS_REG_UR, 0,
				MAX_REGS, values, &n, NULL) == WS_OK)
		look_at_file(where, values, n, "UR");
}

/*
 * Registers of all lanes that hold an address of the same range, or one near an address that lies
 * in none; of 32 bits only the very number, which may mean anything.
 */
static void show_holders(struct wsi_info *info, const struct where *where)
{
	const uint64_t near = 4096;
	uint64_t address = where->address;
	uint64_t first = address < near ? 0 : address - near;
	uint64_t last = UINT64_MAX - address < near ? UINT64_MAX : address + near;
	const struct ws_memory_range *range = where->n_hits ? &where->hits[0].range : NULL;
	if (address <= UINT32_MAX) {
		first = last = address;
	} else if (range && range_has(range, address) && is_device_wide(range)) {
		first = range->start;
		last = range->start + range->size - 1;
	}
	if (!info->json)
		ws_out_printf(info->out,
			      "\nRegisters with an address from 0x%" PRIx64 " to 0x%" PRIx64 ":\n",
			      first, last);
	wsi_info_holders(info, address, first, last);
}

/* ---- text ---- */

static void print_where_code(struct ws_out *out, const struct where *where)
{
	if (where->code_status != WS_OK)
		return;
	const struct ws_function *function = where->code.function;
	ws_out_text(out, "  code       ");
	if (function)
		ws_name_text(out, function->name, false);
	else
		ws_out_text(out, "(no symbol)");
	ws_out_printf(out, "+0x%" PRIx64 ", module %u\n", where->code.rel_pc,
		      where->code.module_index);
	for (size_t i = 0; where->line_status == WS_OK && i < where->n_chain; i++) {
		const struct ws_line_pos *pos = &where->chain[i];
		ws_out_text(out, i ? "             inlined at " : "             at ");
		ws_position_text(out, pos, false);
		if (pos->function) {
			ws_out_text(out, " in ");
			ws_name_text(out, ws_str_of(pos->function), false);
		}
		ws_out_text(out, "\n");
	}
	if (where->line_status != WS_OK)
		ws_out_printf(out, "             line: %s\n", ws_missing_word(where->line_status));
}

static void print_where_range(struct ws_out *out, const char *title,
			      const struct ws_memory_range *range)
{
	ws_out_printf(out, "  %-10s %s%s 0x%" PRIx64 ", %" PRIu64 " bytes", title,
		      ws_space_text(range->space), range->managed ? " (managed)" : "", range->start,
		      range->size);
	if (range->space == WS_SPACE_CONST)
		ws_out_printf(out, ", bank %u", range->bank);
	if (range->bytes_present < range->size)
		ws_out_printf(out, ", only %" PRIu64 " in the file", range->bytes_present);
}

static void print_memory(struct ws_out *out, const struct where *where)
{
	if (where->memory_status != WS_OK) {
		ws_out_printf(out, "  memory     %s\n", ws_missing_word(where->memory_status));
		return;
	}
	for (size_t i = 0; i < where->n_hits; i++) {
		print_where_range(out, "range", &where->hits[i].range);
		ws_out_printf(out, ", offset 0x%" PRIx64 "\n", where->hits[i].offset);
	}
	if (where->n_hits == 0)
		ws_out_text(out, "  range      none known\n");
	if (where->has_below) {
		print_where_range(out, "below", &where->below);
		ws_out_printf(out, ", ends 0x%" PRIx64 " bytes before\n",
			      where->address - (where->below.start + where->below.size));
	}
	if (where->has_above) {
		print_where_range(out, "above", &where->above);
		ws_out_printf(out, ", starts 0x%" PRIx64 " bytes after\n",
			      where->above.start - where->address);
	}
}

static void print_info_where(struct ws_out *out, const struct wsi_info *info,
			     const struct where *where)
{
	ws_out_printf(out, "0x%" PRIx64 "\n", where->address);
	print_where_code(out, where);
	print_memory(out, where);
	for (size_t i = 0; i < where->n_windows; i++) {
		const struct window *window = &where->windows[i];
		ws_out_printf(out,
			      "  window     %s 0x%" PRIx64 " of context 0x%" PRIx64
			      " (length assumed)\n",
			      ws_space_text(window->space), window->offset, window->context);
	}
	if (where->n_holders) {
		ws_out_text(out, "  registers ");
		for (size_t i = 0; i < where->n_holders; i++)
			ws_out_printf(out, "%s%s", i ? ", " : " ", where->holders[i]);
		ws_out_text(out, " of ");
		ws_threads_focus_text(info->threads, out);
		ws_out_text(out, "\n");
	}
}

/* ---- JSON ---- */

static void json_code(struct ws_json *json, const struct where *where)
{
	if (where->code_status != WS_OK) {
		ws_json_missing(json, "code", where->code_status);
		return;
	}
	const struct ws_function *function = where->code.function;
	ws_json_key_object(json, "code");
	ws_json_key_u64(json, "module", where->code.module_index);
	if (ws_json_key_given(json, "function_mangled", function ? WS_OK : WS_ABSENT))
		ws_json_str(json, function->name);
	ws_json_key_hex(json, "rel_pc", where->code.rel_pc);
	if (where->line_status != WS_OK) {
		ws_json_missing(json, "chain", where->line_status);
		ws_json_end(json);
		return;
	}
	ws_json_key_array(json, "chain");
	for (size_t i = 0; i < where->n_chain; i++) {
		char path[512] = "";
		if (where->chain[i].file)
			ws_line_path(where->chain[i].file, path, sizeof path);
		ws_json_object(json);
		ws_json_key_text(json, "function_mangled", where->chain[i].function);
		ws_json_key_text(json, "file", where->chain[i].file ? path : NULL);
		ws_json_key_u64(json, "line", where->chain[i].line);
		ws_json_end(json);
	}
	ws_json_end(json);
	ws_json_end(json);
}

static void json_memory_range(struct ws_json *json, const struct ws_memory_range *range,
			      const uint64_t *offset)
{
	ws_json_object(json);
	ws_json_key_text(json, "space", ws_space_text(range->space));
	ws_json_key_hex(json, "start", range->start);
	ws_json_key_u64(json, "size", range->size);
	ws_json_key_u64(json, "bytes_present", range->bytes_present);
	ws_json_key_bool(json, "managed", range->managed);
	if (offset)
		ws_json_key_hex(json, "offset", *offset);
	ws_json_end(json);
}

static void json_memory(struct ws_json *json, const struct where *where)
{
	if (where->memory_status != WS_OK) {
		ws_json_missing(json, "ranges", where->memory_status);
		return;
	}
	ws_json_key_array(json, "ranges");
	for (size_t i = 0; i < where->n_hits; i++)
		json_memory_range(json, &where->hits[i].range, &where->hits[i].offset);
	ws_json_end(json);
	if (ws_json_key_or_null(json, "below", where->has_below))
		json_memory_range(json, &where->below, NULL);
	if (ws_json_key_or_null(json, "above", where->has_above))
		json_memory_range(json, &where->above, NULL);
}

static void json_where(struct wsi_info *info, const struct where *where)
{
	struct ws_json *json = info->json;
	ws_json_object(json);
	ws_json_key_hex(json, "address", where->address);
	json_code(json, where);
	json_memory(json, where);
	ws_json_key_array(json, "windows");
	for (size_t i = 0; i < where->n_windows; i++) {
		const struct window *window = &where->windows[i];
		ws_json_object(json);
		ws_json_key_text(json, "space", ws_space_text(window->space));
		ws_json_key_hex(json, "context", window->context);
		ws_json_key_hex(json, "offset", window->offset);
		ws_json_end(json);
	}
	ws_json_end(json);
	ws_json_key_array(json, "registers");
	for (size_t i = 0; i < where->n_holders; i++)
		ws_json_text(json, where->holders[i]);
	ws_json_end(json);
	ws_json_key(json, "holders");
	show_holders(info, where);
	ws_json_end(json);
}

void wsi_info_where(struct wsi_info *info)
{
	struct where *where = wsi_info_alloc(info, 1, sizeof *where);
	if (!where) {
		wsi_info_nothing(info);
		return;
	}
	where->address = info->query->address;
	look_at_code(where, info);
	look_at_windows(where, info->threads);
	look_at_memory(where, info->threads);
	look_at_registers(where, info->threads);
	if (info->json)
		json_where(info, where);
	else
		print_info_where(info->out, info, where);
	if (!info->json)
		show_holders(info, where);
	wsi_free(where);
}
