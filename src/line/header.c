/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line table headers, DWARF 2 to 5.
 *
 *   unit_length | version | [5: address size, selector size] | header_length |
 *   min_inst | [4+: max_ops] | is_stmt | line_base | line_range | opcode_base | lengths |
 *   directories | files | [NVIDIA: u32 string base] |<- header_length ends here
 *   program                                         |<- unit_length ends here
 *
 * [public doc: DWARF 5 section 6.2.4; DWARF 2 section 6.2.4] NVIDIA's word has no mark of its own:
 * it is there when exactly 4 bytes are left. [measured: every cubin of the corpus]
 */
#include "line/map.h"

#include "base/form.h"

enum {
	/* content types of DWARF 5 headers [public doc: DWARF 5 section 7.22] */
	LNCT_PATH = 1,
	LNCT_DIRECTORY_INDEX = 2,
	LNCT_TIMESTAMP = 3,
	LNCT_SIZE = 4,
	LNCT_MD5 = 5,
	MAX_FORMATS = 255, /* their count is a byte */
};

struct entry_format {
	uint64_t content, form;
};

/* One value of a DWARF 5 entry: what applies is set. */
struct header_value {
	uint64_t number;
	const char *text;
	const uint8_t *md5;
};

struct header_reader {
	struct ws_line_map *map;
	struct wsi_line_table *table;
	struct wsi_reader r; /* over the header only */
	unsigned offset_bytes;
};

static enum ws_status add_dir(struct header_reader *h, const char *dir)
{
	struct wsi_line_table *table = h->table;
	enum ws_status st = wsi_line_grow(h->map, &table->dirs, &table->dirs_cap, table->pub.n_dirs,
					  sizeof *table->dirs);
	if (st == WS_OK)
		table->dirs[table->pub.n_dirs++] = dir;
	return st;
}

static enum ws_status add_line_file(struct header_reader *h, struct ws_line_file file)
{
	struct wsi_line_table *table = h->table;
	enum ws_status st = wsi_line_grow(h->map, &table->files, &table->files_cap,
					  table->pub.n_files, sizeof *table->files);
	if (st == WS_OK)
		table->files[table->pub.n_files++] = file;
	return st;
}

static const char *table_dir(const struct wsi_line_table *table, uint64_t index)
{
	return index < table->pub.n_dirs ? table->dirs[index] : NULL;
}

/* ---- DWARF 2 to 4 ---- */

static enum ws_status read_lists_v2(struct header_reader *h)
{
	struct wsi_reader *r = &h->r;
	enum ws_status st = add_dir(h, NULL);
	if (st == WS_OK)
		st = add_line_file(h, (struct ws_line_file){ .name = "" });
	while (st == WS_OK) {
		struct ws_str dir = wsi_read_cstr(r);
		if (r->failed || dir.len == 0)
			break;
		st = add_dir(h, dir.ptr);
	}
	while (!r->failed && st == WS_OK) {
		struct ws_str name = wsi_read_cstr(r);
		if (r->failed || name.len == 0)
			break;
		struct ws_line_file file = { .name = name.ptr };
		file.dir = table_dir(h->table, wsi_read_uleb(r));
		file.mtime = wsi_read_uleb(r);
		file.size_bytes = wsi_read_uleb(r);
		if (!r->failed)
			st = add_line_file(h, file);
	}
	return st;
}

/* ---- DWARF 5 ---- */

/* False: a form that cannot be skipped. */
static bool read_form(struct header_reader *h, uint64_t form, struct header_value *ret)
{
	struct wsi_reader *r = &h->r;
	uint64_t n_block = 0;
	switch (form) {
	case WSI_FORM_STRING:
		ret->text = wsi_read_cstr(r).ptr;
		return true;
	case WSI_FORM_STRP:
		ret->text = wsi_line_str(&h->map->names, wsi_read_uint(r, h->offset_bytes));
		return true;
	case WSI_FORM_LINE_STRP:
		ret->text = wsi_line_str(&h->map->line_names, wsi_read_uint(r, h->offset_bytes));
		return true;
	case WSI_FORM_DATA1:
	case WSI_FORM_FLAG:
		ret->number = wsi_read_u8(r);
		return true;
	case WSI_FORM_DATA2:
		ret->number = wsi_read_u16(r);
		return true;
	case WSI_FORM_DATA4:
		ret->number = wsi_read_u32(r);
		return true;
	case WSI_FORM_DATA8:
		ret->number = wsi_read_u64(r);
		return true;
	case WSI_FORM_SEC_OFFSET:
		ret->number = wsi_read_uint(r, h->offset_bytes);
		return true;
	case WSI_FORM_UDATA:
		ret->number = wsi_read_uleb(r);
		return true;
	case WSI_FORM_SDATA:
		ret->number = (uint64_t)wsi_read_sleb(r);
		return true;
	case WSI_FORM_DATA16:
		ret->md5 = wsi_read_span(r, 16).ptr;
		return true;
	case WSI_FORM_BLOCK:
		n_block = wsi_read_uleb(r);
		break;
	case WSI_FORM_BLOCK1:
		n_block = wsi_read_u8(r);
		break;
	case WSI_FORM_BLOCK2:
		n_block = wsi_read_u16(r);
		break;
	case WSI_FORM_BLOCK4:
		n_block = wsi_read_u32(r);
		break;
	default:
		return false;
	}
	wsi_reader_skip(r, n_block);
	return true;
}

