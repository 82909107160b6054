/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables of ws_info_answer() share. A table is one row of INFO_TABLE_LIST and one
 * function. */
#ifndef WSI_VERBS_INFO_H
#define WSI_VERBS_INFO_H

#include <warpscope/verbs.h>

#include "base/bytes.h"
#include "text/table.h"
#include "threads/threads.h"

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
	X(metadata, "No metadata.", 0, "driver, flags and time of the dump")                       \
	X(where, "  none", 0, "everything known about an address")

struct wsi_info {
	const struct ws_threads *threads;
	const struct ws_info *query;
	struct ws_filter filter; /* the query's, or the table's own */
	struct ws_rows_style style;
	struct ws_out *out;
	struct ws_json *json;       /* NULL in text */
	bool with_code;             /* names of code are shown, in columns that may be hidden */
	const char *none;           /* sentence for an empty table */
	struct ws_symbols *symbols; /* NULL until names are needed */
	struct ws_rows *rows;       /* those of the table at hand */
	ws_rows_produce *produce;   /* rows of the table at hand */
	struct holders *holders;    /* of wsi_info_holders() while it runs */
	bool is_limited;            /* the answer says how many rows are left out: */
	uint64_t n_left_out;
	struct ws_info_told *told;
	enum ws_status status; /* of the answer so far, with `err` */
	struct ws_error *err;
};

/* Each shows its table: in JSON as the value of a key that is written already. */
#define X(name, none, words, shows) void wsi_info_##name(struct wsi_info *info);
INFO_TABLE_LIST(X)
#undef X

/* A table of the registers that hold an address from `first` to `last`: each with its lanes, warp
 * by warp, and in which of them it is `address` itself. */
void wsi_info_holders(struct wsi_info *info, uint64_t address, uint64_t first, uint64_t last);

/* ws_rows_show() with the output, format and sentence of `info`; `user` of `produce` is `info`. */
void wsi_info_rows(struct wsi_info *info, const struct ws_rows_column *columns, unsigned n_columns,
		   ws_rows_produce *produce);
#define INFO_ROWS(info, columns, produce) \
	wsi_info_rows(info, columns, sizeof(columns) / sizeof(columns)[0], produce)

/* Defines wsi_info_NAME(), which shows only rows. */
#define INFO_TABLE(name, columns, produce)          \
	void wsi_info_##name(struct wsi_info *info) \
	{                                           \
		INFO_ROWS(info, columns, produce);  \
	}

/* Zeroed memory, wsi_free() it. NULL: there is none, and the answer fails. */
void *wsi_info_alloc(struct wsi_info *info, size_t count, size_t size);
/* The answer fails as memory is out. */
void wsi_info_no_memory(struct wsi_info *info);
/* NULL: as wsi_info_alloc(). */
struct ws_symbols *wsi_info_symbols(struct wsi_info *info);
/* What is at an address; where it is not `wanted`, or memory is out, nothing is. */
const struct ws_symbol *wsi_info_symbol(struct wsi_info *info, bool wanted, uint32_t device_index,
					const struct ws_grid *grid, uint64_t pc);
/* Whether the filter asks for what an SM's row alone does not have. */
bool wsi_info_asks_below_sm(const struct wsi_info *info);
/* In place of the table's value: there is none. */
void wsi_info_nothing(struct wsi_info *info);
/* Counts a warp whose lanes could not be read: said after the table. */
void wsi_info_unreadable(struct wsi_info *info, const struct ws_rows *rows);

/* ---- cells that several tables have ---- */

/* cuda-gdb's words for an exception; "None" for 0. */
void wsi_info_cell_exception(struct ws_rows *rows, uint32_t code);
/* The line "Kernel 3" above the rows of a kernel. */
void wsi_info_heading_kernel(struct ws_rows *rows, uint32_t kernel);
/* Kernel id, or "-". */
void wsi_info_cell_kernel(struct ws_rows *rows, uint32_t kernel);
/* A column of the function's name. */
void wsi_info_cell_function(struct ws_rows *rows, const struct ws_symbol *symbol);
/* Two columns: file, line. */
void wsi_info_cells_line(struct ws_rows *rows, const struct ws_symbol *symbol);
/* Two columns: target block of a cluster exception, the driver's own words. */
void wsi_info_cells_sm_words(struct ws_rows *rows, const struct ws_sm *sm);
/* Three columns: function, file, line. */
void wsi_info_cells_symbol(struct ws_rows *rows, const struct ws_symbol *symbol);
/* A column of a grid, block or thread index. */
void wsi_info_cell_dim3(struct ws_rows *rows, enum ws_status status, struct ws_dim3 dim);
/* CUDBGCbuThreadState in words: "ready", "blocked at B0", ... */
void wsi_info_cell_cbu_state(struct ws_rows *rows, uint32_t state);
/* What the API calls a number; the number itself when it is none of `n` names. */
void wsi_info_cell_name(struct ws_rows *rows, const char *const *names, size_t n, uint32_t number);

#endif
