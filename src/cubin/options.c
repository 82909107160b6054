/* SPDX-License-Identifier: Apache-2.0 */
/* See options.h. */
#include "cubin/options.h"

static const char *const shown_options[] = {
#include "compiler_options.inc"
};

static bool is_option_shown(struct ws_str option)
{
	for (size_t i = 0; i < WSI_COUNT(shown_options); i++) {
		if (ws_str_equal(option, ws_str_of(shown_options[i])))
			return true;
	}
	return false;
}

static bool is_option_number(struct ws_str word)
{
	for (size_t i = 0; i < word.len; i++) {
		if (word.ptr[i] < '0' || word.ptr[i] > '9')
			return false;
	}
	return word.len > 0 && word.len <= 10;
}

/* "90", "sm_90a", "compute_100f", "true": no value that the user thought of. */
static bool is_plain_value(struct ws_str word)
{
	static const char *const prefixes[] = { "sm_", "compute_" };
	static const char *const words[] = { "true",    "false",      "min", "mid", "max",
					     "archmax", "archmin",    "ca",  "cg",  "cs",
					     "cv",      "memcheck",   "wb",  "wt",  "lu",
					     "all",     "threadsteer" };
	for (size_t i = 0; i < WSI_COUNT(prefixes); i++) {
		size_t len = strlen(prefixes[i]);
		if (word.len <= len || memcmp(word.ptr, prefixes[i], len) != 0)
			continue;
		struct ws_str number = { word.ptr + len, word.len - len };
		char last = word.ptr[word.len - 1];
		number.len -= last == 'a' || last == 'f';
		return is_option_number(number);
	}
	for (size_t i = 0; i < WSI_COUNT(words); i++) {
		if (ws_str_equal(word, ws_str_of(words[i])))
			return true;
	}
	return is_option_number(word);
}

/* Whether a word of the options may be shown; `value_of_shown`: it follows an option that was. */
static bool word_is_shown(struct ws_str word, bool value_of_shown)
{
	const char *equals = memchr(word.ptr, '=', word.len);
	if (word.ptr[0] != '-')
		return value_of_shown && is_plain_value(word);
	if (!equals)
		return is_option_shown(word);
	size_t len = (size_t)(equals - word.ptr);
	return is_option_shown((struct ws_str){ word.ptr, len }) &&
	       is_plain_value((struct ws_str){ equals + 1, word.len - len - 1 });
}

/* Cuts the first word off; words are apart by spaces. */
static struct ws_str take_option_word(struct ws_str *rest)
{
	size_t start = 0, end;
	while (start < rest->len && rest->ptr[start] == ' ')
		start++;
	for (end = start; end < rest->len && rest->ptr[end] != ' ';)
		end++;
	struct ws_str word = { wsi_str_skip(*rest, start).ptr, end - start };
	*rest = wsi_str_skip(*rest, end);
	return word;
}

bool wsi_option_next(struct wsi_options *options, struct ws_str *ret_word, bool *ret_shown)
{
	struct ws_str word = take_option_word(&options->rest);
	if (word.len == 0)
		return false;
	options->last_shown = word_is_shown(word, options->last_shown);
	*ret_word = word;
	*ret_shown = options->last_shown;
	return true;
}
