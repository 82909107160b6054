/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of each byte of memory: chunks in a table of buckets. See check.h. */
#include "sim/check/check.h"

enum { BUCKETS = 1 << 14 };

static struct wsi_shadow_chunk **bucket(struct wsi_shadow *shadow, uint64_t key)
{
	uint64_t hash = (key >> WSI_SHADOW_BITS) * UINT64_C(0x9e3779b97f4a7c15);
	return &shadow->buckets[hash >> 50];
}

/* Bytes that may be spent; counted as lost where they may not. */
static void *spend_shadow(struct wsi_shadow *shadow, size_t bytes)
{
	void *memory = shadow->bytes + bytes <= shadow->limit ? wsi_zalloc(bytes) : NULL;
	shadow->bytes += memory ? bytes : 0;
	shadow->lost += !memory;
	return memory;
}

struct wsi_shadow_chunk *wsi_shadow_find(struct wsi_shadow *shadow, uint64_t key, bool make)
{
	key &= ~(uint64_t)(WSI_SHADOW_BYTES - 1);
	if (!shadow->buckets && make)
		shadow->buckets = wsi_zalloc_array(BUCKETS, sizeof(struct wsi_shadow_chunk *));
	if (!shadow->buckets)
		return NULL;
	struct wsi_shadow_chunk **at = bucket(shadow, key);
	for (; *at; at = &(*at)->next)
		if ((*at)->key == key)
			return *at;
	if (!make)
		return NULL;
	struct wsi_shadow_chunk *chunk = spend_shadow(shadow, sizeof *chunk);
	if (!chunk)
		return NULL;
	chunk->key = key;
	return *at = chunk;
}

struct wsi_shadow_word *wsi_shadow_words(struct wsi_shadow *shadow, uint64_t key)
{
	struct wsi_shadow_chunk *chunk = wsi_shadow_find(shadow, key, true);
	if (chunk && !chunk->words)
		chunk->words = spend_shadow(shadow, WSI_SHADOW_WORDS * sizeof *chunk->words);
	return chunk ? chunk->words : NULL;
}

void wsi_shadow_mark(struct wsi_shadow *shadow, uint64_t key, uint64_t n)
{
	struct wsi_shadow_chunk *chunk = wsi_shadow_find(shadow, key, true);
	uint64_t first = key % WSI_SHADOW_BYTES;
	for (uint64_t i = first; chunk && i < first + n;) {
		if (i % 64 == 0 && first + n - i >= 64) {
			chunk->written[i / 64] = UINT64_MAX;
			i += 64;
			continue;
		}
		chunk->written[i / 64] |= UINT64_C(1) << i % 64;
		i++;
	}
}

bool wsi_shadow_any(struct wsi_shadow *shadow, uint64_t key, uint64_t n)
{
	const struct wsi_shadow_chunk *chunk = wsi_shadow_find(shadow, key, false);
	uint64_t first = key % WSI_SHADOW_BYTES;
	for (uint64_t i = first; chunk && i < first + n; i++)
		if (chunk->written[i / 64] >> i % 64 & 1)
			return true;
	return false;
}

static void chunk_free(struct wsi_shadow *shadow, struct wsi_shadow_chunk *chunk)
{
	shadow->bytes -= sizeof *chunk;
	shadow->bytes -= chunk->words ? WSI_SHADOW_WORDS * sizeof *chunk->words : 0;
	wsi_free(chunk->words);
	wsi_free(chunk);
}

void wsi_shadow_forget(struct wsi_shadow *shadow, uint64_t key, uint64_t n)
{
	for (uint64_t at = key; shadow->buckets && at < key + n; at += WSI_SHADOW_BYTES) {
		struct wsi_shadow_chunk **link = bucket(shadow, at);
		while (*link && (*link)->key != at)
			link = &(*link)->next;
		if (!*link)
			continue;
		struct wsi_shadow_chunk *chunk = *link;
		*link = chunk->next;
		chunk_free(shadow, chunk);
	}
}

void wsi_shadow_fini(struct wsi_shadow *shadow)
{
	for (size_t i = 0; shadow->buckets && i < BUCKETS; i++) {
		while (shadow->buckets[i]) {
			struct wsi_shadow_chunk *chunk = shadow->buckets[i];
			shadow->buckets[i] = chunk->next;
			chunk_free(shadow, chunk);
		}
	}
	wsi_free(shadow->buckets);
}
