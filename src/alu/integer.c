/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, products, scaled sums, minima and maxima, comparisons of integers. */
#include "alu/lane.h"

/* `-` of an integer is `~` and one more; with .X, `~` alone and carries instead of ones. */
static void take_integer_signs(struct wsi_alu_build *b)
{
	for (unsigned i = 0; i < b->alu->n_sources; i++) {
		if (!b->negated[i])
			continue;
		b->alu->flip[i] = UINT32_MAX;
		if (!b->alu->carry_in)
			b->alu->number++;
	}
}

/* The carries that come in: two masks of lanes, of which an instruction may have none or one. */
struct carry_in {
	uint32_t first, second;
};

WSI_INLINE struct carry_in carry_in(const struct wsi_alu *alu, const struct wsi_alu_io *io)
{
	return (struct carry_in){
		.first = alu->n_predicates > 0 ? wsi_predicate(alu, io, 0) : 0,
		.second = alu->n_predicates > 1 ? wsi_predicate(alu, io, 1) : 0,
	};
}

/* How many of them are set in a lane. */
WSI_INLINE uint32_t carries(struct carry_in in, unsigned l)
{
	return (in.first >> l & 1) + (in.second >> l & 1);
}

/* ---- IADD3, IADD ---- */

WSI_LANES static void run_integer_add(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0];
	WSI_FOR_LANES(l)
	to[l] = wsi_word(alu, io, 0, l) + wsi_word(alu, io, 1, l) + wsi_word(alu, io, 2, l) +
		alu->number;
}

WSI_LANES static void run_add_two(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0];
	WSI_FOR_LANES(l)
	to[l] = wsi_word(alu, io, 0, l) + wsi_word(alu, io, 1, l) + alu->number;
}

/* With carries in or out: the sum has 34 bits. */
WSI_LANES static void run_add_carry(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0], one[WSI_ALU_LANES], two[WSI_ALU_LANES];
	struct carry_in in = carry_in(alu, io);
	bool three = alu->n_sources == 3;
	const uint32_t *c = io->source[three ? 2 : 0];
	uint32_t third = three ? UINT32_MAX : 0;
	WSI_FOR_LANES(l)
	{
		uint64_t sum = (uint64_t)wsi_word(alu, io, 0, l) + wsi_word(alu, io, 1, l) +
			       ((c[l] ^ alu->flip[2]) & third) + alu->number + carries(in, l);
		to[l] = (uint32_t)sum;
		one[l] = sum >> 32 != 0;
		two[l] = sum >> 33 != 0;
	}
	io->predicate_result[0] = wsi_gather(one);
	io->predicate_result[1] = wsi_gather(two);
}

static void run_add_wide(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	struct carry_in in = carry_in(alu, io);
	uint32_t one = 0, two = 0;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint64_t sum = alu->number + carries(in, l);
		unsigned over = 0;
		for (unsigned i = 0; i < alu->n_sources; i++) {
			uint64_t term = wsi_wide(alu, io, i, l);
			sum += term;
			over += sum < term;
		}
		wsi_put_wide(io, l, sum);
		one |= (uint32_t)(over >= 1) << l;
		two |= (uint32_t)(over >= 2) << l;
	}
	io->predicate_result[0] = one;
	io->predicate_result[1] = two;
}

/* The first carry-out is at bit 81; where the text drops it, one that is named is the second. */
static void place_carries(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	if (alu->n_predicate_results == 1 && ws_insn_bits(b->insn, 81, 3) == 7) {
		alu->predicate_result[1] = alu->predicate_result[0];
		alu->predicate_result[0].number = 7;
		alu->n_predicate_results = 2;
	}
}

bool wsi_alu_prepare_add(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	unsigned n = b->op == WS_OP_IADD3 ? 3 : 2;
	alu->carry_in = wsi_alu_have(b, WS_MOD_X);
	if (!wsi_alu_shape(b, n, alu->carry_in ? n - 1 : 0))
		return false;
	take_integer_signs(b);
	if (n == 3)
		place_carries(b);
	if (wsi_alu_have(b, WS_MOD_64)) {
		for (unsigned i = 0; i < n; i++)
			if (!wsi_alu_widen(b, i))
				return false;
		alu->run = run_add_wide;
		return alu->result[0].words == 2;
	}
	if (alu->carry_in || alu->n_predicate_results)
		alu->run = run_add_carry;
	else
		alu->run = n == 3 ? run_integer_add : run_add_two;
	return true;
}

/* ---- IMAD ---- */

WSI_LANES static void run_mad(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *b = io->source[1];
	uint32_t *to = io->result[0];
	WSI_FOR_LANES(l)
	to[l] = a[l] * b[l] + wsi_word(alu, io, 2, l) + alu->number;
}

