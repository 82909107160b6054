/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope VERB ARGS..., and warpscope DUMP for the report. This file knows the table of verbs and
 * nothing of what they do.
 */
#include "cli.h"
#include "guard.h"
#include "pager.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct verb {
	const char *name;
	const char *synopsis;
	bool words_follow; /* its first operand is a file, and more words come behind */
	const char *help;  /* one line */
	const char *text;  /* the whole help */
	const struct cli_option *options;
	int (*run)(struct cli *cli, int argc, char **argv);
};

static const struct verb verbs[] = {
#define X(name, synopsis, words, common_help_print) \
	{                                           \
		#name,                              \
		synopsis,                           \
		words,                              \
		common_help_print,                  \
		verb_##name##_help,                 \
		verb_##name##_options,              \
		verb_##name                         \
	},
	CLI_VERB_LIST(X)
#undef X
};

/* Once for all verbs: warpscope help options. */
static const char common_help[] =
	"Options of every verb:\n"
	"\n"
	"  --json                 JSON instead of text; its member \"schema\" names the\n"
	"                         schema. shell and debug are conversations: there each\n"
	"                         command has it\n"
	"  --color WHEN           always, never, or auto (default; NO_COLOR and TERM=dumb\n"
	"                         are honoured)\n"
	"  --no-pager             show pages directly, also on a terminal\n"
	"  --columns N            fold lines of text at N columns; 0: never (default: the\n"
	"                         width of the terminal, or COLUMNS; elsewhere never)\n"
	"  --size-limit BYTES     limit on the size of an unpacked dump, such as 500M\n"
	"  --output-limit BYTES   limit on what is printed, such as 500M, or none\n"
	"                         (default: 64M plus 64 times the size of the input)\n"
	"  -h, --help             how the verb is used\n"
	"\n"
	"Exit status:\n"
	"\n";

static const struct {
	int number;
	const char *words;
} statuses[] = {
#define X(name, number, words) { number, words },
	CLI_STATUS_LIST(X)
#undef X
};

enum { N_VERBS = sizeof verbs / sizeof verbs[0] };

/* ---- standard output and standard error: nobody else writes to them ---- */

static int stdout_fd = STDOUT_FILENO, stderr_fd = STDERR_FILENO;
static struct ws_wrap err_wrap; /* folds lines of standard error */

static void err_init(struct ws_out *err)
{
	ws_out_init(err, ws_wrap_write, &err_wrap);
}

/* What may be written to each: a small file can be made so that a table of it has no end, and a
 * script so that it always fails (docs/decisions/0052-bounded-cost.md). */
static uint64_t limit_of(const struct cli *cli)
{
	const uint64_t free_bytes = UINT64_C(64) << 20, per_byte = 64;
	if (cli->output_limit)
		return cli->output_limit;
	return cli->input_bytes > UINT64_MAX / 128 ? UINT64_MAX
						   : free_bytes + per_byte * cli->input_bytes;
}

static struct {
	const struct cli *cli;    /* whose limit it has; NULL: nothing was asked yet */
	uint64_t bytes, failures; /* so far */
	unsigned muted;
} err_state;

/* Takes what is for standard error. The program ends at its limit, as at that of standard output.
 */
static bool err_write(void *user, const char *bytes, size_t len)
{
	int *fd = user;
	const uint64_t limit = err_state.cli ? limit_of(err_state.cli) : UINT64_MAX;
	if (len > limit - err_state.bytes) {
		static const char words[] =
			"warpscope: standard error is cut here, at the limit of the output; "
			"--output-limit none shows all\n";
		(void)!ws_write_fd(fd, bytes, (size_t)(limit - err_state.bytes));
		(void)!ws_write_fd(fd, words, sizeof words - 1);
		exit(CLI_NO_ANSWER);
	}
	err_state.bytes += len;
	return ws_write_fd(fd, bytes, len);
}

/* Standard error is written at once. */
static void err_flush(struct ws_out *err)
{
	if (ws_out_flush(err, NULL) != WS_OK || ws_wrap_flush(&err_wrap, NULL) != WS_OK)
		return; /* nobody is left to be told */
}

