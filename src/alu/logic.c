/* SPDX-License-Identifier: Apache-2.0 */
/* Truth tables, shifts, fields of bits, permutations of bytes, moves, predicates and registers. */
#include "alu/lane.h"

/* ---- LOP3, PLOP3 ---- */

/* Bit i of a truth table as a whole word. */
WSI_INLINE uint32_t entry(uint32_t table, unsigned i)
{
	return -(table >> i & 1);
}

WSI_INLINE uint32_t choose(uint32_t by, uint32_t one, uint32_t zero)
{
	return zero ^ (by & (one ^ zero));
}

WSI_INLINE uint32_t look_up(uint32_t table, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t b1 = choose(c, entry(table, 7), entry(table, 6));
	uint32_t b0 = choose(c, entry(table, 5), entry(table, 4));
	uint32_t b3 = choose(c, entry(table, 3), entry(table, 2));
	uint32_t b2 = choose(c, entry(table, 1), entry(table, 0));
	return choose(a, choose(b, b1, b0), choose(b, b3, b2));
}

WSI_LANES static void run_logic(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *b = io->source[1], *c = io->source[2];
	uint32_t *to = io->result[0], table = alu->number;
	WSI_FOR_LANES(l)
	to[l] = look_up(table, a[l], b[l], c[l]);
}

/* Also whether anything of the result is set. */
WSI_LANES static void run_logic_test(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *b = io->source[1], *c = io->source[2];
	uint32_t *to = io->result[0], table = alu->number;
	uint32_t set[WSI_ALU_LANES];
	WSI_FOR_LANES(l)
	{
		uint32_t value = look_up(table, a[l], b[l], c[l]);
		set[l] = value != 0;
		to[l] = value;
	}
	uint32_t bits = wsi_gather(set);
	io->predicate_result[0] = wsi_combine(alu->combine, bits, wsi_predicate(alu, io, 0));
}

bool wsi_alu_prepare_logic(struct wsi_alu_build *b)
{
	uint64_t table;
	if (!wsi_alu_take_number(b, &table) || !wsi_alu_shape(b, 3, 1))
		return false;
	b->alu->number = (uint32_t)table;
	b->alu->combine = wsi_alu_have(b, WS_MOD_PAND) ? WSI_AND : WSI_OR;
	b->alu->run = b->alu->n_predicate_results ? run_logic_test : run_logic;
	return true;
}

/* Three predicates; in place of one a register's sign bit. The second result has a table of its
 * own. */
static void run_plop3(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t in[3];
	for (unsigned i = 0, source = 0, predicate = 0; i < 3; i++) {
		if (!(alu->kind >> i & 1)) {
			in[i] = wsi_predicate(alu, io, predicate++);
			continue;
		}
		in[i] = 0;
		for (unsigned l = 0; l < WSI_ALU_LANES; l++)
			in[i] |= io->source[source][l] >> 31 << l;
		source++;
	}
	io->predicate_result[0] = look_up(alu->number & 0xff, in[0], in[1], in[2]);
	io->predicate_result[1] = look_up(alu->number >> 8, in[0], in[1], in[2]);
}

/* Signs of registers: none, the second, the last two or all three operands. */
bool wsi_alu_prepare_plop3(struct wsi_alu_build *b)
{
	static const uint8_t signs[] = { 0, 1u << 1, 3u << 1, 7 };
	struct wsi_alu *alu = b->alu;
	uint64_t first, second;
	if (!wsi_alu_take_number(b, &second) || !wsi_alu_take_number(b, &first) ||
	    alu->n_sources + alu->n_predicates != 3)
		return false;
	alu->kind = signs[alu->n_sources];
	alu->number = (uint32_t)(first | second << 8);
	alu->run = run_plop3;
	return true;
}

/* ---- shifts ---- */

enum { SHIFT_32, SHIFT_64 };

/* A pair shifted by up to its width; more clamps or, with .W, wraps. One word of it is the result.
 */
