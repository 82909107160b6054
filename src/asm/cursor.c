/* SPDX-License-Identifier: Apache-2.0 */
/* Words, names, numbers and references in one line of text. */
#include "asm/asm.h"

struct wsi_asm_place wsi_asm_here(const struct wsi_asm_cursor *c)
{
	return (struct wsi_asm_place){ c->line, (uint32_t)(c->at - c->start) + 1 };
}

bool wsi_asm_blank(struct wsi_asm_cursor *c)
{
	while (c->at < c->end) {
		if (*c->at == ' ' || *c->at == '\t' || *c->at == '\r') {
			c->at++;
		} else if (c->end - c->at >= 2 && memcmp(c->at, "//", 2) == 0) {
			c->at = c->end;
		} else if (c->end - c->at >= 2 && memcmp(c->at, "/*", 2) == 0) {
			const char *at = c->at + 2;
			while (c->end - at >= 2 && memcmp(at, "*/", 2) != 0)
				at++;
			if (c->end - at < 2)
				return false;
			c->at = at + 2;
		} else {
			break;
		}
	}
	return true;
}

bool wsi_asm_take_char(struct wsi_asm_cursor *c, char what)
{
	if (c->at == c->end || *c->at != what)
		return false;
	c->at++;
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '$' || c == '.';
}

bool wsi_asm_take_word(struct wsi_asm_cursor *c, struct ws_str *ret_word)
{
	const char *at = c->at;
	if (at == c->end || !is_letter(*at))
		return false;
	while (at < c->end && (is_letter(*at) || wsi_is_digit(*at)))
		at++;
	*ret_word = (struct ws_str){ c->at, (size_t)(at - c->at) };
	c->at = at;
	return true;
}

/* The value of a hexadecimal digit; 16 for what is none. */
static unsigned hex_digit(char c)
{
	return wsi_hex_digit(wsi_lower(c));
}

/* One byte of a name in quotes, as it is or as \xNN; false when it is neither. */
static bool take_quoted_byte(struct wsi_asm_cursor *c, char *ret_byte)
{
	char byte = *c->at;
	if (byte == '\\') {
		if (c->end - c->at < 4 || c->at[1] != 'x' || hex_digit(c->at[2]) > 15 ||
		    hex_digit(c->at[3]) > 15)
			return false;
		byte = (char)(hex_digit(c->at[2]) << 4 | hex_digit(c->at[3]));
		c->at += 3;
	}
	c->at++;
	*ret_byte = byte;
	return byte != '\0'; /* ELF ends names with it */
}

/* A quote itself is written \x22, so that the next one ends the name. */
static bool take_quoted(struct wsi_asm_cursor *c, struct ws_str *ret_name)
{
	struct wsi_asm_cursor trial = *c;
	trial.at++;
	const char *quote = memchr(trial.at, '"', (size_t)(c->end - trial.at));
	char *text = quote ? wsi_arena_zalloc(&c->a->quoted, (size_t)(quote - c->at)) : NULL;
	size_t n = 0;
	if (!text) {
		c->a->no_memory |= quote != NULL;
		return false;
	}
	for (trial.end = quote; trial.at < quote; n++)
		if (!take_quoted_byte(&trial, &text[n]))
			return false;
	*ret_name = (struct ws_str){ text, n };
	c->at = quote + 1;
	return true;
}

bool wsi_asm_take_name(struct wsi_asm_cursor *c, struct ws_str *ret_name)
{
	if (c->at < c->end && *c->at == '"')
		return take_quoted(c, ret_name);
	return wsi_asm_take_word(c, ret_name);
}

/* One byte at `n` as far as there is room for it; where the next goes. */
static size_t put_byte(char *buffer, size_t size, size_t n, char byte)
{
	if (n + 1 < size)
		buffer[n] = byte;
	return n + 1;
}

size_t ws_assemble_name(struct ws_str name, char *buffer, size_t size)
{
	struct wsi_asm_cursor c = { .at = name.ptr, .end = name.ptr + name.len };
	struct ws_str word;
	bool in_quotes = !wsi_asm_take_word(&c, &word) || word.len != name.len;
	size_t n = in_quotes ? put_byte(buffer, size, 0, '"') : 0;
	for (size_t i = 0; i < name.len; i++) {
		uint8_t byte = (uint8_t)name.ptr[i];
		if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\') {
			n = put_byte(buffer, size, n, (char)byte);
			continue;
		}
		n = put_byte(buffer, size, n, '\\');
		n = put_byte(buffer, size, n, 'x');
		n = put_byte(buffer, size, n, "0123456789abcdef"[byte >> 4]);
		n = put_byte(buffer, size, n, "0123456789abcdef"[byte & 15]);
	}
	n = in_quotes ? put_byte(buffer, size, n, '"') : n;
	if (size)
		buffer[n < size ? n : size - 1] = '\0';
	return n;
}

bool wsi_asm_take_number(struct wsi_asm_cursor *c, uint64_t *ret_value)
{
	const char *at = c->at;
	bool negative = at < c->end && *at == '-';
	at += negative;
	bool hex = c->end - at >= 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	at += hex ? 2 : 0;
	const char *first = at;
	uint64_t value = 0, base = hex ? 16 : 10;
	for (; at < c->end; at++) {
		unsigned digit = hex_digit(*at);
		if (digit >= base)
			break;
		if (value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	if (at == first || (at < c->end && is_letter(*at)) ||
	    (negative && value > UINT64_C(1) << 63))
		return false;
	*ret_value = negative ? 0 - value : value;
	c->at = at;
	return true;
}

bool wsi_asm_take_place(struct wsi_asm_cursor *c, bool optional, struct ws_str *ret_name,
			int64_t *ret_addend)
{
	struct wsi_asm_cursor trial = *c;
	struct ws_str name = { "", 0 };
	uint64_t addend = 0;
	if (!wsi_asm_take_name(&trial, &name) && !optional)
		return false;
	bool more = wsi_asm_take_char(&trial, '+') || (trial.at < trial.end && *trial.at == '-');
	if (more && (!wsi_asm_take_number(&trial, &addend) || (int64_t)addend < INT32_MIN ||
		     (int64_t)addend > INT32_MAX))
		return false;
	*ret_name = name;
	*ret_addend = (int64_t)addend;
	*c = trial;
	return true;
}

bool wsi_asm_take_reference(struct wsi_asm_cursor *c, struct ws_str *ret_name, int64_t *ret_addend)
{
	struct wsi_asm_cursor trial = *c;
	if (!wsi_asm_take_place(&trial, false, ret_name, ret_addend) ||
	    !wsi_asm_take_char(&trial, ')'))
		return false;
	*c = trial;
	return true;
}
