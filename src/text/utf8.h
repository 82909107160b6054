/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSI_UTF8_H
#define WSI_UTF8_H

#include "base/base.h"

/*
 * Length (1 to 4) of the well-formed UTF-8 character at `text`, or 0 when the bytes there are none.
 * Overlong forms, surrogates and values above U+10FFFF are not well formed. `len` must not be 0.
 */
size_t wsi_utf8_len(const char *text, size_t len);
/* The code of a well-formed character of `n` bytes. */
uint32_t wsi_utf8_code(const char *text, size_t n);

#endif
