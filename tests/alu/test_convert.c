/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Halves, conversions and approximations. References: exact integers for the halves, which src/alu
 * computes in double precision; a search among all numbers of a small format and the host's own
 * conversions for what src/alu computes in integers; libm for MUFU.
 * usage: test_alu_convert [ROUNDS]
 */
#include "alu/floats.h"

#include <fenv.h>
#include <math.h>

static unsigned rounds = 300;

/* ---- halves ---- */

static const struct wsi_format *format = &wsi_f16;

static uint32_t hi(uint32_t word)
{
	return word >> 16;
}

static uint32_t lo(uint32_t word)
{
	return word & 0xffff;
}

static uint32_t minus(uint32_t half)
{
	return half ^ 0x8000;
}

static uint32_t both(uint64_t low, uint64_t high)
{
	return (uint32_t)(low | high << 16);
}

static uint64_t h(enum what what, uint32_t a, uint32_t b, uint32_t c)
{
	return soft(format, what, a, b, c);
}

static uint64_t bf(enum what what, uint32_t a, uint32_t b, uint32_t c)
{
	return soft(&wsi_bf16, what, a, b, c);
}

static uint32_t flush(uint64_t half)
{
	return (uint32_t)(half & 0x7c00 ? half : half & 0x8000);
}

static uint32_t sat(uint64_t half)
{
	return half & 0x8000 || half > 0x7c00 ? 0 : half > 0x3c00 ? 0x3c00 : (uint32_t)half;
}

static uint32_t relu(uint64_t half)
{
	return half & 0x8000 ? 0 : (uint32_t)half;
}

static double half_value(uint32_t half)
{
	struct wsi_soft v = wsi_soft_unpack(&wsi_f16, half, false);
	return f64(wsi_soft_pack(&wsi_f64, &v, WSI_RN, false, false));
}

static uint32_t lesser_half(uint32_t a, uint32_t b, bool min, bool keep_nan)
{
	double x = half_value(a), y = half_value(b);
	if (isnan(x) || isnan(y))
		return keep_nan || (isnan(x) && isnan(y)) ? 0x7fff : isnan(x) ? b : a;
	if (x == 0 && y == 0)
		return min ? a | b : a & b;
	return (x < y) == min ? a : b;
}

TO(hadd, both(h(SUM, lo(l->a), lo(l->b), 0), h(SUM, hi(l->a), hi(l->b), 0)))
TO(hadd_select, both(h(SUM, minus(lo(l->a)), hi(l->b) & 0x7fff, 0),
		     h(SUM, minus(lo(l->a)), hi(l->b) & 0x7fff, 0)))
TO(hadd_number, both(h(SUM, lo(l->a), 0x4000, 0), h(SUM, hi(l->a), 0x3c00, 0)))
TO(hadd_of_constant,
   both(h(SUM, lo(l->a), hi(l->constant), 0), h(SUM, hi(l->a), hi(l->constant), 0)))
TO(hadd_ftz, both(flush(h(SUM, flush(lo(l->a)), flush(lo(l->b)), 0)),
		  flush(h(SUM, flush(hi(l->a)), flush(hi(l->b)), 0))))
TO(hmul, both(h(PRODUCT, lo(l->a), lo(l->b), 0), h(PRODUCT, hi(l->a), hi(l->b), 0)))
TO(hmul_bf, both(bf(PRODUCT, lo(l->a), lo(l->b), 0), bf(PRODUCT, hi(l->a), hi(l->b), 0)))
TO(hfma, both(h(BOTH, lo(l->a), lo(l->b), lo(l->c)), h(BOTH, hi(l->a), hi(l->b), hi(l->c))))
TO(hfma_nh1,
   both(h(BOTH, hi(l->a), lo(l->b), lo(l->c)), h(BOTH, hi(l->a), minus(hi(l->b)), hi(l->c))))
TO(hfma_sat,
   both(sat(h(BOTH, lo(l->a), lo(l->b), lo(l->c))), sat(h(BOTH, hi(l->a), hi(l->b), hi(l->c)))))
TO(hfma_relu,
   both(relu(h(BOTH, lo(l->a), lo(l->b), lo(l->c))), relu(h(BOTH, hi(l->a), hi(l->b), hi(l->c)))))
TO(hfma_bf, both(bf(BOTH, lo(l->a), lo(l->b), minus(lo(l->c))),
		 bf(BOTH, hi(l->a), hi(l->b), minus(hi(l->c)))))
TO(hfma_constant, 0x3c004000)
TO(hadd_single, to32((float)half_value(hi(l->a))))
TO(hadd_single2, to32((float)half_value(lo(l->a)) + (float)half_value(hi(l->b))))

