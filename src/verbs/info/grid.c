/* SPDX-License-Identifier: Apache-2.0 */
/* info contexts, kernels, blocks, clusters: the program's view. */
#include "verbs/info/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/stack.h>

#include "verbs/info/blocks.h"
#include "verbs/stack.h"

/* ---- contexts ---- */

static const struct ws_rows_column context_columns[] = {
	{ "Context", "context", 0 },
	{ "Dev", "device", 0 },
	{ "State", "state", 0 },
	{ "Host Thread", "host_tid", WS_ROWS_WIDE },
	{ "Shared Window", "shared_window_base", WS_ROWS_WIDE },
	{ "Local Window", "local_window_base", WS_ROWS_WIDE },
	{ "Global Window", "global_window_base", WS_ROWS_WIDE },
};

static void produce_contexts(struct ws_rows *rows, void *user)
{
	const struct wsi_info *info = user;
	const struct ws_threads *threads = info->threads;
	const struct ws_grid *focus_grid =
		threads->have_focus && threads->focus.grid_index != WS_NONE
			? &threads->grids[threads->focus.grid_index]
			: NULL;
	for (uint32_t i = 0; i < threads->counts.contexts; i++) {
		struct ws_context context;
		if (ws_target_context(threads->target, i, &context, NULL) != WS_OK)
			continue;
		const struct ws_device *device = &threads->devices[context.device_index];
		if (!ws_filter_number(&info->filter, WS_FILTER_device, device->id))
			continue;
		ws_rows_begin(rows, focus_grid && focus_grid->context_index == i);
		ws_rows_hex(rows, context.id, 16);
		ws_rows_number(rows, device->id);
		ws_rows_text(rows, "active"); /* a dump has no others */
		ws_rows_number(rows, context.host_tid);
		ws_rows_hex(rows, context.shared_window_base, 16);
		ws_rows_hex(rows, context.local_window_base, 16);
		ws_rows_hex(rows, context.global_window_base, 16);
		ws_rows_end(rows);
	}
}

INFO_TABLE(contexts, context_columns, produce_contexts)

/* ---- kernels ---- */

static const struct ws_rows_column kernel_columns[] = {
	{ "Kernel", "kernel", 0 },
	{ "Parent", "parent", 0 },
	{ "Dev", "device", 0 },
	{ "Grid", "grid", 0 },
	{ "Status", "status", 0 },
	{ "SMs Mask", "sms_mask", 0 },
	{ "GridDim", "gridDim", 0 },
	{ "BlockDim", "blockDim", 0 },
	{ "Invocation", "invocation", WS_ROWS_LEFT },
	{ "Blocks", "resident_blocks", WS_ROWS_WIDE },
	{ "ClusterDim", "clusterDim", WS_ROWS_WIDE },
	{ "Regs", "num_regs", WS_ROWS_WIDE },
	{ "Entry", "function_entry", WS_ROWS_WIDE },
	{ "Context", "context_id", WS_ROWS_WIDE },
	{ "Module", "module", WS_ROWS_WIDE },
	{ "Origin", "origin", WS_ROWS_WIDE },
	{ "Host Thread", "host_tid", WS_ROWS_WIDE },
	{ "Parent Grid", "parent_grid", WS_ROWS_WIDE },
	{ "Function", "function", WS_ROWS_WIDE },
	{ "Type", "type", WS_ROWS_WIDE },
	{ "Blocking", "launch_blocking", WS_ROWS_WIDE },
	{ "Params At", "params_offset", WS_ROWS_WIDE },
	{ "Preferred ClusterDim", "preferred_clusterDim", WS_ROWS_WIDE },
	{ NULL, "doubt", WS_ROWS_DATA },
};

enum { MASK_WORDS = 16 };

/* What the blocks tell of a grid. */
struct grid_kernel {
	uint32_t id, grid_index, n_blocks;
	bool matches, mask_fits;
	uint64_t sms[MASK_WORDS];
};

/* The newest first, as cuda-gdb; those without a block, which it does not show, last. */
static int kernel_compare(const void *left, const void *right)
{
	const struct grid_kernel *a = left, *b = right;
	if ((a->n_blocks == 0) != (b->n_blocks == 0))
		return a->n_blocks == 0 ? 1 : -1;
	return a->id < b->id ? 1 : a->id > b->id ? -1 : 0;
}

