/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How soon a device stops: ws_sim_stop() promises a number of instructions, and less where single
 * ones do much. A kernel reads memory of ws_sim_map_lazy(), whose callback asks for the stop amid
 * the run; from there on instructions count. Then the same from another thread.
 */
#include "device.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define MEMORY UINT64_C(0x60000000)
#define PLACES UINT64_C(0x10000) /* from there on, threads of a_stop_changes_nothing() */

enum { BYTES = 1 << 20 };

static struct ws_sim *sim;
static unsigned asks; /* calls of ws_sim_stop() that are to come */
static uint64_t asked_at;

static bool ask_to_stop(void *user, uint64_t address, void *ret_bytes, size_t len)
{
	(void)user, (void)address;
	memset(ret_bytes, 0, len);
	if (asks > 0) {
		asks--;
		asked_at = ws_sim_instructions(sim);
		ws_sim_stop(sim);
	}
	return true;
}

struct loop {
	const char *name, *body;
	uint64_t most; /* instructions from the call to the stop */
	const char *device;
};

static const struct loop loops[] = {
	{ "a loop", "again: IADD3 R5, R5, 0x1, RZ\nBRA `(again)\n", WS_SIM_STOP_INSTRUCTIONS,
	  "sm_90a" },
	{ "one that waits, one that spins",
	  "S2R R6, SR_TID.X\nISETP.GE.AND P0, PT, R6, 0x20, PT\n@P0 BRA `(spin)\n"
	  "BAR.SYNC.DEFER_BLOCKING 0x0\nEXIT\nspin: BRA `(spin)\n",
	  WS_SIM_STOP_INSTRUCTIONS, "sm_90a" },
	{ "a lock that nobody opens",
	  "again: ATOMG.E.CAS.STRONG.GPU PT, R6, [R2], R5, R5\nNANOSLEEP 0x100\nYIELD\n"
	  "BRA `(again)\n",
	  WS_SIM_STOP_INSTRUCTIONS, "sm_90a" },
	{ "textures", "again: TEX.SCR.LL RZ, R5, R4, R6, 0x0, 0x86, 2D, 0x1\nBRA `(again)\n",
	  WS_SIM_STOP_INSTRUCTIONS, "sm_90a" },
	/* 128 KiB each */
	{ "copies of blocks of bytes",
	  "again: UMOV UR8, 0x60080000\nUMOV UR9, 0x0\nUMOV UR10, 0x400\nUMOV UR12, 0x2000\n"
	  "UBLKCP.G.S [UR8], [UR10], UR12\nBRA `(again)\n",
	  9 * 6, "sm_90a" },
	/* 16 * 256 * 16 products by each warp, of which 4 count like a byte */
	{ "products of matrices",
	  "again: HGMMA.64x256x16.F32 R24, gdesc[UR12], R24\nBRA `(again)\n", 2 * 66 + 20,
	  "sm_90a" },
	/* 64 KiB each */
	{ "tiles of a tensor to memory",
	  "ULDC.64 UR8, c[0x0][0x220]\nUMOV UR12, 0x400\nUMOV UR13, URZ\nUMOV UR14, URZ\n"
	  "again: UTMASTG.2D [UR12], [UR8]\nBRA `(again)\n",
	  2 * 17 + 4 * 8, "sm_90a" },
	{ "tiles of a tensor from memory",
	  "ULDC.64 UR8, c[0x0][0x220]\nUMOV UR12, 0x400\nUMOV UR13, 0x30000\nUMOV UR14, URZ\n"
	  "UMOV UR15, URZ\nUMOV UR4, 0x3fff\nUMOV UR5, 0x400\nUMOV UR16, 0x30000\n"
	  "again: SYNCS.EXCH.64 URZ, [UR16], UR4\nUTMALDG.2D [UR12], [UR8]\nBRA `(again)\n",
	  3 * 17 + 4 * 12, "sm_90a" },
	{ "tiles of a tensor added to memory",
	  "ULDC.64 UR8, c[0x0][0x220]\nUMOV UR12, 0x400\nUMOV UR13, URZ\nUMOV UR14, URZ\n"
	  "again: UTMAREDG.2D.ADD [UR12], [UR8]\nBRA `(again)\n",
	  2 * 17 + 4 * 8, "sm_90a" },
	/* 128 KiB each */
	{ "zeros",
	  "UMOV UR4, 0x400\nUMOV UR6, 0x4000\n"
	  "again: UMEMSETS.64 [UR4], URZ, UR6\nBRA `(again)\n",
	  2 * 9 + 4 * 6, "sm_100a" },
	/* 128 * 256 * 16 products, of which 4 count like a byte */
	{ "products of matrices in tensor memory",
	  "S2R R6, SR_TID.X\nISETP.GE.AND P0, PT, R6, 0x20, PT\n@P0 EXIT\nUMOV UR4, 0x10\n"
	  "UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR4, UR4\nUMOV UR10, URZ\nUMOV UR7, 0x8400010\n"
	  "UMOV UR12, 0x80040\nUMOV UR13, 0x4010\n"
	  "again: UTCHMMA gdesc[UR12], gdesc[UR12], tmem[UR10], tmem[UR6], idesc[UR7], UP0\n"
	  "BRA `(again)\n",
	  2 * 9 + 4 * 12, "sm_100a" },
};
enum { N_LOOPS = sizeof loops / sizeof loops[0] };

