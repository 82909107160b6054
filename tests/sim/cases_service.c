/* SPDX-License-Identifier: Apache-2.0 */
/* Services of the device. */
#include "job.h"

#include <stdio.h>

static void print_some(struct job *j)
{
	enum { COUNT = 5 };
	char want[100];
	ws_sim_clear_printed(j->sim);
	job_launch(j, "print_some", 1, 32, "i", COUNT);
	struct ws_span printed = ws_sim_printed(j->sim);
	size_t total = 0;
	for (unsigned i = 0; i < COUNT; i++) { /* lanes may print in any order */
		int len = snprintf(want, sizeof want, "thread %u of 32: %s %5.2f %llx\n", i,
				   i & 1 ? "odd" : "even", i * 0.25, 0x123456789aull + i);
		size_t at = 0;
		while (at + (size_t)len <= printed.len &&
		       memcmp(printed.ptr + at, want, (size_t)len) != 0)
			at++;
		if (at + (size_t)len > printed.len)
			job_fail(j, "not printed: %s", want);
		total += (size_t)len;
	}
	if (printed.len != total)
		job_fail(j, "%zu bytes printed, not %zu", printed.len, total);
}

static void heap_lists(struct job *j)
{
	enum { COUNT = 70 };
	uint32_t *out = job_buffer(j, COUNT * 4), want[COUNT];
	job_launch(j, "heap_lists", 3, 32, "pi", out, COUNT);
	for (unsigned i = 0; i < COUNT; i++) {
		want[i] = 0;
		for (unsigned k = i % 5 + 1; k-- > 0;)
			want[i] = want[i] * 7 + i + k;
	}
	job_same(j, out, want, COUNT);
}

static void clocks(struct job *j)
{
	uint32_t *out = job_buffer(j, 256), want[64];
	job_launch(j, "clocks", 1, 64, "pi", out, 64);
	for (unsigned i = 0; i < 64; i++)
		want[i] = 1;
	job_same(j, out, want, 64);
}

/* The fault must blame exactly the lanes of the warp whose value is at the limit. */
static void fails(struct job *j, const char *kernel, uint32_t exception)
{
	uint32_t *in = job_buffer(j, 64 * 4);
	struct ws_sim_fault fault;
	in[37] = in[41] = 9;
	enum ws_sim_outcome outcome = job_launch_bad(j, kernel, 1, 64, "pi", in, 9);
	if (j->failed)
		return;
	if (outcome != WS_SIM_FAULTED || !ws_sim_fault(j->sim, &fault))
		job_fail(j, "%s did not fail", kernel);
	else if (fault.exception != exception || fault.thread != 37)
		job_fail(j, "%s: exception 0x%x of thread %u: %s", kernel, fault.exception,
			 fault.thread, fault.text);
}

static void asserts(struct job *j)
{
	fails(j, "asserts", 12); /* CUDBG_EXCEPTION_WARP_ASSERT */
}

static void traps(struct job *j)
{
	fails(j, "traps", WS_SIM_TRAP);
}

static void grid_rounds(struct job *j)
{
	enum { COUNT = 12 * 64, ROUNDS = 5 };
	uint32_t *a = job_words(j, COUNT), *b = job_buffer(j, COUNT * 4), now[COUNT], next[COUNT];
	memcpy(now, a, sizeof now);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < COUNT; i++)
			next[i] = now[i] + now[(i + 1) % COUNT];
		memcpy(now, next, sizeof now);
	}
	job_launch_cooperative(j, "grid_rounds", 12, 64, "ppi", a, b, ROUNDS);
	job_same(j, b, now, COUNT);
}

const struct job_case job_service[] = {
	{ "service", "print_some", print_some, 0, NULL },
	{ "service", "heap_lists", heap_lists, 0, NULL },
	{ "service", "clocks", clocks, 0, NULL },
	{ "service", "asserts", asserts, 0, NULL },
	{ "service", "traps", traps, 0, NULL },
	{ 0 },
};

const struct job_case job_grid[] = {
	{ "grid", "grid_rounds", grid_rounds, 0, NULL },
	{ 0 },
};
