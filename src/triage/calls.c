/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which collective operation each rank of a job waits in. NCCL's kernels are named by operation,
 * type of the numbers, algorithm and protocol [public doc: src/device/generate.py of NCCL]:
 *
 *   ncclDevKernel_AllReduce_Sum_f32_RING_LL
 */
#include "triage/internal.h"

static bool is_of_nccl(struct ws_str kernel)
{
	return wsi_str_begins(kernel, "ncclDevKernel_") || wsi_str_begins(kernel, "ncclKernel_");
}

static bool same_call(const struct ws_triage_row *a, const struct ws_triage_row *b)
{
	if (!ws_str_equal(a->waits, b->waits))
		return false;
	return !is_of_nccl(a->kernel) || !is_of_nccl(b->kernel) ||
	       ws_str_equal(a->kernel, b->kernel);
}

static void add_rank(struct wsi_few *ranks, int64_t rank)
{
	if (rank < 0 || ranks->n == WSI_FEW)
		ranks->more = true;
	else
		ranks->number[ranks->n++] = (uint64_t)rank; /* entries are sorted by it */
}

uint32_t wsi_calls_of(const struct wsi_triage_job *job, uint32_t but,
		      struct wsi_call ret_calls[WSI_MAX_CALLS])
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < job->n; i++) {
		const struct ws_triage_row *row = &job->entry[i].row;
		uint32_t at = 0;
		if (row->role != WS_TRIAGE_WAITS || i == but)
			continue;
		while (at < n && !same_call(ret_calls[at].row, row))
			at++;
		if (at == WSI_MAX_CALLS)
			at--;
		if (at == n)
			ret_calls[n++] = (struct wsi_call){ .row = row, .first = i };
		ret_calls[at].n++;
		add_rank(&ret_calls[at].ranks, row->rank);
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			ret_calls[i].by_kernel |= i != k && ws_str_equal(ret_calls[i].row->waits,
									 ret_calls[k].row->waits);
	return n;
}

const char *wsi_calls_text(struct ws_triage *triage, const struct wsi_call *calls, uint32_t n)
{
	char text[1200] = "";
	size_t len = 0;
	for (uint32_t i = 0; i < n && len < sizeof text; i++) {
		const struct wsi_call *call = &calls[i];
		struct ws_str name = call->by_kernel ? call->row->kernel : call->row->waits;
		const char *before = i == 0 ? "" : i + 1 == n ? " and " : ", ";
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s", before,
					(int)wsi_min_u64(name.len, 100), name.ptr);
		if (n == 1 || len >= sizeof text)
			continue;
		const char *ranks =
			wsi_ranks_text(&triage->arena, call->ranks.number, call->ranks.n, false);
		if (!ranks)
			return NULL;
		if (call->ranks.more || !*ranks)
			len += (size_t)snprintf(text + len, sizeof text - len, " (%" PRIu32 ")",
						call->n);
		else
			len += (size_t)snprintf(text + len, sizeof text - len, " (rank%s %.60s)",
						call->n == 1 ? "" : "s", ranks);
	}
	return wsi_arena_str(&triage->arena, text, strlen(text));
}
