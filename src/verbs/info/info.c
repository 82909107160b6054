/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of what a target has: cuda-gdb's `info cuda`, and more of their kind. This file has
 * what they share; the other files of the folder have the tables.
 */
#include "verbs/info/info.h"

#include <stdio.h>

#include <warpscope/exception.h>

struct info_table {
	const char *name, *none, *shows;
	unsigned focus_words; /* what the focus limits by default */
	void (*show)(struct wsi_info *info);
};

static const struct info_table tables[] = {
#define X(name, none, words, shows) { #name, none, shows, words, wsi_info_##name },
	INFO_TABLE_LIST(X)
#undef X
};

enum {
	N_TABLES = sizeof tables / sizeof tables[0],
	MOST_ROWS = 1000, /* of text, unless a limit is given */
};

const char *ws_info_table_name(size_t index)
{
	return index < N_TABLES ? tables[index].name : NULL;
}

/* ---- what tables share ---- */

void wsi_info_no_memory(struct wsi_info *info)
{
	info->status = wsi_fail(info->err, WS_NO_MEMORY, WS_NO_OFFSET, "no memory for the table");
}

void wsi_info_nothing(struct wsi_info *info)
{
	if (info->json)
		ws_json_null(info->json);
}

void *wsi_info_alloc(struct wsi_info *info, size_t count, size_t size)
{
	void *room = wsi_zalloc_array(count ? count : 1, size);
	if (!room)
		wsi_info_no_memory(info);
	return room;
}

bool wsi_info_asks_below_sm(const struct wsi_info *info)
{
	for (unsigned word = WS_FILTER_warp; word < WS_FILTER_N_WORDS; word++) {
		if (ws_filter_limits(&info->filter, (enum ws_filter_word)word))
			return true;
	}
	return false;
}

static void produce_and_look(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	info->rows = rows;
	info->produce(rows, info);
	if (rows->no_memory)
		wsi_info_no_memory(info);
}

void wsi_info_rows(struct wsi_info *info, const struct ws_rows_column *columns, unsigned n_columns,
		   ws_rows_produce *produce)
{
	info->produce = produce;
	size_t n =
		ws_rows_show(&info->style, columns, n_columns, info->none, produce_and_look, info);
	if (info->style.limit && n > info->style.limit)
		info->n_left_out += n - info->style.limit;
}

struct ws_symbols *wsi_info_symbols(struct wsi_info *info)
{
	if (!info->symbols) {
		enum ws_status st =
			ws_symbols_create(info->threads->target, &info->symbols, info->err);
		info->status = st != WS_OK ? st : info->status;
	}
	return info->symbols;
}

const struct ws_symbol *wsi_info_symbol(struct wsi_info *info, bool wanted, uint32_t device_index,
					const struct ws_grid *grid, uint64_t pc)
{
	static const struct ws_symbol nothing = { .function_status = WS_ABSENT,
						  .line_status = WS_ABSENT };
	if (!wanted || !wsi_info_symbols(info))
		return &nothing;
	return ws_symbols_find(info->symbols, device_index, grid, pc);
}

void wsi_info_unreadable(struct wsi_info *info, const struct ws_rows *rows)
{
	if (rows->first)
		info->told->n_unreadable++;
}

void wsi_info_cell_exception(struct ws_rows *rows, uint32_t code)
{
	const struct ws_exception *kind = ws_exception_find(code);
	char unknown[64];
	snprintf(unknown, sizeof unknown, "exception %u (not known to this version)", code);
	ws_rows_text(rows, code == 0 ? "None" : kind ? kind->label : unknown);
}

void wsi_info_heading_kernel(struct ws_rows *rows, uint32_t kernel)
{
	if (kernel == WS_NONE)
		ws_rows_heading(rows, "Kernel -");
	else
		ws_rows_heading(rows, "Kernel %u", kernel);
}

void wsi_info_cell_kernel(struct ws_rows *rows, uint32_t kernel)
{
	ws_rows_if(rows, 1, kernel != WS_NONE);
	ws_rows_number(rows, kernel);
}

void wsi_info_cell_function(struct ws_rows *rows, const struct ws_symbol *symbol)
{
	ws_rows_given(rows, 1, symbol->function_status);
	ws_rows_text(rows, symbol->function);
}

void wsi_info_cells_line(struct ws_rows *rows, const struct ws_symbol *symbol)
{
	ws_rows_given(rows, 2, symbol->line_status);
	ws_rows_text(rows, symbol->path);
	ws_rows_number(rows, symbol->line);
}

void wsi_info_cells_symbol(struct ws_rows *rows, const struct ws_symbol *symbol)
{
	wsi_info_cell_function(rows, symbol);
	wsi_info_cells_line(rows, symbol);
}

void wsi_info_cells_sm_words(struct ws_rows *rows, const struct ws_sm *sm)
{
	ws_rows_if(rows, 1, sm->have & WS_SM_CLUSTER_TARGET);
	ws_rows_or_none(rows, 1, sm->cluster_target_valid);
	ws_rows_dim3(rows, sm->cluster_target);
	ws_rows_if(rows, 1, sm->have & WS_SM_EXCEPTION_TEXT);
	ws_rows_or_none(rows, 1, sm->exception_text.len);
	ws_rows_str(rows, sm->exception_text);
}

void wsi_info_cell_dim3(struct ws_rows *rows, enum ws_status status, struct ws_dim3 dim)
{
	ws_rows_given(rows, 1, status);
	ws_rows_dim3(rows, dim);
}

