/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSI_TEXT_TABLE_H
#define WSI_TEXT_TABLE_H

#include <warpscope/out.h>

/* Starts the next cell: what `out` gets until the end, escaped already, is its text. */
void wsi_table_cell_start(struct ws_table *table, struct ws_out *out);
void wsi_table_cell_end(struct ws_table *table, struct ws_out *out);

#endif
