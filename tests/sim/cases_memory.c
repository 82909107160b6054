/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

enum { N = 250, BLOCKS = 2, THREADS = 128 };

static void copy_words(struct job *j)
{
	enum { COUNT = 5000 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, COUNT * 4);
	job_launch(j, "copy_words", 3, 96, "ppi", out, in, COUNT - 7);
	in[COUNT - 1] = in[COUNT - 2] = in[COUNT - 3] = in[COUNT - 4] = in[COUNT - 5] =
		in[COUNT - 6] = in[COUNT - 7] = 0;
	job_same(j, out, in, COUNT);
}

static void copy_quads(struct job *j)
{
	enum { COUNT = 1000 };
	uint32_t *in = job_words(j, COUNT * 4), *out = job_buffer(j, COUNT * 16);
	job_launch(j, "copy_quads", 3, 96, "ppi", out, in, COUNT);
	job_same(j, out, in, COUNT * 4);
}

static void copy_narrow(struct job *j)
{
	uint8_t *in = (uint8_t *)job_words(j, (N + 3) / 4), *bytes = job_buffer(j, N);
	int16_t *in_halves = (int16_t *)job_words(j, N / 2), *halves = job_buffer(j, N * 2);
	uint64_t *in_wide = job_wide(j, N), *wide = job_buffer(j, N * 8);
	job_launch(j, "copy_narrow", BLOCKS, THREADS, "ppppppi", bytes, halves, wide, in, in_halves,
		   in_wide, N);
	for (unsigned i = 0; i < N; i++) {
		if (bytes[i] != (uint8_t)(in[i] + in[N - 1 - i]))
			job_fail(j, "byte %u is 0x%x", i, bytes[i]);
		if (halves[i] != (int16_t)(in_halves[i] - in_halves[N - 1 - i]))
			job_fail(j, "half %u is 0x%x", i, (unsigned)halves[i]);
		if (wide[i] != in_wide[N - 1 - i])
			job_fail(j, "wide %u is 0x%llx", i, (unsigned long long)wide[i]);
	}
}

static void read_constants(struct job *j)
{
	uint32_t *index = job_words(j, N), table[256] = { 3, 1, 4, 1, 5, 9, 2, 6 };
	float *out = job_buffer(j, N * 4), want[N];
	for (unsigned round = 0; round < 2; round++) { /* as compiled, then as set */
		job_launch(j, "read_constants", BLOCKS, THREADS, "ppi", out, index, N);
		for (unsigned i = 0; i < N; i++)
			want[i] = (float)table[index[i] & 255] * 2.5f + (float)table[3];
		job_same_floats(j, out, want, N);
		for (unsigned i = 0; i < 256; i++)
			table[i] = job_random(j) >> 12;
		job_set(j, "constant_table", table, sizeof table);
	}
}

static void use_variables(struct job *j)
{
	uint32_t *out = job_buffer(j, N * 4), want[N], table[64] = { 7, 7, 7 }, counter = 41;
	for (unsigned round = 0; round < 2; round++) {
		job_launch(j, "use_variables", 1, 256, "pi", out, N);
		for (unsigned i = 0; i < 64; i++)
			table[i] += i;
		for (unsigned i = 0; i < N; i++)
			want[i] = counter + table[2 + (i & 31)];
		job_same(j, out, want, N);
		counter = 1000;
		job_set(j, "device_counter", &counter, 4);
	}
}

static void local_array(struct job *j)
{
	uint32_t *in = job_words(j, N), *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "local_array", BLOCKS, THREADS, "ppi", out, in, N);
	for (unsigned i = 0; i < N; i++) {
		uint32_t seen[64];
		for (unsigned k = 0; k < 64; k++)
			seen[k] = 3 * k;
		for (unsigned k = 0; k < 64; k++) {
			unsigned at = in[i] >> k % 16 & 63;
			seen[at] += seen[63 - at] + k;
		}
		want[i] = 0;
		for (unsigned k = 0; k < 64; k++)
			want[i] = want[i] * 31 + seen[k];
	}
	job_same(j, out, want, N);
}

struct large {
	uint32_t word[64];
	uint8_t byte[7];
	uint64_t wide;
	float matrix[4][4];
};

