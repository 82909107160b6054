// SPDX-License-Identifier: Apache-2.0
// Tensor memory, and products of matrices into it: sm_100a.
#include "mbarrier.h"

#ifdef __CUDA_ARCH_FEAT_SM100_ALL

__device__ static inline void allocate(u32 *where, u32 columns)
{
	asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(where)), "r"(columns) : "memory");
}

__device__ static inline void relinquish()
{
	asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
}

__device__ static inline void release(u32 base, u32 columns)
{
	asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base), "r"(columns));
}

__device__ static inline void before_sync()
{
	asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

__device__ static inline void after_sync()
{
	asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

__device__ static inline void wait_loads()
{
	asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

__device__ static inline void wait_stores()
{
	asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

#define FOUR_OUT(r) "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3])
#define FOUR_IN(r) "r"((r)[0]), "r"((r)[1]), "r"((r)[2]), "r"((r)[3])

// Columns of a warp's 32 lanes, four at a time: [column * 128 + lane].
__device__ static inline void put_columns(u32 address, const u32 *cells, int n)
{
	for (int c = 0; c < n; c += 4) {
		u32 r[4];
		for (int i = 0; i < 4; i++)
			r[i] = cells[(c + i) * 128 + (int)threadIdx.x];
		asm volatile("tcgen05.st.sync.aligned.32x32b.x4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address + (u32)c), FOUR_IN(r) : "memory");
	}
	wait_stores();
}

#define EIGHT(r, i) "=r"((r)[i]), "=r"((r)[(i) + 1]), "=r"((r)[(i) + 2]), "=r"((r)[(i) + 3]), "=r"((r)[(i) + 4]), "=r"((r)[(i) + 5]), "=r"((r)[(i) + 6]), "=r"((r)[(i) + 7])

__device__ static inline void get_columns(u32 address, u32 *cells, int n)
{
	for (int c = 0; c < n; c += 32) {
		u32 r[32];
		asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
			     "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];"
			     : EIGHT(r, 0), EIGHT(r, 8), EIGHT(r, 16), EIGHT(r, 24)
			     : "r"(address + (u32)c));
		wait_loads();
		for (int i = 0; i < 32; i++)
			cells[(c + i) * 128 + (int)threadIdx.x] = r[i];
	}
}

// ---- shapes ----

#define LOAD(n, shape, offset, more) \
	asm volatile("tcgen05.ld.sync.aligned." shape ".b32 {%0, %1, %2, %3}, [%4]" more ";" : FOUR_OUT(r) : "r"(slab + (offset))); \
	wait_loads(); \
	for (int i = 0; i < 4; i++) \
		out[(n) * 512 + t * 4 + i] = r[i];

KERNEL tensor_loads(u32 *out, const u32 *cells)
{
	__shared__ u32 where;
	int t = (int)threadIdx.x;
	if (t < 32) {
		allocate(&where, 32);
		relinquish();
	}
	__syncthreads();
	u32 slab = where + ((u32)(t & ~31) << 16), r[4];
	put_columns(slab, cells, 32);
	LOAD(0, "32x32b.x4", 3, "")
	LOAD(1, "16x64b.x4", 16 << 16, "")
	LOAD(2, "16x128b.x2", 5, "")
	LOAD(3, "16x256b.x1", (16 << 16) + 2, "")
	LOAD(4, "16x32bx2.x4", 1, ", 9")
	LOAD(5, "32x32b.x4.pack::16b", 7, "")
	LOAD(6, "16x128b.x2.pack::16b", 3, "")
	__syncthreads();
	if (t < 32)
		release(where, 32);
}

#define STORE(n, shape, offset, more) \
	for (int i = 0; i < 4; i++) \
		r[i] = in[(n) * 512 + t * 4 + i]; \
	asm volatile("tcgen05.st.sync.aligned." shape ".b32 [%0]" more ", {%1, %2, %3, %4};" ::"r"(slab + (offset)), FOUR_IN(r) : "memory"); \
	wait_stores();

KERNEL tensor_stores(u32 *cells, const u32 *in)
{
	__shared__ u32 where;
	int t = (int)threadIdx.x;
	if (t < 32)
		allocate(&where, 64);
	__syncthreads();
	u32 slab = where + ((u32)(t & ~31) << 16), r[4];
	put_columns(slab, cells, 64);
	STORE(0, "32x32b.x4", 0, "")
	STORE(1, "16x64b.x4", 5, "")
	STORE(2, "16x128b.x2", (16 << 16) + 5, "")
	STORE(3, "16x256b.x1", 16, "")
	STORE(4, "16x32bx2.x4", (16 << 16) + 16, ", 5")
	STORE(5, "32x32b.x4.unpack::16b", 32, "")
	get_columns(slab, cells, 64);
	__syncthreads();
	if (t < 32) {
		release(where, 64);
		relinquish();
	}
}

// ---- from shared memory ----

__device__ static inline u64 descriptor(const void *p, u32 leading, u32 stride, u32 swizzle)
{
	return (u64)(shared_address(p) >> 4 & 0x3fff) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | (u64)1 << 46 | (u64)swizzle << 62;
}

__device__ static inline void commit(u64 *bar)
{
	asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(bar)) : "memory");
}

#define COPY(shape, column) asm volatile("tcgen05.cp.cta_group::1." shape " [%0], %1;" ::"r"(base + (column)), "l"(d) : "memory");

// 128 rows of 32 bytes, with no swizzle.
KERNEL tensor_copies(u32 *cells, const u32 *in)
{
	__shared__ alignas(1024) u32 m[1024];
	__shared__ u64 bar;
	__shared__ u32 where;
	int t = (int)threadIdx.x;
	for (int i = t; i < 1024; i += 128)
		m[i] = in[i];
	if (t < 32)
		allocate(&where, 32);
	if (t == 0)
		mbarrier_init(&bar, 1);
	proxy_fence();
	before_sync();
	__syncthreads();
	after_sync();
	u32 base = where, slab = base + ((u32)(t & ~31) << 16);
	put_columns(slab, cells, 32);
	before_sync();
	__syncthreads();
	after_sync();
	if (t == 0) {
		u64 d = descriptor(m, 128, 256, 0);
		COPY("128x256b", 0)
		COPY("128x128b", 8)
		COPY("64x128b.warpx2::02_13", 12)
		COPY("64x128b.warpx2::01_23", 16)
		COPY("32x128b.warpx4", 20)
		asm volatile("tcgen05.shift.cta_group::1.down [%0];" ::"r"(base + 24) : "memory");
		asm volatile("tcgen05.shift.cta_group::1.down [%0];" ::"r"(base + 24 + (64 << 16)) : "memory");
		COPY("4x256b", 24 + (31 << 16))
		commit(&bar);
	}
	mbarrier_wait(&bar, 0);
	after_sync();
	get_columns(slab, cells, 32);
	__syncthreads();
	if (t < 32)
		release(base, 32);
}

// Blocks of one SM want more than there is: they wait for each other.
KERNEL tensor_contention(u32 *out, u32 *used, int columns)
{
	__shared__ u32 where;
	int t = (int)threadIdx.x;
	u32 sm;
	asm("mov.u32 %0, %%smid;" : "=r"(sm));
	for (int round = 0; round < 3; round++) {
		if (t < 32)
			allocate(&where, (u32)columns);
		__syncthreads();
		u32 base = where, mine = blockIdx.x * 1000u + (u32)(round * 100 + t), r;
		u32 bits = ((1u << columns / 32) - 1) << (base & 0xffff) / 32;
		if (t == 0 && (atomicOr(&used[sm], bits) & bits))
			out[0] = 0xbad; // another block has them
		if (t < 32) {
			asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(base), "r"(mine) : "memory");
			wait_stores();
		}
		__nanosleep(20);
		if (t < 32) {
			asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(r) : "r"(base));
			wait_loads();
			if (r != mine)
				out[1] = 0xbad;
			out[(blockIdx.x * 3u + (u32)round) * 32 + (u32)t + 2] = r;
			if (t == 0)
				atomicAnd(&used[sm], ~bits);
			release(base, (u32)columns);
		}
		__syncthreads();
	}
}

