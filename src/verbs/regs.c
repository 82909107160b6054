/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the lanes that a filter lets through. One lane is a list; several are tables with a
 * row for each lane. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <warpscope/verbs.h>

#include "base/base.h"
#include "text/table.h"
#include "threads/threads.h"
#include "verbs/stack.h"

enum { TABLE_REGS = 8 /* in one table */ };

/* A kind of register. */
static const struct register_kind {
	enum ws_reg_kind kind;
	const char *name; /* of register 0, without the number */
	bool is_bool;
	bool of_lane; /* else its warp's */
} kinds[] = {
	{ WS_REG_R, "R", false, true },        { WS_REG_P, "P", true, true },
	{ WS_REG_UR, "UR", false, false },     { WS_REG_UP, "UP", true, false },
	{ WS_REG_BARRIER, "B", false, false },
};

_Static_assert(sizeof kinds / sizeof kinds[0] == WS_N_REG_KINDS, "each kind has its row");

/* What was recorded of a kind, and how many there should be. */
struct registers {
	enum ws_status status; /* why not even the first was recorded */
	uint32_t value[WS_MOST_REGISTERS];
	uint32_t n;        /* recorded */
	uint32_t expected; /* the hardware or the kernel has so many; 0: not known */
};

struct regs {
	const struct ws_threads *threads;
	const struct ws_regs_chosen *chosen; /* NULL: all */
	struct ws_out *out;
	struct ws_json *json; /* NULL in text */
	struct ws_symbols *symbols;
	uint32_t n_matching; /* lanes that the filter lets through */
	struct ws_regs_told *told;
	struct registers (*of_lane)[WS_N_REG_KINDS]; /* of the lanes of the warp at hand */
};

/* ---- which registers ---- */

static bool is_chosen(const struct regs *regs, size_t kind, uint32_t number)
{
	return !regs->chosen || regs->chosen->is_chosen[kind][number];
}

/* Every register of the kind: as many as there are. */
static bool is_whole(const struct regs *regs, size_t kind)
{
	return regs->chosen->is_chosen[kind][0] &&
	       regs->chosen->is_chosen[kind][WS_MOST_REGISTERS - 1];
}

/* "R4", "$R4", "R" for all of the kind. False when `text` does not begin so. */
static bool parse_register(const char **text, size_t *ret_kind, uint32_t *ret_first,
			   uint32_t *ret_last)
{
	const char *at = *text + (**text == '$');
	size_t letters = strspn(at, "RPUB");
	for (size_t i = 0; i < WS_N_REG_KINDS; i++) {
		if (strlen(kinds[i].name) != letters || strncmp(at, kinds[i].name, letters) != 0)
			continue;
		bool all = at[letters] < '0' || at[letters] > '9';
		char *end;
		unsigned long number = strtoul(at + letters, &end, 10);
		if (!all && number >= WS_MOST_REGISTERS)
			return false;
		*ret_kind = i;
		*ret_first = all ? 0 : (uint32_t)number;
		*ret_last = all ? WS_MOST_REGISTERS - 1 : (uint32_t)number;
		*text = all ? at + letters : end;
		return true;
	}
	return false;
}

bool ws_regs_choose(struct ws_regs_chosen *chosen, const char *word)
{
	bool more[WS_N_REG_KINDS][WS_MOST_REGISTERS] = { { false } };
	const char *name = word + (*word == '$');
	if (strcmp(name, "pc") == 0 || strcmp(name, "errorpc") == 0) {
		chosen->some = true; /* they are shown with all others */
		return true;
	}
	for (;;) {
		size_t kind, other;
		uint32_t first, last, to_first;
		if (!parse_register(&word, &kind, &first, &last))
			return false;
		if (*word == '-') {
			word++;
			if (!parse_register(&word, &other, &to_first, &last) || other != kind ||
			    last < first)
				return false;
		}
		for (uint32_t i = first; i <= last; i++)
			more[kind][i] = true;
		if (*word == '\0')
			break;
		if (*word++ != ',')
			return false;
	}
	for (size_t kind = 0; kind < WS_N_REG_KINDS; kind++) {
		for (uint32_t i = 0; i < WS_MOST_REGISTERS; i++)
			chosen->is_chosen[kind][i] |= more[kind][i];
	}
	chosen->some = true;
	return true;
}

