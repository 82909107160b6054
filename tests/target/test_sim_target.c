/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A software GPU under a debugger, at the target: what can be written of its warps, to the last
 * register and byte, and what is refused. What it promises as any target is in test_target.c.
 *
 * usage: test_sim_target LIVE    the fatbin of tests/sim/kernels/live.cu
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <warpscope/cudadebugger.h>

#include "device.h"

enum { THREADS = 50 }; /* the second warp has 18 */

static const char *live;
static struct device device;
static struct ws_target *target;
static struct ws_error err;

/* Amid a kernel that ends when it is told. */
static int open_spinning(void **state)
{
	enum ws_sim_outcome outcome;
	(void)state;
	device_open(&device, live, 1);
	const uint64_t args[] = { device.in, device.out };
	device_launch(&device, "spins", 2, THREADS, args, 2);
	if (ws_sim_run(device.sim, 500, &outcome, NULL) != WS_OK)
		return 1;
	device_debug(&device);
	target = device.target;
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	device_close(&device);
	return 0;
}

#define assert_fails(call, wanted_status, wanted_message)         \
	do {                                                      \
		assert_int_equal((call), wanted_status);          \
		assert_string_equal(err.message, wanted_message); \
	} while (0)

/* ---- registers ---- */

static uint32_t count_of(enum ws_reg_kind kind)
{
	uint32_t value, n, count = 0;
	while (ws_target_registers(target, 1, 3, kind, count, 1, &value, &n, NULL) == WS_OK && n)
		count++;
	return count;
}

static uint32_t reg(uint32_t lane, enum ws_reg_kind kind, uint32_t number)
{
	uint32_t value = 0, n = 0;
	assert_int_equal(ws_target_registers(target, 1, lane, kind, number, 1, &value, &n, NULL),
			 WS_OK);
	assert_int_equal(n, 1);
	return value;
}

/* Of each kind, the first, one amid and the last are written, each alone. */
static void registers_are_written_to_the_last(void **state)
{
	static const enum ws_reg_kind kinds[] = { WS_REG_R, WS_REG_P, WS_REG_UR, WS_REG_UP,
						  WS_REG_BARRIER };
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		uint32_t count = count_of(kinds[i]), before[256], values[2] = { 0, 0 };
		bool is_bit = kinds[i] == WS_REG_P || kinds[i] == WS_REG_UP;
		assert_in_range(count, 7, 256);
		for (uint32_t number = 0; number < count; number += count / 2 - 1) {
			for (uint32_t k = 0; k < count; k++)
				before[k] = reg(3, kinds[i], k);
			uint32_t other = reg(4, kinds[i], number);
			uint32_t value = is_bit ? !before[number] : 0x2b;
			assert_int_equal(ws_target_write_registers(target, 1, 3, kinds[i], number,
								   1, &value, NULL),
					 WS_OK);
			for (uint32_t k = 0; k < count; k++)
				assert_int_equal(reg(3, kinds[i], k),
						 k == number ? value : before[k]);
			if (kinds[i] == WS_REG_R || kinds[i] == WS_REG_P)
				assert_int_equal(reg(4, kinds[i], number), other);
		}
		uint32_t last = reg(3, kinds[i], count - 1);
		values[0] = values[1] = !last;
		assert_int_equal(ws_target_write_registers(target, 1, 3, kinds[i], count - 1, 2,
							   values, &err),
				 WS_ABSENT);
		assert_non_null(strstr(err.message, " of these registers"));
		assert_int_equal(reg(3, kinds[i], count - 1), last);
		assert_int_equal(ws_target_write_registers(target, 1, 3, kinds[i], count + 1, 0,
							   values, NULL),
				 WS_ABSENT);
		assert_int_equal(
			ws_target_write_registers(target, 1, 3, kinds[i], count, 0, values, NULL),
			WS_OK);
	}
}

