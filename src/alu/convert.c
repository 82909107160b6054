/* SPDX-License-Identifier: Apache-2.0 */
/* From one type of number to another, and numbers packed into parts of a register. */
#include "alu/bits.h"
#include "alu/soft.h"

/* ---- types of names ---- */

/* Powers of two without a sign. */
static const struct wsi_format e8 = { .exponent_bits = 8, .has_nan = true };

static const struct {
	enum ws_modifier modifier;
	const struct wsi_format *format;
} float_types[] = {
	{ WS_MOD_F16, &wsi_f16 },   { WS_MOD_BF16, &wsi_bf16 }, { WS_MOD_F32, &wsi_f32 },
	{ WS_MOD_F64, &wsi_f64 },   { WS_MOD_E4M3, &wsi_e4m3 }, { WS_MOD_E5M2, &wsi_e5m2 },
	{ WS_MOD_TF32, &wsi_tf32 }, { WS_MOD_E2M3, &wsi_e2m3 }, { WS_MOD_E3M2, &wsi_e3m2 },
	{ WS_MOD_E2M1, &wsi_e2m1 }, { WS_MOD_E8, &e8 },
};

static const struct {
	enum ws_modifier modifier;
	uint8_t bits;
	bool is_signed;
} integer_types[] = {
	{ WS_MOD_U2, 2, false },   { WS_MOD_S2, 2, true },    { WS_MOD_U4, 4, false },
	{ WS_MOD_S4, 4, true },    { WS_MOD_U8, 8, false },   { WS_MOD_S8, 8, true },
	{ WS_MOD_U16, 16, false }, { WS_MOD_S16, 16, true },  { WS_MOD_U32, 32, false },
	{ WS_MOD_S32, 32, true },  { WS_MOD_U64, 64, false }, { WS_MOD_S64, 64, true },
};

/* The floating-point types of the name in its order; returns how many. */
static size_t float_types_of(const struct wsi_alu_build *b, const struct wsi_format **ret_types,
			     size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; i < b->n_mods; i++)
		for (size_t k = 0; k < WSI_COUNT(float_types); k++)
			if (b->mods[i] == float_types[k].modifier && n < cap)
				ret_types[n++] = float_types[k].format;
	return n;
}

/* The first integer type of the name; what is not said is S32. */
static void take_integer_type(struct wsi_alu_build *b)
{
	b->alu->kind = 32;
	b->alu->is_signed = true;
	for (size_t i = b->n_mods; i-- > 0;) {
		for (size_t k = 0; k < WSI_COUNT(integer_types); k++) {
			if (b->mods[i] == integer_types[k].modifier) {
				b->alu->kind = integer_types[k].bits;
				b->alu->is_signed = integer_types[k].is_signed;
			}
		}
	}
}

static unsigned size_of(const struct wsi_format *f)
{
	return 1u + f->exponent_bits + f->fraction_bits;
}

static void take_rounding(struct wsi_alu_build *b)
{
	b->alu->rounding = wsi_alu_rounding(b);
	b->alu->ftz = wsi_alu_have(b, WS_MOD_FTZ);
}

/* Which bits of a source are read: from `select` on. */
static bool take_part(struct wsi_alu_build *b, unsigned i)
{
	static const struct {
		enum ws_modifier modifier;
		uint8_t from;
	} parts[] = { { WS_MOD_NONE, 0 }, { WS_MOD_H0, 0 },  { WS_MOD_B0, 0 }, { WS_MOD_B1, 8 },
		      { WS_MOD_B2, 16 },  { WS_MOD_H1, 16 }, { WS_MOD_B3, 24 } };
	for (size_t k = 0; k < WSI_COUNT(parts); k++) {
		if (b->suffix[i][0] == parts[k].modifier) {
			b->alu->select[i] = parts[k].from;
			return true;
		}
	}
	return false;
}

