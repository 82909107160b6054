/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line map inside.
 *
 *   map -> tables (headers, read at creation)
 *       -> parts: runs of opcodes that can be decoded alone
 *             part -> rows (decoded on demand, published once) -> sequences
 *
 * Where every relocation of a table points at a DW_LNE_set_address that begins a sequence - so in
 * every cubin seen - each of them begins a stretch, and a lookup decodes one part: the stretches of
 * 2 KiB, or one longer stretch. So what a part costs by itself is spread over many bytes. Otherwise
 * the whole program of the table is one part of one stretch. Stretches bound damage: a program that
 * breaks goes on at the next one.
 *
 * Memory is paid for: everything that a map allocates is charged to an account, which has a fixed
 * amount and a multiple of the section's bytes. What goes beyond is left out, and told.
 *
 * A row takes 20 bytes: its address counts from the sequence's base, its file has 16 bits. A
 * sequence in which that is not enough, or with a column, a discriminator and so on, has a second
 * array (struct wsi_line_wide) beside the first.
 */
#ifndef WSI_LINE_MAP_H
#define WSI_LINE_MAP_H

#include <stdatomic.h>

#include <warpscope/line.h>

#include "base/base.h"
#include "base/interval.h"
#include "base/reader.h"

/* ---- damage ---- */

enum {
	WSI_LINE_MAX_DIAGS = 16,
};

struct wsi_line_diag {
	enum ws_status status;
	uint64_t file_off;
	char message[100];
};

/* The first WSI_LINE_MAX_DIAGS of a header or part; all are counted. */
struct wsi_line_diags {
	struct wsi_line_diag *item; /* owned */
	size_t n_kept, cap, n_total;
};

void wsi_line_diag(struct wsi_line_diags *diags, enum ws_status status, uint64_t file_off,
		   const char *format, ...) WS_PRINTF(4, 5);
void wsi_line_diags_fini(struct wsi_line_diags *diags);
/* Hands all that are kept to `take` (may be NULL) and returns n_total. */
size_t wsi_line_diags_tell(const struct wsi_line_diags *diags, ws_line_diagnostic_fn *take,
			   void *user);

/* ---- memory ---- */

enum {
	WSI_LINE_FREE_BYTES = 32 << 20, /* for all maps of an account together */
	WSI_LINE_BYTES_PER_BYTE = 5,    /* and for each byte of their sections */
};

/* What maps may still allocate; those of one file share it. */
struct wsi_line_account {
	_Atomic(int64_t) left;
};

void wsi_line_account_init(struct wsi_line_account *account);

/* What readers of a map change: its share of an account, and what is counted once. */
struct wsi_line_costs {
	struct wsi_line_account own, *account; /* `own`, or one that is shared */
	_Atomic(int64_t) charged;              /* given back with the map */
	atomic_bool told;                      /* that it was not enough */
	/* owned: sequences before each part, one more at the end. NULL: not counted yet */
	_Atomic(size_t *) seqs_before;
};

/* ws_line_create() on an account that outlives the map; NULL: one of its own. */
enum ws_status wsi_line_create(const struct ws_line_input *input, struct wsi_line_account *account,
			       struct ws_line_map **ret_map, struct ws_error *err) WS_MUST_USE;
/* False: the account cannot pay. */
bool wsi_line_charge(const struct ws_line_map *map, size_t bytes);
void wsi_line_refund(const struct ws_line_map *map, size_t bytes);
/* wsi_grow() that is charged. WS_NO_MEMORY, or WS_LIMIT: the account cannot pay. */
enum ws_status wsi_line_grow(const struct ws_line_map *map, void *ptr, size_t *cap, size_t n,
			     size_t size) WS_MUST_USE;
/* Gives back what an array has too much. */
void wsi_line_shrink(const struct ws_line_map *map, void *ptr, size_t *cap, size_t n, size_t size);
/* Notes once that the account could not pay. */
void wsi_line_tell_limit(const struct ws_line_map *map, struct wsi_line_diags *diags,
			 uint64_t file_off);

/* ---- rows ---- */

enum {
	WSI_LINE_FLAG_BITS = 7, /* of flags_depth; the rest is the depth */
};

static_assert(WS_LINE_MAX_DEPTH < 1 << (16 - WSI_LINE_FLAG_BITS), "the depth has its bits");

