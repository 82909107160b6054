/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope diff, inside: what is compared and how a difference is told. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include <warpscope/core.h>
#include <warpscope/report.h>

#include "cli.h"

enum { DIFF_TEXT = 400 }; /* bytes of a key or a value */

#define DIFF_KIND_LIST(X) \
	X(verdict)        \
	X(device)         \
	X(kernel) X(exception) X(group) X(module) X(field) X(warp) X(register) X(memory)

enum diff_kind {
#define X(name) DIFF_##name,
	DIFF_KIND_LIST(X)
#undef X
		N_DIFF_KINDS
};

struct diff {
	struct cli *cli;
	struct ws_json json;
	struct cli_given limit;
	uint64_t found[N_DIFF_KINDS];
	struct diff_side {
		const char *path;
		struct ws_target *target;
		const struct ws_report *report;
		struct ws_counts counts;
	} side[2];
};

/* One difference; NULL: not on that side. */
void diff_tell(struct diff *diff, enum diff_kind kind, const char *key, const char *a,
	       const char *b);

/* Fields of the metadata, and of the rows that have no threads: devices to blocks. */
void diff_tables(struct diff *diff);
/* Fields of two rows that match, `key` names them. */
void diff_row(struct diff *diff, enum ws_row row, const char *key, const void *a, const void *b);
/* Return addresses of a lane of two warps that match. */
void diff_stacks(struct diff *diff, const uint32_t warps[2], uint32_t lane, const char *key);
/* Global memory, range by range. */
void diff_memory_global(struct diff *diff);
/* Local memory of the lanes of two warps that match; shared memory of their blocks. */
void diff_memory_of_warp(struct diff *diff, const uint32_t warps[2], const char *key);
void diff_memory_of_block(struct diff *diff, const uint32_t warps[2], const char *key);
/* Parameters and constant banks of grids with the same id. */
void diff_memory_of_grids(struct diff *diff);

#endif
