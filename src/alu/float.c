/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, products, comparisons and choices of single and double precision. */
#include "alu/bits.h"
#include "alu/soft.h"

WSI_INLINE bool is_nan(uint32_t bits)
{
	return (bits & ~WSI_SIGN32) > WSI_EXPONENT32;
}

/* What is not in (0, 1] becomes 0 or 1. */
WSI_INLINE uint32_t saturated(uint32_t bits)
{
	uint32_t low = bits > WSI_EXPONENT32 ? 0 : bits; /* a NaN or negative */
	return low > WSI_ONE32 ? WSI_ONE32 : low;
}

WSI_INLINE float source(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned i,
			unsigned l, bool ftz)
{
	return wsi_float(wsi_flushed(wsi_word(alu, io, i, l), ftz));
}

WSI_INLINE uint32_t result(float value, bool ftz, bool sat)
{
	uint32_t bits = value != value ? WSI_NAN32 : wsi_flushed(wsi_bits(value), ftz);
	return sat ? saturated(bits) : bits;
}

/* ---- FADD, FMUL, FFMA to the nearest, in the host's arithmetic ---- */

enum float_arithmetic { ADD, MUL, FMA };

WSI_INLINE void compute(const struct wsi_alu *alu, struct wsi_alu_io *io,
			enum float_arithmetic what, bool ftz, bool sat)
{
	uint32_t *to = io->result[0];
	WSI_FOR_LANES(l)
	{
		float a = source(alu, io, 0, l, ftz), b = source(alu, io, 1, l, ftz), value;
		if (what == ADD)
			value = a + b;
		else if (what == MUL)
			value = a * b;
		else
			value = __builtin_fmaf(a, b, source(alu, io, 2, l, ftz));
		to[l] = result(value, ftz, sat);
	}
}

#define COMPUTE(name, what)                                                                  \
	WSI_LANES static void name(const struct wsi_alu *alu, struct wsi_alu_io *io)         \
	{                                                                                    \
		compute(alu, io, what, false, false);                                        \
	}                                                                                    \
	WSI_LANES static void name##_flush(const struct wsi_alu *alu, struct wsi_alu_io *io) \
	{                                                                                    \
		compute(alu, io, what, true, false);                                         \
	}                                                                                    \
	WSI_LANES static void name##_other(const struct wsi_alu *alu, struct wsi_alu_io *io) \
	{                                                                                    \
		compute(alu, io, what, alu->ftz, alu->sat);                                  \
	}

COMPUTE(run_fadd, ADD)
COMPUTE(run_fmul, MUL)
COMPUTE(run_ffma, FMA)

/* ---- in any rounding, scaled, with .FMZ, of halves and singles ---- */

enum { SINGLE, LOW_HALF, HIGH_HALF };

static struct wsi_soft unpacked(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned i,
				unsigned l, bool flush)
{
	uint32_t word = wsi_word(alu, io, i, l);
	if (alu->select[i] == SINGLE)
		return wsi_soft_unpack(&wsi_f32, word, flush);
	return wsi_soft_unpack(alu->from, word >> (alu->select[i] == HIGH_HALF ? 16 : 0) & 0xffff,
			       flush);
}

static void run_float_soft(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	enum wsi_rounding rounding = (enum wsi_rounding)alu->rounding;
	enum float_arithmetic what = (enum float_arithmetic)alu->kind;
	bool flush = alu->ftz || alu->fmz;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		struct wsi_soft v[3];
		for (unsigned i = 0; i < alu->n_sources; i++)
			v[i] = unpacked(alu, io, i, l, flush);
		if (what != ADD) {
			bool zero = v[0].kind == WSI_SOFT_ZERO || v[1].kind == WSI_SOFT_ZERO;
			v[0] = wsi_soft_mul(&v[0], &v[1]);
			if (alu->fmz && zero)
				v[0] = (struct wsi_soft){ .kind = WSI_SOFT_ZERO };
			v[0].exponent += (int)alu->number;
		}
		if (what != MUL)
			v[0] = wsi_soft_add(&v[0], &v[what == ADD ? 1 : 2], rounding);
		uint32_t bits = (uint32_t)wsi_soft_pack(&wsi_f32, &v[0], rounding, flush, false);
		io->result[0][l] = alu->sat ? saturated(bits) : bits;
	}
}

