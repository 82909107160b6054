// Types in namespaces and in each other, for clang, which describes their scopes. Needs no header
// of CUDA.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
namespace ns
{
template <class T, int N> struct View {
	T *ptr;
	int n[N];
};
enum class Mode : unsigned char { A, B };
struct Base {
	long q;
};
struct D : Base {
	short z;
	enum { X } e;
	union {
		int i;
		float f;
	};
	int bf : 3;
};
class Out
{
      public:
	struct In {
		int v;
	} in;
	void m();
};
typedef float real;
} // namespace ns
using namespace ns;
__device__ int helper(const View<float, 3> &v, int i)
{
	return v.ptr[i] + i;
}
__global__ void k(View<float, 3> v, const int *p, D d, Mode m, Out::In in, real r, Out *o,
		  int (*fp)(int, float), int Out::In::*pm)
{
	*(int *)p = helper(v, 2) + (int)d.q;
}
__global__ void k2(char c, View<D const *, 1> d, bool b)
{
	*d.ptr = 0;
}
