/* SPDX-License-Identifier: Apache-2.0 */
#include "dump/format.h"

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
