/* SPDX-License-Identifier: Apache-2.0 */
/* See matrix.h. */
#include "sim/exec/matrix.h"

#include "alu/matrix.h"

enum { BLOCK = 8 };

void wsi_matrix_type(struct wsi_matrix *m, enum ws_modifier type)
{
	m->type = type;
	m->bits = type == WS_MOD_TF32 || type == WS_MOD_U32    ? 32
		  : type == WS_MOD_F16 || type == WS_MOD_BF16  ? 16
		  : type == WS_MOD_E2M3 || type == WS_MOD_E3M2 ? 6
		  : type == WS_MOD_E2M1                        ? 4
							       : 8;
	m->piece = m->bits == 6 ? WSI_MATRIX_PIECE : WSI_MATRIX_PIECE * 8 / m->bits;
}

bool wsi_matrix_describe(struct wsi_matrix *m, uint64_t descriptor)
{
	unsigned mode = (unsigned)(descriptor >> 62);
	m->start = (uint32_t)(descriptor & 0x3fff) << 4;
	m->leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4;
	m->stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4;
	m->swizzle = mode ? 4 - mode : 0;
	/* patterns that start elsewhere, absolute addresses, swizzles of 32 bytes at a time */
	return (descriptor >> 49 & 0xf) == 0 && (descriptor >> 61 & 1) == 0;
}

/* Where a piece is whose first element this is. */
static uint32_t place_of_piece(const struct wsi_matrix *m, unsigned row, unsigned depth)
{
	unsigned n = m->piece, wide = n << m->swizzle;
	uint32_t line = (uint32_t)WSI_MATRIX_PIECE << m->swizzle, at = m->start;
	if (m->by_rows && m->swizzle)
		at += row % wide / n * WSI_MATRIX_PIECE + row / wide * m->leading +
		      depth % BLOCK * line + depth / BLOCK * m->stride;
	else if (m->by_rows)
		at += row / n * m->stride + depth % BLOCK * line + depth / BLOCK * m->leading;
	else if (m->swizzle)
		at += row % BLOCK * line + row / BLOCK * m->stride + depth / n * WSI_MATRIX_PIECE;
	else
		at += row % BLOCK * line + row / BLOCK * m->stride + depth / n * m->leading;
	return at ^ ((at >> 7 & ((1u << m->swizzle) - 1)) << 4);
}

/* Element i of a piece: side by side, from the lowest bit on. */
static double piece_element(const struct wsi_matrix *m, const uint8_t *piece, unsigned i)
{
	unsigned bit = i * m->bits, byte = bit / 8;
	uint64_t bits = wsi_load_le(piece + byte, (bit % 8 + m->bits + 7) / 8) >> bit % 8;
	return wsi_alu_matrix_value(m->type, (uint32_t)(bits & ((UINT64_C(1) << m->bits) - 1)));
}

bool wsi_matrix_piece(struct wsi_run *run, const struct wsi_matrix *m,
		      const struct wsi_block *block, unsigned row, unsigned depth,
		      uint8_t ret_bytes[WSI_MATRIX_PIECE])
{
	struct wsi_lane_spot spot;
	if (!wsi_sim_spot(run, WS_SASS_SPACE_SHARED, wsi_first_bit(run->mask),
			  place_of_piece(m, row, depth) | block->rank << 24, WSI_MATRIX_PIECE,
			  false, &spot))
		return false;
	memcpy(ret_bytes, spot.bytes, WSI_MATRIX_PIECE);
	return true;
}

bool wsi_matrix_load(struct wsi_run *run, const struct wsi_matrix *m, const struct wsi_block *block,
		     unsigned first, unsigned rows, unsigned depth, double (*to)[WSI_MATRIX_DEPTH])
{
	unsigned row_step = m->by_rows ? m->piece : 1, depth_step = m->by_rows ? 1 : m->piece;
	for (unsigned row = 0; row < rows; row += row_step) {
		for (unsigned k = 0; k < depth; k += depth_step) {
			uint8_t bytes[WSI_MATRIX_PIECE];
			if (!wsi_matrix_piece(run, m, block, first + row, k, bytes))
				return false;
			for (unsigned i = 0; i < m->piece; i++)
				to[row + (m->by_rows ? i : 0)][k + (m->by_rows ? 0 : i)] =
					piece_element(m, bytes, i);
		}
	}
	return true;
}
