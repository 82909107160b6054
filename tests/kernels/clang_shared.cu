// clang's order of entries: variables in shared memory stand before the parameters.
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

struct span {
	int first, last;
};

__global__ void sums(const int *in, int *out, struct span part, float scale)
{
	struct pair {
		int a, b;
	};
	__shared__ int tile[32];
	__shared__ float last;
	int i = __nvvm_read_ptx_sreg_tid_x();
	tile[i] = in[part.first + i];
	last = scale;
	__nvvm_bar_sync(0);
	{
		__shared__ struct pair pairs[32];
		pairs[i].a = tile[31 - i];
		out[i] = pairs[i].a + (int)last;
	}
}

__global__ void nothing()
{
	__shared__ int only;
	only = 1;
}
