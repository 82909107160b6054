/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the prompt share: the client of a session (debug.h) that prints, with gdb's
 * commands. */
#ifndef WARPSCOPE_CLI_PROMPT_H
#define WARPSCOPE_CLI_PROMPT_H

#include <warpscope/cudadebugger.h>
#include <warpscope/debug.h>
#include <warpscope/line.h>
#include <warpscope/sim_target.h>

#include "gdb/gdb.h"
#include "look.h"
#include "names.h"
#include "run/run.h"
#include "sources.h"

/* What was said last of the thread in focus. */
struct debug_told {
	bool any;
	struct ws_debug_thread thread;
	uint64_t function; /* where it was; 0: nothing said */
	enum {
		DEBUG_IF_OTHER, /* than that function the thread's call is said next, */
		DEBUG_CALL,     /* or in any case, behind "Breakpoint 3, ", */
		DEBUG_NUMBERED, /* or with the number of the frame, and its pc */
	} next;
};

struct debug_display {
	unsigned number;
	bool disabled;
	char *text; /* owned; a format and an expression. NULL: it is dropped */
};

/* Which lines `list` has shown. */
struct debug_listing {
	const struct ws_line_file *file; /* borrowed from the target; NULL: nothing yet */
	uint32_t first, last;            /* 0: none of them yet */
	uint32_t around;                 /* to be shown first */
	uint64_t function;               /* that code without a source is shown of; 0: any */
	const struct ws_source *source;  /* owned; of `source_of` */
	const struct ws_line_file *source_of;
};

/* What is debugged. */
enum debug_what {
	DEBUG_DUMP,
	DEBUG_IMAGE,   /* on a software GPU */
	DEBUG_DEVICE,  /* of another provider */
	DEBUG_PROGRAM, /* that is started with the words of `gdb.settings` */
	DEBUG_PROCESS, /* that runs already */
};

struct debugger {
	struct run_setup setup;   /* first: its options fill it */
	struct cli_words scripts; /* of --ex and -x, in pairs: "c" or "f", the command or file */
	bool batch;               /* nothing is read from standard input */
	bool through_api, software_gpu;
	struct cli_given pid, history; /* MiB to keep it in */
	char *attach_by;               /* borrowed */
	enum debug_what what;          /* as these options say, */
	enum ws_debug_attach_way attach_way;
	struct cli *cli;
	struct gdb gdb;
	struct ws_debug *session; /* owned */
	struct ws_vars *vars;     /* the session's; NULL until debug_vars() */
	struct ws_target *target; /* what commands ask: the session's; owned if it is a dump */
	char *dump;               /* owned: its file; NULL: it is none */
	bool has_frame_position;
	struct ws_line_pos frame_position; /* of the frame in focus, if it is not the innermost */
	unsigned last_breakpoint;          /* the number of the newest; 0: none */
	struct debug_told told;
	struct debug_display *displays; /* owned */
	size_t n_displays, n_dropped, cap_displays;
	unsigned last_display;
	struct cli_sources sources;   /* owned */
	struct debug_listing listing; /* owned */
	char examined[2];             /* how x showed: a letter of a format, a size; 0: not yet */
	struct ws_address examined_next; /* what it shows next */
	struct ws_json json;             /* the answer of a verb with --json */
	struct gdb_lines
		names; /* owned: functions, for completion; empty until they are asked for */
};

/* ---- commands.c ---- */

/* Options of the verbs that have the prompt. */
int debug_take_command(void *query, const char *text);
int debug_take_file(void *query, const char *text);
int debug_take_map(void *query, const char *text);
int debug_take_dir(void *query, const char *text);
#define DEBUG_PROMPT_OPTIONS                                                                   \
	{ "ex", 0, CLI_TAKE, .take = debug_take_command, .one_dash = true },                   \
		{ "command", 'x', CLI_TAKE, .take = debug_take_file },                         \
		{ "source-map", 0, CLI_TAKE, .take = debug_take_map },                         \
		{ "source-dir", 0, CLI_TAKE, .take = debug_take_dir },                         \
	{                                                                                      \
		"batch", 0, CLI_FLAG, .at = offsetof(struct debugger, batch), .one_dash = true \
	}

/* As cli_options_take(), of a verb that has the prompt. */
int debug_options_take(struct debugger *d, const struct cli_option *options, int *argc,
		       char ***argv);
/* Commands of --ex and -x, then of standard input, until there are no more. An exit status. */
int debug_prompt(struct debugger *d);
void debug_fini(struct debugger *d);

