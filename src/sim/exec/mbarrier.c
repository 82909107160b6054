/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers in memory (PTX: mbarrier): words of 64 bits of shared memory. */
#include "sim/exec/access.h"

#include "objects/mbarrier.h"

uint64_t wsi_mbarrier_arrive_80(uint64_t word)
{
	struct wsi_barrier b;
	wsi_barrier_decode(80, word, &b);
	if (--b.pending == 0) {
		b.phase ^= 1;
		b.pending = b.expected;
	}
	return wsi_barrier_encode(80, &b) | b.others;
}

/* What is wrong with a change, or NULL. */
static const char *change(struct wsi_barrier *b, const struct wsi_arrival *a)
{
	if (b->expected == 0 && b->pending == 0)
		return "it is not initialised";
	if (a->count > b->pending)
		return "more arrivals than it expects";
	if (a->drops && a->count > b->expected)
		return "more threads leave than it expects";
	int64_t tx = b->tx + a->tx;
	if (tx > WSI_BARRIER_MAX_COUNT || tx < -WSI_BARRIER_MAX_COUNT)
		return "the count of its transactions is out of range";
	b->tx = (int32_t)tx;
	b->pending -= a->count;
	b->expected -= a->drops ? a->count : 0;
	if (b->pending == 0 && b->tx == 0) {
		b->phase ^= 1;
		b->pending = b->expected;
	}
	return NULL;
}

bool wsi_mbarrier_arrive(struct wsi_run *run, unsigned lane, uint64_t address,
			 const struct wsi_arrival *arrival, uint64_t *ret_old)
{
	struct wsi_lane_spot spot;
	if (!wsi_sim_spot(run, WS_SASS_SPACE_SHARED, lane, address, 8, true, &spot))
		return false;
	*ret_old = wsi_load_u64(spot.bytes);
	struct wsi_barrier b, before;
	wsi_barrier_decode(run->sim->device->sm, *ret_old, &b);
	before = b;
	const char *wrong = change(&b, arrival);
	if (wrong) {
		wsi_fault_at(run, CUDBG_EXCEPTION_WARP_ARRIVE, lane, address,
			     "mbarrier at 0x%x: %s (%u expected, %u pending, %d transaction bytes)",
			     (uint32_t)address, wrong, before.expected, before.pending, before.tx);
		return false;
	}
	wsi_store_u64(spot.bytes, wsi_barrier_encode(run->sim->device->sm, &b));
	return true;
}

/* ---- instructions ---- */

/* wsi_op.kind. EACH: as many as lanes of the warp are there [measured: with ART0, code of sm_107
 * multiplies the number by these, with ACT0 it does not]. */
enum { ARRIVE_ONE_TX, ARRIVE_ONE, ARRIVE_MANY, ARRIVE_EACH, EXPECT, COMPLETE, EXPECT_ONE };

/* wsi_op.type. ONCE: one lane does it for the warp, through uniform registers (USYNCS, SYNCSU). */
enum { DROPS = 1, TOGETHER = 2, WAITS = 4, ONCE = 8 };

