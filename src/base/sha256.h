/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 [public doc: FIPS 180-4]. */
#ifndef WSI_SHA256_H
#define WSI_SHA256_H

#include "base/base.h"

enum { WSI_SHA256_BYTES = 32 };

struct wsi_sha256 {
	uint32_t state[8];
	uint64_t n_bytes; /* taken so far */
	uint8_t block[64];
};

void wsi_sha256_init(struct wsi_sha256 *hash);
void wsi_sha256_add(struct wsi_sha256 *hash, const void *bytes, size_t len);
/* Writes the result; the state must be initialised anew before it is used again. */
void wsi_sha256_final(struct wsi_sha256 *hash, uint8_t ret_digest[WSI_SHA256_BYTES]);

#endif
