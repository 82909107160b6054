/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of gdb that are not here: each says why, once for all its lines. */
#include "gdb/gdb.h"

#include <string.h>

static const char no_programs[] =
	"would start a program, and this one starts none: use another terminal";
static const char no_scripts[] =
	"is not here: scripts have define, if and while; for programs, verbs have --json";
static const char no_windows[] = "is not here: there are no windows";
static const char no_host[] = "changes nothing: there is no host program";
static const char has_images[] = "changes nothing: a dump has the images of its kernels";
static const char no_pieces[] =
	"is not here: warpscope extract writes memory, images and sections into files";

static const struct absent {
	const char *name, *why;
	bool has_lines; /* without an argument it takes lines up to end */
} absents[] = {
	{ "shell", no_programs, false },
	{ "!", no_programs, false },
	{ "make", no_programs, false },
	{ "pipe", no_programs, false },
	{ "|", no_programs, false },
	{ "python", no_scripts, true },
	{ "py", no_scripts, true },
	{ "python-interactive", no_scripts, false },
	{ "pi", no_scripts, false },
	{ "guile", no_scripts, true },
	{ "gu", no_scripts, true },
	{ "tui", no_windows, false },
	{ "layout", no_windows, false },
	{ "refresh", no_windows, false },
	{ "winheight", no_windows, false },
	{ "handle", no_host, false },
	{ "signal", no_host, false },
	{ "tty", no_host, false },
	{ "attach", "is not here: warpscope debug --pid attaches", false },
	{ "sharedlibrary", no_host, false },
	{ "file", has_images, false },
	{ "exec-file", has_images, false },
	{ "symbol-file", has_images, false },
	{ "add-symbol-file", has_images, false },
	{ "load", has_images, false },
	{ "dump", no_pieces, false },
	{ "append", no_pieces, false },
	{ "inferior", "changes nothing: there is one", false },
	{ "add-inferior", no_host, false },
	{ "unset", no_host, false },
	{ "skip", no_host, false },
	{ "macro", no_host, false },
	{ "catch", no_host, false },
	{ "jump", no_host, false },
	{ "return", no_host, false },
	{ "record", no_host, false },
	{ "checkpoint", no_host, false },
	{ "monitor", no_host, false },
	{ "dont-repeat", "changes nothing: only what is typed is repeated", false },
	{ "add-auto-load-safe-path", "changes nothing: no file is run by itself", false },
	{ "rbreak", "is not here: break takes one function", false },
	{ "clear", "is not here: delete takes the number of a breakpoint", false },
	{ "save", "is not here: this program writes no files of commands", false },
	{ "restore", "is not here: a dump cannot be altered", false },
	{ "maintenance", "is not here: it shows the insides of gdb", false },
	{ "maint", "is not here: it shows the insides of gdb", false },
};

bool gdb_is_absent(struct gdb *gdb, const char *line)
{
	for (size_t i = 0; i < sizeof absents / sizeof absents[0]; i++) {
		const struct absent *one = &absents[i];
		const bool is_sign = strchr("!|", *one->name) != NULL;
		const char *rest =
			is_sign && *line == *one->name ? line + 1 : gdb_behind(line, one->name);
		if (!rest)
			continue;
		if (one->has_lines && !*rest) {
			struct gdb_lines lines = gdb_take_lines(gdb, true);
			gdb_lines_free(&lines);
		}
		cli_note("'%s' %s.\n", one->name, one->why);
		return true;
	}
	return false;
}
