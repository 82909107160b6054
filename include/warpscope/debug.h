/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * A debugger's session over any target: the thread in focus, breakpoints, watchpoints, steps,
 * running, going back, and what each stop means. It answers with data; prompts, editors and scripts
 * are its clients, and print.
 *
 *     ws_debug_create
 *       ws_debug_use, _use_sim, _use_provider, _start, _attach     a target; breakpoints that
 *                                there are already are planted in it
 *         ws_debug_break, ws_debug_watch
 *         ws_debug_run, ws_debug_step, ws_debug_go_back    each answers with a struct ws_debug_stop
 *         ws_debug_focus, ws_debug_vars
 *       ws_debug_leave           before the target is closed; another may follow
 *     ws_debug_destroy
 *
 * **Places** are written as gdb's users write them: `FILE:LINE` and `LINE` (or the next of 50 lines
 * that has code), `FUNCTION`, also without its namespaces, and `*EXPRESSION`, an address.
 *
 * **Ownership.** What a function returns is the session's and valid until a breakpoint is made,
 * changed or removed, or the target is moved, whichever comes first.
 *
 * **Errors.** The message is a sentence part for the user. A session over a target that cannot do
 * something, as a dump cannot run, answers WS_UNSUPPORTED as the target does.
 *
 * **Threads.** One thread at a time; only ws_debug_interrupt() may be called from another or from a
 * signal handler.
 */
#ifndef WARPSCOPE_DEBUG_H
#define WARPSCOPE_DEBUG_H

#include <warpscope/cubin.h>
#include <warpscope/focus.h>
#include <warpscope/line.h>
#include <warpscope/sim.h>
#include <warpscope/target.h>
#include <warpscope/vars.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ws_debug;

/* ---- the client ---- */

/** What a client is told while a call goes on. */
enum ws_debug_notice_kind {
	WS_DEBUG_PROBLEM,     /**< something failed, and the call goes on without it */
	WS_DEBUG_NOT_PLANTED, /**< a breakpoint or watchpoint is not in the target, or not out of it
			       */
	WS_DEBUG_CONDITION,   /**< whether a condition holds is not known: it counts as true */
	WS_DEBUG_DEVICE_LOST, /**< the device, with all that was on it */
	WS_DEBUG_PROGRAM_NEWS, /**< as soon as the host program came to something */
	WS_DEBUG_PRINTED,      /**< by kernels of a software GPU, which stands */
};

struct ws_debug_breakpoint;

/** What a host program came to. */
enum ws_debug_news_kind {
	WS_DEBUG_NO_NEWS,
	WS_DEBUG_NO_DRIVER_YET,   /**< it has not loaded the CUDA driver: that is waited for */
	WS_DEBUG_NO_CUDA_YET,     /**< it has not begun to use CUDA: the same */
	WS_DEBUG_CUDA_BEGINS,     /**< it stands where its driver begins */
	WS_DEBUG_CALL_FAILED,     /**< of its driver; `number`: CUresult */
	WS_DEBUG_DRIVER_FAILED,   /**< itself; `number`: CUDBGResult */
	WS_DEBUG_SIGNALED,        /**< by signal `number`, which it gets when it goes on */
	WS_DEBUG_ENDED_BY_SIGNAL, /**< `number` */
	WS_DEBUG_EXITED,          /**< with status `number` */
	WS_DEBUG_BECAME_ANOTHER,  /**< program, and is no longer debugged */
};

enum {
	WS_DEBUG_NEWS_TEXT = 512, /**< bytes of a text, the NUL included */
};

struct ws_debug_news {
	enum ws_debug_news_kind kind;
	uint64_t number;
	/** Of a call that failed; "?": not known. */
	char function[WS_DEBUG_NEWS_TEXT], error[WS_DEBUG_NEWS_TEXT], text[WS_DEBUG_NEWS_TEXT];
};

struct ws_debug_notice {
	enum ws_debug_notice_kind kind;
	const struct ws_debug_breakpoint *breakpoint; /**< NULL: of none */
	const struct ws_error *err;                   /**< NULL: device lost, news, printed */
	const struct ws_debug_news *news;             /**< or NULL */
	struct ws_span printed;
};

/** Who uses a session. Functions get `user`; they may be NULL, and then nothing happens. */
struct ws_debug_client {
	size_t size; /**< sizeof(struct ws_debug_client), as the caller was compiled */
	void *user;
	void (*tell)(void *user, const struct ws_debug_notice *notice);
	/** Functions of expressions that are the client's, `$NAME("ARGUMENT")`; false: none. */
	ws_vars_name_fn *call;
};

