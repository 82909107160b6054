/* SPDX-License-Identifier: Apache-2.0 */
/* The first reading: units, functions that have code, calls inlined in them, scopes that types are
 * declared in. */
#include "dwarf/dwarf.h"

#include "base/sort.h"

enum {
	MAX_SCOPES = 64,  /* within each other; deeper ones give no names */
	MAX_ORIGINS = 4,  /* entries that stand for one another */
	BUDGET_TIMES = 4, /* of the input: bytes looked at out of order */
};

/* A scope whose end is not reached yet. */
struct open_scope {
	uint64_t start;
	struct ws_str name;
	uint32_t depth;
	bool used; /* a type is declared in it */
};

struct unit_reading {
	struct ws_dwarf *dwarf;
	struct wsi_dwarf_walk walk;
	uint32_t depth;
	struct open_scope open[MAX_SCOPES];
	uint32_t n_open;
	uint32_t function_depth;
	bool in_function;  /* below `function_depth` */
	uint64_t function; /* that `in_function` is about: its entry */
	uint32_t call;     /* the innermost that has not ended, or UINT32_MAX */
	bool no_memory;
	uint64_t enumeration; /* the last that was met: enumerators follow it */
};

static void note_unit(struct ws_dwarf *dwarf, const struct ws_error *err)
{
	if (!dwarf->damaged)
		dwarf->damage = *err;
	dwarf->damaged = true;
}

/* ---- functions ---- */

/* The name, paid for from the budget where it is not in the entry itself. */
static struct ws_str paid_text(struct ws_dwarf *dwarf, const struct wsi_dwarf_text *text)
{
	uint64_t max = wsi_min_u64(dwarf->budget, WSI_DWARF_NAME_MAX);
	struct ws_str name = wsi_dwarf_text(dwarf, text, max);
	if (text->in_str)
		dwarf->budget -= wsi_min_u64(dwarf->budget, name.len ? name.len + 1 : max);
	return name;
}

static struct ws_str linkage_of(struct ws_dwarf *dwarf, const struct wsi_dwarf_attrs *attrs)
{
	struct ws_str name = paid_text(dwarf, &attrs->linkage);
	return name.len ? name : paid_text(dwarf, &attrs->name);
}

/* The linkage name of a function; that of the declaration it belongs to where it has none. */
static struct ws_str function_name(struct ws_dwarf *dwarf, const struct wsi_dwarf_attrs *attrs)
{
	struct wsi_dwarf_attrs now = *attrs;
	struct ws_str name = linkage_of(dwarf, attrs);
	for (unsigned i = 0; i < MAX_ORIGINS && now.has & WSI_HAS_ORIGIN; i++) {
		struct wsi_dwarf_look look = { dwarf,
					       wsi_min_u64(dwarf->budget, WSI_DWARF_LOOK_MAX) };
		struct wsi_dwarf_at at;
		uint64_t before = look.left;
		if (wsi_dwarf_entry_at(&look, now.origin, &at, NULL) != WS_OK) {
			dwarf->budget -= before; /* what it cost is not known */
			break;
		}
		dwarf->budget -= before - look.left;
		now = at.attrs;
		struct ws_str linkage = paid_text(dwarf, &now.linkage);
		if (linkage.len)
			return linkage;
		if (!name.len)
			name = paid_text(dwarf, &now.name);
	}
	return name;
}

static bool dwarf_function_take(struct unit_reading *reading, const struct wsi_dwarf_entry *entry)
{
	struct ws_dwarf *dwarf = reading->dwarf;
	struct wsi_dwarf_attrs attrs;
	if (!wsi_dwarf_attrs(&reading->walk, entry, &attrs))
		return false;
	if (!(attrs.has & WSI_HAS_CODE))
		return true;
	struct ws_str name = function_name(dwarf, &attrs);
	if (!name.len)
		return true;
	if (!wsi_grow(&dwarf->functions, &dwarf->cap_functions, dwarf->n_functions,
		      sizeof *dwarf->functions, SIZE_MAX)) {
		reading->no_memory = true;
		return false;
	}
	dwarf->functions[dwarf->n_functions++] = (struct ws_dwarf_function){ name, entry->off };
	return true;
}

