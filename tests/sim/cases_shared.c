/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <math.h>
#include <stdlib.h>

static void block_sum(struct job *j)
{
	enum { COUNT = 3 * 256 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, 12), want[3] = { 0 };
	job_launch(j, "block_sum", 3, 256, "pp", out, in);
	for (unsigned i = 0; i < COUNT; i++)
		want[i / 256] += in[i];
	job_same(j, out, want, 3);
}

static void matmul(struct job *j)
{
	enum { SIZE = 48 };
	float *a = job_plain_floats(j, SIZE * SIZE), *b = job_plain_floats(j, SIZE * SIZE),
	      *c = job_buffer(j, SIZE * SIZE * 4), want[SIZE * SIZE];
	job_launch_3d(j, "matmul", (struct ws_dim3){ 3, 3, 1 }, (struct ws_dim3){ 16, 16, 1 }, 0,
		      "pppi", c, a, b, SIZE);
	for (unsigned i = 0; i < SIZE * SIZE; i++) {
		want[i] = 0;
		for (unsigned k = 0; k < SIZE; k++)
			want[i] = fmaf(a[i / SIZE * SIZE + k], b[k * SIZE + i % SIZE], want[i]);
	}
	job_same_floats(j, c, want, SIZE * SIZE);
}

static void transpose(struct job *j)
{
	enum { WIDTH = 40, HEIGHT = 23 };
	uint32_t *in = job_words(j, WIDTH * HEIGHT), *out = job_buffer(j, WIDTH * HEIGHT * 4),
		 want[WIDTH * HEIGHT];
	job_launch_3d(j, "transpose", (struct ws_dim3){ 3, 2, 1 }, (struct ws_dim3){ 16, 16, 1 }, 0,
		      "ppii", out, in, WIDTH, HEIGHT);
	for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
		want[i % WIDTH * HEIGHT + i / WIDTH] = in[i];
	job_same(j, out, want, WIDTH * HEIGHT);
}

static void block_scan(struct job *j)
{
	enum { COUNT = 2 * 160 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, COUNT * 4), want[COUNT];
	job_launch_3d(j, "block_scan", (struct ws_dim3){ 2, 1, 1 }, (struct ws_dim3){ 160, 1, 1 },
		      2 * 160 * 4, "pp", out, in);
	for (unsigned i = 0; i < COUNT; i++)
		want[i] = in[i] + (i % 160 ? want[i - 1] : 0);
	job_same(j, out, want, COUNT);
}

static void histogram(struct job *j)
{
	enum { COUNT = 4001 };
	uint8_t *in = (uint8_t *)job_words(j, COUNT / 4 + 1);
	uint32_t *out = job_buffer(j, 1024), want[256] = { 0 };
	job_launch(j, "histogram", 3, 96, "ppi", out, in, COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		want[in[i]]++;
	job_same(j, out, want, 256);
}

static int compare_words(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static void bitonic_sort(struct job *j)
{
	enum { COUNT = 2 * 256 };
	uint32_t *data = job_words(j, COUNT), want[COUNT];
	memcpy(want, data, sizeof want);
	qsort(want, 256, 4, compare_words);
	qsort(want + 256, 256, 4, compare_words);
	job_launch(j, "bitonic_sort", 2, 256, "p", data);
	job_same(j, data, want, COUNT);
}

static void stencil(struct job *j)
{
	enum { COUNT = 500 };
	static const float weight[5] = { 0.125f, 0.25f, 0.5f, 0.25f, 0.125f };
	float *in = job_plain_floats(j, COUNT), *out = job_buffer(j, COUNT * 4), want[COUNT];
	job_launch(j, "stencil", 4, 128, "ppi", out, in, COUNT);
	for (int i = 0; i < COUNT; i++) {
		want[i] = 0;
		for (int k = 0; k < 5; k++) {
			int at = i + k - 2;
			float term = (at >= 0 && at < COUNT ? in[at] : 0) * weight[k];
			want[i] = k ? want[i] + term : term;
		}
	}
	job_same_floats(j, out, want, COUNT);
}

static void barrier_votes(struct job *j)
{
	enum { COUNT = 3 * 96 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, COUNT * 4), want[COUNT];
	in[100] = 5;
	in[200] = 4294967290u;
	job_launch(j, "barrier_votes", 3, 96, "pp", out, in);
	for (unsigned b = 0; b < 3; b++) {
		uint32_t odd = 0, all = 1, any = 0;
		for (unsigned i = 96 * b; i < 96 * b + 96; i++) {
			odd += in[i] & 1;
			all &= in[i] > 10;
			any |= in[i] > 4000000000u;
		}
		for (unsigned i = 96 * b; i < 96 * b + 96; i++)
			want[i] = odd << 2 | all << 1 | any;
	}
	job_same(j, out, want, COUNT);
}

static void named_barriers(struct job *j)
{
	enum { BLOCKS = 2, HALF = 128, ROUNDS = 5 };
	uint32_t *in = job_words(j, BLOCKS * HALF), *out = job_buffer(j, BLOCKS * HALF * 4),
		 want[BLOCKS * HALF];
	job_launch(j, "named_barriers", BLOCKS, 2 * HALF, "ppi", out, in, ROUNDS);
	for (unsigned i = 0; i < BLOCKS * HALF; i++) {
		want[i] = 0;
		for (unsigned k = 0; k < ROUNDS; k++)
			want[i] = want[i] * 3 + in[i / HALF * HALF + HALF - 1 - i % HALF] + k;
	}
	job_same(j, out, want, BLOCKS * HALF);
}

static void early_exit(struct job *j)
{
	uint32_t *in = job_words(j, 2 * 256), *out = job_buffer(j, 2 * 96 * 4), want[2 * 96];
	job_launch(j, "early_exit", 2, 256, "pp", out, in);
	for (unsigned b = 0; b < 2; b++) {
		uint32_t sum[96];
		for (unsigned t = 0; t < 96; t++)
			sum[t] = in[256 * b + t] + in[256 * b + t + 96];
		for (unsigned t = 0; t < 96; t++)
			want[96 * b + t] = sum[95 - t] - sum[(t + 1) % 96];
	}
	job_same(j, out, want, 2 * 96);
}

const struct job_case job_shared[] = {
	{ "shared", "block_sum", block_sum, 0, NULL },
	{ "shared", "matmul", matmul, 0, NULL },
	{ "shared", "transpose", transpose, 0, NULL },
	{ "shared", "block_scan", block_scan, 0, NULL },
	{ "shared", "histogram", histogram, 0, NULL },
	{ "shared", "bitonic_sort", bitonic_sort, 0, NULL },
	{ "shared", "stencil", stencil, 0, NULL },
	{ "shared", "barrier_votes", barrier_votes, 0, NULL },
	{ "shared", "named_barriers", named_barriers, 0, NULL },
	{ "shared", "early_exit", early_exit, 0, NULL },
	{ 0 },
};
