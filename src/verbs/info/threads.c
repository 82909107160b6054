/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info threads: every thread in the order of kernels, blocks and threads. A full device has
 * 270,000, so they are read warp by warp, block by block, and only one block is held at a time;
 * neighbours at one pc are joined while they pass by.
 */
#include "verbs/info/info.h"

#include <stdlib.h>

#include "verbs/info/blocks.h"

static const struct ws_rows_column range_columns[] = {
	{ NULL, "kernel", WS_ROWS_DATA },
	{ "BlockIdx", "from_blockIdx", 0 },
	{ "ThreadIdx", "from_threadIdx", 0 },
	{ "To BlockIdx", "to_blockIdx", 0 },
	{ "To ThreadIdx", "to_threadIdx", 0 },
	{ "Count", "count", 0 },
	{ "PC", "pc", 0 },
	{ "Filename", "filename", 0 },
	{ "Line", "line", 0 },
	{ "Function", "function", WS_ROWS_WIDE | WS_ROWS_LEFT },
	{ NULL, "doubt", WS_ROWS_DATA },
};

static const struct ws_rows_column thread_columns[] = {
	{ NULL, "kernel", WS_ROWS_DATA },
	{ "BlockIdx", "blockIdx", 0 },
	{ "ThreadIdx", "threadIdx", 0 },
	{ "PC", "pc", 0 },
	{ "Dev", "device", 0 },
	{ "SM", "sm", 0 },
	{ "Wp", "warp", 0 },
	{ "Ln", "lane", 0 },
	{ "Filename", "filename", 0 },
	{ "Line", "line", 0 },
	{ "Function", "function", WS_ROWS_WIDE | WS_ROWS_LEFT },
	{ NULL, "doubt", WS_ROWS_DATA },
};

struct thread {
	struct ws_dim3 idx;
	uint64_t pc;
	uint32_t warp_index, lane;
	bool in_doubt; /* what its row, or its warp's, holds cannot be */
};

/* A row in the making: threads from `from` to `to` that stand at one pc, all in doubt or none. */
struct thread_range {
	const struct wsi_block_entry *from_block, *to_block; /* NULL: nothing yet */
	struct thread from, to;
	uint64_t count;
	bool focus;
};

struct thread_table {
	struct wsi_info *info;
	struct ws_rows *rows;
	struct thread_range range;
	struct thread *threads; /* owned; of one block */
	size_t n_threads, cap_threads;
};

/* ---- reading a block ---- */

static void add_lanes(struct thread_table *table, uint32_t warp_index)
{
	const struct wsi_info *info = table->info;
	struct ws_resident place;
	if (!ws_threads_resident(info->threads, &info->filter, WS_WALK_LANES, warp_index, &place))
		return;
	if (place.lanes_status != WS_OK) {
		wsi_info_unreadable(table->info, table->rows);
		return;
	}
	const struct wsi_thread_doubt doubt =
		wsi_threads_doubt_warp(info->threads, &place, WSI_DOUBT_NO_LANE);
	const uint32_t in_doubt = *doubt.text ? UINT32_MAX : doubt.lanes;
	for (uint32_t i = 0; i < place.n_lanes; i++) {
		const struct ws_lane *lane = &place.lanes[i];
		if (!wsi_grow(&table->threads, &table->cap_threads, table->n_threads,
			      sizeof *table->threads, SIZE_MAX)) {
			wsi_info_no_memory(table->info);
			return;
		}
		table->threads[table->n_threads++] =
			(struct thread){ lane->thread, lane->pc, warp_index, lane->id,
					 in_doubt >> (lane->id & 31) & 1 };
	}
}

static int thread_compare(const void *left, const void *right)
{
	const struct thread *a = left, *b = right;
	int order = wsi_dim3_compare(a->idx, b->idx);
	order = order ? order : WSI_ORDER(a->warp_index, b->warp_index);
	return order ? order : WSI_ORDER(a->lane, b->lane);
}

static void table_read_block(struct thread_table *table, const struct wsi_blocks *blocks,
			     const struct wsi_block_entry *block)
{
	table->n_threads = 0;
	for (size_t i = 0; i < block->n_warps; i++)
		add_lanes(table, blocks->warps[block->first_warp + i]);
	bool sorted = true; /* warps and lanes nearly always have the threads' order */
	for (size_t i = 1; i < table->n_threads && sorted; i++)
		sorted = wsi_dim3_compare(table->threads[i - 1].idx, table->threads[i].idx) < 0;
	if (!sorted)
		qsort(table->threads, table->n_threads, sizeof *table->threads, thread_compare);
}

/* ---- rows ---- */

static bool thread_has_focus(const struct ws_threads *threads, const struct thread *thread)
{
	return threads->have_focus && threads->focus.warp_index == thread->warp_index &&
	       threads->focus.lane == thread->lane;
}

static struct wsi_thread_doubt doubt_of_thread(const struct ws_threads *threads,
					       const struct thread *thread)
{
	static const struct ws_filter all;
	struct ws_resident place;
	if (!thread->in_doubt ||
	    !ws_threads_resident(threads, &all, WS_WALK_LANES, thread->warp_index, &place))
		return (struct wsi_thread_doubt){ .text = "" };
	return wsi_threads_doubt_warp(threads, &place, thread->lane);
}

