/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step of a line program: reads an opcode, applies it to the registers, tells what it was.
 * rows.c runs it to store rows and walk.c to show opcodes; inlined into each, so that what one of
 * them does not look at costs nothing there.
 *
 * [public doc: DWARF 5 section 6.2; the NVIDIA opcodes: docs/formats/linemap.md]
 */
#ifndef WSI_LINE_PROGRAM_H
#define WSI_LINE_PROGRAM_H

#include "line/map.h"

/* One step is one piece of code, in which the reader and the registers are variables of the caller.
 */
#define WSI_LINE_INLINE static inline __attribute__((always_inline))

#define WSI_LNS_LIST(X)           \
	X(copy, 1)                \
	X(advance_pc, 2)          \
	X(advance_line, 3)        \
	X(set_file, 4)            \
	X(set_column, 5)          \
	X(negate_stmt, 6)         \
	X(set_basic_block, 7)     \
	X(const_add_pc, 8)        \
	X(fixed_advance_pc, 9)    \
	X(set_prologue_end, 10)   \
	X(set_epilogue_begin, 11) \
	X(set_isa, 12)

#define WSI_LNE_LIST(X)              \
	X(end_sequence, 0x01)        \
	X(set_address, 0x02)         \
	X(define_file, 0x03)         \
	X(set_discriminator, 0x04)   \
	X(NVIDIA_inlined_call, 0x90) \
	X(NVIDIA_set_function_name, 0x91)

enum {
#define X(name, number) DW_LNS_##name = (number),
	WSI_LNS_LIST(X)
#undef X
#define X(name, number) DW_LNE_##name = (number),
		WSI_LNE_LIST(X)
#undef X
};

/* Operands that a standard opcode has by the standard; a header may say otherwise. */
static const uint8_t wsi_lns_operands[] = { 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };

/* The registers, and those between sequences. */
struct wsi_line_regs {
	uint64_t address;
	uint32_t op_index, file, line, column, isa, discriminator, context, name_off;
	bool is_stmt, basic_block, prologue_end, epilogue_begin;
};

enum wsi_line_step {
	WSI_LINE_STEP,   /* no row */
	WSI_LINE_ROW,    /* the registers are a row */
	WSI_LINE_END,    /* likewise, the last of its sequence */
	WSI_LINE_BROKEN, /* not decodable; `why` and `status` are set, nothing was applied */
};

/* What an opcode was. */
struct wsi_line_insn {
	size_t start; /* position of its first byte in the reader */
	enum ws_line_op_kind kind;
	uint8_t opcode;
	unsigned n_operands;
	int64_t operand[WS_LINE_MAX_OPERANDS];
	const struct ws_line_reloc *reloc; /* of DW_LNE_set_address, or NULL */
	struct ws_line_file defined;       /* by DW_LNE_define_file */
	uint64_t defined_dir;
	enum ws_status status;
	const char *why;
};

/* What stays the same in a stretch. */
struct wsi_line_program {
	const struct ws_line_map *map;
	const struct ws_line_table *table;
	uint64_t start_off;    /* of the reader's first byte, in the section */
	bool standard_lengths; /* the header declares the standard numbers of operands */
	uint8_t const_advance; /* of DW_LNS_const_add_pc, in operations */
};

/* Where the name of an operand is in `.debug_str`; where none can be if the base is lost. */
static inline uint32_t wsi_line_name_off(const struct ws_line_table *table, uint32_t operand)
{
	return table->base == WS_LINE_BASE_LOST ? UINT32_MAX : table->str_base + operand;
}

static inline struct wsi_line_regs wsi_line_regs_start(const struct ws_line_table *table)
{
	return (struct wsi_line_regs){ .file = 1, .line = 1, .is_stmt = table->default_is_stmt };
}

/* A program at the start of a stretch of a table, with a reader over its bytes. */
static inline struct wsi_line_program wsi_line_program_of(const struct ws_line_map *map,
							  uint32_t table,
							  const struct wsi_line_stretch *stretch,
							  struct wsi_reader *ret_reader)
{
	const struct ws_line_table *t = &map->table[table].pub;
	struct wsi_line_program p = { .map = map, .table = t, .start_off = stretch->start };
	p.const_advance = (uint8_t)((255 - t->opcode_base) / t->line_range);
	p.standard_lengths = true;
	for (unsigned i = 1; i < t->opcode_base && i < WSI_COUNT(wsi_lns_operands); i++)
		p.standard_lengths &= t->opcode_lengths[i - 1] == wsi_lns_operands[i];
	struct ws_span bytes = { 0 };
	bool inside = ws_span_sub(map->line, stretch->start, stretch->end - stretch->start, &bytes);
	assert(inside);
	(void)inside;
	*ret_reader = wsi_reader_of(bytes);
	ret_reader->big_endian = map->big_endian;
	return p;
}

