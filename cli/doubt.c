/* SPDX-License-Identifier: Apache-2.0 */
#include "doubt.h"

#include "cli.h"

void doubt_row_begin(struct ws_rows *rows, bool focus, const struct ws_thread_doubt *doubt,
		     unsigned *n_rows)
{
	if (*doubt->text) {
		ws_rows_doubt(rows);
		*n_rows += !rows->measuring;
	}
	ws_rows_begin(rows, focus);
}

void doubt_cell(struct ws_rows *rows, const struct ws_thread_doubt *doubt)
{
	ws_rows_or_none(rows, 1, *doubt->text);
	ws_rows_text(rows, doubt->text);
}

void doubt_warn(const char *path, unsigned n_rows)
{
	if (n_rows)
		cli_warn("%s: the rows marked with ? (%u) hold values that cannot be or that "
			 "contradict other rows, and prove nothing; see: warpscope check %s",
			 path, n_rows, path);
}
