/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See tmem.h (PTX: tcgen05.alloc, dealloc, ld, st, cp, commit). All is done at once, in the order
 * of the instructions.
 *
 * Layouts are those of [public doc: PTX ISA, tcgen05 data movement shapes].
 */
#include "sim/exec/tmem.h"

#include "objects/mbarrier.h"
#include "sim/exec/matrix.h"

static uint32_t mask_of(unsigned units)
{
	return (UINT32_C(1) << units) - 1;
}

uint32_t *wsi_tmem_cell(struct wsi_run *run, const struct wsi_block *block, uint32_t lane,
			uint32_t column)
{
	if (lane < WSI_TMEM_LANES && column < WSI_TMEM_COLUMNS && block->tensor &&
	    block->tensor->columns >> column / WSI_TMEM_UNIT & 1)
		return &block->tensor->cell[column][lane];
	wsi_fault(run, CUDBG_EXCEPTION_WARP_TMEM_ACCESS_CHECK, run->mask,
		  "tensor memory at lane %u, column %u: the block has not allocated it", lane,
		  column);
	return NULL;
}

unsigned wsi_tmem_blocks(struct wsi_run *run, bool pair, struct wsi_block *ret_blocks[2])
{
	struct wsi_block *own = run->warp->block;
	const struct wsi_cluster *cluster = own->cluster;
	ret_blocks[0] = own;
	if (!pair)
		return 1;
	for (unsigned i = 0; i < 2; i++) {
		uint32_t rank = (own->rank & ~1u) + i;
		ret_blocks[i] = cluster && rank < cluster->n ? cluster->peers[rank] : NULL;
		if (!ret_blocks[i]) {
			wsi_fault(run, CUDBG_EXCEPTION_CLUSTER_BLOCK_NOT_PRESENT, run->mask,
				  "block %u of the cluster is not there", rank);
			return 0;
		}
	}
	return 2;
}

/* ---- allocation ---- */

enum { FIND = 1, AND = 2, ALIGNED = 4, PAIR = 8 }; /* wsi_op.type */

void wsi_prepare_tmem_allocate(struct wsi_op *op)
{
	const struct wsi_alu *alu = &op->alu;
	bool find = ws_sass_has(&op->insn, WS_MOD_FIND_AND_SET);
	op->type = (find ? FIND : 0) | (WSI_HAS(op, AND) ? AND : 0) |
		   (ws_sass_has(&op->insn, WS_MOD_ALIGN) ? ALIGNED : 0) |
		   (ws_sass_has(&op->insn, WS_MOD_2CTA) ? PAIR : 0);
	if (alu->n_sources != 1 || alu->n_results != 1 || alu->source[0].place != WSI_ALU_UREG ||
	    alu->n_predicate_results != (find ? 1 : 0) || !(op->type & (FIND | AND)))
		op->run = wsi_run_unimplemented;
}

static bool give(struct wsi_run *run, struct wsi_block *block, uint32_t units)
{
	if (!block->tensor &&
	    wsi_block_take(run->sim, block, "tensor memory of a block", sizeof *block->tensor))
		block->tensor = wsi_zalloc(sizeof *block->tensor);
	if (!block->tensor) {
		run->no_memory = true;
		return false;
	}
	block->tensor->columns |= units;
	run->sim->sms[block->sm].columns |= units;
	return true;
}

/* Keeps what `units` has. The result is what was given out before. */
static uint32_t keep_units(struct wsi_run *run, struct wsi_block *block, uint32_t units)
{
	uint32_t *all = &run->sim->sms[block->sm].columns, before = *all;
	if (block->tensor) {
		*all &= ~(block->tensor->columns & ~units);
		block->tensor->columns &= units;
	}
	return before;
}

