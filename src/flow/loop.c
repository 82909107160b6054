/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shortest loop around an instruction, and what it waits for.
 *
 * A node is an instruction of the loop; its edges lead to those whose results it reads, around the
 * loop too. What is read from memory, and what a call gives, ends there: it comes from outside. A
 * node that depends on itself, and is no mere copy, *varies*: the loop counts or computes with it.
 *
 * Whether the loop is left is decided by conditions: instructions that set a predicate. Conditions
 * that are joined are looked at one by one. A condition that depends on what was read, and on
 * nothing that varies, is one that others decide.
 */
#include "flow/loop.h"
#include "base/base.h"

const char *ws_flow_test_text(enum ws_flow_test test)
{
	static const char *const texts[] = { "none",    "equal", "other",   "less",
					     "at most", "more",  "at least" };
	return (size_t)test < WSI_COUNT(texts) ? texts[test] : "none";
}

/* Marks the blocks of the shortest way from a block to itself; false when there is none. */
static bool find_cycle(struct wsi_loop *s, uint32_t start)
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

/* Goes from a block on through what is outside of the loop; true once it comes to a block of the
 * loop that is not its header. Without a header it comes to any, which is the header then. */
static bool walk_into(struct wsi_loop *s, uint32_t start)
{
	size_t head = 0, tail = 0;
	s->n_walks++;
	s->parent[start] = s->n_walks;
	s->reach.work[tail++] = start;
	while (head < tail) {
		uint32_t at = s->reach.work[head++];
		if (s->inside[at] && at != s->header) {
			s->header = s->header == UINT32_MAX ? at : s->header;
			return true;
		}
		const struct ws_flow_block *block = &s->flow->blocks[at];
		for (uint32_t i = 0; i < block->n_succ && !s->inside[at]; i++) {
			if (s->parent[block->succ[i]] == s->n_walks)
				continue;
			s->parent[block->succ[i]] = s->n_walks;
			s->reach.work[tail++] = block->succ[i];
		}
	}
	return false;
}

/* The block by which the loop is entered from the start of the function. */
static void find_header(struct wsi_loop *s)
{
	memset(s->parent, 0, s->flow->n_blocks * sizeof *s->parent);
	s->header = UINT32_MAX;
	(void)walk_into(s, 0);
}

/* ---- nodes and edges ---- */

/* The node of an instruction of the loop. */
struct wsi_loop_node *wsi_loop_node_at(struct wsi_loop *s, size_t at)
{
	size_t low = WSI_BISECT(i, (size_t)0, s->n_nodes, s->node[i].at < at);
	return low < s->n_nodes && s->node[low].at == at ? &s->node[low] : NULL;
}

bool wsi_loop_is_shuffle(const struct wsi_loop *s, size_t at)
{
	struct ws_insn insn;
	wsi_flow_insn(s->flow, at, &insn);
	return insn.operation == WS_OP_SHFL;
}

/* One lane reads for all: what it got is then handed round. */
static bool some_lane_reads(struct wsi_loop *s, const struct wsi_defs *defs)
{
	for (size_t i = 0; i < defs->n; i++) {
		const struct wsi_loop_node *node = wsi_loop_node_at(s, defs->def[i].at);
		if (defs->def[i].kind == WSI_DEF_INSN && defs->def[i].guard != 7 && node &&
		    node->opaque)
			return true;
	}
	return false;
}

