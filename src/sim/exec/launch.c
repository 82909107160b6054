/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: a grid with its constant banks, its blocks on SMs, their warps. */
#include "sim/check/check.h"
#include "sim/event/event.h"
#include "sim/exec/exec.h"
#include "sim/exec/tmem.h"

enum {
	MAX_BLOCK_THREADS = 1024,
	MAX_BLOCK_Z = 64,
	MAX_GRID_X = 0x7fffffff,
	MAX_GRID_YZ = 65535,
	MAX_PARAMS = 1024,
	MAX_LOCAL = 512 * 1024, /* bytes of a thread, as on hardware */
	ROOM_BEHIND = 256,      /* of bank 0, behind the parameters */
	SYNC_BYTES = 64,
};

static enum ws_status invalid(struct ws_error *err, const char *what)
{
	return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE, "%s", what);
}

static uint32_t block_threads(const struct wsi_grid *grid)
{
	return grid->block.x * grid->block.y * grid->block.z;
}

/* ---- the grid ---- */

static enum ws_status check_dimensions(const struct ws_sim_launch *launch, struct ws_error *err)
{
	struct ws_dim3 g = launch->grid, b = launch->block;
	if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0)
		return invalid(err, "a dimension is 0");
	if (g.x > MAX_GRID_X || g.y > MAX_GRID_YZ || g.z > MAX_GRID_YZ)
		return invalid(err, "the grid is too large");
	if (b.x > MAX_BLOCK_THREADS || b.y > MAX_BLOCK_THREADS || b.z > MAX_BLOCK_Z ||
	    b.x * b.y * b.z > MAX_BLOCK_THREADS)
		return invalid(err, "a block has more than 1024 threads, or z more than 64");
	return WS_OK;
}

static uint64_t count(struct ws_dim3 dim)
{
	return (uint64_t)dim.x * dim.y * dim.z;
}

static bool is_multiple(struct ws_dim3 dim, struct ws_dim3 of)
{
	return dim.x % of.x == 0 && dim.y % of.y == 0 && dim.z % of.z == 0;
}

static bool is_cluster(struct ws_dim3 c)
{
	return c.x != 0 && c.y != 0 && c.z != 0 && c.x <= WSI_MAX_CLUSTER &&
	       c.y <= WSI_MAX_CLUSTER && c.z <= WSI_MAX_CLUSTER && count(c) <= WSI_MAX_CLUSTER;
}

/* The launch's clusters, or those that the kernel was built with. */
static enum ws_status set_cluster(struct ws_sim *sim, struct wsi_grid *grid, struct ws_dim3 c,
				  struct ws_dim3 built, struct ws_error *err)
{
	bool asked = c.x != 0 || c.y != 0 || c.z != 0;
	grid->cluster = (struct ws_dim3){ 1, 1, 1 };
	if (!asked && built.x == 0)
		return WS_OK;
	c = asked ? c : built;
	if (!is_cluster(c))
		return invalid(err, "a cluster has 1 to 16 blocks");
	if (!is_multiple(grid->dim, c) || (sim->device->sm < 90 && count(c) > 1))
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_CLUSTER_SIZE,
				     "clusters of %ux%ux%u blocks", c.x, c.y, c.z);
	grid->cluster = c;
	return WS_OK;
}

/* Larger ones, where they fit. */
static enum ws_status set_preferred(const struct ws_sim *sim, struct wsi_grid *grid,
				    struct ws_dim3 c, struct ws_error *err)
{
	grid->preferred = grid->cluster;
	if (c.x == 0 && c.y == 0 && c.z == 0)
		return WS_OK;
	if (!is_cluster(c))
		return invalid(err, "a cluster has 1 to 16 blocks");
	if (!is_multiple(c, grid->cluster) || !is_multiple(grid->dim, c) ||
	    (sim->device->sm < 90 && count(c) > 1))
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_CLUSTER_SIZE,
				     "%ux%ux%u blocks are preferred", c.x, c.y, c.z);
	grid->preferred = c;
	return WS_OK;
}

static void store_dim(uint8_t *to, struct ws_dim3 dim)
{
	wsi_store_u32(to, dim.x);
	wsi_store_u32(to + 4, dim.y);
	wsi_store_u32(to + 8, dim.z);
}

/* Memory of the grid's own: bank 0, and what its blocks wait by. */
static enum ws_status add_region(struct ws_sim *sim, uint64_t size, bool read_only, uint64_t *ret,
				 struct ws_error *err)
{
	struct wsi_region region = {
		.size = size, .reach = size, .kind = WSI_REGION_GRID, .read_only = read_only
	};
	region.start = wsi_memory_place(&sim->memory, size, 256);
	enum ws_status st = wsi_memory_add(&sim->memory, &region, err);
	*ret = st == WS_OK ? region.start : 0;
	return st;
}

