/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the conditions of a loop compare: a number that was read with one that the loop does not
 * change, or several numbers of one read, joined by AND or OR.
 */
#include "base/base.h"
#include "flow/loop.h"

enum { TRUE_PREDICATE = 7, ZERO_REGISTER = 255, NUMBER_BITS = 8 };

/* ---- how conditions are joined ---- */

/* An instruction that sets a predicate from others: those that are not constant, and by the bits of
 * their values what it gives. Of a compare, its own result is the first. */
struct logic {
	unsigned n;
	unsigned number[WSI_LOOP_INPUTS]; /* TRUE_PREDICATE: the own result of a compare */
	uint8_t table;
};

static bool is_compare(const struct ws_insn *insn, bool upper)
{
	return (insn->operation == WS_OP_ISETP || insn->operation == WS_OP_UISETP) &&
	       ws_insn_bits(insn, 72, 1) == upper;
}

/* PLOP3 of predicates of one lane, and PT. */
static bool read_plop3(const struct wsi_loop *s, size_t at, const struct ws_insn *insn,
		       struct logic *logic)
{
	struct wsi_parts parts;
	static const unsigned low[] = { 87, 77, 68 }, negated[] = { 90, 80, 71 };
	unsigned lut = (unsigned)(ws_insn_bits(insn, 64, 3) | ws_insn_bits(insn, 72, 5) << 3);
	int place[WSI_LOOP_INPUTS];
	wsi_parts_of(s->flow, at, &parts);
	if (insn->operation != WS_OP_PLOP3)
		return false;
	for (size_t i = 0; i < parts.n_sources; i++)
		if (parts.source[i].kind == WS_OPERAND_UPRED)
			return false;
	for (unsigned i = 0; i < WSI_LOOP_INPUTS; i++) {
		unsigned number = (unsigned)ws_insn_bits(insn, low[i], 3);
		place[i] = number == TRUE_PREDICATE ? -1 : (int)logic->n;
		if (place[i] >= 0)
			logic->number[logic->n++] = number;
	}
	for (unsigned values = 0; values < 1u << logic->n; values++) {
		unsigned index = 0;
		for (unsigned i = 0; i < WSI_LOOP_INPUTS; i++) {
			unsigned bit = place[i] < 0 ? 1 : values >> place[i] & 1;
			index |= (bit ^ (unsigned)ws_insn_bits(insn, negated[i], 1)) << (2 - i);
		}
		logic->table |= (uint8_t)((lut >> index & 1) << values);
	}
	return true;
}

/* ISETP.EQ.OR P0, PT, R4, 7, !P1: its own result OR not P1. */
static bool read_setp(const struct ws_insn *insn, struct logic *logic)
{
	unsigned number = (unsigned)ws_insn_bits(insn, 87, 3);
	unsigned how = (unsigned)ws_insn_bits(insn, 74, 2);
	bool negated = ws_insn_bits(insn, 90, 1);
	logic->number[logic->n++] = TRUE_PREDICATE;
	if (number != TRUE_PREDICATE)
		logic->number[logic->n++] = number;
	for (unsigned values = 0; values < 1u << logic->n; values++) {
		bool own = values & 1;
		bool other = (number == TRUE_PREDICATE ? 1 : values >> 1) != negated;
		bool result = how == 0 ? own && other : how == 1 ? own || other : own != other;
		logic->table |= (uint8_t)((unsigned)result << values);
	}
	return how < 3;
}

/* The values of the inputs by which it gives `wanted`: those that all must have (`*ret_all`), or of
 * which any is enough. False: it is neither. */
static bool solve(const struct logic *logic, bool wanted, unsigned *ret_values, bool *ret_all)
{
	unsigned n_values = 1u << logic->n, n_hits = 0, hit = 0, miss = 0;
	for (unsigned values = 0; values < n_values; values++) {
		bool hits = (logic->table >> values & 1) == wanted;
		n_hits += hits;
		*(hits ? &hit : &miss) = values;
	}
	*ret_all = n_hits == 1;
	*ret_values = *ret_all ? hit : ~miss;
	return n_hits == 1 || n_hits == n_values - 1;
}

