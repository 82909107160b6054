/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers written between two instructions: blocks that the first leads to and that lead to the
 * second. A path is *direct* if it visits neither a second time: the search then does not continue
 * through the block of either.
 */
#include "base/base.h"
#include "flow/flow.h"

enum { AHEAD = 1, BEHIND = 2, CALLED = 4 };

struct written_search {
	const struct ws_flow *flow;
	uint8_t *mark;  /* owned; one a block */
	uint32_t *work; /* owned; blocks whose neighbours are still to be seen */
	size_t n_work;
	size_t from, to; /* instructions */
	size_t steps;    /* instructions of callees that may still be looked at */
	uint32_t from_block, to_block;
	bool revisits; /* a direct path may visit the second again */
};

/* Whether direct paths end at a block. */
static bool is_end(const struct written_search *s, uint32_t at)
{
	return at == s->from_block || (at == s->to_block && !s->revisits);
}

static void reach_blocks(struct written_search *s, const uint32_t *blocks, uint32_t n, uint8_t mark)
{
	for (uint32_t i = 0; i < n; i++) {
		if (s->mark[blocks[i]] & mark)
			continue;
		s->mark[blocks[i]] |= mark;
		s->work[s->n_work++] = blocks[i];
	}
}

/* Marks what the first leads to (AHEAD) and what leads to the second (BEHIND). */
static void search_ways(struct written_search *s, bool direct)
{
	const struct ws_flow_block *blocks = s->flow->blocks;
	memset(s->mark, 0, s->flow->n_blocks);
	reach_blocks(s, blocks[s->from_block].succ, blocks[s->from_block].n_succ, AHEAD);
	while (s->n_work) {
		uint32_t at = s->work[--s->n_work];
		if (!direct || !is_end(s, at))
			reach_blocks(s, blocks[at].succ, blocks[at].n_succ, AHEAD);
	}
	reach_blocks(s, blocks[s->to_block].pred, blocks[s->to_block].n_pred, BEHIND);
	while (s->n_work) {
		uint32_t at = s->work[--s->n_work];
		if (!direct || !is_end(s, at))
			reach_blocks(s, blocks[at].pred, blocks[at].n_pred, BEHIND);
	}
}

/* Adds what a whole block writes; false when what it calls or is makes that unknown. */
static bool add_block_writes(const struct ws_flow *flow, uint32_t at, struct ws_flow_registers *set)
{
	const struct ws_flow_block *block = &flow->blocks[at];
	bool opaque_call = block->flags & WS_FLOW_CALLS && block->callee == WS_FLOW_NO_BLOCK;
	for (size_t i = wsi_flow_first(flow, at); i < wsi_flow_end(flow, at); i++)
		if (opaque_call || !(flow->effect[i].flags & WSI_EFFECT_CALL))
			wsi_registers_add_effect(set, &flow->effect[i]);
	return !(block->flags & (WS_FLOW_UNKNOWN | WS_FLOW_OPEN | WS_FLOW_LEAVES));
}

bool wsi_callee_writes(const struct ws_flow *flow, uint32_t callee, size_t *steps,
		       struct ws_flow_registers *ret_set)
{
	struct written_search s = { .flow = flow };
	bool known = true;
	*ret_set = (struct ws_flow_registers){ 0 };
	if (*steps < flow->n_insns)
		return false;
	*steps -= flow->n_insns;
	s.mark = wsi_zalloc(flow->n_blocks);
	s.work = wsi_zalloc_array(flow->n_blocks, sizeof *s.work);
	if (s.mark && s.work)
		reach_blocks(&s, &callee, 1, CALLED);
	else
		known = false;
	while (s.n_work && known) {
		uint32_t at = s.work[--s.n_work];
		known = add_block_writes(flow, at, ret_set);
		reach_blocks(&s, flow->blocks[at].succ, flow->blocks[at].n_succ, CALLED);
		if (flow->blocks[at].callee != WS_FLOW_NO_BLOCK)
			reach_blocks(&s, &flow->blocks[at].callee, 1, CALLED);
	}
	wsi_free(s.mark);
	wsi_free(s.work);
	return known;
}

/* Adds what a callee inside this code writes. */
static void add_callee(struct written_search *s, uint32_t callee, struct ws_flow_registers *set,
		       bool *unknown)
{
	struct ws_flow_registers called;
	if (!wsi_callee_writes(s->flow, callee, &s->steps, &called)) {
		*unknown = true;
		return;
	}
	for (size_t i = 0; i < WSI_COUNT(called.reg); i++) {
		set->reg[i] |= called.reg[i];
		set->ureg[i] |= called.ureg[i];
	}
	set->pred |= called.pred;
	set->upred |= called.upred;
}

/* Adds what the instructions of one block, from `i` to before `end`, write; says if one calls. */
static bool add_run_writes(struct written_search *s, size_t i, size_t end,
			   struct ws_flow_registers *set, bool *unknown)
{
	bool call = false;
	for (; i < end; i++) {
		const struct wsi_effect *effect = &s->flow->effect[i];
		uint32_t callee = s->flow->blocks[s->flow->block_of[i]].callee;
		*unknown |= effect->flags & WSI_EFFECT_UNKNOWN;
		call |= effect->flags & WSI_EFFECT_CALL;
		if (effect->flags & WSI_EFFECT_CALL && callee != WS_FLOW_NO_BLOCK)
			add_callee(s, callee, set, unknown);
		else
			wsi_registers_add_effect(set, effect);
	}
	return call;
}

