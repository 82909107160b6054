/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Textures and surfaces against the formulas of the CUDA programming guide, "Texture Fetching".
 * Results without a filter are exact; with one, sums of products may be rounded in another order.
 */
#include "job.h"
#include "narrow.h"

#include <math.h>

enum { N = 250, BLOCKS = 2, THREADS = 128 };
#define TOLERANCE 1e-6

/* ---- objects ---- */

static uint64_t texture(struct job *j, const void *host, struct ws_sim_texture t)
{
	uint64_t handle = 0;
	struct ws_error err = { 0 };
	t.size = sizeof t;
	t.image.address = job_device(j, host);
	if (!j->failed && ws_sim_texture(j->sim, &t, &handle, &err) != WS_OK)
		job_fail(j, "texture: %s", err.message);
	return handle;
}

static uint64_t surface(struct job *j, const void *host, struct ws_sim_image image)
{
	uint64_t handle = 0;
	struct ws_error err = { 0 };
	image.address = job_device(j, host);
	if (!j->failed && ws_sim_surface(j->sim, &image, &handle, &err) != WS_OK)
		job_fail(j, "surface: %s", err.message);
	return handle;
}

/* ---- plain C ---- */

/* Two texels along an axis and the part of the second one; -1: the border. */
struct pair {
	long low, high;
	double part;
};

static long wrapped(long at, long n, enum ws_sim_address_mode mode, bool normalized)
{
	if (mode == WS_SIM_ADDRESS_BORDER)
		return at < 0 || at >= n ? -1 : at;
	if (!normalized || mode == WS_SIM_ADDRESS_CLAMP)
		return at < 0 ? 0 : at >= n ? n - 1 : at;
	long turns = 0;
	for (; at < 0; at += n)
		turns++;
	for (; at >= n; at -= n)
		turns++;
	return mode == WS_SIM_ADDRESS_MIRROR && turns % 2 == 1 ? n - 1 - at : at;
}

static struct pair along(const struct ws_sim_texture *t, unsigned axis, float at)
{
	uint32_t n[3] = { t->image.width, t->image.height, t->image.depth };
	double place = (double)at * (t->normalized ? n[axis] : 1) - (t->linear ? 0.5 : 0);
	long low = (long)floor(place);
	return (struct pair){
		.low = wrapped(low, n[axis], t->mode[axis], t->normalized),
		.high = wrapped(low + 1, n[axis], t->mode[axis], t->normalized),
		.part = t->linear ? floor((place - floor(place)) * 256 + 0.5) / 256 : 0,
	};
}

static double texel(const struct ws_sim_texture *t, const float *texels, unsigned k, long x, long y,
		    long z)
{
	unsigned c = t->image.n_components;
	if (x < 0 || y < 0 || z < 0)
		return (double)t->border[k];
	if (k >= c)
		return k == 3;
	return (double)texels[((z * t->image.height + y) * t->image.width + x) * c + k];
}

/* Component `k` at a place; of layers, `slice`. */
static float want_at(const struct ws_sim_texture *t, const float *texels, unsigned k,
		     const float *at, unsigned n_axes, long slice)
{
	struct pair p[3] = { { 0, 0, 0 }, { 0, 0, 0 }, { slice, slice, 0 } };
	double sum = 0;
	for (unsigned i = 0; i < n_axes; i++)
		p[i] = along(t, i, at[i]);
	for (unsigned corner = 0; corner < 8; corner++) {
		double weight = 1;
		for (unsigned i = 0; i < 3; i++)
			weight *= corner >> i & 1 ? p[i].part : 1 - p[i].part;
		if (weight > 0)
			sum += weight * texel(t, texels, k, corner & 1 ? p[0].high : p[0].low,
					      corner & 2 ? p[1].high : p[1].low,
					      corner & 4 ? p[2].high : p[2].low);
	}
	return (float)sum;
}

static struct ws_sim_texture floats(enum ws_sim_shape shape, uint32_t n, uint32_t width,
				    uint32_t height, uint32_t depth)
{
	return (struct ws_sim_texture){
		.image = { .shape = shape,
			   .texel = WS_SIM_TEXEL_F32,
			   .n_components = n,
			   .width = width,
			   .height = height,
			   .depth = depth },
		.mode = { WS_SIM_ADDRESS_CLAMP, WS_SIM_ADDRESS_CLAMP, WS_SIM_ADDRESS_CLAMP },
	};
}

/* Places around a texture: a little beyond it on all sides, some of them texels' centers. */
static float *places(struct job *j, const struct ws_sim_texture *t, unsigned stride)
{
	uint32_t size[3] = { t->image.width, t->image.height, t->image.depth };
	float *at = job_plain_floats(j, (size_t)N * stride);
	for (unsigned i = 0; i < N * stride; i++) {
		float n = (float)(i % stride < 3 && size[i % stride] ? size[i % stride] : 1);
		at[i] *= t->normalized ? 0.75f : n / 2;
		if (i / stride % 9 == 0)
			at[i] = (floorf(at[i] * (t->normalized ? n : 1)) + 0.5f) /
				(t->normalized ? n : 1);
	}
	return at;
}

/* ---- filters and address modes ---- */

