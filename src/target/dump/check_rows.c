/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checking a dump: what the tables say, row by row. Ids must be unique among siblings and within
 * what the device has; references must lead somewhere; masks, counts and coordinates must agree.
 */
#include <warpscope/doubt.h>

#include "target/dump/check.h"

/* A row under check. */
struct at {
	struct wsi_checker *c;
	uint32_t section, row;
	uint64_t off;        /* of the row in the file */
	uint32_t warp_index; /* whose lanes doubts are about */
};

static struct at at_of(struct wsi_checker *c, struct wsi_ref ref)
{
	const struct wsi_table *table = &c->core->tables[ref.table];
	return (struct at){ c, table->section, ref.row,
			    table->off + (uint64_t)ref.row * table->stride, WS_NONE };
}

/* A finding about a field of a row. */
#define ROW_FINDING(at, rule, field, format, ...)                                                \
	wsi_finding((at).c, rule, (at).section, (at).off + (field), "row %u: " format, (at).row, \
		    __VA_ARGS__)

static void check_text(struct at at, struct ws_span row, unsigned field, const char *what)
{
	struct ws_str text;
	struct ws_span strtab = at.c->core->strtab;
	uint64_t offset = wsi_at_u64(row, field);
	if (offset == 0 || wsi_span_cstr(strtab, offset, &text))
		return;
	ROW_FINDING(at, WS_CHECK_TEXT, field,
		    "%s is at %" PRIu64 " of .strtab, which has %zu bytes", what, offset,
		    strtab.len);
}

/* Which rule a doubt breaks, and which field of its row. */
static void doubt_finding(void *user, const struct ws_doubt *doubt)
{
	static const struct {
		enum ws_check_rule rule;
		uint16_t field;
	} as[] = {
		[WS_DOUBT_DEVICE_STATUS] = { WS_CHECK_VALUE, WSI_AT_device_status },
		[WS_DOUBT_DEVICE_ROW] = { WS_CHECK_VALUE, WSI_AT_device_n_sms },
		[WS_DOUBT_SM_ID] = { WS_CHECK_ID, WSI_AT_sm_id },
		[WS_DOUBT_SM_TWICE] = { WS_CHECK_ID, WSI_AT_sm_id },
		[WS_DOUBT_SM_ROW] = { WS_CHECK_VALUE, WSI_AT_sm_exception },
		[WS_DOUBT_WARP_ID] = { WS_CHECK_ID, WSI_AT_warp_id },
		[WS_DOUBT_WARP_TWICE] = { WS_CHECK_ID, WSI_AT_warp_id },
		[WS_DOUBT_WARP_ROW] = { WS_CHECK_VALUE, WSI_AT_warp_broken },
		[WS_DOUBT_WARP_ACTIVE] = { WS_CHECK_VALUE, WSI_AT_warp_active_lanes },
		[WS_DOUBT_WARP_BROKEN] = { WS_CHECK_VALUE, WSI_AT_warp_broken },
		[WS_DOUBT_LANES_MISSING] = { WS_CHECK_COUNT, WSI_AT_warp_valid_lanes },
		[WS_DOUBT_LANES_EXTRA] = { WS_CHECK_COUNT, WSI_AT_warp_valid_lanes },
		[WS_DOUBT_LANE_ROW] = { WS_CHECK_VALUE, WSI_AT_lane_exception },
		[WS_DOUBT_LANE_PLACE] = { WS_CHECK_VALUE, WSI_AT_lane_thread },
		[WS_DOUBT_BLOCK_ROW] = { WS_CHECK_VALUE, WSI_AT_block_idx },
		[WS_DOUBT_BLOCK_GRID] = { WS_CHECK_REFERENCE, WSI_AT_block_grid_id },
		[WS_DOUBT_GRID_ROW] = { WS_CHECK_VALUE, WSI_AT_grid_grid_dim },
		[WS_DOUBT_GRID_CONTEXT] = { WS_CHECK_REFERENCE, WSI_AT_grid_context_id },
		[WS_DOUBT_GRID_MODULE] = { WS_CHECK_REFERENCE, WSI_AT_grid_module_handle },
	};
	struct at at = *(const struct at *)user;
	struct wsi_ref lane;
	if (at.warp_index != WS_NONE &&
	    wsi_core_lane_row(at.c->core, at.warp_index, doubt->lane, &lane))
		at = at_of(at.c, lane);
	ROW_FINDING(at, as[doubt->kind].rule, as[doubt->kind].field, "%s", doubt->message);
}

