/* SPDX-License-Identifier: Apache-2.0 */
/* What goes on between blocks and in the background. */
#include "job.h"

static void async_copy(struct job *j)
{
	enum { BLOCKS = 2, COUNT = BLOCKS * 256 * 4 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, BLOCKS * 64 * 4),
		 want[BLOCKS * 64];
	job_launch(j, "async_copy", BLOCKS, 64, "pp", out, in);
	for (unsigned i = 0; i < BLOCKS * 64; i++) {
		want[i] = 0;
		for (unsigned k = 0; k < 4; k++) {
			const uint32_t *v = &in[4 * (i / 64 * 256 + k * 64 + 63 - i % 64)];
			want[i] = want[i] * 3 + v[0] + v[1] * 5 + v[2] * 7 + v[3];
		}
	}
	job_same(j, out, want, BLOCKS * 64);
}

static void memory_barrier(struct job *j)
{
	enum { COUNT = 2 * 128, ROUNDS = 4 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, COUNT * 4), v[COUNT];
	job_launch(j, "memory_barrier", 2, 128, "ppi", out, in, ROUNDS);
	memcpy(v, in, sizeof v);
	for (unsigned k = 0; k < ROUNDS; k++) {
		uint32_t before[COUNT];
		memcpy(before, v, sizeof before);
		for (unsigned i = 0; i < COUNT; i++)
			v[i] = before[i] * 3 + before[(i & ~127u) + ((i + 37) & 127)];
	}
	job_same(j, out, v, COUNT);
}

/* What blocks say of their places where all are in clusters of one size. */
static void expect_places(struct job *j, struct ws_dim3 grid, struct ws_dim3 c, bool is_explicit,
			  const uint32_t *out)
{
	for (uint32_t i = 0; i < grid.x * grid.y * grid.z; i++) {
		uint32_t x = i % grid.x, y = i / grid.x % grid.y, z = i / grid.x / grid.y;
		const uint32_t want[16] = { x / c.x,
					    y / c.y,
					    z / c.z,
					    grid.x / c.x,
					    grid.y / c.y,
					    grid.z / c.z,
					    x % c.x,
					    y % c.y,
					    z % c.z,
					    c.x,
					    c.y,
					    c.z,
					    x % c.x + c.x * (y % c.y + c.y * (z % c.z)),
					    c.x * c.y * c.z,
					    1024,
					    is_explicit };
		job_same(j, out + 16 * i, want, 16);
	}
}

static void cluster_places(struct job *j)
{
	static const struct ws_dim3 grids[] = {
		{ 12, 6, 4 }, { 1000, 2, 1 }, { 7, 1, 21 }, { 9, 2, 2 }
	};
	static const struct ws_dim3 clusters[] = {
		{ 3, 2, 2 }, { 5, 1, 1 }, { 7, 1, 1 }, { 0, 0, 0 }
	};
	const struct ws_dim3 one = { 1, 1, 1 }, none = { 0, 0, 0 };
	uint32_t *out = job_buffer(j, 2000 * 64);
	for (unsigned i = 0; i < 4; i++) {
		bool asked = clusters[i].x != 0;
		job_launch_clusters(j, "cluster_places", grids[i], clusters[i], none, "p", out);
		expect_places(j, grids[i], asked ? clusters[i] : one, asked, out);
	}
}

static void preferred_places(struct job *j)
{
	const struct ws_dim3 grid = { 12, 4, 2 }, c = { 2, 1, 2 }, preferred = { 4, 2, 2 };
	uint32_t *out = job_buffer(j, 96 * 64);
	job_launch_clusters(j, "cluster_places", grid, c, preferred, "p", out);
	expect_places(j, grid, preferred, true, out); /* the device has room for all */
}

static void cluster_ring(struct job *j)
{
	enum { COUNT = 8 * 64 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, COUNT * 4), want[COUNT];
	job_launch(j, "cluster_ring", 8, 64, "pp", out, in);
	for (unsigned i = 0; i < COUNT; i++) {
		unsigned block = i / 64, next = block / 4 * 4 + (block + 1) % 4;
		want[i] = in[i] * 3 + in[next * 64 + 63 - i % 64] + block % 4;
	}
	job_same(j, out, want, COUNT);
}

/* ---- barriers in memory ---- */

/* What PTX says of one, step by step. */
struct model {
	uint32_t expected, pending;
	int32_t tx;
	bool phase;
};

