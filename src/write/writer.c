/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a dump: sections, their headers and names. */
#include "write/writer.h"

#include "elf/elf.h"

enum { DUMP_ABI_VERSION = 7 /* NVIDIA's reader takes no other */ };

/* ---- opening and closing ---- */

enum ws_status ws_writer_open(const char *path, const struct ws_writer_options *options,
			      struct ws_writer **ret_writer, struct ws_error *err)
{
	struct ws_writer_options all = { .size = sizeof all };
	if (options)
		memcpy(&all, options, wsi_min_u64(options->size, sizeof all));
	uint32_t driver = all.driver ? all.driver : WS_WRITE_NEWEST;
	if (driver < WS_WRITE_OLDEST || driver > WS_WRITE_NEWEST)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"no layout of driver r%u is known, only r%d to r%d", driver,
				WS_WRITE_OLDEST, WS_WRITE_NEWEST);
	struct ws_writer *writer = wsi_zalloc(sizeof *writer);
	if (!writer)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "a writer of dumps");
	writer->driver = driver;
	for (unsigned kind = 0; kind < WSI_N_KINDS; kind++)
		writer->row_bytes[kind] = wsi_row_bytes((enum wsi_kind)kind, driver);
	struct wsi_outfile_options file = { WSI_ELF_HEADER_BYTES, all.gzip, all.source };
	enum ws_status st = wsi_index_init(&writer->index, err);
	if (st == WS_OK)
		st = wsi_scratch_init(&writer->texts, err);
	if (st == WS_OK)
		st = wsi_scratch_append(&writer->texts, "", 1, err);
	if (st == WS_OK)
		st = wsi_outfile_open(path, &file, &writer->file, err);
	if (st != WS_OK) {
		ws_writer_close(writer);
		return st;
	}
	writer->out = wsi_outfile_stream(writer->file);
	*ret_writer = writer;
	return WS_OK;
}

void ws_writer_close(struct ws_writer *writer)
{
	if (!writer)
		return;
	wsi_outfile_close(writer->file);
	wsi_index_fini(&writer->index);
	wsi_scratch_fini(&writer->texts);
	wsi_free(writer);
}

/* Remembers a failure, so that what lacks something never gets its name. */
static enum ws_status keep_status(struct ws_writer *writer, enum ws_status status)
{
	if (status != WS_OK)
		writer->failed = true;
	return status;
}

/* ---- strings ---- */

enum ws_status wsi_writer_text(struct ws_writer *writer, struct ws_str text, uint64_t *ret_offset,
			       struct ws_error *err)
{
	*ret_offset = 0;
	if (text.len == 0)
		return WS_OK;
	uint32_t hash = 2166136261u; /* FNV-1a */
	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (uint8_t)text.ptr[i]) * 16777619u;
	struct wsi_text_slot *slot = &writer->text_cache[hash % WSI_TEXT_CACHE];
	if (slot->len == text.len && memcmp(slot->bytes, text.ptr, text.len) == 0) {
		*ret_offset = slot->offset;
		return WS_OK;
	}
	uint64_t offset = writer->texts.stream.total;
	enum ws_status st = wsi_scratch_append(&writer->texts, text.ptr, text.len, err);
	if (st == WS_OK)
		st = wsi_scratch_append(&writer->texts, "", 1, err);
	if (st != WS_OK)
		return keep_status(writer, st);
	if (text.len <= sizeof slot->bytes && offset <= UINT32_MAX) {
		slot->offset = (uint32_t)offset;
		slot->len = (uint32_t)text.len;
		memcpy(slot->bytes, text.ptr, text.len);
	}
	*ret_offset = offset;
	return WS_OK;
}

/* ---- sections ---- */

static enum ws_status parent_check(const struct wsi_section *section, struct ws_error *err)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[section->kind];
	if (info->parent == WSI_KIND_NONE)
		return WS_OK;
	if (!section->parent || section->parent->kind != (uint32_t)info->parent)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the parent of %s must be a %s",
				info->words, wsi_kind_infos[info->parent].words);
	if (section->row >= section->parent->n_rows)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "no row %u in the %s, which has %u",
				section->row, wsi_kind_infos[info->parent].words,
				section->parent->n_rows);
	return WS_OK;
}

static bool align(struct wsi_stream *out)
{
	size_t n = (size_t)(-out->total % WSI_DUMP_ALIGNMENT);
	uint8_t *to = wsi_stream_room(out);
	if (!to)
		return false;
	memset(to, 0, WSI_DUMP_ALIGNMENT);
	wsi_stream_take(out, n);
	return true;
}

