/* SPDX-License-Identifier: Apache-2.0 */
/* What a line asks for: commands by their names and abbreviations, what is said of them, hooks. */
#include "gdb/gdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct gdb_command *command_at(const struct gdb *gdb, size_t index)
{
	const char *first = gdb->client.commands;
	return (const void *)(first + index * gdb->client.command_size);
}

static bool is_named(const struct gdb_command *one, const char *word, size_t n)
{
	return (strlen(one->name) == n && memcmp(one->name, word, n) == 0) ||
	       (one->letters && strlen(one->letters) == n && memcmp(one->letters, word, n) == 0);
}

static bool is_hidden(const struct gdb *gdb, const struct gdb_command *one)
{
	return gdb->client.is_hidden(gdb->client.user, one);
}

const struct gdb_command *gdb_command_find(const struct gdb *gdb, const char *word, size_t n)
{
	const struct gdb_command *begins = NULL;
	unsigned matches = 0;
	for (size_t i = 0; i < gdb->client.n_commands; i++) {
		const struct gdb_command *one = command_at(gdb, i);
		if (is_named(one, word, n))
			return one;
		if (strncmp(one->name, word, n) == 0) {
			begins = one;
			matches++;
		}
	}
	return matches == 1 ? begins : NULL;
}

bool gdb_is_command(const struct gdb *gdb, const char *word)
{
	const size_t n = strlen(word);
	const struct gdb_command *one = gdb_command_find(gdb, word, n);
	return one && is_named(one, word, n);
}

const char *gdb_command_name(const struct gdb *gdb, size_t index)
{
	if (index >= gdb->client.n_commands)
		return NULL;
	const struct gdb_command *one = command_at(gdb, index);
	return is_hidden(gdb, one) ? "" : one->name;
}

/* gdb's words of a word that is no command, or begins several. */
static void say_undefined(const struct gdb *gdb, const char *word, size_t n)
{
	char names[1000] = "";
	unsigned matches = 0;
	for (size_t i = 0; i < gdb->client.n_commands && n; i++) {
		const char *name = command_at(gdb, i)->name;
		const size_t len = strlen(names);
		if (strncmp(name, word, n) == 0)
			snprintf(names + len, sizeof names - len, "%s%s", matches++ ? ", " : "",
				 name);
	}
	if (matches > 1)
		cli_say("Ambiguous command \"%.*s\": %s.\n", (int)n, word, names);
	else
		cli_say("Undefined command: \"%.*s\".  Try \"help\".\n", (int)(n ? n : 1), word);
}

/* ---- what is said of them ---- */

void gdb_print_help(struct gdb *gdb, const struct gdb_command *one)
{
	char name[80];
	snprintf(name, sizeof name, "%s%s%s%s", one->name, one->letters ? ", " : "",
		 one->letters ? one->letters : "", one->takes);
	ws_out_printf(&gdb->cli->out, "%-46s  %s\n", name, one->help);
}

void gdb_help(struct gdb *gdb, const char *text)
{
	const size_t n = strcspn(text, " ");
	const struct gdb_command *only = n ? gdb_command_find(gdb, text, n) : NULL;
	if (only && !gdb->client.help(gdb->client.user, only, text + n + strspn(text + n, " ")))
		gdb_print_help(gdb, only);
	if (n && !only && !gdb_help_defined(gdb, text))
		say_undefined(gdb, text, n);
	for (size_t i = 0; i < gdb->client.n_commands && !n; i++)
		if (!is_hidden(gdb, command_at(gdb, i)))
			gdb_print_help(gdb, command_at(gdb, i));
}

static bool has_word(const char *text, const char *word)
{
	for (; *text; text++)
		if (strncasecmp(text, word, strlen(word)) == 0)
			return true;
	return false;
}

void gdb_apropos(struct gdb *gdb, const char *text)
{
	const char *word = gdb_behind(text, "-v");
	word = word ? word : text;
	if (!*word)
		cli_say("REGEXP string is empty\n");
	for (size_t i = 0; i < gdb->client.n_commands && *word; i++) {
		const struct gdb_command *one = command_at(gdb, i);
		if ((has_word(one->name, word) || has_word(one->help, word) ||
		     has_word(one->takes, word)) &&
		    !is_hidden(gdb, one))
			gdb_print_help(gdb, one);
	}
}

/* ---- a line ---- */

/* The user's own command of that name for a command, before it or after. */
static void run_hook(struct gdb *gdb, const char *prefix, const struct gdb_command *command)
{
	char name[80];
	if (gdb->within & GDB_HOOK) /* which may use the command itself */
		return;
	gdb->within |= GDB_HOOK;
	snprintf(name, sizeof name, "%s%s", prefix, command->name);
	(void)gdb_run_defined(gdb, name);
	gdb->within &= ~(unsigned)GDB_HOOK;
}

static void run_command(struct gdb *gdb, const char *line, size_t n)
{
	const struct gdb_command *command = n ? gdb_command_find(gdb, line, n) : NULL;
	/* of a word that is a name of the user's own, that comes before what it begins */
	if (!(command && is_named(command, line, n)) && gdb_run_defined(gdb, line))
		return;
	if (!command && gdb_is_absent(gdb, line))
		return;
	if (!command && n == 3 && memcmp(line, "end", n) == 0) {
		cli_say("This command cannot be used at the top level.\n");
		return;
	}
	if (!command) {
		say_undefined(gdb, line, n);
		return;
	}
	if (!gdb->client.may_run(gdb->client.user, command))
		return;
	if (line != gdb->repeated) {
		free(gdb->repeated);
		gdb->repeated = command->is & GDB_REPEATS ? cli_copy(line, strlen(line)) : NULL;
	}
	const uint64_t failures = cli_failures();
	run_hook(gdb, "hook-", command);
	if (cli_failures() == failures)
		gdb->client.run(gdb->client.user, command, line + n + strspn(line + n, " \t"));
	if (cli_failures() == failures)
		run_hook(gdb, "hookpost-", command);
}

void gdb_execute(struct gdb *gdb, const char *line, bool repeats)
{
	line += strspn(line, " \t");
	if (!*line && repeats && gdb->repeated)
		line = gdb->repeated;
	if (*line && *line != '#')
		run_command(gdb, line, strcspn(line, " \t/*$"));
	gdb->client.done(gdb->client.user);
	gdb_run_due(gdb);
	cli_flush(gdb->cli);
}
