/* SPDX-License-Identifier: Apache-2.0 */
/* Branches, calls, exits, and where the lanes of a warp meet again. */
#include "sim/check/check.h"
#include "sim/exec/exec.h"
#include "sim/exec/tmem.h"

enum { MAX_DEPTH = 200 };

/* Lanes of the group go to `pc`, the others stay where they are put: next to this instruction. */
static enum wsi_step lanes_go(struct wsi_run *run, uint32_t lanes, uint64_t pc)
{
	if (lanes == run->group) {
		run->pc = pc;
		return WSI_STEP_JUMP;
	}
	for (uint32_t left = lanes; left; left &= left - 1)
		run->warp->pc[wsi_first_bit(left)] = pc;
	return lanes ? WSI_STEP_SPLIT : WSI_STEP_NEXT;
}

/* Lanes for which all predicates in front of a target are true. */
static uint32_t conditions(const struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t lanes = run->mask;
	for (unsigned i = 0; i < op->alu.n_predicates; i++)
		lanes &= wsi_pred_source(run, op, i);
	return lanes;
}

/*
 * BRA.DIV and BRA.CONV ask whether the lanes of a mask (all that are left, without one) are
 * together, counting those that the guard lets execute. All of the group jump, or none: code
 * guards BRA.DIV so that lanes with another mask make it jump. Group is what runs, so this must
 * be asked even if the guard holds for nobody.
 */
enum wsi_step wsi_run_bra_div(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t mask = run->warp->live;
	if (op->alu.n_sources > 0) {
		if (op->alu.source[0].place != WSI_ALU_UREG)
			return wsi_run_unimplemented(run, op);
		mask &= wsi_ureg(run->warp, op->alu.source[0].number) ^ op->alu.flip[0];
	}
	bool together = conditions(run, op) == mask;
	return lanes_go(run, together == WSI_HAS(op, CONV) ? run->group : 0, op->target);
}

void wsi_prepare_bra(struct wsi_op *op)
{
	struct wsi_alu *alu = &op->alu;
	if (op->insn.operation == WS_OP_JMP && alu->n_sources > 0 &&
	    alu->source[alu->n_sources - 1].place == WSI_ALU_NUMBER) /* an address */
		op->target = alu->source[--alu->n_sources].value;
	if (!WSI_HAS(op, DIV) && !WSI_HAS(op, CONV))
		return;
	op->run = wsi_run_bra_div;
	op->always = true;
}

enum wsi_step wsi_run_bra(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t lanes = conditions(run, op);
	if (op->alu.n_sources > 0 || op->n_at > 0)
		return wsi_run_unimplemented(run, op);
	/* `.U.ANY`: if one jumps, all do: a loop that takes lanes one by one */
	if (WSI_HAS(op, U) && WSI_HAS(op, ANY))
		return lanes_go(run, lanes ? run->group : 0, op->target);
	return lanes_go(run, lanes, op->target);
}

/* Register pair plus what the instruction adds. */
static uint64_t jump_target(const struct wsi_run *run, const struct wsi_op *op, unsigned lane)
{
	uint64_t target = op->target;
	for (unsigned i = 0; i < op->alu.n_sources; i++) {
		const struct wsi_alu_value *v = &op->alu.source[i];
		if (v->place == WSI_ALU_NUMBER)
			target += v->value;
		else if (v->place == WSI_ALU_UREG && v->number != 255)
			target += run->warp->uregs[v->number] |
				  (uint64_t)run->warp->uregs[v->number + 1] << 32;
		else if (v->place == WSI_ALU_REG)
			target += wsi_reg64(run->warp, v->number, lane);
	}
	return target;
}

/* Jumps lane by lane; all in one go when they agree. */
static enum wsi_step go_each(struct wsi_run *run, const struct wsi_op *op, uint32_t lanes,
			     uint64_t base)
{
	uint64_t first = 0;
	bool same = true;
	if (lanes == 0)
		return WSI_STEP_NEXT;
	for (uint32_t left = lanes; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint64_t target = base + jump_target(run, op, lane);
		run->warp->pc[lane] = target;
		same &= left == lanes || target == first;
		first = left == lanes ? target : first;
	}
	if (!same || lanes != run->group)
		return WSI_STEP_SPLIT;
	run->pc = first;
	return WSI_STEP_JUMP;
}

enum wsi_step wsi_run_brx(struct wsi_run *run, const struct wsi_op *op)
{
	bool relative = op->insn.operation == WS_OP_BRX || op->insn.operation == WS_OP_BRXU;
	return go_each(run, op, conditions(run, op), relative ? run->pc + WS_SASS_BYTES : 0);
}

