/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rank of a job was first, or holds the others up.
 *
 *   a fault outside of collectives, one           it is that rank
 *     several                                     cannot tell, unless a kernel log orders them
 *   no such fault, but one in a collective        it is that rank if all others only wait
 *   no fault, and ranks wait in a collective      the one rank that does not, if there is one
 *   no fault, and one rank is stuck by itself     it is that rank
 *
 * A dump that cannot be read was most likely made by a fault, so beside one nothing is certain; a
 * rank without a dump may be the one that a collective lacks. Times of files never decide. Logs
 * beside the dumps do where they tell of the same processes: the order of Xid lines in the kernel
 * log of one host, and how far each rank came by PyTorch's watchdog.
 */
#include "triage/internal.h"

#include "report/library.h"

enum { N_ROLES = WS_TRIAGE_UNREADABLE + 1, MAX_REASONS = 12 };

/* The entries of a job by what they tell. */
struct scene {
	struct ws_triage *triage;
	const struct wsi_triage_job *job;
	struct ws_triage_job *shown;
	uint32_t n[N_ROLES];
	uint32_t first[N_ROLES]; /* entry, or WS_NONE */
	uint32_t n_events;       /* faults outside of collectives; of one GPU together one */
	bool one_signature;      /* of these events */
	uint32_t n_alone;        /* stuck, and for nobody else's doing */
	uint64_t n_ranks;        /* as logs say; 0: not known */
	const char *reasons[MAX_REASONS];
	uint32_t n_reasons;
};

static int entry_order(const void *left, const void *right)
{
	const struct ws_triage_row *a = &((const struct wsi_entry *)left)->row;
	const struct ws_triage_row *b = &((const struct wsi_entry *)right)->row;
	if ((a->rank < 0) != (b->rank < 0))
		return a->rank < 0 ? 1 : -1;
	return WSI_ORDER_THEN(a->rank, b->rank, strcmp(a->path.ptr, b->path.ptr));
}

static bool is_fault(const struct wsi_entry *entry)
{
	return entry->row.role == WS_TRIAGE_FAULT || entry->row.role == WS_TRIAGE_COLLECTIVE_FAULT;
}

static void reason(struct scene *s, const char *text)
{
	if (text && s->n_reasons < MAX_REASONS)
		s->reasons[s->n_reasons++] = text;
}

/* ---- what there is ---- */

/* The clients of one MPS server all dump when one of them faults; what faults on one GPU is taken
 * as one event. */
static void number_events(struct scene *s)
{
	struct wsi_entry *e = s->job->entry;
	uint32_t n_events = 0;
	for (size_t i = 0; i < s->job->n; i++) {
		if (!is_fault(&e[i]))
			continue;
		size_t k = i;
		if (e[i].host.len && e[i].pci.len)
			for (k = 0; k < i; k++)
				if (is_fault(&e[k]) && ws_str_equal(e[k].host, e[i].host) &&
				    ws_str_equal(e[k].pci, e[i].pci) && e[k].pid != e[i].pid)
					break;
		e[i].row.event = k < i ? e[k].row.event : ++n_events;
	}
}

/* The first entry of each event that is no doing of a collective. */
static bool starts_event(const struct wsi_entry *e, size_t i)
{
	if (e[i].row.role != WS_TRIAGE_FAULT)
		return false;
	for (size_t k = 0; k < i; k++)
		if (e[k].row.role == WS_TRIAGE_FAULT && e[k].row.event == e[i].row.event)
			return false;
	return true;
}

static void count_roles(struct scene *s)
{
	const struct wsi_entry *e = s->job->entry;
	const char *signature = NULL;
	s->one_signature = true;
	for (size_t i = 0; i < N_ROLES; i++)
		s->first[i] = WS_NONE;
	for (size_t i = 0; i < s->job->n; i++) {
		enum ws_triage_role role = e[i].row.role;
		if (s->n[role]++ == 0)
			s->first[role] = (uint32_t)i;
		s->n_alone += role == WS_TRIAGE_STUCK && e[i].alone;
		if (!starts_event(e, i))
			continue;
		s->n_events++;
		if (!e[i].row.signature ||
		    (signature && strcmp(signature, e[i].row.signature) != 0))
			s->one_signature = false;
		signature = e[i].row.signature;
	}
}

