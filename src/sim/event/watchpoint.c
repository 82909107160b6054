/* SPDX-License-Identifier: Apache-2.0 */
/* See watchpoint.h. */
#include "sim/event/watchpoint.h"

enum { MAX_TOUCHES = 1 << 20 };

/* An access of a lane to watched bytes. */
struct watchpoint_touch {
	uint32_t watch;          /* index */
	uint32_t lane, lanes, n; /* `lanes`: all that did the same */
	bool write;
	uint64_t address, pc;
	const struct wsi_block *block; /* whose shared memory it is */
	uint8_t before[WSI_TOUCH_BYTES];
};

struct wsi_watches {
	struct wsi_watch watch[WSI_MAX_WATCHES];
	uint32_t n, last_number;
	struct watchpoint_touch *touches; /* owned; of what runs */
	size_t n_touches, cap_touches;
	struct wsi_watch_hit hits[WSI_MAX_WATCHES];
	uint32_t n_hits;
};

/* ---- the list ---- */

enum ws_status wsi_watch_add(struct ws_sim *sim, const struct wsi_watch *watch,
			     uint32_t *ret_number, struct ws_error *err)
{
	if (!sim->watches)
		sim->watches = wsi_zalloc(sizeof *sim->watches);
	struct wsi_watches *w = sim->watches;
	if (!w)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "out of memory");
	if (w->n == WSI_MAX_WATCHES)
		return wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "there are %u watchpoints already",
				w->n);
	w->watch[w->n] = *watch;
	*ret_number = w->watch[w->n++].number = ++w->last_number;
	return WS_OK;
}

void wsi_watches_fini(struct ws_sim *sim)
{
	if (sim->watches)
		wsi_free(sim->watches->touches);
	wsi_free(sim->watches);
	sim->watches = NULL;
}

void wsi_watch_remove(struct ws_sim *sim, uint32_t number)
{
	struct wsi_watches *w = sim->watches;
	for (uint32_t i = 0; w && i < w->n; i++) {
		if (w->watch[i].number != number)
			continue;
		memmove(&w->watch[i], &w->watch[i + 1], (--w->n - i) * sizeof *w->watch);
		return;
	}
}

const struct wsi_watch_hit *wsi_watch_hit_at(const struct ws_sim *sim, uint32_t index)
{
	return sim->watches && index < sim->watches->n_hits ? &sim->watches->hits[index] : NULL;
}

void wsi_watch_forget(struct ws_sim *sim)
{
	if (sim->watches)
		sim->watches->n_hits = 0;
}

/* ---- accesses ---- */

static bool overlaps(const struct wsi_watch *watch, enum ws_sass_space space, uint64_t address,
		     uint64_t len)
{
	return watch->space == space && address < watch->start + watch->len &&
	       watch->start < address + len;
}

bool wsi_watch_near(const struct wsi_run *run, enum ws_sass_space space, uint64_t address,
		    uint64_t len, bool write)
{
	const struct wsi_watches *w = run->sim->watches;
	uint32_t kinds = write ? WSI_WATCH_WRITE | WSI_WATCH_CHANGE : WSI_WATCH_READ;
	if (space == WS_SASS_SPACE_SHARED && run->sim->device->sm >= 90)
		address &= 0xffffff;
	if (space == WS_SASS_SPACE_GENERIC) /* windows take no short cut */
		space = WS_SASS_SPACE_GLOBAL;
	for (uint32_t i = 0; i < w->n; i++)
		if ((w->watch[i].kinds & kinds) && overlaps(&w->watch[i], space, address, len))
			return true;
	return false;
}

static bool is_of_block(const struct wsi_watch *watch, const struct wsi_block *block)
{
	return block->grid->id == watch->grid &&
	       memcmp(&block->idx, &watch->block, sizeof block->idx) == 0;
}

