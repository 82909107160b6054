/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point numbers of 16 bits, by way of double: exact, then rounded once. */
#ifndef WS_TEST_SIM_NARROW_H
#define WS_TEST_SIM_NARROW_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A number with `exponent` and `fraction` bits of a format that has infinities. */
static inline double narrow_value(uint32_t bits, int exponent, int fraction)
{
	int bias = (1 << (exponent - 1)) - 1;
	uint32_t e = bits >> fraction & ((1u << exponent) - 1), f = bits & ((1u << fraction) - 1);
	double sign = bits >> (exponent + fraction) & 1 ? -1 : 1;
	if (e == (1u << exponent) - 1)
		return f ? NAN : sign * INFINITY;
	return sign *
	       ldexp(e ? f + (double)(1u << fraction) : f, (e ? (int)e : 1) - bias - fraction);
}

/* Rounded to nearest, ties to even, or towards zero. The value may be the exact sum of two doubles:
 * `rest` breaks ties. */
static inline uint32_t narrow_bits(double value, double rest, int exponent, int fraction,
				   int to_zero)
{
	int bias = (1 << (exponent - 1)) - 1, e;
	uint32_t sign = (uint32_t)(signbit(value) ? 1 : 0) << (exponent + fraction),
		 infinity = ((1u << exponent) - 1) << fraction;
	if (isnan(value))
		return 0x7fff;
	if (isinf(value))
		return sign | infinity;
	if (value == 0)
		return sign;
	if (value < 0) {
		value = -value;
		rest = -rest;
	}
	frexp(value, &e);
	int least = e - 1 < 1 - bias ? 1 - bias : e - 1; /* exponent of the format's unit */
	double scaled = ldexp(value, fraction - least), below = floor(scaled),
	       part = scaled - below;
	if (part == 0 && rest < 0) {
		below -= 1;
		part = 1;
	}
	int up = !to_zero &&
		 (part > 0.5 || (part == 0.5 && (rest > 0 || (rest == 0 && fmod(below, 2) != 0))));
	if (part == 1 && !to_zero)
		up = 1;
	double whole = below + up;
	uint32_t bits =
		(uint32_t)whole + (least > 1 - bias ? (uint32_t)(least - 1 + bias) << fraction : 0);
	if (bits >= infinity)
		bits = to_zero ? infinity - 1 : infinity;
	return sign | bits;
}

static inline double half_value(uint32_t bits)
{
	return narrow_value(bits & 0xffff, 5, 10);
}

static inline double bf16_value(uint32_t bits)
{
	return narrow_value(bits & 0xffff, 8, 7);
}

#endif