/* Who dumped an event: the only one there, or the only one of whose threads one carries the
 * exception; WS_NONE: nobody can tell. */
static uint32_t leader(const struct scene *s, uint32_t event)
{
	const struct wsi_entry *e = s->job->entry;
	uint32_t only = WS_NONE, by_lane = WS_NONE, n = 0, n_by_lane = 0;
	for (uint32_t i = 0; i < s->job->n; i++) {
		if (!is_fault(&e[i]) || e[i].row.event != event)
			continue;
		only = i;
		n++;
		if (e[i].by_lane && n_by_lane++ == 0)
			by_lane = i;
	}
	return n == 1 ? only : n_by_lane == 1 ? by_lane : WS_NONE;
}

/* Counts are told by rank, so they are of use for one job only. */
static bool is_only_job(const struct scene *s)
{
	return s->triage->n_jobs == 1;
}

/* Whether some rank has two dumps: then more than one run lies there. */
static bool has_twice(const struct wsi_triage_job *job)
{
	for (size_t i = 1; i < job->n; i++)
		if (job->entry[i].row.rank >= 0 &&
		    job->entry[i].row.rank == job->entry[i - 1].row.rank)
			return true;
	return false;
}

/* Ranks that logs tell of processes; where a log has only a label, the label is the name. */
static void adopt_evidence(struct scene *s)
{
	for (size_t i = 0; i < s->job->n; i++) {
		struct wsi_entry *entry = &s->job->entry[i];
		const struct wsi_comm_member *member = wsi_member_of(s->triage, entry);
		const struct wsi_told_worker *worker =
			member ? NULL : wsi_triage_worker_of(s->triage, s->job, entry);
		uint64_t rank = member ? member->rank : worker ? worker->rank : WSI_NO_NUMBER;
		if (entry->n_ranks != WSI_NO_NUMBER)
			s->n_ranks = wsi_max_u64(s->n_ranks, entry->n_ranks);
		if (member && (entry->row.rank < 0 || (uint64_t)entry->row.rank == rank))
			s->n_ranks = wsi_max_u64(s->n_ranks, member->n_ranks);
		if (entry->row.rank >= 0 || (rank > INT64_MAX && !worker))
			continue;
		const char *name = rank <= INT64_MAX
					   ? wsi_keep_format(s->triage, "rank %" PRIu64, rank)
					   : worker->label.ptr;
		if (rank <= INT64_MAX) {
			entry->row.rank = (int64_t)rank;
			entry->row.rank_why = NULL;
		}
		entry->row.name = ws_str_of(name);
	}
	if (is_only_job(s) && s->triage->evidence.n_groups)
		s->n_ranks = wsi_max_u64(s->n_ranks, s->triage->evidence.groups[0].n_ranks);
}

static void show_evidence(struct scene *s)
{
	for (size_t i = 0; i < s->job->n; i++) {
		struct wsi_entry *entry = &s->job->entry[i];
		entry->row.evidence = wsi_evidence_text(s->triage, entry, is_only_job(s));
	}
}

static const char *plural_of_missing(const struct scene *s)
{
	return strpbrk(s->shown->missing, ",-") ? "s" : "";
}

/* Ranks without a dump: below the highest, or as many as NCCL says. */
static void find_missing_ranks(struct scene *s)
{
	uint64_t missing[WSI_FEW];
	size_t n = 0;
	int64_t due = 0;
	bool more = false;
	for (size_t i = 0; i < s->job->n; i++) {
		int64_t rank = s->job->entry[i].row.rank;
		if (rank < 0)
			continue;
		for (; due < rank && n < WSI_FEW; due++)
			missing[n++] = (uint64_t)due;
		more |= due < rank;
		due = rank + 1;
	}
	for (; due > 0 && (uint64_t)due < s->n_ranks && n < WSI_FEW; due++)
		missing[n++] = (uint64_t)due;
	more |= due > 0 && (uint64_t)due < s->n_ranks;
	s->shown->missing = wsi_ranks_text(&s->triage->arena, missing, n, more);
	if (n)
		s->shown->missing_why = s->n_ranks ? "logs or exec say how many ranks there are"
						   : "higher ranks left one";
}

