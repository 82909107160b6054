/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics: lanes one after the other, in the order of their numbers. */
#include "sim/access.h"

enum atomic_op {
	ATOMIC_NONE,
	ATOMIC_ADD,
	ATOMIC_MIN,
	ATOMIC_MAX,
	ATOMIC_INC,
	ATOMIC_DEC,
	ATOMIC_AND,
	ATOMIC_OR,
	ATOMIC_XOR,
	ATOMIC_EXCH,
	ATOMIC_CAS,
	ATOMIC_ARRIVE, /* at a barrier in memory, up to sm_89 */
};

enum atomic_type { ATOMIC_U, ATOMIC_S, ATOMIC_F32, ATOMIC_F64, ATOMIC_OTHER };

static enum atomic_op op_of(const struct wsi_op *op)
{
	if (WSI_HAS(op, CAS) || WSI_HAS(op, CAST))
		return ATOMIC_CAS;
	if (WSI_HAS(op, INC))
		return ATOMIC_INC;
	if (WSI_HAS(op, ADD))
		return ATOMIC_ADD;
	if (WSI_HAS(op, MIN))
		return ATOMIC_MIN;
	if (WSI_HAS(op, MAX))
		return ATOMIC_MAX;
	if (WSI_HAS(op, DEC))
		return ATOMIC_DEC;
	if (WSI_HAS(op, AND))
		return ATOMIC_AND;
	if (WSI_HAS(op, OR))
		return ATOMIC_OR;
	if (WSI_HAS(op, XOR))
		return ATOMIC_XOR;
	if (WSI_HAS(op, ARRIVE))
		return ATOMIC_ARRIVE;
	return WSI_HAS(op, EXCH) ? ATOMIC_EXCH : ATOMIC_NONE;
}

static enum atomic_type type_of(const struct wsi_op *op)
{
	if (WSI_HAS(op, F16x2) || WSI_HAS(op, BF16x2) || WSI_HAS(op, BF16_V2) ||
	    WSI_HAS(op, SAFEADD))
		return ATOMIC_OTHER;
	if (WSI_HAS(op, F32))
		return ATOMIC_F32;
	if (WSI_HAS(op, F64))
		return ATOMIC_F64;
	return WSI_HAS(op, S32) || WSI_HAS(op, S64) ? ATOMIC_S : ATOMIC_U;
}

/* ---- one lane ---- */

