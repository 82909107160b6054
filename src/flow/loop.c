/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shortest loop around an instruction, and what it waits for: from the predicates of the
 * branches that leave it back through the definitions inside it, to the instructions that read
 * memory.
 */
#include "base/base.h"
#include "flow/flow.h"

enum { MAX_WORK = 64 };

struct item {
	struct wsi_want want;
	size_t at;
};

struct search {
	const struct ws_flow *flow;
	struct ws_flow_loop *loop;
	struct wsi_reach reach;
	uint32_t *parent; /* owned; by block: one more than the block it was reached from */
	bool *inside;     /* owned; by block */
	size_t seen[WS_FLOW_MAX_LOOP];
	size_t n_seen;
	struct item work[MAX_WORK];
	size_t n_work;
};

static size_t block_first(const struct ws_flow *flow, uint32_t block)
{
	return (size_t)((flow->blocks[block].pc - flow->base_pc) / WS_SASS_BYTES);
}

static size_t block_end(const struct ws_flow *flow, uint32_t block)
{
	return (size_t)((flow->blocks[block].end_pc - flow->base_pc) / WS_SASS_BYTES);
}

/* Marks the blocks of the shortest way from a block to itself; false when there is none. */
static bool find_cycle(struct search *s, uint32_t start)
{
	const struct ws_flow *flow = s->flow;
	size_t head = 0, tail = 0;
	s->reach.work[tail++] = start;
	while (head < tail) {
		uint32_t at = s->reach.work[head++];
		const struct ws_flow_block *block = &flow->blocks[at];
		for (uint32_t i = 0; i < block->n_succ; i++) {
			uint32_t next = block->succ[i];
			if (next == start) {
				for (; at != start; at = s->parent[at] - 1)
					s->inside[at] = true;
				s->inside[start] = true;
				return true;
			}
			if (s->parent[next] == 0) {
				s->parent[next] = at + 1;
				s->reach.work[tail++] = next;
			}
		}
	}
	return false;
}

static void ask(struct search *s, enum ws_operand_kind kind, unsigned number, size_t at)
{
	bool predicate = kind == WS_OPERAND_PRED || kind == WS_OPERAND_UPRED;
	bool data = kind == WS_OPERAND_REG || kind == WS_OPERAND_UREG;
	if ((!predicate && !data) || number >= (predicate ? 7u : 255u) || s->n_work == MAX_WORK)
		return;
	s->work[s->n_work++] = (struct item){ { .kind = kind, .number = (uint8_t)number }, at };
}

/* Asks for all that an instruction reads, but for its guard. */
static void ask_sources(struct search *s, size_t at)
{
	struct ws_insn insn;
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	wsi_flow_insn(s->flow, at, &insn);
	size_t n = ws_sass_operands(&insn, wsi_flow_pc(s->flow, at), ops, WSI_COUNT(ops));
	for (size_t i = 0; i < n && i < WSI_COUNT(ops); i++)
		if (ops[i].role == WS_ROLE_READ || ops[i].role == WS_ROLE_UPDATED)
			for (unsigned k = 0; k < ops[i].count; k++)
				ask(s, ops[i].kind, ops[i].number + k, at);
}

static void add_source(struct search *s, size_t at)
{
	struct ws_flow_loop *loop = s->loop;
	uint64_t pc = wsi_flow_pc(s->flow, at);
	size_t i = 0;
	if (loop->n_sources == WS_FLOW_MAX_SOURCES)
		return;
	while (i < loop->n_sources && loop->source_pc[i] < pc)
		i++;
	memmove(&loop->source_pc[i + 1], &loop->source_pc[i],
		(loop->n_sources - i) * sizeof *loop->source_pc);
	loop->source_pc[i] = pc;
	loop->n_sources++;
}

