/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes into the sections: rows of tables, registers, images, memory.
 *
 * A field that the caller's rows do not have is not made up: the table then has rows that end
 * before it. So a row has at most the bytes that the layout gives it, and at most those before the
 * first missing field.
 */
#include "write/writer.h"

/* ---- rows: state.h -> format.h ---- */

/* The least of the place of each field group that is missing: { flag, where the group begins }. */
struct group {
	uint32_t flag, at;
};

static uint32_t bytes_had(uint32_t have, const struct group *groups, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!(have & groups[i].flag))
			return groups[i].at;
	}
	return WSI_MAX_ROW_BYTES;
}

#define BYTES_HAD(have, ...)                                   \
	bytes_had(have, (const struct group[]){ __VA_ARGS__ }, \
		  sizeof((const struct group[]){ __VA_ARGS__ }) / sizeof(struct group))

static uint32_t device_bytes(const struct ws_device *device)
{
	return BYTES_HAD(device->have, { WS_DEVICE_UNIFORM, WSI_AT_device_n_uniform_regs },
			 { WS_DEVICE_BARRIERS, WSI_AT_device_n_convergence_barriers });
}

static enum ws_status device_row(struct ws_writer *writer, const struct ws_device *device,
				 struct wsi_device_row *row, struct ws_error *err)
{
	*row = (struct wsi_device_row){
		.id = device->id,
		.pci_bus = device->pci_bus,
		.pci_device = device->pci_device,
		.n_sms = device->n_sms,
		.n_warps_per_sm = device->n_warps_per_sm,
		.n_lanes_per_warp = device->n_lanes_per_warp,
		.n_regs_per_lane = device->n_regs_per_lane,
		.n_preds_per_lane = device->n_preds_per_lane,
		.sm_major = device->sm_major,
		.sm_minor = device->sm_minor,
		.instruction_bytes = device->instruction_bytes,
		.status = device->status,
		.n_uniform_regs = device->n_uniform_regs,
		.n_uniform_preds = device->n_uniform_preds,
		.n_convergence_barriers = device->n_convergence_barriers,
	};
	enum ws_status st = wsi_writer_text(writer, device->name, &row->text_name, err);
	if (st == WS_OK)
		st = wsi_writer_text(writer, device->type, &row->text_type, err);
	if (st == WS_OK)
		st = wsi_writer_text(writer, device->sm_type, &row->text_sm_type, err);
	return st;
}

static uint32_t grid_bytes(const struct ws_grid *grid)
{
	return BYTES_HAD(grid->have, { WS_GRID_CLUSTER, WSI_AT_grid_cluster_dim_x },
			 { WS_GRID_PREFERRED_CLUSTER, WSI_AT_grid_preferred_cluster_dim_x });
}

static enum ws_status grid_row(struct ws_writer *writer, const struct ws_grid *grid,
			       struct wsi_grid_row *row, struct ws_error *err)
{
	(void)writer;
	(void)err;
	*row = (struct wsi_grid_row){
		.id = (uint64_t)grid->id,
		.context_id = grid->context_id,
		.function = grid->function,
		.function_entry = grid->function_entry,
		.module_handle = grid->module_handle,
		.parent_id = (uint64_t)grid->parent_id,
		.params_offset = grid->params_offset,
		.type = grid->type,
		.origin = grid->origin,
		.status = grid->status,
		.n_regs = grid->n_regs,
		.grid_dim_x = grid->grid_dim.x,
		.grid_dim_y = grid->grid_dim.y,
		.grid_dim_z = grid->grid_dim.z,
		.block_dim_x = grid->block_dim.x,
		.block_dim_y = grid->block_dim.y,
		.block_dim_z = grid->block_dim.z,
		.launch_blocking = grid->launch_blocking,
		.host_tid = grid->host_tid,
		.cluster_dim_x = grid->cluster_dim.x,
		.cluster_dim_y = grid->cluster_dim.y,
		.cluster_dim_z = grid->cluster_dim.z,
		.preferred_cluster_dim_x = grid->preferred_cluster_dim.x,
		.preferred_cluster_dim_y = grid->preferred_cluster_dim.y,
		.preferred_cluster_dim_z = grid->preferred_cluster_dim.z,
	};
	return WS_OK;
}

