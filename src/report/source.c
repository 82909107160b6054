/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source files: whether they are library code, where they are on this machine, their lines.
 *
 * A dump can name any path, and a page is passed on to others. So a file that only the dump names
 * is shown only if its name and size are those of a source, see refusal(); below a folder that the
 * user gave, every file is shown that does not lead out of it.
 */
#include "report/build.h"
#include "report/library.h"

enum {
	MAX_PATH = 8192,
	LINES_AROUND = 2, /* shown before and after a frame's line, unless asked for more */
	MAX_AROUND = 100,
	LINE_BYTES = 400, /* longer lines are cut */
	MAX_SOURCE = 16 << 20,
	MAX_LOOKED = 1 << 19, /* names of folders and files that are looked up for one report */
};

struct wsi_source_file *wsi_source_of(struct wsi_build *build, const struct ws_line_file *file)
{
	struct wsi_map_key key = { { (uintptr_t)file, 0, 2, 0 } };
	bool is_new;
	uint32_t *index = wsi_map_put(&build->cache, &key, (uint32_t)build->n_files, &is_new);
	if (!index)
		return NULL;
	if (!is_new)
		return &build->files[*index];
	char text[MAX_PATH];
	size_t len = ws_line_path(file, text, sizeof text);
	len = len < sizeof text ? len : sizeof text - 1;
	const char *path = wsi_arena_str(build->arena, text, len);
	if (!path || !wsi_grow(&build->files, &build->cap_files, build->n_files,
			       sizeof *build->files, UINT32_MAX - 1))
		return NULL;
	build->files[build->n_files] =
		(struct wsi_source_file){ .file = file,
					  .path = { path, len },
					  .library =
						  wsi_library_path((struct ws_str){ path, len }) };
	return &build->files[build->n_files++];
}

/* ---- whether a file may be shown ---- */

/*
 * Whether a file that only the dump names may be shown: NULL, or why not. Its name has to be that
 * of a source, behind links too. It has to be the one that was compiled, as far as its size tells,
 * which somebody who made the dump up does not know of a file here; or to lie where the user is at
 * work.
 */
static const char *refusal(struct wsi_build *build, const struct wsi_source_file *file,
			   const struct wsi_regular *here)
{
	uint64_t then = file->file->size_bytes;
	if (!wsi_regular_is_source(file->path.ptr) || !wsi_regular_is_source(here->path))
		return "Its name is not that of a source file: `--source-dir DIR` shows every file "
		       "below DIR.";
	if (then && here->size != then)
		return wsi_build_text(build,
				      "The file here is not the one that was compiled: it has "
				      "%" PRIu64 " bytes and had %" PRIu64
				      ". `--source-dir DIR` shows it anyway.",
				      here->size, then);
	if (!then && !wsi_regular_is_below(here, "."))
		return "There is a file of this name here, but its size at compile time was not "
		       "recorded: `--source-dir DIR` shows it.";
	return NULL;
}

/* ---- where a file is here ---- */

static const char *const find_words[] = {
	[WS_EXCLUDED] = "It leads out of the given folder.",
	[WS_UNSUPPORTED] = "What has this name here is not a regular file.",
};

/* How the file differs from the one that was compiled. False when memory is out. */
static bool compare(struct wsi_build *build, struct wsi_source_file *file)
{
	uint64_t size = file->file->size_bytes, time = file->file->mtime;
	bool same_time = !time || file->here->mtime == time;
	file->why = NULL;
	file->other_time = size && file->here->size == size && !same_time;
	file->changed = size ? file->here->size != size : !same_time;
	if (!file->changed)
		return true;
	file->why =
		size ? wsi_build_text(build, "%" PRIu64 " bytes here, %" PRIu64 " when compiled",
				      file->here->size, size)
		     : "its time differs";
	return file->why != NULL;
}

/* Whether one more path may be looked up, which costs what it has names. An input can name many
 * long paths, and below a folder each has as many ends as names. */
static bool may_look(struct wsi_build *build, const char *path)
{
	if (build->n_looked >= MAX_LOOKED)
		return false;
	build->n_looked++;
	for (const char *at = path; *at; at++)
		build->n_looked += *at == '/';
	return true;
}

/* Remembers what is found: below `folder`, which the user gave, or by the dump's word alone when
 * that is NULL. False when memory is out. */
