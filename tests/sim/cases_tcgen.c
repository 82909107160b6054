/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor memory, and products of matrices into it: places and sums as PTX documents them. */
#include "panel.h"

#include <stdlib.h>

enum { LANES = 128, COLUMNS = 64, MORE = 32, WORDS = 4096, DEPTH = 256 };

/* As the kernel's. */
struct plan {
	uint32_t leading_a, stride_a, leading_b, stride_b, swizzle, step_a, step_b, instruction,
		adds;
};

static uint32_t at(const uint32_t *cells, unsigned lane, unsigned column)
{
	return cells[column * LANES + lane];
}

/* ---- moves ---- */

/* Which word of which thread a cell is, of a shape of 16 lanes: thread * 4 + word. */
static unsigned word_of(unsigned shape, unsigned row, unsigned column)
{
	unsigned low = row % 8 * 4, upper = row / 8;
	if (shape == 64)
		return (low + column % 2 * 2 + upper) * 4 + column / 2;
	if (shape == 128)
		return (low + column % 4) * 4 + column / 4 * 2 + upper;
	return (low + column / 2 % 4) * 4 + column % 2 + upper * 2 + column / 8 * 4;
}

/* Cells of a warp's lanes from `lane` and `column` on that a shape of 16 lanes has. */
static void shape_16(const uint32_t *cells, unsigned shape, unsigned lane, unsigned column,
		     uint32_t *want)
{
	for (unsigned row = 0; row < 16; row++)
		for (unsigned c = 0; c < 8; c++)
			want[word_of(shape, row, c)] = at(cells, lane + row, column + c);
}

static void tensor_loads(struct job *j)
{
	uint32_t *out = job_buffer(j, 7 * 512 * 4), *cells = job_words(j, LANES * 32);
	static uint32_t want[7 * 512];
	for (unsigned lane = 0; lane < LANES; lane++) {
		for (unsigned k = 0; k < 4; k++) {
			unsigned half = lane % 32 / 16, row = lane / 32 * 32 + lane % 16;
			want[lane * 4 + k] = at(cells, lane, 3 + k);
			want[4 * 512 + lane * 4 + k] = at(cells, row, 1 + 9 * half + k);
			want[5 * 512 + lane * 4 + k] = (at(cells, lane, 7 + 2 * k) & 0xffff) |
						       at(cells, lane, 8 + 2 * k) << 16;
		}
	}
	for (unsigned warp = 0; warp < 4; warp++) {
		unsigned lane = warp * 32;
		shape_16(cells, 64, lane + 16, 0, want + 512 + warp * 128);
		shape_16(cells, 128, lane, 5, want + 2 * 512 + warp * 128);
		shape_16(cells, 256, lane + 16, 2, want + 3 * 512 + warp * 128);
		for (unsigned row = 0; row < 16; row++)
			for (unsigned c = 0; c < 8; c++)
				want[6 * 512 + warp * 128 + word_of(128, row, c)] =
					(at(cells, lane + row, 3 + 2 * c) & 0xffff) |
					at(cells, lane + row, 4 + 2 * c) << 16;
	}
	job_launch(j, "tensor_loads", 1, 128, "pp", out, cells);
	job_same(j, out, want, 7 * 512);
}

static void tensor_stores(struct job *j)
{
	uint32_t *cells = job_words(j, LANES * 64), *in = job_words(j, 6 * 512);
	static uint32_t want[LANES * 64];
	static const struct {
		unsigned shape, lane, column;
	} shapes[] = { { 64, 0, 5 }, { 128, 16, 5 }, { 256, 0, 16 } };
	memcpy(want, cells, sizeof want);
	for (unsigned lane = 0; lane < LANES; lane++)
		for (unsigned k = 0; k < 4; k++)
			want[k * LANES + lane] = in[lane * 4 + k];
	for (unsigned s = 0; s < 3; s++)
		for (unsigned warp = 0; warp < 4; warp++)
			for (unsigned row = 0; row < 16; row++)
				for (unsigned c = 0; c < 8; c++)
					want[(shapes[s].column + c) * LANES + warp * 32 +
					     shapes[s].lane + row] =
						in[(s + 1) * 512 + warp * 128 +
						   word_of(shapes[s].shape, row, c)];
	for (unsigned lane = 0; lane < LANES; lane++) {
		for (unsigned k = 0; k < 4; k++) {
			unsigned row = lane / 32 * 32 + 16 + lane % 16, half = lane % 32 / 16;
			want[(16 + 5 * half + k) * LANES + row] = in[4 * 512 + lane * 4 + k];
			want[(32 + 2 * k) * LANES + lane] = in[5 * 512 + lane * 4 + k] & 0xffff;
			want[(33 + 2 * k) * LANES + lane] = in[5 * 512 + lane * 4 + k] >> 16;
		}
	}
	job_launch(j, "tensor_stores", 1, 128, "pp", cells, in);
	job_same(j, cells, want, LANES * 64);
}

