/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that is understood of the debug information, in the order of the file. */
#include "dwarf/dwarf.h"

#include "base/form.h"

/* Ends of what DWARF 5 and the vendors' ranges define [public doc: DWARF 5 section 7.5]. */
enum {
	LAST_TAG = 0x4b,
	FIRST_VENDOR_TAG = 0x4080,
	LAST_ATTRIBUTE = 0x8c,
	FIRST_VENDOR_ATTRIBUTE = 0x2000,
	LAST_VENDOR_ATTRIBUTE = 0x3fff,
};

static bool spec_is_known(uint64_t attribute, uint64_t form)
{
	return attribute <= LAST_VENDOR_ATTRIBUTE &&
	       (attribute <= LAST_ATTRIBUTE || attribute >= FIRST_VENDOR_ATTRIBUTE) &&
	       form <= WSI_FORM_REF_SIG8;
}

/* One declaration; false where it cannot be one. */
static bool declaration_read(struct wsi_reader *r)
{
	uint64_t attribute, form;
	bool known = true;
	wsi_read_uleb(r);
	uint64_t tag = wsi_read_uleb(r);
	uint8_t children = wsi_read_u8(r);
	do {
		attribute = wsi_read_uleb(r);
		form = wsi_read_uleb(r);
		known &= spec_is_known(attribute, form);
	} while (!r->failed && known && (attribute || form));
	return !r->failed && known && children <= 1 && (tag <= LAST_TAG || tag >= FIRST_VENDOR_TAG);
}

static void table_visit(const struct ws_dwarf *dwarf, const struct wsi_dwarf_unit *unit,
			const struct wsi_dwarf_visitor *visitor)
{
	struct ws_span abbrev = dwarf->input.abbrev, rest, bytes;
	if (!ws_span_sub(abbrev, unit->abbrev_off,
			 abbrev.len - wsi_min_u64(unit->abbrev_off, abbrev.len), &rest))
		return;
	struct wsi_reader r = wsi_reader_of(rest);
	for (uint32_t i = 0; i < dwarf->tables[unit->table].n; i++) {
		size_t start = r.pos;
		if (!declaration_read(&r) || !ws_span_sub(rest, start, r.pos - start, &bytes))
			return;
		visitor->keep(visitor->user, bytes);
	}
}

/* Relocation changes words, and not where they are. */
static struct ws_span written(const struct ws_dwarf *dwarf)
{
	return dwarf->input.written.len == dwarf->input.info.len ? dwarf->input.written
								 : dwarf->input.info;
}

static void unit_visit(const struct ws_dwarf *dwarf, const struct wsi_dwarf_unit *unit,
		       const struct wsi_dwarf_visitor *visitor)
{
	struct wsi_dwarf_walk walk = { .dwarf = dwarf,
				       .unit = unit,
				       .base = unit->start + unit->header_bytes,
				       .whole = true };
	struct wsi_dwarf_entry entry;
	struct ws_span bytes;
	if (ws_span_sub(written(dwarf), unit->start, unit->header_bytes, &bytes))
		visitor->keep(visitor->user, bytes);
	if (!ws_span_sub(written(dwarf), walk.base, unit->end - walk.base, &bytes))
		return;
	walk.r = wsi_reader_of(bytes);
	while (wsi_dwarf_next(&walk, &entry)) {
		uint64_t end = walk.base + walk.r.pos;
		if (ws_span_sub(written(dwarf), entry.off, end - entry.off, &bytes))
			visitor->keep(visitor->user, bytes);
		if (!wsi_dwarf_values(&walk, &entry, visitor->value, visitor->user))
			break;
	}
}

enum ws_status wsi_dwarf_visit(const struct ws_dwarf *dwarf,
			       const struct wsi_dwarf_visitor *visitor, struct ws_error *err)
{
	wsi_scoped_free bool *seen = wsi_zalloc(dwarf->n_tables + 1);
	if (!seen)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "debug information");
	for (size_t i = 0; i < dwarf->n_units; i++) {
		const struct wsi_dwarf_unit *unit = &dwarf->units[i];
		if (unit->table != WSI_DWARF_NO_TABLE && !seen[unit->table]) {
			seen[unit->table] = true;
			table_visit(dwarf, unit, visitor);
		}
		unit_visit(dwarf, unit, visitor);
	}
	return WS_OK;
}
