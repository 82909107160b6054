/* SPDX-License-Identifier: Apache-2.0 */
/* What no device has, through the waist over one that runs: watchpoints, going back. */
#include "live.h"

#include <stdlib.h>

/* ---- a target that runs to its stops ---- */

/* Goes on; false: all has ended. */
static bool go(void)
{
	struct ws_event event;
	assert_int_equal(ws_target_resume(device.target, WS_NONE, NULL), WS_OK);
	for (;;) {
		if (ws_target_next_event(device.target, &event, NULL) != WS_OK)
			doze();
		else if (event.kind == WS_EVENT_STOPPED)
			break;
		else if (event.kind == WS_EVENT_GRID_FINISHED)
			return false;
	}
	assert_int_equal(ws_target_update(device.target, NULL), WS_OK);
	return true;
}

static void begin_here(const char *kernel, unsigned blocks, unsigned threads, const uint64_t *more,
		       size_t n_more)
{
	uint64_t args[8];
	size_t n = 0;
	device_open(&device, kernels, 4);
	args[n++] = device.out;
	args[n++] = device.in;
	for (size_t i = 0; i < n_more; i++)
		args[n++] = more[i];
	device_launch(&device, kernel, blocks, threads, args, n);
	device_debug(&device);
	assert_int_equal(ws_target_want(device.target, WS_WANT_STOPS, NULL), WS_OK);
}

static uint32_t watch(uint64_t address, uint64_t size, uint32_t kinds)
{
	const struct ws_watch watch = {
		.at = { .space = WS_SPACE_GLOBAL, .address = address },
		.size_bytes = size,
		.kinds = kinds,
	};
	uint32_t number;
	assert_int_equal(ws_target_watch(device.target, &watch, &number, NULL), WS_OK);
	return number;
}

static uint32_t hits(void)
{
	struct ws_watch_hit hit;
	uint32_t n = 0;
	while (ws_target_watch_hit(device.target, n, &hit, NULL) == WS_OK)
		n++;
	return n;
}

/* ---- watchpoints ---- */

static void only_a_write_that_changes_is_a_change(void **state)
{
	(void)state;
	struct ws_watch_hit hit;
	begin_here("faults", 1, 64, (const uint64_t[]){ UINT32_MAX }, 1); /* out[i] = i, = in[i] */
	uint32_t first = watch(device.out, 4, WS_WATCH_CHANGE);           /* 0 over 0, twice */
	uint32_t second = watch(device.out + 4, 4, WS_WATCH_CHANGE);
	uint32_t third = watch(device.out, 4, WS_WATCH_WRITE);
	assert_true(first < second && second < third);
	assert_true(go());
	assert_int_equal(hits(), 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ws_target_watch_hit(device.target, i, &hit, NULL), WS_OK);
		assert_true(hit.number == second || hit.number == third);
		assert_int_equal(hit.lanes, hit.number == second ? 2 : 1);
		assert_int_equal(hit.lane, hit.number == second);
		assert_int_equal(hit.address, device.out + (hit.number == second ? 4u : 0u));
		assert_int_equal(hit.n, 4);
		assert_int_equal(hit.before[0], 0);
		assert_int_equal(hit.now[0], hit.number == second);
		assert_int_equal(hit.kinds,
				 WS_WATCH_WRITE | (hit.number == second ? WS_WATCH_CHANGE : 0));
	}
	assert_true(go()); /* back to 0 */
	assert_int_equal(hits(), 2);
	assert_int_equal(ws_target_unwatch(device.target, third, NULL), WS_OK);
	assert_false(go());
	assert_int_equal(hits(), 0);
}

static void reads_are_told_with_all_lanes(void **state)
{
	(void)state;
	struct ws_watch_hit hit;
	begin_here("faults", 1, 64, (const uint64_t[]){ UINT32_MAX }, 1);
	(void)watch(device.in + 8, 16, WS_WATCH_READ);
	(void)watch(device.out + 8, 16, WS_WATCH_READ);
	assert_true(go());
	assert_int_equal(hits(), 1);
	assert_int_equal(ws_target_watch_hit(device.target, 0, &hit, NULL), WS_OK);
	assert_int_equal(hit.lanes, 0x3c);
	assert_int_equal(hit.kinds, WS_WATCH_READ);
	assert_int_equal(hit.address, device.in + 8);
	assert_false(go());
}