/* An edge to every instruction of the loop that may give a node this register. */
static void add_edges(struct wsi_loop *s, struct wsi_loop_node *node, enum ws_operand_kind kind,
		      unsigned number)
{
	struct wsi_want want = { .kind = kind, .number = (uint8_t)number };
	struct wsi_defs defs;
	if (!ws_operand_is_register(kind) || ws_operand_is_fixed(kind, number))
		return;
	wsi_reach_find(&s->reach, node->at, &want, &defs);
	node->varies |= defs.more;
	bool chosen = wsi_loop_is_shuffle(s, node->at) && some_lane_reads(s, &defs);
	for (size_t i = 0; i < defs.n; i++) {
		struct wsi_loop_node *to = wsi_loop_node_at(s, defs.def[i].at);
		if (defs.def[i].kind == WSI_DEF_ENTRY || !to || (chosen && !to->opaque))
			continue;
		if (defs.def[i].kind == WSI_DEF_LOST && !to->opaque)
			node->varies = true;
		s->lost |= s->n_edges == s->cap_edges;
		if (s->lost)
			return;
		s->edge[s->n_edges++] = (struct wsi_loop_edge){ (uint16_t)(to - s->node),
								ws_operand_is_predicate(kind) };
		node->n_edges++;
	}
}

/* Edges for all that an instruction reads, its address too, and its guard. */
static void connect(struct wsi_loop *s, struct wsi_loop_node *node)
{
	struct ws_insn insn;
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	const struct wsi_effect *effect = &s->flow->effect[node->at];
	wsi_flow_insn(s->flow, node->at, &insn);
	size_t n = ws_sass_operands(&insn, wsi_flow_pc(s->flow, node->at), ops, WSI_COUNT(ops));
	node->first_edge = (uint16_t)s->n_edges;
	for (size_t i = 0; i < n; i++)
		if (ops[i].role != WS_ROLE_WRITTEN && ops[i].role != WS_ROLE_DESCRIPTOR)
			for (unsigned k = 0; k < ops[i].count; k++)
				add_edges(s, node, ops[i].kind, ops[i].number + k);
	if (effect->flags & WSI_EFFECT_GUARDED)
		add_edges(s, node, effect->guard & 16 ? WS_OPERAND_UPRED : WS_OPERAND_PRED,
			  effect->guard & 7);
}

bool wsi_loop_is_copy(const struct wsi_loop *s, size_t at)
{
	struct ws_insn insn;
	wsi_flow_insn(s->flow, at, &insn);
	if (insn.operation == WS_OP_IMAD) {
		struct wsi_parts parts;
		wsi_parts_of(s->flow, at, &parts);
		return wsi_parts_have(&parts, WS_MOD_MOV);
	}
	return insn.operation == WS_OP_MOV || insn.operation == WS_OP_UMOV ||
	       insn.operation == WS_OP_R2UR;
}

static void close_over(const struct wsi_loop *s, uint32_t *matrix)
{
	for (size_t via = 0; via < s->n_nodes; via++)
		for (size_t i = 0; i < s->n_nodes; i++)
			if (matrix[i * s->row + via / 32] >> via % 32 & 1)
				for (size_t w = 0; w < s->row; w++)
					matrix[i * s->row + w] |= matrix[via * s->row + w];
}

/* Fills `reaches`, where what is opaque passes nothing on, and `behind`, where it does. */
static void find_dependencies(struct wsi_loop *s)
{
	for (size_t i = 0; i < s->n_nodes; i++) {
		const struct wsi_loop_node *node = &s->node[i];
		for (size_t k = 0; k < node->n_edges; k++) {
			uint16_t to = s->edge[node->first_edge + k].to;
			s->behind[i * s->row + to / 32] |= 1u << to % 32;
			if (!node->opaque)
				s->reaches[i * s->row + to / 32] |= 1u << to % 32;
		}
	}
	close_over(s, s->reaches);
	close_over(s, s->behind);
}

static bool has(const struct wsi_loop *s, const uint32_t *matrix, size_t node, size_t on)
{
	return matrix[node * s->row + on / 32] >> on % 32 & 1;
}

/* Whether what an instruction reads lies at the same address in every round. */
static bool stays_put(struct wsi_loop *s, size_t node)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (has(s, s->behind, node, i) &&
		    (s->node[i].varies ||
		     (has(s, s->behind, i, i) && !wsi_loop_is_copy(s, s->node[i].at))))
			return false;
	return true;
}

/* ---- what the instructions do ---- */

