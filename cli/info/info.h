/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables of `warpscope info` share. A table is one row of INFO_TABLE_LIST and one
 * function. */
#ifndef WARPSCOPE_CLI_INFO_H
#define WARPSCOPE_CLI_INFO_H

#include <warpscope/symbols.h>

#include "info/listing.h"
#include "session.h"
#include "sources.h"
#include <warpscope/rows.h>

/*
 * Name, what cuda-gdb says when there is none, the words that the focus limits by default
 * [measured: cuda-gdb 12.4; its manual 13.4 for clusters and barriers], and what it shows.
 */
#define INFO_TABLE_LIST(X)                                                                         \
	X(devices, "No CUDA devices.", 0, "GPUs of the process")                                   \
	X(contexts, "No CUDA contexts.", 0, "their CUDA contexts")                                 \
	X(modules, "No CUDA modules.", 0, "images of code")                                        \
	X(kernels, "No CUDA kernels.", 0, "launches with blocks on a GPU")                         \
	X(launch_trace, "No CUDA kernels.", 0, "kernels that launched that of the focus")          \
	X(launch_children, "No CUDA kernels.", 0, "kernels that it launched")                      \
	X(sms, "No CUDA SMs.", 1u << WS_FILTER_device, "multiprocessors with warps or exceptions") \
	X(blocks, "No CUDA blocks.", 1u << WS_FILTER_kernel, "blocks of a kernel")                 \
	X(clusters, "No CUDA clusters.", 1u << WS_FILTER_kernel, "clusters of a kernel")           \
	X(warps, "No CUDA Warps.", 1u << WS_FILTER_device | 1u << WS_FILTER_sm, "warps of an SM")  \
	X(lanes, "No CUDA Lanes.",                                                                 \
	  1u << WS_FILTER_device | 1u << WS_FILTER_sm | 1u << WS_FILTER_warp, "lanes of a warp")   \
	X(threads, "No CUDA threads.", 1u << WS_FILTER_kernel,                                     \
	  "threads of a kernel, by where they are")                                                \
	X(barriers, "No CUDA barriers.",                                                           \
	  1u << WS_FILTER_device | 1u << WS_FILTER_sm | 1u << WS_FILTER_warp,                      \
	  "what the lanes of a warp wait for")                                                     \
	X(exceptions, "No CUDA exceptions.", 0, "which threads failed, and how")                   \
	X(memory, "No memory is in the dump.",                                                     \
	  1u << WS_FILTER_device | 1u << WS_FILTER_sm | 1u << WS_FILTER_warp |                     \
		  1u << WS_FILTER_lane,                                                            \
	  "ranges of memory that can be read")                                                     \
	X(managed, "No managed variables.", 0, "variables that host and device share")             \
	X(sections, "No sections.", 0, "the file, piece by piece")                                 \
	X(metadata, "No metadata.", 0, "driver, flags and time of the dump")

struct info {
	struct cli_session session;
	struct ws_symbols *symbols; /* NULL until info_symbols() */
	struct ws_filter filter;
	bool wide, coalesce;
	struct info_images_query images; /* of a file that is no dump */
	struct cli_given limit;          /* rows of a table; 0: all */
	struct cli_given frame;          /* for words that are no tables, as `sources` */
	struct cli_sources sources;      /* owned */
	uint64_t n_left_out;
	const char *none;        /* sentence for an empty table */
	struct ws_json *json;    /* NULL in text */
	struct holders *holders; /* of info_holders() while it runs */
	uint32_t n_unreadable;   /* warps whose lanes could not be read; counted in one pass only */
	/* whose exceptions prove nothing, and are not listed */
	unsigned n_doubted_sms, n_doubted_lanes;
	uint32_t n_doubted_rows; /* that are marked */
};

/* Each shows its table: in JSON as the value of a key that is written already. An exit status. */
#define X(name, none, words, shows) int info_##name(struct info *info);
INFO_TABLE_LIST(X)
#undef X
/* The list of these tables. */
int info_tables(struct info *info);
/* Everything known about an address. */
int info_where(struct info *info, uint64_t address);
/* Whether a word is a table's, or begins what is. */
bool info_has_table(const char *word);
/* Names of the tables, in their order; NULL behind the last. */
const char *info_table_name(size_t index);

/* A table of the registers that hold an address from `first` to `last`: each with its lanes, warp
 * by warp, and in which of them it is `address` itself. */
void info_holders(struct info *info, uint64_t address, uint64_t first, uint64_t last);

/* ws_rows_show() with the output, format and sentence of `info`; `user` of `produce` is `info`. */
void info_rows(struct info *info, const struct ws_rows_column *columns, unsigned n_columns,
	       ws_rows_produce *produce);
#define INFO_ROWS(info, columns, produce) \
	info_rows(info, columns, sizeof(columns) / sizeof(columns)[0], produce)

/* Defines info_NAME(), which shows only rows. */
#define INFO_TABLE(name, columns, produce)         \
	int info_##name(struct info *info)         \
	{                                          \
		INFO_ROWS(info, columns, produce); \
		return CLI_ANSWERED;               \
	}

struct ws_symbols *info_symbols(struct info *info);
/* How much an image can tell of the source: "-G", "-lineinfo", "not built", ... */
const char *info_lines_word(struct ws_cubin *cubin, const struct ws_cubin_facts *facts);
/* Counts a warp whose lanes could not be read: said after the table. */
void info_unreadable(struct info *info, const struct ws_rows *rows);

/* ---- cells that several tables have ---- */

/* cuda-gdb's words for an exception; "None" for 0. The text is valid until the next call. */
const char *info_exception_text(uint32_t code);
/* The line "Kernel 3" above the rows of a kernel. */
void info_heading_kernel(struct ws_rows *rows, uint32_t kernel);
/* Kernel id, or "-". */
void info_cell_kernel(struct ws_rows *rows, uint32_t kernel);
/* A column of the function's name. */
void info_cell_function(struct ws_rows *rows, const struct ws_symbol *symbol);
/* Two columns: file, line. */
void info_cells_line(struct ws_rows *rows, const struct ws_symbol *symbol);
/* Two columns: target block of a cluster exception, the driver's own words. */
void info_cells_sm_words(struct ws_rows *rows, const struct ws_sm *sm);
/* Three columns: function, file, line. */
void info_cells_symbol(struct ws_rows *rows, const struct ws_symbol *symbol);
/* A column of a grid, block or thread index. */
void info_cell_dim3(struct ws_rows *rows, enum ws_status status, struct ws_dim3 dim);
/* CUDBGCbuThreadState in words: "ready", "blocked at B0", ... */
void info_cell_cbu_state(struct ws_rows *rows, uint32_t state);
/* What the API calls a number; the number itself when it is none of `n` names. */
void info_cell_name(struct ws_rows *rows, const char *const *names, size_t n, uint32_t number);

#endif