static void model_step(struct model *m, uint32_t arrivals, int32_t tx, bool drops)
{
	m->tx += tx;
	m->pending -= arrivals;
	m->expected -= drops ? arrivals : 0;
	if (m->pending != 0 || m->tx != 0)
		return;
	m->phase = !m->phase;
	m->pending = m->expected;
}

static void mbarrier_script(struct job *j)
{
	enum { STEPS = 120, EXPECTED = 40 };
	uint32_t *script = job_words(j, STEPS), *out = job_buffer(j, STEPS * 8), want[STEPS * 2];
	struct model m = { .expected = EXPECTED, .pending = EXPECTED };
	for (unsigned i = 0; i < STEPS; i++) {
		uint32_t kind = script[i] % 4, n = 1, most = m.pending - 1;
		bool drops = kind >= 2 && script[i] % 5 == 0 && m.expected > 2;
		if (drops && most > m.expected - 1)
			most = m.expected - 1;
		if (kind % 2 == 1 && most > 0)
			n = 1 + (script[i] >> 8) % most;
		bool many = kind % 2 == 1 && most > 0;
		bool phase = m.phase;
		script[i] = n << 8 | (uint32_t)many | (uint32_t)drops << 1;
		want[2 * i] = m.pending;
		model_step(&m, n, 0, drops);
		want[2 * i + 1] = phase != m.phase ? 3 : 0;
	}
	job_launch(j, "mbarrier_script", 1, 1, "ppii", out, script, STEPS, EXPECTED);
	job_same(j, out, want, STEPS * 2);
}

static void mbarrier_transactions(struct job *j)
{
	enum { STEPS = 150, EXPECTED = 60 };
	uint32_t *script = job_words(j, STEPS), *out = job_buffer(j, STEPS * 8), want[STEPS * 2];
	struct model m = { .expected = EXPECTED, .pending = EXPECTED };
	uint32_t seen = 0;
	bool seen_phase = false;
	for (unsigned i = 0; i < STEPS; i++) {
		uint32_t kind = i == 0 ? 0 : script[i] % 5, n = 1 + (script[i] >> 8) % 9;
		bool phase = m.phase;
		if (m.pending == 0) { /* only bytes are missing, or too many have come */
			kind = m.tx > 0 ? 4 : 3;
			n = (uint32_t)(m.tx > 0 ? m.tx : -m.tx);
		} else if (kind == 1 && (m.expected < n + 5 || m.pending < n)) {
			kind = 2;
		} else if (kind == 0 && n > m.pending) {
			n = m.pending;
		}
		script[i] = n << 8 | kind;
		if (kind <= 2) {
			seen = m.pending;
			seen_phase = phase;
		}
		if (kind <= 1)
			model_step(&m, n, 0, kind == 1);
		else
			model_step(&m, kind == 2, kind == 4 ? -(int32_t)n : (int32_t)n, false);
		want[2 * i] = seen;
		want[2 * i + 1] = (uint32_t)(phase != m.phase) | (uint32_t)(seen_phase != m.phase)
									 << 1;
	}
	job_launch(j, "mbarrier_transactions", 1, 1, "ppii", out, script, STEPS, EXPECTED);
	job_same(j, out, want, STEPS * 2);
}

static void mbarrier_lanes(struct job *j)
{
	uint32_t *out = job_buffer(j, 64 * 4), want[64];
	for (uint32_t odd_only = 0; odd_only < 2; odd_only++) {
		uint32_t pending[2] = { 200, 100 };
		for (unsigned lane = 0; lane < 32; lane++) {
			bool runs = !odd_only || lane % 2;
			uint32_t *count = &pending[lane % 4 == 3];
			want[lane] = runs ? *count : 0;
			*count -= runs ? 3 : 0;
		}
		for (unsigned lane = 0; lane < 32; lane++)
			want[32 + lane] = pending[0]--;
		job_launch(j, "mbarrier_lanes", 1, 32, "pi", out, odd_only);
		job_same(j, out, want, 64);
	}
}

static void mbarrier_ring(struct job *j)
{
	enum { CONSUMERS = 3, ROUNDS = 14 };
	uint32_t *in = job_words(j, ROUNDS * 32), *out = job_buffer(j, CONSUMERS * 128),
		 want[CONSUMERS * 32];
	for (unsigned i = 0; i < CONSUMERS * 32; i++) {
		want[i] = 0;
		for (unsigned k = 0; k < ROUNDS; k++)
			want[i] = want[i] * 3 + in[k * 32 + (i + i / 32 + 1) % 32];
	}
	job_launch(j, "mbarrier_ring", 1, 32 * (1 + CONSUMERS), "ppi", out, in, ROUNDS);
	job_same(j, out, want, CONSUMERS * 32);
}

