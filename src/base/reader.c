/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/reader.h"

static void reader_fail_at(struct wsi_reader *r, size_t pos)
{
	r->failed = true;
	r->fail_pos = pos;
	r->pos = pos;
}

uint64_t wsi_read_uleb(struct wsi_reader *r)
{
	size_t start = r->pos;
	uint64_t value = 0;
	unsigned shift = 0;
	while (wsi_reader_take(r, 1)) {
		uint8_t byte = r->in.ptr[r->pos++];
		uint64_t bits = byte & 0x7f;
		if (shift >= 64 ? bits != 0 : shift > 57 && bits >> (64 - shift) != 0) {
			reader_fail_at(r, start);
			return 0;
		}
		if (shift < 64)
			value |= bits << shift;
		shift += shift < 64 ? 7 : 0;
		if (!(byte & 0x80))
			return value;
	}
	reader_fail_at(r, start);
	return 0;
}

int64_t wsi_read_sleb(struct wsi_reader *r)
{
	size_t start = r->pos;
	uint64_t value = 0;
	unsigned shift = 0;
	while (wsi_reader_take(r, 1)) {
		uint8_t byte = r->in.ptr[r->pos++];
		uint64_t bits = byte & 0x7f;
		if (shift < 63) {
			value |= bits << shift;
			shift += 7;
		} else { /* one value bit is left; all others must repeat the sign */
			uint64_t sign = shift == 63 ? bits & 1 : value >> 63;
			if (bits != (sign ? 0x7fu : 0)) {
				reader_fail_at(r, start);
				return 0;
			}
			value |= shift == 63 ? sign << 63 : 0;
			shift = 70;
		}
		if (!(byte & 0x80)) {
			if (shift < 64 && (byte & 0x40))
				value |= UINT64_MAX << shift;
			return (int64_t)value;
		}
	}
	reader_fail_at(r, start);
	return 0;
}

struct ws_str wsi_read_cstr(struct wsi_reader *r)
{
	struct ws_str text = { 0 };
	if (r->failed)
		return text;
	if (!wsi_span_cstr(r->in, r->pos, &text)) {
		reader_fail_at(r, r->pos);
		return (struct ws_str){ 0 };
	}
	r->pos += text.len + 1;
	return text;
}