/* ---- calls ---- */

/* Room for one more level of return addresses. */
static bool deepen(struct wsi_run *run, unsigned depth)
{
	enum { MORE = 8 };
	struct wsi_warp *warp = run->warp;
	if (depth < warp->n_frames)
		return true;
	uint64_t *frames = NULL;
	if (wsi_block_take(run->sim, warp->block, "call stacks of a warp",
			   MORE * WSI_LANES * sizeof *frames))
		frames = wsi_realloc_array(
			warp->frames, (size_t)(warp->n_frames + MORE) * WSI_LANES, sizeof *frames);
	if (!frames) {
		run->no_memory = true;
		return false;
	}
	warp->frames = frames;
	warp->n_frames += MORE;
	return true;
}

/* The call stack is kept for debuggers only: code keeps its return addresses in registers. */
static void enter(struct wsi_run *run, uint32_t lanes)
{
	struct wsi_warp *warp = run->warp;
	for (uint32_t left = lanes; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		if (warp->depth[lane] >= MAX_DEPTH || !deepen(run, warp->depth[lane]))
			continue;
		warp->frames[(size_t)warp->depth[lane]++ * WSI_LANES + lane] =
			run->pc + WS_SASS_BYTES;
	}
}

void wsi_sim_leave(struct wsi_warp *warp, unsigned lane, uint64_t target)
{
	for (unsigned depth = warp->depth[lane]; depth > 0; depth--) {
		if (warp->frames[(size_t)(depth - 1) * WSI_LANES + lane] == target) {
			warp->depth[lane] = (uint8_t)(depth - 1);
			return;
		}
	}
}

enum wsi_step wsi_run_call(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t lanes = conditions(run, op);
	enter(run, lanes);
	if (run->no_memory)
		return WSI_STEP_FAULT;
	if (op->n_at > 0)
		return wsi_run_unimplemented(run, op);
	if (op->alu.n_sources == 0)
		return lanes_go(run, lanes, op->target);
	return go_each(run, op, lanes, 0);
}

enum wsi_step wsi_run_ret(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t lanes = conditions(run, op);
	for (uint32_t left = lanes; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		wsi_sim_leave(run->warp, lane, jump_target(run, op, lane));
	}
	return go_each(run, op, lanes, 0);
}

enum wsi_step wsi_run_lepc(struct wsi_run *run, const struct wsi_op *op)
{
	const struct wsi_alu_value *to = &op->alu.result[0];
	uint64_t pc = op->target ? op->target : run->pc;
	if (op->alu.n_results != 1 || to->words != 2)
		return wsi_run_unimplemented(run, op);
	if (to->number == 255)
		return WSI_STEP_NEXT;
	if (to->place == WSI_ALU_UREG) {
		run->warp->uregs[to->number] = (uint32_t)pc;
		run->warp->uregs[to->number + 1u] = (uint32_t)(pc >> 32);
		return WSI_STEP_NEXT;
	}
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		wsi_reg(run->warp, to->number)[lane] = (uint32_t)pc;
		wsi_reg(run->warp, to->number + 1u)[lane] = (uint32_t)(pc >> 32);
	}
	return WSI_STEP_NEXT;
}

/* ---- ends ---- */

/* Lanes leave. */
static void lanes_exit(struct wsi_run *run, uint32_t lanes)
{
	struct wsi_warp *warp = run->warp;
	warp->live &= ~lanes;
	warp->ready &= ~lanes;
	wsi_converge(warp);
	wsi_bar_check(run->sim, warp->block);
	if (warp->block->cluster)
		wsi_cluster_check(run->sim, warp->block->cluster);
}

enum wsi_step wsi_run_exit(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t lanes = conditions(run, op);
	if (lanes == 0)
		return WSI_STEP_NEXT;
	if (!wsi_tmem_leave(run, lanes))
		return WSI_STEP_FAULT;
	lanes_exit(run, lanes);
	return WSI_STEP_SPLIT;
}

enum wsi_step wsi_run_bpt(struct wsi_run *run, const struct wsi_op *op)
{
	(void)op;
	return wsi_fault(run, WS_SIM_TRAP, run->mask, "trap");
}

enum wsi_step wsi_run_nothing(struct wsi_run *run, const struct wsi_op *op)
{
	(void)run;
	(void)op;
	return WSI_STEP_NEXT;
}

