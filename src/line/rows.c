/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding a part: opcodes (program.h) to rows and sequences, then the index by address. See map.h.
 */
#include "line/map.h"
#include "line/run.h"

#include "base/sort.h"

enum {
	MAX_SLOTS_A_ROW = 4, /* so many, where that gives each instruction its own */
	FEW_ROWS = 8,        /* a sequence of fewer has no index */
};

struct rows_builder {
	const struct ws_line_map *map;
	struct wsi_line_rows *rows;
	size_t rows_cap, wide_cap, seqs_cap, defined_cap;
	enum ws_status status; /* WS_NO_MEMORY, WS_LIMIT: why it ended early */
	/* the sequence in the making: */
	struct wsi_line_seq seq;
	uint64_t last_address;
	bool has_owner; /* its first DW_LNE_set_address was seen */
};

static void seq_start(struct rows_builder *b, uint64_t sec_off)
{
	b->seq = (struct wsi_line_seq){
		.owner = WS_LINE_NO_OWNER,
		.first_row = (uint32_t)b->rows->n_rows,
		.sec_off = sec_off,
		.is_sorted = true,
	};
	b->has_owner = false;
}

static void diag(struct rows_builder *b, enum ws_status status, uint64_t sec_off, const char *what)
{
	wsi_line_diag(&b->rows->diags, status, b->map->line.origin + sec_off, "%s", what);
}

/* wsi_line_grow(). False: `status` says why not. */
static bool grow(struct rows_builder *b, void *ptr, size_t *cap, size_t n, size_t size)
{
	b->status = wsi_line_grow(b->map, ptr, cap, n, size);
	return b->status == WS_OK;
}

/* Pays for memory that is allocated in one piece. */
static void *array_create(struct rows_builder *b, size_t n, size_t size)
{
	if (n > SIZE_MAX / 64 || !wsi_line_charge(b->map, n * size)) {
		b->status = WS_LIMIT;
		return NULL;
	}
	void *array = wsi_zalloc_array(n, size);
	if (!array) {
		wsi_line_refund(b->map, n * size);
		b->status = WS_NO_MEMORY;
	}
	return array;
}

/* ---- rows ---- */

static bool needs_wide(const struct rows_builder *b, const struct wsi_line_regs *regs)
{
	return (regs->column | regs->discriminator | regs->isa | regs->op_index) ||
	       regs->file > UINT16_MAX || regs->address - b->seq.base > UINT32_MAX;
}

/* Gives the sequence its wide rows, those that it has included. */
static void seq_widen(struct rows_builder *b)
{
	struct wsi_line_rows *rows = b->rows;
	for (size_t i = b->seq.first_row; i < rows->n_rows; i++)
		rows->wide[i] = (struct wsi_line_wide){ .address = b->seq.base + rows->row[i].addr,
							.file = rows->row[i].file };
	b->seq.is_wide = true;
}

static bool rows_reserve(struct rows_builder *b, bool wide)
{
	struct wsi_line_rows *rows = b->rows;
	if (rows->n_rows == b->rows_cap &&
	    !grow(b, &rows->row, &b->rows_cap, rows->n_rows, sizeof *rows->row))
		return false;
	if (!wide || b->wide_cap >= b->rows_cap)
		return true;
	const size_t more = (b->rows_cap - b->wide_cap) * sizeof *rows->wide;
	b->status = wsi_line_charge(b->map, more) ? WS_OK : WS_LIMIT;
	if (b->status != WS_OK)
		return false;
	void *grown = wsi_realloc_array(rows->wide, b->rows_cap, sizeof *rows->wide);
	if (!grown) {
		wsi_line_refund(b->map, more);
		b->status = WS_NO_MEMORY;
		return false;
	}
	rows->wide = grown;
	b->wide_cap = b->rows_cap;
	return true;
}