bool ws_flow_repeats(const struct ws_insn *insn)
{
	static const enum ws_modifier same[] = { WS_MOD_CAS, WS_MOD_CAST, WS_MOD_EXCH, WS_MOD_OR,
						 WS_MOD_AND, WS_MOD_MIN,  WS_MOD_MAX };
	for (size_t i = 0; i < WSI_COUNT(same); i++)
		if (ws_sass_has(insn, same[i]))
			return true;
	return false;
}

/* An atomic operation that leaves memory as it is when it is done again: a lock that is tried, a
 * word that is read. Others go on with what they find. */
static bool may_repeat(struct wsi_loop *s, const struct wsi_loop_node *node)
{
	struct wsi_parts parts;
	wsi_parts_of(s->flow, node->at, &parts);
	bool zero = true, known = ws_flow_repeats(&parts.insn);
	for (size_t i = 0; i < parts.n_sources; i++) {
		const struct wsi_source *data = &parts.source[i];
		if (!data->address &&
		    (data->kind == WS_OPERAND_REG || data->kind == WS_OPERAND_UREG))
			zero &= data->number >= 255;
	}
	for (size_t i = 0; i < node->n_edges; i++) { /* its data is what it was */
		const struct wsi_loop_node *to = &s->node[s->edge[node->first_edge + i].to];
		known &= !to->opaque && !to->varies;
	}
	return known || (zero && wsi_parts_have(&parts, WS_MOD_ADD)) ||
	       parts.insn.operation == WS_OP_SYNCS;
}

static void add_pc(uint64_t *list, size_t *n, uint64_t pc)
{
	size_t i = 0;
	while (i < *n && list[i] < pc)
		i++;
	if (*n == WS_FLOW_MAX_SOURCES || (i < *n && list[i] == pc))
		return;
	memmove(&list[i + 1], &list[i], (*n - i) * sizeof *list);
	list[i] = pc;
	(*n)++;
}

static bool reads_clock(const struct wsi_loop *s, size_t at, const struct ws_insn *insn)
{
	struct wsi_parts parts;
	if (insn->operation != WS_OP_CS2R && insn->operation != WS_OP_S2R &&
	    insn->operation != WS_OP_S2UR && insn->operation != WS_OP_CS2UR)
		return false;
	wsi_parts_of(s->flow, at, &parts);
	unsigned number = parts.n_sources ? parts.source[0].number : 0;
	return number >= WS_SR_CLOCKLO && number <= WS_SR_GLOBALTIMERHI;
}

/* Nodes, in the order of the code, and what kinds of instructions there are. */
static void add_nodes(struct wsi_loop *s, uint32_t block)
{
	const struct ws_flow *flow = s->flow;
	size_t end = wsi_flow_end(flow, block);
	for (size_t at = wsi_flow_first(flow, block); at < end; at++) {
		struct ws_insn insn;
		struct wsi_loop_node *node = &s->node[s->n_nodes++];
		wsi_flow_insn(flow, at, &insn);
		bool reads = insn.flags & (WS_SASS_LOAD | WS_SASS_ATOMIC) &&
			     !(insn.flags & WS_SASS_CONSTANT);
		bool stack = insn.flags & WS_SASS_LOCAL;
		*node = (struct wsi_loop_node){ .at = at };
		node->opaque = (reads && !stack) || flow->effect[at].flags & WSI_EFFECT_CALL;
		node->varies = reads && stack; /* what the stack holds is not followed */
		node->clock = reads_clock(s, at, &insn);
		s->found->stores |=
			(insn.flags & (WS_SASS_STORE | WS_SASS_ATOMIC)) == WS_SASS_STORE;
		if (flow->effect[at].flags & WSI_EFFECT_CALL)
			add_pc(s->found->call_pc, &s->found->n_calls, wsi_flow_pc(flow, at));
	}
}

