/* SPDX-License-Identifier: Apache-2.0 */
/* Making and unmaking a map: relocations, parts of programs, owners. See map.h. */
#include "line/map.h"

#include "line/program.h"

/* ---- memory ---- */

void wsi_line_account_init(struct wsi_line_account *account)
{
	atomic_init(&account->left, WSI_LINE_FREE_BYTES);
}

bool wsi_line_charge(const struct ws_line_map *map, size_t bytes)
{
	struct wsi_line_costs *costs = map->costs;
	if (bytes > INT64_MAX / 2)
		return false;
	int64_t amount = (int64_t)bytes;
	if (atomic_fetch_sub(&costs->account->left, amount) < amount) {
		atomic_fetch_add(&costs->account->left, amount);
		return false;
	}
	atomic_fetch_add(&costs->charged, amount);
	return true;
}

void wsi_line_refund(const struct ws_line_map *map, size_t bytes)
{
	atomic_fetch_add(&map->costs->account->left, (int64_t)bytes);
	atomic_fetch_sub(&map->costs->charged, (int64_t)bytes);
}

enum ws_status wsi_line_grow(const struct ws_line_map *map, void *ptr, size_t *cap, size_t n,
			     size_t size)
{
	if (n < *cap)
		return WS_OK;
	const size_t heap_bytes = 64; /* what a block takes besides its bytes, at most */
	size_t want = *cap + *cap / 2 + 4, paid = (want - *cap) * size + (*cap ? 0 : heap_bytes);
	if (want > UINT32_MAX || !wsi_line_charge(map, paid))
		return WS_LIMIT;
	void *old;
	memcpy(&old, ptr, sizeof old); /* `ptr` is the address of any object pointer */
	void *grown = wsi_realloc_array(old, want, size);
	if (!grown) {
		wsi_line_refund(map, paid);
		return WS_NO_MEMORY;
	}
	memcpy(ptr, &grown, sizeof grown);
	*cap = want;
	return WS_OK;
}

void wsi_line_shrink(const struct ws_line_map *map, void *ptr, size_t *cap, size_t n, size_t size)
{
	void *array, *fit = NULL;
	memcpy(&array, ptr, sizeof array);
	if (array && n > 0 && n < *cap)
		fit = wsi_realloc_array(array, n, size);
	if (!fit) /* it stays as it is */
		return;
	memcpy(ptr, &fit, sizeof fit);
	wsi_line_refund(map, (*cap - n) * size);
	*cap = n;
}

void wsi_line_tell_limit(const struct ws_line_map *map, struct wsi_line_diags *diags,
			 uint64_t file_off)
{
	if (!atomic_exchange(&map->costs->told, true))
		wsi_line_diag(diags, WS_LIMIT, file_off,
			      "the line tables need too much memory for their size; "
			      "what follows is left out");
}

/* What the bytes of the section are good for. */
static int64_t earned(const struct ws_line_map *map)
{
	return (int64_t)wsi_min_u64(map->line.len, INT64_MAX / 32) * WSI_LINE_BYTES_PER_BYTE;
}

static bool costs_init(struct ws_line_map *map, struct wsi_line_account *account)
{
	map->costs = wsi_zalloc(sizeof *map->costs);
	if (!map->costs)
		return false;
	wsi_line_account_init(&map->costs->own);
	map->costs->account = account ? account : &map->costs->own;
	atomic_fetch_add(&map->costs->account->left, earned(map));
	return true;
}

static void costs_fini(struct ws_line_map *map)
{
	if (map->costs) {
		atomic_fetch_add(&map->costs->account->left,
				 atomic_load(&map->costs->charged) - earned(map));
		wsi_free(map->costs->seqs_before);
	}
	wsi_free(map->costs);
}

/* ---- relocations ---- */

enum {
	PART_BYTES = 2048, /* of short stretches, so many at least are a part */
};

static int reloc_compare(const void *a, const void *b)
{
	const struct ws_line_reloc *x = a, *y = b;
	if (x->sec_off != y->sec_off)
		return WSI_ORDER(x->sec_off, y->sec_off);
	return WSI_ORDER(x->owner, y->owner); /* one order for damaged input */
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
	bool sorted = true;
	for (size_t i = 1; i < map->n_relocs && sorted; i++)
		sorted = reloc_compare(&map->reloc[i - 1], &map->reloc[i]) <= 0;
	if (!sorted) /* needs as much memory again */
		qsort(map->reloc, map->n_relocs, sizeof *map->reloc, reloc_compare);
	return WS_OK;
}