// ---- products ----

struct plan {
	u32 leading_a, stride_a, leading_b, stride_b, swizzle, step_a, step_b, instruction, adds;
};

enum { COLUMNS = 64, MORE = 32 }; // of D, and behind them

// D, then more: what is in tensor memory before and after. PRODUCT has D %0, A %1, B %2, instruction %3, and p.
#define TENSOR_PRODUCT(name, type_a, first, product, ...) \
	KERNEL name(u32 *cells, const u32 *a, const u32 *b, plan s, int steps) \
	{ \
		__shared__ alignas(1024) u32 ma[4096]; \
		__shared__ alignas(1024) u32 mb[4096]; \
		__shared__ u64 bar; \
		__shared__ u32 where; \
		int t = (int)threadIdx.x; \
		for (int i = t; i < 4096; i += 128) { \
			ma[i] = a[i]; \
			mb[i] = b[i]; \
		} \
		(void)ma; \
		if (t < 32) \
			allocate(&where, 128); \
		if (t == 0) \
			mbarrier_init(&bar, 1); \
		proxy_fence(); \
		before_sync(); \
		__syncthreads(); \
		after_sync(); \
		u32 base = where, slab = base + ((u32)(t & ~31) << 16); \
		put_columns(slab, cells, COLUMNS + MORE); \
		before_sync(); \
		__syncthreads(); \
		after_sync(); \
		if (t == 0) { \
			for (int k = 0; k < steps; k++) { \
				type_a da = (type_a)(first); \
				u64 db = descriptor((char *)mb + k * s.step_b, s.leading_b, s.stride_b, s.swizzle); \
				asm volatile("{.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n" product "}" ::"r"(base), type_a##_REG(da), "l"(db), "r"(s.instruction), \
					     "r"(s.adds | (u32)k)__VA_ARGS__ \
					     : "memory"); \
			} \
			commit(&bar); \
		} \
		mbarrier_wait(&bar, 0); \
		after_sync(); \
		get_columns(slab, cells, COLUMNS + MORE); \
		__syncthreads(); \
		if (t < 32) \
			release(base, 128); \
	}