/* All modes, with and without filter and normalized coordinates. */
static void each_mode(struct job *j, struct ws_sim_texture t, const float *texels, float *out,
		      const char *kernel, unsigned n_axes, unsigned stride)
{
	float want[N];
	t.border[0] = 100;
	for (unsigned how = 0; how < 16 && !j->failed; how++) {
		t.linear = how & 1;
		t.normalized = how & 2;
		for (unsigned i = 0; i < 3; i++)
			t.mode[i] = (enum ws_sim_address_mode)((how / 4 + i) % 4);
		size_t n_buffers = j->n_buffers;
		float *at = places(j, &t, stride);
		uint64_t handle = texture(j, texels, t);
		job_launch(j, kernel, BLOCKS, THREADS, "pspi", out, &handle, at, N);
		for (unsigned i = 0; i < N; i++)
			want[i] = want_at(&t, texels, 0, &at[i * stride], n_axes, 0);
		job_near(j, out, want, N, TOLERANCE, 1e-6);
		job_drop(j, n_buffers);
	}
}

static void sample_1d(struct job *j)
{
	float *texels = job_plain_floats(j, 13), *out = job_buffer(j, N * 4);
	each_mode(j, floats(WS_SIM_IMAGE_1D, 1, 13, 0, 0), texels, out, "sample_1d", 1, 1);
}

static void sample_2d(struct job *j)
{
	float *texels = job_plain_floats(j, 13 * 6), *out = job_buffer(j, N * 4);
	each_mode(j, floats(WS_SIM_IMAGE_2D, 1, 13, 6, 0), texels, out, "sample_2d", 2, 2);
}

static void sample_3d(struct job *j)
{
	float *texels = job_plain_floats(j, 5 * 6 * 7), *out = job_buffer(j, N * 4);
	each_mode(j, floats(WS_SIM_IMAGE_3D, 1, 5, 6, 7), texels, out, "sample_3d", 3, 4);
}

/* NaN, infinity and what is far away: the modes say which texel, NaN is 0. */
static void sample_far(struct job *j)
{
	static const float far[] = { NAN, INFINITY, -INFINITY, 3e38f, -1e30f, 1e-40f, -0.0f };
	float *texels = job_plain_floats(j, 8), *at = job_buffer(j, sizeof far),
	      *out = job_buffer(j, sizeof far);
	memcpy(at, far, sizeof far);
	for (unsigned border = 0; border < 2; border++) {
		struct ws_sim_texture t = floats(WS_SIM_IMAGE_1D, 1, 8, 0, 0);
		t.mode[0] = border ? WS_SIM_ADDRESS_BORDER : WS_SIM_ADDRESS_CLAMP;
		t.border[0] = 9;
		uint64_t handle = texture(j, texels, t);
		job_launch(j, "sample_1d", 1, 32, "pspi", out, &handle, at, 7);
		float low = border ? 9 : texels[0], high = border ? 9 : texels[7];
		float want[] = { texels[0], high, low, high, low, texels[0], texels[0] };
		job_same_floats(j, out, want, 7);
	}
}

/* ---- formats ---- */

static float half_of(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	float size = exponent ? ldexpf((float)(bits & 1023) + 1024, exponent - 25)
			      : ldexpf((float)(bits & 1023), -24);
	return bits >> 15 ? -size : size;
}

static float as_real(enum ws_sim_texel type, const void *bytes, size_t i)
{
	int8_t narrow = ((const int8_t *)bytes)[i];
	int16_t half = ((const int16_t *)bytes)[type >= WS_SIM_TEXEL_U16 ? i : 0];
	if (type == WS_SIM_TEXEL_U8)
		return (float)(uint8_t)narrow / 255;
	if (type == WS_SIM_TEXEL_S8)
		return narrow == -128 ? -1 : (float)narrow / 127;
	if (type == WS_SIM_TEXEL_U16)
		return (float)(uint16_t)half / 65535;
	if (type == WS_SIM_TEXEL_S16)
		return half == -32768 ? -1 : (float)half / 32767;
	return half_of((uint16_t)half);
}

/* What becomes floating point: 1, 2 and 4 components; rows with a gap. */
static void sample_formats(struct job *j)
{
	enum { WIDTH = 9, HEIGHT = 5, ROW = 16 * 8, SIZE = HEIGHT * ROW };
	static const enum ws_sim_texel types[] = { WS_SIM_TEXEL_U8, WS_SIM_TEXEL_S8,
						   WS_SIM_TEXEL_U16, WS_SIM_TEXEL_S16,
						   WS_SIM_TEXEL_F16 };
	uint32_t *bytes = job_words(j, SIZE / 4);
	float *out = job_buffer(j, N * 16), want[4 * N], texels[WIDTH * HEIGHT * 4];
	for (unsigned i = 0; i < SIZE / 2; i++) /* no NaN, no infinity */
		((uint16_t *)bytes)[i] &= (uint16_t)(i % 7 ? 0xbfff : 0x83ff);
	((uint16_t *)bytes)[0] = 0x8080;
	((uint16_t *)bytes)[1] = 0x8000;
	for (unsigned round = 0; round < 15 && !j->failed; round++) {
		unsigned n = 1u << round / 5, of = round / 5 == 0 ? 1 : round / 5 == 1 ? 2 : 4;
		struct ws_sim_texture t = floats(WS_SIM_IMAGE_2D, n, WIDTH, HEIGHT, 0);
		t.image.texel = types[round % 5];
		t.image.row_bytes = ROW;
		t.as_float = true;
		t.linear = round & 1;
		unsigned per_row = t.image.texel <= WS_SIM_TEXEL_S8 ? ROW : ROW / 2;
		for (unsigned i = 0; i < WIDTH * HEIGHT * n; i++)
			texels[i] = as_real(t.image.texel, bytes,
					    (size_t)(i / (WIDTH * n)) * per_row + i % (WIDTH * n));
		size_t n_buffers = j->n_buffers;
		float *at = places(j, &t, 2);
		uint64_t handle = texture(j, bytes, t);
		job_launch(j,
			   n == 4   ? "sample_2d_colors"
			   : n == 2 ? "sample_2d_pairs"
				    : "sample_2d",
			   BLOCKS, THREADS, "pspi", out, &handle, at, N);
		for (unsigned i = 0; i < N * of; i++)
			want[i] = want_at(&t, texels, i % of, &at[i / of * 2], 2, 0);
		job_near(j, out, want, (size_t)N * of, TOLERANCE, 1e-6);
		job_drop(j, n_buffers);
	}
}

