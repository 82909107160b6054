/* SPDX-License-Identifier: Apache-2.0 */
#include "log/ranks.h"

enum { MAX_SHOWN = 400 /* characters */ };

void wsi_few_add(struct wsi_few *few, uint64_t number)
{
	for (uint32_t i = 0; i < few->n; i++)
		if (few->number[i] == number)
			return;
	if (few->n < WSI_FEW)
		few->number[few->n++] = number;
	else
		few->more = true;
}

static int number_order(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return WSI_ORDER(a, b);
}

const char *wsi_ranks_text(struct wsi_arena *arena, const uint64_t *ranks, size_t n, bool more)
{
	char text[MAX_SHOWN + 64] = "";
	size_t len = 0;
	wsi_scoped_free uint64_t *sorted = wsi_zalloc_array(n, sizeof *sorted);
	if (n && !sorted)
		return NULL;
	if (n) {
		memcpy(sorted, ranks, n * sizeof *sorted);
		qsort(sorted, n, sizeof *sorted, number_order);
	}
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
	return wsi_arena_str(arena, text, strlen(text));
}
