/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where commands come from: the command line (--ex, -x), then standard input, and within these the
 * files and the commands of the user's own that they name. At a terminal libedit edits the lines,
 * recalls earlier ones and completes words; elsewhere each line is repeated behind the prompt, so
 * that what is printed is a transcript.
 */
#include "gdb/gdb.h"

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

struct gdb_source {
	struct gdb_source *outer;
	FILE *file;            /* what is read, or NULL: the lines of a list */
	const char *path;      /* of the file */
	char *const *lines;    /* borrowed */
	size_t n_lines, at;    /* lines, and how many of them, or of the file, have been read */
	bool is_user;          /* standard input: shown, and an empty line repeats a command */
	bool is_due;           /* those of gdb_set_due(), which end where there are others */
	const char *arguments; /* of a command of the user's own; NULL: it is none */
};

struct gdb_user_command {
	char *name; /* owned */
	struct gdb_lines body, help;
	char *alias; /* owned: the beginning of a line that it stands for; NULL: it is none */
};

/* The next line of a file, as it is; NULL: there is none. */
static char *read_prompt_line(struct gdb *gdb, FILE *file)
{
	do {
		errno = 0;
		if (getline(&gdb->line, &gdb->cap_line, file) >= 0)
			return cli_copy(gdb->line, strlen(gdb->line));
		clearerr(file);
	} while (errno == EINTR);
	return NULL;
}

/* ---- what is typed at a terminal ---- */

#if WARPSCOPE_HAVE_LIBEDIT
/* libedit's callbacks have no argument for it. */
static struct gdb *completed_for;

static char *next_completion(const char *text, int state)
{
	static struct gdb_lines words;
	static size_t at;
	(void)text;
	if (state == 0) {
		gdb_lines_free(&words);
		char *line = cli_copy(rl_line_buffer, (size_t)rl_point);
		completed_for->client.complete(completed_for->client.user, line, &words);
		free(line);
		at = 0;
	}
	if (at < words.n)
		return strdup(words.item[at++]);
	gdb_lines_free(&words);
	return NULL;
}

static char **complete_line(const char *text, int start, int end)
{
	(void)start;
	(void)end;
	rl_attempted_completion_over = 1; /* no names of files */
	return rl_completion_matches(text, next_completion);
}

/* The next line as typed, without its end; free() it. NULL: there is no more. */
static char *edited(struct gdb *gdb, const char *words)
{
	completed_for = gdb;
	rl_readline_name = "warpscope";
	rl_attempted_completion_function = complete_line;
	rl_completer_word_break_characters = " \t";
	rl_basic_word_break_characters = " \t";
	char *line = readline(words);
	if (line && *line)
		add_history(line);
	else if (!line)
		ws_out_text(&gdb->cli->out, "\n");
	return line;
}
#else
static char *edited(struct gdb *gdb, const char *words)
{
	ws_out_escaped(&gdb->cli->out, ws_str_of(words));
	cli_flush(gdb->cli);
	return read_prompt_line(gdb, stdin);
}
#endif

/* ---- lines ---- */

/* Without what ends it. */
static void trim_line_end(char *line)
{
	size_t n = strlen(line);
	while (n > 0 && strchr(" \t\r\n", line[n - 1]))
		line[--n] = '\0';
}

static char *next_user_line(struct gdb *gdb, const char *words)
{
	struct cli *cli = gdb->cli;
	cli_flush(cli);
	if (isatty(STDIN_FILENO))
		return edited(gdb, words);
	char *line = read_prompt_line(gdb, stdin);
	if (line)
		trim_line_end(line);
	if (line && *line) {
		ws_out_escaped(&cli->out, ws_str_of(words));
		ws_out_escaped(&cli->out, ws_str_of(line));
		ws_out_text(&cli->out, "\n");
		cli_flush(cli);
	}
	return line;
}

/* The `number`th word of a text. */
static const char *text_word_at(const char *text, unsigned number, size_t *ret_len)
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
	while (n < MAX_ARGUMENTS && *text_word_at(text, n, &len))
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
			from = text_word_at(arguments, (unsigned)(line[4] - '0'), &len);
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
static char *next_line_alone(struct gdb *gdb, const char *words)
{
	struct gdb_source *source = gdb->source;
	char *line;
	if (source->is_user) {
		line = next_user_line(gdb, words);
	} else if (source->file) {
		line = read_prompt_line(gdb, source->file);
		source->at++;
	} else if (source->at < source->n_lines) {
		const char *next = source->lines[source->at++];
		line = source->arguments ? with_arguments(next, source->arguments)
					 : cli_copy(next, strlen(next));
	} else {
		line = NULL;
	}
	if (line)
		trim_line_end(line);
	return line;
}

