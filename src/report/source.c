/* SPDX-License-Identifier: Apache-2.0 */
/* Source files of frames: whether they are library code, their lines. */
#include "report/build.h"
#include "report/library.h"
#include "report/search.h"

enum {
	LINES_AROUND = 2, /* shown before and after a frame's line, unless asked for more */
	MAX_AROUND = 100,
};

struct wsi_source_file *wsi_report_source_of(struct wsi_build *build,
					     const struct ws_line_file *file)
{
	struct wsi_map_key key = { { (uintptr_t)file, 0, 2, 0 } };
	bool is_new;
	uint32_t *index = wsi_map_put(&build->cache, &key, (uint32_t)build->n_files, &is_new);
	if (!index)
		return NULL;
	if (!is_new)
		return &build->files[*index];
	char text[WSI_SOURCE_PATH];
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

/* Looks for a file once. False when memory is out. */
static bool source_search(struct wsi_build *build, struct wsi_source_file *file)
{
	struct wsi_source_search search = {
		.options = &build->options,
		.owner = build->report->dump_status == WS_OK ? "dump" : "device",
		.n_looked = build->n_looked,
	};
	struct wsi_found_source found;
	wsi_report_source_find(&search, file->file, file->path.ptr, &found);
	build->n_looked = search.n_looked;
	file->searched = true;
	file->changed = found.changed;
	file->other_time = found.other_time;
	if (found.why[0] && !(file->why = wsi_build_text(build, "%s", found.why)))
		return false;
	if (!found.found)
		return true;
	file->here = wsi_arena_zalloc(build->arena, sizeof *file->here);
	if (file->here)
		*file->here = found.here;
	return file->here != NULL;
}

/* ---- lines ---- */

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
		struct ws_str one = wsi_report_source_line(&text);
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

enum ws_status wsi_report_source_read(struct wsi_build *build, struct ws_report_frame *frame)
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
	enum ws_status st = wsi_regular_read(file->here, WSI_SOURCE_MAX, &bytes, &len);
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
