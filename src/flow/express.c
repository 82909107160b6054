/* SPDX-License-Identifier: Apache-2.0 */
/* The expression that one instruction computes. What no rule covers becomes WS_FLOW_OTHER. */
#include "base/base.h"
#include "flow/slice.h"

/* Larger slices do not go on behind WS_FLOW_OTHER, so that a division leaves room for the rest. */
enum { ROOM_FOR_OTHERS = 80 };

/* An instruction whose value a node becomes. */
struct express_job {
	struct wsi_slicer *s;
	struct wsi_parts parts;
	uint16_t node;
	size_t at;
	unsigned bits; /* of the value: 32 or 64 */
};

static struct ws_flow_node *set(struct express_job *j, enum ws_flow_op op)
{
	return wsi_node_set(j->s, j->node, op, j->bits, j->at);
}

static bool have(const struct express_job *j, enum ws_modifier modifier)
{
	return wsi_parts_have(&j->parts, modifier);
}

/* A new node for a half, as wide as the instruction computes. */
static uint16_t half_value_of(struct express_job *j, uint16_t parent, struct wsi_half half)
{
	if (j->bits == 64)
		return wsi_node_wide(j->s, parent, half, wsi_half_above(half));
	return wsi_node_half(j->s, parent, half);
}

/* The node, whose turn it is, is this half. */
static void become(struct express_job *j, struct wsi_half half)
{
	if (j->bits == 64)
		wsi_node_become_wide(j->s, j->node, half, wsi_half_above(half));
	else
		wsi_node_become(j->s, j->node, half);
}

static void other(struct express_job *j)
{
	struct wsi_half half;
	set(j, WS_FLOW_OTHER);
	j->bits = 32;
	if (j->s->slice->n > ROOM_FOR_OTHERS)
		return;
	for (size_t i = 0, n = 0; i < j->parts.n_sources && n < WS_FLOW_MAX_ARGS; i++) {
		if (!wsi_half_of(&j->parts, i, &half) || half.kind == WS_OPERAND_IMMEDIATE)
			continue;
		wsi_node_arg(j->s, j->node, wsi_node_half(j->s, j->node, half));
		n++;
	}
}

/* Terms of a sum, each plus or minus; what is zero is left out. */
static void sum(struct express_job *j, const struct wsi_half *term, const bool *negated, size_t n)
{
	struct wsi_slicer *s = j->s;
	size_t n_plus = 0, n_minus = 0, only = 0;
	for (size_t i = 0; i < n; i++) {
		if (wsi_half_is(&term[i], 0))
			continue;
		n_plus += !negated[i];
		n_minus += negated[i];
		only = i;
	}
	if (n_plus + n_minus == 0) {
		become(j, wsi_half_immediate(0));
		return;
	}
	if (n_plus == 1 && n_minus == 0) {
		become(j, term[only]);
		return;
	}
	set(j, n_minus ? WS_FLOW_SUB : WS_FLOW_ADD);
	uint16_t part[2] = { j->node, j->node };
	for (unsigned minus = 0; n_minus && minus < 2; minus++) {
		part[minus] = wsi_node_new(s, j->node, WS_FLOW_ADD, j->bits, j->at);
		wsi_node_arg(s, j->node, part[minus]);
	}
	for (size_t i = 0; i < n; i++)
		if (!wsi_half_is(&term[i], 0))
			wsi_node_arg(s, part[negated[i]],
				     half_value_of(j, part[negated[i]], term[i]));
}

/* ---- integer arithmetic ---- */

/* Whether parts of a register are numbers of their own, or the result is limited. */
static bool by_parts(const struct express_job *j)
{
	static const enum ws_modifier names[] = { WS_MOD_16x2, WS_MOD_U16x2, WS_MOD_S16x2,
						  WS_MOD_U8x4, WS_MOD_S8x4,  WS_MOD_ISAT,
						  WS_MOD_RELU };
	for (size_t i = 0; i < WSI_COUNT(names); i++)
		if (have(j, names[i]))
			return true;
	return false;
}