/* What a texel lacks: 0, 0 and 1. */
static void sample_missing(struct job *j)
{
	float *texels = job_plain_floats(j, 4 * 4 * 2), *out = job_buffer(j, N * 16), want[4 * N];
	for (unsigned n = 1; n <= 2 && !j->failed; n++) {
		struct ws_sim_texture t = floats(WS_SIM_IMAGE_2D, n, 4, 4, 0);
		size_t n_buffers = j->n_buffers;
		float *at = places(j, &t, 2);
		uint64_t handle = texture(j, texels, t);
		job_launch(j, "sample_2d_colors", BLOCKS, THREADS, "pspi", out, &handle, at, N);
		for (unsigned i = 0; i < 4 * N; i++)
			want[i] = want_at(&t, texels, i % 4, &at[i / 4 * 2], 2, 0);
		job_same_floats(j, out, want, 4 * N);
		job_drop(j, n_buffers);
	}
}

static void fetch_integers(struct job *j)
{
	enum { WIDTH = N - 10 };
	uint8_t *bytes = (uint8_t *)job_words(j, WIDTH);
	int16_t *shorts = (int16_t *)job_words(j, WIDTH);
	uint32_t *words = job_words(j, WIDTH), *out = job_buffer(j, N * 24), want[6 * N];
	struct ws_sim_texture t = floats(WS_SIM_IMAGE_1D, 4, WIDTH, 0, 0);
	t.image.texel = WS_SIM_TEXEL_U8;
	uint64_t a = texture(j, bytes, t);
	t.image.texel = WS_SIM_TEXEL_S16;
	t.image.n_components = 2;
	uint64_t b = texture(j, shorts, t);
	t.image.texel = WS_SIM_TEXEL_U32;
	t.image.n_components = 1;
	uint64_t c = texture(j, words, t);
	job_launch(j, "fetch_integers", BLOCKS, THREADS, "psssi", out, &a, &b, &c, N);
	for (unsigned i = 0; i < N; i++) {
		bool inside = i >= 3 && i - 3 < WIDTH;
		unsigned at = inside ? i - 3 : 0, near = i < WIDTH ? i : WIDTH - 1;
		uint32_t *w = &want[6 * i];
		memset(w, 0, 24);
		if (inside) {
			memcpy(w, bytes + 4 * at, 4);
			w[1] = (uint32_t)shorts[2 * at];
			w[2] = (uint32_t)shorts[2 * at + 1];
			w[3] = words[at];
		}
		w[4] = bytes[4 * near + 2];
		w[5] = (uint32_t)shorts[2 * near + 1];
	}
	job_same(j, out, want, 6 * N);
}

/* ---- shapes ---- */

static void sample_layers(struct job *j)
{
	enum { LAYERS = 5 };
	float *lines = job_plain_floats(j, 9 * LAYERS),
	      *planes = job_plain_floats(j, 9 * 4 * LAYERS), *out = job_buffer(j, N * 8),
	      want[2 * N];
	int32_t *layer = (int32_t *)job_words(j, N);
	struct ws_sim_texture line = floats(WS_SIM_IMAGE_1D_LAYERED, 1, 9, 0, 0),
			      plane = floats(WS_SIM_IMAGE_2D_LAYERED, 1, 9, 4, 0);
	line.image.n_layers = plane.image.n_layers = LAYERS;
	plane.linear = true;
	float *at = places(j, &plane, 2);
	uint64_t a = texture(j, lines, line), b = texture(j, planes, plane);
	for (unsigned i = 0; i < N; i++)
		layer[i] = layer[i] < 0 ? layer[i] : layer[i] % 8;
	job_launch(j, "sample_layers", BLOCKS, THREADS, "pssppi", out, &a, &b, at, layer, N);
	line.image.height = 1;
	for (unsigned i = 0; i < N; i++) {
		long z = layer[i] < 0 || layer[i] >= LAYERS ? LAYERS - 1 : layer[i];
		want[2 * i] = want_at(&line, lines, 0, &at[2 * i], 1, z);
		want[2 * i + 1] = want_at(&plane, planes, 0, &at[2 * i], 2, z);
	}
	job_near(j, out, want, 2 * N, TOLERANCE, 1e-6);
}

/* The table of the programming guide, "Cubemap Textures": which face, and where. */
static int face_of(const float d[3], float ret[2])
{
	float x = fabsf(d[0]), y = fabsf(d[1]), z = fabsf(d[2]), m, s, t;
	int face;
	if (x >= y && x >= z) {
		face = d[0] < 0, m = x, s = d[0] < 0 ? d[2] : -d[2], t = -d[1];
	} else if (y >= z) {
		face = 2 + (d[1] < 0), m = y, s = d[0], t = d[1] < 0 ? -d[2] : d[2];
	} else {
		face = 4 + (d[2] < 0), m = z, s = d[2] < 0 ? -d[0] : d[0], t = -d[1];
	}
	ret[0] = (s / m + 1) / 2;
	ret[1] = (t / m + 1) / 2;
	return face;
}