/* Flags and depth of a row inlined at row `context` of its sequence. */
static uint16_t place_in_chain(struct rows_builder *b, const struct wsi_line_regs *regs,
			       unsigned flags, uint64_t sec_off)
{
	unsigned depth = 0;
	if (regs->context > b->seq.n_rows) {
		diag(b, WS_MALFORMED, sec_off, "row is inlined into itself or a later row");
		flags |= WS_LINE_BAD_CONTEXT;
	} else {
		size_t site = b->seq.first_row + regs->context - 1;
		depth = wsi_line_depth(&b->rows->row[site]) + 1;
		if (depth > WS_LINE_MAX_DEPTH) {
			diag(b, WS_LIMIT, sec_off, "row is inlined too deeply");
			flags |= WS_LINE_BAD_CONTEXT;
			depth = 0;
		}
	}
	if (!wsi_line_str(&b->map->names, regs->name_off) &&
	    b->map->table[b->rows->part->table].pub.base != WS_LINE_BASE_LOST) /* told already */
		diag(b, WS_MALFORMED, sec_off, "name of an inlined function is outside .debug_str");
	return (uint16_t)(depth << WSI_LINE_FLAG_BITS | flags);
}

static bool line_row_add(struct rows_builder *b, const struct wsi_line_regs *regs, bool ends,
			 uint64_t sec_off)
{
	struct wsi_line_rows *rows = b->rows;
	if (b->seq.n_rows == 0)
		b->seq.base = b->last_address = regs->address;
	bool wide = b->seq.is_wide || needs_wide(b, regs);
	if (!rows_reserve(b, wide))
		return false;
	if (wide && !b->seq.is_wide)
		seq_widen(b);
	unsigned flags = (regs->is_stmt ? WS_LINE_IS_STMT : 0u) |
			 (regs->basic_block ? WS_LINE_BASIC_BLOCK : 0u) |
			 (ends ? WS_LINE_END_SEQUENCE : 0u) |
			 (regs->prologue_end ? WS_LINE_PROLOGUE_END : 0u) |
			 (regs->epilogue_begin ? WS_LINE_EPILOGUE_BEGIN : 0u);
	rows->row[rows->n_rows] = (struct wsi_line_narrow){
		.addr = (uint32_t)(regs->address - b->seq.base),
		.line = regs->line,
		.context = regs->context,
		.name_off = regs->name_off,
		.file = (uint16_t)regs->file,
		.flags_depth =
			regs->context ? place_in_chain(b, regs, flags, sec_off) : (uint16_t)flags,
	};
	if (wide)
		rows->wide[rows->n_rows] = (struct wsi_line_wide){
			regs->address,  regs->file, regs->column,
			regs->op_index, regs->isa,  regs->discriminator,
		};
	b->seq.addr_bits |= regs->address - b->seq.base;
	b->seq.is_sorted &= regs->address >= b->last_address;
	b->seq.has_calls |= regs->context != 0;
	b->last_address = regs->address;
	b->seq.n_rows++;
	rows->n_rows++;
	return true;
}

/* ---- sequences ---- */

/* Closes the sequence in the making, for which there is room, and makes room for another one. */
static bool seq_add(struct rows_builder *b, enum ws_status status, uint64_t damage_off)
{
	struct wsi_line_rows *rows = b->rows;
	b->seq.status = (uint8_t)status;
	b->seq.damage_off = b->map->line.origin + damage_off;
	rows->seq[rows->n_seqs++] = b->seq;
	seq_start(b, damage_off);
	return grow(b, &rows->seq, &b->seqs_cap, rows->n_seqs, sizeof *rows->seq);
}

static void take_row_address(struct rows_builder *b, const struct wsi_line_insn *insn,
			     uint64_t sec_off)
{
	uint32_t owner = insn->reloc ? insn->reloc->owner : WS_LINE_NO_OWNER;
	if (!b->has_owner)
		b->seq.owner = owner;
	else if (owner != b->seq.owner)
		diag(b, WS_MALFORMED, sec_off, "sequence goes on in another function");
	b->has_owner = true;
}

static bool take_row_file(struct rows_builder *b, const struct wsi_line_insn *insn)
{
	struct wsi_line_rows *rows = b->rows;
	const struct ws_line_table *table = &b->map->table[rows->part->table].pub;
	if (!grow(b, &rows->defined, &b->defined_cap, rows->n_defined, sizeof *rows->defined))
		return false;
	rows->defined[rows->n_defined] = insn->defined;
	if (insn->defined_dir < table->n_dirs)
		rows->defined[rows->n_defined].dir = table->dirs[insn->defined_dir];
	rows->n_defined++;
	return true;
}

