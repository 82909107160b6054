/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <math.h>

enum { BLOCKS = 2, THREADS = 128, N = BLOCKS * THREADS };

/* Lane that a shuffle in groups of `width` reads; `lane` itself where that is outside. */
static unsigned up(unsigned lane, unsigned by, unsigned width)
{
	return lane % width >= by ? lane - by : lane;
}

static unsigned down(unsigned lane, unsigned by, unsigned width)
{
	return lane % width + by < width ? lane + by : lane;
}

static void shuffle_all(struct job *j)
{
	uint32_t *in = job_words(j, N), *out = job_buffer(j, N * 32), want[8 * N];
	job_launch(j, "shuffle_all", BLOCKS, THREADS, "pp", out, in);
	for (unsigned i = 0; i < N; i++) {
		const uint32_t *warp = &in[i & ~31u];
		uint32_t *w = &want[8 * i], lane = i & 31;
		w[0] = warp[(lane * 7 + 3) & 31];
		w[1] = warp[up(lane, 3, 32)];
		w[2] = warp[down(lane, 5, 32)];
		w[3] = warp[lane ^ 10];
		w[4] = warp[(lane & 24) | (lane & 7)];
		w[5] = warp[up(lane, 2, 16)];
		w[6] = warp[down(lane, 3, 4)];
		/* a partner in a later group is not read, one in an earlier group is */
		w[7] = warp[(lane ^ 3) <= (lane | 1) ? lane ^ 3 : lane];
	}
	job_same(j, out, want, 8 * N);
}

static void shuffle_wide(struct job *j)
{
	uint64_t *in = job_wide(j, N), *out = job_buffer(j, N * 16), want[2 * N];
	job_launch(j, "shuffle_wide", BLOCKS, THREADS, "pp", out, in);
	for (unsigned i = 0; i < N; i++) {
		want[2 * i] = in[i ^ 1];
		want[2 * i + 1] = in[(i & 31) == 31 ? i : i + 1];
	}
	job_same_wide(j, out, want, 2 * N);
}

/* Lanes of a warp whose values have a bit. */
static uint32_t ballot(const uint32_t *warp, uint32_t bit)
{
	uint32_t mask = 0;
	for (unsigned k = 0; k < 32; k++)
		mask |= (warp[k] & bit ? 1u : 0) << k;
	return mask;
}

static uint32_t count(uint32_t mask)
{
	uint32_t n = 0;
	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

static void votes(struct job *j)
{
	uint32_t *in = job_words(j, N), *out = job_buffer(j, N * 20), want[5 * N];
	in[40] = 4294967290u;
	in[70] = 12;
	job_launch(j, "votes", BLOCKS, THREADS, "pp", out, in);
	for (unsigned i = 0; i < N; i++) {
		const uint32_t *warp = &in[i & ~31u];
		uint32_t *w = &want[5 * i];
		w[0] = ballot(warp, 1);
		w[1] = 0;
		w[2] = 1;
		for (unsigned k = 0; k < 32; k++) {
			w[1] |= warp[k] > 4200000000u;
			w[2] &= warp[k] > 1000;
		}
		w[3] = in[i] & 1 ? ballot(warp, 1) & ballot(warp, 2) : 0;
		w[4] = count(ballot(warp, 4) & ((1u << (i & 31)) - 1));
	}
	job_same(j, out, want, 5 * N);
}

static void matches(struct job *j)
{
	uint32_t *in = job_words(j, N), *out = job_buffer(j, N * 16), want[4 * N];
	for (unsigned i = 0; i < 32; i++)
		in[i] = 8 * in[i] + 3;
	job_launch(j, "matches", BLOCKS, THREADS, "pp", out, in);
	for (unsigned i = 0; i < N; i++) {
		const uint32_t *warp = &in[i & ~31u];
		uint32_t *w = &want[4 * i];
		w[0] = 0;
		for (unsigned k = 0; k < 32; k++)
			w[0] |= (uint32_t)((warp[k] & 7) == (in[i] & 7)) << k;
		w[1] = w[0] == UINT32_MAX ? UINT32_MAX : 0;
		w[2] = w[0];
		w[3] = UINT32_MAX ^ 1;
	}
	job_same(j, out, want, 4 * N);
}

static void reductions(struct job *j)
{
	uint32_t *in = job_words(j, N), *out = job_buffer(j, N * 24), want[6 * N];
	job_launch(j, "reductions", BLOCKS, THREADS, "pp", out, in);
	for (unsigned i = 0; i < N; i++) {
		const uint32_t *warp = &in[i & ~31u];
		uint32_t *w = &want[6 * i];
		w[0] = w[4] = w[5] = 0;
		w[1] = w[3] = UINT32_MAX;
		int32_t most = INT32_MIN;
		for (unsigned k = 0; k < 32; k++) {
			w[0] += warp[k];
			w[1] = warp[k] < w[1] ? warp[k] : w[1];
			most = (int32_t)warp[k] > most ? (int32_t)warp[k] : most;
			w[3] &= warp[k] | 0xffff;
			w[4] |= warp[k] & 0xff00;
			w[5] ^= warp[k];
		}
		w[2] = (uint32_t)most;
	}
	job_same(j, out, want, 6 * N);
}

static void warp_scan(struct job *j)
{
	uint32_t *in = job_words(j, N), *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "warp_scan", BLOCKS, THREADS, "pp", out, in);
	for (unsigned i = 0; i < N; i++)
		want[i] = in[i] + (i & 31 ? want[i - 1] : 0);
	job_same(j, out, want, N);
}

