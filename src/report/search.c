/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source files: where they are on this machine, and whether they may be shown.
 *
 * A dump can name any path, and a page is passed on to others. So a file that only the dump names
 * is shown only if its name and size are those of a source, see refusal(); below a folder that the
 * user gave, every file is shown that does not lead out of it.
 */
#include "report/search.h"

enum {
	MAX_LOOKED = 1 << 19, /* names of folders and files that are looked up in one search */
	LINE_BYTES = 400,     /* longer lines are cut */
};

/* What is looked for, and what has been found so far. */
struct wanted {
	struct wsi_source_search *search;
	const struct ws_line_file *file;
	const char *path;
	struct wsi_found_source *found;
};

/* ---- whether a file may be shown ---- */

/*
 * Whether a file that only the dump names may be shown; else why not. Its name has to be that of a
 * source, behind links too. It has to be the one that was compiled, as far as its size tells, which
 * somebody who made the dump up does not know of a file here; or to lie where the user is at work.
 */
static bool refusal(const struct wanted *wanted, const struct wsi_regular *here, char why[256])
{
	uint64_t then = wanted->file->size_bytes;
	if (!wsi_regular_is_source(wanted->path) || !wsi_regular_is_source(here->path))
		snprintf(why, 256,
			 "Its name is not that of a source file: `--source-dir DIR` shows every "
			 "file below DIR.");
	else if (then && here->size != then)
		snprintf(why, 256,
			 "The file here is not the one that was compiled: it has %" PRIu64
			 " bytes and had %" PRIu64 ". `--source-dir DIR` shows it anyway.",
			 here->size, then);
	else if (!then && !wsi_regular_is_below(here, "."))
		snprintf(why, 256,
			 "There is a file of this name here, but its size at compile time was not "
			 "recorded: `--source-dir DIR` shows it.");
	else
		return false;
	return true;
}

/* ---- where a file is here ---- */

static const char *const find_words[] = {
	[WS_EXCLUDED] = "It leads out of the given folder.",
	[WS_UNSUPPORTED] = "What has this name here is not a regular file.",
};

/* How the file differs from the one that was compiled. */
static void compare_source(const struct wanted *wanted)
{
	struct wsi_found_source *found = wanted->found;
	uint64_t size = wanted->file->size_bytes, time = wanted->file->mtime;
	bool same_time = !time || found->here.mtime == time;
	found->why[0] = '\0';
	found->other_time = size && found->here.size == size && !same_time;
	found->changed = size ? found->here.size != size : !same_time;
	if (found->changed && size)
		wsi_format(found->why, "%" PRIu64 " bytes here, %" PRIu64 " when compiled",
			   found->here.size, size);
	else if (found->changed)
		wsi_format(found->why, "its time differs");
}

/* Whether one more path may be looked up, which costs what it has names. An input can name many
 * long paths, and below a folder each has as many ends as names. */
static bool may_look_up(struct wsi_source_search *search, const char *path)
{
	if (search->n_looked >= MAX_LOOKED)
		return false;
	search->n_looked++;
	for (const char *at = path; *at; at++)
		search->n_looked += *at == '/';
	return true;
}

/* Remembers what is found: below `folder`, which the user gave, or by the dump's word alone when
 * that is NULL. */
static void try_path(const struct wanted *wanted, const char *folder, const char *path,
		     bool by_user)
{
	struct wsi_found_source *found = wanted->found;
	struct wsi_regular here;
	char why[256];
	if (!may_look_up(wanted->search, path)) {
		wsi_format(found->why,
			   "It was not looked for everywhere: the paths of this %s have too many "
			   "folders.",
			   wanted->search->owner);
		return;
	}
	enum ws_status st = wsi_regular_find(folder, path, &here);
	if (st == WS_ABSENT)
		return;
	bool refused = st != WS_OK;
	if (refused)
		wsi_format(why, "%s", find_words[st]);
	else if (!by_user)
		refused = refusal(wanted, &here, why);
	if (refused) {
		if (!found->why[0])
			wsi_format(found->why, "%s", why);
		return;
	}
	found->here = here;
	found->found = true;
	compare_source(wanted);
}

/* The recorded path with the separators of this machine. */
static bool is_windows(const char *path)
{
	return path[0] == '\\' ||
	       (path[0] && path[1] == ':' && (path[2] == '\\' || path[2] == '/'));
}

static void own_separators(char *path)
{
	for (char *at = path; *at; at++) {
		if (*at == '\\')
			*at = '/';
	}
}