/* Runs a verb over the target, which takes the place of its file. False: it has no answer. */
bool debug_verb(struct debugger *d, const char *name, const char *text);
/* A number that a command is about. False with a word to the user. */
bool debug_number_in(struct debugger *d, const char *text, uint64_t *ret_number);
/* The instruction that the frame in focus is at; of a caller the call. False likewise. */
bool debug_focus_pc(struct debugger *d, uint64_t *ret_pc);

/* ---- focus.c: which thread and which frame ---- */

/* [WORD NUMBER]..., or words to say the numbers of */
void debug_cuda(struct debugger *d, const char *text);
/* [full] [N|-N] */
void debug_backtrace(struct debugger *d, const char *text);
/* [[level] N | function NAME | apply [all|N|level N...] [-qcs] COMMAND] */
void debug_frame(struct debugger *d, const char *text);
/* [N]: up or down by so many */
void debug_move_frame(struct debugger *d, const char *text, int up);
/* The same frames, without a word about it */
void debug_select_frame(struct debugger *d, const char *text);
/* Frames of the thread in focus; look_close() in any case. */
bool debug_frames_open(struct debugger *d, struct frame_look *look);

/* ---- frame.c ---- */

/* The frame that words name: N, level N, function NAME, address ADDRESS; none: that in focus. False
 * with a word to the user. */
bool debug_frame_find(struct debugger *d, struct ws_stack *stack, const char *text,
		      size_t *ret_number);

/* ---- apply.c: a command in many frames ---- */

/* all|COUNT|-COUNT|level N[-N]... [-qcs] COMMAND */
void debug_frame_apply(struct debugger *d, const char *text);
/* [1 | apply all|LIST [-qcs] COMMAND]: the thread of gdb that has the focus, and is the only one */
void debug_thread(struct debugger *d, const char *text);
/* COMMAND there, but where it fails */
enum { DEBUG_FRAMES, DEBUG_THREADS, DEBUG_THREADS_AND_FRAMES };
void debug_apply_to(struct debugger *d, const char *text, int what);

/* ---- about.c: info ---- */

void debug_info(struct debugger *d, const char *text);
/* Words behind `info` that are not tables of the verb, from 0; NULL: no more. */
const char *debug_info_name(size_t index);
/* Lists of what there is. */
void debug_help_info(struct debugger *d);
void debug_help_info_cuda(struct debugger *d);
/* Does what `info WORD` says, where that tells of a dump, too. False: it says nothing, with a word
 * to the user. */
bool debug_info_answer(struct debugger *d, const char *word, const char *text);
bool debug_info_is_answer(const char *word);

/* ---- frame.c ---- */

/* info frame */
bool debug_info_frame(struct debugger *d, const char *text);

/* ---- ask.c: commands that are verbs of the program, too ---- */

/* With --json: begins the answer; the value of `name` is written next. */
void debug_answer(struct debugger *d, const char *name);
/* Selects a frame of the thread in focus as it is numbered. */
void debug_frame_on(struct debugger *d, const struct ws_stack *stack, size_t number);

/* info DUMP WORD [TEXT] [FILTER...] of a word that is an answer. `sources` are taken over. */
int debug_info_verb(struct cli *cli, const char *path, int argc, char **argv,
		    struct cli_given frame, struct cli_sources *sources);

/* ---- symbols.c: what the images have names for ---- */

/* Those that match the regular expression [REGEX]. All are false with a word to the user. */
bool debug_info_functions(struct debugger *d, const char *text);
bool debug_info_types(struct debugger *d, const char *text);
bool debug_info_variables(struct debugger *d, const char *text);
bool debug_info_sources(struct debugger *d, const char *text);
/* Where a variable is: NAME */
bool debug_info_address(struct debugger *d, const char *text);

/* ---- show.c ---- */

void debug_show(struct debugger *d, const char *text);

/* ---- complete.c ---- */

/* What the last word of a line may be, in the order of the letters. */
void debug_complete(void *debugger, const char *line, struct gdb_lines *ret_words);
void debug_words_add(struct gdb_lines *words, const char *word);
typedef void debug_take_fn(struct ws_cubin *cubin, struct gdb_lines *words);
/* What `take` adds of every image, in the order of the letters, each once. */
void debug_words_of_images(struct debugger *d, struct gdb_lines *words, debug_take_fn *take);
/* Short names of all functions, in the order of the letters; made once. */
const struct gdb_lines *debug_names(struct debugger *d);

/* ---- shell.c: a dump in place of a device ---- */

/* Opens a dump, closes what was open before, and says what stopped it. An exit status. */
int debug_open(struct debugger *d, const char *path);
void debug_close(struct debugger *d);

