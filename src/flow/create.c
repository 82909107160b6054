/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks and edges. One pass decodes every instruction; a second gives each a block; edges are
 * collected as pairs, sorted, and laid out twice, by their source and by their target. Nothing
 * takes more time than a sort in linear time, whatever the bytes are.
 */
#include "base/base.h"
#include "base/sort.h"
#include "flow/flow.h"

enum {
	MAX_INSNS = 16 * 1024 * 1024,
	N_BARRIERS = 16,
	MAX_MEETINGS = 16, /* places where the lanes of one barrier register meet, per register */
};

struct meetings {
	uint32_t at[MAX_MEETINGS];
	uint32_t n;
	bool more;
};

/* What creation needs and the flow does not. */
struct flow_builder {
	struct ws_flow *flow;
	struct wsi_leave *leave; /* owned */
	struct wsi_keyed *pairs; /* owned; key: source block << 32 | target block */
	size_t n_pairs, cap_pairs;
	struct meetings meet[N_BARRIERS];
};

size_t wsi_flow_at(const struct ws_flow *flow, uint64_t pc)
{
	uint64_t off = pc - flow->base_pc;
	if (pc < flow->base_pc || off % WS_SASS_BYTES || off / WS_SASS_BYTES >= flow->n_insns)
		return SIZE_MAX;
	return (size_t)(off / WS_SASS_BYTES);
}

void wsi_flow_insn(const struct ws_flow *flow, size_t at, struct ws_insn *ret_insn)
{
	ws_sass_decode(flow->sm, flow->code + at * WS_SASS_BYTES, ret_insn);
}

static void add_meeting(struct flow_builder *b, const struct wsi_leave *leave, size_t at)
{
	struct meetings *meet = &b->meet[leave->barrier % N_BARRIERS];
	for (uint32_t i = 0; i < meet->n; i++)
		if (meet->at[i] == at)
			return;
	if (meet->n < MAX_MEETINGS)
		meet->at[meet->n++] = (uint32_t)at;
	else
		meet->more = true;
}

/* Decodes everything. `block_of` holds 1 for the first instruction of a block afterwards. */
static void find_leaders(struct flow_builder *b, const struct ws_flow_edge *edges, size_t n_edges)
{
	struct ws_flow *flow = b->flow;
	if (flow->n_insns)
		flow->block_of[0] = 1;
	for (size_t i = 0; i < flow->n_insns; i++) {
		struct ws_insn insn;
		wsi_flow_insn(flow, i, &insn);
		wsi_effect_of(&insn, &flow->effect[i]);
		wsi_leave_of(&insn, wsi_flow_pc(flow, i), flow->base_pc != 0, &b->leave[i]);
		const struct wsi_leave *leave = &b->leave[i];
		if (leave->flags & WSI_LEAVE_END && i + 1 < flow->n_insns)
			flow->block_of[i + 1] = 1;
		size_t target = leave->flags & WSI_LEAVE_TARGET ? wsi_flow_at(flow, leave->target)
								: SIZE_MAX;
		if (target == SIZE_MAX)
			continue;
		flow->block_of[target] = 1;
		if (leave->flags & WSI_LEAVE_SPLIT)
			add_meeting(b, leave, target);
	}
	for (size_t i = 0; i < n_edges; i++) {
		size_t target = wsi_flow_at(flow, edges[i].target);
		if (target != SIZE_MAX)
			flow->block_of[target] = 1;
	}
}

static enum ws_status lay_blocks(struct ws_flow *flow, struct ws_error *err)
{
	size_t n = 0;
	for (size_t i = 0; i < flow->n_insns; i++)
		n += flow->block_of[i];
	flow->blocks = wsi_zalloc_array(n, sizeof *flow->blocks);
	if (!flow->blocks)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "basic blocks");
	for (size_t i = 0; i < flow->n_insns; i++) {
		if (flow->block_of[i])
			flow->blocks[flow->n_blocks++].pc = wsi_flow_pc(flow, i);
		struct ws_flow_block *block = &flow->blocks[flow->n_blocks - 1];
		flow->block_of[i] = (uint32_t)(flow->n_blocks - 1);
		block->end_pc = wsi_flow_pc(flow, i + 1);
		if (flow->effect[i].flags & WSI_EFFECT_UNKNOWN)
			block->flags |= WS_FLOW_UNKNOWN;
	}
	return WS_OK;
}

static bool add_pair(struct flow_builder *b, size_t from, size_t to_insn)
{
	if (!wsi_grow(&b->pairs, &b->cap_pairs, b->n_pairs, sizeof *b->pairs, SIZE_MAX))
		return false;
	uint64_t to = b->flow->block_of[to_insn];
	b->pairs[b->n_pairs++] = (struct wsi_keyed){ .key = (uint64_t)from << 32 | to };
	return true;
}