/* What an opcode other than a row does to the sequence in the making. */
static bool take_line_step(struct rows_builder *b, const struct wsi_line_insn *insn,
			   uint64_t sec_off)
{
	if (insn->kind != WS_LINE_OP_EXTENDED)
		return true;
	if (insn->opcode == DW_LNE_set_address)
		take_row_address(b, insn, sec_off);
	return insn->opcode != DW_LNE_define_file || take_row_file(b, insn);
}

/* The bytes of the stretch ended inside a sequence. */
static bool seq_cut(struct rows_builder *b, const struct ws_line_table *table, uint64_t end)
{
	if (b->seq.n_rows == 0 && !b->has_owner)
		return true;
	uint64_t length_bytes = table->dwarf64 ? 12 : 4;
	bool cut = end == table->end_off &&
		   table->end_off - table->sec_off - length_bytes < table->unit_length;
	enum ws_status status = cut ? WS_TRUNCATED : WS_MALFORMED;
	diag(b, status, end,
	     cut ? "the section ends inside a sequence" : "sequence without an end_sequence");
	return seq_add(b, status, end);
}

/* As many rows as can be had fast. */
static void rows_run(struct rows_builder *b, const struct wsi_line_program *p, struct wsi_reader *r,
		     struct wsi_line_regs *regs)
{
	struct wsi_line_rows *rows = b->rows;
	uint32_t before = b->seq.n_rows;
	wsi_line_run(p, r, regs, &b->seq, &rows->row[b->seq.first_row],
		     b->rows_cap - b->seq.first_row);
	if (b->seq.n_rows == before)
		return;
	rows->n_rows += b->seq.n_rows - before;
	b->last_address = b->seq.base + rows->row[rows->n_rows - 1].addr;
}

/* False: `status` says why it stopped. */
static bool stretch_decode(struct rows_builder *b, const struct wsi_line_stretch *stretch)
{
	struct wsi_reader r;
	const struct wsi_line_program p =
		wsi_line_program_of(b->map, b->rows->part->table, stretch, &r);
	struct wsi_line_regs regs = wsi_line_regs_start(p.table);
	struct wsi_line_insn insn = { 0 };
	seq_start(b, stretch->start);
	while (wsi_reader_left(&r) > 0) {
		rows_run(b, &p, &r, &regs);
		if (wsi_reader_left(&r) == 0)
			break;
		enum wsi_line_step step = wsi_line_step(&p, &r, &regs, &insn);
		uint64_t sec_off = stretch->start + insn.start;
		switch (step) {
		case WSI_LINE_STEP:
			if (!take_line_step(b, &insn, sec_off))
				return false;
			break;
		case WSI_LINE_ROW:
			if (!line_row_add(b, &regs, false, sec_off))
				return false;
			wsi_line_after_row(&regs);
			break;
		case WSI_LINE_END:
			if (!line_row_add(b, &regs, true, sec_off) || !seq_add(b, WS_OK, 0))
				return false;
			regs = wsi_line_regs_start(p.table);
			seq_start(b, stretch->start + r.pos);
			break;
		case WSI_LINE_BROKEN:
			diag(b, insn.status, sec_off, insn.why);
			return seq_add(b, insn.status, sec_off);
		}
	}
	return seq_cut(b, p.table, stretch->end);
}

/* False: out of memory. What the account cannot pay for is left out. */
static bool part_decode(struct rows_builder *b)
{
	struct wsi_line_rows *rows = b->rows;
	struct wsi_line_stretch it = wsi_line_stretches(rows->part);
	bool more = grow(b, &rows->seq, &b->seqs_cap, 0, sizeof *rows->seq);
	while (more && wsi_line_stretch_next(b->map, rows->part, &it))
		more = stretch_decode(b, &it);
	if (b->status == WS_LIMIT) {
		rows->is_limited = true;
		wsi_line_tell_limit(b->map, &rows->diags, b->map->line.origin + it.start);
		if (b->seq.n_rows > 0) /* it has its room */
			(void)!seq_add(b, WS_LIMIT, it.start);
	}
	return b->status != WS_NO_MEMORY;
}

