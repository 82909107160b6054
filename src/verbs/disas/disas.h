/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code as text: what its files share. */
#ifndef WSI_VERBS_DISAS_H
#define WSI_VERBS_DISAS_H

#include "verbs/code.h"

struct wsi_disas {
	const struct ws_disas *query;
	const struct ws_answer_style *style;
	struct ws_out *out;
	struct ws_json *json; /* NULL: text */
	struct ws_disas_told told;
	bool no_memory;
};

/* Zeroed memory; NULL: `no_memory` is set, and what needs it is left out. */
void *wsi_disas_alloc(struct wsi_disas *d, size_t n, size_t size);
/* Whether memory suffices for another of these. */
bool wsi_disas_grow(struct wsi_disas *d, void *ptr, size_t *cap, size_t n, size_t size);
/* Tells what is damaged. */
void wsi_disas_tell(struct wsi_disas *d, const struct ws_error *damage);
/* What the answer came to. @retval WS_NO_MEMORY */
enum ws_status wsi_disas_end(const struct wsi_disas *d, struct ws_disas_told *ret_told,
			     struct ws_error *err);

/* ---- constants.c: what lies in the constant banks of an image: variables, addresses that the
 * loader fills in, and the numbers of textures and surfaces ---- */

struct wsi_disas_constant {
	uint32_t section; /* of the code that it is for; 0: of all */
	uint32_t bank;
	uint64_t offset, size;
	struct ws_str symbol;
	uint32_t symbol_index;
	enum ws_symbol_kind symbol_kind;
	uint32_t type;   /* of the relocation that says so; 0: none */
	bool is_address; /* of the symbol; else it lies there, of a texture its number */
};

struct wsi_disas_constants {
	struct wsi_disas_constant *at; /* owned; by section, bank and offset */
	size_t n, cap;
};

/* The relocations of a section, in order; wsi_free() them. NULL: there are none. */
struct ws_reloc *wsi_disas_relocs(struct wsi_disas *d, const struct ws_cubin *cubin,
				  uint32_t section, size_t *ret_n);
void wsi_disas_constants_init(struct wsi_disas *d, struct wsi_disas_constants *constants,
			      struct ws_cubin *cubin);
/* What is filled into a kernel's bank 0, in order. */
const struct wsi_disas_constant *
wsi_disas_constants_of_kernel(const struct wsi_disas_constants *constants, uint32_t section,
			      size_t *ret_n);
/* What an instruction reads from a bank at a place that it tells, the first such operand; NULL:
 * nothing that is known. `*ret_offset`: from the constant's start. */
const struct wsi_disas_constant *
wsi_disas_constants_find(const struct wsi_disas_constants *constants, uint32_t section,
			 const struct ws_insn *insn, uint64_t *ret_offset);

/* ---- symbols.c: names of an image's symbols as ws_assemble() reads them. Several symbols may have
 * one name (local ones of linked objects): each of them then has its symbol's number behind it, and
 * `named` tells the assembler what is to be written ---- */

struct wsi_disas_symbol {
	struct ws_str name;
	uint32_t index; /* in the symbol table */
	/* What the text has of it, in the order of precedence. */
	enum { ASM_DEFINED, ASM_EXTERN_FUNCTION, ASM_USED } kind;
	enum ws_symbol_kind of; /* ASM_USED */
	bool is_shared;         /* others have its name */
};

struct wsi_disas_symbols {
	struct wsi_disas *d;
	struct wsi_disas_symbol *symbols; /* owned; by name and index, each once */
	size_t n, cap;
	uint32_t *shared; /* owned; indexes of those with is_shared, in order */
	size_t n_shared;
	unsigned n_underscores; /* that names of our own have, so that they are no symbol's */
};

/* Of all functions, of the variables that `is_declared` says, and of what code and the constant
 * banks of kernels are relocated with. */
void wsi_disas_symbols_init(struct wsi_disas *d, struct wsi_disas_symbols *symbols,
			    struct ws_cubin *cubin, const struct wsi_disas_constants *constants,
			    bool (*is_declared)(const struct ws_variable *variable));
void wsi_disas_symbols_fini(struct wsi_disas_symbols *symbols);
bool wsi_disas_symbol_is_shared(const struct wsi_disas_symbols *symbols, uint32_t index);
/* A symbol's name, as ws_assemble_name() writes one; `symbols` NULL: without its number. */
size_t wsi_disas_symbol_write(const struct wsi_disas_symbols *symbols, uint32_t index,
			      struct ws_str name, char *buffer, size_t size);

