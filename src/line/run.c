/* SPDX-License-Identifier: Apache-2.0 */
/* See run.h. */
#include "line/run.h"

enum {
	/* No opcode of a run is longer, so that one check covers all its reads: 00, length, opcode,
	 * and two numbers, which are read eight bytes at a time. */
	MAX_BYTES = 3 + 2 * 8,
};

/* The registers of a run. None of its rows is wide and addresses do not wrap: `addr`, from the
 * sequence's base, never goes beyond `max_addr`, and `file` fits a row. */
struct line_run {
	const struct wsi_line_program *p;
	struct wsi_reader in;
	struct wsi_line_narrow *row;
	size_t n_rows;
	uint64_t addr, max_addr, addr_bits;
	uint32_t line, file, context, name_off;
	unsigned depth, flags;
	unsigned opcode_base, line_range, reciprocal; /* of line_range, times 1 << 16 */
	int line_base;
};

/* Sets the call that rows are inlined at. False: it is none that was there before. */
WSI_LINE_INLINE bool run_set_call(struct line_run *run, uint32_t context, uint32_t name_off)
{
	unsigned depth = 0;
	if (context > run->n_rows)
		return false;
	if (context > 0) {
		depth = wsi_line_depth(&run->row[context - 1]) + 1;
		if (depth > WS_LINE_MAX_DEPTH || !wsi_line_str(&run->p->map->names, name_off))
			return false;
	}
	run->context = context;
	run->name_off = name_off;
	run->depth = depth;
	return true;
}

/* False: rows with these registers are not stored as they are. */
static bool run_init(struct line_run *run, const struct wsi_line_program *p,
		     const struct wsi_reader *r, const struct wsi_line_regs *regs,
		     const struct wsi_line_seq *seq, struct wsi_line_narrow *row)
{
	const struct ws_line_table *t = p->table;
	*run = (struct line_run){
		.p = p,
		.in = *r,
		.row = row,
		.n_rows = seq->n_rows,
		.addr = regs->address - seq->base,
		.max_addr = wsi_min_u64(UINT32_MAX, UINT64_MAX - seq->base),
		.line = regs->line,
		.file = regs->file,
		.flags = regs->is_stmt ? WS_LINE_IS_STMT : 0u,
		.opcode_base = t->opcode_base,
		.line_range = t->line_range,
		.reciprocal = (1u << 16) / t->line_range + 1,
		.line_base = t->line_base,
	};
	return p->standard_lengths && t->max_ops == 1 && t->opcode_base > DW_LNS_set_file &&
	       seq->n_rows > 0 && !seq->is_wide && run->addr <= run->max_addr &&
	       run->addr >= row[seq->n_rows - 1].addr && regs->file <= UINT16_MAX &&
	       !(regs->column | regs->discriminator | regs->isa | regs->op_index) &&
	       !(regs->basic_block || regs->prologue_end || regs->epilogue_begin) &&
	       run_set_call(run, regs->context, regs->name_off);
}

WSI_LINE_INLINE bool run_advance(struct line_run *run, uint64_t operations)
{
	uint64_t to = run->addr + operations * run->p->table->min_inst_length;
	if (operations > UINT32_MAX || to > run->max_addr)
		return false;
	run->addr = to;
	return true;
}

WSI_LINE_INLINE void run_add_row(struct line_run *run)
{
	run->addr_bits |= run->addr;
	run->row[run->n_rows++] = (struct wsi_line_narrow){
		.addr = (uint32_t)run->addr,
		.line = run->line,
		.context = run->context,
		.name_off = run->name_off,
		.file = (uint16_t)run->file,
		.flags_depth = (uint16_t)(run->depth << WSI_LINE_FLAG_BITS | run->flags),
	};
}

/*
 * A row written as [set_file] advance_line [advance_pc] copy in eight bytes, without a branch on
 * what is there: that, and how long the numbers are, changes from row to row, and a mispredicted
 * branch costs more than all of this. False: something else. Numbers cannot run past the eight
 * bytes: zeros are shifted in, which end any number, and then there is no copy.
 */