static bool take_float_source(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	if (!wsi_alu_shape(b, 1, 0) || !take_part(b, 0))
		return false;
	alu->number = (uint32_t)b->absolute[0] | (uint32_t)b->negated[0] << 1;
	return alu->from != &wsi_f64 || wsi_alu_widen(b, 0);
}

/* Bits of the source, its sign treated. */
static uint64_t float_source(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned l)
{
	unsigned size = size_of(alu->from);
	uint64_t bits = size == 64 ? wsi_pair(io, 0, l) : io->source[0][l] >> alu->select[0];
	uint64_t sign = UINT64_C(1) << (size - 1);
	if (size < 64)
		bits &= (sign << 1) - 1;
	if (alu->number & 1)
		bits &= ~sign;
	return alu->number & 2 ? bits ^ sign : bits;
}

static void put_converted(const struct wsi_alu *alu, struct wsi_alu_io *io, unsigned l,
			  uint64_t value)
{
	if (alu->result[0].words == 2)
		wsi_put_wide(io, l, value);
	else
		io->result[0][l] = (uint32_t)value;
}

/* ---- F2F, FRND ---- */

static void run_f2f(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	enum wsi_rounding rounding = (enum wsi_rounding)alu->rounding;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		struct wsi_soft v = wsi_soft_unpack(alu->from, float_source(alu, io, l), alu->ftz);
		if (alu->upper)
			v = wsi_soft_to_integer(&v, rounding);
		put_converted(alu, io, l, wsi_soft_pack(alu->to, &v, rounding, alu->ftz, false));
	}
}

/* The most common ones in the host's arithmetic. */
WSI_LANES static void run_f64_f32(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	WSI_FOR_LANES(l)
	{
		double value = wsi_float(wsi_word(alu, io, 0, l));
		wsi_put_wide(io, l, value != value ? WSI_NAN64 : wsi_double_bits(value));
	}
}

WSI_LANES static void run_f32_f64(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0];
	WSI_FOR_LANES(l)
	{
		uint64_t high = wsi_word(alu, io, 0, WSI_ALU_LANES + l);
		double value = wsi_double(io->source[0][l] | high << 32);
		to[l] = value != value ? WSI_NAN32 : wsi_bits((float)value);
	}
}

/* The integer next to a number below 2^51, in a rounding. */
WSI_INLINE double integral(double x, unsigned rounding)
{
	const double magic = 0x1.8p52;
	double near = x + magic - magic;
	bool below = rounding == WSI_RM || (rounding == WSI_RZ && x > 0);
	bool above = rounding == WSI_RP || (rounding == WSI_RZ && x < 0);
	near -= (below & (near > x)) ? 1.0 : 0.0;
	return near + ((above & (near < x)) ? 1.0 : 0.0);
}

WSI_INLINE void round_lanes(const struct wsi_alu *alu, struct wsi_alu_io *io, unsigned rounding)
{
	uint32_t *to = io->result[0];
	WSI_FOR_LANES(l)
	{
		uint32_t bits = wsi_flushed(wsi_word(alu, io, 0, l), alu->ftz);
		uint32_t magnitude = bits & ~WSI_SIGN32, whole = UINT32_C(0x4b000000); /* 2^23 */
		uint32_t large = wsi_mask(magnitude >= whole);
		double x = wsi_float(wsi_choose(large, 0, bits));
		uint32_t value = wsi_bits((float)integral(x, rounding)) | (bits & WSI_SIGN32);
		value = wsi_choose(large, bits, value);
		to[l] = wsi_choose(wsi_mask(magnitude > WSI_EXPONENT32), WSI_NAN32, value);
	}
}

#define ROUND(name, rounding)                                                        \
	WSI_LANES static void name(const struct wsi_alu *alu, struct wsi_alu_io *io) \
	{                                                                            \
		round_lanes(alu, io, rounding);                                      \
	}

ROUND(run_round, WSI_RN)
ROUND(run_floor, WSI_RM)
ROUND(run_ceil, WSI_RP)
ROUND(run_trunc, WSI_RZ)

