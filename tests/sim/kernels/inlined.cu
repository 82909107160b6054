// Functions that -G code inlines because it must: around a call, below one, twice in one caller. The last access is far outside.

struct Slice { const float *base; int first; };

__device__ __forceinline__ float load(const float *from, int at)
{
	float value = from[at];
	return value * 2.0f;
}

__device__ __noinline__ float scaled(const float *from, int at)
{
	int half = at / 2;
	return load(from, half * 2) + 1.0f;
}

__device__ __forceinline__ float element(const Slice &slice, int i)
{
	int at = slice.first + i;
	float sum = 0.5f;
	{
		int at = 2 * i;
		sum += scaled(slice.base, at);
	}
	return sum + at;
}

__device__ __forceinline__ float pair(const Slice &slice, int i)
{
	float near = element(slice, i);
	int far = i + 100000000;
	return near + element(slice, far);
}

extern "C" __global__ void inlined(float *out, const float *in, int first)
{
	Slice slice = {in, first};
	int i = threadIdx.x;
	out[i] = pair(slice, i);
}
