// SPDX-License-Identifier: Apache-2.0
// What --check finds, planted; and beside each the same without the mistake, of which nothing may be said. A line that a
// finding names has a mark: `now` the access that is told, `before` the other one.
#include "kernel.h"

#define ARGUMENTS (u32 * out, const u32 *in, u32 *flag)

// ---- shared memory ----

KERNEL raw_bad ARGUMENTS
{
	__shared__ u32 tile[64];
	int t = (int)threadIdx.x;
	tile[t] = in[t]; // raw_bad before
	out[t] = tile[63 - t]; // raw_bad now
}

KERNEL raw_good ARGUMENTS
{
	__shared__ u32 tile[64];
	int t = (int)threadIdx.x;
	tile[t] = in[t];
	__syncthreads();
	out[t] = tile[63 - t];
}

KERNEL war_bad ARGUMENTS
{
	__shared__ u32 tile[64];
	int t = (int)threadIdx.x;
	tile[t] = in[t];
	__syncthreads();
	u32 v = tile[(t + 32) & 63]; // war_bad before
	tile[t] = v + 1; // war_bad now
	__syncthreads();
	out[t] = tile[t];
}

KERNEL war_good ARGUMENTS
{
	__shared__ u32 tile[64];
	int t = (int)threadIdx.x;
	tile[t] = in[t];
	__syncthreads();
	u32 v = tile[(t + 32) & 63];
	__syncthreads();
	tile[t] = v + 1;
	__syncthreads();
	out[t] = tile[t];
}

KERNEL waw_bad ARGUMENTS
{
	__shared__ u32 last;
	int t = (int)threadIdx.x;
	if (t % 32 == 0)
		last = (u32)t + 7; // waw_bad now before
	__syncthreads();
	out[t] = last;
}

// All write the same: nobody can tell who did.
KERNEL waw_good ARGUMENTS
{
	__shared__ u32 last;
	int t = (int)threadIdx.x;
	if (t % 32 == 0)
		last = 7;
	__syncthreads();
	out[t] = last;
}

KERNEL lanes_bad ARGUMENTS
{
	__shared__ u32 last;
	int t = (int)threadIdx.x;
	if (t < 32)
		last = (u32)t; // lanes_bad now before
	__syncthreads();
	out[t] = last;
}

// Lanes of one warp that have parted, and do not wait for each other.
KERNEL warp_bad ARGUMENTS
{
	__shared__ u32 box[64];
	int t = (int)threadIdx.x;
	u32 v = 0;
	if (t & 1) {
		for (u32 i = 0; i < (in[t] & 3); i++)
			v += in[i];
		box[t] = v; // warp_bad before
	} else {
		for (u32 i = 0; i < (in[t] & 7); i++)
			v ^= in[i + 1];
		v += box[t + 1]; // warp_bad now
	}
	out[t] = v;
}

KERNEL warp_good ARGUMENTS
{
	__shared__ u32 box[64];
	int t = (int)threadIdx.x;
	u32 v = 0;
	if (t & 1) {
		for (u32 i = 0; i < (in[t] & 3); i++)
			v += in[i];
		box[t] = v;
	}
	__syncwarp();
	if (!(t & 1))
		v += box[t + 1];
	out[t] = v;
}

// Two halves of a block, with a barrier of their own each.
KERNEL named_bad ARGUMENTS
{
	__shared__ u32 tile[128];
	int t = (int)threadIdx.x;
	tile[t] = in[t]; // named_bad before
	if (t < 64)
		asm volatile("bar.sync 1, 64;" ::: "memory");
	else
		asm volatile("bar.sync 2, 64;" ::: "memory");
	out[t] = tile[t ^ 64]; // named_bad now
}

KERNEL named_good ARGUMENTS
{
	__shared__ u32 tile[128];
	int t = (int)threadIdx.x;
	tile[t] = in[t];
	if (t < 64)
		asm volatile("bar.sync 1, 64;" ::: "memory");
	else
		asm volatile("bar.sync 2, 64;" ::: "memory");
	out[t] = tile[t ^ 32];
}

// ---- global memory ----

KERNEL blocks_bad ARGUMENTS
{
	if (threadIdx.x == 0)
		out[0] = blockIdx.x + 3; // blocks_bad now before
}

