/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share.
 *
 *   the target, the focus, expressions      session.c
 *   a place of the source -> code, and back place.c
 *   breakpoints: made, planted, hit         breakpoints.c
 *   watchpoints: the same                   watch.c
 *   running, and what a stop means          run.c
 *   steps, also backwards                   step.c
 *   going back                              back.c
 *   values: kept, named, assigned           values.c; cuda-gdb's own: cuda.c
 *   a software GPU, a provider              source.c
 *   a host program: started, attached to    program.c
 *   a process under ptrace, its symbols     host.c, host_symbol.c (host.h)
 */
#ifndef WSI_DEBUG_SESSION_H
#define WSI_DEBUG_SESSION_H

#include <warpscope/cudadebugger.h>
#include <warpscope/debug.h>

#include <stdatomic.h>

#include "base/base.h"
#include "base/map.h"

/* A list of addresses, each once. */
struct wsi_places {
	uint64_t *pc; /* owned */
	size_t n, cap;
};

struct wsi_debug_breakpoint {
	struct ws_debug_breakpoint is; /* what clients see: texts and lists are those below */
	bool is_removed;               /* it is nothing but its number */
	char *where, *condition;       /* owned */
	struct wsi_places places;      /* owned */
	struct ws_condition **asked;   /* owned, and they are; of each pc, what the engine asks
					  instead of us. NULL: none, or not known yet */
	size_t n_asked;
	char *text;            /* owned: the commands, one behind the other */
	const char **commands; /* owned */
	bool of_thread;        /* memory of `owner`, or of its block */
	struct ws_debug_thread owner;
	uint32_t target_number; /* the target's number of a watchpoint */
};

struct wsi_named_value {
	char *name; /* owned */
	struct ws_value value;
	uint32_t next; /* from 1: another whose hash is the same; 0: none */
};

struct ws_debug {
	struct ws_debug_client client;
	struct ws_target *target;    /* borrowed, or one of those below; or NULL */
	struct ws_target *made;      /* owned; over an API */
	struct ws_target *device;    /* owned; over `sim` */
	struct ws_sim *sim;          /* borrowed */
	CUDBGAPI api;                /* owned; of `device` */
	struct wsi_program *program; /* owned; NULL: none */
	struct ws_debug_news news;   /* the program's last */
	struct ws_vars *vars;        /* owned; NULL until an expression is evaluated */
	enum ws_debug_state state;
	atomic_bool is_interrupted;
	bool has_focus;
	struct ws_focus focus;         /* of the target as it stands */
	struct ws_debug_thread thread; /* the same */
	uint32_t level, position;      /* of the frame that is looked at */
	bool has_asked;
	struct ws_focus asked; /* that the evaluator looks at */
	uint64_t owed;         /* an event that the program waits for us to acknowledge; 0: none */
	uint64_t before;       /* generation of the target when it was moved last */
	struct wsi_debug_breakpoint *breakpoints; /* owned; by number */
	size_t n_breakpoints, n_removed, cap_breakpoints;
	unsigned last_number;
	struct wsi_map planted;           /* owned: how many enabled ones are at an address */
	struct wsi_debug_breakpoint told; /* owned: the temporary one of the last stop */
	struct wsi_places found;          /* owned: of the last ws_debug_locate() */
	struct ws_debug_hit *hits;        /* owned: of the last stop */
	size_t n_hits, cap_hits;
	struct ws_value *kept; /* owned; $1 is the first */
	size_t n_kept, cap_kept;
	struct wsi_named_value *named; /* owned */
	size_t n_named, cap_named;
	struct wsi_map names; /* owned: the first of `named` with a hash, from 1 */
};

/* ---- session.c ---- */

/* As ws_debug_use(). `has_begun`: something has run. */
enum ws_status wsi_debug_use(struct ws_debug *d, struct ws_target *target, bool has_begun,
			     struct ws_error *err);
