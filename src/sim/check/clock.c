/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks: up to which time each entity's accesses are known. See check.h. */
#include "sim/check/check.h"

enum { MAX_ENTRIES = 512 };

static size_t place_of(const struct wsi_clock *clock, uint32_t entity)
{
	return WSI_BISECT(i, 0, clock->n, clock->entry[i].entity < entity);
}

static uint64_t entry_time(const struct wsi_clock *clock, uint32_t entity)
{
	size_t at = place_of(clock, entity);
	return at < clock->n && clock->entry[at].entity == entity ? clock->entry[at].time : 0;
}

uint64_t wsi_clock_knows(const struct wsi_clock *clock, uint32_t entity)
{
	uint64_t time = wsi_max_u64(clock->floor, entry_time(clock, entity));
	return wsi_max_u64(time, entry_time(clock, entity | WSI_ENTITY_BLOCK));
}

bool wsi_clock_set(struct wsi_clock *clock, uint32_t entity, uint64_t time)
{
	if (time <= clock->floor)
		return true;
	size_t at = place_of(clock, entity);
	if (at < clock->n && clock->entry[at].entity == entity) {
		clock->entry[at].time = wsi_max_u64(clock->entry[at].time, time);
		return true;
	}
	if (clock->n == MAX_ENTRIES) { /* too many to tell apart: all are known */
		for (size_t i = 0; i < clock->n; i++)
			clock->floor = wsi_max_u64(clock->floor, clock->entry[i].time);
		clock->floor = wsi_max_u64(clock->floor, time);
		clock->n = 0;
		return true;
	}
	if (!wsi_grow(&clock->entry, &clock->cap, clock->n, sizeof *clock->entry, MAX_ENTRIES))
		return false;
	memmove(&clock->entry[at + 1], &clock->entry[at], (clock->n - at) * sizeof *clock->entry);
	clock->entry[at].entity = entity;
	clock->entry[at].time = time;
	clock->n++;
	return true;
}

bool wsi_clock_join(struct wsi_clock *clock, const struct wsi_clock *other)
{
	bool ok = true;
	clock->floor = wsi_max_u64(clock->floor, other->floor);
	for (size_t i = 0; i < other->n && ok; i++)
		ok = wsi_clock_set(clock, other->entry[i].entity, other->entry[i].time);
	return ok;
}

void wsi_clock_fini(struct wsi_clock *clock)
{
	wsi_free(clock->entry);
}