unsigned cli_error_columns(void)
{
	return err_wrap.columns;
}

static void err_say(const char *format, va_list args)
{
	struct ws_out err;
	if (err_state.muted)
		return;
	err_init(&err);
	ws_out_vprintf(&err, format, args);
	err_flush(&err);
}

uint64_t cli_failures(void)
{
	return err_state.failures;
}

void cli_forgive(uint64_t failures)
{
	err_state.failures = failures;
}

uint64_t cli_mute(void)
{
	err_state.muted++;
	return err_state.failures;
}

bool cli_unmute(uint64_t before)
{
	const bool failed = err_state.failures != before;
	cli_forgive(before);
	err_state.muted--;
	return failed;
}

void cli_say(const char *format, ...)
{
	va_list args;
	err_state.failures++;
	va_start(args, format);
	err_say(format, args);
	va_end(args);
}

void cli_note(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	err_say(format, args);
	va_end(args);
}

/* ---- warnings: each is said once, with a count, when the program ends ---- */

enum { MAX_WARNINGS = 100, WARNING_BYTES = 4000 /* the rest is cut */ };

static struct {
	struct warning {
		char *text; /* owned; escaped */
		uint64_t times;
	} said[MAX_WARNINGS];
	size_t n;
	uint64_t more; /* others, which found no room */
} warnings;

struct output_line {
	size_t len;
	char text[WARNING_BYTES + 1];
};

/* A `ws_write_fn`. */
static bool output_line_write(void *user, const char *bytes, size_t len)
{
	struct output_line *line = user;
	size_t room = WARNING_BYTES - line->len;
	memcpy(line->text + line->len, bytes, len < room ? len : room);
	line->len += len < room ? len : room;
	line->text[line->len] = '\0';
	return true;
}

void cli_warn(const char *format, ...)
{
	struct output_line line = { 0 };
	struct ws_out out;
	va_list args;
	va_start(args, format);
	ws_out_init(&out, output_line_write, &line);
	ws_out_vprintf(&out, format, args);
	va_end(args);
	size_t i = 0;
	if (ws_out_flush(&out, NULL) != WS_OK)
		return;
	while (i < warnings.n && strcmp(warnings.said[i].text, line.text) != 0)
		i++;
	if (i == MAX_WARNINGS) {
		warnings.more++;
		return;
	}
	if (i == warnings.n) {
		char *text = strdup(line.text);
		if (!text)
			return;
		warnings.said[warnings.n++] = (struct warning){ .text = text };
	}
	warnings.said[i].times++;
}

void cli_warn_cut(const char *path)
{
	cli_warn("%s: the packed file is cut or damaged; what comes before was read", path);
}

static void warnings_say(void)
{
	for (size_t i = 0; i < warnings.n; i++) {
		const struct warning *one = &warnings.said[i];
		cli_note("warpscope: %s", one->text);
		if (one->times > 1)
			cli_note(" (%llu times)", (unsigned long long)one->times);
		cli_note("\n");
		free(one->text);
	}
	if (warnings.more)
		cli_note("warpscope: ... and %llu more warnings\n",
			 (unsigned long long)warnings.more);
	warnings.n = 0;
	warnings.more = 0;
}

int cli_fail(const char *path, const struct ws_error *err)
{
	return cli_fail_advise(path, err, "");
}

static void fail_with(const char *path, const char *message, uint64_t file_off, const char *advice)
{
	/* messages of the operating system's refusals name the path already */
	bool named = path && strncmp(message, path, strlen(path)) == 0;
	const char *name = path && !named ? path : "", *colon = *name ? ": " : "";
	err_state.failures++;
	if (file_off != WS_NO_OFFSET)
		cli_warn("%s%s%s (file offset 0x%llx)%s", name, colon, message,
			 (unsigned long long)file_off, advice);
	else
		cli_warn("%s%s%s%s", name, colon, message, advice);
}

