// Accesses that are wider than their addresses allow, as public reports have it.
#include <cuda_fp16.h>

extern "C" {

// Samples of odd length are read two numbers at a time.
__global__ void mahout_1107(const double *batch, double *norms, int sample_len)
{
	const double *mine = batch + (size_t)blockIdx.x * sample_len;
	double sum = 0;
	for (int i = threadIdx.x; i < sample_len / 2; i += blockDim.x) {
		double2 v = reinterpret_cast<const double2 *>(mine)[i];
		sum += v.x * v.x + v.y * v.y;
	}
	atomicAdd(&norms[blockIdx.x], sum);
}

// The second part of a buffer begins behind the first, whose length is no multiple of four.
__global__ void paddle_23090(const float4 *qkv, float4 *transposed, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		transposed[i] = qkv[i];
}

// Eight halves at a time, from rows of an odd length.
__global__ void cutlass_49(const half *a, float *out, int ld, int k)
{
	const half *row = a + blockIdx.x * ld;
	float sum = 0;
	for (int i = threadIdx.x * 8; i + 8 <= k; i += blockDim.x * 8) {
		uint4 v = *reinterpret_cast<const uint4 *>(row + i);
		for (int j = 0; j < 8; j++)
			sum += __half2float(reinterpret_cast<const half *>(&v)[j]);
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Bytes of shared memory are handed out one behind the other, and taken for doubles.
__global__ void kokkos_686(const double *in, double *out, int head)
{
	extern __shared__ char scratch[];
	double *part = reinterpret_cast<double *>(scratch + head);
	part[threadIdx.x] = in[threadIdx.x];
	__syncthreads();
	out[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

// A tile has a column more against bank conflicts; four numbers are read at a time.
__global__ void hands_on_gemm_11(const float *in, float4 *out)
{
	__shared__ float tile[32][33];
	for (int i = 0; i < 32; i++)
		tile[i][threadIdx.x] = in[i * 32 + threadIdx.x];
	__syncthreads();
	out[threadIdx.x] = *reinterpret_cast<const float4 *>(&tile[threadIdx.x][0]);
}

// A tensor of halves that begins at an odd element: the pair is not aligned.
__global__ void pytorch_44642(half *grad, const int *index, const half *value, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	int at = index[i];
	if (at % 2 == 0)
		atomicAdd(reinterpret_cast<half2 *>(grad + at), __halves2half2(value[i], __float2half(0.0f)));
}

// One buffer for all: numbers of 8 bytes behind an odd number of 4.
__global__ void qmcpack_3029(char *fused, const int *electrons, double *out, int n)
{
	double *positions = reinterpret_cast<double *>(fused + n * sizeof(int));
	out[threadIdx.x] = positions[threadIdx.x] + electrons[threadIdx.x];
}

} // extern "C"
