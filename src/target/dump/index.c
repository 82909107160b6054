/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Section headers -> tables and slots (core.h has the picture).
 *
 * Pass 1 finds the tables, checks each section against the file's end, and puts the children that
 * come behind their parents, as writers have them, into the slot of the parent row. Only where some
 * are left pass 2 looks at every child in order: at those before their parents, at rivals for one
 * slot, at orphans. A level of the tree has its own kind of table and a child is
 * only accepted by a parent of the right kind, so links that point to themselves or in a circle are
 * merely wrong links: nothing recurses.
 *
 * Hostile sizes: rows are clipped to the file and to what a machine can have; tables that overlap
 * cannot multiply the memory, for the bytes of all rows together are bounded by the file's size.
 */
#include "target/dump/dump.h"

/* What one damaged table may claim beyond the file's size before others have to pay for it. */
#define ROW_BYTES_SLACK (16u << 20)

struct indexer {
	struct ws_core *core;
	size_t tables_cap, slots_cap, globals_cap;
	uint32_t last_link;            /* section of the parent that was looked up last */
	struct wsi_table *last_parent; /* its table; NULL: it is none */
	bool children_left;            /* for pass 2 */
	uint64_t row_bytes;            /* of the tables so far */
	uint32_t strtab_named;         /* section named .strtab, 0: none */
	uint32_t strtab_other;         /* a string table that is not the name table, 0: none */
	uint32_t look_budget;          /* headers that may still be read to judge rivals */
};

static uint64_t header_off(const struct indexer *ix, uint32_t section)
{
	return wsi_elf_shdr_off(&ix->core->elf, section);
}

static inline __attribute__((always_inline)) struct wsi_shdr header_of(const struct indexer *ix,
								       uint64_t section)
{
	return wsi_elf_shdr(&ix->core->elf, section);
}

/* ---- tables ---- */

/* Rows of a table that are in the file and plausible. */
static uint32_t rows_count(struct indexer *ix, uint32_t section, const struct wsi_shdr *shdr,
			   const struct wsi_kind_info *info)
{
	struct ws_core *core = ix->core;
	struct wsi_slice there;
	enum ws_hides hides = wsi_kind_infos[wsi_kind_of(shdr->type)].hides;
	(void)wsi_elf_extent(&core->elf, shdr, &there);
	uint64_t rows = there.len / shdr->entsize;
	if (shdr->size % shdr->entsize != 0)
		wsi_core_note(core, WSI_TOPIC_ROWS, hides, header_off(ix, section) + WSI_SH_SIZE,
			      "%s (section %u): %" PRIu64 " byte%s not a multiple of %" PRIu64
			      "-byte rows",
			      info->words, section, shdr->size, shdr->size == 1 ? " is" : "s are",
			      shdr->entsize);
	if (rows > info->max_rows) {
		wsi_core_note(core, WSI_TOPIC_ROWS, hides, header_off(ix, section) + WSI_SH_SIZE,
			      "%s (section %u): %" PRIu64
			      " rows are more than any machine has; the first %u are read",
			      info->words, section, rows, info->max_rows);
		rows = info->max_rows;
	}
	uint64_t end = wsi_add_sat(shdr->offset, there.len);
	if (rows &&
	    (shdr->offset < WSI_ELF_HEADER_BYTES ||
	     (shdr->offset < core->elf.shoff + core->elf.headers.len && end > core->elf.shoff))) {
		wsi_core_note(core, WSI_TOPIC_ROWS, hides, header_off(ix, section) + WSI_SH_OFFSET,
			      "%s (section %u) is ignored: at 0x%" PRIx64
			      " it overlaps the headers of the file",
			      info->words, section, shdr->offset);
		rows = 0;
	}
	uint64_t limit = wsi_add_sat(core->source.size, ROW_BYTES_SLACK);
	if (rows * shdr->entsize > limit - ix->row_bytes ||
	    rows * info->n_slots > UINT32_MAX - core->n_slots) {
		wsi_core_note(
			core, WSI_TOPIC_ROWS, hides, header_off(ix, section) + WSI_SH_OFFSET,
			"%s (section %u) is ignored: all tables together claim more bytes than "
			"the file has",
			info->words, section);
		rows = 0;
	}
	return (uint32_t)rows;
}

