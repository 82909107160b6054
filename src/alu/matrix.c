/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of small matrices that the lanes of a warp hold together, D = A * B + C, in the layouts
 * of PTX's mma. A register of A or B holds elements that lie side by side along K: of lane l those
 * of row (of B: column) l / 4, from element l % 4 * n of 4 * n on. Registers of A take turns
 * between the upper and the lower eight rows.
 */
#include "alu/matrix.h"

#include "alu/bits.h"
#include "alu/soft.h"

enum { ROWS = 16, COLUMNS = 8, MOST_K = 256, LANES_OF_ROW = 4 };

enum element { F16, BF16, TF32, E4M3, E5M2, E2M3, E3M2, E2M1, INTEGER };

/* A number without infinities: its sign is bit `sign`, below it are exponent and fraction. */
static double small_value(uint32_t bits, unsigned sign, unsigned fraction, unsigned bias)
{
	uint32_t low = bits & ((1u << sign) - 1), exponent = low >> fraction;
	double value = low & ((1u << fraction) - 1);
	if (exponent != 0)
		value += 1u << fraction;
	value *= 1u << (exponent ? exponent : 1);
	value /= 1u << (bias + fraction);
	return bits >> sign & 1 ? -value : value;
}

static double matrix_value_of(enum element what, uint32_t bits)
{
	switch (what) {
	case F16:
	case BF16:
		return wsi_half_value(bits, what == BF16);
	case TF32:
		return wsi_float(bits & ~UINT32_C(0x1fff));
	case E5M2:
		return wsi_half_value(bits << 8, false);
	case E4M3:
		if ((bits & 0x7f) == 0x7f)
			return wsi_double(WSI_NAN64);
		return wsi_half_value((bits & 0x80) << 8 | (bits & 0x7f) << 7, false) * 256.0;
	case E2M3:
		return small_value(bits, 5, 3, 1);
	case E3M2:
		return small_value(bits, 5, 2, 3);
	case E2M1:
		return small_value(bits, 3, 1, 1);
	case INTEGER:
		break;
	}
	return 0;
}

/* Of registers: numbers of 4 bits that have a byte are in its middle, those of 6 bits in its lower
 * bits [public doc: PTX ISA, mma, f8f6f4]. */
static double value_in_register(enum element what, unsigned room, uint32_t bits)
{
	return matrix_value_of(what, what == E2M1 && room == 8 ? bits >> 2 : bits);
}

/* How many rows A and C have: as many as fill their registers; 16 if A is sparse. */
static unsigned matrix_rows_of(const struct wsi_alu *alu)
{
	if (alu->combine)
		return ROWS;
	return alu->source[0].words == alu->source[1].words ? ROWS / 2 : ROWS;
}

/* Where element j of register r of a lane lies along K. */
static unsigned place_of(unsigned r, unsigned lane, unsigned j, unsigned per_register)
{
	return (r * LANES_OF_ROW + lane % LANES_OF_ROW) * per_register + j;
}

unsigned wsi_alu_matrix_dense_place(unsigned bits, const uint32_t *words, unsigned first,
				    unsigned row, unsigned k)
{
	const uint32_t *word = words + row % 8 * LANES_OF_ROW + first;
	if (bits == 4)
		return wsi_alu_matrix_dense_place(8, words, first, row, k / 2) * 2 + k % 2;
	if (bits == 8) /* a thread has 16 elements of one row */
		return k / 2 * 4 + (word[row / 8 + k / 16 * 2] >> k % 16 * 2 & 3);
	unsigned n = bits == 16 ? 8 : 4; /* 16 bits of each of the two rows */
	uint32_t places = word[k / n] >> (row / 8 * 16 + k % n * (16 / n));
	return bits == 16 ? k / 2 * 4 + (places & 3) : k * 2 + (places >> 1 & 1);
}

/* The place in the dense matrix of element k of a row of an instruction's A; `combine`: it is
 * sparse. */
static unsigned sparse_a_place(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned row,
			       unsigned k)
{
	return alu->combine
		       ? wsi_alu_matrix_dense_place(alu->kind, io->source[3], alu->compare, row, k)
		       : k;
}

/* ---- floating point ---- */

