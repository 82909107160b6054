/* SPDX-License-Identifier: Apache-2.0 */
/* Floats as bits, and exact references in integers, for the tests of operations. */
#ifndef WS_TEST_FLOATS_H
#define WS_TEST_FLOATS_H

#include "alu/machine.h"
#include "alu/soft.h"

static inline float f32(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static inline double f64(uint64_t bits)
{
	double f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static inline uint32_t to32(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return f != f ? 0x7fffffff : bits;
}

static inline uint64_t to64(double f)
{
	uint64_t bits;
	memcpy(&bits, &f, sizeof bits);
	return f != f ? UINT64_C(0x7ff8000000000000) : bits;
}

/* a * b + c to the nearest, or a sum or a product of the first two. */
enum what { SUM, PRODUCT, BOTH };

static inline uint64_t soft(const struct wsi_format *f, enum what what, uint64_t a, uint64_t b,
			    uint64_t c)
{
	struct wsi_soft x = wsi_soft_unpack(f, a, false), y = wsi_soft_unpack(f, b, false);
	struct wsi_soft z = wsi_soft_unpack(f, c, false);
	if (what != SUM)
		x = wsi_soft_mul(&x, &y);
	if (what != PRODUCT)
		x = wsi_soft_add(&x, what == SUM ? &y : &z, WSI_RN);
	return wsi_soft_pack(f, &x, WSI_RN, false, false);
}

#define TO(name, value)                  \
	static void name(struct lane *l) \
	{                                \
		l->to = (value);         \
	}

#endif
