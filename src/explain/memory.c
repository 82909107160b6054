/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory there is. A target lists global memory first, sorted by address, so that one binary
 * search answers without a copy of the list.
 */
#include "explain/explain.h"

enum { MAX_BELOW = 1 << 24 /* bytes; a stack that is used up ends nearer than this */ };

/* ---- global memory ---- */

/* What a stripped dump says of the memory whose contents it lacks; empty: nothing. */
static struct ws_span map_of(const struct wsi_build *build)
{
	return build->report->dump_status == WS_OK ? build->report->dump.memory_map
						   : (struct ws_span){ 0 };
}

static bool is_global(const struct wsi_build *build, uint32_t index,
		      struct ws_memory_range *ret_range)
{
	struct ws_span map = map_of(build), one;
	if (map.len) {
		if (!ws_span_sub(map, (uint64_t)index * WS_MAP_BYTES, WS_MAP_BYTES, &one))
			return false;
		uint64_t size = wsi_at_u64(one, 8);
		*ret_range = (struct ws_memory_range){ .space = WS_SPACE_GLOBAL,
						       .start = wsi_at_u64(one, 0),
						       .size = size & ~WS_MAP_MANAGED,
						       .managed = size & WS_MAP_MANAGED };
		return true;
	}
	return ws_target_memory_range(build->target, index, ret_range, NULL) == WS_OK &&
	       ret_range->space == WS_SPACE_GLOBAL;
}

uint32_t wsi_range_count(struct wsi_build *build)
{
	if (build->n_ranges == WS_NONE)
		build->n_ranges = map_of(build).len ? (uint32_t)(map_of(build).len / WS_MAP_BYTES)
						    : ws_target_first_range(build->target,
									    WS_SPACE_SHARED, 0, 0);
	return build->n_ranges;
}

/* Index of the last range that starts at or below an address; WS_NONE when none does. */
static uint32_t range_before(struct wsi_build *build, uint64_t address)
{
	struct ws_memory_range range;
	uint32_t low = WSI_BISECT(i, 0, wsi_range_count(build),
				  is_global(build, i, &range) && range.start <= address);
	return low ? low - 1 : WS_NONE;
}

static bool range_get(const struct wsi_build *build, uint32_t index, struct wsi_range *ret_range)
{
	struct ws_memory_range range;
	if (index == WS_NONE || !is_global(build, index, &range))
		return false;
	*ret_range = (struct wsi_range){ range.start, range.size };
	return true;
}

bool wsi_range_at(struct wsi_build *build, uint64_t address, struct wsi_range *ret_range)
{
	return range_get(build, range_before(build, address), ret_range) &&
	       address - ret_range->start < ret_range->size;
}

bool wsi_global_is_managed(struct wsi_build *build, uint64_t address, bool *ret_managed)
{
	struct ws_memory_range range;
	uint32_t index = range_before(build, address);
	if (index == WS_NONE || !is_global(build, index, &range) ||
	    address - range.start >= range.size)
		return false;
	*ret_managed = range.managed;
	return true;
}

void wsi_range_beside(struct wsi_build *build, uint64_t address, struct wsi_range *ret_below,
		      struct wsi_range *ret_above)
{
	uint32_t before = range_before(build, address);
	*ret_below = *ret_above = (struct wsi_range){ 0, 0 };
	(void)range_get(build, before, ret_below);
	uint32_t after = before == WS_NONE ? 0 : before + 1;
	if (after < wsi_range_count(build))
		(void)range_get(build, after, ret_above);
}

/* Whether the flags of the dump say that a kind of memory was left out. */
static bool is_left_out(const struct wsi_build *build, uint32_t flag)
{
	const struct ws_dump_facts *dump = &build->report->dump;
	return build->report->dump_status == WS_OK && (dump->flags | dump->left_out) & flag;
}

bool wsi_global_is_partial(struct wsi_build *build)
{
	if (map_of(build).len)
		return false;
	return is_left_out(build, WS_WRITE_SKIP_GLOBAL) ||
	       (build->report->dump_status == WS_OK && wsi_range_count(build) == 0);
}

