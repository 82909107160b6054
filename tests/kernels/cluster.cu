// Distributed shared memory of a cluster (sm_90 and later), without cooperative groups.

__device__ __forceinline__ unsigned remote_load(unsigned local, unsigned rank)
{
	unsigned remote, value;
	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
	asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(remote)); // @mark remote_load
	return value;
}

__global__ void __cluster_dims__(4, 1, 1) exchange(unsigned *out, unsigned offset)
{
	__shared__ unsigned box[64];
	unsigned rank;
	asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	box[threadIdx.x] = rank * 100 + threadIdx.x;
	asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory"); // @mark cluster_sync
	unsigned local = (unsigned)__cvta_generic_to_shared(&box[threadIdx.x]) + offset;
	out[blockIdx.x * blockDim.x + threadIdx.x] = remote_load(local, (rank + 1) & 3); // @mark user_exchange
}
