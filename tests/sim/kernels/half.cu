// SPDX-License-Identifier: Apache-2.0
// 16-bit and smaller floating point.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "kernel.h"

static __device__ inline __half2 half2_of(u32 bits)
{
	return *(const __half2 *)&bits;
}

static __device__ inline u32 bits_of(__half2 value)
{
	return *(const u32 *)&value;
}

KERNEL half_mix(u32 *out, const u32 *a, const u32 *b, const u32 *c, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	__half2 x = half2_of(a[i]), y = half2_of(b[i]), z = half2_of(c[i]);
	out[6 * i] = bits_of(__hadd2_rn(x, y));
	out[6 * i + 1] = bits_of(__hmul2_rn(x, y));
	out[6 * i + 2] = bits_of(__hfma2(x, y, z));
	out[6 * i + 3] = bits_of(__hsub2_rn(x, __lowhigh2highlow(y)));
	out[6 * i + 4] = bits_of(__hfma2_sat(x, y, z));
	out[6 * i + 5] = bits_of(__hneg2(__habs2(x)));
}

KERNEL half_compare(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	__half2 x = half2_of(a[i]), y = half2_of(b[i]);
	u32 mask = __hbeq2(x, y) | __hblt2(x, y) << 1 | __hbgeu2(x, y) << 2;
	mask |= (u32)__hlt(__low2half(x), __high2half(y)) << 3 | (u32)__hne(__high2half(x), __low2half(y)) << 4;
	out[2 * i] = mask;
	out[2 * i + 1] = bits_of(__hgt2(x, y));
}

KERNEL half_convert(u32 *out, const float *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[5 * i] = __half_as_ushort(__float2half_rn(a[i]));
	out[5 * i + 1] = __half_as_ushort(__float2half_rz(a[i]));
	out[5 * i + 2] = bits_of(__floats2half2_rn(a[i], -a[i]));
	out[5 * i + 3] = __float_as_uint(__half2float(__ushort_as_half((unsigned short)b[i])));
	out[5 * i + 4] = (u32)__half2int_rn(__ushort_as_half((unsigned short)(b[i] >> 16)));
}

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
KERNEL bf16_mix(u32 *out, const u32 *a, const u32 *b, const u32 *c, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	__nv_bfloat162 x = *(const __nv_bfloat162 *)&a[i], y = *(const __nv_bfloat162 *)&b[i], z = *(const __nv_bfloat162 *)&c[i];
	__nv_bfloat162 fused = __hfma2(x, y, z);
	out[3 * i] = *(const u32 *)&fused;
	out[3 * i + 1] = __float_as_uint(__low2float(x));
	out[3 * i + 2] = __bfloat16_as_ushort(__float2bfloat16_rn(__uint_as_float(a[i])));
}
#endif

#ifdef __CUDA_ARCH_FEAT_SM100_ALL
KERNEL half_random(u32 *out, const u32 *a, const u32 *b, const u32 *random, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	asm("cvt.rs.f16x2.f32 %0, %1, %2, %3;" : "=r"(out[6 * i]) : "f"(__uint_as_float(a[i])), "f"(__uint_as_float(b[i])), "r"(random[i] & 0x1fff1fff));
	asm("cvt.rs.relu.f16x2.f32 %0, %1, %2, %3;" : "=r"(out[6 * i + 1]) : "f"(__uint_as_float(b[i])), "f"(__uint_as_float(a[i])), "r"(random[i] & 0x1fff1fff));
	asm("cvt.rs.satfinite.f16x2.f32 %0, %1, %2, %3;" : "=r"(out[6 * i + 2]) : "f"(__uint_as_float(a[i])), "f"(__uint_as_float(b[i])), "r"(random[i] & 0x1fff1fff));
	asm("cvt.rs.bf16x2.f32 %0, %1, %2, %3;" : "=r"(out[6 * i + 3]) : "f"(__uint_as_float(a[i])), "f"(__uint_as_float(b[i])), "r"(random[i]));
	asm("cvt.rs.relu.bf16x2.f32 %0, %1, %2, %3;" : "=r"(out[6 * i + 4]) : "f"(__uint_as_float(b[i])), "f"(__uint_as_float(a[i])), "r"(random[i]));
	asm("cvt.rs.satfinite.bf16x2.f32 %0, %1, %2, %3;" : "=r"(out[6 * i + 5]) : "f"(__uint_as_float(a[i])), "f"(__uint_as_float(b[i])), "r"(random[i]));
}
#endif

KERNEL half_dot(float *out, const u32 *a, const u32 *b, int n, int len)
{
	int i = thread_number();
	if (i >= n)
		return;
	float sum = 0;
	for (int k = 0; k < len; k++) {
		float2 x = __half22float2(half2_of(a[i * len + k])), y = __half22float2(half2_of(b[i * len + k]));
		sum = __fmaf_rn(x.x, y.x, sum);
		sum = __fmaf_rn(x.y, y.y, sum);
	}
	out[i] = sum;
}
