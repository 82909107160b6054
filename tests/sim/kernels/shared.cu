// SPDX-License-Identifier: Apache-2.0
// Shared memory and barriers of a block.
#include "kernel.h"

KERNEL block_sum(u32 *out, const u32 *in)
{
	__shared__ u32 part[256];
	int t = (int)threadIdx.x;
	part[t] = in[thread_number()];
	for (int half = (int)blockDim.x / 2; half > 0; half /= 2) {
		__syncthreads();
		if (t < half)
			part[t] += part[t + half];
	}
	if (t == 0)
		out[blockIdx.x] = part[0];
}

constexpr int TILE = 16;

KERNEL matmul(float *c, const float *a, const float *b, int n)
{
	__shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
	int x = (int)threadIdx.x, y = (int)threadIdx.y;
	int row = (int)blockIdx.y * TILE + y, column = (int)blockIdx.x * TILE + x;
	float sum = 0;
	for (int k = 0; k < n; k += TILE) {
		tile_a[y][x] = a[row * n + k + x];
		tile_b[y][x] = b[(k + y) * n + column];
		__syncthreads();
		for (int j = 0; j < TILE; j++)
			sum = __fmaf_rn(tile_a[y][j], tile_b[j][x], sum);
		__syncthreads();
	}
	c[row * n + column] = sum;
}

KERNEL transpose(u32 *out, const u32 *in, int width, int height)
{
	__shared__ u32 tile[TILE][TILE + 1];
	int x = (int)(blockIdx.x * TILE + threadIdx.x), y = (int)(blockIdx.y * TILE + threadIdx.y);
	if (x < width && y < height)
		tile[threadIdx.y][threadIdx.x] = in[y * width + x];
	__syncthreads();
	x = (int)(blockIdx.y * TILE + threadIdx.x);
	y = (int)(blockIdx.x * TILE + threadIdx.y);
	if (x < height && y < width)
		out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

KERNEL block_scan(u32 *out, const u32 *in)
{
	extern __shared__ u32 dynamic[];
	int t = (int)threadIdx.x, n = (int)blockDim.x, from = 0;
	dynamic[t] = in[thread_number()];
	for (int step = 1; step < n; step *= 2) {
		__syncthreads();
		u32 value = dynamic[from * n + t];
		if (t >= step)
			value += dynamic[from * n + t - step];
		from = 1 - from;
		dynamic[from * n + t] = value;
	}
	out[thread_number()] = dynamic[from * n + t];
}

KERNEL histogram(u32 *out, const unsigned char *in, int n)
{
	__shared__ u32 count[256];
	for (int k = (int)threadIdx.x; k < 256; k += (int)blockDim.x)
		count[k] = 0;
	__syncthreads();
	for (int i = thread_number(); i < n; i += (int)(gridDim.x * blockDim.x))
		atomicAdd(&count[in[i]], 1u);
	__syncthreads();
	for (int k = (int)threadIdx.x; k < 256; k += (int)blockDim.x)
		if (count[k])
			atomicAdd(&out[k], count[k]);
}

KERNEL bitonic_sort(u32 *data)
{
	__shared__ u32 value[256];
	u32 t = threadIdx.x;
	value[t] = data[thread_number()];
	for (u32 size = 2; size <= blockDim.x; size *= 2) {
		for (u32 stride = size / 2; stride > 0; stride /= 2) {
			__syncthreads();
			u32 other = t ^ stride;
			if (other > t) {
				u32 a = value[t], b = value[other];
				if ((a > b) == ((t & size) == 0)) {
					value[t] = b;
					value[other] = a;
				}
			}
		}
	}
	__syncthreads();
	data[thread_number()] = value[t];
}

KERNEL stencil(float *out, const float *in, int n)
{
	__shared__ float cell[128 + 4];
	int t = (int)threadIdx.x, i = thread_number();
	cell[t + 2] = i < n ? in[i] : 0;
	if (t < 2) {
		cell[t] = i >= 2 ? in[i - 2] : 0;
		cell[t + 130] = i + 128 < n ? in[i + 128] : 0;
	}
	__syncthreads();
	if (i < n)
		out[i] = cell[t] * 0.125f + cell[t + 1] * 0.25f + cell[t + 2] * 0.5f + cell[t + 3] * 0.25f + cell[t + 4] * 0.125f;
}

KERNEL barrier_votes(u32 *out, const u32 *in)
{
	u32 value = in[thread_number()];
	int odd = __syncthreads_count((int)(value & 1));
	int all = __syncthreads_and(value > 10);
	int any = __syncthreads_or(value > 4000000000u);
	out[thread_number()] = (u32)odd << 2 | (u32)(all != 0) << 1 | (u32)(any != 0);
}

// Half of the block makes, half takes, by two named barriers.
KERNEL named_barriers(u32 *out, const u32 *in, int rounds)
{
	__shared__ u32 slot[128];
	int t = (int)threadIdx.x, half = (int)blockDim.x / 2;
	u32 sum = 0;
	for (int k = 0; k < rounds; k++) {
		if (t < half) {
			asm volatile("bar.sync 2, 256;" ::: "memory");
			slot[t] = in[(int)blockIdx.x * half + t] + (u32)k;
			asm volatile("bar.arrive 1, 256;" ::: "memory");
		} else {
			asm volatile("bar.arrive 2, 256;" ::: "memory");
			asm volatile("bar.sync 1, 256;" ::: "memory");
			sum = sum * 3 + slot[half - 1 - (t - half)];
		}
	}
	if (t >= half)
		out[(int)blockIdx.x * half + t - half] = sum;
}

// Warps that return early no longer count at the barrier.
KERNEL early_exit(u32 *out, const u32 *in)
{
	__shared__ u32 value[256];
	int t = (int)threadIdx.x;
	value[t] = in[thread_number()];
	__syncthreads();
	if (t >= 96)
		return;
	u32 sum = value[t] + value[t + 96];
	__syncthreads();
	value[t] = sum;
	__syncthreads();
	out[(int)blockIdx.x * 96 + t] = value[95 - t] - value[(t + 1) % 96];
}
