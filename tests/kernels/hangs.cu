// Kernels that hang, one way each, and kernels that only compute for long. plan_hangs.py runs them and says what is true of each.
#include <cooperative_groups.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;

__device__ __forceinline__ unsigned shared_at(void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

// ---- barriers of the block ----

__global__ void count_misses_ended(int *data, int n)
{
	if ((int)threadIdx.x >= n)
		return;
	asm volatile("bar.sync 1, 96;" ::: "memory");
	data[threadIdx.x] = 1;
}

__global__ void vote_without_one_warp(int *data, volatile int *go)
{
	if (threadIdx.x >= 64)
		while (*go == 0)
			;
	data[threadIdx.x] = __syncthreads_count(data[threadIdx.x] > 3);
}

__global__ void two_named_barriers(int *data)
{
	if (threadIdx.x < 32)
		asm volatile("bar.sync 1, 64;" ::: "memory");
	else
		asm volatile("bar.sync 2, 64;" ::: "memory");
	data[threadIdx.x] = 1;
}

__global__ void producer_never_arrives(int *data, volatile int *filled)
{
	__shared__ int box[32];
	if (threadIdx.x >= 64) {
		while (*filled < 3)
			;
		box[threadIdx.x - 64] = *filled;
		asm volatile("bar.arrive 3, 96;" ::: "memory");
	} else {
		asm volatile("bar.sync 3, 96;" ::: "memory");
		data[threadIdx.x] = box[threadIdx.x & 31];
	}
}

__global__ void barrier_in_register(int *data, int which, int count)
{
	int id = which + (threadIdx.x >= 32);
	asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
	data[threadIdx.x] = id;
}

__global__ void arrived_and_went_on(int *data, volatile int *go)
{
	if (threadIdx.x < 32) {
		asm volatile("bar.arrive 4, 96;" ::: "memory");
		while (*go != 7)
			;
	} else if (threadIdx.x < 64) {
		asm volatile("bar.sync 4, 96;" ::: "memory");
	} else {
		while (*go == 0)
			;
		asm volatile("bar.arrive 4, 96;" ::: "memory");
	}
	data[threadIdx.x] = 1;
}

// ---- lanes of a warp ----

__global__ void one_lane_spins(int *data, volatile int *go)
{
	if (threadIdx.x == 5)
		while (*go == 0)
			;
	__syncwarp();
	data[threadIdx.x] = __shfl_down_sync(0xffffffff, data[threadIdx.x], 1);
}

__global__ void lanes_at_two_barriers(int *data)
{
	if (threadIdx.x < 12)
		asm volatile("barrier.sync 1, 32;" ::: "memory");
	else
		asm volatile("barrier.sync 2, 32;" ::: "memory");
	data[threadIdx.x] = 1;
}

__global__ void half_mask(int *data, volatile int *go)
{
	if (threadIdx.x < 16) {
		if (threadIdx.x == 0)
			while (*go == 0)
				;
		__syncwarp(0xffff);
	} else {
		data[threadIdx.x] = 2;
		while (*go == 0)
			;
	}
	data[threadIdx.x] = 1;
}

// ---- words in memory ----

__global__ void spin_volatile(volatile int *flag, int *out)
{
	while (*flag == 0)
		;
	out[threadIdx.x] = *flag;
}

__global__ void spin_until_count(unsigned *arrived, unsigned expected, int *out)
{
	while (*(volatile unsigned *)arrived < expected)
		;
	out[threadIdx.x] = 1;
}

__global__ void spin_asleep(volatile int *flag, int *out)
{
	while (*flag != 12)
		__nanosleep(100);
	out[threadIdx.x] = *flag;
}

__global__ void spin_acquire(int *flag, int *out)
{
	int seen;
	do {
		asm volatile("ld.acquire.sys.global.b32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
	} while (seen == 0);
	out[threadIdx.x] = seen;
}

__global__ void spin_wide(volatile unsigned long long *head, unsigned long long tail, int *out)
{
	while (*head <= tail)
		;
	out[threadIdx.x] = 1;
}

__global__ void spin_atomic(int *flag, int *out)
{
	while (atomicAdd(flag, 0) == 0)
		;
	out[threadIdx.x] = 1;
}

__global__ void spin_lock(int *lock, int *data)
{
	if (threadIdx.x % 32 == 0)
		while (atomicCAS(lock, 0, 1) != 0)
			;
	__syncthreads(); // the owner waits here with the lock in its hand
	data[threadIdx.x]++;
	if (threadIdx.x % 32 == 0)
		atomicExch(lock, 0);
}

__global__ void spin_exchange(int *lock, int *data)
{
	while (atomicExch(lock, 1) == 1)
		;
	data[threadIdx.x]++;
}

__global__ void spin_on_shared(int *data)
{
	__shared__ volatile int turn;
	if (threadIdx.x == 0)
		turn = 0;
	__syncthreads();
	while (turn != 2)
		;
	data[threadIdx.x] = turn;
}

__device__ __noinline__ int peek(volatile int *p)
{
	return *p;
}

__global__ void spin_in_call(volatile int *flag, int *out)
{
	while (peek(flag) == 0)
		;
	out[threadIdx.x] = 1;
}

__global__ void spin_own_slot(volatile int *flags, int *out)
{
	while (flags[blockIdx.x * blockDim.x + threadIdx.x] == 0)
		;
	out[threadIdx.x] = 1;
}

struct Queue {
	int *flag;
};

__global__ void spin_behind_pointer(Queue *queue, int *out)
{
	while (*(volatile int *)*(int *volatile *)&queue->flag == 0)
		;
	out[threadIdx.x] = 1;
}

__global__ void spin_with_limit(volatile int *flag, int *out, int most)
{
	int tries = 0;
	while (*flag == 0 && tries < most)
		tries++;
	out[threadIdx.x] = tries;
}

__global__ void spin_in_switch(int *out, int what, volatile int *flag)
{
	int v = out[threadIdx.x];
	switch (what) {
	case 0:
		v = v * 3;
		break;
	case 1:
		v = v + 17;
		out[2] = v * v;
		break;
	case 2:
		v = v / 7;
		break;
	case 3:
		while (*flag == 0)
			;
		v = *flag;
		break;
	case 4:
		v = __popc(v);
		out[5] = v;
		break;
	case 5:
		v = v ^ 0x1234;
		out[6] = v;
		break;
	case 6:
		v = v % 13;
		break;
	default:
		v = -1;
	}
	out[threadIdx.x] = v;
}

// ---- barrier objects ----

__global__ void object_misses_one(int *data, volatile int *go)
{
	__shared__ unsigned long long object;
	unsigned at = shared_at(&object);
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at));
	__syncthreads();
	if (threadIdx.x >= 32)
		while (*go == 0)
			;
	unsigned long long state;
	unsigned done;
	asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
	do {
		asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
			     : "=r"(done)
			     : "r"(at), "l"(state)
			     : "memory");
	} while (!done);
	data[threadIdx.x] = 1;
}