static uint32_t sm_bytes(const struct ws_sm *sm)
{
	return BYTES_HAD(sm->have, { WS_SM_EXCEPTION, WSI_AT_sm_exception },
			 { WS_SM_CLUSTER_TARGET, WSI_AT_sm_cluster_target_valid },
			 { WS_SM_EXCEPTION_TEXT, WSI_AT_sm_text_exception });
}

static enum ws_status sm_row(struct ws_writer *writer, const struct ws_sm *sm,
			     struct wsi_sm_row *row, struct ws_error *err)
{
	*row = (struct wsi_sm_row){
		.id = sm->id,
		.exception = sm->exception,
		.error_pc_valid = sm->error_pc_valid,
		.error_pc = sm->error_pc,
		.cluster_target_valid = sm->cluster_target_valid,
		.cluster_target_x = sm->cluster_target.x,
		.cluster_target_y = sm->cluster_target.y,
		.cluster_target_z = sm->cluster_target.z,
	};
	return wsi_writer_text(writer, sm->exception_text, &row->text_exception, err);
}

static uint32_t block_bytes(const struct ws_block *block)
{
	return BYTES_HAD(block->have, { WS_BLOCK_CLUSTER_IDX, WSI_AT_block_cluster_idx_x },
			 { WS_BLOCK_CLUSTER_DIM, WSI_AT_block_cluster_dim_x });
}

static enum ws_status block_row(struct ws_writer *writer, const struct ws_block *block,
				struct wsi_block_row *row, struct ws_error *err)
{
	(void)writer;
	(void)err;
	*row = (struct wsi_block_row){
		.grid_id = (uint64_t)block->grid_id,
		.idx_x = block->idx.x,
		.idx_y = block->idx.y,
		.idx_z = block->idx.z,
		.cluster_idx_x = block->cluster_idx.x,
		.cluster_idx_y = block->cluster_idx.y,
		.cluster_idx_z = block->cluster_idx.z,
		.cluster_dim_x = block->cluster_dim.x,
		.cluster_dim_y = block->cluster_dim.y,
		.cluster_dim_z = block->cluster_dim.z,
	};
	return WS_OK;
}

static uint32_t warp_bytes(const struct ws_warp *warp)
{
	return BYTES_HAD(warp->have, { WS_WARP_N_REGS, WSI_AT_warp_n_regs },
			 { WS_WARP_SHARED_BYTES, WSI_AT_warp_shared_bytes },
			 { WS_WARP_CBU, WSI_AT_warp_in_syscall_lanes },
			 { WS_WARP_BARRIER, WSI_AT_warp_barrier_scope });
}

static enum ws_status warp_row(struct ws_writer *writer, const struct ws_warp *warp,
			       struct wsi_warp_row *row, struct ws_error *err)
{
	*row = (struct wsi_warp_row){
		.error_pc = warp->error_pc,
		.id = warp->id,
		.valid_lanes = warp->valid_lanes,
		.active_lanes = warp->active_lanes,
		.broken = warp->broken,
		.error_pc_valid = warp->error_pc_valid,
		.n_regs = warp->n_regs,
		.shared_bytes = warp->shared_bytes,
		.in_syscall_lanes = warp->in_syscall_lanes,
		.cbu_active_lanes = warp->cbu_active_lanes,
		.cbu_exited_lanes = warp->cbu_exited_lanes,
		.cbu_collective_lanes = warp->cbu_collective_lanes,
		.barrier_scope = warp->barrier_scope,
	};
	return wsi_writer_text(writer, warp->barrier_text, &row->text_barrier, err);
}

static uint32_t lane_bytes(const struct ws_lane *lane)
{
	return BYTES_HAD(lane->have, { WS_LANE_CBU_STATE, WSI_AT_lane_cbu_state },
			 { WS_LANE_RPC, WSI_AT_lane_rpc_lo });
}

static enum ws_status lane_row(struct ws_writer *writer, const struct ws_lane *lane,
			       struct wsi_lane_row *row, struct ws_error *err)
{
	(void)writer;
	(void)err;
	*row = (struct wsi_lane_row){
		.pc = lane->pc,
		.rel_pc = lane->rel_pc,
		.id = lane->id,
		.thread_x = lane->thread.x,
		.thread_y = lane->thread.y,
		.thread_z = lane->thread.z,
		.exception = lane->exception,
		.call_depth = lane->call_depth,
		.syscall_call_depth = lane->syscall_call_depth,
		.cc_register = lane->cc_register,
		.cbu_state = lane->cbu_state,
		.rpc_lo = lane->rpc_lo,
		.rpc_hi = lane->rpc_hi,
	};
	return WS_OK;
}