/* File, line and function: cuda-gdb shows the innermost line too. */
static void symbol_cells(struct thread_table *table, const struct wsi_block_entry *block,
			 uint64_t pc)
{
	struct ws_rows *rows = table->rows;
	const struct ws_symbol *symbol =
		wsi_info_symbol(table->info, true, block->device_index, block->grid, pc);
	wsi_info_cells_line(rows, symbol);
	wsi_info_cell_function(rows, symbol);
}

static void range_flush(struct thread_table *table)
{
	struct ws_rows *rows = table->rows;
	const struct thread_range *range = &table->range;
	if (!range->from_block)
		return;
	const struct wsi_thread_doubt doubt = doubt_of_thread(table->info->threads, &range->from);
	wsi_info_heading_kernel(rows, range->from_block->kernel);
	wsi_rows_doubt(rows, doubt.text, &table->info->told->n_doubted_rows);
	ws_rows_begin(rows, range->focus);
	wsi_info_cell_kernel(rows, range->from_block->kernel);
	ws_rows_dim3(rows, range->from_block->idx);
	ws_rows_dim3(rows, range->from.idx);
	ws_rows_dim3(rows, range->to_block->idx);
	ws_rows_dim3(rows, range->to.idx);
	ws_rows_number(rows, range->count);
	ws_rows_hex(rows, range->from.pc, 16);
	symbol_cells(table, range->from_block, range->from.pc);
	wsi_rows_text_or_none(rows, doubt.text);
	ws_rows_end(rows);
	table->range.from_block = NULL;
}

/* Whether the thread continues the row: same pc, right behind, in this block or at the start of the
 * block that stands right behind. */
static bool range_takes(const struct thread_range *range, const struct wsi_block_entry *block,
			const struct thread *thread)
{
	if (!range->from_block || range->from.pc != thread->pc ||
	    range->from.in_doubt != thread->in_doubt || range->to_block->kernel != block->kernel ||
	    !block->grid)
		return false;
	bool wrapped;
	if (!wsi_dim3_follows(range->to.idx, thread->idx, block->grid->block_dim, &wrapped))
		return false;
	if (!wrapped)
		return range->to_block == block;
	return wsi_dim3_follows(range->to_block->idx, block->idx, block->grid->grid_dim, NULL);
}

static void table_thread_add(struct thread_table *table, const struct wsi_block_entry *block,
			     const struct thread *thread)
{
	struct thread_range *range = &table->range;
	if (!range_takes(range, block, thread)) {
		range_flush(table);
		*range = (struct thread_range){ .from_block = block, .from = *thread };
	}
	range->to_block = block;
	range->to = *thread;
	range->count++;
	range->focus = range->focus || thread_has_focus(table->info->threads, thread);
}

static void thread_table_row(struct thread_table *table, const struct wsi_block_entry *block,
			     const struct thread *thread)
{
	struct ws_rows *rows = table->rows;
	const struct ws_threads *threads = table->info->threads;
	struct ws_warp warp;
	struct ws_sm sm;
	if (ws_target_warp(threads->target, thread->warp_index, &warp, NULL) != WS_OK ||
	    ws_target_sm(threads->target, warp.sm_index, &sm, NULL) != WS_OK)
		return; /* both were read to get here */
	const struct wsi_thread_doubt doubt = doubt_of_thread(threads, thread);
	wsi_info_heading_kernel(rows, block->kernel);
	wsi_rows_doubt(rows, doubt.text, &table->info->told->n_doubted_rows);
	ws_rows_begin(rows, thread_has_focus(threads, thread));
	wsi_info_cell_kernel(rows, block->kernel);
	ws_rows_dim3(rows, block->idx);
	ws_rows_dim3(rows, thread->idx);
	ws_rows_hex(rows, thread->pc, 16);
	ws_rows_number(rows, threads->devices[warp.device_index].id);
	ws_rows_number(rows, sm.id);
	ws_rows_number(rows, warp.id);
	ws_rows_number(rows, thread->lane);
	symbol_cells(table, block, thread->pc);
	wsi_rows_text_or_none(rows, doubt.text);
	ws_rows_end(rows);
}

static void produce_threads(struct ws_rows *rows, void *user)
{
	struct thread_table table = { .info = user, .rows = rows };
	struct wsi_blocks blocks;
	wsi_blocks_find(&blocks, table.info);
	for (size_t b = 0; b < blocks.n_entries; b++) {
		const struct wsi_block_entry *block = &blocks.entries[b];
		table_read_block(&table, &blocks, block);
		for (size_t i = 0; i < table.n_threads; i++) {
			if (table.info->query->coalesce)
				table_thread_add(&table, block, &table.threads[i]);
			else
				thread_table_row(&table, block, &table.threads[i]);
		}
	}
	range_flush(&table);
	wsi_free(table.threads);
	wsi_blocks_fini(&blocks);
}

void wsi_info_threads(struct wsi_info *info)
{
	if (info->query->coalesce)
		INFO_ROWS(info, range_columns, produce_threads);
	else
		INFO_ROWS(info, thread_columns, produce_threads);
}
