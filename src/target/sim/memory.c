/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a software GPU that stands. Reading changes nothing: pages that no one touched stay
 * away.
 */
#include "target/sim/sim.h"

static enum ws_status nothing_there(struct ws_error *err, uint64_t address)
{
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "nothing is at 0x%" PRIx64, address);
}

/* ---- ranges ---- */

static bool sim_range_add(struct sim_target *t, const struct ws_memory_range *range)
{
	if (!wsi_grow(&t->ranges, &t->cap_ranges, t->n_ranges, sizeof *t->ranges, UINT32_MAX))
		return false;
	t->ranges[t->n_ranges] = *range;
	t->ranges[t->n_ranges].bytes_present = range->size;
	t->ranges[t->n_ranges++].file_off = WS_NO_OFFSET;
	return true;
}

static struct ws_memory_range space_range_of(enum ws_space space, uint64_t start, uint64_t size)
{
	return (struct ws_memory_range){
		.space = space,
		.device_index = space == WS_SPACE_GLOBAL ? WS_NONE : 0,
		.grid_index = WS_NONE,
		.block_index = WS_NONE,
		.warp_index = WS_NONE,
		.lane = WS_NONE,
		.start = start,
		.size = size,
	};
}

static bool add_global(struct sim_target *t)
{
	const struct wsi_memory *memory = &t->sim->memory;
	bool ok = true;
	for (size_t i = 0; i < memory->n && ok; i++) {
		const struct wsi_region *region = &memory->regions[i];
		struct ws_memory_range range =
			space_range_of(WS_SPACE_GLOBAL, region->start, region->size);
		range.managed = region->managed;
		ok = sim_range_add(t, &range);
	}
	return ok;
}

static bool add_shared_and_local(struct sim_target *t)
{
	uint32_t n_warps = t->rows.counts.warps;
	bool ok = true;
	for (uint32_t i = 0; i < t->sim->n_blocks && ok; i++) {
		struct ws_memory_range range =
			space_range_of(WS_SPACE_SHARED, 0, t->rows.blocks[i]->shared_bytes);
		range.block_index = i;
		ok = range.size == 0 || sim_range_add(t, &range);
	}
	for (uint32_t i = 0; i < n_warps && ok; i++) {
		const struct wsi_warp *warp = t->rows.warps[i];
		if (!warp->local) /* never used */
			continue;
		for (uint32_t left = warp->live; left && ok; left &= left - 1) {
			struct ws_memory_range range =
				space_range_of(WS_SPACE_LOCAL, 0, warp->block->grid->local_bytes);
			range.warp_index = i;
			range.lane = wsi_first_bit(left);
			ok = sim_range_add(t, &range);
		}
	}
	return ok;
}

static bool add_of_grids(struct sim_target *t)
{
	bool ok = true;
	uint32_t n = t->rows.counts.grids;
	for (uint32_t i = 0; i < n && ok; i++) {
		const struct wsi_grid *grid = t->rows.queue[i];
		uint64_t param = grid ? grid->param : 0;
		struct ws_memory_range range = space_range_of(
			WS_SPACE_PARAM, param, grid ? grid->bank[0].size - param : 0);
		range.grid_index = i;
		ok = !grid || sim_range_add(t, &range);
	}
	for (uint32_t i = 0; i < n && ok; i++) {
		const struct wsi_grid *grid = t->rows.queue[i];
		for (uint32_t bank = 0; grid && bank < WSI_BANKS && ok; bank++) {
			const struct wsi_bank *b = &grid->bank[bank];
			struct ws_memory_range range =
				space_range_of(WS_SPACE_CONST, b->address, b->size);
			range.grid_index = i;
			range.bank = bank;
			ok = b->size == 0 || sim_range_add(t, &range);
		}
	}
	return ok;
}

/* Makes the list if something has changed since it was made. */
static enum ws_status know_ranges(struct sim_target *t, struct ws_error *err)
{
	if (atomic_load_explicit(&t->ranges_known, memory_order_acquire))
		return WS_OK;
	pthread_mutex_lock(&t->range_lock);
	bool known = atomic_load(&t->ranges_known);
	if (!known) {
		t->n_ranges = 0;
		known = add_global(t) && add_shared_and_local(t) && add_of_grids(t);
		atomic_store_explicit(&t->ranges_known, known, memory_order_release);
	}
	pthread_mutex_unlock(&t->range_lock);
	return known ? WS_OK : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
}

