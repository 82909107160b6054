/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of gdb: lines, abbreviations, settings, files of commands, commands of the user's
 * own. It knows no target and no session: a client has the commands, and what their words mean.
 *
 *   what a line asks for; help          command.c
 *   where lines come from; define, if   script.c
 *   set, show                           settings.c
 *   commands that are not here          absent.c
 *   words, names -> numbers             words.c, index.c
 *   a screen at a time                  pager.c
 */
#ifndef WARPSCOPE_CLI_GDB_H
#define WARPSCOPE_CLI_GDB_H

#include "cli.h"

struct gdb;

/* Lines, or words. */
struct gdb_lines {
	char **item; /* owned, with the lines */
	size_t n, cap;
};

/* ---- the client ---- */

enum {
	GDB_REPEATS = 1 << 0, /* an empty line does it again */
	GDB_CLIENT = 1 << 1,  /* this bit and those above are the client's */
};

/* A command; a client has more behind it: how it runs it. What is of the grammar, such as gdb_if(),
 * runs with its struct gdb. */
struct gdb_command {
	const char *name, *letters; /* or a second name; NULL: none */
	const char *takes, *help;
	unsigned is;
};

struct gdb_client {
	void *user;
	const void *commands; /* structures that begin with a struct gdb_command */
	size_t n_commands, command_size;
	/* False with a word to the user: not now. */
	bool (*may_run)(void *user, const struct gdb_command *command);
	void (*run)(void *user, const struct gdb_command *command, const char *text);
	/* Whether it is not for what is debugged, so that no list has it. */
	bool (*is_hidden)(void *user, const struct gdb_command *command);
	/* help COMMAND REST. False: its line is all there is to say. */
	bool (*help)(void *user, const struct gdb_command *command, const char *rest);
	/* After each line. */
	void (*done)(void *user);
	/* The number that an expression is. False with a word to the user. */
	bool (*number)(void *user, const char *text, struct ws_number *ret_number);
	/* Whether the user wants a loop to end. */
	bool (*is_interrupted)(void *user);
	/* What the last word of a line may be, in the order of the letters. */
	void (*complete)(void *user, const char *line, struct gdb_lines *ret_words);
};

/* ---- index.c ---- */

/* The numbers of names. */
struct gdb_index {
	struct gdb_index_slot {
		const char *name; /* borrowed; NULL: free */
		size_t number;
	} * slots;     /* owned */
	size_t n, cap; /* cap: a power of two, or 0 */
};

bool gdb_index_find(const struct gdb_index *index, const char *name, size_t len,
		    size_t *ret_number);
/* A name that it does not have; it must outlive the index. */
void gdb_index_add(struct gdb_index *index, const char *name, size_t number);
void gdb_index_fini(struct gdb_index *index);

/* ---- pager.c ---- */

struct gdb_pager {
	struct cli *cli;    /* borrowed */
	unsigned row, rows; /* of the screen: written since the last command, and all */
	bool skips, whole;  /* the user wants no more of this output, or all of it at once */
};

/* From now on output stops at each screen of so many lines; 0: there are none. */
void gdb_pager_begin(struct gdb_pager *pager, struct cli *cli, unsigned rows);
void gdb_pager_end(struct gdb_pager *pager);
/* Lines of the terminal; 0: it is none. */
unsigned gdb_pager_rows(void);
/* Writes what a command printed into memory, and what comes before it is written already. */
void gdb_write(struct cli *cli, const char *bytes, size_t len);

/* ---- the grammar's own state ---- */

struct gdb_settings {
	uint32_t height;   /* lines of a page; 0: the terminal's; UINT32_MAX: no pages */
	uint32_t listsize; /* lines that list shows; 0: 10 */
	bool no_paging;
	bool noted;           /* that there are none has been said */
	char *const *program; /* borrowed: the words that it is started with, or NULL */
};

/* Where a loop goes, instead of to its next line. */
enum gdb_jump { GDB_STAYS, GDB_OUT, GDB_ON };

/* What is begun, while there may be more of the same within it. */
enum gdb_within {
	GDB_HOOK = 1 << 0, /* a command of the user's own beside another */
	GDB_DUE = 1 << 1,  /* lines of gdb_set_due() */
};

/* All but the first two members are this folder's, but for `settings` and `quits`. */
struct gdb {
	struct gdb_client client;
	struct cli *cli; /* borrowed */
	struct gdb_settings settings;
	bool quits;
	char *repeated;            /* owned: what an empty line does again; NULL: nothing */
	struct gdb_source *source; /* innermost */
	unsigned n_nested;
	unsigned n_loops; /* of `while`, within each other */
	enum gdb_jump jump;
	unsigned within; /* enum gdb_within */
	bool has_due;    /* `due` is to be run */
	struct gdb_lines due;
	struct gdb_user_command *commands; /* owned */
	size_t n_commands, cap_commands;
	struct gdb_index names; /* of `commands` */
	char *line;             /* owned: of getline() */
	size_t cap_line;
	struct gdb_pager pager;
};