/* a * b + c of halves and singles, rounded once. */
static uint32_t with_singles(const struct wsi_format *fa, uint32_t a, const struct wsi_format *fb,
			     uint32_t b, const struct wsi_format *fc, uint32_t c)
{
	struct wsi_soft x = wsi_soft_unpack(fa, a, false), y = wsi_soft_unpack(fb, b, false);
	struct wsi_soft z = wsi_soft_unpack(fc, c, false);
	x = wsi_soft_mul(&x, &y);
	x = wsi_soft_add(&x, &z, WSI_RN);
	return (uint32_t)wsi_soft_pack(&wsi_f16, &x, WSI_RN, false, false);
}

#define ONE 0x3c00u

static void hadd_of_single(struct lane *l)
{
	uint32_t half = with_singles(&wsi_f16, ONE, &wsi_f32, l->b, &wsi_f16, 0x8000);
	l->to = both(half, half);
}

static void hfma_of_singles(struct lane *l)
{
	uint32_t half =
		with_singles(&wsi_f32, l->a, &wsi_f16, hi(l->b), &wsi_f32, l->c ^ 0x80000000u);
	l->to = both(half, half);
}

/* -0 as the addend keeps the sign of a product that is zero. */
static void hmul_of_single(struct lane *l)
{
	uint32_t a = l->a & 0x7fffffff;
	l->to = both(with_singles(&wsi_f32, a, &wsi_f16, lo(l->b), &wsi_f16, 0x8000),
		     with_singles(&wsi_f32, a, &wsi_f16, hi(l->b), &wsi_f16, 0x8000));
}

TO(hadd_single_of, to32(f32(l->a) + (float)half_value(minus(hi(l->b)))))
TO(hmin3,
   both(lesser_half(lesser_half(lo(l->a), hi(l->b), l->p0, true), minus(lo(l->c)), l->p0, true),
	lesser_half(lesser_half(hi(l->a), hi(l->b), l->p0, true), minus(hi(l->c)), l->p0, true)))
TO(hmax, both(lesser_half(lo(l->a), lo(l->b), false, false),
	      lesser_half(hi(l->a), hi(l->b), false, false)))
TO(hmin_nan, both(lesser_half(lo(l->a), minus(lo(l->b)), l->p0, true),
		  lesser_half(hi(l->a), minus(hi(l->b)), l->p0, true)))

static uint32_t xorsign(uint32_t a, uint32_t b)
{
	uint32_t half = lesser_half(a & 0x7fff, b & 0x7fff, true, false);
	return half == 0x7fff ? half : half | ((a ^ b) & 0x8000);
}

TO(hmin_xorsign, both(xorsign(lo(l->a), lo(l->b)), xorsign(hi(l->a), hi(l->b))))

static bool less(uint32_t a, uint32_t b)
{
	return half_value(a) < half_value(b);
}

TO(hset_bf, (less(lo(l->a), lo(l->b)) && l->p0 ? 0x3c00 : 0) |
		    (less(hi(l->a), hi(l->b)) && l->p0 ? 0x3c000000 : 0))
TO(hset, (less(lo(l->b), lo(l->a)) || l->p0 ? 0xffff : 0) |
		 (less(hi(l->b), hi(l->a)) || l->p0 ? 0xffff0000 : 0))

static void hsetp(struct lane *l)
{
	l->to_p = less(lo(l->a), lo(l->b)) && l->p0;
	l->to_q = less(hi(l->a), hi(l->b)) && l->p0;
}

static void hsetp_and(struct lane *l)
{
	bool all = !less(lo(l->a), lo(l->b)) && !less(hi(l->a), hi(l->b));
	l->to_p = all && l->p0;
	l->to_q = !all && l->p0;
}

