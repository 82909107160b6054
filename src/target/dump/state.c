/* SPDX-License-Identifier: Apache-2.0 */
/* List elements: rows -> the plain structures of state.h. */
#include "state/possible.h"
#include "target/dump/dump.h"

static uint32_t parent_of(const struct ws_core *core, const struct wsi_list *list, uint32_t index)
{
	return core->tables[list->at[index].table].parent;
}

enum ws_status wsi_core_device(const struct ws_target *target, uint32_t index,
			       struct ws_device *ret_device, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	struct ws_span in = wsi_core_row(core, core->devices.at[index]);
	*ret_device = (struct ws_device){ .have = wsi_device_have(in.len) };
	(void)wsi_device_read(in, core->strtab, ret_device);
	ret_device->damaged = core->damaged_devices[index];
	return WS_OK;
}

enum ws_status wsi_core_context(const struct ws_target *target, uint32_t index,
				struct ws_context *ret_context, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	*ret_context = (struct ws_context){
		.device_index = parent_of(core, &core->contexts, index),
	};
	(void)wsi_context_read(wsi_core_row(core, core->contexts.at[index]), core->strtab,
			       ret_context);
	return WS_OK;
}

/* One form of an image. `none` says why there is none at all. */
static enum ws_status image_form(const struct ws_core *core, struct wsi_ref module,
				 enum wsi_kind kind, enum ws_status none, struct ws_span *ret_bytes)
{
	uint32_t section = wsi_core_slot(core, module, kind);
	if (!section)
		return core->headers_lost ? WS_TRUNCATED : none;
	return wsi_core_hold(core, section, ret_bytes, NULL);
}

/* An image that no module table names. */
static void lone_image(const struct ws_core *core, uint32_t section, struct ws_module *ret_module)
{
	*ret_module = (struct ws_module){
		.device_index = parent_of(core, &core->contexts, 0),
		.original_status = WS_ABSENT,
	};
	ret_module->relocated_status = wsi_core_hold(core, section, &ret_module->relocated, NULL);
}

enum ws_status wsi_core_module(const struct ws_target *target, uint32_t index,
			       struct ws_module *ret_module, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	if (index >= core->modules.n) {
		lone_image(core, core->lone_images[index - core->modules.n], ret_module);
		return WS_OK;
	}
	uint32_t context = parent_of(core, &core->modules, index);
	struct wsi_ref row = core->modules.at[index];
	struct ws_module module = {
		.device_index = parent_of(core, &core->contexts, context),
		.context_index = context,
	};
	(void)wsi_module_read(wsi_core_row(core, row), core->strtab, &module);
	module.relocated_status =
		image_form(core, row, WSI_KIND_RELOCATED, WS_ABSENT, &module.relocated);
	module.original_status =
		image_form(core, row, WSI_KIND_IMAGE, core->no_original, &module.original);
	*ret_module = module;
	return WS_OK;
}

enum ws_status wsi_core_grid(const struct ws_target *target, uint32_t index,
			     struct ws_grid *ret_grid, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	struct ws_span in = wsi_core_row(core, core->grids.at[index]);
	uint32_t device = parent_of(core, &core->grids, index);
	struct ws_grid grid = { .have = wsi_grid_have(in.len), .device_index = device };
	(void)wsi_grid_read(in, core->strtab, &grid);
	grid.context_index = wsi_core_find_context(core, device, grid.context_id);
	grid.module_index =
		grid.context_index == WS_NONE
			? WS_NONE
			: wsi_core_find_image(core, grid.context_index, grid.module_handle);
	grid.damaged = core->damaged_grids[index];
	*ret_grid = grid;
	return WS_OK;
}

enum ws_status wsi_core_sm(const struct ws_target *target, uint32_t index, struct ws_sm *ret_sm,
			   struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	struct ws_span in = wsi_core_row(core, core->sms.at[index]);
	*ret_sm = (struct ws_sm){
		.have = wsi_sm_have(in.len),
		.device_index = parent_of(core, &core->sms, index),
		.first_warp_index = core->warps.first[index],
		.n_warps = core->warps.first[index + 1] - core->warps.first[index],
	};
	ret_sm->damaged = !wsi_sm_read(in, core->strtab, ret_sm) ||
			  ret_sm->id >= core->most[ret_sm->device_index].sms;
	return WS_OK;
}

/* Whether a device has a grid that is sound. */
static bool knows_grids(const struct ws_core *core, uint32_t device)
{
	for (uint32_t i = core->grids.first[device]; i < core->grids.first[device + 1]; i++)
		if (!core->damaged_grids[i])
			return true;
	return false;
}

static bool is_index_inside(struct ws_dim3 idx, struct ws_span grid)
{
	return idx.x < wsi_at_u32(grid, WSI_AT_grid_grid_dim) &&
	       idx.y < wsi_at_u32(grid, WSI_AT_grid_grid_dim + 4) &&
	       idx.z < wsi_at_u32(grid, WSI_AT_grid_grid_dim + 8);
}

