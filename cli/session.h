/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open target with what the verbs that show its state share: devices and grids at hand, the
 * focus in cuda-gdb's numbers, kernel ids, and the walk over the warps that a filter lets through.
 */
#ifndef WARPSCOPE_CLI_SESSION_H
#define WARPSCOPE_CLI_SESSION_H

#include <warpscope/focus.h>
#include <warpscope/report.h>

#include "cli.h"
#include "filter.h"

struct session {
	struct cli *cli;          /* borrowed */
	const char *path;         /* borrowed */
	struct ws_target *target; /* owned */
	struct ws_counts counts;
	struct ws_device *devices; /* owned; zero where one could not be read */
	struct ws_grid *grids;     /* owned; likewise */
	uint32_t *kernel_ids;      /* owned; by grid index */
	bool have_focus;
	struct ws_focus focus; /* with have_focus */
	struct coords at;      /* the focus in numbers; nothing is known without one */
};

/* Opens what the command line names, as cli_target_open(). An exit status; CLI_ANSWERED is success.
 */
int session_open(struct session *session, struct cli *cli, const char *path);
void session_close(struct session *session);

/* The focus for filter_parse(): NULL when there is none. */
const struct coords *session_coords(const struct session *session);
/* Kernel id of a grid index; WS_NONE for WS_NONE. */
uint32_t session_kernel(const struct session *session, uint32_t grid_index);

/* Whether the block was launched in a cluster: the layout has the field, and it is not all zero. */
bool session_has_clusters(const struct session *session, const struct ws_block *block);

/* Writes the focus as an object: device, sm, ..., or null. */
void session_json_focus(const struct session *session, struct ws_json *json);
/* "kernel 0, grid 1, block (0,0,0), thread (0,0,0), device 0, sm 0, warp 0, lane 0" */
void session_print_focus(const struct session *session, struct ws_out *out);

/*
 * The thread that the report speaks of: one that can be guilty of the fault, else the thread to
 * look at; not cuda-gdb's focus, which may be innocent. False when no such thread is left; that is
 * told where there is a focus.
 */
bool session_suspect(const struct session *session, struct ws_report_thread *ret_thread);

/* Limits a filter to that thread; without one to the focus. */
void session_limit_to_suspect(const struct session *session, struct filter *filter);
/* Looks at another thread from now on. */
void session_focus_on(struct session *session, const struct ws_focus *focus);

/* ---- walking ---- */

/* A resident warp that matches a filter. */
struct place {
	const struct ws_device *device;
	uint32_t sm_index, warp_index;
	struct ws_sm sm;
	struct ws_warp warp;
	struct ws_block block;              /* all zero with block_status */
	enum ws_status block_status;        /* why the block could not be read */
	const struct ws_grid *grid;         /* NULL: the block names none of the dump */
	uint32_t kernel;                    /* id, or WS_NONE */
	struct ws_lane lanes[WS_MAX_LANES]; /* those that match, in the order of ids */
	uint32_t n_lanes;
	enum ws_status lanes_status; /* why there are none */
};

enum walk_what {
	WALK_WARPS, /* lanes are read only when the filter asks for some */
	WALK_LANES,
};

typedef void walk_visit(void *user, const struct place *place);

/* Visits the warps in the order of devices, SMs and warp ids. With WALK_LANES, or a filter on lanes
 * or threads, only warps of which a lane matches, or whose lanes cannot be read. */
void walk(const struct session *session, const struct filter *filter, enum walk_what what,
	  walk_visit *visit, void *user);
/* The first lane that a walk visits; false: none. */
bool session_first(const struct session *session, const struct filter *filter,
		   struct ws_focus *ret_focus);
/*
 * The thread that the words of a filter name, as cuda-gdb chooses it where they name several: the
 * nearest to the focus. One of its kernel, where no device is given, and of its block, where no SM
 * is given either, is before others. Then the distance counts of device, SM, warp and lane, in this
 * order, where one of these words is given, else of block and thread; of equally near ones the
 * first. A word alone names a thread of the warp, SM, device, block or grid that the focus is in.
 * False: there is none.
 */
bool session_nearest(const struct session *session, const struct filter *given,
		     struct ws_focus *ret_focus);
/* One warp of a walk; false when it does not match. */
bool walk_place(const struct session *session, const struct filter *filter, enum walk_what what,
		uint32_t warp_index, struct place *ret_place);
/* A lane of the place as a thread to look at. */
struct ws_focus place_focus(const struct place *place, const struct ws_lane *lane);
/* Whether the warp has the focus. */
bool place_has_focus(const struct session *session, const struct place *place);
/* The fields that say where a lane is, from "device" to "pc". */
void place_json(const struct place *place, const struct ws_lane *lane, struct ws_json *json);

#endif
