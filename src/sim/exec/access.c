/* SPDX-License-Identifier: Apache-2.0 */
/* See access.h; loads and stores. */
#include "sim/exec/access.h"
#include "sim/check/check.h"
#include "sim/event/watchpoint.h"
#include "sim/exec/exec.h"

enum { MAX_BYTES = 16 };

/* ---- shared and local memory ---- */

static uint8_t *shared_at(struct wsi_run *run, unsigned lane, uint32_t address, unsigned len)
{
	uint32_t offset;
	const struct wsi_block *block = wsi_shared_owner(run, address, &offset);
	const bool own_fault = !run->sim->faulted && run->sim->late == 0; /* else one is recorded */
	if (!block) {
		wsi_fault_at(run, CUDBG_EXCEPTION_CLUSTER_BLOCK_NOT_PRESENT, lane, address,
			     "block %u of the cluster is not there", address >> 24);
		if (own_fault)
			wsi_fault_target(run, address >> 24);
		return NULL;
	}
	uint8_t *bytes = wsi_shared_bytes(block, offset, len);
	if (bytes)
		return bytes;
	if (block == run->warp->block)
		wsi_fault_at(run, CUDBG_EXCEPTION_WARP_OUT_OF_RANGE_ADDRESS, lane, address,
			     "shared address 0x%x, the block has %u bytes", offset,
			     block->shared_bytes);
	else
		wsi_fault_at(run, CUDBG_EXCEPTION_CLUSTER_OUT_OF_RANGE_ADDRESS, lane, address,
			     "shared address 0x%x of block %u of the cluster, which has %u bytes",
			     offset, block->rank, block->shared_bytes);
	if (block != run->warp->block && own_fault)
		wsi_fault_target(run, block->rank);
	return NULL;
}

static bool local_spot(struct wsi_run *run, unsigned lane, uint64_t address, unsigned len,
		       struct wsi_lane_spot *ret_spot)
{
	struct wsi_warp *warp = run->warp;
	uint32_t size = warp->block->grid->local_bytes;
	if (address > size || len > size - address) {
		bool below = address >= UINT32_MAX - UINT32_C(0x1000000);
		wsi_fault_at(run,
			     below ? CUDBG_EXCEPTION_WARP_USER_STACK_OVERFLOW
				   : CUDBG_EXCEPTION_WARP_OUT_OF_RANGE_ADDRESS,
			     lane, address,
			     below ? "the stack of %u bytes is used up (local address 0x%x)"
				   : "a thread has %u bytes of local memory (local address 0x%x)",
			     size, (uint32_t)address);
		return false;
	}
	*ret_spot = (struct wsi_lane_spot){
		.bytes = wsi_local_byte(run->sim, warp, lane, address),
		.step = (size_t)4 * WSI_LANES,
	};
	run->no_memory |= !ret_spot->bytes;
	return ret_spot->bytes != NULL;
}

/* ---- global memory ---- */

uint8_t *wsi_sim_global_bytes(struct wsi_run *run, uint64_t address, uint64_t len, bool write,
			      struct wsi_region **ret_region)
{
	struct wsi_region *region = wsi_memory_find(&run->sim->memory, address);
	uint64_t n = len;
	bool no_memory;
	*ret_region = region;
	if (!region || (write && region->read_only))
		return NULL;
	uint8_t *bytes = write ? wsi_region_write(region, address, &n, &no_memory)
			       : wsi_region_read(region, address, &n, &no_memory);
	run->no_memory |= no_memory;
	return n == len ? bytes : NULL;
}

static bool global_spot(struct wsi_run *run, unsigned lane, uint64_t address, unsigned len,
			bool write, struct wsi_lane_spot *ret_spot)
{
	struct wsi_region *region;
	uint8_t *bytes = wsi_sim_global_bytes(run, address, len, write, &region);
	if (bytes) {
		*ret_spot = (struct wsi_lane_spot){ .bytes = bytes, .step = 4 };
		return true;
	}
	if (!run->no_memory)
		wsi_fault_at(run, CUDBG_EXCEPTION_WARP_ILLEGAL_ADDRESS, lane, address,
			     "%s of %u bytes at 0x%" PRIx64 ": %s", write ? "a write" : "a read",
			     len, address,
			     region && write && region->read_only ? "read-only"
			     : region                             ? "past the end of an allocation"
								  : "nothing is allocated there");
	return false;
}

