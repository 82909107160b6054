// SPDX-License-Identifier: Apache-2.0
// Matrices that four warps multiply together: sm_90a.
#include "mbarrier.h"

// A descriptor: address, offsets in bytes, 0 or the code of a swizzle.
__device__ static inline u64 matrix_descriptor(const void *p, u32 leading, u32 stride, u32 swizzle)
{
	return (u64)(shared_address(p) >> 4 & 0x3fff) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | (u64)swizzle << 62;
}

__device__ static inline void group_fence()
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ static inline void group_wait()
{
	asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// What both matrices are in shared memory, and how to find them there.
struct shapes {
	u32 leading_a, stride_a, leading_b, stride_b, swizzle, step_a, step_b;
};

#define ACCUMULATORS "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define SUMS "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])

// 64x16 = 64x(16*steps) * (16*steps)x16; KIND: type of product, its depth, what follows.
#define PRODUCT(name, kind, more) \
	KERNEL name(float *out, const u32 *a, const u32 *b, shapes s, int steps) \
	{ \
		__shared__ alignas(1024) u32 ma[4096]; \
		__shared__ alignas(1024) u32 mb[4096]; \
		int t = (int)threadIdx.x; \
		for (int i = t; i < 4096; i += 128) { \
			ma[i] = a[i]; \
			mb[i] = b[i]; \
		} \
		proxy_fence(); \
		__syncthreads(); \
		float d[8]; \
		for (int i = 0; i < 8; i++) \
			d[i] = out[t * 8 + i]; \
		group_fence(); \
		for (int k = 0; k < steps; k++) { \
			u64 da = matrix_descriptor((char *)ma + k * s.step_a, s.leading_a, s.stride_a, s.swizzle); \
			u64 db = matrix_descriptor((char *)mb + k * s.step_b, s.leading_b, s.stride_b, s.swizzle); \
			asm volatile("wgmma.mma_async.sync.aligned.m64n16" kind " " ACCUMULATORS ", %8, %9, 1, " more ";" : SUMS : "l"(da), "l"(db)); \
		} \
		group_wait(); \
		for (int i = 0; i < 8; i++) \
			out[t * 8 + i] = d[i]; \
	}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
PRODUCT(group_f16, "k16.f32.f16.f16", "1, 1, 0, 0")
PRODUCT(group_f16_rows, "k16.f32.f16.f16", "1, 1, 1, 1")
PRODUCT(group_bf16, "k16.f32.bf16.bf16", "-1, 1, 0, 0")
PRODUCT(group_tf32, "k8.f32.tf32.tf32", "1, 1")
PRODUCT(group_fp8, "k32.f32.e4m3.e5m2", "1, 1")

KERNEL group_integers(int *out, const u32 *a, const u32 *b, shapes s)
{
	__shared__ alignas(1024) u32 ma[1024];
	__shared__ alignas(1024) u32 mb[1024];
	int t = (int)threadIdx.x;
	for (int i = t; i < 1024; i += 128) {
		ma[i] = a[i];
		mb[i] = b[i];
	}
	proxy_fence();
	__syncthreads();
	int d[8];
	for (int i = 0; i < 8; i++)
		d[i] = out[t * 8 + i];
	u64 da = matrix_descriptor(ma, s.leading_a, s.stride_a, s.swizzle), db = matrix_descriptor(mb, s.leading_b, s.stride_b, s.swizzle);
	group_fence();
	asm volatile("wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.u8 " ACCUMULATORS ", %8, %9, 1;"
		     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
		     : "l"(da), "l"(db));
	group_wait();
	for (int i = 0; i < 8; i++)
		out[t * 8 + i] = d[i];
}

// A in registers, sums of halves, without the old sum if asked.
KERNEL group_registers(u32 *out, const u32 *a, const u32 *b, shapes s, int adds)
{
	__shared__ alignas(1024) u32 mb[1024];
	int t = (int)threadIdx.x;
	for (int i = t; i < 1024; i += 128)
		mb[i] = b[i];
	proxy_fence();
	__syncthreads();
	u32 d[4], r[4];
	for (int i = 0; i < 4; i++) {
		d[i] = out[t * 4 + i];
		r[i] = a[t * 4 + i];
	}
	u64 db = matrix_descriptor(mb, s.leading_b, s.stride_b, s.swizzle);
	group_fence();
	asm volatile("{.reg .pred p;\nsetp.ne.b32 p, %9, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p, 1, 1, 0;}"
		     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
		     : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(db), "r"(adds));
	group_wait();
	for (int i = 0; i < 4; i++)
		out[t * 4 + i] = d[i];
}

// A has every second element, and each thread a word that tells which.
#define SPARSE_PRODUCT(name, type, constraint, kind, more) \
	KERNEL name(type *out, const u32 *a, const u32 *b, shapes s, const u32 *places) \
	{ \
		__shared__ alignas(1024) u32 ma[1024]; \
		__shared__ alignas(1024) u32 mb[1024]; \
		int t = (int)threadIdx.x; \
		for (int i = t; i < 1024; i += 128) { \
			ma[i] = a[i]; \
			mb[i] = b[i]; \
		} \
		proxy_fence(); \
		__syncthreads(); \
		type d[8]; \
		for (int i = 0; i < 8; i++) \
			d[i] = out[t * 8 + i]; \
		u64 da = matrix_descriptor(ma, s.leading_a, s.stride_a, s.swizzle), db = matrix_descriptor(mb, s.leading_b, s.stride_b, s.swizzle); \
		group_fence(); \
		asm volatile("wgmma.mma_async.sp.sync.aligned.m64n16" kind " " ACCUMULATORS ", %8, %9, %10, " more ";" \
			     : constraint(d[0]), constraint(d[1]), constraint(d[2]), constraint(d[3]), constraint(d[4]), constraint(d[5]), constraint(d[6]), constraint(d[7]) \
			     : "l"(da), "l"(db), "r"(places[t])); \
		group_wait(); \
		for (int i = 0; i < 8; i++) \
			out[t * 8 + i] = d[i]; \
	}

SPARSE_PRODUCT(group_sparse_f16, float, "+f", "k32.f32.f16.f16", "1, 1, 1, 1, 0, 0")
SPARSE_PRODUCT(group_sparse_tf32, float, "+f", "k16.f32.tf32.tf32", "0, 1, 1, 1")
SPARSE_PRODUCT(group_sparse_e4m3, float, "+f", "k64.f32.e4m3.e4m3", "0, 1, 1, 1")
SPARSE_PRODUCT(group_sparse_s8, int, "+r", "k64.s32.s8.s8", "0, 1")

KERNEL group_bits(int *out, const u32 *a, const u32 *b, shapes s)
{
	__shared__ alignas(1024) u32 ma[512];
	__shared__ alignas(1024) u32 mb[128];
	int t = (int)threadIdx.x;
	for (int i = t; i < 512; i += 128)
		ma[i] = a[i];
	mb[t] = b[t];
	proxy_fence();
	__syncthreads();
	int d[8];
	for (int i = 0; i < 8; i++)
		d[i] = out[t * 8 + i];
	u64 da = matrix_descriptor(ma, s.leading_a, s.stride_a, s.swizzle), db = matrix_descriptor(mb, s.leading_b, s.stride_b, s.swizzle);
	group_fence();
	asm volatile("wgmma.mma_async.sync.aligned.m64n16k256.s32.b1.b1.and.popc " ACCUMULATORS ", %8, %9, 1;"
		     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
		     : "l"(da), "l"(db));
	group_wait();
	for (int i = 0; i < 8; i++)
		out[t * 8 + i] = d[i];
}

// Eight doubles of A in each thread.
KERNEL double_deep(double *out, const double *a, const double *b)
{
	int t = (int)threadIdx.x;
	double d[4];
	a += t * 8;
	b += t * 4;
	for (int i = 0; i < 4; i++)
		d[i] = out[t * 4 + i];
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
		     : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
		     : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
	for (int i = 0; i < 4; i++)
		out[t * 4 + i] = d[i];
}
#endif
