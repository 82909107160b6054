/* SPDX-License-Identifier: Apache-2.0 */
/* List elements: rows -> the plain structures of state.h. */
#include <warpscope/doubt.h>

#include "core/core.h"

static uint32_t parent_of(const struct ws_core *core, const struct wsi_list *list, uint32_t index)
{
	return core->tables[list->at[index].table].parent;
}

struct ws_str wsi_core_text(const struct ws_core *core, uint64_t offset)
{
	struct ws_str text = { 0 };
	(void)wsi_span_cstr(core->strtab, offset, &text);
	return text;
}

enum ws_status wsi_core_device(const struct ws_target *target, uint32_t index,
			       struct ws_device *ret_device, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	struct ws_span in = wsi_core_row(core, core->devices.at[index]);
	struct wsi_device_row row = wsi_device_parse(in);
	*ret_device = (struct ws_device){
		.have = (WSI_HAS(in.len, device, n_uniform_preds) ? WS_DEVICE_UNIFORM : 0u) |
			(WSI_HAS(in.len, device, n_convergence_barriers) ? WS_DEVICE_BARRIERS : 0u),
		.id = row.id,
		.name = wsi_core_text(core, row.text_name),
		.type = wsi_core_text(core, row.text_type),
		.sm_type = wsi_core_text(core, row.text_sm_type),
		.pci_bus = row.pci_bus,
		.pci_device = row.pci_device,
		.n_sms = row.n_sms,
		.n_warps_per_sm = row.n_warps_per_sm,
		.n_lanes_per_warp = row.n_lanes_per_warp,
		.n_regs_per_lane = row.n_regs_per_lane,
		.n_preds_per_lane = row.n_preds_per_lane,
		.sm_major = row.sm_major,
		.sm_minor = row.sm_minor,
		.instruction_bytes = row.instruction_bytes,
		.status = row.status,
		.n_uniform_regs = row.n_uniform_regs,
		.n_uniform_preds = row.n_uniform_preds,
		.n_convergence_barriers = row.n_convergence_barriers,
	};
	return WS_OK;
}

enum ws_status wsi_core_context(const struct ws_target *target, uint32_t index,
				struct ws_context *ret_context, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	struct ws_span in = wsi_core_row(core, core->contexts.at[index]);
	struct wsi_context_row row = wsi_context_parse(in);
	*ret_context = (struct ws_context){
		.device_index = parent_of(core, &core->contexts, index),
		.id = row.id,
		.shared_window_base = row.shared_window_base,
		.local_window_base = row.local_window_base,
		.global_window_base = row.global_window_base,
		.host_tid = row.host_tid,
	};
	return WS_OK;
}

/* One form of an image. `none` says why there is none at all. */
static enum ws_status image_form(const struct ws_core *core, struct wsi_ref module,
				 enum wsi_kind kind, enum ws_status none, struct ws_span *ret_bytes)
{
	uint32_t section = wsi_core_slot(core, module, kind);
	if (!section)
		return core->headers_lost ? WS_TRUNCATED : none;
	return wsi_core_section_bytes(core, section, ret_bytes) ? WS_OK : WS_TRUNCATED;
}

enum ws_status wsi_core_image(const struct ws_target *target, uint32_t index,
			      struct ws_image *ret_image, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	struct ws_span in = wsi_core_row(core, core->images.at[index]);
	uint32_t context = parent_of(core, &core->images, index);
	struct wsi_ref module = core->images.at[index];
	struct ws_image image = {
		.device_index = parent_of(core, &core->contexts, context),
		.context_index = context,
		.handle = wsi_module_parse(in).handle,
	};
	image.relocated_status =
		image_form(core, module, WSI_KIND_RELOCATED, WS_ABSENT, &image.relocated);
	image.original_status =
		image_form(core, module, WSI_KIND_IMAGE, core->no_original, &image.original);
	*ret_image = image;
	return WS_OK;
}

