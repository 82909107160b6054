// Kernels that Thrust brings along: sort, scan, reduce_by_key and transform of device vectors.
#include <thrust/device_vector.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct affine {
	float scale, shift;
	__host__ __device__ float operator()(float x) const
	{
		return x * scale + shift;
	}
};

float run(thrust::device_vector<float> &values, thrust::device_vector<int> &keys)
{
	thrust::device_vector<float> sums(values.size());
	thrust::device_vector<int> heads(values.size());
	thrust::transform(values.begin(), values.end(), values.begin(), affine{ 2.0f, 1.0f });
	thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
	auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), heads.begin(),
					  sums.begin());
	thrust::inclusive_scan(sums.begin(), ends.second, sums.begin());
	return thrust::reduce(sums.begin(), ends.second);
}