/* The device was moved, and stands: tells what kernels printed, and finds the focus. */
void wsi_debug_stands(struct ws_debug *d);
enum ws_status wsi_debug_no_memory(struct ws_error *err);
/* The focus of a lane of a warp. False: the warp or its block cannot be read. */
bool wsi_debug_focus_of(const struct ws_debug *d, uint32_t warp_index, uint32_t lane,
			struct ws_focus *ret_focus);
void wsi_debug_focus_on(struct ws_debug *d, const struct ws_focus *focus);
/* Of the first of some lanes. False as wsi_debug_focus_of(), and the focus stays. */
bool wsi_debug_focus_on_first(struct ws_debug *d, uint32_t warp_index, uint32_t lanes);
/* The focus of a thread, if it is still there. */
bool wsi_debug_find_thread(const struct ws_debug *d, const struct ws_debug_thread *thread,
			   struct ws_focus *ret_focus);
/* An expression for a thread; NULL: without one. */
enum ws_status wsi_debug_number(struct ws_debug *d, const struct ws_focus *focus, const char *text,
				struct ws_number *ret_number, struct ws_error *err);
/* Whether an expression can be one for a thread that comes to `pc`. */
enum ws_status wsi_debug_can_ask_at(struct ws_debug *d, uint64_t pc, const char *text,
				    struct ws_error *err);
void wsi_debug_tell(const struct ws_debug *d, enum ws_debug_notice_kind kind,
		    const struct wsi_debug_breakpoint *breakpoint, const struct ws_error *err);

/* ---- values.c, cuda.c ---- */

/* A `ws_vars_name_fn`. */
bool wsi_debug_find_name(void *session, struct ws_str name, struct ws_str argument,
			 struct ws_value *ret_value);
/* cuda-gdb's $cuda_NAME, `name` without its "$": void for one that is not known here. False: it
 * does not begin that way. */
bool wsi_debug_cuda_variable(const struct ws_debug *d, struct ws_str name,
			     struct ws_value *ret_value);
void wsi_debug_set_exit_code(struct ws_debug *d, int64_t code);
/* Before the target goes. */
void wsi_debug_values_leave(struct ws_debug *d);
void wsi_debug_values_fini(struct ws_debug *d);

/* ---- source.c ---- */

/* Closes targets that were made here. */
void wsi_source_leave(struct ws_debug *d);
/* Whether all threads that are left wait for each other. */
bool wsi_source_is_stuck(const struct ws_debug *d);
/* Whether all that was launched has ended, with what it launched itself. */
bool wsi_source_is_idle(const struct ws_debug *d);
/* What kernels have printed; the rows may be new. */
void wsi_source_tell_printed(struct ws_debug *d);

/* ---- place.c ---- */

/* Adds one that is new. */
enum ws_status wsi_places_add(struct wsi_places *places, uint64_t pc, struct ws_error *err);
/* As ws_debug_locate(); `tells`: lines that cannot be read are told. */
enum ws_status wsi_debug_locate(struct ws_debug *d, const char *where, bool stops, bool tells,
				struct wsi_places *to, struct ws_error *err);
/* A pc, or the end of the prologue of -G code that it is in. */
uint64_t wsi_debug_past_prologue(const struct ws_debug *d, uint64_t pc);

/* ---- breakpoints.c ---- */

/* Plants all of them in a target that is new. */
void wsi_breakpoints_plant(struct ws_debug *d);
/* An image has come: finds code of it that breakpoints are for. */
void wsi_breakpoints_find(struct ws_debug *d);
/* The breakpoint that a warp hit which has moved, or that the thread in focus was stepped to, and
 * that is to be told; the focus goes to the first lane that its condition holds for. NULL: none. */
struct wsi_debug_breakpoint *wsi_breakpoint_hit(struct ws_debug *d);
struct wsi_debug_breakpoint *wsi_breakpoint_stepped_to(struct ws_debug *d);
/* What a stop shows of one: what is temporary is removed, and kept for the client to read. */
const struct ws_debug_breakpoint *wsi_breakpoint_tell(struct ws_debug *d,
						      struct wsi_debug_breakpoint *hit);
