/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/stream.h"

#include "base/file.h"

#include <errno.h>
#include <unistd.h>

bool wsi_stream_init(struct wsi_stream *stream,
		     bool (*drain)(void *user, const uint8_t *bytes, size_t n), void *user)
{
	*stream = (struct wsi_stream){ .drain = drain,
				       .user = user,
				       .buffer = wsi_zalloc(WSI_STREAM_BUFFER) };
	return stream->buffer != NULL;
}

void wsi_stream_fini(struct wsi_stream *stream)
{
	wsi_free(stream->buffer);
	*stream = (struct wsi_stream){ 0 };
}

bool wsi_stream_flush(struct wsi_stream *stream)
{
	size_t used = stream->used;
	stream->used = 0;
	return stream->drain(stream->user, stream->buffer, used);
}

bool wsi_stream_drain(struct wsi_stream *stream)
{
	const uint8_t *full = stream->buffer;
	size_t rest = stream->used - WSI_STREAM_BYTES;
	stream->used = rest;
	if (!stream->drain(stream->user, full, WSI_STREAM_BYTES))
		return false;
	memcpy(stream->buffer, full + WSI_STREAM_BYTES, rest);
	return true;
}

/* What fills the buffer; much at once goes past it. */
bool wsi_stream_append_slowly(struct wsi_stream *stream, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;
	stream->total += n;
	while (n > 0) {
		if (stream->used >= WSI_STREAM_BYTES && !wsi_stream_drain(stream))
			return false;
		size_t part = (size_t)wsi_min_u64(n, WSI_STREAM_BYTES - stream->used);
		if (part == WSI_STREAM_BYTES) {
			part = n - n % WSI_STREAM_BYTES;
			if (!stream->drain(stream->user, from, part))
				return false;
		} else {
			memcpy(stream->buffer + stream->used, from, part);
			stream->used += part;
		}
		from += part;
		n -= part;
	}
	return true;
}

/* ---- scratch files ---- */

static bool scratch_drain(void *user, const uint8_t *bytes, size_t n)
{
	struct wsi_scratch *scratch = user;
	if (scratch->fd < 0)
		scratch->fd = wsi_file_temporary();
	return scratch->fd >= 0 && ws_write_fd(&scratch->fd, (const char *)bytes, n);
}

enum ws_status wsi_scratch_init(struct wsi_scratch *scratch, struct ws_error *err)
{
	scratch->fd = -1;
	if (!wsi_stream_init(&scratch->stream, scratch_drain, scratch))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a scratch file");
	return WS_OK;
}

void wsi_scratch_fini(struct wsi_scratch *scratch)
{
	if (scratch->stream.buffer && scratch->fd >= 0)
		close(scratch->fd);
	wsi_stream_fini(&scratch->stream);
	scratch->fd = -1;
}

enum ws_status wsi_scratch_failed(struct ws_error *err)
{
	return wsi_fail_errno(err, "cannot write a scratch file");
}

enum ws_status wsi_scratch_append(struct wsi_scratch *scratch, const void *bytes, size_t n,
				  struct ws_error *err)
{
	return wsi_stream_append(&scratch->stream, bytes, n) ? WS_OK : wsi_scratch_failed(err);
}

enum ws_status wsi_scratch_read(struct wsi_scratch *scratch, uint64_t off, void *bytes, size_t n,
				size_t *ret_n, struct ws_error *err)
{
	const struct wsi_stream *stream = &scratch->stream;
	uint64_t in_file = stream->total - stream->used; /* the rest is still in the buffer */
	size_t want = (size_t)wsi_min_u64(n, stream->total - off), got = 0;
	while (got < want && off + got < in_file) {
		size_t most = (size_t)wsi_min_u64(want - got, in_file - (off + got));
		ssize_t done = pread(scratch->fd, (uint8_t *)bytes + got, most, (off_t)(off + got));
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return wsi_fail_errno(err, "cannot read a scratch file");
		got += (size_t)done;
	}
	if (got < want)
		memcpy((uint8_t *)bytes + got, stream->buffer + (off + got - in_file), want - got);
	*ret_n = want;
	return WS_OK;
}
