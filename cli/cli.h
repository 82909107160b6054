/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verbs share: the table of verbs, exit statuses, messages, options that every verb takes.
 */
#ifndef WARPSCOPE_CLI_H
#define WARPSCOPE_CLI_H

#include <getopt.h>
#include <stdbool.h>

#include <warpscope/base.h>
#include <warpscope/out.h>

/* Exit statuses; verbs add their own from 10 up (their man pages say which). */
enum {
	CLI_ANSWERED = 0,  /* also when the input is damaged */
	CLI_NO_ANSWER = 1, /* not a dump, no such file, nothing to say */
	CLI_USAGE = 2,
};

/* One verb is one row: name, what it takes, one line of help. Its function is verb_NAME() in
 * cli/NAME.c. */
#define CLI_VERB_LIST(X)

struct cli {
	struct ws_out out; /* standard output */
	bool color;        /* escape sequences are welcome on standard output */
	bool json;
};

/* Each returns an exit status. `argv[0]` is the verb; `--help` has been served already. */
#define X(name, synopsis, help) int verb_##name(struct cli *cli, int argc, char **argv);
CLI_VERB_LIST(X)
#undef X

/* "warpscope: message" on standard error. */
void cli_warn(const char *format, ...) WS_PRINTF(1, 2);
/* The story of an error on standard error, with the file offset when it has one. Returns
 * CLI_NO_ANSWER. */
int cli_fail(const char *path, const struct ws_error *err);
/* Wrong usage of a verb: says what, and where the help is. Returns CLI_USAGE. */
int cli_usage(const char *verb, const char *format, ...) WS_PRINTF(2, 3);

/* An unsigned number, decimal or 0x; false when `text` is not exactly one. */
bool cli_number(const char *text, uint64_t *ret_value);

#endif
