/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison of two targets, inside: what is compared and how a difference is told. */
#ifndef WSI_VERBS_DIFF_H
#define WSI_VERBS_DIFF_H

#include <warpscope/report.h>
#include <warpscope/verbs.h>

#include "base/base.h"
#include "target/dump/format.h"

enum {
	DIFF_TEXT = 400,        /* bytes of a key or a value */
	DIFF_CHUNK = 64 * 1024, /* bytes of memory at a time */
	DIFF_MAX_DEPTH = 256,   /* of call stacks */
};

struct wsi_diff {
	ws_diff_fn *tell;
	void *user;
	uint64_t limit; /* 0: none */
	struct ws_diff_counts counts;
	bool is_out_of_memory; /* a part could not be compared */
	struct wsi_diff_side {
		const struct ws_target *target; /* borrowed */
		const struct ws_report *report; /* owned */
		struct ws_counts counts;
	} side[2];
	uint32_t block; /* whose memory was compared last, of side 0 */
	struct ws_return_address frames[2][DIFF_MAX_DEPTH]; /* of the lane at hand */
	uint8_t bytes[2][DIFF_CHUNK];                       /* of the memory at hand */
};

/* One difference; NULL: not on that side. */
void wsi_diff_tell(struct wsi_diff *diff, enum ws_diff_kind kind, const char *key, const char *a,
		   const char *b);
/* Matches the rows of a table by what stays the same from run to run, and has `pair` compare those
 * that both sides have; `key` names them. `alone` is said of a row that only one side has; NULL:
 * that is told elsewhere. */
typedef void wsi_diff_pair_fn(struct wsi_diff *diff, enum ws_row row, const uint32_t rows[2],
			      const char *key);
void wsi_diff_match(struct wsi_diff *diff, enum ws_row row, const char *alone,
		    wsi_diff_pair_fn *pair);

/* Fields of the metadata, and of the rows that have no threads: devices to blocks. */
void wsi_diff_tables(struct wsi_diff *diff);
/* Fields of two rows that match, `key` names them. */
void wsi_diff_row(struct wsi_diff *diff, enum ws_row row, const char *key, const void *a,
		  const void *b);
/* Return addresses of a lane of two warps that match. */
void wsi_diff_stacks(struct wsi_diff *diff, const uint32_t warps[2], uint32_t lane,
		     const char *key);
/* Global memory, range by range. */
void wsi_diff_memory_global(struct wsi_diff *diff);
/* Local memory of the lanes of two warps that match, and shared memory of their blocks, once. */
void wsi_diff_memory_of_warp(struct wsi_diff *diff, const uint32_t warps[2], const char *key);
/* Parameters and constant banks of grids with the same id. A `wsi_diff_pair_fn`. */
void wsi_diff_memory_of_grid(struct wsi_diff *diff, enum ws_row row, const uint32_t grids[2],
			     const char *key);

#endif
