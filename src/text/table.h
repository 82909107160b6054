/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSI_TEXT_TABLE_H
#define WSI_TEXT_TABLE_H

#include <warpscope/out.h>

/* Starts the next cell: what `out` gets until the end, escaped already, is its text. */
void wsi_table_cell_start(struct ws_table *table, struct ws_out *out);
void wsi_table_cell_end(struct ws_table *table, struct ws_out *out);

/*
 * Writes the next cell of a line: `text`, which fills `width` columns, in `room`. `*pending` spaces
 * are due before it. They wait for text, so that no line ends in spaces.
 */
void wsi_out_cell(struct ws_out *out, struct ws_str text, size_t width, size_t room, bool right,
		  size_t *pending);

#endif