/* Rows of 32 bytes: eight rows of the first 16 bytes, eight of the second, and so on. */
static void tensor_copies(struct job *j)
{
	uint32_t *cells = job_words(j, LANES * 32), *in = job_words(j, 1024);
	static uint32_t want[LANES * 32];
	memcpy(want, cells, sizeof want);
	for (unsigned lane = 0; lane < LANES; lane++) {
		unsigned rows_of[] = { lane, lane, lane / 32 % 2 * 32 + lane % 32,
				       lane / 64 * 32 + lane % 32, lane % 32 };
		for (unsigned i = 0; i < 5; i++) {
			unsigned row = rows_of[i], first = i == 0 ? 0 : 4 + 4 * i;
			for (unsigned k = 0; k < (i == 0 ? 8u : 4u); k++)
				want[(first + k) * LANES + lane] =
					in[row / 8 * 64 + k / 4 * 32 + row % 8 * 4 + k % 4];
		}
	}
	/* lanes of two quarters go down by one, then each quarter's last lane gets a row */
	for (unsigned k = 24; k < 32; k++) {
		for (unsigned lane = 0; lane < LANES; lane++)
			if (lane / 32 % 2 == 0 && lane % 32 < 31)
				want[k * LANES + lane] = cells[k * LANES + lane + 1];
		for (unsigned row = 0; row < 4; row++)
			want[k * LANES + row * 32 + 31] =
				in[(k - 24) / 4 * 32 + row * 4 + (k - 24) % 4];
	}
	job_launch(j, "tensor_copies", 1, 128, "pp", cells, in);
	job_same(j, cells, want, LANES * 32);
}

static void tensor_contention(struct job *j)
{
	enum { BLOCKS = 400, N = BLOCKS * 3 * 32 + 2, SMS = 148 };
	uint32_t *out = job_buffer(j, N * 4), *used = job_buffer(j, SMS * 4);
	static uint32_t want[N];
	for (unsigned i = 0; i < N - 2; i++)
		want[i + 2] = i / 96 * 1000 + i / 32 % 3 * 100 + i % 32;
	job_launch(j, "tensor_contention", BLOCKS, 64, "ppi", out, used, 256);
	job_same(j, out, want, N);
}

/* ---- products ---- */

struct form {
	const char *kernel;
	int a, b;             /* enum type and what follows it */
	uint32_t code;        /* of the instruction descriptor, but for the shape */
	unsigned m, span;     /* rows; bytes of a line */
	unsigned depth;       /* of one product */
	unsigned parts;       /* of the columns of D, beside each other in lanes */
	bool by_rows, scaled; /* scaled: with factors of blocks */
	bool packed;          /* elements of 4 bits: two in a byte */
};

static bool is_integer(const struct form *f)
{
	return f->a == S8 || f->a == U8;
}

static bool is_half(const struct form *f)
{
	return !is_integer(f) && (f->code >> 4 & 3) == 0 && !f->scaled;
}

static unsigned bits_of(int type)
{
	return type == E2M1 ? 4 : type > U8 ? 6 : 8 * bytes_of((enum type)type);
}

