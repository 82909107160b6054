// SPDX-License-Identifier: Apache-2.0
// Copies of blocks and tiles, stores that a barrier counts; from sm_90 on.
#include "mbarrier.h"

struct alignas(64) tensor_map {
	u64 word[16];
};

__device__ static inline void bulk_load(void *to, const void *from, u32 bytes, u64 *barrier)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
		     "l"(from), "r"(bytes), "r"(shared_address(barrier))
		     : "memory");
}

__device__ static inline void bulk_store(void *to, const void *from, u32 bytes)
{
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), "r"(bytes) : "memory");
}

__device__ static inline void bulk_wait()
{
	asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// In chunks through two buffers.
KERNEL bulk_copy(u32 *out, const u32 *in, int rounds)
{
	__shared__ alignas(16) u32 tile[2][128];
	__shared__ u64 full[2];
	int t = (int)threadIdx.x, from = (int)blockIdx.x * rounds * 128;
	if (t < 2)
		mbarrier_init(&full[t], 1);
	__syncthreads();
	for (int k = 0; k < rounds; k++) {
		if (t == 0) {
			asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in + from + k * 128), "r"(512));
			mbarrier_arrive_expect(&full[k & 1], 512);
			bulk_load(tile[k & 1], in + from + k * 128, 512, &full[k & 1]);
		}
		mbarrier_wait(&full[k & 1], k / 2 & 1);
		u32 v = tile[k & 1][127 - t];
		__syncthreads();
		tile[k & 1][t] = v * 3 + (u32)k;
		proxy_fence();
		__syncthreads();
		if (t == 0) {
			bulk_store(out + from + k * 128, tile[k & 1], 512);
			bulk_wait();
		}
		__syncthreads();
	}
}

// Each block to the next of its cluster, then block 0 to all.
extern "C" __global__ void __cluster_dims__(4, 1, 1) bulk_cluster(u32 *out, const u32 *in)
{
	__shared__ alignas(16) u32 own[64], got[64], all[64];
	__shared__ u64 barrier, second;
	int t = (int)threadIdx.x;
	u32 rank = blockIdx.x % 4;
	own[t] = in[thread_number()];
	if (t == 0) {
		mbarrier_init(&barrier, 1);
		mbarrier_init(&second, 1);
		mbarrier_arrive_expect(&barrier, 256);
		mbarrier_arrive_expect(&second, 256);
	}
	proxy_fence();
	cluster_sync();
	if (t == 0) {
		u32 next = (rank + 1) % 4;
		asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
				     peer_address(got, next)),
			     "r"(shared_address(own)), "r"(256), "r"(peer_address(&barrier, next))
			     : "memory");
#if __CUDA_ARCH__ >= 1200
		bulk_load(all, in + (blockIdx.x - rank) * 64, 256, &second); // here the driver would do it
#else
		if (rank == 0)
			asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
					     shared_address(all)),
				     "l"(in + blockIdx.x * 64), "r"(256), "r"(shared_address(&second)), "h"((short)15)
				     : "memory");
#endif
	}
	mbarrier_wait(&barrier, 0);
	mbarrier_wait(&second, 0);
	out[thread_number()] = got[t] * 3 + all[63 - t];
	cluster_sync();
}

#define REDUCE(operation, to) \
	asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation " [%0], [%1], %2;" ::"l"(to), "r"(shared_address(tile)), \
		     "r"(256) : "memory")

KERNEL bulk_reduce(u32 *out, const u32 *in)
{
	__shared__ alignas(16) u32 tile[64], sum[64];
	__shared__ u64 barrier;
	int t = (int)threadIdx.x;
	tile[t] = in[thread_number()];
	sum[t] = 1000000000u;
	if (t == 0) {
		mbarrier_init(&barrier, 1);
		mbarrier_arrive_expect(&barrier, 512);
	}
	proxy_fence();
	__syncthreads();
	if (t == 0) {
		REDUCE("add.u32", out);
		REDUCE("min.u32", out + 64);
		REDUCE("max.s32", out + 128);
		REDUCE("and.b32", out + 192);
		REDUCE("or.b32", out + 256);
		REDUCE("xor.b32", out + 320);
		REDUCE("add.u64", out + 384);
		REDUCE("min.s64", out + 448);
		REDUCE("inc.u32", out + 512);
		REDUCE("max.u64", out + 576);
		bulk_wait();
		for (int k = 0; k < 2; k++)
			asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], %2, [%3];" ::"r"(
					     shared_address(sum)),
				     "r"(shared_address(tile)), "r"(256), "r"(shared_address(&barrier))
				     : "memory");
	}
	mbarrier_wait(&barrier, 0);
	out[640 + thread_number()] = sum[t];
}

