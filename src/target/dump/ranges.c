/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory a dump has. Global memory is cut into segments without overlaps when the dump is
 * opened, so that one search answers for an address. The other spaces are listed by walking blocks,
 * lanes and grids when somebody asks for the list.
 */
#include "base/interval.h"
#include "base/sort.h"
#include "target/dump/dump.h"

#include <stdatomic.h>

/* ---- global memory ---- */

static enum ws_status globals_sort(struct ws_core *core, struct ws_error *err)
{
	wsi_scoped_free struct wsi_keyed *items = wsi_zalloc_array(core->n_globals, sizeof *items);
	if (!items)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "list of memory");
	for (uint32_t i = 0; i < core->n_globals; i++)
		items[i] = (struct wsi_keyed){ wsi_elf_shdr(&core->elf, core->globals[i]).addr,
					       core->globals[i] };
	if (!wsi_sort_keyed(items, core->n_globals))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "list of memory");
	for (uint32_t i = 0; i < core->n_globals; i++)
		core->globals[i] = items[i].value;
	return WS_OK;
}

/* Addresses that a section claims; the last byte of the address space is left out. */
static struct wsi_interval interval_of(const struct ws_core *core, uint32_t section)
{
	struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, section);
	return (struct wsi_interval){ shdr.addr, wsi_add_sat(shdr.addr, shdr.size), section };
}

enum ws_status wsi_core_globals(struct ws_core *core, struct ws_error *err)
{
	enum ws_status st = globals_sort(core, err);
	if (st != WS_OK)
		return st;
	uint32_t n = core->n_globals;
	core->cache = wsi_zalloc(sizeof *core->cache);
	if (!core->cache)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "list of memory");
	wsi_scoped_free struct wsi_interval *intervals = wsi_zalloc_array(n, sizeof *intervals);
	if (!intervals || !wsi_segments_init(&core->segments, n))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "list of memory");
	uint64_t end = 0; /* of those before */
	for (uint32_t i = 0; i < n; i++) {
		intervals[i] = interval_of(core, core->globals[i]);
		if (intervals[i].start < end)
			wsi_core_note(
				core, WSI_TOPIC_MEMORY, WS_HIDES_NOTHING,
				wsi_elf_shdr_off(&core->elf, core->globals[i]),
				"global memory of section %u begins inside another section's: "
				"where both have an address, it answers",
				core->globals[i]);
		end = wsi_max_u64(end, intervals[i].end);
	}
	wsi_segments_append(&core->segments, intervals, n);
	return WS_OK;
}

bool wsi_core_global_at(const struct ws_core *core, uint64_t address, struct wsi_global *ret_global)
{
	uint64_t end;
	uint32_t section =
		wsi_segments_find_until(&core->segments, 0, core->segments.n, address, &end);
	if (section == WSI_NO_INTERVAL)
		return false;
	struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, section);
	struct wsi_slice there;
	(void)wsi_elf_extent(&core->elf, &shdr, &there);
	uint64_t off = wsi_min_u64(address - shdr.addr, there.len), claimed = end - address;
	*ret_global = (struct wsi_global){
		.section = section,
		.claimed = claimed,
		.extent = { there.off + off, wsi_min_u64(claimed, there.len - off) },
	};
	return true;
}

/* ---- the list of everything ---- */

struct known_range {
	uint32_t owner; /* block, warp or grid */
	uint32_t part;  /* lane id, or row of the bank table */
	uint8_t space;
};

struct wsi_known_ranges {
	size_t n, cap;
	bool failed;            /* out of memory */
	struct known_range *at; /* owned */
};

static void known_add(struct wsi_known_ranges *known, enum ws_space space, uint32_t owner,
		      uint32_t part)
{
	if (known->failed)
		return;
	if (!wsi_grow(&known->at, &known->cap, known->n, sizeof *known->at, UINT32_MAX)) {
		known->failed = true;
		return;
	}
	known->at[known->n++] = (struct known_range){ owner, part, (uint8_t)space };
}

static void known_lanes(const struct ws_core *core, struct wsi_known_ranges *known, uint32_t warp)
{
	struct ws_lane lanes[WS_MAX_LANES];
	uint32_t n = 0;
	if (ws_target_lanes(&core->target, warp, lanes, &n, NULL) != WS_OK)
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct wsi_ref ref;
		if (wsi_core_lane_row(core, warp, lanes[i].id, &ref) &&
		    wsi_core_slot(core, ref, WSI_KIND_LOCAL))
			known_add(known, WS_SPACE_LOCAL, warp, lanes[i].id);
	}
}

static void known_banks(const struct ws_core *core, struct wsi_known_ranges *known)
{
	uint64_t most = core->source.size / wsi_kind_infos[WSI_KIND_BANK].base_bytes;
	for (uint32_t grid = 0; grid < core->grids.n; grid++) {
		struct ws_bank bank;
		for (uint32_t row = 0; most > 0 && wsi_core_bank(core, grid, row, &bank); row++) {
			known_add(known, WS_SPACE_CONST, grid, row);
			most--; /* tables that overlap in the file must not multiply */
		}
	}
}

