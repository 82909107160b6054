/* SPDX-License-Identifier: Apache-2.0 */
#include "positions.h"
#include "names.h"

#include <stdlib.h>

void print_path(struct ws_out *out, const struct ws_line_file *file, bool brief)
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

void print_position(struct ws_out *out, const struct ws_line_pos *pos, bool brief)
{
	print_path(out, pos->file, brief);
	ws_out_printf(out, ":%u", (unsigned)pos->line);
}

void print_chain(struct ws_out *out, const struct ws_line_pos *pos, size_t n, bool full_names)
{
	for (size_t i = 0; i < n; i++) {
		ws_out_printf(out, "  #%zu ", i);
		name_print(out, ws_str_of(pos[i].function), full_names);
		ws_out_text(out, " at ");
		print_position(out, &pos[i], false);
		if (pos[i].call_site_lost)
			ws_out_text(out, " (inlined; its call site is damaged)");
		else if (i + 1 < n)
			ws_out_text(out, " (inlined)");
		ws_out_text(out, "\n");
	}
}

void json_file(struct ws_json *json, const struct ws_line_file *file)
{
	if (!file) {
		ws_json_missing(json, "file", WS_ABSENT);
		return;
	}
	size_t len = ws_line_path(file, NULL, 0);
	char *path = cli_alloc(len + 1, 1);
	ws_line_path(file, path, len + 1);
	ws_json_key_str(json, "file", (struct ws_str){ path, len });
	free(path);
}

void json_function(struct ws_json *json, const char *mangled)
{
	if (mangled) {
		name_json(json, ws_str_of(mangled));
		return;
	}
	ws_json_missing(json, "function", WS_MALFORMED);
	ws_json_missing(json, "function_mangled", WS_MALFORMED);
}

void json_chain(struct ws_json *json, const struct ws_line_pos *pos, size_t n)
{
	ws_json_array(json);
	for (size_t i = 0; i < n; i++) {
		ws_json_object(json);
		json_function(json, pos[i].function);
		json_file(json, pos[i].file);
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
