/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Logs without a dump: which lines tell of a GPU that failed, which came first, what they mean and
 * cannot mean, and which dump to take next.
 *
 *   ws_log_create()
 *   ws_log_read() or ws_log_take(), for each file
 *   ws_log_judge()
 *
 * Only known formats are looked for (docs/formats/logs.md); of a line nothing is kept but numbers,
 * names of enumerators, and the few texts that `detail` names. Memory does not depend on the size
 * of the logs.
 *
 * **Threads.** One at a time. **Ownership.** What a result refers to belongs to its `ws_log`.
 */
#ifndef WARPSCOPE_LOG_H
#define WARPSCOPE_LOG_H

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of lines, with their words in JSON. */
#define WS_LOG_KIND_LIST(X)                                                                \
	X(XID, "xid")             /**< the driver, in the kernel log; code: its number */  \
	X(SXID, "sxid")           /**< an NVSwitch, likewise */                            \
	X(CUDA, "cuda")           /**< a CUDA call; code: the number of its error, or 0 */ \
	X(LIBRARY, "library")     /**< a call of cuBLAS, cuDNN, ... */                     \
	X(ASSERT, "assert")       /**< an assertion in a kernel */                         \
	X(EXCEPTION, "exception") /**< a device exception, as in dumps; code: the same */  \
	X(SANITIZER, "sanitizer") /**< compute-sanitizer */                                \
	X(WATCHDOG, "watchdog")   /**< PyTorch's watchdog of collectives */                \
	X(NCCL, "nccl") /**< NCCL; code: 1 a peer is gone, 2 CUDA, 3 system, 4 internal */ \
	X(DUMP, "dump") /**< the driver writes a dump */                                   \
	X(AMD, "amd")   /**< a GPU of another vendor */

enum ws_log_kind {
#define X(name, word) WS_LOG_##name,
	WS_LOG_KIND_LIST(X)
#undef X
};

/** What a line can be in the story, with its words. */
#define WS_LOG_ROLE_LIST(X)                                                                        \
	X(FAULT, "fault")            /**< a kernel failed, mostly by an error of the program */    \
	X(HARDWARE, "GPU or driver") /**< the GPU, a link, or the driver */                        \
	X(CALL, "failed call")       /**< an error of one call, which leaves the context intact */ \
	X(UNKNOWN, "not known")      /**< a failure of which nothing is known here */              \
	X(WAIT, "wait")              /**< somebody waited in vain */                               \
	X(AFTER, "consequence")      /**< it follows on something else */                          \
	X(NOTE, "note")              /**< no failure */

enum ws_log_role {
#define X(name, word) WS_LOG_ROLE_##name,
	WS_LOG_ROLE_LIST(X)
#undef X
};

/** Lines of one kind and code. */
struct ws_log_row {
	enum ws_log_kind kind;
	enum ws_log_role role;
	uint32_t code;
	const char *what;   /**< "Xid 31: memory page fault" */
	const char *detail; /**< what the first line tells beyond that, or NULL */
	uint64_t count;     /**< of lines */
	const char *file;   /**< of the first line; as it was named */
	uint64_t line;      /**< counted from 1 */
	const char *time;   /**< as that line has it, or NULL */
	const char *who;    /**< "ranks 0-2,4", "GPU 0000:18:00 on node0"; empty: no line says */
	const char *means;  /**< sentences, or NULL */
	const char *cannot; /**< what it cannot mean, or does not tell; or NULL */
};

/** What to do. */
struct ws_log_step {
	const char *why;     /**< a sentence without its full stop */
	const char *command; /**< or NULL */
};

enum ws_log_verdict {
	WS_LOG_NOTHING, /**< no line tells of a failure */
	WS_LOG_FAILED,
	WS_LOG_HANGS,       /**< ranks waited in vain, and nothing says for what */
	WS_LOG_CANNOT_TELL, /**< only consequences, of something that the logs do not have */
};

/** "none", "fault", "hang" or "unknown". Static storage. */
WS_API const char *ws_log_verdict_word(enum ws_log_verdict verdict);
WS_API const char *ws_log_kind_word(enum ws_log_kind kind);
WS_API const char *ws_log_role_word(enum ws_log_role role);

struct ws_log_result {
	enum ws_log_verdict verdict;
	const char *sentence;          /**< what came first, without its full stop */
	const struct ws_log_row *rows; /**< what came first, then in the order of the files */
	uint32_t n_rows;
	const char *const *doubts; /**< what the order rests on, and what is missing */
	uint32_t n_doubts;
	const struct ws_log_step *steps; /**< in the order in which to do them */
	uint32_t n_steps;
	uint64_t n_files, n_lines;
	uint64_t n_more; /**< lines of kinds beyond those that are kept */
};

struct ws_log; /* opaque */

/** @retval WS_NO_MEMORY */
WS_API enum ws_status ws_log_create(struct ws_log **ret_log, struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_log_destroy(struct ws_log *log);
/**
 * Reads a file: plain, gzip or zstd, "-" for standard input. Of a packed file that is damaged, the
 * lines before the damage count, and `*ret_is_cut` says so.
 * @param max_unpacked_bytes  0: the default, 64 GiB
 * @retval WS_ABSENT       an ELF file, such as a dump
 * @retval WS_UNSUPPORTED  packed in a way that this build cannot unpack; a directory or device
 * @retval WS_IO, WS_LIMIT, WS_MALFORMED, WS_NO_MEMORY
 */
WS_API enum ws_status ws_log_read(struct ws_log *log, const char *path, uint64_t max_unpacked_bytes,
				  bool *ret_is_cut, struct ws_error *err) WS_MUST_USE;
/** Reads a log that is in memory; `name` is copied, and the bytes need not stay.
 * @retval WS_NO_MEMORY */
WS_API enum ws_status ws_log_take(struct ws_log *log, const char *name, const char *bytes,
				  size_t len, struct ws_error *err) WS_MUST_USE;
/** Once, at the end. The result lives as long as the log. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_log_judge(struct ws_log *log, const struct ws_log_result **ret_result,
				   struct ws_error *err) WS_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
