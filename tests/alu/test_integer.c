/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integer operations against references of another construction: 128-bit sums, bits one at a time.
 * usage: test_alu_integer [ROUNDS]
 */
#include "alu/machine.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

static unsigned rounds = 300;

static uint64_t sx(uint32_t v)
{
	return (uint64_t)(int64_t)(int32_t)v;
}

/* ---- sums ---- */

/* Terms of `bits` bits, the carries out of their sum. */
static void sum(struct lane *l, unsigned bits, const uint64_t *term, unsigned n, unsigned carries)
{
	u128 all = carries, mask = ((u128)1 << bits) - 1;
	for (unsigned i = 0; i < n; i++)
		all += term[i] & mask;
	l->to = (uint64_t)(all & mask);
	if (all >> bits & 1 || all >> (bits + 1))
		l->to_p = true;
	else
		l->to_p = false;
	l->to_q = all >> (bits + 1) != 0;
}

#define SUM(name, bits, n, carries, ...)                                     \
	static void name(struct lane *l)                                     \
	{                                                                    \
		bool p = l->to_p, q = l->to_q;                               \
		sum(l, bits, (const uint64_t[]){ __VA_ARGS__ }, n, carries); \
		l->to_p = p;                                                 \
		l->to_q = q;                                                 \
	}

SUM(add3, 32, 3, 0, l->a, l->b, l->c)
SUM(add3_neg, 32, 3, 2, l->a, ~(uint64_t)l->b, ~(uint64_t)l->c)
SUM(add3_number, 32, 3, 1, l->a, UINT64_C(0xfffffff0), ~(uint64_t)l->c)
SUM(add3_constant, 32, 3, 1, l->a, ~(uint64_t)l->constant, l->c)
SUM(add3_uniform, 32, 3, 0, l->a, l->u, l->c)
SUM(add_two, 32, 2, 1, l->a, ~(uint64_t)l->b, 0)
SUM(add_wide, 64, 2, 1, l->aw, ~l->bw, 0)
SUM(add_wide_number, 64, 2, 0, l->aw, sx(0x80000001), 0)

/* With carries out, which the text names P3 and P4. */
static void carry_out(struct lane *l)
{
	sum(l, 32, (const uint64_t[]){ l->a, ~(uint64_t)l->b, l->c }, 3, 1);
}

static void carry_first(struct lane *l)
{
	bool q = l->to_q;
	carry_out(l);
	l->to_q = q;
}

/* Of one carry the text does not tell which it is; the encoder makes it the first. */
static void carry_named_q(struct lane *l)
{
	bool p = l->to_p;
	sum(l, 32, (const uint64_t[]){ l->a, UINT64_C(0xfffffff1), l->c }, 3, 0);
	l->to_q = l->to_p;
	l->to_p = p;
}

static void carry_in(struct lane *l)
{
	sum(l, 32, (const uint64_t[]){ l->a, ~(uint64_t)l->b, l->c }, 3, l->p0 + !l->p1);
}

static void carry_wide(struct lane *l)
{
	bool q = l->to_q;
	sum(l, 64, (const uint64_t[]){ l->aw, ~l->bw }, 2, !l->p0);
	l->to_q = q;
}

static const struct operation_test sums[] = {
	{ 80, "IADD3 R2, R4, R6, R8", add3 },
	{ 75, "IADD3 R2, R4, -R6, -R8", add3_neg },
	{ 90, "IADD3 R2, R4, -0x10, -R8", add3_number },
	{ 80, "IADD3 R2, R4, -c[0x0][0x20], R8", add3_constant },
	{ 120, "IADD3 R2, PT, PT, R4, UR4, R8", add3_uniform },
	{ 80, "IADD3 R2, P3, P4, R4, -R6, R8", carry_out },
	{ 100, "IADD3 R2, P3, P4, R4, -R6, R8", carry_out },
	{ 80, "IADD3 R2, P3, R4, -R6, R8", carry_first },
	{ 80, "IADD3 R2, P4, R4, -0xf, R8", carry_named_q },
	{ 80, "IADD3.X R2, P3, P4, R4, ~R6, R8, P0, !P1", carry_in },
	{ 120, "IADD3.X R2, P3, P4, R4, ~R6, R8, P0, !P1", carry_in },
	{ 120, "IADD R2, R4, -R6", add_two },
	{ 120, "IADD.64 R2, R4, -R6", add_wide },
	{ 120, "IADD.64 R2, R4, -0x7fffffff", add_wide_number },
	{ 120, "IADD.64.X R2, P3, R4, ~R6, !P0", carry_wide },
	{ 90, "VIADD R2, R4, -R6", add_two },
	{ 120, "VIADD.32 R2, R4, -R6", add_two },
};