/* A map of tiles of 256 rows of 64 words, in memory of its own. */
static uint64_t map_make(void)
{
	const struct ws_sim_tensor tensor = { .size = sizeof tensor,
					      .type = WS_SIM_TENSOR_F32,
					      .n_dims = 2,
					      .dims = { 64, 256 },
					      .strides = { 256 },
					      .box = { 64, 256 } };
	struct ws_sim_tensor made = tensor;
	uint8_t map[WS_SIM_TENSOR_MAP_BYTES];
	uint64_t address;
	assert_int_equal(ws_sim_alloc(sim, 64 * 256 * 4, &made.address, NULL), WS_OK);
	assert_int_equal(ws_sim_tensor_map(&made, map, NULL), WS_OK);
	assert_int_equal(ws_sim_alloc(sim, sizeof map, &address, NULL), WS_OK);
	assert_int_equal(ws_sim_write(sim, address, map, sizeof map, NULL), WS_OK);
	return address;
}

/* Launches a loop behind a read of the memory whose callback asks. */
static void launch_loop(const struct loop *loop, enum ws_sim_schedule schedule)
{
	const struct ws_sim_options options = {
		.size = sizeof options, .device = loop->device, .schedule = schedule, .n_sms = 1
	};
	const struct ws_sim_texture texture = {
		.size = sizeof texture,
		.image = { .address = MEMORY,
			   .shape = WS_SIM_IMAGE_2D,
			   .texel = WS_SIM_TEXEL_F32,
			   .n_components = 1,
			   .width = 64,
			   .height = 64 },
		.linear = true,
	};
	uint64_t memory = MEMORY, handle, map;
	char source[2000];
	unsigned bank = strcmp(loop->device, "sm_90a") == 0 ? 0x210 : 0x380;
	assert_int_equal(ws_sim_create(&options, &sim, NULL), WS_OK);
	assert_int_equal(ws_sim_map_lazy(sim, MEMORY, BYTES, ask_to_stop, NULL, NULL), WS_OK);
	assert_int_equal(ws_sim_texture(sim, &texture, &handle, NULL), WS_OK);
	map = map_make();
	snprintf(source, sizeof source,
		 ".arch %s\n.kernel k\n.regs 168\n.barriers 1\n.shared s 200000\n.param m 8\n"
		 ".param t 8\n.param u 8\nLDC.64 R2, c[0x0][0x%x]\nMOV R5, RZ\n"
		 "LDG.E R4, [R2]\n%s.end\n",
		 loop->device, bank, loop->body);
	uint32_t module = load_text(sim, source);
	const void *const args[] = { &memory, &handle, &map };
	struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ 128, 1, 1 }, args);
	launch.n_args = 3;
	assert_int_equal(ws_sim_launch(sim, &launch, NULL), WS_OK);
}

