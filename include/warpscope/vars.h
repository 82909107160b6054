/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Stacks, variables and expressions of a stopped thread, as a debugger prints them.
 *
 * A `struct ws_vars` looks at one frame of one thread of a target. An *expression* is written as
 * cuda-gdb's users write them: variables, members, `a[2]`, `a[0:8]`, `a[0]@4`, casts, `*`, `&`,
 * `kernel::i` of the frame of that function, `'file.cu'::i`, `::i` of the image, a name in quotes,
 * arithmetic, comparison, `sizeof`, `$_isvoid()`, short texts, registers (`$R3 $RD4 $P0 $UR4 $UP1
 * $B2 $RZ $pc $errorpc`), `$_cuda_const_bank(BANK, OFFSET)`, names of a client (ws_vars_name_fn),
 * `threadIdx blockIdx blockDim gridDim clusterIdx clusterDim warpSize`, and memory of a space
 * (`*(@shared int *)0x20`, with cuda-gdb's words for spaces).
 *
 * **What is not there is told apart**: WS_VALUE_GONE, ..._NOT_HERE, ..._NOT_SAVED, and memory or
 * registers that the target does not have.
 *
 * **Bounds.** Everything may be hostile, also the expression: depth, memory and output of one value
 * are bounded. **Threads.** One `struct ws_vars` at a time from one thread.
 */
#ifndef WARPSCOPE_VARS_H
#define WARPSCOPE_VARS_H

#include <warpscope/cubin.h>
#include <warpscope/focus.h>
#include <warpscope/out.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WS_VARS_MAX_FRAMES = 2048, /**< of a stack; deeper ones are left out */
	WS_VARS_MAX_LIST = 4096,   /**< variables of one frame */
};

/* ---- frames ---- */

/**
 * One level of a thread's stack. Functions that were inlined are within a level. Where the thread
 * is in a system call, as in a failed assert, level 0 is the function that made it, as in cuda-gdb;
 * registers of the thread ($R3, $pc) are then still those of where it is.
 */
struct ws_frame {
	uint32_t level;
	bool is_caller;
	uint64_t pc; /**< the next instruction; of a caller where the call returns to. A host
			address if `status` is WS_UNSUPPORTED: of the classic back end */
	enum ws_status status; /**< why nothing is known of the code; WS_OK: `place` */
	struct ws_place place; /**< of a caller: the last byte of the call */
	uint64_t rel_pc;       /**< of `pc` in its function */
};

struct ws_vars;

/** The target must outlive it. It looks at no thread. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_vars_create(const struct ws_target *target, struct ws_vars **ret_vars,
				     struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_vars_destroy(struct ws_vars *vars);
/** Looks at the innermost function of a thread from now on, also where it is inlined, in the target
 * as it stands. `focus` is copied; NULL: at no thread. Fails as ws_target_lane() and
 * ws_target_call_stack(). */
WS_API enum ws_status ws_vars_look(struct ws_vars *vars, const struct ws_focus *focus,
				   struct ws_error *err) WS_MUST_USE;
/** How many frames the thread has; 0: it looks at no thread. */
WS_API uint32_t ws_vars_frames(const struct ws_vars *vars);
/** `level` must be below the count. */
WS_API const struct ws_frame *ws_vars_frame(const struct ws_vars *vars, uint32_t level);
/** How many frames of system calls there are within level 0. */
WS_API uint32_t ws_vars_frames_in_system(const struct ws_vars *vars);
/** Return addresses that were left out. */
WS_API uint32_t ws_vars_frames_left_out(const struct ws_vars *vars);
/** Looks at another frame: at the function that has its code. @retval WS_ABSENT  no such frame. */
WS_API enum ws_status ws_vars_select(struct ws_vars *vars, uint32_t level,
				     struct ws_error *err) WS_MUST_USE;
/**
 * Looks at a function that is inlined in a frame: at `position` of those that ws_cubin_line_find()
 * has for it, of which 0 is the innermost and the last is as ws_vars_select(). Names are those of
 * its variables then. Where the debug information has other calls there than the line map, they
 * are those of all functions in scope, but lists are empty. @retval WS_ABSENT  no such frame.
 */
WS_API enum ws_status ws_vars_select_inlined(struct ws_vars *vars, uint32_t level,
					     uint32_t position, struct ws_error *err) WS_MUST_USE;

