/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises library code by its path. A rule is a list of folder names; it matches a path that has
 * them in a row. Also says which of its frames a page folds.
 */
#include "report/library.h"

static const char *const rules[] = {
#include "library_paths.inc"
};

/* Cuts the first name off a path: returns it and moves `rest` behind the slash. */
static struct ws_str take_folder_name(struct ws_str *rest)
{
	const char *slash = rest->len ? memchr(rest->ptr, '/', rest->len) : NULL;
	struct ws_str name = { rest->ptr, slash ? (size_t)(slash - rest->ptr) : rest->len };
	size_t used = name.len + (slash ? 1 : 0);
	*rest = wsi_str_skip(*rest, used);
	return name;
}

bool wsi_report_name_matches(struct ws_str name, struct ws_str pattern)
{
	size_t n = 0, p = 0, star = SIZE_MAX, resume = 0;
	while (n < name.len) {
		if (p < pattern.len && pattern.ptr[p] == '*') {
			star = p++;
			resume = n;
		} else if (p < pattern.len && pattern.ptr[p] == name.ptr[n]) {
			p++;
			n++;
		} else if (star != SIZE_MAX) {
			p = star + 1; /* let the star take one character more */
			n = ++resume;
		} else {
			return false;
		}
	}
	while (p < pattern.len && pattern.ptr[p] == '*')
		p++;
	return p == pattern.len;
}

/* Whether the folders of `path` start with those of `rule`. The last name of a path is its file.
 * Most rules are out with the first letter. */
static bool starts_with(struct ws_str path, struct ws_str rule)
{
	if (rule.ptr[0] != path.ptr[0] && rule.ptr[0] != '*')
		return false;
	while (rule.len > 0) {
		struct ws_str pattern = take_folder_name(&rule), name = take_folder_name(&path);
		if (path.len == 0 || !wsi_report_name_matches(name, pattern))
			return false;
	}
	return true;
}

bool wsi_library_path(struct ws_str path)
{
	while (path.len > 0) {
		for (size_t i = 0; i < WSI_COUNT(rules); i++) {
			if (starts_with(path, ws_str_of(rules[i])))
				return true;
		}
		take_folder_name(&path);
	}
	return false;
}

struct ws_str wsi_report_file_name(struct ws_str path)
{
	for (size_t i = path.len; i > 0; i--) {
		if (path.ptr[i - 1] == '/')
			return (struct ws_str){ path.ptr + i, path.len - i };
	}
	return path;
}

uint32_t wsi_library_frames(const struct ws_report_exception *e, uint32_t start)
{
	uint32_t n = 0;
	if (e->user_frame == WS_NONE || start == 0)
		return 0;
	while (start + n < e->n_frames && start + n != e->pc_frames_from &&
	       e->frames[start + n].library)
		n++;
	return n > 1 ? n : 0;
}

static struct ws_str library_name(const struct ws_report_frame *frame)
{
	struct ws_str name = frame->function_short;
	for (size_t i = 0; i + 1 < name.len && name.ptr[i] != '<' && name.ptr[i] != '('; i++) {
		if (i > 0 && name.ptr[i] == ':' && name.ptr[i + 1] == ':')
			return (struct ws_str){ name.ptr, i };
	}
	return wsi_report_file_name(frame->file);
}

size_t wsi_library_names(const struct ws_report_exception *e, uint32_t from, uint32_t to,
			 struct ws_str names[WSI_LIBRARY_NAMES])
{
	size_t n = 0;
	for (uint32_t i = from; i < to && n < WSI_LIBRARY_NAMES; i++) {
		struct ws_str name = library_name(&e->frames[i]);
		bool again = false;
		for (size_t k = 0; k < n; k++)
			again |= ws_str_equal(names[k], name);
		if (!again && name.len)
			names[n++] = name;
	}
	return n;
}
