/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Section headers -> tables and slots, in two passes (core.h has the picture).
 *
 * Pass 1 finds the tables and checks each section against the file's end. Pass 2 puts every child
 * into the slot of its parent row. A level of the tree has its own kind of table and a child is
 * only accepted by a parent of the right kind, so links that point to themselves or in a circle are
 * merely wrong links: nothing recurses.
 *
 * Hostile sizes: rows are clipped to the file and to what a machine can have; tables that overlap
 * cannot multiply the memory, for the bytes of all rows together are bounded by the file's size.
 */
#include "core/core.h"

enum {
	SHDR_TYPE = 4,
	SHDR_ADDR = 16,
	SHDR_OFFSET = 24,
	SHDR_SIZE = 32,
	SHDR_LINK = 40,
	SHDR_INFO = 44,
	SHDR_ENTSIZE = 56,
};

/* What one damaged table may claim beyond the file's size before others have to pay for it. */
#define ROW_BYTES_SLACK (16u << 20)

struct indexer {
	struct ws_core *core;
	struct ws_span headers;
	uint64_t stride; /* of the headers */
	size_t tables_cap, globals_cap;
	uint64_t row_bytes;    /* of the tables so far */
	uint32_t strtab_named; /* section named .strtab, 0: none */
	uint32_t strtab_other; /* a string table that is not the name table, 0: none */
	uint32_t look_budget;  /* headers that may still be read to judge rivals */
};

static uint64_t header_off(const struct indexer *ix, uint32_t section)
{
	return wsi_elf_shdr_off(&ix->core->elf, section);
}

/* ---- pass 1 ---- */

/* Rows of a table that are in the file and plausible. */
static uint32_t rows_count(struct indexer *ix, uint32_t section, const struct wsi_shdr *shdr,
			   const struct wsi_kind_info *info)
{
	struct ws_core *core = ix->core;
	struct ws_span bytes;
	(void)wsi_elf_bytes(&core->elf, shdr, &bytes);
	uint64_t rows = bytes.len / shdr->entsize;
	if (shdr->size % shdr->entsize != 0)
		wsi_core_note(core, WSI_TOPIC_ROWS, header_off(ix, section) + SHDR_SIZE,
			      "%s (section %u): %" PRIu64 " bytes are no multiple of %" PRIu64
			      "-byte rows",
			      info->words, section, shdr->size, shdr->entsize);
	if (rows > info->max_rows) {
		wsi_core_note(core, WSI_TOPIC_ROWS, header_off(ix, section) + SHDR_SIZE,
			      "%s (section %u): %" PRIu64
			      " rows are more than any machine has; the first %u are read",
			      info->words, section, rows, info->max_rows);
		rows = info->max_rows;
	}
	uint64_t limit = wsi_add_sat(core->bytes.len, ROW_BYTES_SLACK);
	if (rows * shdr->entsize > limit - ix->row_bytes ||
	    rows * info->n_slots > UINT32_MAX - core->n_slots) {
		wsi_core_note(
			core, WSI_TOPIC_ROWS, header_off(ix, section) + SHDR_OFFSET,
			"%s (section %u) is ignored: all tables together claim more bytes than "
			"the file has",
			info->words, section);
		rows = 0;
	}
	return (uint32_t)rows;
}

static enum ws_status table_add(struct indexer *ix, uint32_t section, enum wsi_kind kind,
				struct ws_error *err)
{
	struct ws_core *core = ix->core;
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, section);
	if (shdr.entsize < info->base_bytes || shdr.entsize > UINT32_MAX) {
		if (shdr.size != 0)
			wsi_core_note(core, WSI_TOPIC_STRIDE,
				      header_off(ix, section) + SHDR_ENTSIZE,
				      "%s (section %u): rows of %" PRIu64
				      " bytes cannot be read; they need %u",
				      info->words, section, shdr.entsize, info->base_bytes);
		return WS_OK;
	}
	if (!wsi_grow(&core->tables, &ix->tables_cap, core->n_tables, sizeof *core->tables,
		      UINT32_MAX - 1))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "index of %u tables",
				core->n_tables);
	uint32_t rows = rows_count(ix, section, &shdr, info);
	core->tables[core->n_tables++] = (struct wsi_table){
		.off = shdr.offset,
		.section = section,
		.n_rows = rows,
		.stride = (uint32_t)shdr.entsize,
		.first_slot = (uint32_t)core->n_slots,
		.parent = WS_NONE,
		.kind = (uint8_t)kind,
	};
	core->n_slots += (uint64_t)rows * info->n_slots;
	ix->row_bytes += rows * shdr.entsize;
	core->table_bits[section / 64] |= UINT64_C(1) << section % 64;
	return WS_OK;
}

