/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the triage share:
 *
 *   name.c     host, process, rank, job of a dump, from its name
 *   process.c  rank of a process, from the record of `warpscope exec`
 *   record.c   a record: fields, writing, reading; describe.c fills one from a report
 *   gather.c   groups, jobs and GPUs of many records
 *   judge.c    which rank of a job was first, or holds the others up
 *   role.c     the words for what a dump tells of its process
 *   calls.c    which collective operation each rank waits in
 *   companion.c  logs that lie beside dumps, and their lines
 *   snapshot.c   files about collectives: PyTorch's flight recorder, NCCL's RAS
 *   evidence.c   what both tell of a dump; progress.c: which rank is behind by it
 *   tree.c, pickle.c   JSON and pickles as lists and maps
 */
#ifndef WSI_TRIAGE_H
#define WSI_TRIAGE_H

#include <warpscope/triage.h>

#include "base/arena.h"
#include "base/map.h"
#include "log/line.h"
#include "log/ranks.h"

/* Whether bytes can be those of ws_triage_snapshot(), by the first of them. */
bool wsi_triage_is_snapshot(struct ws_span bytes);

/* ---- names ---- */

/* Without the ending of a packed file. */
struct ws_str wsi_unpacked_name(struct ws_str path);

/* What a name says. Texts lie in the path; empty: it does not say. */
struct wsi_dump_name {
	struct ws_str host, job;
	uint64_t pid, time, rank; /* WSI_NO_NUMBER */
};

/* False: the path is not as the pattern says, and nothing is known. NULL: as the driver names. */
bool wsi_dump_name_read(const char *pattern, struct ws_str path, struct wsi_dump_name *ret_name);

/* ---- records ---- */

/* Fields of a record in their order; S: text, N: number, B: yes or no. A text without an address
 * is null, a number WSI_NO_NUMBER, too. */
#define WSI_RECORD_FIELDS(S, N, B) \
	S(path)                    \
	N(bytes)                   \
	N(written)                 \
	S(status)                  \
	S(why)                     \
	S(verdict)                 \
	S(summary)                 \
	S(signature)               \
	N(signature_version)       \
	S(signature_what)          \
	S(signature_kernel)        \
	S(signature_functions)     \
	S(signature_last)          \
	S(exception)               \
	S(blame)                   \
	S(kernel)                  \
	S(kernel_mangled)          \
	S(collective)              \
	S(waits_for)               \
	S(function)                \
	S(file)                    \
	N(line)                    \
	N(resident_warps)          \
	N(devices)                 \
	N(device)                  \
	S(device_name)             \
	S(device_type)             \
	S(pci)                     \
	S(host)                    \
	N(pid)                     \
	N(rank)                    \
	S(rank_from)               \
	S(rank_why)                \
	N(ranks)                   \
	S(job)                     \
	N(time)                    \
	S(time_from)               \
	S(driver)                  \
	S(cuda)                    \
	N(sm)                      \
	S(compiler)                \
	S(code_id)                 \
	B(lines)                   \
	B(complete)                \
	B(cut)                     \
	N(diagnostics)             \
	S(damage)                  \
	S(doubt)

struct wsi_triage_record {
	char key[WS_TRIAGE_KEY_BYTES];
	char attempt[32]; /* what `job` may refer to */
#define S(name) struct ws_str name;
#define N(name) uint64_t name;
#define B(name) bool name;
	WSI_RECORD_FIELDS(S, N, B)
#undef S
#undef N
#undef B
};

/* All is missing. */
void wsi_triage_record_init(struct wsi_triage_record *record);
/* Takes a line apart; texts lie in it. False: it is no record. */
bool wsi_triage_record_read(char *line, size_t len, struct wsi_triage_record *ret_record);
/* Writes one. */
void wsi_triage_record_write(const struct wsi_triage_record *record, bool whole,
			     struct ws_out *out);
/* Host, process, rank, job, and why there is no rank. `processes` may be NULL; then what they told
 * before stays. */
void wsi_triage_record_name(struct wsi_triage_record *record, const char *pattern,
			    struct ws_triage_processes *processes);

/* ---- processes ---- */