struct wsi_line_narrow {
	uint32_t addr; /* from the sequence's base */
	uint32_t line;
	uint32_t context;
	uint32_t name_off;
	uint16_t file;
	uint16_t flags_depth;
};

struct wsi_line_wide {
	uint64_t address;
	uint32_t file, column, op_index, isa, discriminator;
};

struct wsi_line_seq {
	uint64_t base, low, high;
	uint64_t addr_bits; /* set in any row's distance from the base */
	uint64_t sec_off;
	uint64_t damage_off;
	uint32_t owner;
	uint32_t n_rows;
	uint32_t first_row; /* in the part's arrays */
	uint32_t first_block, n_blocks;
	uint8_t status; /* enum ws_status */
	/* Slot k covers the addresses from low + (k << slot_shift) on. */
	uint8_t slot_shift;
	bool is_wide;   /* wide[] is filled for its rows */
	bool is_sorted; /* addresses never decrease; else order[] is the order by address */
	/* Not wide, sorted, and its rows begin where slots do: the index names the row. */
	bool is_direct;
	bool has_calls; /* some row of it is code that was inlined */
};

/* The sequences of an owner, in a part that has several sequences. */
struct wsi_line_group {
	uint32_t owner;
	uint32_t first, n; /* in by_owner */
	uint32_t first_segment, n_segments;
	uint32_t broken; /* its first damaged sequence, or UINT32_MAX */
};

enum {
	WSI_LINE_BLOCK_SLOTS = 14,
	WSI_LINE_MANY = UINT8_MAX, /* so many or more */
};

/*
 * The index by address, small so that it stays in a cache near to the processor: of each slot the
 * rows, in order of addresses, that begin before its end, and the depth of the last of them, from
 * which a lookup knows how many positions there are before it has touched any row.
 */
struct wsi_line_block {
	uint32_t n_before;                   /* rows that begin before the first slot */
	uint8_t count[WSI_LINE_BLOCK_SLOTS]; /* rows that begin after that */
	uint8_t depth[WSI_LINE_BLOCK_SLOTS];
};

/* What decoding a part gives. Never changes once published. */
struct wsi_line_rows {
	const struct wsi_line_part *part;
	struct wsi_line_narrow *row; /* all owned */
	struct wsi_line_wide *wide;
	uint32_t *order;
	struct wsi_line_block *block;
	struct wsi_line_seq *seq;
	uint32_t *by_owner; /* indices of sequences, by owner, then by position */
	struct wsi_line_group *group;
	struct wsi_segments by_address;   /* of each group; ids are indices of sequences */
	const struct ws_line_file *files; /* of the table, borrowed; n_named from number 1 on */
	struct ws_line_file *defined;     /* by DW_LNE_define_file, numbered on from the table's */
	size_t n_rows, n_seqs, n_groups, n_named, n_defined;
	bool is_limited; /* the account could not pay for all of it */
	struct wsi_line_diags diags;
};

struct wsi_line_part {
	uint64_t start, end; /* in the section */
	uint32_t table;
	uint32_t first_reloc, end_reloc;      /* of its stretches; none: it is one stretch */
	_Atomic(struct wsi_line_rows *) rows; /* owned; NULL: not decoded yet */
};

/* A stretch of a part; begin with `end` = the part's start and `next` = its first_reloc. */
struct wsi_line_stretch {
	uint64_t start, end;
	uint32_t next;
};

/* Decodes a part, unless another thread has just done so. NULL: out of memory. */
const struct wsi_line_rows *wsi_line_part_decode(const struct ws_line_map *map, size_t part);
void wsi_line_rows_destroy(struct wsi_line_rows *rows);
/* A sequence as the public interface shows it. */
void wsi_line_seq_out(const struct wsi_line_rows *rows, size_t index, struct ws_line_seq *ret_seq);

/* ---- the map ---- */

struct wsi_line_table {
	struct ws_line_table pub;
	const char **dirs;          /* owned */
	struct ws_line_file *files; /* owned */
	size_t dirs_cap, files_cap;
};

/* A string section: every offset below `end`, which is behind its last NUL, starts a string. */
struct wsi_line_strings {
	const char *ptr;
	uint64_t end;
};

struct wsi_line_owner {
	uint32_t owner;
	uint32_t part;
};

