/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "Which of these ranges holds x?" in one binary search, for ranges that may nest and overlap.
 *
 *   ranges     [ 0 ---------------------- )        of the ranges that hold x, the one that
 *                  [ 1 ------- )                   starts last answers; of two that start
 *                       [ 2 )     [ 3 )            together the shorter; then the greater id
 *   segments   0   1    2   1  0  3    0  -
 *
 * Building cuts the ranges into segments, at most two for each; a list can hold the segments of
 * several groups of ranges one after the other.
 */
#ifndef WSI_INTERVAL_H
#define WSI_INTERVAL_H

#include "base/base.h"

#define WSI_NO_INTERVAL UINT32_MAX

struct wsi_interval {
	uint64_t start, end; /* start <= x < end */
	uint32_t id;
};

struct wsi_segments {
	uint64_t *start; /* owned */
	uint32_t *id;    /* owned; WSI_NO_INTERVAL: a gap */
	size_t n;
};

/* Room for the segments of `n_intervals` ranges in all. False: no memory. */
bool wsi_segments_init(struct wsi_segments *segments, size_t n_intervals) WS_MUST_USE;
void wsi_segments_fini(struct wsi_segments *segments);

/* Appends the segments of a group of ranges, which are sorted in place; empty ranges are ignored.
 */
void wsi_segments_append(struct wsi_segments *segments, struct wsi_interval *intervals, size_t n);

/*
 * Id of the range that holds x, among the segments `first` ... `first + n - 1` of one group.
 * `*ret_end` is where that answer stops to hold, UINT64_MAX after the last range.
 */
uint32_t wsi_segments_find_until(const struct wsi_segments *segments, size_t first, size_t n,
				 uint64_t x, uint64_t *ret_end);

static inline uint32_t wsi_segments_find(const struct wsi_segments *segments, size_t first,
					 size_t n, uint64_t x)
{
	uint64_t end;
	return wsi_segments_find_until(segments, first, n, x, &end);
}

#endif