/* 1 / n, rounded up, so that code which multiplies by it and drops the fraction divides rightly.
 * [guess: which way it is rounded] */
static uint32_t reciprocal(uint32_t n)
{
	float value = 1.0f / (float)n;
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return (double)value * n < 1 ? bits + 1 : bits;
}

/* What differs between blocks in regular and in preferred clusters `c`. */
static void store_kind(const struct ws_sim *sim, const struct wsi_grid *grid, struct ws_dim3 c,
		       uint32_t dynamic_bytes, uint8_t *bank, uint32_t back)
{
	const struct wsi_device *device = sim->device;
	wsi_store_u32(bank + device->dynamic - back, dynamic_bytes);
	if (grid->sync != 0) {
		wsi_store_u32(bank + device->sync - back, (uint32_t)(grid->sync >> 32));
		wsi_store_u32(bank + device->sync + 4 - back, (uint32_t)grid->sync);
	}
	if (device->scratch != WSI_DEVICE_NOWHERE) {
		uint32_t first = device->kept ? 0 : device->scratch;
		wsi_store_u32(bank + device->kend - back, first + WSI_SHARED_KEPT);
		wsi_store_u32(bank + device->kend + 4 - back, device->scratch);
	}
	if (device->cluster == WSI_DEVICE_NOWHERE)
		return;
	wsi_store_u32(bank + device->aggr - back, wsi_shared_size(sim, grid));
	store_dim(bank + device->cdim - back, c);
	const uint32_t n[3] = { c.x, c.y, c.z };
	for (unsigned i = 0; i < 3; i++)
		wsi_store_u32(bank + device->cinv + 4 * i - back, reciprocal(n[i]));
	store_dim(bank + device->ncl - back,
		  (struct ws_dim3){ grid->dim.x / c.x, grid->dim.y / c.y, grid->dim.z / c.z });
	wsi_store_u32(bank + device->crank - back, (uint32_t)count(c));
}

/* Bank 0: what the driver puts there, then the arguments. */
static enum ws_status make_bank0(struct ws_sim *sim, struct wsi_grid *grid,
				 const struct ws_sim_launch *launch,
				 const struct ws_function_info *info, const struct ws_param *params,
				 struct ws_error *err)
{
	const struct wsi_device *device = sim->device;
	uint32_t base =
		info->param_bank_offset == WS_UNKNOWN ? device->param : info->param_bank_offset;
	uint32_t bytes = info->param_bytes == WS_UNKNOWN ? 0 : info->param_bytes;
	grid->param = base;
	uint64_t size = (base + (uint64_t)bytes + 2 * ROOM_BEHIND) & ~(uint64_t)(ROOM_BEHIND - 1);
	wsi_scoped_free uint8_t *bank = wsi_zalloc((size_t)wsi_max_u64(size, device->param + 256));
	if (!bank)
		return wsi_cuda_no_memory(err);
	size = wsi_max_u64(size, device->param + 256);
	store_dim(bank + device->ntid, grid->block);
	store_dim(bank + device->nctaid, grid->dim);
	if (device->cluster != WSI_DEVICE_NOWHERE)
		wsi_store_u32(bank + device->cluster,
			      launch->cluster.x != 0 || info->cluster_dim.x != 0);
	wsi_store_u32(bank + device->stack, grid->local_bytes);
	wsi_store_u64(bank + device->local, WSI_LOCAL_WINDOW);
	if (device->shared != WSI_DEVICE_NOWHERE)
		wsi_store_u64(bank + device->shared, WSI_SHARED_WINDOW);
	wsi_store_u64(bank + device->constant, grid->bank[3].address);
	wsi_store_u64(bank + device->grid, sim->n_grids + 1);
	wsi_store_u32(bank + device->nsm, sim->options.n_sms);
	if (device->total != WSI_DEVICE_NOWHERE)
		wsi_store_u32(bank + device->total,
			      device->kept ? device->kept : wsi_shared_reserved(sim, grid));
	if (launch->cooperative) {
		enum ws_status st = add_region(sim, SYNC_BYTES, false, &grid->sync, err);
		if (st != WS_OK)
			return st;
	}
	store_kind(sim, grid, grid->cluster, launch->shared_bytes, bank, 0);
	if (device->each != 0)
		store_kind(sim, grid, grid->preferred, launch->shared_bytes, bank, device->each);
	for (size_t i = 0; i < info->n_params; i++) {
		const struct ws_param *p = &params[i];
		if (p->offset > bytes || p->size_bytes > bytes - p->offset)
			return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_IMAGE,
					     "parameter %zu lies outside", i);
		memcpy(bank + base + p->offset, launch->args[i], p->size_bytes);
	}
	grid->bank[0].size = size;
	enum ws_status st = add_region(sim, size, true, &grid->bank[0].address, err);
	wsi_store_u64(bank + device->params, grid->bank[0].address + base - device->behind);
	if (st == WS_OK)
		st = wsi_memory_copy_in(&sim->memory, grid->bank[0].address, bank, (size_t)size,
					err);
	return st;
}