WSI_LANES static void run_mad_carry(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *b = io->source[1];
	uint32_t *to = io->result[0];
	struct carry_in in = carry_in(alu, io);
	WSI_FOR_LANES(l)
	to[l] = a[l] * b[l] + wsi_word(alu, io, 2, l) + carries(in, l);
}

/* .WIDE, all 64 bits, and .HI, the upper 32. */
WSI_INLINE void mad_wide(const struct wsi_alu *alu, struct wsi_alu_io *io, bool is_signed)
{
	const uint32_t *a = io->source[0], *b = io->source[1];
	uint32_t carry[WSI_ALU_LANES];
	struct carry_in in = carry_in(alu, io);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint64_t product = is_signed ? (uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l])
					     : (uint64_t)a[l] * b[l];
		uint64_t addend = wsi_wide(alu, io, 2, l);
		uint64_t extra = alu->number + carries(in, l);
		uint64_t sum = product + addend, all = sum + extra;
		if (alu->upper)
			io->result[0][l] = (uint32_t)(all >> 32);
		else
			wsi_put_wide(io, l, all);
		carry[l] = (sum < product) | (all < sum);
	}
	io->predicate_result[0] = wsi_gather(carry);
}

static void run_mad_wide_signed(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	mad_wide(alu, io, true);
}

static void run_mad_wide_unsigned(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	mad_wide(alu, io, false);
}

/* Without carries, as addresses are made. */
WSI_LANES static void run_address_signed(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *b = io->source[1];
	(void)alu;
	WSI_FOR_LANES(l)
	wsi_put_wide(io, l,
		     (uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l]) + wsi_pair(io, 2, l));
}

WSI_LANES static void run_address_unsigned(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *b = io->source[1];
	(void)alu;
	WSI_FOR_LANES(l)
	wsi_put_wide(io, l, (uint64_t)a[l] * b[l] + wsi_pair(io, 2, l));
}

bool wsi_alu_prepare_mad(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	alu->carry_in = wsi_alu_have(b, WS_MOD_X);
	alu->upper = wsi_alu_have(b, WS_MOD_HI);
	if (!wsi_alu_shape(b, 3, alu->carry_in) || b->negated[0] || b->negated[1])
		return false;
	take_integer_signs(b);
	if (!alu->upper && !wsi_alu_have(b, WS_MOD_WIDE)) {
		alu->run = alu->carry_in ? run_mad_carry : run_mad;
		return true;
	}
	if (!wsi_alu_widen(b, 2) || alu->result[0].words != (alu->upper ? 1 : 2))
		return false;
	bool is_unsigned = wsi_alu_have(b, WS_MOD_U32);
	if (alu->upper || alu->carry_in || alu->n_predicate_results || alu->flip[2])
		alu->run = is_unsigned ? run_mad_wide_unsigned : run_mad_wide_signed;
	else
		alu->run = is_unsigned ? run_address_unsigned : run_address_signed;
	return true;
}

WSI_LANES uint32_t wsi_alu_misfits(const uint32_t *a, const uint32_t *b, const uint32_t *c,
				   int32_t large)
{
	uint32_t misfit[WSI_ALU_LANES];
	WSI_FOR_LANES(l)
	{
		int64_t addend = (int32_t)c[l];
		int64_t sum = (int64_t)((uint64_t)a[l] * b[l] + (uint64_t)addend);
		int64_t most = addend < large ? INT32_MAX : INT32_MAX + (INT64_C(1) << 32);
		bool judged = a[l] - 2 <= INT32_MAX - 2 && b[l] - 2 <= INT32_MAX - 2;
		misfit[l] = judged & (sum > most);
	}
	return wsi_gather(misfit);
}

/* ---- LEA ---- */

/*
 * The first source shifted, plus the second. .HI: the upper word of a pair shifted, whose upper
 * word is the third source or, with .SX32, the sign. The sign is of what was shifted.
 */
WSI_LANES static void run_lea(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *c = io->source[alu->n_sources == 3 ? 2 : 0];
	uint32_t *to = io->result[0], carry[WSI_ALU_LANES];
	unsigned shift = alu->kind, pick = alu->upper ? 32 : 0;
	struct carry_in in = carry_in(alu, io);
	uint32_t pair = alu->n_sources == 3 ? UINT32_MAX : 0;
	uint32_t extend = alu->is_signed ? UINT32_MAX : 0;
	WSI_FOR_LANES(l)
	{
		uint32_t high = (c[l] & pair) | (-(a[l] >> 31) & extend);
		uint64_t value = ((uint64_t)high << 32 | a[l]) << shift;
		uint32_t shifted = (uint32_t)(value >> pick) ^ alu->flip[0];
		uint64_t sum =
			(uint64_t)shifted + wsi_word(alu, io, 1, l) + alu->number + carries(in, l);
		to[l] = (uint32_t)sum;
		carry[l] = sum >> 32 != 0;
	}
	io->predicate_result[0] = wsi_gather(carry);
}

