/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Many dumps: one record of each, and what they say together.
 *
 * Two steps, which may run on different machines. ws_triage_record() makes a record of a report:
 * one line of JSON (docs/schema/warpscope-triage-1.json). A `ws_triage` takes records and says how
 * many bugs there are, and of each job which rank to look at first:
 *
 *   for each record: ws_triage_add()      counts, groups, jobs
 *   ws_triage_choose()
 *   for each record: ws_triage_look()     the ranks of the jobs that are shown
 *   ws_triage_judge()
 *
 * So memory depends on the number of groups, jobs and devices, and on the ranks that are shown, not
 * on the number of dumps, but for a few hundred bytes a dump to know the ones that come twice.
 *
 * A job is what lies in one folder, or what the names say (`%j`). Of two faults the order is not
 * told by times of files or in names, which say when something was written, on clocks that differ
 * (docs/decisions/0070-many-dumps.md).
 *
 * **Threads.** One at a time. **Ownership.** What a result refers to belongs to its `ws_triage`.
 */
#ifndef WARPSCOPE_TRIAGE_H
#define WARPSCOPE_TRIAGE_H

#include <warpscope/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- records ---- */

enum {
	/** Of a record with its newline, unless it is to be whole. */
	WS_TRIAGE_RECORD_BYTES = 4096,
	WS_TRIAGE_KEY_BYTES = 33, /**< with the NUL */
};

/** Which process was which rank, as `warpscope exec` recorded it; opaque. */
struct ws_triage_processes;

/** A dump, as the file system has it. */
struct ws_triage_file {
	const char *path;
	uint64_t bytes;     /**< as stored: packed */
	int64_t written_ns; /**< since 1970 */
	/** How names are made up, see ws_triage_pattern_check(); NULL: as the driver makes them. */
	const char *pattern;
	struct ws_triage_processes *processes; /**< asked where the name has no rank; or NULL */
};

/** @retval WS_NO_MEMORY */
WS_API enum ws_status ws_triage_processes_create(struct ws_triage_processes **ret_processes,
						 struct ws_error *err) WS_MUST_USE;
/** Takes a line of the record that lies in the folder of a dump (warpscope-exec-1.json), without
 * its newline. The line is changed; it need not stay. What is no such line is passed over.
 * @retval WS_NO_MEMORY */
