/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to a device that a debugger has to know: kept here until it is asked for. None of it
 * costs anything while no debugger is there.
 */
#ifndef WSI_SIM_EVENT_H
#define WSI_SIM_EVENT_H

#include "sim/device/device.h"

/* Why a warp stands. */
enum wsi_halt {
	WSI_HALT_NONE,
	WSI_HALT_PLANTED,  /* a breakpoint of the debugger's */
	WSI_HALT_LAUNCH,   /* the first instruction of a kernel */
	WSI_HALT_INTERNAL, /* where wsi_stub_run_until() was to bring it */
	WSI_HALT_WATCHED,  /* behind an instruction that a watchpoint was for */
};

/* What to look for, back from where the device is. */
enum wsi_back {
	WSI_BACK_LANE,  /* the last instruction of a lane */
	WSI_BACK_STOPS, /* the last breakpoint or watchpoint that is hit */
	WSI_BACK_WATCH, /* the last hit of one watchpoint */
	WSI_BACK_REG,   /* the last instruction of a lane that writes a register */
};

/* A lane, by numbers that stay the same in a restored device. */
struct wsi_lane_id {
	uint64_t grid;
	struct ws_dim3 block;
	uint32_t warp, lane;
};

struct wsi_history_search {
	enum wsi_back what;
	struct wsi_lane_id who;
	uint32_t number; /* of a watchpoint, or of a register */
	bool is_predicate;
};

/* What was found. The instruction of it is the next one that its lanes execute. */
struct wsi_history_found {
	bool any;
	uint64_t at; /* position */
	uint32_t sm, slot, lanes;
	uint32_t watch;   /* number; 0: a breakpoint, or an instruction */
	uint64_t n_again; /* instructions that were executed again, to find it and to go there */
};

/* A search, and what it has found so far. */
struct wsi_sought {
	struct wsi_history_search search;
	struct wsi_history_found found;
	uint64_t before; /* events from here on do not count */
};

/* A record of the log. */
struct wsi_log {
	struct wsi_log *next;
	uint64_t time_ns; /* since 1970 */
	uint32_t level, host_tid;
	char text[256];
};

struct wsi_stub {
	struct wsi_plant **plants; /* owned, and they are; by pc */
	size_t n_plants, cap_plants;
	bool stop_at_launch;
	bool halted;          /* a warp stands at a breakpoint of the debugger's: the run ends */
	uint32_t until_sm;    /* whom internal breakpoints are for */
	uint64_t until_warps; /* 0: nobody */
	uint64_t *moved;      /* owned; of each SM: slots of warps that executed something */
	uint64_t *broken;     /* owned; of each SM: slots of warps that stand for a wsi_halt */
	uint64_t n_left;      /* blocks that have left */
	bool new_lists;       /* a block came or left, a warp lost its last thread */
	struct wsi_history *history; /* owned; NULL: none is kept */
	bool chosen;                 /* it came to a breakpoint: who runs next is chosen */
	struct wsi_sought sought;    /* what is looked for while it runs again */
	bool replays;                /* it runs again what was: nothing stops it, */
	uint64_t stop_at;            /* but this position */
	struct wsi_grid *finished;   /* owned; in the order of their ends, until they are taken */
	struct wsi_log *logs;        /* owned; oldest first, until they are taken */
};

/* A warp stands from now on; `lanes` have seen what is at `pc`. */
void wsi_stub_halt(struct ws_sim *sim, struct wsi_warp *warp, enum wsi_halt why, uint32_t lanes,
		   uint64_t pc);

/* ---- what the engine tells ---- */

void wsi_stub_moved(struct ws_sim *sim, const struct wsi_warp *warp);
/* It has hit a watchpoint. */
void wsi_stub_watched(struct ws_sim *sim, struct wsi_warp *warp);
/* A block came; `is_first`: of its grid. */
void wsi_stub_entered(struct ws_sim *sim, struct wsi_block *block, bool is_first);
void wsi_stub_finished(struct wsi_stub *debug, struct wsi_grid *grid);
/* Nobody is told of grids that have ended: they ended before, or nobody is there. */
void wsi_stub_drop_finished(struct wsi_stub *debug);
/* Whether the run must end: there is something to tell. */
static inline bool wsi_debug_waits(const struct wsi_stub *debug)
{
	return debug->halted || debug->finished;
}

/* ---- what the engine tells while it runs again ---- */

/* Lanes come to a breakpoint; a watchpoint was hit by the instruction before; a group has executed
 * something; an instruction that was looked for is done. */
void wsi_search_met(struct ws_sim *sim, const struct wsi_warp *warp, uint32_t lanes);
void wsi_search_watched(struct ws_sim *sim, const struct wsi_warp *warp);
void wsi_search_group(const struct wsi_run *run);
void wsi_search_marked(const struct wsi_run *run);

#endif