/** Where in local memory the frame that it looks at begins: its caller's stack pointer, as call
 * frames have it. @retval WS_ABSENT  nothing tells. */
WS_API enum ws_status ws_vars_frame_address(struct ws_vars *vars, uint64_t *ret_address,
					    struct ws_error *err) WS_MUST_USE;
/** Where in local memory the function of that frame saved a register R of its caller.
 * @retval WS_ABSENT  it did not, or nothing tells. */
WS_API enum ws_status ws_vars_saved_register(struct ws_vars *vars, uint32_t number,
					     uint64_t *ret_address,
					     struct ws_error *err) WS_MUST_USE;

/* ---- values ---- */

/** A type: one of debug information or of C, under pointers and arrays that an expression adds. */
struct ws_vtype {
	const struct ws_dwarf *dwarf; /**< NULL: `type` is an index of the types of C */
	uint64_t type;
	uint32_t n_added; /**< innermost first */
	struct ws_vtype_added {
		bool is_pointer; /**< else an array of `count` */
		bool is_bare;    /**< its space was not said; it is the generic one */
		uint8_t space;   /**< of a pointer: enum ws_space that it points to */
		uint64_t count;
	} added[6];
};

enum ws_value_kind {
	WS_VALUE_BYTES,     /**< in `bytes` */
	WS_VALUE_MEMORY,    /**< at `at`, read when it is needed */
	WS_VALUE_GONE,      /**< the compiler left the variable out */
	WS_VALUE_NOT_HERE,  /**< no place of it is valid at this pc */
	WS_VALUE_NOT_SAVED, /**< in a register of a caller that nobody saved */
	WS_VALUE_MISSING,   /**< the target does not have it: `status` */
};

struct ws_value {
	enum ws_value_kind kind;
	struct ws_vtype type;
	struct ws_address at;
	enum ws_status status;      /**< WS_VALUE_MISSING */
	uint8_t bytes[32];          /**< WS_VALUE_BYTES */
	uint32_t bit_off, bit_size; /**< of a bit-field; bit_size 0: none */
	bool in_register; /**< it is what R, UR, P, UP or B number `reg` holds: `reg_kind` */
	enum ws_reg_kind reg_kind;
	uint32_t reg;
	uint16_t source; /**< the evaluator's own, see ws_vars_condition() */
};

/** A number. */
struct ws_number {
	bool is_float, is_unsigned;
	int64_t whole; /**< of a float: cut */
	double real;   /**< of all */
};

/**
 * Evaluates an expression in the frame that is looked at. @retval WS_ARGUMENT  it is not
 * understood, or asks for what cannot be; the message is a sentence without its full stop.
 * A variable that is not there is an answer: see `kind`.
 */
WS_API enum ws_status ws_vars_evaluate(struct ws_vars *vars, const char *text,
				       struct ws_value *ret_value,
				       struct ws_error *err) WS_MUST_USE;

/** What `$NAME` is that is no register, as a prompt's own variables, or `$NAME("ARGUMENT")`; false:
 * nothing. */
typedef bool ws_vars_name_fn(void *user, struct ws_str name, struct ws_str argument,
			     struct ws_value *ret_value);
/** Makes a value bytes that no change of the target changes, where it is at most 32 of them.
 * Fails as reading memory does. */
WS_API enum ws_status ws_vars_keep(struct ws_vars *vars, struct ws_value *value,
				   struct ws_error *err) WS_MUST_USE;
/** A whole number of C's type int, or long. */
WS_API struct ws_value ws_value_int(int64_t number);
/** An array of characters, the first 31 of a text. */
WS_API struct ws_value ws_value_text(struct ws_str text);
/** An address of code. */
WS_API struct ws_value ws_value_address(uint64_t address);
/** No value. */
WS_API struct ws_value ws_value_void(void);
/** A type by its words, or that of an expression. Fails as ws_vars_evaluate(). */
WS_API enum ws_status ws_vars_type(struct ws_vars *vars, const char *text,
				   struct ws_vtype *ret_type, struct ws_error *err) WS_MUST_USE;
/** The value of a scalar. @retval WS_ARGUMENT  it is none.  @retval WS_ABSENT and others: the
 * value is not there. */
