/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line map inside.
 *
 *   map -> tables (headers, read at creation)
 *       -> parts: runs of opcodes that can be decoded alone
 *             part -> rows (decoded on demand, published once) -> sequences
 *
 * Where every relocation of a table points at a DW_LNE_set_address that begins a sequence - so in
 * every cubin seen - each of them begins a part, and a lookup decodes one part. Otherwise the whole
 * program of the table is one part. Parts also bound damage: a program that breaks goes on at the
 * next part.
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
	uint32_t owner;
	uint32_t n_rows;
	size_t first_row; /* in the part's arrays */
	uint64_t base, low, high;
	uint64_t addr_bits; /* set in any row's distance from the base */
	uint64_t sec_off;
	enum ws_status status;
	uint64_t damage_off;
	bool is_wide;   /* wide[] is filled for its rows */
	bool is_sorted; /* addresses never decrease; else order[] is the order by address */
	/* Slot k covers the addresses from low + (k << slot_shift) on. */
	unsigned slot_shift;
	/* Not wide, sorted, and its rows begin where slots do: the index names the row. */
	bool is_direct;
	size_t first_block, n_blocks;
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
	const struct ws_line_file *files; /* of the table, borrowed; n_named from number 1 on */
	struct ws_line_file *defined;     /* by DW_LNE_define_file, numbered on from the table's */
	size_t n_rows, n_seqs, n_named, n_defined;
	struct wsi_line_diags diags;
};

struct wsi_line_part {
	uint64_t start, end; /* in the section */
	uint32_t table;
	uint32_t owner;                       /* of its first sequence */
	bool anchored;                        /* starts at a relocated DW_LNE_set_address */
	_Atomic(struct wsi_line_rows *) rows; /* owned; NULL: not decoded yet */
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
	struct wsi_line_owner *owner; /* owned: anchored parts by owner, then by position */
	_Atomic(size_t *)
		seqs_before; /* owned: of part i; one more at the end. NULL: not counted */
	size_t n_relocs, n_tables, n_parts, n_owners;
	size_t n_str_bases_0; /* tables whose names begin at 0 */
	size_t tables_cap, parts_cap;
	struct wsi_line_diags diags; /* of the headers */
};

/* Reads all headers into map->table. */
enum ws_status wsi_line_read_headers(struct ws_line_map *map, struct ws_error *err) WS_MUST_USE;

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
