/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the prompt, which gdb's users know, and warpscope debug: kernels of an image on
 * the software GPU under them. What the program shows of a dump it shows here of the target as it
 * stands: those commands are the program's own verbs.
 */
#include "debug/debug.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <warpscope/sass.h>
#include <warpscope/write.h>

#include "look/look.h"
#include "session.h"
#include <warpscope/threads.h>

const struct cli_option verb_debug_options[] = {
	RUN_SETUP_OPTIONS,
	DEBUG_PROMPT_OPTIONS,
	{ "history", 0, CLI_NUMBER, .at = offsetof(struct debugger, history) },
	{ "api", 0, CLI_FLAG, .at = offsetof(struct debugger, through_api) },
	{ "software-gpu", 0, CLI_FLAG, .at = offsetof(struct debugger, software_gpu) },
	{ "pid", 0, CLI_NUMBER, .at = offsetof(struct debugger, pid) },
	{ "attach-by", 0, CLI_TEXT, .at = offsetof(struct debugger, attach_by) },
	{ 0 },
};

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

/* ---- commands that move a device ---- */

/* A device as before its first instruction. False: it could not be made, and that is told. */
static bool anew(struct debugger *d)
{
	if (d->pid.given) {
		cli_say("The program was not started here.\n");
		return false;
	}
	debug_unmake(d);
	d->quits = debug_make(d) != CLI_ANSWERED;
	return !d->quits;
}

static void command_run(struct debugger *d, const char *text)
{
	(void)text;
	if (!debug_has_begun(d) || anew(d))
		debug_go(d);
}

static void command_start(struct debugger *d, const char *text)
{
	struct ws_error err;
	(void)text;
	if (debug_has_begun(d) && !anew(d))
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
	if (debug_is_over(d) || (!debug_has_begun(d) && !debug_has_program(d)))
		cli_say(debug_is_over(d)
				? debug_has_program(d)
					  ? "The program has ended; run starts it again.\n"
					  : "All kernels have ended; run starts them again.\n"
				: "Nothing runs yet (run, or start).\n");
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
	if (!debug_has_program(d)) {
		cli_say("There is no program to detach from.\n");
		return;
	}
	ws_debug_detach(d->session);
	ws_out_text(&d->cli->out, "Detached.\n");
	d->quits = true;
}

static void command_nothing(struct debugger *d, const char *text)
{
	(void)d;
	(void)text;
}