static void take_sign(struct wsi_alu_build *b)
{
	b->alu->keep[0] = b->absolute[0] ? ~WSI_SIGN32 : UINT32_MAX;
	b->alu->flip[0] = b->negated[0] ? WSI_SIGN32 : 0;
}

static wsi_alu_function *quick_f2f(const struct wsi_alu *alu)
{
	bool plain = !alu->ftz && alu->rounding == WSI_RN;
	if (plain && alu->from == &wsi_f32 && alu->to == &wsi_f64)
		return run_f64_f32;
	return plain && alu->from == &wsi_f64 && alu->to == &wsi_f32 ? run_f32_f64 : run_f2f;
}

bool wsi_alu_prepare_f2f(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	const struct wsi_format *types[2];
	if (float_types_of(b, types, 2) != 2)
		return false;
	alu->to = types[0];
	alu->from = types[1];
	take_rounding(b);
	take_sign(b);
	alu->run = quick_f2f(alu);
	return take_float_source(b) && alu->result[0].words == (alu->to == &wsi_f64 ? 2 : 1);
}

/* To an integer of the same type. */
bool wsi_alu_prepare_frnd(struct wsi_alu_build *b)
{
	static wsi_alu_function *const functions[] = { [WSI_RN] = run_round,
						       [WSI_RM] = run_floor,
						       [WSI_RP] = run_ceil,
						       [WSI_RZ] = run_trunc };
	struct wsi_alu *alu = b->alu;
	alu->to = &wsi_f32;
	float_types_of(b, &alu->to, 1);
	alu->from = alu->to;
	alu->upper = true;
	take_rounding(b);
	take_sign(b);
	alu->run = alu->from == &wsi_f32 ? functions[alu->rounding] : run_f2f;
	return take_float_source(b) && alu->result[0].words == (alu->to == &wsi_f64 ? 2 : 1);
}

/* ---- F2I ---- */

/* Clamped to so many bits; the result is extended to 64. */
static uint64_t clamped(const struct wsi_soft *v, unsigned bits, bool is_signed)
{
	wsi_u128 magnitude = v->kind == WSI_SOFT_ZERO ? 0 : v->mantissa;
	wsi_u128 most = ((wsi_u128)1 << (bits - is_signed)) - 1;
	if (v->kind == WSI_SOFT_INFINITE || (v->kind == WSI_SOFT_FINITE && v->exponent > 64))
		magnitude = (wsi_u128)1 << 100;
	else if (v->exponent > 0)
		magnitude <<= v->exponent;
	if (v->negative)
		most = is_signed ? most + 1 : 0;
	if (magnitude > most)
		magnitude = most;
	return v->negative ? -(uint64_t)magnitude : (uint64_t)magnitude;
}

/* .NTZ: a NaN is zero, else the number with only the highest bit set. */
static void run_f2i(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		struct wsi_soft v = wsi_soft_unpack(alu->from, float_source(alu, io, l), alu->ftz);
		uint64_t value;
		if (v.kind == WSI_SOFT_NAN) {
			value = alu->wrap ? 0 : UINT64_C(1) << (alu->kind - 1);
		} else {
			v = wsi_soft_to_integer(&v, (enum wsi_rounding)alu->rounding);
			value = clamped(&v, alu->kind, alu->is_signed);
		}
		put_converted(alu, io, l, value);
	}
}

/* Of single precision to 32 bits: a number below 2^51 plus 1.5 * 2^52 has the integer in its low
 * bits. */
