/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * What the program's verbs answer.
 *
 * The facts of an answer are data: those of most verbs come from the header of their subject
 * (ws_core_check(), ws_log_judge()), the others from a function here. Of each verb ws_VERB_answer()
 * writes the answer, as JSON by docs/schema/warpscope-VERB-1.json, or as text; it uses nothing but
 * these facts. A report and a triage have theirs in report.h and triage.h.
 *
 * Failures of writing show in ws_out_flush(). A function that fails may have written a part of its
 * answer.
 */
#ifndef WARPSCOPE_VERBS_H
#define WARPSCOPE_VERBS_H

#include <warpscope/core.h>
#include <warpscope/log.h>
#include <warpscope/out.h>
#include <warpscope/report.h>
#include <warpscope/stack.h>
#include <warpscope/symbols.h>
#include <warpscope/target.h>
#include <warpscope/threads.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How an answer is written, and where to. */
struct ws_answer_style {
	struct ws_out *out;
	bool json;        /**< else text */
	unsigned columns; /**< of the terminal: wider tables are folded; 0: any number */
	/** Is told what is damaged (WS_OK: only what is worth saying) by answers over code;
	 * NULL: nobody is. */
	ws_line_diagnostic_fn *tell;
	void *user; /**< of `tell` */
};

/* ---- report: what failed, where (report.h) ---- */

/**
 * Opens a dump and says what happened: ws_core_open() and ws_report_create() in one call.
 * ws_report_destroy() closes the dump, too.
 *
 * @param path        The dump, packed or not. Advice names it so, unless `options` do.
 * @param options     NULL for the default.
 * @param ret_report  The caller's to destroy.
 *
 * @retval WS_OK  Also for a damaged dump, and for one without a fault. Others as ws_core_open() and
 *                ws_report_create().
 */
WS_API enum ws_status ws_report_create_from_file(const char *path,
						 const struct ws_report_options *options,
						 const struct ws_report **ret_report,
						 struct ws_error *err) WS_MUST_USE;

/* ---- check: whether a dump is sound (core.h) ---- */

/** `path` is the name of the dump. `limit`: of the findings of one rule, and of salvaged parts, so
 * many are shown; 0: all. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_check_answer(const struct ws_core *core, const char *path, uint64_t limit,
				      const struct ws_answer_style *style,
				      struct ws_check_summary *ret_summary,
				      struct ws_error *err) WS_MUST_USE;

/* ---- log: what failed first, where there is no dump (log.h) ---- */

/** @retval WS_NO_MEMORY */
WS_API enum ws_status ws_log_answer(const struct ws_log_result *result,
				    const struct ws_answer_style *style,
				    struct ws_error *err) WS_MUST_USE;

/* ---- diff: what differs between two dumps ---- */

/** One list gives the enum and the words that answers have. */
#define WS_DIFF_KIND_LIST(X) \
	X(verdict)           \
	X(device)            \
	X(kernel) X(exception) X(group) X(module) X(field) X(warp) X(register) X(memory)

enum ws_diff_kind {
#define X(name) WS_DIFF_##name,
	WS_DIFF_KIND_LIST(X)
#undef X
		WS_N_DIFF_KINDS
};

/** How many differences of each kind there are. */
struct ws_diff_counts {
	uint64_t found[WS_N_DIFF_KINDS];
	uint64_t total;
};

/** Something that only one side has, or that both have with other values. Texts are valid during
 * the call. */
struct ws_difference {
	enum ws_diff_kind kind;
	const char *key;
	const char *a, *b; /**< NULL: not on that side */
};
typedef void ws_diff_fn(void *user, const struct ws_difference *difference);

/**
 * Compares two stopped targets, `a` and `b`: verdicts, kernels, exceptions, groups of threads,
 * modules, all fields of rows, registers, memory. Rows match by what stays the same from run to
 * run: ids, and places in the grid. Nothing is kept per lane or per byte.
 * @param limit  Of each kind so many are told; 0: all. All are counted.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_diff(const struct ws_target *a, const struct ws_target *b, uint64_t limit,
			      ws_diff_fn *tell, void *user, struct ws_diff_counts *ret_counts,
			      struct ws_error *err) WS_MUST_USE;
/** `paths` are the names of the dumps. */
WS_API enum ws_status ws_diff_answer(const struct ws_target *a, const struct ws_target *b,
				     const char *const paths[2], uint64_t limit,
				     const struct ws_answer_style *style,
				     struct ws_diff_counts *ret_counts,
				     struct ws_error *err) WS_MUST_USE;

/* ---- mem: memory as gdb's x shows it ---- */

enum { WS_MEM_MOST_BYTES = 64 << 20 /**< of one answer */ };