/* The module's banks: `.nv.constantN` of all, `.nv.constantN.KERNEL` of this one. */
static enum ws_status find_banks(const struct wsi_module *module, struct wsi_grid *grid,
				 uint32_t kernel_section, struct ws_error *err)
{
	static const char prefix[] = ".nv.constant";
	for (uint32_t i = 1; i < module->n_sections; i++) {
		struct ws_section section;
		enum ws_status st = ws_cubin_section(module->cubin, i, &section, err);
		if (st != WS_OK)
			return st;
		size_t n = sizeof prefix - 1;
		if (module->address[i] == 0 || section.name.len <= n ||
		    memcmp(section.name.ptr, prefix, n) != 0)
			continue;
		unsigned bank = 0;
		for (; n < section.name.len && section.name.ptr[n] >= '0' &&
		       section.name.ptr[n] <= '9' && bank < WSI_BANKS;
		     n++)
			bank = bank * 10 + (unsigned)(section.name.ptr[n] - '0');
		bool of_all = n == section.name.len;
		if (bank == 0 || bank >= WSI_BANKS || (!of_all && section.info != kernel_section))
			continue;
		grid->bank[bank] =
			(struct wsi_bank){ .address = module->address[i], .size = section.size };
	}
	return WS_OK;
}

/* A place that code reserves in the shared memory of its blocks. */
static enum ws_status find_partition(const struct wsi_module *module, struct wsi_grid *grid,
				     struct ws_error *err)
{
	const struct ws_variable *variables;
	size_t n;
	enum ws_status st = ws_cubin_variables(module->cubin, &variables, &n, err);
	for (size_t i = 0; i < n && st == WS_OK; i++)
		if (ws_str_equal(variables[i].name,
				 ws_str_of("__nv_reservedSMEM_tcgen05_partition")))
			grid->partition = (uint32_t)wsi_min_u64(variables[i].offset, UINT32_MAX);
	return st;
}

/* What the kernel was built for: __launch_bounds__ and .maxntid count threads, .reqntid says each
 * dimension. [public doc: PTX, performance-tuning directives; which error: guess from public
 * reports]
 */
static enum ws_status check_launch_bounds(struct ws_dim3 block, const struct ws_function_info *info,
					  struct ws_error *err)
{
	struct ws_dim3 most = info->max_block, only = info->required_block;
	if (most.x != 0 && count(block) > count(most))
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE,
				     "%" PRIu64 " threads in a block; the "
				     "kernel was built for at most %" PRIu64,
				     count(block), count(most));
	if (only.x != 0 && (block.x != only.x || block.y != only.y || block.z != only.z))
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE,
				     "blocks of %ux%ux%u threads; the kernel "
				     "was built for %ux%ux%u",
				     block.x, block.y, block.z, only.x, only.y, only.z);
	return WS_OK;
}

static enum ws_status set_resources(struct ws_sim *sim, struct wsi_grid *grid,
				    const struct ws_sim_launch *launch,
				    const struct ws_function *function,
				    const struct ws_function_info *info, struct ws_error *err)
{
	const struct wsi_device *device = sim->device;
	struct ws_sim_limits limits;
	uint32_t threads = block_threads(grid);
	ws_sim_limits(sim, &limits);
	grid->n_regs = wsi_fit_regs(function->n_regs);
	grid->n_warps = (threads + WSI_LANES - 1) / WSI_LANES;
	uint64_t stack = sim->options.stack_bytes ? sim->options.stack_bytes : 1024;
	if (function->min_stack_bytes != WS_UNKNOWN)
		stack = wsi_max_u64(stack, function->min_stack_bytes);
	stack = (stack + 15) & ~(uint64_t)15;
	if (stack > MAX_LOCAL)
		return invalid(err, "a thread needs more than 512 KiB of local memory");
	grid->local_bytes = (uint32_t)stack;
	uint64_t shared =
		wsi_fit_shared(&limits, info->shared_bytes == WS_UNKNOWN ? 0 : info->shared_bytes,
			       launch->shared_bytes);
	if (shared > (uint64_t)device->block * 1024 + device->kept)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE,
				     "%" PRIu64 " bytes of shared memory, a "
				     "block has %u KiB",
				     shared, device->block);
	grid->shared_bytes = (uint32_t)shared;
	uint32_t most = ws_sim_threads_of_block(&limits, function->n_regs);
	if (threads > most)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
				     "%u threads of %u registers, a "
				     "block has at most %u of these",
				     threads, grid->n_regs, most);
	grid->sm_regs = grid->n_warps * wsi_fit_warp_share(&limits, function->n_regs);
	grid->sm_shared_bytes = wsi_fit_shared_share(&limits, shared);
	return WS_OK;
}

