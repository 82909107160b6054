/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the code addresses in one code section: functions, and what relocations say. */
#ifndef WARPSCOPE_CLI_CODE_NAMES_H
#define WARPSCOPE_CLI_CODE_NAMES_H

#include <warpscope/cubin.h>
#include <warpscope/sass.h>

#include "images.h"

/* Bytes of code_names_relocated(): a name in quotes has up to four for each of its own. */
enum { CODE_NAMES_TEXT_MAX = 4 * WS_RELOC_NAME_MAX + 40 };

struct code_names {
	struct ws_cubin *cubin;
	uint32_t section;
	struct ws_reloc *relocs; /* owned; by offset */
	size_t n_relocs;
	bool for_assembler; /* names are written as ws_assemble() reads them */
	char relocated[CODE_NAMES_TEXT_MAX];
};

void code_names_init(struct code_names *names, struct ws_cubin *cubin, uint32_t section);
void code_names_fini(struct code_names *names);

/* The relocation of an instruction, or NULL. */
const struct ws_reloc *code_names_reloc(const struct code_names *names, uint64_t sec_off);
/* Text for ws_sass_style.relocated: "32@lo(table)", "`(leaf)"; NULL when there is nothing to put in
 * place of a number. Valid until the next call. */
const char *code_names_relocated(struct code_names *names, uint64_t sec_off,
				 const struct ws_insn *insn);
/* The function that starts at an offset of the section, or NULL. */
const struct ws_function *code_names_function(const struct code_names *names, uint64_t sec_off);

#endif
