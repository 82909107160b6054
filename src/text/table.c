/* SPDX-License-Identifier: Apache-2.0 */
#include "text/table.h"

#include "base/base.h"
#include "text/width.h"

/*
 * Cells are kept as one run of terminated, already escaped strings, row by row:
 *
 *   text: "0\0" "sm_90\0" "80x\0" | "1\0" "sm_90\0" "80x\0" | ...
 */

enum { MAX_COLUMNS = 64, CELL_GAP = 2 };

struct ws_table {
	struct ws_column *columns; /* owned */
	size_t *width;             /* owned; in columns of a terminal */
	size_t n_columns, n_cells;
	char *text; /* owned */
	size_t text_len, text_cap;
	size_t cell_off; /* of the cell that is being written */
	unsigned fit;    /* columns of the terminal; 0: any number */
	bool failed;
};

enum ws_status ws_table_create(const struct ws_column *columns, size_t n_columns,
			       struct ws_table **ret_table, struct ws_error *err)
{
	if (n_columns == 0 || n_columns > MAX_COLUMNS)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a table has 1 to %d columns",
				MAX_COLUMNS);
	struct ws_table *table = wsi_zalloc(sizeof *table);
	if (table) {
		table->columns = wsi_zalloc_array(n_columns, sizeof *columns);
		table->width = wsi_zalloc_array(n_columns, sizeof *table->width);
		table->n_columns = n_columns;
	}
	if (!table || !table->columns || !table->width) {
		ws_table_destroy(table);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "table");
	}
	for (size_t i = 0; i < n_columns; i++) {
		table->columns[i] = columns[i];
		table->width[i] = strlen(columns[i].title);
	}
	*ret_table = table;
	return WS_OK;
}

void ws_table_destroy(struct ws_table *table)
{
	if (!table)
		return;
	wsi_free(table->columns);
	wsi_free(table->width);
	wsi_free(table->text);
	wsi_free(table);
}

/* A `ws_write_fn` that appends to the table's text. */
static bool table_text_append(void *user, const char *bytes, size_t len)
{
	struct ws_table *table = user;
	if (len > table->text_cap - table->text_len) {
		size_t want = table->text_cap ? table->text_cap : 1024;
		while (want - table->text_len < len)
			want *= 2;
		char *grown = wsi_realloc_array(table->text, want, 1);
		if (!grown) {
			table->failed = true;
			return false;
		}
		table->text = grown;
		table->text_cap = want;
	}
	memcpy(table->text + table->text_len, bytes, len);
	table->text_len += len;
	return true;
}

void wsi_table_cell_start(struct ws_table *table, struct ws_out *out)
{
	table->cell_off = table->text_len;
	ws_out_init(out, table_text_append, table);
}

/* Ends a terminated text; false when memory is out. */
static bool text_end(struct ws_table *table, struct ws_out *out)
{
	if (ws_out_flush(out, NULL) != WS_OK || !table_text_append(table, "", 1))
		table->failed = true;
	return !table->failed;
}

void wsi_table_cell_end(struct ws_table *table, struct ws_out *out)
{
	if (!text_end(table, out))
		return;
	size_t column = table->n_cells++ % table->n_columns;
	const char *cell = table->text + table->cell_off;
	size_t width = wsi_text_width(cell, strlen(cell));
	if (width > table->width[column])
		table->width[column] = width;
}

void ws_table_cell(struct ws_table *table, struct ws_str text)
{
	struct ws_out out;
	wsi_table_cell_start(table, &out);
	ws_out_escaped(&out, text);
	wsi_table_cell_end(table, &out);
}

void ws_table_printf(struct ws_table *table, const char *format, ...)
{
	char text[301];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	ws_table_cell(table, ws_str_of(text));
}

size_t ws_table_rows(const struct ws_table *table)
{
	return table->n_cells / table->n_columns;
}

/* ---- folding ---- */

void ws_table_fit(struct ws_table *table, unsigned width)
{
	table->fit = width;
}

void ws_columns_fold(size_t *width, size_t n_columns, size_t indent, size_t gap, size_t room,
		     bool *ret_begins)
{
	size_t start = indent, used = indent;
	for (size_t i = 0; i < n_columns; i++) {
		ret_begins[i] = used > start && used + gap + width[i] > room;
		if (ret_begins[i])
			used = start = indent + WS_FOLD_INDENT;
		else if (i > 0)
			used += gap;
		if (used == start && start < room && width[i] > room - start)
			width[i] = room - start;
		used += width[i];
	}
}

/* ---- printing ---- */

void wsi_out_cell(struct ws_out *out, struct ws_str text, size_t width, size_t room, bool right,
		  size_t *pending)
{
	size_t pad = room > width ? room - width : 0;
	*pending += right ? pad : 0;
	if (text.len) {
		ws_out_spaces(out, *pending);
		ws_out_escaped(out, text);
		*pending = 0;
	}
	*pending += right ? 0 : pad;
}

/* One row, or the titles. Where the row is folded the column `begins` a line. */
static const char *print_table_row(const struct ws_table *table, struct ws_out *out,
				   unsigned indent, const bool *begins, const char *text)
{
	size_t pending = indent;
	for (size_t i = 0; i < table->n_columns; i++) {
		const char *cell = text ? text : table->columns[i].title;
		size_t len = strlen(cell);
		if (begins[i]) {
			ws_out_text(out, "\n");
			pending = indent + WS_FOLD_INDENT;
		} else {
			pending += i ? CELL_GAP : 0;
		}
		wsi_out_cell(out, (struct ws_str){ cell, len }, wsi_text_width(cell, len),
			     table->width[i],
			     table->columns[i].align == WS_ALIGN_RIGHT && !begins[i], &pending);
		text = text ? text + len + 1 : NULL;
	}
	ws_out_text(out, "\n");
	return text;
}

enum ws_status ws_table_print(const struct ws_table *table, struct ws_out *out, unsigned indent,
			      struct ws_error *err)
{
	bool begins[MAX_COLUMNS] = { false };
	if (table->failed)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "table");
	assert(table->n_cells % table->n_columns == 0);
	assert(table->n_columns <= MAX_COLUMNS);
	if (table->fit)
		ws_columns_fold(table->width, table->n_columns, indent, CELL_GAP, table->fit,
				begins);
	print_table_row(table, out, indent, begins, NULL);
	const char *text = table->text;
	for (size_t row = 0; row < ws_table_rows(table); row++)
		text = print_table_row(table, out, indent, begins, text);
	return WS_OK;
}
