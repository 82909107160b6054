/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <fenv.h>
#include <math.h>

enum { N = 250, BLOCKS = 2, THREADS = 128 };

/* Out of the compiler's sight, so that rounding modes count. */
static __attribute__((noinline)) float sum_of(volatile float a, volatile float b)
{
	return a + b;
}

static __attribute__((noinline)) float product_of(volatile float a, volatile float b)
{
	return a * b;
}

static __attribute__((noinline)) double wide_sum_of(volatile double a, volatile double b)
{
	return a + b;
}

static __attribute__((noinline)) double wide_product_of(volatile double a, volatile double b)
{
	return a * b;
}

static void float_mix(struct job *j)
{
	float *a = job_floats(j, N), *b = job_floats(j, N), *c = job_floats(j, N),
	      *out = job_buffer(j, N * 20), want[5 * N];
	job_launch(j, "float_mix", BLOCKS, THREADS, "ppppi", out, a, b, c, N);
	for (unsigned i = 0; i < N; i++) {
		float *w = &want[5 * i];
		w[0] = a[i] + b[i];
		w[1] = a[i] * b[i];
		w[2] = fmaf(a[i], b[i], c[i]);
		w[3] = a[i] - b[i];
		w[4] = fmaf(-a[i], fabsf(b[i]), -c[i]);
	}
	job_same_floats(j, out, want, 5 * N);
}

static void float_directed(struct job *j)
{
	static const int mode[3] = { FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD };
	float *a = job_floats(j, N), *b = job_floats(j, N), *c = job_floats(j, N),
	      *out = job_buffer(j, N * 36), want[9 * N];
	job_launch(j, "float_directed", BLOCKS, THREADS, "ppppi", out, a, b, c, N);
	for (unsigned m = 0; m < 3; m++) {
		fesetround(mode[m]);
		for (unsigned i = 0; i < N; i++) {
			want[9 * i + m] = sum_of(a[i], b[i]);
			want[9 * i + 3 + m] = product_of(a[i], b[i]);
			want[9 * i + 6 + m] = fmaf(a[i], b[i], c[i]);
		}
	}
	fesetround(FE_TONEAREST);
	job_same_floats(j, out, want, 9 * N);
}

static void float_divide(struct job *j)
{
	float *a = job_floats(j, N), *b = job_floats(j, N), *out = job_buffer(j, N * 12),
	      want[3 * N];
	job_launch(j, "float_divide", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		want[3 * i] = a[i] / b[i];
		want[3 * i + 1] = sqrtf(fabsf(a[i]));
		want[3 * i + 2] = 1.0f / b[i];
	}
	job_same_floats(j, out, want, 3 * N);
}

static float least(float a, float b)
{
	return isnan(a) ? b : isnan(b) ? a : a < b || (a == b && signbit(a)) ? a : b;
}

static float most(float a, float b)
{
	return isnan(a) ? b : isnan(b) ? a : a > b || (a == b && !signbit(a)) ? a : b;
}

static void float_bounds(struct job *j)
{
	float *a = job_floats(j, N), *b = job_floats(j, N), *out = job_buffer(j, N * 24),
	      want[6 * N];
	job_launch(j, "float_bounds", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		float *w = &want[6 * i];
		w[0] = least(a[i], b[i]);
		w[1] = most(a[i], b[i]);
		w[2] = copysignf(a[i], b[i]);
		w[3] = a[i] > 1 ? 1 : a[i] > 0 ? a[i] : 0;
		w[4] = a[i] < b[i] ? a[i] : -b[i];
		w[5] = fabsf(a[i]) > 1 ? truncf(a[i]) : nearbyintf(a[i]);
	}
	job_same_floats(j, out, want, 6 * N);
}

/* Rounded to an integer by a mode, then held between bounds; a NaN gives `nan`. */
static int64_t whole(double x, int mode, int64_t low, int64_t high, int64_t nan)
{
	if (isnan(x))
		return nan;
	double r = mode == FE_TONEAREST  ? nearbyint(x)
		   : mode == FE_UPWARD   ? ceil(x)
		   : mode == FE_DOWNWARD ? floor(x)
					 : trunc(x);
	return r <= (double)low ? low : r >= (double)high ? high : (int64_t)r;
}

