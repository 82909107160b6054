/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a debugger does to a device, beside reading it: breakpoints, single steps, and what has
 * changed since it looked last. None of it costs anything while no debugger is there.
 *
 * **Breakpoints** take the place of operations: a planted one is decoded, kept aside, and its place
 * in the chunk holds an operation that halts the warp. So a breakpoint that is not hit costs
 * nothing. A lane that stopped at one, or was stepped to it, has seen it and executes what stands
 * there when it goes on.
 *
 * **Steps** execute one group of lanes of one warp in the caller's thread. Where that group then
 * waits, those run that it waits for: the rest of its warp, then its block or cluster, then all.
 */
#ifndef WSI_SIM_DEBUG_H
#define WSI_SIM_DEBUG_H

#include "sim/device/device.h"

/* Why a warp stands. */
enum wsi_halt {
	WSI_HALT_NONE,
	WSI_HALT_PLANTED,  /* a breakpoint of the debugger's */
	WSI_HALT_LAUNCH,   /* the first instruction of a kernel */
	WSI_HALT_INTERNAL, /* where wsi_debug_run_until() was to bring it */
	WSI_HALT_WATCHED,  /* behind an instruction that a watchpoint was for */
};

/* Which lanes of a group a breakpoint of the debugger's stops; a warp stops with all of the group
 * if it is any. Others make one that begins with it. */
struct wsi_filter {
	uint32_t (*lanes)(const struct wsi_filter *filter, struct wsi_warp *warp, uint32_t group);
};

/* A breakpoint, and the operation that stands there. */
struct wsi_plant {
	uint64_t pc;
	struct wsi_filter *filter; /* owned; NULL: all lanes */
	bool is_user, is_internal, is_marked;
	struct wsi_op op;
};

/* A record of the log. */
struct wsi_log {
	struct wsi_log *next;
	uint64_t time_ns; /* since 1970 */
	uint32_t level, host_tid;
	char text[256];
};

struct wsi_debug {
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
	bool replays;                /* it runs again what was: nothing stops it, */
	uint64_t stop_at;            /* but this position */
	struct wsi_grid *finished;   /* owned; in the order of their ends, until they are taken */
	struct wsi_log *logs;        /* owned; oldest first, until they are taken */
};

/* Begins and ends to debug a device. @retval WS_NO_MEMORY */
enum ws_status wsi_debug_attach(struct ws_sim *sim, struct ws_error *err) WS_MUST_USE;
void wsi_debug_detach(struct ws_sim *sim);

/* ---- breakpoints ---- */

/* WS_ABSENT: no instruction begins there. */
enum ws_status wsi_debug_plant(struct ws_sim *sim, uint64_t pc, bool is_internal,
			       struct ws_error *err) WS_MUST_USE;
void wsi_debug_unplant(struct ws_sim *sim, uint64_t pc, bool is_internal);
/* Gives the debugger's breakpoint at a pc a filter, or NULL for none. The filter is taken, also
 * when it fails. WS_ABSENT: there is no such breakpoint. */
enum ws_status wsi_debug_filter(struct ws_sim *sim, uint64_t pc, struct wsi_filter *filter,
				struct ws_error *err) WS_MUST_USE;
/* Has wsi_history_marked() told of instructions at a pc; and of none. */
enum ws_status wsi_debug_mark(struct ws_sim *sim, uint64_t pc, struct ws_error *err) WS_MUST_USE;
void wsi_debug_unmark(struct ws_sim *sim);
/* Takes out all of the debugger's. */
void wsi_debug_unplant_all(struct ws_sim *sim);
/* A warp that stood may go on. */
void wsi_debug_release(struct ws_sim *sim, struct wsi_warp *warp);
/* Writes code. WS_ABSENT: not all of it is code; nothing is written. */
enum ws_status wsi_debug_write_code(struct ws_sim *sim, uint64_t address, const uint8_t *bytes,
				    size_t len, struct ws_error *err) WS_MUST_USE;

/* ---- steps ---- */

/* How a step ends. */
enum wsi_stepped {
	WSI_STEPPED_DONE,
	WSI_STEPPED_EARLY, /* a breakpoint, a fault, ws_sim_stop(), or it waits for ever */
	WSI_STEPPED_NO_MEMORY,
};

/*
 * Steps a warp `n` times: the group of `lane` (WSI_LANES or more: no matter which). Another group
 * that is amid code without jumps runs to the next jump first. `over`: goes on until lanes that
 * wait for others of their warp have met them; those that wait for other warps do so anyway. The
 * warp is gone if its threads and those of its block have all exited.
 */
enum wsi_stepped wsi_debug_step(struct ws_sim *sim, struct wsi_warp *warp, uint32_t lane,
				uint32_t n, bool over);
/*
 * Runs warps of an SM until each stands at `pc`, has exited, or waits for others than these.
 * A breakpoint of the debugger's or a fault ends it for all.
 */
enum wsi_stepped wsi_debug_run_until(struct ws_sim *sim, uint32_t sm, uint64_t warps, uint64_t pc);

/* Lanes of a warp that stand at a breakpoint have seen it. */
bool wsi_debug_arrive(struct ws_sim *sim, struct wsi_warp *warp, uint32_t hint);

/* ---- what the engine tells ---- */

void wsi_debug_moved(struct ws_sim *sim, const struct wsi_warp *warp);
/* It has hit a watchpoint. */
void wsi_debug_watched(struct ws_sim *sim, struct wsi_warp *warp);
/* A block came; `is_first`: of its grid. */
void wsi_debug_entered(struct ws_sim *sim, struct wsi_block *block, bool is_first);
void wsi_debug_finished(struct wsi_debug *debug, struct wsi_grid *grid);
/* Whether the run must end: there is something to tell. */
static inline bool wsi_debug_waits(const struct wsi_debug *debug)
{
	return debug->halted || debug->finished;
}

#endif
