// Programs that stop themselves, as public reports have it.
#include <assert.h>
#include <stdio.h>

template <typename Index>
__device__ __forceinline__ float select_one(const float *source, const Index *indices, int i, int dim, int columns, int column)
{
	Index from = indices[i];
	assert(from < dim);
	return source[from * columns + column];
}

extern "C" {

// A class number that there is not.
__global__ void pytorch_18014(const float *log_prob, const long *target, float *loss, int n_classes, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	int t = (int)target[i];
	assert(t >= 0 && t < n_classes);
	loss[i] = -log_prob[i * n_classes + t];
}

// More tokens than there are positions.
__global__ void garak_199(const float *source, const long *indices, float *out, int dim, int columns)
{
	int i = blockIdx.x, column = threadIdx.x;
	if (column < columns)
		out[i * columns + column] = select_one(source, indices, i, dim, columns, column);
}

// The other side does not send; after a while the waiting side prints and traps.
__global__ void deepep_158(const volatile int *tail, int *out, int expected, int patience)
{
	int tries = 0;
	while (tail[blockIdx.x] < expected) {
		if (++tries > patience) {
			printf("dispatch receiver timeout, channel %d, tail %d\n", blockIdx.x, tail[blockIdx.x]);
			__trap();
		}
	}
	out[blockIdx.x] = tail[blockIdx.x];
}

// The last round of a row has fewer numbers than lanes; the lanes that are left use the mask of the others.
__global__ void raft_2411(const float *in, float *out, int dim)
{
	int lane = threadIdx.x % 32;
	unsigned mask = (1u << (dim % 32)) - 1;
	float sum = 0;
	for (int i = lane; i < dim + lane; i += 32) {
		float v = i < dim ? in[i] : 0;
		if (v != 0) {
			v += __shfl_down_sync(mask, v, 1);
			sum += v;
		} else {
			sum -= __shfl_down_sync(mask, sum, 2);
		}
	}
	out[threadIdx.x] = sum;
}

} // extern "C"
