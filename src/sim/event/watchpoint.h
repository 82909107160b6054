/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watchpoints: who reads, writes or changes some bytes of memory.
 *
 * Each access finds its bytes by wsi_sim_spot() or, when all lanes are together, by a short cut
 * (access.c). A device that watches lets no access take the short cut that may reach a watched
 * byte, and wsi_sim_spot() notes those that do, with what was there before. The turn is cut behind
 * the instruction; then what was noted is compared with what is there now. Bytes of constant banks
 * are found by their bank: a warp that runs sees a watched one as empty, and looks here before it
 * fails.
 */
#ifndef WSI_SIM_WATCHPOINT_H
#define WSI_SIM_WATCHPOINT_H

#include "sim/device/device.h"

enum {
	WSI_MAX_WATCHES = 64,
	WSI_TOUCH_BYTES = 16, /* no access of a lane has more at a time */
};

/* What a watchpoint stops for, and what a lane did: bits. */
enum wsi_watch_kind {
	WSI_WATCH_READ = 1,
	WSI_WATCH_WRITE = 2,
	WSI_WATCH_CHANGE = 4, /* a write after which the bytes are others */
};

/* Watched bytes. Whose they are is known by numbers that stay the same in a restored device. */
struct wsi_watch {
	uint32_t number, kinds;
	enum ws_sass_space space; /* global, shared, local or constant */
	uint64_t start, len;      /* of a constant bank: an offset */
	uint64_t grid;            /* the next: of shared memory, */
	struct ws_dim3 block;
	uint32_t warp, lane; /* of local memory: the warp's number in its block */
	uint32_t bank;
};

/* A watchpoint that was hit, by the lanes of one instruction. */
struct wsi_watch_hit {
	uint32_t number, kinds; /* `kinds`: what was done */
	uint32_t sm, slot;
	uint32_t lanes, lane; /* all, and the one of `address`; where several write, the last */
	uint64_t pc;
	uint64_t address; /* the first that was accessed, or that is another now */
	uint32_t n;
	uint8_t before[WSI_TOUCH_BYTES], now[WSI_TOUCH_BYTES];
};

struct wsi_watches;

/* Begins to watch; the number is chosen here. @retval WS_LIMIT  too many. */
enum ws_status wsi_watch_add(struct ws_sim *sim, const struct wsi_watch *watch,
			     uint32_t *ret_number, struct ws_error *err) WS_MUST_USE;
/* A number that is not there is none of anybody's. */
void wsi_watch_remove(struct ws_sim *sim, uint32_t number);
void wsi_watches_fini(struct ws_sim *sim);

/* What was hit since wsi_watch_forget(); NULL: no more. */
const struct wsi_watch_hit *wsi_watch_hit_at(const struct ws_sim *sim, uint32_t index);
void wsi_watch_forget(struct ws_sim *sim);

/* ---- what the engine asks, of a device that watches ---- */

/* Whether an access of all lanes may reach a watched byte. */
bool wsi_watch_near(const struct wsi_run *run, enum ws_sass_space space, uint64_t address,
		    uint64_t len, bool write);
/* A lane is about to access bytes that are there. */
void wsi_watch_touch(struct wsi_run *run, enum ws_sass_space space, unsigned lane, uint64_t address,
		     unsigned bytes, bool write);
/* Constant banks as a warp is to see them; `own` has room for all of them. */
const struct wsi_bank *wsi_watch_banks(const struct ws_sim *sim, const struct wsi_grid *grid,
				       struct wsi_bank own[WSI_BANKS]);
/* What is in a bank that is shown as empty; NULL: it is outside. */
const uint8_t *wsi_watch_constant(struct wsi_run *run, uint32_t bank, uint64_t off, uint32_t bytes);
/* After execution: whether a watchpoint was hit. */
bool wsi_watch_settle(struct ws_sim *sim, struct wsi_warp *warp);

#endif
