/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution: code is loaded, grids become blocks on SMs, and operations run.
 *
 *   loader.c: modules; launch.c: grids and blocks; child.c: what kernels launch
 *   code.c: texts --> operations
 *   run.c: picks a warp, picks lanes with one pc (a group), executes operations:
 *          operand/values.c (what src/alu knows), control.c, access.c and atomic.c, lanes.c,
 *          barrier.c, service.c (printf, malloc, ... as calls), sample.c and surface.c (by handles,
 *          texture.h)
 */
#ifndef WSI_SIM_EXEC_H
#define WSI_SIM_EXEC_H

#include "sim/operand/operand.h"

/* ---- code.c ---- */
/* Decodes a chunk of a text: false when memory is out. */
bool wsi_sim_text_decode(struct ws_sim *sim, struct wsi_text *text, uint64_t chunk) WS_MUST_USE;

/* Decodes an operation anew whose bytes have changed. */
void wsi_sim_text_renew(const struct ws_sim *sim, const struct wsi_text *text, uint64_t off,
			struct wsi_op *op);

/* ---- loader.c ---- */
void wsi_loader_fini(struct ws_sim *sim);
/* Loads a section of code with what it refers to, unless it is loaded. */
void wsi_load_code(struct ws_sim *sim, uint32_t module, uint32_t section);
/* Writes addresses of what was loaded later into the images: when nobody reads them. */
void wsi_show_code(struct ws_sim *sim);
/* Loads all that modules have. */
void wsi_load_all_code(struct ws_sim *sim);

/* ---- launch.c ---- */
/* Bytes of shared memory that code is told of: with what the system takes at its start, in whole
 * units. Behind it, the system has these until the end of what can be allocated to a block. */
uint32_t wsi_shared_size(const struct ws_sim *sim, const struct wsi_grid *grid);
uint32_t wsi_shared_reserved(const struct ws_sim *sim, const struct wsi_grid *grid);
/* What is allocated for the shared memory of a block. */
size_t wsi_shared_room(const struct wsi_block *block);
/* Brings blocks of the first grid to SMs, and takes grids that are done off the queue. */
bool wsi_launch_fill(struct ws_sim *sim) WS_MUST_USE;
/* The next cluster will not be launched: another does its work. False: all were. */
bool wsi_launch_cancel(const struct wsi_block *own, struct ws_dim3 *ret_first);
/* A block all of whose threads have exited. */
void wsi_launch_retire(struct ws_sim *sim, struct wsi_block *block);
/* Ends everything that runs or waits to, as a driver does after a fault. */
void wsi_launch_kill(struct ws_sim *sim);
void wsi_launch_fini(struct ws_sim *sim);
/* Words that the registers of a warp take, with the uniform ones. */
size_t wsi_warp_reg_words(const struct ws_sim *sim, uint32_t n_regs);
/* Gives a warp another number of registers; the lower ones stay. False: no memory. */
bool wsi_warp_resize(struct ws_sim *sim, struct wsi_warp *warp, uint32_t n_regs) WS_MUST_USE;
/* A grid with its memory and number; not in the queue. */
enum ws_status wsi_grid_make(struct ws_sim *sim, const struct ws_sim_launch *launch,
			     const struct ws_function *function, struct wsi_grid **ret_grid,
			     struct ws_error *err) WS_MUST_USE;
void wsi_grid_destroy(struct ws_sim *sim, struct wsi_grid *grid);

/* ---- child.c ---- */
/* Brings what a grid has launched to the head of the queue: children, or for its end (`tail`).
 * False: nothing. */
bool wsi_children_start(struct ws_sim *sim, uint64_t parent, bool tail);
/* A grid is done: what it has prepared and not launched goes. */
void wsi_children_finish(struct ws_sim *sim, const struct wsi_grid *grid);
/* Everything that was launched and is not in the queue goes. */
void wsi_children_drop(struct ws_sim *sim);

/* ---- handlers ---- */
wsi_handler wsi_run_nothing;
wsi_handler wsi_run_bra, wsi_run_bra_div, wsi_run_brx, wsi_run_call, wsi_run_ret, wsi_run_exit,
	wsi_run_bssy, wsi_run_bsync, wsi_run_break, wsi_run_warpsync, wsi_run_bmov, wsi_run_bpt,
	wsi_run_lepc, wsi_run_yield, wsi_run_rpcmov;
wsi_handler wsi_run_bar, wsi_run_b2r, wsi_run_cluster_arrive, wsi_run_cluster_wait;
wsi_handler wsi_run_uniform_store, wsi_run_clear;
wsi_handler wsi_run_load, wsi_run_store, wsi_run_copy, wsi_run_matrix_load, wsi_run_matrix_store,
	wsi_run_qspc;
wsi_handler wsi_run_atomic;
wsi_handler wsi_run_mbarrier_arrive, wsi_run_mbarrier_test, wsi_run_mbarrier_exchange,
	wsi_run_arrives;