/* ---- reading ---- */

static uint32_t expected(const struct ws_resident *place, enum ws_reg_kind kind)
{
	const struct ws_device *device = place->device;
	switch (kind) {
	case WS_REG_R:
		if (place->warp.have & WS_WARP_N_REGS)
			return place->warp.n_regs;
		return place->grid ? place->grid->n_regs : 0;
	case WS_REG_P:
		return device->n_preds_per_lane;
	case WS_REG_UR:
		return device->n_uniform_regs;
	case WS_REG_UP:
		return device->n_uniform_preds;
	case WS_REG_BARRIER:
		return device->n_convergence_barriers;
	}
	return 0;
}

static void registers_read(const struct regs *regs, const struct ws_resident *place, uint32_t lane,
			   enum ws_reg_kind kind, struct registers *ret_registers)
{
	struct registers *registers = ret_registers;
	registers->n = 0;
	registers->expected = expected(place, kind);
	registers->status =
		ws_target_registers(regs->threads->target, place->warp_index, lane, kind, 0,
				    WS_MOST_REGISTERS, registers->value, &registers->n, NULL);
	if (registers->status != WS_OK)
		registers->n = 0;
	if (registers->n > WS_MOST_REGISTERS)
		registers->n = WS_MOST_REGISTERS;
}

/* ---- text ---- */

static void print_pc(struct regs *regs, const struct ws_resident *place, const char *name,
		     uint64_t pc)
{
	struct ws_out *out = regs->out;
	const struct ws_symbol *symbol =
		ws_symbols_find(regs->symbols, place->warp.device_index, place->grid, pc);
	ws_out_printf(out, "%-8s 0x%016" PRIx64, name, pc);
	if (symbol->function_status == WS_OK) {
		ws_out_text(out, "  ");
		ws_out_escaped(out, ws_str_of(symbol->function));
	}
	if (symbol->line_status == WS_OK) {
		ws_out_text(out, " at ");
		ws_out_escaped(out, ws_str_of(symbol->path));
		ws_out_printf(out, ":%u", symbol->line);
	}
	ws_out_text(out, "\n");
}

static void print_not_saved(struct ws_out *out, const char *name, const struct registers *registers)
{
	ws_out_printf(out, "%-8s not saved (%s)\n", name,
		      ws_missing_word(registers->status == WS_OK ? WS_ABSENT : registers->status));
}

/* "R32-R39  not saved", with why; of chosen ones a line each. */
static void print_missing(struct ws_out *out, const struct regs *regs, size_t kind,
			  const struct registers *registers)
{
	char name[40];
	const char *letters = kinds[kind].name;
	uint32_t n = registers->n, expected = registers->expected;
	bool whole = regs->chosen && is_whole(regs, kind);
	for (uint32_t i = n; i < WS_MOST_REGISTERS && regs->chosen && !whole; i++) {
		if (!regs->chosen->is_chosen[kind][i])
			continue;
		snprintf(name, sizeof name, "%s%u", letters, i);
		if (expected && i >= expected)
			ws_out_printf(out, "%-8s none: there are %u\n", name, expected);
		else
			print_not_saved(out, name, registers);
	}
	if ((regs->chosen && !whole) || (n >= expected && registers->status == WS_OK))
		return;
	if (expected > n + 1)
		snprintf(name, sizeof name, "%s%u-%s%u", letters, n, letters, expected - 1);
	else if (expected)
		snprintf(name, sizeof name, "%s%u", letters, n);
	else
		snprintf(name, sizeof name, "%s", letters);
	print_not_saved(out, name, registers);
}