/* ---- device.c: the device under the session ---- */

/* Makes the session. An exit status. */
int debug_begin(struct debugger *d);
/* Makes the device; it stands before its first instruction. An exit status. */
int debug_make(struct debugger *d);
/* Has the session use a dump, which is closed on failure. An exit status. */
int debug_use(struct debugger *d, struct ws_target *target);
void debug_unmake(struct debugger *d);
/* The thread in focus; all 0: there is none. */
struct ws_focus debug_focus(const struct debugger *d);
/* The session's focus may be another: the frame is its innermost, and its lines come next. */
void debug_follow(struct debugger *d);
bool debug_focus_on(struct debugger *d, uint32_t warp_index, uint32_t lane);
/* False with a word to the user when there is no thread to do that with. */
bool debug_has_thread(const struct debugger *d);

/* ---- stop.c: commands that move it ---- */

/* Lets everything run until something happens, and says what. */
void debug_go(struct debugger *d);
void debug_step(struct debugger *d, enum ws_debug_step_kind how, uint64_t times);
/* The same backwards: STEPI, STEP or NEXT. */
void debug_step_back(struct debugger *d, enum ws_debug_step_kind how, uint64_t times);
/* To the last breakpoint or watchpoint, or to the start. */
void debug_go_back(struct debugger *d);
/* To what wrote a register or memory last: $R3, or as for debug_watch(). */
void debug_last_write(struct debugger *d, const char *text);
/* The thread in focus, if another was told last, and where it is; then displays. */
void debug_print_thread(struct debugger *d);
/* The first part of that. */
void debug_print_switch(struct debugger *d);

/* ---- breakpoints.c ---- */

/* LOCATION [if CONDITION]. False with a word to the user. */
bool debug_break(struct debugger *d, const char *text, bool temporary);
/* EXPRESSION, SPACE:ADDRESS+LENGTH or ADDRESS [LENGTH]; `kinds` of ws_watch_kinds. */
void debug_watch(struct debugger *d, const char *text, uint32_t kinds);
/* The memory that such a text names. False with a word to the user. */
bool debug_memory(struct debugger *d, const char *text, struct ws_debug_memory *ret_memory);
bool debug_breakpoints_list(struct debugger *d, const char *text);
/* Numbers, or none for all. */
enum { DEBUG_DISABLE, DEBUG_ENABLE, DEBUG_DELETE };
void debug_breakpoints_change(struct debugger *d, const char *text, int how);
/* NUMBER [CONDITION] */
void debug_breakpoint_condition(struct debugger *d, const char *text);
/* NUMBER COUNT */
void debug_breakpoint_ignore(struct debugger *d, const char *text);
/* [NUMBER]: takes the lines that follow, up to `end`. */
void debug_breakpoint_commands(struct debugger *d, const char *text);
/* Tells all watchpoints of a stop: old and new value, and by which code. */
void debug_watch_tell(const struct debugger *d, const struct ws_debug_stop *stop);

/* ---- place.c: code and source ---- */

/* FILE:LINE, LINE, FUNCTION or *ADDRESS: its addresses, where threads are stopped if `stops`. False
 * with a word to the user. */
bool debug_locate(struct debugger *d, const char *text, bool stops,
		  struct ws_debug_places *ret_places);
/* The position of the frame in focus, as it is shown; false: not known. */
bool debug_frame_position(struct debugger *d, struct ws_line_pos *ret_position);
/* Where the function starts that code is of; 0: not known. */
uint64_t debug_function_address(const struct debugger *d, uint64_t pc);
/* A line each: "axpy at src/axpy.cu:12", and the instruction. */
void debug_print_place(const struct debugger *d, uint64_t pc);
void debug_print_instruction(struct debugger *d, uint64_t pc);
/* Instructions from an address on, with gdb's marks: => the pc, *> the errorpc, *=> both. */
void debug_print_code(struct debugger *d, uint64_t address, uint64_t count);
/* The instructions around one that are of its line. Returns where they end. */
uint64_t debug_print_line_code(struct debugger *d, uint64_t pc);
/* "Line 12 of "axpy.cu" starts at address 0x7f00 <axpy+48> and ends at ...", and what it is inlined
 * into. False with a word to the user. */
bool debug_print_line(struct debugger *d, uint64_t pc);
/* Where the line after one without code begins: "Line 12 ... but contains no code." */
void debug_print_line_without_code(struct debugger *d, uint64_t pc, uint32_t line);
/* All code of the function that an address is in, as gdb dumps it. */
void debug_print_function(struct debugger *d, uint64_t address);
/* Whether a path ends with a name. */
bool debug_is_file(const struct ws_line_file *file, const char *name, size_t len);
/* "axpy(int) + 48 in section .text._Z4axpyi"; `text`: what the user called the address. False with
 * a word to the user. */