/* Fills a matrix of elements of less than 8 bits: 16 in a piece of 16 bytes, or two in a byte. */
static void fill_small(struct job *j, const struct form *f, const struct layout *l, int type,
		       uint32_t *memory, double *ret_values)
{
	unsigned width = bits_of(type);
	struct layout bytes = *l;
	bytes.depth /= f->packed ? 2 : 1;
	for (unsigned row = 0; row < l->rows; row++) {
		for (unsigned k = 0; k < l->depth; k++) {
			int v = (int)(job_random(j) % 9) - 4;
			unsigned first = f->packed ? k / 32 * 16 : k / 16 * 16,
				 bit = k % (f->packed ? 32 : 16) * width;
			uint8_t *to = (uint8_t *)memory + place(&bytes, row, first, 1) + bit / 8;
			uint32_t bits = encode((enum type)type, v) << bit % 8;
			to[0] |= (uint8_t)bits;
			if (bits >> 8)
				to[1] |= (uint8_t)(bits >> 8);
			ret_values[row * l->depth + k] = v / 2.0;
		}
	}
}

static void fill_form(struct job *j, const struct form *f, const struct layout *l, int type,
		      uint32_t *memory, double *ret_values)
{
	if (type > U8)
		fill_small(j, f, l, type, memory, ret_values);
	else
		fill(j, l, (enum type)type, memory, ret_values);
}

static unsigned lane_of(const struct form *f, unsigned row, unsigned column)
{
	unsigned rows = LANES / f->parts;
	if (f->parts > 1)
		return row + column / (COLUMNS / f->parts) * rows;
	return f->m == 64 ? row / 16 * 32 + row % 16 : row;
}

static double value_of(const struct form *f, uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return is_integer(f) ? (int32_t)bits : is_half(f) ? half_value(bits) : value;
}

static uint32_t bits_of_value(const struct form *f, double v)
{
	float value = (float)v;
	uint32_t bits;
	memcpy(&bits, &value, sizeof value);
	return is_integer(f) ? (uint32_t)(int32_t)v
	       : is_half(f)  ? narrow_bits(v, 0, 5, 10, 0)
			     : bits;
}

struct matrices {
	uint32_t *a, *b, *cells, *want;
	double value_a[LANES * DEPTH], value_b[COLUMNS * DEPTH];
	struct layout la, lb;
	struct plan plan;
};

/* Makes matrices, and cells with small numbers; `blocks` of them share the rows and columns. */
static struct matrices *prepare(struct job *j, const struct form *f, unsigned steps,
				unsigned blocks)
{
	static const uint32_t codes[] = { 0, 3, 2, 1 };
	static struct matrices m;
	unsigned bytes = f->a > U8 ? 1 : bytes_of((enum type)f->a);
	unsigned across = f->packed ? 2 : 1; /* elements in a byte */
	m.cells = job_buffer(j, sizeof(uint32_t) * LANES * (COLUMNS + MORE) * blocks);
	m.a = job_buffer(j, sizeof(uint32_t) * WORDS * blocks);
	m.b = job_buffer(j, sizeof(uint32_t) * WORDS * blocks);
	m.la = (struct layout){ f->span, f->by_rows, f->m / blocks, f->depth * steps };
	m.lb = (struct layout){ f->span, f->by_rows, COLUMNS / blocks, f->depth * steps };
	if (!f->by_rows && f->span > 16)
		m.la.depth = m.lb.depth = f->span / bytes * across;
	struct layout a = m.la, b = m.lb;
	a.depth /= across;
	b.depth /= across;
	offsets(&a, bytes, &m.plan.leading_a, &m.plan.stride_a, &m.plan.step_a);
	offsets(&b, bytes, &m.plan.leading_b, &m.plan.stride_b, &m.plan.step_b);
	m.plan.swizzle = codes[f->span == 16 ? 0 : f->span == 32 ? 1 : f->span == 64 ? 2 : 3];
	m.plan.instruction =
		f->code | (uint32_t)f->by_rows * 0x18000 | COLUMNS / 8 << 17 | f->m / 16 << 24;
	m.plan.adds = 1;
	for (unsigned i = 0; i < LANES * (COLUMNS + MORE) * blocks; i++)
		m.cells[i] = bits_of_value(f, (int)(job_random(j) % 33) - 16);
	return &m;
}

static double dot(const struct matrices *m, unsigned row, unsigned column, unsigned depth)
{
	double sum = 0;
	for (unsigned k = 0; k < depth; k++)
		sum += m->value_a[row * m->la.depth + k] * m->value_b[column * m->lb.depth + k];
	return sum;
}

