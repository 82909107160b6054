// Stand-in for a template library's header: our own code under a path that report readers know as "library".
#pragma once

namespace cute {

// The machine operation at the bottom of every copy: one load and one store.
template <class T>
struct UniversalCopy {
	static __device__ __forceinline__ void copy(T const &src, T &dst)
	{
		dst = src; // @mark cute_load
	}
};

template <class Op, class T>
struct Copy_Atom {
	T const *src;
	T *dst;

	__device__ __forceinline__ void call(int i) const
	{
		Op::copy(src[i], dst[i]); // @mark cute_call
	}
};

} // namespace cute
