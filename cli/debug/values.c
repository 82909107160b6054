/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a prompt: what print has shown ($1, $, $$), and variables of the user ($name). */
#include "debug/debug.h"

#include <stdlib.h>
#include <string.h>

unsigned debug_value_add(struct debugger *d, const struct ws_value *value)
{
	struct debug_values *values = &d->values;
	cli_grow(&values->item, &values->cap, values->n, sizeof *value);
	values->item[values->n++] = *value;
	return (unsigned)values->n;
}

static struct debug_named *find(const struct debugger *d, struct ws_str name)
{
	size_t number;
	return debug_index_find(&d->values.names, name.ptr, name.len, &number)
		       ? &d->values.named[number]
		       : NULL;
}

void debug_value_name(struct debugger *d, struct ws_str name, const struct ws_value *value)
{
	struct debug_values *values = &d->values;
	struct debug_named *named = find(d, name);
	if (!named) {
		cli_grow(&values->named, &values->cap_named, values->n_named, sizeof *named);
		named = &values->named[values->n_named];
		named->name = cli_copy(name.ptr, name.len);
		debug_index_add(&values->names, named->name, values->n_named++);
	}
	named->value = *value;
}

/* "": the last one; "$": the one before; "$3": the third before it; "3": number 3. */
static bool shown(const struct debugger *d, struct ws_str name, struct ws_value *ret_value)
{
	const bool back = name.len > 0 && *name.ptr == '$';
	char *digits = cli_copy(name.ptr + back, name.len - back);
	uint64_t number = back ? 1 : 0, at = 0;
	bool good = !*digits || cli_number(digits, &number);
	if (good && (back || !*digits))
		at = number < d->values.n ? d->values.n - number : 0;
	else if (good)
		at = number;
	if (good)
		*ret_value = at > 0 && at <= d->values.n ? d->values.item[at - 1] : ws_value_void();
	free(digits);
	return good;
}

/* gdb's numbers of its thread and of its inferior: there is one. */
static bool of_thread(const struct debugger *d, struct ws_str name, struct ws_value *ret_value)
{
	static const char *const names[] = { "_thread", "_gthread", "_inferior" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!ws_str_equal(name, ws_str_of(names[i])))
			continue;
		*ret_value = ws_value_int(ws_debug_focus(d->session) || i == 2);
		return true;
	}
	return false;
}

bool debug_value_find(void *debugger, struct ws_str name, struct ws_str argument,
		      struct ws_value *ret_value)
{
	struct debugger *d = debugger;
	if (argument.len)
		return debug_setting_value(d, name, argument, ret_value);
	if (of_thread(d, name, ret_value) || shown(d, name, ret_value) ||
	    look_cuda_variable(d->cli, d->dump ? d->dump : "device", name, ret_value))
		return true;
	const struct debug_named *named = find(d, name);
	*ret_value = named ? named->value : ws_value_void();
	return true;
}

/* The target goes, and with it types of its debug information. */
static void forget_type(struct ws_value *value)
{
	if (value->type.dwarf)
		*value = ws_value_void();
}

void debug_values_leave(struct debugger *d)
{
	for (size_t i = 0; i < d->values.n; i++)
		forget_type(&d->values.item[i]);
	for (size_t i = 0; i < d->values.n_named; i++)
		forget_type(&d->values.named[i].value);
}

void debug_values_fini(struct debugger *d)
{
	for (size_t i = 0; i < d->values.n_named; i++)
		free(d->values.named[i].name);
	free(d->values.named);
	debug_index_fini(&d->values.names);
	free(d->values.item);
}