static void entry_set(struct header_reader *h, struct ws_line_file *file, uint64_t content,
		      const struct header_value *value)
{
	switch (content) {
	case LNCT_PATH:
		file->name = value->text;
		break;
	case LNCT_DIRECTORY_INDEX:
		file->dir = table_dir(h->table, value->number);
		break;
	case LNCT_TIMESTAMP:
		file->mtime = value->number;
		break;
	case LNCT_SIZE:
		file->size_bytes = value->number;
		break;
	case LNCT_MD5:
		file->md5 = value->md5;
		break;
	default: /* vendors' content is skipped by its form */
		break;
	}
}

/* One list of entries: directories or files. WS_MALFORMED when it cannot be read on. */
static enum ws_status read_list_v5(struct header_reader *h, bool is_dirs)
{
	struct wsi_reader *r = &h->r;
	struct entry_format formats[MAX_FORMATS];
	unsigned n_formats = wsi_read_u8(r);
	for (unsigned i = 0; i < n_formats; i++) {
		formats[i].content = wsi_read_uleb(r);
		formats[i].form = wsi_read_uleb(r);
	}
	uint64_t n_entries = wsi_read_uleb(r);
	if (r->failed)
		return WS_MALFORMED;
	/* Each entry has at least a byte: a count beyond that lies, or any of entries of nothing.
	 */
	if (n_entries > wsi_reader_left(r) || (n_entries > 0 && n_formats == 0))
		return WS_MALFORMED;
	enum ws_status st = WS_OK;
	for (uint64_t i = 0; i < n_entries && st == WS_OK; i++) {
		struct ws_line_file file = { 0 };
		for (unsigned k = 0; k < n_formats; k++) {
			struct header_value value = { 0 };
			if (!read_form(h, formats[k].form, &value) || r->failed)
				return WS_MALFORMED;
			entry_set(h, &file, formats[k].content, &value);
		}
		if (!file.name) /* its string is outside the string section */
			file.name = "";
		st = is_dirs ? add_dir(h, file.name) : add_line_file(h, file);
	}
	return st;
}

/* ---- a header ---- */

/* The fixed part; false when it makes no program readable. */
static bool read_fixed(struct header_reader *h)
{
	struct ws_line_table *t = &h->table->pub;
	struct wsi_reader *r = &h->r;
	t->min_inst_length = wsi_read_u8(r);
	t->max_ops = t->version >= 4 ? wsi_read_u8(r) : 1;
	t->default_is_stmt = wsi_read_u8(r) != 0;
	t->line_base = (int8_t)wsi_read_u8(r);
	t->line_range = wsi_read_u8(r);
	t->opcode_base = wsi_read_u8(r);
	if (r->failed || t->max_ops == 0 || t->line_range == 0 || t->opcode_base == 0)
		return false;
	t->opcode_lengths = wsi_read_span(r, t->opcode_base - 1u).ptr;
	return !r->failed;
}

/* The directories, the files and NVIDIA's word. */
static enum ws_status read_lists(struct header_reader *h)
{
	struct ws_line_table *t = &h->table->pub;
	struct wsi_reader *r = &h->r;
	enum ws_status st = WS_OK;
	if (t->version >= 5) {
		st = read_list_v5(h, true);
		if (st == WS_OK)
			st = read_list_v5(h, false);
	} else {
		st = read_lists_v2(h);
	}
	if (st == WS_NO_MEMORY || st == WS_LIMIT)
		return st;
	wsi_line_shrink(h->map, &h->table->dirs, &h->table->dirs_cap, t->n_dirs,
			sizeof *h->table->dirs);
	wsi_line_shrink(h->map, &h->table->files, &h->table->files_cap, t->n_files,
			sizeof *h->table->files);
	t->dirs = h->table->dirs;
	t->files = h->table->files;
	if (st != WS_OK || r->failed) {
		wsi_line_diag(&h->map->diags, WS_MALFORMED,
			      r->in.origin + (r->failed ? r->fail_pos : r->pos),
			      "directory or file list of the line table at 0x%" PRIx64, t->sec_off);
		return WS_OK;
	}
	if (wsi_reader_left(r) == 4) {
		uint64_t word_off = wsi_reader_off(r) - h->map->line.origin;
		const struct ws_line_reloc *reloc = wsi_line_reloc_find(h->map, word_off);
		t->has_str_base = true;
		t->str_base = wsi_read_u32(r);
		if (reloc)
			t->str_base =
				(uint32_t)(reloc->value + (reloc->add_stored ? t->str_base : 0));
	}
	return WS_OK;
}

