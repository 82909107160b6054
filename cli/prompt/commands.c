/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the prompt, which gdb's users know. What the program shows of a dump it shows
 * here of the target as it stands: those commands are the program's own verbs.
 */
#include "prompt/prompt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <warpscope/sass.h>
#include <warpscope/write.h>

#include "look.h"
#include "session.h"
#include <warpscope/threads.h>

static int take_script(struct debugger *d, const char *kind, const char *text)
{
	cli_words_add(&d->scripts, kind);
	cli_words_add(&d->scripts, text);
	return CLI_ANSWERED;
}

int debug_take_command(void *query, const char *text)
{
	return take_script(query, "c", text);
}

int debug_take_file(void *query, const char *text)
{
	return take_script(query, "f", text);
}

int debug_take_map(void *query, const char *text)
{
	struct debugger *d = query;
	return cli_sources_take_map(&d->sources, d->cli->verb, text);
}

int debug_take_dir(void *query, const char *text)
{
	struct debugger *d = query;
	cli_sources_dir(&d->sources, text);
	return CLI_ANSWERED;
}

int debug_options_take(struct debugger *d, const struct cli_option *options, int *argc,
		       char ***argv)
{
	const int status = cli_options_take(d->cli, options, d, argc, argv);
	return status != CLI_ANSWERED || !d->cli->json
		       ? status
		       : cli_usage(d->cli->verb,
				   "a conversation is no JSON; give --json to its commands: "
				   "info kernels --json");
}

/* ---- commands that move a device ---- */

/* A device as before its first instruction. False: it could not be made, and that is told. */
static bool anew(struct debugger *d)
{
	if (d->what == DEBUG_PROCESS) {
		cli_say("The program was not started here.\n");
		return false;
	}
	debug_unmake(d);
	d->gdb.quits = debug_make(d) != CLI_ANSWERED;
	return !d->gdb.quits;
}

static void command_run(struct debugger *d, const char *text)
{
	(void)text;
	if (ws_debug_state(d->session) == WS_DEBUG_FRESH || anew(d))
		debug_go(d);
}

static void command_start(struct debugger *d, const char *text)
{
	struct ws_error err;
	(void)text;
	if (ws_debug_state(d->session) != WS_DEBUG_FRESH && !anew(d))
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
	const enum ws_debug_state state = ws_debug_state(d->session);
	(void)text;
	if (state == WS_DEBUG_OVER)
		cli_say(d->what >= DEBUG_PROGRAM
				? "The program has ended; run starts it again.\n"
				: "All kernels have ended; run starts them again.\n");
	else if (state == WS_DEBUG_FRESH && d->what < DEBUG_PROGRAM)
		cli_say("Nothing runs yet (run, or start).\n");
	else
		debug_go(d);
}

static void command_kill(struct debugger *d, const char *text)
{
	(void)text;
	(void)anew(d);
}

static void command_detach(struct debugger *d, const char *text)
{
	(void)text;
	if (d->what < DEBUG_PROGRAM) {
		cli_say("There is no program to detach from.\n");
		return;
	}
	if (ws_debug_detach(d->session))
		ws_out_text(&d->cli->out, "Detached.\n");
	d->gdb.quits = true;
}

static void command_quit(struct debugger *d, const char *text)
{
	(void)text;
	d->gdb.quits = true;
}

/* `how`: temporary */
static void command_break(struct debugger *d, const char *text, int how)
{
	(void)debug_break(d, text, how);
}

/* `how`: ws_watch_kinds */
static void command_watch(struct debugger *d, const char *text, int how)
{
	debug_watch(d, text, (uint32_t)how);
}

static void command_until(struct debugger *d, const char *text)
{
	if (*text && debug_break(d, text, true))
		debug_go(d);
	else if (!*text && debug_has_thread(d))
		debug_step(d, WS_DEBUG_UNTIL, 1);
}

