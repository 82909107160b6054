/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows and ELF structures into bytes. How rows look is in core/format.h, the same table that the
 * reader is made from.
 */
#ifndef WSI_WRITE_PACK_H
#define WSI_WRITE_PACK_H

#include "core/format.h"

static inline void wsi_store_u16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
}

static inline void wsi_store_u32(uint8_t *p, uint32_t value)
{
	wsi_store_u16(p, (uint16_t)value);
	wsi_store_u16(p + 2, (uint16_t)(value >> 16));
}

static inline void wsi_store_u64(uint8_t *p, uint64_t value)
{
	wsi_store_u32(p, (uint32_t)value);
	wsi_store_u32(p + 4, (uint32_t)(value >> 32));
}

enum { WSI_MAX_ROW_BYTES = 256 };

/* Bytes of a row of a table as a driver branch writes it; 0: it has no such table yet. */
static inline uint32_t wsi_row_bytes(enum wsi_kind kind, uint32_t driver)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[kind];
	uint32_t end = 0;
	for (size_t i = 0; i < info->n_fields; i++) {
		const struct wsi_field *field = &info->fields[i];
		if (field->since <= driver)
			end = field->offset + field->bits / 8u;
	}
	return (end + 7) & ~7u; /* every row known is padded to 8 bytes */
}

/* wsi_lane_pack(): the fields that fit into `n` zeroed bytes. */
#define WSI_STORE(field, offset, bits, since) \
	if ((offset) + (bits) / 8 <= n)       \
		wsi_store_u##bits(to + (offset), row->field);
#define WSI_DEFINE_PACK(record, RECORD)                                              \
	static inline void wsi_##record##_pack(uint8_t *to, uint32_t n,              \
					       const struct wsi_##record##_row *row) \
	{                                                                            \
		WSI_##RECORD##_ROW(WSI_STORE)                                        \
	}                                                                            \
	struct wsi_swallow_semicolon
#define X(record, RECORD, kind, base, max_rows, n_slots) WSI_DEFINE_PACK(record, RECORD);
WSI_RECORD_LIST(X)
#undef X

#endif