void wsi_loop_join(struct wsi_loop *s, const struct wsi_loop_node *node, int leaves,
		   struct wsi_loop_join *ret_join)
{
	struct logic logic = { .n = 0 };
	struct ws_insn insn;
	unsigned values = 0;
	bool all = false;
	wsi_flow_insn(s->flow, node->at, &insn);
	bool setp = insn.operation == WS_OP_ISETP || insn.operation == WS_OP_UISETP;
	*ret_join = (struct wsi_loop_join){ .leaves = -1 };
	if (setp ? !read_setp(&insn, &logic) : !read_plop3(s, node->at, &insn, &logic))
		return;
	bool known = leaves >= 0 && logic.n > 0 && solve(&logic, leaves == 1, &values, &all);
	bool uniform = insn.operation == WS_OP_UISETP;
	for (unsigned i = 0; i < logic.n; i++) {
		int8_t wants = known ? (int8_t)(values >> i & 1) : -1;
		if (logic.number[i] == TRUE_PREDICATE) {
			ret_join->leaves = wants;
			continue;
		}
		const struct wsi_loop_node *from = wsi_loop_node_at(
			s, wsi_reach_only(&s->reach, node->at,
					  uniform ? WS_OPERAND_UPRED : WS_OPERAND_PRED,
					  logic.number[i]));
		if (!from) { /* several, or from outside of the loop */
			*ret_join = (struct wsi_loop_join){ .leaves = -1 };
			return;
		}
		ret_join->input[ret_join->n].node = (uint16_t)(from - s->node);
		ret_join->input[ret_join->n++].leaves = wants;
	}
	ret_join->logic = !setp && ret_join->n > 0;
	ret_join->strict = logic.n > 1 && (!known || all);
	s->each |= known && all && logic.n > 1;
	s->any |= known && !all;
}

/* ---- compares of 64 bits ---- */

static unsigned relation_of(const struct ws_insn *insn)
{
	return (unsigned)ws_insn_bits(insn, 76, 3);
}

/* Joined with nothing. */
static bool is_plain(const struct ws_insn *insn)
{
	return ws_insn_bits(insn, 87, 4) == TRUE_PREDICATE && ws_insn_bits(insn, 74, 2) == 0;
}

/*
 * [measured: nvcc 13.0, sm_80 to sm_120]
 *
 *   ISETP.GE.U32.AND P0, PT, R4, UR6, PT
 *   ISETP.GE.AND.EX P0, PT, R5, UR7, PT, P0     (the last one is that of the lower halves)
 */
const struct wsi_loop_node *wsi_loop_lower(struct wsi_loop *s, const struct wsi_loop_node *upper)
{
	struct wsi_parts parts;
	struct ws_insn insn;
	wsi_flow_insn(s->flow, upper->at, &insn);
	if (!is_compare(&insn, true))
		return NULL;
	wsi_parts_of(s->flow, upper->at, &parts);
	const struct wsi_source *carry =
		parts.n_sources ? &parts.source[parts.n_sources - 1] : NULL;
	if (!carry || !wsi_is_predicate(carry) || carry->number >= TRUE_PREDICATE ||
	    carry->negated || s->flow->effect[upper->at].flags & WSI_EFFECT_GUARDED)
		return NULL;
	const struct wsi_loop_node *lower = wsi_loop_node_at(
		s, wsi_reach_only(&s->reach, upper->at, carry->kind, carry->number));
	if (!lower)
		return NULL;
	wsi_flow_insn(s->flow, lower->at, &insn);
	bool fits = is_compare(&insn, false) && is_plain(&insn) &&
		    relation_of(&insn) == relation_of(&parts.insn) &&
		    insn.operation == parts.insn.operation && ws_insn_bits(&insn, 73, 1) == 0;
	return fits ? lower : NULL;
}

/* A compare of numbers of 32 or 64 bits, the latter by one instruction (sm_120) or two. */
struct flow_compare {
	struct wsi_parts insn[2]; /* of two the one of the lower halves first */
	unsigned n_insns, n_halves;
};

static bool compare_at(struct wsi_loop *s, const struct wsi_loop_node *node,
		       struct flow_compare *ret_compare)
{
	const struct wsi_loop_node *lower = wsi_loop_lower(s, node);
	struct flow_compare *c = ret_compare;
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
static struct wsi_source half_of(const struct flow_compare *c, int side, unsigned half,
				 size_t *ret_at)
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
	else if (source.number < ZERO_REGISTER)
		source.number++;
	return source;
}