static void sample_cubes(struct job *j)
{
	enum { SIZE = 8, LAYERS = 3 };
	float *cube = job_plain_floats(j, 6 * SIZE * SIZE),
	      *cubes = job_plain_floats(j, 6 * SIZE * SIZE * LAYERS), *out = job_buffer(j, N * 8);
	int32_t *layer = (int32_t *)job_words(j, N);
	struct ws_sim_texture one = floats(WS_SIM_IMAGE_CUBE, 1, SIZE, SIZE, 0),
			      many = floats(WS_SIM_IMAGE_CUBE_LAYERED, 1, SIZE, SIZE, 0);
	many.image.n_layers = LAYERS;
	one.normalized = many.normalized = many.linear = true;
	float *at = job_plain_floats(j, (size_t)4 * N);
	uint64_t a = texture(j, cube, one), b = texture(j, cubes, many);
	for (unsigned i = 0; i < N; i++)
		layer[i] &= 3;
	job_launch(j, "sample_cubes", BLOCKS, THREADS, "pssppi", out, &a, &b, at, layer, N);
	for (unsigned i = 0; i < N; i++) {
		float place[2], got = out[2 * i], last = out[2 * i + 1];
		int face = face_of(&at[4 * i], place);
		long z = 6 * (layer[i] < LAYERS ? layer[i] : LAYERS - 1) + face;
		/* the compiler divides by an approximation: a place may be next to an edge of two
		 */
		bool exact = false;
		for (int k = -1; k <= 1; k++) {
			float x = place[0] + (float)k * 1e-6f;
			for (int l = -1; l <= 1; l++) {
				float near[2] = { x, place[1] + (float)l * 1e-6f };
				exact |= got == want_at(&one, cube, 0, near, 2, face);
			}
		}
		float want = want_at(&many, cubes, 0, place, 2, z);
		/* a step of the fraction more or less along each axis */
		if (!exact || !(fabsf(last - want) <= 2 * 8.0f / 256 + 1e-5f))
			job_fail(j, "place %u: %a, %a, not %a", i, (double)got, (double)last,
				 (double)want);
	}
}

static void sample_levels(struct job *j)
{
	float *plane = job_plain_floats(j, 7 * 5), *planes = job_plain_floats(j, 7 * 5 * 4),
	      *out = job_buffer(j, N * 16), want[4 * N], *level = job_plain_floats(j, N);
	struct ws_sim_texture t = floats(WS_SIM_IMAGE_2D, 1, 7, 5, 0);
	float *at = places(j, &t, 2);
	uint64_t a = texture(j, plane, t);
	t.image.shape = WS_SIM_IMAGE_2D_LAYERED;
	t.image.n_layers = 4;
	uint64_t b = texture(j, planes, t);
	job_launch(j, "sample_levels", BLOCKS, THREADS, "pssppi", out, &a, &b, at, level, N);
	for (unsigned i = 0; i < N; i++) {
		want[4 * i] = want[4 * i + 1] = want_at(&t, plane, 0, &at[2 * i], 2, 0);
		want[4 * i + 2] = want[4 * i + 3] = want_at(&t, planes, 0, &at[2 * i], 2, i & 3);
	}
	job_same_floats(j, out, want, 4 * N);
}

/* There is one level only: slopes change nothing. */
static void sample_slopes(struct job *j)
{
	enum { SIZE = 8 };
	float *space = job_plain_floats(j, 5 * 6 * 7), *cube = job_plain_floats(j, 6 * SIZE * SIZE),
	      *out = job_buffer(j, N * 8), *at = job_plain_floats(j, (size_t)4 * N);
	struct ws_sim_texture t = floats(WS_SIM_IMAGE_3D, 1, 5, 6, 7),
			      c = floats(WS_SIM_IMAGE_CUBE, 1, SIZE, SIZE, 0);
	c.normalized = true;
	uint64_t a = texture(j, space, t), b = texture(j, cube, c);
	job_launch(j, "sample_slopes", BLOCKS, THREADS, "psspi", out, &a, &b, at, N);
	for (unsigned i = 0; i < N; i++) {
		float place[2], want = want_at(&t, space, 0, &at[4 * i], 3, 0);
		int face = face_of(&at[4 * i], place);
		bool exact = false; /* as for cubes above */
		for (int k = 0; k < 9; k++) {
			float near[2] = { place[0] + (float)(k / 3 - 1) * 1e-6f,
					  place[1] + (float)(k % 3 - 1) * 1e-6f };
			exact |= out[2 * i + 1] == want_at(&c, cube, 0, near, 2, face);
		}
		if (out[2 * i] != want || !exact)
			job_fail(j, "place %u: %a, not %a; %a", i, (double)out[2 * i], (double)want,
				 (double)out[2 * i + 1]);
	}
}

/* ---- other ways to read ---- */