static void release(struct job *j, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		free(j->buffer[--j->n_buffers].host);
}

static void product(struct job *j, const struct form *f, unsigned steps, double sign)
{
	static uint32_t want[LANES * (COLUMNS + MORE)];
	struct matrices *m = prepare(j, f, steps, 1);
	fill_form(j, f, &m->la, f->a, m->a, m->value_a);
	fill_form(j, f, &m->lb, f->b, m->b, m->value_b);
	memcpy(want, m->cells, sizeof want);
	for (unsigned row = 0; row < f->m; row++)
		for (unsigned column = 0; column < COLUMNS; column++) {
			uint32_t *cell = &want[column % (COLUMNS / f->parts) * LANES +
					       lane_of(f, row, column)];
			double sum = dot(m, row, column, f->depth * steps);
			*cell = bits_of_value(f, value_of(f, *cell) + sign * sum);
		}
	job_launch(j, f->kernel, 1, 128, "pppsi", m->cells, m->a, m->b, &m->plan, steps);
	job_same(j, m->cells, want, LANES * (COLUMNS + MORE));
	release(j, 3);
}

enum { F32_SUM = 1 << 4, S32_SUM = 2 << 4, TYPE_A = 1 << 7, TYPE_B = 1 << 10, MINUS = 1 << 13 };

static void tensor_f16(struct job *j)
{
	struct form f = { "tensor_f16", F16, F16, F32_SUM, 128, 0, 16, 1, false, false, false };
	for (unsigned span = 16; span <= 128; span *= 2) {
		f.span = span;
		f.m = span % 64 == 0 ? 64 : 128;
		f.by_rows = false;
		product(j, &f, span == 32 ? 1 : 2, 1);
		f.by_rows = true;
		product(j, &f, 2, 1);
	}
	f = (struct form){ "tensor_f16", F16, F16, MINUS, 128, 128, 16, 1, false, false, false };
	product(j, &f, 3, -1); /* a sum of halves */
	f = (struct form){ "tensor_f16", BF16,  BF16, F32_SUM | TYPE_A | TYPE_B, 128, 128, 16, 1,
			   false,        false, false };
	product(j, &f, 4, 1);
	f = (struct form){
		"tensor_f16_apart", F16, F16, F32_SUM, 64, 128, 16, 2, false, false, false
	};
	product(j, &f, 2, 1);
	f.m = 32;
	f.parts = 4;
	product(j, &f, 2, 1);
	f.kernel = "tensor_f16_columns";
	product(j, &f, 2, 1);
}

static void tensor_types(struct job *j)
{
	static const struct form forms[] = {
		{ "tensor_tf32", TF32, TF32, F32_SUM | 2 * TYPE_A | 2 * TYPE_B, 128, 128, 8, 1,
		  false, false, false },
		{ "tensor_small", E4M3, E5M2, F32_SUM | TYPE_B, 128, 64, 32, 1, false, false,
		  false },
		{ "tensor_small", E5M2, E4M3, F32_SUM | TYPE_A, 128, 64, 32, 1, true, false,
		  false },
		{ "tensor_small", E2M3, E2M1, F32_SUM | 3 * TYPE_A | 5 * TYPE_B, 128, 128, 32, 1,
		  false, true, false },
		{ "tensor_small", E3M2, E4M3, 4 * TYPE_A, 64, 128, 32, 1, false, false, false },
		{ "tensor_integers", S8, U8, S32_SUM | TYPE_A, 128, 128, 32, 1, false, false,
		  false },
	};
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		product(j, &forms[i], 2, 1);
}