/* IADD3, IADD, VIADD and their uniform forms; a carry-in is no part of a value by itself. */
static void express_add(struct express_job *j)
{
	struct wsi_half term[3];
	bool negated[3];
	size_t n = 0;
	if (have(j, WS_MOD_X) || by_parts(j)) {
		other(j);
		return;
	}
	for (size_t i = 0; i < j->parts.n_sources; i++) {
		if (wsi_is_predicate(&j->parts.source[i]))
			continue;
		if (n == WSI_COUNT(term) || !wsi_half_of(&j->parts, i, &term[n])) {
			other(j);
			return;
		}
		negated[n++] = j->parts.source[i].negated;
	}
	sum(j, term, negated, n);
}

/* a * b + c */
static void express_mad(struct express_job *j)
{
	struct wsi_half from[2], c;
	struct wsi_slicer *s = j->s;
	if (!wsi_halves_of(&j->parts, 2, from) || !wsi_half_of(&j->parts, 2, &c) ||
	    have(j, WS_MOD_X) || have(j, WS_MOD_HI)) {
		other(j);
		return;
	}
	struct wsi_half a = from[0], b = from[1];
	bool minus = j->parts.source[2].negated;
	bool nothing = wsi_half_is(&a, 0) || wsi_half_is(&b, 0);
	if (nothing || wsi_half_is(&b, 1)) {
		const struct wsi_half term[2] = { nothing ? wsi_half_immediate(0) : a, c };
		const bool negated[2] = { false, minus };
		sum(j, term, negated, 2);
		return;
	}
	uint16_t product = j->node;
	set(j, WS_FLOW_MUL);
	if (!wsi_half_is(&c, 0)) {
		set(j, minus ? WS_FLOW_SUB : WS_FLOW_ADD);
		product = wsi_node_new(s, j->node, WS_FLOW_MUL, j->bits, j->at);
		wsi_node_arg(s, j->node, product);
		wsi_node_arg(s, j->node, half_value_of(j, j->node, c));
	}
	wsi_node_arg(s, product, half_value_of(j, product, a));
	wsi_node_arg(s, product, half_value_of(j, product, b));
}

/* 32 bits made 64 by zeros or sign, under a parent. */
static uint16_t extended(struct express_job *j, uint16_t parent, struct wsi_half half,
			 bool is_signed)
{
	uint16_t node =
		wsi_node_new(j->s, parent, is_signed ? WS_FLOW_SEXT : WS_FLOW_ZEXT, 64, j->at);
	wsi_node_arg(j->s, node, wsi_node_half(j->s, node, half));
	return node;
}

/* a * b + c, where c and the result have 64 bits. */
static void express_mad_wide(struct express_job *j)
{
	struct wsi_half a, b, c;
	struct wsi_slicer *s = j->s;
	bool simple = wsi_half_of(&j->parts, 0, &a) && wsi_half_of(&j->parts, 1, &b) &&
		      wsi_half_of(&j->parts, 2, &c);
	if (!simple || have(j, WS_MOD_X) || j->parts.source[0].negated ||
	    j->parts.source[1].negated) {
		other(j);
		return;
	}
	bool is_signed = !have(j, WS_MOD_U32), minus = j->parts.source[2].negated;
	if ((wsi_half_is(&a, 0) || wsi_half_is(&b, 0)) && !minus) {
		become(j, c);
		return;
	}
	uint16_t product = j->node;
	set(j, WS_FLOW_MUL);
	if (!wsi_half_is(&c, 0)) {
		set(j, minus ? WS_FLOW_SUB : WS_FLOW_ADD);
		product = wsi_node_new(s, j->node, WS_FLOW_MUL, 64, j->at);
		wsi_node_arg(s, j->node, product);
		wsi_node_arg(s, j->node, half_value_of(j, j->node, c));
	}
	wsi_node_arg(s, product, extended(j, product, a, is_signed));
	wsi_node_arg(s, product, extended(j, product, b, is_signed));
}

