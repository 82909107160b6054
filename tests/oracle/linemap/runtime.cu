// For the run-time compiler: no headers.
template <class T> __device__ T clamp_to(T x, T low, T high)
{
	return x < low ? low : x > high ? high : x;
}

__device__ float weigh(const float *w, float x, int i)
{
	return clamp_to(w[i] * x, -1.0f, 1.0f);
}

template <int N> __device__ float sum_of(const float *w, float x)
{
	return weigh(w, x, N) + sum_of<N - 1>(w, x);
}

template <> __device__ float sum_of<0>(const float *w, float x)
{
	return weigh(w, x, 0);
}

extern "C" __global__ void first(float *out, const float *w)
{
	out[threadIdx.x] = sum_of<5>(w, out[threadIdx.x]);
}

extern "C" __global__ void second(float *out, const float *w, int n)
{
	for (int i = 0; i < n; i++)
		out[i] += weigh(w, out[i], i) / sum_of<2>(w, out[threadIdx.x]);
}
