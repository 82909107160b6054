/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks as text, and the words for what a dump tells of its process. */
#include "triage/internal.h"

enum { MAX_SHOWN = 400 /* characters */ };

const char *ws_triage_role_text(enum ws_triage_role role)
{
	static const char *const words[] = {
		[WS_TRIAGE_FAULT] = "fault",
		[WS_TRIAGE_COLLECTIVE_FAULT] = "fault in a collective",
		[WS_TRIAGE_WAITS] = "waits",
		[WS_TRIAGE_STUCK] = "stuck",
		[WS_TRIAGE_RUNS] = "runs",
		[WS_TRIAGE_IDLE] = "idle",
		[WS_TRIAGE_UNREADABLE] = "cannot tell",
	};
	return (size_t)role < WSI_COUNT(words) ? words[role] : "?";
}

static int number_order(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return WSI_ORDER(a, b);
}

const char *wsi_ranks_text(struct ws_triage *triage, const uint64_t *ranks, size_t n, bool more)
{
	char text[MAX_SHOWN + 64] = "";
	size_t len = 0;
	wsi_scoped_free uint64_t *sorted = wsi_zalloc_array(n, sizeof *sorted);
	if (!sorted)
		return "";
	if (n)
		memcpy(sorted, ranks, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, number_order);
	for (size_t i = 0; i < n && len < MAX_SHOWN;) {
		size_t last = i;
		while (last + 1 < n && sorted[last + 1] <= sorted[last] + 1)
			last++;
		const char *comma = len ? "," : "";
		int added = sorted[i] == sorted[last] ? snprintf(text + len, sizeof text - len,
								 "%s%" PRIu64, comma, sorted[i])
						      : snprintf(text + len, sizeof text - len,
								 "%s%" PRIu64 "-%" PRIu64, comma,
								 sorted[i], sorted[last]);
		len += (size_t)added;
		i = last + 1;
		more |= i < n && len >= MAX_SHOWN;
	}
	if (more)
		snprintf(text + len, sizeof text - len, ",...");
	return wsi_arena_str(&triage->arena, text, strlen(text));
}
