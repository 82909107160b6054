/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and reductions of whole blocks of bytes, stores that a barrier in memory counts, and
 * answers that one counts. All are done at once, in one piece: any order is right for code that
 * waits.
 */
#include "sim/check/check.h"
#include "sim/exec/access.h"
#include "sim/exec/exec.h"

enum { PIECE = 16, MAX_PIECES = 0xffff };
enum { TO_SHARED = 1, FROM_SHARED = 2, MULTICAST = 4, MASKED = 8 }; /* wsi_op.type */

bool wsi_complete(struct wsi_run *run, unsigned lane, uint32_t barrier, uint32_t bytes)
{
	struct wsi_arrival arrival = { .tx = -(int64_t)bytes };
	uint64_t old;
	return wsi_mbarrier_arrive(run, lane, barrier, &arrival, &old);
}

uint32_t wsi_shared_peer(uint32_t address, unsigned rank)
{
	return (address & 0xffffff) | rank << 24;
}

/* ---- blocks of bytes ---- */

/* What is done to 16 bytes. */
struct bulk_work {
	uint32_t mask; /* bytes that are copied */
	enum wsi_reduction reduction;
	enum wsi_sim_element element;
};

static bool transfer_bulk(struct wsi_run *run, const struct wsi_op *op,
			  const struct bulk_work *work, uint64_t to, uint64_t from, uint32_t pieces)
{
	unsigned lane = wsi_first_bit(run->mask);
	enum ws_sass_space to_space =
		op->type & TO_SHARED ? WS_SASS_SPACE_SHARED : WS_SASS_SPACE_GLOBAL;
	enum ws_sass_space from_space =
		op->type & FROM_SHARED ? WS_SASS_SPACE_SHARED : WS_SASS_SPACE_GLOBAL;
	wsi_labor(run, (uint64_t)pieces * PIECE);
	for (uint64_t at = 0; at < (uint64_t)pieces * PIECE; at += PIECE) {
		struct wsi_lane_spot source, target;
		if (!wsi_sim_spot(run, from_space, lane, from + at, PIECE, false, &source))
			return false;
		uint8_t bytes[PIECE]; /* the write may move the page */
		memcpy(bytes, source.bytes, PIECE);
		if (!wsi_sim_spot(run, to_space, lane, to + at, PIECE, true, &target))
			return false;
		if (work->reduction != WSI_REDUCE_NONE)
			wsi_reduce_bytes(work->reduction, work->element, target.bytes, bytes,
					 PIECE);
		else
			for (unsigned i = 0; i < PIECE; i++)
				target.bytes[i] = work->mask >> i & 1 ? bytes[i] : target.bytes[i];
	}
	return true;
}

/* Address in one uniform register or two. */
static uint64_t uniform_address(const struct wsi_run *run, const struct wsi_op_address *at)
{
	return at->ureg_words == 2 ? wsi_ureg64(run->warp, at->ureg)
				   : wsi_ureg(run->warp, at->ureg);
}

static bool take_direction(struct wsi_op *op)
{
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	size_t n = ws_sass_modifiers(&op->insn, mods, WSI_COUNT(mods));
	if (n < 2 || op->n_at != 2 || op->at[0].ureg_words != 2 || op->alu.n_sources != 1)
		return false;
	op->type = (mods[0] == WS_MOD_S ? TO_SHARED : 0) | (mods[1] == WS_MOD_S ? FROM_SHARED : 0);
	return op->type != 0 && op->at[1].ureg_words == (op->type & FROM_SHARED ? 1 : 2);
}

void wsi_prepare_bulk(struct wsi_op *op)
{
	const struct ws_insn *insn = &op->insn;
	bool reduces = insn->operation == WS_OP_UBLKRED;
	bool ok = take_direction(op) && !ws_sass_has(insn, WS_MOD_SEQUENCED) &&
		  !ws_sass_has(insn, WS_MOD_COUNTED);
	op->type |= (ws_sass_has(insn, WS_MOD_MULTICAST) ? MULTICAST : 0) |
		    (ws_sass_has(insn, WS_MOD_DST_G_BYTE_MASK) ? MASKED : 0);
	ok &= !(op->type & MASKED) || !(op->type & (TO_SHARED | MULTICAST));
	op->kind = WSI_REDUCE_NONE;
	if (reduces) {
		op->kind = (uint8_t)wsi_reduction_of(insn);
		ok &= wsi_can_reduce(op->kind, wsi_element_of(insn, 4));
	}
	if (!ok)
		op->run = wsi_run_unimplemented;
}

