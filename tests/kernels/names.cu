// What a linker fills in: constants, shared memory, variables and functions of other files, a table of jumps.
__constant__ float kMetric[16];
extern __constant__ float kElsewhere[8];
extern __device__ int gElsewhere[8];
extern __device__ float outside(float x, int n);
extern __shared__ float dynamic[];

__device__ int gCounter;

__global__ void names(float *out, const float *in, int k)
{
	__shared__ float tile[64];
	int i = threadIdx.x;
	tile[i] = in[i] + kMetric[3];
	__syncthreads();
	switch (k) {
	case 0: out[i] = tile[i ^ 1]; break;
	case 1: out[i] = outside(kElsewhere[k], gElsewhere[i]); break;
	case 2: atomicAdd(&gCounter, i); break;
	case 3: dynamic[i] = tile[63 - i]; out[i] = dynamic[i + 1]; break;
	case 4: out[i] = kElsewhere[3]; break;
	case 5: out[2 * i] = 0; break;
	default: out[0] = k;
	}
}
