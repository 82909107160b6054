/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside a dump being written.
 *
 *   ELF header | data of section 1 | data of section 2 | ... | .strtab | .shstrtab | headers
 *   filled in                                               waiting in scratch files,
 *   the end                                                 see write/index.h
 *
 * The strings of .strtab and what is needed for names and headers grow with the dump, so they wait
 * in scratch files and not in memory. Nothing else is kept.
 */
#ifndef WSI_WRITE_WRITER_H
#define WSI_WRITE_WRITER_H

#include <warpscope/write.h>

#include "write/index.h"

enum { WSI_MAX_ROW_BYTES = 256 };
enum { WSI_TEXT_CACHE = 256, WSI_TEXT_CACHED_BYTES = 56 };

/* A string of .strtab, so that equal ones are stored once as long as not too many others come
 * between. */
struct wsi_text_slot {
	uint32_t offset;
	uint32_t len;
	char bytes[WSI_TEXT_CACHED_BYTES];
};

struct ws_writer {
	struct wsi_outfile *file; /* owned */
	struct wsi_stream *out;   /* borrowed from `file` */
	uint32_t driver;
	uint32_t row_bytes[WSI_N_KINDS]; /* of tables, as that driver has them */
	struct wsi_index index;          /* owned */
	struct wsi_scratch texts;        /* owned */
	struct wsi_text_slot text_cache[WSI_TEXT_CACHE];

	/* the section being written */
	bool in_section;
	uint64_t section_off;
	/* memory being written, which is one */
	bool in_memory;
	struct wsi_section memory;
	struct ws_write_table memory_parent;

	bool failed;     /* something is missing: no commit */
	bool incomplete; /* ws_writer_incomplete() */
	bool in_doubt;   /* WSI_INCOMPLETE_DOUBT */
	enum ws_hides hides;
	const uint32_t *halves; /* for WSI_HALVES_NOTE; borrowed */
	uint32_t n_halves;
	struct ws_span map;          /* for WSI_MAP_NOTE; borrowed */
	uint32_t left_out, stripped; /* ws_writer_stripped() */
	uint64_t most_bytes;         /* no section begins beyond; 0: no limit */
};

/* Begins a section. WS_UNSUPPORTED: the layout does not have that kind yet; then nothing happened.
 */
enum ws_status wsi_write_section_begin(struct ws_writer *writer, const struct wsi_section *section,
				       struct ws_error *err) WS_MUST_USE;
enum ws_status wsi_write_section_append(struct ws_writer *writer, const void *bytes, size_t n,
					struct ws_error *err) WS_MUST_USE;
/* Room for one row of a table: zeros, part of the section. Valid until the next call. */
enum ws_status wsi_write_section_row(struct ws_writer *writer, uint32_t n, uint8_t **ret_bytes,
				     struct ws_error *err) WS_MUST_USE;
enum ws_status wsi_write_section_end(struct ws_writer *writer, const struct wsi_section *section,
				     struct ws_error *err) WS_MUST_USE;
/* All three, for a section whose bytes are at hand. */
enum ws_status wsi_write_section_write(struct ws_writer *writer, const struct wsi_section *section,
				       const void *bytes, size_t n,
				       struct ws_error *err) WS_MUST_USE;

/* What the section begun last is as the parent of `n_rows` rows. */
void wsi_write_section_as_table(const struct ws_writer *writer, const struct wsi_section *section,
				uint32_t n_rows, struct ws_write_table *ret_table);

/* Offset of a string in .strtab; equal strings may share one. */
enum ws_status wsi_writer_text(struct ws_writer *writer, struct ws_str text, uint64_t *ret_offset,
			       struct ws_error *err) WS_MUST_USE;

/* Whether the layout has a kind of section. */
static inline bool wsi_writer_has(const struct ws_writer *writer, enum wsi_kind kind)
{
	return wsi_kind_infos[kind].since <= writer->driver;
}

#endif
