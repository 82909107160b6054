/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables and slots -> the lists of state.h in their order. Level by level from the devices down, so
 * what no device owns is in no list.
 */
#include "base/sort.h"
#include "target/dump/dump.h"

static enum ws_status out_of_memory(const char *what, struct ws_error *err)
{
	return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "list of %s", what);
}

static enum ws_status devices_list(struct ws_core *core, struct ws_error *err)
{
	struct wsi_list *list = &core->devices;
	uint64_t n = 0;
	for (uint32_t t = 0; t < core->n_tables; t++)
		n += core->tables[t].kind == WSI_KIND_DEVICE ? core->tables[t].n_rows : 0;
	list->at = wsi_zalloc_array((size_t)n, sizeof *list->at);
	if (!list->at)
		return out_of_memory("devices", err);
	for (uint32_t t = 0; t < core->n_tables; t++) {
		for (uint32_t row = 0;
		     core->tables[t].kind == WSI_KIND_DEVICE && row < core->tables[t].n_rows; row++)
			list->at[list->n++] = (struct wsi_ref){ t, row };
	}
	return WS_OK;
}

/* Fills `list` with the rows of the child tables of every element of `parents`, in that order. */
static enum ws_status children_list(struct ws_core *core, const struct wsi_list *parents,
				    enum wsi_kind kind, struct wsi_list *list, struct ws_error *err)
{
	size_t n = 0;
	for (uint32_t p = 0; p < parents->n; p++) {
		const struct wsi_table *table = wsi_core_child_table(core, parents->at[p], kind);
		n += table ? table->n_rows : 0;
	}
	list->at = wsi_zalloc_array(n, sizeof *list->at);
	list->first = wsi_zalloc_array((size_t)parents->n + 1, sizeof *list->first);
	if (!list->at || !list->first)
		return out_of_memory(wsi_kind_infos[kind].words, err);
	for (uint32_t p = 0; p < parents->n; p++) {
		list->first[p] = list->n;
		uint32_t slot = wsi_core_slot(core, parents->at[p], kind);
		if (!slot)
			continue;
		struct wsi_table *table = &core->tables[slot - 1];
		table->parent = p;
		for (uint32_t row = 0; row < table->n_rows; row++)
			list->at[list->n++] = (struct wsi_ref){ slot - 1, row };
	}
	list->first[parents->n] = list->n;
	return WS_OK;
}

/* Sorts elements of a list by their ids; equal ones keep their order. */
static enum ws_status refs_sort(const struct ws_core *core, struct wsi_ref *at, uint32_t n,
				enum wsi_kind kind, struct ws_error *err)
{
	bool sorted = true;
	uint64_t last = 0;
	for (uint32_t i = 0; i < n && sorted; i++) {
		uint64_t next = wsi_row_id(kind, wsi_core_row(core, at[i]));
		sorted = next >= last;
		last = next;
	}
	if (sorted)
		return WS_OK;
	wsi_scoped_free struct wsi_keyed *items = wsi_zalloc_array(n, sizeof *items);
	wsi_scoped_free struct wsi_ref *old = wsi_zalloc_array(n, sizeof *old);
	if (!items || !old)
		return out_of_memory("rows", err);
	for (uint32_t i = 0; i < n; i++)
		items[i] = (struct wsi_keyed){ wsi_row_id(kind, wsi_core_row(core, at[i])), i };
	if (!wsi_sort_keyed(items, n))
		return out_of_memory("rows", err);
	memcpy(old, at, n * sizeof *old);
	for (uint32_t i = 0; i < n; i++)
		at[i] = old[items[i].value];
	return WS_OK;
}

/* Sorts the elements of each of `n` owners. */
static enum ws_status list_sort(const struct ws_core *core, struct wsi_list *list, uint32_t n,
				enum wsi_kind kind, struct ws_error *err)
{
	enum ws_status st = WS_OK;
	for (uint32_t o = 0; o < n && st == WS_OK; o++)
		st = refs_sort(core, list->at + list->first[o], list->first[o + 1] - list->first[o],
			       kind, err);
	return st;
}

/* Blocks of one SM are consecutive, so are their warps: sorting them per SM is all. */
static enum ws_status warps_list(struct ws_core *core, struct ws_error *err)
{
	struct wsi_list *warps = &core->warps;
	enum ws_status st = children_list(core, &core->blocks, WSI_KIND_WARP, warps, err);
	if (st != WS_OK)
		return st;
	wsi_scoped_free uint32_t *of_block = warps->first;
	warps->first = wsi_zalloc_array((size_t)core->sms.n + 1, sizeof *warps->first);
	core->lane_tables = wsi_zalloc_array(warps->n, sizeof *core->lane_tables);
	if (!warps->first || !core->lane_tables)
		return out_of_memory("warps", err);
	for (uint32_t s = 0; s <= core->sms.n; s++)
		warps->first[s] = of_block[core->blocks.first[s]];
	st = list_sort(core, warps, core->sms.n, WSI_KIND_WARP, err);
	for (uint32_t w = 0; w < warps->n; w++)
		core->lane_tables[w] = wsi_core_slot(core, warps->at[w], WSI_KIND_LANE);
	return st;
}

/* ---- ids of what is looked up by id ---- */