static int dwarf_function_order(const void *left, const void *right)
{
	const struct ws_dwarf_function *a = left, *b = right;
	int order = wsi_str_order(a->name, b->name);
	if (order != 0)
		return order;
	return WSI_ORDER(a->info_off, b->info_off);
}

/* ---- inlined calls ---- */

static bool call_take(struct unit_reading *reading, const struct wsi_dwarf_entry *entry)
{
	struct ws_dwarf *dwarf = reading->dwarf;
	struct wsi_dwarf_attrs attrs;
	if (!wsi_dwarf_attrs(&reading->walk, entry, &attrs))
		return false;
	if (!reading->in_function)
		return true;
	if (!wsi_grow(&dwarf->calls, &dwarf->cap_calls, dwarf->n_calls, sizeof *dwarf->calls,
		      UINT32_MAX - 1)) {
		reading->no_memory = true;
		return false;
	}
	struct wsi_dwarf_call *call = &dwarf->calls[dwarf->n_calls];
	*call = (struct wsi_dwarf_call){ .off = entry->off,
					 .function = reading->function,
					 .parent = reading->call,
					 .depth = reading->depth };
	if (!wsi_dwarf_range(&attrs, &call->low, &call->high))
		call->low = call->high = 0;
	if (entry->abbrev->has_children)
		reading->call = (uint32_t)dwarf->n_calls;
	dwarf->n_calls++;
	return true;
}

/* The list of children that ends now may be that of a call. */
static void calls_close(struct unit_reading *reading)
{
	const struct wsi_dwarf_call *calls = reading->dwarf->calls;
	if (reading->call != UINT32_MAX && calls[reading->call].depth >= reading->depth)
		reading->call = calls[reading->call].parent;
}

/* ---- what has a name ---- */

