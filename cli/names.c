/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <stdlib.h>
#include <string.h>

static void demangle(struct ws_str mangled, enum name_form form, char text[CLI_NAME_BYTES])
{
	if (form == NAME_FULL)
		ws_demangle(mangled, text, CLI_NAME_BYTES);
	else if (form == NAME_KERNEL)
		ws_demangle_kernel(mangled, text, CLI_NAME_BYTES);
	else
		ws_demangle_short(mangled, text, CLI_NAME_BYTES);
}

char *name_copy(struct ws_str mangled, enum name_form form)
{
	char text[CLI_NAME_BYTES];
	demangle(mangled, form, text);
	return cli_copy(text, strlen(text));
}

void name_print(struct ws_out *out, struct ws_str mangled, bool full)
{
	char text[CLI_NAME_BYTES]; /* 128 KiB: not to be filled for a name */
	if (!mangled.ptr) {
		ws_out_text(out, "?");
		return;
	}
	demangle(mangled, full ? NAME_FULL : NAME_SHORT, text);
	ws_out_escaped(out, ws_str_of(text));
}

void name_json(struct ws_json *json, struct ws_str mangled)
{
	char text[CLI_NAME_BYTES];
	demangle(mangled, NAME_FULL, text);
	ws_json_key_text(json, "function", text);
	ws_json_key_str(json, "function_mangled", mangled);
}

bool name_is(const struct ws_function *function, const char *name)
{
	char text[CLI_NAME_BYTES];
	if (ws_str_equal(function->symbol, ws_str_of(name)) ||
	    ws_str_equal(function->name, ws_str_of(name)))
		return true;
	demangle(function->name, NAME_SHORT, text);
	if (strcmp(text, name) == 0)
		return true;
	demangle(function->name, NAME_FULL, text);
	return strcmp(text, name) == 0;
}
