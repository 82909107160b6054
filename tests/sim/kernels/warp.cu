// SPDX-License-Identifier: Apache-2.0
// Lanes of a warp among themselves.
#include <cooperative_groups.h>
#include "kernel.h"

namespace cg = cooperative_groups;
constexpr u32 ALL = 0xffffffffu;

KERNEL shuffle_all(u32 *out, const u32 *in)
{
	int i = thread_number(), lane = i & 31;
	u32 v = in[i];
	out[8 * i] = __shfl_sync(ALL, v, (lane * 7 + 3) & 31);
	out[8 * i + 1] = __shfl_up_sync(ALL, v, 3);
	out[8 * i + 2] = __shfl_down_sync(ALL, v, 5);
	out[8 * i + 3] = __shfl_xor_sync(ALL, v, 10);
	out[8 * i + 4] = __shfl_sync(ALL, v, lane, 8);
	out[8 * i + 5] = __shfl_up_sync(ALL, v, 2, 16);
	out[8 * i + 6] = __shfl_down_sync(ALL, v, 3, 4);
	out[8 * i + 7] = __shfl_xor_sync(ALL, v, 3, 2);
}

KERNEL shuffle_wide(u64 *out, const u64 *in)
{
	int i = thread_number();
	double d = __longlong_as_double((s64)in[i]);
	out[2 * i] = __shfl_xor_sync(ALL, in[i], 1);
	out[2 * i + 1] = (u64)__double_as_longlong(__shfl_down_sync(ALL, d, 1));
}

KERNEL votes(u32 *out, const u32 *in)
{
	int i = thread_number();
	u32 v = in[i];
	out[5 * i] = __ballot_sync(ALL, v & 1);
	out[5 * i + 1] = (u32)__any_sync(ALL, v > 4200000000u);
	out[5 * i + 2] = (u32)__all_sync(ALL, v > 1000);
	u32 odd = __ballot_sync(ALL, v & 1);
	out[5 * i + 3] = v & 1 ? __ballot_sync(odd, v & 2) : 0;
	out[5 * i + 4] = (u32)__popc(__ballot_sync(ALL, v & 4) & ((1u << (i & 31)) - 1));
}

KERNEL matches(u32 *out, const u32 *in)
{
	int i = thread_number(), same;
	u32 v = in[i] & 7;
	out[4 * i] = __match_any_sync(ALL, v);
	out[4 * i + 1] = __match_all_sync(ALL, v, &same);
	out[4 * i + 1] |= (u32)same << 1;
	out[4 * i + 2] = __match_any_sync(ALL, (u64)v << 40 | 5);
	out[4 * i + 3] = __match_all_sync(ALL, (u64)(blockIdx.x + 1) << 33, &same);
	out[4 * i + 3] ^= (u32)same;
}

KERNEL reductions(u32 *out, const u32 *in)
{
	int i = thread_number();
	u32 v = in[i];
#if __CUDA_ARCH__ >= 800
	out[6 * i] = __reduce_add_sync(ALL, v);
	out[6 * i + 1] = __reduce_min_sync(ALL, v);
	out[6 * i + 2] = (u32)__reduce_max_sync(ALL, (int)v);
	out[6 * i + 3] = __reduce_and_sync(ALL, v | 0xffff);
	out[6 * i + 4] = __reduce_or_sync(ALL, v & 0xff00);
	out[6 * i + 5] = __reduce_xor_sync(ALL, v);
#else
	u32 add = v, least = v, conj = v | 0xffff, disj = v & 0xff00, exor = v;
	int most = (int)v;
	for (int k = 16; k > 0; k /= 2) {
		add += __shfl_xor_sync(ALL, add, k);
		least = min(least, __shfl_xor_sync(ALL, least, k));
		most = max(most, __shfl_xor_sync(ALL, most, k));
		conj &= __shfl_xor_sync(ALL, conj, k);
		disj |= __shfl_xor_sync(ALL, disj, k);
		exor ^= __shfl_xor_sync(ALL, exor, k);
	}
	out[6 * i] = add;
	out[6 * i + 1] = least;
	out[6 * i + 2] = (u32)most;
	out[6 * i + 3] = conj;
	out[6 * i + 4] = disj;
	out[6 * i + 5] = exor;
#endif
}

KERNEL warp_scan(u32 *out, const u32 *in)
{
	int i = thread_number(), lane = i & 31;
	u32 v = in[i];
	for (int k = 1; k < 32; k *= 2) {
		u32 other = __shfl_up_sync(ALL, v, k);
		if (lane >= k)
			v += other;
	}
	out[i] = v;
}

