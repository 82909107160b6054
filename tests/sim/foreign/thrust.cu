// SPDX-License-Identifier: Apache-2.0
// Thrust on device vectors, against the standard library on the CPU.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

static int number;

static void result(bool good, const char *what, size_t n)
{
	printf("%sok %d - %s of %zu\n", good ? "" : "not ", ++number, what, n);
}

template <class T> static std::vector<T> back(const thrust::device_vector<T> &from)
{
	std::vector<T> to(from.size());
	thrust::copy(from.begin(), from.end(), to.begin());
	return to;
}

struct Triple {
	__host__ __device__ int operator()(int v) const { return 3 * v - 7; }
};

static void check(size_t n)
{
	std::vector<int> in(n), want(n);
	unsigned state = 99 + (unsigned)n;
	for (int &v : in) {
		state = state * 1664525u + 1013904223u;
		v = (int)(state >> 8) % 1000 - 500;
	}
	thrust::device_vector<int> a(in.begin(), in.end()), b(n);

	thrust::transform(a.begin(), a.end(), b.begin(), Triple());
	std::transform(in.begin(), in.end(), want.begin(), Triple());
	result(back(b) == want, "transform", n);

	result(thrust::reduce(a.begin(), a.end(), -1000, thrust::maximum<int>()) == *std::max_element(in.begin(), in.end()), "reduce", n);

	thrust::inclusive_scan(a.begin(), a.end(), b.begin());
	std::partial_sum(in.begin(), in.end(), want.begin());
	result(back(b) == want, "scan", n);

	thrust::sort(a.begin(), a.end(), thrust::greater<int>());
	std::sort(in.begin(), in.end(), std::greater<int>());
	result(back(a) == in, "sort", n);

	a.erase(thrust::unique(a.begin(), a.end()), a.end());
	in.erase(std::unique(in.begin(), in.end()), in.end());
	result(back(a) == in, "unique", n);
}

int main()
{
	printf("1..10\n");
	check(777);
	check(20000);
	return 0;
}