static void large_parameter(struct job *j)
{
	uint32_t *out = job_buffer(j, N * 4), want[N];
	struct large large = { .wide = UINT64_C(0x123456789abcdef0) };
	for (unsigned i = 0; i < 64; i++)
		large.word[i] = job_random(j);
	for (unsigned i = 0; i < 7; i++)
		large.byte[i] = (uint8_t)job_random(j);
	for (unsigned i = 0; i < 16; i++)
		large.matrix[i / 4][i % 4] = (float)(i * 1000);
	job_launch(j, "large_parameter", BLOCKS, THREADS, "psi", out, &large, N);
	for (unsigned i = 0; i < N; i++)
		want[i] = large.word[i % 64] + large.byte[i % 7] +
			  (uint32_t)(large.wide >> i % 32) + (i % 4 * 4 + i / 4 % 4) * 1000;
	job_same(j, out, want, N);
}

static void chase(struct job *j)
{
	enum { NODES = 97, STEPS = 33 };
	uint32_t *nodes = job_words(j, 2 * NODES), *start = job_words(j, N),
		 *out = job_buffer(j, N * 4), want[N];
	for (unsigned i = 0; i < NODES; i++)
		nodes[2 * i + 1] %= NODES;
	for (unsigned i = 0; i < N; i++)
		start[i] %= NODES;
	job_launch(j, "chase", BLOCKS, THREADS, "pppii", out, nodes, start, N, STEPS);
	for (unsigned i = 0; i < N; i++) {
		uint32_t at = start[i];
		want[i] = 0;
		for (unsigned k = 0; k < STEPS; k++, at = nodes[2 * at + 1])
			want[i] += nodes[2 * at];
	}
	job_same(j, out, want, N);
}

static void generic_spaces(struct job *j)
{
	enum { COUNT = 256 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, COUNT * 4), want[COUNT];
	job_launch(j, "generic_spaces", 2, 128, "ppi", out, in, COUNT);
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned t = i % 128, which = t % 3;
		want[i] = which == 1 ? 1000000 : which == 2 ? 2000000 : 0;
		for (unsigned k = 0; k < 8; k++) {
			uint32_t v = which == 0   ? in[(i + k) % COUNT] ^ 0x55
				     : which == 1 ? in[i - t + (t & 63) + k] * 3
						  : in[i % (COUNT - 8) + k];
			want[i] += v * (k + 1);
		}
	}
	job_same(j, out, want, COUNT);
}

static void read_only(struct job *j)
{
	float *in = job_plain_floats(j, N), *vectors = job_plain_floats(j, 4 * N),
	      *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "read_only", BLOCKS, THREADS, "pppi", out, in, vectors, N);
	for (unsigned i = 0; i < N; i++) {
		const float *v = &vectors[4 * i];
		want[i] = in[N - 1 - i] + v[0];
		want[i] += v[1] * 2;
		want[i] += v[2] * 4;
		want[i] += v[3] * 8;
	}
	job_same_floats(j, out, want, N);
}

static void transpose_bytes(struct job *j)
{
	uint8_t *in = (uint8_t *)job_words(j, N);
	uint32_t *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "transpose_bytes", BLOCKS, THREADS, "ppi", out, in, N);
	for (unsigned i = 0; i < N; i++)
		want[i] = in[i] | in[N + i] << 8 | in[2 * N + i] << 16 |
			  (uint32_t)in[3 * N + i] << 24;
	job_same(j, out, want, N);
}

const struct job_case job_memory[] = {
	{ "memory", "copy_words", copy_words, 0, NULL },
	{ "memory", "copy_quads", copy_quads, 0, NULL },
	{ "memory", "copy_narrow", copy_narrow, 0, NULL },
	{ "memory", "read_constants", read_constants, 0, NULL },
	{ "memory", "use_variables", use_variables, 0, NULL },
	{ "memory", "local_array", local_array, 0, NULL },
	{ "memory", "large_parameter", large_parameter, 0, NULL },
	{ "memory", "chase", chase, 0, NULL },
	{ "memory", "generic_spaces", generic_spaces, 0, NULL },
	{ "memory", "read_only", read_only, 0, NULL },
	{ "memory", "transpose_bytes", transpose_bytes, 0, NULL },
	{ 0 },
};
