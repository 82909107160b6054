/* SPDX-License-Identifier: Apache-2.0 */
/* String bases that a linker left at 0: found where only one fits, else lost, never another's. */
#include "unit.h"

#include <warpscope/line.h>

#include "line_builder.h"

enum {
	MAX_TABLES = 4,
	PLAIN = -1,  /* a table without the word */
	UNUSED = -2, /* a table with the word, whose rows have no names */
};

struct table_case {
	uint32_t base;   /* as written */
	int operands[5]; /* of its rows; the first may be PLAIN or UNUSED; ends at the first 0 after
			    [0] */
	enum ws_line_base is;
	uint32_t found; /* the base expected */
};

static const struct {
	const char *why;
	const char *names; /* '|' is a NUL */
	struct table_case table[MAX_TABLES];
	size_t n;
	bool expected, cut;
} cases[] = {
	{ "names end where the next ones begin",
	  "a|bb|ccc|d|",
	  { { 0, { 0, 2 }, WS_LINE_BASE_WRITTEN, 0 }, { 0, { 0, 4 }, WS_LINE_BASE_FOUND, 5 } },
	  2,
	  false,
	  false },
	{ "a name between that nobody uses, and the others tell",
	  "a|bb|not|cccc|d|",
	  { { 0, { 0, 2 }, WS_LINE_BASE_WRITTEN, 0 }, { 0, { 0, 5 }, WS_LINE_BASE_FOUND, 9 } },
	  2,
	  false,
	  false },
	{ "the same, but as long as another: two bases fit",
	  "a|bb|dead|cccc|d|e|",
	  { { 0, { 0, 2 }, WS_LINE_BASE_WRITTEN, 0 }, { 0, { 0, 5 }, WS_LINE_BASE_LOST, 0 } },
	  2,
	  false,
	  false },
	{ "it fits in the last place only: behind it there is no name to use",
	  "a|bb|dead|cccc|",
	  { { 0, { 0, 2 }, WS_LINE_BASE_WRITTEN, 0 }, { 0, { 0, 5 }, WS_LINE_BASE_FOUND, 5 } },
	  2,
	  false,
	  false },
	{ "a single name, and one behind it that nobody uses",
	  "a|b|c|",
	  { { 0, { 0 }, WS_LINE_BASE_WRITTEN, 0 }, { 0, { 0 }, WS_LINE_BASE_LOST, 0 } },
	  2,
	  false,
	  false },
	{ "one that is found is the end for those before it",
	  "a|b|c|ddd|e|",
	  { { 0, { 0 }, WS_LINE_BASE_WRITTEN, 0 },
	    { 0, { 0, 2 }, WS_LINE_BASE_FOUND, 2 },
	    { 0, { 0, 4 }, WS_LINE_BASE_FOUND, 6 } },
	  3,
	  false,
	  false },
	{ "one that is lost does not spoil the next",
	  "a|b|c|ddd|e|",
	  { { 0, { 0 }, WS_LINE_BASE_WRITTEN, 0 },
	    { 0, { 0 }, WS_LINE_BASE_LOST, 0 },
	    { 0, { 0, 4 }, WS_LINE_BASE_FOUND, 6 } },
	  3,
	  false,
	  false },
	{ "a base that is written is believed, and the others are beside it",
	  "a|b|c|d|",
	  { { 0, { 0 }, WS_LINE_BASE_WRITTEN, 0 },
	    { 0, { 0, 2 }, WS_LINE_BASE_FOUND, 2 },
	    { 6, { 0 }, WS_LINE_BASE_WRITTEN, 6 } },
	  3,
	  false,
	  false },
	{ "no base fits",
	  "aaaa|bb|cccc|",
	  { { 0, { 0 }, WS_LINE_BASE_WRITTEN, 0 }, { 0, { 0, 2 }, WS_LINE_BASE_LOST, 0 } },
	  2,
	  false,
	  false },
	{ "names may have been cut",
	  "a|bb|ccc|d|",
	  { { 0, { 0, 2 }, WS_LINE_BASE_WRITTEN, 0 }, { 0, { 0, 4 }, WS_LINE_BASE_LOST, 0 } },
	  2,
	  false,
	  true },
	{ "a single 0 is believed",
	  "a|b|",
	  { { 0, { PLAIN }, WS_LINE_BASE_WRITTEN, 0 }, { 0, { 0 }, WS_LINE_BASE_WRITTEN, 0 } },
	  2,
	  false,
	  false },
	{ "but not of a linker that leaves it: the first object may have the first name",
	  "a|b|",
	  { { 0, { PLAIN }, WS_LINE_BASE_WRITTEN, 0 }, { 0, { 0 }, WS_LINE_BASE_LOST, 0 } },
	  2,
	  true,
	  false },
	{ "unless there is only one place",
	  "a|b|",
	  { { 0, { PLAIN }, WS_LINE_BASE_WRITTEN, 0 }, { 0, { 0, 2 }, WS_LINE_BASE_FOUND, 0 } },
	  2,
	  true,
	  false },
	{ "no table has names",
	  "a|b|",
	  { { 0, { UNUSED }, WS_LINE_BASE_WRITTEN, 0 },
	    { 0, { UNUSED }, WS_LINE_BASE_WRITTEN, 0 } },
	  2,
	  false,
	  false },
	{ "a table without names needs no base",
	  "a|b|",
	  { { 0, { 0 }, WS_LINE_BASE_WRITTEN, 0 },
	    { 0, { UNUSED }, WS_LINE_BASE_WRITTEN, 0 },
	    { 0, { 0 }, WS_LINE_BASE_FOUND, 2 } },
	  3,
	  false,
	  false },
};

