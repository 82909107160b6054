// Instructions that hardware refuses for what their operands hold; tests/cli/test_exceptions.py says what they hold.
#include <cstdint>

extern "C" __global__ void lacks_itself(int *out, unsigned mask)
{
	int lane = threadIdx.x;
	if (lane & 1)
		asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
	out[lane] = lane;
}

#if __CUDA_ARCH_FEAT_SM90_ALL
extern "C" __global__ void __launch_bounds__(128) multiplies(float *out, uint64_t matrix)
{
	float d[4] = {0, 0, 0, 0};
	asm volatile("wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
		     "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
		     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(matrix));
	for (int i = 0; i < 4; i++)
		out[threadIdx.x * 4 + i] = d[i];
}
#endif
