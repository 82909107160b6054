/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share: the inside of a cubin.
 *
 *   image -> sections -> code sections   at opening, cubin.c
 *         -> symbols  -> functions, variables, index by name and place   once, symbols.c, place.c
 *         -> lines, PTX lines                                            once, lines.c
 *         -> debug information                                           once, debug.c
 *         -> notes, .nv.info, code identity                              each time
 */
#ifndef WSI_CUBIN_INTERNAL_H
#define WSI_CUBIN_INTERNAL_H

#include <stdatomic.h>

#include <warpscope/cubin.h>
#include <warpscope/line.h>

#include "base/interval.h"
#include "base/lock.h"
#include "cubin/cubin.h"
#include "elf/cubin.h"
#include "elf/elf.h"
#include "line/map.h"

enum { WSI_INSTRUCTION_BYTES = 16 };

/* Name of a section of PTX text; ".<number>" follows in objects and what is linked from them. */
#define WSI_PTX_SECTION ".nv_debug_ptx_txt"

/* A section that holds machine code. */
struct wsi_cubin_code {
	uint32_t section;
	uint32_t owner_symbol;                 /* as sh_info says: low 24 bits */
	uint32_t info_section, shared_section; /* of it; 0: none */
	uint32_t rel_section, rela_section;    /* likewise; linked code may have both */
	uint32_t owner;                        /* function, WS_UNKNOWN: none; with the symbols */
	uint64_t gpu_va, size_bytes;           /* gpu_va: 0 when not relocated */
	size_t first_segment, n_segments;      /* in by_offset; with the symbols */
};

/* What is at a range of device addresses: all that a place needs, in one cache line. */
struct wsi_code_spot {
	uint64_t section_va, function_va;
	const struct ws_function *function, *owner; /* borrowed from the cubin; may be NULL */
	struct ws_cubin *cubin;
	uint32_t section;
	uint32_t module_index; /* in a set; 0 in a cubin of its own */
};

struct wsi_name_ref {
	struct ws_str name;
	uint32_t function;
};

/* PTX text of one object. */
struct wsi_ptx {
	uint32_t section;
	struct ws_line_ptx *text; /* owned */
};

enum { WSI_TRITON_UNKNOWN, WSI_TRITON_NO, WSI_TRITON_YES };

struct ws_cubin {
	struct ws_span image; /* borrowed */
	struct wsi_elf elf;   /* borrowed from `image` */
	uint32_t n_sections;
	uint32_t symtab, symtab_shndx, debug_line, debug_str;            /* sections; 0: none */
	uint32_t debug_info, debug_abbrev, debug_loc, debug_frame;       /* likewise */
	uint32_t reg_sass, reg_type, line_sass, tkinfo, cuinfo, nv_info; /* likewise */
	uint32_t n_ptx;                                                  /* sections of PTX text */
	bool relocated;
	bool damaged;
	struct ws_error damage;      /* the first */
	struct wsi_cubin_code *code; /* owned; by section */
	uint32_t n_code;
	/* Sections share bytes, as no compiler does: what looks at all code could take for ever. */
	bool code_overlaps;

	pthread_mutex_t lock; /* held while something of the following is made */
	atomic_bool have_symbols;
	struct ws_function *functions; /* owned, as all until the next comment */
	size_t n_functions;
	struct ws_variable *variables;
	size_t n_variables;
	struct wsi_name_ref *names; /* by name, defined first, function */
	size_t n_names;
	struct wsi_segments by_offset;  /* functions in each code section */
	struct wsi_segments by_address; /* the same by device address; ids are indices of spots */
	struct wsi_code_spot *spots;
	size_t n_spots;
	/* with the lines */
	struct wsi_line_account *line_account; /* borrowed; NULL: each map has its own */
	atomic_bool have_lines;
	struct ws_line_map *lines; /* owned; NULL: none */
	bool lines_by_address;     /* sequences have device addresses and no owners */
	bool lines_whole;          /* no relocation of theirs is lost */
	atomic_bool have_ptx_lines;
	struct ws_line_map *ptx_lines; /* owned; NULL: none */
	bool ptx_lines_by_address;
	struct wsi_ptx *ptx; /* owned; n_ptx of them */
	atomic_uchar is_triton;
	atomic_bool have_dwarf;
	struct ws_dwarf *dwarf;          /* owned; NULL: none */
	struct ws_span info, loc, frame; /* relocated; borrowed from `image` or the next ones */
	uint8_t *relocated_debug[3];     /* owned; NULL: as in the image */
};

/* cubin.c */
/* Bytes of a section as far as they are there; `index` must be below n_sections, 0 gives none. */
struct ws_span wsi_cubin_bytes(const struct ws_cubin *cubin, uint32_t index);
/* Makes a part of a cubin the first time that it is asked for, under the lock; `have` tells that it
 * is there. */