int cli_fail_advise(const char *path, const struct ws_error *err, const char *advice)
{
	fail_with(path, err->message, err->file_off, advice);
	return CLI_NO_ANSWER;
}

static void answer_tell(void *path, const struct ws_line_diagnostic *told)
{
	const uint64_t failures = err_state.failures;
	fail_with(path, told->message, told->file_off, "");
	if (told->status == WS_OK)
		cli_forgive(failures);
}

int cli_usage(const char *verb, const char *format, ...)
{
	va_list args;
	cli_say("warpscope %s: ", verb);
	va_start(args, format);
	err_say(format, args);
	va_end(args);
	cli_note("; see: warpscope %s --help\n", verb);
	return CLI_USAGE;
}

bool cli_number(const char *text, uint64_t *ret_value)
{
	char *end;
	errno = 0;
	if (*text < '0' || *text > '9')
		return false;
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	unsigned long long value = strtoull(text, &end, base);
	if (errno || *end || end == text || (base == 16 && end <= text + 2))
		return false;
	*ret_value = value;
	return true;
}

/* Takes standard output. The program ends at the limit, as nothing can be said in the middle of a
 * table. */
static bool out_write(void *user, const char *bytes, size_t len)
{
	struct cli *cli = user;
	const uint64_t limit = limit_of(cli);
	if (len > limit - cli->output_bytes) {
		(void)!ws_write_fd(&stdout_fd, bytes, (size_t)(limit - cli->output_bytes));
		warnings_say();
		cli_say("warpscope: the output is cut here, at %" PRIu64
			" bytes, more than such an input should produce; --output-limit none shows "
			"all\n",
			limit);
		exit(CLI_NO_ANSWER);
	}
	cli->output_bytes += len;
	return cli->page ? cli->page(cli->page_user, bytes, len)
			 : ws_write_fd(&stdout_fd, bytes, len);
}

void cli_out_of_memory(void)
{
	warnings_say();
	cli_say("warpscope: out of memory\n");
	exit(CLI_NO_ANSWER);
}

void *cli_alloc(size_t count, size_t size)
{
	void *ptr = calloc(count ? count : 1, size);
	if (!ptr)
		cli_out_of_memory();
	return ptr;
}

void *cli_realloc(void *ptr, size_t count, size_t size)
{
	void *grown = count > SIZE_MAX / size ? NULL : realloc(ptr, count * size);
	if (!grown)
		cli_out_of_memory();
	return grown;
}

bool cli_bytes_write(void *user, const char *more, size_t len)
{
	struct cli_bytes *bytes = user;
	if (len > bytes->cap - bytes->len) {
		bytes->cap = 2 * (bytes->cap + len);
		bytes->ptr = cli_realloc(bytes->ptr, bytes->cap, 1);
	}
	if (len > 0) /* else there may be no bytes yet */
		memcpy(bytes->ptr + bytes->len, more, len);
	bytes->len += len;
	return true;
}

void cli_grow(void *ptr, size_t *cap, size_t n, size_t size)
{
	void *old;
	memcpy(&old, ptr, sizeof old);
	if (n < *cap)
		return;
	*cap = *cap ? 2 * *cap : 16;
	old = cli_realloc(old, *cap, size);
	memcpy(ptr, &old, sizeof old);
}

char *cli_copy(const char *text, size_t len)
{
	return memcpy(cli_alloc(len + 1, 1), text, len);
}

/* Help is folded in a pipe, too: it is read in all places. */
static struct ws_out *help_start(struct cli *cli)
{
	enum { MOST_COLUMNS = 80 };
	cli_fold(cli, cli->columns && cli->columns < MOST_COLUMNS ? cli->columns : MOST_COLUMNS);
	return &cli->out;
}

static int common_help_print(struct cli *cli)
{
	struct ws_out *out = help_start(cli);
	ws_out_text(out,
		    "warpscope turns a dead or stopped GPU into an answer.\n\n"
		    "usage: warpscope DUMP             the same as: warpscope report DUMP\n"
		    "       warpscope VERB ARGS...     see: warpscope help VERB, or help options\n"
		    "\n");
	for (size_t i = 0; i < N_VERBS; i++)
		ws_out_printf(out, "  %-10s %s\n", verbs[i].name, verbs[i].help);
	ws_out_text(out, "\n  -V, --version  the version of the program\n"
			 "  -h, --help     this text\n");
	return CLI_ANSWERED;
}

