/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of sections until the end, and what is made of it then. */
#include "write/index.h"

#include "elf/elf.h"
#include "write/pack.h"

/* How the driver calls sections: ".cudbg." WORD PATH, where each level of the tree adds LABEL and
 * the row number to the path [public doc: cudacoredump.h of the driver branches; measured: cuda-gdb
 * 12.4 opens files with these]. */
#define KIND(word, label)                                                          \
	{                                                                          \
		".cudbg." word, sizeof ".cudbg." word - 1, label, sizeof label - 1 \
	}
static const struct {
	char start[18]; /* of the name */
	uint8_t start_len;
	char label[5]; /* of its rows; "": they add nothing */
	uint8_t label_len;
} kind_names[WSI_N_KINDS] = {
	[WSI_KIND_MANAGED] = KIND("global", ""),    [WSI_KIND_GLOBAL] = KIND("global", ""),
	[WSI_KIND_LOCAL] = KIND("local", ""),       [WSI_KIND_SHARED] = KIND("shared", ""),
	[WSI_KIND_REGS] = KIND("regs", ""),         [WSI_KIND_IMAGE] = KIND("elfimg", ""),
	[WSI_KIND_RELOCATED] = KIND("relfimg", ""), [WSI_KIND_FRAMES] = KIND("bt", ""),
	[WSI_KIND_DEVICE] = KIND("devtbl", ".dev"), [WSI_KIND_CONTEXT] = KIND("ctxtbl", ".ctx"),
	[WSI_KIND_SM] = KIND("smtbl", ".sm"),       [WSI_KIND_GRID] = KIND("gridtbl", ".grid"),
	[WSI_KIND_BLOCK] = KIND("ctatbl", ".cta"),  [WSI_KIND_WARP] = KIND("wptbl", ".wp"),
	[WSI_KIND_LANE] = KIND("lntbl", ".ln"),     [WSI_KIND_MODULE] = KIND("modtbl", ""),
	[WSI_KIND_PREDS] = KIND("pred", ""),        [WSI_KIND_PARAM] = KIND("param", ""),
	[WSI_KIND_UREGS] = KIND("uregs", ""),       [WSI_KIND_UPREDS] = KIND("upred", ""),
	[WSI_KIND_BANK] = KIND("cbankstbl", ""),    [WSI_KIND_META] = KIND("meta", ""),
	[WSI_KIND_BARRIERS] = KIND("cbu_bar", ""),
};

enum {
	PATH_BYTES = sizeof((struct ws_write_table *)0)->path,
	NAME_BYTES = 128, /* more than any */
	NEW_PARENT = 0x80,
};

/* The names of the last sections, before all others. */
static const char last_names[] = "\0.strtab\0.shstrtab\0.note.warpscope";
enum { TEXTS_NAME = 1, NAMES_NAME = 9, NOTE_NAME = 19 };

static bool has_address(enum wsi_kind kind)
{
	return kind == WSI_KIND_GLOBAL || kind == WSI_KIND_MANAGED || kind == WSI_KIND_LOCAL;
}

static bool is_numbered(enum wsi_kind kind)
{
	return kind == WSI_KIND_GLOBAL || kind == WSI_KIND_MANAGED ||
	       kind_names[wsi_kind_infos[kind].parent].label_len > 0;
}

enum ws_status wsi_index_init(struct wsi_index *index, struct ws_error *err)
{
	index->n_sections = 1;
	index->parent = 0;
	return wsi_scratch_init(&index->entries, err);
}

void wsi_index_fini(struct wsi_index *index)
{
	wsi_scratch_fini(&index->entries);
}

/* ---- names ---- */

static char *put_number(char *to, uint32_t number)
{
	char digits[10];
	unsigned n = 0;
	do
		digits[n++] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	while (n > 0)
		*to++ = digits[--n];
	return to;
}

static unsigned digits_of(uint32_t number)
{
	unsigned n = 1;
	while (number >= 10) {
		number /= 10;
		n++;
	}
	return n;
}

/* What the names of all children of a table begin with, behind the word of their kind. */
static char *put_path(char *to, const struct ws_write_table *table)
{
	size_t len = strnlen(table->path, PATH_BYTES - 1);
	memcpy(to, table->path, len);
	memcpy(to + len, kind_names[table->kind].label, kind_names[table->kind].label_len);
	return to + len + kind_names[table->kind].label_len;
}

void wsi_path_of(const struct wsi_section *section, char ret_path[PATH_BYTES])
{
	char path[PATH_BYTES + NAME_BYTES], *end = path;
	if (section->parent)
		end = put_path(path, section->parent);
	if (section->parent && is_numbered(section->kind))
		end = put_number(end, section->row);
	size_t len = (size_t)wsi_min_u64((size_t)(end - path), PATH_BYTES - 1);
	memcpy(ret_path, path, len);
	ret_path[len] = 0;
}

/* ---- while sections are written ---- */

