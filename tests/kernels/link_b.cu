// Second object: its table's names are counted from behind the first object's strings.

__device__ __forceinline__ float tail_sum(float const *p, int n)
{
	float s = 0;
	for (int k = 0; k < n; k++)
		s += p[k]; // @mark tail_sum
	return s;
}

__device__ __noinline__ float outside(float const *p, int n)
{
	return tail_sum(p, n) * 0.5f; // @mark outside
}

__global__ void other(float *out, int n)
{
	out[threadIdx.x] = tail_sum(out, n); // @mark other
}