struct matrix_tile {
	double a[ROWS][MOST_K], b[COLUMNS][MOST_K], c[ROWS][COLUMNS];
};

static void take_floats(const struct wsi_alu *alu, const struct wsi_alu_io *io,
			struct matrix_tile *tile)
{
	unsigned bits = alu->kind, n = 32 / bits, halves = matrix_rows_of(alu) / 8;
	uint32_t mask = bits == 32 ? UINT32_MAX : (UINT32_C(1) << bits) - 1;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		for (unsigned r = 0; r < alu->source[0].words; r++) {
			uint32_t word = wsi_word(alu, io, 0, r * WSI_ALU_LANES + l);
			unsigned row = l / LANES_OF_ROW + 8 * (r % halves);
			for (unsigned j = 0; j < n; j++) {
				unsigned k = place_of(r / halves, l, j, n);
				tile->a[row][sparse_a_place(alu, io, row, k)] =
					value_in_register((enum element)alu->select[0], bits,
							  word >> (j * bits % 32) & mask);
			}
		}
		for (unsigned r = 0; r < alu->source[1].words; r++) {
			uint32_t word = wsi_word(alu, io, 1, r * WSI_ALU_LANES + l);
			for (unsigned j = 0; j < n; j++)
				tile->b[l / LANES_OF_ROW][place_of(r, l, j, n)] =
					value_in_register((enum element)alu->select[1], bits,
							  word >> (j * bits % 32) & mask);
		}
	}
}

/* ---- scale factors: one for some elements that lie side by side along K ---- */

static double factor_of(const struct wsi_alu *alu, uint32_t bits)
{
	return alu->wrap ? matrix_value_of(E4M3, bits & 0x7f) : wsi_alu_matrix_power(bits);
}

/*
 * A thread has up to four for a row of A or a column of B. The last register says which: of A bits
 * 0 and 1 the first byte and bit 2 the threads, of B bits 3 and 4 and bits 5 and 6 [measured: what
 * ptxas makes of the selectors; public doc: PTX ISA, mma, block scaling].
 */
static void scale_thread_values(const struct wsi_alu *alu, const struct wsi_alu_io *io,
				struct matrix_tile *tile, unsigned depth)
{
	const uint32_t *a = io->source[3] + (alu->combine ? WSI_ALU_LANES : 0), *b = io->source[4];
	uint32_t which = io->source[5][0];
	unsigned block = depth / alu->number;
	for (unsigned row = 0; row < ROWS; row++) {
		unsigned lane = row % 8 * LANES_OF_ROW + (which >> 2 & 1) * 2 + row / 8;
		uint32_t word = a[lane] >> (which & 3) * 8;
		for (unsigned k = 0; k < depth; k++)
			tile->a[row][k] *= factor_of(alu, word >> k / block * 8 & 0xff);
	}
	for (unsigned column = 0; column < COLUMNS; column++) {
		uint32_t word = b[column * LANES_OF_ROW + (which >> 5 & 3)] >> (which >> 3 & 3) * 8;
		for (unsigned k = 0; k < depth; k++)
			tile->b[column][k] *= factor_of(alu, word >> k / block * 8 & 0xff);
	}
}

/* Element i of a lane in C and D: two columns, then the rows eight below. */
static unsigned row_of(unsigned l, unsigned i)
{
	return l / LANES_OF_ROW + i / 2 * 8;
}

static unsigned column_of(unsigned l, unsigned i)
{
	return l % LANES_OF_ROW * 2 + i % 2;
}

/* Products are exact in double precision; what their sum loses there is below what counts. */
static double sum_of(const struct matrix_tile *tile, unsigned row, unsigned column, unsigned k)
{
	double sum = tile->c[row][column];
	for (unsigned i = 0; i < k; i++)
		sum += tile->a[row][i] * tile->b[column][i];
	return sum;
}

static uint32_t single_of(double sum)
{
	return sum != sum ? WSI_NAN32 : wsi_bits((float)sum);
}