static bool sm_has_room(const struct ws_sim *sim, const struct wsi_sm *sm,
			const struct wsi_grid *grid)
{
	const struct wsi_device *device = sim->device;
	return sm->n_blocks < device->blocks && sm->n_warps + grid->n_warps <= device->warps &&
	       sm->regs + grid->sm_regs <= device->regs * 1024 &&
	       sm->smem + grid->sm_shared_bytes <= device->smem * 1024;
}

static void sm_take(struct wsi_sm *sm, const struct wsi_grid *grid)
{
	sm->n_blocks++;
	sm->n_warps += grid->n_warps;
	sm->regs += grid->sm_regs;
	sm->smem += grid->sm_shared_bytes;
}

static uint64_t blocks_at_once(const struct ws_sim *sim, const struct wsi_grid *grid)
{
	struct wsi_sm empty = { .n_blocks = 0 };
	uint64_t n = 0;
	for (; sm_has_room(sim, &empty, grid); n++)
		sm_take(&empty, grid);
	return n * sim->options.n_sms;
}

static enum ws_status fill_grid(struct ws_sim *sim, struct wsi_grid *grid,
				const struct ws_sim_launch *launch,
				const struct ws_function *function, struct ws_error *err)
{
	const struct wsi_module *module = &sim->modules[launch->module];
	struct ws_function_info info;
	const size_t room = launch->n_args < MAX_PARAMS ? launch->n_args : MAX_PARAMS;
	wsi_scoped_free struct ws_param *params = wsi_zalloc_array(room + 1, sizeof *params);
	if (!params)
		return wsi_cuda_no_memory(err);
	enum ws_status st =
		ws_cubin_function_info(module->cubin, function, &info, params, room, NULL, 0, err);
	if (st != WS_OK)
		return wsi_cuda_context(err, st, WS_CUDA_ERROR_INVALID_IMAGE);
	if (info.n_params != launch->n_args || info.n_params > MAX_PARAMS)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_VALUE,
				     "%zu arguments for %zu parameters", launch->n_args,
				     info.n_params);
	grid->entry = module->address[function->section] + function->sec_off;
	st = check_launch_bounds(launch->block, &info, err);
	if (st == WS_OK)
		st = set_cluster(sim, grid, launch->cluster, info.cluster_dim, err);
	if (st == WS_OK)
		st = set_preferred(sim, grid, launch->preferred_cluster, err);
	if (st == WS_OK)
		st = set_resources(sim, grid, launch, function, &info, err);
	if (st == WS_OK && launch->cooperative && grid->n_blocks > blocks_at_once(sim, grid))
		st = wsi_cuda_fail(err, WS_CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
				   "%" PRIu64 " blocks, %" PRIu64 " fit", grid->n_blocks,
				   blocks_at_once(sim, grid));
	if (st == WS_OK)
		st = find_banks(module, grid, function->section, err);
	if (st == WS_OK)
		st = find_partition(module, grid, err);
	if (st == WS_OK)
		st = make_bank0(sim, grid, launch, &info, params, err);
	return st;
}

/* Lets go what a grid has of the device. */
static void grid_end(struct ws_sim *sim, struct wsi_grid *grid)
{
	wsi_account_give(&sim->account, sizeof *grid);
	const uint64_t own[] = { grid->bank[0].address, grid->sync };
	for (unsigned i = 0; i < WSI_COUNT(own); i++) {
		struct wsi_region *region = wsi_memory_find(&sim->memory, own[i]);
		if (own[i] != 0 && region)
			wsi_memory_remove(&sim->memory, region);
	}
}

void wsi_grid_destroy(struct ws_sim *sim, struct wsi_grid *grid)
{
	grid_end(sim, grid);
	wsi_free(grid);
}

/* Takes the first grid off the queue; a debugger is told before it is forgotten. */
static void grid_finish(struct ws_sim *sim)
{
	struct wsi_grid *grid = sim->queue;
	sim->queue = grid->next;
	wsi_children_finish(sim, grid);
	grid_end(sim, grid);
	if (sim->debug)
		wsi_stub_finished(sim->debug, grid);
	else
		wsi_free(grid);
}