/* ---- the index by address ---- */

struct by_address {
	uint64_t address;
	uint32_t index;
};

static int by_address_compare(const void *a, const void *b)
{
	const struct by_address *x = a, *y = b;
	return WSI_ORDER_THEN(x->address, y->address, WSI_ORDER(x->index, y->index));
}

static bool seq_sort(struct rows_builder *b, const struct wsi_line_seq *seq)
{
	struct wsi_line_rows *rows = b->rows;
	if (!rows->order)
		rows->order = array_create(b, rows->n_rows, sizeof *rows->order);
	struct by_address *key = rows->order ? array_create(b, seq->n_rows, sizeof *key) : NULL;
	if (!key)
		return false;
	for (uint32_t i = 0; i < seq->n_rows; i++)
		key[i] = (struct by_address){ wsi_line_address(rows, seq, i), i };
	qsort(key, seq->n_rows, sizeof *key, by_address_compare);
	for (uint32_t i = 0; i < seq->n_rows; i++)
		rows->order[seq->first_row + i] = key[i].index;
	wsi_free(key);
	wsi_line_refund(b->map, seq->n_rows * sizeof *key);
	return true;
}

/* Bounds of a sequence and the number of its slots: about as many as it has rows. */
static bool seq_measure(struct rows_builder *b, struct wsi_line_seq *seq)
{
	const struct wsi_line_rows *rows = b->rows;
	if (seq->n_rows == 0)
		return true;
	if (!seq->is_sorted && !seq_sort(b, seq)) {
		if (b->status == WS_NO_MEMORY)
			return false;
		seq->is_sorted = true; /* it covers nothing */
		seq->low = seq->high = wsi_line_address(rows, seq, 0);
		seq->status = WS_LIMIT;
		return true;
	}
	seq->low = wsi_line_address(rows, seq, wsi_line_by_address(rows, seq, 0));
	seq->high = wsi_line_address(rows, seq, wsi_line_by_address(rows, seq, seq->n_rows - 1));
	uint64_t span = seq->high - seq->low;
	if (seq->n_rows < FEW_ROWS)
		return true;
	while (span >> seq->slot_shift > MAX_SLOTS_A_ROW * (uint64_t)seq->n_rows ||
	       (seq->is_sorted && span >> seq->slot_shift > 0 &&
		(seq->addr_bits >> seq->slot_shift & 1) == 0))
		seq->slot_shift++;
	seq->is_direct = seq->is_sorted && !seq->is_wide &&
			 (seq->addr_bits & ((UINT64_C(1) << seq->slot_shift) - 1)) == 0;
	seq->n_blocks = (uint32_t)((span >> seq->slot_shift) / WSI_LINE_BLOCK_SLOTS + 1);
	return true;
}

/*
 * Slots in which rows begin. No branch depends on whether one does: that is as good as random.
 * `plain`: sorted and not wide; a constant, so that those rows are walked in a loop of their own.
 */
WSI_LINE_INLINE void seq_note_rows(struct wsi_line_rows *rows, const struct wsi_line_seq *seq,
				   bool plain)
{
	const struct wsi_line_narrow *row = &rows->row[seq->first_row];
	struct wsi_line_block *block = &rows->block[seq->first_block];
	const unsigned shift = seq->slot_shift;
	uint64_t first_slot = 0; /* of the block */
	for (uint32_t i = 0; i < seq->n_rows; i++) {
		size_t at = plain ? i : wsi_line_by_address(rows, seq, i);
		uint64_t from_low =
			plain ? row[at].addr : wsi_line_address(rows, seq, at) - seq->low;
		uint64_t slot = (from_low >> shift) - first_slot;
		for (; slot >= WSI_LINE_BLOCK_SLOTS; slot -= WSI_LINE_BLOCK_SLOTS) {
			first_slot += WSI_LINE_BLOCK_SLOTS;
			(++block)->n_before = i;
		}
		uint32_t n = i + 1 - block->n_before;
		unsigned depth = wsi_line_depth(&row[at]);
		block->count[slot] = (uint8_t)(n < WSI_LINE_MANY ? n : WSI_LINE_MANY);
		block->depth[slot] = (uint8_t)(depth < WSI_LINE_MANY ? depth : WSI_LINE_MANY);
	}
}

