// Shared memory that ends too early, and stacks, as public reports have it.

extern "C" {

// The launch gives no dynamic shared memory.
__global__ void damascene_2(const float *integrals, float *gradient, int length)
{
	extern __shared__ float values[];
	for (int i = threadIdx.x; i < length; i += blockDim.x)
		values[i] = integrals[blockIdx.x * length + i];
	__syncthreads();
	if ((int)threadIdx.x < length)
		gradient[blockIdx.x * length + threadIdx.x] = values[length - 1 - threadIdx.x];
}

// Four arrays share what the launch gives, which is enough for one.
__global__ void popsift_109(const float *image, float *angles)
{
	extern __shared__ float arrays[];
	float *hist = arrays, *smooth = arrays + 64, *sorted = arrays + 128, *order = arrays + 192;
	hist[threadIdx.x] = image[threadIdx.x];
	smooth[threadIdx.x] = hist[threadIdx.x] * 0.5f;
	sorted[threadIdx.x] = smooth[threadIdx.x] + 1.0f;
	order[threadIdx.x] = sorted[threadIdx.x];
	__syncthreads();
	angles[threadIdx.x] = order[63 - threadIdx.x];
}

// A list of neighbours is moved down in a buffer; the last warp reads behind it.
__global__ void openmm_2825(const int *atoms, int *out, int tiles)
{
	__shared__ int buffer[4 * 64];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	int *mine = buffer + warp * 64;
	mine[lane] = atoms[threadIdx.x];
	mine[lane + 32] = 0;
	__syncwarp();
	out[threadIdx.x] = mine[lane + 32 * tiles];
}

// The number of a bin has six bits, the histogram has room for five.
__global__ void hecbench_83(const unsigned *data, unsigned *out, int n)
{
	__shared__ unsigned char hist[32 * 128];
	for (int i = 0; i < 32; i++)
		hist[i * 128 + threadIdx.x] = 0;
	for (int i = threadIdx.x; i < n; i += blockDim.x) {
		unsigned v = data[i];
		hist[threadIdx.x + ((v >> 2) & 63) * 128]++;
	}
	out[threadIdx.x] = hist[threadIdx.x];
}

// Half of the threads give ldmatrix an address that was made for another layout.
__global__ void llama_cpp_8123(const int *in, int *out, int stride)
{
	__shared__ int tile[16 * 8];
	for (int i = threadIdx.x; i < 128; i += 32)
		tile[i] = in[i];
	__syncwarp();
	unsigned address = (unsigned)__cvta_generic_to_shared(tile + (threadIdx.x % 8) * stride + (threadIdx.x / 8) * 4);
	int a, b, c, d;
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(address) : "memory");
	out[threadIdx.x] = a + b + c + d;
}

} // extern "C"

__device__ __noinline__ int sort_range(int *list, int from, int to)
{
	volatile int mine[32];
	mine[from & 31] = list[from];
	if (to - from < 2)
		return mine[from & 31];
	return sort_range(list, from + 1, to) + mine[from & 31];
}

__device__ float project(volatile float *polygon, int n, int depth);

__device__ __noinline__ float clip(volatile float *polygon, int n, int depth)
{
	volatile float overlap[150];
	for (int i = 0; i < n; i++)
		overlap[i * 7 % 150] = polygon[i];
	return project(overlap, n, depth) + overlap[n % 150];
}

__device__ __noinline__ float project(volatile float *polygon, int n, int depth)
{
	volatile float shadow[150];
	for (int i = 0; i < n; i++)
		shadow[i * 3 % 150] = polygon[i];
	return depth > 0 ? clip(shadow, n, depth - 1) : shadow[n % 150];
}

extern "C" {

// A sort that calls itself once for each element.
__global__ void braingrid_255(int *list, int *out, int n)
{
	out[threadIdx.x] = sort_range(list, 0, n);
}

// Functions with large arrays call each other, so that the compiler cannot tell how much stack they need; the limit is what it was.
__global__ void tribol_170(float *out, int n, int depth)
{
	volatile float polygon[100];
	for (int i = 0; i < n; i++)
		polygon[i] = (float)i;
	out[threadIdx.x] = clip(polygon, n, depth);
}

} // extern "C"
