/* SPDX-License-Identifier: Apache-2.0 */
#include "text/escape.h"

#include "text/utf8.h"
#include "text/width.h"

/* Ranges of characters that are not seen or change how others are; in ascending order
 * [public doc: Unicode 15, categories Cc, Zl and Zp, Default_Ignorable_Code_Point, interlinear
 * annotations, noncharacters]. */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{ 0x0000, 0x001f },   /* controls */
	{ 0x007f, 0x009f },   /* DEL, C1 controls */
	{ 0x00ad, 0x00ad },   /* soft hyphen */
	{ 0x034f, 0x034f },   /* grapheme joiner */
	{ 0x061c, 0x061c },   /* Arabic letter mark */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x17b4, 0x17b5 },   /* Khmer vowels that are not written */
	{ 0x180b, 0x180f },   /* Mongolian selectors */
	{ 0x200b, 0x200f },   /* spaces without width, joiners, direction marks */
	{ 0x2028, 0x202e },   /* separators of lines and paragraphs, direction */
	{ 0x2060, 0x206f },   /* invisible operators, direction */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfdd0, 0xfdef },   /* no characters */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* Hangul filler */
	{ 0xfff0, 0xfffb },   /* annotations */
	{ 0xfffe, 0xffff },   /* no characters */
	{ 0x1bca0, 0x1bca3 }, /* shorthand */
	{ 0x1d173, 0x1d17a }, /* musical */
	{ 0xe0000, 0xe0fff }, /* tags */
};

bool wsi_text_is_hidden(uint32_t code)
{
	if (code >= 0x20 && code < 0x7f)
		return false;
	for (size_t i = 0; i < WSI_COUNT(hidden) && code >= hidden[i].first; i++) {
		if (code <= hidden[i].last)
			return true;
	}
	return code > 0xffff && (code & 0xfffe) == 0xfffe;
}

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

uint32_t wsi_utf8_code(const char *text, size_t n)
{
	const uint8_t *p = (const uint8_t *)text;
	uint32_t code = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++)
		code = code << 6 | (p[i] & 0x3f);
	return code;
}

/* Whether the 8 bytes at `text` are all printable ASCII. */
static bool are_plain(const char *text)
{
	uint64_t eight;
	memcpy(&eight, text, sizeof eight);
	uint64_t below = eight - UINT64_C(0x2020202020202020);
	uint64_t above = eight | (eight + UINT64_C(0x0101010101010101));
	return !((below | above) & UINT64_C(0x8080808080808080));
}

/* How many bytes from the start are printable ASCII: eight at a time, for listings of millions of
 * instructions go through here. */
static size_t plain_length(struct ws_str text)
{
	size_t n = 0;
	while (text.len - n >= 8 && are_plain(text.ptr + n))
		n += 8;
	if (n > 0 && text.len - n < 8 && are_plain(text.ptr + text.len - 8))
		return text.len;
	while (n < text.len && text.ptr[n] >= 0x20 && text.ptr[n] < 0x7f)
		n++;
	return n;
}

/* `c` must be ASCII. */
static inline bool is_special(const struct wsi_special *special, unsigned char c)
{
	return special->bits[c >> 6] >> (c & 63) & 1;
}

void wsi_out_escape(struct ws_out *out, struct ws_str text, const struct wsi_special *special,
		    wsi_escape_fn *escape)
{
	size_t start = 0, i = special->bits[0] | special->bits[1] ? 0 : plain_length(text);
	while (i < text.len) {
		unsigned char c = (unsigned char)text.ptr[i];
		if (c >= 0x20 && c < 0x7f && !is_special(special, c)) {
			i++;
			continue;
		}
		size_t n = wsi_utf8_len(text.ptr + i, text.len - i);
		uint32_t code = n ? wsi_utf8_code(text.ptr + i, n) : WSI_NO_CHARACTER;
		if (c >= 0x80 && !wsi_text_is_hidden(code)) {
			i += n;
			continue;
		}
		ws_out_bytes(out, text.ptr + start, i - start);
		escape(out, text.ptr + i, n ? n : 1, code);
		start = i += n ? n : 1;
	}
	if (i > start)
		ws_out_bytes(out, text.ptr + start, i - start);
}

void wsi_escape_bytes(struct ws_out *out, const char *at, size_t n, uint32_t code)
{
	(void)code;
	for (size_t i = 0; i < n; i++) {
		uint8_t byte = (uint8_t)at[i];
		char text[4] = { '\\', 'x', "0123456789abcdef"[byte >> 4],
				 "0123456789abcdef"[byte & 15] };
		ws_out_bytes(out, text, sizeof text);
	}
}

const struct wsi_special wsi_special_in_quotes = { { WSI_SPECIAL('"'), WSI_SPECIAL('\\') } };

void ws_out_escaped(struct ws_out *out, struct ws_str text)
{
	static const struct wsi_special none = { { 0, 0 } };
	wsi_out_escape(out, text, &none, wsi_escape_bytes);
}

static void escape_in_quotes(struct ws_out *out, const char *at, size_t n, uint32_t code)
{
	bool shown = code == '"' || code == '\\';
	for (size_t i = 0; i < n; i++) {
		ws_out_bytes(out, "\\", 1);
		if (shown)
			ws_out_bytes(out, at, 1);
		else
			wsi_escape_bytes(out, at + i, 1, code);
	}
}

void ws_out_in_quotes(struct ws_out *out, struct ws_str text)
{
	wsi_out_escape(out, text, &wsi_special_in_quotes, escape_in_quotes);
}

/* A `ws_write_fn` that counts columns; it gets whole characters. */
static bool count_columns(void *user, const char *bytes, size_t len)
{
	size_t *n = user;
	*n += wsi_text_width(bytes, len);
	return true;
}

size_t ws_escaped_width(struct ws_str text)
{
	size_t width = 0;
	bool plain = true;
	for (size_t i = 0; i < text.len; i++)
		plain &= text.ptr[i] >= 0x20 && text.ptr[i] < 0x7f;
	if (plain)
		return text.len;
	struct ws_out out;
	ws_out_init(&out, count_columns, &width);
	ws_out_escaped(&out, text);
	return ws_out_flush(&out, NULL) == WS_OK ? width : text.len;
}
