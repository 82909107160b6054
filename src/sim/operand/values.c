/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of values: operands from where they are, the operation by src/alu, results back. */
#include "sim/operand/operand.h"

#include "sim/event/watchpoint.h"

void wsi_addresses(const struct wsi_run *run, const struct wsi_op_address *at, bool wide,
		   uint64_t ret_addresses[WSI_LANES])
{
	const struct wsi_warp *warp = run->warp;
	uint64_t base = wsi_at_base(warp, at);
	const uint32_t *low = at->reg_words > 0 ? wsi_reg(warp, at->reg) : NULL;
	const uint32_t *high = at->reg_words > 1 ? wsi_reg(warp, at->reg + 1u) : NULL;
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		uint64_t address = low ? (uint64_t)low[lane] << at->shift : 0;
		if (high)
			address |= (uint64_t)high[lane] << 32;
		ret_addresses[lane] = wide ? base + address : (uint32_t)(base + address);
	}
}

static const uint32_t zeros[WSI_WORDS_READ * WSI_LANES];

static void spread(uint32_t *to, uint32_t value)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++)
		to[lane] = value;
}

/* Where a constant is, or NULL. */
static const uint8_t *constant(struct wsi_run *run, uint32_t bank, uint64_t off, uint32_t bytes)
{
	const struct wsi_bank *b = &run->bank[bank];
	if (off > b->size || bytes > b->size - off)
		return run->sim->watches ? wsi_watch_constant(run, bank, off, bytes) : NULL;
	return b->bytes + off;
}

const uint32_t *wsi_sim_source(struct wsi_run *run, const struct wsi_alu_value *value,
			       uint32_t *scratch)
{
	const uint8_t *bytes;
	switch ((enum wsi_alu_place)value->place) {
	case WSI_ALU_REG:
		return value->number == 255 ? zeros : wsi_reg(run->warp, value->number);
	case WSI_ALU_UREG:
		if (value->number == 255)
			return zeros;
		for (unsigned i = 0; i < value->words; i++)
			spread(scratch + (size_t)i * WSI_LANES,
			       run->warp->uregs[value->number + i]);
		return scratch;
	case WSI_ALU_NUMBER:
		for (unsigned i = 0; i < value->words; i++)
			spread(scratch + (size_t)i * WSI_LANES,
			       i < 2 ? (uint32_t)(value->value >> 32 * i) : 0);
		return scratch;
	case WSI_ALU_CONSTANT:
		bytes = constant(run, value->number, value->value, 4u * value->words);
		if (!bytes)
			break;
		for (unsigned i = 0; i < value->words; i++)
			spread(scratch + (size_t)i * WSI_LANES, wsi_load_u32(bytes + 4 * i));
		return scratch;
	case WSI_ALU_BINDLESS: /* refused when it was decoded */
		break;
	}
	wsi_fault(run, CUDBG_EXCEPTION_WARP_INVALID_CONST_ADDR_LDC, run->mask,
		  "constant c[0x%x][0x%" PRIx64 "] is outside its bank", value->number,
		  value->value);
	return NULL;
}

/* Lanes of `mask` of a result. */
static void blend(uint32_t *to, const uint32_t *from, uint32_t mask, unsigned words)
{
	for (unsigned i = 0; i < words; i++, to += WSI_LANES, from += WSI_LANES)
		for (unsigned lane = 0; lane < WSI_LANES; lane++) {
			uint32_t keep = (mask >> lane & 1) - 1;
			to[lane] = (to[lane] & keep) | (from[lane] & ~keep);
		}
}

static void store_results(struct wsi_run *run, const struct wsi_op *op, const struct wsi_alu_io *io)
{
	struct wsi_warp *warp = run->warp;
	const struct wsi_alu *alu = &op->alu;
	for (unsigned i = 0; i < alu->n_results; i++) {
		const struct wsi_alu_value *v = &alu->result[i];
		if (v->number == 255)
			continue;
		if (v->place == WSI_ALU_UREG) {
			unsigned lane = wsi_first_bit(run->mask);
			for (unsigned k = 0; k < v->words; k++)
				warp->uregs[v->number + k] = io->result[i][k * WSI_LANES + lane];
		} else if (io->result[i] != wsi_reg(warp, v->number)) {
			blend(wsi_reg(warp, v->number), io->result[i], run->mask, v->words);
		}
	}
	for (unsigned i = 0; i < alu->n_predicate_results; i++)
		wsi_pred_set(warp, &alu->predicate_result[i], io->predicate_result[i], run->mask);
}

