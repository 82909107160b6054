/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of abbreviations: what entries are made of. */
#include "dwarf/dwarf.h"

#include "base/form.h"

enum {
	MIN_ABBREV_BYTES = 5, /* code, tag, children, two zeros */
	MAX_EMPTY = 64,       /* attributes of one entry that take no bytes */
};

static int abbrev_code_order(const void *left, const void *right)
{
	const struct wsi_abbrev *a = left, *b = right;
	return WSI_ORDER_THEN(a->code, b->code, WSI_ORDER(a->first_spec, b->first_spec));
}

static enum ws_status specs_read(struct ws_dwarf *dwarf, struct wsi_reader *r,
				 struct wsi_abbrev *abbrev, struct ws_error *err)
{
	unsigned n_empty = 0;
	abbrev->first_spec = (uint32_t)dwarf->n_specs;
	for (;;) {
		uint64_t off = wsi_reader_off(r);
		uint64_t attribute = wsi_read_uleb(r), form = wsi_read_uleb(r);
		if (r->failed)
			return wsi_fail(err, WS_TRUNCATED, r->in.origin + r->fail_pos,
					"an abbreviation is cut off");
		if (attribute == 0 && form == 0)
			break;
		if (attribute > UINT16_MAX || form > UINT16_MAX)
			return wsi_fail(err, WS_MALFORMED, off,
					"an abbreviation has attribute 0x%" PRIx64
					" of form 0x%" PRIx64,
					attribute, form);
		n_empty += form == WSI_FORM_FLAG_PRESENT;
		if (n_empty > MAX_EMPTY)
			return wsi_fail(err, WS_LIMIT, off,
					"an abbreviation has too many attributes without bytes");
		if (dwarf->n_specs >= dwarf->input.abbrev.len / 2)
			return wsi_fail(err, WS_LIMIT, off, "tables of abbreviations overlap");
		if (!wsi_grow(&dwarf->specs, &dwarf->cap_specs, dwarf->n_specs,
			      sizeof *dwarf->specs, UINT32_MAX))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "abbreviations");
		dwarf->specs[dwarf->n_specs++] =
			(struct wsi_dwarf_spec){ (uint16_t)attribute, (uint16_t)form };
	}
	abbrev->n_specs = (uint32_t)dwarf->n_specs - abbrev->first_spec;
	return WS_OK;
}

static enum ws_status abbrev_table_read(struct ws_dwarf *dwarf, struct wsi_reader *r,
					struct ws_error *err)
{
	for (;;) {
		uint64_t off = wsi_reader_off(r);
		struct wsi_abbrev abbrev = { .code = wsi_read_uleb(r) };
		if (!r->failed && abbrev.code == 0)
			return WS_OK;
		uint64_t tag = wsi_read_uleb(r);
		abbrev.has_children = wsi_read_u8(r) != 0;
		if (r->failed)
			return wsi_fail(err, WS_TRUNCATED, r->in.origin + r->fail_pos,
					"a table of abbreviations is cut off");
		if (tag > UINT16_MAX)
			return wsi_fail(err, WS_MALFORMED, off,
					"an abbreviation has tag 0x%" PRIx64, tag);
		abbrev.tag = (uint16_t)tag;
		if (dwarf->n_abbrevs >= dwarf->input.abbrev.len / MIN_ABBREV_BYTES)
			return wsi_fail(err, WS_LIMIT, off, "tables of abbreviations overlap");
		enum ws_status st = specs_read(dwarf, r, &abbrev, err);
		if (st != WS_OK)
			return st;
		if (!wsi_grow(&dwarf->abbrevs, &dwarf->cap_abbrevs, dwarf->n_abbrevs,
			      sizeof *dwarf->abbrevs, UINT32_MAX))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "abbreviations");
		dwarf->abbrevs[dwarf->n_abbrevs++] = abbrev;
	}
}

enum ws_status wsi_abbrev_table_add(struct ws_dwarf *dwarf, uint64_t off, uint32_t *ret_table,
				    struct ws_error *err)
{
	struct ws_span abbrev = dwarf->input.abbrev, bytes;
	*ret_table = WSI_DWARF_NO_TABLE;
	if (!ws_span_sub(abbrev, off, abbrev.len - wsi_min_u64(off, abbrev.len), &bytes))
		return wsi_fail(err, WS_TRUNCATED, abbrev.origin + abbrev.len,
				"no abbreviations at offset 0x%" PRIx64, off);
	if (!wsi_grow(&dwarf->tables, &dwarf->cap_tables, dwarf->n_tables, sizeof *dwarf->tables,
		      UINT32_MAX))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "abbreviations");
	struct wsi_abbrev_table table = { .first = (uint32_t)dwarf->n_abbrevs, .dense = true };
	struct wsi_reader r = wsi_reader_of(bytes);
	enum ws_status st = abbrev_table_read(dwarf, &r, err);
	table.n = (uint32_t)dwarf->n_abbrevs - table.first;
	struct wsi_abbrev *first = table.n ? &dwarf->abbrevs[table.first] : NULL;
	for (uint32_t i = 0; i < table.n; i++)
		table.dense &= first[i].code == (uint64_t)i + 1;
	if (!table.dense)
		qsort(first, table.n, sizeof *first, abbrev_code_order);
	*ret_table = (uint32_t)dwarf->n_tables;
	dwarf->tables[dwarf->n_tables++] = table;
	return st;
}

const struct wsi_abbrev *wsi_abbrev_find(const struct ws_dwarf *dwarf, uint32_t table,
					 uint64_t code)
{
	if (table == WSI_DWARF_NO_TABLE || dwarf->tables[table].n == 0)
		return NULL;
	const struct wsi_abbrev_table *t = &dwarf->tables[table];
	const struct wsi_abbrev *first = &dwarf->abbrevs[t->first];
	if (t->dense)
		return code - 1 < t->n ? &first[code - 1] : NULL;
	uint32_t low = WSI_BISECT(i, (uint32_t)0, t->n, first[i].code < code);
	return low < t->n && first[low].code == code ? &first[low] : NULL;
}