static size_t table_build(struct lb *b, const struct table_case *table)
{
	b->str_base = table->operands[0] != PLAIN;
	b->str_base_value = table->base;
	lb_table(b);
	size_t off = lb_set_address(b, 0);
	lb_row(b, 0, 2);
	lb_call(b, 0, 77); /* a name that is none, as there is no call */
	for (size_t i = 0; i == 0 || table->operands[i]; i++) {
		if (table->operands[i] >= 0)
			lb_call(b, 1, (uint64_t)table->operands[i]);
		lb_row(b, 0x10, 1);
	}
	lb_end_after(b, 0x10);
	lb_table_end(b);
	return off;
}

static struct ws_line_map *map_build(struct lb *b, size_t index, char *names)
{
	struct ws_line_reloc relocs[MAX_TABLES];
	for (size_t i = 0; i < cases[index].n; i++)
		relocs[i] =
			(struct ws_line_reloc){ .sec_off = table_build(b, &cases[index].table[i]),
						.owner = (uint32_t)i,
						.add_stored = true };
	size_t len = strlen(cases[index].names);
	for (size_t i = 0; i < len; i++)
		names[i] = (char)(cases[index].names[i] == '|' ? 0 : cases[index].names[i]);
	const struct ws_line_input input = {
		.line = { b->byte, b->len, 0 },
		.str = { (const uint8_t *)names, len, 0x10000 },
		.relocs = relocs,
		.n_relocs = cases[index].n,
		.bases_unset = cases[index].expected,
		.str_is_cut = cases[index].cut,
	};
	struct ws_line_map *map;
	assert_int_equal(ws_line_create(&input, &map, NULL), WS_OK);
	return map;
}

static void check_names(const struct ws_line_map *map, uint32_t owner,
			const struct table_case *table, const char *names)
{
	for (size_t i = 0; table->operands[0] >= 0 && (i == 0 || table->operands[i]); i++) {
		struct ws_line_pos pos[2];
		size_t n;
		assert_int_equal(ws_line_find(map, owner, 0x10 * (i + 1), pos, 2, &n, NULL), WS_OK);
		assert_int_equal(n, 2);
		if (table->is == WS_LINE_BASE_LOST)
			assert_null(pos[0].function);
		else
			assert_ptr_equal(pos[0].function,
					 names + table->found + table->operands[i]);
	}
}

static void only_a_base_that_is_proved_is_taken(void **state)
{
	(void)state;
	for (size_t c = 0; c < WSI_COUNT(cases); c++) {
		struct lb b = lb_new();
		char names[64];
		struct ws_line_map *map = map_build(&b, c, names);
		size_t n_lost = 0;
		for (size_t i = 0; i < cases[c].n; i++) {
			const struct table_case *expected = &cases[c].table[i];
			const struct ws_line_table *table = ws_line_table_at(map, i);
			if (table->base != expected->is || table->str_base != expected->found)
				fail_msg("%s: table %zu: base %u at 0x%x", cases[c].why, i,
					 (unsigned)table->base, (unsigned)table->str_base);
			check_names(map, (uint32_t)i, expected, names);
			n_lost += table->base == WS_LINE_BASE_LOST;
		}
		/* they are told once, and none of their rows again */
		assert_int_equal(ws_line_diagnostics(map, NULL, NULL), n_lost > 0);
		ws_line_destroy(map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_base_that_is_proved_is_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