struct ws_line_map {
	struct ws_span line;
	struct wsi_line_strings names, line_names; /* .debug_str, .debug_line_str */
	bool big_endian;
	struct ws_line_reloc *reloc;  /* owned, by sec_off */
	struct wsi_line_table *table; /* owned */
	struct wsi_line_part *part;   /* owned */
	struct wsi_line_owner *owner; /* owned: owners in anchored parts, then by position */
	size_t n_relocs, n_tables, n_parts, n_owners;
	size_t n_anchored; /* parts that consist of stretches: owner[] says whose */
	size_t tables_cap, parts_cap, owners_cap;
	struct wsi_line_diags diags;  /* of the headers */
	struct wsi_line_costs *costs; /* owned */
};

static inline bool wsi_line_is_anchored(const struct wsi_line_part *part)
{
	return part->first_reloc < part->end_reloc;
}

/* False: there is no other stretch. */
static inline bool wsi_line_stretch_next(const struct ws_line_map *map,
					 const struct wsi_line_part *part,
					 struct wsi_line_stretch *it)
{
	if (it->end == part->end)
		return false;
	it->start = it->end;
	/* two relocations of one word: the first counts */
	while (it->next < part->end_reloc && map->reloc[it->next].sec_off - 3 <= it->start)
		it->next++;
	it->end = it->next < part->end_reloc ? map->reloc[it->next].sec_off - 3 : part->end;
	return true;
}

static inline struct wsi_line_stretch wsi_line_stretches(const struct wsi_line_part *part)
{
	return (struct wsi_line_stretch){ part->start, part->start, part->first_reloc };
}

/* Reads all headers into map->table. */
enum ws_status wsi_line_read_headers(struct ws_line_map *map, struct ws_error *err) WS_MUST_USE;
/* Finds the string bases that a linker did not fill in; the parts are made. */
enum ws_status wsi_line_find_bases(struct ws_line_map *map, const struct ws_line_input *input,
				   struct ws_error *err) WS_MUST_USE;

/* Whether the sequence that ws_line_find() answers of tells inlined calls, at whichever of its
 * rows.
 */
bool wsi_line_has_calls(const struct ws_line_map *map, uint32_t owner, uint64_t rel_pc);

/* Rows of a part, decoded at the first call. NULL: out of memory. */
static inline const struct wsi_line_rows *wsi_line_part_rows(const struct ws_line_map *map,
							     size_t part)
{
	const struct wsi_line_rows *rows =
		atomic_load_explicit(&map->part[part].rows, memory_order_acquire);
	return rows ? rows : wsi_line_part_decode(map, part);
}

/* Relocation of the word at `sec_off`, or NULL. */
const struct ws_line_reloc *wsi_line_reloc_find(const struct ws_line_map *map, uint64_t sec_off);

/* The terminated string at an offset, or NULL. O(1). */
static inline const char *wsi_line_str(const struct wsi_line_strings *strings, uint64_t off)
{
	return off < strings->end ? strings->ptr + off : NULL;
}

/* File of a number, or NULL. */
static inline const struct ws_line_file *
wsi_line_file(const struct ws_line_map *map, const struct wsi_line_rows *rows, uint32_t number)
{
	const struct wsi_line_table *table = &map->table[rows->part->table];
	if (number == 0 && table->pub.version < 5)
		return NULL;
	if (number < table->pub.n_files)
		return &table->files[number];
	size_t defined = number - table->pub.n_files;
	return defined < rows->n_defined ? &rows->defined[defined] : NULL;
}

/* Address of a row of a sequence; `index` counts from 0. */
static inline uint64_t wsi_line_address(const struct wsi_line_rows *rows,
					const struct wsi_line_seq *seq, size_t index)
{
	size_t at = seq->first_row + index;
	return seq->is_wide ? rows->wide[at].address : seq->base + rows->row[at].addr;
}

/* Index of the `nth` row in the order of addresses; equal addresses as emitted. */
static inline size_t wsi_line_by_address(const struct wsi_line_rows *rows,
					 const struct wsi_line_seq *seq, size_t nth)
{
	return seq->is_sorted ? nth : rows->order[seq->first_row + nth];
}

static inline unsigned wsi_line_flags(const struct wsi_line_narrow *row)
{
	return row->flags_depth & ((1u << WSI_LINE_FLAG_BITS) - 1);
}

static inline unsigned wsi_line_depth(const struct wsi_line_narrow *row)
{
	return (unsigned)row->flags_depth >> WSI_LINE_FLAG_BITS;
}

#endif
