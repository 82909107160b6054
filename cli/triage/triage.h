/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpscope triage: what its files share.
 *
 *   main process                                   workers, one for each core
 *     triage.c   options; pages from records         worker.c   a dump -> its record
 *     list.c     files to read, in a spool
 *     scan.c     hands them out, takes records       ranks.c    what exec recorded beside it
 *     records.c  keeps records; what is done already
 *
 * Only workers read dumps, each in a sandbox of its own. The main process looks at nothing of what
 * they send but its length, and enters a sandbox before it reads records. A worker that crashes or
 * takes too long costs the record of one dump.
 */
#ifndef CLI_TRIAGE_H
#define CLI_TRIAGE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <warpscope/triage.h>

#include "cli.h"

enum triage_format { TRIAGE_TEXT, TRIAGE_MARKDOWN, TRIAGE_JSON, TRIAGE_HTML, TRIAGE_GITHUB };

struct triage_args {
	const char **paths; /* operands; borrowed */
	int n_paths;
	bool is_null; /* names on standard input end in NUL */
	const char *pattern, *baseline, *records, *html, *format, *output;
	struct cli_words logs, dumps; /* beside dumps; with merge: where the dumps are */
	bool jsonl, whole;            /* print records, and not cut */
	bool merge;                   /* the operands are records */
	bool watch;                   /* again and again */
	bool all, full_names;
	struct cli_given workers, timeout, limit, interval;
	uint32_t shard, n_shards; /* from 0; 0 shards: all */
	enum triage_format format_kind;
};

/* ---- list.c ---- */

/* The files to read: "f" or "n", the path, NUL; "n": the user named the very file. */
struct triage_list {
	FILE *spool;              /* without a name */
	struct cli_words folders; /* what is read, for the sandbox; each owned */
	struct cli_words ranks;   /* records of exec that lie beside dumps; each owned */
	char *beside;             /* the folder that was looked at last for these; owned */
	uint64_t n;
};

/* CLI_ANSWERED; or told what is wrong. */
int triage_list_make(const struct triage_args *args, struct triage_list *list);
/* The next file, valid until the next call; false: there is none. */
bool triage_list_next(struct triage_list *list, const char **ret_path, bool *ret_is_named);
/* Keeps only the files that `wanted` says, and starts again from the first. */
int triage_list_keep(struct triage_list *list, bool (*wanted)(void *user, const char *path),
		     void *user);
void triage_list_fini(struct triage_list *list);

/* ---- records.c ---- */

struct triage_records {
	int fd;
	const char *path;                 /* NULL: a file without a name */
	off_t end;                        /* of the last whole record */
	struct cli_bytes held;            /* whole records that are not written yet */
	char (*key)[WS_TRIAGE_KEY_BYTES]; /* of those that were there, sorted; owned */
	size_t n_keys;
};

/* Opens the file that goes on, or a new one without a name. */
int triage_records_open(const char *path, struct triage_records *records);
bool triage_records_have(const struct triage_records *records, const char *key);
/* These are done, too, whether they have a record or not. */
void triage_records_note(struct triage_records *records, char (*key)[WS_TRIAGE_KEY_BYTES],
			 size_t n);
/* Appends one, whole or not at all. It is written together with others: the last of them by
 * triage_records_end(), and those of a file that others read, or that a next run goes on from, by
 * triage_records_flush(), too. */
int triage_records_append(struct triage_records *records, const char *line, size_t len);
int triage_records_flush(struct triage_records *records);
int triage_records_end(struct triage_records *records);
void triage_records_close(struct triage_records *records);

typedef enum ws_status triage_line_fn(void *user, char *line, size_t len, struct ws_error *err);
/* Calls `each` for every record of an open file, from its start, without its newline; who wrote it
 * may have spread it over several lines. What is no record comes line by line. `last`: the last
 * needs no newline, if it is closed. */
enum ws_status triage_each_record(int fd, bool last, triage_line_fn *each, void *user,
				  struct ws_error *err);

/* ---- ranks.c ---- */

/* What the records of exec in the folder of `path` say, or NULL: there are none. Valid until the
 * next call. */
struct ws_triage_processes *triage_ranks(const struct triage_list *list, const char *path);

/* ---- scan.c, worker.c ---- */

/* Bytes of both follow: of the path, of the record. */
struct triage_request {
	uint32_t path_len, is_named;
	uint64_t bytes;
	int64_t written_ns;
};
struct triage_answer {
	uint32_t is_dump, len;
};

/* Reads all dumps of the list; `print`: the records are printed, too. */
int triage_scan(struct cli *cli, const struct triage_args *args, struct triage_list *list,
		struct triage_records *records, bool print);
/* Serves requests of `parent` until that one is gone; does not return. */
_Noreturn void triage_worker(const struct cli *cli, const struct triage_args *args,
			     const struct triage_list *list, int fd, pid_t parent);
/* ---- triage.c, watch.c ---- */

/* The page of all records; enters the sandbox. An exit status. */
int triage_page(struct cli *cli, const struct triage_args *args, const struct triage_list *list,
		const struct triage_records *records);
/* Reads what is new, until it is killed or something fails. */
int triage_watch(struct cli *cli, const struct triage_args *args, struct triage_records *records);
/* Enters the sandbox: what was listed, and what the options name. */
void triage_guard(const struct triage_args *args, const struct triage_list *list);

#endif