static const struct operation_test halves[] = {
	{ 80, "HADD2 R2, R4, R6", hadd },
	{ 80, "HADD2 R2, -R4.H0_H0, |R6|.H1_H1", hadd_select },
	{ 80, "HADD2 R2, R4, 1, 2", hadd_number },
	{ 80, "HADD2 R2, R4, c[0x0] [0x20].H1_H1", hadd_of_constant },
	{ 80, "HADD2.FTZ R2, R4, R6", hadd_ftz },
	{ 75, "HMUL2 R2, R4, R6", hmul },
	{ 90, "HMUL2.BF16_V2 R2, R4, R6", hmul_bf },
	{ 80, "HFMA2 R2, R4, R6, R8", hfma },
	{ 80, "HFMA2.MMA R2, R4, R6, R8", hfma },
	{ 90, "HFMA2 R2, R4.H1_H1, R6.H0_NH1, R8", hfma_nh1 },
	{ 80, "HFMA2.SAT R2, R4, R6, R8", hfma_sat },
	{ 80, "HFMA2.RELU R2, R4, R6, R8", hfma_relu },
	{ 80, "HFMA2.BF16_V2 R2, R4, R6, -R8", hfma_bf },
	{ 80, "HFMA2.MMA R2, -RZ, RZ, 1, 2", hfma_constant },
	{ 80, "HADD2.F32 R2, -RZ, R4.H1_H1", hadd_single },
	{ 80, "HADD2.F32 R2, R4.H0_H0, R6.H1_H1", hadd_single2 },
	{ 75, "HADD2 R2, -RZ.H0_H0, R6.F32", hadd_of_single },
	{ 75, "HFMA2 R2, R4.F32, R6.H1_H1, -R8.F32", hfma_of_singles },
	{ 75, "HMUL2 R2, |R4|.F32, R6", hmul_of_single },
	{ 75, "HADD2.F32 R2, R4.F32, -R6.H1_H1", hadd_single_of },
	{ 90, "VHMNMX.NAN R2, R4, R6.H1_H1, -R8, P0", hmin3 },
	{ 80, "HMNMX2 R2, R4, R6, !PT", hmax },
	{ 80, "HMNMX2.NAN R2, R4, -R6, P0", hmin_nan },
	{ 90, "HMNMX2.XORSIGN R2, |R4|, |R6|, PT", hmin_xorsign },
	{ 80, "HSET2.BF.LT.AND R2, R4, R6, P0", hset_bf },
	{ 80, "HSET2.GT.OR R2, R4, R6, P0", hset },
	{ 80, "HSETP2.LT.AND P3, P4, R4, R6, P0", hsetp },
	{ 80, "HSETP2.GEU.H_AND.AND P3, P4, R4, R6, P0", hsetp_and },
};

/* ---- to small formats: the neighbours by a search, then the rules ---- */

static double small_value(const struct wsi_format *f, uint32_t magnitude)
{
	uint32_t fraction = magnitude & ((1u << f->fraction_bits) - 1);
	int exponent = (int)(magnitude >> f->fraction_bits),
	    bias = (1 << (f->exponent_bits - 1)) - 1;
	if (exponent)
		return ldexp(1 + ldexp(fraction, -f->fraction_bits), exponent - bias);
	return ldexp(fraction, 1 - bias - f->fraction_bits);
}

static uint32_t searched(const struct wsi_format *f, double x, int mode, bool finite)
{
	uint32_t sign = signbit(x) ? 1u << (f->exponent_bits + f->fraction_bits) : 0;
	uint32_t low = 0, high = (uint32_t)f->largest + 1;
	double size = fabs(x);
	if (isnan(x))
		return (uint32_t)f->nan;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (small_value(f, middle) <= size)
			low = middle;
		else
			high = middle;
	}
	double below = small_value(f, low), above = small_value(f, low + 1);
	bool up = mode == FE_UPWARD ? !sign : mode == FE_DOWNWARD ? sign != 0 : false;
	if (mode == FE_TONEAREST)
		up = size - below > above - size || (size - below == above - size && low & 1);
	uint32_t magnitude = size > below && up ? low + 1 : low;
	if (isinf(x))
		magnitude = (uint32_t)f->largest + 1;
	if (magnitude > f->largest)
		magnitude = (uint32_t)(finite            ? f->largest
				       : f->has_infinity ? f->largest + 1
							 : f->nan);
	return sign | magnitude;
}

TO(f16_f32, searched(&wsi_f16, f32(l->a), FE_TONEAREST, false))
TO(f16_f32_rz, searched(&wsi_f16, f32(l->a), FE_TOWARDZERO, false))
TO(f16_f32_rp, searched(&wsi_f16, f32(l->a), FE_UPWARD, false))
TO(f16_f64, searched(&wsi_f16, f64(l->aw), FE_TONEAREST, false))
TO(bf16_pack, both(searched(&wsi_bf16, f32(l->b), FE_TONEAREST, false),
		   searched(&wsi_bf16, f32(l->a), FE_TONEAREST, false)))
/* A power of two as its exponent, next to a magnitude: a search. */
static uint32_t power_near(float value, bool up, bool finite)
{
	float size = fabsf(value);
	unsigned e = 0;
	if (isnan(value))
		return 0xff;
	while (e < 0xff && ldexpf(1, (int)e - 127) < size)
		e++;
	if (!up && e && (e == 0xff || ldexpf(1, (int)e - 127) > size))
		e--;
	return isinf(value) && !finite ? 0xff : finite && e == 0xff ? 0xfe : e;
}

