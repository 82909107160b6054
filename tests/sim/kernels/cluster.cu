// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks; from sm_90 on.
#include <cooperative_groups.h>
#include "mbarrier.h"

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_ring(u32 *out, const u32 *in)
{
	__shared__ u32 value[64];
	cg::cluster_group cluster = cg::this_cluster();
	u32 rank = cluster.block_rank();
	int t = (int)threadIdx.x;
	value[t] = in[thread_number()];
	cluster.sync();
	u32 *next = cluster.map_shared_rank(value, (rank + 1) % 4);
	u32 v = value[t] * 3 + next[63 - t];
	atomicAdd(cluster.map_shared_rank(&value[0], 0), 0u);
	cluster.sync();
	out[thread_number()] = v + rank;
}

// One thread: transactions, and arrivals of several.
extern "C" __global__ void mbarrier_transactions(u32 *out, const u32 *script, int steps, u32 expected)
{
	__shared__ u64 barrier;
	u64 state = 0;
	u32 parity = 0;
	mbarrier_init(&barrier, expected);
	for (int i = 0; i < steps; i++) {
		u32 n = script[i] >> 8;
		switch (script[i] & 255) {
		case 0:
			state = mbarrier_arrive_n(&barrier, n);
			break;
		case 1:
			state = mbarrier_arrive_drop_n(&barrier, n);
			break;
		case 2:
			state = mbarrier_arrive_expect(&barrier, n);
			break;
		case 3:
			mbarrier_expect(&barrier, n);
			break;
		case 4:
			mbarrier_complete(&barrier, n);
			break;
		}
		bool over = mbarrier_test_parity(&barrier, parity);
		out[2 * i] = mbarrier_pending(state);
		out[2 * i + 1] = over | mbarrier_test(&barrier, state) << 1;
		parity ^= over;
	}
}

// Each block writes to the next one of its cluster and arrives there.
extern "C" __global__ void __cluster_dims__(4, 1, 1) mbarrier_remote(u32 *out, const u32 *in, int rounds)
{
	__shared__ u64 barrier;
	__shared__ u32 value[2][64];
	u32 rank = cg::this_cluster().block_rank(), v = in[thread_number()];
	int t = (int)threadIdx.x;
	if (t == 0)
		mbarrier_init(&barrier, 128);
	cluster_sync();
	for (int k = 0; k < rounds; k++) {
		u32 next = peer_address(&value[k & 1][t], (rank + 1) % 4);
		asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(next), "r"(v) : "memory");
		mbarrier_arrive_peer(peer_address(&barrier, (rank + 1) % 4), 2);
		mbarrier_wait(&barrier, k & 1);
		v = v * 3 + value[k & 1][63 - t];
		cluster_sync();
	}
	out[thread_number()] = v;
}

// Faults: more arrivals than expected, no barrier there, a block that does not exist.
extern "C" __global__ void mbarrier_misuse(int how)
{
	__shared__ u64 barrier[2];
	if (threadIdx.x == 0)
		mbarrier_init(&barrier[0], 1);
	__syncthreads();
	if (how == 0) {
		mbarrier_expect(&barrier[0], 16);
		mbarrier_arrive(&barrier[0]);
		mbarrier_arrive(&barrier[0]);
	} else if (how == 1) {
		barrier[1] = 0;
		mbarrier_arrive(&barrier[1]);
	} else if (how == 2) {
		mbarrier_expect(&barrier[0], 0xfffff);
		mbarrier_expect(&barrier[0], 1);
	} else if (how == 3) {
		mbarrier_arrive_peer(shared_address(&barrier[0]) | 5u << 24, 1);
	} else {
		mbarrier_arrive((u64 *)((char *)barrier + 4));
	}
}

// One block of the cluster waits, for arrivals that nobody makes.
extern "C" __global__ void __cluster_dims__(2, 2, 1) mbarrier_of_one(u32 waiting)
{
	__shared__ u64 barrier;
	if (threadIdx.x == 0)
		mbarrier_init(&barrier, 5);
	cluster_sync();
	if (cg::this_cluster().block_rank() == waiting)
		mbarrier_wait(&barrier, 0);
}

#define SPECIAL(i, name)                                   \
	do {                                               \
		u32 value;                                 \
		asm("mov.u32 %0, %%" name ";" : "=r"(value)); \
		out[i] = value;                            \
	} while (0)

// One thread each: where its block is in its cluster, and that in the grid.
extern "C" __global__ void cluster_places(u32 *out)
{
	out += 16 * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
	SPECIAL(0, "clusterid.x");
	SPECIAL(1, "clusterid.y");
	SPECIAL(2, "clusterid.z");
	SPECIAL(3, "nclusterid.x");
	SPECIAL(4, "nclusterid.y");
	SPECIAL(5, "nclusterid.z");
	SPECIAL(6, "cluster_ctaid.x");
	SPECIAL(7, "cluster_ctaid.y");
	SPECIAL(8, "cluster_ctaid.z");
	SPECIAL(9, "cluster_nctaid.x");
	SPECIAL(10, "cluster_nctaid.y");
	SPECIAL(11, "cluster_nctaid.z");
	SPECIAL(12, "cluster_ctarank");
	SPECIAL(13, "cluster_nctarank");
	SPECIAL(14, "aggr_smem_size");
	out[15] = 0;
	asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(out[15]));
}
