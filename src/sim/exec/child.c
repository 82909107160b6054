/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches from the device, by the entry points of the device runtime that code for
 * `kernel<<<...>>>` calls: one gives memory for the parameters, the other launches.
 *
 * There is no order between a grid and its children but that it is not done before them, and
 * nobody can wait for one in device code. Here they run when all blocks of their parent have
 * exited, in the order in which they were launched, whatever their stream; the parent sleeps. What
 * was launched into the tail stream runs when the parent is done.
 */
#include "sim/exec/exec.h"

enum {
	MAX_DEPTH = 24,     /* of nested launches [CUDA programming guide] */
	MAX_PENDING = 2048, /* cudaLimitDevRuntimePendingLaunchCount is that by default */
	MAX_PARAMS = 1024,  /* as of launches by the host */
	MAX_PARAM_BYTES = 32768,
	TAIL_STREAM = 3, /* cudaStreamTailLaunch */
	FUNCTION = 4,    /* registers of arguments */
	GRID = 6,
	BLOCK = 9,
	SHARED = 12,
	BUFFER = 4,
	STREAM = 6,
};

/* cudaError_t */
enum {
	INVALID_VALUE = 1,
	INVALID_CONFIGURATION = 9,
	TOO_DEEP = 65,
	TOO_MANY = 69,
	INVALID_FUNCTION = 98,
};

/* ---- grids ---- */

bool wsi_children_start(struct ws_sim *sim, uint64_t parent, bool tail)
{
	struct wsi_grid **from = &sim->later, **to = &sim->queue;
	bool any = false;
	while (*from) {
		struct wsi_grid *grid = *from;
		if (grid->parent != parent || grid->is_tail != tail) {
			from = &grid->next;
			continue;
		}
		if (!any && !tail)
			sim->queue->sleeps = true;
		any = true;
		*from = grid->next;
		grid->next = *to;
		*to = grid;
		to = &grid->next;
	}
	return any;
}

static void draft_remove(struct ws_sim *sim, size_t i)
{
	struct wsi_region *region = wsi_memory_find(&sim->memory, sim->drafts[i].address);
	if (region)
		wsi_memory_remove(&sim->memory, region);
	memmove(&sim->drafts[i], &sim->drafts[i + 1], (--sim->n_drafts - i) * sizeof *sim->drafts);
}

void wsi_children_finish(struct ws_sim *sim, const struct wsi_grid *grid)
{
	sim->n_children -= grid->parent != 0;
	for (size_t i = sim->n_drafts; i-- > 0;)
		if (sim->drafts[i].parent == grid->id)
			draft_remove(sim, i);
}

void wsi_children_drop(struct ws_sim *sim)
{
	while (sim->later) {
		struct wsi_grid *grid = sim->later;
		sim->later = grid->next;
		sim->n_children--;
		wsi_grid_destroy(sim, grid);
	}
}

/* ---- kernels ---- */

/* The kernel at an address; NULL: there is none. */
static const struct ws_function *kernel_at(struct ws_sim *sim, uint64_t entry, uint32_t *ret_module)
{
	const struct wsi_text *text = wsi_sim_text_find(sim, entry);
	const struct ws_function *functions;
	struct ws_error err;
	size_t n;
	if (!text || ws_cubin_functions(sim->modules[text->module].cubin, &functions, &n, &err))
		return NULL;
	*ret_module = text->module;
	for (size_t i = 0; i < n; i++)
		if (functions[i].is_kernel && functions[i].section == text->section &&
		    text->start + functions[i].sec_off == entry)
			return &functions[i];
	return NULL;
}

/* Parameters of a kernel; false: no memory, or an image that does not tell. */
static bool child_params_of(const struct ws_sim *sim, uint32_t module,
			    const struct ws_function *function, struct ws_param *params,
			    size_t *ret_n, uint32_t *ret_bytes)
{
	struct ws_function_info info;
	struct ws_error err;
	if (ws_cubin_function_info(sim->modules[module].cubin, function, &info, params, MAX_PARAMS,
				   NULL, 0, &err) != WS_OK ||
	    info.n_params > MAX_PARAMS)
		return false;
	*ret_n = info.n_params;
	*ret_bytes = info.param_bytes == WS_UNKNOWN ? 0 : info.param_bytes;
	return *ret_bytes <= MAX_PARAM_BYTES;
}

/* ---- memory for parameters ---- */

