/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The report: what failed, where, through which calls, and where everybody else is.
 *
 * ws_report_create() looks at a target once and returns a model, which is plain data; renderers
 * turn the model into text or JSON and ask nothing else. The model keeps what is missing as an
 * answer: each thing that may be missing has a `..._status`, WS_OK when it is there, else why it is
 * not (WS_ABSENT, WS_EXCLUDED, WS_UNSUPPORTED, damaged).
 *
 * **Whom a fault is attributed to**, in this order: the lanes that carry an exception themselves;
 * else, the exception of an SM belongs to those of its warps whose error PC is valid, and their
 * active lanes are suspects, not culprits; else the SM's row stands alone: the warp had left before
 * the fault was seen, so there is no thread, and the error PC tells the function and line. Without
 * any exception, warps that are stopped at a trap or breakpoint are reported. Faults of one kind at
 * one instruction are one entry with counts; the first in (device, SM, warp, lane) order stands for
 * it, and the first of all is the focus.
 *
 * **Frames** count from 0, innermost first: the place of the error PC (of the pc when there is
 * none) with the calls inlined around it, then each return address of the lane, looked up one byte
 * before it, with the calls inlined around that. The *user frame* is the first frame whose file is
 * no toolkit or template library header (data/library-paths.txt).
 *
 * **Ownership.** Strings and arrays of a report are valid until it is destroyed; the target must
 * outlive it. **Threads.** A finished report is constant.
 */
#ifndef WARPSCOPE_REPORT_H
#define WARPSCOPE_REPORT_H

#include <warpscope/exception.h>
#include <warpscope/out.h>
#include <warpscope/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options ---- */

/** Paths that start with `from` (at a component's end) are looked for with `to` in its place. */
struct ws_source_map {
	const char *from, *to;
};

/** Set `size`, zero the rest: that gives the default. Strings are borrowed during the call. */
struct ws_report_options {
	size_t size;    /**< sizeof(struct ws_report_options) */
	bool no_source; /**< do not look for source files */
	/** Tried in order before the path as recorded; the first that names a file wins. */
	const struct ws_source_map *source_maps;
	size_t n_source_maps;
	/** Folders searched after that: for the whole recorded path below them, then without its
	 * first component, and so on to the bare file name. */
	const char *const *source_dirs;
	size_t n_source_dirs;
	/** Files or folders with builds of the same code that have lines (store.h). They are used
	 * for code without lines whose machine code they prove to be equal to. */
	const char *const *debug_images;
	size_t n_debug_images;
};

/* ---- the model ---- */

enum ws_verdict_kind {
	WS_VERDICT_FAULT,   /**< an exception or a trap */
	WS_VERDICT_HANG,    /**< no exception, and most warps wait at a barrier: a suspicion */
	WS_VERDICT_NONE,    /**< no exception */
	WS_VERDICT_UNKNOWN, /**< what would tell is missing */
};

/** "fault", "hang", "none" or "unknown". Static storage. */
WS_API const char *ws_verdict_kind_text(enum ws_verdict_kind kind);

/** A device of the target. */
struct ws_report_device {
	struct ws_device state;
	enum ws_status status; /**< of reading it; not WS_OK: `state` is all zero */
	uint32_t resident_warps, resident_lanes;
	uint32_t faulted_sms; /**< SMs with an exception */
};

/** A kernel present on a device: one grid. `id` is cuda-gdb's number (focus.h). */
struct ws_report_kernel {
	uint32_t id;
	uint32_t device_index, device;
	uint32_t grid_index;
	enum ws_status grid_status; /**< of `grid` */
	struct ws_grid grid;
	enum ws_status name_status; /**< of the next three */
	struct ws_str name;         /**< C++ name */
	struct ws_str
		name_short; /**< without parameters and return type; long argument lists cut */
	struct ws_str name_mangled;
	uint32_t resident_blocks, resident_warps;
};

