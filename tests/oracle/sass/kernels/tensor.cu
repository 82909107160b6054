// Matrix units: mma.sync in every shape and type, ldmatrix, wgmma, tcgen05.

#define MMA(text, d, c) asm volatile("mma.sync.aligned." text : d : c)
#define R4 "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3])
#define R2 "+r"(x[0]), "+r"(x[1])
#define D4 "{%0, %1, %2, %3}"
#define D2 "{%0, %1}"

// d and c in `x`; a and b taken from the same array: only the encoding matters.
#define MMA_D4_A4_B2(text) asm volatile("mma.sync.aligned." text " " D4 ", {%4, %5, %6, %7}, {%8, %9}, " D4 ";" : R4 : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]))
#define MMA_D4_A2_B1(text) asm volatile("mma.sync.aligned." text " " D4 ", {%4, %5}, {%6}, " D4 ";" : R4 : "r"(y[0]), "r"(y[1]), "r"(y[4]))
#define MMA_D2_A4_B2(text) asm volatile("mma.sync.aligned." text " " D2 ", {%2, %3, %4, %5}, {%6, %7}, " D2 ";" : R2 : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]))
#define MMA_D2_A2_B1(text) asm volatile("mma.sync.aligned." text " " D2 ", {%2, %3}, {%4}, " D2 ";" : R2 : "r"(y[0]), "r"(y[1]), "r"(y[4]))
#define MMA_D2_A1_B1(text) asm volatile("mma.sync.aligned." text " " D2 ", {%2}, {%3}, " D2 ";" : R2 : "r"(y[0]), "r"(y[4]))

__global__ void mma_kernel(unsigned *out, const unsigned *in)
{
	unsigned x[4], y[6];
	for (int i = 0; i < 4; i++)
		x[i] = in[i];
	for (int i = 0; i < 6; i++)
		y[i] = in[i + 4];
	MMA_D4_A2_B1("m16n8k8.row.col.f32.f16.f16.f32");
	MMA_D2_A2_B1("m16n8k8.row.col.f16.f16.f16.f16");
	MMA_D2_A1_B1("m8n8k16.row.col.s32.s8.s8.s32");
	MMA_D2_A1_B1("m8n8k16.row.col.satfinite.s32.u8.s8.s32");
	MMA_D2_A1_B1("m8n8k32.row.col.s32.s4.u4.s32");
	MMA_D2_A1_B1("m8n8k128.row.col.s32.b1.b1.s32.xor.popc");
#if __CUDA_ARCH__ >= 800
	MMA_D4_A4_B2("m16n8k16.row.col.f32.f16.f16.f32");
	MMA_D2_A4_B2("m16n8k16.row.col.f16.f16.f16.f16");
	MMA_D4_A4_B2("m16n8k16.row.col.f32.bf16.bf16.f32");
	MMA_D4_A2_B1("m16n8k8.row.col.f32.bf16.bf16.f32");
	MMA_D4_A2_B1("m16n8k4.row.col.f32.tf32.tf32.f32");
	MMA_D4_A4_B2("m16n8k8.row.col.f32.tf32.tf32.f32");
	MMA_D4_A2_B1("m16n8k16.row.col.s32.s8.s8.s32");
	MMA_D4_A4_B2("m16n8k32.row.col.s32.s8.u8.s32");
	MMA_D4_A4_B2("m16n8k32.row.col.satfinite.s32.u8.u8.s32");
	MMA_D4_A2_B1("m16n8k32.row.col.s32.s4.s4.s32");
	MMA_D4_A4_B2("m16n8k64.row.col.s32.u4.s4.s32");
	MMA_D4_A2_B1("m16n8k128.row.col.s32.b1.b1.s32.xor.popc");
	MMA_D4_A4_B2("m16n8k256.row.col.s32.b1.b1.s32.and.popc");
	double d[4] = {1, 2, 3, 4}, a = in[0], b = in[1];
	asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d[0]), "+d"(d[1]) : "d"(a), "d"(b));
	asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d[0]), "+d"(d[1]) : "d"(a), "d"(b));
#if __CUDA_ARCH__ >= 900
	asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %4}, {%5}, {%0, %1, %2, %3};" : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(a), "d"(b));
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %4, %4, %4, %4, %4, %4, %4}, {%5, %5, %5, %5}, {%0, %1, %2, %3};" : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(a), "d"(b));
#endif
	out[20] = (unsigned)(d[0] + d[1] + d[2] + d[3]);
	asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " D4 ", {%4, %5}, {%6, %7}, " D4 ", %8, 0x0;" : R4 : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]));
	asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 " D4 ", {%4, %5, %6, %7}, {%6, %7, %4, %5}, " D4 ", %8, 0x1;" : R4 : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]));
	asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 " D4 ", {%4, %5, %6, %7}, {%6, %7, %4, %5}, " D4 ", %8, 0x0;" : R4 : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]));
	asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 " D4 ", {%4, %5, %6, %7}, {%6, %7, %4, %5}, " D4 ", %8, 0x0;" : R4 : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]));
