/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

enum { N = 250, BLOCKS = 2, THREADS = 128 };

static void atomic_words(struct job *j)
{
	uint32_t *cell = job_buffer(j, 44), *in = job_words(j, N),
		 want[11] = { 0, 0, UINT32_MAX, 0, 5, 5, UINT32_MAX, 0, 0, 0, 0 };
	memcpy(cell, want, sizeof want);
	job_launch(j, "atomic_words", BLOCKS, THREADS, "ppi", cell, in, N);
	int32_t least = 5, most = 5;
	for (unsigned i = 0; i < N; i++) {
		int32_t s = (int32_t)in[i];
		want[0] += in[i];
		want[1] -= in[i];
		want[2] = in[i] < want[2] ? in[i] : want[2];
		want[3] = in[i] > want[3] ? in[i] : want[3];
		least = s < least ? s : least;
		most = s > most ? s : most;
		want[6] &= in[i] | 0xff;
		want[7] |= in[i] & 0xff00ff;
		want[8] ^= in[i];
	}
	want[4] = (uint32_t)least;
	want[5] = (uint32_t)most;
	want[9] = N % 100;
	want[10] = (100 - N % 100) % 100;
	job_same(j, cell, want, 11);
}

static void atomic_wide(struct job *j)
{
	uint64_t *cell = job_buffer(j, 56), *in = job_wide(j, N),
		 want[7] = { 1, UINT64_MAX, 0, 0, UINT64_MAX, 0, 0 };
	memcpy(cell, want, sizeof want);
	job_launch(j, "atomic_wide", BLOCKS, THREADS, "ppi", cell, in, N);
	for (unsigned i = 0; i < N; i++) {
		want[0] += in[i];
		want[1] = in[i] < want[1] ? in[i] : want[1];
		want[2] = in[i] > want[2] ? in[i] : want[2];
		want[3] = (int64_t)in[i] < (int64_t)want[3] ? in[i] : want[3];
		want[4] &= in[i] | 0xff;
		want[5] |= in[i] & 0xff00ff;
		want[6] ^= in[i];
	}
	job_same_wide(j, cell, want, 7);
}

static void atomic_floats(struct job *j)
{
	float *sum = job_buffer(j, 4), want = 0;
	double *wide = job_buffer(j, 8), wide_want = 0;
	uint32_t *in = job_words(j, N);
	job_launch(j, "atomic_floats", BLOCKS, THREADS, "pppi", sum, wide, in, N);
	for (unsigned i = 0; i < N; i++) { /* small enough to be exact in any order */
		want += (float)(in[i] & 1023);
		wide_want += in[i];
	}
	job_same_floats(j, sum, &want, 1);
	job_same_doubles(j, wide, &wide_want, 1);
}

static void atomic_returns(struct job *j)
{
	uint32_t *seen = job_buffer(j, N * 12), *cell = job_buffer(j, 12), missing = 0;
	job_launch(j, "atomic_returns", BLOCKS, THREADS, "ppi", seen, cell, N);
	for (unsigned i = 0; i < N; i++) {
		if (seen[i] != 1)
			job_fail(j, "ticket %u was given %u times", i, seen[i]);
		if (seen[N + i] > 1)
			job_fail(j, "value %u was exchanged %u times", i, seen[N + i]);
		missing += seen[N + i] == 0;
		if (seen[2 * N + i] != (i < N / 2 ? 2u : 0))
			job_fail(j, "number %u was given %u times", i, seen[2 * N + i]);
	}
	if (missing != 1 || cell[1] == 0 || cell[1] > N || seen[N + cell[1] - 1] != 0)
		job_fail(j, "%u values were never exchanged, the last is %u", missing, cell[1]);
}

static void compare_and_swap(struct job *j)
{
	uint32_t *cell = job_buffer(j, 4), *in = job_words(j, N), want = 12345;
	*cell = want;
	job_launch(j, "compare_and_swap", BLOCKS, THREADS, "ppi", cell, in, N);
	for (unsigned i = 0; i < N; i++)
		want = want * 3 + (want & 1);
	job_same(j, cell, &want, 1);
}

