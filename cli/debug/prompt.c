/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where commands come from: the command line (--ex, -x), then standard input, and within these the
 * files and the commands of the user's own that they name. At a terminal libedit edits the lines,
 * recalls earlier ones and completes words; elsewhere each line is repeated behind the prompt, so
 * that what is printed is a transcript.
 */
#include "debug/debug.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if WARPSCOPE_HAVE_LIBEDIT
#include <editline/readline.h>
#endif

enum {
	MAX_NESTED = 64,    /* files and commands of the user's own within each other */
	MAX_LINE = 1 << 16, /* bytes of a line after its arguments were put in */
	MAX_BODY = 10000,   /* lines of a command of the user's own */
	MAX_ARGUMENTS = 10, /* $arg0 ... */
};

struct source {
	struct source *outer;
	FILE *file;            /* what is read, or NULL: the lines of a list */
	const char *path;      /* of the file */
	char *const *lines;    /* borrowed */
	size_t n_lines, at;    /* lines, and how many of them, or of the file, have been read */
	bool is_user;          /* standard input: shown, and an empty line repeats a command */
	bool is_due;           /* commands of a breakpoint, which end where another is hit */
	const char *arguments; /* of a command of the user's own; NULL: it is none */
};

struct user_command {
	char *name;   /* owned */
	char **lines; /* owned, with the lines */
	size_t n_lines, cap_lines;
	char **help; /* owned, with the lines */
	size_t n_help;
	char *alias; /* owned: the beginning of a line that it stands for; NULL: it is none */
};

/* Where a loop goes, instead of to its next line. */
enum jump { JUMP_NONE, JUMP_OUT, JUMP_ON };

struct prompt {
	struct debugger *d;
	struct source *source; /* innermost */
	unsigned n_nested;
	unsigned n_loops; /* of `while`, within each other */
	enum jump jump;
	struct user_command *commands; /* owned */
	size_t n_commands, cap_commands;
	struct debug_index names; /* of `commands` */
	char *line;               /* of getline() */
	size_t cap_line;
	struct debug_pager pager;
};

/* The next line of a file, as it is; NULL: there is none. */
static char *read_line(struct prompt *p, FILE *file)
{
	do {
		errno = 0;
		if (getline(&p->line, &p->cap_line, file) >= 0)
			return cli_copy(p->line, strlen(p->line));
		clearerr(file);
	} while (errno == EINTR);
	return NULL;
}

/* ---- what is typed at a terminal ---- */

#if WARPSCOPE_HAVE_LIBEDIT
/* libedit's callbacks have no argument for it. */
static struct debugger *completed_for;

static char *next_completion(const char *text, int state)
{
	static struct debug_words words;
	static size_t at;
	(void)text;
	if (state == 0) {
		debug_words_fini(&words);
		char *line = cli_copy(rl_line_buffer, (size_t)rl_point);
		debug_complete(completed_for, line, &words);
		free(line);
		at = 0;
	}
	if (at < words.n)
		return strdup(words.item[at++]);
	debug_words_fini(&words);
	return NULL;
}

static char **complete(const char *text, int start, int end)
{
	(void)start;
	(void)end;
	rl_attempted_completion_over = 1; /* no names of files */
	return rl_completion_matches(text, next_completion);
}

/* The next line as typed, without its end; free() it. NULL: there is no more. */
static char *edited(struct prompt *p, const char *words)
{
	completed_for = p->d;
	rl_readline_name = "warpscope";
	rl_attempted_completion_function = complete;
	rl_completer_word_break_characters = " \t";
	rl_basic_word_break_characters = " \t";
	char *line = readline(words);
	if (line && *line)
		add_history(line);
	else if (!line)
		ws_out_text(&p->d->cli->out, "\n");
	return line;
}
#else
static char *edited(struct prompt *p, const char *words)
{
	ws_out_escaped(&p->d->cli->out, ws_str_of(words));
	cli_flush(p->d->cli);
	return read_line(p, stdin);
}
#endif

/* ---- lines ---- */

/* Without what ends it. */
static void trim(char *line)
{
	size_t n = strlen(line);
	while (n > 0 && strchr(" \t\r\n", line[n - 1]))
		line[--n] = '\0';
}

