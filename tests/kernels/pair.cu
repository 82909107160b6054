// Two kernels with inlined code in one module: contexts of the line map restart in each.

template <int DEPTH>
__device__ __forceinline__ float poly(float x, float const *c)
{
	if constexpr (DEPTH == 0)
		return c[0]; // @mark poly_leaf
	else
		return x * poly<DEPTH - 1>(x, c + 1) + c[0]; // @mark poly_step
}

__global__ void first(float *y, float const *x, float const *c)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	y[i] = poly<3>(x[i], c); // @mark first
}

__global__ void second(double *y, float const *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	double s = 0;
	for (int k = 0; k < n; k++)
		s += poly<5>(k, c); // @mark second
	y[i] = s; // @mark second_store
}
