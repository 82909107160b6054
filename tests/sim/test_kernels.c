/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of this folder, on every device, against plain C.
 *
 * usage: test_kernels [--all] [--rewind | --check] FOLDER [NAME]
 *
 * FOLDER has the fatbins (tests/data/sim); NAME picks one kernel. With --rewind each launch goes
 * back to snapshots of itself (rewind.c); with --check nothing must be found.
 * Without --all each kernel runs optimised on every architecture and with -G on one of them, each
 * time under another schedule (with --rewind and --check once, the kernels in turn on all of
 * these); with it, in all combinations. All runs of a kernel must leave the same bits, but where
 * its case says why they do not.
 */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const devices[] = { "sm_75",  "sm_80",   "sm_86",  "sm_89",
				       "sm_90a", "sm_100a", "sm_120a" };
static const char *const schedules[] = { "round robin", "oldest first", "random", "adversarial" };
enum { N_DEVICES = 7, N_SCHEDULES = 4 };

static const struct job_case *const lists[] = { job_child,   job_texture, job_integer, job_float,
						job_half,    job_memory,  job_shared,  job_warp,
						job_atomics, job_diverge, job_whole,   job_tensor,
						job_service, job_async,   job_cluster, job_grid,
						job_bulk,    job_group,   job_tcgen,   job_sparse,
						job_scaled,  job_cancel };

static struct {
	const char *folder, *only;
	bool rewinds, checks;
	unsigned n, n_failed;
} run;

static _Noreturn void bail_out(const char *name)
{
	printf("Bail out! cannot read %s\n", name);
	exit(1);
}

static struct ws_span read_image(const char *file, const char *kind)
{
	static struct {
		char name[256];
		uint8_t *bytes; /* owned */
		size_t size;
	} last; /* cases of a file follow each other */
	char name[256];
	snprintf(name, sizeof name, "%s/%s.%s.fatbin", run.folder, file, kind);
	if (strcmp(name, last.name) != 0) {
		FILE *in = fopen(name, "rb");
		if (!in)
			bail_out(name);
		fseek(in, 0, SEEK_END);
		last.size = (size_t)ftell(in);
		rewind(in);
		free(last.bytes);
		last.bytes = malloc(last.size + 1);
		if (!last.bytes || fread(last.bytes, 1, last.size, in) != last.size)
			bail_out(name);
		fclose(in);
		memcpy(last.name, name, sizeof name);
	}
	return (struct ws_span){ last.bytes, last.size, 0 };
}

static void expect_nothing_found(struct job *j)
{
	static const char *const kinds[] = { "RAW",
					     "WAR",
					     "WAW",
					     "uninitialized",
					     "divergent barrier",
					     "missing at barrier",
					     "out of bounds" };
	const struct ws_sim_finding *f;
	size_t n = ws_sim_findings(j->sim, &f);
	for (; n > 0 && f->kind == WS_SIM_DIVERGENT_BARRIER; n--) /* copies: grid.sync() has them */
		f++;
	if (n > 0)
		job_fail(j,
			 "%zu findings: %s, space %d, address 0x%llx, %llu times; thread %u of "
			 "block %u at "
			 "0x%llx, thread %u of block %u at 0x%llx",
			 n, kinds[f->kind], (int)f->space, (unsigned long long)f->address,
			 (unsigned long long)f->count, f->who.thread.x, f->who.block.x,
			 (unsigned long long)f->who.pc, f->other.thread.x, f->other.block.x,
			 (unsigned long long)f->other.pc);
}

/* What all runs of a case leave is what its first one did. */
static void expect_the_same(struct job *j, const struct job_case *c)
{
	static const struct job_case *last; /* runs of a case follow each other */
	static uint64_t results;
	if (last != c) {
		last = c;
		results = j->results;
	} else if (results != j->results && !c->varies) {
		job_fail(j, "other bits than in the first run of this kernel");
	}
}

static void run_case(const struct job_case *c, const char *device, const char *kind,
		     unsigned schedule)
{
	struct job j = { .random = 1, .rewinds = run.rewinds };
	struct ws_error err = { 0 };
	struct ws_sim_options options = { .size = sizeof options,
					  .device = device,
					  .seed = 42,
					  .schedule = (enum ws_sim_schedule)schedule,
					  .check = run.checks };
	if (ws_sim_create(&options, &j.sim, &err) != WS_OK)
		job_fail(&j, "create: %s", err.message);
	else if (ws_sim_load(j.sim, read_image(c->file, kind), &j.module, &err) != WS_OK)
		job_fail(&j, "load: %s", err.message);
	else
		c->run(&j);
	if (j.sim && !j.failed)
		expect_nothing_found(&j);
	if (!j.failed)
		expect_the_same(&j, c);
	run.n++;
	run.n_failed += j.failed;
	printf("%s %u - %s, %s, %s, %s\n", j.failed ? "not ok" : "ok", run.n, c->kernel, device,
	       kind, schedules[schedule]);
	if (j.failed)
		printf("# %s\n", j.why);
	fflush(stdout);
	for (size_t i = 0; i < j.n_buffers; i++)
		free(j.buffer[i].host);
	ws_sim_destroy(j.sim);
}

static bool can_run(const struct job_case *c, unsigned device)
{
	unsigned long sm = strtoul(devices[device] + 3, NULL, 10);
	return c->min_sm > JOB_ONLY ? sm == c->min_sm - JOB_ONLY : sm >= c->min_sm;
}

/* On one of the devices that can, every fourth kernel with -G. */
static void run_once(const struct job_case *c, unsigned number)
{
	unsigned d = number % N_DEVICES;
	while (!can_run(c, d))
		d = (d + 1) % N_DEVICES;
	run_case(c, devices[d], number % 4 == 3 ? "G" : "O3", (number / 4 + 1) % N_SCHEDULES);
}

static void run_all(const struct job_case *c, bool everything, unsigned number)
{
	if (!everything && (run.rewinds || run.checks)) {
		run_once(c, number);
		return;
	}
	for (unsigned d = 0; d < N_DEVICES; d++) {
		if (!can_run(c, d))
			continue;
		for (unsigned s = 0; s < N_SCHEDULES; s++) {
			if (everything || s == (number + d) % N_SCHEDULES)
				run_case(c, devices[d], "O3", s);
			if (everything || (d == number % N_DEVICES && s == number % N_SCHEDULES))
				run_case(c, devices[d], "G", s);
		}
	}
}

int main(int argc, char **argv)
{
	int at = 1;
	bool everything = argc > at && strcmp(argv[at], "--all") == 0;
	at += everything;
	run.rewinds = argc > at && strcmp(argv[at], "--rewind") == 0;
	at += run.rewinds;
	run.checks = argc > at && strcmp(argv[at], "--check") == 0;
	at += run.checks;
	if (argc <= at) {
		fprintf(stderr, "usage: test_kernels [--all] [--rewind | --check] FOLDER [NAME]\n");
		return 2;
	}
	run.folder = argv[at];
	run.only = argc > at + 1 ? argv[at + 1] : NULL;
	for (unsigned l = 0, number = 0; l < sizeof lists / sizeof *lists; l++)
		for (const struct job_case *c = lists[l]; c->file; c++, number++)
			if (!run.only || strcmp(run.only, c->kernel) == 0)
				run_all(c, everything, number);
	printf("1..%u\n", run.n);
	return run.n_failed != 0;
}