/* Whether ranges that may touch hold all bytes. */
static bool map_covers(struct wsi_build *build, uint64_t address, uint64_t size)
{
	struct wsi_range range;
	while (size > 0 && wsi_range_at(build, address, &range)) {
		uint64_t here = wsi_min_u64(size, range.size - (address - range.start));
		address += here;
		size -= here;
	}
	return size == 0;
}

enum wsi_mapped wsi_global_is_mapped(const struct wsi_scene *scene, uint64_t address, uint32_t size)
{
	uint8_t bytes[64];
	size_t n = 0;
	struct ws_address at = { .space = WS_SPACE_GLOBAL,
				 .device_index = scene->where.device_index,
				 .grid_index = WS_NONE,
				 .warp_index = WS_NONE,
				 .address = address };
	if (size > sizeof bytes)
		size = sizeof bytes;
	enum ws_status st = WS_ABSENT;
	if (!map_of(scene->build).len)
		st = ws_target_read_memory(scene->build->target, &at, bytes, size, &n, NULL);
	else if (map_covers(scene->build, address, size))
		st = WS_OK;
	if (st == WS_OK)
		return WSI_MAPPED_YES;
	if (st != WS_ABSENT ||
	    wsi_variable_at(scene->code.place.cubin, WS_SPACE_GLOBAL, 0, address))
		return WSI_MAPPED_UNKNOWN;
	return WSI_MAPPED_NO;
}

/* ---- other spaces ---- */

/* Index of the warp, block or grid whose memory an access in a space touches. */
static uint32_t space_owner_of(const struct wsi_scene *scene, enum ws_space space)
{
	if (space == WS_SPACE_LOCAL)
		return scene->e->at.warp_index;
	return space == WS_SPACE_SHARED ? scene->warp.block_index : scene->grid_index;
}

bool wsi_window_of(const struct wsi_scene *scene, const struct ws_report_access *access,
		   uint32_t lane, struct wsi_range *ret_window)
{
	const struct ws_target *target = scene->build->target;
	struct ws_memory_range range;
	if (access->space == WS_SPACE_SHARED && scene->have_warp &&
	    scene->warp.have & WS_WARP_SHARED_BYTES) {
		*ret_window = (struct wsi_range){ 0, scene->warp.shared_bytes };
		return true;
	}
	if (access->space == WS_SPACE_LOCAL && is_left_out(scene->build, WS_WRITE_SKIP_LOCAL))
		return false; /* what there is, is a piece of it */
	uint32_t owner = space_owner_of(scene, access->space);
	for (uint32_t i = ws_target_first_range(target, access->space, owner, lane);
	     ws_target_memory_range(target, i, &range, NULL) == WS_OK &&
	     range.space == access->space && ws_memory_range_owner(&range) == owner;
	     i++) {
		if ((range.space == WS_SPACE_LOCAL && range.lane != lane) ||
		    (range.space == WS_SPACE_CONST && range.bank != access->bank))
			continue;
		*ret_window = (struct wsi_range){ range.space == WS_SPACE_CONST ? 0 : range.start,
						  range.size };
		return true;
	}
	return false;
}

bool wsi_below_local(uint64_t address, const struct wsi_range *local, uint64_t *ret_bytes)
{
	*ret_bytes = (uint32_t)(local->start - address);
	return *ret_bytes > 0 && *ret_bytes <= MAX_BELOW;
}

const struct ws_variable *wsi_variable_at(struct ws_cubin *cubin, enum ws_space space,
					  uint32_t bank, uint64_t address)
{
	const struct ws_variable *variables;
	size_t n;
	if (!cubin || ws_cubin_variables(cubin, &variables, &n, NULL) != WS_OK)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const struct ws_variable *one = &variables[i];
		uint64_t start = space == WS_SPACE_GLOBAL ? one->gpu_va : one->offset;
		if (one->space != space || (space == WS_SPACE_CONST && one->bank != bank) ||
		    (space == WS_SPACE_GLOBAL && one->gpu_va == 0) || one->section == 0)
			continue;
		if (address - start < (one->size_bytes ? one->size_bytes : 1))
			return one;
	}
	return NULL;
}
