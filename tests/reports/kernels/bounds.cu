// Checks that are missing or wrong at the edges, as public reports have it.
#include <cuda_fp16.h>

extern "C" {

// The grid is rounded up to whole blocks, and nothing tells the kernel how many elements there are.
__global__ void risc0_3803(unsigned *elems)
{
	unsigned i = blockDim.x * blockIdx.x + threadIdx.x;
	unsigned v = elems[i];
	elems[i] = v == 0xffffffffu ? 0 : v;
}

// A derivative by differences: the first element has nothing before it.
__global__ void cudaforengineers_5(float *out, const float *in, int size, float h)
{
	int i = threadIdx.x + blockDim.x * blockIdx.x;
	if (i >= size)
		return;
	out[i] = (in[i - 1] + in[i + 1] - 2.0f * in[i]) / (h * h);
}

// A box filter along columns, for an image that is lower than the radius.
__global__ void hecbench_112(const unsigned *in, unsigned *out, int width, int height, int radius)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	if (x >= width)
		return;
	unsigned sum = in[x] * radius;
	for (int y = 0; y < radius + 1; y++)
		sum += in[y * width + x];
	for (int y = 0; y < height; y++)
		out[y * width + x] = sum / (2 * radius + 1);
}

// Blocks of 4 x 4 pixels; the image has a remainder.
__global__ void hecbench_132(const unsigned *pixels, uint2 *result, int blocks)
{
	__shared__ unsigned colours[16];
	int block = blockIdx.x;
	if (threadIdx.x < 16)
		colours[threadIdx.x] = pixels[block * 16 + threadIdx.x];
	__syncthreads();
	if (threadIdx.x == 0)
		result[block] = make_uint2(colours[0], colours[15]);
}

// A sum by blocks: all threads load, also those behind the last cell.
__global__ void gkeyll_738(const double *cells, double *out, int n_cells, int components)
{
	__shared__ double part[64];
	int cell = blockIdx.x * blockDim.x + threadIdx.x;
	double v = 0;
	for (int c = 0; c < components; c++)
		v += cells[cell * components + c];
	part[threadIdx.x] = cell < n_cells ? v : 0;
	__syncthreads();
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		atomicAdd(out, part[0]);
}

// Two halves are added at once, where there is only one.
__global__ void how_to_optim_6(half *sums, const half *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(reinterpret_cast<half2 *>(sums) + i / 2, __halves2half2(x[i], __float2half(0.0f)));
}

// The bound is subtracted from, in unsigned numbers, which are never negative.
__global__ void loopy_808(double *q, unsigned nx, unsigned ny)
{
	unsigned i = 2 + blockIdx.x * blockDim.x + threadIdx.x, j = 2 + blockIdx.y;
	if (nx - i - 1 >= 0 && ny - j - 1 >= 0)
		q[(j - 1) * nx + (i - 1)] = j + i * nx;
}

// A loop down to zero, with an unsigned counter that is never less.
__global__ void rocm_systems_1795(const float *terms, float *result, unsigned n)
{
	for (unsigned i = n - 1; i >= 0; i--)
		atomicAdd(&result[threadIdx.x], terms[i]);
}

// The selected ids have the second dimension first.
__global__ void sglang_13896(const int *recv_topk, int *out, int stride_token, int tokens, int topk)
{
	int token = blockIdx.x;
	if (token >= tokens)
		return;
	for (int k = threadIdx.x; k < topk; k += blockDim.x)
		out[token * topk + k] = recv_topk[token * stride_token + k];
}

// Tokens of a tensor of three dimensions: the stride is that of the batch.
__global__ void vllm_xpu_kernels_396(const float *input, float *out, int hidden, int input_stride)
{
	const float *row = input + blockIdx.x * (long long)input_stride;
	float sum = 0;
	for (int i = threadIdx.x; i < hidden; i += blockDim.x)
		sum += row[i] * row[i];
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A comparison with the wrong sign: one more than there are.
__global__ void autoware_113(const float *parts, float *score, int parts_per_row, int n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	if (row <= n)
		score[row] = parts[row * parts_per_row] * 0.5f;
}

// Three sums, and as many writers as there are threads.
__global__ void timemachine_1214(const double *coords, double *centroid, int n)
{
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += coords[i * 3 + threadIdx.x % 3];
	centroid[threadIdx.x] = sum / n;
}

// A number that should not be less than zero is, by a little, and is rounded down.
__global__ void stixels_7(const float *fractions, const float *lut, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	int at = (int)floorf(fractions[i]);
	out[i] = lut[at];
}

} // extern "C"