static bool find_spot(struct wsi_run *run, enum ws_sass_space space, unsigned lane,
		      uint64_t address, unsigned bytes, bool write, struct wsi_lane_spot *ret_spot)
{
	if (address % bytes != 0) {
		wsi_fault_at(run, CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS, lane, address,
			     "address 0x%" PRIx64
			     " is not a multiple of the %u bytes of the access",
			     address, bytes);
		return false;
	}
	if (space == WS_SASS_SPACE_GENERIC || space == WS_SASS_SPACE_GLOBAL) {
		uint64_t window = address & ~(WSI_WINDOW_BYTES - 1);
		if (window == WSI_SHARED_WINDOW && space == WS_SASS_SPACE_GENERIC) {
			ret_spot->bytes = shared_at(run, lane, (uint32_t)address, bytes);
			ret_spot->step = 4;
			return ret_spot->bytes != NULL;
		}
		if (window == WSI_LOCAL_WINDOW && space == WS_SASS_SPACE_GENERIC)
			return local_spot(run, lane, (uint32_t)address, bytes, ret_spot);
		if (window == WSI_SHARED_WINDOW || window == WSI_LOCAL_WINDOW) {
			wsi_fault_at(run, CUDBG_EXCEPTION_WARP_INVALID_ADDRESS_SPACE, lane, address,
				     "0x%" PRIx64 " is in a window, and not a global address",
				     address);
			return false;
		}
		return global_spot(run, lane, address, bytes, write, ret_spot);
	}
	if (space == WS_SASS_SPACE_LOCAL)
		return local_spot(run, lane, address, bytes, ret_spot);
	ret_spot->bytes = shared_at(run, lane, (uint32_t)address, bytes);
	ret_spot->step = 4;
	return ret_spot->bytes != NULL;
}

bool wsi_sim_spot(struct wsi_run *run, enum ws_sass_space space, unsigned lane, uint64_t address,
		  unsigned bytes, bool write, struct wsi_lane_spot *ret_spot)
{
	bool found = find_spot(run, space, lane, address, bytes, write, ret_spot);
	if (found && write && run->sim->check)
		wsi_check_copied(run, space, address, bytes);
	if (found && run->sim->watches)
		wsi_watch_touch(run, space, lane, address, bytes, write);
	return found;
}

bool wsi_spots(struct wsi_run *run, enum ws_sass_space space, uint32_t lanes,
	       const uint64_t addresses[WSI_LANES], unsigned bytes, bool write,
	       struct wsi_lane_spot ret_spots[WSI_LANES], uint32_t *ret_good)
{
	*ret_good = lanes;
	for (uint32_t left = lanes; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		if (!wsi_sim_spot(run, space, lane, addresses[lane], bytes, write,
				  &ret_spots[lane]))
			*ret_good &= ~(1u << lane);
	}
	return *ret_good == lanes || wsi_fault_postpone(run, lanes & ~*ret_good);
}

/* ---- the usual case ---- */

/*
 * When all lanes are together: what their addresses are counted from, else NULL. `write` makes the
 * page the device's own.
 */