/* `|` and `-` of a word that has the sign on top. */
static void take_float_signs(struct wsi_alu_build *b)
{
	for (unsigned i = 0; i < b->alu->n_sources; i++) {
		b->alu->keep[i] = b->absolute[i] ? ~WSI_SIGN32 : UINT32_MAX;
		b->alu->flip[i] = b->negated[i] ? WSI_SIGN32 : 0;
	}
}

static bool has_suffix(const struct wsi_alu_build *b)
{
	for (unsigned i = 0; i < b->alu->n_sources; i++)
		if (b->suffix[i][0])
			return true;
	return false;
}

static void take_float_modifiers(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	alu->rounding = wsi_alu_rounding(b);
	alu->ftz = wsi_alu_have(b, WS_MOD_FTZ);
	alu->fmz = wsi_alu_have(b, WS_MOD_FMZ);
	alu->sat = wsi_alu_have(b, WS_MOD_SAT);
	take_float_signs(b);
}

static int scale_of(const struct wsi_alu_build *b)
{
	static const struct {
		enum ws_modifier modifier;
		int scale;
	} scales[] = { { WS_MOD_D8, -3 }, { WS_MOD_D4, -2 }, { WS_MOD_D2, -1 },
		       { WS_MOD_M2, 1 },  { WS_MOD_M4, 2 },  { WS_MOD_M8, 3 } };
	for (size_t i = 0; i < WSI_COUNT(scales); i++)
		if (wsi_alu_have(b, scales[i].modifier))
			return scales[i].scale;
	return 0;
}

bool wsi_alu_prepare_float(struct wsi_alu_build *b)
{
	static wsi_alu_function *const functions[][3] = {
		[ADD] = { run_fadd, run_fadd_flush, run_fadd_other },
		[MUL] = { run_fmul, run_fmul_flush, run_fmul_other },
		[FMA] = { run_ffma, run_ffma_flush, run_ffma_other },
	};
	struct wsi_alu *alu = b->alu;
	enum float_arithmetic what = b->op == WS_OP_FADD ? ADD : b->op == WS_OP_FMUL ? MUL : FMA;
	if (!wsi_alu_shape(b, what == FMA ? 3 : 2, 0) || has_suffix(b))
		return false;
	take_float_modifiers(b);
	alu->kind = (uint8_t)what;
	alu->number = (uint32_t)scale_of(b);
	if (alu->rounding != WSI_RN || alu->fmz || alu->number)
		alu->run = run_float_soft;
	else
		alu->run = functions[what][alu->sat ? 2 : alu->ftz];
	return true;
}

/* FHADD, FHFMA: the first source, or the first two, are halves; the result is a single. */
bool wsi_alu_prepare_mixed(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	enum float_arithmetic what = b->op == WS_OP_FHADD ? ADD : FMA;
	unsigned n_halves = what == ADD ? 1 : 2;
	if (!wsi_alu_shape(b, n_halves + 1, 0))
		return false;
	take_float_modifiers(b);
	for (unsigned i = 0; i < alu->n_sources; i++) {
		uint16_t suffix = b->suffix[i][0];
		if (suffix && (suffix != WS_MOD_H1 || i >= n_halves))
			return false;
		if (i >= n_halves)
			continue;
		alu->select[i] = suffix ? HIGH_HALF : LOW_HALF;
		alu->keep[i] = b->absolute[i] ? ~WSI_SIGNS16 : UINT32_MAX;
		alu->flip[i] = b->negated[i] ? WSI_SIGNS16 : 0;
	}
	alu->from = wsi_alu_have(b, WS_MOD_BF16) ? &wsi_bf16 : &wsi_f16;
	alu->kind = (uint8_t)what;
	alu->run = run_float_soft;
	return true;
}

