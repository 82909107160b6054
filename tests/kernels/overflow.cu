// Addresses that went wrong by arithmetic, and some that only look like it. tests/cli/test_overflow.py says what each must be called.

#include <cstdint>

template <typename T> __device__ __forceinline__ T element(const T *p, int row, int pitch, int column)
{
	return p[row * pitch + column];
}

__device__ __noinline__ float called(const float *p, int at)
{
	return p[at];
}

extern "C" {

__global__ void row_times_pitch(const float *in, float *out, int pitch)
{
	int row = blockIdx.x, column = threadIdx.x;
	out[column] = in[row * pitch + column];
}

__global__ void thread_times_pitch(unsigned char *bytes, int pitch)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	bytes[i * pitch] = 1;
}

__global__ void four_sizes(const float *in, float *out, int b, int h, int s, int d)
{
	int column = threadIdx.x;
	out[column] = in[b * h * s * d + (int)blockIdx.x * d + column];
}

__global__ void in_template(const float *in, float *out, int pitch)
{
	int column = threadIdx.x;
	out[column] = element(in, blockIdx.x, pitch, column);
}

__global__ void in_caller(const float *in, float *out, int pitch)
{
	int row = blockIdx.x, column = threadIdx.x;
	out[column] = called(in, row * pitch + column);
}

__global__ void row_from_memory(const float *in, const int *rows, float *out, int pitch)
{
	int column = threadIdx.x, row = rows[column];
	out[column] = in[row * pitch + column];
}

__global__ void row_from_division(const float *in, float *out, int width, int pitch, int first)
{
	int i = threadIdx.x + first;
	int row = i / width, column = i % width;
	out[threadIdx.x] = in[row * pitch + column];
}

__global__ void below_zero(const float *in, float *out, unsigned n)
{
	out[threadIdx.x] = in[n - 1 - threadIdx.x];
}

__global__ void too_large(const float *in, float *out, int pitch)
{
	int row = blockIdx.x + 2, column = threadIdx.x;
	out[column] = in[row * pitch + column];
}

__global__ void hashed(const float *in, float *out, unsigned n, unsigned seed)
{
	unsigned h = (threadIdx.x + seed) * 2654435761u;
	h ^= h >> 15;
	h *= 2246822519u;
	out[threadIdx.x] = in[h % n + n];
}

__global__ void negative(const float *in, float *out, int back)
{
	int i = threadIdx.x;
	out[i] = in[i - back];
}

__global__ void picked(const float *in, const int *which, float *out)
{
	out[threadIdx.x] = in[which[threadIdx.x]];
}

__global__ void picked_row(const float *in, const int *which, float *out, int pitch)
{
	int column = threadIdx.x;
	out[column] = in[(long)which[0] * pitch + column];
}

__global__ void cut_here(const float *in, float *out)
{
	int low = (int)(uintptr_t)in;
	out[threadIdx.x] = ((const float *)(intptr_t)low)[threadIdx.x];
}

__global__ void cut_by_host(int in, float *out)
{
	out[threadIdx.x] = ((const float *)(intptr_t)in)[threadIdx.x];
}

}
