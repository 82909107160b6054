/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"
#include "narrow.h"

/* Products of small whole numbers, so that every sum is exact in any order. */
static double small_number(struct job *j)
{
	return (double)((int)(job_random(j) % 9) - 4);
}

static uint16_t *halves(struct job *j, double *ret_values, unsigned n)
{
	uint16_t *bits = job_buffer(j, n * 2);
	for (unsigned i = 0; i < n; i++) {
		ret_values[i] = small_number(j);
		bits[i] = (uint16_t)narrow_bits(ret_values[i], 0, 5, 10, 0);
	}
	return bits;
}

/* c[m][n] = sum of a[m][k] * b[k][n], where b lies by rows or by columns. */
static double product(const double *a, const double *b, unsigned row, unsigned column,
		      unsigned k_size, unsigned n_size, bool by_columns)
{
	double sum = 0;
	for (unsigned k = 0; k < k_size; k++)
		sum += a[row * k_size + k] *
		       (by_columns ? b[column * k_size + k] : b[k * n_size + column]);
	return sum;
}

static void wmma_half(struct job *j)
{
	double a[16 * 32], b[16 * 32];
	uint16_t *bits_a = halves(j, a, 16 * 32), *bits_b = halves(j, b, 16 * 32);
	float *c = job_buffer(j, 1024), want[256];
	job_launch(j, "wmma_half", 1, 32, "ppp", c, bits_a, bits_b);
	for (unsigned i = 0; i < 256; i++)
		want[i] = (float)product(a, b, i / 16, i % 16, 32, 16, true);
	job_same_floats(j, c, want, 256);
}

static void wmma_half_sum(struct job *j)
{
	double a[256], b[256];
	uint16_t *bits_a = halves(j, a, 256), *bits_b = halves(j, b, 256), *c = job_buffer(j, 512);
	job_launch(j, "wmma_half_sum", 1, 32, "ppp", c, bits_a, bits_b);
	for (unsigned i = 0; i < 256; i++) {
		double want = 1 + product(a, b, i / 16, i % 16, 16, 16, false);
		if (half_value(c[i]) != want)
			job_fail(j, "number %u is %g, not %g", i, half_value(c[i]), want);
	}
}

static void wmma_bytes(struct job *j)
{
	double a[256], b[256];
	int8_t *bytes_a = job_buffer(j, 256), *bytes_b = job_buffer(j, 256);
	uint32_t *c = job_buffer(j, 1024), want[256];
	for (unsigned i = 0; i < 256; i++) {
		a[i] = bytes_a[i] = (int8_t)job_random(j);
		b[i] = bytes_b[i] = (int8_t)job_random(j);
	}
	job_launch(j, "wmma_bytes", 1, 32, "ppp", c, bytes_a, bytes_b);
	for (unsigned i = 0; i < 256; i++)
		want[i] = (uint32_t)(int32_t)(7 + product(a, b, i / 16, i % 16, 16, 16, true));
	job_same(j, c, want, 256);
}

static void wmma_bf16(struct job *j)
{
	double a[256], b[256];
	uint16_t *bits_a = job_buffer(j, 512), *bits_b = job_buffer(j, 512);
	float *c = job_buffer(j, 1024), want[256];
	for (unsigned i = 0; i < 256; i++) {
		a[i] = small_number(j);
		b[i] = small_number(j);
		bits_a[i] = (uint16_t)narrow_bits(a[i], 0, 8, 7, 0);
		bits_b[i] = (uint16_t)narrow_bits(b[i], 0, 8, 7, 0);
	}
	job_launch(j, "wmma_bf16", 1, 32, "ppp", c, bits_a, bits_b);
	for (unsigned i = 0; i < 256; i++)
		want[i] = (float)product(a, b, i / 16, i % 16, 16, 16, true);
	job_same_floats(j, c, want, 256);
}

static void wmma_tf32(struct job *j)
{
	double a[128], b[128];
	float *in_a = job_buffer(j, 512), *in_b = job_buffer(j, 512), *c = job_buffer(j, 1024),
	      want[256];
	for (unsigned i = 0; i < 128; i++) {
		a[i] = small_number(j) / 64;
		b[i] = small_number(j) * 3;
		in_a[i] = (float)a[i];
		in_b[i] = (float)b[i];
	}
	job_launch(j, "wmma_tf32", 1, 32, "ppp", c, in_a, in_b);
	for (unsigned i = 0; i < 256; i++)
		want[i] = (float)product(a, b, i / 16, i % 16, 8, 16, true);
	job_same_floats(j, c, want, 256);
}

static void wmma_double(struct job *j)
{
	double *a = job_buffer(j, 256), *b = job_buffer(j, 256), *c = job_buffer(j, 512), want[64];
	for (unsigned i = 0; i < 32; i++) {
		a[i] = small_number(j) / 8;
		b[i] = small_number(j) * 5;
	}
	job_launch(j, "wmma_double", 1, 32, "ppp", c, a, b);
	for (unsigned i = 0; i < 64; i++)
		want[i] = 0.5 + product(a, b, i / 8, i % 8, 4, 8, true);
	job_same_doubles(j, c, want, 64);
}

static void mma_matrices(struct job *j)
{
	double a[128], b[64];
	uint16_t *bits_a = halves(j, a, 128), *bits_b = halves(j, b, 64);
	float *c = job_buffer(j, 512), want[128];
	job_launch(j, "mma_matrices", 1, 32, "ppp", c, bits_a, bits_b);
	for (unsigned i = 0; i < 128; i++)
		want[i] = (float)(1 + i % 2 + 2 * (i / 64) +
				  product(a, b, i / 8, i % 8, 8, 8, false));
	job_same_floats(j, c, want, 128);
}

const struct job_case job_tensor[] = {
	{ "tensor", "wmma_half", wmma_half, 0, NULL },
	{ "tensor", "wmma_half_sum", wmma_half_sum, 0, NULL },
	{ "tensor", "wmma_bytes", wmma_bytes, 0, NULL },
	{ "tensor", "wmma_bf16", wmma_bf16, 80, NULL },
	{ "tensor", "wmma_tf32", wmma_tf32, 80, NULL },
	{ "tensor", "wmma_double", wmma_double, 80, NULL },
	{ "tensor", "mma_matrices", mma_matrices, 0, NULL },
	{ 0 },
};
