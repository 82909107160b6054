/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that history takes on a software GPU. That it gives the same states again:
 * tests/api/live_engine.c. */
#include <malloc.h>

#include "unit.h"

#include <warpscope/assemble.h>
#include <warpscope/sim.h>

#include "sim/debug/debug.h"
#include "sim/history/history.h"

enum { PAGE = 1 << 16, PAGES = 1024, BOUND = 8 << 20, STATE = 1 << 19 };

static void run(struct ws_sim *sim, uint64_t n)
{
	enum ws_sim_outcome outcome;
	assert_int_equal(ws_sim_run(sim, n, &outcome, NULL), WS_OK);
	assert_int_equal(outcome, WS_SIM_LIMIT);
}

/* A warp that writes a word of one page after the other, over and over, as often as it counts up to
 * ROUNDS. */
static struct ws_sim *device_dirtying(uint32_t rounds)
{
	static const char text[] = ".arch sm_90a\n.kernel dirty\n.param at 8\n.param rounds 4\n"
				   "MOV R2, c[0x0][`(at)]\nMOV R3, c[0x0][`(at+4)]\n"
				   "MOV R9, c[0x0][`(rounds)]\nMOV R6, 0x0\nMOV R8, 0x10000\n"
				   "next: LOP3.LUT R7, R6, 0x3ff, RZ, 0xc0, !PT\n"
				   "IMAD.WIDE.U32 R4, R7, R8, R2\n"
				   "MOV R10, 0x0\n"
				   "spin: IADD3 R10, R10, 0x1, RZ\n"
				   "ISETP.LT.U32.AND P0, PT, R10, R9, PT\n"
				   "@P0 BRA `(spin)\n"
				   "ST.E [R4], R6\nIADD3 R6, R6, 0x1, RZ\nBRA `(next)\n.end\n";
	struct ws_assembly *assembly;
	struct ws_sim *sim;
	uint64_t at;
	const struct ws_sim_options options = { .size = sizeof options, .n_sms = 1 };
	assert_int_equal(ws_assemble(ws_str_of(text), NULL, &assembly, NULL), WS_OK);
	assert_int_equal(ws_sim_create(&options, &sim, NULL), WS_OK);
	assert_int_equal(ws_sim_load(sim, ws_assembly_image(assembly), NULL, NULL), WS_OK);
	ws_assembly_destroy(assembly);
	assert_int_equal(ws_sim_alloc(sim, (uint64_t)PAGES * PAGE, &at, NULL), WS_OK);
	for (uint64_t i = 0; i < PAGES; i++)
		assert_int_equal(ws_sim_write(sim, at + i * PAGE, "here", 4, NULL), WS_OK);
	const struct ws_sim_launch what = {
		.size = sizeof what,
		.kernel = "dirty",
		.grid = { 1, 1, 1 },
		.block = { 32, 1, 1 },
		.args = (const void *const[]){ &at, &rounds },
		.n_args = 2,
	};
	assert_int_equal(ws_sim_launch(sim, &what, NULL), WS_OK);
	run(sim, 1000);
	return sim;
}

static uint64_t heap_in_use(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

/* Whether it tells of the heap that the library takes: not where a sanitizer has it. */
static bool is_heap_told(void)
{
	uint64_t empty = heap_in_use();
	void *some = wsi_zalloc(BOUND);
	bool is_told = heap_in_use() >= empty + BOUND;
	wsi_free(some);
	return is_told;
}

/* As the target's worker does it. */
static void run_with_history(struct ws_sim *sim, uint64_t n)
{
	wsi_history_begin(sim, true);
	run(sim, wsi_min_u64(n, wsi_history_room(sim)));
	wsi_history_ran(sim);
}

/* Whatever a kernel changes, and at whatever rate, history takes no more than it may: by what the
 * C library says that is in use. */
static void history_keeps_to_its_bound(void **state)
{
	(void)state;
	static const uint32_t rounds[] = { 1, 300, 20000 };
	for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
		struct ws_sim *sim = device_dirtying(rounds[i]);
		uint64_t before = heap_in_use(), most = 0, n_found = 0;
		struct wsi_history_found found;
		const struct wsi_history_search search = { .what = WSI_BACK_LANE,
							   .who = { .grid = 1 } };
		assert_int_equal(wsi_stub_attach(sim, NULL), WS_OK);
		assert_int_equal(wsi_history_keep(sim, BOUND, NULL), WS_OK);
		for (unsigned k = 0; k < 240; k++) {
			run_with_history(sim, i == 0 ? 5000 : 50000);
			uint64_t now = heap_in_use();
			most = wsi_max_u64(most, now > before ? now - before : 0);
			if (k % 40 != 39)
				continue;
			uint64_t position = wsi_position(sim);
			assert_int_equal(wsi_history_back(sim, &search, &found, NULL), WS_OK);
			n_found += found.any && wsi_position(sim) == position - 1;
			assert_true(found.n_again <= WSI_HISTORY_INTERVAL);
			now = heap_in_use();
			most = wsi_max_u64(most, now > before ? now - before : 0);
		}
		if (most > BOUND + STATE || (i < 2 && most < BOUND / 2))
			fail_msg("history took %llu bytes, of %d", (unsigned long long)most, BOUND);
		assert_true(i > 0 ? n_found == 6 : n_found > 0);
		wsi_history_fini(sim);
		wsi_stub_detach(sim);
		ws_sim_destroy(sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(history_keeps_to_its_bound),
	};
	if (!is_heap_told()) {
		puts("1..0 # SKIP a sanitizer has the heap");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