/*
 * FSWZADD: each lane of a quad adds or subtracts as two letters of the table say, the first lane's
 * first: P and N are the signs of the two sources, ZP leaves the second.
 */
static void run_quad_add(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	enum { BOTH, MINUS_SECOND, MINUS_FIRST, SECOND };
	enum wsi_rounding rounding = (enum wsi_rounding)alu->rounding;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		unsigned how = alu->number >> (3 - l % 4) * 2 & 3;
		struct wsi_soft a = unpacked(alu, io, 0, l, alu->ftz);
		struct wsi_soft b = unpacked(alu, io, 1, l, alu->ftz);
		a.negative ^= how == MINUS_FIRST;
		b.negative ^= how == MINUS_SECOND;
		if (how != SECOND)
			b = wsi_soft_add(&a, &b, rounding);
		io->result[0][l] = (uint32_t)wsi_soft_pack(&wsi_f32, &b, rounding, alu->ftz, false);
	}
}

bool wsi_alu_prepare_quad_add(struct wsi_alu_build *b)
{
	b->alu->number = (uint32_t)ws_insn_bits(b->insn, 32, 8); /* the table, a name in the text */
	b->alu->run = run_quad_add;
	if (!wsi_alu_shape(b, 2, 0) || wsi_alu_have(b, WS_MOD_DXY))
		return false;
	take_float_modifiers(b);
	return true;
}

/* ---- pairs of floats: FADD2, FMUL2, FFMA2 ---- */

enum pair_select { STRAIGHT, SWAPPED, BOTH };

/* The half of a source that goes into half `k` of the result. */
static uint32_t half_of_pair(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned i,
			     unsigned l, unsigned k)
{
	unsigned from = alu->select[i] == BOTH ? 0 : alu->select[i] == SWAPPED ? !k : k;
	return wsi_word(alu, io, i, from * WSI_ALU_LANES + l);
}

static void run_float_pairs(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	enum wsi_rounding rounding = (enum wsi_rounding)alu->rounding;
	enum float_arithmetic what = (enum float_arithmetic)alu->kind;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t to[2];
		for (unsigned k = 0; k < 2; k++) {
			struct wsi_soft v[3];
			for (unsigned i = 0; i < alu->n_sources; i++)
				v[i] = wsi_soft_unpack(&wsi_f32, half_of_pair(alu, io, i, l, k),
						       alu->ftz);
			if (what != ADD)
				v[0] = wsi_soft_mul(&v[0], &v[1]);
			if (what != MUL)
				v[0] = wsi_soft_add(&v[0], &v[what == ADD ? 1 : 2], rounding);
			to[k] = (uint32_t)wsi_soft_pack(&wsi_f32, &v[0], rounding, alu->ftz, false);
		}
		wsi_put_wide(io, l, to[0] | (uint64_t)to[1] << 32);
	}
}

/* `.F32` is one float for both halves, as is a number; .NP is not known. */
bool wsi_alu_prepare_float_pairs(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	enum float_arithmetic what = b->op == WS_OP_FADD2 ? ADD : b->op == WS_OP_FMUL2 ? MUL : FMA;
	if (!wsi_alu_shape(b, what == FMA ? 3 : 2, 0) || alu->result[0].words != 2)
		return false;
	take_float_modifiers(b);
	for (unsigned i = 0; i < alu->n_sources; i++) {
		const uint16_t *suffix = b->suffix[i];
		bool swapped = suffix[1] == WS_MOD_LO_HI;
		if (suffix[2] || suffix[1] == WS_MOD_NP)
			return false;
		if (alu->source[i].place == WSI_ALU_NUMBER || suffix[0] == WS_MOD_F32) {
			alu->select[i] = BOTH;
		} else {
			alu->select[i] = swapped ? SWAPPED : STRAIGHT;
			if (!wsi_alu_widen(b, i))
				return false;
		}
	}
	alu->kind = (uint8_t)what;
	alu->run = run_float_pairs;
	return !alu->fmz;
}

