/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays, textures and surfaces of a program of the runtime API. usage: test_images FATBIN
 *
 * Kernels: tests/sim/kernels/texture.cu. How texels are read is tested there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rt.h"

enum { WIDTH = 8, HEIGHT = 6, SIZE = 8, LAYERS = 3 };

static char sample_1d, sample_2d, turn_planes;

static void launch(char *kernel, unsigned blocks, unsigned threads, void **args)
{
	const dim3 grid = { blocks, 1, 1 }, block = { threads, 1, 1 };
	OK(cudaLaunchKernel(kernel, grid, block, args, 0, NULL));
}

/* Reads a texture at places of `n_axes` coordinates. */
static void sample(cudaTextureObject_t t, const float *at, int n, int n_axes, float *ret)
{
	void *places, *out;
	size_t n_bytes = sizeof *at * (size_t)(n * n_axes);
	OK(cudaMalloc(&places, n_bytes));
	OK(cudaMalloc(&out, sizeof *ret * (size_t)n));
	OK(cudaMemcpy(places, at, n_bytes, cudaMemcpyHostToDevice));
	void *args[] = { &out, &t, &places, &n };
	launch(n_axes == 1 ? &sample_1d : &sample_2d, 1, 32, args);
	OK(cudaMemcpy(ret, out, sizeof *ret * (size_t)n, cudaMemcpyDeviceToHost));
	OK(cudaFree(places));
	OK(cudaFree(out));
}

static cudaArray_t plane_of_floats(float (*rows)[WIDTH + 2])
{
	const struct cudaChannelFormatDesc real =
		cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	cudaArray_t array;
	OK(cudaMallocArray(&array, &real, WIDTH, HEIGHT, 0));
	OK(cudaMemcpy2DToArray(array, 0, 0, rows, sizeof *rows, 4 * WIDTH, HEIGHT,
			       cudaMemcpyHostToDevice));
	return array;
}

static void a_texture_reads_an_array(void **state)
{
	float rows[HEIGHT][WIDTH + 2], back[HEIGHT][WIDTH], out[4];
	const float at[] = { 2.5f, 3.5f, 3.0f, 3.5f, -4.0f, 0.0f, 100.0f, 5.5f };
	struct cudaResourceDesc resource;
	struct cudaTextureDesc texture;
	cudaTextureObject_t near, linear, again;
	struct cudaChannelFormatDesc channel;
	struct cudaExtent extent;
	unsigned flags;
	(void)state;
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH + 2; x++)
			rows[y][x] = (float)(10 * y + x);
	cudaArray_t array = plane_of_floats(rows);
	memset(&resource, 0, sizeof resource);
	memset(&texture, 0, sizeof texture);
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp;
	OK(cudaCreateTextureObject(&near, &resource, &texture, NULL));
	texture.filterMode = cudaFilterModeLinear;
	OK(cudaCreateTextureObject(&linear, &resource, &texture, NULL));
	sample(near, at, 4, 2, out);
	assert_true(out[0] == 32 && out[1] == 33 && out[2] == 0 && out[3] == 57);
	sample(linear, at, 4, 2, out);
	assert_true(out[0] == 32 && out[1] == 32.5f);
	OK(cudaMemcpy2DFromArray(back, sizeof *back, array, 0, 0, sizeof *back, HEIGHT,
				 cudaMemcpyDeviceToHost));
	assert_true(back[4][7] == 47 && back[0][0] == 0);
	OK(cudaMemcpyFromArray(back, array, 4 * 7, 1, 4 * 9, cudaMemcpyDeviceToHost));
	assert_true(back[0][0] == 17 && back[0][1] == 20 && back[1][0] == 27);
	OK(cudaArrayGetInfo(&channel, &extent, &flags, array));
	assert_int_equal(channel.x, 32);
	assert_int_equal(channel.f, cudaChannelFormatKindFloat);
	assert_true(extent.width == WIDTH && extent.height == HEIGHT && extent.depth == 0);
	OK(cudaCreateTextureObject(&again, &resource, &texture, NULL));
	OK(cudaDestroyTextureObject(again)); /* another one, though it is the same */
	OK(cudaDestroyTextureObject(linear));
	OK(cudaCreateTextureObject(&again, &resource, &texture, NULL));
	assert_true(again == linear || again == linear + 1); /* used again */
	assert_int_equal(cudaDestroyTextureObject(0), cudaErrorInvalidValue);
	OK(cudaDestroyTextureObject(again));
	OK(cudaDestroyTextureObject(near));
	OK(cudaFreeArray(array));
}