/* ---- what was read ---- */

/*
 * The one instruction of the loop that reads, or calls, and gives an instruction this register. Of
 * a shuffle the one that a lane executes for all.
 */
static const struct wsi_loop_node *giver_of(struct wsi_loop *s, size_t at,
					    const struct wsi_source *source)
{
	struct wsi_want want = { .kind = source->kind, .number = source->number };
	struct wsi_defs defs;
	const struct wsi_loop_node *reads = NULL;
	wsi_reach_find(&s->reach, at, &want, &defs);
	for (size_t i = 0; i < defs.n && wsi_loop_is_shuffle(s, at); i++) {
		const struct wsi_loop_node *node = wsi_loop_node_at(s, defs.def[i].at);
		bool chosen = defs.def[i].kind == WSI_DEF_INSN && defs.def[i].guard != 7;
		if (reads && node && node->opaque)
			return NULL;
		reads = node && node->opaque && chosen ? node : reads;
	}
	if (reads && !defs.more)
		return reads;
	if (defs.more || defs.n != 1 || defs.def[0].kind == WSI_DEF_ENTRY)
		return NULL;
	const struct wsi_loop_node *node = wsi_loop_node_at(s, defs.def[0].at);
	bool sure = defs.def[0].kind == WSI_DEF_INSN && defs.def[0].guard == 7;
	return node && (sure || (defs.def[0].kind == WSI_DEF_LOST && node->opaque)) ? node : NULL;
}

/* Where a source of an instruction was read. */
struct given {
	size_t at;      /* the instruction that reads, or calls */
	uint8_t result; /* of a call: the register */
	uint8_t part;   /* of a wide read: which register of it */
	uint8_t n_parts;
	uint32_t plus;   /* what was added to it since; */
	size_t adds_at;  /* there, SIZE_MAX: nowhere */
	size_t carry_at; /* it is an upper half: what gives the carry of the lower one */
};

static bool is_register(const struct wsi_source *source)
{
	return !source->constant && source->number < ZERO_REGISTER &&
	       (source->kind == WS_OPERAND_REG || source->kind == WS_OPERAND_UREG);
}

/* Whether an instruction adds a number to one register: IADD3 R0, P0, R4, 8, RZ, and above it
 * IADD3.X or IMAD.X R5, RZ, RZ, R5, P0; of IADD.64 the half `part`. */
static bool adds_number(struct wsi_loop *s, size_t at, unsigned part, struct wsi_source *ret_source,
			struct given *given)
{
	struct wsi_parts parts;
	const struct wsi_source *from = NULL;
	uint64_t plus = 0;
	wsi_parts_of(s->flow, at, &parts);
	bool mad = parts.op == WS_OP_IMAD && wsi_parts_have(&parts, WS_MOD_X);
	bool wide = wsi_parts_have(&parts, WS_MOD_64), upper = wsi_parts_have(&parts, WS_MOD_X);
	if ((!mad && parts.op != WS_OP_IADD3 && parts.op != WS_OP_IADD &&
	     parts.op != WS_OP_VIADD) ||
	    (mad && parts.source[0].number != ZERO_REGISTER) || given->adds_at != SIZE_MAX ||
	    given->carry_at != SIZE_MAX)
		return false;
	for (size_t i = mad ? 2 : 0; i < parts.n_sources; i++) {
		const struct wsi_source *source = &parts.source[i];
		if (wsi_is_predicate(source)) {
			if (source->number >= TRUE_PREDICATE)
				continue;
			if (!upper || source->negated || given->carry_at != SIZE_MAX)
				return false;
			given->carry_at =
				wsi_reach_only(&s->reach, at, source->kind, source->number);
			if (given->carry_at == SIZE_MAX)
				return false;
		} else if (is_register(source)) {
			if (from || source->negated)
				return false;
			from = source;
		} else if (source->kind == WS_OPERAND_IMMEDIATE && !source->constant) {
			plus += (uint64_t)source->value;
		} else if (source->constant || source->negated) {
			return false;
		}
	}
	if (!from || upper != (given->carry_at != SIZE_MAX))
		return false;
	*ret_source = *from;
	if (wide)
		ret_source->number = (uint8_t)(ret_source->number + part);
	if (!upper)
		*(wide && part ? &given->carry_at : &given->adds_at) = at;
	given->plus = (uint32_t)(wide ? plus >> 32 * part : plus);
	return true;
}

