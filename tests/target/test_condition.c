/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions that the engine asks: for each lane of each arrival they must say what the evaluator
 * says of the thread that then stands there; where it cannot say, they stop.
 *
 * usage: test_condition KERNELS EXPRESSIONS SEED    a fatbin of tests/sim/kernels/live.cu with -G
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <warpscope/vars.h>

#include "device.h"

enum { MAX = 400, ARRIVALS = 12, LENGTH = 160 };

static const char *kernels;
static struct device device;
static struct ws_vars *vars;
static char texts[MAX][LENGTH];
static struct ws_condition *made[MAX];
static uint32_t said[MAX], arrived;
static size_t n_texts, n_made, n_compared;
static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

/* A random expression of what conditions are made of. */
static void invent(char *text, unsigned depth)
{
	static const char *const leaves[] = {
		"v",           "k",           "m",          "i",
		"rounds",      "threadIdx.x", "blockIdx.x", "blockDim.x",
		"gridDim.y",   "$R2",         "$R4",        "$R0",
		"$P0",         "$RD2",        "$UR4",       "warpSize",
		"3",           "0x7fffffff",  "1u",         "-1",
		"2.5f",        "1e3",         "*in",        "*out",
		"(long)v",     "(short)v",    "(float)k",   "(unsigned char)v",
		"(double)$R4", "sizeof(v)",   "*(int *)in", "$R255",
		"*(in + 3)",
	};
	static const char *const two[] = { "+",  "-", "*", "/",  "%",  "&",  "|",  "^",  "<<",
					   ">>", "<", ">", "<=", ">=", "==", "!=", "&&", "||" };
	static const char *const one[] = { "-", "!", "~", "(int)", "(float)", "(unsigned)" };
	char a[LENGTH / 2] = "", b[LENGTH / 2] = "";
	if (depth == 0 || pick(4) == 0) {
		strcpy(text, leaves[pick(sizeof leaves / sizeof *leaves)]);
		return;
	}
	invent(a, depth - 1);
	invent(b, depth - 1);
	if (pick(5) == 0)
		snprintf(text, LENGTH, "%s(%.70s)", one[pick(6)], a);
	else
		snprintf(text, LENGTH, "(%.70s %s %.70s)", a, two[pick(18)], b);
}

static uint32_t note(const void *condition, const struct ws_arrival *arrival)
{
	(void)condition;
	arrived = arrival->lanes;
	for (size_t i = 0; i < n_texts; i++)
		said[i] = made[i] ? ws_condition_holds(made[i], arrival) : 0;
	return arrival->lanes;
}

static void look(uint32_t warp, uint32_t lane)
{
	struct ws_focus focus;
	struct ws_warp row;
	struct ws_block block;
	struct ws_error err;
	assert_int_equal(ws_target_warp(device.target, warp, &row, &err), WS_OK);
	assert_int_equal(ws_target_block(device.target, row.block_index, &block, &err), WS_OK);
	focus = (struct ws_focus){ .sm_index = row.sm_index,
				   .warp_index = warp,
				   .block_index = row.block_index,
				   .grid_index = block.grid_index,
				   .lane = lane };
	assert_int_equal(ws_vars_look(vars, &focus, &err), WS_OK);
}

/* Until the breakpoint stops somebody. */
static void go(void)
{
	const struct timespec moment = { .tv_nsec = 20000 };
	struct ws_error err;
	assert_int_equal(ws_target_resume(device.target, WS_NONE, &err), WS_OK);
	for (int i = 0; ws_target_running(device.target, 0); i++) {
		assert_true(i < 1000000);
		assert_int_equal(ws_target_update(device.target, &err), WS_OK);
		nanosleep(&moment, NULL);
	}
}

static uint32_t stopped_warp(void)
{
	struct ws_warp row;
	for (uint32_t i = 0; ws_target_warp(device.target, i, &row, NULL) == WS_OK; i++)
		if (row.broken)
			return i;
	fail_msg("nobody stopped");
	return 0;
}

static void make_all(uint32_t warp)
{
	look(warp, (uint32_t)__builtin_ctz(arrived));
	for (size_t i = 0; i < n_texts; i++) {
		struct ws_error err;
		enum ws_status st = WS_OK;
		if (!made[i])
			st = ws_vars_condition(vars, texts[i], &made[i], &err);
		n_made += st == WS_OK && made[i];
	}
}