/* Takes over what was made, and gives it its number. `made` is freed on a failure. */
enum ws_status wsi_breakpoint_add(struct ws_debug *d, struct wsi_debug_breakpoint *made,
				  const struct ws_debug_breakpoint **ret_made,
				  struct ws_error *err);
void wsi_breakpoint_fini(struct wsi_debug_breakpoint *one);
void wsi_breakpoints_fini(struct ws_debug *d);
/* Whether a condition holds for a lane. One that cannot be told counts as true, and is told. */
bool wsi_breakpoint_holds(struct ws_debug *d, const struct wsi_debug_breakpoint *one,
			  const struct ws_focus *focus);
/* Counts a hit. False: it is one of those to be passed over. */
bool wsi_breakpoint_counts(struct wsi_debug_breakpoint *one);
/* The texts of a new one. */
enum ws_status wsi_breakpoint_name(struct wsi_debug_breakpoint *made, const char *where,
				   const char *condition, struct ws_error *err);

/* ---- watch.c ---- */

enum ws_status wsi_debug_watch_plant(const struct ws_debug *d,
				     struct wsi_debug_breakpoint *watchpoint, struct ws_error *err);
/* One of memory that is not global belongs to the thread in focus. */
struct wsi_debug_breakpoint
wsi_debug_watch_of(const struct ws_debug *d, const struct ws_debug_memory *memory, uint32_t kinds);
/* Whether watchpoints were hit that are to be told; the focus goes to who did the first. */
bool wsi_debug_watch_hit(struct ws_debug *d);
/* The one that is about to be hit by lanes of a warp: the first that its condition holds for gets
 * the focus. NULL: none, or it does not hold. */
struct wsi_debug_breakpoint *wsi_debug_watch_ahead(struct ws_debug *d,
						   const struct ws_back_found *found);

/* ---- run.c ---- */

/* Takes what the target has to tell, while it stands. */
void wsi_debug_take_events(struct ws_debug *d);
/* Calls `take` for each warp that may have changed since `d->before`, until it returns true. */
typedef bool wsi_debug_take_warp(void *user, uint32_t warp_index, const struct ws_warp *warp);
bool wsi_debug_each_changed(struct ws_debug *d, wsi_debug_take_warp *take, void *user);
/* What stopped the target after a step, which may also have come to a breakpoint; costs what moved.
 * False: nothing. */
bool wsi_debug_after_step(struct ws_debug *d, struct ws_debug_stop *stop);
/* Fills what every stop has. */
void wsi_debug_stop_at(struct ws_debug *d, struct ws_debug_stop *stop);

/* ---- program.c: where there is none, nothing happens ---- */

enum wsi_program_state {
	WSI_PROGRAM_RUNS,
	WSI_PROGRAM_STANDS,
	WSI_PROGRAM_ENDED,
};

void wsi_program_go(struct ws_debug *d);
/* What it came to is told. */
enum wsi_program_state wsi_program_look(struct ws_debug *d);
void wsi_program_halt(struct ws_debug *d);
/* Whether nothing answers for its device any more, which is not known yet. */
bool wsi_program_lost_device(const struct ws_debug *d);
/* Kills it if it was started here, or detaches from it, and closes its target. */
void wsi_program_leave(struct ws_debug *d);

/* ---- back.c ---- */

/* Puts the device back; the focus stays on its thread. */
enum ws_status wsi_debug_back(struct ws_debug *d, const struct ws_back *back,
			      struct ws_back_found *ret_found, struct ws_error *err);

/* Somebody else changed rows: finds the focus again, in its innermost frame. False: its thread has
 * exited; another is chosen if there is one. */
bool wsi_debug_refresh(struct ws_debug *session);

#endif