/* The rows of a table, of which fewer are there when they cannot be read. */
static enum ws_status rows_hold(struct indexer *ix, struct wsi_table *table, struct ws_error *err)
{
	struct ws_core *core = ix->core;
	struct ws_span bytes;
	struct ws_error why;
	if (table->n_rows == 0)
		return WS_OK;
	struct wsi_slice rows = { table->off, (uint64_t)table->n_rows * table->stride };
	enum ws_status st = wsi_input_hold(&core->source, rows, &bytes, &why);
	if (st == WS_NO_MEMORY)
		return wsi_fail(err, st, WS_NO_OFFSET, "rows of table %u", core->n_tables);
	if (st == WS_OK) {
		table->rows = bytes.ptr;
		return WS_OK;
	}
	const struct wsi_kind_info *info = &wsi_kind_infos[table->kind];
	wsi_core_note(core, WSI_TOPIC_ROWS, info->hides, table->off, "%s (section %u) is lost: %s",
		      info->words, table->section, why.message);
	table->n_rows = 0;
	return WS_OK;
}

/* Room for the slots of a table, which is not in `tables` yet. */
static bool slots_add(struct indexer *ix, uint64_t n)
{
	struct ws_core *core = ix->core;
	while (ix->slots_cap - core->n_slots < n) {
		if (!wsi_grow(&core->slots, &ix->slots_cap, ix->slots_cap, sizeof *core->slots,
			      UINT32_MAX))
			return false;
	}
	if (n)
		memset(core->slots + core->n_slots, 0, (size_t)n * sizeof *core->slots);
	core->n_slots += n;
	return true;
}

static void habit_add(struct ws_core *core, enum wsi_kind kind, const struct wsi_shdr *shdr)
{
	struct wsi_habit *habit = &core->habits[kind];
	if (shdr->size == 0)
		return;
	core->doubtful = core->doubtful || shdr->entsize == 0 || shdr->size % shdr->entsize != 0 ||
			 (habit->n > 0 && shdr->entsize != habit->stride);
	habit->n++;
	if (habit->votes == 0)
		habit->stride = shdr->entsize;
	if (habit->stride == shdr->entsize)
		habit->votes++;
	else
		habit->votes--;
}

/* What nobody can tell without a section that has no place. */
static enum ws_hides hides_of(const struct ws_core *core, const struct wsi_shdr *shdr)
{
	enum wsi_kind meant = wsi_core_kind_meant(core, shdr);
	if (meant != WSI_KIND_NONE)
		return wsi_kind_infos[meant].hides;
	enum ws_hides hides = wsi_kind_infos[wsi_kind_of(shdr->type)].hides;
	if (wsi_core_could_tell(core, shdr))
		return WS_HIDES_FAULT;
	uint32_t t = wsi_core_table_of(core, shdr->link);
	bool leaf = t != WS_NONE && (core->tables[t].kind == WSI_KIND_LANE ||
				     core->tables[t].kind == WSI_KIND_GRID);
	return hides == WS_HIDES_FAULT || leaf ? WS_HIDES_NOTHING : hides;
}

