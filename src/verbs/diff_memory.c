/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between two targets: contents of memory.
 *
 * Ranges of a target are sorted by space, then owner (block, warp, grid), so those of one owner are
 * found by bisection. Ranges match when start and size are the same, of lanes and banks also these.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verbs/diff.h"

static bool range_at(const struct wsi_diff_side *side, uint32_t index,
		     struct ws_memory_range *ret_range)
{
	return ws_target_memory_range(side->target, index, ret_range, NULL) == WS_OK;
}

/* ---- bytes ---- */

/* The same stretch on both sides, and the warps that see it. */
struct stretch {
	struct ws_memory_range range[2];
	uint32_t warp[2];
};

/* Number of bytes that differ, and where the first is. */
static uint64_t memory_bytes_compare(struct wsi_diff *diff, const struct stretch *stretch,
				     uint64_t *ret_first)
{
	uint64_t n_different = 0, size = stretch->range[0].size;
	for (uint64_t off = 0; off < size; off += DIFF_CHUNK) {
		size_t want = size - off < DIFF_CHUNK ? (size_t)(size - off) : DIFF_CHUNK,
		       n[2] = { 0, 0 };
		for (int s = 0; s < 2; s++) {
			const struct ws_memory_range *range = &stretch->range[s];
			struct ws_address at = { .space = range->space,
						 .bank = range->bank,
						 .device_index = range->device_index,
						 .grid_index = range->grid_index,
						 .warp_index = stretch->warp[s],
						 .lane = range->lane };
			/* a bank's range starts where it lies in global memory */
			at.address = off + (range->space == WS_SPACE_CONST ? 0 : range->start);
			(void)!ws_target_read_memory(diff->side[s].target, &at, diff->bytes[s],
						     want, &n[s], NULL);
		}
		size_t both = n[0] < n[1] ? n[0] : n[1];
		for (size_t i = 0; memcmp(diff->bytes[0], diff->bytes[1], both) != 0 && i < both;
		     i++) {
			if (diff->bytes[0][i] != diff->bytes[1][i] && n_different++ == 0)
				*ret_first = off + i;
		}
	}
	return n_different;
}

static void stretch_compare(struct wsi_diff *diff, const struct stretch *stretch, const char *key)
{
	char text[96];
	const struct ws_memory_range *range = &stretch->range[0];
	uint64_t first = 0, n = memory_bytes_compare(diff, stretch, &first);
	first += range->space == WS_SPACE_CONST ? 0 : range->start;
	snprintf(text, sizeof text, "%" PRIu64 " bytes differ, the first at 0x%" PRIx64, n, first);
	if (n)
		wsi_diff_tell(diff, WS_DIFF_memory, key, "as recorded", text);
}

/* ---- lists of ranges ---- */

static int range_order(const struct ws_memory_range *a, const struct ws_memory_range *b)
{
	const uint64_t order[][2] = { { a->lane, b->lane },
				      { a->bank, b->bank },
				      /* where a bank lies says nothing */
				      { a->space == WS_SPACE_CONST ? 0 : a->start,
					b->space == WS_SPACE_CONST ? 0 : b->start },
				      { a->size, b->size } };
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		if (order[i][0] != order[i][1])
			return order[i][0] < order[i][1] ? -1 : 1;
	}
	return 0;
}

static void range_text(char text[DIFF_TEXT], const struct ws_memory_range *range, const char *key)
{
	char lane[32] = "";
	if (range->space == WS_SPACE_CONST) {
		snprintf(text, DIFF_TEXT, "const%u+0x%" PRIx64 " of %.300s", range->bank,
			 range->size, key);
		return;
	}
	if (range->space == WS_SPACE_LOCAL)
		snprintf(lane, sizeof lane, " lane %u", range->lane);
	snprintf(text, DIFF_TEXT, "%s 0x%" PRIx64 "+0x%" PRIx64 "%s%.300s%s",
		 ws_space_text(range->space), range->start, range->size, *key ? " of " : "", key,
		 lane);
}

/* The ranges of a space that an owner has on each side. */
static void owned_compare(struct wsi_diff *diff, enum ws_space space, const uint32_t owners[2],
			  const uint32_t warps[2], const char *key)
{
	struct stretch stretch = { .warp = { warps[0], warps[1] } };
	uint32_t at[2];
	for (int s = 0; s < 2; s++)
		at[s] = ws_target_first_range(diff->side[s].target, space, owners[s], 0);
	for (;;) {
		bool have[2];
		char text[DIFF_TEXT];
		for (int s = 0; s < 2; s++)
			have[s] = range_at(&diff->side[s], at[s], &stretch.range[s]) &&
				  stretch.range[s].space == space &&
				  ws_memory_range_owner(&stretch.range[s]) == owners[s];
		if (!have[0] && !have[1])
			return;
		int order = !have[0]   ? 1
			    : !have[1] ? -1
				       : range_order(&stretch.range[0], &stretch.range[1]);
		range_text(text, &stretch.range[order > 0], key);
		at[0] += order <= 0;
		at[1] += order >= 0;
		/* a bank at one address is told as global memory */
		if (order == 0 &&
		    !(space == WS_SPACE_CONST && stretch.range[0].start == stretch.range[1].start))
			stretch_compare(diff, &stretch, text);
		if (order < 0)
			wsi_diff_tell(diff, WS_DIFF_memory, text, "recorded", NULL);
		if (order > 0)
			wsi_diff_tell(diff, WS_DIFF_memory, text, NULL, "recorded");
	}
}

static const uint32_t no_warps[2] = { WS_NONE, WS_NONE };

void wsi_diff_memory_global(struct wsi_diff *diff)
{
	static const uint32_t nobody[2] = { 0, 0 };
	owned_compare(diff, WS_SPACE_GLOBAL, nobody, no_warps, "");
}

void wsi_diff_memory_of_warp(struct wsi_diff *diff, const uint32_t warps[2], const char *key)
{
	uint32_t blocks[2];
	owned_compare(diff, WS_SPACE_LOCAL, warps, warps, key);
	for (int s = 0; s < 2; s++) {
		struct ws_warp warp;
		if (ws_target_warp(diff->side[s].target, warps[s], &warp, NULL) != WS_OK)
			return;
		blocks[s] = warp.block_index;
	}
	if (blocks[0] != diff->block)
		owned_compare(diff, WS_SPACE_SHARED, blocks, warps, key);
	diff->block = blocks[0];
}

void wsi_diff_memory_of_grid(struct wsi_diff *diff, enum ws_row row, const uint32_t grids[2],
			     const char *key)
{
	(void)row;
	owned_compare(diff, WS_SPACE_PARAM, grids, no_warps, key);
	owned_compare(diff, WS_SPACE_CONST, grids, no_warps, key);
}
