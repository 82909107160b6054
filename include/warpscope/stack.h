/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The stack of a thread as people read it: frames with numbers, of which functions that are inlined
 * have their own, with their arguments.
 *
 * **Threads.** One at a time. **Ownership.** The threads must outlive it. What is borrowed from it
 * is valid until it is closed.
 */
#ifndef WARPSCOPE_STACK_H
#define WARPSCOPE_STACK_H

#include <warpscope/line.h>
#include <warpscope/threads.h>
#include <warpscope/vars.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which arguments are shown with a frame: gdb's `print frame-arguments`. */
enum ws_stack_arguments {
	WS_ARGUMENTS_SCALARS, /**< "..." for the others */
	WS_ARGUMENTS_ALL,
	WS_ARGUMENTS_NONE,     /**< "..." for each */
	WS_ARGUMENTS_PRESENCE, /**< "..." for any */
};

struct ws_stack_frame {
	uint32_t level; /**< of the frame of machine code that it is in (vars.h) */
	uint32_t nth;   /**< of the positions there, 0: the innermost */
	bool inlined;
	bool has_position;
	struct ws_line_pos position;
};

/** Whether a variable is wanted, by its name and the words of its type. */
typedef bool ws_stack_wants_fn(void *user, struct ws_str name, const char *type);

/** Fill it with ws_stack_open(). */
struct ws_stack {
	const struct ws_threads *threads; /**< borrowed; the thread is their focus */
	struct ws_vars *vars;             /**< owned; how values are printed is set there */
	struct ws_stack_frame *frames;    /**< owned */
	size_t n_frames;
	size_t at;                         /**< the frame that is looked at: ws_stack_select() */
	enum ws_stack_arguments arguments; /**< set it at any time */
	ws_stack_wants_fn *wants;          /**< of variables in lists; NULL: all. Set it likewise */
	void *wants_user;
	struct ws_stack_room *room; /**< private */
};

/** The stack of the thread in focus, which stays in focus while it is open. It looks at the
 * innermost frame. @retval WS_ABSENT  no thread is in focus. Others as ws_vars_look(). */
WS_API enum ws_status ws_stack_open(struct ws_stack *stack, const struct ws_threads *threads,
				    struct ws_error *err) WS_MUST_USE;
/** Also of one that is all zero. */
WS_API void ws_stack_close(struct ws_stack *stack);
/** Looks at another of the frames, as ws_vars_select(). */
WS_API enum ws_status ws_stack_select(struct ws_stack *stack, size_t number,
				      struct ws_error *err) WS_MUST_USE;
/** Whether a frame is of a function that a person names. */
WS_API bool ws_stack_is_function(const struct ws_stack *stack, size_t number, const char *name);

/** "inner": the function of a frame. */
WS_API void ws_stack_name_text(const struct ws_stack *stack, size_t number, struct ws_out *out);
/** "#1  0x00007c0000001c30 in inner (depth=2) at v.cu:30"; without its `place` what is behind "in".
 * Fails as ws_stack_select(). @retval WS_NO_MEMORY */
WS_API enum ws_status ws_stack_frame_text(struct ws_stack *stack, size_t number, bool place,
					  struct ws_out *out, struct ws_error *err) WS_MUST_USE;
/** A frame as an object; `full`: with the variables. Fails as ws_stack_frame_text(). */
WS_API enum ws_status ws_stack_frame_json(struct ws_stack *stack, size_t number, bool full,
					  struct ws_json *json, struct ws_error *err) WS_MUST_USE;

enum ws_arguments_form {
	WS_ARGUMENTS_IN_FRAME, /**< " (depth=2, v=...)"; nothing for an inlined one without any */
	WS_ARGUMENTS_IN_TABLE, /**< "(depth=2)", without the texts that pointers lead to */
	WS_ARGUMENTS_BARE,     /**< " depth=2, v=..." */
};
/** The arguments of the frame that is looked at; those of a kernel also without -G.
 * @retval WS_NO_MEMORY */
WS_API enum ws_status ws_stack_arguments_text(struct ws_stack *stack, enum ws_arguments_form form,
					      struct ws_out *out, struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
