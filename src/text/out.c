/* SPDX-License-Identifier: Apache-2.0 */
#include <warpscope/out.h>

#include "base/base.h"

#include <errno.h>
#include <unistd.h>

void ws_out_init(struct ws_out *out, ws_write_fn *write, void *user)
{
	out->write = write;
	out->user = user;
	out->failed = false;
	out->os_errno = 0;
	out->len = 0;
}

bool ws_write_fd(void *user, const char *bytes, size_t len)
{
	int fd = *(const int *)user;
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

static void out_drain(struct ws_out *out, const char *bytes, size_t len)
{
	if (out->failed || len == 0)
		return;
	if (!out->write(out->user, bytes, len)) {
		out->failed = true;
		out->os_errno = errno;
	}
}

enum ws_status ws_out_flush(struct ws_out *out, struct ws_error *err)
{
	out_drain(out, out->buffer, out->len);
	out->len = 0;
	if (!out->failed)
		return WS_OK;
	errno = out->os_errno;
	return wsi_fail_errno(err, "cannot write the output");
}

/* Bytes for which the buffer has no room left. */
static __attribute__((noinline)) void out_past_end(struct ws_out *out, const char *bytes,
						   size_t len)
{
	out_drain(out, out->buffer, out->len);
	out->len = 0;
	if (len > sizeof out->buffer) {
		out_drain(out, bytes, len);
		return;
	}
	memcpy(out->buffer, bytes, len);
	out->len = len;
}

void ws_out_bytes(struct ws_out *out, const char *bytes, size_t len)
{
	if (len > sizeof out->buffer - out->len) {
		out_past_end(out, bytes, len);
		return;
	}
	char *to = out->buffer + out->len;
	out->len += len;
	if (len)
		memcpy(to, bytes, len);
}

static __attribute__((noinline)) void out_long(struct ws_out *out, const char *text)
{
	ws_out_bytes(out, text, strlen(text));
}

void ws_out_text(struct ws_out *out, const char *text)
{
	enum { FEW = 8 }; /* written without calls: it mostly is so many */
	size_t n = 0;
	if (sizeof out->buffer - out->len >= FEW) {
		char *to = out->buffer + out->len;
		for (; n < FEW && text[n]; n++)
			to[n] = text[n];
		out->len += n;
	}
	if (text[n])
		out_long(out, text + n);
}

void ws_out_spaces(struct ws_out *out, size_t n)
{
	static const char blank[] = "                                ";
	for (; n > sizeof blank - 1; n -= sizeof blank - 1)
		ws_out_bytes(out, blank, sizeof blank - 1);
	ws_out_bytes(out, blank, n);
}

void ws_out_style(struct ws_out *out, enum ws_style style)
{
	static const char *const sequences[] = {
		[WS_STYLE_PLAIN] = "\033[0m",
		[WS_STYLE_BOLD] = "\033[1m",
		[WS_STYLE_DIM] = "\033[2m",
		[WS_STYLE_RED] = "\033[1;31m",
	};
	if ((size_t)style < WSI_COUNT(sequences))
		ws_out_text(out, sequences[style]);
}
