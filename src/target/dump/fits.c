/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bytes of a row can be, by the row alone: where rows were read from a wrong place, or in
 * a wrong size, few of them pass.
 */
#include "target/dump/dump.h"

static const struct ws_span no_texts;

static bool device_fits(struct ws_span in)
{
	struct ws_device row = { 0 };
	(void)wsi_device_read(in, no_texts, &row);
	return row.n_sms >= 1 && row.n_sms <= 4096 && row.n_warps_per_sm >= 1 &&
	       row.n_warps_per_sm <= 4096 && row.n_lanes_per_warp == WS_MAX_LANES &&
	       row.id < WS_MOST_IDS && row.sm_major < 1024 && row.sm_minor < 16 &&
	       row.instruction_bytes <= 64;
}

static bool context_fits(struct ws_span in)
{
	struct ws_context row = { 0 };
	(void)wsi_context_read(in, no_texts, &row);
	return row.id != 0 && wsi_at_u32(in, WSI_AT_context_device_id) < 4096 &&
	       row.shared_window_base % 4096 == 0 && row.local_window_base % 4096 == 0;
}

static bool module_fits(struct ws_span in)
{
	return wsi_at_u64(in, WSI_AT_module_handle) != 0;
}

static bool meta_fits(struct ws_span in)
{
	struct ws_dump_facts row = { 0 };
	(void)wsi_meta_read(in, no_texts, &row);
	return in.len < wsi_kind_infos[WSI_KIND_DEVICE].base_bytes && row.driver_major < 65536 &&
	       row.driver_minor < 65536 && row.cuda_major < 1024 && row.cuda_minor < 1024 &&
	       wsi_at_u64(in, WSI_AT_meta_generator) < UINT32_MAX;
}

static bool grid_fits(struct ws_span in)
{
	struct ws_grid row = { 0 };
	(void)wsi_grid_read(in, no_texts, &row);
	uint64_t threads = (uint64_t)row.block_dim.x * row.block_dim.y;
	return row.id != 0 && row.grid_dim.x >= 1 && row.grid_dim.y >= 1 && row.grid_dim.z >= 1 &&
	       threads >= 1 && threads <= 1024 && row.block_dim.z >= 1 && row.block_dim.z <= 1024 &&
	       row.n_regs <= WS_MAX_REGS && row.function_entry % 8 == 0;
}

static bool sm_fits_rows(struct ws_span in)
{
	struct ws_sm row = { 0 };
	return wsi_sm_read(in, no_texts, &row) && row.id < 65536 &&
	       (in.len < 8 || wsi_at_u32(in, 4) == 0);
}

static bool block_fits(struct ws_span in)
{
	struct ws_block row = { 0 };
	(void)wsi_block_read(in, no_texts, &row);
	return row.grid_id != 0 && row.idx.x < INT32_MAX && row.idx.y < 65536 &&
	       row.idx.z < 65536 && (in.len < 24 || wsi_at_u32(in, 20) == 0);
}

static bool warp_fits(struct ws_span in)
{
	struct ws_warp row = { 0 };
	return wsi_warp_read(in, no_texts, &row) && row.id < 4096 &&
	       !(row.active_lanes & ~row.valid_lanes) && row.n_regs <= WS_MAX_REGS &&
	       (in.len < 32 || wsi_at_u32(in, 28) == 0);
}

static bool lane_fits_rows(struct ws_span in)
{
	struct ws_lane row = { 0 };
	return wsi_lane_read(in, no_texts, &row) && row.id < WS_MAX_LANES && row.pc % 8 == 0 &&
	       row.rel_pc % 8 == 0 && row.thread.x < 1024 && row.thread.y < 1024 &&
	       row.thread.z < 1024;
}

wsi_row_fits_fn *wsi_row_fits(enum wsi_kind kind)
{
	static wsi_row_fits_fn *const fits[WSI_N_KINDS] = {
		[WSI_KIND_DEVICE] = device_fits,  [WSI_KIND_CONTEXT] = context_fits,
		[WSI_KIND_MODULE] = module_fits,  [WSI_KIND_GRID] = grid_fits,
		[WSI_KIND_SM] = sm_fits_rows,     [WSI_KIND_BLOCK] = block_fits,
		[WSI_KIND_WARP] = warp_fits,      [WSI_KIND_META] = meta_fits,
		[WSI_KIND_LANE] = lane_fits_rows,
	};
	return fits[kind];
}