static inline void wsi_line_advance(const struct wsi_line_program *p, struct wsi_line_regs *regs,
				    uint64_t operations)
{
	if (p->table->max_ops == 1) {
		regs->address += operations * p->table->min_inst_length;
		return;
	}
	/* several operations an instruction (VLIW) */
	uint64_t sum = regs->op_index + operations;
	regs->address += p->table->min_inst_length * (sum / p->table->max_ops);
	regs->op_index = (uint32_t)(sum % p->table->max_ops);
}

WSI_LINE_INLINE enum wsi_line_step wsi_line_broken(struct wsi_line_insn *insn,
						   enum ws_status status, const char *why)
{
	insn->status = status;
	insn->why = why;
	return WSI_LINE_BROKEN;
}

/* A reader that failed ran off the end, or into a malformed number. */
WSI_LINE_INLINE enum wsi_line_step wsi_line_unreadable(const struct wsi_reader *r,
						       struct wsi_line_insn *insn)
{
	(void)r;
	return wsi_line_broken(insn, WS_MALFORMED, "operand is cut or larger than 64 bits");
}

/*
 * Keeps an operand. Constant indices only, so that a caller who does not look at operands does not
 * pay for them.
 */
WSI_LINE_INLINE void wsi_line_operand(struct wsi_line_insn *insn, int64_t value)
{
	switch (insn->n_operands) {
	case 0:
		insn->operand[0] = value;
		break;
	case 1:
		insn->operand[1] = value;
		break;
	case 2:
		insn->operand[2] = value;
		break;
	case 3:
		insn->operand[3] = value;
		break;
	default:
		return;
	}
	insn->n_operands++;
}

/* An unsigned operand for a 32-bit register. */
WSI_LINE_INLINE bool wsi_line_u32(struct wsi_reader *r, struct wsi_line_insn *insn,
				  uint32_t *ret_value)
{
	uint64_t value = wsi_read_uleb(r);
	wsi_line_operand(insn, (int64_t)value);
	if (r->failed || value > UINT32_MAX)
		return false;
	*ret_value = (uint32_t)value;
	return true;
}

WSI_LINE_INLINE enum wsi_line_step wsi_line_u32_step(struct wsi_reader *r,
						     struct wsi_line_insn *insn, uint32_t *reg)
{
	if (wsi_line_u32(r, insn, reg))
		return WSI_LINE_STEP;
	return r->failed ? wsi_line_unreadable(r, insn)
			 : wsi_line_broken(insn, WS_MALFORMED, "operand is larger than 32 bits");
}

WSI_LINE_INLINE enum wsi_line_step wsi_line_set_address(const struct wsi_line_program *p,
							struct wsi_reader *r, unsigned n_bytes,
							struct wsi_line_regs *regs,
							struct wsi_line_insn *insn)
{
	if (n_bytes != 8 && n_bytes != 4 && n_bytes != 2 && n_bytes != 1)
		return wsi_line_broken(insn, WS_MALFORMED, "address of an unknown size");
	uint64_t word_off = p->start_off + r->pos;
	uint64_t stored = wsi_read_uint(r, n_bytes);
	wsi_line_operand(insn, (int64_t)stored);
	insn->reloc = p->map->n_relocs ? wsi_line_reloc_find(p->map, word_off) : NULL;
	regs->address = stored;
	if (insn->reloc)
		regs->address = insn->reloc->value + (insn->reloc->add_stored ? stored : 0);
	regs->op_index = 0;
	return WSI_LINE_STEP;
}

WSI_LINE_INLINE enum wsi_line_step wsi_line_define_file(struct wsi_reader *r,
							struct wsi_line_insn *insn)
{
	insn->defined = (struct ws_line_file){ .name = wsi_read_cstr(r).ptr };
	insn->defined_dir = wsi_read_uleb(r);
	insn->defined.mtime = wsi_read_uleb(r);
	insn->defined.size_bytes = wsi_read_uleb(r);
	return r->failed ? wsi_line_unreadable(r, insn) : WSI_LINE_STEP;
}

/*
 * An extended opcode: 00, length, opcode, operands. The length always leads to the next opcode,
 * whatever the operands are; operands may not go past it.
 */
WSI_LINE_INLINE enum wsi_line_step wsi_line_extended(const struct wsi_line_program *p,
						     struct wsi_reader *r,
						     struct wsi_line_regs *regs,
						     struct wsi_line_insn *insn)
{
	insn->kind = WS_LINE_OP_EXTENDED;
	uint64_t length = wsi_read_uleb(r);
	if (r->failed || length == 0 || length > wsi_reader_left(r))
		return wsi_line_broken(insn, WS_MALFORMED,
				       "extended opcode with a length that cannot be");
	size_t next = r->pos + (size_t)length;
	insn->opcode = wsi_read_u8(r);
	enum wsi_line_step step = WSI_LINE_STEP;
	switch (insn->opcode) {
	case DW_LNE_end_sequence:
		step = WSI_LINE_END;
		break;
	case DW_LNE_set_address:
		step = wsi_line_set_address(p, r, (unsigned)wsi_min_u64(length - 1, UINT_MAX), regs,
					    insn);
		break;
	case DW_LNE_define_file:
		step = wsi_line_define_file(r, insn);
		break;
	case DW_LNE_set_discriminator:
		step = wsi_line_u32_step(r, insn, &regs->discriminator);
		break;
	case DW_LNE_NVIDIA_inlined_call:
		step = wsi_line_u32_step(r, insn, &regs->context);
		if (step == WSI_LINE_BROKEN)
			break;
		step = wsi_line_u32_step(r, insn, &regs->name_off);
		regs->name_off = wsi_line_name_off(p->table, regs->name_off);
		break;
	case DW_LNE_NVIDIA_set_function_name:
		step = wsi_line_u32_step(r, insn, &regs->name_off);
		regs->name_off = wsi_line_name_off(p->table, regs->name_off);
		break;
	default: /* of another vendor, or 0x92 of NVIDIA: skipped by its length */
		break;
	}
	if (r->pos > next)
		return wsi_line_broken(insn, WS_MALFORMED, "operand is cut by the opcode's length");
	r->pos = next;
	return step;
}

