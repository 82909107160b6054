/* SPDX-License-Identifier: Apache-2.0 */
/* Types: those of debug information, those of C, and what expressions add to them. */
#include "vars/vars.h"

/* In the order of enum wsi_c_type; then other words for types. */
static const struct c_type {
	const char *words;
	uint8_t bytes, encoding;
} c_types[] = {
	[WSI_C_VOID] = { "void", 0, 0 },
	[WSI_C_BOOL] = { "bool", 1, WS_ENCODING_BOOL },
	[WSI_C_CHAR] = { "char", 1, WS_ENCODING_SIGNED_CHAR },
	[WSI_C_INT] = { "int", 4, WS_ENCODING_SIGNED },
	[WSI_C_UINT] = { "unsigned int", 4, WS_ENCODING_UNSIGNED },
	[WSI_C_LONG] = { "long", 8, WS_ENCODING_SIGNED },
	[WSI_C_ULONG] = { "unsigned long", 8, WS_ENCODING_UNSIGNED },
	[WSI_C_FLOAT] = { "float", 4, WS_ENCODING_FLOAT },
	[WSI_C_DOUBLE] = { "double", 8, WS_ENCODING_FLOAT },
	[WSI_C_DIM3] = { "dim3", 12, 0 },
	[WSI_C_FUNCTION] = { "<text variable, no debug info>", 0, 0 },
	{ "signed char", 1, WS_ENCODING_SIGNED_CHAR },
	{ "unsigned char", 1, WS_ENCODING_UNSIGNED_CHAR },
	{ "short", 2, WS_ENCODING_SIGNED },
	{ "short int", 2, WS_ENCODING_SIGNED },
	{ "unsigned short", 2, WS_ENCODING_UNSIGNED },
	{ "unsigned short int", 2, WS_ENCODING_UNSIGNED },
	{ "signed", 4, WS_ENCODING_SIGNED },
	{ "signed int", 4, WS_ENCODING_SIGNED },
	{ "unsigned", 4, WS_ENCODING_UNSIGNED },
	{ "long int", 8, WS_ENCODING_SIGNED },
	{ "unsigned long int", 8, WS_ENCODING_UNSIGNED },
	{ "long unsigned int", 8, WS_ENCODING_UNSIGNED },
	{ "long long", 8, WS_ENCODING_SIGNED },
	{ "long long int", 8, WS_ENCODING_SIGNED },
	{ "unsigned long long", 8, WS_ENCODING_UNSIGNED },
	{ "unsigned long long int", 8, WS_ENCODING_UNSIGNED },
	{ "size_t", 8, WS_ENCODING_UNSIGNED },
	{ "int8_t", 1, WS_ENCODING_SIGNED },
	{ "uint8_t", 1, WS_ENCODING_UNSIGNED },
	{ "int16_t", 2, WS_ENCODING_SIGNED },
	{ "uint16_t", 2, WS_ENCODING_UNSIGNED },
	{ "int32_t", 4, WS_ENCODING_SIGNED },
	{ "uint32_t", 4, WS_ENCODING_UNSIGNED },
	{ "int64_t", 8, WS_ENCODING_SIGNED },
	{ "uint64_t", 8, WS_ENCODING_UNSIGNED },
	{ "u8", 1, WS_ENCODING_UNSIGNED },
	{ "s8", 1, WS_ENCODING_SIGNED },
	{ "u16", 2, WS_ENCODING_UNSIGNED },
	{ "s16", 2, WS_ENCODING_SIGNED },
	{ "u32", 4, WS_ENCODING_UNSIGNED },
	{ "s32", 4, WS_ENCODING_SIGNED },
	{ "u64", 8, WS_ENCODING_UNSIGNED },
	{ "s64", 8, WS_ENCODING_SIGNED },
	{ "f32", 4, WS_ENCODING_FLOAT },
	{ "f64", 8, WS_ENCODING_FLOAT },
	{ "__half", 2, WS_ENCODING_FLOAT },
	{ "half", 2, WS_ENCODING_FLOAT },
	{ "__nv_bfloat16", 2, WS_ENCODING_FLOAT },
};