/* A in tensor memory: two halves in a cell. */
static void tensor_both(struct job *j)
{
	static uint32_t want[LANES * (COLUMNS + MORE)];
	for (unsigned rows = 64; rows <= 128; rows += 64) {
		struct form f = {
			"tensor_f16_both", F16, F16, F32_SUM, rows, 128, 16, 1, false, false, false
		};
		struct matrices *m = prepare(j, &f, 2, 1);
		fill(j, &m->la, F16, m->a, m->value_a);
		fill(j, &m->lb, F16, m->b, m->value_b);
		for (unsigned row = 0; row < rows; row++)
			for (unsigned k = 0; k < 32; k += 2) {
				const double *v = &m->value_a[row * m->la.depth + k];
				m->cells[(COLUMNS + k / 2) * LANES + lane_of(&f, row, 0)] =
					narrow_bits(v[0], 0, 5, 10, 0) |
					narrow_bits(v[1], 0, 5, 10, 0) << 16;
			}
		memcpy(want, m->cells, sizeof want);
		for (unsigned row = 0; row < rows; row++)
			for (unsigned column = 0; column < COLUMNS; column++) {
				uint32_t *cell = &want[column * LANES + lane_of(&f, row, 0)];
				*cell = bits_of_value(&f, value_of(&f, *cell) +
								  dot(m, row, column, 32));
			}
		job_launch(j, f.kernel, 1, 128, "pppsi", m->cells, m->a, m->b, &m->plan, 2);
		job_same(j, m->cells, want, LANES * (COLUMNS + MORE));
		release(j, 3);
	}
}

/* The old sum is divided by 8 each time, and some lanes stay. */
static void tensor_less(struct job *j)
{
	static const uint32_t left_out[] = { 0x80000001, 0xff, 0, 0xf0f0f0f0 };
	static uint32_t want[LANES * (COLUMNS + MORE)];
	struct form f = {
		"tensor_f16_less", F16, F16, F32_SUM, 128, 128, 16, 1, false, false, false
	};
	struct matrices *m = prepare(j, &f, 1, 1);
	fill(j, &m->la, F16, m->a, m->value_a);
	fill(j, &m->lb, F16, m->b, m->value_b);
	memcpy(want, m->cells, sizeof want);
	for (unsigned row = 0; row < 128; row++)
		for (unsigned column = 0; column < COLUMNS; column++) {
			uint32_t *cell = &want[column * LANES + row];
			if (!(left_out[row / 32] >> row % 32 & 1))
				*cell = bits_of_value(&f, value_of(&f, *cell) / 8 +
								  dot(m, row, column, 16));
		}
	job_launch(j, f.kernel, 1, 128, "pppsi", m->cells, m->a, m->b, &m->plan, 1);
	job_same(j, m->cells, want, LANES * (COLUMNS + MORE));
}

/* ---- factors of blocks ---- */

/* Factors between 1/4 and 2, exponents or e4m3, in a byte of a cell for each row. */
static double factor(struct job *j, uint32_t *cells, unsigned row, unsigned column, unsigned byte,
		     bool exponent)
{
	static const uint8_t codes[] = { 0x28, 0x30, 0x38, 0x40 };
	unsigned v = job_random(j) % 4;
	for (unsigned quarter = 0; quarter < 4; quarter++) {
		uint32_t *cell =
			&cells[(COLUMNS + column + row / 32) * LANES + quarter * 32 + row % 32];
		uint32_t bits = exponent ? 125 + v : codes[v];
		*cell = (*cell & ~(0xffu << 8 * byte)) | bits << 8 * byte;
	}
	return ldexp(1, (int)v - 2);
}

static void scaled(struct job *j, const struct form *f, unsigned block, unsigned first_a,
		   unsigned first_b, bool exponents)
{
	static double factor_a[LANES][4], factor_b[COLUMNS][4];
	static uint32_t want[LANES * (COLUMNS + MORE)];
	struct matrices *m = prepare(j, f, 1, 1);
	unsigned n = f->depth / block;
	fill_form(j, f, &m->la, f->a, m->a, m->value_a);
	fill_form(j, f, &m->lb, f->b, m->b, m->value_b);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned row = 0; row < LANES; row++)
			factor_a[row][i] = factor(j, m->cells, row, 0, first_a + i, exponents);
		for (unsigned row = 0; row < COLUMNS; row++)
			factor_b[row][i] = factor(j, m->cells, row, 8, first_b + i, exponents);
	}
	m->plan.instruction |= first_b << 4 | first_a << 29 | (uint32_t)exponents << 23;
	memcpy(want, m->cells, sizeof want);
	for (unsigned row = 0; row < LANES; row++)
		for (unsigned column = 0; column < COLUMNS; column++) {
			uint32_t *cell = &want[column * LANES + row];
			float old;
			memcpy(&old, cell, sizeof old);
			double sum = old;
			for (unsigned k = 0; k < f->depth; k++)
				sum += m->value_a[row * m->la.depth + k] *
				       m->value_b[column * m->lb.depth + k] *
				       factor_a[row][k / block] * factor_b[column][k / block];
			old = (float)sum;
			memcpy(cell, &old, sizeof old);
		}
	job_launch(j, f->kernel, 1, 128, "pppsi", m->cells, m->a, m->b, &m->plan, 1);
	job_same(j, m->cells, want, LANES * (COLUMNS + MORE));
	release(j, 3);
}

