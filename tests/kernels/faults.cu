// One wrong memory access per kernel. plan_faults.py says how each of them is run up to its fault, and what must be true of it
// then, under the kernel's name.

struct View { int rows; const float *data; float *out; };
struct Node { long key; Node *next; int value; };
struct Job { int id; float *where; };
struct Slice { const float *base; long first; int step, last; };

__device__ int table[64];
__device__ float *shelf;
__constant__ const float *source;

__device__ __noinline__ float element(Slice slice, int i)
{
	return slice.base[slice.first + i * slice.step];
}

__device__ __noinline__ float two_elements(Slice slice, int i)
{
	slice.base += 2;
	return element(slice, i + 1) + element(slice, i);
}

__device__ __noinline__ float element_of(const View *view, int i)
{
	return view->data[i];
}

extern "C" {

__global__ void past_by_one(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i <= n)
		out[i] = 2.0f * in[i];
}

__global__ void past_by_much(const int *in, int *out, int step)
{
	out[threadIdx.x] = in[threadIdx.x * step];
}

__global__ void negative_index(const int *in, int *out, int back)
{
	int i = threadIdx.x;
	out[i] = in[i] + in[i - back];
}

__global__ void null_member(const View *view, float *out)
{
	out[threadIdx.x] = (float)view->rows + view->data[threadIdx.x];
}

__global__ void misaligned_vector(const float *in, float4 *out, int skip)
{
	out[threadIdx.x] = *(const float4 *)(in + 4 * threadIdx.x + skip);
}

__global__ void after_free(int *counts, const int *kinds)
{
	int kind = kinds[threadIdx.x];
	counts[kind] = threadIdx.x;
}

__global__ void wrong_stride(const float *matrix, float *out, int rows, int stride)
{
	float sum = 0;
	for (int r = 0; r < rows; r++)
		sum += matrix[(long)r * stride + threadIdx.x];
	out[threadIdx.x] = sum;
}

__global__ void shared_overrun(const int *in, int *out, int reach)
{
	__shared__ int tile[64];
	tile[threadIdx.x] = in[threadIdx.x];
	__syncthreads();
	out[threadIdx.x] = tile[threadIdx.x * reach];
}

__global__ void local_overrun(int *out, int at, int n)
{
	volatile int keep[100];
#pragma unroll 1
	for (int i = 0; i < 100; i++)
		keep[i] = i * n;
	keep[at + (int)threadIdx.x * n] = 7;
	out[threadIdx.x] = keep[n];
}

__global__ void bad_in_struct(View view, int n)
{
	if ((int)threadIdx.x < n)
		view.out[threadIdx.x] = view.data[threadIdx.x] + (float)view.rows;
}

__global__ void bad_link(const Node *list, int *out, int hops)
{
	const Node *node = list + threadIdx.x;
	for (int i = 0; i < hops; i++)
		node = node->next;
	out[threadIdx.x] = node->value;
}

__global__ void loaded_index(const float *values, const int *which, float *out)
{
	out[threadIdx.x] = values[which[threadIdx.x]];
}

__global__ void some_lanes(const int *in, int *out, int far)
{
	int i = threadIdx.x, v = in[i];
	if (v & 1)
		out[i + far] = v * 3;
	else
		out[i] = v;
}

__global__ void same_for_all(const int *in, int *out, int at)
{
	int v = in[(long)blockIdx.x * 1000 + at];
	out[threadIdx.x] = v + 1;
}

__global__ void pairs(const double *in, double *out, int n, int stride)
{
	int i = threadIdx.x * stride;
	out[i + n] = in[threadIdx.x] * 3.0;
}

__global__ void wide_store(const float4 *in, float4 *out, int n)
{
	float4 v = in[threadIdx.x];
	v.x += 1.0f;
	out[threadIdx.x + n] = v;
}

__global__ void count_up(unsigned *bins, const unsigned *keys, unsigned n)
{
	atomicAdd(&bins[keys[threadIdx.x] * n], 1u);
}