/* Lanes of a new mask have the barrier, the others have it no more. */
static void a_barrier_register_is_of_the_lanes_in_its_mask(void **state)
{
	uint32_t mask = 0x3f;
	(void)state;
	assert_int_equal(ws_target_write_registers(target, 1, 0, WS_REG_BARRIER, 2, 1, &mask, NULL),
			 WS_OK);
	assert_int_equal(reg(9, WS_REG_BARRIER, 2), 0x3f);
	mask = 0x6;
	assert_int_equal(ws_target_write_registers(target, 1, 0, WS_REG_BARRIER, 2, 1, &mask, NULL),
			 WS_OK);
	assert_int_equal(reg(0, WS_REG_BARRIER, 2), 0x6);
}

static void only_lanes_with_a_thread_are_written(void **state)
{
	static const char none[] = "this lane has no thread";
	const uint32_t value = 1, last = THREADS - 32 - 1;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	(void)state;
	assert_int_equal(ws_target_write_registers(target, 1, last, WS_REG_R, 0, 1, &value, NULL),
			 WS_OK);
	assert_int_equal(ws_target_write_rpc(target, 1, last, 0x30, 0x40, NULL), WS_OK);
	assert_int_equal(ws_target_lanes(target, 1, lanes, &n, NULL), WS_OK);
	assert_int_equal(n, last + 1);
	assert_true(lanes[last].rpc_lo == 0x30 && lanes[last].rpc_hi == 0x40);
	assert_true(lanes[last - 1].rpc_lo != 0x30);
	for (uint32_t lane = last + 1; lane < 40; lane++) {
		assert_fails(
			ws_target_write_registers(target, 1, lane, WS_REG_P, 0, 1, &value, &err),
			WS_ABSENT, none);
		assert_fails(ws_target_write_rpc(target, 1, lane, 1, 2, &err), WS_ABSENT, none);
	}
	/* those of the warp need none */
	assert_int_equal(
		ws_target_write_registers(target, 1, WS_NONE, WS_REG_UR, 4, 1, &value, NULL),
		WS_OK);
}

/* ---- memory ---- */

static struct ws_address place(enum ws_space space, uint32_t warp, uint32_t lane, uint64_t address)
{
	return (struct ws_address){ .space = space,
				    .device_index = 0,
				    .grid_index = WS_NONE,
				    .warp_index = warp,
				    .lane = lane,
				    .address = address };
}

/* The size of a thread's or block's memory, by what can be read of it. */
static uint64_t bytes_of(enum ws_space space)
{
	uint8_t byte;
	size_t n;
	uint64_t size = 0;
	for (;; size++) {
		struct ws_address at = place(space, 1, 3, size);
		if (ws_target_read_memory(target, &at, &byte, 1, &n, NULL) != WS_OK)
			return size;
	}
}

static void memory_is_written_to_its_end(void **state)
{
	static const enum ws_space spaces[] = { WS_SPACE_SHARED, WS_SPACE_LOCAL, WS_SPACE_PARAM };
	(void)state;
	for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
		uint64_t size = bytes_of(spaces[i]);
		uint8_t bytes[4] = { 1, 2, 3, 4 }, back[4];
		size_t n;
		if (size < 8)
			continue;
		struct ws_address at = place(spaces[i], 1, 3, size - 4);
		assert_int_equal(ws_target_write_memory(target, &at, bytes, 4, NULL), WS_OK);
		assert_int_equal(ws_target_read_memory(target, &at, back, 4, &n, NULL), WS_OK);
		assert_memory_equal(bytes, back, 4);
		bytes[0] = 9;
		for (at.address = size - 3; at.address <= size + 1; at.address++) {
			assert_int_equal(ws_target_write_memory(target, &at, bytes, 4, &err),
					 WS_ABSENT);
			assert_non_null(strstr(err.message, "nothing is at 0x"));
		}
		at.address = size - 4;
		assert_int_equal(ws_target_read_memory(target, &at, back, 4, &n, NULL), WS_OK);
		assert_int_equal(back[0], 1);
		at.address = size;
		assert_int_equal(ws_target_write_memory(target, &at, bytes, 0, NULL), WS_OK);
	}
	assert_true(bytes_of(WS_SPACE_LOCAL) > 8 && bytes_of(WS_SPACE_PARAM) > 8);
}

