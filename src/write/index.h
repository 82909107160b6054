/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers and names of the sections of a dump grow with their number and come behind the data, so
 * they must wait. What waits is what differs from the sections before, one byte for most of them,
 * in a scratch file:
 *
 *   kind and what follows | link, path | row | address | bytes of an entry, bytes of data
 *
 * Link and path: of another parent than that of the child before; the path is what the names of all
 * its children have in common. Row: of the parent, where it is neither that of the child before nor
 * the next one. Address: where the kind has one. Bytes: where they are not those of the last
 * section of the same kind. Data follows on data at multiples of WSI_DUMP_ALIGNMENT, so sizes tell
 * where it is.
 */
#ifndef WSI_WRITE_INDEX_H
#define WSI_WRITE_INDEX_H

#include <warpscope/write.h>

#include "base/outfile.h"
#include "target/dump/format.h"

enum { WSI_DUMP_ALIGNMENT = 8 };

/* What a section is, besides its bytes. */
struct wsi_section {
	enum wsi_kind kind;
	const struct ws_write_table *parent; /* NULL: none */
	uint32_t row;                        /* of the parent */
	uint64_t address;
	uint32_t entry_bytes;
};

/* Bytes of an entry of a table, and of all data. */
struct wsi_sizes {
	uint64_t entry_bytes, size;
};

struct wsi_index {
	struct wsi_scratch entries; /* owned */
	uint32_t n_sections;        /* section 0 included, which has no entry */
	uint32_t parent, row;       /* of the last child; parent 0: none yet */
	struct wsi_sizes last[WSI_N_KINDS];
};

enum ws_status wsi_index_init(struct wsi_index *index, struct ws_error *err) WS_MUST_USE;
void wsi_index_fini(struct wsi_index *index);

/* Adds a section, which is behind all others; `size` is that of its data. */
enum ws_status wsi_index_add(struct wsi_index *index, const struct wsi_section *section,
			     uint64_t size, struct ws_error *err) WS_MUST_USE;

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
