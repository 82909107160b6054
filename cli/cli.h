/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verbs share: the table of verbs, exit statuses, messages, options that every verb takes.
 */
#ifndef WARPSCOPE_CLI_H
#define WARPSCOPE_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include <warpscope/out.h>
#include <warpscope/stack.h>
#include <warpscope/target.h>
#include <warpscope/verbs.h>

/*
 * Exit statuses: one table for all verbs, in the help of each and in warpscope(1).
 */
#define CLI_STATUS_LIST(X)                                                                        \
	X(ANSWERED, 0, "answered, also from a damaged file")                                      \
	X(NO_ANSWER, 1, "could not answer: no such file, not a dump, nothing with that name")     \
	X(USAGE, 2, "wrong usage")                                                                \
	X(FOUND, 10,                                                                              \
	  "a fault (report --exit-code, run, log), findings (check), a difference (diff, trace, " \
	  "run), a new bug (triage)")                                                             \
	X(HANG, 11, "a hang is suspected (report --exit-code, log)")                              \
	X(CANNOT_TELL, 12, "the dump or log cannot tell (report --exit-code, triage, log)")       \
	X(KNOWN, 13, "only bugs that are known (triage)")

enum cli_status {
#define X(name, number, words) CLI_##name = number,
	CLI_STATUS_LIST(X)
#undef X
};

/* One verb is one row: name, what it takes, whether words follow its file, one line of help. Its
 * function is verb_NAME() in cli/NAME.c. */
#define CLI_VERB_LIST(X)                                                                           \
	X(report, "[OPTION...] DUMP", false,                                                       \
	  "what failed, where, and where all other threads are")                                   \
	X(info, "[OPTION...] DUMP|FILE [TABLE [FILTER...]]", true,                                 \
	  "tables of everything in a dump; the images and kernels of a program")                   \
	X(mem, "[OPTION...] DUMP SPACE:ADDRESS [/FORMAT] [COUNT] [FILTER...]", true, "memory")     \
	X(regs, "[OPTION...] DUMP [REGISTER...] [FILTER...]", true,                                \
	  "registers of one lane, or of several")                                                  \
	X(bt, "[OPTION...] DUMP [FILTER...]", true, "the stack of a thread")                       \
	X(locals, "[OPTION...] DUMP [FILTER...]", true, "arguments and variables of a frame")      \
	X(print, "[OPTION...] DUMP [/FORMAT] EXPRESSION [FILTER...]", true,                        \
	  "a variable or an expression, in one thread or in many")                                 \
	X(ptype, "[OPTION...] DUMP TYPE|EXPRESSION [FILTER...]", true, "a type with its members")  \
	X(whatis, "[OPTION...] DUMP TYPE|EXPRESSION [FILTER...]", true, "the name of a type")      \
	X(list, "[OPTION...] DUMP [LOCATION|FIRST,LAST] [FILTER...]", true,                        \
	  "source lines around a place, or the code of a line")                                    \
	X(check, "[OPTION...] DUMP", false, "whether a dump is sound, and where it is not")        \
	X(lines, "[OPTION...] FILE", false, "source lines of GPU code, with inlined calls")        \
	X(symbolize, "[OPTION...] FILE [PLACE...]", true,                                          \
	  "source lines for given addresses or function+offset")                                   \
	X(disas, "[OPTION...] FILE [FILTER...]", true, "machine code of GPU functions as text")    \
	X(as, "[OPTION...] SOURCE -o FILE", false, "a cubin from machine instructions as text")    \
	X(diff, "[OPTION...] DUMP DUMP", false, "what differs between two dumps")                  \
	X(extract, "[OPTION...] DUMP image|ptx|section|memory WHICH [FILTER...] -o FILE", true,    \
	  "a part of a dump as a file")                                                            \
	X(strip, "[OPTION...] DUMP -o FILE", false, "a smaller dump, safe to share")               \
	X(store, "[OPTION...] add|list|find [FILE...]", false, "images kept to borrow lines from") \
	X(shell, "[OPTION...] DUMP", false, "a prompt over a dump, with cuda-gdb's commands")      \
	X(run, "[OPTION...] IMAGE --kernel NAME", false, "kernels on the software GPU")            \
	X(debug, "[OPTION...] IMAGE --kernel NAME", false, "the same, under gdb's commands")       \
	X(triage, "[OPTION...] PATH...", false, "many dumps: their bugs, and which one to read")   \
	X(log, "[OPTION...] LOG...", false,                                                        \
	  "logs without a dump: what failed first, and which dump to take next")                   \
	X(exec, "[OPTION...] [--] PROGRAM [ARGUMENT...]", false,                                   \
	  "a program, so that its GPU faults and hangs leave dumps; what they show")               \
	X(trigger, "[OPTION...] PID...", false, "dumps of processes that run or hang")             \
	X(env, "[OPTION...]", false, "CUDA's variables for dumps, and what each costs")            \
	X(trace, "[OPTION...] replay TRACE DUMP | diff TRACE TRACE", false,                        \
	  "debugger API calls, replayed or compared")