static int options_help(struct cli *cli)
{
	struct ws_out *out = help_start(cli);
	ws_out_text(out, common_help);
	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
		ws_out_printf(out, "  %-3d  %s\n", statuses[i].number, statuses[i].words);
	return CLI_ANSWERED;
}

static int verb_help(struct cli *cli, const struct verb *verb)
{
	struct ws_out *out = help_start(cli);
	ws_out_text(out, "usage: ");
	ws_out_fold_here(out);
	ws_out_printf(out, "warpscope %s %s\n\n", verb->name, verb->synopsis);
	ws_out_text(out, verb->text);
	if (!strstr(verb->text, "\nExit status: that of the program"))
		ws_out_text(out, "\nOptions of every verb, and exit statuses: warpscope help "
				 "options\n");
	return CLI_ANSWERED;
}

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < N_VERBS; i++) {
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	}
	return NULL;
}

/* Whether one of two spellings of an option is on the command line. */
static bool wants(int argc, char **argv, const char *name, const char *letter)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], name) == 0 || (letter && strcmp(argv[i], letter) == 0))
			return true;
	}
	return false;
}

/* ---- what was meant ---- */

static bool is_file(const char *path)
{
	return strcmp(path, "-") == 0 || access(path, F_OK) == 0;
}

/* Words of other debuggers and tools, and tables that are asked for as verbs. */
static const struct {
	const char *word, *meant;
} words[] = {
	{ "backtrace", "bt" },
	{ "where", "bt" },
	{ "args", "locals" },
	{ "explain", "report" },
	{ "registers", "regs" },
	{ "memory", "mem" },
	{ "x", "mem" },
	{ "disassemble", "disas" },
	{ "addr2line", "symbolize" },
	{ "redact", "strip" },
	{ "xid", "log" },
	{ "dmesg", "log" },
	{ "version", "--version" },
	{ "devices", "info DUMP devices" },
	{ "kernels", "info DUMP kernels" },
	{ "sms", "info DUMP sms" },
	{ "blocks", "info DUMP blocks" },
	{ "warps", "info DUMP warps" },
	{ "lanes", "info DUMP lanes" },
	{ "threads", "info DUMP threads" },
	{ "exceptions", "info DUMP exceptions" },
	{ "modules", "info DUMP modules" },
	{ "sections", "info DUMP sections" },
};

static const char *verb_meant(const char *word)
{
	const char *names[N_VERBS + 1];
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strcmp(words[i].word, word) == 0)
			return words[i].meant;
	}
	for (size_t i = 0; i < N_VERBS; i++)
		names[i] = verbs[i].name;
	names[N_VERBS] = "help";
	return cli_nearest(word, strlen(word), names, N_VERBS + 1);
}

static int unknown_verb(const char *word, const char *also)
{
	const char *meant = verb_meant(word);
	cli_warn("unknown verb '%s'%s%s%s%s; see: warpscope --help", word, also,
		 meant ? " (did you mean: warpscope " : "", meant ? meant : "", meant ? "?)" : "");
	return CLI_USAGE;
}

/* A verb whose words stand before its file: says how it goes. */
static int check_order(const struct verb *verb, int argc, char **argv)
{
	int first = cli_operand(verb->options, argc, argv, 0);
	if (!verb->words_follow || first >= argc || is_file(argv[first]))
		return CLI_ANSWERED;
	for (int i = first + 1; i < argc; i++) {
		if (is_file(argv[i]) && strcmp(argv[i], "-") != 0)
			return cli_usage(verb->name,
					 "there is no file '%s'; the file comes first: warpscope "
					 "%s %s %s",
					 argv[first], verb->name, argv[i], argv[first]);
	}
	return CLI_ANSWERED;
}

/* ---- running ---- */

