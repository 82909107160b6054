/* SPDX-License-Identifier: Apache-2.0 */
/* A target over a software GPU that stands: the lists, lanes, call stacks, registers. */
#include <warpscope/cudadebugger.h>

#include "target/sim/sim.h"

enum { N_PREDICATES = 7 };

static enum ws_status absent(struct ws_error *err, const char *what)
{
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "%s", what);
}

enum ws_status sim_stands(const struct sim_target *t, struct ws_error *err)
{
	return sim_runs(t) ? wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "the device is running")
			   : WS_OK;
}

static void sim_rows_fini(struct sim_rows *rows)
{
	wsi_free(rows->grids);
	wsi_free(rows->stacks);
	wsi_free(rows->queue);
	wsi_free(rows->modules);
	wsi_free(rows->blocks);
	wsi_free(rows->warps);
	wsi_free(rows->block_of);
	wsi_free(rows->first_warp);
}

void sim_close(struct ws_target *target)
{
	struct sim_target *t = sim_of(target);
	sim_live_fini(t);
	sim_rows_fini(&t->rows);
	wsi_free(t->ranges);
	pthread_mutex_destroy(&t->range_lock);
	wsi_free(t);
}

/* ---- rows ---- */

enum ws_status sim_device(const struct ws_target *target, uint32_t index,
			  struct ws_device *ret_device, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	const struct wsi_device *device = t->sim->device;
	(void)index;
	(void)err;
	*ret_device = (struct ws_device){
		.have = WS_DEVICE_UNIFORM | WS_DEVICE_BARRIERS,
		.name = ws_str_of(t->name),
		.type = ws_str_of("software"),
		.sm_type = ws_str_of(t->sm_type),
		.n_sms = t->sim->options.n_sms,
		.n_warps_per_sm = device->warps,
		.n_lanes_per_warp = WSI_LANES,
		.n_regs_per_lane = 255,
		.n_preds_per_lane = N_PREDICATES,
		.sm_major = device->sm / 10,
		.sm_minor = device->sm % 10,
		.instruction_bytes = WS_SASS_BYTES,
		.n_uniform_regs = device->uregs,
		.n_uniform_preds = N_PREDICATES,
		.n_convergence_barriers = WSI_BARRIERS,
	};
	return WS_OK;
}

enum ws_status sim_context(const struct ws_target *target, uint32_t index,
			   struct ws_context *ret_context, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	uint64_t gone = sim_gone_grids(t);
	uint32_t host_tid;
	(void)sim_contexts(t, &host_tid);
	(void)index;
	(void)err;
	*ret_context = (struct ws_context){
		.id = SIM_CONTEXT_ID,
		.host_tid = host_tid,
		.shared_window_base = WSI_SHARED_WINDOW,
		.local_window_base = WSI_LOCAL_WINDOW,
		.first_grid = gone + 1,
		.n_grids = t->rows.n_launched - gone,
	};
	return WS_OK;
}

enum ws_status sim_module(const struct ws_target *target, uint32_t index,
			  struct ws_module *ret_module, struct ws_error *err)
{
	(void)err;
	*ret_module = sim_of(target)->rows.modules[index];
	return WS_OK;
}

struct ws_grid sim_grid_row(const struct sim_target *t, const struct wsi_grid *grid,
			    uint32_t status)
{
	struct ws_dim3 c = grid->cluster, preferred = grid->preferred;
	bool clustered = c.x > 1 || c.y > 1 || c.z > 1;
	bool prefers = preferred.x != c.x || preferred.y != c.y || preferred.z != c.z;
	return (struct ws_grid){
		.have = WS_GRID_N_REGS | WS_GRID_CLUSTER | WS_GRID_PREFERRED_CLUSTER |
			WS_GRID_PARAMS | WS_GRID_BLOCKING,
		.module_index = grid->module,
		.id = (int64_t)grid->id,
		.context_id = SIM_CONTEXT_ID,
		.module_handle = sim_module_handle(t, grid->module),
		.function = grid->entry,
		.function_entry = grid->entry,
		.params_offset = grid->param,
		.type = grid->is_system ? CUDBG_KNL_TYPE_SYSTEM : CUDBG_KNL_TYPE_APPLICATION,
		.parent_id = (int64_t)grid->parent,
		.origin = grid->parent ? CUDBG_KNL_ORIGIN_GPU : CUDBG_KNL_ORIGIN_CPU,
		.status = status,
		.n_regs = grid->n_regs,
		.launch_blocking = grid->blocks,
		.host_tid = grid->host_tid,
		.grid_dim = grid->dim,
		.block_dim = grid->block,
		.cluster_dim = clustered || prefers ? c : (struct ws_dim3){ 0 },
		.preferred_cluster_dim = prefers ? preferred : (struct ws_dim3){ 0 },
	};
}

