/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes the opcodes that make up nearly all of a table to rows, as fast as possible. Everything
 * else, damage above all, is left to wsi_line_step(), which knows these opcodes as well: what a run
 * does is what single steps would do, and the tests hold the one against the other.
 */
#ifndef WSI_LINE_RUN_H
#define WSI_LINE_RUN_H

#include "line/program.h"

/*
 * Runs from between two opcodes, behind at least one row of `seq`, up to the first opcode that is
 * not of the common kind, or until the sequence has `cap` rows. `row` are the rows of the sequence.
 * Reader, registers and the number of rows are moved on; perhaps by nothing.
 */
void wsi_line_run(const struct wsi_line_program *p, struct wsi_reader *r,
		  struct wsi_line_regs *regs, struct wsi_line_seq *seq, struct wsi_line_narrow *row,
		  size_t cap);

#endif
