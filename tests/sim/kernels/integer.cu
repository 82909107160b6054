// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic and logic, 8 to 128 bits.
#include "kernel.h"

KERNEL int_mix(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 x = a[i], y = b[i];
	out[i] = (x + y) * (x - y) + x * 7u - (y ^ 0x5bd1e995u) + (u32)i * x;
}

KERNEL int_wide(u64 *out, const u64 *a, const u64 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u64 x = a[i], y = b[i];
	s64 s = (s64)x, t = (s64)y;
	out[4 * i] = x * y + (x - y);
	out[4 * i + 1] = __umul64hi(x, y);
	out[4 * i + 2] = (u64)__mul64hi(s, t);
	out[4 * i + 3] = (u64)(s >> (y & 63)) ^ (x << (y & 31)) ^ (x >> (y & 63));
}

KERNEL int_high(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[4 * i] = __umulhi(a[i], b[i]);
	out[4 * i + 1] = (u32)__mulhi((int)a[i], (int)b[i]);
	out[4 * i + 2] = __umul24(a[i], b[i]);
	out[4 * i + 3] = (u32)__mul24((int)a[i], (int)b[i]);
}

KERNEL int_divide(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 x = a[i], y = b[i] >> (i & 31) | 1;
	int s = (int)x, t = (int)(b[i] | 1) >> (i & 31) | 1;
	out[4 * i] = x / y;
	out[4 * i + 1] = x % y;
	out[4 * i + 2] = (u32)(t == -1 ? -1 : s / t);
	out[4 * i + 3] = (u32)(t == -1 ? 0 : s % t);
}

KERNEL int_divide_wide(u64 *out, const u64 *a, const u64 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u64 x = a[i], y = b[i] >> (i & 63) | 1;
	s64 s = (s64)x, t = (s64)(b[i] | 2) >> (i & 31) | 2;
	out[4 * i] = x / y;
	out[4 * i + 1] = x % y;
	out[4 * i + 2] = (u64)(s / t);
	out[4 * i + 3] = (u64)(s % t);
}

KERNEL int_shift(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 x = a[i], y = b[i], by = (u32)i * 5;
	out[6 * i] = __funnelshift_l(x, y, by);
	out[6 * i + 1] = __funnelshift_r(x, y, by);
	out[6 * i + 2] = __funnelshift_lc(x, y, by);
	out[6 * i + 3] = __funnelshift_rc(x, y, by);
	out[6 * i + 4] = x << (by & 31) | y >> (by & 31);
	out[6 * i + 5] = (u32)((int)x >> (by & 31));
}

KERNEL int_bits(u32 *out, const u32 *a, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 x = a[i] >> (i & 31);
	u64 wide = (u64)x << 32 | a[i];
	out[8 * i] = (u32)__popc(x);
	out[8 * i + 1] = (u32)__clz((int)x);
	out[8 * i + 2] = (u32)__ffs((int)x);
	out[8 * i + 3] = __brev(x);
	out[8 * i + 4] = (u32)__popcll(wide);
	out[8 * i + 5] = (u32)__clzll((s64)wide);
	out[8 * i + 6] = (u32)__ffsll((s64)wide);
	out[8 * i + 7] = __byte_perm(x, a[i], 0x3160u + (u32)(i & 7));
}

KERNEL int_bounds(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	int s = (int)a[i], t = (int)b[i];
	out[8 * i] = min(a[i], b[i]);
	out[8 * i + 1] = max(a[i], b[i]);
	out[8 * i + 2] = (u32)min(s, t);
	out[8 * i + 3] = (u32)max(s, t);
	out[8 * i + 4] = s < 0 ? 0u - (u32)s : (u32)s;
	out[8 * i + 5] = __usad(a[i], b[i], 17);
	out[8 * i + 6] = __uhadd(a[i], b[i]);
	out[8 * i + 7] = (u32)min(max(s, -1000), 1000);
}

KERNEL int_dot(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[4 * i] = __dp4a(a[i], b[i], 5u);
	out[4 * i + 1] = (u32)__dp4a((int)a[i], (int)b[i], -5);
	out[4 * i + 2] = __dp2a_lo(a[i], b[i], 7u);
	out[4 * i + 3] = (u32)__dp2a_hi((int)a[i], (int)b[i], -7);
}

KERNEL int_bytes(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[6 * i] = __vadd4(a[i], b[i]);
	out[6 * i + 1] = __vabsdiffu4(a[i], b[i]);
	out[6 * i + 2] = __vmaxu2(a[i], b[i]);
	out[6 * i + 3] = __vmins2(a[i], b[i]);
	out[6 * i + 4] = __vcmpgtu4(a[i], b[i]);
	out[6 * i + 5] = __vaddus4(a[i], b[i]);
}

// 256-bit numbers: chains of carries.
KERNEL int_carry(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	const u32 *x = a + 8 * i, *y = b + 8 * i;
	u32 sum[8], difference[8];
	asm("add.cc.u32 %0, %8, %16; addc.cc.u32 %1, %9, %17; addc.cc.u32 %2, %10, %18; addc.cc.u32 %3, %11, %19;"
	    "addc.cc.u32 %4, %12, %20; addc.cc.u32 %5, %13, %21; addc.cc.u32 %6, %14, %22; addc.u32 %7, %15, %23;"
	    : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3]), "=r"(sum[4]), "=r"(sum[5]), "=r"(sum[6]), "=r"(sum[7])
	    : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]),
	      "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
	asm("sub.cc.u32 %0, %4, %8; subc.cc.u32 %1, %5, %9; subc.cc.u32 %2, %6, %10; subc.u32 %3, %7, %11;"
	    : "=r"(difference[0]), "=r"(difference[1]), "=r"(difference[2]), "=r"(difference[3])
	    : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]));
	u32 low, high;
	asm("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %5;"
	    : "=r"(low), "=r"(high) : "r"(x[0]), "r"(y[1]), "r"(x[2]), "r"(y[3]));
	difference[4] = low;
	difference[5] = high;
	for (int k = 0; k < 8; k++)
		out[16 * i + k] = sum[k];
	for (int k = 0; k < 6; k++)
		out[16 * i + 8 + k] = difference[k];
}

KERNEL int_fields(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 from = b[i] & 31, count = b[i] >> 8 & 31, field, sign, set;
	asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(a[i]), "r"(from), "r"(count));
	asm("bfe.s32 %0, %1, %2, %3;" : "=r"(sign) : "r"(a[i]), "r"(from), "r"(count));
	asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(set) : "r"(a[i]), "r"(b[i]), "r"(from), "r"(count));
	out[3 * i] = field;
	out[3 * i + 1] = sign;
	out[3 * i + 2] = set;
}

KERNEL int_gcd(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 x = a[i], y = b[i];
	while (y) {
		u32 rest = x % y;
		x = y;
		y = rest;
	}
	out[i] = x;
}

KERNEL int_collatz(u32 *out, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u64 x = (u64)i + 1;
	u32 steps = 0;
	for (; x != 1; steps++)
		x = x & 1 ? 3 * x + 1 : x / 2;
	out[i] = steps;
}

KERNEL int_crc(u32 *out, const unsigned char *text, int n, int len)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 crc = 0xffffffffu;
	for (int k = 0; k < len; k++) {
		crc ^= text[i * len + k];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	out[i] = ~crc;
}
