/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verbs share: the table of verbs, exit statuses, messages, options that every verb takes.
 */
#ifndef WARPSCOPE_CLI_H
#define WARPSCOPE_CLI_H

#include <getopt.h>
#include <stdbool.h>

#include <warpscope/out.h>
#include <warpscope/target.h>

/* Exit statuses; verbs add their own from 10 up (their man pages say which). */
enum {
	CLI_ANSWERED = 0,  /* also when the input is damaged */
	CLI_NO_ANSWER = 1, /* not a dump, no such file, nothing to say */
	CLI_USAGE = 2,
};

enum {
	CLI_NAME_BYTES = 1 << 17, /* C++ names are cut there */
};

/* One verb is one row: name, what it takes, one line of help. Its function is verb_NAME() in
 * cli/NAME.c. */
#define CLI_VERB_LIST(X)                                                                    \
	X(report, "[OPTION...] DUMP", "what failed, where, and where everybody else is")    \
	X(info, "[OPTION...] DUMP TABLE [FILTER...]", "tables of everything in the dump")   \
	X(mem, "[OPTION...] DUMP SPACE:ADDRESS [/FORMAT] [COUNT] [FILTER...]", "memory")    \
	X(regs, "[OPTION...] DUMP [FILTER...]", "registers of one lane, or of several")     \
	X(check, "[OPTION...] DUMP", "whether a dump is sound, and where it is not")        \
	X(lines, "[OPTION...] FILE", "source lines of GPU code, with the calls inlined")    \
	X(symbolize, "[OPTION...] FILE [PLACE...]",                                         \
	  "source lines of given addresses or function+offset")                             \
	X(disas, "[OPTION...] FILE [FILTER...]", "machine code of GPU functions as text")   \
	X(as, "[OPTION...] SOURCE -o FILE", "a cubin from machine instructions as text")    \
	X(diff, "[OPTION...] DUMP DUMP", "what differs between two dumps")                  \
	X(extract, "[OPTION...] DUMP image|ptx|section|memory WHICH [FILTER...] -o FILE",   \
	  "a part of a dump as a file")                                                     \
	X(strip, "[OPTION...] DUMP -o FILE", "a smaller dump, fit to be shared")            \
	X(store, "[OPTION...] add|list|find [FILE...]", "images kept to borrow lines from") \
	X(trace, "[OPTION...] replay TRACE DUMP | diff TRACE TRACE",                        \
	  "calls of the debugger API, made again or compared")

struct cli {
	struct ws_out out; /* standard output */
	bool color;        /* escape sequences are welcome on standard output */
	bool json;
	uint64_t size_limit; /* for unpacking, bytes; 0: the library's */
	const char *api_lib; /* provider of the debugger API to go through, LIB[:SYMBOL], or NULL */
};

/* ---- options that every verb takes: a verb's getopt_long() table starts with them ---- */

enum {
	CLI_OPTION_JSON = 256,
	CLI_OPTION_COLOR,
	CLI_OPTION_SIZE_LIMIT,
	CLI_OPTION_API_LIB,
};

#define CLI_COMMON_OPTIONS                                                   \
	{ "json", no_argument, NULL, CLI_OPTION_JSON },                      \
		{ "api-lib", required_argument, NULL, CLI_OPTION_API_LIB },  \
		{ "color", required_argument, NULL, CLI_OPTION_COLOR },      \
	{                                                                    \
		"size-limit", required_argument, NULL, CLI_OPTION_SIZE_LIMIT \
	}

/* Serves one of them, with its value in `optarg`; says so when it is none, or '?' of getopt_long().
 * CLI_ANSWERED or CLI_USAGE. */
int cli_common_option(struct cli *cli, const char *verb, int option);

/* Opens what the command line names: a dump, packed or not, "-" for standard input. With --api-lib
 * the provider opens it (WARPSCOPE_CORE); "-" is then what the provider has by itself. Damage is
 * said in one line on standard error. CLI_ANSWERED, or CLI_NO_ANSWER when told why not. */
int cli_target_open(struct cli *cli, const char *path, struct ws_target **ret_target);

/* Zeroed memory; free() it. Ends the program when there is none. */
void *cli_alloc(size_t count, size_t size);
_Noreturn void cli_out_of_memory(void);

/* Each returns an exit status. `argv[0]` is the verb; `--help` has been served already, from
 * verb_NAME_help: what it does, its own options, its exit statuses. */
#define X(name, synopsis, help)                                  \
	int verb_##name(struct cli *cli, int argc, char **argv); \
	extern const char verb_##name##_help[];
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

/* A stretch of memory: SPACE:ADDRESS+LENGTH, with global, shared, local, param or constN. */
struct cli_range {
	enum ws_space space;
	uint32_t bank;
	uint64_t address, len;
};
bool cli_range(const char *text, struct cli_range *ret_range);

#endif