/** `client` is copied. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_debug_create(const struct ws_debug_client *client,
				      struct ws_debug **ret_session,
				      struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_debug_destroy(struct ws_debug *session);

/* ---- the target ---- */

/** Where a session is. */
enum ws_debug_state {
	WS_DEBUG_EMPTY,  /**< it has no target */
	WS_DEBUG_FIXED,  /**< its target cannot run: a dump */
	WS_DEBUG_FRESH,  /**< nothing has run yet */
	WS_DEBUG_STANDS, /**< it has run, and stands */
	WS_DEBUG_OVER,   /**< all launches, or the host program, have ended */
	WS_DEBUG_LOST,   /**< the device is lost */
};

/**
 * Takes a target, which must outlive that until ws_debug_leave(). Breakpoints are planted in it;
 * one that cannot be is disabled, and told. Nothing is in focus unless something has run. Fails as
 * ws_target_want(), and then has no target.
 */
WS_API enum ws_status ws_debug_use(struct ws_debug *session, struct ws_target *target,
				   struct ws_error *err) WS_MUST_USE;
/**
 * Takes a software GPU with what is loaded and queued, which stands before its first instruction;
 * once that is done, nothing runs any more. It is borrowed until ws_debug_leave(). `through_api`:
 * through the function table of the debugger API. Fails as ws_sim_target_live(), ws_cudbg_api() and
 * ws_debug_use().
 */
WS_API enum ws_status ws_debug_use_sim(struct ws_debug *session, struct ws_sim *sim,
				       bool through_api, struct ws_error *err) WS_MUST_USE;
/** Takes the device of another provider of the debugger API. Fails as ws_target_open_provider() and
 * ws_debug_use(). */
WS_API enum ws_status ws_debug_use_provider(struct ws_debug *session, const char *library,
					    struct ws_error *err) WS_MUST_USE;
/** The target goes; breakpoints and values stay, and are there for the next one. A host program
 * that was started is killed, one that was attached to goes on. */
WS_API void ws_debug_leave(struct ws_debug *session);
WS_API enum ws_debug_state ws_debug_state(const struct ws_debug *session);
/** Ends what goes on, or what is done next, as soon as possible. */
WS_API void ws_debug_interrupt(struct ws_debug *session);
/** Whether that was called, and nobody has noticed yet; now somebody has. */
WS_API bool ws_debug_interrupted(struct ws_debug *session);
/** Looks whether the device of a host program is lost while it stands, which is told. */
WS_API void ws_debug_listen(struct ws_debug *session);

/* ---- a host program, whose device is the target ---- */
/*
 * It runs and stands with its device. While it waits for the debugger, it does so until the
 * session's next run; breakpoints may be for names that nobody knows before it loads code.
 */

/** How a program is attached to whose driver runs already. */
enum ws_debug_attach_way {
	WS_DEBUG_BY_DESCRIPTOR, /**< that its driver waits at */
	WS_DEBUG_BY_CALL,       /**< of cudbgApiAttach() */
	WS_DEBUG_BY_INIT,       /**< of cudbgApiInit() */
};

/**
 * Starts a program, and stands where its driver begins. It dies with this process until it is
 * there. `argv` as for execvp(). The session has no target before.
 * @retval WS_IO           it cannot be started
 * @retval WS_ABSENT       it has ended without CUDA, or was interrupted before; or has no device
 * @retval WS_UNSUPPORTED  its driver cannot be debugged
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_debug_start(struct ws_debug *session, char *const argv[],
				     struct ws_error *err) WS_MUST_USE;
/** Attaches to a program that runs; if it has not begun to use CUDA, waits for that.
 * @retval WS_ARGUMENT  it has a debugger. Others as ws_debug_start(). */
WS_API enum ws_status ws_debug_attach(struct ws_debug *session, uint32_t pid,
				      enum ws_debug_attach_way how,
				      struct ws_error *err) WS_MUST_USE;
/** Lets it go on as if nobody had been there; ws_debug_leave() does for one that was attached to.
 * False: it has ended meanwhile, which was told. */
WS_API bool ws_debug_detach(struct ws_debug *session);
/** The target that the session has; NULL: none. */
WS_API struct ws_target *ws_debug_target(const struct ws_debug *session);

/* ---- focus ---- */

/** A thread, by what stays the same while the device runs. */
struct ws_debug_thread {
	uint32_t device_id, sm_id, warp_id, lane;
	int64_t grid_id;
	struct ws_dim3 block;
};