/* Of the operations on the L2 cache by tiles and blocks only a prefetch does nothing that can be
 * seen. */
void wsi_prepare_prefetch(struct wsi_op *op)
{
	if (!ws_sass_has(&op->insn, WS_MOD_PF))
		op->run = wsi_run_unimplemented;
}

/* ---- convergence ---- */

/* Lanes go on as one group. */
static void meet_lanes(struct wsi_warp *warp, uint32_t lanes)
{
	warp->ready |= lanes;
	for (uint32_t left = lanes; left; left &= left - 1)
		warp->team[wsi_first_bit(left)] = lanes;
	if (warp->trace)
		wsi_check_together(warp, lanes);
}

/* Lanes leave a barrier without the others of their mask, who no longer wait for them. */
static void desert(struct wsi_warp *warp, unsigned barrier, uint32_t mask, uint32_t lanes)
{
	for (uint32_t peers = mask & ~lanes; peers; peers &= peers - 1) {
		unsigned peer = wsi_first_bit(peers);
		if (warp->converge[barrier][peer] == mask)
			warp->converge[barrier][peer] = mask & ~lanes;
	}
}

/*
 * Lanes that are all parked where their mask says go on. A lane that is parked at the same barrier
 * with another mask is at another depth of a recursion: it is not there yet. Lanes that have
 * yielded are not waited for, unless the barrier is reliable: they may need those who wait here.
 */
static void unpark(struct wsi_warp *warp)
{
	for (uint32_t left = warp->parked; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left), b = warp->park[lane];
		uint32_t want = (warp->converge[b][lane] & warp->live) | 1u << lane, there = 0;
		for (uint32_t others = want & warp->parked; others; others &= others - 1) {
			unsigned other = wsi_first_bit(others);
			uint32_t wants = (warp->converge[b][other] & warp->live) | 1u << other;
			there |= warp->park[other] == b && wants == want ? 1u << other : 0;
		}
		if ((want & ~there & ~(warp->firm >> lane & 1 ? 0 : warp->yielded)) != 0)
			continue;
		if (there != want)
			desert(warp, b, warp->converge[b][lane], there);
		warp->parked &= ~there; /* all of them at once */
		meet_lanes(warp, there);
		left &= ~there | 1u << lane;
	}
}

enum wsi_step wsi_run_yield(struct wsi_run *run, const struct wsi_op *op)
{
	if (op->insn.operation == WS_OP_YIELD) {
		run->warp->yielded |= run->mask;
		unpark(run->warp);
	} else {
		run->warp->asleep |= run->mask;
	}
	return WSI_STEP_YIELD;
}

/* Lets lanes go on behind WARPSYNC once all lanes of a mask wait with that mask. */
static void resync(struct wsi_warp *warp)
{
	for (uint32_t left = warp->syncing; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint32_t want = (warp->sync_mask[lane] & warp->live) | 1u << lane, there = 0;
		for (uint32_t others = want & warp->syncing; others; others &= others - 1) {
			unsigned other = wsi_first_bit(others);
			uint32_t wants = (warp->sync_mask[other] & warp->live) | 1u << other;
			there |= wants == want ? 1u << other : 0;
		}
		if (there == want) {
			warp->syncing &= ~want;
			meet_lanes(warp, want);
			left &= ~want | 1u << lane;
		}
	}
}

void wsi_converge(struct wsi_warp *warp)
{
	if (warp->parked)
		unpark(warp);
	if (warp->syncing)
		resync(warp);
}

enum wsi_step wsi_run_bssy(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t lanes = conditions(run, op);
	if (op->kind >= WSI_BARRIERS)
		return wsi_run_unimplemented(run, op);
	for (uint32_t left = lanes; left; left &= left - 1)
		run->warp->converge[op->kind][wsi_first_bit(left)] = lanes;
	run->warp->yielded &= ~lanes;
	return WSI_STEP_NEXT;
}

enum wsi_step wsi_run_bsync(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	uint32_t lanes = conditions(run, op);
	if (op->kind >= WSI_BARRIERS)
		return wsi_run_unimplemented(run, op);
	if (lanes == 0)
		return WSI_STEP_NEXT;
	for (uint32_t left = lanes; left; left &= left - 1)
		warp->park[wsi_first_bit(left)] = op->kind;
	bool firm = WSI_HAS(op, RECONVERGENT) || WSI_HAS(op, RELIABLE);
	warp->firm = (warp->firm & ~lanes) | (firm ? lanes : 0);
	warp->yielded &= ~lanes;
	warp->parked |= lanes;
	warp->ready &= ~lanes;
	unpark(warp);
	return WSI_STEP_SPLIT;
}