WSI_INLINE void shift(const struct wsi_alu *alu, struct wsi_alu_io *io, bool right)
{
	const uint32_t *low = io->source[0], *by = io->source[1], *high = io->source[2];
	uint32_t *to = io->result[0], most = alu->kind == SHIFT_64 ? 64 : 32;
	bool arithmetic = alu->is_signed;
	unsigned pick = alu->upper ? 32 : 0;
	WSI_FOR_LANES(l)
	{
		uint32_t n = by[l];
		if (alu->wrap)
			n &= most - 1;
		else
			n = n < most ? n : most;
		uint64_t value = (uint64_t)high[l] << 32 | low[l];
		/* By 63 at most in one step: a shift by 64 is two. */
		uint32_t half = n >> 1, rest = n - half;
		if (!right)
			value = value << half << rest;
		else if (arithmetic)
			value = (uint64_t)((int64_t)value >> half >> rest);
		else
			value = value >> half >> rest;
		to[l] = (uint32_t)(value >> pick);
	}
}

WSI_LANES static void run_shift_left(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	shift(alu, io, false);
}

WSI_LANES static void run_shift_right(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	shift(alu, io, true);
}

/* One register to the left, the most common shift. */
WSI_LANES static void run_shift_left_low(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *low = io->source[0], *by = io->source[1];
	uint32_t *to = io->result[0], wrap = alu->wrap ? 31 : UINT32_MAX;
	WSI_FOR_LANES(l)
	{
		uint32_t n = by[l] & wrap;
		to[l] = n < 32 ? low[l] << (n & 31) : 0;
	}
}

/* One register, which is the upper word of a pair, to the right. */
WSI_LANES static void run_shift_right_high(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *by = io->source[1], *high = io->source[2];
	uint32_t *to = io->result[0], wrap = alu->wrap ? 31 : UINT32_MAX;
	uint32_t arithmetic = alu->is_signed ? UINT32_MAX : 0;
	WSI_FOR_LANES(l)
	{
		uint32_t n = by[l] & wrap, value = high[l];
		uint32_t sign = -(value >> 31) & arithmetic;
		to[l] = n < 32 ? (value ^ sign) >> (n & 31) ^ sign : sign;
	}
}

bool wsi_alu_prepare_shift(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	if (!wsi_alu_shape(b, 3, 0) || wsi_alu_have(b, WS_MOD_XOR))
		return false;
	bool s64 = wsi_alu_have(b, WS_MOD_S64), s32 = wsi_alu_have(b, WS_MOD_S32);
	bool is_64 = s64 || wsi_alu_have(b, WS_MOD_U64);
	alu->kind = is_64 ? SHIFT_64 : SHIFT_32;
	alu->is_signed = s64 || s32;
	alu->wrap = wsi_alu_have(b, WS_MOD_W);
	alu->upper = wsi_alu_have(b, WS_MOD_HI);
	if (wsi_alu_have(b, WS_MOD_L))
		alu->run = is_64 || alu->upper ? run_shift_left : run_shift_left_low;
	else
		alu->run = is_64 || !alu->upper ? run_shift_right : run_shift_right_high;
	return true;
}

/* ---- fields of bits ---- */

WSI_INLINE uint32_t ones_below(uint32_t n)
{
	return n < 32 ? (UINT32_C(1) << (n & 31)) - 1 : UINT32_MAX;
}

WSI_LANES static void run_sign_extend(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *by = io->source[1];
	uint32_t *to = io->result[0], wrap = alu->wrap ? 31 : UINT32_MAX;
	WSI_FOR_LANES(l)
	{
		uint32_t n = by[l] & wrap, mask = ones_below(n), value = a[l] & mask;
		uint32_t sign = alu->is_signed ? value & (mask ^ mask >> 1) : 0;
		to[l] = sign ? value | ~mask : value;
	}
}

bool wsi_alu_prepare_extend(struct wsi_alu_build *b)
{
	b->alu->wrap = wsi_alu_have(b, WS_MOD_W);
	b->alu->is_signed = !wsi_alu_have(b, WS_MOD_U32);
	b->alu->run = run_sign_extend;
	return wsi_alu_shape(b, 2, 0);
}

WSI_LANES static void run_mask(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *from = io->source[0], *by = io->source[1];
	uint32_t *to = io->result[0], wrap = alu->wrap ? 31 : UINT32_MAX;
	WSI_FOR_LANES(l)
	{
		uint32_t at = from[l] & wrap, mask = ones_below(by[l] & wrap);
		to[l] = at < 32 ? mask << (at & 31) : 0;
	}
}

bool wsi_alu_prepare_mask(struct wsi_alu_build *b)
{
	b->alu->wrap = wsi_alu_have(b, WS_MOD_W);
	b->alu->run = run_mask;
	return wsi_alu_shape(b, 2, 0);
}

/* ---- POPC, BREV, FLO ---- */