/* So many units that are free in all blocks' SMs, side by side: the first, or WSI_TMEM_UNITS. */
static unsigned find_units(const struct wsi_run *run, struct wsi_block *const *blocks,
			   unsigned n_blocks, uint32_t n, bool aligned)
{
	uint32_t used = 0;
	for (unsigned i = 0; i < n_blocks; i++)
		used |= run->sim->sms[blocks[i]->sm].columns;
	if (n == 0 || n > WSI_TMEM_UNITS)
		return WSI_TMEM_UNITS;
	for (unsigned first = 0; first + n <= WSI_TMEM_UNITS; first += aligned ? n : 1)
		if ((used & mask_of(n) << first) == 0)
			return first;
	return WSI_TMEM_UNITS;
}

enum wsi_step wsi_run_tmem_allocate(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	const struct wsi_alu *alu = &op->alu;
	struct wsi_block *blocks[2];
	unsigned n = wsi_tmem_blocks(run, op->type & PAIR, blocks);
	uint32_t source = wsi_ureg(warp, alu->source[0].number), result = 0;
	if (n == 0)
		return WSI_STEP_FAULT;
	if (op->type & AND) {
		for (unsigned i = n; i-- > 0;)
			result = keep_units(run, blocks[i], source);
	} else {
		result = find_units(run, blocks, n, source, op->type & ALIGNED);
		bool found = result < WSI_TMEM_UNITS;
		for (unsigned i = 0; i < n && found; i++)
			if (!give(run, blocks[i], mask_of(source) << result))
				return WSI_STEP_FAULT;
		wsi_pred_set(warp, &alu->predicate_result[0], found ? UINT32_MAX : 0, run->mask);
	}
	if (alu->result[0].number != 255)
		warp->uregs[alu->result[0].number] = result;
	return WSI_STEP_NEXT;
}

/*
 * Code that allocates for a pair of blocks passes the column on by a barrier, which nothing in it
 * initialises, and a word with the phase that each block waits for. The even block is to get past
 * its first wait, the odd one is not [measured: code of nvcc 13.0].
 */
void wsi_tmem_enter(const struct ws_sim *sim, struct wsi_block *block)
{
	enum { BARRIER = 8, PHASE = 16, SIZE = 32 };
	static const struct wsi_barrier barrier = { .expected = 1, .pending = 1 };
	uint32_t at = block->grid->partition;
	if (at == 0 || at > block->shared_bytes || SIZE > block->shared_bytes - at)
		return;
	wsi_store_u64(block->shared + at + BARRIER, wsi_barrier_encode(sim->device->sm, &barrier));
	wsi_store_u32(block->shared + at + PHASE, block->rank % 2 == 0);
}

bool wsi_tmem_leave(struct wsi_run *run, uint32_t lanes)
{
	const struct wsi_block *block = run->warp->block;
	if (!block->tensor || block->tensor->columns == 0 || block->live_warps > 1 ||
	    (run->warp->live & ~lanes) != 0)
		return true;
	wsi_fault(run, CUDBG_EXCEPTION_WARP_TMEM_LEAK, lanes,
		  "the block exits with %u columns of tensor memory",
		  wsi_count_bits(block->tensor->columns) * WSI_TMEM_UNIT);
	return false;
}

/* ---- between registers and tensor memory ---- */

/* wsi_op.kind: shapes of a move. Lane and column of word k of a thread follow from it. */
enum { ALL_LANES, WIDE_64, WIDE_128, WIDE_256, FIRST_HALF, SECOND_HALF };
enum { PACKED = 1, STORES = 2 }; /* wsi_op.type */

