/* SPDX-License-Identifier: Apache-2.0 */
/* Which variables there are at an address, and of which unit something is. */
#include "dwarf/dwarf.h"

enum { MAX_BLOCKS = 128 /* within each other; an inlined function has one of its own */ };

/* A variable of a copy of a function says only which of the original it is. */
static void copied_variable_of(struct wsi_dwarf_look *look, const struct wsi_dwarf_entry *entry,
			       const struct wsi_dwarf_attrs *attrs,
			       struct ws_dwarf_variable *ret_variable)
{
	struct wsi_dwarf_at original;
	struct wsi_dwarf_attrs named = *attrs;
	if (attrs->has & WSI_HAS_ORIGIN && !(attrs->has & WSI_HAS_TYPE) &&
	    wsi_dwarf_entry_at(look, attrs->origin, &original, NULL) == WS_OK)
		named = original.attrs;
	*ret_variable = (struct ws_dwarf_variable){
		.name = wsi_dwarf_name(look, &named.name),
		.linkage = wsi_dwarf_name(look, &named.linkage),
		.info_off = entry->off,
		.type = named.type,
		.line = named.line,
		.address_class = (uint32_t)wsi_min_u64(attrs->address_class, UINT32_MAX),
		.is_param = entry->abbrev->tag == DW_TAG_formal_parameter,
		.has_value = attrs->has & WSI_HAS_VALUE,
		.value = (int64_t)attrs->value,
		.has_list = attrs->has & WSI_HAS_LIST,
		.location = attrs->location,
		.list_off = attrs->location_off,
	};
}

static bool is_variable(uint16_t tag)
{
	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

enum ws_status ws_dwarf_variable_at(const struct ws_dwarf *dwarf, uint64_t info_off,
				    struct ws_dwarf_variable *ret_variable, struct ws_error *err)
{
	struct wsi_dwarf_look look = wsi_dwarf_look(dwarf);
	struct wsi_dwarf_at at;
	enum ws_status st = wsi_dwarf_entry_at(&look, info_off, &at, err);
	if (st != WS_OK)
		return st;
	if (!is_variable(at.entry.abbrev->tag))
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the entry is not a variable");
	copied_variable_of(&look, &at.entry, &at.attrs, ret_variable);
	return WS_OK;
}

enum ws_status ws_dwarf_enumerator_value(const struct ws_dwarf *dwarf, uint64_t info_off,
					 int64_t *ret_value, struct ws_error *err)
{
	struct wsi_dwarf_look look = wsi_dwarf_look(dwarf);
	struct wsi_dwarf_at at;
	enum ws_status st = wsi_dwarf_entry_at(&look, info_off, &at, err);
	if (st != WS_OK)
		return st;
	if (at.entry.abbrev->tag != DW_TAG_enumerator || !(at.attrs.has & WSI_HAS_VALUE))
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the entry is not an enumerator");
	*ret_value = (int64_t)at.attrs.value;
	return WS_OK;
}

struct collector {
	struct wsi_dwarf_look look;
	uint64_t pc; /* as the addresses of the blocks */
	struct ws_dwarf_variable *out;
	size_t cap, n;
};

static bool holds(const struct wsi_dwarf_attrs *attrs, uint64_t pc)
{
	uint64_t low, high;
	return wsi_dwarf_range(attrs, &low, &high) && pc >= low && pc < high;
}

/* What is in a function or a block, then in the blocks within it. */
static enum ws_status collect_scope(struct collector *c, uint64_t off, uint32_t depth,
				    uint32_t n_calls, struct ws_error *err)
{
	struct wsi_dwarf_at at;
	struct wsi_dwarf_entry entry;
	struct wsi_dwarf_attrs attrs;
	if (depth > MAX_BLOCKS)
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET,
				"debug information: blocks within blocks, too deep");
	/* two passes, so that the order is that of the blocks; damage behind the last variable
	 * loses nothing */
	for (unsigned pass = 0; pass < 2; pass++) {
		enum ws_status st = wsi_dwarf_entry_at(&c->look, off, &at, err);
		if (st != WS_OK)
			return st;
		while (wsi_dwarf_child(&at, &entry, &attrs)) {
			uint16_t tag = entry.abbrev->tag;
			bool inner = tag == DW_TAG_inlined_subroutine;
			if (pass == 0 && is_variable(tag)) {
				struct ws_dwarf_variable found;
				copied_variable_of(&c->look, &entry, &attrs, &found);
				found.depth = depth;
				found.n_calls = n_calls;
				if (c->n < c->cap)
					c->out[c->n] = found;
				c->n++;
			} else if (pass == 1 && (inner || tag == DW_TAG_lexical_block) &&
				   holds(&attrs, c->pc)) {
				st = collect_scope(c, entry.off, depth + 1, n_calls + inner, err);
				if (st != WS_OK)
					return st;
			}
		}
		if (at.walk.status != WS_OK)
			return wsi_dwarf_walk_fail(&at.walk, err);
	}
	return WS_OK;
}

enum ws_status ws_dwarf_variables(const struct ws_dwarf *dwarf,
				  const struct ws_dwarf_function *function, uint64_t rel_pc,
				  struct ws_dwarf_variable *ret_variables, size_t cap,
				  size_t *ret_n, struct ws_error *err)
{
	struct collector c = { .look = wsi_dwarf_look(dwarf), .out = ret_variables, .cap = cap };
	struct wsi_dwarf_at at;
	enum ws_status st = wsi_dwarf_entry_at(&c.look, function->info_off, &at, err);
	if (st != WS_OK)
		return st;
	c.pc = at.attrs.low_pc + rel_pc;
	st = collect_scope(&c, function->info_off, 0, 0, err);
	if (st == WS_OK)
		*ret_n = c.n;
	return st;
}

enum ws_status ws_dwarf_unit(const struct ws_dwarf *dwarf, uint64_t info_off,
			     struct ws_dwarf_unit *ret_unit, struct ws_error *err)
{
	struct wsi_dwarf_look look = wsi_dwarf_look(dwarf);
	struct wsi_dwarf_at at;
	const struct wsi_dwarf_unit *unit = wsi_dwarf_unit_of(dwarf, info_off);
	if (!unit)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the place is in no unit");
	enum ws_status st = wsi_dwarf_entry_at(&look, unit->start + unit->header_bytes, &at, err);
	if (st != WS_OK)
		return st;
	if (at.entry.abbrev->tag != DW_TAG_compile_unit)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the unit does not say what it is");
	*ret_unit = (struct ws_dwarf_unit){
		.name = wsi_dwarf_name(&look, &at.attrs.name),
		.dir = wsi_dwarf_name(&look, &at.attrs.dir),
		.language = (uint32_t)wsi_min_u64(at.attrs.language, UINT32_MAX),
		.has_lines = at.attrs.has & WSI_HAS_LINES,
		.lines_off = at.attrs.lines_off,
	};
	return WS_OK;
}
