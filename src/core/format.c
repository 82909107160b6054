/* SPDX-License-Identifier: Apache-2.0 */
#include "core/format.h"

#define F(r, field, offset, TYPE, since, have) { offset, (offset) + WSI_BYTES_##TYPE, since, have },
#define X(record, RECORD, type, kind, base, max_rows, n_slots) \
	static const struct wsi_field record##_fields[] = { WSI_##RECORD##_ROW(F, record) };
WSI_RECORD_LIST(X)
#undef X
#undef F

const struct wsi_kind_info wsi_kind_infos[WSI_N_KINDS] = {
#define X(number, NAME, words_, prefix_, parent_, slot_, since_)                                 \
	[number].words = words_, [number].prefix = ".cudbg." prefix_, [number].parent = parent_, \
	[number].slot = slot_, [number].since = since_,
	WSI_KIND_LIST(X)
#undef X
#define X(record, RECORD, type, kind, base, max_rows_, n_slots_)                          \
	[kind].base_bytes = base, [kind].max_rows = max_rows_, [kind].n_slots = n_slots_, \
	[kind].fields = record##_fields, [kind].n_fields = WSI_COUNT(record##_fields),
		WSI_RECORD_LIST(X)
#undef X
};
