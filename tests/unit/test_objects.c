/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/reader.h"
#include "objects/mbarrier.h"
#include "objects/tensormap.h"

/* Each field of both layouts with numbers that no other field has. */
static void barrier_words_and_their_fields(void **state)
{
	(void)state;
	static const struct {
		unsigned sm;
		uint64_t word;
		struct wsi_barrier barrier;
	} cases[] = {
		/* what mbarrier.init writes for 3 arrivals: none has come */
		{ 90, 0x7fffe800001ffffa, { 3, 3, 0, 0, 0, 0, true } },
		{ 80, 0x7ffffffd3ffffffd, { 3, 3, 0, 0, 0, 0, true } },
		/* phase 1, 2 of 5 pending, 1,024 bytes announced, or 1,024 come before */
		{ 90, 0xfffff000801ffff6, { 5, 2, 1024, 1024, 1, UINT64_C(1024) << 21, true } },
		{ 100,
		  0xfffff3ff801ffff6,
		  { 5, 2, 1024, -1024, 1, UINT64_C(0x1ffc00) << 21, true } },
		{ 89, 0xfffffffe3ffffffb, { 5, 2, 0, 0, 1, 0, true } },
		/* more pending than expected; none expected; the most there can be, and all come */
		{ 90, 0x7fffe000001ffffa, { 3, 4, 0, 0, 0, 0, false } },
		{ 90, 0x0000000000000000, { 0, 0, 0, 0, 0, 0, false } },
		{ 90, 0x0000000000000002, { 0xfffff, 0, 0, 0, 0, 0, true } },
		{ 80, 0x000000003ff00001, { 0xfffff, 0, 0, 0, 0, 0, true } },
		{ 80, 0x000000003ff00000, { 0x100000, 0, 0, 0, 0, 0, false } },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct wsi_barrier b, want = cases[i].barrier;
		wsi_barrier_decode(cases[i].sm, cases[i].word, &b);
		assert_int_equal(b.expected, want.expected);
		assert_int_equal(b.pending, want.pending);
		assert_int_equal(b.bytes, want.bytes);
		assert_int_equal(b.tx, want.tx);
		assert_int_equal(b.phase, want.phase);
		assert_int_equal(b.others, want.others);
		assert_int_equal(b.in_use, want.in_use);
		assert_int_equal(wsi_barrier_encode(cases[i].sm, &b), cases[i].word);
	}
}

/* Bits that are in no field are told and not made. */
static void other_bits_of_a_barrier_word(void **state)
{
	(void)state;
	static const struct {
		unsigned sm;
		uint64_t word, others, made;
	} cases[] = {
		{ 90, 0x7fffe800001ffffb, 1, 0x7fffe800001ffffa },
		{ 90, 0x7fffec00001ffffa, UINT64_C(1) << 42, 0x7fffe800001ffffa },
		{ 80, 0x7ffffffdfffffffd, 0xc0000000, 0x7ffffffd3ffffffd },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct wsi_barrier b;
		wsi_barrier_decode(cases[i].sm, cases[i].word, &b);
		assert_int_equal(b.expected, 3);
		assert_int_equal(b.pending, 3);
		assert_int_equal(b.others, cases[i].others);
		assert_int_equal(wsi_barrier_encode(cases[i].sm, &b), cases[i].made);
	}
}

/* The bytes of a map whose fields all differ, written by hand from the layout. */
static void tensor_map_of_five_dimensions(void **state)
{
	(void)state;
	static const struct wsi_tensor_map map = {
		.address = 0x7f1234567890,
		.rank = 5,
		.element = 9,
		.interleave = 2,
		.swizzle = 1,
		.fills_nan = true,
		.stride = { 0x10, 0x2000000030, 0xf000000050, 0x8000000070 },
		.dim = { 1, 0x100000000, 3, 0x12345, 5 },
		.box = { 256, 2, 3, 4, 5 },
		.step = { 8, 1, 2, 3, 4 },
	};
	uint8_t want[WSI_TENSOR_MAP_BYTES] = { 0 }, bytes[WSI_TENSOR_MAP_BYTES];
	static const uint32_t words[] = {
		0x34567890,
		0x00007f12,
		4u << 4 | 9u << 7 | 2u << 11 | 1u << 13 | 1u << 15,
		1,
		3,
		5,
		7,                               /* strides / 16 */
		0x2 << 4 | 0xf << 8 | 0x8 << 12, /* their upper bits */
		0,
		0xffffffff,
		2,
		0x12344,
		4,
		255u << 24 | 7 | 0 << 3 | 1 << 6 | 2 << 9 | 3 << 12,
		1 | 2 << 8 | 3 << 16 | 4 << 24,
	};
	for (size_t i = 0; i < WSI_COUNT(words); i++)
		wsi_store_u32(want + 4 * i, words[i]);
	wsi_tensor_map_encode(&map, bytes);
	assert_memory_equal(bytes, want, sizeof want);
	struct wsi_tensor_map got;
	wsi_tensor_map_decode(bytes, &got);
	assert_int_equal(got.address, map.address);
	assert_int_equal(got.rank, map.rank);
	assert_int_equal(got.element, map.element);
	assert_int_equal(got.interleave, map.interleave);
	assert_int_equal(got.swizzle, map.swizzle);
	assert_true(got.fills_nan);
	assert_false(got.other_swizzle);
	assert_false(got.all_zero);
	assert_memory_equal(got.stride, map.stride, sizeof map.stride);
	assert_memory_equal(got.dim, map.dim, sizeof map.dim);
	assert_memory_equal(got.box, map.box, sizeof map.box);
	assert_memory_equal(got.step, map.step, sizeof map.step);
}