static void judge_nodes(struct wsi_loop *s)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		connect(s, &s->node[i]);
	find_dependencies(s);
	for (size_t i = 0; i < s->n_nodes; i++)
		s->node[i].varies |=
			has(s, s->reaches, i, i) && !wsi_loop_is_copy(s, s->node[i].at);
	for (size_t i = 0; i < s->n_nodes; i++) {
		struct ws_insn insn;
		wsi_flow_insn(s->flow, s->node[i].at, &insn);
		if (insn.flags & WS_SASS_ATOMIC)
			s->found->stores |= !may_repeat(s, &s->node[i]);
		if (insn.operation != WS_OP_NANOSLEEP)
			continue;
		for (size_t k = 0; k < s->n_nodes; k++) /* how long it sleeps may vary */
			s->node[k].decides |= has(s, s->reaches, i, k);
	}
}

/* ---- conditions ---- */

static void loop_ask(struct wsi_loop *s, struct wsi_loop_condition condition)
{
	if (s->seen[condition.node])
		return;
	s->seen[condition.node] = true;
	s->pending[s->n_pending++] = condition;
}

/* Asks for the conditions that an instruction joins, or only for the one `to`, whose value is not
 * known if it is none of them. */
static void ask_joined(struct wsi_loop *s, const struct wsi_loop_condition *condition,
		       const struct wsi_loop_join *join, uint16_t to)
{
	struct wsi_loop_condition next = { .node = to, .leaves = -1, .way = condition->way };
	next.strict = condition->strict || (join && join->strict);
	for (size_t i = 0; join && i < join->n; i++) {
		if (to != UINT16_MAX && join->input[i].node != to)
			continue;
		next.node = join->input[i].node;
		next.leaves = join->input[i].leaves;
		loop_ask(s, next);
	}
	if (next.node != UINT16_MAX)
		loop_ask(s, next);
}

/* Whether the predicate that an instruction reads is the carry of a sum, which is no condition. */
static bool takes_carry(const struct wsi_loop *s, const struct wsi_loop_node *node)
{
	struct ws_insn insn;
	wsi_flow_insn(s->flow, node->at, &insn);
	return ws_sass_has(&insn, WS_MOD_X);
}

/* One condition: what it depends on, up to what other conditions gave. */
static void look_at_condition(struct wsi_loop *s, const struct wsi_loop_condition *condition)
{
	const struct wsi_loop_node *top = &s->node[condition->node];
	bool in[WS_FLOW_MAX_LOOP];
	uint16_t work[WS_FLOW_MAX_LOOP];
	size_t n_work = 1;
	bool reads = false, varies = false, clock = false;
	struct wsi_loop_join join;
	wsi_loop_join(s, top, condition->leaves, &join);
	if (join.logic) {
		s->node[condition->node].decides = true;
		ask_joined(s, condition, &join, UINT16_MAX);
		return;
	}
	memset(in, 0, s->n_nodes * sizeof *in);
	work[0] = condition->node;
	in[condition->node] = true;
	while (n_work) {
		struct wsi_loop_node *node = &s->node[work[--n_work]];
		node->decides = true;
		varies |= node->varies;
		clock |= node->clock;
		if (node->opaque) {
			reads = true;
			varies |= !stays_put(s, (size_t)(node - s->node));
			add_pc(s->found->source_pc, &s->found->n_sources,
			       wsi_flow_pc(s->flow, node->at));
			continue;
		}
		const struct wsi_loop_node *lower = wsi_loop_lower(s, node);
		for (size_t i = 0; i < node->n_edges; i++) {
			struct wsi_loop_edge edge = s->edge[node->first_edge + i];
			if (edge.predicate && &s->node[edge.to] != lower && !takes_carry(s, node)) {
				ask_joined(s, condition, node == top ? &join : NULL, edge.to);
			} else if (!in[edge.to]) {
				in[edge.to] = true;
				work[n_work++] = edge.to;
			}
		}
	}
	s->found->mixed |= reads && varies;
	s->found->limited |= !reads && (varies || clock);
	s->way[condition->way].reads |= reads;
	s->way[condition->way].limits |= !reads && (varies || clock);
	if (reads && !varies) {
		s->found->n_conditions++;
		wsi_loop_compare(s, top, condition, join.leaves);
	} else if (condition->strict || join.strict) {
		s->no_test = true;
	}
}

