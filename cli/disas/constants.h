/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in the constant banks of an image: variables, addresses that the loader fills in, and
 * the numbers of textures and surfaces. */
#ifndef WARPSCOPE_CLI_CONSTANTS_H
#define WARPSCOPE_CLI_CONSTANTS_H

#include <warpscope/cubin.h>
#include <warpscope/sass.h>

struct constant {
	uint32_t section; /* of the code that it is for; 0: of all */
	uint32_t bank;
	uint64_t offset, size;
	struct ws_str symbol;
	uint32_t symbol_index;
	enum ws_symbol_kind symbol_kind;
	uint32_t type;   /* of the relocation that says so; 0: none */
	bool is_address; /* of the symbol; else it lies there, of a texture its number */
};

struct constants {
	struct constant *at; /* owned; by section, bank and offset */
	size_t n, cap;
};

/* The relocations of a section, in order; free() them. NULL: there are none. */
struct ws_reloc *relocs_of(const struct ws_cubin *cubin, uint32_t section, size_t *ret_n);

void constants_init(struct constants *constants, struct ws_cubin *cubin);
void constants_fini(struct constants *constants);

/* What is filled into a kernel's bank 0, in order. */
const struct constant *constants_of_kernel(const struct constants *constants, uint32_t section,
					   size_t *ret_n);

/* What an instruction reads from a bank at a place that it tells, the first such operand; NULL:
 * nothing that is known. `*ret_offset`: from the constant's start. */
const struct constant *constants_find(const struct constants *constants, uint32_t section,
				      const struct ws_insn *insn, uint64_t *ret_offset);

#endif
