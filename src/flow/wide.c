/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64 bits that two instructions compute, the lower and the upper half each for itself.
 *
 * A sum: the lower half is a sum of terms that gives its carry to the upper one, which is a sum
 * with that carry. Then the whole is the sum of the lower terms plus the sum of the upper terms <<
 * 32, whichever of them belong together: choosing the right couples only makes the result nicer.
 */
#include "base/base.h"
#include "flow/slice.h"

/* One term of half a sum. */
struct wide_term {
	struct wsi_half half;
	struct wsi_half above; /* of a shifted upper term: the upper half of what is shifted */
	bool negated;
	bool shifted;    /* by `shift`; of an upper term: what the shift leaves above */
	bool sign_above; /* `above` is the sign of `half` */
	int64_t shift;
};

enum { MAX_TERMS = 3 };

struct couple {
	struct wsi_slicer *s;
	uint16_t node;
	struct wsi_parts low, high;
	const struct wsi_half *low_half, *high_half; /* the two results */
	struct wide_term low_term[MAX_TERMS + 1], high_term[MAX_TERMS + 1];
	size_t n_low, n_high;
};

static bool add_wide_term(struct wide_term *term, size_t *n, const struct wsi_parts *parts,
			  size_t i)
{
	if (*n == MAX_TERMS)
		return false;
	term[*n] = (struct wide_term){ .negated = parts->source[i].negated };
	if (!wsi_half_of(parts, i, &term[*n].half))
		return false;
	++*n;
	return true;
}

static bool is_add(const struct wsi_parts *parts)
{
	return parts->op == WS_OP_IADD3 || parts->op == WS_OP_IADD || parts->op == WS_OP_VIADD;
}

static bool add_terms(struct wide_term *term, size_t *n, const struct wsi_parts *parts)
{
	for (size_t i = 0; i < parts->n_sources; i++)
		if (!wsi_is_predicate(&parts->source[i]) && !add_wide_term(term, n, parts, i))
			return false;
	return true;
}

static bool find_low_terms(struct couple *c)
{
	const struct wsi_parts *parts = &c->low;
	if (wsi_parts_have(parts, WS_MOD_X) || wsi_parts_have(parts, WS_MOD_HI))
		return false;
	if (is_add(parts))
		return add_terms(c->low_term, &c->n_low, parts);
	if (parts->op != WS_OP_LEA || parts->n_sources < 3 ||
	    parts->source[2].kind != WS_OPERAND_IMMEDIATE ||
	    !add_wide_term(c->low_term, &c->n_low, parts, 0) ||
	    !add_wide_term(c->low_term, &c->n_low, parts, 1))
		return false;
	c->low_term[0].shifted = true;
	c->low_term[0].shift = parts->source[2].value;
	return true;
}

/* LEA.HI.X R5, R2, R9, R3, 2: (R3:R2 << 2) >> 32, + R9 */
static bool find_high_lea(struct couple *c)
{
	const struct wsi_parts *parts = &c->high;
	bool sign = wsi_parts_have(parts, WS_MOD_SX32);
	size_t shift = sign ? 2 : 3;
	if (!wsi_parts_have(parts, WS_MOD_HI) || parts->n_sources <= shift ||
	    parts->source[shift].kind != WS_OPERAND_IMMEDIATE ||
	    !add_wide_term(c->high_term, &c->n_high, parts, 0) ||
	    !add_wide_term(c->high_term, &c->n_high, parts, 1))
		return false;
	struct wide_term *term = &c->high_term[0];
	term->shifted = true;
	term->shift = parts->source[shift].value;
	term->sign_above = sign;
	return sign || wsi_half_of(parts, 2, &term->above);
}

