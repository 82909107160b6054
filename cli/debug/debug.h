/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `warpscope debug` share. */
#ifndef WARPSCOPE_DEBUG_H
#define WARPSCOPE_DEBUG_H

#include <warpscope/cudadebugger.h>
#include <warpscope/focus.h>
#include <warpscope/line.h>
#include <warpscope/sim_target.h>

#include "look/look.h"
#include "positions.h"
#include "run/run.h"

/* A thread, by what stays the same while the device runs. */
struct thread {
	uint32_t device_id, sm_id, warp_id, lane;
	int64_t grid_id;
	struct ws_dim3 block;
};

/* A breakpoint: one place of the source, or one address, may be several in the code. Or a
 * watchpoint, which is at none. */
struct breakpoint {
	unsigned number;
	bool temporary, disabled;
	char *where, *condition; /* owned; condition NULL: none */
	uint64_t *pc;            /* owned */
	size_t n_pcs, cap_pcs;
	uint64_t hits;
	struct ws_watch watch; /* kinds 0: a breakpoint */
	bool of_thread;        /* memory of `owner`, or of its block */
	struct thread owner;
	const struct run_type *type; /* of its bytes; NULL: not known */
	uint32_t target_number;      /* the target's number of it */
};

struct debug_words {
	char **item; /* owned, with the words */
	size_t n, cap;
};

struct debugger {
	struct run_setup setup;   /* first: its options fill it */
	struct cli_words scripts; /* of --ex and -x, in pairs: "c" or "f", the command or file */
	bool batch;               /* nothing is read from standard input */
	struct cli *cli;
	bool through_api;         /* commands go through the debugger API over `device` */
	struct ws_target *device; /* owned; the software GPU. NULL: another provider's device */
	struct ws_vars *vars;     /* owned; NULL until an expression is evaluated */
	uint32_t level;           /* of machine code, that the frame which is looked at is in */
	struct ws_target *target; /* owned; what commands ask: `device`, or a target over an API */
	CUDBGAPI api;             /* owned; of `device`, or NULL */
	char *dump;               /* owned: the file of the target; NULL: it is a device */
	struct cli_given history; /* MiB to keep it in */
	bool started;             /* launches have run, or begun to */
	bool over;                /* all launches have ended */
	uint64_t n_launches, n_ended; /* UINT64_MAX: nobody knows how many there will be */
	bool has_focus;
	struct ws_focus focus;          /* of the target as it stands */
	struct thread thread;           /* the same */
	struct breakpoint *breakpoints; /* owned; by number */
	size_t n_breakpoints, cap_breakpoints;
	unsigned last_number;
	uint64_t before; /* generation of the target when the command moved it */
	bool quits;
	char *repeated;        /* owned: what an empty line does again; NULL: nothing */
	bool settings_noted;   /* that there are none has been said */
	struct prompt *prompt; /* borrowed, while it reads commands */
	bool names_made;
	struct debug_words names; /* owned: functions, for completion */
};

/* ---- debug.c: the commands ---- */

/* Options of the verbs that have the prompt. */
int debug_take_command(void *query, const char *text);
int debug_take_file(void *query, const char *text);
#define DEBUG_PROMPT_OPTIONS                                                                   \
	{ "ex", 0, CLI_TAKE, .take = debug_take_command, .one_dash = true },                   \
		{ "command", 'x', CLI_TAKE, .take = debug_take_file },                         \
	{                                                                                      \
		"batch", 0, CLI_FLAG, .at = offsetof(struct debugger, batch), .one_dash = true \
	}

/* Does what a line says. `repeats`: if it is empty, what the last one said. */
void debug_execute(struct debugger *d, const char *line, bool repeats);
/* Whether a word is the whole name of a command. */
bool debug_is_command(const char *word);
/* Names of all commands, from 0; "" for one that is not for this target, NULL: no more. */
const char *debug_command_name(const struct debugger *d, size_t index);
void debug_fini(struct debugger *d);

/* ---- prompt.c: where commands come from ---- */

/* Commands of --ex and -x, then of standard input, until there are no more. An exit status. */
int debug_prompt(struct debugger *d);
/* Commands of a file, until it ends. */
void debug_source(struct debugger *d, const char *text);
/* Take the lines after this one, up to `end`: a command of the user's own, or words about one. */
void debug_define(struct debugger *d, const char *text);
void debug_document(struct debugger *d, const char *text);
/* Runs a command of the user's own; false: there is none of the name that `line` begins with. */
bool debug_run_defined(struct debugger *d, const char *line);

