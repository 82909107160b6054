/* SPDX-License-Identifier: Apache-2.0 */
/* A target over a stopped software GPU: the lists, lanes, call stacks, registers. */
#include <warpscope/cudadebugger.h>

#include "target/sim/sim.h"

enum { CONTEXT_ID = 1, N_PREDICATES = 7 };

static enum ws_status absent(struct ws_error *err, const char *what)
{
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "%s", what);
}

static void sim_close(struct ws_target *target)
{
	struct sim_target *t = sim_of(target);
	wsi_free(t->grids);
	wsi_free(t->blocks);
	wsi_free(t->warps);
	wsi_free(t->block_of);
	wsi_free(t->first_warp);
	wsi_free(t->ranges);
	wsi_free(t);
}

uint32_t sim_grid_of(const struct sim_target *t, const struct wsi_grid *grid)
{
	uint32_t i = 0;
	while (t->grids[i] != grid)
		i++;
	return i;
}

/* ---- rows ---- */

static enum ws_status sim_device(const struct ws_target *target, uint32_t index,
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

static enum ws_status sim_context(const struct ws_target *target, uint32_t index,
				  struct ws_context *ret_context, struct ws_error *err)
{
	(void)target;
	(void)index;
	(void)err;
	*ret_context = (struct ws_context){
		.id = CONTEXT_ID,
		.shared_window_base = WSI_SHARED_WINDOW,
		.local_window_base = WSI_LOCAL_WINDOW,
	};
	return WS_OK;
}

static uint64_t module_handle(uint32_t index)
{
	return index + UINT64_C(1);
}

static enum ws_status sim_module(const struct ws_target *target, uint32_t index,
				 struct ws_module *ret_module, struct ws_error *err)
{
	const struct wsi_module *module = &sim_of(target)->sim->modules[index];
	(void)err;
	*ret_module = (struct ws_module){
		.handle = module_handle(index),
		.relocated = { module->image, module->image_bytes, 0 },
		.original = { module->original, module->image_bytes, 0 },
	};
	return WS_OK;
}

static enum ws_status sim_grid(const struct ws_target *target, uint32_t index,
			       struct ws_grid *ret_grid, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	const struct wsi_grid *grid = t->grids[index];
	struct ws_dim3 c = grid->cluster;
	bool clustered = c.x > 1 || c.y > 1 || c.z > 1;
	(void)err;
	*ret_grid = (struct ws_grid){
		.have = WS_GRID_N_REGS | (clustered ? WS_GRID_CLUSTER : 0),
		.module_index = grid->module,
		.id = (int64_t)grid->id,
		.context_id = CONTEXT_ID,
		.module_handle = module_handle(grid->module),
		.function = grid->entry,
		.function_entry = grid->entry,
		.params_offset = t->sim->device->param,
		.type = CUDBG_KNL_TYPE_APPLICATION,
		.origin = CUDBG_KNL_ORIGIN_CPU,
		.status = index == 0 ? CUDBG_GRID_STATUS_ACTIVE : CUDBG_GRID_STATUS_PENDING,
		.n_regs = grid->n_regs,
		.grid_dim = grid->dim,
		.block_dim = grid->block,
		.cluster_dim = clustered ? c : (struct ws_dim3){ 0 },
	};
	return WS_OK;
}

/* The exception by the API's numbers; what has none there is a trap (0) or an illegal
 * instruction. */
static uint32_t exception_of(const struct ws_sim_fault *fault)
{
	if (fault->exception == WS_SIM_TRAP)
		return CUDBG_EXCEPTION_NONE;
	if (fault->exception == WS_SIM_UNIMPLEMENTED)
		return CUDBG_EXCEPTION_WARP_ILLEGAL_INSTRUCTION;
	return fault->exception;
}

static enum ws_status sim_sm(const struct ws_target *target, uint32_t index, struct ws_sm *ret_sm,
			     struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	const struct ws_sim_fault *fault = &t->sim->fault;
	(void)err;
	*ret_sm = (struct ws_sm){
		.have = WS_SM_EXCEPTION | WS_SM_CLUSTER_TARGET | WS_SM_EXCEPTION_TEXT,
		.id = index,
		.first_warp_index = t->first_warp[index],
		.n_warps = t->first_warp[index + 1] - t->first_warp[index],
	};
	if (!t->sim->faulted || fault->sm != index || exception_of(fault) == 0)
		return WS_OK;
	ret_sm->exception = exception_of(fault);
	ret_sm->error_pc_valid = true;
	ret_sm->error_pc = fault->error_pc;
	ret_sm->exception_text = ws_str_of(fault->text);
	return WS_OK;
}

static enum ws_status sim_block(const struct ws_target *target, uint32_t index,
				struct ws_block *ret_block, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	const struct wsi_block *block = t->blocks[index];
	struct ws_dim3 c = block->grid->cluster;
	(void)err;
	*ret_block = (struct ws_block){
		.sm_index = block->sm,
		.grid_index = sim_grid_of(t, block->grid),
		.grid_id = (int64_t)block->grid->id,
		.idx = block->idx,
	};
	if (block->cluster) {
		ret_block->have = WS_BLOCK_CLUSTER_IDX | WS_BLOCK_CLUSTER_DIM;
		ret_block->cluster_dim = c;
		ret_block->cluster_idx = (struct ws_dim3){ block->idx.x / c.x, block->idx.y / c.y,
							   block->idx.z / c.z };
	}
	return WS_OK;
}

/* ---- warps and lanes ---- */

static bool is_faulted(const struct sim_target *t, const struct wsi_warp *warp)
{
	return t->sim->faulted && t->sim->fault.sm == warp->block->sm &&
	       t->sim->fault.warp == warp->slot;
}

/* Lanes that are together: at the fault, else the first of those that can run, else of all. */
static uint32_t active_lanes(const struct sim_target *t, const struct wsi_warp *warp)
{
	uint32_t from = warp->ready ? warp->ready : warp->live, lanes = 0;
	uint64_t pc = UINT64_MAX;
	if (is_faulted(t, warp)) {
		from = warp->live;
		pc = t->sim->fault.pc;
	} else {
		for (uint32_t left = from; left; left &= left - 1)
			pc = wsi_min_u64(pc, wsi_lane_pc(warp, wsi_first_bit(left)));
	}
	for (uint32_t left = from; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		lanes |= wsi_lane_pc(warp, lane) == pc ? 1u << lane : 0;
	}
	return lanes;
}

/* The barrier that all active lanes wait at, if they do. */
static uint32_t barrier_scope(const struct wsi_warp *warp, uint32_t active)
{
	if (active && (active & ~warp->barred) == 0)
		return CUDBG_BARRIER_SCOPE_BLOCK;
	if (active && (active & ~warp->clustered) == 0)
		return CUDBG_BARRIER_SCOPE_CLUSTER;
	return CUDBG_BARRIER_SCOPE_NONE;
}

static enum ws_status sim_warp(const struct ws_target *target, uint32_t index,
			       struct ws_warp *ret_warp, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	const struct wsi_warp *warp = t->warps[index];
	const struct ws_sim_fault *fault = &t->sim->fault;
	uint32_t active = active_lanes(t, warp);
	(void)err;
	*ret_warp = (struct ws_warp){
		.have = WS_WARP_N_REGS | WS_WARP_SHARED_BYTES | WS_WARP_BROKEN | WS_WARP_CBU |
			WS_WARP_BARRIER,
		.sm_index = warp->block->sm,
		.block_index = t->block_of[index],
		.id = warp->slot,
		.valid_lanes = warp->live,
		.active_lanes = active,
		.n_regs = warp->n_regs,
		.shared_bytes = warp->block->shared_bytes,
		.cbu_active_lanes = active,
		.cbu_exited_lanes = warp->valid & ~warp->live,
		.barrier_scope = barrier_scope(warp, active),
	};
	if (!is_faulted(t, warp))
		return WS_OK;
	ret_warp->broken = true;
	ret_warp->have |= WS_WARP_STOP;
	ret_warp->stop = WS_STOP_TRAP;
	ret_warp->stop_pc = fault->pc;
	ret_warp->error_pc_valid = exception_of(fault) != 0;
	ret_warp->error_pc = ret_warp->error_pc_valid ? fault->error_pc : 0;
	return WS_OK;
}

/* Address of the function that holds an address of code; 0: none does. */
static uint64_t function_start(const struct sim_target *t, uint64_t pc)
{
	const struct wsi_text *text = wsi_text_find(t->sim, pc);
	struct ws_place place;
	if (!text)
		return 0;
	const struct wsi_module *module = &t->sim->modules[text->module];
	if (ws_cubin_find_offset(module->cubin, text->section, pc - text->start, &place, NULL) !=
	    WS_OK)
		return text->start;
	return pc - place.rel_pc;
}

static struct ws_dim3 thread_of(const struct wsi_warp *warp, unsigned lane)
{
	struct ws_dim3 dim = warp->block->grid->block;
	uint32_t number = warp->id * WSI_LANES + lane;
	return (struct ws_dim3){ number % dim.x, number / dim.x % dim.y, number / dim.x / dim.y };
}

static enum ws_status sim_lanes(const struct ws_target *target, uint32_t warp_index,
				struct ws_lane *ret_lanes, uint32_t *ret_n, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	const struct wsi_warp *warp = t->warps[warp_index];
	uint32_t n = 0;
	(void)err;
	for (uint32_t left = warp->live; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		uint64_t pc = wsi_lane_pc(warp, lane);
		bool blamed = is_faulted(t, warp) && t->sim->fault.lanes >> lane & 1;
		bool parked = warp->parked >> lane & 1;
		ret_lanes[n++] = (struct ws_lane){
			.have = WS_LANE_CBU_STATE,
			.id = lane,
			.pc = pc,
			.rel_pc = pc - function_start(t, pc),
			.thread = thread_of(warp, lane),
			.exception = blamed ? exception_of(&t->sim->fault) : 0,
			.call_depth = warp->depth[lane],
			.cbu_state = parked ? CUDBG_CBU_THREAD_STATE_BLOCKEDB0 + warp->park[lane]
					    : CUDBG_CBU_THREAD_STATE_READY,
		};
	}
	*ret_n = n;
	return WS_OK;
}

static enum ws_status sim_call_stack(const struct ws_target *target, uint32_t warp_index,
				     uint32_t lane, struct ws_return_address *ret_addresses,
				     uint32_t cap, uint32_t *ret_n, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	const struct wsi_warp *warp = t->warps[warp_index];
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

static uint32_t register_count(const struct sim_target *t, const struct wsi_warp *warp,
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

static uint32_t register_value(const struct wsi_warp *warp, uint32_t lane, enum ws_reg_kind kind,
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

static enum ws_status sim_registers(const struct ws_target *target, uint32_t warp_index,
				    uint32_t lane, enum ws_reg_kind kind, uint32_t first,
				    uint32_t n, uint32_t *ret_values, uint32_t *ret_n,
				    struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	const struct wsi_warp *warp = t->warps[warp_index];
	uint32_t count = register_count(t, warp, kind), got = 0;
	bool of_lane = kind == WS_REG_R || kind == WS_REG_P;
	if (of_lane && (lane >= WSI_LANES || !(warp->live >> lane & 1)))
		return absent(err, "this lane has no thread");
	if (first >= count)
		return absent(err, "the warp does not have this register");
	for (; got < n && first + got < count; got++)
		ret_values[got] = register_value(warp, lane, kind, first + got);
	*ret_n = got;
	return WS_OK;
}

/* ---- opening ---- */

static const struct ws_target_ops sim_ops = {
	.name = "sim",
	.close = sim_close,
	.device = sim_device,
	.context = sim_context,
	.module = sim_module,
	.grid = sim_grid,
	.sm = sim_sm,
	.block = sim_block,
	.warp = sim_warp,
	.lanes = sim_lanes,
	.call_stack = sim_call_stack,
	.registers = sim_registers,
	.read_memory = sim_read_memory,
	.memory_range = sim_memory_range,
};

/* Blocks of each SM, and the warps of these that have threads left, by slot. */
static void order_rows(struct sim_target *t)
{
	struct ws_sim *sim = t->sim;
	uint32_t n_blocks = 0, n_warps = 0;
	for (uint32_t sm = 0; sm < sim->options.n_sms; sm++) {
		uint32_t first = n_warps;
		t->first_warp[sm] = first;
		for (size_t i = 0; i < sim->n_blocks; i++) {
			struct wsi_block *block = sim->blocks[i];
			if (block->sm != sm)
				continue;
			t->blocks[n_blocks] = block;
			for (uint32_t w = 0; w < block->n_warps; w++) {
				struct wsi_warp *warp = block->warps[w];
				uint32_t at = n_warps;
				if (warp->live == 0)
					continue;
				for (; at > first && t->warps[at - 1]->slot > warp->slot; at--) {
					t->warps[at] = t->warps[at - 1];
					t->block_of[at] = t->block_of[at - 1];
				}
				t->warps[at] = warp;
				t->block_of[at] = n_blocks;
				n_warps++;
			}
			n_blocks++;
		}
	}
	t->first_warp[sim->options.n_sms] = n_warps;
}

static enum ws_status lists_collect(struct sim_target *t, uint32_t n_grids, struct ws_error *err)
{
	const struct ws_sim *sim = t->sim;
	t->grids = wsi_zalloc_array(n_grids + 1u, sizeof(struct wsi_grid *));
	t->blocks = wsi_zalloc_array(sim->n_blocks + 1, sizeof(struct wsi_block *));
	t->warps = wsi_zalloc_array(sim->n_resident + 1, sizeof(struct wsi_warp *));
	t->block_of = wsi_zalloc_array(sim->n_resident + 1, sizeof *t->block_of);
	t->first_warp = wsi_zalloc_array(sim->options.n_sms + 1u, sizeof *t->first_warp);
	if (!t->grids || !t->blocks || !t->warps || !t->block_of || !t->first_warp)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	uint32_t n = 0;
	for (struct wsi_grid *grid = sim->queue; grid; grid = grid->next)
		t->grids[n++] = grid;
	order_rows(t);
	return WS_OK;
}

enum ws_status ws_sim_target(struct ws_sim *sim, struct ws_target **ret_target,
			     struct ws_error *err)
{
	struct sim_target *t = wsi_zalloc(sizeof *t);
	uint32_t n_grids = 0;
	if (!t)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	t->sim = sim;
	wsi_format(t->name, "Warpscope software GPU (%s)", sim->device->name);
	wsi_format(t->sm_type, "sm_%u", sim->device->sm);
	for (const struct wsi_grid *grid = sim->queue; grid; grid = grid->next)
		n_grids++;
	enum ws_status st = ws_target_init(&t->target, &sim_ops, t, err);
	if (st != WS_OK) {
		wsi_free(t);
		return st;
	}
	st = lists_collect(t, n_grids, err);
	if (st == WS_OK)
		st = sim_ranges_collect(t, err);
	if (st != WS_OK) {
		ws_target_close(&t->target);
		return st;
	}
	t->target.counts = (struct ws_counts){
		.devices = 1,
		.contexts = 1,
		.modules = (uint32_t)sim->n_modules,
		.grids = n_grids,
		.sms = sim->options.n_sms,
		.blocks = (uint32_t)sim->n_blocks,
		.warps = t->first_warp[sim->options.n_sms],
	};
	*ret_target = &t->target;
	return WS_OK;
}