/** A stretch of a source file. */
struct ws_report_source {
	enum ws_status status; /**< WS_ABSENT: not found, not asked for, or no such line */
	const char *path;      /**< the file that was read */
	bool changed;          /**< its time or size differ from those at compile time */
	uint32_t first_line;
	uint32_t n_lines;
	const struct ws_str *lines;
};

struct ws_report_frame {
	uint32_t level;
	bool inlined; /**< the function was inlined into that of the next frame */
	bool library; /**< its file is a toolkit or template library header */
	bool caller;  /**< reached through a return address: `pc` is that address */
	uint64_t pc;
	enum ws_status function_status; /**< of the next three */
	struct ws_str function, function_short, function_mangled;
	struct ws_str
		owner_short; /**< the function whose code it is: that of the last inlined frame */
	uint64_t rel_pc;     /**< offset of pc in the owner */
	enum ws_status line_status; /**< of the next two */
	struct ws_str file;         /**< path as compiled in */
	uint32_t line;              /**< from 1; 0: the compiler gave none */
	const char *borrowed_from;  /**< the debug image that the line is from, or NULL: the dump's
				       own */
	struct ws_report_source source;
};

/** How an exception was attributed. */
enum ws_attribution {
	WS_BLAME_LANE,    /**< lanes carry it */
	WS_BLAME_SUSPECT, /**< the SM's, for a warp with a valid error PC: active lanes are suspects
			   */
	WS_BLAME_SM,      /**< the SM's row alone: no thread is left */
	WS_BLAME_TRAP,    /**< no exception: the warp stopped at a trap or breakpoint */
	WS_BLAME_NOBODY,  /**< no exception: a thread to look at */
};

/** Where a thread is. Fields hold WS_NONE where there is no such thing. */
struct ws_report_thread {
	uint32_t device, sm, warp, lane; /**< ids */
	uint32_t warp_index;             /**< in the target */
	enum ws_status block_status;     /**< of `block` and `thread` */
	struct ws_dim3 block, thread;
	bool have_cluster;
	struct ws_dim3 cluster;
};

struct ws_report_exception {
	uint32_t code;                   /**< number in the dump; 0 for a trap */
	const struct ws_exception *kind; /**< NULL: a trap, or not known to this version */
	const char *name;                /**< enum name, or NULL */
	const char *label;               /**< cuda-gdb's words, or ours for an unknown code */
	const char *cuda_gdb;            /**< "CUDA_EXCEPTION_14", or NULL */
	const char *headline;            /**< plain words */
	enum ws_attribution blame;
	struct ws_report_thread at; /**< the first thread it was found in */
	uint32_t kernel;            /**< index into the report's kernels, or WS_NONE */
	enum ws_status pc_status, errorpc_status;
	uint64_t pc, errorpc;
	uint32_t lanes_active, lanes_valid, lanes_blamed; /**< masks of the warp `at` */
	uint64_t n_lanes, n_warps, n_sms;                 /**< blamed in all by this entry */
	enum ws_status text_status;
	struct ws_str text; /**< the driver's own words */
	bool have_target_block;
	struct ws_dim3 target_block; /**< of a cluster exception */
	const struct ws_report_frame *frames;
	uint32_t n_frames;
	uint32_t user_frame; /**< index into frames, or WS_NONE: all are library code, or none
				exists */
	/** The warp had moved on into another function before it stopped: frames from this index on
	 * are those of `pc` and its callers. WS_NONE: one stack. */
	uint32_t pc_frames_from;
	uint32_t n_callers_left_out; /**< return addresses beyond those that became frames */
	const struct ws_report_frame *pc_frame; /**< innermost place of `pc` when errorpc is another
						   one, or NULL */
	enum ws_status
		stack_status; /**< of the return addresses; WS_ABSENT also where none is needed */
};

enum ws_thread_state {
	WS_THREAD_FAULTED, /**< carries or shares an exception */
	WS_THREAD_TRAPPED, /**< active lane of a warp stopped at a trap or breakpoint */
	WS_THREAD_BARRIER, /**< active lane of a warp that the hardware says waits at a barrier */
	WS_THREAD_ACTIVE,
	WS_THREAD_DIVERGENT, /**< valid but not active: waits for other lanes of its warp */
};