static enum ws_status table_add(struct indexer *ix, uint32_t section, enum wsi_kind kind,
				struct ws_error *err)
{
	struct ws_core *core = ix->core;
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	struct wsi_shdr shdr = header_of(ix, section);
	habit_add(core, kind, &shdr);
	if (shdr.entsize < info->base_bytes || shdr.entsize > UINT32_MAX) {
		core->doubtful = core->doubtful || shdr.size != 0;
		if (shdr.size != 0)
			wsi_core_note(core, WSI_TOPIC_STRIDE, hides_of(core, &shdr),
				      header_off(ix, section) + WSI_SH_ENTSIZE,
				      "%s (section %u): rows of %" PRIu64
				      " bytes cannot be read; they need %u",
				      info->words, section, shdr.entsize, info->base_bytes);
		return WS_OK;
	}
	uint32_t first_slot = (uint32_t)core->n_slots;
	uint32_t rows = rows_count(ix, section, &shdr, info);
	if (!wsi_grow(&core->tables, &ix->tables_cap, core->n_tables, sizeof *core->tables,
		      UINT32_MAX - 1) ||
	    !slots_add(ix, (uint64_t)rows * info->n_slots))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "index of %u tables",
				core->n_tables);
	struct wsi_table table = {
		.off = shdr.offset,
		.section = section,
		.n_rows = rows,
		.stride = (uint32_t)shdr.entsize,
		.first_slot = first_slot,
		.parent = WS_NONE,
		.kind = (uint8_t)kind,
		.n_slots = info->n_slots,
	};
	enum ws_status st = rows_hold(ix, &table, err);
	if (st != WS_OK)
		return st;
	core->tables[core->n_tables++] = table;
	ix->last_link = 0; /* never a table; where the tables are may be another place now */
	ix->last_parent = NULL;
	ix->row_bytes += rows * shdr.entsize;
	core->table_bits[section / 64] |= UINT64_C(1) << section % 64;
	return WS_OK;
}

/* ---- children ---- */

uint32_t wsi_core_table_of(const struct ws_core *core, uint32_t section)
{
	if (section >= core->n_sections)
		return WS_NONE;
	uint64_t word = core->table_bits[section / 64], bit = UINT64_C(1) << section % 64;
	if (!(word & bit))
		return WS_NONE;
	return core->table_ranks[section / 64] + (uint32_t)__builtin_popcountll(word & (bit - 1));
}

const struct wsi_table *wsi_core_parent(const struct ws_core *core, const struct wsi_shdr *shdr,
					enum wsi_kind kind)
{
	uint32_t t = wsi_core_table_of(core, shdr->link);
	return t != WS_NONE && core->tables[t].kind == wsi_kind_infos[kind].parent
		       ? &core->tables[t]
		       : NULL;
}

bool wsi_core_parent_row(const struct ws_core *core, const struct wsi_shdr *shdr,
			 enum wsi_kind kind, struct wsi_ref *ret_row)
{
	const struct wsi_table *table = wsi_core_parent(core, shdr, kind);
	if (!table || shdr->info >= table->n_rows)
		return false;
	*ret_row = (struct wsi_ref){ (uint32_t)(table - core->tables), shdr->info };
	return true;
}

/* Adds the child of a row to the run of its kind, if there is one; whatever does not continue it
 * breaks it. Whether its bytes are in the file is seen when they are read. */
static inline void extend_child_run(struct wsi_table *table, const struct wsi_shdr *shdr,
				    enum wsi_kind kind)
{
	if (wsi_run_of(kind) == WSI_N_RUNS)
		return;
	struct wsi_row_run *run = &table->run[wsi_run_of(kind)];
	uint32_t row = shdr->info;
	bool goes_on = row == run->n;
	if (row == 0) {
		run->off = shdr->offset;
		run->bytes = (uint16_t)shdr->size;
		if (kind == WSI_KIND_FRAMES)
			table->frame_stride = (uint16_t)shdr->entsize;
	} else if (row == 1) {
		run->pitch = (uint32_t)(shdr->offset - run->off);
	}
	goes_on = goes_on && shdr->size == run->bytes &&
		  shdr->offset == run->off + (uint64_t)row * run->pitch &&
		  (kind != WSI_KIND_FRAMES || shdr->entsize == table->frame_stride);
	run->n = goes_on ? (uint16_t)(row + 1) : WSI_NO_RUN;
}