static void what_cannot_be_watched_is_refused(void **state)
{
	(void)state;
	uint32_t number;
	begin_here("faults", 1, 64, (const uint64_t[]){ UINT32_MAX }, 1);
	struct ws_watch one = {
		.at = { .space = WS_SPACE_GLOBAL, .address = 0x10 },
		.size_bytes = 4,
		.kinds = WS_WATCH_READ,
	};
	assert_int_equal(ws_target_watch(device.target, &one, &number, NULL), WS_ABSENT);
	one.at.address = device.out;
	one.size_bytes = 0;
	assert_int_equal(ws_target_watch(device.target, &one, &number, NULL), WS_ARGUMENT);
	one.size_bytes = 4;
	one.kinds = 8;
	assert_int_equal(ws_target_watch(device.target, &one, &number, NULL), WS_ARGUMENT);
	one.kinds = WS_WATCH_CHANGE;
	one.at = (struct ws_address){ .space = WS_SPACE_CONST, .grid_index = 0 };
	assert_int_equal(ws_target_watch(device.target, &one, &number, NULL), WS_ARGUMENT);
	one.kinds = WS_WATCH_READ;
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(ws_target_watch(device.target, &one, &number, NULL), WS_OK);
	assert_int_equal(ws_target_watch(device.target, &one, &number, NULL), WS_LIMIT);
	assert_true(ws_target_can(device.target, WS_CAN_WATCH));
}

/* Each thread writes its local memory and its block's shared memory, then reads both and its
 * parameter. It stands at its start, with two blocks of two warps. */
static void stand_before_all_spaces(void)
{
	static const char text[] =
		".arch sm_90a\n.kernel k\n.param out 8\n.stack 64\n.shared s 256\nS2R R0, "
		"SR_TID.X\n"
		"IMAD.SHL.U32 R2, R0, 0x4, RZ\nIADD3 R3, R0, 0x700, RZ\nSTL [0x10], R3\n"
		"STS [R2+0x400], R0\nLDL R4, [0x10]\nLDS R5, [R2+0x400]\n"
		"MOV R6, c[0x0][`(out)]\nEXIT\n.end\n";
	struct ws_sim_launch launch = {
		.size = sizeof launch,
		.kernel = "k",
		.grid = { 2, 1, 1 },
		.block = { 64, 1, 1 },
		.args = (const void *const[]){ &device.out },
		.n_args = 1,
	};
	device_open(&device, kernels, 4);
	launch.module = load_text(text);
	assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
	device_debug(&device);
	assert_int_equal(ws_target_want(device.target, WS_WANT_STOPS, NULL), WS_OK);
	const uint64_t pc = entry();
	assert_int_equal(ws_target_plant(device.target, 0, pc, NULL), WS_OK);
	assert_true(go());
	assert_int_equal(ws_target_unplant(device.target, 0, pc, NULL), WS_OK);
}

