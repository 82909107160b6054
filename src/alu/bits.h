/* SPDX-License-Identifier: Apache-2.0 */
/* Floats as bits, for the operations on them. */
#ifndef WSI_ALU_BITS_H
#define WSI_ALU_BITS_H

#include "alu/lane.h"

#define WSI_SIGN32 UINT32_C(0x80000000)
#define WSI_SIGNS16 UINT32_C(0x80008000)
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

/* A half, f16 or bf16, as a float: exact. */
WSI_INLINE float wsi_half_value(uint32_t half, bool bf16)
{
	if (bf16)
		return wsi_float(half << 16);
	uint32_t magnitude = (half & 0x7fff) << 13, sign = (half & 0x8000) << 16;
	uint32_t scaled = wsi_bits(wsi_float(magnitude) * 0x1p112f);
	uint32_t special = wsi_mask((half & 0x7c00) == 0x7c00);
	return wsi_float(sign | wsi_choose(special, magnitude | WSI_EXPONENT32, scaled));
}

/* From 32 bits to the nearest half; ties to even. */
WSI_INLINE uint32_t wsi_to_half(uint32_t bits, bool bf16)
{
	uint32_t magnitude = bits & ~WSI_SIGN32, sign = bits >> 16 & 0x8000;
	uint32_t nan = wsi_mask(magnitude > WSI_EXPONENT32);
	if (bf16) {
		uint32_t half = (magnitude + 0x7fff + (magnitude >> 16 & 1)) >> 16;
		return wsi_choose(nan, 0x7fff, sign | half);
	}
	uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
	uint32_t denormal = wsi_bits(wsi_float(magnitude) + 0.5f) - 0x3f000000;
	uint32_t half = wsi_choose(wsi_mask(magnitude < 0x38800000), denormal, normal);
	half = wsi_choose(wsi_mask(magnitude >= 0x47800000), 0x7c00, half);
	return wsi_choose(nan, 0x7fff, sign | half);
}

#endif
