/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside an open dump.
 *
 *   section headers (in the file)       wsi_render_table: one per section of a table kind
 *   +---+---+---+---+---+---+           +------+------+------+
 *   | 0 | 1 | 2 | 3 | 4 | 5 | ...       | 1    | 3    | 4    | ...   rows: where, how many, stride
 *   +---+---+---+---+---+---+           +--+---+--+---+------+
 *         bitmap + rank: section -> table  |      |
 *                                          v      v
 *   slots: for each row of each table     |.|.|.|.|.|.|.|.|        child sections of the row, by
 * kind
 *
 * One pass over the headers makes this: it finds the tables and puts each child into the slot of
 * its parent row; what it cannot place at once waits for a second one (index.c). A slot holds a
 * section index, or for a child that is a table its number in `tables` plus one; 0 is none. Then
 * the tree is walked once from the devices down to give the lists of state.h their order (tree.c):
 * a list element is a reference to a table row, and its parent is an attribute of the table.
 *
 * Nothing is kept per lane but its slots (16 bytes), nothing per leaf section. Rows, leaves and
 * memory are read where they lie. Where the file is read in windows (base/input.h), its headers,
 * the rows of its tables, strings and images are held; leaves and memory are read when they are
 * asked for.
 */
#ifndef WSI_DUMP_H
#define WSI_DUMP_H

#include <warpscope/core.h>

#include "base/arena.h"
#include "base/dim3.h"
#include "base/file.h"
#include "base/interval.h"
#include "elf/elf.h"
#include "target/dump/format.h"
#include "target/member.h"

/*
 * Leaf sections of one kind whose bytes lie at equal distances, in the order of the rows that they
 * belong to, as drivers write them: then a look-up needs neither slot nor section header. Small,
 * for look-ups at random wait for memory: what does not fit is no run.
 */
struct wsi_row_run {
	uint64_t off;   /* of the first row's bytes */
	uint32_t pitch; /* from one row's bytes to the next */
	uint16_t bytes; /* of each */
	uint16_t n; /* rows so far; the run serves when it is n_rows. WSI_NO_RUN: it is broken */
};

enum { WSI_RUN_REGS, WSI_RUN_PREDS, WSI_RUN_FRAMES, WSI_N_RUNS };
enum { WSI_NO_RUN = UINT16_MAX };

/* Which run leaves of a kind make; WSI_N_RUNS: none. */
static inline unsigned wsi_run_of(enum wsi_kind kind)
{
	return kind == WSI_KIND_REGS     ? WSI_RUN_REGS
	       : kind == WSI_KIND_PREDS  ? WSI_RUN_PREDS
	       : kind == WSI_KIND_FRAMES ? WSI_RUN_FRAMES
					 : WSI_N_RUNS;
}

/* A table section whose stride is good. */
struct wsi_table {
	uint64_t off;        /* of its first row in the file */
	const uint8_t *rows; /* borrowed: they are there */
	uint32_t section;
	uint32_t n_rows; /* whole rows inside the file */
	uint32_t stride;
	uint32_t first_slot; /* in `slots` */
	uint32_t parent;     /* list index of the parent row once the tree knows it, else WS_NONE */
	uint8_t kind;        /* enum wsi_kind */
	uint8_t n_slots;     /* of each row: wsi_kind_infos[kind].n_slots */
	uint16_t frame_stride;              /* of those in WSI_RUN_FRAMES */
	struct wsi_row_run run[WSI_N_RUNS]; /* lane tables */
};

/* A row. */
struct wsi_ref {
	uint32_t table, row;
};

/* List elements in their order. */
struct wsi_list {
	struct wsi_ref *at; /* owned */
	uint32_t n;
	uint32_t *first; /* owned: per owner, and one more: index of its first element */
	uint32_t *by_id; /* owned: indices sorted by id within each owner; NULL: never looked up */
};

/* What can be wrong: X(TOPIC, what). Entries of one topic are listed up to a limit, then counted.
 */