/* The bytes that a lane touched, as they are now. */
static void copy_out(struct ws_sim *sim, struct wsi_warp *warp, const struct wsi_watch *watch,
		     const struct watchpoint_touch *t, uint8_t *to)
{
	const struct wsi_bank *bank = &warp->block->grid->bank[watch->bank];
	for (uint32_t i = 0; i < t->n; i++) {
		const uint8_t *from = NULL;
		bool no_memory;
		uint64_t n = 1;
		if (watch->space == WS_SASS_SPACE_SHARED)
			from = wsi_shared_bytes(t->block, t->address + i, 1);
		else if (watch->space == WS_SASS_SPACE_LOCAL)
			from = wsi_local_byte(sim, warp, t->lane, t->address + i);
		else if (watch->space == WS_SASS_SPACE_CONSTANT)
			from = bank->bytes + t->address + i;
		else
			from = wsi_memory_read(&sim->memory, t->address + i, &n, &no_memory);
		to[i] = from ? *from : 0;
	}
}

static void note_touch(struct wsi_run *run, uint32_t index, const struct watchpoint_touch *touch)
{
	struct wsi_watches *w = run->sim->watches;
	const struct wsi_watch *watch = &w->watch[index];
	if (!wsi_grow(&w->touches, &w->cap_touches, w->n_touches, sizeof *w->touches,
		      MAX_TOUCHES)) {
		run->no_memory = true;
		return;
	}
	struct watchpoint_touch *t = &w->touches[w->n_touches++];
	uint64_t end = wsi_min_u64(touch->address + touch->n, watch->start + watch->len);
	*t = *touch;
	t->watch = index;
	t->pc = run->pc;
	t->address = wsi_max_u64(t->address, watch->start);
	t->n = (uint32_t)wsi_min_u64(end - t->address, WSI_TOUCH_BYTES);
	copy_out(run->sim, run->warp, watch, t, t->before);
	run->stands = true;
	run->n = 0;
}

void wsi_watch_touch(struct wsi_run *run, enum ws_sass_space space, unsigned lane, uint64_t address,
		     unsigned bytes, bool write)
{
	const struct wsi_watches *w = run->sim->watches;
	const struct wsi_warp *warp = run->warp;
	uint64_t window = address & ~(WSI_WINDOW_BYTES - 1);
	struct watchpoint_touch t = {
		.lane = lane, .lanes = 1u << lane, .n = bytes, .write = write, .address = address
	};
	if (space == WS_SASS_SPACE_GENERIC) {
		space = window == WSI_SHARED_WINDOW  ? WS_SASS_SPACE_SHARED
			: window == WSI_LOCAL_WINDOW ? WS_SASS_SPACE_LOCAL
						     : WS_SASS_SPACE_GLOBAL;
		t.address = space == WS_SASS_SPACE_GLOBAL ? address : (uint32_t)address;
	}
	if (space == WS_SASS_SPACE_SHARED) {
		uint32_t offset;
		t.block = wsi_shared_owner(run, (uint32_t)t.address, &offset);
		t.address = offset;
	}
	for (uint32_t i = 0; i < w->n; i++) {
		const struct wsi_watch *watch = &w->watch[i];
		if (!overlaps(watch, space, t.address, bytes) ||
		    (space == WS_SASS_SPACE_SHARED && !is_of_block(watch, t.block)) ||
		    (space == WS_SASS_SPACE_LOCAL &&
		     (!is_of_block(watch, warp->block) || watch->warp != warp->id ||
		      watch->lane != lane)))
			continue;
		if (write || watch->kinds & WSI_WATCH_READ) /* an atomic reads, too */
			note_touch(run, i, &t);
	}
}

/* ---- constants ---- */

const struct wsi_bank *wsi_watch_banks(const struct ws_sim *sim, const struct wsi_grid *grid,
				       struct wsi_bank own[WSI_BANKS])
{
	const struct wsi_watches *w = sim->watches;
	const struct wsi_bank *banks = grid->bank;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct wsi_watch *watch = &w->watch[i];
		if (watch->space != WS_SASS_SPACE_CONSTANT || watch->grid != grid->id)
			continue;
		if (banks == grid->bank)
			memcpy(own, grid->bank, sizeof grid->bank);
		own[watch->bank].size = 0;
		banks = own;
	}
	return banks;
}