static bool is_scope(uint16_t tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static bool declares_type(uint16_t tag)
{
	return is_scope(tag) || tag == DW_TAG_enumeration_type || tag == DW_TAG_typedef;
}

static int named_order(const void *left, const void *right)
{
	const struct ws_dwarf_named *a = left, *b = right;
	if (a->kind != b->kind)
		return WSI_ORDER(a->kind, b->kind);
	int order = wsi_str_order(a->name, b->name);
	if (order != 0)
		return order;
	return WSI_ORDER(a->info_off, b->info_off);
}

static bool is_type(uint16_t tag)
{
	return declares_type(tag) || tag == DW_TAG_base_type;
}

/* Keeps a type, an enumerator, a variable that is in no function, or one of a function that has a
 * symbol, by that. */
static bool named_take(struct unit_reading *reading, const struct wsi_dwarf_entry *entry,
		       const struct wsi_dwarf_attrs *attrs)
{
	struct ws_dwarf *dwarf = reading->dwarf;
	uint16_t tag = entry->abbrev->tag;
	if (tag == DW_TAG_namespace || attrs->has & WSI_IS_DECLARATION ||
	    (tag == DW_TAG_variable && !(attrs->has & (WSI_HAS_EXPRESSION | WSI_HAS_LIST))))
		return true;
	struct ws_dwarf_named named = {
		.kind = is_type(tag)             ? WS_NAMED_TYPE
			: tag == DW_TAG_variable ? WS_NAMED_VARIABLE
						 : WS_NAMED_ENUMERATOR,
		.name = paid_text(dwarf, reading->in_function && tag == DW_TAG_variable
						 ? &attrs->linkage
						 : &attrs->name),
		.info_off = entry->off,
	};
	if (named.kind == WS_NAMED_ENUMERATOR)
		named.type = reading->enumeration;
	if (!named.name.len)
		return true;
	if (!wsi_grow(&dwarf->named, &dwarf->cap_named, dwarf->n_named, sizeof *dwarf->named,
		      SIZE_MAX)) {
		reading->no_memory = true;
		return false;
	}
	dwarf->named[dwarf->n_named++] = named;
	return true;
}

/* ---- scopes ---- */

static bool scope_open(struct unit_reading *reading, const struct wsi_dwarf_entry *entry)
{
	struct wsi_dwarf_attrs attrs;
	if (!wsi_dwarf_attrs(&reading->walk, entry, &attrs) || !named_take(reading, entry, &attrs))
		return false;
	if (!entry->abbrev->has_children || reading->n_open == MAX_SCOPES)
		return true;
	struct ws_str name = paid_text(reading->dwarf, &attrs.name);
	if (!name.len && entry->abbrev->tag == DW_TAG_namespace)
		name = ws_str_of("(anonymous namespace)");
	if (name.len)
		reading->open[reading->n_open++] = (struct open_scope){ .start = entry->off,
									.name = name,
									.depth = reading->depth };
	return true;
}

static bool scopes_close(struct unit_reading *reading, uint64_t off)
{
	struct ws_dwarf *dwarf = reading->dwarf;
	while (reading->n_open && reading->open[reading->n_open - 1].depth >= reading->depth) {
		const struct open_scope *scope = &reading->open[--reading->n_open];
		if (!scope->used)
			continue;
		if (!wsi_grow(&dwarf->scopes, &dwarf->cap_scopes, dwarf->n_scopes,
			      sizeof *dwarf->scopes, UINT32_MAX)) {
			reading->no_memory = true;
			return false;
		}
		dwarf->scopes[dwarf->n_scopes++] = (struct wsi_dwarf_scope){ .start = scope->start,
									     .end = off,
									     .name = scope->name };
	}
	return true;
}

static int scope_order(const void *left, const void *right)
{
	const struct wsi_dwarf_scope *a = left, *b = right;
	return WSI_ORDER(a->start, b->start);
}

static void scopes_finish(struct ws_dwarf *dwarf)
{
	if (dwarf->n_scopes)
		qsort(dwarf->scopes, dwarf->n_scopes, sizeof *dwarf->scopes, scope_order);
	uint32_t parent = UINT32_MAX;
	for (size_t i = 0; i < dwarf->n_scopes; i++) {
		while (parent != UINT32_MAX && dwarf->scopes[parent].end <= dwarf->scopes[i].start)
			parent = dwarf->scopes[parent].parent;
		dwarf->scopes[i].parent = parent;
		parent = (uint32_t)i;
	}
}

/* ---- units ---- */

static bool dwarf_entry_take(struct unit_reading *reading, const struct wsi_dwarf_entry *entry)
{
	uint16_t tag = entry->abbrev->tag;
	if (tag == DW_TAG_enumeration_type)
		reading->enumeration = entry->off;
	if (declares_type(tag)) {
		for (uint32_t i = 0; i < reading->n_open; i++)
			reading->open[i].used = true;
	}
	if (tag == DW_TAG_subprogram)
		return dwarf_function_take(reading, entry);
	if (tag == DW_TAG_inlined_subroutine)
		return call_take(reading, entry);
	if (is_scope(tag))
		return scope_open(reading, entry);
	if (!is_type(tag) && tag != DW_TAG_enumerator && tag != DW_TAG_variable)
		return wsi_dwarf_skip(&reading->walk, entry);
	struct wsi_dwarf_attrs attrs;
	return wsi_dwarf_attrs(&reading->walk, entry, &attrs) && named_take(reading, entry, &attrs);
}

/* All entries of a unit; false only for lack of memory. */
static bool unit_read(struct ws_dwarf *dwarf, const struct wsi_dwarf_unit *unit)
{
	struct unit_reading reading = {
		.dwarf = dwarf,
		.call = UINT32_MAX,
		.walk = { .dwarf = dwarf,
			  .unit = unit,
			  .base = unit->start + unit->header_bytes,
			  .whole = true },
	};
	struct wsi_dwarf_walk *walk = &reading.walk;
	struct wsi_dwarf_entry entry;
	struct ws_span bytes = { 0 };
	(void)ws_span_sub(dwarf->input.info, walk->base, unit->end - walk->base, &bytes);
	walk->r = wsi_reader_of(bytes);
	while (wsi_dwarf_next(walk, &entry)) {
		if (entry.abbrev) {
			if (!dwarf_entry_take(&reading, &entry))
				break;
			if (entry.abbrev->tag == DW_TAG_subprogram && !reading.in_function &&
			    entry.abbrev->has_children) {
				reading.in_function = true;
				reading.function_depth = reading.depth;
				reading.function = entry.off;
			}
			reading.depth += entry.abbrev->has_children;
		} else if (reading.depth > 0) { /* more of them pad the unit */
			reading.depth--;
			reading.in_function &= reading.depth > reading.function_depth;
			calls_close(&reading);
			if (!scopes_close(&reading, entry.off))
				break;
		}
	}
	reading.depth = 0;
	if (!reading.no_memory)
		(void)!scopes_close(&reading, unit->end);
	if (walk->status != WS_OK) {
		struct ws_error err;
		(void)wsi_dwarf_walk_fail(walk, &err);
		note_unit(dwarf, &err);
	}
	return !reading.no_memory;
}

/* The header of the unit at `*off`, which is moved behind the unit. `start` of the unit is its end
 * when nothing can be read of it. */
static enum ws_status unit_header(const struct ws_dwarf *dwarf, uint64_t *off,
				  struct wsi_dwarf_unit *ret_unit, struct ws_error *err)
{
	struct ws_span info = dwarf->input.info, rest;
	struct wsi_dwarf_unit unit = { .start = *off, .offset_bytes = 4 };
	(void)ws_span_sub(info, *off, info.len - *off, &rest);
	struct wsi_reader r = wsi_reader_of(rest);
	uint64_t len = wsi_read_u32(&r);
	if (len == UINT32_MAX) {
		unit.offset_bytes = 8;
		len = wsi_read_u64(&r);
	}
	uint64_t end = wsi_add_sat(*off + r.pos, len);
	unit.end = r.failed ? info.len : wsi_min_u64(end, info.len);
	*off = unit.end;
	*ret_unit = (struct wsi_dwarf_unit){ .start = unit.end, .end = unit.end };
	unit.version = (uint8_t)wsi_min_u64(wsi_read_u16(&r), UINT8_MAX);
	if (!r.failed && (unit.version < 2 || unit.version > 4))
		return wsi_fail(err, WS_UNSUPPORTED, rest.origin,
				"debug information: a unit of DWARF version %u", unit.version);
	unit.abbrev_off = wsi_read_uint(&r, unit.offset_bytes);
	unit.address_bytes = wsi_read_u8(&r);
	if (r.failed || unit.start + r.pos > unit.end)
		return wsi_fail(err, WS_TRUNCATED, rest.origin,
				"debug information: the header of a unit is cut off");
	if (unit.address_bytes == 0 || unit.address_bytes > 8)
		return wsi_fail(err, WS_UNSUPPORTED, rest.origin,
				"debug information: addresses of %u bytes", unit.address_bytes);
	unit.header_bytes = (uint8_t)r.pos;
	*ret_unit = unit;
	return end > info.len ? wsi_fail(err, WS_TRUNCATED, info.origin + info.len,
					 "debug information: a unit is cut off")
			      : WS_OK;
}

static enum ws_status no_memory(struct ws_error *err)
{
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "debug information");
}