static void compare_all(uint32_t warp)
{
	for (uint32_t lane = 0; lane < WS_MAX_LANES; lane++) {
		if (!(arrived >> lane & 1))
			continue;
		look(warp, lane);
		for (size_t i = 0; i < n_texts; i++) {
			struct ws_value value;
			struct ws_number number = { .whole = 1 };
			if (!made[i])
				continue;
			bool yes = ws_vars_evaluate(vars, texts[i], &value, NULL) != WS_OK ||
				   ws_vars_number(vars, &value, &number, NULL) != WS_OK ||
				   (number.is_float ? number.real != 0 : number.whole != 0);
			n_compared++;
			if (yes != (said[i] >> lane & 1))
				fail_msg("lane %u, %s: the engine says %u, not %lld", lane,
					 texts[i], said[i] >> lane & 1, (long long)number.whole);
		}
	}
}

/* Over `parts`, compiled with -G, at places of both its halves and loops. */
static void the_engine_says_what_the_evaluator_says(void **state)
{
	(void)state;
	static const uint64_t places[] = {
		0x4c0, 0x750, 0x880, 0x9f0, 0xc80, 0x1010, 0x10f0, 0x1210
	};
	const uint64_t rounds = 300;
	struct ws_error err;
	struct ws_grid grid;
	device_open(&device, kernels, 2);
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t word = i * 2654435761u >> (i % 29);
		assert_int_equal(ws_sim_write(device.sim, device.in + 4 * i, &word, 4, NULL),
				 WS_OK);
	}
	const uint64_t args[] = { device.out, device.in, rounds };
	device_launch(&device, "parts", 1, 64, args, 3);
	device_debug(&device);
	assert_int_equal(ws_vars_create(device.target, &vars, &err), WS_OK);
	assert_int_equal(ws_target_grid(device.target, 0, &grid, &err), WS_OK);
	for (size_t i = 0; i < n_texts; i++)
		invent(texts[i], pick(4));
	for (size_t at = 0; at < sizeof places / sizeof *places; at++) {
		const uint64_t pc = grid.function_entry + places[at];
		assert_int_equal(ws_target_plant(device.target, 0, pc, &err), WS_OK);
		assert_int_equal(ws_target_stop_if(device.target, 0, pc, note, NULL, &err), WS_OK);
		for (int i = 0; i < ARRIVALS; i++) {
			go();
			uint32_t warp = stopped_warp();
			if (i > 0)
				compare_all(warp);
			make_all(warp);
		}
		for (size_t i = 0; i < n_texts; i++) {
			ws_condition_free(made[i]);
			made[i] = NULL;
		}
		assert_int_equal(ws_target_unplant(device.target, 0, pc, &err), WS_OK);
	}
	print_message("# of %zu expressions at 8 places: %zu conditions, %zu answers compared\n",
		      n_texts, n_made, n_compared);
	assert_true(n_made > n_texts && n_compared > 100 * n_texts);
	ws_vars_destroy(vars);
	device_close(&device);
}

static uint32_t nobody(const void *condition, const struct ws_arrival *arrival)
{
	++*(uint32_t *)(uintptr_t)condition;
	return arrival->lanes & 0;
}

/* The kernel runs to its end, and each arrival was asked once. */
static void nobody_stops_whom_the_condition_lets_go(void **state)
{
	(void)state;
	uint32_t asked = 0;
	struct ws_error err;
	struct ws_grid grid;
	device_open(&device, kernels, 2);
	const uint64_t args[] = { device.out, device.in, 5 };
	device_launch(&device, "parts", 1, 64, args, 3);
	device_debug(&device);
	assert_int_equal(ws_target_grid(device.target, 0, &grid, &err), WS_OK);
	const uint64_t pc = grid.function_entry + 0x1210;
	assert_int_equal(ws_target_stop_if(device.target, 0, pc, nobody, &asked, &err), WS_ABSENT);
	assert_int_equal(ws_target_plant(device.target, 0, pc, &err), WS_OK);
	assert_int_equal(ws_target_stop_if(device.target, 0, pc, nobody, &asked, &err), WS_OK);
	assert_int_equal(ws_target_resume(device.target, WS_NONE, &err), WS_OK);
	assert_int_equal(ws_sim_host_wait(device.target), WS_SIM_DONE);
	assert_int_equal(asked, 10); /* two warps, five rounds */
	assert_int_equal(ws_target_unplant(device.target, 0, pc, &err), WS_OK);
	device_close(&device);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_engine_says_what_the_evaluator_says),
		cmocka_unit_test(nobody_stops_whom_the_condition_lets_go),
	};
	if (argc != 4)
		return 2;
	kernels = argv[1];
	n_texts = (size_t)strtoull(argv[2], NULL, 10);
	seed = strtoull(argv[3], NULL, 10);
	if (n_texts > MAX)
		return 2;
	return cmocka_run_group_tests_name("conditions", tests, NULL, NULL);
}
