/* SPDX-License-Identifier: Apache-2.0 */
/* Files, and the rows that their lines are counted in. */
#include "log/internal.h"

#include "base/file.h"

enum ws_status ws_log_create(struct ws_log **ret_log, struct ws_error *err)
{
	struct ws_log *log = wsi_zalloc(sizeof *log);
	if (!log)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a log");
	wsi_log_words_init(&log->words);
	*ret_log = log;
	return WS_OK;
}

void ws_log_destroy(struct ws_log *log)
{
	if (!log)
		return;
	wsi_free(log->row);
	wsi_free(log->file);
	wsi_map_fini(&log->by_kind);
	wsi_arena_fini(&log->arena);
	wsi_free(log);
}

const char *wsi_log_format(struct ws_log *log, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = wsi_arena_format(&log->arena, format, args);
	va_end(args);
	log->no_memory |= !text;
	return text;
}

/* ---- rows ---- */

/* The row of a kind and code; a new one is zeroed. NULL: too many, or no memory. */
static struct wsi_told_row *told_row_of(struct ws_log *log, const struct wsi_told *told,
					bool *ret_is_new)
{
	const struct wsi_map_key key = { { told->kind, told->code, 0, 0 } };
	*ret_is_new = false;
	const uint32_t *known = wsi_map_find(&log->by_kind, &key);
	if (known)
		return &log->row[*known];
	if (log->n_rows == WSI_LOG_MOST_ROWS) {
		log->n_more++;
		return NULL;
	}
	if (!wsi_grow(&log->row, &log->cap_rows, log->n_rows, sizeof *log->row,
		      WSI_LOG_MOST_ROWS) ||
	    !wsi_map_put(&log->by_kind, &key, (uint32_t)log->n_rows, ret_is_new)) {
		log->no_memory = true;
		return NULL;
	}
	struct wsi_told_row *row = &log->row[log->n_rows++];
	*row = (struct wsi_told_row){
		.kind = told->kind, .code = told->code, .topic = told->topic, .rank = WSI_NO_NUMBER
	};
	return row;
}

static void add_gpu(struct wsi_told_row *row, const char *gpu)
{
	for (uint32_t i = 0; i < row->n_gpus; i++)
		if (strcmp(row->gpu[i], gpu) == 0)
			return;
	if (row->n_gpus < WSI_LOG_GPUS)
		snprintf(row->gpu[row->n_gpus++], WSI_LOG_GPU_BYTES, "%s", gpu);
	else
		row->more_gpus = true;
}

/* The first line of a row is the first in the files as they are named, unless the times say
 * otherwise. */
static void set_first(struct ws_log *log, struct wsi_told_row *row, const struct wsi_told *told,
		      uint64_t rank, const struct wsi_stamp *stamp)
{
	row->file = (uint32_t)log->n_files - 1;
	row->line = log->piece.line;
	row->off = log->piece.off;
	row->stamp = *stamp;
	row->rank = rank;
	snprintf(row->detail, sizeof row->detail, "%s", told->detail ? told->detail : "");
	if (!told->gpu)
		return;
	add_gpu(row, told->gpu);
	for (uint32_t i = 1; i < row->n_gpus; i++) { /* that of the first line stands first */
		char first[WSI_LOG_GPU_BYTES];
		if (strcmp(row->gpu[i], told->gpu) != 0)
			continue;
		memcpy(first, row->gpu[i], sizeof first);
		memmove(row->gpu[1], row->gpu[0], i * sizeof row->gpu[0]);
		memcpy(row->gpu[0], first, sizeof first);
	}
}

struct wsi_told_row *wsi_log_tell(struct ws_log *log, const struct wsi_told *told)
{
	const uint32_t file = (uint32_t)log->n_files - 1;
	struct wsi_stamp stamp;
	bool is_new;
	struct wsi_told_row *row = told_row_of(log, told, &is_new);
	if (!row)
		return NULL;
	if (!is_new && row->last_file == file && row->last_line == log->piece.line)
		return row;
	const uint64_t rank = wsi_log_rank(log->piece.text);
	if (is_new || row->last_file != file) {
		wsi_log_stamp(log->piece.text, &stamp);
		if (is_new ||
		    (stamp.wall_ns != WSI_NO_NUMBER && row->stamp.wall_ns != WSI_NO_NUMBER &&
		     stamp.wall_ns < row->stamp.wall_ns))
			set_first(log, row, told, rank, &stamp);
	}
	if (told->gpu)
		add_gpu(row, told->gpu);
	if (rank != WSI_NO_NUMBER)
		wsi_few_add(&row->ranks, rank);
	row->count++;
	row->last_file = file;
	row->last_line = log->piece.line;
	return row;
}

/* ---- files ---- */

/* Lets go of what was read: a log of any size then takes no memory. */
static const size_t step = (size_t)16 << 20;

/* `file` may be NULL: the bytes are the caller's. */
static enum ws_status log_file_take(struct ws_log *log, const char *name, struct ws_str bytes,
				    struct wsi_file *file, struct ws_error *err)
{
	struct wsi_log_scan scan = { .words = &log->words, .bytes = bytes };
	size_t released = 0;
	const char *kept = wsi_arena_str(&log->arena, name, strlen(name));
	if (!kept ||
	    !wsi_grow(&log->file, &log->cap_files, log->n_files, sizeof *log->file, UINT32_MAX))
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a log");
	log->file[log->n_files++] = kept;
	while (released < bytes.len) {
		const size_t until = bytes.len - released > step ? released + step : bytes.len;
		while (wsi_log_scan_next(&scan, until, &log->piece))
			wsi_log_piece(log);
		if (file && until < bytes.len)
			wsi_file_release(file, until);
		released = until;
	}
	const bool unended = bytes.len && bytes.ptr[bytes.len - 1] != '\n';
	log->n_lines += scan.line_ends + unended;
	return log->no_memory ? wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a log") : WS_OK;
}

enum ws_status ws_log_take(struct ws_log *log, const char *name, const char *bytes, size_t len,
			   struct ws_error *err)
{
	return log_file_take(log, name, (struct ws_str){ bytes, len }, NULL, err);
}

enum ws_status ws_log_read(struct ws_log *log, const char *path, uint64_t max_unpacked_bytes,
			   bool *ret_is_cut, struct ws_error *err)
{
	struct wsi_file_options options = { .max_unpacked_bytes = max_unpacked_bytes };
	struct wsi_file file;
	enum ws_status st = wsi_file_open_any(path, &options, &file, err);
	if (st != WS_OK)
		return st;
	struct ws_str bytes = { (const char *)file.bytes.ptr, file.bytes.len };
	*ret_is_cut = file.is_cut || file.is_damaged;
	st = wsi_str_begins(bytes, "\177ELF")
		     ? wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "an ELF file is no log")
		     : log_file_take(log, path, bytes, &file, err);
	wsi_file_close(&file);
	return st;
}
