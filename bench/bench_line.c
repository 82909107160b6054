/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast are line maps? Our side: bench/line_libdw.c measures libdw on the same input,
 * bench/line.py runs both.
 *
 *   bench_line decode ROWS KERNELS     all rows decoded and indexed
 *   bench_line lookup ROWS             chains of random pcs in one kernel
 *   bench_line hot ROWS                the same of 256 pcs, as the threads of a dump have them
 *   bench_line first ROWS KERNELS      creation and one lookup
 *
 * Prints "name value" lines: seconds, nanoseconds, MiB. `floor_nanoseconds` is what a caller takes
 * to look at the positions of each pc when nobody has to find them.
 */
#include <warpscope/line.h>

#include "line_input.h"

enum {
	MAX_CHAIN = 64,
	N_LOOKUPS = 2000000,
};

static struct ws_line_map *map_of(const struct line_input *in)
{
	struct ws_line_reloc *relocs = bench_alloc(in->n_kernels, sizeof *relocs);
	for (uint32_t i = 0; i < in->n_kernels; i++)
		relocs[i] = (struct ws_line_reloc){ .sec_off = in->address_off[i], .owner = i + 1 };
	struct ws_line_input input = {
		.line = { in->line, in->line_len, 0 },
		.str = { (const uint8_t *)in->str, in->str_len, 0 },
		.relocs = relocs,
		.n_relocs = in->n_kernels,
	};
	struct ws_line_map *map = NULL;
	if (ws_line_create(&input, &map, NULL) != WS_OK)
		exit(1);
	free(relocs);
	return map;
}

static void check(bool condition)
{
	if (!condition) {
		fputs("bench_line: wrong answer\n", stderr);
		exit(1);
	}
}

static void decode(const struct line_input *in)
{
	double memory = peak_mib(), start = now();
	struct ws_line_map *map = map_of(in);
	size_t n;
	check(ws_line_seq_count(map, &n, NULL) == WS_OK && n == in->n_kernels);
	printf("seconds %.6f\nmib %.2f\nbytes %zu\n", now() - start, peak_mib() - memory,
	       in->line_len);
	ws_line_destroy(map);
}

static uint64_t sum_of(const struct ws_line_pos *pos, size_t n)
{
	uint64_t sum = 0;
	for (size_t k = 0; k < n; k++)
		sum += pos[k].line + (pos[k].function != NULL);
	return sum;
}

/* Nanoseconds to look at chains that lie ready, as many as there are different pcs. */
static double floor_of(const struct ws_line_map *map, const uint64_t *pcs)
{
	static struct ws_line_pos ready[LINE_N_HOT][MAX_CHAIN];
	static size_t n_ready[LINE_N_HOT];
	uint64_t sum = 0;
	uint8_t *which = bench_alloc(N_LOOKUPS, 1);
	for (int i = 0; i < N_LOOKUPS; i++) {
		which[i] = (uint8_t)(pcs[i] * UINT64_C(0x9e3779b97f4a7c15) >> 56); /* most differ */
		check(ws_line_find(map, 1, pcs[i], ready[which[i]], MAX_CHAIN, &n_ready[which[i]],
				   NULL) == WS_OK);
	}
	double start = now();
	for (int i = 0; i < N_LOOKUPS; i++)
		sum += sum_of(ready[which[i]], n_ready[which[i]]);
	double seconds = now() - start;
	check(sum > 0);
	free(which);
	return seconds * 1e9 / N_LOOKUPS;
}

/* Chains of pcs drawn from `n_pcs` different ones: 0 for any in the kernel. */
static void lookup(const struct line_input *in, uint32_t n_pcs)
{
	struct ws_line_map *map = map_of(in);
	struct ws_line_seq seq;
	struct ws_line_pos pos[MAX_CHAIN];
	size_t n, n_positions = 0;
	uint64_t sum = 0;
	check(ws_line_owner_seq(map, 1, 0, &seq, NULL) == WS_OK);
	uint64_t *pcs = line_draw_pcs(N_LOOKUPS, n_pcs, seq.low, seq.high);
	double start = now();
	for (int i = 0; i < N_LOOKUPS; i++) {
		check(ws_line_find(map, 1, pcs[i], pos, MAX_CHAIN, &n, NULL) == WS_OK);
		n_positions += n;
		sum += sum_of(pos, n);
	}
	printf("nanoseconds %.2f\npositions %.3f\nsum %llu\n", (now() - start) * 1e9 / N_LOOKUPS,
	       (double)n_positions / N_LOOKUPS, (unsigned long long)sum);
	if (n_pcs)
		printf("floor_nanoseconds %.2f\n", floor_of(map, pcs));
	free(pcs);
	ws_line_destroy(map);
}

static void first(const struct line_input *in)
{
	struct ws_line_pos pos[MAX_CHAIN];
	size_t n;
	double start = now();
	struct ws_line_map *map = map_of(in);
	check(ws_line_find(map, in->n_kernels / 2, 0x100, pos, MAX_CHAIN, &n, NULL) == WS_OK);
	double seconds = now() - start;
	start = now();
	check(ws_line_seq_count(map, &n, NULL) == WS_OK);
	printf("seconds %.6f\nrest_seconds %.6f\n", seconds, now() - start);
	ws_line_destroy(map);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: bench_line decode|lookup|hot|first ROWS [KERNELS]\n", stderr);
		return 2;
	}
	struct line_input in = line_generate((uint32_t)strtoul(argv[2], NULL, 10),
					     argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1);
	if (strcmp(argv[1], "decode") == 0)
		decode(&in);
	else if (strcmp(argv[1], "lookup") == 0)
		lookup(&in, 0);
	else if (strcmp(argv[1], "hot") == 0)
		lookup(&in, LINE_N_HOT);
	else
		first(&in);
	line_free(&in);
	return 0;
}