static uint8_t *together(struct wsi_run *run, const struct wsi_op *op,
			 const uint64_t addresses[WSI_LANES], bool write, uint64_t *ret_base)
{
	uint64_t low = UINT64_MAX, high = 0, any = 0;
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		if (!(run->mask >> lane & 1))
			continue;
		low = addresses[lane] < low ? addresses[lane] : low;
		high = addresses[lane] > high ? addresses[lane] : high;
		any |= addresses[lane];
	}
	if (any & (op->bytes - 1u))
		return NULL;
	uint64_t span = high - low + op->bytes;
	*ret_base = low;
	if (run->sim->watches && wsi_watch_near(run, op->space, low, span, write))
		return NULL;
	if (op->space == WS_SASS_SPACE_SHARED) {
		const struct wsi_block *block = run->warp->block;
		uint64_t offset = low;
		if (run->sim->device->sm >= 90 && low >> 24 != block->rank)
			return NULL;
		if (run->sim->device->sm >= 90)
			offset &= 0xffffff;
		return wsi_shared_bytes(block, offset, span);
	}
	if (op->space == WS_SASS_SPACE_LOCAL || span > WSI_PAGE_BYTES)
		return NULL;
	struct wsi_region *region;
	return wsi_sim_global_bytes(run, low, span, write, &region);
}

/* ---- loads ---- */

static uint32_t extend(const struct wsi_op *op, const uint8_t *from)
{
	if (op->bytes == 1)
		return WSI_HAS(op, S8) ? (uint32_t)(int8_t)from[0] : from[0];
	uint16_t half = wsi_load_u16(from);
	return WSI_HAS(op, S16) ? (uint32_t)(int16_t)half : half;
}

static void load_from(const struct wsi_op *op, const struct wsi_lane_spot *spot, uint32_t *to)
{
	if (op->bytes < 4) {
		to[0] = extend(op, spot->bytes);
		return;
	}
	for (unsigned k = 0; k < op->bytes / 4u; k++)
		to[k * WSI_LANES] = wsi_load_u32(spot->bytes + k * spot->step);
}

static void load_together(const struct wsi_run *run, const struct wsi_op *op, const uint8_t *from,
			  const uint64_t addresses[WSI_LANES], uint64_t base, uint32_t *to)
{
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		if (!(run->mask >> lane & 1))
			continue;
		const uint8_t *at = from + (addresses[lane] - base);
		if (op->bytes < 4)
			to[lane] = extend(op, at);
		else
			for (unsigned k = 0; k < op->bytes / 4u; k++)
				to[k * WSI_LANES + lane] = wsi_load_u32(at + 4 * k);
	}
}

static void zero_lanes(uint32_t *to, unsigned words, uint32_t lanes)
{
	for (uint32_t left = lanes; left; left &= left - 1)
		for (unsigned k = 0; k < words; k++)
			to[k * WSI_LANES + wsi_first_bit(left)] = 0;
}

enum wsi_step wsi_run_load(struct wsi_run *run, const struct wsi_op *op)
{
	uint64_t addresses[WSI_LANES], base;
	uint32_t unused[4 * WSI_LANES];
	const struct wsi_alu_value *result = &op->alu.result[0];
	if (op->n_at != 1 || op->alu.n_results != 1 || op->alu.n_sources != 0 || op->bytes == 0 ||
	    op->bytes > MAX_BYTES || op->alu.n_predicate_results != 0 ||
	    result->place != WSI_ALU_REG || result->words != (op->bytes + 3u) / 4)
		return wsi_run_unimplemented(run, op);
	uint32_t all = run->mask;
	for (unsigned i = 0; i < op->alu.n_predicates; i++) /* lanes that are to read zeros */
		run->mask &= wsi_pred_source(run, op, i);
	uint32_t *to = result->number == 255 ? unused : wsi_reg(run->warp, result->number);
	struct wsi_access_row row;
	if (wsi_sim_row_find(run, op, false, &row)) {
		wsi_sim_row_load(&row, result->words, to);
		return WSI_STEP_NEXT;
	}
	wsi_addresses(run, &op->at[0],
		      op->space == WS_SASS_SPACE_GENERIC || op->space == WS_SASS_SPACE_GLOBAL,
		      addresses);
	const uint8_t *from = run->mask ? together(run, op, addresses, false, &base) : NULL;
	if (from) {
		zero_lanes(to, result->words, all & ~run->mask);
		load_together(run, op, from, addresses, base, to);
		return WSI_STEP_NEXT;
	}
	struct wsi_lane_spot spots[WSI_LANES]; /* all are checked before any register is written */
	uint32_t good;
	if (!wsi_spots(run, op->space, run->mask, addresses, op->bytes, false, spots, &good))
		return WSI_STEP_FAULT;
	zero_lanes(to, result->words, all & ~good);
	for (uint32_t left = good; left; left &= left - 1)
		load_from(op, &spots[wsi_first_bit(left)], to + wsi_first_bit(left));
	return WSI_STEP_NEXT;
}

