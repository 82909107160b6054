/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of clean.c: a copy of an image that begins as zeros, and into which goes what the
 * rules recognise (rules.h). Nothing is moved, so offsets stay good.
 */
#ifndef WSI_WRITE_CLEAN_H
#define WSI_WRITE_CLEAN_H

#include <warpscope/cubin.h>

#include "elf/elf.h"
#include "write/rules.h"

/* No address of a device, and no size or offset in an image, is larger. */
#define WSI_CLEAN_MAX_ADDRESS (UINT64_C(1) << 57)
#define WSI_CLEAN_MAX_SIZE (UINT64_C(1) << 40)

enum { WSI_CLEAN_NO_RULE = 0xff };

struct wsi_clean {
	struct ws_span image;
	uint8_t *to; /* borrowed: the copy */
	uint32_t flags;
	struct ws_cubin *cubin; /* of `image` */
	struct wsi_elf elf;     /* likewise */
	uint32_t n_sections;
	uint8_t *row;    /* owned: of each section, the row of the table */
	uint64_t budget; /* bytes that may still be looked at; sections may overlap */
	uint32_t symtab; /* 0: none, as the next */
	uint32_t debug_str, debug_info, debug_line;
	const struct ws_strip_options *options;
	struct ws_stripped *stripped;
};

/* Bytes of the image into the copy; what is not inside it is not. */
void wsi_clean_keep(struct wsi_clean *clean, struct ws_span bytes);
/* Where bytes of the image lie in the copy; NULL: they are not inside. */
uint8_t *wsi_clean_at(const struct wsi_clean *clean, const void *bytes, size_t len);
/* The string at an offset of a table; strings that share their ends are copied once. */
void wsi_clean_string(struct wsi_clean *clean, struct ws_span table, uint64_t off);
struct ws_span wsi_clean_bytes(const struct wsi_clean *clean, uint32_t section);
/* The rule of a section as these flags have it. */
enum wsi_rule wsi_clean_rule(const struct wsi_clean *clean, uint32_t section);
/* Whether the name of a section stays. */
bool wsi_clean_names(const struct wsi_clean *clean, uint32_t section);
/* Whether a text is as a pattern says: "#" stands for digits, all else for itself. */
bool wsi_clean_fits(const char *pattern, struct ws_str text);

/* clean_tables.c */
void wsi_clean_symbols(struct wsi_clean *clean);
void wsi_clean_escapes(struct wsi_clean *clean, struct ws_span bytes);
void wsi_clean_relocs(struct wsi_clean *clean, uint32_t section);
void wsi_clean_attributes(struct wsi_clean *clean, struct ws_span bytes);
void wsi_clean_tools(struct wsi_clean *clean, struct ws_span bytes);
void wsi_clean_target(struct wsi_clean *clean, struct ws_span bytes);

/* clean_debug.c */
enum ws_status wsi_clean_lines(struct wsi_clean *clean, uint32_t section,
			       struct ws_error *err) WS_MUST_USE;
enum ws_status wsi_clean_debug(struct wsi_clean *clean, struct ws_error *err) WS_MUST_USE;
void wsi_clean_frames(struct wsi_clean *clean, struct ws_span bytes);

/* clean.c */

/*
 * Makes `to`, which has the size of the image, a copy without what the flags of the options take
 * away, tells of names of enumerators, and adds to the account. WS_NO_MEMORY, or what
 * ws_cubin_open() says of an image that cannot be read; then `to` means nothing. Takes time in
 * proportion to the image.
 */
enum ws_status wsi_write_image_clean(struct ws_span image, const struct ws_strip_options *options,
				     uint8_t *to, struct ws_stripped *stripped,
				     struct ws_error *err) WS_MUST_USE;

#endif