enum wsi_step wsi_run_values(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t sources[WSI_ALU_SOURCES][4 * WSI_LANES],
		results[WSI_ALU_RESULTS][WSI_WORDS_WRITTEN * WSI_LANES];
	const struct wsi_alu *alu = &op->alu;
	struct wsi_alu_io io;
	for (unsigned i = 0; i < alu->n_sources; i++) {
		io.source[i] = wsi_sim_source(run, &alu->source[i], sources[i]);
		if (!io.source[i])
			return WSI_STEP_FAULT;
	}
	for (unsigned i = 0; i < alu->n_predicates; i++)
		io.predicate[i] = wsi_pred_mask(run->warp, &alu->predicate[i]);
	for (unsigned i = 0; i < alu->n_results; i++) {
		const struct wsi_alu_value *v = &alu->result[i];
		bool direct =
			run->mask == UINT32_MAX && v->place == WSI_ALU_REG && v->number != 255;
		io.result[i] = direct ? wsi_reg(run->warp, v->number) : results[i];
	}
	wsi_alu_run(alu, &io);
	store_results(run, op, &io);
	return WSI_STEP_NEXT;
}

/* ---- constants by address ---- */

static void load_lane(const struct wsi_op *op, const uint8_t *from, uint32_t *to, size_t step)
{
	uint32_t first = from[0];
	if (op->bytes >= 4) {
		for (unsigned k = 0; k < op->bytes / 4u; k++)
			to[k * step] = wsi_load_u32(from + 4 * k);
		return;
	}
	if (op->bytes == 2)
		first = wsi_load_u16(from);
	if (WSI_HAS(op, S8))
		first = (uint32_t)(int8_t)first;
	else if (WSI_HAS(op, S16))
		first = (uint32_t)(int16_t)first;
	to[0] = first;
}

/* Not done: banks by a descriptor or an address (cx[], [UR]), and offsets that select a bank. */
void wsi_prepare_load_constant(struct wsi_op *op)
{
	enum { LDC = 0xb82, ULDC = 0xab9, ULDC_INDEXED = 0xabb, LDCU = 0x7ac, BINDLESS = 91 };
	static const enum ws_modifier others[] = { WS_MOD_IL, WS_MOD_IS, WS_MOD_ISL,
						   WS_MOD_TEXUNPACK, WS_MOD_HDRUNPACK };
	uint64_t opcode = ws_insn_bits(&op->insn, 0, 12);
	bool ok = opcode == LDC || opcode == ULDC_INDEXED || opcode == LDCU ||
		  (opcode == ULDC && !ws_insn_bits(&op->insn, BINDLESS, 1));
	for (size_t i = 0; i < WSI_COUNT(others); i++)
		ok &= !ws_sass_has(&op->insn, others[i]);
	if (!ok)
		op->run = wsi_run_unimplemented;
}

enum wsi_step wsi_run_load_constant(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	const struct wsi_alu_value *to = &op->alu.result[0];
	const struct wsi_op_address *at = &op->at[0];
	uint32_t unused[16];
	if (op->n_at != 1 || op->alu.n_results != 1 || op->bytes == 0 || op->bytes > 32)
		return wsi_run_unimplemented(run, op);
	uint64_t base = (uint64_t)at->offset;
	if (at->ureg_words != 0)
		base += warp->uregs[at->ureg];
	uint32_t left = to->place == WSI_ALU_UREG ? 1u << wsi_first_bit(run->mask) : run->mask;
	for (; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint32_t off = (uint32_t)base;
		if (at->reg_words != 0)
			off += wsi_reg(warp, at->reg)[lane];
		const uint8_t *from = constant(run, at->bank, off, op->bytes);
		if (off % op->bytes != 0)
			return wsi_fault_at(run, CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS, lane, off,
					    "constant address 0x%x is not a multiple of %u", off,
					    op->bytes);
		if (!from)
			return wsi_fault_at(run, CUDBG_EXCEPTION_WARP_INVALID_CONST_ADDR_LDC, lane,
					    off, "constant c[0x%x][0x%x] is outside its bank",
					    at->bank, off);
		if (to->number == 255)
			load_lane(op, from, unused, 1);
		else if (to->place == WSI_ALU_UREG)
			load_lane(op, from, &warp->uregs[to->number], 1);
		else
			load_lane(op, from, &wsi_reg(warp, to->number)[lane], WSI_LANES);
	}
	return WSI_STEP_NEXT;
}