/* An opcode that is unknown, or known with another number of operands: skips its ULEB operands. */
WSI_LINE_INLINE enum wsi_line_step wsi_line_skip(const struct wsi_line_program *p,
						 struct wsi_reader *r, struct wsi_line_insn *insn)
{
	for (unsigned n = p->table->opcode_lengths[insn->opcode - 1]; n > 0; n--)
		wsi_line_operand(insn, (int64_t)wsi_read_uleb(r));
	return r->failed ? wsi_line_unreadable(r, insn) : WSI_LINE_STEP;
}

WSI_LINE_INLINE enum wsi_line_step wsi_line_standard(const struct wsi_line_program *p,
						     struct wsi_reader *r,
						     struct wsi_line_regs *regs,
						     struct wsi_line_insn *insn)
{
	insn->kind = WS_LINE_OP_STANDARD;
	if (!p->standard_lengths &&
	    (insn->opcode >= WSI_COUNT(wsi_lns_operands) ||
	     p->table->opcode_lengths[insn->opcode - 1] != wsi_lns_operands[insn->opcode]))
		return wsi_line_skip(p, r, insn);
	switch (insn->opcode) {
	case DW_LNS_copy:
		return WSI_LINE_ROW;
	case DW_LNS_advance_pc: {
		uint64_t operations = wsi_read_uleb(r);
		wsi_line_operand(insn, (int64_t)operations);
		wsi_line_advance(p, regs, operations);
		break;
	}
	case DW_LNS_advance_line: {
		int64_t lines = wsi_read_sleb(r);
		wsi_line_operand(insn, lines);
		regs->line += (uint32_t)lines;
		break;
	}
	case DW_LNS_set_file:
		return wsi_line_u32_step(r, insn, &regs->file);
	case DW_LNS_set_column:
		return wsi_line_u32_step(r, insn, &regs->column);
	case DW_LNS_negate_stmt:
		regs->is_stmt = !regs->is_stmt;
		break;
	case DW_LNS_set_basic_block:
		regs->basic_block = true;
		break;
	case DW_LNS_const_add_pc:
		wsi_line_advance(p, regs, p->const_advance);
		break;
	case DW_LNS_fixed_advance_pc: {
		uint16_t bytes = wsi_read_u16(r);
		wsi_line_operand(insn, bytes);
		regs->address += bytes;
		regs->op_index = 0;
		break;
	}
	case DW_LNS_set_prologue_end:
		regs->prologue_end = true;
		break;
	case DW_LNS_set_epilogue_begin:
		regs->epilogue_begin = true;
		break;
	case DW_LNS_set_isa:
		return wsi_line_u32_step(r, insn, &regs->isa);
	default:
		return wsi_line_skip(p, r, insn);
	}
	return r->failed ? wsi_line_unreadable(r, insn) : WSI_LINE_STEP;
}

/* The next opcode; the reader must not be at its end. */
WSI_LINE_INLINE enum wsi_line_step wsi_line_step(const struct wsi_line_program *p,
						 struct wsi_reader *r, struct wsi_line_regs *regs,
						 struct wsi_line_insn *insn)
{
	insn->start = r->pos;
	insn->n_operands = 0;
	insn->opcode = wsi_read_u8(r);
	if (insn->opcode >= p->table->opcode_base) {
		unsigned adjusted = (unsigned)insn->opcode - p->table->opcode_base;
		insn->kind = WS_LINE_OP_SPECIAL;
		regs->line +=
			(uint32_t)(p->table->line_base + (int)(adjusted % p->table->line_range));
		wsi_line_advance(p, regs, adjusted / p->table->line_range);
		return WSI_LINE_ROW;
	}
	if (insn->opcode == 0)
		return wsi_line_extended(p, r, regs, insn);
	return wsi_line_standard(p, r, regs, insn);
}

/* After a row: what the next one does not inherit. */
static inline void wsi_line_after_row(struct wsi_line_regs *regs)
{
	regs->discriminator = 0;
	regs->basic_block = regs->prologue_end = regs->epilogue_begin = false;
}

#endif
