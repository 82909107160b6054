/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Traces of the CUDA Debugger API: made again, and compared.
 *
 * A trace is what WARPSCOPE_TRACE=FILE leaves behind (cudbg.h, docs/formats/api-trace.md): JSON
 * lines, a line for each call. ws_trace_replay() makes the calls of a trace on another provider and
 * tells where the answers differ; ws_trace_diff() compares two traces of one client.
 *
 * What a provider numbers anew in each run (contexts, modules, functions, images, breakpoints, host
 * threads) is not compared but paired: the first time it is seen as an output says what it is
 * called in the other run; from then on it must be called so, and arguments are translated.
 * Addresses of the process and the words of getErrorStringEx are not compared at all.
 *
 * **Traces are input**: a damaged line is told and passed over, and costs that call only.
 */
#ifndef WARPSCOPE_TRACE_H
#define WARPSCOPE_TRACE_H

#include <warpscope/provider.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ws_trace_kind {
	WS_TRACE_RESULT,       /**< another result code */
	WS_TRACE_OUTPUT,       /**< an output differs */
	WS_TRACE_ONLY_A,       /**< a call that the second trace lacks */
	WS_TRACE_ONLY_B,       /**< a call that the first trace lacks */
	WS_TRACE_NOT_REPLAYED, /**< a call that was not made again; `b` says why */
	WS_TRACE_DAMAGED,      /**< a line that cannot be read; `a` or `b` says why */
	WS_TRACE_N_KINDS,
};

/** One thing that ws_trace_options.tell is told. Strings are valid during that call only. */
struct ws_trace_difference {
	enum ws_trace_kind kind;
	uint64_t line_a, line_b; /**< lines of the traces, from 1; 0: none */
	const char *call;        /**< "readPC(dev=0, sm=1, wp=0, ln=2)"; "" for a damaged line */
	const char *what;        /**< output: "pc", "gridInfo.gridDim.x"; else "" */
	const char *a, *b;       /**< both values; NULL: there is none */
};

/** How to compare. Zero-filled with `size` set means the defaults; NULL instead of a pointer too.
 */
struct ws_trace_options {
	size_t size;    /**< sizeof(struct ws_trace_options), as the caller was compiled */
	bool one_table; /**< only calls of `table`, else only those of the first table seen */
	uint32_t table;
	void (*tell)(void *user, const struct ws_trace_difference *difference); /**< may be NULL */
	void *user;
};

/** What was found. */
struct ws_trace_counts {
	uint64_t compared;                /**< calls */
	uint64_t same;                    /**< of these without a difference */
	uint64_t other_tables;            /**< lines about other tables, passed over */
	uint64_t found[WS_TRACE_N_KINDS]; /**< times that `tell` was told each kind */
};

/**
 * Makes the calls of a trace again, in its order, and compares the answers. Calls that write files
 * (generateCoredump), name callbacks or lack their input (a buffer that the trace has cut) are not
 * made.
 *
 * @retval WS_MALFORMED  no line of the file is a call; the message is about the first line.
 * @retval WS_IO, WS_NO_MEMORY
 */
WS_API enum ws_status ws_trace_replay(const char *trace, const struct ws_provider *provider,
				      const struct ws_trace_options *options,
				      struct ws_trace_counts *ret_counts,
				      struct ws_error *err) WS_MUST_USE;

/**
 * Compares two traces, call by call. Where the calls differ, the next 64 of either are searched for
 * the place where they meet again. Statuses as above.
 */
WS_API enum ws_status ws_trace_diff(const char *a, const char *b,
				    const struct ws_trace_options *options,
				    struct ws_trace_counts *ret_counts,
				    struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
