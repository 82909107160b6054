/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed data that is read here and there: places in it from which unpacking can begin, in memory
 * that does not grow with the data. gzip: the state of unpacking, every so many bytes; zstd: where
 * a frame begins.
 */
#ifndef WSI_SEEK_H
#define WSI_SEEK_H

#include "base/file.h"

struct z_stream_s;
struct wsi_seek;

/* NULL: no memory. `is_zstd`: else gzip. */
struct wsi_seek *wsi_seek_create(bool is_zstd) WS_MUST_USE;
/* NULL is fine. */
void wsi_seek_destroy(struct wsi_seek *seek);

/* Offers a place behind those before: the state `z` of unpacking gzip; NULL: a frame or a member
 * begins there. Not all are kept. */
void wsi_seek_offer(struct wsi_seek *seek, struct z_stream_s *z, uint64_t packed_off,
		    uint64_t unpacked_off);

/* The most that must be unpacked to get at one of the first `size` bytes. */
uint64_t wsi_seek_gap(const struct wsi_seek *seek, uint64_t size);

/* The first `size` unpacked bytes of `packed`, which has to outlive the result. */
enum ws_status wsi_seek_open(struct wsi_seek *seek, const struct wsi_input *packed, uint64_t size,
			     struct wsi_input *ret_source, struct ws_error *err) WS_MUST_USE;

/* The same; the result owns `seek` and what `packed` has, which is taken over also when this fails.
 */
enum ws_status wsi_seek_finish(struct wsi_seek *seek, struct wsi_file *packed, uint64_t size,
			       struct wsi_input *ret_source, struct ws_error *err) WS_MUST_USE;

#endif