static void gather_2d(struct job *j)
{
	static const float beside[4][2] = {
		{ -0.5f, 0.5f }, { 0.5f, 0.5f }, { 0.5f, -0.5f }, { -0.5f, -0.5f }
	};
	float *texels = job_plain_floats(j, 11 * 6 * 4), *out = job_buffer(j, N * 64), want[16 * N];
	struct ws_sim_texture t = floats(WS_SIM_IMAGE_2D, 4, 11, 6, 0);
	float *at = places(j, &t, 2);
	uint64_t handle = texture(j, texels, t);
	for (unsigned i = 0; i < N; i++) /* of two neighbors, not the one between */
		for (unsigned k = 0; k < 2; k++)
			at[2 * i + k] = floorf(at[2 * i + k]) + 0.25f + 0.5f * (float)(i >> k & 1);
	job_launch(j, "gather_2d", BLOCKS, THREADS, "pspi", out, &handle, at, N);
	for (unsigned i = 0; i < 16 * N; i++) {
		float near[2] = { at[i / 16 * 2] + beside[i % 4][0],
				  at[i / 16 * 2 + 1] + beside[i % 4][1] };
		want[i] = want_at(&t, texels, i / 4 % 4, near, 2, 0);
	}
	job_same_floats(j, out, want, 16 * N);
}

static void sample_any(struct job *j)
{
	float *texels = job_plain_floats(j, 5 * 16), *out = job_buffer(j, N * 4), want[N];
	uint64_t *list = job_buffer(j, 5 * 8);
	struct ws_sim_texture t = floats(WS_SIM_IMAGE_2D, 1, 4, 4, 0);
	float *at = places(j, &t, 2);
	for (unsigned i = 0; i < 5; i++) {
		struct ws_sim_texture part = t;
		part.size = sizeof part;
		part.image.address = job_device(j, texels) + i * 64;
		struct ws_error err;
		if (ws_sim_texture(j->sim, &part, &list[i], &err) != WS_OK)
			job_fail(j, "texture %u: %s", i, err.message);
	}
	job_launch(j, "sample_any", BLOCKS, THREADS, "pppi", out, list, at, N);
	for (unsigned i = 0; i < N; i++)
		want[i] = want_at(&t, texels + i * 7 % 5 * 16, 0, &at[2 * i], 2, 0);
	job_same_floats(j, out, want, N);
}

static void fetch_places(struct job *j)
{
	enum { W = 6, H = 5, D = 4 };
	float *space = job_plain_floats(j, W * H * D), *planes = job_plain_floats(j, W * H * D),
	      *out = job_buffer(j, N * 8), want[2 * N];
	int32_t *at = (int32_t *)job_words(j, 4 * N);
	struct ws_sim_texture t = floats(WS_SIM_IMAGE_3D, 1, W, H, D);
	uint64_t a = texture(j, space, t);
	t.image.shape = WS_SIM_IMAGE_2D_LAYERED;
	t.image.depth = 0;
	t.image.n_layers = D;
	uint64_t b = texture(j, planes, t);
	for (unsigned i = 0; i < 4 * N; i++)
		at[i] = i % 4 == 3 ? at[i] & 7 : (at[i] & 7) - 1;
	job_launch(j, "fetch_places", BLOCKS, THREADS, "psspi", out, &a, &b, at, N);
	for (unsigned i = 0; i < N; i++) {
		int x = at[4 * i], y = at[4 * i + 1], z = at[4 * i + 2], l = at[4 * i + 3];
		bool inside = x >= 0 && x < W && y >= 0 && y < H;
		bool deep = inside && z >= 0 && z < D;
		want[2 * i] = deep ? space[(z * H + y) * W + x] : 0;
		want[2 * i + 1] = inside ? planes[((l < D ? l : D - 1) * H + y) * W + x] : 0;
	}
	job_same_floats(j, out, want, 2 * N);
}

static void sample_beside(struct job *j)
{
	static const float beside[4][2] = {
		{ -0.5f, 0.5f }, { 0.5f, 0.5f }, { 0.5f, -0.5f }, { -0.5f, -0.5f }
	};
	float *texels = job_plain_floats(j, 19 * 8 * 4), *out = job_buffer(j, N * 32), want[8 * N];
	struct ws_sim_texture t = floats(WS_SIM_IMAGE_2D, 4, 19, 8, 0);
	float *at = places(j, &t, 2);
	uint64_t handle = texture(j, texels, t);
	job_launch(j, "sample_beside", BLOCKS, THREADS, "pspi", out, &handle, at, N);
	for (unsigned i = 0; i < 4 * N; i++) {
		const float *p = &at[i / 4 * 2];
		float moved[2] = { floorf(p[0]) + 3.5f, floorf(p[1]) - 1.5f };
		float near[2] = { floorf(p[0] - 0.5f) + 0.5f - 9 + beside[i % 4][0] + 0.5f,
				  floorf(p[1] - 0.5f) + 0.5f + 1 + beside[i % 4][1] + 0.5f };
		want[i / 4 * 8 + i % 4] = want_at(&t, texels, i % 4, moved, 2, 0);
		want[i / 4 * 8 + 4 + i % 4] = want_at(&t, texels, 1, near, 2, 0);
	}
	job_same_floats(j, out, want, 8 * N);
}

static void texture_sizes(struct job *j)
{
	float *texels = job_buffer(j, 4000);
	uint32_t *out = job_buffer(j, 5 * 12);
	uint64_t *list = job_buffer(j, 5 * 8);
	struct ws_sim_texture layers = floats(WS_SIM_IMAGE_2D_LAYERED, 1, 4, 3, 0);
	layers.image.n_layers = 7;
	list[0] = texture(j, texels, floats(WS_SIM_IMAGE_1D, 1, 77, 0, 0));
	list[1] = texture(j, texels, floats(WS_SIM_IMAGE_2D, 2, 10, 5, 0));
	list[2] = texture(j, texels, floats(WS_SIM_IMAGE_3D, 4, 3, 4, 5));
	list[3] = texture(j, texels, layers);
	list[4] = texture(j, texels, floats(WS_SIM_IMAGE_CUBE, 1, 9, 9, 0));
	job_launch(j, "texture_sizes", 1, 5, "pp", out, list);
	static const uint32_t want[] = { 77, 1, 1, 10, 5, 1, 3, 4, 5, 4, 3, 7, 9, 9, 1 };
	job_same(j, out, want, 15);
}

