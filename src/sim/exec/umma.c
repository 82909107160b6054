/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices into tensor memory (PTX: tcgen05.mma), D = A * B + D: A of M rows and B of N
 * columns in shared memory, or A in tensor memory. One block makes it, or a pair of blocks, each of
 * which has its half of A's rows and of B's columns, and makes its rows of D. A sparse A is dense
 * from where it is loaded on.
 *
 * [public doc: PTX ISA, tcgen05 instruction descriptor, data path layouts, scale factor layouts;
 * places of a sparse A: CUTLASS, tmem_e_frg]
 */
#include "alu/matrix.h"
#include "objects/product.h"
#include "sim/exec/matrix.h"
#include "sim/exec/tmem.h"

enum { MOST_ROWS = 128, MOST_COLUMNS = 256, DEPTH_BYTES = 32 };

/* Registers, in the order of the text. */
enum { A, B, D, META, DESCRIPTOR, EXTRA };

enum { MASK_WORDS = 4 };

/* wsi_op.kind: the power of two by which the old D is divided. wsi_op.type: */
enum {
	A_IN_TENSOR = 1,
	PAIR = 2,
	WARPS_APART = 4,
	SCALES = 8,
	LANES_LEFT_OUT = 16,
	FOURFOLD = 32,
	COLUMNS_LEFT_OUT = 64
};

struct product {
	unsigned m, n, depth; /* of all blocks together; of a sparse A the whole depth */
	bool sparse;
	unsigned selector; /* column of the places, from the address on */
	unsigned n_blocks, rows;
	bool halves; /* elements of D; else single precision, or integers */
	bool negated;
	unsigned scale_block;      /* elements along the depth with one factor; 0: none */
	unsigned first_a, first_b; /* byte of the first factor in its cell */
	bool exponents;            /* factors are powers of two; else numbers of 8 bits */
	struct wsi_matrix a, b;
	uint32_t lanes_left_out[2][MASK_WORDS];
	double value_a[MOST_ROWS][WSI_MATRIX_DEPTH], value_b[MOST_COLUMNS][WSI_MATRIX_DEPTH];
};

