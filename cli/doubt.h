/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that hold what cannot be, by the rules of <warpscope/doubt.h>: tables mark them with a
 * question mark, data has the sentence that says why.
 */
#ifndef WARPSCOPE_CLI_DOUBT_H
#define WARPSCOPE_CLI_DOUBT_H

#include <warpscope/rows.h>
#include <warpscope/threads.h>

/* ws_rows_begin(); a row in doubt is marked, and counted, but not while rows are measured. */
void doubt_row_begin(struct ws_rows *rows, bool focus, const struct ws_thread_doubt *doubt,
		     unsigned *n_rows);
/* The sentence, or nothing. */
void doubt_cell(struct ws_rows *rows, const struct ws_thread_doubt *doubt);
/* Says of a dump that `n_rows` are marked. */
void doubt_warn(const char *path, unsigned n_rows);

#endif