/* Number of words in a leaf section of a row; false when it has none or is cut. */
static bool leaf_words(const struct ws_core *core, struct wsi_ref ref, enum wsi_kind kind,
		       uint32_t *ret_section, uint64_t *ret_n)
{
	struct wsi_slice there;
	*ret_section = wsi_core_slot(core, ref, kind);
	if (!*ret_section || !wsi_core_extent(core, *ret_section, &there))
		return false;
	*ret_n = there.len / 4;
	return true;
}

/* A leaf of another size than its row says was cut where the dump was written from one that was. */
static bool is_cut(const struct wsi_checker *c)
{
	return c->core->notes.topics[WSI_TOPIC_WRITTEN].n > 0;
}

static void check_leaf_count(struct wsi_checker *c, struct wsi_ref ref, enum wsi_kind kind,
			     uint32_t least, uint32_t most)
{
	uint32_t section;
	uint64_t n;
	if (leaf_words(c->core, ref, kind, &section, &n) && (n < least || n > most))
		(is_cut(c) ? wsi_loss
			   : wsi_finding)(c, WS_CHECK_COUNT, section,
					  wsi_elf_shdr_off(&c->core->elf, section) + WSI_SH_SIZE,
					  "%" PRIu64 " %s; %u are expected", n,
					  wsi_kind_infos[kind].words, n < least ? least : most);
}

static void check_frames(struct wsi_checker *c, uint32_t warp_index, const struct ws_lane *lane,
			 struct wsi_ref ref)
{
	struct ws_return_address frames[256];
	uint32_t section = wsi_core_slot(c->core, ref, WSI_KIND_FRAMES), n = 0;
	uint64_t off = section ? wsi_elf_shdr(&c->core->elf, section).offset : 0;
	if (!section || ws_target_call_stack(&c->core->target, warp_index, lane->id, frames,
					     WSI_COUNT(frames), &n, NULL) != WS_OK)
		return;
	if (n != lane->call_depth)
		(is_cut(c) ? wsi_loss : wsi_finding)(c, WS_CHECK_COUNT, section, off,
						     "%u frames, but the lane's call depth is %u",
						     n, lane->call_depth);
	for (uint32_t i = 0; i < n && i < WSI_COUNT(frames); i++) {
		if (frames[i].level != i) {
			wsi_finding(c, WS_CHECK_ID, section, off,
				    "levels are not 0, 1, 2, ...: %u is where %u should be",
				    frames[i].level, i);
			return;
		}
	}
}

static void check_lane(struct wsi_checker *c, uint32_t warp_index, const struct ws_warp *warp,
		       const struct ws_grid *grid, const struct ws_lane *lane)
{
	struct wsi_ref ref;
	if (!wsi_core_lane_row(c->core, warp_index, lane->id, &ref))
		return;
	struct at at = at_of(c, ref);
	if (!(warp->valid_lanes >> lane->id & 1))
		ROW_FINDING(at, WS_CHECK_REFERENCE, WSI_AT_lane_id,
			    "lane %u is not in the warp's mask of valid lanes 0x%x", lane->id,
			    warp->valid_lanes);
	if (lane->syscall_call_depth > lane->call_depth)
		wsi_loss(c, WS_CHECK_VALUE, at.section, at.off + WSI_AT_lane_syscall_call_depth,
			 "row %u: %u frames in system calls, of %u in all", at.row,
			 lane->syscall_call_depth, lane->call_depth);
	uint32_t n_regs = warp->have & WS_WARP_N_REGS ? warp->n_regs : grid ? grid->n_regs : 0;
	if (n_regs)
		check_leaf_count(c, ref, WSI_KIND_REGS, n_regs, 255);
	check_frames(c, warp_index, lane, ref);
}

/* Lane numbers of a table: each once, and none that a warp does not have. */
static void check_lane_ids(struct wsi_checker *c, const struct wsi_table *table)
{
	uint32_t seen = 0, number = (uint32_t)(table - c->core->tables);
	for (uint32_t row = 0; row < table->n_rows && !c->stopped; row++) {
		struct wsi_ref ref = { number, row };
		uint32_t id = wsi_at_u32(wsi_core_row(c->core, ref), WSI_AT_lane_id);
		c->summary.rows++;
		if (id >= WS_MAX_LANES)
			ROW_FINDING(at_of(c, ref), WS_CHECK_ID, WSI_AT_lane_id,
				    "lane %u; a warp has %d", id, WS_MAX_LANES);
		else if (seen >> id & 1)
			ROW_FINDING(at_of(c, ref), WS_CHECK_ID, WSI_AT_lane_id,
				    "lane %u is also in another row", id);
		else
			seen |= UINT32_C(1) << id;
	}
}

