/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"
#include "narrow.h"

enum { N = 250, BLOCKS = 2, THREADS = 128 };

static uint32_t half_of(double value)
{
	return narrow_bits(value, 0, 5, 10, 0);
}

/* a * b + c, rounded once: the product of two halves is exact, and the error of the sum is exact,
 * too. */
static uint32_t half_fused(double a, double b, double c)
{
	double p = a * b, s = p + c, back = s - p, rest = (p - (s - back)) + (c - back);
	return narrow_bits(s, isfinite(s) ? rest : 0, 5, 10, 0);
}

static uint32_t pair(uint32_t low, uint32_t high)
{
	return low | high << 16;
}

/* Any NaN is as good as any other. */
static uint32_t plain(uint32_t bits)
{
	for (unsigned k = 0; k < 32; k += 16)
		if ((bits >> k & 0x7c00) == 0x7c00 && (bits >> k & 0x3ff))
			bits = (bits & ~(0xffffu << k)) | 0x7fffu << k;
	return bits;
}

static uint32_t saturated(uint32_t half)
{
	double v = half_value(half);
	return isnan(v) || v <= 0 ? 0 : v >= 1 ? 0x3c00 : half;
}

static void half_mix(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *c = job_words(j, N),
		 *out = job_buffer(j, N * 24), want[6 * N];
	for (unsigned i = 0; i < N; i += 2) { /* of ordinary size */
		a[i] = (a[i] & 0x8fff8fff) | 0x30003000;
		b[i] = (b[i] & 0x8fff8fff) | 0x30003000;
		c[i] = (c[i] & 0x8fff8fff) | 0x30003000;
	}
	job_launch(j, "half_mix", BLOCKS, THREADS, "ppppi", out, a, b, c, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t *w = &want[6 * i], r[5][2];
		for (unsigned k = 0; k < 2; k++) {
			double x = half_value(a[i] >> 16 * k), y = half_value(b[i] >> 16 * k),
			       z = half_value(c[i] >> 16 * k);
			r[0][k] = half_of(x + y);
			r[1][k] = half_of(x * y);
			r[2][k] = half_fused(x, y, z);
			r[3][k] = half_of(x - half_value(b[i] >> 16 * (1 - k)));
			r[4][k] = saturated(r[2][k]);
		}
		for (unsigned m = 0; m < 5; m++)
			w[m] = plain(pair(r[m][0], r[m][1]));
		w[5] = plain(a[i] | 0x80008000);
	}
	for (unsigned i = 0; i < 6 * N; i++)
		out[i] = plain(out[i]);
	job_same(j, out, want, 6 * N);
}

static bool both(bool low, bool high)
{
	return low && high;
}

static void half_compare(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *out = job_buffer(j, N * 8),
		 want[2 * N];
	for (unsigned i = 0; i < N; i += 5)
		b[i] = a[i];
	job_launch(j, "half_compare", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		double x0 = half_value(a[i]), x1 = half_value(a[i] >> 16), y0 = half_value(b[i]),
		       y1 = half_value(b[i] >> 16);
		uint32_t *w = &want[2 * i];
		w[0] = both(x0 == y0, x1 == y1) | both(x0 < y0, x1 < y1) << 1 |
		       both(!(x0 < y0), !(x1 < y1)) << 2 | (x0 < y1) << 3 |
		       (x1 < y0 || x1 > y0) << 4;
		w[1] = pair(x0 > y0 ? 0x3c00 : 0, x1 > y1 ? 0x3c00 : 0);
	}
	job_same(j, out, want, 2 * N);
}

static void half_convert(struct job *j)
{
	float *a = job_floats(j, N);
	uint32_t *b = job_words(j, N), *out = job_buffer(j, N * 20), want[5 * N];
	for (unsigned i = 0; i < N; i += 2)
		a[i] = ldexpf(a[i], -10);
	job_launch(j, "half_convert", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t *w = &want[5 * i];
		double x = (double)a[i], z = half_value(b[i] >> 16);
		float back = (float)half_value(b[i]);
		w[0] = plain(half_of(x));
		w[1] = plain(narrow_bits(x, 0, 5, 10, 1));
		w[2] = plain(pair(half_of(x), half_of(-x)));
		memcpy(&w[3], &back, 4);
		w[4] = isnan(z)   ? 0
		       : isinf(z) ? (z < 0 ? 0x80000000u : 0x7fffffffu)
				  : (uint32_t)(int32_t)nearbyint(z);
		for (unsigned k = 0; k < 3; k++)
			out[5 * i + k] = plain(out[5 * i + k]);
		if (isnan(back))
			w[3] = out[5 * i + 3] = 0;
	}
	job_same(j, out, want, 5 * N);
}

static uint32_t plain_bf16(uint32_t bits)
{
	for (unsigned k = 0; k < 32; k += 16)
		if ((bits >> k & 0x7f80) == 0x7f80 && (bits >> k & 0x7f))
			bits = (bits & ~(0xffffu << k)) | 0x7fffu << k;
	return bits;
}