double wsi_alu_matrix_value(enum ws_modifier type, uint32_t bits)
{
	static const struct {
		enum ws_modifier type;
		enum element element;
	} floats[] = { { WS_MOD_BF16, BF16 }, { WS_MOD_TF32, TF32 }, { WS_MOD_E4M3, E4M3 },
		       { WS_MOD_E5M2, E5M2 }, { WS_MOD_E2M3, E2M3 }, { WS_MOD_E3M2, E3M2 },
		       { WS_MOD_E2M1, E2M1 } };
	if (type == WS_MOD_S8)
		return (int8_t)bits;
	if (type == WS_MOD_U8)
		return (uint8_t)bits;
	if (type == WS_MOD_U32)
		return bits;
	for (size_t i = 0; i < WSI_COUNT(floats); i++)
		if (floats[i].type == type)
			return matrix_value_of(floats[i].element, bits);
	return matrix_value_of(F16, bits);
}

double wsi_alu_matrix_power(uint32_t exponent)
{
	enum { BIAS = 127, BIAS_OF_DOUBLE = 1023, FRACTION = 52 };
	if (exponent == 0xff)
		return wsi_double(WSI_NAN64);
	return wsi_double((uint64_t)(exponent + BIAS_OF_DOUBLE - BIAS) << FRACTION);
}

uint32_t wsi_alu_matrix_single(double sum)
{
	return single_of(sum);
}

uint32_t wsi_alu_matrix_half(double sum)
{
	return wsi_to_half(single_of(sum), false);
}

static unsigned depth_of(const struct wsi_alu *alu)
{
	return alu->source[1].words * LANES_OF_ROW * 32u / alu->kind;
}

static void run_float_matrix(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	struct matrix_tile tile;
	unsigned depth = depth_of(alu), elements = matrix_rows_of(alu) / 4;
	bool half = alu->upper;
	if (alu->combine)
		memset(tile.a, 0, sizeof tile.a);
	take_floats(alu, io, &tile);
	if (alu->number)
		scale_thread_values(alu, io, &tile, depth);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		for (unsigned i = 0; i < elements; i++) {
			unsigned at = (half ? i / 2 : i) * WSI_ALU_LANES + l;
			uint32_t word = io->source[2][at] >> (half ? i % 2 * 16 : 0);
			tile.c[row_of(l, i)][column_of(l, i)] =
				half ? wsi_half_value(word & 0xffff, false) : wsi_float(word);
		}
	}
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		for (unsigned i = 0; i < elements; i++) {
			double sum = sum_of(&tile, row_of(l, i), column_of(l, i), depth);
			uint32_t word = single_of(sum);
			if (!half) {
				io->result[0][i * WSI_ALU_LANES + l] = word;
				continue;
			}
			uint32_t *to = &io->result[0][i / 2 * WSI_ALU_LANES + l];
			uint32_t part = wsi_to_half(word, false) << (i % 2 * 16);
			*to = i % 2 ? *to | part : part;
		}
	}
}

/* The types of A and B, of one or two names. */
static bool take_float_elements(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	static const struct {
		enum ws_modifier modifier;
		enum element element;
	} bytes[] = { { WS_MOD_E4M3, E4M3 },
		      { WS_MOD_E5M2, E5M2 },
		      { WS_MOD_E2M3, E2M3 },
		      { WS_MOD_E3M2, E3M2 },
		      { WS_MOD_E2M1, E2M1 } };
	enum element types[2] = { F16, F16 };
	size_t n = 0;
	for (size_t i = 0; i < b->n_mods; i++) {
		enum ws_modifier m = b->mods[i];
		if (m == WS_MOD_BF16 || m == WS_MOD_TF32)
			types[0] = types[1] = m == WS_MOD_BF16 ? BF16 : TF32;
		for (size_t k = 0; k < WSI_COUNT(bytes) && n < 2; k++)
			if (m == bytes[k].modifier)
				types[n++] = bytes[k].element;
	}
	alu->select[0] = (uint8_t)types[0];
	alu->select[1] = (uint8_t)types[1];
	alu->kind = types[0] == TF32 ? 32 : b->op == WS_OP_OMMA ? 4 : n ? 8 : 16;
	return b->op == WS_OP_HMMA ? n == 0 : n == 2;
}

/* Elements along K that the name's shape tells must be those that the registers hold. */
static bool fits_shape(const struct wsi_alu *alu, unsigned rows, unsigned depth, unsigned c_words)
{
	unsigned per_word = LANES_OF_ROW * 32u / alu->kind;
	return alu->source[0].words * per_word * 8 * (alu->combine ? 2 : 1) == rows * depth &&
	       alu->source[1].words * per_word == depth && alu->source[2].words == c_words &&
	       alu->result[0].words == c_words && depth <= MOST_K;
}

