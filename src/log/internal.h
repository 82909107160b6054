/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the log share:
 *
 *   cursor.c   taking a line apart
 *   line.c     lines that the triage reads, too
 *   scan.c     where in a file lines stand that have one of the key words
 *   stamp.c    the time and the rank that a line starts with
 *   take.c, take_cuda.c, take_xid.c   what such a line tells; told.c keeps it
 *   xid.c, cuda_error.c, other.c   what it means
 *   judge.c    what came first; advice.c what to do
 *   ranks.c    ranks as text
 */
#ifndef WSI_LOG_H
#define WSI_LOG_H

#include <warpscope/log.h>

#include "base/arena.h"
#include "base/map.h"
#include "log/line.h"
#include "log/ranks.h"
#include "log/topic.h"

/* ---- key words ---- */

/* A line without any of them tells nothing. Each has at least WSI_LOG_SHORTEST bytes. */
#define WSI_LOG_WORD_LIST(X)                                                 \
	X(XID, "NVRM: Xid (")                                                \
	X(SXID, "SXid (PCI:")                                                \
	X(DRIVER_NAME, "CUDA_ERROR_")                                        \
	X(RUNTIME_NAME, "cudaError")                                         \
	X(MARK_1, "CUDA error")                                              \
	X(MARK_2, "CUDA Error")                                              \
	X(MARK_3, "Cuda failure")                                            \
	X(MARK_4, "CUDA failure")                                            \
	X(MARK_5, "Error [CUDA]")                                            \
	X(MARK_6, "CUDA driver error")                                       \
	X(MARK_7, "CUDA runtime error")                                      \
	X(MEMORY, "CUDA out of memory")                                      \
	X(LIBRARY_1, "CUBLAS_STATUS_")                                       \
	X(LIBRARY_2, "CUDNN_STATUS_")                                        \
	X(LIBRARY_3, "CUSOLVER_STATUS_")                                     \
	X(LIBRARY_4, "CUSPARSE_STATUS_")                                     \
	X(LIBRARY_5, "CUFFT_STATUS_")                                        \
	X(ASSERT, "Assertion `")                                             \
	X(EXCEPTION_NUMBER, "CUDA_EXCEPTION_")                               \
	X(EXCEPTION_LABEL, "CUDA Exception: ")                               \
	X(EXCEPTION_NAME, "CUDBG_EXCEPTION_")                                \
	X(SANITIZER, "========= ")                                           \
	X(DUMP, "coredump: Writing ELF file to ")                            \
	X(WATCHDOG, "Watchdog caught collective")                            \
	X(WATCHDOG_STUCK, "watchdog got stuck")                              \
	X(HEARTBEAT, "Heartbeat monitor timed out")                          \
	X(DOWN, "taking the entire process down")                            \
	X(NCCL_PEER_1, "ncclRemoteError")                                    \
	X(NCCL_PEER_2, "remote process exited or there was a network error") \
	X(NCCL_CUDA_1, "ncclUnhandledCudaError")                             \
	X(NCCL_CUDA_2, "unhandled cuda error")                               \
	X(NCCL_SYSTEM_1, "ncclSystemError")                                  \
	X(NCCL_SYSTEM_2, "unhandled system error")                           \
	X(NCCL_INTERNAL, "ncclInternalError")                                \
	X(NCCL_WARN, "NCCL WARN ")                                           \
	X(AMD, "Memory access fault by GPU")                                 \
	X(MESSAGE, "") /* and those messages of CUDA that are found by themselves */

enum wsi_log_word {
#define X(name, word) WSI_WORD_##name,
	WSI_LOG_WORD_LIST(X)
#undef X
};

enum {
	WSI_LOG_SHORTEST = 9,
	WSI_LOG_MOST_WORDS = 96,
};

/* Finds the words: a table says for the last two of so many bytes as the shortest word has how far
 * the next place can be at which one ends. */
struct wsi_log_words {
	struct {
		const char *text;
		size_t len;
		enum wsi_log_word word;
		uint16_t next;      /* with the same last two bytes; or 0 */
	} item[WSI_LOG_MOST_WORDS]; /* from 1 on */
	uint16_t n;
	uint16_t bucket[1 << 16]; /* the first item, or 0 */
	uint8_t skip[1 << 16];
};

void wsi_log_words_init(struct wsi_log_words *words);

/* A line, or a piece of one that is too long. */
struct wsi_log_piece {
	struct ws_str text;
	uint64_t line;  /* from 1 on */
	size_t off;     /* of the first word, in its file */
	uint64_t words; /* bit per enum wsi_log_word */
};