/* ---- sentences ---- */

/* "illegal memory access in `kernel` at file.cu:7"; without lines the place may be the kernel. */
static const char *fault_words(struct scene *s, uint32_t at)
{
	const struct ws_triage_row *row = &s->job->entry[at].row;
	bool has_place = row->place.len && !ws_str_equal(row->place, row->kernel);
	return wsi_keep_format(
		s->triage, "%.*s%s%.*s%s%s%.*s", (int)wsi_min_u64(row->what.len, 200),
		row->what.ptr, row->kernel.len ? " in `" : "",
		(int)wsi_min_u64(row->kernel.len, 200), row->kernel.ptr, row->kernel.len ? "`" : "",
		has_place ? " at " : "", has_place ? (int)wsi_min_u64(row->place.len, 200) : 0,
		row->place.ptr);
}

/* What a process does that is not in a collective operation. */
static const char *stuck_words(struct scene *s, uint32_t at)
{
	const struct ws_triage_row *row = &s->job->entry[at].row;
	if (row->role == WS_TRIAGE_IDLE)
		return "has no kernel on its GPU, so look at its host program";
	if (row->role == WS_TRIAGE_RUNS)
		return wsi_keep_format(s->triage, "runs `%.*s`",
				       (int)wsi_min_u64(row->kernel.len, 200), row->kernel.ptr);
	bool has_place = row->place.len && !ws_str_equal(row->place, row->kernel);
	return wsi_keep_format(
		s->triage, "waits in `%.*s`%s%.*s", (int)wsi_min_u64(row->kernel.len, 200),
		row->kernel.ptr, has_place ? " at " : "",
		has_place ? (int)wsi_min_u64(row->place.len, 200) : 0, row->place.ptr);
}

/* "; 7 others wait in NCCL all-reduce": than `at`, or WS_NONE. */
static const char *others(struct scene *s, uint32_t at)
{
	struct wsi_call calls[WSI_MAX_CALLS];
	uint32_t n_calls = wsi_calls_of(s->job, at, calls), n = 0;
	for (uint32_t i = 0; i < n_calls; i++)
		n += calls[i].n;
	if (!n)
		return "";
	return wsi_keep_format(s->triage, "; %" PRIu32 " other%s in %s", n,
			       n == 1 ? " waits" : "s wait",
			       wsi_calls_text(s->triage, calls, n_calls));
}

static struct ws_str file_of(const struct scene *s, uint32_t at)
{
	return wsi_report_file_name(s->job->entry[at].row.path);
}

#define NAME(s, at) \
	(int)wsi_min_u64((s)->job->entry[at].row.name.len, 300), (s)->job->entry[at].row.name.ptr

static const char *faulted(struct scene *s, uint32_t at)
{
	return wsi_keep_format(s->triage, "faulted (%s)", fault_words(s, at));
}

/* `words`: what it did. */
static void blame(struct scene *s, uint32_t at, const char *words)
{
	struct ws_str file = file_of(s, at), name = s->job->entry[at].row.name;
	if (ws_str_equal(name, file))
		name = ws_str_of("it");
	s->shown->culprit = s->shown->read = at;
	s->shown->sentence = wsi_keep_format(
		s->triage, "Read `%.*s`: %.*s %s%s", (int)wsi_min_u64(file.len, 300), file.ptr,
		(int)wsi_min_u64(name.len, 300), name.ptr, words, others(s, at));
}

static void cannot_tell(struct scene *s, uint32_t read, const char *why)
{
	s->shown->read = read;
	if (read == WS_NONE) {
		s->shown->sentence = wsi_keep_format(s->triage, "Cannot tell: %s", why);
		return;
	}
	struct ws_str file = file_of(s, read);
	s->shown->sentence =
		wsi_keep_format(s->triage, "Cannot tell which was first: %s; start with `%.*s`",
				why, (int)wsi_min_u64(file.len, 300), file.ptr);
}

/* "rank 3, rank 5 and rank 6", or of many "ranks 0-40,42-63": entries for which `wanted` is true.
 */
