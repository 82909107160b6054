/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products by the warp with scale factors, and sparse ones of 4-bit integers: layouts of registers,
 * factors and places as PTX documents them for mma and mma.sp.
 */
#include "panel.h"

enum { ROWS = 16, COLUMNS = 8, DEPTH = 128, SPARSE_PAIRS = DEPTH / 4 };

struct form {
	const char *kernel;
	enum type a, b;
	unsigned bits, depth; /* of an element's room; of B */
	bool sparse;
	unsigned factors; /* for a row; 0: integers, no factors */
	bool numbers;     /* they are numbers of 8 bits, not exponents */
	unsigned byte_a, thread_a, byte_b, thread_b;
};

struct operands {
	double a[ROWS][DEPTH], b[COLUMNS][DEPTH];
	uint32_t bits_a[ROWS][DEPTH], bits_b[COLUMNS][DEPTH];
	unsigned place[ROWS][SPARSE_PAIRS]; /* of four elements, or of four pairs */
};

static double element(struct job *j, const struct form *f, enum type type, uint32_t *ret_bits)
{
	int v = (int)(job_random(j) % 9) - 4;
	if (f->factors == 0) {
		*ret_bits = (uint32_t)v & 0xf;
		return v;
	}
	*ret_bits = encode(type, v) << (type == E2M1 && f->bits == 8 ? 2 : 0);
	return v / 2.0;
}

/* What lies side by side in a sparse A: one element, or two of 4 bits. */
static unsigned unit_of(const struct form *f)
{
	return f->bits == 4 ? 2 : 1;
}

static void make_operands(struct job *j, const struct form *f, struct operands *o)
{
	unsigned unit = unit_of(f), stored = f->sparse ? f->depth / 2 : f->depth;
	memset(o, 0, sizeof *o);
	for (unsigned row = 0; row < ROWS; row++) {
		if (f->sparse)
			pick_places(j, S8, stored / unit, o->place[row]);
		for (unsigned k = 0; k < stored; k++) {
			unsigned at = k;
			if (f->sparse)
				at = dense_place(S8, o->place[row], k / unit) * unit + k % unit;
			o->a[row][at] = element(j, f, f->a, &o->bits_a[row][k]);
		}
	}
	for (unsigned column = 0; column < COLUMNS; column++)
		for (unsigned k = 0; k < f->depth; k++)
			o->b[column][k] = element(j, f, f->b, &o->bits_b[column][k]);
}

/* Registers of a thread: of A the rows t / 4 and t / 4 + 8 in turn. */
static void pack(const struct form *f, const struct operands *o, unsigned t, uint32_t *a,
		 uint32_t *b)
{
	unsigned n = 32 / f->bits, stored = f->sparse ? f->depth / 2 : f->depth;
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned k = 0; k < n; k++) {
			unsigned at = (i / 2 * 4 + t % 4) * n + k, in_b = (i * 4 + t % 4) * n + k;
			if (at < stored)
				a[i] |= o->bits_a[t / 4 + i % 2 * 8][at] << f->bits * k;
			if (in_b < f->depth)
				b[i] |= o->bits_b[t / 4][in_b] << f->bits * k;
		}
	}
}

static double factor(const struct form *f, uint32_t byte)
{
	if (!f->numbers)
		return ldexp(1, (int)byte - 127);
	return byte >> 3 ? ldexp(8 + (byte & 7), (int)(byte >> 3) - 10) : ldexp(byte & 7, -9);
}

/* Factor of element k: of A by two threads of four, of B by one. */
static double factor_a(const struct form *f, const uint32_t *words, unsigned row, unsigned k)
{
	uint32_t word = words[row % 8 * 4 + f->thread_a * 2 + row / 8];
	unsigned byte = f->byte_a + k / (f->depth / f->factors);
	return factor(f, word >> 8 * byte & 0xff);
}

static double factor_b(const struct form *f, const uint32_t *words, unsigned column, unsigned k)
{
	uint32_t word = words[column * 4 + f->thread_b];
	unsigned byte = f->byte_b + k / (f->depth / f->factors);
	return factor(f, word >> 8 * byte & 0xff);
}

