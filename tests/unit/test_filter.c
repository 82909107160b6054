/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of the tables: cuda-gdb's words and spellings, and what they let through. */
#include "unit.h"

#include <warpscope/threads.h>

static const struct ws_coords focus = {
	.known = { [WS_FILTER_device] = true,
		   [WS_FILTER_sm] = true,
		   [WS_FILTER_grid] = true,
		   [WS_FILTER_block] = true,
		   [WS_FILTER_thread] = true },
	.number = { [WS_FILTER_device] = { 1 },
		    [WS_FILTER_sm] = { 7 },
		    [WS_FILTER_grid] = { -3 },
		    [WS_FILTER_block] = { 4, 5, 6 },
		    [WS_FILTER_thread] = { 8, 9, 0 } },
};

/* Splits at '|' into arguments. */
static bool parse_at(const struct ws_coords *at_focus, const char *words, struct ws_filter *filter,
		     const char **ret_bad)
{
	static char text[200];
	char *argv[20];
	int argc = 0;
	snprintf(text, sizeof text, "%s", words);
	for (char *at = text; at && *at; argc++) {
		argv[argc] = at;
		at = strchr(at, '|');
		if (at)
			*at++ = '\0';
	}
	return ws_filter_parse(filter, at_focus, argc, argv, ret_bad);
}

static bool parse(const char *words, struct ws_filter *filter, const char **ret_bad)
{
	return parse_at(&focus, words, filter, ret_bad);
}

static void every_spelling_means_the_same(void **state)
{
	(void)state;
	static const char *const spellings[] = { "block|(1,2,3)",     "block|1,2,3",
						 "block (1,2,3)",     "block|1|,|2,|3",
						 "block|( 1, 2 ,3 )", "block|(0x1,2,3)",
						 "block(1,2,3)" };
	for (size_t i = 0; i < WSI_COUNT(spellings); i++) {
		struct ws_filter filter;
		const char *bad = NULL;
		assert_true(parse(spellings[i], &filter, &bad));
		assert_true(ws_filter_dim3(&filter, WS_FILTER_block, (struct ws_dim3){ 1, 2, 3 }));
		assert_false(ws_filter_dim3(&filter, WS_FILTER_block, (struct ws_dim3){ 1, 2, 4 }));
	}
}

static void components_that_are_not_given_match_anything(void **state)
{
	(void)state;
	struct ws_filter filter;
	const char *bad = NULL;
	assert_true(parse("thread|3", &filter, &bad));
	assert_true(ws_filter_dim3(&filter, WS_FILTER_thread, (struct ws_dim3){ 3, 9, 9 }));
	assert_false(ws_filter_dim3(&filter, WS_FILTER_thread, (struct ws_dim3){ 4, 0, 0 }));
	assert_true(parse("thread|(*,2)", &filter, &bad));
	assert_true(ws_filter_dim3(&filter, WS_FILTER_thread, (struct ws_dim3){ 7, 2, 1 }));
	assert_false(ws_filter_dim3(&filter, WS_FILTER_thread, (struct ws_dim3){ 7, 3, 1 }));
}

static void several_words_limit_together(void **state)
{
	(void)state;
	static const char *const spellings[] = { "sm|3|warp|2|block|1", "sm 3, warp 2, block 1",
						 "block|1,|sm|3|warp|2" };
	for (size_t i = 0; i < WSI_COUNT(spellings); i++) {
		struct ws_filter filter;
		const char *bad = NULL;
		assert_true(parse(spellings[i], &filter, &bad));
		assert_true(ws_filter_number(&filter, WS_FILTER_sm, 3));
		assert_false(ws_filter_number(&filter, WS_FILTER_sm, 2));
		assert_true(ws_filter_number(&filter, WS_FILTER_warp, 2));
		assert_false(ws_filter_number(&filter, WS_FILTER_warp, 3));
		assert_false(ws_filter_limits(&filter, WS_FILTER_lane));
		assert_true(ws_filter_number(&filter, WS_FILTER_lane, 31));
		assert_false(ws_filter_dim3(&filter, WS_FILTER_block, (struct ws_dim3){ 2, 0, 0 }));
	}
}

static void current_is_the_focus(void **state)
{
	(void)state;
	struct ws_filter filter;
	const char *bad = NULL;
	assert_true(parse("sm|current|block|current|grid|current", &filter, &bad));
	assert_true(ws_filter_number(&filter, WS_FILTER_sm, 7));
	assert_false(ws_filter_number(&filter, WS_FILTER_sm, 1));
	assert_true(ws_filter_number(&filter, WS_FILTER_grid, -3));
	assert_true(ws_filter_dim3(&filter, WS_FILTER_block, (struct ws_dim3){ 4, 5, 6 }));
	assert_false(ws_filter_dim3(&filter, WS_FILTER_block, (struct ws_dim3){ 4, 5, 7 }));
}