/* ---- minima, maxima, choices ---- */

/* -0 is less than +0; a NaN loses unless .NAN; two NaNs are one. `min` and `keep_nan` are masks. */
WSI_INLINE uint32_t lesser(uint32_t a, uint32_t b, uint32_t min, uint32_t keep_nan)
{
	uint32_t x = a ^ (wsi_mask(a >> 31) | WSI_SIGN32),
		 y = b ^ (wsi_mask(b >> 31) | WSI_SIGN32); /* in order */
	uint32_t a_nan = wsi_mask(is_nan(a)), b_nan = wsi_mask(is_nan(b));
	uint32_t chosen = wsi_choose(wsi_mask(x < y) ^ ~min, a, b);
	chosen = wsi_choose(a_nan, b, wsi_choose(b_nan, a, chosen));
	return wsi_choose((a_nan & b_nan) | (keep_nan & (a_nan | b_nan)), WSI_NAN32, chosen);
}

WSI_LANES static void run_fminmax(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0], min = wsi_predicate(alu, io, 0);
	uint32_t keep_nan = wsi_mask(alu->upper);
	WSI_FOR_LANES(l)
	to[l] = lesser(wsi_flushed(wsi_word(alu, io, 0, l), alu->ftz),
		       wsi_flushed(wsi_word(alu, io, 1, l), alu->ftz), -(min >> l & 1), keep_nan);
}

/* The sign is that of a product of the sources as the registers have them. */
static void run_fminmax_xorsign(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t min = wsi_predicate(alu, io, 0);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t sign = (io->source[0][l] ^ io->source[1][l]) & WSI_SIGN32;
		uint32_t bits = lesser(wsi_flushed(wsi_word(alu, io, 0, l), alu->ftz),
				       wsi_flushed(wsi_word(alu, io, 1, l), alu->ftz),
				       wsi_mask(min >> l & 1), wsi_mask(alu->upper));
		io->result[0][l] = is_nan(bits) ? bits : (bits & ~WSI_SIGN32) | sign;
	}
}

static void run_fminmax3(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t min = wsi_predicate(alu, io, 0);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t v[3];
		for (unsigned i = 0; i < 3; i++)
			v[i] = wsi_flushed(wsi_word(alu, io, i, l), alu->ftz);
		uint32_t less = wsi_mask(min >> l & 1), keep_nan = wsi_mask(alu->upper);
		io->result[0][l] = lesser(lesser(v[0], v[1], less, keep_nan), v[2], less, keep_nan);
	}
}

bool wsi_alu_prepare_fminmax(struct wsi_alu_build *b)
{
	bool three = b->op == WS_OP_FMNMX3;
	if (!wsi_alu_shape(b, three ? 3 : 2, 1) || wsi_alu_have(b, WS_MOD_IS_A))
		return false;
	take_float_modifiers(b);
	b->alu->upper = wsi_alu_have(b, WS_MOD_NAN);
	b->alu->run = three                             ? run_fminmax3
		      : wsi_alu_have(b, WS_MOD_XORSIGN) ? run_fminmax_xorsign
							: run_fminmax;
	return true;
}

WSI_LANES static void run_fsel(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t *to = io->result[0], first = wsi_predicate(alu, io, 0);
	WSI_FOR_LANES(l)
	{
		uint32_t a = wsi_word(alu, io, 0, l), b = wsi_word(alu, io, 1, l);
		to[l] = wsi_flushed(first >> l & 1 ? a : b, alu->ftz);
	}
}