void wsi_prepare_mbarrier(struct wsi_op *op)
{
	static const struct {
		enum ws_modifier modifier;
		uint8_t kind;
	} kinds[] = {
		{ WS_MOD_A1T0, ARRIVE_ONE }, { WS_MOD_ART0, ARRIVE_MANY },
		{ WS_MOD_A0TR, EXPECT },     { WS_MOD_A0TX, COMPLETE },
		{ WS_MOD_A0T1, EXPECT_ONE }, { WS_MOD_ACT0, ARRIVE_EACH },
	};
	const struct wsi_alu *alu = &op->alu;
	bool once = op->insn.operation != WS_OP_SYNCS, each = op->insn.operation == WS_OP_SYNCSU;
	bool ok = op->n_at == 1 && !ws_sass_has(&op->insn, WS_MOD_CONDITIONAL) &&
		  (once ? !ws_sass_has(&op->insn, WS_MOD_TMASK)
			: !ws_sass_has(&op->insn, WS_MOD_ACT0));
	op->type = (ws_sass_has(&op->insn, WS_MOD_OPTOUT) ? DROPS : 0) |
		   (ws_sass_has(&op->insn, WS_MOD_TMASK) ? TOGETHER : 0) |
		   (ws_sass_has(&op->insn, WS_MOD_TRYWAIT) ? WAITS : 0) | (once ? ONCE : 0);
	if (ws_sass_has(&op->insn, WS_MOD_ARRIVE)) {
		op->run = wsi_run_mbarrier_arrive;
		op->kind = ARRIVE_ONE_TX;
		for (unsigned i = 0; i < WSI_COUNT(kinds); i++)
			if (ws_sass_has(&op->insn, kinds[i].modifier))
				op->kind = each ? ARRIVE_EACH : kinds[i].kind;
		ok &= alu->n_sources == (each ? 0 : 1) && (each || alu->source[0].words == 1) &&
		      alu->n_results == 1 && alu->result[0].words == 2;
	} else if (ws_sass_has(&op->insn, WS_MOD_PHASECHK)) {
		op->run = wsi_run_mbarrier_test;
		ok &= alu->n_sources == 1 && alu->source[0].words == 1 &&
		      alu->n_predicate_results == 1;
	} else if (ws_sass_has(&op->insn, WS_MOD_EXCH)) {
		op->run = wsi_run_mbarrier_exchange;
		ok &= alu->n_sources == 1 && alu->source[0].words == 2 && alu->n_results == 1 &&
		      alu->result[0].words == 2;
	} else if (ws_sass_has(&op->insn, WS_MOD_CCTL) && op->n_at == 1) {
		op->run = wsi_run_nothing; /* nothing keeps a copy of a barrier */
	} else {
		ok = false;
	}
	if (!ok)
		op->run = wsi_run_unimplemented;
}

static struct wsi_arrival arrival_of(const struct wsi_op *op, uint32_t number)
{
	struct wsi_arrival a = { .drops = op->type & DROPS };
	a.count = op->kind == ARRIVE_MANY || op->kind == ARRIVE_EACH    ? number
		  : op->kind == ARRIVE_ONE || op->kind == ARRIVE_ONE_TX ? 1
									: 0;
	a.tx = op->kind == EXPECT || op->kind == ARRIVE_ONE_TX ? (int32_t)number
	       : op->kind == COMPLETE                          ? -(int64_t)(int32_t)number
	       : op->kind == EXPECT_ONE                        ? 1
							       : 0;
	return a;
}

/* With `.TMASK` the result is of all lanes with one address together: their mask, and the upper
 * half of the barrier before any of them came. Code adds what the lanes before each arrived with.
 */
static void store_state(struct wsi_run *run, const struct wsi_op *op,
			const uint64_t addresses[WSI_LANES], const uint64_t old[WSI_LANES])
{
	uint8_t number = op->alu.result[0].number;
	bool together = op->type & TOGETHER;
	if (number == 255)
		return;
	if (op->type & ONCE) {
		unsigned lane = wsi_first_bit(run->mask);
		run->warp->uregs[number] = (uint32_t)old[lane];
		run->warp->uregs[number + 1u] = (uint32_t)(old[lane] >> 32);
		return;
	}
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left), first = lane;
		uint32_t peers = 0;
		for (uint32_t others = run->mask; others; others &= others - 1) {
			unsigned other = wsi_first_bit(others);
			peers |= addresses[other] == addresses[lane] ? 1u << other : 0;
		}
		if (together)
			first = wsi_first_bit(peers);
		wsi_reg(run->warp, number)[lane] = together ? peers : (uint32_t)old[lane];
		wsi_reg(run->warp, number + 1u)[lane] = (uint32_t)(old[first] >> 32);
	}
}

enum wsi_step wsi_run_mbarrier_arrive(struct wsi_run *run, const struct wsi_op *op)
{
	uint64_t addresses[WSI_LANES], old[WSI_LANES];
	uint32_t scratch[4 * WSI_LANES], bad = 0;
	uint32_t left = op->type & ONCE ? run->mask & -run->mask : run->mask;
	const uint32_t *number =
		op->alu.n_sources ? wsi_sim_source(run, &op->alu.source[0], scratch) : scratch;
	if (!number)
		return WSI_STEP_FAULT;
	if (op->kind == ARRIVE_EACH) {
		scratch[wsi_first_bit(left)] = wsi_count_bits(run->mask);
		number = scratch;
	}
	wsi_addresses(run, &op->at[0], false, addresses);
	for (; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		struct wsi_arrival arrival = arrival_of(op, number[lane]);
		old[lane] = 0;
		if (!wsi_mbarrier_arrive(run, lane, addresses[lane], &arrival, &old[lane]))
			bad |= 1u << lane;
	}
	if (bad && !wsi_fault_postpone(run, bad))
		return WSI_STEP_FAULT;
	store_state(run, op, addresses, old);
	return WSI_STEP_NEXT;
}