static void command_quit(struct debugger *d, const char *text)
{
	(void)text;
	d->quits = true;
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

/* `how`: on */
static void command_enable(struct debugger *d, const char *text, int how)
{
	const char *rest = debug_behind(text, "display");
	if (rest)
		debug_display_enable(d, rest, how);
	else
		debug_breakpoints_enable(d, text, how);
}

static void command_delete(struct debugger *d, const char *text)
{
	const char *rest = debug_behind(text, "display"), *all = debug_behind(text, "breakpoints");
	if (rest)
		debug_undisplay(d, rest);
	else
		debug_breakpoints_delete(d, all ? all : text);
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

/* Runs report, which looks for sources where the prompt does. */
static void report(struct debugger *d, const char *text)
{
	const struct cli_sources *sources = &d->sources;
	const size_t n = sources->n_maps + sources->n_dirs;
	char **words = cli_alloc(n + DEBUG_MAX_WORDS + 2, sizeof *words);
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
	cli_verb(d->cli, used + debug_split(line, words + used, DEBUG_MAX_WORDS), words);
	for (size_t i = 0; i < n; i++)
		free(words[2 + i]);
	free(words);
	free(line);
}

static void command_report(struct debugger *d, const char *text)
{
	report(d, text);
}

static void command_why(struct debugger *d, const char *text)
{
	(void)text;
	report(d, "--brief");
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
	if (!*text || !text[first] || debug_behind(text, "full") || debug_behind(text, "-full")) {
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
	const char *rest = debug_behind(text, "var");
	rest = rest ? rest : debug_behind(text, "variable");
	if (rest || (*text && strchr("$*({", *text))) {
		(void)debug_set(d, rest ? rest : text);
	} else if ((rest = debug_behind(text, "substitute-path"))) {
		debug_substitute(d, rest);
	} else if (debug_set_setting(d, text)) {
		;
	} else if (strchr(text, '=') && debug_is_variable(d, text)) {
		(void)debug_set(d, text); /* gdb takes it without the word, too */
	} else {
		debug_settings_note(d);
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
	const char *rest = debug_behind(text, "cudacore");
	rest = rest ? rest : debug_behind(text, "core");
	if (!d->dump)
		cli_say("The target is a device; warpscope shell opens dumps.\n");
	else if (!rest || !*rest)
		cli_say("target cudacore FILE is expected.\n");
	else
		(void)debug_open(d, rest);
}

static void command_complete(struct debugger *d, const char *text)
{
	struct debug_words words = { 0 };
	size_t kept = strlen(text);
	while (kept > 0 && text[kept - 1] != ' ')
		kept--;
	debug_complete(d, text, &words);
	for (size_t i = 0; i < words.n; i++) {
		ws_out_printf(&d->cli->out, "%.*s", (int)kept, text);
		ws_out_escaped(&d->cli->out, ws_str_of(words.item[i]));
		ws_out_text(&d->cli->out, "\n");
	}
	debug_words_fini(&words);
}

/* ---- the table ---- */

static void command_help(struct debugger *d, const char *text);
static void command_apropos(struct debugger *d, const char *text);

enum {
	RUNS = 1 << 0,    /* moves a device: not for a dump */
	REPEATS = 1 << 1, /* an empty line does it again */
	DEVICE = 1 << 2,  /* there is nothing to say without a device */
};

static const struct command {
	const char *name, *letters; /* or a second name; NULL: none */
	const char *takes, *help;
	unsigned is;
	void (*run)(struct debugger *d, const char *text);
	void (*run_as)(struct debugger *d, const char *text, int how); /* instead of that */
	int how;
} commands[] = {
	{ "run", "r", "", "starts the kernels, again if they run", RUNS, .run = command_run },
	{ "start", NULL, "", "the same, to the first instruction of the first kernel", RUNS,
	  .run = command_start },
	{ "continue", "c", "", "goes on", RUNS | REPEATS, .run = command_continue },
	{ "step", "s", " [N]", "to another source line", RUNS | REPEATS | DEVICE,
	  .run_as = command_step, .how = WS_DEBUG_STEP },
	{ "next", "n", " [N]", "the same, over calls, inlined ones too", RUNS | REPEATS | DEVICE,
	  .run_as = command_step, .how = WS_DEBUG_NEXT },
	{ "stepi", "si", " [N]", "one instruction", RUNS | REPEATS | DEVICE, .run_as = command_step,
	  .how = WS_DEBUG_STEPI },
	{ "nexti", "ni", " [N]", "the same, over calls", RUNS | REPEATS | DEVICE,
	  .run_as = command_step, .how = WS_DEBUG_NEXTI },
	{ "finish", NULL, "", "to the end of the function, also of an inlined one",
	  RUNS | REPEATS | DEVICE, .run_as = command_step, .how = WS_DEBUG_FINISH },
	{ "until", "advance", " [LOCATION]", "to a location, or past the end of a loop",
	  RUNS | DEVICE, .run = command_until },
	{ "reverse-stepi", "rsi", " [N]", "back by one instruction of the thread",
	  RUNS | REPEATS | DEVICE, .run_as = command_reverse_step, .how = WS_DEBUG_STEPI },
	{ "reverse-step", "rs", " [N]", "to the start of the line before", RUNS | REPEATS | DEVICE,
	  .run_as = command_reverse_step, .how = WS_DEBUG_STEP },
	{ "reverse-next", "rn", " [N]", "the same, over calls", RUNS | REPEATS | DEVICE,
	  .run_as = command_reverse_step, .how = WS_DEBUG_NEXT },
	{ "reverse-continue", "rc", "", "to the breakpoint or watchpoint before, or the start",
	  RUNS | REPEATS | DEVICE, .run = command_reverse_continue },
	{ "last-write", NULL, " $REGISTER|MEMORY", "back to what wrote it", RUNS | DEVICE,
	  .run = debug_last_write },
	{ "break", "b", " LOCATION [if CONDITION]",
	  "stops there; LOCATION is FILE:LINE, LINE, FUNCTION or *ADDRESS", RUNS,
	  .run_as = command_break, .how = false },
	{ "tbreak", "thbreak", " LOCATION [if CONDITION]", "the same, once", RUNS,
	  .run_as = command_break, .how = true },
	{ "hbreak", NULL, " LOCATION [if CONDITION]", "as break", RUNS, .run_as = command_break,
	  .how = false },
	{ "watch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH",
	  "stops when memory changes, *(TYPE *)ADDRESS", RUNS, .run_as = command_watch,
	  .how = WS_WATCH_CHANGE },
	{ "rwatch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH", "when it is read", RUNS,
	  .run_as = command_watch, .how = WS_WATCH_READ },
	{ "awatch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH", "when it is read or written", RUNS,
	  .run_as = command_watch, .how = WS_WATCH_READ | WS_WATCH_WRITE },
	{ "commands", NULL, " [N]", "what is done when breakpoint N stops: the lines up to end",
	  RUNS, .run = debug_breakpoint_commands },
	{ "ignore", NULL, " N COUNT", "passes over the next hits of breakpoint N", RUNS,
	  .run = debug_breakpoint_ignore },
	{ "silent", NULL, "", "as the first of commands: the stop is not announced", RUNS,
	  .run = command_nothing },
	{ "condition", NULL, " N [CONDITION]", "changes when breakpoint N stops", RUNS,
	  .run = debug_breakpoint_condition },
	{ "delete", "d", " [display] [N...]", "removes breakpoints", 0, .run = command_delete },
	{ "enable", NULL, " [N...]", "", RUNS, .run_as = command_enable, .how = true },
	{ "disable", NULL, " [N...]", "", RUNS, .run_as = command_enable, .how = false },
	{ "print", "p", "[/x|/d|/u|/o|/t|/c|/f|/a|/s] EXPRESSION",
	  "variables, registers ($R3 $P0 $pc), $1, *(@shared int *)ADDRESS", 0,
	  .run = debug_print },
	{ "inspect", NULL, " EXPRESSION", "the same", 0, .run = debug_print },
	{ "call", NULL, " EXPRESSION", "the same, but prints nothing of what is void", 0,
	  .run = debug_call },
	{ "output", NULL, "[/FORMAT] EXPRESSION", "the same, without number and end of line", 0,
	  .run = debug_output },
	{ "ptype", NULL, "[/o] TYPE|EXPRESSION", "a type with its members; /o: and their offsets",
	  0, .run = debug_ptype },
	{ "whatis", NULL, " TYPE|EXPRESSION", "a type by its name", 0, .run = debug_whatis },
	{ "display", NULL, "[/FORMAT] [EXPRESSION]", "prints it at each stop", 0,
	  .run = debug_display },
	{ "undisplay", NULL, " [N...]", "no longer", 0, .run = debug_undisplay },
	{ "set", NULL, " [var] WHAT = EXPRESSION",
	  "a variable, $NAME, $REGISTER or *(TYPE *)ADDRESS", 0, .run = command_set },
	{ "x", NULL, "[/FORMAT] [ADDRESS]", "memory, as mem; /5i: instructions", REPEATS | DEVICE,
	  .run = debug_examine },
	{ "list", "l", " [LOCATION|FIRST,LAST|-]", "source lines, or the code of a line",
	  REPEATS | DEVICE, .run = debug_list },
	{ "search", "forward-search", " REGEX", "the next source line that matches", 0,
	  .run = debug_search },
	{ "reverse-search", NULL, " REGEX", "the one before", 0, .run = debug_search_back },
	{ "directory", "dir", " DIR...", "where sources are, too", 0, .run = debug_directory },
	{ "backtrace", "bt", " [full] [N|-N]", "inlined calls and callers", DEVICE,
	  .run = debug_backtrace },
	{ "frame", "f", " [N|function NAME|apply all COMMAND]",
	  "selects the frame of locals and expressions", DEVICE, .run = debug_frame },
	{ "select-frame", NULL, " N", "the same, and prints nothing", DEVICE,
	  .run = debug_select_frame },
	{ "faas", NULL, " COMMAND", "does it in each frame where it can be done", DEVICE,
	  .run = debug_in_frames },
	{ "up", NULL, " [N]", "at the caller", REPEATS | DEVICE, .run = debug_up },
	{ "down", NULL, " [N]", "back", REPEATS | DEVICE, .run = debug_down },
	{ "where", NULL, " [full|N|ADDRESS]", "as bt, or all that is known of an address", DEVICE,
	  .run = command_where },
	{ "cuda", "focus", " [kernel|block|thread|sm|warp|lane N]...",
	  "chooses another thread, or says which it is", DEVICE, .run = debug_cuda },
	{ "info", "i", " [cuda] TABLE|breakpoints|registers|line|symbol|source...", "tables",
	  DEVICE, .run = debug_info },
	{ "report", NULL, "", "what failed, and where all threads are", DEVICE,
	  .run = command_report },
	{ "why", NULL, "", "its first screen", DEVICE, .run = command_why },
	{ "groups", NULL, "", "threads of all kernels, by where they are", DEVICE,
	  .run = command_groups },
	{ "regs", NULL, " [REGISTER...] [FILTER...]", "registers", DEVICE, .run = command_regs },
	{ "mem", NULL, " SPACE:ADDRESS [/FORMAT]", "memory", DEVICE, .run = command_mem },
	{ "disassemble", "disas", " [ADDRESS | FROM,+BYTES | --OPTION...]",
	  "code of a function, from an address on, or as the verb", DEVICE, .run = command_disas },
	{ "echo", NULL, " TEXT", "prints it, with C's escapes", 0, .run = debug_echo },
	{ "printf", NULL, " \"FORMAT\", EXPRESSION...", "as C's", 0, .run = debug_printf },
	{ "if", NULL, " EXPRESSION", "runs the lines up to else, or those up to end", 0,
	  .run = debug_if },
	{ "while", NULL, " EXPRESSION", "runs the lines up to end as long as it is true", 0,
	  .run = debug_while },
	{ "loop_break", NULL, "", "out of the innermost while", 0, .run = debug_loop_break },
	{ "loop_continue", NULL, "", "on to its next turn", 0, .run = debug_loop_continue },
	{ "define", NULL, " NAME", "a command of the lines up to end; $arg0 is its first word", 0,
	  .run = debug_define },
	{ "document", NULL, " NAME", "lines up to end, which help shows", 0,
	  .run = debug_document },
	{ "alias", NULL, " NAME = COMMAND", "another name for a command with its first words", 0,
	  .run = debug_alias },
	{ "eval", NULL, " \"FORMAT\", EXPRESSION...", "the command that printf would print", 0,
	  .run = debug_eval },
	{ "with", "w", " SETTING [VALUE] -- COMMAND", "a command while a setting is so", 0,
	  .run = debug_with },
	{ "source", NULL, " FILE", "runs the commands of a file", 0, .run = debug_source },
	{ "complete", NULL, " TEXT", "what the last word may be", 0, .run = command_complete },
	{ "thread", "t", " [1 | apply all COMMAND]",
	  "accepted: the thread of gdb is the one in focus", DEVICE, .run = debug_thread },
	{ "taas", NULL, " COMMAND", "as thread apply all -s COMMAND", DEVICE,
	  .run = debug_in_threads },
	{ "tfaas", NULL, " COMMAND", "as thread apply all -s frame apply all -s COMMAND", DEVICE,
	  .run = debug_in_threads_and_frames },
	{ "target", NULL, " cudacore FILE", "opens another dump", 0, .run = command_target },
	{ "show", NULL, " [SETTING|version|values|convenience|user]",
	  "what is set, and the prompt's own values and commands", 0, .run = debug_show },
	{ "pwd", NULL, "", "the current folder", 0, .run = command_pwd },
	{ "cd", NULL, " FOLDER", "accepted: the prompt stays in its folder", 0, .run = command_cd },
	{ "generate-core-file", "gcore", " [FILE]",
	  "writes a dump in the current folder (core.nvcudmp)", RUNS | DEVICE,
	  .run = command_gcore },
	{ "detach", NULL, "", "ends, and lets the program go on", RUNS, .run = command_detach },
	{ "kill", "k", "", "back to before the first instruction", RUNS, .run = command_kill },
	{ "quit", "q", "", "ends", 0, .run = command_quit },
	{ "help", "h", " [COMMAND]", "this list, or one line of it", 0, .run = command_help },
	{ "apropos", NULL, " WORD", "the lines of this list that have it", 0,
	  .run = command_apropos },
};

enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

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

/* gdb's words of a word that is no command, or begins several. */
static void say_undefined(const char *word, size_t n)
{
	char names[1000] = "";
	unsigned matches = 0;
	for (size_t i = 0; i < N_COMMANDS && n; i++) {
		const size_t len = strlen(names);
		if (strncmp(commands[i].name, word, n) != 0)
			continue;
		snprintf(names + len, sizeof names - len, "%s%s", matches++ ? ", " : "",
			 commands[i].name);
	}
	if (matches > 1)
		cli_say("Ambiguous command \"%.*s\": %s.\n", (int)n, word, names);
	else
		cli_say("Undefined command: \"%.*s\".  Try \"help\".\n", (int)(n ? n : 1), word);
}

static void print_help(struct debugger *d, const struct command *one)
{
	char name[80];
	snprintf(name, sizeof name, "%s%s%s%s", one->name, one->letters ? ", " : "",
		 one->letters ? one->letters : "", one->takes);
	ws_out_printf(&d->cli->out, "%-46s  %s\n", name, one->help);
}

/* help [COMMAND] */
static void command_help(struct debugger *d, const char *text)
{
	const size_t n = strcspn(text, " ");
	const struct command *only = n ? find(text, n) : NULL;
	const char *table = text + n + strspn(text + n, " ");
	if (n && !only) {
		if (!debug_help_defined(d, text))
			say_undefined(text, n);
		return;
	}
	if (only && only->run == debug_info && strcmp(table, "cuda") == 0) {
		debug_help_info_cuda(d);
		return;
	}
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (n ? &commands[i] == only : !d->dump || !(commands[i].is & RUNS))
			print_help(d, &commands[i]);
	if (only && only->run == debug_info) {
		ws_out_text(&d->cli->out, "\n");
		debug_help_info(d);
	}
}

static bool has_word(const char *text, const char *word)
{
	for (; *text; text++)
		if (strncasecmp(text, word, strlen(word)) == 0)
			return true;
	return false;
}

/* apropos WORD */
static void command_apropos(struct debugger *d, const char *text)
{
	const char *word = debug_behind(text, "-v");
	word = word ? word : text;
	if (!*word)
		cli_say("REGEXP string is empty\n");
	for (size_t i = 0; i < N_COMMANDS && *word; i++) {
		const struct command *one = &commands[i];
		const bool has = has_word(one->name, word) || has_word(one->help, word) ||
				 has_word(one->takes, word);
		if (has && !(d->dump && (one->is & RUNS)))
			print_help(d, one);
	}
}

bool debug_is_command(const char *word)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, word) == 0 ||
		    (commands[i].letters && strcmp(commands[i].letters, word) == 0))
			return true;
	return false;
}

bool debug_has_command(const char *word, size_t n)
{
	return find(word, n) != NULL;
}

const char *debug_command_name(const struct debugger *d, size_t index)
{
	if (index >= N_COMMANDS)
		return NULL;
	return d->dump && (commands[index].is & RUNS) ? "" : commands[index].name;
}

/* ---- a line ---- */

/* The user's own command of that name for a command, before it or after. */
static void run_hook(struct debugger *d, const char *prefix, const struct command *command)
{
	char name[80];
	if (d->runs_hook) /* which may use the command itself */
		return;
	d->runs_hook = true;
	snprintf(name, sizeof name, "%s%s", prefix, command->name);
	(void)debug_run_defined(d, name);
	d->runs_hook = false;
}

static void run(struct debugger *d, const struct command *command, const char *text)
{
	if (command->run)
		command->run(d, text);
	else
		command->run_as(d, text, command->how);
}

static void run_command(struct debugger *d, const char *line, size_t n)
{
	const struct command *command = n ? find(line, n) : NULL;
	char *word = cli_copy(line, n);
	const bool is_exact = command && debug_is_command(word);
	free(word);
	/* of a word that is a name of the user's own, that comes before what it begins */
	if (!is_exact && debug_run_defined(d, line))
		return;
	if (!command && debug_is_absent(d, line))
		return;
	if (!command && n == 3 && memcmp(line, "end", n) == 0) {
		cli_say("This command cannot be used at the top level.\n");
		return;
	}
	if (!command) {
		say_undefined(line, n);
		return;
	}
	if (d->dump && (command->is & RUNS)) {
		if (command->run == debug_breakpoint_commands) {
			size_t n_lines = 0;
			char **lines = debug_take_lines(d, false, &n_lines);
			debug_lines_free(lines, n_lines);
		}
		cli_say("The program is not being run: this is a dump.\n");
		return;
	}
	const bool was_lost = debug_is_lost(d);
	if (command->is & DEVICE)
		ws_debug_listen(d->session);
	if ((command->is & DEVICE) && debug_is_lost(d)) {
		if (was_lost)
			cli_say("The device is lost.\n");
		return;
	}
	if (line != d->repeated) {
		free(d->repeated);
		d->repeated = command->is & REPEATS ? cli_copy(line, strlen(line)) : NULL;
	}
	const uint64_t failures = cli_failures();
	run_hook(d, "hook-", command);
	if (cli_failures() == failures)
		run(d, command, line + n + strspn(line + n, " \t"));
	if (cli_failures() == failures)
		run_hook(d, "hookpost-", command);
}

void debug_execute(struct debugger *d, const char *line, bool repeats)
{
	line += strspn(line, " \t");
	if (!*line && repeats && d->repeated)
		line = d->repeated;
	if (*line && *line != '#')
		run_command(d, line, strcspn(line, " \t/*$"));
	ws_debug_listen(d->session);
	debug_run_due(d);
	cli_flush(d->cli);
}

void debug_fini(struct debugger *d)
{
	debug_due_free(d->due);
	ws_debug_destroy(d->session);
	run_setup_fini(&d->setup);
	debug_display_fini(d);
	cli_sources_fini(&d->sources);
	debug_words_fini(&d->names);
	free(d->scripts.item);
	free(d->repeated);
}

/* A program with its arguments, or one that runs. */
static int check_program(struct debugger *d, int argc, char **argv)
{
	static const char *const ways[] = {
		[WS_DEBUG_BY_DESCRIPTOR] = "descriptor",
		[WS_DEBUG_BY_CALL] = "call",
		[WS_DEBUG_BY_INIT] = "init",
	};
	bool is_known = !d->attach_by;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !is_known; i++) {
		is_known = strcmp(d->attach_by, ways[i]) == 0;
		d->attach_way = (enum ws_debug_attach_way)i;
	}
	d->words = argv;
	if (d->cli->api_lib || d->through_api || (d->software_gpu && d->pid.given))
		return cli_usage("debug", "--software-gpu, --pid, --api and --api-lib are without "
					  "each other");
	if (!is_known || (d->attach_by && !d->pid.given))
		return cli_usage("debug", "--attach-by descriptor, call or init is for --pid");
	if (d->pid.given)
		return argc == 0 ? CLI_ANSWERED
				 : cli_usage("debug", "with --pid there is no program to start");
	return argc > 0 ? CLI_ANSWERED
			: cli_usage("debug", "--software-gpu -- PROGRAM is expected");
}

/* An image to execute, or a provider of the debugger API, that has a device of its own. */
static int check_what(struct debugger *d, int argc, char **argv)
{
	if (d->software_gpu || d->pid.given)
		return check_program(d, argc, argv);
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
		status = cli_usage("debug",
				   "a conversation is no JSON; give --json to its commands: "
				   "info kernels --json");
	if (status == CLI_ANSWERED)
		status = check_what(&d, argc, argv);
	if (status == CLI_ANSWERED)
		status = debug_begin(&d);
	if (status == CLI_ANSWERED)
		status = debug_make(&d);
	if (status == CLI_ANSWERED)
		status = debug_prompt(&d);
	debug_unmake(&d);
	debug_fini(&d);
	return status;
}
