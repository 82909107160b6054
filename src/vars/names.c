/* SPDX-License-Identifier: Apache-2.0 */
/* What a name is in an expression: a variable of the frame, of another function of the stack, of a
 * source file or of the image; a function. */
#include "vars/vars.h"

static bool name_has_text(struct ws_str whole, struct ws_str text)
{
	for (size_t i = 0; i + text.len <= whole.len; i++)
		if (memcmp(whole.ptr + i, text.ptr, text.len) == 0)
			return true;
	return false;
}

/* The part of a name that a mangled one has as it is: "bump" of "Counter::bump(int)". */
static struct ws_str plain_part(struct ws_str name)
{
	size_t start = 0, n = 0;
	while (n < name.len && name.ptr[n] != '(' && name.ptr[n] != '<') {
		start = name.ptr[n] == ':' ? n + 1 : start;
		n++;
	}
	return (struct ws_str){ name.ptr + start, n - start };
}

/* Whether `name` is in a demangled name as a whole: "tiles<4>" in "void app::tiles<4>(int*)". */
static bool has_whole(struct ws_str full, struct ws_str name)
{
	for (size_t i = 0; i + name.len <= full.len; i++) {
		const char before = i ? full.ptr[i - 1] : ' ';
		const char after = i + name.len < full.len ? full.ptr[i + name.len] : '(';
		if (strchr(" :", before) && strchr("(<", after) &&
		    memcmp(full.ptr + i, name.ptr, name.len) == 0)
			return true;
	}
	return false;
}

/* Whether a name is the other but for its scopes. */
static bool ends_in(struct ws_str whole, struct ws_str name)
{
	const size_t before = whole.len - name.len;
	return whole.len >= name.len && memcmp(whole.ptr + before, name.ptr, name.len) == 0 &&
	       (before == 0 || whole.ptr[before - 1] == ':');
}

/* Whether a function is called that but for its scopes and, unless the name has them, its template
 * arguments and parameters. */
static bool is_called(struct ws_str function, struct ws_str name)
{
	enum { LONGEST = 4096 };
	const struct ws_str part = plain_part(name);
	if (!part.len || !name_has_text(function, part))
		return false;
	wsi_scoped_free char *text = wsi_zalloc(LONGEST);
	if (!text)
		return false;
	if (part.ptr + part.len < name.ptr + name.len) {
		ws_demangle(function, text, LONGEST);
		return has_whole(ws_str_of(text), name);
	}
	ws_demangle_short(function, text, LONGEST);
	if (ends_in(ws_str_of(text), name))
		return true;
	ws_demangle_kernel(function, text, LONGEST); /* Numba: with its module */
	return ends_in(ws_str_of(text), name);
}

static bool is_loaded(const struct ws_function *function, struct ws_str name)
{
	return function->gpu_va && is_called(function->name, name);
}

/* What a function takes and returns, as far as its image tells. */
static struct ws_vtype function_type(struct ws_cubin *cubin, const struct ws_function *function)
{
	const struct ws_dwarf *dwarf;
	const struct ws_dwarf_function *described;
	struct ws_type type;
	if (ws_cubin_dwarf(cubin, &dwarf, NULL) == WS_OK &&
	    ws_dwarf_find_function(dwarf, function->name, &described, NULL) == WS_OK &&
	    ws_dwarf_type(dwarf, described->info_off, &type, NULL) == WS_OK &&
	    type.kind == WS_KIND_FUNCTION)
		return wsi_vars_dwarf_vtype(dwarf, described->info_off);
	return wsi_c_type(WSI_C_FUNCTION);
}

