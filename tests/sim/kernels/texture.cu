// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: shapes, formats, filters, what lies outside, sizes.
#include "kernel.h"

typedef cudaTextureObject_t Texture;
typedef cudaSurfaceObject_t Surface;

KERNEL sample_1d(float *out, Texture t, const float *at, int n)
{
	int i = thread_number();
	if (i < n)
		out[i] = tex1D<float>(t, at[i]);
}

KERNEL sample_2d(float *out, Texture t, const float2 *at, int n)
{
	int i = thread_number();
	if (i < n)
		out[i] = tex2D<float>(t, at[i].x, at[i].y);
}

KERNEL sample_2d_colors(float4 *out, Texture t, const float2 *at, int n)
{
	int i = thread_number();
	if (i < n)
		out[i] = tex2D<float4>(t, at[i].x, at[i].y);
}

KERNEL sample_2d_pairs(float2 *out, Texture t, const float2 *at, int n)
{
	int i = thread_number();
	if (i < n)
		out[i] = tex2D<float2>(t, at[i].x, at[i].y);
}

KERNEL sample_3d(float *out, Texture t, const float4 *at, int n)
{
	int i = thread_number();
	if (i < n)
		out[i] = tex3D<float>(t, at[i].x, at[i].y, at[i].z);
}

KERNEL sample_layers(float2 *out, Texture lines, Texture planes, const float2 *at, const int *layer, int n)
{
	int i = thread_number();
	if (i < n)
		out[i] = make_float2(tex1DLayered<float>(lines, at[i].x, layer[i]),
				     tex2DLayered<float>(planes, at[i].x, at[i].y, layer[i]));
}

KERNEL sample_cubes(float2 *out, Texture cube, Texture cubes, const float4 *at, const int *layer, int n)
{
	int i = thread_number();
	if (i < n)
		out[i] = make_float2(texCubemap<float>(cube, at[i].x, at[i].y, at[i].z),
				     texCubemapLayered<float>(cubes, at[i].x, at[i].y, at[i].z, layer[i]));
}

// There is one level only: whatever chooses one, it is that.
KERNEL sample_levels(float4 *out, Texture plane, Texture planes, const float2 *at, const float *level, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	float2 dx = make_float2(level[i], 0.125f), dy = make_float2(1.5f, level[i]);
	out[i].x = tex2DLod<float>(plane, at[i].x, at[i].y, level[i]);
	out[i].y = tex2DGrad<float>(plane, at[i].x, at[i].y, dx, dy);
	out[i].z = tex2DLayeredLod<float>(planes, at[i].x, at[i].y, i & 3, level[i]);
	out[i].w = tex2DLayeredGrad<float>(planes, at[i].x, at[i].y, i & 3, dx, dy);
}

#if __CUDA_ARCH__ < 900 // later a function of the driver does it
// Four accesses, one for each thread of a quad, with the others' help.
KERNEL sample_slopes(float2 *out, Texture space, Texture cube, const float4 *at, int n)
{
	int i = thread_number(), k = i < n ? i : n - 1;
	float4 p = at[k], dx = make_float4(p.y, p.z, p.x, 0), dy = make_float4(-p.x, p.y, 0.5f, 0);
	float2 got = make_float2(tex3DGrad<float>(space, p.x, p.y, p.z, dx, dy), texCubemapGrad<float>(cube, p.x, p.y, p.z, dx, dy));
	if (i < n)
		out[i] = got;
}
#endif

KERNEL gather_2d(float4 *out, Texture t, const float2 *at, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	out[4 * i] = tex2Dgather<float4>(t, at[i].x, at[i].y, 0);
	out[4 * i + 1] = tex2Dgather<float4>(t, at[i].x, at[i].y, 1);
	out[4 * i + 2] = tex2Dgather<float4>(t, at[i].x, at[i].y, 2);
	out[4 * i + 3] = tex2Dgather<float4>(t, at[i].x, at[i].y, 3);
}

// Each thread has a handle of its own.
KERNEL sample_any(float *out, const Texture *list, const float2 *at, int n)
{
	int i = thread_number();
	if (i < n)
		out[i] = tex2D<float>(list[i * 7 % 5], at[i].x, at[i].y);
}