static char *next_user_line(struct prompt *p, const char *words)
{
	struct cli *cli = p->d->cli;
	cli_flush(cli);
	if (isatty(STDIN_FILENO))
		return edited(p, words);
	char *line = read_line(p, stdin);
	if (line)
		trim(line);
	if (line && *line) {
		ws_out_escaped(&cli->out, ws_str_of(words));
		ws_out_escaped(&cli->out, ws_str_of(line));
		ws_out_text(&cli->out, "\n");
		cli_flush(cli);
	}
	return line;
}

/* The `number`th word of a text. */
static const char *word_at(const char *text, unsigned number, size_t *ret_len)
{
	text += strspn(text, " \t");
	while (number-- > 0) {
		text += strcspn(text, " \t");
		text += strspn(text, " \t");
	}
	*ret_len = strcspn(text, " \t");
	return text;
}

static unsigned count_words(const char *text)
{
	unsigned n = 0;
	size_t len;
	while (n < MAX_ARGUMENTS && *word_at(text, n, &len))
		n++;
	return n;
}

/* A line of a command of the user's own with its arguments in their places. NULL: it gets too
 * long, which is told. */
static char *with_arguments(const char *line, const char *arguments)
{
	char *made = cli_alloc(MAX_LINE, 1);
	size_t n = 0;
	while (*line && n < MAX_LINE - 1) {
		size_t len = 1, skipped = 1;
		const char *from = line;
		char count[12];
		if (strncmp(line, "$argc", 5) == 0) {
			snprintf(count, sizeof count, "%u", count_words(arguments));
			from = count;
			len = strlen(count);
			skipped = 5;
		} else if (strncmp(line, "$arg", 4) == 0 && line[4] >= '0' && line[4] <= '9') {
			from = word_at(arguments, (unsigned)(line[4] - '0'), &len);
			skipped = 5;
		}
		if (len > MAX_LINE - 1 - n)
			break;
		memcpy(made + n, from, len);
		n += len;
		line += skipped;
	}
	if (!*line)
		return made;
	cli_say("A line gets longer than %d bytes.\n", MAX_LINE);
	free(made);
	return NULL;
}

/* The next line of the innermost source; free() it. NULL: it has no more. `words` is what to show
 * before it. */
static char *next_line_alone(struct prompt *p, const char *words)
{
	struct source *source = p->source;
	char *line;
	if (source->is_user) {
		line = next_user_line(p, words);
	} else if (source->file) {
		line = read_line(p, source->file);
		source->at++;
	} else if (source->at < source->n_lines) {
		const char *next = source->lines[source->at++];
		line = source->arguments ? with_arguments(next, source->arguments)
					 : cli_copy(next, strlen(next));
	} else {
		line = NULL;
	}
	if (line)
		trim(line);
	return line;
}

/* The same with the lines that it goes on in: those behind a backslash at its end. */
static char *next_line(struct prompt *p, const char *words)
{
	char *line = next_line_alone(p, words);
	const bool goes_on = p->source->is_user || p->source->file;
	size_t n = line ? strlen(line) : 0;
	while (goes_on && n > 0 && line[n - 1] == '\\') {
		char *more = next_line_alone(p, ">");
		if (!more)
			break;
		line = cli_realloc(line, n + strlen(more), 1);
		memcpy(line + n - 1, more, strlen(more) + 1);
		free(more);
		n = strlen(line);
	}
	return line;
}

/* ---- running ---- */

/* As in gdb, a failure ends the lines that it is among, and those which began them, up to a line
 * that the user gave: of standard input or of --ex. */
static void run_source(struct prompt *p, struct source *source)
{
	struct debugger *d = p->d;
	const uint64_t failures = cli_failures();
	char *line;
	if (p->n_nested == MAX_NESTED) {
		cli_say("Files and commands are nested more than %d deep.\n", MAX_NESTED);
		return;
	}
	source->outer = p->source;
	p->source = source;
	p->n_nested++;
	while (!d->quits && !p->jump && !(source->is_due && d->due) &&
	       (source->is_user || cli_failures() == failures) &&
	       (line = next_line(p, "(warpscope) "))) {
		bool pages = source->is_user && isatty(STDIN_FILENO) && d->cli->terminal &&
			     !d->no_paging && d->height != UINT32_MAX;
		if (pages)
			debug_pager_begin(&p->pager, d->cli,
					  d->height ? d->height : debug_pager_rows());
		debug_execute(d, line, source->is_user);
		if (pages)
			debug_pager_end(&p->pager);
		free(line);
	}
	if (source->path && cli_failures() != failures && getc(source->file) != EOF)
		cli_note("%s:%zu: the lines behind this one are left out.\n", source->path,
			 source->at);
	p->n_nested--;
	p->source = source->outer;
}