static bool find_high_terms(struct couple *c)
{
	const struct wsi_parts *parts = &c->high;
	struct wsi_half factor;
	if (!wsi_parts_have(parts, WS_MOD_X))
		return false;
	if (parts->op == WS_OP_LEA)
		return find_high_lea(c);
	if (is_add(parts))
		return add_terms(c->high_term, &c->n_high, parts);
	if (parts->op != WS_OP_IMAD || wsi_parts_have(parts, WS_MOD_WIDE) || parts->n_sources < 3 ||
	    !wsi_half_of(parts, 1, &factor))
		return false;
	if (wsi_half_is(&factor, 1) && !add_wide_term(c->high_term, &c->n_high, parts, 0))
		return false;
	return (wsi_half_is(&factor, 1) || wsi_half_is(&factor, 0)) &&
	       add_wide_term(c->high_term, &c->n_high, parts, 2);
}

/* Whether the upper half takes exactly the carries that the lower half gives. */
static bool carries(struct couple *c)
{
	const struct wsi_effect *effect = &c->s->flow->effect[c->low.at];
	uint8_t given[2] = { effect->pred, effect->upred }, taken[2] = { 0, 0 };
	for (size_t i = 0; i < c->high.n_sources; i++) {
		const struct wsi_source *source = &c->high.source[i];
		if (!wsi_is_predicate(source) || source->number >= 7)
			continue;
		if (source->negated || wsi_reach_only(&c->s->reach, c->high.at, source->kind,
						      source->number) != c->low.at)
			return false;
		taken[source->kind == WS_OPERAND_UPRED] |= (uint8_t)(1u << source->number);
	}
	return given[0] == taken[0] && given[1] == taken[1] && (taken[0] || taken[1]);
}

/* ---- which terms belong together ---- */

/* The only instruction that gives a half its value, and its parts. */
static bool only_definition(struct wsi_slicer *s, struct wsi_half *half,
			    struct wsi_parts *ret_parts)
{
	struct wsi_defs defs = { .n = 0 };
	wsi_half_origin(s, half, &defs);
	size_t at = wsi_defs_only(&defs);
	if (half->constant || half->kind == WS_OPERAND_IMMEDIATE || at == SIZE_MAX)
		return false;
	wsi_parts_of(s->flow, at, ret_parts);
	return true;
}

/*
 * How much an upper half looks like it belongs to a lower one: 3 a pair, 2 computed from it, 1 both
 * numbers or both in registers, 0 nothing speaks for it.
 */
static unsigned affinity(struct wsi_slicer *s, struct wsi_half low, struct wsi_half high)
{
	struct wsi_parts low_parts, high_parts;
	struct wsi_half next = wsi_half_above(low);
	if (wsi_half_alike(&next, &high))
		return 3;
	bool low_defined = only_definition(s, &low, &low_parts);
	bool high_defined = only_definition(s, &high, &high_parts);
	next = wsi_half_above(low);
	if (low.constant || low.kind == WS_OPERAND_IMMEDIATE)
		return wsi_half_alike(&next, &high) ? 3 : high.kind == low.kind;
	if (!high_defined)
		return 0;
	if (low_defined && low_parts.at == high_parts.at)
		return 3;
	if (high_parts.op != WS_OP_SHF)
		return 1;
	for (size_t i = 0; i < high_parts.n_sources; i++) {
		struct wsi_half of;
		struct wsi_defs defs;
		if (!wsi_half_of(&high_parts, i, &of))
			continue;
		wsi_half_origin(s, &of, &defs);
		if (wsi_half_alike(&of, &low))
			return 2;
	}
	return 1;
}

static const struct wide_term zero_term = { .half = { .kind = WS_OPERAND_IMMEDIATE } };

/* What LEA.HI.X.SX32 by one bit leaves above: nothing but the sign, as of a number not shifted. */
static bool is_sign(const struct wide_term *high)
{
	return high->sign_above && high->shift == 1;
}