static void table_fini(const struct ws_line_map *map, struct wsi_line_table *table)
{
	wsi_line_refund(map, table->dirs_cap * sizeof *table->dirs);
	wsi_line_refund(map, table->files_cap * sizeof *table->files);
	wsi_free(table->dirs);
	wsi_free(table->files);
}

/* A table whose length is known: `r` is over it, behind the length. */
static enum ws_status read_table(struct ws_line_map *map, struct wsi_line_table *table,
				 struct wsi_reader *r)
{
	struct ws_line_table *t = &table->pub;
	uint64_t file_off = map->line.origin + t->sec_off;
	struct header_reader h = { .map = map, .table = table };
	h.offset_bytes = t->dwarf64 ? 8 : 4;
	t->version = wsi_read_u16(r);
	if (!r->failed && (t->version < 2 || t->version > 5)) {
		wsi_line_diag(&map->diags, WS_MALFORMED, file_off,
			      "line table of version %u (2 to 5 are known)", t->version);
		return WS_MALFORMED;
	}
	if (t->version >= 5) {
		t->address_size = wsi_read_u8(r);
		wsi_reader_skip(r, 1); /* segment selector size */
	}
	t->header_length = wsi_read_uint(r, h.offset_bytes);
	uint64_t header_at = wsi_reader_off(r);
	struct ws_span header = wsi_read_span(r, t->header_length);
	if (r->failed) {
		wsi_line_diag(&map->diags, WS_MALFORMED, file_off,
			      "line table header goes past the end of its table");
		return WS_MALFORMED;
	}
	header.origin = header_at;
	h.r = wsi_reader_of(header);
	h.r.big_endian = map->big_endian;
	t->program_off = wsi_reader_off(r) - map->line.origin;
	if (!read_fixed(&h)) {
		wsi_line_diag(&map->diags, WS_MALFORMED, file_off,
			      "line table header without usable parameters");
		return WS_MALFORMED;
	}
	return read_lists(&h);
}

enum ws_status wsi_line_read_headers(struct ws_line_map *map, struct ws_error *err)
{
	struct wsi_reader all = wsi_reader_of(map->line);
	all.big_endian = map->big_endian;
	while (wsi_reader_left(&all) > 0) {
		struct wsi_line_table table = { .pub.sec_off = all.pos };
		uint64_t file_off = wsi_reader_off(&all), length = wsi_read_u32(&all);
		if (length == UINT32_MAX) {
			table.pub.dwarf64 = true;
			length = wsi_read_u64(&all);
		} else if (length >= 0xfffffff0u) { /* reserved by DWARF: no way to the next one */
			wsi_line_diag(&map->diags, WS_MALFORMED, file_off,
				      "line table of reserved length 0x%" PRIx64, length);
			return WS_OK;
		}
		if (all.failed) {
			wsi_line_diag(&map->diags, WS_TRUNCATED, file_off,
				      "line table cut inside its length");
			return WS_OK;
		}
		if (length == 0) /* padding */
			continue;
		if (length > wsi_reader_left(&all))
			wsi_line_diag(&map->diags, WS_TRUNCATED, file_off,
				      "line table of %" PRIu64 " bytes, of which %zu are there",
				      length, wsi_reader_left(&all));
		table.pub.unit_length = length;
		struct wsi_reader r = wsi_reader_of(
			wsi_read_span(&all, wsi_min_u64(length, wsi_reader_left(&all))));
		r.big_endian = map->big_endian;
		table.pub.end_off = all.pos;
		enum ws_status st = read_table(map, &table, &r);
		if (st == WS_OK)
			st = wsi_line_grow(map, &map->table, &map->tables_cap, map->n_tables,
					   sizeof *map->table);
		if (st == WS_OK)
			map->table[map->n_tables++] = table;
		else
			table_fini(map, &table);
		if (st == WS_NO_MEMORY)
			return wsi_fail(err, st, WS_NO_OFFSET, "line table header");
		if (st == WS_LIMIT) {
			wsi_line_tell_limit(map, &map->diags, file_off);
			return WS_OK;
		}
	}
	return WS_OK;
}
