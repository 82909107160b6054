/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names of mangled ones: the one place of the program that asks for them. */
#ifndef WARPSCOPE_CLI_NAMES_H
#define WARPSCOPE_CLI_NAMES_H

#include <warpscope/cubin.h>

#include "cli.h"

enum name_form {
	NAME_SHORT,  /* as ws_demangle_short() */
	NAME_KERNEL, /* as ws_demangle_kernel() */
	NAME_FULL,   /* as ws_demangle() */
};

/* The caller's to free. */
char *name_copy(struct ws_str mangled, enum name_form form);
/* Short, or `full`. No name gives "?". */
void name_print(struct ws_out *out, struct ws_str mangled, bool full);
/* Keys "function" and "function_mangled". */
void name_json(struct ws_json *json, struct ws_str mangled);
/* Whether a name on the command line is that of a function: mangled, full or short. */
bool name_is(const struct ws_function *function, const char *name);

#endif
