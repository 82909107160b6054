/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions over all cubins of a set: open addressing, at most half full, the hash seeded
 * by where the table lies so that an image cannot choose its collisions.
 */
#include "cubin/internal.h"

#include "base/map.h"

struct wsi_name_slot {
	uint64_t hash;
	struct ws_str name; /* borrowed; NULL: empty */
	const struct ws_function *function;
	uint32_t module_index;
};

bool wsi_names_init(struct wsi_names *names, size_t most)
{
	size_t n_slots = 16;
	while (n_slots < 2 * most)
		n_slots *= 2;
	names->slots = wsi_zalloc_array(n_slots, sizeof *names->slots);
	names->n_slots = names->slots ? n_slots : 0;
	return names->slots != NULL;
}

void wsi_names_fini(struct wsi_names *names)
{
	wsi_free(names->slots);
	*names = (struct wsi_names){ 0 };
}

static struct wsi_name_slot *name_slot_of(const struct wsi_names *names, struct ws_str name,
					  uint64_t *ret_hash)
{
	uint64_t hash = wsi_hash_bytes(name.ptr, name.len, (uint64_t)(uintptr_t)names->slots);
	size_t at = (size_t)hash & (names->n_slots - 1);
	while (names->slots[at].name.ptr &&
	       (names->slots[at].hash != hash || !ws_str_equal(names->slots[at].name, name)))
		at = (at + 1) & (names->n_slots - 1);
	*ret_hash = hash;
	return &names->slots[at];
}

void wsi_names_put(struct wsi_names *names, struct ws_str name, const struct ws_function *function,
		   uint32_t module_index)
{
	uint64_t hash;
	if (!name.ptr)
		return;
	struct wsi_name_slot *slot = name_slot_of(names, name, &hash);
	*slot = (struct wsi_name_slot){ hash, name, function, module_index };
}

const struct ws_function *wsi_names_find(const struct wsi_names *names, struct ws_str name,
					 uint32_t *ret_module_index)
{
	uint64_t hash;
	const struct wsi_name_slot *slot = name.ptr ? name_slot_of(names, name, &hash) : NULL;
	if (!slot || !slot->name.ptr)
		return NULL;
	*ret_module_index = slot->module_index;
	return slot->function;
}