/* A word of one lane or block is watched there only; a parameter is each warp's. */
static void memory_of_one_lane_or_block_is_watched_alone(void **state)
{
	(void)state;
	static const uint32_t was_written = WS_WATCH_WRITE | WS_WATCH_CHANGE;
	const struct {
		enum ws_space space;
		uint32_t kinds, lanes, value;
	} expected[] = {
		{ WS_SPACE_LOCAL, was_written, 1u << 5, 0x700 + 32 + 5 },
		{ WS_SPACE_SHARED, was_written, 1u << 7, 32 + 7 },
		{ WS_SPACE_LOCAL, WS_WATCH_READ, 1u << 5, 0x700 + 32 + 5 },
		{ WS_SPACE_SHARED, WS_WATCH_READ, 1u << 7, 32 + 7 },
	};
	struct ws_watch_hit hit;
	struct ws_warp warp;
	uint32_t local, shared, param, n_params = 0, n = 0, index = 0;
	stand_before_all_spaces();
	do /* the second warp of the second block, which is on the second SM */
		assert_int_equal(ws_target_warp(device.target, index++, &warp, NULL), WS_OK);
	while (warp.sm_index != 1 || warp.id != 1);
	struct ws_watch watched = {
		.at = { .space = WS_SPACE_LOCAL,
			.grid_index = WS_NONE,
			.warp_index = index - 1,
			.lane = 5,
			.address = 0x10 },
		.size_bytes = 4,
		.kinds = WS_WATCH_READ | WS_WATCH_CHANGE,
	};
	assert_int_equal(ws_target_watch(device.target, &watched, &local, NULL), WS_OK);
	watched.at.space = WS_SPACE_SHARED;
	watched.at.address = 0x400 + 4 * (32 + 7);
	assert_int_equal(ws_target_watch(device.target, &watched, &shared, NULL), WS_OK);
	watched.at.space = WS_SPACE_PARAM;
	watched.at.address = 0x210;
	watched.kinds = WS_WATCH_READ;
	assert_int_equal(ws_target_watch(device.target, &watched, &param, NULL), WS_OK);
	while (go()) {
		assert_int_equal(hits(), 1);
		assert_int_equal(ws_target_watch_hit(device.target, 0, &hit, NULL), WS_OK);
		assert_int_equal(ws_target_warp(device.target, hit.warp_index, &warp, NULL), WS_OK);
		if (hit.number == param) {
			assert_true(hit.lanes == UINT32_MAX && hit.kinds == WS_WATCH_READ);
			n_params++;
			continue;
		}
		assert_in_range(n, 0, sizeof expected / sizeof *expected - 1);
		assert_true(warp.sm_index == 1 && warp.id == 1);
		assert_int_equal(hit.number, expected[n].space == WS_SPACE_LOCAL ? local : shared);
		assert_int_equal(hit.kinds, expected[n].kinds);
		assert_int_equal(hit.lanes, expected[n].lanes);
		assert_memory_equal(hit.now, &expected[n].value, sizeof expected[n].value);
		n++;
	}
	assert_int_equal(n, sizeof expected / sizeof *expected);
	assert_int_equal(n_params, 4);
}

/* The word that a program watches for reads, as a debugger's rwatch does. */
static void an_atomic_operation_reads_and_writes(void **state)
{
	(void)state;
	static const char text[] =
		".arch sm_90a\n.kernel k\n.param out 8\n"
		"MOV R2, c[0x0][`(out)]\nMOV R3, c[0x0][`(out+4)]\n"
		"MOV R4, 0x1\nSTG.E desc[UR4][R2.64], R4\n"
		"ATOMG.E.ADD.STRONG.GPU PT, R5, desc[UR4][R2.64], R4\n"
		"REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R4\nLDG.E R5, desc[UR4][R2.64]\nEXIT\n"
		".end\n";
	static const uint32_t atomic = WS_WATCH_READ | WS_WATCH_WRITE | WS_WATCH_CHANGE;
	const struct {
		uint32_t watched, kinds[4];
	} cases[] = {
		{ WS_WATCH_READ, { atomic, atomic, WS_WATCH_READ } },
		{ WS_WATCH_WRITE,
		  { WS_WATCH_WRITE | WS_WATCH_CHANGE, WS_WATCH_WRITE | WS_WATCH_CHANGE,
		    WS_WATCH_WRITE | WS_WATCH_CHANGE } },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		device_open(&device, kernels, 1);
		struct ws_sim_launch launch = { .size = sizeof launch,
						.module = load_text(text),
						.kernel = "k",
						.grid = { 1, 1, 1 },
						.block = { 1, 1, 1 },
						.args = (const void *const[]){ &device.out },
						.n_args = 1 };
		assert_int_equal(ws_sim_launch(device.sim, &launch, NULL), WS_OK);
		device_debug(&device);
		assert_int_equal(ws_target_want(device.target, WS_WANT_STOPS, NULL), WS_OK);
		(void)watch(device.out, 4, cases[i].watched);
		for (unsigned k = 0; k < 3; k++) {
			struct ws_watch_hit hit;
			assert_true(go());
			assert_int_equal(hits(), 1);
			assert_int_equal(ws_target_watch_hit(device.target, 0, &hit, NULL), WS_OK);
			assert_int_equal(hit.kinds, cases[i].kinds[k]);
		}
		assert_false(go());
		device_close(&device);
	}
}

