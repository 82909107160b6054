/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding a part: opcodes to rows and sequences, then the index by address. See map.h. */
#include "line/map.h"
#include "line/run.h"

enum {
	MAX_SLOTS_A_ROW = 4, /* so many, where that gives each instruction its own */
};

struct builder {
	const struct ws_line_map *map;
	struct wsi_line_rows *rows;
	size_t rows_cap, wide_cap, seqs_cap, defined_cap;
	/* the sequence in the making: */
	struct wsi_line_seq seq;
	uint64_t last_address;
	bool has_owner; /* its first DW_LNE_set_address was seen */
};

static void seq_start(struct builder *b, uint64_t sec_off)
{
	b->seq = (struct wsi_line_seq){
		.owner = WS_LINE_NO_OWNER,
		.first_row = b->rows->n_rows,
		.sec_off = sec_off,
		.is_sorted = true,
	};
	b->has_owner = false;
}

static void diag(struct builder *b, enum ws_status status, uint64_t sec_off, const char *what)
{
	wsi_line_diag(&b->rows->diags, status, b->map->line.origin + sec_off, "%s", what);
}

/* ---- rows ---- */

static bool needs_wide(const struct builder *b, const struct wsi_line_regs *regs)
{
	return (regs->column | regs->discriminator | regs->isa | regs->op_index) ||
	       regs->file > UINT16_MAX || regs->address - b->seq.base > UINT32_MAX;
}

/* Gives the sequence its wide rows, those that it has included. */
static void seq_widen(struct builder *b)
{
	struct wsi_line_rows *rows = b->rows;
	for (size_t i = b->seq.first_row; i < rows->n_rows; i++)
		rows->wide[i] = (struct wsi_line_wide){ .address = b->seq.base + rows->row[i].addr,
							.file = rows->row[i].file };
	b->seq.is_wide = true;
}

static bool rows_reserve(struct builder *b, bool wide)
{
	struct wsi_line_rows *rows = b->rows;
	if (rows->n_rows == b->rows_cap &&
	    !wsi_grow(&rows->row, &b->rows_cap, rows->n_rows, sizeof *rows->row, UINT32_MAX))
		return false;
	if (!wide || b->wide_cap >= b->rows_cap)
		return true;
	void *grown = wsi_realloc_array(rows->wide, b->rows_cap, sizeof *rows->wide);
	if (!grown)
		return false;
	rows->wide = grown;
	b->wide_cap = b->rows_cap;
	return true;
}

/* Flags and depth of a row inlined at row `context` of its sequence. */
static uint16_t place_in_chain(struct builder *b, const struct wsi_line_regs *regs, unsigned flags,
			       uint64_t sec_off)
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
	if (!wsi_line_str(&b->map->names, regs->name_off))
		diag(b, WS_MALFORMED, sec_off, "name of an inlined function is outside .debug_str");
	return (uint16_t)(depth << WSI_LINE_FLAG_BITS | flags);
}

static bool row_add(struct builder *b, const struct wsi_line_regs *regs, bool ends,
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
	b->last_address = regs->address;
	b->seq.n_rows++;
	rows->n_rows++;
	return true;
}

/* ---- sequences ---- */

/* Closes the sequence in the making. */
static bool seq_add(struct builder *b, enum ws_status status, uint64_t damage_off)
{
	struct wsi_line_rows *rows = b->rows;
	if (!wsi_grow(&rows->seq, &b->seqs_cap, rows->n_seqs, sizeof *rows->seq, UINT32_MAX))
		return false;
	b->seq.status = status;
	b->seq.damage_off = b->map->line.origin + damage_off;
	rows->seq[rows->n_seqs++] = b->seq;
	return true;
}