/** The thread in focus, in the target as it stands; NULL: there is none. Stays at its address. */
WS_API const struct ws_focus *ws_debug_focus(const struct ws_debug *session);
/** The same thread. False: there is none. */
WS_API bool ws_debug_thread(const struct ws_debug *session, struct ws_debug_thread *ret_thread);
/** Looks at a lane of a warp, in its innermost frame. False: the warp or its block cannot be read,
 * and the focus stays. */
WS_API bool ws_debug_set_focus(struct ws_debug *session, uint32_t warp_index, uint32_t lane);
/** Looks at another frame of that thread, see ws_vars_select_inlined(); 0 and 0: the innermost. */
WS_API void ws_debug_select(struct ws_debug *session, uint32_t level, uint32_t position);

/* ---- code ---- */

/** Where a pc is in the source: the chain, innermost first; n 0: not known. */
struct ws_debug_position {
	struct ws_line_pos chain[WS_LINE_MAX_DEPTH + 1];
	size_t n;
};

/** What code is at a pc; false: none that is known. */
WS_API bool ws_debug_place(const struct ws_debug *session, uint64_t pc, struct ws_place *ret_place);
WS_API void ws_debug_position(const struct ws_debug *session, uint64_t pc,
			      struct ws_debug_position *ret_position);

/** Addresses of code. */
struct ws_debug_places {
	const uint64_t *pc; /**< valid until the next such call */
	size_t n;
};

/**
 * The code of a place. `stops`: where a thread is to be stopped, which is behind the prologue of
 * code that was compiled with -G, unless the place is an address.
 * @retval WS_ABSENT    no code is there
 * @retval WS_ARGUMENT  it is no place, or the expression means nothing
 */
WS_API enum ws_status ws_debug_locate(struct ws_debug *session, const char *where, bool stops,
				      struct ws_debug_places *ret_places,
				      struct ws_error *err) WS_MUST_USE;
/** The code of a line, without those behind it. @retval WS_ABSENT */
WS_API enum ws_status ws_debug_locate_line(struct ws_debug *session, const char *file,
					   uint32_t line, struct ws_debug_places *ret_places,
					   struct ws_error *err) WS_MUST_USE;

/* ---- expressions ---- */

/**
 * The evaluator, looking at the frame in focus; without one, at none. Valid until the next call of
 * the session. Fails as ws_vars_look().
 */
WS_API enum ws_status ws_debug_vars(struct ws_debug *session, struct ws_vars **ret_vars,
				    struct ws_error *err) WS_MUST_USE;
/** An expression in the frame in focus, as ws_vars_keep() leaves it. Fails as ws_vars_evaluate().
 */
WS_API enum ws_status ws_debug_evaluate(struct ws_debug *session, const char *text,
					struct ws_value *ret_value,
					struct ws_error *err) WS_MUST_USE;
/** The number that an expression is in the frame in focus. Fails as ws_vars_evaluate(). */
WS_API enum ws_status ws_debug_number(struct ws_debug *session, const char *text,
				      struct ws_number *ret_number,
				      struct ws_error *err) WS_MUST_USE;

/** Where a pointer leads, or a number of generic memory, or where a structure is. Fails as
 * ws_vars_number(). */
WS_API enum ws_status ws_debug_address(struct ws_debug *session, const char *text,
				       struct ws_address *ret_at, struct ws_error *err) WS_MUST_USE;
/** The instruction that the frame in focus is at; of a caller the call. @retval WS_ABSENT  there is
 * no thread. */
WS_API enum ws_status ws_debug_frame_pc(struct ws_debug *session, uint64_t *ret_pc,
					struct ws_error *err) WS_MUST_USE;

/** Memory that can be watched. */
struct ws_debug_memory {
	struct ws_address at; /**< of other spaces than global memory: of the thread in focus */
	uint64_t size_bytes;
	uint32_t number_bytes;      /**< of the number that its first bytes are, 1 to 8; 0: none */
	bool is_float, is_unsigned; /**< that number */
};

/** The number in memory that an expression is. @retval WS_ARGUMENT  it is none. */
WS_API enum ws_status ws_debug_memory(struct ws_debug *session, const char *text,
				      struct ws_debug_memory *ret_memory,
				      struct ws_error *err) WS_MUST_USE;

/* ---- values ---- */
/*
 * Expressions know those that were kept as gdb's users write them ($1, $, $$, $$3), those that have
 * names ($NAME), `$_exitcode`, and cuda-gdb's ($cuda_focus_sm ...).
 */