static void a_texture_reads_memory(void **state)
{
	unsigned char bytes[HEIGHT][512];
	const float at[] = { 2.5f, 3.5f, 7.5f, 1.5f };
	struct cudaResourceDesc resource;
	struct cudaTextureDesc texture;
	cudaTextureObject_t t;
	float out[2];
	void *plane;
	size_t pitch;
	(void)state;
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < 512; x++)
			bytes[y][x] = (unsigned char)(51 * y + x);
	OK(cudaMallocPitch(&plane, &pitch, WIDTH, HEIGHT));
	OK(cudaMemcpy2D(plane, pitch, bytes, 512, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
	memset(&resource, 0, sizeof resource);
	memset(&texture, 0, sizeof texture);
	resource.resType = cudaResourceTypePitch2D;
	resource.res.pitch2D.devPtr = plane;
	resource.res.pitch2D.desc =
		cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
	resource.res.pitch2D.width = WIDTH;
	resource.res.pitch2D.height = HEIGHT;
	resource.res.pitch2D.pitchInBytes = pitch;
	texture.readMode = cudaReadModeNormalizedFloat;
	OK(cudaCreateTextureObject(&t, &resource, &texture, NULL));
	sample(t, at, 2, 2, out);
	assert_true(out[0] == 155 / 255.0f && out[1] == 58 / 255.0f);
	OK(cudaDestroyTextureObject(t));
	resource.resType = cudaResourceTypeMipmappedArray;
	assert_int_equal(cudaCreateTextureObject(&t, &resource, &texture, NULL),
			 cudaErrorNotSupported);
	(void)cudaGetLastError();
	OK(cudaFree(plane));
}

/* A cube of floats in an array, from memory that has gaps. */
static cudaArray_t box_of_floats(float (*values)[SIZE][SIZE + 1], size_t depth, unsigned flags)
{
	const struct cudaChannelFormatDesc real =
		cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	const struct cudaExtent extent = { SIZE, depth ? SIZE : 0, depth };
	const struct cudaExtent whole = { SIZE, SIZE, depth ? depth : 1 };
	const struct cudaExtent plane = { SIZE, SIZE, 0 };
	struct cudaMemcpy3DParms copy;
	cudaArray_t array;
	OK(cudaMalloc3DArray(&array, &real, depth ? extent : plane, flags));
	memset(&copy, 0, sizeof copy);
	copy.srcPtr.ptr = values;
	copy.srcPtr.pitch = sizeof **values;
	copy.srcPtr.xsize = SIZE;
	copy.srcPtr.ysize = SIZE;
	copy.dstArray = array;
	copy.extent = whole;
	copy.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&copy));
	return array;
}

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
	struct cudaResourceDesc resource;
	cudaSurfaceObject_t surface;
	memset(&resource, 0, sizeof resource);
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	OK(cudaCreateSurfaceObject(&surface, &resource));
	return surface;
}