/* Which threads have the places of a sparse A, by a number behind it. */
static bool take_sparsity(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	uint64_t which;
	if (!wsi_alu_take_number(b, &which) || alu->n_sources < 4 || alu->kind < 4)
		return false;
	/* so many registers of A have their places in one thread, or in one for each row */
	unsigned threads = alu->source[0].words / (alu->kind <= 8 ? 1u : 2u);
	alu->combine = 1;
	alu->compare = (uint8_t)(which * threads);
	return threads > 0 && which < LANES_OF_ROW && which * threads + threads <= LANES_OF_ROW;
}

/* The registers behind C: places of a sparse A, scale factors of A and B, which of these. */
static bool take_more(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	bool sparse = wsi_alu_have(b, WS_MOD_SP), scaled = wsi_alu_have(b, WS_MOD_SF);
	if (sparse && !take_sparsity(b))
		return false;
	if (!scaled)
		return wsi_alu_shape(b, sparse ? 4 : 3, 0) &&
		       (!sparse || alu->source[3].words == 1);
	alu->number = wsi_alu_have(b, WS_MOD_4X) ? 4 : b->op == WS_OP_OMMA ? 2 : 1;
	alu->wrap = wsi_alu_have(b, WS_MOD_UE4M3);
	return wsi_alu_shape(b, 6, 0) && alu->source[3].words == (sparse ? 2 : 1) &&
	       alu->source[4].words == 1 && alu->source[5].place == WSI_ALU_UREG &&
	       (alu->wrap || wsi_alu_have(b, WS_MOD_E8));
}

/* The numbers of a shape. */
static bool take_matrix_shape(const struct wsi_alu_build *b, unsigned *ret_rows,
			      unsigned *ret_depth)
{
	static const struct {
		enum ws_modifier modifier;
		uint16_t rows, depth;
	} shapes[] = {
		{ WS_MOD_1684, 16, 4 },     { WS_MOD_1688, 16, 8 },   { WS_MOD_16816, 16, 16 },
		{ WS_MOD_16832, 16, 32 },   { WS_MOD_16864, 16, 64 }, { WS_MOD_8816, 8, 16 },
		{ WS_MOD_8832, 8, 32 },     { WS_MOD_88128, 8, 128 }, { WS_MOD_168128, 16, 128 },
		{ WS_MOD_168256, 16, 256 },
	};
	for (size_t i = 0; i < WSI_COUNT(shapes); i++) {
		if (wsi_alu_have(b, shapes[i].modifier)) {
			*ret_rows = shapes[i].rows;
			*ret_depth = shapes[i].depth;
			return true;
		}
	}
	return false;
}

bool wsi_alu_prepare_float_matrix(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	unsigned rows, depth;
	if (!take_matrix_shape(b, &rows, &depth) || !take_float_elements(b) || b->negated[0] ||
	    b->negated[1] || wsi_alu_have(b, WS_MOD_SATFINITE))
		return false;
	if (!take_more(b))
		return false;
	alu->upper = !wsi_alu_have(b, WS_MOD_F32);
	alu->run = run_float_matrix;
	return rows == ROWS && fits_shape(alu, rows, depth, alu->upper ? 2 : 4);
}

/* ---- integers ---- */

static int32_t element_of(uint32_t word, unsigned j, unsigned bits, bool is_signed)
{
	uint32_t top = word >> (j * bits) << (32 - bits);
	return is_signed ? (int32_t)top >> (32 - bits) : (int32_t)(top >> (32 - bits));
}

enum { MOST_INTEGERS = 128 };

struct integer_tile {
	int32_t a[ROWS][MOST_INTEGERS], b[COLUMNS][MOST_INTEGERS];
};