// Numbers whose sums are exact in each type: any order gives the same.
KERNEL bulk_reduce_floats(u32 *half, u32 *bfloat, float *single, double *wide, const u32 *in, const u32 *in_bfloat, const float *in_single,
			  const double *in_double)
{
	__shared__ alignas(16) u32 a[32], b[32];
	__shared__ alignas(16) float c[32];
	__shared__ alignas(16) double d[32];
	int t = (int)threadIdx.x;
	a[t] = in[thread_number()];
	b[t] = in_bfloat[thread_number()];
	c[t] = in_single[thread_number()];
	d[t] = in_double[thread_number()];
	proxy_fence();
	__syncthreads();
#define REDUCE_FLOATS(operation, to, from) \
	asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation " [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), \
		     "r"((u32)sizeof(from)) : "memory")
	if (t == 0) {
		REDUCE_FLOATS("add.noftz.f16", half, a);
		REDUCE_FLOATS("min.f16", half + 32, a);
		REDUCE_FLOATS("add.noftz.bf16", bfloat, b);
		REDUCE_FLOATS("max.bf16", bfloat + 32, b);
		REDUCE_FLOATS("add.f32", single, c);
		REDUCE_FLOATS("add.f64", wide, d);
		bulk_wait();
	}
}

// Stores and reductions of single values that a barrier of the next block counts.
extern "C" __global__ void __cluster_dims__(2, 1, 1) counted_stores(u32 *out, const u32 *in)
{
	__shared__ alignas(16) u32 word[32], quad[128], cell[8];
	__shared__ alignas(16) u64 wide[32], sum;
	__shared__ u64 barrier;
	int t = (int)threadIdx.x;
	u32 next = blockIdx.x % 2 ^ 1, v = in[thread_number()];
	if (t < 8)
		cell[t] = t == 3 ? 0xffffffffu : 100;
	if (t == 0) {
		sum = 0;
		mbarrier_init(&barrier, 1);
		mbarrier_arrive_expect(&barrier, 32 * (4 + 8 + 16 + 6 * 4 + 8));
	}
	cluster_sync();
	u32 b = peer_address(&barrier, next);
	u64 w = (u64)v * 0x100000001ull + 5;
	asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(peer_address(&word[t], next)), "r"(v), "r"(b)
		     : "memory");
	asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(peer_address(&wide[t], next)), "l"(w), "r"(b)
		     : "memory");
	asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %3, %4, %1}, [%2];" ::"r"(peer_address(&quad[4 * t], next)),
		     "r"(v), "r"(b), "r"(v + 1), "r"(v * 7)
		     : "memory");
#define COUNTED(operation, type, to, value) \
	asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." operation " [%0], %1, [%2];" ::"r"( \
			     peer_address(to, next)), type(value), "r"(b) : "memory")
	COUNTED("add.u32", "r", &cell[0], v);
	COUNTED("max.s32", "r", &cell[1], v);
	COUNTED("inc.u32", "r", &cell[2], 110u);
	COUNTED("min.u32", "r", &cell[3], v);
	COUNTED("xor.b32", "r", &cell[4], v);
	COUNTED("or.b32", "r", &cell[5], v & 0xf0u);
	COUNTED("add.u64", "l", &sum, w);
	mbarrier_wait(&barrier, 0);
	u32 *to = out + blockIdx.x * 256;
	to[t] = word[t];
	to[32 + 2 * t] = (u32)wide[t];
	to[33 + 2 * t] = (u32)(wide[t] >> 32);
	for (int k = 0; k < 4; k++)
		to[96 + 4 * t + k] = quad[4 * t + k];
	if (t < 8)
		to[224 + t] = cell[t];
	if (t == 0) {
		to[232] = (u32)sum;
		to[233] = (u32)(sum >> 32);
	}
	cluster_sync();
}

// Some bytes of each 16: sm_100 on.
KERNEL bulk_mask(u32 *out, const u32 *in, u32 mask)
{
	__shared__ alignas(16) u32 tile[32];
	tile[threadIdx.x] = in[threadIdx.x];
	proxy_fence();
	__syncwarp();
#if __CUDA_ARCH__ >= 1000
	if (threadIdx.x == 0) {
		asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], %2, %3;" ::"l"(out), "r"(shared_address(tile)), "r"(128),
			     "h"((short)mask)
			     : "memory");
		bulk_wait();
	}
#endif
}

struct corner {
	int at[5];
};

#define LOAD_TILE(dims, coordinates, ...) \
	asm volatile("cp.async.bulk.tensor." dims "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" coordinates "}], [%2];" ::"r"( \
			     shared_address(tile)), "l"(&map), "r"(shared_address(&barrier)), __VA_ARGS__ : "memory")

