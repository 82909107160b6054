/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions in the thread that the user looks at (vars.h): print, set, conditions. */
#include "debug/debug.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Looks at a thread, at that of the user in the user's frame; NULL: at none. */
static enum ws_status look(struct debugger *d, const struct ws_focus *focus, struct ws_error *err)
{
	enum ws_status st = d->vars ? WS_OK : ws_vars_create(d->target, &d->vars, err);
	if (st == WS_OK)
		st = ws_vars_look(d->vars, focus, err);
	if (st == WS_OK && focus == &d->focus && d->level)
		st = ws_vars_select(d->vars, d->level, err);
	return st;
}

bool debug_evaluate(struct debugger *d, const struct ws_focus *focus, const char *text,
		    struct ws_number *ret_number, char ret_wrong[200])
{
	struct ws_value value;
	struct ws_error err;
	if (look(d, focus, &err) == WS_OK &&
	    ws_vars_evaluate(d->vars, text, &value, &err) == WS_OK &&
	    ws_vars_number(d->vars, &value, ret_number, &err) == WS_OK)
		return true;
	snprintf(ret_wrong, 200, "%.199s", err.message);
	return false;
}

bool debug_register(const char *text, enum ws_reg_kind *ret_kind, uint32_t *ret_number)
{
	return *text == '$' && ws_register_find(text + 1, ret_kind, ret_number);
}

bool debug_memory(struct debugger *d, const struct ws_focus *focus, const char **text,
		  struct ws_address *ret_at, const struct run_type **ret_type, char ret_wrong[200])
{
	struct ws_value value, size;
	struct ws_number number, bytes;
	struct ws_error err;
	char *all = cli_alloc(strlen(*text) + 16, 1), name[8];
	snprintf(all, strlen(*text) + 16, "sizeof(%s)", *text);
	bool good = look(d, focus, &err) == WS_OK &&
		    ws_vars_evaluate(d->vars, *text, &value, &err) == WS_OK &&
		    ws_vars_number(d->vars, &value, &number, &err) == WS_OK &&
		    ws_vars_evaluate(d->vars, all, &size, &err) == WS_OK &&
		    ws_vars_number(d->vars, &size, &bytes, &err) == WS_OK;
	free(all);
	snprintf(ret_wrong, 200, "%.199s",
		 good ? "only what is in memory can be watched" : err.message);
	if (!good || value.kind != WS_VALUE_MEMORY || value.bit_size || bytes.whole > 8)
		return false;
	snprintf(name, sizeof name, "%c%u",
		 number.is_float      ? 'f'
		 : number.is_unsigned ? 'u'
				      : 's',
		 8 * (unsigned)bytes.whole);
	*ret_type = run_type_find(name, strlen(name));
	*ret_at = value.at;
	*text += strlen(*text);
	return *ret_type != NULL;
}

void debug_print(struct debugger *d, const char *text)
{
	struct ws_value_format format = { .is_whole = true };
	struct ws_value value;
	struct ws_error err;
	if (!look_format(&text, &format))
		return;
	if (look(d, d->has_focus ? &d->focus : NULL, &err) != WS_OK ||
	    ws_vars_evaluate(d->vars, text, &value, &err) != WS_OK) {
		cli_say("%s.\n", err.message);
		return;
	}
	(void)ws_vars_print(d->vars, &value, format, &d->cli->out);
	ws_out_text(&d->cli->out, "\n");
}

/* The '=' that is no part of an operator; the last one. */
static const char *assignment(const char *text)
{
	const char *at = text;
	while ((at = strchr(at, '='))) {
		if (at > text && at[1] != '=' && !strchr("=!<>", at[-1]))
			return at;
		at += at[1] == '=' ? 2 : 1;
	}
	return NULL;
}

void debug_set(struct debugger *d, const char *text)
{
	struct ws_number number;
	struct ws_value to;
	struct ws_error err = { 0 };
	char wrong[200] = "";
	if (!debug_has_thread(d))
		return;
	const char *equals = assignment(text);
	char *left = cli_copy(text, equals ? (size_t)(equals - text) : 0);
	if (!equals)
		snprintf(wrong, sizeof wrong,
			 "VARIABLE = VALUE, $REGISTER = VALUE or *(TYPE *)ADDRESS = VALUE is "
			 "expected");
	else if (debug_evaluate(d, &d->focus, equals + 1, &number, wrong) &&
		 (ws_vars_evaluate(d->vars, left, &to, &err) != WS_OK ||
		  ws_vars_store(d->vars, d->target, &to, &number, &err) != WS_OK))
		snprintf(wrong, sizeof wrong, "%.199s", err.message);
	if (*wrong)
		cli_say("%s.\n", wrong);
	free(left);
}