struct ws_focus;

struct cli {
	struct ws_out out;   /* standard output */
	bool color;          /* escape sequences are welcome on standard output */
	bool terminal;       /* standard output is one */
	unsigned columns;    /* that lines may have; 0: any number, as no terminal shows them */
	struct ws_wrap wrap; /* folds lines of standard output */
	bool json;
	bool no_pager;       /* was looked for before the sandbox was entered */
	uint64_t size_limit; /* for unpacking, bytes; 0: the library's */
	/* Standard output: no more than this; 0: a fixed amount and a multiple of what was opened.
	 */
	uint64_t output_limit;
	uint64_t input_bytes, output_bytes; /* opened (unpacked), and written, so far */
	const char *verb;                   /* the one that runs */
	const char *api_lib; /* provider of the debugger API to go through, LIB[:SYMBOL], or NULL */
	/* At a prompt: what every verb reads, whatever file it names, and the thread that the user
	 * looks at. Borrowed; NULL: none. */
	struct ws_target *live;
	const struct ws_focus *focus;
	size_t frame;                /* of that thread, as `bt` numbers them */
	struct ws_value_style style; /* of values */
	enum ws_stack_arguments frame_arguments;
	bool each_alone; /* tables join no rows */
	/* What takes the output, a prompt that shows it a screen at a time; NULL: standard output.
	 */
	bool (*page)(void *user, const char *bytes, size_t len);
	void *page_user;
};

/* ---- options ---- */

/* What an option does with its value. From CLI_TEXT on it needs one. */
enum cli_value {
	CLI_FLAG,     /* has none: sets a bool */
	CLI_BITS,     /* has none: sets `bits` of a uint32_t */
	CLI_REST,     /* no option: behind the first operand there are none, as it is a program */
	CLI_TEXT,     /* a const char * */
	CLI_NUMBER,   /* a struct cli_given */
	CLI_WORDS,    /* a struct cli_words: one more of them */
	CLI_TAKE,     /* take() looks at it */
	CLI_MAY_TAKE, /* the same; without one, NULL: it is the next word only if that is a number
			 or "current" */
};

/* A number that may be on the command line. */
struct cli_given {
	bool given;
	uint64_t value;
};

/* Words of the command line. */
struct cli_words {
	const char **item; /* owned */
	size_t n, cap;
};
void cli_words_add(struct cli_words *words, const char *word);

/* One option of a verb. A table of them ends with a row of zeros. */
struct cli_option {
	const char *name; /* without its dashes; "": only the letter */
	char letter;      /* a second name, or 0 */
	enum cli_value value;
	size_t at; /* of its member, in what the verb fills */
	uint32_t bits;
	bool one_dash; /* its name may also have one dash */
	/* CLI_ANSWERED, or another exit status when told what is wrong. */
	int (*take)(void *query, const char *text);
};