struct ws_vtype wsi_c_type(enum wsi_c_type type)
{
	return (struct ws_vtype){ .type = type };
}

bool wsi_c_type_find(struct ws_str words, struct ws_vtype *ret_type)
{
	for (size_t i = 0; i < WSI_COUNT(c_types); i++) {
		if (!ws_str_equal(words, ws_str_of(c_types[i].words)))
			continue;
		*ret_type = (struct ws_vtype){ .type = i };
		return true;
	}
	return false;
}

struct ws_vtype wsi_vars_dwarf_vtype(const struct ws_dwarf *dwarf, uint64_t type)
{
	return type == WS_TYPE_VOID ? wsi_c_type(WSI_C_VOID)
				    : (struct ws_vtype){ .dwarf = dwarf, .type = type };
}

static bool type_layer_add(struct ws_vtype *type, struct ws_vtype_added added)
{
	if (type->n_added == WSI_COUNT(type->added))
		return false;
	type->added[type->n_added++] = added;
	return true;
}

bool wsi_vtype_point(struct ws_vtype *type, enum ws_space space)
{
	return type_layer_add(
		type, (struct ws_vtype_added){ .is_pointer = true, .space = (uint8_t)space });
}

bool wsi_vtype_point_bare(struct ws_vtype *type)
{
	return type_layer_add(type, (struct ws_vtype_added){ .is_pointer = true,
							     .is_bare = true,
							     .space = WS_SPACE_GENERIC });
}

bool wsi_vtype_repeat(struct ws_vtype *type, uint64_t count)
{
	return type_layer_add(type, (struct ws_vtype_added){ .count = count });
}

enum ws_space wsi_space_of_class(uint32_t address_class)
{
	switch (address_class) {
	case WS_CLASS_CODE:
		return WS_SPACE_CODE;
	case WS_CLASS_CONST:
		return WS_SPACE_CONST;
	case WS_CLASS_GLOBAL:
		return WS_SPACE_GLOBAL;
	case WS_CLASS_LOCAL:
		return WS_SPACE_LOCAL;
	case WS_CLASS_PARAM:
		return WS_SPACE_PARAM;
	case WS_CLASS_SHARED:
		return WS_SPACE_SHARED;
	default:
		return WS_SPACE_GENERIC;
	}
}

/* cuda-gdb's words; the first of a space is the one that is printed. */
static const struct {
	const char *name;
	enum ws_space space;
} spaces[] = {
	{ "global", WS_SPACE_GLOBAL },    { "shared", WS_SPACE_SHARED },
	{ "local", WS_SPACE_LOCAL },      { "parameter", WS_SPACE_PARAM },
	{ "constant", WS_SPACE_CONST },   { "code", WS_SPACE_CODE },
	{ "generic", WS_SPACE_GENERIC },  { "managed_global", WS_SPACE_GLOBAL },
	{ "param", WS_SPACE_PARAM },      { "const", WS_SPACE_CONST },
	{ "register", WS_SPACE_GENERIC },
};

bool wsi_space_find(struct ws_str word, enum ws_space *ret_space)
{
	for (size_t i = 0; i < WSI_COUNT(spaces); i++) {
		if (!ws_str_equal(word, ws_str_of(spaces[i].name)))
			continue;
		*ret_space = spaces[i].space;
		return true;
	}
	return false;
}

const char *wsi_space_name(enum ws_space space)
{
	size_t i = 0;
	while (i + 1 < WSI_COUNT(spaces) && spaces[i].space != space)
		i++;
	return spaces[i].name;
}