static void float_to_int(struct job *j)
{
	float *a = job_floats(j, N);
	uint32_t *out = job_buffer(j, N * 32), want[8 * N];
	job_launch(j, "float_to_int", BLOCKS, THREADS, "ppi", out, a, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t *w = &want[8 * i];
		double x = (double)a[i];
		w[0] = (uint32_t)whole(x, FE_TONEAREST, INT32_MIN, INT32_MAX, 0);
		w[1] = (uint32_t)whole(x, FE_TOWARDZERO, INT32_MIN, INT32_MAX, 0);
		w[2] = (uint32_t)whole(x, FE_UPWARD, INT32_MIN, INT32_MAX, 0);
		w[3] = (uint32_t)whole(x, FE_DOWNWARD, INT32_MIN, INT32_MAX, 0);
		w[4] = (uint32_t)whole(x, FE_TOWARDZERO, 0, UINT32_MAX, 0);
		int64_t wide = whole(x, FE_TONEAREST, INT64_MIN, INT64_MAX, INT64_MIN);
		w[5] = (uint32_t)wide;
		w[6] = (uint32_t)((uint64_t)wide >> 32);
		w[7] = (uint32_t)whole(x, FE_DOWNWARD, INT32_MIN, INT32_MAX, 0) -
		       (uint32_t)whole(x, FE_UPWARD, INT32_MIN, INT32_MAX, 0);
	}
	job_same(j, out, want, 8 * N);
}

static void int_to_float(struct job *j)
{
	uint32_t *a = job_words(j, N);
	uint64_t *b = job_wide(j, N);
	float *out = job_buffer(j, N * 32), want[8 * N];
	job_launch(j, "int_to_float", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		float *w = &want[8 * i];
		volatile int32_t s = (int32_t)a[i];
		volatile uint32_t u = a[i];
		volatile uint64_t wide = b[i];
		w[0] = (float)s;
		fesetround(FE_TOWARDZERO);
		w[1] = (float)s;
		w[5] = (float)wide;
		fesetround(FE_UPWARD);
		w[2] = (float)s;
		fesetround(FE_DOWNWARD);
		w[3] = (float)u;
		fesetround(FE_TONEAREST);
		w[4] = (float)(int64_t)wide;
		w[6] = (float)(int8_t)a[i];
		w[7] = (float)(a[i] >> 16);
	}
	job_same_floats(j, out, want, 8 * N);
}

static void float_classes(struct job *j)
{
	float *a = job_floats(j, N), *b = job_floats(j, N);
	uint32_t *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "float_classes", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		bool unordered = isnan(a[i]) || isnan(b[i]);
		bool less = !unordered && a[i] < b[i], equal = !unordered && a[i] == b[i],
		     more = !unordered && !less && !equal;
		const bool bits[] = { less,        less || equal, more,         more || equal,
				      equal,       !equal,        !less,        !(more || equal),
				      isnan(a[i]), isinf(b[i]),   signbit(a[i]) };
		want[i] = 0;
		for (unsigned k = 0; k < sizeof bits; k++)
			want[i] |= (uint32_t)bits[k] << k;
	}
	job_same(j, out, want, N);
}

static void float_horner(struct job *j)
{
	static const float c[] = { 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f };
	float *a = job_floats(j, N), *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "float_horner", BLOCKS, THREADS, "ppi", out, a, N);
	for (unsigned i = 0; i < N; i++) {
		want[i] = 1.0f / 5040;
		for (unsigned k = 0; k < 7; k++)
			want[i] = fmaf(want[i], a[i], c[k]);
	}
	job_same_floats(j, out, want, N);
}

static void float_approximate(struct job *j)
{
	float *a = job_plain_floats(j, N), *out = job_buffer(j, N * 28), want[7 * N];
	job_launch(j, "float_approximate", BLOCKS, THREADS, "ppi", out, a, N);
	for (unsigned i = 0; i < N; i++) {
		double x = (double)a[i];
		want[7 * i] = (float)sin(x);
		want[7 * i + 1] = (float)cos(x);
		want[7 * i + 2] = (float)exp2(x);
		want[7 * i + 3] = (float)log2(fabs(x));
		want[7 * i + 4] = (float)(1 / sqrt(fabs(x)));
		want[7 * i + 5] = (float)(1 / x);
		want[7 * i + 6] = (float)tanh(x);
	}
	/* the bounds of the programming guide and the PTX manual, rounded up */
	for (unsigned k = 0; k < 7; k++) {
		float got[N], wanted[N];
		for (unsigned i = 0; i < N; i++) {
			got[i] = out[7 * i + k];
			wanted[i] = want[7 * i + k];
		}
		double absolute = k < 2    ? 0x1p-20
				  : k == 3 ? 0x1p-21
					   : 0,
		       relative = k == 6  ? 0x1p-10
				  : k < 2 ? 0
					  : 0x1p-21;
		job_near(j, got, wanted, N, relative, absolute);
	}
}

