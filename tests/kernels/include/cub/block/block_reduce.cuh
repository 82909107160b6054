// Stand-in for a template library's header: our own code under a path that report readers know as "library".
#pragma once
#include "cub/thread/thread_load.cuh"

namespace cub {

struct Sum {
	template <class T>
	__device__ __forceinline__ T operator()(T a, T b) const
	{
		return a + b;
	}
};

template <class T, int THREADS>
class BlockReduce {
public:
	struct TempStorage {
		T partial[THREADS];
	};

	__device__ __forceinline__ explicit BlockReduce(TempStorage &storage) : storage(storage)
	{
	}

	template <class Op>
	__device__ __forceinline__ T Reduce(T const *items, int stride, Op op)
	{
		T mine = ThreadLoad(items + threadIdx.x * stride); // @mark cub_reduce
		storage.partial[threadIdx.x] = mine;
		__syncthreads(); // @mark cub_sync
		halve<THREADS / 2>(op);
		return storage.partial[0];
	}

private:
	TempStorage &storage;

	template <int WIDTH, class Op>
	__device__ __forceinline__ void halve(Op op)
	{
		if (threadIdx.x < WIDTH)
			storage.partial[threadIdx.x] =
				op(storage.partial[threadIdx.x], storage.partial[threadIdx.x + WIDTH]);
		__syncthreads();
		if constexpr (WIDTH > 1)
			halve<WIDTH / 2>(op);
	}
};

} // namespace cub