/* The slots between, which are like the one before. */
static void seq_fill_blocks(struct wsi_line_rows *rows, const struct wsi_line_seq *seq)
{
	uint8_t depth = 0;
	for (size_t b = 0; b < seq->n_blocks; b++) {
		struct wsi_line_block *block = &rows->block[seq->first_block + b];
		uint8_t count = 0;
		for (size_t i = 0; i < WSI_LINE_BLOCK_SLOTS; i++) {
			depth = block->count[i] ? block->depth[i] : depth;
			count = block->count[i] ? block->count[i] : count;
			block->count[i] = count;
			block->depth[i] = depth;
		}
	}
}

static bool rows_index(struct rows_builder *b)
{
	struct wsi_line_rows *rows = b->rows;
	size_t n_blocks = 0;
	for (size_t i = 0; i < rows->n_seqs; i++) {
		if (!seq_measure(b, &rows->seq[i]))
			return false;
		rows->seq[i].first_block = (uint32_t)n_blocks;
		n_blocks += rows->seq[i].n_blocks;
	}
	rows->block = n_blocks ? array_create(b, n_blocks, sizeof *rows->block) : NULL;
	for (size_t i = 0; i < rows->n_seqs; i++) {
		struct wsi_line_seq *seq = &rows->seq[i];
		if (!rows->block) { /* a lookup then searches the rows */
			seq->n_blocks = 0;
			seq->is_direct = false;
		}
		if (seq->n_blocks == 0)
			continue;
		if (seq->is_sorted && !seq->is_wide)
			seq_note_rows(rows, seq, true);
		else
			seq_note_rows(rows, seq, false);
		seq_fill_blocks(rows, seq);
	}
	return n_blocks == 0 || rows->block || b->status != WS_NO_MEMORY;
}

/* ---- sequences of an owner ---- */

/* Fills by_owner, and counts the groups. */
static bool seqs_sort(struct rows_builder *b)
{
	struct wsi_line_rows *rows = b->rows;
	struct wsi_keyed *key = array_create(b, rows->n_seqs, sizeof *key);
	bool ok = key != NULL;
	for (uint32_t i = 0; ok && i < rows->n_seqs; i++)
		key[i] = (struct wsi_keyed){ rows->seq[i].owner, i };
	if (ok && !wsi_sort_keyed(key, rows->n_seqs)) {
		b->status = WS_NO_MEMORY;
		ok = false;
	}
	for (size_t i = 0; ok && i < rows->n_seqs; i++) {
		rows->by_owner[i] = key[i].value;
		rows->n_groups += i == 0 || key[i].key != key[i - 1].key;
	}
	if (key)
		wsi_line_refund(b->map, rows->n_seqs * sizeof *key);
	wsi_free(key);
	return ok;
}

static void groups_fill(struct wsi_line_rows *rows, struct wsi_interval *ranges)
{
	uint32_t at = 0;
	for (size_t g = 0; g < rows->n_groups; g++) {
		struct wsi_line_group *group = &rows->group[g];
		*group = (struct wsi_line_group){
			.owner = rows->seq[rows->by_owner[at]].owner,
			.first = at,
			.first_segment = (uint32_t)rows->by_address.n,
			.broken = UINT32_MAX,
		};
		for (; at < rows->n_seqs; at++) {
			const uint32_t index = rows->by_owner[at];
			const struct wsi_line_seq *seq = &rows->seq[index];
			if (seq->owner != group->owner)
				break;
			ranges[group->n++] = (struct wsi_interval){ seq->low, seq->high, index };
			if (seq->status != WS_OK && group->broken == UINT32_MAX)
				group->broken = index;
		}
		wsi_segments_append(&rows->by_address, ranges, group->n);
		group->n_segments = (uint32_t)(rows->by_address.n - group->first_segment);
	}
}

