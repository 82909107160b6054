/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names, types and fields of parameters, of code that was compiled with -G.
 *
 * A kernel's formal parameters are taken only when they fit the layout of the image: as many, each
 * as large. Hidden parameters, or debug information of other code, would name the wrong bytes.
 */
#include "base/reader.h"
#include "report/build.h"

enum {
	MAX_TYPES = 4096,  /* looked at for one report: a bound for odd images */
	MAX_FORMALS = 64,  /* of a function on the stack */
	MAX_MEMBERS = 256, /* of one structure */
	MAX_DEPTH = 8,     /* structures within structures */
	MAX_PATH = 240,    /* bytes of "a.b.c" */
	MAX_TYPE_NAME = 4096,
};

/* ---- the debug information of a function ---- */

struct formals {
	const struct ws_dwarf *dwarf;
	struct ws_dwarf_param *at; /* owned */
	size_t n;
};

static void formals_fini(struct formals *formals)
{
	wsi_free(formals->at);
	formals->at = NULL;
}

/* The image's own, or that of an equal build among the debug images. */
static enum ws_status place_dwarf_of(struct wsi_build *build, const struct ws_place *place,
				     const struct ws_dwarf **ret_dwarf, struct ws_error *err)
{
	enum ws_status st = ws_cubin_dwarf(place->cubin, ret_dwarf, err);
	if (st != WS_ABSENT)
		return st;
	struct wsi_lines lines = wsi_report_lines_of(build, place, NULL);
	return lines.cubin == place->cubin ? st : ws_cubin_dwarf(lines.cubin, ret_dwarf, err);
}

static enum ws_status formals_read(struct wsi_build *build, const struct ws_place *place,
				   size_t max, struct formals *ret_formals, struct ws_error *err)
{
	struct formals formals = { 0 };
	const struct ws_dwarf_function *function;
	enum ws_status st = place_dwarf_of(build, place, &formals.dwarf, err);
	if (st == WS_OK)
		st = ws_dwarf_find_function(formals.dwarf, place->function->name, &function, err);
	if (st == WS_OK)
		st = ws_dwarf_params(formals.dwarf, function, NULL, 0, &formals.n, err);
	if (st != WS_OK)
		return st;
	formals.n = (size_t)wsi_min_u64(formals.n, max);
	formals.at = wsi_zalloc_array(formals.n + 1, sizeof *formals.at);
	if (!formals.at)
		return WS_NO_MEMORY;
	size_t n;
	st = ws_dwarf_params(formals.dwarf, function, formals.at, formals.n, &n, err);
	if (st != WS_OK) {
		formals_fini(&formals);
		return st;
	}
	*ret_formals = formals;
	return WS_OK;
}

/* ---- texts ---- */

static bool may_look_at_types(struct wsi_build *build)
{
	if (build->n_types >= MAX_TYPES)
		return false;
	build->n_types++;
	return true;
}

/* The type as C++ writes it; empty when the bound is reached, NULL bytes when memory is out. */
static struct ws_str type_text(struct wsi_build *build, const struct ws_dwarf *dwarf, uint64_t type)
{
	char *buffer = build->name_buffer;
	if (!may_look_at_types(build))
		return ws_str_of("");
	if (ws_dwarf_spell(dwarf, type, buffer, MAX_TYPE_NAME) != WS_OK)
		memcpy(buffer + strlen(buffer), "...", 4); /* cut: the buffer is larger */
	return ws_str_of(wsi_arena_str(build->arena, buffer, strlen(buffer)));
}

/* ---- values ---- */