/* [display|breakpoints] [N...] */
static void command_change(struct debugger *d, const char *text, int how)
{
	const char *display = gdb_behind(text, "display");
	const char *all = how == DEBUG_DELETE ? gdb_behind(text, "breakpoints") : NULL;
	if (display)
		debug_displays_change(d, display, how);
	else
		debug_breakpoints_change(d, all ? all : text, how);
}

/* The count of steps that a text is, if there is a thread for them; 0 with a word to the user. */
static uint64_t steps_of(const struct debugger *d, const char *text)
{
	uint64_t times = 1;
	if (!*text || (cli_number(text, &times) && times > 0))
		return debug_has_thread(d) ? times : 0;
	cli_say("'%s' is not a count.\n", text);
	return 0;
}

/* `how`: enum ws_debug_step_kind, as of the one after it */
static void command_step(struct debugger *d, const char *text, int how)
{
	const uint64_t times = steps_of(d, text);
	if (times)
		debug_step(d, (enum ws_debug_step_kind)how, times);
}

static void command_reverse_step(struct debugger *d, const char *text, int how)
{
	const uint64_t times = steps_of(d, text);
	if (times)
		debug_step_back(d, (enum ws_debug_step_kind)how, times);
}

static void command_reverse_continue(struct debugger *d, const char *text)
{
	(void)text;
	debug_go_back(d);
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
		cli_note("The dump is %s\n", path);
	free(path);
}

/* ---- commands that are verbs of the program ---- */

bool debug_verb(struct debugger *d, const char *name, const char *text)
{
	char *line = cli_copy(text, strlen(text));
	char *words[GDB_MAX_WORDS] = { (char *)(uintptr_t)name,
				       d->dump ? d->dump : (char *)(uintptr_t) "device" };
	const bool good = cli_verb(d->cli, 2 + gdb_split(line, words + 2, GDB_MAX_WORDS - 3),
				   words) == CLI_ANSWERED;
	free(line);
	return good;
}

/* Runs report, which looks for sources where the prompt does. */
static void report_again(struct debugger *d, const char *text)
{
	const struct cli_sources *sources = &d->sources;
	const size_t n = sources->n_maps + sources->n_dirs;
	char **words = cli_alloc(n + GDB_MAX_WORDS + 2, sizeof *words);
	char *line = cli_copy(text, strlen(text));
	int used = 0;
	words[used++] = (char *)(uintptr_t) "report";
	words[used++] = d->dump ? d->dump : (char *)(uintptr_t) "device";
	for (size_t i = 0; i < n; i++) {
		const struct ws_source_map *map = i < sources->n_maps ? &sources->maps[i] : NULL;
		const char *to = map ? map->to : sources->dirs[i - sources->n_maps];
		const size_t size = strlen(to) + (map ? strlen(map->from) : 0) + 20;
		words[used] = cli_alloc(size, 1);
		snprintf(words[used++], size, map ? "--source-map=%s=%s" : "--source-dir=%s%s",
			 map ? map->from : "", to);
	}
	cli_verb(d->cli, used + gdb_split(line, words + used, GDB_MAX_WORDS), words);
	for (size_t i = 0; i < n; i++)
		free(words[2 + i]);
	free(words);
	free(line);
}

static void command_why(struct debugger *d, const char *text)
{
	(void)text;
	report_again(d, "--brief");
}

static void command_regs(struct debugger *d, const char *text)
{
	bool system = strcmp(text, "system") == 0; /* gdb's word for these */
	debug_verb(d, "regs", system ? "P UP B" : text);
}

static void command_mem(struct debugger *d, const char *text)
{
	debug_verb(d, "mem", text);
}

/* FROM,TO or FROM,+LENGTH */
static void disassemble_range(struct debugger *d, const char *text, const char *comma)
{
	char *first = cli_copy(text, (size_t)(comma - text));
	const char *last = comma + 1 + strspn(comma + 1, " ");
	uint64_t from, to;
	if (debug_number_in(d, first, &from) &&
	    debug_number_in(d, *last == '+' ? last + 1 : last, &to)) {
		to += *last == '+' ? from : 0;
		ws_out_printf(&d->cli->out,
			      "Dump of assembler code from 0x%" PRIx64 " to 0x%" PRIx64 ":\n", from,
			      to);
		debug_print_code(d, from, to > from ? (to - from) / WS_SASS_BYTES : 0);
		ws_out_text(&d->cli->out, "End of assembler dump.\n");
	}
	free(first);
}

