/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of registers as integers: dot products, differences, minima and maxima of 8, 16, 32 and 64
 * bits. */
#include "alu/lane.h"

static bool any_modifier_of(const struct wsi_alu_build *b, const enum ws_modifier *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (wsi_alu_have(b, list[i]))
			return true;
	return false;
}

/* `bits` bits of a word from bit `at`, extended. */
WSI_INLINE int64_t part_of(uint64_t word, unsigned at, unsigned bits, bool is_signed)
{
	uint64_t top = word >> at << (64 - bits);
	return is_signed ? (int64_t)top >> (64 - bits) : (int64_t)(top >> (64 - bits));
}

/* ---- IDP ---- */

enum dot { BYTES, HALVES_LOW, HALVES_HIGH };

/* Four bytes by four, or two halves by two bytes of the lower or upper half; plus the third source.
 */
WSI_INLINE void dot(const struct wsi_alu *alu, struct wsi_alu_io *io, bool halves)
{
	uint32_t *to = io->result[0];
	unsigned from = alu->kind == HALVES_HIGH ? 16 : 0;
	bool a_signed = alu->is_signed, b_signed = alu->upper;
	WSI_FOR_LANES(l)
	{
		uint32_t a = io->source[0][l], b = io->source[1][l];
		uint32_t sum = wsi_word(alu, io, 2, l) + alu->number;
		for (unsigned i = 0; i < (halves ? 2u : 4u); i++) {
			int64_t x = halves ? part_of(a, 16 * i, 16, a_signed)
					   : part_of(a, 8 * i, 8, a_signed);
			sum += (uint32_t)(x * part_of(b, from + 8 * i, 8, b_signed));
		}
		to[l] = sum;
	}
}

WSI_LANES static void run_dot_bytes(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	dot(alu, io, false);
}

WSI_LANES static void run_dot_halves(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	dot(alu, io, true);
}

/* The first type of the name is of the first source, the second of the second. */
bool wsi_alu_prepare_dot(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	bool is_signed[2] = { false }, halves = wsi_alu_have(b, WS_MOD_2A);
	size_t n = 0;
	for (size_t i = 0; i < b->n_mods && n < 2; i++) {
		enum ws_modifier m = b->mods[i];
		if (m == WS_MOD_S8 || m == WS_MOD_S16)
			is_signed[n++] = true;
		else if (m == WS_MOD_U8 || m == WS_MOD_U16)
			is_signed[n++] = false;
	}
	if (n != 2 || !wsi_alu_shape(b, 3, 0))
		return false;
	alu->flip[2] = b->negated[2] ? UINT32_MAX : 0;
	alu->number = b->negated[2];
	alu->is_signed = is_signed[0];
	alu->upper = is_signed[1];
	alu->kind = !halves ? BYTES : wsi_alu_have(b, WS_MOD_HI) ? HALVES_HIGH : HALVES_LOW;
	alu->run = halves ? run_dot_halves : run_dot_bytes;
	return true;
}

/* ---- VABSDIFF, VABSDIFF4 ---- */

static void run_absdiff(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	unsigned bits = alu->kind;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t sum = io->source[2][l], places = 0;
		for (unsigned at = 0; at < 32; at += bits) {
			int64_t x = part_of(io->source[0][l], at, bits, alu->is_signed);
			int64_t y = part_of(io->source[1][l], at, bits, alu->is_signed);
			uint32_t difference = (uint32_t)(x > y ? x - y : y - x);
			sum += difference;
			places |= difference << at;
		}
		io->result[0][l] = alu->upper ? sum : places;
	}
}

/*
 * Bytes are summed, with the third source, with .ACC only. Without it the third source has no
 * effect: it is that of PTX's vabsdiff4, whose bytes stand where the mask of the result leaves some
 * out. [measured: ptxas makes VABSDIFF4 of full masks only, with that source]
 */
bool wsi_alu_prepare_absdiff(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	bool bytes = b->op == WS_OP_VABSDIFF4;
	if (!wsi_alu_shape(b, 3, 0))
		return false;
	alu->kind = bytes ? 8 : 32;
	alu->is_signed = !wsi_alu_have(b, bytes ? WS_MOD_U8 : WS_MOD_U32);
	alu->upper = !bytes || wsi_alu_have(b, WS_MOD_ACC);
	alu->run = run_absdiff;
	return wsi_alu_drops_predicates(alu);
}

