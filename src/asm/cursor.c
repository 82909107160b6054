/* SPDX-License-Identifier: Apache-2.0 */
/* Words, numbers and references in one line of text. */
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

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
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
	while (at < c->end && (is_letter(*at) || is_digit(*at)))
		at++;
	*ret_word = (struct ws_str){ c->at, (size_t)(at - c->at) };
	c->at = at;
	return true;
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
		char lower = (char)(*at | 0x20);
		unsigned digit = 0;
		if (is_digit(*at))
			digit = (unsigned)(*at - '0');
		else if (hex && lower >= 'a' && lower <= 'f')
			digit = (unsigned)(lower - 'a') + 10;
		else
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

bool wsi_asm_take_reference(struct wsi_asm_cursor *c, struct ws_str *ret_name, int64_t *ret_addend)
{
	struct wsi_asm_cursor trial = *c;
	struct ws_str name;
	uint64_t addend = 0;
	if (!wsi_asm_take_word(&trial, &name))
		return false;
	bool more = wsi_asm_take_char(&trial, '+') || (trial.at < trial.end && *trial.at == '-');
	if (more && (!wsi_asm_take_number(&trial, &addend) || (int64_t)addend < INT32_MIN ||
		     (int64_t)addend > INT32_MAX))
		return false;
	if (!wsi_asm_take_char(&trial, ')'))
		return false;
	*ret_name = name;
	*ret_addend = (int64_t)addend;
	*c = trial;
	return true;
}