#define WSI_TOPIC_LIST(X)             \
	X(FILE, "file")               \
	X(HEADERS, "section headers") \
	X(STRTAB, "string table")     \
	X(CUT, "section")             \
	X(WRITTEN, "section")         \
	X(STRIDE, "table")            \
	X(ROWS, "table")              \
	X(PARENT, "section")          \
	X(TWICE, "section")           \
	X(STRAY, "section")           \
	X(MENDED, "section")          \
	X(LOST, "table")              \
	X(LANES, "lane table")        \
	X(TEXT, "string")             \
	X(META, "metadata")           \
	X(MEMORY, "memory")

enum wsi_dump_topic {
#define X(TOPIC, what) WSI_TOPIC_##TOPIC,
	WSI_TOPIC_LIST(X)
#undef X
		WSI_N_TOPICS
};

struct wsi_diag {
	struct ws_diagnostic shown;
	enum wsi_dump_topic topic;
	struct wsi_diag *next;
};

struct wsi_topic_state {
	uint32_t n;            /* findings */
	struct wsi_diag *last; /* listed */
};

/* Findings, in their order. */
struct wsi_notes {
	struct wsi_diag *first, *last;
	struct wsi_topic_state topics[WSI_N_TOPICS];
	bool cut; /* ws_dump_facts.cut */
};

/* The entry size that most tables of a kind have (Boyer and Moore's vote). */
struct wsi_habit {
	uint64_t stride;
	uint32_t n;     /* tables with rows */
	uint32_t votes; /* 0: none has most */
};

/* The most SMs that a device can have, and warps of one. */
struct wsi_most {
	uint32_t sms, warps;
};

struct ws_core {
	struct ws_target target; /* first */
	struct wsi_file file;    /* owned; empty when the bytes are the caller's */
	struct wsi_arena arena;  /* owned: strings, diagnostics */
	struct wsi_input source; /* borrowed from `file`: the whole dump, unpacked */
	struct wsi_elf elf;      /* its headers are those in `mended`, if that is there */
	struct ws_span claimed;  /* section headers as the file has them */
	uint8_t *mended;         /* owned: section headers with corrections (mend.c); NULL: none */
	struct ws_span strtab;
	struct ws_span halves; /* wsi_core_halves() */
	uint32_t n_sections;   /* headers that are in the file */
	bool headers_lost;     /* some are not: what seems absent may only be cut off */

	uint64_t *table_bits;     /* owned: bit per section, set for those in `tables` */
	uint32_t *table_ranks;    /* owned: per word of table_bits, tables before it */
	struct wsi_table *tables; /* owned, in section order */
	uint32_t n_tables;
	uint32_t *slots; /* owned */
	uint64_t n_slots;

	/* owners of contexts, grids and SMs: devices; of images: contexts; of blocks, warps: SMs */
	struct wsi_list devices, contexts, modules, grids, sms, blocks, warps;
	uint32_t *lone_images; /* owned: sections of relocated images that no module table names:
				  the last modules of the list, of the first context */
	uint32_t n_lone_images;
	uint32_t *lane_tables; /* owned: per warp, number of its lane table plus one, 0: none */
	bool *damaged_devices, *damaged_grids; /* owned: ws_device.damaged, ws_grid.damaged */
	struct wsi_most *most;                 /* owned: by device */

	uint32_t *globals; /* owned: sections of global and managed memory; by address in the end */
	uint32_t n_globals;
	struct wsi_segments segments; /* owned: addresses -> sections of global memory */
	struct wsi_cache *cache;      /* owned: ranges.c */

	uint32_t kind_counts[WSI_N_KINDS]; /* sections of each kind */
	struct wsi_habit habits[WSI_N_KINDS];
	bool written_in_doubt; /* WSI_INCOMPLETE_DOUBT */
	bool doubtful;         /* the index met a section that has no place, or an odd one */
	uint32_t meta_section; /* 0: none */
	struct ws_dump_facts facts;
	enum ws_status no_original; /* why a module has no original image */
	struct wsi_notes notes;
};

