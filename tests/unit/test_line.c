/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <warpscope/line.h>

/* ---- a real table: prototypes of a Python GPU compiler's output, ptxas 13.0, sm_80 ---- */

static const uint8_t triton_line[] = {
	0x9e, 0,    0,   0,   2,    0,    0x3a, 0,    0,   0,    1,    1,    0xfb, 0x0e, 0x0a, 0,
	1,    1,    1,   1,   0,    0,    0,    1,    '/', 's',  'r',  'c',  0,    0,    'u',  's',
	'e',  'r',  '_', 'k', 'e',  'r',  'n',  'e',  'l', '.',  'p',  'y',  0,    1,    0,    0,
	's',  't',  'a', 'n', 'd',  'a',  'r',  'd',  '.', 'p',  'y',  0,    1,    0,    0,    0,
	0,    0,    0,   0, /* string base */
	0,    9,    2,   0,   0,    0,    0,    0,    0,   0,    0,    4,    1,    3,    9,    1,
	0xf1, 3,    1,   2,   0xe0, 0,    1,    0xf0, 4,   2,    0,    3,    0x90, 4,    0,    3,
	0xfd, 1,    1,   4,   1,    0,    3,    0x90, 0,   0,    3,    0x84, 0x7e, 2,    0xe0, 1,
	1,    4,    2,   0,   3,    0x90, 4,    0,    3,   0xfc, 1,    2,    0x10, 1,    0,    3,
	0x90, 7,    5,   3,   0x75, 1,    4,    1,    0,   3,    0x90, 0,    0,    3,    0x8f, 0x7e,
	2,    0x10, 1,   3,   1,    2,    0x20, 1,    2,   0xe0, 4,    0,    1,    1,
};
static const char triton_str[] = "sum_\0_combine";

enum {
	TRITON_SECTION = 7,
	TRITON_ADDRESS_OFF = 0x47,
};

static const struct ws_line_reloc triton_reloc = { .sec_off = TRITON_ADDRESS_OFF,
						   .owner = TRITON_SECTION };

static struct ws_line_map *triton_map(void)
{
	struct ws_line_input input = {
		.line = { triton_line, sizeof triton_line, 0x1000 },
		.str = { (const uint8_t *)triton_str, sizeof triton_str, 0x2000 },
		.relocs = &triton_reloc,
		.n_relocs = 1,
	};
	struct ws_line_map *map = NULL;
	assert_int_equal(ws_line_create(&input, &map, NULL), WS_OK);
	return map;
}

static void chain_of_two_inlined_calls(void **state)
{
	(void)state;
	struct ws_line_map *map = triton_map();
	struct ws_line_pos pos[4];
	size_t n = 0;
	assert_int_equal(ws_line_find(map, TRITON_SECTION, 0x17f, pos, 4, &n, NULL), WS_OK);
	assert_int_equal(n, 3);
	assert_string_equal(pos[0].function, "_combine");
	assert_string_equal(pos[0].file->name, "standard.py");
	assert_string_equal(pos[0].file->dir, "/src");
	assert_int_equal(pos[0].line, 256);
	assert_int_equal(pos[0].row, 8);
	assert_string_equal(pos[1].function, "sum_");
	assert_int_equal(pos[1].line, 267);
	assert_null(pos[2].function);
	assert_string_equal(pos[2].file->name, "user_kernel.py");
	assert_int_equal(pos[2].line, 14);
	assert_int_equal(pos[2].row, 4);
	ws_line_destroy(map);
}

static void a_small_array_gets_the_innermost_positions(void **state)
{
	(void)state;
	struct ws_line_map *map = triton_map();
	struct ws_line_pos pos[2] = { 0 };
	size_t n = 0;
	assert_int_equal(ws_line_find(map, TRITON_SECTION, 0x170, pos, 1, &n, NULL), WS_OK);
	assert_int_equal(n, 3);
	assert_int_equal(pos[0].line, 256);
	assert_int_equal(pos[1].line, 0);
	assert_int_equal(ws_line_find(map, TRITON_SECTION, 0x170, NULL, 0, &n, NULL), WS_OK);
	assert_int_equal(n, 3);
	ws_line_destroy(map);
}

static void every_pc_has_the_last_row_at_or_below_it(void **state)
{
	(void)state;
	static const struct {
		uint64_t pc;
		uint32_t row; /* 0: absent */
	} cases[] = {
		{ 0, 1 },      { 0xf, 1 },    { 0x10, 2 },  { 0x6f, 2 },     { 0x70, 3 },
		{ 0x80, 5 },   { 0x15f, 5 },  { 0x160, 6 }, { 0x170, 8 },    { 0x180, 9 },
		{ 0x1a0, 10 }, { 0x3ff, 10 }, { 0x400, 0 }, { 1u << 31, 0 }, { UINT64_MAX, 0 },
	};
	struct ws_line_map *map = triton_map();
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_line_pos pos;
		size_t n;
		enum ws_status st =
			ws_line_find(map, TRITON_SECTION, cases[i].pc, &pos, 1, &n, NULL);
		assert_int_equal(st, cases[i].row ? WS_OK : WS_ABSENT);
		if (st == WS_OK)
			assert_int_equal(pos.row, cases[i].row);
	}
	ws_line_destroy(map);
}

static void another_owner_has_no_lines(void **state)
{
	(void)state;
	struct ws_line_map *map = triton_map();
	struct ws_line_seq seq;
	size_t n;
	assert_int_equal(ws_line_find(map, 8, 0, NULL, 0, &n, NULL), WS_ABSENT);
	assert_int_equal(ws_line_find(map, WS_LINE_NO_OWNER, 0, NULL, 0, &n, NULL), WS_ABSENT);
	assert_int_equal(ws_line_owner_seq(map, TRITON_SECTION, 0, &seq, NULL), WS_OK);
	assert_int_equal(seq.n_rows, 11);
	assert_int_equal(ws_line_owner_seq(map, TRITON_SECTION, 1, &seq, NULL), WS_ABSENT);
	ws_line_destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_of_two_inlined_calls),
		cmocka_unit_test(a_small_array_gets_the_innermost_positions),
		cmocka_unit_test(every_pc_has_the_last_row_at_or_below_it),
		cmocka_unit_test(another_owner_has_no_lines),
	};
	return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