const uint8_t *wsi_watch_constant(struct wsi_run *run, uint32_t bank, uint64_t off, uint32_t bytes)
{
	const struct wsi_watches *w = run->sim->watches;
	const struct wsi_grid *grid = run->warp->block->grid;
	const struct wsi_bank *b = &grid->bank[bank];
	if (off > b->size || bytes > b->size - off)
		return NULL;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct wsi_watch *watch = &w->watch[i];
		struct watchpoint_touch t = { .n = bytes, .address = off };
		if (!overlaps(watch, WS_SASS_SPACE_CONSTANT, off, bytes) || watch->bank != bank ||
		    watch->grid != grid->id)
			continue;
		t.lanes = run->mask;
		t.lane = run->mask ? wsi_first_bit(run->mask) : 0;
		note_touch(run, i, &t);
	}
	return b->bytes + off;
}

/* ---- afterwards ---- */

static bool is_atomic(struct ws_sim *sim, uint64_t pc)
{
	struct wsi_text *text = wsi_sim_text_find(sim, pc);
	struct ws_insn insn;
	if (!text)
		return false;
	ws_sass_decode(sim->device->sm, text->bytes + (pc - text->start), &insn);
	return insn.flags & WS_SASS_ATOMIC;
}

/* What a lane did to the watched bytes, as far as its watchpoint stops for it; 0: nothing. */
static uint32_t kinds_of(struct ws_sim *sim, const struct wsi_watch *watch,
			 const struct watchpoint_touch *t, const uint8_t *now)
{
	uint32_t kinds = t->write ? WSI_WATCH_WRITE : WSI_WATCH_READ;
	if (t->write && memcmp(t->before, now, t->n) != 0)
		kinds |= WSI_WATCH_CHANGE;
	if (t->write && (watch->kinds & WSI_WATCH_READ) && is_atomic(sim, t->pc))
		kinds |= WSI_WATCH_READ;
	return kinds & watch->kinds ? kinds : 0;
}

static struct wsi_watch_hit *hit_of(struct wsi_watches *w, uint32_t number)
{
	for (uint32_t i = 0; i < w->n_hits; i++)
		if (w->hits[i].number == number)
			return &w->hits[i];
	if (w->n_hits == WSI_MAX_WATCHES)
		return NULL;
	w->hits[w->n_hits] = (struct wsi_watch_hit){ .number = number };
	return &w->hits[w->n_hits++];
}

bool wsi_watch_settle(struct ws_sim *sim, struct wsi_warp *warp)
{
	struct wsi_watches *w = sim->watches;
	bool any = false;
	for (size_t i = 0; i < w->n_touches && !sim->faulted; i++) {
		const struct watchpoint_touch *t = &w->touches[i];
		const struct wsi_watch *watch = &w->watch[t->watch];
		uint8_t now[WSI_TOUCH_BYTES];
		copy_out(sim, warp, watch, t, now);
		uint32_t kinds = kinds_of(sim, watch, t, now);
		struct wsi_watch_hit *hit = kinds ? hit_of(w, watch->number) : NULL;
		if (!hit)
			continue;
		any = true;
		hit->kinds |= kinds;
		hit->lanes |= t->lanes;
		if (hit->n > 0 && (hit->address != t->address || !t->write))
			continue;
		/* of lanes that write to one place the last one wins */
		hit->sm = warp->block->sm;
		hit->slot = warp->slot;
		hit->lane = t->lane;
		hit->pc = t->pc;
		hit->address = t->address;
		hit->n = t->n;
		memcpy(hit->before, t->before, sizeof hit->before);
		memcpy(hit->now, now, sizeof hit->now);
	}
	w->n_touches = 0;
	return any;
}
