// Library code as users meet it: block-wide sort, merge, scan and reduction of CUB in one kernel.
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

struct less_than {
	template <class T> __device__ bool operator()(const T &a, const T &b) const
	{
		return a < b;
	}
};

template <class T, int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS) sort_and_sum(T *data, T *sums, int n)
{
	using radix = cub::BlockRadixSort<T, THREADS, ITEMS>;
	using merge = cub::BlockMergeSort<T, THREADS, ITEMS>;
	using scan = cub::BlockScan<T, THREADS>;
	using reduce = cub::BlockReduce<T, THREADS>;
	using load = cub::BlockLoad<T, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
	using store = cub::BlockStore<T, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
	__shared__ union {
		typename radix::TempStorage radix;
		typename merge::TempStorage merge;
		typename scan::TempStorage scan;
		typename reduce::TempStorage reduce;
		typename load::TempStorage load;
		typename store::TempStorage store;
	} u;
	T *tile = data + blockIdx.x * THREADS * ITEMS;
	T v[ITEMS];
	load(u.load).Load(tile, v, n, T(0));
	__syncthreads();
	radix(u.radix).Sort(v);
	__syncthreads();
	scan(u.scan).InclusiveSum(v, v);
	__syncthreads();
	merge(u.merge).Sort(v, less_than{});
	__syncthreads();
	T sum = reduce(u.reduce).Sum(v);
	if (threadIdx.x == 0)
		sums[blockIdx.x] = sum;
	__syncthreads();
	store(u.store).Store(tile, v, n);
}

template __global__ void sort_and_sum<int, 64, 7>(int *, int *, int);
template __global__ void sort_and_sum<float, 128, 9>(float *, float *, int);
template __global__ void sort_and_sum<double, 128, 5>(double *, double *, int);
