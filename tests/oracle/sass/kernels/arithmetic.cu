// Integer, float, double and half arithmetic with the modifiers that PTX can ask for.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define OP2(ptx, c, a, b) asm volatile(ptx " %0, %1, %2;" : "=" c(r) : c(a), c(b)); out[k++] = r;
#define OP1(ptx, c, a) asm volatile(ptx " %0, %1;" : "=" c(r) : c(a)); out[k++] = r;
#define OP3(ptx, c, a, b, d) asm volatile(ptx " %0, %1, %2, %3;" : "=" c(r) : c(a), c(b), c(d)); out[k++] = r;

__global__ void floats(float *out, float a, float b, float d, int k)
{
	float r;
	a += (float)threadIdx.x;
	OP2("add.rn.f32", "f", a, b) OP2("add.rz.f32", "f", a, b) OP2("add.rm.ftz.f32", "f", a, b) OP2("add.rp.sat.f32", "f", a, b)
	OP2("sub.ftz.f32", "f", a, b) OP2("mul.rn.f32", "f", a, b) OP2("mul.rz.ftz.f32", "f", a, b) OP2("mul.sat.f32", "f", a, b)
	OP3("fma.rn.f32", "f", a, b, d) OP3("fma.rm.f32", "f", a, b, d) OP3("fma.rp.ftz.sat.f32", "f", a, b, d)
	OP2("div.rn.f32", "f", a, b) OP2("div.full.f32", "f", a, b) OP2("div.approx.f32", "f", a, b) OP2("div.rz.ftz.f32", "f", a, b)
	OP2("min.f32", "f", a, b) OP2("max.ftz.f32", "f", a, b) OP2("copysign.f32", "f", a, b)
	OP1("abs.f32", "f", a) OP1("neg.f32", "f", a) OP1("rcp.rn.f32", "f", a) OP1("rcp.approx.f32", "f", a) OP1("rcp.approx.ftz.f32", "f", a)
	OP1("sqrt.rn.f32", "f", a) OP1("sqrt.approx.f32", "f", a) OP1("rsqrt.approx.f32", "f", a) OP1("sin.approx.f32", "f", a)
	OP1("cos.approx.f32", "f", a) OP1("lg2.approx.f32", "f", a) OP1("ex2.approx.f32", "f", a) OP1("ex2.approx.ftz.f32", "f", a) OP1("tanh.approx.f32", "f", a)
#if __CUDA_ARCH__ >= 800
	OP2("min.NaN.f32", "f", a, b) OP2("max.NaN.ftz.f32", "f", a, b)
#endif
#if __CUDA_ARCH__ >= 860
	OP2("min.xorsign.abs.f32", "f", a, b) OP2("max.NaN.xorsign.abs.f32", "f", a, b)
#endif
#if __CUDA_ARCH__ >= 1000
	OP3("max.f32", "f", a, b, d)
	OP3("min.NaN.abs.f32", "f", a, b, d)
	unsigned long long x = __float_as_uint(a) | 1ull << 40, y = __float_as_uint(b), z;
	asm volatile("add.rn.f32x2 %0, %1, %2;" : "=l"(z) : "l"(x), "l"(y));
	asm volatile("mul.rz.ftz.f32x2 %0, %1, %2;" : "=l"(x) : "l"(z), "l"(y));
	asm volatile("fma.rn.f32x2 %0, %1, %2, %1;" : "=l"(y) : "l"(z), "l"(x));
	out[k++] = (float)y;
#endif
	out[k++] = a * 2.0f + b * -0.5f;
	out[k++] = fabsf(a) + -fabsf(b) * 1e10f;
	out[k++] = a + 1.0f / 0.0f;
	out[k++] = fmaf(a, 3.25f, -d) + fmaf(-a, b, 7.5e-30f);
	out[k++] = isnan(a) ? b : d;
	out[k++] = isinf(b) ? a : -d;
	out[k++] = a > b ? a : 1.0f;
	out[k++] = a >= b && b != d ? a : fabsf(d);
	out[k++] = !(a < b) || isnan(b * d) ? 1.0f : 0.0f;
	out[k++] = floorf(a) + ceilf(b) + truncf(d) + rintf(a) + roundf(b);
	out[k++] = sinf(a) + cosf(b) + tanf(d) + expf(a) + logf(b) + powf(a, b);
	out[k++] = __saturatef(a * b) + fmodf(a, b) + remainderf(a, d);
	out[k++] = (float)ldexp(a, 3) + frexpf(a, (int *)out) + (float)ilogbf(b);
}