/* b + (a << shift) */
static void express_lea(struct express_job *j)
{
	struct wsi_half from[2];
	struct wsi_slicer *s = j->s;
	if (j->parts.n_sources < 3 || !wsi_halves_of(&j->parts, 2, from) || have(j, WS_MOD_HI) ||
	    have(j, WS_MOD_X) || j->parts.source[2].kind != WS_OPERAND_IMMEDIATE) {
		other(j);
		return;
	}
	set(j, WS_FLOW_ADD);
	uint16_t shifted = wsi_node_new(s, j->node, WS_FLOW_SHL, j->bits, j->at);
	wsi_node_arg(s, j->node, shifted);
	wsi_node_arg(s, shifted, half_value_of(j, shifted, from[0]));
	wsi_node_arg(s, shifted, wsi_node_immediate(s, shifted, j->parts.source[2].value, j->bits));
	wsi_node_arg(s, j->node, half_value_of(j, j->node, from[1]));
}

static void two(struct express_job *j, enum ws_flow_op op, struct wsi_half a, struct wsi_half b)
{
	set(j, op);
	wsi_node_arg(j->s, j->node, half_value_of(j, j->node, a));
	wsi_node_arg(j->s, j->node, half_value_of(j, j->node, b));
}

/* With .W a shift counts up to its width only, which only of a number can be said. */
static bool wraps_by_number(const struct express_job *j, struct wsi_half *by)
{
	bool wide = have(j, WS_MOD_U64) || have(j, WS_MOD_S64);
	if (!have(j, WS_MOD_W))
		return true;
	if (by->kind != WS_OPERAND_IMMEDIATE)
		return false;
	*by = wsi_half_immediate(by->value & (wide ? 63 : 31));
	return true;
}

/* SHF low, shift, high: only where it shifts one register. */
static void express_one_shift(struct express_job *j)
{
	struct wsi_half from[3]; /* low, by, high */
	if (!wsi_halves_of(&j->parts, 3, from)) {
		other(j);
		return;
	}
	bool left = have(j, WS_MOD_L), upper = have(j, WS_MOD_HI);
	if (!wraps_by_number(j, &from[1]) || have(j, WS_MOD_XOR))
		other(j);
	else if (left && !upper)
		two(j, WS_FLOW_SHL, from[0], from[1]);
	else if (!left && upper && wsi_half_is(&from[0], 0))
		two(j, have(j, WS_MOD_S32) || have(j, WS_MOD_S64) ? WS_FLOW_SAR : WS_FLOW_SHR,
		    from[2], from[1]);
	else if (!left && !upper && wsi_half_is(&from[2], 0))
		two(j, WS_FLOW_SHR, from[0], from[1]);
	else
		other(j);
}

/* LOP3 of one or two registers by its truth table. */
static void express_logic(struct express_job *j)
{
	static const struct {
		uint8_t table;
		enum ws_flow_op op;
		uint8_t a, b; /* sources; b 9: none */
	} rules[] = {
		{ 0xc0, WS_FLOW_AND, 0, 1 }, { 0xa0, WS_FLOW_AND, 0, 2 },
		{ 0x88, WS_FLOW_AND, 1, 2 }, { 0xfc, WS_FLOW_OR, 0, 1 },
		{ 0xfa, WS_FLOW_OR, 0, 2 },  { 0xee, WS_FLOW_OR, 1, 2 },
		{ 0x3c, WS_FLOW_XOR, 0, 1 }, { 0x5a, WS_FLOW_XOR, 0, 2 },
		{ 0x66, WS_FLOW_XOR, 1, 2 }, { 0x0f, WS_FLOW_NOT, 0, 9 },
		{ 0x33, WS_FLOW_NOT, 1, 9 }, { 0x55, WS_FLOW_NOT, 2, 9 },
	};
	struct wsi_half source[3];
	bool simple = j->parts.n_sources >= 4 && wsi_halves_of(&j->parts, 3, source);
	for (size_t i = 0; i < WSI_COUNT(rules) && simple; i++) {
		if (j->parts.source[3].value != rules[i].table)
			continue;
		if (rules[i].b < 3) {
			two(j, rules[i].op, source[rules[i].a], source[rules[i].b]);
			return;
		}
		set(j, rules[i].op);
		wsi_node_arg(j->s, j->node, half_value_of(j, j->node, source[rules[i].a]));
		return;
	}
	other(j);
}

