// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks; from sm_90 on.
#include <cooperative_groups.h>
#include "kernel.h"

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