enum ws_status wsi_core_block(const struct ws_target *target, uint32_t index,
			      struct ws_block *ret_block, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	struct ws_span in = wsi_core_row(core, core->blocks.at[index]);
	uint32_t sm = parent_of(core, &core->blocks, index);
	uint32_t device = parent_of(core, &core->sms, sm);
	*ret_block = (struct ws_block){
		.have = wsi_block_have(in.len),
		.device_index = device,
		.sm_index = sm,
	};
	(void)wsi_block_read(in, core->strtab, ret_block);
	uint32_t grid = wsi_core_find_grid(core, device, (uint64_t)ret_block->grid_id);
	ret_block->grid_index = grid;
	bool outside = grid == WS_NONE
			       ? knows_grids(core, device)
			       : !core->damaged_grids[grid] &&
					 !is_index_inside(ret_block->idx,
							  wsi_core_row(core, core->grids.at[grid]));
	ret_block->damaged = outside || !wsi_state_block_possible(ret_block);
	return WS_OK;
}

void wsi_core_warp_row(const struct ws_core *core, uint32_t index, struct ws_warp *ret_warp)
{
	struct ws_span in = wsi_core_row(core, core->warps.at[index]);
	uint32_t block = parent_of(core, &core->warps, index);
	uint32_t sm = parent_of(core, &core->blocks, block);
	*ret_warp = (struct ws_warp){
		.have = wsi_warp_have(in.len),
		.device_index = parent_of(core, &core->sms, sm),
		.sm_index = sm,
		.block_index = block,
	};
	bool sound = wsi_warp_read(in, core->strtab, ret_warp);
	ret_warp->damaged = !sound || ret_warp->active_lanes & ~ret_warp->valid_lanes ||
			    ret_warp->n_regs > WS_MAX_REGS ||
			    ret_warp->id >= core->most[ret_warp->device_index].warps;
}

enum ws_status wsi_core_warp(const struct ws_target *target, uint32_t index,
			     struct ws_warp *ret_warp, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	(void)err;
	wsi_core_warp_row(core, index, ret_warp);
	if (ret_warp->broken && !ret_warp->damaged)
		ret_warp->damaged = !wsi_core_judge_trap(core, index);
	return WS_OK;
}

bool wsi_core_grid_of(const struct ws_core *core, uint32_t block_index, struct ws_grid *ret_grid)
{
	struct ws_block block;
	return ws_target_block(&core->target, block_index, &block, NULL) == WS_OK &&
	       block.grid_index != WS_NONE &&
	       ws_target_grid(&core->target, block.grid_index, ret_grid, NULL) == WS_OK;
}

const struct wsi_input *wsi_core_input(const struct ws_core *core)
{
	return &core->source;
}

enum ws_status wsi_core_hold(const struct ws_core *core, uint32_t section,
			     struct ws_span *ret_bytes, struct ws_error *err)
{
	struct wsi_slice there;
	bool whole = wsi_core_extent(core, section, &there);
	enum ws_status st = wsi_input_hold(&core->source, there, ret_bytes, err);
	if (st != WS_OK || whole)
		return st;
	return wsi_fail(err, WS_TRUNCATED, core->source.size, "section %u is cut", section);
}

struct ws_span wsi_core_names(const struct ws_core *core)
{
	struct ws_span names = core->elf.shstrtab;
	if (!names.ptr)
		(void)!wsi_input_hold(&core->source, core->elf.names, &names, NULL);
	return names;
}

struct ws_str wsi_core_name_head(const struct ws_core *core, const struct wsi_shdr *shdr,
				 uint8_t scratch[WSI_NAME_BYTES])
{
	const struct wsi_slice names = core->elf.names;
	const uint64_t off = wsi_min_u64(shdr->name, names.len);
	const size_t n = (size_t)wsi_min_u64(names.len - off, WSI_NAME_BYTES);
	const uint8_t *at = n ? wsi_input_view(&core->source, names.off + off, n, scratch) : NULL;
	const uint8_t *end = at ? memchr(at, 0, n) : NULL;
	return (struct ws_str){ (const char *)at, !at ? 0 : end ? (size_t)(end - at) : n };
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
	struct wsi_slice there = { 0 };
	if (shdr.type != WSI_SHT_NULL)
		(void)wsi_elf_extent(&core->elf, &shdr, &there);
	(void)wsi_span_cstr(wsi_core_names(core), shdr.name, &section.name);
	section.present = there.len;
	if (info->base_bytes && shdr.entsize)
		section.rows = there.len / shdr.entsize;
	*ret_section = section;
	return WS_OK;
}

enum ws_status ws_core_section_bytes(const struct ws_core *core, uint32_t index,
				     struct ws_span *ret_bytes, struct ws_error *err)
{
	struct ws_core_section section;
	enum ws_status st = ws_core_section(core, index, &section, err);
	if (st != WS_OK)
		return st;
	struct wsi_slice there = wsi_input_clip(&core->source, section.file_off, section.present);
	return wsi_input_hold(&core->source, there, ret_bytes, err);
}
