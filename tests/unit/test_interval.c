/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/interval.h"

/* The definition: of the ranges that hold x the one that starts last, then ends first, then has the
 * greatest id. */
static uint32_t slow_find(const struct wsi_interval *ranges, size_t n, uint64_t x)
{
	const struct wsi_interval *best = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct wsi_interval *r = &ranges[i];
		if (x < r->start || x >= r->end)
			continue;
		if (!best || r->start > best->start ||
		    (r->start == best->start &&
		     (r->end < best->end || (r->end == best->end && r->id > best->id))))
			best = r;
	}
	return best ? best->id : WSI_NO_INTERVAL;
}

static void nested_range_wins_over_the_one_around_it(void **state)
{
	(void)state;
	struct wsi_interval ranges[] = {
		{ 0, 100, 0 }, { 10, 40, 1 }, { 20, 25, 2 }, { 50, 60, 3 }, { 200, 200, 4 },
	};
	struct wsi_segments s;
	assert_true(wsi_segments_init(&s, WSI_COUNT(ranges)));
	wsi_segments_append(&s, ranges, WSI_COUNT(ranges));
	static const struct {
		uint64_t x;
		uint32_t id;
	} cases[] = { { 0, 0 },
		      { 9, 0 },
		      { 10, 1 },
		      { 24, 2 },
		      { 25, 1 },
		      { 40, 0 },
		      { 59, 3 },
		      { 99, 0 },
		      { 100, WSI_NO_INTERVAL },
		      { 200, WSI_NO_INTERVAL } };
	for (size_t i = 0; i < WSI_COUNT(cases); i++)
		assert_int_equal(wsi_segments_find(&s, 0, s.n, cases[i].x), cases[i].id);
	wsi_segments_fini(&s);
}

static void no_ranges_hold_nothing(void **state)
{
	(void)state;
	struct wsi_segments s;
	assert_true(wsi_segments_init(&s, 0));
	wsi_segments_append(&s, NULL, 0);
	assert_int_equal(wsi_segments_find(&s, 0, s.n, 5), WSI_NO_INTERVAL);
	wsi_segments_fini(&s);
}

/* Two groups in one list, ranges that overlap in every way, up to the end of the number space. */
static void any_ranges_answer_as_the_definition_says(void **state)
{
	(void)state;
	uint32_t seed = 1;
	for (unsigned round = 0; round < 2000; round++) {
		struct wsi_interval ranges[2][12], copies[2][12];
		size_t n[2], first[2];
		struct wsi_segments s;
		assert_true(wsi_segments_init(&s, 24));
		uint64_t base = round % 3 == 0 ? UINT64_MAX - 40 : 0;
		for (unsigned g = 0; g < 2; g++) {
			seed = seed * 1664525 + 1013904223;
			n[g] = seed >> 8 & 7;
			for (size_t i = 0; i < n[g]; i++) {
				seed = seed * 1664525 + 1013904223;
				uint64_t start = base + (seed >> 8) % 40;
				uint64_t end = wsi_add_sat(start, (seed >> 16) % 20);
				ranges[g][i] = (struct wsi_interval){ start, end, (uint32_t)i };
			}
			memcpy(copies[g], ranges[g], sizeof ranges[g]);
			first[g] = s.n;
			wsi_segments_append(&s, copies[g], n[g]);
		}
		size_t counts[2] = { first[1], s.n - first[1] };
		for (unsigned g = 0; g < 2; g++) {
			for (size_t i = first[g] + 1; i < first[g] + counts[g]; i++)
				assert_true(s.start[i - 1] < s.start[i]);
			uint64_t until = base;
			for (uint64_t x = base; x - base < 40; x++) {
				uint64_t end;
				uint32_t id =
					wsi_segments_find_until(&s, first[g], counts[g], x, &end);
				assert_int_equal(id, slow_find(ranges[g], n[g], x));
				/* it is the same up to the end, and there another one */
				assert_true(end > x && (x == base || x == until || end == until));
				if (end < base + 40)
					assert_true(slow_find(ranges[g], n[g], end) != id);
				until = end;
			}
		}
		wsi_segments_fini(&s);
	}
}

static void all_memory_is_freed(void **state)
{
	(void)state;
	assert_frees_all(nested_range_wins_over_the_one_around_it);
	assert_frees_all(no_ranges_hold_nothing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_range_wins_over_the_one_around_it),
		cmocka_unit_test(no_ranges_hold_nothing),
		cmocka_unit_test(any_ranges_answer_as_the_definition_says),
		cmocka_unit_test(all_memory_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