/* Whether a source of an instruction is what was read, a copy of it, or a number more. */
static bool comes_from_reading(struct wsi_loop *s, size_t at, struct wsi_source source,
			       struct given *ret_given)
{
	enum { MAX_COPIES = 32 };
	struct wsi_parts copy;
	*ret_given = (struct given){ .adds_at = SIZE_MAX, .carry_at = SIZE_MAX };
	for (int i = 0; i < MAX_COPIES; i++) {
		if (!is_register(&source))
			return false;
		const struct wsi_loop_node *next = giver_of(s, at, &source);
		if (!next)
			return false;
		const struct wsi_effect *effect = &s->flow->effect[next->at];
		bool call = effect->flags & WSI_EFFECT_CALL;
		uint8_t first = source.kind == WS_OPERAND_REG ? effect->reg[0] : effect->ureg;
		uint8_t part = (uint8_t)(source.number - first);
		ret_given->at = next->at;
		ret_given->result = call ? source.number : 255;
		ret_given->part = call ? 0 : part;
		ret_given->n_parts = call ? 0 : effect->n_reg[0];
		if (next->opaque)
			return true;
		at = next->at;
		if (adds_number(s, at, part, &source, ret_given))
			continue;
		wsi_parts_of(s->flow, at, &copy);
		if (!wsi_loop_is_shuffle(s, at) &&
		    (!wsi_loop_is_copy(s, at) || copy.n_sources != 1))
			return false;
		source = copy.source[0];
		if (source.count > 1 && source.number < ZERO_REGISTER) /* MOV.64 */
			source.number = (uint8_t)(source.number + part);
	}
	return false;
}

/* Whether a side of it is a whole number that was read; `*ret_plus`: and that much more. */
static bool is_read(struct wsi_loop *s, const struct flow_compare *c, int side,
		    struct given *ret_given, uint64_t *ret_plus)
{
	struct given above;
	size_t at;
	struct wsi_source source = half_of(c, side, 0, &at);
	if (!comes_from_reading(s, at, source, ret_given) || ret_given->carry_at != SIZE_MAX)
		return false;
	bool call = ret_given->result != 255;
	*ret_plus = ret_given->plus;
	if (!call && (ret_given->n_parts % c->n_halves || ret_given->part % c->n_halves))
		return false;
	if (c->n_halves == 1)
		return true;
	source = half_of(c, side, 1, &at);
	bool known = comes_from_reading(s, at, source, &above) && above.at == ret_given->at &&
		     above.carry_at == ret_given->adds_at && above.adds_at == SIZE_MAX;
	*ret_plus |= (uint64_t)above.plus << 32;
	return known &&
	       (call ? above.result == ret_given->result + 1 : above.part == ret_given->part + 1);
}

static bool same_source(const struct wsi_source *a, const struct wsi_source *b)
{
	return a->kind == b->kind && a->constant == b->constant && a->address == b->address &&
	       a->number == b->number && a->bank == b->bank && a->has_base == b->has_base &&
	       a->has_ubase == b->has_ubase && a->base == b->base && a->ubase == b->ubase &&
	       a->value == b->value;
}

/* Whether two instructions read the same word: one that was unrolled. */
static bool same_read(const struct wsi_loop *s, size_t left, size_t right)
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

/* ---- the test ---- */

static enum ws_flow_test test_when(unsigned relation, bool leaves, bool turned)
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
	static const enum ws_flow_test swapped[] = {
		[WS_FLOW_TEST_NONE] = WS_FLOW_TEST_NONE,
		[WS_FLOW_TEST_LESS] = WS_FLOW_TEST_MORE,
		[WS_FLOW_TEST_MORE] = WS_FLOW_TEST_LESS,
		[WS_FLOW_TEST_AT_LEAST] = WS_FLOW_TEST_AT_MOST,
		[WS_FLOW_TEST_AT_MOST] = WS_FLOW_TEST_AT_LEAST,
		[WS_FLOW_TEST_EQUAL] = WS_FLOW_TEST_EQUAL,
		[WS_FLOW_TEST_OTHER] = WS_FLOW_TEST_OTHER,
	};
	enum ws_flow_test test = when_true[relation];
	test = leaves ? test : opposite[test];
	return turned ? swapped[test] : test;
}

