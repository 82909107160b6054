// SPDX-License-Identifier: Apache-2.0
// Clusters that are not launched, because others do their work; tiles for pairs of blocks: sm_100a and later.
#include "mbarrier.h"

__device__ static inline void answer_of(const u32 *answer, u32 *place, bool *found)
{
	u32 yes;
	asm volatile("{.reg .b128 q;\n.reg .pred p;\n.reg .b32 rest;\nld.shared.b128 q, [%4];\n"
		     "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, q;\nselp.u32 %3, 1, 0, p;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\nmov.b32 %2, 0;\n"
		     "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%0, %1, %2, rest}, q;}"
		     : "=&r"(place[0]), "=&r"(place[1]), "=&r"(place[2]), "=&r"(yes)
		     : "r"(shared_address(answer))
		     : "memory");
	*found = yes;
}

// Each place of the grid is counted once, whoever does it; `taken` counts what was not launched.
KERNEL cancel_blocks(u32 *out, u32 *taken)
{
	__shared__ alignas(16) u32 answer[4];
	__shared__ volatile u32 room[11000];
	__shared__ u64 barrier;
	u32 place[3] = { blockIdx.x, blockIdx.y, blockIdx.z };
	int t = (int)threadIdx.x;
	room[t] = 0;
	if (t == 0)
		mbarrier_init(&barrier, 1);
	proxy_fence();
	__syncthreads();
	for (u32 phase = 0;; phase ^= 1) {
		bool found;
		if (t == 0) {
			asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(shared_address(answer)),
				     "r"(shared_address(&barrier))
				     : "memory");
			mbarrier_arrive_expect(&barrier, 16);
			atomicAdd(&out[(place[2] * gridDim.y + place[1]) * gridDim.x + place[0]], 1);
		}
		mbarrier_wait(&barrier, phase);
		answer_of(answer, place, &found);
		proxy_fence();
		__syncthreads();
		if (!found)
			break;
		if (t == 0)
			atomicAdd(taken, 1);
	}
}

// The same by clusters: one block asks, all of them get the answer.
extern "C" __global__ void __cluster_dims__(2, 2, 1) cancel_clusters(u32 *out, u32 *taken)
{
	__shared__ alignas(16) u32 answer[4];
	__shared__ volatile u32 room[11000];
	__shared__ u64 barrier;
	u32 in_x = blockIdx.x % 2, in_y = blockIdx.y % 2, place[3] = { blockIdx.x - in_x, blockIdx.y - in_y, blockIdx.z };
	int t = (int)threadIdx.x;
	room[t] = 0;
	if (t == 0)
		mbarrier_init(&barrier, 1);
	proxy_fence();
	cluster_sync();
	for (u32 phase = 0;; phase ^= 1) {
		bool found;
		if (t == 0) {
			mbarrier_arrive_expect(&barrier, 16);
			atomicAdd(&out[(place[2] * gridDim.y + place[1] + in_y) * gridDim.x + place[0] + in_x], 1);
		}
		cluster_sync();
		if (t == 0 && in_x + in_y == 0)
			asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%0], [%1];" ::"r"(
					     shared_address(answer)),
				     "r"(shared_address(&barrier))
				     : "memory");
		mbarrier_wait(&barrier, phase);
		answer_of(answer, place, &found);
		proxy_fence();
		cluster_sync();
		if (!found)
			break;
		if (t == 0)
			atomicAdd(taken, 1);
	}
}

// Zeros for a part of shared memory: eight bytes at a time, so many as `n` says, and 64.
KERNEL bulk_zero(u32 *out, u64 n)
{
	__shared__ alignas(16) u32 words[256];
	int t = (int)threadIdx.x;
	words[t] = 0x01010101u * (u32)t;
	__syncthreads();
	if (t == 0) {
		asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" ::"r"(shared_address(words) + 16), "l"(n) : "memory");
		asm volatile("st.bulk.weak.shared::cta [%0], 64, 0;" ::"r"(shared_address(words + 128)) : "memory");
	}
	__syncthreads();
	out[t] = words[t];
}

// Matrices of 8-bit numbers from shared memory, and of 4 and 6 bits that become bytes: 32 rows of 16 bytes, 32 words for each thread.
#define LOAD1(shape, format) asm volatile("ldmatrix.sync.aligned." shape ".shared." format " {%0}, [%1];" : "=r"(v[0]) : "r"(at)); out += put(out, v, 1)
#define LOAD2(shape, format) asm volatile("ldmatrix.sync.aligned." shape ".shared." format " {%0, %1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(at)); out += put(out, v, 2)
#define LOAD4(shape, format) asm volatile("ldmatrix.sync.aligned." shape ".shared." format " {%0, %1, %2, %3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at)); out += put(out, v, 4)