__global__ void cuda_barrier(int *data, volatile int *go)
{
	__shared__ cuda::barrier<cuda::thread_scope_block> object;
	if (threadIdx.x == 0)
		init(&object, 64);
	__syncthreads();
	if (threadIdx.x < 60)
		object.arrive_and_wait();
	else
		while (*go == 0)
			;
	data[threadIdx.x] = 1;
}

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)

__device__ __forceinline__ void wait_for_phase(unsigned at, unsigned parity)
{
	unsigned done;
	do {
		asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
			     : "=r"(done)
			     : "r"(at), "r"(parity)
			     : "memory");
	} while (!done);
}

__global__ void bytes_never_come(int *data)
{
	__shared__ unsigned long long full;
	unsigned at = shared_at(&full);
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
	__syncthreads();
	if (threadIdx.x == 0)
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(at) : "memory");
	wait_for_phase(at, 0);
	data[threadIdx.x] = 1;
}

__global__ void pipeline(int *data, int rounds, volatile int *source)
{
	__shared__ unsigned long long full[2], empty[2];
	__shared__ int stage[2][32];
	if (threadIdx.x == 0)
		for (int i = 0; i < 2; i++) {
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(shared_at(&full[i])));
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(shared_at(&empty[i])));
		}
	__syncthreads();
	if (threadIdx.x < 32) { // producer
		for (int i = 0; i < rounds; i++) {
			wait_for_phase(shared_at(&empty[i & 1]), (i >> 1 & 1) ^ 1);
			stage[i & 1][threadIdx.x] = source[i];
			asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_at(&full[i & 1])) : "memory");
		}
	} else { // two consumers: the second forgets to release a stage
		int sum = 0;
		for (int i = 0; i < rounds; i++) {
			wait_for_phase(shared_at(&full[i & 1]), i >> 1 & 1);
			sum += stage[i & 1][threadIdx.x & 31];
			if (threadIdx.x < 64 || i != 1)
				asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_at(&empty[i & 1])) : "memory");
		}
		data[threadIdx.x] = sum;
	}
}

__global__ void leader_waits(int *data)
{
	__shared__ unsigned long long full;
	unsigned at = shared_at(&full);
	if (threadIdx.x == 0)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(at));
	__syncthreads();
	if (threadIdx.x == 0) {
		asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
		wait_for_phase(at, 0);
	}
	__syncwarp();
	data[threadIdx.x] = 1;
}

// ---- clusters ----

