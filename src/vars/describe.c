/* SPDX-License-Identifier: Apache-2.0 */
/* Types as gdb's ptype shows them: without aliases, with their members. */
#include "vars/vars.h"

enum { SPELLED = 4096 };

/* "int a[4]", "char *p", "void (*f)(int)": a type with a name, as it is declared. */
static void print_declaration(struct ws_out *out, const char *type, struct ws_str name,
			      uint32_t bit_size)
{
	const char *inner = strstr(type, "(*"), *array = strstr(type, " [");
	size_t n = inner   ? (size_t)(inner - type) + 2
		   : array ? (size_t)(array - type)
			   : strlen(type);
	while (inner && type[n] == '*')
		n++;
	size_t stars = n; /* a type's own text has no space before them */
	while (!inner && stars > 0 && strchr("*&", type[stars - 1]))
		stars--;
	ws_out_escaped(out, (struct ws_str){ type, stars });
	ws_out_text(out, stars < n && stars > 0 && type[stars - 1] != ' ' ? " " : "");
	ws_out_escaped(out, (struct ws_str){ type + stars, n - stars });
	if (!inner && n && !strchr("*&", type[n - 1]))
		ws_out_text(out, " ");
	ws_out_escaped(out, name);
	n += array && !inner ? 1 : 0;
	ws_out_escaped(out, ws_str_of(type + n));
	if (bit_size)
		ws_out_printf(out, " : %" PRIu32, bit_size);
}

static void print_member_types(struct ws_vars *vars, const struct ws_vtype *type,
			       const struct wsi_type_shape *shape, struct ws_out *out)
{
	wsi_scoped_free struct wsi_type_member *members =
		wsi_zalloc_array(WSI_MAX_MEMBERS, sizeof *members);
	wsi_scoped_free char *text = wsi_zalloc(SPELLED);
	size_t n = 0;
	if (!members || !text ||
	    wsi_members(shape, type, members, WSI_MAX_MEMBERS, &n, NULL) != WS_OK) {
		ws_out_text(out, " {...}");
		return;
	}
	n = n < WSI_MAX_MEMBERS ? n : WSI_MAX_MEMBERS;
	const char *before = " : ";
	for (size_t i = 0; i < n; i++) {
		if (!members[i].is_base)
			continue;
		ws_vars_spell(vars, &members[i].type, text, SPELLED);
		ws_out_printf(out, "%spublic ", before);
		ws_out_escaped(out, ws_str_of(text));
		before = ", ";
	}
	ws_out_text(out, " {\n");
	for (size_t i = 0; i < n; i++) {
		if (members[i].is_base)
			continue;
		ws_vars_spell(vars, &members[i].type, text, SPELLED);
		ws_out_text(out, "    ");
		print_declaration(out, text, members[i].name, members[i].bit_size);
		ws_out_text(out, ";\n");
	}
	ws_out_text(out, "}");
}

/* " {RED, GREEN = 5}": numbers that do not follow the one before. */
static void print_enumerators_of(const struct ws_dwarf *dwarf, uint64_t type, struct ws_out *out)
{
	enum { MOST = 1024 };
	wsi_scoped_free struct ws_dwarf_constant *list = wsi_zalloc_array(MOST, sizeof *list);
	size_t n = 0;
	if (!list || ws_dwarf_enumerators(dwarf, type, list, MOST, &n, NULL) != WS_OK) {
		ws_out_text(out, " {...}");
		return;
	}
	uint64_t next = 0;
	ws_out_text(out, " {");
	for (size_t i = 0; i < n && i < MOST; i++) {
		ws_out_text(out, i ? ", " : "");
		wsi_print_enumerator(list[i].name, out);
		if ((uint64_t)list[i].value != next)
			ws_out_printf(out, " = %" PRId64, list[i].value);
		next = (uint64_t)list[i].value + 1;
	}
	ws_out_text(out, n > MOST ? ", ...}" : "}");
}

static bool is_made_of_another(const struct wsi_type_shape *shape)
{
	return shape->kind == WS_KIND_POINTER || shape->kind == WS_KIND_ARRAY ||
	       shape->kind == WS_KIND_REFERENCE || shape->kind == WS_KIND_RVALUE_REFERENCE;
}