#endif
#if __CUDA_ARCH__ >= 890
	MMA_D4_A4_B2("m16n8k32.row.col.f32.e4m3.e4m3.f32");
	MMA_D4_A4_B2("m16n8k32.row.col.f32.e5m2.e4m3.f32");
	MMA_D2_A4_B2("m16n8k32.row.col.f16.e4m3.e5m2.f16");
	asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 " D4 ", {%4, %5, %6, %7}, {%6, %7, %4, %5}, " D4 ", %8, 0x0;" : R4 : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]));
#endif
#ifdef __CUDA_ARCH_FEAT_SM120_ALL
	MMA_D4_A4_B2("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32");
	MMA_D4_A4_B2("m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e4m3.f32");
	asm volatile("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0 " D4 ", {%4, %5, %6, %7}, {%6, %7}, " D4 ", %8, {0, 0}, %8, {0, 0};" : R4 : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]));
	asm volatile("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 " D4 ", {%4, %5, %6, %7}, {%6, %7}, " D4 ", %8, {0, 1}, %8, {0, 1};" : R4 : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]));
	asm volatile("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 " D4 ", {%4, %5, %6, %7}, {%6, %7}, " D4 ", %8, {0, 0}, %8, {0, 0};" : R4 : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]));
#endif
	for (int i = 0; i < 4; i++)
		out[i] = x[i];
}

__global__ void matrices(unsigned *out, unsigned s)
{
	unsigned a, b, c, d;
	asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(s));
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2 + 64];" : "=r"(b), "=r"(c) : "r"(s));
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(s));
	out[0] = a + b + c + d;
	asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(a) : "r"(b));
#if __CUDA_ARCH__ >= 900
	asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(s), "r"(a), "r"(b), "r"(c), "r"(d));
	asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(s), "r"(a), "r"(b));
#endif
	out[1] = a;
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define F4 "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
#define WG(text, tail, ...) asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0; wgmma.mma_async.sync.aligned." text " " D4 ", " tail ";}" : F4 : "r"(k), __VA_ARGS__)
__global__ void wgmma_kernel(float *out, unsigned long long a, unsigned long long b, unsigned r, int k)
{
	float f[4] = {};
	asm volatile("wgmma.fence.sync.aligned;");
	WG("m64n8k16.f32.f16.f16", "%5, %6, p, 1, 1, 0, 0", "l"(a), "l"(b));
	WG("m64n8k16.f32.f16.f16", "%5, %6, p, -1, -1, 1, 1", "l"(a), "l"(b));
	WG("m64n8k16.f32.bf16.bf16", "{%5, %5, %5, %5}, %6, p, 1, 1, 0", "r"(r), "l"(b));
	WG("m64n8k8.f32.tf32.tf32", "%5, %6, p, 1, 1", "l"(a), "l"(b));
	WG("m64n8k32.f32.e4m3.e5m2", "%5, %6, p, 1, 1", "l"(a), "l"(b));
	asm volatile("wgmma.commit_group.sync.aligned;");
	asm volatile("wgmma.wait_group.sync.aligned 1;");
	asm volatile("wgmma.wait_group.sync.aligned 0;");
	int s[4] = {};
	asm volatile("wgmma.fence.sync.aligned;");
	asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8.satfinite " D4 ", %4, %5, 1;" : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3]) : "l"(a), "l"(b));
	asm volatile("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc " D4 ", %4, %5, 1;" : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3]) : "l"(a), "l"(b));
	unsigned h[2] = {};
	asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0, %1}, %2, %3, 1, 1, 1, 0, 0;" : "+r"(h[0]), "+r"(h[1]) : "l"(a), "l"(b));
	asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 " D4 ", %4, %5, %6, 0, 1, 1, 1, 0, 0;" : F4 : "l"(a), "l"(b), "r"(r));
	asm volatile("wgmma.commit_group.sync.aligned;");
	asm volatile("wgmma.wait_group.sync.aligned 0;");
	out[0] = f[0] + f[1] + f[2] + f[3] + (float)(s[0] + s[1] + s[2] + s[3] + h[0] + h[1]);
	asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
	asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
}
#endif