enum ws_status wsi_grid_make(struct ws_sim *sim, const struct ws_sim_launch *launch,
			     const struct ws_function *function, struct wsi_grid **ret_grid,
			     struct ws_error *err)
{
	enum ws_status st = check_dimensions(launch, err);
	if (st != WS_OK)
		return st;
	if (!wsi_account_take(&sim->account, "a launch", sizeof(struct wsi_grid)))
		return wsi_account_fail(&sim->account, err);
	struct wsi_grid *grid = wsi_zalloc(sizeof *grid);
	if (!grid) {
		wsi_account_give(&sim->account, sizeof *grid);
		return wsi_cuda_no_memory(err);
	}
	grid->module = launch->module;
	grid->dim = launch->grid;
	grid->block = launch->block;
	grid->n_blocks = count(grid->dim);
	grid->host_tid = launch->host_tid;
	grid->is_system = launch->is_system;
	grid->n_host_stack = (uint32_t)wsi_min_u64(launch->n_host_stack, WS_SIM_HOST_STACK);
	if (grid->n_host_stack > 0)
		memcpy(grid->host_stack, launch->host_stack,
		       grid->n_host_stack * sizeof *grid->host_stack);
	st = fill_grid(sim, grid, launch, function, err);
	if (st != WS_OK) {
		wsi_grid_destroy(sim, grid);
		return st;
	}
	grid->id = ++sim->n_grids;
	*ret_grid = grid;
	return WS_OK;
}

static enum ws_status launch_grid(struct ws_sim *sim, const struct ws_sim_launch *launch,
				  struct ws_error *err)
{
	const struct ws_function *function;
	struct wsi_grid *grid;
	if (launch->size != sizeof *launch || !launch->kernel ||
	    (launch->n_args > 0 && !launch->args) ||
	    (launch->n_host_stack > 0 && !launch->host_stack))
		return invalid(err, "the launch is not filled in");
	if (launch->module >= sim->n_modules)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_INVALID_HANDLE, "no module %u",
				     launch->module);
	const struct wsi_module *module = &sim->modules[launch->module];
	enum ws_status st =
		ws_cubin_find_function(module->cubin, ws_str_of(launch->kernel), &function, err);
	if (st != WS_OK || !function->is_kernel || function->section >= module->n_sections ||
	    module->address[function->section] == 0)
		return wsi_cuda_fail(err, WS_CUDA_ERROR_NOT_FOUND, "no kernel '%.80s'",
				     launch->kernel);
	wsi_load_code(sim, launch->module, function->section);
	st = wsi_grid_make(sim, launch, function, &grid, err);
	if (st != WS_OK)
		return st;
	struct wsi_grid **end = &sim->queue;
	while (*end)
		end = &(*end)->next;
	*end = grid;
	return WS_OK;
}

enum ws_status ws_sim_launch(struct ws_sim *sim, const struct ws_sim_launch *launch,
			     struct ws_error *err)
{
	sim->host_changes++;
	struct ws_error own = { .status = WS_OK };
	enum ws_status st = launch_grid(sim, launch, &own);
	if (st != WS_OK && err)
		*err = own;
	if (st != WS_OK) /* the failure counts, not whether there was memory to log it */
		(void)!ws_sim_log(sim, WS_SIM_LOG_ERROR, launch->host_tid, own.message, NULL);
	return st;
}

/* ---- blocks ---- */

static void warp_destroy(struct wsi_warp *warp)
{
	if (!warp)
		return;
	if (warp->local) {
		uint32_t n = warp->block->grid->local_bytes / WSI_LOCAL_CHUNK + 1;
		for (uint32_t i = 0; i < n; i++)
			wsi_free(warp->local[i]);
	}
	wsi_free(warp->local);
	wsi_free(warp->frames);
	wsi_free(warp->regs);
	wsi_free(warp);
}

static void block_destroy(struct ws_sim *sim, struct wsi_block *block)
{
	if (!block)
		return;
	wsi_account_give(&sim->account, block->taken);
	wsi_check_leave(block);
	for (uint32_t i = 0; i < block->n_warps && block->warps; i++)
		warp_destroy(block->warps[i]);
	wsi_free(block->warps);
	wsi_free(block->shared);
	wsi_free(block->tensor);
	if (block->cluster) {
		block->cluster->peers[block->rank] = NULL;
		if (--block->cluster->left == 0)
			wsi_free(block->cluster);
	}
	wsi_free(block);
}

size_t wsi_warp_reg_words(const struct ws_sim *sim, uint32_t n_regs)
{
	return (size_t)n_regs * WSI_LANES + sim->device->uregs + 1;
}

bool wsi_warp_resize(struct ws_sim *sim, struct wsi_warp *warp, uint32_t n_regs)
{
	size_t kept = (size_t)(n_regs < warp->n_regs ? n_regs : warp->n_regs) * WSI_LANES;
	uint64_t more = n_regs > warp->n_regs ? n_regs - warp->n_regs : 0; /* what is less stays
									      counted */
	if (!wsi_block_take(sim, warp->block, "registers of a warp",
			    more * WSI_LANES * sizeof(uint32_t)))
		return false;
	uint32_t *regs = wsi_zalloc_array(wsi_warp_reg_words(sim, n_regs), sizeof *regs);
	if (!regs)
		return false;
	memcpy(regs, warp->regs, kept * sizeof *regs);
	memcpy(regs + (size_t)n_regs * WSI_LANES, warp->uregs,
	       (sim->device->uregs + 1) * sizeof *regs);
	wsi_free(warp->regs);
	warp->regs = regs;
	warp->uregs = regs + (size_t)n_regs * WSI_LANES;
	warp->n_regs = n_regs;
	return true;
}