/* What a condition that is left by `leaves` waits for; false: it cannot be told. */
static bool test_of(struct wsi_loop *s, const struct wsi_loop_node *node, int leaves,
		    struct ws_flow_loop *ret_test, size_t *ret_read_at)
{
	struct flow_compare c;
	struct given given[2];
	uint64_t plus[2];
	if (leaves < 0 || !compare_at(s, node, &c))
		return false;
	/* the side that copies lead from to what was read; the other must not change */
	bool left = is_read(s, &c, 0, &given[0], &plus[0]);
	bool right = is_read(s, &c, 1, &given[1], &plus[1]);
	if (left == right)
		return false;
	const struct wsi_parts *last = &c.insn[c.n_insns - 1];
	const struct given *read = &given[right];
	bool call = read->result != 255;
	unsigned word = call ? 0 : read->part / c.n_halves;
	ret_test->test = test_when(relation_of(&last->insn), leaves, right);
	ret_test->test_signed =
		!wsi_parts_have(last, WS_MOD_U32) && !wsi_parts_have(last, WS_MOD_U64);
	ret_test->test_result = read->result;
	ret_test->test_plus = plus[right];
	ret_test->n_test_with = (uint8_t)c.n_halves;
	ret_test->test_words = (uint8_t)(1u << word);
	ret_test->n_test_words = (uint8_t)(call ? 1 : read->n_parts / c.n_halves);
	*ret_read_at = read->at;
	const struct wsi_source *low = &c.insn[0].source[left];
	if ((c.n_halves > c.n_insns && low->kind == WS_OPERAND_IMMEDIATE && low->value < 0) ||
	    word >= NUMBER_BITS)
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

static bool same_test(const struct ws_flow_loop *a, const struct ws_flow_loop *b)
{
	return a->test == b->test && a->test_signed == b->test_signed &&
	       a->test_result == b->test_result && a->test_plus == b->test_plus &&
	       a->n_test_with == b->n_test_with && a->n_test_words == b->n_test_words &&
	       same_other(&a->test_with[0], &b->test_with[0]) &&
	       same_other(&a->test_with[1], &b->test_with[1]);
}

/* Several conditions that all wait for the same number, of one word that was unrolled or of several
 * words of one read, are one; of others nothing is said. */
void wsi_loop_compare(struct wsi_loop *s, const struct wsi_loop_node *node,
		      const struct wsi_loop_condition *condition, int leaves)
{
	struct ws_flow_loop *loop = s->found, test = { .test = WS_FLOW_TEST_NONE };
	size_t read_at = 0;
	bool first = loop->n_conditions == 1;
	if (!test_of(s, node, leaves, &test, &read_at) ||
	    (!first && (!same_test(loop, &test) || !same_read(s, s->read_at, read_at)))) {
		s->no_test = true;
		return;
	}
	s->words[condition->way] |= test.test_words;
	loop->test_words |= test.test_words;
	if (!first)
		return;
	loop->test = test.test;
	loop->test_signed = test.test_signed;
	loop->test_result = test.test_result;
	loop->test_plus = test.test_plus;
	loop->n_test_with = test.n_test_with;
	loop->n_test_words = test.n_test_words;
	memcpy(loop->test_with, test.test_with, sizeof loop->test_with);
	s->read_at = read_at;
}

void wsi_loop_compared(struct wsi_loop *s)
{
	struct ws_flow_loop *loop = s->found;
	bool several = loop->test_words & (loop->test_words - 1u);
	loop->test_each = s->each;
	for (unsigned i = 0; i < s->n_ways && several && s->each; i++)
		s->no_test |= s->words[i] && s->words[i] != loop->test_words;
	if (s->no_test || (several && s->each && s->any))
		loop->test = WS_FLOW_TEST_NONE;
}