static void split_shuffle(struct job *j)
{
	uint32_t *in = job_words(j, N), *out = job_buffer(j, N * 4), want[N], v[N];
	job_launch(j, "split_shuffle", BLOCKS, THREADS, "pp", out, in);
	for (unsigned i = 0; i < N; i++) {
		const uint32_t *warp = &in[i & ~31u];
		unsigned lane = i & 31;
		if (lane % 3 == 0)
			v[i] = warp[(lane + 3) % 33] * 2;
		else if (lane % 3 == 1)
			v[i] = ballot(warp, 1) & 0x92492492u;
		else
			v[i] = in[i] + 1;
	}
	for (unsigned i = 0; i < N; i++)
		want[i] = v[i] + v[i ^ 1];
	job_same(j, out, want, N);
}

static void warp_exchange(struct job *j)
{
	uint32_t *in = job_words(j, N), *out = job_buffer(j, N * 4), want[N];
	job_launch(j, "warp_exchange", BLOCKS, THREADS, "pp", out, in);
	memcpy(want, in, sizeof want);
	for (unsigned k = 0; k < 5; k++) {
		uint32_t before[N];
		memcpy(before, want, sizeof before);
		for (unsigned i = 0; i < N; i++)
			want[i] = before[i] * 5 + before[(i & ~31u) + ((i + k + 1) & 31)];
	}
	job_same(j, out, want, N);
}

static void group_tiles(struct job *j)
{
	uint32_t *in = job_words(j, N), *out = job_buffer(j, N * 12), want[3 * N];
	job_launch(j, "group_tiles", BLOCKS, THREADS, "pp", out, in);
	for (unsigned i = 0; i < N; i++) {
		const uint32_t *warp = &in[i & ~31u];
		uint32_t *w = &want[3 * i], second = ballot(warp, 2);
		w[0] = 0;
		for (unsigned k = 0; k < 8 && i % 8 == 0; k++)
			w[0] += in[i + k];
		w[1] = ballot(warp, 1) >> (i & 24) & 0xff;
		uint32_t same = in[i] & 2 ? second : ~second;
		w[2] = count(same) << 8 | count(same & ((1u << (i & 31)) - 1));
	}
	job_same(j, out, want, 3 * N);
}

static void compact(struct job *j)
{
	uint32_t *in = job_words(j, N), *out = job_buffer(j, N * 4), *n_out = job_buffer(j, 4),
		 kept = 0;
	job_launch(j, "compact", BLOCKS, THREADS, "pppi", out, n_out, in, N - 5);
	/* warps come in any order: each value that divides by 3 must be there as often as it was */
	for (unsigned i = 0; i < N - 5; i++)
		kept += in[i] % 3 == 0;
	if (*n_out != kept)
		job_fail(j, "%u values, not %u", *n_out, kept);
	for (unsigned i = 0; i < N - 5 && !j->failed; i++) {
		unsigned k = 0;
		while (in[i] % 3 == 0 && k < kept && out[k] != in[i])
			k++;
		if (in[i] % 3 == 0 && k == kept)
			job_fail(j, "value 0x%x is not there", in[i]);
	}
}

