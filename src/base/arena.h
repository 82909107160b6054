/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: many small allocations that live and die together.
 *
 *   arena -> [block: next | used | size | bytes.....] -> [older block] -> ...
 *                                  ^ next allocation, 16-aligned
 *
 * A request larger than a quarter block gets a block of its own. Nothing is freed before
 * wsi_arena_fini().
 */
#ifndef WSI_ARENA_H
#define WSI_ARENA_H

#include "base/base.h"

struct wsi_arena_block;

struct wsi_arena {
	struct wsi_arena_block *newest; /* owned */
};

/* Zeroed bytes, 16-aligned, or NULL. An all-zero arena is ready for use. */
void *wsi_arena_zalloc(struct wsi_arena *arena, size_t size) WS_MUST_USE;
void *wsi_arena_zalloc_array(struct wsi_arena *arena, size_t count, size_t size) WS_MUST_USE;
/* A terminated copy of text, or NULL. */
const char *wsi_arena_str(struct wsi_arena *arena, const char *text, size_t len) WS_MUST_USE;
/* What vsnprintf() makes, cut to 1,200 bytes, or NULL. */
const char *wsi_arena_format(struct wsi_arena *arena, const char *format, va_list args)
	WS_PRINTF(2, 0) WS_MUST_USE;
/* Frees everything; leaves the arena all-zero; may be repeated. */
void wsi_arena_fini(struct wsi_arena *arena);

#endif
