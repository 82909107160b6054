/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of targets joined. */
#include "target/join/join.h"

#include <stdlib.h>

/* ---- which part has it ---- */

/* Whether a part has other memory at an address than the one before. */
static bool is_other(const struct join_part *a, const struct join_part *b,
		     const struct ws_address *at)
{
	uint64_t host_a, host_b;
	return ws_target_host_address(a->target, 0, at->address, &host_a, NULL) != WS_OK ||
	       ws_target_host_address(b->target, 0, at->address, &host_b, NULL) != WS_OK ||
	       host_a != host_b;
}

/* The part that has a byte at an address that names no device. */
static enum ws_status search_parts(struct join *j, const struct ws_address *at,
				   struct join_part **ret_part, struct ws_error *err)
{
	struct join_part *found = NULL;
	for (uint32_t i = 0; i < j->n; i++) {
		struct join_part *part = &j->parts[i];
		uint8_t byte;
		size_t n;
		enum ws_status st = ws_target_read_memory(part->target, at, &byte, 1, &n, err);
		if (st == WS_RUNNING)
			return st;
		if (st != WS_OK)
			continue;
		if (found && is_other(found, part, at))
			return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
					"devices %u and %u have other memory there",
					found->start.devices, part->start.devices);
		found = found ? found : part;
	}
	*ret_part = found ? found : &j->parts[0];
	return WS_OK;
}

enum ws_status join_resolve(struct join *j, const struct ws_address *at,
			    struct join_part **ret_part, struct ws_address *ret,
			    struct ws_error *err)
{
	const struct ws_counts *counts = &j->base.counts;
	bool by_grid = (at->space == WS_SPACE_PARAM || at->space == WS_SPACE_CONST) &&
		       at->grid_index < counts->grids;
	bool by_warp = at->space != WS_SPACE_GLOBAL && at->space != WS_SPACE_CODE &&
		       at->warp_index < counts->warps;
	*ret = *at;
	if (by_grid)
		*ret_part = JOIN_PART(j, grids, &ret->grid_index);
	else if (by_warp)
		*ret_part = JOIN_PART(j, warps, &ret->warp_index);
	else if (at->device_index < counts->devices)
		*ret_part = JOIN_PART(j, devices, &ret->device_index);
	else
		return search_parts(j, at, ret_part, err);
	ret->device_index = WS_NONE;
	return WS_OK;
}

enum ws_status join_read_memory(const struct ws_target *target, const struct ws_address *at,
				void *buffer, size_t len, size_t *ret_n, struct ws_error *err)
{
	struct join_part *part;
	struct ws_address its;
	enum ws_status st = join_resolve(join_of(target), at, &part, &its, err);
	*ret_n = 0;
	return st == WS_OK ? ws_target_read_memory(part->target, &its, buffer, len, ret_n, err)
			   : st;
}

enum ws_status join_write_memory(struct ws_target *target, const struct ws_address *at,
				 const void *buffer, size_t len, struct ws_error *err)
{
	struct join_part *part;
	struct ws_address its;
	enum ws_status st = join_resolve(join_of(target), at, &part, &its, err);
	atomic_store(&join_of(target)->ranges_known, false);
	return st == WS_OK ? ws_target_write_memory(part->target, &its, buffer, len, err) : st;
}

/* ---- ranges ---- */

static bool part_range_add(struct join *j, const struct join_part *part,
			   const struct ws_memory_range *from)
{
	if (!wsi_grow(&j->ranges, &j->cap_ranges, j->n_ranges, sizeof *j->ranges, UINT32_MAX))
		return false;
	struct ws_memory_range *range = &j->ranges[j->n_ranges++];
	*range = *from;
	if (range->device_index == WS_NONE)
		range->device_index = 0; /* of the part's only one */
	join_move(&range->device_index, part->start.devices);
	join_move(&range->grid_index, part->start.grids);
	join_move(&range->block_index, part->start.blocks);
	join_move(&range->warp_index, part->start.warps);
	return true;
}

/* By space, owner, lane, start, as every target has them. */
static int memory_range_order(const void *a, const void *b)
{
	const struct ws_memory_range *x = a, *y = b;
	const uint64_t of_x[] = { x->space, ws_memory_range_owner(x), x->lane, x->start,
				  x->device_index },
		       of_y[] = { y->space, ws_memory_range_owner(y), y->lane, y->start,
				  y->device_index };
	for (size_t i = 0; i < WSI_COUNT(of_x); i++)
		if (of_x[i] != of_y[i])
			return WSI_ORDER(of_x[i], of_y[i]);
	return 0;
}

static enum ws_status collect_ranges(struct join *j, struct ws_error *err)
{
	j->n_ranges = 0;
	for (uint32_t i = 0; i < j->n; i++) {
		struct ws_memory_range range;
		enum ws_status st = WS_OK;
		for (uint32_t k = 0; st == WS_OK; k++) {
			st = ws_target_memory_range(j->parts[i].target, k, &range, err);
			if (st == WS_OK && !part_range_add(j, &j->parts[i], &range))
				return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
		}
		if (st != WS_ABSENT && st != WS_RUNNING) /* of one that runs nothing is known */
			return st;
	}
	if (j->n_ranges > 0)
		qsort(j->ranges, j->n_ranges, sizeof *j->ranges, memory_range_order);
	return WS_OK;
}

enum ws_status join_memory_range(const struct ws_target *target, uint32_t index,
				 struct ws_memory_range *ret_range, struct ws_error *err)
{
	struct join *j = join_of(target);
	wsi_hold(&j->range_lock);
	if (!atomic_load(&j->ranges_known)) {
		enum ws_status st = collect_ranges(j, err);
		if (st != WS_OK)
			return st;
		atomic_store(&j->ranges_known, true);
	}
	if (index >= j->n_ranges)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no more ranges");
	*ret_range = j->ranges[index];
	return WS_OK;
}

/* ---- the host's, which all devices share ---- */

enum ws_status join_read_host(const struct ws_target *target, uint64_t address, void *buffer,
			      size_t len, size_t *ret_n, struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = WS_ABSENT;
	*ret_n = 0;
	for (uint32_t i = 0; i < j->n && st == WS_ABSENT && *ret_n == 0; i++)
		st = ws_target_read_host(j->parts[i].target, address, buffer, len, ret_n, err);
	return st;
}

enum ws_status join_write_host(struct ws_target *target, uint64_t address, const void *buffer,
			       size_t len, struct ws_error *err)
{
	struct join *j = join_of(target);
	enum ws_status st = WS_ABSENT;
	for (uint32_t i = 0; i < j->n && st == WS_ABSENT; i++)
		st = ws_target_write_host(j->parts[i].target, address, buffer, len, err);
	return st;
}

enum ws_status join_host_address(const struct ws_target *target, uint32_t device_index,
				 uint64_t address, uint64_t *ret_address, struct ws_error *err)
{
	const struct join_part *part = JOIN_PART(join_of(target), devices, &device_index);
	return ws_target_host_address(part->target, device_index, address, ret_address, err);
}