struct wsi_process {
	uint64_t rank, n_ranks, attempt; /* WSI_NO_NUMBER */
};

enum wsi_triage_known {
	WSI_UNKNOWN,
	WSI_KNOWN,
	WSI_AMBIGUOUS, /* two processes had that number one after the other */
};

enum wsi_triage_known wsi_process_find(struct ws_triage_processes *processes, struct ws_str host,
				       uint64_t pid, struct wsi_process *ret_process);

/* ---- what many records have in common ---- */

struct wsi_bug {
	struct ws_triage_group shown;
	struct wsi_few ranks;
	unsigned worth;  /* of the example */
	bool only_waits; /* in a collective operation, for another rank */
	struct ws_str what, kernel;
};

struct wsi_gpu {
	struct ws_triage_gpu shown;
	struct wsi_few jobs, signatures;
};

/* ---- jobs ---- */

/* A dump of a job that is shown. Texts lie in the arena of the triage. */
struct wsi_entry {
	struct ws_triage_row row;
	struct ws_str host, pci;
	uint64_t pid, n_ranks; /* n_ranks: of its job, as exec's record says; or WSI_NO_NUMBER */
	bool by_lane;          /* a lane carries the exception itself */
	bool alone;            /* it waits for threads of its own blocks */
};

struct wsi_triage_job {
	struct ws_str name;
	uint64_t n_dumps, n_failures;
	uint32_t shown;          /* among those that are; WS_NONE */
	struct wsi_entry *entry; /* owned */
	size_t n, cap;
};

/* ---- logs and files beside dumps ---- */

/* An Xid line. */
struct wsi_told_xid {
	uint32_t log; /* which log; in the order of its lines */
	uint64_t number, pid;
	char pci[16];
	struct ws_str host; /* empty: the log does not say */
};

/* A worker of an inference server. */
struct wsi_told_worker {
	struct ws_str label;
	uint64_t pid, rank; /* WSI_NO_NUMBER */
	bool has_failed;
};

/* Who tells of collectives. */
enum wsi_teller { WSI_WATCHDOG = 1, WSI_RECORDER = 2, WSI_RAS = 4 };

/* How far a rank came in a group of ranks. */
struct wsi_count {
	enum wsi_teller teller;
	uint64_t rank;
	uint64_t enqueued, completed; /* completed: WSI_NO_NUMBER: nobody says */
	struct ws_str operation;      /* the first that is not complete; empty: not known */
};

/* Ranks that call collectives together. The first group is that of all ranks. */
struct wsi_rank_group {
	struct ws_str name;
	const uint64_t *ranks; /* NULL: all that are known of */
	uint32_t n_ranks;
};

struct wsi_evidence {
	struct wsi_told_xid *xids; /* owned, as the next ones */
	size_t n_xids, cap_xids;
	struct wsi_comm_member *members;
	size_t n_members, cap_members;
	struct wsi_told_worker *workers;
	size_t n_workers, cap_workers;
	struct wsi_count *counts;
	size_t n_counts, cap_counts;
	struct wsi_rank_group *groups;
	size_t n_groups, cap_groups;
	uint64_t *gone; /* ranks that do not answer NCCL's RAS */
	size_t n_gone, cap_gone;
	struct wsi_map by_count; /* group and rank -> the newest count */
	struct wsi_map by_group; /* its name and ranks */
};

void wsi_evidence_fini(struct wsi_evidence *evidence);
/* Each false: memory is out. What is too much is passed over. */
bool wsi_evidence_xid(struct ws_triage *triage, uint32_t log, const struct wsi_xid *xid);
bool wsi_evidence_member(struct ws_triage *triage, const struct wsi_comm_member *member);
bool wsi_evidence_worker(struct ws_triage *triage, const struct wsi_server_worker *worker);
bool wsi_evidence_gone(struct ws_triage *triage, uint64_t rank);
/* A group, made if need be; the ranks are copied. An empty name: all ranks. `*ret_group` is
 * SIZE_MAX where there are too many, and counts of that are passed over. */
bool wsi_evidence_group(struct ws_triage *triage, struct ws_str name, const uint64_t *ranks,
			size_t n_ranks, size_t *ret_group);
bool wsi_evidence_count(struct ws_triage *triage, size_t group, const struct wsi_count *count);

