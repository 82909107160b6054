/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics: lanes one after the other, in the order of their numbers. */
#include "sim/exec/access.h"

enum { MAX_WORDS = 4 };

/* What a lane accesses: an element, or several side by side. */
struct atomic_value {
	uint32_t word[MAX_WORDS];
};

/* ---- one lane ---- */

static uint64_t element_at(const struct atomic_value *v, unsigned bytes, unsigned i)
{
	if (bytes == 2)
		return v->word[i / 2] >> i % 2 * 16 & 0xffff;
	if (bytes == 4)
		return v->word[i];
	return v->word[2 * i] | (uint64_t)v->word[2 * i + 1] << 32;
}

static void set_element(struct atomic_value *v, unsigned bytes, unsigned i, uint64_t value)
{
	if (bytes == 2) {
		unsigned shift = i % 2 * 16;
		v->word[i / 2] = (v->word[i / 2] & ~(UINT32_C(0xffff) << shift)) | (uint32_t)value
											   << shift;
	} else if (bytes == 4) {
		v->word[i] = (uint32_t)value;
	} else {
		v->word[2 * i] = (uint32_t)value;
		v->word[2 * i + 1] = (uint32_t)(value >> 32);
	}
}

static struct atomic_value apply(const struct wsi_op *op, const struct atomic_value *old,
				 const struct atomic_value *value, const struct atomic_value *swap)
{
	struct atomic_value now = *old;
	unsigned bytes = wsi_element_bytes(op->type);
	if (op->kind == WSI_REDUCE_EXCH)
		return *value;
	if (op->kind == WSI_REDUCE_CAS)
		return memcmp(old, value, op->bytes) == 0 ? *swap : *old;
	for (unsigned i = 0; i < op->bytes / bytes; i++)
		set_element(&now, bytes, i,
			    wsi_reduce(op->kind, op->type, element_at(old, bytes, i),
				       element_at(value, bytes, i)));
	return now;
}

static struct atomic_value load_spot(const struct wsi_op *op, const struct wsi_lane_spot *spot)
{
	struct atomic_value v = { { 0 } };
	for (unsigned k = 0; k < op->bytes / 4u; k++)
		v.word[k] = wsi_load_u32(spot->bytes + k * spot->step);
	return v;
}

/* The old value. Memory that another process sees is changed with the host's own atomics, up to 8
 * bytes. */