/* Indices of a list, sorted by id within each owner. */
static enum ws_status order_make(const struct ws_core *core, struct wsi_list *list,
				 uint32_t n_owners, enum wsi_kind kind, struct ws_error *err)
{
	uint32_t *order = list->by_id = wsi_zalloc_array(list->n, sizeof *order);
	const uint32_t *first = list->first;
	uint32_t most = 0;
	for (uint32_t o = 0; o < n_owners; o++)
		most = first[o + 1] - first[o] > most ? first[o + 1] - first[o] : most;
	wsi_scoped_free struct wsi_keyed *items = wsi_zalloc_array(most, sizeof *items);
	if (!order || !items)
		return out_of_memory("ids", err);
	for (uint32_t o = 0; o < n_owners; o++) {
		uint32_t from = first[o], n = first[o + 1] - from;
		for (uint32_t i = 0; i < n; i++)
			items[i] = (struct wsi_keyed){
				wsi_row_id(kind, wsi_core_row(core, list->at[from + i])), from + i
			};
		if (!wsi_sort_keyed(items, n))
			return out_of_memory("ids", err);
		for (uint32_t i = 0; i < n; i++)
			order[from + i] = items[i].value;
	}
	return WS_OK;
}

/* First element of an owner with that id, WS_NONE when there is none. */
static uint32_t order_find(const struct ws_core *core, const struct wsi_list *list, uint32_t owner,
			   enum wsi_kind kind, uint64_t wanted)
{
	const uint32_t *order = list->by_id;
	uint32_t end = list->first[owner + 1];
	uint32_t low =
		WSI_BISECT(i, list->first[owner], end,
			   wsi_row_id(kind, wsi_core_row(core, list->at[order[i]])) < wanted);
	if (low == end || wsi_row_id(kind, wsi_core_row(core, list->at[order[low]])) != wanted)
		return WS_NONE;
	return order[low];
}

uint32_t wsi_core_find_context(const struct ws_core *core, uint32_t device_index, uint64_t id)
{
	return order_find(core, &core->contexts, device_index, WSI_KIND_CONTEXT, id);
}

uint32_t wsi_core_find_grid(const struct ws_core *core, uint32_t device_index, uint64_t id)
{
	return order_find(core, &core->grids, device_index, WSI_KIND_GRID, id);
}

uint32_t wsi_core_find_image(const struct ws_core *core, uint32_t context_index, uint64_t handle)
{
	return order_find(core, &core->modules, context_index, WSI_KIND_MODULE, handle);
}

/* Images say by themselves which code is where: without any module table they are modules whose
 * handles are lost. */
static enum ws_status lone_images_list(struct ws_core *core, struct ws_error *err)
{
	uint32_t n = core->kind_counts[WSI_KIND_RELOCATED];
	if (core->modules.n || !core->contexts.n || !n)
		return WS_OK;
	core->lone_images = wsi_zalloc_array(n, sizeof *core->lone_images);
	if (!core->lone_images)
		return out_of_memory("images", err);
	for (uint32_t i = 1; i < core->n_sections && core->n_lone_images < n; i++)
		if (wsi_kind_of(wsi_elf_shdr(&core->elf, i).type) == WSI_KIND_RELOCATED)
			core->lone_images[core->n_lone_images++] = i;
	return WS_OK;
}

enum ws_status wsi_core_tree(struct ws_core *core, struct ws_error *err)
{
	const struct wsi_list *devices = &core->devices, *contexts = &core->contexts;
	enum ws_status st = devices_list(core, err);
	if (st == WS_OK)
		st = children_list(core, devices, WSI_KIND_CONTEXT, &core->contexts, err);
	if (st == WS_OK)
		st = children_list(core, contexts, WSI_KIND_MODULE, &core->modules, err);
	if (st == WS_OK)
		st = lone_images_list(core, err);
	if (st == WS_OK)
		st = children_list(core, devices, WSI_KIND_GRID, &core->grids, err);
	if (st == WS_OK)
		st = children_list(core, devices, WSI_KIND_SM, &core->sms, err);
	if (st == WS_OK)
		st = list_sort(core, &core->sms, devices->n, WSI_KIND_SM, err);
	if (st == WS_OK)
		st = children_list(core, &core->sms, WSI_KIND_BLOCK, &core->blocks, err);
	if (st == WS_OK)
		st = warps_list(core, err);
	if (st == WS_OK)
		st = order_make(core, &core->contexts, devices->n, WSI_KIND_CONTEXT, err);
	if (st == WS_OK)
		st = order_make(core, &core->grids, devices->n, WSI_KIND_GRID, err);
	if (st == WS_OK)
		st = order_make(core, &core->modules, contexts->n, WSI_KIND_MODULE, err);
	return st;
}

void wsi_core_tree_fini(struct ws_core *core)
{
	struct wsi_list *lists[] = { &core->devices, &core->contexts, &core->modules, &core->grids,
				     &core->sms,     &core->blocks,   &core->warps };
	for (size_t i = 0; i < WSI_COUNT(lists); i++) {
		wsi_free(lists[i]->at);
		wsi_free(lists[i]->first);
		wsi_free(lists[i]->by_id);
	}
	wsi_free(core->lone_images);
	wsi_free(core->lane_tables);
	wsi_free(core->damaged_devices);
	wsi_free(core->damaged_grids);
	wsi_free(core->most);
}