static bool run_file(struct prompt *p, const char *path)
{
	struct source source = { .file = fopen(path, "r"), .path = path };
	if (!source.file) {
		cli_say("%s: %s\n", path, strerror(errno));
		return false;
	}
	run_source(p, &source);
	fclose(source.file);
	return true;
}

void debug_source(struct debugger *d, const char *text)
{
	const char *rest;
	while ((rest = debug_behind(text, "-v")) || (rest = debug_behind(text, "-s")))
		text = rest;
	if (*text)
		(void)run_file(d->prompt, text);
	else
		cli_say("A file of commands is expected.\n");
}

/* ---- commands of the user's own ---- */

static struct user_command *find(const struct prompt *p, const char *name, size_t len)
{
	size_t number;
	return debug_index_find(&p->names, name, len, &number) ? &p->commands[number] : NULL;
}

/* One of a name that none has yet. */
static struct user_command *add(struct prompt *p, const char *name, size_t len)
{
	cli_grow(&p->commands, &p->cap_commands, p->n_commands, sizeof *p->commands);
	struct user_command *made = &p->commands[p->n_commands];
	*made = (struct user_command){ .name = cli_copy(name, len) };
	debug_index_add(&p->names, made->name, p->n_commands++);
	return made;
}

void debug_lines_free(char **lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(lines[i]);
	free(lines);
}

static void drop_lines(struct user_command *command)
{
	debug_lines_free(command->lines, command->n_lines);
	command->lines = NULL;
	command->n_lines = command->cap_lines = 0;
}

static bool is_word(const char *line, const char *word)
{
	size_t n = strlen(word);
	return strncmp(line, word, n) == 0 && (!line[n] || line[n] == ' ' || line[n] == '\t');
}

/* Whether a line begins what has an `end` of its own. */
static bool opens(const char *line)
{
	static const char *const words[] = { "if", "while", "commands", "define", "document" };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (is_word(line, words[i]))
			return true;
	return false;
}

/* Whether lines of another language follow, up to an `end`. */
static bool opens_foreign(const char *line)
{
	return strcmp(line, "python") == 0 || strcmp(line, "py") == 0 ||
	       strcmp(line, "guile") == 0 || strcmp(line, "gu") == 0;
}

/* Where a line is between those that have an `end`. */
struct nesting {
	unsigned depth;
	bool is_foreign; /* among lines of another language, where only `end` is understood */
};

/* Takes a line; false: it is the `end` of all. */
static bool nest(struct nesting *at, const char *line)
{
	if (strcmp(line, "end") == 0) {
		at->is_foreign = false;
		return at->depth-- > 0;
	}
	if (!at->is_foreign) {
		at->is_foreign = opens_foreign(line);
		at->depth += at->is_foreign || opens(line);
	}
	return true;
}

/* Lines up to the `end` that belongs to them, which is taken too. */
static void read_body(struct prompt *p, struct user_command *command, bool is_foreign)
{
	char *line;
	struct nesting at = { .is_foreign = is_foreign };
	while ((line = next_line(p, ">"))) {
		if (!nest(&at, line + strspn(line, " \t"))) {
			free(line);
			return;
		}
		if (command->n_lines == MAX_BODY) {
			free(line);
			continue;
		}
		cli_grow(&command->lines, &command->cap_lines, command->n_lines,
			 sizeof *command->lines);
		command->lines[command->n_lines++] = line;
	}
}

char **debug_take_lines(struct debugger *d, bool is_foreign, size_t *ret_n)
{
	struct user_command body = { 0 };
	read_body(d->prompt, &body, is_foreign);
	*ret_n = body.n_lines;
	return body.lines;
}

static void run_lines(struct prompt *p, char *const *lines, size_t n)
{
	struct source source = { .lines = lines, .n_lines = n };
	run_source(p, &source);
}

/* The `else` of a body; its length: there is none. */
static size_t else_of(const struct user_command *body)
{
	struct nesting at = { .depth = 0 };
	for (size_t i = 0; i < body->n_lines; i++) {
		const char *line = body->lines[i] + strspn(body->lines[i], " \t");
		if (at.depth == 0 && strcmp(line, "else") == 0)
			return i;
		(void)nest(&at, line);
	}
	return body->n_lines;
}

/* Whether a condition is true; not when it cannot be told, which is told. */
static bool is_true(struct debugger *d, const char *text, bool *ret_true)
{
	struct ws_number number;
	const bool good = debug_number(d, text, &number);
	if (good)
		*ret_true = number.is_float ? number.real != 0 : number.whole != 0;
	return good;
}

