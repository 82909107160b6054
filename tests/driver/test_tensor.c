/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor maps of a program of the driver API, and the tiles that kernels load by them. How tiles
 * are copied is tested in tests/sim. usage: test_tensor FATBIN (tests/sim/kernels/bulk.cu)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api.h"

enum {
	COLUMNS = 20, /* of the tensor, in words */
	ROWS = 10,
	PITCH = 24, /* from one row to the next */
	WIDE = 8,   /* of a tile */
	HIGH = 4,
	SHOWN = 2048, /* words that the kernel shows */
	NOTHING = 0x55555555,
};

static const char *fatbin;
static CUfunction load, load_pixels;
static CUdeviceptr at, out;
static uint32_t words[ROWS * PITCH];

/* What a program has of the map that it asks for. */
struct asked {
	CUtensorMapDataType type;
	uint32_t n_dims;
	uint64_t dims[2], stride;
	uint32_t box[2], steps[2];
	CUtensorMapInterleave interleave;
	CUtensorMapSwizzle swizzle;
	CUtensorMapFloatOOBfill fill;
	uint64_t off; /* of the address */
};

static const struct asked usual = {
	.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
	.n_dims = 2,
	.dims = { COLUMNS, ROWS },
	.stride = 4 * PITCH,
	.box = { WIDE, HIGH },
	.steps = { 1, 1 },
};

static CUresult encode(const struct asked *asked, CUtensorMap *ret_map)
{
	return cuTensorMapEncodeTiled(
		ret_map, asked->type, asked->n_dims, (void *)(uintptr_t)(at + asked->off),
		asked->dims, &asked->stride, asked->box, asked->steps, asked->interleave,
		asked->swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, asked->fill);
}

static int setup(void **state)
{
	CUcontext context;
	CUmodule module;
	(void)state;
	for (unsigned i = 0; i < ROWS * PITCH; i++)
		words[i] = 1000 + i;
	return cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
	       cuCtxSetCurrent(context) != CUDA_SUCCESS ||
	       cuModuleLoad(&module, fatbin) != CUDA_SUCCESS ||
	       cuModuleGetFunction(&load, module, "tile_load") != CUDA_SUCCESS ||
	       cuModuleGetFunction(&load_pixels, module, "pixels_load") != CUDA_SUCCESS ||
	       cuMemAlloc(&at, sizeof words) != CUDA_SUCCESS ||
	       cuMemAlloc(&out, SHOWN * 4) != CUDA_SUCCESS ||
	       cuMemcpyHtoD(at, words, sizeof words) != CUDA_SUCCESS;
}

static int teardown(void **state)
{
	(void)state;
	return cuDevicePrimaryCtxRelease(0) != CUDA_SUCCESS;
}

/* The tile at a corner, as it lies in shared memory. */
static void show(const struct asked *asked, int column, int row, uint32_t *ret_words)
{
	CUtensorMap map;
	struct {
		int at[5];
	} corner = { { column, row, 0, 0, 0 } };
	int n_dims = 2;
	uint32_t n_bytes = WIDE * HIGH * 4;
	void *args[] = { &out, &map, &corner, &n_dims, &n_bytes };
	assert_int_equal(encode(asked, &map), CUDA_SUCCESS);
	assert_int_equal(cuLaunchKernel(load, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL),
			 CUDA_SUCCESS);
	assert_int_equal(cuMemcpyDtoH(ret_words, out, SHOWN * 4), CUDA_SUCCESS);
}

static uint32_t word_at(int column, int row)
{
	bool is_in = column >= 0 && column < COLUMNS && row >= 0 && row < ROWS;
	return is_in ? words[row * PITCH + column] : 0;
}

static void tiles_are_loaded(void **state)
{
	static const int corners[][2] = { { 0, 0 }, { 4, 3 }, { 16, 8 }, { -3, -1 } };
	static uint32_t shown[SHOWN];
	(void)state;
	for (unsigned k = 0; k < sizeof corners / sizeof corners[0]; k++) {
		const int *from = corners[k];
		show(&usual, from[0], from[1], shown);
		for (int i = 0; i < WIDE * HIGH; i++)
			assert_int_equal(shown[i], word_at(from[0] + i % WIDE, from[1] + i / WIDE));
		assert_int_equal(shown[WIDE * HIGH], NOTHING);
	}
}

/* Each second column of every row, and 16-byte halves of a row that change places. */
static void steps_and_swizzles_count(void **state)
{
	static uint32_t shown[SHOWN];
	struct asked asked = usual;
	(void)state;
	asked.steps[1] = 2;
	asked.box[1] = 2 * HIGH;
	show(&asked, 0, 0, shown);
	for (int i = 0; i < WIDE * HIGH; i++)
		assert_int_equal(shown[i], word_at(i % WIDE, i / WIDE * 2));
	asked = usual;
	asked.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
	asked.box[1] = HIGH;
	show(&asked, 0, 0, shown);
	for (int i = 0; i < WIDE * HIGH; i++) {
		int half = i / 4 % 2 ^ i / 32 % 2; /* each 128 bytes */
		assert_int_equal(shown[i], word_at(half * 4 + i % 4, i / WIDE));
	}
}

