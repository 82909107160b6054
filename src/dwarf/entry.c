/* SPDX-License-Identifier: Apache-2.0 */
/* One entry after the other: abbreviation, attributes, children. */
#include "dwarf/dwarf.h"

#include "base/form.h"

enum { OP_PLUS_UCONST = 0x23 };

/* ---- walks ---- */

/* The unit that an offset lies in, or NULL. */
const struct wsi_dwarf_unit *wsi_dwarf_unit_of(const struct ws_dwarf *dwarf, uint64_t off)
{
	size_t low = WSI_BISECT(i, 0, dwarf->n_units, dwarf->units[i].start <= off);
	const struct wsi_dwarf_unit *unit = low > 0 ? &dwarf->units[low - 1] : NULL;
	return unit && off - unit->start >= unit->header_bytes && off < unit->end ? unit : NULL;
}

static bool walk_stop(struct wsi_dwarf_walk *walk, enum ws_status status, const char *what,
		      uint64_t number)
{
	if (walk->status == WS_OK) {
		walk->status = status;
		walk->what = what;
		walk->number = number;
	}
	return false;
}

/* Where the reader failed: at the end of the unit, or at that of what is looked at. */
static bool walk_cut(struct wsi_dwarf_walk *walk)
{
	return walk->whole ? walk_stop(walk, WS_TRUNCATED, "an entry is cut off", 0)
			   : walk_stop(walk, WS_LIMIT, "an entry is too long", 0);
}

enum ws_status wsi_dwarf_walk_fail(const struct wsi_dwarf_walk *walk, struct ws_error *err)
{
	assert(walk->status != WS_OK);
	uint64_t off = walk->r.in.origin + (walk->r.failed ? walk->r.fail_pos : walk->r.pos);
	if (walk->number)
		return wsi_fail(err, walk->status, off, "debug information: %s 0x%" PRIx64,
				walk->what, walk->number);
	return wsi_fail(err, walk->status, off, "debug information: %s", walk->what);
}

bool wsi_dwarf_next(struct wsi_dwarf_walk *walk, struct wsi_dwarf_entry *ret_entry)
{
	struct wsi_reader *r = &walk->r;
	if (walk->status != WS_OK)
		return false;
	if (wsi_reader_left(r) == 0)
		return walk->whole ? false : walk_cut(walk);
	struct wsi_dwarf_entry entry = { .off = walk->base + r->pos };
	uint64_t code = wsi_read_uleb(r);
	if (r->failed)
		return walk_cut(walk);
	if (code != 0) {
		entry.abbrev = wsi_abbrev_find(walk->dwarf, walk->unit->table, code);
		if (!entry.abbrev)
			return walk_stop(walk, WS_MALFORMED, "no abbreviation", code);
	}
	*ret_entry = entry;
	return true;
}

/* ---- values ---- */

struct entry_value {
	enum { VALUE_OTHER, VALUE_NUMBER, VALUE_TEXT, VALUE_BLOCK } kind;
	bool is_address;
	uint64_t number;
	struct wsi_dwarf_text text;
	struct ws_span block;
};

static bool dwarf_number(struct entry_value *value, uint64_t n)
{
	value->kind = VALUE_NUMBER;
	value->number = n;
	return true;
}

static bool block(struct wsi_dwarf_walk *walk, struct entry_value *value, uint64_t len)
{
	value->kind = VALUE_BLOCK;
	value->block = wsi_read_span(&walk->r, len);
	return true;
}

static bool text(struct entry_value *value, struct wsi_dwarf_text at)
{
	value->kind = VALUE_TEXT;
	value->text = at;
	return true;
}

