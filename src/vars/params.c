/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of a kernel that was not compiled with -G: the image has their places and sizes, the
 * mangled name of the kernel has their types, and nothing has their names.
 *
 * The types are believed if there are as many of them as parameters, and those whose size is known
 * have it.
 */
#include "vars/vars.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_SIGNATURE = 1 << 16, MAX_BANK = 1 << 16 };

void wsi_params_free(struct wsi_params *params)
{
	if (!params)
		return;
	wsi_free(params->param);
	wsi_free(params->signature);
	wsi_free(params);
}

/* ---- types ---- */

static void trim_param(struct ws_str *text)
{
	while (text->len && text->ptr[0] == ' ')
		*text = (struct ws_str){ text->ptr + 1, text->len - 1 };
	while (text->len && text->ptr[text->len - 1] == ' ')
		text->len--;
}

/* Takes a word off the end. */
static bool last_word_drop(struct ws_str *text, const char *word)
{
	size_t n = strlen(word);
	if (text->len < n || memcmp(text->ptr + text->len - n, word, n) != 0)
		return false;
	text->len -= n;
	trim_param(text);
	return true;
}

/* A type of C by words of the demangler, of which only structures and enums are not known. */
static bool type_of_words(struct ws_str words, struct ws_vtype *ret_type)
{
	unsigned pointers = 0;
	struct ws_vtype type;
	const bool is_function = words.len && (memchr(words.ptr, '(', words.len) ||
					       memchr(words.ptr, '[', words.len));
	for (;;) {
		if (last_word_drop(&words, " const") || last_word_drop(&words, " volatile") ||
		    last_word_drop(&words, "__restrict"))
			continue;
		if (!last_word_drop(&words, "&&") && !last_word_drop(&words, "&") &&
		    !last_word_drop(&words, "*"))
			break;
		pointers++;
	}
	if (is_function)
		pointers = 1;
	if (is_function || !wsi_c_type_find(words, &type)) {
		if (pointers == 0)
			return false;
		type = wsi_c_type(WSI_C_VOID);
	}
	for (unsigned i = 0; i < pointers; i++)
		if (!wsi_vtype_point(&type, WS_SPACE_GENERIC))
			return false;
	*ret_type = type;
	return true;
}

/* A number of that size, or the bytes. */
static struct ws_vtype type_of_size(uint32_t size)
{
	static const char *const words[] = { [1] = "unsigned char",
					     [2] = "unsigned short",
					     [4] = "unsigned int",
					     [8] = "unsigned long" };
	struct ws_vtype type = wsi_c_type(WSI_C_VOID);
	if (size < WSI_COUNT(words) && words[size])
		(void)!wsi_c_type_find(ws_str_of(words[size]), &type);
	else if (wsi_c_type_find(ws_str_of(words[1]), &type))
		(void)!wsi_vtype_repeat(&type, size);
	return type;
}

/* The parameters' types in a signature, between its parentheses: the first `cap` of them. */
static size_t signature_split(const char *signature, struct ws_str *ret_types, size_t cap)
{
	size_t end = strlen(signature), depth = 0, n = 0;
	if (end == 0 || signature[end - 1] != ')')
		return 0;
	size_t start = --end;
	for (; start > 0; start--) {
		depth += signature[start] == ')';
		depth -= signature[start] == '(';
		if (depth == 0)
			break;
	}
	if (depth != 0 || start + 1 == end)
		return 0;
	for (size_t from = ++start, at = start; at <= end; at++) {
		const char c = signature[at];
		if (at == end || (c == ',' && depth == 0)) {
			if (n < cap) {
				ret_types[n] = (struct ws_str){ signature + from, at - from };
				trim_param(&ret_types[n]);
			}
			n++;
			from = at + 1;
		} else if (strchr("(<[{", c)) {
			depth++;
		} else if (strchr(")>]}", c) && depth > 0) {
			depth--;
		}
	}
	return n;
}

/* Gives parameters, which are in the order of the signature, their types. */
static void types_take(struct wsi_params *params)
{
	wsi_scoped_free struct ws_str *words = wsi_zalloc_array(params->n + 1, sizeof *words);
	wsi_scoped_free struct ws_vtype *types = wsi_zalloc_array(params->n + 1, sizeof *types);
	bool good = words && types && params->signature &&
		    signature_split(params->signature, words, params->n) == params->n;
	for (uint32_t i = 0; good && i < params->n; i++) {
		struct ws_value value = { .kind = WS_VALUE_GONE };
		uint64_t size = params->param[i].size_bytes;
		if (!type_of_words(words[i], &value.type))
			value.type = type_of_size((uint32_t)size);
		else
			good = ws_vars_size(&value, &size, NULL) == WS_OK &&
			       size == params->param[i].size_bytes;
		types[i] = value.type;
	}
	for (uint32_t i = 0; i < params->n; i++) {
		struct ws_kernel_param *param = &params->param[i];
		param->value.type = good ? types[i] : type_of_size(param->size_bytes);
		if (good)
			param->type = words[i];
	}
}

/* ---- places ---- */