WSI_INLINE void integer_lanes(const struct wsi_alu *alu, struct wsi_alu_io *io, unsigned rounding)
{
	uint32_t *to = io->result[0], of_nan = alu->wrap ? 0 : UINT32_C(1) << 31;
	double low = alu->is_signed ? -0x1p31 : 0, high = alu->is_signed ? 0x1p31 - 1 : 0x1p32 - 1;
	WSI_FOR_LANES(l)
	{
		uint32_t bits = wsi_flushed(wsi_word(alu, io, 0, l), alu->ftz);
		double x = wsi_float(bits);
		x = x < low ? low : x;
		x = x > high ? high : x;
		uint64_t value = wsi_double_bits(integral(x, rounding) + 0x1.8p52);
		uint32_t nan = wsi_mask((bits & ~WSI_SIGN32) > WSI_EXPONENT32);
		to[l] = wsi_choose(nan, of_nan, (uint32_t)value);
	}
}

#define INTEGER(name, rounding)                                                      \
	WSI_LANES static void name(const struct wsi_alu *alu, struct wsi_alu_io *io) \
	{                                                                            \
		integer_lanes(alu, io, rounding);                                    \
	}

INTEGER(run_integer_round, WSI_RN)
INTEGER(run_integer_floor, WSI_RM)
INTEGER(run_integer_ceil, WSI_RP)
INTEGER(run_integer_trunc, WSI_RZ)

bool wsi_alu_prepare_f2i(struct wsi_alu_build *b)
{
	static wsi_alu_function *const functions[] = { [WSI_RN] = run_integer_round,
						       [WSI_RM] = run_integer_floor,
						       [WSI_RP] = run_integer_ceil,
						       [WSI_RZ] = run_integer_trunc };
	struct wsi_alu *alu = b->alu;
	alu->from = &wsi_f32;
	float_types_of(b, &alu->from, 1);
	take_integer_type(b);
	take_rounding(b);
	alu->wrap = wsi_alu_have(b, WS_MOD_NTZ);
	take_sign(b);
	bool single = alu->from == &wsi_f32 && alu->kind == 32;
	alu->run = single ? functions[alu->rounding] : run_f2i;
	return take_float_source(b) && alu->result[0].words == (alu->kind == 64 ? 2 : 1);
}

/* ---- I2F, I2FP ---- */

static void run_i2f(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		unsigned bits = alu->kind;
		uint64_t value = bits == 64 ? wsi_pair(io, 0, l)
					    : (uint64_t)io->source[0][l] >> alu->select[0];
		value <<= 64 - bits;
		bool negative = alu->is_signed && value >> 63;
		value = alu->is_signed ? (uint64_t)((int64_t)value >> (64 - bits))
				       : value >> (64 - bits);
		struct wsi_soft v = wsi_soft_integer(negative ? -value : value, negative);
		put_converted(
			alu, io, l,
			wsi_soft_pack(alu->to, &v, (enum wsi_rounding)alu->rounding, false, false));
	}
}

WSI_LANES static void run_i2f_signed(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *from = io->source[0];
	uint32_t *to = io->result[0];
	(void)alu;
	WSI_FOR_LANES(l)
	to[l] = wsi_bits((float)(int32_t)from[l]);
}

WSI_LANES static void run_i2f_unsigned(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	const uint32_t *from = io->source[0];
	uint32_t *to = io->result[0];
	(void)alu;
	WSI_FOR_LANES(l)
	to[l] = wsi_bits((float)from[l]);
}

bool wsi_alu_prepare_i2f(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	alu->to = &wsi_f32;
	float_types_of(b, &alu->to, 1);
	take_integer_type(b);
	take_rounding(b);
	if (!wsi_alu_shape(b, 1, 0) || !take_part(b, 0) || wsi_alu_have(b, WS_MOD_F16x2) ||
	    (alu->kind == 64 && !wsi_alu_widen(b, 0)))
		return false;
	if (alu->kind == 32 && alu->to == &wsi_f32 && alu->rounding == WSI_RN)
		alu->run = alu->is_signed ? run_i2f_signed : run_i2f_unsigned;
	else
		alu->run = run_i2f;
	return alu->result[0].words == (alu->to == &wsi_f64 ? 2 : 1);
}

/* ---- F2FP: two floats into one register ---- */

