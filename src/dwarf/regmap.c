/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From registers of PTX to those of the machine. Records follow each other without padding:
 *
 *   .nv_debug_info_reg_sass   name of a function, NUL, u32 count, count times
 *                             u32 part, name of a PTX register, NUL, u32 place, u32 first, u32 last
 *   .nv_debug_info_reg_type   name of the function, NUL, u32 count, count bytes: PTX types
 *
 * [measured: nvcc 13.0, sm_75 to sm_121: the functions of both, and their counts, agree]
 */
#include <warpscope/unwind.h>

#include "base/base.h"
#include "base/reader.h"

enum {
	MIN_ENTRY_BYTES = 17,
	LOOK_MAX = 1 << 24, /* bytes that the answer to one question may need */
};

struct regmap_entry {
	uint32_t part, place, first, last;
	struct ws_str name;
};

static struct regmap_entry entry_read(struct wsi_reader *r)
{
	struct regmap_entry entry = { .part = wsi_read_u32(r) & 3 };
	entry.name = wsi_read_cstr(r);
	entry.place = wsi_read_u32(r);
	entry.first = wsi_read_u32(r);
	entry.last = wsi_read_u32(r);
	return entry;
}

/* Puts the reader before the entries of a function; false: it has none. */
static bool function_find(struct wsi_reader *r, struct ws_str function, uint32_t *ret_count)
{
	while (!r->failed && wsi_reader_left(r) > 0) {
		struct ws_str name = wsi_read_cstr(r);
		uint32_t count = wsi_read_u32(r);
		if (r->failed || count > wsi_reader_left(r) / MIN_ENTRY_BYTES)
			return false;
		*ret_count = count;
		if (ws_str_equal(name, function))
			return true;
		for (uint32_t i = 0; i < count && !r->failed; i++)
			(void)entry_read(r);
	}
	return false;
}

/* The types of a function's entries; empty: not there, or not as many. */
static struct ws_span types_find(struct ws_span reg_type, struct ws_str function, uint32_t count)
{
	struct wsi_reader r = wsi_reader_of(reg_type);
	while (!r.failed && wsi_reader_left(&r) > 0) {
		struct ws_str name = wsi_read_cstr(&r);
		uint32_t n = wsi_read_u32(&r);
		struct ws_span types = wsi_read_span(&r, n);
		if (!r.failed && n == count && ws_str_equal(name, function))
			return types;
	}
	return (struct ws_span){ 0 };
}

enum ws_regmap_answer ws_regmap_find(struct ws_span reg_sass, struct ws_span reg_type,
				     struct ws_str function, struct ws_str reg, uint64_t rel_pc,
				     struct ws_reg_piece ret_pieces[WS_REG_MAX_PIECES],
				     size_t *ret_n)
{
	struct wsi_reader r = wsi_reader_of(reg_sass);
	struct ws_reg_piece found[WS_REG_MAX_PIECES];
	bool have[WS_REG_MAX_PIECES] = { false };
	uint32_t count, n_parts = 0;
	*ret_n = 0;
	r.in.len = (size_t)wsi_min_u64(r.in.len, LOOK_MAX);
	reg_type.len = (size_t)wsi_min_u64(reg_type.len, LOOK_MAX);
	if (!function_find(&r, function, &count))
		return WS_REGMAP_NO_FUNCTION;
	struct ws_span types = types_find(reg_type, function, count);
	for (uint32_t i = 0; i < count; i++) {
		struct regmap_entry entry = entry_read(&r);
		if (r.failed)
			break;
		if (!ws_str_equal(entry.name, reg))
			continue;
		n_parts = entry.part < n_parts ? n_parts : entry.part + 1;
		if (have[entry.part] || rel_pc < entry.first || rel_pc > entry.last)
			continue;
		have[entry.part] = true;
		found[entry.part] = (struct ws_reg_piece){
			.part = entry.part,
			.reg_class = entry.place >> 24,
			.index = entry.place & 0xffffff,
			.number = entry.place,
			.type = i < types.len ? wsi_at_u8(types, i) : 0xff,
			.first = entry.first,
			.last = entry.last,
		};
	}
	for (size_t i = 0; i < WS_REG_MAX_PIECES; i++) {
		if (!have[i])
			continue;
		found[i].n_parts = n_parts;
		ret_pieces[(*ret_n)++] = found[i];
	}
	return *ret_n ? WS_REGMAP_FOUND : n_parts ? WS_REGMAP_NOT_HERE : WS_REGMAP_NO_REGISTER;
}