static struct wsi_warp *warp_create(struct ws_sim *sim, struct wsi_block *block, uint32_t id)
{
	const struct wsi_grid *grid = block->grid;
	uint32_t left = block_threads(grid) - id * WSI_LANES;
	struct wsi_warp *warp = wsi_zalloc(sizeof *warp);
	if (!warp)
		return NULL;
	warp->block = block;
	warp->n_regs = grid->n_regs;
	warp->regs = wsi_zalloc_array(wsi_warp_reg_words(sim, grid->n_regs), sizeof *warp->regs);
	if (!warp->regs) {
		wsi_free(warp);
		return NULL;
	}
	warp->uregs = warp->regs + (size_t)grid->n_regs * WSI_LANES;
	warp->id = id;
	warp->valid = left >= WSI_LANES ? UINT32_MAX : (1u << left) - 1;
	warp->live = warp->ready = warp->valid;
	warp->pred[7] = UINT32_MAX;
	warp->upred = 1u << 7;
	for (unsigned lane = 0; lane < WSI_LANES; lane++) {
		warp->pc[lane] = grid->entry;
		warp->team[lane] = warp->valid;
	}
	return warp;
}

uint32_t wsi_shared_size(const struct ws_sim *sim, const struct wsi_grid *grid)
{
	uint32_t unit = wsi_fit_shared_unit(sim->device->sm);
	return (grid->shared_bytes + unit - 1) / unit * unit;
}

uint32_t wsi_shared_reserved(const struct ws_sim *sim, const struct wsi_grid *grid)
{
	const struct wsi_device *device = sim->device;
	if (device->kept != 0 || device->scratch == WSI_DEVICE_NOWHERE)
		return 0;
	return device->scratch + WSI_SHARED_KEPT - wsi_shared_size(sim, grid);
}

size_t wsi_shared_room(const struct wsi_block *block)
{
	return block->shared_bytes + (block->behind ? WSI_SHARED_KEPT : 1);
}

static struct wsi_block *sim_block_create(struct ws_sim *sim, struct wsi_grid *grid)
{
	struct wsi_block *block = wsi_zalloc(sizeof *block);
	if (!block)
		return NULL;
	block->grid = grid;
	block->n_warps = grid->n_warps;
	block->live_warps = grid->n_warps;
	block->shared_bytes = grid->shared_bytes;
	if (sim->device->kept == 0 && sim->device->scratch != WSI_DEVICE_NOWHERE)
		block->behind = sim->device->scratch;
	uint64_t of_warp = sizeof(struct wsi_warp) + sizeof *block->warps +
			   wsi_warp_reg_words(sim, grid->n_regs) * sizeof(uint32_t);
	if (!wsi_block_take(sim, block, "a block with its registers and shared memory",
			    sizeof *block + wsi_shared_room(block) + grid->n_warps * of_warp)) {
		wsi_free(block);
		return NULL;
	}
	block->shared = wsi_zalloc(wsi_shared_room(block));
	block->warps = wsi_zalloc_array(grid->n_warps, sizeof *block->warps);
	bool ok = block->shared && block->warps;
	for (uint32_t i = 0; ok && i < grid->n_warps; i++) {
		block->warps[i] = warp_create(sim, block, i);
		ok = block->warps[i] != NULL;
	}
	if (!ok) {
		block_destroy(sim, block);
		return NULL;
	}
	return block;
}

/* The `number`th of places in rows of `wide`, and `high` of these. */
static struct ws_dim3 place(uint64_t number, uint64_t wide, uint64_t high)
{
	return (struct ws_dim3){ (uint32_t)(number % wide), (uint32_t)(number / wide % high),
				 (uint32_t)(number / wide / high) };
}

/* Index of the `number`th block of a grid: places of preferred clusters one after the other, in
 * each the clusters `c` one after the other, which may be the preferred one. */
static struct ws_dim3 grid_block_index(const struct wsi_grid *grid, uint64_t number,
				       struct ws_dim3 c)
{
	struct ws_dim3 p = grid->preferred;
	uint64_t inside = number % count(p);
	struct ws_dim3 a = place(number / count(p), grid->dim.x / p.x, grid->dim.y / p.y);
	struct ws_dim3 b = place(inside / count(c), p.x / c.x, p.y / c.y);
	struct ws_dim3 at = place(inside % count(c), c.x, c.y);
	return (struct ws_dim3){ a.x * p.x + b.x * c.x + at.x, a.y * p.y + b.y * c.y + at.y,
				 a.z * p.z + b.z * c.z + at.z };
}

/* Whether the place of a preferred cluster is still whole. */
static bool is_whole(const struct wsi_grid *grid)
{
	return grid->next_block % count(grid->preferred) == 0;
}