/* BSYNC goes on behind itself; where BSSY named another place, it may go on there too. */
static bool add_meetings(struct flow_builder *b, size_t from, size_t last)
{
	const struct meetings *meet = &b->meet[b->leave[last].barrier % N_BARRIERS];
	for (uint32_t i = 0; i < meet->n; i++)
		if (meet->at[i] == last + 1)
			return true;
	for (uint32_t i = 0; i < meet->n; i++)
		if (!add_pair(b, from, meet->at[i]))
			return false;
	if (meet->more)
		b->flow->blocks[from].flags |= WS_FLOW_OPEN;
	return true;
}

static bool add_target(struct flow_builder *b, size_t from, const struct wsi_leave *leave)
{
	struct ws_flow *flow = b->flow;
	size_t target = wsi_flow_at(flow, leave->target);
	if (leave->flags & WSI_LEAVE_CALL) {
		if (target != SIZE_MAX) {
			flow->blocks[from].callee = flow->block_of[target];
			flow->blocks[flow->block_of[target]].flags |= WS_FLOW_CALLED;
		}
		return true;
	}
	if (target == SIZE_MAX) {
		flow->blocks[from].flags |= WS_FLOW_LEAVES;
		return true;
	}
	return add_pair(b, from, target);
}

static bool add_block_edges(struct flow_builder *b, size_t from)
{
	struct ws_flow *flow = b->flow;
	struct ws_flow_block *block = &flow->blocks[from];
	size_t last = wsi_flow_end(flow, (uint32_t)from) - 1;
	const struct wsi_leave *leave = &b->leave[last];

	block->callee = WS_FLOW_NO_BLOCK;
	if (leave->flags & WSI_LEAVE_CALL)
		block->flags |= WS_FLOW_CALLS;
	if (leave->flags & WSI_LEAVE_RETURN)
		block->flags |= WS_FLOW_RETURNS;
	if (leave->flags & WSI_LEAVE_EXIT)
		block->flags |= WS_FLOW_EXITS;
	if (leave->flags & WSI_LEAVE_INDIRECT)
		block->flags |= WS_FLOW_INDIRECT | WS_FLOW_OPEN;
	if (leave->flags & WSI_LEAVE_NEXT) {
		if (last + 1 == flow->n_insns)
			block->flags |= WS_FLOW_RUNS_OUT;
		else if (!add_pair(b, from, last + 1))
			return false;
	}
	if (leave->flags & WSI_LEAVE_SYNC && !add_meetings(b, from, last))
		return false;
	bool goes = leave->flags & WSI_LEAVE_TARGET && !(leave->flags & WSI_LEAVE_SPLIT);
	return !goes || add_target(b, from, leave);
}

static bool add_known_targets(struct flow_builder *b, const struct ws_flow_edge *edges,
			      size_t n_edges)
{
	struct ws_flow *flow = b->flow;
	for (size_t i = 0; i < n_edges; i++) {
		size_t at = wsi_flow_at(flow, edges[i].pc);
		size_t target = wsi_flow_at(flow, edges[i].target);
		if (at == SIZE_MAX || target == SIZE_MAX ||
		    !(b->leave[at].flags & WSI_LEAVE_INDIRECT))
			continue;
		flow->blocks[flow->block_of[at]].flags &= ~(uint32_t)WS_FLOW_OPEN;
		if (!add_pair(b, flow->block_of[at], target))
			return false;
	}
	return true;
}

/* Fills the blocks' arrays of one direction from the sorted pairs; returns how many were used. */
static size_t lay_edges(struct flow_builder *b, uint32_t *edges, bool forward)
{
	struct ws_flow *flow = b->flow;
	size_t n = 0;
	for (size_t i = 0; i < b->n_pairs; i++) {
		uint64_t key = b->pairs[i].key;
		if (i && key == b->pairs[i - 1].key)
			continue;
		struct ws_flow_block *block = &flow->blocks[key >> 32];
		const uint32_t **list = forward ? &block->succ : &block->pred;
		if (!*list)
			*list = &edges[n];
		++*(forward ? &block->n_succ : &block->n_pred);
		edges[n++] = (uint32_t)key;
	}
	return n;
}