/* Takes the options of a command line as a verb gets it into `query`, as the table says, those of
 * every verb into `cli`; leaves the operands in `argc` and `argv`. An exit status. */
int cli_options_take(struct cli *cli, const struct cli_option *options, void *query, int *argc,
		     char ***argv);

/* Fills `sorted`, which has room for `argc` + 1 words: `argv[0]`, the options with their values,
 * "--", the operands. CLI_ANSWERED, or CLI_USAGE when told what is wrong with an option. */
int cli_options_sort(const char *verb, const struct cli_option *options, int argc, char **argv,
		     char **sorted);
/* How many words of a command line, from its start on, may hold options of ours: all, or those
 * before the program that the verb runs. */
int cli_options_end(const struct cli_option *options, int argc, char **argv);
/* Index of operand `n` in a command line that is not sorted yet; `argc` when there are fewer.
 * Options that are not known count as having no value. */
int cli_operand(const struct cli_option *options, int argc, char **argv, int n);

/* The name that was probably meant, or NULL when none is close. */
const char *cli_nearest(const char *text, size_t len, const char *const *names, size_t n);

/* A terminal without cursor control and colour, as TERM says. */
bool cli_terminal_is_dumb(void);

/* Opens what the command line names: a dump, packed or not, "-" for standard input. With --api-lib
 * the provider opens it (WARPSCOPE_CORE); "-" is then what the provider has by itself. Damage is
 * said in one line on standard error. CLI_ANSWERED, or CLI_NO_ANSWER when told why not. */
int cli_target_open(struct cli *cli, const char *path, struct ws_target **ret_target);
/* Opens a dump for a verb that reads images too, where `path` is none: a refusal says so. */
int cli_target_open_last(struct cli *cli, const char *path, struct ws_target **ret_target);
/* Closes what these two gave; `cli` NULL: they were not called. */
void cli_target_close(const struct cli *cli, struct ws_target *target);
/* Says why what the command line names could not be opened, and what to do. CLI_NO_ANSWER. */
int cli_open_fail(const char *path, const struct ws_error *err);
enum { CLI_PROGRAM_BYTES = 4096 };
/* The file that execvp() takes for a name without '/' when there is a PATH; false: there is none.
 */
bool cli_find_program(const char *name, size_t len, char ret_path[CLI_PROGRAM_BYTES]);

/* Zeroed memory; free() it. Ends the program when there is none. */
void *cli_alloc(size_t count, size_t size);
/* As realloc(), of an array. Ends the program likewise. */
void *cli_realloc(void *ptr, size_t count, size_t size);
/* Room for one more element of `size` bytes in an array that grows by doubling: `*ptr` has `*cap`
 * of them, `n` are used. Ends the program likewise. */
void cli_grow(void *ptr, size_t *cap, size_t n, size_t size);
/* The first `len` characters of a text; free() it. */
char *cli_copy(const char *text, size_t len);
_Noreturn void cli_out_of_memory(void);

/* Bytes that are written one after the other, as a sink of struct ws_out. */
struct cli_bytes {
	char *ptr; /* owned */
	size_t len, cap;
};
/* For ws_out_init(), with a struct cli_bytes. Never fails. */
bool cli_bytes_write(void *bytes, const char *more, size_t len);

/* What a file holds, "-" for standard input, with a NUL behind it; free() it. More than `most`
 * bytes are not all read: `*ret_len` is greater then. NULL: told why it cannot be read. */
void *cli_file_read(const char *path, size_t most, size_t *ret_len);

/* Where `run` writes a dump when a kernel fails, as CUDA's variables say; NULL: nowhere. Static,
 * the same in every call. */
const char *cli_run_dump_path(void);

/* Each returns an exit status. `argv[0]` is the verb; `--help` has been served already, from
 * verb_NAME_help, which is made from help/NAME.txt: what it does, its own options, and when it does
 * not answer. */