static void kernel_add_block(const struct ws_threads *threads, struct grid_kernel *kernel,
			     const struct wsi_block_entry *block)
{
	struct ws_sm sm;
	uint32_t n_sms = threads->devices[block->device_index].n_sms;
	kernel->n_blocks++;
	kernel->matches = true;
	if (ws_target_sm(threads->target, block->sm_index, &sm, NULL) != WS_OK || sm.id >= n_sms ||
	    n_sms > MASK_WORDS * 64)
		kernel->mask_fits = false;
	else
		kernel->sms[sm.id / 64] |= UINT64_C(1) << sm.id % 64;
}

static bool grid_matches(const struct ws_threads *threads, const struct ws_filter *filter,
			 uint32_t grid_index)
{
	const struct ws_grid *grid = &threads->grids[grid_index];
	static const enum ws_filter_word below[] = { WS_FILTER_sm,    WS_FILTER_warp,
						     WS_FILTER_lane,  WS_FILTER_cluster,
						     WS_FILTER_block, WS_FILTER_thread };
	for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
		if (ws_filter_limits(filter, below[i]))
			return false; /* that takes a block */
	}
	return ws_filter_number(filter, WS_FILTER_device,
				threads->devices[grid->device_index].id) &&
	       ws_filter_number(filter, WS_FILTER_kernel, threads->kernel_ids[grid_index]) &&
	       ws_filter_number(filter, WS_FILTER_grid, grid->id);
}

/* Whether another kernel launched a grid. */
static bool has_parent(const struct ws_grid *grid)
{
	enum { ORIGIN_GPU = 1 }; /* CUDBGKernelOrigin */
	return grid->origin == ORIGIN_GPU;
}

/* The index of the grid that launched one; WS_NONE: none that is there. */
static uint32_t parent_grid_of(const struct ws_threads *threads, const struct ws_grid *grid)
{
	for (uint32_t i = 0; has_parent(grid) && i < threads->counts.grids; i++)
		if (threads->grids[i].device_index == grid->device_index &&
		    threads->grids[i].id == grid->parent_id)
			return i;
	return WS_NONE;
}

static void parent_cell(struct ws_rows *rows, const struct ws_threads *threads,
			const struct ws_grid *grid)
{
	const uint32_t parent = parent_grid_of(threads, grid);
	ws_rows_or_none(rows, 1, has_parent(grid));
	ws_rows_if(rows, 1, parent != WS_NONE);
	ws_rows_number(rows, wsi_threads_kernel(threads, parent));
}

/* "(step=6, rows=5)" of a kernel, as its first thread has them; "()": not known. */
static void print_arguments(struct wsi_info *info, const struct ws_grid *grid, struct ws_out *out)
{
	struct ws_threads there = *info->threads;
	struct ws_filter filter = { 0 };
	struct ws_focus focus;
	struct ws_stack stack = { .n_frames = 0 };
	filter.word[WS_FILTER_kernel].limited[0] = true;
	filter.word[WS_FILTER_kernel].number[0] = there.kernel_ids[grid - there.grids];
	enum ws_status st = WS_ABSENT;
	if (ws_threads_first(&there, &filter, &focus)) {
		ws_threads_focus_on(&there, &focus);
		st = ws_stack_open(&stack, &there, NULL);
	}
	if (st == WS_OK)
		st = ws_stack_select(&stack, stack.n_frames - 1, NULL);
	if (st == WS_OK)
		st = ws_stack_arguments_text(&stack, WS_ARGUMENTS_IN_TABLE, out, NULL);
	else
		ws_out_text(out, "()");
	if (st == WS_NO_MEMORY)
		wsi_info_no_memory(info);
	ws_stack_close(&stack);
}

static void invocation_cell(struct ws_rows *rows, struct wsi_info *info, const struct ws_grid *grid)
{
	char name[WS_NAME_BYTES];
	struct wsi_bytes text = { 0 };
	struct ws_out out;
	struct ws_place place;
	struct ws_symbols *symbols = wsi_info_symbols(info);
	if (!symbols ||
	    ws_symbols_place(symbols, grid->device_index, grid, grid->function_entry, &place) !=
		    WS_OK ||
	    (!place.owner && !place.function)) {
		wsi_rows_missing(rows, WS_ABSENT);
		return;
	}
	ws_demangle_kernel((place.owner ? place.owner : place.function)->name, name, sizeof name);
	wsi_bytes_put(&text, name, strlen(name));
	ws_out_init(&out, wsi_verbs_text_write, &text);
	print_arguments(info, grid, &out);
	(void)!ws_out_flush(&out, NULL);
	if (text.failed)
		wsi_info_no_memory(info);
	ws_rows_str(rows, (struct ws_str){ (const char *)text.ptr, text.len });
	wsi_bytes_fini(&text);
}