/* [/s|/m|/r] [ADDRESS | FROM,TO | FROM,+LENGTH], or options of the verb */
static void command_disas(struct debugger *d, const char *text)
{
	uint64_t address;
	if (strncmp(text, "--", 2) == 0) {
		debug_verb(d, "disas", text);
		return;
	}
	if (*text == '/')
		text += strcspn(text, " ");
	text += strspn(text, " ");
	const char *comma = strchr(text, ',');
	if (comma)
		disassemble_range(d, text, comma);
	else if (*text ? debug_number_in(d, text, &address) : debug_focus_pc(d, &address))
		debug_print_function(d, address);
}

static void command_where(struct debugger *d, const char *text)
{
	char line[40];
	uint64_t address;
	const size_t first = strspn(text, "-0123456789"); /* so many frames, as bt has it */
	if (!*text || !text[first] || gdb_behind(text, "full") || gdb_behind(text, "-full")) {
		debug_backtrace(d, text);
	} else if (debug_number_in(d, text, &address)) {
		snprintf(line, sizeof line, "where 0x%llx", (unsigned long long)address);
		debug_verb(d, "info", line);
	}
}

static void command_groups(struct debugger *d, const char *text)
{
	(void)text;
	debug_verb(d, "info", "threads kernel any block any thread any");
}

/* ---- what gdb's scripts have ---- */

static void command_set(struct debugger *d, const char *text)
{
	const char *rest = gdb_behind(text, "var");
	rest = rest ? rest : gdb_behind(text, "variable");
	if (rest || (*text && strchr("$*({", *text))) {
		(void)debug_set(d, rest ? rest : text);
	} else if ((rest = gdb_behind(text, "substitute-path"))) {
		debug_substitute(d, rest);
	} else if (gdb_set_setting(&d->gdb, text)) {
		;
	} else if (strchr(text, '=') && debug_is_variable(d, text)) {
		(void)debug_set(d, text); /* gdb takes it without the word, too */
	} else {
		gdb_settings_note(&d->gdb);
	}
}

static void command_pwd(struct debugger *d, const char *text)
{
	char folder[4096];
	(void)text;
	if (!getcwd(folder, sizeof folder)) {
		cli_say("%s\n", strerror(errno));
		return;
	}
	ws_out_text(&d->cli->out, "Working directory ");
	ws_out_escaped(&d->cli->out, ws_str_of(folder));
	ws_out_text(&d->cli->out, ".\n");
}

/* The sandbox has no other folder. */
static void command_cd(struct debugger *d, const char *text)
{
	(void)text;
	cli_note("The prompt stays in its folder: what it may read was named when it began.\n");
	command_pwd(d, "");
}

/* target cudacore FILE */
static void command_target(struct debugger *d, const char *text)
{
	const char *rest = gdb_behind(text, "cudacore");
	rest = rest ? rest : gdb_behind(text, "core");
	if (!d->dump)
		cli_say("The target is a device; warpscope shell opens dumps.\n");
	else if (!rest || !*rest)
		cli_say("target cudacore FILE is expected.\n");
	else
		(void)debug_open(d, rest);
}

static void command_complete(struct debugger *d, const char *text)
{
	struct gdb_lines words = { 0 };
	size_t kept = strlen(text);
	while (kept > 0 && text[kept - 1] != ' ')
		kept--;
	debug_complete(d, text, &words);
	for (size_t i = 0; i < words.n; i++) {
		ws_out_printf(&d->cli->out, "%.*s", (int)kept, text);
		ws_out_escaped(&d->cli->out, ws_str_of(words.item[i]));
		ws_out_text(&d->cli->out, "\n");
	}
	gdb_lines_free(&words);
}

/* ---- the table ---- */

