/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frames and register maps over any bytes. An input is
 *
 *   u64 pc | u16 length of .debug_frame | it | u16 length of .nv_debug_info_reg_sass | it |
 *   the rest: .nv_debug_info_reg_type
 *
 * Beyond not crashing: the same question has the same answer; kinds and numbers are those that
 * there are; the pieces of a register are of the place that was asked for.
 */
#include "fuzz.h"

#include <warpscope/unwind.h>

static struct ws_span take(struct ws_span *in, size_t len)
{
	struct ws_span taken = { in->ptr, len < in->len ? len : in->len, 0 };
	in->ptr += taken.len;
	in->len -= taken.len;
	return taken;
}

static size_t take_number(struct ws_span *in, size_t n_bytes)
{
	const struct ws_span bytes = take(in, n_bytes);
	size_t value = 0;
	for (size_t i = 0; i < bytes.len; i++)
		value |= (size_t)bytes.ptr[i] << (8 * i);
	return value;
}

static void find_frame(struct ws_span frame, uint64_t pc)
{
	static struct ws_cfi cfi, again;
	struct ws_error err;
	memset(&cfi, 0, sizeof cfi);
	memset(&again, 0, sizeof again);
	const enum ws_status st = ws_cfi_find(frame, pc, &cfi, &err);
	FUZZ_CHECK(ws_cfi_find(frame, pc, &again, NULL) == st);
	if (st != WS_OK)
		return;
	FUZZ_CHECK(cfi.cfa_reg == again.cfa_reg && cfi.cfa_offset == again.cfa_offset);
	for (size_t i = 0; i < WSI_COUNT(cfi.reg); i++) {
		FUZZ_CHECK(cfi.reg[i].kind <= WS_SAVED_LOCAL);
		FUZZ_CHECK(cfi.reg[i].kind == again.reg[i].kind &&
			   cfi.reg[i].offset == again.reg[i].offset);
	}
}

static void find_register(struct ws_span sass, struct ws_span type, struct ws_str function,
			  const char *name, uint64_t rel_pc)
{
	struct ws_reg_piece pieces[WS_REG_MAX_PIECES];
	size_t n = 0;
	if (ws_regmap_find(sass, type, function, ws_str_of(name), rel_pc, pieces, &n) !=
	    WS_REGMAP_FOUND)
		return;
	FUZZ_CHECK(n >= 1 && n <= WS_REG_MAX_PIECES);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(pieces[i].part < WS_REG_MAX_PIECES);
		FUZZ_CHECK(pieces[i].first <= rel_pc && rel_pc <= pieces[i].last);
		FUZZ_CHECK(pieces[i].index == (pieces[i].number & 0xffffff));
	}
}

int fuzz_target(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "%r1", "%rd1", "%f1", "%p1" };
	struct ws_span in = { data, size, 0 };
	const uint64_t pc = take_number(&in, 8);
	const struct ws_span frame = take(&in, take_number(&in, 2));
	const struct ws_span sass = take(&in, take_number(&in, 2));
	const uint8_t *end = sass.len ? memchr(sass.ptr, '\0', sass.len) : NULL;
	const struct ws_str function = { (const char *)sass.ptr,
					 end ? (size_t)(end - sass.ptr) : sass.len };
	find_frame(frame, pc);
	find_frame(frame, pc + 0x100);
	for (size_t i = 0; i < WSI_COUNT(names); i++) {
		find_register(sass, in, function, names[i], pc);
		find_register(sass, in, ws_str_of("_Z9read_wordPKc"), names[i], pc);
	}
	return 0;
}
