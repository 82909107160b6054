/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUFU: what hardware takes from tables. The values here are computed in double precision with sums
 * and products alone, so that every machine gets the same bits, and are rounded once; they are
 * nearer than what hardware promises, not the same (docs/sim-arithmetic.md). Denormal sources and
 * results are zeros.
 */
#include "alu/bits.h"
#include "alu/soft.h"

#define LN2 0x1.62e42fefa39efp-1
#define TWO_PI 0x1.921fb54442d18p+2

/* The nearest integer, for magnitudes below 2^51. */
static double nearest(double x)
{
	double magic = 0x1.8p52;
	return (x + magic) - magic;
}

static double power_of_two(int n)
{
	return wsi_double((uint64_t)(n + 1023) << 52);
}

static double exp2_of(double x)
{
	double n = nearest(x), y = (x - n) * LN2, sum = 1, term = 1;
	for (unsigned i = 1; i <= 14; i++) {
		term *= y / i;
		sum += term;
	}
	return sum * power_of_two((int)n);
}

/* Of a positive normal number. */
static double log2_of_double(double x)
{
	uint64_t bits = wsi_double_bits(x);
	int exponent = (int)(bits >> 52) - 1023;
	double m = wsi_double((bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52);
	if (m > 0x1.6a09e667f3bcdp+0) {
		m /= 2;
		exponent++;
	}
	double t = (m - 1) / (m + 1), square = t * t, sum = 0;
	for (int i = 21; i >= 1; i -= 2)
		sum = sum * square + 1.0 / i;
	return exponent + 2 * t * sum / LN2;
}

/* Of a number of turns, less than 2^51 of them; `quarters` more. */
static double sine_of(double turns, int quarters)
{
	double part = turns - nearest(turns), q = nearest(4 * part);
	double y = (part - q / 4) * TWO_PI, square = y * y;
	int quadrant = ((int)q + quarters) & 3;
	/* Taylor's terms from the last to the first: of the cosine in odd quadrants. */
	double sum = 1;
	for (int i = quadrant & 1 ? 16 : 17; i >= 2; i -= 2)
		sum = 1 - sum * square / (i * (i - 1));
	if (!(quadrant & 1))
		sum *= y;
	return quadrant & 2 ? -sum : sum;
}

static double tanh_of(double x)
{
	double magnitude = x < 0 ? -x : x;
	if (magnitude > 20)
		magnitude = 20;
	if (magnitude < 0x1p-12)
		return x;
	double e = exp2_of(2 * magnitude / LN2), value = (e - 1) / (e + 1);
	return x < 0 ? -value : value;
}

enum function { COS, SIN, EX2, LG2, RCP, RSQ, RCP64H, RSQ64H, SQRT, TANH };

static double not_a_number(void)
{
	return wsi_double(WSI_NAN64);
}

static double limited(double x, double most)
{
	return x > most ? most : x < -most ? -most : x;
}

/* Of a number whose denormals are zeros already. */
static double mufu_value_of(enum function f, double x)
{
	bool infinite = x - x != 0;
	if (x != x)
		return x;
	switch (f) {
	case COS:
	case SIN:
		if (infinite)
			return not_a_number();
		if (f == SIN && x == 0)
			return x;
		return sine_of(limited(x, 0x1p50), f == COS);
	case EX2:
		return exp2_of(limited(x, 1000));
	case LG2:
		if (x <= 0)
			return x < 0 ? not_a_number() : -1 / (x * x);
		return infinite ? x : log2_of_double(x);
	case RCP:
	case RCP64H:
		return 1 / x;
	case RSQ:
	case RSQ64H:
		if (x == 0)
			return 1 / x;
		return x < 0 ? not_a_number() : 1 / __builtin_sqrt(x);
	case SQRT:
		return x < 0 ? not_a_number() : __builtin_sqrt(x);
	case TANH:
		return tanh_of(x);
	}
	return not_a_number();
}

static void run_mufu_single(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		double x = wsi_float(wsi_flushed(wsi_word(alu, io, 0, l), true));
		double y = mufu_value_of((enum function)alu->kind, x);
		io->result[0][l] = y != y ? WSI_NAN32 : wsi_flushed(wsi_bits((float)y), true);
	}
}