static uint64_t low_bits(uint64_t value, unsigned bits)
{
	return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static int64_t extend(uint64_t value, unsigned bits)
{
	return bits < 64 ? (int64_t)(value << (64 - bits)) >> (64 - bits) : (int64_t)value;
}

/* The shortest text that gives the same number back. */
static const char *float_text(struct wsi_build *build, uint64_t bits, size_t size)
{
	char text[40];
	uint32_t low = (uint32_t)bits;
	float single;
	double value;
	memcpy(&single, &low, sizeof single);
	memcpy(&value, &bits, sizeof value);
	if (size == sizeof single)
		value = (double)single;
	for (int digits = 1; digits <= 17; digits++) {
		wsi_format(text, "%.*g", digits, value);
		double again = strtod(text, NULL);
		if (size == sizeof single ? (float)again == single : again == value)
			break;
	}
	char *comma = strchr(text, ','); /* of the locale of the program */
	if (comma)
		*comma = '.';
	return wsi_build_text(build, "%s", text);
}

static const char *base_text(struct wsi_build *build, const struct ws_type *type, uint64_t value,
			     unsigned bits)
{
	switch (type->encoding) {
	case WS_ENCODING_BOOL:
		if (value <= 1)
			return value ? "true" : "false";
		return wsi_build_text(build, "%" PRIu64, value);
	case WS_ENCODING_FLOAT:
		return bits == 32 || bits == 64 ? float_text(build, value, bits / 8) : NULL;
	case WS_ENCODING_SIGNED:
	case WS_ENCODING_SIGNED_CHAR:
		return wsi_build_text(build, "%" PRId64, extend(value, bits));
	case WS_ENCODING_UNSIGNED:
	case WS_ENCODING_UNSIGNED_CHAR:
		return wsi_build_text(build, "%" PRIu64, value);
	default:
		return NULL;
	}
}

static const char *enum_text(struct wsi_build *build, const struct ws_dwarf *dwarf, uint64_t type,
			     uint64_t value, unsigned bits)
{
	struct ws_str name;
	int64_t number = extend(value, bits);
	enum ws_status st = ws_dwarf_enumerator(dwarf, type, number, &name, NULL);
	if (st != WS_OK && number < 0) { /* of an unsigned type: EDG and LLVM do not say which */
		number = (int64_t)value;
		st = ws_dwarf_enumerator(dwarf, type, number, &name, NULL);
	}
	if (st != WS_OK || !name.len || name.len >= MAX_PATH)
		return wsi_build_text(build, "%" PRId64, number);
	char mangled[MAX_PATH], *buffer = build->name_buffer;
	wsi_format(mangled, "%.*s", (int)name.len, name.ptr);
	ws_demangle(ws_str_of(mangled), buffer, WSI_NAME_BUFFER);
	return wsi_build_text(build, "%s (%" PRId64 ")", buffer, number);
}

/* The value of a scalar as its type reads it; NULL: none, or not in the first bytes. */
static const char *scalar_value_text(struct wsi_build *build, const struct ws_dwarf *dwarf,
				     uint64_t type, struct ws_span bytes, uint64_t offset,
				     uint32_t bit_off, uint32_t bit_size)
{
	struct ws_type plain;
	struct ws_span at;
	uint64_t off;
	if (ws_dwarf_plain(dwarf, type, &off, NULL) != WS_OK ||
	    ws_dwarf_type(dwarf, off, &plain, NULL) != WS_OK || plain.size_bytes == 0 ||
	    plain.size_bytes > 8 || !ws_span_sub(bytes, offset, plain.size_bytes, &at))
		return NULL;
	uint64_t value = wsi_load_le(at.ptr, (unsigned)at.len);
	unsigned bits = 8 * (unsigned)plain.size_bytes;
	if (bit_size) {
		if (bit_off > 63 || bit_size > bits - wsi_min_u64(bit_off, bits))
			return NULL;
		value = low_bits(value >> bit_off, bit_size);
		bits = bit_size;
	}
	if (plain.kind == WS_KIND_BASE)
		return base_text(build, &plain, value, bits);
	if (plain.kind == WS_KIND_ENUM)
		return enum_text(build, dwarf, off, value, bits);
	if (plain.kind == WS_KIND_POINTER || plain.kind == WS_KIND_REFERENCE)
		return wsi_build_text(build, "0x%" PRIx64, value);
	return NULL;
}

/* ---- fields ---- */

struct type_fields {
	struct wsi_build *build;
	const struct ws_dwarf *dwarf;
	const struct ws_report_param *param;
	struct ws_report_field *at; /* owned */
	size_t n, cap;
	bool cut, no_memory;
};

static void field_add(struct type_fields *f, const struct ws_dwarf_member *member, const char *path,
		      uint64_t offset, uint64_t size)
{
	if (f->n == WS_PARAM_FIELDS) {
		f->cut = true;
		return;
	}
	struct ws_str name = ws_str_of(wsi_build_text(f->build, "%s", path));
	struct ws_str type = type_text(f->build, f->dwarf, member->type);
	if (!type.len)
		f->cut = true;
	if (!name.ptr || !type.ptr ||
	    !wsi_grow(&f->at, &f->cap, f->n, sizeof *f->at, WS_PARAM_FIELDS)) {
		f->no_memory = true;
		return;
	}
	f->at[f->n++] = (struct ws_report_field){
		.path = name,
		.type = type,
		.offset = (uint32_t)offset,
		.size_bytes = (uint32_t)size,
		.bit_off = member->bit_off,
		.bit_size = member->bit_size,
		.text = scalar_value_text(f->build, f->dwarf, member->type, f->param->value, offset,
					  member->bit_off, member->bit_size),
	};
}

static void fields_collect(struct type_fields *f, uint64_t type, uint64_t start, const char *prefix,
			   unsigned depth);

/* A structure is taken apart; all else is a field. */
static void member_collect(struct type_fields *f, const struct ws_dwarf_member *member,
			   uint64_t start, const char *prefix, unsigned depth)
{
	struct ws_type type;
	uint64_t plain, offset = wsi_add_sat(start, member->offset);
	char path[MAX_PATH];
	bool ok = ws_dwarf_plain(f->dwarf, member->type, &plain, NULL) == WS_OK &&
		  ws_dwarf_type(f->dwarf, plain, &type, NULL) == WS_OK;
	if (!ok || offset > f->param->size_bytes ||
	    type.size_bytes > f->param->size_bytes - offset) {
		f->cut = true; /* damaged: it cannot be a part of the parameter */
		return;
	}
	bool is_struct = type.kind == WS_KIND_STRUCT;
	const char *name = member->name.len ? "" : is_struct ? NULL : "{unnamed}";
	bool fits = wsi_format(path, "%s%s%.*s%s", prefix, *prefix && name ? "." : "",
			       (int)wsi_min_u64(member->name.len, MAX_PATH),
			       member->name.ptr ? member->name.ptr : "", name ? name : "");
	if (!fits)
		f->cut = true;
	else if (is_struct && depth < MAX_DEPTH)
		fields_collect(f, plain, offset, path, depth + 1);
	else
		field_add(f, member, path, offset, type.size_bytes);
}

static void fields_collect(struct type_fields *f, uint64_t type, uint64_t start, const char *prefix,
			   unsigned depth)
{
	size_t n = 0;
	wsi_scoped_free struct ws_dwarf_member *members =
		wsi_zalloc_array(MAX_MEMBERS, sizeof *members);
	if (!members) {
		f->no_memory = true;
		return;
	}
	if (!may_look_at_types(f->build) ||
	    ws_dwarf_members(f->dwarf, type, members, MAX_MEMBERS, &n, NULL) != WS_OK) {
		f->cut = true;
		return;
	}
	f->cut |= n > MAX_MEMBERS;
	n = (size_t)wsi_min_u64(n, MAX_MEMBERS);
	for (size_t i = 0; i < n && !f->no_memory && f->n < WS_PARAM_FIELDS; i++)
		member_collect(f, &members[i], start, prefix, depth);
	f->cut |= n > 0 && f->n == WS_PARAM_FIELDS;
}

static bool fields_of(struct wsi_build *build, const struct ws_dwarf *dwarf, uint64_t type,
		      struct ws_report_param *param)
{
	struct type_fields f = { .build = build, .dwarf = dwarf, .param = param };
	struct ws_type plain;
	uint64_t off;
	if (ws_dwarf_plain(dwarf, type, &off, NULL) != WS_OK ||
	    ws_dwarf_type(dwarf, off, &plain, NULL) != WS_OK || plain.kind != WS_KIND_STRUCT)
		return true;
	fields_collect(&f, off, 0, "", 0);
	struct ws_report_field *fields =
		f.no_memory ? NULL : wsi_arena_zalloc_array(build->arena, f.n + 1, sizeof *fields);
	if (fields && f.n)
		memcpy(fields, f.at, f.n * sizeof *fields);
	wsi_free(f.at);
	param->fields = fields;
	param->n_fields = (uint32_t)f.n;
	param->fields_cut = f.cut;
	return fields != NULL;
}

/* ---- parameters of a kernel ---- */

static enum ws_status check_fit(const struct formals *formals, const struct ws_param *layout,
				size_t n, struct ws_error *err)
{
	if (formals->n != n)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"debug information has %zu parameters of the kernel, its layout "
				"%zu",
				formals->n, n);
	for (size_t i = 0; i < n; i++) {
		struct ws_type type;
		enum ws_status st = ws_dwarf_type(formals->dwarf, formals->at[i].type, &type, err);
		if (st != WS_OK)
			return st;
		if (type.size_bytes != layout[i].size_bytes)
			return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
					"debug information gives parameter %zu %" PRIu64
					" bytes, the layout %u",
					i, type.size_bytes, layout[i].size_bytes);
	}
	return WS_OK;
}

