/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of blocks and tiles in the background. */
#include "job.h"
#include "narrow.h"

static void bulk_copy(struct job *j)
{
	enum { BLOCKS = 2, ROUNDS = 5, COUNT = BLOCKS * ROUNDS * 128 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, COUNT * 4), want[COUNT];
	for (unsigned i = 0; i < COUNT; i++)
		want[i] = in[i / 128 * 128 + 127 - i % 128] * 3 + i / 128 % ROUNDS;
	job_launch(j, "bulk_copy", BLOCKS, 128, "ppi", out, in, ROUNDS);
	job_same(j, out, want, COUNT);
}

static void bulk_cluster(struct job *j)
{
	enum { COUNT = 8 * 64 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, COUNT * 4), want[COUNT];
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned block = i / 64, t = i % 64, first = block / 4 * 4;
		want[i] = in[(first + (block + 3) % 4) * 64 + t] * 3 + in[first * 64 + 63 - t];
	}
	job_launch(j, "bulk_cluster", 8, 64, "pp", out, in);
	job_same(j, out, want, COUNT);
}

/* One number of a block of `in`, in each way that the kernel reduces by. */
static void reduce_word(uint32_t *want, unsigned i, uint32_t v)
{
	want[i] += v;
	want[64 + i] = v < want[64 + i] ? v : want[64 + i];
	want[128 + i] = (int32_t)v > (int32_t)want[128 + i] ? v : want[128 + i];
	want[192 + i] &= v;
	want[256 + i] |= v;
	want[320 + i] ^= v;
	want[512 + i]++;
}

static void reduce_pair(uint32_t *want, unsigned i, const uint32_t *from)
{
	uint64_t v, old;
	memcpy(&v, from, 8);
	memcpy(&old, &want[384 + i], 8);
	old += v;
	memcpy(&want[384 + i], &old, 8);
	memcpy(&old, &want[448 + i], 8);
	if ((int64_t)v < (int64_t)old)
		memcpy(&want[448 + i], &v, 8);
	memcpy(&old, &want[576 + i], 8);
	if (v > old)
		memcpy(&want[576 + i], &v, 8);
}

static void bulk_reduce(struct job *j)
{
	enum { BLOCKS = 3, COUNT = 640 + BLOCKS * 64 };
	uint32_t *in = job_words(j, BLOCKS * 64), *out = job_words(j, COUNT), want[COUNT];
	memset(&out[512], 0,
	       64 * 4); /* counts up from 0 by `inc`, to less than any number of `in` */
	memcpy(want, out, sizeof want);
	for (unsigned i = 0; i < BLOCKS * 64; i++) {
		in[i] |= 16;
		reduce_word(want, i % 64, in[i]);
		want[640 + i] = 1000000000u + 2 * in[i];
	}
	for (unsigned i = 0; i < BLOCKS * 64; i += 2)
		reduce_pair(want, i % 64, &in[i]);
	job_launch(j, "bulk_reduce", BLOCKS, 64, "pp", out, in);
	job_same(j, out, want, COUNT);
}

static uint32_t half_of(double value)
{
	return narrow_bits(value, 0, 5, 10, 0);
}

static uint32_t bfloat_of(double value)
{
	return narrow_bits(value, 0, 8, 7, 0);
}