#define X(name, synopsis, words, help)                           \
	int verb_##name(struct cli *cli, int argc, char **argv); \
	extern const char verb_##name##_help[];                  \
	extern const struct cli_option verb_##name##_options[];
CLI_VERB_LIST(X)
#undef X

/* Who asks, where it is not a shell. */
struct cli_client {
	struct ws_target *live; /* what every verb reads, whatever file it names; NULL: the file */
	uint64_t live_bytes;    /* of the file that it was opened from */
	/* What takes standard output; NULL: standard output. */
	bool (*write)(void *user, const char *bytes, size_t len);
	void *user;
};
/* The program: answers one command line, `argv[0]` being the program's name. An exit status. */
int cli_run(const struct cli_client *client, int argc, char **argv);

/* A verb with its words, `argv[0]` its name, within another: on a command of `debug`. An exit
 * status. */
int cli_verb(struct cli *cli, int argc, char **argv);
/* Folds what is printed from now on at that many columns; 0: not at all. */
void cli_fold(struct cli *cli, unsigned columns);
/* Folds what is printed from now on at the width of the terminal, unless the verb prints code, or
 * JSON. */
void cli_fold_text(struct cli *cli);
/* How wide standard error is, if it is a terminal; else 0. */
unsigned cli_error_columns(void);
/* How the library's verbs are to answer. */
struct ws_answer_style cli_style(struct cli *cli);
/* The same; what is damaged or not there of a file is told as a failure. */
struct ws_answer_style cli_style_of(struct cli *cli, char *path);
/* Writes out what was printed, and says the warnings so far. */
void cli_flush(struct cli *cli);

/* Writes to standard error, at once; strings among the arguments are escaped. What went wrong: it
 * is a failure. */
void cli_say(const char *format, ...) WS_PRINTF(1, 2);
/* Writes to standard error what is no failure, at once. */
void cli_note(const char *format, ...) WS_PRINTF(1, 2);
/* How many failures there were so far: cli_say(), cli_fail(), cli_usage(). */
uint64_t cli_failures(void);
/* Those since there were so many no longer count. */
void cli_forgive(uint64_t failures);
/* Nothing is said from now on, until cli_unmute() of what this returns. That returns whether
 * there were failures, which no longer count. */
uint64_t cli_mute(void);
bool cli_unmute(uint64_t muted);
/* "warpscope: message" on standard error, when the program ends; a message that comes again is said
 * once, with a count. */
void cli_warn(const char *format, ...) WS_PRINTF(1, 2);
/* That only the first part of a packed file was read. */
void cli_warn_cut(const char *path);
/* The story of an error on standard error, with the file offset when it has one. Returns
 * CLI_NO_ANSWER. */
int cli_fail(const char *path, const struct ws_error *err);
/* The same, and then `advice`, which begins with its punctuation. */
int cli_fail_advise(const char *path, const struct ws_error *err, const char *advice);
/* Wrong usage of a verb: says what, and where the help is. Returns CLI_USAGE. */
int cli_usage(const char *verb, const char *format, ...) WS_PRINTF(2, 3);

/* An unsigned number, decimal or 0x; false when `text` is not exactly one. */
bool cli_number(const char *text, uint64_t *ret_value);

/* A number of elements as gdb takes it: 0 is no limit. */
uint32_t cli_most(uint64_t number);
/* Which arguments a word asks for; false: it is none. */
bool cli_frame_arguments_find(const char *word, enum ws_stack_arguments *ret_which);
const char *cli_frame_arguments_word(enum ws_stack_arguments which);

/* A stretch of memory: SPACE:ADDRESS+LENGTH, with global, shared, local, param or constN. */
struct cli_range {
	enum ws_space space;
	uint32_t bank;
	uint64_t address, len;
};
/* The space with a name of `len` bytes. */
bool cli_space(const char *text, size_t len, enum ws_space *ret_space);
bool cli_range(const char *text, struct cli_range *ret_range);

#endif
