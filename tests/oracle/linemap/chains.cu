// Many rows of deep inline chains, fast to compile: -DKERNELS=n kernels (a power of two up to 64) of UNROLL copies of a
// chain of 12 templates that call a lambda.
#ifndef UNROLL
#define UNROLL 24
#endif
#ifndef KERNELS
#define KERNELS 16
#endif

template <int S> __device__ __forceinline__ float blend(float a, float b)
{
	float r = a * b + float(S);
	r = r * r - a;
	if (S & 1)
		r = fmaf(r, b, a);
	else
		r = fmaf(a, r, b);
	return r;
}

template <int N> struct descend {
	template <class F> static __device__ __forceinline__ float go(float x, const F &f)
	{
		float y = f(x);
		y = blend<N>(y, x);
		return descend<N - 1>::go(y, f) + y;
	}
};

template <> struct descend<0> {
	template <class F> static __device__ __forceinline__ float go(float x, const F &f)
	{
		return f(x);
	}
};

template <int ID> __global__ void chains(float *p)
{
	float a = p[threadIdx.x];
#pragma unroll
	for (int i = 0; i < UNROLL; i++) {
		float k = p[i * 33 + ID];
		a = descend<12>::go(a, [=](float q) {
			float w = q + k;
			return w * blend<ID>(q, k);
		});
		p[i * 65 + threadIdx.x] = a;
	}
}

#define K1(I) template __global__ void chains<I>(float *);
#define K2(I) K1(I) K1(I + 1)
#define K4(I) K2(I) K2(I + 2)
#define K8(I) K4(I) K4(I + 4)
#define K16(I) K8(I) K8(I + 8)
#define K32(I) K16(I) K16(I + 16)
#define K64(I) K32(I) K32(I + 32)
#if KERNELS == 1
K1(0)
#elif KERNELS == 16
K16(0)
#else
K64(0)
#endif