/* ---- products ---- */

#define TO(name, value)                  \
	static void name(struct lane *l) \
	{                                \
		l->to = (value);         \
	}

TO(mad, (uint32_t)((u128)l->a * l->b + l->c))
TO(mad_minus, (uint32_t)(((u128)l->a * l->b) - l->c))
TO(mad_number, (uint32_t)(l->a * 5 + l->c))
TO(mad_constant, (uint32_t)(l->a *(uint64_t)l->constant + l->c))
TO(mad_x, (uint32_t)((u128)l->a * l->b + (uint32_t)~l->c + !l->p0))
TO(mad_wide_u, (uint64_t)((u128)l->a * l->b + l->cw))
TO(mad_wide_s, (uint64_t)((s128)(int32_t)l->a *(int32_t)l->b + (s128)l->cw))
TO(mad_wide_minus, (uint64_t)((s128)(int32_t)l->a *(int32_t)l->b - (s128)l->cw))
TO(mad_wide_constant, (uint64_t)((u128)l->a * l->b + l->constant_wide))
TO(mad_hi_u, (uint64_t)((u128)l->a * l->b + l->cw) >> 32)
TO(mad_hi_s, (uint64_t)((s128)(int32_t)l->a *(int32_t)l->b + (s128)l->cw) >> 32)
TO(mov_a, l->a)

static void mad_wide_carry(struct lane *l)
{
	u128 all = (u128)((u128)l->a * l->b) + l->cw;
	l->to = (uint64_t)all;
	l->to_p = all >> 64 != 0;
}

static void mad_wide_x(struct lane *l)
{
	u128 all = (u128)(uint64_t)((int64_t)(int32_t)l->a * (int32_t)l->b) + ~l->cw + l->p0;
	l->to = (uint64_t)all;
	l->to_p = all >> 64 != 0;
}

static const struct operation_test products[] = {
	{ 75, "IMAD R2, R4, R6, R8", mad },
	{ 120, "IMAD R2, R4, R6, -R8", mad_minus },
	{ 80, "IMAD R2, R4, 0x5, R8", mad_number },
	{ 80, "IMAD R2, R4, c[0x0][0x20], R8", mad_constant },
	{ 80, "IMAD.X R2, R4, R6, ~R8, !P0", mad_x },
	{ 80, "IMAD.MOV.U32 R2, RZ, RZ, R4", mov_a },
	{ 80, "IMAD.WIDE.U32 R2, R4, R6, R8", mad_wide_u },
	{ 75, "IMAD.WIDE R2, R4, R6, R8", mad_wide_s },
	{ 90, "IMAD.WIDE R2, R4, R6, -R8", mad_wide_minus },
	{ 80, "IMAD.WIDE.U32 R2, R4, R6, c[0x0][0x20]", mad_wide_constant },
	{ 80, "IMAD.WIDE.U32 R2, P3, R4, R6, R8", mad_wide_carry },
	{ 80, "IMAD.WIDE.X R2, P3, R4, R6, ~R8, P0", mad_wide_x },
	{ 80, "IMAD.HI.U32 R2, R4, R6, R8", mad_hi_u },
	{ 120, "IMAD.HI R2, R4, R6, R8", mad_hi_s },
};

/* ---- scaled sums ---- */