static void strtab_consider(struct indexer *ix, uint32_t section)
{
	struct wsi_shdr shdr = wsi_elf_shdr(&ix->core->elf, section);
	if (!ix->strtab_named &&
	    ws_str_equal(wsi_elf_name(&ix->core->elf, &shdr), ws_str_of(".strtab")))
		ix->strtab_named = section;
	if (!ix->strtab_other && section != ix->core->elf.shstrndx)
		ix->strtab_other = section;
}

/* Whether the writer of this dump said that it lacks something. */
static void note_read(struct indexer *ix, uint32_t section)
{
	struct ws_core *core = ix->core;
	struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, section);
	struct ws_span bytes;
	if (!wsi_elf_bytes(&core->elf, &shdr, &bytes) || bytes.len != sizeof WSI_INCOMPLETE_NOTE ||
	    memcmp(bytes.ptr, WSI_INCOMPLETE_NOTE, bytes.len) != 0)
		return;
	core->facts.complete = false;
	wsi_core_note(core, WSI_TOPIC_CUT, shdr.offset,
		      "this dump was written from one that was cut; what it lacks may have been in "
		      "that one");
}

static void cut_note(struct indexer *ix, uint32_t section, enum wsi_kind kind, uint64_t off,
		     uint64_t size)
{
	struct ws_core *core = ix->core;
	core->facts.complete = false;
	const char *words = wsi_kind_infos[kind].words;
	uint64_t there = off < core->bytes.len ? core->bytes.len - off : 0;
	wsi_core_note(core, WSI_TOPIC_CUT, core->bytes.len,
		      "%s (section %u): %" PRIu64 " of %" PRIu64
		      " bytes are missing, the file ends before them",
		      words ? words : "data", section, size - there, size);
}

/* One section in pass 1. Inlined: this is the loop that opening a large dump spends its time in. */
static inline enum ws_status section_scan(struct indexer *ix, uint32_t section,
					  struct ws_error *err)
{
	struct ws_core *core = ix->core;
	uint64_t at = section * ix->stride;
	uint32_t type = wsi_at_u32(ix->headers, at + SHDR_TYPE);
	enum wsi_kind kind = wsi_kind_of(type);
	uint64_t off = wsi_at_u64(ix->headers, at + SHDR_OFFSET);
	uint64_t size = wsi_at_u64(ix->headers, at + SHDR_SIZE);
	core->kind_counts[kind]++;
	if ((off > core->bytes.len || size > core->bytes.len - off) && size != 0 &&
	    type != WSI_SHT_NOBITS && type != WSI_SHT_NULL)
		cut_note(ix, section, kind, off, size);
	if (wsi_kind_infos[kind].n_slots)
		return table_add(ix, section, kind, err);
	if ((kind == WSI_KIND_GLOBAL || kind == WSI_KIND_MANAGED) && size != 0) {
		if (!wsi_grow(&core->globals, &ix->globals_cap, core->n_globals,
			      sizeof *core->globals, UINT32_MAX))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "list of memory");
		core->globals[core->n_globals++] = section;
	}
	/* metadata has no parent: a section that has one came by this type through damage */
	if (kind == WSI_KIND_META && !core->meta_section &&
	    wsi_at_u32(ix->headers, at + SHDR_LINK) == 0)
		core->meta_section = section;
	if (type == WSI_SHT_STRTAB)
		strtab_consider(ix, section);
	if (type == WSI_SHT_NOTE)
		note_read(ix, section);
	if (kind == WSI_KIND_NONE && type > WSI_CUDBG_SHT_BASE)
		wsi_core_note(core, WSI_TOPIC_UNKNOWN, header_off(ix, section) + SHDR_TYPE,
			      "section %u has type 0x%x, which this version does not know", section,
			      type);
	return WS_OK;
}