enum {
	RUNS = GDB_CLIENT,        /* moves a device: not for a dump */
	DEVICE = GDB_CLIENT << 1, /* there is nothing to say without a device */
	REPEATS = GDB_REPEATS,
};

static const struct command {
	struct gdb_command is;
	/* one of these, or none: then it does nothing */
	void (*built_in)(struct gdb *gdb, const char *text);
	bool (*answer)(struct debugger *d, const char *text); /* a verb's, too */
	void (*run)(struct debugger *d, const char *text);
	void (*run_as)(struct debugger *d, const char *text, int how);
	int how;
} commands[] = {
	{ { "run", "r", "", "starts the kernels, again if they run", RUNS }, .run = command_run },
	{ { "start", NULL, "", "the same, to the first instruction of the first kernel", RUNS },
	  .run = command_start },
	{ { "continue", "c", "", "goes on", RUNS | REPEATS }, .run = command_continue },
	{ { "step", "s", " [N]", "to another source line", RUNS | REPEATS | DEVICE },
	  .run_as = command_step,
	  .how = WS_DEBUG_STEP },
	{ { "next", "n", " [N]", "the same, over calls, inlined ones too",
	    RUNS | REPEATS | DEVICE },
	  .run_as = command_step,
	  .how = WS_DEBUG_NEXT },
	{ { "stepi", "si", " [N]", "one instruction", RUNS | REPEATS | DEVICE },
	  .run_as = command_step,
	  .how = WS_DEBUG_STEPI },
	{ { "nexti", "ni", " [N]", "the same, over calls", RUNS | REPEATS | DEVICE },
	  .run_as = command_step,
	  .how = WS_DEBUG_NEXTI },
	{ { "finish", NULL, "", "to the end of the function, also of an inlined one",
	    RUNS | REPEATS | DEVICE },
	  .run_as = command_step,
	  .how = WS_DEBUG_FINISH },
	{ { "until", "advance", " [LOCATION]", "to a location, or past the end of a loop",
	    RUNS | DEVICE },
	  .run = command_until },
	{ { "reverse-stepi", "rsi", " [N]", "back by one instruction of the thread",
	    RUNS | REPEATS | DEVICE },
	  .run_as = command_reverse_step,
	  .how = WS_DEBUG_STEPI },
	{ { "reverse-step", "rs", " [N]", "to the start of the line before",
	    RUNS | REPEATS | DEVICE },
	  .run_as = command_reverse_step,
	  .how = WS_DEBUG_STEP },
	{ { "reverse-next", "rn", " [N]", "the same, over calls", RUNS | REPEATS | DEVICE },
	  .run_as = command_reverse_step,
	  .how = WS_DEBUG_NEXT },
	{ { "reverse-continue", "rc", "", "to the breakpoint or watchpoint before, or the start",
	    RUNS | REPEATS | DEVICE },
	  .run = command_reverse_continue },
	{ { "last-write", NULL, " $REGISTER|MEMORY", "back to what wrote it", RUNS | DEVICE },
	  .run = debug_last_write },
	{ { "break", "b", " LOCATION [if CONDITION]",
	    "stops there; LOCATION is FILE:LINE, LINE, FUNCTION or *ADDRESS", RUNS },
	  .run_as = command_break,
	  .how = false },
	{ { "tbreak", "thbreak", " LOCATION [if CONDITION]", "the same, once", RUNS },
	  .run_as = command_break,
	  .how = true },
	{ { "hbreak", NULL, " LOCATION [if CONDITION]", "as break", RUNS },
	  .run_as = command_break,
	  .how = false },
	{ { "watch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH",
	    "stops when memory changes, *(TYPE *)ADDRESS", RUNS },
	  .run_as = command_watch,
	  .how = WS_WATCH_CHANGE },
	{ { "rwatch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH", "when it is read", RUNS },
	  .run_as = command_watch,
	  .how = WS_WATCH_READ },
	{ { "awatch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH", "when it is read or written",
	    RUNS },
	  .run_as = command_watch,
	  .how = WS_WATCH_READ | WS_WATCH_WRITE },
	{ { "commands", NULL, " [N]", "what is done when breakpoint N stops: the lines up to end",
	    RUNS },
	  .run = debug_breakpoint_commands },
	{ { "ignore", NULL, " N COUNT", "passes over the next hits of breakpoint N", RUNS },
	  .run = debug_breakpoint_ignore },
	{ { "silent", NULL, "", "as the first of commands: the stop is not announced", RUNS },
	  .how = 0 },
	{ { "condition", NULL, " N [CONDITION]", "changes when breakpoint N stops", RUNS },
	  .run = debug_breakpoint_condition },
	{ { "delete", "d", " [display] [N...]", "removes breakpoints", 0 },
	  .run_as = command_change,
	  .how = DEBUG_DELETE },
	{ { "enable", NULL, " [N...]", "", RUNS }, .run_as = command_change, .how = DEBUG_ENABLE },
	{ { "disable", NULL, " [N...]", "", RUNS },
	  .run_as = command_change,
	  .how = DEBUG_DISABLE },
	{ { "print", "p", "[/x|/d|/u|/o|/t|/c|/f|/a|/s] EXPRESSION",
	    "variables, registers ($R3 $P0 $pc), $1, *(@shared int *)ADDRESS", 0 },
	  .run = debug_print },
	{ { "inspect", NULL, " EXPRESSION", "the same", 0 }, .run = debug_print },
	{ { "call", NULL, " EXPRESSION", "the same, but prints nothing of what is void", 0 },
	  .run = debug_call },
	{ { "output", NULL, "[/FORMAT] EXPRESSION", "the same, without number and end of line", 0 },
	  .run = debug_output },
	{ { "ptype", NULL, "[/o] TYPE|EXPRESSION", "a type with its members; /o: and their offsets",
	    0 },
	  .answer = debug_type },
	{ { "whatis", NULL, " TYPE|EXPRESSION", "a type by its name", 0 },
	  .answer = debug_type_name },
	{ { "display", NULL, "[/FORMAT] [EXPRESSION]", "prints it at each stop", 0 },
	  .run = debug_display },
	{ { "undisplay", NULL, " [N...]", "no longer", 0 },
	  .run_as = debug_displays_change,
	  .how = DEBUG_DELETE },
	{ { "set", NULL, " [var] WHAT = EXPRESSION",
	    "a variable, $NAME, $REGISTER or *(TYPE *)ADDRESS", 0 },
	  .run = command_set },
	{ { "x", NULL, "[/FORMAT] [ADDRESS]", "memory, as mem; /5i: instructions",
	    REPEATS | DEVICE },
	  .run = debug_examine },
	{ { "list", "l", " [LOCATION|FIRST,LAST|-]", "source lines, or the code of a line",
	    REPEATS | DEVICE },
	  .answer = debug_list_lines },
	{ { "search", "forward-search", " REGEX", "the next source line that matches", 0 },
	  .run_as = debug_search,
	  .how = false },
	{ { "reverse-search", NULL, " REGEX", "the one before", 0 },
	  .run_as = debug_search,
	  .how = true },
	{ { "directory", "dir", " DIR...", "where sources are, too", 0 }, .run = debug_directory },
	{ { "backtrace", "bt", " [full] [N|-N]", "inlined calls and callers", DEVICE },
	  .run = debug_backtrace },
	{ { "frame", "f", " [N|function NAME|apply all COMMAND]",
	    "selects the frame of locals and expressions", DEVICE },
	  .run = debug_frame },
	{ { "select-frame", NULL, " N", "the same, and prints nothing", DEVICE },
	  .run = debug_select_frame },
	{ { "faas", NULL, " COMMAND", "does it in each frame where it can be done", DEVICE },
	  .run_as = debug_apply_to,
	  .how = DEBUG_FRAMES },
	{ { "up", NULL, " [N]", "at the caller", REPEATS | DEVICE },
	  .run_as = debug_move_frame,
	  .how = true },
	{ { "down", NULL, " [N]", "back", REPEATS | DEVICE },
	  .run_as = debug_move_frame,
	  .how = false },
	{ { "where", NULL, " [full|N|ADDRESS]", "as bt, or all that is known of an address",
	    DEVICE },
	  .run = command_where },
	{ { "cuda", "focus", " [kernel|block|thread|sm|warp|lane N]...",
	    "chooses another thread, or says which it is", DEVICE },
	  .run = debug_cuda },
	{ { "info", "i", " [cuda] TABLE|breakpoints|registers|line|symbol|source...", "tables",
	    DEVICE },
	  .run = debug_info },
	{ { "report", NULL, "", "what failed, and where all threads are", DEVICE },
	  .run = report_again },
	{ { "why", NULL, "", "its first screen", DEVICE }, .run = command_why },
	{ { "groups", NULL, "", "threads of all kernels, by where they are", DEVICE },
	  .run = command_groups },
	{ { "regs", NULL, " [REGISTER...] [FILTER...]", "registers", DEVICE },
	  .run = command_regs },
	{ { "mem", NULL, " SPACE:ADDRESS [/FORMAT]", "memory", DEVICE }, .run = command_mem },
	{ { "disassemble", "disas", " [ADDRESS | FROM,+BYTES | --OPTION...]",
	    "code of a function, from an address on, or as the verb", DEVICE },
	  .run = command_disas },
	{ { "echo", NULL, " TEXT", "prints it, with C's escapes", 0 }, .run = debug_echo },
	{ { "printf", NULL, " \"FORMAT\", EXPRESSION...", "as C's", 0 }, .run = debug_printf },
	{ { "if", NULL, " EXPRESSION", "runs the lines up to else, or those up to end", 0 },
	  .built_in = gdb_if },
	{ { "while", NULL, " EXPRESSION", "runs the lines up to end as long as it is true", 0 },
	  .built_in = gdb_while },
	{ { "loop_break", NULL, "", "out of the innermost while", 0 }, .built_in = gdb_loop_break },
	{ { "loop_continue", NULL, "", "on to its next turn", 0 }, .built_in = gdb_loop_continue },
	{ { "define", NULL, " NAME", "a command of the lines up to end; $arg0 is its first word",
	    0 },
	  .built_in = gdb_define },
	{ { "document", NULL, " NAME", "lines up to end, which help shows", 0 },
	  .built_in = gdb_document },
	{ { "alias", NULL, " NAME = COMMAND", "another name for a command with its first words",
	    0 },
	  .built_in = gdb_alias },
	{ { "eval", NULL, " \"FORMAT\", EXPRESSION...", "the command that printf would print", 0 },
	  .run = debug_eval },
	{ { "with", "w", " SETTING [VALUE] -- COMMAND", "a command while a setting is so", 0 },
	  .built_in = gdb_with },
	{ { "source", NULL, " FILE", "runs the commands of a file", 0 }, .built_in = gdb_source },
	{ { "complete", NULL, " TEXT", "what the last word may be", 0 }, .run = command_complete },
	{ { "thread", "t", " [1 | apply all COMMAND]",
	    "accepted: the thread of gdb is the one in focus", DEVICE },
	  .run = debug_thread },
	{ { "taas", NULL, " COMMAND", "as thread apply all -s COMMAND", DEVICE },
	  .run_as = debug_apply_to,
	  .how = DEBUG_THREADS },
	{ { "tfaas", NULL, " COMMAND", "as thread apply all -s frame apply all -s COMMAND",
	    DEVICE },
	  .run_as = debug_apply_to,
	  .how = DEBUG_THREADS_AND_FRAMES },
	{ { "target", NULL, " cudacore FILE", "opens another dump", 0 }, .run = command_target },
	{ { "show", NULL, " [SETTING|version|values|convenience|user]",
	    "what is set, and the prompt's own values and commands", 0 },
	  .run = debug_show },
	{ { "pwd", NULL, "", "the current folder", 0 }, .run = command_pwd },
	{ { "cd", NULL, " FOLDER", "accepted: the prompt stays in its folder", 0 },
	  .run = command_cd },
	{ { "generate-core-file", "gcore", " [FILE]",
	    "writes a dump in the current folder (core.nvcudmp)", RUNS | DEVICE },
	  .run = command_gcore },
	{ { "detach", NULL, "", "ends, and lets the program go on", RUNS }, .run = command_detach },
	{ { "kill", "k", "", "back to before the first instruction", RUNS }, .run = command_kill },
	{ { "quit", "q", "", "ends", 0 }, .run = command_quit },
	{ { "help", "h", " [COMMAND]", "this list, or one line of it", 0 }, .built_in = gdb_help },
	{ { "apropos", NULL, " WORD", "the lines of this list that have it", 0 },
	  .built_in = gdb_apropos },
};