void wsi_prepare_tmem_move(struct wsi_op *op)
{
	static const struct {
		enum ws_modifier modifier;
		uint8_t kind;
	} shapes[] = {
		{ WS_MOD_16dp64bit, WIDE_64 },
		{ WS_MOD_16dp128bit, WIDE_128 },
		{ WS_MOD_16dp256bit, WIDE_256 },
		{ WS_MOD_16dp32bit_t0_t15, FIRST_HALF },
		{ WS_MOD_16dp32bit_t16_t31, SECOND_HALF },
	};
	const struct wsi_alu *alu = &op->alu;
	bool stores = op->insn.operation == WS_OP_STTM;
	op->kind = ALL_LANES;
	for (size_t i = 0; i < WSI_COUNT(shapes); i++)
		if (ws_sass_has(&op->insn, shapes[i].modifier))
			op->kind = shapes[i].kind;
	op->type = (stores ? STORES : 0) |
		   (ws_sass_has(&op->insn, stores ? WS_MOD_EXPAND16BIT : WS_MOD_PACK16BIT) ? PACKED
											   : 0);
	if (op->n_at == 0)
		op->n_at = 1; /* at URZ */
	if (op->n_at != 1 || op->at[0].ureg_words > 1 || op->at[0].reg_words != 0 ||
	    alu->n_results != (stores ? 0 : 1) || alu->n_sources != (stores ? 1 : 0) ||
	    (stores && alu->source[0].place != WSI_ALU_REG) || ws_sass_has(&op->insn, WS_MOD_STAT))
		op->run = wsi_run_unimplemented;
}

/* Where word `k` of a thread is, from the lane and column of the address on. */
static void shape_place(unsigned kind, unsigned thread, unsigned k, uint32_t *ret_lane,
			uint32_t *ret_column)
{
	*ret_lane = thread / 4;
	switch (kind) {
	case WIDE_64:
		*ret_lane += thread % 2 * 8;
		*ret_column = thread / 2 % 2 + 2 * k;
		return;
	case WIDE_128:
		*ret_lane += k % 2 * 8;
		*ret_column = thread % 4 + k / 2 * 4;
		return;
	case WIDE_256:
		*ret_lane += k / 2 % 2 * 8;
		*ret_column = k % 2 + thread % 4 * 2 + k / 4 * 8;
		return;
	default:
		*ret_lane = kind == ALL_LANES ? thread : thread % 16;
		*ret_column = k;
		return;
	}
}

/* One word of one thread: a cell, or the lower halves of two of them. */
static bool move_word(struct wsi_run *run, const struct wsi_op *op, uint32_t lane, uint32_t column,
		      uint32_t *reg)
{
	const struct wsi_block *block = run->warp->block;
	bool packed = op->type & PACKED;
	uint32_t *low = wsi_tmem_cell(run, block, lane, column);
	uint32_t *high = low && packed ? wsi_tmem_cell(run, block, lane, column + 1) : low;
	if (!high)
		return false;
	if (op->type & STORES) {
		*low = packed ? *reg & 0xffff : *reg;
		if (packed)
			*high = *reg >> 16;
	} else {
		*reg = packed ? (*low & 0xffff) | *high << 16 : *low;
	}
	return true;
}

enum wsi_step wsi_run_tmem_move(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	const struct wsi_alu_value *v = op->type & STORES ? &op->alu.source[0] : &op->alu.result[0];
	uint32_t address = wsi_ureg(warp, op->at[0].ureg_words ? op->at[0].ureg : 255) +
			   (uint32_t)op->at[0].offset;
	uint32_t first = address >> 16, column = address & 0xffff, own = warp->id % 4 * WSI_LANES;
	uint32_t n_lanes = op->kind == ALL_LANES ? WSI_LANES : WSI_LANES / 2;
	uint32_t threads = op->kind == FIRST_HALF    ? 0xffff
			   : op->kind == SECOND_HALF ? 0xffff0000
						     : UINT32_MAX;
	if (run->mask != UINT32_MAX)
		return wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, run->mask,
				 "tensor memory is moved by a part of a warp");
	if (first < own || first + n_lanes > own + WSI_LANES)
		return wsi_fault(run, CUDBG_EXCEPTION_WARP_TMEM_ACCESS_CHECK, run->mask,
				 "tensor memory at lane %u: warp %u reaches lanes %u to %u", first,
				 warp->id, own, own + WSI_LANES - 1);
	for (uint32_t left = threads; left; left &= left - 1) {
		unsigned thread = wsi_first_bit(left);
		for (unsigned k = 0; k < v->words; k++) {
			uint32_t lane, at, none = 0;
			shape_place(op->kind, thread, k, &lane, &at);
			at *= op->type & PACKED ? 2 : 1;
			uint32_t *reg =
				v->number == 255 ? &none : &wsi_reg(warp, v->number + k)[thread];
			if (!move_word(run, op, first + lane, column + at, reg))
				return wsi_fault_together(run);
		}
	}
	return WSI_STEP_NEXT;
}

