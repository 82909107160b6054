/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that are described once and shown as text or as JSON. */
#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "text/table.h"

enum {
	ROW_INDENT = 2,     /* a star or a question mark, and a space */
	MOST_KEPT = 4 << 20 /* bytes */
};

/* ---- text that is kept until the widths are known ---- */

/*
 * What text shows of the rows, as (length, number, bytes): of each row the heading above it, empty
 * where none is due, with the row's mark as the number; then its cells, with their widths.
 * `failed`: it would be too much.
 */
struct ws_rows_kept {
	struct wsi_bytes bytes;
};

struct kept_head {
	uint32_t len, number;
};

static void keep(struct wsi_bytes *kept, struct ws_str text, size_t number)
{
	const struct kept_head head = { (uint32_t)text.len, (uint32_t)number };
	if (kept->failed)
		return;
	if (text.len > MOST_KEPT || kept->len + sizeof head + text.len > MOST_KEPT) {
		wsi_bytes_fini(kept);
		kept->failed = true;
		return;
	}
	wsi_bytes_put(kept, &head, sizeof head);
	wsi_bytes_put(kept, text.ptr, text.len);
}

static struct ws_str next_kept(const struct wsi_bytes *kept, size_t *at, uint32_t *ret_number)
{
	struct kept_head head;
	memcpy(&head, kept->ptr + *at, sizeof head);
	const char *text = (const char *)kept->ptr + *at + sizeof head;
	*at += sizeof head + head.len;
	*ret_number = head.number;
	return (struct ws_str){ text, head.len };
}

/* ---- text ---- */

static bool is_shown(const struct ws_rows *rows, unsigned column)
{
	unsigned flags = rows->columns[column].flags;
	return !(flags & WS_ROWS_DATA) && (rows->style.wide || !(flags & WS_ROWS_WIDE));
}

/* The heading, where it is not empty, and the row's mark, where it is not 0. */
static void print_start(struct ws_rows *rows, struct ws_str heading, char mark)
{
	if (heading.len) {
		ws_out_escaped(rows->out, heading);
		ws_out_text(rows->out, "\n");
	}
	rows->pending = !mark;
	if (mark)
		ws_out_bytes(rows->out, &mark, 1);
}

static void print_cell(struct ws_rows *rows, unsigned column, struct ws_str text, size_t width)
{
	unsigned flags = rows->columns[column].flags;
	bool right = !(flags & WS_ROWS_LEFT) && !rows->begins[column];
	if (rows->begins[column]) {
		ws_out_text(rows->out, "\n");
		rows->pending = ROW_INDENT + WS_FOLD_INDENT;
	} else {
		rows->pending++;
	}
	wsi_out_cell(rows->out, text, width, rows->width[column], right, &rows->pending);
}

/* The next cell of a row: `width` characters. */
static void text_cell(struct ws_rows *rows, struct ws_str text, size_t width)
{
	unsigned column = rows->at++;
	assert(column < rows->n_columns);
	if (!is_shown(rows, column))
		return;
	if (!rows->first) {
		print_cell(rows, column, text, width);
		return;
	}
	if (width > rows->width[column])
		rows->width[column] = width;
	if (!rows->kept->bytes.failed)
		keep(&rows->kept->bytes, text, width);
}

static void short_cell(struct ws_rows *rows, const char *text, size_t len)
{
	text_cell(rows, (struct ws_str){ text, len }, len);
}

static const char *json_key(struct ws_rows *rows)
{
	assert(rows->at < rows->n_columns);
	return rows->columns[rows->at++].key;
}

static void print_titles(struct ws_rows *rows)
{
	print_start(rows, (struct ws_str){ NULL, 0 }, 0);
	for (unsigned i = 0; i < rows->n_columns; i++) {
		if (is_shown(rows, i)) {
			struct ws_str title = ws_str_of(rows->columns[i].title);
			print_cell(rows, i, title, title.len);
		}
	}
	ws_out_text(rows->out, "\n");
}

static void print_kept(struct ws_rows *rows)
{
	const struct wsi_bytes *kept = &rows->kept->bytes;
	for (size_t at = 0; at < kept->len;) {
		uint32_t number;
		struct ws_str text = next_kept(kept, &at, &number);
		print_start(rows, text, (char)number);
		for (unsigned i = 0; i < rows->n_columns; i++) {
			if (is_shown(rows, i)) {
				text = next_kept(kept, &at, &number);
				print_cell(rows, i, text, number);
			}
		}
		ws_out_text(rows->out, "\n");
	}
}

/* ---- tables and rows ---- */