enum ws_status wsi_write_section_begin(struct ws_writer *writer, const struct wsi_section *section,
				       struct ws_error *err)
{
	const struct wsi_kind_info *info = &wsi_kind_infos[section->kind];
	if (writer->in_section)
		return keep_status(writer,
				   wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
					    "a %s begins inside another section", info->words));
	if (!wsi_writer_has(writer, section->kind))
		return wsi_fail(err, WS_UNSUPPORTED, WS_NO_OFFSET,
				"the layout of r%u has no %s, which came with r%u", writer->driver,
				info->words, info->since);
	enum ws_status st = parent_check(section, err);
	if (st == WS_OK && writer->index.n_sections > UINT32_MAX - 8)
		st = wsi_fail(err, WS_LIMIT, WS_NO_OFFSET, "more sections than ELF can number");
	if (st == WS_OK && writer->most_bytes && writer->out->total > writer->most_bytes)
		st = wsi_fail(err, WS_LIMIT, WS_NO_OFFSET,
			      "rewritten, the dump would have over %" PRIu64
			      " bytes, many times its present size: its sections share bytes",
			      writer->most_bytes);
	if (st == WS_OK && !align(writer->out))
		st = wsi_outfile_failed(writer->file, err);
	if (st != WS_OK)
		return keep_status(writer, st);
	writer->section_off = writer->out->total;
	writer->in_section = true;
	return WS_OK;
}

enum ws_status wsi_write_section_append(struct ws_writer *writer, const void *bytes, size_t n,
					struct ws_error *err)
{
	if (wsi_stream_append(writer->out, bytes, n))
		return WS_OK;
	return keep_status(writer, wsi_outfile_failed(writer->file, err));
}

static_assert((int)WSI_MAX_ROW_BYTES <= WSI_STREAM_ROOM, "no room");

enum ws_status wsi_write_section_row(struct ws_writer *writer, uint32_t n, uint8_t **ret_bytes,
				     struct ws_error *err)
{
	uint8_t *bytes = wsi_stream_room(writer->out);
	if (!bytes)
		return keep_status(writer, wsi_outfile_failed(writer->file, err));
	memset(bytes, 0, n);
	wsi_stream_take(writer->out, n);
	*ret_bytes = bytes;
	return WS_OK;
}

enum ws_status wsi_write_section_end(struct ws_writer *writer, const struct wsi_section *section,
				     struct ws_error *err)
{
	uint64_t size = writer->out->total - writer->section_off;
	writer->in_section = false;
	return keep_status(writer, wsi_index_add(&writer->index, section, size, err));
}

enum ws_status wsi_write_section_write(struct ws_writer *writer, const struct wsi_section *section,
				       const void *bytes, size_t n, struct ws_error *err)
{
	enum ws_status st = wsi_write_section_begin(writer, section, err);
	if (st == WS_OK)
		st = wsi_write_section_append(writer, bytes, n, err);
	return st == WS_OK ? wsi_write_section_end(writer, section, err) : st;
}

void wsi_write_section_as_table(const struct ws_writer *writer, const struct wsi_section *section,
				uint32_t n_rows, struct ws_write_table *ret_table)
{
	if (!ret_table)
		return;
	ret_table->kind = section->kind;
	ret_table->section = writer->index.n_sections - 1;
	ret_table->n_rows = n_rows;
	wsi_path_of(section, ret_table->path);
}

/* ---- the end ---- */

static void elf_header_fill(uint8_t head[WSI_ELF_HEADER_BYTES], uint64_t headers_off)
{
	memset(head, 0, WSI_ELF_HEADER_BYTES);
	memcpy(head,
	       "\x7f"
	       "ELF\2\1\1",
	       7); /* 64 bits, little endian, version 1 */
	head[7] = WSI_ELFOSABI_CUDA;
	head[8] = DUMP_ABI_VERSION;
	wsi_store_u16(head + 16, WSI_ET_CORE);
	wsi_store_u16(head + 18, WSI_EM_CUDA);
	wsi_store_u32(head + 20, 1);
	wsi_store_u64(head + 40, headers_off);
	wsi_store_u16(head + 52, WSI_ELF_HEADER_BYTES);
	wsi_store_u16(head + 58, WSI_SHDR_BYTES);
	wsi_store_u16(head + 62, WSI_SHN_XINDEX); /* e_shnum stays 0: see section 0 */
}

/* Where the next of the last parts begins. */
static enum ws_status align_end(struct ws_writer *writer, uint64_t *ret_off, struct ws_error *err)
{
	if (!align(writer->out))
		return wsi_outfile_failed(writer->file, err);
	*ret_off = writer->out->total;
	return WS_OK;
}