static void bulk_reduce_floats(struct job *j)
{
	enum { BLOCKS = 3, COUNT = BLOCKS * 32 };
	uint16_t *in = job_buffer(j, COUNT * 4), *in_bfloat = job_buffer(j, COUNT * 4),
		 *half = job_buffer(j, 64 * 4), *bfloat = job_buffer(j, 64 * 4), want[2][128];
	float *in_single = job_buffer(j, COUNT * 4), *single = job_buffer(j, 32 * 4),
	      want_single[32] = { 0 };
	double *in_double = job_buffer(j, COUNT * 8), *wide = job_buffer(j, 32 * 8),
	       want_double[32] = { 0 }, sum[2][64] = { { 0 } }, least[64], most[64];
	for (unsigned i = 0; i < 64; i++) {
		half[64 + i] = 0x7e00; /* not a number: it loses */
		bfloat[64 + i] = 0xff80;
		least[i] = INFINITY;
		most[i] = -INFINITY;
	}
	for (unsigned i = 0; i < COUNT * 2; i++) {
		double v = (int)(job_random(j) % 41) - 20, w = (int)(job_random(j) % 41) - 20;
		in[i] = (uint16_t)half_of(v / 8);
		in_bfloat[i] = (uint16_t)bfloat_of(w / 4);
		sum[0][i % 64] += v / 8;
		sum[1][i % 64] += w / 4;
		least[i % 64] = fmin(least[i % 64], v / 8);
		most[i % 64] = fmax(most[i % 64], w / 4);
	}
	for (unsigned i = 0; i < COUNT; i++) {
		in_single[i] = (float)(int)(job_random(j) % 20001) / 16;
		in_double[i] = (int)(job_random(j) % 20001) - 10000;
		want_single[i % 32] += in_single[i];
		want_double[i % 32] += in_double[i];
	}
	for (unsigned i = 0; i < 64; i++) {
		want[0][i] = (uint16_t)half_of(sum[0][i]);
		want[0][64 + i] = (uint16_t)half_of(least[i]);
		want[1][i] = (uint16_t)bfloat_of(sum[1][i]);
		want[1][64 + i] = (uint16_t)bfloat_of(most[i]);
	}
	job_launch(j, "bulk_reduce_floats", BLOCKS, 32, "pppppppp", half, bfloat, single, wide, in,
		   in_bfloat, in_single, in_double);
	job_same(j, (uint32_t *)half, (uint32_t *)want[0], 64);
	job_same(j, (uint32_t *)bfloat, (uint32_t *)want[1], 64);
	job_same_floats(j, single, want_single, 32);
	job_same_doubles(j, wide, want_double, 32);
}

static void counted_stores(struct job *j)
{
	enum { BLOCKS = 4 };
	uint32_t *in = job_words(j, BLOCKS * 32), *out = job_buffer(j, BLOCKS * 1024),
		 want[BLOCKS * 256] = { 0 };
	for (unsigned b = 0; b < BLOCKS; b++) {
		const uint32_t *from = in + (b ^ 1) * 32;
		uint32_t *to = want + b * 256, *cell = to + 224;
		uint64_t sum = 0;
		for (unsigned i = 0; i < 8; i++)
			cell[i] = i == 3 ? UINT32_MAX : 100;
		for (unsigned t = 0; t < 32; t++) {
			uint32_t v = from[t];
			uint64_t w = v * UINT64_C(0x100000001) + 5;
			to[t] = v;
			memcpy(&to[32 + 2 * t], &w, 8);
			to[96 + 4 * t] = to[99 + 4 * t] = v;
			to[97 + 4 * t] = v + 1;
			to[98 + 4 * t] = v * 7;
			cell[0] += v;
			cell[1] = (int32_t)v > (int32_t)cell[1] ? v : cell[1];
			cell[2] = cell[2] >= 110 ? 0 : cell[2] + 1;
			cell[3] = v < cell[3] ? v : cell[3];
			cell[4] ^= v;
			cell[5] |= v & 0xf0;
			sum += w;
		}
		memcpy(&to[232], &sum, 8);
	}
	job_launch(j, "counted_stores", BLOCKS, 32, "pp", out, in);
	job_same(j, out, want, BLOCKS * 256);
}

static void bulk_mask(struct job *j)
{
	enum { MASK = 0xa5c3 };
	uint32_t *in = job_words(j, 32), *out = job_words(j, 32), want[32];
	memcpy(want, out, sizeof want);
	for (unsigned i = 0; i < 128; i++)
		if (MASK >> i % 16 & 1)
			((uint8_t *)want)[i] = ((uint8_t *)in)[i];
	job_launch(j, "bulk_mask", 1, 32, "ppi", out, in, MASK);
	job_same(j, out, want, 32);
}

/* ---- tiles ---- */

struct corner {
	int32_t at[5];
};

/* A tensor over `data`, all of its dimensions and strides chosen by its number of dimensions. */
static struct ws_sim_tensor tensor_of(struct job *j, const void *data, unsigned n_dims,
				      enum ws_sim_tensor_type type, unsigned bytes)
{
	static const uint64_t dims[] = { 40, 9, 5, 4, 3 };
	static const uint32_t box[] = { 16, 4, 3, 2, 2 };
	struct ws_sim_tensor t = { .size = sizeof t, .type = type, .n_dims = n_dims };
	uint64_t stride = (dims[0] * bytes + 31) / 16 * 16;
	t.address = job_device(j, data);
	for (unsigned i = 0; i < n_dims; i++) {
		t.dims[i] = dims[i];
		t.box[i] = box[i];
		if (i > 0) {
			t.strides[i - 1] = stride;
			stride = stride * dims[i] + 16 * i;
		}
	}
	return t;
}