__global__ void doubles(double *out, double a, double b, double d, int k)
{
	double r;
	OP2("add.rn.f64", "d", a, b) OP2("add.rz.f64", "d", a, b) OP2("mul.rm.f64", "d", a, b) OP3("fma.rp.f64", "d", a, b, d)
	OP2("div.rn.f64", "d", a, b) OP1("sqrt.rn.f64", "d", a) OP1("rcp.rn.f64", "d", a) OP1("rsqrt.approx.f64", "d", a)
	OP1("rcp.approx.ftz.f64", "d", a) OP2("min.f64", "d", a, b) OP2("max.f64", "d", a, b) OP1("abs.f64", "d", a)
	out[k++] = a * 2.5 - fabs(b);
	out[k++] = -a + 1e300;
	out[k++] = a > b ? d : -fabs(a);
	out[k++] = isnan(a) ? 1.0 : b == d ? 2.0 : 3.0;
	out[k++] = exp(a) + log(b) + sin(d) + pow(a, b) + erf(d);
	out[k++] = floor(a) + rint(b);
}

#define H2(ptx) asm volatile(ptx " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); out[k++] = r;
#define H3(ptx) asm volatile(ptx " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(d)); out[k++] = r;
#define H1(ptx) asm volatile(ptx " %0, %1;" : "=r"(r) : "r"(a)); out[k++] = r;
__global__ void halves(unsigned *out, unsigned a, unsigned b, unsigned d, int k)
{
	unsigned r;
	H2("add.f16x2") H2("add.ftz.f16x2") H2("add.sat.f16x2") H2("sub.f16x2") H2("mul.f16x2") H2("mul.ftz.sat.f16x2")
	H3("fma.rn.f16x2") H3("fma.rn.ftz.f16x2") H3("fma.rn.sat.f16x2") H1("neg.f16x2") H1("abs.f16x2")
	H2("set.lt.f16x2.f16x2") H2("set.gtu.u32.f16x2") H2("set.num.f16x2.f16x2")
	H1("ex2.approx.f16x2") H1("tanh.approx.f16x2")
#if __CUDA_ARCH__ >= 800
	H2("min.f16x2") H2("max.NaN.f16x2") H2("min.ftz.f16x2") H3("fma.rn.relu.f16x2") H3("fma.rn.bf16x2") H3("fma.rn.relu.bf16x2")
	H2("min.bf16x2") H2("max.NaN.bf16x2") H1("neg.bf16x2") H1("abs.bf16x2")
#endif
#if __CUDA_ARCH__ >= 860
	H2("min.xorsign.abs.f16x2") H2("max.NaN.xorsign.abs.bf16x2")
#endif
#if __CUDA_ARCH__ >= 900
	H2("add.bf16x2") H2("sub.bf16x2") H2("mul.bf16x2") H2("set.le.bf16x2.bf16x2") H1("ex2.approx.ftz.bf16x2") H1("tanh.approx.bf16x2")
#endif
	__half2 x = *(__half2 *)&a, y = *(__half2 *)&b;
	__half2 z = __hfma2(x, __float2half2_rn(1.5f), y);
	z = __hadd2(z, __floats2half2_rn(0.25f, -3.0f));
	z = __hmul2(__low2half2(z), __high2half2(y));
	z = __hadd2(__lowhigh2highlow(z), y);
	__half s = __hadd(__low2half(z), __high2half(x));
	s = __hfma(s, __low2half(y), __float2half(65504.0f));
	out[k++] = __hlt(s, __low2half(x)) ? 1 : 0;
	out[k++] = __hbgt2(z, y) || __hbneu2(x, z);
	out[k++] = *(unsigned *)&z;
	out[k++] = (unsigned)__half2float(hsqrt(s)) + (unsigned)__half2int_rn(hexp(s));
#if __CUDA_ARCH__ >= 800
	__nv_bfloat162 p = *(__nv_bfloat162 *)&a, q = *(__nv_bfloat162 *)&b;
	p = __hfma2(p, q, __float2bfloat162_rn(2.5f));
	p = __hadd2(p, __hmul2(q, p));
	out[k++] = *(unsigned *)&p + __hbeq2(p, q);
	out[k++] = (unsigned)(float)__hmax(__low2bfloat16(p), __high2bfloat16(q));
#endif
}

