/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope debug: kernels of an image on the software GPU, under commands that gdb's users know.
 * What the program shows of a dump it shows here of the device as it stands: those commands are the
 * program's own verbs.
 */
#include "debug/debug.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <warpscope/write.h>

#include "filter.h"
#include "session.h"

const struct cli_option verb_debug_options[] = {
	RUN_SETUP_OPTIONS,
	{ "ex", 0, CLI_WORDS, .at = offsetof(struct debugger, first) },
	{ "api", 0, CLI_FLAG, .at = offsetof(struct debugger, through_api) },
	{ 0 },
};

/* ---- commands ---- */

/* A device as before its first instruction. False: it could not be made, and that is told. */
static bool anew(struct debugger *d)
{
	debug_unmake(d);
	d->quits = debug_make(d) != CLI_ANSWERED;
	return !d->quits;
}

static void command_run(struct debugger *d, const char *text)
{
	(void)text;
	if (!d->started || anew(d))
		debug_go(d);
}

static void command_start(struct debugger *d, const char *text)
{
	struct ws_error err;
	(void)text;
	if (d->started && !anew(d))
		return;
	if (ws_target_stop_at_launch(d->target, true, &err) != WS_OK) {
		cli_fail(NULL, &err);
		return;
	}
	debug_go(d);
	if (ws_target_stop_at_launch(d->target, false, &err) != WS_OK)
		cli_fail(NULL, &err);
}

static void command_continue(struct debugger *d, const char *text)
{
	(void)text;
	if (d->over || !d->started)
		cli_say(d->over ? "All kernels have ended; run starts them again.\n"
				: "Nothing runs yet (run, or start).\n");
	else
		debug_go(d);
}

static void command_kill(struct debugger *d, const char *text)
{
	(void)text;
	(void)anew(d);
}

static void command_quit(struct debugger *d, const char *text)
{
	(void)text;
	d->quits = true;
}

static void command_break(struct debugger *d, const char *text)
{
	debug_break(d, text, false);
}

static void command_tbreak(struct debugger *d, const char *text)
{
	debug_break(d, text, true);
}

static void command_watch(struct debugger *d, const char *text)
{
	debug_watch(d, text, WS_WATCH_CHANGE);
}

static void command_rwatch(struct debugger *d, const char *text)
{
	debug_watch(d, text, WS_WATCH_READ);
}

static void command_awatch(struct debugger *d, const char *text)
{
	debug_watch(d, text, WS_WATCH_READ | WS_WATCH_WRITE);
}

static void command_until(struct debugger *d, const char *text)
{
	size_t n = d->n_breakpoints;
	if (!*text)
		debug_step(d, DEBUG_NEXT, 1);
	else
		debug_break(d, text, true);
	if (d->n_breakpoints > n)
		debug_go(d);
}

static void command_enable(struct debugger *d, const char *text)
{
	debug_breakpoints_enable(d, text, true);
}

static void command_disable(struct debugger *d, const char *text)
{
	debug_breakpoints_enable(d, text, false);
}

static void step(struct debugger *d, const char *text, enum debug_step how)
{
	uint64_t times = 1;
	if (*text && (!cli_number(text, &times) || times == 0))
		cli_say("'%s' is no count.\n", text);
	else if (debug_has_thread(d))
		debug_step(d, how, times);
}

static void command_stepi(struct debugger *d, const char *text)
{
	step(d, text, DEBUG_STEPI);
}

static void command_nexti(struct debugger *d, const char *text)
{
	step(d, text, DEBUG_NEXTI);
}

static void command_step(struct debugger *d, const char *text)
{
	step(d, text, DEBUG_STEP);
}

static void command_next(struct debugger *d, const char *text)
{
	step(d, text, DEBUG_NEXT);
}

static void command_finish(struct debugger *d, const char *text)
{
	step(d, text, DEBUG_FINISH);
}

static void command_backtrace(struct debugger *d, const char *text)
{
	(void)text;
	if (debug_has_thread(d))
		debug_backtrace(d);
}

/* The sandbox lets files be written in the current folder, named so that this shows. */
static void command_gcore(struct debugger *d, const char *text)
{
	struct ws_write_options options = { .size = sizeof options };
	const char *name = *text ? text : "core.nvcudmp";
	size_t size = strlen(name) + 3;
	char *path = cli_alloc(size, 1);
	struct ws_error err;
	snprintf(path, size, "%s%s", strchr(name, '/') ? "" : "./", name);
	if (ws_write_target(d->target, path, &options, &err) != WS_OK)
		cli_fail(path, &err);
	else
		cli_say("The dump is %s\n", path);
	free(path);
}