static void lea(struct lane *l)
{
	u128 all = (u128)(uint32_t)(l->a << 5) + l->b;
	l->to = (uint32_t)all;
	l->to_p = all >> 32 != 0;
}

static void lea_minus(struct lane *l)
{
	l->to = (uint32_t)(l->b - (uint64_t)l->a * 4);
}

/* The upper half of b64 + (a64 << 3), of which the first half made the carry. */
static void lea_hi_x(struct lane *l)
{
	uint64_t a = (uint64_t)l->c << 32 | l->a;
	l->to = (uint32_t)((a << 3 >> 32) + l->b + l->p0);
}

static void lea_sx(struct lane *l)
{
	s128 a = (s128)(int32_t)l->a * 8;
	l->to = (uint32_t)((uint64_t)(a >> 32) + l->b + !l->p0);
}

static const struct operation_test scaled[] = {
	{ 75, "LEA R2, P3, R4, R6, 0x5", lea },
	{ 80, "LEA R2, -R4, R6, 0x2", lea_minus },
	{ 80, "LEA.HI.X R2, R4, R6, R8, 0x3, P0", lea_hi_x },
	{ 90, "LEA.HI.X.SX32 R2, R4, R6, 0x3, !P0", lea_sx },
};

/* ---- comparisons, minima, magnitudes ---- */

#define COMPARE(name, type, op, with, how)             \
	static void name(struct lane *l)               \
	{                                              \
		bool holds = (type)l->a op(type) l->b; \
		l->to_p = holds how with;              \
		l->to_q = !holds how with;             \
	}

COMPARE(lt_u, uint32_t, <, l->p0, &&)
COMPARE(le_s, int32_t, <=, !l->p0, ||)
COMPARE(gt_s, int32_t, >, l->p0, !=)
COMPARE(ge_u, uint32_t, >=, true, &&)
COMPARE(eq, uint32_t, ==, l->p0, &&)
COMPARE(ne, uint32_t, !=, l->p0, &&)

/* Halves of 64-bit numbers: with the comparison of the lower halves in P1. */
static void lt_ex(struct lane *l)
{
	bool holds = l->a != l->b ? (int32_t)l->a < (int32_t)l->b : l->p1;
	l->to_p = holds && l->p0;
	l->to_q = !holds && l->p0;
}

static void ge_ex(struct lane *l)
{
	bool holds = l->a != l->b ? l->a > l->b : l->p1;
	l->to_p = holds && l->p0;
	l->to_q = !holds && l->p0;
}

static void lt_wide(struct lane *l)
{
	bool holds = (int64_t)l->aw < (int64_t)l->bw;
	l->to_p = holds && l->p0;
	l->to_q = !holds && l->p0;
}

TO(min_u, (l->a < l->b) == l->p0 ? l->a : l->b)
TO(min_s, ((int32_t)l->a < (int32_t)l->b) == !l->p0 ? l->a : l->b)
TO(iabs, (int32_t)l->a < 0 ? (uint32_t) - (int64_t)(int32_t)l->a : l->a)

static const struct operation_test comparisons[] = {
	{ 75, "ISETP.LT.U32.AND P3, P4, R4, R6, P0", lt_u },
	{ 80, "ISETP.LE.OR P3, P4, R4, R6, !P0", le_s },
	{ 90, "ISETP.GT.XOR P3, P4, R4, R6, P0", gt_s },
	{ 100, "ISETP.GE.U32.AND P3, P4, R4, R6, PT", ge_u },
	{ 80, "ISETP.EQ.AND P3, P4, R4, R6, P0", eq },
	{ 80, "ISETP.NE.AND P3, P4, R4, R6, P0", ne },
	{ 80, "ISETP.LT.AND.EX P3, P4, R4, R6, P0, P1", lt_ex },
	{ 80, "ISETP.GE.U32.AND.EX P3, P4, R4, R6, P0, P1", ge_ex },
	{ 120, "ISETP.LT.S64.AND P3, P4, R4, R6, P0", lt_wide },
	{ 80, "IMNMX.U32 R2, R4, R6, P0", min_u },
	{ 75, "IMNMX R2, R4, R6, !P0", min_s },
	{ 90, "VIMNMX R2, R4, R6, !P0", min_s },
	{ 120, "VIMNMX.S32 R2, R4, R6, !P0", min_s },
	{ 80, "IABS R2, R4", iabs },
};