enum ws_status sim_memory_range(const struct ws_target *target, uint32_t index,
				struct ws_memory_range *ret_range, struct ws_error *err)
{
	struct sim_target *t = sim_of(target);
	if (sim_runs(t))
		return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "the device is running");
	enum ws_status st = know_ranges(t, err);
	if (st != WS_OK)
		return st;
	if (index >= t->n_ranges)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no more ranges");
	*ret_range = t->ranges[index];
	return WS_OK;
}

/* ---- reading ---- */

/* Bytes of one page; 0: nothing is there. */
static size_t read_page(const struct sim_target *t, uint64_t address, uint8_t *buffer, size_t len)
{
	const struct wsi_memory *memory = &t->sim->memory;
	size_t low = WSI_BISECT(i, 0, memory->n, memory->regions[i].start <= address);
	if (low == 0)
		return 0;
	const struct wsi_region *region = &memory->regions[low - 1];
	uint64_t off = address - region->start;
	if (off >= region->size)
		return 0;
	size_t in_page = (size_t)(off % WSI_PAGE_BYTES);
	size_t n = (size_t)wsi_min_u64(len, WSI_PAGE_BYTES - in_page);
	n = (size_t)wsi_min_u64(n, region->size - off);
	const struct wsi_memory_page *page = region->pages->page[off / WSI_PAGE_BYTES];
	if (page)
		memcpy(buffer, page->bytes + in_page, n);
	else if (!region->fetch)
		memset(buffer, 0, n);
	else if (!region->fetch(region->user, address, buffer, n))
		return 0;
	return n;
}

static enum ws_status sim_read_global(const struct sim_target *t, uint64_t address, uint8_t *buffer,
				      size_t len, size_t *ret_n, struct ws_error *err)
{
	while (*ret_n < len) {
		size_t n = read_page(t, address + *ret_n, buffer + *ret_n, len - *ret_n);
		if (n == 0)
			return nothing_there(err, address + *ret_n);
		*ret_n += n;
	}
	return WS_OK;
}

/* Copies what lies inside `size` bytes. */
static enum ws_status read_bytes(const uint8_t *from, uint64_t size, uint64_t address,
				 uint8_t *buffer, size_t len, size_t *ret_n, struct ws_error *err)
{
	uint64_t n = address < size ? wsi_min_u64(len, size - address) : 0;
	if (n > 0)
		memcpy(buffer, from + address, (size_t)n);
	*ret_n = (size_t)n;
	return n == len ? WS_OK : nothing_there(err, address + n);
}

static enum ws_status sim_read_local(const struct wsi_warp *warp, uint32_t lane, uint64_t address,
				     uint8_t *buffer, size_t len, size_t *ret_n,
				     struct ws_error *err)
{
	uint64_t size = warp->block->grid->local_bytes;
	for (; *ret_n < len; (*ret_n)++) {
		uint64_t at = address + *ret_n, off = at % WSI_LOCAL_CHUNK;
		if (at >= size)
			return nothing_there(err, at);
		const uint8_t *chunk = warp->local ? warp->local[at / WSI_LOCAL_CHUNK] : NULL;
		buffer[*ret_n] = chunk ? chunk[(off / 4 * WSI_LANES + lane) * 4 + off % 4] : 0;
	}
	return WS_OK;
}

static enum ws_status sim_read_bank(const struct sim_target *t, const struct sim_place *p,
				    uint8_t *buffer, size_t len, size_t *ret_n,
				    struct ws_error *err)
{
	const struct wsi_bank *b = &p->grid->bank[p->bank < WSI_BANKS ? p->bank : 0];
	uint64_t size = p->bank < WSI_BANKS ? b->size : 0;
	size_t n = p->address < size ? (size_t)wsi_min_u64(len, size - p->address) : 0;
	enum ws_status st =
		n ? sim_read_global(t, b->address + p->address, buffer, n, ret_n, err) : WS_OK;
	return st != WS_OK || n == len ? st : nothing_there(err, p->address + n);
}

