/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacking a block of known size in memory. (Whole compressed files are streams and live with the
 * reading of files.)
 */
#ifndef WSI_UNPACK_H
#define WSI_UNPACK_H

#include "base/base.h"

/*
 * Unpacks all of `packed` into exactly `size` bytes at `ret_bytes`. WS_MALFORMED: the data is
 * broken or has another size. WS_UNSUPPORTED: this build lacks the library. WS_LIMIT: more than the
 * library can take in one block. `ret_bytes` is undefined after a failure.
 */
enum ws_status wsi_unpack_lz4(struct ws_span packed, uint8_t *ret_bytes, size_t size,
			      struct ws_error *err) WS_MUST_USE;
enum ws_status wsi_unpack_zstd(struct ws_span packed, uint8_t *ret_bytes, size_t size,
			       struct ws_error *err) WS_MUST_USE;

#endif
