// A function that nobody calls: nvlink drops its code and leaves its lines.
__device__ __noinline__ int used(int x)
{
	return x * 3 + 1;
}

__device__ __noinline__ int unused(int x)
{
	return x / 7 + 2;
}

__global__ void keep(int *p)
{
	p[threadIdx.x] = used(p[threadIdx.x]);
}