WSI_LANES static void run_popc(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0];
	WSI_FOR_LANES(l)
	{
		uint32_t v = wsi_word(alu, io, 0, l);
		v -= v >> 1 & 0x55555555;
		v = (v & 0x33333333) + (v >> 2 & 0x33333333);
		v = (v + (v >> 4)) & 0x0f0f0f0f;
		to[l] = v * 0x01010101 >> 24;
	}
}

WSI_LANES static void run_brev(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0];
	WSI_FOR_LANES(l)
	{
		uint32_t v = wsi_word(alu, io, 0, l);
		v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
		v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
		v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
		v = (v >> 8 & 0x00ff00ff) | (v & 0x00ff00ff) << 8;
		to[l] = v >> 16 | v << 16;
	}
}

/*
 * The place of the first one bit from above; of signed numbers that are negative, of the first zero
 * bit; with .SH how far it is from bit 31. All ones where there is none.
 */
WSI_LANES static void run_flo(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0];
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t v = wsi_word(alu, io, 0, l);
		if (alu->is_signed && v >> 31)
			v = ~v;
		uint32_t above = v ? (uint32_t)__builtin_clz(v) : 0;
		to[l] = !v ? UINT32_MAX : alu->wrap ? above : 31 - above;
	}
}

bool wsi_alu_prepare_count(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	if (!wsi_alu_shape(b, 1, 0))
		return false;
	alu->flip[0] = b->negated[0] ? UINT32_MAX : 0;
	if (b->op == WS_OP_POPC)
		alu->run = run_popc;
	else if (b->op == WS_OP_BREV)
		alu->run = run_brev;
	else
		alu->run = run_flo;
	alu->is_signed = !wsi_alu_have(b, WS_MOD_U32);
	alu->wrap = wsi_alu_have(b, WS_MOD_SH);
	/* What the predicate of FLO tells is not known. */
	return wsi_alu_drops_predicates(alu);
}

/* ---- PRMT ---- */

/* Four nibbles: 0 to 7 a byte of the pair, 8 and more its sign. */
WSI_LANES static void run_permute(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *by = io->source[1], *c = io->source[2];
	uint32_t *to = io->result[0];
	(void)alu;
	WSI_FOR_LANES(l)
	{
		uint32_t value = 0;
		for (unsigned i = 0; i < 4; i++) {
			uint32_t n = by[l] >> (4 * i);
			uint32_t word = n & 4 ? c[l] : a[l];
			uint32_t byte = word >> (8 * (n & 3)) & 0xff;
			uint32_t sign = byte >> 7 ? 0xff : 0;
			value |= (n & 8 ? sign : byte) << (8 * i);
		}
		to[l] = value;
	}
}

/* The other modes: the low two bits choose one of four patterns, here as nibbles from the low byte
 * up. */
static const uint16_t patterns[6][4] = {
	{ 0x3210, 0x4321, 0x5432, 0x6543 }, /* .F4E */
	{ 0x5670, 0x6701, 0x7012, 0x0123 }, /* .B4E */
	{ 0x0000, 0x1111, 0x2222, 0x3333 }, /* .RC8 */
	{ 0x3210, 0x3211, 0x3222, 0x3333 }, /* .ECL */
	{ 0x0000, 0x1110, 0x2210, 0x3210 }, /* .ECR */
	{ 0x1010, 0x3232, 0x1010, 0x3232 }, /* .RC16 */
};

static void run_permute_pattern(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0];
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint64_t pair = (uint64_t)io->source[2][l] << 32 | io->source[0][l];
		uint32_t pattern = patterns[alu->kind][io->source[1][l] & 3], value = 0;
		for (unsigned i = 0; i < 4; i++)
			value |= (uint32_t)(pair >> (8 * (pattern >> (4 * i) & 7)) & 0xff)
				 << (8 * i);
		to[l] = value;
	}
}

bool wsi_alu_prepare_permute(struct wsi_alu_build *b)
{
	static const enum ws_modifier modes[] = { WS_MOD_F4E, WS_MOD_B4E, WS_MOD_RC8,
						  WS_MOD_ECL, WS_MOD_ECR, WS_MOD_RC16 };
	b->alu->run = run_permute;
	for (uint8_t i = 0; i < WSI_COUNT(modes); i++) {
		if (wsi_alu_have(b, modes[i])) {
			b->alu->kind = i;
			b->alu->run = run_permute_pattern;
		}
	}
	return wsi_alu_shape(b, 3, 0);
}