static enum ws_status unit_headers_read(struct ws_dwarf *dwarf, struct ws_error *err)
{
	for (uint64_t off = 0; off < dwarf->input.info.len;) {
		struct wsi_dwarf_unit unit;
		struct ws_error damage;
		if (unit_header(dwarf, &off, &unit, &damage) != WS_OK)
			note_unit(dwarf, &damage);
		if (unit.start == unit.end)
			continue;
		if (!wsi_grow(&dwarf->units, &dwarf->cap_units, dwarf->n_units,
			      sizeof *dwarf->units, UINT32_MAX))
			return no_memory(err);
		dwarf->units[dwarf->n_units++] = unit;
	}
	return WS_OK;
}

/* Gives every unit its table of abbreviations; each is decoded once. */
static enum ws_status unit_abbrevs_read(struct ws_dwarf *dwarf, struct ws_error *err)
{
	wsi_scoped_free struct wsi_keyed *order = wsi_zalloc_array(dwarf->n_units, sizeof *order);
	if (!order)
		return no_memory(err);
	for (size_t i = 0; i < dwarf->n_units; i++)
		order[i] = (struct wsi_keyed){ dwarf->units[i].abbrev_off, (uint32_t)i };
	if (!wsi_sort_keyed(order, dwarf->n_units))
		return no_memory(err);
	uint32_t table = WSI_DWARF_NO_TABLE;
	for (size_t i = 0; i < dwarf->n_units; i++) {
		if (i == 0 || order[i].key != order[i - 1].key) {
			struct ws_error damage;
			enum ws_status st =
				wsi_abbrev_table_add(dwarf, order[i].key, &table, &damage);
			if (st == WS_NO_MEMORY)
				return no_memory(err);
			if (st != WS_OK)
				note_unit(dwarf, &damage);
		}
		dwarf->units[order[i].value].table = table;
	}
	return WS_OK;
}