/* Whether an instruction is `from` << `by`, of 32 bits. */
static bool is_low_shift(struct wsi_slicer *s, const struct wsi_parts *parts,
			 const struct wsi_half *from, const struct wsi_half *by)
{
	struct wsi_half of[3];
	if (!wsi_halves_of(parts, 3, of) || !wsi_half_same(s, &of[0], from))
		return false;
	if (parts->op == WS_OP_SHF)
		return wsi_parts_have(parts, WS_MOD_L) && !wsi_parts_have(parts, WS_MOD_HI) &&
		       wsi_half_same(s, &of[1], by);
	return parts->op == WS_OP_IMAD && !wsi_parts_have(parts, WS_MOD_WIDE) &&
	       !wsi_parts_have(parts, WS_MOD_HI) && !wsi_parts_have(parts, WS_MOD_X) &&
	       wsi_half_is(&of[2], 0) && of[1].kind == WS_OPERAND_IMMEDIATE &&
	       by->kind == WS_OPERAND_IMMEDIATE && by->value >= 0 && by->value < 32 &&
	       of[1].value == INT64_C(1) << by->value;
}

/* Whether the upper term is shifted from a register that has a part of the lower one's shift:
 * R0 = R7 << 12; R7 << 13 below, R0 << 1 above. */
static bool is_shifted_twice(struct couple *c, const struct wide_term *low,
			     const struct wide_term *high)
{
	struct wsi_half from = high->half, by = wsi_half_immediate(low->shift - high->shift);
	struct wsi_parts parts;
	return low->shifted && high->sign_above && low->shift > high->shift &&
	       only_definition(c->s, &from, &parts) && is_low_shift(c->s, &parts, &low->half, &by);
}

/* 0: these two cannot belong together. */
static unsigned term_affinity(struct couple *c, const struct wide_term *low,
			      const struct wide_term *high)
{
	if (high->negated != low->negated)
		return 0;
	if (high->shifted && is_shifted_twice(c, low, high))
		return 5;
	if (high->shifted)
		return (low->shifted ? low->shift == high->shift : is_sign(high)) &&
				       wsi_half_same(c->s, &low->half, &high->half)
			       ? 5
			       : 0;
	if (wsi_half_is(&high->half, 0))
		return 1;
	return 1 + affinity(c->s, low->half, high->half);
}

/* Puts the upper terms in the order of the lower ones that they fit best; false if none fits all.
 */
static bool couple_terms(struct couple *c)
{
	static const uint8_t orders[][MAX_TERMS] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
						     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	unsigned value[MAX_TERMS][MAX_TERMS], most = 0;
	const uint8_t *best = NULL;
	struct wide_term high[MAX_TERMS];
	for (size_t i = 0; i < MAX_TERMS; i++) {
		if (i >= c->n_low)
			c->low_term[i] = zero_term;
		high[i] = i < c->n_high ? c->high_term[i] : zero_term;
	}
	for (size_t i = 0; i < MAX_TERMS; i++)
		for (size_t k = 0; k < MAX_TERMS; k++)
			value[i][k] = term_affinity(c, &c->low_term[i], &high[k]);
	for (size_t o = 0; o < WSI_COUNT(orders); o++) {
		unsigned sum = 0;
		bool fits = true;
		for (size_t i = 0; i < MAX_TERMS; i++) {
			sum += value[i][orders[o][i]];
			fits &= value[i][orders[o][i]] != 0;
		}
		if (fits && sum > most) {
			most = sum;
			best = orders[o];
		}
	}
	for (size_t i = 0; i < MAX_TERMS && best; i++)
		c->high_term[i] = high[best[i]];
	return best != NULL;
}

/* ---- the sum ---- */

/* The source of an upper half that is what a shift of `low` leaves above; false if it is none. */
static bool shifted_above(struct couple *c, const struct wide_term *low, struct wsi_half high,
			  struct wsi_half *ret_above)
{
	struct wsi_parts parts;
	struct wsi_half from[3]; /* low, by, high */
	if (!only_definition(c->s, &high, &parts) || parts.op != WS_OP_SHF ||
	    !wsi_halves_of(&parts, 3, from))
		return false;
	*ret_above = from[2];
	return wsi_parts_have(&parts, WS_MOD_L) && wsi_parts_have(&parts, WS_MOD_HI) &&
	       wsi_half_is(&from[1], low->shift) && wsi_half_same(c->s, &from[0], &low->half);
}

