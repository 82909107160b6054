/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the image was made that the focus's code lies in: identity, architecture, compiler, lines.
 *
 * The options that the compiler recorded may name files, folders and people. Pages get those that
 * data/compiler-options.txt lists; a value is shown only when it is one that the compiler defines.
 */
#include "analyze/build.h"

static const char *const shown_options[] = {
#include "compiler_options.inc"
};

static bool is_shown(struct ws_str option)
{
	for (size_t i = 0; i < WSI_COUNT(shown_options); i++) {
		if (ws_str_equal(option, ws_str_of(shown_options[i])))
			return true;
	}
	return false;
}

static bool is_number(struct ws_str word)
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
		return is_number(number);
	}
	for (size_t i = 0; i < WSI_COUNT(words); i++) {
		if (ws_str_equal(word, ws_str_of(words[i])))
			return true;
	}
	return is_number(word);
}

/* Whether a word of the options may be shown; `value_of_shown`: it follows an option that was. */
static bool word_is_shown(struct ws_str word, bool value_of_shown)
{
	const char *equals = memchr(word.ptr, '=', word.len);
	if (word.ptr[0] != '-')
		return value_of_shown && is_plain_value(word);
	if (!equals)
		return is_shown(word);
	size_t len = (size_t)(equals - word.ptr);
	return is_shown((struct ws_str){ word.ptr, len }) &&
	       is_plain_value((struct ws_str){ equals + 1, word.len - len - 1 });
}

/* Cuts the first word off; words are apart by spaces. */
static struct ws_str take_word(struct ws_str *rest)
{
	size_t start = 0, end;
	while (start < rest->len && rest->ptr[start] == ' ')
		start++;
	for (end = start; end < rest->len && rest->ptr[end] != ' ';)
		end++;
	struct ws_str word = { rest->ptr + start, end - start };
	*rest = (struct ws_str){ rest->ptr + end, rest->len - end };
	return word;
}

static enum ws_status filter_options(struct wsi_build *build, struct ws_report_image *image)
{
	struct ws_str rest = image->facts.options;
	char *shown = wsi_arena_zalloc(build->arena, rest.len + 1);
	size_t len = 0;
	bool last_shown = false;
	if (!shown)
		return WS_NO_MEMORY;
	while (rest.len > 0) {
		struct ws_str word = take_word(&rest);
		if (word.len == 0)
			continue;
		last_shown = word_is_shown(word, last_shown);
		image->options_left_out |= !last_shown;
		if (!last_shown)
			continue;
		if (len)
			shown[len++] = ' ';
		memcpy(shown + len, word.ptr, word.len);
		len += word.len;
	}
	image->options_shown = (struct ws_str){ shown, len };
	return WS_OK;
}

enum ws_status wsi_image(struct wsi_build *build)
{
	struct ws_report *report = build->report;
	struct ws_report_image *image = &report->image;
	const struct ws_report_exception *focus = report->focus;
	struct ws_place place;
	report->image_status = WS_ABSENT;
	if (!focus || focus->n_frames == 0)
		return WS_OK;
	struct wsi_where where = { WS_NONE, WS_NONE, WS_NONE, WS_NONE };
	if (focus->kernel != WS_NONE)
		where = wsi_where_of_grid(build, build->kernels[focus->kernel].device_index,
					  build->kernels[focus->kernel].grid_index);
	struct ws_module_hint hint = { where.image_index, where.device_index, where.context_index };
	enum ws_status st = ws_module_set_find_address(build->modules, focus->frames[0].pc, &hint,
						       &place, NULL);
	if (st == WS_NO_MEMORY)
		return st;
	report->image_status = st;
	if (st != WS_OK)
		return WS_OK;
	ws_module_facts(place.module, &image->facts);
	image->lines = ws_module_explain_lines(place.module, NULL, 0);
	image->lines_borrowed_from = focus->frames[0].borrowed_from;
	image->code_id_status = place.function ? ws_module_code_id(place.module, place.function,
								   &image->code_id, NULL)
					       : WS_ABSENT;
	image->image_id_status = ws_module_image_id(place.module, &image->image_id, NULL);
	if (image->code_id_status == WS_NO_MEMORY || image->image_id_status == WS_NO_MEMORY)
		return WS_NO_MEMORY;
	return filter_options(build, image);
}
