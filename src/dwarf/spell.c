/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types as C++ writes them. A type has a part left of the name that it would declare and one right
 * of it: "float (*" and ")(int)". What points to an array or a function wraps itself in brackets.
 */
#include "dwarf/dwarf.h"

struct dwarf_speller {
	struct wsi_dwarf_look look;
	char *text;
	size_t size, len;
	bool cut;
};

static void put_type_text(struct dwarf_speller *s, struct ws_str part)
{
	size_t n = (size_t)wsi_min_u64(part.len, s->size - 1 - s->len);
	if (n)
		memcpy(s->text + s->len, part.ptr, n);
	s->len += n;
	s->text[s->len] = '\0';
	s->cut |= n < part.len;
}

static void put_text(struct dwarf_speller *s, const char *part)
{
	put_type_text(s, ws_str_of(part));
}

/* ---- names ---- */

/*
 * nvcc gives some types mangled names: "_Z..." for enumerations, closures and unnamed structures,
 * "__SO__..." without the "_Z" for a structure without its tail padding, as a base class has it.
 * [measured: nvcc 13.0]
 */
static void put_type_name(struct dwarf_speller *s, struct ws_str name)
{
	static const char sub_object[] = "__SO__";
	char mangled[1024], plain[1024];
	const struct ws_dwarf_input *input = &s->look.dwarf->input;
	bool is_sub_object = wsi_str_begins(name, sub_object);
	if (is_sub_object) {
		name.ptr += sizeof sub_object - 1;
		name.len -= sizeof sub_object - 1;
	}
	if (input->demangle && name.len < 1000 && (is_sub_object || wsi_str_begins(name, "_Z")) &&
	    wsi_format(mangled, "%s%.*s", is_sub_object ? "_Z" : "", (int)name.len, name.ptr) &&
	    input->demangle(ws_str_of(mangled), plain, sizeof plain))
		put_text(s, plain);
	else
		put_type_text(s, name);
}

/* The innermost scope that an entry lies in, or UINT32_MAX. */
static uint32_t dwarf_scope_of(const struct ws_dwarf *dwarf, uint64_t off)
{
	size_t low = WSI_BISECT(i, 0, dwarf->n_scopes, dwarf->scopes[i].start < off);
	uint32_t scope = low > 0 ? (uint32_t)(low - 1) : UINT32_MAX;
	while (scope != UINT32_MAX && dwarf->scopes[scope].end <= off)
		scope = dwarf->scopes[scope].parent;
	return scope;
}

static void put_scopes(struct dwarf_speller *s, uint64_t off)
{
	const struct ws_dwarf *dwarf = s->look.dwarf;
	uint32_t chain[WS_DWARF_MAX_DEPTH];
	unsigned n = 0;
	for (uint32_t i = dwarf_scope_of(dwarf, off); i != UINT32_MAX && n < WSI_COUNT(chain);
	     i = dwarf->scopes[i].parent)
		chain[n++] = i;
	while (n > 0) {
		put_type_name(s, dwarf->scopes[chain[--n]].name);
		put_text(s, "::");
	}
}

static void put_named(struct dwarf_speller *s, const struct wsi_dwarf_at *at)
{
	struct ws_str name = wsi_dwarf_name(&s->look, &at->attrs.name);
	enum ws_type_kind kind = wsi_dwarf_kind(at);
	if (kind != WS_KIND_BASE && kind != WS_KIND_OTHER)
		put_scopes(s, at->entry.off);
	if (name.len)
		put_type_name(s, name);
	else
		put_text(s, kind == WS_KIND_STRUCT  ? "{unnamed struct}"
			    : kind == WS_KIND_UNION ? "{unnamed union}"
			    : kind == WS_KIND_ENUM  ? "{unnamed enum}"
						    : "?");
}

/* ---- left and right ---- */

static bool is_pointing(enum ws_type_kind kind)
{
	return kind == WS_KIND_POINTER || kind == WS_KIND_REFERENCE ||
	       kind == WS_KIND_RVALUE_REFERENCE || kind == WS_KIND_MEMBER_POINTER;
}

static bool is_qualifier(enum ws_type_kind kind)
{
	return kind == WS_KIND_CONST || kind == WS_KIND_VOLATILE || kind == WS_KIND_RESTRICT;
}

/* The entry of a type; false, and "?" is written when asked for, where there is none to be had. */
static bool entry_of(struct dwarf_speller *s, uint64_t type, unsigned depth, bool left,
		     struct wsi_dwarf_at *at)
{
	if (depth < WS_DWARF_MAX_DEPTH && !s->cut &&
	    wsi_dwarf_entry_at(&s->look, type, at, NULL) == WS_OK)
		return true;
	if (left)
		put_text(s, "?");
	s->cut |= depth >= WS_DWARF_MAX_DEPTH || s->look.left == 0;
	return false;
}