bool wsi_launch_cancel(const struct wsi_block *own, struct ws_dim3 *ret_first)
{
	struct wsi_grid *grid = own->grid;
	uint64_t n = count(own->cluster_dim);
	if (grid->next_block == grid->n_blocks || (n > count(grid->cluster) && !is_whole(grid)))
		return false;
	*ret_first = grid_block_index(grid, grid->next_block, own->cluster_dim);
	grid->next_block += n;
	grid->done_blocks += n;
	return true;
}

/* The SM with room that has fewest warps, the first of them; UINT32_MAX for none. */
static uint32_t choose_sm(const struct ws_sim *sim, const struct wsi_grid *grid)
{
	uint32_t best = UINT32_MAX;
	for (uint32_t i = 0; i < sim->options.n_sms; i++) {
		if (!sm_has_room(sim, &sim->sms[i], grid))
			continue;
		if (best == UINT32_MAX || sim->sms[i].n_warps < sim->sms[best].n_warps)
			best = i;
		if (sim->sms[best].n_warps == 0)
			break;
	}
	return best;
}

static void sm_account(struct ws_sim *sim, struct wsi_block *block, bool enter)
{
	struct wsi_sm *sm = &sim->sms[block->sm];
	const struct wsi_grid *grid = block->grid;
	if (enter) {
		sm_take(sm, grid);
	} else {
		sm->n_blocks--;
		sm->n_warps -= grid->n_warps;
		sm->regs -= grid->sm_regs;
		sm->smem -= grid->sm_shared_bytes;
	}
	for (uint32_t i = 0; i < block->n_warps; i++) {
		if (enter) {
			uint32_t slot = 0;
			while (sm->slots >> slot & 1)
				slot++;
			block->warps[i]->slot = slot;
			sm->slots |= UINT64_C(1) << slot;
		} else {
			sm->slots &= ~(UINT64_C(1) << block->warps[i]->slot);
		}
	}
}

/* Makes a block run. Room in the lists is there. */
static void block_enter(struct ws_sim *sim, struct wsi_block *block, uint32_t sm)
{
	block->sm = sm;
	sm_account(sim, block, true);
	sim->blocks[sim->n_blocks++] = block;
	for (uint32_t i = 0; i < block->n_warps; i++) {
		block->warps[i]->age = sim->ages++;
		block->warps[i]->at = sim->n_resident;
		sim->resident[sim->n_resident++] = block->warps[i];
		wsi_wake(sim, block->warps[i]);
	}
}

/* Room for `n` more blocks in the lists. */
static bool reserve(struct ws_sim *sim, const struct wsi_grid *grid, size_t n)
{
	while (sim->cap_blocks < sim->n_blocks + n)
		if (!wsi_grow(&sim->blocks, &sim->cap_blocks, sim->cap_blocks, sizeof *sim->blocks,
			      SIZE_MAX))
			return false;
	while (sim->cap_resident < sim->n_resident + n * grid->n_warps)
		if (!wsi_grow(&sim->resident, &sim->cap_resident, sim->cap_resident,
			      sizeof *sim->resident, SIZE_MAX))
			return false;
	while (sim->cap_awake * 64 < sim->cap_resident)
		if (!wsi_grow(&sim->awake, &sim->cap_awake, sim->cap_awake, sizeof *sim->awake,
			      SIZE_MAX))
			return false;
	return true;
}

/* Brings the next cluster in, all of it or nothing. False: it does not fit now. */
static bool cluster_enter(struct ws_sim *sim, struct wsi_grid *grid, struct ws_dim3 c,
			  bool *ret_no_memory)
{
	uint32_t n = (uint32_t)count(c), done = 0;
	size_t n_blocks = sim->n_blocks, n_resident = sim->n_resident;
	if (choose_sm(sim, grid) == UINT32_MAX)
		return false;
	struct wsi_cluster *cluster = n > 1 ? wsi_zalloc(sizeof *cluster) : NULL;
	*ret_no_memory = (n > 1 && !cluster) || !reserve(sim, grid, n);
	for (; done < n && !*ret_no_memory; done++) {
		uint32_t sm = choose_sm(sim, grid);
		if (sm == UINT32_MAX)
			break;
		struct wsi_block *block = sim_block_create(sim, grid);
		*ret_no_memory = !block;
		if (!block)
			break;
		block->idx = grid_block_index(grid, grid->next_block + done, c);
		block->cluster_dim = c;
		block->rank = done;
		if (sim->check && !wsi_check_enter(sim, block)) {
			block_destroy(sim, block);
			*ret_no_memory = true;
			break;
		}
		wsi_tmem_enter(sim, block);
		block->cluster = cluster;
		if (cluster) {
			cluster->peers[done] = block;
			cluster->n = ++cluster->left;
		}
		block_enter(sim, block, sm);
	}
	if (done == n) {
		if (sim->debug)
			wsi_stub_entered(sim, sim->blocks[n_blocks], grid->next_block == 0);
		grid->next_block += n;
		return true;
	}
	if (done == 0)
		wsi_free(cluster);
	for (size_t i = n_blocks; i < n_blocks + done; i++) {
		sm_account(sim, sim->blocks[i], false);
		block_destroy(sim, sim->blocks[i]);
	}
	sim->n_blocks = n_blocks;
	sim->n_resident = n_resident;
	return false;
}

