/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Traces of the CUDA Debugger API: replaying and comparing them.
 *
 * A trace is what WARPSCOPE_TRACE=FILE leaves behind (cudbg.h, docs/formats/api-trace.md): JSON
 * lines, a line for each call. ws_trace_replay() repeats the calls of a trace on another provider
 * and reports where the answers differ; ws_trace_diff() compares two traces of the same client.
 *
 * What a provider numbers differently in each run (contexts, modules, functions, images,
 * breakpoints, host threads) is not compared but matched: the first time that a number is seen as
 * an output tells its counterpart in the other run; from then on it must correspond, and arguments
 * are translated. Host addresses and the text of getErrorStringEx are not compared at all.
 *
 * **Traces are input**: a damaged line is reported and skipped, and loses only that call.
 */
#ifndef WARPSCOPE_TRACE_H
#define WARPSCOPE_TRACE_H

#include <warpscope/provider.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ws_trace_kind {
	WS_TRACE_RESULT,       /**< a different result code */
	WS_TRACE_OUTPUT,       /**< an output differs */
	WS_TRACE_ONLY_A,       /**< a call that the second trace lacks */
	WS_TRACE_ONLY_B,       /**< a call that the first trace lacks */
	WS_TRACE_NOT_REPLAYED, /**< a call that was not repeated; `b` says why */
	WS_TRACE_DAMAGED,      /**< a line that cannot be read; `a` or `b` says why */
	WS_TRACE_N_KINDS,
};

/** What ws_trace_options.tell receives. Strings are valid during that call only. */
struct ws_trace_difference {
	enum ws_trace_kind kind;
	uint64_t line_a, line_b; /**< lines of the traces, from 1; 0: none */
	const char *call;        /**< "readPC(dev=0, sm=1, wp=0, ln=2)"; "" for a damaged line */
	const char *what;        /**< output: "pc", "gridInfo.gridDim.x"; else "" */
	const char *a, *b;       /**< both values; NULL: there is none */
};

/** How to compare. Zero-filled with `size` set means the defaults, and so does a NULL pointer.
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
	uint64_t other_tables;            /**< lines about other tables, skipped */
	uint64_t found[WS_TRACE_N_KINDS]; /**< how often `tell` was called with each kind */
};

/**
 * Repeats the calls of a trace in order and compares the answers. Calls that write files
 * (generateCoredump), name callbacks or lack their input (a buffer that is cut in the trace) are
 * not made.
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
 * the point where they agree again. Statuses as above.
 */
WS_API enum ws_status ws_trace_diff(const char *a, const char *b,
				    const struct ws_trace_options *options,
				    struct ws_trace_counts *ret_counts,
				    struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
