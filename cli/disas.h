/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `warpscope disas` share. */
#ifndef WARPSCOPE_CLI_DISAS_H
#define WARPSCOPE_CLI_DISAS_H

#include "code_names.h"

struct disas {
	struct cli *cli;
	const char *path, *arch, *function;
	bool has_pc, source, hex, control, full_names, as_source;
	uint64_t pc; /* offset in the function */
	struct ws_json json;
	bool shown;
	uint64_t n_unknown, n_total;
};

/* disas_asm.c: a whole image as `warpscope as` reads it. */
void disas_asm(struct disas *d, const struct image *image);

#endif
