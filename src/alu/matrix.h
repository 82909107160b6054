/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of matrices, for products that are made elsewhere: in shared memory, by several warps.
 */
#ifndef WSI_ALU_MATRIX_H
#define WSI_ALU_MATRIX_H

#include <warpscope/sass.h>

/* Exact. Types: F16, BF16, TF32, E4M3, E5M2, E2M3, E3M2, E2M1, U8, S8, and U32 for words. */
double wsi_alu_matrix_value(enum ws_modifier type, uint32_t bits);

/* A scale factor of an exponent only. */
double wsi_alu_matrix_power(uint32_t exponent);

/*
 * Where element k of a row of a sparse A is along the depth, of which it has every second one: two
 * of four, one of two with 32 bits, two pairs of four with 4 bits. `words` is a register of all
 * lanes; in threads 4 * r + `first` and those that follow are two bits for each element (of 4 bits:
 * pair) of rows r and r + 8 [public doc: PTX ISA, mma.sp, wgmma.sp].
 */
unsigned wsi_alu_matrix_dense_place(unsigned bits, const uint32_t *words, unsigned first,
				    unsigned row, unsigned k);

/* A sum, rounded once to the type of an accumulator. */
uint32_t wsi_alu_matrix_single(double sum);
uint32_t wsi_alu_matrix_half(double sum);

#endif