/* A term with its sign above. */
static uint16_t sign_node(struct wsi_slicer *s, uint16_t parent, const struct wide_term *term,
			  size_t at)
{
	uint16_t sign = wsi_node_new(s, parent, WS_FLOW_SEXT, 64, at);
	wsi_node_arg(s, sign, wsi_node_half(s, sign, term->half));
	return sign;
}

/* A node for one lower and one upper term. */
static uint16_t couple_node(struct couple *c, uint16_t parent, const struct wide_term *low,
			    const struct wide_term *high)
{
	struct wsi_slicer *s = c->s;
	struct wsi_half above = high->above;
	if (!low->shifted && high->shifted)
		return sign_node(s, parent, low, c->high.at);
	if (!low->shifted)
		return wsi_node_wide(s, parent, low->half, high->half);
	bool together = high->shifted || wsi_half_is(&high->half, 0)
				? high->shifted
				: shifted_above(c, low, high->half, &above);
	if (!together) {
		uint16_t pair = wsi_node_new(s, parent, WS_FLOW_PAIR, 64, c->low.at);
		uint16_t shift = wsi_node_new(s, pair, WS_FLOW_SHL, 32, c->low.at);
		wsi_node_arg(s, pair, shift);
		wsi_node_arg(s, shift, wsi_node_half(s, shift, low->half));
		wsi_node_arg(s, shift, wsi_node_immediate(s, shift, low->shift, 32));
		wsi_node_arg(s, pair, wsi_node_half(s, pair, high->half));
		return pair;
	}
	uint16_t shift = wsi_node_new(s, parent, WS_FLOW_SHL, 64, c->low.at);
	if (high->sign_above && high->shift != low->shift)
		low = high;
	wsi_node_arg(s, shift,
		     high->sign_above ? sign_node(s, shift, low, c->high.at)
				      : wsi_node_wide(s, shift, low->half, above));
	wsi_node_arg(s, shift, wsi_node_immediate(s, shift, low->shift, 64));
	return shift;
}

static void drop_zeros(struct wide_term *term, size_t *n)
{
	size_t kept = 0;
	for (size_t i = 0; i < *n; i++)
		if (term[i].negated || term[i].shifted || !wsi_half_is(&term[i].half, 0))
			term[kept++] = term[i];
	*n = kept;
}

static bool express_sum(struct couple *c)
{
	struct wsi_slicer *s = c->s;
	if (!find_low_terms(c) || !find_high_terms(c) || !carries(c))
		return false;
	drop_zeros(c->low_term, &c->n_low);
	drop_zeros(c->high_term, &c->n_high);
	if (c->n_low == 0 || !couple_terms(c))
		return false;
	size_t n_minus = 0;
	for (size_t i = 0; i < c->n_low; i++)
		n_minus += c->low_term[i].negated;
	wsi_node_set(s, c->node, n_minus ? WS_FLOW_SUB : WS_FLOW_ADD, 64, c->low.at);
	uint16_t part[2] = { c->node, c->node };
	for (unsigned minus = 0; n_minus && minus < 2; minus++) {
		part[minus] = wsi_node_new(s, c->node, WS_FLOW_ADD, 64, c->low.at);
		wsi_node_arg(s, c->node, part[minus]);
	}
	for (size_t i = 0; i < MAX_TERMS; i++) {
		const struct wide_term *low = &c->low_term[i], *high = &c->high_term[i];
		if (i < c->n_low || !wsi_half_is(&high->half, 0))
			wsi_node_arg(s, part[low->negated],
				     couple_node(c, part[low->negated], low, high));
	}
	return true;
}

/* ---- other pairs ---- */

/* Node: the value of 64 bits that `op` makes of a pair and a number. */
static void shift_of(struct couple *c, enum ws_flow_op op, struct wsi_half low,
		     struct wsi_half high, struct wsi_half by)
{
	wsi_node_set(c->s, c->node, op, 64, c->high.at);
	wsi_node_arg(c->s, c->node, wsi_node_wide(c->s, c->node, low, high));
	wsi_node_arg(c->s, c->node, wsi_node_half(c->s, c->node, by));
}

