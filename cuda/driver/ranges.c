/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the program has pointers to, by address. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	struct driver_range *item; /* owned; by start */
	size_t n, cap;
} ranges = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The number of ranges that start at an address or below. Under lock. */
static size_t up_to(uint64_t address)
{
	size_t low = 0, high = ranges.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges.item[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool range_add(const struct driver_range *range)
{
	pthread_mutex_lock(&ranges.lock);
	bool ok = true;
	if (ranges.n == ranges.cap) {
		size_t cap = ranges.cap ? 2 * ranges.cap : 64;
		struct driver_range *grown = realloc(ranges.item, cap * sizeof *grown);
		ok = grown != NULL;
		ranges.item = ok ? grown : ranges.item;
		ranges.cap = ok ? cap : ranges.cap;
	}
	if (ok) {
		size_t i = up_to(range->start);
		memmove(&ranges.item[i + 1], &ranges.item[i], (ranges.n++ - i) * sizeof *range);
		ranges.item[i] = *range;
		ranges.item[i].id = atomic_fetch_add(&driver.ids, 1) + 1;
		pool_note(range->pool, range->n_bytes, true);
	}
	pthread_mutex_unlock(&ranges.lock);
	return ok;
}

bool range_remove(uint64_t start, struct driver_range *ret_range)
{
	pthread_mutex_lock(&ranges.lock);
	size_t i = up_to(start);
	bool found = i > 0 && ranges.item[i - 1].start == start;
	if (found) {
		*ret_range = ranges.item[i - 1];
		pool_note(ret_range->pool, ret_range->n_bytes, false);
		memmove(&ranges.item[i - 1], &ranges.item[i],
			(ranges.n-- - i) * sizeof *ranges.item);
	}
	pthread_mutex_unlock(&ranges.lock);
	return found;
}

bool range_find(uint64_t address, struct driver_range *ret_range)
{
	pthread_mutex_lock(&ranges.lock);
	size_t i = up_to(address);
	bool found = i > 0 && address - ranges.item[i - 1].start < ranges.item[i - 1].n_bytes;
	if (found)
		*ret_range = ranges.item[i - 1];
	pthread_mutex_unlock(&ranges.lock);
	return found;
}

uint64_t ranges_bytes(enum range_kind kind)
{
	uint64_t sum = 0;
	pthread_mutex_lock(&ranges.lock);
	for (size_t i = 0; i < ranges.n; i++)
		sum += ranges.item[i].kind == kind ? ranges.item[i].n_bytes : 0;
	pthread_mutex_unlock(&ranges.lock);
	return sum;
}

void ranges_forget(void)
{
	pthread_mutex_lock(&ranges.lock);
	for (size_t i = 0; i < ranges.n; i++)
		pool_note(ranges.item[i].pool, ranges.item[i].n_bytes, false);
	ranges.n = 0;
	pthread_mutex_unlock(&ranges.lock);
}