WS_API enum ws_status ws_vars_number(struct ws_vars *vars, const struct ws_value *value,
				     struct ws_number *ret_number,
				     struct ws_error *err) WS_MUST_USE;
/** How many bytes a value has. @retval WS_ARGUMENT, WS_MALFORMED  its type does not tell. */
WS_API enum ws_status ws_vars_size(const struct ws_value *value, uint64_t *ret_bytes,
				   struct ws_error *err) WS_MUST_USE;
/** Puts a number where a value is: memory, or a register. `target` is that of `vars`.
 * @retval WS_ARGUMENT  the value is in neither, or no scalar. Others as ws_target_write_*(). */
WS_API enum ws_status ws_vars_store(struct ws_vars *vars, struct ws_target *target,
				    const struct ws_value *to, const struct ws_number *number,
				    struct ws_error *err) WS_MUST_USE;

/** The register that a name is: "R3", "UP0", of "RD4" the first. False: none. */
WS_API bool ws_register_find(const char *name, enum ws_reg_kind *ret_kind, uint32_t *ret_number);

/** How a value is printed. */
struct ws_value_format {
	char letter;   /**< x z d u o t c f a s, or 0: as its type is printed */
	bool is_whole; /**< as `print` does: pointers and references with their types */
	bool is_flat;  /**< on one line, whatever the style */
};

/** How much of a value is printed; all 0, which is gdb's default, until ws_vars_set_style(). */
struct ws_value_style {
	uint32_t elements; /**< of arrays and texts, 65,536 at most; 0: 200 */
	uint32_t repeats;  /**< as many equal ones are counted instead; 0: 10 */
	bool is_pretty;    /**< each member of a structure on a line of its own */
	bool has_indexes;  /**< before each element of an array */
	uint32_t radix;    /**< of whole numbers: 8 or 16; 0: 10 */
};

/** Of all values that are printed from now on. */
WS_API void ws_vars_set_style(struct ws_vars *vars, struct ws_value_style style);

/** Prints it on one line unless the style is pretty, as gdb does. For a value that is not there,
 * which cannot be read, or is too large, it prints why between < and >, and the answer is that:
 * WS_ABSENT of the kinds that have no status of their own. */
WS_API enum ws_status ws_vars_print(struct ws_vars *vars, const struct ws_value *value,
				    struct ws_value_format format, struct ws_out *out);
/** Its type, as C++ writes it, into `ret_text` (always terminated). */
WS_API void ws_vars_spell(const struct ws_vars *vars, const struct ws_vtype *type, char *ret_text,
			  size_t size);
/** A type with the spaces that pointers lead to, as cuda-gdb writes them: `@shared float*`. */
WS_API void ws_vars_spell_spaces(const struct ws_vars *vars, const struct ws_vtype *type,
				 char *ret_text, size_t size);
/** A type without aliases, and with the members of a structure, a line each, as gdb's ptype. */
WS_API void ws_vars_describe(struct ws_vars *vars, const struct ws_vtype *type, struct ws_out *out);
/** The characters of an array of them, or of what a pointer leads to, up to a NUL byte or `size` -
 * 1, into `ret_text` (always terminated). @retval WS_ARGUMENT  it is neither. Others as reading
 * memory. */
WS_API enum ws_status ws_vars_text(struct ws_vars *vars, const struct ws_value *value,
				   char *ret_text, size_t size, struct ws_error *err) WS_MUST_USE;
/** What `print` says instead of a value that is not there; "" for one that is. */
WS_API const char *ws_value_missing_text(const struct ws_value *value);

/* ---- conditions ---- */

/** An expression that an engine asks, see ws_target_stop_if(). */
struct ws_condition;

/**
 * Evaluates an expression in the innermost frame, and makes of it what tells the same for any
 * thread at this pc, without the target. @retval WS_UNSUPPORTED  it is made of more than registers,
 * numbers, what CUDA gives each thread, and memory at addresses of these. @retval WS_ARGUMENT  it
 * is not understood, in no thread at this pc. Others as ws_vars_evaluate() and ws_vars_number().
 */
WS_API enum ws_status ws_vars_condition(struct ws_vars *vars, const char *text,
					struct ws_condition **ret_condition,
					struct ws_error *err) WS_MUST_USE;