static void current_brings_what_it_counts_within(void **state)
{
	(void)state;
	struct ws_filter filter;
	const char *bad = NULL;
	assert_true(parse("sm|current", &filter, &bad)); /* of every device: as cuda-gdb has it */
	assert_false(ws_filter_limits(&filter, WS_FILTER_device));
	assert_true(parse("grid|current", &filter, &bad));
	assert_true(ws_filter_number(&filter, WS_FILTER_device, 1));
	assert_false(ws_filter_number(&filter, WS_FILTER_device, 0));
	assert_true(parse("thread|current", &filter, &bad));
	assert_true(ws_filter_dim3(&filter, WS_FILTER_block, (struct ws_dim3){ 4, 5, 6 }));
	assert_false(ws_filter_dim3(&filter, WS_FILTER_block, (struct ws_dim3){ 4, 5, 7 }));
	assert_false(ws_filter_limits(&filter, WS_FILTER_kernel)); /* the focus has none */
	static const char *const words[] = { "thread|current", "block|current", "cluster|current" };
	for (size_t i = 0; i < WSI_COUNT(words); i++) {
		struct ws_coords in_kernel = focus;
		in_kernel.known[WS_FILTER_kernel] = in_kernel.known[WS_FILTER_cluster] = true;
		in_kernel.number[WS_FILTER_kernel][0] = 2;
		assert_true(parse_at(&in_kernel, words[i], &filter, &bad));
		assert_true(ws_filter_number(&filter, WS_FILTER_kernel, 2));
		assert_false(ws_filter_number(&filter, WS_FILTER_kernel, 1));
	}
	assert_true(parse("grid|current|device|any", &filter, &bad));
	assert_true(ws_filter_number(&filter, WS_FILTER_device, 0));
	assert_true(parse("device|0|grid|current", &filter, &bad));
	assert_true(ws_filter_number(&filter, WS_FILTER_device, 0));
	assert_false(ws_filter_number(&filter, WS_FILTER_device, 1));
	assert_true(parse("sm|current|sm|3", &filter, &bad)); /* the last word counts */
	assert_false(ws_filter_limits(&filter, WS_FILTER_device));
}

static void current_of_what_the_focus_lacks_matches_nothing(void **state)
{
	(void)state;
	struct ws_filter filter;
	const char *bad = NULL;
	assert_true(parse("kernel|current", &filter, &bad));
	assert_false(ws_filter_number(&filter, WS_FILTER_kernel, 0));
	assert_false(ws_filter_number(&filter, WS_FILTER_sm, 0));
	assert_true(ws_filter_parse(&filter, NULL, 2, (char *[]){ (char *)"sm", (char *)"current" },
				    &bad));
	assert_false(ws_filter_number(&filter, WS_FILTER_sm, 7));
}

static void any_and_all_undo_a_limit(void **state)
{
	(void)state;
	static const char *const spellings[] = { "sm|3|sm|any", "sm|3|sm|all", "sm|3|sm|*" };
	for (size_t i = 0; i < WSI_COUNT(spellings); i++) {
		struct ws_filter filter;
		const char *bad = NULL;
		assert_true(parse(spellings[i], &filter, &bad));
		assert_true(ws_filter_number(&filter, WS_FILTER_sm, 9));
		assert_false(ws_filter_limits(&filter, WS_FILTER_sm));
	}
}

static void negative_grids_are_grids(void **state)
{
	(void)state;
	struct ws_filter filter;
	const char *bad = NULL;
	assert_true(parse("grid|-12", &filter, &bad));
	assert_true(ws_filter_number(&filter, WS_FILTER_grid, -12));
	assert_false(ws_filter_number(&filter, WS_FILTER_grid, 12));
}

static void wrong_words_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *words, *bad;
	} cases[] = {
		{ "foo", "foo" },
		{ "sm", "sm" },
		{ "sm|x", "sm" },
		{ "current", "current" },
		{ "sm|3|bogus|1", "bogus" },
		{ "block|(1,2", "block" },
		{ "block|1,2,3,4", "4" },
		{ "sm|-1", "sm" },
		{ "sm|99999999999999999999", "sm" },
		{ "sm|3x", "x" },
		{ "smx|3", "smx" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_filter filter;
		const char *bad = NULL;
		assert_false(parse(cases[i].words, &filter, &bad));
		assert_non_null(bad);
		if (strncmp(bad, cases[i].bad, strlen(cases[i].bad)) != 0)
			fail_msg("'%s': '%s' is blamed, not '%s'", cases[i].words, bad,
				 cases[i].bad);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_means_the_same),
		cmocka_unit_test(components_that_are_not_given_match_anything),
		cmocka_unit_test(several_words_limit_together),
		cmocka_unit_test(current_is_the_focus),
		cmocka_unit_test(current_brings_what_it_counts_within),
		cmocka_unit_test(current_of_what_the_focus_lacks_matches_nothing),
		cmocka_unit_test(any_and_all_undo_a_limit),
		cmocka_unit_test(negative_grids_are_grids),
		cmocka_unit_test(wrong_words_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