static void status_cell(struct ws_rows *rows, const struct ws_grid *grid)
{
	static const char *const statuses[] = { "Invalid",  "Pending",    "Active",
						"Sleeping", "Terminated", "Undetermined" };
	wsi_info_cell_name(rows, statuses, sizeof statuses / sizeof *statuses, grid->status);
}

static void kernel_row(struct ws_rows *rows, struct wsi_info *info,
		       const struct grid_kernel *kernel)
{
	static const char *const origins[] = { "host", "device" };
	static const char *const types[] = { "unknown", "system", "application" };
	const struct ws_threads *threads = info->threads;
	const struct ws_grid *grid = &threads->grids[kernel->grid_index];
	const struct wsi_thread_doubt doubt = wsi_threads_doubt_grid(threads, kernel->grid_index);
	wsi_rows_doubt(rows, doubt.text, &info->told->n_doubted_rows);
	ws_rows_begin(rows, threads->have_focus && threads->focus.grid_index == kernel->grid_index);
	ws_rows_number(rows, kernel->id);
	parent_cell(rows, threads, grid);
	ws_rows_number(rows, threads->devices[grid->device_index].id);
	wsi_rows_id(rows, grid->id);
	status_cell(rows, grid);
	ws_rows_given(rows, 1, kernel->mask_fits ? WS_OK : WS_MALFORMED);
	ws_rows_mask(rows, kernel->sms, threads->devices[grid->device_index].n_sms);
	ws_rows_dim3(rows, grid->grid_dim);
	ws_rows_dim3(rows, grid->block_dim);
	invocation_cell(rows, info, grid);
	ws_rows_number(rows, kernel->n_blocks);
	wsi_info_cell_dim3(rows, grid->have & WS_GRID_CLUSTER ? WS_OK : WS_ABSENT,
			   grid->cluster_dim);
	ws_rows_number(rows, grid->n_regs);
	ws_rows_hex(rows, grid->function_entry, 16);
	ws_rows_hex(rows, grid->context_id, 16);
	ws_rows_hex(rows, grid->module_handle, 16);
	wsi_info_cell_name(rows, origins, sizeof origins / sizeof *origins, grid->origin);
	ws_rows_number(rows, grid->host_tid);
	wsi_rows_id(rows, grid->parent_id);
	ws_rows_hex(rows, grid->function, 16);
	wsi_info_cell_name(rows, types, sizeof types / sizeof *types, grid->type);
	ws_rows_if(rows, 1, grid->have & WS_GRID_BLOCKING);
	ws_rows_bool(rows, grid->launch_blocking);
	ws_rows_if(rows, 1, grid->have & WS_GRID_PARAMS);
	ws_rows_hex(rows, grid->params_offset, 3);
	wsi_info_cell_dim3(rows, grid->have & WS_GRID_PREFERRED_CLUSTER ? WS_OK : WS_ABSENT,
			   grid->preferred_cluster_dim);
	wsi_rows_text_or_none(rows, doubt.text);
	ws_rows_end(rows);
}

static void produce_grid_kernels(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	const struct ws_threads *threads = info->threads;
	uint32_t n_grids = threads->counts.grids;
	struct grid_kernel *kernels = wsi_info_alloc(info, n_grids, sizeof *kernels);
	if (!kernels)
		return;
	for (uint32_t i = 0; i < n_grids; i++)
		kernels[i] =
			(struct grid_kernel){ .id = threads->kernel_ids[i],
					      .grid_index = i,
					      .mask_fits = true,
					      .matches = grid_matches(threads, &info->filter, i) };
	struct wsi_blocks blocks;
	wsi_blocks_find(&blocks, info);
	for (size_t i = 0; i < blocks.n_entries; i++) {
		if (blocks.entries[i].grid)
			kernel_add_block(threads, &kernels[blocks.entries[i].grid - threads->grids],
					 &blocks.entries[i]);
	}
	wsi_blocks_fini(&blocks);
	qsort(kernels, n_grids, sizeof *kernels, kernel_compare);
	for (uint32_t i = 0; i < n_grids; i++) {
		if (kernels[i].matches)
			kernel_row(rows, info, &kernels[i]);
	}
	wsi_free(kernels);
}

INFO_TABLE(kernels, kernel_columns, produce_grid_kernels)

/* ---- launches: those that led to the kernel in focus, and those that it made ---- */