/* The table that a section has as its parent; NULL: none of the kind that it needs. */
static inline struct wsi_table *parent_table_of(struct indexer *ix, const struct wsi_shdr *shdr,
						enum wsi_kind kind)
{
	if (shdr->link != ix->last_link) {
		uint32_t number = wsi_core_table_of(ix->core, shdr->link);
		ix->last_link = shdr->link;
		ix->last_parent = number == WS_NONE ? NULL : &ix->core->tables[number];
	}
	struct wsi_table *table = ix->last_parent;
	return table && table->kind == wsi_kind_infos[kind].parent ? table : NULL;
}

/* Where a child belongs; the row must be one of the table's. */
static inline uint32_t *child_slot_of(const struct indexer *ix, const struct wsi_table *table,
				      const struct wsi_shdr *shdr, enum wsi_kind kind)
{
	return &ix->core->slots[(size_t)table->first_slot + (size_t)shdr->info * table->n_slots +
				wsi_kind_infos[kind].slot];
}

/* In pass 1, of a section whose value for a slot is `value`. */
static inline void child_place(struct indexer *ix, uint32_t section, uint32_t value,
			       const struct wsi_shdr *shdr, enum wsi_kind kind)
{
	struct wsi_table *table = shdr->link < section ? parent_table_of(ix, shdr, kind) : NULL;
	uint32_t *slot =
		table && shdr->info < table->n_rows ? child_slot_of(ix, table, shdr, kind) : NULL;
	if (!slot || *slot) {
		ix->children_left = true;
		return;
	}
	*slot = value;
	extend_child_run(table, shdr, kind);
}

/* ---- pass 1 ---- */

static void strtab_consider(struct indexer *ix, uint32_t section)
{
	struct wsi_shdr shdr = header_of(ix, section);
	uint8_t scratch[WSI_NAME_BYTES];
	if (!ix->strtab_named &&
	    ws_str_equal(wsi_core_name_head(ix->core, &shdr, scratch), ws_str_of(".strtab")))
		ix->strtab_named = section;
	if (!ix->strtab_other && section != ix->core->elf.shstrndx)
		ix->strtab_other = section;
}

/* Whether bytes begin with a note of this type: takes it away, and gives what it holds. */
static bool note_take(struct ws_span *bytes, const char *note, struct ws_span *ret_words)
{
	enum { AT_BYTES = 4, AT_TYPE = 8 };
	if (bytes->len < WSI_NOTE_BYTES || memcmp(bytes->ptr, note, AT_BYTES) != 0 ||
	    memcmp(bytes->ptr + AT_TYPE, note + AT_TYPE, WSI_NOTE_BYTES - AT_TYPE) != 0)
		return false;
	uint64_t end = WSI_NOTE_BYTES + (uint64_t)wsi_at_u32(*bytes, AT_BYTES);
	return ws_span_sub(*bytes, WSI_NOTE_BYTES, end - WSI_NOTE_BYTES, ret_words) &&
	       ws_span_sub(*bytes, end, bytes->len - end, bytes);
}