/* The same bytes as elements of two and of eight bytes: the types' numbers are the vendor's. */
static void types_have_their_sizes(void **state)
{
	static uint32_t shown[SHOWN];
	struct asked asked = usual;
	(void)state;
	asked.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
	asked.dims[0] = COLUMNS / 2;
	asked.box[0] = WIDE / 2;
	show(&asked, 2, 1, shown);
	for (int i = 0; i < WIDE * HIGH; i++)
		assert_int_equal(shown[i], word_at(4 + i % WIDE, 1 + i / WIDE));
	asked.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
	asked.dims[0] = COLUMNS * 2;
	asked.box[0] = WIDE * 2;
	show(&asked, 8, 1, shown);
	for (int i = 0; i < WIDE * HIGH; i++)
		assert_int_equal(shown[i], word_at(4 + i % WIDE, 1 + i / WIDE));
}

/* A tensor of 4 channels, 5 columns and rows of pixels in a box with a border on the left. */
static CUresult encode_pixels(uint32_t n_dims, uint32_t channels, int lower, CUtensorMap *ret_map)
{
	const uint64_t dims[] = { 4, 5, 8 }, strides[] = { 16, 96 };
	const uint32_t steps[] = { 1, 1, 1 };
	const int upper = -1;
	return cuTensorMapEncodeIm2col(ret_map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, n_dims,
				       (void *)(uintptr_t)at, dims, strides, &lower, &upper,
				       channels, 12, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
				       CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
				       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static void pixels_are_loaded(void **state)
{
	static uint32_t shown[SHOWN];
	CUtensorMap map;
	struct {
		int at[5];
	} corner = { { 0, 2, 1 } }, offset = { { 1 } };
	int n_dims = 3, column = 2, image = 1;
	uint32_t n_bytes = 12 * 16;
	void *args[] = { &out, &map, &corner, &offset, &n_dims, &n_bytes };
	(void)state;
	assert_int_equal(encode_pixels(3, 4, -1, &map), CUDA_SUCCESS);
	assert_int_equal(cuLaunchKernel(load_pixels, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL),
			 CUDA_SUCCESS);
	assert_int_equal(cuMemcpyDtoH(shown, out, sizeof shown), CUDA_SUCCESS);
	for (int pixel = 0; pixel < 12; pixel++) {
		for (int k = 0; k < 4; k++)
			assert_int_equal(shown[4 * pixel + k],
					 words[image * 24 + (column + 1) * 4 + k]);
		if (++column > 3) { /* 5 - 1 - 1 */
			column = -1;
			image++;
		}
	}
	assert_int_equal(encode_pixels(2, 4, -1, &map), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(encode_pixels(3, 257, -1, &map), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(encode_pixels(3, 4, -32769, &map), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(encode_pixels(3, 4, -1, NULL), CUDA_ERROR_INVALID_VALUE);
}

#define REFUSED(member, value, result)                            \
	do {                                                      \
		struct asked asked = usual;                       \
		asked.member = (value);                           \
		assert_int_equal(encode(&asked, &map), (result)); \
	} while (0)

static void what_cannot_be_is_refused(void **state)
{
	CUtensorMap map, kept;
	(void)state;
	memset(&map, 7, sizeof map);
	kept = map;
	REFUSED(n_dims, 0, CUDA_ERROR_INVALID_VALUE);
	REFUSED(n_dims, 6, CUDA_ERROR_INVALID_VALUE);
	REFUSED(dims[1], 0, CUDA_ERROR_INVALID_VALUE);
	REFUSED(stride, 4 * PITCH + 4, CUDA_ERROR_INVALID_VALUE);
	REFUSED(box[0], 257, CUDA_ERROR_INVALID_VALUE);
	REFUSED(box[0], 3, CUDA_ERROR_INVALID_VALUE);
	REFUSED(steps[1], 0, CUDA_ERROR_INVALID_VALUE);
	REFUSED(steps[1], 9, CUDA_ERROR_INVALID_VALUE);
	REFUSED(off, 8, CUDA_ERROR_INVALID_VALUE);
	REFUSED(type, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CUDA_ERROR_NOT_SUPPORTED);
	REFUSED(interleave, CU_TENSOR_MAP_INTERLEAVE_16B, CUDA_ERROR_NOT_SUPPORTED);
	REFUSED(fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA, CUDA_ERROR_NOT_SUPPORTED);
	assert_memory_equal(&map, &kept, sizeof map);
	assert_int_equal(encode(&usual, (CUtensorMap *)((char *)&map + 16)),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(encode(&usual, NULL), CUDA_ERROR_INVALID_VALUE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_are_loaded),
		cmocka_unit_test(steps_and_swizzles_count),
		cmocka_unit_test(types_have_their_sizes),
		cmocka_unit_test(pixels_are_loaded),
		cmocka_unit_test(what_cannot_be_is_refused),
	};
	if (argc != 2)
		return 2;
	fatbin = argv[1];
	return cmocka_run_group_tests_name("tensor maps of a program", tests, setup, teardown);
}