static void multiply(struct job *j, const struct form *f)
{
	static struct operands o;
	uint32_t *out = job_buffer(j, 512), *a = job_buffer(j, 512), *b = job_buffer(j, 512),
		 *sa = job_words(j, 32), *sb = job_words(j, 32), *places = job_words(j, 32),
		 want[128];
	make_operands(j, f, &o);
	for (unsigned t = 0; t < 32; t++) {
		pack(f, &o, t, a + t * 4, b + t * 4);
		if (f->sparse)
			places[t] = places_of(S8, f->depth / 2 / unit_of(f), 0, o.place, t);
		/* exponents from -8 to 7, numbers from 2^-3 to less than 2^5, some denormal ones */
		sa[t] = f->numbers ? (sa[t] & 0x3f3f3f3f) : (sa[t] & 0x0f0f0f0f) + 0x77777777;
		sb[t] = f->numbers ? (sb[t] & 0x3f3f3f3f) : (sb[t] & 0x0f0f0f0f) + 0x77777777;
	}
	for (unsigned i = 0; i < 128; i++) {
		unsigned row = i / 16 + i % 4 / 2 * 8, column = i / 4 % 4 * 2 + i % 2;
		int old = (int)(job_random(j) % 33) - 16;
		double sum = old;
		float value = (float)old;
		for (unsigned k = 0; k < f->depth; k++)
			sum += o.a[row][k] * o.b[column][k] *
			       (f->factors ? factor_a(f, sa, row, k) * factor_b(f, sb, column, k)
					   : 1);
		out[i] = (uint32_t)old;
		want[i] = (uint32_t)(int32_t)sum;
		if (f->factors == 0)
			continue;
		memcpy(&out[i], &value, 4);
		value = (float)sum;
		memcpy(&want[i], &value, 4);
	}
	if (f->factors)
		job_launch(j, f->kernel, 1, 32, "pppppp", out, a, b, sa, sb, places);
	else
		job_launch(j, f->kernel, 1, 32, "pppp", out, a, b, places);
	job_same(j, out, want, 128);
}

static void dense_bytes(struct job *j)
{
	multiply(j,
		 &(struct form){ "scaled_e4m3", E4M3, E4M3, 8, 32, false, 1, false, 0, 0, 0, 0 });
	multiply(j,
		 &(struct form){ "scaled_mixed", E5M2, E2M1, 8, 32, false, 1, false, 3, 1, 2, 3 });
}

static void dense_small(struct job *j)
{
	multiply(j,
		 &(struct form){ "scaled_e2m1", E2M1, E2M1, 4, 64, false, 2, false, 0, 1, 2, 1 });
	job_drop(j, 0);
	multiply(j,
		 &(struct form){ "scaled_e2m1_4", E2M1, E2M1, 4, 64, false, 4, true, 0, 0, 0, 2 });
}

static void sparse_scaled(struct job *j)
{
	multiply(j,
		 &(struct form){ "scaled_sparse", E3M2, E4M3, 8, 64, true, 1, false, 1, 1, 3, 2 });
	job_drop(j, 0);
	multiply(j, &(struct form){ "scaled_sparse_e2m1", E2M1, E2M1, 4, 128, true, 2, false, 2, 0,
				    0, 3 });
	job_drop(j, 0);
	multiply(j, &(struct form){ "scaled_sparse_e2m1_4", E2M1, E2M1, 4, 128, true, 4, true, 0, 1,
				    0, 0 });
}

static void sparse_fours(struct job *j)
{
	multiply(j, &(struct form){ "sparse_s4", S8, S8, 4, 128, true, 0, false, 0, 0, 0, 0 });
	job_drop(j, 0);
	multiply(j, &(struct form){ "sparse_s4_half", S8, S8, 4, 64, true, 0, false, 0, 0, 0, 0 });
}

const struct job_case job_scaled[] = {
	{ "scaled", "scaled_bytes", dense_bytes, JOB_ONLY + 120, NULL },
	{ "scaled", "scaled_e2m1", dense_small, JOB_ONLY + 120, NULL },
	{ "scaled", "scaled_sparse", sparse_scaled, JOB_ONLY + 120, NULL },
	{ "sparse", "sparse_s4", sparse_fours, JOB_ONLY + 80, NULL },
	{ "sparse", "sparse_s4", sparse_fours, JOB_ONLY + 89, NULL },
	{ 0 },
};
