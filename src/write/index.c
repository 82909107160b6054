/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered about sections until the end, and the headers made from it. */
#include "write/index.h"

#include "elf/elf.h"

enum {
	PATH_BYTES = sizeof((struct ws_write_table *)0)->path,
	/* more than any */
	NAME_BYTES = 128,
	ENTRY_BYTES = 128,
};
static_assert((int)NAME_BYTES <= WSI_STREAM_ROOM && (int)ENTRY_BYTES <= WSI_STREAM_ROOM, "no room");

/* The first byte of an entry: the kind, */
enum {
	KIND_MASK = 0x1f,
	LIKE_LAST = 0x20, /* sizes are those of the last section of this kind */
	/* and where a child hangs, by the child before */
	PLACE_MASK = 0xc0,
	SAME_ROW = 0x00,
	NEXT_ROW = 0x40,
	OTHER_ROW = 0x80,
	OTHER_PARENT = 0xc0,
};
static_assert(WSI_N_KINDS <= KIND_MASK + 1, "a kind does not fit");

/* The names of the last sections, before all others. */
static const char last_names[] = "\0.strtab\0.shstrtab\0.note.warpscope";
enum { TEXTS_NAME = 1, NAMES_NAME = 9, NOTE_NAME = 19 };

static bool has_address(enum wsi_kind kind)
{
	return kind == WSI_KIND_GLOBAL || kind == WSI_KIND_MANAGED || kind == WSI_KIND_LOCAL;
}

static bool is_child(enum wsi_kind kind)
{
	return wsi_kind_infos[kind].parent != WSI_KIND_NONE;
}

static bool is_numbered(enum wsi_kind kind)
{
	return kind == WSI_KIND_GLOBAL || kind == WSI_KIND_MANAGED ||
	       wsi_kind_infos[wsi_kind_infos[kind].parent].label[0];
}

/* What the loops over all sections ask of a kind. */
struct traits {
	bool is_child, is_numbered, has_address;
	uint8_t start_len; /* of the name: what comes before path and number */
};

static struct traits traits_of(enum wsi_kind kind)
{
	return (struct traits){ is_child(kind), is_numbered(kind), has_address(kind),
				(uint8_t)wsi_kind_start_len(kind) };
}

enum ws_status wsi_index_init(struct wsi_index *index, struct ws_error *err)
{
	index->n_sections = 1;
	return wsi_scratch_init(&index->entries, err);
}

void wsi_index_fini(struct wsi_index *index)
{
	wsi_scratch_fini(&index->entries);
}

/* ---- names ---- */

static unsigned digits_of(uint32_t number)
{
	unsigned n = 1;
	for (uint64_t limit = 10; number >= limit; limit *= 10)
		n++;
	return n;
}

static char *put_index_number(char *to, uint32_t number)
{
	char *end = to + digits_of(number);
	for (char *at = end; at > to; number /= 10)
		*--at = (char)('0' + number % 10);
	return end;
}

/* What the names of all children of a table begin with, behind the word of their kind. */
static char *put_path(char *to, const struct ws_write_table *table)
{
	const char *label = wsi_kind_infos[table->kind].label;
	size_t len = strnlen(table->path, PATH_BYTES - 1), label_len = strlen(label);
	memcpy(to, table->path, len);
	memcpy(to + len, label, label_len);
	return to + len + label_len;
}

void wsi_path_of(const struct wsi_section *section, char ret_path[PATH_BYTES])
{
	char path[PATH_BYTES + NAME_BYTES], *end = path;
	if (section->parent)
		end = put_path(path, section->parent);
	if (section->parent && is_numbered(section->kind))
		end = put_index_number(end, section->row);
	size_t len = (size_t)wsi_min_u64((size_t)(end - path), PATH_BYTES - 1);
	memcpy(ret_path, path, len);
	ret_path[len] = 0;
}

/* ---- while sections are written ---- */

