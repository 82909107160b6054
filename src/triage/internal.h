/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the triage share:
 *
 *   name.c     host, process, rank, job of a dump, from its name
 *   record.c   a record: fields, writing, reading; describe.c fills one from a report
 *   gather.c   groups, jobs and GPUs of many records
 *   judge.c    which rank of a job was first, or holds the others up
 *   ranks.c    ranks as text, and which are missing
 *   companion.c  lines of logs that lie beside dumps
 */
#ifndef WSI_TRIAGE_H
#define WSI_TRIAGE_H

#include <warpscope/triage.h>

#include "base/arena.h"
#include "base/map.h"

/* ---- names ---- */

#define WSI_NO_NUMBER UINT64_MAX

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
	S(damage)

struct wsi_record {
	char key[WS_TRIAGE_KEY_BYTES];
#define S(name) struct ws_str name;
#define N(name) uint64_t name;
#define B(name) bool name;
	WSI_RECORD_FIELDS(S, N, B)
#undef S
#undef N
#undef B
};

/* All is missing. */
void wsi_record_init(struct wsi_record *record);
/* Takes a line apart; texts lie in it. False: it is no record. */
bool wsi_record_read(char *line, size_t len, struct wsi_record *ret_record);
/* Writes one. */
void wsi_record_write(const struct wsi_record *record, bool whole, struct ws_out *out);
/* Host, process, rank, job, and why there is no rank. */
void wsi_record_name(struct wsi_record *record, const char *pattern);

/* ---- what many records have in common ---- */

enum { WSI_FEW = 64 };

/* Some different numbers; more are not kept. */
struct wsi_few {
	uint64_t number[WSI_FEW];
	uint32_t n;
	bool more;
};

struct wsi_bug {
	struct ws_triage_group shown;
	struct wsi_few ranks;
	bool is_sound; /* the example */
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
	uint64_t pid;
	bool by_lane; /* a lane carries the exception itself */
	bool alone;   /* it waits for threads of its own blocks */
};

struct wsi_job {
	struct ws_str name;
	uint64_t n_dumps, n_failures;
	uint32_t shown;          /* among those that are; WS_NONE */
	struct wsi_entry *entry; /* owned */
	size_t n, cap;
};

/* ---- logs beside dumps ---- */

/* What the driver told the kernel of a GPU. */
struct wsi_xid {
	uint32_t log; /* which log; in the order of its lines */
	uint64_t number, pid;
	char pci[16];
	struct ws_str host; /* empty: the log does not say */
};

/* A process in a communicator of NCCL. */
struct wsi_member {
	struct ws_str host;
	uint64_t pid, rank, n_ranks;
};

/* What PyTorch's watchdog tells of the collectives of a rank. */
struct wsi_count {
	uint64_t rank, enqueued, completed;
};

struct wsi_evidence {
	struct wsi_xid *xids; /* owned, as the next ones */
	size_t n_xids, cap_xids;
	struct wsi_member *members;
	size_t n_members, cap_members;
	struct wsi_count *counts;
	size_t n_counts, cap_counts;
};

void wsi_evidence_fini(struct wsi_evidence *evidence);
/* Each NULL: the logs do not say. */
const struct wsi_member *wsi_member_of(const struct ws_triage *triage,
				       const struct wsi_entry *entry);
const struct wsi_xid *wsi_xid_of(const struct ws_triage *triage, const struct wsi_entry *entry);
const struct wsi_count *wsi_count_of(const struct ws_triage *triage, int64_t rank);

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
	struct wsi_job *jobs;
	size_t n_jobs, cap_jobs;
	struct wsi_gpu *gpus;
	size_t n_gpus, cap_gpus;
};

/* A copy that lives as long as the triage. */
struct ws_str wsi_keep(struct ws_triage *triage, struct ws_str text);
/* The same of a format; NULL when memory is out. */
const char *wsi_keep_format(struct ws_triage *triage, const char *format, ...) WS_PRINTF(2, 3);

/* "0-3,7": sorted numbers; `more`: there are others. */
const char *wsi_ranks_text(struct ws_triage *triage, const uint64_t *ranks, size_t n, bool more);
/* Says of a job what happened first, from its entries. */
enum ws_status wsi_judge(struct ws_triage *triage, struct wsi_job *job,
			 struct ws_triage_job *ret_job) WS_MUST_USE;

#endif
