/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point numbers of any format in integers: exact products and sums, one rounding at the
 * end in any direction. What the host's arithmetic does not do (directed rounding, small formats)
 * goes through here.
 */
#ifndef WSI_ALU_SOFT_H
#define WSI_ALU_SOFT_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 wsi_u128;

/* In the order of the instructions' fields. */
enum wsi_rounding { WSI_RN, WSI_RM, WSI_RP, WSI_RZ };

struct wsi_format {
	uint8_t exponent_bits, fraction_bits;
	/* Largest finite number and NaN; without infinities numbers go on up to `largest`. */
	uint64_t largest, nan;
	bool has_infinity, has_nan;
};

extern const struct wsi_format wsi_f64, wsi_f32, wsi_f16, wsi_bf16, wsi_tf32;
extern const struct wsi_format wsi_e4m3, wsi_e5m2, wsi_e2m3, wsi_e3m2, wsi_e2m1;

enum wsi_soft_kind { WSI_SOFT_ZERO, WSI_SOFT_FINITE, WSI_SOFT_INFINITE, WSI_SOFT_NAN };

/* mantissa * 2^exponent; the lowest bit of the mantissa may stand for anything below it. */
struct wsi_soft {
	enum wsi_soft_kind kind;
	bool negative;
	int exponent;
	wsi_u128 mantissa;
};

/* `flush`: denormals are zeros. */
struct wsi_soft wsi_soft_unpack(const struct wsi_format *format, uint64_t bits, bool flush);

/*
 * Rounds once. `flush`: denormal results are zeros; `finite`: what is too large becomes the largest
 * number instead of an infinity, and so do infinities.
 */
uint64_t wsi_soft_pack(const struct wsi_format *format, const struct wsi_soft *value,
		       enum wsi_rounding rounding, bool flush, bool finite);

struct wsi_soft wsi_soft_integer(uint64_t magnitude, bool negative);
struct wsi_soft wsi_soft_mul(const struct wsi_soft *a, const struct wsi_soft *b);

/* `rounding` only tells the sign of a zero that is a difference. */
struct wsi_soft wsi_soft_add(const struct wsi_soft *a, const struct wsi_soft *b,
			     enum wsi_rounding rounding);

/* Rounds to an integer; the magnitude is at most 2^64 (larger ones say so). */
struct wsi_soft wsi_soft_to_integer(const struct wsi_soft *a, enum wsi_rounding rounding);

#endif