static void check_warp_row(struct wsi_checker *c, uint32_t index, uint32_t first,
			   const struct ws_device *device, const struct ws_grid *grid)
{
	const struct ws_core *core = c->core;
	struct wsi_ref ref = core->warps.at[index];
	struct at at = at_of(c, ref);
	struct ws_warp warp;
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	at.warp_index = index;
	if (ws_target_warp(&core->target, index, &warp, NULL) != WS_OK ||
	    ws_target_lanes(&core->target, index, lanes, &n, NULL) != WS_OK)
		return;
	struct ws_warp before;
	bool has_before =
		index > first && ws_target_warp(&core->target, index - 1, &before, NULL) == WS_OK;
	ws_warp_doubts(device, grid, has_before ? &before : NULL, &warp, lanes, n, doubt_finding,
		       &at);
	if (warp.have & WS_WARP_BARRIER)
		check_text(at, wsi_core_row(core, ref), WSI_AT_warp_barrier_text,
			   "the text of the barrier");
	const struct wsi_table *table = wsi_core_child_table(core, ref, WSI_KIND_LANE);
	if (device->have & WS_DEVICE_UNIFORM) {
		check_leaf_count(c, ref, WSI_KIND_UREGS, 1, device->n_uniform_regs);
		check_leaf_count(c, ref, WSI_KIND_UPREDS, 1, device->n_uniform_preds);
	}
	if (device->have & WS_DEVICE_BARRIERS)
		check_leaf_count(c, ref, WSI_KIND_BARRIERS, 1, device->n_convergence_barriers);
	if (table)
		check_lane_ids(c, table);
	for (uint32_t i = 0; i < n && !c->stopped; i++)
		check_lane(c, index, &warp, grid, &lanes[i]);
}

static void check_block_row(struct wsi_checker *c, uint32_t index)
{
	struct at at = at_of(c, c->core->blocks.at[index]);
	struct ws_block block;
	struct ws_grid grid;
	c->summary.rows++;
	if (ws_target_block(&c->core->target, index, &block, NULL) != WS_OK)
		return;
	bool has_grid = wsi_core_grid_of(c->core, index, &grid);
	ws_block_doubts(&block, has_grid ? &grid : NULL, doubt_finding, &at);
}

static void check_sm(struct wsi_checker *c, uint32_t index, uint32_t first,
		     const struct ws_device *device)
{
	const struct ws_core *core = c->core;
	struct at at = at_of(c, core->sms.at[index]);
	struct ws_span in = wsi_core_row(core, core->sms.at[index]);
	c->summary.rows++;
	struct ws_sm sm, before;
	bool has_before =
		index > first && ws_target_sm(&core->target, index - 1, &before, NULL) == WS_OK;
	if (ws_target_sm(&core->target, index, &sm, NULL) == WS_OK)
		ws_sm_doubts(device, has_before ? &before : NULL, &sm, doubt_finding, &at);
	if (wsi_sm_have(in.len) & WS_SM_EXCEPTION_TEXT)
		check_text(at, in, WSI_AT_sm_exception_text, "the text of the exception");
	struct ws_grid grid;
	bool has_grid = false;
	uint32_t last_block = WS_NONE;
	for (uint32_t b = core->blocks.first[index]; b < core->blocks.first[index + 1]; b++)
		check_block_row(c, b);
	uint32_t from = core->warps.first[index], end = core->warps.first[index + 1];
	for (uint32_t w = from; w < end && !c->stopped; w++) {
		uint32_t block = wsi_core_block_of(core, w);
		if (block != last_block)
			has_grid = wsi_core_grid_of(core, block, &grid);
		last_block = block;
		c->summary.rows++;
		check_warp_row(c, w, from, device, has_grid ? &grid : NULL);
	}
}

static void check_grid(struct wsi_checker *c, uint32_t index)
{
	struct at at = at_of(c, c->core->grids.at[index]);
	struct ws_grid grid;
	c->summary.rows++;
	if (ws_target_grid(&c->core->target, index, &grid, NULL) != WS_OK)
		return;
	if (wsi_core_find_grid(c->core, grid.device_index, (uint64_t)grid.id) != index)
		ROW_FINDING(at, WS_CHECK_ID, WSI_AT_grid_id,
			    "grid %" PRId64 " is also in another row", grid.id);
	ws_grid_doubts(&grid, doubt_finding, &at);
	struct ws_bank bank;
	for (uint32_t row = 0; wsi_core_bank(c->core, index, row, &bank); row++) {
		c->summary.rows++;
		if (bank.address + bank.size < bank.address)
			ROW_FINDING(at, WS_CHECK_MEMORY, 0,
				    "constant bank %u goes past the end of the address space",
				    bank.id);
	}
}