/* What the writer of this dump said that it lacks, and knew. */
static void note_read(struct indexer *ix, uint32_t section)
{
	struct ws_core *core = ix->core;
	struct wsi_shdr shdr = header_of(ix, section);
	struct ws_span bytes, words = { 0 };
	if (wsi_core_hold(core, section, &bytes, NULL) != WS_OK)
		return;
	if (note_take(&bytes, WSI_INCOMPLETE_NOTE, &words)) {
		uint32_t hides =
			words.len < WSI_INCOMPLETE_WORDS ? WS_HIDES_FAULT : wsi_at_u32(words, 0);
		wsi_core_note(core, WSI_TOPIC_WRITTEN,
			      (enum ws_hides)wsi_min_u64(hides & ~(uint32_t)WSI_INCOMPLETE_DOUBT,
							 WS_HIDES_FAULT),
			      shdr.offset,
			      "this dump was written from an incomplete or damaged one; what it "
			      "lacks may have been in the original");
	}
	core->written_in_doubt =
		words.len >= WSI_INCOMPLETE_WORDS && wsi_at_u32(words, 0) & WSI_INCOMPLETE_DOUBT;
	if (note_take(&bytes, WSI_STRIPPED_NOTE, &words) && words.len == WSI_STRIPPED_WORDS) {
		core->facts.left_out = wsi_at_u32(words, 0);
		core->facts.stripped = wsi_at_u32(words, 4);
	}
	if (note_take(&bytes, WSI_HALVES_NOTE, &words))
		core->halves = words;
	if (note_take(&bytes, WSI_MAP_NOTE, &words) && words.len % WS_MAP_BYTES == 0)
		core->facts.memory_map = words;
}

static void cut_note(struct indexer *ix, uint32_t section, enum wsi_kind kind, uint64_t off,
		     uint64_t size)
{
	struct ws_core *core = ix->core;
	const char *words = wsi_kind_infos[kind].words;
	uint64_t there = wsi_input_clip(&core->source, off, size).len;
	wsi_core_note(core, WSI_TOPIC_CUT, wsi_kind_infos[kind].hides, core->source.size,
		      "%s (section %u): %" PRIu64 " of %" PRIu64
		      " byte%s missing, the file ends before them",
		      words ? words : "data", section, size - there, size,
		      size == 1 ? " is" : "s are");
}

/* Whether the header of a rootless section is none that a driver writes: of no type, or with a
 * parent. */
static bool is_odd(const struct wsi_shdr *shdr, enum wsi_kind kind)
{
	bool typed = kind != WSI_KIND_NONE || shdr->type == WSI_SHT_STRTAB ||
		     shdr->type == WSI_SHT_NOTE || shdr->type > WSI_CUDBG_SHT_BASE;
	return !typed || shdr->link != 0 || shdr->info != 0;
}

/* What only a section of a kind without parents can be. */
static enum ws_status rootless_scan(struct indexer *ix, uint32_t section, enum wsi_kind kind,
				    struct ws_error *err)
{
	struct ws_core *core = ix->core;
	struct wsi_shdr shdr = header_of(ix, section);
	if ((kind == WSI_KIND_GLOBAL || kind == WSI_KIND_MANAGED) && shdr.size != 0) {
		if (!wsi_grow(&core->globals, &ix->globals_cap, core->n_globals,
			      sizeof *core->globals, UINT32_MAX))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "list of memory");
		core->globals[core->n_globals++] = section;
	}
	core->doubtful = core->doubtful || is_odd(&shdr, kind);
	/* metadata has no parent: a section that has one came by this type through damage */
	if (kind == WSI_KIND_META && !core->meta_section && shdr.link == 0)
		core->meta_section = section;
	if (shdr.type == WSI_SHT_STRTAB)
		strtab_consider(ix, section);
	if (shdr.type == WSI_SHT_NOTE)
		note_read(ix, section);
	return WS_OK;
}

/* One section in pass 1. Inlined: this is the loop that opening a large dump spends its time in. */
static inline enum ws_status section_scan(struct indexer *ix, uint32_t section,
					  struct ws_error *err)
{
	struct ws_core *core = ix->core;
	struct wsi_shdr shdr = header_of(ix, section);
	enum wsi_kind kind = wsi_kind_of(shdr.type);
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	core->kind_counts[kind]++;
	if ((shdr.offset > core->source.size || shdr.size > core->source.size - shdr.offset) &&
	    shdr.size != 0 && shdr.type != WSI_SHT_NOBITS && shdr.type != WSI_SHT_NULL)
		cut_note(ix, section, kind, shdr.offset, shdr.size);
	uint32_t value = section;
	if (info->n_slots) {
		uint32_t n_tables = core->n_tables;
		enum ws_status st = table_add(ix, section, kind, err);
		if (st != WS_OK || core->n_tables == n_tables)
			return st;
		value = core->n_tables;
	}
	if (info->parent == WSI_KIND_NONE)
		return rootless_scan(ix, section, kind, err);
	child_place(ix, section, value, &shdr, kind);
	/* no driver writes a leaf with the entry size of a table */
	if (!info->base_bytes && shdr.entsize >= wsi_kind_infos[WSI_KIND_WARP].base_bytes)
		core->doubtful = true;
	return WS_OK;
}