/* False: a form that is not known, so that what follows cannot be found. */
static bool form_read(struct wsi_dwarf_walk *walk, uint16_t form, struct entry_value *value)
{
	const struct wsi_dwarf_unit *unit = walk->unit;
	struct wsi_reader *r = &walk->r;
	value->kind = VALUE_OTHER;
	value->is_address = form == WSI_FORM_ADDR;
	switch (form) {
	case WSI_FORM_STRING:
		return text(value, (struct wsi_dwarf_text){ .text = wsi_read_cstr(r) });
	case WSI_FORM_STRP:
		return text(value, (struct wsi_dwarf_text){
					   .str_off = wsi_read_uint(r, unit->offset_bytes),
					   .in_str = true });
	case WSI_FORM_DATA1:
	case WSI_FORM_FLAG:
		return dwarf_number(value, wsi_read_u8(r));
	case WSI_FORM_DATA2:
		return dwarf_number(value, wsi_read_u16(r));
	case WSI_FORM_DATA4:
		return dwarf_number(value, wsi_read_u32(r));
	case WSI_FORM_DATA8:
		return dwarf_number(value, wsi_read_u64(r));
	case WSI_FORM_SDATA:
		return dwarf_number(value, (uint64_t)wsi_read_sleb(r));
	case WSI_FORM_UDATA:
		return dwarf_number(value, wsi_read_uleb(r));
	case WSI_FORM_FLAG_PRESENT:
		return dwarf_number(value, 1);
	case WSI_FORM_REF1:
		return dwarf_number(value, wsi_add_sat(unit->start, wsi_read_u8(r)));
	case WSI_FORM_REF2:
		return dwarf_number(value, wsi_add_sat(unit->start, wsi_read_u16(r)));
	case WSI_FORM_REF4:
		return dwarf_number(value, wsi_add_sat(unit->start, wsi_read_u32(r)));
	case WSI_FORM_REF8:
		return dwarf_number(value, wsi_add_sat(unit->start, wsi_read_u64(r)));
	case WSI_FORM_REF_UDATA:
		return dwarf_number(value, wsi_add_sat(unit->start, wsi_read_uleb(r)));
	case WSI_FORM_REF_ADDR: /* of the size of an address in version 2 */
		return dwarf_number(value,
				    wsi_read_uint(r, unit->version == 2 ? unit->address_bytes
									: unit->offset_bytes));
	case WSI_FORM_SEC_OFFSET:
		return dwarf_number(value, wsi_read_uint(r, unit->offset_bytes));
	case WSI_FORM_ADDR:
		return dwarf_number(value, wsi_read_uint(r, unit->address_bytes));
	case WSI_FORM_BLOCK1:
		return block(walk, value, wsi_read_u8(r));
	case WSI_FORM_BLOCK2:
		return block(walk, value, wsi_read_u16(r));
	case WSI_FORM_BLOCK4:
		return block(walk, value, wsi_read_u32(r));
	case WSI_FORM_BLOCK:
	case WSI_FORM_EXPRLOC:
		return block(walk, value, wsi_read_uleb(r));
	case WSI_FORM_REF_SIG8:
		wsi_reader_skip(r, 8);
		return true;
	default:
		return walk_stop(walk, WS_UNSUPPORTED, "unknown form", form);
	}
}

static bool dwarf_value_read(struct wsi_dwarf_walk *walk, uint16_t form, struct entry_value *value)
{
	if (!form_read(walk, form, value))
		return false;
	return walk->r.failed ? walk_cut(walk) : true;
}

bool wsi_dwarf_skip(struct wsi_dwarf_walk *walk, const struct wsi_dwarf_entry *entry)
{
	const struct wsi_dwarf_spec *specs = walk->dwarf->specs;
	for (uint32_t i = 0; entry->abbrev && i < entry->abbrev->n_specs; i++) {
		struct entry_value value;
		if (!dwarf_value_read(walk, specs[entry->abbrev->first_spec + i].form, &value))
			return false;
	}
	return true;
}

bool wsi_dwarf_values(struct wsi_dwarf_walk *walk, const struct wsi_dwarf_entry *entry,
		      wsi_dwarf_written_fn *take, void *user)
{
	const struct wsi_dwarf_spec *specs = walk->dwarf->specs;
	for (uint32_t i = 0; entry->abbrev && i < entry->abbrev->n_specs; i++) {
		const struct wsi_dwarf_spec *spec = &specs[entry->abbrev->first_spec + i];
		struct entry_value value = { 0 };
		size_t start = walk->r.pos;
		if (!dwarf_value_read(walk, spec->form, &value))
			return false;
		struct wsi_dwarf_written written = {
			.tag = entry->abbrev->tag,
			.attribute = spec->attribute,
			.form = spec->form,
			.is_text = value.kind == VALUE_TEXT,
			.in_str = value.text.in_str,
			.str_off = value.text.str_off,
		};
		(void)ws_span_sub(walk->r.in, start, walk->r.pos - start, &written.bytes);
		if (value.kind == VALUE_BLOCK)
			written.block = value.block;
		take(user, &written);
	}
	return true;
}

/* ---- attributes ---- */

static void take_attr_number(struct wsi_dwarf_attrs *attrs, uint64_t *field, unsigned has,
			     const struct entry_value *value)
{
	if (value->kind != VALUE_NUMBER)
		return;
	*field = value->number;
	attrs->has |= has;
}

static void take_flag(struct wsi_dwarf_attrs *attrs, unsigned has, const struct entry_value *value)
{
	if (value->kind == VALUE_NUMBER && value->number)
		attrs->has |= has;
}

