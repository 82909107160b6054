/* SPDX-License-Identifier: Apache-2.0 */
/* Among the lanes of a warp: shuffles, votes, matches, reductions; and what a lane is. */
#include "sim/exec/exec.h"

/* Writes lanes of a result of one word, or a uniform register. */
static void set_word(struct wsi_run *run, const struct wsi_alu_value *to, const uint32_t *values)
{
	if (to->number == 255)
		return;
	if (to->place == WSI_ALU_UREG) {
		run->warp->uregs[to->number] = values[wsi_first_bit(run->mask)];
		return;
	}
	uint32_t *reg = wsi_reg(run->warp, to->number);
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		reg[lane] = values[lane];
	}
}

static void set_same(struct wsi_run *run, const struct wsi_alu_value *to, uint32_t value)
{
	uint32_t values[WSI_LANES];
	for (unsigned lane = 0; lane < WSI_LANES; lane++)
		values[lane] = value;
	set_word(run, to, values);
}

/* Lane that lane `lane` reads from; `*ret_in_range`: it exists in the segment. */
static unsigned shuffle_lane(const struct wsi_op *op, unsigned lane, uint32_t b, uint32_t c,
			     bool *ret_in_range)
{
	unsigned segment = c >> 8 & 31, clamp = c & 31;
	unsigned low = lane & segment, high = low | (clamp & ~segment);
	int from;
	b &= 31;
	if (WSI_HAS(op, UP)) {
		from = (int)lane - (int)b;
		*ret_in_range = from >= (int)high;
	} else if (WSI_HAS(op, DOWN)) {
		from = (int)(lane + b);
		*ret_in_range = from <= (int)high;
	} else if (WSI_HAS(op, BFLY)) {
		from = (int)(lane ^ b);
		*ret_in_range = from <= (int)high;
	} else {
		from = (int)(low | (b & ~segment));
		*ret_in_range = from <= (int)high;
	}
	return *ret_in_range ? (unsigned)from : lane;
}

enum wsi_step wsi_run_shfl(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t scratch[3][4 * WSI_LANES], values[WSI_LANES], in_range = 0;
	const uint32_t *source[3];
	if (op->alu.n_sources != 3 || op->alu.n_results != 1 || op->alu.n_predicate_results != 1)
		return wsi_run_unimplemented(run, op);
	for (unsigned i = 0; i < 3; i++) {
		source[i] = wsi_sim_source(run, &op->alu.source[i], scratch[i]);
		if (!source[i])
			return WSI_STEP_FAULT;
	}
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		bool inside;
		unsigned from = shuffle_lane(op, lane, source[1][lane], source[2][lane], &inside);
		values[lane] = source[0][from];
		in_range |= inside ? 1u << lane : 0;
	}
	set_word(run, &op->alu.result[0], values);
	wsi_pred_set(run->warp, &op->alu.predicate_result[0], in_range, run->mask);
	return WSI_STEP_NEXT;
}

enum wsi_step wsi_run_vote(struct wsi_run *run, const struct wsi_op *op)
{
	if (op->alu.n_predicates != 1 || op->alu.n_results > 1)
		return wsi_run_unimplemented(run, op);
	uint32_t yes = wsi_pred_source(run, op, 0) & run->mask;
	bool outcome = yes != 0;
	if (WSI_HAS(op, ALL))
		outcome = yes == run->mask;
	else if (WSI_HAS(op, EQ))
		outcome = yes == run->mask || yes == 0;
	if (op->alu.n_results == 1)
		set_same(run, &op->alu.result[0], yes);
	for (unsigned i = 0; i < op->alu.n_predicate_results; i++)
		wsi_pred_set(run->warp, &op->alu.predicate_result[i], outcome ? UINT32_MAX : 0,
			     run->mask);
	return WSI_STEP_NEXT;
}