/* ---- from shared memory ---- */

/* wsi_op.kind: rows of the matrix, how long they are, how often they come in tensor memory. */
enum { ROWS_256_BITS, FOUR_ROWS, ROWS_128_BITS, TWICE_02_13, TWICE_01_23, FOUR_TIMES };

void wsi_prepare_tmem_copy(struct wsi_op *op)
{
	static const struct {
		enum ws_modifier modifier;
		uint8_t kind;
	} shapes[] = {
		{ WS_MOD_4dp256bit, FOUR_ROWS },
		{ WS_MOD_128dp128bit, ROWS_128_BITS },
		{ WS_MOD_2x64dp128bit_lw02_lw13, TWICE_02_13 },
		{ WS_MOD_2x64dp128bit_lw01_lw23, TWICE_01_23 },
		{ WS_MOD_4x32dp128bit, FOUR_TIMES },
	};
	const struct ws_insn *insn = &op->insn;
	op->kind = ROWS_256_BITS;
	for (size_t i = 0; i < WSI_COUNT(shapes); i++)
		if (ws_sass_has(insn, shapes[i].modifier))
			op->kind = shapes[i].kind;
	op->type = ws_sass_has(insn, WS_MOD_2CTA) ? PAIR : 0;
	if (op->alu.n_sources != 2 || op->alu.source[1].words != 2 ||
	    !ws_sass_has(insn, WS_MOD_T) || !ws_sass_has(insn, WS_MOD_S) ||
	    ws_sass_has(insn, WS_MOD_U6x16P32) || ws_sass_has(insn, WS_MOD_U4x16P64))
		op->run = wsi_run_unimplemented;
}

/* Lanes that get row `row`, as a mask of the 32-lane quarters that it comes in. */
static unsigned quarters_of(unsigned kind, unsigned row)
{
	switch (kind) {
	case FOUR_ROWS: /* one in each [public: CUTLASS, copies of 4dp256bit] */
		return 1u << row;
	case TWICE_02_13:
		return row < 32 ? 0x5 : 0xa;
	case TWICE_01_23:
		return row < 32 ? 0x3 : 0xc;
	case FOUR_TIMES:
		return 0xf;
	default:
		return 1u << row / 32;
	}
}

static bool copy_row(struct wsi_run *run, const struct wsi_op *op, const struct wsi_matrix *m,
		     const struct wsi_block *block, uint32_t address, unsigned row)
{
	unsigned quarters = quarters_of(op->kind, row), n = op->kind <= FOUR_ROWS ? 2 : 1;
	uint32_t lane = (address >> 16) + (op->kind == FOUR_ROWS ? 0 : row % 32);
	uint8_t bytes[2 * WSI_MATRIX_PIECE];
	for (unsigned i = 0; i < n; i++)
		if (!wsi_matrix_piece(run, m, block, row, i * WSI_MATRIX_PIECE,
				      bytes + (size_t)i * WSI_MATRIX_PIECE))
			return false;
	for (unsigned q = 0; q < 4; q++) {
		for (unsigned k = 0; k < n * WSI_MATRIX_PIECE / 4 && quarters >> q & 1; k++) {
			uint32_t *cell =
				wsi_tmem_cell(run, block, lane + q * 32, (address & 0xffff) + k);
			if (!cell)
				return false;
			*cell = wsi_load_u32(bytes + 4 * k);
		}
	}
	return true;
}