static void print_kind_rows(struct ws_out *out, const struct regs *regs, size_t kind,
			    const struct registers *registers)
{
	for (uint32_t i = 0; i < registers->n; i++) {
		char name[16];
		if (!is_chosen(regs, kind, i))
			continue;
		snprintf(name, sizeof name, "%s%u", kinds[kind].name, i);
		if (kinds[kind].is_bool)
			ws_out_printf(out, "%-8s %u\n", name, registers->value[i]);
		else
			ws_out_printf(out, "%-8s 0x%08" PRIx32 "  %" PRIu32 "\n", name,
				      registers->value[i], registers->value[i]);
	}
	print_missing(out, regs, kind, registers);
}

static void print_dim3(struct ws_out *out, const char *name, struct ws_dim3 dim)
{
	ws_out_printf(out, ", %s (%u,%u,%u)", name, dim.x, dim.y, dim.z);
}

static void print_lane_place(struct regs *regs, const struct ws_resident *place,
			     const struct ws_lane *lane)
{
	struct ws_out *out = regs->out;
	if (regs->told->n_lanes)
		ws_out_text(out, "\n");
	ws_out_printf(out, "Device %u SM %u Warp %u", place->device->id, place->sm.id,
		      place->warp.id);
	if (lane)
		ws_out_printf(out, " Lane %u", lane->id);
	if (place->kernel != WS_NONE)
		ws_out_printf(out, ", kernel %u", place->kernel);
	if (place->block_status == WS_OK)
		print_dim3(out, "block", place->block.idx);
	if (lane)
		print_dim3(out, "thread", lane->thread);
	ws_out_text(out, "\n");
	const struct wsi_thread_doubt doubt =
		wsi_threads_doubt_warp(regs->threads, place, lane ? lane->id : WSI_DOUBT_NO_LANE);
	if (*doubt.text) {
		ws_out_printf(out, "%-8s ", "doubt");
		ws_out_escaped(out, ws_str_of(doubt.text));
		ws_out_text(out, "\n");
	}
	if (lane)
		print_pc(regs, place, "pc", lane->pc);
	if (place->warp.error_pc_valid)
		print_pc(regs, place, "errorpc", place->warp.error_pc);
	else
		ws_out_printf(out, "%-8s none\n", "errorpc");
}

static void print_lane(struct regs *regs, const struct ws_resident *place,
		       const struct ws_lane *lane)
{
	print_lane_place(regs, place, lane);
	for (size_t i = 0; i < WS_N_REG_KINDS; i++) {
		struct registers registers;
		registers_read(regs, place, lane->id, kinds[i].kind, &registers);
		print_kind_rows(regs->out, regs, i, &registers);
	}
}

/* ---- several lanes ---- */

/* Up to TABLE_REGS registers of the lanes of a warp. */
struct sheet {
	struct regs *regs;
	const struct ws_resident *place;
	unsigned n;
	struct {
		size_t kind;
		uint32_t number;
		char name[16];
	} column[TABLE_REGS];
};

static void sheet_rows(struct ws_rows *rows, void *user)
{
	const struct sheet *sheet = user;
	struct regs *regs = sheet->regs;
	for (uint32_t i = 0; i < sheet->place->n_lanes; i++) {
		const struct ws_lane *lane = &sheet->place->lanes[i];
		const struct wsi_thread_doubt doubt =
			wsi_threads_doubt_warp(regs->threads, sheet->place, lane->id);
		wsi_rows_doubt(rows, doubt.text, &regs->told->n_doubted);
		ws_rows_begin(rows, ws_threads_has_focus(regs->threads, sheet->place) &&
					    regs->threads->focus.lane == lane->id);
		ws_rows_number(rows, lane->id);
		ws_rows_dim3(rows, lane->thread);
		ws_rows_hex(rows, lane->pc, 16);
		for (unsigned k = 0; k < sheet->n; k++) {
			const struct registers *one = &regs->of_lane[i][sheet->column[k].kind];
			uint32_t number = sheet->column[k].number;
			if (number >= one->n)
				wsi_rows_missing(rows,
						 one->status == WS_OK ? WS_ABSENT : one->status);
			else if (kinds[sheet->column[k].kind].is_bool)
				ws_rows_number(rows, one->value[number]);
			else
				ws_rows_hex(rows, one->value[number], 8);
		}
		ws_rows_end(rows);
	}
}

