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

enum { BYTES = 1 << 20 };

static struct ws_sim *sim;
static uint64_t asked_at;

static bool ask_to_stop(void *user, uint64_t address, void *ret_bytes, size_t len)
{
	(void)user, (void)address;
	memset(ret_bytes, 0, len);
	if (asked_at == 0) {
		asked_at = ws_sim_instructions(sim);
		ws_sim_stop(sim);
	}
	return true;
}

static const struct {
	const char *name, *body;
	uint64_t most; /* instructions from the call to the stop */
} loops[] = {
	{ "a loop", "again: IADD3 R5, R5, 0x1, RZ\nBRA `(again)\n", WS_SIM_STOP_INSTRUCTIONS },
	{ "one that waits, one that spins",
	  "S2R R6, SR_TID.X\nISETP.GE.AND P0, PT, R6, 0x20, PT\n@P0 BRA `(spin)\n"
	  "BAR.SYNC.DEFER_BLOCKING 0x0\nEXIT\nspin: BRA `(spin)\n",
	  WS_SIM_STOP_INSTRUCTIONS },
	{ "a lock that nobody opens",
	  "again: ATOMG.E.CAS.STRONG.GPU PT, R6, [R2], R5, R5\nNANOSLEEP 0x100\nYIELD\n"
	  "BRA `(again)\n",
	  WS_SIM_STOP_INSTRUCTIONS },
	{ "textures", "again: TEX.SCR.LL RZ, R5, R4, R6, 0x0, 0x86, 2D, 0x1\nBRA `(again)\n",
	  WS_SIM_STOP_INSTRUCTIONS },
	/* 128 KiB each */
	{ "copies of blocks of bytes",
	  "again: UMOV UR8, 0x60080000\nUMOV UR9, 0x0\nUMOV UR10, 0x400\nUMOV UR12, 0x2000\n"
	  "UBLKCP.G.S [UR8], [UR10], UR12\nBRA `(again)\n",
	  9 * 6 },
	/* 16 * 256 * 16 products by each warp, of which 4 count like a byte */
	{ "products of matrices",
	  "again: HGMMA.64x256x16.F32 R24, gdesc[UR12], R24\nBRA `(again)\n", 2 * 66 + 20 },
};
enum { N_LOOPS = sizeof loops / sizeof loops[0] };

/* Launches a loop behind a read of the memory whose callback asks. */
static void launch_loop(const char *body, enum ws_sim_schedule schedule)
{
	const struct ws_sim_options options = {
		.size = sizeof options, .device = "sm_90a", .schedule = schedule, .n_sms = 1
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
	uint64_t memory = MEMORY, handle;
	char source[2000];
	assert_int_equal(ws_sim_create(&options, &sim, NULL), WS_OK);
	assert_int_equal(ws_sim_map_lazy(sim, MEMORY, BYTES, ask_to_stop, NULL, NULL), WS_OK);
	assert_int_equal(ws_sim_texture(sim, &texture, &handle, NULL), WS_OK);
	snprintf(source, sizeof source,
		 ".arch sm_90a\n.kernel k\n.regs 168\n.barriers 1\n.shared s 200000\n.param m 8\n"
		 ".param t 8\nMOV R2, c[0x0][0x210]\nMOV R3, c[0x0][0x214]\nMOV R5, RZ\n"
		 "LDG.E R4, [R2]\n%s.end\n",
		 body);
	uint32_t module = load_text(sim, source);
	const void *const args[] = { &memory, &handle };
	struct ws_sim_launch launch = launch_of(module, (struct ws_dim3){ 128, 1, 1 }, args);
	launch.n_args = 2;
	assert_int_equal(ws_sim_launch(sim, &launch, NULL), WS_OK);
}

static void a_stop_is_seen_within_its_bound(void **state)
{
	enum ws_sim_outcome outcome;
	(void)state;
	for (size_t i = 0; i < N_LOOPS; i++)
		for (unsigned schedule = 0; schedule <= WS_SIM_ADVERSARIAL; schedule++) {
			asked_at = 0;
			launch_loop(loops[i].body, (enum ws_sim_schedule)schedule);
			assert_int_equal(ws_sim_run(sim, 1 << 22, &outcome, NULL), WS_OK);
			uint64_t after = ws_sim_instructions(sim) - asked_at;
			if (outcome != WS_SIM_STOPPED || asked_at == 0 || after > loops[i].most)
				fail_msg("%s, schedule %u: outcome %d, %u instructions later",
					 loops[i].name, schedule, (int)outcome, (unsigned)after);
			/* it goes on, and the flag is used up */
			assert_int_equal(ws_sim_run(sim, 100, &outcome, NULL), WS_OK);
			assert_int_equal(outcome, WS_SIM_LIMIT);
			ws_sim_destroy(sim);
		}
}

/* A run that was stopped and goes on executes what one does that was not. */
static void a_stop_changes_nothing(void **state)
{
	uint64_t words[2][64];
	(void)state;
	for (unsigned stops = 0; stops < 2; stops++) {
		enum ws_sim_outcome outcome = WS_SIM_STOPPED;
		asked_at = !stops;
		launch_loop("again: UMOV UR8, 0x60080000\nUMOV UR9, 0x0\nUMOV UR10, 0x400\n"
			    "UMOV UR12, 0x2000\nUBLKCP.G.S [UR8], [UR10], UR12\n"
			    "MOV R6, 0x1\nATOMG.E.ADD.STRONG.GPU PT, R7, [R2], R6\n"
			    "ISETP.LT.AND P0, PT, R7, 0x800, PT\n@P0 BRA `(again)\nEXIT\n",
			    WS_SIM_RANDOM);
		for (unsigned runs = 0; outcome == WS_SIM_STOPPED; runs++) {
			assert_int_equal(ws_sim_run(sim, 0, &outcome, NULL), WS_OK);
			assert_true(runs < 2);
		}
		assert_int_equal(outcome, WS_SIM_DONE);
		assert_int_equal(ws_sim_read(sim, MEMORY, words[stops], sizeof words[0], NULL),
				 WS_OK);
		words[stops][63] = ws_sim_instructions(sim);
		ws_sim_destroy(sim);
	}
	assert_memory_equal(words[0], words[1], sizeof words[0]);
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
		asked_at = 1; /* the callback does not */
		launch_loop(loops[i].body, WS_SIM_ROUND_ROBIN);
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
	return cmocka_run_group_tests(tests, NULL, NULL);
}