static enum ws_status units_read(struct ws_dwarf *dwarf, struct ws_error *err)
{
	enum ws_status st = unit_headers_read(dwarf, err);
	if (st == WS_OK)
		st = unit_abbrevs_read(dwarf, err);
	for (size_t i = 0; i < dwarf->n_units && st == WS_OK; i++)
		st = unit_read(dwarf, &dwarf->units[i]) ? WS_OK : no_memory(err);
	return st;
}

/* ---- the object ---- */

enum ws_status ws_dwarf_create(const struct ws_dwarf_input *input, struct ws_dwarf **ret_dwarf,
			       struct ws_error *err)
{
	if (!input || !ret_dwarf)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "debug information");
	if (input->info.len == 0)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no debug information");
	struct ws_dwarf *dwarf = wsi_zalloc(sizeof *dwarf);
	if (!dwarf)
		return no_memory(err);
	dwarf->input = *input;
	dwarf->budget = BUDGET_TIMES * ((uint64_t)input->info.len + input->str.len);
	enum ws_status st = units_read(dwarf, err);
	if (st != WS_OK) {
		ws_dwarf_destroy(dwarf);
		return st;
	}
	if (dwarf->n_functions)
		qsort(dwarf->functions, dwarf->n_functions, sizeof *dwarf->functions,
		      dwarf_function_order);
	if (dwarf->n_named)
		qsort(dwarf->named, dwarf->n_named, sizeof *dwarf->named, named_order);
	scopes_finish(dwarf);
	*ret_dwarf = dwarf;
	return WS_OK;
}

void ws_dwarf_destroy(struct ws_dwarf *dwarf)
{
	if (!dwarf)
		return;
	wsi_free(dwarf->specs);
	wsi_free(dwarf->abbrevs);
	wsi_free(dwarf->tables);
	wsi_free(dwarf->units);
	wsi_free(dwarf->functions);
	wsi_free(dwarf->calls);
	wsi_free(dwarf->scopes);
	wsi_free(dwarf->named);
	wsi_free(dwarf);
}

bool ws_dwarf_damage(const struct ws_dwarf *dwarf, struct ws_error *ret_err)
{
	if (dwarf->damaged && ret_err)
		*ret_err = dwarf->damage;
	return dwarf->damaged;
}

size_t ws_dwarf_function_count(const struct ws_dwarf *dwarf)
{
	return dwarf->n_functions;
}

const struct ws_dwarf_function *ws_dwarf_function_at(const struct ws_dwarf *dwarf, size_t index)
{
	assert(index < dwarf->n_functions);
	return &dwarf->functions[index];
}

enum ws_status ws_dwarf_find_function(const struct ws_dwarf *dwarf, struct ws_str name,
				      const struct ws_dwarf_function **ret_function,
				      struct ws_error *err)
{
	size_t low = WSI_BISECT(i, (size_t)0, name.len ? dwarf->n_functions : 0,
				wsi_str_order(dwarf->functions[i].name, name) < 0);
	if (low == dwarf->n_functions || !ws_str_equal(dwarf->functions[low].name, name))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the debug information has no such function");
	*ret_function = &dwarf->functions[low];
	return WS_OK;
}

size_t ws_dwarf_named_count(const struct ws_dwarf *dwarf)
{
	return dwarf->n_named;
}

const struct ws_dwarf_named *ws_dwarf_named_at(const struct ws_dwarf *dwarf, size_t index)
{
	assert(index < dwarf->n_named);
	return &dwarf->named[index];
}

enum ws_status ws_dwarf_find_named(const struct ws_dwarf *dwarf, enum ws_named_kind kind,
				   struct ws_str name, const struct ws_dwarf_named **ret_named,
				   struct ws_error *err)
{
	const struct ws_dwarf_named wanted = { .kind = kind, .name = name };
	const struct ws_dwarf_named *named = dwarf->named;
	size_t i = name.len ? WSI_BISECT(k, 0, dwarf->n_named, named_order(&named[k], &wanted) < 0)
			    : dwarf->n_named;
	if (i == dwarf->n_named || named[i].kind != kind || !ws_str_equal(named[i].name, name))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the debug information has no such name");
	*ret_named = &named[i];
	return WS_OK;
}