static void take_integers(const struct wsi_alu *alu, const struct wsi_alu_io *io,
			  struct integer_tile *tile)
{
	unsigned bits = alu->kind, n = 32 / bits, halves = matrix_rows_of(alu) / 8;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		unsigned line = l / LANES_OF_ROW;
		for (unsigned j = 0; j < n; j++) {
			for (unsigned r = 0; r < alu->source[0].words; r++) {
				unsigned row = line + 8 * (r % halves);
				unsigned k = place_of(r / halves, l, j, n);
				tile->a[row][sparse_a_place(alu, io, row, k)] =
					element_of(io->source[0][r * WSI_ALU_LANES + l], j, bits,
						   alu->is_signed);
			}
			for (unsigned r = 0; r < alu->source[1].words; r++)
				tile->b[line][place_of(r, l, j, n)] =
					element_of(io->source[1][r * WSI_ALU_LANES + l], j, bits,
						   alu->number != 0);
		}
	}
}

/* At most 64 products of 8 bits, or 128 of 4: they fit. */
static int64_t products_of(const struct integer_tile *tile, unsigned row, unsigned column,
			   unsigned depth)
{
	int32_t sum = 0;
	for (unsigned k = 0; k < depth; k++)
		sum += tile->a[row][k] * tile->b[column][k];
	return sum;
}

/* Of single bits: how many are set in what the registers of a row and a column have in common. */
static int64_t common_of(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned row,
			 unsigned column)
{
	unsigned halves = matrix_rows_of(alu) / 8;
	int64_t sum = 0;
	for (unsigned r = 0; r < alu->source[1].words; r++) {
		const uint32_t *a = io->source[0] + (r * halves + row / 8) * WSI_ALU_LANES;
		const uint32_t *b = io->source[1] + r * WSI_ALU_LANES;
		for (unsigned t = 0; t < LANES_OF_ROW; t++) {
			uint32_t x = a[row % 8 * LANES_OF_ROW + t],
				 y = b[column * LANES_OF_ROW + t];
			sum += __builtin_popcount(alu->wrap ? x ^ y : x & y);
		}
	}
	return sum;
}

static void run_integer_matrix(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t result[ROWS / 4][WSI_ALU_LANES];
	struct integer_tile tile;
	unsigned elements = matrix_rows_of(alu) / 4, depth = depth_of(alu);
	if (alu->combine)
		memset(tile.a, 0, sizeof tile.a);
	if (alu->kind > 1)
		take_integers(alu, io, &tile);
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		for (unsigned i = 0; i < elements; i++) {
			unsigned row = row_of(l, i), column = column_of(l, i);
			int64_t sum = (int32_t)io->source[2][i * WSI_ALU_LANES + l];
			sum += alu->kind > 1 ? products_of(&tile, row, column, depth)
					     : common_of(alu, io, row, column);
			if (alu->sat)
				sum = sum < INT32_MIN   ? INT32_MIN
				      : sum > INT32_MAX ? INT32_MAX
							: sum;
			result[i][l] = (uint32_t)sum;
		}
	}
	memcpy(io->result[0], result, elements * sizeof *result);
}

static bool take_integer_elements(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	bool is_signed[2];
	size_t n = 0;
	for (size_t i = 0; i < b->n_mods && n < 2; i++) {
		enum ws_modifier m = b->mods[i];
		if (m != WS_MOD_U8 && m != WS_MOD_S8 && m != WS_MOD_U4 && m != WS_MOD_S4)
			continue;
		is_signed[n++] = m == WS_MOD_S8 || m == WS_MOD_S4;
		alu->kind = m == WS_MOD_U8 || m == WS_MOD_S8 ? 8 : 4;
	}
	if (n != 2)
		return false;
	alu->is_signed = is_signed[0];
	alu->number = is_signed[1];
	return true;
}

bool wsi_alu_prepare_integer_matrix(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	unsigned rows, depth;
	bool bits = b->op == WS_OP_BMMA;
	alu->kind = 1;
	alu->wrap = wsi_alu_have(b, WS_MOD_XOR);
	alu->sat = wsi_alu_have(b, WS_MOD_SAT);
	if (!take_matrix_shape(b, &rows, &depth) || (!bits && !take_integer_elements(b)) ||
	    b->suffix[0][0] != WS_MOD_ROW || b->suffix[1][0] != WS_MOD_COL)
		return false;
	if (!take_more(b))
		return false;
	alu->run = run_integer_matrix;
	return fits_shape(alu, rows, depth, rows / 4) &&
	       (!bits ||
		(wsi_alu_have(b, WS_MOD_POPC) && (alu->wrap || wsi_alu_have(b, WS_MOD_AND))));
}

