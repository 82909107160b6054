/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the bytes of an input lie: all at one address (a mapped file, memory of the caller), or
 * behind a function that copies some of them, which are then kept in a few windows:
 *
 *   view   some bytes, in place where that is possible, else in the caller's scratch
 *   read   copies them
 *   hold   some bytes at one address until the input is closed
 *
 * So what is small or used all the time is held, and what is large is read when it is asked for.
 * Offsets are 64 bits wide everywhere: an input may be larger than the address space.
 */
#ifndef WSI_INPUT_H
#define WSI_INPUT_H

#include <assert.h>

#include "base/base.h"

struct wsi_windows;

struct wsi_input {
	uint64_t size;
	struct ws_span mapped;       /* all of it, unless it is read in windows */
	struct wsi_windows *windows; /* NULL: it is mapped */
	uint64_t base;               /* byte 0 of a part, in the windows */
};

/* Bytes of an input that are there. */
struct wsi_slice {
	uint64_t off, len;
};

/* How bytes are got that are not mapped. */
struct wsi_window_options {
	/* Copies up to `n` bytes from `off` on and returns how many; fewer: it is asked for the
	 * rest, 0: they cannot be read. One thread at a time. */
	size_t (*read)(void *user, uint64_t off, void *buffer, size_t n);
	void (*close)(void *user); /* at the end; may be NULL */
	void *user;
	uint64_t size;
	uint32_t window_bytes; /* 0: 256 KiB */
};

/* Owns nothing: the bytes have to outlive it. */
static inline struct wsi_input wsi_input_of(struct ws_span bytes)
{
	return (struct wsi_input){ .size = bytes.len, .mapped = bytes };
}

/* WS_NO_MEMORY; then `close` is not called. */
enum ws_status wsi_input_open(const struct wsi_window_options *options, struct wsi_input *ret_input,
			      struct ws_error *err) WS_MUST_USE;
/* Frees what is held. Leaves it all-zero; may be repeated. */
void wsi_input_close(struct wsi_input *input);

/* Offset of byte 0 in the file that the input is, or is a part of. */
static inline uint64_t wsi_input_origin(const struct wsi_input *input)
{
	return input->windows ? input->base : input->mapped.origin;
}

/* A part, which must be inside; the whole has to outlive it. */
struct wsi_input wsi_input_part(const struct wsi_input *input, struct wsi_slice part);

/* Copies bytes, which must be inside. WS_IO: they cannot be read. */
enum ws_status wsi_input_read(const struct wsi_input *input, uint64_t off, void *buffer, size_t n,
			      struct ws_error *err) WS_MUST_USE;

/*
 * Bytes, which must be inside, until the input is closed; the same ones are held once. WS_IO: they
 * cannot be read. WS_LIMIT: there would be more than 2 GiB of such bytes. WS_NO_MEMORY.
 */
enum ws_status wsi_input_hold(const struct wsi_input *input, struct wsi_slice part,
			      struct ws_span *ret_bytes, struct ws_error *err) WS_MUST_USE;

/* Where the first byte is that was wanted and could not be read; WS_NO_OFFSET: all could. */
uint64_t wsi_input_lost(const struct wsi_input *input);

/* At least one byte, which must be inside, at their place or in `scratch`; NULL: they cannot be
 * read. */
static inline const uint8_t *wsi_input_view(const struct wsi_input *input, uint64_t off, size_t n,
					    void *scratch)
{
	assert(off <= input->size && n <= input->size - off);
	if (!input->windows)
		return input->mapped.ptr + off;
	return wsi_input_read(input, off, scratch, n, NULL) == WS_OK ? scratch : NULL;
}

/* The part of [off, off + len) that is in the input. */
static inline struct wsi_slice wsi_input_clip(const struct wsi_input *input, uint64_t off,
					      uint64_t len)
{
	off = wsi_min_u64(off, input->size);
	return (struct wsi_slice){ off, wsi_min_u64(len, input->size - off) };
}

#endif
