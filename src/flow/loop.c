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
#include "base/base.h"
#include "flow/flow.h"

enum { MAX_EDGES = 8 * WS_FLOW_MAX_LOOP, WORDS = WS_FLOW_MAX_LOOP / 32 };

struct edge {
	uint16_t to;
	bool predicate; /* a predicate is read */
};

struct node {
	size_t at;
	uint16_t first_edge, n_edges;
	bool opaque;  /* reads memory, or calls: what it gives comes from outside */
	bool varies;  /* depends on itself, or on what nobody can say */
	bool decides; /* some condition, or the length of a sleep, depends on it */
};

struct search {
	const struct ws_flow *flow;
	struct ws_flow_loop *loop;
	struct wsi_reach reach;
	uint32_t *parent; /* owned; by block: one more than the block it was reached from */
	bool *inside;     /* owned; by block */
	struct node node[WS_FLOW_MAX_LOOP];
	size_t n_nodes;
	struct edge edge[MAX_EDGES];
	size_t n_edges;
	bool lost;                                 /* more edges than fit */
	uint32_t reaches[WS_FLOW_MAX_LOOP][WORDS]; /* bit: the other node's result is used */
	uint32_t behind[WS_FLOW_MAX_LOOP][WORDS];  /* the same, through what is opaque too */
	/* conditions that are still to be looked at: a node, and a value of it that leaves the
	 * loop, -1: not known */
	struct pending {
		uint16_t node;
		int8_t leaves;
	} pending[WS_FLOW_MAX_LOOP]; /* each node at most once */
	size_t n_pending;
	bool seen[WS_FLOW_MAX_LOOP]; /* conditions that were looked at */
	size_t read_at;              /* of the first compare: what reads its number */
	uint32_t header;             /* block by which the loop is entered; UINT32_MAX: not known */
	uint32_t n_walks;            /* `parent` has the number of the last one that came by */
};

