/* SPDX-License-Identifier: Apache-2.0 */
/* For the operations: loops over lanes that compilers vectorise, and what all of them do to
 * sources. */
#ifndef WSI_ALU_LANE_H
#define WSI_ALU_LANE_H

#include "alu/alu.h"
#include "base/base.h"

/*
 * Functions with this mark are compiled twice where that helps; both give the same bits, since no
 * operation depends on the width of vectors.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WSI_LANES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define WSI_LANES
#endif

/* Lanes do not meet: what a lane writes, another never reads. A lane must read before it writes. */
#if defined(__clang__)
#define WSI_FOR_LANES(l) \
	_Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < WSI_ALU_LANES; l++)
#else
#define WSI_FOR_LANES(l) _Pragma("GCC ivdep") for (unsigned l = 0; l < WSI_ALU_LANES; l++)
#endif

#define WSI_INLINE static inline __attribute__((always_inline))

/* Word of a source with its sign: integers `~` or, with an addend elsewhere, `-`; floats `-` and
 * `|`. */
WSI_INLINE uint32_t wsi_word(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned i,
			     unsigned at)
{
	return (io->source[i][at] & alu->keep[i]) ^ alu->flip[i];
}

/* Two words of a source without a sign. */
WSI_INLINE uint64_t wsi_pair(const struct wsi_alu_io *io, unsigned i, unsigned l)
{
	return io->source[i][l] | (uint64_t)io->source[i][WSI_ALU_LANES + l] << 32;
}

WSI_INLINE uint64_t wsi_wide(const struct wsi_alu *alu, const struct wsi_alu_io *io, unsigned i,
			     unsigned l)
{
	return wsi_word(alu, io, i, l) | (uint64_t)wsi_word(alu, io, i, WSI_ALU_LANES + l) << 32;
}

WSI_INLINE void wsi_put_wide(struct wsi_alu_io *io, unsigned l, uint64_t value)
{
	io->result[0][l] = (uint32_t)value;
	io->result[0][WSI_ALU_LANES + l] = (uint32_t)(value >> 32);
}

/* A predicate source as the instruction sees it. */
WSI_INLINE uint32_t wsi_predicate(const struct wsi_alu *alu, const struct wsi_alu_io *io,
				  unsigned i)
{
	return io->predicate[i] ^ alu->predicate_flip[i];
}

/* The mask of one bit by lane from 32 words that are 0 or 1. */
WSI_INLINE uint32_t wsi_gather(const uint32_t bit[WSI_ALU_LANES])
{
	uint32_t mask = 0;
	for (unsigned l = 0; l < WSI_ALU_LANES; l++)
		mask |= bit[l] << l;
	return mask;
}

enum wsi_combine { WSI_AND, WSI_OR, WSI_XOR };

WSI_INLINE uint32_t wsi_combine(unsigned how, uint32_t a, uint32_t b)
{
	return how == WSI_AND ? a & b : how == WSI_OR ? a | b : a ^ b;
}

/* The two results of a comparison: it and its opposite, each combined with a predicate. */
WSI_INLINE void wsi_put_compared(const struct wsi_alu *alu, struct wsi_alu_io *io, uint32_t bits,
				 uint32_t with)
{
	io->predicate_result[0] = wsi_combine(alu->combine, bits, with);
	io->predicate_result[1] = wsi_combine(alu->combine, ~bits, with);
}

/* ---- preparing ---- */

struct wsi_alu_build {
	const struct ws_insn *insn;
	struct wsi_alu *alu;
	enum ws_operation op; /* plain */
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	size_t n_mods;
	bool negated[WSI_ALU_SOURCES], absolute[WSI_ALU_SOURCES], is_float[WSI_ALU_SOURCES];
	uint16_t suffix[WSI_ALU_SOURCES][3]; /* enum ws_modifier: what follows a source */
};

/* Sets `run` and the parameters; false: these modifiers or operands are not implemented. */
typedef bool wsi_alu_preparer(struct wsi_alu_build *b);

bool wsi_alu_have(const struct wsi_alu_build *b, enum ws_modifier modifier);

/* How the name rounds: enum wsi_rounding. */
uint8_t wsi_alu_rounding(const struct wsi_alu_build *b);

/* Whether there are as many register sources and predicate sources. */
bool wsi_alu_shape(const struct wsi_alu_build *b, unsigned n_sources, unsigned n_predicates);

/* Makes a source two words wide; false when the table says that its registers are not two. */
bool wsi_alu_widen(struct wsi_alu_build *b, unsigned i);

/* Takes the last source, a number, away; false when there is none. */
bool wsi_alu_take_number(struct wsi_alu_build *b, uint64_t *ret_number);

/* Whether all predicate results are dropped. */
bool wsi_alu_drops_predicates(const struct wsi_alu *alu);

wsi_alu_preparer wsi_alu_prepare_add, wsi_alu_prepare_mad, wsi_alu_prepare_lea,
	wsi_alu_prepare_lane_add;
wsi_alu_preparer wsi_alu_prepare_minmax, wsi_alu_prepare_iabs, wsi_alu_prepare_isetp,
	wsi_alu_prepare_viset;
wsi_alu_preparer wsi_alu_prepare_logic, wsi_alu_prepare_shift, wsi_alu_prepare_extend,
	wsi_alu_prepare_mask;
wsi_alu_preparer wsi_alu_prepare_count, wsi_alu_prepare_permute;
wsi_alu_preparer wsi_alu_prepare_move, wsi_alu_prepare_select;
wsi_alu_preparer wsi_alu_prepare_plop3, wsi_alu_prepare_p2r, wsi_alu_prepare_r2p;

wsi_alu_preparer wsi_alu_prepare_float, wsi_alu_prepare_float_pairs, wsi_alu_prepare_fminmax,
	wsi_alu_prepare_fsel, wsi_alu_prepare_mixed, wsi_alu_prepare_quad_add;
wsi_alu_preparer wsi_alu_prepare_dot, wsi_alu_prepare_absdiff, wsi_alu_prepare_part_minmax,
	wsi_alu_prepare_minmax_wide;
wsi_alu_preparer wsi_alu_prepare_float_matrix, wsi_alu_prepare_integer_matrix,
	wsi_alu_prepare_double_matrix;
wsi_alu_preparer wsi_alu_prepare_transpose;
wsi_alu_preparer wsi_alu_prepare_half, wsi_alu_prepare_half_minmax, wsi_alu_prepare_half_compare;
wsi_alu_preparer wsi_alu_prepare_f2f, wsi_alu_prepare_frnd, wsi_alu_prepare_f2i,
	wsi_alu_prepare_i2f, wsi_alu_prepare_f2fp;
wsi_alu_preparer wsi_alu_prepare_i2i, wsi_alu_prepare_i2ip, wsi_alu_prepare_mufu,
	wsi_alu_prepare_fchk;
wsi_alu_preparer wsi_alu_prepare_fsetp, wsi_alu_prepare_double, wsi_alu_prepare_dsetp;

/* Sets how floats are compared and combined; false when the name does not tell. */
bool wsi_alu_take_float_comparison(struct wsi_alu_build *b);

#endif
