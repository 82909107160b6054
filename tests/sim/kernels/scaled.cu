// SPDX-License-Identifier: Apache-2.0
// Products of matrices by the warp with a scale factor for some elements along the depth: sm_120a.
#include "kernel.h"

#define SUMS "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define A "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3])
#define TWO "r"(rb[0]), "r"(rb[1])
#define FOUR "r"(rb[0]), "r"(rb[1]), "r"(rb[2]), "r"(rb[3])

// Of A the first byte and the threads, of B the same.
#define DENSE(shape, kind, types, byte_a, thread_a, byte_b, thread_b) \
	asm volatile("mma.sync.aligned." shape ".row.col.kind::" kind ".f32." types \
		     " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {%12, %13}, {%11}, {%14, %15};" \
		     : SUMS \
		     : A, TWO, "r"(sa), "r"(sb), "n"(byte_a), "n"(thread_a), "n"(byte_b), "n"(thread_b));
#define SPARSE(shape, kind, types, byte_a, thread_a, byte_b, thread_b) \
	asm volatile("mma.sp::ordered_metadata.sync.aligned." shape ".row.col.kind::" kind ".f32." types \
		     " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %14, 0, {%12}, {%15, %16}, {%13}, {%17, %18};" \
		     : SUMS \
		     : A, FOUR, "r"(sa), "r"(sb), "r"(e), "n"(byte_a), "n"(thread_a), "n"(byte_b), "n"(thread_b));

// Registers of each thread: four of A, of B and of D, the factors of A and of B, the places of what a sparse A has.
#define KERNEL_OF(name, product) \
	KERNEL name(u32 *out, const u32 *a, const u32 *b, const u32 *factors_a, const u32 *factors_b, const u32 *places) \
	{ \
		int t = (int)threadIdx.x; \
		u32 ra[4], rb[4], d[4], sa = factors_a[t], sb = factors_b[t], e = places[t]; \
		for (int i = 0; i < 4; i++) { \
			ra[i] = a[t * 4 + i]; \
			rb[i] = b[t * 4 + i]; \
			d[i] = out[t * 4 + i]; \
		} \
		product for (int i = 0; i < 4; i++) out[t * 4 + i] = d[i]; \
	}

#define BYTES "mxf8f6f4.block_scale.scale_vec::1X"
#define TWO_FACTORS "mxf4.block_scale.scale_vec::2X"
#define FOUR_FACTORS "mxf4nvf4.block_scale.scale_vec::4X"

KERNEL_OF(scaled_e4m3, DENSE("m16n8k32", BYTES, "e4m3.e4m3.f32.ue8m0", 0, 0, 0, 0))
KERNEL_OF(scaled_mixed, DENSE("m16n8k32", BYTES, "e5m2.e2m1.f32.ue8m0", 3, 1, 2, 3))
KERNEL_OF(scaled_e2m1, DENSE("m16n8k64", TWO_FACTORS, "e2m1.e2m1.f32.ue8m0", 0, 1, 2, 1))
KERNEL_OF(scaled_e2m1_4, DENSE("m16n8k64", FOUR_FACTORS, "e2m1.e2m1.f32.ue4m3", 0, 0, 0, 2))
KERNEL_OF(scaled_sparse, SPARSE("m16n8k64", BYTES, "e3m2.e4m3.f32.ue8m0", 1, 1, 3, 2))
KERNEL_OF(scaled_sparse_e2m1, SPARSE("m16n8k128", TWO_FACTORS, "e2m1.e2m1.f32.ue8m0", 2, 0, 0, 3))
KERNEL_OF(scaled_sparse_e2m1_4, SPARSE("m16n8k128", FOUR_FACTORS, "e2m1.e2m1.f32.ue4m3", 0, 1, 0, 0))