const char *ws_flow_test_text(enum ws_flow_test test)
{
	static const char *const texts[] = { "none",    "equal", "other",   "less",
					     "at most", "more",  "at least" };
	return (size_t)test < WSI_COUNT(texts) ? texts[test] : "none";
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

/* Goes from a block on through what is outside of the loop; true once it comes to a block of the
 * loop that is not its header. Without a header it comes to any, which is the header then. */
static bool walk_into(struct search *s, uint32_t start)
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
static void find_header(struct search *s)
{
	memset(s->parent, 0, s->flow->n_blocks * sizeof *s->parent);
	s->header = UINT32_MAX;
	(void)walk_into(s, 0);
}

/* ---- nodes and edges ---- */

/* The node of an instruction of the loop. */
static struct node *node_at(struct search *s, size_t at)
{
	size_t low = 0, n = s->n_nodes;
	while (n > 0) {
		size_t half = n / 2;
		if (s->node[low + half].at < at) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low < s->n_nodes && s->node[low].at == at ? &s->node[low] : NULL;
}

static bool is_shuffle(const struct search *s, size_t at)
{
	struct ws_insn insn;
	wsi_flow_insn(s->flow, at, &insn);
	return insn.operation == WS_OP_SHFL;
}

/* One lane reads for all: what it got is then handed round. */
static bool some_lane_reads(struct search *s, const struct wsi_defs *defs)
{
	for (size_t i = 0; i < defs->n; i++) {
		const struct node *node = node_at(s, defs->def[i].at);
		if (defs->def[i].kind == WSI_DEF_INSN && defs->def[i].guard != 7 && node &&
		    node->opaque)
			return true;
	}
	return false;
}

/* An edge to every instruction of the loop that may give a node this register. */
static void add_edges(struct search *s, struct node *node, enum ws_operand_kind kind,
		      unsigned number)
{
	struct wsi_want want = { .kind = kind, .number = (uint8_t)number };
	struct wsi_defs defs;
	if (!ws_operand_is_register(kind) || ws_operand_is_fixed(kind, number))
		return;
	wsi_reach_find(&s->reach, node->at, &want, &defs);
	node->varies |= defs.more;
	bool chosen = is_shuffle(s, node->at) && some_lane_reads(s, &defs);
	for (size_t i = 0; i < defs.n; i++) {
		struct node *to = node_at(s, defs.def[i].at);
		if (defs.def[i].kind == WSI_DEF_ENTRY || !to || (chosen && !to->opaque))
			continue;
		if (defs.def[i].kind == WSI_DEF_LOST && !to->opaque)
			node->varies = true;
		s->lost |= s->n_edges == MAX_EDGES;
		if (s->lost)
			return;
		s->edge[s->n_edges++] =
			(struct edge){ (uint16_t)(to - s->node), ws_operand_is_predicate(kind) };
		node->n_edges++;
	}
}

/* Edges for all that an instruction reads, its address too, and its guard. */
static void connect(struct search *s, struct node *node)
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

static bool is_copy(const struct search *s, size_t at)
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

static void close_over(size_t n, uint32_t matrix[][WORDS])
{
	for (size_t via = 0; via < n; via++)
		for (size_t i = 0; i < n; i++)
			if (matrix[i][via / 32] >> via % 32 & 1)
				for (size_t w = 0; w < WORDS; w++)
					matrix[i][w] |= matrix[via][w];
}

/* Fills `reaches`, where what is opaque passes nothing on, and `behind`, where it does. */
static void find_dependencies(struct search *s)
{
	for (size_t i = 0; i < s->n_nodes; i++) {
		const struct node *node = &s->node[i];
		for (size_t k = 0; k < node->n_edges; k++) {
			uint16_t to = s->edge[node->first_edge + k].to;
			s->behind[i][to / 32] |= 1u << to % 32;
			if (!node->opaque)
				s->reaches[i][to / 32] |= 1u << to % 32;
		}
	}
	close_over(s->n_nodes, s->reaches);
	close_over(s->n_nodes, s->behind);
}

static bool has(uint32_t matrix[][WORDS], size_t node, size_t on)
{
	return matrix[node][on / 32] >> on % 32 & 1;
}

/* Whether what an instruction reads lies at the same address in every round. */
static bool stays_put(struct search *s, size_t node)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (has(s->behind, node, i) &&
		    (s->node[i].varies || (has(s->behind, i, i) && !is_copy(s, s->node[i].at))))
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
static bool may_repeat(struct search *s, const struct node *node)
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
		const struct node *to = &s->node[s->edge[node->first_edge + i].to];
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

/* Nodes, in the order of the code, and what kinds of instructions there are. */
static bool add_nodes(struct search *s, uint32_t block)
{
	const struct ws_flow *flow = s->flow;
	size_t end = wsi_flow_end(flow, block);
	for (size_t at = wsi_flow_first(flow, block); at < end; at++) {
		struct ws_insn insn;
		if (s->n_nodes == WS_FLOW_MAX_LOOP)
			return false;
		struct node *node = &s->node[s->n_nodes++];
		wsi_flow_insn(flow, at, &insn);
		bool reads = insn.flags & (WS_SASS_LOAD | WS_SASS_ATOMIC) &&
			     !(insn.flags & WS_SASS_CONSTANT);
		bool stack = insn.flags & WS_SASS_LOCAL;
		*node = (struct node){ .at = at };
		node->opaque = (reads && !stack) || flow->effect[at].flags & WSI_EFFECT_CALL;
		node->varies = reads && stack; /* what the stack holds is not followed */
		s->loop->stores |= (insn.flags & (WS_SASS_STORE | WS_SASS_ATOMIC)) == WS_SASS_STORE;
		if (flow->effect[at].flags & WSI_EFFECT_CALL)
			add_pc(s->loop->call_pc, &s->loop->n_calls, wsi_flow_pc(flow, at));
	}
	s->loop->n_insns = (uint32_t)s->n_nodes;
	return true;
}

static void judge_nodes(struct search *s)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		connect(s, &s->node[i]);
	find_dependencies(s);
	for (size_t i = 0; i < s->n_nodes; i++)
		s->node[i].varies |= has(s->reaches, i, i) && !is_copy(s, s->node[i].at);
	for (size_t i = 0; i < s->n_nodes; i++) {
		struct ws_insn insn;
		wsi_flow_insn(s->flow, s->node[i].at, &insn);
		if (insn.flags & WS_SASS_ATOMIC)
			s->loop->stores |= !may_repeat(s, &s->node[i]);
		if (insn.operation != WS_OP_NANOSLEEP)
			continue;
		for (size_t k = 0; k < s->n_nodes; k++) /* how long it sleeps may vary */
			s->node[k].decides |= has(s->reaches, i, k);
	}
}

/* ---- conditions ---- */

static void ask(struct search *s, uint16_t node, int leaves)
{
	if (s->seen[node])
		return;
	s->seen[node] = true;
	s->pending[s->n_pending++] = (struct pending){ node, (int8_t)leaves };
}

/* What a PLOP3 of one predicate and constants gives for its false and its true: 0, 1, or -1 when
 * there are more. `*ret_number` is the predicate. */
static bool plop3_of_one(const struct ws_insn *insn, unsigned *ret_number, bool ret_result[2])
{
	static const unsigned low[] = { 87, 77, 68 }, negated[] = { 90, 80, 71 };
	unsigned lut = (unsigned)(ws_insn_bits(insn, 64, 3) | ws_insn_bits(insn, 72, 5) << 3);
	int variable = -1;
	for (int i = 0; i < 3; i++) {
		if (ws_insn_bits(insn, low[i], 3) == 7)
			continue;
		if (variable >= 0)
			return false;
		variable = i;
	}
	if (variable < 0)
		return false;
	*ret_number = (unsigned)ws_insn_bits(insn, low[variable], 3);
	for (unsigned value = 0; value < 2; value++) {
		unsigned index = 0;
		for (int i = 0; i < 3; i++) {
			unsigned bit = i == variable ? value : 1;
			index |= (bit ^ (unsigned)ws_insn_bits(insn, negated[i], 1)) << (2 - i);
		}
		ret_result[value] = lut >> index & 1;
	}
	return true;
}

/* A compare of two numbers that alone sets its predicate; `upper`: of their upper halves, with what
 * the compare of the lower ones gave. */
static bool is_compare(const struct ws_insn *insn, bool upper)
{
	return (insn->operation == WS_OP_ISETP || insn->operation == WS_OP_UISETP) &&
	       ws_insn_bits(insn, 72, 1) == upper && ws_insn_bits(insn, 87, 4) == 7 &&
	       ws_insn_bits(insn, 74, 2) == 0;
}

static unsigned relation_of(const struct ws_insn *insn)
{
	return (unsigned)ws_insn_bits(insn, 76, 3);
}

/*
 * The compare of the lower halves that belongs to one of upper halves, or NULL. [measured: nvcc
 * 13.0, sm_80 to sm_120]
 *
 *   ISETP.GE.U32.AND P0, PT, R4, UR6, PT
 *   ISETP.GE.AND.EX P0, PT, R5, UR7, PT, P0
 */
static const struct node *lower_compare(struct search *s, const struct node *upper)
{
	struct wsi_parts parts;
	struct ws_insn insn;
	const struct wsi_source *carry = NULL;
	wsi_parts_of(s->flow, upper->at, &parts);
	if (!is_compare(&parts.insn, true) || s->flow->effect[upper->at].flags & WSI_EFFECT_GUARDED)
		return NULL;
	for (size_t i = 0; i < parts.n_sources; i++)
		if (wsi_is_predicate(&parts.source[i]) && parts.source[i].number < 7) {
			if (carry || parts.source[i].negated)
				return NULL;
			carry = &parts.source[i];
		}
	const struct node *lower =
		carry ? node_at(s, wsi_reach_only(&s->reach, upper->at, carry->kind, carry->number))
		      : NULL;
	if (!lower)
		return NULL;
	wsi_flow_insn(s->flow, lower->at, &insn);
	bool fits = is_compare(&insn, false) && relation_of(&insn) == relation_of(&parts.insn) &&
		    insn.operation == parts.insn.operation && ws_insn_bits(&insn, 73, 1) == 0;
	return fits ? lower : NULL;
}

/* The one instruction of the loop that reads, or calls, and gives an instruction this register. */
static const struct node *giver_of(struct search *s, size_t at, const struct wsi_source *source)
{
	struct wsi_want want = { .kind = source->kind, .number = source->number };
	struct wsi_defs defs;
	wsi_reach_find(&s->reach, at, &want, &defs);
	if (defs.more || defs.n != 1 || defs.def[0].kind == WSI_DEF_ENTRY)
		return NULL;
	const struct node *node = node_at(s, defs.def[0].at);
	bool sure = defs.def[0].kind == WSI_DEF_INSN && defs.def[0].guard == 7;
	return node && (sure || (defs.def[0].kind == WSI_DEF_LOST && node->opaque)) ? node : NULL;
}

/* Where a source of an instruction was read. */
struct given {
	size_t at;      /* the instruction that reads, or calls */
	uint8_t result; /* of a call: the register */
	uint8_t part;   /* of a wide read: which register of it */
	uint8_t n_parts;
};

/* Whether a source of an instruction is what was read, or a copy of it. */
static bool comes_from_reading(struct search *s, size_t at, struct wsi_source source,
			       struct given *ret_given)
{
	enum { MAX_COPIES = 32 };
	struct wsi_parts copy;
	for (int i = 0; i < MAX_COPIES; i++) {
		if (source.constant || source.number >= 255 ||
		    (source.kind != WS_OPERAND_REG && source.kind != WS_OPERAND_UREG))
			return false;
		const struct node *next = giver_of(s, at, &source);
		if (!next)
			return false;
		const struct wsi_effect *effect = &s->flow->effect[next->at];
		bool call = effect->flags & WSI_EFFECT_CALL;
		uint8_t first = source.kind == WS_OPERAND_REG ? effect->reg[0] : effect->ureg;
		uint8_t part = (uint8_t)(source.number - first);
		*ret_given = (struct given){
			.at = next->at,
			.result = call ? source.number : 255,
			.part = call ? 0 : part,
			.n_parts = call ? 0 : effect->n_reg[0],
		};
		if (next->opaque)
			return true;
		wsi_parts_of(s->flow, next->at, &copy);
		if (!is_copy(s, next->at) || copy.n_sources != 1)
			return false;
		at = next->at;
		source = copy.source[0];
		if (source.count > 1 && source.number < 255) /* MOV.64 */
			source.number = (uint8_t)(source.number + part);
	}
	return false;
}

/* A compare of numbers of 32 or 64 bits, the latter by one instruction (sm_120) or two. */
struct compare {
	struct wsi_parts insn[2]; /* of two the one of the lower halves first */
	unsigned n_insns, n_halves;
};

static bool compare_at(struct search *s, const struct node *node, struct compare *ret_compare)
{
	const struct node *lower = lower_compare(s, node);
	struct compare *c = ret_compare;
	c->n_insns = lower ? 2 : 1;
	wsi_parts_of(s->flow, node->at, &c->insn[c->n_insns - 1]);
	if (lower)
		wsi_parts_of(s->flow, lower->at, &c->insn[0]);
	bool wide =
		wsi_parts_have(&c->insn[0], WS_MOD_U64) || wsi_parts_have(&c->insn[0], WS_MOD_S64);
	c->n_halves = lower || wide ? 2 : 1;
	return (lower || is_compare(&c->insn[0].insn, false)) && !(lower && wide) &&
	       c->insn[0].n_sources >= 2 && c->insn[c->n_insns - 1].n_sources >= 2;
}

/* A half of one side of it, and the instruction that reads it. */
static struct wsi_source half_of(const struct compare *c, int side, unsigned half, size_t *ret_at)
{
	const struct wsi_parts *parts = &c->insn[half < c->n_insns ? half : 0];
	struct wsi_source source = parts->source[side];
	*ret_at = parts->at;
	if (half < c->n_insns)
		return source;
	if (source.constant)
		source.value += 4;
	else if (source.kind == WS_OPERAND_IMMEDIATE)
		source.value = 0; /* test_of() takes none below 0 */
	else if (source.number < 255)
		source.number++;
	return source;
}

/* Whether a side of it is a whole number that was read. */
static bool is_read(struct search *s, const struct compare *c, int side, struct given *ret_given)
{
	struct given above;
	size_t at;
	struct wsi_source source = half_of(c, side, 0, &at);
	if (!comes_from_reading(s, at, source, ret_given))
		return false;
	bool call = ret_given->result != 255;
	if (ret_given->part != 0 || (!call && ret_given->n_parts != c->n_halves))
		return false; /* of a wider read it would be a part */
	if (c->n_halves == 1)
		return true;
	source = half_of(c, side, 1, &at);
	return comes_from_reading(s, at, source, &above) && above.at == ret_given->at &&
	       (call ? above.result == ret_given->result + 1 : above.part == 1);
}

static bool same_source(const struct wsi_source *a, const struct wsi_source *b)
{
	return a->kind == b->kind && a->constant == b->constant && a->address == b->address &&
	       a->number == b->number && a->bank == b->bank && a->has_base == b->has_base &&
	       a->has_ubase == b->has_ubase && a->base == b->base && a->ubase == b->ubase &&
	       a->value == b->value;
}

/* Whether two instructions read the same word: one that was unrolled. */
static bool same_read(const struct search *s, size_t left, size_t right)
{
	struct wsi_parts a, b;
	if (left == right)
		return true;
	wsi_parts_of(s->flow, left, &a);
	wsi_parts_of(s->flow, right, &b);
	bool same = a.insn.operation == b.insn.operation && a.n_sources == b.n_sources &&
		    !(s->flow->effect[left].flags & WSI_EFFECT_CALL);
	for (size_t i = 0; i < a.n_sources && same; i++)
		same = same_source(&a.source[i], &b.source[i]);
	return same;
}

static bool same_other(const struct ws_flow_other *a, const struct ws_flow_other *b)
{
	return a->with.kind == b->with.kind && a->with.number == b->with.number &&
	       a->with.value == b->with.value && a->constant == b->constant && a->bank == b->bank;
}

/* What a condition that is left by `leaves` waits for; false: it cannot be told. */
static bool test_of(struct search *s, const struct node *node, int leaves,
		    struct ws_flow_loop *ret_test, size_t *ret_read_at)
{
	static const enum ws_flow_test when_true[] = {
		WS_FLOW_TEST_NONE, WS_FLOW_TEST_LESS,  WS_FLOW_TEST_EQUAL,    WS_FLOW_TEST_AT_MOST,
		WS_FLOW_TEST_MORE, WS_FLOW_TEST_OTHER, WS_FLOW_TEST_AT_LEAST, WS_FLOW_TEST_NONE,
	};
	static const enum ws_flow_test opposite[] = {
		[WS_FLOW_TEST_NONE] = WS_FLOW_TEST_NONE,
		[WS_FLOW_TEST_LESS] = WS_FLOW_TEST_AT_LEAST,
		[WS_FLOW_TEST_AT_LEAST] = WS_FLOW_TEST_LESS,
		[WS_FLOW_TEST_EQUAL] = WS_FLOW_TEST_OTHER,
		[WS_FLOW_TEST_OTHER] = WS_FLOW_TEST_EQUAL,
		[WS_FLOW_TEST_AT_MOST] = WS_FLOW_TEST_MORE,
		[WS_FLOW_TEST_MORE] = WS_FLOW_TEST_AT_MOST,
	};
	static const enum ws_flow_test turned[] = {
		[WS_FLOW_TEST_NONE] = WS_FLOW_TEST_NONE,
		[WS_FLOW_TEST_LESS] = WS_FLOW_TEST_MORE,
		[WS_FLOW_TEST_MORE] = WS_FLOW_TEST_LESS,
		[WS_FLOW_TEST_AT_LEAST] = WS_FLOW_TEST_AT_MOST,
		[WS_FLOW_TEST_AT_MOST] = WS_FLOW_TEST_AT_LEAST,
		[WS_FLOW_TEST_EQUAL] = WS_FLOW_TEST_EQUAL,
		[WS_FLOW_TEST_OTHER] = WS_FLOW_TEST_OTHER,
	};
	struct compare c;
	struct given given[2];
	if (leaves < 0 || !compare_at(s, node, &c))
		return false;
	/* the side that copies lead from to what was read; the other must not change */
	bool left = is_read(s, &c, 0, &given[0]), right = is_read(s, &c, 1, &given[1]);
	if (left == right)
		return false;
	const struct wsi_parts *last = &c.insn[c.n_insns - 1];
	enum ws_flow_test test = when_true[relation_of(&last->insn)];
	test = leaves ? test : opposite[test];
	ret_test->test = left ? test : turned[test];
	ret_test->test_signed =
		!wsi_parts_have(last, WS_MOD_U32) && !wsi_parts_have(last, WS_MOD_U64);
	ret_test->test_result = given[right].result;
	ret_test->n_test_with = (uint8_t)c.n_halves;
	*ret_read_at = given[right].at;
	const struct wsi_source *low = &c.insn[0].source[left];
	if (c.n_halves > c.n_insns && low->kind == WS_OPERAND_IMMEDIATE && low->value < 0)
		return false; /* how it is extended is not known */
	for (unsigned i = 0; i < c.n_halves; i++) {
		size_t at;
		struct wsi_source other = half_of(&c, left, i, &at);
		ret_test->test_with[i] = (struct ws_flow_other){
			.pc = wsi_flow_pc(s->flow, at),
			.with = { .kind = other.kind,
				  .number = other.number,
				  .count = 1,
				  .value = other.value },
			.constant = other.constant,
			.bank = other.bank,
		};
	}
	return ret_test->test != WS_FLOW_TEST_NONE;
}

/* Several conditions that all wait for the same number of the same word are one that was unrolled;
 * of others nothing is said. */
static void read_compare(struct search *s, const struct node *node, int leaves)
{
	struct ws_flow_loop *loop = s->loop, found = { .test = WS_FLOW_TEST_NONE };
	size_t read_at = 0;
	bool known = test_of(s, node, leaves, &found, &read_at);
	bool first = loop->n_conditions == 1;
	if (!first && known)
		known = loop->test == found.test && loop->test_signed == found.test_signed &&
			loop->test_result == found.test_result &&
			loop->n_test_with == found.n_test_with &&
			same_other(&loop->test_with[0], &found.test_with[0]) &&
			same_other(&loop->test_with[1], &found.test_with[1]) &&
			same_read(s, s->read_at, read_at);
	if (!known) {
		loop->test = WS_FLOW_TEST_NONE;
		return;
	}
	if (!first)
		return;
	loop->test = found.test;
	loop->test_signed = found.test_signed;
	loop->test_result = found.test_result;
	loop->n_test_with = found.n_test_with;
	memcpy(loop->test_with, found.test_with, sizeof loop->test_with);
	s->read_at = read_at;
}

/* One condition: what it depends on, up to what other conditions gave. */
static void look_at(struct search *s, struct pending pending)
{
	const struct node *top = &s->node[pending.node];
	bool in[WS_FLOW_MAX_LOOP] = { false };
	uint16_t work[WS_FLOW_MAX_LOOP];
	size_t n_work = 1;
	bool reads = false, varies = false;
	struct ws_insn insn;
	unsigned number;
	bool result[2];
	wsi_flow_insn(s->flow, top->at, &insn);
	if (insn.operation == WS_OP_PLOP3 && plop3_of_one(&insn, &number, result)) {
		struct node *from =
			node_at(s, wsi_reach_only(&s->reach, top->at, WS_OPERAND_PRED, number));
		int leaves = pending.leaves < 0 || result[0] == result[1]
				     ? -1
				     : result[1] == (pending.leaves == 1);
		s->node[pending.node].decides = true;
		if (from) {
			ask(s, (uint16_t)(from - s->node), leaves);
			return;
		}
	}
	work[0] = pending.node;
	in[pending.node] = true;
	while (n_work) {
		struct node *node = &s->node[work[--n_work]];
		node->decides = true;
		varies |= node->varies;
		if (node->opaque) {
			reads = true;
			varies |= !stays_put(s, (size_t)(node - s->node));
			add_pc(s->loop->source_pc, &s->loop->n_sources,
			       wsi_flow_pc(s->flow, node->at));
			continue;
		}
		const struct node *lower = lower_compare(s, node);
		for (size_t i = 0; i < node->n_edges; i++) {
			struct edge edge = s->edge[node->first_edge + i];
			if (edge.predicate && &s->node[edge.to] != lower) {
				ask(s, edge.to, -1);
			} else if (!in[edge.to]) {
				in[edge.to] = true;
				work[n_work++] = edge.to;
			}
		}
	}
	s->loop->mixed |= reads && varies;
	s->loop->limited |= !reads && varies;
	if (reads && !varies) {
		s->loop->n_conditions++;
		read_compare(s, top, pending.leaves);
	}
}

/* What a branch inside of the loop depends on decides, too: how long it sleeps this time, say. */
static void branch_inside(struct search *s, const struct node *node)
{
	for (size_t i = 0; i < node->n_edges; i++) {
		size_t to = s->edge[node->first_edge + i].to;
		s->node[to].decides = true;
		for (size_t k = 0; k < s->n_nodes; k++)
			s->node[k].decides |= has(s->reaches, to, k);
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
static void leave_block(struct search *s, uint32_t at)
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
	struct node *node = node_at(s, last);
	if (!leaves && s->flow->effect[last].flags & WSI_EFFECT_GUARDED)
		branch_inside(s, node);
	if (!leaves)
		return;
	s->loop->endless = false;
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
		ask(s, to, rejoins || (taken_leaves && two) ? -1 : value);
	}
}

static void decide(struct search *s)
{
	for (uint32_t i = 0; i < s->flow->n_blocks; i++)
		if (s->inside[i])
			leave_block(s, i);
	for (size_t i = 0; i < s->n_pending; i++)
		look_at(s, s->pending[i]);
	for (size_t i = 0; i < s->n_nodes; i++)
		s->loop->computes |= s->node[i].varies && !s->node[i].decides;
	s->loop->computes |= s->lost;
}

enum ws_status ws_flow_loop(const struct ws_flow *flow, uint64_t pc, struct ws_flow_loop *ret_loop,
			    struct ws_error *err)
{
	struct ws_flow_loop loop = { .endless = true, .test_result = 255 };
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
	for (uint32_t i = 0; st == WS_OK && i < flow->n_blocks; i++)
		if (s->inside[i] && !add_nodes(s, i))
			st = wsi_fail(err, WS_LIMIT, WS_NO_OFFSET,
				      "the loop at 0x%" PRIx64 " is large", pc);
	if (st == WS_OK) {
		find_header(s);
		judge_nodes(s);
		decide(s);
		*ret_loop = loop;
	}
	wsi_reach_fini(&s->reach);
	wsi_free(s->parent);
	wsi_free(s->inside);
	wsi_free(s);
	return st;
}