enum ws_status wsi_types_of_kernel(struct wsi_build *build, const struct ws_place *place,
				   const struct ws_param *layout, size_t n,
				   struct ws_report_param *params, struct ws_error *err)
{
	struct formals formals;
	enum ws_status st = formals_read(build, place, n + 1, &formals, err);
	if (st != WS_OK)
		return st;
	st = check_fit(&formals, layout, n, err);
	for (size_t i = 0; i < n && st == WS_OK; i++) {
		const struct ws_dwarf_param *formal = &formals.at[i];
		params[i].name = formal->name;
		params[i].type = type_text(build, formals.dwarf, formal->type);
		params[i].text = scalar_value_text(build, formals.dwarf, formal->type,
						   params[i].value, 0, 0, 0);
		if (!params[i].type.ptr ||
		    !fields_of(build, formals.dwarf, formal->type, &params[i]))
			st = WS_NO_MEMORY;
	}
	formals_fini(&formals);
	return st;
}

struct ws_str wsi_types_field(struct wsi_build *build, const struct ws_place *place,
			      uint32_t ordinal, uint32_t offset)
{
	struct formals formals;
	struct ws_dwarf_field field;
	struct ws_str found = { NULL, 0 };
	char path[MAX_PATH];
	if (formals_read(build, place, (size_t)ordinal + 1, &formals, NULL) != WS_OK)
		return found;
	if (ordinal < formals.n &&
	    ws_dwarf_find_field(formals.dwarf, formals.at[ordinal].type, offset, path, sizeof path,
				&field, NULL) == WS_OK)
		found = ws_str_of(wsi_build_text(build, "%s", path));
	formals_fini(&formals);
	return found;
}