/* The lower bits of a number, as many as an immediate says: 32 and more are all. */
static void express_low_bits(struct express_job *j)
{
	struct wsi_half from[2];
	if (!wsi_halves_of(&j->parts, 2, from) || !have(j, WS_MOD_U32) || have(j, WS_MOD_W) ||
	    from[1].kind != WS_OPERAND_IMMEDIATE) {
		other(j);
		return;
	}
	uint32_t n = (uint32_t)from[1].value;
	uint32_t mask = n < 32 ? (UINT32_C(1) << n) - 1 : UINT32_MAX;
	two(j, WS_FLOW_AND, from[0], wsi_half_immediate(mask));
}

/* The bits of both that the mask leaves to each. */
static void combine(struct express_job *j, const struct wsi_half of[2], uint32_t first_mask)
{
	struct wsi_slicer *s = j->s;
	const uint32_t mask[2] = { first_mask, ~first_mask };
	set(j, WS_FLOW_OR);
	for (unsigned i = 0; i < 2; i++) {
		uint16_t part = wsi_node_new(s, j->node, WS_FLOW_AND, 32, j->at);
		wsi_node_arg(s, j->node, part);
		wsi_node_arg(s, part, wsi_node_half(s, part, of[i]));
		wsi_node_arg(s, part, wsi_node_immediate(s, part, (int32_t)mask[i], 32));
	}
}

/* `bits` bits of a register from `drop` on, extended by zeros or by the sign. */
static void extract(struct express_job *j, struct wsi_half of, unsigned drop, unsigned bits,
		    bool sign)
{
	struct wsi_slicer *s = j->s;
	unsigned up = 32 - bits;
	set(j, sign ? WS_FLOW_SAR : WS_FLOW_AND);
	uint16_t part = wsi_node_new(s, j->node, sign ? WS_FLOW_SHL : WS_FLOW_SHR, 32, j->at);
	wsi_node_arg(s, j->node, part);
	wsi_node_arg(s, j->node,
		     wsi_node_immediate(s, j->node, sign ? up : (INT64_C(1) << bits) - 1, 32));
	wsi_node_arg(s, part, wsi_node_half(s, part, of));
	wsi_node_arg(s, part, wsi_node_immediate(s, part, sign ? up - drop : drop, 32));
}

/*
 * PRMT chooses four bytes out of eight, of `low` and `high`; 8 more is what the sign of a byte
 * fills. Only where they are a run of bytes of one register, extended by zeros or by its sign
 * (0x7770 with RZ above is the lowest byte, 0x8880 the same with its sign, 0x7732 the upper half),
 * or bytes of both at their places (0x7610).
 */
static void express_bytes(struct express_job *j)
{
	struct wsi_half from[3]; /* low, chosen, high */
	if (j->parts.n_mods || !wsi_halves_of(&j->parts, 3, from) ||
	    from[1].kind != WS_OPERAND_IMMEDIATE || from[1].constant) {
		other(j);
		return;
	}
	const struct wsi_half both[2] = { from[0], from[2] };
	unsigned chosen[4], n = 1;
	uint32_t of_low = 0;
	bool in_place = true;
	for (unsigned i = 0; i < 4; i++) {
		chosen[i] = (unsigned)(from[1].value >> 4 * i & 15);
		in_place &= chosen[i] == i || chosen[i] == 4 + i;
		of_low |= chosen[i] == i ? UINT32_C(0xff) << 8 * i : 0;
	}
	unsigned first = chosen[0], side = first >> 2 & 1;
	while (n < 4 && chosen[n] == first + n && chosen[n] % 4)
		n++;
	bool zeros = n < 4 && wsi_half_is(&both[!side], 0), sign = n < 4;
	for (unsigned i = n; i < 4; i++) {
		zeros &= ((chosen[i] ^ first) & 4) != 0;
		sign &= chosen[i] == first + n - 1 + 8;
	}
	if (!(first & 8) && (zeros || sign))
		extract(j, both[side], (first & 3) * 8, n * 8, sign);
	else if (in_place)
		combine(j, both, of_low);
	else
		other(j);
}