#define I2(ptx) asm volatile(ptx " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); out[k++] = r;
#define I1(ptx) asm volatile(ptx " %0, %1;" : "=r"(r) : "r"(a)); out[k++] = r;
#define I3(ptx) asm volatile(ptx " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(d)); out[k++] = r;
__global__ void integers(int *out, int a, int b, int d, int k)
{
	int r;
	a += threadIdx.x;
	I2("add.s32") I2("sub.s32") I2("mul.lo.s32") I2("mul.hi.s32") I2("mul.hi.u32") I2("mul24.lo.s32") I2("mul24.hi.u32") I3("mad.lo.s32")
	I3("mad.hi.s32") I3("mad.hi.u32") I3("mad24.lo.s32") I3("sad.s32") I3("sad.u32") I2("div.s32") I2("div.u32") I2("rem.s32") I2("rem.u32")
	I2("min.s32") I2("max.u32") I1("abs.s32") I1("neg.s32") I2("and.b32") I2("or.b32") I2("xor.b32") I1("not.b32") I1("popc.b32") I1("clz.b32")
	I1("brev.b32") I1("bfind.s32") I1("bfind.shiftamt.u32") I2("shl.b32") I2("shr.s32") I2("shr.u32") I3("shf.l.wrap.b32") I3("shf.r.clamp.b32")
	I3("bfe.s32") I3("bfe.u32") I3("prmt.b32") I3("prmt.b32.f4e") I3("prmt.b32.b4e") I3("prmt.b32.rc8") I3("prmt.b32.ecl") I3("prmt.b32.ecr")
	I3("prmt.b32.rc16") I3("dp4a.s32.s32") I3("dp4a.u32.s32") I3("dp2a.lo.s32.u32") I3("dp2a.hi.u32.u32") I2("szext.wrap.s32") I2("szext.clamp.u32")
	I2("bmsk.wrap.b32") I2("bmsk.clamp.b32") I2("add.sat.s32") I2("sub.sat.s32")
	asm volatile("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(d), "r"(k)); out[k++] = r;
	asm volatile("lop3.b32 %0, %1, %2, %3, 0x5a;" : "=r"(r) : "r"(a), "r"(b), "r"(d)); out[k++] = r;
	asm volatile("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(d)); out[k++] = r;
	asm volatile("add.cc.u32 %0, %1, %2; addc.cc.u32 %0, %0, %3; addc.u32 %0, %0, %1; sub.cc.u32 %0, %0, %1; subc.u32 %0, %0, %2; mad.lo.cc.u32 %0, %0, %1, %2; madc.hi.cc.u32 %0, %1, %0, %2; madc.lo.u32 %0, %0, %0, %1;" : "=r"(r) : "r"(a), "r"(b), "r"(d)); out[k++] = r;
	I3("vadd.s32.u32.s32") I3("vabsdiff4.u32.u32.u32.add") I3("vabsdiff4.s32.s32.s32") I3("vabsdiff.s32.s32.s32.add") I3("vmin4.s32.s32.s32") I3("vavrg4.s32.s32.s32") I3("vset4.u32.u32.lt") I3("vadd2.s32.s32.s32.sat")
	I3("vshl.u32.u32.u32.clamp.add") I3("vmad.u32.u32.u32.shr7") I3("vset.u32.u32.ne") I3("vmax2.u32.u32.u32")
#if __CUDA_ARCH__ >= 900
	I2("min.relu.s32") I2("max.relu.s32") I2("min.s16x2") I2("max.u16x2") I2("add.u16x2") I2("min.relu.s16x2")
	out[k++] = __vimax3_s32(a, b, d) + __vimin3_u32(a, b, d) + __viaddmax_s32(a, b, d) + __viaddmin_s32_relu(a, b, d) + __viaddmax_s16x2(a, b, d) + __vimin3_s16x2(a, b, d);
	bool p, q;
	out[k++] = __vibmax_s32(a, b, &p) + __vibmin_u16x2(a, b, &p, &q) + p + q;
#endif
	out[k++] = a * 5 + b * 8 + (a << 3) + d / 7 + d % 10 + (b >> 31);
	out[k++] = a & 0xff00ff & b;
	out[k++] = (a ^ b ^ d) | ~a;
	out[k++] = a < b ? 7 : d;
	out[k++] = (unsigned)a < (unsigned)b && d != 5;
	out[k++] = a == 3 || b > d || (d & 4);
	out[k++] = __vcmpeq2(a, b) + __vsub4(a, b) + __vabs4(a) + __vseteq4(a, d) + __vaddus2(a, b) + __vavgu4(a, b);
	out[k++] = __byte_perm(a, b, 0x3210) + __funnelshift_l(a, b, 7) + __ffs(a) + __rhadd(a, b) + __mulhi(a, b) + __usad(a, b, d);
}

__global__ void longs(long long *out, long long a, long long b, unsigned long long c, int s)
{
	int k = 0;
	a += threadIdx.x;
	out[k++] = a + b;
	out[k++] = a - b * 3;
	out[k++] = a * b;
	out[k++] = a / b;
	out[k++] = a % 10;
	out[k++] = c / 10;
	out[k++] = c % (unsigned long long)b;
	out[k++] = a << s;
	out[k++] = a >> s;
	out[k++] = c >> s;
	out[k++] = (a & b) ^ (a | ~b);
	out[k++] = a < b ? a : b;
	out[k++] = (unsigned long long)a > c;
	out[k++] = min(a, b) + max(c, (unsigned long long)b);
	out[k++] = __popcll(a) + __clzll(b) + __ffsll(a) + __brevll(c);
	out[k++] = __mul64hi(a, b) + __umul64hi(c, c) + llabs(a);
	out[k++] = (long long)s * s + (unsigned long long)(unsigned)s * 77u;
	__int128 w = (__int128)a * b;
	w = w / 12345 + ((__int128)c << 17);
	out[k++] = (long long)(w >> 64);
	out[k++] = (long long)w;
}