/* The size is in units of 16 bytes; above it a mask of blocks or bytes. What ends in shared memory
 * tells a barrier, whose address is in the second register. */
enum wsi_step wsi_run_bulk(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t scratch[4 * WSI_LANES];
	unsigned lane = wsi_first_bit(run->mask);
	const uint32_t *packed = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!packed)
		return WSI_STEP_FAULT;
	uint32_t pieces = packed[lane] & 0xffff, mask = packed[lane] >> 16;
	struct bulk_work work = { .mask = op->type & MASKED ? mask : 0xffff,
				  .reduction = op->kind,
				  .element = wsi_element_of(&op->insn, 4) };
	uint64_t to = uniform_address(run, &op->at[0]), from = uniform_address(run, &op->at[1]);
	if (!(op->type & TO_SHARED))
		return transfer_bulk(run, op, &work, to, from, pieces) ? WSI_STEP_NEXT
								       : wsi_fault_together(run);
	uint32_t barrier = (uint32_t)(to >> 32);
	to = (uint32_t)to;
	if (!(op->type & MULTICAST))
		return transfer_bulk(run, op, &work, to, from, pieces) &&
				       wsi_complete(run, lane, barrier, pieces * PIECE)
			       ? WSI_STEP_NEXT
			       : wsi_fault_together(run);
	for (unsigned rank = 0; rank < WSI_MAX_CLUSTER; rank++)
		if (mask >> rank & 1 &&
		    (!transfer_bulk(run, op, &work, wsi_shared_peer((uint32_t)to, rank), from,
				    pieces) ||
		     !wsi_complete(run, lane, wsi_shared_peer(barrier, rank), pieces * PIECE)))
			return wsi_fault_together(run);
	return WSI_STEP_NEXT;
}

/* ---- zeros ---- */

void wsi_prepare_clear(struct wsi_op *op)
{
	const struct wsi_alu *alu = &op->alu;
	if (op->n_at != 1 || op->at[0].ureg_words != 1 || alu->n_sources != 2 ||
	    alu->source[0].place != WSI_ALU_UREG || alu->source[0].number != 255 ||
	    alu->source[1].place != WSI_ALU_UREG || alu->source[1].words != 1 || !WSI_HAS(op, 64))
		op->run = wsi_run_unimplemented;
}

/* So many pieces of 8 bytes of shared memory [measured: what ptxas makes of st.bulk]. */
enum wsi_step wsi_run_clear(struct wsi_run *run, const struct wsi_op *op)
{
	enum { UNIT = 8 };
	uint64_t at = wsi_ureg(run->warp, op->at[0].ureg) + (uint32_t)op->at[0].offset;
	uint32_t n = wsi_ureg(run->warp, op->alu.source[1].number);
	wsi_labor(run, wsi_min_u64((uint64_t)n * UNIT, WSI_WINDOW_BYTES >> 12));
	for (uint32_t i = 0; i < n; i++, at += UNIT) {
		unsigned lane = wsi_first_bit(run->mask);
		uint8_t before[UNIT];
		struct wsi_lane_spot spot;
		if (!wsi_sim_spot(run, WS_SASS_SPACE_SHARED, lane, at, UNIT, true, &spot))
			return wsi_fault_together(run);
		memcpy(before, spot.bytes, UNIT);
		memset(spot.bytes, 0, UNIT);
		if (run->sim->check)
			wsi_check_stored(run, WS_SASS_SPACE_SHARED, lane, at, before, UNIT);
	}
	return WSI_STEP_NEXT;
}

/* ---- by lane: into shared memory of the cluster ---- */