/* ---- surfaces ---- */

static struct ws_sim_image words(enum ws_sim_shape shape, uint32_t width, uint32_t height,
				 uint32_t depth)
{
	return floats(shape, 1, width, height, depth).image;
}

static void move_widths(struct job *j)
{
	uint32_t *from = job_words(j, 248), *to = job_buffer(j, 992);
	struct ws_sim_image image = words(WS_SIM_IMAGE_1D, 248, 0, 0);
	uint64_t a = surface(j, to, image), b = surface(j, from, image);
	job_launch(j, "move_widths", 1, 160, "ss", &a, &b);
	job_same(j, to, from, 248);
}

static void turn_planes(struct job *j)
{
	enum { SIZE = 6, DEPTH = 4 };
	float *plane = job_plain_floats(j, SIZE * SIZE),
	      *space = job_plain_floats(j, SIZE * SIZE * DEPTH),
	      *planes = job_plain_floats(j, SIZE * SIZE * DEPTH);
	float want[3][SIZE * SIZE * DEPTH];
	struct ws_sim_image layers = words(WS_SIM_IMAGE_2D_LAYERED, SIZE, SIZE, 0);
	layers.n_layers = DEPTH;
	uint64_t a = surface(j, plane, words(WS_SIM_IMAGE_2D, SIZE, SIZE, 0)),
		 b = surface(j, space, words(WS_SIM_IMAGE_3D, SIZE, SIZE, DEPTH)),
		 c = surface(j, planes, layers);
	memcpy(want[0], plane, SIZE * SIZE * 4);
	memcpy(want[1], space, sizeof want[1]);
	memcpy(want[2], planes, sizeof want[2]);
	for (unsigned i = 0; i < SIZE * SIZE; i++) {
		unsigned x = i % SIZE, y = i / SIZE, turned = (2 * SIZE + x) * SIZE + y;
		want[0][i] = plane[i] + space[turned];
		want[1][turned] = space[turned] + planes[SIZE * SIZE + i];
		want[2][SIZE * SIZE + i] = planes[SIZE * SIZE + i] + plane[i];
	}
	job_launch(j, "turn_planes", SIZE, 32, "sssi", &a, &b, &c, SIZE);
	job_same_floats(j, plane, want[0], SIZE * SIZE);
	job_same_floats(j, space, want[1], SIZE * SIZE * DEPTH);
	job_same_floats(j, planes, want[2], SIZE * SIZE * DEPTH);
}

static void turn_cubes(struct job *j)
{
	enum { SIZE = 5, FACE = SIZE * SIZE };
	uint32_t *lines = job_words(j, 6 * SIZE), *cube = job_words(j, 6 * FACE),
		 *cubes = job_words(j, 12 * FACE);
	uint32_t want_lines[6 * SIZE], want_cube[6 * FACE], want_cubes[12 * FACE];
	struct ws_sim_image line = words(WS_SIM_IMAGE_1D_LAYERED, SIZE, 0, 0),
			    many = words(WS_SIM_IMAGE_CUBE_LAYERED, SIZE, SIZE, 0);
	line.n_layers = 6;
	many.n_layers = 2;
	uint64_t a = surface(j, lines, line),
		 b = surface(j, cube, words(WS_SIM_IMAGE_CUBE, SIZE, SIZE, 0)),
		 c = surface(j, cubes, many);
	memcpy(want_cube, cube, sizeof want_cube);
	memcpy(want_cubes, cubes, sizeof want_cubes);
	for (unsigned i = 0; i < 6 * SIZE; i++) {
		unsigned at = i / SIZE * FACE + i % SIZE * (SIZE + 1);
		want_lines[i] = lines[i] + cube[at];
		want_cube[at] = cube[at] + cubes[6 * FACE + at];
		want_cubes[6 * FACE + at] = cubes[6 * FACE + at] + lines[i];
	}
	job_launch(j, "turn_cubes", 6, 32, "sssi", &a, &b, &c, SIZE);
	job_same(j, lines, want_lines, 6 * SIZE);
	job_same(j, cube, want_cube, 6 * FACE);
	job_same(j, cubes, want_cubes, 12 * FACE);
}

/* Outside: the nearest, or zero and nothing. */
static void surface_edges(struct job *j)
{
	enum { W = 7, H = 5 };
	uint32_t *from = job_words(j, W * H), *to = job_buffer(j, W * H * 4),
		 *other = job_buffer(j, W * H * 4), *out = job_buffer(j, N * 8);
	uint32_t want[2 * N], want_to[W * H] = { 0 }, want_other[W * H] = { 0 };
	int32_t *at = (int32_t *)job_words(j, 2 * N);
	struct ws_sim_image image = words(WS_SIM_IMAGE_2D, W, H, 0);
	uint64_t a = surface(j, from, image), b = surface(j, to, image),
		 c = surface(j, other, image);
	bool seen[W * H] = { false };
	for (unsigned i = 0; i < N; i++) {
		int *x = &at[2 * i], *y = x + 1;
		*x = (*x & 15) - 4;
		*y = (*y & 7) - 1;
		int near_x = *x < 0    ? 0
			     : *x >= W ? W - 1
				       : *x,
		    near_y = *y < 0    ? 0
			     : *y >= H ? H - 1
				       : *y;
		int near = near_y * W + near_x;
		bool inside = *x == near_x && *y == near_y;
		if (inside && seen[near]) /* one writer for each */
			*x = -3, near = near_y * W, inside = false;
		want[2 * i] = from[near];
		want[2 * i + 1] = inside ? from[near] : 0;
		want_other[near] = 0xabcd;
		if (inside) {
			seen[near] = true;
			want_to[near] = i;
		}
	}
	job_launch(j, "surface_edges", BLOCKS, THREADS, "pssspi", out, &a, &b, &c, at, N);
	job_same(j, out, want, 2 * N);
	job_same(j, to, want_to, W * H);
	job_same(j, other, want_other, W * H);
}