/* The one of two floats that a reduction keeps: +0 is greater than -0. */
static float chosen(float a, float b, bool greater, bool nan)
{
	if (isnan(a) || isnan(b))
		return nan || (isnan(a) && isnan(b)) ? NAN : isnan(a) ? b : a;
	bool less = a == b ? signbit(a) > signbit(b) : a < b;
	return less == greater ? b : a;
}

static void redux_floats(struct job *j)
{
	enum { FORMS = 6 };
	static const bool greater[FORMS] = { 0, 1, 0, 1, 0, 1 }, magnitude[FORMS] = { 0, 0, 1, 1 },
			  nan[FORMS] = { 0, 0, 0, 1, 1 };
	float *in = job_floats(j, N), *out = job_buffer(j, N * FORMS * 4), want[N * FORMS] = { 0 };
	for (unsigned i = 0; i < 64;
	     i++) /* a warp of NaNs, and one of ordinary numbers and zeros */
		in[i] = i < 32 ? NAN : i % 5 ? (float)i - 48 : i % 2 ? 0.0f : -0.0f;
	for (unsigned i = 0; i < N; i++) {
		for (unsigned f = 0; f < FORMS; f++) {
			unsigned step = f == 5 ? 2 : 1, first = i / 32 * 32;
			if (f == 5 && i % 2)
				continue;
			float value = magnitude[f] ? fabsf(in[first]) : in[first];
			for (unsigned k = first + step; k < first + 32; k += step)
				value = chosen(value, magnitude[f] ? fabsf(in[k]) : in[k],
					       greater[f], nan[f]);
			want[FORMS * i + f] = value;
		}
	}
	job_launch(j, "redux_floats", BLOCKS, THREADS, "pp", out, in);
	job_same_floats(j, out, want, N * FORMS);
}

static void tile_of_warps(struct job *j)
{
	enum { BLOCK = 128, COUNT = 4 * BLOCK };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, COUNT * 4), want[COUNT];
	in[70] = 1; /* in the second tile */
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned first = i / 64 * 64;
		want[i] = in[first + 63 - i % 64] * 3 + in[first + 5] + (first == 64 ? 2 : 1);
	}
	job_launch(j, "tile_of_warps", COUNT / BLOCK, BLOCK, "pp", out, in);
	job_same(j, out, want, COUNT);
}

static void launch_facts(struct job *j)
{
	enum { DYNAMIC = 1100, STATIC = 80, UNIT = 256 };
	struct ws_sim_limits limits;
	uint32_t *out = job_buffer(j, 24);
	ws_sim_limits(j->sim, &limits);
	for (uint32_t grid = 1; grid < 3; grid++) {
		const uint32_t want[6] = {
			limits.n_sms,   DYNAMIC, (STATIC + DYNAMIC + UNIT - 1) / UNIT * UNIT,
			limits.n_warps, grid,    0
		};
		job_launch_3d(j, "launch_facts", (struct ws_dim3){ 1, 1, 1 },
			      (struct ws_dim3){ 20, 1, 1 }, DYNAMIC, "p", out);
		job_same(j, out, want, 6);
	}
}

const struct job_case job_warp[] = {
	{ "warp", "tile_of_warps", tile_of_warps, 0, NULL },
	{ "warp", "launch_facts", launch_facts, 0, "how large each device is" },
	{ "warp", "shuffle_all", shuffle_all, 0, NULL },
	{ "warp", "shuffle_wide", shuffle_wide, 0, NULL },
	{ "warp", "votes", votes, 0, NULL },
	{ "warp", "matches", matches, 0, NULL },
	{ "warp", "reductions", reductions, 0, NULL },
	{ "warp", "warp_scan", warp_scan, 0, NULL },
	{ "warp", "split_shuffle", split_shuffle, 0, NULL },
	{ "warp", "warp_exchange", warp_exchange, 0, NULL },
	{ "warp", "group_tiles", group_tiles, 0, NULL },
	{ "warp", "compact", compact, 0, "places by the order of atomics" },
	{ "warp", "redux_floats", redux_floats, JOB_ONLY + 100, NULL },
	{ 0 },
};
