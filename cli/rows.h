/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table that is described once and shown as text or as JSON, in memory that does not grow with
 * its rows: whoever has the rows produces them twice for text (to find the widths, then to print)
 * and once for JSON.
 *
 *   static void produce(struct rows *rows, void *user)
 *   {
 *           for each thing:
 *                   rows_heading(rows, "Device %u", ...);       text only; printed when it changes
 *                   rows_begin(rows, is_focus);
 *                   rows_number(rows, ...); rows_hex(rows, ...);   one call per column, in order
 *                   rows_end(rows);
 *   }
 */
#ifndef WARPSCOPE_CLI_ROWS_H
#define WARPSCOPE_CLI_ROWS_H

#include <warpscope/out.h>

enum { ROWS_MAX_COLUMNS = 40 };

enum column_flags {
	COLUMN_LEFT = 1u << 0, /* text starts at the left; all else ends at the right */
	COLUMN_WIDE = 1u << 1, /* in text only with --wide */
	COLUMN_DATA = 1u << 2, /* never in text: its headings or neighbours say it */
};

struct column {
	const char *title; /* of the text; NULL with COLUMN_DATA */
	const char *key;   /* in JSON */
	unsigned flags;
};

/* How a table is shown. */
struct rows_style {
	struct ws_out *out;
	struct ws_json *json; /* where an array is due; NULL: text */
	bool wide;
	uint64_t limit;   /* rows; 0: all */
	unsigned columns; /* of the terminal: wider rows are folded; 0: any number */
};

/* Treat as private. */
struct rows {
	struct rows_style style;
	struct ws_out *out;
	struct ws_json *json; /* NULL in text */
	const char *none;     /* what an empty table says; whoever produces it may know better */
	bool measuring, skipping;
	const struct column *columns;
	unsigned n_columns, at;
	size_t n_rows, pending;
	unsigned n_hidden;     /* of the next cells */
	enum ws_status hidden; /* why; WS_OK: nothing can be there */
	size_t width[ROWS_MAX_COLUMNS];
	bool begins[ROWS_MAX_COLUMNS]; /* another line of a row that is folded */
	bool heading_due;
	bool doubt; /* of the next row */
	char heading[160];
};

typedef void rows_produce(struct rows *rows, void *user);

/*
 * Shows a table: in JSON as an array; else as text, with titles, or only the line `none` when no
 * row is produced. Rows after the limit are produced in vain; text ends with how many they are.
 * Returns the number of all rows.
 */
size_t rows_show(const struct rows_style *style, const struct column *columns, unsigned n_columns,
		 const char *none, rows_produce *produce, void *user);

/* Line before the next row, unless it is the one printed last. */
void rows_heading(struct rows *rows, const char *format, ...) WS_PRINTF(2, 3);
/* The next row may be false: a question mark is put before it, instead of the star. */
void rows_doubt(struct rows *rows);
/* Starts a row; `focus` puts the star before it. */
void rows_begin(struct rows *rows, bool focus);
void rows_end(struct rows *rows);

/* ---- cells: each fills the next column ---- */

void rows_number(struct rows *rows, uint64_t value);
/* Decimal; a string in JSON: for ids of 64 bits. */
void rows_id(struct rows *rows, int64_t value);
/* 0x and at least `digits` digits. */
void rows_hex(struct rows *rows, uint64_t value, unsigned digits);
/* A mask of `n_bits` bits, bit 0 in the lowest bit of `words[0]`; zero-padded to whole bytes. */
void rows_mask(struct rows *rows, const uint64_t *words, unsigned n_bits);
void rows_dim3(struct rows *rows, struct ws_dim3 dim);
void rows_bool(struct rows *rows, bool value); /* yes, no */
void rows_text(struct rows *rows, const char *text);
void rows_str(struct rows *rows, struct ws_str text);
/*
 * The next `n` cells are there only with WS_OK; else each says why not, whatever fills it: the
 * values must be safe to read. rows_if(): absent without `have`; rows_or_none(): rows_none().
 * Conditions of the same cells may follow one another: the first that fails counts.
 */
void rows_given(struct rows *rows, unsigned n, enum ws_status status);
void rows_if(struct rows *rows, unsigned n, bool have);
void rows_or_none(struct rows *rows, unsigned n, bool have);
/* A value that is not there: "-" when absent, else the word for why. `why` must not be WS_OK. */
void rows_missing(struct rows *rows, enum ws_status why);
/* Nothing where nothing can be (a kernel without a parent): "-", null. */
void rows_none(struct rows *rows);

#endif
