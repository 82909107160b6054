/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The assembler from text to image.
 *
 *   text --parse.c--> program: functions, instructions as text, data, names
 *        --code.c---> instructions as bytes, relocations
 *        --image.c--> ELF sections, symbols (attributes.c: .nv.info and the notes)
 *
 * Every instruction has 16 bytes, so the place of each label is known when it is read, and names
 * may be used before their definition: they are looked up in the second step.
 */
#ifndef WSI_ASM_H
#define WSI_ASM_H

#include <warpscope/assemble.h>

#include "base/arena.h"
#include "base/bytes.h"

enum {
	WSI_ASM_FILE = UINT32_MAX, /* scope of names that every function can see */
	WSI_ASM_NO_NAME = UINT32_MAX,
	WSI_ASM_MAX_LINE = UINT16_MAX, /* bytes of a line: C++ names are long */
};

/* Where something stands in the text. */
struct wsi_asm_place {
	uint32_t line, column;
};

enum wsi_asm_kind {
	WSI_ASM_LABEL,
	WSI_ASM_INNER,    /* a function inside the section of another */
	WSI_ASM_PARAM,    /* value: offset in constant bank 0 */
	WSI_ASM_SHARED,   /* value: offset in the block's shared memory; item: alignment */
	WSI_ASM_FUNCTION, /* item: number of the function */
	WSI_ASM_DATA,     /* item: number of the object */
	WSI_ASM_EXTERN,   /* a function that the loader supplies */
	WSI_ASM_EXTERN_DATA,
};

/* Something that an operand can name. */
struct wsi_asm_name {
	struct ws_str text;
	struct ws_str symbol_name; /* as the image has it */
	struct wsi_asm_place place;
	uint32_t scope; /* a function's number, or WSI_ASM_FILE */
	enum wsi_asm_kind kind;
	uint32_t item;
	uint32_t value;       /* labels and inner functions: offset in the section */
	uint32_t frame, size; /* inner functions: bytes of stack, of code; shared: of memory */
	uint8_t type, other;  /* of data of another image: of the symbol */
	uint32_t symbol;      /* in the symbol table of the image; 0: none */
	uint32_t seen_by;     /* the last function, counted from 1, that was asked for it */
};

/* `text` is the statement from its first to its last byte. */
struct wsi_asm_insn {
	struct ws_str text;
	struct wsi_asm_place place;
};

struct wsi_asm_param {
	uint32_t offset, size;
	size_t name;    /* in names */
	bool is_hidden; /* the image does not describe it */
	uint8_t space;  /* of a pointer: as in the image's records (elf/cubin.h); 0: none */
	uint8_t alignment_shift; /* of what it points to */
};

/* Something that the loader fills in. */
struct wsi_asm_reloc {
	uint32_t off; /* in its section */
	uint32_t type;
	uint32_t name; /* number of the name, or WSI_ASM_NO_NAME */
	int64_t addend;
	bool is_own; /* counts from the function that it is in, in place of the name */
};

enum wsi_asm_binding {
	WSI_ASM_LOCAL = 0, /* as ELF's */
	WSI_ASM_GLOBAL = 1,
	WSI_ASM_WEAK = 2,
};

/* What a kernel was built for. */
enum wsi_asm_shape {
	WSI_ASM_MAXNTID,           /* threads of a block at most */
	WSI_ASM_REQNTID,           /* threads of a block */
	WSI_ASM_REQNCTAPERCLUSTER, /* blocks of a cluster */
	WSI_ASM_N_SHAPES,
};

struct wsi_asm_function {
	struct ws_str name;        /* as the text has it */
	struct ws_str symbol_name; /* as the image has it */
	bool is_kernel, has_regs;
	enum wsi_asm_binding binding;
	uint32_t regs, barriers, frame, stack;
	struct ws_dim3 shapes[WSI_ASM_N_SHAPES]; /* all 0: any */
	uint32_t param_bytes, shared_bytes;
	uint32_t param_base;        /* start of the parameters in constant bank 0 */
	bool has_second_records;    /* of its parameters */
	size_t first_insn, n_insns; /* in insns */
	size_t first_param, n_params;
	size_t first_reloc, n_relocs;           /* of its code */
	size_t first_bank_reloc, n_bank_relocs; /* of its constant bank 0 */
	size_t first_exit, n_exits;             /* in exits */
	size_t first_target, n_targets;         /* in targets */
	uint32_t used_regs;                     /* highest register of the code, plus one */
	bool calls;
	struct wsi_bytes code;
	uint32_t symbol, constant0_symbol;                       /* in the image */
	uint32_t text, info, constant0, shared, rela, bank_rela; /* sections of it; 0: none */
};

enum wsi_asm_area {
	WSI_ASM_CONSTANT, /* .nv.constant3 */
	WSI_ASM_INIT,     /* .nv.global.init */
	WSI_ASM_ZERO,     /* .nv.global */
	WSI_ASM_N_AREAS,
};

/* A variable in constant or global memory. */
struct wsi_asm_object {
	bool is_constant, is_local;
	uint32_t alignment; /* power of two */
	enum wsi_asm_area area;
	uint32_t offset, size; /* in its area */
};

/* An address in initial data: `name` is looked up when all are known. */
struct wsi_asm_fixup {
	uint32_t object, off; /* off: in the object */
	struct ws_str name;
	int64_t addend;
	struct wsi_asm_place place;
};

/* .reloc, .targets: about the instruction at `off` of a function; .bank0: at `off` of the bank. */
struct wsi_asm_note {
	uint32_t function, off;
	uint32_t type;      /* of the relocation */
	struct ws_str name; /* empty: none */
	int64_t addend;
	struct wsi_asm_place place;
};