static uint32_t element_steps(const struct ws_sim_tensor *t, unsigned i)
{
	return t->element_strides[i] && i > 0 ? t->element_strides[i] : 1;
}

/* Where an element of a box is in memory, or -1: outside of the tensor. */
static int64_t element_offset(const struct ws_sim_tensor *t, const struct corner *c,
			      const uint32_t *index, unsigned bytes)
{
	int64_t off = 0;
	for (unsigned i = 0; i < t->n_dims; i++) {
		int64_t at = c->at[i] + (int64_t)index[i] * element_steps(t, i);
		if (at < 0 || at >= (int64_t)t->dims[i])
			return -1;
		off += at * (int64_t)(i == 0 ? bytes : t->strides[i - 1]);
	}
	return off;
}

/* Goes through a box in the order of shared memory; false past its end. */
static bool next_index(const struct ws_sim_tensor *t, uint32_t *index)
{
	for (unsigned i = 0; i < t->n_dims; i++) {
		uint32_t step = element_steps(t, i);
		if (++index[i] < (t->box[i] + step - 1) / step)
			return true;
		index[i] = 0;
	}
	return false;
}

/* The pattern of PTX's figures: 16-byte columns of a row are exchanged by the row's number. */
static uint32_t place(uint32_t off, enum ws_sim_tensor_swizzle swizzle)
{
	uint32_t span = 16u << swizzle, line = off / 128, column = off / 16;
	if (swizzle == WS_SIM_SWIZZLE_NONE)
		return off;
	uint32_t parts = span / 16, other = column % parts ^ line % parts;
	return (column - column % parts + other) * 16 + off % 16;
}

static uint32_t tile_of(const struct ws_sim_tensor *t, const struct corner *c, const uint8_t *data,
			unsigned bytes, uint8_t *ret_tile)
{
	uint32_t index[5] = { 0 }, off = 0;
	do {
		int64_t from = element_offset(t, c, index, bytes);
		uint8_t *to = ret_tile + place(off, t->swizzle);
		if (from < 0)
			memset(to, 0, bytes);
		else
			memcpy(to, data + from, bytes);
		off += bytes;
	} while (next_index(t, index));
	return off;
}

static void load_one(struct job *j, const struct ws_sim_tensor *t, const struct corner *c,
		     const uint32_t *data, uint32_t *out, unsigned bytes)
{
	struct ws_error err = { 0 };
	uint8_t map[WS_SIM_TENSOR_MAP_BYTES];
	uint32_t want[2048];
	memset(want, 0x55, sizeof want);
	uint32_t n = tile_of(t, c, (const uint8_t *)data, bytes, (uint8_t *)want);
	if (ws_sim_tensor_map(t, map, &err) != WS_OK) {
		job_fail(j, "map: %s", err.message);
		return;
	}
	job_launch(j, "tile_load", 1, 64, "pssii", out, map, c, t->n_dims, n);
	job_same(j, out, want, 2048);
}

static void tile_load(struct job *j)
{
	static const struct {
		enum ws_sim_tensor_type type;
		unsigned bytes;
	} types[] = { { WS_SIM_TENSOR_F16, 2 },
		      { WS_SIM_TENSOR_U32, 4 },
		      { WS_SIM_TENSOR_F64, 8 },
		      { WS_SIM_TENSOR_U8, 1 },
		      { WS_SIM_TENSOR_BF16, 2 } };
	static const struct corner corners[] = { { { 3, 1, 1, 1, 1 } },
						 { { -5, 7, -1, 3, -1 } },
						 { { 33, -2, 4, -1, 2 } },
						 { { 40, 0, 0, 0, 0 } },
						 { { -16, 0, 0, 0, 0 } } };
	uint32_t *data = job_words(j, 50000), *out = job_buffer(j, 2048 * 4);
	for (unsigned i = 0; i < 5; i++) {
		unsigned n_dims = i % 5 + 1;
		struct ws_sim_tensor t = tensor_of(j, data, n_dims, types[i].type, types[i].bytes);
		for (unsigned k = 0; k < 5; k++)
			load_one(j, &t, &corners[k], data, out, types[i].bytes);
		t.element_strides[0] = t.element_strides[1] = 3;
		t.element_strides[2] = 2;
		load_one(j, &t, &corners[1], data, out, types[i].bytes);
	}
}

