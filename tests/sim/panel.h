/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices in shared memory, in the layouts of PTX, for products by wgmma and tcgen05. */
#ifndef WS_TEST_SIM_PANEL_H
#define WS_TEST_SIM_PANEL_H

#include "job.h"
#include "narrow.h"

/* Integers, then what has less than 8 bits. */
enum type { F16, BF16, TF32, E4M3, E5M2, S8, U8, E2M3, E3M2, E2M1 };

/* How a matrix lies in shared memory. */
struct layout {
	unsigned span;        /* bytes of a pattern's line: 16 (no swizzle), 32, 64, 128 */
	bool by_rows;         /* elements of a line differ in row */
	unsigned rows, depth; /* of the whole matrix */
};

static inline unsigned bytes_of(enum type type)
{
	return type == TF32 ? 4 : type == F16 || type == BF16 ? 2 : 1;
}

/* Multiples of 1/2 up to 2, exact in all types; whole ones for integers. */
static inline uint32_t encode(enum type type, int halves)
{
	static const uint8_t e4m3[] = { 0, 0x30, 0x38, 0x3c, 0x40 },
			     e5m2[] = { 0, 0x38, 0x3c, 0x3e, 0x40 },
			     small[][5] = { { 0, 4, 8, 12, 16 },
					    { 0, 8, 12, 14, 16 },
					    { 0, 1, 2, 3, 4 } };
	unsigned size = (unsigned)(halves < 0 ? -halves : halves), sign = halves < 0 ? 0x80 : 0;
	float value = (float)halves / 2;
	uint32_t bits;
	switch (type) {
	case F16:
		return narrow_bits(value, 0, 5, 10, 0);
	case BF16:
		return narrow_bits(value, 0, 8, 7, 0);
	case E4M3:
		return e4m3[size] | sign;
	case E5M2:
		return e5m2[size] | sign;
	case S8:
	case U8:
		return (uint8_t)halves;
	case E2M3:
	case E3M2:
	case E2M1:
		return small[type - E2M3][size] | (halves < 0 ? type == E2M1 ? 8 : 32 : 0);
	case TF32:
		break;
	}
	memcpy(&bits, &value, 4);
	return bits;
}

static inline unsigned max_unsigned(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* Lines of `span` bytes, eight of them in a pattern. Patterns follow each other along the line's
 * own direction first, then across. */
static inline uint32_t place(const struct layout *l, unsigned row, unsigned depth, unsigned bytes)
{
	unsigned along = (l->by_rows ? row : depth) * bytes, across = l->by_rows ? depth : row;
	unsigned length = (l->by_rows ? l->rows : l->depth) * bytes;
	uint32_t pattern = across / 8 * max_unsigned(length / l->span, 1) + along / l->span;
	uint32_t line = across % 8, column = along % l->span / 16, parts = l->span / 16;
	column ^= line * l->span / 128 % parts;
	return pattern * 8 * l->span + line * l->span + column * 16 + along % 16;
}

static inline void offsets(const struct layout *l, unsigned bytes, uint32_t *ret_leading,
			   uint32_t *ret_stride, uint32_t *ret_step)
{
	unsigned length = (l->by_rows ? l->rows : l->depth) * bytes;
	uint32_t next_along = 8 * l->span,
		 next_across = max_unsigned(length / l->span, 1) * 8 * l->span;
	bool swaps = l->by_rows && l->span == 16; /* which is leading: [PTX: strides] */
	*ret_leading = swaps ? next_across : next_along;
	*ret_stride = swaps ? next_along : next_across;
	*ret_step = place(l, 0, 32 / bytes, bytes);
	if (!l->by_rows && l->span > 16)
		*ret_step = 32; /* within a line */
}

/* Random elements of a matrix, and as they lie in memory. */
static inline void fill(struct job *j, const struct layout *l, enum type type, uint32_t *memory,
			double *ret_values)
{
	unsigned bytes = bytes_of(type);
	for (unsigned row = 0; row < l->rows; row++) {
		for (unsigned k = 0; k < l->depth; k++) {
			int v = (int)(job_random(j) % 9) - (type == U8 ? 0 : 4);
			uint32_t bits = encode(type, v);
			memcpy((uint8_t *)memory + place(l, row, k, bytes), &bits, bytes);
			ret_values[row * l->depth + k] = type == S8 || type == U8 ? v : v / 2.0;
		}
	}
}

/* ---- sparse ones ---- */

enum { SPARSE_MOST = 32 }; /* elements of a row that are there */

/* Places of a row's elements: two of four, or one of two with 32 bits. */
static inline void pick_places(struct job *j, enum type type, unsigned n, unsigned *ret_places)
{
	for (unsigned k = 0; k < n; k++) {
		unsigned other = k % 2 ? ret_places[k - 1] + 1 : 0;
		if (type == TF32)
			ret_places[k] = job_random(j) % 2;
		else if (k % 2 == 0)
			ret_places[k] = job_random(j) % 3;
		else
			ret_places[k] = other + job_random(j) % (4 - other);
	}
}

/* Where element k of a row is in the whole row. */
static inline unsigned dense_place(enum type type, const unsigned *places, unsigned k)
{
	return (type == TF32 ? k * 2 : k / 2 * 4) + places[k];
}

/* The word that a thread of a warp has for 16 rows of n elements. `first` of four threads has the
 * first ones. */
static inline uint32_t places_of(enum type type, unsigned n, unsigned first,
				 unsigned (*places)[SPARSE_MOST], unsigned thread)
{
	unsigned part = thread % 4 - first, row = thread / 4;
	unsigned width = type == TF32 ? 4 : 2, half_word = 16 / width;
	uint32_t word = 0;
	if (thread % 4 < first)
		return 0;
	if (bytes_of(type) == 1) {
		row += part % 2 * 8;
		for (unsigned k = 0; k < 16 && part / 2 * 16 + k < n; k++)
			word |= places[row][part / 2 * 16 + k] << 2 * k;
		return word;
	}
	for (unsigned half = 0; half < 2; half++)
		for (unsigned k = 0; k < half_word && part * half_word + k < n; k++) {
			unsigned place = places[row + 8 * half][part * half_word + k];
			uint32_t code = type != TF32 ? place : place ? 0xe : 0x4;
			word |= code << (16 * half + k * width);
		}
	return word;
}

#endif
