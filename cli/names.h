/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names of mangled ones: the one place of the program that asks for them. */
#ifndef WARPSCOPE_CLI_NAMES_H
#define WARPSCOPE_CLI_NAMES_H

#include <warpscope/symbols.h>

#include "cli.h"

enum name_form {
	NAME_SHORT,  /* as ws_demangle_short() */
	NAME_KERNEL, /* as ws_demangle_kernel() */
	NAME_FULL,   /* as ws_demangle() */
};

/* The caller's to free. */
char *name_copy(struct ws_str mangled, enum name_form form);

#endif
