/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a function saved of its caller's registers: `.debug_frame`.
 *
 * Version 3 in the 64-bit form; code addresses count 4 bytes, saved places -4. The numbers of
 * registers have a class in bits 24 to 31 (enum ws_reg_class). The common part says of every
 * register whether a callee keeps it; a function then says where it put those that it saved.
 * Epilogues of optimised code have expressions: such a register counts as lost. [measured: nvcc
 * 13.0, sm_75 to sm_121]
 */
#include <warpscope/unwind.h>

#include "base/base.h"
#include "base/reader.h"

enum {
	MAX_STATES = 8, /* that are remembered within each other */
};

enum {
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_1 = 0x02,
	CFA_ADVANCE_2 = 0x03,
	CFA_ADVANCE_4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_ADVANCE = 0x1, /* in the two highest bits */
	CFA_OFFSET = 0x2,
	CFA_RESTORE = 0x3,
};

/* The common part of several functions. */
struct common {
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t return_reg;
	unsigned address_bytes;
	struct wsi_reader instructions;
};

struct cfi_machine {
	const struct common *common;
	struct ws_cfi now, initial, kept[MAX_STATES];
	unsigned n_kept;
	uint64_t at, pc; /* instructions are executed while `at` is not behind `pc` */
	bool odd;        /* the frame address is computed */
};

static struct ws_saved *saved(struct ws_cfi *cfi, uint64_t reg)
{
	return reg >> 24 == WS_REG_CLASS_FULL && (reg & 0xffffff) < WSI_COUNT(cfi->reg)
		       ? &cfi->reg[reg & 0xffffff]
		       : NULL;
}

static void save(struct cfi_machine *m, uint64_t reg, enum ws_saved_kind kind, int64_t offset)
{
	struct ws_saved *to = saved(&m->now, reg);
	bool fits = offset >= INT32_MIN && offset <= INT32_MAX;
	if (to)
		*to = (struct ws_saved){ (uint8_t)(fits ? kind : WS_SAVED_LOST),
					 fits ? (int32_t)offset : 0 };
}

static void restore_register(struct cfi_machine *m, uint64_t reg)
{
	struct ws_saved *to = saved(&m->now, reg);
	if (to)
		*to = *saved(&m->initial, reg);
}

static int64_t scaled(int64_t factor, uint64_t n)
{
	return (int64_t)((uint64_t)factor * n);
}

static void define_cfa(struct cfi_machine *m, uint64_t reg, int64_t offset)
{
	m->odd = reg >> 24 != WS_REG_CLASS_FULL || (reg & 0xffffff) > 255;
	m->now.cfa_reg = (uint32_t)(reg & 0xff);
	m->now.cfa_offset = offset;
}

/* Those that change the frame address. False: not one of them. */
static bool step_cfa(struct cfi_machine *m, struct wsi_reader *r, uint8_t op)
{
	const uint64_t reg = (uint64_t)WS_REG_CLASS_FULL << 24 | m->now.cfa_reg;
	uint64_t number;
	switch (op) {
	case CFA_DEF_CFA:
		number = wsi_read_uleb(r);
		define_cfa(m, number, (int64_t)wsi_read_uleb(r));
		return true;
	case CFA_DEF_CFA_SF:
		number = wsi_read_uleb(r);
		define_cfa(m, number, scaled(m->common->data_factor, (uint64_t)wsi_read_sleb(r)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		define_cfa(m, wsi_read_uleb(r), m->now.cfa_offset);
		return true;
	case CFA_DEF_CFA_OFFSET:
		define_cfa(m, reg, (int64_t)wsi_read_uleb(r));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		define_cfa(m, reg, scaled(m->common->data_factor, (uint64_t)wsi_read_sleb(r)));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		m->odd = true;
		wsi_reader_skip(r, wsi_read_uleb(r));
		return true;
	default:
		return false;
	}
}

/* Those about one register. False: not one of them. */
static bool step_register(struct cfi_machine *m, struct wsi_reader *r, uint8_t op)
{
	if (op < CFA_OFFSET_EXTENDED || op > CFA_VAL_EXPRESSION)
		return false;
	uint64_t reg = wsi_read_uleb(r);
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		save(m, reg, WS_SAVED_LOCAL, scaled(m->common->data_factor, wsi_read_uleb(r)));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		save(m, reg, WS_SAVED_LOCAL,
		     scaled(m->common->data_factor, (uint64_t)wsi_read_sleb(r)));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore_register(m, reg);
		return true;
	case CFA_UNDEFINED:
		save(m, reg, WS_SAVED_LOST, 0);
		return true;
	case CFA_SAME_VALUE:
		save(m, reg, WS_SAVED_SAME, 0);
		return true;
	case CFA_REGISTER:
	case CFA_VAL_OFFSET:
		(void)wsi_read_uleb(r);
		save(m, reg, WS_SAVED_LOST, 0);
		return true;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		wsi_reader_skip(r, wsi_read_uleb(r));
		save(m, reg, WS_SAVED_LOST, 0);
		return true;
	default:
		return false;
	}
}

static bool step_other(struct cfi_machine *m, struct wsi_reader *r, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
		return true;
	case CFA_SET_LOC:
		m->at = wsi_read_uint(r, m->common->address_bytes);
		return true;
	case CFA_ADVANCE_1:
		m->at += wsi_read_u8(r) * m->common->code_factor;
		return true;
	case CFA_ADVANCE_2:
		m->at += wsi_read_u16(r) * m->common->code_factor;
		return true;
	case CFA_ADVANCE_4:
		m->at += wsi_read_u32(r) * m->common->code_factor;
		return true;
	case CFA_REMEMBER:
		if (m->n_kept == MAX_STATES)
			return false;
		m->kept[m->n_kept++] = m->now;
		return true;
	case CFA_RESTORE_STATE:
		if (m->n_kept == 0)
			return false;
		m->now = m->kept[--m->n_kept];
		return true;
	default:
		return false;
	}
}