/* ---- what the grammar asks ---- */

static bool is_hidden(void *user, const struct gdb_command *command)
{
	const struct debugger *d = user;
	return d->dump && (command->is & RUNS);
}

static const struct command *behind(const struct gdb_command *command)
{
	return (const struct command *)(const void *)command;
}

static bool may_run(void *user, const struct gdb_command *command)
{
	struct debugger *d = user;
	if (is_hidden(d, command)) {
		if (behind(command)->run == debug_breakpoint_commands) {
			struct gdb_lines lines = gdb_take_lines(&d->gdb, false);
			gdb_lines_free(&lines);
		}
		cli_say("The program is not being run: this is a dump.\n");
		return false;
	}
	const bool was_lost = ws_debug_state(d->session) == WS_DEBUG_LOST;
	if (!(command->is & DEVICE))
		return true;
	ws_debug_listen(d->session);
	if (was_lost)
		cli_say("The device is lost.\n");
	return ws_debug_state(d->session) != WS_DEBUG_LOST;
}

static void run(void *user, const struct gdb_command *command, const char *text)
{
	struct debugger *d = user;
	const struct command *one = behind(command);
	if (one->built_in)
		one->built_in(&d->gdb, text);
	else if (one->answer)
		(void)one->answer(d, text);
	else if (one->run)
		one->run(d, text);
	else if (one->run_as)
		one->run_as(d, text, one->how);
}