__global__ void __cluster_dims__(2, 1, 1) cluster_block_elsewhere(int *data, volatile int *go)
{
	if (blockIdx.x & 1)
		while (*go == 0)
			;
	cg::this_cluster().sync();
	data[threadIdx.x] = 1;
}

#endif

// ---- the grid ----

__global__ void grid_does_not_fit(int *data)
{
	data[blockIdx.x] = 1;
	cg::this_grid().sync();
	data[blockIdx.x] += data[(blockIdx.x + 1) % gridDim.x];
}

__global__ void grid_block_elsewhere(int *data, volatile int *go)
{
	if (blockIdx.x == 1)
		while (*go == 0)
			;
	cg::this_grid().sync();
	data[blockIdx.x] = 1;
}

// ---- other ranks ----

extern "C" __global__ void ncclDevKernel_AllReduce_Sum_f32_RING_LL(volatile int *ready, float *out)
{
	while (*ready < 7)
		;
	out[threadIdx.x] = (float)*ready;
}

extern "C" __global__ void nvshmemi_barrier_all_kernel(volatile long *sync, long round)
{
	while (*sync != round)
		;
}

struct Signals {
	unsigned start[8];
};

__global__ void cross_device_reduce_1stage(Signals *const *peers, Signals *own, unsigned round, int *out)
{
	if (threadIdx.x < 8) {
		*(volatile unsigned *)&peers[threadIdx.x]->start[0] = round;
		while (*(volatile unsigned *)&own->start[threadIdx.x] < round)
			;
	}
	__syncthreads();
	out[threadIdx.x] = 1;
}

// ---- no wait: these compute ----

__global__ void matrix_product(const float *a, const float *b, float *c, int n)
{
	float sum = 0;
	for (int k = 0; k < n; k++)
		sum += a[threadIdx.x * n + k] * b[k * 32 + threadIdx.x];
	c[threadIdx.x] = sum;
}

__global__ void tiled_product(const float *a, const float *b, float *c, int n)
{
	__shared__ float left[32], right[32];
	float sum = 0;
	for (int k = 0; k < n; k += 32) {
		left[threadIdx.x] = a[k + threadIdx.x];
		right[threadIdx.x] = b[k + threadIdx.x];
		__syncwarp();
		for (int i = 0; i < 32; i++)
			sum += left[i] * right[i];
		__syncwarp();
	}
	c[threadIdx.x] = sum;
}

__global__ void long_sum(const int *data, int *out, int n)
{
	int sum = 0;
	for (int i = threadIdx.x; i < n; i += 32)
		sum += data[i];
	out[threadIdx.x] = sum;
}

__global__ void copy_words(const int4 *from, int4 *to, int n)
{
	for (int i = threadIdx.x; i < n; i += 32)
		to[i] = from[i];
}

__global__ void take_work(int *next, int *out, int n)
{
	int mine = 0;
	while (atomicAdd(next, 1) < n)
		mine++;
	out[threadIdx.x] = mine;
}

__global__ void follow_links(const int *next, int *out)
{
	int at = threadIdx.x;
	while (next[at] != at)
		at = next[at];
	out[threadIdx.x] = at;
}

__global__ void find_key(const int *keys, int *out, int key, int mask)
{
	int at = key * 7 & mask;
	while (keys[at] != key && keys[at] != 0)
		at = (at + 1) & mask;
	out[threadIdx.x] = at;
}

__global__ void string_length(const char *text, int *out)
{
	int n = 0;
	while (text[n])
		n++;
	out[threadIdx.x] = n;
}

__global__ void iterate(float x, float *out)
{
	float guess = 1;
	while (fabsf(guess * guess - x) > 1e-30f)
		guess = 0.5f * (guess + x / guess);
	out[threadIdx.x] = guess;
}

__global__ void until_limit_in_memory(volatile int *limit, float *out)
{
	float sum = 0;
	for (int i = 0; i < *limit; i++)
		sum = sum * 0.99f + i;
	out[threadIdx.x] = sum;
}

__global__ void until_cancelled(volatile int *cancel, float *out, int n)
{
	float sum = 1;
	for (int i = 0; i < n; i++) {
		sum = sum * 1.0001f + i;
		if (*cancel)
			break;
	}
	out[threadIdx.x] = sum;
}

__global__ void add_until_full(int *total, int *out)
{
	while (atomicAdd(total, threadIdx.x + 1) < 1 << 30)
		;
	out[threadIdx.x] = 1;
}

__device__ __noinline__ int step_of(const int *table, int at)
{
	return table[at];
}

__global__ void walk_by_calls(const int *table, int *out)
{
	int at = threadIdx.x;
	while (step_of(table, at) != 0)
		at++;
	out[threadIdx.x] = at;
}
