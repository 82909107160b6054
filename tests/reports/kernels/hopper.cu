// Clusters, asynchronous barriers and bulk copies, as public reports have it. For sm_90a and later.
#include <cooperative_groups.h>
#include <stdint.h>

namespace cg = cooperative_groups;

static __device__ __forceinline__ uint32_t shared_of(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void barrier_init(uint64_t *bar, uint32_t count)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_of(bar)), "r"(count) : "memory");
}

static __device__ __forceinline__ void barrier_expect(uint64_t *bar, uint32_t bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_of(bar)), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void barrier_arrive(uint64_t *bar)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_of(bar)) : "memory");
}

static __device__ __forceinline__ void barrier_wait(uint64_t *bar, uint32_t phase)
{
	asm volatile("{\n"
		     ".reg .pred p;\n"
		     "again:\n"
		     "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
		     "@!p bra again;\n"
		     "}" ::"r"(shared_of(bar)), "r"(phase) : "memory");
}

static __device__ __forceinline__ void bulk_load(void *to, const void *from, uint32_t bytes, uint64_t *bar)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_of(to)), "l"(from),
		     "r"(bytes), "r"(shared_of(bar)) : "memory");
}

extern "C" {

// One arrival is missing: the barrier counts the warps that load, and one of them has nothing to load.
__global__ void triton_8285(const float *in, float *out, int tiles)
{
	__shared__ alignas(8) uint64_t full;
	if (threadIdx.x == 0)
		barrier_init(&full, 4);
	__syncthreads();
	int warp = threadIdx.x / 32;
	if (warp < 4 && threadIdx.x % 32 == 0 && warp < tiles)
		barrier_arrive(&full);
	barrier_wait(&full, 0);
	out[threadIdx.x] = in[threadIdx.x];
}

// More bytes are expected than are copied.
__global__ void triton_9046(const float *in, float *out, int expected)
{
	__shared__ alignas(128) float tile[256];
	__shared__ alignas(8) uint64_t full;
	if (threadIdx.x == 0) {
		barrier_init(&full, 1);
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
		barrier_expect(&full, expected);
		bulk_load(tile, in, 512, &full);
	}
	__syncthreads();
	barrier_wait(&full, 0);
	out[threadIdx.x] = tile[threadIdx.x];
}

// One block leaves while the other still reads its shared memory.
__global__ void __cluster_dims__(2, 1, 1) sglang_32907(const float *in, float *out, int rounds)
{
	__shared__ float tile[128];
	cg::cluster_group cluster = cg::this_cluster();
	tile[threadIdx.x] = in[threadIdx.x];
	cluster.sync();
	unsigned peer = cluster.block_rank() ^ 1;
	float *other = cluster.map_shared_rank(tile, peer);
	float sum = 0;
	int mine = cluster.block_rank() == 1 ? rounds : 1;
	for (int i = 0; i < mine; i++)
		sum += *(volatile float *)&other[(threadIdx.x + i) % 128];
	out[blockIdx.x * 128 + threadIdx.x] = sum;
}

// A view that begins one float later: its address is no multiple of 16.
__global__ void pytorch_184563(const float *in, float *out, int first)
{
	__shared__ alignas(128) float tile[128];
	__shared__ alignas(8) uint64_t full;
	if (threadIdx.x == 0) {
		barrier_init(&full, 1);
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
		barrier_expect(&full, 512);
		bulk_load(tile, in + first, 512, &full);
	}
	__syncthreads();
	barrier_wait(&full, 0);
	out[threadIdx.x] = tile[threadIdx.x];
}

// The tile in shared memory begins behind another array.
__global__ void fuser_3602(float *out, int head)
{
	extern __shared__ __align__(128) float room[];
	float *tile = room + head;
	tile[threadIdx.x] = threadIdx.x;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(shared_of(tile)), "r"(512) : "memory");
		asm volatile("cp.async.bulk.commit_group;" ::: "memory");
		asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
	}
}

// The consumers ask for more registers, and the producers give none back.
__global__ void __launch_bounds__(384, 1) helion_3620(const float *in, float *out, int rounds)
{
	float v = in[threadIdx.x];
	if (threadIdx.x < 128) {
		for (int i = 0; i < rounds; i++)
			v = v * 0.5f + in[i];
	} else {
		asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
		for (int i = 0; i < rounds; i++)
			v = v * 0.25f + in[i] * in[threadIdx.x];
	}
	__syncthreads();
	out[threadIdx.x] = v;
}

// The map was never made: what made it returned an error that nobody looked at.
struct alignas(64) Map {
	uint64_t words[16];
};

__global__ void tilelang_1931(const __grid_constant__ Map map, float *out)
{
	__shared__ alignas(128) float tile[32 * 32];
	__shared__ alignas(8) uint64_t full;
	if (threadIdx.x == 0) {
		barrier_init(&full, 1);
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
		barrier_expect(&full, 4096);
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
				     shared_of(tile)),
			     "l"(&map), "r"(0), "r"(0), "r"(shared_of(&full)) : "memory");
	}
	__syncthreads();
	barrier_wait(&full, 0);
	out[threadIdx.x] = tile[threadIdx.x];
}

} // extern "C"