static bool help(void *user, const struct gdb_command *command, const char *rest)
{
	struct debugger *d = user;
	const bool is_info = behind(command)->run == debug_info;
	if (is_info && strcmp(rest, "cuda") == 0) {
		debug_help_info_cuda(d);
	} else if (is_info) {
		gdb_print_help(&d->gdb, command);
		ws_out_text(&d->cli->out, "\n");
		debug_help_info(d);
	}
	return is_info;
}

static void done(void *user)
{
	const struct debugger *d = user;
	ws_debug_listen(d->session);
}

static bool number(void *user, const char *text, struct ws_number *ret_number)
{
	const struct debugger *d = user;
	struct ws_error err;
	return debug_good(ws_debug_number(d->session, text, ret_number, &err), &err);
}

static bool is_interrupted(void *user)
{
	const struct debugger *d = user;
	return ws_debug_interrupted(d->session);
}

int debug_prompt(struct debugger *d)
{
	d->gdb.cli = d->cli;
	d->gdb.client = (struct gdb_client){
		.user = d,
		.commands = commands,
		.n_commands = sizeof commands / sizeof commands[0],
		.command_size = sizeof commands[0],
		.is_hidden = is_hidden,
		.may_run = may_run,
		.run = run,
		.help = help,
		.done = done,
		.number = number,
		.is_interrupted = is_interrupted,
		.complete = debug_complete,
	};
	return gdb_run(&d->gdb, &d->scripts, d->batch);
}

void debug_fini(struct debugger *d)
{
	gdb_fini(&d->gdb);
	ws_debug_destroy(d->session);
	run_setup_fini(&d->setup);
	debug_display_fini(d);
	cli_sources_fini(&d->sources);
	gdb_lines_free(&d->names);
	free(d->scripts.item);
}
