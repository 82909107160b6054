/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of an input on its way out, and the one place that decides which of its characters a reader
 * may get as they are.
 */
#ifndef WSI_TEXT_ESCAPE_H
#define WSI_TEXT_ESCAPE_H

#include <warpscope/out.h>

#include "base/base.h"

/*
 * Whether a character is never written as it is: a control character, a separator of lines, one
 * that turns the direction of the text around it, or one that is not seen (docs/trust.md lists
 * them).
 */
bool wsi_text_is_hidden(uint32_t code);

/* Writes what stands for `n` bytes at `at`: one character, or one byte that is not UTF-8. */
typedef void wsi_escape_fn(struct ws_out *out, const char *at, size_t n, uint32_t code);

/* A set of ASCII characters, those below 64 and the others; read without a call for each byte. */
struct wsi_special {
	uint64_t bits[2];
};
#define WSI_SPECIAL(c) (UINT64_C(1) << ((c)&63))

extern const struct wsi_special wsi_special_in_quotes; /* " and \ */

/*
 * Writes `text`; calls `escape` for each character that is hidden or one of `special`, with
 * its code, and for each byte that is not UTF-8, with the code WSI_NO_CHARACTER.
 */
void wsi_out_escape(struct ws_out *out, struct ws_str text, const struct wsi_special *special,
		    wsi_escape_fn *escape);
#define WSI_NO_CHARACTER UINT32_MAX

/* An `escape` function: \xNN for each of the bytes. */
void wsi_escape_bytes(struct ws_out *out, const char *at, size_t n, uint32_t code);

/* Writes one string of the arguments of a format. */
typedef void wsi_put_str_fn(struct ws_out *out, struct ws_str text);
/* printf; the strings among the arguments, those of %c too, are written by `put`. */
void wsi_out_format(struct ws_out *out, wsi_put_str_fn *put, const char *format, va_list list)
	WS_PRINTF(3, 0);

#endif
