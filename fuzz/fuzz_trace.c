/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace of the debugger API: each line is read; those that are calls are shown and compared with
 * themselves and with the call before, of which all handles may change.
 */
#include <string.h>

#include "fuzz.h"
#include "trace/traced.h"

#undef abort

struct reading {
	struct wsi_traced call;
	uint8_t *bytes;
};

static void ignore(void *user, const char *what, const char *a, const char *b)
{
	(void)user;
	if (!a || !b || (what && !*what))
		abort();
}

int fuzz_target(const uint8_t *data, size_t size)
{
	struct reading last = { .bytes = NULL };
	struct wsi_handles handles;
	memset(&handles, 0, sizeof handles);
	for (size_t at = 0, n; at < size; at += n + 1) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		n = end ? (size_t)(end - (data + at)) : size - at;
		/* exactly as much as promised, so that a checker sees what goes beyond */
		struct reading now = { .bytes = wsi_zalloc(n / 2) };
		struct ws_error err;
		char text[600];
		struct ws_span line = { data + at, n, at };
		if (!now.bytes || wsi_traced_read(line, &now.call, now.bytes, &err) != WS_OK) {
			wsi_free(now.bytes);
			continue;
		}
		struct wsi_handles none;
		memset(&none, 0, sizeof none);
		wsi_traced_text(&now.call, text, sizeof text);
		if (!wsi_traced_same_inputs(&now.call, &now.call, &none) ||
		    !wsi_traced_compare(&now.call, &now.call, &none, ignore, NULL))
			abort();
		wsi_handles_fini(&none);
		if (last.bytes && wsi_traced_same_inputs(&last.call, &now.call, &handles))
			(void)wsi_traced_compare(&last.call, &now.call, &handles, ignore, NULL);
		wsi_free(last.bytes);
		last = now;
	}
	wsi_free(last.bytes);
	wsi_handles_fini(&handles);
	return 0;
}
