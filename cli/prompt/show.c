/* SPDX-License-Identifier: Apache-2.0 */
/* show: of the session what is no setting. */
#include "prompt/prompt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void show_version(struct debugger *d, const char *text)
{
	(void)text;
	ws_out_printf(&d->cli->out,
		      "warpscope %s\nLicense Apache-2.0. There is no warranty.\n"
		      "For help, type \"help\".\n",
		      ws_version());
}

static void show_value(struct debugger *d, const char *name, const struct ws_value *value)
{
	struct ws_out *out = &d->cli->out;
	ws_out_text(out, "$");
	ws_out_escaped(out, ws_str_of(name));
	ws_out_text(out, " = ");
	(void)ws_vars_print(d->vars, value, (struct ws_value_format){ .is_whole = true }, out);
	ws_out_text(out, "\n");
}

/* The last ten, or those around a number. */
static void show_values(struct debugger *d, const char *text)
{
	enum { SHOWN = 10 };
	uint64_t n = 0, around;
	const struct ws_value *value;
	char name[24];
	while (ws_debug_kept(d->session, n + 1))
		n++;
	around = n;
	if (*text && !cli_number(text, &around)) {
		cli_say("'%s' is not a number.\n", text);
		return;
	}
	const uint64_t last = around < n ? around + SHOWN / 2 - 1 : n;
	for (uint64_t i = last > SHOWN ? last - SHOWN : 0;
	     i < last && (value = ws_debug_kept(d->session, i + 1)) && debug_vars(d, NULL); i++) {
		snprintf(name, sizeof name, "%" PRIu64, i + 1);
		show_value(d, name, value);
	}
}

static void show_convenience(struct debugger *d, const char *text)
{
	const struct ws_value *value;
	const char *name;
	size_t n = 0;
	(void)text;
	while (ws_debug_named(d->session, n, &name))
		n++;
	if (n == 0)
		ws_out_text(&d->cli->out, "No debugger convenience values now defined.\n");
	while (n > 0 && (value = ws_debug_named(d->session, --n, &name)) && debug_vars(d, NULL))
		show_value(d, name, value);
}

static void show_substitutions(struct debugger *d, const char *text)
{
	struct ws_out *out = &d->cli->out;
	(void)text;
	ws_out_text(out, "List of all source path substitution rules:\n");
	for (size_t i = 0; i < d->sources.n_maps; i++) {
		ws_out_text(out, "  `");
		ws_out_escaped(out, ws_str_of(d->sources.maps[i].from));
		ws_out_text(out, "' -> `");
		ws_out_escaped(out, ws_str_of(d->sources.maps[i].to));
		ws_out_text(out, "'.\n");
	}
}

static void show_user(struct debugger *d, const char *text)
{
	gdb_show_defined(&d->gdb, text);
}

void debug_show(struct debugger *d, const char *text)
{
	static const struct {
		const char *name;
		void (*show)(struct debugger *d, const char *text);
	} known[] = {
		{ "version", show_version },
		{ "values", show_values },
		{ "convenience", show_convenience },
		{ "conv", show_convenience },
		{ "substitute-path", show_substitutions },
		{ "directories", debug_show_directories },
		{ "user", show_user },
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		const char *rest = gdb_behind(text, known[i].name);
		if (rest) {
			known[i].show(d, rest);
			return;
		}
	}
	if (!gdb_show_setting(&d->gdb, text))
		cli_say("There is no setting '%s' here; set accepts it, and nothing changes.\n",
			text);
}