static const char *names_of(struct scene *s, bool (*wanted)(const struct wsi_entry *, size_t))
{
	enum { MOST = 8 };
	char text[600] = "";
	uint64_t ranks[WSI_FEW];
	size_t len = 0, n = 0, n_ranks = 0, in_all = 0;
	for (size_t i = 0; i < s->job->n; i++) {
		if (!wanted(s->job->entry, i))
			continue;
		in_all++;
		if (s->job->entry[i].row.rank >= 0 && n_ranks < WSI_FEW)
			ranks[n_ranks++] = (uint64_t)s->job->entry[i].row.rank;
	}
	if (in_all > MOST && n_ranks == in_all)
		return wsi_keep_format(s->triage, "ranks %s",
				       wsi_ranks_text(&s->triage->arena, ranks, n_ranks, false));
	for (size_t i = 0; i < s->job->n && n < MOST; i++) {
		if (!wanted(s->job->entry, i))
			continue;
		const char *before = n == 0 ? "" : n + 1 == in_all ? " and " : ", ";
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s", before,
					(int)wsi_min_u64(s->job->entry[i].row.name.len, 60),
					s->job->entry[i].row.name.ptr);
		n++;
	}
	if (n < in_all)
		snprintf(text + len, sizeof text - len, " and %zu more", in_all - n);
	return wsi_arena_str(&s->triage->arena, text, strlen(text));
}

static bool is_outside(const struct wsi_entry *e, size_t i)
{
	return e[i].row.role == WS_TRIAGE_STUCK || e[i].row.role == WS_TRIAGE_RUNS ||
	       e[i].row.role == WS_TRIAGE_IDLE;
}

static bool is_unreadable(const struct wsi_entry *e, size_t i)
{
	return e[i].row.role == WS_TRIAGE_UNREADABLE;
}

static bool is_collective_fault(const struct wsi_entry *e, size_t i)
{
	return e[i].row.role == WS_TRIAGE_COLLECTIVE_FAULT;
}

static bool faults(const struct wsi_entry *e, size_t i)
{
	return is_fault(&e[i]);
}

static bool is_waiting(const struct wsi_entry *e, size_t i)
{
	return e[i].row.role == WS_TRIAGE_WAITS;
}

static bool is_stuck(const struct wsi_entry *e, size_t i)
{
	return e[i].row.role == WS_TRIAGE_STUCK;
}

/* ---- judging ---- */

static void judge_one_fault(struct scene *s)
{
	uint32_t first = s->first[WS_TRIAGE_FAULT];
	uint32_t at = leader(s, s->job->entry[first].row.event);
	if (at == WS_NONE) {
		cannot_tell(s, first,
			    wsi_keep_format(s->triage,
					    "%s faulted on one GPU, as all clients of an MPS "
					    "server do when one of them faults",
					    names_of(s, faults)));
		return;
	}
	if (s->n[WS_TRIAGE_UNREADABLE]) {
		cannot_tell(s, at,
			    wsi_keep_format(
				    s->triage, "%.*s %s, and what %s left is too damaged to tell",
				    NAME(s, at), faulted(s, at), names_of(s, is_unreadable)));
		return;
	}
	if (s->n_alone) {
		cannot_tell(s, at,
			    wsi_keep_format(s->triage,
					    "%.*s %s, and %s hang%s, waiting for %s own threads",
					    NAME(s, at), faulted(s, at), names_of(s, is_stuck),
					    s->n[WS_TRIAGE_STUCK] == 1 ? "s" : "",
					    s->n[WS_TRIAGE_STUCK] == 1 ? "its" : "their"));
		return;
	}
	blame(s, at, faulted(s, at));
	if (s->job->n > 1)
		reason(s, "no other dump shows a fault outside collective operations");
}

/* Of several faults on one host the one that its kernel log tells first; WS_NONE: it does not tell
 * of all of them. */
static uint32_t first_by_kernel_log(const struct scene *s)
{
	const struct wsi_entry *e = s->job->entry;
	const struct wsi_told_xid *best = NULL;
	uint32_t at = WS_NONE;
	for (uint32_t i = 0; i < s->job->n; i++) {
		if (!starts_event(e, i))
			continue;
		uint32_t one = leader(s, e[i].row.event);
		const struct wsi_told_xid *xid =
			one != WS_NONE ? wsi_triage_xid_of(s->triage, &e[one]) : NULL;
		if (!xid || !e[one].host.len ||
		    (best && (xid->log != best->log || xid == best ||
			      !ws_str_equal(e[one].host, e[at].host))))
			return WS_NONE;
		if (!best || xid < best) {
			best = xid;
			at = one;
		}
	}
	return s->n[WS_TRIAGE_UNREADABLE] ? WS_NONE : at;
}