bool wsi_alu_prepare_lea(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	uint64_t shift;
	alu->carry_in = wsi_alu_have(b, WS_MOD_X);
	alu->upper = wsi_alu_have(b, WS_MOD_HI);
	alu->is_signed = wsi_alu_have(b, WS_MOD_SX32);
	if (!wsi_alu_take_number(b, &shift) ||
	    !wsi_alu_shape(b, alu->upper && !alu->is_signed ? 3 : 2, alu->carry_in))
		return false;
	take_integer_signs(b);
	alu->kind = (uint8_t)(shift & 31);
	alu->run = run_lea;
	return true;
}

/* ---- VIADD ---- */

static void run_lane_add(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0];
	unsigned bits = alu->kind;
	int64_t low = alu->is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
	int64_t high = low + (INT64_C(1) << bits) - 1;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t value = 0;
		for (unsigned at = 0; at < 32; at += bits) {
			int64_t sum = 0;
			for (unsigned i = 0; i < 2; i++) {
				uint64_t part = (uint64_t)io->source[i][l] >> at << (64 - bits);
				int64_t term = alu->is_signed ? (int64_t)part >> (64 - bits)
							      : (int64_t)(part >> (64 - bits));
				sum += alu->flip[i] ? -term : term;
			}
			if (alu->sat)
				sum = sum < low ? low : sum > high ? high : sum;
			value |= (uint32_t)((uint64_t)sum & ((UINT64_C(1) << bits) - 1)) << at;
		}
		to[l] = value;
	}
}

bool wsi_alu_prepare_lane_add(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	alu->sat = wsi_alu_have(b, WS_MOD_ISAT);
	alu->is_signed = wsi_alu_have(b, WS_MOD_S32) || wsi_alu_have(b, WS_MOD_S16x2) ||
			 wsi_alu_have(b, WS_MOD_S8x4);
	bool halves = wsi_alu_have(b, WS_MOD_16x2) || wsi_alu_have(b, WS_MOD_S16x2);
	bool bytes = wsi_alu_have(b, WS_MOD_U8x4) || wsi_alu_have(b, WS_MOD_S8x4);
	if (!wsi_alu_shape(b, 2, 0))
		return false;
	take_integer_signs(b);
	alu->kind = bytes ? 8 : halves ? 16 : 32;
	alu->run = halves || bytes || alu->sat ? run_lane_add : run_add_two;
	return true;
}

/* ---- minima and maxima ---- */

WSI_LANES static void run_minmax_u(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *b = io->source[1];
	uint32_t *to = io->result[0], min = wsi_predicate(alu, io, 0);
	WSI_FOR_LANES(l)
	{
		uint32_t low = a[l] < b[l] ? a[l] : b[l], high = a[l] < b[l] ? b[l] : a[l];
		to[l] = min >> l & 1 ? low : high;
	}
}

WSI_LANES static void run_minmax_s(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *b = io->source[1];
	uint32_t *to = io->result[0], min = wsi_predicate(alu, io, 0);
	WSI_FOR_LANES(l)
	{
		bool less = (int32_t)a[l] < (int32_t)b[l];
		to[l] = less == (min >> l & 1) ? a[l] : b[l];
	}
}

/* The last predicate of later architectures is read for what nobody has seen in use: never true. */
bool wsi_alu_prepare_minmax(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	if (alu->n_predicates == 2 && alu->predicate[1].number == 7 && alu->predicate_flip[1])
		alu->n_predicates = 1;
	if (!wsi_alu_shape(b, 2, 1) || !wsi_alu_drops_predicates(alu))
		return false;
	if (wsi_alu_have(b, WS_MOD_U64) || wsi_alu_have(b, WS_MOD_S64))
		return wsi_alu_prepare_minmax_wide(b);
	alu->run = wsi_alu_have(b, WS_MOD_U32) ? run_minmax_u : run_minmax_s;
	return true;
}

WSI_LANES static void run_iabs(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0];
	uint32_t *to = io->result[0];
	(void)alu;
	WSI_FOR_LANES(l)
	to[l] = a[l] >> 31 ? -a[l] : a[l];
}

bool wsi_alu_prepare_iabs(struct wsi_alu_build *b)
{
	b->alu->run = run_iabs;
	return wsi_alu_shape(b, 1, 0);
}

/* ---- ISETP ---- */

