/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <string.h>

char *name_copy(struct ws_str mangled, enum name_form form)
{
	char text[WS_NAME_BYTES];
	if (form == NAME_FULL)
		ws_demangle(mangled, text, sizeof text);
	else if (form == NAME_KERNEL)
		ws_demangle_kernel(mangled, text, sizeof text);
	else
		ws_demangle_short(mangled, text, sizeof text);
	return cli_copy(text, strlen(text));
}
