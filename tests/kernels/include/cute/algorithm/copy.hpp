// Stand-in for a template library's header: our own code under a path that report readers know as "library".
#pragma once
#include "cute/atom/copy_atom.hpp"

namespace cute {

template <int N>
struct Int {
	static constexpr int value = N;
};

// Unrolls by template recursion, so that every step is one more inlined frame.
template <int I, int N, class F>
__device__ __forceinline__ void for_each_step(F const &f)
{
	if constexpr (I < N) {
		f(Int<I>{}); // @mark cute_step
		for_each_step<I + 1, N>(f); // @mark cute_next
	}
}

template <int N, class F>
__device__ __forceinline__ void for_each(Int<N>, F const &f)
{
	for_each_step<0, N>(f); // @mark cute_for_each
}

template <int N, class Op, class T>
__device__ __forceinline__ void copy(Copy_Atom<Op, T> const &atom)
{
	for_each(Int<N>{}, [&](auto i) { // @mark cute_copy
		atom.call(decltype(i)::value); // @mark cute_lambda
	});
}

} // namespace cute