WSI_LINE_INLINE bool run_row(struct line_run *run, uint64_t w)
{
	const uint64_t stops = UINT64_C(0x8080808080808080);
	const unsigned has_file = (w & 0x80ff) == DW_LNS_set_file, file_bits = has_file * 16;
	const uint32_t file = has_file ? (uint32_t)(w >> 8 & 0x7f) : run->file;
	w >>= file_bits;
	if ((w & 0xff) != DW_LNS_advance_line)
		return false;
	w >>= 8;
	const uint64_t stop = ~w & stops;
	const unsigned line_bits = (unsigned)__builtin_ctzll(stop) + 1;
	if (line_bits > 32)
		return false;
	uint32_t line = (uint32_t)(w & (stop ^ (stop - 1))) & 0x7f7f7f7f;
	line = (line & 0x007f007f) | (line & 0x7f007f00) >> 1;
	line = (line & 0x00003fff) | (line & 0x3fff0000) >> 2;
	const unsigned unused = 32 - line_bits / 8 * 7;
	w >>= line_bits;
	const unsigned has_pc = (w & 0xff) == DW_LNS_advance_pc, is_long = w >> 15 & 1;
	const uint64_t pc = (w >> 8 & 0x7f) | (w >> 9 & 0x3f80 & -(uint64_t)is_long);
	const unsigned pc_bits = has_pc * (16 + 8 * is_long);
	const bool is_longer = has_pc && (w & 0x808000) == 0x808000;
	w >>= pc_bits;
	if ((w & 0xff) != DW_LNS_copy || is_longer || !run_advance(run, pc & -(uint64_t)has_pc))
		return false;
	run->file = file;
	run->line += (uint32_t)((int32_t)(line << unused) >> unused);
	run->in.pos += (file_bits + 8 + line_bits + pc_bits + 8) / 8;
	run_add_row(run);
	return true;
}

WSI_LINE_INLINE bool run_special(struct line_run *run)
{
	unsigned adjusted = wsi_read_u8(&run->in) - run->opcode_base;
	/* Exact for all numbers of a byte. */
	unsigned operations = adjusted * run->reciprocal >> 16;
	if (!run_advance(run, operations))
		return false;
	run->line += (uint32_t)(run->line_base + (int)(adjusted - operations * run->line_range));
	run_add_row(run);
	return true;
}

WSI_LINE_INLINE bool run_inlined_call(struct line_run *run, uint64_t w)
{
	unsigned n_context, n_name;
	const unsigned length = w >> 8 & 0xff;
	/* Of the context five bytes are here, which is all that 32 bits take. */
	const uint64_t context = wsi_short_leb(w >> 24, &n_context);
	if ((w >> 16 & 0xff) != DW_LNE_NVIDIA_inlined_call || n_context > 5)
		return false;
	wsi_reader_skip(&run->in, 3 + n_context);
	const uint64_t name = wsi_short_leb(wsi_reader_peek_u64(&run->in), &n_name);
	wsi_reader_skip(&run->in, n_name);
	return n_name > 0 && 1 + n_context + n_name == length && (context | name) <= UINT32_MAX &&
	       run_set_call(run, (uint32_t)context,
			    wsi_line_name_off(run->p->table, (uint32_t)name));
}

/* A standard opcode that stands in another order than run_row() knows. */
WSI_LINE_INLINE bool run_standard(struct line_run *run)
{
	uint64_t value;
	unsigned bits;
	uint8_t opcode = wsi_read_u8(&run->in);
	if (opcode == DW_LNS_copy) {
		run_add_row(run);
		return true;
	}
	if (opcode > DW_LNS_set_file || !wsi_read_short_leb(&run->in, &value, &bits))
		return false;
	if (opcode == DW_LNS_advance_pc)
		return run_advance(run, value);
	if (opcode == DW_LNS_advance_line)
		run->line += (uint32_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
	else if (value <= UINT16_MAX)
		run->file = (uint32_t)value;
	else
		return false;
	return true;
}

void wsi_line_run(const struct wsi_line_program *p, struct wsi_reader *r,
		  struct wsi_line_regs *regs, struct wsi_line_seq *seq, struct wsi_line_narrow *row,
		  size_t cap)
{
	struct line_run run;
	if (!run_init(&run, p, r, regs, seq, row))
		return;
	size_t next = r->pos;
	while (run.n_rows < cap && wsi_reader_left(&run.in) >= MAX_BYTES) {
		uint64_t w = wsi_reader_peek_u64(&run.in);
		uint8_t opcode = (uint8_t)w;
		bool ok;
		if (opcode >= run.opcode_base)
			ok = run_special(&run);
		else if (opcode == 0)
			ok = run_inlined_call(&run, w);
		else
			ok = run_row(&run, w) || run_standard(&run);
		if (!ok)
			break;
		next = run.in.pos;
	}
	r->pos = next;
	regs->address = seq->base + run.addr;
	regs->line = run.line;
	regs->file = run.file;
	regs->context = run.context;
	regs->name_off = run.name_off;
	seq->addr_bits |= run.addr_bits;
	seq->n_rows = (uint32_t)run.n_rows;
}
