// Textures and surfaces: geometries, levels, gradients, gathers, queries, formatted and raw access.
#define ARGS unsigned long long t, float *out, float x, float y, float z, int i
#define TEX(text, ...) { float a, b, c, d; asm volatile(text : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : __VA_ARGS__); out[k++] = a + b + c + d; }
#define RES "{%0, %1, %2, %3}, "
__global__ void textures(ARGS)
{
	int k = 0;
	x += (float)threadIdx.x;
	TEX("tex.1d.v4.f32.s32 " RES "[%4, {%5}];", "l"(t), "r"(i))
	TEX("tex.1d.v4.f32.f32 " RES "[%4, {%5}];", "l"(t), "f"(x))
	TEX("tex.2d.v4.f32.f32 " RES "[%4, {%5, %6}];", "l"(t), "f"(x), "f"(y))
	TEX("tex.2d.v4.f32.s32 " RES "[%4, {%5, %5}];", "l"(t), "r"(i))
	TEX("tex.3d.v4.f32.f32 " RES "[%4, {%5, %6, %7, %7}];", "l"(t), "f"(x), "f"(y), "f"(z))
	TEX("tex.a1d.v4.f32.f32 " RES "[%4, {%5, %6}];", "l"(t), "r"(i), "f"(x))
	TEX("tex.a2d.v4.f32.f32 " RES "[%4, {%5, %6, %7, %7}];", "l"(t), "r"(i), "f"(x), "f"(y))
	TEX("tex.cube.v4.f32.f32 " RES "[%4, {%5, %6, %7, %7}];", "l"(t), "f"(x), "f"(y), "f"(z))
	TEX("tex.acube.v4.f32.f32 " RES "[%4, {%5, %6, %7, %8}];", "l"(t), "r"(i), "f"(x), "f"(y), "f"(z))
	TEX("tex.2dms.v4.f32.s32 " RES "[%4, {%5, %5, %5, %5}];", "l"(t), "r"(i))
	TEX("tex.a2dms.v4.f32.s32 " RES "[%4, {%5, %5, %5, %5}];", "l"(t), "r"(i))
	TEX("tex.level.2d.v4.f32.f32 " RES "[%4, {%5, %6}], %7;", "l"(t), "f"(x), "f"(y), "f"(z))
	TEX("tex.level.2d.v4.f32.s32 " RES "[%4, {%5, %5}], %5;", "l"(t), "r"(i))
	TEX("tex.level.3d.v4.f32.f32 " RES "[%4, {%5, %6, %7, %7}], %7;", "l"(t), "f"(x), "f"(y), "f"(z))
	TEX("tex.grad.2d.v4.f32.f32 " RES "[%4, {%5, %6}], {%5, %6}, {%6, %7};", "l"(t), "f"(x), "f"(y), "f"(z))
	TEX("tex.grad.1d.v4.f32.f32 " RES "[%4, {%5}], {%5}, {%6};", "l"(t), "f"(x), "f"(y))
	TEX("tex.2d.v4.f32.f32 " RES "[%4, {%5, %6}], {%7, %7};", "l"(t), "f"(x), "f"(y), "r"(i))
	TEX("tex.a2d.v4.f32.f32 " RES "[%4, {%5, %6, %7, %7}], %7;", "l"(t), "r"(i), "f"(x), "f"(y))
	TEX("tld4.r.2d.v4.f32.f32 " RES "[%4, {%5, %6}];", "l"(t), "f"(x), "f"(y))
	TEX("tld4.a.a2d.v4.f32.f32 " RES "[%4, {%5, %6, %7, %7}];", "l"(t), "r"(i), "f"(x), "f"(y))
	TEX("tld4.g.2d.v4.f32.f32 " RES "[%4, {%5, %6}], {%7, %7};", "l"(t), "f"(x), "f"(y), "r"(i))
	TEX("tld4.b.cube.v4.f32.f32 " RES "[%4, {%5, %6, %7, %7}];", "l"(t), "f"(x), "f"(y), "f"(z))
	unsigned w, h;
	asm volatile("txq.width.b32 %0, [%1];" : "=r"(w) : "l"(t));
	asm volatile("txq.height.b32 %0, [%1];" : "=r"(h) : "l"(t));
	out[k++] = (float)(w + h);
	asm volatile("txq.depth.b32 %0, [%1];" : "=r"(w) : "l"(t));
	asm volatile("txq.level.width.b32 %0, [%1], %2;" : "=r"(h) : "l"(t), "r"(i));
	out[k++] = (float)(w + h);
	asm volatile("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(w) : "l"(t));
	asm volatile("txq.num_samples.b32 %0, [%1];" : "=r"(h) : "l"(t));
	out[k++] = (float)(w + h);
	float one;
	asm volatile("{.reg .f32 a, b, c; tex.2d.v4.f32.f32 {%0, a, b, c}, [%1, {%2, %3}];}" : "=f"(one) : "l"(t), "f"(x), "f"(y));
	out[k++] = one;
	unsigned p;
	asm volatile("{.reg .f16x2 b; tex.2d.v2.f16x2.f32 {%0, b}, [%1, {%2, %3}];}" : "=r"(p) : "l"(t), "f"(x), "f"(y));
	out[k++] = (float)p;
}

#define SURF(text, ...) asm volatile(text ::__VA_ARGS__ : "memory");
#define LOAD(text, ...) { int a; asm volatile(text : "=r"(a) : __VA_ARGS__ : "memory"); v += a; }
__global__ void surfaces(unsigned long long s, int *out, int x, int y, int v)
{
	SURF("sust.b.1d.b32.trap [%0, {%1}], {%2};", "l"(s), "r"(x), "r"(v))
	SURF("sust.b.2d.b8.clamp [%0, {%1, %2}], {%3};", "l"(s), "r"(x), "r"(y), "h"((short)v))
	SURF("sust.b.2d.v4.b32.zero [%0, {%1, %2}], {%3, %3, %3, %3};", "l"(s), "r"(x), "r"(y), "r"(v))
	SURF("sust.b.2d.v2.b64.trap [%0, {%1, %2}], {%3, %3};", "l"(s), "r"(x), "r"(y), "l"((long long)v))
	SURF("sust.b.3d.b16.trap [%0, {%1, %2, %1, %1}], {%3};", "l"(s), "r"(x), "r"(y), "h"((short)v))
	SURF("sust.b.a1d.b32.trap [%0, {%1, %2}], {%3};", "l"(s), "r"(x), "r"(y), "r"(v))
	SURF("sust.b.a2d.b32.cs.trap [%0, {%1, %2, %1, %1}], {%3};", "l"(s), "r"(x), "r"(y), "r"(v))
	SURF("sust.p.2d.b32.trap [%0, {%1, %2}], {%3};", "l"(s), "r"(x), "r"(y), "r"(v))
	SURF("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;", "l"(s), "r"(x), "r"(y), "r"(v))
	SURF("sured.b.min.1d.s32.clamp [%0, {%1}], %2;", "l"(s), "r"(x), "r"(v))
	SURF("sured.b.or.3d.b32.zero [%0, {%1, %2, %1, %1}], %3;", "l"(s), "r"(x), "r"(y), "r"(v))
	SURF("sured.p.add.2d.b32.trap [%0, {%1, %2}], %3;", "l"(s), "r"(x), "r"(y), "r"(v))
	LOAD("suld.b.1d.b32.trap %0, [%1, {%2}];", "l"(s), "r"(x))
	LOAD("suld.b.2d.b32.clamp %0, [%1, {%2, %3}];", "l"(s), "r"(x), "r"(y))
	LOAD("suld.b.2d.b32.ca.zero %0, [%1, {%2, %3}];", "l"(s), "r"(x), "r"(y))
	LOAD("suld.b.3d.b32.cv.trap %0, [%1, {%2, %3, %2, %2}];", "l"(s), "r"(x), "r"(y))
	LOAD("suld.b.a2d.b32.trap %0, [%1, {%2, %3, %2, %2}];", "l"(s), "r"(x), "r"(y))
	LOAD("{.reg .b16 a; suld.b.2d.b8.trap a, [%1, {%2, %3}]; cvt.u32.u16 %0, a;}", "l"(s), "r"(x), "r"(y))
	LOAD("{.reg .b32 a, b, c; suld.b.2d.v4.b32.trap {%0, a, b, c}, [%1, {%2, %3}];}", "l"(s), "r"(x), "r"(y))
	LOAD("{.reg .b64 a, b; suld.b.2d.v2.b64.trap {a, b}, [%1, {%2, %3}]; cvt.u32.u64 %0, a;}", "l"(s), "r"(x), "r"(y))
	LOAD("suq.width.b32 %0, [%1];", "l"(s))
	*out = v;
}
