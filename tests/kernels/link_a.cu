// First object of a separately compiled program: after nvlink the module has one line table per object.

extern __device__ float outside(float const *p, int n);

__device__ __forceinline__ float scaled(float const *p, int i)
{
	return p[i] * 3.f; // @mark scaled
}

__global__ void linked(float *out, float const *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = scaled(in, i) + outside(in + i, n); // @mark linked
}