static bool express_wide_shift(struct couple *c)
{
	struct wsi_half of[3], below[3]; /* low, by, high */
	const struct wsi_parts *high = &c->high, *low = &c->low;
	if (high->op != WS_OP_SHF || !wsi_parts_have(high, WS_MOD_HI) ||
	    !wsi_halves_of(high, 3, of))
		return false;
	if (wsi_parts_have(high, WS_MOD_L)) {
		if (!is_low_shift(c->s, low, &of[0], &of[1]))
			return false;
		shift_of(c, WS_FLOW_SHL, of[0], of[2], of[1]);
		return true;
	}
	/* SHF.R.U64 R2, R2, 3, R3 below SHF.R.U32.HI R3, RZ, 3, R3 */
	if (low->op != WS_OP_SHF || wsi_parts_have(low, WS_MOD_L) ||
	    wsi_parts_have(low, WS_MOD_HI) || !wsi_halves_of(low, 3, below) ||
	    !wsi_half_is(&of[0], 0) || !wsi_half_same(c->s, &below[1], &of[1]) ||
	    !wsi_half_same(c->s, &below[2], &of[2]))
		return false;
	bool is_signed = wsi_parts_have(high, WS_MOD_S32) || wsi_parts_have(high, WS_MOD_S64);
	shift_of(c, is_signed ? WS_FLOW_SAR : WS_FLOW_SHR, below[0], of[2], of[1]);
	return true;
}

/* The register of SHF.R.S32.HI R5, RZ, 31, R4: whose sign it is. */
static bool is_sign_of_pair(const struct wsi_parts *parts, struct wsi_half *ret_from)
{
	struct wsi_half of[3];
	if (parts->op != WS_OP_SHF || wsi_parts_have(parts, WS_MOD_L) ||
	    !wsi_parts_have(parts, WS_MOD_S32) || !wsi_halves_of(parts, 3, of) ||
	    !wsi_half_is(&of[0], 0) || !wsi_half_is(&of[1], 31))
		return false;
	*ret_from = of[2];
	return true;
}

static void express_extension(struct wsi_slicer *s, uint16_t node, struct wsi_half from, size_t at)
{
	wsi_node_set(s, node, WS_FLOW_SEXT, 64, at);
	wsi_node_arg(s, node, wsi_node_half(s, node, from));
}

/* SHF.R.S32.HI R5, RZ, 31, R4 above R4 */
static bool express_sign(struct couple *c)
{
	struct wsi_half high;
	struct wsi_defs defs = { .n = 0 };
	if (!is_sign_of_pair(&c->high, &high))
		return false;
	wsi_half_origin(c->s, &high, &defs);
	if (defs.n != 1 || defs.more || defs.def[0].at != c->low.at ||
	    high.kind != c->low_half->kind || high.number != c->low_half->number)
		return false;
	express_extension(c->s, c->node, high, c->high.at);
	return true;
}

bool wsi_express_sign(struct wsi_slicer *s, uint16_t node, const struct wsi_half *low,
		      size_t high_at)
{
	struct wsi_half high;
	struct wsi_parts parts;
	struct wsi_defs defs;
	wsi_parts_of(s->flow, high_at, &parts);
	if (!is_sign_of_pair(&parts, &high))
		return false;
	wsi_half_origin(s, &high, &defs);
	if (!wsi_half_same(s, &high, low))
		return false;
	express_extension(s, node, *low, high_at);
	return true;
}

