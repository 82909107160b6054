/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes into the sections: rows of tables, registers, images, memory.
 *
 * A field that the caller's rows do not have is not made up: the table then has rows that end
 * before it. So a row has at most the bytes that the layout gives it, and at most those before the
 * first missing field.
 */
#include <warpscope/core.h>

#include "target/dump/format.h"
#include "write/writer.h"

/* ---- rows: state.h -> bytes ---- */

/* What is written of a row: fields that end within `n` zeroed bytes. `owner` is the id of the
 * device. Flags of a `damaged` row, which holds values that cannot be, stay such: a reader is to
 * doubt the row again. */
struct table_packing {
	struct ws_writer *writer;
	uint8_t *to;
	uint32_t n, owner;
	bool damaged;
	struct ws_error *err;
};

#define PACK_U32(field, at) wsi_store_u32(p->to + (at), row->field)
#define PACK_U64(field, at) wsi_store_u64(p->to + (at), row->field)
#define PACK_I64(field, at) wsi_store_u64(p->to + (at), (uint64_t)row->field)
#define PACK_FLAG(field, at) wsi_store_u32(p->to + (at), row->field ? 1u + p->damaged : 0)
#define PACK_EXCEPTION(field, at) PACK_U32(field, at)
#define PACK_DIM3(field, at) \
	(PACK_U32(field.x, at), PACK_U32(field.y, (at) + 4), PACK_U32(field.z, (at) + 8))
#define PACK_TEXT(field, at)                                                            \
	(st = st == WS_OK ? wsi_writer_text(p->writer, row->field, &text, p->err) : st, \
	 wsi_store_u64(p->to + (at), text))
#define PACK_OWNER(field, at) wsi_store_u32(p->to + (at), p->owner)
#define PACK(r, field, offset, TYPE, since, have) \
	if ((offset) + WSI_BYTES_##TYPE <= p->n)  \
		PACK_##TYPE(field, offset);
#define DEFINE_PACK(record, RECORD, type)                                                   \
	static enum ws_status record##_pack(const struct table_packing *p, const type *row) \
	{                                                                                   \
		enum ws_status st = WS_OK;                                                  \
		uint64_t text = 0;                                                          \
		(void)text;                                                                 \
		WSI_##RECORD##_ROW(PACK, record) return st;                                 \
	}                                                                                   \
	struct wsi_swallow_semicolon
#define X(record, RECORD, type, kind, base, max_rows, n_slots, label, id, id_bytes) \
	DEFINE_PACK(record, RECORD, type);
WSI_RECORD_LIST(X)
#undef X

/* Bytes of the rows of a table: no more than the layout has, and none from the first field on that
 * the caller does not have. What the first driver wrote has to be there, if only as 0. */
static uint32_t table_stride_of(const struct ws_writer *writer, enum wsi_kind kind, uint32_t have)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	uint32_t stride = writer->row_bytes[kind];
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct wsi_field *field = &info->fields[i];
		if ((field->have & have) != field->have && field->offset >= info->base_bytes)
			stride = (uint32_t)wsi_min_u64(stride, field->offset);
	}
	return stride;
}

/* ---- tables ---- */

/* static enum ws_status lane_table(writer, parent, at, owner, rows, n, ret_table, err): `had` is
 * what rows[i] has, `doubted` whether it is damaged. */
#define DEFINE_TABLE(record, KIND, type, had, doubted)                                          \
	static enum ws_status record##_table(                                                   \
		struct ws_writer *writer, const struct ws_write_table *parent, uint32_t at,     \
		uint32_t owner, const type *rows, uint32_t n, struct ws_write_table *ret_table, \
		struct ws_error *err)                                                           \
	{                                                                                       \
		uint32_t have = UINT32_MAX;                                                     \
		for (uint32_t i = 0; i < n; i++)                                                \
			have &= (had);                                                          \
		uint32_t stride = table_stride_of(writer, KIND, have);                          \
		struct wsi_section section = { KIND, parent, at, 0, stride };                   \
		struct table_packing p = { writer, NULL, stride, owner, false, err };           \
		enum ws_status st = wsi_write_section_begin(writer, &section, err);             \
		for (uint32_t i = 0; i < n && st == WS_OK; i++) {                               \
			p.damaged = (doubted);                                                  \
			st = wsi_write_section_row(writer, stride, &p.to, err);                 \
			if (st == WS_OK)                                                        \
				st = record##_pack(&p, &rows[i]);                               \
		}                                                                               \
		if (st == WS_OK)                                                                \
			st = wsi_write_section_end(writer, &section, err);                      \
		if (st == WS_OK)                                                                \
			wsi_write_section_as_table(writer, &section, n, ret_table);             \
		return st;                                                                      \
	}