enum ws_space wsi_space_of(unsigned space)
{
	static const enum ws_space of_code[] = {
		[WS_SASS_SPACE_NONE] = WS_SPACE_GLOBAL,
		[WS_SASS_SPACE_GLOBAL] = WS_SPACE_GLOBAL,
		[WS_SASS_SPACE_SHARED] = WS_SPACE_SHARED,
		[WS_SASS_SPACE_LOCAL] = WS_SPACE_LOCAL,
		[WS_SASS_SPACE_CONSTANT] = WS_SPACE_CONST,
		[WS_SASS_SPACE_GENERIC] = WS_SPACE_GENERIC,
	};
	return of_code[space];
}

/* ---- what a type is ---- */

static enum wsi_small_float small_float(struct ws_str name)
{
	static const struct {
		const char *name;
		enum wsi_small_float format;
	} known[] = {
		{ "__half", WSI_FLOAT_HALF },        { "half", WSI_FLOAT_HALF },
		{ "__nv_bfloat16", WSI_FLOAT_BF16 }, { "__nv_fp8_e4m3", WSI_FLOAT_E4M3 },
		{ "__nv_fp8_e5m2", WSI_FLOAT_E5M2 }, { "__nv_fp8_e8m0", WSI_FLOAT_E8M0 },
		{ "__nv_fp6_e3m2", WSI_FLOAT_E3M2 }, { "__nv_fp6_e2m3", WSI_FLOAT_E2M3 },
		{ "__nv_fp4_e2m1", WSI_FLOAT_E2M1 },
	};
	for (size_t i = 0; i < WSI_COUNT(known); i++)
		if (ws_str_equal(name, ws_str_of(known[i].name)))
			return known[i].format;
	return WSI_FLOAT_IEEE;
}

static void shape_of_c(uint64_t type, struct wsi_type_shape *shape)
{
	const struct c_type *c = &c_types[type < WSI_COUNT(c_types) ? type : 0];
	const bool is_function = type == WSI_C_FUNCTION;
	shape->kind = type == WSI_C_VOID   ? WS_KIND_VOID
		      : type == WSI_C_DIM3 ? WS_KIND_STRUCT
		      : is_function        ? WS_KIND_FUNCTION
					   : WS_KIND_BASE;
	shape->name = ws_str_of(c->words);
	shape->size = type == WSI_C_VOID || is_function ? 1 : c->bytes;
	shape->encoding = c->encoding;
	shape->small = small_float(shape->name);
}

static void become_array(struct wsi_type_shape *shape, struct ws_vtype element, uint64_t count)
{
	shape->kind = WS_KIND_ARRAY;
	shape->target = element;
	shape->count = count;
}

/* The element of an array of several dimensions is an array of the others. */
static enum ws_status shape_of_array(const struct ws_vtype *type, struct wsi_type_shape *shape,
				     uint64_t element, struct ws_error *err)
{
	uint64_t counts[WS_DWARF_MAX_DIMENSIONS];
	unsigned n;
	struct ws_vtype target = wsi_vars_dwarf_vtype(type->dwarf, element);
	enum ws_status st = ws_dwarf_array(type->dwarf, shape->plain, counts, &n, err);
	if (st != WS_OK)
		return st;
	for (unsigned i = n; i > 1; i--)
		if (!wsi_vtype_repeat(&target, counts[i - 1]))
			return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET,
					"an array of too many dimensions");
	become_array(shape, target, n ? counts[0] : 0);
	return WS_OK;
}

