/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info threads: every thread in the order of kernels, blocks and threads. A full device has
 * 270,000, so they are read warp by warp, block by block, and only one block is held at a time;
 * neighbours at one pc are joined while they pass by.
 */
#include "info/info.h"

#include <stdlib.h>

#include "info/blocks.h"

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
	const struct block_entry *from_block, *to_block; /* NULL: nothing yet */
	struct thread from, to;
	uint64_t count;
	bool focus;
};

struct thread_table {
	struct info *info;
	struct ws_rows *rows;
	struct thread_range range;
	struct thread *threads; /* owned; of one block */
	size_t n_threads, cap_threads;
};

/* ---- reading a block ---- */

static void add_lanes(struct thread_table *table, uint32_t warp_index)
{
	const struct info *info = table->info;
	struct ws_resident place;
	if (!ws_threads_resident(&info->session.threads, &info->filter, WS_WALK_LANES, warp_index,
				 &place))
		return;
	if (place.lanes_status != WS_OK) {
		info_unreadable(table->info, table->rows);
		return;
	}
	if (place.n_lanes > table->cap_threads - table->n_threads) {
		table->cap_threads = 2 * table->cap_threads + WS_MAX_LANES;
		table->threads =
			cli_realloc(table->threads, table->cap_threads, sizeof *table->threads);
	}
	const struct ws_thread_doubt doubt =
		ws_threads_doubt_warp(&info->session.threads, &place, WS_DOUBT_NO_LANE);
	for (uint32_t i = 0; i < place.n_lanes; i++) {
		const struct ws_lane *lane = &place.lanes[i];
		table->threads[table->n_threads++] =
			(struct thread){ lane->thread, lane->pc, warp_index, lane->id,
					 *doubt.text || doubt.lanes >> (lane->id & 31) & 1 };
	}
}

