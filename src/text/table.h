/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSI_TEXT_TABLE_H
#define WSI_TEXT_TABLE_H

#include <warpscope/rows.h>

/* Starts the next cell: what `out` gets until the end, escaped already, is its text. */
void wsi_table_cell_start(struct ws_table *table, struct ws_out *out);
void wsi_table_cell_end(struct ws_table *table, struct ws_out *out);

/*
 * Writes the next cell of a line: `text`, which fills `width` columns, in `room`. `*pending` spaces
 * are due before it. They wait for text, so that no line ends in spaces.
 */
void wsi_out_cell(struct ws_out *out, struct ws_str text, size_t width, size_t room, bool right,
		  size_t *pending);

/* ---- more of rows.h, for the tables of the library ---- */

/* Where `why` is not empty, the next row may be false: a question mark is put before it, instead
 * of the star, and it is counted in `n_rows`, once however often rows are produced. */
void wsi_rows_doubt(struct ws_rows *rows, const char *why, uint32_t *n_rows);
/* Decimal; a string in JSON: for ids of 64 bits. */
void wsi_rows_id(struct ws_rows *rows, int64_t value);
/* As ws_rows_text(); nothing where it is empty or NULL. */
void wsi_rows_text_or_none(struct ws_rows *rows, const char *text);
/* A value that is not there: "-" when absent, else the word for why. `why` must not be WS_OK. */
void wsi_rows_missing(struct ws_rows *rows, enum ws_status why);

#endif