/* ---- pager.c ---- */

struct debug_pager {
	struct cli *cli;    /* borrowed */
	unsigned row, rows; /* of the screen: written since the last command, and all */
	bool skips, whole;  /* the user wants no more of this output, or all of it at once */
};
/* From now on output stops at each screen of the terminal; then no more. */
void debug_pager_begin(struct debug_pager *pager, struct cli *cli);
void debug_pager_end(struct debug_pager *pager);

/* ---- complete.c ---- */

/* What the last word of a line may be, in the order of the letters. */
void debug_complete(struct debugger *d, const char *line, struct debug_words *ret_words);
void debug_words_fini(struct debug_words *words);

/* ---- shell.c: a dump in place of a device ---- */

/* Opens a dump, closes what was open before, and says what stopped it. An exit status. */
int debug_open(struct debugger *d, const char *path);
void debug_close(struct debugger *d);

/* ---- stop.c: the device ---- */

/* Makes the device; it stands before its first instruction. An exit status. */
int debug_make(struct debugger *d);
void debug_unmake(struct debugger *d);
/* Lets everything run until something happens, and says what. */
void debug_go(struct debugger *d);
/* The focus of a lane of a warp. False: the warp or its block cannot be read. */
bool debug_focus_of(const struct debugger *d, uint32_t warp_index, uint32_t lane,
		    struct ws_focus *ret_focus);
void debug_focus_on(struct debugger *d, const struct ws_focus *focus);
/* The same of a thread, if it is still there. */
bool debug_find_thread(const struct debugger *d, const struct thread *thread,
		       struct ws_focus *ret_focus);
/* Rows changed: finds the focus again. False: its thread has exited; another is chosen. */
bool debug_refocus(struct debugger *d);
/* The thread in focus, and where it is. */
void debug_print_thread(struct debugger *d);
/* Takes what the device has to tell. `*ret_stopped`: a fault or a breakpoint stopped it. */
void debug_take_events(struct debugger *d, bool *ret_stopped);
/* Prints what kernels have printed. */
void debug_flush_printed(struct debugger *d);
/* Tells what stopped the device. False: nothing that is to be told, it should go on. */
bool debug_after_stop(struct debugger *d);
/* The same after a step, which may also have come to a breakpoint; costs what moved. */
bool debug_after_step(struct debugger *d);
/* Calls `take` for each warp that may have changed since `d->before`, until it returns true. */
typedef bool debug_take_warp(void *user, uint32_t warp_index, const struct ws_warp *warp);
bool debug_each_changed(struct debugger *d, debug_take_warp *take, void *user);
/* Ctrl-C since the last call. */
bool debug_interrupted(void);
/* False with a word to the user when there is no thread to do that with. */
bool debug_has_thread(const struct debugger *d);

/* ---- breakpoints.c ---- */

/* LOCATION [if CONDITION] */
void debug_break(struct debugger *d, const char *text, bool temporary);
void debug_breakpoints_list(const struct debugger *d);
/* Numbers, or none for all. */
void debug_breakpoints_delete(struct debugger *d, const char *text);
void debug_breakpoints_enable(struct debugger *d, const char *text, bool enable);
/* NUMBER [CONDITION] */
void debug_breakpoint_condition(struct debugger *d, const char *text);
/* Plants all of them in a device that is new. */
void debug_breakpoints_plant(struct debugger *d);
/* The breakpoint that a warp hit which has moved, or that the thread in focus was stepped to, and
 * that is to be told; the focus goes to the first lane that its condition holds for. NULL: none. */
struct breakpoint *debug_hit(struct debugger *d);
struct breakpoint *debug_stepped_to(struct debugger *d);
/* "Breakpoint 3 (CONDITION)"; removes one that is temporary. */
void debug_print_hit(struct debugger *d, struct breakpoint *hit);
void debug_breakpoint_remove(struct debugger *d, struct breakpoint *breakpoint);
void debug_breakpoints_fini(struct debugger *d);

/* Adds what was made; its text and addresses are the list's. */
struct breakpoint *debug_breakpoint_add(struct debugger *d, const struct breakpoint *made);
/* Whether a condition holds for a lane. One that cannot be told counts as true, and is told. */
bool debug_holds(struct debugger *d, const struct breakpoint *one, const struct ws_focus *focus);

/* " (CONDITION)" */
void debug_print_condition(const struct debugger *d, const struct breakpoint *one);

/* ---- watch.c: watchpoints ---- */