/* ---- parameters of a frame ---- */

static enum ws_status frame_formals(struct wsi_build *build, const struct ws_place *place,
				    struct wsi_frame_formals *ret_found)
{
	struct formals formals = { 0 };
	struct wsi_frame_formals found = { 0 };
	found.status = formals_read(build, place, MAX_FORMALS, &formals, NULL);
	struct ws_report_formal *at =
		wsi_arena_zalloc_array(build->arena, formals.n + 1, sizeof *at);
	bool ok = at && found.status != WS_NO_MEMORY;
	for (size_t i = 0; i < formals.n && ok; i++) {
		at[i].name = formals.at[i].name;
		at[i].type = type_text(build, formals.dwarf, formals.at[i].type);
		ok = at[i].type.ptr != NULL;
	}
	found.at = at;
	found.n = (uint32_t)formals.n;
	formals_fini(&formals);
	*ret_found = found;
	return ok ? WS_OK : WS_NO_MEMORY;
}

enum ws_status wsi_types_of_frame(struct wsi_build *build, const struct ws_place *place,
				  struct ws_report_frame *frame)
{
	struct wsi_map_key key = { { (uintptr_t)place->function, 0, 2, 0 } };
	bool is_new;
	uint32_t *index = wsi_map_put(&build->cache, &key, (uint32_t)build->n_formals, &is_new);
	if (!index)
		return WS_NO_MEMORY;
	uint32_t at = *index;
	if (is_new) {
		if (!wsi_grow(&build->formals, &build->cap_formals, build->n_formals,
			      sizeof *build->formals, UINT32_MAX - 1) ||
		    frame_formals(build, place, &build->formals[build->n_formals]) != WS_OK)
			return WS_NO_MEMORY;
		build->n_formals++;
	}
	frame->formals_status = build->formals[at].status;
	frame->formals = build->formals[at].at;
	frame->n_formals = build->formals[at].n;
	return WS_OK;
}
