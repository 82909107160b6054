/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of an image's symbols as ws_assemble() reads them. Several symbols may have one name (local
 * ones of linked objects): each of them then has its symbol's number behind it, and `named` tells
 * the assembler what is to be written.
 */
#ifndef WARPSCOPE_CLI_ASM_NAMES_H
#define WARPSCOPE_CLI_ASM_NAMES_H

#include <warpscope/cubin.h>

#include "disas/constants.h"

struct asm_symbol {
	struct ws_str name;
	uint32_t index; /* in the symbol table */
	/* What the text has of it, in the order of precedence. */
	enum { ASM_DEFINED, ASM_EXTERN_FUNCTION, ASM_USED } kind;
	enum ws_symbol_kind of; /* ASM_USED */
	bool is_shared;         /* others have its name */
};

struct asm_names {
	struct asm_symbol *symbols; /* owned; by name and index, each once */
	size_t n, cap;
	uint32_t *shared; /* owned; indexes of those with is_shared, in order */
	size_t n_shared;
	unsigned n_underscores; /* that names of our own have, so that they are no symbol's */
};

/* Of all functions, of the variables that `is_declared` says, and of what code and the constant
 * banks of kernels are relocated with. */
void asm_names_init(struct asm_names *names, struct ws_cubin *cubin,
		    const struct constants *constants,
		    bool (*is_declared)(const struct ws_variable *variable));
void asm_names_fini(struct asm_names *names);

bool asm_names_is_shared(const struct asm_names *names, uint32_t index);
/* A symbol's name, as ws_assemble_name() writes one. */
size_t asm_names_write(const struct asm_names *names, uint32_t index, struct ws_str name,
		       char *buffer, size_t size);

#endif
