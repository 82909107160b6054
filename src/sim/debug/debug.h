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

#include "sim/event/event.h"
#include "sim/exec/exec.h"

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

/* Begins and ends to debug a device. @retval WS_NO_MEMORY */
enum ws_status wsi_stub_attach(struct ws_sim *sim, struct ws_error *err) WS_MUST_USE;
void wsi_stub_detach(struct ws_sim *sim);

/* ---- breakpoints ---- */

/* WS_ABSENT: no instruction begins there. */
enum ws_status wsi_stub_plant(struct ws_sim *sim, uint64_t pc, bool is_internal,
			      struct ws_error *err) WS_MUST_USE;
void wsi_stub_unplant(struct ws_sim *sim, uint64_t pc, bool is_internal);
/* Gives the debugger's breakpoint at a pc a filter, or NULL for none. The filter is taken, also
 * when it fails. WS_ABSENT: there is no such breakpoint. */
enum ws_status wsi_stub_filter(struct ws_sim *sim, uint64_t pc, struct wsi_filter *filter,
			       struct ws_error *err) WS_MUST_USE;
/* Has wsi_history_marked() told of instructions at a pc; and of none. */
enum ws_status wsi_stub_mark(struct ws_sim *sim, uint64_t pc, struct ws_error *err) WS_MUST_USE;
void wsi_stub_unmark(struct ws_sim *sim);
/* Takes out all of the debugger's. */
void wsi_stub_unplant_all(struct ws_sim *sim);
/* A warp that stood may go on. */
void wsi_stub_release(struct ws_sim *sim, struct wsi_warp *warp);
/* Writes code. WS_ABSENT: not all of it is code; nothing is written. */
enum ws_status wsi_stub_write_code(struct ws_sim *sim, uint64_t address, const uint8_t *bytes,
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
enum wsi_stepped wsi_stub_step(struct ws_sim *sim, struct wsi_warp *warp, uint32_t lane, uint32_t n,
			       bool over);
/*
 * Runs warps of an SM until each stands at `pc`, has exited, or waits for others than these.
 * A breakpoint of the debugger's or a fault ends it for all.
 */
enum wsi_stepped wsi_stub_run_until(struct ws_sim *sim, uint32_t sm, uint64_t warps, uint64_t pc);

/* Lanes of a warp that stand at a breakpoint have seen it. */
bool wsi_stub_arrive(struct ws_sim *sim, struct wsi_warp *warp, uint32_t hint);

#endif