static uint8_t *put_uleb(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

static uint8_t *put_parent(uint8_t *to, const struct ws_write_table *parent)
{
	to = put_uleb(to, parent->section);
	char *path = (char *)to + 1, *end = put_path(path, parent);
	*to = (uint8_t)(end - path);
	return (uint8_t *)end;
}

/* Where a child hangs, by the child before. */
static unsigned child_place_of(const struct wsi_index *index, const struct wsi_section *section)
{
	if (section->parent->section != index->parent)
		return OTHER_PARENT;
	if (section->row == index->row)
		return SAME_ROW;
	return section->row == index->row + 1 ? NEXT_ROW : OTHER_ROW;
}

static uint8_t *put_place(struct wsi_index *index, uint8_t *to, const struct wsi_section *section,
			  unsigned place)
{
	index->row = section->row;
	if (place == OTHER_PARENT) {
		index->parent = section->parent->section;
		to = put_parent(to, section->parent);
	}
	return place & OTHER_ROW ? put_uleb(to, section->row) : to;
}

enum ws_status wsi_index_add(struct wsi_index *index, const struct wsi_section *section,
			     uint64_t size, struct ws_error *err)
{
	uint8_t *entry = wsi_stream_room(&index->entries.stream), *end = entry + 1;
	if (!entry)
		return wsi_scratch_failed(err);
	struct wsi_sizes *last = &index->last[section->kind];
	unsigned first = section->kind;
	if (last->entry_bytes == section->entry_bytes && last->size == size)
		first |= LIKE_LAST;
	if (is_child(section->kind)) {
		unsigned place = child_place_of(index, section);
		first |= place;
		end = put_place(index, end, section, place);
	}
	entry[0] = (uint8_t)first;
	if (has_address(section->kind))
		end = put_uleb(end, section->address);
	if (!(first & LIKE_LAST)) {
		*last = (struct wsi_sizes){ section->entry_bytes, size };
		end = put_uleb(put_uleb(end, section->entry_bytes), size);
	}
	wsi_stream_take(&index->entries.stream, (size_t)(end - entry));
	index->n_sections++;
	return WS_OK;
}

/* ---- in the end ---- */

enum { CHUNK = 64 * 1024 };

/* Goes over all entries. */
struct index_walk {
	struct wsi_scratch *entries;
	uint8_t *chunk; /* owned: CHUNK bytes */
	uint64_t read;  /* bytes of `entries` read so far */
	struct wsi_reader in;
	/* the section */
	enum wsi_kind kind;
	uint32_t number; /* row of the parent; of global memory: running */
	uint64_t address;
	struct traits traits[WSI_N_KINDS];
	struct wsi_sizes last[WSI_N_KINDS]; /* of this kind: its own */
	/* of the last child */
	uint32_t link, row; /* its parent: section, row */
	uint8_t path_len;
	char path[PATH_BYTES + 8];
	/* where it is */
	uint64_t data_off, name_off;
	uint32_t name_len; /* its end included; 0: names are full */
	uint32_t n_globals;
};

static enum ws_status walk_init(struct index_walk *walk, struct wsi_index *index,
				struct ws_error *err)
{
	*walk = (struct index_walk){ .entries = &index->entries,
				     .chunk = wsi_zalloc(CHUNK),
				     .data_off = WSI_ELF_HEADER_BYTES,
				     .name_off = sizeof last_names };
	for (unsigned kind = 0; kind < WSI_N_KINDS; kind++)
		walk->traits[kind] = traits_of((enum wsi_kind)kind);
	return walk->chunk ? WS_OK
			   : wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "headers of sections");
}

