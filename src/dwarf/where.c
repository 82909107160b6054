/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a variable is: expressions and lists of them.
 *
 * A compiler of CUDA writes one of these [measured: nvcc 13.0, sm_75 to sm_121; clang 14 and 22]:
 *
 *   DW_OP_addr A                        at A of the space of the address class
 *   DW_OP_regx N                        in the PTX register whose name N spells, first character
 *                                       in the most significant byte
 *   DW_OP_bregx N M                     M bytes behind the address in that register (clang 22, for
 *                                       structures that are passed by value)
 *   DW_OP_fbreg N, DW_OP_nop..., DW_OP_plus_uconst M      N + M bytes from the frame's base, which
 *                                       is always DW_OP_call_frame_cfa
 */
#include "dwarf/dwarf.h"

enum {
	OP_ADDR = 0x03,
	OP_PLUS_UCONST = 0x23,
	OP_REGX = 0x90,
	OP_FBREG = 0x91,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

static void register_name(uint64_t number, char ret_name[9])
{
	size_t n = 0;
	for (unsigned shift = 64; shift > 0; shift -= 8) {
		char c = (char)(number >> (shift - 8) & 0xff);
		if (c || n)
			ret_name[n++] = c;
	}
	ret_name[n] = '\0';
}

static enum ws_status expression(struct ws_span bytes, unsigned address_bytes,
				 struct ws_where *ret_where, struct ws_error *err)
{
	struct wsi_reader r = wsi_reader_of(bytes);
	struct ws_where where = { .kind = WS_WHERE_GONE };
	while (!r.failed && wsi_reader_left(&r) > 0) {
		uint64_t off = wsi_reader_off(&r);
		uint8_t op = wsi_read_u8(&r);
		bool first = where.kind == WS_WHERE_GONE;
		if (op == OP_ADDR && first) {
			where.kind = WS_WHERE_ADDRESS;
			where.number = (int64_t)wsi_read_uint(&r, address_bytes);
		} else if (op == OP_REGX && first) {
			where.kind = WS_WHERE_REGISTER;
			register_name(wsi_read_uleb(&r), where.reg);
		} else if (op == OP_BREGX && first) {
			where.kind = WS_WHERE_BASED;
			register_name(wsi_read_uleb(&r), where.reg);
			where.number = wsi_read_sleb(&r);
		} else if (op == OP_FBREG && first) {
			where.kind = WS_WHERE_FRAME;
			where.number = wsi_read_sleb(&r);
		} else if (op == OP_PLUS_UCONST && !first && where.kind != WS_WHERE_REGISTER) {
			where.number = (int64_t)((uint64_t)where.number + wsi_read_uleb(&r));
		} else if (op != OP_NOP) {
			return wsi_fail(err, WS_UNSUPPORTED, off,
					"debug information: a place with operation 0x%x", op);
		}
	}
	if (r.failed)
		return wsi_fail(err, WS_TRUNCATED, bytes.origin + r.fail_pos,
				"debug information: a place is cut off");
	*ret_where = where;
	return WS_OK;
}

/* The expression of a list for an address; `*ret_found` false: it has none. */
static enum ws_status from_list(struct ws_span loc, uint64_t off, unsigned address_bytes,
				uint64_t pc, struct ws_span *ret_bytes, bool *ret_found,
				struct ws_error *err)
{
	const uint64_t escape =
		address_bytes < 8 ? (UINT64_C(1) << 8 * address_bytes) - 1 : UINT64_MAX;
	struct ws_span rest;
	uint64_t base = 0;
	*ret_found = false;
	if (!ws_span_sub(loc, off, loc.len - wsi_min_u64(off, loc.len), &rest))
		return wsi_fail(err, WS_MALFORMED, WS_NO_OFFSET,
				"debug information: no list of places at 0x%" PRIx64, off);
	struct wsi_reader r = wsi_reader_of(rest);
	for (;;) {
		uint64_t first = wsi_read_uint(&r, address_bytes);
		uint64_t end = wsi_read_uint(&r, address_bytes);
		if (!r.failed && first == 0 && end == 0)
			return WS_OK;
		if (first == escape) {
			base = end;
			continue;
		}
		struct ws_span bytes = wsi_read_span(&r, wsi_read_u16(&r));
		if (r.failed)
			return wsi_fail(err, WS_TRUNCATED, rest.origin + r.fail_pos,
					"debug information: a list of places is cut off");
		if (pc - base >= first && pc - base < end) {
			*ret_bytes = bytes;
			*ret_found = true;
			return WS_OK;
		}
	}
}

enum ws_status ws_dwarf_where(const struct ws_dwarf *dwarf,
			      const struct ws_dwarf_function *function, uint64_t rel_pc,
			      const struct ws_dwarf_variable *variable, struct ws_where *ret_where,
			      struct ws_error *err)
{
	struct wsi_dwarf_look look = wsi_dwarf_look(dwarf);
	struct wsi_dwarf_at at;
	struct ws_span bytes = variable->location;
	uint64_t pc = rel_pc;
	enum ws_status st = WS_OK;
	bool found = true;
	if (function) {
		st = wsi_dwarf_entry_at(&look, function->info_off, &at, err);
		pc += st == WS_OK ? at.attrs.low_pc : 0;
	}
	if (st == WS_OK)
		st = wsi_dwarf_entry_at(&look, variable->info_off, &at, err);
	if (st == WS_OK && variable->has_list)
		st = from_list(dwarf->input.loc, variable->list_off, at.walk.unit->address_bytes,
			       pc, &bytes, &found, err);
	if (st != WS_OK)
		return st;
	if (!found || (!bytes.len && variable->has_value)) {
		*ret_where = (struct ws_where){
			.kind = found ? WS_WHERE_VALUE : WS_WHERE_NOT_HERE,
			.number = variable->value,
		};
		return WS_OK;
	}
	return expression(bytes, at.walk.unit->address_bytes, ret_where, err);
}
