// Warp-level operations, barriers, special registers, predicates, control flow.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

__global__ void shuffles(int *out, int v, int lane)
{
	unsigned m = 0xffffffff;
	out[0] = __shfl_sync(m, v, lane) + __shfl_sync(m, v, 3) + __shfl_up_sync(m, v, 1) + __shfl_down_sync(m, v, lane, 8) + __shfl_xor_sync(m, v, 16);
	out[1] = __all_sync(m, v) + __any_sync(m, v > 3) + __ballot_sync(m, v & 1) + __uni_sync(m, v);
	out[2] = __match_any_sync(m, v) + __match_any_sync(m, (long long)v);
	int p;
	out[3] = __match_all_sync(m, v, &p) + p;
	out[4] = __activemask();
	__syncwarp(lane);
#if __CUDA_ARCH__ >= 800
	out[5] = __reduce_add_sync(m, v) + __reduce_min_sync(m, v) + __reduce_max_sync(m, (unsigned)v) + __reduce_and_sync(m, v) + __reduce_or_sync(m, v) + __reduce_xor_sync(m, v);
	out[5] += __reduce_add_sync(lane, v);
#endif
	asm volatile("{.reg .pred q; shfl.sync.bfly.b32 %0|q, %1, 1, 0x1f, -1; @q st.global.u32 [%2], 1;}" : "=r"(p) : "r"(v), "l"(out));
	out[6] = p;
}

__global__ void barriers(int *out, int n)
{
	__syncthreads();
	out[0] = __syncthreads_count(n) + __syncthreads_and(n) + __syncthreads_or(n);
	asm volatile("bar.sync 3;");
	asm volatile("bar.sync %0, 64;" ::"r"(n));
	asm volatile("bar.arrive 2, %0;" ::"r"(n));
	asm volatile("barrier.sync %0, %1;" ::"r"(n), "r"(n));
	asm volatile("barrier.arrive %0, %1;" ::"r"(n), "r"(n));
	asm volatile("{.reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.red.and.pred q, 1, p; selp.s32 %0, 1, 0, q;}" : "=r"(out[1]) : "r"(n));
	asm volatile("bar.warp.sync %0;" ::"r"(n));
	asm volatile("bar.warp.sync 0xffffffff;");
	asm volatile("nanosleep.u32 100;");
	asm volatile("nanosleep.u32 %0;" ::"r"(n));
	asm volatile("pmevent 3;");
	asm volatile("brkpt;");
}

#define SREG(name) { unsigned v; asm volatile("mov.u32 %0, %%" name ";" : "=r"(v)); sum += v; }
#define SREG64(name) { unsigned long long v; asm volatile("mov.u64 %0, %%" name ";" : "=l"(v)); sum += v; }
__global__ void special_registers(unsigned long long *out)
{
	unsigned long long sum = 0;
	SREG("tid.x") SREG("tid.y") SREG("tid.z") SREG("ntid.x") SREG("ntid.y") SREG("ntid.z") SREG("ctaid.x") SREG("ctaid.y") SREG("ctaid.z")
	SREG("nctaid.x") SREG("nctaid.y") SREG("nctaid.z") SREG("laneid") SREG("warpid") SREG("nwarpid") SREG("smid") SREG("nsmid")
	SREG("lanemask_eq") SREG("lanemask_le") SREG("lanemask_lt") SREG("lanemask_ge") SREG("lanemask_gt") SREG("clock") SREG("clock_hi")
	SREG("pm0") SREG("pm3") SREG("globaltimer_lo") SREG("globaltimer_hi") SREG("total_smem_size") SREG("dynamic_smem_size") SREG("envreg3")
	SREG64("clock64") SREG64("globaltimer") SREG64("gridid") SREG64("pm0_64")
	*out = sum;
}

__device__ __noinline__ int leaf(int x)
{
	return x * 3 + 1;
}
__device__ __noinline__ int fib(int n)
{
	return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2);
}
typedef int (*function)(int);
__device__ function functions[] = {leaf, fib};
__global__ void calls(int *out, int n)
{
	out[0] = fib(n) + functions[n & 1](n);
}

__global__ void control(int *out, int n, int k)
{
	int s = 0;
	for (int i = threadIdx.x; i < n; i++) {
		if (out[i] == 7)
			continue;
		if (out[i] < 0)
			break;
		switch (out[i] & 15) {
		case 0: s += k; break;
		case 1: s ^= i; break;
		case 2: s = s * 3; break;
		case 3: s = s / (i + 1); break;
		case 4: s |= 8; break;
		case 5: s -= k * i; break;
		case 6: s = __popc(s); break;
		case 9: s = leaf(s); break;
		default: return;
		}
	}
	out[n] = s;
	if (k == 12345)
		__trap();
	bool a = n > 3, b = k < 4, c = s == 1, d = n * k > s;
	out[0] = (a && b) || (c && !d);
	out[1] = (a ^ b) ? (c || d) : (a && d);
}

__global__ void groups(int *out, int v)
{
	namespace cg = cooperative_groups;
	cg::thread_block block = cg::this_thread_block();
	cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
	out[0] = cg::reduce(tile, v, cg::plus<int>());
	cg::coalesced_group active = cg::coalesced_threads();
	out[1] = active.shfl(v, 0) + active.size() + tile.any(v);
	cg::this_grid().sync();
	out[2] = v;
}
