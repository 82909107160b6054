// SPDX-License-Identifier: Apache-2.0
// Whole algorithms.
#include "kernel.h"

KERNEL mandelbrot(u32 *out, int width, int height, int limit)
{
	int i = thread_number();
	if (i >= width * height)
		return;
	float re = __fmaf_rn((float)(i % width), 3.0f / 64, -2.0f), im = __fmaf_rn((float)(i / width), 2.0f / 32, -1.0f);
	float x = 0, y = 0;
	int k = 0;
	for (; k < limit; k++) {
		float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
		if (__fadd_rn(xx, yy) > 4.0f)
			break;
		y = __fmaf_rn(__fmul_rn(2.0f, x), y, im);
		x = __fadd_rn(__fsub_rn(xx, yy), re);
	}
	out[i] = (u32)k;
}

KERNEL game_of_life(unsigned char *out, const unsigned char *in, int width, int height)
{
	int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y), count = 0;
	if (x >= width || y >= height)
		return;
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++)
			if (dx || dy)
				count += in[(y + dy + height) % height * width + (x + dx + width) % width];
	out[y * width + x] = count == 3 || (count == 2 && in[y * width + x]);
}

static __device__ inline u32 rotate(u32 x, int by)
{
	return x >> by | x << (32 - by);
}

__constant__ u32 sha_round[64];

KERNEL sha256_block(u32 *out, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 w[64], h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 }, v[8];
	for (int k = 0; k < 16; k++)
		w[k] = in[16 * i + k];
	for (int k = 16; k < 64; k++)
		w[k] = w[k - 16] + (rotate(w[k - 15], 7) ^ rotate(w[k - 15], 18) ^ w[k - 15] >> 3) + w[k - 7] +
		       (rotate(w[k - 2], 17) ^ rotate(w[k - 2], 19) ^ w[k - 2] >> 10);
	for (int k = 0; k < 8; k++)
		v[k] = h[k];
	for (int k = 0; k < 64; k++) {
		u32 t1 = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha_round[k] + w[k];
		u32 t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		for (int m = 7; m > 0; m--)
			v[m] = v[m - 1];
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int k = 0; k < 8; k++)
		out[8 * i + k] = h[k] + v[k];
}

KERNEL queens(u32 *out, int size)
{
	int first = thread_number();
	if (first >= size)
		return;
	u32 full = (1u << size) - 1, free_places[16], left[16], right[16], down[16], found = 0;
	int row = 1;
	down[1] = 1u << first;
	left[1] = down[1] << 1;
	right[1] = down[1] >> 1;
	free_places[1] = full & ~(down[1] | left[1] | right[1]);
	while (row > 0) {
		u32 place = free_places[row] & -free_places[row];
		if (!place) {
			row--;
			continue;
		}
		free_places[row] ^= place;
		if (row + 1 == size) {
			found++;
			continue;
		}
		down[row + 1] = down[row] | place;
		left[row + 1] = (left[row] | place) << 1;
		right[row + 1] = (right[row] | place) >> 1;
		row++;
		free_places[row] = full & ~(down[row] | left[row] | right[row]);
	}
	out[first] = found;
}

// Each thread finds the place of one element by counting: stable.
KERNEL rank_sort(u32 *out, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 v = in[i], rank = 0;
	for (int k = 0; k < n; k++)
		rank += in[k] < v || (in[k] == v && k < i);
	out[rank] = v;
}

KERNEL merge_sorted(u32 *out, const u32 *a, const u32 *b, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	int low = 0, high = n;
	while (low < high) {
		int middle = (low + high) / 2;
		if (b[middle] < a[i])
			low = middle + 1;
		else
			high = middle;
	}
	out[i + low] = a[i];
	low = 0;
	high = n;
	while (low < high) {
		int middle = (low + high) / 2;
		if (a[middle] <= b[i])
			low = middle + 1;
		else
			high = middle;
	}
	out[i + low] = b[i];
}

// One digit of a radix sort in one block.
KERNEL radix_pass(u32 *out, const u32 *in, int shift)
{
	__shared__ u32 count[16][256];
	__shared__ u32 start[16];
	int t = (int)threadIdx.x;
	u32 v = in[t], digit = v >> shift & 15;
	for (int k = 0; k < 16; k++)
		count[k][t] = digit == (u32)k;
	for (int step = 1; step < 256; step *= 2) {
		u32 add[16];
		__syncthreads();
		for (int k = 0; k < 16; k++)
			add[k] = t >= step ? count[k][t - step] : 0;
		__syncthreads();
		for (int k = 0; k < 16; k++)
			count[k][t] += add[k];
	}
	__syncthreads();
	if (t == 0) {
		u32 sum = 0;
		for (int k = 0; k < 16; k++) {
			start[k] = sum;
			sum += count[k][255];
		}
	}
	__syncthreads();
	out[start[digit] + count[digit][t] - 1] = v;
}

KERNEL sparse_product(float *out, const u32 *start, const u32 *column, const float *value, const float *x, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	float sum = 0;
	for (u32 k = start[i]; k < start[i + 1]; k++)
		sum = __fmaf_rn(value[k], x[column[k]], sum);
	out[i] = sum;
}

KERNEL floyd(u32 *distance, int n)
{
	int t = (int)threadIdx.x;
	for (int k = 0; k < n; k++) {
		for (int at = t; at < n * n; at += (int)blockDim.x) {
			u32 through = distance[at / n * n + k] + distance[k * n + at % n];
			if (through < distance[at])
				distance[at] = through;
		}
		__syncthreads();
	}
}

KERNEL lu_decompose(double *matrix, int n)
{
	int row = (int)threadIdx.x;
	for (int k = 0; k < n; k++) {
		__syncthreads();
		if (row > k && row < n) {
			double factor = matrix[row * n + k] / matrix[k * n + k];
			matrix[row * n + k] = factor;
			for (int c = k + 1; c < n; c++)
				matrix[row * n + c] = __fma_rn(-factor, matrix[k * n + c], matrix[row * n + c]);
		}
	}
}

KERNEL count_text(u32 *out, const char *text, int n, const char *word, int len)
{
	int i = thread_number();
	if (i + len > n)
		return;
	for (int k = 0; k < len; k++)
		if (text[i + k] != word[k])
			return;
	atomicAdd(out, 1u);
}

// A pseudo-random walk per thread, 64-bit state.
KERNEL random_walk(u64 *out, int n, int steps)
{
	int i = thread_number();
	if (i >= n)
		return;
	u64 state = (u64)i * 0x9e3779b97f4a7c15ull + 1;
	s64 x = 0, y = 0;
	for (int k = 0; k < steps; k++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		u32 turn = (u32)(state >> 61);
		if (turn & 4)
			x += turn & 1 ? 1 : -1;
		else
			y += turn & 1 ? (s64)turn : -(s64)turn;
	}
	out[2 * i] = (u64)x;
	out[2 * i + 1] = (u64)y;
}
