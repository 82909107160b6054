/* SPDX-License-Identifier: Apache-2.0 */
#define WSI_BASE_SOURCE
#include "base/reader.h"

static const struct wsi_leb no_leb = { 0 };

struct wsi_leb wsi_uleb_at(struct ws_span in, size_t start)
{
	uint64_t value = 0;
	unsigned shift = 0;
	for (size_t pos = start; pos < in.len;) {
		uint8_t byte = in.ptr[pos++];
		uint64_t bits = byte & 0x7f;
		if (shift >= 64 ? bits != 0 : shift > 57 && bits >> (64 - shift) != 0)
			return no_leb;
		if (shift < 64)
			value |= bits << shift;
		shift += shift < 64 ? 7 : 0;
		if (!(byte & 0x80))
			return (struct wsi_leb){ value, pos, true };
	}
	return no_leb;
}

struct wsi_leb wsi_sleb_at(struct ws_span in, size_t start)
{
	uint64_t value = 0;
	unsigned shift = 0;
	for (size_t pos = start; pos < in.len;) {
		uint8_t byte = in.ptr[pos++];
		uint64_t bits = byte & 0x7f;
		if (shift < 63) {
			value |= bits << shift;
			shift += 7;
		} else { /* one value bit is left; all others must repeat the sign */
			uint64_t sign = shift == 63 ? bits & 1 : value >> 63;
			if (bits != (sign ? 0x7fu : 0))
				return no_leb;
			value |= shift == 63 ? sign << 63 : 0;
			shift = 70;
		}
		if (!(byte & 0x80)) {
			if (shift < 64 && (byte & 0x40))
				value |= UINT64_MAX << shift;
			return (struct wsi_leb){ value, pos, true };
		}
	}
	return no_leb;
}

struct ws_str wsi_read_cstr(struct wsi_reader *r)
{
	struct ws_str text = { 0 };
	if (r->failed)
		return text;
	if (!wsi_span_cstr(r->in, r->pos, &text)) {
		r->failed = true;
		r->fail_pos = r->pos;
		return (struct ws_str){ 0 };
	}
	r->pos += text.len + 1;
	return text;
}
