/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of the software GPU: what they keep, what they refuse, and that each allocation may
 * fail. That they give the same run again: tests/sim/rewind.c. */
#include "unit.h"

#include <warpscope/sim.h>

enum { WORDS = 1 << 16, HALFWAY = 3000 };

static struct ws_sim *device_make(const char *file)
{
	static uint8_t image[1 << 21];
	char path[512];
	struct ws_sim *sim;
	const struct ws_sim_options options = { .size = sizeof options, .n_sms = 2 };
	assert_true(wsi_format(path, "%s/%s.fatbin", getenv("WS_TEST_SIM"), file));
	FILE *in = fopen(path, "rb");
	assert_non_null(in);
	struct ws_span bytes = { image, fread(image, 1, sizeof image, in), 0 };
	fclose(in);
	assert_int_equal(ws_sim_create(&options, &sim, NULL), WS_OK);
	assert_int_equal(ws_sim_load(sim, bytes, NULL, NULL), WS_OK);
	return sim;
}

static uint64_t buffer_make(struct ws_sim *sim, uint32_t first, size_t n)
{
	static uint32_t words[WORDS];
	uint64_t address;
	for (size_t i = 0; i < n; i++)
		words[i] = first + (uint32_t)i;
	assert_int_equal(ws_sim_alloc(sim, 4 * n, &address, NULL), WS_OK);
	assert_int_equal(ws_sim_write(sim, address, words, 4 * n, NULL), WS_OK);
	return address;
}

static void launch(struct ws_sim *sim, const char *kernel, uint32_t blocks, const void *const *args,
		   size_t n_args)
{
	const struct ws_sim_launch what = {
		.size = sizeof what,
		.kernel = kernel,
		.grid = { blocks, 1, 1 },
		.block = { 64, 1, 1 },
		.args = args,
		.n_args = n_args,
	};
	assert_int_equal(ws_sim_launch(sim, &what, NULL), WS_OK);
}

static enum ws_sim_outcome run(struct ws_sim *sim, uint64_t n)
{
	enum ws_sim_outcome outcome;
	assert_int_equal(ws_sim_run(sim, n, &outcome, NULL), WS_OK);
	return outcome;
}