/* A number, or DW_OP_plus_uconst with one; what has to be computed is told apart. */
static void take_place(struct wsi_dwarf_attrs *attrs, const struct entry_value *value)
{
	take_attr_number(attrs, &attrs->place, WSI_HAS_PLACE, value);
	if (value->kind != VALUE_BLOCK)
		return;
	struct wsi_reader r = wsi_reader_of(value->block);
	bool added = wsi_read_u8(&r) == OP_PLUS_UCONST;
	uint64_t place = wsi_read_uleb(&r);
	if (added && !r.failed && wsi_reader_left(&r) == 0) {
		attrs->place = place;
		attrs->has |= WSI_HAS_PLACE;
	} else {
		attrs->has |= WSI_HAS_OTHER_PLACE;
	}
}

static void attr_take(struct wsi_dwarf_attrs *attrs, uint16_t attribute,
		      const struct entry_value *value)
{
	switch (attribute) {
	case DW_AT_name:
		attrs->name = value->kind == VALUE_TEXT ? value->text : attrs->name;
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		attrs->linkage = value->kind == VALUE_TEXT ? value->text : attrs->linkage;
		break;
	case DW_AT_comp_dir:
		attrs->dir = value->kind == VALUE_TEXT ? value->text : attrs->dir;
		break;
	case DW_AT_language:
		take_attr_number(attrs, &attrs->language, 0, value);
		break;
	case DW_AT_type:
		take_attr_number(attrs, &attrs->type, WSI_HAS_TYPE, value);
		break;
	case DW_AT_byte_size:
		take_attr_number(attrs, &attrs->size, WSI_HAS_SIZE, value);
		break;
	case DW_AT_low_pc:
		take_attr_number(attrs, &attrs->low_pc, WSI_HAS_CODE, value);
		break;
	case DW_AT_high_pc:
		take_attr_number(attrs, &attrs->high_pc,
				 WSI_HAS_END | (value->is_address ? 0 : WSI_END_IS_SIZE), value);
		break;
	case DW_AT_stmt_list:
		take_attr_number(attrs, &attrs->lines_off, WSI_HAS_LINES, value);
		break;
	case DW_AT_call_file:
		take_attr_number(attrs, &attrs->call_file, 0, value);
		break;
	case DW_AT_call_line:
		take_attr_number(attrs, &attrs->call_line, 0, value);
		break;
	case DW_AT_call_column:
		take_attr_number(attrs, &attrs->call_column, 0, value);
		break;
	case DW_AT_decl_line:
		take_attr_number(attrs, &attrs->line, 0, value);
		break;
	case DW_AT_location:
		take_attr_number(attrs, &attrs->location_off, WSI_HAS_LIST, value);
		if (value->kind == VALUE_BLOCK) {
			attrs->location = value->block;
			attrs->has |= WSI_HAS_EXPRESSION;
		}
		break;
	case DW_AT_count:
		take_attr_number(attrs, &attrs->count, WSI_HAS_COUNT, value);
		break;
	case DW_AT_upper_bound:
		take_attr_number(attrs, &attrs->upper, WSI_HAS_UPPER, value);
		break;
	case DW_AT_const_value:
		take_attr_number(attrs, &attrs->value, WSI_HAS_VALUE, value);
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		take_attr_number(attrs, &attrs->origin, WSI_HAS_ORIGIN, value);
		break;
	case DW_AT_containing_type:
		take_attr_number(attrs, &attrs->containing, 0, value);
		break;
	case DW_AT_data_member_location:
		take_place(attrs, value);
		break;
	case DW_AT_bit_size:
		take_attr_number(attrs, &attrs->bit_size, 0, value);
		break;
	case DW_AT_bit_offset:
		take_attr_number(attrs, &attrs->bit_offset, WSI_HAS_BIT_OFFSET, value);
		break;
	case DW_AT_data_bit_offset:
		take_attr_number(attrs, &attrs->data_bit_offset, WSI_HAS_DATA_BIT_OFFSET, value);
		break;
	case DW_AT_encoding:
		take_attr_number(attrs, &attrs->encoding, 0, value);
		break;
	case DW_AT_address_class:
		take_attr_number(attrs, &attrs->address_class, 0, value);
		break;
	case DW_AT_declaration:
		take_flag(attrs, WSI_IS_STATIC | WSI_IS_DECLARATION, value);
		break;
	case DW_AT_external:
		take_flag(attrs, WSI_IS_STATIC, value);
		break;
	default:
		break;
	}
}