static inline enum ws_status wsi_cubin_need(struct ws_cubin *cubin, atomic_bool *have,
					    enum ws_status (*make)(struct ws_cubin *cubin,
								   struct ws_error *err),
					    struct ws_error *err)
{
	if (atomic_load_explicit(have, memory_order_acquire))
		return WS_OK;
	wsi_hold(&cubin->lock);
	if (atomic_load_explicit(have, memory_order_relaxed))
		return WS_OK;
	enum ws_status st = make(cubin, err);
	atomic_store_explicit(have, st == WS_OK, memory_order_release);
	return st;
}

static inline __attribute__((always_inline)) struct wsi_shdr
wsi_cubin_shdr(const struct ws_cubin *cubin, uint32_t index)
{
	return wsi_elf_shdr(&cubin->elf, index);
}
/* NULL: not a code section. */
struct wsi_cubin_code *wsi_cubin_code_of(const struct ws_cubin *cubin, uint32_t section);
/* Section of a symbol, the escape for many sections followed; 0: none or not an ordinary one. */
uint32_t wsi_cubin_symbol_section(const struct ws_cubin *cubin, const struct wsi_sym *sym,
				  uint32_t index);
/* Offset of a symbol in its section, whether its value is one or a device address. */
uint64_t wsi_cubin_symbol_off(const struct ws_cubin *cubin, const struct wsi_sym *sym,
			      uint32_t section);
/* One relocation of a SHT_REL or SHT_RELA section. */
struct wsi_reloc {
	uint64_t off; /* in the section that is relocated */
	uint32_t type, symbol;
	int64_t addend;
	bool has_addend; /* SHT_RELA */
};
/* `reloc_section` 0 has none. */
size_t wsi_cubin_n_relocs(const struct ws_cubin *cubin, uint32_t reloc_section);
struct wsi_reloc wsi_cubin_reloc(const struct ws_cubin *cubin, uint32_t reloc_section,
				 size_t index);

/* symbols.c: the names of symbols. */
struct ws_span wsi_cubin_symbol_names(const struct ws_cubin *cubin);
/* Makes functions, variables and indices if they are not there. */
enum ws_status wsi_cubin_need_symbols(struct ws_cubin *cubin, struct ws_error *err) WS_MUST_USE;
void wsi_cubin_symbols_fini(struct ws_cubin *cubin);
/* The functions of a name, defined ones first; the symbols are there. */
const struct wsi_name_ref *wsi_cubin_names(const struct ws_cubin *cubin, struct ws_str name,
					   size_t *ret_n);
/* The function that owns the section of another. */
const struct ws_function *wsi_cubin_owner(const struct ws_cubin *cubin,
					  const struct ws_function *function);
/* place.c: makes both indices, and fills `owner` of the code sections and functions. */
bool wsi_cubin_index_places(struct ws_cubin *cubin) WS_MUST_USE;
/* What is at an address: false when no spot is. */
bool wsi_spot_find(const struct wsi_segments *by_address, const struct wsi_code_spot *spots,
		   uint64_t gpu_va, struct ws_place *ret_place);
/* names.c: functions of many cubins by name. All-zero is empty. */
struct wsi_name_slot;
struct wsi_names {
	struct wsi_name_slot *slots; /* owned */
	size_t n_slots;              /* a power of two, or none */
};
/* Makes room for `most` names. */
bool wsi_names_init(struct wsi_names *names, size_t most) WS_MUST_USE;
void wsi_names_fini(struct wsi_names *names);
/* The name, its function and cubin are borrowed; a name that is there gets the new function. */
void wsi_names_put(struct wsi_names *names, struct ws_str name, const struct ws_function *function,
		   uint32_t module_index);
/* NULL when nobody has the name. */
const struct ws_function *wsi_names_find(const struct wsi_names *names, struct ws_str name,
					 uint32_t *ret_module_index);
/* info.c: register counts and frame sizes of `.nv.info` into the functions. */
void wsi_cubin_read_counts(const struct ws_cubin *cubin, struct ws_function *functions, size_t n);
/* triton.c: lines that Triton's mistake adds to the source's for code of this line of the PTX. */
uint32_t wsi_cubin_added_lines(const struct ws_line_ptx *ptx, uint64_t number);
/* Whether a text has loads or stores as Triton writes them. */
bool wsi_ptx_is_triton(struct ws_span text);
/* lines.c */
void wsi_cubin_lines_fini(struct ws_cubin *cubin);
/* debug.c */
void wsi_cubin_debug_fini(struct ws_cubin *cubin);

#endif
