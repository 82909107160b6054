/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes on their way out of the process, through a buffer: to a file (base/outfile.h), or to a
 * scratch file, which is for what has to wait and stays in memory while it is small.
 */
#ifndef WSI_STREAM_H
#define WSI_STREAM_H

#include "base/base.h"

enum {
	/* Drained at once: so every write but the last begins and ends with a page of the file,
	 * which takes a quarter less of the kernel's time [measured: ext4]. */
	WSI_STREAM_BYTES = 1024 * 1024,
	WSI_STREAM_ROOM = 256, /* the most that wsi_stream_room() gives */
	WSI_STREAM_BUFFER = WSI_STREAM_BYTES + WSI_STREAM_ROOM,
};

struct wsi_stream {
	/* Takes `n` bytes, of `buffer` or any number of WSI_STREAM_BYTES of the caller's; may put
	 * another buffer in the place of `buffer`. False: see errno. */
	bool (*drain)(void *user, const uint8_t *bytes, size_t n);
	void *user;
	uint8_t *buffer; /* owned: WSI_STREAM_BUFFER */
	size_t used;
	uint64_t total; /* bytes appended */
};

/* False: no memory. */
bool wsi_stream_init(struct wsi_stream *stream,
		     bool (*drain)(void *user, const uint8_t *bytes, size_t n),
		     void *user) WS_MUST_USE;
void wsi_stream_fini(struct wsi_stream *stream);
/* Everything below returns false (or NULL) when the bytes cannot be taken; then errno says why. */
/* All that there is. */
bool wsi_stream_flush(struct wsi_stream *stream) WS_MUST_USE;
/* WSI_STREAM_BYTES, which must be there. */
bool wsi_stream_drain(struct wsi_stream *stream) WS_MUST_USE;
bool wsi_stream_append_slowly(struct wsi_stream *stream, const void *bytes, size_t n) WS_MUST_USE;

static inline WS_MUST_USE bool wsi_stream_append(struct wsi_stream *stream, const void *bytes,
						 size_t n)
{
	if (n >= WSI_STREAM_BYTES || stream->used + n > WSI_STREAM_BYTES)
		return wsi_stream_append_slowly(stream, bytes, n);
	if (n)
		memcpy(stream->buffer + stream->used, bytes, n);
	stream->used += n;
	stream->total += n;
	return true;
}

/* Room for up to WSI_STREAM_ROOM bytes, which the caller fills and hands over with
 * wsi_stream_take(). */
static inline uint8_t *wsi_stream_room(struct wsi_stream *stream)
{
	if (stream->used >= WSI_STREAM_BYTES && !wsi_stream_drain(stream))
		return NULL;
	return stream->buffer + stream->used;
}

static inline void wsi_stream_take(struct wsi_stream *stream, size_t n)
{
	stream->used += n;
	stream->total += n;
}

struct wsi_scratch {
	struct wsi_stream stream;
	int fd; /* owned; -1: none yet */
};

/* WS_NO_MEMORY. A scratch file must not move in memory. */
enum ws_status wsi_scratch_init(struct wsi_scratch *scratch, struct ws_error *err) WS_MUST_USE;
/* Zeroed is fine too. */
void wsi_scratch_fini(struct wsi_scratch *scratch);
/* WS_IO: no room. */
enum ws_status wsi_scratch_append(struct wsi_scratch *scratch, const void *bytes, size_t n,
				  struct ws_error *err) WS_MUST_USE;
/* WS_IO as errno says, for who appends to its stream directly. */
enum ws_status wsi_scratch_failed(struct ws_error *err);
/* Copies up to `n` bytes from `off` on; fewer only at the end. */
enum ws_status wsi_scratch_read(struct wsi_scratch *scratch, uint64_t off, void *bytes, size_t n,
				size_t *ret_n, struct ws_error *err) WS_MUST_USE;

#endif