enum wsi_step wsi_run_tmem_copy(struct wsi_run *run, const struct wsi_op *op)
{
	const struct wsi_warp *warp = run->warp;
	struct wsi_matrix m = { .by_rows = false };
	struct wsi_block *blocks[2];
	unsigned n = wsi_tmem_blocks(run, op->type & PAIR, blocks);
	static const uint8_t rows_of[] = { 128, 4, 128, 64, 64, 32 };
	unsigned rows = rows_of[op->kind];
	uint32_t address = wsi_ureg(warp, op->alu.source[0].number) + (uint32_t)op->at[0].offset;
	if (n == 0)
		return wsi_fault_together(run);
	wsi_matrix_type(&m, WS_MOD_U8);
	if (!wsi_matrix_describe(&m, wsi_ureg64(warp, op->alu.source[1].number)))
		return wsi_run_unimplemented(run, op);
	for (unsigned i = 0; i < n; i++)
		for (unsigned row = 0; row < rows; row++)
			if (!copy_row(run, op, &m, blocks[i], address, row))
				return wsi_fault_together(run);
	return WSI_STEP_NEXT;
}

/* ---- within tensor memory ---- */

void wsi_prepare_tmem_shift(struct wsi_op *op)
{
	op->type = ws_sass_has(&op->insn, WS_MOD_2CTA) ? PAIR : 0;
	if (op->alu.n_sources != 1 || !ws_sass_has(&op->insn, WS_MOD_DOWN))
		op->run = wsi_run_unimplemented;
}

/* Eight columns of 32 lanes: each lane but the last gets what the next one has; a copy of 4x256b
 * then fills the last one [public doc: PTX ISA, shape 31x256b; CUTLASS, copies of 4dp256bit]. */
enum wsi_step wsi_run_tmem_shift(struct wsi_run *run, const struct wsi_op *op)
{
	enum { SHIFTED_COLUMNS = 8 };
	uint32_t address =
		wsi_ureg(run->warp, op->alu.source[0].number) + (uint32_t)op->at[0].offset;
	struct wsi_block *blocks[2];
	unsigned n = wsi_tmem_blocks(run, op->type & PAIR, blocks);
	if (n == 0)
		return wsi_fault_together(run);
	if ((address >> 16) % WSI_LANES != 0)
		return wsi_fault(
			run, CUDBG_EXCEPTION_WARP_TMEM_ACCESS_CHECK, run->mask,
			"tensor memory is shifted from lane %u on, which is not a multiple of 32",
			address >> 16);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < SHIFTED_COLUMNS; k++) {
			uint32_t *cell = wsi_tmem_cell(run, blocks[i], address >> 16,
						       (address & 0xffff) + k);
			if (!cell)
				return wsi_fault_together(run);
			memmove(cell, cell + 1, (WSI_LANES - 1) * sizeof *cell);
		}
	}
	return WSI_STEP_NEXT;
}

/* ---- completion ---- */

void wsi_prepare_tmem_commit(struct wsi_op *op)
{
	const struct wsi_alu *alu = &op->alu;
	bool many = ws_sass_has(&op->insn, WS_MOD_MULTICAST);
	op->type = many;
	if (op->n_at != 1 || op->at[0].ureg_words != 1 || alu->n_sources != (many ? 2 : 1) ||
	    alu->source[0].number != 255 || ws_sass_has(&op->insn, WS_MOD_A0TX))
		op->run = wsi_run_unimplemented;
}

/* What was begun before is done: an arrival at a barrier, or at the same one of several blocks. */
enum wsi_step wsi_run_tmem_commit(struct wsi_run *run, const struct wsi_op *op)
{
	static const struct wsi_arrival one = { .count = 1 };
	uint32_t address = wsi_ureg(run->warp, op->at[0].ureg) + (uint32_t)op->at[0].offset;
	uint32_t ranks = op->type ? wsi_ureg(run->warp, op->alu.source[1].number) : 0;
	unsigned lane = wsi_first_bit(run->mask);
	uint64_t old;
	if (!op->type && !wsi_mbarrier_arrive(run, lane, address, &one, &old))
		return wsi_fault_together(run);
	for (unsigned rank = 0; rank < WSI_MAX_CLUSTER; rank++)
		if (ranks >> rank & 1 &&
		    !wsi_mbarrier_arrive(run, lane, wsi_shared_peer(address, rank), &one, &old))
			return wsi_fault_together(run);
	return WSI_STEP_NEXT;
}
