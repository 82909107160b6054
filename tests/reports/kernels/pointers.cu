// Pointers that are null, stale, of the host, or lead to no code, as public reports have it.

struct Device {
	float *values;
	unsigned length;
};

struct Material {
	float density;
	__device__ virtual float stress(float strain) const { return density * strain; }
};

struct Vector {
	long size;
	double *data;
};

extern "C" {

// Stores an address: where the buffers of a run lie.
__global__ void put(void **where, void *what)
{
	*where = what;
}

// The structure is passed by value, its array is the host's.
__global__ void cudarc_128(Device device, float *out)
{
	unsigned i = threadIdx.x;
	if (i < device.length)
		out[i] = device.values[i] * 2.0f;
}

// A lambda captured the address of an object on the host's stack.
__global__ void raja_799(const Vector *self, double value, long n)
{
	long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
	if (i < n)
		self->data[i] = value;
}

// A vector of the host is given to a function for the device.
__global__ void abacus_6862(const double *matrix, const double *vector, double *result, int rows, int columns)
{
	int row = blockIdx.x, column = threadIdx.x;
	if (row < rows && column < columns)
		result[row * columns + column] = matrix[row * columns + column] * vector[row];
}

// A replayed graph has the address that the buffer had when it was captured.
__global__ void tornadovm_1006(const float *depth, float *vertices, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x >= width || y >= height)
		return;
	vertices[y * width + x] = depth[y * width + x] * 0.5f;
}

// The allocator gave the block away while another stream still read it.
__global__ void tensorrt_llm_15265(const float4 *k, const float *scale, float4 *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float4 v = k[i];
	float s = scale[i];
	out[i] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
}

// The object was copied byte by byte; what its member points to was freed with the original.
__global__ void superterrainplus_2(const Vector *noise, double *out, int n)
{
	int i = threadIdx.x;
	if (i < n)
		out[i] = noise->data[i];
}

// Every thread allocates; the heap has 8 MiB.
__global__ void numba_cuda_mlir_247(float *out, int n)
{
	float *copy = (float *)malloc(n * sizeof(float));
	for (int i = 0; i < n; i++)
		copy[i] = (float)i;
	out[blockIdx.x * blockDim.x + threadIdx.x] = copy[n - 1];
}

// Samples come from an iterator; the pointer that is used instead is null.
__global__ void cub_110(const unsigned *native, int is_native, unsigned first, unsigned *bins, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	unsigned sample = is_native ? native[i] : first + i;
	atomicAdd(&bins[sample % 16], 1u);
}

// A member of an object in device memory was never set.
__global__ void openmc_16(const Vector *list, double *out)
{
	const Vector *mine = list + blockIdx.x;
	out[blockIdx.x * blockDim.x + threadIdx.x] = mine->data[threadIdx.x];
}

// The host constructed the object: its table of virtual functions is the host's.
__global__ void raja_657(const Material *const *material, float *out)
{
	out[threadIdx.x] = (*material)->stress(out[threadIdx.x]);
}

// An address went through an int of the host.
__global__ void theano_2374(int address, float *out)
{
	const float *from = reinterpret_cast<const float *>((unsigned long long)(unsigned)address);
	out[threadIdx.x] = from[threadIdx.x];
}

// Addresses of rows are kept in an array of int.
__global__ void fbgemm_5743(const long long *row_addrs, float *out, int width)
{
	__shared__ int staged[32];
	if (threadIdx.x < 32)
		staged[threadIdx.x] = (int)row_addrs[threadIdx.x];
	__syncthreads();
	const float *row = reinterpret_cast<const float *>((long long)staged[blockIdx.x]);
	for (int i = threadIdx.x; i < width; i += blockDim.x)
		out[blockIdx.x * width + i] = row[i];
}

} // extern "C"