enum ws_status wsi_core_grid(const struct ws_target *target, uint32_t index,
			     struct ws_grid *ret_grid, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	struct ws_span in = wsi_core_row(core, core->grids.at[index]);
	struct wsi_grid_row row = wsi_grid_parse(in);
	uint32_t device = parent_of(core, &core->grids, index);
	uint32_t context = wsi_core_find_context(core, device, row.context_id);
	*ret_grid = (struct ws_grid){
		.have = (WSI_HAS(in.len, grid, n_regs) ? WS_GRID_N_REGS : 0u) |
			(WSI_HAS(in.len, grid, cluster_dim_z) ? WS_GRID_CLUSTER : 0u) |
			(WSI_HAS(in.len, grid, preferred_cluster_dim_z) ? WS_GRID_PREFERRED_CLUSTER
									: 0u),
		.device_index = device,
		.context_index = context,
		.image_index = context == WS_NONE
				       ? WS_NONE
				       : wsi_core_find_image(core, context, row.module_handle),
		.id = (int64_t)row.id,
		.context_id = row.context_id,
		.module_handle = row.module_handle,
		.function = row.function,
		.function_entry = row.function_entry,
		.parent_id = (int64_t)row.parent_id,
		.params_offset = row.params_offset,
		.type = row.type,
		.origin = row.origin,
		.status = row.status,
		.n_regs = row.n_regs,
		.grid_dim = { row.grid_dim_x, row.grid_dim_y, row.grid_dim_z },
		.block_dim = { row.block_dim_x, row.block_dim_y, row.block_dim_z },
		.launch_blocking = row.launch_blocking != 0,
		.host_tid = row.host_tid,
		.cluster_dim = { row.cluster_dim_x, row.cluster_dim_y, row.cluster_dim_z },
		.preferred_cluster_dim = { row.preferred_cluster_dim_x, row.preferred_cluster_dim_y,
					   row.preferred_cluster_dim_z },
	};
	return WS_OK;
}

enum ws_status wsi_core_sm(const struct ws_target *target, uint32_t index, struct ws_sm *ret_sm,
			   struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	struct ws_span in = wsi_core_row(core, core->sms.at[index]);
	struct wsi_sm_row row = wsi_sm_parse(in);
	*ret_sm = (struct ws_sm){
		.have = (WSI_HAS(in.len, sm, error_pc) ? WS_SM_EXCEPTION : 0u) |
			(WSI_HAS(in.len, sm, cluster_target_z) ? WS_SM_CLUSTER_TARGET : 0u) |
			(WSI_HAS(in.len, sm, text_exception) ? WS_SM_EXCEPTION_TEXT : 0u),
		.device_index = parent_of(core, &core->sms, index),
		.id = row.id,
		.first_warp_index = core->first_warp[index],
		.n_warps = core->first_warp[index + 1] - core->first_warp[index],
	};
	if (ret_sm->have & WS_SM_EXCEPTION) {
		ret_sm->exception = row.exception;
		ret_sm->error_pc_valid = row.error_pc_valid != 0;
		ret_sm->error_pc = row.error_pc;
	}
	if (ret_sm->have & WS_SM_CLUSTER_TARGET) {
		ret_sm->cluster_target_valid = row.cluster_target_valid != 0;
		ret_sm->cluster_target =
			(struct ws_dim3){ row.cluster_target_x, row.cluster_target_y,
					  row.cluster_target_z };
	}
	if (ret_sm->have & WS_SM_EXCEPTION_TEXT)
		ret_sm->exception_text = wsi_core_text(core, row.text_exception);
	ret_sm->damaged = row.error_pc_valid > 1 || row.cluster_target_valid > 1 ||
			  !ws_exception_possible(row.exception);
	return WS_OK;
}

enum ws_status wsi_core_block(const struct ws_target *target, uint32_t index,
			      struct ws_block *ret_block, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	struct ws_span in = wsi_core_row(core, core->blocks.at[index]);
	struct wsi_block_row row = wsi_block_parse(in);
	uint32_t sm = parent_of(core, &core->blocks, index);
	uint32_t device = parent_of(core, &core->sms, sm);
	*ret_block = (struct ws_block){
		.have = (WSI_HAS(in.len, block, cluster_idx_z) ? WS_BLOCK_CLUSTER_IDX : 0u) |
			(WSI_HAS(in.len, block, cluster_dim_z) ? WS_BLOCK_CLUSTER_DIM : 0u),
		.device_index = device,
		.sm_index = sm,
		.grid_index = wsi_core_find_grid(core, device, row.grid_id),
		.grid_id = (int64_t)row.grid_id,
		.idx = { row.idx_x, row.idx_y, row.idx_z },
		.cluster_idx = { row.cluster_idx_x, row.cluster_idx_y, row.cluster_idx_z },
		.cluster_dim = { row.cluster_dim_x, row.cluster_dim_y, row.cluster_dim_z },
	};
	return WS_OK;
}