/* ---- commands that are verbs of the program ---- */

enum { MAX_WORDS = 64 };

/* Splits a line at its blanks, in place. Returns how many words were put into `words`. */
static int split(char *line, char *words[], int most)
{
	char *save;
	int n = 0;
	for (char *word = strtok_r(line, " \t", &save); word && n < most;
	     word = strtok_r(NULL, " \t", &save))
		words[n++] = word;
	return n;
}

/* Runs a verb over the device, which takes the place of its file. */
static void verb(struct debugger *d, const char *name, const char *text)
{
	char *line = cli_copy(text, strlen(text));
	char *words[MAX_WORDS] = { (char *)(uintptr_t)name, (char *)(uintptr_t) "device" };
	cli_verb(d->cli, 2 + split(line, words + 2, MAX_WORDS - 3), words);
	free(line);
}

static void command_report(struct debugger *d, const char *text)
{
	verb(d, "report", text);
}

static void command_regs(struct debugger *d, const char *text)
{
	verb(d, "regs", text);
}

static void command_mem(struct debugger *d, const char *text)
{
	verb(d, "mem", text);
}

static void command_disas(struct debugger *d, const char *text)
{
	verb(d, "disas", *text ? text : "--regs");
}

/* x/FORMAT ADDRESS */
static void command_x(struct debugger *d, const char *text)
{
	char format[40] = "", *line;
	size_t n = *text == '/' ? strcspn(text, " ") : 0;
	if (n >= sizeof format) {
		cli_say("'%.*s' is no format.\n", (int)n, text);
		return;
	}
	memcpy(format, text, n);
	text += n + strspn(text + n, " ");
	struct value value;
	char wrong[200];
	size_t size = strlen(text) + 80;
	bool is_expression = *text == '$' || *text == '(' || *text == '*';
	if (is_expression &&
	    !debug_evaluate(d, d->has_focus ? &d->focus : NULL, text, &value, wrong)) {
		cli_say("%s.\n", wrong);
		return;
	}
	line = cli_alloc(size, 1);
	if (is_expression)
		snprintf(line, size, "0x%llx %s", (unsigned long long)value.whole, format);
	else
		snprintf(line, size, "%s %s", text, format);
	verb(d, "mem", line);
	free(line);
}

static const char *behind(const char *text, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(text, word, n) != 0 || (text[n] && text[n] != ' '))
		return NULL;
	return text + n + strspn(text + n, " ");
}

static void command_info(struct debugger *d, const char *text)
{
	const char *rest;
	if (behind(text, "breakpoints") || behind(text, "break") || behind(text, "b") ||
	    behind(text, "watchpoints"))
		debug_breakpoints_list(d);
	else if ((rest = behind(text, "registers")) || (rest = behind(text, "r")))
		verb(d, "regs", rest);
	else if ((rest = behind(text, "cuda")))
		verb(d, "info", rest);
	else
		verb(d, "info", text);
}

/* ---- focus ---- */

/* Words that a word leaves as they are now: the thread of another block is one of that block. */
static void keep(struct filter *filter, const struct coords *now, enum filter_word given,
		 enum filter_word kept)
{
	if (filter_limits(filter, given) && !filter_limits(filter, kept))
		filter_current(filter, now, kept);
}

struct first {
	struct debugger *d;
	bool found;
	struct ws_focus focus;
};

/* A `walk_visit`. */
static void take_first(void *user, const struct place *place)
{
	struct first *first = user;
	if (first->found || place->n_lanes == 0)
		return;
	first->found =
		debug_focus_of(first->d, place->warp_index, place->lanes[0].id, &first->focus);
}