static uint32_t power_value(uint32_t e)
{
	return e == 0xff ? 0x7fff : to32(ldexpf(1, (int)e - 127)) >> 16;
}

TO(e8_rz,
   power_near(f32(l->a), false, false) << 8 | power_near(f32(l->b), false, false) | l->c << 16)
TO(e8_rp, power_near(f32(l->a), true, true) << 8 | power_near(f32(l->b), true, true))
TO(e8_bf16,
   power_near(f32(l->a & 0xffff0000), true, false) << 8 | power_near(f32(l->a << 16), true, false))
TO(from_e8, both(power_value(l->a & 0xff), power_value(l->a >> 8 & 0xff)))
TO(bf16_merge, both(searched(&wsi_bf16, f32(l->a), FE_TOWARDZERO, false), hi(l->c)))
TO(f16_pack_rz, both(searched(&wsi_f16, f32(l->b), FE_TOWARDZERO, false),
		     searched(&wsi_f16, f32(l->a), FE_TOWARDZERO, false)))

static uint32_t bytes(const struct wsi_format *f, double high, double low, uint32_t above)
{
	return searched(f, low, FE_TONEAREST, true) | searched(f, high, FE_TONEAREST, true) << 8 |
	       above << 16;
}

TO(e4m3, bytes(&wsi_e4m3, f32(l->a), f32(l->b), lo(l->c)))
TO(e5m2, bytes(&wsi_e5m2, f32(l->a), f32(l->b), hi(l->c)))
TO(e2m3, bytes(&wsi_e2m3, f32(l->a), f32(l->b), 0))
TO(e4m3_f16, bytes(&wsi_e4m3, half_value(hi(l->a)), half_value(lo(l->a)), 0))

TO(tf32, (uint64_t)searched(&wsi_tf32, f32(l->a), FE_TONEAREST, false) << 13)
TO(e2m1, searched(&wsi_e2m1, f32(l->b), FE_TONEAREST, true) |
		 searched(&wsi_e2m1, f32(l->a), FE_TONEAREST, true) << 4)

static uint32_t from_byte(const struct wsi_format *f, uint32_t byte)
{
	uint32_t size = 1u << (f->exponent_bits + f->fraction_bits), magnitude = byte & (size - 1);
	double value = small_value(f, magnitude);
	if (f->has_nan && magnitude > f->largest)
		value = f->has_infinity && magnitude == f->largest + 1 ? INFINITY : NAN;
	return searched(&wsi_f16, byte & size ? -value : value, FE_TONEAREST, false);
}

TO(from_e4m3, both(from_byte(&wsi_e4m3, l->a & 0xff), from_byte(&wsi_e4m3, l->a >> 8 & 0xff)))
TO(from_e5m2, both(from_byte(&wsi_e5m2, l->a >> 16 & 0xff), from_byte(&wsi_e5m2, l->a >> 24)))
TO(from_e2m1, both(from_byte(&wsi_e2m1, l->a & 15), from_byte(&wsi_e2m1, l->a >> 4 & 15)))

/* ---- the host's conversions ---- */

static float narrow(double x, int mode)
{
	volatile double from = x;
	volatile float to;
	fesetround(mode);
	to = (float)from;
	fesetround(FE_TONEAREST);
	return to;
}

static double rounded(double x, int mode)
{
	volatile double from = x, to;
	fesetround(mode);
	to = nearbyint(from);
	fesetround(FE_TONEAREST);
	return to;
}

