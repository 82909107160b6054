/* SPDX-License-Identifier: Apache-2.0 */
/* info memory: the stretches of memory whose contents are known. */
#include "verbs/info/info.h"

#include <warpscope/report.h>

static const struct ws_rows_column memory_columns[] = {
	{ "Space", "space", 0 },
	{ "Start", "start", 0 },
	{ "Size", "size", 0 },
	{ "Present", "bytes_present", 0 },
	{ "Dev", "device", 0 },
	{ "Kernel", "kernel", 0 },
	{ "Bank", "bank", 0 },
	{ "BlockIdx", "blockIdx", 0 },
	{ "SM", "sm", 0 },
	{ "Wp", "warp", 0 },
	{ "Ln", "lane", 0 },
	{ "Managed", "managed", WS_ROWS_WIDE },
	{ "File Offset", "file_off", WS_ROWS_WIDE },
};

/* What a range belongs to, by numbers. */
struct range_owner {
	enum ws_status block_status, sm_status, warp_status; /* WS_OK: known; WS_ABSENT: has none */
	struct ws_block block;
	struct ws_sm sm;
	struct ws_warp warp;
};

static struct range_owner range_owner_of(const struct ws_threads *threads,
					 const struct ws_memory_range *range)
{
	struct range_owner owner = { WS_ABSENT, WS_ABSENT, WS_ABSENT, { 0 }, { 0 }, { 0 } };
	uint32_t block = range->block_index;
	if (range->warp_index != WS_NONE) {
		owner.warp_status =
			ws_target_warp(threads->target, range->warp_index, &owner.warp, NULL);
		if (owner.warp_status == WS_OK)
			block = owner.warp.block_index;
	}
	if (block != WS_NONE)
		owner.block_status = ws_target_block(threads->target, block, &owner.block, NULL);
	if (owner.block_status == WS_OK)
		owner.sm_status =
			ws_target_sm(threads->target, owner.block.sm_index, &owner.sm, NULL);
	return owner;
}

static uint32_t range_kernel_of(const struct ws_threads *threads,
				const struct ws_memory_range *range,
				const struct range_owner *owner)
{
	if (range->grid_index != WS_NONE)
		return wsi_threads_kernel(threads, range->grid_index);
	return owner->block_status == WS_OK ? wsi_threads_kernel(threads, owner->block.grid_index)
					    : WS_NONE;
}

/* What a range does not have limits nothing: global memory is everybody's. */
static bool range_matches(const struct wsi_info *info, const struct ws_memory_range *range,
			  const struct range_owner *owner, uint32_t kernel)
{
	const struct ws_threads *threads = info->threads;
	const struct ws_filter *filter = &info->filter;
	if (range->device_index < threads->counts.devices &&
	    !ws_filter_number(filter, WS_FILTER_device, threads->devices[range->device_index].id))
		return false;
	if (kernel != WS_NONE && !ws_filter_number(filter, WS_FILTER_kernel, kernel))
		return false;
	if (owner->block_status == WS_OK &&
	    (!ws_filter_dim3(filter, WS_FILTER_block, owner->block.idx) ||
	     !ws_filter_number(filter, WS_FILTER_grid, owner->block.grid_id)))
		return false;
	if (owner->sm_status == WS_OK && !ws_filter_number(filter, WS_FILTER_sm, owner->sm.id))
		return false;
	if (owner->warp_status == WS_OK &&
	    !ws_filter_number(filter, WS_FILTER_warp, owner->warp.id))
		return false;
	return range->lane == WS_NONE || ws_filter_number(filter, WS_FILTER_lane, range->lane);
}

static void range_row(struct ws_rows *rows, const struct ws_threads *threads,
		      const struct ws_memory_range *range, const struct range_owner *owner,
		      uint32_t kernel)
{
	ws_rows_begin(rows, false);
	ws_rows_text(rows, ws_space_text(range->space));
	ws_rows_hex(rows, range->start, 16);
	ws_rows_number(rows, range->size);
	ws_rows_number(rows, range->bytes_present);
	bool has_device = range->device_index < threads->counts.devices;
	ws_rows_or_none(rows, 1, has_device);
	ws_rows_number(rows, has_device ? threads->devices[range->device_index].id : 0);
	ws_rows_or_none(rows, 1, kernel != WS_NONE);
	ws_rows_number(rows, kernel);
	ws_rows_or_none(rows, 1, range->space == WS_SPACE_CONST);
	ws_rows_number(rows, range->bank);
	ws_rows_or_none(rows, 1, owner->block_status == WS_OK);
	ws_rows_dim3(rows, owner->block.idx);
	ws_rows_or_none(rows, 1, owner->sm_status == WS_OK);
	ws_rows_number(rows, owner->sm.id);
	ws_rows_or_none(rows, 1, owner->warp_status == WS_OK);
	ws_rows_number(rows, owner->warp.id);
	ws_rows_or_none(rows, 1, range->lane != WS_NONE);
	ws_rows_number(rows, range->lane);
	ws_rows_bool(rows, range->managed);
	ws_rows_or_none(rows, 1, range->file_off != WS_NO_OFFSET);
	ws_rows_hex(rows, range->file_off, 1);
	ws_rows_end(rows);
}

static void produce_ranges(struct ws_rows *rows, void *user)
{
	const struct wsi_info *info = user;
	const struct ws_threads *threads = info->threads;
	struct ws_memory_range range;
	for (uint32_t i = 0; ws_target_memory_range(threads->target, i, &range, NULL) == WS_OK;
	     i++) {
		struct range_owner owner = range_owner_of(threads, &range);
		uint32_t kernel = range_kernel_of(threads, &range, &owner);
		if (range_matches(info, &range, &owner, kernel))
			range_row(rows, threads, &range, &owner, kernel);
	}
}

void wsi_info_memory(struct wsi_info *info)
{
	struct ws_memory_range range;
	enum ws_status st = ws_target_memory_range(info->threads->target, 0, &range, info->err);
	if (st != WS_UNSUPPORTED) {
		INFO_ROWS(info, memory_columns, produce_ranges);
		return;
	}
	info->status = st;
	wsi_info_nothing(info);
}