/* Whether the phase is over whose parity is bit 31 of the operand: that of a state, or a number. A
 * test that may wait lets others run first. */
enum wsi_step wsi_run_mbarrier_test(struct wsi_run *run, const struct wsi_op *op)
{
	uint64_t addresses[WSI_LANES];
	uint32_t scratch[4 * WSI_LANES], over = 0, good;
	struct wsi_lane_spot spots[WSI_LANES];
	const uint32_t *parity = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!parity)
		return WSI_STEP_FAULT;
	wsi_addresses(run, &op->at[0], false, addresses);
	if (!wsi_spots(run, WS_SASS_SPACE_SHARED, run->mask, addresses, 8, false, spots, &good))
		return WSI_STEP_FAULT;
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint32_t phase = good >> lane & 1 ? wsi_load_u32(spots[lane].bytes + 4) : 0;
		over |= (phase ^ parity[lane]) >> 31 ? 1u << lane : 0;
	}
	wsi_pred_set(run->warp, &op->alu.predicate_result[0], over, run->mask);
	return op->type & WAITS && over != run->mask ? WSI_STEP_YIELD : WSI_STEP_NEXT;
}

enum wsi_step wsi_run_mbarrier_exchange(struct wsi_run *run, const struct wsi_op *op)
{
	uint64_t addresses[WSI_LANES];
	uint32_t scratch[4 * WSI_LANES];
	struct wsi_lane_spot spot;
	unsigned lane = wsi_first_bit(run->mask);
	uint8_t to = op->alu.result[0].number;
	const uint32_t *value = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!value)
		return WSI_STEP_FAULT;
	wsi_addresses(run, &op->at[0], false, addresses);
	if (!wsi_sim_spot(run, WS_SASS_SPACE_SHARED, lane, addresses[lane], 8, true, &spot))
		return wsi_fault_together(run);
	if (to != 255) {
		run->warp->uregs[to] = wsi_load_u32(spot.bytes);
		run->warp->uregs[to + 1u] = wsi_load_u32(spot.bytes + 4);
	}
	wsi_store_u32(spot.bytes, value[lane]);
	wsi_store_u32(spot.bytes + 4, value[WSI_LANES + lane]);
	return WSI_STEP_NEXT;
}

/* ARRIVES: arrives when the copies that these lanes began before are done. They are. */
void wsi_prepare_arrives(struct wsi_op *op)
{
	bool transaction = ws_sass_has(&op->insn, WS_MOD_TRANSCNT);
	op->kind = transaction ? COMPLETE : ARRIVE_ONE;
	if (op->n_at != 1 || op->bytes != 8 || !ws_sass_has(&op->insn, WS_MOD_LDGSTSBAR))
		op->run = wsi_run_unimplemented;
}

enum wsi_step wsi_run_arrives(struct wsi_run *run, const struct wsi_op *op)
{
	uint64_t addresses[WSI_LANES], old;
	uint32_t bad = 0;
	wsi_addresses(run, &op->at[0], false, addresses);
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		struct wsi_arrival arrival = arrival_of(op, 1);
		struct wsi_lane_spot spot;
		if (run->sim->device->sm >= 90) {
			if (!wsi_mbarrier_arrive(run, lane, addresses[lane], &arrival, &old))
				bad |= 1u << lane;
		} else if (wsi_sim_spot(run, WS_SASS_SPACE_SHARED, lane, addresses[lane], 8, true,
					&spot)) {
			wsi_store_u64(spot.bytes, wsi_mbarrier_arrive_80(wsi_load_u64(spot.bytes)));
		} else {
			bad |= 1u << lane;
		}
	}
	return !bad || wsi_fault_postpone(run, bad) ? WSI_STEP_NEXT : WSI_STEP_FAULT;
}
