/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

enum { N = 250, BLOCKS = 2, THREADS = 128 };

typedef int64_t s64;
__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

static void int_mix(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "int_mix", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (uint32_t i = 0; i < N; i++)
		want[i] =
			(a[i] + b[i]) * (a[i] - b[i]) + 7 * a[i] - (b[i] ^ 0x5bd1e995u) + i * a[i];
	job_same(j, out, want, N);
}

static void int_wide(struct job *j)
{
	uint64_t *a = job_wide(j, N), *b = job_wide(j, N), *out = job_buffer(j, N * 32),
		 want[4 * N];
	job_launch(j, "int_wide", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		uint64_t *w = &want[4 * i];
		unsigned by = b[i] & 63;
		w[0] = a[i] * b[i] + a[i] - b[i];
		w[1] = (uint64_t)((u128)a[i] * b[i] >> 64);
		w[2] = (uint64_t)((s128)(s64)a[i] * (s64)b[i] >> 64);
		w[3] = (uint64_t)((s64)a[i] >> by) ^ a[i] << (b[i] & 31) ^ a[i] >> by;
	}
	job_same_wide(j, out, want, 4 * N);
}

static int32_t low_24(uint32_t x)
{
	return (int32_t)(x << 8) >> 8;
}

static void int_high(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *out = job_buffer(j, N * 16),
		 want[4 * N];
	job_launch(j, "int_high", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t *w = &want[4 * i];
		w[0] = (uint32_t)((uint64_t)a[i] * b[i] >> 32);
		w[1] = (uint32_t)((s64)(int32_t)a[i] * (int32_t)b[i] >> 32);
		w[2] = (a[i] & 0xffffff) * (b[i] & 0xffffff);
		w[3] = (uint32_t)((s64)low_24(a[i]) * low_24(b[i]));
	}
	job_same(j, out, want, 4 * N);
}

static void int_divide(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *out = job_buffer(j, N * 16),
		 want[4 * N];
	job_launch(j, "int_divide", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t *w = &want[4 * i], y = b[i] >> (i & 31) | 1;
		s64 s = (int32_t)a[i], t = (int32_t)(b[i] | 1) >> (i & 31) | 1;
		w[0] = a[i] / y;
		w[1] = a[i] % y;
		w[2] = t == -1 ? UINT32_MAX : (uint32_t)(s / t);
		w[3] = t == -1 ? 0 : (uint32_t)(s % t);
	}
	job_same(j, out, want, 4 * N);
}

static void int_divide_wide(struct job *j)
{
	uint64_t *a = job_wide(j, N), *b = job_wide(j, N), *out = job_buffer(j, N * 32),
		 want[4 * N];
	job_launch(j, "int_divide_wide", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		uint64_t *w = &want[4 * i], y = b[i] >> (i & 63) | 1;
		s128 s = (s64)a[i], t = (s64)(b[i] | 2) >> (i & 31) | 2;
		w[0] = a[i] / y;
		w[1] = a[i] % y;
		w[2] = (uint64_t)(s / t);
		w[3] = (uint64_t)(s % t);
	}
	job_same_wide(j, out, want, 4 * N);
}

static void int_shift(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *out = job_buffer(j, N * 24),
		 want[6 * N];
	job_launch(j, "int_shift", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t *w = &want[6 * i], by = i * 5, clamped = by < 32 ? by : 32;
		uint64_t both = (uint64_t)b[i] << 32 | a[i];
		w[0] = (uint32_t)(both << (by & 31) >> 32);
		w[1] = (uint32_t)(both >> (by & 31));
		w[2] = clamped == 32 ? a[i] : (uint32_t)(both << clamped >> 32);
		w[3] = (uint32_t)(both >> clamped);
		w[4] = a[i] << (by & 31) | b[i] >> (by & 31);
		w[5] = (uint32_t)((int32_t)a[i] >> (by & 31));
	}
	job_same(j, out, want, 6 * N);
}

static uint32_t count_bits(uint64_t x)
{
	uint32_t n = 0;
	for (; x; x &= x - 1)
		n++;
	return n;
}

/* Number of the highest set bit from 1 on; 0: none. */
static uint32_t highest(uint64_t x)
{
	uint32_t n = 0;
	for (; x; x >>= 1)
		n++;
	return n;
}

