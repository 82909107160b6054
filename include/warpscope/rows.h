/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * A table that is described once and shown as text or as JSON, in a few megabytes, however many its
 * rows are: whoever has the rows produces them once; for text that is too much to keep until the
 * widths are known, once more.
 *
 * For each thing that a row is about, in the order of the table:
 *
 *   ws_rows_heading(rows, "Device %u", ...);   text only; printed when it changes
 *   ws_rows_begin(rows, is_focus);
 *   ws_rows_number(rows, ...);                 one call per column, in order
 *   ws_rows_hex(rows, ...);
 *   ws_rows_end(rows);
 */
#ifndef WARPSCOPE_ROWS_H
#define WARPSCOPE_ROWS_H

#include <warpscope/out.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WS_ROWS_MAX_COLUMNS = 40 };

enum ws_rows_flags {
	WS_ROWS_LEFT = 1u << 0, /**< text starts at the left; all else ends at the right */
	WS_ROWS_WIDE = 1u << 1, /**< in text only with --wide */
	WS_ROWS_DATA = 1u << 2, /**< never in text: its headings or neighbours say it */
};

struct ws_rows_column {
	const char *title; /**< of the text; NULL with WS_ROWS_DATA */
	const char *key;   /**< in JSON */
	unsigned flags;
};

/** How a table is shown. */
struct ws_rows_style {
	struct ws_out *out;
	struct ws_json *json; /**< where an array is due; NULL: text */
	bool wide;
	uint64_t limit;   /**< rows; 0: all */
	unsigned columns; /**< of the terminal: wider rows are folded; 0: any number */
};

/** Treat as private. */
struct ws_rows {
	struct ws_rows_style style;
	struct ws_out *out;
	struct ws_json *json; /**< NULL in text */
	const char *none;     /**< what an empty table says; whoever produces it may know better */
	bool first;    /**< time that the rows are produced; text is measured then, and kept */
	bool skipping; /**< rows after the limit */
	struct ws_rows_kept *kept;
	const struct ws_rows_column *columns;
	unsigned n_columns, at;
	size_t n_rows, pending;
	unsigned n_hidden;     /**< of the next cells */
	enum ws_status hidden; /**< why; WS_OK: nothing can be there */
	size_t width[WS_ROWS_MAX_COLUMNS];
	bool begins[WS_ROWS_MAX_COLUMNS]; /**< another line of a row that is folded */
	bool heading_due;
	bool doubt;     /**< of the next row */
	bool no_memory; /**< for the value of some cell; no word of a cell says it */
	char heading[160];
};

typedef void ws_rows_produce(struct ws_rows *rows, void *user);

/**
 * Shows a table: in JSON as an array; else as text, with titles, or only the line `none` when no
 * row is produced. Rows after the limit are produced in vain; text ends with how many they are.
 * Returns the number of all rows.
 */
WS_API size_t ws_rows_show(const struct ws_rows_style *style, const struct ws_rows_column *columns,
			   unsigned n_columns, const char *none, ws_rows_produce *produce,
			   void *user);

/** Line before the next row, unless it is the one printed last. */
WS_API void ws_rows_heading(struct ws_rows *rows, const char *format, ...) WS_PRINTF(2, 3);
/** Starts a row; `focus` puts the star before it. */
WS_API void ws_rows_begin(struct ws_rows *rows, bool focus);
WS_API void ws_rows_end(struct ws_rows *rows);

/* ---- cells: each fills the next column ---- */

WS_API void ws_rows_number(struct ws_rows *rows, uint64_t value);
/** 0x and at least `digits` digits. */
WS_API void ws_rows_hex(struct ws_rows *rows, uint64_t value, unsigned digits);
/** A mask of `n_bits` bits, bit 0 in the lowest bit of `words[0]`; zero-padded to whole bytes. */
WS_API void ws_rows_mask(struct ws_rows *rows, const uint64_t *words, unsigned n_bits);
WS_API void ws_rows_dim3(struct ws_rows *rows, struct ws_dim3 dim);
WS_API void ws_rows_bool(struct ws_rows *rows, bool value); /**< yes, no */
WS_API void ws_rows_text(struct ws_rows *rows, const char *text);
WS_API void ws_rows_str(struct ws_rows *rows, struct ws_str text);
/**
 * The next `n` cells are there only with WS_OK; else each says why not, whatever fills it: the
 * values must be safe to read. ws_rows_if(): absent without `have`; ws_rows_or_none():
 * nothing, "-" or null, where nothing can be. Conditions of the same cells may follow one another:
 * the first that fails counts.
 */
WS_API void ws_rows_given(struct ws_rows *rows, unsigned n, enum ws_status status);
WS_API void ws_rows_if(struct ws_rows *rows, unsigned n, bool have);
WS_API void ws_rows_or_none(struct ws_rows *rows, unsigned n, bool have);

#ifdef __cplusplus
}
#endif
#endif
