/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a dump: each is visited once, and a filter lets through those that it names. */
#include "unit.h"

#include <stdlib.h>

#include <warpscope/core.h>
#include <warpscope/threads.h>

static struct ws_target *target;

static int dump_open(void **state)
{
	(void)state;
	char path[1000];
	const char *folder = getenv("WS_TEST_DUMPS");
	return folder && wsi_format(path, "%s/hang.nvcudmp", folder) &&
			       ws_core_open(path, NULL, &target, NULL) == WS_OK
		       ? 0
		       : -1;
}

static int dump_close(void **state)
{
	(void)state;
	ws_target_close(target);
	return 0;
}

struct seen {
	const struct ws_threads *threads;
	uint32_t n_warps, n_lanes, last_warp;
	bool have_focus;
};

static void see(void *user, const struct ws_resident *warp)
{
	struct seen *seen = user;
	struct ws_resident again;
	const struct ws_filter all = { .nothing = false };
	assert_true(seen->n_warps == 0 || warp->warp_index > seen->last_warp);
	assert_true(
		ws_threads_resident(seen->threads, &all, WS_WALK_LANES, warp->warp_index, &again));
	assert_int_equal(again.sm_index, warp->sm_index);
	seen->last_warp = warp->warp_index;
	seen->n_warps++;
	seen->n_lanes += warp->n_lanes;
	seen->have_focus |= ws_threads_has_focus(seen->threads, warp);
}

static struct seen walk(const struct ws_threads *threads, int argc, char **argv)
{
	struct ws_filter filter;
	struct seen seen = { .threads = threads };
	const char *bad;
	assert_true(ws_filter_parse(&filter, &threads->at, argc, argv, &bad));
	ws_threads_walk(threads, &filter, WS_WALK_LANES, see, &seen);
	return seen;
}

static void each_thread_is_visited_once(void **state)
{
	(void)state;
	struct ws_threads threads;
	uint32_t n_lanes = 0;
	assert_int_equal(ws_threads_init(&threads, target, NULL, NULL), WS_OK);
	for (uint32_t i = 0; i < threads.counts.warps; i++) {
		struct ws_lane lanes[WS_MAX_LANES];
		uint32_t n = 0;
		assert_int_equal(ws_target_lanes(target, i, lanes, &n, NULL), WS_OK);
		n_lanes += n;
	}
	const struct seen seen = walk(&threads, 0, NULL);
	assert_int_equal(seen.n_warps, threads.counts.warps);
	assert_int_equal(seen.n_lanes, n_lanes);
	assert_true(n_lanes > WS_MAX_LANES && seen.have_focus);
	ws_threads_fini(&threads);
}

static void a_filter_lets_through_what_it_names(void **state)
{
	(void)state;
	struct ws_threads threads;
	struct ws_focus first, nearest;
	struct ws_filter filter;
	const char *bad;
	char *current[] = { "lane", "current" }, *none[] = { "block", "4000000,0,0" };
	char *lane[] = { "lane", "5" }, *thread[] = { "thread", "0,0,0" };
	assert_int_equal(ws_threads_init(&threads, target, NULL, NULL), WS_OK);
	struct seen seen = walk(&threads, 2, current);
	assert_true(seen.n_warps == 1 && seen.n_lanes == 1 && seen.have_focus);
	seen = walk(&threads, 2, thread); /* the first warp of each block */
	assert_true(seen.n_warps == threads.counts.blocks && seen.n_lanes == seen.n_warps);
	assert_true(threads.counts.warps > threads.counts.blocks);
	seen = walk(&threads, 2, none);
	assert_int_equal(seen.n_warps, 0);
	assert_true(ws_filter_parse(&filter, &threads.at, 2, lane, &bad));
	assert_true(ws_threads_first(&threads, &filter, &first));
	assert_true(ws_threads_nearest(&threads, &filter, &nearest));
	assert_int_equal(first.lane, 5);
	assert_int_equal(nearest.lane, 5);
	assert_int_equal(nearest.warp_index, threads.focus.warp_index);
	ws_threads_focus_on(&threads, &nearest);
	assert_int_equal(threads.at.number[WS_FILTER_lane][0], 5);
	ws_threads_fini(&threads);
}

static unsigned allocations, failing;

static bool is_turn(void)
{
	return ++allocations == failing;
}

static void without_memory_there_are_no_threads(void **state)
{
	(void)state;
	struct ws_threads threads;
	wsi_alloc_should_fail = is_turn;
	for (failing = 1; failing <= 3; failing++) {
		allocations = 0;
		assert_int_equal(ws_threads_init(&threads, target, NULL, NULL), WS_NO_MEMORY);
	}
	wsi_alloc_should_fail = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thread_is_visited_once),
		cmocka_unit_test(a_filter_lets_through_what_it_names),
		cmocka_unit_test(without_memory_there_are_no_threads),
	};
	return cmocka_run_group_tests(tests, dump_open, dump_close);
}