bool cli_terminal_is_dumb(void)
{
	const char *term = getenv("TERM");
	return !term || !*term || strcmp(term, "dumb") == 0;
}

/* How wide a terminal is: COLUMNS says, or the terminal itself. 0: not known, or it is none. */
static unsigned terminal_columns(int fd)
{
	const char *given = getenv("COLUMNS");
	uint64_t columns;
	struct winsize size;
	if (!isatty(fd))
		return 0;
	if (given && cli_number(given, &columns) && columns > 0 && columns < UINT16_MAX)
		return (unsigned)columns;
	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Verbs whose lines are code, bytes or a conversation: nothing of them is folded. */
static const char *const unfolded[] = { "mem", "list",    "lines", "symbolize", "disas",
					"as",  "extract", "shell", "debug" };

void cli_fold_text(struct cli *cli)
{
	unsigned columns = cli->json ? 0 : cli->columns;
	for (size_t i = 0; i < sizeof unfolded / sizeof unfolded[0]; i++) {
		if (strcmp(unfolded[i], cli->verb) == 0)
			columns = 0;
	}
	cli_fold(cli, columns);
}

static int verb_start(struct cli *cli, const struct verb *verb, int argc, char **argv,
		      bool has_files)
{
	if (wants(cli_options_end(verb->options, argc, argv), argv, "--help", "-h"))
		return verb_help(cli, verb);
	char **sorted = cli_alloc((size_t)argc + 2, sizeof *sorted);
	int status = cli_options_sort(verb->name, verb->options, argc, argv, sorted);
	int n = 0;
	while (sorted[n])
		n++;
	if (status == CLI_ANSWERED && has_files)
		status = check_order(verb, n, sorted);
	if (status == CLI_ANSWERED) {
		if (has_files) {
			const int end = cli_options_end(verb->options, n, sorted);
			if (!wants(end, sorted, "--no-pager", NULL) &&
			    !wants(end, sorted, "--watch", NULL)) /* which has no end */
				cli_pager_start(cli, verb->name);
			guard_enter(verb->name, end, sorted);
		}
		cli->verb = verb->name;
		status = verb->run(cli, n, sorted);
	}
	free(sorted);
	return status;
}

int cli_verb(struct cli *cli, int argc, char **argv)
{
	const struct cli before = *cli;
	int status = verb_start(cli, verb_find(argv[0]), argc, argv, false);
	cli_fold(cli, before.wrap.columns);
	cli->json = before.json;
	cli->columns = before.columns;
	cli->color = before.color;
	cli->size_limit = before.size_limit;
	cli->output_limit = before.output_limit;
	cli->api_lib = before.api_lib;
	cli->verb = before.verb;
	return status;
}

/* warpscope help [VERB|options] */
static int help_of(struct cli *cli, int argc, char **argv, const struct cli_option *options)
{
	int at = cli_operand(options, argc, argv, 1);
	const struct verb *verb = at < argc ? verb_find(argv[at]) : NULL;
	if (verb)
		return verb_help(cli, verb);
	if (at < argc && strcmp(argv[at], "options") == 0)
		return options_help(cli);
	return at < argc ? unknown_verb(argv[at], "") : common_help_print(cli);
}

/* No verb is named: the report of a dump, or what it is that was probably meant. */
static int no_verb(struct cli *cli, int argc, char **argv)
{
	const struct verb *report = verb_find("report");
	int at = cli_operand(report->options, argc, argv, 0);
	const char *word = at < argc ? argv[at] : NULL;
	if (word && strcmp(word, "help") == 0)
		return help_of(cli, argc, argv, report->options);
	if (!word && wants(argc, argv, "--help", "-h"))
		return common_help_print(cli);
	if (!word || is_file(word) || strpbrk(word, "/."))
		return verb_start(cli, report, argc, argv, true);
	return unknown_verb(word, ", and no file of that name");
}

/* Where the verb stands: the first operand, by the options of that very verb; 0 when nowhere. */
static int verb_place(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const struct verb *verb = verb_find(argv[i]);
		if (verb && cli_operand(verb->options, argc, argv, 0) == i)
			return i;
	}
	return 0;
}