void debug_if(struct debugger *d, const char *text)
{
	struct prompt *p = d->prompt;
	struct user_command body = { 0 };
	char *condition = cli_copy(text, strlen(text)); /* of a line that goes */
	bool first = true;
	read_body(p, &body, false);
	const size_t middle = else_of(&body);
	if (is_true(d, condition, &first) && first)
		run_lines(p, body.lines, middle);
	else if (!first && middle < body.n_lines)
		run_lines(p, body.lines + middle + 1, body.n_lines - middle - 1);
	drop_lines(&body);
	free(condition);
}

void debug_while(struct debugger *d, const char *text)
{
	struct prompt *p = d->prompt;
	struct user_command body = { 0 };
	char *condition = cli_copy(text, strlen(text));
	const uint64_t failures = cli_failures();
	bool again = false;
	read_body(p, &body, false);
	bool out = false;
	p->n_loops++;
	while (!out && !d->quits && is_true(d, condition, &again) && again &&
	       cli_failures() == failures && !debug_interrupted(d)) {
		run_lines(p, body.lines, body.n_lines);
		out = p->jump == JUMP_OUT;
		p->jump = JUMP_NONE;
	}
	p->n_loops--;
	drop_lines(&body);
	free(condition);
}

static void jump(struct debugger *d, enum jump to)
{
	if (d->prompt->n_loops)
		d->prompt->jump = to;
	else
		cli_say("This command cannot be used at the top level.\n");
}

void debug_loop_break(struct debugger *d, const char *text)
{
	(void)text;
	jump(d, JUMP_OUT);
}

void debug_loop_continue(struct debugger *d, const char *text)
{
	(void)text;
	jump(d, JUMP_ON);
}

void debug_due_free(struct debug_due *due)
{
	if (!due)
		return;
	debug_lines_free(due->lines, due->n);
	free(due);
}

void debug_run_due(struct debugger *d)
{
	if (d->runs_due) /* the outer one goes on */
		return;
	d->runs_due = true;
	while (d->due && !d->quits) {
		struct debug_due *due = d->due;
		struct source source = { .lines = due->lines, .n_lines = due->n, .is_due = true };
		d->due = NULL;
		run_source(d->prompt, &source);
		debug_due_free(due);
	}
	d->runs_due = false;
}

void debug_define(struct debugger *d, const char *text)
{
	struct prompt *p = d->prompt;
	struct user_command made = { 0 }, *old;
	size_t len = strcspn(text, " \t");
	read_body(p, &made, false);
	if (len == 0 || text[len] || debug_is_command(text)) {
		cli_say(len && !text[len] ? "'%s' is a command of the program.\n"
					  : "One name is expected: define NAME.\n",
			text);
		drop_lines(&made);
		return;
	}
	old = find(p, text, len);
	old = old ? old : add(p, text, len);
	drop_lines(old);
	free(old->alias);
	made.name = old->name;
	made.help = old->help;
	made.n_help = old->n_help;
	*old = made;
}

void debug_document(struct debugger *d, const char *text)
{
	struct user_command body = { 0 };
	read_body(d->prompt, &body, false);
	struct user_command *command = find(d->prompt, text, strcspn(text, " \t"));
	if (command) {
		debug_lines_free(command->help, command->n_help);
		command->help = body.lines;
		command->n_help = body.n_lines;
	} else {
		drop_lines(&body);
	}
}

bool debug_help_defined(struct debugger *d, const char *name)
{
	const struct user_command *command = find(d->prompt, name, strlen(name));
	if (command && command->alias) {
		ws_out_text(&d->cli->out, "An alias of: ");
		ws_out_escaped(&d->cli->out, ws_str_of(command->alias));
		ws_out_text(&d->cli->out, "\n");
	} else if (command && command->n_help == 0) {
		ws_out_text(&d->cli->out, "User-defined.\n");
	}
	for (size_t i = 0; command && i < command->n_help; i++) {
		ws_out_escaped(&d->cli->out, ws_str_of(command->help[i]));
		ws_out_text(&d->cli->out, "\n");
	}
	return command != NULL;
}