KERNEL fetch_integers(u32 *out, Texture bytes, Texture shorts, Texture words, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	uchar4 four = tex1Dfetch<uchar4>(bytes, i - 3);
	short2 two = tex1Dfetch<short2>(shorts, i - 3);
	out[6 * i] = four.x | (u32)four.y << 8 | (u32)four.z << 16 | (u32)four.w << 24;
	out[6 * i + 1] = (u32)(int)two.x;
	out[6 * i + 2] = (u32)(int)two.y;
	out[6 * i + 3] = tex1Dfetch<u32>(words, i - 3);
	out[6 * i + 4] = tex2D<uchar4>(bytes, (float)i, 0.0f).z;
	out[6 * i + 5] = (u32)tex1D<short2>(shorts, (float)i).y;
}

KERNEL fetch_places(float *out, Texture space, Texture planes, const int4 *at, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	float x, y;
	asm("{ .reg .f32 b, c, d; tex.3d.v4.f32.s32 {%0, b, c, d}, [%1, {%2, %3, %4, %4}]; }"
	    : "=f"(x)
	    : "l"(space), "r"(at[i].x), "r"(at[i].y), "r"(at[i].z));
	asm("{ .reg .f32 b, c, d; tex.a2d.v4.f32.s32 {%0, b, c, d}, [%1, {%2, %3, %4, %4}]; }"
	    : "=f"(y)
	    : "l"(planes), "r"(at[i].w), "r"(at[i].x), "r"(at[i].y));
	out[2 * i] = x;
	out[2 * i + 1] = y;
}

KERNEL sample_beside(float4 *out, Texture t, const float2 *at, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	float4 v;
	asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {%7, %8};"
	    : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
	    : "l"(t), "f"(at[i].x), "f"(at[i].y), "r"(3), "r"(-2));
	out[2 * i] = v;
	asm("tld4.g.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {%7, %8};"
	    : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
	    : "l"(t), "f"(at[i].x), "f"(at[i].y), "r"(-9), "r"(1));
	out[2 * i + 1] = v;
}

__device__ static u32 width(Texture t)
{
	u32 value;
	asm("txq.width.b32 %0, [%1];" : "=r"(value) : "l"(t));
	return value;
}

__device__ static u32 height(Texture t)
{
	u32 value;
	asm("txq.height.b32 %0, [%1];" : "=r"(value) : "l"(t));
	return value;
}

__device__ static u32 depth(Texture t)
{
	u32 value;
	asm("txq.depth.b32 %0, [%1];" : "=r"(value) : "l"(t));
	return value;
}

KERNEL texture_sizes(u32 *out, const Texture *list)
{
	Texture t = list[threadIdx.x];
	out[3 * threadIdx.x] = width(t);
	out[3 * threadIdx.x + 1] = height(t);
	out[3 * threadIdx.x + 2] = depth(t);
}

// Surfaces: x counts bytes.

template <class T> __device__ static void move_1d(Surface to, Surface from, int i)
{
	T value;
	surf1Dread(&value, from, i * (int)sizeof(T));
	surf1Dwrite(value, to, i * (int)sizeof(T));
}

KERNEL move_widths(Surface to, Surface from)
{
	int i = threadIdx.x, part = i / 32;
	if (part == 0)
		move_1d<unsigned char>(to, from, i); // bytes 0 to 31
	else if (part == 1)
		move_1d<ushort2>(to, from, i - 32 + 8); // 32 to 159
	else if (part == 2)
		move_1d<short>(to, from, i - 64 + 80); // 160 to 223
	else if (part == 3)
		move_1d<float2>(to, from, i - 96 + 28); // 224 to 479
	else
		move_1d<uint4>(to, from, i - 128 + 30); // 480 to 991
}

KERNEL turn_planes(Surface plane, Surface space, Surface planes, int size)
{
	int x = threadIdx.x, y = blockIdx.x;
	if (x >= size)
		return;
	float value, other, last;
	surf2Dread(&value, plane, x * 4, y);
	surf3Dread(&other, space, y * 4, x, 2);
	surf2DLayeredread(&last, planes, x * 4, y, 1);
	surf2Dwrite(value + other, plane, x * 4, y);
	surf3Dwrite(other + last, space, y * 4, x, 2);
	surf2DLayeredwrite(last + value, planes, x * 4, y, 1);
}

