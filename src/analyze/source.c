/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source files: whether they are library code, where they are on this machine, their lines.
 *
 * A dump names any path it likes. Only regular files are opened, and only the few lines around a
 * frame's line are copied.
 */
#include "analyze/build.h"
#include "analyze/library.h"
#include "base/file.h"

enum {
	MAX_PATH = 8192,
	LINES_AROUND = 2, /* shown before and after a frame's line, unless asked for more */
	MAX_AROUND = 100,
	LINE_BYTES = 400, /* longer lines are cut */
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

/* ---- where a file is here ---- */

/* Remembers `path` when it is a file. False when memory is out. */
static bool try_path(struct wsi_build *build, struct wsi_source_file *file, const char *path)
{
	uint64_t size, mtime;
	if (!wsi_file_info(path, &size, &mtime))
		return true;
	file->found = wsi_arena_str(build->arena, path, strlen(path));
	/* sizes differ when the text does; times also differ after a checkout, so they only count
	 * where no size is recorded */
	file->changed = file->file->size_bytes ? size != file->file->size_bytes
					       : file->file->mtime && mtime != file->file->mtime;
	return file->found != NULL;
}

/* Below a folder: the whole path, then without its first name, ... */
static bool try_folder(struct wsi_build *build, struct wsi_source_file *file, const char *folder)
{
	const char *rest = file->path.ptr;
	while (rest && !file->found) {
		char path[MAX_PATH];
		while (*rest == '/')
			rest++;
		if (*rest && wsi_format(path, "%s/%s", folder, rest) &&
		    !try_path(build, file, path))
			return false;
		rest = strchr(rest, '/');
	}
	return true;
}

static bool try_map(struct wsi_build *build, struct wsi_source_file *file,
		    const struct ws_source_map *map)
{
	size_t len = strlen(map->from);
	while (len > 1 && map->from[len - 1] == '/')
		len--;
	char path[MAX_PATH];
	bool applies = strncmp(file->path.ptr, map->from, len) == 0 &&
		       (file->path.ptr[len] == '/' || file->path.ptr[len] == 0 || len == 0);
	if (!applies || !wsi_format(path, "%s%s", map->to, file->path.ptr + len))
		return true;
	return try_path(build, file, path);
}

static bool source_search(struct wsi_build *build, struct wsi_source_file *file)
{
	const struct ws_report_options *options = &build->options;
	file->searched = true;
	for (size_t i = 0; i < options->n_source_maps && !file->found; i++) {
		if (!try_map(build, file, &options->source_maps[i]))
			return false;
	}
	if (!file->found && !try_path(build, file, file->path.ptr))
		return false;
	for (size_t i = 0; i < options->n_source_dirs && !file->found; i++) {
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
	*rest = (struct ws_str){ rest->ptr + used, rest->len - used };
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
	if (first + n <= line) { /* the file ends before: it is not the one that was compiled */
		source->changed = true;
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
	if (!file->found)
		return WS_OK;
	frame->source.path = file->found;
	frame->source.changed = file->changed;
	struct wsi_file bytes;
	if (wsi_file_open(file->found, &bytes, NULL) != WS_OK)
		return WS_OK; /* it was there and is gone, or may not be read */
	struct ws_str text = { (const char *)bytes.bytes.ptr, bytes.bytes.len };
	enum ws_status st = copy_lines(build, text, frame->line, &frame->source);
	wsi_file_close(&bytes);
	return st;
}