enum wsi_step wsi_run_match(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t scratch[4 * WSI_LANES], values[WSI_LANES] = { 0 }, all = 0;
	if (op->alu.n_sources != 1 || op->alu.n_results != 1)
		return wsi_run_unimplemented(run, op);
	const uint32_t *source = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!source)
		return WSI_STEP_FAULT;
	bool any = WSI_HAS(op, ANY), wide = op->alu.source[0].words == 2;
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint32_t same = 0;
		for (uint32_t others = run->mask; others; others &= others - 1) {
			unsigned other = wsi_first_bit(others);
			bool equal =
				source[lane] == source[other] &&
				(!wide || source[WSI_LANES + lane] == source[WSI_LANES + other]);
			same |= equal ? 1u << other : 0;
		}
		values[lane] = any || same == run->mask ? same : 0;
		all |= same == run->mask ? 1u << lane : 0;
	}
	set_word(run, &op->alu.result[0], values);
	for (unsigned i = 0; i < op->alu.n_predicate_results; i++)
		wsi_pred_set(run->warp, &op->alu.predicate_result[i], all, run->mask);
	return WSI_STEP_NEXT;
}

static uint32_t reduce(const struct wsi_op *op, uint32_t a, uint32_t b)
{
	bool is_signed = WSI_HAS(op, S32);
	bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
	if (WSI_HAS(op, OR))
		return a | b;
	if (WSI_HAS(op, XOR))
		return a ^ b;
	if (WSI_HAS(op, SUM))
		return a + b;
	if (WSI_HAS(op, MIN))
		return less ? a : b;
	if (WSI_HAS(op, MAX))
		return less ? b : a;
	return a & b;
}

/* wsi_op.type of a minimum or maximum of floats. */
enum { OF_GREATER = 1, OF_MAGNITUDES = 2, OF_NANS = 4 };

/* PTX, "redux.sync": a NaN is passed over, or (.NAN) is the result; -0 is less than +0. */
static uint32_t redux_extreme(const struct wsi_op *op, uint32_t a, uint32_t b)
{
	enum { INFINITY_BITS = 0x7f800000, CANONICAL = 0x7fffffff };
	const uint32_t sign = UINT32_C(0x80000000);
	bool a_nan = (a & ~sign) > INFINITY_BITS, b_nan = (b & ~sign) > INFINITY_BITS;
	if (a_nan || b_nan)
		return op->type & OF_NANS || (a_nan && b_nan) ? CANONICAL : a_nan ? b : a;
	uint32_t x = a & sign ? ~a : a | sign, y = b & sign ? ~b : b | sign;
	return (x < y) == !(op->type & OF_GREATER) ? a : b;
}

static enum wsi_step run_redux_float(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t scratch[4 * WSI_LANES];
	const uint32_t *source = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!source)
		return WSI_STEP_FAULT;
	uint32_t keep = op->type & OF_MAGNITUDES ? INT32_MAX : UINT32_MAX;
	uint32_t value = source[wsi_first_bit(run->mask)] & keep;
	for (uint32_t left = run->mask; left; left &= left - 1)
		value = redux_extreme(op, value, source[wsi_first_bit(left)] & keep);
	set_same(run, &op->alu.result[0], value);
	return WSI_STEP_NEXT;
}

void wsi_prepare_redux(struct wsi_op *op)
{
	const struct wsi_alu *alu = &op->alu;
	bool min_abs = ws_sass_has(&op->insn, WS_MOD_MINABS);
	bool max_abs = ws_sass_has(&op->insn, WS_MOD_MAXABS);
	bool nan = ws_sass_has(&op->insn, WS_MOD_NAN);
	bool ok = alu->n_sources == 1 && alu->n_results == 1 && alu->source[0].words == 1;
	if (ws_sass_has(&op->insn, WS_MOD_F32)) {
		bool min = min_abs || ws_sass_has(&op->insn, WS_MOD_MIN);
		bool max = max_abs || ws_sass_has(&op->insn, WS_MOD_MAX);
		op->type =
			(uint8_t)((max ? OF_GREATER : 0) |
				  (min_abs || max_abs ? OF_MAGNITUDES : 0) | (nan ? OF_NANS : 0));
		op->run = run_redux_float;
		ok &= min != max;
	} else {
		ok &= !nan && !min_abs && !max_abs;
	}
	if (!ok)
		op->run = wsi_run_unimplemented;
}