bool wsi_alu_prepare_fsel(struct wsi_alu_build *b)
{
	take_float_modifiers(b);
	b->alu->run = run_fsel;
	return wsi_alu_shape(b, 2, 1);
}

/* ---- comparisons ---- */

bool wsi_alu_take_float_comparison(struct wsi_alu_build *b)
{
	static const enum ws_modifier names[] = {
		WS_MOD_F,   WS_MOD_LT,  WS_MOD_EQ,  WS_MOD_LE,  WS_MOD_GT,  WS_MOD_NE,
		WS_MOD_GE,  WS_MOD_NUM, WS_MOD_NAN, WS_MOD_LTU, WS_MOD_EQU, WS_MOD_LEU,
		WS_MOD_GTU, WS_MOD_NEU, WS_MOD_GEU, WS_MOD_T,
	};
	bool found = false;
	for (uint8_t i = 0; i < WSI_COUNT(names); i++) {
		if (wsi_alu_have(b, names[i])) {
			b->alu->compare = i;
			found = true;
		}
	}
	b->alu->combine = wsi_alu_have(b, WS_MOD_AND)  ? WSI_AND
			  : wsi_alu_have(b, WS_MOD_OR) ? WSI_OR
						       : WSI_XOR;
	return found;
}

/* By lane 1 where the comparison holds. What is not less, equal or greater has a NaN. */
WSI_LANES static void compare_floats(const struct wsi_alu *alu, struct wsi_alu_io *io,
				     uint32_t holds[WSI_ALU_LANES])
{
	uint32_t less = alu->compare & 1, equal = alu->compare >> 1 & 1;
	uint32_t greater = alu->compare >> 2 & 1, unordered = alu->compare >> 3 & 1;
	WSI_FOR_LANES(l)
	{
		float a = source(alu, io, 0, l, alu->ftz), b = source(alu, io, 1, l, alu->ftz);
		uint32_t lt = wsi_mask(a < b), eq = wsi_mask(a == b), gt = wsi_mask(a > b);
		holds[l] =
			(lt & less) | (eq & equal) | (gt & greater) | (~(lt | eq | gt) & unordered);
	}
}

static void run_fsetp(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t holds[WSI_ALU_LANES];
	compare_floats(alu, io, holds);
	wsi_put_compared(alu, io, wsi_gather(holds), wsi_predicate(alu, io, 0));
}

/* The comparison as a float, 1 or 0. */
static void run_fset(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t holds[WSI_ALU_LANES];
	compare_floats(alu, io, holds);
	uint32_t bits = wsi_combine(alu->combine, wsi_gather(holds), wsi_predicate(alu, io, 0));
	for (unsigned l = 0; l < WSI_ALU_LANES; l++)
		io->result[0][l] = bits >> l & 1 ? WSI_ONE32 : 0;
}

bool wsi_alu_prepare_fsetp(struct wsi_alu_build *b)
{
	take_float_modifiers(b);
	b->alu->run = b->op == WS_OP_FSETP ? run_fsetp : run_fset;
	return wsi_alu_shape(b, 2, 1) && wsi_alu_take_float_comparison(b);
}

/* ---- double precision ---- */

#define SIGN64 (UINT64_C(1) << 63)

/* The sign of a pair is in its second word. */
WSI_INLINE uint64_t wide_source(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned i,
				unsigned l)
{
	return io->source[i][l] | (uint64_t)wsi_word(alu, io, i, WSI_ALU_LANES + l) << 32;
}

static void run_double_soft(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	enum wsi_rounding rounding = (enum wsi_rounding)alu->rounding;
	enum float_arithmetic what = (enum float_arithmetic)alu->kind;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		struct wsi_soft v[3];
		for (unsigned i = 0; i < alu->n_sources; i++)
			v[i] = wsi_soft_unpack(&wsi_f64, wide_source(alu, io, i, l), false);
		if (what != ADD)
			v[0] = wsi_soft_mul(&v[0], &v[1]);
		if (what != MUL)
			v[0] = wsi_soft_add(&v[0], &v[what == ADD ? 1 : 2], rounding);
		wsi_put_wide(io, l, wsi_soft_pack(&wsi_f64, &v[0], rounding, false, false));
	}
}