static void tensor_scaled(struct job *j)
{
	const struct form mixed = { "tensor_scaled", E4M3, E2M1, 5 * TYPE_B, 128, 128, 32, 1,
				    false,           true, false };
	const struct form four = {
		"tensor_scaled_4", E2M1, E2M1, TYPE_A | TYPE_B, 128, 128, 64, 1, false, true, true
	};
	struct form sixteen = four;
	sixteen.kernel = "tensor_scaled_16";
	scaled(j, &mixed, 32, 0, 0, true);
	scaled(j, &mixed, 32, 2, 3, true);
	scaled(j, &four, 32, 2, 0, true);
	scaled(j, &sixteen, 16, 0, 0, false);
	scaled(j, &sixteen, 16, 0, 0, true);
}

/* ---- a sparse A ---- */

/* Of A: the whole rows, and what is there of them. */
static double whole_a[LANES * DEPTH];

/* Four bits that say where two of four elements are, or two pairs of four, or one of two. */
static void put_chunk(const struct form *f, uint32_t *cells, unsigned row, unsigned chunk,
		      uint32_t code, unsigned selector)
{
	unsigned bits = bits_of(f->a), lane = row, column = chunk / 8, bit = chunk % 8 * 4;
	if (bits >= 16) { /* four chunks of each of two rows */
		lane = row % 8 + chunk / 4 * 8 + row / 16 * 16;
		column = selector;
		bit = row / 8 % 2 * 16 + chunk % 4 * 4;
	}
	uint32_t *cell = &cells[(COLUMNS + 16 + column) * LANES + lane];
	*cell = (*cell & ~(0xfu << bit)) | code << bit;
}

static void make_whole(struct job *j, const struct form *f, struct matrices *m, unsigned selector)
{
	unsigned unit = f->packed ? 2 : 1, stored = f->depth / 2;
	enum type type = f->a == TF32 ? TF32 : S8;
	unsigned places[SPARSE_MOST];
	memset(whole_a, 0, sizeof whole_a);
	for (unsigned row = 0; row < LANES; row++) {
		pick_places(j, type, stored / unit, places);
		for (unsigned k = 0; k < stored; k++)
			whole_a[row * DEPTH + dense_place(type, places, k / unit) * unit +
				k % unit] = m->value_a[row * m->la.depth + k];
		for (unsigned k = 0; k < stored / unit; k += type == TF32 ? 1 : 2) {
			if (type == TF32)
				put_chunk(f, m->cells, row, k, places[k] ? 0xe : 0x4, selector);
			else
				put_chunk(f, m->cells, row, k / 2, places[k] | places[k + 1] << 2,
					  selector);
		}
	}
}

