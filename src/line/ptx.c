/* SPDX-License-Identifier: Apache-2.0 */
#include "line/map.h"

/* Start of every STRIDE-th line is kept: memory is a small part of the text's size. */
enum {
	STRIDE = 16,
};

struct ws_line_ptx {
	struct ws_span text;
	size_t n_lines;
	size_t *start; /* owned: of lines 1, 1 + STRIDE, ... */
	size_t n_starts, starts_cap;
};

/* Offset one past the line at `off`; a last line may lack its NUL. */
static size_t ptx_line_end(struct ws_span text, size_t off, size_t *ret_next)
{
	const uint8_t *nul = memchr(text.ptr + off, 0, text.len - off);
	size_t end = nul ? (size_t)(nul - text.ptr) : text.len;
	*ret_next = nul ? end + 1 : end;
	return end;
}

enum ws_status ws_line_ptx_create(struct ws_span text, struct ws_line_ptx **ret_ptx,
				  struct ws_error *err)
{
	if (text.len == 0)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "no PTX text");
	struct ws_line_ptx *ptx = wsi_zalloc(sizeof *ptx);
	if (!ptx)
		return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "PTX text");
	ptx->text = text;
	for (size_t off = 0; off < text.len; ptx->n_lines++) {
		if (ptx->n_lines % STRIDE == 0) {
			if (!wsi_grow(&ptx->start, &ptx->starts_cap, ptx->n_starts,
				      sizeof *ptx->start, SIZE_MAX / sizeof *ptx->start)) {
				ws_line_ptx_destroy(ptx);
				return wsi_fail(err, WS_NO_MEMORY, WS_NO_OFFSET, "PTX text");
			}
			ptx->start[ptx->n_starts++] = off;
		}
		ptx_line_end(text, off, &off);
	}
	*ret_ptx = ptx;
	return WS_OK;
}

void ws_line_ptx_destroy(struct ws_line_ptx *ptx)
{
	if (!ptx)
		return;
	wsi_free(ptx->start);
	wsi_free(ptx);
}

size_t ws_line_ptx_count(const struct ws_line_ptx *ptx)
{
	return ptx->n_lines;
}

enum ws_status ws_line_ptx_at(const struct ws_line_ptx *ptx, uint64_t number,
			      struct ws_str *ret_text, struct ws_error *err)
{
	if (number == 0 || number > ptx->n_lines)
		return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET,
				"the PTX text has %zu lines, not %" PRIu64, ptx->n_lines, number);
	size_t index = (size_t)number - 1;
	size_t off = ptx->start[index / STRIDE], end = 0, next = off;
	for (size_t i = 0; i <= index % STRIDE; i++) {
		off = next;
		end = ptx_line_end(ptx->text, off, &next);
	}
	*ret_text = (struct ws_str){ (const char *)ptx->text.ptr + off, end - off };
	return WS_OK;
}
