/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of what the instructions of one code section are about: functions, what relocations say,
 * targets of branches through registers.
 */
#ifndef WARPSCOPE_CLI_CODE_NAMES_H
#define WARPSCOPE_CLI_CODE_NAMES_H

#include <warpscope/cubin.h>
#include <warpscope/sass.h>

#include "disas/asm_names.h"
#include "images.h"

enum {
	/* Bytes of what stands in place of a number, around its name. */
	CODE_NAMES_AROUND = 60,
	CODE_NAMES_TEXT_MAX = WS_RELOC_NAME_MAX + CODE_NAMES_AROUND,
	/* Bytes of that as ws_assemble() reads it: a name in quotes has up to four bytes for each
	 * of its own. A line of the assembler has room for it. */
	CODE_NAMES_QUOTED_MAX = 4 * WS_RELOC_NAME_MAX - 1000 + CODE_NAMES_AROUND,
};

struct code_names {
	struct ws_cubin *cubin;
	uint32_t section;
	struct ws_reloc *relocs; /* owned, as all below; by offset */
	size_t n_relocs;
	struct ws_branch_target *targets; /* by offset of the branch */
	size_t n_targets;
	const struct asm_names *for_assembler; /* borrowed; NULL: names are for people */
	char *text;                            /* in place of a number */
};

void code_names_init(struct code_names *names, struct ws_cubin *cubin, uint32_t section);
void code_names_fini(struct code_names *names);

/* The relocations of an instruction. */
const struct ws_reloc *code_names_relocs(const struct code_names *names, uint64_t sec_off,
					 size_t *ret_n);
/* Has `style` put a name in place of the number that a linker or loader fills in: "32@lo(table)",
 * "`(leaf)". Returns the relocation that says so; NULL: none does. Valid until the next call. */
const struct ws_reloc *code_names_style(struct code_names *names, uint64_t sec_off,
					const struct ws_insn *insn, struct ws_sass_style *style);
/* The places that a branch through a register may lead to. */
const struct ws_branch_target *code_names_targets(const struct code_names *names, uint64_t sec_off,
						  size_t *ret_n);
/* The function that starts at an offset of the section, or NULL. */
const struct ws_function *code_names_function(const struct code_names *names, uint64_t sec_off);

#endif