/* warpscope DUMP VERB: nobody's file has the name of a verb by chance. */
static int swapped(int argc, char **argv, const struct cli_option *options)
{
	int dump = cli_operand(options, argc, argv, 0), at = cli_operand(options, argc, argv, 1);
	if (at >= argc || !verb_find(argv[at]) || !is_file(argv[dump]))
		return CLI_ANSWERED;
	cli_say("warpscope: the verb comes first: warpscope %s %s", argv[at], argv[dump]);
	for (int i = at + 1; i < argc; i++)
		cli_say(" %s", argv[i]);
	cli_say("; see: warpscope --help\n");
	return CLI_USAGE;
}

static int run_verb(struct cli *cli, int argc, char **argv)
{
	if (argc < 2) {
		common_help_print(cli);
		return CLI_USAGE;
	}
	int at = verb_place(argc, argv);
	int end = at ? at + cli_options_end(verb_find(argv[at])->options, argc - at, argv + at)
		     : argc;
	if (wants(end, argv, "--version", "-V")) {
		guard_enter("", 0, argv);
		ws_out_printf(&cli->out, "warpscope %s\n%s\n", ws_version(), guard_words());
		return CLI_ANSWERED;
	}
	if (at == 0) {
		int status = swapped(argc, argv, verb_report_options);
		return status != CLI_ANSWERED ? status : no_verb(cli, argc, argv);
	}
	char *name = argv[at];
	memmove(argv + 1, argv, (size_t)at * sizeof *argv); /* options may stand before the verb */
	argv[1] = name;
	return verb_start(cli, verb_find(name), argc - 1, argv + 1, true);
}

/* Writes out what was printed, all but warnings. CLI_ANSWERED, or CLI_NO_ANSWER when told why not.
 */
static int out_flush(struct cli *cli)
{
	struct ws_error err;
	enum ws_status st = ws_out_flush(&cli->out, &err);
	if (st == WS_OK)
		st = ws_wrap_flush(&cli->wrap, &err);
	return st == WS_OK || err.os_errno == EPIPE ? CLI_ANSWERED : cli_fail(NULL, &err);
}

void cli_fold(struct cli *cli, unsigned columns)
{
	(void)out_flush(cli);
	cli->wrap.columns = columns;
}

struct ws_answer_style cli_style(struct cli *cli)
{
	return (struct ws_answer_style){ &cli->out, cli->json, cli->columns, NULL, NULL };
}

struct ws_answer_style cli_style_of(struct cli *cli, char *path)
{
	struct ws_answer_style style = cli_style(cli);
	style.tell = answer_tell;
	style.user = path;
	return style;
}

void cli_flush(struct cli *cli)
{
	(void)out_flush(cli);
	warnings_say();
}

int cli_run(const struct cli_client *client, int argc, char **argv)
{
	const char *no_color = getenv("NO_COLOR");
	bool terminal = !client->write && isatty(STDOUT_FILENO);
	struct cli cli = { .terminal = terminal,
			   .color = terminal && !(no_color && *no_color) && !cli_terminal_is_dumb(),
			   .columns = terminal ? terminal_columns(STDOUT_FILENO) : 0,
			   .live = client->live,
			   .input_bytes = client->live_bytes,
			   .page = client->write,
			   .page_user = client->user };
	ws_wrap_init(&cli.wrap, 0, out_write, &cli);
	ws_out_init(&cli.out, ws_wrap_write, &cli.wrap);
	ws_wrap_init(&err_wrap, terminal_columns(STDERR_FILENO), err_write, &stderr_fd);
	err_state.cli = &cli;
	int status = run_verb(&cli, argc, argv);
	if (out_flush(&cli) != CLI_ANSWERED)
		status = CLI_NO_ANSWER;
	cli_pager_end(); /* it has the terminal */
	warnings_say();
	err_state.cli = NULL;
	return status;
}

int main(int argc, char **argv)
{
	return cli_run(&(struct cli_client){ 0 }, argc, argv);
}
