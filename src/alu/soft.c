/* SPDX-License-Identifier: Apache-2.0 */
#include "alu/soft.h"

enum { TOP = 125, SIGNIFICANT = 128 };

const struct wsi_format wsi_f64 = {
	11, 52, UINT64_C(0x7fefffffffffffff), UINT64_C(0x7ff8000000000000), true, true
};
const struct wsi_format wsi_f32 = { 8, 23, 0x7f7fffff, 0x7fffffff, true, true };
const struct wsi_format wsi_f16 = { 5, 10, 0x7bff, 0x7fff, true, true };
const struct wsi_format wsi_bf16 = { 8, 7, 0x7f7f, 0x7fff, true, true };
const struct wsi_format wsi_tf32 = { 8, 10, 0x3fbff, 0x3ffff, true, true };
const struct wsi_format wsi_e4m3 = { 4, 3, 0x7e, 0x7f, false, true };
const struct wsi_format wsi_e5m2 = { 5, 2, 0x7b, 0x7f, true, true };
const struct wsi_format wsi_e2m3 = { 2, 3, 0x1f, 0x1f, false, false };
const struct wsi_format wsi_e3m2 = { 3, 2, 0x1f, 0x1f, false, false };
const struct wsi_format wsi_e2m1 = { 2, 1, 0x7, 0x7, false, false };

static int top_bit(wsi_u128 v)
{
	uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;
	return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(low);
}

/* Shifts right; what falls out stays as the lowest bit. */
static wsi_u128 jam(wsi_u128 v, int by)
{
	if (by <= 0)
		return v;
	if (by >= SIGNIFICANT)
		return v != 0;
	return v >> by | ((v & (((wsi_u128)1 << by) - 1)) != 0);
}

static int bias_of(const struct wsi_format *f)
{
	return (1 << (f->exponent_bits - 1)) - 1;
}

struct wsi_soft wsi_soft_unpack(const struct wsi_format *f, uint64_t bits, bool flush)
{
	uint64_t size = UINT64_C(1) << (f->exponent_bits + f->fraction_bits);
	uint64_t magnitude = bits & (size - 1);
	uint64_t fraction = magnitude & ((UINT64_C(1) << f->fraction_bits) - 1);
	int exponent = (int)(magnitude >> f->fraction_bits);
	struct wsi_soft value = { .negative = bits & size };
	if (f->has_infinity && magnitude == f->largest + 1)
		value.kind = WSI_SOFT_INFINITE;
	else if (f->has_nan && magnitude > f->largest)
		value.kind = WSI_SOFT_NAN;
	else if (magnitude == 0 || (flush && exponent == 0))
		value.kind = WSI_SOFT_ZERO;
	else
		value.kind = WSI_SOFT_FINITE;
	value.mantissa = exponent ? fraction | UINT64_C(1) << f->fraction_bits : fraction;
	value.exponent = (exponent ? exponent : 1) - bias_of(f) - f->fraction_bits;
	return value;
}

static bool away(wsi_u128 rest, wsi_u128 half, bool odd, bool negative, enum wsi_rounding rounding)
{
	switch (rounding) {
	case WSI_RN:
		return rest > half || (rest == half && odd);
	case WSI_RM:
		return negative && rest;
	case WSI_RP:
		return !negative && rest;
	case WSI_RZ:
		break;
	}
	return false;
}

/* The mantissa without its lowest `drop` bits, rounded. */
static wsi_u128 cut(const struct wsi_soft *v, int drop, enum wsi_rounding rounding)
{
	wsi_u128 m = v->mantissa;
	if (drop <= 0)
		return m << -drop;
	if (drop > TOP + 2) { /* a sum has one bit more: less than a half */
		m = 1;
		drop = 2;
	}
	wsi_u128 kept = m >> drop, rest = m & (((wsi_u128)1 << drop) - 1);
	return kept + away(rest, (wsi_u128)1 << (drop - 1), kept & 1, v->negative, rounding);
}