WS_API enum ws_status ws_triage_processes_add(struct ws_triage_processes *processes, char *line,
					      size_t len, struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_triage_processes_destroy(struct ws_triage_processes *processes);

/** What is the same for the same state of a file: its path, size and time; 32 hexadecimal digits.
 * Another version of the signature or of the schema gives another one. */
WS_API void ws_triage_key(const struct ws_triage_file *file, char ret_key[WS_TRIAGE_KEY_BYTES]);

/**
 * Whether a pattern of names can be used. It is as that of CUDA_COREDUMP_FILE: %h host, %p process
 * id, %t time, and %r rank, %j job, %% a percent sign, * anything. It is held against the end of a
 * path, as many of its names as the pattern has, without .gz or .zst.
 * @retval WS_ARGUMENT  two of them stand side by side, or there is no such letter.
 */
WS_API enum ws_status ws_triage_pattern_check(const char *pattern,
					      struct ws_error *err) WS_MUST_USE;
/** Whether a path is as `pattern` says, or, with NULL, as the driver names dumps. */
WS_API bool ws_triage_pattern_fits(const char *pattern, const char *path);

/**
 * Writes the record of a dump: one line.
 * @param whole  Names are never cut; else the line has at most WS_TRIAGE_RECORD_BYTES.
 */
WS_API void ws_triage_record(const struct ws_report *report, const struct ws_triage_file *file,
			     bool whole, struct ws_out *out);
/** Writes the record of a dump that could not be read: one line. `why` is a sentence part. */
WS_API void ws_triage_record_failed(const struct ws_triage_file *file, const char *why, bool whole,
				    struct ws_out *out);
/** Whether a line is a record; its key. Looks at the first bytes only, unless another program wrote
 * the record anew. */
WS_API bool ws_triage_record_key(const char *line, size_t len, char ret_key[WS_TRIAGE_KEY_BYTES]);

/* ---- the result ---- */

/** What a dump tells of its process. */
enum ws_triage_role {
	WS_TRIAGE_FAULT,            /**< an exception or trap in its own code */
	WS_TRIAGE_COLLECTIVE_FAULT, /**< one in a collective operation: maybe another rank's doing
				     */
	WS_TRIAGE_WAITS,            /**< it waits in a collective operation */
	WS_TRIAGE_STUCK,            /**< its threads wait for each other, or for memory */
	WS_TRIAGE_RUNS,             /**< kernels run, and nothing is wrong */
	WS_TRIAGE_IDLE,             /**< no kernel is on the GPU */
	WS_TRIAGE_UNREADABLE,       /**< it cannot be read, or it is too damaged to tell */
};

/** "fault", "fault in a collective", "waits", "stuck", "runs", "idle" or "cannot tell". Static
 * storage. */
WS_API const char *ws_triage_role_text(enum ws_triage_role role);

/** Dumps with one signature. */
struct ws_triage_group {
	struct ws_str signature;
	struct ws_str verdict; /**< "fault" or "hang" */
	struct ws_str place;   /**< of the example: "file:line", or a function; or empty */
	uint64_t n_dumps;
	const char *ranks; /**< "0-3,7"; empty: none is known */
	/** Seconds since 1970, the first and the last of its dumps; 0: not known. */
	uint64_t first, last;
	struct ws_str example; /**< path: of those whose dump is sound, the first by name */
	bool in_doubt;         /**< the verdict of the example is (ws_report.doubt): so is all */
	bool known;            /**< it is in the baseline */
};

/** One dump of a job. */
struct ws_triage_row {
	int64_t rank;         /**< -1: not known */
	const char *rank_why; /**< then why not */
	struct ws_str name;   /**< "rank 3", or "host:pid:bus", as far as they are known */
	struct ws_str path;
	enum ws_triage_role role;
	struct ws_str what;  /**< what happened, or why it cannot be told */
	struct ws_str waits; /**< collective operation; empty: none */
	struct ws_str place; /**< "file:line", or a function; or empty */
	struct ws_str kernel;
	const char *evidence;  /**< what companion files say of this process, or NULL */
	const char *signature; /**< NULL: none */
	uint64_t time;         /**< 0: not known */
	uint32_t event;        /**< processes on one GPU that fault together: the same number */
};

/** The dumps of one job. */
struct ws_triage_job {
	struct ws_str name;               /**< folder, and what names say */
	const struct ws_triage_row *rows; /**< by rank, then by name */
	uint32_t n_rows;
	uint64_t n_dumps;        /**< more than rows: too many to show */
	const char *missing;     /**< ranks without a dump: "5,7"; empty: none that is known of */
	const char *missing_why; /**< how it is known that there should be more, or NULL */
	uint32_t culprit;        /**< row of who came first or holds the others up, or WS_NONE */
	uint32_t read;        /**< row of the dump to read, or WS_NONE: there is nothing to read */
	const char *sentence; /**< without its full stop */
	const char *const *reasons;
	uint32_t n_reasons;
};

/** A GPU whose processes fault. */
struct ws_triage_gpu {
	struct ws_str name; /**< "host 18:00" */
	uint64_t n_faults;
	uint32_t n_jobs, n_signatures; /**< at most 64 are counted */
};

struct ws_triage_result {
	uint64_t n_dumps, n_failed, n_faults, n_hangs, n_none, n_unknown;
	uint64_t n_again;                    /**< records of a dump that was there before */
	uint64_t n_not_records;              /**< lines */
	uint64_t n_unread_logs;              /**< files that ws_triage_read_log() could not read */
	const char *unread_log, *unread_why; /**< the first of them; NULL: there is none */
	const char *sentence;                /**< what to read first, without its full stop */
	const char *read;                    /**< path of that dump, or NULL */
	/** New ones first, waits in collective operations last, then by number of dumps. */
	const struct ws_triage_group *groups;
	uint32_t n_groups;
	bool has_baseline;
	uint64_t n_new_dumps;             /**< with a signature that is not in the baseline */
	const struct ws_triage_job *jobs; /**< with failures; the largest first */
	uint32_t n_jobs;
	uint64_t n_jobs_in_all;
	const struct ws_triage_gpu *gpus; /**< in more than one job */
	uint32_t n_gpus;
};

/* ---- making it ---- */

struct ws_triage; /* opaque */

/** Set `size`, zero the rest. Strings are borrowed while the triage lives. */
struct ws_triage_options {
	size_t size; /**< sizeof(struct ws_triage_options) */
	/** NULL: what the records say. */
	const char *pattern;
	/** Text: signatures that are known, one a line as pages show them; lines that start with #
	 * are comments. */
	const char *baseline;
	size_t baseline_len;
	uint32_t max_jobs; /**< that are shown; 0: 20 */
};

/** @retval WS_ARGUMENT, WS_NO_MEMORY */
WS_API enum ws_status ws_triage_create(const struct ws_triage_options *options,
				       struct ws_triage **ret_triage,
				       struct ws_error *err) WS_MUST_USE;
/** NULL is fine. */
WS_API void ws_triage_destroy(struct ws_triage *triage);
/**
 * The first look at a record, without its newline. The line is changed; it need not stay.
 * @retval WS_MALFORMED  it is no record of this version; it is counted, and changes nothing else.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_triage_add(struct ws_triage *triage, char *line, size_t len,
				    struct ws_error *err) WS_MUST_USE;
/**
 * For more records than memory is to be used for: forgets which dumps were seen. No record of a
 * dump may be in another part (ws_triage_record_key() tells them apart), and each look takes all
 * parts.
 */
WS_API void ws_triage_next_part(struct ws_triage *triage);
/** Ends the first look. */
WS_API enum ws_status ws_triage_choose(struct ws_triage *triage, struct ws_error *err) WS_MUST_USE;
/**
 * A line of a log that lies beside the dumps, any time before ws_triage_judge(): kernel log, NCCL's
 * log, PyTorch's watchdog, workers of vLLM and SGLang (docs/formats/companions.md). Other lines are
 * passed over. `log` tells logs apart: the lines of one are in the order of time.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_triage_log(struct ws_triage *triage, uint32_t log, const char *line,
				    size_t len, struct ws_error *err) WS_MUST_USE;
/**
 * A whole file about collectives, any time before ws_triage_judge(): what PyTorch's flight recorder
 * of a rank wrote (JSON, or a pickle, of which nothing is executed), or the status of NCCL's RAS as
 * JSON (docs/formats/companions.md). `name` is that of the file; that of a recorder ends in the
 * rank. The bytes are used up.
 * @retval WS_ABSENT     it is neither; lines of a log may be in it.
 * @retval WS_MALFORMED  it is one of them, but damaged; nothing of it is used.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_triage_snapshot(struct ws_triage *triage, const char *name, char *bytes,
					 size_t len, struct ws_error *err) WS_MUST_USE;
/**
 * A file of either kind, for ws_triage_snapshot() or, line by line, for ws_triage_log(): plain,
 * gzip or zstd. Of a packed file that is damaged, the lines before the damage count, and
 * `*ret_is_cut` says so. A last line without a newline is passed over: it may be half written.
 * @param max_unpacked_bytes  0: the default, 64 GiB
 * @retval WS_ABSENT       an ELF file, such as a dump
 * @retval WS_UNSUPPORTED  packed in a way that this build cannot unpack; a directory or device
 * @retval WS_MALFORMED    see ws_triage_snapshot(), or packed data that tells nothing
 * @retval WS_IO, WS_LIMIT, WS_NO_MEMORY
 */
WS_API enum ws_status ws_triage_read_log(struct ws_triage *triage, uint32_t log, const char *path,
					 uint64_t max_unpacked_bytes, bool *ret_is_cut,
					 struct ws_error *err) WS_MUST_USE;
/** The second look at the same records. */
WS_API enum ws_status ws_triage_look(struct ws_triage *triage, char *line, size_t len,
				     struct ws_error *err) WS_MUST_USE;
/** Ends the second look. The result lives as long as the triage. @retval WS_NO_MEMORY */
WS_API enum ws_status ws_triage_judge(struct ws_triage *triage,
				      const struct ws_triage_result **ret_result,
				      struct ws_error *err) WS_MUST_USE;

/* ---- pages ---- */

/** As the pages of a report (report.h). `link` gives the address of the page of a dump, or NULL:
 * it has none; it may be NULL. */
typedef const char *ws_triage_link_fn(void *user, struct ws_str path);
struct ws_triage_page {
	const struct ws_text_options *text; /**< may be NULL */
	ws_triage_link_fn *link;            /**< HTML only */
	void *user;
};

WS_API enum ws_status ws_triage_text(const struct ws_triage_result *result,
				     const struct ws_triage_page *page, struct ws_out *out,
				     struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_triage_markdown(const struct ws_triage_result *result,
					 const struct ws_triage_page *page, struct ws_out *out,
					 struct ws_error *err) WS_MUST_USE;
WS_API enum ws_status ws_triage_html(const struct ws_triage_result *result,
				     const struct ws_triage_page *page, struct ws_out *out,
				     struct ws_error *err) WS_MUST_USE;
/** By docs/schema/warpscope-triage-page-1.json. */
WS_API void ws_triage_json(const struct ws_triage_result *result, struct ws_out *out);
/** A line for each bug, as GitHub's runner reads them in the output of a step. */
WS_API void ws_triage_annotations(const struct ws_triage_result *result, struct ws_out *out);

#ifdef __cplusplus
}
#endif
#endif