/* Without a swizzle; `block`: of so many elements that have one factor, or 0. */
static void sparse(struct job *j, const struct form *f, unsigned selector, unsigned block)
{
	static double factor_a[LANES][4], factor_b[COLUMNS][4];
	static uint32_t want[LANES * (COLUMNS + MORE)];
	struct form half = *f;
	half.depth /= 2;
	struct matrices *m = prepare(j, &half, 1, 1);
	unsigned bytes = f->a > U8 ? 1 : bytes_of((enum type)f->a);
	m->lb.depth = f->depth;
	struct layout b = m->lb;
	b.depth /= f->packed ? 2 : 1;
	offsets(&b, bytes, &m->plan.leading_b, &m->plan.stride_b, &m->plan.step_b);
	fill_form(j, f, &m->la, f->a, m->a, m->value_a);
	fill_form(j, f, &m->lb, f->b, m->b, m->value_b);
	make_whole(j, f, m, selector);
	for (unsigned i = 0; block && i < f->depth / block; i++) {
		for (unsigned row = 0; row < LANES; row++)
			factor_a[row][i] = factor(j, m->cells, row, 0, i, block == 64);
		for (unsigned row = 0; row < COLUMNS; row++)
			factor_b[row][i] = factor(j, m->cells, row, 8, i, block == 64);
	}
	if (strcmp(f->kernel, "tensor_sparse_both") == 0) /* A in tensor memory: two in a cell */
		for (unsigned row = 0; row < LANES; row++)
			for (unsigned k = 0; k < f->depth / 2; k += 2)
				m->cells[(COLUMNS + k / 2) * LANES + row] =
					encode(F16, (int)(2 * m->value_a[row * m->la.depth + k])) |
					encode(F16,
					       (int)(2 * m->value_a[row * m->la.depth + k + 1]))
						<< 16;
	m->plan.instruction |= 4 | selector | (block == 64 ? 1u << 23 : 0);
	memcpy(want, m->cells, sizeof want);
	for (unsigned row = 0; row < LANES; row++)
		for (unsigned column = 0; column < COLUMNS; column++) {
			uint32_t *cell = &want[column * LANES + row];
			double sum = value_of(f, *cell);
			for (unsigned k = 0; k < f->depth; k++)
				sum += whole_a[row * DEPTH + k] *
				       m->value_b[column * m->lb.depth + k] *
				       (block ? factor_a[row][k / block] *
							factor_b[column][k / block]
					      : 1);
			*cell = bits_of_value(f, sum);
		}
	job_launch(j, f->kernel, 1, 128, "pppsi", m->cells, m->a, m->b, &m->plan, 1);
	job_same(j, m->cells, want, LANES * (COLUMNS + MORE));
	release(j, 3);
}

static void tensor_sparse(struct job *j)
{
	static const struct form forms[] = {
		{ "tensor_sparse_f16", F16, F16, F32_SUM, 128, 16, 32, 1, false, false, false },
		{ "tensor_sparse_both", F16, F16, F32_SUM, 128, 16, 32, 1, false, false, false },
		{ "tensor_sparse_tf32", TF32, TF32, F32_SUM | 2 * TYPE_A | 2 * TYPE_B, 128, 16, 16,
		  1, false, false, false },
		{ "tensor_sparse_small", E5M2, E4M3, F32_SUM | TYPE_A, 128, 16, 64, 1, false, false,
		  false },
		{ "tensor_sparse_integers", S8, U8, S32_SUM | TYPE_A, 128, 16, 64, 1, false, false,
		  false },
	};
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		for (unsigned selector = 0; selector < (i < 3 ? 2 : 1); selector++)
			sparse(j, &forms[i], selector, 0);
}

static void tensor_sparse_scaled(struct job *j)
{
	static const struct form bytes = { "tensor_sparse_scaled",
					   E2M3,
					   E4M3,
					   3 * TYPE_A,
					   128,
					   16,
					   64,
					   1,
					   false,
					   true,
					   false },
				 fours = { "tensor_sparse_scaled_16",
					   E2M1,
					   E2M1,
					   TYPE_A | TYPE_B,
					   128,
					   16,
					   128,
					   1,
					   false,
					   true,
					   true };
	sparse(j, &bytes, 0, 64);
	sparse(j, &fours, 0, 32);
}

/* ---- two blocks ---- */