static void switch_to(struct debugger *d, const struct session *session, const char *text)
{
	static const enum filter_word kept[][2] = {
		{ FILTER_thread, FILTER_block }, { FILTER_block, FILTER_grid },
		{ FILTER_lane, FILTER_warp },    { FILTER_warp, FILTER_sm },
		{ FILTER_sm, FILTER_device },
	};
	char *line = cli_copy(text, strlen(text)), *words[MAX_WORDS];
	const struct coords *now = session_coords(session);
	struct filter filter;
	struct first first = { .d = d };
	const char *bad;
	if (!filter_parse(&filter, now, split(line, words, MAX_WORDS), words, &bad)) {
		cli_say("'%s' is no coordinate; there are kernel, block, thread, device, sm, warp, "
			"lane.\n",
			bad);
	} else {
		for (size_t i = 0; now && i < sizeof kept / sizeof kept[0]; i++)
			if (kept[i][0] != FILTER_block || !filter_limits(&filter, FILTER_kernel))
				keep(&filter, now, kept[i][0], kept[i][1]);
		walk(session, &filter, WALK_LANES, take_first, &first);
		if (first.found)
			debug_focus_on(d, &first.focus);
		else
			cli_say("There is no such thread.\n");
	}
	free(line);
}

/* cuda [WORD NUMBER]... */
static void command_cuda(struct debugger *d, const char *text)
{
	struct session session;
	if (!debug_has_thread(d))
		return;
	if (session_open(&session, d->cli, "device") == CLI_ANSWERED && *text)
		switch_to(d, &session, text);
	session_close(&session);
	debug_print_thread(d);
}

/* ---- the table ---- */

static void command_help(struct debugger *d, const char *text);

static const struct command {
	const char *name, *letters; /* or a second name; NULL: none */
	const char *takes, *help;
	bool repeats; /* an empty line does it again */
	void (*run)(struct debugger *d, const char *text);
} commands[] = {
	{ "run", "r", "", "starts the kernels, again if they run", false, command_run },
	{ "start", NULL, "", "the same, to the first instruction of the first kernel", false,
	  command_start },
	{ "continue", "c", "", "goes on", true, command_continue },
	{ "step", "s", " [N]", "to another source line", true, command_step },
	{ "next", "n", " [N]", "the same, over calls, inlined ones too", true, command_next },
	{ "stepi", "si", " [N]", "one instruction", true, command_stepi },
	{ "nexti", "ni", " [N]", "the same, over calls", true, command_nexti },
	{ "finish", NULL, "", "to the end of the function, also of an inlined one", true,
	  command_finish },
	{ "until", "advance", " [LOCATION]", "to a location", false, command_until },
	{ "break", "b", " LOCATION [if CONDITION]",
	  "stops there; LOCATION is FILE:LINE, LINE, FUNCTION or *ADDRESS", false, command_break },
	{ "tbreak", NULL, " LOCATION [if CONDITION]", "the same, once", false, command_tbreak },
	{ "watch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH",
	  "stops when memory changes, *(TYPE *)ADDRESS", false, command_watch },
	{ "rwatch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH", "when it is read", false,
	  command_rwatch },
	{ "awatch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH", "when it is read or written", false,
	  command_awatch },
	{ "condition", NULL, " N [CONDITION]", "changes when breakpoint N stops", false,
	  debug_breakpoint_condition },
	{ "delete", "d", " [N...]", "removes breakpoints", false, debug_breakpoints_delete },
	{ "enable", NULL, " [N...]", "", false, command_enable },
	{ "disable", NULL, " [N...]", "", false, command_disable },
	{ "print", "p", "[/x|/u|/f] EXPRESSION",
	  "registers $R3 $RD4 $P0 $UR4 $pc, threadIdx.x, *(@shared u32 *)ADDRESS", false,
	  debug_print },
	{ "set", NULL, " $REGISTER = EXPRESSION", "or *(TYPE *)ADDRESS = EXPRESSION", false,
	  debug_set },
	{ "x", NULL, "[/FORMAT] ADDRESS", "memory, as mem", false, command_x },
	{ "backtrace", "bt", "", "inlined calls and callers", false, command_backtrace },
	{ "cuda", "focus", " [kernel|block|thread|sm|warp|lane N]...",
	  "chooses another thread, or says which it is", false, command_cuda },
	{ "info", "i", " [cuda] TABLE|breakpoints|registers", "tables of the device", false,
	  command_info },
	{ "report", NULL, "", "what failed, and where all threads are", false, command_report },
	{ "regs", NULL, " [REGISTER...] [FILTER...]", "registers", false, command_regs },
	{ "mem", NULL, " SPACE:ADDRESS [/FORMAT]", "memory", false, command_mem },
	{ "disassemble", "disas", " [OPTION...]", "code around the pc, or as the verb", false,
	  command_disas },
	{ "generate-core-file", "gcore", " [FILE]",
	  "writes a dump in the current folder (core.nvcudmp)", false, command_gcore },
	{ "kill", "k", "", "back to before the first instruction", false, command_kill },
	{ "quit", "q", "", "ends", false, command_quit },
	{ "help", "h", "", "this list", false, command_help },
};

enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void command_help(struct debugger *d, const char *text)
{
	(void)text;
	for (size_t i = 0; i < N_COMMANDS; i++) {
		const struct command *one = &commands[i];
		char name[80];
		snprintf(name, sizeof name, "%s%s%s%s", one->name, one->letters ? ", " : "",
			 one->letters ? one->letters : "", one->takes);
		ws_out_printf(&d->cli->out, "%-46s  %s\n", name, one->help);
	}
}

/* The command that a word is, or begins in a way that no other does. */
static const struct command *find(const char *word, size_t n)
{
	const struct command *begins = NULL;
	unsigned matches = 0;
	for (size_t i = 0; i < N_COMMANDS; i++) {
		const struct command *one = &commands[i];
		if ((strlen(one->name) == n && memcmp(one->name, word, n) == 0) ||
		    (one->letters && strlen(one->letters) == n &&
		     memcmp(one->letters, word, n) == 0))
			return one;
		if (strncmp(one->name, word, n) == 0) {
			begins = one;
			matches++;
		}
	}
	return matches == 1 ? begins : NULL;
}

/* ---- the prompt ---- */

static void execute(struct debugger *d, const char *line, char **repeated)
{
	line += strspn(line, " \t");
	if (*line == '#')
		return;
	if (!*line && *repeated)
		line = *repeated;
	size_t n = strcspn(line, " \t/*$");
	const struct command *command = n ? find(line, n) : NULL;
	if (!*line)
		return;
	if (!command) {
		cli_say("'%.*s' is no command; see: help\n", (int)(n ? n : 1), line);
		return;
	}
	if (line != *repeated) {
		free(*repeated);
		*repeated = command->repeats ? cli_copy(line, strlen(line)) : NULL;
	}
	const char *text = line + n + strspn(line + n, " \t");
	command->run(d, text);
	cli_flush(d->cli);
}

/* Without what ends it. */
static void trim(char *line)
{
	size_t n = strlen(line);
	while (n > 0 && strchr(" \t\r\n", line[n - 1]))
		line[--n] = '\0';
}

static void prompt(struct debugger *d)
{
	bool terminal = isatty(STDIN_FILENO);
	char *line = NULL, *repeated = NULL;
	size_t cap = 0;
	for (size_t i = 0; i < d->first.n && !d->quits; i++)
		execute(d, d->first.item[i], &repeated);
	while (!d->quits) {
		if (terminal) {
			ws_out_text(&d->cli->out, "(warpscope) ");
			cli_flush(d->cli);
		}
		errno = 0;
		if (getline(&line, &cap, stdin) < 0) {
			if (errno != EINTR)
				break;
			clearerr(stdin);
			continue;
		}
		trim(line);
		if (!terminal && *line) {
			ws_out_text(&d->cli->out, "(warpscope) ");
			ws_out_escaped(&d->cli->out, ws_str_of(line));
			ws_out_text(&d->cli->out, "\n");
			cli_flush(d->cli);
		}
		execute(d, line, &repeated);
	}
	free(line);
	free(repeated);
}

/* An image to execute, or a provider of the debugger API, that has a device of its own. */
static int check_what(struct debugger *d, int argc, char **argv)
{
	if (!d->cli->api_lib)
		return run_setup_check(&d->setup, argc, argv);
	return argc == 0 && !d->through_api
		       ? CLI_ANSWERED
		       : cli_usage("debug", "with --api-lib there is no IMAGE");
}

int verb_debug(struct cli *cli, int argc, char **argv)
{
	struct debugger d = { .setup = RUN_SETUP_INIT(cli), .cli = cli };
	int status = cli_options_take(cli, verb_debug_options, &d, &argc, &argv);
	if (status == CLI_ANSWERED && cli->json)
		status = cli_usage("debug", "there is no --json; commands have it");
	if (status == CLI_ANSWERED)
		status = check_what(&d, argc, argv);
	if (status == CLI_ANSWERED)
		status = debug_make(&d);
	if (status == CLI_ANSWERED) {
		if (!cli->output_limit)
			cli->output_limit = UINT64_MAX; /* the user ends it */
		prompt(&d);
	}
	debug_unmake(&d);
	debug_breakpoints_fini(&d);
	run_setup_fini(&d.setup);
	free(d.first.item);
	return status;
}