#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL)
#define T(...) asm volatile(__VA_ARGS__)
#define TMMA(kind) T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::" kind " [%0], %1, %2, %3, p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k))
#define TMMA2(kind) T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::2.kind::" kind " [%0], %1, %2, %3, p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k))
__global__ void tcgen05_single(unsigned *out, unsigned long long a, unsigned long long b, unsigned t, unsigned s, int k)
{
	unsigned r, q;
	T("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(s));
	T("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(s), "r"(k));
	T("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
	TMMA("f16");
	TMMA("tf32");
	TMMA("f8f6f4");
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], [%5], %2, %3, p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k), "r"(t + 4));
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, {%4, %4, %4, %4}, p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k));
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.sp.cta_group::1.kind::f16 [%0], %1, %2, [%5], %3, p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k), "r"(t + 4));
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%5], [%5], p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k), "r"(t + 4));
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%0], %1, %2, %3, [%5], [%5], p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k), "r"(t + 4));
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%5], [%5], p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k), "r"(t + 4));
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.ws.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k));
	T("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(s));
	T("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(s), "h"((short)k));
	T("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(t), "l"(a));
	T("tcgen05.cp.cta_group::1.4x256b [%0], %1;" ::"r"(t), "l"(a));
	T("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(t), "l"(a));
	T("tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%0], %1;" ::"r"(t), "l"(a));
	T("tcgen05.cp.cta_group::1.128x256b.b8x16.b4x16_p64 [%0], %1;" ::"r"(t), "l"(a));
	T("tcgen05.shift.cta_group::1.down [%0];" ::"r"(t));
	T("tcgen05.fence::before_thread_sync;");
	T("tcgen05.fence::after_thread_sync;");
	T("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(r) : "r"(t));
	T("tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%0, %1}, [%2];" : "=r"(r), "=r"(q) : "r"(t));
	T("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%0}, [%1];" : "=r"(r) : "r"(t));
	T("tcgen05.ld.sync.aligned.16x128b.x1.b32 {%0, %1}, [%2];" : "=r"(r), "=r"(q) : "r"(t));
	T("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%0, %1, %2, %3}, [%4];" : "=r"(out[4]), "=r"(out[5]), "=r"(out[6]), "=r"(out[7]) : "r"(t));
	T("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%0}, [%1], 8;" : "=r"(r) : "r"(t));
	T("tcgen05.wait::ld.sync.aligned;");
	T("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(t), "r"(q));
	T("tcgen05.st.sync.aligned.16x128b.x1.unpack::16b.b32 [%0], {%1, %2};" ::"r"(t), "r"(q), "r"(r));
	T("tcgen05.st.sync.aligned.16x256b.x1.b32 [%0], {%1, %2, %1, %2};" ::"r"(t), "r"(q), "r"(r));
	T("tcgen05.wait::st.sync.aligned;");
	T("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(t));
	out[0] = r + q;
}
__global__ void tcgen05_pair(unsigned *out, unsigned long long a, unsigned long long b, unsigned t, unsigned s, int k)
{
	
	T("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(s));
	T("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(s), "r"(k));
	T("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;");
	TMMA2("f16");
	TMMA2("tf32");
	TMMA2("f8f6f4");
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::2.kind::f16 [%0], [%5], %2, %3, p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k), "r"(t + 4));
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.sp.cta_group::2.kind::f16 [%0], %1, %2, [%5], %3, p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k), "r"(t + 4));
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%5], [%5], p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k), "r"(t + 4));
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::2.kind::mxf4.block_scale.scale_vec::2X [%0], %1, %2, %3, [%5], [%5], p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k), "r"(t + 4));
	T("{.reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%5], [%5], p;}" ::"r"(t), "l"(a), "l"(b), "r"(k), "r"(k), "r"(t + 4));
	T("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(s));
	T("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(s), "h"((short)k));
	T("tcgen05.cp.cta_group::2.128x256b [%0], %1;" ::"r"(t), "l"(a));
	T("tcgen05.cp.cta_group::2.4x256b [%0], %1;" ::"r"(t), "l"(a));
	T("tcgen05.cp.cta_group::2.32x128b.warpx4 [%0], %1;" ::"r"(t), "l"(a));
	T("tcgen05.cp.cta_group::2.64x128b.warpx2::02_13 [%0], %1;" ::"r"(t), "l"(a));
	T("tcgen05.cp.cta_group::2.128x256b.b8x16.b4x16_p64 [%0], %1;" ::"r"(t), "l"(a));
	T("tcgen05.shift.cta_group::2.down [%0];" ::"r"(t));
	T("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 64;" ::"r"(t));
}
#endif
