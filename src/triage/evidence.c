/* SPDX-License-Identifier: Apache-2.0 */
/* What files beside dumps tell, and what of it is about a dump. */
#include "triage/internal.h"

enum {
	MAX_FACTS = 1 << 18, /* of each kind; later ones are passed over */
	MAX_GROUPS = 4096,
};

void wsi_evidence_fini(struct wsi_evidence *e)
{
	wsi_free(e->xids);
	wsi_free(e->members);
	wsi_free(e->workers);
	wsi_free(e->counts);
	wsi_free(e->groups);
	wsi_free(e->gone);
	wsi_map_fini(&e->by_count);
	wsi_map_fini(&e->by_group);
}

/* ---- keeping ---- */

/* Keeps one more fact; false: memory is out. */
static bool keep_fact(void *list, size_t *cap, size_t *n, const void *fact, size_t size)
{
	void *facts;
	if (*n >= MAX_FACTS)
		return true;
	if (!wsi_grow(list, cap, *n, size, MAX_FACTS))
		return false;
	memcpy(&facts, list, sizeof facts);
	memcpy((char *)facts + (*n)++ * size, fact, size);
	return true;
}

bool wsi_evidence_xid(struct ws_triage *triage, uint32_t log, const struct wsi_xid *xid)
{
	struct wsi_evidence *e = &triage->evidence;
	struct wsi_told_xid one = { .log = log,
				    .number = xid->number,
				    .pid = xid->pid,
				    .host = wsi_keep(triage, xid->host) };
	snprintf(one.pci, sizeof one.pci, "%02x:%02x", (unsigned)xid->bus, (unsigned)xid->device);
	return keep_fact(&e->xids, &e->cap_xids, &e->n_xids, &one, sizeof one);
}

bool wsi_evidence_member(struct ws_triage *triage, const struct wsi_comm_member *member)
{
	struct wsi_evidence *e = &triage->evidence;
	struct wsi_comm_member one = *member;
	one.host = wsi_keep(triage, member->host);
	return keep_fact(&e->members, &e->cap_members, &e->n_members, &one, sizeof one);
}

/* Logs of servers say the same in every line; it is kept once. */
bool wsi_evidence_worker(struct ws_triage *triage, const struct wsi_server_worker *worker)
{
	struct wsi_evidence *e = &triage->evidence;
	struct wsi_told_worker one = { .label = ws_str_of(worker->label),
				       .pid = worker->pid,
				       .rank = worker->rank,
				       .has_failed = worker->has_failed };
	const size_t near = 1024; /* far more processes than a server has */
	for (size_t i = e->n_workers; i > 0 && e->n_workers - i < near; i--)
		if (e->workers[i - 1].pid == one.pid &&
		    e->workers[i - 1].has_failed == one.has_failed &&
		    ws_str_equal(e->workers[i - 1].label, one.label))
			return true;
	one.label = wsi_keep(triage, one.label);
	return keep_fact(&e->workers, &e->cap_workers, &e->n_workers, &one, sizeof one);
}

bool wsi_evidence_gone(struct ws_triage *triage, uint64_t rank)
{
	struct wsi_evidence *e = &triage->evidence;
	return keep_fact(&e->gone, &e->cap_gone, &e->n_gone, &rank, sizeof rank);
}

bool wsi_evidence_group(struct ws_triage *triage, struct ws_str name, const uint64_t *ranks,
			size_t n_ranks, size_t *ret_group)
{
	struct wsi_evidence *e = &triage->evidence;
	struct ws_str bytes = { (const char *)ranks, name.len ? n_ranks * sizeof *ranks : 0 };
	struct wsi_map_key key = wsi_key_of(name, bytes.len ? bytes : ws_str_of(""));
	bool is_new;
	*ret_group = SIZE_MAX;
	if (name.len && !e->n_groups &&
	    !wsi_evidence_group(triage, ws_str_of(""), NULL, 0, ret_group))
		return false;
	uint32_t *found = wsi_map_put(&e->by_group, &key, WS_NONE, &is_new);
	if (!found)
		return false;
	if (is_new && e->n_groups < MAX_GROUPS) {
		if (!wsi_grow(&e->groups, &e->cap_groups, e->n_groups, sizeof *e->groups,
			      MAX_GROUPS))
			return false;
		*found = (uint32_t)e->n_groups;
		e->groups[e->n_groups++] =
			(struct wsi_rank_group){ .name = wsi_keep(triage, name) };
	}
	*ret_group = *found != WS_NONE ? *found : SIZE_MAX;
	if (*ret_group == SIZE_MAX || n_ranks <= e->groups[*found].n_ranks)
		return true;
	uint64_t *copy = wsi_arena_zalloc_array(&triage->arena, n_ranks, sizeof *copy);
	if (!copy)
		return false;
	memcpy(copy, ranks, n_ranks * sizeof *copy);
	e->groups[*found].ranks = copy; /* of the lists of all ranks the longest counts */
	e->groups[*found].n_ranks = (uint32_t)n_ranks;
	return true;
}