/* The grid whose constants an address means; NULL: none, or one that is done. */
static const struct wsi_grid *grid_meant(const struct sim_target *t, const struct ws_address *at)
{
	if (at->grid_index != WS_NONE && at->grid_index < t->rows.counts.grids)
		return t->rows.queue[at->grid_index];
	return at->warp_index < t->rows.counts.warps ? t->rows.warps[at->warp_index]->block->grid
						     : NULL;
}

/* What an address of a warp's names. `warp` and `grid` may be NULL. */
static enum ws_status memory_place_of(const struct ws_address *at, struct wsi_warp *warp,
				      const struct wsi_grid *grid, struct sim_place *ret,
				      struct ws_error *err)
{
	uint64_t window = at->address & ~(WSI_WINDOW_BYTES - 1);
	*ret = (struct sim_place){
		.space = at->space, .address = at->address, .lane = at->lane, .bank = at->bank
	};
	if (at->space == WS_SPACE_GENERIC) {
		bool shared = window == WSI_SHARED_WINDOW, local = window == WSI_LOCAL_WINDOW;
		ret->space = shared ? WS_SPACE_SHARED : local ? WS_SPACE_LOCAL : WS_SPACE_GLOBAL;
		ret->address -= shared || local ? window : 0;
	}
	if (ret->space == WS_SPACE_SHARED || ret->space == WS_SPACE_LOCAL) {
		if (!warp)
			return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "this memory needs a warp");
		ret->warp = warp;
	}
	if (ret->space == WS_SPACE_LOCAL &&
	    (at->lane >= WSI_LANES || !(ret->warp->live >> at->lane & 1)))
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "local memory needs a lane");
	if (ret->space == WS_SPACE_PARAM || ret->space == WS_SPACE_CONST) {
		ret->grid = grid;
		ret->bank = ret->space == WS_SPACE_PARAM ? 0 : at->bank;
		if (!grid)
			return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
					"a constant bank needs a grid that has not ended");
	}
	return WS_OK;
}

enum ws_status sim_place_of(const struct sim_target *t, const struct ws_address *at,
			    struct sim_place *ret, struct ws_error *err)
{
	struct wsi_warp *warp = NULL;
	const struct wsi_grid *grid = NULL;
	if (at->space != WS_SPACE_CODE) {
		if (sim_runs(t))
			return wsi_fail(err, WS_RUNNING, WS_NO_OFFSET, "the device is running");
		grid = grid_meant(t, at);
		warp = at->warp_index < t->rows.counts.warps ? t->rows.warps[at->warp_index] : NULL;
	}
	return memory_place_of(at, warp, grid, ret, err);
}

static enum ws_status read_place(const struct sim_target *t, const struct sim_place *p,
				 void *buffer, size_t len, size_t *ret_n, struct ws_error *err)
{
	switch (p->space) {
	case WS_SPACE_GLOBAL:
		return sim_read_global(t, p->address, buffer, len, ret_n, err);
	case WS_SPACE_SHARED:
		return read_bytes(p->warp->block->shared, p->warp->block->shared_bytes, p->address,
				  buffer, len, ret_n, err);
	case WS_SPACE_LOCAL:
		return sim_read_local(p->warp, p->lane, p->address, buffer, len, ret_n, err);
	case WS_SPACE_PARAM:
	case WS_SPACE_CONST:
		return sim_read_bank(t, p, buffer, len, ret_n, err);
	case WS_SPACE_CODE:
	case WS_SPACE_GENERIC:
		break;
	}
	return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET, "code is in the images");
}

enum ws_status sim_read_memory(const struct ws_target *target, const struct ws_address *at,
			       void *buffer, size_t len, size_t *ret_n, struct ws_error *err)
{
	const struct sim_target *t = sim_of(target);
	struct sim_place p;
	*ret_n = 0;
	enum ws_status st = sim_place_of(t, at, &p, err);
	return st == WS_OK ? read_place(t, &p, buffer, len, ret_n, err) : st;
}

enum ws_status sim_read_of_warp(const struct sim_target *t, struct wsi_warp *warp,
				const struct ws_address *at, void *buffer, size_t len,
				size_t *ret_n, struct ws_error *err)
{
	struct sim_place p;
	*ret_n = 0;
	enum ws_status st = memory_place_of(at, warp, warp->block->grid, &p, err);
	return st == WS_OK ? read_place(t, &p, buffer, len, ret_n, err) : st;
}