/* A place that a branch through a register leads to; both are offsets in the section. */
struct wsi_asm_target {
	uint32_t off, target;
};

struct wsi_asm_area_data {
	struct wsi_bytes bytes; /* WSI_ASM_ZERO: none, only `size` */
	uint32_t size, alignment;
	struct wsi_asm_reloc *relocs; /* owned */
	size_t n_relocs, cap_relocs;
};

struct wsi_asm {
	const struct ws_assemble_options *options;
	struct ws_error first; /* error; status WS_OK: none so far */
	uint32_t n_errors;
	bool no_memory;
	uint32_t sm;
	char variant;      /* 'a', 'f' or 0 */
	bool arch_is_told; /* by the options: the text's is ignored */
	bool is_object;    /* for a linker, which places shared memory and constants */

	/* owned, all of them */
	struct wsi_asm_function *functions;
	size_t n_functions, cap_functions;
	struct wsi_asm_insn *insns;
	size_t n_insns, cap_insns;
	struct wsi_asm_param *params;
	size_t n_params, cap_params;
	struct wsi_asm_object *objects;
	size_t n_objects, cap_objects;
	struct wsi_asm_fixup *fixups;
	size_t n_fixups, cap_fixups;
	struct wsi_asm_name *names; /* sorted by scope and text once all are read */
	size_t n_names, cap_names;
	struct wsi_asm_reloc *relocs; /* of code */
	size_t n_relocs, cap_relocs;
	uint32_t *exits; /* offsets of EXIT instructions in their section */
	size_t n_exits, cap_exits;
	struct wsi_asm_note *told; /* .reloc: in the order of the text, as the next */
	size_t n_told, cap_told;
	struct wsi_asm_note *bank0; /* .bank0 */
	size_t n_bank0, cap_bank0;
	struct wsi_asm_note *branches; /* .targets: one for each name */
	size_t n_branches, cap_branches;
	struct wsi_asm_target *targets;
	size_t n_targets, cap_targets;
	struct wsi_asm_area_data areas[WSI_ASM_N_AREAS];
	struct wsi_arena quoted; /* names that were in quotes */
};

/* asm.c */
/* Reports a mistake. */
void wsi_asm_error(struct wsi_asm *a, struct wsi_asm_place place, const char *format, ...)
	WS_PRINTF(3, 4);
/* True once nothing more is to be read: too many mistakes, or no memory. */
bool wsi_asm_stopped(const struct wsi_asm *a);
/* Room for one more element; false, and remembered, when memory is out. */
bool wsi_asm_grow(struct wsi_asm *a, void *ptr, size_t *cap, size_t n, size_t size) WS_MUST_USE;
/* "sm_90", "sm_90a": false when it is none. */
bool wsi_asm_arch(struct ws_str text, uint32_t *ret_sm, char *ret_variant);
/* A name of a function's, else of the file; NULL when there is none. Names are sorted. */
struct wsi_asm_name *wsi_asm_find(const struct wsi_asm *a, uint32_t scope, struct ws_str text);

/* What differs between architectures in images [measured: nvcc 13.0]. */
uint32_t wsi_asm_shared_base(uint32_t sm); /* bytes of shared memory that are the system's */

/* A bounded look at text. */
struct wsi_asm_cursor {
	struct wsi_asm *a;
	const char *start; /* of the line */
	const char *at, *end;
	uint32_t line;
};

struct wsi_asm_place wsi_asm_here(const struct wsi_asm_cursor *c);
/* Skips blanks and comments; false when a comment does not end on the line. */
bool wsi_asm_blank(struct wsi_asm_cursor *c);
/* Each takes one thing when it is next; false, and nothing is taken, when it is not. */
bool wsi_asm_take_char(struct wsi_asm_cursor *c, char what);
bool wsi_asm_take_word(struct wsi_asm_cursor *c, struct ws_str *ret_word);
/* A word, or anything in quotes. */
bool wsi_asm_take_name(struct wsi_asm_cursor *c, struct ws_str *ret_name);
bool wsi_asm_take_number(struct wsi_asm_cursor *c, uint64_t *ret_value);
/* "name", "name+0x10", "name-4"; the name may be missing where `optional`. */
bool wsi_asm_take_place(struct wsi_asm_cursor *c, bool optional, struct ws_str *ret_name,
			int64_t *ret_addend);
/* The same and a closing parenthesis; the opening one is behind the cursor. */
bool wsi_asm_take_reference(struct wsi_asm_cursor *c, struct ws_str *ret_name, int64_t *ret_addend);

/* parse.c: reads the text, and sorts the names. */
void wsi_asm_parse(struct wsi_asm *a, struct ws_str source);
/* code.c: encodes the instructions and resolves data. */
void wsi_asm_encode(struct wsi_asm *a);
/* image.c: the ELF file. */
void wsi_asm_image(struct wsi_asm *a, struct wsi_bytes *ret_image);

/* attributes.c: contents of sections about the code. */
void wsi_asm_tkinfo(const struct wsi_asm *a, struct wsi_bytes *out);
void wsi_asm_cuinfo(const struct wsi_asm *a, struct wsi_bytes *out);
void wsi_asm_compat(const struct wsi_asm *a, struct wsi_bytes *out);
void wsi_asm_callgraph(const struct wsi_asm *a, struct wsi_bytes *out);
void wsi_asm_info(const struct wsi_asm *a, struct wsi_bytes *out);
void wsi_asm_function_info(struct wsi_asm *a, const struct wsi_asm_function *function,
			   struct wsi_bytes *out);

#endif