static void compare_and_swap_wide(struct job *j)
{
	uint64_t *cell = job_buffer(j, 8), *in = job_wide(j, N), want = 99;
	*cell = want;
	job_launch(j, "compare_and_swap_wide", BLOCKS, THREADS, "ppi", cell, in, N);
	for (unsigned i = 0; i < N; i++)
		want ^= in[i];
	job_same_wide(j, cell, &want, 1);
}

static void shared_atomics(struct job *j)
{
	uint32_t *in = job_words(j, 256), *out = job_buffer(j, 80), want[20] = { 0 };
	job_launch(j, "shared_atomics", 2, 128, "pp", out, in);
	for (unsigned b = 0; b < 2; b++) {
		uint32_t *w = &want[10 * b];
		uint64_t wide = 0;
		float sum = 0;
		w[1] = UINT32_MAX;
		for (unsigned i = 128 * b; i < 128 * b + 128; i++) {
			w[0] += in[i];
			w[1] = in[i] < w[1] ? in[i] : w[1];
			w[2] = in[i] > w[2] ? in[i] : w[2];
			w[3] |= in[i] & 0xf0f0;
			w[4] ^= in[i];
			wide += (uint64_t)in[i] << 16;
			sum += (float)(in[i] & 255);
		}
		w[5] = 128 % 37;
		w[6] = (uint32_t)wide;
		w[7] = (uint32_t)(wide >> 32);
		memcpy(&w[8], &sum, 4);
	}
	job_same(j, out, want, 20);
}

static void spin_lock(struct job *j)
{
	uint32_t *lock = job_buffer(j, 4), *value = job_buffer(j, 4), want = 2 * 64 * 2;
	job_launch(j, "spin_lock", 2, 64, "ppi", lock, value, 2);
	job_same(j, value, &want, 1);
}

static void last_block_sum(struct job *j)
{
	enum { COUNT = 3000 };
	uint32_t *out = job_buffer(j, 4), *part = job_buffer(j, 20), *in = job_words(j, COUNT),
		 want = 0;
	for (unsigned i = 0; i < COUNT; i++)
		want += in[i];
	for (unsigned round = 0; round < 2; round++) {
		*out = 0;
		job_launch(j, "last_block_sum", 5, 64, "pppi", out, part, in, COUNT);
		job_same(j, out, &want, 1);
	}
}

static void grid_barrier(struct job *j)
{
	enum { COUNT = 4 * 64, ROUNDS = 4 };
	uint32_t *out = job_buffer(j, COUNT * 12), *arrived = job_buffer(j, 4),
		 *in = job_words(j, COUNT), v[COUNT];
	job_launch(j, "grid_barrier", 4, 64, "pppi", out, arrived, in, ROUNDS);
	memcpy(v, in, sizeof v);
	for (unsigned k = 0; k < ROUNDS; k++) {
		uint32_t before[COUNT];
		memcpy(before, v, sizeof before);
		for (unsigned i = 0; i < COUNT; i++)
			v[i] = before[i] * 3 + before[(i + 64) % COUNT];
	}
	job_same(j, out + 2 * COUNT, v, COUNT);
}

const struct job_case job_atomics[] = {
	{ "atomics", "atomic_words", atomic_words, 0, NULL },
	{ "atomics", "atomic_wide", atomic_wide, 0, NULL },
	{ "atomics", "atomic_floats", atomic_floats, 0, NULL },
	{ "atomics", "atomic_returns", atomic_returns, 0,
	  "atomics in the order in which they came" },
	{ "atomics", "compare_and_swap", compare_and_swap, 0, NULL },
	{ "atomics", "compare_and_swap_wide", compare_and_swap_wide, 0, NULL },
	{ "atomics", "shared_atomics", shared_atomics, 0, NULL },
	{ "atomics", "spin_lock", spin_lock, 0, NULL },
	{ "atomics", "last_block_sum", last_block_sum, 0, NULL },
	{ "atomics", "grid_barrier", grid_barrier, 0, NULL },
	{ 0 },
};
