/* SPDX-License-Identifier: Apache-2.0 */
/* Floats as bits, for the operations on them. */
#ifndef WSI_ALU_BITS_H
#define WSI_ALU_BITS_H

#include "alu/lane.h"

#define WSI_SIGN32 UINT32_C(0x80000000)
#define WSI_EXPONENT32 UINT32_C(0x7f800000)
#define WSI_NAN32 UINT32_C(0x7fffffff)
#define WSI_NAN64 UINT64_C(0x7ff8000000000000)
#define WSI_ONE32 UINT32_C(0x3f800000)

WSI_INLINE float wsi_float(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

WSI_INLINE uint32_t wsi_bits(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

WSI_INLINE double wsi_double(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

WSI_INLINE uint64_t wsi_double_bits(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

WSI_INLINE uint32_t wsi_mask(bool holds)
{
	return -(uint32_t)holds;
}

WSI_INLINE uint32_t wsi_choose(uint32_t mask, uint32_t one, uint32_t zero)
{
	return (one & mask) | (zero & ~mask);
}

/* Denormals become zeros of their sign. */
WSI_INLINE uint32_t wsi_flushed(uint32_t bits, bool flush)
{
	return bits & ~(wsi_mask(flush) & wsi_mask(!(bits & WSI_EXPONENT32)) & ~WSI_SIGN32);
}

#endif