#define u64_REG(x) "l"(x)
#define u32_REG(x) "r"(x)
#define SHARED_A descriptor((char *)ma + k * s.step_a, s.leading_a, s.stride_a, s.swizzle)
#define TENSOR_A (base + COLUMNS + (u32)k * 8)
#define SCALE_A , "r"(base + COLUMNS), "r"(base + COLUMNS + 8)
#define META_A , "r"(base + COLUMNS + 16)
#define SCALE_META_A SCALE_A META_A
#define NO_COLUMNS , "l"((u64)(s.adds >> 1)) /* of B: none is left out */
#define LEFT_OUT , "r"(0x80000001), "r"(0xff), "r"(0), "r"(0xf0f0f0f0)

TENSOR_PRODUCT(tensor_f16, u64, SHARED_A, "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;")
TENSOR_PRODUCT(tensor_f16_both, u32, TENSOR_A, "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;")
TENSOR_PRODUCT(tensor_f16_apart, u64, SHARED_A, "tcgen05.mma.ws.cta_group::1.kind::f16 [%0], %1, %2, %3, p;")
TENSOR_PRODUCT(tensor_f16_columns, u64, SHARED_A, "tcgen05.mma.ws.cta_group::1.kind::f16 [%0], %1, %2, %3, p, %5;", NO_COLUMNS)
TENSOR_PRODUCT(tensor_f16_less, u64, SHARED_A, "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, {%5, %6, %7, %8}, p, 3;", LEFT_OUT)
TENSOR_PRODUCT(tensor_tf32, u64, SHARED_A, "tcgen05.mma.cta_group::1.kind::tf32 [%0], %1, %2, %3, p;")
TENSOR_PRODUCT(tensor_small, u64, SHARED_A, "tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, p;")
TENSOR_PRODUCT(tensor_integers, u64, SHARED_A, "tcgen05.mma.cta_group::1.kind::i8 [%0], %1, %2, %3, p;")
TENSOR_PRODUCT(tensor_scaled, u64, SHARED_A, "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%5], [%6], p;", SCALE_A)
TENSOR_PRODUCT(tensor_scaled_4, u64, SHARED_A, "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%0], %1, %2, %3, [%5], [%6], p;", SCALE_A)
TENSOR_PRODUCT(tensor_scaled_16, u64, SHARED_A, "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%5], [%6], p;", SCALE_A)