bool wsi_evidence_count(struct ws_triage *triage, size_t group, const struct wsi_count *count)
{
	struct wsi_evidence *e = &triage->evidence;
	struct wsi_map_key key = { { group, count->rank, 0, 0 } };
	struct wsi_count one = *count;
	bool is_new;
	if (group == SIZE_MAX)
		return true;
	uint32_t *index = wsi_map_put(&e->by_count, &key, (uint32_t)e->n_counts, &is_new);
	if (!index)
		return false;
	one.operation = wsi_keep(triage, count->operation);
	if (is_new)
		return e->n_counts < MAX_FACTS ? keep_fact(&e->counts, &e->cap_counts, &e->n_counts,
							   &one, sizeof one)
					       : true;
	if (*index < e->n_counts) /* the last one said is the newest */
		e->counts[*index] = one;
	return true;
}

/* ---- what they say of a dump ---- */

const struct wsi_comm_member *wsi_member_of(const struct ws_triage *triage,
					    const struct wsi_entry *entry)
{
	const struct wsi_comm_member *best = NULL;
	const struct wsi_evidence *e = &triage->evidence;
	bool is_unsure = false;
	for (size_t i = 0; i < e->n_members; i++) {
		const struct wsi_comm_member *one = &e->members[i];
		if (one->pid != entry->pid ||
		    (one->host.len && !ws_str_equal(one->host, entry->host)))
			continue;
		if (!best || one->n_ranks > best->n_ranks) {
			best = one;
			is_unsure = false;
		} else if (one->n_ranks == best->n_ranks && one->rank != best->rank) {
			is_unsure = true; /* two communicators of one size: neither is the world */
		}
	}
	return is_unsure ? NULL : best;
}

const struct wsi_told_worker *wsi_triage_worker_of(const struct ws_triage *triage,
						   const struct wsi_triage_job *job,
						   const struct wsi_entry *entry)
{
	const struct wsi_evidence *e = &triage->evidence;
	const struct wsi_told_worker *found = NULL;
	size_t n = 0;
	if (entry->pid == WSI_NO_NUMBER)
		return NULL;
	for (size_t i = 0; i < job->n; i++)
		n += job->entry[i].pid == entry->pid;
	if (n != 1) /* the lines do not say of which host they are */
		return NULL;
	for (size_t i = 0; i < e->n_workers; i++) {
		const struct wsi_told_worker *one = &e->workers[i];
		bool same_label = found && ws_str_equal(one->label, found->label);
		if (one->pid != entry->pid)
			continue;
		if (found && !same_label)
			return NULL;
		found = one;
	}
	for (size_t i = 0; found && i < e->n_workers; i++) /* two servers have one "TP0" each */
		if (e->workers[i].pid != found->pid && e->workers[i].pid != WSI_NO_NUMBER &&
		    ws_str_equal(e->workers[i].label, found->label))
			return NULL;
	return found;
}

/* Xids that follow on the end of a process, and say nothing of what ended it. */
static bool is_after_effect(uint64_t number)
{
	return number == 43 || number == 45;
}

