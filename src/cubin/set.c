/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many cubins: each image opened when it is first needed, and one merged index over the functions
 * of all for addresses that come without a hint.
 */
#include "base/map.h"
#include "cubin/internal.h"

/* One cubin of the set. `state` is published after the rest. */
struct set_slot {
	struct ws_cubin_entry entry;
	atomic_int state;        /* SLOT_... */
	struct ws_cubin *cubin;  /* owned; SLOT_OPEN */
	struct ws_error failure; /* SLOT_FAILED */
};

enum { SLOT_CLOSED, SLOT_OPEN, SLOT_FAILED };

struct ws_cubin_set {
	struct set_slot **slots; /* owned; each by itself so that growing moves none */
	size_t n_slots, cap_slots;
	pthread_mutex_t lock; /* held while a slot is opened or the index is made */
	atomic_bool have_index;
	struct wsi_segments by_address; /* ids are indices of spots */
	struct wsi_code_spot *spots;    /* owned */
	struct wsi_names names;         /* of functions that are defined */
	struct wsi_line_account *lines; /* owned; pays for those of all cubins */
};

enum ws_status ws_cubin_set_create(struct ws_cubin_set **ret_set, struct ws_error *err)
{
	struct ws_cubin_set *set = wsi_zalloc(sizeof *set);
	if (set)
		set->lines = wsi_zalloc(sizeof *set->lines);
	if (!set || !set->lines || pthread_mutex_init(&set->lock, NULL) != 0) {
		if (set)
			wsi_free(set->lines);
		wsi_free(set);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a set of modules");
	}
	wsi_line_account_init(set->lines);
	*ret_set = set;
	return WS_OK;
}

static void index_drop(struct ws_cubin_set *set)
{
	atomic_store_explicit(&set->have_index, false, memory_order_relaxed);
	wsi_segments_fini(&set->by_address);
	wsi_free(set->spots);
	set->spots = NULL;
	wsi_names_fini(&set->names);
}

void ws_cubin_set_destroy(struct ws_cubin_set *set)
{
	if (!set)
		return;
	index_drop(set);
	for (size_t i = 0; i < set->n_slots; i++) {
		ws_cubin_close(set->slots[i]->cubin);
		wsi_free(set->slots[i]);
	}
	wsi_free(set->lines);
	wsi_free(set->slots);
	pthread_mutex_destroy(&set->lock);
	wsi_free(set);
}

enum ws_status ws_cubin_set_add(struct ws_cubin_set *set, const struct ws_cubin_entry *entry,
				struct ws_error *err)
{
	struct set_slot *slot = wsi_zalloc(sizeof *slot);
	if (!slot || !wsi_grow(&set->slots, &set->cap_slots, set->n_slots, sizeof *set->slots,
			       UINT32_MAX - 1)) {
		wsi_free(slot);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "module %zu of the set",
				set->n_slots);
	}
	slot->entry = *entry;
	set->slots[set->n_slots++] = slot;
	index_drop(set);
	return WS_OK;
}

/* Modules are the same when their numbers and the places of their bytes are. */
static struct wsi_map_key module_key_of(const struct ws_cubin_entry *entry)
{
	return (struct wsi_map_key){
		{ entry->handle, (uint64_t)entry->device_index << 32 | entry->context_index,
		  (uintptr_t)entry->relocated.ptr ^ entry->relocated.len << 48,
		  (uintptr_t)entry->original.ptr ^ entry->original.len << 48 }
	};
}

void wsi_cubin_set_inherit(struct ws_cubin_set *set, struct ws_cubin_set *from)
{
	struct wsi_map old = { 0 };
	bool is_new, enough = true;
	for (uint32_t i = 0; i < from->n_slots && enough; i++) {
		struct wsi_map_key key = module_key_of(&from->slots[i]->entry);
		enough = wsi_map_put(&old, &key, i, &is_new) != NULL;
	}
	for (size_t i = 0; i < set->n_slots; i++) {
		struct wsi_map_key key = module_key_of(&set->slots[i]->entry);
		const uint32_t *index = wsi_map_find(&old, &key);
		struct set_slot *slot = set->slots[i], *its = index ? from->slots[*index] : slot;
		if (its == slot || its->cubin == NULL || its->entry.version != slot->entry.version)
			continue;
		slot->cubin = WSI_TAKE(its->cubin);
		atomic_store(&slot->state, atomic_exchange(&its->state, SLOT_CLOSED));
	}
	wsi_map_fini(&old);
	/* what has paid for lines of the cubins goes with them */
	struct wsi_line_account *lines = set->lines;
	set->lines = from->lines;
	from->lines = lines;
}

uint32_t ws_cubin_set_count(const struct ws_cubin_set *set)
{
	return (uint32_t)set->n_slots;
}

const struct ws_cubin_entry *wsi_cubin_set_entry(const struct ws_cubin_set *set, uint32_t index)
{
	assert(index < set->n_slots);
	return &set->slots[index]->entry;
}