wsi_handler wsi_run_bulk, wsi_run_counted_store, wsi_run_next_work, wsi_run_tensor;
wsi_handler wsi_run_group_matrix, wsi_run_group_wait, wsi_run_set_registers;
wsi_handler wsi_run_tmem_allocate, wsi_run_tmem_move, wsi_run_tmem_copy, wsi_run_tmem_commit,
	wsi_run_tmem_matrix, wsi_run_tmem_shift;
wsi_handler wsi_run_load_wide, wsi_run_store_wide;
wsi_handler wsi_run_shfl, wsi_run_vote, wsi_run_match, wsi_run_redux, wsi_run_to_uniform,
	wsi_run_special, wsi_run_elect;
wsi_handler wsi_run_sample, wsi_run_fetch, wsi_run_gather, wsi_run_texture_size;
wsi_handler wsi_run_surface_load, wsi_run_surface_store, wsi_run_surface_atomic;

wsi_preparer wsi_prepare_bmov, wsi_prepare_clear, wsi_prepare_warpsync;
wsi_preparer wsi_prepare_bra, wsi_prepare_atomic, wsi_prepare_mbarrier, wsi_prepare_arrives,
	wsi_prepare_prefetch, wsi_prepare_bulk, wsi_prepare_counted_store, wsi_prepare_next_work,
	wsi_prepare_tensor, wsi_prepare_group_matrix, wsi_prepare_group, wsi_prepare_set_registers,
	wsi_prepare_tmem_allocate, wsi_prepare_tmem_move, wsi_prepare_tmem_copy,
	wsi_prepare_tmem_commit, wsi_prepare_tmem_matrix, wsi_prepare_tmem_shift,
	wsi_prepare_texture, wsi_prepare_surface, wsi_prepare_redux, wsi_prepare_to_uniform,
	wsi_prepare_wide;

/* ---- lanes and barriers ---- */
/* Lanes are gone, or a mask changed: who waits may go on. control.c */
void wsi_converge(struct wsi_warp *warp);
/* Lanes of a block are gone: who waits at its barriers may go on. barrier.c */
void wsi_bar_check(struct ws_sim *sim, struct wsi_block *block);
void wsi_cluster_check(struct ws_sim *sim, struct wsi_cluster *cluster);
/* A lane returns to `target`: what was entered after that is left too. control.c */
void wsi_sim_leave(struct wsi_warp *warp, unsigned lane, uint64_t target);

/* ---- service.c ---- */
/* Address of a function that the device itself supplies, 0: none of that name. Some it supplies
 * even if the image has one (`is_defined`). */
uint64_t wsi_service_address(struct ws_str name, bool is_defined);
enum wsi_step wsi_service_call(struct wsi_run *run);
/* An argument in a register and the next one. */
uint64_t wsi_service_argument(const struct wsi_run *run, unsigned number, unsigned lane);
void wsi_service_result(struct wsi_run *run, unsigned lane, uint64_t value, unsigned words);
/* child.c */
typedef enum wsi_step wsi_service(struct wsi_run *run, unsigned lane);
wsi_service wsi_service_parameters, wsi_service_launch, wsi_service_get_error,
	wsi_service_peek_error;

/* ---- run.c ---- */
/* Before execution, when anything but a kernel may have changed memory. False: no memory. */
bool wsi_run_prepare(struct ws_sim *sim) WS_MUST_USE;
/* Chooses the warp and the group that run next, as a run does that then stops at a breakpoint. */
void wsi_run_choose(struct ws_sim *sim);
/* Executes an operation for the group, as its guard says. */
enum wsi_step wsi_execute(struct wsi_run *run, const struct wsi_op *op);
/* A lane of the group that runs next, while nobody chooses otherwise; some are ready. */
unsigned wsi_next_lane(const struct wsi_warp *warp);
/* The first of `resident` from `*at` on, before `end`, that can run; `*at` is its place. NULL: none
 * can. Costs those that fell asleep since, and not those that sleep. */
struct wsi_warp *wsi_next_ready(struct ws_sim *sim, size_t *at, size_t end);
/* Lanes that run together with one that is ready. */
uint32_t wsi_group_of(const struct wsi_warp *warp, unsigned lane);
/*
 * Runs one group of a warp, that of `lane` (WSI_LANES: any), for at most `n` instructions, until it
 * parts or waits. A block whose last thread exits is gone afterwards. False: no memory.
 */
bool wsi_run_piece(struct ws_sim *sim, struct wsi_warp *warp, unsigned lane,
		   uint64_t n) WS_MUST_USE;
/* An instruction has done the work of copying so many bytes, though it is one. Who does much of it
 * looks at the stop flag before the next one. */
void wsi_labor(struct wsi_run *run, uint64_t bytes);

#endif