enum wsi_step wsi_run_break(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	uint32_t gone = conditions(run, op);
	if (op->kind >= WSI_BARRIERS)
		return wsi_run_unimplemented(run, op);
	for (uint32_t left = gone; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		desert(warp, op->kind, warp->converge[op->kind][lane], gone);
		warp->converge[op->kind][lane] = 0;
	}
	wsi_converge(warp);
	return WSI_STEP_SPLIT;
}

/* A mask in a constant bank is no address. */
void wsi_prepare_warpsync(struct wsi_op *op)
{
	if (op->n_at == 0)
		return;
	if (op->at[0].reg_words || op->at[0].ureg_words)
		op->run = wsi_run_unimplemented;
	op->alu.source[op->alu.n_sources++] = (struct wsi_alu_value){
		.place = WSI_ALU_CONSTANT,
		.number = op->at[0].bank,
		.words = 1,
		.value = (uint64_t)op->at[0].offset,
	};
	op->n_at = 0;
}

enum wsi_step wsi_run_warpsync(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	uint32_t lanes = conditions(run, op), absent = 0, scratch[WSI_LANES];
	if (lanes == 0)
		return WSI_STEP_NEXT;
	const uint32_t *masks = NULL;
	if (op->alu.n_sources > 0) {
		masks = wsi_sim_source(run, &op->alu.source[0], scratch);
		if (!masks)
			return WSI_STEP_FAULT;
	}
	for (uint32_t left = lanes; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		warp->sync_mask[lane] = masks ? masks[lane] : UINT32_MAX;
		absent |= ~warp->sync_mask[lane] & 1u << lane;
	}
	if (absent) /* see explain/findings/operands.c */
		return wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTRUCTION, absent,
				 "lane %u waits with the mask 0x%08x, which lacks it",
				 wsi_first_bit(absent), warp->sync_mask[wsi_first_bit(absent)]);
	warp->syncing |= lanes;
	warp->ready &= ~lanes;
	resync(warp);
	return WSI_STEP_SPLIT;
}

/* The active lanes: into a barrier register, from one, or with the rest of their quads. */
static enum wsi_step run_bmov_active(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t whole =
		run->group & run->group >> 1 & run->group >> 2 & run->group >> 3 & 0x11111111;
	if (run->mask != run->group ||
	    whole * 15 != run->group) /* other lanes would have to help */
		return wsi_run_unimplemented(run, op);
	for (uint32_t left = op->type ? 0 : run->mask; left; left &= left - 1)
		run->warp->converge[op->kind][wsi_first_bit(left)] = run->group;
	return WSI_STEP_NEXT;
}

/* The active lanes, as a number. */
static enum wsi_step run_bmov_read_active(struct wsi_run *run, const struct wsi_op *op)
{
	uint8_t number = op->alu.result[0].number;
	for (uint32_t left = number == 255 ? 0 : run->mask; left; left &= left - 1)
		wsi_reg(run->warp, number)[wsi_first_bit(left)] = run->group;
	return WSI_STEP_NEXT;
}

/* What is no barrier register is no operand of the table's: the word tells. wsi_op.type: the active
 * lanes are written. */
/* From one to another, as the code before each kernel of sm_87 does. */
static enum wsi_step run_bmov_between(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t *to = run->warp->converge[op->type], *from = run->warp->converge[op->kind];
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		to[lane] = from[lane];
		if (WSI_HAS(op, CLEAR) && to != from)
			from[lane] = 0;
	}
	return WSI_STEP_NEXT;
}

void wsi_prepare_bmov(struct wsi_op *op)
{
	enum { TO_REGISTER = 0x355, TO_BARRIER = 0xf55, FROM_BARRIER = 0xf56, ACTIVE = 26 };
	uint64_t opcode = ws_insn_bits(&op->insn, 0, 12), state = ws_insn_bits(&op->insn, 24, 6);
	if (state < WSI_BARRIERS && opcode == TO_BARRIER) {
		op->type = (uint8_t)ws_insn_bits(&op->insn, 16, 4);
		op->kind = (uint8_t)state;
		op->run = run_bmov_between;
		return;
	}
	if (state < WSI_BARRIERS && !WSI_HAS(op, 64))
		return;
	op->type = opcode == FROM_BARRIER;
	if (WSI_HAS(op, 64)) /* where a thread goes at its exit */
		op->run = wsi_run_unimplemented;
	else if (state == ACTIVE && (opcode == TO_BARRIER || opcode == FROM_BARRIER))
		op->run = run_bmov_active;
	else if (state == ACTIVE && opcode == TO_REGISTER && !WSI_HAS(op, CLEAR))
		op->run = run_bmov_read_active;
	else
		op->run = wsi_run_unimplemented;
}