/* Both halves chosen by the same predicate. */
static bool express_wide_select(struct couple *c)
{
	const struct wsi_parts *low = &c->low, *high = &c->high;
	struct wsi_half below[2], above[2];
	if (low->op != WS_OP_SEL || high->insn.operation != low->insn.operation ||
	    low->n_sources < 3 || high->n_sources < 3 || !wsi_is_predicate(&low->source[2]) ||
	    low->source[2].number != high->source[2].number ||
	    low->source[2].negated != high->source[2].negated || !wsi_halves_of(low, 2, below) ||
	    !wsi_halves_of(high, 2, above))
		return false;
	wsi_node_set(c->s, c->node, WS_FLOW_SELECT, 64, low->at);
	for (size_t i = 0; i < 2; i++)
		wsi_node_arg(c->s, c->node, wsi_node_wide(c->s, c->node, below[i], above[i]));
	return true;
}

/* Whether an instruction is a * `by` of 32 bits, by a product or by shifts. */
static bool is_low_product(struct couple *c, const struct wsi_half *a, const struct wsi_half *by)
{
	const struct wsi_parts *low = &c->low;
	struct wsi_parts made;
	struct wsi_half of[3], from = *a;
	if (!wsi_halves_of(low, 3, of))
		return false;
	if (low->op == WS_OP_IMAD && !wsi_parts_have(low, WS_MOD_HI) &&
	    !wsi_parts_have(low, WS_MOD_WIDE) && !wsi_parts_have(low, WS_MOD_X))
		return wsi_half_is(&of[2], 0) && wsi_half_same(c->s, &of[0], a) &&
		       wsi_half_same(c->s, &of[1], by);
	/* R0 = R2 << 12; R4 = R2 << 13 is R0 * 2 */
	int64_t shift = 0;
	while (by->kind == WS_OPERAND_IMMEDIATE && shift < 31 && INT64_C(1) << shift != by->value)
		shift++;
	struct wsi_half whole = wsi_half_immediate(shift), part;
	if (by->kind != WS_OPERAND_IMMEDIATE || INT64_C(1) << shift != by->value)
		return false;
	if (is_low_shift(c->s, low, a, &whole))
		return true;
	part = wsi_half_immediate(of[1].value - shift);
	return low->op == WS_OP_SHF && wsi_parts_have(low, WS_MOD_L) &&
	       !wsi_parts_have(low, WS_MOD_HI) && of[1].kind == WS_OPERAND_IMMEDIATE &&
	       part.value > 0 && only_definition(c->s, &from, &made) &&
	       is_low_shift(c->s, &made, &of[0], &part);
}

/* IMAD.HI R3, R3, 4, RZ above IMAD R2, R3, 4, RZ: a product of 64 bits. */
static bool express_high_product(struct couple *c)
{
	struct wsi_slicer *s = c->s;
	struct wsi_half of[3];
	const struct wsi_parts *high = &c->high;
	if (high->op != WS_OP_IMAD || !wsi_parts_have(high, WS_MOD_HI) ||
	    wsi_parts_have(high, WS_MOD_X) || !wsi_halves_of(high, 3, of) ||
	    !wsi_half_is(&of[2], 0) || !is_low_product(c, &of[0], &of[1]))
		return false;
	bool is_signed = !wsi_parts_have(high, WS_MOD_U32);
	wsi_node_set(s, c->node, WS_FLOW_MUL, 64, c->low.at);
	for (size_t i = 0; i < 2; i++) {
		uint16_t wide = wsi_node_new(s, c->node, is_signed ? WS_FLOW_SEXT : WS_FLOW_ZEXT,
					     64, high->at);
		wsi_node_arg(s, c->node, wide);
		wsi_node_arg(s, wide, wsi_node_half(s, wide, of[i]));
	}
	return true;
}

/*
 * The upper half is the upper result of the lower half's own instruction (a product of 64 bits)
 * plus more: R6:R7 = R0 * R4; R3 = R7 + x.
 */
