/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash map from four 64-bit words to a 32-bit number, for grouping: open addressing, linear
 * probing, at most half full. Keys are spread with a seed that differs from run to run, so that an
 * input cannot choose its collisions; nothing depends on the order inside the map.
 */
#ifndef WSI_MAP_H
#define WSI_MAP_H

#include "base/base.h"

struct wsi_map_key {
	uint64_t word[4];
};

struct wsi_map_slot;

/* All-zero is an empty map. */
struct wsi_map {
	struct wsi_map_slot *slots; /* owned; a power of two, or none */
	size_t n_slots, n_used;
};

/*
 * The value of a key. When the key is new, `value_if_new` is stored for it first and `*ret_is_new`
 * is true. NULL when memory is out. The pointer is valid until the next call.
 */
uint32_t *wsi_map_put(struct wsi_map *map, const struct wsi_map_key *key, uint32_t value_if_new,
		      bool *ret_is_new) WS_MUST_USE;
/* Hash of bytes; `seed` is something that an input cannot foresee. */
uint64_t wsi_hash_bytes(const void *bytes, size_t n, uint64_t seed);

/* The value of a key, valid until the next wsi_map_put(); NULL when the map does not have it. */
const uint32_t *wsi_map_find(const struct wsi_map *map, const struct wsi_map_key *key);
/* Leaves it all-zero; may be repeated. */
void wsi_map_fini(struct wsi_map *map);

#endif