/* ---- logic and shifts, a bit at a time ---- */

static uint32_t table_of(uint32_t a, uint32_t b, uint32_t c, unsigned table)
{
	uint32_t value = 0;
	for (unsigned i = 0; i < 32; i++) {
		unsigned at = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
		value |= (table >> at & 1) << i;
	}
	return value;
}

TO(logic_6a, table_of(l->a, l->b, l->c, 0x6a))
TO(logic_d8, table_of(l->a, 0xff00, l->c, 0xd8))

static void logic_test(struct lane *l)
{
	l->to = table_of(l->a, l->b, 0, 0xc0);
	l->to_p = l->to != 0 || l->p0;
}

static void logic_pand(struct lane *l)
{
	l->to = table_of(l->a, l->b, 0, 0xc0);
	l->to_p = l->to != 0 && !l->p0;
}

static void plop3(struct lane *l)
{
	unsigned at = (unsigned)l->p0 << 2 | (unsigned)!l->p1 << 1 | l->p2;
	l->to_p = 0x2e >> at & 1;
	l->to_q = 0xb7 >> at & 1;
}

static void plop3_sign(struct lane *l)
{
	unsigned at = (unsigned)l->p0 << 2 | (unsigned)((int32_t)l->a < 0) << 1 | l->p2;
	l->to_p = 0x2e >> at & 1;
	l->to_q = 0xb7 >> at & 1;
}

/* Shifts a pair, one bit at a time. */
static uint64_t shifted(uint64_t v, unsigned n, bool right, bool arithmetic)
{
	for (; n; n--) {
		uint64_t sign = arithmetic ? v & UINT64_C(1) << 63 : 0;
		v = right ? v >> 1 | sign : v << 1;
	}
	return v;
}

static unsigned clamped(uint32_t n, unsigned most)
{
	return n < most ? n : most;
}

TO(shl, (uint32_t)shifted(l->a, clamped(l->b, 32), false, false))
TO(shl_w, (uint32_t)shifted(l->a, l->b % 32, false, false))
TO(shl_hi, shifted((uint64_t)l->c << 32 | l->a, clamped(l->b, 32), false, false) >> 32)
TO(shr_u, shifted((uint64_t)l->c << 32, clamped(l->b, 32), true, false) >> 32)
TO(shr_s, shifted((uint64_t)l->c << 32, clamped(l->b, 32), true, true) >> 32)
TO(shr_w, shifted((uint64_t)l->c << 32, l->b % 32, true, true) >> 32)
TO(funnel, (uint32_t)shifted((uint64_t)l->c << 32 | l->a, clamped(l->b, 32), true, false))
TO(shr_u64, (uint32_t)shifted((uint64_t)l->c << 32 | l->a, clamped(l->b, 64), true, false))
TO(shr_s64, shifted((uint64_t)l->c << 32 | l->a, clamped(l->b, 64), true, true) >> 32)
TO(shl_u64, shifted((uint64_t)l->c << 32 | l->a, clamped(l->b, 64), false, false) >> 32)

static void sgxt(struct lane *l)
{
	unsigned n = clamped(l->b, 32);
	l->to = 0;
	for (unsigned i = 0; i < 32 && n; i++)
		l->to |= (uint64_t)(l->a >> (i < n ? i : n - 1) & 1) << i;
}

static void sgxt_u_w(struct lane *l)
{
	l->to = 0;
	for (unsigned i = 0; i < l->b % 32; i++)
		l->to |= l->a & 1u << i;
}

static void bmsk(struct lane *l)
{
	l->to = 0;
	for (uint64_t i = l->a; i < 32 && i < (uint64_t)l->a + l->b; i++)
		l->to |= 1u << i;
}