WSI_INLINE void compute_double(const struct wsi_alu *alu, struct wsi_alu_io *io,
			       enum float_arithmetic what)
{
	WSI_FOR_LANES(l)
	{
		double a = wsi_double(wide_source(alu, io, 0, l));
		double b = wsi_double(wide_source(alu, io, 1, l)), value;
		if (what == ADD)
			value = a + b;
		else if (what == MUL)
			value = a * b;
		else
			value = __builtin_fma(a, b, wsi_double(wide_source(alu, io, 2, l)));
		wsi_put_wide(io, l, value != value ? WSI_NAN64 : wsi_double_bits(value));
	}
}

WSI_LANES static void run_dadd(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	compute_double(alu, io, ADD);
}

WSI_LANES static void run_dmul(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	compute_double(alu, io, MUL);
}

WSI_LANES static void run_dfma(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	compute_double(alu, io, FMA);
}

static bool widen_all(struct wsi_alu_build *b)
{
	for (unsigned i = 0; i < b->alu->n_sources; i++)
		if (!wsi_alu_widen(b, i))
			return false;
	return true;
}

bool wsi_alu_prepare_double(struct wsi_alu_build *b)
{
	static wsi_alu_function *const functions[] = {
		[ADD] = run_dadd, [MUL] = run_dmul, [FMA] = run_dfma
	};
	struct wsi_alu *alu = b->alu;
	enum float_arithmetic what = b->op == WS_OP_DADD ? ADD : b->op == WS_OP_DMUL ? MUL : FMA;
	if (!wsi_alu_shape(b, what == FMA ? 3 : 2, 0) || !widen_all(b) || alu->result[0].words != 2)
		return false;
	take_float_modifiers(b);
	alu->kind = (uint8_t)what;
	alu->run = alu->rounding == WSI_RN ? functions[what] : run_double_soft;
	return true;
}

static void run_dsetp(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t holds = 0;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		double a = wsi_double(wide_source(alu, io, 0, l));
		double b = wsi_double(wide_source(alu, io, 1, l));
		uint32_t what = a < b ? 1 : a == b ? 2 : a > b ? 4 : 8;
		holds |= (uint32_t)((alu->compare & what) != 0) << l;
	}
	wsi_put_compared(alu, io, holds, wsi_predicate(alu, io, 0));
}

/*
 * .MIN and .MAX: whether the first source is the result, and whether both are NaNs. [measured: by
 * the code that nvcc makes of fmin() around them]
 */
static void run_dsetp_minmax(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t first = 0, both = 0, with = wsi_predicate(alu, io, 0);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint64_t x = wide_source(alu, io, 0, l), y = wide_source(alu, io, 1, l);
		double a = wsi_double(x), b = wsi_double(y);
		bool less = a < b || (a == b && x & SIGN64 && !(y & SIGN64));
		bool more = a > b || (a == b && !(x & SIGN64) && y & SIGN64);
		bool chosen = a == a && (b != b || (alu->upper ? more : less));
		first |= (uint32_t)chosen << l;
		both |= (uint32_t)(a != a && b != b) << l;
	}
	io->predicate_result[0] = wsi_combine(alu->combine, first, with);
	io->predicate_result[1] = wsi_combine(alu->combine, both, with);
}

bool wsi_alu_prepare_dsetp(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	if (!wsi_alu_shape(b, 2, 1) || !widen_all(b))
		return false;
	take_float_modifiers(b);
	bool compared = wsi_alu_take_float_comparison(b);
	alu->upper = wsi_alu_have(b, WS_MOD_MAX);
	alu->run = compared ? run_dsetp : run_dsetp_minmax;
	return compared || alu->combine == WSI_AND;
}