DEFINE_TABLE(device, WSI_KIND_DEVICE, struct ws_device, rows[i].have, false)
DEFINE_TABLE(context, WSI_KIND_CONTEXT, struct ws_context, UINT32_MAX, false)
DEFINE_TABLE(module, WSI_KIND_MODULE, struct ws_module, UINT32_MAX, false)
DEFINE_TABLE(grid, WSI_KIND_GRID, struct ws_grid, rows[i].have, false)
DEFINE_TABLE(sm, WSI_KIND_SM, struct ws_sm, rows[i].have, rows[i].damaged)
DEFINE_TABLE(block, WSI_KIND_BLOCK, struct ws_block, rows[i].have, false)
DEFINE_TABLE(warp, WSI_KIND_WARP, struct ws_warp, rows[i].have, rows[i].damaged)
DEFINE_TABLE(lane, WSI_KIND_LANE, struct ws_lane, rows[i].have, rows[i].damaged)
DEFINE_TABLE(frame, WSI_KIND_FRAMES, struct ws_return_address, UINT32_MAX, false)
DEFINE_TABLE(bank, WSI_KIND_BANK, struct ws_bank, UINT32_MAX, false)
DEFINE_TABLE(meta, WSI_KIND_META, struct ws_dump_facts, wsi_row_have(WS_ROW_METADATA, &rows[i]),
	     false)

/* ws_writer_lanes(): below a row of another table. */
#define DEFINE_WRITER(record, type)                                                         \
	enum ws_status ws_writer_##record##s(                                               \
		struct ws_writer *writer, const struct ws_write_table *parent, uint32_t at, \
		const type *rows, uint32_t n, struct ws_write_table *ret_table,             \
		struct ws_error *err)                                                       \
	{                                                                                   \
		return record##_table(writer, parent, at, 0, rows, n, ret_table, err);      \
	}

DEFINE_WRITER(module, struct ws_module)
DEFINE_WRITER(grid, struct ws_grid)
DEFINE_WRITER(sm, struct ws_sm)
DEFINE_WRITER(block, struct ws_block)
DEFINE_WRITER(warp, struct ws_warp)
DEFINE_WRITER(lane, struct ws_lane)

enum ws_status ws_writer_devices(struct ws_writer *writer, const struct ws_device *rows, uint32_t n,
				 struct ws_write_table *ret_table, struct ws_error *err)
{
	return device_table(writer, NULL, 0, 0, rows, n, ret_table, err);
}

enum ws_status ws_writer_contexts(struct ws_writer *writer, const struct ws_write_table *devices,
				  uint32_t row, uint32_t device_id, const struct ws_context *rows,
				  uint32_t n, struct ws_write_table *ret_table,
				  struct ws_error *err)
{
	return context_table(writer, devices, row, device_id, rows, n, ret_table, err);
}

enum ws_status ws_writer_frames(struct ws_writer *writer, const struct ws_write_table *lanes,
				uint32_t row, const struct ws_return_address *rows, uint32_t n,
				struct ws_error *err)
{
	return frame_table(writer, lanes, row, 0, rows, n, NULL, err);
}

enum ws_status ws_writer_banks(struct ws_writer *writer, const struct ws_write_table *grids,
			       uint32_t row, const struct ws_bank *rows, uint32_t n,
			       struct ws_error *err)
{
	return bank_table(writer, grids, row, 0, rows, n, NULL, err);
}

enum ws_status ws_writer_metadata(struct ws_writer *writer, const struct ws_dump_facts *facts,
				  struct ws_error *err)
{
	return meta_table(writer, NULL, 0, 0, facts, 1, NULL, err);
}

/* ---- everything else ---- */

enum ws_status ws_writer_image(struct ws_writer *writer, const struct ws_write_table *modules,
			       uint32_t row, bool relocated, struct ws_span bytes,
			       struct ws_error *err)
{
	struct wsi_section section = { relocated ? WSI_KIND_RELOCATED : WSI_KIND_IMAGE, modules,
				       row, 0, 0 };
	return wsi_write_section_write(writer, &section, bytes.ptr, bytes.len, err);
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
	return wsi_write_section_write(writer, &section, values, (size_t)n * 4, err);
#else
	enum ws_status st = wsi_write_section_begin(writer, &section, err);
	for (uint32_t i = 0; i < n && st == WS_OK; i++) {
		uint8_t bytes[4];
		wsi_store_u32(bytes, values[i]);
		st = wsi_write_section_append(writer, bytes, sizeof bytes, err);
	}
	return st == WS_OK ? wsi_write_section_end(writer, &section, err) : st;
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
	enum ws_status st = wsi_write_section_begin(writer, &section, err);
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
		       : wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no range of memory was begun");
}

enum ws_status ws_writer_memory_append(struct ws_writer *writer, const void *bytes, size_t len,
				       struct ws_error *err)
{
	enum ws_status st = memory_check(writer, err);
	return st == WS_OK ? wsi_write_section_append(writer, bytes, len, err) : st;
}

enum ws_status ws_writer_memory_end(struct ws_writer *writer, struct ws_error *err)
{
	enum ws_status st = memory_check(writer, err);
	writer->in_memory = false;
	return st == WS_OK ? wsi_write_section_end(writer, &writer->memory, err) : st;
}