/* ---- VIMNMX, VIMNMX3, VIADDMNMX, IMNMX of 64 bits ---- */

WSI_INLINE int64_t lesser(int64_t a, int64_t b, bool min)
{
	return (a < b) == min ? a : b;
}

/*
 * Of two or three values, or of a sum and one more; with .RELU not less than 0. The predicates tell
 * of the lower and the upper half whether the first source is the result. [measured: by the code
 * that nvcc makes of __vibmax_s16x2() around them]
 */
static void run_part_minmax(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	unsigned bits = alu->kind, n = alu->n_sources;
	uint32_t min = wsi_predicate(alu, io, 0), first[2] = { 0 };
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint32_t word = 0;
		bool less = min >> l & 1;
		for (unsigned at = 0; at < 32; at += bits) {
			int64_t v[3] = { 0 };
			for (unsigned i = 0; i < n; i++)
				v[i] = part_of(io->source[i][l], at, bits, alu->is_signed);
			if (at < 2 * bits)
				first[at != 0] |= (uint32_t)(less ? v[0] <= v[1] : v[0] >= v[1])
						  << l;
			if (alu->upper) {
				int64_t sum = v[0] + (alu->flip[1] ? -v[1] : v[1]);
				v[0] = part_of((uint64_t)sum, 0, bits, alu->is_signed);
				v[1] = v[2];
			}
			int64_t value = lesser(v[0], v[1], less);
			if (n == 3 && !alu->upper)
				value = lesser(value, v[2], less);
			if (alu->relu && value < 0)
				value = 0;
			word |= (uint32_t)((uint64_t)value & ((UINT64_C(1) << bits) - 1)) << at;
		}
		io->result[0][l] = word;
	}
	io->predicate_result[0] = first[0];
	io->predicate_result[1] = first[1];
}

bool wsi_alu_prepare_part_minmax(struct wsi_alu_build *b)
{
	static const enum ws_modifier halves[] = { WS_MOD_U16x2, WS_MOD_S16x2 };
	static const enum ws_modifier bytes[] = { WS_MOD_U8x4, WS_MOD_S8x4 };
	static const enum ws_modifier unsigneds[] = { WS_MOD_U32, WS_MOD_U16x2, WS_MOD_U8x4 };
	struct wsi_alu *alu = b->alu;
	alu->upper = b->op == WS_OP_VIADDMNMX;
	if (!wsi_alu_shape(b, b->op == WS_OP_VIMNMX ? 2 : 3, 1) || b->negated[0] || b->negated[2])
		return false;
	alu->kind = any_modifier_of(b, bytes, 2) ? 8 : any_modifier_of(b, halves, 2) ? 16 : 32;
	alu->is_signed = !any_modifier_of(b, unsigneds, WSI_COUNT(unsigneds));
	alu->relu = wsi_alu_have(b, WS_MOD_RELU);
	alu->flip[1] = b->negated[1] ? UINT32_MAX : 0;
	if (b->op == WS_OP_VIMNMX && alu->kind == 32 && !alu->relu && wsi_alu_drops_predicates(alu))
		return wsi_alu_prepare_minmax(b);
	alu->run = run_part_minmax;
	/* What they tell of other parts than halves is not known. */
	return wsi_alu_drops_predicates(alu) || (b->op == WS_OP_VIMNMX && alu->kind == 16);
}

static void run_minmax_wide(const struct wsi_alu *alu, struct wsi_alu_io *io)
{
	uint32_t min = wsi_predicate(alu, io, 0);
	uint64_t bias = alu->is_signed ? UINT64_C(1) << 63 : 0;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++) {
		uint64_t a = wsi_pair(io, 0, l), b = wsi_pair(io, 1, l);
		bool less = (a ^ bias) < (b ^ bias);
		wsi_put_wide(io, l, less == (min >> l & 1) ? a : b);
	}
}

bool wsi_alu_prepare_minmax_wide(struct wsi_alu_build *b)
{
	struct wsi_alu *alu = b->alu;
	alu->is_signed = wsi_alu_have(b, WS_MOD_S64);
	alu->run = run_minmax_wide;
	return wsi_alu_widen(b, 0) && wsi_alu_widen(b, 1) && alu->result[0].words == 2;
}