static void take_address(struct builder *b, const struct wsi_line_insn *insn, uint64_t sec_off)
{
	uint32_t owner = insn->reloc ? insn->reloc->owner : WS_LINE_NO_OWNER;
	if (!b->has_owner)
		b->seq.owner = owner;
	else if (owner != b->seq.owner)
		diag(b, WS_MALFORMED, sec_off, "sequence goes on in another function");
	b->has_owner = true;
}

static bool take_file(struct builder *b, const struct wsi_line_insn *insn)
{
	struct wsi_line_rows *rows = b->rows;
	const struct ws_line_table *table = &b->map->table[rows->part->table].pub;
	if (!wsi_grow(&rows->defined, &b->defined_cap, rows->n_defined, sizeof *rows->defined,
		      UINT32_MAX))
		return false;
	rows->defined[rows->n_defined] = insn->defined;
	if (insn->defined_dir < table->n_dirs)
		rows->defined[rows->n_defined].dir = table->dirs[insn->defined_dir];
	rows->n_defined++;
	return true;
}

/* What an opcode other than a row does to the sequence in the making. False: out of memory. */
static bool take_step(struct builder *b, const struct wsi_line_insn *insn, uint64_t sec_off)
{
	if (insn->kind != WS_LINE_OP_EXTENDED)
		return true;
	if (insn->opcode == DW_LNE_set_address)
		take_address(b, insn, sec_off);
	return insn->opcode != DW_LNE_define_file || take_file(b, insn);
}

/* The bytes of the part ended inside a sequence. */
static bool seq_cut(struct builder *b, const struct ws_line_table *table)
{
	const struct wsi_line_part *part = b->rows->part;
	if (b->seq.n_rows == 0 && !b->has_owner)
		return true;
	uint64_t length_bytes = table->dwarf64 ? 12 : 4;
	bool cut = part->end == table->end_off &&
		   table->end_off - table->sec_off - length_bytes < table->unit_length;
	enum ws_status status = cut ? WS_TRUNCATED : WS_MALFORMED;
	diag(b, status, part->end,
	     cut ? "the section ends inside a sequence" : "sequence without an end_sequence");
	return seq_add(b, status, part->end);
}