/* Chooses the columns that begin another line, among those that are shown. */
static void fold(struct ws_rows *rows)
{
	size_t width[WS_ROWS_MAX_COLUMNS];
	bool begins[WS_ROWS_MAX_COLUMNS];
	unsigned at[WS_ROWS_MAX_COLUMNS], n = 0;
	for (unsigned i = 0; i < rows->n_columns; i++) {
		if (is_shown(rows, i)) {
			at[n] = i;
			width[n++] = rows->width[i];
		}
	}
	ws_columns_fold(width, n, ROW_INDENT, 1, rows->style.columns, begins);
	for (unsigned i = 0; i < n; i++) {
		rows->width[at[i]] = width[i];
		rows->begins[at[i]] = begins[i];
	}
}

/* Rows that were too many to keep. */
static void print_again(struct ws_rows *rows, ws_rows_produce *produce, void *user)
{
	rows->first = rows->skipping = rows->heading_due = false;
	rows->n_rows = 0;
	rows->heading[0] = '\0';
	produce(rows, user);
}

size_t ws_rows_show(const struct ws_rows_style *style, const struct ws_rows_column *columns,
		    unsigned n_columns, const char *none, ws_rows_produce *produce, void *user)
{
	assert(n_columns <= WS_ROWS_MAX_COLUMNS);
	struct ws_out *out = style->out;
	struct ws_rows_kept kept = { .bytes = { .ptr = NULL } };
	struct ws_rows rows = { .style = *style,
				.out = out,
				.json = style->json,
				.first = true,
				.kept = &kept,
				.none = none,
				.columns = columns,
				.n_columns = n_columns };
	if (style->json) {
		ws_json_array(style->json);
		produce(&rows, user);
		ws_json_end(style->json);
		return rows.n_rows;
	}
	for (unsigned i = 0; i < n_columns; i++)
		rows.width[i] = is_shown(&rows, i) ? strlen(columns[i].title) : 0;
	produce(&rows, user);
	if (rows.n_rows == 0) {
		ws_out_printf(out, "%s\n", rows.none);
		return 0;
	}
	if (style->columns)
		fold(&rows);
	print_titles(&rows);
	if (kept.bytes.failed)
		print_again(&rows, produce, user);
	else
		print_kept(&rows);
	wsi_bytes_fini(&kept.bytes);
	if (rows.skipping) {
		size_t more = rows.n_rows - (size_t)style->limit;
		ws_out_printf(out, "... and %zu more row%s; --limit 0 shows all\n", more,
			      more == 1 ? "" : "s");
	}
	return rows.n_rows;
}

void ws_rows_heading(struct ws_rows *rows, const char *format, ...)
{
	if (rows->json || rows->skipping || (rows->first && rows->kept->bytes.failed))
		return;
	char text[sizeof rows->heading];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (strcmp(text, rows->heading) == 0)
		return;
	memcpy(rows->heading, text, sizeof text);
	rows->heading_due = true;
}

void wsi_rows_doubt(struct ws_rows *rows, const char *why, uint32_t *n_rows)
{
	rows->doubt = *why;
	*n_rows += rows->doubt && rows->first;
}

void ws_rows_begin(struct ws_rows *rows, bool focus)
{
	const bool doubt = rows->doubt;
	rows->doubt = false;
	rows->at = 0;
	rows->n_rows++;
	rows->skipping = rows->style.limit && rows->n_rows > rows->style.limit;
	if (rows->skipping)
		return;
	if (rows->json) {
		ws_json_object(rows->json);
		ws_json_key_bool(rows->json, "current", focus);
		return;
	}
	const struct ws_str heading = ws_str_of(rows->heading_due ? rows->heading : "");
	const char mark = doubt ? '?' : focus ? '*' : 0;
	rows->heading_due = false;
	if (rows->first)
		keep(&rows->kept->bytes, heading, (unsigned char)mark);
	else
		print_start(rows, heading, mark);
}

void ws_rows_end(struct ws_rows *rows)
{
	assert(rows->at == rows->n_columns);
	if (rows->skipping)
		return;
	if (rows->json)
		ws_json_end(rows->json);
	else if (!rows->first)
		ws_out_text(rows->out, "\n");
}

/* ---- cells ---- */

static void hide(struct ws_rows *rows, unsigned n, enum ws_status why)
{
	if (rows->n_hidden == 0) {
		rows->n_hidden = n;
		rows->hidden = why;
	}
}

void ws_rows_given(struct ws_rows *rows, unsigned n, enum ws_status status)
{
	if (status != WS_OK)
		hide(rows, n, status);
}

void ws_rows_if(struct ws_rows *rows, unsigned n, bool have)
{
	ws_rows_given(rows, n, have ? WS_OK : WS_ABSENT);
}

void ws_rows_or_none(struct ws_rows *rows, unsigned n, bool have)
{
	if (!have)
		hide(rows, n, WS_OK);
}