static enum ws_status dump_sections_scan(struct indexer *ix, struct ws_error *err)
{
	struct ws_core *core = ix->core;
	size_t n_words = (size_t)core->n_sections / 64 + 1;
	core->table_bits = wsi_zalloc_array(n_words, sizeof *core->table_bits);
	core->table_ranks = wsi_zalloc_array(n_words, sizeof *core->table_ranks);
	ix->slots_cap = 2 * (size_t)core->n_sections; /* enough for two leaves a lane */
	core->slots = wsi_zalloc_array(ix->slots_cap, sizeof *core->slots);
	wsi_expect_full(core->slots, ix->slots_cap, sizeof *core->slots);
	if (!core->table_bits || !core->table_ranks || !core->slots)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "index of %u sections",
				core->n_sections);
	for (uint32_t i = 1; i < core->n_sections; i++) {
		if (i % 64 == 0)
			core->table_ranks[i / 64] = core->n_tables;
		enum ws_status st = section_scan(ix, i, err);
		if (st != WS_OK)
			return st;
	}
	return WS_OK;
}

static void strtab_choose(struct indexer *ix)
{
	struct ws_core *core = ix->core;
	uint32_t section = ix->strtab_named;
	if (!section && core->n_sections > 0) {
		struct wsi_elf elf = core->elf;
		elf.shstrtab = wsi_core_names(core);
		uint64_t any = wsi_elf_find(&elf, ".strtab"); /* whatever its type says */
		section = any != UINT64_MAX ? (uint32_t)any : ix->strtab_other;
		if (section && any == UINT64_MAX)
			wsi_core_note(
				core, WSI_TOPIC_STRTAB, WS_HIDES_NOTHING, header_off(ix, section),
				"no section is named .strtab; section %u is used instead", section);
	}
	if (section)
		(void)!wsi_core_hold(core, section, &core->strtab, NULL);
	else if (core->n_tables > 0)
		wsi_core_note(core, WSI_TOPIC_STRTAB, WS_HIDES_NOTHING, WS_NO_OFFSET,
			      "no section is named .strtab: device names are lost");
}

/* ---- pass 2: children that are left ---- */

/* Whether a neighbour, the nearest section of the same type in one direction, is the child of the
 * next row in that direction. */
static bool neighbour_fits(struct indexer *ix, uint32_t section, int step)
{
	enum { WINDOW = 16384 };
	struct wsi_shdr shdr = header_of(ix, section);
	uint64_t other = section;
	for (unsigned i = 0; i < WINDOW && ix->look_budget > 0; i++, ix->look_budget--) {
		other += (uint64_t)(int64_t)step;
		if (other == 0 || other >= ix->core->n_sections)
			return false;
		struct wsi_shdr there = header_of(ix, other);
		if (there.type == shdr.type)
			return there.link == shdr.link && there.info == shdr.info + (uint32_t)step;
	}
	return false;
}

static bool has_children(const struct ws_core *core, uint32_t section)
{
	uint32_t number = wsi_core_table_of(core, section);
	if (number == WS_NONE)
		return false;
	const struct wsi_table *table = &core->tables[number];
	uint64_t n = (uint64_t)table->n_rows * table->n_slots;
	for (uint64_t i = 0; i < n; i++)
		if (core->slots[table->first_slot + i])
			return true;
	return false;
}

