/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two halves of a register at a time: f16 and bf16. Both are computed in double precision, where a
 * product is exact; what a sum loses makes its lowest bit odd, and again on the way to 32 bits, so
 * that the one rounding that counts is the last.
 */
#include "alu/bits.h"

enum select { LOW_HIGH, LOW_LOW, HIGH_HIGH, LOW_MINUS_HIGH, SINGLE };

/* ---- one half ---- */

/* The neighbour on the other side of the exact value where that one is odd. */
WSI_INLINE double made_odd(double sum, double error)
{
	uint64_t bits = wsi_double_bits(sum);
	uint64_t inexact = -(uint64_t)((error > 0) | (error < 0));
	uint64_t inward = -(uint64_t)((error > 0) ^ (sum > 0)), even = (bits & 1) - 1;
	return wsi_double(bits + ((1 | inward) & inexact & even));
}

/* To 32 bits, where what does not fit makes the lowest bit odd. */
WSI_INLINE uint32_t narrowed(double value)
{
	float nearest = (float)value;
	uint32_t bits = wsi_bits(nearest);
	double back = nearest;
	uint32_t inexact = wsi_mask((back > value) | (back < value)), even = (bits & 1) - 1;
	uint32_t inward = wsi_mask((back < value) ^ (value > 0));
	return bits + ((1 | inward) & inexact & even);
}

enum half_arithmetic { ADD, MUL, FMA };

WSI_INLINE uint32_t computed(enum half_arithmetic what, float a, float b, float c, bool bf16)
{
	double x = what == ADD ? a : (double)a * b;
	if (what == MUL)
		return wsi_to_half(narrowed(x), bf16);
	double y = what == ADD ? b : c, sum = x + y, part = sum - x;
	double error = (x - (sum - part)) + (y - part);
	return wsi_to_half(narrowed(made_odd(sum, error)), bf16);
}

/* ---- sources and results ---- */

/* How far to shift a source for half `k` of it, and what flips its sign then. */
struct pick {
	uint32_t shift, flip;
};

WSI_INLINE struct pick pick_of(const struct wsi_alu *alu, unsigned i, unsigned k)
{
	bool high = alu->select[i] == HIGH_HIGH || (k && alu->select[i] != LOW_LOW);
	bool minus = k && alu->select[i] == LOW_MINUS_HIGH;
	return (struct pick){ .shift = high ? 16 : 0, .flip = minus ? 0x8000 : 0 };
}

/* One half of a source, in the low bits. */
WSI_INLINE uint32_t picked(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned i,
			   unsigned l, struct pick pick)
{
	return (wsi_word(alu, io, i, l) >> pick.shift & 0xffff) ^ pick.flip;
}

WSI_INLINE uint32_t half_of(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned i,
			    unsigned l, unsigned k)
{
	return picked(alu, io, i, l, pick_of(alu, i, k));
}

WSI_INLINE uint32_t flushed_half(uint32_t half, bool flush, bool bf16)
{
	uint32_t exponent = bf16 ? 0x7f80 : 0x7c00;
	return half & ~(wsi_mask(flush) & wsi_mask(!(half & exponent)) & 0x7fff);
}

/* .FTZ, .SAT and .RELU of a result. */
WSI_INLINE uint32_t finished(const struct wsi_alu *alu, uint32_t half, bool bf16)
{
	uint32_t one = bf16 ? 0x3f80 : 0x3c00, infinity = bf16 ? 0x7f80 : 0x7c00;
	half = flushed_half(half, alu->ftz, bf16);
	uint32_t nan = wsi_mask((half & 0x7fff) > infinity), negative = wsi_mask(half >> 15);
	half = wsi_choose(wsi_mask(alu->relu) & negative & ~nan, 0, half);
	uint32_t clamped = wsi_choose(negative | nan, 0, half);
	clamped = wsi_choose(wsi_mask(clamped > one), one, clamped);
	return wsi_choose(wsi_mask(alu->sat), clamped, half);
}

WSI_INLINE void compute(const struct wsi_alu *alu, struct wsi_alu_io *io, enum half_arithmetic what,
			bool bf16)
{
	uint32_t *to = io->result[0], half[2][WSI_ALU_LANES];
	for (unsigned k = 0; k < 2; k++) {
		struct pick x = pick_of(alu, 0, k), y = pick_of(alu, 1, k), z = pick_of(alu, 2, k);
		uint32_t *part = half[k];
		WSI_FOR_LANES(l)
		{
			uint32_t a = flushed_half(picked(alu, io, 0, l, x), alu->ftz, bf16), c = 0;
			uint32_t b = flushed_half(picked(alu, io, 1, l, y), alu->ftz, bf16);
			if (what == FMA)
				c = flushed_half(picked(alu, io, 2, l, z), alu->ftz, bf16);
			uint32_t value =
				computed(what, wsi_half_value(a, bf16), wsi_half_value(b, bf16),
					 wsi_half_value(c, bf16), bf16);
			part[l] = finished(alu, value, bf16);
		}
	}
	WSI_FOR_LANES(l)
	to[l] = half[0][l] | half[1][l] << 16;
}