bool wsi_function_find(struct ws_vars *vars, struct ws_str name, struct ws_value *ret_value)
{
	const struct ws_function *found = NULL, *own = NULL;
	struct ws_cubin_set *set;
	struct ws_cubin *cubin = NULL;
	if (!name.len || ws_target_cubins(vars->target, &set, NULL) != WS_OK)
		return false;
	if (vars->has_thread && vars->frames[vars->selected].status == WS_OK) {
		own = vars->frames[vars->selected].place.function; /* of several the frame's */
		cubin = vars->frames[vars->selected].place.cubin;
	}
	if (own && is_loaded(own, name))
		found = own;
	for (uint32_t i = 0; i < ws_cubin_set_count(set) && !found; i++) {
		const struct ws_function *functions;
		size_t n = 0;
		if (ws_cubin_set_cubin(set, i, &cubin, NULL) != WS_OK ||
		    ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
			continue;
		for (size_t k = 0; k < n && !found; k++)
			found = is_loaded(&functions[k], name) ? &functions[k] : NULL;
	}
	if (!found)
		return false;
	*ret_value =
		(struct ws_value){ .kind = WS_VALUE_MEMORY, .type = function_type(cubin, found) };
	ret_value->at = wsi_address(vars, WS_SPACE_CODE, found->gpu_va);
	return true;
}

/* ---- variables ---- */

static enum ws_status global_find(struct ws_vars *vars, const struct ws_dwarf *dwarf,
				  struct ws_str name, struct ws_value *ret_value,
				  struct ws_error *err)
{
	const struct ws_dwarf_named *named;
	enum ws_status st = ws_dwarf_find_named(dwarf, WS_NAMED_VARIABLE, name, &named, err);
	return st == WS_OK ? wsi_vars_global_value(vars, dwarf, named, ret_value, err) : st;
}

enum ws_status wsi_vars_variable_find(struct ws_vars *vars, struct ws_str name, bool is_global,
				      struct ws_value *ret_value, struct ws_error *err)
{
	const struct ws_dwarf *dwarf;
	const struct ws_dwarf_function *function;
	enum ws_status st = is_global ? WS_ABSENT : wsi_vars_local_find(vars, name, ret_value, err);
	if (st == WS_OK)
		return st;
	if (wsi_vars_dwarf(vars, &dwarf, &function, is_global ? err : NULL) != WS_OK)
		return is_global ? WS_ABSENT : st;
	return global_find(vars, dwarf, name, ret_value, err);
}

/* The position of a function in the code of a frame, also of one that is inlined there. */
static bool position_find(const struct ws_frame *frame, struct ws_str function,
			  uint32_t *ret_position)
{
	enum { MOST = 64 };
	struct ws_line_pos chain[MOST];
	const struct ws_place *place = &frame->place;
	size_t n = 0;
	if (frame->status != WS_OK || !place->function)
		return false;
	if (ws_cubin_line_find(place->cubin, place->section, place->sec_off, chain, MOST, &n,
			       NULL) != WS_OK)
		n = 0;
	for (uint32_t i = 0; i + 1 < n && i < MOST; i++) {
		if (!chain[i].function || !is_called(ws_str_of(chain[i].function), function))
			continue;
		*ret_position = i;
		return true;
	}
	*ret_position = WSI_OUTERMOST;
	return is_loaded(place->function, function);
}

/* From a frame on those that it was called by, then those within it: the first of the function. */
static bool named_frame_find(const struct ws_vars *vars, struct ws_str function,
			     uint32_t *ret_frame, uint32_t *ret_position)
{
	const uint32_t n = vars->n_frames - vars->n_hidden;
	for (uint32_t i = 0; vars->has_thread && i < n; i++) {
		const uint32_t at = vars->n_hidden + (vars->selected - vars->n_hidden + i) % n;
		if (position_find(&vars->frames[at], function, ret_position)) {
			*ret_frame = at;
			return true;
		}
	}
	return false;
}

enum ws_status wsi_function_variable(struct ws_vars *vars, struct ws_str function,
				     struct ws_str name, struct ws_value *ret_value,
				     struct ws_error *err)
{
	const uint32_t selected = vars->selected, position = vars->position;
	uint32_t at, at_position;
	struct ws_value code;
	if (!named_frame_find(vars, function, &at, &at_position))
		return wsi_function_find(vars, function, &code)
			       ? wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
					  "no frame of this thread executes '%.*s'",
					  (int)wsi_min_u64(function.len, 100), function.ptr)
			       : WS_ABSENT;
	wsi_record_lose(vars); /* another thread has other frames */
	vars->selected = at;
	vars->position = at_position;
	enum ws_status st = wsi_vars_local_find(vars, name, ret_value, NULL);
	vars->selected = selected;
	vars->position = position;
	return st == WS_OK ? st
			   : wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				      "'%.*s' has no variable '%.*s' where it stands",
				      (int)wsi_min_u64(function.len, 60), function.ptr,
				      (int)wsi_min_u64(name.len, 60), name.ptr);
}

/* Whether a unit is called that, or ends in it behind a '/'. */
static bool is_file(const struct ws_dwarf *dwarf, uint64_t info_off, struct ws_str file)
{
	struct ws_dwarf_unit unit;
	if (!file.len || ws_dwarf_unit(dwarf, info_off, &unit, NULL) != WS_OK ||
	    unit.name.len < file.len)
		return false;
	const char *end = unit.name.ptr + unit.name.len - file.len;
	return memcmp(end, file.ptr, file.len) == 0 &&
	       (end == unit.name.ptr || end[-1] == '/' || *file.ptr == '/');
}

/* Variables of one name lie side by side. */
static bool in_file(struct ws_vars *vars, const struct ws_dwarf *dwarf, struct ws_str file,
		    struct ws_str name, struct ws_value *ret_value)
{
	const struct ws_dwarf_named *named, *end;
	if (ws_dwarf_find_named(dwarf, WS_NAMED_VARIABLE, name, &named, NULL) != WS_OK)
		return false;
	for (end = ws_dwarf_named_at(dwarf, 0) + ws_dwarf_named_count(dwarf);
	     named < end && named->kind == WS_NAMED_VARIABLE && ws_str_equal(named->name, name);
	     named++)
		if (is_file(dwarf, named->info_off, file))
			return wsi_vars_global_value(vars, dwarf, named, ret_value, NULL) == WS_OK;
	return false;
}

enum ws_status wsi_vars_file_variable(struct ws_vars *vars, struct ws_str file, struct ws_str name,
				      struct ws_value *ret_value)
{
	struct ws_cubin_set *set;
	const struct ws_dwarf *dwarf;
	struct ws_cubin *cubin;
	enum ws_status st = ws_target_cubins(vars->target, &set, NULL);
	for (uint32_t i = 0; st == WS_OK && i < ws_cubin_set_count(set); i++)
		if (ws_cubin_set_cubin(set, i, &cubin, NULL) == WS_OK &&
		    ws_cubin_dwarf(cubin, &dwarf, NULL) == WS_OK &&
		    in_file(vars, dwarf, file, name, ret_value))
			return WS_OK;
	return WS_ABSENT;
}