static int thread_compare(const void *left, const void *right)
{
	const struct thread *a = left, *b = right;
	int order = dim3_compare(a->idx, b->idx);
	if (order)
		return order;
	if (a->warp_index != b->warp_index)
		return a->warp_index < b->warp_index ? -1 : 1;
	return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static void table_read_block(struct thread_table *table, const struct info_blocks *blocks,
			     const struct block_entry *block)
{
	table->n_threads = 0;
	for (size_t i = 0; i < block->n_warps; i++)
		add_lanes(table, blocks->warps[block->first_warp + i]);
	bool sorted = true; /* warps and lanes nearly always have the threads' order */
	for (size_t i = 1; i < table->n_threads && sorted; i++)
		sorted = dim3_compare(table->threads[i - 1].idx, table->threads[i].idx) < 0;
	if (!sorted)
		qsort(table->threads, table->n_threads, sizeof *table->threads, thread_compare);
}

/* ---- rows ---- */

static bool thread_has_focus(const struct cli_session *session, const struct thread *thread)
{
	return session->threads.have_focus &&
	       session->threads.focus.warp_index == thread->warp_index &&
	       session->threads.focus.lane == thread->lane;
}

static struct ws_thread_doubt doubt_of_thread(const struct cli_session *session,
					      const struct thread *thread)
{
	static const struct ws_filter all;
	struct ws_resident place;
	if (!thread->in_doubt || !ws_threads_resident(&session->threads, &all, WS_WALK_LANES,
						      thread->warp_index, &place))
		return (struct ws_thread_doubt){ .text = "" };
	return ws_threads_doubt_warp(&session->threads, &place, thread->lane);
}

/* File, line and function: cuda-gdb shows the innermost line too. */
static void symbol_cells(struct thread_table *table, const struct block_entry *block, uint64_t pc)
{
	struct ws_rows *rows = table->rows;
	const struct ws_symbol *symbol =
		ws_symbols_find(info_symbols(table->info), block->device_index, block->grid, pc);
	info_cells_line(rows, symbol);
	info_cell_function(rows, symbol);
}

static void range_flush(struct thread_table *table)
{
	struct ws_rows *rows = table->rows;
	const struct thread_range *range = &table->range;
	if (!range->from_block)
		return;
	const struct ws_thread_doubt doubt = doubt_of_thread(&table->info->session, &range->from);
	info_heading_kernel(rows, range->from_block->kernel);
	ws_rows_doubt(rows, doubt.text, &table->info->n_doubted_rows);
	ws_rows_begin(rows, range->focus);
	info_cell_kernel(rows, range->from_block->kernel);
	ws_rows_dim3(rows, range->from_block->idx);
	ws_rows_dim3(rows, range->from.idx);
	ws_rows_dim3(rows, range->to_block->idx);
	ws_rows_dim3(rows, range->to.idx);
	ws_rows_number(rows, range->count);
	ws_rows_hex(rows, range->from.pc, 16);
	symbol_cells(table, range->from_block, range->from.pc);
	ws_rows_text_or_none(rows, doubt.text);
	ws_rows_end(rows);
	table->range.from_block = NULL;
}

/* Whether the thread continues the row: same pc, right behind, in this block or at the start of the
 * block that stands right behind. */
static bool range_takes(const struct thread_range *range, const struct block_entry *block,
			const struct thread *thread)
{
	if (!range->from_block || range->from.pc != thread->pc ||
	    range->from.in_doubt != thread->in_doubt || range->to_block->kernel != block->kernel ||
	    !block->grid)
		return false;
	bool wrapped;
	if (!dim3_follows(range->to.idx, thread->idx, block->grid->block_dim, &wrapped))
		return false;
	if (!wrapped)
		return range->to_block == block;
	return dim3_follows(range->to_block->idx, block->idx, block->grid->grid_dim, NULL);
}

static void table_thread_add(struct thread_table *table, const struct block_entry *block,
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
	range->focus = range->focus || thread_has_focus(&table->info->session, thread);
}

static void thread_table_row(struct thread_table *table, const struct block_entry *block,
			     const struct thread *thread)
{
	struct ws_rows *rows = table->rows;
	const struct cli_session *session = &table->info->session;
	struct ws_warp warp;
	struct ws_sm sm;
	if (ws_target_warp(session->target, thread->warp_index, &warp, NULL) != WS_OK ||
	    ws_target_sm(session->target, warp.sm_index, &sm, NULL) != WS_OK)
		return; /* both were read to get here */
	const struct ws_thread_doubt doubt = doubt_of_thread(session, thread);
	info_heading_kernel(rows, block->kernel);
	ws_rows_doubt(rows, doubt.text, &table->info->n_doubted_rows);
	ws_rows_begin(rows, thread_has_focus(session, thread));
	info_cell_kernel(rows, block->kernel);
	ws_rows_dim3(rows, block->idx);
	ws_rows_dim3(rows, thread->idx);
	ws_rows_hex(rows, thread->pc, 16);
	ws_rows_number(rows, session->threads.devices[warp.device_index].id);
	ws_rows_number(rows, sm.id);
	ws_rows_number(rows, warp.id);
	ws_rows_number(rows, thread->lane);
	symbol_cells(table, block, thread->pc);
	ws_rows_text_or_none(rows, doubt.text);
	ws_rows_end(rows);
}

static void produce_threads(struct ws_rows *rows, void *user)
{
	struct thread_table table = { .info = user, .rows = rows };
	struct info_blocks blocks;
	blocks_find(&blocks, &table.info->session, &table.info->filter);
	for (size_t b = 0; b < blocks.n_entries; b++) {
		const struct block_entry *block = &blocks.entries[b];
		table_read_block(&table, &blocks, block);
		for (size_t i = 0; i < table.n_threads; i++) {
			if (table.info->coalesce)
				table_thread_add(&table, block, &table.threads[i]);
			else
				thread_table_row(&table, block, &table.threads[i]);
		}
	}
	range_flush(&table);
	free(table.threads);
	blocks_fini(&blocks);
}

int info_threads(struct info *info)
{
	if (info->coalesce)
		INFO_ROWS(info, range_columns, produce_threads);
	else
		INFO_ROWS(info, thread_columns, produce_threads);
	return CLI_ANSWERED;
}
