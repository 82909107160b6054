// SPDX-License-Identifier: Apache-2.0
// Floating point, 32 and 64 bits.
#include "kernel.h"

KERNEL float_mix(float *out, const float *a, const float *b, const float *c, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[5 * i] = __fadd_rn(a[i], b[i]);
	out[5 * i + 1] = __fmul_rn(a[i], b[i]);
	out[5 * i + 2] = __fmaf_rn(a[i], b[i], c[i]);
	out[5 * i + 3] = __fsub_rn(a[i], b[i]);
	out[5 * i + 4] = __fmaf_rn(-a[i], fabsf(b[i]), -c[i]);
}

KERNEL float_directed(float *out, const float *a, const float *b, const float *c, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[9 * i] = __fadd_rz(a[i], b[i]);
	out[9 * i + 1] = __fadd_ru(a[i], b[i]);
	out[9 * i + 2] = __fadd_rd(a[i], b[i]);
	out[9 * i + 3] = __fmul_rz(a[i], b[i]);
	out[9 * i + 4] = __fmul_ru(a[i], b[i]);
	out[9 * i + 5] = __fmul_rd(a[i], b[i]);
	out[9 * i + 6] = __fmaf_rz(a[i], b[i], c[i]);
	out[9 * i + 7] = __fmaf_ru(a[i], b[i], c[i]);
	out[9 * i + 8] = __fmaf_rd(a[i], b[i], c[i]);
}

KERNEL float_divide(float *out, const float *a, const float *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[3 * i] = __fdiv_rn(a[i], b[i]);
	out[3 * i + 1] = __fsqrt_rn(fabsf(a[i]));
	out[3 * i + 2] = __frcp_rn(b[i]);
}

KERNEL float_bounds(float *out, const float *a, const float *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[6 * i] = fminf(a[i], b[i]);
	out[6 * i + 1] = fmaxf(a[i], b[i]);
	out[6 * i + 2] = copysignf(a[i], b[i]);
	out[6 * i + 3] = __saturatef(a[i]);
	out[6 * i + 4] = a[i] < b[i] ? a[i] : -b[i];
	out[6 * i + 5] = fabsf(a[i]) > 1.0f ? truncf(a[i]) : rintf(a[i]);
}

KERNEL float_to_int(int *out, const float *a, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[8 * i] = __float2int_rn(a[i]);
	out[8 * i + 1] = __float2int_rz(a[i]);
	out[8 * i + 2] = __float2int_ru(a[i]);
	out[8 * i + 3] = __float2int_rd(a[i]);
	out[8 * i + 4] = (int)__float2uint_rz(a[i]);
	s64 wide = __float2ll_rn(a[i]);
	out[8 * i + 5] = (int)wide;
	out[8 * i + 6] = (int)(wide >> 32);
	out[8 * i + 7] = (int)floorf(a[i]) - (int)ceilf(a[i]);
}

KERNEL int_to_float(float *out, const u32 *a, const u64 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[8 * i] = __int2float_rn((int)a[i]);
	out[8 * i + 1] = __int2float_rz((int)a[i]);
	out[8 * i + 2] = __int2float_ru((int)a[i]);
	out[8 * i + 3] = __uint2float_rd(a[i]);
	out[8 * i + 4] = __ll2float_rn((s64)b[i]);
	out[8 * i + 5] = __ull2float_rz(b[i]);
	out[8 * i + 6] = (float)(signed char)a[i];
	out[8 * i + 7] = (float)(unsigned short)(a[i] >> 16);
}

KERNEL float_classes(u32 *out, const float *a, const float *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	float x = a[i], y = b[i];
	out[i] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5 |
		 !(x < y) << 6 | !(x >= y) << 7 | (x != x) << 8 | (isinf(y) ? 1 : 0) << 9 | (signbit(x) ? 1 : 0) << 10;
}

KERNEL float_horner(float *out, const float *a, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	float x = a[i], sum = 1.0f / 5040;
	const float c[] = { 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f };
	for (int k = 0; k < 7; k++)
		sum = __fmaf_rn(sum, x, c[k]);
	out[i] = sum;
}

// The hardware's own approximations.
KERNEL float_approximate(float *out, const float *a, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	float x = a[i];
	out[7 * i] = __sinf(x);
	out[7 * i + 1] = __cosf(x);
	asm("ex2.approx.f32 %0, %1;" : "=f"(out[7 * i + 2]) : "f"(x));
	asm("lg2.approx.f32 %0, %1;" : "=f"(out[7 * i + 3]) : "f"(fabsf(x)));
	asm("rsqrt.approx.f32 %0, %1;" : "=f"(out[7 * i + 4]) : "f"(fabsf(x)));
	asm("rcp.approx.f32 %0, %1;" : "=f"(out[7 * i + 5]) : "f"(x));
	asm("tanh.approx.f32 %0, %1;" : "=f"(out[7 * i + 6]) : "f"(x));
}

KERNEL float_flush(float *out, const float *a, const float *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	asm("add.ftz.f32 %0, %1, %2;" : "=f"(out[4 * i]) : "f"(a[i]), "f"(b[i]));
	asm("mul.ftz.f32 %0, %1, %2;" : "=f"(out[4 * i + 1]) : "f"(a[i]), "f"(b[i]));
	asm("fma.rn.ftz.sat.f32 %0, %1, %2, %1;" : "=f"(out[4 * i + 2]) : "f"(a[i]), "f"(b[i]));
	asm("min.ftz.f32 %0, %1, %2;" : "=f"(out[4 * i + 3]) : "f"(a[i]), "f"(b[i]));
}

KERNEL double_mix(double *out, const double *a, const double *b, const double *c, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[8 * i] = __dadd_rn(a[i], b[i]);
	out[8 * i + 1] = __dmul_rn(a[i], b[i]);
	out[8 * i + 2] = __fma_rn(a[i], b[i], c[i]);
	out[8 * i + 3] = __dadd_ru(a[i], b[i]);
	out[8 * i + 4] = __dmul_rz(a[i], b[i]);
	out[8 * i + 5] = __fma_rd(a[i], b[i], c[i]);
	out[8 * i + 6] = fmin(a[i], b[i]);
	out[8 * i + 7] = fabs(a[i]) < c[i] ? -a[i] : b[i];
}

KERNEL double_divide(double *out, const double *a, const double *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[3 * i] = a[i] / b[i];
	out[3 * i + 1] = sqrt(fabs(a[i]));
	out[3 * i + 2] = __drcp_rn(b[i]);
}

KERNEL double_convert(double *out, const double *a, const u64 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[8 * i] = (double)__double2float_rn(a[i]);
	out[8 * i + 1] = (double)__double2float_rz(a[i]);
	out[8 * i + 2] = (double)__double2int_rn(a[i]);
	out[8 * i + 3] = (double)__double2ll_rz(a[i]);
	out[8 * i + 4] = (double)(s64)b[i];
	out[8 * i + 5] = __ull2double_rd(b[i]);
	out[8 * i + 6] = (double)(u32)b[i];
	out[8 * i + 7] = floor(a[i]) + trunc(a[i]);
}

KERNEL double_newton(double *out, const double *a, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	double x = a[i], root = x > 1 ? x : 1;
	for (int k = 0; k < 40; k++)
		root = 0.5 * (root + x / root);
	out[i] = root;
}