static void express_one_select(struct express_job *j)
{
	struct wsi_half from[2];
	if (wsi_halves_of(&j->parts, 2, from))
		two(j, WS_FLOW_SELECT, from[0], from[1]);
	else
		other(j);
}

/* The last operand tells which: PT the smaller one, !PT the larger one. */
static void express_min_max(struct express_job *j)
{
	struct wsi_half from[2];
	const struct wsi_source *which = &j->parts.source[2];
	bool fixed = j->parts.n_sources == 3 && wsi_is_predicate(which) && which->number == 7;
	if (!fixed || j->parts.carries || by_parts(j) || !wsi_halves_of(&j->parts, 2, from)) {
		other(j);
		return;
	}
	two(j, which->negated ? WS_FLOW_MAX : WS_FLOW_MIN, from[0], from[1]);
	j->s->slice->node[j->node].is_signed = !have(j, WS_MOD_U32) && !have(j, WS_MOD_U64);
}

/* ---- copies ---- */

/* Whether a half stays as it is when a zero is added: a NaN becomes the usual one, -0 may become 0.
 */
static bool stays(unsigned half, bool bf16, bool minus_zero)
{
	unsigned infinity = bf16 ? 0x7f80 : 0x7c00;
	if ((half & 0x7fff) > infinity)
		return half == 0x7fff;
	return half != 0x8000 || minus_zero;
}

/* 0 * 0 + constant in half precision, as a way to load a constant. */
static bool is_half_move(const struct wsi_parts *parts)
{
	bool immediate = parts->n_sources == 4 && parts->source[2].kind == WS_OPERAND_FLOAT;
	bool bf16 = wsi_parts_have(parts, WS_MOD_BF16_V2);
	unsigned value = (unsigned)ws_insn_bits(&parts->insn, 32, 32);
	if (!immediate || parts->n_mods > (unsigned)bf16 + wsi_parts_have(parts, WS_MOD_MMA))
		return false;
	bool minus_zero = parts->source[0].negated != parts->source[1].negated;
	return parts->source[0].kind == WS_OPERAND_REG && parts->source[0].number == 255 &&
	       parts->source[1].number == 255 && stays(value & 0xffff, bf16, minus_zero) &&
	       stays(value >> 16, bf16, minus_zero);
}

static bool is_byte_move(const struct wsi_parts *parts, struct wsi_half *ret_from)
{
	if (parts->n_sources < 3 || parts->source[1].kind != WS_OPERAND_IMMEDIATE || parts->n_mods)
		return false;
	if (parts->source[1].value == 0x3210)
		return wsi_half_of(parts, 0, ret_from);
	return parts->source[1].value == 0x7654 && wsi_half_of(parts, 2, ret_from);
}

/*
 * IADD3 R2, R3, RZ, RZ and IMAD R2, RZ, RZ, R3. With a carry it is the lower half of a sum, which
 * loses its upper half when it is taken for a copy.
 */
static bool is_sum_move(const struct wsi_parts *parts, bool product, struct wsi_half *ret_from)
{
	struct wsi_half half[3];
	if (parts->carries || !wsi_halves_of(parts, 3, half))
		return false;
	if (wsi_parts_have(parts, WS_MOD_X) || wsi_parts_have(parts, WS_MOD_HI) ||
	    wsi_parts_have(parts, WS_MOD_WIDE) || wsi_parts_have(parts, WS_MOD_64))
		return false;
	if (product) {
		bool nothing = wsi_half_is(&half[0], 0) || wsi_half_is(&half[1], 0);
		*ret_from = nothing ? half[2] : half[0];
		return nothing || (wsi_half_is(&half[1], 1) && wsi_half_is(&half[2], 0));
	}
	size_t zeros = 0;
	for (size_t i = 0; i < 3; i++) {
		if (wsi_half_is(&half[i], 0))
			zeros++;
		else
			*ret_from = half[i];
	}
	return zeros == 2;
}