/** "faulted", "trapped", "barrier", "active" or "divergent". Static storage. */
WS_API const char *ws_thread_state_text(enum ws_thread_state state);

/** All threads at one pc in one state. Together the groups hold every resident thread. */
struct ws_report_group {
	enum ws_thread_state state;
	uint64_t pc;
	uint32_t kernel;              /**< of the example; index, or WS_NONE */
	struct ws_report_frame frame; /**< innermost place */
	struct ws_report_frame
		user; /**< user frame of the place; equal to `frame` when that is one */
	uint64_t n_lanes, n_warps;
	struct ws_report_thread example; /**< the first one */
};

/** One thing that the report would have liked to use. */
struct ws_report_missing {
	const char *what; /**< "line information of gather<float>" */
	enum ws_status why;
	const char *advice; /**< one sentence, or NULL */
};

struct ws_report {
	enum ws_verdict_kind verdict;
	const char *summary;        /**< one sentence in plain words */
	enum ws_status dump_status; /**< of `dump`; WS_UNSUPPORTED: the target is not a file */
	struct ws_dump_facts dump;
	const struct ws_report_device *devices;
	uint32_t n_devices;
	const struct ws_report_kernel *kernels; /**< in the order of ids */
	uint32_t n_kernels;
	const struct ws_report_exception *exceptions;
	uint32_t n_exceptions;
	/** exceptions[0]; without exceptions the first thread of the lowest block of the lowest
	 * kernel (WS_BLAME_NOBODY), or NULL when no thread is resident. */
	const struct ws_report_exception *focus;
	const struct ws_report_group *groups; /**< faulted first, then by number of lanes */
	uint32_t n_groups;
	const struct ws_diagnostic *diagnostics;
	uint32_t n_diagnostics;
	/** Kernels whose code the images of the target hold, by C++ name; the first of them, and
	 * only with WS_VERDICT_UNKNOWN, when the state that would tell which of them ran is lost.
	 */
	const struct ws_str *code;
	uint32_t n_code;
	const struct ws_report_missing *missing;
	uint32_t n_missing;
	const char *const *next; /**< what to try next: commands and settings, a sentence each */
	uint32_t n_next;
	uint32_t n_barrier_warps,
		n_warps; /**< resident; waiting at a barrier by the hardware's word */
};

/**
 * Looks at a target and says what happened.
 *
 * @param target      Must outlive the report.
 * @param options     NULL for the default.
 * @param ret_report  The caller's to destroy.
 *
 * @retval WS_OK         also for a target without any fault, and for one that is mostly damaged.
 * @retval WS_ARGUMENT   `options->size` is none that this version knows.
 * @retval WS_IO, WS_UNSUPPORTED, WS_LIMIT  a debug image cannot be used.
 * @retval WS_NO_MEMORY
 *
 * O(lanes); code is looked up once per distinct pc.
 */
WS_API enum ws_status ws_report_create(const struct ws_target *target,
				       const struct ws_report_options *options,
				       const struct ws_report **ret_report,
				       struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_report_destroy(const struct ws_report *report);

/* ---- renderers ---- */

struct ws_text_options {
	size_t size;     /**< sizeof(struct ws_text_options) */
	bool color;      /**< use escape sequences */
	bool full_names; /**< whole C++ names instead of short ones */
	bool all;        /**< every group and exception, however many */
};

/**
 * The page as plain text that is Markdown as well: detail is indented by four spaces, so that an
 * issue tracker shows it unchanged. Never prints memory contents. `options` may be NULL. Failures
 * of writing show in ws_out_flush().
 */
WS_API enum ws_status ws_report_text(const struct ws_report *report,
				     const struct ws_text_options *options, struct ws_out *out,
				     struct ws_error *err) WS_MUST_USE;

/** JSON by docs/schema/warpscope-report-1.json. Failures of writing show in ws_out_flush(). */
WS_API void ws_report_json(const struct ws_report *report, struct ws_out *out);

#ifdef __cplusplus
}
#endif
#endif