enum integer_compare { NEVER, LT, EQ, LE, GT, NE, GE, ALWAYS };

/* Comparisons are made of "less" and "equal". */
WSI_INLINE uint32_t compared(unsigned compare, uint32_t less, uint32_t equal)
{
	uint32_t greater = ~(less | equal);
	return (compare & LT ? less : 0) | (compare & EQ ? equal : 0) |
	       (compare & GT ? greater : 0);
}

/*
 * .EX: the upper halves of wider numbers; where they are equal the comparison of the lower ones
 * decides, which the last predicate holds.
 */
WSI_INLINE void put_compared(const struct wsi_alu *alu, struct wsi_alu_io *io,
			     const uint32_t less[WSI_ALU_LANES],
			     const uint32_t equal[WSI_ALU_LANES])
{
	uint32_t lt = wsi_gather(less), eq = wsi_gather(equal);
	uint32_t bits = compared(alu->compare, lt, eq);
	if (alu->carry_in) {
		uint32_t lower = wsi_predicate(alu, io, 1);
		bits = (bits & ~eq) | (lower & eq);
	}
	wsi_put_compared(alu, io, bits, wsi_predicate(alu, io, 0));
}

WSI_LANES static void run_isetp(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *b = io->source[1];
	uint32_t less[WSI_ALU_LANES], equal[WSI_ALU_LANES];
	uint32_t bias = alu->is_signed ? UINT32_C(1) << 31 : 0;
	WSI_FOR_LANES(l)
	{
		uint32_t x = a[l] ^ bias, y = b[l] ^ bias;
		less[l] = x < y;
		equal[l] = x == y;
	}
	put_compared(alu, io, less, equal);
}

static void run_isetp_wide(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t less[WSI_ALU_LANES], equal[WSI_ALU_LANES];
	uint64_t bias = alu->is_signed ? UINT64_C(1) << 63 : 0;
	WSI_FOR_LANES(l)
	{
		uint64_t x = wsi_pair(io, 0, l) ^ bias, y = wsi_pair(io, 1, l) ^ bias;
		less[l] = x < y;
		equal[l] = x == y;
	}
	put_compared(alu, io, less, equal);
}

static void take_comparison(struct wsi_alu_build *b)
{
	static const enum ws_modifier names[] = {
		[NEVER] = WS_MOD_F, [LT] = WS_MOD_LT, [EQ] = WS_MOD_EQ, [LE] = WS_MOD_LE,
		[GT] = WS_MOD_GT,   [NE] = WS_MOD_NE, [GE] = WS_MOD_GE, [ALWAYS] = WS_MOD_T,
	};
	for (uint8_t i = 0; i < WSI_COUNT(names); i++)
		if (wsi_alu_have(b, names[i]))
			b->alu->compare = i;
}

bool wsi_alu_prepare_isetp(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	alu->carry_in = wsi_alu_have(b, WS_MOD_EX);
	if (!wsi_alu_shape(b, 2, alu->carry_in ? 2 : 1))
		return false;
	take_comparison(b);
	alu->combine = wsi_alu_have(b, WS_MOD_AND)  ? WSI_AND
		       : wsi_alu_have(b, WS_MOD_OR) ? WSI_OR
						    : WSI_XOR;
	bool wide = wsi_alu_have(b, WS_MOD_U64) || wsi_alu_have(b, WS_MOD_S64);
	alu->is_signed = !wsi_alu_have(b, WS_MOD_U32) && !wsi_alu_have(b, WS_MOD_U64);
	alu->run = wide ? run_isetp_wide : run_isetp;
	return !wide || (wsi_alu_widen(b, 0) && wsi_alu_widen(b, 1));
}

/* ---- VISET.BM: all bits of the result, or none [measured: ptxas 13.5 makes PTX's set of it] ----
 */

WSI_LANES static void run_viset(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *a = io->source[0], *b = io->source[1];
	uint32_t bias = alu->is_signed ? UINT32_C(1) << 31 : 0;
	WSI_FOR_LANES(l)
	{
		uint32_t x = a[l] ^ bias, y = b[l] ^ bias;
		io->result[0][l] =
			compared(alu->compare, x < y ? UINT32_MAX : 0, x == y ? UINT32_MAX : 0);
	}
}

bool wsi_alu_prepare_viset(struct wsi_alu_build *b)
{
	take_comparison(b);
	b->alu->is_signed = wsi_alu_have(b, WS_MOD_S32);
	b->alu->run = run_viset;
	return wsi_alu_shape(b, 2, 0) && wsi_alu_have(b, WS_MOD_BM) &&
	       (b->alu->is_signed || wsi_alu_have(b, WS_MOD_U32));
}