void gdb_fini(struct gdb *gdb);

/* ---- command.c ---- */

/* Does what a line says. `repeats`: if it is empty, what the last one said. */
void gdb_execute(struct gdb *gdb, const char *line, bool repeats);
/* The command that a word is, or begins in a way that no other does; NULL: none. */
const struct gdb_command *gdb_command_find(const struct gdb *gdb, const char *word, size_t n);
/* Whether a word is the whole name of a command. */
bool gdb_is_command(const struct gdb *gdb, const char *word);
/* Names of all commands, from 0; "" for one that is hidden, NULL: no more. */
const char *gdb_command_name(const struct gdb *gdb, size_t index);
/* Its line of the list. */
void gdb_print_help(struct gdb *gdb, const struct gdb_command *command);
/* [COMMAND] */
void gdb_help(struct gdb *gdb, const char *text);
/* WORD */
void gdb_apropos(struct gdb *gdb, const char *text);

/* ---- words.c ---- */

enum { GDB_MAX_WORDS = 64 };
/* What follows a word that a text begins with; NULL: it does not. */
const char *gdb_behind(const char *text, const char *word);
/* Splits a line at its blanks, in place. Returns how many words were put into `words`. */
int gdb_split(char *line, char *words[], int most);

/* ---- settings.c ---- */

/* What follows set. False: no setting, or one that is always the same. */
bool gdb_set_setting(struct gdb *gdb, const char *text);
/* A setting, or all that begin with a word; false: there is none. */
bool gdb_show_setting(struct gdb *gdb, const char *text);
/* $_gdb_setting("NAME") and $_gdb_setting_str("NAME"); false: no such setting. */
bool gdb_setting_value(struct gdb *gdb, struct ws_str name, struct ws_str setting,
		       struct ws_value *ret_value);
/* What follows "-elements 3 -pretty --" of a command; `ret_style` has what they ask for. */
const char *gdb_style_options(struct gdb *gdb, const char *text, struct ws_value_style *ret_style);
/* SETTING [VALUE] -- COMMAND: the command while the setting is so. */
void gdb_with(struct gdb *gdb, const char *text);
/* Unknown settings are accepted: said once. */
void gdb_settings_note(struct gdb *gdb);

/* ---- absent.c ---- */

/* A line of a command that gdb has and this program has not: says why, and takes its lines. */
bool gdb_is_absent(struct gdb *gdb, const char *line);

/* ---- script.c: where commands come from ---- */

/* Commands of --ex and -x, which are "c" or "f" and a text each, then of standard input unless
 * `batch`. An exit status. */
int gdb_run(struct gdb *gdb, const struct cli_words *scripts, bool batch);
/* Commands of a file, until it ends. */
void gdb_source(struct gdb *gdb, const char *text);
/* Take the lines after this one, up to `end`: a command of the user's own, or words about one. */
void gdb_define(struct gdb *gdb, const char *text);
void gdb_document(struct gdb *gdb, const char *text);
/* NAME = COMMAND: another name for the beginning of a line. */
void gdb_alias(struct gdb *gdb, const char *text);
/* EXPRESSION: runs the lines up to `end`, once or as long as it is true. */
void gdb_if(struct gdb *gdb, const char *text);
void gdb_while(struct gdb *gdb, const char *text);
/* Out of the innermost while, or on to its next turn. */
void gdb_loop_break(struct gdb *gdb, const char *text);
void gdb_loop_continue(struct gdb *gdb, const char *text);
/* Takes the lines up to `end`, which are the caller's. */
struct gdb_lines gdb_take_lines(struct gdb *gdb, bool is_foreign);
void gdb_lines_free(struct gdb_lines *lines);
/* Lines to be run once this one is done, instead of those that are; they are copied. */
void gdb_set_due(struct gdb *gdb, const char *const *lines, size_t n);
void gdb_run_due(struct gdb *gdb);
/* What help says of a command of the user; false: there is none. */
bool gdb_help_defined(struct gdb *gdb, const char *name);
/* Commands of the user's own with their lines, or the one of a name. */
void gdb_show_defined(struct gdb *gdb, const char *name);
/* Runs a command of the user's own; false: there is none of the name that `line` begins with. */
bool gdb_run_defined(struct gdb *gdb, const char *line);

#endif