static void flo(struct lane *l)
{
	uint32_t v = ~l->a;
	l->to = UINT32_MAX;
	for (unsigned i = 0; i < 32; i++)
		if (v >> i & 1)
			l->to = i;
}

static void flo_s_sh(struct lane *l)
{
	l->to = UINT32_MAX;
	for (unsigned i = 0; i < 31; i++)
		if ((l->a >> i & 1) != l->a >> 31)
			l->to = 31 - i;
}

static void popc(struct lane *l)
{
	l->to = 0;
	for (unsigned i = 0; i < 32; i++)
		l->to += l->a >> i & 1;
}

static void brev(struct lane *l)
{
	l->to = 0;
	for (unsigned i = 0; i < 32; i++)
		l->to |= (uint64_t)(l->a >> i & 1) << (31 - i);
}

static void prmt(struct lane *l)
{
	uint8_t bytes[8];
	memcpy(bytes, &l->a, 4);
	memcpy(bytes + 4, &l->c, 4);
	l->to = 0;
	for (unsigned i = 0; i < 4; i++) {
		unsigned n = l->b >> 4 * i & 15;
		uint8_t byte = bytes[n & 7];
		if (n & 8)
			byte = byte & 0x80 ? 0xff : 0;
		l->to |= (uint64_t)byte << 8 * i;
	}
}

/* By the table of PTX's prmt: which bytes, from the highest down. */
static void prmt_b4e(struct lane *l)
{
	static const uint8_t from[4][4] = {
		{ 5, 6, 7, 0 }, { 6, 7, 0, 1 }, { 7, 0, 1, 2 }, { 0, 1, 2, 3 }
	};
	uint64_t pair = (uint64_t)l->c << 32 | l->a;
	l->to = 0;
	for (unsigned i = 0; i < 4; i++)
		l->to = l->to << 8 | (pair >> 8 * from[l->b & 3][i] & 0xff);
}

TO(sel, l->p0 ? l->a : l->b)
TO(sel_wide, l->p0 ? l->aw : l->bw)
TO(mov_wide, l->aw)
TO(mov_number, 0x12345)

static void p2r(struct lane *l)
{
	unsigned bits = (unsigned)l->p0 | (unsigned)l->p1 << 1 | (unsigned)l->p2 << 2 |
			(unsigned)l->to_p << 3 | (unsigned)l->to_q << 4;
	l->to = (l->a & ~0x1fu) | bits;
}

static void r2p(struct lane *l)
{
	l->to_p = l->a >> 3 & 1;
}

static const struct operation_test bits[] = {
	{ 75, "LOP3.LUT R2, R4, R6, R8, 0x6a, !PT", logic_6a },
	{ 75, "LOP3.LUT R2, R4, 0xff00, R8, 0xd8, !PT", logic_d8 },
	{ 80, "LOP3.LUT P3, R2, R4, R6, RZ, 0xc0, P0", logic_test },
	{ 80, "LOP3.LUT.PAND P3, R2, R4, R6, RZ, 0xc0, !P0", logic_pand },
	{ 80, "PLOP3.LUT P3, P4, P0, !P1, P2, 0x2e, 0xb7", plop3 },
	{ 80, "PLOP3.LUT P3, P4, P0, R4.SIGN, P2, 0x2e, 0xb7", plop3_sign },
	{ 75, "SHF.L.U32 R2, R4, R6, RZ", shl },
	{ 75, "SHF.L.W.U32 R2, R4, R6, RZ", shl_w },
	{ 75, "SHF.L.U32.HI R2, R4, R6, R8", shl_hi },
	{ 75, "SHF.R.U32.HI R2, RZ, R6, R8", shr_u },
	{ 75, "SHF.R.S32.HI R2, RZ, R6, R8", shr_s },
	{ 75, "SHF.R.W.S32.HI R2, RZ, R6, R8", shr_w },
	{ 75, "SHF.R.U32 R2, R4, R6, R8", funnel },
	{ 75, "SHF.R.U64 R2, R4, R6, R8", shr_u64 },
	{ 75, "SHF.R.S64.HI R2, R4, R6, R8", shr_s64 },
	{ 75, "SHF.L.U64.HI R2, R4, R6, R8", shl_u64 },
	{ 75, "SGXT R2, R4, R6", sgxt },
	{ 75, "SGXT.W.U32 R2, R4, R6", sgxt_u_w },
	{ 75, "BMSK R2, R4, R6", bmsk },
	{ 75, "FLO.U32 R2, ~R4", flo },
	{ 75, "FLO.SH R2, R4", flo_s_sh },
	{ 75, "POPC R2, R4", popc },
	{ 75, "BREV R2, R4", brev },
	{ 75, "PRMT R2, R4, R6, R8", prmt },
	{ 75, "PRMT.B4E R2, R4, R6, R8", prmt_b4e },
	{ 75, "SEL R2, R4, R6, P0", sel },
	{ 120, "SEL.64 R2, R4, R6, P0", sel_wide },
	{ 120, "MOV.64 R2, R4", mov_wide },
	{ 75, "MOV R2, 0x12345", mov_number },
	{ 75, "P2R R2, PR, R4, 0x1f", p2r },
	{ 75, "R2P PR, R4, 0x8", r2p },
};

