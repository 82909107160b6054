/* SPDX-License-Identifier: Apache-2.0 */
/* Source positions as text and JSON, the same in every verb that shows chains. */
#ifndef WARPSCOPE_CLI_POSITIONS_H
#define WARPSCOPE_CLI_POSITIONS_H

#include <warpscope/cubin.h>
#include <warpscope/line.h>

#include "names.h"

enum {
	POSITIONS_MAX = WS_LINE_MAX_DEPTH + 1,
};

/* "dir/name", "name" when `brief`, "?" for no file. */
void print_path(struct ws_out *out, const struct ws_line_file *file, bool brief);
/* "dir/name:line", "name:line" when `brief`, "?" for no file. */
void print_position(struct ws_out *out, const struct ws_line_pos *pos, bool brief);

/* The chain, a line each: "  #0 combine at /src/standard.py:256 (inlined)". */
void print_chain(struct ws_out *out, const struct ws_line_pos *pos, size_t n, bool full_names);
/* The chain as the value of a key: an array of positions. */
void json_chain(struct ws_json *json, const struct ws_line_pos *pos, size_t n);
/* Key "file" with the whole path; null with why when there is none. */
void json_file(struct ws_json *json, const struct ws_line_file *file);
/* Keys "function" (C++ name) and "function_mangled". */
void json_function(struct ws_json *json, const char *mangled);

#endif