bool wsi_copies(const struct wsi_parts *parts, struct wsi_half *ret_from)
{
	switch (parts->op) {
	case WS_OP_MOV:
		return parts->n_sources == 1 && !wsi_parts_have(parts, WS_MOD_64) &&
		       wsi_half_of(parts, 0, ret_from);
	case WS_OP_R2UR:
		return !wsi_parts_have(parts, WS_MOD_FILL) && wsi_half_of(parts, 0, ret_from);
	case WS_OP_IADD3:
		return is_sum_move(parts, false, ret_from);
	case WS_OP_IMAD:
		return is_sum_move(parts, true, ret_from);
	case WS_OP_PRMT:
		return is_byte_move(parts, ret_from);
	case WS_OP_HFMA2:
		*ret_from = wsi_half_immediate((int64_t)ws_insn_bits(&parts->insn, 32, 32));
		return is_half_move(parts);
	default:
		return false;
	}
}

/* ---- memory ---- */

bool wsi_flow_address_is_wide(const struct wsi_source *source)
{
	return (source->has_base && source->base_count == 2) ||
	       (source->has_ubase && source->ubase_count == 2);
}

/* A register of an address, `count` wide, under a node of `bits`. */
static uint16_t address_register(struct wsi_slicer *s, uint16_t parent, struct wsi_half half,
				 unsigned count, unsigned bits)
{
	if (half.number == 255)
		return wsi_node_immediate(s, parent, 0, bits);
	if (bits == 32)
		return wsi_node_half(s, parent, half);
	if (count == 2)
		return wsi_node_wide(s, parent, half, wsi_half_above(half));
	uint16_t node = wsi_node_new(s, parent, WS_FLOW_ZEXT, 64, half.at);
	wsi_node_arg(s, node, wsi_node_half(s, node, half));
	return node;
}

void wsi_express_address(struct wsi_slicer *s, uint16_t node, const struct wsi_source *source,
			 size_t at)
{
	unsigned bits = wsi_flow_address_is_wide(source) ? 64 : 32;
	if (source->has_base) {
		struct wsi_half base = { .kind = WS_OPERAND_REG, .number = source->base, .at = at };
		uint16_t to = node;
		if (source->scale > 1) {
			to = wsi_node_new(s, node, WS_FLOW_MUL, bits, at);
			wsi_node_arg(s, node, to);
		}
		wsi_node_arg(s, to, address_register(s, to, base, source->base_count, bits));
		if (source->scale > 1)
			wsi_node_arg(s, to, wsi_node_immediate(s, to, source->scale, bits));
	}
	if (source->has_ubase) {
		struct wsi_half base = { .kind = WS_OPERAND_UREG,
					 .number = source->ubase,
					 .at = at };
		wsi_node_arg(s, node, address_register(s, node, base, source->ubase_count, bits));
	}
	wsi_node_arg(s, node, wsi_node_immediate(s, node, source->value, bits));
}

/* What a store that is known to fill the slot of a load put there, from byte `skip`. */
static bool express_stored(struct express_job *j, const struct wsi_source *from, int64_t skip)
{
	struct wsi_defs defs;
	struct wsi_parts store;
	struct wsi_half data;
	struct wsi_want want = { .kind = WS_OPERAND_REG,
				 .number = from->base,
				 .slot = true,
				 .slot_bytes = (uint8_t)(j->bits / 8),
				 .offset = from->value + skip };
	bool plain = ws_sass_access_bytes(&j->parts.insn) % 4 == 0;
	if (!from->has_base || from->has_ubase || !plain || from->base == 255)
		return false;
	bool spilled = j->s->reach.spilled, convention = j->s->reach.convention;
	wsi_reach_find(&j->s->reach, j->at, &want, &defs);
	bool found = defs.n == 1 && !defs.more && defs.def[0].kind == WSI_DEF_INSN;
	if (found) {
		wsi_parts_of(j->s->flow, defs.def[0].at, &store);
		found = store.n_sources == 2 && wsi_half_of(&store, 1, &data);
	}
	if (!found) {
		j->s->reach.spilled = spilled;
		j->s->reach.convention = convention;
		return false;
	}
	for (int64_t at = store.source[0].value; at < want.offset; at += 4)
		data = wsi_half_above(data);
	become(j, data);
	return true;
}

