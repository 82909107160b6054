// A kernel whose mangled name is longer than 4 kB, as expression templates make them.

template <int... I>
struct Seq {
};

template <int N, int... I>
struct Make : Make<N - 1, N, I...> {
};

template <int... I>
struct Make<0, I...> {
	using type = Seq<I...>;
};

template <class... T>
struct Pack {
};

template <class Axes>
__device__ __forceinline__ void touch(int *data, int i, Axes)
{
	data[i] += 1; // @mark touch
}

template <class Axes>
__global__ void long_name(int *data)
{
	touch(data, blockIdx.x * blockDim.x + threadIdx.x, Axes()); // @mark long_name
}

using Axes = Pack<Make<190>::type, Make<189>::type, Make<188>::type, Make<187>::type, Make<186>::type>;

template __global__ void long_name<Axes>(int *);
