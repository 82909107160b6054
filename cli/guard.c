/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox of the program. The command line says what it may read and write, so it is entered
 * before a verb sees its arguments:
 *
 *   - every argument, and what follows a '=' or '@' in one, may name a file or folder to read;
 *   - what follows -o, --output or, behind a '=', --save may be written;
 *   - `store` also has its folder, `run` the dump that CUDA's variables want, and `debug` the
 *     current folder, for the dumps that its user asks for;
 *   - the verbs with a prompt read the current folder, and what is known of terminals;
 *   - `triage` enters it later, by itself: each of its processes before it reads a dump or a
 *     record; and so does `exec` for what it triages. `trigger` reads no dump.
 *
 * To name too much is no harm: it is the user's own words. Not sandboxed: --api-lib, which loads
 * somebody's library, the verbs that call the debugger API (`trace`, `debug --api`) with
 * WARPSCOPE_TRACE, which writes a log beside everything else, and `debug` of a program, which that
 * process starts and controls. SECURITY.md has the list for users.
 */
#include "guard.h"

#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

#include <warpscope/store.h>

#include "base/sandbox.h"

/* Whether `arg` is the long option `name` ("--output"); its value when it has one inside. */
static bool is_option(const char *arg, const char *name, const char **ret_value)
{
	size_t n = strcspn(arg, "=");
	*ret_value = arg[n] ? arg + n + 1 : NULL;
	return n == strlen(name) && memcmp(arg, name, n) == 0;
}

/* The value of an option at `argv[i]`, or NULL: no such option there. */
static const char *option_value_at(int argc, char **argv, int i, const char *name)
{
	const char *value;
	if (!is_option(argv[i], name, &value))
		return NULL;
	return value ? value : i + 1 < argc ? argv[i + 1] : NULL;
}

static const char *output_at(int argc, char **argv, int i)
{
	if (strncmp(argv[i], "-o", 2) == 0)
		return argv[i][2] ? argv[i] + 2 : i + 1 < argc ? argv[i + 1] : NULL;
	const char *saved = option_value_at(argc, argv, i, "--save"); /* BUFFER=FILE */
	const char *equals = saved ? strchr(saved, '=') : NULL;
	return equals ? equals + 1 : option_value_at(argc, argv, i, "--output");
}

static bool is_exempt(const char *verb, int argc, char **argv)
{
	const char *off = getenv("WARPSCOPE_SANDBOX"), *trace = getenv("WARPSCOPE_TRACE");
	bool is_debug = strcmp(verb, "debug") == 0, is_traced = trace && *trace;
	if ((off && strcmp(off, "off") == 0) || (is_traced && strcmp(verb, "trace") == 0))
		return true;
	for (int i = 0; i < argc; i++) {
		const char *value;
		if (is_option(argv[i], "--api-lib", &value) ||
		    (is_debug && is_traced && is_option(argv[i], "--api", &value)) ||
		    (is_debug && (is_option(argv[i], "--software-gpu", &value) ||
				  is_option(argv[i], "--pid", &value))))
			return true;
	}
	return false;
}

/* Owned; NULL: there is none. */
static char *store_folder(int argc, char **argv)
{
	const char *asked = NULL;
	for (int i = 1; i < argc; i++) {
		const char *value = option_value_at(argc, argv, i, "--store");
		asked = value ? value : asked;
	}
	struct ws_store *store;
	if (ws_store_open(asked, &store, NULL) != WS_OK)
		return NULL;
	char *folder = strdup(ws_store_folder(store));
	ws_store_close(store);
	return folder;
}

/* What a prompt reads: files of commands that its user names, and how the terminal is driven. */
static void add_prompt(struct cli_words *inputs)
{
	static const char *const names[] = { ".", "/etc/terminfo", "/lib/terminfo",
					     "/usr/share/terminfo" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		cli_words_add(inputs, names[i]);
}

static struct wsi_sandbox_state state;
static bool is_off;

void guard_enter_late(const struct wsi_sandbox_terms *terms)
{
	if (!is_off)
		state = wsi_sandbox_enter(terms);
}

void guard_enter(const char *verb, int argc, char **argv)
{
	is_off = is_exempt(verb, argc, argv);
	if (is_off) {
		state.why = "switched off";
		return;
	}
	static const char *const later[] = { "triage", "exec", "trigger" };
	for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
		if (strcmp(verb, later[i]) == 0)
			return;
	struct cli_words inputs = { 0 }, outputs = { 0 };
	for (int i = 0; i < argc; i++) {
		const char *equals = argv[i];
		if (*equals)
			cli_words_add(&inputs, equals);
		while (*(equals += strcspn(equals, "=@")))
			if (*++equals)
				cli_words_add(&inputs, equals);
		const char *output = output_at(argc, argv, i);
		if (output && *output)
			cli_words_add(&outputs, output);
	}
	if (strcmp(verb, "shell") == 0 || strcmp(verb, "debug") == 0)
		add_prompt(&inputs);
	const char *dump = strcmp(verb, "run") == 0 ? cli_run_dump_path() : NULL;
	if (dump)
		cli_words_add(&outputs, dump);
	char *folder = strcmp(verb, "store") == 0   ? store_folder(argc, argv)
		       : strcmp(verb, "debug") == 0 ? strdup(".")
						    : NULL;
	struct wsi_sandbox_terms terms = {
		.inputs = inputs.item,
		.n_inputs = inputs.n,
		.outputs = outputs.item,
		.n_outputs = outputs.n,
		.output_folder = folder,
	};
	state = wsi_sandbox_enter(&terms);
	/* the broker has its own copy */
	free(inputs.item);
	free(outputs.item);
	free(folder);
}

void guard_end_with(pid_t parent)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent)
		_exit(1);
}

const char *guard_words(void)
{
	static char words[160];
	const char *what = state.has_files && state.has_calls
				   ? "files (Landlock) and system calls (seccomp)"
			   : state.has_files ? "files (Landlock)"
			   : state.has_calls ? "system calls (seccomp)"
					     : "none";
	snprintf(words, sizeof words, "sandbox: %s%s%s", what, state.why ? "; " : "",
		 state.why ? state.why : "");
	return words;
}