static uint32_t word_at(struct ws_sim *sim, uint64_t address)
{
	uint8_t bytes[4];
	assert_int_equal(ws_sim_read(sim, address, bytes, 4, NULL), WS_OK);
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* ---- memory ---- */

static void allocations_and_bytes_come_back(void **state)
{
	(void)state;
	struct ws_sim *sim = device_make("memory.O3");
	uint64_t first = buffer_make(sim, 1, WORDS), second, third;
	struct ws_sim_snapshot *snapshot;
	assert_int_equal(ws_sim_snapshot(sim, &snapshot, NULL), WS_OK);
	uint64_t bytes = ws_sim_snapshot_bytes(snapshot);
	assert_true(bytes < 1 << 14); /* nothing was changed yet */
	second = buffer_make(sim, 7, 100);
	assert_int_equal(ws_sim_write(sim, first, "abcd", 4, NULL), WS_OK);
	assert_true(ws_sim_snapshot_bytes(snapshot) >= bytes + 65536); /* one page of four */
	assert_true(ws_sim_snapshot_bytes(snapshot) < bytes + 2 * 65536);
	assert_int_equal(ws_sim_free(sim, first, NULL), WS_OK);
	assert_true(ws_sim_snapshot_bytes(snapshot) >= bytes + 4 * WORDS);

	assert_int_equal(ws_sim_restore(sim, snapshot, NULL), WS_OK);
	for (uint32_t i = 0; i < WORDS; i += 1000)
		assert_int_equal(word_at(sim, first + 4 * i), 1 + i);
	assert_int_equal(ws_sim_read(sim, second, &third, 4, NULL), WS_ARGUMENT);
	assert_int_equal(ws_sim_alloc(sim, 400, &third, NULL), WS_OK);
	assert_int_equal(third, second); /* as it was the first time */

	assert_int_equal(ws_sim_write(sim, first, "abcd", 4, NULL), WS_OK);
	assert_int_equal(ws_sim_restore(sim, snapshot, NULL), WS_OK);
	assert_int_equal(word_at(sim, first), 1);
	ws_sim_snapshot_free(snapshot);
	assert_int_equal(word_at(sim, first + 4 * 70), 71);
	ws_sim_destroy(sim);
}

static unsigned fetches;

static bool fetch(void *user, uint64_t address, void *ret_bytes, size_t len)
{
	(void)user;
	fetches++;
	memset(ret_bytes, (int)(address >> 16 & 0xff), len);
	return true;
}

static void mapped_memory_stays_and_lazy_memory_is_kept(void **state)
{
	(void)state;
	static uint8_t mine[256];
	const uint64_t mapped = UINT64_C(0x100000000), lazy = UINT64_C(0x200010000);
	struct ws_sim *sim = device_make("memory.O3");
	struct ws_sim_snapshot *snapshot;
	assert_int_equal(ws_sim_map(sim, mapped, mine, sizeof mine, NULL), WS_OK);
	assert_int_equal(ws_sim_map_lazy(sim, lazy, 2 << 16, fetch, NULL, NULL), WS_OK);
	assert_int_equal(word_at(sim, lazy), 0x01010101);
	assert_int_equal(ws_sim_snapshot(sim, &snapshot, NULL), WS_OK);
	assert_int_equal(ws_sim_write(sim, mapped, "abcd", 4, NULL), WS_OK);
	assert_int_equal(ws_sim_write(sim, lazy, "abcd", 4, NULL), WS_OK);
	assert_memory_equal(mine, "abcd", 4);
	assert_int_equal(ws_sim_restore(sim, snapshot, NULL), WS_OK);
	assert_memory_equal(mine, "abcd", 4);
	fetches = 0;
	assert_int_equal(word_at(sim, lazy), 0x01010101);
	assert_int_equal(fetches, 0);
	assert_int_equal(word_at(sim, lazy + (1 << 16)), 0x02020202);
	assert_int_equal(fetches, 1);
	ws_sim_snapshot_free(snapshot);
	ws_sim_destroy(sim);
}

/* ---- refusals ---- */

static void what_cannot_be_restored_is_refused(void **state)
{
	(void)state;
	struct ws_sim *sim = device_make("memory.O3"), *other = device_make("memory.O3");
	struct ws_sim_snapshot *snapshot;
	struct ws_error err;
	struct ws_span image;
	assert_int_equal(ws_sim_snapshot(sim, &snapshot, NULL), WS_OK);
	assert_int_equal(ws_sim_restore(other, snapshot, &err), WS_ARGUMENT);
	assert_non_null(strstr(err.message, "CUDA_ERROR_INVALID_VALUE"));
	assert_int_equal(ws_sim_module_image(other, 0, &image, NULL), WS_OK);
	uint64_t kept = buffer_make(sim, 5, 1);
	assert_int_equal(ws_sim_load(sim, image, NULL, NULL), WS_OK);
	assert_int_equal(ws_sim_restore(sim, snapshot, &err), WS_UNSUPPORTED);
	assert_non_null(strstr(err.message, "CUDA_ERROR_NOT_SUPPORTED"));
	assert_int_equal(word_at(sim, kept), 5);
	ws_sim_snapshot_free(snapshot);
	ws_sim_snapshot_free(NULL);
	ws_sim_destroy(other);
	ws_sim_destroy(sim);
}

/* ---- memory of the host ---- */

static unsigned allocations, failing;

static bool fails_at_its_turn(void)
{
	return allocations++ == failing;
}

static enum ws_status attempt(struct ws_sim *sim, struct ws_sim_snapshot **snapshot, bool restore)
{
	allocations = 0;
	wsi_alloc_should_fail = fails_at_its_turn;
	enum ws_status st = restore ? ws_sim_restore(sim, *snapshot, NULL)
				    : ws_sim_snapshot(sim, snapshot, NULL);
	wsi_alloc_should_fail = NULL;
	return st;
}

static void fail_in_turn(struct ws_sim *sim, uint64_t out, uint32_t n)
{
	struct ws_sim_snapshot *snapshot = NULL, *before;
	assert_int_equal(run(sim, HALFWAY), WS_SIM_LIMIT);
	assert_int_equal(ws_sim_snapshot(sim, &before, NULL), WS_OK);
	for (failing = 0; attempt(sim, &snapshot, false) != WS_OK; failing++)
		assert_null(snapshot);
	assert_true(failing > 20);
	assert_int_equal(run(sim, 0), WS_SIM_DONE);
	uint32_t results[64];
	for (uint32_t i = 0; i < n; i++)
		results[i] = word_at(sim, out + 4 * i);
	uint64_t end = ws_sim_instructions(sim);
	for (failing = 0; attempt(sim, &snapshot, true) != WS_OK; failing++)
		assert_int_equal(ws_sim_instructions(sim), end); /* it is as it was */
	assert_true(failing > 20);
	assert_int_equal(ws_sim_instructions(sim), HALFWAY);
	assert_int_equal(run(sim, 0), WS_SIM_DONE);
	assert_int_equal(ws_sim_instructions(sim), end);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(results[i], word_at(sim, out + 4 * i));
	ws_sim_snapshot_free(snapshot);
	ws_sim_snapshot_free(before);
	ws_sim_destroy(sim);
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	const uint32_t n = 64;
	struct ws_sim *sim = device_make("diverge.G");
	uint64_t out = buffer_make(sim, 0, 64);
	launch(sim, "deep_recursion", 1, (const void *const[]){ &out, &n }, 2);
	launch(sim, "recursion", 1, (const void *const[]){ &out, &n }, 2);
	fail_in_turn(sim, out, n);
	sim = device_make("cluster.G");
	out = buffer_make(sim, 0, 4096);
	uint64_t in = buffer_make(sim, 0, 4096);
	launch(sim, "cluster_ring", 8, (const void *const[]){ &out, &in }, 2);
	fail_in_turn(sim, out, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocations_and_bytes_come_back),
		cmocka_unit_test(mapped_memory_stays_and_lazy_memory_is_kept),
		cmocka_unit_test(what_cannot_be_restored_is_refused),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