/* ---- moves and selections ---- */

static void run_move(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	memmove(io->result[0], io->source[0],
		alu->result[0].words * WSI_ALU_LANES * sizeof(uint32_t));
}

static bool widen_for(struct wsi_alu_build *b)
{
	for (unsigned i = 0; i < b->alu->n_sources; i++)
		if (b->alu->result[0].words == 2 && !wsi_alu_widen(b, i))
			return false;
	return true;
}

/* Only lanes of each quad that a mask has: what the others had is the second source. */
static void run_move_some(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	for (unsigned l = 0; l < WSI_ALU_LANES; l++)
		io->result[0][l] = io->source[alu->number >> l % 4 & 1 ? 0 : 1][l];
}

/* A second operand is a mask of the lanes of a quad [measured: texture gradients, which ptxas makes
 * of four accesses, one for each]. */
bool wsi_alu_prepare_move(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	uint64_t lanes;
	alu->run = run_move;
	if (alu->n_sources != 2)
		return wsi_alu_shape(b, 1, 0) && widen_for(b);
	if (!wsi_alu_take_number(b, &lanes) || alu->result[0].words != 1 ||
	    alu->result[0].place != WSI_ALU_REG)
		return false;
	alu->number = (uint32_t)lanes;
	alu->source[alu->n_sources++] = alu->result[0];
	alu->run = run_move_some;
	return wsi_alu_shape(b, 2, 0);
}

WSI_LANES static void run_select(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *b = io->source[1];
	uint32_t *to = io->result[0], chosen = wsi_predicate(alu, io, 0);
	WSI_FOR_LANES(l)
	to[l] = chosen >> l & 1 ? a[l] : b[l];
}

static void run_select_wide(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t chosen = wsi_predicate(alu, io, 0);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++)
		wsi_put_wide(io, l, wsi_pair(io, chosen >> l & 1 ? 0 : 1, l));
}

bool wsi_alu_prepare_select(struct wsi_alu_build *b)
{
	b->alu->run = b->alu->result[0].words == 2 ? run_select_wide : run_select;
	return wsi_alu_shape(b, 2, 1) && widen_for(b);
}

/* ---- predicates to registers and back ---- */

enum { BYTE_BITS = 8, NAMED_PREDICATES = 7 };

static unsigned byte_of(const struct wsi_alu_build *b)
{
	return (unsigned)ws_insn_bits(b->insn, 76, 2);
}

/* The bits that the mask selects, in one byte of the register; the others come from the first
 * source. */
static void run_p2r(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t bits = 0, mask = io->source[1][l] & ((1u << NAMED_PREDICATES) - 1);
		for (unsigned i = 0; i < NAMED_PREDICATES; i++)
			bits |= (io->predicate[i] >> l & 1) << i;
		uint32_t from = io->source[0][l] & ~(mask << alu->number);
		io->result[0][l] = from | (bits & mask) << alu->number;
	}
}

bool wsi_alu_prepare_p2r(struct wsi_alu_build *b)
{
	b->alu->number = byte_of(b) * BYTE_BITS;
	b->alu->run = run_p2r;
	return wsi_alu_shape(b, 2, NAMED_PREDICATES);
}

/* The predicates that the mask selects, from one byte of the register; the others stay. */
static void run_r2p(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	for (unsigned i = 0; i < NAMED_PREDICATES; i++) {
		uint32_t bits = 0, mask = 0;
		for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
			bits |= (io->source[0][l] >> alu->number >> i & 1) << l;
			mask |= (io->source[1][l] >> i & 1) << l;
		}
		io->predicate_result[i] = (bits & mask) | (io->predicate[i] & ~mask);
	}
}

bool wsi_alu_prepare_r2p(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	if (alu->n_sources == 1) { /* without a mask: all */
		alu->source[1] = (struct wsi_alu_value){ .place = WSI_ALU_NUMBER,
							 .words = 1,
							 .value = UINT8_MAX };
		alu->n_sources = 2;
	}
	for (unsigned i = 0; i < NAMED_PREDICATES; i++)
		alu->predicate[i] = alu->predicate_result[i];
	if (alu->n_predicates || alu->n_predicate_results != NAMED_PREDICATES)
		return false;
	alu->n_predicates = NAMED_PREDICATES;
	alu->number = byte_of(b) * BYTE_BITS;
	alu->run = run_r2p;
	return wsi_alu_shape(b, 2, NAMED_PREDICATES);
}