KERNEL blocks_good ARGUMENTS
{
	if (threadIdx.x == 0)
		atomicMax(&out[0], blockIdx.x + 3);
}

// The last block reads what all have written; the fence makes it right.
__device__ void last_block(u32 *out, const u32 *in, u32 *flag, bool fence)
{
	__shared__ bool last;
	int t = (int)threadIdx.x;
	out[64 + thread_number()] = in[t] * 3; // fence_bad before
	if (fence)
		__threadfence();
	__syncthreads();
	if (t == 0)
		last = atomicAdd(flag, 1u) == gridDim.x - 1;
	__syncthreads();
	if (last && t == 0) {
		u32 sum = 0;
		for (u32 i = 0; i < gridDim.x * blockDim.x; i++)
			sum += out[64 + i]; // fence_bad now
		out[0] = sum;
	}
}

KERNEL fence_bad ARGUMENTS
{
	last_block(out, in, flag, false);
}

KERNEL fence_good ARGUMENTS
{
	last_block(out, in, flag, true);
}

KERNEL early_bad ARGUMENTS
{
	int t = thread_number();
	atomicAdd(flag, in[t & 63] & 15); // early_bad before
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x] = *flag; // early_bad now
}

KERNEL early_good ARGUMENTS
{
	int t = thread_number();
	atomicAdd(flag, in[t & 63] & 15);
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x] = atomicAdd(flag, 0u);
}

// Each block waits for the one before: what one tells, it was told by all before it.
__device__ void chain(u32 *out, u32 *flag, bool fence)
{
	int t = (int)threadIdx.x;
	if (t == 0)
		while (atomicAdd(flag, 0u) != blockIdx.x)
			;
	__syncthreads();
	out[thread_number()] = blockIdx.x ? out[thread_number() - blockDim.x] + out[t] : t; // chain_bad now before
	if (fence)
		__threadfence();
	__syncthreads();
	if (t == 0)
		atomicExch(flag, blockIdx.x + 1);
}

KERNEL chain_bad ARGUMENTS
{
	chain(out, flag, in == nullptr);
}

KERNEL chain_good ARGUMENTS
{
	chain(out, flag, true);
}

// ---- memory that nobody wrote ----

KERNEL shared_unwritten_bad ARGUMENTS
{
	__shared__ u32 tile[64];
	int t = (int)threadIdx.x;
	if (t < 40)
		tile[t] = in[t];
	__syncthreads();
	out[t] = tile[63 - t]; // shared_unwritten_bad now
}

KERNEL shared_unwritten_good ARGUMENTS
{
	__shared__ u32 tile[64];
	int t = (int)threadIdx.x;
	if (t < 40)
		tile[t] = in[t];
	__syncthreads();
	out[t] = t < 24 ? 0 : tile[63 - t];
}

// Reads what the host left out: the buffer behind `flag` has no contents.
KERNEL global_unwritten_bad ARGUMENTS
{
	int t = (int)threadIdx.x;
	out[t] = flag[1 + t] + in[t]; // global_unwritten_bad now
}

KERNEL global_unwritten_good ARGUMENTS
{
	int t = (int)threadIdx.x;
	flag[1 + t] = in[t];
	out[t] = flag[1 + t];
}

// ---- barriers ----

KERNEL barrier_bad ARGUMENTS
{
	int t = (int)threadIdx.x;
	if (t < 32) {
		out[t] = in[t];
		asm volatile("bar.sync 0;" ::: "memory"); // barrier_bad before now
		out[t] += 1;
	} else {
		out[t] = in[t] * 5;
		asm volatile("bar.sync 0;" ::: "memory"); // barrier_bad before now
		out[t] ^= 9;
	}
}

KERNEL missing_bad ARGUMENTS
{
	int t = (int)threadIdx.x;
	if (t < 32) {
		asm volatile("bar.sync 1;" ::: "memory"); // missing_bad before now
		out[t] = 1;
	} else {
		asm volatile("bar.sync 2;" ::: "memory"); // missing_bad before now
		out[t] = 2;
	}
}

// ---- pointers and registers ----

