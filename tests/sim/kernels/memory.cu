// SPDX-License-Identifier: Apache-2.0
// Loads and stores of all widths, in all spaces.
#include "kernel.h"

KERNEL copy_words(u32 *out, const u32 *in, int n)
{
	for (int i = thread_number(); i < n; i += (int)(gridDim.x * blockDim.x))
		out[i] = in[i];
}

KERNEL copy_quads(uint4 *out, const uint4 *in, int n)
{
	for (int i = thread_number(); i < n; i += (int)(gridDim.x * blockDim.x))
		out[i] = in[i];
}

KERNEL copy_narrow(unsigned char *bytes, short *halves, u64 *wide, const unsigned char *in, const short *in_halves,
		   const u64 *in_wide, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	bytes[i] = (unsigned char)(in[i] + (signed char)in[n - 1 - i]);
	halves[i] = (short)(in_halves[i] - (unsigned short)in_halves[n - 1 - i]);
	wide[i] = in_wide[n - 1 - i];
}

__constant__ u32 constant_table[256] = { 3, 1, 4, 1, 5, 9, 2, 6 };
__constant__ float constant_scale = 2.5f;
__device__ u32 device_counter = 41;
__device__ u32 device_table[64] = { 7, 7, 7 };
__device__ u32 *device_pointer = &device_table[2];

KERNEL read_constants(float *out, const u32 *index, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[i] = (float)constant_table[index[i] & 255] * constant_scale + (float)constant_table[3];
}

KERNEL use_variables(u32 *out, int n)
{
	int i = thread_number();
	if (i < 64)
		device_table[i] += (u32)i;
	__syncthreads();
	if (i < n)
		out[i] = device_counter + device_pointer[i & 31];
}

KERNEL local_array(u32 *out, const u32 *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 seen[64];
	for (int k = 0; k < 64; k++)
		seen[k] = (u32)k * 3;
	for (int k = 0; k < 64; k++) {
		u32 at = (in[i] >> (k & 15)) & 63;
		seen[at] += seen[63 - at] + (u32)k;
	}
	u32 sum = 0;
	for (int k = 0; k < 64; k++)
		sum = sum * 31 + seen[k];
	out[i] = sum;
}

struct Large {
	u32 word[64];
	unsigned char byte[7];
	u64 wide;
	float matrix[4][4];
};

KERNEL large_parameter(u32 *out, Large large, int n)
{
	int i = thread_number();
	if (i < n)
		out[i] = large.word[i & 63] + large.byte[i % 7] + (u32)(large.wide >> (i & 31)) + (u32)large.matrix[i & 3][i >> 2 & 3];
}

struct Node {
	u32 value;
	u32 next;
};

KERNEL chase(u32 *out, const Node *nodes, const u32 *start, int n, int steps)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 at = start[i], sum = 0;
	for (int k = 0; k < steps; k++) {
		sum += nodes[at].value;
		at = nodes[at].next;
	}
	out[i] = sum;
}

// One pointer, three spaces: only the address tells.
static __device__ __noinline__ u32 sum_generic(const u32 *p, int n)
{
	u32 sum = 0;
	for (int k = 0; k < n; k++)
		sum += p[k] * (u32)(k + 1);
	return sum;
}

KERNEL generic_spaces(u32 *out, const u32 *in, int n)
{
	__shared__ u32 shared[128];
	int t = (int)threadIdx.x, i = thread_number();
	u32 local[8];
	shared[t] = in[i] * 3;
	for (int k = 0; k < 8; k++)
		local[k] = in[(i + k) % n] ^ 0x55u;
	__syncthreads();
	const u32 *from = t % 3 == 0 ? local : t % 3 == 1 ? shared + (t & 63) : in + (i % (n - 8));
	out[i] = sum_generic(from, 8) + (__isShared(from) ? 1000000u : 0) + (__isGlobal(from) ? 2000000u : 0);
}

KERNEL read_only(float *out, const float *__restrict__ in, const float4 *__restrict__ vectors, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	float4 v = __ldg(&vectors[i]);
	out[i] = __ldg(&in[n - 1 - i]) + v.x + v.y * 2 + v.z * 4 + v.w * 8;
}

KERNEL transpose_bytes(u32 *out, const unsigned char *in, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	u32 word = 0;
	for (int k = 0; k < 4; k++)
		word |= (u32)in[k * n + i] << 8 * k;
	out[i] = word;
}
