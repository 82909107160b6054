/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a session: those that were kept ($1, $, $$), and those that have names ($NAME). */
#include "debug/session.h"

#include <stdlib.h>

/* ---- kept and named ---- */

enum ws_status ws_debug_keep(struct ws_debug *d, const struct ws_value *value, size_t *ret_number,
			     struct ws_error *err)
{
	if (!wsi_grow(&d->kept, &d->cap_kept, d->n_kept, sizeof *value, SIZE_MAX))
		return wsi_debug_no_memory(err);
	d->kept[d->n_kept] = *value;
	*ret_number = ++d->n_kept;
	return WS_OK;
}

const struct ws_value *ws_debug_kept(const struct ws_debug *d, uint64_t number)
{
	return number > 0 && number <= d->n_kept ? &d->kept[number - 1] : NULL;
}

const struct ws_value *ws_debug_named(const struct ws_debug *d, size_t index, const char **ret_name)
{
	if (index >= d->n_named)
		return NULL;
	*ret_name = d->named[index].name;
	return &d->named[index].value;
}

static struct wsi_map_key key_of(const struct ws_debug *d, struct ws_str name)
{
	return (struct wsi_map_key){ { wsi_hash_bytes(name.ptr, name.len, (uintptr_t)d) } };
}

static struct wsi_named_value *value_find(const struct ws_debug *d, struct ws_str name)
{
	const struct wsi_map_key key = key_of(d, name);
	const uint32_t *first = wsi_map_find(&d->names, &key);
	uint32_t number = first ? *first : 0;
	while (number && !ws_str_equal(name, ws_str_of(d->named[number - 1].name)))
		number = d->named[number - 1].next;
	return number ? &d->named[number - 1] : NULL;
}

enum ws_status ws_debug_name(struct ws_debug *d, struct ws_str name, const struct ws_value *value,
			     struct ws_error *err)
{
	const struct wsi_map_key key = key_of(d, name);
	struct wsi_named_value *old = value_find(d, name);
	if (old) {
		old->value = *value;
		return WS_OK;
	}
	bool is_new;
	uint32_t *first = wsi_map_put(&d->names, &key, 0, &is_new);
	char *copy = wsi_zalloc(name.len + 1);
	if (!first || !copy ||
	    !wsi_grow(&d->named, &d->cap_named, d->n_named, sizeof *d->named, UINT32_MAX)) {
		wsi_free(copy);
		return wsi_debug_no_memory(err);
	}
	memcpy(copy, name.ptr, name.len);
	d->named[d->n_named] = (struct wsi_named_value){ copy, *value, *first };
	*first = (uint32_t)++d->n_named;
	return WS_OK;
}

void wsi_debug_set_exit_code(struct ws_debug *d, int64_t code)
{
	const struct ws_value value = ws_value_int(code);
	(void)!ws_debug_name(d, ws_str_of("_exitcode"), &value, NULL);
}

/* The target goes, and with it types of its debug information. */
static void forget_type(struct ws_value *value)
{
	if (value->type.dwarf)
		*value = ws_value_void();
}

void wsi_debug_values_leave(struct ws_debug *d)
{
	for (size_t i = 0; i < d->n_kept; i++)
		forget_type(&d->kept[i]);
	for (size_t i = 0; i < d->n_named; i++)
		forget_type(&d->named[i].value);
}

void wsi_debug_values_fini(struct ws_debug *d)
{
	for (size_t i = 0; i < d->n_named; i++)
		wsi_free(d->named[i].name);
	wsi_free(d->named);
	wsi_map_fini(&d->names);
	wsi_free(d->kept);
}

/* ---- what a name means ---- */

/* "": the last one; "$": the one before; "$3": the third before it; "3": number 3. */
static bool of_history(const struct ws_debug *d, struct ws_str name, struct ws_value *ret_value)
{
	const bool is_back = name.len > 0 && *name.ptr == '$';
	const size_t n = name.len - is_back;
	uint64_t number = is_back ? 1 : 0;
	if (n > 19 || strspn(name.ptr + is_back, "0123456789") < n)
		return false;
	if (n)
		number = strtoull(name.ptr + is_back, NULL, 10);
	if (is_back || !n)
		number = number < d->n_kept ? d->n_kept - number : 0;
	const struct ws_value *value = ws_debug_kept(d, number);
	*ret_value = value ? *value : ws_value_void();
	return true;
}