KERNEL turn_cubes(Surface lines, Surface cube, Surface cubes, int size)
{
	int x = threadIdx.x, face = blockIdx.x;
	if (x >= size)
		return;
	u32 value, other, last;
	surf1DLayeredread(&value, lines, x * 4, face);
	surfCubemapread(&other, cube, x * 4, x, face);
	surfCubemapLayeredread(&last, cubes, x * 4, x, 6 + face);
	surf1DLayeredwrite(value + other, lines, x * 4, face);
	surfCubemapwrite(other + last, cube, x * 4, x, face);
	surfCubemapLayeredwrite(last + value, cubes, x * 4, x, 6 + face);
}

KERNEL surface_edges(u32 *out, Surface from, Surface to, Surface other, const int2 *at, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	surf2Dread(&out[2 * i], from, at[i].x * 4, at[i].y, cudaBoundaryModeClamp);
	surf2Dread(&out[2 * i + 1], from, at[i].x * 4, at[i].y, cudaBoundaryModeZero);
	surf2Dwrite((u32)i, to, at[i].x * 4, at[i].y, cudaBoundaryModeZero);
	surf2Dwrite(0xabcdu, other, at[i].x * 4, at[i].y, cudaBoundaryModeClamp);
}

KERNEL surface_atomics(Surface words, Surface wide, const u32 *value, int n)
{
	int i = thread_number();
	if (i >= n)
		return;
	int at = i % 8 * 4;
	asm volatile("sured.b.add.1d.u32.trap [%0, {%1}], %2;" ::"l"(words), "r"(at), "r"(value[i]));
	asm volatile("sured.b.min.1d.s32.clamp [%0, {%1}], %2;" ::"l"(words), "r"(at + 32), "r"(value[i]));
	asm volatile("sured.b.max.1d.u32.trap [%0, {%1}], %2;" ::"l"(words), "r"(at + 64), "r"(value[i]));
	asm volatile("sured.b.or.1d.b32.zero [%0, {%1}], %2;" ::"l"(words), "r"(at + 4096), "r"(value[i]));
	asm volatile("sured.b.and.1d.b32.trap [%0, {%1}], %2;" ::"l"(words), "r"(at + 96), "r"(value[i] | 0xff00ff));
	asm volatile("sured.b.add.1d.u64.trap [%0, {%1}], %2;" ::"l"(wide), "r"(2 * at), "l"((u64)value[i] << 20));
}

KERNEL surface_handles(const Surface *list, int n)
{
	int i = thread_number();
	if (i < n)
		surf2Dwrite((u32)i, list[i % 3], i * 4, 1);
}

// What stops the kernel.

// Numbers that become texels, by types: [0] 4 of u8, [1] 2 of s8, [2] u16, [3] 4 of s16, [4] 2 of f16, [5] 4 of f32, [6] 2 of u32.
KERNEL write_formatted(const Surface *list, const u32 *value, int n)
{
	int i = thread_number(), which = (int)blockIdx.y, x = i % 16, y = i / 16;
	if (i >= n)
		return;
	Surface to = list[which];
	u32 a = value[4 * i], b = value[4 * i + 1], c = value[4 * i + 2], d = value[4 * i + 3];
	if (which < 4)
		asm volatile("sust.p.2d.v4.b32.trap [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(to), "r"(x), "r"(y), "r"(a), "r"(b), "r"(c), "r"(d));
	else if (which == 4)
		asm volatile("sust.p.2d.v2.b32.clamp [%0, {%1, %2}], {%3, %4};" ::"l"(to), "r"(x ? x : -3), "r"(y ? y : -5), "r"(a), "r"(b));
	else if (which == 5) // the other two components stay
		asm volatile("sust.p.2d.v2.b32.zero [%0, {%1, %2}], {%3, %4};" ::"l"(to), "r"(x + (i < 16 ? 16 : 0)), "r"(y), "r"(a), "r"(b));
	else
		asm volatile("sust.p.2d.b32.trap [%0, {%1, %2}], {%3};" ::"l"(to), "r"(x), "r"(y), "r"(a));
}

KERNEL write_outside(Surface s, int x, int y)
{
	surf2Dwrite(7u, s, ((int)threadIdx.x == 5 ? x : 0) * 4, y);
}

KERNEL use_texture(float *out, Texture t)
{
	out[threadIdx.x] = tex2D<float>(t, 0.5f, 0.5f);
}