static bool express_product(struct couple *c)
{
	struct wsi_slicer *s = c->s;
	const struct wsi_parts *parts = &c->high;
	size_t i, n = parts->n_sources, own = SIZE_MAX;
	struct wsi_half half[3];
	bool product = parts->op == WS_OP_IMAD;
	if ((!product && !is_add(parts)) || wsi_parts_have(parts, WS_MOD_X) ||
	    wsi_parts_have(parts, WS_MOD_HI) || wsi_parts_have(parts, WS_MOD_WIDE))
		return false;
	for (i = 0; i < n && i < 3; i++) {
		if (wsi_is_predicate(&parts->source[i]))
			break;
		if (parts->source[i].negated || !wsi_half_of(parts, i, &half[i]))
			return false;
	}
	n = i;
	if (product && n == 3 && wsi_half_is(&half[1], 1)) { /* IMAD.IADD R3, R7, 1, x */
		half[1] = half[--n];
		product = false;
	}
	for (i = product ? 2 : 0; i < n && own == SIZE_MAX; i++) {
		struct wsi_half origin = half[i];
		struct wsi_defs defs = { .n = 0 };
		wsi_half_origin(s, &origin, &defs);
		if (defs.n == 1 && !defs.more && defs.def[0].at == c->low.at &&
		    origin.kind == c->low_half->kind && origin.number == c->low_half->number + 1)
			own = i;
	}
	if (own == SIZE_MAX || n < 2)
		return false;
	wsi_node_set(s, c->node, WS_FLOW_ADD, 64, c->high.at);
	wsi_node_arg(s, c->node, wsi_node_def_wide(s, c->node, *c->low_half, c->low.at));
	if (!product) {
		for (i = 0; i < n; i++)
			if (i != own && !wsi_half_is(&half[i], 0))
				wsi_node_arg(s, c->node,
					     wsi_node_wide(s, c->node, zero_term.half, half[i]));
		return true;
	}
	uint16_t pair = wsi_node_new(s, c->node, WS_FLOW_PAIR, 64, c->high.at);
	wsi_node_arg(s, c->node, pair);
	wsi_node_arg(s, pair, wsi_node_immediate(s, pair, 0, 32));
	uint16_t mul = wsi_node_new(s, pair, WS_FLOW_MUL, 32, c->high.at);
	wsi_node_arg(s, pair, mul);
	wsi_node_arg(s, mul, wsi_node_half(s, mul, half[0]));
	wsi_node_arg(s, mul, wsi_node_half(s, mul, half[1]));
	return true;
}

/* R4 & 0xfffffff0 below an upper half that stays. */
static bool express_mask(struct couple *c)
{
	const struct wsi_parts *parts = &c->low;
	struct wsi_half of[2];
	struct wsi_parts made;
	if (parts->op != WS_OP_LOP3 || parts->n_sources < 4 || parts->source[3].value != 0xc0 ||
	    !wsi_halves_of(parts, 2, of) || of[1].kind != WS_OPERAND_IMMEDIATE ||
	    !(of[1].value & INT64_C(0x80000000)) || !only_definition(c->s, &of[0], &made) ||
	    made.at != c->high.at || c->high_half->kind != of[0].kind ||
	    c->high_half->number != of[0].number + 1)
		return false;
	wsi_node_set(c->s, c->node, WS_FLOW_AND, 64, parts->at);
	wsi_node_arg(c->s, c->node, wsi_node_def_wide(c->s, c->node, of[0], c->high.at));
	wsi_node_arg(c->s, c->node,
		     wsi_node_immediate(c->s, c->node, (int32_t)(uint32_t)of[1].value, 64));
	return true;
}

bool wsi_express_halves(struct wsi_slicer *s, uint16_t node, const struct wsi_half *low,
			size_t low_at, const struct wsi_half *high, size_t high_at)
{
	static bool (*const rules[])(struct couple *) = {
		express_sum,          express_sign,        express_wide_shift, express_product,
		express_high_product, express_wide_select, express_mask,
	};
	struct couple c = { .s = s, .node = node, .low_half = low, .high_half = high };
	wsi_parts_of(s->flow, low_at, &c.low);
	wsi_parts_of(s->flow, high_at, &c.high);
	for (size_t i = 0; i < WSI_COUNT(rules); i++)
		if (rules[i](&c))
			return true;
	return false;
}
