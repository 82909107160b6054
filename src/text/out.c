/* SPDX-License-Identifier: Apache-2.0 */
#include <warpscope/out.h>

#include "base/base.h"
#include "text/utf8.h"

#include <errno.h>
#include <unistd.h>

size_t wsi_utf8_len(const char *text, size_t len)
{
	const uint8_t *p = (const uint8_t *)text;
	if (p[0] < 0x80)
		return 1;
	size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	bool bad = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
		   (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f);
	return bad ? 0 : n;
}

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

void ws_out_bytes(struct ws_out *out, const char *bytes, size_t len)
{
	if (len > sizeof out->buffer - out->len) {
		out_drain(out, out->buffer, out->len);
		out->len = 0;
	}
	if (len > sizeof out->buffer) {
		out_drain(out, bytes, len);
		return;
	}
	if (len)
		memcpy(out->buffer + out->len, bytes, len);
	out->len += len;
}

void ws_out_text(struct ws_out *out, const char *text)
{
	ws_out_bytes(out, text, strlen(text));
}

void ws_out_printf(struct ws_out *out, const char *format, ...)
{
	char text[1001];
	va_list args;
	va_start(args, format);
	int len = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (len > 0)
		ws_out_bytes(out, text, wsi_min_u64((uint64_t)len, sizeof text - 1));
}

/* Characters that change the direction of the text around them, which could make a line read as
 * another one: U+202A to U+202E, U+2066 to U+2069. `text` has `n` bytes, one character. */
static bool turns_direction(const char *text, size_t n)
{
	const unsigned char *at = (const unsigned char *)text;
	return n == 3 && at[0] == 0xe2 &&
	       ((at[1] == 0x80 && at[2] >= 0xaa && at[2] <= 0xae) ||
		(at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9));
}

void ws_out_escaped(struct ws_out *out, struct ws_str text)
{
	size_t start = 0, i = 0;
	while (i < text.len) {
		unsigned char c = (unsigned char)text.ptr[i];
		size_t n = wsi_utf8_len(text.ptr + i, text.len - i);
		/* U+0080 to U+009F are control characters too: c2 80 to c2 9f */
		bool plain = n > 0 && c >= 0x20 && c != 0x7f &&
			     !(c == 0xc2 && (unsigned char)text.ptr[i + 1] < 0xa0) &&
			     !turns_direction(text.ptr + i, n);
		if (plain) {
			i += n;
			continue;
		}
		ws_out_bytes(out, text.ptr + start, i - start);
		ws_out_printf(out, "\\x%02x", c);
		start = ++i;
	}
	if (i > start)
		ws_out_bytes(out, text.ptr + start, i - start);
}
