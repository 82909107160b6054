/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point immediates as the disassembler spells them [measured]: 20 significant digits in
 * the shorter of the two usual forms below 1e9, twenty decimals with an exponent from 1e9 on, "-0.0
 * ", and "+INF ", "-QNAN " with a trailing space.
 */
#include "base/base.h"
#include "sass/table.h"

struct float_layout {
	unsigned mantissa, exponent; /* bits */
};

/* A 64-bit immediate holds the upper half of the number. */
static struct float_layout float_layout_of(enum wsi_isa_kind kind)
{
	if (kind == WSI_ISA_F64)
		return (struct float_layout){ 20, 11 };
	if (kind == WSI_ISA_F16)
		return (struct float_layout){ 10, 5 };
	if (kind == WSI_ISA_BF16)
		return (struct float_layout){ 7, 8 };
	return (struct float_layout){ 23, 8 };
}

static double from_f32(uint32_t bits)
{
	float value;
	memcpy(&value, &bits, sizeof value);
	return (double)value;
}

static double from_f64(uint32_t bits)
{
	uint64_t whole = (uint64_t)bits << 32;
	double value;
	memcpy(&value, &whole, sizeof value);
	return value;
}

static double from_f16(uint32_t bits)
{
	uint32_t exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
	double value = exponent ? mantissa | 0x400 : mantissa;
	for (uint32_t i = exponent ? exponent : 1; i < 25; i++)
		value /= 2;
	for (uint32_t i = 25; i < exponent; i++)
		value *= 2;
	return bits >> 15 & 1 ? -value : value;
}

static double float_value_of(enum wsi_isa_kind kind, uint32_t bits)
{
	if (kind == WSI_ISA_F64)
		return from_f64(bits);
	if (kind == WSI_ISA_F16)
		return from_f16(bits);
	return from_f32(kind == WSI_ISA_BF16 ? bits << 16 : bits);
}

/* printf writes the locale's decimal point: the text always has '.'. */
static void unlocalise(char *text)
{
	char *to = text;
	bool in_point = false;
	for (const char *from = text; *from; from++) {
		bool plain = (*from >= '0' && *from <= '9') || *from == 'e' || *from == '-' ||
			     *from == '+';
		if (plain)
			*to++ = *from;
		else if (!in_point)
			*to++ = '.';
		in_point = !plain;
	}
	*to = '\0';
}

size_t wsi_float_format(enum wsi_isa_kind kind, uint32_t bits, char buffer[WSI_FLOAT_TEXT_MAX])
{
	struct float_layout l = float_layout_of(kind);
	uint32_t mantissa = bits & ((1u << l.mantissa) - 1);
	uint32_t exponent_mask = (1u << l.exponent) - 1;
	bool negative = bits >> (l.mantissa + l.exponent) & 1;

	if ((bits >> l.mantissa & exponent_mask) == exponent_mask) {
		const char *what = mantissa == 0                      ? "INF"
				   : mantissa >> (l.mantissa - 1) & 1 ? "QNAN"
								      : "SNAN";
		snprintf(buffer, WSI_FLOAT_TEXT_MAX, "%c%s ", negative ? '-' : '+', what);
		return strlen(buffer);
	}
	double value = float_value_of(kind, bits);
	if (value == 0 && negative) {
		snprintf(buffer, WSI_FLOAT_TEXT_MAX, "-0.0 ");
		return strlen(buffer);
	}
	bool large = value >= 1e9 || value <= -1e9;
	snprintf(buffer, WSI_FLOAT_TEXT_MAX, large ? "%.20e" : "%.20g", value);
	unlocalise(buffer);
	return strlen(buffer);
}

/* Upper half of a double, rounded to nearest. */
static uint32_t to_f64(double value)
{
	uint64_t whole;
	memcpy(&whole, &value, sizeof whole);
	return (uint32_t)((whole + 0x80000000u) >> 32);
}

static uint32_t to_f32(double value)
{
	float narrow = (float)value;
	uint32_t bits;
	memcpy(&bits, &narrow, sizeof bits);
	return bits;
}

/* The nearest of the 31,745 non-negative finite values and infinity, found by halving. */
static uint32_t to_f16(double value)
{
	double magnitude = value < 0 ? -value : value;
	uint32_t low = 0, high = 0x7c00;
	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;
		if (from_f16(middle) <= magnitude)
			low = middle;
		else
			high = middle;
	}
	double down = magnitude - from_f16(low), up = from_f16(high) - magnitude;
	uint32_t nearest = up < down || (up == down && low % 2 != 0) ? high : low;
	return nearest | (value < 0 ? 0x8000u : 0);
}

static uint32_t immediate_to_bits(enum wsi_isa_kind kind, double value)
{
	if (kind == WSI_ISA_F64)
		return to_f64(value);
	if (kind == WSI_ISA_F16)
		return to_f16(value);
	if (kind == WSI_ISA_BF16)
		return (to_f32(value) + 0x8000u) >> 16;
	return to_f32(value);
}

static size_t parse_special(struct float_layout l, const char *text, uint32_t *ret_bits)
{
	static const struct {
		const char *name;
		bool mantissa_top, mantissa_low;
	} specials[] = { { "INF", false, false },
			 { "QNAN", true, false },
			 { "SNAN", false, true } };

	if (*text != '+' && *text != '-')
		return 0;
	for (size_t i = 0; i < WSI_COUNT(specials); i++) {
		size_t n = strlen(specials[i].name);
		if (strncmp(text + 1, specials[i].name, n) != 0)
			continue;
		uint32_t bits = ((1u << l.exponent) - 1) << l.mantissa;
		bits |= (uint32_t)specials[i].mantissa_top << (l.mantissa - 1);
		bits |= specials[i].mantissa_low;
		bits |= (uint32_t)(*text == '-') << (l.mantissa + l.exponent);
		*ret_bits = bits;
		return 1 + n;
	}
	return 0;
}

/*
 * Decimal text to bits. The arithmetic is not exact, and need not be: an immediate has at most 24
 * significant bits, and texts made by wsi_float_format() are within 1e-20 of one.
 */
size_t wsi_float_parse(enum wsi_isa_kind kind, const char *text, uint32_t *ret_bits)
{
	struct float_layout l = float_layout_of(kind);
	size_t special = parse_special(l, text, ret_bits);
	if (special)
		return special;

	const char *at = text;
	bool negative = *at == '-', any = false, exponent_negative = false;
	long double value = 0;
	int exponent = 0, typed = 0;
	at += negative;
	for (bool point = false; wsi_is_digit(*at) || (*at == '.' && !point); at++) {
		if (*at == '.') {
			if (!wsi_is_digit(at[1])) /* the point of "0.H1" */
				break;
			point = true;
			continue;
		}
		any = true;
		value = value * 10 + (*at - '0');
		exponent -= point;
	}
	if (!any)
		return 0;
	if (*at == 'e') {
		at++;
		exponent_negative = *at == '-';
		at += *at == '-' || *at == '+';
		for (; wsi_is_digit(*at); at++)
			typed = typed < 1000 ? typed * 10 + (*at - '0') : typed;
	}
	exponent += exponent_negative ? -typed : typed;
	for (; exponent > 0 && exponent < 5000; exponent--)
		value *= 10;
	for (; exponent < 0 && value > 0; exponent++)
		value /= 10;
	uint32_t bits = immediate_to_bits(kind, (double)value);
	*ret_bits = bits | (uint32_t)negative << (l.mantissa + l.exponent);
	return (size_t)(at - text);
}
