/* SPDX-License-Identifier: Apache-2.0 */
/* Names and source positions of code, the same in all answers. */
#include <warpscope/symbols.h>

#include "base/base.h"
#include "cubin/cubin.h"

void ws_name_text(struct ws_out *out, struct ws_str mangled, bool full)
{
	char text[WS_NAME_BYTES]; /* 128 KiB: not to be filled for a name */
	if (!mangled.ptr) {
		ws_out_text(out, "?");
		return;
	}
	if (full)
		ws_demangle(mangled, text, sizeof text);
	else
		ws_demangle_short(mangled, text, sizeof text);
	ws_out_escaped(out, ws_str_of(text));
}

void ws_name_json(struct ws_json *json, struct ws_str mangled)
{
	char text[WS_NAME_BYTES];
	ws_demangle(mangled, text, sizeof text);
	ws_json_key_text(json, "function", text);
	ws_json_key_str(json, "function_mangled", mangled);
}

bool ws_name_is(const struct ws_function *function, const char *name)
{
	char text[WS_NAME_BYTES];
	if (ws_str_equal(function->symbol, ws_str_of(name)) ||
	    ws_str_equal(function->name, ws_str_of(name)))
		return true;
	ws_demangle_short(function->name, text, sizeof text);
	if (strcmp(text, name) == 0)
		return true;
	ws_demangle(function->name, text, sizeof text);
	if (strcmp(text, name) == 0)
		return true;
	ws_demangle_kernel(function->name, text, sizeof text);
	if (strcmp(text, name) == 0)
		return true;
	if (!strstr(name, "[abi:") && !strstr(name, "_INTERNAL_"))
		return false;
	wsi_demangle_all(function->name, false, text, sizeof text);
	if (strcmp(text, name) == 0)
		return true;
	wsi_demangle_all(function->name, true, text, sizeof text);
	return strcmp(text, name) == 0;
}

/* ---- source positions ---- */

void ws_path_text(struct ws_out *out, const struct ws_line_file *file, bool brief)
{
	if (!file) {
		ws_out_text(out, "?");
		return;
	}
	if (!brief && file->dir && *file->dir && file->name[0] != '/') {
		ws_out_escaped(out, ws_str_of(file->dir));
		ws_out_text(out, "/");
	}
	ws_out_escaped(out, ws_str_of(file->name));
}

void ws_position_text(struct ws_out *out, const struct ws_line_pos *pos, bool brief)
{
	ws_path_text(out, pos->file, brief);
	ws_out_printf(out, ":%u", (unsigned)pos->line);
}

void ws_chain_text(struct ws_out *out, const struct ws_line_pos *pos, size_t n, bool full_names)
{
	for (size_t i = 0; i < n; i++) {
		ws_out_printf(out, "  #%zu ", i);
		ws_name_text(out, ws_str_of(pos[i].function), full_names);
		ws_out_text(out, " at ");
		ws_position_text(out, &pos[i], false);
		if (pos[i].call_site_lost)
			ws_out_text(out, " (inlined; its call site is damaged)");
		else if (i + 1 < n)
			ws_out_text(out, " (inlined)");
		ws_out_text(out, "\n");
	}
}

void ws_path_json(struct ws_json *json, const struct ws_line_file *file)
{
	if (!file) {
		ws_json_missing(json, "file", WS_ABSENT);
		return;
	}
	size_t len = ws_line_path(file, NULL, 0);
	char *path = wsi_zalloc(len + 1);
	if (path) {
		ws_line_path(file, path, len + 1);
		ws_json_key_str(json, "file", (struct ws_str){ path, len });
	} else {
		ws_json_missing(json, "file", WS_NO_MEMORY);
	}
	wsi_free(path);
}

void ws_function_json(struct ws_json *json, const char *mangled)
{
	if (mangled) {
		ws_name_json(json, ws_str_of(mangled));
		return;
	}
	ws_json_missing(json, "function", WS_MALFORMED);
	ws_json_missing(json, "function_mangled", WS_MALFORMED);
}

void ws_chain_json(struct ws_json *json, const struct ws_line_pos *pos, size_t n)
{
	ws_json_array(json);
	for (size_t i = 0; i < n; i++) {
		ws_json_object(json);
		ws_function_json(json, pos[i].function);
		ws_path_json(json, pos[i].file);
		ws_json_key_u64(json, "line", pos[i].line);
		if (pos[i].column)
			ws_json_key_u64(json, "column", pos[i].column);
		ws_json_key_bool(json, "inlined", i + 1 < n || pos[i].call_site_lost);
		if (pos[i].call_site_lost)
			ws_json_missing(json, "call_site", WS_MALFORMED);
		ws_json_key_u64(json, "row", pos[i].row);
		ws_json_end(json);
	}
	ws_json_end(json);
}