static enum ws_status module_row(struct ws_writer *writer, const struct ws_image *image,
				 struct wsi_module_row *row, struct ws_error *err)
{
	(void)writer;
	(void)err;
	row->handle = image->handle;
	return WS_OK;
}

static enum ws_status frame_row(struct ws_writer *writer, const struct ws_return_address *frame,
				struct wsi_frame_row *row, struct ws_error *err)
{
	(void)writer;
	(void)err;
	*row = (struct wsi_frame_row){ .rel_address = frame->rel_address,
				       .address = frame->address,
				       .level = frame->level };
	return WS_OK;
}

static enum ws_status bank_row(struct ws_writer *writer, const struct ws_write_bank *bank,
			       struct wsi_bank_row *row, struct ws_error *err)
{
	(void)writer;
	(void)err;
	*row = (struct wsi_bank_row){ .address = bank->address,
				      .size = bank->size,
				      .id = bank->id };
	return WS_OK;
}

/* Kinds of row that never had fewer fields. */
#define DEFINE_WHOLE(record, type)                      \
	static uint32_t record##_bytes(const type *row) \
	{                                               \
		(void)row;                              \
		return WSI_MAX_ROW_BYTES;               \
	}
DEFINE_WHOLE(module, struct ws_image)
DEFINE_WHOLE(frame, struct ws_return_address)
DEFINE_WHOLE(bank, struct ws_write_bank)

/* ---- tables ---- */