static void tile_swizzles(struct job *j)
{
	static const struct corner corner = { { 2, 1, 0 } };
	uint32_t *data = job_words(j, 50000), *out = job_buffer(j, 2048 * 4);
	for (unsigned swizzle = WS_SIM_SWIZZLE_32B; swizzle <= WS_SIM_SWIZZLE_128B; swizzle++) {
		struct ws_sim_tensor t = tensor_of(j, data, 3, WS_SIM_TENSOR_F16, 2);
		t.dims[0] = 100;
		t.dims[1] = 40;
		t.strides[0] = 224;
		t.strides[1] = 224 * 40;
		t.box[0] = 8u << swizzle;
		t.box[1] = 13;
		t.swizzle = (enum ws_sim_tensor_swizzle)swizzle;
		load_one(j, &t, &corner, data, out, 2);
	}
}

static void tile_store(struct job *j)
{
	static const struct corner corners[] = { { { 3, 1, 1 } },
						 { { -5, 7, -1 } },
						 { { 30, -2, 4 } } };
	enum { COUNT = 6000 };
	uint32_t *in = job_words(j, 2048), *out = job_words(j, COUNT), want[COUNT];
	struct ws_error err = { 0 };
	for (unsigned i = 0; i < 12; i++) {
		const struct corner *c = &corners[i % 3];
		uint32_t n_dims = 2 + i % 2, how = i / 6, off = 0, index[5] = { 0 };
		struct ws_sim_tensor t = tensor_of(j, out, n_dims, WS_SIM_TENSOR_U32, 4);
		uint8_t map[WS_SIM_TENSOR_MAP_BYTES];
		t.swizzle = i % 4 == 3 ? WS_SIM_SWIZZLE_64B : WS_SIM_SWIZZLE_NONE;
		if (ws_sim_tensor_map(&t, map, &err) != WS_OK)
			job_fail(j, "map: %s", err.message);
		memcpy(want, out, sizeof want);
		do {
			int64_t to = element_offset(&t, c, index, 4) / 4;
			uint32_t v = in[place(off, t.swizzle) / 4];
			if (element_offset(&t, c, index, 4) >= 0)
				want[to] = how == 0 ? v : n_dims == 2 ? want[to] + v : want[to] ^ v;
			off += 4;
		} while (next_index(&t, index));
		job_launch(j, "tile_store", 1, 64, "pssii", in, map, c, n_dims, how);
		job_same(j, out, want, COUNT);
	}
}

/* ---- pixels ---- */

/* As PTX describes im2col: a pixel after the other in the box of pixels, W first. */
static struct corner pixel_at(const struct ws_sim_tensor *t, const struct corner *first,
			      uint32_t number)
{
	struct corner c = *first;
	unsigned image = t->n_dims - 1;
	while (number-- > 0) {
		bool inside = false;
		for (unsigned i = 1; i < image && !inside; i++) {
			int64_t last = (int64_t)t->dims[i] - 1 + t->upper[i - 1];
			c.at[i] += (int32_t)element_steps(t, i);
			inside = c.at[i] <= last;
			if (!inside)
				c.at[i] = t->lower[i - 1];
		}
		c.at[image] += !inside;
	}
	return c;
}

/* Channel `k` of a pixel in memory, or -1. */
static int64_t channel_offset(const struct ws_sim_tensor *t, struct corner c, uint32_t k,
			      unsigned bytes)
{
	static const uint32_t none[5];
	c.at[0] += (int32_t)k;
	return element_offset(t, &c, none, bytes);
}

static struct ws_sim_tensor pixels_of(struct job *j, const void *data, unsigned n_dims)
{
	struct ws_sim_tensor t = tensor_of(j, data, n_dims, WS_SIM_TENSOR_U32, 4);
	t.im2col = true;
	t.channels = 8;
	t.pixels = 61;
	for (unsigned i = 0; i < n_dims - 2; i++) {
		t.lower[i] = i == 0 ? -1 : -2;
		t.upper[i] = i == 0 ? -1 : 0;
	}
	return t;
}