static inline const struct ws_core *wsi_core_of(const struct ws_target *target)
{
	return target->state;
}

/* ---- rows and children ---- */

/* Bytes of a row; the row number must be below n_rows. */
static inline struct ws_span wsi_core_row(const struct ws_core *core, struct wsi_ref ref)
{
	const struct wsi_table *table = &core->tables[ref.table];
	assert(ref.row < table->n_rows);
	uint64_t off = (uint64_t)ref.row * table->stride;
	return (struct ws_span){ table->rows + off, table->stride, table->off + off };
}

static inline uint32_t wsi_core_slot(const struct ws_core *core, struct wsi_ref ref,
				     enum wsi_kind child)
{
	const struct wsi_table *table = &core->tables[ref.table];
	const struct wsi_kind_info *info = &wsi_kind_infos[child];
	assert((enum wsi_kind)table->kind == info->parent && ref.row < table->n_rows);
	return core
		->slots[(size_t)table->first_slot + (size_t)ref.row * table->n_slots + info->slot];
}

/* Table that is a child of a row, or NULL. */
static inline const struct wsi_table *wsi_core_child_table(const struct ws_core *core,
							   struct wsi_ref ref, enum wsi_kind child)
{
	uint32_t slot = wsi_core_slot(core, ref, child);
	return slot ? &core->tables[slot - 1] : NULL;
}

/* The section behind the value of a slot for children of this kind; 0: none. */
static inline uint32_t wsi_core_holder(const struct ws_core *core, uint32_t value,
				       enum wsi_kind child)
{
	return value && wsi_kind_infos[child].n_slots ? core->tables[value - 1].section : value;
}

/* List index of the block of a warp. */
static inline uint32_t wsi_core_block_of(const struct ws_core *core, uint32_t warp_index)
{
	return core->tables[core->warps.at[warp_index].table].parent;
}

/* Grid of a block; false when the dump has none. */
bool wsi_core_grid_of(const struct ws_core *core, uint32_t block_index, struct ws_grid *ret_grid);

/* Number of a section in `tables`, or WS_NONE. */
uint32_t wsi_core_table_of(const struct ws_core *core, uint32_t section);

/* The table that a section names as its parent; NULL: none of the kind that a `kind` needs. */
const struct wsi_table *wsi_core_parent(const struct ws_core *core, const struct wsi_shdr *shdr,
					enum wsi_kind kind);

/* The row of it that the section names; false when there is none. */
bool wsi_core_parent_row(const struct ws_core *core, const struct wsi_shdr *shdr,
			 enum wsi_kind kind, struct wsi_ref *ret_row);

/* Where the bytes of a section are that are in the file; false when some are missing. */
static inline bool wsi_core_extent(const struct ws_core *core, uint32_t section,
				   struct wsi_slice *ret_extent)
{
	/* spelled out: look-ups spend their time here, and need two of the ten fields */
	uint64_t at = (uint64_t)section * core->elf.shentsize;
	uint64_t size = wsi_at_u64(core->elf.headers, at + WSI_SH_SIZE);
	*ret_extent = wsi_input_clip(&core->source,
				     wsi_at_u64(core->elf.headers, at + WSI_SH_OFFSET), size);
	return ret_extent->len == size;
}

/* The same bytes, held. WS_TRUNCATED: some are missing, and those that are there are held. */
enum ws_status wsi_core_hold(const struct ws_core *core, uint32_t section,
			     struct ws_span *ret_bytes, struct ws_error *err) WS_MUST_USE;

/* The table of section names, held; empty where it cannot be. */
struct ws_span wsi_core_names(const struct ws_core *core);

enum { WSI_NAME_BYTES = 128 };

/* Name of a section, in place or in `scratch`; of a longer one the first bytes. */
struct ws_str wsi_core_name_head(const struct ws_core *core, const struct wsi_shdr *shdr,
				 uint8_t scratch[WSI_NAME_BYTES]);

/* Row of a lane by its id; false when the warp has no such lane. */
bool wsi_core_lane_row(const struct ws_core *core, uint32_t warp_index, uint32_t lane,
		       struct wsi_ref *ret_ref);