/** Keeps a value; `*ret_number` counts from 1. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_debug_keep(struct ws_debug *session, const struct ws_value *value,
				    size_t *ret_number, struct ws_error *err) WS_MUST_USE;
/** NULL: there is none of that number. */
WS_API const struct ws_value *ws_debug_kept(const struct ws_debug *session, uint64_t number);
/** Gives `$NAME` a value; `name` is copied. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_debug_name(struct ws_debug *session, struct ws_str name,
				    const struct ws_value *value, struct ws_error *err) WS_MUST_USE;
/** Those with names, in the order in which they got them, from 0; NULL: no more. */
WS_API const struct ws_value *ws_debug_named(const struct ws_debug *session, size_t index,
					     const char **ret_name);
/** The '=' of an assignment; NULL: the text is none. */
WS_API const char *ws_debug_assignment(const char *text);
/**
 * `WHAT = EXPRESSION`, `WHAT += EXPRESSION` and the like, `WHAT++`, `WHAT--`: of `$NAME`, a
 * variable, a register, or memory.
 * @retval WS_ABSENT       there is no thread, which `$NAME` does not need
 * @retval WS_UNSUPPORTED  the target cannot be changed: a dump
 * @retval WS_ARGUMENT     it is no assignment. Others as ws_vars_evaluate() and ws_vars_store().
 */
WS_API enum ws_status ws_debug_assign(struct ws_debug *session, const char *text,
				      struct ws_error *err) WS_MUST_USE;

/* ---- breakpoints and watchpoints ---- */

/** A breakpoint: one place of the source, or one address, may be several in the code. Or a
 * watchpoint, which is at none. */
struct ws_debug_breakpoint {
	unsigned number; /**< from 1; not used again */
	bool is_temporary, is_enabled;
	uint32_t watches;              /**< ws_watch_kinds; 0: a breakpoint */
	const char *where, *condition; /**< condition NULL: none */
	const uint64_t *pc;            /**< without any: its code is not loaded yet */
	size_t n_pcs;
	uint64_t hits, ignored;      /**< so far; that are still to be passed over */
	const char *const *commands; /**< the client's, see ws_debug_set_commands() */
	size_t n_commands;
	struct ws_debug_memory memory; /**< of a watchpoint */
};

/**
 * Makes a breakpoint. `condition`: NULL, or what must be true for a thread that is stopped; it is
 * evaluated for the thread that comes there. A temporary one is removed when it has stopped a
 * thread.
 * @retval WS_ARGUMENT  the condition means nothing there. Others as ws_debug_locate(), and as
 * ws_target_plant().
 */
WS_API enum ws_status ws_debug_break(struct ws_debug *session, const char *where,
				     const char *condition, bool is_temporary,
				     const struct ws_debug_breakpoint **ret_made,
				     struct ws_error *err) WS_MUST_USE;
/** Makes a watchpoint of memory that the user calls `where`; `kinds` of ws_watch_kinds. Fails as
 * ws_target_watch(). */
WS_API enum ws_status ws_debug_watch(struct ws_debug *session, const char *where,
				     const struct ws_debug_memory *memory, uint32_t kinds,
				     const char *condition,
				     const struct ws_debug_breakpoint **ret_made,
				     struct ws_error *err) WS_MUST_USE;
/** NULL: there is none of that number. O(log breakpoints). */
WS_API const struct ws_debug_breakpoint *ws_debug_breakpoint_find(const struct ws_debug *session,
								  uint64_t number);
/** The first one whose number is above another, 0 for the first of all; NULL: none. */
WS_API const struct ws_debug_breakpoint *ws_debug_breakpoint_next(const struct ws_debug *session,
								  uint64_t number);
/** These do nothing for a number that is not there. */
WS_API void ws_debug_remove(struct ws_debug *session, uint64_t number);
/** Enables it, if it can be planted, or disables it. */
WS_API void ws_debug_enable(struct ws_debug *session, uint64_t number, bool on);
/** Passes over the next hits. */
WS_API void ws_debug_ignore(struct ws_debug *session, uint64_t number, uint64_t count);
/** @retval WS_ARGUMENT  the condition means nothing there. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_debug_set_condition(struct ws_debug *session, uint64_t number,
					     const char *condition,
					     struct ws_error *err) WS_MUST_USE;
/** Lines that the client keeps with a breakpoint, such as what it does once that has stopped: they
 * are copied, and mean nothing to the session. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_debug_set_commands(struct ws_debug *session, uint64_t number,
					    const char *const *lines, size_t n,
					    struct ws_error *err) WS_MUST_USE;

/* ---- running ---- */