static uint32_t permuted(uint32_t x, uint32_t y, uint32_t selector)
{
	uint64_t both = (uint64_t)y << 32 | x;
	uint32_t r = 0;
	for (unsigned k = 0; k < 4; k++)
		r |= (uint32_t)(both >> 8 * (selector >> 4 * k & 7) & 0xff) << 8 * k;
	return r;
}

static void int_bits(struct job *j)
{
	uint32_t *a = job_words(j, N), *out = job_buffer(j, N * 32), want[8 * N];
	a[3] = 0;
	job_launch(j, "int_bits", BLOCKS, THREADS, "ppi", out, a, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t *w = &want[8 * i], x = a[i] >> (i & 31);
		uint64_t wide = (uint64_t)x << 32 | a[i];
		w[0] = count_bits(x);
		w[1] = 32 - highest(x);
		w[2] = highest(x & (0u - x));
		w[3] = 0;
		for (unsigned k = 0; k < 32; k++)
			w[3] |= (x >> k & 1) << (31 - k);
		w[4] = count_bits(wide);
		w[5] = 64 - highest(wide);
		w[6] = highest(wide & (0u - wide));
		w[7] = permuted(x, a[i], 0x3160u + (i & 7));
	}
	job_same(j, out, want, 8 * N);
}

static void int_bounds(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *out = job_buffer(j, N * 32),
		 want[8 * N];
	job_launch(j, "int_bounds", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t *w = &want[8 * i];
		int32_t s = (int32_t)a[i], t = (int32_t)b[i];
		w[0] = a[i] < b[i] ? a[i] : b[i];
		w[1] = a[i] > b[i] ? a[i] : b[i];
		w[2] = (uint32_t)(s < t ? s : t);
		w[3] = (uint32_t)(s > t ? s : t);
		w[4] = s < 0 ? 0u - a[i] : a[i];
		w[5] = 17 + (a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
		w[6] = (uint32_t)(((uint64_t)a[i] + b[i]) >> 1);
		w[7] = (uint32_t)(s < -1000 ? -1000 : s > 1000 ? 1000 : s);
	}
	job_same(j, out, want, 8 * N);
}

static void int_dot(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *out = job_buffer(j, N * 16),
		 want[4 * N];
	job_launch(j, "int_dot", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t *w = &want[4 * i];
		w[0] = 5;
		w[1] = (uint32_t)-5;
		for (unsigned k = 0; k < 32; k += 8) {
			w[0] += (a[i] >> k & 0xff) * (b[i] >> k & 0xff);
			w[1] += (uint32_t)((int8_t)(a[i] >> k) * (int8_t)(b[i] >> k));
		}
		w[2] = 7 + (a[i] & 0xffff) * (b[i] & 0xff) + (a[i] >> 16) * (b[i] >> 8 & 0xff);
		w[3] = (uint32_t)(-7 + (int16_t)a[i] * (int8_t)(b[i] >> 16) +
				  (int16_t)(a[i] >> 16) * (int8_t)(b[i] >> 24));
	}
	job_same(j, out, want, 4 * N);
}

static void int_bytes(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *out = job_buffer(j, N * 24),
		 want[6 * N];
	memset(want, 0, sizeof want);
	job_launch(j, "int_bytes", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t *w = &want[6 * i];
		for (unsigned k = 0; k < 32; k += 8) {
			uint32_t x = a[i] >> k & 0xff, y = b[i] >> k & 0xff;
			w[0] |= ((x + y) & 0xff) << k;
			w[1] |= (x > y ? x - y : y - x) << k;
			w[4] |= (x > y ? 0xffu : 0) << k;
			w[5] |= (x + y > 255 ? 255 : x + y) << k;
		}
		for (unsigned k = 0; k < 32; k += 16) {
			uint32_t x = a[i] >> k & 0xffff, y = b[i] >> k & 0xffff;
			w[2] |= (x > y ? x : y) << k;
			w[3] |= ((int16_t)x < (int16_t)y ? x : y) << k;
		}
	}
	job_same(j, out, want, 6 * N);
}

static void int_carry(struct job *j)
{
	uint32_t *a = job_words(j, 8 * N), *b = job_words(j, 8 * N), *out = job_buffer(j, N * 64),
		 want[16 * N];
	memset(want, 0, sizeof want);
	for (unsigned i = 0; i < 8 * N; i++) /* long carries */
		if (i / 8 % 3 == 0 && i % 8 > 0)
			a[i] = ~b[i];
	job_launch(j, "int_carry", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		const uint32_t *x = &a[8 * i], *y = &b[8 * i];
		uint32_t *w = &want[16 * i];
		uint64_t carry = 0;
		s64 borrow = 0;
		for (unsigned k = 0; k < 8; k++) {
			carry += (uint64_t)x[k] + y[k];
			w[k] = (uint32_t)carry;
			carry >>= 32;
		}
		for (unsigned k = 0; k < 4; k++) {
			borrow += (s64)x[k] - (s64)y[k];
			w[8 + k] = (uint32_t)borrow;
			borrow >>= 32;
		}
		uint64_t sum = (uint64_t)x[0] * y[1] + ((uint64_t)y[3] << 32 | x[2]);
		w[12] = (uint32_t)sum;
		w[13] = (uint32_t)(sum >> 32);
	}
	job_same(j, out, want, 16 * N);
}

static void int_fields(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *out = job_buffer(j, N * 12),
		 want[3 * N];
	job_launch(j, "int_fields", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t from = b[i] & 31, count = b[i] >> 8 & 31, *w = &want[3 * i];
		uint64_t mask = ((uint64_t)1 << count) - 1;
		unsigned top = from + count - 1 > 31 ? 31 : from + count - 1;
		w[0] = (uint32_t)(a[i] >> from & mask);
		bool negative = count != 0 && a[i] >> top & 1;
		w[1] = count == 0 ? 0
		       : negative ? w[0] | (uint32_t) ~(from + count > 31
								? ((uint64_t)1 << (32 - from)) - 1
								: mask)
				  : w[0];
		w[2] = (uint32_t)((b[i] & ~(mask << from)) | (a[i] & mask) << from);
	}
	job_same(j, out, want, 3 * N);
}

static void int_gcd(struct job *j)
{
	uint32_t *a = job_words(j, N), *b = job_words(j, N), *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "int_gcd", BLOCKS, THREADS, "pppi", out, a, b, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t x = a[i], y = b[i];
		for (; y; y = x % y, x = want[i])
			want[i] = y;
		want[i] = x;
	}
	job_same(j, out, want, N);
}

