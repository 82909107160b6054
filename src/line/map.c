/* SPDX-License-Identifier: Apache-2.0 */
/* Making and unmaking a map: relocations, parts of programs, owners. See map.h. */
#include "line/map.h"

#include "line/program.h"

/* ---- relocations ---- */

static int reloc_compare(const void *a, const void *b)
{
	const struct ws_line_reloc *x = a, *y = b;
	if (x->sec_off != y->sec_off)
		return x->sec_off < y->sec_off ? -1 : 1;
	return x->owner < y->owner ? -1 : x->owner > y->owner; /* one order for damaged input */
}

static enum ws_status map_copy_relocs(struct ws_line_map *map, const struct ws_line_input *input,
				      struct ws_error *err)
{
	if (input->n_relocs == 0)
		return WS_OK;
	map->reloc = wsi_zalloc_array(input->n_relocs, sizeof *map->reloc);
	if (!map->reloc)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "line map relocations");
	memcpy(map->reloc, input->relocs, input->n_relocs * sizeof *map->reloc);
	map->n_relocs = input->n_relocs;
	qsort(map->reloc, map->n_relocs, sizeof *map->reloc, reloc_compare);
	return WS_OK;
}

/* Index of the first relocation at or behind `sec_off`. */
static size_t reloc_lower(const struct ws_line_map *map, uint64_t sec_off)
{
	size_t lo = 0, hi = map->n_relocs;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (map->reloc[mid].sec_off < sec_off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct ws_line_reloc *wsi_line_reloc_find(const struct ws_line_map *map, uint64_t sec_off)
{
	size_t i = reloc_lower(map, sec_off);
	return i < map->n_relocs && map->reloc[i].sec_off == sec_off ? &map->reloc[i] : NULL;
}

/* ---- parts ---- */

/*
 * Whether the word at `sec_off` is the operand of a DW_LNE_set_address (00 len 02) that begins a
 * sequence: first in the program or right behind an end_sequence (00 01 01).
 */
static bool is_anchor(const struct ws_line_map *map, const struct ws_line_table *table,
		      uint64_t sec_off)
{
	if (sec_off < table->program_off + 3 || sec_off >= table->end_off)
		return false;
	const uint8_t *p = wsi_at(map->line, sec_off - 3, 3);
	if (p[0] != 0 || p[1] < 2 || p[1] > 9 || p[2] != DW_LNE_set_address)
		return false;
	if (sec_off == table->program_off + 3)
		return true;
	if (sec_off < table->program_off + 6)
		return false;
	p = wsi_at(map->line, sec_off - 6, 3);
	return p[0] == 0 && p[1] == 1 && p[2] == DW_LNE_end_sequence;
}

static bool map_add_part(struct ws_line_map *map, size_t table, uint64_t start, uint64_t end,
			 const struct ws_line_reloc *anchor)
{
	if (start == end)
		return true;
	if (!wsi_grow(&map->part, &map->parts_cap, map->n_parts, sizeof *map->part, UINT32_MAX))
		return false;
	struct wsi_line_part *part = &map->part[map->n_parts++];
	memset(part, 0, sizeof *part);
	part->start = start;
	part->end = end;
	part->table = (uint32_t)table;
	part->owner = anchor ? anchor->owner : WS_LINE_NO_OWNER;
	part->anchored = anchor != NULL;
	map->n_owners += part->anchored;
	return true;
}

static bool map_add_table_parts(struct ws_line_map *map, size_t index)
{
	const struct ws_line_table *table = &map->table[index].pub;
	size_t first = reloc_lower(map, table->program_off);
	size_t end = reloc_lower(map, table->end_off);
	for (size_t i = first; i < end; i++) {
		if (!is_anchor(map, table, map->reloc[i].sec_off))
			end = first; /* the whole program is one part */
	}
	uint64_t start = table->program_off;
	const struct ws_line_reloc *anchor = NULL;
	for (size_t i = first; i < end; i++) {
		uint64_t next = map->reloc[i].sec_off - 3;
		if (next == start && anchor) /* two relocations of one word: the first counts */
			continue;
		if (!map_add_part(map, index, start, next, anchor))
			return false;
		start = next;
		anchor = &map->reloc[i];
	}
	return map_add_part(map, index, start, table->end_off, anchor);
}

static int owner_compare(const void *a, const void *b)
{
	const struct wsi_line_owner *x = a, *y = b;
	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

static enum ws_status map_make_parts(struct ws_line_map *map, struct ws_error *err)
{
	for (size_t i = 0; i < map->n_tables; i++) {
		if (!map_add_table_parts(map, i))
			return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "line map parts");
	}
	if (map->n_owners == 0)
		return WS_OK;
	map->owner = wsi_zalloc_array(map->n_owners, sizeof *map->owner);
	if (!map->owner)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "line map owners");
	size_t n = 0;
	for (size_t i = 0; i < map->n_parts; i++) {
		if (map->part[i].anchored)
			map->owner[n++] =
				(struct wsi_line_owner){ map->part[i].owner, (uint32_t)i };
	}
	qsort(map->owner, n, sizeof *map->owner, owner_compare);
	return WS_OK;
}

/* ---- the map ---- */

static struct wsi_line_strings strings_of(struct ws_span section)
{
	size_t end = section.len;
	while (end > 0 && section.ptr[end - 1] != 0)
		end--;
	return (struct wsi_line_strings){ (const char *)section.ptr, end };
}

enum ws_status ws_line_create(const struct ws_line_input *input, struct ws_line_map **ret_map,
			      struct ws_error *err)
{
	if (!input || !ret_map || (input->n_relocs && !input->relocs))
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "line map");
	if (input->line.len == 0)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no line table");
	struct ws_line_map *map = wsi_zalloc(sizeof *map);
	if (!map)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "line map");
	map->line = input->line;
	map->big_endian = input->big_endian;
	map->names = strings_of(input->str);
	map->line_names = strings_of(input->line_str);
	enum ws_status st = map_copy_relocs(map, input, err);
	if (st == WS_OK)
		st = wsi_line_read_headers(map, err);
	if (st == WS_OK)
		st = map_make_parts(map, err);
	if (st != WS_OK) {
		ws_line_destroy(map);
		return st;
	}
	*ret_map = map;
	return WS_OK;
}

void ws_line_destroy(struct ws_line_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->n_parts; i++)
		wsi_line_rows_destroy(map->part[i].rows);
	for (size_t i = 0; i < map->n_tables; i++) {
		wsi_free(map->table[i].dirs);
		wsi_free(map->table[i].files);
	}
	wsi_free(map->reloc);
	wsi_free(map->table);
	wsi_free(map->part);
	wsi_free(map->owner);
	wsi_free(map->seqs_before);
	wsi_line_diags_fini(&map->diags);
	wsi_free(map);
}

size_t ws_line_table_count(const struct ws_line_map *map)
{
	return map->n_tables;
}

const struct ws_line_table *ws_line_table_at(const struct ws_line_map *map, size_t index)
{
	assert(index < map->n_tables);
	return &map->table[index].pub;
}

size_t ws_line_path(const struct ws_line_file *file, char *ret_path, size_t cap)
{
	const char *dir = file->dir && *file->dir && file->name[0] != '/' ? file->dir : "";
	int len = snprintf(ret_path, cap, "%s%s%s", dir, *dir ? "/" : "", file->name);
	return len < 0 ? 0 : (size_t)len;
}
