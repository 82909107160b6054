// Indices that come out of memory and are wrong there, as public reports have it.

extern "C" {

// Slots that the router did not fill hold what was there before.
__global__ void vllm_50845(const int *topk_ids, const int *expert_map, int *local, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	int expert = topk_ids[i];
	local[i] = expert >= 0 ? expert_map[expert] : -1;
}

// -1 marks a row that only pads the batch.
__global__ void vllm_xpu_kernels_571(const int *topk_ids, int *counts, int n, int experts)
{
	for (int i = threadIdx.x; i < n; i += blockDim.x) {
		int expert = topk_ids[i];
		if (expert >= experts)
			continue;
		atomicAdd(&counts[expert], 1);
	}
}

// Slots of a block table that belong to no page hold -1.
__global__ void sparkinfer_152(const int *block_table, const int *positions, const float *k, float *cache, int max_blocks,
			       int block_size, int width)
{
	int seq = blockIdx.x, pos = positions[seq];
	int phys = block_table[seq * max_blocks + pos / block_size];
	size_t base = (size_t)(phys * block_size + pos % block_size) * width;
	for (int d = threadIdx.x; d < width; d += blockDim.x)
		cache[base + d] = k[seq * width + d];
}

// Sorting by expert: the sums before each expert were never computed.
__global__ void sglang_3339(const int *topk_ids, const int *cumsum, int *sorted, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	int expert = topk_ids[i];
	int at = cumsum[expert] + i;
	sorted[at] = i;
}

// The ids are those of tokens, where ids of experts are expected.
__global__ void triton_xpu_7327(const float *b, const int *expert_ids, float *out, long long stride_expert, int k)
{
	long long expert = expert_ids[blockIdx.x];
	const float *weights = b + expert * stride_expert;
	float sum = 0;
	for (int i = threadIdx.x; i < k; i += blockDim.x)
		sum += weights[i];
	out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// An embedding is looked up for a token that is one past the vocabulary.
__global__ void candle_2908(const float *weight, const long long *tokens, float *out, int dim)
{
	long long token = tokens[blockIdx.x];
	for (int d = threadIdx.x; d < dim; d += blockDim.x)
		out[blockIdx.x * dim + d] = weight[token * dim + d];
}

// A label of 255 marks pixels without a class.
__global__ void unet_375(const float *log_prob, const unsigned char *target, float *loss, int classes, int pixels)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= pixels)
		return;
	int t = target[i];
	loss[i] = -log_prob[t * pixels + i];
}

} // extern "C"