/* EXPRESSION or ADDRESS [LENGTH]; `kinds` of ws_watch_kinds. */
void debug_watch(struct debugger *d, const char *text, uint32_t kinds);
/* Has the target watch for a moment. False with a word to the user. */
bool debug_watch_once(struct debugger *d, const char *text, struct breakpoint *ret_made);
/* Has the target watch. False with a word to the user. */
bool debug_watch_plant(const struct debugger *d, struct breakpoint *watchpoint);
void debug_watch_unplant(const struct debugger *d, const struct breakpoint *watchpoint);
/* "Watchpoint", "Read watchpoint" or "Access watchpoint". */
const char *debug_watch_word(const struct breakpoint *watchpoint);
/* Whether a watchpoint was hit that is to be told; the focus goes to who did it. */
bool debug_watch_hit(struct debugger *d);
/* Those that are about to be hit by lanes of a warp: the first that its condition holds for gets
 * the focus. NULL: none, or it does not hold. */
struct breakpoint *debug_watch_ahead(struct debugger *d, const struct ws_back_found *found);
/* Its value. */
void debug_watch_value(const struct debugger *d, const struct breakpoint *one);
/* Tells all of them: old and new value, and by which code. */
void debug_watch_tell(struct debugger *d);

/* ---- place.c: code and source ---- */

/* FILE:LINE, LINE, FUNCTION or *ADDRESS: appends its addresses. False with a word to the user. */
bool debug_locate(struct debugger *d, const char *text, struct breakpoint *to);

/* Where a pc is in the source: the chain, innermost first; n 0: not known. */
struct position {
	struct ws_line_pos chain[POSITIONS_MAX];
	size_t n;
};

void debug_position(const struct debugger *d, uint64_t pc, struct position *ret_position);
/* A line each: "axpy at src/axpy.cu:12", and the instruction. */
void debug_print_place(const struct debugger *d, uint64_t pc);
void debug_print_instruction(const struct debugger *d, uint64_t pc);
/* Instructions from an address on, with gdb's marks: => the pc, *> the errorpc, *=> both. */
void debug_print_code(const struct debugger *d, uint64_t address, uint64_t count);
/* "Line 12 of "axpy.cu" is at address 0x7f00 <axpy+0x30>.", and what it is inlined into. */
void debug_print_line(const struct debugger *d, uint64_t pc);
/* "axpy + 48 in section .text.axpy" */
void debug_print_symbol(const struct debugger *d, uint64_t address);

/* ---- step.c ---- */

enum debug_step {
	DEBUG_STEPI,
	DEBUG_NEXTI,
	DEBUG_STEP,
	DEBUG_NEXT,
	DEBUG_FINISH,
};

void debug_step(struct debugger *d, enum debug_step how, uint64_t times);
/* The same backwards: STEPI, STEP or NEXT. */
void debug_step_back(struct debugger *d, enum debug_step how, uint64_t times);

/* ---- back.c ---- */

/* Puts the device back; the focus stays on its thread. False with a word to the user. */
bool debug_back(struct debugger *d, const struct ws_back *back, struct ws_back_found *ret_found);
/* To the last breakpoint or watchpoint, or to the start. */
void debug_go_back(struct debugger *d);
/* To what wrote a register or memory last: $R3, or as for debug_watch(). */
void debug_last_write(struct debugger *d, const char *text);

/* ---- echo.c ---- */

void debug_echo(struct debugger *d, const char *text);
/* "FORMAT", EXPRESSION... */
void debug_printf(struct debugger *d, const char *text);

/* ---- value.c: expressions ---- */

/* An expression for a lane of the warp in `focus`; NULL: without a thread. False with what is wrong
 * in `ret_wrong`. */
bool debug_evaluate(struct debugger *d, const struct ws_focus *focus, const char *text,
		    struct ws_number *ret_number, char ret_wrong[200]);
/* Whether a text is $ and the name of a register. */
bool debug_register(const char *text, enum ws_reg_kind *ret_kind, uint32_t *ret_number);
/* The number in memory that an expression is, to the end of `*text`: where it is, and its type. */
bool debug_memory(struct debugger *d, const struct ws_focus *focus, const char **text,
		  struct ws_address *ret_at, const struct run_type **ret_type, char ret_wrong[200]);
/* [/FORMAT] EXPRESSION */
void debug_print(struct debugger *d, const char *text);
/* WHAT = EXPRESSION, of a variable, $REGISTER or *(TYPE *)ADDRESS */
void debug_set(struct debugger *d, const char *text);

#endif
