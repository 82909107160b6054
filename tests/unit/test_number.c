/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and their bytes: floats of every width, bit fields, signs. */
#include "unit.h"

#include <math.h>

#include "base/reader.h"
#include "vars/vars.h"

static struct wsi_type_shape float_of(enum wsi_small_float small, uint64_t size)
{
	return (struct wsi_type_shape){
		.kind = WS_KIND_BASE, .encoding = WS_ENCODING_FLOAT, .small = small, .size = size
	};
}

static double value_of(enum wsi_small_float small, uint64_t size, uint64_t bits)
{
	const struct wsi_type_shape shape = float_of(small, size);
	struct ws_number number;
	uint8_t bytes[8];
	wsi_store_u64(bytes, bits);
	assert_true(wsi_number_of(&shape, bytes, 0, 0, &number));
	assert_true(number.is_float);
	return number.real;
}

static void floats_of_every_format(void **state)
{
	(void)state;
	static const struct {
		enum wsi_small_float small;
		uint64_t size, bits;
		double value;
	} cases[] = {
		{ WSI_FLOAT_HALF, 2, 0x3c00, 1 },
		{ WSI_FLOAT_HALF, 2, 0xc100, -2.5 },
		{ WSI_FLOAT_HALF, 2, 0x0001, 0x1p-24 },
		{ WSI_FLOAT_HALF, 2, 0x0400, 0x1p-14 },
		{ WSI_FLOAT_HALF, 2, 0x7bff, 65504 },
		{ WSI_FLOAT_HALF, 2, 0x7c00, INFINITY },
		{ WSI_FLOAT_HALF, 2, 0xfc00, -INFINITY },
		{ WSI_FLOAT_HALF, 2, 0x7e00, NAN },
		{ WSI_FLOAT_HALF, 2, 0xfe01, -NAN },
		{ WSI_FLOAT_BF16, 2, 0x3fc0, 1.5 },
		{ WSI_FLOAT_BF16, 2, 0xff80, -INFINITY },
		{ WSI_FLOAT_BF16, 2, 0x0001, 0x1p-133 },
		{ WSI_FLOAT_E4M3, 1, 0x38, 1 },
		{ WSI_FLOAT_E4M3, 1, 0x7e, 448 },
		{ WSI_FLOAT_E4M3, 1, 0x78, 256 },
		{ WSI_FLOAT_E4M3, 1, 0x7f, NAN },
		{ WSI_FLOAT_E4M3, 1, 0xff, -NAN },
		{ WSI_FLOAT_E4M3, 1, 0x81, -0x1p-9 },
		{ WSI_FLOAT_E5M2, 1, 0x3c, 1 },
		{ WSI_FLOAT_E5M2, 1, 0x7b, 57344 },
		{ WSI_FLOAT_E5M2, 1, 0x7c, INFINITY },
		{ WSI_FLOAT_E5M2, 1, 0x7d, NAN },
		{ WSI_FLOAT_E8M0, 1, 0x7f, 1 },
		{ WSI_FLOAT_E8M0, 1, 0x00, 0x1p-127 },
		{ WSI_FLOAT_E8M0, 1, 0xfe, 0x1p127 },
		{ WSI_FLOAT_E8M0, 1, 0xff, NAN },
		{ WSI_FLOAT_E3M2, 1, 0x1f, 28 },
		{ WSI_FLOAT_E3M2, 1, 0x3f, -28 },
		{ WSI_FLOAT_E3M2, 1, 0xcc, 1 },
		{ WSI_FLOAT_E3M2, 1, 0x01, 0.0625 },
		{ WSI_FLOAT_E2M3, 1, 0x1f, 7.5 },
		{ WSI_FLOAT_E2M3, 1, 0x28, -1 },
		{ WSI_FLOAT_E2M3, 1, 0x41, 0.125 },
		{ WSI_FLOAT_E2M1, 1, 0x7, 6 },
		{ WSI_FLOAT_E2M1, 1, 0xa, -1 },
		{ WSI_FLOAT_E2M1, 1, 0xf1, 0.5 },
		{ WSI_FLOAT_IEEE, 4, 0x40490fdb, 0x1.921fb6p+1 },
		{ WSI_FLOAT_IEEE, 4, 0xff800000, -INFINITY },
		{ WSI_FLOAT_IEEE, 8, 0x3fb999999999999a, 0.1 },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		double got = value_of(cases[i].small, cases[i].size, cases[i].bits);
		double want = cases[i].value;
		if (isnan(want) ? !isnan(got) || signbit(got) != signbit(want) : got != want)
			fail_msg("case %zu: %a, not %a", i, got, want);
	}
}

/* What a number becomes in each format: the nearest value, the even one of two. */
static void numbers_become_the_nearest_float(void **state)
{
	(void)state;
	static const struct {
		enum wsi_small_float small;
		uint64_t size;
		double number;
		uint64_t bits;
	} cases[] = {
		{ WSI_FLOAT_HALF, 2, 1, 0x3c00 },
		{ WSI_FLOAT_HALF, 2, 1 + 0x1p-11, 0x3c00 },
		{ WSI_FLOAT_HALF, 2, 1 + 0x3p-11, 0x3c02 },
		{ WSI_FLOAT_HALF, 2, -65504, 0xfbff },
		{ WSI_FLOAT_BF16, 2, 1.5, 0x3fc0 },
		{ WSI_FLOAT_E4M3, 1, 17, 0x58 },
		{ WSI_FLOAT_E4M3, 1, 19, 0x5a },
		{ WSI_FLOAT_E4M3, 1, -0.3, 0xaa },
		{ WSI_FLOAT_E4M3, 1, NAN, 0x7f },
		{ WSI_FLOAT_E5M2, 1, 0.3, 0x35 },
		{ WSI_FLOAT_E2M1, 1, 2.4, 0x4 },
		{ WSI_FLOAT_E2M1, 1, 100, 0x7 },
		{ WSI_FLOAT_IEEE, 4, 0.1, 0x3dcccccd },
		{ WSI_FLOAT_IEEE, 8, 0.1, 0x3fb999999999999a },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		const struct wsi_type_shape shape = float_of(cases[i].small, cases[i].size);
		const struct ws_number number = { .is_float = true, .real = cases[i].number };
		uint8_t bytes[8] = { 0 };
		wsi_number_bytes(&shape, &number, bytes);
		uint64_t bits = wsi_load_le(bytes, (unsigned)cases[i].size);
		if (bits != cases[i].bits)
			fail_msg("case %zu: 0x%llx", i, (unsigned long long)bits);
	}
}