static int by_offset(const void *left, const void *right)
{
	const struct ws_kernel_param *a = left, *b = right;
	return WSI_ORDER(a->bank_offset, b->bank_offset);
}

/* What `.nv.info` tells, which may be anything. */
static enum ws_status places_take(const struct ws_frame *frame, struct wsi_params *params,
				  struct ws_error *err)
{
	struct ws_function_info info;
	wsi_scoped_free struct ws_param *layout = wsi_zalloc_array(WSI_MAX_PARAMS, sizeof *layout);
	if (!layout)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "parameters");
	enum ws_status st = ws_cubin_function_info(frame->place.cubin, frame->place.function, &info,
						   layout, WSI_MAX_PARAMS, NULL, 0, err);
	if (st != WS_OK)
		return st;
	const size_t n = (size_t)wsi_min_u64(info.n_params, WSI_MAX_PARAMS);
	if (n > 0 && info.param_bank_offset > MAX_BANK)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the image does not tell where the parameters are");
	params->param = wsi_zalloc_array(n + 1, sizeof *params->param);
	if (!params->param)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "parameters");
	for (size_t i = 0; i < n; i++) {
		struct ws_kernel_param *param = &params->param[params->n];
		if (layout[i].offset > MAX_BANK || layout[i].size_bytes > MAX_BANK ||
		    layout[i].size_bytes == 0 ||
		    (i > 0 && layout[i].ordinal == layout[i - 1].ordinal))
			return wsi_fail(err, WS_MALFORMED, WS_NO_OFFSET,
					"the image describes parameters that cannot be");
		snprintf(param->name, sizeof param->name, "arg%" PRIu32, layout[i].ordinal);
		param->bank_offset = info.param_bank_offset + layout[i].offset;
		param->size_bytes = layout[i].size_bytes;
		params->n++;
	}
	return WS_OK;
}

enum ws_status wsi_params_of(struct ws_vars *vars, const struct wsi_params **ret_params,
			     struct ws_error *err)
{
	const struct ws_dwarf *dwarf;
	const struct ws_dwarf_function *function = NULL;
	enum ws_status st = wsi_vars_dwarf(vars, &dwarf, &function, err);
	const bool has_frame = vars->has_thread || vars->has_code;
	const struct ws_frame *frame = has_frame ? &vars->frames[vars->selected] : NULL;
	if (!frame || frame->status != WS_OK || !frame->place.function || st == WS_NO_MEMORY)
		return st;
	if (st == WS_OK && function)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "the function has variables");
	if (!frame->place.function->is_kernel)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the function was not compiled with -G, and is not a kernel");
	*ret_params = vars->params;
	if (vars->params && vars->params->of == frame->place.function)
		return WS_OK;
	wsi_params_free(vars->params);
	struct wsi_params *params = vars->params = wsi_zalloc(sizeof *params);
	if (!params)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "parameters");
	st = places_take(frame, params, err);
	if (st == WS_OK) {
		params->signature = wsi_zalloc(MAX_SIGNATURE);
		if (params->signature &&
		    !ws_demangle(frame->place.function->name, params->signature, MAX_SIGNATURE))
			params->signature[0] = '\0';
		types_take(params);
		qsort(params->param, params->n, sizeof *params->param, by_offset);
		params->of = frame->place.function;
	}
	*ret_params = params;
	return st;
}

/* ---- values ---- */

/* Where the value is, or why there is none. A dump that was stripped lost it. */
static void place_take(struct ws_vars *vars, struct ws_kernel_param *param)
{
	struct ws_value *value = &param->value;
	uint8_t first;
	value->kind = WS_VALUE_MEMORY;
	value->at = wsi_address(vars, WS_SPACE_PARAM, param->bank_offset);
	value->status =
		vars->is_stripped ? WS_EXCLUDED : wsi_value_read(vars, value, 0, &first, 1, NULL);
	if (value->status != WS_OK)
		value->kind = WS_VALUE_MISSING;
}

enum ws_status ws_vars_params(struct ws_vars *vars, struct ws_kernel_param *ret_list, size_t cap,
			      size_t *ret_n, struct ws_error *err)
{
	const struct wsi_params *params;
	enum ws_status st = wsi_params_of(vars, &params, err);
	if (st != WS_OK)
		return st;
	for (size_t i = 0; i < params->n && i < cap; i++) {
		ret_list[i] = params->param[i];
		place_take(vars, &ret_list[i]);
	}
	*ret_n = params->n;
	return WS_OK;
}

enum ws_status wsi_param_find(struct ws_vars *vars, struct ws_str name, struct ws_value *ret_value,
			      struct ws_error *err)
{
	const struct wsi_params *params;
	enum ws_status st = wsi_params_of(vars, &params, err);
	for (size_t i = 0; st == WS_OK && i < params->n; i++) {
		struct ws_kernel_param param = params->param[i];
		if (!ws_str_equal(ws_str_of(param.name), name))
			continue;
		place_take(vars, &param);
		*ret_value = param.value;
		return WS_OK;
	}
	return st == WS_OK ? wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no such parameter") : st;
}