/* Runs `parts` to its end with a stop at every n-th instruction, and words watched; 0: without.
 * Returns a sum over what it did. */
static uint64_t run_with_stops(unsigned every)
{
	enum { THREADS = 128 };
	uint64_t sum, n_stops = 0;
	begin_here("parts", 2, THREADS, (const uint64_t[]){ 5 }, 1);
	for (uint32_t i = 0; i < 2 * THREADS; i++) {
		const uint32_t word = i * 7 + 3;
		assert_int_equal(ws_sim_write(device.sim, device.in + 4 * i, &word, 4, NULL),
				 WS_OK);
	}
	for (unsigned i = 0; every && i < 40; i += every)
		assert_int_equal(ws_target_plant(device.target, 0, entry() + 16 * i, NULL), WS_OK);
	for (unsigned i = 0; every && i < 2 * THREADS; i += 37)
		(void)watch(device.out + 4 * i, 4, i % 2 ? WS_WATCH_CHANGE : WS_WATCH_WRITE);
	while (go())
		n_stops++;
	assert_true(every ? n_stops > 50 : n_stops == 0);
	sum = ws_sim_instructions(device.sim);
	for (uint32_t i = 0; i < 2 * THREADS; i++)
		sum = sum * 31 + device_word(&device, device.out + 4 * i);
	device_close(&device);
	return sum;
}

static void stops_change_nothing(void **state)
{
	(void)state;
	uint64_t plain = run_with_stops(0);
	assert_int_equal(run_with_stops(1), plain);
	assert_int_equal(run_with_stops(5), plain);
}

/* ---- going back ---- */

/* A sum over all that a stopped device holds. */
static uint64_t state_sum(void)
{
	struct ws_counts counts;
	uint64_t sum = ws_sim_instructions(device.sim);
	ws_target_counts(device.target, &counts);
	for (uint32_t w = 0; w < counts.warps; w++) {
		struct ws_lane lanes[WS_MAX_LANES];
		struct ws_warp warp;
		uint32_t n, n_regs, regs[256];
		assert_int_equal(ws_target_warp(device.target, w, &warp, NULL), WS_OK);
		assert_int_equal(ws_target_lanes(device.target, w, lanes, &n, NULL), WS_OK);
		sum = sum * 31 + warp.sm_index * 64 + warp.id;
		for (uint32_t i = 0; i < n; i++) {
			sum = sum * 31 + lanes[i].pc + lanes[i].id;
			assert_int_equal(ws_target_registers(device.target, w, lanes[i].id,
							     WS_REG_R, 0, 256, regs, &n_regs, NULL),
					 WS_OK);
			for (uint32_t r = 0; r < n_regs; r++)
				sum = sum * 31 + regs[r];
		}
	}
	for (uint32_t i = 0; i < 256; i++) {
		const struct ws_address at = { .address = device.out + 4 * i };
		uint32_t word;
		size_t n;
		assert_int_equal(ws_target_read_memory(device.target, &at, &word, 4, &n, NULL),
				 WS_OK);
		sum = sum * 31 + word;
	}
	return sum;
}

