/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of products of matrices: of the instruction (PTX: tcgen05.mma), and of a matrix in
 * shared memory (tcgen05.mma, wgmma). [public doc: PTX ISA, instruction descriptor, matrix
 * descriptor, shared memory descriptor]
 */
#ifndef WSI_OBJECTS_PRODUCT_H
#define WSI_OBJECTS_PRODUCT_H

#include <warpscope/opcodes.h>

#include <stdbool.h>
#include <stdint.h>

/* What an instruction descriptor asks for. */
struct wsi_product {
	unsigned m, n;
	enum ws_modifier type_a, type_b; /* WS_MOD_NONE: no type of this instruction */
};

/* NULL, or what the instruction does not have: "types of A and B", "shape". `pair`: of two blocks;
 * `apart`: the warps are apart (.ws). */
const char *wsi_product_decode(enum ws_operation operation, bool pair, bool apart, uint32_t bits,
			       struct wsi_product *ret_product);

/* Bits of a matrix descriptor that are not as they must be. `tensor`: of tcgen05.mma, else of
 * wgmma. */
uint64_t wsi_objects_matrix_odd_bits(uint64_t descriptor, bool tensor);

#endif