/** What is shown, and how. */
struct ws_mem {
	struct ws_address at; /**< ws_threads has the indices of a thread */
	char format;          /**< of gdb's x: x d u o t a f c s */
	unsigned unit;  /**< bytes: 1, 2, 4 or 8; for 'a' 8, 'f' 4 or 8; 0: the format's own */
	uint64_t count; /**< of units, or of strings; at most WS_MEM_MOST_BYTES in all */
};

/** Where memory is not there, the reason is shown; `*ret_n`: so many bytes are. JSON has the bytes,
 * whatever the format.
 * @retval WS_ARGUMENT  there is no such format, or count: the message says what there is
 * @retval WS_NO_MEMORY */
WS_API enum ws_status ws_mem_answer(const struct ws_threads *threads, const struct ws_mem *query,
				    const struct ws_answer_style *style, uint64_t *ret_n,
				    struct ws_error *err) WS_MUST_USE;

/* ---- regs: registers of threads ---- */

enum {
	WS_N_REG_KINDS = 5,      /**< R, P, UR, UP, B: the order of ws_regs_chosen */
	WS_MOST_REGISTERS = 256, /**< of one kind: more than any GPU has */
};

/** Which registers are wanted; zero: all. */
struct ws_regs_chosen {
	bool some; /**< only those that are chosen; else all */
	bool is_chosen[WS_N_REG_KINDS][WS_MOST_REGISTERS];
};
/** Adds registers by their names: "R4", "R4-R7,UR2", "R" for all of a kind; with "pc" and
 * "errorpc", which are always shown, nothing is added. False: `word` names no registers. */
WS_API bool ws_regs_choose(struct ws_regs_chosen *chosen, const char *word);

struct ws_regs_told {
	uint32_t n_lanes;   /**< whose registers are shown */
	uint32_t n_doubted; /**< rows that are marked, as they hold what cannot be */
};

/** Registers of all lanes that the filter lets through; `chosen` NULL: all registers.
 * @retval WS_NO_MEMORY */
WS_API enum ws_status
ws_regs_answer(const struct ws_threads *threads, const struct ws_filter *filter,
	       const struct ws_regs_chosen *chosen, const struct ws_answer_style *style,
	       struct ws_regs_told *ret_told, struct ws_error *err) WS_MUST_USE;

/* ---- info: tables of all that a target has ---- */

struct ws_info {
	const char *table;              /**< ws_info_table_name(); NULL: the list of them */
	uint64_t address;               /**< of `where` */
	const struct ws_filter *filter; /**< NULL: the table's own, such as the SM in focus */
	bool wide;                      /**< all columns; JSON has them in any case */
	bool coalesce;                  /**< neighbours are one row */
	bool has_limit;                 /**< else as many rows as people read */
	uint64_t limit;                 /**< rows; 0: all */
};

/** What a table does not show, or marks, as it proves nothing. */
struct ws_info_told {
	uint32_t n_unreadable;                   /**< warps whose lanes could not be read */
	uint32_t n_doubted_sms, n_doubted_lanes; /**< with exceptions that are not listed */
	uint32_t n_doubted_rows;                 /**< that are marked */
};

/** Names of the tables, in their order; NULL behind the last. */
WS_API const char *ws_info_table_name(size_t index);
/** Writes a table. An answer that fails is whole JSON all the same.
 * @retval WS_ARGUMENT     there is no such table
 * @retval WS_ABSENT       only a file has it
 * @retval WS_UNSUPPORTED  the back end does not list its memory
 * @retval WS_NO_MEMORY */
WS_API enum ws_status ws_info_answer(const struct ws_threads *threads, const struct ws_info *query,
				     const struct ws_answer_style *style,
				     struct ws_info_told *ret_told,
				     struct ws_error *err) WS_MUST_USE;

/* ---- bt, locals, print: the stack of a thread and its values (stack.h) ---- */

/** Which frames are shown, and how. */
struct ws_bt {
	uint64_t limit; /**< so many of the innermost; UINT64_MAX: all */
	uint64_t outer; /**< of these so many of the outermost; UINT64_MAX: all */
	bool full;      /**< with their variables */
};

/** Fails as ws_stack_frame_text(). @retval WS_NO_MEMORY */
WS_API enum ws_status ws_bt_answer(struct ws_stack *stack, const struct ws_bt *bt,
				   const struct ws_answer_style *style,
				   struct ws_error *err) WS_MUST_USE;

/** What of the frame that is looked at is not shown as text; JSON has all. */
struct ws_locals {
	bool no_args, no_locals;
};

/** Where the code was not compiled with -G: parameters of the kernel, and what registers hold.
 * @retval WS_ABSENT  there are none of these either (as text). Others as ws_bt_answer() and
 * ws_vars_list(). */