/* static enum ws_status lane_table(writer, section, rows, n, ret_table, err) */
#define DEFINE_TABLE(record, KIND, type)                                                    \
	static enum ws_status record##_table(                                               \
		struct ws_writer *writer, const struct ws_write_table *parent, uint32_t at, \
		const type *rows, uint32_t n, struct ws_write_table *ret_table,             \
		struct ws_error *err)                                                       \
	{                                                                                   \
		uint32_t stride = writer->row_bytes[KIND];                                  \
		for (uint32_t i = 0; i < n; i++)                                            \
			stride = (uint32_t)wsi_min_u64(stride, record##_bytes(&rows[i]));   \
		struct wsi_section section = { KIND, parent, at, 0, stride };               \
		enum ws_status st = wsi_section_begin(writer, &section, err);               \
		for (uint32_t i = 0; i < n && st == WS_OK; i++) {                           \
			uint8_t *bytes;                                                     \
			struct wsi_##record##_row row;                                      \
			st = record##_row(writer, &rows[i], &row, err);                     \
			if (st == WS_OK)                                                    \
				st = wsi_section_row(writer, stride, &bytes, err);          \
			if (st == WS_OK)                                                    \
				wsi_##record##_pack(bytes, stride, &row);                   \
		}                                                                           \
		if (st == WS_OK)                                                            \
			st = wsi_section_end(writer, &section, err);                        \
		if (st == WS_OK)                                                            \
			wsi_section_as_table(writer, &section, n, ret_table);               \
		return st;                                                                  \
	}

DEFINE_TABLE(device, WSI_KIND_DEVICE, struct ws_device)
DEFINE_TABLE(module, WSI_KIND_MODULE, struct ws_image)
DEFINE_TABLE(grid, WSI_KIND_GRID, struct ws_grid)
DEFINE_TABLE(sm, WSI_KIND_SM, struct ws_sm)
DEFINE_TABLE(block, WSI_KIND_BLOCK, struct ws_block)
DEFINE_TABLE(warp, WSI_KIND_WARP, struct ws_warp)
DEFINE_TABLE(lane, WSI_KIND_LANE, struct ws_lane)
DEFINE_TABLE(frame, WSI_KIND_FRAMES, struct ws_return_address)
DEFINE_TABLE(bank, WSI_KIND_BANK, struct ws_write_bank)

enum ws_status ws_writer_devices(struct ws_writer *writer, const struct ws_device *rows, uint32_t n,
				 struct ws_write_table *ret_table, struct ws_error *err)
{
	return device_table(writer, NULL, 0, rows, n, ret_table, err);
}

enum ws_status ws_writer_modules(struct ws_writer *writer, const struct ws_write_table *contexts,
				 uint32_t row, const struct ws_image *rows, uint32_t n,
				 struct ws_write_table *ret_table, struct ws_error *err)
{
	return module_table(writer, contexts, row, rows, n, ret_table, err);
}

enum ws_status ws_writer_grids(struct ws_writer *writer, const struct ws_write_table *devices,
			       uint32_t row, const struct ws_grid *rows, uint32_t n,
			       struct ws_write_table *ret_table, struct ws_error *err)
{
	return grid_table(writer, devices, row, rows, n, ret_table, err);
}

enum ws_status ws_writer_sms(struct ws_writer *writer, const struct ws_write_table *devices,
			     uint32_t row, const struct ws_sm *rows, uint32_t n,
			     struct ws_write_table *ret_table, struct ws_error *err)
{
	return sm_table(writer, devices, row, rows, n, ret_table, err);
}

enum ws_status ws_writer_blocks(struct ws_writer *writer, const struct ws_write_table *sms,
				uint32_t row, const struct ws_block *rows, uint32_t n,
				struct ws_write_table *ret_table, struct ws_error *err)
{
	return block_table(writer, sms, row, rows, n, ret_table, err);
}

enum ws_status ws_writer_warps(struct ws_writer *writer, const struct ws_write_table *blocks,
			       uint32_t row, const struct ws_warp *rows, uint32_t n,
			       struct ws_write_table *ret_table, struct ws_error *err)
{
	return warp_table(writer, blocks, row, rows, n, ret_table, err);
}

enum ws_status ws_writer_lanes(struct ws_writer *writer, const struct ws_write_table *warps,
			       uint32_t row, const struct ws_lane *rows, uint32_t n,
			       struct ws_write_table *ret_table, struct ws_error *err)
{
	return lane_table(writer, warps, row, rows, n, ret_table, err);
}

enum ws_status ws_writer_frames(struct ws_writer *writer, const struct ws_write_table *lanes,
				uint32_t row, const struct ws_return_address *rows, uint32_t n,
				struct ws_error *err)
{
	return frame_table(writer, lanes, row, rows, n, NULL, err);
}

enum ws_status ws_writer_banks(struct ws_writer *writer, const struct ws_write_table *grids,
			       uint32_t row, const struct ws_write_bank *rows, uint32_t n,
			       struct ws_error *err)
{
	return bank_table(writer, grids, row, rows, n, NULL, err);
}

/* Rows hold the id of the device, which a ws_context does not. */
enum ws_status ws_writer_contexts(struct ws_writer *writer, const struct ws_write_table *devices,
				  uint32_t row, uint32_t device_id, const struct ws_context *rows,
				  uint32_t n, struct ws_write_table *ret_table,
				  struct ws_error *err)
{
	uint32_t stride = writer->row_bytes[WSI_KIND_CONTEXT];
	struct wsi_section section = { WSI_KIND_CONTEXT, devices, row, 0, stride };
	enum ws_status st = wsi_section_begin(writer, &section, err);
	for (uint32_t i = 0; i < n && st == WS_OK; i++) {
		uint8_t *bytes;
		struct wsi_context_row packed = {
			.id = rows[i].id,
			.shared_window_base = rows[i].shared_window_base,
			.local_window_base = rows[i].local_window_base,
			.global_window_base = rows[i].global_window_base,
			.device_id = device_id,
			.host_tid = rows[i].host_tid,
		};
		st = wsi_section_row(writer, stride, &bytes, err);
		if (st == WS_OK)
			wsi_context_pack(bytes, stride, &packed);
	}
	if (st == WS_OK)
		st = wsi_section_end(writer, &section, err);
	if (st == WS_OK)
		wsi_section_as_table(writer, &section, n, ret_table);
	return st;
}

enum ws_status ws_writer_metadata(struct ws_writer *writer, const struct ws_dump_facts *facts,
				  struct ws_error *err)
{
	uint32_t stride = writer->row_bytes[WSI_KIND_META];
	if (!facts->have_flags)
		stride = (uint32_t)wsi_min_u64(stride, WSI_AT_meta_flags);
	else if (!facts->have_time)
		stride = (uint32_t)wsi_min_u64(stride, WSI_AT_meta_timestamp);
	struct wsi_section section = { WSI_KIND_META, NULL, 0, 0, stride };
	struct wsi_meta_row row = {
		.driver_major = facts->driver_major,
		.driver_minor = facts->driver_minor,
		.cuda_major = facts->cuda_major,
		.cuda_minor = facts->cuda_minor,
		.flags = facts->flags,
		.timestamp = facts->timestamp,
	};
	uint8_t *bytes;
	enum ws_status st = wsi_section_begin(writer, &section, err);
	if (st == WS_OK)
		st = wsi_writer_text(writer, facts->generator, &row.text_generator, err);
	if (st == WS_OK)
		st = wsi_section_row(writer, stride, &bytes, err);
	if (st == WS_OK)
		wsi_meta_pack(bytes, stride, &row);
	return st == WS_OK ? wsi_section_end(writer, &section, err) : st;
}

/* ---- everything else ---- */

enum ws_status ws_writer_image(struct ws_writer *writer, const struct ws_write_table *modules,
			       uint32_t row, bool relocated, struct ws_span bytes,
			       struct ws_error *err)
{
	struct wsi_section section = { relocated ? WSI_KIND_RELOCATED : WSI_KIND_IMAGE, modules,
				       row, 0, 0 };
	return wsi_section_write(writer, &section, bytes.ptr, bytes.len, err);
}

enum ws_status ws_writer_words(struct ws_writer *writer, const struct ws_write_table *parent,
			       uint32_t row, enum ws_reg_kind kind, const uint32_t *values,
			       uint32_t n, struct ws_error *err)
{
	struct wsi_section section = { wsi_kind_of_registers(kind), parent, row, 0, 4 };
	if (section.kind == WSI_KIND_NONE)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no kind of register %d",
				(int)kind);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return wsi_section_write(writer, &section, values, (size_t)n * 4, err);
#else
	enum ws_status st = wsi_section_begin(writer, &section, err);
	for (uint32_t i = 0; i < n && st == WS_OK; i++) {
		uint8_t bytes[4];
		wsi_store_u32(bytes, values[i]);
		st = wsi_section_append(writer, bytes, sizeof bytes, err);
	}
	return st == WS_OK ? wsi_section_end(writer, &section, err) : st;
#endif
}

