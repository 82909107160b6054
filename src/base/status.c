/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/base.h"

#include <errno.h>

#ifndef WS_VERSION
#error "the build gives WS_VERSION"
#endif

static const struct {
	const char *name;
	const char *text;
} status_table[] = {
#define X(name, text) { "WS_" #name, text },
	WS_STATUS_LIST(X)
#undef X
};

const char *ws_status_name(enum ws_status status)
{
	return (size_t)status < WSI_COUNT(status_table) ? status_table[status].name : "WS_?";
}

const char *ws_status_text(enum ws_status status)
{
	return (size_t)status < WSI_COUNT(status_table) ? status_table[status].text
							: "unknown status";
}

const char *ws_version(void)
{
	return WS_VERSION;
}

static void error_fill(struct ws_error *err, enum ws_status status, uint64_t file_off, int os_errno,
		       const char *format, va_list args)
{
	if (!err)
		return;
	err->status = status;
	err->os_errno = os_errno;
	err->cuda_result = 0;
	err->file_off = file_off;
	vsnprintf(err->message, sizeof err->message, format, args);
}

enum ws_status wsi_fail(struct ws_error *err, enum ws_status status, uint64_t file_off,
			const char *format, ...)
{
	assert(status != WS_OK);
	va_list args;
	va_start(args, format);
	error_fill(err, status, file_off, 0, format, args);
	va_end(args);
	return status;
}

enum ws_status wsi_fail_errno(struct ws_error *err, const char *format, ...)
{
	int os_errno = errno;
	va_list args;
	va_start(args, format);
	error_fill(err, WS_IO, WS_NO_OFFSET, os_errno, format, args);
	va_end(args);
	if (!err)
		return WS_IO;
	char reason[80];
	if (strerror_r(os_errno, reason, sizeof reason) != 0)
		snprintf(reason, sizeof reason, "errno %d", os_errno);
	size_t len = strlen(err->message);
	snprintf(err->message + len, sizeof err->message - len, ": %s", reason);
	return WS_IO;
}

enum ws_status wsi_context(struct ws_error *err, enum ws_status status, const char *format, ...)
{
	if (status == WS_OK || !err)
		return status;
	char inner[sizeof err->message];
	memcpy(inner, err->message, sizeof inner);
	va_list args;
	va_start(args, format);
	int len = vsnprintf(err->message, sizeof err->message, format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < sizeof err->message)
		snprintf(err->message + len, sizeof err->message - (size_t)len, ": %s", inner);
	return status;
}

struct ws_str ws_str_of(const char *text)
{
	return (struct ws_str){ text, text ? strlen(text) : 0 };
}

bool ws_str_equal(struct ws_str a, struct ws_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool wsi_format_(char *buffer, size_t size, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int len = vsnprintf(buffer, size, format, args);
	va_end(args);
	return len >= 0 && (size_t)len < size;
}