static enum ws_status shape_of_dwarf(const struct ws_vtype *type, struct wsi_type_shape *shape,
				     struct ws_error *err)
{
	struct ws_type plain;
	enum ws_status st = ws_dwarf_plain(type->dwarf, type->type, &shape->plain, err);
	if (st == WS_OK)
		st = ws_dwarf_type(type->dwarf, shape->plain, &plain, err);
	if (st != WS_OK)
		return st;
	shape->kind = plain.kind;
	shape->encoding = plain.encoding;
	shape->name = plain.name;
	shape->size = plain.kind == WS_KIND_FUNCTION ? 1 : plain.size_bytes; /* as in C */
	shape->target = wsi_vars_dwarf_vtype(type->dwarf, plain.target);
	shape->space = wsi_space_of_class(plain.address_class);
	if (plain.kind == WS_KIND_STRUCT && plain.size_bytes <= 2) {
		shape->small = small_float(plain.name);
		if (shape->small != WSI_FLOAT_IEEE) {
			shape->kind = WS_KIND_BASE;
			shape->encoding = WS_ENCODING_FLOAT;
		}
	}
	if (plain.kind == WS_KIND_OTHER && ws_str_equal(plain.name, ws_str_of("void")))
		shape->kind = WS_KIND_VOID;
	return plain.kind == WS_KIND_ARRAY ? shape_of_array(type, shape, plain.target, err) : WS_OK;
}

enum ws_status wsi_shape(const struct ws_vtype *type, struct wsi_type_shape *ret_shape,
			 struct ws_error *err)
{
	struct wsi_type_shape shape = { .kind = WS_KIND_VOID, .space = WS_SPACE_GENERIC }, element;
	enum ws_status st = WS_OK;
	if (type->n_added) {
		const struct ws_vtype_added *added = &type->added[type->n_added - 1];
		struct ws_vtype target = *type;
		target.n_added--;
		if (added->is_pointer) {
			shape.kind = WS_KIND_POINTER;
			shape.space = (enum ws_space)added->space;
			shape.size = 8;
			shape.target = target;
		} else {
			become_array(&shape, target, added->count);
			st = wsi_shape(&target, &element, err);
			if (st == WS_OK)
				shape.size =
					element.size != WS_SIZE_UNKNOWN &&
							(added->count == 0 ||
							 element.size <= INT64_MAX / added->count)
						? element.size * added->count
						: WS_SIZE_UNKNOWN;
		}
	} else if (type->dwarf) {
		st = shape_of_dwarf(type, &shape, err);
	} else {
		shape_of_c(type->type, &shape);
	}
	if (st == WS_OK)
		*ret_shape = shape;
	return st;
}

bool wsi_vars_is_float(const struct wsi_type_shape *shape)
{
	return shape->kind == WS_KIND_BASE && shape->encoding == WS_ENCODING_FLOAT;
}

bool wsi_vars_is_scalar(const struct wsi_type_shape *shape)
{
	return shape->kind == WS_KIND_BASE || shape->kind == WS_KIND_ENUM ||
	       shape->kind == WS_KIND_POINTER || shape->kind == WS_KIND_MEMBER_POINTER;
}

/* ---- members ---- */

enum ws_status wsi_members(const struct wsi_type_shape *shape, const struct ws_vtype *type,
			   struct wsi_type_member *ret_members, size_t cap, size_t *ret_n,
			   struct ws_error *err)
{
	static const char *const xyz[] = { "x", "y", "z" };
	if (!type->dwarf) { /* dim3 */
		*ret_n = shape->kind == WS_KIND_STRUCT ? WSI_COUNT(xyz) : 0;
		for (size_t i = 0; i < *ret_n && i < cap; i++)
			ret_members[i] = (struct wsi_type_member){ .name = ws_str_of(xyz[i]),
								   .type = wsi_c_type(WSI_C_UINT),
								   .offset = 4 * i };
		return WS_OK;
	}
	wsi_scoped_free struct ws_dwarf_member *members =
		wsi_zalloc_array(cap + 1, sizeof *members);
	if (!members)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "members");
	enum ws_status st = ws_dwarf_members(type->dwarf, shape->plain, members, cap, ret_n, err);
	for (size_t i = 0; st == WS_OK && i < *ret_n && i < cap; i++)
		ret_members[i] = (struct wsi_type_member){
			.name = members[i].name,
			.type = wsi_vars_dwarf_vtype(type->dwarf, members[i].type),
			.offset = members[i].offset,
			.bit_off = members[i].bit_off,
			.bit_size = members[i].bit_size,
			.is_base = members[i].is_base,
		};
	return st;
}