static enum wsi_kind kind_of_memory(const struct ws_write_memory *where)
{
	switch (where->space) {
	case WS_SPACE_GLOBAL:
		return where->managed ? WSI_KIND_MANAGED : WSI_KIND_GLOBAL;
	case WS_SPACE_SHARED:
		return WSI_KIND_SHARED;
	case WS_SPACE_LOCAL:
		return WSI_KIND_LOCAL;
	case WS_SPACE_PARAM:
		return WSI_KIND_PARAM;
	case WS_SPACE_CONST:
	case WS_SPACE_CODE:
	case WS_SPACE_GENERIC:
		break;
	}
	return WSI_KIND_NONE;
}

enum ws_status ws_writer_memory_begin(struct ws_writer *writer, const struct ws_write_memory *where,
				      struct ws_error *err)
{
	struct wsi_section section = { kind_of_memory(where), where->parent, where->row, 0, 0 };
	if (section.kind == WSI_KIND_NONE)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"memory of space %d has no section of its own", (int)where->space);
	if (where->space == WS_SPACE_GLOBAL)
		section.parent = NULL;
	if (where->space == WS_SPACE_GLOBAL || where->space == WS_SPACE_LOCAL)
		section.address = where->start;
	enum ws_status st = wsi_section_begin(writer, &section, err);
	if (st != WS_OK)
		return st;
	writer->in_memory = true;
	writer->memory = section;
	if (section.parent) { /* need not stay until the end */
		writer->memory_parent = *section.parent;
		writer->memory.parent = &writer->memory_parent;
	}
	return WS_OK;
}

static enum ws_status memory_check(const struct ws_writer *writer, struct ws_error *err)
{
	return writer->in_memory
		       ? WS_OK
		       : wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no stretch of memory was begun");
}

enum ws_status ws_writer_memory_append(struct ws_writer *writer, const void *bytes, size_t len,
				       struct ws_error *err)
{
	enum ws_status st = memory_check(writer, err);
	return st == WS_OK ? wsi_section_append(writer, bytes, len, err) : st;
}

enum ws_status ws_writer_memory_end(struct ws_writer *writer, struct ws_error *err)
{
	enum ws_status st = memory_check(writer, err);
	writer->in_memory = false;
	return st == WS_OK ? wsi_section_end(writer, &writer->memory, err) : st;
}
