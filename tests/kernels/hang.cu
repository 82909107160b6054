// A kernel that never ends when one block does not publish its flag: a lost update in a hand-made grid barrier.

namespace app {

struct GridBarrier {
	volatile unsigned *arrived;
	unsigned expected;

	__device__ __forceinline__ void wait() const
	{
		while (*arrived < expected) { // @mark spin
		}
	}
};

} // namespace app

__global__ void wait_for_all(unsigned *arrived, float *data, unsigned expected)
{
	__shared__ float tile[128];
	app::GridBarrier barrier{arrived, expected};
	tile[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
	if (threadIdx.x == 0)
		barrier.wait(); // @mark user_wait
	__syncthreads(); // @mark block_barrier
	data[blockIdx.x * blockDim.x + threadIdx.x] = tile[127 - threadIdx.x];
}
