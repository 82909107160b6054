/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions in the thread that the user looks at (vars.h): print, set, conditions. */
#include "prompt/prompt.h"

#include <warpscope/sass.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool debug_vars(struct debugger *d, struct ws_error *err)
{
	if (ws_debug_vars(d->session, &d->vars, err) != WS_OK)
		return false;
	ws_vars_set_style(d->vars, d->cli->style);
	return true;
}

bool debug_good(enum ws_status st, const struct ws_error *err)
{
	if (st != WS_OK)
		cli_say("%s.\n", err->message);
	return st == WS_OK;
}

bool debug_number_in(struct debugger *d, const char *text, uint64_t *ret_number)
{
	struct ws_number value;
	struct ws_error err;
	const bool good = debug_good(ws_debug_number(d->session, text, &value, &err), &err);
	if (good)
		*ret_number = (uint64_t)value.whole;
	return good;
}

/* The pc of the thread in focus. */
bool debug_focus_pc(struct debugger *d, uint64_t *ret_pc)
{
	struct ws_error err;
	if (!debug_has_thread(d))
		return false;
	if (ws_debug_frame_pc(d->session, ret_pc, &err) != WS_OK) {
		cli_fail(NULL, &err);
		return false;
	}
	return true;
}

bool debug_register(const char *text, enum ws_reg_kind *ret_kind, uint32_t *ret_number)
{
	return *text == '$' && ws_register_find(text + 1, ret_kind, ret_number);
}

bool debug_peek(struct debugger *d, const char *text, struct ws_value *ret_value,
		struct ws_error *err)
{
	return debug_vars(d, err) && ws_debug_evaluate(d->session, text, ret_value, err) == WS_OK;
}

bool debug_value(struct debugger *d, const char *text, struct ws_value *ret_value)
{
	struct ws_error err;
	if (debug_peek(d, text, ret_value, &err))
		return true;
	cli_flush(d->cli); /* what was printed before comes first */
	cli_say("%s.\n", err.message);
	return false;
}

bool debug_address(struct debugger *d, const char *text, struct ws_address *ret_at)
{
	struct ws_error err;
	return debug_good(ws_debug_address(d->session, text, ret_at, &err), &err) &&
	       debug_vars(d, NULL);
}

/* print --lanes: the verb's table of many threads. */
static void print_lanes_of_value(struct debugger *d, const char *text)
{
	char *copy = cli_copy(text, strlen(text)), *words[6] = { (char *)(uintptr_t) "print" };
	int n = 1;
	words[n++] = d->dump ? d->dump : (char *)(uintptr_t) "device";
	words[n++] = (char *)(uintptr_t) "--lanes";
	char *rest = copy + strcspn(copy, " ");
	rest += strspn(rest, " ");
	if (*rest == '/') {
		words[n++] = rest;
		rest += strcspn(rest, " ");
		if (*rest)
			*rest++ = '\0';
		rest += strspn(rest, " ");
	}
	words[n++] = rest;
	cli_verb(d->cli, n, words);
	free(copy);
}

void debug_print(struct debugger *d, const char *text)
{
	struct ws_value_format format = { .is_whole = true };
	struct ws_value_style style;
	struct ws_value value;
	size_t number;
	if (strncmp(text, "--lanes", 7) == 0) {
		print_lanes_of_value(d, text);
		return;
	}
	text = gdb_style_options(&d->gdb, text, &style);
	if (!look_format(&text, &format))
		return;
	const char *equals = ws_debug_assignment(text);
	const size_t n = strlen(text);
	if (!equals && n > 2 && *text == '$' &&
	    (strcmp(text + n - 2, "++") == 0 || strcmp(text + n - 2, "--") == 0)) {
		char *before = cli_copy(text, n - 2); /* what it was, as C has it */
		debug_print(d, before);
		free(before);
		(void)debug_set(d, text);
		return;
	}
	if (equals && !debug_set(d, text))
		return;
	char *what = cli_copy(text, equals ? (size_t)(equals - text) : strlen(text));
	if (debug_value(d, *what ? what : "$", &value)) {
		if (ws_debug_keep(d->session, &value, &number, NULL) != WS_OK)
			cli_out_of_memory();
		ws_out_printf(&d->cli->out, "$%zu = ", number);
		ws_vars_set_style(d->vars, style);
		(void)ws_vars_print(d->vars, &value, format, &d->cli->out);
		ws_out_text(&d->cli->out, "\n");
	}
	free(what);
}

void debug_call(struct debugger *d, const char *text)
{
	struct ws_value value;
	struct ws_error err;
	char type[8] = "";
	if (debug_peek(d, text, &value, &err))
		ws_vars_spell(d->vars, &value.type, type, sizeof type);
	if (strcmp(type, "void") != 0)
		debug_print(d, text);
}

void debug_output(struct debugger *d, const char *text)
{
	struct ws_value_format format = { .is_whole = true };
	struct ws_value value;
	if (look_format(&text, &format) && debug_value(d, text, &value))
		(void)ws_vars_print(d->vars, &value, format, &d->cli->out);
}

/* ---- types ---- */

/* Its entry in the debug information without qualifiers and names for it; false: it has none. */
static bool plain_type(const struct ws_vtype *type, uint64_t *ret_plain)
{
	return !type->n_added && type->dwarf &&
	       ws_dwarf_plain(type->dwarf, type->type, ret_plain, NULL) == WS_OK;
}

