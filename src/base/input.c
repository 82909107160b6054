/* SPDX-License-Identifier: Apache-2.0 */
#include "base/input.h"

#include "base/arena.h"
#include "base/lock.h"
#include "base/map.h"

#define HELD_LIMIT (UINT64_C(2) << 30)

enum {
	WINDOW_BYTES = 256 * 1024,
	N_WINDOWS = 16,
};

struct cached_window {
	uint64_t number; /* of the window; UINT64_MAX: none */
	uint64_t used;   /* when it was, by `clock` */
	uint8_t *bytes;  /* owned; NULL: never needed */
};

struct wsi_windows {
	struct wsi_window_options options;
	pthread_mutex_t mutex; /* for all below, and for the calls of `read` */
	struct cached_window at[N_WINDOWS];
	uint64_t clock;
	uint64_t lost; /* wsi_input_lost() */
	/* held */
	struct wsi_arena arena;
	struct wsi_map map;    /* offset and length -> index of its piece */
	const uint8_t **piece; /* owned; NULL: cannot be read */
	size_t n_pieces, pieces_cap;
	uint64_t held_bytes;
};

enum ws_status wsi_input_open(const struct wsi_window_options *options, struct wsi_input *ret_input,
			      struct ws_error *err)
{
	struct wsi_windows *windows = wsi_zalloc(sizeof *windows);
	if (!windows)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "windows of a file");
	windows->options = *options;
	windows->lost = WS_NO_OFFSET;
	if (windows->options.window_bytes == 0)
		windows->options.window_bytes = WINDOW_BYTES;
	for (size_t i = 0; i < N_WINDOWS; i++)
		windows->at[i].number = UINT64_MAX;
	pthread_mutex_init(&windows->mutex, NULL);
	*ret_input = (struct wsi_input){ .size = options->size, .windows = windows };
	return WS_OK;
}

void wsi_input_close(struct wsi_input *input)
{
	struct wsi_windows *windows = input->windows;
	if (windows) {
		if (windows->options.close)
			windows->options.close(windows->options.user);
		for (size_t i = 0; i < N_WINDOWS; i++)
			wsi_free(windows->at[i].bytes);
		wsi_free(windows->piece);
		wsi_map_fini(&windows->map);
		wsi_arena_fini(&windows->arena);
		pthread_mutex_destroy(&windows->mutex);
		wsi_free(windows);
	}
	*input = (struct wsi_input){ 0 };
}

struct wsi_input wsi_input_part(const struct wsi_input *input, struct wsi_slice part)
{
	assert(part.off <= input->size && part.len <= input->size - part.off);
	struct wsi_input sub = { .size = part.len, .windows = input->windows };
	sub.base = input->base + part.off;
	if (!input->windows)
		(void)ws_span_sub(input->mapped, part.off, part.len, &sub.mapped);
	return sub;
}

/* ---- reading ---- */

static bool fetch(struct wsi_windows *windows, uint64_t off, uint8_t *buffer, size_t n)
{
	while (n > 0) {
		size_t got = windows->options.read(windows->options.user, off, buffer, n);
		if (got == 0 || got > n)
			return false;
		off += got;
		buffer += got;
		n -= got;
	}
	return true;
}

/* The window with a byte of this number, or the one that was not used for longest, for it. */
static struct cached_window *window_for(struct wsi_windows *windows, uint64_t number)
{
	struct cached_window *oldest = windows->at;
	for (size_t i = 0; i < N_WINDOWS; i++) {
		if (windows->at[i].number == number)
			return &windows->at[i];
		if (windows->at[i].used < oldest->used)
			oldest = &windows->at[i];
	}
	return oldest;
}

/* Copies bytes of one window. */
static bool window_read(struct wsi_windows *windows, uint64_t off, uint8_t *buffer, size_t n)
{
	const uint32_t bytes = windows->options.window_bytes;
	const uint64_t number = off / bytes, start = number * bytes;
	struct cached_window *window = window_for(windows, number);
	if (window->number != number) {
		window->number = UINT64_MAX;
		if (!window->bytes)
			window->bytes = wsi_zalloc(bytes);
		if (!window->bytes ||
		    !fetch(windows, start, window->bytes,
			   (size_t)wsi_min_u64(bytes, windows->options.size - start)))
			return fetch(windows, off, buffer, n); /* these may be there all the same */
		window->number = number;
	}
	window->used = ++windows->clock;
	memcpy(buffer, window->bytes + (off - start), n);
	return true;
}