static void pixels_load(struct job *j)
{
	static const struct corner corners[] = { { { 0, -1, -2, -2, 0 } },
						 { { 36, 3, 1, 1, 1 } },
						 { { -3, 0, 0, 3, -1 } } };
	static const struct corner offsets[] = { { { 0, 0, 0 } }, { { 2, 1, 3 } } };
	uint32_t *data = job_words(j, 50000), *out = job_buffer(j, 2048 * 4);
	for (unsigned i = 0; i < 18; i++) {
		struct ws_sim_tensor t = pixels_of(j, data, 3 + i % 3);
		struct corner c = corners[i / 3 % 3], off = offsets[i / 9];
		struct ws_error err = { 0 };
		uint8_t map[WS_SIM_TENSOR_MAP_BYTES];
		uint32_t want[2048], n = 0;
		c.at[t.n_dims - 1] = (int32_t)(i % 2); /* the image */
		t.swizzle = i % 5 == 0 ? WS_SIM_SWIZZLE_32B : WS_SIM_SWIZZLE_NONE;
		t.element_strides[1] = 1 + i % 2;
		memset(want, 0x55, sizeof want);
		for (uint32_t pixel = 0; pixel < t.pixels; pixel++) {
			struct corner at = pixel_at(&t, &c, pixel);
			for (unsigned k = 1; k < t.n_dims - 1; k++)
				at.at[k] += off.at[k - 1];
			for (uint32_t k = 0; k < t.channels; k++, n += 4) {
				int64_t from = channel_offset(&t, at, k, 4);
				want[place(n, t.swizzle) / 4] = from < 0 ? 0 : data[from / 4];
			}
		}
		if (ws_sim_tensor_map(&t, map, &err) != WS_OK)
			job_fail(j, "map: %s", err.message);
		job_launch(j, "pixels_load", 1, 64, "psssii", out, map, &c, &off, t.n_dims, n);
		job_same(j, out, want, 2048);
	}
}

static void pixels_store(struct job *j)
{
	enum { COUNT = 30000 };
	static const struct corner corners[] = { { { 4, -1, -2, 0 } }, { { 36, 2, 1, 1 } } };
	uint32_t *in = job_words(j, 2048), *out = job_words(j, COUNT);
	static uint32_t want[COUNT];
	for (unsigned i = 0; i < 4; i++) {
		struct ws_sim_tensor t = pixels_of(j, out, 4);
		const struct corner *c = &corners[i % 2];
		struct ws_error err = { 0 };
		uint8_t map[WS_SIM_TENSOR_MAP_BYTES];
		memcpy(want, out, sizeof want);
		for (uint32_t n = 0; n < t.pixels * t.channels; n++) {
			int64_t to = channel_offset(&t, pixel_at(&t, c, n / t.channels),
						    n % t.channels, 4);
			if (to >= 0)
				want[to / 4] = i < 2 ? in[n] : want[to / 4] + in[n];
		}
		if (ws_sim_tensor_map(&t, map, &err) != WS_OK)
			job_fail(j, "map: %s", err.message);
		job_launch(j, "pixels_store", 1, 64, "pssi", in, map, c, i / 2);
		job_same(j, out, want, COUNT);
	}
}

static void tile_replace(struct job *j)
{
	enum { ROWS = 12 };
	uint32_t *in = job_words(j, ROWS * 16), *out = job_buffer(j, 256 * 4), want[256] = { 0 };
	uint8_t *map = job_buffer(j, WS_SIM_TENSOR_MAP_BYTES);
	struct ws_error err = { 0 };
	struct ws_sim_tensor t = { .size = sizeof t,
				   .type = WS_SIM_TENSOR_F32,
				   .n_dims = 2,
				   .dims = { 10, 7 },
				   .strides = { 80 },
				   .box = { 8, 5 } };
	if (ws_sim_tensor_map(&t, map, &err) != WS_OK)
		job_fail(j, "map: %s", err.message);
	for (unsigned i = 0; i < ROWS * 8; i++)
		want[i] = i % 8 < 6 ? in[i / 8 * 16 + 4 + i % 8] : 0;
	job_launch(j, "tile_replace", 1, ROWS * 8, "pppi", out, map, in, ROWS);
	job_same(j, out, want, ROWS * 8);
}

static void tile_gather(struct job *j)
{
	static const struct corner corner = { { 12, 30, 2, 39, 17 } };
	uint32_t *in = job_words(j, 32 * 40), *out = job_buffer(j, 64 * 4), want[64];
	uint8_t map[WS_SIM_TENSOR_MAP_BYTES];
	struct ws_error err = { 0 };
	struct ws_sim_tensor t = { .size = sizeof t,
				   .address = job_device(j, in),
				   .type = WS_SIM_TENSOR_U32,
				   .n_dims = 2,
				   .dims = { 32, 40 },
				   .strides = { 128 },
				   .box = { 16, 1 } };
	if (ws_sim_tensor_map(&t, map, &err) != WS_OK)
		job_fail(j, "map: %s", err.message);
	for (unsigned i = 0; i < 64; i++)
		want[i] = in[corner.at[1 + i / 16] * 32 + corner.at[0] + (int)i % 16];
	job_launch(j, "tile_gather", 1, 64, "ppss", out, in, map, &corner);
	job_same(j, out, want, 64);
}