static const struct ws_rows_column launch_trace_columns[] = {
	{ "Lvl", "level", 0 },         { "Kernel", "kernel", 0 },
	{ "Dev", "device", 0 },        { "Grid", "grid", 0 },
	{ "Status", "status", 0 },     { "GridDim", "gridDim", 0 },
	{ "BlockDim", "blockDim", 0 }, { "Invocation", "invocation", WS_ROWS_LEFT },
};

static void launch_cells(struct ws_rows *rows, struct wsi_info *info, uint32_t grid_index)
{
	const struct ws_threads *threads = info->threads;
	const struct ws_grid *grid = &threads->grids[grid_index];
	ws_rows_number(rows, threads->kernel_ids[grid_index]);
	ws_rows_number(rows, threads->devices[grid->device_index].id);
	wsi_rows_id(rows, grid->id);
	status_cell(rows, grid);
	ws_rows_dim3(rows, grid->grid_dim);
	ws_rows_dim3(rows, grid->block_dim);
	invocation_cell(rows, info, grid);
	ws_rows_end(rows);
}

/* The kernel in focus, the one that launched it, and so on. */
static void produce_launch_trace(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	const struct ws_threads *threads = info->threads;
	uint32_t at = threads->have_focus ? threads->focus.grid_index : WS_NONE;
	for (uint32_t level = 0; at != WS_NONE && level < threads->counts.grids; level++) {
		char text[16];
		snprintf(text, sizeof text, "#%" PRIu32, level);
		ws_rows_begin(rows, level == 0);
		ws_rows_text(rows, text);
		launch_cells(rows, info, at);
		at = parent_grid_of(threads, &threads->grids[at]);
	}
}

INFO_TABLE(launch_trace, launch_trace_columns, produce_launch_trace)

static void produce_launch_children(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	const struct ws_threads *threads = info->threads;
	const uint32_t focus = threads->have_focus ? threads->focus.grid_index : WS_NONE;
	for (uint32_t i = 0; focus != WS_NONE && i < threads->counts.grids; i++) {
		if (parent_grid_of(threads, &threads->grids[i]) != focus)
			continue;
		ws_rows_begin(rows, false);
		launch_cells(rows, info, i);
	}
}

/* The columns of the trace, but for the level. */
void wsi_info_launch_children(struct wsi_info *info)
{
	wsi_info_rows(info, launch_trace_columns + 1,
		      sizeof launch_trace_columns / sizeof launch_trace_columns[0] - 1,
		      produce_launch_children);
}

/* ---- blocks ---- */

static const struct ws_rows_column block_columns[] = {
	{ NULL, "kernel", WS_ROWS_DATA },
	{ "BlockIdx", "blockIdx", 0 },
	{ "State", "state", 0 },
	{ "Dev", "device", 0 },
	{ "SM", "sm", 0 },
	{ "ClusterIdx", "clusterIdx", WS_ROWS_WIDE },
	{ "Warps", "warps", WS_ROWS_WIDE },
};

static const struct ws_rows_column block_range_columns[] = {
	{ NULL, "kernel", WS_ROWS_DATA },
	{ "BlockIdx", "from_blockIdx", 0 },
	{ "To BlockIdx", "to_blockIdx", 0 },
	{ "Count", "count", 0 },
	{ "State", "state", 0 },
};

static void block_rows(struct ws_rows *rows, const struct ws_threads *threads,
		       const struct wsi_blocks *blocks)
{
	for (size_t i = 0; i < blocks->n_entries; i++) {
		const struct wsi_block_entry *block = &blocks->entries[i];
		struct ws_sm sm = { .id = 0 };
		wsi_info_heading_kernel(rows, block->kernel);
		ws_rows_begin(rows, threads->have_focus &&
					    threads->focus.block_index == block->block_index);
		wsi_info_cell_kernel(rows, block->kernel);
		ws_rows_dim3(rows, block->idx);
		ws_rows_text(rows, "running"); /* cuda-gdb's word; a dump has no other */
		ws_rows_number(rows, threads->devices[block->device_index].id);
		enum ws_status st = ws_target_sm(threads->target, block->sm_index, &sm, NULL);
		ws_rows_given(rows, 1, st);
		ws_rows_number(rows, sm.id);
		wsi_info_cell_dim3(rows, block->have_cluster ? WS_OK : WS_ABSENT,
				   block->cluster_idx);
		ws_rows_number(rows, block->n_warps);
		ws_rows_end(rows);
	}
}