static void check_image_form(struct wsi_checker *c, struct wsi_ref ref, enum wsi_kind kind)
{
	uint32_t section = wsi_core_slot(c->core, ref, kind);
	struct wsi_slice there;
	struct wsi_elf elf;
	struct ws_error err;
	if (!section || !wsi_core_extent(c->core, section, &there))
		return; /* none, or cut, which has been said */
	struct wsi_input image = wsi_input_part(&c->core->source, there);
	if (wsi_elf_open_input(&image, &elf, &err) != WS_OK)
		wsi_finding(c, WS_CHECK_IMAGE, section, there.off, "no readable cubin: %s",
			    err.message);
	else if (elf.machine != WSI_EM_CUDA || elf.n_present < elf.n_sections)
		wsi_finding(c, WS_CHECK_IMAGE, section, there.off,
			    "not a complete cubin: machine %u, %" PRIu64 " of %" PRIu64
			    " section headers",
			    elf.machine, elf.n_present, elf.n_sections);
}

static void check_context(struct wsi_checker *c, uint32_t index)
{
	const struct ws_core *core = c->core;
	struct at at = at_of(c, core->contexts.at[index]);
	struct ws_context context;
	c->summary.rows++;
	if (ws_target_context(&core->target, index, &context, NULL) != WS_OK)
		return;
	if (wsi_core_find_context(core, context.device_index, context.id) != index)
		ROW_FINDING(at, WS_CHECK_ID, WSI_AT_context_id,
			    "context 0x%" PRIx64 " is also in another row", context.id);
	for (uint32_t m = core->modules.first[index]; m < core->modules.first[index + 1]; m++) {
		struct wsi_ref ref = core->modules.at[m];
		uint64_t handle = wsi_at_u64(wsi_core_row(core, ref), WSI_AT_module_handle);
		c->summary.rows++;
		if (wsi_core_find_image(core, index, handle) != m)
			ROW_FINDING(at_of(c, ref), WS_CHECK_ID, WSI_AT_module_handle,
				    "module 0x%" PRIx64 " is also in another row", handle);
		check_image_form(c, ref, WSI_KIND_RELOCATED);
		check_image_form(c, ref, WSI_KIND_IMAGE);
	}
}

static void check_device_row(struct wsi_checker *c, uint32_t index)
{
	const struct ws_core *core = c->core;
	struct at at = at_of(c, core->devices.at[index]);
	struct ws_span in = wsi_core_row(core, core->devices.at[index]);
	struct ws_device device;
	c->summary.rows++;
	if (ws_target_device(&core->target, index, &device, NULL) != WS_OK)
		return;
	for (uint32_t other = 0; other < index; other++) {
		if (wsi_at_u32(wsi_core_row(core, core->devices.at[other]), WSI_AT_device_id) ==
		    device.id)
			ROW_FINDING(at, WS_CHECK_ID, WSI_AT_device_id,
				    "device %u is also in another row", device.id);
	}
	check_text(at, in, WSI_AT_device_name, "the name");
	check_text(at, in, WSI_AT_device_type, "the internal name");
	check_text(at, in, WSI_AT_device_sm_type, "the architecture");
	ws_device_doubts(&device, doubt_finding, &at);
	for (uint32_t i = core->contexts.first[index]; i < core->contexts.first[index + 1]; i++)
		check_context(c, i);
	for (uint32_t i = core->grids.first[index]; i < core->grids.first[index + 1]; i++)
		check_grid(c, i);
	for (uint32_t i = core->sms.first[index]; i < core->sms.first[index + 1] && !c->stopped;
	     i++)
		check_sm(c, i, core->sms.first[index], &device);
}

void wsi_core_check_rows(struct wsi_checker *c)
{
	const struct ws_core *core = c->core;
	if (core->kind_counts[WSI_KIND_DEVICE] > 1)
		wsi_finding(c, WS_CHECK_COUNT, 0, WS_NO_OFFSET, "there are %u device tables",
			    core->kind_counts[WSI_KIND_DEVICE]);
	for (uint32_t i = 0; i < core->devices.n && !c->stopped; i++)
		check_device_row(c, i);
}
