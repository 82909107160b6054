/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/arena.h"

#include <stdalign.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGN = 16 };

struct wsi_arena_block {
	struct wsi_arena_block *next; /* older */
	size_t used, size;
	alignas(ALIGN) uint8_t bytes[];
};

static struct wsi_arena_block *arena_block_create(size_t size)
{
	if (size > SIZE_MAX - sizeof(struct wsi_arena_block))
		return NULL;
	struct wsi_arena_block *block = wsi_zalloc(sizeof *block + size);
	if (!block)
		return NULL;
	block->size = size;
	return block;
}

void *wsi_arena_zalloc(struct wsi_arena *arena, size_t size)
{
	if (size > SIZE_MAX - ALIGN)
		return NULL;
	size = (size + ALIGN - 1) / ALIGN * ALIGN;
	struct wsi_arena_block *block = arena->newest;
	if (size > BLOCK_BYTES / 4) { /* its own block, behind the one that still has room */
		struct wsi_arena_block *own = arena_block_create(size);
		if (!own)
			return NULL;
		own->used = size;
		own->next = block ? block->next : NULL;
		if (block)
			block->next = own;
		else
			arena->newest = own;
		return own->bytes;
	}
	if (!block || size > block->size - block->used) {
		block = arena_block_create(BLOCK_BYTES);
		if (!block)
			return NULL;
		block->next = arena->newest;
		arena->newest = block;
	}
	void *ptr = block->bytes + block->used;
	block->used += size;
	return ptr;
}

void *wsi_arena_zalloc_array(struct wsi_arena *arena, size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return wsi_arena_zalloc(arena, bytes);
}

const char *wsi_arena_str(struct wsi_arena *arena, const char *text, size_t len)
{
	if (len == SIZE_MAX)
		return NULL;
	char *copy = wsi_arena_zalloc(arena, len + 1);
	if (copy && len)
		memcpy(copy, text, len);
	return copy;
}

const char *wsi_arena_format(struct wsi_arena *arena, const char *format, va_list args)
{
	char text[1201];
	return vsnprintf(text, sizeof text, format, args) < 0
		       ? NULL
		       : wsi_arena_str(arena, text, strlen(text));
}

void wsi_arena_fini(struct wsi_arena *arena)
{
	while (arena->newest) {
		struct wsi_arena_block *next = arena->newest->next;
		wsi_free(arena->newest);
		arena->newest = next;
	}
}