enum ws_status sim_grid(const struct ws_target *target, uint32_t index, struct ws_grid *ret_grid,
			struct ws_error *err)
{
	(void)err;
	*ret_grid = sim_of(target)->rows.grids[index];
	return WS_OK;
}

uint32_t sim_exception_of(const struct ws_sim_fault *fault)
{
	if (fault->exception == WS_SIM_TRAP)
		return CUDBG_EXCEPTION_NONE;
	if (fault->exception == WS_SIM_UNIMPLEMENTED)
		return CUDBG_EXCEPTION_WARP_ILLEGAL_INSTRUCTION;
	return fault->exception;
}

enum ws_status sim_sm(const struct ws_target *target, uint32_t index, struct ws_sm *ret_sm,
		      struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	const struct ws_sim_fault *fault = &t->sim->fault;
	enum ws_status st = sim_stands(t, err);
	if (st != WS_OK)
		return st;
	*ret_sm = (struct ws_sm){
		.have = WS_SM_EXCEPTION | WS_SM_CLUSTER_TARGET | WS_SM_EXCEPTION_TEXT,
		.id = index,
		.first_warp_index = t->rows.first_warp[index],
		.n_warps = t->rows.first_warp[index + 1] - t->rows.first_warp[index],
	};
	if (!t->sim->faulted || fault->sm != index || sim_exception_of(fault) == 0)
		return WS_OK;
	ret_sm->exception = sim_exception_of(fault);
	ret_sm->error_pc_valid = true;
	ret_sm->error_pc = fault->error_pc;
	ret_sm->exception_text = ws_str_of(fault->text);
	ret_sm->cluster_target_valid = fault->has_target;
	ret_sm->cluster_target = fault->target;
	return WS_OK;
}

/* Index of the grid of a block: it is the first of the queue, or not far from it. */
static uint32_t block_grid_of(const struct sim_target *t, const struct wsi_grid *grid)
{
	uint32_t i = 0;
	while (t->rows.queue[i] != grid)
		i++;
	return i;
}

struct ws_dim3 sim_cluster_dim(const struct wsi_block *block)
{
	return block->cluster ? block->cluster_dim : (struct ws_dim3){ 0 };
}

struct ws_dim3 sim_cluster_idx(const struct wsi_block *block)
{
	struct ws_dim3 c = block->cluster_dim;
	return block->cluster ? (struct ws_dim3){ block->idx.x / c.x, block->idx.y / c.y,
						  block->idx.z / c.z }
			      : (struct ws_dim3){ 0 };
}

enum ws_status sim_block(const struct ws_target *target, uint32_t index, struct ws_block *ret_block,
			 struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	enum ws_status st = sim_stands(t, err);
	if (st != WS_OK)
		return st;
	const struct wsi_block *block = t->rows.blocks[index];
	*ret_block = (struct ws_block){
		.have = WS_BLOCK_CLUSTER_IDX | WS_BLOCK_CLUSTER_DIM,
		.sm_index = block->sm,
		.grid_index = block_grid_of(t, block->grid),
		.grid_id = (int64_t)block->grid->id,
		.idx = block->idx,
		.cluster_dim = sim_cluster_dim(block),
		.cluster_idx = sim_cluster_idx(block),
	};
	return WS_OK;
}

/* ---- warps and lanes ---- */

bool sim_is_faulted(const struct sim_target *t, const struct wsi_warp *warp)
{
	return t->sim->faulted && t->sim->fault.sm == warp->block->sm &&
	       t->sim->fault.warp == warp->slot;
}

/* Lanes that are together: at the fault, else those that run next, else the first that wait. */
static uint32_t active_lanes(const struct sim_target *t, const struct wsi_warp *warp)
{
	bool faulted = sim_is_faulted(t, warp);
	uint32_t lanes = 0;
	uint64_t pc = faulted ? t->sim->fault.pc : UINT64_MAX;
	if (!faulted && warp->ready)
		return wsi_group_of(warp, wsi_next_lane(warp));
	uint32_t from = warp->ready && !faulted ? warp->ready : warp->live;
	for (uint32_t left = faulted ? 0 : from; left; left &= left - 1)
		pc = wsi_min_u64(pc, wsi_lane_pc(warp, wsi_first_bit(left)));
	for (uint32_t left = from; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		lanes |= wsi_lane_pc(warp, lane) == pc ? 1u << lane : 0;
	}
	return lanes;
}

