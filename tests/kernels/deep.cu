// Deep templates and lambdas in several kernels of one module. Every access ends in a library header; the line that a
// user wants to see is a few inlined frames further out. Marks name lines for the tests.
#include "cub/block/block_reduce.cuh"
#include "cute/algorithm/copy.hpp"

namespace app {

template <class T, int WIDTH>
struct Row {
	using Atom = cute::Copy_Atom<cute::UniversalCopy<T>, T>;

	T const *table;
	T *out;

	__device__ __forceinline__ void fetch(int index) const
	{
		Atom atom{table + (long long)index * WIDTH, out};
		cute::copy<WIDTH>(atom); // @mark user_fetch
	}
};

template <class T, int WIDTH, class Pick>
__device__ __forceinline__ void gather_one(T const *table, T *out, int i, Pick pick)
{
	Row<T, WIDTH> row{table, out + (long long)i * WIDTH};
	row.fetch(pick(i)); // @mark user_gather_one
}

} // namespace app

// Reads table[index[i]] with no check of index[i].
template <class T, int WIDTH>
__global__ void gather_rows(T const *table, int const *index, T *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		app::gather_one<T, WIDTH>(table, out, i, [=](int k) { return index[k]; }); // @mark user_kernel
}

template __global__ void gather_rows<float, 4>(float const *, int const *, float *, int);

// Sums one tile per block; the stride is a launch argument and may be wrong.
__global__ void reduce_tiles(float const *items, float *sums, int stride)
{
	using Reduce = cub::BlockReduce<float, 128>;
	__shared__ typename Reduce::TempStorage storage;
	float const *tile = items + (long long)blockIdx.x * 128 * stride;
	float sum = Reduce(storage).Reduce(tile, stride, cub::Sum()); // @mark user_reduce
	if (threadIdx.x == 0)
		sums[blockIdx.x] = sum; // @mark user_store
}

// A lambda that takes a lambda, with nothing from a library.
__global__ void apply_twice(int *data, int n)
{
	auto twice = [](auto f, int x) { return f(f(x)); }; // @mark lambda_outer
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int v = twice([&](int x) { return data[x % n] + 1; }, i); // @mark lambda_inner
	data[i] = v; // @mark lambda_store
}