uint64_t wsi_soft_pack(const struct wsi_format *f, const struct wsi_soft *v,
		       enum wsi_rounding rounding, bool flush, bool finite)
{
	uint64_t sign = v->negative ? UINT64_C(1) << (f->exponent_bits + f->fraction_bits) : 0;
	uint64_t beyond = finite ? f->largest : f->has_infinity ? f->largest + 1 : f->nan;
	if (v->kind == WSI_SOFT_NAN)
		return f->nan;
	if (v->kind == WSI_SOFT_INFINITE)
		return sign | beyond;
	if (v->kind == WSI_SOFT_ZERO)
		return sign;
	int top = top_bit(v->mantissa), first = 1 - bias_of(f);
	int exponent = v->exponent + top > first ? v->exponent + top : first;
	uint64_t kept = (uint64_t)cut(v, exponent - f->fraction_bits - v->exponent, rounding);
	uint64_t bits = ((uint64_t)(exponent - first) << f->fraction_bits) + kept;
	if (bits > f->largest) {
		bool inward = rounding == WSI_RZ || (rounding == WSI_RM && !v->negative) ||
			      (rounding == WSI_RP && v->negative);
		bits = inward ? f->largest : beyond;
	}
	if (flush && bits >> f->fraction_bits == 0)
		bits = 0;
	return sign | bits;
}

struct wsi_soft wsi_soft_integer(uint64_t magnitude, bool negative)
{
	return (struct wsi_soft){ .kind = magnitude ? WSI_SOFT_FINITE : WSI_SOFT_ZERO,
				  .negative = negative,
				  .mantissa = magnitude };
}

/* Of numbers with at most 64 bits. */
struct wsi_soft wsi_soft_mul(const struct wsi_soft *a, const struct wsi_soft *b)
{
	struct wsi_soft v = { .kind = WSI_SOFT_FINITE, .negative = a->negative != b->negative };
	bool zero = a->kind == WSI_SOFT_ZERO || b->kind == WSI_SOFT_ZERO;
	bool infinite = a->kind == WSI_SOFT_INFINITE || b->kind == WSI_SOFT_INFINITE;
	if (a->kind == WSI_SOFT_NAN || b->kind == WSI_SOFT_NAN || (zero && infinite))
		v.kind = WSI_SOFT_NAN;
	else if (infinite)
		v.kind = WSI_SOFT_INFINITE;
	else if (zero)
		v.kind = WSI_SOFT_ZERO;
	v.mantissa = (wsi_u128)(uint64_t)a->mantissa * (uint64_t)b->mantissa;
	v.exponent = a->exponent + b->exponent;
	return v;
}

static void raise_to_top(struct wsi_soft *v)
{
	int by = TOP - top_bit(v->mantissa);
	v->mantissa = by >= 0 ? v->mantissa << by : jam(v->mantissa, -by);
	v->exponent -= by;
}

static struct wsi_soft add_finite(struct wsi_soft a, struct wsi_soft b, enum wsi_rounding rounding)
{
	raise_to_top(&a);
	raise_to_top(&b);
	if (a.exponent < b.exponent) {
		struct wsi_soft swap = a;
		a = b;
		b = swap;
	}
	wsi_u128 lower = jam(b.mantissa, a.exponent - b.exponent);
	if (a.negative == b.negative) {
		a.mantissa += lower;
	} else if (a.mantissa > lower) {
		a.mantissa -= lower;
	} else if (a.mantissa < lower) {
		a.mantissa = lower - a.mantissa;
		a.negative = b.negative;
	} else {
		a.kind = WSI_SOFT_ZERO;
		a.negative = rounding == WSI_RM;
	}
	return a;
}

struct wsi_soft wsi_soft_add(const struct wsi_soft *a, const struct wsi_soft *b,
			     enum wsi_rounding rounding)
{
	struct wsi_soft v = *a;
	if (a->kind == WSI_SOFT_FINITE && b->kind == WSI_SOFT_FINITE)
		return add_finite(*a, *b, rounding);
	if (a->kind < b->kind)
		v = *b;
	if (a->kind == b->kind && a->negative != b->negative) {
		if (a->kind == WSI_SOFT_INFINITE)
			v.kind = WSI_SOFT_NAN;
		else if (a->kind == WSI_SOFT_ZERO)
			v.negative = rounding == WSI_RM;
	}
	return v;
}

struct wsi_soft wsi_soft_to_integer(const struct wsi_soft *a, enum wsi_rounding rounding)
{
	struct wsi_soft v = *a;
	if (a->kind != WSI_SOFT_FINITE || a->exponent >= 0)
		return v;
	v.mantissa = cut(a, -a->exponent, rounding);
	v.exponent = 0;
	if (v.mantissa == 0)
		v.kind = WSI_SOFT_ZERO;
	return v;
}