enum wsi_step wsi_run_redux(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t scratch[4 * WSI_LANES];
	const uint32_t *source = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!source)
		return WSI_STEP_FAULT;
	uint32_t value = source[wsi_first_bit(run->mask)];
	for (uint32_t left = run->mask & (run->mask - 1); left; left &= left - 1)
		value = reduce(op, value, source[wsi_first_bit(left)]);
	set_same(run, &op->alu.result[0], value);
	return WSI_STEP_NEXT;
}

void wsi_prepare_to_uniform(struct wsi_op *op)
{
	if (op->alu.n_sources != 1 || op->alu.n_results != 1 || op->alu.source[0].words != 1 ||
	    ws_sass_has(&op->insn, WS_MOD_FILL))
		op->run = wsi_run_unimplemented;
}

enum wsi_step wsi_run_to_uniform(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t scratch[4 * WSI_LANES];
	const uint32_t *source = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!source)
		return WSI_STEP_FAULT;
	set_word(run, &op->alu.result[0], source);
	/* with a predicate: which lanes have another value than the one that was taken, or (OR)
	 * have had so before: a loop takes values of several registers, for some lanes at a time */
	uint32_t first = source[wsi_first_bit(run->mask)], other = 0;
	for (uint32_t left = run->mask; left; left &= left - 1)
		other |= source[wsi_first_bit(left)] != first ? left & -left : 0;
	for (unsigned i = 0; i < op->alu.n_predicate_results; i++) {
		const struct wsi_alu_predicate *to = &op->alu.predicate_result[i];
		uint32_t before = WSI_HAS(op, OR) ? wsi_pred_mask(run->warp, to) : 0;
		wsi_pred_set(run->warp, to, other | before, run->mask);
	}
	return WSI_STEP_NEXT;
}

/* Of the lanes that a predicate or a word of bits names. */
enum wsi_step wsi_run_elect(struct wsi_run *run, const struct wsi_op *op)
{
	if (op->alu.n_predicates + op->alu.n_sources != 1 || op->alu.n_predicate_results != 1 ||
	    op->alu.n_results != 1)
		return wsi_run_unimplemented(run, op);
	uint32_t members = run->mask;
	if (op->alu.n_predicates) {
		members &= wsi_pred_source(run, op, 0);
	} else {
		uint32_t scratch[4 * WSI_LANES];
		const uint32_t *source = wsi_sim_source(run, &op->alu.source[0], scratch);
		if (!source)
			return WSI_STEP_FAULT;
		members &= source[0] ^ op->alu.flip[0];
	}
	unsigned leader = wsi_first_bit(members);
	set_same(run, &op->alu.result[0], leader);
	wsi_pred_set(run->warp, &op->alu.predicate_result[0], members ? 1u << leader : 0,
		     run->mask);
	return WSI_STEP_NEXT;
}

/* ---- special registers ---- */

/* Lanes of a mask register, or false: not one of those. */
static bool lane_mask(unsigned number, unsigned lane, uint32_t *ret_value)
{
	uint32_t below = (1u << lane) - 1, own = 1u << lane;
	switch (number) {
	case WS_SR_EQMASK:
		*ret_value = own;
		return true;
	case WS_SR_LTMASK:
		*ret_value = below;
		return true;
	case WS_SR_LEMASK:
		*ret_value = below | own;
		return true;
	case WS_SR_GTMASK:
		*ret_value = ~(below | own);
		return true;
	case WS_SR_GEMASK:
		*ret_value = ~below;
		return true;
	default:
		return false;
	}
}

/* Whether its cluster is of the preferred size, not of the regular one. */
static bool is_preferred(const struct wsi_block *block)
{
	struct ws_dim3 c = block->cluster_dim, regular = block->grid->cluster;
	return c.x != regular.x || c.y != regular.y || c.z != regular.z;
}