/* How well a section fits the place that it claims: by what belongs to it, by its name, else by its
 * neighbours. */
static int fitness(struct indexer *ix, uint32_t section)
{
	struct wsi_shdr shdr = header_of(ix, section);
	bool named = wsi_core_name_fits(ix->core, &shdr, wsi_kind_of(shdr.type),
					wsi_core_table_of(ix->core, shdr.link), shdr.info);
	return (has_children(ix->core, section) ? 6 : 0) + (named ? 3 : 0) +
	       neighbour_fits(ix, section, -1) + neighbour_fits(ix, section, 1);
}

/*
 * Two sections claim one place, so one of them has a damaged link or info. Writers emit the
 * children of a table row by row: the one that stands between the children of the rows before and
 * after is right, unless it is named for another place. Without a difference the first in the file
 * stays.
 */
static bool rival_wins(struct indexer *ix, uint32_t holder, uint32_t rival)
{
	return fitness(ix, rival) > fitness(ix, holder);
}

static void slot_contest(struct indexer *ix, uint32_t *slot, uint32_t section, uint32_t value,
			 enum wsi_kind kind)
{
	uint32_t holder = wsi_core_holder(ix->core, *slot, kind), loser = section;
	ix->core->doubtful = true;
	if (rival_wins(ix, holder, section)) {
		*slot = value;
		loser = holder;
	}
	struct wsi_shdr lost = header_of(ix, loser);
	struct wsi_shdr kept = header_of(ix, loser == section ? holder : section);
	bool same = lost.offset == kept.offset && lost.size == kept.size &&
		    lost.entsize == kept.entsize;
	wsi_core_note(ix->core, WSI_TOPIC_TWICE,
		      same ? WS_HIDES_NOTHING : hides_of(ix->core, &lost),
		      header_off(ix, loser) + WSI_SH_LINK,
		      "%s (section %u) is ignored: section %u is already the one of row %u of "
		      "section %u",
		      wsi_kind_infos[kind].words, loser, loser == section ? holder : section,
		      header_of(ix, loser).info, header_of(ix, loser).link);
}

static void orphan_note(struct indexer *ix, uint32_t section, enum wsi_kind kind,
			const struct wsi_table *table, uint32_t link, uint32_t info)
{
	ix->core->doubtful = true;
	const char *words = wsi_kind_infos[kind].words;
	const char *parent = wsi_kind_infos[wsi_kind_infos[kind].parent].words;
	struct wsi_shdr shdr = header_of(ix, section);
	enum ws_hides hides = hides_of(ix->core, &shdr);
	if (table && table->kind == wsi_kind_infos[kind].parent)
		wsi_core_note(
			ix->core, WSI_TOPIC_PARENT, hides, header_off(ix, section) + WSI_SH_INFO,
			"%s (section %u) is lost: it belongs to row %u of section %u, which has "
			"%u row%s",
			words, section, info, link, table->n_rows, table->n_rows == 1 ? "" : "s");
	else
		wsi_core_note(
			ix->core, WSI_TOPIC_PARENT, hides, header_off(ix, section) + WSI_SH_LINK,
			"%s (section %u) %s: section %u, which it belongs to, is not a "
			"readable %s",
			words, section, kind == WSI_KIND_RELOCATED ? "has no module" : "is lost",
			link, parent);
}

/* One child, in the order of sections: what is placed already but stands behind this one gives way,
 * for its own turn comes. */
