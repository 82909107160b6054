/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices that four warps multiply together, from shared memory in the layouts of PTX. */
#include "panel.h"

#include <stdlib.h>

enum { ROWS = 64, COLUMNS = 16, WORDS = 4096 };

/* As the kernel's. */
struct shapes {
	uint32_t leading_a, stride_a, leading_b, stride_b, swizzle, step_a, step_b;
};

/* Where element i of a thread is in the product. */
static unsigned row_of(unsigned thread, unsigned i)
{
	return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}

static unsigned column_of(unsigned thread, unsigned i)
{
	return i / 4 * 8 + thread % 4 * 2 + i % 2;
}

static double dot(const double *a, const double *b, unsigned thread, unsigned i, unsigned depth)
{
	double sum = 0;
	for (unsigned k = 0; k < depth; k++)
		sum += a[row_of(thread, i) * depth + k] * b[column_of(thread, i) * depth + k];
	return sum;
}

static void product(struct job *j, const char *kernel, enum type type_a, enum type type_b,
		    unsigned span, bool by_rows, unsigned steps, double sign)
{
	static const uint32_t codes[] = { 0, 3, 2, 1 };
	static double a[ROWS * 128], b[COLUMNS * 128];
	uint32_t *ma = job_buffer(j, WORDS * 4), *mb = job_buffer(j, WORDS * 4);
	float *out = job_buffer(j, ROWS * COLUMNS * 4), want[ROWS * COLUMNS];
	unsigned bytes = bytes_of(type_a), depth = 32 / bytes * steps;
	struct layout la = { span, by_rows, ROWS, depth }, lb = { span, by_rows, COLUMNS, depth };
	struct shapes s;
	if (!by_rows && span > 16)
		la.depth = lb.depth = span / bytes;
	fill(j, &la, type_a, ma, a);
	fill(j, &lb, type_b, mb, b);
	offsets(&la, bytes, &s.leading_a, &s.stride_a, &s.step_a);
	offsets(&lb, bytes, &s.leading_b, &s.stride_b, &s.step_b);
	s.swizzle = codes[span == 16 ? 0 : span == 32 ? 1 : span == 64 ? 2 : 3];
	for (unsigned t = 0; t < 128; t++)
		for (unsigned i = 0; i < 8; i++) {
			double sum = 0;
			out[t * 8 + i] = (float)(int)(job_random(j) % 33) - 16;
			for (unsigned k = 0; k < depth; k++)
				sum += a[row_of(t, i) * la.depth + k] *
				       b[column_of(t, i) * lb.depth + k];
			want[t * 8 + i] = (float)(out[t * 8 + i] + sign * sum);
		}
	job_launch(j, kernel, 1, 128, "pppsi", out, ma, mb, &s, steps);
	job_same_floats(j, out, want, ROWS * COLUMNS);
	j->n_buffers -= 3;
	for (unsigned i = 0; i < 3; i++)
		free(j->buffer[j->n_buffers + i].host);
}

static void group_f16(struct job *j)
{
	for (unsigned span = 16; span <= 128; span *= 2)
		product(j, "group_f16", F16, F16, span, false, span == 16 ? 3 : span / 32, 1);
}

static void group_f16_rows(struct job *j)
{
	for (unsigned span = 16; span <= 32; span *= 2)
		product(j, "group_f16_rows", F16, F16, span, true, 2, 1);
}

static void group_bf16(struct job *j)
{
	product(j, "group_bf16", BF16, BF16, 128, false, 4, -1);
}

static void group_tf32(struct job *j)
{
	product(j, "group_tf32", TF32, TF32, 64, false, 2, 1);
	product(j, "group_tf32", TF32, TF32, 16, false, 3, 1);
}

static void group_fp8(struct job *j)
{
	product(j, "group_fp8", E4M3, E5M2, 128, false, 4, 1);
}

static void group_integers(struct job *j)
{
	static double a[ROWS * 32], b[COLUMNS * 32];
	uint32_t *ma = job_buffer(j, WORDS), *mb = job_buffer(j, WORDS),
		 *out = job_words(j, ROWS * COLUMNS), want[ROWS * COLUMNS];
	struct layout la = { 32, false, ROWS, 32 }, lb = { 32, false, COLUMNS, 32 };
	struct shapes s = { .swizzle = 3 };
	fill(j, &la, S8, ma, a);
	fill(j, &lb, U8, mb, b);
	offsets(&la, 1, &s.leading_a, &s.stride_a, &s.step_a);
	offsets(&lb, 1, &s.leading_b, &s.stride_b, &s.step_b);
	for (unsigned t = 0; t < 128; t++)
		for (unsigned i = 0; i < 8; i++)
			want[t * 8 + i] = out[t * 8 + i] + (uint32_t)(int32_t)dot(a, b, t, i, 32);
	job_launch(j, "group_integers", 1, 128, "ppps", out, ma, mb, &s);
	job_same(j, out, want, ROWS * COLUMNS);
}

