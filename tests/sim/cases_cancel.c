/* SPDX-License-Identifier: Apache-2.0 */
/* Work that is taken from clusters before they are launched, and tiles for pairs of blocks. */
#include "job.h"

enum { X = 20, Y = 20, Z = 4, N = X * Y * Z };

/* All is done once. More blocks than fit at once: some are taken. */
static void cancel(struct job *j, const char *kernel)
{
	uint32_t *out = job_buffer(j, N * 4), *taken = job_buffer(j, 4), want[N];
	for (unsigned i = 0; i < N; i++)
		want[i] = 1;
	job_launch_3d(j, kernel, (struct ws_dim3){ X, Y, Z }, (struct ws_dim3){ 32, 1, 1 }, 0, "pp",
		      out, taken);
	job_same(j, out, want, N);
	if (taken[0] == 0 || taken[0] >= N)
		job_fail(j, "%u of %u taken", taken[0], N);
}

static void cancel_blocks(struct job *j)
{
	cancel(j, "cancel_blocks");
}

static void cancel_clusters(struct job *j)
{
	cancel(j, "cancel_clusters");
}

static void pair_tiles(struct job *j)
{
	enum { BLOCKS = 4, TILE = 64 };
	uint32_t *in = job_words(j, 8 * 40), *out = job_buffer(j, BLOCKS * TILE * 8),
		 want[BLOCKS * TILE * 2];
	uint8_t map[WS_SIM_TENSOR_MAP_BYTES];
	struct ws_error err = { 0 };
	struct ws_sim_tensor t = { .size = sizeof t,
				   .address = job_device(j, in),
				   .type = WS_SIM_TENSOR_U32,
				   .n_dims = 2,
				   .dims = { 8, 40 },
				   .strides = { 32 },
				   .box = { 8, 8 } };
	if (ws_sim_tensor_map(&t, map, &err) != WS_OK)
		job_fail(j, "map: %s", err.message);
	for (unsigned i = 0; i < BLOCKS * TILE; i++) {
		want[2 * i] = in[i];
		want[2 * i + 1] = in[BLOCKS * TILE + i % TILE];
	}
	job_launch(j, "pair_tiles", BLOCKS, TILE, "ps", out, map);
	job_same(j, out, want, BLOCKS * TILE * 2);
}

static void bulk_zero(struct job *j)
{
	enum { BYTES = 200 };
	uint32_t *out = job_buffer(j, 1024), want[256];
	uint64_t n = BYTES;
	for (unsigned i = 0; i < 256; i++) {
		bool zero = (i >= 4 && i < 4 + BYTES / 4) || (i >= 128 && i < 144);
		want[i] = zero ? 0 : 0x01010101u * i;
	}
	job_launch(j, "bulk_zero", 1, 256, "ps", out, &n);
	job_same(j, out, want, 256);
}

static void mmio_stores(struct job *j)
{
	enum { THREADS = 64 };
	uint32_t *out = job_buffer(j, (4 + THREADS) * 4),
		 want[4 + THREADS] = { 5 * THREADS, 0, 77, 77 };
	for (unsigned i = 0; i < THREADS; i++)
		want[4 + i] = 77 + i;
	job_launch(j, "mmio_stores", 1, THREADS, "pi", out, 77);
	job_same(j, out, want, 4 + THREADS);
}

/* Number `at` of a row whose address lane `lane` gives: rows are in shared memory from the last on.
 */
static uint32_t number_of(const uint8_t *in, unsigned lane, unsigned at, unsigned bits)
{
	const uint8_t *row = in + 16 * (size_t)(31 - lane);
	uint32_t value = 0;
	for (unsigned i = 0; i < bits; i++)
		value |= (uint32_t)(row[(at * bits + i) / 8] >> (at * bits + i) % 8 & 1) << i;
	return value;
}

static void narrow_rows(struct job *j)
{
	enum { WORDS = 32, WARP = 32 };
	static const struct {
		unsigned bits, n; /* registers */
		bool turned;
	} loads[] = { { 4, 1, false }, { 4, 2, false }, { 4, 4, false }, { 6, 1, false },
		      { 6, 2, false }, { 6, 4, false }, { 8, 2, true },  { 8, 4, true },
		      { 4, 2, true },  { 4, 4, true },  { 6, 2, true },  { 6, 4, true } };
	uint32_t *in = job_words(j, 128), *out = job_buffer(j, WORDS * WARP * 4),
		 want[WORDS * WARP] = { 0 }, *to = want;
	for (unsigned l = 0; l < sizeof loads / sizeof loads[0]; l++) {
		for (unsigned m = 0; m < loads[l].n; m++, to += WARP) {
			for (unsigned i = 0; i < WARP * 4; i++) { /* a byte of a lane's word */
				unsigned lane = i / 4, part = lane % 4 * 4 + i % 4;
				unsigned row = 8 * m + lane / 4, column = part;
				if (loads[l].turned) {
					row = m / 2 * 16 + part;
					column = lane / 4 + m % 2 * 8;
				}
				to[lane] |=
					number_of((const uint8_t *)in, row, column, loads[l].bits)
					<< 8 * (i % 4);
			}
		}
	}
	job_launch(j, "narrow_rows", 1, WARP, "pp", out, in);
	job_same(j, out, want, WORDS * WARP);
}

static void wide_copy(struct job *j)
{
	enum { COPIES = 250 };
	uint32_t *in = job_words(j, COPIES * 8), *out = job_buffer(j, COPIES * 32),
		 want[COPIES * 8];
	for (uint32_t i = 0; i < COPIES; i++) {
		memcpy(&want[8 * i], &in[8 * (COPIES - 1 - i)], 32);
		want[8 * i + 3] += i;
		want[8 * i + 6] ^= 0x55;
	}
	job_launch(j, "wide_copy", 2, 128, "ppi", out, in, COPIES);
	job_same(j, out, want, COPIES * 8);
}

const struct job_case job_cancel[] = {
	{ "cancel", "cancel_blocks", cancel_blocks, JOB_ONLY + 100, NULL },
	{ "cancel", "cancel_clusters", cancel_clusters, JOB_ONLY + 100, NULL },
	{ "cancel", "cancel_blocks", cancel_blocks, JOB_ONLY + 120, NULL },
	{ "cancel", "cancel_clusters", cancel_clusters, JOB_ONLY + 120, NULL },
	{ "cancel", "bulk_zero", bulk_zero, JOB_ONLY + 100, NULL },
	{ "cancel", "bulk_zero", bulk_zero, JOB_ONLY + 120, NULL },
	{ "cancel", "narrow_rows", narrow_rows, JOB_ONLY + 100, NULL },
	{ "cancel", "narrow_rows", narrow_rows, JOB_ONLY + 120, NULL },
	{ "cancel", "wide_copy", wide_copy, JOB_ONLY + 100, NULL },
	{ "cancel", "wide_copy", wide_copy, JOB_ONLY + 120, NULL },
	{ "cancel", "mmio_stores", mmio_stores, JOB_ONLY + 100, NULL },
	{ "cancel", "pair_tiles", pair_tiles, JOB_ONLY + 100, NULL },
	{ 0 },
};
