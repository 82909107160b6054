/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices in shared memory that are told by descriptors [public doc: PTX ISA, matrix descriptors
 * and canonical layouts of wgmma and tcgen05].
 */
#ifndef WSI_SIM_MATRIX_H
#define WSI_SIM_MATRIX_H

#include "sim/exec/access.h"

enum {
	WSI_MATRIX_DEPTH = 128, /* elements that products are made of at once, at most */
	WSI_MATRIX_PIECE = 16,  /* bytes that always are together */
};

/* Rows of A, or columns of B, and what lies along their depth. */
struct wsi_matrix {
	uint32_t start, leading, stride; /* bytes */
	unsigned swizzle;                /* 0: none, else lines of 16 << swizzle bytes */
	bool by_rows; /* elements beside each other differ in row, not in depth */
	enum ws_modifier type;
	unsigned bits;  /* of an element */
	unsigned piece; /* elements in WSI_MATRIX_PIECE bytes, the first ones if they do not fill it
			 */
};

/* Sets the type of elements, and how they lie when a piece holds as many as it can. */
void wsi_matrix_type(struct wsi_matrix *m, enum ws_modifier type);

/* Takes a descriptor. False: one of a kind that is not implemented. */
bool wsi_matrix_describe(struct wsi_matrix *m, uint64_t descriptor);

/* The bytes of a piece, by its first element. False: the fault is recorded. */
bool wsi_matrix_piece(struct wsi_run *run, const struct wsi_matrix *m,
		      const struct wsi_block *block, unsigned row, unsigned depth,
		      uint8_t ret_bytes[WSI_MATRIX_PIECE]);

/*
 * Values of `rows` rows from `first` on, of a matrix in the shared memory of `block`; row r from
 * to[r] on. False: the fault is recorded.
 */
bool wsi_matrix_load(struct wsi_run *run, const struct wsi_matrix *m, const struct wsi_block *block,
		     unsigned first, unsigned rows, unsigned depth, double (*to)[WSI_MATRIX_DEPTH]);

#endif
