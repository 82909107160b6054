/* SPDX-License-Identifier: Apache-2.0 */
#include "info/ptx.h"

#include <string.h>

/* [public doc: PTX ISA, identifiers] */
static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '%' || c == '.';
}

/* Moves behind a comment or a quoted text that begins at `at`; the same `at`: none begins there. */
static size_t skip_ptx_text(struct ws_str text, size_t at)
{
	const char *begin = text.ptr + at;
	size_t left = text.len - at;
	const bool to_line_end = left >= 2 && begin[0] == '/' && begin[1] == '/';
	const bool to_mark = left >= 2 && begin[0] == '/' && begin[1] == '*';
	const bool to_quote = begin[0] == '"';
	if (!to_line_end && !to_mark && !to_quote)
		return at;
	for (size_t i = to_quote ? 1 : 2; i < left; i++) {
		if (to_quote && begin[i] == '\\')
			i++;
		else if (to_line_end ? begin[i] == '\n'
			 : to_quote  ? begin[i] == '"'
				     : begin[i] == '/' && begin[i - 1] == '*' && i > 2)
			return at + i + 1;
	}
	return text.len;
}

/* The next word; false at the end. */
static bool next_word(struct ws_str text, size_t *at, struct ws_str *ret_word)
{
	size_t i = *at;
	while (i < text.len && !is_name(text.ptr[i])) {
		size_t behind = skip_ptx_text(text, i);
		i = behind > i ? behind : i + 1;
	}
	size_t start = i;
	while (i < text.len && is_name(text.ptr[i]))
		i++;
	*ret_word = (struct ws_str){ text.ptr + start, i - start };
	*at = i;
	return i > start;
}

static bool is(struct ws_str word, const char *wanted)
{
	return ws_str_equal(word, ws_str_of(wanted));
}

/* "sm_90a" */
static void target_take(struct ptx *ptx, struct ws_str word)
{
	if (word.len < 4 || memcmp(word.ptr, "sm_", 3) != 0)
		return;
	for (size_t i = 3; i < word.len && ptx->sm < 1000; i++) {
		if (word.ptr[i] >= '0' && word.ptr[i] <= '9')
			ptx->sm = ptx->sm * 10 + (uint32_t)(word.ptr[i] - '0');
		else if (word.ptr[i] == 'a' || word.ptr[i] == 'f')
			ptx->variant = word.ptr[i];
	}
}

void ptx_read(struct ws_str text, struct ptx *ret_ptx)
{
	size_t at = 0;
	struct ws_str word;
	*ret_ptx = (struct ptx){ .text = text, .version = { "", 0 } };
	/* both stand before everything else */
	for (int i = 0; i < 8 && !ret_ptx->sm && next_word(text, &at, &word); i++) {
		if (is(word, ".version") && next_word(text, &at, &word))
			ret_ptx->version = word;
		else if (is(word, ".target") && next_word(text, &at, &word))
			target_take(ret_ptx, word);
	}
}

bool ptx_kernel(const struct ptx *ptx, size_t *at, struct ws_str *ret_name)
{
	struct ws_str word;
	while (next_word(ptx->text, at, &word))
		if (is(word, ".entry"))
			return next_word(ptx->text, at, ret_name);
	return false;
}