/* Has a whole entry in `in`, or none at the end. Rare, as walk_parent() is: out of the loops. */
static __attribute__((noinline)) enum ws_status walk_fill(struct index_walk *walk,
							  struct ws_error *err)
{
	size_t left = wsi_reader_left(&walk->in), n;
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

static __attribute__((noinline)) void walk_parent(struct index_walk *walk)
{
	walk->link = (uint32_t)wsi_read_uleb(&walk->in);
	walk->path_len = wsi_read_u8(&walk->in);
	memcpy(walk->path, wsi_read_span(&walk->in, walk->path_len).ptr, walk->path_len);
}

static inline void walk_place(struct index_walk *walk, unsigned place)
{
	if (place == OTHER_PARENT)
		walk_parent(walk);
	if (place & OTHER_ROW)
		walk->row = (uint32_t)wsi_read_uleb(&walk->in);
	else if (place == NEXT_ROW)
		walk->row++;
}

/* Bytes of the section's name with its end. Names past what sh_name can tell are empty: they mean
 * nothing to a reader. */
static inline uint32_t walk_name_len(const struct index_walk *walk, struct traits traits)
{
	if (walk->name_off > UINT32_MAX - NAME_BYTES)
		return 0;
	return traits.start_len + (traits.is_child ? walk->path_len : 0u) +
	       (traits.is_numbered ? digits_of(walk->number) : 0u) + 1;
}

/* The entry at hand; only what wsi_index_add() wrote is read. */
static inline void walk_entry(struct index_walk *walk)
{
	unsigned first = walk->in.in.ptr[walk->in.pos++];
	walk->kind = (enum wsi_kind)(first & KIND_MASK);
	struct traits traits = walk->traits[walk->kind];
	walk->number = 0;
	if (traits.is_child) {
		walk_place(walk, first & PLACE_MASK);
		walk->number = walk->row;
	} else if (traits.is_numbered) {
		walk->number = walk->n_globals++;
	}
	walk->address = traits.has_address ? wsi_read_uleb(&walk->in) : 0;
	if (!(first & LIKE_LAST)) {
		uint64_t entry_bytes = wsi_read_uleb(&walk->in);
		walk->last[walk->kind] =
			(struct wsi_sizes){ entry_bytes, wsi_read_uleb(&walk->in) };
	}
	assert(!walk->in.failed);
	walk->name_len = walk_name_len(walk, traits);
}

/* Goes to the next section; false at the end, and when that fails. */
static inline bool walk_next(struct index_walk *walk, enum ws_status *ret_status,
			     struct ws_error *err)
{
	uint64_t size = walk->last[walk->kind].size;
	walk->data_off += size + (-size & (WSI_DUMP_ALIGNMENT - 1));
	walk->name_off += walk->name_len;
	if (wsi_reader_left(&walk->in) < ENTRY_BYTES)
		*ret_status = walk_fill(walk, err);
	if (*ret_status != WS_OK || wsi_reader_left(&walk->in) == 0)
		return false;
	walk_entry(walk);
	return true;
}

static inline void name_put(const struct index_walk *walk, char *to)
{
	struct traits traits = walk->traits[walk->kind];
	memcpy(to, wsi_kind_infos[walk->kind].prefix, sizeof wsi_kind_infos[0].prefix);
	to += traits.start_len;
	if (traits.is_child) {
		memcpy(to, walk->path, sizeof walk->path);
		to += walk->path_len;
	}
	if (traits.is_numbered)
		to = put_index_number(to, walk->number);
	*to = 0;
}

enum ws_status wsi_index_write_names(struct wsi_index *index, struct wsi_outfile *file,
				     struct ws_error *err)
{
	struct index_walk walk;
	struct wsi_stream *out = wsi_outfile_stream(file);
	enum ws_status st = walk_init(&walk, index, err);
	if (st == WS_OK)
		st = wsi_outfile_append(file, last_names, sizeof last_names, err);
	bool good = st == WS_OK;
	while (good && walk_next(&walk, &st, err) && walk.name_len) {
		char *to = (char *)wsi_stream_room(out);
		good = to != NULL;
		if (!good)
			break;
		name_put(&walk, to);
		wsi_stream_take(out, walk.name_len);
	}
	wsi_free(walk.chunk);
	return st == WS_OK && !good ? wsi_outfile_failed(file, err) : st;
}

static inline bool header_put(struct wsi_stream *out, const struct wsi_shdr *shdr)
{
	uint8_t *to = wsi_stream_room(out);
	if (!to)
		return false;
	wsi_shdr_store(to, shdr);
	wsi_stream_take(out, WSI_SHDR_BYTES);
	return true;
}

static inline bool entry_header_put(struct wsi_stream *out, const struct index_walk *walk)
{
	bool child = walk->traits[walk->kind].is_child;
	struct wsi_shdr shdr = {
		.name = walk->name_len ? (uint32_t)walk->name_off : 0,
		.type = WSI_CUDBG_SHT_BASE + (uint32_t)walk->kind,
		.addr = walk->address,
		.offset = walk->data_off,
		.size = walk->last[walk->kind].size,
		.link = child ? walk->link : 0,
		.info = child ? walk->row : 0,
		.addralign = WSI_DUMP_ALIGNMENT,
		.entsize = walk->last[walk->kind].entry_bytes,
	};
	return header_put(out, &shdr);
}

enum ws_status wsi_index_write_headers(struct wsi_index *index, struct wsi_outfile *file,
				       const struct wsi_last_sections *last, struct ws_error *err)
{
	struct index_walk walk;
	struct wsi_stream *out = wsi_outfile_stream(file);
	/* Section 0 holds the number of sections and the index of their names, whatever they are:
	 * so the driver writes it too, in small dumps as well [public: a 13.6 MB dump in an issue].
	 */
	uint32_t n_sections = index->n_sections + (last->note_bytes ? 3 : 2);
	struct wsi_shdr first = { .size = n_sections, .link = n_sections - 1 };
	enum ws_status st = walk_init(&walk, index, err);
	bool good = st == WS_OK && header_put(out, &first);
	while (good && walk_next(&walk, &st, err))
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