static enum ws_status sort_edges(struct flow_builder *b, struct ws_error *err)
{
	struct ws_flow *flow = b->flow;
	flow->edges = wsi_zalloc_array(b->n_pairs * 2, sizeof *flow->edges);
	if (!flow->edges && b->n_pairs)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "edges of basic blocks");
	if (!wsi_sort_keyed(b->pairs, b->n_pairs))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "edges of basic blocks");
	size_t n = lay_edges(b, flow->edges, true);
	for (size_t i = 0; i < b->n_pairs; i++)
		b->pairs[i].key = b->pairs[i].key << 32 | b->pairs[i].key >> 32;
	if (!wsi_sort_keyed(b->pairs, b->n_pairs))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "edges of basic blocks");
	lay_edges(b, flow->edges + n, false);
	return WS_OK;
}

/* Marks what no way leads to; `work` has room for every block. */
static void mark_unreached(struct ws_flow *flow, uint32_t *work)
{
	size_t n = 0;
	for (size_t i = 0; i < flow->n_blocks; i++) {
		flow->open |= (flow->blocks[i].flags & WS_FLOW_OPEN) != 0;
		if (flow->blocks[i].flags & (WS_FLOW_ENTRY | WS_FLOW_CALLED))
			work[n++] = (uint32_t)i;
		else
			flow->blocks[i].flags |= WS_FLOW_UNREACHED;
	}
	while (n) {
		const struct ws_flow_block *block = &flow->blocks[work[--n]];
		for (uint32_t i = 0; i < block->n_succ; i++) {
			struct ws_flow_block *next = &flow->blocks[block->succ[i]];
			if (next->flags & WS_FLOW_UNREACHED)
				work[n++] = block->succ[i];
			next->flags &= ~(uint32_t)WS_FLOW_UNREACHED;
		}
	}
	for (size_t i = 0; i < flow->n_blocks && flow->open; i++)
		flow->blocks[i].flags &= ~(uint32_t)WS_FLOW_UNREACHED;
}

static enum ws_status build(struct flow_builder *b, const struct ws_flow_edge *edges,
			    size_t n_edges, struct ws_error *err)
{
	struct ws_flow *flow = b->flow;
	size_t n = flow->n_insns;
	flow->effect = wsi_zalloc_array(n, sizeof *flow->effect);
	flow->block_of = wsi_zalloc_array(n, sizeof *flow->block_of);
	b->leave = wsi_zalloc_array(n, sizeof *b->leave);
	if (!flow->effect || !flow->block_of || !b->leave)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "%zu instructions", n);
	find_leaders(b, edges, n_edges);
	enum ws_status st = lay_blocks(flow, err);
	if (st != WS_OK)
		return st;
	flow->blocks[0].flags |= WS_FLOW_ENTRY;
	for (size_t i = 0; i < flow->n_blocks; i++)
		if (!add_block_edges(b, i))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "edges of basic blocks");
	if (!add_known_targets(b, edges, n_edges))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "edges of basic blocks");
	st = sort_edges(b, err);
	uint32_t *work = wsi_zalloc_array(flow->n_blocks, sizeof *work);
	if (!work)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "basic blocks");
	if (st == WS_OK)
		mark_unreached(flow, work);
	wsi_free(work);
	return st;
}

enum ws_status ws_flow_create(unsigned sm, struct ws_span code, uint64_t base_pc,
			      const struct ws_flow_edge *edges, size_t n_edges,
			      struct ws_flow **ret_flow, struct ws_error *err)
{
	if (!ws_sass_supports(sm))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "no instructions of sm_%u", sm);
	if (code.len / WS_SASS_BYTES > MAX_INSNS)
		return wsi_fail(err, WS_LIMIT, code.origin, "a function of %zu bytes", code.len);
	struct ws_flow *flow = wsi_zalloc(sizeof *flow);
	if (!flow)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "control flow");
	flow->code = code.ptr;
	flow->base_pc = base_pc;
	flow->n_insns = code.len / WS_SASS_BYTES;
	flow->sm = sm;
	struct flow_builder b = { .flow = flow };
	enum ws_status st = flow->n_insns ? build(&b, edges, n_edges, err) : WS_OK;
	wsi_free(b.leave);
	wsi_free(b.pairs);
	if (st != WS_OK)
		ws_flow_destroy(flow);
	else
		*ret_flow = flow;
	return st;
}

void ws_flow_destroy(struct ws_flow *flow)
{
	if (!flow)
		return;
	wsi_free(flow->effect);
	wsi_free(flow->block_of);
	wsi_free(flow->blocks);
	wsi_free(flow->edges);
	wsi_free(flow);
}

const struct ws_flow_block *ws_flow_blocks(const struct ws_flow *flow, size_t *ret_n)
{
	*ret_n = flow->n_blocks;
	return flow->blocks;
}

size_t ws_flow_block_find(const struct ws_flow *flow, uint64_t pc)
{
	size_t at = wsi_flow_at(flow, pc);
	return at == SIZE_MAX ? SIZE_MAX : flow->block_of[at];
}