enum ws_status wsi_core_warp(const struct ws_target *target, uint32_t index,
			     struct ws_warp *ret_warp, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	struct ws_span in = wsi_core_row(core, core->warps.at[index]);
	struct wsi_warp_row row = wsi_warp_parse(in);
	uint32_t block = parent_of(core, &core->warps, index);
	uint32_t sm = parent_of(core, &core->blocks, block);
	*ret_warp = (struct ws_warp){
		.have = (WSI_HAS(in.len, warp, n_regs) ? WS_WARP_N_REGS : 0u) |
			(WSI_HAS(in.len, warp, shared_bytes) ? WS_WARP_SHARED_BYTES : 0u) |
			(WSI_HAS(in.len, warp, cbu_collective_lanes) ? WS_WARP_CBU : 0u) |
			(WSI_HAS(in.len, warp, text_barrier) ? WS_WARP_BARRIER : 0u),
		.device_index = parent_of(core, &core->sms, sm),
		.sm_index = sm,
		.block_index = block,
		.id = row.id,
		.valid_lanes = row.valid_lanes,
		.active_lanes = row.active_lanes,
		.broken = row.broken != 0,
		.error_pc_valid = row.error_pc_valid != 0,
		.error_pc = row.error_pc,
		.n_regs = row.n_regs,
		.shared_bytes = row.shared_bytes,
		.damaged = row.broken > 1 || row.error_pc_valid > 1 ||
			   (row.active_lanes & ~row.valid_lanes),
	};
	if (ret_warp->have & WS_WARP_CBU) {
		ret_warp->in_syscall_lanes = row.in_syscall_lanes;
		ret_warp->cbu_active_lanes = row.cbu_active_lanes;
		ret_warp->cbu_exited_lanes = row.cbu_exited_lanes;
		ret_warp->cbu_collective_lanes = row.cbu_collective_lanes;
	}
	if (ret_warp->have & WS_WARP_BARRIER) {
		ret_warp->barrier_scope = row.barrier_scope;
		ret_warp->barrier_text = wsi_core_text(core, row.text_barrier);
	}
	return WS_OK;
}

struct ws_span ws_core_bytes(const struct ws_core *core)
{
	return core->bytes;
}

uint32_t ws_core_n_sections(const struct ws_core *core)
{
	return core->n_sections;
}

enum ws_status ws_core_section(const struct ws_core *core, uint32_t index,
			       struct ws_core_section *ret_section, struct ws_error *err)
{
	if (index >= core->n_sections)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no section %u, there are %u",
				index, core->n_sections);
	struct wsi_elf claimed = core->elf;
	claimed.headers = core->claimed;
	struct wsi_shdr shdr = wsi_elf_shdr(&claimed, index);
	const struct wsi_kind_info *info = &wsi_kind_infos[wsi_kind_of(shdr.type)];
	struct ws_core_section section = {
		.name = wsi_elf_name(&core->elf, &shdr),
		.type = shdr.type,
		.words = shdr.type == WSI_SHT_STRTAB ? "strings" : info->words,
		.header_off = wsi_elf_shdr_off(&core->elf, index),
		.address = shdr.addr,
		.file_off = shdr.offset,
		.size = shdr.size,
		.link = shdr.link,
		.info = shdr.info,
		.stride = shdr.entsize,
	};
	if (shdr.type != WSI_SHT_NULL)
		(void)wsi_elf_bytes(&core->elf, &shdr, &section.bytes);
	if (info->base_bytes && shdr.entsize)
		section.rows = section.bytes.len / shdr.entsize;
	*ret_section = section;
	return WS_OK;
}