/*
 * Whether a load gives each lane what is at its own address, in one run of registers: not where a
 * predicate says who loads, nor rows of matrices, which lanes get from each other's addresses, nor
 * sums over the memory of several devices.
 */
static bool loads_plainly(const struct express_job *j)
{
	const struct wsi_effect *effect = &j->s->flow->effect[j->at];
	if (j->parts.insn.operation == WS_OP_LDSM || j->parts.insn.operation == WS_OP_LDGMC ||
	    effect->n_reg[1] != 0)
		return false;
	for (size_t i = 0; i < j->parts.n_sources; i++) {
		const struct wsi_source *source = &j->parts.source[i];
		if (wsi_is_predicate(source) && (source->number != 7 || source->negated))
			return false;
	}
	return true;
}

/* A load; the value is that from byte `skip` of it. */
static void express_load(struct express_job *j, int64_t skip)
{
	const struct ws_insn *insn = &j->parts.insn;
	const struct wsi_source *from = NULL;
	for (size_t i = 0; i < j->parts.n_sources && !from; i++)
		if (j->parts.source[i].address)
			from = &j->parts.source[i];
	if (!from || !loads_plainly(j)) {
		other(j);
		return;
	}
	enum ws_sass_space space = ws_sass_space(insn);
	bool atomic = insn->flags & WS_SASS_ATOMIC;
	if (space == WS_SASS_SPACE_LOCAL && !atomic && express_stored(j, from, skip))
		return;
	unsigned bytes = ws_sass_access_bytes(insn);
	struct ws_flow_node *node = set(j, atomic ? WS_FLOW_ATOMIC : WS_FLOW_LOAD);
	node->space = (uint8_t)space;
	node->bytes = (uint8_t)wsi_min_u64(bytes, j->bits / 8);
	node->is_signed = have(j, WS_MOD_S8) || have(j, WS_MOD_S16);
	node->value = skip;
	uint16_t address = wsi_node_new(j->s, j->node, WS_FLOW_ADD,
					wsi_flow_address_is_wide(from) ? 64 : 32, j->at);
	wsi_node_arg(j->s, j->node, address);
	if (address < WS_FLOW_MAX_NODES - 1)
		wsi_express_address(j->s, address, from, j->at);
}

/* Whether a constant is at the address that is written: the offset may choose the bank, too, and a
 * descriptor be unpacked. */
static bool is_plain_constant(const struct express_job *j)
{
	return !have(j, WS_MOD_IL) && !have(j, WS_MOD_IS) && !have(j, WS_MOD_ISL) &&
	       !have(j, WS_MOD_TEXUNPACK) && !have(j, WS_MOD_HDRUNPACK);
}

/* A load from a constant bank; the value is that from byte `skip` of it. */
static void express_constant(struct express_job *j, int64_t skip)
{
	const struct wsi_source *from = j->parts.n_sources == 1 ? &j->parts.source[0] : NULL;
	if (!from || !from->constant || from->bindless || !is_plain_constant(j)) {
		other(j);
		return;
	}
	struct ws_flow_node *node = set(j, WS_FLOW_CONSTANT);
	unsigned bytes = ws_sass_access_bytes(&j->parts.insn);
	node->bytes = (uint8_t)wsi_min_u64(bytes, j->bits / 8);
	node->is_signed = have(j, WS_MOD_S8) || have(j, WS_MOD_S16);
	node->number = from->bank;
	node->value = from->value + skip;
	struct wsi_half base = { .kind = WS_OPERAND_REG, .number = from->base, .at = j->at };
	bool has = from->has_base && from->base != 255;
	if (from->has_ubase && from->ubase != 255) {
		base = (struct wsi_half){ .kind = WS_OPERAND_UREG,
					  .number = from->ubase,
					  .at = j->at };
		has = true;
	}
	if (has)
		wsi_node_arg(j->s, j->node, wsi_node_half(j->s, j->node, base));
}

/* Of a pair, only the lower part: what is above it is another special register, or nothing. */
static void express_special(struct express_job *j, unsigned part)
{
	unsigned number = j->parts.source[0].number;
	if (number == WS_SRZ)
		become(j, wsi_half_immediate(0));
	else if (part > 0 || j->bits == 64)
		other(j);
	else
		set(j, WS_FLOW_SPECIAL)->number = (uint16_t)number;
}