/* ---- names ---- */

bool wsi_type_find(const struct ws_dwarf *dwarf, struct ws_str name, struct ws_vtype *ret_type)
{
	const struct ws_dwarf_named *named;
	if (!dwarf || ws_dwarf_find_named(dwarf, WS_NAMED_TYPE, name, &named, NULL) != WS_OK)
		return false;
	*ret_type = wsi_vars_dwarf_vtype(dwarf, named->info_off);
	return true;
}

size_t wsi_c_words(const char *at, char words[WSI_MAX_NAME], const char **ret_end)
{
	static const char *const known[] = { "unsigned", "signed", "long",   "short", "int",
					     "char",     "float",  "double", "bool" };
	size_t len = 0;
	for (;;) {
		struct ws_str word = wsi_word_at(at + strspn(at, " \t"));
		bool is_known = false;
		for (size_t i = 0; i < WSI_COUNT(known); i++)
			is_known |= ws_str_equal(word, ws_str_of(known[i]));
		if (!is_known || len + word.len + 2 > WSI_MAX_NAME)
			break;
		if (len)
			words[len++] = ' ';
		memcpy(words + len, word.ptr, word.len);
		len += word.len;
		at = word.ptr + word.len;
	}
	*ret_end = at;
	return len;
}

size_t wsi_template_name(const char *at, char name[WSI_MAX_NAME], const char **ret_end)
{
	size_t len = 0;
	unsigned depth = 0;
	for (; *at && len + 1 < WSI_MAX_NAME; at++) {
		bool inside = depth > 0 && strchr(",*&:()-+ []", *at);
		if (*at == '<')
			depth++;
		else if (*at == '>' && depth > 0)
			depth--;
		else if (!wsi_is_word(*at) && !inside)
			break;
		bool between = len && wsi_is_word(name[len - 1]) && wsi_is_word(at[1]);
		if (*at == ' ' && !between)
			continue;
		name[len++] = *at;
	}
	*ret_end = at;
	return depth ? 0 : len;
}

struct type_speller {
	char *text;
	size_t size, len;
};

static void put_layer_text(struct type_speller *s, const char *text)
{
	size_t n = strlen(text), room = s->size - 1 - s->len;
	n = n < room ? n : room;
	memcpy(s->text + s->len, text, n);
	s->len += n;
	s->text[s->len] = '\0';
}

/* Takes the "[2][3]" of an array away from the end; "": it is none, or has too many. */
static void dimensions_cut(struct type_speller *s, char *ret_text, size_t size)
{
	size_t at = s->len;
	ret_text[0] = '\0';
	while (at > 0 && strchr("[]0123456789", s->text[at - 1]))
		at--;
	if (at == 0 || s->text[at - 1] != ' ' || s->text[at] != '[' || s->len - at >= size)
		return;
	memcpy(ret_text, s->text + at, s->len - at + 1);
	s->len = at - 1;
	s->text[s->len] = '\0';
}

/* Takes the "(int, float)" of a function away from the end; false: there is none, or no room. */
static bool parameters_take(struct type_speller *s, char *ret_text, size_t size)
{
	size_t at = s->len, depth = 0;
	while (at > 0) {
		at--;
		depth += s->text[at] == ')';
		if (s->text[at] == '(' && --depth == 0)
			break;
		if (depth == 0)
			return false;
	}
	if (s->len - at >= size || s->text[at] != '(')
		return false;
	memcpy(ret_text, s->text + at, s->len - at + 1);
	s->len = at - (at > 0 && s->text[at - 1] == ' ');
	s->text[s->len] = '\0';
	return true;
}

