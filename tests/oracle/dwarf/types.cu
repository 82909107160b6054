// Parameters of every kind of type that nvcc describes. Nothing here is run.
#include <cstdint>
#include <cuda_fp16.h>
namespace ns
{
namespace inner
{
enum Color { RED, GREEN = 5 };
enum class Mode : unsigned char { A, B = 200 };
template <class T, int N> struct Array {
	T data[N];
	int len;
};
template <class T> struct View {
	T *ptr;
	Array<int, 3> shape;
	struct Sub {
		short a;
		T b;
	} sub;
	using value_type = T;
};
} // namespace inner
struct Empty {
};
struct Base {
	int x;
	virtual __device__ int f()
	{
		return x;
	}
};
struct Derived : Base {
	double y;
};
struct Mix {
	Empty e;
	int a : 3;
	int b : 5;
	unsigned char c;
	union {
		float f;
		int i;
	};
	struct {
		int p, q;
	} anon;
	char name[16];
	int m[2][3];
};
class Priv
{
	int z;

      public:
	__host__ __device__ Priv(int v) : z(v)
	{
	}
	__host__ __device__ int get() const
	{
		return z;
	}
	static int count;
};
} // namespace ns
typedef float real;
typedef real (*fn_t)(int, real);
struct Self {
	Self *next;
	const volatile int *cv;
	int Self::*pm;
	void (Self::*pmf)(int);
	int &ref;
};
namespace
{
struct Anon {
	int v;
};
} // namespace
using namespace ns;
using namespace ns::inner;
template <class T> __device__ T helper(const View<T> &v, int i, T *out)
{
	T r = v.ptr[i];
	*out = r;
	return r;
}

__global__ void scalars(bool b, char c, signed char sc, unsigned char uc, short s,
			unsigned short us, int i, unsigned u, long l, unsigned long ul,
			long long ll, unsigned long long ull, float f, double d, __half h,
			wchar_t w, char16_t c16, uint8_t u8, size_t sz, real r)
{
}
__global__ void pointers(const float *a, float *const b, volatile int *__restrict__ c, void *d,
			 const void *e, int **f, const char *const *g, int (*h)[4], fn_t fn,
			 void (*fp)(), int Self::*pm, int (Self::*pmf)(float) const, fn_t *pfn,
			 std::nullptr_t np)
{
}
__global__ void structs(Empty e, View<float> v, const Array<double, 2> ar, Mix m, Priv p, Self s,
			Anon an, int tail)
{
}
__global__ void empties(Empty a, int x, Empty b, double y)
{
}
__global__ void enums(Color c, Mode m, const Mode cm)
{
}
template <class T, int N, class... R> __global__ void tmpl(View<T> v, Array<T, N> a, R... r)
{
	T x;
	helper(v, N, &x);
	a.data[0] = x;
	v.ptr[0] = x;
}
template __global__ void tmpl<float, 4, int, double *>(View<float>, Array<float, 4>, int, double *);
__global__ void vec(float4 a, int3 b, dim3 c, cudaTextureObject_t t, float4 *pa)
{
}
__global__ void grid_const(const __grid_constant__ Mix m, int *out)
{
	*out = m.c;
}
__device__ __noinline__ int dev(const int &r, int &&rr, Derived &d, int arr[7])
{
	return r + rr + d.f() + arr[0];
}
__global__ void usedev(int a, Derived *d)
{
	int arr[7] = { 1 };
	*d = Derived();
	d->x = dev(a, 3, *d, arr);
}
template <class F> __global__ void lam(F f, int *out)
{
	*out = f(3);
}
void host(int *o)
{
	int k = 3;
	lam<<<1, 1>>>([=] __device__(int x) { return x + k; }, o);
}
extern "C" __global__ void unnamed(int, float *, int named)
{
}
struct __align__(16) Al
{
	int a;
};
struct Packed {
	char c;
	int i;
} __attribute__((packed));
__global__ void aligned(char c, Al a, Packed p, char d)
{
}

// Names that need their namespaces, two base classes, a virtual one, edges of enumerations.
namespace n1
{
struct S {
	int a;
};
} // namespace n1
namespace n2
{
struct S {
	float b;
};
} // namespace n2
struct Two : n1::S, n2::S {
	int c;
};
struct Shared : virtual n1::S {
	int d;
};
enum Unsigned : unsigned { BIG = 0xffffffffu };
enum class Long : long { X = -1 };
__device__ Shared *shared_base;
__global__ void edges(View<const float *> a, View<n1::S> b, Two t, Unsigned u, Long l, n1::S s1,
		      n2::S s2, __int128 big, long double ld)
{
	shared_base->d = shared_base->a;
}