/* What a debugger is to see in place of what is so, of a lane; NULL: nothing. */
static const struct wsi_guise *guise_of(const struct wsi_warp *warp, unsigned lane)
{
	const struct wsi_guise *guise = &warp->guise;
	return guise->any >> lane & 1 && guise->executed == warp->executed ? guise : NULL;
}

/* The barrier that a lane waits at. */
static uint32_t barrier_scope_of(const struct wsi_warp *warp, unsigned lane)
{
	const struct wsi_guise *guise = guise_of(warp, lane);
	if (guise && guise->scope[lane])
		return guise->scope[lane];
	if ((warp->parked | warp->syncing) >> lane & 1)
		return CUDBG_BARRIER_SCOPE_WARP;
	if (warp->grouped >> lane & 1)
		return CUDBG_BARRIER_SCOPE_WARP_GROUP;
	if (warp->barred >> lane & 1)
		return CUDBG_BARRIER_SCOPE_BLOCK;
	return warp->clustered >> lane & 1 ? CUDBG_BARRIER_SCOPE_CLUSTER : CUDBG_BARRIER_SCOPE_NONE;
}

/* The barrier that all active lanes wait at, if they do. */
static uint32_t barrier_scope(const struct wsi_warp *warp, uint32_t active)
{
	uint32_t scope =
		active ? barrier_scope_of(warp, wsi_first_bit(active)) : CUDBG_BARRIER_SCOPE_NONE;
	for (uint32_t left = active; left; left &= left - 1)
		if (barrier_scope_of(warp, wsi_first_bit(left)) != scope)
			return CUDBG_BARRIER_SCOPE_NONE;
	return scope;
}

/* The numbers' names are all that is public, so that those of lanes that wait at WARPSYNC or sleep
 * are guesses. */
static uint32_t thread_state(const struct wsi_warp *warp, unsigned lane)
{
	const struct wsi_guise *guise = guise_of(warp, lane);
	bool yielded = warp->yielded >> lane & 1;
	if (guise && guise->state[lane])
		return guise->state[lane];
	if (warp->parked >> lane & 1)
		return CUDBG_CBU_THREAD_STATE_BLOCKEDB0 + warp->park[lane];
	if (warp->syncing >> lane & 1)
		return CUDBG_CBU_THREAD_STATE_BLOCKEDALL;
	if (warp->asleep >> lane & 1)
		return yielded ? CUDBG_CBU_THREAD_STATE_SLEEPYIELD : CUDBG_CBU_THREAD_STATE_SLEEP;
	return yielded ? CUDBG_CBU_THREAD_STATE_YIELDED : CUDBG_CBU_THREAD_STATE_READY;
}

enum ws_status sim_warp(const struct ws_target *target, uint32_t index, struct ws_warp *ret_warp,
			struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	const struct ws_sim_fault *fault = &t->sim->fault;
	static const enum ws_stop stops[] = {
		[WSI_HALT_PLANTED] = WS_STOP_PLANTED,
		[WSI_HALT_LAUNCH] = WS_STOP_LAUNCH,
		[WSI_HALT_INTERNAL] = WS_STOP_INTERNAL,
		[WSI_HALT_WATCHED] = WS_STOP_INTERNAL,
	};
	enum ws_status st = sim_stands(t, err);
	if (st != WS_OK)
		return st;
	const struct wsi_warp *warp = t->rows.warps[index];
	uint32_t active = active_lanes(t, warp);
	*ret_warp = (struct ws_warp){
		.have = WS_WARP_N_REGS | WS_WARP_SHARED_BYTES | WS_WARP_BROKEN | WS_WARP_CBU |
			WS_WARP_BARRIER,
		.sm_index = warp->block->sm,
		.block_index = t->rows.block_of[index],
		.id = warp->slot,
		.valid_lanes = warp->live,
		.active_lanes = active,
		.n_regs = warp->n_regs,
		.shared_bytes = warp->block->shared_bytes,
		.cbu_active_lanes = active,
		.cbu_exited_lanes = warp->valid & ~warp->live,
		.cbu_collective_lanes =
			warp->guise.executed == warp->executed ? warp->guise.collective : 0,
		.barrier_scope = barrier_scope(warp, active),
	};
	bool faulted = sim_is_faulted(t, warp);
	if (!faulted && warp->halt == WSI_HALT_NONE)
		return WS_OK;
	ret_warp->broken = true;
	ret_warp->have |= WS_WARP_STOP;
	ret_warp->stop = faulted ? WS_STOP_TRAP : stops[warp->halt];
	ret_warp->stop_pc = faulted ? fault->pc : warp->halt_pc;
	if (!faulted)
		return WS_OK;
	ret_warp->error_pc_valid = sim_exception_of(fault) != 0;
	ret_warp->error_pc = ret_warp->error_pc_valid ? fault->error_pc : 0;
	return WS_OK;
}

