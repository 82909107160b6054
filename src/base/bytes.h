/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer of bytes that grows, for building small files in memory; numbers go in as little-endian.
 * When memory is out it says so once and for all (`failed`): appending then does nothing.
 */
#ifndef WSI_BYTES_H
#define WSI_BYTES_H

#include "base/base.h"

/* All-zero is an empty buffer. */
struct wsi_bytes {
	uint8_t *ptr; /* owned */
	size_t len, cap;
	bool failed;
};

void wsi_bytes_put(struct wsi_bytes *bytes, const void *from, size_t n);
void wsi_bytes_zero(struct wsi_bytes *bytes, size_t n);
/* The `n` low bytes of a number; n at most 8. */
void wsi_bytes_number(struct wsi_bytes *bytes, uint64_t value, unsigned n);
/* Zero bytes up to a multiple of `alignment`, which is a power of two. */
void wsi_bytes_align(struct wsi_bytes *bytes, size_t alignment);
/* A terminated string; its offset. */
size_t wsi_bytes_string(struct wsi_bytes *bytes, struct ws_str text);
/* Leaves it all-zero; may be repeated. */
void wsi_bytes_fini(struct wsi_bytes *bytes);

#endif