/* The thread's place in its block and its grid, or false. */
static bool thread_place(const struct wsi_warp *warp, unsigned number, unsigned lane,
			 uint32_t *ret_value)
{
	const struct wsi_block *block = warp->block;
	struct ws_dim3 dim = block->grid->block;
	uint32_t thread = warp->id * WSI_LANES + lane;
	uint32_t x = thread % dim.x, y = thread / dim.x % dim.y, z = thread / dim.x / dim.y;
	switch (number) {
	case WS_SR_TID:
		*ret_value = x | y << 16 | z << 26;
		return true;
	case WS_SR_TID_X:
		*ret_value = x;
		return true;
	case WS_SR_TID_Y:
		*ret_value = y;
		return true;
	case WS_SR_TID_Z:
		*ret_value = z;
		return true;
	case WS_SR_CTAID_X:
		*ret_value = block->idx.x;
		return true;
	case WS_SR_CTAID_Y:
		*ret_value = block->idx.y;
		return true;
	case WS_SR_CTAID_Z:
		*ret_value = block->idx.z;
		return true;
	case WS_SR_NTID:
		*ret_value = dim.x | dim.y << 16 | dim.z << 26;
		return true;
	case WS_SR_CgaCtaId:
		*ret_value = block->rank;
		return true;
	case WS_SR_CgaSize: /* which of the words of bank 0 are this block's [guess: from its uses]
			     */
		*ret_value = is_preferred(block);
		return true;
	default:
		return false;
	}
}

/* What the device says of itself, or false. One instruction takes one nanosecond and one cycle. */
static bool machine_fact(const struct wsi_run *run, unsigned number, uint32_t *ret_value)
{
	const struct ws_sim *sim = run->sim;
	const struct wsi_block *block = run->warp->block;
	uint64_t now = sim->instructions;
	switch (number) {
	case WS_SR_VIRTID:
		*ret_value = block->sm << 20 | run->warp->slot << 8;
		return true;
	case WS_SR_VIRTUALSMID:
		*ret_value = block->sm;
		return true;
	case WS_SR_VIRTCFG: /* for %nwarpid; what else is there is not known */
		*ret_value = sim->device->warps << 8;
		return true;
	case WS_SR_SWINHI:
		*ret_value = (uint32_t)(WSI_SHARED_WINDOW >> 32);
		return true;
	case WS_SR_LWINHI:
		*ret_value = (uint32_t)(WSI_LOCAL_WINDOW >> 32);
		return true;
	case WS_SR_SMEMSZ:
		*ret_value = wsi_shared_size(run->sim, block->grid) +
			     wsi_shared_reserved(run->sim, block->grid);
		return true;
	case WS_SR_LMEMLOSZ:
		*ret_value = block->grid->local_bytes;
		return true;
	case WS_SR_CLOCKLO:
	case WS_SR_GLOBALTIMERLO:
		*ret_value = (uint32_t)now;
		return true;
	case WS_SR_CLOCKHI:
	case WS_SR_GLOBALTIMERHI:
		*ret_value = (uint32_t)(now >> 32);
		return true;
	case WS_SR_LMEMHIOFF: /* the end of the stack: only compared with, in -G code */
	case WS_SR_SWINLO:
	case WS_SR_LWINLO:
	case WS_SRZ:
		*ret_value = 0;
		return true;
	default:
		return false;
	}
}

static bool special(const struct wsi_run *run, unsigned number, unsigned lane, uint32_t *ret_value)
{
	*ret_value = lane;
	return number == WS_SR_LANEID || lane_mask(number, lane, ret_value) ||
	       thread_place(run->warp, number, lane, ret_value) ||
	       machine_fact(run, number, ret_value);
}

enum wsi_step wsi_run_special(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t values[WSI_LANES];
	const struct wsi_alu_value *to = &op->alu.result[0];
	if (op->alu.n_sources != 1 || op->alu.n_results != 1 || to->words > 2)
		return wsi_run_unimplemented(run, op);
	for (unsigned word = 0; word < to->words; word++) {
		unsigned number = (unsigned)op->alu.source[0].value;
		number += number == WS_SRZ ? 0 : word;
		for (unsigned lane = 0; lane < WSI_LANES; lane++)
			if (!special(run, number, lane, &values[lane]))
				return wsi_run_unimplemented(run, op);
		struct wsi_alu_value part = *to;
		part.number = (uint8_t)(to->number == 255 ? 255 : to->number + word);
		set_word(run, &part, values);
	}
	return WSI_STEP_NEXT;
}