/* Adds the blocks that lie on ways as a whole. */
static void add_ways(struct written_search *s, bool direct, struct ws_flow_written *written)
{
	const struct ws_flow *flow = s->flow;
	struct ws_flow_registers *set = direct ? &written->direct : &written->any;
	bool *unknown = direct ? &written->unknown_direct : &written->unknown_any;
	for (uint32_t at = 0; at < flow->n_blocks; at++) {
		bool end = is_end(s, at);
		if (s->mark[at] & AHEAD && flow->blocks[at].flags & WS_FLOW_OPEN &&
		    !(direct && end))
			*unknown = true; /* it may lead anywhere */
		if ((s->mark[at] & (AHEAD | BEHIND)) != (AHEAD | BEHIND) || (direct && end))
			continue;
		bool call = add_run_writes(s, wsi_flow_first(flow, at), wsi_flow_end(flow, at), set,
					   unknown);
		if (!direct)
			continue;
		written->call |= call;
		written->n_direct += (uint32_t)(wsi_flow_end(flow, at) - wsi_flow_first(flow, at));
	}
}

static bool add_direct(struct written_search *s, struct ws_flow_written *written)
{
	const struct ws_flow *flow = s->flow;
	bool *unknown = &written->unknown_direct;
	if (s->from_block == s->to_block && s->from <= s->to) {
		written->call = add_run_writes(s, s->from, s->to, &written->direct, unknown);
		written->n_direct = (uint32_t)(s->to - s->from);
		return true;
	}
	search_ways(s, true);
	if (!(s->mark[s->to_block] & AHEAD))
		return false;
	size_t end = wsi_flow_end(flow, s->from_block), start = wsi_flow_first(flow, s->to_block);
	written->n_direct = (uint32_t)(end - s->from + s->to - start);
	written->call = add_run_writes(s, s->from, end, &written->direct, unknown);
	written->call |= add_run_writes(s, start, s->to, &written->direct, unknown);
	add_ways(s, true, written);
	return true;
}

static void add_any(struct written_search *s, struct ws_flow_written *written)
{
	written->any = written->direct;
	written->unknown_any = written->unknown_direct;
	search_ways(s, false);
	uint8_t again = s->mark[s->from_block];
	written->loop = again & AHEAD && (again & BEHIND || s->from_block == s->to_block);
	bool to_again = s->mark[s->to_block] & AHEAD && s->mark[s->to_block] & BEHIND;
	if (written->loop || to_again || s->from_block != s->to_block)
		add_ways(s, false, written);
}

enum ws_status ws_flow_written(const struct ws_flow *flow, uint64_t from_pc, uint64_t to_pc,
			       struct ws_flow_written *ret_written, struct ws_error *err)
{
	struct written_search s = { .flow = flow, .steps = WSI_MAX_STEPS };
	s.from = wsi_flow_at(flow, from_pc);
	s.to = wsi_flow_at(flow, to_pc);
	if (s.from == SIZE_MAX || s.to == SIZE_MAX)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no instruction at 0x%" PRIx64,
				s.from == SIZE_MAX ? from_pc : to_pc);
	s.from_block = flow->block_of[s.from];
	s.to_block = flow->block_of[s.to];
	s.mark = wsi_zalloc(flow->n_blocks);
	s.work = wsi_zalloc_array(flow->n_blocks, sizeof *s.work);
	struct ws_flow_written written = { 0 };
	enum ws_status st = WS_OK;
	if (!s.mark || !s.work) {
		st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "search in control flow");
	} else if (!add_direct(&s, &written)) {
		st = wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
			      "no path from 0x%" PRIx64 " to 0x%" PRIx64, from_pc, to_pc);
	} else {
		add_any(&s, &written);
		*ret_written = written;
	}
	wsi_free(s.mark);
	wsi_free(s.work);
	return st;
}

bool ws_flow_keeps(const struct ws_flow *flow, uint64_t from_pc, bool behind, uint64_t at_pc,
		   enum ws_operand_kind kind, unsigned number, unsigned count)
{
	struct written_search s = { .flow = flow, .steps = WSI_MAX_STEPS, .revisits = true };
	struct ws_flow_written written = { 0 };
	size_t from = wsi_flow_at(flow, from_pc);
	s.to = wsi_flow_at(flow, at_pc);
	if (from == SIZE_MAX || s.to == SIZE_MAX || kind != WS_OPERAND_REG)
		return false;
	if (from == s.to)
		return !behind;
	s.from_block = flow->block_of[from];
	s.to_block = flow->block_of[s.to];
	s.from = from + behind;
	s.mark = wsi_zalloc(flow->n_blocks);
	s.work = wsi_zalloc_array(flow->n_blocks, sizeof *s.work);
	bool kept = s.mark && s.work && add_direct(&s, &written) && !written.unknown_direct &&
		    ws_flow_registers_spare(&written.direct, kind, number, count);
	wsi_free(s.mark);
	wsi_free(s.work);
	return kept;
}
