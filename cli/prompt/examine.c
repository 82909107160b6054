/* SPDX-License-Identifier: Apache-2.0 */
/* gdb's x: memory as the verb mem shows it, and instructions. */
#include "prompt/prompt.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/sass.h>

enum { MAX_COUNT = 1 << 20 };

struct how {
	uint64_t count;
	char letter, size; /* of gdb's formats; 0: not said */
};

/* "/8xw"; what it does not say is as it was the last time. False with a word to the user. */
static bool parse_examine(struct debugger *d, const char *text, size_t n, struct how *how)
{
	*how = (struct how){ .count = 1, .letter = 'x', .size = 'w' };
	if (d->examined[0]) {
		how->letter = d->examined[0];
		how->size = d->examined[1];
	}
	char *end = (char *)(uintptr_t)text;
	if (n > 1 && isdigit((unsigned char)text[1]))
		how->count = strtoull(text + 1, &end, 10);
	else
		end = (char *)(uintptr_t)text + (n ? 1 : 0);
	for (; end < text + n; end++) {
		if (strchr("bhwg", *end)) {
			how->size = *end;
		} else if (strchr("xzduotafcsi", *end)) {
			how->letter = *end == 'z' ? 'x' : *end;
			how->size = *end == 'a' || *end == 'c' ? '\0' : how->size;
		} else {
			cli_say("A format of x is /, a count, one of xduotafcsi, one of bhwg; not "
				"'%.*s'.\n",
				(int)n, text);
			return false;
		}
	}
	if (how->count == 0 || how->count > MAX_COUNT)
		cli_say("The count is 1 to %d.\n", MAX_COUNT);
	return how->count > 0 && how->count <= MAX_COUNT;
}

/* What mem calls a place in a space. */
static void spell_address(const struct ws_address *at, char text[80])
{
	if (at->space == WS_SPACE_CONST)
		snprintf(text, 80, "const[%" PRIu32 "]:0x%" PRIx64, at->bank, at->address);
	else
		snprintf(text, 80, "%s:0x%" PRIx64, ws_space_text(at->space), at->address);
}

static unsigned unit(const struct how *how)
{
	static const char letters[] = "bhwg";
	const char *at = how->size ? strchr(letters, how->size) : NULL;
	return how->letter == 's' || (how->letter == 'c' && !at) ? 1
	       : how->letter == 'a'                              ? 8
	       : at                                              ? 1U << (at - letters)
								 : 4;
}

static bool show_memory(struct debugger *d, const struct how *how, const struct ws_address *at)
{
	char where[80], line[120];
	const char size[] = { how->letter == 'a' || how->letter == 's' ? '\0' : how->size, '\0' };
	spell_address(at, where);
	snprintf(line, sizeof line, "%s /%" PRIu64 "%c%s", where, how->count, how->letter, size);
	return debug_verb(d, "mem", line);
}

/* $_ and $__: the last address that was shown, and what is there. */
static void remember(struct debugger *d, const struct ws_address *at, unsigned bytes)
{
	static const char *const types[] = {
		[1] = "char", [2] = "short", [4] = "int", [8] = "long"
	};
	const bool is_code = bytes == WS_SASS_BYTES;
	char text[80];
	struct ws_value value = ws_value_address(at->address);
	struct ws_error err;
	snprintf(text, sizeof text, "(@%s %s *)0x%" PRIx64, ws_space_text(at->space),
		 is_code ? "long" : types[bytes], at->address);
	if (!is_code && d->vars && ws_vars_evaluate(d->vars, text, &value, NULL) != WS_OK)
		value = ws_value_void();
	debug_name(d, "_", &value);
	snprintf(text, sizeof text, "*(%s *)0x%" PRIx64, is_code ? "long" : types[bytes],
		 at->address);
	value = ws_value_void();
	if (d->vars && ws_vars_evaluate(d->vars, text, &value, NULL) == WS_OK) {
		value.at.space = at->space;
		value.at.bank = at->bank;
		if (ws_vars_keep(d->vars, &value, &err) != WS_OK)
			value = ws_value_void();
	}
	debug_name(d, "__", &value);
}

/* SPACE:ADDRESS, as mem takes it. */
static bool named_space(const struct debugger *d, const char *text, struct ws_address *at)
{
	const char *colon = strchr(text, ':');
	size_t len = strcspn(text, ":[");
	enum ws_space space;
	uint64_t address, bank = 0;
	if (!colon || !cli_space(text, len, &space) || !cli_number(colon + 1, &address))
		return false;
	if (text[len] == '[')
		bank = strtoull(text + len + 1, NULL, 0);
	*at = (struct ws_address){ .space = space,
				   .bank = (uint32_t)bank,
				   .device_index = debug_focus(d).device_index,
				   .grid_index = debug_focus(d).grid_index,
				   .warp_index = debug_focus(d).warp_index,
				   .lane = debug_focus(d).lane,
				   .address = address };
	return true;
}

void debug_examine(struct debugger *d, const char *text)
{
	const size_t n = *text == '/' ? strcspn(text, " ") : 0;
	const char *expression = text + n + strspn(text + n, " ");
	struct how how;
	struct ws_address at = d->examined_next;
	if (!parse_examine(d, text, n, &how))
		return;
	if (!*expression && !d->examined[0]) {
		cli_say("Argument required (starting display address).\n");
		return;
	}
	if (*expression && !named_space(d, expression, &at) && !debug_address(d, expression, &at))
		return;
	d->examined[0] = how.letter;
	d->examined[1] = how.size;
	const unsigned bytes = how.letter == 'i' ? WS_SASS_BYTES : unit(&how);
	if (how.letter == 'i')
		debug_print_code(d, at.address, how.count);
	else if (!show_memory(d, &how, &at))
		return;
	d->examined_next = at;
	d->examined_next.address += how.count * bytes;
	at.address += (how.count - 1) * bytes;
	if (how.letter != 's')
		remember(d, &at, bytes);
}
