// SPDX-License-Identifier: Apache-2.0
// Barriers in memory as PTX has them on all architectures from sm_80 on.
#include "mbarrier.h"

// One thread does what a script says: an operation in the low byte, its count in the rest. After each step: the pending
// count that the operation saw, and whether the phase of the last state is over.
KERNEL mbarrier_script(u32 *out, const u32 *script, int steps, u32 expected)
{
	__shared__ u64 barrier;
	mbarrier_init(&barrier, expected);
	u64 state = 0;
	u32 parity = 0;
	for (int i = 0; i < steps; i++) {
		u32 n = script[i] >> 8;
		switch (script[i] & 255) {
		case 0:
			state = mbarrier_arrive(&barrier);
			break;
		case 1:
			state = mbarrier_arrive_many(&barrier, n);
			break;
		case 2:
			state = mbarrier_arrive_drop(&barrier);
			break;
		case 3:
			state = mbarrier_arrive_drop_many(&barrier, n);
			break;
		}
		bool over = mbarrier_test(&barrier, state);
		out[2 * i] = mbarrier_pending(state);
		out[2 * i + 1] = over | mbarrier_test_parity(&barrier, parity) << 1;
		parity ^= over;
	}
	mbarrier_inval(&barrier);
}

// All lanes of a warp at once: what each of them saw is another count.
KERNEL mbarrier_lanes(u32 *out, int odd_only)
{
	__shared__ u64 barrier, second;
	int lane = (int)threadIdx.x;
	if (lane == 0) {
		mbarrier_init(&barrier, 200);
		mbarrier_init(&second, 100);
	}
	__syncwarp();
	u32 seen = 0;
	if (!odd_only || lane % 2)
		seen = mbarrier_pending(mbarrier_arrive_many(lane % 4 == 3 ? &second : &barrier, 3));
	out[lane] = seen;
	__syncwarp();
	out[32 + lane] = mbarrier_pending(mbarrier_arrive(&barrier));
}

// A warp fills a ring of stages, others empty it.
KERNEL mbarrier_ring(u32 *out, const u32 *in, int rounds)
{
	enum { STAGES = 3 };
	__shared__ u64 full[STAGES], empty[STAGES];
	__shared__ u32 value[STAGES][32];
	int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, consumers = (int)blockDim.x / 32 - 1;
	if (threadIdx.x == 0)
		for (int i = 0; i < STAGES; i++) {
			mbarrier_init(&full[i], 32);
			mbarrier_init(&empty[i], (u32)consumers);
		}
	__syncthreads();
	u32 sum = 0;
	for (int k = 0; k < rounds; k++) {
		int stage = k % STAGES;
		u32 parity = k / STAGES & 1;
		if (warp == 0) {
			while (!mbarrier_test_parity(&empty[stage], parity ^ 1))
				;
			value[stage][lane] = in[k * 32 + lane];
			mbarrier_arrive(&full[stage]);
		} else {
			while (!mbarrier_test_parity(&full[stage], parity))
				;
			sum = sum * 3 + value[stage][(lane + warp) % 32];
			__syncwarp();
			if (lane == 0)
				mbarrier_arrive(&empty[stage]);
		}
	}
	if (warp > 0)
		out[threadIdx.x - 32] = sum;
}

// Copies in the background arrive when they are done.
KERNEL mbarrier_copies(u32 *out, const u32 *in, int counted)
{
	__shared__ u64 barrier;
	__shared__ u32 tile[128];
	int t = (int)threadIdx.x;
	if (t == 0)
		mbarrier_init(&barrier, counted ? 128 : 256);
	__syncthreads();
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&tile[t])), "l"(in + t) : "memory");
	if (counted)
		asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(shared_address(&barrier)) : "memory");
	else
		asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(&barrier)) : "memory");
	u64 state = mbarrier_arrive(&barrier);
	while (!mbarrier_test(&barrier, state))
		;
	out[t] = tile[127 - t] * 3;
}
