// The toolkit's own headers in the inline chain: half precision conversion and a CUB block reduction.
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cuda_fp16.h>

namespace app {

struct Widen {
	__device__ __forceinline__ float operator()(__half h) const
	{
		return __half2float(h); // @mark widen
	}
};

} // namespace app

__global__ void sum_halves(__half const *items, float *sums, int n)
{
	using Load = cub::BlockLoad<__half, 64, 4, cub::BLOCK_LOAD_VECTORIZE>;
	using Reduce = cub::BlockReduce<float, 64>;
	__shared__ typename Reduce::TempStorage storage;
	__half part[4];
	Load().Load(items + (long long)blockIdx.x * n, part); // @mark user_load
	app::Widen widen;
	float mine = 0;
	for (int i = 0; i < 4; i++)
		mine += widen(part[i]); // @mark user_widen
	float sum = Reduce(storage).Sum(mine); // @mark user_sum
	if (threadIdx.x == 0)
		sums[blockIdx.x] = sum;
}
