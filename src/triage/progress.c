/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rank is behind, by how many collectives each one enqueued in each group of ranks.
 *
 *   group 1:  rank 0: 44   rank 1: 44   rank 2: 41 <- behind in this group
 *   group 2:                            rank 2: 17   rank 3: 16 <- and rank 2 waits for it
 *
 * The one to name is behind in some group and waits in none. Nothing is said where a rank of a
 * group is not told of: it may be further behind.
 */
#include "triage/internal.h"

enum {
	MAX_RANKS = 1 << 20,
	IS_BEHIND = 1, /* of a rank: others of a group came further */
	IS_HELD = 2,   /* it waits for one that is behind */
};

/* One group. */
struct standing {
	uint64_t n_told, n_silent, least, most;
	uint64_t first_least; /* rank */
	bool has_waiting;
	unsigned tellers;
};

/* All groups together. */
struct view {
	struct ws_triage *triage;
	uint64_t n_ranks;
	uint8_t *flags;          /* owned; of each rank */
	struct standing largest; /* of the group of which most is told */
	uint64_t n_silent;
	unsigned tellers;
	bool has_spread;
};

static uint64_t size_of(const struct view *v, size_t group)
{
	const struct wsi_rank_group *g = &v->triage->evidence.groups[group];
	return g->ranks ? g->n_ranks : group == 0 ? v->n_ranks : 0;
}

static uint64_t rank_at(const struct view *v, size_t group, uint64_t i)
{
	const uint64_t *ranks = v->triage->evidence.groups[group].ranks;
	return ranks ? ranks[i] : i;
}

static bool waits(const struct wsi_count *count)
{
	return count->completed == WSI_NO_NUMBER || count->completed < count->enqueued;
}

static struct standing standing_of(const struct view *v, size_t group)
{
	struct standing s = { .least = UINT64_MAX };
	for (uint64_t i = 0; i < size_of(v, group); i++) {
		uint64_t rank = rank_at(v, group, i);
		const struct wsi_count *count = wsi_count_of(v->triage, group, rank);
		if (!count) {
			s.n_silent++;
			continue;
		}
		s.n_told++;
		s.tellers |= count->teller;
		s.has_waiting |= waits(count);
		if (count->enqueued < s.least) {
			s.least = count->enqueued;
			s.first_least = rank;
		}
		s.most = wsi_max_u64(s.most, count->enqueued);
	}
	return s;
}

static void mark_standing(struct view *v, size_t group, const struct standing *s)
{
	for (uint64_t i = 0; i < size_of(v, group); i++) {
		uint64_t rank = rank_at(v, group, i);
		const struct wsi_count *count = wsi_count_of(v->triage, group, rank);
		if (rank >= MAX_RANKS || !count)
			continue;
		if (count->enqueued == s->least)
			v->flags[rank] |= IS_BEHIND;
		else if (waits(count))
			v->flags[rank] |= IS_HELD;
	}
}

static const char *name_text(struct view *v, size_t group)
{
	struct ws_str name = v->triage->evidence.groups[group].name;
	return name.len ? wsi_keep_format(v->triage, " of group %.*s",
					  (int)wsi_min_u64(name.len, 100), name.ptr)
			: "";
}

/* ---- different operations ---- */

/* What ranks of a group call at the place where all of them are; the two first kinds. */
struct calls {
	struct ws_str operation[2];
	uint64_t n[2], rank[2], place; /* rank: the first that calls it */
	bool has_more;
};

static bool collective_calls_of(const struct view *v, size_t group, struct calls *ret_calls)
{
	*ret_calls = (struct calls){ .n = { 0, 0 } };
	for (uint64_t i = 0; i < size_of(v, group); i++) {
		uint64_t rank = rank_at(v, group, i);
		const struct wsi_count *count = wsi_count_of(v->triage, group, rank);
		if (!count || !count->operation.len || !waits(count) ||
		    count->completed == WSI_NO_NUMBER)
			return false;
		if (i && count->completed + 1 != ret_calls->place)
			return false;
		ret_calls->place = count->completed + 1;
		size_t k = 0;
		while (k < 2 && ret_calls->n[k] &&
		       !ws_str_equal(ret_calls->operation[k], count->operation))
			k++;
		if (k == 2) {
			ret_calls->has_more = true;
			continue;
		}
		if (ret_calls->n[k]++ == 0) {
			ret_calls->operation[k] = count->operation;
			ret_calls->rank[k] = rank;
		}
	}
	return ret_calls->n[1] > 0;
}

#define OPERATION(calls, k) \
	(int)wsi_min_u64((calls)->operation[k].len, 100), (calls)->operation[k].ptr