static void surfaces_are_written(void **state)
{
	static float values[LAYERS][SIZE][SIZE + 1];
	float back[2][3][4];
	int size = SIZE;
	struct cudaMemcpy3DParms copy;
	(void)state;
	for (int z = 0; z < LAYERS; z++)
		for (int y = 0; y < SIZE; y++)
			for (int x = 0; x < SIZE; x++)
				values[z][y][x] = (float)(100 * z + 10 * y + x);
	cudaArray_t plane = box_of_floats(values, 0, cudaArraySurfaceLoadStore);
	cudaArray_t space = box_of_floats(values, LAYERS, cudaArraySurfaceLoadStore);
	cudaArray_t planes =
		box_of_floats(values, LAYERS, cudaArraySurfaceLoadStore | cudaArrayLayered);
	cudaSurfaceObject_t a = surface_of(plane), b = surface_of(space), c = surface_of(planes);
	void *args[] = { &a, &b, &c, &size };
	launch(&turn_planes, SIZE, SIZE, args);
	memset(&copy, 0, sizeof copy);
	copy.srcArray = space;
	copy.srcPos.x = 3;
	copy.srcPos.y = 2;
	copy.srcPos.z = 1;
	copy.dstPtr.ptr = back;
	copy.dstPtr.pitch = sizeof **back;
	copy.dstPtr.ysize = 3;
	copy.extent.width = 4;
	copy.extent.height = 3;
	copy.extent.depth = 2;
	copy.kind = cudaMemcpyDeviceToHost;
	OK(cudaMemcpy3D(&copy));
	assert_true(back[0][0][0] == 123 && back[0][2][3] == 146);
	/* of x = 4, y = 3: other + last of the thread that has them turned */
	assert_true(back[1][1][1] == 234 + 143);
	OK(cudaDestroySurfaceObject(a));
	OK(cudaDestroySurfaceObject(b));
	OK(cudaDestroySurfaceObject(c));
	OK(cudaFreeArray(plane));
	OK(cudaFreeArray(space));
	OK(cudaFreeArray(planes));
}

static void boxes_of_memory_are_set(void **state)
{
	const struct cudaExtent box = { 5, 3, 2 }, whole = { 9, 4, 2 };
	const struct cudaExtent deep = { 1, 1, SIZE_MAX }, empty = { 0, 1, SIZE_MAX };
	const struct cudaExtent huge = { 1, SIZE_MAX, 3 };
	struct cudaPitchedPtr at, flat;
	unsigned char back[4096], want[4096];
	(void)state;
	OK(cudaMalloc3D(&at, whole));
	assert_true(at.pitch >= 9 && at.xsize == 9 && at.ysize == 4 && at.pitch * 8 <= sizeof back);
	OK(cudaMemset3D(at, 1, whole));
	OK(cudaMemset3DAsync(at, 7, box, NULL));
	OK(cudaMemset3D(at, 9, empty)); /* at once, however deep */
	OK(cudaMemcpy(back, at.ptr, at.pitch * 8, cudaMemcpyDeviceToHost));
	memcpy(want, back, sizeof want);
	for (size_t y = 0; y < 8; y++)
		for (size_t x = 0; x < 9; x++)
			want[y * at.pitch + x] = x < 5 && y % 4 < 3 ? 7 : 1;
	assert_memory_equal(back, want, at.pitch * 8);
	/* slices that lie on each other would have no end */
	flat = at;
	flat.ysize = 0;
	assert_int_equal(cudaMemset3D(flat, 1, deep), cudaErrorInvalidValue);
	flat = at;
	flat.pitch = 0;
	assert_int_equal(cudaMemset3DAsync(flat, 1, deep, NULL), cudaErrorInvalidValue);
	assert_int_equal(cudaMemset3D(at, 1, deep), cudaErrorInvalidValue);
	assert_int_equal(cudaMalloc3D(&flat, huge), cudaErrorInvalidValue);
	OK(cudaFree(at.ptr));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_texture_reads_an_array),
		cmocka_unit_test(a_texture_reads_memory),
		cmocka_unit_test(surfaces_are_written),
		cmocka_unit_test(boxes_of_memory_are_set),
	};
	static const struct kernel_name kernels[] = { { &sample_1d, "sample_1d" },
						      { &sample_2d, "sample_2d" },
						      { &turn_planes, "turn_planes" } };
	if (argc != 2)
		return 2;
	__cudaRegisterFatBinaryEnd(register_image(argv[1], kernels, N_OF(kernels)));
	return cmocka_run_group_tests_name("arrays, textures and surfaces", tests, NULL, NULL);
}