static void put_uleb(struct wsi_entry *entry, uint64_t value)
{
	while (value >= 0x80) {
		entry->bytes[entry->used++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	entry->bytes[entry->used++] = (uint8_t)value;
}

void wsi_entry_begin(struct wsi_index *index, struct wsi_entry *entry,
		     const struct wsi_section *section)
{
	const struct ws_write_table *parent = section->parent;
	entry->used = 1;
	entry->bytes[0] = (uint8_t)section->kind;
	if (parent) {
		if (parent->section != index->parent) {
			entry->bytes[0] |= NEW_PARENT;
			put_uleb(entry, parent->section);
			char *path = (char *)entry->bytes + entry->used + 1;
			size_t len = (size_t)(put_path(path, parent) - path);
			entry->bytes[entry->used] = (uint8_t)len;
			entry->used += 1 + (unsigned)len;
			index->parent = parent->section;
		}
		put_uleb(entry, section->row);
	}
	if (has_address(section->kind))
		put_uleb(entry, section->address);
	put_uleb(entry, section->entry_bytes);
}

enum ws_status wsi_entry_end(struct wsi_index *index, struct wsi_entry *entry, uint64_t size,
			     struct ws_error *err)
{
	put_uleb(entry, size);
	index->n_sections++;
	return wsi_scratch_append(&index->entries, entry->bytes, entry->used, err);
}

/* ---- in the end ---- */

enum { CHUNK = 64 * 1024 };

/* Goes over all entries. */
struct walk {
	struct wsi_scratch *entries;
	uint8_t *chunk; /* owned: CHUNK bytes */
	uint64_t read;  /* bytes of `entries` read so far */
	struct wsi_reader in;
	/* the entry */
	enum wsi_kind kind;
	uint32_t link, number; /* of its parent: section, row; of global memory: running */
	uint64_t address, entry_bytes, size;
	char path[PATH_BYTES + 8];
	uint8_t path_len; /* of the last parent's children */
	/* where it is */
	uint64_t data_off, name_off;
	uint32_t name_len; /* its end included; 0: names are full */
	uint32_t n_globals;
};

static enum ws_status walk_init(struct walk *walk, struct wsi_index *index, struct ws_error *err)
{
	*walk = (struct walk){ .entries = &index->entries,
			       .chunk = wsi_zalloc(CHUNK),
			       .data_off = WSI_ELF_HEADER_BYTES,
			       .name_off = sizeof last_names };
	return walk->chunk ? WS_OK
			   : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "headers of sections");
}

/* Has a whole entry in `in`, or none at the end. */
static enum ws_status walk_fill(struct walk *walk, struct ws_error *err)
{
	size_t left = wsi_reader_left(&walk->in), n;
	if (left >= WSI_ENTRY_BYTES)
		return WS_OK;
	if (left)
		memmove(walk->chunk, walk->in.in.ptr + walk->in.pos, left);
	enum ws_status st = wsi_scratch_read(walk->entries, walk->read, walk->chunk + left,
					     CHUNK - left, &n, err);
	if (st != WS_OK)
		return st;
	walk->read += n;
	walk->in = wsi_reader_of((struct ws_span){ walk->chunk, left + n, 0 });
	return WS_OK;
}

/* Nearly all numbers here have one byte or two. */
static uint64_t walk_uleb(struct walk *walk)
{
	struct wsi_reader *in = &walk->in;
	if (wsi_reader_left(in) < 2)
		return wsi_read_uleb(in);
	const uint8_t *at = in->in.ptr + in->pos;
	if (at[0] < 0x80) {
		in->pos++;
		return at[0];
	}
	if (at[1] < 0x80) {
		in->pos += 2;
		return (uint64_t)at[1] << 7 | (at[0] & 0x7fu);
	}
	return wsi_read_uleb(in);
}

static void walk_parent(struct walk *walk)
{
	walk->link = (uint32_t)walk_uleb(walk);
	walk->path_len = wsi_read_u8(&walk->in);
	memcpy(walk->path, wsi_read_span(&walk->in, walk->path_len).ptr, walk->path_len);
}

/* The next entry; false at the end. Only what wsi_entry_end() wrote is read. */
static bool walk_next(struct walk *walk)
{
	walk->data_off += walk->size + (-walk->size & (WSI_DUMP_ALIGNMENT - 1));
	walk->name_off += walk->name_len;
	if (wsi_reader_left(&walk->in) == 0)
		return false;
	uint8_t first = wsi_read_u8(&walk->in);
	walk->kind = (enum wsi_kind)(first & ~(unsigned)NEW_PARENT);
	if (first & NEW_PARENT)
		walk_parent(walk);
	bool is_child = wsi_kind_infos[walk->kind].parent != WSI_KIND_NONE;
	walk->number = 0;
	if (is_child)
		walk->number = (uint32_t)walk_uleb(walk);
	else if (has_address(walk->kind))
		walk->number = walk->n_globals++;
	walk->address = has_address(walk->kind) ? walk_uleb(walk) : 0;
	walk->entry_bytes = walk_uleb(walk);
	walk->size = walk_uleb(walk);
	assert(!walk->in.failed);
	/* names past what sh_name can tell are empty: they mean nothing to a reader */
	walk->name_len = 0;
	if (walk->name_off > UINT32_MAX - NAME_BYTES)
		return true;
	walk->name_len = kind_names[walk->kind].start_len + 1u;
	if (is_child)
		walk->name_len += walk->path_len;
	else if (is_numbered(walk->kind))
		walk->name_len++;
	if (is_numbered(walk->kind))
		walk->name_len += digits_of(walk->number);
	return true;
}

static void name_put(const struct walk *walk, char *to)
{
	memcpy(to, kind_names[walk->kind].start, sizeof kind_names[0].start);
	to += kind_names[walk->kind].start_len;
	if (wsi_kind_infos[walk->kind].parent != WSI_KIND_NONE) {
		memcpy(to, walk->path, sizeof walk->path);
		to += walk->path_len;
	} else if (is_numbered(walk->kind)) {
		*to++ = '.';
	}
	if (is_numbered(walk->kind))
		to = put_number(to, walk->number);
	*to = 0;
}

enum ws_status wsi_index_write_names(struct wsi_index *index, struct wsi_outfile *file,
				     struct ws_error *err)
{
	struct walk walk;
	struct wsi_stream *out = wsi_outfile_stream(file);
	enum ws_status st = walk_init(&walk, index, err);
	if (st == WS_OK)
		st = wsi_outfile_append(file, last_names, sizeof last_names, err);
	while (st == WS_OK && (st = walk_fill(&walk, err)) == WS_OK && walk_next(&walk)) {
		uint8_t *to = walk.name_len ? wsi_stream_room(out, NAME_BYTES) : walk.chunk;
		if (!to)
			st = wsi_outfile_failed(file, err);
		if (!to || walk.name_len == 0)
			continue;
		name_put(&walk, (char *)to);
		wsi_stream_take(out, walk.name_len);
	}
	wsi_free(walk.chunk);
	return st;
}

static bool header_put(struct wsi_stream *out, const struct wsi_shdr *shdr)
{
	uint8_t *to = wsi_stream_room(out, WSI_SHDR_BYTES);
	if (!to)
		return false;
	wsi_store_u32(to, shdr->name);
	wsi_store_u32(to + 4, shdr->type);
	wsi_store_u64(to + 8, shdr->flags);
	wsi_store_u64(to + 16, shdr->addr);
	wsi_store_u64(to + 24, shdr->offset);
	wsi_store_u64(to + 32, shdr->size);
	wsi_store_u32(to + 40, shdr->link);
	wsi_store_u32(to + 44, shdr->info);
	wsi_store_u64(to + 48, shdr->addralign);
	wsi_store_u64(to + 56, shdr->entsize);
	wsi_stream_take(out, WSI_SHDR_BYTES);
	return true;
}

static bool entry_header_put(struct wsi_stream *out, const struct walk *walk)
{
	bool is_child = wsi_kind_infos[walk->kind].parent != WSI_KIND_NONE;
	struct wsi_shdr shdr = {
		.name = walk->name_len ? (uint32_t)walk->name_off : 0,
		.type = WSI_CUDBG_SHT_BASE + (uint32_t)walk->kind,
		.addr = walk->address,
		.offset = walk->data_off,
		.size = walk->size,
		.link = is_child ? walk->link : 0,
		.info = is_child ? walk->number : 0,
		.addralign = WSI_DUMP_ALIGNMENT,
		.entsize = walk->entry_bytes,
	};
	return header_put(out, &shdr);
}

enum ws_status wsi_index_write_headers(struct wsi_index *index, struct wsi_outfile *file,
				       const struct wsi_last_sections *last, struct ws_error *err)
{
	struct walk walk;
	struct wsi_stream *out = wsi_outfile_stream(file);
	/* Section 0 holds the number of sections and the index of their names, whatever they are:
	 * so the driver writes it too, in small dumps as well [public: a 13.6 MB dump in an issue].
	 */
	uint32_t n_sections = index->n_sections + (last->note_bytes ? 3 : 2);
	struct wsi_shdr first = { .size = n_sections, .link = n_sections - 1 };
	enum ws_status st = walk_init(&walk, index, err);
	bool good = header_put(out, &first);
	while (st == WS_OK && good && (st = walk_fill(&walk, err)) == WS_OK && walk_next(&walk))
		good = entry_header_put(out, &walk);
	assert(st != WS_OK || !good ||
	       walk.data_off == (last->note_bytes ? last->note_off : last->texts_off));
	struct wsi_shdr rest[] = {
		{ NOTE_NAME, WSI_SHT_NOTE, .offset = last->note_off, .size = last->note_bytes },
		{ TEXTS_NAME, WSI_SHT_STRTAB, .offset = last->texts_off,
		  .size = last->texts_bytes },
		{ NAMES_NAME, WSI_SHT_STRTAB, .offset = last->names_off, .size = walk.name_off },
	};
	for (size_t i = last->note_bytes ? 0 : 1; i < WSI_COUNT(rest) && st == WS_OK && good; i++) {
		rest[i].addralign = WSI_DUMP_ALIGNMENT;
		good = header_put(out, &rest[i]);
	}
	wsi_free(walk.chunk);
	return st == WS_OK && !good ? wsi_outfile_failed(file, err) : st;
}
