/* SPDX-License-Identifier: Apache-2.0 */
/* SPACE:ADDRESS+LENGTH on a command line. */
#include <string.h>

#include "cli.h"

/* "global", ..., "const3". */
static bool parse_space(const char *text, struct cli_range *range)
{
	static const struct {
		const char *word;
		enum ws_space space;
	} spaces[] = { { "global", WS_SPACE_GLOBAL },
		       { "shared", WS_SPACE_SHARED },
		       { "local", WS_SPACE_LOCAL },
		       { "param", WS_SPACE_PARAM } };
	uint64_t bank;
	for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
		if (strcmp(text, spaces[i].word) == 0) {
			range->space = spaces[i].space;
			return true;
		}
	}
	if (strncmp(text, "const", 5) != 0 || !cli_number(text + 5, &bank) || bank > UINT32_MAX)
		return false;
	range->space = WS_SPACE_CONST;
	range->bank = (uint32_t)bank;
	return true;
}

bool cli_range(const char *text, struct cli_range *ret_range)
{
	struct cli_range range = { 0 };
	char copy[96];
	size_t len = strlen(text);
	if (len >= sizeof copy)
		return false;
	memcpy(copy, text, len + 1);
	char *colon = strchr(copy, ':'), *plus = colon ? strchr(colon, '+') : NULL;
	if (!plus)
		return false;
	*colon = *plus = 0;
	if (!parse_space(copy, &range) || !cli_number(colon + 1, &range.address) ||
	    !cli_number(plus + 1, &range.len))
		return false;
	*ret_range = range;
	return true;
}