/* gdb's numbers of its thread and of its inferior: there is one. */
static bool of_thread(const struct ws_debug *d, struct ws_str name, struct ws_value *ret_value)
{
	static const char *const names[] = { "_thread", "_gthread", "_inferior" };
	for (size_t i = 0; i < WSI_COUNT(names); i++) {
		if (!ws_str_equal(name, ws_str_of(names[i])))
			continue;
		*ret_value = ws_value_int(d->has_focus || i == 2);
		return true;
	}
	return false;
}

bool wsi_debug_find_name(void *session, struct ws_str name, struct ws_str argument,
			 struct ws_value *ret_value)
{
	struct ws_debug *d = session;
	if (argument.len)
		return d->client.call && d->client.call(d->client.user, name, argument, ret_value);
	if (of_thread(d, name, ret_value) || of_history(d, name, ret_value) ||
	    wsi_debug_cuda_variable(d, name, ret_value))
		return true;
	const struct wsi_named_value *named = value_find(d, name);
	*ret_value = named ? named->value : ws_value_void();
	return true;
}

/* ---- assignment ---- */

const char *ws_debug_assignment(const char *text)
{
	const char *at = text;
	while ((at = strchr(at, '='))) {
		if (at > text && at[1] != '=' && !strchr("=!<>", at[-1]))
			return at;
		at += at[1] == '=' ? 2 : 1;
	}
	return NULL;
}

/* $NAME that is no register; blanks may follow. */
static bool is_own_name(const char *left, size_t n, struct ws_str *ret_name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	enum ws_reg_kind kind;
	uint32_t number;
	char name[80];
	while (n > 0 && left[n - 1] == ' ')
		n--;
	if (*left != '$' || n < 2 || n >= sizeof name || (left[1] >= '0' && left[1] <= '9'))
		return false;
	memcpy(name, left + 1, n - 1);
	name[n - 1] = '\0';
	*ret_name = (struct ws_str){ left + 1, n - 1 };
	return strspn(name, letters) == n - 1 && !ws_register_find(name, &kind, &number) &&
	       strcmp(name, "pc") != 0 && strcmp(name, "errorpc") != 0;
}

static enum ws_status store(struct ws_debug *d, char *left, const char *right, struct ws_error *err)
{
	struct ws_number number;
	struct ws_value to;
	if (!d->has_focus)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no thread");
	if (d->state == WS_DEBUG_FIXED)
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"You can't do that without a process to debug");
	enum ws_status st = ws_debug_number(d, right, &number, err);
	if (st == WS_OK)
		st = ws_vars_evaluate(d->vars, left, &to, err);
	return st == WS_OK ? ws_vars_store(d->vars, d->target, &to, &number, err) : st;
}

/* "i += 2" and "i++" as "i = i + (2)", others as they are; owned. NULL: no memory. */
static char *spelled_out(const char *text)
{
	size_t n = strlen(text);
	while (n > 0 && text[n - 1] == ' ')
		n--;
	const char *equals = ws_debug_assignment(text);
	const bool steps = !equals && n > 2 && text[n - 1] == text[n - 2] &&
			   (text[n - 1] == '+' || text[n - 1] == '-');
	const bool joined = equals && equals > text && strchr("+-*/%&|^", equals[-1]);
	if (!steps && !joined)
		return wsi_strdup(text);
	const size_t left = steps ? n - 2 : (size_t)(equals - text) - 1, size = 2 * n + 20;
	char *line = wsi_zalloc(size);
	if (line)
		snprintf(line, size, "%.*s = %.*s %c (%s)", (int)left, text, (int)left, text,
			 steps ? text[n - 1] : equals[-1], steps ? "1" : equals + 1);
	return line;
}

enum ws_status ws_debug_assign(struct ws_debug *d, const char *text, struct ws_error *err)
{
	wsi_scoped_free char *line = spelled_out(text);
	struct ws_value value;
	struct ws_str name;
	if (!line)
		return wsi_debug_no_memory(err);
	const char *equals = ws_debug_assignment(line);
	if (!equals)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"VARIABLE = VALUE, $NAME = VALUE, $REGISTER = VALUE or "
				"*(TYPE *)ADDRESS = VALUE is expected");
	const size_t at = (size_t)(equals - line);
	if (!is_own_name(line, at, &name)) {
		line[at] = '\0';
		return store(d, line, line + at + 1, err);
	}
	const enum ws_status st = ws_debug_evaluate(d, equals + 1, &value, err);
	return st == WS_OK ? ws_debug_name(d, name, &value, err) : st;
}