/* Address of the function that holds an address of code; 0: none does. */
static uint64_t function_start(const struct sim_target *t, uint64_t pc)
{
	const struct wsi_text *text = wsi_sim_text_find(t->sim, pc);
	struct ws_place place;
	if (!text)
		return 0;
	const struct wsi_module *module = &t->sim->modules[text->module];
	if (ws_cubin_find_offset(module->cubin, text->section, pc - text->start, &place, NULL) !=
	    WS_OK)
		return text->start;
	return pc - place.rel_pc;
}

struct ws_dim3 sim_thread_of(const struct wsi_warp *warp, unsigned lane)
{
	struct ws_dim3 dim = warp->block->grid->block;
	uint32_t number = warp->id * WSI_LANES + lane;
	return (struct ws_dim3){ number % dim.x, number / dim.x % dim.y, number / dim.x / dim.y };
}

enum ws_status sim_lanes(const struct ws_target *target, uint32_t warp_index,
			 struct ws_lane *ret_lanes, uint32_t *ret_n, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	enum ws_status st = sim_stands(t, err);
	if (st != WS_OK)
		return st;
	const struct wsi_warp *warp = t->rows.warps[warp_index];
	uint32_t n = 0;
	for (uint32_t left = warp->live; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint64_t pc = wsi_lane_pc(warp, lane);
		bool blamed = sim_is_faulted(t, warp) && t->sim->fault.lanes >> lane & 1;
		ret_lanes[n++] = (struct ws_lane){
			.have = WS_LANE_CC | WS_LANE_CBU_STATE | WS_LANE_BARRIER | WS_LANE_RPC,
			.id = lane,
			.pc = pc,
			.rel_pc = pc - function_start(t, pc),
			.thread = sim_thread_of(warp, lane),
			.exception = blamed ? sim_exception_of(&t->sim->fault) : 0,
			.call_depth = warp->depth[lane],
			.cbu_state = thread_state(warp, lane),
			.barrier_scope = barrier_scope_of(warp, lane),
			.rpc_lo = warp->rpc[0][lane],
			.rpc_hi = warp->rpc[1][lane],
		};
	}
	*ret_n = n;
	return WS_OK;
}

enum ws_status sim_call_stack(const struct ws_target *target, uint32_t warp_index, uint32_t lane,
			      struct ws_return_address *ret_addresses, uint32_t cap,
			      uint32_t *ret_n, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	enum ws_status st = sim_stands(t, err);
	if (st != WS_OK)
		return st;
	const struct wsi_warp *warp = t->rows.warps[warp_index];
	if (lane >= WSI_LANES || !(warp->live >> lane & 1))
		return absent(err, "this lane has no thread");
	*ret_n = warp->depth[lane];
	for (uint32_t i = 0; i < *ret_n && i < cap; i++) {
		uint64_t address = warp->frames[(size_t)(*ret_n - 1 - i) * WSI_LANES + lane];
		ret_addresses[i] = (struct ws_return_address){
			.level = i,
			.address = address,
			.rel_address = address - function_start(t, address),
		};
	}
	return WS_OK;
}

/* ---- registers ---- */

uint32_t sim_register_count(const struct sim_target *t, const struct wsi_warp *warp,
			    enum ws_reg_kind kind)
{
	switch (kind) {
	case WS_REG_R:
		return warp->n_regs;
	case WS_REG_UR:
		return t->sim->device->uregs;
	case WS_REG_P:
	case WS_REG_UP:
		return N_PREDICATES;
	case WS_REG_BARRIER:
		return WSI_BARRIERS;
	}
	return 0;
}

/* Lanes of which any has the barrier: each keeps its own copy. */
static uint32_t barrier_lanes(const struct wsi_warp *warp, uint32_t number)
{
	uint32_t lanes = 0;
	for (uint32_t left = warp->live; left; left &= left - 1)
		lanes |= warp->converge[number][wsi_first_bit(left)];
	return lanes;
}