static enum ws_status tables_find(struct indexer *ix, struct ws_error *err)
{
	struct ws_core *core = ix->core;
	size_t n_words = (size_t)core->n_sections / 64 + 1;
	core->table_bits = wsi_zalloc_array(n_words, sizeof *core->table_bits);
	core->table_ranks = wsi_zalloc_array(n_words, sizeof *core->table_ranks);
	if (!core->table_bits || !core->table_ranks)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "index of %u sections",
				core->n_sections);
	for (uint32_t i = 1; i < core->n_sections; i++) {
		enum ws_status st = section_scan(ix, i, err);
		if (st != WS_OK)
			return st;
	}
	uint32_t rank = 0;
	for (size_t w = 0; w < n_words; w++) {
		core->table_ranks[w] = rank;
		rank += (uint32_t)__builtin_popcountll(core->table_bits[w]);
	}
	return WS_OK;
}

uint32_t wsi_core_table_of(const struct ws_core *core, uint32_t section)
{
	if (section >= core->n_sections)
		return WS_NONE;
	uint64_t word = core->table_bits[section / 64], bit = UINT64_C(1) << section % 64;
	if (!(word & bit))
		return WS_NONE;
	return core->table_ranks[section / 64] + (uint32_t)__builtin_popcountll(word & (bit - 1));
}

static void strtab_choose(struct indexer *ix)
{
	struct ws_core *core = ix->core;
	uint32_t section = ix->strtab_named;
	if (!section && core->n_sections > 0) {
		uint64_t any = wsi_elf_find(&core->elf, ".strtab"); /* whatever its type says */
		section = any != UINT64_MAX ? (uint32_t)any : ix->strtab_other;
		if (section && any == UINT64_MAX)
			wsi_core_note(core, WSI_TOPIC_STRTAB, header_off(ix, section),
				      "no section is named .strtab; section %u is taken for it",
				      section);
	}
	if (section)
		(void)wsi_core_section_bytes(core, section, &core->strtab);
	else if (core->n_tables > 0)
		wsi_core_note(core, WSI_TOPIC_STRTAB, WS_NO_OFFSET,
			      "no section is named .strtab: names of devices are lost");
}

/* ---- pass 2 ---- */

/* Whether a neighbour, the nearest section of the same type in one direction, is the child of the
 * next row in that direction. */
static bool neighbour_fits(struct indexer *ix, uint32_t section, int step)
{
	enum { WINDOW = 16384 };
	uint64_t at = section * ix->stride;
	uint32_t type = wsi_at_u32(ix->headers, at + SHDR_TYPE);
	uint64_t other = section;
	for (unsigned i = 0; i < WINDOW && ix->look_budget > 0; i++, ix->look_budget--) {
		other += (uint64_t)(int64_t)step;
		if (other == 0 || other >= ix->core->n_sections)
			return false;
		uint64_t there = other * ix->stride;
		if (wsi_at_u32(ix->headers, there + SHDR_TYPE) == type)
			return wsi_at_u32(ix->headers, there + SHDR_LINK) ==
				       wsi_at_u32(ix->headers, at + SHDR_LINK) &&
			       wsi_at_u32(ix->headers, there + SHDR_INFO) ==
				       wsi_at_u32(ix->headers, at + SHDR_INFO) + (uint32_t)step;
	}
	return false;
}

/*
 * Two sections claim one place, so one of them has a damaged link or info. Writers emit the
 * children of a table row by row: the one that stands between the children of the rows before and
 * after is right. Without a difference the first in the file stays.
 */
static bool rival_wins(struct indexer *ix, uint32_t holder, uint32_t rival)
{
	int holder_fits = neighbour_fits(ix, holder, -1) + neighbour_fits(ix, holder, 1);
	int rival_fits = neighbour_fits(ix, rival, -1) + neighbour_fits(ix, rival, 1);
	return rival_fits > holder_fits;
}

static void slot_contest(struct indexer *ix, uint32_t *slot, uint32_t section, uint32_t value,
			 enum wsi_kind kind)
{
	struct ws_core *core = ix->core;
	uint32_t holder = wsi_kind_infos[kind].n_slots ? core->tables[*slot - 1].section : *slot;
	uint32_t loser = section;
	if (rival_wins(ix, holder, section)) {
		*slot = value;
		loser = holder;
	}
	wsi_core_note(core, WSI_TOPIC_TWICE, header_off(ix, loser) + SHDR_LINK,
		      "%s (section %u) is ignored: section %u is already the one of row %u of "
		      "section %u",
		      wsi_kind_infos[kind].words, loser, loser == section ? holder : section,
		      wsi_at_u32(ix->headers, loser * ix->stride + SHDR_INFO),
		      wsi_at_u32(ix->headers, loser * ix->stride + SHDR_LINK));
}