static void group_registers(struct job *j)
{
	static double a[ROWS * 16], b[COLUMNS * 16];
	uint16_t *ra = job_buffer(j, ROWS * 16 * 2), *out = job_buffer(j, ROWS * COLUMNS * 2),
		 want[ROWS * COLUMNS];
	uint32_t *mb = job_buffer(j, WORDS);
	struct layout lb = { 32, false, COLUMNS, 16 };
	struct shapes s = { .swizzle = 3 };
	fill(j, &lb, F16, mb, b);
	offsets(&lb, 2, &s.leading_b, &s.stride_b, &s.step_b);
	for (unsigned i = 0; i < ROWS * 16; i++) {
		unsigned t = i / 8, r = i / 2 % 4;
		unsigned row = t / 32 * 16 + t % 32 / 4 + r % 2 * 8;
		unsigned k = r / 2 * 8 + t % 4 * 2 + i % 2;
		int v = (int)(job_random(j) % 9) - 4;
		ra[i] = (uint16_t)encode(F16, v);
		a[row * 16 + k] = v / 2.0;
	}
	for (uint32_t adds = 0; adds < 2; adds++) {
		for (unsigned i = 0; i < ROWS * COLUMNS; i++) {
			out[i] = (uint16_t)encode(F16, (int)(job_random(j) % 9) - 4);
			double old = adds ? half_value(out[i]) : 0;
			want[i] = (uint16_t)narrow_bits(old + dot(a, b, i / 8, i % 8, 16), 0, 5, 10,
							0);
		}
		job_launch(j, "group_registers", 1, 128, "pppsi", out, ra, mb, &s, adds);
		job_same(j, (uint32_t *)out, (uint32_t *)want, ROWS * COLUMNS / 2);
	}
}

static void set_registers(struct job *j)
{
	uint32_t *in = job_words(j, 256), *out = job_buffer(j, 1024), want[256], many[160];
	for (unsigned t = 0; t < 256; t++) {
		uint32_t v = in[t];
		for (unsigned i = 0; i < 160; i++)
			many[i] = in[(t + i) & 255];
		for (unsigned k = 0; k < 3; k++)
			for (unsigned i = 0; i < 160; i++)
				many[i] = many[i] * 3 + many[(i + 7) % 160];
		for (unsigned i = 0; i < 160; i++)
			v = v * 31 + many[i];
		want[t] = t < 128 ? in[t] * 5 + 1 : v;
	}
	job_launch(j, "set_registers", 1, 256, "pp", out, in);
	job_same(j, out, want, 256);
}

/* One of A's elements in two is there. `first`: thread of four that has the first places. */
static void sparse(struct job *j, const char *kernel, enum type type, unsigned first)
{
	static double a[ROWS * SPARSE_MOST], b[COLUMNS * 2 * SPARSE_MOST];
	static unsigned place[ROWS][SPARSE_MOST];
	uint32_t *ma = job_buffer(j, WORDS), *mb = job_buffer(j, WORDS), *out, *places,
		 want[ROWS * COLUMNS];
	unsigned n = 32 / bytes_of(type);
	struct layout la = { 16, false, ROWS, n }, lb = { 16, false, COLUMNS, 2 * n };
	struct shapes s = { .swizzle = 0 };
	out = job_buffer(j, sizeof want);
	places = job_words(j, 128);
	fill(j, &la, type, ma, a);
	fill(j, &lb, type, mb, b);
	offsets(&la, bytes_of(type), &s.leading_a, &s.stride_a, &s.step_a);
	offsets(&lb, bytes_of(type), &s.leading_b, &s.stride_b, &s.step_b);
	for (unsigned row = 0; row < ROWS; row++)
		pick_places(j, type, n, place[row]);
	for (unsigned t = 0; t < 128; t++)
		if (bytes_of(type) == 1 || t % 4 / 2 == first / 2) /* others have anything */
			places[t] = places_of(type, n, first, &place[t / 32 * 16], t % 32);
	for (unsigned i = 0; i < ROWS * COLUMNS; i++) {
		unsigned row = row_of(i / 8, i % 8), column = column_of(i / 8, i % 8);
		double sum = (int)(job_random(j) % 33) - 16;
		float value = (float)sum;
		memcpy(&out[i], &value, 4);
		if (type == S8)
			out[i] = (uint32_t)(int32_t)sum;
		for (unsigned k = 0; k < n; k++)
			sum += a[row * n + k] *
			       b[column * 2 * n + dense_place(type, place[row], k)];
		value = (float)sum;
		memcpy(&want[i], &value, 4);
		if (type == S8)
			want[i] = (uint32_t)(int32_t)sum;
	}
	job_launch(j, kernel, 1, 128, "pppsp", out, ma, mb, &s, places);
	job_same(j, out, want, ROWS * COLUMNS);
}