uint32_t sim_register(const struct wsi_warp *warp, uint32_t lane, enum ws_reg_kind kind,
		      uint32_t number)
{
	switch (kind) {
	case WS_REG_R:
		return wsi_reg(warp, number)[lane];
	case WS_REG_P:
		return warp->pred[number] >> lane & 1;
	case WS_REG_UR:
		return warp->uregs[number];
	case WS_REG_UP:
		return warp->upred >> number & 1;
	case WS_REG_BARRIER:
		return barrier_lanes(warp, number);
	}
	return 0;
}

enum ws_status sim_registers(const struct ws_target *target, uint32_t warp_index, uint32_t lane,
			     enum ws_reg_kind kind, uint32_t first, uint32_t n,
			     uint32_t *ret_values, uint32_t *ret_n, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	enum ws_status st = sim_stands(t, err);
	if (st != WS_OK)
		return st;
	const struct wsi_warp *warp = t->rows.warps[warp_index];
	uint32_t count = sim_register_count(t, warp, kind), got = 0;
	bool of_lane = kind == WS_REG_R || kind == WS_REG_P;
	if (of_lane && (lane >= WSI_LANES || !(warp->live >> lane & 1)))
		return absent(err, "this lane has no thread");
	if (first >= count)
		return absent(err, "the warp does not have this register");
	for (; got < n && first + got < count; got++)
		ret_values[got] = sim_register(warp, lane, kind, first + got);
	*ret_n = got;
	return WS_OK;
}

/* ---- opening ---- */

static const struct ws_target_ops sim_ops = {
	SIM_READING_MEMBERS,
};

/* Blocks by SM, and the warps of these that have threads left, by slot. */
static void order_blocks(const struct ws_sim *sim, struct sim_rows *rows)
{
	/* first_warp counts, then says where the blocks of an SM begin, then where they end */
	for (size_t i = 0; i < sim->n_blocks; i++)
		rows->first_warp[sim->blocks[i]->sm]++;
	for (uint32_t sm = 0, n = 0; sm < sim->options.n_sms; sm++) {
		n += rows->first_warp[sm];
		rows->first_warp[sm] = n - rows->first_warp[sm];
	}
	for (size_t i = 0; i < sim->n_blocks; i++)
		rows->blocks[rows->first_warp[sim->blocks[i]->sm]++] = sim->blocks[i];
}

static void order_warps(const struct ws_sim *sim, struct sim_rows *rows)
{
	uint32_t n_warps = 0, b = 0;
	order_blocks(sim, rows);
	for (uint32_t sm = 0; sm < sim->options.n_sms; sm++) {
		struct wsi_warp *slot[64] = { NULL };
		uint32_t block_of[64];
		rows->first_warp[sm] = n_warps;
		for (; b < sim->n_blocks && rows->blocks[b]->sm == sm; b++)
			for (uint32_t w = 0; w < rows->blocks[b]->n_warps; w++) {
				struct wsi_warp *warp = rows->blocks[b]->warps[w];
				slot[warp->slot] = warp;
				block_of[warp->slot] = b;
			}
		for (uint32_t i = 0; i < WSI_COUNT(slot); i++) {
			if (!slot[i] || slot[i]->live == 0)
				continue;
			rows->warps[n_warps] = slot[i];
			rows->block_of[n_warps++] = block_of[i];
		}
	}
	rows->first_warp[sim->options.n_sms] = n_warps;
	rows->counts.warps = n_warps;
}

struct sim_stack sim_stack_of(const struct wsi_grid *grid)
{
	struct sim_stack stack = { .n = grid->n_host_stack };
	memcpy(stack.at, grid->host_stack, sizeof stack.at);
	return stack;
}

