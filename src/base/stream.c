/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/stream.h"

#include "base/file.h"

#include <warpscope/out.h>

#include <errno.h>
#include <unistd.h>

bool wsi_stream_init(struct wsi_stream *stream,
		     bool (*drain)(void *user, const uint8_t *bytes, size_t n), void *user)
{
	*stream = (struct wsi_stream){ .drain = drain,
				       .user = user,
				       .buffer = wsi_zalloc(WSI_STREAM_BYTES) };
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

/* What does not fit into the buffer; much at once goes past it. */
bool wsi_stream_append_slowly(struct wsi_stream *stream, const void *bytes, size_t n)
{
	if (!wsi_stream_flush(stream))
		return false;
	if (n < WSI_STREAM_BYTES)
		return wsi_stream_append(stream, bytes, n);
	stream->total += n;
	return stream->drain(stream->user, bytes, n);
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

enum ws_status wsi_scratch_append(struct wsi_scratch *scratch, const void *bytes, size_t n,
				  struct ws_error *err)
{
	if (!wsi_stream_append(&scratch->stream, bytes, n))
		return wsi_fail_errno(err, "cannot write a scratch file");
	return WS_OK;
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