/* Halves. */
static void run_mufu(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	unsigned size = 1u + alu->from->exponent_bits + alu->from->fraction_bits;
	uint32_t sign = UINT32_C(1) << (size - 1);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t bits = (io->source[0][l] >> alu->select[0] & (sign | (sign - 1)));
		bits = (bits & (alu->sat ? ~sign : UINT32_MAX)) ^ (alu->relu ? sign : 0);
		struct wsi_soft v = wsi_soft_unpack(alu->from, bits, true);
		double x = wsi_double(wsi_soft_pack(&wsi_f64, &v, WSI_RN, false, false));
		double y = mufu_value_of((enum function)alu->kind, x);
		v = wsi_soft_unpack(&wsi_f64, wsi_double_bits(y), false);
		io->result[0][l] = (uint32_t)wsi_soft_pack(alu->from, &v, WSI_RN, true, false);
	}
}

/* The upper word of a double from the upper word of one. */
static void run_mufu_wide(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint64_t bits = (uint64_t)wsi_word(alu, io, 0, l) << 32;
		struct wsi_soft v = wsi_soft_unpack(&wsi_f64, bits, true);
		double x = wsi_double(wsi_soft_pack(&wsi_f64, &v, WSI_RN, false, false));
		double y = mufu_value_of((enum function)alu->kind, x);
		v = wsi_soft_unpack(&wsi_f64, wsi_double_bits(y), false);
		io->result[0][l] =
			(uint32_t)(wsi_soft_pack(&wsi_f64, &v, WSI_RN, true, false) >> 32);
	}
}

bool wsi_alu_prepare_mufu(struct wsi_alu_build *b)
{
	static const enum ws_modifier names[] = {
		[COS] = WS_MOD_COS,       [SIN] = WS_MOD_SIN,       [EX2] = WS_MOD_EX2,
		[LG2] = WS_MOD_LG2,       [RCP] = WS_MOD_RCP,       [RSQ] = WS_MOD_RSQ,
		[RCP64H] = WS_MOD_RCP64H, [RSQ64H] = WS_MOD_RSQ64H, [SQRT] = WS_MOD_SQRT,
		[TANH] = WS_MOD_TANH,
	};
	struct wsi_alu *alu = b->alu;
	if (!wsi_alu_shape(b, 1, 0) || wsi_alu_have(b, WS_MOD_F16x2))
		return false;
	for (uint8_t i = 0; i < WSI_COUNT(names); i++)
		if (wsi_alu_have(b, names[i]))
			alu->kind = i;
	alu->keep[0] = b->absolute[0] ? ~WSI_SIGN32 : UINT32_MAX;
	alu->flip[0] = b->negated[0] ? WSI_SIGN32 : 0;
	if (alu->kind == RCP64H || alu->kind == RSQ64H) {
		alu->run = run_mufu_wide;
		return true;
	}
	alu->from = wsi_alu_have(b, WS_MOD_F16)    ? &wsi_f16
		    : wsi_alu_have(b, WS_MOD_BF16) ? &wsi_bf16
						   : &wsi_f32;
	alu->select[0] = b->suffix[0][0] == WS_MOD_H1 ? 16 : 0;
	alu->sat = b->absolute[0];
	alu->relu = b->negated[0];
	alu->run = alu->from == &wsi_f32 ? run_mufu_single : run_mufu;
	return true;
}

/*
 * FCHK: whether a division needs its slow path. The fast one is a reciprocal and five FFMA, right
 * where no step leaves the normal numbers; here it says so only with room to spare. The slow path
 * is right for all numbers.
 */
static void run_fchk(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t slow = 0;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		int a = (int)(wsi_word(alu, io, 0, l) >> 23 & 0xff) - 127;
		int b = (int)(wsi_word(alu, io, 1, l) >> 23 & 0xff) - 127;
		bool fast =
			a > -100 && a < 127 && b > -125 && b < 125 && a - b > -124 && a - b < 126;
		slow |= (uint32_t)!fast << l;
	}
	io->predicate_result[0] = slow;
}

bool wsi_alu_prepare_fchk(struct wsi_alu_build *b)
{
	b->alu->keep[0] = b->alu->keep[1] = UINT32_MAX;
	b->alu->run = run_fchk;
	return wsi_alu_shape(b, 2, 0);
}