static bool try_path(struct wsi_build *build, struct wsi_source_file *file, const char *folder,
		     const char *path, bool by_user)
{
	struct wsi_regular here;
	if (!may_look(build, path)) {
		file->why = build->report->dump_status == WS_OK
				    ? "It was not looked for everywhere: the paths of this dump "
				      "have too many folders."
				    : "It was not looked for everywhere: the paths of this device "
				      "have too many folders.";
		return true;
	}
	enum ws_status st = wsi_regular_find(folder, path, &here);
	if (st == WS_ABSENT)
		return true;
	const char *why = st != WS_OK ? find_words[st]
			  : by_user   ? NULL
				      : refusal(build, file, &here);
	if (why) {
		file->why = file->why ? file->why : why;
		return true;
	}
	file->here = wsi_arena_zalloc(build->arena, sizeof here);
	if (!file->here)
		return false;
	*file->here = here;
	return compare(build, file);
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
static bool try_folder(struct wsi_build *build, struct wsi_source_file *file, const char *folder)
{
	char path[MAX_PATH];
	if (!wsi_format(path, "%s", file->path.ptr))
		return true;
	if (is_windows(path))
		own_separators(path);
	const char *rest = path;
	while (rest && !file->here) {
		while (*rest == '/')
			rest++;
		if (*rest && !try_path(build, file, folder, rest, true))
			return false;
		rest = strchr(rest, '/');
	}
	return true;
}

static bool try_map(struct wsi_build *build, struct wsi_source_file *file,
		    const struct ws_source_map *map)
{
	size_t len = strlen(map->from);
	while (len > 1 && (map->from[len - 1] == '/' || map->from[len - 1] == '\\'))
		len--;
	char rest[MAX_PATH];
	const char *path = file->path.ptr;
	bool windows = is_windows(path);
	bool applies =
		strncmp(path, map->from, len) == 0 &&
		(path[len] == '/' || (windows && path[len] == '\\') || path[len] == 0 || len == 0);
	if (!applies || !wsi_format(rest, "%s", path + len))
		return true;
	if (windows)
		own_separators(rest);
	if (!*rest) /* the file itself was mapped */
		return try_path(build, file, NULL, map->to, true);
	return try_path(build, file, map->to, rest, true);
}

static bool source_search(struct wsi_build *build, struct wsi_source_file *file)
{
	const struct ws_report_options *options = &build->options;
	file->searched = true;
	for (size_t i = 0; i < options->n_source_maps && !file->here; i++) {
		if (!try_map(build, file, &options->source_maps[i]))
			return false;
	}
	if (!file->here && !try_path(build, file, NULL, file->path.ptr, false))
		return false;
	for (size_t i = 0; i < options->n_source_dirs && !file->here; i++) {
		if (!try_folder(build, file, options->source_dirs[i]))
			return false;
	}
	return true;
}

/* ---- lines ---- */

/* The line that starts at `rest`, which moves behind it. */
static struct ws_str take_line(struct ws_str *rest)
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

/* Copies the lines around `line` out of a file's text. */
static enum ws_status copy_lines(struct wsi_build *build, struct ws_str text, uint32_t line,
				 struct ws_report_source *source)
{
	uint32_t asked = build->options.source_context;
	uint32_t around = asked == 0 ? LINES_AROUND : asked < MAX_AROUND ? asked : MAX_AROUND;
	struct ws_str *lines =
		wsi_arena_zalloc_array(build->arena, 2 * (size_t)around + 1, sizeof *lines);
	if (!lines)
		return WS_NO_MEMORY;
	uint32_t first = line > around ? line - around : 1, n = 0;
	for (uint32_t number = 1; text.len > 0 && number <= line + (uint64_t)around; number++) {
		struct ws_str one = take_line(&text);
		if (number < first)
			continue;
		lines[n].ptr = wsi_arena_str(build->arena, one.ptr, one.len);
		lines[n].len = one.len;
		if (!lines[n++].ptr)
			return WS_NO_MEMORY;
	}
	if (first + n <= line) {
		source->status = WS_EXCLUDED;
		source->why = "The file here has fewer lines: it is not the one that was compiled.";
		return WS_OK;
	}
	source->status = WS_OK;
	source->first_line = first;
	source->n_lines = n;
	source->lines = lines;
	return WS_OK;
}

enum ws_status wsi_source_read(struct wsi_build *build, struct ws_report_frame *frame)
{
	if (frame->line_status != WS_OK || frame->line == 0 || build->options.no_source)
		return WS_OK;
	struct wsi_source_file *file = NULL;
	for (size_t i = 0; i < build->n_files && !file; i++) {
		if (build->files[i].path.ptr == frame->file.ptr)
			file = &build->files[i];
	}
	if (!file || (!file->searched && !source_search(build, file)))
		return file ? WS_NO_MEMORY : WS_OK;
	if (!file->here) {
		frame->source.status = file->why ? WS_EXCLUDED : WS_ABSENT;
		frame->source.why = file->why;
		return WS_OK;
	}
	char *bytes;
	size_t len;
	enum ws_status st = wsi_regular_read(file->here, MAX_SOURCE, &bytes, &len);
	if (st == WS_LIMIT) {
		frame->source.status = WS_EXCLUDED;
		frame->source.why = "The file here is too large for a source.";
	}
	if (st != WS_OK)
		return st == WS_NO_MEMORY ? st : WS_OK;
	st = copy_lines(build, (struct ws_str){ bytes, len }, frame->line, &frame->source);
	wsi_free(bytes);
	if (frame->source.status != WS_OK)
		return st;
	frame->source.path = file->here->path;
	frame->source.changed = file->changed;
	frame->source.other_time = file->other_time;
	frame->source.why = file->why;
	return st;
}
