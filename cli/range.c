/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a command line: SPACE:ADDRESS+LENGTH, numbers of elements, which arguments. */
#include <string.h>

#include <warpscope/report.h>

#include "cli.h"

bool cli_space(const char *text, size_t len, enum ws_space *ret_space)
{
	for (int space = WS_SPACE_GLOBAL; space <= WS_SPACE_GENERIC; space++) {
		const char *name = ws_space_text((enum ws_space)space);
		if (strlen(name) != len || memcmp(name, text, len) != 0)
			continue;
		*ret_space = (enum ws_space)space;
		return true;
	}
	return false;
}

/* "global", "shared", "local", "param" or "const3". */
static bool parse_space(const char *text, struct cli_range *range)
{
	uint64_t bank;
	size_t len = strcspn(text, "0123456789");
	if (!cli_space(text, len, &range->space) || range->space > WS_SPACE_CONST)
		return false;
	if (range->space != WS_SPACE_CONST)
		return text[len] == '\0';
	if (!cli_number(text + len, &bank) || bank > UINT32_MAX)
		return false;
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

uint32_t cli_most(uint64_t number)
{
	return number && number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static const char *const argument_words[] = { "scalars", "all", "none", "presence" };

const char *cli_frame_arguments_word(enum ws_stack_arguments which)
{
	return argument_words[which];
}

bool cli_frame_arguments_find(const char *word, enum ws_stack_arguments *ret_which)
{
	for (size_t i = 0; i < sizeof argument_words / sizeof argument_words[0]; i++) {
		if (strcmp(argument_words[i], word) != 0)
			continue;
		*ret_which = (enum ws_stack_arguments)i;
		return true;
	}
	return false;
}