void wsi_prepare_counted_store(struct wsi_op *op)
{
	const struct wsi_op_address *at = &op->at[0];
	bool reduces = op->insn.operation == WS_OP_REDAS;
	op->kind = reduces ? (uint8_t)wsi_reduction_of(&op->insn) : WSI_REDUCE_EXCH;
	op->type = (uint8_t)wsi_element_of(&op->insn, op->bytes);
	if (op->n_at != 1 || at->reg_words != 2 || at->ureg_words != 0 || at->offset != 0 ||
	    op->alu.n_sources != 1 || op->alu.source[0].words != op->bytes / 4 ||
	    (reduces && !wsi_can_reduce(op->kind, op->type)))
		op->run = wsi_run_unimplemented;
}

/* A pair of registers has the address of the value and that of the barrier. */
enum wsi_step wsi_run_counted_store(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t scratch[4 * WSI_LANES];
	const uint32_t *value = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!value)
		return WSI_STEP_FAULT;
	uint64_t addresses[WSI_LANES] = { 0 };
	struct wsi_lane_spot spots[WSI_LANES];
	uint32_t good, bad = 0;
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		addresses[lane] = wsi_lane_value(run->warp, op->at[0].reg, lane);
	}
	if (!wsi_spots(run, WS_SASS_SPACE_SHARED, run->mask, addresses, op->bytes, true, spots,
		       &good))
		return WSI_STEP_FAULT;
	for (uint32_t left = good; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint64_t barrier = wsi_reg64(run->warp, op->at[0].reg, lane) >> 32;
		uint8_t bytes[4 * sizeof(uint32_t)];
		for (unsigned k = 0; k < op->bytes / 4u; k++)
			wsi_store_u32(bytes + 4 * k, value[k * WSI_LANES + lane]);
		if (op->kind == WSI_REDUCE_EXCH)
			memcpy(spots[lane].bytes, bytes, op->bytes);
		else
			wsi_reduce_bytes(op->kind, op->type, spots[lane].bytes, bytes, op->bytes);
		if (!wsi_complete(run, lane, (uint32_t)barrier, op->bytes))
			bad |= 1u << lane;
	}
	return !bad || wsi_fault_postpone(run, bad) ? WSI_STEP_NEXT : WSI_STEP_FAULT;
}

/* ---- which cluster was not launched ---- */

void wsi_prepare_next_work(struct wsi_op *op)
{
	op->type = ws_sass_has(&op->insn, WS_MOD_BROADCAST) ? MULTICAST : 0;
	if (op->n_at != 2 || op->at[0].ureg_words != 1 || op->at[1].ureg_words != 1)
		op->run = wsi_run_unimplemented;
}

/* What code asks of the 16 bytes [measured: what ptxas makes of query_cancel]: in the first word x,
 * in the second y and above it z, in the third whether there was a cluster. */
enum wsi_step wsi_run_next_work(struct wsi_run *run, const struct wsi_op *op)
{
	const struct wsi_block *own = run->warp->block;
	uint32_t to = wsi_ureg(run->warp, op->at[0].ureg) + (uint32_t)op->at[0].offset;
	uint32_t barrier = wsi_ureg(run->warp, op->at[1].ureg) + (uint32_t)op->at[1].offset;
	unsigned lane = wsi_first_bit(run->mask), n = 1;
	struct ws_dim3 first = { 0 };
	bool found = wsi_launch_cancel(own, &first);
	const uint32_t words[] = { first.x, first.y | first.z << 16, found, 0 };
	bool all = op->type & MULTICAST && own->cluster;
	if (all)
		n = own->cluster->n;
	for (unsigned rank = 0; rank < n; rank++) {
		struct wsi_lane_spot spot;
		uint32_t at = all ? wsi_shared_peer(to, rank) : to;
		if (!wsi_sim_spot(run, WS_SASS_SPACE_SHARED, lane, at, sizeof words, true, &spot))
			return wsi_fault_together(run);
		for (unsigned i = 0; i < WSI_COUNT(words); i++)
			wsi_store_u32(spot.bytes + 4 * (size_t)i, words[i]);
		if (!wsi_complete(run, lane, all ? wsi_shared_peer(barrier, rank) : barrier,
				  sizeof words))
			return wsi_fault_together(run);
	}
	return WSI_STEP_NEXT;
}
