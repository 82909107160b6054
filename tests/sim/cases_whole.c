/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <math.h>
#include <stdlib.h>

static void mandelbrot(struct job *j)
{
	enum { WIDTH = 32, HEIGHT = 20, LIMIT = 60 };
	uint32_t *out = job_buffer(j, WIDTH * HEIGHT * 4), want[WIDTH * HEIGHT];
	job_launch(j, "mandelbrot", 5, 128, "piii", out, WIDTH, HEIGHT, LIMIT);
	for (unsigned i = 0; i < WIDTH * HEIGHT; i++) {
		float re = fmaf((float)(i % WIDTH), 3.0f / 64, -2.0f),
		      im = fmaf((float)(i / WIDTH), 2.0f / 32, -1.0f), x = 0, y = 0;
		for (want[i] = 0; want[i] < LIMIT; want[i]++) {
			float xx = x * x, yy = y * y, twice = 2 * x;
			if (xx + yy > 4)
				break;
			y = fmaf(twice, y, im);
			x = (xx - yy) + re;
		}
	}
	job_same(j, out, want, WIDTH * HEIGHT);
}

static void game_of_life(struct job *j)
{
	enum { WIDTH = 30, HEIGHT = 17, COUNT = WIDTH * HEIGHT };
	uint8_t *in = (uint8_t *)job_words(j, COUNT / 4 + 1), *out = job_buffer(j, COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		in[i] = in[i] % 3 == 0;
	job_launch_3d(j, "game_of_life", (struct ws_dim3){ 4, 3, 1 }, (struct ws_dim3){ 8, 8, 1 },
		      0, "ppii", out, in, WIDTH, HEIGHT);
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned x = i % WIDTH, y = i / WIDTH, count = 0;
		for (unsigned k = 0; k < 9; k++)
			if (k != 4)
				count += in[(y + k / 3 + HEIGHT - 1) % HEIGHT * WIDTH +
					    (x + k % 3 + WIDTH - 1) % WIDTH];
		if (out[i] != (count == 3 || (count == 2 && in[i])))
			job_fail(j, "cell %u is %u", i, out[i]);
	}
}

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static void sha_rounds(uint32_t round[64])
{
	for (unsigned n = 0, prime = 2; n < 64; prime++) {
		unsigned d = 2;
		while (d * d <= prime && prime % d)
			d++;
		if (d * d <= prime)
			continue;
		long double root = cbrtl((long double)prime);
		round[n++] = (uint32_t)((root - floorl(root)) * 4294967296.0L);
	}
}

static uint32_t rotate(uint32_t x, unsigned by)
{
	return x >> by | x << (32 - by);
}

static void sha256_one(const uint32_t *block, const uint32_t round[64], uint32_t *ret)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	uint32_t w[64], a = start[0], b = start[1], c = start[2], d = start[3], e = start[4],
			f = start[5], g = start[6], h = start[7];
	for (unsigned k = 0; k < 64; k++) {
		if (k < 16)
			w[k] = block[k];
		else
			w[k] = w[k - 16] +
			       (rotate(w[k - 15], 7) ^ rotate(w[k - 15], 18) ^ w[k - 15] >> 3) +
			       w[k - 7] +
			       (rotate(w[k - 2], 17) ^ rotate(w[k - 2], 19) ^ w[k - 2] >> 10);
		uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
			      ((e & f) ^ (~e & g)) + round[k] + w[k];
		uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
			      ((a & b) ^ (a & c) ^ (b & c));
		h = g;
		g = f;
		f = e;
		e = d + t1;
		d = c;
		c = b;
		b = a;
		a = t1 + t2;
	}
	const uint32_t last[8] = { a, b, c, d, e, f, g, h };
	for (unsigned k = 0; k < 8; k++)
		ret[k] = start[k] + last[k];
}

