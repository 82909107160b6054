// Compiled without any debug information: only symbols tell where an address lies.

__device__ __noinline__ int lookup(int const *table, int i)
{
	return table[i];
}

__global__ void no_lines(int const *table, int const *index, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = lookup(table, index[i]) * 2;
}