KERNEL neighbour_bad ARGUMENTS
{
	int t = (int)threadIdx.x;
	out[t + 2048] = in[t]; // neighbour_bad now
}

KERNEL neighbour_good ARGUMENTS
{
	int t = (int)threadIdx.x;
	u32 *end = out + 1024;
	for (u32 *p = out + t; p < end; p += 64)
		*p = in[p - out];
}

// Variables of a module lie side by side, in any order.
__device__ u32 row[64], next_row[64], last_row[64];

KERNEL variable_bad ARGUMENTS
{
	int t = (int)threadIdx.x;
	row[t] = next_row[t] = last_row[t] = in[t];
	int step = row < next_row ? 64 : -64;
	row[t + step] = in[t]; // variable_bad now
	out[t] = row[t];
}

KERNEL variable_good ARGUMENTS
{
	int t = (int)threadIdx.x;
	row[t] = next_row[t] = last_row[t] = in[t];
	__syncthreads();
	u32 *end = next_row + 64, sum = 0;
	for (u32 *p = end - 1; p >= next_row + t; p--)
		sum += *p;
	out[t] = sum + row[63 - t] + last_row[t];
}

KERNEL register_bad ARGUMENTS
{
	int t = (int)threadIdx.x;
	u32 v;
	asm volatile("{ .reg .u32 a; add.u32 %0, a, %1; }" : "=r"(v) : "r"(t)); // register_bad before now
	out[t] = v; // register_bad now
}

KERNEL register_good ARGUMENTS
{
	int t = (int)threadIdx.x;
	u32 v;
	asm volatile("{ .reg .u32 a; mov.u32 a, 7; add.u32 %0, a, %1; }" : "=r"(v) : "r"(t));
	out[t] = v;
}

KERNEL local_bad ARGUMENTS
{
	int t = (int)threadIdx.x;
	volatile u32 keep[100];
	keep[0] = in[t];
	u32 v = keep[flag[0] + 1]; // local_bad before now
	out[t] = v; // local_bad now
}

KERNEL local_good ARGUMENTS
{
	int t = (int)threadIdx.x;
	volatile u32 keep[100];
	keep[0] = in[t];
	u32 v = keep[flag[0]];
	out[t] = v;
}

// ---- stores and sums of the uniform datapath: one thread's, of which sm_100 has instructions ----

__device__ void zero_words(u32 *words, u32 bytes)
{
#if __CUDA_ARCH__ >= 1000
	asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" ::"r"((u32)__cvta_generic_to_shared(words)), "l"((u64)bytes) : "memory"); // zeros_bad now before
#else
	for (u32 i = 0; i < bytes / 4; i++)
		words[i] = 0; // zeros_bad now before
#endif
}

KERNEL zeros_bad ARGUMENTS
{
	__shared__ alignas(16) u32 words[64];
	int t = (int)threadIdx.x;
	words[t] = in[t] + 1;
	__syncthreads();
	words[t] = in[t] + 2; // zeros_bad now before
	if (t == 32)
		zero_words(words, 128);
	__syncthreads();
	out[t] = words[t];
}

// What is zero is written.
KERNEL zeros_good ARGUMENTS
{
	__shared__ alignas(16) u32 words[128];
	int t = (int)threadIdx.x;
	words[t] = in[t] + 1;
	__syncthreads();
	if (t == 32)
		zero_words(words + 32, 192);
	__syncthreads();
	out[t] = words[t] + words[64 + t / 4];
}

__device__ void store_release(u32 *to, u32 v)
{
#ifdef __CUDA_ARCH_FEAT_SM100_ALL
	asm volatile("st.async.mmio.release.sys.global.b32 [%0], %1;" ::"l"(to), "r"(v) : "memory"); // mmio_bad now before
#else
	__threadfence_system();
	atomicExch_system(to, v); // mmio_bad now before
#endif
}

__device__ void add_release(u32 *to, u32 v)
{
#if defined(__CUDA_ARCH_FEAT_SM100_ALL) && !defined(__CUDACC_DEBUG__) // ptxas 13.0 forgets it there
	asm volatile("red.async.mmio.release.sys.global.add.u32 [%0], %1;" ::"l"(to), "r"(v) : "memory"); // sum_bad now before
#else
	__threadfence_system();
	atomicAdd_system(to, v); // sum_bad now before
#endif
}