bool debug_print_symbol(struct debugger *d, uint64_t address, const char *text);

/* ---- echo.c ---- */

void debug_echo(struct debugger *d, const char *text);
/* "FORMAT", EXPRESSION... */
void debug_printf(struct debugger *d, const char *text);
/* Executes what that would print. */
void debug_eval(struct debugger *d, const char *text);

/* ---- value.c: expressions ---- */

/* Says what went wrong, if it did. */
bool debug_good(enum ws_status st, const struct ws_error *err);
/* Whether a text is $ and the name of a register. */
bool debug_register(const char *text, enum ws_reg_kind *ret_kind, uint32_t *ret_number);
/* An expression in the frame in focus, of which no part changes later but large ones. False with a
 * word to the user. */
bool debug_value(struct debugger *d, const char *text, struct ws_value *ret_value);
/* Has `d->vars` look at the frame in focus, in the user's style. */
bool debug_vars(struct debugger *d, struct ws_error *err);
/* The same without the word. */
bool debug_peek(struct debugger *d, const char *text, struct ws_value *ret_value,
		struct ws_error *err);
/* Where a pointer leads to, or that many bytes of generic memory. False likewise. */
bool debug_address(struct debugger *d, const char *text, struct ws_address *ret_at);
/* [/FORMAT] EXPRESSION, or VARIABLE = EXPRESSION, or --lanes and what the verb takes */
void debug_print(struct debugger *d, const char *text);
/* Prints an expression, unless it is void. */
void debug_call(struct debugger *d, const char *text);
/* Prints an expression without its number and the end of the line. */
void debug_output(struct debugger *d, const char *text);
/* The type of an expression, or one by its words: with its members, or its name. False with a word
 * to the user. */
bool debug_type(struct debugger *d, const char *text);
bool debug_type_name(struct debugger *d, const char *text);
/* Gives $NAME a value. */
void debug_name(struct debugger *d, const char *name, const struct ws_value *value);
/* Whether a text is an assignment to a variable that there is. */
bool debug_is_variable(struct debugger *d, const char *text);
/* WHAT = EXPRESSION, of a variable, $NAME, $REGISTER or *(TYPE *)ADDRESS. False with a word to the
 * user. */
bool debug_set(struct debugger *d, const char *text);

/* ---- layout.c ---- */

/* A structure or union with the offsets and sizes of its members; false: the type is none, and
 * nothing is printed. */
bool debug_print_layout(struct debugger *d, const struct ws_vtype *type);

/* ---- examine.c ---- */

/* x[/FORMAT] [ADDRESS] */
void debug_examine(struct debugger *d, const char *text);

/* ---- display.c: what is printed at each stop ---- */

/* [/FORMAT EXPRESSION]; without one all are printed. */
void debug_display(struct debugger *d, const char *text);
/* Numbers, or none for all. */
void debug_displays_change(struct debugger *d, const char *text, int how);
bool debug_display_list(struct debugger *d, const char *text);
void debug_display_all(struct debugger *d);
void debug_display_fini(struct debugger *d);

/* ---- list.c: sources ---- */

/* [LOCATION], FIRST,LAST, "-" or nothing: the next lines. False with a word to the user. */
bool debug_list_lines(struct debugger *d, const char *text);
/* REGEX: the next line behind those that were listed, or before them, that matches. */
void debug_search(struct debugger *d, const char *text, int back);
/* "12\t    x = y;" of the thread in focus; false: there is no source. */
bool debug_list_line(struct debugger *d);
/* "12\tin FILE" instead. */
void debug_list_missing(struct debugger *d);
/* Lines of another place come next. */
void debug_list_here(struct debugger *d);
/* The source that the function at an address was compiled of; false: its image does not say. */
bool debug_unit_at(const struct ws_target *target, uint64_t pc, struct ws_dwarf_unit *ret_unit);
/* The name of its language, "unknown" for another. */
const char *debug_language(const struct ws_dwarf_unit *unit);
/* What gdb says of the file that the thread is in; false: of none. */
bool debug_list_info(struct debugger *d, const char *text);
/* [DIR...] */
void debug_directory(struct debugger *d, const char *text);
void debug_show_directories(struct debugger *d, const char *text);
/* FROM TO */
void debug_substitute(struct debugger *d, const char *text);
void debug_list_fini(struct debugger *d);

#endif