static uint64_t clamped(double x, double low, double high, uint64_t of_nan)
{
	if (isnan(x))
		return of_nan;
	if (x <= low)
		return low < 0 ? (uint64_t)(int64_t)low : 0;
	if (x >= high) /* one beyond the largest */
		return high == 0x1p64   ? UINT64_MAX
		       : high == 0x1p63 ? INT64_MAX
					: (uint64_t)high - 1;
	return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static uint32_t flush32(uint32_t bits)
{
	return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

TO(f32_f64, to32(narrow(f64(l->aw), FE_TONEAREST)))
TO(f32_f64_rz, to32(narrow(-f64(l->aw), FE_TOWARDZERO)))
TO(f64_f32, to64(f32(l->a)))
TO(f2i, clamped(rounded(f32(l->a), FE_TONEAREST), -0x1p31, 0x1p31, 0))
TO(f2i_trunc, clamped(rounded(fabsf(f32(l->a)), FE_TOWARDZERO), -0x1p31, 0x1p31, 0))
TO(f2i_floor, clamped(rounded(f32(l->a), FE_DOWNWARD), -0x1p31, 0x1p31, 0))
TO(f2i_u32, clamped(rounded(f32(l->a), FE_TOWARDZERO), 0, 0x1p32, 0))
TO(f2i_s64, clamped(rounded(f32(l->a), FE_TOWARDZERO), -0x1p63, 0x1p63, UINT64_C(1) << 63))
TO(f2i_u64, clamped(rounded(f64(l->aw), FE_UPWARD), 0, 0x1p64, UINT64_C(1) << 63))
TO(f2i_f64, clamped(rounded(f64(l->aw), FE_TONEAREST), -0x1p31, 0x1p31, UINT64_C(1) << 31))
TO(f2i_u8, clamped(rounded(half_value(hi(l->a)), FE_TOWARDZERO), 0, 256, 0))
TO(frnd, to32((float)rounded(f32(l->a), FE_TONEAREST)))
TO(frnd_ceil, to32((float)rounded(f32(flush32(l->a)), FE_UPWARD)))
TO(frnd_f64, to64(rounded(f64(l->aw), FE_DOWNWARD)))
TO(frnd_f16, searched(&wsi_f16, rounded(half_value(hi(l->a)), FE_TONEAREST), FE_TONEAREST, false))

static float of_integer(int64_t value, uint64_t magnitude, int mode)
{
	volatile int64_t from = value;
	volatile uint64_t unsigned_from = magnitude;
	volatile float to;
	fesetround(mode);
	to = magnitude ? (float)unsigned_from : (float)from;
	fesetround(FE_TONEAREST);
	return to;
}

TO(i2f, to32(of_integer((int32_t)l->a, 0, FE_TONEAREST)))
TO(i2f_u32_rp, to32(of_integer(l->a, 0, FE_UPWARD)))
TO(i2f_rz, to32(of_integer((int32_t)l->a, 0, FE_TOWARDZERO)))
TO(i2f_u32, to32(of_integer(l->a, 0, FE_TONEAREST)))
TO(i2f_s64, to32(of_integer((int64_t)l->aw, 0, FE_TONEAREST)))
TO(i2f_u64, to32(of_integer(0, l->aw, FE_TONEAREST)))
TO(i2f_byte, to32((float)(l->a >> 16 & 0xff)))
TO(i2f_f64_s64, to64((double)(int64_t)l->aw))
TO(i2f_f16, searched(&wsi_f16, (int16_t)hi(l->a), FE_TONEAREST, false))

static int64_t within(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

TO(i2i_u8, (uint64_t)within((int32_t)l->a, 0, 255))
TO(i2i_s16, (uint32_t)within((int32_t)l->a, -32768, 32767))
TO(i2ip_s8, ((uint64_t)within((int32_t)l->a, -128, 127) & 0xff) << 8 |
		    ((uint64_t)within((int32_t)l->b, -128, 127) & 0xff) | (uint64_t)lo(l->c) << 16)
TO(i2ip_u16,
   both((uint64_t)within((int32_t)l->b, 0, 65535), (uint64_t)within((int32_t)l->a, 0, 65535)))
/* Numbers of a few bits are shifted in below what the third register has. */
static uint64_t shifted_in(const struct lane *l, unsigned bits, int64_t low, int64_t high)
{
	uint64_t mask = (1u << bits) - 1;
	return (uint32_t)((uint64_t)l->c << 2 * bits |
			  ((uint64_t)within((int32_t)l->a, low, high) & mask) << bits |
			  ((uint64_t)within((int32_t)l->b, low, high) & mask));
}

TO(i2ip_u2, shifted_in(l, 2, 0, 3))
TO(i2ip_s2, shifted_in(l, 2, -2, 1))
TO(i2ip_u4, shifted_in(l, 4, 0, 15))
TO(i2ip_s4, shifted_in(l, 4, -8, 7))

/* .RS: random bits are added to those that are dropped, and a carry goes on into the exponent. */
static uint32_t bf16_random(uint32_t word, uint32_t random, bool finite)
{
	uint32_t size = word & 0x7fffffff;
	if (size > 0x7f800000)
		return 0x7fff;
	size = (size + random) >> 16;
	if (size > 0x7f7f)
		size = finite ? 0x7f7f : 0x7f80;
	return word >> 31 << 15 | size;
}

TO(bf16_rs, both(bf16_random(l->b, l->c & 0xffff, false), bf16_random(l->a, l->c >> 16, false)))
TO(bf16_rs_finite,
   both(bf16_random(l->b, l->c & 0xffff, true), bf16_random(l->a, l->c >> 16, true)))

static const struct operation_test conversions[] = {
	{ 80, "F2F.F16.F32 R2, R4", f16_f32 },
	{ 80, "F2F.F16.F32.RZ R2, R4", f16_f32_rz },
	{ 80, "F2F.F16.F32.RP R2, R4", f16_f32_rp },
	{ 80, "F2F.F16.F64 R2, R4", f16_f64 },
	{ 80, "F2F.F32.F64 R2, R4", f32_f64 },
	{ 80, "F2F.F32.F64.RZ R2, -R4", f32_f64_rz },
	{ 80, "F2F.F64.F32 R2, R4", f64_f32 },
	{ 80, "F2FP.BF16.PACK_AB R2, R4, R6", bf16_pack },
	{ 90, "F2FP.BF16.F32.PACK_AB R2, R4, R6", bf16_pack },
	{ 100, "F2FP.E8.F32.PACK_AB_MERGE_C.RZ R2, R4, R6, R8", e8_rz },
	{ 100, "F2FP.SATFINITE.E8.F32.PACK_AB_MERGE_C.RP R2, R4, R6, RZ", e8_rp },
	{ 100, "F2FP.E8.BF16.UNPACK_B_MERGE_C.RP R2, R4, RZ", e8_bf16 },
	{ 100, "F2FP.BF16.E8.UNPACK_B R2, R4", from_e8 },
	{ 90, "F2FP.BF16.F32.MERGE_C.RZ R2, R4, R8.H1", bf16_merge },
	{ 80, "F2FP.BF16.MERGE_C.RZ R2, R4, R8.H1", bf16_merge },
	{ 90, "F2FP.F16.F32.PACK_AB.RZ R2, R4, R6", f16_pack_rz },
	{ 90, "F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C R2, R4, R6, R8", e4m3 },
	{ 90, "F2FP.SATFINITE.E5M2.F32.PACK_AB_MERGE_C R2, R4, R6, R8.H1", e5m2 },
	{ 100, "F2FP.SATFINITE.E2M3.F32.PACK_AB_MERGE_C R2, R4, R6, RZ", e2m3 },
	{ 100, "F2FP.SATFINITE.E2M1.F32.PACK_AB_MERGE_C R2, R4, R6, RZ", e2m1 },
	{ 90, "F2FP.TF32.F32.PACK_B R2, R4", tf32 },
	{ 90, "F2FP.SATFINITE.E4M3.F16.UNPACK_B_MERGE_C R2, R4, RZ", e4m3_f16 },
	{ 90, "F2FP.F16.E4M3.UNPACK_B R2, R4", from_e4m3 },
	{ 90, "F2FP.F16.E5M2.UNPACK_B R2, R4.H1", from_e5m2 },
	{ 100, "F2FP.F16.E2M1.UNPACK_B R2, R4", from_e2m1 },
	{ 80, "F2I.NTZ R2, R4", f2i },
	{ 80, "F2I.TRUNC.NTZ R2, |R4|", f2i_trunc },
	{ 80, "F2I.FLOOR.NTZ R2, R4", f2i_floor },
	{ 80, "F2I.U32.TRUNC.NTZ R2, R4", f2i_u32 },
	{ 80, "F2I.S64.TRUNC R2, R4", f2i_s64 },
	{ 80, "F2I.U64.F64.CEIL R2, R4", f2i_u64 },
	{ 80, "F2I.F64 R2, R4", f2i_f64 },
	{ 80, "F2I.U8.F16.TRUNC.NTZ R2, R4.H1", f2i_u8 },
	{ 80, "FRND R2, R4", frnd },
	{ 80, "FRND.FTZ.CEIL R2, R4", frnd_ceil },
	{ 80, "FRND.F64.FLOOR R2, R4", frnd_f64 },
	{ 80, "FRND.F16 R2, R4.H1", frnd_f16 },
	{ 80, "I2F R2, R4", i2f },
	{ 80, "I2F.RZ R2, R4", i2f_rz },
	{ 80, "I2F.U32.RP R2, R4", i2f_u32_rp },
	{ 80, "I2F.S64 R2, R4", i2f_s64 },
	{ 80, "I2F.U64 R2, R4", i2f_u64 },
	{ 80, "I2F.U8 R2, R4.B2", i2f_byte },
	{ 80, "I2F.F64.S64 R2, R4", i2f_f64_s64 },
	{ 80, "I2F.F16.S16 R2, R4.H1", i2f_f16 },
	{ 90, "I2FP.F32.S32 R2, R4", i2f },
	{ 90, "I2FP.F32.U32 R2, R4", i2f_u32 },
	{ 80, "I2I.U8.S32.SAT R2, R4", i2i_u8 },
	{ 80, "I2I.S16.S32.SAT R2, R4", i2i_s16 },
	{ 80, "I2IP.S8.S32.SAT R2, R4, R6, R8", i2ip_s8 },
	{ 80, "I2IP.U16.S32.SAT R2, R4, R6, RZ", i2ip_u16 },
	{ 80, "I2IP.U2.S32.SAT R2, R4, R6, R8.28", i2ip_u2 },
	{ 80, "I2IP.S2.S32.SAT R2, R4, R6, R8.28", i2ip_s2 },
	{ 80, "I2IP.U4.S32.SAT R2, R4, R6, R8.24", i2ip_u4 },
	{ 80, "I2IP.S4.S32.SAT R2, R4, R6, R8.24", i2ip_s4 },
	{ 100, "F2FP.BF16.F32.PACK_AB.RS R2, R4, R6, R8", bf16_rs },
	{ 100, "F2FP.SATFINITE.BF16.F32.PACK_AB.RS R2, R4, R6, R8", bf16_rs_finite },
};

/* ---- parts of registers ---- */

static int64_t s8(uint32_t v, unsigned i)
{
	return (int8_t)(v >> 8 * i);
}

TO(dp4a, (uint32_t)(s8(l->a, 0) * s8(l->b, 0) + s8(l->a, 1) * s8(l->b, 1) +
		    s8(l->a, 2) * s8(l->b, 2) + s8(l->a, 3) * s8(l->b, 3) + (int64_t)l->c))
TO(dp2a_hi, (uint32_t)((int16_t)lo(l->a) * (int64_t)(l->b >> 16 & 0xff) +
		       (int16_t)hi(l->a) * (int64_t)(l->b >> 24) + (int64_t)l->c))
TO(sad, (uint32_t)(llabs((int64_t)(int32_t)l->a - (int32_t)l->b) + l->c))
TO(sad_u, (uint32_t)(llabs((int64_t)l->a - (int64_t)l->b) + l->c))

static void vsad4(struct lane *l)
{
	l->to = l->c;
	for (unsigned i = 0; i < 4; i++)
		l->to += (uint64_t)abs((int)(l->a >> 8 * i & 0xff) - (int)(l->b >> 8 * i & 0xff));
	l->to = (uint32_t)l->to;
}

static void absdiff4(struct lane *l)
{
	l->to = 0;
	for (unsigned i = 0; i < 4; i++) {
		int difference = (int)(l->a >> 8 * i & 0xff) - (int)(l->b >> 8 * i & 0xff);
		l->to |= (uint64_t)abs(difference) << 8 * i;
	}
}

static int32_t most(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

TO(addmax_relu, (uint32_t)most(most((int32_t)(l->a + l->b), (int32_t)l->c), 0))
TO(max3, (uint32_t)most(most((int32_t)l->a, (int32_t)l->b), (int32_t)l->c))

static void vmin16(struct lane *l)
{
	uint32_t low = lo(l->a) < lo(l->b) ? lo(l->a) : lo(l->b);
	uint32_t high = hi(l->a) < hi(l->b) ? hi(l->a) : hi(l->b);
	l->to = both(low, high);
	l->to_p = lo(l->a) <= lo(l->b);
	l->to_q = hi(l->a) <= hi(l->b);
}

static void vadd_sat(struct lane *l)
{
	l->to = both(
		(uint64_t)within((int16_t)lo(l->a) + (int16_t)lo(l->b), -32768, 32767) & 0xffff,
		(uint64_t)within((int16_t)hi(l->a) + (int16_t)hi(l->b), -32768, 32767) & 0xffff);
}

TO(min64, (int64_t)l->aw < (int64_t)l->bw ? l->aw : l->bw)

static const struct operation_test parts[] = {
	{ 80, "IDP.4A.S8.S8 R2, R4, R6, R8", dp4a },
	{ 80, "IDP.2A.HI.S16.U8 R2, R4, R6, R8", dp2a_hi },
	{ 80, "VABSDIFF R2, R4, R6, R8", sad },
	{ 80, "VABSDIFF.U32 R2, R4, R6, R8", sad_u },
	{ 80, "VABSDIFF4.U8.ACC R2, R4, R6, R8", vsad4 },
	{ 80, "VABSDIFF4.U8 R2, R4, R6, R8", absdiff4 },
	{ 90, "VIADDMNMX.RELU R2, R4, R6, R8, !PT", addmax_relu },
	{ 90, "VIMNMX3 R2, R4, R6, R8, !PT", max3 },
	{ 90, "VIMNMX.U16x2 R2, P3, P4, R4, R6, PT", vmin16 },
	{ 120, "VIADD.S16x2.ISAT R2, R4, R6", vadd_sat },
	{ 120, "IMNMX.S64 PT, PT, R2, R4, R6, PT, !PT", min64 },
};

/* ---- approximations: within a unit in the last place of libm's ---- */

static uint32_t near(float got, double exact)
{
	float nearest = (float)exact;
	if (isnan(nearest))
		return 0x7fffffff;
	if (fabs(exact) < 0x1p-126)
		nearest = copysignf(0, nearest);
	if (got == nextafterf(nearest, INFINITY) || got == nextafterf(nearest, -INFINITY))
		return to32(got);
	return to32(nearest);
}

struct approximation {
	const char *text;
	double (*exact)(double x);
};

static double exact_rcp(double x)
{
	return 1 / x;
}

static double exact_rsq(double x)
{
	return x == 0 ? 1 / x : 1 / sqrt(x);
}

static double exact_sin(double x)
{
	double part = x - nearbyint(x);
	return fabs(part) == 0.5 || part == 0 ? copysign(0, x)
					      : sin(part * 2 * 3.14159265358979323846);
}

static double exact_cos(double x)
{
	double part = fabs(x - nearbyint(x));
	return part == 0.25 ? 0 : cos(part * 2 * 3.14159265358979323846);
}

static const struct approximation approximations[] = {
	{ "MUFU.RCP R2, R4", exact_rcp }, { "MUFU.RSQ R2, R4", exact_rsq },
	{ "MUFU.SQRT R2, R4", sqrt },     { "MUFU.EX2 R2, R4", exp2 },
	{ "MUFU.LG2 R2, R4", log2 },      { "MUFU.SIN R2, R4", exact_sin },
	{ "MUFU.COS R2, R4", exact_cos }, { "MUFU.TANH R2, R4", tanh },
};

static void test_approximations(void **state)
{
	static struct machine before, after;
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(approximations); i++) {
		uint64_t seed = i + 1;
		struct wsi_alu alu;
		machine_prepare(&alu, 80, approximations[i].text);
		for (unsigned round = 0; round < rounds; round++) {
			machine_fill(&before, &seed);
			after = before;
			machine_run(&after, &alu);
			for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
				uint32_t x = before.r[AT_A][l], y = after.r[AT_TO][l];
				double exact = approximations[i].exact(f32(flush32(x)));
				uint32_t want = near(f32(y), exact);
				if (y != want && !(f32(y) == 0 && f32(want) == 0))
					fail_msg("%s: of %08x %08x, not %08x",
						 approximations[i].text, x, y, want);
			}
		}
	}
}

static void check(const struct operation_test *tests, size_t n)
{
	for (size_t i = 0; i < n; i++)
		machine_check(&tests[i], rounds, i + 1);
}

static void test_halves(void **state)
{
	(void)state;
	check(halves, WSI_COUNT(halves));
}

static void test_conversions(void **state)
{
	(void)state;
	check(conversions, WSI_COUNT(conversions));
}

static void test_parts(void **state)
{
	(void)state;
	check(parts, WSI_COUNT(parts));
}

/* Every number of a small format comes back from a wider one. */
static void test_small_formats(void **state)
{
	static const struct wsi_format *const formats[] = { &wsi_f16,  &wsi_bf16, &wsi_e4m3,
							    &wsi_e5m2, &wsi_e2m3, &wsi_e3m2,
							    &wsi_e2m1 };
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(formats); i++) {
		const struct wsi_format *f = formats[i];
		for (uint64_t bits = 0; bits <= f->largest; bits++) {
			struct wsi_soft v = wsi_soft_unpack(f, bits, false);
			double x = f64(wsi_soft_pack(&wsi_f64, &v, WSI_RN, false, false));
			assert_true(x == small_value(f, (uint32_t)bits));
			v = wsi_soft_unpack(&wsi_f64, to64(x), false);
			assert_int_equal(wsi_soft_pack(f, &v, WSI_RM, false, false), bits);
		}
	}
}

/* 0.51 of the smallest half, as a sum that carries: rounded up. */
static void test_sum_near_half(void **state)
{
	(void)state;
	assert_int_equal(with_singles(&wsi_f32, 0xba40dbf4, &wsi_f16, 0xf, &wsi_f32, 0xb2fec6aa),
			 0x8001);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum_near_half),  cmocka_unit_test(test_halves),
		cmocka_unit_test(test_conversions),    cmocka_unit_test(test_parts),
		cmocka_unit_test(test_approximations), cmocka_unit_test(test_small_formats),
	};
	if (argc > 1)
		rounds = (unsigned)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