/* The rows of a warp and of its lanes as they stand there; of the latter it returns how many the
 * table has. */
void wsi_core_warp_row(const struct ws_core *core, uint32_t index, struct ws_warp *ret_warp);
uint32_t wsi_core_lanes_rows(const struct ws_core *core, uint32_t warp_index,
			     struct ws_lane *ret_lanes, uint32_t *ret_n);
/* judge.c: marks those among the lanes of a warp whose exceptions prove nothing; all, where most of
 * the `n_rows` of their table do not fit. */
void wsi_core_judge_lanes(const struct ws_core *core, uint32_t warp_index, uint32_t n_rows,
			  struct ws_lane *lanes, uint32_t n);
/* judge.c: the same of one that has an exception; whether it proves nothing. */
bool wsi_core_judge_lane(const struct ws_core *core, uint32_t warp_index, uint32_t lane);
/* judge.c: whether the lanes of a warp bear out that it stopped at a trap. */
bool wsi_core_judge_trap(const struct ws_core *core, uint32_t warp_index);

/* fits.c: whether bytes can be a row of a kind; NULL: nothing is known of such rows. */
typedef bool wsi_row_fits_fn(struct ws_span row);
wsi_row_fits_fn *wsi_row_fits(enum wsi_kind kind);

/* List index of the first element with this id among a device's contexts or grids, or a context's
 * images; WS_NONE when there is none. */
uint32_t wsi_core_find_context(const struct ws_core *core, uint32_t device_index, uint64_t id);
uint32_t wsi_core_find_grid(const struct ws_core *core, uint32_t device_index, uint64_t id);
uint32_t wsi_core_find_image(const struct ws_core *core, uint32_t context_index, uint64_t handle);

/* ---- memory ---- */

/* Global memory from some address on, up to where its section stops to answer. */
struct wsi_global {
	uint32_t section;
	uint64_t claimed;        /* bytes that the section claims to have; at least 1 */
	struct wsi_slice extent; /* those that are in the file */
};

/* False: no section claims the address. */
bool wsi_core_global_at(const struct ws_core *core, uint64_t address,
			struct wsi_global *ret_global);

/* How many of these bytes of global memory the file has, from the first on. */
uint64_t wsi_core_global_present(const struct ws_core *core, uint64_t address, uint64_t size);

/* One row of a grid's constant bank table. */
bool wsi_core_bank(const struct ws_core *core, uint32_t grid_index, uint32_t row,
		   struct ws_bank *ret_bank);

/* ---- opening, in this order ---- */

/* Whether a file begins as ELF files do, as far as it goes; its first bytes. */
bool wsi_core_has_magic(struct ws_span bytes);
/* Refuses what is not a dump, saying what it is. */
enum ws_status wsi_core_identify(struct ws_core *core, struct ws_error *err) WS_MUST_USE;
/* salvage.c: finds section headers that the ELF header does not lead to. */
bool wsi_core_headers_salvage(struct ws_core *core);
/* salvage.c: says which rows are recognised in a file without section headers. */
void wsi_core_salvage_note(struct ws_core *core);
/* salvage.c: takes section headers that go on behind those that the file claims; returns how many.
 */
uint64_t wsi_core_headers_extend(struct ws_core *core);
/* index.c: tables and slots. */
enum ws_status wsi_core_index(struct ws_core *core, struct ws_error *err) WS_MUST_USE;
/* Forgets what the index made, but for the headers and the notes. */
void wsi_core_index_fini(struct ws_core *core);
/*
 * mend.c: corrects headers of tables that have no place, or whose rows cannot be read, where the
 * rest of the tree says what they are. Returns how many: then what the index noted since `before`
 * is replaced by notes of what was mended, and the index has to be made again.
 */
uint32_t wsi_core_mend(struct ws_core *core, const struct wsi_notes *before);
/* mend.c: notes what has no place and what lacks a table, in the end. */
void wsi_core_lost(struct ws_core *core);
/*
 * What a section must have been: the kind that its name says, where its type says so too or its
 * place is one for that kind, for of the three one is damaged. WSI_KIND_NONE: not known.
 */