// Loads a tile and shows it as it is in shared memory.
KERNEL tile_load(u32 *out, const __grid_constant__ tensor_map map, corner c, int dims, u32 bytes)
{
	__shared__ alignas(1024) u32 tile[2048];
	__shared__ u64 barrier;
	int t = (int)threadIdx.x;
	for (int i = t; i < 2048; i += (int)blockDim.x)
		tile[i] = 0x55555555;
	if (t == 0)
		mbarrier_init(&barrier, 1);
	proxy_fence();
	__syncthreads();
	if (t == 0) {
		mbarrier_arrive_expect(&barrier, bytes);
		if (dims == 1)
			LOAD_TILE("1", "%3", "r"(c.at[0]));
		else if (dims == 2)
			LOAD_TILE("2", "%3, %4", "r"(c.at[0]), "r"(c.at[1]));
		else if (dims == 3)
			LOAD_TILE("3", "%3, %4, %5", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]));
		else if (dims == 4)
			LOAD_TILE("4", "%3, %4, %5, %6", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]));
		else
			LOAD_TILE("5", "%3, %4, %5, %6, %7", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]));
	}
	mbarrier_wait(&barrier, 0);
	for (int i = t; i < 2048; i += (int)blockDim.x)
		out[i] = tile[i];
}

#if __CUDA_ARCH__ >= 1200 // to a cluster it is a function of the driver
#define OWN "shared::cta"
#else
#define OWN "shared::cluster"
#endif
#define LOAD_PIXELS(dims, coordinates, offsets, ...) \
	asm volatile("cp.async.bulk.tensor." dims "d." OWN ".global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {" coordinates \
		     "}], [%2], {" offsets "};" ::"r"(shared_address(tile)), "l"(&map), "r"(shared_address(&barrier)), __VA_ARGS__ : "memory")

// Loads pixels, each at an offset, and shows them as they are in shared memory.
KERNEL pixels_load(u32 *out, const __grid_constant__ tensor_map map, corner c, corner offset, int dims, u32 bytes)
{
	__shared__ alignas(1024) u32 tile[2048];
	__shared__ u64 barrier;
	int t = (int)threadIdx.x;
	unsigned short w = (unsigned short)offset.at[0], h = (unsigned short)offset.at[1], d = (unsigned short)offset.at[2];
	for (int i = t; i < 2048; i += (int)blockDim.x)
		tile[i] = 0x55555555;
	if (t == 0)
		mbarrier_init(&barrier, 1);
	proxy_fence();
	__syncthreads();
	if (t == 0) {
		mbarrier_arrive_expect(&barrier, bytes);
		if (dims == 3)
			LOAD_PIXELS("3", "%3, %4, %5", "%6", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "h"(w));
		else if (dims == 4)
			LOAD_PIXELS("4", "%3, %4, %5, %6", "%7, %8", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "h"(w), "h"(h));
		else
			LOAD_PIXELS("5", "%3, %4, %5, %6, %7", "%8, %9, %10", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]),
				    "r"(c.at[4]), "h"(w), "h"(h), "h"(d));
	}
	mbarrier_wait(&barrier, 0);
	for (int i = t; i < 2048; i += (int)blockDim.x)
		out[i] = tile[i];
}

// Stores pixels, or adds them to what is there.
KERNEL pixels_store(const u32 *in, const __grid_constant__ tensor_map map, corner c, int how)
{
	__shared__ alignas(1024) u32 tile[2048];
	for (int i = (int)threadIdx.x; i < 2048; i += (int)blockDim.x)
		tile[i] = in[i];
	proxy_fence();
	__syncthreads();
	if (threadIdx.x != 0)
		return;
	if (how == 0)
		asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
			     "r"(shared_address(tile)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3])
			     : "memory");
	else
		asm volatile("cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(
				     &map),
			     "r"(shared_address(tile)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3])
			     : "memory");
	bulk_wait();
}

// Stores a tile, or adds it to what is there.
KERNEL tile_store(const u32 *in, const __grid_constant__ tensor_map map, corner c, int dims, int how)
{
	__shared__ alignas(1024) u32 tile[2048];
	for (int i = (int)threadIdx.x; i < 2048; i += (int)blockDim.x)
		tile[i] = in[i];
	proxy_fence();
	__syncthreads();
	if (threadIdx.x != 0)
		return;
	if (dims == 2 && how == 0)
		asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(shared_address(tile)),
			     "r"(c.at[0]), "r"(c.at[1])
			     : "memory");
	else if (dims == 2)
		asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
			     "r"(shared_address(tile)), "r"(c.at[0]), "r"(c.at[1])
			     : "memory");
	else if (how == 0)
		asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map), "r"(shared_address(tile)),
			     "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2])
			     : "memory");
	else
		asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.xor.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
			     "r"(shared_address(tile)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2])
			     : "memory");
	bulk_wait();
}