void wsi_info_cell_name(struct ws_rows *rows, const char *const *names, size_t n, uint32_t number)
{
	char text[16];
	if (number >= n)
		snprintf(text, sizeof text, "%u", number);
	ws_rows_text(rows, number < n ? names[number] : text);
}

void wsi_info_cell_cbu_state(struct ws_rows *rows, uint32_t state)
{
	static const char *const names[] = { "exited",
					     "ready",
					     "yielded",
					     "sleeping",
					     "sleeping, yielded",
					     "ready at next",
					     "blocked plus",
					     "blocked all",
					     "blocked collective" };
	enum { N_NAMES = sizeof names / sizeof names[0], N_BARRIERS = 16 };
	char text[24];
	if (state >= N_NAMES && state < N_NAMES + N_BARRIERS) {
		snprintf(text, sizeof text, "blocked at B%u", state - N_NAMES);
		ws_rows_text(rows, text);
	} else {
		wsi_info_cell_name(rows, names, N_NAMES, state);
	}
}

/* ---- the list of tables ---- */

static const struct ws_rows_column table_columns[] = { { "Table", "name", WS_ROWS_LEFT },
						       { "All rows", "rows", 0 },
						       { "Shows", "shows", WS_ROWS_LEFT } };

static void produce_tables(struct ws_rows *rows, void *user)
{
	const struct ws_counts *counts = &((struct wsi_info *)user)->threads->counts;
	const struct {
		const char *name;
		uint32_t n; /* rows that the target counts */
	} known[] = { { "devices", counts->devices }, { "contexts", counts->contexts },
		      { "modules", counts->modules }, { "kernels", counts->grids },
		      { "blocks", counts->blocks },   { "warps", counts->warps } };
	for (size_t i = 0; i < N_TABLES; i++) {
		const char *name = tables[i].name;
		size_t k = 0;
		while (k < sizeof known / sizeof known[0] && strcmp(known[k].name, name) != 0)
			k++;
		const bool is_known = k < sizeof known / sizeof known[0];
		ws_rows_begin(rows, false);
		ws_rows_text(rows, strcmp(name, "launch_trace") == 0      ? "launch trace"
				   : strcmp(name, "launch_children") == 0 ? "launch children"
				   : strcmp(name, "where") == 0           ? "where ADDRESS"
									  : name);
		ws_rows_or_none(rows, 1, is_known);
		ws_rows_number(rows, is_known ? known[k].n : 0);
		ws_rows_text(rows, tables[i].shows);
		ws_rows_end(rows);
	}
}

static void tables_show(struct wsi_info *info)
{
	INFO_ROWS(info, table_columns, produce_tables);
}

/* ---- the whole ---- */

static const struct info_table list_of_tables = { "tables", "", "", 0, tables_show };

static const struct info_table *table_find(const char *name)
{
	for (size_t i = 0; name && i < N_TABLES; i++) {
		if (strcmp(tables[i].name, name) == 0)
			return &tables[i];
	}
	return name ? NULL : &list_of_tables;
}

/* What is in focus, as far as the table has it; without a focus everything. */
static void filter_default(struct wsi_info *info, const struct info_table *table)
{
	for (unsigned word = 0; info->threads->have_focus && word < WS_FILTER_N_WORDS; word++) {
		if (table->focus_words >> word & 1)
			ws_filter_current(&info->filter, &info->threads->at,
					  (enum ws_filter_word)word);
	}
}

static void info_json_end(const struct wsi_info *info)
{
	const struct ws_info_told *told = info->told;
	ws_json_key_u64(info->json, "unreadable_warps", told->n_unreadable);
	if (told->n_doubted_sms)
		ws_json_key_u64(info->json, "doubted_sms", told->n_doubted_sms);
	if (told->n_doubted_lanes)
		ws_json_key_u64(info->json, "doubted_lanes", told->n_doubted_lanes);
	if (told->n_doubted_rows)
		ws_json_key_u64(info->json, "doubted_rows", told->n_doubted_rows);
	if (info->is_limited)
		ws_json_key_u64(info->json, "rows_left_out", info->n_left_out);
	ws_json_end(info->json);
}

enum ws_status ws_info_answer(const struct ws_threads *threads, const struct ws_info *query,
			      const struct ws_answer_style *style, struct ws_info_told *ret_told,
			      struct ws_error *err)
{
	const struct info_table *table = table_find(query->table);
	struct ws_json json;
	*ret_told = (struct ws_info_told){ 0 };
	if (!table)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no table '%s'", query->table);
	struct wsi_info info = { .threads = threads,
				 .query = query,
				 .style = { .out = style->out,
					    .json = style->json ? &json : NULL,
					    .wide = query->wide,
					    .limit = query->has_limit ? query->limit
						     : style->json    ? 0
								      : MOST_ROWS,
					    .columns = style->columns },
				 .out = style->out,
				 .json = style->json ? &json : NULL,
				 .with_code = query->wide || style->json,
				 .none = table->none,
				 .is_limited = query->has_limit,
				 .told = ret_told,
				 .err = err };
	if (query->filter)
		info.filter = *query->filter;
	else
		filter_default(&info, table);
	if (style->json) {
		ws_json_begin(&json, style->out, "warpscope-info-1");
		ws_json_key_text(&json, "table", table->name);
		ws_json_key(&json, "focus");
		ws_threads_focus_json(threads, &json);
		ws_json_key(&json, table->name);
	}
	table->show(&info);
	if (style->json)
		info_json_end(&info);
	ws_symbols_destroy(info.symbols);
	return info.status;
}
