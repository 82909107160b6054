/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/map.h"

#define MIN_SLOTS 64

struct wsi_map_slot {
	struct wsi_map_key key;
	uint32_t value;
	bool used;
};

/* Mixing steps of SplitMix64. The seed is where the slots lie: address randomisation varies it. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

uint64_t wsi_hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
	const uint8_t *at = bytes;
	uint64_t hash = mix(seed + n), word;
	for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
		memcpy(&word, at, sizeof word);
		hash = mix(hash + 0x9e3779b97f4a7c15u + word);
	}
	word = 0;
	if (n)
		memcpy(&word, at, n);
	return mix(hash + 0x9e3779b97f4a7c15u + word);
}

static struct wsi_map_slot *map_slot_of(struct wsi_map_slot *slots, size_t n_slots,
					const struct wsi_map_key *key)
{
	uint64_t hash = (uint64_t)(uintptr_t)slots;
	for (size_t i = 0; i < WSI_COUNT(key->word); i++)
		hash = mix(hash + 0x9e3779b97f4a7c15u + key->word[i]);
	size_t at = (size_t)hash & (n_slots - 1);
	while (slots[at].used && memcmp(&slots[at].key, key, sizeof *key) != 0)
		at = (at + 1) & (n_slots - 1);
	return &slots[at];
}

static bool map_grow(struct wsi_map *map)
{
	size_t n_slots = map->n_slots ? map->n_slots * 2 : MIN_SLOTS;
	struct wsi_map_slot *slots = wsi_zalloc_array(n_slots, sizeof *slots);
	if (!slots)
		return false;
	for (size_t i = 0; i < map->n_slots; i++) {
		if (map->slots[i].used)
			*map_slot_of(slots, n_slots, &map->slots[i].key) = map->slots[i];
	}
	wsi_free(map->slots);
	map->slots = slots;
	map->n_slots = n_slots;
	return true;
}

uint32_t *wsi_map_put(struct wsi_map *map, const struct wsi_map_key *key, uint32_t value_if_new,
		      bool *ret_is_new)
{
	if (map->n_used >= map->n_slots / 2 && !map_grow(map))
		return NULL;
	struct wsi_map_slot *slot = map_slot_of(map->slots, map->n_slots, key);
	*ret_is_new = !slot->used;
	if (!slot->used) {
		*slot = (struct wsi_map_slot){ *key, value_if_new, true };
		map->n_used++;
	}
	return &slot->value;
}

const uint32_t *wsi_map_find(const struct wsi_map *map, const struct wsi_map_key *key)
{
	const struct wsi_map_slot *slot =
		map->n_slots ? map_slot_of(map->slots, map->n_slots, key) : NULL;
	return slot && slot->used ? &slot->value : NULL;
}

void wsi_map_fini(struct wsi_map *map)
{
	wsi_free(map->slots);
	*map = (struct wsi_map){ 0 };
}