static void group_sparse(struct job *j)
{
	sparse(j, "group_sparse_f16", F16, 2);
	sparse(j, "group_sparse_tf32", TF32, 0);
}

static void group_sparse_bytes(struct job *j)
{
	sparse(j, "group_sparse_e4m3", E4M3, 0);
	sparse(j, "group_sparse_s8", S8, 0);
}

/* Rows of 256 bits, as 32 bytes; how many bits two of them have in common. */
static void group_bits(struct job *j)
{
	struct layout la = { 32, false, ROWS, 32 }, lb = { 32, false, COLUMNS, 32 };
	struct shapes s = { .swizzle = 3 };
	uint32_t *ma = job_words(j, 512), *mb = job_words(j, 128),
		 *out = job_words(j, ROWS * COLUMNS), want[ROWS * COLUMNS];
	offsets(&la, 1, &s.leading_a, &s.stride_a, &s.step_a);
	offsets(&lb, 1, &s.leading_b, &s.stride_b, &s.step_b);
	for (unsigned i = 0; i < ROWS * COLUMNS; i++) {
		want[i] = out[i];
		for (unsigned k = 0; k < 32; k++) {
			uint8_t x = ((uint8_t *)ma)[place(&la, row_of(i / 8, i % 8), k, 1)];
			x &= ((uint8_t *)mb)[place(&lb, column_of(i / 8, i % 8), k, 1)];
			want[i] += (uint32_t)__builtin_popcount(x);
		}
	}
	job_launch(j, "group_bits", 1, 128, "ppps", out, ma, mb, &s);
	job_same(j, out, want, ROWS * COLUMNS);
}

/* By one warp: of thread t rows t / 4 and t / 4 + 8 of A in turn, every fourth column from t % 4
 * on. */
static void double_deep(struct job *j)
{
	double *a = job_buffer(j, 256 * 8), *b = job_buffer(j, 128 * 8),
	       *out = job_buffer(j, 128 * 8), want[128], whole_a[16][16], whole_b[8][16];
	for (unsigned i = 0; i < 256; i++) {
		unsigned t = i / 8, row = t / 4 + i % 2 * 8, k = i % 8 / 2 * 4 + t % 4;
		whole_a[row][k] = a[i] = (int)(job_random(j) % 33) / 4.0 - 4;
	}
	for (unsigned i = 0; i < 128; i++) {
		whole_b[i / 16][i % 4 * 4 + i / 4 % 4] = b[i] = (int)(job_random(j) % 33) / 4.0 - 4;
		out[i] = (int)(job_random(j) % 33) - 16;
	}
	for (unsigned i = 0; i < 128; i++) {
		unsigned t = i / 4, row = t / 4 + i % 4 / 2 * 8, column = t % 4 * 2 + i % 2;
		want[i] = out[i];
		for (unsigned k = 0; k < 16; k++)
			want[i] += whole_a[row][k] * whole_b[column][k];
	}
	job_launch(j, "double_deep", 1, 32, "ppp", out, a, b);
	job_same_doubles(j, out, want, 128);
}

const struct job_case job_group[] = {
	{ "group", "group_f16", group_f16, JOB_ONLY + 90, NULL },
	{ "group", "group_f16_rows", group_f16_rows, JOB_ONLY + 90, NULL },
	{ "group", "group_bf16", group_bf16, JOB_ONLY + 90, NULL },
	{ "group", "group_tf32", group_tf32, JOB_ONLY + 90, NULL },
	{ "group", "group_fp8", group_fp8, JOB_ONLY + 90, NULL },
	{ "group", "group_integers", group_integers, JOB_ONLY + 90, NULL },
	{ "group", "group_registers", group_registers, JOB_ONLY + 90, NULL },
	{ "group", "group_sparse_f16", group_sparse, JOB_ONLY + 90, NULL },
	{ "group", "group_sparse_s8", group_sparse_bytes, JOB_ONLY + 90, NULL },
	{ "group", "group_bits", group_bits, JOB_ONLY + 90, NULL },
	{ "group", "double_deep", double_deep, JOB_ONLY + 90, NULL },
	{ "bulk", "set_registers", set_registers, 90, NULL },
	{ 0 },
};