#define COMPUTE(name, what, bf16)                                                    \
	WSI_LANES static void name(const struct wsi_alu *alu, struct wsi_alu_io *io) \
	{                                                                            \
		compute(alu, io, what, bf16);                                        \
	}

COMPUTE(run_add, ADD, false)
COMPUTE(run_mul, MUL, false)
COMPUTE(run_fma, FMA, false)
COMPUTE(run_add_bf16, ADD, true)
COMPUTE(run_mul_bf16, MUL, true)
COMPUTE(run_fma_bf16, FMA, true)

/* A source for half `k`, which may be a single that both halves see. */
static float value_of(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned i,
		      unsigned l, unsigned k, bool bf16)
{
	if (alu->select[i] == SINGLE)
		return wsi_float(wsi_flushed(wsi_word(alu, io, i, l), alu->ftz));
	return wsi_half_value(flushed_half(half_of(alu, io, i, l, k), alu->ftz, bf16), bf16);
}

/* With a single among the sources. */
static void run_with_single(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	enum half_arithmetic what = (enum half_arithmetic)alu->kind;
	bool bf16 = alu->upper;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t word = 0;
		for (unsigned k = 0; k < 2; k++) {
			float v[3] = { 0 };
			for (unsigned i = 0; i < alu->n_sources; i++)
				v[i] = value_of(alu, io, i, l, k, bf16);
			uint32_t half = computed(what, v[0], v[1], v[2], bf16);
			word |= finished(alu, half, bf16) << (16 * k);
		}
		io->result[0][l] = word;
	}
}

/* HADD2.F32: one half of each source, or a single; a single as the result. */
WSI_LANES static void run_add_single(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0];
	WSI_FOR_LANES(l)
	{
		float sum = value_of(alu, io, 0, l, 0, false) + value_of(alu, io, 1, l, 0, false);
		to[l] = wsi_choose(wsi_mask(sum != sum), WSI_NAN32, wsi_bits(sum));
	}
}

/* ---- preparing ---- */

/* Two numbers, the upper half first, are one source. */
static void join_numbers(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	for (unsigned i = 0; i + 1 < alu->n_sources; i++) {
		if (!b->is_float[i] || !b->is_float[i + 1])
			continue;
		alu->source[i].value = alu->source[i].value << 16 | alu->source[i + 1].value;
		for (unsigned k = i + 1; k + 1 < alu->n_sources; k++) {
			alu->source[k] = alu->source[k + 1];
			b->negated[k] = b->negated[k + 1];
			b->absolute[k] = b->absolute[k + 1];
			b->is_float[k] = b->is_float[k + 1];
			memcpy(b->suffix[k], b->suffix[k + 1], sizeof b->suffix[k]);
		}
		alu->n_sources--;
	}
}

static bool take_halves(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	join_numbers(b);
	for (unsigned i = 0; i < alu->n_sources; i++) {
		enum ws_modifier suffix = (enum ws_modifier)b->suffix[i][0];
		if (suffix == WS_MOD_NONE)
			alu->select[i] = LOW_HIGH;
		else if (suffix == WS_MOD_H0_H0)
			alu->select[i] = LOW_LOW;
		else if (suffix == WS_MOD_H1_H1)
			alu->select[i] = HIGH_HIGH;
		else if (suffix == WS_MOD_H0_NH1)
			alu->select[i] = LOW_MINUS_HIGH;
		else if (suffix == WS_MOD_F32)
			alu->select[i] = SINGLE;
		else
			return false;
		uint32_t signs = alu->select[i] == SINGLE ? WSI_SIGN32 : WSI_SIGNS16;
		alu->keep[i] = b->absolute[i] ? ~signs : UINT32_MAX;
		alu->flip[i] = b->negated[i] ? signs : 0;
	}
	alu->ftz = wsi_alu_have(b, WS_MOD_FTZ);
	alu->sat = wsi_alu_have(b, WS_MOD_SAT);
	alu->relu = wsi_alu_have(b, WS_MOD_RELU);
	return !wsi_alu_have(b, WS_MOD_FMZ) && !wsi_alu_have(b, WS_MOD_OOB);
}

static bool takes_single(const struct wsi_alu *alu)
{
	for (unsigned i = 0; i < alu->n_sources; i++)
		if (alu->select[i] == SINGLE)
			return true;
	return false;
}

bool wsi_alu_prepare_half(struct wsi_alu_build *b)
{
	static wsi_alu_function *const functions[][2] = {
		[ADD] = { run_add, run_add_bf16 },
		[MUL] = { run_mul, run_mul_bf16 },
		[FMA] = { run_fma, run_fma_bf16 },
	};
	enum half_arithmetic what = b->op == WS_OP_HADD2 ? ADD : b->op == WS_OP_HMUL2 ? MUL : FMA;
	if (!take_halves(b) || !wsi_alu_shape(b, what == FMA ? 3 : 2, 0))
		return false;
	b->alu->upper = wsi_alu_have(b, WS_MOD_BF16_V2);
	b->alu->kind = (uint8_t)what;
	b->alu->run = takes_single(b->alu) ? run_with_single : functions[what][b->alu->upper];
	if (!wsi_alu_have(b, WS_MOD_F32))
		return true;
	b->alu->run = run_add_single;
	return what == ADD && !b->alu->ftz && !b->alu->sat;
}