TENSOR_PRODUCT(tensor_sparse_f16, u64, SHARED_A, "tcgen05.mma.sp.cta_group::1.kind::f16 [%0], %1, %2, [%5], %3, p;", META_A)
TENSOR_PRODUCT(tensor_sparse_both, u32, TENSOR_A, "tcgen05.mma.sp.cta_group::1.kind::f16 [%0], [%1], %2, [%5], %3, p;", META_A)
TENSOR_PRODUCT(tensor_sparse_tf32, u64, SHARED_A, "tcgen05.mma.sp.cta_group::1.kind::tf32 [%0], %1, %2, [%5], %3, p;", META_A)
TENSOR_PRODUCT(tensor_sparse_small, u64, SHARED_A, "tcgen05.mma.sp.cta_group::1.kind::f8f6f4 [%0], %1, %2, [%5], %3, p;", META_A)
TENSOR_PRODUCT(tensor_sparse_integers, u64, SHARED_A, "tcgen05.mma.sp.cta_group::1.kind::i8 [%0], %1, %2, [%5], %3, p;", META_A)
TENSOR_PRODUCT(tensor_sparse_scaled, u64, SHARED_A, "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale [%0], %1, %2, [%7], %3, [%5], [%6], p;", SCALE_META_A)
TENSOR_PRODUCT(tensor_sparse_scaled_16, u64, SHARED_A, "tcgen05.mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, [%7], %3, [%5], [%6], p;", SCALE_META_A)

// Two blocks together: each has its rows of A, its columns of B, and gets its rows of D.
extern "C" __global__ void __cluster_dims__(2, 1, 1) tensor_pair(u32 *cells, const u32 *a, const u32 *b, plan s, int steps)
{
	__shared__ alignas(1024) u32 ma[4096];
	__shared__ alignas(1024) u32 mb[4096];
	__shared__ u64 bar;
	__shared__ u32 where;
	int t = (int)threadIdx.x, rank = (int)blockIdx.x;
	cells += rank * (COLUMNS * 128);
	for (int i = t; i < 4096; i += 128) {
		ma[i] = a[rank * 4096 + i];
		mb[i] = b[rank * 4096 + i];
	}
	if (t < 32) {
		asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(shared_address(&where)) : "memory");
		asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
	}
	if (t == 0)
		mbarrier_init(&bar, 1);
	proxy_fence();
	before_sync();
	__syncthreads();
	after_sync();
	u32 base = where, slab = base + ((u32)(t & ~31) << 16);
	put_columns(slab, cells, COLUMNS);
	before_sync();
	cluster_sync();
	after_sync();
	if (t == 0 && rank == 0) {
		for (int k = 0; k < steps; k++) {
			u64 da = descriptor((char *)ma + k * s.step_a, s.leading_a, s.stride_a, s.swizzle);
			u64 db = descriptor((char *)mb + k * s.step_b, s.leading_b, s.stride_b, s.swizzle);
			asm volatile("{.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(base), "l"(da), "l"(db),
				     "r"(s.instruction), "r"(s.adds | (u32)k)
				     : "memory");
		}
		asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(shared_address(&bar)),
			     "h"((unsigned short)3)
			     : "memory");
	}
	mbarrier_wait(&bar, 0);
	after_sync();
	get_columns(slab, cells, COLUMNS);
	cluster_sync();
	if (t < 32)
		asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 64;" ::"r"(base));
}

// ---- mistakes ----

// 0: does not release; 1: a column that is not its own; 2: a lane of another warp; 3: a shape that there is not.
KERNEL tensor_mistake(u32 *out, int what)
{
	__shared__ u32 where;
	int t = (int)threadIdx.x;
	u32 r = 0;
	if (t < 32)
		allocate(&where, 32);
	__syncthreads();
	u32 base = where + ((u32)(t & ~31) << 16);
	if (what == 1)
		base += 32;
	if (what == 2 && t >= 32)
		base = where;
	if (what != 3)
		asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(r) : "r"(base));
	else if (t == 0)
		asm volatile("{.reg .pred p;\nsetp.ne.b32 p, %0, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %1, %2, p;}" ::"r"(base), "l"((u64)0), "r"(0x10)
			     : "memory");
	wait_loads();
	out[t] = r;
	if (what != 0 && t < 32)
		release(where, 32);
}
#endif
