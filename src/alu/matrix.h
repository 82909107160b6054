/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of matrices, for products that are made elsewhere: in shared memory, by several warps.
 */
#ifndef WSI_ALU_MATRIX_H
#define WSI_ALU_MATRIX_H

#include <warpscope/sass.h>

/* Exact. Types: F16, BF16, TF32, E4M3, E5M2, E2M3, E3M2, E2M1, U8, S8. */
double wsi_matrix_value(enum ws_modifier type, uint32_t bits);

/* A scale factor of an exponent only. */
double wsi_matrix_power(uint32_t exponent);

/* A sum, rounded once to the type of an accumulator. */
uint32_t wsi_matrix_single(double sum);
uint32_t wsi_matrix_half(double sum);

#endif