/* As many rows as can be had fast. */
static void rows_run(struct builder *b, const struct wsi_line_program *p, struct wsi_reader *r,
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

/* False: out of memory. */
static bool part_decode(struct builder *b)
{
	const struct wsi_line_part *part = b->rows->part;
	struct wsi_reader r;
	const struct wsi_line_program p = wsi_line_program_of(b->map, part, &r);
	struct wsi_line_regs regs = wsi_line_regs_start(p.table);
	struct wsi_line_insn insn = { 0 };
	seq_start(b, part->start);
	while (wsi_reader_left(&r) > 0) {
		rows_run(b, &p, &r, &regs);
		if (wsi_reader_left(&r) == 0)
			break;
		enum wsi_line_step step = wsi_line_step(&p, &r, &regs, &insn);
		uint64_t sec_off = part->start + insn.start;
		switch (step) {
		case WSI_LINE_STEP:
			if (!take_step(b, &insn, sec_off))
				return false;
			break;
		case WSI_LINE_ROW:
			if (!row_add(b, &regs, false, sec_off))
				return false;
			wsi_line_after_row(&regs);
			break;
		case WSI_LINE_END:
			if (!row_add(b, &regs, true, sec_off) || !seq_add(b, WS_OK, 0))
				return false;
			regs = wsi_line_regs_start(p.table);
			seq_start(b, part->start + r.pos);
			break;
		case WSI_LINE_BROKEN:
			diag(b, insn.status, sec_off, insn.why);
			return seq_add(b, insn.status, sec_off);
		}
	}
	return seq_cut(b, p.table);
}

/* ---- the index by address ---- */

struct by_address {
	uint64_t address;
	uint32_t index;
};

static int by_address_compare(const void *a, const void *b)
{
	const struct by_address *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

static bool seq_sort(struct wsi_line_rows *rows, const struct wsi_line_seq *seq)
{
	if (!rows->order)
		rows->order = wsi_zalloc_array(rows->n_rows, sizeof *rows->order);
	struct by_address *key = wsi_zalloc_array(seq->n_rows, sizeof *key);
	if (!rows->order || !key) {
		wsi_free(key);
		return false;
	}
	for (uint32_t i = 0; i < seq->n_rows; i++)
		key[i] = (struct by_address){ wsi_line_address(rows, seq, i), i };
	qsort(key, seq->n_rows, sizeof *key, by_address_compare);
	for (uint32_t i = 0; i < seq->n_rows; i++)
		rows->order[seq->first_row + i] = key[i].index;
	wsi_free(key);
	return true;
}

/* Bounds of a sequence and the number of its slots: about as many as it has rows. */
static bool seq_measure(struct wsi_line_rows *rows, struct wsi_line_seq *seq)
{
	if (seq->n_rows == 0)
		return true;
	if (!seq->is_sorted && !seq_sort(rows, seq))
		return false;
	seq->low = wsi_line_address(rows, seq, wsi_line_by_address(rows, seq, 0));
	seq->high = wsi_line_address(rows, seq, wsi_line_by_address(rows, seq, seq->n_rows - 1));
	uint64_t span = seq->high - seq->low;
	while (span >> seq->slot_shift > MAX_SLOTS_A_ROW * (uint64_t)seq->n_rows ||
	       (seq->is_sorted && span >> seq->slot_shift > 0 &&
		(seq->addr_bits >> seq->slot_shift & 1) == 0))
		seq->slot_shift++;
	seq->is_direct = seq->is_sorted && !seq->is_wide &&
			 (seq->addr_bits & ((UINT64_C(1) << seq->slot_shift) - 1)) == 0;
	seq->n_blocks = (size_t)(span >> seq->slot_shift) / WSI_LINE_BLOCK_SLOTS + 1;
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

static bool rows_index(struct wsi_line_rows *rows)
{
	size_t n_blocks = 0;
	for (size_t i = 0; i < rows->n_seqs; i++) {
		if (!seq_measure(rows, &rows->seq[i]))
			return false;
		rows->seq[i].first_block = n_blocks;
		n_blocks += rows->seq[i].n_blocks;
	}
	rows->block = wsi_zalloc_array(n_blocks, sizeof *rows->block);
	if (!rows->block)
		return false;
	for (size_t i = 0; i < rows->n_seqs; i++) {
		const struct wsi_line_seq *seq = &rows->seq[i];
		if (seq->is_sorted && !seq->is_wide)
			seq_note_rows(rows, seq, true);
		else
			seq_note_rows(rows, seq, false);
		seq_fill_blocks(rows, seq);
	}
	return true;
}

/* ---- the rows of a part ---- */

/* Gives back what an array has too much; it stays as it is when that fails. */
static void *shrink(void *array, size_t n, size_t size)
{
	void *fit = array && n > 0 ? wsi_realloc_array(array, n, size) : NULL;
	return fit ? fit : array;
}

/* Room for as many rows as a part of this size mostly has, so that the array need not grow. */
static bool rows_expect(struct builder *b)
{
	const size_t bytes_a_row = 7;
	const struct wsi_line_part *part = b->rows->part;
	size_t n = (size_t)(part->end - part->start) / bytes_a_row + 4;
	b->rows->row = wsi_realloc_array(NULL, n, sizeof *b->rows->row);
	b->rows_cap = b->rows->row ? n : 0;
	wsi_expect_full(b->rows->row, n, sizeof *b->rows->row);
	return b->rows->row != NULL;
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
	struct builder b = { .map = map, .rows = rows };
	bool ok = rows_expect(&b) && part_decode(&b);
	if (ok) {
		rows->row = shrink(rows->row, rows->n_rows, sizeof *rows->row);
		rows->wide = shrink(rows->wide, rows->n_rows, sizeof *rows->wide);
		ok = rows_index(rows);
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