static void child_settle(struct indexer *ix, uint32_t section, const struct wsi_shdr *shdr,
			 enum wsi_kind kind)
{
	struct ws_core *core = ix->core;
	uint32_t value = section;
	if (wsi_kind_infos[kind].n_slots) {
		uint32_t number = wsi_core_table_of(core, section);
		if (number == WS_NONE)
			return; /* a table that cannot be read */
		value = number + 1;
	}
	struct wsi_table *table = parent_table_of(ix, shdr, kind);
	if (!table || shdr->info >= table->n_rows) {
		orphan_note(ix, section, kind, table, shdr->link, shdr->info);
		return;
	}
	uint32_t *slot = child_slot_of(ix, table, shdr, kind);
	if (*slot == value)
		return;
	if (*slot && wsi_core_holder(core, *slot, kind) < section)
		slot_contest(ix, slot, section, value, kind);
	else
		*slot = value;
	extend_child_run(table, shdr, kind);
}

static void children_settle(struct indexer *ix)
{
	for (uint32_t i = 1; i < ix->core->n_sections; i++) {
		struct wsi_shdr shdr = header_of(ix, i);
		enum wsi_kind kind = wsi_kind_of(shdr.type);
		if (wsi_kind_infos[kind].parent != WSI_KIND_NONE)
			child_settle(ix, i, &shdr, kind);
	}
}

/* A device table is the root of its tree: of several, that to which nothing belongs is none. */
static void roots_settle(struct indexer *ix)
{
	struct ws_core *core = ix->core;
	uint32_t root = WS_NONE;
	for (uint32_t t = 0; t < core->n_tables && root == WS_NONE; t++)
		if (core->tables[t].kind == WSI_KIND_DEVICE &&
		    has_children(core, core->tables[t].section))
			root = t;
	for (uint32_t t = 0; t < core->n_tables && root != WS_NONE; t++) {
		struct wsi_table *table = &core->tables[t];
		if (t == root || table->kind != WSI_KIND_DEVICE || table->n_rows == 0 ||
		    has_children(core, table->section))
			continue;
		bool same = table->off == core->tables[root].off;
		wsi_core_note(core, WSI_TOPIC_TWICE, same ? WS_HIDES_NOTHING : WS_HIDES_FAULT,
			      header_off(ix, table->section) + WSI_SH_TYPE,
			      "device table (section %u) is ignored: nothing belongs to it",
			      table->section);
		table->n_rows = 0;
	}
}

struct ws_span wsi_core_halves(const struct ws_core *core)
{
	return core->halves;
}

void wsi_core_index_fini(struct ws_core *core)
{
	wsi_free(core->slots);
	wsi_free(core->tables);
	wsi_free(core->table_ranks);
	wsi_free(core->table_bits);
	wsi_free(core->globals);
	core->slots = core->table_ranks = core->globals = NULL;
	core->tables = NULL;
	core->table_bits = NULL;
	core->n_slots = 0;
	core->n_tables = core->n_globals = core->meta_section = 0;
	core->strtab = (struct ws_span){ 0 };
	memset(core->kind_counts, 0, sizeof core->kind_counts);
	memset(core->habits, 0, sizeof core->habits);
	core->doubtful = false;
}

static enum ws_status section_index_make(struct ws_core *core, struct ws_error *err)
{
	struct indexer ix = {
		.core = core,
		.look_budget = 8u << 20,
	};
	enum ws_status st = dump_sections_scan(&ix, err);
	if (st != WS_OK)
		return st;
	strtab_choose(&ix);
	if (ix.children_left)
		children_settle(&ix);
	if (core->kind_counts[WSI_KIND_DEVICE] > 1)
		roots_settle(&ix);
	return WS_OK;
}

enum ws_status wsi_core_index(struct ws_core *core, struct ws_error *err)
{
	enum { MOST_ROUNDS = 8 }; /* the tree has six levels below each other */
	for (unsigned round = 0;; round++) {
		struct wsi_notes before = core->notes;
		enum ws_status st = section_index_make(core, err);
		if (st != WS_OK)
			return st;
		if (round == MOST_ROUNDS || wsi_core_mend(core, &before) == 0)
			break;
		wsi_core_index_fini(core);
	}
	wsi_core_lost(core);
	return WS_OK;
}