static bool windows_read(struct wsi_windows *windows, uint64_t off, uint8_t *buffer, size_t n)
{
	const uint32_t bytes = windows->options.window_bytes;
	if (n >= bytes)
		return fetch(windows, off, buffer, n);
	while (n > 0) {
		size_t part = (size_t)wsi_min_u64(n, bytes - off % bytes);
		if (!window_read(windows, off, buffer, part))
			return false;
		off += part;
		buffer += part;
		n -= part;
	}
	return true;
}

static enum ws_status fail_read(struct wsi_windows *windows, uint64_t off, uint64_t n,
				struct ws_error *err)
{
	windows->lost = wsi_min_u64(windows->lost, off);
	return wsi_fail(err, WS_IO, off,
			"%" PRIu64 " byte%s at 0x%" PRIx64 " of the file cannot be read", n,
			n == 1 ? "" : "s", off);
}

enum ws_status wsi_input_read(const struct wsi_input *input, uint64_t off, void *buffer, size_t n,
			      struct ws_error *err)
{
	assert(off <= input->size && n <= input->size - off);
	if (n == 0)
		return WS_OK;
	if (!input->windows) {
		memcpy(buffer, input->mapped.ptr + off, n);
		return WS_OK;
	}
	wsi_hold(&input->windows->mutex);
	return windows_read(input->windows, input->base + off, buffer, n)
		       ? WS_OK
		       : fail_read(input->windows, input->base + off, n, err);
}

uint64_t wsi_input_lost(const struct wsi_input *input)
{
	if (!input->windows)
		return WS_NO_OFFSET;
	wsi_hold(&input->windows->mutex);
	return input->windows->lost;
}

/* ---- holding ---- */

/* Makes the piece of a number that is new. */
static enum ws_status piece_make(struct wsi_windows *windows, uint64_t off, uint64_t len,
				 struct ws_error *err)
{
	uint8_t *bytes = len <= SIZE_MAX ? wsi_arena_zalloc(&windows->arena, (size_t)len) : NULL;
	if (!bytes)
		return wsi_fail(err, WS_NO_MEMORY, off, "%" PRIu64 " bytes of a file", len);
	windows->held_bytes += len;
	bool good = windows_read(windows, off, bytes, (size_t)len);
	windows->piece[windows->n_pieces++] = good ? bytes : NULL;
	return WS_OK;
}

enum ws_status wsi_input_hold(const struct wsi_input *input, struct wsi_slice part,
			      struct ws_span *ret_bytes, struct ws_error *err)
{
	assert(part.off <= input->size && part.len <= input->size - part.off);
	struct wsi_windows *windows = input->windows;
	if (!windows)
		return ws_span_sub(input->mapped, part.off, part.len, ret_bytes) ? WS_OK
										 : WS_ARGUMENT;
	const uint64_t off = input->base + part.off;
	*ret_bytes = (struct ws_span){ .origin = off };
	if (part.len == 0)
		return WS_OK;
	wsi_hold(&windows->mutex);
	const struct wsi_map_key key = { { off, part.len, 0, 0 } };
	const uint32_t *known = wsi_map_find(&windows->map, &key);
	uint32_t index = known ? *known : (uint32_t)windows->n_pieces;
	if (!known) {
		bool is_new;
		if (part.len > HELD_LIMIT - windows->held_bytes)
			return wsi_fail(err, WS_LIMIT, off,
					"%" PRIu64 " bytes at 0x%" PRIx64
					" would be more than can be held in memory",
					part.len, off);
		if (!wsi_grow(&windows->piece, &windows->pieces_cap, index, sizeof *windows->piece,
			      UINT32_MAX))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "parts of a file");
		enum ws_status st = piece_make(windows, off, part.len, err);
		if (st == WS_OK && !wsi_map_put(&windows->map, &key, index, &is_new))
			st = wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "parts of a file");
		if (st != WS_OK)
			return st;
	}
	if (!windows->piece[index])
		return fail_read(windows, off, part.len, err);
	ret_bytes->ptr = windows->piece[index];
	ret_bytes->len = (size_t)part.len;
	return WS_OK;
}
