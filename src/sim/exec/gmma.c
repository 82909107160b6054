/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices that four warps hold together (PTX: wgmma), D = A * B + D. Each warp makes
 * its 16 rows when it executes the instruction; at WARPGROUP.DEPBAR it waits until the others have
 * made theirs, since shared memory may change afterwards.
 */
#include "alu/matrix.h"
#include "sim/exec/matrix.h"

enum { WARPS = 4, ROWS = 16, MOST_COLUMNS = 256, BYTES_OF_A = 32 };

/* wsi_op.kind: 0, or one more than the thread of four that has the first places of a sparse A. */

/* wsi_op.type */
enum {
	A_IN_REGISTERS = 1,
	A_BY_ROWS = 2,
	B_BY_ROWS = 4,
	NEGATES = 8,
	HALVES = 16,
	INTEGERS = 32,
	SATURATES = 64,
	COMMITS = 128
};

/* The accumulators' place among the sources: behind A, if that is in registers. */
static unsigned first_source(const struct wsi_op *op)
{
	return op->type & A_IN_REGISTERS ? 1 : 0;
}

/* A register has elements beside each other along the depth; registers take turns between the
 * upper and the lower eight rows, as with mma. */
static void take_registers(const struct wsi_run *run, const struct wsi_op *op,
			   const struct wsi_matrix *m, double (*to)[WSI_MATRIX_DEPTH])
{
	unsigned n = 32 / m->bits;
	uint8_t number = op->alu.source[0].number;
	for (unsigned lane = 0; lane < WSI_LANES; lane++)
		for (unsigned r = 0; r < 4; r++)
			for (unsigned j = 0; j < n; j++) {
				uint32_t word =
					number == 255 ? 0 : wsi_reg(run->warp, number + r)[lane];
				uint64_t bits =
					word >> j * m->bits & ((UINT64_C(1) << m->bits) - 1);
				to[lane / 4 + 8 * (r % 2)][(r / 2 * 4 + lane % 4) * n + j] =
					wsi_alu_matrix_value(m->type, (uint32_t)bits);
			}
}

/* Of a sparse A what is there goes to its places. */
static void spread_sparse_a(const struct wsi_run *run, const struct wsi_op *op, unsigned bits,
			    unsigned depth, double (*a)[WSI_MATRIX_DEPTH])
{
	uint8_t number = op->alu.source[first_source(op) + 1].number;
	const uint32_t zeros[WSI_LANES] = { 0 },
		       *words = number == 255 ? zeros : wsi_reg(run->warp, number);
	for (unsigned row = 0; row < ROWS; row++) {
		double dense[WSI_MATRIX_DEPTH] = { 0 };
		for (unsigned k = 0; k < depth / 2; k++)
			dense[wsi_alu_matrix_dense_place(bits, words, op->kind - 1u, row, k)] =
				a[row][k];
		memcpy(a[row], dense, sizeof dense);
	}
}

/* ---- the accumulators ---- */

/* Element i of a lane: two columns, two rows eight apart, then the next eight columns. */
static double gmma_element_before(const struct wsi_run *run, const struct wsi_op *op, unsigned lane,
				  unsigned i)
{
	const struct wsi_alu_value *c = &op->alu.source[first_source(op)];
	if (c->number == 255)
		return 0;
	uint32_t word = wsi_reg(run->warp, c->number + (op->type & HALVES ? i / 2 : i))[lane];
	if (op->type & INTEGERS)
		return (int32_t)word;
	if (op->type & HALVES)
		return wsi_alu_matrix_value(WS_MOD_F16, word >> i % 2 * 16 & 0xffff);
	float value;
	memcpy(&value, &word, sizeof value);
	return value;
}

static uint32_t integer_of(const struct wsi_op *op, double sum)
{
	if (op->type & SATURATES)
		return (uint32_t)(int32_t)(sum > INT32_MAX   ? INT32_MAX
					   : sum < INT32_MIN ? INT32_MIN
							     : sum);
	return (uint32_t)(int64_t)sum;
}

static void put_gmma_element(struct wsi_run *run, const struct wsi_op *op, unsigned lane,
			     unsigned i, double sum)
{
	unsigned shift = op->type & HALVES ? i % 2 * 16 : 0;
	uint8_t number = op->alu.result[0].number;
	if (number == 255)
		return;
	uint32_t *word = &wsi_reg(run->warp, number + (op->type & HALVES ? i / 2 : i))[lane];
	if (op->type & INTEGERS)
		*word = integer_of(op, sum);
	else if (op->type & HALVES)
		*word = (*word & ~(UINT32_C(0xffff) << shift)) | wsi_alu_matrix_half(sum) << shift;
	else
		*word = wsi_alu_matrix_single(sum);
}