// Lanes that diverged talk among themselves only.
KERNEL split_shuffle(u32 *out, const u32 *in)
{
	int i = thread_number(), lane = i & 31;
	u32 v = in[i];
	if (lane % 3 == 0)
		v = __shfl_sync(0x49249249u, v, (lane + 3) % 33) * 2;
	else if (lane % 3 == 1)
		v = __ballot_sync(0x92492492u, v & 1);
	else
		v = __shfl_xor_sync(0x24924924u, v, 0) + 1;
	__syncwarp();
	out[i] = v + __shfl_xor_sync(ALL, v, 1);
}

// Lanes of a warp write, then others read, with only __syncwarp() between.
KERNEL warp_exchange(u32 *out, const u32 *in)
{
	__shared__ u32 slot[128];
	int t = (int)threadIdx.x, base = t & ~31, lane = t & 31;
	u32 v = in[thread_number()];
	for (int k = 0; k < 5; k++) {
		slot[t] = v;
		__syncwarp();
		v = v * 5 + slot[base + ((lane + k + 1) & 31)];
		__syncwarp();
	}
	out[thread_number()] = v;
}

KERNEL group_tiles(u32 *out, const u32 *in)
{
	auto block = cg::this_thread_block();
	auto tile = cg::tiled_partition<8>(block);
	int i = thread_number();
	u32 v = in[i];
	for (int k = (int)tile.size() / 2; k > 0; k /= 2)
		v += tile.shfl_down(v, (u32)k);
	out[3 * i] = tile.thread_rank() == 0 ? v : 0;
	out[3 * i + 1] = tile.ballot(in[i] & 1);
	auto half = cg::binary_partition(cg::tiled_partition<32>(block), (in[i] & 2) != 0);
	out[3 * i + 2] = half.size() << 8 | half.thread_rank();
}

// One atomic a warp for all its lanes.
KERNEL compact(u32 *out, u32 *count, const u32 *in, int n)
{
	int i = thread_number();
	bool keep = i < n && in[i] % 3 == 0;
	u32 mask = __ballot_sync(ALL, keep), lane = threadIdx.x & 31, at = 0;
	if (lane == 0 && mask)
		at = atomicAdd(count, (u32)__popc(mask));
	at = __shfl_sync(ALL, at, 0);
	if (keep)
		out[at + (u32)__popc(mask & ((1u << lane) - 1))] = in[i];
}

#ifdef __CUDA_ARCH_FEAT_SM100_ALL
// Least and greatest floats of a warp, and of its even lanes.
KERNEL redux_floats(u32 *out, const u32 *in)
{
	int i = thread_number();
	float v = __uint_as_float(in[i]), r[6];
	asm("redux.sync.min.f32 %0, %1, -1;" : "=f"(r[0]) : "f"(v));
	asm("redux.sync.max.f32 %0, %1, -1;" : "=f"(r[1]) : "f"(v));
	asm("redux.sync.min.abs.f32 %0, %1, -1;" : "=f"(r[2]) : "f"(v));
	asm("redux.sync.max.abs.NaN.f32 %0, %1, -1;" : "=f"(r[3]) : "f"(v));
	asm("redux.sync.min.NaN.f32 %0, %1, -1;" : "=f"(r[4]) : "f"(v));
	r[5] = 0;
	if (i % 2 == 0)
		asm("redux.sync.max.f32 %0, %1, 0x55555555;" : "=f"(r[5]) : "f"(v));
	for (int k = 0; k < 6; k++)
		out[6 * i + k] = __float_as_uint(r[k]);
}
#endif

// Groups of two warps: from sm_80 on their barriers are in what the system takes of shared memory.
KERNEL tile_of_warps(u32 *out, const u32 *in)
{
	__shared__ cg::block_tile_memory<128> scratch;
	__shared__ u32 own[128];
	auto tile = cg::tiled_partition<64>(cg::this_thread_block(scratch));
	u32 t = threadIdx.x, v = in[thread_number()];
	own[t] = v;
	tile.sync();
	u32 sum = own[(t & 64) + 63 - (t & 63)] * 3 + tile.shfl(v, 5);
	out[thread_number()] = sum + 2 * tile.any(v == 1) + tile.all(v != 1);
}

struct Facts {
	u32 sms, dynamic_bytes, bytes, warps;
	u64 grid;
};

// What the driver tells every kernel.
KERNEL launch_facts(Facts *out)
{
	__shared__ volatile u32 some[20];
	extern __shared__ volatile u32 more[];
	some[threadIdx.x] = more[threadIdx.x] = 1;
	asm volatile("mov.u32 %0, %%nsmid;" : "=r"(out->sms));
	asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(out->dynamic_bytes));
	asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(out->bytes));
	asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(out->warps));
	asm volatile("mov.u64 %0, %%gridid;" : "=l"(out->grid));
}