/** Lanes that it holds for, or for which it cannot be told: what it reads is not there. For any
 * thread. The first argument is a struct ws_condition. */
WS_API ws_stop_if_fn ws_condition_holds;

/** What it is in a lane. */
struct ws_lane_number {
	struct ws_number number;
	uint64_t bits; /**< of its type, see ws_condition_value() */
};

/** The expression in the lanes of `arrival`, any at this pc: one number for each of them at the
 * index of the lane. Returns the lanes for which it can be told. */
WS_API uint32_t ws_condition_read(const struct ws_condition *condition,
				  const struct ws_arrival *arrival,
				  struct ws_lane_number ret_numbers[WS_MAX_LANES]) WS_MUST_USE;
/** Whether its bits are all that is printed: no pointer to characters, whose text is shown. */
WS_API bool ws_condition_is_plain(const struct ws_condition *condition);
/** What the bits of a number of ws_condition_read() are as a value; equal bits are equal values. */
WS_API struct ws_value ws_condition_value(const struct ws_condition *condition, uint64_t bits);
/** NULL is fine. */
WS_API void ws_condition_free(struct ws_condition *condition);

/** One variable of a frame with its value. */
struct ws_variable_value {
	struct ws_dwarf_variable variable;
	struct ws_value value;
};

/**
 * Parameters and variables in scope, outer blocks first; the first `cap` go to `ret_list`.
 * @retval WS_ABSENT  no debug information of the function: not compiled with -G.
 */
WS_API enum ws_status ws_vars_list(struct ws_vars *vars, struct ws_variable_value *ret_list,
				   size_t cap, size_t *ret_n, struct ws_error *err) WS_MUST_USE;

/**
 * Writes where a variable of the frame that is looked at is: "$R4 and $R5", "(@local) 0xfffb40".
 * Registers are those of the frame's function, which in a caller may since hold something else.
 * @retval WS_ABSENT  it has no place here; nothing is written.
 */
WS_API enum ws_status ws_vars_print_place(struct ws_vars *vars,
					  const struct ws_variable_value *variable,
					  struct ws_out *out);

/* ---- code without debug information ---- */

/** A parameter of a kernel that was not compiled with -G: `arg0` is the first. */
struct ws_kernel_param {
	char name[12];
	struct ws_str type;   /**< as the mangled name of the kernel tells it; empty: it does not */
	uint32_t bank_offset; /**< where it begins in constant bank 0 */
	uint32_t size_bytes;
	struct ws_value value;
};

/**
 * The parameters of the kernel whose frame is looked at, by their offsets; the first `cap` go to
 * `ret_list`, whose texts are valid until the next call. An expression can name them.
 * @retval WS_ABSENT  the frame is not of a kernel, or has variables: see ws_vars_list(). Others as
 * ws_cubin_function_info().
 */
WS_API enum ws_status ws_vars_params(struct ws_vars *vars, struct ws_kernel_param *ret_list,
				     size_t cap, size_t *ret_n, struct ws_error *err) WS_MUST_USE;

/** How sure it is what a register holds. */
enum ws_held_doubt {
	WS_HELD_CERTAIN,  /**< the code leaves no other way, and the value is the same */
	WS_HELD_LIKELY,   /**< it was read from memory, which still has it; or a callee keeps to
			       the convention, no pointer hit a stack slot, an indirect branch goes
			       nowhere else; or the parameters are not there to compare */
	WS_HELD_POSSIBLE, /**< not every bit of an instruction on the way is known */
};

/** A register, or two, whose value the code computes from parameters and the place of the thread.
 */
struct ws_held {
	enum ws_reg_kind kind; /**< WS_REG_R or WS_REG_UR */
	uint32_t number, n;    /**< `n` 1 or 2 */
	uint64_t value;
	char text[160]; /**< "arg2 + 4*threadIdx.x" */
	enum ws_held_doubt doubt;
};

/**
 * What registers of the innermost frame hold where the code was not compiled with -G; the first
 * `cap` go to `ret_list`. A register that does not have the value that the code says is left out:
 * its instruction has not ended yet, or something else wrote it.
 * @retval WS_ABSENT  another frame is looked at; and as ws_vars_params().
 */
WS_API enum ws_status ws_vars_held(struct ws_vars *vars, struct ws_held *ret_list, size_t cap,
				   size_t *ret_n, struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