struct wsi_log_scan {
	const struct wsi_log_words *words;
	struct ws_str bytes;
	size_t at;      /* where to go on */
	size_t floor;   /* the end of the last piece */
	size_t counted; /* line ends before it are counted */
	uint64_t line_ends;
};

/* The next piece with a word that stands before `until`. False: there is none, and the lines so far
 * are counted. */
bool wsi_log_scan_next(struct wsi_log_scan *scan, size_t until, struct wsi_log_piece *ret_piece);

/* ---- what lines start with ---- */

enum { WSI_STAMP_BYTES = 32 };

struct wsi_stamp {
	uint64_t wall_ns; /* since the start of the year, without time zone; WSI_NO_NUMBER */
	char text[WSI_STAMP_BYTES]; /* as the line has it; empty: none */
};

void wsi_log_stamp(struct ws_str line, struct wsi_stamp *ret_stamp);
/* WSI_NO_NUMBER: the line does not say. */
uint64_t wsi_log_rank(struct ws_str line);

/* ---- what was told ---- */

enum {
	WSI_LOG_MOST_ROWS = 256,
	WSI_LOG_GPUS = 8, /* named of a row */
	WSI_LOG_GPU_BYTES = 100,
	WSI_LOG_DETAIL = 320,
};

struct wsi_told_row {
	enum ws_log_kind kind;
	uint32_t code;
	const struct wsi_log_topic *topic;
	uint64_t count;
	uint32_t file;
	uint64_t line;
	size_t off;
	struct wsi_stamp stamp;
	uint64_t rank; /* of the first line */
	struct wsi_few ranks;
	char gpu[WSI_LOG_GPUS][WSI_LOG_GPU_BYTES];
	uint32_t n_gpus;
	bool more_gpus;
	char detail[WSI_LOG_DETAIL]; /* of the first line; empty: none */
	uint32_t last_file;          /* of the last line, */
	uint64_t last_line;          /* which counts once */
};

/* What Xid 13 says of SMs. */
struct wsi_sms {
	uint32_t words;    /* bit per row of wsi_sm_errors */
	struct wsi_few at; /* GPC, TPC and SM, a byte each */
};

struct wsi_sm_error {
	const char *words; /* the driver's */
	uint8_t esr;       /* low byte of the SM's error status register; 0: not known */
	const char *means; /* a part of a sentence */
};
/* NULL past the last. */
const struct wsi_sm_error *wsi_sm_error_at(size_t index);

struct ws_log {
	struct wsi_arena arena;
	struct wsi_log_words words;
	struct wsi_told_row *row; /* owned */
	size_t n_rows, cap_rows;
	struct wsi_map by_kind;
	const char **file; /* owned; texts in the arena */
	size_t n_files, cap_files;
	uint64_t n_lines, n_more;
	bool no_memory;
	struct wsi_sms sms;
	/* where the piece is that is taken */
	struct wsi_log_piece piece;
	struct ws_log_result result;
};

/* What a line tells, besides where it stands. Texts may be NULL. */
struct wsi_told {
	enum ws_log_kind kind;
	uint32_t code;
	const struct wsi_log_topic *topic;
	const char *gpu, *detail;
};

/* Keeps it: a new row, or one more line of a row. Its row, or NULL: too many, or no memory. */
struct wsi_told_row *wsi_log_tell(struct ws_log *log, const struct wsi_told *told);
/* Everything that the piece tells. */
void wsi_log_piece(struct ws_log *log);
void wsi_log_take_xid(struct ws_log *log);
/* Errors of CUDA, by number, name or message. */
void wsi_log_take_cuda(struct ws_log *log);
/* Whether the piece has a word, or one of those from `first` to `last`. */
static inline bool wsi_log_has(const struct ws_log *log, enum wsi_log_word first,
			       enum wsi_log_word last)
{
	for (unsigned i = first; i <= last; i++)
		if (log->piece.words & UINT64_C(1) << i)
			return true;
	return false;
}
/* Letters, digits and _ from the start of a text on, at most `most`. */
struct ws_str wsi_log_name(struct ws_str text, size_t most);
/* A text in the arena; NULL, and `no_memory`, when memory is out. */
const char *wsi_log_format(struct ws_log *log, const char *format, ...) WS_PRINTF(2, 3);

/* Steps for the row that came first. */
void wsi_log_advise(struct ws_log *log, const struct wsi_told_row *root);

#endif
