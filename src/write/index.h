/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers and names of the sections of a dump grow with their number and come behind the data, so
 * they must wait. What waits is as little as they can be made from again, about six bytes a
 * section, in a scratch file:
 *
 *   kind | link and path, where the parent is not that of the section before | row of the parent
 *        | address, where the kind has one | bytes of an entry | bytes of data
 *
 * The path is what the names of all children of a parent table have in common. Data follows on data
 * at multiples of WSI_DUMP_ALIGNMENT, so sizes tell where it is.
 */
#ifndef WSI_WRITE_INDEX_H
#define WSI_WRITE_INDEX_H

#include <warpscope/write.h>

#include "base/outfile.h"
#include "core/format.h"

enum { WSI_DUMP_ALIGNMENT = 8 };

/* What a section is, besides its bytes. */
struct wsi_section {
	enum wsi_kind kind;
	const struct ws_write_table *parent; /* NULL: none */
	uint32_t row;                        /* of the parent */
	uint64_t address;
	uint32_t entry_bytes;
};

struct wsi_index {
	struct wsi_scratch entries; /* owned */
	uint32_t n_sections;        /* section 0 included, which has no entry */
	uint32_t parent;            /* section of the last entry's parent; 0: none */
};

enum ws_status wsi_index_init(struct wsi_index *index, struct ws_error *err) WS_MUST_USE;
void wsi_index_fini(struct wsi_index *index);

enum { WSI_ENTRY_BYTES = 128 };

/* One entry on its way: sections are told of when they begin, and their size when they end. */
struct wsi_entry {
	uint8_t bytes[WSI_ENTRY_BYTES];
	unsigned used;
};

void wsi_entry_begin(struct wsi_index *index, struct wsi_entry *entry,
		     const struct wsi_section *section);
enum ws_status wsi_entry_end(struct wsi_index *index, struct wsi_entry *entry, uint64_t size,
			     struct ws_error *err) WS_MUST_USE;

/* Path of a table's parent row, terminated; "" for a table without. */
void wsi_path_of(const struct wsi_section *section, char ret_path[64]);

/* ---- the end of a dump ---- */

/* The last sections, which are no part of the tree: where their data is. */
struct wsi_last_sections {
	uint64_t note_off, note_bytes; /* 0 bytes: none */
	uint64_t texts_off, texts_bytes;
	uint64_t names_off;
};

/* Data of the last section, .shstrtab. */
enum ws_status wsi_index_write_names(struct wsi_index *index, struct wsi_outfile *file,
				     struct ws_error *err) WS_MUST_USE;
/* All headers: of section 0, of the entries, and of the last sections. */
enum ws_status wsi_index_write_headers(struct wsi_index *index, struct wsi_outfile *file,
				       const struct wsi_last_sections *last,
				       struct ws_error *err) WS_MUST_USE;

#endif