/* One past the last block of the row that starts at `first`. */
static size_t block_range_end(const struct wsi_blocks *blocks, size_t first, bool same_cluster)
{
	size_t end = first + 1;
	for (; end < blocks->n_entries; end++) {
		const struct wsi_block_entry *last = &blocks->entries[end - 1];
		const struct wsi_block_entry *next = &blocks->entries[end];
		struct ws_dim3 extent = next->grid ? next->grid->grid_dim : (struct ws_dim3){ 0 };
		if (next->kernel != last->kernel ||
		    !wsi_dim3_follows(last->idx, next->idx, extent, NULL))
			break;
		if (same_cluster && !wsi_dim3_equal(last->cluster_idx, next->cluster_idx))
			break;
	}
	return end;
}

static bool range_has_focus(const struct ws_threads *threads, const struct wsi_blocks *blocks,
			    size_t first, size_t end)
{
	for (size_t i = first; i < end && threads->have_focus; i++) {
		if (blocks->entries[i].block_index == threads->focus.block_index)
			return true;
	}
	return false;
}

static void block_range_rows(struct ws_rows *rows, const struct ws_threads *threads,
			     const struct wsi_blocks *blocks)
{
	for (size_t first = 0, end; first < blocks->n_entries; first = end) {
		end = block_range_end(blocks, first, false);
		wsi_info_heading_kernel(rows, blocks->entries[first].kernel);
		ws_rows_begin(rows, range_has_focus(threads, blocks, first, end));
		wsi_info_cell_kernel(rows, blocks->entries[first].kernel);
		ws_rows_dim3(rows, blocks->entries[first].idx);
		ws_rows_dim3(rows, blocks->entries[end - 1].idx);
		ws_rows_number(rows, end - first);
		ws_rows_text(rows, "running");
		ws_rows_end(rows);
	}
}

static void produce_blocks(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	struct wsi_blocks blocks;
	wsi_blocks_find(&blocks, info);
	if (info->query->coalesce)
		block_range_rows(rows, info->threads, &blocks);
	else
		block_rows(rows, info->threads, &blocks);
	wsi_blocks_fini(&blocks);
}

void wsi_info_blocks(struct wsi_info *info)
{
	if (info->query->coalesce)
		INFO_ROWS(info, block_range_columns, produce_blocks);
	else
		INFO_ROWS(info, block_columns, produce_blocks);
}

/* ---- clusters ---- */

static const struct ws_rows_column cluster_columns[] = {
	{ NULL, "kernel", WS_ROWS_DATA },    { NULL, "clusterDim", WS_ROWS_DATA },
	{ "ClusterIdx", "clusterIdx", 0 },   { "BlockIdx", "from_blockIdx", 0 },
	{ "To BlockIdx", "to_blockIdx", 0 }, { "Count", "count", 0 },
};

static struct ws_dim3 cluster_dim(const struct ws_threads *threads,
				  const struct wsi_block_entry *entry)
{
	struct ws_block block;
	if (ws_target_block(threads->target, entry->block_index, &block, NULL) == WS_OK &&
	    block.have & WS_BLOCK_CLUSTER_DIM)
		return block.cluster_dim;
	return entry->grid ? entry->grid->cluster_dim : (struct ws_dim3){ 0 };
}

static void produce_clusters(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	const struct ws_threads *threads = info->threads;
	struct wsi_blocks blocks;
	wsi_blocks_find(&blocks, info);
	for (size_t first = 0, end; first < blocks.n_entries; first = end) {
		const struct wsi_block_entry *block = &blocks.entries[first];
		struct ws_dim3 dim = cluster_dim(threads, block);
		end = block_range_end(&blocks, first, true);
		if (!block->have_cluster)
			continue; /* launched without clusters */
		if (block->kernel == WS_NONE)
			ws_rows_heading(rows, "Kernel - ClusterDim (%u,%u,%u)", dim.x, dim.y,
					dim.z);
		else
			ws_rows_heading(rows, "Kernel %u ClusterDim (%u,%u,%u)", block->kernel,
					dim.x, dim.y, dim.z);
		ws_rows_begin(rows, range_has_focus(threads, &blocks, first, end));
		wsi_info_cell_kernel(rows, block->kernel);
		ws_rows_dim3(rows, dim);
		ws_rows_dim3(rows, block->cluster_idx);
		ws_rows_dim3(rows, block->idx);
		ws_rows_dim3(rows, blocks.entries[end - 1].idx);
		ws_rows_number(rows, end - first);
		ws_rows_end(rows);
	}
	wsi_blocks_fini(&blocks);
}

INFO_TABLE(clusters, cluster_columns, produce_clusters)