/* Memory that the caller is to write the parameters to; an error otherwise. */
static uint8_t draft_add(struct wsi_run *run, struct wsi_draft *draft)
{
	struct ws_sim *sim = run->sim;
	struct ws_error err;
	uint32_t module, bytes;
	size_t n;
	const struct ws_function *function = kernel_at(sim, draft->entry, &module);
	wsi_scoped_free struct ws_param *params = wsi_zalloc_array(MAX_PARAMS, sizeof *params);
	run->no_memory |= !params;
	if (!params || !function || !child_params_of(sim, module, function, params, &n, &bytes))
		return INVALID_FUNCTION;
	if (sim->n_drafts + sim->n_children >= MAX_PENDING)
		return TOO_MANY;
	struct wsi_region region = { .size = bytes ? bytes : 1, .kind = WSI_REGION_GRID };
	region.reach = region.size;
	region.start = wsi_memory_place(&sim->memory, region.size, 256);
	if (!wsi_grow(&sim->drafts, &sim->cap_drafts, sim->n_drafts, sizeof *sim->drafts,
		      MAX_PENDING) ||
	    wsi_memory_add(&sim->memory, &region, &err) != WS_OK) {
		run->no_memory = true;
		return INVALID_VALUE;
	}
	draft->address = region.start;
	sim->drafts[sim->n_drafts++] = *draft;
	return 0;
}

enum wsi_step wsi_service_parameters(struct wsi_run *run, unsigned lane)
{
	uint32_t word[SHARED + 1] = { 0 };
	for (unsigned i = GRID; i <= SHARED; i++)
		word[i] = wsi_lane_value(run->warp, i, lane);
	struct wsi_draft draft = {
		.entry = wsi_service_argument(run, FUNCTION, lane),
		.parent = run->warp->block->grid->id,
		.grid = { word[GRID], word[GRID + 1], word[GRID + 2] },
		.block = { word[BLOCK], word[BLOCK + 1], word[BLOCK + 2] },
		.shared_bytes = word[SHARED],
	};
	uint8_t error = draft_add(run, &draft);
	if (error)
		run->warp->error[lane] = error;
	wsi_service_result(run, lane, draft.address, 2);
	return WSI_STEP_NEXT;
}

/* ---- launching ---- */

static uint8_t make_child(struct wsi_run *run, const struct wsi_draft *draft, bool tail)
{
	struct ws_sim *sim = run->sim;
	const struct wsi_grid *parent = run->warp->block->grid;
	const void *args[MAX_PARAMS];
	uint8_t bytes[MAX_PARAM_BYTES];
	struct ws_error err;
	struct wsi_grid *grid;
	uint32_t module, size;
	size_t n;
	wsi_scoped_free struct ws_param *params = wsi_zalloc_array(MAX_PARAMS, sizeof *params);
	const struct ws_function *function = kernel_at(sim, draft->entry, &module);
	run->no_memory |= !params;
	if (!params || !function || !child_params_of(sim, module, function, params, &n, &size) ||
	    (size > 0 &&
	     wsi_memory_copy_out(&sim->memory, draft->address, bytes, size, &err) != WS_OK))
		return INVALID_VALUE;
	for (size_t i = 0; i < n; i++) {
		if (params[i].offset > size || params[i].size_bytes > size - params[i].offset)
			return INVALID_FUNCTION;
		args[i] = bytes + params[i].offset;
	}
	struct ws_sim_launch launch = {
		.size = sizeof launch,
		.module = module,
		.grid = draft->grid,
		.block = draft->block,
		.shared_bytes = draft->shared_bytes,
		.args = args,
		.n_args = n,
	};
	if (parent->depth + !tail > MAX_DEPTH)
		return TOO_DEEP;
	enum ws_status st = wsi_grid_make(sim, &launch, function, &grid, &err);
	run->no_memory |= st == WS_NO_MEMORY || st == WS_LIMIT;
	if (st != WS_OK)
		return INVALID_CONFIGURATION;
	grid->parent = parent->id;
	grid->depth = parent->depth + !tail;
	grid->is_tail = tail;
	struct wsi_grid **end = &sim->later;
	while (*end)
		end = &(*end)->next;
	*end = grid;
	sim->n_children++;
	return 0;
}

enum wsi_step wsi_service_launch(struct wsi_run *run, unsigned lane)
{
	struct ws_sim *sim = run->sim;
	uint64_t address = wsi_service_argument(run, BUFFER, lane);
	uint64_t stream = wsi_service_argument(run, STREAM, lane);
	uint8_t error = INVALID_VALUE;
	for (size_t i = 0; i < sim->n_drafts; i++) {
		if (sim->drafts[i].address != address)
			continue;
		error = make_child(run, &sim->drafts[i], stream == TAIL_STREAM);
		draft_remove(sim, i);
		break;
	}
	if (error)
		run->warp->error[lane] = error;
	wsi_service_result(run, lane, error, 1);
	return run->no_memory ? WSI_STEP_FAULT : WSI_STEP_NEXT;
}

enum wsi_step wsi_service_peek_error(struct wsi_run *run, unsigned lane)
{
	wsi_service_result(run, lane, run->warp->error[lane], 1);
	return WSI_STEP_NEXT;
}

enum wsi_step wsi_service_get_error(struct wsi_run *run, unsigned lane)
{
	wsi_service_peek_error(run, lane);
	run->warp->error[lane] = 0;
	return WSI_STEP_NEXT;
}