const struct wsi_told_xid *wsi_triage_xid_of(const struct ws_triage *triage,
					     const struct wsi_entry *entry)
{
	const struct wsi_evidence *e = &triage->evidence;
	for (size_t i = 0; i < e->n_xids; i++) {
		const struct wsi_told_xid *one = &e->xids[i];
		bool same_process = entry->pid != WSI_NO_NUMBER && one->pid == entry->pid;
		bool other_process = one->pid != WSI_NO_NUMBER && entry->pid != WSI_NO_NUMBER &&
				     one->pid != entry->pid;
		if (is_after_effect(one->number) || other_process ||
		    !ws_str_equal(ws_str_of(one->pci), entry->pci))
			continue;
		if (one->host.len ? ws_str_equal(one->host, entry->host) : same_process)
			return one;
	}
	return NULL;
}

const struct wsi_count *wsi_count_of(const struct ws_triage *triage, size_t group, uint64_t rank)
{
	const struct wsi_evidence *e = &triage->evidence;
	struct wsi_map_key key = { { group, rank, 0, 0 } };
	const uint32_t *index = wsi_map_find(&e->by_count, &key);
	return index && *index < e->n_counts ? &e->counts[*index] : NULL;
}

/* ---- in words ---- */

const char *wsi_teller_text(unsigned tellers)
{
	switch (tellers) {
	case WSI_WATCHDOG:
		return "PyTorch's watchdog";
	case WSI_RECORDER:
		return "PyTorch's flight recorder";
	case WSI_RAS:
		return "NCCL's RAS";
	default:
		return "the evidence beside the dumps";
	}
}

static bool is_waiting(const struct wsi_count *count)
{
	return count->completed != WSI_NO_NUMBER && count->completed < count->enqueued;
}

/* The count of the group in which a rank waits, or of all ranks, with the group. */
static const struct wsi_count *count_shown(const struct ws_triage *triage, uint64_t rank,
					   size_t *ret_group)
{
	const struct wsi_count *best = NULL;
	for (size_t i = 0; i < triage->evidence.n_groups; i++) {
		const struct wsi_count *one = wsi_count_of(triage, i, rank);
		if (!one || (best && !(is_waiting(one) && !is_waiting(best))))
			continue;
		best = one;
		*ret_group = i;
	}
	return best;
}

static const char *rank_count_text(struct ws_triage *triage, uint64_t rank)
{
	size_t group = 0;
	char completed[48] = "";
	const struct wsi_count *count = count_shown(triage, rank, &group);
	if (!count)
		return NULL;
	struct ws_str name = triage->evidence.groups[group].name;
	if (count->completed != WSI_NO_NUMBER)
		snprintf(completed, sizeof completed, ", completed %" PRIu64, count->completed);
	return wsi_keep_format(triage, "enqueued %" PRIu64 "%s%s%.*s%s%.*s", count->enqueued,
			       completed, count->operation.len ? ", in " : "",
			       (int)wsi_min_u64(count->operation.len, 100), count->operation.ptr,
			       name.len ? ", of group " : "", (int)wsi_min_u64(name.len, 100),
			       name.ptr);
}

static bool has_failed(const struct ws_triage *triage, int64_t rank)
{
	const struct wsi_evidence *e = &triage->evidence;
	for (size_t i = 0; i < e->n_workers; i++)
		if (e->workers[i].has_failed && e->workers[i].rank == (uint64_t)rank)
			return true;
	return false;
}

const char *wsi_evidence_text(struct ws_triage *triage, const struct wsi_entry *entry, bool counts)
{
	const char *part[3] = { NULL, NULL, NULL };
	const struct wsi_told_xid *xid = wsi_triage_xid_of(triage, entry);
	int64_t rank = entry->row.rank;
	size_t n = 0;
	if (xid)
		part[n++] = wsi_keep_format(triage, "Xid %" PRIu64, xid->number);
	const char *count = counts && rank >= 0 ? rank_count_text(triage, (uint64_t)rank) : NULL;
	if (count)
		part[n++] = count;
	if (counts && rank >= 0 && has_failed(triage, rank))
		part[n++] = "its scheduler hit an exception";
	if (n < 2)
		return part[0];
	return wsi_keep_format(triage, "%s; %s%s%s", part[0] ? part[0] : "", part[1] ? part[1] : "",
			       n > 2 ? "; " : "", n > 2 ? part[2] : "");
}
