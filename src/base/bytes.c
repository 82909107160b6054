/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

static uint8_t *room(struct wsi_bytes *bytes, size_t n)
{
	if (bytes->failed || n > SIZE_MAX / 4 - bytes->len) {
		bytes->failed = true;
		return NULL;
	}
	if (bytes->len + n > bytes->cap) {
		size_t cap = bytes->cap ? bytes->cap : 64;
		while (cap < bytes->len + n)
			cap *= 2;
		uint8_t *grown = wsi_realloc_array(bytes->ptr, cap, 1);
		if (!grown) {
			bytes->failed = true;
			return NULL;
		}
		bytes->ptr = grown;
		bytes->cap = cap;
	}
	uint8_t *at = bytes->ptr + bytes->len;
	bytes->len += n;
	return at;
}

void wsi_bytes_put(struct wsi_bytes *bytes, const void *from, size_t n)
{
	if (n == 0)
		return;
	uint8_t *at = room(bytes, n);
	if (at)
		memcpy(at, from, n);
}

void wsi_bytes_zero(struct wsi_bytes *bytes, size_t n)
{
	if (n == 0)
		return;
	uint8_t *at = room(bytes, n);
	if (at)
		memset(at, 0, n);
}

void wsi_bytes_number(struct wsi_bytes *bytes, uint64_t value, unsigned n)
{
	uint8_t *at = room(bytes, n);
	for (unsigned i = 0; at && i < n; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

void wsi_bytes_align(struct wsi_bytes *bytes, size_t alignment)
{
	wsi_bytes_zero(bytes, (0 - bytes->len) & (alignment - 1));
}

size_t wsi_bytes_string(struct wsi_bytes *bytes, struct ws_str text)
{
	size_t at = bytes->len;
	wsi_bytes_put(bytes, text.ptr, text.len);
	wsi_bytes_number(bytes, 0, 1);
	return at;
}

void wsi_bytes_fini(struct wsi_bytes *bytes)
{
	wsi_free(bytes->ptr);
	*bytes = (struct wsi_bytes){ .ptr = NULL };
}