static uint64_t random_state = 7;
static uint32_t pick(uint32_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static void begin_parts(uint32_t rounds, uint64_t max_bytes)
{
	begin_here("parts", 3, 128, (const uint64_t[]){ rounds }, 1);
	for (uint32_t i = 0; i < 384; i++) {
		const uint32_t word = i * 7 + 3;
		assert_int_equal(ws_sim_write(device.sim, device.in + 4 * i, &word, 4, NULL),
				 WS_OK);
	}
	assert_int_equal(ws_target_keep_history(device.target, max_bytes, NULL), WS_OK);
}

/* Moves somehow; false: all has ended. */
static bool move(void)
{
	struct ws_counts counts;
	ws_target_counts(device.target, &counts);
	uint32_t what = pick(4), warp = pick(counts.warps ? counts.warps : 1);
	uint64_t moved;
	if (what == 0 || counts.warps == 0)
		return go();
	const struct ws_step step = {
		.warp_index = warp,
		.lane = what == 1 ? WS_NONE : pick(32),
		.steps = 1 + pick(5),
		.flags = what == 3 ? WS_STEP_INTO_BARRIERS : 0,
	};
	(void)!ws_target_step(device.target, &step, &moved, NULL);
	return true;
}

static void every_position_can_be_seen_again(void **state)
{
	(void)state;
	enum { MAX = 300 };
	static uint64_t at[MAX], sums[MAX];
	struct ws_back_found found;
	for (uint32_t round = 0; round < 3; round++) {
		uint32_t n = 0;
		begin_parts(5, 64 << 20);
		for (unsigned i = 3; i < 60; i += 9 + round)
			(void)!ws_target_plant(device.target, 0, entry() + 16 * i, NULL);
		(void)watch(device.out + 40, 4, WS_WATCH_CHANGE);
		while (n < MAX && move()) {
			at[n] = ws_sim_instructions(device.sim);
			sums[n++] = state_sum();
		}
		assert_true(n > 50);
		for (unsigned i = 0; i < 60; i++) {
			uint32_t k = pick(n);
			const struct ws_back back = { .kind = WS_BACK_POSITION, .position = at[k] };
			assert_int_equal(ws_target_go_back(device.target, &back, &found, NULL),
					 WS_OK);
			assert_int_equal(found.position, at[k]);
			assert_int_equal(state_sum(), sums[k]);
		}
		device_close(&device);
	}
}

static void a_thread_steps_back_as_it_came(void **state)
{
	(void)state;
	enum { STEPS = 40 };
	uint64_t sums[STEPS], moved;
	struct ws_back_found found;
	begin_parts(3, 64 << 20);
	assert_int_equal(ws_target_plant(device.target, 0, entry() + 16 * 20, NULL), WS_OK);
	assert_true(go());
	const struct ws_step step = { .warp_index = 0, .lane = 5, .steps = 1 };
	for (unsigned i = 0; i < STEPS; i++) {
		sums[i] = state_sum();
		assert_int_equal(ws_target_step(device.target, &step, &moved, NULL), WS_OK);
	}
	for (unsigned i = STEPS; i > 0; i--) {
		const struct ws_back back = { .kind = WS_BACK_STEP, .warp_index = 0, .lane = 5 };
		assert_int_equal(ws_target_go_back(device.target, &back, &found, NULL), WS_OK);
		assert_true(found.any);
		assert_int_equal(state_sum(), sums[i - 1]);
	}
}

/* Going back from stop to stop meets the same ones in the other order, and at last the start. */
static void stops_come_back_in_the_other_order(void **state)
{
	(void)state;
	enum { MAX = 64 };
	uint64_t at[MAX];
	uint32_t n = 0;
	struct ws_back_found found;
	const struct ws_back back = { .kind = WS_BACK_STOP };
	begin_parts(2, 64 << 20);
	assert_int_equal(ws_target_plant(device.target, 0, entry() + 16 * 12, NULL), WS_OK);
	(void)watch(device.out + 44, 4, WS_WATCH_CHANGE);
	while (n < MAX && go()) {
		struct ws_watch_hit hit;
		bool watched = ws_target_watch_hit(device.target, 0, &hit, NULL) == WS_OK;
		at[n++] = ws_sim_instructions(device.sim) - watched; /* before its instruction */
	}
	assert_true(n > 8 && n < MAX);
	assert_int_equal(ws_target_suspend(device.target, WS_NONE, true, NULL), WS_OK);
	for (; n > 0; n--) {
		assert_int_equal(ws_target_go_back(device.target, &back, &found, NULL), WS_OK);
		assert_true(found.any);
		assert_int_equal(found.position, at[n - 1]);
	}
	assert_int_equal(ws_target_go_back(device.target, &back, &found, NULL), WS_OK);
	assert_false(found.any);
	assert_int_equal(found.position, 0);
	assert_true(go()); /* and forward again */
	assert_int_equal(ws_sim_instructions(device.sim), at[0]);
}

static void the_host_begins_a_new_history(void **state)
{
	(void)state;
	const struct ws_back back = { .kind = WS_BACK_STOP };
	struct ws_back_found found;
	begin_parts(2, 0);
	assert_int_equal(ws_target_plant(device.target, 0, entry() + 16 * 12, NULL), WS_OK);
	assert_true(go());
	assert_int_equal(ws_target_go_back(device.target, &back, &found, NULL), WS_ABSENT);
	assert_int_equal(ws_target_keep_history(device.target, 1 << 20, NULL), WS_OK);
	assert_true(go());
	const uint32_t word = 1;
	ws_sim_host_begin(device.target, true);
	assert_int_equal(ws_sim_write(device.sim, device.in, &word, 4, NULL), WS_OK);
	assert_int_equal(ws_sim_host_end(device.target, true, NULL, NULL), WS_OK);
	assert_int_equal(ws_target_go_back(device.target, &back, &found, NULL), WS_ABSENT);
}

static void where_no_history_reaches_is_told(void **state)
{
	(void)state;
	struct ws_back back = { .kind = WS_BACK_POSITION, .position = 0 };
	struct ws_back_found found;
	struct ws_error err;
	begin_parts(2, 0);
	assert_int_equal(ws_target_go_back(device.target, &back, &found, &err), WS_ABSENT);
	assert_string_equal(err.message, "there is no history to go back in");
	assert_int_equal(ws_target_keep_history(device.target, 64 << 20, NULL), WS_OK);
	assert_int_equal(ws_target_plant(device.target, 0, entry() + 16 * 12, NULL), WS_OK);
	assert_true(go());
	back.position = ws_sim_instructions(device.sim);
	assert_int_equal(ws_target_go_back(device.target, &back, &found, &err), WS_OK);
	assert_int_equal(found.position, back.position);
	back.position++;
	assert_int_equal(ws_target_go_back(device.target, &back, &found, &err), WS_ARGUMENT);
	assert_string_equal(err.message, "history does not reach there");
	back = (struct ws_back){ .kind = WS_BACK_REGISTER, .reg_kind = WS_REG_UR };
	assert_int_equal(ws_target_go_back(device.target, &back, &found, &err), WS_UNSUPPORTED);
	assert_string_equal(err.message, "only registers of a thread are looked for");
}

static void a_device_that_checks_keeps_no_history(void **state)
{
	(void)state;
	const struct ws_sim_options options = { .size = sizeof options, .check = true };
	struct ws_error err;
	device_make(&device, &options, kernels);
	device_debug(&device);
	assert_int_equal(ws_target_keep_history(device.target, 1, &err), WS_UNSUPPORTED);
	assert_string_equal(err.message, "a device that checks cannot go back");
	assert_int_equal(ws_target_keep_history(device.target, 0, &err), WS_OK);
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)
const struct CMUnitTest live_engine_tests[] = {
	TEST(only_a_write_that_changes_is_a_change),
	TEST(reads_are_told_with_all_lanes),
	TEST(what_cannot_be_watched_is_refused),
	TEST(memory_of_one_lane_or_block_is_watched_alone),
	TEST(an_atomic_operation_reads_and_writes),
	TEST(stops_change_nothing),
	TEST(every_position_can_be_seen_again),
	TEST(a_thread_steps_back_as_it_came),
	TEST(stops_come_back_in_the_other_order),
	TEST(the_host_begins_a_new_history),
	TEST(where_no_history_reaches_is_told),
	TEST(a_device_that_checks_keeps_no_history),
};
const size_t n_live_engine_tests = sizeof live_engine_tests / sizeof *live_engine_tests;