/* What a branch inside of the loop depends on decides, too: how long it sleeps this time, say. */
static void branch_inside(struct wsi_loop *s, const struct wsi_loop_node *node)
{
	for (size_t i = 0; i < node->n_edges; i++) {
		size_t to = s->edge[node->first_edge + i].to;
		s->node[to].decides = true;
		for (size_t k = 0; k < s->n_nodes; k++)
			s->node[k].decides |= has(s, s->reaches, to, k);
	}
}

/* `@!P0 BRA P1, 0x50`: the value of P1 by which it is taken; -1: it has no such operand. */
static int taken_by(const struct ws_insn *insn, uint64_t pc)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	size_t n = ws_sass_operands(insn, pc, ops, WSI_COUNT(ops));
	int value = -1;
	for (size_t i = 0; i < n; i++)
		if (ops[i].role == WS_ROLE_READ && ws_operand_is_predicate(ops[i].kind) &&
		    !ws_operand_is_fixed(ops[i].kind, ops[i].number))
			value = value < 0 ? !ops[i].negated : 2;
	return value == 2 || insn->operation != WS_OP_BRA ? -1 : value;
}

/* The conditions of a block that may lead out of the loop. */
static void leave_block(struct wsi_loop *s, uint32_t at)
{
	const struct ws_flow *flow = s->flow;
	const struct ws_flow_block *block = &flow->blocks[at];
	size_t last = wsi_flow_end(flow, at) - 1;
	const struct wsi_effect *effect = &flow->effect[last];
	bool ends =
		block->flags & (WS_FLOW_EXITS | WS_FLOW_RETURNS | WS_FLOW_OPEN | WS_FLOW_LEAVES);
	bool leaves = ends;
	bool rejoins = false; /* the way out only goes round a part of the loop */
	for (uint32_t i = 0; i < block->n_succ; i++) {
		leaves |= !s->inside[block->succ[i]];
		rejoins |= !s->inside[block->succ[i]] && walk_into(s, block->succ[i]);
	}
	struct wsi_loop_node *node = wsi_loop_node_at(s, last);
	if (!leaves && s->flow->effect[last].flags & WSI_EFFECT_GUARDED)
		branch_inside(s, node);
	if (!leaves)
		return;
	s->found->endless = false;
	struct ws_insn insn;
	struct wsi_leave leave;
	wsi_flow_insn(flow, last, &insn);
	wsi_leave_of(&insn, wsi_flow_pc(flow, last), true, &leave);
	size_t target = leave.flags & WSI_LEAVE_TARGET ? wsi_flow_at(flow, leave.target) : SIZE_MAX;
	/* when the branch is taken it leaves, or stays; with two predicates only staying is sure */
	bool taken_leaves = target == SIZE_MAX || !s->inside[flow->block_of[target]];
	bool two = node->n_edges > 1;
	for (size_t i = 0; i < node->n_edges; i++) {
		uint16_t to = s->edge[node->first_edge + i].to;
		bool guard = effect->flags & WSI_EFFECT_GUARDED && i + 1 == node->n_edges;
		int value = guard ? !(effect->guard & 8) : taken_by(&insn, wsi_flow_pc(flow, last));
		if (value >= 0 && !taken_leaves)
			value = !value;
		loop_ask(s, (struct wsi_loop_condition){
				    to, (int8_t)(rejoins || (taken_leaves && two) ? -1 : value),
				    false, s->n_ways });
	}
	s->way[s->n_ways++].at = last;
}

