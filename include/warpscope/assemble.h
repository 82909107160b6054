/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * A small assembler: it turns text with functions, data and machine instructions into a cubin, the
 * image that a driver (or the software GPU) loads. It needs no vendor tool. The language is
 * described in docs/formats/assembly.md; instructions are what ws_sass_format() writes and
 * ws_sass_encode() reads.
 *
 * It only translates: registers, stalls and scoreboards are what the text says. A mistake is
 * reported with its line and column, and reading goes on, so that one run reports all of them (up
 * to WS_ASSEMBLE_MAX_ERRORS).
 *
 * **Threads.** Nothing is shared between calls.
 */
#ifndef WARPSCOPE_ASSEMBLE_H
#define WARPSCOPE_ASSEMBLE_H

#include <warpscope/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WS_ASSEMBLE_MAX_ERRORS = 100,      /**< reported; after that reading stops */
	WS_ASSEMBLE_MAX_SOURCE = 64 << 20, /**< bytes of source text */
};

/** How to assemble. A zeroed structure follows the text and reports to nobody. */
struct ws_assemble_options {
	const char
		*arch; /**< "sm_90" or "sm_90a", overrides the text's `.arch`; NULL: the text's */
	/**
	 * Called for each mistake in the order of the text, as far as one pass after the other
	 * allows. Line and column count from 1, the column in bytes. May be NULL.
	 */
	void (*report)(void *user, uint32_t line, uint32_t column, const char *message);
	void *user;
};

/** A finished image. */
struct ws_assembly;

/**
 * Assembles a text.
 *
 * @param source   The text; needed during the call only.
 * @param options  NULL: as zeroed.
 *
 * @retval WS_MALFORMED    there are mistakes in the text, all reported; `err` has the first.
 * @retval WS_UNSUPPORTED  no instruction table for the architecture.
 * @retval WS_ARGUMENT     `options->arch` is not an architecture.
 * @retval WS_LIMIT        the text is longer than WS_ASSEMBLE_MAX_SOURCE.
 * @retval WS_NO_MEMORY
 */
WS_API enum ws_status ws_assemble(struct ws_str source, const struct ws_assemble_options *options,
				  struct ws_assembly **ret_assembly,
				  struct ws_error *err) WS_MUST_USE;

/** The cubin; valid until `assembly` is destroyed. */
WS_API struct ws_span ws_assembly_image(const struct ws_assembly *assembly);

/**
 * Writes a name as ws_assemble() reads it: as it is where it is a word of the language, else in
 * quotes, with \xNN for a quote, a backslash and each byte that is not printable ASCII. The text is
 * terminated, and cut where `size` is too small.
 *
 * @return bytes of the whole text, without its end; at most 4 for each byte of the name, and 2.
 */
WS_API size_t ws_assemble_name(struct ws_str name, char *buffer, size_t size);

/** NULL is fine. */
WS_API void ws_assembly_destroy(struct ws_assembly *assembly);

#ifdef __cplusplus
}
#endif
#endif