/* ---- minima and maxima ---- */

/* Of the halves as the registers have them. */
static uint32_t sign_of_product(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned l,
				unsigned k)
{
	struct pick a = pick_of(alu, 0, k), b = pick_of(alu, 1, k);
	return ((io->source[0][l] >> a.shift) ^ (io->source[1][l] >> b.shift)) & 0x8000;
}

/* -0 is less than +0; a NaN loses, unless .NAN. */
static uint32_t lesser(const struct wsi_alu *alu, uint32_t a, uint32_t b, bool min)
{
	uint32_t infinity = alu->kind ? 0x7f80 : 0x7c00;
	uint32_t x = a & 0x8000 ? ~a & 0xffff : a | 0x8000;
	uint32_t y = b & 0x8000 ? ~b & 0xffff : b | 0x8000;
	bool a_nan = (a & 0x7fff) > infinity, b_nan = (b & 0x7fff) > infinity;
	if ((a_nan && b_nan) || (alu->upper && (a_nan || b_nan)))
		return 0x7fff;
	return a_nan ? b : b_nan ? a : (x < y) == min ? a : b;
}

static void run_minmax(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t min = wsi_predicate(alu, io, 0);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t word = 0;
		for (unsigned k = 0; k < 2; k++) {
			uint32_t half =
				flushed_half(half_of(alu, io, 0, l, k), alu->ftz, alu->kind);
			for (unsigned i = 1; i < alu->n_sources; i++) {
				uint32_t other = half_of(alu, io, i, l, k);
				other = flushed_half(other, alu->ftz, alu->kind);
				half = lesser(alu, half, other, min >> l & 1);
			}
			if (alu->wrap && (half & 0x7fff) != 0x7fff)
				half = (half & 0x7fff) | sign_of_product(alu, io, l, k);
			word |= half << (16 * k);
		}
		io->result[0][l] = word;
	}
}

/* HMNMX2, and VHMNMX of three sources. */
bool wsi_alu_prepare_half_minmax(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	bool three = b->op == WS_OP_VHMNMX;
	alu->upper = wsi_alu_have(b, WS_MOD_NAN);
	alu->kind = wsi_alu_have(b, WS_MOD_BF16_V2);
	alu->wrap = wsi_alu_have(b, WS_MOD_XORSIGN);
	alu->run = run_minmax;
	return take_halves(b) && !takes_single(alu) && wsi_alu_shape(b, three ? 3 : 2, 1) &&
	       !wsi_alu_have(b, WS_MOD_IS_A) && !wsi_alu_have(b, WS_MOD_F32) &&
	       !(three && alu->wrap);
}

/* ---- comparisons ---- */

static void half_compare(const struct wsi_alu *alu, const struct wsi_alu_io *io,
			 uint32_t ret_holds[2])
{
	for (unsigned k = 0; k < 2; k++) {
		ret_holds[k] = 0;
		for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
			bool bf16 = alu->kind;
			float a = wsi_half_value(
				flushed_half(half_of(alu, io, 0, l, k), alu->ftz, bf16), bf16);
			float b = wsi_half_value(
				flushed_half(half_of(alu, io, 1, l, k), alu->ftz, bf16), bf16);
			unsigned what = a < b ? 1 : a == b ? 2 : a > b ? 4 : 8;
			ret_holds[k] |= (uint32_t)((alu->compare & what) != 0) << l;
		}
	}
}

/* All ones where it holds; with .BF the number 1. */
static void run_set(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t holds[2], with = wsi_predicate(alu, io, 0);
	half_compare(alu, io, holds);
	for (unsigned k = 0; k < 2; k++)
		holds[k] = wsi_combine(alu->combine, holds[k], with);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++)
		io->result[0][l] = (holds[0] >> l & 1 ? alu->number : 0) |
				   (holds[1] >> l & 1 ? alu->number << 16 : 0);
}

/* A predicate for each half; with .H_AND whether both hold, and whether not. */
static void run_setp(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t holds[2], with = wsi_predicate(alu, io, 0);
	half_compare(alu, io, holds);
	if (alu->upper) {
		wsi_put_compared(alu, io, holds[0] & holds[1], with);
		return;
	}
	for (unsigned k = 0; k < 2; k++)
		io->predicate_result[k] = wsi_combine(alu->combine, holds[k], with);
}

bool wsi_alu_prepare_half_compare(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	alu->kind = wsi_alu_have(b, WS_MOD_BF16_V2);
	alu->number = !wsi_alu_have(b, WS_MOD_BF) ? 0xffff : alu->kind ? 0x3f80 : 0x3c00;
	alu->upper = wsi_alu_have(b, WS_MOD_H_AND);
	alu->run = b->op == WS_OP_HSET2 ? run_set : run_setp;
	return take_halves(b) && !takes_single(alu) && wsi_alu_shape(b, 2, 1) &&
	       wsi_alu_take_float_comparison(b);
}