static void bf16_mix(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *c = job_words(j, N),
		 *out = job_buffer(j, N * 12), want[3 * N];
	for (unsigned i = 0; i < N; i += 2) {
		a[i] = (a[i] & 0x87ff87ff) | 0x38003800;
		b[i] = (b[i] & 0x87ff87ff) | 0x38003800;
		c[i] = (c[i] & 0x87ff87ff) | 0x38003800;
	}
	job_launch(j, "bf16_mix", BLOCKS, THREADS, "ppppi", out, a, b, c, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t *w = &want[3 * i], r[2], low = a[i] << 16;
		float whole;
		for (unsigned k = 0; k < 2; k++) {
			double x = bf16_value(a[i] >> 16 * k), y = bf16_value(b[i] >> 16 * k),
			       z = bf16_value(c[i] >> 16 * k);
			double p = x * y, s = p + z, back = s - p,
			       rest = (p - (s - back)) + (z - back);
			r[k] = narrow_bits(s, isfinite(s) ? rest : 0, 8, 7, 0);
		}
		memcpy(&whole, &a[i], 4);
		w[0] = plain_bf16(pair(r[0], r[1]));
		w[1] = plain_bf16(low);
		w[2] = plain_bf16(narrow_bits((double)whole, 0, 8, 7, 0));
		for (unsigned k = 0; k < 3; k++)
			out[3 * i + k] = plain_bf16(out[3 * i + k]);
	}
	job_same(j, out, want, 3 * N);
}

static void half_dot(struct job *j)
{
	enum { LEN = 20 };
	uint32_t *a = job_words(j, N * LEN), *b = job_words(j, N * LEN);
	float *out = job_buffer(j, N * 4), want[N];
	for (unsigned i = 0; i < N * LEN; i++) {
		a[i] = (a[i] & 0x8fff8fff) | 0x30003000;
		b[i] = (b[i] & 0x8fff8fff) | 0x30003000;
	}
	job_launch(j, "half_dot", BLOCKS, THREADS, "pppii", out, a, b, N, LEN);
	for (unsigned i = 0; i < N; i++) {
		want[i] = 0;
		for (unsigned k = i * LEN; k < (i + 1) * LEN; k++)
			for (unsigned m = 0; m < 32; m += 16)
				want[i] = fmaf((float)half_value(a[k] >> m),
					       (float)half_value(b[k] >> m), want[i]);
	}
	job_same_floats(j, out, want, N);
}

/* The two numbers beside `value` are told apart by what lies between, in so many parts as random
 * numbers; doubles have them all. */
static uint32_t half_by(double value, uint32_t random, int exponent, int fraction)
{
	uint32_t low = narrow_bits(value, 0, exponent, fraction, 1), high = low + 1,
		 infinity = ((1u << exponent) - 1) << fraction, sign = 1u << (exponent + fraction);
	int dropped = 23 - fraction;
	if (isnan(value) || isinf(value))
		return narrow_bits(value, 0, exponent, fraction, 1);
	if (fabs(value) >= ldexp(1, 1 << (exponent - 1)))
		return (low & sign) | infinity;
	double unit = ldexp(1, (low & ~sign) >> fraction ? ((int)((low & ~sign) >> fraction) -
							    (1 << (exponent - 1)) + 1 - fraction)
							 : 2 - (1 << (exponent - 1)) - fraction);
	double part = fmod(fabs(value), unit) / unit;
	random &= (1u << dropped) - 1;
	return part + ldexp(random, -dropped) >= 1 ? high : low;
}

static uint32_t finite(uint32_t bits, int fraction)
{
	uint32_t infinity = 0x7fffu >> fraction << fraction;
	return (bits & 0x7fff) == infinity ? bits - 1 : bits;
}

static uint32_t relu(uint32_t bits)
{
	return bits & 0x8000 && bits != 0x7fff ? 0 : bits;
}

static void half_random(struct job *j)
{
	static const int formats[2][2] = { { 5, 10 }, { 8, 7 } };
	uint32_t *a = (uint32_t *)job_floats(j, N), *b = (uint32_t *)job_floats(j, N),
		 *random = job_words(j, N), *out = job_buffer(j, N * 24), want[6 * N];
	for (unsigned i = 0; i < N; i++) {
		float x, y;
		if (i % 2) /* some that become denormal halves, or too large */
			a[i] = (a[i] & 0x807fffff) | (95 + i % 50) << 23;
		memcpy(&x, &a[i], 4);
		memcpy(&y, &b[i], 4);
		for (unsigned f = 0; f < 2; f++) {
			int e = formats[f][0], m = formats[f][1];
			uint32_t *w = &want[6 * i + 3 * f], r = random[i];
			uint32_t high = half_by((double)x, r >> 16, e, m),
				 low = half_by((double)y, r & 0xffff, e, m);
			w[0] = pair(low, high);
			w[1] = pair(relu(half_by((double)x, r & 0xffff, e, m)),
				    relu(half_by((double)y, r >> 16, e, m)));
			w[2] = pair(finite(low, m), finite(high, m));
		}
	}
	job_launch(j, "half_random", BLOCKS, THREADS, "ppppi", out, a, b, random, N);
	job_same(j, out, want, 6 * N);
}

const struct job_case job_half[] = {
	{ "half", "half_mix", half_mix, 0, NULL },
	{ "half", "half_compare", half_compare, 0, NULL },
	{ "half", "half_convert", half_convert, 0, NULL },
	{ "half", "bf16_mix", bf16_mix, 80, NULL },
	{ "half", "half_random", half_random, JOB_ONLY + 100, NULL },
	{ "half", "half_dot", half_dot, 0, NULL },
	{ 0 },
};