/* "*", behind the space that it points to, if it is not the first: "* @shared*". */
static void put_pointer(struct type_speller *s, const struct ws_vtype_added *added, bool is_first)
{
	if (!is_first && !added->is_bare) {
		put_layer_text(s, " @");
		put_layer_text(s, wsi_space_name((enum ws_space)added->space));
	}
	put_layer_text(s, "*");
}

static void spell_type(const struct ws_vtype *type, bool spaced, struct type_speller *s)
{
	enum { MAX_NAME = 4096 };
	struct wsi_type_shape base;
	char number[40], inner[1024] = "", *name = wsi_zalloc(MAX_NAME);
	const struct ws_vtype unadded = { .dwarf = type->dwarf, .type = type->type };
	if (type->dwarf && name)
		(void)!ws_dwarf_spell(type->dwarf, type->type, name, MAX_NAME);
	const bool leads = spaced && type->dwarf && wsi_shape(&unadded, &base, NULL) == WS_OK &&
			   (base.kind == WS_KIND_POINTER || base.kind == WS_KIND_REFERENCE ||
			    base.kind == WS_KIND_RVALUE_REFERENCE);
	uint32_t innermost = 0; /* of the added pointers; none if the type is one itself */
	while (innermost < type->n_added && !type->added[innermost].is_pointer)
		innermost++;
	const bool has_added = spaced && !leads && innermost < type->n_added;
	const bool is_code =
		innermost < type->n_added && type->added[innermost].space == WS_SPACE_CODE;
	if (leads || (has_added && !type->added[innermost].is_bare && !is_code)) {
		put_layer_text(s, "@");
		put_layer_text(s,
			       wsi_space_name(leads ? base.space
						    : (enum ws_space)type->added[innermost].space));
		put_layer_text(s, " ");
	}
	put_layer_text(s, !type->dwarf
				  ? c_types[type->type < WSI_COUNT(c_types) ? type->type : 0].words
			  : name ? name
				 : "?");
	wsi_free(name);
	/* C writes a pointer to an array inside out */
	uint32_t first = type->n_added;
	while (first > 0 && !type->added[first - 1].is_pointer)
		first--; /* arrays outside all pointers */
	if (first)
		dimensions_cut(s, inner, sizeof inner);
	bool is_array = inner[0] != '\0';
	if (first && is_code && !is_array && !type->dwarf && type->type == WSI_C_VOID) {
		memcpy(inner, "(void)", sizeof "(void)"); /* gdb's type of any code */
		is_array = true;
	} else if (first && is_code && !is_array) {
		is_array = parameters_take(s, inner, sizeof inner);
	}
	for (uint32_t i = 0; i < first; i++)
		is_array |= !type->added[i].is_pointer;
	put_layer_text(s, is_array ? " (" : "");
	for (uint32_t i = 0; i < first; i++)
		if (type->added[i].is_pointer)
			put_pointer(s, &type->added[i], !spaced || (has_added && i == innermost));
	put_layer_text(s, is_array ? ")" : "");
	put_layer_text(s, inner);
	put_layer_text(s, first == 0 && type->n_added ? " " : "");
	for (uint32_t i = type->n_added; i > 0; i--) {
		if (type->added[i - 1].is_pointer)
			continue;
		wsi_format(number, "[%" PRIu64 "]", type->added[i - 1].count);
		put_layer_text(s, number);
	}
}

void ws_vars_spell(const struct ws_vars *vars, const struct ws_vtype *type, char *ret_text,
		   size_t size)
{
	struct type_speller s = { ret_text, size, 0 };
	(void)vars;
	ret_text[0] = '\0';
	spell_type(type, false, &s);
}

void ws_vars_spell_spaces(const struct ws_vars *vars, const struct ws_vtype *type, char *ret_text,
			  size_t size)
{
	struct type_speller s = { ret_text, size, 0 };
	(void)vars;
	ret_text[0] = '\0';
	spell_type(type, true, &s);
}
