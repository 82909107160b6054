/* SPDX-License-Identifier: Apache-2.0 */
#include "text/table.h"

#include "base/base.h"

/*
 * Cells are kept as one run of terminated, already escaped strings, row by row:
 *
 *   text: "0\0" "sm_90\0" "80x\0" | "1\0" "sm_90\0" "80x\0" | ...
 */

struct ws_table {
	struct ws_column *columns; /* owned */
	size_t *width;             /* owned; in characters */
	size_t n_columns, n_cells;
	char *text; /* owned */
	size_t text_len, text_cap;
	size_t cell_off; /* of the cell that is being written */
	unsigned fit;    /* characters of a line; 0: any number */
	bool failed;
};

enum ws_status ws_table_create(const struct ws_column *columns, size_t n_columns,
			       struct ws_table **ret_table, struct ws_error *err)
{
	if (n_columns == 0)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "a table needs a column");
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

static size_t n_characters(const char *text)
{
	size_t n = 0;
	for (const char *p = text; *p; p++)
		n += ((unsigned char)*p & 0xc0) != 0x80;
	return n;
}

/* A `ws_write_fn` that appends to the table's text. */
static bool append(void *user, const char *bytes, size_t len)
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
	ws_out_init(out, append, table);
}

/* Ends a terminated text; false when memory is out. */
static bool text_end(struct ws_table *table, struct ws_out *out)
{
	if (ws_out_flush(out, NULL) != WS_OK || !append(table, "", 1))
		table->failed = true;
	return !table->failed;
}

void wsi_table_cell_end(struct ws_table *table, struct ws_out *out)
{
	if (!text_end(table, out))
		return;
	size_t column = table->n_cells++ % table->n_columns;
	size_t width = n_characters(table->text + table->cell_off);
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

/* ---- fitting into a width ---- */

enum { LEAST_WIDTH = 12 /* of a column that is cut */, MAX_FITTED = 64 /* columns */ };

void ws_table_fit(struct ws_table *table, unsigned width)
{
	table->fit = width;
}

void ws_columns_fit(size_t *width, const bool *may_cut, size_t n_columns, size_t room)
{
	size_t all = 0;
	for (size_t i = 0; i < n_columns; i++)
		all += width[i];
	while (all > room) {
		size_t widest = n_columns;
		for (size_t i = 0; i < n_columns; i++) {
			if (may_cut[i] && width[i] > LEAST_WIDTH &&
			    (widest == n_columns || width[i] > width[widest]))
				widest = i;
		}
		if (widest == n_columns)
			return;
		width[widest]--;
		all--;
	}
}

/* ---- printing ---- */

void ws_out_cell(struct ws_out *out, struct ws_str text, size_t width, size_t room, bool right,
		 bool keep_end, size_t *pending)
{
	size_t pad = room > width ? room - width : 0;
	*pending += right ? pad : 0;
	if (text.len) {
		ws_out_spaces(out, *pending);
		if (width > room)
			ws_out_cut(out, text, room, keep_end);
		else
			ws_out_escaped(out, text);
		*pending = 0;
	}
	*pending += right ? 0 : pad;
}

static void print_cell(const struct ws_table *table, struct ws_out *out, size_t column,
		       const char *text, size_t *pending)
{
	bool right = table->columns[column].align == WS_ALIGN_RIGHT;
	*pending += column ? 2 : 0;
	ws_out_cell(out, ws_str_of(text), n_characters(text), table->width[column], right, false,
		    pending);
}

static void columns_cut(const struct ws_table *table, unsigned indent)
{
	bool may_cut[MAX_FITTED];
	size_t between = 2 * (table->n_columns - 1) + indent;
	if (table->n_columns > MAX_FITTED)
		return;
	for (size_t i = 0; i < table->n_columns; i++)
		may_cut[i] = table->columns[i].align == WS_ALIGN_CUT;
	ws_columns_fit(table->width, may_cut, table->n_columns,
		       table->fit > between ? table->fit - between : 0);
}

enum ws_status ws_table_print(const struct ws_table *table, struct ws_out *out, unsigned indent,
			      struct ws_error *err)
{
	if (table->failed)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "table");
	assert(table->n_cells % table->n_columns == 0);
	if (table->fit)
		columns_cut(table, indent);
	size_t pending = indent;
	for (size_t i = 0; i < table->n_columns; i++)
		print_cell(table, out, i, table->columns[i].title, &pending);
	ws_out_text(out, "\n");

	const char *text = table->text;
	for (size_t row = 0; row < ws_table_rows(table); row++) {
		pending = indent;
		for (size_t i = 0; i < table->n_columns; i++) {
			print_cell(table, out, i, text, &pending);
			text += strlen(text) + 1;
		}
		ws_out_text(out, "\n");
	}
	return WS_OK;
}