/* ---- stores ---- */

static void store_to(unsigned bytes, const uint32_t *from, uint8_t *to, size_t step)
{
	if (bytes == 1)
		to[0] = (uint8_t)from[0];
	else if (bytes == 2)
		wsi_store_u16(to, (uint16_t)from[0]);
	else
		for (unsigned k = 0; k < bytes / 4; k++)
			wsi_store_u32(to + k * step, from[k * WSI_LANES]);
}

enum wsi_step wsi_run_store(struct wsi_run *run, const struct wsi_op *op)
{
	uint64_t addresses[WSI_LANES], base;
	uint32_t scratch[4 * WSI_LANES];
	if (op->n_at != 1 || op->alu.n_results != 0 || op->alu.n_sources != 1 || op->bytes == 0 ||
	    op->bytes > MAX_BYTES || op->alu.n_predicates != 0 ||
	    op->alu.source[0].words != (op->bytes + 3u) / 4)
		return wsi_run_unimplemented(run, op);
	const uint32_t *from = wsi_sim_source(run, &op->alu.source[0], scratch);
	struct wsi_access_row row;
	if (!from)
		return WSI_STEP_FAULT;
	if (wsi_sim_row_find(run, op, true, &row)) {
		wsi_sim_row_store(&row, op->bytes / 4u, from);
		return WSI_STEP_NEXT;
	}
	wsi_addresses(run, &op->at[0],
		      op->space == WS_SASS_SPACE_GENERIC || op->space == WS_SASS_SPACE_GLOBAL,
		      addresses);
	uint8_t *to = together(run, op, addresses, true, &base);
	if (to) {
		for (uint32_t left = run->mask; left; left &= left - 1) {
			unsigned lane = wsi_first_bit(left);
			store_to(op->bytes, from + lane, to + (addresses[lane] - base), 4);
		}
		return WSI_STEP_NEXT;
	}
	struct wsi_lane_spot spots[WSI_LANES]; /* all are checked before any is written */
	uint32_t good;
	if (!wsi_spots(run, op->space, run->mask, addresses, op->bytes, true, spots, &good))
		return WSI_STEP_FAULT;
	for (uint32_t left = good; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		store_to(op->bytes, from + lane, spots[lane].bytes, spots[lane].step);
	}
	return WSI_STEP_NEXT;
}

/* ---- 32 bytes ---- */

enum { WIDE_BYTES = 32, HALF_WORDS = 4 };

/* The upper half is the first result, and the second source [measured: what ptxas makes of them].
 * Halves of which not all words are loaded are not done. */
void wsi_prepare_wide(struct wsi_op *op)
{
	const struct wsi_alu *alu = &op->alu;
	bool loads = op->insn.operation == WS_OP_LDG;
	const struct wsi_alu_value *half = loads ? alu->result : alu->source;
	if (!ws_sass_has(&op->insn, WS_MOD_256))
		return;
	op->run = loads ? wsi_run_load_wide : wsi_run_store_wide;
	if (op->n_at != 1 || op->bytes != WIDE_BYTES || alu->n_results != (loads ? 2 : 0) ||
	    alu->n_sources != (loads ? 0 : 2) || alu->n_predicates != 0 ||
	    alu->n_predicate_results != 0 || half[0].words != HALF_WORDS ||
	    half[1].words != HALF_WORDS || half[0].place != WSI_ALU_REG ||
	    half[1].place != WSI_ALU_REG)
		op->run = wsi_run_unimplemented;
}