/* WS_KIND_ARRAY or WS_KIND_FUNCTION behind qualifiers; anything else is WS_KIND_OTHER. */
static enum ws_type_kind wrapped(struct dwarf_speller *s, uint64_t type)
{
	struct wsi_dwarf_at at;
	for (unsigned i = 0; i < WS_DWARF_MAX_DEPTH && type != WS_TYPE_VOID; i++) {
		if (wsi_dwarf_entry_at(&s->look, type, &at, NULL) != WS_OK)
			break;
		enum ws_type_kind kind = wsi_dwarf_kind(&at);
		if (kind == WS_KIND_ARRAY || kind == WS_KIND_FUNCTION)
			return kind;
		if (!is_qualifier(kind))
			break;
		type = at.attrs.type;
	}
	return WS_KIND_OTHER;
}

static void spell_left(struct dwarf_speller *s, uint64_t type, unsigned depth);
static void spell_right(struct dwarf_speller *s, uint64_t type, unsigned depth);

static void left_pointing(struct dwarf_speller *s, const struct wsi_dwarf_at *at, unsigned depth)
{
	enum ws_type_kind kind = wsi_dwarf_kind(at), to = wrapped(s, at->attrs.type);
	spell_left(s, at->attrs.type, depth + 1);
	put_text(s, to == WS_KIND_ARRAY ? " (" : to == WS_KIND_FUNCTION ? "(" : "");
	if (kind == WS_KIND_MEMBER_POINTER) {
		put_text(s, to == WS_KIND_OTHER ? " " : "");
		spell_left(s, at->attrs.containing, depth + 1);
		put_text(s, "::");
	}
	put_text(s, kind == WS_KIND_REFERENCE          ? "&"
		    : kind == WS_KIND_RVALUE_REFERENCE ? "&&"
						       : "*");
}

static void spell_left(struct dwarf_speller *s, uint64_t type, unsigned depth)
{
	struct wsi_dwarf_at at;
	if (type == WS_TYPE_VOID) {
		put_text(s, "void");
		return;
	}
	if (!entry_of(s, type, depth, true, &at))
		return;
	enum ws_type_kind kind = wsi_dwarf_kind(&at);
	if (is_pointing(kind)) {
		left_pointing(s, &at, depth);
	} else if (is_qualifier(kind)) {
		spell_left(s, at.attrs.type, depth + 1);
		put_text(s, kind == WS_KIND_CONST      ? " const"
			    : kind == WS_KIND_VOLATILE ? " volatile"
						       : " __restrict__");
	} else if (kind == WS_KIND_ARRAY) {
		spell_left(s, at.attrs.type, depth + 1);
	} else if (kind == WS_KIND_FUNCTION) {
		spell_left(s, at.attrs.type, depth + 1);
		put_text(s, " ");
	} else {
		put_named(s, &at);
	}
}

static void right_array(struct dwarf_speller *s, struct wsi_dwarf_at *at)
{
	uint64_t counts[WS_DWARF_MAX_DIMENSIONS];
	unsigned n;
	if (wsi_dwarf_dimensions(at, counts, &n, NULL) != WS_OK) {
		put_text(s, " [?]");
		return;
	}
	put_text(s, " ");
	for (unsigned i = 0; i < n; i++) {
		char one[32] = "[]";
		if (counts[i] != WS_SIZE_UNKNOWN)
			wsi_format(one, "[%" PRIu64 "]", counts[i]);
		put_text(s, one);
	}
}

static void right_function(struct dwarf_speller *s, struct wsi_dwarf_at *at, unsigned depth)
{
	struct wsi_dwarf_entry entry;
	struct wsi_dwarf_attrs attrs;
	bool first = true;
	put_text(s, "(");
	while (!s->cut && wsi_dwarf_child(at, &entry, &attrs)) {
		bool more = entry.abbrev->tag == DW_TAG_unspecified_parameters;
		if (!more && entry.abbrev->tag != DW_TAG_formal_parameter)
			continue;
		put_text(s, first ? "" : ", ");
		first = false;
		if (more) {
			put_text(s, "...");
			continue;
		}
		spell_left(s, attrs.type, depth + 1);
		spell_right(s, attrs.type, depth + 1);
	}
	put_text(s, ")");
}

static void spell_right(struct dwarf_speller *s, uint64_t type, unsigned depth)
{
	struct wsi_dwarf_at at;
	if (type == WS_TYPE_VOID || !entry_of(s, type, depth, false, &at))
		return;
	enum ws_type_kind kind = wsi_dwarf_kind(&at);
	uint64_t target = at.attrs.type;
	if (is_pointing(kind)) {
		put_text(s, wrapped(s, target) == WS_KIND_OTHER ? "" : ")");
	} else if (kind == WS_KIND_ARRAY) {
		right_array(s, &at);
	} else if (kind == WS_KIND_FUNCTION) {
		right_function(s, &at, depth);
	} else if (!is_qualifier(kind)) {
		return;
	}
	spell_right(s, target, depth + 1);
}

enum ws_status ws_dwarf_spell(const struct ws_dwarf *dwarf, uint64_t type, char *ret_text,
			      size_t size)
{
	struct dwarf_speller s = { .look = wsi_dwarf_look(dwarf), .text = ret_text, .size = size };
	if (size == 0)
		return WS_ARGUMENT;
	ret_text[0] = '\0';
	spell_left(&s, type, 0);
	spell_right(&s, type, 0);
	return s.cut ? WS_LIMIT : WS_OK;
}