/* Below a folder: the whole path, then without its first name, ... */
static void try_folder(const struct wanted *wanted, const char *folder)
{
	char path[WSI_SOURCE_PATH];
	if (!wsi_format(path, "%s", wanted->path))
		return;
	if (is_windows(path))
		own_separators(path);
	const char *rest = path;
	while (rest && !wanted->found->found) {
		while (*rest == '/')
			rest++;
		if (*rest)
			try_path(wanted, folder, rest, true);
		rest = strchr(rest, '/');
	}
}

static void try_map(const struct wanted *wanted, const struct ws_source_map *map)
{
	size_t len = strlen(map->from);
	while (len > 1 && (map->from[len - 1] == '/' || map->from[len - 1] == '\\'))
		len--;
	char rest[WSI_SOURCE_PATH];
	const char *path = wanted->path;
	bool windows = is_windows(path);
	bool applies =
		strncmp(path, map->from, len) == 0 &&
		(path[len] == '/' || (windows && path[len] == '\\') || path[len] == 0 || len == 0);
	if (!applies || !wsi_format(rest, "%s", path + len))
		return;
	if (windows)
		own_separators(rest);
	if (!*rest) /* the file itself was mapped */
		try_path(wanted, NULL, map->to, true);
	else
		try_path(wanted, map->to, rest, true);
}

void wsi_report_source_find(struct wsi_source_search *search, const struct ws_line_file *file,
			    const char *path, struct wsi_found_source *ret_source)
{
	const struct ws_report_options *options = search->options;
	const struct wanted wanted = { search, file, path, ret_source };
	ret_source->found = ret_source->changed = ret_source->other_time = false;
	ret_source->why[0] = '\0';
	for (size_t i = 0; i < options->n_source_maps && !ret_source->found; i++)
		try_map(&wanted, &options->source_maps[i]);
	if (!ret_source->found)
		try_path(&wanted, NULL, path, false);
	for (size_t i = 0; i < options->n_source_dirs && !ret_source->found; i++)
		try_folder(&wanted, options->source_dirs[i]);
}

/* ---- lines ---- */

struct ws_str wsi_report_source_line(struct ws_str *rest)
{
	const char *end = memchr(rest->ptr, '\n', rest->len);
	size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
	struct ws_str line = { rest->ptr, len };
	size_t used = len + (end ? 1 : 0);
	*rest = wsi_str_skip(*rest, used);
	if (line.len && line.ptr[line.len - 1] == '\r')
		line.len--;
	line.len = line.len < LINE_BYTES ? line.len : LINE_BYTES;
	return line;
}

/* ---- a file for others ---- */

struct source {
	struct ws_source public; /* first */
	struct wsi_found_source found;
	char *bytes;         /* owned */
	struct ws_str *line; /* owned */
};

static enum ws_status lines_make(struct source *source, size_t len)
{
	struct ws_str text = { source->bytes, len };
	size_t cap = 0;
	while (text.len > 0) {
		if (!wsi_grow(&source->line, &cap, source->public.n_lines, sizeof *source->line,
			      UINT32_MAX - 1))
			return WS_NO_MEMORY;
		source->line[source->public.n_lines++] = wsi_report_source_line(&text);
	}
	source->public.lines = source->line;
	return WS_OK;
}

static enum ws_status read_whole(struct source *source)
{
	size_t len = 0;
	source->public.path = source->found.here.path;
	enum ws_status st =
		wsi_regular_read(&source->found.here, WSI_SOURCE_MAX, &source->bytes, &len);
	if (st == WS_LIMIT) {
		source->public.status = WS_EXCLUDED;
		source->public.why = "The file here is too large for a source.";
	}
	if (st != WS_OK)
		return st == WS_NO_MEMORY ? st : WS_OK;
	source->public.status = WS_OK;
	return lines_make(source, len);
}

enum ws_status ws_source_read(const struct ws_line_file *file,
			      const struct ws_report_options *options,
			      const struct ws_source **ret_source, struct ws_error *err)
{
	char path[WSI_SOURCE_PATH];
	struct wsi_source_search search = { .options = options, .owner = "target" };
	struct source *source = wsi_zalloc(sizeof *source);
	if (!source)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a source file");
	ws_line_path(file, path, sizeof path);
	wsi_report_source_find(&search, file, path, &source->found);
	source->public.status = source->found.why[0] ? WS_EXCLUDED : WS_ABSENT;
	source->public.why = source->found.why[0] ? source->found.why : NULL;
	source->public.changed = source->found.changed;
	source->public.other_time = source->found.other_time;
	if (source->found.found && read_whole(source) != WS_OK) {
		ws_source_destroy(&source->public);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a source file");
	}
	*ret_source = &source->public;
	return WS_OK;
}

void ws_source_destroy(const struct ws_source *public)
{
	struct source *source = (struct source *)(uintptr_t) public;
	if (!source)
		return;
	wsi_free(source->bytes);
	wsi_free(source->line);
	wsi_free(source);
}