static void list_grids(const struct sim_target *t, struct sim_rows *rows)
{
	uint32_t n = 0;
	const struct ws_grid *done = sim_done_grids(t, &n);
	for (uint32_t i = 0; i < n; i++)
		rows->grids[i] = done[i];
	for (uint32_t i = 0; i < n; i++)
		rows->stacks[i] = sim_done_stack(t, i);
	for (struct wsi_grid *grid = t->sim->queue; grid; grid = grid->next) {
		bool active = grid == t->sim->queue && !grid->held;
		uint32_t status = grid->sleeps ? CUDBG_GRID_STATUS_SLEEPING
				  : active     ? CUDBG_GRID_STATUS_ACTIVE
					       : CUDBG_GRID_STATUS_PENDING;
		rows->grids[n] = sim_grid_row(t, grid, status);
		rows->stacks[n] = sim_stack_of(grid);
		rows->queue[n++] = grid;
	}
	for (struct wsi_grid *grid = t->sim->later; grid; grid = grid->next) {
		rows->grids[n] = sim_grid_row(t, grid, CUDBG_GRID_STATUS_PENDING);
		rows->stacks[n] = sim_stack_of(grid);
		rows->queue[n++] = grid;
	}
	for (uint32_t i = 0; i < t->sim->n_modules; i++) {
		const struct wsi_module *module = &t->sim->modules[i];
		rows->modules[i] = (struct ws_module){
			.handle = sim_module_handle(t, i),
			.relocated = { module->image, module->image_bytes, 0 },
			.original = { module->original, module->image_bytes, 0 },
			.loaded = module->loaded,
			.n_loaded = module->n_loaded,
		};
	}
}

enum ws_status sim_collect(struct sim_target *t, struct ws_counts *ret_counts, struct ws_error *err)
{
	const struct ws_sim *sim = t->sim;
	uint32_t n_grids = 0, host_tid;
	(void)sim_done_grids(t, &n_grids);
	for (const struct wsi_grid *grid = sim->queue; grid; grid = grid->next)
		n_grids++;
	for (const struct wsi_grid *grid = sim->later; grid; grid = grid->next)
		n_grids++;
	struct sim_rows rows = {
		.grids = wsi_zalloc_array(n_grids + 1u, sizeof *rows.grids),
		.stacks = wsi_zalloc_array(n_grids + 1u, sizeof *rows.stacks),
		.queue = wsi_zalloc_array(n_grids + 1u, sizeof(struct wsi_grid *)),
		.modules = wsi_zalloc_array(sim->n_modules + 1, sizeof *rows.modules),
		.blocks = wsi_zalloc_array(sim->n_blocks + 1, sizeof(struct wsi_block *)),
		.warps = wsi_zalloc_array(sim->n_resident + 1, sizeof(struct wsi_warp *)),
		.block_of = wsi_zalloc_array(sim->n_resident + 1, sizeof *rows.block_of),
		.first_warp = wsi_zalloc_array(sim->options.n_sms + 1u, sizeof *rows.first_warp),
		.counts = {
			.devices = 1,
			.contexts = sim_contexts(t, &host_tid),
			.modules = (uint32_t)sim->n_modules,
			.grids = n_grids,
			.sms = sim->options.n_sms,
			.blocks = (uint32_t)sim->n_blocks,
		},
		.n_launched = sim->n_grids,
		.n_loads = sim->n_loads,
	};
	if (!rows.grids || !rows.stacks || !rows.queue || !rows.modules || !rows.blocks ||
	    !rows.warps || !rows.block_of || !rows.first_warp) {
		sim_rows_fini(&rows);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	}
	wsi_show_code(t->sim); /* nobody reads now */
	list_grids(t, &rows);
	order_warps(sim, &rows);
	sim_rows_fini(&t->rows);
	t->rows = rows;
	atomic_store(&t->ranges_known, false);
	*ret_counts = rows.counts;
	return WS_OK;
}

enum ws_status sim_open(struct ws_sim *sim, const struct ws_target_ops *ops,
			struct sim_target **ret_target, struct ws_error *err)
{
	struct sim_target *t = wsi_zalloc(sizeof *t);
	if (!t)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	t->sim = sim;
	wsi_format(t->name, "Warpscope software GPU (%s)", sim->device->name);
	wsi_format(t->sm_type, "sm_%u", sim->device->sm);
	enum ws_status st = ws_target_init(&t->target, ops, t, err);
	if (st != WS_OK) {
		wsi_free(t);
		return st;
	}
	pthread_mutex_init(&t->range_lock, NULL);
	st = sim_collect(t, &t->target.counts, err);
	if (st != WS_OK) {
		ws_target_close(&t->target);
		return st;
	}
	*ret_target = t;
	return WS_OK;
}

enum ws_status ws_sim_target(struct ws_sim *sim, struct ws_target **ret_target,
			     struct ws_error *err)
{
	struct sim_target *t = NULL;
	enum ws_status st = sim_open(sim, &sim_ops, &t, err);
	if (st == WS_OK)
		*ret_target = &t->target;
	return st;
}
