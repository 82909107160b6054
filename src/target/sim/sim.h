/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this back end share. */
#ifndef WSI_TARGET_SIM_H
#define WSI_TARGET_SIM_H

#include <pthread.h>
#include <stdatomic.h>

#include <warpscope/sim_target.h>

#include "sim/debug/debug.h"
#include "sim/event/watchpoint.h"
#include "sim/history/history.h"
#include "target/member.h"

enum { SIM_CONTEXT_ID = 1 };

struct sim_live;

/* Return addresses of the host's thread that launched. */
struct sim_stack {
	uint32_t n;
	uint64_t at[WS_SIM_HOST_STACK];
};

/* Lists of what the device has, in the order of the target's rows. */
struct sim_rows {
	struct ws_grid *grids;     /* owned; those that are done, then the queue */
	struct sim_stack *stacks;  /* owned; of each grid */
	struct wsi_grid **queue;   /* owned; behind each row, NULL for one that is done */
	struct ws_module *modules; /* owned */
	struct wsi_block **blocks; /* owned; by SM */
	struct wsi_warp **warps;   /* owned; by SM and slot; those that have threads left */
	uint32_t *block_of;        /* owned; of each warp, its index in `blocks` */
	uint32_t *first_warp;      /* owned; of each SM, and one more at the end */
	struct ws_counts counts;
	uint64_t n_launched; /* grids that the device was given */
	uint64_t n_loads;    /* ws_sim.n_loads */
};

struct sim_target {
	struct ws_target target;
	struct ws_sim *_Atomic sim; /* borrowed; another one after a reset */
	struct sim_rows rows;
	uint64_t gone_modules; /* of devices that this one took the place of: handles are new */
	struct sim_live *live; /* owned; NULL: the device stands for good */
	pthread_mutex_t range_lock; /* of the next three, which are made when first asked for */
	_Atomic bool ranges_known;
	struct ws_memory_range *ranges; /* owned */
	size_t n_ranges, cap_ranges;
	char name[48], sm_type[16];
};

static inline struct sim_target *sim_of(const struct ws_target *target)
{
	return target->state;
}

static inline uint64_t sim_module_handle(const struct sim_target *t, uint32_t index)
{
	return t->gone_modules + index + 1;
}

/* ---- sim.c ---- */

/* Makes the lists anew; on failure they are what they were. */
enum ws_status sim_collect(struct sim_target *t, struct ws_counts *ret_counts,
			   struct ws_error *err) WS_MUST_USE;
/* Makes a target; its device stands. */
enum ws_status sim_open(struct ws_sim *sim, const struct ws_target_ops *ops,
			struct sim_target **ret_target, struct ws_error *err) WS_MUST_USE;
struct ws_grid sim_grid_row(const struct sim_target *t, const struct wsi_grid *grid,
			    uint32_t status);
/* The exception by the API's numbers; what has none there is a trap (0) or an illegal
 * instruction. */
uint32_t sim_exception_of(const struct ws_sim_fault *fault);
bool sim_is_faulted(const struct sim_target *t, const struct wsi_warp *warp);
/* Registers of a kind that a warp has. */
uint32_t sim_register_count(const struct sim_target *t, const struct wsi_warp *warp,
			    enum ws_reg_kind kind);
uint32_t sim_register(const struct wsi_warp *warp, uint32_t lane, enum ws_reg_kind kind,
		      uint32_t number);
struct ws_dim3 sim_thread_of(const struct wsi_warp *warp, uint32_t lane);
/* All 0: in none. */
struct ws_dim3 sim_cluster_idx(const struct wsi_block *block);
struct ws_dim3 sim_cluster_dim(const struct wsi_block *block);
WSI_TARGET_MEMBER(sim_, close);
WSI_TARGET_MEMBER(sim_, device);
WSI_TARGET_MEMBER(sim_, context);
WSI_TARGET_MEMBER(sim_, module);
WSI_TARGET_MEMBER(sim_, grid);
WSI_TARGET_MEMBER(sim_, sm);
WSI_TARGET_MEMBER(sim_, block);
WSI_TARGET_MEMBER(sim_, warp);
WSI_TARGET_MEMBER(sim_, lanes);
WSI_TARGET_MEMBER(sim_, call_stack);
WSI_TARGET_MEMBER(sim_, registers);

/* ---- memory.c ---- */

/* What an address names. */
struct sim_place {
	enum ws_space space; /* never WS_SPACE_GENERIC */
	uint64_t address;
	struct wsi_warp *warp;       /* shared, local */
	uint32_t lane;               /* local */
	const struct wsi_grid *grid; /* parameters, constants */
	uint32_t bank;
};

enum ws_status sim_place_of(const struct sim_target *t, const struct ws_address *at,
			    struct sim_place *ret, struct ws_error *err) WS_MUST_USE;

/* Reads memory as a lane of a warp sees it; also while that executes, by who has the device. */
enum ws_status sim_read_of_warp(const struct sim_target *t, struct wsi_warp *warp,
				const struct ws_address *at, void *buffer, size_t len,
				size_t *ret_n, struct ws_error *err) WS_MUST_USE;

WSI_TARGET_MEMBER(sim_, memory_range);
WSI_TARGET_MEMBER(sim_, read_memory);

/* ---- alter.c ---- */

WSI_TARGET_MEMBER(sim_, write_memory);
WSI_TARGET_MEMBER(sim_, write_registers);
WSI_TARGET_MEMBER(sim_, write_rpc);
WSI_TARGET_MEMBER(sim_, read_host);
WSI_TARGET_MEMBER(sim_, write_host);
WSI_TARGET_MEMBER(sim_, host_address);

/* While it runs, nobody but its thread may look at it. */
enum ws_status sim_stands(const struct sim_target *t, struct ws_error *err);

/* ---- live.c: of a device that can run ---- */

/* Whether clients see it run; of a device that cannot, never. */
bool sim_runs(const struct sim_target *t);
/* Contexts that the host has: one or none. */
uint32_t sim_contexts(const struct sim_target *t, uint32_t *ret_host_tid);
/* Ends the thread. */
void sim_live_fini(struct sim_target *t);
/* The last grids that have ended, oldest first. */
const struct ws_grid *sim_done_grids(const struct sim_target *t, uint32_t *ret_n);
/* Ids up to this one are of contexts that are gone. */
uint64_t sim_gone_grids(const struct sim_target *t);
struct sim_stack sim_done_stack(const struct sim_target *t, uint32_t index);
struct sim_stack sim_stack_of(const struct wsi_grid *grid);

/* Members of both: what is read of a device that stands. */
#define SIM_READING_MEMBERS                                                              \
	.name = "sim", .close = sim_close, .device = sim_device, .context = sim_context, \
	.module = sim_module, .grid = sim_grid, .sm = sim_sm, .block = sim_block,        \
	.warp = sim_warp, .lanes = sim_lanes, .call_stack = sim_call_stack,              \
	.registers = sim_registers, .read_memory = sim_read_memory,                      \
	.memory_range = sim_memory_range

#endif
