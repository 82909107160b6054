/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 [public doc: FIPS 180-4]. */
#ifndef WSI_SHA256_H
#define WSI_SHA256_H

#include "base/base.h"

enum { WSI_SHA256_BYTES = 32, WSI_SHA256_BLOCK = 64 };

struct wsi_sha256 {
	uint32_t state[8];
	uint64_t n_bytes; /* taken so far */
	uint8_t block[WSI_SHA256_BLOCK];
};

void wsi_sha256_init(struct wsi_sha256 *hash);
void wsi_sha256_add(struct wsi_sha256 *hash, const void *bytes, size_t len);
/* Writes the result; the state must be initialised anew before it is used again. */
void wsi_sha256_final(struct wsi_sha256 *hash, uint8_t ret_digest[WSI_SHA256_BYTES]);
/* The first `n_bytes` of a digest in hexadecimal, and a NUL: 2 * n_bytes + 1 characters. */
void wsi_sha256_text(const uint8_t digest[WSI_SHA256_BYTES], size_t n_bytes, char *ret_text);

/* Takes whole blocks: in plain C, and by the instructions that some processors have for it (NULL:
 * this one has none). For tests; wsi_sha256_add() takes the better one. */
typedef void wsi_sha256_blocks_fn(uint32_t state[8], const uint8_t *blocks, size_t n_blocks);
wsi_sha256_blocks_fn wsi_sha256_blocks_plain;
wsi_sha256_blocks_fn *wsi_sha256_blocks_own(void);

#endif