static float flushed(float x)
{
	return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static void float_flush(struct job *j)
{
	float *a = job_floats(j, N), *b = job_floats(j, N), *out = job_buffer(j, N * 16),
	      want[4 * N];
	for (unsigned i = 0; i < N; i += 3) {
		a[i] = ldexpf(a[i], -100);
		b[i] = ldexpf(b[i], -60);
	}
	job_launch(j, "float_flush", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		float x = flushed(a[i]), y = flushed(b[i]), f = flushed(fmaf(x, y, x)),
		      *w = &want[4 * i];
		w[0] = flushed(x + y);
		w[1] = flushed(x * y);
		w[2] = f > 1 ? 1 : f > 0 ? f : 0;
		w[3] = least(x, y);
	}
	job_same_floats(j, out, want, 4 * N);
}

static void double_mix(struct job *j)
{
	double *a = job_doubles(j, N), *b = job_doubles(j, N), *c = job_doubles(j, N),
	       *out = job_buffer(j, N * 64), want[8 * N];
	job_launch(j, "double_mix", BLOCKS, THREADS, "ppppi", out, a, b, c, N);
	for (unsigned i = 0; i < N; i++) {
		double *w = &want[8 * i];
		w[0] = a[i] + b[i];
		w[1] = a[i] * b[i];
		w[2] = fma(a[i], b[i], c[i]);
		fesetround(FE_UPWARD);
		w[3] = wide_sum_of(a[i], b[i]);
		fesetround(FE_TOWARDZERO);
		w[4] = wide_product_of(a[i], b[i]);
		fesetround(FE_DOWNWARD);
		w[5] = fma(a[i], b[i], c[i]);
		fesetround(FE_TONEAREST);
		bool first = isnan(b[i]) || a[i] < b[i] || (a[i] == b[i] && signbit(a[i]));
		w[6] = isnan(a[i]) || !first ? b[i] : a[i];
		w[7] = fabs(a[i]) < c[i] ? -a[i] : b[i];
	}
	job_same_doubles(j, out, want, 8 * N);
}

static void double_divide(struct job *j)
{
	double *a = job_doubles(j, N), *b = job_doubles(j, N), *out = job_buffer(j, N * 24),
	       want[3 * N];
	job_launch(j, "double_divide", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		want[3 * i] = a[i] / b[i];
		want[3 * i + 1] = sqrt(fabs(a[i]));
		want[3 * i + 2] = 1 / b[i];
	}
	job_same_doubles(j, out, want, 3 * N);
}

static void double_convert(struct job *j)
{
	double *a = job_doubles(j, N), *out = job_buffer(j, N * 64), want[8 * N];
	uint64_t *b = job_wide(j, N);
	job_launch(j, "double_convert", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		double *w = &want[8 * i];
		volatile double x = a[i];
		volatile uint64_t u = b[i];
		volatile float narrow = (float)x;
		w[0] = (double)narrow;
		fesetround(FE_TOWARDZERO);
		narrow = (float)x;
		w[1] = (double)narrow;
		fesetround(FE_DOWNWARD);
		w[5] = (double)u;
		fesetround(FE_TONEAREST);
		w[2] = (double)whole(x, FE_TONEAREST, INT32_MIN, INT32_MAX, INT32_MIN);
		w[3] = (double)whole(x, FE_TOWARDZERO, INT64_MIN, INT64_MAX, INT64_MIN);
		w[4] = (double)(int64_t)u;
		w[6] = (double)(uint32_t)u;
		w[7] = floor(x) + trunc(x);
	}
	job_same_doubles(j, out, want, 8 * N);
}

static void double_newton(struct job *j)
{
	double *a = job_doubles(j, N), *out = job_buffer(j, N * 8), want[N];
	for (unsigned i = 0; i < N; i++)
		a[i] = fabs(a[i]);
	job_launch(j, "double_newton", BLOCKS, THREADS, "ppi", out, a, N);
	for (unsigned i = 0; i < N; i++) {
		want[i] = a[i] > 1 ? a[i] : 1;
		for (unsigned k = 0; k < 40; k++)
			want[i] = 0.5 * (want[i] + a[i] / want[i]);
	}
	job_same_doubles(j, out, want, N);
}

const struct job_case job_float[] = {
	{ "float", "float_mix", float_mix, 0, NULL },
	{ "float", "float_directed", float_directed, 0, NULL },
	{ "float", "float_divide", float_divide, 0, NULL },
	{ "float", "float_bounds", float_bounds, 0, "which bits a NaN keeps" },
	{ "float", "float_to_int", float_to_int, 0, NULL },
	{ "float", "int_to_float", int_to_float, 0, NULL },
	{ "float", "float_classes", float_classes, 0, NULL },
	{ "float", "float_horner", float_horner, 0, NULL },
	{ "float", "float_approximate", float_approximate, 0, NULL },
	{ "float", "float_flush", float_flush, 0, NULL },
	{ "float", "double_mix", double_mix, 0, NULL },
	{ "float", "double_divide", double_divide, 0, NULL },
	{ "float", "double_convert", double_convert, 0, NULL },
	{ "float", "double_newton", double_newton, 0, NULL },
	{ 0 },
};