static void sheet_print(struct sheet *sheet)
{
	struct ws_rows_column columns[3 + TABLE_REGS] = { { "Ln", "lane", 0 },
							  { "ThreadIdx", "threadIdx", 0 },
							  { "PC", "pc", 0 } };
	for (unsigned i = 0; i < sheet->n; i++)
		columns[3 + i] = (struct ws_rows_column){ sheet->column[i].name, "", 0 };
	const struct ws_rows_style style = { .out = sheet->regs->out };
	ws_rows_show(&style, columns, 3 + sheet->n, "", sheet_rows, sheet);
	sheet->n = 0;
}

/* Of a kind as many as the lane has that has most. */
static uint32_t most_saved(const struct regs *regs, const struct ws_resident *place, size_t kind)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < place->n_lanes; i++)
		n = regs->of_lane[i][kind].n > n ? regs->of_lane[i][kind].n : n;
	return n;
}

static void print_warp(struct regs *regs, const struct ws_resident *place)
{
	struct ws_out *out = regs->out;
	struct sheet sheet = { .regs = regs, .place = place };
	print_lane_place(regs, place, NULL);
	for (uint32_t i = 0; i < place->n_lanes; i++) {
		for (size_t kind = 0; kind < WS_N_REG_KINDS; kind++)
			registers_read(regs, place, place->lanes[i].id, kinds[kind].kind,
				       &regs->of_lane[i][kind]);
	}
	for (size_t kind = 0; kind < WS_N_REG_KINDS; kind++) {
		uint32_t n = kinds[kind].of_lane ? most_saved(regs, place, kind) : 0;
		for (uint32_t i = 0; i < n; i++) {
			if (!is_chosen(regs, kind, i))
				continue;
			sheet.column[sheet.n].kind = kind;
			sheet.column[sheet.n].number = i;
			snprintf(sheet.column[sheet.n].name, sizeof sheet.column[0].name, "%s%u",
				 kinds[kind].name, i);
			if (++sheet.n == TABLE_REGS)
				sheet_print(&sheet);
		}
	}
	if (sheet.n)
		sheet_print(&sheet);
	for (size_t kind = 0; kind < WS_N_REG_KINDS; kind++) {
		if (kinds[kind].of_lane)
			print_missing(out, regs, kind, &regs->of_lane[0][kind]);
		else
			print_kind_rows(out, regs, kind, &regs->of_lane[0][kind]);
	}
}

/* ---- JSON ---- */

static void json_register_kind(struct ws_json *json, const struct register_kind *kind,
			       const struct registers *registers)
{
	char key[24];
	if (registers->status != WS_OK) {
		ws_json_missing(json, kind->name, registers->status);
	} else {
		ws_json_key_array_line(json, kind->name);
		for (uint32_t i = 0; i < registers->n; i++)
			ws_json_u64(json, registers->value[i]);
		ws_json_end(json);
	}
	snprintf(key, sizeof key, "%s_expected", kind->name);
	ws_json_key_u64(json, key, registers->expected);
}