static void check(const struct operation_test *tests, size_t n)
{
	for (size_t i = 0; i < n; i++)
		machine_check(&tests[i], rounds, i + 1);
}

static void test_sums(void **state)
{
	(void)state;
	check(sums, WSI_COUNT(sums));
}

static void test_products(void **state)
{
	(void)state;
	check(products, WSI_COUNT(products));
	check(scaled, WSI_COUNT(scaled));
}

static void test_comparisons(void **state)
{
	(void)state;
	check(comparisons, WSI_COUNT(comparisons));
}

static void test_bits(void **state)
{
	(void)state;
	check(bits, WSI_COUNT(bits));
}

/* Results may overlap sources. */
static void test_overlap(void **state)
{
	static const char *const texts[][2] = {
		{ "IMAD.WIDE.U32 R2, R4, R6, R8", "IMAD.WIDE.U32 R4, R4, R6, R8" },
		{ "IMAD.WIDE.U32 R2, R4, R6, R8", "IMAD.WIDE.U32 R6, R4, R6, R8" },
		{ "IMAD.WIDE.U32 R2, R4, R6, R8", "IMAD.WIDE.U32 R8, R4, R6, R8" },
		{ "IMAD.WIDE.U32 R2, R4, R5, R6", "IMAD.WIDE.U32 R4, R4, R5, R6" },
	};
	static struct machine a, b;
	uint64_t seed = 7;
	(void)state;
	for (size_t i = 0; i < WSI_COUNT(texts); i++) {
		struct wsi_alu plain, over;
		machine_prepare(&plain, 80, texts[i][0]);
		machine_prepare(&over, 80, texts[i][1]);
		machine_fill(&a, &seed);
		b = a;
		machine_run(&a, &plain);
		machine_run(&b, &over);
		assert_memory_equal(a.r[AT_TO], b.r[over.result[0].number], 2 * sizeof a.r[AT_TO]);
	}
}

/* Lanes 0 and 2 of each quad. */
static void test_quads(void **state)
{
	static struct machine before, m;
	struct wsi_alu alu;
	uint64_t seed = 8;
	(void)state;
	machine_prepare(&alu, 80, "MOV R2, R4, 0x5");
	machine_fill(&before, &seed);
	m = before;
	machine_run(&m, &alu);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++)
		assert_int_equal(m.r[AT_TO][l], before.r[l % 2 ? AT_TO : AT_A][l]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),        cmocka_unit_test(test_products),
		cmocka_unit_test(test_comparisons), cmocka_unit_test(test_bits),
		cmocka_unit_test(test_overlap),     cmocka_unit_test(test_quads),
	};
	if (argc > 1)
		rounds = (unsigned)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