/* What pointers, references and arrays are of. */
static struct ws_vtype innermost(const struct ws_vtype *type, struct wsi_type_shape *ret_shape)
{
	enum { MAX_LEVELS = 32 };
	struct ws_vtype inner = *type;
	for (unsigned i = 0; i < MAX_LEVELS; i++) {
		if (wsi_shape(&inner, ret_shape, NULL) != WS_OK) {
			ret_shape->kind = WS_KIND_OTHER;
			break;
		}
		if (!is_made_of_another(ret_shape))
			break;
		inner = ret_shape->target;
	}
	return inner;
}

struct qualifiers {
	bool is_const, is_volatile;
};

/* Of a type, and of those that it is another name of. */
static struct qualifiers qualifiers_of(const struct ws_vtype *type)
{
	enum { MAX_LEVELS = 32 };
	struct qualifiers found = { false, false };
	struct ws_type at;
	uint64_t next = type->type;
	for (unsigned i = 0; i < MAX_LEVELS && type->dwarf && !type->n_added; i++) {
		if (next == WS_TYPE_VOID || ws_dwarf_type(type->dwarf, next, &at, NULL) != WS_OK)
			break;
		found.is_const |= at.kind == WS_KIND_CONST;
		found.is_volatile |= at.kind == WS_KIND_VOLATILE;
		if (at.kind != WS_KIND_CONST && at.kind != WS_KIND_VOLATILE &&
		    at.kind != WS_KIND_ALIAS && at.kind != WS_KIND_RESTRICT)
			break;
		next = at.target;
	}
	return found;
}

void ws_vars_describe(struct ws_vars *vars, const struct ws_vtype *type, struct ws_out *out)
{
	struct wsi_type_shape shape, outer;
	struct ws_vtype plain = *type, inner = innermost(type, &shape);
	wsi_scoped_free char *text = wsi_zalloc(SPELLED), *name = wsi_zalloc(SPELLED);
	if (!text || !name)
		return;
	const struct qualifiers is = qualifiers_of(&inner);
	if (!type->n_added && type->dwarf && wsi_shape(type, &outer, NULL) == WS_OK &&
	    is_made_of_another(&outer))
		plain.type = outer.plain;
	if (type->n_added)
		ws_vars_spell_spaces(vars, &plain, text, SPELLED);
	else
		ws_vars_spell(vars, &plain, text, SPELLED);
	ws_vars_spell(vars, &inner, name, SPELLED);
	const char *behind = *text == '@' ? text + strcspn(text, " ") : text;
	const char *at = *name ? strstr(behind, name) : NULL;
	const size_t n = strlen(name);
	if (!at) {
		ws_out_escaped(out, ws_str_of(text));
		return;
	}
	if (inner.dwarf && shape.kind != WS_KIND_OTHER)
		inner.type = shape.plain;
	const bool is_union = shape.kind == WS_KIND_UNION;
	const bool is_enum = shape.kind == WS_KIND_ENUM && inner.dwarf;
	const bool has_members = is_union || is_enum || shape.kind == WS_KIND_STRUCT;
	ws_vars_spell(vars, &inner, name, SPELLED);
	ws_out_escaped(out, (struct ws_str){ text, (size_t)(at - text) });
	ws_out_text(out, has_members && is.is_const ? "const " : "");
	ws_out_text(out, has_members && is.is_volatile ? "volatile " : "");
	ws_out_text(out, is_union ? "union " : is_enum ? "enum " : has_members ? "struct " : "");
	ws_out_escaped(out, ws_str_of(name));
	ws_out_text(out, !has_members && is.is_const ? " const" : "");
	ws_out_text(out, !has_members && is.is_volatile ? " volatile" : "");
	if (is_enum)
		print_enumerators_of(inner.dwarf, inner.type, out);
	else if (has_members)
		print_member_types(vars, &inner, &shape, out);
	ws_out_text(out, has_members && at[n] && at[n] != ' ' ? " " : "");
	ws_out_escaped(out, ws_str_of(at + n));
}
