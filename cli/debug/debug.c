/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the prompt, which gdb's users know, and warpscope debug: kernels of an image on
 * the software GPU under them. What the program shows of a dump it shows here of the target as it
 * stands: those commands are the program's own verbs.
 */
#include "debug/debug.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/sass.h>
#include <warpscope/write.h>

#include "filter.h"
#include "look/look.h"
#include "session.h"

const struct cli_option verb_debug_options[] = {
	RUN_SETUP_OPTIONS,
	DEBUG_PROMPT_OPTIONS,
	{ "history", 0, CLI_NUMBER, .at = offsetof(struct debugger, history) },
	{ "api", 0, CLI_FLAG, .at = offsetof(struct debugger, through_api) },
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

/* ---- commands that move a device ---- */

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

static void step_back(struct debugger *d, const char *text, enum debug_step how)
{
	uint64_t times = 1;
	if (*text && (!cli_number(text, &times) || times == 0))
		cli_say("'%s' is no count.\n", text);
	else if (debug_has_thread(d))
		debug_step_back(d, how, times);
}

static void command_reverse_stepi(struct debugger *d, const char *text)
{
	step_back(d, text, DEBUG_STEPI);
}

static void command_reverse_step(struct debugger *d, const char *text)
{
	step_back(d, text, DEBUG_STEP);
}

static void command_reverse_next(struct debugger *d, const char *text)
{
	step_back(d, text, DEBUG_NEXT);
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

/* Runs a verb over the target, which takes the place of its file. */
static void verb(struct debugger *d, const char *name, const char *text)
{
	char *line = cli_copy(text, strlen(text));
	char *words[MAX_WORDS] = { (char *)(uintptr_t)name,
				   d->dump ? d->dump : (char *)(uintptr_t) "device" };
	cli_verb(d->cli, 2 + split(line, words + 2, MAX_WORDS - 3), words);
	free(line);
}

/* bt [N] */
static void command_backtrace(struct debugger *d, const char *text)
{
	char line[40];
	uint64_t most;
	if (!debug_has_thread(d))
		return;
	if (cli_number(text, &most)) {
		snprintf(line, sizeof line, "--limit %" PRIu64, most);
		text = line;
	}
	verb(d, "bt", text);
}

static void select_frame(struct debugger *d, uint64_t number)
{
	struct look look = { .vars = NULL };
	const struct cli_given given = { .given = true, .value = number };
	if (debug_has_thread(d) && look_open(&look, d->cli, d->dump ? d->dump : "device", 0, NULL,
					     given) == CLI_ANSWERED) {
		d->cli->frame = look.at;
		d->level = look.frames[look.at].level;
		look_print_frame(&look, look.at, &d->cli->out);
	}
	look_close(&look);
}

/* frame [N] */
static void command_frame(struct debugger *d, const char *text)
{
	uint64_t number = d->cli->frame;
	if (*text && !cli_number(text, &number))
		cli_say("'%s' is no frame.\n", text);
	else
		select_frame(d, number);
}

static void move_frame(struct debugger *d, const char *text, bool up)
{
	uint64_t times = 1, now = d->cli->frame;
	if (*text && !cli_number(text, &times))
		cli_say("'%s' is no count.\n", text);
	else if (!up && now == 0)
		cli_say("Bottom (innermost) frame selected; you cannot go down.\n");
	else if (up)
		select_frame(d, times < UINT32_MAX ? now + times : times);
	else
		select_frame(d, times < now ? now - times : 0);
}

static void command_up(struct debugger *d, const char *text)
{
	move_frame(d, text, true);
}

static void command_down(struct debugger *d, const char *text)
{
	move_frame(d, text, false);
}

static void command_report(struct debugger *d, const char *text)
{
	verb(d, "report", text);
}

static void command_why(struct debugger *d, const char *text)
{
	(void)text;
	verb(d, "report", "--brief");
}

static void command_regs(struct debugger *d, const char *text)
{
	bool system = strcmp(text, "system") == 0; /* gdb's word for these */
	verb(d, "regs", system ? "P UP B" : text);
}

static void command_mem(struct debugger *d, const char *text)
{
	verb(d, "mem", text);
}

/* An address that a command is about. False with a word to the user. */
static bool address_in(struct debugger *d, const char *text, uint64_t *ret_address)
{
	struct ws_number value;
	char wrong[200];
	bool good = debug_evaluate(d, d->has_focus ? &d->focus : NULL, text, &value, wrong);
	if (!good)
		cli_say("%s.\n", wrong);
	else
		*ret_address = (uint64_t)value.whole;
	return good;
}

/* FROM,TO or FROM,+LENGTH */
static void disassemble_range(struct debugger *d, const char *text, const char *comma)
{
	char *first = cli_copy(text, (size_t)(comma - text));
	const char *last = comma + 1 + strspn(comma + 1, " ");
	uint64_t from, to;
	if (address_in(d, first, &from) && address_in(d, *last == '+' ? last + 1 : last, &to))
		debug_print_code(d, from,
				 *last == '+' ? to / WS_SASS_BYTES
				 : to > from  ? (to - from) / WS_SASS_BYTES
					      : 0);
	free(first);
}

static void command_disas(struct debugger *d, const char *text)
{
	const char *comma = strchr(text, ',');
	text += strncmp(text, "/s", 2) == 0 && (text[2] == ' ' || !text[2]) ? 2 : 0;
	text += strspn(text, " ");
	if (comma)
		disassemble_range(d, text, comma);
	else
		verb(d, "disas", *text ? text : "--regs");
}

/* "(@SPACE TYPE *)ADDRESS": the name of the space as `mem` knows it, and what follows the cast. */
static const char *space_in(const char *text, const char **ret_rest)
{
	static const char *const names[][2] = {
		{ "global", "global" },   { "shared", "shared" },   { "local", "local" },
		{ "generic", "generic" }, { "parameter", "param" }, { "code", "code" },
	};
	const char *close = strchr(text, ')');
	size_t blanks = *text == '(' ? 1 + strspn(text + 1, " ") : 0;
	if (!blanks || text[blanks] != '@' || !close)
		return NULL;
	*ret_rest = close + 1;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(text + blanks + 1, names[i][0], strlen(names[i][0])) == 0)
			return names[i][1];
	return NULL;
}

/* x/FORMAT ADDRESS */
static void command_x(struct debugger *d, const char *text)
{
	size_t n = *text == '/' ? strcspn(text, " ") : 0;
	char *format = cli_copy(text, n);
	const char *rest = text + n + strspn(text + n, " ");
	const char *space = space_in(rest, &rest);
	uint64_t address;
	bool is_expression =
		*rest == '$' || *rest == '(' || *rest == '*' || space || strchr(format, 'i');
	if (!is_expression) {
		size_t size = strlen(rest) + n + 2;
		char *line = cli_alloc(size, 1);
		snprintf(line, size, "%s %s", rest, format);
		verb(d, "mem", line);
		free(line);
	} else if (!address_in(d, rest, &address)) {
		;
	} else if (strchr(format, 'i')) {
		unsigned long long count = strtoull(format + 1, NULL, 10);
		debug_print_code(d, address, count ? count : 1);
	} else {
		size_t size = n + 60;
		char *line = cli_alloc(size, 1);
		snprintf(line, size, "%s:0x%llx %s", space ? space : "generic",
			 (unsigned long long)address, format);
		verb(d, "mem", line);
		free(line);
	}
	free(format);
}

static const char *behind(const char *text, const char *word)
{
	size_t n = strlen(word);
	if (strncmp(text, word, n) != 0 || (text[n] && text[n] != ' '))
		return NULL;
	return text + n + strspn(text + n, " ");
}

/* The pc of the thread in focus. */
static bool focus_pc(struct debugger *d, uint64_t *ret_pc)
{
	struct ws_lane lane;
	if (!debug_has_thread(d) ||
	    ws_target_lane(d->target, d->focus.warp_index, d->focus.lane, &lane, NULL) != WS_OK)
		return false;
	*ret_pc = lane.pc;
	return true;
}

/* info line [*ADDRESS|LOCATION] */
static void info_line(struct debugger *d, const char *text)
{
	struct breakpoint at = { 0 };
	uint64_t pc;
	if (!*text && focus_pc(d, &pc))
		debug_print_line(d, pc);
	else if (*text == '*' && address_in(d, text + 1, &pc))
		debug_print_line(d, pc);
	else if (*text && *text != '*' && debug_locate(d, text, &at))
		for (size_t i = 0; i < at.n_pcs; i++)
			debug_print_line(d, at.pc[i]);
	free(at.pc);
}

static void command_info(struct debugger *d, const char *text)
{
	const char *rest;
	uint64_t pc;
	if (behind(text, "breakpoints") || behind(text, "break") || behind(text, "b") ||
	    behind(text, "watchpoints")) {
		debug_breakpoints_list(d);
	} else if ((rest = behind(text, "registers")) || (rest = behind(text, "r"))) {
		command_regs(d, rest);
	} else if ((rest = behind(text, "line")) || (rest = behind(text, "cuda line"))) {
		info_line(d, rest);
	} else if ((rest = behind(text, "symbol"))) {
		if (address_in(d, rest, &pc))
			debug_print_symbol(d, pc);
	} else if (behind(text, "frame")) {
		select_frame(d, d->cli->frame);
	} else if (behind(text, "source")) {
		if (focus_pc(d, &pc))
			debug_print_place(d, pc);
	} else if (behind(text, "locals") || behind(text, "args")) {
		verb(d, "locals", behind(text, "args") ? "--only args" : "--only locals");
	} else if ((rest = behind(text, "cuda"))) {
		verb(d, "info", rest);
	} else {
		verb(d, "info", text);
	}
}

static void command_where(struct debugger *d, const char *text)
{
	char line[40];
	uint64_t address;
	if (!*text) {
		command_backtrace(d, text);
	} else if (address_in(d, text, &address)) {
		snprintf(line, sizeof line, "where 0x%llx", (unsigned long long)address);
		verb(d, "info", line);
	}
}

static void command_groups(struct debugger *d, const char *text)
{
	(void)text;
	verb(d, "info", "threads kernel any block any thread any");
}

/* ---- what gdb's scripts have ---- */

static void settings_note(struct debugger *d)
{
	if (!d->settings_noted)
		cli_say("There are no settings here; set and show change nothing.\n");
	d->settings_noted = true;
}

static void command_set(struct debugger *d, const char *text)
{
	const char *rest = behind(text, "var");
	rest = rest ? rest : behind(text, "variable");
	text = rest ? rest : text;
	if (rest || *text == '$' || *text == '*' || *text == '(')
		debug_set(d, text);
	else
		settings_note(d);
}

static void command_show(struct debugger *d, const char *text)
{
	(void)text;
	settings_note(d);
}

/* target cudacore FILE */
static void command_target(struct debugger *d, const char *text)
{
	const char *rest = behind(text, "cudacore");
	rest = rest ? rest : behind(text, "core");
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

/* ---- focus ---- */

/* Words that a word leaves as they are now: the thread of another block is one of that block. */
static void keep(struct filter *filter, const struct coords *now, enum filter_word given,
		 enum filter_word kept)
{
	if (filter_limits(filter, given) && !filter_limits(filter, kept))
		filter_current(filter, now, kept);
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
	struct ws_focus first;
	const char *bad;
	if (!filter_parse(&filter, now, split(line, words, MAX_WORDS), words, &bad)) {
		cli_say("'%s' is no coordinate; there are kernel, block, thread, device, sm, warp, "
			"lane.\n",
			bad);
	} else {
		for (size_t i = 0; now && i < sizeof kept / sizeof kept[0]; i++)
			if (kept[i][0] != FILTER_block || !filter_limits(&filter, FILTER_kernel))
				keep(&filter, now, kept[i][0], kept[i][1]);
		if (session_first(session, &filter, &first))
			debug_focus_on(d, &first);
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

enum {
	RUNS = 1 << 0,    /* moves a device: not for a dump */
	REPEATS = 1 << 1, /* an empty line does it again */
};

static const struct command {
	const char *name, *letters; /* or a second name; NULL: none */
	const char *takes, *help;
	unsigned is;
	void (*run)(struct debugger *d, const char *text);
} commands[] = {
	{ "run", "r", "", "starts the kernels, again if they run", RUNS, command_run },
	{ "start", NULL, "", "the same, to the first instruction of the first kernel", RUNS,
	  command_start },
	{ "continue", "c", "", "goes on", RUNS | REPEATS, command_continue },
	{ "step", "s", " [N]", "to another source line", RUNS | REPEATS, command_step },
	{ "next", "n", " [N]", "the same, over calls, inlined ones too", RUNS | REPEATS,
	  command_next },
	{ "stepi", "si", " [N]", "one instruction", RUNS | REPEATS, command_stepi },
	{ "nexti", "ni", " [N]", "the same, over calls", RUNS | REPEATS, command_nexti },
	{ "finish", NULL, "", "to the end of the function, also of an inlined one", RUNS | REPEATS,
	  command_finish },
	{ "until", "advance", " [LOCATION]", "to a location", RUNS, command_until },
	{ "reverse-stepi", "rsi", " [N]", "back by one instruction of the thread", RUNS | REPEATS,
	  command_reverse_stepi },
	{ "reverse-step", "rs", " [N]", "to the start of the line before", RUNS | REPEATS,
	  command_reverse_step },
	{ "reverse-next", "rn", " [N]", "the same, over calls", RUNS | REPEATS,
	  command_reverse_next },
	{ "reverse-continue", "rc", "", "to the breakpoint or watchpoint before, or the start",
	  RUNS | REPEATS, command_reverse_continue },
	{ "last-write", NULL, " $REGISTER|MEMORY", "back to what wrote it", RUNS,
	  debug_last_write },
	{ "break", "b", " LOCATION [if CONDITION]",
	  "stops there; LOCATION is FILE:LINE, LINE, FUNCTION or *ADDRESS", RUNS, command_break },
	{ "tbreak", NULL, " LOCATION [if CONDITION]", "the same, once", RUNS, command_tbreak },
	{ "watch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH",
	  "stops when memory changes, *(TYPE *)ADDRESS", RUNS, command_watch },
	{ "rwatch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH", "when it is read", RUNS,
	  command_rwatch },
	{ "awatch", NULL, " EXPRESSION|SPACE:ADDRESS+LENGTH", "when it is read or written", RUNS,
	  command_awatch },
	{ "condition", NULL, " N [CONDITION]", "changes when breakpoint N stops", RUNS,
	  debug_breakpoint_condition },
	{ "delete", "d", " [N...]", "removes breakpoints", RUNS, debug_breakpoints_delete },
	{ "enable", NULL, " [N...]", "", RUNS, command_enable },
	{ "disable", NULL, " [N...]", "", RUNS, command_disable },
	{ "print", "p", "[/x|/u|/f] EXPRESSION",
	  "registers $R3 $RD4 $P0 $UR4 $pc, threadIdx.x, *(@shared u32 *)ADDRESS", 0, debug_print },
	{ "set", NULL, " $REGISTER = EXPRESSION", "or *(TYPE *)ADDRESS = EXPRESSION", 0,
	  command_set },
	{ "x", NULL, "[/FORMAT] ADDRESS", "memory, as mem; /5i: instructions", 0, command_x },
	{ "backtrace", "bt", " [N]", "inlined calls and callers", 0, command_backtrace },
	{ "frame", "f", " [N]", "looks at a frame: locals and expressions are of it", 0,
	  command_frame },
	{ "up", NULL, " [N]", "at the caller", REPEATS, command_up },
	{ "down", NULL, " [N]", "back", REPEATS, command_down },
	{ "where", NULL, " [ADDRESS]", "the same, or all that is known of an address", 0,
	  command_where },
	{ "cuda", "focus", " [kernel|block|thread|sm|warp|lane N]...",
	  "chooses another thread, or says which it is", 0, command_cuda },
	{ "info", "i", " [cuda] TABLE|breakpoints|registers|line|symbol|source", "tables", 0,
	  command_info },
	{ "report", NULL, "", "what failed, and where all threads are", 0, command_report },
	{ "why", NULL, "", "its first screen", 0, command_why },
	{ "groups", NULL, "", "threads of all kernels, by where they are", 0, command_groups },
	{ "regs", NULL, " [REGISTER...] [FILTER...]", "registers", 0, command_regs },
	{ "mem", NULL, " SPACE:ADDRESS [/FORMAT]", "memory", 0, command_mem },
	{ "disassemble", "disas", " [FROM,+BYTES | OPTION...]",
	  "code around the pc, from an address on, or as the verb", 0, command_disas },
	{ "echo", NULL, " TEXT", "prints it, with C's escapes", 0, debug_echo },
	{ "printf", NULL, " \"FORMAT\", EXPRESSION...", "as C's", 0, debug_printf },
	{ "define", NULL, " NAME", "a command of the lines up to end; $arg0 is its first word", 0,
	  debug_define },
	{ "document", NULL, " NAME", "lines up to end, which are passed over", 0, debug_document },
	{ "source", NULL, " FILE", "runs the commands of a file", 0, debug_source },
	{ "complete", NULL, " TEXT", "what the last word may be", 0, command_complete },
	{ "target", NULL, " cudacore FILE", "opens another dump", 0, command_target },
	{ "show", NULL, "", "accepted: there are no settings, and set changes none", 0,
	  command_show },
	{ "generate-core-file", "gcore", " [FILE]",
	  "writes a dump in the current folder (core.nvcudmp)", RUNS, command_gcore },
	{ "kill", "k", "", "back to before the first instruction", RUNS, command_kill },
	{ "quit", "q", "", "ends", 0, command_quit },
	{ "help", "h", "", "this list", 0, command_help },
};

enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void command_help(struct debugger *d, const char *text)
{
	(void)text;
	for (size_t i = 0; i < N_COMMANDS; i++) {
		const struct command *one = &commands[i];
		char name[80];
		if (d->dump && (one->is & RUNS))
			continue;
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

bool debug_is_command(const char *word)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, word) == 0 ||
		    (commands[i].letters && strcmp(commands[i].letters, word) == 0))
			return true;
	return false;
}

const char *debug_command_name(const struct debugger *d, size_t index)
{
	if (index >= N_COMMANDS)
		return NULL;
	return d->dump && (commands[index].is & RUNS) ? "" : commands[index].name;
}

/* ---- a line ---- */

static void run_command(struct debugger *d, const char *line, size_t n)
{
	const struct command *command = n ? find(line, n) : NULL;
	if (!command && debug_run_defined(d, line))
		return;
	if (!command) {
		cli_say("'%.*s' is no command; see: help\n", (int)(n ? n : 1), line);
		return;
	}
	if (d->dump && (command->is & RUNS)) {
		cli_say("The program is not being run: this is a dump.\n");
		return;
	}
	if (line != d->repeated) {
		free(d->repeated);
		d->repeated = command->is & REPEATS ? cli_copy(line, strlen(line)) : NULL;
	}
	command->run(d, line + n + strspn(line + n, " \t"));
}

void debug_execute(struct debugger *d, const char *line, bool repeats)
{
	line += strspn(line, " \t");
	if (!*line && repeats && d->repeated)
		line = d->repeated;
	if (*line && *line != '#')
		run_command(d, line, strcspn(line, " \t/*$"));
	cli_flush(d->cli);
}

void debug_fini(struct debugger *d)
{
	debug_breakpoints_fini(d);
	run_setup_fini(&d->setup);
	debug_words_fini(&d->names);
	free(d->scripts.item);
	free(d->repeated);
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
	if (status == CLI_ANSWERED)
		status = debug_prompt(&d);
	debug_unmake(&d);
	debug_fini(&d);
	return status;
}