/* ---- all ---- */

static void express_alu(struct express_job *j)
{
	struct wsi_half half;
	switch (j->parts.op) {
	case WS_OP_MOV:
		if (j->parts.n_sources == 1 && wsi_half_of(&j->parts, 0, &half))
			become(j, half);
		else
			other(j); /* with a mask */
		break;
	case WS_OP_IADD3:
	case WS_OP_IADD:
	case WS_OP_VIADD:
		express_add(j);
		break;
	case WS_OP_IMAD:
		if (have(j, WS_MOD_WIDE))
			express_mad_wide(j);
		else
			express_mad(j);
		break;
	case WS_OP_LEA:
		express_lea(j);
		break;
	case WS_OP_SHF:
		express_one_shift(j);
		break;
	case WS_OP_LOP3:
		express_logic(j);
		break;
	case WS_OP_SGXT:
		express_low_bits(j);
		break;
	case WS_OP_PRMT:
		express_bytes(j);
		break;
	case WS_OP_SEL:
		express_one_select(j);
		break;
	case WS_OP_IMNMX:
	case WS_OP_VIMNMX:
		express_min_max(j);
		break;
	default:
		other(j);
		break;
	}
}

/* Number of the register among the results of the instruction, and how many these are. */
static unsigned result_index(const struct wsi_effect *effect, const struct wsi_half *half,
			     unsigned *ret_n)
{
	if (half->kind == WS_OPERAND_UREG) {
		*ret_n = effect->n_ureg;
		return half->number - effect->ureg;
	}
	for (size_t i = 0; i < WSI_COUNT(effect->reg); i++) {
		if (half->number < effect->reg[i] ||
		    half->number - effect->reg[i] >= effect->n_reg[i])
			continue;
		*ret_n = effect->n_reg[i];
		return half->number - effect->reg[i];
	}
	*ret_n = 0;
	return 0;
}

/* Expressions whose parts have a meaning of their own; false for others. */
static bool express_part(struct express_job *j, unsigned index)
{
	const struct ws_insn *insn = &j->parts.insn;
	struct wsi_half from;
	if (j->bits == 32 && wsi_copies(&j->parts, &from))
		become(j, from);
	else if (insn->flags & WS_SASS_CONSTANT)
		express_constant(j, index * 4);
	else if (insn->flags & (WS_SASS_LOAD | WS_SASS_ATOMIC) && !(insn->flags & WS_SASS_TEXTURE))
		express_load(j, index * 4);
	else if (insn->operation == WS_OP_S2R || insn->operation == WS_OP_S2UR ||
		 insn->operation == WS_OP_CS2R || insn->operation == WS_OP_CS2UR)
		express_special(j, index);
	else
		return false;
	return true;
}

void wsi_express(struct wsi_slicer *s, uint16_t node, size_t at, const struct wsi_half *half)
{
	struct express_job j = { .s = s, .node = node, .at = at, .bits = 32 };
	unsigned n;
	wsi_parts_of(s->flow, at, &j.parts);
	unsigned index = result_index(&s->flow->effect[at], half, &n);
	if (express_part(&j, index))
		return;
	if (n == 1) {
		express_alu(&j);
	} else if (n == 2) {
		struct wsi_half low = *half;
		low.number = (uint8_t)(low.number - index);
		set(&j, index ? WS_FLOW_HIGH : WS_FLOW_LOW);
		wsi_node_arg(s, node, wsi_node_def_wide(s, node, low, at));
	} else {
		other(&j);
	}
}

void wsi_express_wide(struct wsi_slicer *s, uint16_t node, size_t at, const struct wsi_half *low)
{
	struct express_job j = { .s = s, .node = node, .at = at, .bits = 64 };
	unsigned n;
	wsi_parts_of(s->flow, at, &j.parts);
	unsigned index = result_index(&s->flow->effect[at], low, &n);
	if (express_part(&j, index))
		return;
	if (n == 2 && index == 0)
		express_alu(&j);
	else
		other(&j);
}