static void surface_atomics(struct job *j)
{
	uint32_t *table = job_words(j, 32), want[32], *value = job_words(j, N);
	uint64_t *wide = job_wide(j, 8), want_wide[8];
	struct ws_sim_image image = words(WS_SIM_IMAGE_1D, 32, 0, 0), pairs = image;
	pairs.width = 8;
	pairs.n_components = 2;
	uint64_t a = surface(j, table, image), b = surface(j, wide, pairs);
	memcpy(want, table, sizeof want);
	memcpy(want_wide, wide, sizeof want_wide);
	for (unsigned i = 0; i < N; i++) {
		unsigned at = i % 8;
		want[at] += value[i];
		if ((int32_t)value[i] < (int32_t)want[at + 8])
			want[at + 8] = value[i];
		if (value[i] > want[at + 16])
			want[at + 16] = value[i];
		want[at + 24] &= value[i] | 0xff00ff;
		want_wide[at] += (uint64_t)value[i] << 20;
	}
	job_launch(j, "surface_atomics", BLOCKS, THREADS, "sspi", &a, &b, value, N);
	job_same(j, table, want, 32);
	job_same_wide(j, wide, want_wide, 8);
}

static void surface_handles(struct job *j)
{
	uint32_t *bytes[3], want[3][2 * N] = { { 0 } };
	uint64_t *list = job_buffer(j, 24);
	for (unsigned i = 0; i < 3; i++) {
		bytes[i] = job_buffer(j, 2 * N * 4);
		list[i] = surface(j, bytes[i], words(WS_SIM_IMAGE_2D, N, 2, 0));
	}
	job_launch(j, "surface_handles", BLOCKS, THREADS, "pi", list, N);
	for (unsigned i = 0; i < N; i++)
		want[i % 3][N + i] = i;
	for (unsigned i = 0; i < 3; i++)
		job_same(j, bytes[i], want[i], 2 * N);
}

