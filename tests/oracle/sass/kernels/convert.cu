// Conversions between every pair of arithmetic types, with the rounding modes that PTX has.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class To, class From> __device__ void convert(char *out, const char *in, int i)
{
	reinterpret_cast<To *>(out)[i] = static_cast<To>(reinterpret_cast<const From *>(in)[i]);
}

template <class To> __device__ void convert_all(char *out, const char *in, int i)
{
	convert<To, signed char>(out, in, i);
	convert<To, unsigned char>(out + 1000, in, i);
	convert<To, short>(out + 2000, in, i);
	convert<To, unsigned short>(out + 3000, in, i);
	convert<To, int>(out + 4000, in, i);
	convert<To, unsigned>(out + 5000, in, i);
	convert<To, long long>(out + 6000, in, i);
	convert<To, unsigned long long>(out + 7000, in, i);
	convert<To, float>(out + 8000, in, i);
	convert<To, double>(out + 9000, in, i);
	convert<To, __half>(out + 10000, in, i);
}

#define KERNEL(name, type)                                       \
	__global__ void to_##name(char *out, const char *in)     \
	{                                                        \
		convert_all<type>(out, in, threadIdx.x);         \
	}
KERNEL(s8, signed char)
KERNEL(u8, unsigned char)
KERNEL(s16, short)
KERNEL(u16, unsigned short)
KERNEL(s32, int)
KERNEL(u32, unsigned)
KERNEL(s64, long long)
KERNEL(u64, unsigned long long)
KERNEL(f32, float)
KERNEL(f64, double)
KERNEL(f16, __half)

#define CVT(ptx, to, from, cto, cfrom)                                                              \
	{                                                                                           \
		to r;                                                                               \
		from a = ((const from *)in)[k];                                                     \
		asm volatile(ptx " %0, %1;" : "=" cto(r) : cfrom(a));                               \
		((to *)out)[k] = r;                                                                 \
		k += 32;                                                                            \
	}

__global__ void rounding(char *out, const char *in, int k)
{
	CVT("cvt.rni.s32.f32", int, float, "r", "f")
	CVT("cvt.rzi.s32.f32", int, float, "r", "f")
	CVT("cvt.rmi.s32.f32", int, float, "r", "f")
	CVT("cvt.rpi.s32.f32", int, float, "r", "f")
	CVT("cvt.rni.ftz.u32.f32", unsigned, float, "r", "f")
	CVT("cvt.rpi.u64.f32", unsigned long long, float, "l", "f")
	CVT("cvt.rmi.s64.f64", long long, double, "l", "d")
	CVT("cvt.rni.u32.f64", unsigned, double, "r", "d")
	CVT("cvt.rn.f32.s32", float, int, "f", "r")
	CVT("cvt.rz.f32.u32", float, unsigned, "f", "r")
	CVT("cvt.rm.f32.s64", float, long long, "f", "l")
	CVT("cvt.rp.f32.u64", float, unsigned long long, "f", "l")
	CVT("cvt.rz.f64.s64", double, long long, "d", "l")
	CVT("cvt.rn.f32.f64", float, double, "f", "d")
	CVT("cvt.rz.f32.f64", float, double, "f", "d")
	CVT("cvt.rp.ftz.f32.f64", float, double, "f", "d")
	CVT("cvt.f64.f32", double, float, "d", "f")
	CVT("cvt.rni.f32.f32", float, float, "f", "f")
	CVT("cvt.rzi.f32.f32", float, float, "f", "f")
	CVT("cvt.rmi.ftz.f32.f32", float, float, "f", "f")
	CVT("cvt.rpi.sat.f32.f32", float, float, "f", "f")
	CVT("cvt.rni.f64.f64", double, double, "d", "d")
	CVT("cvt.rpi.f64.f64", double, double, "d", "d")
	CVT("cvt.sat.f32.f32", float, float, "f", "f")
	CVT("cvt.rn.f16.f32", unsigned short, float, "h", "f")
	CVT("cvt.rz.f16.f32", unsigned short, float, "h", "f")
	CVT("cvt.rn.f16.f64", unsigned short, double, "h", "d")
	CVT("cvt.f32.f16", float, unsigned short, "f", "h")
	CVT("cvt.f64.f16", double, unsigned short, "d", "h")
	CVT("cvt.rni.f16.f16", unsigned short, unsigned short, "h", "h")
	CVT("cvt.rzi.s16.f16", short, unsigned short, "h", "h")
	CVT("cvt.rn.f16.s32", unsigned short, int, "h", "r")
	CVT("cvt.rn.f16.u64", unsigned short, unsigned long long, "h", "l")
	CVT("cvt.sat.u8.s32", int, int, "r", "r")
	CVT("cvt.sat.s8.s32", int, int, "r", "r")
	CVT("cvt.sat.s16.s32", short, int, "h", "r")
	CVT("cvt.sat.u16.u32", unsigned short, unsigned, "h", "r")
	CVT("cvt.sat.s32.s64", int, long long, "r", "l")
#if __CUDA_ARCH__ >= 800
	CVT("cvt.rn.bf16.f32", unsigned short, float, "h", "f")
	CVT("cvt.rz.bf16.f32", unsigned short, float, "h", "f")
	CVT("cvt.rn.relu.bf16.f32", unsigned short, float, "h", "f")
	CVT("cvt.rna.tf32.f32", unsigned, float, "r", "f")
#endif
#if __CUDA_ARCH__ >= 890
	CVT("cvt.rn.f16x2.e4m3x2", unsigned, unsigned short, "r", "h")
	CVT("cvt.rn.f16x2.e5m2x2", unsigned, unsigned short, "r", "h")
	CVT("cvt.rn.relu.f16x2.e4m3x2", unsigned, unsigned short, "r", "h")
	CVT("cvt.rn.satfinite.e4m3x2.f16x2", unsigned short, unsigned, "h", "r")
	CVT("cvt.rn.satfinite.relu.e5m2x2.f16x2", unsigned short, unsigned, "h", "r")
#endif
#if __CUDA_ARCH__ >= 900
	CVT("cvt.f32.bf16", float, unsigned short, "f", "h")
	CVT("cvt.rni.s32.bf16", int, unsigned short, "r", "h")
	CVT("cvt.rn.bf16.s32", unsigned short, int, "h", "r")
	CVT("cvt.rn.tf32.f32", unsigned, float, "r", "f")
	CVT("cvt.rz.relu.tf32.f32", unsigned, float, "r", "f")
#endif
}

#define PACK(ptx)                                                                                   \
	{                                                                                           \
		unsigned r;                                                                         \
		asm volatile(ptx " %0, %1, %2;" : "=r"(r) : "f"(a), "f"(b));                        \
		out[k++] = r;                                                                       \
	}

__global__ void pack(unsigned *out, float a, float b, int k)
{
#if __CUDA_ARCH__ >= 800
	PACK("cvt.rn.f16x2.f32")
	PACK("cvt.rz.f16x2.f32")
	PACK("cvt.rn.relu.f16x2.f32")
	PACK("cvt.rn.bf16x2.f32")
	PACK("cvt.rz.relu.bf16x2.f32")
#endif
#if __CUDA_ARCH__ >= 890
	unsigned short h;
	asm volatile("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(h) : "f"(a), "f"(b));
	out[k++] = h;
	asm volatile("cvt.rn.satfinite.relu.e5m2x2.f32 %0, %1, %2;" : "=h"(h) : "f"(a), "f"(b));
	out[k++] = h;
#endif
}