static void known_fill(const struct ws_core *core, struct wsi_known_ranges *known)
{
	for (uint32_t i = 0; i < core->blocks.n; i++) {
		if (wsi_core_slot(core, core->blocks.at[i], WSI_KIND_SHARED))
			known_add(known, WS_SPACE_SHARED, i, 0);
	}
	for (uint32_t i = 0; core->kind_counts[WSI_KIND_LOCAL] && i < core->warps.n; i++)
		known_lanes(core, known, i);
	for (uint32_t i = 0; i < core->grids.n; i++) {
		if (wsi_core_slot(core, core->grids.at[i], WSI_KIND_PARAM))
			known_add(known, WS_SPACE_PARAM, i, 0);
	}
	known_banks(core, known);
}

static void known_destroy(struct wsi_known_ranges *known)
{
	if (known)
		wsi_free(known->at);
	wsi_free(known);
}

/* The list; made by whoever comes first, published once. NULL: out of memory. */
static const struct wsi_known_ranges *known_get(const struct ws_core *core)
{
	struct wsi_known_ranges *known = atomic_load(&core->cache->known);
	if (known)
		return known;
	struct wsi_known_ranges *fresh = wsi_zalloc(sizeof *fresh);
	if (!fresh)
		return NULL;
	known_fill(core, fresh);
	if (fresh->failed) {
		known_destroy(fresh);
		return NULL;
	}
	if (atomic_compare_exchange_strong(&core->cache->known, &known, fresh))
		return fresh;
	known_destroy(fresh); /* somebody else was faster */
	return known;
}

void wsi_core_ranges_fini(struct ws_core *core)
{
	if (core->cache) {
		known_destroy(atomic_load(&core->cache->known));
		wsi_salvage_destroy(atomic_load(&core->cache->salvage));
	}
	wsi_free(core->cache);
	wsi_segments_fini(&core->segments);
}

static void section_range(const struct ws_core *core, uint32_t section,
			  struct ws_memory_range *range)
{
	struct wsi_shdr shdr = wsi_elf_shdr(&core->elf, section);
	struct wsi_slice there;
	(void)wsi_elf_extent(&core->elf, &shdr, &there);
	range->start = shdr.addr;
	range->size = shdr.size;
	range->bytes_present = there.len;
	range->file_off = there.len ? there.off : WS_NO_OFFSET;
}

static void owner_fill(const struct ws_core *core, const struct known_range *known,
		       struct ws_memory_range *range)
{
	struct ws_grid grid = { 0 };
	struct ws_block block = { 0 };
	struct ws_warp warp = { 0 };
	struct ws_bank bank = { 0 };
	struct wsi_ref lane;
	switch ((enum ws_space)known->space) {
	case WS_SPACE_SHARED:
		(void)!ws_target_block(&core->target, known->owner, &block, NULL);
		range->device_index = block.device_index;
		range->block_index = known->owner;
		section_range(core,
			      wsi_core_slot(core, core->blocks.at[known->owner], WSI_KIND_SHARED),
			      range);
		range->start = 0;
		break;
	case WS_SPACE_LOCAL:
		(void)!ws_target_warp(&core->target, known->owner, &warp, NULL);
		range->device_index = warp.device_index;
		range->block_index = warp.block_index;
		range->warp_index = known->owner;
		range->lane = known->part;
		if (wsi_core_lane_row(core, known->owner, known->part, &lane))
			section_range(core, wsi_core_slot(core, lane, WSI_KIND_LOCAL), range);
		break;
	case WS_SPACE_PARAM:
	case WS_SPACE_CONST:
		(void)!ws_target_grid(&core->target, known->owner, &grid, NULL);
		range->device_index = grid.device_index;
		range->grid_index = known->owner;
		if (known->space == WS_SPACE_PARAM) {
			section_range(
				core,
				wsi_core_slot(core, core->grids.at[known->owner], WSI_KIND_PARAM),
				range);
			range->start = grid.params_offset;
			break;
		}
		(void)wsi_core_bank(core, known->owner, known->part, &bank);
		range->bank = bank.id;
		range->size = bank.size;
		range->start = bank.address;
		range->file_off = WS_NO_OFFSET;
		break;
	case WS_SPACE_GLOBAL:
	case WS_SPACE_CODE:
	case WS_SPACE_GENERIC:
		break;
	}
}

enum ws_status wsi_core_memory_range(const struct ws_target *target, uint32_t index,
				     struct ws_memory_range *ret_range, struct ws_error *err)
{
	const struct ws_core *core = wsi_core_of(target);
	struct ws_memory_range range = {
		.space = WS_SPACE_GLOBAL,
		.device_index = WS_NONE,
		.grid_index = WS_NONE,
		.block_index = WS_NONE,
		.warp_index = WS_NONE,
		.lane = WS_NONE,
	};
	if (index < core->n_globals) {
		uint32_t section = core->globals[index];
		section_range(core, section, &range);
		range.managed =
			wsi_kind_of(wsi_elf_shdr(&core->elf, section).type) == WSI_KIND_MANAGED;
		*ret_range = range;
		return WS_OK;
	}
	const struct wsi_known_ranges *known = known_get(core);
	if (!known)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "list of memory");
	if (index - core->n_globals >= known->n)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "there is no memory range %u", index);
	const struct known_range *one = &known->at[index - core->n_globals];
	range.space = (enum ws_space)one->space;
	owner_fill(core, one, &range);
	if (range.space == WS_SPACE_CONST)
		range.bytes_present = wsi_core_global_present(core, range.start, range.size);
	*ret_range = range;
	return WS_OK;
}
