/* SPDX-License-Identifier: Apache-2.0 */
#include "target/dump/format.h"

#include <warpscope/core.h>

#define F(r, field, offset, TYPE, since, have) { offset, (offset) + WSI_BYTES_##TYPE, since, have },
#define X(record, RECORD, type, kind, base, max_rows, n_slots, label, id, id_bytes) \
	static const struct wsi_field record##_fields[] = { WSI_##RECORD##_ROW(F, record) };
WSI_RECORD_LIST(X)
#undef X
#undef F

const struct wsi_kind_info wsi_kind_infos[WSI_N_KINDS] = {
#define X(number, NAME, words_, prefix_, parent_, slot_, since_, HIDES)                          \
	[number].words = words_, [number].prefix = ".cudbg." prefix_, [number].parent = parent_, \
	[number].slot = slot_, [number].since = since_, [number].hides = WS_HIDES_##HIDES,
	WSI_KIND_LIST(X)
#undef X
#define X(record, RECORD, type, kind, base, max_rows_, n_slots_, label_, id, id_bytes_)            \
	[kind].base_bytes = base, [kind].max_rows = max_rows_, [kind].n_slots = n_slots_,          \
	[kind].label = label_, [kind].id_at = WSI_AT_##record##_##id, [kind].id_bytes = id_bytes_, \
	[kind].fields = record##_fields, [kind].n_fields = WSI_COUNT(record##_fields),
		WSI_RECORD_LIST(X)
#undef X
};

/* ---- members of structures ---- */

/* typedef struct ws_lane row_lane: what the macros of rows name by the record. */
#define X(record, RECORD, type, kind, base, max_rows, n_slots, label, id, id_bytes) \
	typedef type row_##record;
WSI_RECORD_LIST(X)
#undef X

#define MEMBER(r, field, have, TYPE) { #field, offsetof(row_##r, field), WS_FIELD_##TYPE, have },
#define MEMBER_U32(r, field, have) MEMBER(r, field, have, U32)
#define MEMBER_U64(r, field, have) MEMBER(r, field, have, U64)
#define MEMBER_I64(r, field, have) MEMBER(r, field, have, I64)
#define MEMBER_FLAG(r, field, have) MEMBER(r, field, have, FLAG)
#define MEMBER_EXCEPTION(r, field, have) MEMBER(r, field, have, U32)
#define MEMBER_DIM3(r, field, have) MEMBER(r, field, have, DIM3)
#define MEMBER_TEXT(r, field, have) MEMBER(r, field, have, TEXT)
#define MEMBER_OWNER(r, field, have) /* the table says it */
#define F(r, field, offset, TYPE, since, have) MEMBER_##TYPE(r, field, have)
#define X(record, RECORD, type, kind, base, max_rows, n_slots, label, id, id_bytes) \
	static const struct ws_field record##_members[] = { WSI_##RECORD##_ROW(F, record) };
WSI_RECORD_LIST(X)
#undef X
#undef F

const struct ws_field *wsi_row_fields(enum ws_row row, size_t *ret_n)
{
	static const struct {
		const struct ws_field *fields;
		size_t n;
	} rows[] = { /* in the order of enum ws_row */
#define X(record, RECORD, type, kind, base, max_rows, n_slots, label, id, id_bytes) \
	{ record##_members, WSI_COUNT(record##_members) },
		     WSI_RECORD_LIST(X)
#undef X
	};
	static_assert(WSI_COUNT(rows) == WS_N_ROWS, "a kind of row for each record");
	*ret_n = (unsigned)row < WS_N_ROWS ? rows[row].n : 0;
	return *ret_n ? rows[row].fields : NULL;
}

uint32_t wsi_row_have(enum ws_row row, const void *structure)
{
	const struct ws_dump_facts *facts = structure;
	switch (row) {
	case WS_ROW_DEVICE:
	case WS_ROW_GRID:
	case WS_ROW_SM:
	case WS_ROW_BLOCK:
	case WS_ROW_WARP:
	case WS_ROW_LANE:
		return *(const uint32_t *)structure; /* `have` is the first member */
	case WS_ROW_METADATA:
		return (facts->have_flags ? WSI_META_FLAGS : 0u) |
		       (facts->have_time ? WSI_META_TIME : 0u);
	case WS_ROW_CONTEXT:
	case WS_ROW_MODULE:
	case WS_ROW_BANK:
	case WS_ROW_FRAME:
	case WS_N_ROWS:
		break;
	}
	return 0;
}

/* ---- strides ---- */

/* Every row known is padded to 8 bytes. */
static uint16_t padded_to_8(uint16_t end)
{
	return (uint16_t)((end + 7) & ~7);
}

uint32_t wsi_row_bytes(enum wsi_kind kind, uint32_t driver)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	uint16_t end = 0;
	for (size_t i = 0; i < info->n_fields; i++) {
		if (info->fields[i].since <= driver)
			end = info->fields[i].end;
	}
	return padded_to_8(end);
}

size_t wsi_kind_strides(enum wsi_kind kind, struct wsi_stride ret_strides[WSI_MAX_STRIDES])
{
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	size_t n = 0;
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct wsi_field *field = &info->fields[i];
		bool last = i + 1 == info->n_fields;
		uint16_t padded = padded_to_8(field->end);
		bool ends = last || field[1].since != field->since;
		if (last && field->end != padded)
			ret_strides[n++] = (struct wsi_stride){ field->end, field->since };
		if (ends || (field->end == info->base_bytes && field->end == padded))
			ret_strides[n++] = (struct wsi_stride){ padded, field->since };
	}
	return n;
}

uint32_t wsi_skip_of(enum ws_space space)
{
	static const uint32_t skips[] = {
		[WS_SPACE_GLOBAL] = WS_WRITE_SKIP_GLOBAL, [WS_SPACE_SHARED] = WS_WRITE_SKIP_SHARED,
		[WS_SPACE_LOCAL] = WS_WRITE_SKIP_LOCAL,   [WS_SPACE_CONST] = WS_WRITE_SKIP_BANKS,
		[WS_SPACE_PARAM] = WS_WRITE_SKIP_BANKS,
	};
	return (unsigned)space < WSI_COUNT(skips) ? skips[space] : 0;
}

/* [public doc: CUDA driver API 13.3, CUCoredumpGenerationFlags] */
const char *ws_dump_flag_text(uint32_t flag)
{
	static const char *const words[] = {
		"skip_nonrelocated_elf_images",
		"skip_global_memory",
		"skip_shared_memory",
		"skip_local_memory",
		"skip_abort",
		"skip_constbank_memory",
		"gzip_compress",
		"faulted_contexts_only",
		[30] = "no_errbar_at_exit",
		[31] = "log_only",
	};
	return flag ? words[wsi_first_bit(flag)] : NULL;
}
