/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point operations against references of another construction: what the operation does in
 * the host's arithmetic is compared with integers, and the other way around, in the host's four
 * rounding modes.
 * usage: test_alu_float [ROUNDS]
 */
#include "alu/floats.h"

#include <fenv.h>
#include <math.h>

static unsigned rounds = 300;

static uint32_t flush(uint32_t bits)
{
	return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

/* a * b + c in the host's arithmetic, in a rounding mode; a sum or a product when one is trivial.
 */
static float host(enum what what, int mode, uint32_t a, uint32_t b, uint32_t c)
{
	volatile float x = f32(a), y = f32(b), z = f32(c), r;
	fesetround(mode);
	if (what == SUM)
		r = x + y;
	else if (what == PRODUCT)
		r = x * y;
	else
		r = fmaf(x, y, z);
	fesetround(FE_TONEAREST);
	return r;
}

static double host64(enum what what, int mode, uint64_t a, uint64_t b, uint64_t c)
{
	volatile double x = f64(a), y = f64(b), z = f64(c), r;
	fesetround(mode);
	if (what == SUM)
		r = x + y;
	else if (what == PRODUCT)
		r = x * y;
	else
		r = fma(x, y, z);
	fesetround(FE_TONEAREST);
	return r;
}

#define MINUS(v) ((v) ^ 0x80000000u)
#define ABS(v) ((v)&0x7fffffffu)
/* ---- single precision ---- */

TO(add, soft(&wsi_f32, SUM, l->a, l->b, 0))
TO(add_signs, soft(&wsi_f32, SUM, MINUS(l->a), ABS(l->b), 0))
TO(add_signs2, soft(&wsi_f32, SUM, ABS(l->a), MINUS(ABS(l->constant)), 0))
TO(add_number, soft(&wsi_f32, SUM, l->a, 0x3fc00000, 0))
TO(add_uniform, soft(&wsi_f32, SUM, l->a, MINUS(l->u), 0))
TO(add_ftz, flush((uint32_t)soft(&wsi_f32, SUM, flush(l->a), flush(l->b), 0)))
TO(add_rz, to32(host(SUM, FE_TOWARDZERO, l->a, l->b, 0)))
TO(add_rp, to32(host(SUM, FE_UPWARD, l->a, l->b, 0)))
TO(add_rm, to32(host(SUM, FE_DOWNWARD, l->a, l->b, 0)))
TO(mul, soft(&wsi_f32, PRODUCT, l->a, l->b, 0))
TO(mul_ftz, flush((uint32_t)soft(&wsi_f32, PRODUCT, flush(l->a), flush(l->b), 0)))
TO(mul_rz, to32(host(PRODUCT, FE_TOWARDZERO, l->a, l->b, 0)))
TO(mul_rm, to32(host(PRODUCT, FE_DOWNWARD, l->a, MINUS(l->b), 0)))
TO(mul_m8, to32((float)((double)f32(l->a) * (double)f32(l->b) * 8)))
TO(mul_d4, to32((float)((double)f32(l->a) * (double)f32(l->b) / 4)))
TO(mad, soft(&wsi_f32, BOTH, l->a, l->b, l->c))
TO(mad_signs, soft(&wsi_f32, BOTH, MINUS(l->a), l->b, MINUS(l->c)))
TO(mad_ftz, flush((uint32_t)soft(&wsi_f32, BOTH, flush(l->a), flush(l->b), flush(l->c))))
TO(mad_rm, to32(host(BOTH, FE_DOWNWARD, l->a, l->b, l->c)))
TO(mad_rp, to32(host(BOTH, FE_UPWARD, l->a, l->b, l->c)))
TO(mad_rz, to32(host(BOTH, FE_TOWARDZERO, l->a, l->b, l->c)))

static uint32_t sat(float f)
{
	return f > 1 ? to32(1) : f > 0 ? to32(f) : 0;
}

TO(mad_sat, sat(f32((uint32_t)soft(&wsi_f32, BOTH, l->a, l->b, l->c))))

static void mul_fmz(struct lane *l)
{
	uint32_t a = flush(l->a), b = flush(l->b);
	bool zero = ABS(a) == 0 || ABS(b) == 0;
	l->to = zero ? 0 : flush((uint32_t)soft(&wsi_f32, PRODUCT, a, b, 0));
}

static uint32_t least(uint32_t a, uint32_t b, bool min, bool nan)
{
	float x = f32(a), y = f32(b);
	if (isnan(x) || isnan(y))
		return nan || (isnan(x) && isnan(y)) ? 0x7fffffff : isnan(x) ? b : a;
	if (x == 0 && y == 0)
		return min ? a | b : a & b;
	return (x < y) == min ? a : b;
}

TO(minmax, least(l->a, l->b, l->p0, false))
TO(minmax_nan, least(ABS(l->a), MINUS(l->b), l->p0, true))
TO(max_ftz, least(flush(l->a), flush(l->b), false, false))
TO(max3, least(least(l->a, l->b, false, false), l->c, false, false))
TO(minmax3_nan, least(least(MINUS(l->a), l->b, l->p0, true), ABS(l->c), l->p0, true))

/* A half as a single. */
static uint32_t widened(const struct wsi_format *format, uint32_t half)
{
	struct wsi_soft v = wsi_soft_unpack(format, half & 0xffff, false);
	return (uint32_t)wsi_soft_pack(&wsi_f32, &v, WSI_RN, false, false);
}

#define F16(half) widened(&wsi_f16, half)
#define BF16(half) widened(&wsi_bf16, half)

TO(half_add, to32(host(SUM, FE_TONEAREST, F16(l->a), l->b, 0)))
TO(half_add_high, sat(host(SUM, FE_TOWARDZERO, MINUS(BF16(l->a >> 16)), ABS(l->b), 0)))
TO(half_mad, to32(host(BOTH, FE_TONEAREST, F16(l->a >> 16), F16(l->b), MINUS(l->c))))
TO(half_mad_rp, to32(host(BOTH, FE_UPWARD, F16(l->a), MINUS(F16(l->b >> 16)), l->c)))
TO(quad_minus, to32(host(SUM, FE_TONEAREST, l->a, MINUS(l->c), 0)))
TO(quad_minus_rz, to32(host(SUM, FE_TOWARDZERO, MINUS(l->a), l->c, 0)))
TO(sel, l->p0 ? MINUS(l->a) : ABS(l->b))

static bool holds(double a, double b, unsigned which)
{
	switch (which) {
	case 0:
		return false;
	case 1:
		return isless(a, b);
	case 2:
		return !islessgreater(a, b) && !isunordered(a, b);
	case 3:
		return islessequal(a, b);
	case 4:
		return isgreater(a, b);
	case 5:
		return islessgreater(a, b);
	case 6:
		return isgreaterequal(a, b);
	case 7:
		return !isunordered(a, b);
	default:
		return !holds(a, b, 15 - which);
	}
}

static const char *const comparison[] = { "F",   "LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM",
					  "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T" };
static unsigned which;

static void setp(struct lane *l)
{
	bool is = holds(f32(l->a), f32(l->b), which);
	l->to_p = is && l->p0;
	l->to_q = !is && l->p0;
}

static void setp_ftz(struct lane *l)
{
	bool is = holds(f32(flush(l->a)), f32(flush(ABS(l->b))), which);
	l->to_p = is || !l->p0;
	l->to_q = !is || !l->p0;
}

TO(set, holds(f32(l->a), f32(l->b), which) != l->p0 ? 0x3f800000 : 0)

static void dsetp(struct lane *l)
{
	bool is = holds(f64(l->aw), f64(l->bw), which);
	l->to_p = is && l->p0;
	l->to_q = !is && l->p0;
}

/* What nvcc makes of fmax(a, b), whole. */
static void dsetp_max(struct lane *l)
{
	double a = f64(l->aw), b = f64(l->bw);
	bool swap = isnan(a) || (!isnan(b) && (a < b || (a == b && l->aw >> 63 > l->bw >> 63)));
	bool same = !isnan(a) && a == b && l->aw == l->bw;
	l->to_p = !swap && !same;
	l->to_q = isnan(a) && isnan(b);
}

static const struct operation_test singles[] = {
	{ 75, "FADD R2, R4, R6", add },
	{ 80, "FADD R2, -R4, |R6|", add_signs },
	{ 80, "FADD R2, |R4|, -|c[0x0][0x20]|", add_signs2 },
	{ 80, "FADD R2, R4, 1.5", add_number },
	{ 100, "FADD R2, R4, -UR4", add_uniform },
	{ 80, "FADD.FTZ R2, R4, R6", add_ftz },
	{ 80, "FADD.RZ R2, R4, R6", add_rz },
	{ 80, "FADD.RP R2, R4, R6", add_rp },
	{ 80, "FADD.RM R2, R4, R6", add_rm },
	{ 75, "FMUL R2, R4, R6", mul },
	{ 75, "FMUL.FTZ R2, R4, R6", mul_ftz },
	{ 75, "FMUL.RZ R2, R4, R6", mul_rz },
	{ 75, "FMUL.RM R2, R4, -R6", mul_rm },
	{ 75, "FMUL.M8 R2, R4, R6", mul_m8 },
	{ 75, "FMUL.D4 R2, R4, R6", mul_d4 },
	{ 75, "FMUL.FMZ R2, R4, R6", mul_fmz },
	{ 75, "FFMA R2, R4, R6, R8", mad },
	{ 75, "FFMA R2, -R4, R6, -R8", mad_signs },
	{ 75, "FFMA.FTZ R2, R4, R6, R8", mad_ftz },
	{ 75, "FFMA.RM R2, R4, R6, R8", mad_rm },
	{ 75, "FFMA.RP R2, R4, R6, R8", mad_rp },
	{ 75, "FFMA.RZ R2, R4, R6, R8", mad_rz },
	{ 75, "FFMA.SAT R2, R4, R6, R8", mad_sat },
	{ 75, "FMNMX R2, R4, R6, P0", minmax },
	{ 80, "FMNMX.NAN R2, |R4|, -R6, P0", minmax_nan },
	{ 80, "FMNMX.FTZ R2, R4, R6, !PT", max_ftz },
	{ 100, "FMNMX3 R2, R4, R6, R8, !PT", max3 },
	{ 100, "FMNMX3.NAN R2, -R4, R6, |R8|, P0", minmax3_nan },
	{ 100, "FHADD R2, R4, R6", half_add },
	{ 100, "FHADD.BF16.RZ.SAT R2, -R4.H1, |R6|", half_add_high },
	{ 100, "FHFMA R2, R4.H1, R6, -R8", half_mad },
	{ 100, "FHFMA.RP R2, R4, -R6.H1, R8", half_mad_rp },
	{ 75, "FSWZADD R2, R4, R8, PNPNPNPN", quad_minus },
	{ 75, "FSWZADD.RZ R2, R4, R8, NPNPNPNP", quad_minus_rz },
	{ 80, "FSEL R2, -R4, |R6|, P0", sel },
};

/* ---- pairs of floats ---- */

static uint64_t pair(uint64_t low, uint64_t high)
{
	return low | high << 32;
}

TO(add2, pair(soft(&wsi_f32, SUM, l->a, l->b, 0), soft(&wsi_f32, SUM, l->aw >> 32, l->bw >> 32, 0)))
TO(mad2, pair(soft(&wsi_f32, BOTH, l->aw >> 32, l->b, l->c),
	      soft(&wsi_f32, BOTH, l->a, l->b, l->cw >> 32)))

static const struct operation_test pairs[] = {
	{ 100, "FADD2 R2, R4.F32x2.HI_LO, R6.F32x2.HI_LO", add2 },
	{ 100, "FFMA2 R2, R4.F32x2.LO_HI, R6.F32, R8.F32x2.HI_LO", mad2 },
};

/* ---- double precision ---- */

#define MINUS64(v) ((v) ^ UINT64_C(1) << 63)

TO(dadd, soft(&wsi_f64, SUM, l->aw, MINUS64(l->bw), 0))
TO(dadd_number, soft(&wsi_f64, SUM, l->aw, UINT64_C(0x3ff8000000000000), 0))
TO(dadd_rz, to64(host64(SUM, FE_TOWARDZERO, l->aw, l->bw, 0)))
TO(dadd_rm, to64(host64(SUM, FE_DOWNWARD, l->aw, l->bw, 0)))
TO(dmul, soft(&wsi_f64, PRODUCT, l->aw, l->constant_wide, 0))
TO(dmul_rp, to64(host64(PRODUCT, FE_UPWARD, l->aw, l->bw, 0)))
TO(dmad, soft(&wsi_f64, BOTH, l->aw, l->bw, MINUS64(l->cw)))
TO(dmad_rz, to64(host64(BOTH, FE_TOWARDZERO, l->aw, l->bw, l->cw)))
TO(dmad_rp, to64(host64(BOTH, FE_UPWARD, l->aw, l->bw, l->cw)))

static const struct operation_test doubles[] = {
	{ 75, "DADD R2, R4, -R6", dadd },
	{ 75, "DADD R2, R4, 1.5", dadd_number },
	{ 75, "DADD.RZ R2, R4, R6", dadd_rz },
	{ 75, "DADD.RM R2, R4, R6", dadd_rm },
	{ 75, "DMUL R2, R4, c[0x0][0x20]", dmul },
	{ 75, "DMUL.RP R2, R4, R6", dmul_rp },
	{ 75, "DFMA R2, R4, R6, -R8", dmad },
	{ 75, "DFMA.RZ R2, R4, R6, R8", dmad_rz },
	{ 75, "DFMA.RP R2, R4, R6, R8", dmad_rp },
	{ 75, "DSETP.MAX.AND P3, P4, R4, R6, PT", dsetp_max },
};

static void check(const struct operation_test *tests, size_t n)
{
	for (size_t i = 0; i < n; i++)
		machine_check(&tests[i], rounds, i + 1);
}

static void test_singles(void **state)
{
	(void)state;
	check(singles, WSI_COUNT(singles));
	check(pairs, WSI_COUNT(pairs));
}

static void test_doubles(void **state)
{
	(void)state;
	check(doubles, WSI_COUNT(doubles));
}

/* The lanes of a quad each in their own way. */
static void test_quads(void **state)
{
	(void)state;
	static struct machine m, before;
	struct wsi_alu alu;
	uint64_t seed = 7;
	machine_prepare(&alu, 90, "FSWZADD R2, R4, R8, PNNPZPPP");
	machine_fill(&before, &seed);
	m = before;
	machine_run(&m, &alu);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t a = before.r[AT_A][l], c = before.r[AT_C][l];
		uint32_t want[] = { to32(host(SUM, FE_TONEAREST, a, MINUS(c), 0)),
				    to32(host(SUM, FE_TONEAREST, MINUS(a), c, 0)), to32(f32(c)),
				    to32(host(SUM, FE_TONEAREST, a, c, 0)) };
		assert_int_equal(m.r[AT_TO][l], want[l % 4]);
	}
}

static void compare_with(unsigned sm, const char *name, const char *rest,
			 void (*reference)(struct lane *))
{
	char text[64];
	struct operation_test t = { sm, text, reference };
	for (which = 0; which < WSI_COUNT(comparison); which++) {
		if (name[0] == 'D' && (which == 0 || which == 15))
			continue; /* those are .MIN and .MAX */
		snprintf(text, sizeof text, "%s.%s.%s", name, comparison[which], rest);
		machine_check(&t, rounds / 8 + 1, which + 1);
	}
}

static void test_comparisons(void **state)
{
	(void)state;
	compare_with(75, "FSETP", "AND P3, P4, R4, R6, P0", setp);
	compare_with(75, "FSETP", "FTZ.OR P3, P4, R4, |R6|, !P0", setp_ftz);
	compare_with(75, "FSET.BF", "XOR R2, R4, R6, P0", set);
	compare_with(75, "DSETP", "AND P3, P4, R4, R6, P0", dsetp);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_singles),
		cmocka_unit_test(test_doubles),
		cmocka_unit_test(test_comparisons),
		cmocka_unit_test(test_quads),
	};
	if (argc > 1)
		rounds = (unsigned)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