static void judge_faults(struct scene *s)
{
	uint32_t first = s->first[WS_TRIAGE_FAULT];
	if (s->n_events == 1) {
		judge_one_fault(s);
		return;
	}
	uint32_t logged = first_by_kernel_log(s);
	if (logged != WS_NONE) {
		blame(s, logged, faulted(s, logged));
		reason(s, wsi_keep_format(s->triage,
					  "%s faulted, and the kernel log of their host lists this "
					  "one first",
					  names_of(s, starts_event)));
		return;
	}
	const char *names = names_of(s, starts_event);
	cannot_tell(s, first,
		    s->one_signature
			    ? wsi_keep_format(s->triage, "%s have the same fault (%s)", names,
					      fault_words(s, first))
			    : wsi_keep_format(s->triage, "%s have different faults", names));
	reason(s, "times of files and in their names do not order faults: they say when a dump was "
		  "written or its process began");
}

/* Faults in collectives only: of whoever is there, or of memory that a peer took away. */
static void judge_collective_faults(struct scene *s)
{
	uint32_t first = s->first[WS_TRIAGE_COLLECTIVE_FAULT];
	bool others_wait = s->n[WS_TRIAGE_WAITS] + 1 == s->job->n && s->n[WS_TRIAGE_WAITS] > 0;
	if (s->n[WS_TRIAGE_COLLECTIVE_FAULT] == 1 && others_wait && !*s->shown->missing) {
		blame(s, first, faulted(s, first));
		reason(s, "it is the only fault, and all others wait");
		return;
	}
	cannot_tell(s, first,
		    wsi_keep_format(s->triage,
				    "%s faulted inside a collective operation (%s), whose cause "
				    "may be another rank",
				    names_of(s, is_collective_fault), fault_words(s, first)));
}

static uint32_t first_outside(const struct scene *s)
{
	for (uint32_t i = 0; i < s->job->n; i++)
		if (is_outside(s->job->entry, i))
			return i;
	return WS_NONE;
}

static uint64_t rank_count(const struct scene *s)
{
	uint64_t n = s->n_ranks;
	for (size_t i = 0; i < s->job->n; i++)
		if (s->job->entry[i].row.rank >= 0)
			n = wsi_max_u64(n, (uint64_t)s->job->entry[i].row.rank + 1);
	return n;
}

/* The rank that is behind, where all ranks tell how far they came and one of them is; the same of
 * one that calls another operation. */
static bool judge_progress(struct scene *s)
{
	struct wsi_progress p = { .kind = WSI_PROGRESS_UNTOLD };
	uint32_t at = WS_NONE;
	if (is_only_job(s) && !wsi_progress_of(s->triage, rank_count(s), &p))
		return true; /* without a sentence: memory is out */
	if (p.kind != WSI_PROGRESS_BEHIND && p.kind != WSI_PROGRESS_OTHER) {
		reason(s, p.words);
		reason(s, p.reason);
		return false;
	}
	for (uint32_t i = 0; i < s->job->n; i++)
		if (s->job->entry[i].row.rank == (int64_t)p.rank)
			at = i;
	uint32_t outside = first_outside(s);
	if (outside != WS_NONE && (at == WS_NONE || !is_outside(s->job->entry, at))) {
		cannot_tell(s, outside,
			    wsi_keep_format(s->triage, "%s do%s not wait, and rank %" PRIu64 " %s",
					    names_of(s, is_outside),
					    s->n[WS_TRIAGE_STUCK] + s->n[WS_TRIAGE_RUNS] +
								    s->n[WS_TRIAGE_IDLE] ==
							    1
						    ? "es"
						    : "",
					    p.rank, p.words));
		return true;
	}
	if (at != WS_NONE) {
		blame(s, at, p.words);
	} else {
		s->shown->read = s->first[WS_TRIAGE_WAITS];
		s->shown->sentence =
			wsi_keep_format(s->triage, "Rank %" PRIu64 " left no dump and %s%s", p.rank,
					p.words, others(s, WS_NONE));
	}
	reason(s, p.reason);
	return true;
}