KERNEL mmio_bad ARGUMENTS
{
	int t = (int)threadIdx.x;
	if (t == 0)
		store_release(flag, 7);
	if (t == 32)
		out[t] = *flag; // mmio_bad now before
}

KERNEL sum_bad ARGUMENTS
{
	int t = (int)threadIdx.x;
	if (t == 0)
		add_release(flag, 7);
	if (t == 32)
		out[t] = *flag; // sum_bad now before
}

// What was done before is told by both.
KERNEL mmio_good ARGUMENTS
{
	int t = (int)threadIdx.x;
	if (t == 0) {
		out[1] = in[5] + 3;
		store_release(flag, 7);
		out[2] = in[6] + 3;
		add_release(flag + 1, 1);
	}
	if (t == 32) {
		while (atomicAdd(flag, 0u) != 7)
			;
		out[33] = out[1];
		while (atomicAdd(flag + 1, 0u) != 1)
			;
		out[34] = out[2];
	}
}

// 32 bytes at once.
__device__ void store_wide(u32 *to, u32 v)
{
#if __CUDA_ARCH__ >= 1000
	asm volatile("st.global.v8.b32 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};" ::"l"(to), "r"(v) : "memory"); // wide_bad now
#else
	for (int i = 0; i < 8; i++)
		to[i] = v; // wide_bad now
#endif
}

KERNEL wide_bad ARGUMENTS
{
	int t = (int)threadIdx.x;
	store_wide(out + 2048 + 8 * t, in[t]);
}

KERNEL wide_good ARGUMENTS
{
	int t = (int)threadIdx.x;
	store_wide(out + 8 * t, in[t]);
}

// ---- products that do not fit in 32 bits ----

// 40,000 * 60,000 is 2^32 more than this.
#define WRAPPED (-1894967296L)
#define ROW ((int)in[2] + 39998)
#define STRIDE ((int)in[3] + 59997)

KERNEL overflow_bad ARGUMENTS
{
	int t = (int)threadIdx.x, row = ROW, stride = STRIDE;
	int at = row * stride + t; // overflow_bad before
	out[at - WRAPPED] = 7; // overflow_bad now
}

KERNEL overflow_good ARGUMENTS
{
	int t = (int)threadIdx.x, row = ROW, stride = STRIDE;
	long at = (long)row * stride + t;
	out[at - (WRAPPED + (1L << 32))] = 7;
}

KERNEL overflow_shift_bad ARGUMENTS
{
	int row = (int)(in[1000] + in[1001] + in[1001]);
	int at = row << 20; // overflow_shift_bad before
	out[at + (1094L << 20) + threadIdx.x] = 7; // overflow_shift_bad now
}

struct three {
	u32 x, y, z;
};

KERNEL overflow_struct_bad ARGUMENTS
{
	int t = (int)threadIdx.x, row = ROW, stride = STRIDE;
	const struct three *from = (const struct three *)(in - 3 * WRAPPED);
	out[t] = from[row * stride + t].y; // overflow_struct_bad now before
}

__device__ __noinline__ u32 element_of(const u32 *p, int at)
{
	return p[at]; // overflow_called_bad now
}

KERNEL overflow_called_bad ARGUMENTS
{
	int t = (int)threadIdx.x, row = ROW, stride = STRIDE;
	out[t] = element_of(in - WRAPPED, row * stride + t); // overflow_called_bad before
}

KERNEL overflow_division_bad ARGUMENTS
{
	int i = (int)in[7] + 279993 + (int)threadIdx.x, width = (int)in[7];
	int row = i / width, column = i % width, stride = STRIDE;
	long there = WRAPPED + (row - 40000) * 60000;
	out[threadIdx.x] = in[row * stride + column - there]; // overflow_division_bad now before
}

KERNEL overflow_atomic_bad ARGUMENTS
{
	int row = ROW, stride = STRIDE;
	atomicAdd(&out[row * stride - WRAPPED], 1u); // overflow_atomic_bad now before
}

