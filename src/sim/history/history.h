/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Going back: snapshots on the way, and running the same again from one of them.
 *
 * A position is the number of instructions (and calls of the device's own functions) executed so
 * far. Where a device runs by itself, its state is a function of the position: turns that are cut
 * go on (run.c), and breakpoints change nothing. What a debugger does beside that is kept: its
 * steps in a list, what it writes by a snapshot afterwards. What the host does cannot be repeated:
 * history begins anew.
 *
 * To find what happened last costs no more than running WSI_HISTORY_INTERVAL instructions:
 * snapshots are three quarters of it apart, and the rest is for those that the search makes on its
 * way, so that the next search costs a fraction. Large ones are further apart. When all take more
 * memory than they may, with what the device has changed since the last one, those go first that
 * are close to others for their age.
 */
#ifndef WSI_SIM_HISTORY_H
#define WSI_SIM_HISTORY_H

#include "sim/debug/debug.h"

enum {
	WSI_HISTORY_INTERVAL = 1 << 20,
	WSI_HISTORY_APART = WSI_HISTORY_INTERVAL / 4 * 3,
	WSI_HISTORY_DENSE = 18, /* snapshots of an interval that was searched, beside a few
				   where the search began */
};

/* Begins to keep history in so many bytes; 0 ends it. The device has a debugger. */
enum ws_status wsi_history_keep(struct ws_sim *sim, uint64_t max_bytes,
				struct ws_error *err) WS_MUST_USE;
void wsi_history_fini(struct ws_sim *sim);

/* ---- forward: does nothing for a device without history ---- */

/* The device is about to run (`runs`) or to be stepped: what was ahead of a place in the past is
 * gone. No memory only means that one cannot go back to here. */
void wsi_history_begin(struct ws_sim *sim, bool runs);
/* Instructions that it may run until the next snapshot; 0: any number. */
uint64_t wsi_history_room(const struct ws_sim *sim);
/* It has run, or (`step`) a step of a lane has been made from a position on. */
void wsi_history_ran(struct ws_sim *sim);
struct wsi_action {
	uint64_t at, end; /* positions */
	bool ran, halted; /* the device ran by itself before, to a breakpoint */
	bool until;       /* runs warps until a pc, else steps a warp */
	uint32_t sm;
	uint64_t warps, pc;     /* until */
	uint32_t slot, lane, n; /* a step; `n` of them */
	bool over;
};
void wsi_history_did(struct ws_sim *sim, const struct wsi_action *action);

/* ---- back: the device stands ---- */

/*
 * Finds the last event before the device's position, and puts the device there. Not found: it
 * stands where it was, or after looking for stops where history begins.
 * @retval WS_ABSENT     there is no history.
 * @retval WS_MALFORMED  it did not run the same again: memory of others (ws_sim_map()) has changed.
 * @retval WS_NO_MEMORY
 */
enum ws_status wsi_history_back(struct ws_sim *sim, const struct wsi_history_search *search,
				struct wsi_history_found *ret_found,
				struct ws_error *err) WS_MUST_USE;
/* Puts the device to a position between the beginning and the end of its history. @retval as
 * above, WS_ARGUMENT */
enum ws_status wsi_history_go(struct ws_sim *sim, uint64_t position,
			      struct ws_error *err) WS_MUST_USE;

#endif
