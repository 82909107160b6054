/* SPDX-License-Identifier: Apache-2.0 */
#include "log/cursor.h"

bool wsi_behind(struct ws_str *text, const char *word)
{
	const size_t n = strlen(word);
	if (text->len < n) /* which may have no address */
		return false;
	const char *at = text->ptr, *end = text->ptr + text->len;
	while ((size_t)(end - at) >= n) {
		at = memchr(at, word[0], (size_t)(end - at) - n + 1);
		if (!at)
			return false;
		if (memcmp(at, word, n) == 0) {
			*text = (struct ws_str){ at + n, (size_t)(end - at) - n };
			return true;
		}
		at++;
	}
	return false;
}

bool wsi_take_number(struct ws_str *text, unsigned base, uint64_t *ret_number)
{
	size_t n = 0;
	uint64_t number = 0;
	while (n < text->len && n < 15) {
		unsigned digit = wsi_hex_digit(wsi_lower(text->ptr[n]));
		if (digit >= base)
			break;
		number = number * base + digit;
		n++;
	}
	if (n == 0)
		return false;
	*text = wsi_str_skip(*text, n);
	*ret_number = number;
	return true;
}

bool wsi_log_number_behind(struct ws_str text, const char *word, unsigned base,
			   uint64_t *ret_number)
{
	return wsi_behind(&text, word) && wsi_take_number(&text, base, ret_number);
}

bool wsi_take_word(struct ws_str *text, const char *word)
{
	if (!wsi_str_begins(*text, word))
		return false;
	*text = wsi_str_skip(*text, strlen(word));
	return true;
}
