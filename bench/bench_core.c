/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-core DUMP...: how fast dumps open, are walked and looked into, as multiples of the floor
 * programs in floor/. In-process, warm cache, best of 7 alternating runs.
 */
#include <warpscope/core.h>

#include "bench.h"
#include "floor/floor.h"

enum { LOOKUPS = 200000 };

static uint64_t sink; /* keeps the compiler from dropping what is measured */

static struct ws_target *open_dump(const char *path)
{
	struct ws_target *target = NULL;
	struct ws_error err;
	must(ws_core_open(path, NULL, &target, &err), &err);
	return target;
}

static void walk(const struct ws_target *target)
{
	struct ws_counts n;
	struct ws_error err;
	ws_target_counts(target, &n);
	for (uint32_t w = 0; w < n.warps; w++) {
		struct ws_warp warp;
		struct ws_lane lanes[WS_MAX_LANES];
		uint32_t n_lanes, values[256], got;
		struct ws_return_address frames[16];
		must(ws_target_warp(target, w, &warp, &err), &err);
		must(ws_target_lanes(target, w, lanes, &n_lanes, &err), &err);
		for (uint32_t l = 0; l < n_lanes; l++) {
			uint32_t id = lanes[l].id;
			sink += lanes[l].pc;
			must(ws_target_registers(target, w, id, WS_REG_R, 0, 256, values, &got,
						 &err),
			     &err);
			sink += values[got - 1];
			must(ws_target_registers(target, w, id, WS_REG_P, 0, 8, values, &got, &err),
			     &err);
			sink += values[got - 1];
			must(ws_target_call_stack(target, w, id, frames, 16, &got, &err), &err);
			sink += got;
		}
	}
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void lookups(const struct ws_target *target)
{
	struct ws_counts n;
	struct ws_error err;
	uint32_t state = 1;
	ws_target_counts(target, &n);
	for (unsigned i = 0; i < LOOKUPS; i++) {
		uint32_t warp = next_random(&state) % n.warps, lane = next_random(&state) % 32;
		uint32_t value, got;
		struct ws_lane about;
		must(ws_target_lane(target, warp, lane, &about, &err), &err);
		must(ws_target_registers(target, warp, lane, WS_REG_R, 4, 1, &value, &got, &err),
		     &err);
		sink += about.pc + value;
	}
}

static void floor_lookups(const struct floor_arrays *arrays)
{
	uint32_t state = 1;
	for (unsigned i = 0; i < LOOKUPS; i++) {
		size_t warp = next_random(&state) % (arrays->n_lanes / 32);
		size_t lane = next_random(&state) % 32;
		sink += arrays->pc[warp * 32 + lane] + arrays->regs[warp * 32 + lane][4];
	}
}

static void bench_open(const char *path, struct times *times, double *ret_close)
{
	for (int run = 0; run < RUNS; run++) {
		times->floor[run] = floor_open_time(path);
		double start = now();
		struct ws_target *target = open_dump(path);
		times->ours[run] = now() - start;
		start = now();
		ws_target_close(target);
		ret_close[run] = now() - start;
	}
}

static void bench_walk(const char *path, struct times *times)
{
	struct floor_file file;
	if (!floor_map(path, &file))
		exit(1);
	struct ws_target *target = open_dump(path);
	for (int run = 0; run < RUNS; run++) {
		double start = now();
		sink += floor_walk(&file);
		times->floor[run] = now() - start;
		start = now();
		walk(target);
		times->ours[run] = now() - start;
	}
	ws_target_close(target);
	floor_unmap(&file);
}

static void bench_lookups(const char *path, struct times *times)
{
	struct floor_file file;
	struct floor_arrays arrays;
	if (!floor_map(path, &file) || !floor_arrays_make(&file, &arrays))
		exit(1);
	struct ws_target *target = open_dump(path);
	for (int run = 0; run < RUNS; run++) {
		double start = now();
		floor_lookups(&arrays);
		times->floor[run] = now() - start;
		start = now();
		lookups(target);
		times->ours[run] = now() - start;
	}
	ws_target_close(target);
	floor_arrays_free(&arrays);
	floor_unmap(&file);
}

static void bench(const char *path)
{
	struct times times;
	double close[RUNS];
	struct ws_counts n;
	long before = private_dirty();
	struct ws_target *target = open_dump(path);
	long dirty = private_dirty() - before;
	uint32_t sections = ws_core_n_sections(ws_target_core(target));
	ws_target_counts(target, &n);
	ws_target_close(target);
	printf("%s: %u sections, %u warps\n", path, sections, n.warps);
	bench_open(path, &times, close);
	print_ratio("open", &times, full_size_limit(2, n.warps), 1e3, "ms");
	printf("  %-10s %.3f ms\n", "close", best(close) * 1e3);
	double bytes = (double)dirty * 1024 / sections;
	printf("  %-10s %ld kB, %.1f bytes a section (at most 40) %s\n", "private", dirty, bytes,
	       bytes <= 40 || dirty < 256 ? "good" : "TOO MUCH");
	bench_walk(path, &times);
	print_ratio("walk", &times, full_size_limit(4, n.warps), 1e3, "ms");
	bench_lookups(path, &times);
	print_ratio("look-up", &times, full_size_limit(10, n.warps), 1e9 / LOOKUPS, "ns");
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		bench(argv[i]);
	return sink == 42;
}
