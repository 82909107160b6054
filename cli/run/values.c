/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a type: from text, to text. */
#include "run/run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct run_type types[] = {
	{ "u8", 1, 'u' },  { "s8", 1, 's' },  { "u16", 2, 'u' }, { "s16", 2, 's' },
	{ "u32", 4, 'u' }, { "s32", 4, 's' }, { "u64", 8, 'u' }, { "s64", 8, 's' },
	{ "f32", 4, 'f' }, { "f64", 8, 'f' },
};

const struct run_type *run_type_find(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strlen(types[i].name) == len && memcmp(types[i].name, text, len) == 0)
			return &types[i];
	return NULL;
}

static void store(uint8_t *bytes, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t load_values(const uint8_t *bytes, unsigned n)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < n; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

static bool parse_float(const struct run_type *type, const char *text, uint8_t ret_bytes[8])
{
	char *end;
	double wide = strtod(text, &end);
	float narrow = strtof(text, NULL);
	if (end == text || *end)
		return false;
	if (type->bytes == 8)
		memcpy(ret_bytes, &wide, 8);
	else
		memcpy(ret_bytes, &narrow, 4);
	return true;
}

bool run_value_parse(const struct run_type *type, const char *text, uint8_t ret_bytes[8])
{
	bool negative = *text == '-';
	uint64_t value, top = UINT64_C(1) << (8 * type->bytes - 1);
	if (type->kind == 'f')
		return parse_float(type, text, ret_bytes);
	if (!cli_number(text + negative, &value) || (negative && type->kind == 'u'))
		return false;
	if (type->kind == 's' ? value > top - !negative : type->bytes < 8 && value >= 2 * top)
		return false;
	store(ret_bytes, negative ? 0 - value : value, type->bytes);
	return true;
}

static double bytes_real_of(const struct run_type *type, const uint8_t *bytes)
{
	double wide;
	float narrow;
	if (type->bytes == 8) {
		memcpy(&wide, bytes, 8);
		return wide;
	}
	memcpy(&narrow, bytes, 4);
	return (double)narrow;
}

static int64_t signed_of(const struct run_type *type, const uint8_t *bytes)
{
	uint64_t value = load_values(bytes, type->bytes), sign = UINT64_C(1)
								 << (8 * type->bytes - 1);
	return (int64_t)((value ^ sign) - sign);
}

void run_value_print(const struct run_type *type, const uint8_t *bytes, struct ws_out *out)
{
	char text[40];
	if (type->kind == 'f')
		snprintf(text, sizeof text, "%.*g", type->bytes == 8 ? 17 : 9,
			 bytes_real_of(type, bytes));
	else if (type->kind == 's')
		snprintf(text, sizeof text, "%" PRId64, signed_of(type, bytes));
	else
		snprintf(text, sizeof text, "%" PRIu64, load_values(bytes, type->bytes));
	ws_out_printf(out, "%s", text);
}

void run_value_json(const struct run_type *type, const uint8_t *bytes, struct ws_json *json)
{
	char text[40];
	if (type->kind == 's') {
		ws_json_i64(json, signed_of(type, bytes));
	} else if (type->kind == 'u') {
		ws_json_u64(json, load_values(bytes, type->bytes));
	} else { /* text: neither NaN nor all digits are safe in JSON */
		snprintf(text, sizeof text, "%.*g", type->bytes == 8 ? 17 : 9,
			 bytes_real_of(type, bytes));
		ws_json_text(json, text);
	}
}