/* Index of the first relocation at or behind `sec_off`. */
static size_t reloc_lower(const struct ws_line_map *map, uint64_t sec_off)
{
	return WSI_BISECT(i, 0, map->n_relocs, map->reloc[i].sec_off < sec_off);
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

/* Adds a part, the stretches that begin at the relocations first ... end - 1. */
static enum ws_status map_add_part(struct ws_line_map *map, size_t table, uint64_t start,
				   uint64_t end, size_t first_reloc, size_t end_reloc)
{
	if (start == end)
		return WS_OK;
	enum ws_status st =
		wsi_line_grow(map, &map->part, &map->parts_cap, map->n_parts, sizeof *map->part);
	if (st != WS_OK)
		return st;
	struct wsi_line_part *part = &map->part[map->n_parts++];
	memset(part, 0, sizeof *part);
	part->start = start;
	part->end = end;
	part->table = (uint32_t)table;
	part->first_reloc = (uint32_t)first_reloc;
	part->end_reloc = (uint32_t)end_reloc;
	map->n_anchored += wsi_line_is_anchored(part);
	return WS_OK;
}

static enum ws_status map_add_table_parts(struct ws_line_map *map, size_t index)
{
	const struct ws_line_table *table = &map->table[index].pub;
	size_t first = reloc_lower(map, table->program_off);
	size_t end = reloc_lower(map, table->end_off);
	for (size_t i = first; i < end; i++) {
		if (!is_anchor(map, table, map->reloc[i].sec_off))
			end = first; /* the whole program is one part */
	}
	uint64_t start = table->program_off;
	enum ws_status st = WS_OK;
	size_t from = first; /* the part's first relocation */
	for (size_t i = first; i < end && st == WS_OK; i++) {
		uint64_t next = map->reloc[i].sec_off - 3;
		if (i > first && next - start < PART_BYTES)
			continue;
		st = map_add_part(map, index, start, next, from, i);
		start = next;
		from = i;
	}
	return st == WS_OK ? map_add_part(map, index, start, table->end_off, from, end) : st;
}

static int owner_compare(const void *a, const void *b)
{
	const struct wsi_line_owner *x = a, *y = b;
	return WSI_ORDER_THEN(x->owner, y->owner, WSI_ORDER(x->part, y->part));
}

/* Adds who owns the stretches of a part. */
static enum ws_status part_add_owners(struct ws_line_map *map, size_t index)
{
	const struct wsi_line_part *part = &map->part[index];
	struct wsi_line_stretch it = wsi_line_stretches(part);
	enum ws_status st = WS_OK;
	for (uint32_t reloc = it.next; st == WS_OK && wsi_line_stretch_next(map, part, &it);
	     reloc = it.next) {
		const struct wsi_line_owner owner = { map->reloc[reloc].owner, (uint32_t)index };
		if (map->n_owners > 0 && owner_compare(&map->owner[map->n_owners - 1], &owner) == 0)
			continue;
		st = wsi_line_grow(map, &map->owner, &map->owners_cap, map->n_owners,
				   sizeof *map->owner);
		if (st == WS_OK)
			map->owner[map->n_owners++] = owner;
	}
	return st;
}

static enum ws_status map_make_parts(struct ws_line_map *map, struct ws_error *err)
{
	enum ws_status st = WS_OK;
	for (size_t i = 0; i < map->n_tables && st == WS_OK; i++)
		st = map_add_table_parts(map, i);
	for (size_t i = 0; i < map->n_parts && st == WS_OK; i++) {
		if (wsi_line_is_anchored(&map->part[i]))
			st = part_add_owners(map, i);
	}
	if (st == WS_NO_MEMORY)
		return wsi_fail(err, st, WS_NO_OFFSET, "line map parts");
	if (st == WS_LIMIT)
		wsi_line_tell_limit(map, &map->diags, map->line.origin);
	if (map->n_owners < 2)
		return WS_OK;
	qsort(map->owner, map->n_owners, sizeof *map->owner, owner_compare);
	size_t n = 1; /* an owner may have several stretches in a part */
	for (size_t i = 1; i < map->n_owners; i++) {
		if (owner_compare(&map->owner[i], &map->owner[n - 1]) != 0)
			map->owner[n++] = map->owner[i];
	}
	map->n_owners = n;
	return WS_OK;
}

/* ---- the map ---- */

static struct wsi_line_strings strings_of(struct ws_span section)
{
	size_t end = section.len;
	/* names are named by 32 bits, of which the last number is of none */
	while (end > UINT32_MAX || (end > 0 && section.ptr[end - 1] != 0))
		end--;
	return (struct wsi_line_strings){ (const char *)section.ptr, end };
}

enum ws_status wsi_line_create(const struct ws_line_input *input, struct wsi_line_account *account,
			       struct ws_line_map **ret_map, struct ws_error *err)
{
	if (!input || !ret_map || (input->n_relocs && !input->relocs) ||
	    input->n_relocs > UINT32_MAX)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "line map");
	if (input->line.len == 0)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no line table");
	struct ws_line_map *map = wsi_zalloc(sizeof *map);
	if (!map)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "line map");
	map->line = input->line;
	if (!costs_init(map, account)) {
		wsi_free(map);
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "line map");
	}
	map->big_endian = input->big_endian;
	map->names = strings_of(input->str);
	map->line_names = strings_of(input->line_str);
	enum ws_status st = map_copy_relocs(map, input, err);
	if (st == WS_OK)
		st = wsi_line_read_headers(map, err);
	if (st == WS_OK)
		st = map_make_parts(map, err);
	if (st == WS_OK)
		st = wsi_line_find_bases(map, input, err);
	if (st != WS_OK) {
		ws_line_destroy(map);
		return st;
	}
	*ret_map = map;
	return WS_OK;
}

enum ws_status ws_line_create(const struct ws_line_input *input, struct ws_line_map **ret_map,
			      struct ws_error *err)
{
	return wsi_line_create(input, NULL, ret_map, err);
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
	wsi_line_diags_fini(&map->diags);
	costs_fini(map);
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