/* The set's lock is held. */
static void slot_open(struct ws_cubin_set *set, struct set_slot *slot, uint32_t index)
{
	struct ws_span image =
		slot->entry.relocated.len ? slot->entry.relocated : slot->entry.original;
	enum ws_status st;
	if (image.len == 0)
		st = wsi_fail(&slot->failure, WS_ABSENT, WS_NO_OFFSET,
			      "no image of module %" PRIu32, index);
	else
		st = ws_cubin_open(image, &slot->cubin, &slot->failure);
	if (st == WS_NO_MEMORY)
		return; /* may work the next time */
	if (st == WS_OK)
		slot->cubin->line_account = set->lines;
	atomic_store_explicit(&slot->state, st == WS_OK ? SLOT_OPEN : SLOT_FAILED,
			      memory_order_release);
}

enum ws_status ws_cubin_set_cubin(struct ws_cubin_set *set, uint32_t index,
				  struct ws_cubin **ret_cubin, struct ws_error *err)
{
	if (index >= set->n_slots)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "there is no module %" PRIu32,
				index);
	struct set_slot *slot = set->slots[index];
	int state = atomic_load_explicit(&slot->state, memory_order_acquire);
	if (state == SLOT_CLOSED) {
		pthread_mutex_lock(&set->lock);
		if (atomic_load_explicit(&slot->state, memory_order_relaxed) == SLOT_CLOSED)
			slot_open(set, slot, index);
		state = atomic_load_explicit(&slot->state, memory_order_relaxed);
		pthread_mutex_unlock(&set->lock);
	}
	if (state == SLOT_OPEN) {
		*ret_cubin = slot->cubin;
		return WS_OK;
	}
	if (state == SLOT_CLOSED)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "module %" PRIu32, index);
	if (err)
		*err = slot->failure;
	return slot->failure.status;
}

/* ---- by address ---- */

/* Opens all cubins and makes their symbols; the lock is not held. Those that fail are left out.
 * Returns the number of segments in their indices. */
static size_t open_all(struct ws_cubin_set *set)
{
	size_t n = 0;
	for (uint32_t i = 0; i < set->n_slots; i++) {
		struct ws_cubin *cubin;
		if (ws_cubin_set_cubin(set, i, &cubin, NULL) == WS_OK &&
		    wsi_cubin_need_symbols(cubin, NULL) == WS_OK)
			n += cubin->by_address.n;
	}
	return n;
}

/* The set's lock is held, cubins are open. */
static bool segment_index_make(struct ws_cubin_set *set, size_t n_segments)
{
	wsi_scoped_free struct wsi_interval *ranges = wsi_zalloc_array(n_segments, sizeof *ranges);
	set->spots = wsi_zalloc_array(n_segments, sizeof *set->spots);
	if (!ranges || !set->spots || !wsi_segments_init(&set->by_address, n_segments))
		return false;
	uint32_t n = 0;
	for (uint32_t i = 0; i < set->n_slots; i++) {
		const struct ws_cubin *cubin = set->slots[i]->cubin;
		const struct wsi_segments *s = cubin ? &cubin->by_address : NULL;
		for (size_t j = 0; s && j + 1 < s->n && n < n_segments; j++) {
			if (s->id[j] == WSI_NO_INTERVAL)
				continue; /* the last segment is always a gap */
			set->spots[n] = cubin->spots[s->id[j]];
			set->spots[n].module_index = i;
			ranges[n] = (struct wsi_interval){ s->start[j], s->start[j + 1], n };
			n++;
		}
	}
	wsi_segments_append(&set->by_address, ranges, n);
	return true;
}

/* The functions by name: of several that have it the cubin added last, of one cubin its first. */
static bool names_make(struct ws_cubin_set *set)
{
	size_t most = 0;
	for (uint32_t i = 0; i < set->n_slots; i++)
		most += set->slots[i]->cubin ? set->slots[i]->cubin->n_names : 0;
	if (!wsi_names_init(&set->names, most))
		return false;
	for (uint32_t i = 0; i < set->n_slots; i++) {
		const struct ws_cubin *cubin = set->slots[i]->cubin;
		for (size_t j = 0; cubin && j < cubin->n_names; j++) {
			struct ws_str name = cubin->names[j].name;
			const struct ws_function *f = &cubin->functions[cubin->names[j].function];
			bool first = j == 0 || !ws_str_equal(name, cubin->names[j - 1].name);
			if (first && f->section != 0)
				wsi_names_put(&set->names, name, f, i);
		}
	}
	return true;
}

static __attribute__((noinline)) enum ws_status index_make_once(struct ws_cubin_set *set,
								struct ws_error *err)
{
	size_t n_segments = open_all(set);
	wsi_hold(&set->lock);
	bool made = atomic_load_explicit(&set->have_index, memory_order_relaxed);
	if (!made && n_segments < UINT32_MAX) {
		made = segment_index_make(set, n_segments) && names_make(set);
		if (!made)
			index_drop(set);
		atomic_store_explicit(&set->have_index, made, memory_order_release);
	}
	return made ? WS_OK : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "index of all modules");
}

static enum ws_status index_need(struct ws_cubin_set *set, struct ws_error *err)
{
	return atomic_load_explicit(&set->have_index, memory_order_acquire)
		       ? WS_OK
		       : index_make_once(set, err);
}