/* Instructions up to the pc. False: one is not known, or cut. */
static bool execute_cfi(struct cfi_machine *m, struct wsi_reader r)
{
	while (wsi_reader_left(&r) > 0 && m->at <= m->pc) {
		uint8_t op = wsi_read_u8(&r);
		uint64_t low = op & 0x3f;
		if (op >> 6 == CFA_ADVANCE)
			m->at += low * m->common->code_factor;
		else if (op >> 6 == CFA_OFFSET) /* too small a number for a class */
			(void)wsi_read_uleb(&r);
		else if (op >> 6 != CFA_RESTORE && !step_other(m, &r, op) && !step_cfa(m, &r, op) &&
			 !step_register(m, &r, op))
			return false;
		if (r.failed)
			return false;
	}
	return true;
}

/* The next entry; `*ret_id` 0: a common part. */
static bool entry_next(struct wsi_reader *r, struct wsi_reader *ret_body, bool *ret_common,
		       uint64_t *ret_id, bool *ret_wide)
{
	uint64_t len = wsi_read_u32(r), none = UINT32_MAX;
	*ret_wide = len == UINT32_MAX;
	if (*ret_wide) {
		len = wsi_read_u64(r);
		none = UINT64_MAX;
	}
	*ret_body = wsi_reader_of(wsi_read_span(r, len));
	*ret_id = wsi_read_uint(ret_body, *ret_wide ? 8 : 4);
	*ret_common = *ret_id == none;
	return !r->failed && !ret_body->failed;
}

static bool common_read(struct ws_span frame, uint64_t off, struct common *ret)
{
	struct ws_span rest;
	struct wsi_reader body;
	uint64_t id;
	bool is_common, wide;
	if (!ws_span_sub(frame, off, frame.len - wsi_min_u64(off, frame.len), &rest))
		return false;
	struct wsi_reader r = wsi_reader_of(rest);
	if (!entry_next(&r, &body, &is_common, &id, &wide) || !is_common)
		return false;
	uint8_t version = wsi_read_u8(&body);
	bool plain = wsi_read_cstr(&body).len == 0;
	*ret = (struct common){ .address_bytes = 8 };
	if (version == 4) {
		ret->address_bytes = wsi_read_u8(&body);
		(void)wsi_read_u8(&body);
	}
	ret->code_factor = wsi_read_uleb(&body);
	ret->data_factor = wsi_read_sleb(&body);
	ret->return_reg = version == 1 ? wsi_read_u8(&body) : wsi_read_uleb(&body);
	ret->instructions = body;
	return plain && !body.failed && version <= 4 && ret->address_bytes > 0 &&
	       ret->address_bytes <= 8;
}

static enum ws_status rules(const struct common *common, struct wsi_reader body, uint64_t start,
			    uint64_t pc, struct ws_cfi *ret_cfi, struct ws_error *err)
{
	struct cfi_machine m = { .common = common, .at = start, .pc = pc, .odd = true };
	bool ok = execute_cfi(&m, common->instructions);
	m.initial = m.now;
	m.at = start;
	if (!ok || !execute_cfi(&m, body))
		return wsi_fail(err, WS_MALFORMED, body.in.origin,
				"call frames: an instruction is not known");
	if (m.odd)
		return wsi_fail(err, WS_UNSUPPORTED, body.in.origin,
				"call frames: the frame address is computed");
	m.now.has_caller = common->return_reg != UINT32_MAX;
	m.now.return_reg = (uint32_t)wsi_min_u64(common->return_reg, UINT32_MAX);
	*ret_cfi = m.now;
	return WS_OK;
}

enum ws_status ws_cfi_find(struct ws_span frame, uint64_t pc, struct ws_cfi *ret_cfi,
			   struct ws_error *err)
{
	struct wsi_reader r = wsi_reader_of(frame), body;
	while (wsi_reader_left(&r) > 0) {
		uint64_t off = wsi_reader_off(&r), id;
		bool is_common, wide;
		struct common common;
		if (!entry_next(&r, &body, &is_common, &id, &wide))
			return wsi_fail(err, WS_TRUNCATED, off, "call frames: an entry is cut off");
		if (is_common)
			continue;
		/* the size of an address is in the common part, which is read only where it matters
		 */
		uint64_t start = wsi_read_u64(&body), size = wsi_read_u64(&body);
		if (!body.failed && (pc < start || pc - start >= size))
			continue;
		if (body.failed || !common_read(frame, id, &common) || common.address_bytes != 8)
			return wsi_fail(err, WS_MALFORMED, off,
					"call frames: an entry without its common part");
		return rules(&common, body, start, pc, ret_cfi, err);
	}
	return wsi_fail(err, WS_ABSENT, WS_NO_OFFSET, "call frames: nothing about this address");
}