static void sha256_block(struct job *j)
{
	enum { COUNT = 70 };
	static const uint32_t abc[8] = { 0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
					 0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad };
	uint32_t *in = job_words(j, COUNT * 16), *out = job_buffer(j, COUNT * 32), want[COUNT * 8],
		 round[64];
	memset(in, 0, 64); /* "abc", padded: its digest is in FIPS 180 */
	in[0] = 0x61626380;
	in[15] = 24;
	sha_rounds(round);
	job_set(j, "sha_round", round, sizeof round);
	job_launch(j, "sha256_block", 3, 32, "ppi", out, in, COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		sha256_one(&in[16 * i], round, &want[8 * i]);
	job_same(j, out, abc, 8);
	job_same(j, out, want, COUNT * 8);
}

static void queens(struct job *j)
{
	enum { SIZE = 8 };
	static const uint32_t want[SIZE] = { 4, 8, 16, 18, 18, 16, 8, 4 }; /* 92 in all */
	uint32_t *out = job_buffer(j, SIZE * 4);
	job_launch(j, "queens", 1, 32, "pi", out, SIZE);
	job_same(j, out, want, SIZE);
}

static int compare_words(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static void rank_sort(struct job *j)
{
	enum { COUNT = 150 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, COUNT * 4), want[COUNT];
	for (unsigned i = 0; i < COUNT; i++)
		in[i] %= 50;
	job_launch(j, "rank_sort", 2, 96, "ppi", out, in, COUNT);
	memcpy(want, in, sizeof want);
	qsort(want, COUNT, 4, compare_words);
	job_same(j, out, want, COUNT);
}

static void merge_sorted(struct job *j)
{
	enum { COUNT = 200 };
	uint32_t *a = job_words(j, COUNT), *b = job_words(j, COUNT),
		 *out = job_buffer(j, COUNT * 8), want[2 * COUNT];
	for (unsigned i = 0; i < COUNT; i++) {
		a[i] %= 500;
		b[i] %= 500;
	}
	qsort(a, COUNT, 4, compare_words);
	qsort(b, COUNT, 4, compare_words);
	job_launch(j, "merge_sorted", 2, 128, "pppi", out, a, b, COUNT);
	memcpy(want, a, COUNT * 4);
	memcpy(want + COUNT, b, COUNT * 4);
	qsort(want, 2 * COUNT, 4, compare_words);
	job_same(j, out, want, 2 * COUNT);
}

static void radix_pass(struct job *j)
{
	uint32_t *a = job_words(j, 256), *b = job_buffer(j, 1024), want[256];
	for (unsigned i = 0; i < 256; i++)
		a[i] &= 0xffff;
	memcpy(want, a, sizeof want);
	qsort(want, 256, 4, compare_words);
	for (uint32_t shift = 0; shift < 16; shift += 8) {
		job_launch(j, "radix_pass", 1, 256, "ppi", b, a, shift);
		job_launch(j, "radix_pass", 1, 256, "ppi", a, b, shift + 4);
	}
	job_same(j, a, want, 256);
}

static void sparse_product(struct job *j)
{
	enum { ROWS = 120, EACH = 9, COLUMNS = 64 };
	uint32_t *start = job_buffer(j, (ROWS + 1) * 4), *column = job_words(j, ROWS * EACH);
	float *value = job_plain_floats(j, ROWS * EACH), *x = job_plain_floats(j, COLUMNS),
	      *out = job_buffer(j, ROWS * 4), want[ROWS];
	for (unsigned i = 0; i < ROWS * EACH; i++)
		column[i] %= COLUMNS;
	for (unsigned i = 0; i < ROWS; i++)
		start[i + 1] = start[i] + i % (EACH + 1);
	job_launch(j, "sparse_product", 2, 64, "pppppi", out, start, column, value, x, ROWS);
	for (unsigned i = 0; i < ROWS; i++) {
		want[i] = 0;
		for (uint32_t k = start[i]; k < start[i + 1]; k++)
			want[i] = fmaf(value[k], x[column[k]], want[i]);
	}
	job_same_floats(j, out, want, ROWS);
}

static void floyd(struct job *j)
{
	enum { SIZE = 18 };
	uint32_t *distance = job_words(j, SIZE * SIZE), want[SIZE * SIZE];
	for (unsigned i = 0; i < SIZE * SIZE; i++)
		distance[i] = i / SIZE == i % SIZE ? 0 : distance[i] % 1000 + 1;
	memcpy(want, distance, sizeof want);
	job_launch(j, "floyd", 1, 96, "pi", distance, SIZE);
	for (unsigned round = 0; round < SIZE;
	     round++) /* until nothing gets shorter, by another algorithm */
		for (unsigned i = 0; i < SIZE * SIZE; i++)
			for (unsigned k = 0; k < SIZE; k++) {
				uint32_t through =
					want[i / SIZE * SIZE + k] + want[k * SIZE + i % SIZE];
				want[i] = through < want[i] ? through : want[i];
			}
	job_same(j, distance, want, SIZE * SIZE);
}

static void lu_decompose(struct job *j)
{
	enum { SIZE = 12 };
	double *matrix = job_buffer(j, SIZE * SIZE * 8), want[SIZE * SIZE];
	for (unsigned i = 0; i < SIZE * SIZE; i++)
		matrix[i] = (double)(job_random(j) % 1000) / 256 + (i / SIZE == i % SIZE ? 50 : 0);
	memcpy(want, matrix, sizeof want);
	job_launch(j, "lu_decompose", 1, 32, "pi", matrix, SIZE);
	for (unsigned k = 0; k < SIZE; k++)
		for (unsigned row = k + 1; row < SIZE; row++) {
			double factor = want[row * SIZE + k] / want[k * SIZE + k];
			want[row * SIZE + k] = factor;
			for (unsigned c = k + 1; c < SIZE; c++)
				want[row * SIZE + c] =
					fma(-factor, want[k * SIZE + c], want[row * SIZE + c]);
		}
	job_same_doubles(j, matrix, want, SIZE * SIZE);
}

static void count_text(struct job *j)
{
	enum { COUNT = 900, LEN = 3 };
	char *text = (char *)job_words(j, COUNT / 4), *word = job_buffer(j, LEN);
	uint32_t *out = job_buffer(j, 4), want = 0;
	for (unsigned i = 0; i < COUNT; i++)
		text[i] = (char)('a' + (uint8_t)text[i] % 3);
	memcpy(word, "aba", LEN);
	job_launch(j, "count_text", 8, 128, "ppipi", out, text, COUNT, word, LEN);
	for (unsigned i = 0; i + LEN <= COUNT; i++)
		want += memcmp(text + i, word, LEN) == 0;
	job_same(j, out, &want, 1);
}

static void random_walk(struct job *j)
{
	enum { COUNT = 100, STEPS = 150 };
	uint64_t *out = job_buffer(j, COUNT * 16), want[2 * COUNT];
	job_launch(j, "random_walk", 1, 128, "pii", out, COUNT, STEPS);
	for (unsigned i = 0; i < COUNT; i++) {
		uint64_t state = i * UINT64_C(0x9e3779b97f4a7c15) + 1;
		int64_t x = 0, y = 0;
		for (unsigned k = 0; k < STEPS; k++) {
			state = state * UINT64_C(6364136223846793005) +
				UINT64_C(1442695040888963407);
			int turn = (int)(state >> 61), sign = turn & 1 ? 1 : -1;
			x += turn & 4 ? sign : 0;
			y += turn & 4 ? 0 : sign * turn;
		}
		want[2 * i] = (uint64_t)x;
		want[2 * i + 1] = (uint64_t)y;
	}
	job_same_wide(j, out, want, 2 * COUNT);
}

const struct job_case job_whole[] = {
	{ "whole", "mandelbrot", mandelbrot, 0, NULL },
	{ "whole", "game_of_life", game_of_life, 0, NULL },
	{ "whole", "sha256_block", sha256_block, 0, NULL },
	{ "whole", "queens", queens, 0, NULL },
	{ "whole", "rank_sort", rank_sort, 0, NULL },
	{ "whole", "merge_sorted", merge_sorted, 0, NULL },
	{ "whole", "radix_pass", radix_pass, 0, NULL },
	{ "whole", "sparse_product", sparse_product, 0, NULL },
	{ "whole", "floyd", floyd, 0, NULL },
	{ "whole", "lu_decompose", lu_decompose, 0, NULL },
	{ "whole", "count_text", count_text, 0, NULL },
	{ "whole", "random_walk", random_walk, 0, NULL },
	{ 0 },
};