__global__ void swap_in(unsigned long long *locks, unsigned long long *out, int at)
{
	out[threadIdx.x] = atomicCAS(&locks[(int)threadIdx.x + at], 0ull, 5ull);
}

__global__ void shared_atomic(const int *keys, int *out)
{
	__shared__ int bins[32];
	bins[threadIdx.x] = 0;
	__syncthreads();
	atomicAdd(&bins[keys[threadIdx.x]], 1);
	__syncthreads();
	out[threadIdx.x] = bins[threadIdx.x];
}

__global__ void async_copy(const int4 *in, int4 *out, int skip)
{
	__shared__ int4 tile[32];
	unsigned to = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + threadIdx.x + skip) : "memory");
	asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
	out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void device_table(int *out, int at)
{
	out[threadIdx.x] = table[threadIdx.x * at];
}

__global__ void device_pointer(int n)
{
	shelf[threadIdx.x + n] = 1.0f;
}

__global__ void constant_pointer(float *out, int n)
{
	out[threadIdx.x] = source[(int)threadIdx.x + n];
}

__global__ void by_bytes(const unsigned char *in, unsigned char *out, int n)
{
	out[n - (int)threadIdx.x] = in[threadIdx.x];
}

__global__ void by_shorts(const short *in, short *out, int n)
{
	out[threadIdx.x * n] = (short)(in[threadIdx.x] + 1);
}

__global__ void walk_past_end(const int *in, int *out)
{
	int sum = 0;
	for (const int *p = in + threadIdx.x; *p >= 0; p += 32)
		sum += *p;
	out[threadIdx.x] = sum;
}

__global__ void garbage_pointer(const Job *job, int n)
{
	job->where[threadIdx.x * n] = 1.0f;
}

__global__ void misaligned_atomic(unsigned *sums, int bytes)
{
	atomicAdd((unsigned *)((char *)sums + bytes + 4 * threadIdx.x), 1u);
}

__global__ void in_the_gap(int *a, const int *b, int n)
{
	a[n + threadIdx.x] = b[threadIdx.x];
}

__global__ void three_d(const float *in, float *out, int nx, int ny)
{
	int x = threadIdx.x, y = threadIdx.y, z = blockIdx.z;
	out[(z * ny + y) * nx + x] = in[(z * ny + y) * nx + x];
}

__global__ void generic_shared(int *out, int pick, int at)
{
	__shared__ int a[32];
	int *p = pick ? out : a;
	a[threadIdx.x] = threadIdx.x;
	__syncthreads();
	p[threadIdx.x + at] = 3;
}

__global__ void through_call(const float *in, float *out, int first, int step)
{
	Slice slice = {in, first, step, 7};
	out[threadIdx.x] = element(slice, threadIdx.x);
}

__global__ void through_calls(const float *in, float *out, int first, int step)
{
	Slice slice = {in, first, step, 7};
	out[threadIdx.x] = two_elements(slice, threadIdx.x);
}

__global__ void by_reference(const float *in, float *out, int n)
{
	View view = {n, in, out};
	out[threadIdx.x] = element_of(&view, threadIdx.x + n);
}

__global__ void two_tables(const int *a, const int *b, int *out, int pick, int n)
{
	const int *tables[2] = {a, b};
	out[threadIdx.x] = tables[pick][threadIdx.x + n];
}

__global__ void chosen(const int *a, const int *b, int *out, int n)
{
	const int *p = a;
	if (n < 40)
		p = b;
	out[threadIdx.x] = p[threadIdx.x * n];
}

#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2) cluster_shared(int *out, int at)
{
	__shared__ int mine[32];
	unsigned to = (unsigned)__cvta_generic_to_shared(&mine[threadIdx.x + at]), far, value;
	mine[threadIdx.x] = threadIdx.x;
	asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(to), "r"((blockIdx.x & 1) ^ 1));
	asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(far) : "memory");
	out[threadIdx.x] = value;
	asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
#endif
}