/* Every value of the formats of one byte comes back from its bytes. */
static void every_small_float_comes_back(void **state)
{
	(void)state;
	static const enum wsi_small_float formats[] = { WSI_FLOAT_E4M3, WSI_FLOAT_E5M2,
							WSI_FLOAT_E8M0, WSI_FLOAT_E3M2,
							WSI_FLOAT_E2M3, WSI_FLOAT_E2M1 };
	for (size_t f = 0; f < WSI_COUNT(formats); f++) {
		const struct wsi_type_shape shape = float_of(formats[f], 1);
		for (uint32_t bits = 0; bits < 256; bits++) {
			struct ws_number number = { .is_float = true };
			uint8_t bytes[8] = { 0 };
			number.real = value_of(formats[f], 1, bits);
			wsi_number_bytes(&shape, &number, bytes);
			double back = value_of(formats[f], 1, bytes[0]);
			assert_true(isnan(number.real) ? isnan(back) : back == number.real);
		}
	}
}

static void whole_numbers_and_bit_fields(void **state)
{
	(void)state;
	static const struct {
		uint32_t encoding;
		uint64_t size, bits;
		uint32_t bit_off, bit_size;
		bool good;
		int64_t whole;
		double real;
	} cases[] = {
		{ WS_ENCODING_SIGNED, 4, 0xffffffff, 0, 0, true, -1, -1 },
		{ WS_ENCODING_UNSIGNED, 4, 0xffffffff, 0, 0, true, 0xffffffff, 4294967295.0 },
		{ WS_ENCODING_UNSIGNED, 8, UINT64_MAX, 0, 0, true, -1, 0x1p64 },
		{ WS_ENCODING_SIGNED, 8, UINT64_MAX, 0, 0, true, -1, -1 },
		{ WS_ENCODING_SIGNED_CHAR, 1, 0x80, 0, 0, true, -128, -128 },
		{ WS_ENCODING_UNSIGNED_CHAR, 1, 0x80, 0, 0, true, 128, 128 },
		{ WS_ENCODING_BOOL, 1, 0xff, 0, 0, true, 255, 255 },
		{ WS_ENCODING_SIGNED, 4, 0x50, 4, 3, true, -3, -3 },
		{ WS_ENCODING_UNSIGNED, 4, 0x50, 4, 3, true, 5, 5 },
		{ WS_ENCODING_UNSIGNED, 4, 0x80000000, 31, 1, true, 1, 1 },
		{ WS_ENCODING_UNSIGNED, 4, 0x80000000, 31, 2, false, 0, 0 },
		{ WS_ENCODING_UNSIGNED, 4, 0x80000000, 32, 1, false, 0, 0 },
		{ WS_ENCODING_UNSIGNED, 4, 0x80000001, 0, 32, true, 0x80000001, 2147483649.0 },
		{ WS_ENCODING_SIGNED, 0, 0, 0, 0, false, 0, 0 },
		{ WS_ENCODING_SIGNED, 9, 0, 0, 0, false, 0, 0 },
		{ WS_ENCODING_FLOAT, 2, 0, 0, 0, false, 0, 0 },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		const struct wsi_type_shape shape = { .kind = WS_KIND_BASE,
						      .encoding = cases[i].encoding,
						      .size = cases[i].size };
		struct ws_number number = { .is_float = true };
		uint8_t bytes[8];
		wsi_store_u64(bytes, cases[i].bits);
		bool good =
			wsi_number_of(&shape, bytes, cases[i].bit_off, cases[i].bit_size, &number);
		if (good != cases[i].good ||
		    (good && (number.is_float || number.whole != cases[i].whole ||
			      number.real != cases[i].real)))
			fail_msg("case %zu: %d %lld %g", i, good, (long long)number.whole,
				 number.real);
	}
}

/* The whole part of a float stays in 64 bits. */
static void floats_as_whole_numbers(void **state)
{
	(void)state;
	static const struct {
		double real;
		int64_t whole;
	} cases[] = { { 2.9, 2 },
		      { -2.9, -2 },
		      { 0x1p63, INT64_MAX },
		      { -0x1p63, INT64_MIN },
		      { -0x1p64, INT64_MIN },
		      { 0x1p62, INT64_C(1) << 62 },
		      { NAN, 0 } };
	const struct wsi_type_shape shape = float_of(WSI_FLOAT_IEEE, 8);
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		struct ws_number number;
		uint8_t bytes[8];
		memcpy(bytes, &cases[i].real, 8);
		assert_true(wsi_number_of(&shape, bytes, 0, 0, &number));
		assert_int_equal(number.whole, cases[i].whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floats_of_every_format),
		cmocka_unit_test(numbers_become_the_nearest_float),
		cmocka_unit_test(every_small_float_comes_back),
		cmocka_unit_test(whole_numbers_and_bit_fields),
		cmocka_unit_test(floats_as_whole_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
