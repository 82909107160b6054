/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmarks share: the clock, the best of several runs, ending when a call fails.
 *
 * Other work on the machine only ever adds to a time: the least of the runs is what the program
 * takes, and runs of both sides alternate.
 */
#ifndef WARPSCOPE_BENCH_H
#define WARPSCOPE_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <warpscope/base.h>

enum { RUNS = 7 };

struct times {
	double floor[RUNS], ours[RUNS];
};

static inline double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double best(const double *values)
{
	double least = values[0];
	for (int i = 1; i < RUNS; i++)
		least = values[i] < least ? values[i] : least;
	return least;
}

static inline void must(enum ws_status st, const struct ws_error *err)
{
	if (st == WS_OK)
		return;
	fprintf(stderr, "bench: %s\n", err->message);
	exit(1);
}

/* The most memory that the process had so far, in MiB. */
static inline double peak_mib(void)
{
	char line[256];
	double kib = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof line, status)) {
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtod(line + 6, NULL);
	}
	if (status)
		fclose(status);
	return kib / 1024;
}

/* Kilobytes of memory that only this process has and has written to. */
static inline long private_dirty(void)
{
	char line[256];
	long kb = 0;
	FILE *smaps = fopen("/proc/self/smaps_rollup", "r");
	while (smaps && fgets(line, sizeof line, smaps)) {
		if (strncmp(line, "Private_Dirty:", 14) == 0)
			kb = strtol(line + 14, NULL, 10);
	}
	if (smaps)
		fclose(smaps);
	return kb;
}

/* `limit` 0: none. */
static inline void print_ratio(const char *what, const struct times *times, double limit,
			       double scale, const char *unit)
{
	double floor = best(times->floor), ours = best(times->ours);
	printf("  %-10s floor %9.3f %s  ours %9.3f %s  ratio %5.2f", what, floor * scale, unit,
	       ours * scale, unit, ours / floor);
	if (limit > 0)
		printf("  (at most %.0f) %s", limit, ours <= floor * limit ? "good" : "TOO SLOW");
	printf("\n");
}

/* A limit that is set for full-size dumps only: 3,000 warps are about 100,000 lanes. */
static inline double full_size_limit(double limit, uint32_t n_warps)
{
	return n_warps < 3000 ? 0 : limit;
}

#endif
