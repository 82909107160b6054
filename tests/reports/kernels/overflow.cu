// 32-bit arithmetic that leaves its range, as public reports have it. ../cases.py says what each of them must be taken for.

struct Tensors {
	float *address[4];
	int sizes[4]; // of elements; the host has them in 64 bits
};

extern "C" {

// Stores an address: where the buffers of a run lie.
__global__ void put(void **where, void *what)
{
	*where = what;
}

// Rows are gathered from a table of 2.3 billion elements; the offset is an int.
__global__ void onnxruntime_28107(const float *table, const long long *indices, float *out, int width, int n)
{
	int id = blockIdx.x * blockDim.x + threadIdx.x;
	if (id >= n * width)
		return;
	int row = id / width, column = id % width;
	int from = (int)indices[row] * width + column;
	out[id] = table[from];
}

// Generated code: all strides are constants of the tensor's shape.
__global__ void tinygrad_8268(signed char *out, const signed char *in)
{
	int outer = blockIdx.y, inner = blockIdx.x * 16 + threadIdx.y, third = threadIdx.x;
	int to = inner + outer * 37748736 + third * 12582912;
	signed char v = in[inner];
	out[to] = v;
	out[to + 4194304] = v;
	out[to + 8388608] = v;
}

// A grid-stride loop: the last step leaves the range of int, and a negative row is less than the number of rows.
__global__ void cuml_7587(const unsigned char *weights, int *hits, int rows, int skip)
{
	int seen = 0;
#pragma unroll 1
	for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += skip)
		seen += weights[row] != 0;
	hits[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}

// Attention over a view into fused q, k and v: the stride of the sequence is three times the usual one.
__global__ void sageattention_387(const unsigned short *q, signed char *out, int stride_seq, int stride_head, int tokens, int head)
{
	int token = blockIdx.x * 64 + threadIdx.x / 16;
	int d = (threadIdx.x % 16) * 8;
	for (int step = 0; step < 64; step += 8) {
		if (token + step >= tokens)
			return;
		const unsigned short *from = q + ((token + step) * stride_seq + head * stride_head + d);
		if (from[0] > from[7])
			out[d / 8] = 1;
	}
}

// The number of elements does not fit the int that the kernel gets it in; work goes from the end.
__global__ void transformerengine_2918(Tensors list, float *norm, int which)
{
	int n = list.sizes[which];
	const float *x = list.address[which];
	int last = n - 1 - (int)threadIdx.x;
	float v = x[last];
	norm[threadIdx.x] = v * v;
}

// Blocks of a matrix: the number of a block times the size of a block.
__global__ void mslk_303(const unsigned short *gates, float *out, int rows_per_block, int width)
{
	int first = blockIdx.x * rows_per_block;
	int at = (first + threadIdx.y) * width + threadIdx.x;
	out[threadIdx.y * 32 + threadIdx.x] = gates[at];
}

} // extern "C"