/** Why a session stands again. */
enum ws_debug_reason {
	WS_DEBUG_AT_BREAKPOINT, /**< `breakpoint` */
	WS_DEBUG_AT_WATCHPOINT, /**< `hits`; backwards: `breakpoint` is about to be hit */
	WS_DEBUG_AT_FAULT,      /**< `exception` */
	WS_DEBUG_AT_TRAP,       /**< or at a breakpoint in the code that nobody planted */
	WS_DEBUG_AT_LAUNCH,     /**< the first instruction of a kernel, see
				   ws_target_stop_at_launch() */
	WS_DEBUG_STEPPED,       /**< all steps are done, or what was looked for is found */
	WS_DEBUG_THREAD_EXITED, /**< that was stepped */
	WS_DEBUG_NO_CALLER,     /**< the kernel itself cannot be finished */
	WS_DEBUG_NO_END,        /**< of a step, in WS_DEBUG_MAX_STEPS instructions */
	WS_DEBUG_INTERRUPTED,
	WS_DEBUG_DEADLOCK,       /**< all threads that are left wait for each other */
	WS_DEBUG_ALL_ENDED,      /**< all launches */
	WS_DEBUG_HISTORY_BEGINS, /**< or, of what was looked for, nothing is in it */
	WS_DEBUG_AT_PROGRAM,     /**< the host program came to something */
	WS_DEBUG_PROGRAM_GONE,   /**< it has ended */
	WS_DEBUG_NO_DEVICE,      /**< it is lost */
};

enum {
	WS_DEBUG_MAX_STEPS = 10 * 1000 * 1000, /**< instructions of one step */
};

/** A watchpoint that was hit. */
struct ws_debug_hit {
	const struct ws_debug_breakpoint *watchpoint;
	struct ws_watch_hit access;
	bool has_number;        /**< the watched number is known: */
	uint8_t old[8], now[8]; /**< its bytes before and after */
};

/** A stop. What it leads to is the session's until it moves again. */
struct ws_debug_stop {
	enum ws_debug_reason reason;
	const struct ws_debug_breakpoint *breakpoint; /**< NULL: none; a temporary one is removed
							 already */
	const struct ws_debug_hit *hits;
	size_t n_hits;
	uint32_t exception;               /**< CUDBGException_t; 0: none */
	const struct ws_debug_news *news; /**< of the host program; NULL: none */
	bool has_thread;                  /**< somebody is in focus, */
	uint64_t pc;                      /**< and is here */
};

enum ws_debug_step_kind {
	WS_DEBUG_STEPI,  /**< one instruction */
	WS_DEBUG_NEXTI,  /**< over calls */
	WS_DEBUG_STEP,   /**< to another source line, behind the prologue of what is called */
	WS_DEBUG_NEXT,   /**< over calls and inlined calls */
	WS_DEBUG_UNTIL,  /**< as next, but not back to where a loop begins again */
	WS_DEBUG_FINISH, /**< out of the function, or the inlined call */
};

/**
 * Lets everything run until something happens. Fails as ws_target_resume(), ws_target_suspend() and
 * ws_target_update().
 */
WS_API enum ws_status ws_debug_run(struct ws_debug *session, struct ws_debug_stop *ret_stop,
				   struct ws_error *err) WS_MUST_USE;
/** Steps the thread in focus `times` times, or until something else stops it. @retval WS_ABSENT
 * there is no thread. Others as ws_target_step(). */
WS_API enum ws_status ws_debug_step(struct ws_debug *session, enum ws_debug_step_kind how,
				    uint64_t times, struct ws_debug_stop *ret_stop,
				    struct ws_error *err) WS_MUST_USE;
/** The same backwards: STEPI, STEP or NEXT. Fails as ws_target_go_back(). */
WS_API enum ws_status ws_debug_step_back(struct ws_debug *session, enum ws_debug_step_kind how,
					 uint64_t times, struct ws_debug_stop *ret_stop,
					 struct ws_error *err) WS_MUST_USE;
/** Back to the last breakpoint or watchpoint, or to where history begins. */
WS_API enum ws_status ws_debug_run_back(struct ws_debug *session, struct ws_debug_stop *ret_stop,
					struct ws_error *err) WS_MUST_USE;
/** Back to what wrote a register of the thread in focus last. @retval WS_ABSENT  no thread. */
WS_API enum ws_status ws_debug_register_writer(struct ws_debug *session, enum ws_reg_kind kind,
					       uint32_t number, struct ws_debug_stop *ret_stop,
					       struct ws_error *err) WS_MUST_USE;
/** Back to what wrote memory last, whose thread gets the focus. */
WS_API enum ws_status ws_debug_memory_writer(struct ws_debug *session,
					     const struct ws_debug_memory *memory,
					     struct ws_debug_stop *ret_stop,
					     struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
