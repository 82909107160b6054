/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope VERB ARGS..., and warpscope DUMP for the report. This file knows the table of verbs and
 * nothing of what they do.
 */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct verb {
	const char *name;
	const char *synopsis;
	const char *help; /* one line */
	const char *text; /* the whole help */
	int (*run)(struct cli *cli, int argc, char **argv);
};

static const struct verb verbs[] = {
#define X(name, synopsis, help) { #name, synopsis, help, verb_##name##_help, verb_##name },
	CLI_VERB_LIST(X)
#undef X
};

static const char common_help[] =
	"\n"
	"With every verb:\n"
	"  --json                 JSON instead of text (docs/schema)\n"
	"  --color WHEN           always, never, or auto (default; NO_COLOR is honoured)\n"
	"  --size-limit BYTES     limit for unpacking a compressed dump, as 500M or 64G\n"
	"  --help                 this text\n"
	"\n"
	"Exit status: 0 answered, also from a damaged dump; 1 no answer; 2 wrong usage.\n";

enum { N_VERBS = sizeof verbs / sizeof verbs[0] };

void cli_warn(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("warpscope: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

int cli_fail(const char *path, const struct ws_error *err)
{
	/* messages of the operating system's refusals name the path already */
	bool named = path && strncmp(err->message, path, strlen(path)) == 0;
	const char *name = path && !named ? path : "", *colon = *name ? ": " : "";
	if (err->file_off != WS_NO_OFFSET)
		cli_warn("%s%s%s (file offset 0x%llx)", name, colon, err->message,
			 (unsigned long long)err->file_off);
	else
		cli_warn("%s%s%s", name, colon, err->message);
	return CLI_NO_ANSWER;
}

int cli_usage(const char *verb, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "warpscope %s: ", verb);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; see: warpscope %s --help\n", verb);
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

void cli_out_of_memory(void)
{
	cli_warn("out of memory");
	exit(CLI_NO_ANSWER);
}

void *cli_alloc(size_t count, size_t size)
{
	void *ptr = calloc(count ? count : 1, size);
	if (!ptr)
		cli_out_of_memory();
	return ptr;
}

static int help(void)
{
	printf("warpscope turns a dead or stopped GPU into an answer.\n\n"
	       "usage: warpscope DUMP             the same as: warpscope report DUMP\n"
	       "       warpscope VERB ARGS...     warpscope VERB --help tells more\n\n");
	for (size_t i = 0; i < N_VERBS; i++)
		printf("  %-10s %s\n", verbs[i].name, verbs[i].help);
	printf("\n  --version  version of the program\n  --help     this text\n");
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

static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") == 0)
			return true;
	}
	return false;
}

static int verb_run(const struct verb *verb, int argc, char **argv)
{
	if (wants_help(argc, argv)) {
		printf("usage: warpscope %s %s\n\n%s%s", verb->name, verb->synopsis, verb->text,
		       common_help);
		return CLI_ANSWERED;
	}
	static int stdout_fd = STDOUT_FILENO;
	const char *no_color = getenv("NO_COLOR");
	struct cli cli = { .color = isatty(STDOUT_FILENO) && !(no_color && *no_color) };
	ws_out_init(&cli.out, ws_write_fd, &stdout_fd);
	int status = verb->run(&cli, argc, argv);
	struct ws_error err;
	if (ws_out_flush(&cli.out, &err) != WS_OK && err.os_errno != EPIPE)
		return cli_fail(NULL, &err);
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		help();
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help();
	if (strcmp(argv[1], "--version") == 0) {
		printf("warpscope %s\n", ws_version());
		return CLI_ANSWERED;
	}
	const struct verb *verb = verb_find(argv[1]);
	if (verb)
		return verb_run(verb, argc - 1, argv + 1);
	verb = verb_find("report"); /* warpscope DUMP; options of the report may come first */
	if (verb)
		return verb_run(verb, argc, argv);
	return CLI_USAGE;
}