static void tensor_map_of_two_dimensions_leaves_the_others_zero(void **state)
{
	(void)state;
	static const struct wsi_tensor_map map = {
		.address = 1,
		.rank = 2,
		.element = 6,
		.swizzle = 3,
		.stride = { 32, 48 },
		.dim = { 9, 8, 7 },
		.box = { 2, 3, 4 },
		.step = { 1, 1, 2 },
	};
	static const uint32_t words[] = {
		1, 0, 1u << 4 | 6u << 7 | 3u << 13, 2, 0, 0, 0, 0, 8, 7, 0, 0, 0, 1u << 24, 2, 0
	};
	uint8_t bytes[WSI_TENSOR_MAP_BYTES];
	memset(bytes, 0xff, sizeof bytes);
	wsi_tensor_map_encode(&map, bytes);
	for (size_t i = 0; i < WSI_COUNT(words); i++)
		assert_int_equal(wsi_load_u32(bytes + 4 * i), words[i]);
	for (size_t i = 4 * WSI_COUNT(words); i < sizeof bytes; i++)
		assert_int_equal(bytes[i], 0);
}

/* For im2col there are corners below and above, which may be negative, channels and pixels. */
static void tensor_map_for_im2col(void **state)
{
	(void)state;
	static const struct wsi_tensor_map map = {
		.rank = 5,
		.dim = { 1, 1, 1, 1, 1 },
		.box = { 1, 1, 1, 1, 1 },
		.step = { 1, 1, 1, 1, 1 },
		.im2col = true,
		.lower = { -1, 0x102, -32768 },
		.upper = { 0x304, -2, 32767 },
		.channels = 0xff06,
		.pixels = 0xfe07,
	};
	static const uint32_t words[] = { 1, 0x0102ffff, 0x03048000, 0x7ffffffe, 0xfe07ff06, 0 };
	uint8_t bytes[WSI_TENSOR_MAP_BYTES];
	struct wsi_tensor_map got;
	wsi_tensor_map_encode(&map, bytes);
	for (size_t i = 0; i < WSI_COUNT(words); i++)
		assert_int_equal(wsi_load_u32(bytes + 64 + 4 * i), words[i]);
	wsi_tensor_map_decode(bytes, &got);
	assert_true(got.im2col);
	assert_memory_equal(got.lower, map.lower, sizeof map.lower);
	assert_memory_equal(got.upper, map.upper, sizeof map.upper);
	assert_int_equal(got.channels, map.channels);
	assert_int_equal(got.pixels, map.pixels);
	for (uint32_t mark = 0; mark <= 2; mark += 2) { /* without it the bytes are nobody's */
		wsi_store_u32(bytes + 64, mark);
		wsi_tensor_map_decode(bytes, &got);
		assert_false(got.im2col);
		assert_int_equal(got.lower[0] | got.upper[0], 0);
		assert_int_equal(got.channels | got.pixels, 0);
	}
}

static void marks_of_a_tensor_map(void **state)
{
	(void)state;
	uint8_t bytes[WSI_TENSOR_MAP_BYTES] = { 0 };
	struct wsi_tensor_map map;
	wsi_tensor_map_decode(bytes, &map);
	assert_true(map.all_zero);
	assert_false(map.fills_nan);
	bytes[127] = 1;
	wsi_tensor_map_decode(bytes, &map);
	assert_false(map.all_zero);
	for (uint32_t bit = 19; bit <= 22; bit++) {
		wsi_store_u32(bytes + 8, 1u << bit);
		wsi_tensor_map_decode(bytes, &map);
		assert_true(map.other_swizzle);
	}
	for (uint32_t bit = 18; bit <= 23; bit += 5) {
		wsi_store_u32(bytes + 8, 1u << bit);
		wsi_tensor_map_decode(bytes, &map);
		assert_false(map.other_swizzle);
	}
}

static void elements_of_a_tensor_map(void **state)
{
	(void)state;
	static const struct {
		uint32_t word;
		const char *name;
		uint32_t bytes;
	} cases[] = {
		{ 0, "u8", 1 },
		{ 6 << 7, "f16", 2 },
		{ 7 << 7, "f32", 4 },
		{ 9 << 7, "f64", 8 },
		{ 10 << 7, "bf16", 2 },
		{ 7 << 7 | 1 << 16, "tf32", 4 },
		{ 8 << 7 | 1 << 16, "tf32.ftz", 4 },
		{ 12 << 7, "tf32.ftz", 4 },
		{ 13 << 7, NULL, 0 },
		{ 9 << 7 | 1 << 16, NULL, 0 },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		uint8_t bytes[WSI_TENSOR_MAP_BYTES] = { 0 };
		struct wsi_tensor_map map;
		wsi_store_u32(bytes + 8, cases[i].word);
		wsi_tensor_map_decode(bytes, &map);
		if (cases[i].name)
			assert_string_equal(wsi_tensor_map_element(&map), cases[i].name);
		else
			assert_null(wsi_tensor_map_element(&map));
		assert_int_equal(wsi_tensor_map_element_bytes(&map), cases[i].bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(barrier_words_and_their_fields),
		cmocka_unit_test(other_bits_of_a_barrier_word),
		cmocka_unit_test(tensor_map_of_five_dimensions),
		cmocka_unit_test(tensor_map_of_two_dimensions_leaves_the_others_zero),
		cmocka_unit_test(tensor_map_for_im2col),
		cmocka_unit_test(marks_of_a_tensor_map),
		cmocka_unit_test(elements_of_a_tensor_map),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
