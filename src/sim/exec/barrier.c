/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers of blocks and clusters. */
#include "sim/check/check.h"
#include "sim/exec/exec.h"

/* ---- blocks ---- */

/* Threads of a warp that have arrived: a warp that is there with all that is left of it counts as
 * a whole one, as barriers count warps. */
static uint32_t counted(const struct wsi_warp *warp, unsigned bar)
{
	uint32_t here = warp->arrived[bar];
	if (here == 0)
		return 0;
	return (warp->live & ~here) == 0 ? WSI_LANES : wsi_count_bits(here);
}

static bool complete_barrier(const struct wsi_block *block, unsigned bar)
{
	uint32_t expected = block->bar[bar].expected, n = 0;
	for (uint32_t i = 0; i < block->n_warps; i++) {
		const struct wsi_warp *warp = block->warps[i];
		if (expected == 0 && (warp->live & ~warp->arrived[bar]) != 0)
			return false;
		n += counted(warp, bar);
	}
	return expected == 0 || n >= expected;
}

static void release_barrier(struct ws_sim *sim, struct wsi_block *block, unsigned number)
{
	struct wsi_bar *bar = &block->bar[number];
	if (block->trace)
		wsi_check_barrier(block, number);
	for (uint32_t i = 0; i < block->n_warps; i++) {
		struct wsi_warp *warp = block->warps[i];
		uint32_t waiting = 0;
		for (uint32_t left = warp->barred & warp->arrived[number]; left; left &= left - 1) {
			unsigned lane = wsi_first_bit(left);
			waiting |= warp->park[lane] == number ? 1u << lane : 0;
		}
		if (warp->arrived[number] != 0) {
			warp->bar_result = bar->popc;
			warp->bar_yes = bar->of_all ? bar->all : bar->any;
		}
		warp->barred &= ~waiting;
		warp->ready |= waiting;
		wsi_wake(sim, warp);
		warp->released |= waiting != 0;
		warp->arrived[number] = 0;
	}
	*bar = (struct wsi_bar){ .all = true };
}

void wsi_bar_check(struct ws_sim *sim, struct wsi_block *block)
{
	for (unsigned i = 0; i < WSI_BARRIERS; i++)
		if (block->bar[i].in_use && complete_barrier(block, i))
			release_barrier(sim, block, i);
}

/* The barrier's number and count of threads; false: not what hardware takes. */
static bool bar_operands(struct wsi_run *run, const struct wsi_op *op, uint32_t *ret_number,
			 uint32_t *ret_threads)
{
	uint32_t scratch[4 * WSI_LANES], values[2] = { 0, 0 };
	unsigned lane = wsi_first_bit(run->mask);
	for (unsigned i = 0; i < op->alu.n_sources && i < 2; i++) {
		const uint32_t *source = wsi_sim_source(run, &op->alu.source[i], scratch);
		if (!source)
			return false;
		values[i] = source[lane];
	}
	*ret_number = values[0];
	*ret_threads = values[1];
	/* two registers are one, which says both: bits 0-3 and 16-27 [measured: nvcc 13.0] */
	if (op->alu.n_sources > 1 && op->alu.source[0].place == WSI_ALU_REG &&
	    op->alu.source[1].place == WSI_ALU_REG) {
		*ret_number = values[0] & 15;
		*ret_threads = values[0] >> 16 & 0xfff;
	}
	return *ret_number < WSI_BARRIERS && *ret_threads % WSI_LANES == 0;
}

enum wsi_step wsi_run_bar(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	struct wsi_block *block = warp->block;
	uint32_t number, threads;
	if (WSI_HAS(op, SCAN))
		return wsi_run_unimplemented(run, op);
	if (!bar_operands(run, op, &number, &threads))
		return wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, run->mask,
				 "barrier %u for %u threads", number, threads);
	struct wsi_bar *bar = &block->bar[number];
	if (!bar->in_use)
		*bar = (struct wsi_bar){ .all = true, .in_use = true, .expected = threads };
	if (bar->expected != threads)
		return wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, run->mask,
				 "barrier %u is for %u threads, this one says %u", number,
				 bar->expected, threads);
	if (WSI_HAS(op, RED)) {
		uint32_t yes = run->mask & wsi_pred_source(run, op, op->alu.n_predicates - 1u);
		bar->popc += wsi_count_bits(yes);
		bar->any |= yes != 0;
		bar->all &= yes == run->mask;
		bar->of_all = WSI_HAS(op, AND);
	}
	if (block->trace && threads == 0 && !WSI_HAS(op, ARV))
		wsi_check_arrive(run, number);
	warp->arrived[number] |= run->mask;
	if (!WSI_HAS(op, ARV)) {
		for (uint32_t left = run->mask; left; left &= left - 1)
			warp->park[wsi_first_bit(left)] = (uint8_t)number;
		warp->barred |= run->mask;
		warp->ready &= ~run->mask;
	}
	if (complete_barrier(block, number))
		release_barrier(run->sim, block, number);
	return WSI_STEP_SPLIT;
}

enum wsi_step wsi_run_b2r(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	if (op->alu.n_results != 1 || !WSI_HAS(op, RESULT))
		return wsi_run_unimplemented(run, op);
	uint8_t number = op->alu.result[0].number;
	for (uint32_t left = number == 255 ? 0 : run->mask; left; left &= left - 1)
		wsi_reg(warp, number)[wsi_first_bit(left)] = warp->bar_result;
	for (unsigned i = 0; i < op->alu.n_predicate_results; i++)
		wsi_pred_set(warp, &op->alu.predicate_result[i], warp->bar_yes ? UINT32_MAX : 0,
			     run->mask);
	return WSI_STEP_NEXT;
}

/* ---- clusters ---- */

/* Goes on when all threads of all blocks have arrived or exited. */
void wsi_cluster_check(struct ws_sim *sim, struct wsi_cluster *cluster)
{
	for (uint32_t i = 0; i < cluster->n; i++) {
		const struct wsi_block *block = cluster->peers[i];
		for (uint32_t k = 0; block && k < block->n_warps; k++)
			if (block->warps[k]->live & ~block->warps[k]->cluster_arrived)
				return;
	}
	wsi_check_cluster(cluster);
	for (uint32_t i = 0; i < cluster->n; i++) {
		const struct wsi_block *block = cluster->peers[i];
		for (uint32_t k = 0; block && k < block->n_warps; k++) {
			struct wsi_warp *warp = block->warps[k];
			warp->ready |= warp->clustered & warp->live;
			wsi_wake(sim, warp);
			warp->released |= warp->clustered != 0;
			warp->cluster_passed |= warp->cluster_arrived & ~warp->clustered;
			warp->clustered = 0;
			warp->cluster_arrived = 0;
		}
	}
}

enum wsi_step wsi_run_cluster_arrive(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	(void)op;
	warp->cluster_arrived |= run->mask;
	warp->cluster_passed &= ~run->mask;
	if (warp->block->cluster) {
		wsi_cluster_check(run->sim, warp->block->cluster);
		return WSI_STEP_NEXT;
	}
	struct wsi_cluster alone = { .peers = { warp->block }, .n = 1 };
	wsi_cluster_check(run->sim, &alone);
	return WSI_STEP_NEXT;
}

/* Lanes whose arrival was not yet answered wait. */
enum wsi_step wsi_run_cluster_wait(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	(void)op;
	uint32_t waits = run->mask & ~warp->cluster_passed;
	warp->cluster_passed &= ~run->mask;
	warp->clustered |= waits;
	warp->ready &= ~waits;
	return WSI_STEP_SPLIT;
}