enum wsi_kind wsi_core_kind_meant(const struct ws_core *core, const struct wsi_shdr *shdr);
/* Whether the section may be a table that could tell of an exception. */
bool wsi_core_could_tell(const struct ws_core *core, const struct wsi_shdr *shdr);
/* Whether the section is named as the child of this kind of a row of a table is. */
bool wsi_core_name_fits(const struct ws_core *core, const struct wsi_shdr *shdr, enum wsi_kind kind,
			uint32_t table, uint32_t row);
/* tree.c: the lists. */
enum ws_status wsi_core_tree(struct ws_core *core, struct ws_error *err) WS_MUST_USE;
void wsi_core_tree_fini(struct ws_core *core);
/* judge.c: which devices and grids are damaged. */
enum ws_status wsi_core_judge(struct ws_core *core, struct ws_error *err) WS_MUST_USE;
/* ranges.c: which section answers for an address of global memory. */
enum ws_status wsi_core_globals(struct ws_core *core, struct ws_error *err) WS_MUST_USE;
void wsi_core_ranges_fini(struct ws_core *core);
/* facts.c */
void wsi_core_facts_read(struct ws_core *core);

/* What is made when it is first asked for, and then published once. */
struct wsi_cache {
	struct wsi_known_ranges *_Atomic known; /* owned: ranges.c */
	struct wsi_salvage *_Atomic salvage;    /* owned: salvage.c */
};

void wsi_salvage_destroy(struct wsi_salvage *salvage);

/* ---- members of the target (target.h), which checks indices before ---- */

/* state.c */
WSI_TARGET_MEMBER(wsi_core_, device);
WSI_TARGET_MEMBER(wsi_core_, context);
WSI_TARGET_MEMBER(wsi_core_, module);
WSI_TARGET_MEMBER(wsi_core_, grid);
WSI_TARGET_MEMBER(wsi_core_, sm);
WSI_TARGET_MEMBER(wsi_core_, block);
WSI_TARGET_MEMBER(wsi_core_, warp);
/* lanes.c */
WSI_TARGET_MEMBER(wsi_core_, lanes);
WSI_TARGET_MEMBER(wsi_core_, lane);
WSI_TARGET_MEMBER(wsi_core_, call_stack);
WSI_TARGET_MEMBER(wsi_core_, registers);
/* memory.c: all but code, which is in the images */
WSI_TARGET_MEMBER(wsi_core_, read_memory);
/* ranges.c; the first call walks all lanes */
WSI_TARGET_MEMBER(wsi_core_, memory_range);
/* facts.c, diag.c */
WSI_TARGET_MEMBER(wsi_core_, dump_facts);
WSI_TARGET_MEMBER(wsi_core_, diagnostic);
/* check.c */
WSI_TARGET_MEMBER(wsi_core_, contradictions);

/* What a generic address means. */
struct wsi_resolved {
	struct ws_address at; /* space global, shared or local; shared: of `block_index` */
	uint32_t block_index; /* shared: whose; else WS_NONE */
};

/* Resolves a generic address (`at->space` WS_SPACE_GENERIC) of a warp, or of a lane for local. */
enum ws_status wsi_core_resolve(const struct ws_core *core, const struct ws_address *at,
				struct wsi_resolved *ret_resolved,
				struct ws_error *err) WS_MUST_USE;

/* ---- diagnostics ---- */

/* Notes a finding; only while opening. `hides`: ws_diagnostic's. Running out of memory loses
 * the note, not the dump. */
void wsi_core_note(struct ws_core *core, enum wsi_dump_topic topic, enum ws_hides hides,
		   uint64_t file_off, const char *format, ...) WS_PRINTF(5, 6);

/* The whole dump, unpacked: what `file_off` of memory ranges and sections counts in. */
const struct wsi_input *wsi_core_input(const struct ws_core *core);

#endif