/* ---- double precision ---- */

static double pair_at(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned i,
		      unsigned k, unsigned l)
{
	uint32_t high = wsi_word(alu, io, i, (2 * k + 1) * WSI_ALU_LANES + l);
	return wsi_double(io->source[i][2 * k * WSI_ALU_LANES + l] | (uint64_t)high << 32);
}

static double step_matrix_sum(enum wsi_rounding rounding, double a, double b, double sum)
{
	if (rounding == WSI_RN)
		return __builtin_fma(a, b, sum);
	struct wsi_soft x = wsi_soft_unpack(&wsi_f64, wsi_double_bits(a), false);
	struct wsi_soft y = wsi_soft_unpack(&wsi_f64, wsi_double_bits(b), false);
	struct wsi_soft z = wsi_soft_unpack(&wsi_f64, wsi_double_bits(sum), false);
	x = wsi_soft_mul(&x, &y);
	z = wsi_soft_add(&x, &z, rounding);
	return wsi_double(wsi_soft_pack(&wsi_f64, &z, rounding, false, false));
}

/* One fused step after the other, along K. */
static void run_double_matrix(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	double result[ROWS / 4][WSI_ALU_LANES];
	unsigned halves = matrix_rows_of(alu) / 8, elements = matrix_rows_of(alu) / 4;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		for (unsigned i = 0; i < elements; i++) {
			double sum = pair_at(alu, io, 2, i, l);
			unsigned row = l / LANES_OF_ROW * LANES_OF_ROW;
			unsigned column = column_of(l, i) * LANES_OF_ROW;
			for (unsigned r = 0; r < alu->source[1].words / 2; r++)
				for (unsigned t = 0; t < LANES_OF_ROW; t++)
					sum = step_matrix_sum(
						(enum wsi_rounding)alu->rounding,
						pair_at(alu, io, 0, r * halves + i / 2, row + t),
						pair_at(alu, io, 1, r, column + t), sum);
			result[i][l] = sum;
		}
	}
	for (unsigned i = 0; i < elements; i++) {
		for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
			double value = result[i][l];
			uint64_t bits = value != value ? WSI_NAN64 : wsi_double_bits(value);
			io->result[0][2 * i * WSI_ALU_LANES + l] = (uint32_t)bits;
			io->result[0][(2 * i + 1) * WSI_ALU_LANES + l] = (uint32_t)(bits >> 32);
		}
	}
}

bool wsi_alu_prepare_double_matrix(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	if (!wsi_alu_shape(b, 3, 0))
		return false;
	alu->rounding = wsi_alu_rounding(b);
	for (unsigned i = 0; i < 3; i++) {
		alu->keep[i] = b->absolute[i] ? ~WSI_SIGN32 : UINT32_MAX;
		alu->flip[i] = b->negated[i] ? WSI_SIGN32 : 0;
	}
	unsigned c_words = matrix_rows_of(alu) / 2;
	alu->run = run_double_matrix;
	return alu->source[0].words && alu->source[1].words % 2 == 0 &&
	       alu->source[0].words == alu->source[1].words * matrix_rows_of(alu) / 8 &&
	       alu->source[2].words == c_words && alu->result[0].words == c_words;
}

/* ---- MOVM: rows and columns of 8 by 8 halves change places ---- */

static void run_transpose(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t result[WSI_ALU_LANES];
	(void)alu;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		unsigned row = l / LANES_OF_ROW;
		result[l] = 0;
		for (unsigned i = 0; i < 2; i++) {
			unsigned from = column_of(l, i) * LANES_OF_ROW + row / 2;
			result[l] |= (io->source[0][from] >> (row % 2 * 16) & 0xffff) << (16 * i);
		}
	}
	memcpy(io->result[0], result, sizeof result);
}

bool wsi_alu_prepare_transpose(struct wsi_alu_build *b)
{
	b->alu->run = run_transpose;
	return wsi_alu_shape(b, 1, 0) && wsi_alu_have(b, WS_MOD_16) &&
	       wsi_alu_have(b, WS_MOD_MT88) && b->alu->result[0].words == 1;
}