/* ---- names.c: names of what the instructions of one code section are about: functions, what
 * relocations say, targets of branches through registers ---- */

enum {
	/* Bytes of what stands in place of a number, around its name. */
	DISAS_NAME_AROUND = 60,
	DISAS_NAME_TEXT_MAX = WS_RELOC_NAME_MAX + DISAS_NAME_AROUND,
	/* Bytes of that as ws_assemble() reads it: a name in quotes has up to four bytes for each
	 * of its own. A line of the assembler has room for it. */
	DISAS_NAME_QUOTED_MAX = 4 * WS_RELOC_NAME_MAX - 1000 + DISAS_NAME_AROUND,
};

struct wsi_disas_names {
	struct wsi_disas *d;
	struct ws_cubin *cubin;
	uint32_t section;
	struct ws_reloc *relocs; /* owned, as all below; by offset */
	size_t n_relocs;
	struct ws_branch_target *targets; /* by offset of the branch */
	size_t n_targets;
	const struct wsi_disas_symbols *for_assembler; /* borrowed; NULL: names are for people */
	char *text;                                    /* in place of a number */
};

void wsi_disas_names_init(struct wsi_disas *d, struct wsi_disas_names *names,
			  struct ws_cubin *cubin, uint32_t section);
void wsi_disas_names_fini(struct wsi_disas_names *names);
/* The relocations of an instruction. */
const struct ws_reloc *wsi_disas_names_relocs(const struct wsi_disas_names *names, uint64_t sec_off,
					      size_t *ret_n);
/* Has `style` put a name in place of the number that a linker or loader fills in: "32@lo(table)",
 * "`(leaf)". Returns the relocation that says so; NULL: none does. Valid until the next call. */
const struct ws_reloc *wsi_disas_names_style(struct wsi_disas_names *names, uint64_t sec_off,
					     const struct ws_insn *insn,
					     struct ws_sass_style *style);
/* The places that a branch through a register may lead to. */
const struct ws_branch_target *wsi_disas_names_targets(const struct wsi_disas_names *names,
						       uint64_t sec_off, size_t *ret_n);
/* The function that starts at an offset of the section, or NULL. */
const struct ws_function *wsi_disas_names_function(const struct wsi_disas_names *names,
						   uint64_t sec_off);

/* ---- code.c: the code of one function while it is shown ---- */

enum wsi_disas_marks {
	DISAS_PC = 1u << 0,
	DISAS_ERRORPC = 1u << 1,
};

struct wsi_disas_code {
	struct wsi_disas *d;
	struct ws_cubin *cubin;
	const struct ws_function *function;
	unsigned sm;
	struct ws_span code;
	struct wsi_disas_names names;
	const struct wsi_disas_constants *constants; /* borrowed; NULL: they are not named */
	struct {
		uint64_t off;
		unsigned flags;
	} marks[2];
	unsigned n_marks;   /* with any, only the code around them is shown */
	bool without_inner; /* functions inside this one are listed by themselves */
	const struct wsi_disas_thread *thread; /* whose registers are shown; NULL: none */
};

/* False when the function has no code that could be read, which has been told. */
bool wsi_disas_code_init(struct wsi_disas_code *code, struct wsi_disas *d, struct ws_cubin *cubin,
			 const struct ws_function *function);
void wsi_disas_code_fini(struct wsi_disas_code *code);
/* Its name and a colon, or the fields of a JSON object that stays open. */
void wsi_disas_code_start(struct wsi_disas_code *code);
/* The start, then the instructions, all or those around the marks. */
void wsi_disas_code_show(struct wsi_disas_code *code);
/* One instruction: a line, or an element of the JSON array. */
void wsi_disas_code_show_insn(struct wsi_disas_code *code, uint64_t off);
/* Its text; `control`: with every bit. WS_SASS_TEXT_MAX + DISAS_NAME_TEXT_MAX bytes suffice. */
size_t wsi_disas_code_text(struct wsi_disas_code *code, const struct ws_insn *insn, uint64_t off,
			   bool control, char *text, size_t size);

/* cfg.c: blocks in place of the bare instructions. */
void wsi_disas_cfg(struct wsi_disas_code *code);

/* thread.c: the values that an instruction finds in the thread's registers: text behind a line, or
 * the element "registers". */
void wsi_disas_thread_values(struct wsi_disas_code *code, const struct ws_insn *insn, uint64_t off);

/* asm.c: a whole image as `warpscope as` reads it. */
void wsi_disas_asm(struct wsi_disas *d, const struct ws_code_image *image);

#endif