/* ---- the instruction ---- */

/* The types of A and B by the order of the name; one stands for both. */
static bool take_gmma_types(const struct wsi_op *op, enum ws_modifier *ret_a,
			    enum ws_modifier *ret_b)
{
	if (op->insn.operation == WS_OP_BGMMA) { /* 32 elements of one bit at a time */
		*ret_a = *ret_b = WS_MOD_U32;
		return ws_sass_has(&op->insn, WS_MOD_AND) && ws_sass_has(&op->insn, WS_MOD_POPC);
	}
	static const enum ws_modifier all[] = { WS_MOD_BF16, WS_MOD_TF32, WS_MOD_E4M3,
						WS_MOD_E5M2, WS_MOD_U8,   WS_MOD_S8 };
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	size_t n = ws_sass_modifiers(&op->insn, mods, WSI_COUNT(mods)), found = 0;
	*ret_a = *ret_b = WS_MOD_F16;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < WSI_COUNT(all); k++)
			if (mods[i] == all[k]) {
				*(found == 0 ? ret_a : ret_b) = mods[i];
				found++;
			}
	if (found == 1)
		*ret_b = *ret_a;
	return found <= 2;
}

/* The descriptors' registers and what is said of them. */
static bool take_descriptors(struct wsi_op *op)
{
	struct ws_operand list[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(&op->insn, 0, list, WSI_COUNT(list));
	for (size_t i = 0; i < n; i++) {
		if (list[i].role != WS_ROLE_DESCRIPTOR)
			continue;
		op->at[0].ureg = (uint8_t)list[i].number;
		for (size_t k = 0; k < WSI_COUNT(list[i].suffix); k++) {
			enum ws_modifier suffix = (enum ws_modifier)list[i].suffix[k];
			if (suffix == WS_MOD_tnspA)
				op->type |= A_BY_ROWS;
			else if (suffix == WS_MOD_tnspB)
				op->type |= B_BY_ROWS;
			else if (suffix == WS_MOD_negA || suffix == WS_MOD_negB)
				op->type ^= NEGATES;
			else if (suffix != WS_MOD_NONE)
				return false;
		}
		return list[i].number != 255 || op->alu.result[0].number == 255;
	}
	return false;
}

void wsi_prepare_group_matrix(struct wsi_op *op)
{
	const struct ws_insn *insn = &op->insn;
	const struct wsi_alu *alu = &op->alu;
	enum ws_modifier a, b;
	bool sparse = ws_sass_has(insn, WS_MOD_SP);
	unsigned n = alu->n_sources;
	uint64_t which = 0;
	if (sparse && n > 0 && alu->source[n - 1].place == WSI_ALU_NUMBER)
		which = alu->source[--n].value;
	n -= sparse && n > 0 ? 1 : 0; /* the places */
	bool ok = alu->n_results == 1 && n >= 1 && n <= 2 && alu->n_predicates <= 1 &&
		  !ws_sass_has(insn, WS_MOD_REGOFFSET);
	op->type =
		(n == 2 ? A_IN_REGISTERS : 0) | (ws_sass_has(insn, WS_MOD_SAT) ? SATURATES : 0) |
		(insn->operation == WS_OP_IGMMA || insn->operation == WS_OP_BGMMA ? INTEGERS : 0);
	if (n == 2 && alu->flip[0])
		op->type |= NEGATES;
	if (!(op->type & INTEGERS) && !ws_sass_has(insn, WS_MOD_F32))
		op->type |= HALVES;
	/* bits 84 to 86 name the barrier that ends a group; the table does not list it */
	op->type |= (insn->word[1] >> 20 & 7) != 7 ? COMMITS : 0;
	ok = ok && take_descriptors(op) && take_gmma_types(op, &a, &b);
	ok = ok && (!(op->type & (A_BY_ROWS | B_BY_ROWS)) || (a == WS_MOD_F16 || a == WS_MOD_BF16));
	ok = ok && alu->source[n - 1].words == alu->result[0].words;
	ok = ok && (n == 1 || alu->source[0].words == 4);
	ok = ok && alu->result[0].place == WSI_ALU_REG && alu->source[0].place == WSI_ALU_REG;
	/* of bytes all four threads have places, of others the first two or the last */
	bool bytes = ok && (insn->operation == WS_OP_IGMMA || insn->operation == WS_OP_QGMMA);
	op->kind = sparse ? (uint8_t)(1 + 2 * which) : 0;
	ok = ok && which <= (bytes ? 0 : 1) &&
	     (!sparse || (alu->source[n].words == 1 && alu->source[n].place == WSI_ALU_REG));
	if (!ok)
		op->run = wsi_run_unimplemented;
}

/* `depth` is that of B. */
static bool take_a(struct wsi_run *run, const struct wsi_op *op, enum ws_modifier type,
		   unsigned depth, double (*to)[WSI_MATRIX_DEPTH], bool *ret_known)
{
	struct wsi_matrix m = { .by_rows = op->type & A_BY_ROWS };
	wsi_matrix_type(&m, type);
	*ret_known = true;
	if (op->type & A_IN_REGISTERS) {
		take_registers(run, op, &m, to);
	} else {
		*ret_known = wsi_matrix_describe(&m, wsi_ureg64(run->warp, op->at[0].ureg));
		if (!*ret_known ||
		    !wsi_matrix_load(run, &m, run->warp->block, run->warp->id % WARPS * ROWS, ROWS,
				     op->kind ? depth / 2 : depth, to))
			return false;
	}
	if (op->kind)
		spread_sparse_a(run, op, m.bits, depth, to);
	return true;
}

/* Products of numbers; of words, how many bits they have in common. */
static double gmma_multiply(const struct wsi_op *op, double a, double b)
{
	if (op->insn.operation == WS_OP_BGMMA)
		return wsi_count_bits((uint32_t)a & (uint32_t)b);
	return (op->type & NEGATES ? -a : a) * b;
}

enum wsi_step wsi_run_group_matrix(struct wsi_run *run, const struct wsi_op *op)
{
	double a[ROWS][WSI_MATRIX_DEPTH], b[MOST_COLUMNS][WSI_MATRIX_DEPTH];
	enum ws_modifier type, type_b;
	struct wsi_matrix m = { .by_rows = op->type & B_BY_ROWS };
	unsigned elements = op->alu.result[0].words * (op->type & HALVES ? 2u : 1u);
	bool known, adds = op->alu.n_predicates == 0 || (wsi_pred_source(run, op, 0) & run->mask);
	if (run->mask != UINT32_MAX)
		return wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, run->mask,
				 "a matrix product by a part of a warp");
	run->warp->groups += op->type & COMMITS ? 1 : 0;
	if (op->alu.result[0].number == 255) /* only ends a group */
		return WSI_STEP_NEXT;
	if (op->at[0].ureg + 4u > run->sim->device->uregs || elements > MOST_COLUMNS / 2 ||
	    !take_gmma_types(op, &type, &type_b))
		return wsi_run_unimplemented(run, op);
	wsi_matrix_type(&m, type_b);
	unsigned depth = BYTES_OF_A * 8 / m.bits * (op->kind ? 2 : 1), columns = elements * 2;
	if (!take_a(run, op, type, depth, a, &known))
		return known ? wsi_fault_together(run) : wsi_run_unimplemented(run, op);
	if (!wsi_matrix_describe(&m, wsi_ureg64(run->warp, op->at[0].ureg + 2u)))
		return wsi_run_unimplemented(run, op);
	if (!wsi_matrix_load(run, &m, run->warp->block, 0, columns, depth, b))
		return wsi_fault_together(run);
	wsi_labor(run, (uint64_t)ROWS * columns * depth / 4);
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		for (unsigned i = 0; i < elements; i++) {
			unsigned row = lane / 4 + i / 2 % 2 * 8;
			unsigned column = i / 4 * 8 + lane % 4 * 2 + i % 2;
			double sum = adds ? gmma_element_before(run, op, lane, i) : 0;
			for (unsigned k = 0; k < depth; k++)
				sum += gmma_multiply(op, a[row][k], b[column][k]);
			put_gmma_element(run, op, lane, i, sum);
		}
	}
	return WSI_STEP_NEXT;
}

/* ARRIVE orders registers, which are in order; DEPBAR waits until at most so many groups of
 * products are not done by all four warps. */
void wsi_prepare_group(struct wsi_op *op)
{
	bool waits = ws_sass_has(&op->insn, WS_MOD_DEPBAR);
	if (ws_sass_has(&op->insn, WS_MOD_ARRIVE))
		op->run = wsi_run_nothing;
	else if (!waits || op->alu.n_sources != 1 || op->alu.source[0].place != WSI_ALU_NUMBER)
		op->run = wsi_run_unimplemented;
}

enum wsi_step wsi_run_group_wait(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	const struct wsi_block *block = warp->block;
	uint64_t open = op->alu.source[0].value;
	uint64_t need = warp->groups > open ? warp->groups - open : 0;
	for (uint32_t i = warp->id / WARPS * WARPS;
	     i < block->n_warps && i / WARPS == warp->id / WARPS; i++) {
		if (block->warps[i]->live == 0 || block->warps[i]->groups >= need)
			continue;
		warp->grouped |= run->mask;
		run->pc -= WS_SASS_BYTES; /* once more, when others have run */
		return WSI_STEP_YIELD;
	}
	return WSI_STEP_NEXT;
}