// A map that code changes: another address, another box, another row.
KERNEL tile_replace(u32 *out, tensor_map *map, const u32 *in, u32 rows)
{
	__shared__ alignas(1024) u32 tile[256];
	__shared__ u64 barrier;
	int t = (int)threadIdx.x;
	if (t == 0) {
		mbarrier_init(&barrier, 1);
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL)
		asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map), "l"(in) : "memory");
		asm volatile("tensormap.replace.tile.box_dim.global.b1024.b32 [%0], 1, %1;" ::"l"(map), "r"(rows) : "memory");
		asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 1, %1;" ::"l"(map), "r"(rows) : "memory");
		asm volatile("tensormap.replace.tile.global_stride.global.b1024.b64 [%0], 0, %1;" ::"l"(map), "l"((u64)64) : "memory");
#endif
		asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
		asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
		mbarrier_arrive_expect(&barrier, rows * 32);
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
				     shared_address(tile)),
			     "l"(map), "r"(shared_address(&barrier)), "r"(4), "r"(0)
			     : "memory");
	}
	__syncthreads();
	mbarrier_wait(&barrier, 0);
	out[t] = tile[t];
}

// Four rows of a matrix: sm_100a. Other architectures copy them one by one.
KERNEL tile_gather(u32 *out, const u32 *in, const __grid_constant__ tensor_map map, corner c)
{
	__shared__ alignas(1024) u32 tile[64];
	__shared__ u64 barrier;
	int t = (int)threadIdx.x;
	if (t == 0)
		mbarrier_init(&barrier, 1);
	__syncthreads();
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
	if (t == 0) {
		mbarrier_arrive_expect(&barrier, 256);
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::
				     "r"(shared_address(tile)),
			     "l"(&map), "r"(shared_address(&barrier)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4])
			     : "memory");
	}
	mbarrier_wait(&barrier, 0);
#else
	tile[t] = in[c.at[1 + t / 16] * 32 + c.at[0] + t % 16];
	__syncthreads();
#endif
	out[t] = tile[t];
}

// A group of warps gives registers to another one.
extern "C" __global__ void __maxnreg__(128) set_registers(u32 *out, const u32 *in)
{
	int t = (int)threadIdx.x;
	u32 v = in[t];
	if (t < 128) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory");
		v = v * 5 + 1;
	} else {
		asm volatile("setmaxnreg.inc.sync.aligned.u32 208;" ::: "memory");
		u32 many[160];
		for (int i = 0; i < 160; i++)
			many[i] = in[(t + i) & 255];
		for (int k = 0; k < 3; k++)
			for (int i = 0; i < 160; i++)
				many[i] = many[i] * 3 + many[(i + 7) % 160];
		for (int i = 0; i < 160; i++)
			v = v * 31 + many[i];
	}
	out[t] = v;
}

// Fragments of four matrices to shared memory, as they are or turned.
KERNEL matrix_store(u32 *out, const u32 *in, int turned)
{
	__shared__ alignas(16) u32 tile[128];
	int t = (int)threadIdx.x;
	u32 row = shared_address(&tile[t * 4]), r[4];
	for (int i = 0; i < 4; i++)
		r[i] = in[4 * t + i];
	if (turned)
		asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
			     : "memory");
	else
		asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
			     : "memory");
	__syncwarp();
	for (int i = 0; i < 4; i++)
		out[4 * t + i] = tile[4 * t + i];
}

// Atomics on several floats and halves at once; numbers whose sums are exact.
KERNEL atomic_vectors(float *four, float *two, u32 *halves, u32 *pairs, float *seen, const float *in)
{
	int t = (int)threadIdx.x;
	float a = in[t], b = in[t + 1], old[4];
	asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %2, %1};" ::"l"(four), "f"(a), "f"(b) : "memory");
	asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(two), "f"(a), "f"(b) : "memory");
	asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %2};" ::"l"(halves), "r"(0x3c003800), "r"(0x40004200) : "memory");
	asm volatile("red.global.max.noftz.v2.bf16x2 [%0], {%1, %2};" ::"l"(pairs), "r"((u32)__float_as_uint(a) & 0xffff0000u), "r"(0x3f80) : "memory");
	asm volatile("atom.global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %6, %5};"
		     : "=f"(old[0]), "=f"(old[1]), "=f"(old[2]), "=f"(old[3]) : "l"(four + 4 + 4 * t), "f"(a), "f"(b) : "memory");
	for (int i = 0; i < 4; i++)
		seen[4 * t + i] = old[i];
}
