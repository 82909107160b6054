/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The GPU's exceptions: numbers, names, words, meaning, what to check.
 *
 * **Two numberings.** `code` is the number that a dump stores and that the driver's progress log
 * prints (CUDBGException_t). The number after "CUDA_EXCEPTION_" in cuda-gdb's messages is a
 * different one: equal for most, shifted or swapped for some (17 and 18 are exchanged). Show
 * cuda-gdb's number only through `cuda_gdb`.
 *
 * **Precision has two parts.** `knows_instruction`: the error PC names the instruction.
 * `knows_lane`: the guilty thread is known; else the lanes that were active at the fault are
 * suspects.
 *
 * The table is constant; all strings have static storage; any thread may read it.
 */
#ifndef WARPSCOPE_EXCEPTION_H
#define WARPSCOPE_EXCEPTION_H

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Code of an error that the driver itself could not classify. */
#define WS_EXCEPTION_UNKNOWN UINT32_MAX

/** Families, for headings and for grouping: the same bug can have different codes on two driver
 * versions.
 */
#define WS_EXCEPTION_FAMILY_LIST(X)                               \
	X(UNKNOWN, "unknown GPU error")                           \
	X(ADDRESS, "illegal memory access")                       \
	X(SPACE, "access outside its memory space")               \
	X(ALIGNMENT, "misaligned access")                         \
	X(CONTROL_FLOW, "jump to a bad address")                  \
	X(INSTRUCTION, "instruction that cannot be executed")     \
	X(STACK, "stack problem")                                 \
	X(STOP, "the program stopped itself")                     \
	X(CLUSTER, "bad access to another block's shared memory") \
	X(BARRIER, "barrier misuse")                              \
	X(TENSOR, "tensor memory problem")                        \
	X(ATOMIC, "unsupported atomic or failed device call")

enum ws_exception_family {
#define X(name, text) WS_FAMILY_##name,
	WS_EXCEPTION_FAMILY_LIST(X)
#undef X
};

/** What an exception is reported for. */
enum ws_exception_scope {
	WS_SCOPE_UNKNOWN,
	WS_SCOPE_LANE,
	WS_SCOPE_WARP,
	WS_SCOPE_CLUSTER,
	WS_SCOPE_DEVICE,
};

/** One kind of exception. */
struct ws_exception {
	uint32_t code;
	const char *name;     /**< enum name without CUDBG_EXCEPTION_, "WARP_ILLEGAL_ADDRESS" */
	const char *label;    /**< cuda-gdb's words, "Warp Illegal Address" */
	const char *cuda_gdb; /**< "CUDA_EXCEPTION_14"; NULL when cuda-gdb has none of its own */
	enum ws_exception_family family;
	enum ws_exception_scope scope;
	bool knows_instruction, knows_lane;
	bool retired;         /**< only old drivers write it */
	const char *headline; /**< plain words for a verdict, lower case: "illegal memory access" */
	const char *meaning;  /**< one sentence */
	const char *causes;   /**< usual causes, "; " between them */
	const char *checks;   /**< what to look at first, "; " between them */
};

/** The kind with this code. NULL for 0 (no exception) and for a code that this version does not
 * know. */
WS_API const struct ws_exception *ws_exception_find(uint32_t code);

/** The kinds in the order of codes, WS_EXCEPTION_UNKNOWN last. NULL past the last. */
WS_API const struct ws_exception *ws_exception_at(size_t index);

/** Headline of a family, e.g. "illegal memory access". */
WS_API const char *ws_exception_family_text(enum ws_exception_family family);

#ifdef __cplusplus
}
#endif
#endif