/* All that left a dump wait, and the one rank that did not is gone. */
static bool judge_gone(struct scene *s)
{
	const struct wsi_evidence *e = &s->triage->evidence;
	char text[24];
	if (!is_only_job(s) || s->n[WS_TRIAGE_WAITS] != s->job->n)
		return false;
	for (size_t i = 0; i < e->n_gone; i++) {
		snprintf(text, sizeof text, "%" PRIu64, e->gone[i]);
		if (strcmp(text, s->shown->missing) != 0)
			continue;
		s->shown->read = s->first[WS_TRIAGE_WAITS];
		s->shown->sentence = wsi_keep_format(
			s->triage, "Rank %s left no dump and does not answer NCCL's RAS%s", text,
			others(s, WS_NONE));
		return true;
	}
	return false;
}

/* Ranks wait in different operations: the odd one is the likely cause, if it is one. */
static void judge_calls(struct scene *s, const struct wsi_call *calls, uint32_t n_calls, bool part)
{
	uint32_t odd = 0;
	for (uint32_t i = 1; i < n_calls; i++)
		if (calls[i].n < calls[odd].n)
			odd = i;
	bool one = n_calls == 2 && calls[odd].n == 1 && calls[1 - odd].n > 1 && !part;
	if (one) {
		blame(s, calls[odd].first,
		      wsi_keep_format(s->triage,
				      "waits in %s, which is the likely cause if they share a "
				      "communicator",
				      wsi_calls_text(s->triage, &calls[odd], 1)));
	} else {
		cannot_tell(s, calls[odd].first,
			    wsi_keep_format(s->triage,
					    "they wait in %s, which is the likely cause if they "
					    "share a communicator",
					    wsi_calls_text(s->triage, calls, n_calls)));
	}
	reason(s, "a collective operation ends when all ranks of its communicator call the same "
		  "one, with the same type and count; a dump does not name the communicator");
}

/* Ranks wait in a collective operation. */
static void judge_waits(struct scene *s)
{
	if (judge_progress(s) || judge_gone(s))
		return;
	uint32_t n = s->n[WS_TRIAGE_STUCK] + s->n[WS_TRIAGE_RUNS] + s->n[WS_TRIAGE_IDLE];
	uint32_t first = s->first[WS_TRIAGE_WAITS], at = first_outside(s);
	struct wsi_call calls[WSI_MAX_CALLS];
	uint32_t n_calls = wsi_calls_of(s->job, WS_NONE, calls);
	const char *where = wsi_calls_text(s->triage, calls, n_calls);
	bool all = !*s->shown->missing && !s->n[WS_TRIAGE_UNREADABLE];
	if (n == 1 && all) {
		blame(s, at, stuck_words(s, at));
		reason(s, "it is the only rank that is not in a collective operation");
		return;
	}
	const char *missing = *s->shown->missing
				      ? wsi_keep_format(s->triage, ", and rank%s %s left no dump",
							plural_of_missing(s), s->shown->missing)
				      : "";
	const char *unread = s->n[WS_TRIAGE_UNREADABLE]
				     ? wsi_keep_format(s->triage,
						       ", and what %s left is too damaged "
						       "to tell",
						       names_of(s, is_unreadable))
				     : "";
	if (n)
		cannot_tell(s, at,
			    wsi_keep_format(s->triage, "%" PRIu32 " wait%s in %s, %s do%s not%s%s",
					    s->n[WS_TRIAGE_WAITS],
					    s->n[WS_TRIAGE_WAITS] == 1 ? "s" : "", where,
					    names_of(s, is_outside), n == 1 ? "es" : "", missing,
					    unread));
	else if (n_calls > 1)
		judge_calls(s, calls, n_calls, *missing || *unread);
	else
		s->shown->sentence = wsi_keep_format(
			s->triage,
			"Cannot tell which rank is missing: %s%" PRIu32
			" with a readable dump wait%s in %s%s%s",
			s->n[WS_TRIAGE_WAITS] == 1 ? "the " : "all ", s->n[WS_TRIAGE_WAITS],
			s->n[WS_TRIAGE_WAITS] == 1 ? "s" : "", where, missing, unread);
	if (!n && n_calls == 1) {
		s->shown->read = first;
		reason(s, "the state of a GPU does not say which call of the operation it is in; "
			  "logs of the host program may (--log)");
	}
}