/* The next line with those that it goes on in, behind a backslash at its end. */
static char *next_line(struct gdb *gdb, const char *words)
{
	char *line = next_line_alone(gdb, words);
	const bool goes_on = gdb->source->is_user || gdb->source->file;
	size_t n = line ? strlen(line) : 0;
	while (goes_on && n > 0 && line[n - 1] == '\\') {
		char *more = next_line_alone(gdb, ">");
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
static void run_source(struct gdb *gdb, struct gdb_source *source)
{
	const uint64_t failures = cli_failures();
	char *line;
	if (gdb->n_nested == MAX_NESTED) {
		cli_say("Files and commands are nested more than %d deep.\n", MAX_NESTED);
		return;
	}
	source->outer = gdb->source;
	gdb->source = source;
	gdb->n_nested++;
	while (!gdb->quits && !gdb->jump && !(source->is_due && gdb->has_due) &&
	       (source->is_user || cli_failures() == failures) &&
	       (line = next_line(gdb, "(warpscope) "))) {
		bool pages = source->is_user && isatty(STDIN_FILENO) && gdb->cli->terminal &&
			     !gdb->settings.no_paging && gdb->settings.height != UINT32_MAX;
		if (pages)
			gdb_pager_begin(&gdb->pager, gdb->cli,
					gdb->settings.height ? gdb->settings.height
							     : gdb_pager_rows());
		gdb_execute(gdb, line, source->is_user);
		if (pages)
			gdb_pager_end(&gdb->pager);
		free(line);
	}
	if (source->path && cli_failures() != failures && getc(source->file) != EOF)
		cli_note("%s:%zu: the lines behind this one are left out.\n", source->path,
			 source->at);
	gdb->n_nested--;
	gdb->source = source->outer;
}

static bool run_file(struct gdb *gdb, const char *path)
{
	struct gdb_source source = { .file = fopen(path, "r"), .path = path };
	if (!source.file) {
		cli_say("%s: %s\n", path, strerror(errno));
		return false;
	}
	run_source(gdb, &source);
	fclose(source.file);
	return true;
}

void gdb_source(struct gdb *gdb, const char *text)
{
	const char *rest;
	while ((rest = gdb_behind(text, "-v")) || (rest = gdb_behind(text, "-s")))
		text = rest;
	if (*text)
		(void)run_file(gdb, text);
	else
		cli_say("A file of commands is expected.\n");
}

/* ---- commands of the user's own ---- */

static struct gdb_user_command *find(const struct gdb *gdb, const char *name, size_t len)
{
	size_t number;
	return gdb_index_find(&gdb->names, name, len, &number) ? &gdb->commands[number] : NULL;
}

/* One of a name that none has yet. */
static struct gdb_user_command *prompt_add_name(struct gdb *gdb, const char *name, size_t len)
{
	cli_grow(&gdb->commands, &gdb->cap_commands, gdb->n_commands, sizeof *gdb->commands);
	struct gdb_user_command *made = &gdb->commands[gdb->n_commands];
	*made = (struct gdb_user_command){ .name = cli_copy(name, len) };
	gdb_index_add(&gdb->names, made->name, gdb->n_commands++);
	return made;
}

void gdb_lines_free(struct gdb_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->item[i]);
	free(lines->item);
	*lines = (struct gdb_lines){ 0 };
}

static void line_add(struct gdb_lines *lines, char *line)
{
	cli_grow(&lines->item, &lines->cap, lines->n, sizeof *lines->item);
	lines->item[lines->n++] = line;
}

/* Takes the place of what was there. */
static void lines_copy(struct gdb_lines *to, const char *const *lines, size_t n)
{
	gdb_lines_free(to);
	for (size_t i = 0; i < n; i++)
		line_add(to, cli_copy(lines[i], strlen(lines[i])));
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

struct gdb_lines gdb_take_lines(struct gdb *gdb, bool is_foreign)
{
	struct gdb_lines body = { 0 };
	struct nesting at = { .is_foreign = is_foreign };
	char *line;
	while ((line = next_line(gdb, ">"))) {
		const bool is_end = !nest(&at, line + strspn(line, " \t"));
		if (!is_end && body.n < MAX_BODY)
			line_add(&body, line);
		else
			free(line);
		if (is_end)
			break;
	}
	return body;
}

static void run_lines(struct gdb *gdb, char *const *lines, size_t n)
{
	struct gdb_source source = { .lines = lines, .n_lines = n };
	run_source(gdb, &source);
}

/* The `else` of a body; its length: there is none. */
static size_t else_of(const struct gdb_lines *body)
{
	struct nesting at = { .depth = 0 };
	for (size_t i = 0; i < body->n; i++) {
		const char *line = body->item[i] + strspn(body->item[i], " \t");
		if (at.depth == 0 && strcmp(line, "else") == 0)
			return i;
		(void)nest(&at, line);
	}
	return body->n;
}

/* Whether a condition is true; not when it cannot be told, which is told. */
static bool is_condition_true(struct gdb *gdb, const char *text, bool *ret_true)
{
	struct ws_number number;
	const bool good = gdb->client.number(gdb->client.user, text, &number);
	if (good)
		*ret_true = number.is_float ? number.real != 0 : number.whole != 0;
	return good;
}

void gdb_if(struct gdb *gdb, const char *text)
{
	char *condition = cli_copy(text, strlen(text)); /* of a line that goes */
	struct gdb_lines body = gdb_take_lines(gdb, false);
	bool first = true;
	const size_t middle = else_of(&body);
	if (is_condition_true(gdb, condition, &first) && first)
		run_lines(gdb, body.item, middle);
	else if (!first && middle < body.n)
		run_lines(gdb, body.item + middle + 1, body.n - middle - 1);
	gdb_lines_free(&body);
	free(condition);
}

void gdb_while(struct gdb *gdb, const char *text)
{
	char *condition = cli_copy(text, strlen(text));
	struct gdb_lines body = gdb_take_lines(gdb, false);
	const uint64_t failures = cli_failures();
	bool again = false, out = false;
	gdb->n_loops++;
	while (!out && !gdb->quits && is_condition_true(gdb, condition, &again) && again &&
	       cli_failures() == failures && !gdb->client.is_interrupted(gdb->client.user)) {
		run_lines(gdb, body.item, body.n);
		out = gdb->jump == GDB_OUT;
		gdb->jump = GDB_STAYS;
	}
	gdb->n_loops--;
	gdb_lines_free(&body);
	free(condition);
}

static void jump(struct gdb *gdb, enum gdb_jump to)
{
	if (gdb->n_loops)
		gdb->jump = to;
	else
		cli_say("This command cannot be used at the top level.\n");
}

void gdb_loop_break(struct gdb *gdb, const char *text)
{
	(void)text;
	jump(gdb, GDB_OUT);
}

void gdb_loop_continue(struct gdb *gdb, const char *text)
{
	(void)text;
	jump(gdb, GDB_ON);
}

void gdb_set_due(struct gdb *gdb, const char *const *lines, size_t n)
{
	lines_copy(&gdb->due, lines, n);
	gdb->has_due = true;
}

void gdb_run_due(struct gdb *gdb)
{
	if (gdb->within & GDB_DUE) /* the outer one goes on */
		return;
	gdb->within |= GDB_DUE;
	while (gdb->has_due && !gdb->quits) {
		struct gdb_lines due = gdb->due;
		struct gdb_source source = { .lines = due.item, .n_lines = due.n, .is_due = true };
		gdb->due = (struct gdb_lines){ 0 };
		gdb->has_due = false;
		run_source(gdb, &source);
		gdb_lines_free(&due);
	}
	gdb->within &= ~(unsigned)GDB_DUE;
}

void gdb_define(struct gdb *gdb, const char *text)
{
	struct gdb_lines body = gdb_take_lines(gdb, false);
	const size_t len = strcspn(text, " \t");
	if (len == 0 || text[len] || gdb_is_command(gdb, text)) {
		cli_say(len && !text[len] ? "'%s' is a command of the program.\n"
					  : "One name is expected: define NAME.\n",
			text);
		gdb_lines_free(&body);
		return;
	}
	struct gdb_user_command *command = find(gdb, text, len);
	command = command ? command : prompt_add_name(gdb, text, len);
	gdb_lines_free(&command->body);
	free(command->alias);
	command->alias = NULL;
	command->body = body;
}

void gdb_document(struct gdb *gdb, const char *text)
{
	struct gdb_lines body = gdb_take_lines(gdb, false);
	struct gdb_user_command *command = find(gdb, text, strcspn(text, " \t"));
	gdb_lines_free(command ? &command->help : &body);
	if (command)
		command->help = body;
}

bool gdb_help_defined(struct gdb *gdb, const char *name)
{
	const struct gdb_user_command *command = find(gdb, name, strlen(name));
	if (command && command->alias) {
		ws_out_text(&gdb->cli->out, "An alias of: ");
		ws_out_escaped(&gdb->cli->out, ws_str_of(command->alias));
		ws_out_text(&gdb->cli->out, "\n");
	} else if (command && command->help.n == 0) {
		ws_out_text(&gdb->cli->out, "User-defined.\n");
	}
	for (size_t i = 0; command && i < command->help.n; i++) {
		ws_out_escaped(&gdb->cli->out, ws_str_of(command->help.item[i]));
		ws_out_text(&gdb->cli->out, "\n");
	}
	return command != NULL;
}

void gdb_show_defined(struct gdb *gdb, const char *name)
{
	struct ws_out *out = &gdb->cli->out;
	if (*name && !find(gdb, name, strlen(name)))
		cli_say("There is no command '%s' of your own.\n", name);
	for (size_t i = 0; i < gdb->n_commands; i++) {
		const struct gdb_user_command *command = &gdb->commands[i];
		if (*name && strcmp(command->name, name) != 0)
			continue;
		if (command->alias)
			continue;
		ws_out_text(out, "User command \"");
		ws_out_escaped(out, ws_str_of(command->name));
		ws_out_text(out, "\":\n");
		for (size_t k = 0; k < command->body.n; k++) {
			ws_out_text(out, "  ");
			ws_out_escaped(out, ws_str_of(command->body.item[k]));
			ws_out_text(out, "\n");
		}
		ws_out_text(out, "\n");
	}
}

/* alias [-a] [--] NAME = COMMAND */
void gdb_alias(struct gdb *gdb, const char *text)
{
	const char *rest;
	while ((rest = gdb_behind(text, "-a")) || (rest = gdb_behind(text, "--")))
		text = rest;
	const size_t len = strcspn(text, " \t=");
	const char *to = text + len + strspn(text + len, " \t");
	char *name = cli_copy(text, len);
	to += *to == '=' ? 1 + strspn(to + 1, " \t") : 0;
	const size_t n = strcspn(to, " \t");
	if (!len || text + len + strspn(text + len, " \t") == to || !n)
		cli_say("alias NAME = COMMAND is expected; NAME is one word.\n");
	else if (gdb_is_command(gdb, name) || find(gdb, name, len))
		cli_say("Alias already exists: %s\n", name);
	else if (!gdb_command_find(gdb, to, n) && !find(gdb, to, n))
		cli_say("Invalid command to alias to: %s\n", to);
	else
		prompt_add_name(gdb, text, len)->alias = cli_copy(to, strlen(to));
	free(name);
}

/* The line that an alias stands for, with what is behind it. */
static void run_alias(struct gdb *gdb, const char *alias, const char *rest)
{
	const size_t size = strlen(alias) + strlen(rest) + 2;
	char *line = cli_alloc(size, 1);
	snprintf(line, size, "%s%s%s", alias, *rest && *rest != '/' ? " " : "", rest);
	run_lines(gdb, &line, 1);
	free(line);
}

bool gdb_run_defined(struct gdb *gdb, const char *line)
{
	size_t len = strcspn(line, " \t");
	const struct gdb_user_command *command = find(gdb, line, len);
	if (!command) {
		len = strcspn(line, " \t/"); /* an alias may have a format: pp/x */
		command = find(gdb, line, len);
		command = command && command->alias ? command : NULL;
	}
	if (!command)
		return false;
	if (command->alias) {
		char *alias = cli_copy(command->alias, strlen(command->alias));
		run_alias(gdb, alias, line + len + strspn(line + len, " \t"));
		free(alias);
		return true;
	}
	struct gdb_lines lines = { 0 }; /* a copy: the command may define itself anew */
	lines_copy(&lines, (const char *const *)command->body.item, command->body.n);
	struct gdb_source source = { .lines = lines.item,
				     .n_lines = lines.n,
				     .arguments = line + len };
	run_source(gdb, &source);
	gdb_lines_free(&lines);
	return true;
}

/* ---- the whole session ---- */

int gdb_run(struct gdb *gdb, const struct cli_words *scripts, bool batch)
{
	struct gdb_source user = { .is_user = true };
	int status = CLI_ANSWERED;
	if (!gdb->cli->output_limit && isatty(STDIN_FILENO))
		gdb->cli->output_limit = UINT64_MAX; /* the user ends it */
	for (size_t i = 0; i < scripts->n && !gdb->quits && status == CLI_ANSWERED; i += 2) {
		char *text = (char *)(uintptr_t)scripts->item[i + 1];
		if (*scripts->item[i] == 'c')
			run_lines(gdb, &text, 1);
		else if (!run_file(gdb, text))
			status = CLI_NO_ANSWER;
	}
	if (!batch && status == CLI_ANSWERED)
		run_source(gdb, &user);
	return status;
}

void gdb_fini(struct gdb *gdb)
{
	for (size_t i = 0; i < gdb->n_commands; i++) {
		gdb_lines_free(&gdb->commands[i].body);
		gdb_lines_free(&gdb->commands[i].help);
		free(gdb->commands[i].name);
		free(gdb->commands[i].alias);
	}
	free(gdb->commands);
	gdb_index_fini(&gdb->names);
	gdb_lines_free(&gdb->due);
	free(gdb->repeated);
	free(gdb->line);
}