WS_API enum ws_status ws_locals_answer(struct ws_stack *stack, const struct ws_locals *locals,
				       const struct ws_answer_style *style,
				       struct ws_error *err) WS_MUST_USE;

struct ws_print {
	const char *expression;
	struct ws_value_format format;
	const struct ws_filter *lanes; /**< NULL: the thread alone */
};

/** With `lanes` the stack looks at another thread afterwards, see ws_vars_look().
 * @retval WS_ARGUMENT  the expression is not understood, in none of the lanes. Others as
 * ws_vars_evaluate(). */
WS_API enum ws_status ws_print_answer(struct ws_stack *stack, const struct ws_print *print,
				      const struct ws_answer_style *style,
				      struct ws_error *err) WS_MUST_USE;

/* ---- code of the images of a file ---- */

/** One of the images of a file (image.h), or of a target. */
struct ws_code_image {
	struct ws_cubin *cubin; /**< borrowed */
	size_t index;           /**< in the file */
	struct ws_cubin_facts facts;
};
struct ws_code_images {
	const char *path; /**< name of the file */
	struct ws_code_image *item;
	size_t n;
};
enum { WS_ARCH_BYTES = 16 };
/** "sm_90", or "sm_?". */
WS_API void ws_code_image_arch(const struct ws_code_image *image, char ret_text[WS_ARCH_BYTES]);

/* ---- lines: line maps (line.h) ---- */

/** What is asked of each image: the rows of its functions, or one of these. */
struct ws_lines {
	const char *function; /**< only of this one, mangled, full or short; NULL: of all */
	bool full_names;
	bool raw;           /**< the tables as they are written */
	bool has_pc;        /**< the chain of calls there */
	uint64_t pc;        /**< offset in `function`, else in each */
	const char *source; /**< the code of a line of this file; NULL: not asked */
	uint32_t source_line;
};

/** `*ret_shown`: something was there to show. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_lines_answer(const struct ws_code_images *images,
				      const struct ws_lines *query,
				      const struct ws_answer_style *style, bool *ret_shown,
				      struct ws_error *err) WS_MUST_USE;

/* ---- disas: machine code ---- */

/** What is shown of code, and how. */
struct ws_disas {
	const char *function; /**< only this one, mangled, full or short; NULL: all */
	bool full_names;
	bool control; /**< with every bit */
	bool has_pc;  /**< only the code around this offset of each function */
	uint64_t pc;
	bool blocks; /**< basic blocks, with their edges; as text in place of bare instructions */
	bool values; /**< of a thread: what each instruction finds in its registers */
	/* text only: */
	bool source;   /**< with lines of the source */
	bool hex;      /**< with the words of the code */
	bool dot;      /**< with `blocks`: a graph for dot(1) */
	bool assembly; /**< whole images, as ws_assemble() reads them */
};
struct ws_disas_told {
	bool shown;                  /**< there was such code */
	uint64_t n_total, n_unknown; /**< instructions; those with bits that are not explained */
};

/** @retval WS_NO_MEMORY */
WS_API enum ws_status ws_disas_answer(const struct ws_code_images *images,
				      const struct ws_disas *query,
				      const struct ws_answer_style *style,
				      struct ws_disas_told *ret_told,
				      struct ws_error *err) WS_MUST_USE;
/** The code around the pc of the thread in focus; `path` is the name of the dump.
 * @retval WS_ABSENT  there is no such thread
 * @retval WS_NO_MEMORY */
WS_API enum ws_status ws_disas_thread_answer(const struct ws_threads *threads, const char *path,
					     const struct ws_disas *query,
					     const struct ws_answer_style *style,
					     struct ws_disas_told *ret_told,
					     struct ws_error *err) WS_MUST_USE;

/* ---- symbolize: chains of calls at places ---- */

/** What is at a place. */
struct ws_symbolized {
	const struct ws_code_image *image; /**< whose code it is; NULL: no such code */
	enum ws_status status;             /**< of the chain */
	struct ws_line_pos chain[WS_CHAIN_MOST];
	size_t n;
	struct ws_error err; /**< with `image`: why there is no chain */
};

/** Looks at an offset in a function, whose name is mangled, full or short; without a name, at an
 * address. The first image that has the place answers. */
WS_API void ws_symbolize(const struct ws_code_image *images, size_t n_images, const char *function,
			 uint64_t offset, struct ws_symbolized *ret_answer);
/** `place`: as it was asked for. */
WS_API void ws_symbolized_text(const struct ws_symbolized *answer, const char *place,
			       bool full_names, struct ws_out *out);
/** One element of `answers`: a document has those of many places, which may come one by one. */
WS_API void ws_symbolized_json(const struct ws_symbolized *answer, const char *place,
			       struct ws_json *json);

#ifdef __cplusplus
}
#endif
#endif