/* Chosen registers by their names. */
static void json_chosen(const struct regs *regs, size_t kind, const struct registers *registers)
{
	for (uint32_t i = 0; i < WS_MOST_REGISTERS; i++) {
		char name[16];
		if (!regs->chosen->is_chosen[kind][i] ||
		    (is_whole(regs, kind) && i >= registers->n))
			continue;
		snprintf(name, sizeof name, "%s%u", kinds[kind].name, i);
		if (ws_json_key_given(regs->json, name,
				      i < registers->n             ? WS_OK
				      : registers->status == WS_OK ? WS_ABSENT
								   : registers->status))
			ws_json_u64(regs->json, registers->value[i]);
	}
}

static void json_lane(struct regs *regs, const struct ws_resident *place,
		      const struct ws_lane *lane)
{
	struct ws_json *json = regs->json;
	ws_json_object(json);
	ws_resident_json(place, lane, json);
	if (ws_json_key_or_null(json, "errorpc", place->warp.error_pc_valid))
		ws_json_hex(json, place->warp.error_pc);
	const struct wsi_thread_doubt doubt =
		wsi_threads_doubt_warp(regs->threads, place, lane->id);
	ws_json_key_text(json, "doubt", *doubt.text ? doubt.text : NULL);
	if (regs->chosen)
		ws_json_key_object(json, "selected");
	for (size_t i = 0; i < WS_N_REG_KINDS; i++) {
		struct registers registers;
		registers_read(regs, place, lane->id, kinds[i].kind, &registers);
		if (regs->chosen)
			json_chosen(regs, i, &registers);
		else
			json_register_kind(json, &kinds[i], &registers);
	}
	if (regs->chosen)
		ws_json_end(json);
	ws_json_end(json);
}

/* ---- the whole ---- */

static void count(void *user, const struct ws_resident *place)
{
	((struct regs *)user)->n_matching += place->n_lanes;
}

static void visit_lane(void *user, const struct ws_resident *place)
{
	struct regs *regs = user;
	bool table = !regs->json && regs->n_matching > 1;
	for (uint32_t i = 0; i < place->n_lanes && !table; i++) {
		if (regs->json)
			json_lane(regs, place, &place->lanes[i]);
		else
			print_lane(regs, place, &place->lanes[i]);
	}
	if (table && place->n_lanes)
		print_warp(regs, place);
	regs->told->n_lanes += place->n_lanes;
}

static enum ws_status regs_walk(struct regs *regs, const struct ws_filter *filter,
				struct ws_error *err)
{
	*regs->told = (struct ws_regs_told){ 0 };
	if (regs->chosen && !regs->chosen->some)
		regs->chosen = NULL;
	regs->of_lane = wsi_zalloc_array(WS_MAX_LANES, sizeof *regs->of_lane);
	if (!regs->of_lane)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "no memory for registers");
	enum ws_status st = ws_symbols_create(regs->threads->target, &regs->symbols, err);
	if (st == WS_OK) {
		ws_threads_walk(regs->threads, filter, WS_WALK_LANES, count, regs);
		ws_threads_walk(regs->threads, filter, WS_WALK_LANES, visit_lane, regs);
	}
	ws_symbols_destroy(regs->symbols);
	wsi_free(regs->of_lane);
	return st;
}

enum ws_status ws_regs_answer(const struct ws_threads *threads, const struct ws_filter *filter,
			      const struct ws_regs_chosen *chosen,
			      const struct ws_answer_style *style, struct ws_regs_told *ret_told,
			      struct ws_error *err)
{
	struct ws_json json;
	struct regs regs = { .threads = threads,
			     .chosen = chosen,
			     .out = style->out,
			     .json = style->json ? &json : NULL,
			     .told = ret_told };
	if (style->json) {
		wsi_verbs_json_begin(threads, "warpscope-regs-1", &json, style->out);
		ws_json_key_array(&json, "lanes");
	}
	enum ws_status st = regs_walk(&regs, filter, err);
	if (st == WS_OK && style->json) {
		ws_json_end(&json);
		ws_json_end(&json);
	} else if (st == WS_OK && ret_told->n_lanes == 0) {
		ws_out_text(style->out, "No CUDA Lanes.\n");
	}
	return st;
}