static void tensor_pair(struct job *j)
{
	static uint32_t want[2 * LANES * COLUMNS];
	static double a[2][LANES * DEPTH], b[2][COLUMNS * DEPTH];
	for (unsigned rows = 128; rows <= 256; rows += 128) {
		struct form f = { "tensor_pair", F16,   F16,   F32_SUM, rows, 128, 16,
				  256 / rows,    false, false, false };
		struct matrices *m = prepare(j, &f, 2, 2);
		for (unsigned i = 0; i < 2; i++) {
			fill(j, &m->la, F16, m->a + i * WORDS, a[i]);
			fill(j, &m->lb, F16, m->b + i * WORDS, b[i]);
		}
		memcpy(want, m->cells, sizeof want);
		for (unsigned row = 0; row < rows; row++)
			for (unsigned column = 0; column < COLUMNS; column++) {
				unsigned half = rows / 2, block = row / half;
				uint32_t *cell = &want[block * LANES * COLUMNS +
						       column % (COLUMNS / f.parts) * LANES +
						       lane_of(&f, row % half, column)];
				double sum = value_of(&f, *cell);
				for (unsigned k = 0; k < 32; k++)
					sum += a[block][row % half * m->la.depth + k] *
					       b[column / 32][column % 32 * m->lb.depth + k];
				*cell = bits_of_value(&f, sum);
			}
		job_launch(j, f.kernel, 2, 128, "pppsi", m->cells, m->a, m->b, &m->plan, 2);
		job_same(j, m->cells, want, 2 * LANES * COLUMNS);
		release(j, 3);
	}
}

/* ---- mistakes ---- */

/* False: there is none, which is told. */
static bool has_fault(struct job *j, enum ws_sim_outcome outcome, struct ws_sim_fault *ret_fault)
{
	if (outcome == WS_SIM_FAULTED && ws_sim_fault(j->sim, ret_fault))
		return true;
	job_fail(j, "no fault");
	return false;
}

/* A mask that leaves columns of B out is not imitated: it must not be taken for none. */
static void tensor_columns(struct job *j)
{
	struct form f = {
		"tensor_f16_columns", F16, F16, F32_SUM, 32, 128, 16, 4, false, false, false
	};
	struct ws_sim_fault fault;
	struct matrices *m = prepare(j, &f, 1, 1);
	m->plan.adds = 3; /* the mask is 1 */
	enum ws_sim_outcome outcome =
		job_launch_bad(j, f.kernel, 1, 128, "pppsi", m->cells, m->a, m->b, &m->plan, 1);
	if (has_fault(j, outcome, &fault) && fault.exception != WS_SIM_UNIMPLEMENTED)
		job_fail(j, "%u: %s", fault.exception, fault.text);
}

static void mistake(struct job *j, uint32_t which, unsigned threads, uint32_t exception,
		    uint32_t lanes, const char *text)
{
	struct ws_sim_fault fault;
	uint32_t *out = job_buffer(j, 64 * 4);
	if (!has_fault(j, job_launch_bad(j, "tensor_mistake", 1, threads, "pi", out, which),
		       &fault))
		return;
	if (fault.exception == WS_SIM_TRAP && which != 0)
		return; /* code for debuggers looks itself */
	if (fault.exception != exception || (fault.lanes & lanes) != lanes ||
	    strcmp(fault.text, text) != 0)
		job_fail(j, "%u, lanes 0x%x, %s", fault.exception, fault.lanes, fault.text);
}

static void tensor_leak(struct job *j)
{
	mistake(j, 0, 32, 21, UINT32_MAX, "the block exits with 32 columns of tensor memory");
}

static void tensor_column(struct job *j)
{
	mistake(j, 1, 32, 20, UINT32_MAX,
		"tensor memory at lane 0, column 32: the block has not allocated it");
}

static void tensor_lane(struct job *j)
{
	mistake(j, 2, 64, 20, UINT32_MAX, "tensor memory at lane 0: warp 1 reaches lanes 32 to 63");
}

static void tensor_shape(struct job *j)
{
	mistake(j, 3, 32, 4, 1, "instruction descriptor 0x00000010: shape");
}

const struct job_case job_tcgen[] = {
	{ "tcgen", "tensor_loads", tensor_loads, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_stores", tensor_stores, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_copies", tensor_copies, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_contention", tensor_contention, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_f16", tensor_f16, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_types", tensor_types, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_both", tensor_both, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_less", tensor_less, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_scaled", tensor_scaled, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_sparse", tensor_sparse, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_sparse_scaled", tensor_sparse_scaled, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_pair", tensor_pair, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_columns", tensor_columns, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_mistake", tensor_leak, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_mistake", tensor_column, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_mistake", tensor_lane, JOB_ONLY + 100, NULL },
	{ "tcgen", "tensor_mistake", tensor_shape, JOB_ONLY + 100, NULL },
	{ 0 },
};
