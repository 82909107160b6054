/* SPDX-License-Identifier: Apache-2.0 */
/* From a source line to its code, through every inlined instance. */
#include "line/map.h"

enum {
	NO_LEVEL = UINT16_MAX, /* the row's chain does not touch the line */
};

static_assert((int)WS_LINE_MAX_DEPTH < (int)NO_LEVEL, "a level is never NO_LEVEL");

struct source_search {
	const struct ws_line_map *map;
	const char *path;
	size_t path_len;
	uint32_t line;
	ws_line_hit_fn *take;
	void *user;
	/* of the table that was looked at last: */
	size_t table;
	bool *is_file; /* owned: by file number */
	/* of the sequence: */
	uint16_t *level; /* owned: of each row */
	size_t level_cap;
};

/* Whether text[0..len) ends with the last `n` bytes of path; false also when it is shorter. */
static bool ends_with(const char *text, size_t len, const char *path, size_t n)
{
	return n <= len && memcmp(text + len - n, path, n) == 0;
}

/* Whether dir/name is the path, or ends with it from the start of a component. */
static bool file_matches(const struct ws_line_file *file, const char *path, size_t path_len)
{
	const char *name = file->name, *dir = file->dir ? file->dir : "";
	size_t name_len = strlen(name);
	if (name[0] == '/')
		dir = "";
	if (path_len <= name_len)
		return ends_with(name, name_len, path, path_len) &&
		       (path_len == name_len || name[name_len - path_len - 1] == '/');
	size_t dir_len = strlen(dir), left = path_len - name_len;
	if (dir_len == 0 || path[left - 1] != '/' || !ends_with(path, path_len, name, name_len))
		return false;
	left--; /* what must come from the directory */
	if (!ends_with(dir, dir_len, path, left))
		return false;
	return left == dir_len || (left > 0 && dir[dir_len - left - 1] == '/');
}

static bool search_table(struct source_search *s, size_t table)
{
	if (s->is_file && s->table == table)
		return true;
	const struct ws_line_table *t = &s->map->table[table].pub;
	wsi_free(s->is_file);
	s->is_file = wsi_zalloc_array(t->n_files + 1, sizeof *s->is_file);
	if (!s->is_file)
		return false;
	s->table = table;
	for (size_t i = t->version < 5 ? 1 : 0; i < t->n_files; i++)
		s->is_file[i] = file_matches(&t->files[i], s->path, s->path_len);
	return true;
}

static bool is_sequence_wanted(const struct source_search *s, const struct wsi_line_rows *rows,
			       const struct wsi_line_seq *seq, size_t at)
{
	if (rows->row[at].line != s->line)
		return false;
	uint32_t number = seq->is_wide ? rows->wide[at].file : rows->row[at].file;
	if (number < s->map->table[s->table].pub.n_files)
		return s->is_file[number];
	const struct ws_line_file *file = wsi_line_file(s->map, rows, number);
	return file && file_matches(file, s->path, s->path_len);
}

/* Levels of all rows: a row has that of its call site plus one, and call sites come first. */
static bool search_levels(struct source_search *s, const struct wsi_line_rows *rows,
			  const struct wsi_line_seq *seq, bool *ret_any)
{
	if (s->level_cap < seq->n_rows) {
		uint16_t *grown = wsi_realloc_array(s->level, seq->n_rows, sizeof *grown);
		if (!grown)
			return false;
		s->level = grown;
		s->level_cap = seq->n_rows;
	}
	*ret_any = false;
	for (size_t i = 0; i < seq->n_rows; i++) {
		const struct wsi_line_narrow *row = &rows->row[seq->first_row + i];
		s->level[i] = NO_LEVEL;
		if (is_sequence_wanted(s, rows, seq, seq->first_row + i))
			s->level[i] = 0;
		else if (wsi_line_depth(row) > 0 && s->level[row->context - 1] != NO_LEVEL)
			s->level[i] = (uint16_t)(s->level[row->context - 1] + 1);
		*ret_any |= s->level[i] != NO_LEVEL;
	}
	return true;
}

/* False: the caller has enough. */
static bool search_hits(struct source_search *s, const struct wsi_line_rows *rows, size_t index)
{
	const struct wsi_line_seq *seq = &rows->seq[index];
	struct ws_line_seq out;
	wsi_line_seq_out(rows, index, &out);
	for (size_t i = 0; i + 1 < seq->n_rows; i++) {
		size_t at = wsi_line_by_address(rows, seq, i);
		size_t next = wsi_line_by_address(rows, seq, i + 1);
		struct ws_line_hit hit = {
			.seq = &out,
			.row = (uint32_t)at + 1,
			.level = s->level[at],
			.low = wsi_line_address(rows, seq, at),
			.high = wsi_line_address(rows, seq, next),
		};
		const struct wsi_line_narrow *row = &rows->row[seq->first_row + at];
		if (hit.level == NO_LEVEL || hit.low == hit.high ||
		    (wsi_line_flags(row) & WS_LINE_END_SEQUENCE))
			continue;
		if (!s->take(s->user, &hit))
			return false;
	}
	return true;
}

static enum ws_status search_run(struct source_search *s, struct ws_error *err)
{
	bool more = true;
	for (size_t p = 0; p < s->map->n_parts && more; p++) {
		const struct wsi_line_rows *rows = wsi_line_part_rows(s->map, p);
		if (!rows || !search_table(s, s->map->part[p].table))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "search for a line");
		for (size_t i = 0; i < rows->n_seqs && more; i++) {
			bool any = false;
			if (!search_levels(s, rows, &rows->seq[i], &any))
				return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET,
						"search for a line");
			more = !any || search_hits(s, rows, i);
		}
	}
	return WS_OK;
}

static bool any_file(const struct ws_line_map *map, const char *path, size_t path_len)
{
	for (size_t t = 0; t < map->n_tables; t++) {
		const struct ws_line_table *table = &map->table[t].pub;
		for (size_t i = table->version < 5 ? 1 : 0; i < table->n_files; i++) {
			if (file_matches(&table->files[i], path, path_len))
				return true;
		}
	}
	return false;
}

enum ws_status ws_line_find_source(const struct ws_line_map *map, const char *path, uint32_t line,
				   ws_line_hit_fn *take, void *user, struct ws_error *err)
{
	struct source_search s = {
		.map = map,
		.path = path,
		.path_len = strlen(path),
		.line = line,
		.take = take,
		.user = user,
	};
	if (s.path_len == 0 || !any_file(map, path, s.path_len))
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no line table names this file");
	enum ws_status st = search_run(&s, err);
	wsi_free(s.is_file);
	wsi_free(s.level);
	return st;
}