/* The same: a preferred one if that fits. */
static bool any_cluster_enter(struct ws_sim *sim, struct wsi_grid *grid, bool *ret_no_memory)
{
	bool prefers = count(grid->preferred) > count(grid->cluster) && is_whole(grid);
	return (prefers && cluster_enter(sim, grid, grid->preferred, ret_no_memory)) ||
	       (!*ret_no_memory && cluster_enter(sim, grid, grid->cluster, ret_no_memory));
}

bool wsi_launch_fill(struct ws_sim *sim)
{
	bool no_memory = false;
	while (sim->queue && sim->queue->done_blocks == sim->queue->n_blocks && !no_memory) {
		uint64_t first = sim->queue->id;
		if (!wsi_children_start(sim, first, false)) {
			grid_finish(sim);
			wsi_children_start(sim, first, true);
		}
		no_memory = sim->queue && sim->queue->id != first && !wsi_run_prepare(sim);
	}
	while (sim->queue && !sim->queue->held && sim->queue->next_block < sim->queue->n_blocks)
		if (!any_cluster_enter(sim, sim->queue, &no_memory))
			break;
	return !no_memory;
}

/* Closes the gaps that warps have left. */
static void close_warp_gaps(struct ws_sim *sim)
{
	size_t kept = 0, turn = 0;
	for (size_t i = 0; i < sim->n_resident; i++) {
		struct wsi_warp *warp = sim->resident[i];
		if (!warp)
			continue;
		turn += i < sim->turn;
		warp->at = kept;
		sim->resident[kept++] = warp;
		wsi_wake(sim, warp);
	}
	sim->n_resident = kept;
	sim->n_gaps = 0;
	sim->turn = turn < kept ? turn : 0;
}

/* Takes a block out of the lists. Its warps leave gaps, which are closed when they are many: a
 * block costs the same however many others there are. */
static void block_leave(struct ws_sim *sim, const struct wsi_block *block)
{
	if (sim->turn_of && sim->turn_of->block == block)
		sim->turn_of = NULL;
	for (uint32_t i = 0; i < block->n_warps; i++)
		sim->resident[block->warps[i]->at] = NULL;
	sim->n_gaps += block->n_warps;
	if (sim->n_gaps * 2 >= sim->n_resident)
		close_warp_gaps(sim);
	for (size_t i = 0; i < sim->n_blocks; i++) {
		if (sim->blocks[i] != block)
			continue;
		memmove(&sim->blocks[i], &sim->blocks[i + 1],
			(sim->n_blocks - i - 1) * sizeof *sim->blocks);
		sim->n_blocks--;
		break;
	}
}

void wsi_launch_retire(struct ws_sim *sim, struct wsi_block *block)
{
	struct wsi_cluster *cluster = block->cluster;
	bool last = !cluster || cluster->left == 1;
	if (sim->debug) {
		sim->debug->new_lists = true;
		sim->debug->n_left++;
	}
	sm_account(sim, block, false);
	block_leave(sim, block);
	block->grid->done_blocks++;
	block_destroy(sim, block);
	if (!last)
		wsi_cluster_check(sim, cluster);
}

/* Ends all blocks. */
static void drop_blocks(struct ws_sim *sim)
{
	for (size_t i = 0; i < sim->n_blocks; i++)
		block_destroy(sim, sim->blocks[i]);
	sim->n_blocks = 0;
	sim->n_resident = sim->n_gaps = sim->turn = 0;
	sim->turn_of = NULL;
}

void wsi_launch_kill(struct ws_sim *sim)
{
	drop_blocks(sim);
	memset(sim->sms, 0, sim->options.n_sms * sizeof *sim->sms); /* nobody has anything */
	wsi_children_drop(sim);
	while (sim->queue)
		grid_finish(sim);
	sim->faulted = false;
	sim->late = 0;
	if (sim->debug)
		sim->debug->new_lists = true;
}

void wsi_launch_fini(struct ws_sim *sim)
{
	drop_blocks(sim);
	wsi_free(sim->blocks);
	wsi_free(sim->resident);
	wsi_free(sim->awake);
	wsi_children_drop(sim);
	wsi_free(sim->drafts);
	while (sim->queue) {
		struct wsi_grid *grid = sim->queue;
		sim->queue = grid->next;
		wsi_grid_destroy(sim, grid);
	}
	wsi_free(sim->sms);
}