/* Members of a structure or union, or none: the array of a key. */
static void json_members(struct debugger *d, const struct ws_vtype *type)
{
	enum { MOST = 4096 };
	struct ws_json *json = &d->json;
	struct ws_dwarf_member *members = cli_alloc(MOST, sizeof *members);
	uint64_t plain;
	char name[4096];
	size_t n = 0;
	if (!plain_type(type, &plain) ||
	    ws_dwarf_members(type->dwarf, plain, members, MOST, &n, NULL) != WS_OK)
		n = 0;
	ws_json_key_array(json, "members");
	for (size_t i = 0; i < n && i < MOST; i++) {
		(void)!ws_dwarf_spell(type->dwarf, members[i].type, name, sizeof name);
		ws_json_object(json);
		ws_json_key_str(json, "name", members[i].name);
		ws_json_key_text(json, "type", name);
		ws_json_key_u64(json, "offset", members[i].offset);
		if (members[i].bit_size) {
			ws_json_key_u64(json, "bit_offset", members[i].bit_off);
			ws_json_key_u64(json, "bit_size", members[i].bit_size);
		}
		ws_json_key_bool(json, "is_base", members[i].is_base);
		ws_json_end(json);
	}
	ws_json_end(json);
	free(members);
}

/* Names of the values of an enumeration, or none: the same. */
static void json_enumerators(struct debugger *d, const struct ws_vtype *type)
{
	enum { MOST = 4096 };
	struct ws_json *json = &d->json;
	struct ws_dwarf_constant *list = cli_alloc(MOST, sizeof *list);
	uint64_t plain;
	size_t n = 0;
	if (!plain_type(type, &plain) ||
	    ws_dwarf_enumerators(type->dwarf, plain, list, MOST, &n, NULL) != WS_OK)
		n = 0;
	ws_json_key_array(json, "enumerators");
	for (size_t i = 0; i < n && i < MOST; i++) {
		char *name = name_copy(list[i].name, NAME_FULL);
		ws_json_object(json);
		ws_json_key_text(json, "name", name);
		ws_json_key_i64(json, "value", list[i].value);
		ws_json_end(json);
		free(name);
	}
	ws_json_end(json);
	free(list);
}

static void json_type(struct debugger *d, const char *text, const struct ws_vtype *type)
{
	const struct ws_value value = { .kind = WS_VALUE_GONE, .type = *type };
	struct ws_json *json = &d->json;
	struct cli_bytes described = { 0 };
	struct ws_out out;
	char name[4096];
	uint64_t bytes;
	ws_out_init(&out, cli_bytes_write, &described);
	ws_vars_describe(d->vars, type, &out);
	(void)!ws_out_flush(&out, NULL);
	ws_vars_spell(d->vars, type, name, sizeof name);
	debug_answer(d, "type");
	ws_json_object(json);
	ws_json_key_text(json, "of", text);
	ws_json_key_text(json, "name", name);
	ws_json_key_str(json, "declaration", (struct ws_str){ described.ptr, described.len });
	if (ws_vars_size(&value, &bytes, NULL) == WS_OK)
		ws_json_key_u64(json, "size", bytes);
	else
		ws_json_missing(json, "size", WS_ABSENT);
	json_members(d, type);
	json_enumerators(d, type);
	ws_json_end(json);
	free(described.ptr);
}

static bool print_type_of_text(struct debugger *d, const char *text, bool whole)
{
	char name[4096];
	struct ws_vtype type;
	struct ws_error err;
	const char *rest = gdb_behind(text, "/o");
	const bool with_offsets = whole && rest && !d->cli->json;
	text = rest ? rest : text;
	if (!debug_vars(d, &err) ||
	    ws_vars_type(d->vars, *text ? text : "$", &type, &err) != WS_OK) {
		cli_say("%s.\n", err.message);
		return false;
	}
	if (d->cli->json) {
		json_type(d, text, &type);
		return true;
	}
	if (with_offsets && debug_print_layout(d, &type))
		return true;
	ws_out_text(&d->cli->out, "type = ");
	if (whole) {
		ws_vars_describe(d->vars, &type, &d->cli->out);
	} else {
		if (type.n_added)
			ws_vars_spell_spaces(d->vars, &type, name, sizeof name);
		else
			ws_vars_spell(d->vars, &type, name, sizeof name);
		ws_out_escaped(&d->cli->out, ws_str_of(name));
	}
	ws_out_text(&d->cli->out, "\n");
	return true;
}

bool debug_type(struct debugger *d, const char *text)
{
	return print_type_of_text(d, text, true);
}

bool debug_type_name(struct debugger *d, const char *text)
{
	return print_type_of_text(d, text, false);
}

/* ---- setting ---- */

void debug_name(struct debugger *d, const char *name, const struct ws_value *value)
{
	struct ws_error err;
	if (ws_debug_name(d->session, ws_str_of(name), value, &err) != WS_OK)
		cli_out_of_memory();
}

bool debug_is_variable(struct debugger *d, const char *text)
{
	const char *equals = ws_debug_assignment(text);
	char *left = cli_copy(text, equals ? (size_t)(equals - text) : 0);
	struct ws_value value;
	bool is = *left && debug_peek(d, left, &value, NULL);
	free(left);
	return is;
}

bool debug_set(struct debugger *d, const char *text)
{
	struct ws_error err;
	const enum ws_status st = ws_debug_assign(d->session, text, &err);
	cli_flush(d->cli); /* what was printed before comes first */
	if (st == WS_ABSENT && !ws_debug_focus(d->session))
		return debug_has_thread(d);
	return debug_good(st, &err);
}