enum wsi_step wsi_run_load_wide(struct wsi_run *run, const struct wsi_op *op)
{
	uint64_t addresses[WSI_LANES];
	struct wsi_lane_spot spots[WSI_LANES];
	uint32_t good;
	wsi_addresses(run, &op->at[0], true, addresses);
	if (!wsi_spots(run, op->space, run->mask, addresses, WIDE_BYTES, false, spots, &good))
		return WSI_STEP_FAULT;
	for (unsigned k = 0; k < 2 * HALF_WORDS; k++) {
		const struct wsi_alu_value *half = &op->alu.result[k < HALF_WORDS];
		if (half->number == 255)
			continue;
		uint32_t *to = wsi_reg(run->warp, half->number + k % HALF_WORDS);
		for (uint32_t left = run->mask; left; left &= left - 1) {
			unsigned lane = wsi_first_bit(left);
			to[lane] = good >> lane & 1 ? wsi_load_u32(spots[lane].bytes + 4 * k) : 0;
		}
	}
	return WSI_STEP_NEXT;
}

enum wsi_step wsi_run_store_wide(struct wsi_run *run, const struct wsi_op *op)
{
	uint64_t addresses[WSI_LANES];
	uint32_t scratch[2][HALF_WORDS * WSI_LANES], good;
	struct wsi_lane_spot spots[WSI_LANES];
	const uint32_t *half[2];
	for (unsigned i = 0; i < 2; i++)
		half[i] = wsi_sim_source(run, &op->alu.source[i], scratch[i]);
	if (!half[0] || !half[1])
		return WSI_STEP_FAULT;
	wsi_addresses(run, &op->at[0], true, addresses);
	if (!wsi_spots(run, op->space, run->mask, addresses, WIDE_BYTES, true, spots, &good))
		return WSI_STEP_FAULT;
	for (uint32_t left = good; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		for (unsigned k = 0; k < 2 * HALF_WORDS; k++)
			wsi_store_u32(spots[lane].bytes + 4 * k,
				      half[k / HALF_WORDS][k % HALF_WORDS * WSI_LANES + lane]);
	}
	return WSI_STEP_NEXT;
}

/* Of the uniform datapath: once, however many lanes there are. */
enum wsi_step wsi_run_uniform_store(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t mask = run->mask;
	run->mask = 1u << wsi_first_bit(mask);
	enum wsi_step step = op->insn.operation == WS_OP_UREDGR ? wsi_run_atomic(run, op)
								: wsi_run_store(run, op);
	run->mask = mask;
	return step;
}

/* ---- copies and other accesses ---- */

/* Global to shared memory. It is there at once: any order is right for code that waits. */
enum wsi_step wsi_run_copy(struct wsi_run *run, const struct wsi_op *op)
{
	uint64_t to[WSI_LANES], from[WSI_LANES];
	if (op->n_at != 2 || op->bytes < 4 || op->bytes > MAX_BYTES || op->alu.n_sources != 0)
		return wsi_run_unimplemented(run, op);
	uint32_t real = run->mask;
	for (unsigned i = 0; i < op->alu.n_predicates; i++)
		real &= wsi_pred_source(run, op, i);
	wsi_addresses(run, &op->at[0], false, to);
	wsi_addresses(run, &op->at[1], true, from);
	struct wsi_lane_spot sources[WSI_LANES], targets[WSI_LANES];
	uint32_t filled = WSI_HAS(op, ZFILL) ? run->mask : real, readable, writable;
	if (!wsi_spots(run, WS_SASS_SPACE_SHARED, filled, to, op->bytes, true, targets,
		       &writable) ||
	    !wsi_spots(run, WS_SASS_SPACE_GLOBAL, real, from, op->bytes, false, sources, &readable))
		return WSI_STEP_FAULT;
	for (uint32_t left = writable; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		if (readable >> lane & 1)
			memcpy(targets[lane].bytes, sources[lane].bytes, op->bytes);
		else
			memset(targets[lane].bytes, 0, op->bytes);
	}
	return WSI_STEP_NEXT;
}

/* How LDSM reads rows: 16 bytes as they are, or 16 numbers of 4 or 6 bits, each in a byte then; how
 * lanes get them. False: not one of the forms that PTX has. */