static void a_stop_is_seen_within_its_bound(void **state)
{
	enum ws_sim_outcome outcome;
	(void)state;
	for (size_t i = 0; i < N_LOOPS; i++)
		for (unsigned schedule = 0; schedule <= WS_SIM_ADVERSARIAL; schedule++) {
			struct ws_sim_fault fault = { .text = "" };
			asks = 1;
			launch_loop(&loops[i], (enum ws_sim_schedule)schedule);
			assert_int_equal(ws_sim_run(sim, 1 << 22, &outcome, NULL), WS_OK);
			uint64_t after = ws_sim_instructions(sim) - asked_at;
			(void)ws_sim_fault(sim, &fault);
			if (outcome != WS_SIM_STOPPED || asks != 0 || after > loops[i].most)
				fail_msg("%s, schedule %u: outcome %d, %u instructions later %s",
					 loops[i].name, schedule, (int)outcome, (unsigned)after,
					 fault.text);
			/* it goes on, and the flag is used up */
			assert_int_equal(ws_sim_run(sim, 100, &outcome, NULL), WS_OK);
			assert_int_equal(outcome, WS_SIM_LIMIT);
			ws_sim_destroy(sim);
		}
}

/* A run that was stopped and goes on executes what one does that was not: threads take numbers, in
 * an order that the seed gives, and each writes who has its number. */
static void a_stop_changes_nothing(void **state)
{
	enum { NUMBERS = 0x400 + 128 };
	static const struct loop copies = {
		.body = "S2R R8, SR_TID.X\nMOV R9, 0x4\nagain: UMOV UR8, 0x60080000\n"
			"UMOV UR9, 0x0\nUMOV UR10, 0x400\nUMOV UR12, 0x2000\n"
			"UBLKCP.G.S [UR8], [UR10], UR12\nMOV R6, 0x1\n"
			"ATOMG.E.ADD.STRONG.GPU PT, R7, [R2], R6\nIMAD.WIDE.U32 R10, R7, R9, R2\n"
			"STG.E [R10+0x10000], R8\nISETP.LT.AND P0, PT, R7, 0x400, PT\n"
			"@P0 BRA `(again)\nEXIT\n",
		.device = "sm_90a",
	};
	static uint32_t who[2][NUMBERS];
	uint64_t executed[2];
	(void)state;
	for (unsigned stops = 0; stops < 2; stops++) {
		enum ws_sim_outcome outcome = WS_SIM_STOPPED;
		unsigned runs = 0;
		asks = stops ? 3 : 0; /* for a page each: as copies begin, as they end */
		launch_loop(&copies, WS_SIM_RANDOM);
		for (; outcome == WS_SIM_STOPPED; runs++)
			assert_int_equal(ws_sim_run(sim, 0, &outcome, NULL), WS_OK);
		assert_int_equal(outcome, WS_SIM_DONE);
		assert_int_equal(asks, 0);
		if (stops)
			assert_true(runs > 1);
		assert_int_equal(ws_sim_read(sim, MEMORY + PLACES, who[stops], sizeof who[0], NULL),
				 WS_OK);
		executed[stops] = ws_sim_instructions(sim);
		ws_sim_destroy(sim);
	}
	assert_memory_equal(who[0], who[1], sizeof who[0]);
	assert_int_equal(executed[0], executed[1]);
}

static void *stop_later(void *unused)
{
	const struct timespec moment = { .tv_nsec = 5000000 };
	(void)unused;
	nanosleep(&moment, NULL);
	ws_sim_stop(sim);
	return NULL;
}

static void another_thread_may_stop_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LOOPS; i++) {
		pthread_t thread;
		asks = 0;
		launch_loop(&loops[i], WS_SIM_ROUND_ROBIN);
		assert_int_equal(pthread_create(&thread, NULL, stop_later, NULL), 0);
		assert_int_equal(run_all(sim), WS_SIM_STOPPED); /* else it runs for ever */
		assert_int_equal(pthread_join(thread, NULL), 0);
		ws_sim_destroy(sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_is_seen_within_its_bound),
		cmocka_unit_test(a_stop_changes_nothing),
		cmocka_unit_test(another_thread_may_stop_it),
	};
#ifdef __SANITIZE_THREAD__
	cmocka_set_test_filter(
		"another_thread_*"); /* the others have one, and take a minute there */
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
