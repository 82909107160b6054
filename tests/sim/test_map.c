/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a software GPU has from its caller: bytes of the caller, and bytes that are fetched
 * when they are needed, from a function or from a dump. usage: test_map DUMP
 */
#include "device.h"

#include <stdlib.h>

#include <warpscope/core.h>
#include <warpscope/target.h>

static const char *dump_path;
static struct ws_sim *sim;
static struct ws_error err;

static int close_device(void **state)
{
	(void)state;
	ws_sim_destroy(sim);
	sim = NULL;
	return 0;
}

enum { MAPPED = 3 << 16, LAZY = 1 << 17 };

/* Byte k is k / 256; the second page is not recorded. */
static bool fetch(void *user, uint64_t address, void *ret_bytes, size_t len)
{
	uint64_t off = address - 0x60000000;
	++*(unsigned *)user;
	if (off >= LAZY / 2)
		return false;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)ret_bytes)[i] = (uint8_t)((off + i) >> 8);
	return true;
}

static void memory_of_the_caller_is_mapped(void **state)
{
	(void)state;
	sim = device_of("sm_80");
	uint8_t *own = calloc(1, MAPPED);
	unsigned fetched = 0;
	uint8_t byte;
	assert_non_null(own);
	own[70000] = 99;
	assert_int_equal(ws_sim_map(sim, 0x50000001, own, MAPPED, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "CUDA_ERROR_INVALID_VALUE: 0x50000001 is not aligned");
	assert_int_equal(ws_sim_map(sim, 0x50000000, own, MAPPED, NULL), WS_OK);
	assert_int_equal(ws_sim_map(sim, 0x50000000 + MAPPED - 256, own, 256, &err), WS_ARGUMENT);
	assert_non_null(strstr(err.message, "256 bytes at 0x5002ff00 are not free"));
	assert_int_equal(ws_sim_map(sim, 0x50000000 - 256, own, 257, NULL), WS_ARGUMENT);
	assert_int_equal(ws_sim_read(sim, 0x50000000 + 70000, &byte, 1, NULL), WS_OK);
	assert_int_equal(byte, 99);
	byte = 77;
	assert_int_equal(ws_sim_write(sim, 0x50000000 + MAPPED - 1, &byte, 1, NULL), WS_OK);
	assert_int_equal(own[MAPPED - 1], 77);
	assert_int_equal(ws_sim_read(sim, 0x50000000 + MAPPED, &byte, 1, NULL), WS_ARGUMENT);

	assert_int_equal(ws_sim_map_lazy(sim, 0x60000080, LAZY, fetch, &fetched, NULL),
			 WS_ARGUMENT);
	assert_int_equal(ws_sim_map_lazy(sim, 0x60000000, LAZY, NULL, &fetched, NULL), WS_ARGUMENT);
	assert_int_equal(ws_sim_map_lazy(sim, 0x60000000, LAZY, fetch, &fetched, NULL), WS_OK);
	assert_int_equal(fetched, 0);
	assert_int_equal(ws_sim_read(sim, 0x60000000 + 0x1234, &byte, 1, NULL), WS_OK);
	assert_int_equal(byte, 0x12);
	assert_int_equal(ws_sim_read(sim, 0x60000000 + 0x1334, &byte, 1, NULL), WS_OK);
	assert_int_equal(byte, 0x13);
	assert_int_equal(fetched, 1); /* once a page */
	assert_int_equal(ws_sim_read(sim, 0x60000000 + LAZY / 2, &byte, 1, NULL), WS_ARGUMENT);
	assert_int_equal(ws_sim_free(sim, 0x50000000, NULL), WS_OK);
	assert_int_equal(ws_sim_free(sim, 0x60000000, NULL), WS_OK);
	assert_int_equal(own[70000], 99);
	free(own);
}

/* What the caller placed where the heap comes to is gone around. */
static void the_heap_goes_around_what_is_mapped(void **state)
{
	static uint8_t own[2][4096];
	uint64_t at[8], step;
	(void)state;
	sim = device_of("sm_80");
	assert_int_equal(ws_sim_alloc(sim, 4096, &at[0], NULL), WS_OK);
	assert_int_equal(ws_sim_alloc(sim, 4096, &at[1], NULL), WS_OK);
	step = at[1] - at[0];
	for (unsigned i = 0; i < 2; i++) /* where the next one and the one behind it would be */
		assert_int_equal(ws_sim_map(sim, at[1] + (i + 1) * step, own[i], 4096, NULL),
				 WS_OK);
	for (unsigned i = 2; i < 8; i++) {
		uint8_t bytes[4096];
		memset(bytes, (int)i, sizeof bytes);
		assert_int_equal(ws_sim_alloc(sim, 4096, &at[i], NULL), WS_OK);
		assert_true(at[i] >= at[i - 1] + 4096);
		assert_int_equal(ws_sim_write(sim, at[i], bytes, 4096, NULL), WS_OK);
	}
	assert_true(at[2] >= at[1] + 2 * step + 4096);
	for (unsigned i = 0; i < 4096; i++)
		assert_true(own[0][i] == 0 && own[1][i] == 0);
}

/* ---- from a dump ---- */

struct source {
	const struct ws_target *target;
	unsigned n_fetched;
};

static bool fetch_recorded(void *user, uint64_t address, void *ret_bytes, size_t len)
{
	struct source *source = user;
	const struct ws_address at = { .space = WS_SPACE_GLOBAL,
				       .device_index = 0,
				       .grid_index = WS_NONE,
				       .warp_index = WS_NONE,
				       .lane = WS_NONE,
				       .address = address };
	size_t n;
	source->n_fetched++;
	return ws_target_read_memory(source->target, &at, ret_bytes, len, &n, NULL) == WS_OK;
}

/* Adds up `n` words and overwrites them with zeros; their addresses have no carry. */
static const char sums[] = ".arch sm_80\n.kernel k\n.param from 8\n.param out 8\n.param n 4\n"
			   ".regs 24\n"
			   "MOV R2, c[0x0][`(from)]\nMOV R3, c[0x0][`(from+4)]\n"
			   "MOV R4, c[0x0][`(n)]\nMOV R5, RZ\nMOV R9, RZ\n"
			   "again:\n"
			   "LDG.E R6, [R2.64]\nIADD3 R5, R5, R6, RZ\n"
			   "STG.E [R2.64], R9\n"
			   "IADD3 R2, R2, 0x4, RZ\nIADD3 R4, R4, -0x1, RZ\n"
			   "ISETP.NE.AND P0, PT, R4, RZ, PT\n@P0 BRA `(again)\n"
			   "MOV R2, c[0x0][`(out)]\nMOV R3, c[0x0][`(out+4)]\n"
			   "STG.E [R2.64], R5\nEXIT\n.end\n";

/* What a kernel adds up that reads a range of the dump, and writes zeros there. */
static uint32_t sum_of(uint32_t module, uint64_t from, uint32_t n)
{
	uint64_t out;
	uint32_t sum;
	const void *const args[] = { &from, &out, &n };
	assert_int_equal(ws_sim_alloc(sim, sizeof sum, &out, NULL), WS_OK);
	struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ 1, 1, 1 }, args);
	launch.n_args = 3;
	assert_int_equal(ws_sim_launch(sim, &launch, &err), WS_OK);
	assert_int_equal(run_all(sim), WS_SIM_DONE);
	assert_int_equal(ws_sim_read(sim, out, &sum, sizeof sum, NULL), WS_OK);
	return sum;
}

