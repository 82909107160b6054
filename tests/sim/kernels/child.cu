// SPDX-License-Identifier: Apache-2.0
// Launches from the device. Linked with device_runtime.ptx instead of the vendor's library.
#include "kernel.h"

struct Pair {
	unsigned char small;
	u64 wide;
};

KERNEL add_to(u32 *out, u32 value, Pair pair)
{
	extern __shared__ u32 shared[];
	shared[threadIdx.x] = value;
	__syncthreads();
	atomicAdd(&out[thread_number()], shared[threadIdx.x ^ 1] + pair.small + (u32)pair.wide);
}

// Each thread launches a child over numbers of its own.
KERNEL many_children(u32 *out, int n)
{
	int i = thread_number();
	if (i < n)
		add_to<<<2, 32, 128>>>(out + 64 * i, (u32)i, Pair{ (unsigned char)i, 1000 });
}

__device__ u32 n_seen;

// What ran before.
KERNEL note(u32 *out, u32 what)
{
	if (threadIdx.x == 0)
		out[atomicAdd(&n_seen, 1u)] = what;
}

KERNEL middle(u32 *out, u32 what)
{
	if (threadIdx.x == 0) {
		note<<<1, 32>>>(out, what + 1);
		note<<<1, 32, 0, cudaStreamTailLaunch>>>(out, what + 2);
		out[atomicAdd(&n_seen, 1u)] = what;
	}
}

KERNEL order(u32 *out)
{
	if (threadIdx.x == 0 && blockIdx.x == 0) {
		note<<<1, 32, 0, cudaStreamTailLaunch>>>(out, 4);
		middle<<<1, 32, 0, cudaStreamFireAndForget>>>(out, 10);
		middle<<<1, 32>>>(out, 20);
		note<<<1, 32, 0, cudaStreamTailLaunch>>>(out, 5);
	}
	if (threadIdx.x == 1)
		out[atomicAdd(&n_seen, 1u)] = 1;
}

// Children of children, until there is an error.
KERNEL deeper(u32 *out, u32 depth)
{
	out[depth] = depth + 1;
	deeper<<<1, 1>>>(out, depth + 1);
	if (cudaPeekAtLastError() != cudaSuccess)
		out[100] = (u32)cudaGetLastError() | depth << 16;
	out[101] = (u32)cudaGetLastError();
}

KERNEL nothing()
{
}

KERNEL too_many(u32 *out)
{
	u32 n = 0;
	while (n < 3000) {
		nothing<<<1, 1>>>();
		if (cudaPeekAtLastError() != cudaSuccess)
			break;
		n++;
	}
	out[0] = n;
	out[1] = (u32)cudaGetLastError();
	nothing<<<1, 2048>>>(); // there is no room for it either
	out[2] = (u32)cudaGetLastError();
}

KERNEL wrong_launches(u32 *out)
{
	nothing<<<1, 2048>>>();
	out[0] = (u32)cudaGetLastError();
	nothing<<<0, 1>>>();
	out[1] = (u32)cudaGetLastError();
	nothing<<<1, 1, 1 << 20>>>();
	out[2] = (u32)cudaGetLastError();
	out[3] = (u32)cudaLaunchDeviceV2(out, 0);
	out[4] = (u32)cudaGetLastError();
	out[5] = cudaGetParameterBufferV2(out, dim3(1), dim3(1), 0) == 0;
	out[6] = (u32)cudaGetLastError();
	nothing<<<1, 1>>>();
	out[7] = (u32)cudaGetLastError();
}

KERNEL bad_child(u32 *out)
{
	out[1 << 28] = 1;
}

KERNEL parent_of_bad(u32 *out)
{
	if (threadIdx.x == 3)
		bad_child<<<2, 32>>>(out);
}