/* Bits of each of two numbers in a register; what is 6 bits wide takes 8. */
static unsigned room_of(const struct wsi_format *f)
{
	return size_of(f) == 6 || f == &e8 ? 8 : size_of(f);
}

/* The exponent of a number with as many bits for it: its sign does not count [public: cuda_fp8]. */
static uint32_t exponent_of(const struct wsi_alu *alu, uint64_t bits)
{
	enum { LARGEST = 0xfe, NOT_A_NUMBER = 0xff };
	unsigned width = alu->from->fraction_bits;
	uint32_t magnitude = (uint32_t)bits & ((1u << (width + 8)) - 1);
	uint32_t exponent = magnitude >> width, fraction = magnitude & ((1u << width) - 1);
	bool above = fraction != 0 && magnitude > 1u << (width - 1); /* 2^-127, which is 0 */
	bool nan = exponent == NOT_A_NUMBER && fraction != 0;
	exponent += alu->rounding == WSI_RP && above && exponent != NOT_A_NUMBER;
	return alu->sat && exponent == NOT_A_NUMBER && !nan ? LARGEST : exponent;
}

static struct wsi_soft power_of(uint32_t exponent)
{
	if (exponent == 0xff)
		return (struct wsi_soft){ .kind = WSI_SOFT_NAN };
	return (struct wsi_soft){ .kind = WSI_SOFT_FINITE,
				  .exponent = (int)exponent - 127,
				  .mantissa = 1 };
}

static uint32_t narrowed(const struct wsi_alu *alu, uint64_t bits)
{
	if (alu->to == &e8)
		return exponent_of(alu, bits);
	struct wsi_soft v = alu->from == &e8 ? power_of((uint32_t)bits)
					     : wsi_soft_unpack(alu->from, bits, false);
	if (alu->relu && v.negative && v.kind != WSI_SOFT_NAN)
		v = (struct wsi_soft){ .kind = WSI_SOFT_ZERO };
	return (uint32_t)wsi_soft_pack(alu->to, &v, (enum wsi_rounding)alu->rounding, false,
				       alu->sat);
}

/* .PACK_AB: the first source in the upper place; .UNPACK_B: two that lie side by side in the
 * source. */
static void run_f2fp(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	unsigned to = room_of(alu->to), from = room_of(alu->from);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint64_t high, low;
		if (alu->upper) {
			uint64_t both = io->source[0][l] >> alu->select[0];
			low = both & ((UINT64_C(1) << from) - 1);
			high = both >> from & ((UINT64_C(1) << from) - 1);
		} else {
			high = io->source[0][l];
			low = io->source[1][l];
		}
		uint32_t word = narrowed(alu, high) << to | narrowed(alu, low);
		if (alu->wrap)
			word |= io->source[alu->upper ? 1 : 2][l] >> alu->select[2] << 16;
		io->result[0][l] = word;
	}
}

/* To the nearest, without limits. */
WSI_INLINE void pack_lanes(struct wsi_alu_io *io, bool bf16)
{
	const uint32_t *high = io->source[0], *low = io->source[1];
	uint32_t *to = io->result[0];
	WSI_FOR_LANES(l)
	to[l] = wsi_to_half(high[l], bf16) << 16 | wsi_to_half(low[l], bf16);
}

WSI_LANES static void run_pack_f16(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	(void)alu;
	pack_lanes(io, false);
}

WSI_LANES static void run_pack_bf16(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	(void)alu;
	pack_lanes(io, true);
}

/* One number, its bits where a float has them. */
static void run_tf32(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	for (unsigned l = 0; l < WSI_ALU_LANES; l++)
		io->result[0][l] = narrowed(alu, io->source[0][l])
				   << (wsi_f32.fraction_bits - wsi_tf32.fraction_bits);
}

/* .MERGE_C: one number below half of the second source. */
static void run_f2fp_one(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	for (unsigned l = 0; l < WSI_ALU_LANES; l++)
		io->result[0][l] =
			narrowed(alu, io->source[0][l]) | io->source[1][l] >> alu->select[1] << 16;
}

