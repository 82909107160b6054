// Structures by value, to a kernel and to a function: what clang 22.1.8 makes of it is clang_byvalue.ptx (clang -x cuda
// --cuda-gpu-arch=sm_80 --cuda-device-only -nocudainc -nocudalib -Wno-unknown-cuda-version -g -O0 -S). The access is far outside.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

struct Pair {
	int a;
	float b;
};

__device__ __attribute__((noinline)) void use(float *out, Pair own, int k)
{
	out[k * 100000000] = own.b + own.a;
}

extern "C" __global__ void by_value(float *out, Pair given, int n)
{
	Pair own;
	own.a = __nvvm_read_ptx_sreg_tid_x();
	own.b = given.b * n;
	use(out, own, n);
	out[0] = given.a;
}
