/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and their bytes. */
#include "vars/vars.h"

#include <math.h>

struct ws_number wsi_whole(int64_t number)
{
	return (struct ws_number){ .whole = number, .real = (double)number };
}

static struct ws_number real(double number)
{
	const double limit = 9223372036854775808.0;
	int64_t whole = isnan(number)     ? 0
			: number >= limit ? INT64_MAX
			: number < -limit ? INT64_MIN
					  : (int64_t)number;
	return (struct ws_number){ .is_float = true, .whole = whole, .real = number };
}

/* A float of `exponent` and `fraction` bits under a sign. `has_inf`: its largest exponent is
 * infinity and NaN; else only `nan`, without its sign, is NaN (0: none). */
static double small_real(uint32_t bits, unsigned exponent, unsigned fraction, bool has_inf,
			 uint32_t nan)
{
	const uint32_t mask = (1u << exponent) - 1, f = bits & ((1u << fraction) - 1);
	const uint32_t e = bits >> fraction & mask;
	const int bias = (1 << (exponent - 1)) - 1;
	const double sign = bits >> (exponent + fraction) & 1 ? -1.0 : 1.0;
	if (has_inf && e == mask)
		return f ? copysign(NAN, sign) : sign * INFINITY;
	if (nan && (bits & ((1u << (exponent + fraction)) - 1)) == nan)
		return copysign(NAN, sign);
	const double part = (double)f / (double)(1u << fraction);
	return sign * (e ? ldexp(1.0 + part, (int)e - bias) : ldexp(part, 1 - bias));
}

static double shape_real_of(const struct wsi_type_shape *shape, uint64_t bits)
{
	const uint32_t low = (uint32_t)bits;
	float single;
	double wide;
	switch (shape->small) {
	case WSI_FLOAT_HALF:
		return small_real(low, 5, 10, true, 0);
	case WSI_FLOAT_BF16:
		return small_real(low, 8, 7, true, 0);
	case WSI_FLOAT_E4M3:
		return small_real(low, 4, 3, false, 0x7f);
	case WSI_FLOAT_E5M2:
		return small_real(low, 5, 2, true, 0);
	case WSI_FLOAT_E8M0:
		return (low & 0xff) == 0xff ? NAN : ldexp(1.0, (int)(low & 0xff) - 127);
	case WSI_FLOAT_E3M2:
		return small_real(low & 0x3f, 3, 2, false, 0);
	case WSI_FLOAT_E2M3:
		return small_real(low & 0x3f, 2, 3, false, 0);
	case WSI_FLOAT_E2M1:
		return small_real(low & 0xf, 2, 1, false, 0);
	case WSI_FLOAT_IEEE:
		break;
	}
	if (shape->size == 4) {
		memcpy(&single, &low, sizeof single);
		return (double)single;
	}
	memcpy(&wide, &bits, sizeof wide);
	return wide;
}

bool wsi_vars_is_unsigned(const struct wsi_type_shape *shape)
{
	return shape->kind == WS_KIND_POINTER || shape->kind == WS_KIND_REFERENCE ||
	       shape->kind == WS_KIND_RVALUE_REFERENCE || shape->encoding == WS_ENCODING_UNSIGNED ||
	       shape->encoding == WS_ENCODING_BOOL || shape->encoding == WS_ENCODING_UNSIGNED_CHAR;
}

bool wsi_number_of(const struct wsi_type_shape *shape, const uint8_t *bytes, uint32_t bit_off,
		   uint32_t bit_size, struct ws_number *ret_number)
{
	if (shape->size == 0 || shape->size > 8)
		return false;
	uint64_t bits = wsi_load_le(bytes, (unsigned)shape->size);
	unsigned width = 8 * (unsigned)shape->size;
	if (wsi_vars_is_float(shape)) {
		if (shape->small == WSI_FLOAT_IEEE && shape->size != 4 && shape->size != 8)
			return false;
		*ret_number = real(shape_real_of(shape, bits));
		return true;
	}
	if (bit_size) {
		if (bit_off >= width || bit_size > width - bit_off)
			return false;
		bits >>= bit_off;
		width = bit_size;
	}
	bits = width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits;
	bool no_sign = wsi_vars_is_unsigned(shape);
	if (!no_sign && width < 64)
		bits = (uint64_t)((int64_t)(bits << (64 - width)) >> (64 - width));
	*ret_number = (struct ws_number){
		.is_unsigned = no_sign,
		.whole = (int64_t)bits,
		.real = no_sign ? (double)bits : (double)(int64_t)bits,
	};
	return true;
}

/* The nearest of all values of a small float, the even one of two; bits above it are 0. */
static uint64_t small_bits(const struct wsi_type_shape *shape, double number)
{
	const bool has_6 = shape->small == WSI_FLOAT_E3M2 || shape->small == WSI_FLOAT_E2M3;
	const unsigned width = shape->small == WSI_FLOAT_E2M1 ? 4
			       : has_6                        ? 6
							      : 8 * (unsigned)shape->size;
	uint32_t n = 1u << width, best = 0;
	double least = INFINITY;
	for (uint32_t i = 0; i < n; i++) {
		double one = shape_real_of(shape, i);
		if (isnan(number) ? isnan(one) : one == number)
			return i;
		double far = fabs(one - number);
		if (far < least || (far == least && !(i & 1))) {
			least = far;
			best = i;
		}
	}
	return best;
}

void wsi_number_bytes(const struct wsi_type_shape *shape, const struct ws_number *number,
		      uint8_t ret_bytes[8])
{
	uint64_t bits = (uint64_t)number->whole;
	const float single = (float)number->real;
	uint32_t low;
	if (wsi_vars_is_float(shape)) {
		memcpy(&low, &single, sizeof low);
		memcpy(&bits, &number->real, sizeof bits);
		bits = shape->small != WSI_FLOAT_IEEE ? small_bits(shape, number->real)
		       : shape->size == 4             ? low
						      : bits;
	} else if (shape->encoding == WS_ENCODING_BOOL) {
		bits = number->is_float ? number->real != 0 : number->whole != 0;
	}
	wsi_store_u64(ret_bytes, bits);
}