static void int_collatz(struct job *j)
{
	uint32_t *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "int_collatz", BLOCKS, THREADS, "pi", out, N);
	for (unsigned i = 0; i < N; i++) {
		want[i] = 0;
		for (uint64_t x = i + 1; x != 1; x = x & 1 ? 3 * x + 1 : x / 2)
			want[i]++;
	}
	job_same(j, out, want, N);
}

static void int_crc(struct job *j)
{
	enum { LEN = 24 };
	uint32_t *text = job_words(j, N * LEN / 4), *out = job_buffer(j, N * 4), want[N],
		 table[256];
	job_launch(j, "int_crc", BLOCKS, THREADS, "ppii", out, text, N, LEN);
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (0xedb88320u & (0u - (table[i] & 1)));
	}
	for (unsigned i = 0; i < N; i++) {
		const uint8_t *bytes = (const uint8_t *)text + (size_t)i * LEN;
		uint32_t crc = UINT32_MAX;
		for (unsigned k = 0; k < LEN; k++)
			crc = crc >> 8 ^ table[(crc ^ bytes[k]) & 0xff];
		want[i] = ~crc;
	}
	job_same(j, out, want, N);
}

const struct job_case job_integer[] = {
	{ "integer", "int_mix", int_mix, 0, NULL },
	{ "integer", "int_wide", int_wide, 0, NULL },
	{ "integer", "int_high", int_high, 0, NULL },
	{ "integer", "int_divide", int_divide, 0, NULL },
	{ "integer", "int_divide_wide", int_divide_wide, 0, NULL },
	{ "integer", "int_shift", int_shift, 0, NULL },
	{ "integer", "int_bits", int_bits, 0, NULL },
	{ "integer", "int_bounds", int_bounds, 0, NULL },
	{ "integer", "int_dot", int_dot, 0, NULL },
	{ "integer", "int_bytes", int_bytes, 0, NULL },
	{ "integer", "int_carry", int_carry, 0, NULL },
	{ "integer", "int_fields", int_fields, 0, NULL },
	{ "integer", "int_gcd", int_gcd, 0, NULL },
	{ "integer", "int_collatz", int_collatz, 0, NULL },
	{ "integer", "int_crc", int_crc, 0, NULL },
	{ 0 },
};
