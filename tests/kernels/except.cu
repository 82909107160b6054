// One kernel for each kind of exception that code of its own shows best; the place is marked.
#include <assert.h>
#include <stdint.h>

__device__ __noinline__ int check(int value, int limit)
{
	assert(value < limit && "value is below the limit"); // @mark assert
	return value * 3;
}

__global__ void asserts(int const *in, int *out, int limit)
{
	out[threadIdx.x] = check(in[threadIdx.x], limit); // @mark call_check
}

__device__ __noinline__ int descend(int n, int const *in)
{
	int room[12];
	for (int i = 0; i < 12; i++)
		room[i] = in[i + n];
	int below = n ? descend(n - 1, in) : 0; // @mark descend
	return room[below % 12] + below;
}

__global__ void recurses(int const *in, int *out, int n)
{
	out[threadIdx.x] = descend(n, in); // @mark call_descend
}

__device__ __noinline__ int spread(int const *in, int n)
{
	int room[10000];
#pragma unroll 1
	for (int i = 0; i < 10000; i++)
		room[(i * n) % 10000] = in[i]; // @mark big_store
	return room[n] + room[n / 2];
}

__global__ void big_frame(int const *in, int *out, int n)
{
	out[threadIdx.x] = spread(in, n); // @mark call_spread
}

typedef int (*step_t)(int);
struct Shape {
	int pad;
	__device__ virtual int area(int) const;
};

__global__ void calls_pointer(step_t const *steps, int *out, int which)
{
	out[threadIdx.x] = steps[which](threadIdx.x); // @mark call_pointer
}

__global__ void calls_virtual(Shape *const *shapes, int *out)
{
	out[threadIdx.x] = shapes[threadIdx.x]->area(threadIdx.x); // @mark call_virtual
}

__global__ void shared_past(int const *in, int *out, int at)
{
	__shared__ int fixed[64];
	extern __shared__ int dynamic[];
	fixed[threadIdx.x] = in[threadIdx.x];
	dynamic[threadIdx.x] = in[threadIdx.x];
	__syncthreads();
	out[threadIdx.x] = dynamic[threadIdx.x * at] + fixed[63 - threadIdx.x]; // @mark shared_load
}

__global__ void wrong_space(int *out, int at)
{
	__shared__ int box[64];
	box[threadIdx.x] = at;
	__syncthreads();
	int value;
	asm volatile("ld.global.s32 %0, [%1];" : "=r"(value) : "l"(&box[at])); // @mark wrong_space
	out[threadIdx.x] = value + box[threadIdx.x ^ 1];
}

__constant__ int table[16];
__global__ void const_past(int *out, int at)
{
	out[threadIdx.x] = table[threadIdx.x * at]; // @mark const_load
}

__global__ void system_add(int *counter)
{
	atomicAdd_system(counter + threadIdx.x, 1); // @mark system_atomic
}

__device__ __forceinline__ unsigned shared_of(void const *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

__global__ void arrives(int *out, int count)
{
	__shared__ uint64_t bar;
	uint64_t state;
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_of(&bar)), "r"(count));
	__syncthreads();
	asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(shared_of(&bar)) : "memory"); // @mark arrive
	out[threadIdx.x] = (int)state;
}

#if __CUDA_ARCH__ >= 900
struct alignas(64) Map {
	char opaque[128];
};

__device__ __forceinline__ void load_tile(void *to, void const *map, uint64_t *bar, int x, int y)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
		     ::"r"(shared_of(to)), "l"(map), "r"(x), "r"(y), "r"(shared_of(bar))
		     : "memory");
}

__global__ void tma_param(const __grid_constant__ Map map, int *out, int x)
{
	__shared__ alignas(128) char tile[1024];
	__shared__ uint64_t bar;
	if (threadIdx.x == 0)
		load_tile(tile, &map, &bar, x, 2);
	out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void tma_memory(Map const *map, int *out, int x)
{
	__shared__ alignas(128) char tile[1024];
	__shared__ uint64_t bar;
	if (threadIdx.x == 0)
		load_tile(tile, map, &bar, x, 2);
	out[threadIdx.x] = tile[threadIdx.x];
}
#endif

#if defined(__CUDA_ARCH_SPECIFIC__) && __CUDA_ARCH__ >= 1000
__global__ void tensor_memory(int *out, int column)
{
	__shared__ uint32_t where;
	unsigned at = shared_of(&where), value;
	if (threadIdx.x < 32)
		asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(at) : "memory");
	__syncthreads();
	asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(value) : "r"(where + column)); // @mark tmem_load
	asm volatile("tcgen05.wait::ld.sync.aligned;");
	out[threadIdx.x] = value;
	if (threadIdx.x < 32 && column < 64)
		asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(where)); // @mark tmem_dealloc
}

__global__ void tensor_leak(int *out)
{
	__shared__ uint32_t where;
	if (threadIdx.x < 32)
		asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(shared_of(&where)) : "memory");
	__syncthreads();
	out[threadIdx.x] = where;
}
#endif