static void memory_of_a_dump_is_read_when_it_is_needed(void **state)
{
	(void)state;
	struct ws_target *target;
	struct ws_memory_range range;
	unsigned n_ranges = 0;
	if (ws_core_open(dump_path, NULL, &target, &err) != WS_OK)
		fail_msg("%s", err.message);
	sim = device_of("sm_80");
	uint32_t module = load_text(sim, sums);
	struct source source = { .target = target };
	for (uint32_t i = 0; ws_target_memory_range(target, i, &range, NULL) == WS_OK; i++) {
		if (range.space != WS_SPACE_GLOBAL)
			continue;
		assert_int_equal(ws_sim_map_lazy(sim, range.start, range.size, fetch_recorded,
						 &source, &err),
				 WS_OK);
		assert_int_equal(source.n_fetched, n_ranges); /* nothing of this one */
		uint32_t *words = calloc(range.size / 4, 4), sum = 0, n = (uint32_t)range.size / 4;
		assert_non_null(words);
		assert_true(fetch_recorded(&source, range.start, words, n * 4));
		for (uint32_t k = 0; k < n; k++)
			sum += words[k];
		source.n_fetched = n_ranges;
		assert_int_equal(sum_of(module, range.start, n), sum);
		assert_int_equal(source.n_fetched, ++n_ranges); /* one page each */
		uint32_t again;
		assert_int_equal(ws_sim_read(sim, range.start, &again, 4, NULL), WS_OK);
		assert_int_equal(again, 0); /* the page is the device's now, the dump as it was */
		assert_true(fetch_recorded(&source, range.start, &again, 4));
		assert_int_equal(again, words[0]);
		source.n_fetched = n_ranges;
		free(words);
	}
	assert_true(n_ranges >= 2);
	ws_target_close(target);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(memory_of_the_caller_is_mapped, close_device),
		cmocka_unit_test_teardown(the_heap_goes_around_what_is_mapped, close_device),
		cmocka_unit_test_teardown(memory_of_a_dump_is_read_when_it_is_needed, close_device),
	};
	if (argc > 1)
		dump_path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