static int32_t within(int32_t value, int32_t low, int32_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* What is written by format: see the kernel. */
static void write_formatted(struct job *j)
{
	enum { W = 16, H = 15, TEXELS = W * H, KINDS = 7 };
	static const struct {
		enum ws_sim_texel texel;
		uint32_t n, bytes;
	} kinds[KINDS] = {
		{ WS_SIM_TEXEL_U8, 4, 4 },  { WS_SIM_TEXEL_S8, 2, 2 },  { WS_SIM_TEXEL_U16, 1, 2 },
		{ WS_SIM_TEXEL_S16, 4, 8 }, { WS_SIM_TEXEL_F16, 2, 4 }, { WS_SIM_TEXEL_F32, 4, 16 },
		{ WS_SIM_TEXEL_U32, 2, 8 },
	};
	uint64_t *list = job_buffer(j, KINDS * 8);
	uint32_t *value = job_words(j, TEXELS * 4), *out[KINDS];
	static uint8_t want[KINDS][TEXELS * 16];
	memset(want, 0, sizeof want);
	for (unsigned k = 0; k < KINDS; k++) {
		struct ws_sim_image image = { .shape = WS_SIM_IMAGE_2D,
					      .texel = kinds[k].texel,
					      .n_components = kinds[k].n,
					      .width = W,
					      .height = H };
		out[k] = job_buffer(j, TEXELS * kinds[k].bytes);
		list[k] = surface(j, out[k], image);
	}
	for (unsigned i = 0; i < TEXELS; i++) {
		uint32_t *v = &value[4 * (size_t)i];
		for (unsigned c = 0; c < 4; c++) { /* numbers around all limits, and floats */
			unsigned shift = i % 3 == 0 ? 23 : i % 3 == 1 ? 15 : 0;
			float number = ldexpf((float)(v[c] >> 8), (int)(v[c] & 31) - 44);
			if (i % 3 != 2)
				v[c] = (uint32_t)((int32_t)v[c] >> shift);
			else
				memcpy(&v[c], &number, 4);
			int16_t s16 = (int16_t)within((int32_t)v[c], -32768, 32767);
			want[0][4 * i + c] = v[c] > 255 ? 255 : (uint8_t)v[c];
			if (c < 2)
				want[1][2 * i + c] = (uint8_t)within((int32_t)v[c], -128, 127);
			memcpy(&want[3][8 * i + 2 * c], &s16, 2);
			memcpy(&number, &v[c], 4);
			uint16_t half = (uint16_t)narrow_bits((double)number, 0, 5, 10, 0);
			if (c < 2)
				memcpy(&want[4][4 * i + 2 * c], &half, 2);
			if (c < 2 && i >= W) /* the first row goes outside */
				memcpy(&want[5][16 * i + 4 * c], &v[c], 4);
		}
		uint16_t u16 = v[0] > 65535 ? 65535 : (uint16_t)v[0];
		memcpy(&want[2][2 * i], &u16, 2);
		memcpy(&want[6][8 * i], v, 4);
	}
	struct ws_dim3 grid = { BLOCKS, KINDS, 1 }, block = { THREADS, 1, 1 };
	job_launch_3d(j, "write_formatted", grid, block, 0, "ppi", list, value, TEXELS);
	for (unsigned k = 0; k < KINDS; k++) {
		uint32_t words[TEXELS * 4];
		memcpy(words, want[k], sizeof words);
		job_same(j, out[k], words, TEXELS * kinds[k].bytes / 4);
	}
}

/* ---- what stops a kernel ---- */

static void stops(struct job *j, enum ws_sim_outcome outcome, uint32_t exception, uint32_t lanes)
{
	struct ws_sim_fault fault = { 0 };
	if (!j->failed && (outcome != WS_SIM_FAULTED || !ws_sim_fault(j->sim, &fault) ||
			   fault.exception != exception || fault.lanes != lanes))
		job_fail(j, "outcome %d, exception %u, lanes 0x%x: %s", (int)outcome,
			 fault.exception, fault.lanes, fault.text);
}

static void write_outside(struct job *j)
{
	uint32_t *bytes = job_buffer(j, 4 * 4 * 4);
	uint64_t s = surface(j, bytes, words(WS_SIM_IMAGE_2D, 4, 4, 0));
	stops(j, job_launch_bad(j, "write_outside", 1, 32, "sii", &s, 4, 3), WS_SIM_TRAP, 1 << 5);
}

static void no_texture(struct job *j)
{
	float *out = job_buffer(j, 128);
	uint64_t handle = 17;
	stops(j, job_launch_bad(j, "use_texture", 1, 32, "ps", out, &handle), 27, UINT32_MAX);
}

static void surface_as_texture(struct job *j)
{
	float *out = job_buffer(j, 128);
	uint64_t handle = surface(j, out, words(WS_SIM_IMAGE_2D, 4, 4, 0));
	stops(j, job_launch_bad(j, "use_texture", 1, 32, "ps", out, &handle), 27, UINT32_MAX);
}

static void other_shape(struct job *j)
{
	float *out = job_buffer(j, 128);
	uint64_t handle = texture(j, out, floats(WS_SIM_IMAGE_3D, 1, 2, 2, 2));
	stops(j, job_launch_bad(j, "use_texture", 1, 32, "ps", out, &handle), 27, UINT32_MAX);
}

static void freed_texels(struct job *j)
{
	uint64_t address, handle = 0;
	float *out = job_buffer(j, 128);
	struct ws_sim_texture t = floats(WS_SIM_IMAGE_2D, 1, 4, 4, 0);
	struct ws_error err = { 0 };
	t.size = sizeof t;
	if (ws_sim_alloc(j->sim, 64, &address, &err) != WS_OK)
		job_fail(j, "%s", err.message);
	t.image.address = address;
	if (ws_sim_texture(j->sim, &t, &handle, &err) != WS_OK ||
	    ws_sim_free(j->sim, address, &err) != WS_OK)
		job_fail(j, "%s", err.message);
	stops(j, job_launch_bad(j, "use_texture", 1, 32, "ps", out, &handle), 14, UINT32_MAX);
}

const struct job_case job_texture[] = {
	{ "texture", "sample_1d", sample_1d, 0, NULL },
	{ "texture", "sample_2d", sample_2d, 0, NULL },
	{ "texture", "sample_3d", sample_3d, 0, NULL },
	{ "texture", "sample_far", sample_far, 0, NULL },
	{ "texture", "sample_formats", sample_formats, 0, NULL },
	{ "texture", "sample_missing", sample_missing, 0, NULL },
	{ "texture", "fetch_integers", fetch_integers, 0, NULL },
	{ "texture", "sample_layers", sample_layers, 0, NULL },
	{ "texture", "sample_cubes", sample_cubes, 0, NULL },
	{ "texture", "sample_levels", sample_levels, 0, NULL },
	{ "texture", "sample_slopes", sample_slopes, JOB_ONLY + 75, NULL },
	{ "texture", "sample_slopes", sample_slopes, JOB_ONLY + 80, NULL },
	{ "texture", "sample_slopes", sample_slopes, JOB_ONLY + 86, NULL },
	{ "texture", "sample_slopes", sample_slopes, JOB_ONLY + 89, NULL },
	{ "texture", "gather_2d", gather_2d, 0, NULL },
	{ "texture", "sample_any", sample_any, 0, NULL },
	{ "texture", "fetch_places", fetch_places, 0, NULL },
	{ "texture", "sample_beside", sample_beside, 0, NULL },
	{ "texture", "texture_sizes", texture_sizes, 0, NULL },
	{ "texture", "move_widths", move_widths, 0, NULL },
	{ "texture", "turn_planes", turn_planes, 0, NULL },
	{ "texture", "turn_cubes", turn_cubes, 0, NULL },
	{ "texture", "surface_edges", surface_edges, 0, NULL },
	{ "texture", "surface_atomics", surface_atomics, 0, NULL },
	{ "texture", "surface_handles", surface_handles, 0, NULL },
	{ "texture", "write_formatted", write_formatted, 0, NULL },
	{ "texture", "write_outside", write_outside, 0, NULL },
	{ "texture", "no_texture", no_texture, 0, NULL },
	{ "texture", "surface_as_texture", surface_as_texture, 0, NULL },
	{ "texture", "other_shape", other_shape, 0, NULL },
	{ "texture", "freed_texels", freed_texels, 0, NULL },
	{ NULL, NULL, NULL, 0, NULL },
};