/* Where one sequence is all that there is, nothing is needed. */
static bool rows_group(struct rows_builder *b)
{
	struct wsi_line_rows *rows = b->rows;
	const size_t n = rows->n_seqs, segment_bytes = sizeof(uint64_t) + sizeof(uint32_t);
	if (n < 2)
		return true;
	rows->by_owner = array_create(b, n, sizeof *rows->by_owner);
	bool ok = rows->by_owner && seqs_sort(b);
	if (ok)
		rows->group = array_create(b, rows->n_groups, sizeof *rows->group);
	struct wsi_interval *ranges = ok && rows->group ? array_create(b, n, sizeof *ranges) : NULL;
	ok = ranges != NULL;
	if (ok && !wsi_line_charge(b->map, 2 * n * segment_bytes)) {
		b->status = WS_LIMIT;
		ok = false;
	}
	if (ok && !wsi_segments_init(&rows->by_address, n)) {
		b->status = WS_NO_MEMORY;
		ok = false;
	}
	if (ok)
		groups_fill(rows, ranges);
	if (ranges)
		wsi_line_refund(b->map, n * sizeof *ranges);
	wsi_free(ranges);
	if (!ok && b->status == WS_LIMIT) {
		rows->n_groups = 0;
		rows->is_limited = true;
		wsi_line_tell_limit(b->map, &rows->diags, b->map->line.origin + rows->part->start);
	}
	return ok || b->status == WS_LIMIT;
}

/* ---- the rows of a part ---- */

/* Room for as many rows as a part of this size mostly has, so that the array need not grow. */
static bool rows_expect(struct rows_builder *b)
{
	const size_t bytes_a_row = 7;
	const struct wsi_line_part *part = b->rows->part;
	size_t n = (size_t)(part->end - part->start) / bytes_a_row + 4;
	if (!wsi_line_charge(b->map, n * sizeof *b->rows->row))
		return true; /* it starts with none */
	b->rows->row = wsi_realloc_array(NULL, n, sizeof *b->rows->row);
	if (!b->rows->row) {
		wsi_line_refund(b->map, n * sizeof *b->rows->row);
		return false;
	}
	b->rows_cap = n;
	wsi_expect_full(b->rows->row, n, sizeof *b->rows->row);
	return true;
}

static struct wsi_line_rows *rows_create(const struct ws_line_map *map,
					 const struct wsi_line_part *part)
{
	struct wsi_line_rows *rows = wsi_zalloc(sizeof *rows);
	if (!rows)
		return NULL;
	const struct wsi_line_table *table = &map->table[part->table];
	rows->part = part;
	rows->files = table->files;
	rows->n_named = table->pub.n_files ? table->pub.n_files - 1 : 0;
	struct rows_builder b = { .map = map, .rows = rows };
	bool ok = rows_expect(&b) && part_decode(&b);
	if (ok) {
		wsi_line_shrink(map, &rows->row, &b.rows_cap, rows->n_rows, sizeof *rows->row);
		wsi_line_shrink(map, &rows->wide, &b.wide_cap, rows->n_rows, sizeof *rows->wide);
		wsi_line_shrink(map, &rows->seq, &b.seqs_cap, rows->n_seqs, sizeof *rows->seq);
		ok = rows_index(&b) && rows_group(&b);
	}
	if (!ok) {
		wsi_line_rows_destroy(rows);
		return NULL;
	}
	return rows;
}

void wsi_line_rows_destroy(struct wsi_line_rows *rows)
{
	if (!rows)
		return;
	wsi_free(rows->row);
	wsi_free(rows->wide);
	wsi_free(rows->order);
	wsi_free(rows->block);
	wsi_free(rows->seq);
	wsi_free(rows->by_owner);
	wsi_free(rows->group);
	wsi_segments_fini(&rows->by_address);
	wsi_free(rows->defined);
	wsi_line_diags_fini(&rows->diags);
	wsi_free(rows);
}

const struct wsi_line_rows *wsi_line_part_decode(const struct ws_line_map *map, size_t index)
{
	struct wsi_line_part *part = &map->part[index];
	struct wsi_line_rows *made = rows_create(map, part), *rows = NULL;
	if (!made)
		return NULL;
	/* Two threads may have decoded the part; the first one's rows stay. */
	if (atomic_compare_exchange_strong_explicit(&part->rows, &rows, made, memory_order_acq_rel,
						    memory_order_acquire))
		return made;
	wsi_line_rows_destroy(made);
	return rows;
}