static enum ws_status halves_add(struct ws_writer *writer, struct ws_error *err)
{
	uint8_t head[] = WSI_HALVES_NOTE, word[4];
	wsi_store_u32(head + 4, writer->n_halves * (uint32_t)sizeof word);
	enum ws_status st = wsi_outfile_append(writer->file, head, sizeof head, err);
	for (uint32_t i = 0; i < writer->n_halves && st == WS_OK; i++) {
		wsi_store_u32(word, writer->halves[i]);
		st = wsi_outfile_append(writer->file, word, sizeof word, err);
	}
	return st;
}

static enum ws_status map_add(struct ws_writer *writer, struct ws_error *err)
{
	uint8_t head[] = WSI_MAP_NOTE;
	wsi_store_u32(head + 4, (uint32_t)writer->map.len);
	enum ws_status st = wsi_outfile_append(writer->file, head, sizeof head, err);
	return st == WS_OK ? wsi_outfile_append(writer->file, writer->map.ptr, writer->map.len, err)
			   : st;
}

static enum ws_status incomplete_add(struct ws_writer *writer, struct ws_error *err)
{
	uint8_t note[WSI_NOTE_BYTES + WSI_INCOMPLETE_WORDS];
	memcpy(note, WSI_INCOMPLETE_NOTE, WSI_NOTE_BYTES);
	wsi_store_u32(note + WSI_NOTE_BYTES,
		      (uint32_t)writer->hides | (writer->in_doubt ? WSI_INCOMPLETE_DOUBT : 0));
	return wsi_outfile_append(writer->file, note, sizeof note, err);
}

static enum ws_status stripped_add(struct ws_writer *writer, struct ws_error *err)
{
	uint8_t note[WSI_NOTE_BYTES + WSI_STRIPPED_WORDS];
	memcpy(note, WSI_STRIPPED_NOTE, WSI_NOTE_BYTES);
	wsi_store_u32(note + WSI_NOTE_BYTES, writer->left_out);
	wsi_store_u32(note + WSI_NOTE_BYTES + 4, writer->stripped);
	return wsi_outfile_append(writer->file, note, sizeof note, err);
}

static enum ws_status note_add(struct ws_writer *writer, struct wsi_last_sections *last,
			       struct ws_error *err)
{
	bool stripped = writer->left_out || writer->stripped;
	if (!writer->incomplete && !stripped && !writer->n_halves && !writer->map.len)
		return WS_OK;
	enum ws_status st = align_end(writer, &last->note_off, err);
	if (st == WS_OK && writer->incomplete)
		st = incomplete_add(writer, err);
	if (st == WS_OK && stripped)
		st = stripped_add(writer, err);
	if (st == WS_OK && writer->n_halves)
		st = halves_add(writer, err);
	if (st == WS_OK && writer->map.len)
		st = map_add(writer, err);
	last->note_bytes = writer->out->total - last->note_off;
	return st;
}

void ws_writer_incomplete(struct ws_writer *writer, enum ws_hides hides)
{
	writer->incomplete = true;
	writer->hides = hides;
}

void ws_writer_stripped(struct ws_writer *writer, uint32_t left_out, uint32_t stripped)
{
	writer->left_out = left_out;
	writer->stripped = stripped;
}

enum ws_status ws_writer_commit(struct ws_writer *writer, struct ws_error *err)
{
	if (writer->failed || writer->in_section)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET, "the dump is not complete: %s",
				writer->failed ? "an earlier call failed" : "a section is open");
	struct wsi_last_sections last = { .texts_bytes = writer->texts.stream.total };
	uint64_t headers_off = 0;
	enum ws_status st = note_add(writer, &last, err);
	if (st == WS_OK)
		st = align_end(writer, &last.texts_off, err);
	if (st == WS_OK)
		st = wsi_outfile_append_scratch(writer->file, &writer->texts, err);
	if (st == WS_OK)
		st = align_end(writer, &last.names_off, err);
	if (st == WS_OK)
		st = wsi_index_write_names(&writer->index, writer->file, err);
	if (st == WS_OK)
		st = align_end(writer, &headers_off, err);
	if (st == WS_OK)
		st = wsi_index_write_headers(&writer->index, writer->file, &last, err);
	if (st != WS_OK)
		return keep_status(writer, st);
	uint8_t head[WSI_ELF_HEADER_BYTES];
	elf_header_fill(head, headers_off);
	writer->failed = true; /* committed once */
	return wsi_outfile_commit(writer->file, head, err);
}