static uint32_t flush(uint32_t bits)
{
	return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

static uint64_t add_f32(const struct wsi_op *op, uint32_t a, uint32_t b)
{
	float x, y;
	bool ftz = WSI_HAS(op, FTZ);
	a = ftz ? flush(a) : a;
	b = ftz ? flush(b) : b;
	memcpy(&x, &a, sizeof x);
	memcpy(&y, &b, sizeof y);
	float sum = x + y;
	uint32_t bits;
	memcpy(&bits, &sum, sizeof bits);
	if ((bits & 0x7fffffff) > 0x7f800000)
		return 0x7fffffff;
	return ftz ? flush(bits) : bits;
}

static uint64_t add_f64(uint64_t a, uint64_t b)
{
	double x, y;
	memcpy(&x, &a, sizeof x);
	memcpy(&y, &b, sizeof y);
	double sum = x + y;
	uint64_t bits;
	memcpy(&bits, &sum, sizeof bits);
	return (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000) ? UINT64_C(0x7fffffffffffffff)
								 : bits;
}

static bool less(const struct wsi_op *op, uint64_t a, uint64_t b)
{
	if (op->type != ATOMIC_S)
		return a < b;
	return op->bytes == 8 ? (int64_t)a < (int64_t)b : (int32_t)a < (int32_t)b;
}

static uint64_t apply(const struct wsi_op *op, uint64_t old, uint64_t value, uint64_t swap)
{
	switch ((enum atomic_op)op->kind) {
	case ATOMIC_ADD:
		return op->type == ATOMIC_F32   ? add_f32(op, (uint32_t)old, (uint32_t)value)
		       : op->type == ATOMIC_F64 ? add_f64(old, value)
						: old + value;
	case ATOMIC_MIN:
		return less(op, value, old) ? value : old;
	case ATOMIC_MAX:
		return less(op, old, value) ? value : old;
	case ATOMIC_INC:
		return old >= value ? 0 : old + 1;
	case ATOMIC_DEC:
		return old == 0 || old > value ? value : old - 1;
	case ATOMIC_AND:
		return old & value;
	case ATOMIC_OR:
		return old | value;
	case ATOMIC_XOR:
		return old ^ value;
	case ATOMIC_EXCH:
		return value;
	case ATOMIC_CAS:
		return old == value ? swap : old;
	case ATOMIC_ARRIVE:
		return wsi_mbarrier_arrive_80(old);
	case ATOMIC_NONE:
		break;
	}
	return old;
}

static uint64_t load(const struct wsi_spot *spot, unsigned bytes)
{
	uint64_t low = wsi_load_u32(spot->bytes);
	return bytes == 8 ? low | (uint64_t)wsi_load_u32(spot->bytes + spot->step) << 32 : low;
}

/* The old value. Memory that another process sees is changed with the host's own atomics. */
static uint64_t exchange(const struct wsi_op *op, const struct wsi_spot *spot, uint64_t value,
			 uint64_t swap)
{
	uint64_t old = load(spot, op->bytes);
	if (WSI_HAS(op, SYS) && op->bytes == 8 && spot->step == 4) {
		uint64_t *at = (uint64_t *)(void *)spot->bytes;
		while (!__atomic_compare_exchange_n(at, &old, apply(op, old, value, swap), false,
						    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			;
		return old;
	}
	if (WSI_HAS(op, SYS) && op->bytes == 4) {
		uint32_t *at = (uint32_t *)(void *)spot->bytes, seen = (uint32_t)old;
		while (!__atomic_compare_exchange_n(at, &seen,
						    (uint32_t)apply(op, seen, value, swap), false,
						    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			;
		return seen;
	}
	uint64_t now = apply(op, old, value, swap);
	wsi_store_u32(spot->bytes, (uint32_t)now);
	if (op->bytes == 8)
		wsi_store_u32(spot->bytes + spot->step, (uint32_t)(now >> 32));
	return old;
}

static uint64_t value_of(const struct wsi_op *op, const uint32_t *from, unsigned lane)
{
	uint64_t low = from[lane];
	return op->bytes == 8 ? low | (uint64_t)from[WSI_LANES + lane] << 32 : low;
}

/* ---- the instruction ---- */

void wsi_prepare_atomic(struct wsi_op *op)
{
	op->kind = (uint8_t)op_of(op);
	op->type = (uint8_t)type_of(op);
	bool is_float = op->type == ATOMIC_F32 || op->type == ATOMIC_F64;
	bool ok = op->n_at == 1 && op->alu.n_predicates == 0 && op->alu.n_results <= 1 &&
		  op->kind != ATOMIC_NONE && op->type != ATOMIC_OTHER &&
		  (op->bytes == 4 || op->bytes == 8) &&
		  (!is_float || op->kind == ATOMIC_ADD || op->kind == ATOMIC_EXCH);
	bool alone = WSI_HAS(op, POPC) || op->kind == ATOMIC_ARRIVE;
	unsigned want = op->kind == ATOMIC_CAS ? 2 : alone ? 0 : 1;
	ok &= op->kind != ATOMIC_ARRIVE || op->bytes == 8;
	ok &= op->alu.n_sources == want;
	for (unsigned i = 0; i < op->alu.n_sources; i++)
		ok &= op->alu.source[i].words == op->bytes / 4;
	if (!ok)
		op->run = wsi_run_unimplemented;
}

static void set_result(struct wsi_run *run, const struct wsi_op *op, unsigned lane, uint64_t value,
		       bool swapped)
{
	const struct wsi_alu_value *to = &op->alu.result[0];
	if (op->alu.n_results == 0 || to->number == 255)
		return;
	if (WSI_HAS(op, CAST))
		value = swapped;
	for (unsigned k = 0; k < to->words; k++)
		wsi_reg(run->warp, to->number + k)[lane] = (uint32_t)(value >> 32 * k);
}

enum wsi_step wsi_run_atomic(struct wsi_run *run, const struct wsi_op *op)
{
	uint64_t addresses[WSI_LANES];
	uint32_t scratch[2][4 * WSI_LANES], swapped = 0;
	const uint32_t *source[2] = { NULL, NULL };
	for (unsigned i = 0; i < op->alu.n_sources; i++) {
		source[i] = wsi_source(run, &op->alu.source[i], scratch[i]);
		if (!source[i])
			return WSI_STEP_FAULT;
	}
	struct wsi_spot spots[WSI_LANES];
	bool wide = op->space == WS_SASS_SPACE_GENERIC || op->space == WS_SASS_SPACE_GLOBAL;
	wsi_addresses(run, &op->at[0], wide, addresses);
	uint32_t good;
	if (!wsi_spots(run, op->space, run->mask, addresses, op->bytes, true, spots, &good))
		return WSI_STEP_FAULT;
	for (uint32_t left = run->mask & ~good; left; left &= left - 1)
		set_result(run, op, wsi_first_bit(left), 0, false);
	for (uint32_t left = good; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		/* POPC.INC counts the lanes that come; without operands it adds 1 */
		uint64_t value = source[0] ? value_of(op, source[0], lane) : UINT32_MAX;
		uint64_t swap = source[1] ? value_of(op, source[1], lane) : 0;
		uint64_t old = exchange(op, &spots[lane], value, swap);
		bool equal = op->kind == ATOMIC_CAS && old == value;
		swapped |= equal ? 1u << lane : 0;
		set_result(run, op, lane, old, equal);
	}
	for (unsigned i = 0; i < op->alu.n_predicate_results; i++)
		wsi_pred_set(run->warp, &op->alu.predicate_result[i],
			     WSI_HAS(op, CAST) ? swapped : UINT32_MAX, run->mask);
	return WSI_STEP_NEXT;
}