/*
 * .RS: random bits are added to those that are dropped, and a carry rounds away from zero. More
 * bits are dropped of what becomes denormal: the random ones meet the highest of them [guess], and
 * what is too large becomes infinite [guess]. [public doc: PTX, "cvt"]
 */
static uint32_t rounded_by(const struct wsi_alu *alu, uint32_t bits, uint32_t random)
{
	enum { HIDDEN = 1 << 23, MOST_BELOW = 39 };
	const struct wsi_format *to = alu->to;
	unsigned dropped = 23 - to->fraction_bits;
	uint32_t magnitude = bits & ~WSI_SIGN32, infinity = (uint32_t)to->largest + 1;
	if (magnitude > WSI_EXPONENT32)
		return (uint32_t)to->nan;
	if (alu->relu && bits & WSI_SIGN32)
		return 0;
	bool is_normal = magnitude >= HIDDEN;
	unsigned exponent = is_normal ? magnitude >> 23 : 1;
	unsigned least =
		128 - (1u << (to->exponent_bits - 1)) + 1; /* of a number with a hidden bit */
	unsigned below = exponent < least ? least - exponent : 0;
	uint64_t mantissa = (magnitude & (HIDDEN - 1)) | (is_normal ? HIDDEN : 0);
	unsigned scale = below < MOST_BELOW ? below : MOST_BELOW;
	mantissa += (uint64_t)(random & ((1u << dropped) - 1)) << scale;
	uint32_t result = (uint32_t)(mantissa >> (dropped + scale));
	result += (below ? 0 : exponent - least) << to->fraction_bits;
	if (result >= infinity)
		result = alu->sat ? (uint32_t)to->largest : infinity;
	return bits >> 31 << 15 | result;
}

static void run_f2fp_random(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t random = io->source[2][l];
		io->result[0][l] = rounded_by(alu, io->source[0][l], random >> 16) << 16 |
				   rounded_by(alu, io->source[1][l], random & 0xffff);
	}
}

/* Before sm_89, and of the uniform datapath before sm_120, the name has only what is not F16 from
 * F32. */
bool wsi_alu_prepare_f2fp(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	const struct wsi_format *types[2] = { &wsi_f16, &wsi_f32 };
	bool is_short = b->insn->sm < (b->insn->operation == WS_OP_UF2FP ? 120 : 89);
	if (is_short ? wsi_alu_have(b, WS_MOD_RS) : float_types_of(b, types, 2) != 2)
		return false;
	if (is_short)
		float_types_of(b, types, 1);
	alu->to = types[0];
	alu->from = types[1];
	take_rounding(b);
	alu->sat = wsi_alu_have(b, WS_MOD_SATFINITE);
	alu->relu = wsi_alu_have(b, WS_MOD_RELU);
	if (alu->to == &wsi_tf32) {
		alu->run = run_tf32;
		return alu->from == &wsi_f32 && wsi_alu_have(b, WS_MOD_PACK_B) &&
		       wsi_alu_shape(b, 1, 0) && !b->suffix[0][0];
	}
	if (alu->to == &e8 && (alu->from->exponent_bits != 8 || alu->from == &e8 || alu->relu ||
			       (alu->rounding != WSI_RP && alu->rounding != WSI_RZ)))
		return false;
	if (wsi_alu_have(b, WS_MOD_RS)) {
		alu->run = run_f2fp_random;
		return (alu->to == &wsi_f16 || alu->to == &wsi_bf16) && alu->from == &wsi_f32 &&
		       wsi_alu_have(b, WS_MOD_PACK_AB) && wsi_alu_shape(b, 3, 0) &&
		       !b->suffix[2][0];
	}
	if (wsi_alu_have(b, WS_MOD_MERGE_C)) {
		alu->run = run_f2fp_one;
		return room_of(alu->to) == 16 && alu->from == &wsi_f32 && wsi_alu_shape(b, 2, 0) &&
		       take_part(b, 1);
	}
	bool unpack_merge = wsi_alu_have(b, WS_MOD_UNPACK_B_MERGE_C);
	bool pack_merge = wsi_alu_have(b, WS_MOD_PACK_AB_MERGE_C);
	alu->upper = unpack_merge || wsi_alu_have(b, WS_MOD_UNPACK_B);
	alu->wrap = unpack_merge || pack_merge;
	if (!alu->upper && !pack_merge && !wsi_alu_have(b, WS_MOD_PACK_AB))
		return false;
	unsigned n = (alu->upper ? 1u : 2u) + alu->wrap;
	if (!wsi_alu_shape(b, n, 0) || (alu->upper && !take_part(b, 0)) ||
	    (alu->wrap && !take_part(b, n - 1)))
		return false;
	alu->select[2] = alu->wrap ? alu->select[n - 1] : 0;
	alu->run = run_f2fp;
	if (!alu->upper && !alu->wrap && !alu->sat && !alu->relu && alu->rounding == WSI_RN)
		alu->run = alu->to == &wsi_f16    ? run_pack_f16
			   : alu->to == &wsi_bf16 ? run_pack_bf16
						  : run_f2fp;
	/* Two wide numbers leave no place for a third source, and narrow ones need it. */
	unsigned room = room_of(alu->to);
	bool nothing = alu->source[n - 1].place == WSI_ALU_REG && alu->source[n - 1].number == 255;
	return room <= 16 && (room <= 8) == alu->wrap && (room != 4 || nothing) &&
	       (alu->upper ? room_of(alu->from) <= 16 : alu->from == &wsi_f32);
}

