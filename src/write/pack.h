/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers into bytes, and how long rows are: core/format.h has their fields.
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
		if (info->fields[i].since <= driver)
			end = info->fields[i].end;
	}
	return (end + 7) & ~7u; /* every row known is padded to 8 bytes */
}

#endif