bool wsi_dwarf_attrs(struct wsi_dwarf_walk *walk, const struct wsi_dwarf_entry *entry,
		     struct wsi_dwarf_attrs *ret_attrs)
{
	const struct wsi_dwarf_spec *specs = walk->dwarf->specs;
	*ret_attrs = (struct wsi_dwarf_attrs){ 0 };
	for (uint32_t i = 0; entry->abbrev && i < entry->abbrev->n_specs; i++) {
		const struct wsi_dwarf_spec *spec = &specs[entry->abbrev->first_spec + i];
		struct entry_value value;
		if (!dwarf_value_read(walk, spec->form, &value))
			return false;
		attr_take(ret_attrs, spec->attribute, &value);
	}
	return true;
}

bool wsi_dwarf_range(const struct wsi_dwarf_attrs *attrs, uint64_t *ret_low, uint64_t *ret_high)
{
	if (!(attrs->has & WSI_HAS_CODE) || !(attrs->has & WSI_HAS_END))
		return false;
	*ret_low = attrs->low_pc;
	*ret_high = attrs->has & WSI_END_IS_SIZE ? wsi_add_sat(attrs->low_pc, attrs->high_pc)
						 : attrs->high_pc;
	return true;
}

struct ws_str wsi_dwarf_text(const struct ws_dwarf *dwarf, const struct wsi_dwarf_text *text,
			     uint64_t max)
{
	struct ws_span str = dwarf->input.str, rest;
	struct ws_str name;
	if (!text->in_str)
		return text->text;
	if (text->str_off >= str.len ||
	    !ws_span_sub(str, text->str_off, wsi_min_u64(str.len - text->str_off, max), &rest) ||
	    !wsi_span_cstr(rest, 0, &name))
		return (struct ws_str){ NULL, 0 };
	return name;
}

/* ---- one entry ---- */

enum { ENTRY_COST = 64, CHILD_COST = 8 }; /* what reading one costs at least, in bytes */

static void look_pay(struct wsi_dwarf_at *at, uint64_t at_least)
{
	uint64_t cost = wsi_max_u64(at->walk.r.pos - at->counted, at_least);
	at->look->left -= wsi_min_u64(at->look->left, cost);
	at->counted = at->walk.r.pos;
}

struct ws_str wsi_dwarf_name(struct wsi_dwarf_look *look, const struct wsi_dwarf_text *text)
{
	uint64_t max = wsi_min_u64(look->left, WSI_DWARF_NAME_MAX);
	struct ws_str name = wsi_dwarf_text(look->dwarf, text, max);
	if (text->in_str)
		look->left -= name.len ? name.len : max;
	return name;
}

enum ws_status wsi_dwarf_entry_at(struct wsi_dwarf_look *look, uint64_t off,
				  struct wsi_dwarf_at *ret_at, struct ws_error *err)
{
	const struct ws_dwarf *dwarf = look->dwarf;
	struct wsi_dwarf_at at = {
		.look = look,
		.walk = { .dwarf = dwarf, .unit = wsi_dwarf_unit_of(dwarf, off), .base = off },
	};
	struct ws_span bytes = { 0 };
	if (!at.walk.unit)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"no unit of the debug information has offset 0x%" PRIx64, off);
	uint64_t rest = at.walk.unit->end - off;
	at.walk.whole = rest <= look->left;
	(void)ws_span_sub(dwarf->input.info, off, wsi_min_u64(rest, look->left), &bytes);
	at.walk.r = wsi_reader_of(bytes);
	if (!wsi_dwarf_next(&at.walk, &at.entry) ||
	    !wsi_dwarf_attrs(&at.walk, &at.entry, &at.attrs))
		return wsi_dwarf_walk_fail(&at.walk, err);
	if (!at.entry.abbrev)
		return wsi_fail(err, WS_MALFORMED, dwarf->input.info.origin + off,
				"debug information: a reference to the end of a list");
	look_pay(&at, ENTRY_COST);
	*ret_at = at;
	return WS_OK;
}

bool wsi_dwarf_child(struct wsi_dwarf_at *at, struct wsi_dwarf_entry *ret_entry,
		     struct wsi_dwarf_attrs *ret_attrs)
{
	struct wsi_dwarf_walk *walk = &at->walk;
	if (!at->entry.abbrev->has_children)
		return false;
	while (wsi_dwarf_next(walk, ret_entry)) {
		if (at->look->left == 0)
			return walk_stop(walk, WS_LIMIT, "too many entries", 0);
		look_pay(at, CHILD_COST);
		if (!ret_entry->abbrev) {
			if (at->depth == 0)
				return false;
			at->depth--;
			continue;
		}
		bool direct = at->depth == 0;
		if (!(direct ? wsi_dwarf_attrs(walk, ret_entry, ret_attrs)
			     : wsi_dwarf_skip(walk, ret_entry)))
			return false;
		at->depth += ret_entry->abbrev->has_children;
		if (direct)
			return true;
	}
	return walk_stop(walk, WS_TRUNCATED, "a list of entries is cut off", 0);
}