__device__ inline int put(u32 *out, const u32 *v, int n)
{
	for (int i = 0; i < n; i++)
		out[i * 32 + (int)threadIdx.x] = v[i];
	return n * 32;
}

KERNEL narrow_rows(u32 *out, const u32 *in)
{
	__shared__ alignas(16) u32 words[128];
	u32 v[4], at = shared_address(words) + 16 * (31 - threadIdx.x);
	for (int i = 0; i < 4; i++)
		words[i * 32 + (int)threadIdx.x] = in[i * 32 + (int)threadIdx.x];
	__syncwarp();
	LOAD1("m8n16.x1", "b8x16.b4x16_p64");
	LOAD2("m8n16.x2", "b8x16.b4x16_p64");
	LOAD4("m8n16.x4", "b8x16.b4x16_p64");
	LOAD1("m8n16.x1", "b8x16.b6x16_p32");
	LOAD2("m8n16.x2", "b8x16.b6x16_p32");
	LOAD4("m8n16.x4", "b8x16.b6x16_p32");
	LOAD2("m16n16.x1.trans", "b8");
	LOAD4("m16n16.x2.trans", "b8");
	LOAD2("m16n16.x1.trans", "b8x16.b4x16_p64");
	LOAD4("m16n16.x2.trans", "b8x16.b4x16_p64");
	LOAD2("m16n16.x1.trans", "b8x16.b6x16_p32");
	LOAD4("m16n16.x2.trans", "b8x16.b6x16_p32");
}

// 32 bytes at once.
KERNEL wide_copy(u32 *out, const u32 *in, int n)
{
	int i = thread_number();
	u32 v[8];
	if (i >= n)
		return;
	asm volatile("ld.global.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
		     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7])
		     : "l"(in + 8 * (n - 1 - i)));
	v[3] += (u32)i;
	v[6] ^= 0x55;
	asm volatile("st.global.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(out + 8 * i), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(v[4]),
		     "r"(v[5]), "r"(v[6]), "r"(v[7])
		     : "memory");
}

#ifdef __CUDA_ARCH_FEAT_SM100_ALL
// Stores and sums by the uniform datapath, a thread at a time; all threads add to one word.
KERNEL mmio_stores(u32 *out, u32 v)
{
	int t = (int)threadIdx.x;
	asm volatile("st.async.mmio.release.sys.global.b32 [%0], %1;" ::"l"(out + 4 + t), "r"(v + (u32)t) : "memory");
	asm volatile("st.async.mmio.release.sys.global.b64 [%0], %1;" ::"l"(out + 2), "l"((u64)v * 0x100000001ull) : "memory");
#ifdef __CUDACC_DEBUG__ // ptxas 13.0 forgets it there
	atomicAdd(out, 5);
#else
	asm volatile("red.async.mmio.release.sys.global.add.u32 [%0], 5;" ::"l"(out) : "memory");
#endif
}

struct alignas(64) tensor_map {
	u64 words[16];
};

// Two pairs of blocks: the even block of each waits for its own tile and the other's, and for one that all get.
extern "C" __global__ void __cluster_dims__(4, 1, 1) pair_tiles(u32 *out, const __grid_constant__ tensor_map map)
{
	__shared__ alignas(128) u32 own[64], all[64];
	__shared__ u64 barrier, odd;
	int t = (int)threadIdx.x, rank = (int)blockIdx.x;
	if (t == 0) {
		mbarrier_init(&barrier, 1);
		mbarrier_init(&odd, 1);
		if (rank % 2 == 0)
			mbarrier_arrive_expect(&barrier, 512);
		else
			mbarrier_arrive_expect(&odd, 512);
	}
	proxy_fence();
	cluster_sync();
	if (t == 0) {
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(own)),
			     "l"(&map), "r"(0), "r"(rank * 8), "r"(shared_address(&barrier) & 0xfeffffff)
			     : "memory");
		if (rank == 3)
			asm volatile(
				"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2 [%0], [%1, {%2, %3}], [%4], "
				"%5;" ::"r"(shared_address(all)),
				"l"(&map), "r"(0), "r"(32), "r"(shared_address(&odd)), "h"((short)15)
				: "memory");
	}
	if (rank % 2 == 0)
		mbarrier_wait(&barrier, 0);
	else
		mbarrier_wait(&odd, 0);
	cluster_sync();
	out[thread_number() * 2] = own[t];
	out[thread_number() * 2 + 1] = all[t];
	cluster_sync();
}
#endif