/* A cell without a value: `why`, or WS_OK where there can be none. */
static void empty_cell(struct ws_rows *rows, enum ws_status why)
{
	rows->no_memory |= why == WS_NO_MEMORY;
	if (rows->json && why == WS_OK) {
		ws_json_key(rows->json, json_key(rows));
		ws_json_null(rows->json);
	} else if (rows->json) {
		ws_json_missing(rows->json, json_key(rows), why);
	} else if (why == WS_ABSENT || why == WS_OK) {
		short_cell(rows, "-", 1);
	} else {
		short_cell(rows, ws_missing_word(why), strlen(ws_missing_word(why)));
	}
}

/* Whether the cell is done: the row is one after the limit, or the cell is hidden. */
static bool passed_over(struct ws_rows *rows)
{
	bool hidden = rows->n_hidden > 0;
	rows->n_hidden -= hidden;
	if (rows->skipping)
		rows->at++;
	else if (hidden)
		empty_cell(rows, rows->hidden);
	return rows->skipping || hidden;
}

static char *put_decimal(char *at, uint64_t value)
{
	char digits[20];
	unsigned n = 0;
	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n)
		*at++ = digits[--n];
	return at;
}

static char *put_hex_digits(char *at, uint64_t value, unsigned digits)
{
	unsigned n = 1;
	while (n < 16 && value >> 4 * n)
		n++;
	for (n = n < digits ? digits : n; n; n--)
		*at++ = n > 16 ? '0' : "0123456789abcdef"[value >> 4 * (n - 1) & 15];
	return at;
}

void ws_rows_number(struct ws_rows *rows, uint64_t value)
{
	if (passed_over(rows))
		return;
	if (rows->json) {
		ws_json_key_u64(rows->json, json_key(rows), value);
		return;
	}
	char text[24];
	short_cell(rows, text, (size_t)(put_decimal(text, value) - text));
}

void wsi_rows_id(struct ws_rows *rows, int64_t value)
{
	if (passed_over(rows))
		return;
	char text[24] = "-";
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
	size_t len = (size_t)(put_decimal(text + (value < 0), magnitude) - text);
	if (rows->json) {
		ws_json_key_str(rows->json, json_key(rows), (struct ws_str){ text, len });
	} else {
		short_cell(rows, text, len);
	}
}

void ws_rows_hex(struct ws_rows *rows, uint64_t value, unsigned digits)
{
	if (passed_over(rows))
		return;
	if (rows->json) {
		ws_json_key_hex(rows->json, json_key(rows), value);
		return;
	}
	char text[20] = "0x";
	short_cell(rows, text,
		   (size_t)(put_hex_digits(text + 2, value, digits > 16 ? 16 : digits) - text));
}

void ws_rows_mask(struct ws_rows *rows, const uint64_t *words, unsigned n_bits)
{
	if (passed_over(rows))
		return;
	char text[2 + 256];
	unsigned digits = (n_bits + 7) / 8 * 2;
	if (digits > sizeof text - 2)
		digits = sizeof text - 2;
	char *at = text;
	*at++ = '0';
	*at++ = 'x';
	for (unsigned i = digits; i-- > 0;)
		at = put_hex_digits(at, words[i / 16] >> i % 16 * 4 & 15, 1);
	if (rows->json) {
		ws_json_key_str(rows->json, json_key(rows),
				(struct ws_str){ text, (size_t)(at - text) });
	} else {
		short_cell(rows, text, (size_t)(at - text));
	}
}

void ws_rows_dim3(struct ws_rows *rows, struct ws_dim3 dim)
{
	if (passed_over(rows))
		return;
	if (rows->json) {
		ws_json_key_dim3(rows->json, json_key(rows), dim);
		return;
	}
	char text[40] = "(", *at = put_decimal(text + 1, dim.x);
	*at++ = ',';
	at = put_decimal(at, dim.y);
	*at++ = ',';
	at = put_decimal(at, dim.z);
	*at++ = ')';
	short_cell(rows, text, (size_t)(at - text));
}

void ws_rows_bool(struct ws_rows *rows, bool value)
{
	if (passed_over(rows))
		return;
	if (rows->json) {
		ws_json_key_bool(rows->json, json_key(rows), value);
	} else {
		short_cell(rows, value ? "yes" : "no", value ? 3 : 2);
	}
}

void ws_rows_text(struct ws_rows *rows, const char *text)
{
	ws_rows_str(rows, ws_str_of(text));
}

void wsi_rows_text_or_none(struct ws_rows *rows, const char *text)
{
	ws_rows_or_none(rows, 1, text && *text);
	ws_rows_text(rows, text);
}

void ws_rows_str(struct ws_rows *rows, struct ws_str text)
{
	if (passed_over(rows))
		return;
	if (rows->json) {
		ws_json_key_str(rows->json, json_key(rows), text);
	} else {
		text_cell(rows, text, ws_escaped_width(text));
	}
}

void wsi_rows_missing(struct ws_rows *rows, enum ws_status why)
{
	if (!passed_over(rows))
		empty_cell(rows, why);
}