static void memory_of_somebody_needs_to_know_whose(void **state)
{
	static const char warp[] = "this memory needs a warp", lane[] = "local memory needs a lane";
	struct ws_address at;
	uint8_t byte = 0;
	size_t n;
	(void)state;
	for (int i = 0; i < 2; i++) {
		at = place(i ? WS_SPACE_LOCAL : WS_SPACE_SHARED, WS_NONE, 0, 0);
		assert_fails(ws_target_read_memory(target, &at, &byte, 1, &n, &err), WS_ARGUMENT,
			     warp);
		assert_fails(ws_target_write_memory(target, &at, &byte, 1, &err), WS_ARGUMENT,
			     warp);
	}
	for (uint32_t of = 17; of < 34; of++) {
		at = place(WS_SPACE_LOCAL, 1, of, 8);
		if (of == 17) {
			assert_int_equal(ws_target_read_memory(target, &at, &byte, 1, &n, NULL),
					 WS_OK);
			continue;
		}
		assert_fails(ws_target_read_memory(target, &at, &byte, 1, &n, &err), WS_ARGUMENT,
			     lane);
	}
	at = place(WS_SPACE_CONST, WS_NONE, 0, 0);
	assert_fails(ws_target_read_memory(target, &at, &byte, 1, &n, &err), WS_ARGUMENT,
		     "a constant bank needs a grid that has not ended");
	at = place(WS_SPACE_CONST, 1, 0, 0);
	at.bank = 99; /* there is none of that number */
	assert_int_equal(ws_target_write_memory(target, &at, &byte, 1, &err), WS_ABSENT);
	assert_int_equal(ws_target_read_memory(target, &at, &byte, 1, &n, &err), WS_ABSENT);
}