void debug_show_defined(struct debugger *d, const char *name)
{
	const struct prompt *p = d->prompt;
	struct ws_out *out = &d->cli->out;
	if (*name && !find(p, name, strlen(name)))
		cli_say("There is no command '%s' of your own.\n", name);
	for (size_t i = 0; i < p->n_commands; i++) {
		const struct user_command *command = &p->commands[i];
		if (*name && strcmp(command->name, name) != 0)
			continue;
		if (command->alias)
			continue;
		ws_out_text(out, "User command \"");
		ws_out_escaped(out, ws_str_of(command->name));
		ws_out_text(out, "\":\n");
		for (size_t k = 0; k < command->n_lines; k++) {
			ws_out_text(out, "  ");
			ws_out_escaped(out, ws_str_of(command->lines[k]));
			ws_out_text(out, "\n");
		}
		ws_out_text(out, "\n");
	}
}

/* alias [-a] [--] NAME = COMMAND */
void debug_alias(struct debugger *d, const char *text)
{
	struct prompt *p = d->prompt;
	const char *rest;
	while ((rest = debug_behind(text, "-a")) || (rest = debug_behind(text, "--")))
		text = rest;
	const size_t len = strcspn(text, " \t=");
	const char *to = text + len + strspn(text + len, " \t");
	char *name = cli_copy(text, len);
	to += *to == '=' ? 1 + strspn(to + 1, " \t") : 0;
	const size_t n = strcspn(to, " \t");
	if (!len || text + len + strspn(text + len, " \t") == to || !n)
		cli_say("alias NAME = COMMAND is expected; NAME is one word.\n");
	else if (debug_is_command(name) || find(p, name, len))
		cli_say("Alias already exists: %s\n", name);
	else if (!debug_has_command(to, n) && !find(p, to, n))
		cli_say("Invalid command to alias to: %s\n", to);
	else
		add(p, text, len)->alias = cli_copy(to, strlen(to));
	free(name);
}

/* The line that an alias stands for, with what is behind it. */
static void run_alias(struct prompt *p, const char *alias, const char *rest)
{
	const size_t size = strlen(alias) + strlen(rest) + 2;
	char *line = cli_alloc(size, 1);
	snprintf(line, size, "%s%s%s", alias, *rest && *rest != '/' ? " " : "", rest);
	run_lines(p, &line, 1);
	free(line);
}

bool debug_run_defined(struct debugger *d, const char *line)
{
	struct prompt *p = d->prompt;
	size_t len = strcspn(line, " \t");
	const struct user_command *command = find(p, line, len);
	if (!command) {
		len = strcspn(line, " \t/"); /* an alias may have a format: pp/x */
		command = find(p, line, len);
		command = command && command->alias ? command : NULL;
	}
	if (!command)
		return false;
	if (command->alias) {
		char *alias = cli_copy(command->alias, strlen(command->alias));
		run_alias(p, alias, line + len + strspn(line + len, " \t"));
		free(alias);
		return true;
	}
	/* a copy: the command may define itself anew */
	char **lines = cli_alloc(command->n_lines, sizeof *lines);
	struct source source = { .n_lines = command->n_lines, .arguments = line + len };
	for (size_t i = 0; i < source.n_lines; i++)
		lines[i] = cli_copy(command->lines[i], strlen(command->lines[i]));
	source.lines = lines;
	run_source(p, &source);
	debug_lines_free(lines, source.n_lines);
	return true;
}

/* ---- the whole session ---- */

int debug_prompt(struct debugger *d)
{
	struct prompt p = { .d = d };
	struct source user = { .is_user = true };
	int status = CLI_ANSWERED;
	d->prompt = &p;
	if (!d->cli->output_limit && isatty(STDIN_FILENO))
		d->cli->output_limit = UINT64_MAX; /* the user ends it */
	for (size_t i = 0; i < d->scripts.n && !d->quits && status == CLI_ANSWERED; i += 2) {
		char *text = (char *)(uintptr_t)d->scripts.item[i + 1];
		struct source command = { .lines = &text, .n_lines = 1 };
		if (*d->scripts.item[i] == 'c')
			run_source(&p, &command);
		else if (!run_file(&p, text))
			status = CLI_NO_ANSWER;
	}
	if (!d->batch && status == CLI_ANSWERED)
		run_source(&p, &user);
	for (size_t i = 0; i < p.n_commands; i++) {
		drop_lines(&p.commands[i]);
		debug_lines_free(p.commands[i].help, p.commands[i].n_help);
		free(p.commands[i].name);
		free(p.commands[i].alias);
	}
	free(p.commands);
	debug_index_fini(&p.names);
	free(p.line);
	d->prompt = NULL;
	return status;
}
