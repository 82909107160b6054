// SPDX-License-Identifier: Apache-2.0
// Device algorithms of CUB and Thrust, whose kernels and dispatch are not ours, against the standard library on the CPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

typedef unsigned int u32;

static void must(cudaError_t error, const char *what)
{
	if (error != cudaSuccess) {
		printf("# %s: error %d\n", what, (int)error);
		exit(1);
	}
}

template <class T> static T *copied(const std::vector<T> &from)
{
	T *at;
	must(cudaMalloc((void **)&at, (from.size() + 1) * sizeof(T)), "cudaMalloc");
	must(cudaMemcpy(at, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "copy in");
	return at;
}

template <class T> static std::vector<T> back(const T *at, size_t n)
{
	std::vector<T> to(n);
	must(cudaMemcpy(to.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost), "copy out");
	return to;
}

// As CUB is used: once for the size of its storage, once to run.
template <class Call> static void twice(Call call)
{
	void *storage = nullptr;
	size_t bytes = 0;
	must(call(storage, bytes), "size");
	must(cudaMalloc(&storage, bytes ? bytes : 1), "storage");
	must(call(storage, bytes), "launch");
	must(cudaDeviceSynchronize(), "run");
	cudaFree(storage);
}

static int number;

static void result(bool good, const char *what, size_t n)
{
	printf("%sok %d - %s of %zu\n", good ? "" : "not ", ++number, what, n);
}

struct IsOdd {
	__host__ __device__ bool operator()(u32 v) const { return v & 1; }
};

static void check(size_t n)
{
	std::vector<u32> in(n), values(n);
	u32 state = 12345 + (u32)n;
	for (size_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		in[i] = state ^ state >> 15;
		values[i] = (u32)i;
	}
	u32 *a = copied(in), *b = copied(in), *v = copied(values), *w = copied(values), *count = copied(std::vector<u32>(1));
	int items = (int)n;

	twice([&](void *s, size_t &bytes) { return cub::DeviceReduce::Sum(s, bytes, a, count, items); });
	result(back(count, 1)[0] == std::accumulate(in.begin(), in.end(), 0u), "sum", n);

	twice([&](void *s, size_t &bytes) { return cub::DeviceScan::ExclusiveSum(s, bytes, a, b, items); });
	std::vector<u32> want(n);
	std::exclusive_scan(in.begin(), in.end(), want.begin(), 0u);
	result(back(b, n) == want, "scan", n);

	twice([&](void *s, size_t &bytes) { return cub::DeviceSelect::If(s, bytes, a, b, count, items, IsOdd()); });
	want.clear();
	std::copy_if(in.begin(), in.end(), std::back_inserter(want), IsOdd());
	result(back(count, 1)[0] == want.size() && back(b, want.size()) == want, "select", n);

	twice([&](void *s, size_t &bytes) { return cub::DeviceRadixSort::SortPairs(s, bytes, a, b, v, w, items); });
	want = values;
	std::stable_sort(want.begin(), want.end(), [&](u32 x, u32 y) { return in[x] < in[y]; });
	result(back(w, n) == want, "sort of pairs", n);
}

int main()
{
	printf("1..12\n");
	for (size_t n : { 1u, 1000u, 40000u })
		check(n);
	return 0;
}