/* Generic addresses are those of the windows of shared and local memory, or global ones. */
static void windows_are_where_their_memory_is(void **state)
{
	const uint64_t shared_window = UINT64_C(0x7e0000000000),
		       local_window = UINT64_C(0x7d0000000000);
	const struct {
		enum ws_space space;
		uint64_t address, generic;
	} cases[] = {
		{ WS_SPACE_GLOBAL, device.out + 5, device.out + 5 },
		{ WS_SPACE_LOCAL, 9, local_window + 9 },
		{ WS_SPACE_SHARED, 3, shared_window + 3 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ws_address at = place(WS_SPACE_GENERIC, 1, 3, cases[i].generic);
		uint8_t byte = (uint8_t)(0x60 + i), back = 0;
		size_t n;
		if (cases[i].space == WS_SPACE_SHARED && bytes_of(WS_SPACE_SHARED) == 0)
			continue;
		assert_int_equal(ws_target_write_memory(target, &at, &byte, 1, NULL), WS_OK);
		at = place(cases[i].space, 1, 3, cases[i].address);
		assert_int_equal(ws_target_read_memory(target, &at, &back, 1, &n, NULL), WS_OK);
		assert_int_equal(back, byte);
	}
	struct ws_address none = place(WS_SPACE_GENERIC, WS_NONE, 3, local_window);
	uint8_t byte;
	size_t n;
	assert_int_equal(ws_target_read_memory(target, &none, &byte, 1, &n, NULL), WS_ARGUMENT);
	none.address = device.out; /* needs nobody */
	assert_int_equal(ws_target_read_memory(target, &none, &byte, 1, &n, NULL), WS_OK);
}

/* ---- while it runs, and others ---- */

static void nothing_of_a_device_that_runs_is_written(void **state)
{
	static const char runs[] = "the device is running";
	struct ws_address at = place(WS_SPACE_SHARED, 0, 0, 0);
	const uint32_t value = 1;
	uint64_t host;
	uint8_t byte;
	size_t n;
	struct ws_warp row;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n_lanes;
	(void)state;
	assert_int_equal(ws_target_warp(target, 0, &row, NULL), WS_OK);
	assert_int_equal(ws_target_lanes(target, 0, lanes, &n_lanes, NULL), WS_OK);
	struct ws_address code = place(WS_SPACE_CODE, WS_NONE, 0, lanes[0].pc);
	uint8_t insn[16];
	assert_int_equal(ws_target_read_memory(target, &code, insn, 16, &n, NULL), WS_OK);
	assert_int_equal(ws_target_write_memory(target, &code, insn, 16, NULL), WS_OK);
	code.address = 16;
	assert_int_equal(ws_target_write_memory(target, &code, insn, 16, NULL), WS_ABSENT);
	code.address = lanes[0].pc;
	assert_int_equal(ws_target_resume(target, WS_NONE, NULL), WS_OK);
	assert_fails(ws_target_write_registers(target, 0, 0, WS_REG_R, 0, 1, &value, &err),
		     WS_RUNNING, runs);
	assert_fails(ws_target_write_rpc(target, 0, 0, 1, 2, &err), WS_RUNNING, runs);
	assert_fails(ws_target_write_memory(target, &at, &value, 4, &err), WS_RUNNING, runs);
	assert_fails(ws_target_write_memory(target, &code, insn, 16, &err), WS_RUNNING, runs);
	assert_fails(ws_target_read_host(target, 0x1000, &byte, 1, &n, &err), WS_RUNNING, runs);
	assert_fails(ws_target_write_host(target, 0x1000, &byte, 1, &err), WS_RUNNING, runs);
	assert_fails(ws_target_host_address(target, 0, 0x1000, &host, &err), WS_RUNNING, runs);
	assert_int_equal(ws_target_suspend(target, WS_NONE, true, NULL), WS_OK);
	assert_int_equal(ws_target_write_rpc(target, 0, 0, 1, 2, NULL), WS_OK);
}

static void a_device_has_one_debugger(void **state)
{
	struct ws_target *other = NULL;
	(void)state;
	assert_fails(ws_sim_target_live(device.sim, &other, &err), WS_ARGUMENT,
		     "the device has a debugger");
	assert_null(other);
	ws_target_close(device.target);
	device.target = NULL;
	assert_int_equal(ws_sim_target_live(device.sim, &device.target, NULL), WS_OK);
}

/* Rules that cannot be change nothing, and their number is not given. */
static void rules_of_the_log_are_checked(void **state)
{
	const uint32_t any = (uint32_t)CUDBG_CUDA_LOG_LEVEL_FILTER_ANY,
		       exclude = (uint32_t)CUDBG_CUDA_LOG_RULE_ACTION_EXCLUDE;
	const struct {
		struct ws_log_rule rule;
		const char *wrong;
	} cases[] = {
		{ { exclude, any, UINT64_MAX, NULL }, NULL },
		{ { CUDBG_CUDA_LOG_RULE_ACTION_SEND_SYNC, any, UINT64_MAX, ".*" }, NULL },
		{ { CUDBG_CUDA_LOG_RULE_ACTION_SEND_SYNC + 1, any, UINT64_MAX, NULL }, "a rule" },
		{ { 0, CUDBG_CUDA_LOG_LEVEL_FILTER_WARNING, UINT64_MAX, NULL }, NULL },
		{ { 0, CUDBG_CUDA_LOG_LEVEL_FILTER_WARNING + 1, UINT64_MAX, NULL }, "a rule" },
		{ { 0, any, UINT64_MAX, "(" }, "'(' is not a regular expression" },
	};
	uint32_t set = 0, sets = 0;
	(void)state;
	assert_int_equal(ws_target_want(target, WS_WANT_LOGS, NULL), WS_OK);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		enum ws_status st = ws_target_log_rules(target, &cases[i].rule, 1, &set, &err);
		assert_int_equal(st, cases[i].wrong ? WS_ARGUMENT : WS_OK);
		if (cases[i].wrong)
			assert_non_null(strstr(err.message, cases[i].wrong));
		else
			assert_int_equal(set, ++sets);
	}
	assert_int_equal(ws_target_log_rules(target, NULL, 0, &set, NULL), WS_OK);
	assert_int_equal(set, sets + 1);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_spinning, close_device)
	const struct CMUnitTest tests[] = {
		TEST(registers_are_written_to_the_last),
		TEST(a_barrier_register_is_of_the_lanes_in_its_mask),
		TEST(only_lanes_with_a_thread_are_written),
		TEST(memory_is_written_to_its_end),
		TEST(memory_of_somebody_needs_to_know_whose),
		TEST(windows_are_where_their_memory_is),
		TEST(nothing_of_a_device_that_runs_is_written),
		TEST(a_device_has_one_debugger),
		TEST(rules_of_the_log_are_checked),
	};
	if (argc != 2)
		return 2;
	live = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