static void loop_decide(struct wsi_loop *s)
{
	for (uint32_t i = 0; i < s->flow->n_blocks; i++)
		if (s->inside[i])
			leave_block(s, i);
	for (size_t i = 0; i < s->n_pending; i++)
		look_at_condition(s, &s->pending[i]);
	for (size_t i = 0; i < s->n_nodes; i++)
		s->found->computes |= s->node[i].varies && !s->node[i].decides;
	for (size_t i = 0; i < s->n_ways; i++)
		if (s->way[i].limits && !s->way[i].reads)
			add_pc(s->found->limit_pc, &s->found->n_limits,
			       wsi_flow_pc(s->flow, s->way[i].at));
	s->found->computes |= s->lost;
	wsi_loop_compared(s);
}

/* Room for what is found out about a loop of so many instructions. */
static bool make_loop_room(struct wsi_loop *s)
{
	enum { EDGES = 8, FEW = 256 };
	size_t n = s->n_insns;
	s->row = (n + 31) / 32;
	s->cap_edges = EDGES * n + FEW;
	s->node = wsi_zalloc_array(n, sizeof *s->node);
	s->edge = wsi_zalloc_array(s->cap_edges, sizeof *s->edge);
	s->reaches = wsi_zalloc_array(n * s->row, sizeof *s->reaches);
	s->behind = wsi_zalloc_array(n * s->row, sizeof *s->behind);
	s->pending = wsi_zalloc_array(n, sizeof *s->pending);
	s->seen = wsi_zalloc_array(n, sizeof *s->seen);
	s->words = wsi_zalloc_array(n, sizeof *s->words);
	s->way = wsi_zalloc_array(n, sizeof *s->way);
	return s->node && s->edge && s->reaches && s->behind && s->pending && s->seen && s->words &&
	       s->way;
}

static void loop_fini(struct wsi_loop *s)
{
	wsi_reach_fini(&s->reach);
	wsi_free(s->parent);
	wsi_free(s->inside);
	wsi_free(s->node);
	wsi_free(s->edge);
	wsi_free(s->reaches);
	wsi_free(s->behind);
	wsi_free(s->pending);
	wsi_free(s->seen);
	wsi_free(s->words);
	wsi_free(s->way);
}

/* The loop around an instruction, and all about it. */
static enum ws_status look_around(struct wsi_loop *s, size_t at, struct ws_error *err)
{
	const struct ws_flow *flow = s->flow;
	uint64_t pc = wsi_flow_pc(flow, at);
	enum ws_status st = wsi_reach_init(&s->reach, flow, err);
	if (st != WS_OK)
		return st;
	s->parent = wsi_zalloc_array(flow->n_blocks, sizeof *s->parent);
	s->inside = wsi_zalloc_array(flow->n_blocks, sizeof *s->inside);
	if (!s->parent || !s->inside)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "loop");
	if (!find_cycle(s, flow->block_of[at]))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no loop at 0x%" PRIx64, pc);
	for (uint32_t i = 0; i < flow->n_blocks; i++)
		s->n_insns += s->inside[i] ? wsi_flow_end(flow, i) - wsi_flow_first(flow, i) : 0;
	if (s->n_insns > WS_FLOW_MAX_LOOP)
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "the loop at 0x%" PRIx64 " is large",
				pc);
	if (!make_loop_room(s))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "loop");
	for (uint32_t i = 0; i < flow->n_blocks; i++)
		if (s->inside[i])
			add_nodes(s, i);
	s->found->n_insns = (uint32_t)s->n_nodes;
	find_header(s);
	judge_nodes(s);
	loop_decide(s);
	return WS_OK;
}

enum ws_status ws_flow_loop(const struct ws_flow *flow, uint64_t pc, struct ws_flow_loop *ret_loop,
			    struct ws_error *err)
{
	struct ws_flow_loop loop = { .endless = true, .test_result = 255 };
	struct wsi_loop search = { .flow = flow, .found = &loop };
	size_t at = wsi_flow_at(flow, pc);
	if (at == SIZE_MAX)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no instruction at 0x%" PRIx64, pc);
	enum ws_status st = look_around(&search, at, err);
	if (st == WS_OK)
		*ret_loop = loop;
	loop_fini(&search);
	return st;
}