static struct atomic_value exchange_spot(const struct wsi_op *op, const struct wsi_lane_spot *spot,
					 const struct atomic_value *value,
					 const struct atomic_value *swap)
{
	struct atomic_value old = { { 0 } }, now;
	if (WSI_HAS(op, SYS) && op->bytes == 8 && spot->step == 4) {
		uint64_t *at = (uint64_t *)(void *)spot->bytes;
		uint64_t seen = __atomic_load_n(at, __ATOMIC_SEQ_CST);
		do {
			set_element(&old, 8, 0, seen);
			now = apply(op, &old, value, swap);
		} while (!__atomic_compare_exchange_n(at, &seen, element_at(&now, 8, 0), false,
						      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
		return old;
	}
	if (WSI_HAS(op, SYS) && op->bytes == 4) {
		uint32_t *at = (uint32_t *)(void *)spot->bytes;
		uint32_t seen = __atomic_load_n(at, __ATOMIC_SEQ_CST);
		do {
			old.word[0] = seen;
			now = apply(op, &old, value, swap);
		} while (!__atomic_compare_exchange_n(at, &seen, now.word[0], false,
						      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
		return old;
	}
	old = load_spot(op, spot);
	now = apply(op, &old, value, swap);
	for (unsigned k = 0; k < op->bytes / 4u; k++)
		wsi_store_u32(spot->bytes + k * spot->step, now.word[k]);
	return old;
}

static struct atomic_value atomic_value_of(const struct wsi_op *op, const uint32_t *from,
					   unsigned lane)
{
	struct atomic_value v = { { 0 } };
	for (unsigned k = 0; k < op->bytes / 4u; k++)
		v.word[k] = from[k * WSI_LANES + lane];
	return v;
}

/* ---- the instruction ---- */

void wsi_prepare_atomic(struct wsi_op *op)
{
	op->kind = (uint8_t)wsi_reduction_of(&op->insn);
	op->type = (uint8_t)wsi_element_of(&op->insn, op->bytes);
	bool swaps = op->kind == WSI_REDUCE_EXCH || op->kind == WSI_REDUCE_CAS;
	bool arrives = op->kind == WSI_REDUCE_ARRIVE;
	bool ok = op->n_at == 1 && op->alu.n_predicates == 0 && op->alu.n_results <= 1 &&
		  (op->bytes == 4 || op->bytes == 8 || op->bytes == 16) && !WSI_HAS(op, SAFEADD) &&
		  (swaps || (arrives && op->bytes == 8) || wsi_can_reduce(op->kind, op->type));
	unsigned want = op->kind == WSI_REDUCE_CAS ? 2 : WSI_HAS(op, POPC) || arrives ? 0 : 1;
	ok &= op->alu.n_sources == want;
	for (unsigned i = 0; i < op->alu.n_sources; i++)
		ok &= op->alu.source[i].words == op->bytes / 4;
	if (!ok)
		op->run = wsi_run_unimplemented;
}

static void set_result(struct wsi_run *run, const struct wsi_op *op, unsigned lane,
		       const struct atomic_value *old, bool swapped)
{
	const struct wsi_alu_value *to = &op->alu.result[0];
	if (op->alu.n_results == 0 || to->number == 255)
		return;
	struct atomic_value result =
		WSI_HAS(op, CAST) ? (struct atomic_value){ { swapped } } : *old;
	for (unsigned k = 0; k < to->words && k < MAX_WORDS; k++)
		wsi_reg(run->warp, to->number + k)[lane] = result.word[k];
}

enum wsi_step wsi_run_atomic(struct wsi_run *run, const struct wsi_op *op)
{
	static const struct atomic_value zero, all = { { UINT32_MAX, UINT32_MAX } };
	uint64_t addresses[WSI_LANES];
	uint32_t scratch[2][4 * WSI_LANES], swapped = 0;
	const uint32_t *source[2] = { NULL, NULL };
	for (unsigned i = 0; i < op->alu.n_sources; i++) {
		source[i] = wsi_sim_source(run, &op->alu.source[i], scratch[i]);
		if (!source[i])
			return WSI_STEP_FAULT;
	}
	struct wsi_lane_spot spots[WSI_LANES];
	bool wide = op->space == WS_SASS_SPACE_GENERIC || op->space == WS_SASS_SPACE_GLOBAL;
	wsi_addresses(run, &op->at[0], wide, addresses);
	uint32_t good;
	if (!wsi_spots(run, op->space, run->mask, addresses, op->bytes, true, spots, &good))
		return WSI_STEP_FAULT;
	for (uint32_t left = run->mask & ~good; left; left &= left - 1)
		set_result(run, op, wsi_first_bit(left), &zero, false);
	for (uint32_t left = good; left; left &= left - 1) {
		unsigned lane = wsi_first_bit(left);
		/* POPC.INC counts the lanes that come; without operands it adds 1 */
		struct atomic_value value = source[0] ? atomic_value_of(op, source[0], lane) : all;
		struct atomic_value swap = source[1] ? atomic_value_of(op, source[1], lane) : zero;
		struct atomic_value old = exchange_spot(op, &spots[lane], &value, &swap);
		bool equal = op->kind == WSI_REDUCE_CAS && memcmp(&old, &value, op->bytes) == 0;
		swapped |= equal ? 1u << lane : 0;
		set_result(run, op, lane, &old, equal);
	}
	for (unsigned i = 0; i < op->alu.n_predicate_results; i++)
		wsi_pred_set(run->warp, &op->alu.predicate_result[i],
			     WSI_HAS(op, CAST) ? swapped : UINT32_MAX, run->mask);
	return WSI_STEP_NEXT;
}