static bool find_mismatch(struct view *v, struct wsi_progress *progress)
{
	struct calls calls;
	for (size_t group = 0; group < v->triage->evidence.n_groups; group++) {
		if (!collective_calls_of(v, group, &calls))
			continue;
		size_t odd = calls.n[0] < calls.n[1] ? 0 : 1;
		if (!calls.has_more && calls.n[odd] == 1 && calls.n[1 - odd] > 1) {
			progress->kind = WSI_PROGRESS_OTHER;
			progress->rank = calls.rank[odd];
			progress->words = wsi_keep_format(v->triage,
							  "calls %.*s as collective %" PRIu64
							  "%s, where %" PRIu64 " others call %.*s",
							  OPERATION(&calls, odd), calls.place,
							  name_text(v, group), calls.n[1 - odd],
							  OPERATION(&calls, 1 - odd));
			return true;
		}
		progress->kind = WSI_PROGRESS_MISMATCH;
		progress->words =
			wsi_keep_format(v->triage,
					"ranks call different operations as collective %" PRIu64
					"%s: rank %" PRIu64 " %.*s, rank %" PRIu64 " %.*s",
					calls.place, name_text(v, group), calls.rank[0],
					OPERATION(&calls, 0), calls.rank[1], OPERATION(&calls, 1));
		return true;
	}
	return false;
}

/* ---- all groups ---- */

/* In words: the first group in which a rank is behind. */
static const char *behind_text(struct view *v, uint64_t rank)
{
	for (size_t group = 0; group < v->triage->evidence.n_groups; group++) {
		struct standing s = standing_of(v, group);
		const struct wsi_count *count = wsi_count_of(v->triage, group, rank);
		if (s.n_silent == 0 && count && s.least < s.most && count->enqueued == s.least)
			return wsi_keep_format(v->triage,
					       "is behind: it enqueued %" PRIu64
					       " collectives%s, others up to %" PRIu64,
					       s.least, name_text(v, group), s.most);
	}
	return NULL;
}

static void conclude_progress(struct view *v, struct wsi_progress *progress)
{
	uint64_t n_free = 0, n_behind = 0;
	for (uint64_t rank = 0; rank < v->n_ranks; rank++) {
		n_behind += (v->flags[rank] & IS_BEHIND) != 0;
		if (v->flags[rank] != IS_BEHIND)
			continue;
		if (n_free++ == 0)
			progress->rank = rank;
	}
	progress->reason =
		wsi_keep_format(v->triage, "%s reports how many collectives each rank enqueued",
				wsi_teller_text(v->tellers));
	progress->kind = n_free == 1 ? WSI_PROGRESS_BEHIND : WSI_PROGRESS_SEVERAL;
	progress->words =
		n_free == 1 ? behind_text(v, progress->rank)
		: n_free == 0
			? wsi_keep_format(v->triage,
					  "%" PRIu64 " ranks wait for each other, each in another "
					  "group: they call the collectives of these groups in "
					  "different orders",
					  n_behind)
			: wsi_keep_format(v->triage, "%" PRIu64 " ranks are behind", n_free);
}

static void look_at_groups(struct view *v)
{
	for (size_t group = 0; group < v->triage->evidence.n_groups; group++) {
		struct standing s = standing_of(v, group);
		if (s.n_told == 0)
			continue;
		v->tellers |= s.tellers;
		if (s.n_told > v->largest.n_told)
			v->largest = s;
		if (s.n_silent && (s.has_waiting || group == 0)) {
			v->n_silent = wsi_max_u64(v->n_silent, s.n_silent);
		} else if (!s.n_silent && s.least < s.most) {
			v->has_spread = true;
			mark_standing(v, group, &s);
		}
	}
}

bool wsi_progress_of(struct ws_triage *triage, uint64_t n_ranks, struct wsi_progress *ret_progress)
{
	struct view v = { .triage = triage };
	*ret_progress = (struct wsi_progress){ .kind = WSI_PROGRESS_UNTOLD };
	for (size_t i = 0; i < triage->evidence.n_counts; i++)
		n_ranks = wsi_max_u64(n_ranks, triage->evidence.counts[i].rank + 1);
	v.n_ranks = wsi_min_u64(n_ranks, MAX_RANKS);
	v.flags = wsi_zalloc((size_t)v.n_ranks);
	if (!v.flags)
		return false;
	look_at_groups(&v);
	uint64_t n_told = v.largest.n_told;
	if (n_told && (n_told < 2 || v.n_silent)) {
		ret_progress->kind = WSI_PROGRESS_PART;
		ret_progress->reason = wsi_keep_format(
			triage, "%s reports on %" PRIu64 " ranks and not on %" PRIu64,
			wsi_teller_text(v.tellers), n_told, v.n_silent);
	} else if (v.has_spread) {
		conclude_progress(&v, ret_progress);
	} else if (n_told && !find_mismatch(&v, ret_progress)) {
		ret_progress->kind = WSI_PROGRESS_EVEN;
		ret_progress->reason = wsi_keep_format(
			triage,
			"all %" PRIu64 " ranks enqueued the same amount of work (%" PRIu64
			"): none is behind, so a kernel, a host or the network is stuck",
			n_told, v.largest.most);
	}
	wsi_free(v.flags);
	return true;
}