// Hashes, with and without a sign, that are made indices in all the usual ways.
KERNEL overflow_hash_good ARGUMENTS
{
	int t = (int)threadIdx.x, n = (int)in[100];
	unsigned h = in[t] * 2654435761u + 12345u;
	int s = (int)in[t] * 1103515245 + 12345;
	unsigned f = (2166136261u ^ in[t]) * 16777619u;
	u32 sum = in[h % n] + in[h & 127] + in[h >> 25] + in[h % 100u] + in[(int)(h % (unsigned)n)] + in[(int)(h >> 1) % n];
	sum += in[s % n + n] + in[s % 16 + 16] + in[s % 100 + 100] + in[(s & 0x7fffffff) % n] + in[s / 5000000 + 500] + in[(s >> 24) + 128];
	sum += in[abs(s % n)] + in[abs(s) % n] + in[(unsigned)s % (unsigned)n] + in[(size_t)(unsigned)s % 1000] + in[(size_t)s % 1000];
	sum += in[(long)s % 100 + 100] + in[(long)s % n + n] + in[f % (unsigned)n] + in[(f ^ f >> 16) % n] + in[__umulhi(h, 1000u)];
	sum += in[(int)((long)s * n >> 32) + n] + in[(int)((long)s * 100 >> 32) + 100] + in[(unsigned long)h * n >> 32] + in[__mulhi(s, n) + n] + in[(unsigned char)s] + in[(short)s / 64 + 512];
	out[t] = sum;
}

KERNEL overflow_random_good ARGUMENTS
{
	int t = (int)threadIdx.x, n = (int)in[100];
	unsigned state = in[t] + 1;
	int next = (int)in[t] + 1;
	u32 sum = 0;
	for (int i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		next = next * 1103515245 + 12345;
		int from = (int)(state >> 16) % n;
		sum += in[from] + in[state % (unsigned)n] + in[(next / 65536 & 32767) % n];
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		sum += in[state * (unsigned)t % (unsigned)n] + in[(int)(state % 1000u)];
	}
	out[t] = sum;
}

// The numbers wrap on the way, and the index is right.
KERNEL overflow_back_good ARGUMENTS
{
	int t = (int)threadIdx.x;
	unsigned row = (unsigned)ROW, stride = (unsigned)STRIDE, before = row * stride - 5, far = (in[9] + 2391u) * 1000000u;
	int near = (int)(row * stride - before), nearer = (int)(row * stride + (unsigned)t - far), back = (int)(before - row * stride);
	int both = (int)(row * stride - (row - 1) * stride) - 59990 + t;
	u32 sum = in[near] + in[nearer] + in[back + 5] + in[both];
	sum += in[(int)(row * stride * 3 - row * 3 * stride) + t];
	out[t] = sum;
}

// Without a sign; negative ones; larger ones that are cut.
KERNEL overflow_index_good ARGUMENTS
{
	int t = (int)threadIdx.x, n = (int)in[100];
	unsigned row = (unsigned)ROW, stride = (unsigned)STRIDE, at = row * stride + (unsigned)t;
	u32 sum = in[at - (WRAPPED + (1L << 32))] + in[at - 2400000000u];
	const u32 *end = in + 1000;
	sum += end[(t - 64) * (n / 10)] + end[-(t * 10) - 1] + end[(t - 63) * n / 10];
	long i = 5000000000L + t * 3000000000L;
	int r = (int)(i % n), q = (int)(i % 1000), k = (int)(i - i / n * n), m = (int)((unsigned long)i % 1000);
	sum += in[r] + in[q] + in[k] + in[m] + in[(int)(i & 511)];
	int clamped = min(max(ROW * STRIDE, 0), 1000), ring = (int)((row * stride) % 1000u), sign = ROW * STRIDE < 0;
	sum += in[clamped] + in[ring] + in[sign] + in[(ROW * STRIDE) >> 31 & 1];
	out[t] = sum;
}

// What is not an address may wrap.
KERNEL overflow_value_good ARGUMENTS
{
	int t = (int)threadIdx.x;
	long wide = ROW * STRIDE;
	out[t] = (u32)(wide >> 32) + (u32)(ROW * STRIDE);
	flag[t] = (u32)(ROW * STRIDE + t);
}