/* ---- I2I, I2IP, F2IP: clamped and packed ---- */

static uint32_t clamped_integer(const struct wsi_alu *alu, uint32_t word)
{
	int64_t value = (int32_t)word, low = alu->is_signed ? -(INT64_C(1) << (alu->kind - 1)) : 0;
	int64_t high = low + (INT64_C(1) << alu->kind) - 1;
	return (uint32_t)(value < low ? low : value > high ? high : value);
}

static void run_i2i(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	for (unsigned l = 0; l < WSI_ALU_LANES; l++)
		io->result[0][l] = clamped_integer(alu, io->source[0][l]);
}

bool wsi_alu_prepare_i2i(struct wsi_alu_build *b)
{
	take_integer_type(b);
	b->alu->run = run_i2i;
	return wsi_alu_shape(b, 1, 0);
}

/* The third source moves up to make room for two, the first of them above the second. */
static void run_i2ip(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	unsigned bits = alu->kind;
	uint32_t mask = (1u << bits) - 1;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t v[2];
		for (unsigned i = 0; i < 2; i++) {
			v[i] = io->source[i][l];
			if (alu->upper) {
				struct wsi_soft f = wsi_soft_unpack(&wsi_f32, v[i], false);
				f = wsi_soft_to_integer(&f, (enum wsi_rounding)alu->rounding);
				v[i] = f.kind == WSI_SOFT_NAN
					       ? 0
					       : (uint32_t)clamped(&f, bits, alu->is_signed);
			} else {
				v[i] = clamped_integer(alu, v[i]);
			}
		}
		uint32_t above = bits == 16 ? 0 : io->source[2][l] >> alu->select[2] << (2 * bits);
		io->result[0][l] = above | (v[0] & mask) << bits | (v[1] & mask);
	}
}

/* All that compilers make clamps, though some architectures do not print .SAT. */
bool wsi_alu_prepare_i2ip(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	take_integer_type(b);
	take_rounding(b);
	alu->upper = b->op == WS_OP_F2IP;
	if (!wsi_alu_shape(b, 3, 0) || wsi_alu_have(b, WS_MOD_SATRELU) ||
	    wsi_alu_have(b, WS_MOD_RELU))
		return false;
	alu->run = run_i2ip;
	return alu->kind < 8 || take_part(b, 2);
}
