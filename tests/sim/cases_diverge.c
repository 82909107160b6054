/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

enum { N = 250, BLOCKS = 2, THREADS = 128 };

/* A kernel that maps each word: its results are those of a function. */
static void map(struct job *j, const char *kernel, uint32_t (*function)(uint32_t))
{
	uint32_t *in = job_words(j, N), *out = job_buffer(j, N * 4), want[N];
	job_launch(j, kernel, BLOCKS, THREADS, "ppi", out, in, N);
	for (unsigned i = 0; i < N; i++)
		want[i] = function(in[i]);
	job_same(j, out, want, N);
}

static uint32_t branch(uint32_t v)
{
	if (v & 1)
		return v & 2 ? v * 3 : v & 4 ? v + 100 : v ^ 0xff;
	uint32_t r = v / 3 + (v & 8 ? 7 : 0);
	return (v & 24) == 24 ? r * r : r;
}

static void branches(struct job *j)
{
	map(j, "branches", branch);
}

static uint32_t loop(uint32_t v)
{
	uint32_t sum = 0, rounds = v % 40;
	for (uint32_t k = 0; k < rounds && sum <= 5000; k++) {
		if (k % 7 == 3)
			continue;
		for (uint32_t m = k; m < rounds; m += 2) {
			sum += k * m;
			if (sum % 11 == 5)
				break;
		}
	}
	return sum;
}

static void loops(struct job *j)
{
	map(j, "loops", loop);
}

static uint32_t choose(uint32_t v)
{
	uint32_t r = 1;
	for (uint32_t k = 0; k < 8; k++) {
		uint32_t digit = v >> 4 * k & 15;
		if (digit == 0)
			r += 17;
		else if (digit == 1)
			r *= 3;
		else if (digit == 2)
			r ^= 0x1234;
		else if (digit == 3)
			r = (r << 3 | r >> 29) - v;
		else if (digit == 4)
			r -= v;
		else if (digit == 5)
			r = ~r;
		else if (digit == 6)
			r += r >> 5;
		else if (digit == 7)
			r |= 1;
		else if (digit == 9)
			r *= r;
		else if (digit == 11)
			r %= 1000003;
		else if (digit == 12)
			r += k;
		else
			r ^= r >> 7;
	}
	return r;
}

static void switches(struct job *j)
{
	map(j, "switches", choose);
}

static uint32_t two_ways(uint32_t v)
{
	uint32_t r = 0, k = 0;
	bool at_second = v & 1;
	for (;;) {
		if (!at_second) {
			r = r * 5 + 1;
			if (r & 64)
				break;
		}
		at_second = false;
		r += v >> (k & 15) & 0xff;
		k++;
		if (k >= 30 || r % 13 == 7)
			break;
	}
	return r ^ k << 24;
}

static void irreducible(struct job *j)
{
	map(j, "irreducible", two_ways);
}

static void recursion(struct job *j)
{
	static const uint32_t fibonacci[13] = { 0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144 };
	uint32_t *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "recursion", BLOCKS, THREADS, "pi", out, N);
	for (unsigned i = 0; i < N; i++)
		want[i] = fibonacci[i % 13];
	job_same(j, out, want, N);
}

static void deep_recursion(struct job *j)
{
	uint32_t *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "deep_recursion", BLOCKS, THREADS, "pi", out, N);
	for (unsigned i = 0; i < N; i++)
		want[i] = i & 1 ? 2 * (i % 5) + 3 : i % 5 + 2;
	job_same(j, out, want, N);
}

static uint32_t call(uint32_t v)
{
	uint32_t r = 1;
	for (uint32_t k = 0; k < 6; k++) {
		uint32_t b = v + k, which = v >> 3 * k & 3;
		r = which == 0   ? r + b
		    : which == 1 ? r * b
		    : which == 2 ? (r ^ b) * 2654435761u
				 : r / (b | 1);
	}
	return r;
}

static void indirect_calls(struct job *j)
{
	map(j, "indirect_calls", call);
}

static uint32_t shape(uint32_t v)
{
	uint32_t size = v & 0xff;
	return v & 1 ? size * size * 8 + 4 : (v >> 8 & 0xff) * 8;
}

static void virtual_calls(struct job *j)
{
	map(j, "virtual_calls", shape);
}

static uint32_t circuit(uint32_t v)
{
	uint32_t count = 1, r = v & 1;
	if (r) {
		count++;
		r = v & 2;
	}
	if (!r) {
		count++;
		r = v & 4;
		if (r) {
			count++;
			r = !(v & 8);
		}
	}
	return count << 1 | (r ? 1 : 0);
}

static void short_circuit(struct job *j)
{
	map(j, "short_circuit", circuit);
}

static void three_dimensions(struct job *j)
{
	enum { WIDTH = 15, HEIGHT = 8, DEPTH = 6 };
	uint32_t *out = job_buffer(j, WIDTH * HEIGHT * DEPTH * 4), want[WIDTH * HEIGHT * DEPTH];
	job_launch_3d(j, "three_dimensions", (struct ws_dim3){ 3, 2, 2 },
		      (struct ws_dim3){ 5, 4, 3 }, 0, "pii", out, WIDTH, HEIGHT);
	for (unsigned i = 0; i < WIDTH * HEIGHT * DEPTH; i++)
		want[i] = i % WIDTH + 100 * (i / WIDTH % HEIGHT) + 10000 * (i / (WIDTH * HEIGHT)) +
			  3 * 4;
	job_same(j, out, want, WIDTH * HEIGHT * DEPTH);
}

const struct job_case job_diverge[] = {
	{ "diverge", "branches", branches, 0, NULL },
	{ "diverge", "loops", loops, 0, NULL },
	{ "diverge", "switches", switches, 0, NULL },
	{ "diverge", "irreducible", irreducible, 0, NULL },
	{ "diverge", "recursion", recursion, 0, NULL },
	{ "diverge", "deep_recursion", deep_recursion, 0, NULL },
	{ "diverge", "indirect_calls", indirect_calls, 0, NULL },
	{ "diverge", "virtual_calls", virtual_calls, 0, NULL },
	{ "diverge", "short_circuit", short_circuit, 0, NULL },
	{ "diverge", "three_dimensions", three_dimensions, 0, NULL },
	{ 0 },
};