/* Each NULL: nobody says. */
const struct wsi_comm_member *wsi_member_of(const struct ws_triage *triage,
					    const struct wsi_entry *entry);
/* Of a process that alone has its number in the job. */
const struct wsi_told_worker *wsi_triage_worker_of(const struct ws_triage *triage,
						   const struct wsi_triage_job *job,
						   const struct wsi_entry *entry);
const struct wsi_told_xid *wsi_triage_xid_of(const struct ws_triage *triage,
					     const struct wsi_entry *entry);
const struct wsi_count *wsi_count_of(const struct ws_triage *triage, size_t group, uint64_t rank);
/* What all that says of a dump, in words; `counts`: the counts are those of its job. */
const char *wsi_evidence_text(struct ws_triage *triage, const struct wsi_entry *entry, bool counts);
/* "PyTorch's watchdog"; of several tellers "the logs". */
const char *wsi_teller_text(unsigned tellers);

/* How far ranks came, by counts. */
enum wsi_progress_kind {
	WSI_PROGRESS_UNTOLD,   /* nobody says */
	WSI_PROGRESS_PART,     /* of some ranks nobody says */
	WSI_PROGRESS_EVEN,     /* all came as far */
	WSI_PROGRESS_BEHIND,   /* one is behind, and waits for none */
	WSI_PROGRESS_OTHER,    /* one calls another operation than all others */
	WSI_PROGRESS_SEVERAL,  /* several are behind */
	WSI_PROGRESS_MISMATCH, /* they call different operations */
};

struct wsi_progress {
	enum wsi_progress_kind kind;
	uint64_t rank;      /* behind, or other */
	const char *words;  /* of that rank, or of all */
	const char *reason; /* or NULL */
};

/* `n_ranks`: so many are known of. False: memory is out. */
bool wsi_progress_of(struct ws_triage *triage, uint64_t n_ranks, struct wsi_progress *ret_progress);

struct ws_triage {
	struct ws_triage_options options;
	struct wsi_arena arena;
	struct wsi_map seen; /* how often each dump was looked at */
	struct wsi_map by_signature, by_job, by_gpu, known;
	uint32_t look; /* 1 or 2 */
	struct wsi_evidence evidence;
	struct ws_triage_result result;
	struct wsi_bug *groups; /* owned, as the next ones */
	size_t n_groups, cap_groups;
	struct wsi_triage_job *jobs;
	size_t n_jobs, cap_jobs;
	struct wsi_gpu *gpus;
	size_t n_gpus, cap_gpus;
};

/* What is the same for the same texts and for no others. */
struct wsi_map_key wsi_key_of(struct ws_str a, struct ws_str b);
/* A copy that lives as long as the triage. */
struct ws_str wsi_keep(struct ws_triage *triage, struct ws_str text);
/* A text by a format that lives as long as the triage; NULL when memory is out. */
const char *wsi_keep_format(struct ws_triage *triage, const char *format, ...) WS_PRINTF(2, 3);

/* ---- which collective operation ranks wait in ---- */

enum { WSI_MAX_CALLS = 8 };

/* An operation that entries wait in, by its name and, of NCCL, by that of its kernel, which tells
 * the type of the numbers. */
struct wsi_call {
	const struct ws_triage_row *row; /* of the first */
	uint32_t first, n;
	bool by_kernel; /* others wait in the same operation of other types */
	struct wsi_few ranks;
};

/* Those of a job, but for the entry `but`, in the order of their first ones; how many. What is more
 * is counted with the last. */
uint32_t wsi_calls_of(const struct wsi_triage_job *job, uint32_t but,
		      struct wsi_call ret_calls[WSI_MAX_CALLS]);
/* "NCCL all-reduce"; of several "NCCL all-reduce (ranks 0-2) and NCCL all-gather (rank 3)". */
const char *wsi_calls_text(struct ws_triage *triage, const struct wsi_call *calls, uint32_t n);

/* Says of a job what happened first, from its entries. */
enum ws_status wsi_judge(struct ws_triage *triage, struct wsi_triage_job *job,
			 struct ws_triage_job *ret_job) WS_MUST_USE;

#endif