static void matrix_store(struct job *j)
{
	uint32_t *in = job_words(j, 128), *out = job_buffer(j, 512);
	const uint16_t *from = (const uint16_t *)in;
	uint16_t want[256];
	for (uint32_t turned = 0; turned < 2; turned++) {
		for (unsigned i = 0; i < 256; i++) {
			unsigned matrix = i / 64, row = i / 8 % 8, column = i % 8;
			unsigned r = turned ? column : row, c = turned ? row : column;
			want[i] = from[((r * 4 + c / 2) * 4 + matrix) * 2 + c % 2];
		}
		job_launch(j, "matrix_store", 1, 32, "ppi", out, in, turned);
		job_same(j, out, (uint32_t *)want, 128);
	}
}

static void atomic_vectors(struct job *j)
{
	enum { COUNT = 64 };
	float *four = job_buffer(j, (1 + COUNT) * 16), *two = job_buffer(j, 8),
	      *seen = job_buffer(j, COUNT * 16), *in = job_buffer(j, (COUNT + 1) * 4);
	uint32_t *halves = job_buffer(j, 8), *pairs = job_buffer(j, 8), want_pairs[2],
		 want_halves[2];
	float want[4 * (1 + COUNT)] = { 0 }, want_two[2] = { 0 }, want_seen[4 * COUNT], most = 1;
	for (unsigned i = 0; i <= COUNT; i++)
		in[i] = (float)(job_random(j) % 100);
	pairs[0] = 0x3f800000; /* 1 and 0 */
	pairs[1] = 0x7fc00000; /* no number loses */
	for (unsigned i = 0; i < COUNT; i++) {
		const float add[4] = { in[i], in[i + 1], in[i + 1], in[i] };
		for (unsigned k = 0; k < 4; k++) {
			four[4 + 4 * i + k] = want_seen[4 * i + k] = (float)(i + k);
			want[4 + 4 * i + k] = (float)(i + k) + add[k];
			want[k] += add[k];
		}
		want_two[0] += in[i];
		want_two[1] += in[i + 1];
		most = in[i] > most ? in[i] : most;
	}
	want_halves[0] = half_of(0.5 * COUNT) | half_of(1.0 * COUNT) << 16;
	want_halves[1] = half_of(3.0 * COUNT) | half_of(2.0 * COUNT) << 16;
	want_pairs[0] = bfloat_of((double)most) << 16;
	want_pairs[1] = 0x3f80; /* and 0, which is greater than what is no number */
	job_launch(j, "atomic_vectors", 1, COUNT, "pppppp", four, two, halves, pairs, seen, in);
	job_same_floats(j, four, want, 4 * (1 + COUNT));
	job_same_floats(j, two, want_two, 2);
	job_same_floats(j, seen, want_seen, 4 * COUNT);
	job_same(j, halves, want_halves, 2);
	job_same(j, pairs, want_pairs, 2);
}

const struct job_case job_bulk[] = {
	{ "bulk", "bulk_copy", bulk_copy, 90, NULL },
	{ "bulk", "bulk_cluster", bulk_cluster, 90, NULL },
	{ "bulk", "bulk_reduce", bulk_reduce, 90, NULL },
	{ "bulk", "bulk_reduce_floats", bulk_reduce_floats, 90, NULL },
	{ "bulk", "counted_stores", counted_stores, 90, NULL },
	{ "bulk", "bulk_mask", bulk_mask, 100, NULL },
	{ "bulk", "tile_load", tile_load, 90, NULL },
	{ "bulk", "tile_swizzles", tile_swizzles, 90, NULL },
	{ "bulk", "tile_store", tile_store, 90, NULL },
	{ "bulk", "pixels_load", pixels_load, 90, NULL },
	{ "bulk", "pixels_store", pixels_store, 90, NULL },
	{ "bulk", "tile_replace", tile_replace, 90, "the tensor map itself" },
	{ "bulk", "tile_gather", tile_gather, 90, NULL },
	{ "bulk", "matrix_store", matrix_store, 90, NULL },
	{ "bulk", "atomic_vectors", atomic_vectors, 90, NULL },
	{ 0 },
};