static bool take_matrices(const struct wsi_op *op, unsigned *ret_bits, bool *ret_bytes)
{
	const struct ws_insn *insn = &op->insn;
	bool by_4 = ws_sass_has(insn, WS_MOD_U4x16P64TO8),
	     by_6 = ws_sass_has(insn, WS_MOD_U6x16P32TO8);
	bool square = ws_sass_has(insn, WS_MOD_MT1616);
	*ret_bits = by_4 ? 4 : by_6 ? 6 : 8;
	*ret_bytes = square;
	if (square)
		return (by_4 || by_6 || ws_sass_has(insn, WS_MOD_8)) &&
		       op->alu.result[0].words % 2 == 0;
	return by_4 || by_6 ? ws_sass_has(insn, WS_MOD_M816)
			    : ws_sass_has(insn, WS_MOD_16) && (ws_sass_has(insn, WS_MOD_M88) ||
							       ws_sass_has(insn, WS_MOD_MT88));
}

/* Numbers side by side in a row, the first in the lowest bits, become bytes; what is behind them is
 * not looked at. */
static void unpack_row(uint8_t row[16], unsigned bits)
{
	enum { NUMBERS = 16 };
	uint8_t from[NUMBERS + 1] = { 0 };
	memcpy(from, row, NUMBERS);
	for (unsigned i = 0; i < NUMBERS; i++) {
		unsigned at = i * bits, pair = from[at / 8] | (unsigned)from[at / 8 + 1] << 8;
		row[i] = (uint8_t)(pair >> at % 8 & ((1u << bits) - 1));
	}
}

/*
 * Matrices of 8x8 halves from shared memory: lane 8m + r gives the address of row r of matrix m;
 * lane l receives, of matrix m, elements 2*(l%4) and the next of row l/4 (of column l/4 when
 * transposed). Rows of 16 bytes are given out like 8 halves. Of 16x16 bytes, transposed, a lane
 * receives elements 4*(l%4) to 4*(l%4)+3 of column l/4, and in the next register of column l/4+8
 * [public: CUTLASS, copy_traits_sm100; numbers of 4 bits: mma_traits_sm120].
 */
enum wsi_step wsi_run_matrix_load(struct wsi_run *run, const struct wsi_op *op)
{
	unsigned bits;
	bool square;
	uint64_t addresses[WSI_LANES];
	uint8_t rows[WSI_LANES][16];
	struct wsi_lane_spot spots[WSI_LANES];
	uint32_t good;
	const struct wsi_alu_value *result = &op->alu.result[0];
	if (op->n_at != 1 || op->alu.n_results != 1 || op->bytes != 16 || result->words > 4 ||
	    result->number == 255 || op->alu.n_sources != 0 || !take_matrices(op, &bits, &square))
		return wsi_run_unimplemented(run, op);
	unsigned n = result->words;
	wsi_addresses(run, &op->at[0], false, addresses);
	if (!wsi_spots(run, WS_SASS_SPACE_SHARED, UINT32_MAX >> (WSI_LANES - 8 * n), addresses, 16,
		       false, spots, &good))
		return WSI_STEP_FAULT;
	for (unsigned lane = 0; lane < 8 * n; lane++) {
		if (good >> lane & 1)
			memcpy(rows[lane], spots[lane].bytes, 16);
		else
			memset(rows[lane], 0, 16);
		if (bits != 8)
			unpack_row(rows[lane], bits);
	}
	for (unsigned m = 0; m < n; m++) {
		for (uint32_t left = run->mask; left; left &= left - 1) {
			unsigned lane = wsi_first_bit(left), row = lane / 4, pair = lane % 4;
			uint32_t *to = &wsi_reg(run->warp, result->number + m)[lane];
			if (square) {
				uint8_t(*from)[16] = &rows[m / 2 * 16 + 4 * pair];
				unsigned column = row + m % 2 * 8;
				*to = from[0][column] | (uint32_t)from[1][column] << 8 |
				      (uint32_t)from[2][column] << 16 |
				      (uint32_t)from[3][column] << 24;
				continue;
			}
			const uint8_t *a = &rows[8 * m + row][4 * pair], *b = a + 2;
			if (WSI_HAS(op, MT88)) {
				a = &rows[8 * m + 2 * pair][2 * row];
				b = &rows[8 * m + 2 * pair + 1][2 * row];
			}
			*to = wsi_load_u16(a) | (uint32_t)wsi_load_u16(b) << 16;
		}
	}
	return WSI_STEP_NEXT;
}