static bool entry_fits(const struct ws_cubin_entry *entry, const struct ws_cubin_hint *hint)
{
	return (hint->device_index == WS_NONE || entry->device_index == WS_NONE ||
		hint->device_index == entry->device_index) &&
	       (hint->context_index == WS_NONE || entry->context_index == WS_NONE ||
		hint->context_index == entry->context_index);
}

static enum ws_status find_place_in(struct ws_cubin_set *set, uint32_t index, uint64_t gpu_va,
				    struct ws_place *ret_place)
{
	struct ws_cubin *cubin;
	enum ws_status st = ws_cubin_set_cubin(set, index, &cubin, NULL);
	if (st == WS_OK)
		st = ws_cubin_find_address(cubin, gpu_va, ret_place, NULL);
	if (st == WS_OK)
		ret_place->module_index = index;
	return st;
}

static const struct ws_cubin_hint no_hint = { WS_NONE, WS_NONE, WS_NONE };

enum ws_status ws_cubin_set_find_address(struct ws_cubin_set *set, uint64_t gpu_va,
					 const struct ws_cubin_hint *hint,
					 struct ws_place *ret_place, struct ws_error *err)
{
	if (!hint)
		hint = &no_hint;
	if (hint->module_index < set->n_slots &&
	    find_place_in(set, hint->module_index, gpu_va, ret_place) == WS_OK)
		return WS_OK;
	enum ws_status st = index_need(set, err);
	if (st != WS_OK)
		return st;
	if (!wsi_spot_find(&set->by_address, set->spots, gpu_va, ret_place))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no module has code at 0x%" PRIx64,
				gpu_va);
	if (entry_fits(&set->slots[ret_place->module_index]->entry, hint))
		return WS_OK;
	/* another context has a cubin at the same address: ask those that may answer, and then, if
	 * only one has the address, that of another context of the device */
	const struct ws_cubin_hint device = { WS_NONE, hint->device_index, WS_NONE };
	size_t n_others = 0;
	struct ws_place other;
	for (size_t i = set->n_slots; i-- > 0;) {
		const struct ws_cubin_entry *entry = &set->slots[i]->entry;
		if (!entry_fits(entry, &device) ||
		    find_place_in(set, (uint32_t)i, gpu_va, ret_place) != WS_OK)
			continue;
		if (entry_fits(entry, hint))
			return WS_OK;
		other = *ret_place;
		n_others++;
	}
	if (n_others != 1)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"no module of the context has code at 0x%" PRIx64, gpu_va);
	*ret_place = other;
	return WS_OK;
}

/* ---- by name and handle ---- */

static struct ws_place function_place_of(struct ws_cubin *cubin, uint32_t index,
					 const struct ws_function *f)
{
	return (struct ws_place){
		.module_index = index,
		.cubin = cubin,
		.section = f->section,
		.sec_off = f->sec_off,
		.function = f,
		.owner = wsi_cubin_owner(cubin, f),
	};
}

static bool name_in(struct ws_cubin_set *set, uint32_t index, struct ws_str name,
		    struct ws_place *ret_place)
{
	struct ws_cubin *cubin;
	const struct ws_function *f;
	if (ws_cubin_set_cubin(set, index, &cubin, NULL) != WS_OK ||
	    ws_cubin_find_function(cubin, name, &f, NULL) != WS_OK || f->section == 0)
		return false;
	*ret_place = function_place_of(cubin, index, f);
	return true;
}

enum ws_status ws_cubin_set_find_function(struct ws_cubin_set *set, struct ws_str name,
					  const struct ws_cubin_hint *hint,
					  struct ws_place *ret_place, struct ws_error *err)
{
	if (!hint)
		hint = &no_hint;
	if (hint->module_index < set->n_slots && name_in(set, hint->module_index, name, ret_place))
		return WS_OK;
	enum ws_status st = index_need(set, err);
	if (st != WS_OK)
		return st;
	uint32_t index = 0;
	const struct ws_function *f = wsi_names_find(&set->names, name, &index);
	if (f && entry_fits(&set->slots[index]->entry, hint)) {
		*ret_place = function_place_of(set->slots[index]->cubin, index, f);
		return WS_OK;
	}
	/* a cubin of another context has it too: ask those that may answer */
	for (size_t i = f ? set->n_slots : 0; i-- > 0;) {
		if (entry_fits(&set->slots[i]->entry, hint) &&
		    name_in(set, (uint32_t)i, name, ret_place))
			return WS_OK;
	}
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no module has such a function");
}

enum ws_status ws_cubin_set_find_handle(const struct ws_cubin_set *set, uint64_t handle,
					uint32_t device_index, uint32_t context_index,
					uint32_t *ret_index, struct ws_error *err)
{
	struct ws_cubin_hint wanted = { WS_NONE, device_index, context_index };
	for (size_t i = set->n_slots; i-- > 0;) {
		if (set->slots[i]->entry.handle == handle &&
		    entry_fits(&set->slots[i]->entry, &wanted)) {
			*ret_index = (uint32_t)i;
			return WS_OK;
		}
	}
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no module has the handle 0x%" PRIx64,
			handle);
}