/* Threads wait, and no collective operation is known for it. */
static void judge_stuck(struct scene *s)
{
	uint32_t first = s->first[WS_TRIAGE_STUCK];
	if (s->n[WS_TRIAGE_STUCK] == 1 && !s->n[WS_TRIAGE_UNREADABLE]) {
		blame(s, first, stuck_words(s, first));
		reason(s, "it is the only dump in which threads wait for something");
		return;
	}
	cannot_tell(s, first,
		    wsi_keep_format(s->triage, "%s hang%s (%.*s %s)", names_of(s, is_stuck),
				    s->n[WS_TRIAGE_STUCK] == 1 ? "s" : "", NAME(s, first),
				    stuck_words(s, first)));
}

static void judge_scene(struct scene *s)
{
	if (s->job->n == 0)
		s->shown->sentence =
			"Too many dumps in one folder for one job: --name with %j tells "
			"jobs apart";
	else if (has_twice(s->job))
		cannot_tell(
			s, s->first[WS_TRIAGE_FAULT],
			"some rank has two dumps, so the folder holds more than one run (--name "
			"with %j tells them apart)");
	else if (s->n_events)
		judge_faults(s);
	else if (s->n[WS_TRIAGE_COLLECTIVE_FAULT])
		judge_collective_faults(s);
	else if (s->n[WS_TRIAGE_WAITS])
		judge_waits(s);
	else if (s->n[WS_TRIAGE_STUCK])
		judge_stuck(s);
	else
		cannot_tell(s, WS_NONE, "no dump shows a fault or a wait");
}

static void give_context(struct scene *s)
{
	if (s->n[WS_TRIAGE_COLLECTIVE_FAULT] && s->n_events)
		reason(s, wsi_keep_format(s->triage,
					  "%s faulted inside a collective operation, as ranks do "
					  "when another one dies",
					  names_of(s, is_collective_fault)));
	if (s->n[WS_TRIAGE_WAITS] && s->n_events)
		reason(s, wsi_keep_format(s->triage, "%s only wait%s", names_of(s, is_waiting),
					  s->n[WS_TRIAGE_WAITS] == 1 ? "s" : ""));
	if (*s->shown->missing)
		reason(s, wsi_keep_format(s->triage, "rank%s %s left no dump", plural_of_missing(s),
					  s->shown->missing));
}

enum ws_status wsi_judge(struct ws_triage *triage, struct wsi_triage_job *job,
			 struct ws_triage_job *ret_job)
{
	struct scene s = { .triage = triage, .job = job, .shown = ret_job };
	struct ws_triage_row *rows = wsi_arena_zalloc_array(&triage->arena, job->n, sizeof *rows);
	*ret_job = (struct ws_triage_job){ .name = job->name,
					   .n_rows = (uint32_t)job->n,
					   .n_dumps = job->n_dumps,
					   .culprit = WS_NONE,
					   .read = WS_NONE,
					   .missing = "" };
	if (!rows)
		return WS_NO_MEMORY;
	adopt_evidence(&s);
	if (job->n > 1)
		qsort(job->entry, job->n, sizeof *job->entry, entry_order);
	number_events(&s);
	count_roles(&s);
	find_missing_ranks(&s);
	show_evidence(&s);
	judge_scene(&s);
	give_context(&s);
	for (size_t i = 0; i < job->n; i++)
		rows[i] = job->entry[i].row;
	ret_job->rows = rows;
	const char **reasons = wsi_arena_zalloc_array(&triage->arena, MAX_REASONS, sizeof *reasons);
	if (!reasons || !ret_job->missing || !ret_job->sentence)
		return WS_NO_MEMORY;
	memcpy(reasons, s.reasons, s.n_reasons * sizeof *reasons);
	ret_job->reasons = reasons;
	ret_job->n_reasons = s.n_reasons;
	return WS_OK;
}