/* The opposite: lane l has, of matrix m, elements 2*(l%4) and the next of row l/4. */
enum wsi_step wsi_run_matrix_store(struct wsi_run *run, const struct wsi_op *op)
{
	uint64_t addresses[WSI_LANES];
	uint32_t scratch[4 * WSI_LANES];
	struct wsi_lane_spot spots[WSI_LANES];
	uint8_t nowhere[16];
	bool turned = ws_sass_has(&op->insn, WS_MOD_MT88);
	if (op->n_at != 1 || op->bytes != 16 || op->alu.n_sources != 1 ||
	    op->alu.source[0].words > 4 || op->alu.source[0].place != WSI_ALU_REG ||
	    !(turned || ws_sass_has(&op->insn, WS_MOD_M88)) || !ws_sass_has(&op->insn, WS_MOD_16))
		return wsi_run_unimplemented(run, op);
	unsigned n = op->alu.source[0].words;
	const uint32_t *from = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!from)
		return WSI_STEP_FAULT;
	wsi_addresses(run, &op->at[0], false, addresses);
	uint32_t good;
	if (!wsi_spots(run, WS_SASS_SPACE_SHARED, UINT32_MAX >> (WSI_LANES - 8 * n), addresses, 16,
		       true, spots, &good))
		return WSI_STEP_FAULT;
	for (unsigned lane = 0; lane < 8 * n; lane++) /* rows that are nowhere */
		if (!(good >> lane & 1))
			spots[lane].bytes = nowhere;
	for (unsigned m = 0; m < n; m++) {
		for (uint32_t left = run->mask; left; left &= left - 1) {
			unsigned lane = wsi_first_bit(left), row = lane / 4, pair = lane % 4;
			uint32_t word = from[m * WSI_LANES + lane];
			uint8_t *a = &spots[8 * m + row].bytes[4 * pair], *b = a + 2;
			if (turned) {
				a = &spots[8 * m + 2 * pair].bytes[2 * row];
				b = &spots[8 * m + 2 * pair + 1].bytes[2 * row];
			}
			wsi_store_u16(a, (uint16_t)word);
			wsi_store_u16(b, (uint16_t)(word >> 16));
		}
	}
	return WSI_STEP_NEXT;
}

/* Which space a generic address is in: shared memory of the block (S) or of the cluster (D). */
enum wsi_step wsi_run_qspc(struct wsi_run *run, const struct wsi_op *op)
{
	const struct wsi_block *block = run->warp->block;
	uint64_t addresses[WSI_LANES];
	uint32_t in = 0;
	if (op->n_at != 1 || op->alu.n_predicate_results != 1 || op->alu.n_results != 1 ||
	    op->alu.result[0].number != 255)
		return wsi_run_unimplemented(run, op);
	wsi_addresses(run, &op->at[0], true, addresses);
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		uint64_t window = addresses[lane] & ~(WSI_WINDOW_BYTES - 1);
		bool shared = window == WSI_SHARED_WINDOW, local = window == WSI_LOCAL_WINDOW;
		uint32_t rank = (uint32_t)addresses[lane] >> 24;
		bool own = run->sim->device->sm < 90 || rank == block->rank;
		bool there = own || (block->cluster && rank < block->cluster->n);
		bool yes = WSI_HAS(op, S)   ? shared && own
			   : WSI_HAS(op, D) ? shared && there
			   : WSI_HAS(op, L) ? local
					    : !shared && !local;
		in |= yes ? 1u << lane : 0;
	}
	wsi_pred_set(run->warp, &op->alu.predicate_result[0], in, run->mask);
	return WSI_STEP_NEXT;
}
