/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that hold what cannot be, by the rules of <warpscope/doubt.h>: tables mark them with a
 * question mark, data has the sentence that says why.
 */
#ifndef WARPSCOPE_CLI_DOUBT_H
#define WARPSCOPE_CLI_DOUBT_H

#include "rows.h"
#include "session.h"

struct doubt {
	char text[160]; /* a sentence; empty: all that the row holds can be */
	uint32_t lanes; /* of a warp: those whose own rows are in doubt, a mask of ids */
};

struct doubt doubt_of_sm(const struct session *session, uint32_t index);
enum { DOUBT_NO_LANE = WS_MAX_LANES };

/*
 * Of the warp of `place`: with all its lanes (WS_NONE), with none, or with the one that a row is
 * about.
 */
struct doubt doubt_of_warp(const struct session *session, const struct ws_resident *place,
			   uint32_t lane);
/* rows_begin(); a row in doubt is marked, and counted, but not while rows are measured. */
void doubt_row_begin(struct rows *rows, bool focus, const struct doubt *doubt, unsigned *n_rows);
/* The sentence, or nothing. */
void doubt_cell(struct rows *rows, const struct doubt *doubt);
/* Says of a dump that `n_rows` are marked. */
void doubt_warn(const char *path, unsigned n_rows);

#endif