void wsi_prepare_tmem_matrix(struct wsi_op *op)
{
	const struct ws_insn *insn = &op->insn;
	const struct wsi_alu *alu = &op->alu;
	struct ws_operand list[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(insn, 0, list, WSI_COUNT(list));
	bool more = alu->n_sources == EXTRA + 1;
	bool scales = more && (insn->operation == WS_OP_UTCOMMA ||
			       (insn->operation == WS_OP_UTCQMMA && alu->source[EXTRA].words == 2));
	op->type =
		(n > 0 && list[0].role == WS_ROLE_ADDRESS_BASE ? A_IN_TENSOR : 0) |
		(ws_sass_has(insn, WS_MOD_2CTA) ? PAIR : 0) |
		(ws_sass_has(insn, WS_MOD_WS) ? WARPS_APART : 0) | (scales ? SCALES : 0) |
		(more && !scales ? ws_sass_has(insn, WS_MOD_WS) ? COLUMNS_LEFT_OUT : LANES_LEFT_OUT
				 : 0) |
		(ws_sass_has(insn, WS_MOD_4X) ? FOURFOLD : 0);
	op->kind = 0;
	for (size_t i = 0; i < n; i++)
		if (list[i].kind == WS_OPERAND_IMMEDIATE && list[i].role == WS_ROLE_READ)
			op->kind = (uint8_t)list[i].value;
	if (alu->n_predicates != 1 || alu->n_sources < EXTRA || alu->n_sources > EXTRA + 1 ||
	    ws_sass_has(insn, WS_MOD_ASHIFT) || ws_sass_has(insn, WS_MOD_BLOCK16) ||
	    (op->type & LANES_LEFT_OUT && op->type & WARPS_APART))
		op->run = wsi_run_unimplemented;
}

/* ---- what the descriptor says ---- */

/* Elements of fewer than 8 bits have a place of 8 bits each where types may be mixed: the first
 * bytes of each piece. */
static void set_type(const struct wsi_op *op, struct wsi_matrix *m, enum ws_modifier type)
{
	wsi_matrix_type(m, type);
	if (op->insn.operation == WS_OP_UTCQMMA)
		m->piece = WSI_MATRIX_PIECE;
}

/* NULL, or what is wrong. `*ret_known`: it is not wrong, but not implemented. */
static const char *take_descriptor(const struct wsi_op *op, uint32_t d, struct product *p,
				   bool *ret_known)
{
	enum ws_operation operation = (enum ws_operation)op->insn.operation;
	struct wsi_product asked;
	const char *wrong =
		wsi_product_decode(operation, op->type & PAIR, op->type & WARPS_APART, d, &asked);
	if (wrong)
		return wrong;
	p->m = asked.m;
	p->n = asked.n;
	p->n_blocks = op->type & PAIR ? 2 : 1;
	p->rows = p->m / p->n_blocks;
	p->negated = (d >> 13 & 1) != (d >> 14 & 1);
	p->a.by_rows = d >> 15 & 1;
	p->b.by_rows = d >> 16 & 1;
	set_type(op, &p->a, asked.type_a);
	set_type(op, &p->b, asked.type_b);
	if ((p->a.by_rows && p->a.bits < 8) || (p->b.by_rows && p->b.bits < 8))
		return "a transposed matrix of elements of less than 8 bits";
	p->depth =
		operation == WS_OP_UTCOMMA ? 64 : DEPTH_BYTES * 8 / (p->a.bits < 8 ? 8 : p->a.bits);
	p->sparse = d >> 2 & 1;
	p->selector = d & 3;
	p->depth *= p->sparse ? 2 : 1;
	*ret_known = (!p->sparse ||
		      (p->rows == MOST_ROWS && p->selector <= (p->a.bits >= 16 ? 1u : 0u))) &&
		     !((p->a.by_rows || p->b.by_rows) && p->a.bits == 32) &&
		     !(op->type & A_IN_TENSOR && (p->a.bits < 8 && operation == WS_OP_UTCQMMA));
	if (!(op->type & SCALES)) {
		unsigned wanted = operation == WS_OP_UTCIMMA ? 2 : 1, format = d >> 4 & 3;
		p->halves = format == 0 && (operation != WS_OP_UTCIMMA) && p->a.bits <= 16;
		return p->halves || format == wanted ? NULL : "type of D";
	}
	p->scale_block = (op->type & FOURFOLD ? 16u : 32u) * (p->sparse ? 2 : 1);
	p->first_b = d >> 4 & 3;
	p->first_a = d >> 29 & 3;
	p->exponents = d >> 23 & 1;
	*ret_known &= p->rows == MOST_ROWS && !(d >> 31);
	unsigned factors = p->depth / p->scale_block;
	if (p->first_a % factors != 0 || p->first_b % factors != 0)
		return "place of the scale factors";
	return p->exponents || op->type & FOURFOLD ? NULL : "type of the scale factors";
}

/* ---- tensor memory ---- */

/* Where an element of D is, or a row of A: by the rows that a block makes. */
static void element_place_of(const struct wsi_op *op, const struct product *p, unsigned row,
			     unsigned column, uint32_t *ret_lane, uint32_t *ret_column)
{
	unsigned parts = p->rows == MOST_ROWS              ? 1
			 : op->type & (PAIR | WARPS_APART) ? MOST_ROWS / p->rows
							   : 1;
	*ret_lane = parts > 1 ? row + column / (p->n / parts) * p->rows : row;
	*ret_column = parts > 1 ? column % (p->n / parts) : column;
	if (parts == 1 && p->rows < MOST_ROWS) /* 16 rows in each quarter of the lanes */
		*ret_lane = row % 16 + row / 16 * 32;
}

/* Elements of a row of A that are there. */
static unsigned stored(const struct product *p)
{
	return p->sparse ? p->depth / 2 : p->depth;
}

static bool load_a_from_tensor(struct wsi_run *run, const struct wsi_op *op, struct product *p,
			       const struct wsi_block *block)
{
	uint32_t address = wsi_ureg(run->warp, op->alu.source[A].number);
	unsigned n = 32 / p->a.bits;
	for (unsigned row = 0; row < p->rows; row++) {
		uint32_t lane, column;
		element_place_of(op, p, row, 0, &lane, &column);
		for (unsigned k = 0; k < stored(p); k++) {
			uint32_t *cell = wsi_tmem_cell(run, block, (address >> 16) + lane,
						       (address & 0xffff) + k / n);
			if (!cell)
				return false;
			uint64_t bits =
				*cell >> k % n * p->a.bits & ((UINT64_C(1) << p->a.bits) - 1);
			p->value_a[row][k] = wsi_alu_matrix_value(p->a.type, (uint32_t)bits);
		}
	}
	return true;
}

/*
 * Where element k of a row of a sparse A is along the depth: one of two with 32 bits, two of four
 * with 16 and 8, two pairs of four with 4, where two have a byte. Of 32 and 16 bits, 16 bits of a
 * cell are about one row. False: the fault is recorded.
 */
static bool sparse_depth_place(struct wsi_run *run, const struct wsi_op *op,
			       const struct product *p, const struct wsi_block *block, unsigned row,
			       unsigned k, unsigned *ret_place)
{
	uint32_t address = wsi_ureg(run->warp, op->alu.source[META].number);
	unsigned unit = op->insn.operation == WS_OP_UTCOMMA ? 2 : 1, at = k / unit;
	unsigned lane = row, column = at / 16, bit = at % 16 * 2;
	if (p->a.bits >= 16) {
		unsigned n = p->a.bits == 16 ? 8 : 4;
		lane = row % 8 + k / n * 8 + row / 16 * 16;
		column = p->selector;
		bit = row / 8 % 2 * 16 + k % n * (16 / n);
	}
	uint32_t *cell =
		wsi_tmem_cell(run, block, (address >> 16) + lane, (address & 0xffff) + column);
	if (!cell)
		return false;
	uint32_t code = *cell >> bit;
	*ret_place = p->a.bits == 32 ? 2 * k + (code >> 1 & 1)
				     : (at / 2 * 4 + (code & 3)) * unit + k % unit;
	return true;
}

/* Moves the elements of a sparse A to their places. */
static bool spread_sparse_rows(struct wsi_run *run, const struct wsi_op *op, struct product *p,
			       const struct wsi_block *block)
{
	for (unsigned row = 0; row < p->rows; row++) {
		double values[WSI_MATRIX_DEPTH / 2];
		memcpy(values, p->value_a[row], stored(p) * sizeof *values);
		memset(p->value_a[row], 0, p->depth * sizeof *values);
		for (unsigned k = 0; k < stored(p); k++) {
			unsigned to;
			if (!sparse_depth_place(run, op, p, block, row, k, &to))
				return false;
			p->value_a[row][to] = values[k];
		}
	}
	return true;
}

/* Multiplies values by their factors: a cell has up to four, for one row or column. Rows lie in 32
 * lanes, and in a column for every 32 of them. */
static bool scale_block_values(struct wsi_run *run, const struct product *p,
			       const struct wsi_block *block, uint32_t address, unsigned first,
			       unsigned rows, double (*values)[WSI_MATRIX_DEPTH])
{
	for (unsigned row = 0; row < rows; row++) {
		uint32_t *cell = wsi_tmem_cell(run, block, (address >> 16 & 0x3fff) + row % 32,
					       (address & 0xffff) + row / 32);
		if (!cell)
			return false;
		for (unsigned k = 0; k < p->depth; k++) {
			uint32_t bits = *cell >> (first + k / p->scale_block) * 8 & 0xff;
			values[row][k] *= p->exponents
						  ? wsi_alu_matrix_power(bits)
						  : wsi_alu_matrix_value(WS_MOD_E4M3, bits & 0x7f);
		}
	}
	return true;
}

/* ---- the product ---- */

/* The old value of a cell of D, divided by a power of two. */
static double umma_cell_before(const struct wsi_op *op, const struct product *p, uint32_t cell)
{
	float value;
	if (op->insn.operation == WS_OP_UTCIMMA)
		return (int32_t)cell;
	memcpy(&value, &cell, sizeof value);
	double old = p->halves ? wsi_alu_matrix_value(WS_MOD_F16, cell & 0xffff) : value;
	return old / (UINT32_C(1) << op->kind);
}

static uint32_t after(const struct wsi_op *op, const struct product *p, bool saturates, double sum)
{
	if (op->insn.operation != WS_OP_UTCIMMA)
		return p->halves ? wsi_alu_matrix_half(sum) : wsi_alu_matrix_single(sum);
	if (saturates)
		sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
	return (uint32_t)(int64_t)sum;
}

/* One block's rows. */
static bool umma_multiply(struct wsi_run *run, const struct wsi_op *op, const struct product *p,
			  const struct wsi_block *block, const uint32_t *left_out, bool adds)
{
	uint32_t address = wsi_ureg(run->warp, op->alu.source[D].number);
	bool saturates = wsi_ureg(run->warp, op->alu.source[DESCRIPTOR].number) >> 3 & 1;
	for (unsigned row = 0; row < p->rows; row++) {
		for (unsigned column = 0; column < p->n; column++) {
			uint32_t lane, at;
			element_place_of(op, p, row, column, &lane, &at);
			lane += address >> 16;
			uint32_t *cell = wsi_tmem_cell(run, block, lane, (address & 0xffff) + at);
			if (!cell)
				return false;
			if (left_out[lane / 32] >> lane % 32 & 1)
				continue;
			double sum = 0;
			for (unsigned k = 0; k < p->depth; k++)
				sum += p->value_a[row][k] * p->value_b[column][k];
			sum = p->negated ? -sum : sum;
			*cell = after(op, p, saturates,
				      sum + (adds ? umma_cell_before(op, p, *cell) : 0));
		}
	}
	return true;
}

/* B of all blocks, with its scale factors as one of them has them. */
static bool load_b(struct wsi_run *run, const struct wsi_op *op, struct product *p,
		   struct wsi_block *const *blocks)
{
	unsigned columns = p->n / p->n_blocks;
	for (unsigned i = 0; i < p->n_blocks; i++)
		if (!wsi_matrix_load(run, &p->b, blocks[i], 0, columns, p->depth,
				     p->value_b + (size_t)i * columns))
			return false;
	return !p->scale_block ||
	       scale_block_values(run, p, blocks[0],
				  wsi_ureg(run->warp, op->alu.source[EXTRA].number + 1u),
				  p->first_b, p->n, p->value_b);
}

static bool load_a(struct wsi_run *run, const struct wsi_op *op, struct product *p,
		   const struct wsi_block *block)
{
	if (op->type & A_IN_TENSOR
		    ? !load_a_from_tensor(run, op, p, block)
		    : !wsi_matrix_load(run, &p->a, block, 0, p->rows, stored(p), p->value_a))
		return false;
	if (p->sparse && !spread_sparse_rows(run, op, p, block))
		return false;
	return !p->scale_block ||
	       scale_block_values(run, p, block, wsi_ureg(run->warp, op->alu.source[EXTRA].number),
				  p->first_a, p->rows, p->value_a);
}

enum wsi_step wsi_run_tmem_matrix(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	const struct wsi_alu *alu = &op->alu;
	uint32_t descriptor = wsi_ureg(warp, alu->source[DESCRIPTOR].number);
	bool adds = wsi_pred_source(run, op, 0) & run->mask, known = true;
	struct wsi_block *blocks[2];
	wsi_scoped_free struct product *p = wsi_zalloc(sizeof *p);
	run->no_memory |= !p;
	if (!p)
		return WSI_STEP_FAULT;
	const char *wrong = take_descriptor(op, descriptor, p, &known);
	if (wrong)
		return wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTRUCTION, run->mask,
				 "instruction descriptor 0x%08x: %s", descriptor, wrong);
	known &= wsi_matrix_describe(&p->b, wsi_ureg64(warp, alu->source[B].number));
	if (!(op->type & A_IN_TENSOR))
		known &= wsi_matrix_describe(&p->a, wsi_ureg64(warp, alu->source[A].number));
	unsigned masks = op->type & LANES_LEFT_OUT     ? MASK_WORDS * p->n_blocks
			 : op->type & COLUMNS_LEFT_OUT ? 2
						       : 0;
	known &= masks == 0 || alu->source[EXTRA].number + masks <= run->sim->device->uregs;
	if (known && op->type & COLUMNS_LEFT_OUT) /* 0: none of them */
		known = wsi_ureg64(warp, alu->source[EXTRA].number) == 0;
	if (!known)
		return wsi_run_unimplemented(run, op);
	for (unsigned i = 0; i < masks && op->type & LANES_LEFT_OUT; i++)
		p->lanes_left_out[i / MASK_WORDS][i % MASK_WORDS] =
			wsi_ureg(warp, alu->source[EXTRA].number + i);
	wsi_labor(run, (uint64_t)p->m * p->n * p->depth / 4);
	if (wsi_tmem_blocks(run, op->type & PAIR, blocks) == 0 || !load_b(run, op, p, blocks))
		return wsi_fault_together(run);
	for (unsigned i = 0; i < p->n_blocks; i++)
		if (!load_a(run, op, p, blocks[i]) ||
		    !umma_multiply(run, op, p, blocks[i], p->lanes_left_out[i], adds))
			return wsi_fault_together(run);
	return WSI_STEP_NEXT;
}
