/* SPDX-License-Identifier: Apache-2.0 */
/* cuda-gdb's convenience variables: $cuda_focus_sm and the others. */
#include "debug/session.h"

#include <warpscope/cudadebugger.h>
#include <warpscope/threads.h>

#include "vars/vars.h"

struct known_thread {
	const struct ws_debug *d;
	struct ws_threads threads;
	struct ws_lane lane;
	const struct ws_device *device;
	const struct ws_grid *grid;
	struct ws_warp warp;
};

enum { X, Y, Z };

static bool of_focus(const struct known_thread *known, enum ws_filter_word word, unsigned axis,
		     int64_t *ret_number)
{
	*ret_number = known->threads.at.number[word][axis];
	return known->threads.at.known[word];
}

enum { MOST_IDS = 9 /* one more than a value holds */ };

/* How many kernels run, and the ids of the first of them. */
static uint32_t present_grids(const struct ws_threads *threads, uint32_t ret_ids[MOST_IDS])
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < threads->counts.grids; i++) {
		if (threads->grids[i].status != CUDBG_GRID_STATUS_ACTIVE &&
		    threads->grids[i].status != CUDBG_GRID_STATUS_SLEEPING)
			continue;
		if (n < MOST_IDS)
			ret_ids[n] = threads->kernel_ids[i];
		n++;
	}
	return n;
}

/* $cuda_focus_NAME; false: none of these, or the focus has no such number. */
static bool focus_number(const struct known_thread *known, struct ws_str name, int64_t *ret_number)
{
	static const struct {
		const char *name;
		enum ws_filter_word word;
		unsigned axis;
	} numbers[] = {
		{ "device", WS_FILTER_device, X },   { "sm", WS_FILTER_sm, X },
		{ "warp", WS_FILTER_warp, X },       { "lane", WS_FILTER_lane, X },
		{ "grid", WS_FILTER_grid, X },       { "kernel_id", WS_FILTER_kernel, X },
		{ "block_x", WS_FILTER_block, X },   { "block_y", WS_FILTER_block, Y },
		{ "block_z", WS_FILTER_block, Z },   { "thread_x", WS_FILTER_thread, X },
		{ "thread_y", WS_FILTER_thread, Y }, { "thread_z", WS_FILTER_thread, Z },
	};
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (ws_str_equal(name, ws_str_of(numbers[i].name)))
			return of_focus(known, numbers[i].word, numbers[i].axis, ret_number);
	return false;
}

/* The line that the thread is at; 0: not known. */
static uint32_t thread_line_of(const struct known_thread *known)
{
	struct ws_debug_position position;
	ws_debug_position(known->d, known->lane.pc, &position);
	return position.n ? position.chain[0].line : 0;
}

/* The others, but for their "cuda_". */
static bool cuda_variable_number(const struct known_thread *known, struct ws_str name,
				 int64_t *ret_number)
{
	const struct ws_threads *threads = &known->threads;
	const struct ws_device *device = known->device;
	const struct ws_grid *grid = known->grid;
	uint32_t ids[MOST_IDS];
	const struct {
		const char *name;
		bool known;
		uint64_t value;
	} numbers[] = {
		{ "num_devices", true, threads->counts.devices },
		{ "num_sm", device, device ? device->n_sms : 0 },
		{ "num_warps", device, device ? device->n_warps_per_sm : 0 },
		{ "num_lanes", device, device ? device->n_lanes_per_warp : 0 },
		{ "num_registers", device, device ? device->n_regs_per_lane : 0 },
		{ "num_uregisters", device, device ? device->n_uniform_regs : 0 },
		{ "num_registers_allocated", known->warp.have & WS_WARP_N_REGS,
		  known->warp.n_regs },
		{ "shared_memory_size", known->warp.have & WS_WARP_SHARED_BYTES,
		  known->warp.shared_bytes },
		{ "grid_dim_x", grid, grid ? grid->grid_dim.x : 0 },
		{ "grid_dim_y", grid, grid ? grid->grid_dim.y : 0 },
		{ "grid_dim_z", grid, grid ? grid->grid_dim.z : 0 },
		{ "block_dim_x", grid, grid ? grid->block_dim.x : 0 },
		{ "block_dim_y", grid, grid ? grid->block_dim.y : 0 },
		{ "block_dim_z", grid, grid ? grid->block_dim.z : 0 },
		{ "thread_active", device, known->warp.active_lanes >> known->lane.id & 1 },
		{ "thread_lineno", device, device ? thread_line_of(known) : 0 },
		{ "call_depth", device, known->lane.call_depth },
		{ "syscall_call_depth", device, known->lane.syscall_call_depth },
		{ "num_present_kernels", true, present_grids(threads, ids) },
		{ "num_total_kernels", true, threads->counts.grids },
		/* ids count up from 0 as kernels become known */
		{ "latest_launched_kernel_id", threads->counts.grids > 0,
		  threads->counts.grids - (uint64_t)1 },
	};
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		if (!ws_str_equal(name, ws_str_of(numbers[i].name)))
			continue;
		*ret_number = (int64_t)numbers[i].value;
		return numbers[i].known;
	}
	return false;
}

/* Looks at the thread that the evaluator looks at. */
static enum ws_status known_init(struct known_thread *known, const struct ws_debug *d)
{
	*known = (struct known_thread){ .d = d };
	const enum ws_status st =
		ws_threads_init(&known->threads, d->target, d->has_asked ? &d->asked : NULL, NULL);
	const struct ws_focus *at = &known->threads.focus;
	if (st != WS_OK || !known->threads.have_focus ||
	    ws_target_warp(d->target, at->warp_index, &known->warp, NULL) != WS_OK ||
	    ws_target_lane(d->target, at->warp_index, at->lane, &known->lane, NULL) != WS_OK)
		return st;
	known->device = &known->threads.devices[at->device_index];
	known->grid = at->grid_index != WS_NONE ? &known->threads.grids[at->grid_index] : NULL;
	return WS_OK;
}

bool wsi_debug_cuda_variable(const struct ws_debug *d, struct ws_str name,
			     struct ws_value *ret_value)
{
	static const char prefix[] = "cuda_", focus[] = "focus_";
	struct known_thread known;
	int64_t found = 0;
	if (name.len < sizeof prefix || memcmp(name.ptr, prefix, sizeof prefix - 1) != 0)
		return false;
	name.ptr += sizeof prefix - 1;
	name.len -= sizeof prefix - 1;
	*ret_value = ws_value_void();
	if (known_init(&known, d) != WS_OK)
		return true;
	const bool of_coords =
		name.len > sizeof focus - 1 && memcmp(name.ptr, focus, sizeof focus - 1) == 0;
	const struct ws_str rest = { name.ptr + sizeof focus - 1, name.len - (sizeof focus - 1) };
	if (ws_str_equal(name, ws_str_of("present_kernel_ids"))) {
		uint32_t ids[MOST_IDS], n = present_grids(&known.threads, ids);
		*ret_value = wsi_value_uints(ids, n < MOST_IDS ? n : MOST_IDS);
	} else if (of_coords ? focus_number(&known, rest, &found)
			     : cuda_variable_number(&known, name, &found)) {
		*ret_value = ws_value_int(found);
	}
	ws_threads_fini(&known.threads);
	return true;
}
