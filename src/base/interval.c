/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/interval.h"

bool wsi_segments_init(struct wsi_segments *segments, size_t n_intervals)
{
	*segments = (struct wsi_segments){ 0 };
	if (n_intervals > SIZE_MAX / 4)
		return false;
	segments->start = wsi_zalloc_array(2 * n_intervals, sizeof *segments->start);
	segments->id = wsi_zalloc_array(2 * n_intervals, sizeof *segments->id);
	if (segments->start && segments->id)
		return true;
	wsi_segments_fini(segments);
	return false;
}

void wsi_segments_fini(struct wsi_segments *segments)
{
	wsi_free(segments->start);
	wsi_free(segments->id);
	*segments = (struct wsi_segments){ 0 };
}

/* By start; among equal ones the preferred last: shorter, then greater id. */
static int interval_order(const void *left, const void *right)
{
	const struct wsi_interval *a = left, *b = right;
	return WSI_ORDER_THEN(a->start, b->start,
			      WSI_ORDER_THEN(b->end, a->end, WSI_ORDER(a->id, b->id)));
}

static void segment_add(struct wsi_segments *segments, size_t first, uint64_t start, uint32_t id)
{
	size_t n = segments->n;
	if (n > first && segments->start[n - 1] == start) {
		segments->id[n - 1] = id;
		return;
	}
	segments->start[n] = start;
	segments->id[n] = id;
	segments->n = n + 1;
}

/*
 * Walks the ranges by start with those that are still open on a stack. The stack lives in the
 * array itself: entry i is read before its place can be written, as the stack is never higher.
 */
void wsi_segments_append(struct wsi_segments *segments, struct wsi_interval *intervals, size_t n)
{
	if (n > 0) /* with none `intervals` may be NULL */
		qsort(intervals, n, sizeof *intervals, interval_order);
	size_t first = segments->n, height = 0;
	for (size_t i = 0; i <= n; i++) {
		uint64_t now = i < n ? intervals[i].start : UINT64_MAX;
		while (height > 0 && intervals[height - 1].end <= now) {
			uint64_t end = intervals[--height].end;
			while (height > 0 && intervals[height - 1].end <= end)
				height--;
			segment_add(segments, first, end,
				    height > 0 ? intervals[height - 1].id : WSI_NO_INTERVAL);
		}
		if (i < n && intervals[i].end > now) {
			segment_add(segments, first, now, intervals[i].id);
			intervals[height++] = intervals[i];
		}
	}
}

uint32_t wsi_segments_find_until(const struct wsi_segments *segments, size_t first, size_t n,
				 uint64_t x, uint64_t *ret_end)
{
	*ret_end = UINT64_MAX;
	if (n == 0)
		return WSI_NO_INTERVAL;
	const uint64_t *start = segments->start + first;
	*ret_end = start[0];
	if (x < start[0])
		return WSI_NO_INTERVAL;
	const uint64_t *low = start, *end = start + n;
	while (n > 1) { /* *low <= x holds; no branch, as it would be a coin's toss */
		size_t half = n / 2;
		const uint64_t *middle = low + half;
		low = *middle <= x ? middle : low;
		n -= half;
	}
	*ret_end = low + 1 < end ? low[1] : UINT64_MAX;
	return segments->id[low - segments->start];
}