static void mbarrier_copies(struct job *j)
{
	uint32_t *in = job_words(j, 128), *out = job_buffer(j, 128 * 4), want[128];
	for (unsigned i = 0; i < 128; i++)
		want[i] = in[127 - i] * 3;
	job_launch(j, "mbarrier_copies", 1, 128, "ppi", out, in, 0);
	job_same(j, out, want, 128);
	memset(out, 0, 128 * 4);
	job_launch(j, "mbarrier_copies", 1, 128, "ppi", out, in, 1);
	job_same(j, out, want, 128);
}

static void mbarrier_remote(struct job *j)
{
	enum { COUNT = 8 * 64, ROUNDS = 5 };
	uint32_t *in = job_words(j, COUNT), *out = job_buffer(j, COUNT * 4), v[COUNT];
	memcpy(v, in, sizeof v);
	for (unsigned k = 0; k < ROUNDS; k++) {
		uint32_t before[COUNT];
		memcpy(before, v, sizeof before);
		for (unsigned i = 0; i < COUNT; i++) {
			unsigned block = i / 64, from = block / 4 * 4 + (block + 3) % 4;
			v[i] = before[i] * 3 + before[from * 64 + 63 - i % 64];
		}
	}
	job_launch(j, "mbarrier_remote", 8, 64, "ppi", out, in, ROUNDS);
	job_same(j, out, v, COUNT);
}

/* Arrivals that hardware refuses; each on a device of its own, as a fault ends it. */
static void misuse(struct job *j, uint32_t how, uint32_t exception)
{
	struct ws_sim_fault fault;
	enum ws_sim_outcome outcome = job_launch_bad(j, "mbarrier_misuse", 1, 1, "i", how);
	if (j->failed)
		return;
	if (outcome != WS_SIM_FAULTED || !ws_sim_fault(j->sim, &fault))
		job_fail(j, "misuse %u did not fail", how);
	else if (fault.exception != exception || !fault.has_address)
		job_fail(j, "misuse %u: exception 0x%x: %s", how, fault.exception, fault.text);
}

static void mbarrier_too_many(struct job *j)
{
	misuse(j, 0, 31); /* CUDBG_EXCEPTION_WARP_ARRIVE */
}

static void mbarrier_uninitialised(struct job *j)
{
	misuse(j, 1, 31);
}

static void mbarrier_overflow(struct job *j)
{
	misuse(j, 2, 31);
}

static void mbarrier_nobody(struct job *j)
{
	misuse(j, 3, 18); /* CUDBG_EXCEPTION_CLUSTER_BLOCK_NOT_PRESENT */
}

static void mbarrier_misaligned(struct job *j)
{
	misuse(j, 4, 6); /* CUDBG_EXCEPTION_WARP_MISALIGNED_ADDRESS */
}

const struct job_case job_async[] = {
	{ "async", "async_copy", async_copy, 80, NULL },
	{ "async", "memory_barrier", memory_barrier, 80, NULL },
	{ "mbarrier", "mbarrier_script", mbarrier_script, 80, NULL },
	{ "mbarrier", "mbarrier_lanes", mbarrier_lanes, 80, NULL },
	{ "mbarrier", "mbarrier_ring", mbarrier_ring, 80, NULL },
	{ "mbarrier", "mbarrier_copies", mbarrier_copies, 80, NULL },
	{ 0 },
};

const struct job_case job_cluster[] = {
	{ "cluster", "cluster_ring", cluster_ring, 90, NULL },
	{ "cluster", "cluster_places", cluster_places, 90, NULL },
	{ "cluster", "cluster_places of preferred ones", preferred_places, 100, NULL },
	{ "cluster", "mbarrier_transactions", mbarrier_transactions, 90, NULL },
	{ "cluster", "mbarrier_remote", mbarrier_remote, 90, NULL },
	{ "cluster", "mbarrier_too_many", mbarrier_too_many, 90, NULL },
	{ "cluster", "mbarrier_uninitialised", mbarrier_uninitialised, 90, NULL },
	{ "cluster", "mbarrier_overflow", mbarrier_overflow, 90, NULL },
	{ "cluster", "mbarrier_nobody", mbarrier_nobody, 90, NULL },
	{ "cluster", "mbarrier_misaligned", mbarrier_misaligned, 90, NULL },
	{ 0 },
};
