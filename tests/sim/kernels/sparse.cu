// SPDX-License-Identifier: Apache-2.0
// Products of matrices by the warp whose A has every second element only: sm_80 and later.
#include "kernel.h"

#if __CUDA_ARCH__ >= 1000
#define SP "mma.sp::ordered_metadata"
#else
#define SP "mma.sp"
#endif
#define FOUR(x) "r"((x)[0]), "r"((x)[1]), "r"((x)[2]), "r"((x)[3])
#define TWO(x) "r"((x)[0]), "r"((x)[1])
#define SUMS "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])

#define ALL(which, shape) \
	asm volatile(SP ".sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, " which ";" \
		     : SUMS \
		     : FOUR(ra), FOUR(rb), "r"(e));
#define HALF(which, shape) \
	asm volatile("mma.sp.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, " which ";" : SUMS : TWO(ra), TWO(rb), "r"(e));

// Registers of each thread: four of A, four of B, four of D, and the places of what A has.
#define KERNEL_OF(name, product) \
	KERNEL name(u32 *out, const u32 *a, const u32 *b, const u32 *places) \
	{ \
		int t = (int)threadIdx.x; \
		u32 ra[4], rb[4], d[4], e = places[t]; \
		for (int i = 0; i < 4; i++) { \
			ra[i] = a[t * 4 + i]; \
			rb[i] = b[t * 4 + i]; \
			d[i] = out[t * 4 + i]; \
		} \
		product for (int i = 0; i < 4; i++) out[t * 4 + i] = d[i]; \
	}

KERNEL_OF(sparse_f16_0, ALL("0", "m16n8k32.row.col.f32.f16.f16.f32"))
KERNEL_OF(sparse_f16_1, ALL("1", "m16n8k32.row.col.f32.f16.f16.f32"))
KERNEL_OF(sparse_bf16, HALF("2", "m16n8k16.row.col.f32.bf16.bf16.f32"))
KERNEL_OF(sparse_tf32, ALL("1", "m16n8k16.row.col.f32.tf32.tf32.f32"))
KERNEL_OF(sparse_tf32_half, HALF("3", "m16n8k8.row.col.f32.tf32.tf32.f32"))
KERNEL_OF(sparse_s8, ALL("0", "m16n8k64.row.col.s32.s8.s8.s32"))
#if __CUDA_ARCH__ < 900
KERNEL_OF(sparse_s4, ALL("0", "m16n8k128.row.col.s32.s4.s4.s32"))
KERNEL_OF(sparse_s4_half, HALF("0", "m16n8k64.row.col.s32.s4.s4.s32"))
#endif
KERNEL_OF(sparse_s8_half, HALF("1", "m16n8k32.row.col.s32.s8.s8.s32"))
#if __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
KERNEL_OF(sparse_e4m3, ALL("0", "m16n8k64.row.col.f32.e4m3.e4m3.f32"))
#endif
#if __CUDA_ARCH__ >= 1200
KERNEL_OF(sparse_e2m1, ALL("0", "m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32"))
KERNEL_OF(sparse_e2m3, ALL("0", "m16n8k64.row.col.kind::f8f6f4.f32.e2m3.e2m3.f32"))
KERNEL_OF(sparse_e3m2, ALL("0", "m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e3m2.f32"))
#endif