/* One definition of what was asked for. */
static void follow(struct search *s, size_t at)
{
	struct ws_insn insn;
	if (!s->inside[s->flow->block_of[at]])
		return;
	for (size_t i = 0; i < s->n_seen; i++)
		if (s->seen[i] == at)
			return;
	if (s->n_seen == WSI_COUNT(s->seen))
		return;
	s->seen[s->n_seen++] = at;
	wsi_flow_insn(s->flow, at, &insn);
	if (insn.flags & (WS_SASS_LOAD | WS_SASS_ATOMIC) && !(insn.flags & WS_SASS_CONSTANT))
		add_source(s, at);
	else
		ask_sources(s, at);
}

static void follow_all(struct search *s)
{
	while (s->n_work) {
		struct item item = s->work[--s->n_work];
		struct wsi_defs defs;
		wsi_reach_find(&s->reach, item.at, &item.want, &defs);
		for (size_t i = 0; i < defs.n; i++)
			if (defs.def[i].kind == WSI_DEF_INSN)
				follow(s, defs.def[i].at);
	}
}

/* What a block of the loop adds: its size, its stores, and whether its end may lead out. */
static void look_at_block(struct search *s, uint32_t at)
{
	const struct ws_flow *flow = s->flow;
	const struct ws_flow_block *block = &flow->blocks[at];
	size_t end = block_end(flow, at);
	bool leaves =
		block->flags & (WS_FLOW_EXITS | WS_FLOW_RETURNS | WS_FLOW_OPEN | WS_FLOW_LEAVES);
	for (size_t i = block_first(flow, at); i < end; i++) {
		struct ws_insn insn;
		wsi_flow_insn(flow, i, &insn);
		s->loop->stores |= (insn.flags & (WS_SASS_STORE | WS_SASS_ATOMIC)) == WS_SASS_STORE;
	}
	s->loop->n_insns += (uint32_t)(end - block_first(flow, at));
	s->loop->calls |= (block->flags & WS_FLOW_CALLS) != 0;
	for (uint32_t i = 0; i < block->n_succ; i++)
		leaves |= !s->inside[block->succ[i]];
	if (!leaves)
		return;
	s->loop->endless = false;
	const struct wsi_effect *effect = &flow->effect[end - 1];
	if (effect->flags & WSI_EFFECT_GUARDED)
		ask(s, effect->guard & 16 ? WS_OPERAND_UPRED : WS_OPERAND_PRED, effect->guard & 7,
		    end - 1);
	ask_sources(s, end - 1);
}

enum ws_status ws_flow_loop(const struct ws_flow *flow, uint64_t pc, struct ws_flow_loop *ret_loop,
			    struct ws_error *err)
{
	struct ws_flow_loop loop = { .endless = true };
	size_t at = wsi_flow_at(flow, pc);
	if (at == SIZE_MAX)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no instruction at 0x%" PRIx64, pc);
	struct search *s = wsi_zalloc(sizeof *s);
	if (!s)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "loop");
	s->flow = flow;
	s->loop = &loop;
	enum ws_status st = wsi_reach_init(&s->reach, flow, err);
	s->parent = wsi_zalloc_array(flow->n_blocks, sizeof *s->parent);
	s->inside = wsi_zalloc_array(flow->n_blocks, sizeof *s->inside);
	if (st == WS_OK && (!s->parent || !s->inside))
		st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "loop");
	if (st == WS_OK && !find_cycle(s, flow->block_of[at]))
		st = wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no loop at 0x%" PRIx64, pc);
	for (uint32_t i = 0; st == WS_OK && i < flow->n_blocks; i++) {
		if (s->inside[i])
			look_at_block(s, i);
		if (loop.n_insns > WS_FLOW_MAX_LOOP)
			st = wsi_fail(err, WS_LIMIT, WS_NO_OFFSET,
				      "the loop at 0x%" PRIx64 " is large", pc);
	}
	if (st == WS_OK) {
		follow_all(s);
		*ret_loop = loop;
	}
	wsi_reach_fini(&s->reach);
	wsi_free(s->parent);
	wsi_free(s->inside);
	wsi_free(s);
	return st;
}