static void orphan_note(struct indexer *ix, uint32_t section, enum wsi_kind kind,
			const struct wsi_table *table, uint32_t link, uint32_t info)
{
	const char *words = wsi_kind_infos[kind].words;
	const char *parent = wsi_kind_infos[wsi_kind_infos[kind].parent].words;
	if (table && table->kind == wsi_kind_infos[kind].parent)
		wsi_core_note(
			ix->core, WSI_TOPIC_PARENT, header_off(ix, section) + SHDR_INFO,
			"%s (section %u) is lost: it belongs to row %u of section %u, which has "
			"%u rows",
			words, section, info, link, table->n_rows);
	else
		wsi_core_note(ix->core, WSI_TOPIC_PARENT, header_off(ix, section) + SHDR_LINK,
			      "%s (section %u) is lost: section %u, which it belongs to, is no "
			      "readable %s",
			      words, section, link, parent);
}

/* Adds a leaf of a row to the run of its kind; whatever does not continue it breaks it. */
static void run_extend(const struct indexer *ix, struct wsi_run *run, uint64_t at, uint32_t row)
{
	uint64_t off = wsi_at_u64(ix->headers, at + SHDR_OFFSET);
	uint64_t size = wsi_at_u64(ix->headers, at + SHDR_SIZE);
	uint64_t len = ix->core->bytes.len;
	if (row != run->n || size > len || off > len - size || size > UINT32_MAX)
		run->n = WS_NONE;
	if (run->n == WS_NONE)
		return;
	if (row == 0) {
		run->off = off;
		run->bytes = (uint32_t)size;
	} else if (row == 1 && off > run->off) {
		run->pitch = off - run->off;
	}
	bool goes_on = size == run->bytes && off == run->off + row * run->pitch;
	run->n = goes_on ? run->n + 1 : WS_NONE;
}

static void children_attach(struct indexer *ix)
{
	struct ws_core *core = ix->core;
	uint32_t next_table = 0;
	uint32_t last_link = 0; /* section 0 is never a table */
	struct wsi_table *table = NULL;
	for (uint32_t i = 1; i < core->n_sections; i++) {
		uint64_t at = i * ix->stride;
		enum wsi_kind kind = wsi_kind_of(wsi_at_u32(ix->headers, at + SHDR_TYPE));
		const struct wsi_kind_info *kind_info = &wsi_kind_infos[kind];
		uint32_t value = i;
		if (kind_info->n_slots) {
			if (next_table == core->n_tables || core->tables[next_table].section != i)
				continue; /* a table that cannot be read */
			value = ++next_table;
		}
		if (kind_info->parent == WSI_KIND_NONE)
			continue;
		uint32_t link = wsi_at_u32(ix->headers, at + SHDR_LINK);
		uint32_t info = wsi_at_u32(ix->headers, at + SHDR_INFO);
		if (link != last_link) {
			uint32_t number = wsi_core_table_of(core, link);
			table = number == WS_NONE ? NULL : &core->tables[number];
			last_link = link;
		}
		if (!table || table->kind != kind_info->parent || info >= table->n_rows) {
			orphan_note(ix, i, kind, table, link, info);
			continue;
		}
		uint32_t *slot = &core->slots[(size_t)table->first_slot +
					      (size_t)info * wsi_kind_infos[table->kind].n_slots +
					      kind_info->slot];
		if (*slot)
			slot_contest(ix, slot, i, value, kind);
		else
			*slot = value;
		if (kind == WSI_KIND_REGS)
			run_extend(ix, &table->run[WSI_RUN_REGS], at, info);
		else if (kind == WSI_KIND_PREDS)
			run_extend(ix, &table->run[WSI_RUN_PREDS], at, info);
	}
}

enum ws_status wsi_core_index(struct ws_core *core, struct ws_error *err)
{
	struct indexer ix = {
		.core = core,
		.headers = core->elf.headers,
		.stride = core->elf.shentsize,
		.look_budget = 8u << 20,
	};
	enum ws_status st = tables_find(&ix, err);
	if (st != WS_OK)
		return st;
	strtab_choose(&ix);
	core->slots = wsi_zalloc_array((size_t)core->n_slots, sizeof *core->slots);
	if (!core->slots)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "index of %u tables",
				core->n_tables);
	children_attach(&ix);
	return WS_OK;
}
