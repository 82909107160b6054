/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/sort.h"

enum { FEW = 48 };

static void insertion_sort(struct wsi_keyed *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct wsi_keyed item = items[i];
		size_t j = i;
		for (; j > 0 && items[j - 1].key > item.key; j--)
			items[j] = items[j - 1];
		items[j] = item;
	}
}

/* One pass of a radix sort by the byte at `shift`. */
static void radix_pass(const struct wsi_keyed *from, struct wsi_keyed *to, size_t n, unsigned shift)
{
	size_t at[257] = { 0 };
	for (size_t i = 0; i < n; i++)
		at[(from[i].key >> shift & 0xff) + 1]++;
	for (size_t b = 1; b < 257; b++)
		at[b] += at[b - 1];
	for (size_t i = 0; i < n; i++)
		to[at[from[i].key >> shift & 0xff]++] = from[i];
}

bool wsi_sort_keyed(struct wsi_keyed *items, size_t n)
{
	uint64_t differ = 0;
	bool sorted = true;
	for (size_t i = 1; i < n; i++) {
		differ |= items[i].key ^ items[0].key;
		sorted = sorted && items[i - 1].key <= items[i].key;
	}
	if (sorted)
		return true;
	if (n <= FEW) {
		insertion_sort(items, n);
		return true;
	}
	struct wsi_keyed *scratch = wsi_zalloc_array(n, sizeof *scratch);
	if (!scratch)
		return false;
	struct wsi_keyed *from = items, *to = scratch;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		if (!(differ >> shift & 0xff))
			continue; /* the same byte everywhere */
		radix_pass(from, to, n, shift);
		struct wsi_keyed *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, n * sizeof *items);
	wsi_free(scratch);
	return true;
}