enum wsi_step wsi_run_bmov(struct wsi_run *run, const struct wsi_op *op)
{
	struct wsi_warp *warp = run->warp;
	bool reads = op->alu.n_results == 1;
	if (op->kind >= WSI_BARRIERS || (reads ? op->alu.n_sources != 0 : op->alu.n_sources != 1))
		return wsi_run_unimplemented(run, op);
	uint32_t scratch[4 * WSI_LANES];
	const uint32_t *from = reads ? NULL : wsi_sim_source(run, &op->alu.source[0], scratch);
	bool clear = WSI_HAS(op, CLEAR);
	if (!reads && !from)
		return WSI_STEP_FAULT;
	for (uint32_t left = run->mask; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint32_t *mask = &warp->converge[op->kind][lane];
		if (!reads) {
			*mask = from[lane];
			continue;
		}
		if (op->alu.result[0].number != 255)
			wsi_reg(warp, op->alu.result[0].number)[lane] = *mask;
		if (clear)
			*mask = 0;
	}
	return WSI_STEP_NEXT;
}

/* A register of 64 bits of each lane, which compilers use to keep a value. The table does not list
 * it as an operand; bit 31 of the instruction says which half. */
enum wsi_step wsi_run_rpcmov(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t scratch[4 * WSI_LANES];
	uint32_t *half = run->warp->rpc[op->insn.word[0] >> 31 & 1];
	bool reads = op->alu.n_results == 1;
	if (WSI_HAS(op, 64) || op->alu.n_sources != (reads ? 0 : 1))
		return wsi_run_unimplemented(run, op);
	if (reads && op->alu.result[0].number == 255)
		return WSI_STEP_NEXT;
	const uint32_t *from = reads ? half : wsi_sim_source(run, &op->alu.source[0], scratch);
	uint32_t *to = reads ? wsi_reg(run->warp, op->alu.result[0].number) : half;
	if (!from)
		return WSI_STEP_FAULT;
	for (uint32_t left = run->mask; left; left &= left - 1)
		to[wsi_first_bit(left)] = from[wsi_first_bit(left)];
	return WSI_STEP_NEXT;
}

/* ---- registers ---- */

enum { MOST_REGS = 256 };

void wsi_prepare_set_registers(struct wsi_op *op)
{
	bool gives = ws_sass_has(&op->insn, WS_MOD_DEALLOC);
	bool takes = ws_sass_has(&op->insn, WS_MOD_TRY_ALLOC);
	op->kind = takes;
	if (gives == takes || op->alu.n_sources != 1 || op->alu.n_predicate_results != takes)
		op->run = wsi_run_unimplemented;
}

/* A warp gives registers to its block, or takes some that others have given; the predicate says
 * whether there were enough. */
enum wsi_step wsi_run_set_registers(struct wsi_run *run, const struct wsi_op *op)
{
	uint32_t scratch[4 * WSI_LANES];
	struct wsi_warp *warp = run->warp;
	const uint32_t *number = wsi_sim_source(run, &op->alu.source[0], scratch);
	if (!number)
		return WSI_STEP_FAULT;
	uint32_t n = number[wsi_first_bit(run->mask)], pool = warp->block->free_regs + warp->n_regs;
	if (n < 8 || n > MOST_REGS || n % 8 != 0)
		return wsi_fault(run, CUDBG_EXCEPTION_WARP_ILLEGAL_INSTR_PARAM, run->mask,
				 "a warp cannot have %u registers", n);
	bool fits = n <= pool;
	if (op->kind)
		wsi_pred_set(warp, &op->alu.predicate_result[0], fits ? UINT32_MAX : 0, run->mask);
	/* neither does an instruction take what it should give, nor the other way round */
	if (!fits || (op->kind ? n < warp->n_regs : n > warp->n_regs))
		return fits ? WSI_STEP_NEXT : WSI_STEP_YIELD;
	warp->block->free_regs = pool - n;
	run->no_memory |= !wsi_warp_resize(run->sim, warp, n);
	return run->no_memory ? WSI_STEP_FAULT : WSI_STEP_NEXT;
}
