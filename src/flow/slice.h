/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slice under construction: nodes in the order in which they were asked for, so that arguments
 * have higher numbers than what they are arguments of. Each node waits as a request until its turn:
 * a value of 32 bits (one half) or of 64 bits (two halves, which need not be registers next to each
 * other), as an instruction finds it, or one definition of it.
 */
#ifndef WSI_FLOW_SLICE_H
#define WSI_FLOW_SLICE_H

#include "flow/flow.h"

/* 32 bits as the instruction `at` finds them: a register, an immediate or a constant. */
struct wsi_half {
	enum ws_operand_kind kind; /* REG, UREG or IMMEDIATE */
	bool constant;             /* c[number][value] */
	uint8_t number;
	int64_t value;
	size_t at;
};

/* What makes two requests the same: all zero but for what applies. */
struct wsi_key {
	uint32_t word[4 * WSI_MAX_DEFS + 2];
};

struct wsi_request {
	enum { WSI_ASK_NOTHING, WSI_ASK_HALF, WSI_ASK_WIDE, WSI_ASK_DEF, WSI_ASK_DEF_WIDE } kind;
	struct wsi_half half[2]; /* lower, upper */
	struct wsi_def def[2];
	struct wsi_key key; /* of the definitions, for loops */
	uint16_t parent;
};

struct wsi_slicer {
	const struct ws_flow *flow;
	struct ws_flow_slice *slice;
	struct wsi_reach reach;
	struct wsi_request request[WS_FLOW_MAX_NODES];
};

/* ---- slice.c: new nodes; all return the number of the node ---- */

/* A node that is complete but for its arguments. */
uint16_t wsi_node_new(struct wsi_slicer *s, uint16_t parent, enum ws_flow_op op, unsigned bits,
		      size_t at);
uint16_t wsi_node_immediate(struct wsi_slicer *s, uint16_t parent, int64_t value, unsigned bits);
uint16_t wsi_node_half(struct wsi_slicer *s, uint16_t parent, struct wsi_half half);
uint16_t wsi_node_wide(struct wsi_slicer *s, uint16_t parent, struct wsi_half low,
		       struct wsi_half high);
/* The pair that the instruction `at` writes from register `low` on. */
uint16_t wsi_node_def_wide(struct wsi_slicer *s, uint16_t parent, struct wsi_half low, size_t at);
/* Appends an argument to a node; a node that is full loses its meaning. */
void wsi_node_arg(struct wsi_slicer *s, uint16_t node, uint16_t arg);
/* Makes a node of 32 bits, whose turn it is, the value of another half. */
void wsi_node_become(struct wsi_slicer *s, uint16_t node, struct wsi_half half);
void wsi_node_become_wide(struct wsi_slicer *s, uint16_t node, struct wsi_half low,
			  struct wsi_half high);
/* Makes a node one that is complete but for its arguments. */
struct ws_flow_node *wsi_node_set(struct wsi_slicer *s, uint16_t node, enum ws_flow_op op,
				  unsigned bits, size_t at);
/* Makes a node one that is not known. */
void wsi_node_lose(struct wsi_slicer *s, uint16_t node, const char *why, size_t at);

/* Source `i` as a half; false: it is no half (a predicate, an address, |R4|), or not there. */
bool wsi_half_of(const struct wsi_parts *parts, size_t i, struct wsi_half *ret_half);
/* The first `n` sources, none of them with a sign. */
bool wsi_halves_of(const struct wsi_parts *parts, size_t n, struct wsi_half *ret_half);
/* The half above. */
struct wsi_half wsi_half_above(struct wsi_half half);
static inline struct wsi_half wsi_half_immediate(int64_t value)
{
	return (struct wsi_half){ .kind = WS_OPERAND_IMMEDIATE, .value = value };
}
bool wsi_half_is(const struct wsi_half *half, int64_t value);
/* Whether two halves are one register, number or constant; at different places it may have another
 * value. */
bool wsi_half_alike(const struct wsi_half *a, const struct wsi_half *b);
/* Whether two instructions find the same in a half: a number, or what the same definitions gave. */
bool wsi_half_same(struct wsi_slicer *s, const struct wsi_half *a, const struct wsi_half *b);

/*
 * Follows copies: what a half was copied from, as far as single sure definitions go. Tells the
 * definitions of a register that is left.
 */
void wsi_half_origin(struct wsi_slicer *s, struct wsi_half *half, struct wsi_defs *ret_defs);

/* ---- express.c ---- */

/* If the instruction only copies 32 bits: from where. */
bool wsi_copies(const struct wsi_parts *parts, struct wsi_half *ret_from);
/* Makes a node the value that the instruction `at` gives to `number`. */
void wsi_express(struct wsi_slicer *s, uint16_t node, size_t at, const struct wsi_half *half);
/* Makes a node of 64 bits the pair of registers from `low` on, which one instruction writes. */
void wsi_express_wide(struct wsi_slicer *s, uint16_t node, size_t at, const struct wsi_half *low);
/* The sum of terms in an address operand; gives the node its arguments. */
void wsi_express_address(struct wsi_slicer *s, uint16_t node, const struct wsi_source *source,
			 size_t at);
bool wsi_flow_address_is_wide(const struct wsi_source *source);

/* ---- wide.c ---- */

/*
 * 64 bits of two instructions: `low` at `low_at`, `high` at `high_at`. False when no rule makes
 * them one number.
 */
bool wsi_express_halves(struct wsi_slicer *s, uint16_t node, const struct wsi_half *low,
			size_t low_at, const struct wsi_half *high, size_t high_at);

/* The number `low`, whatever its definitions, if the instruction `high_at` gives its sign above. */
bool wsi_express_sign(struct wsi_slicer *s, uint16_t node, const struct wsi_half *low,
		      size_t high_at);

/* ---- fold.c ---- */

void wsi_fold(struct ws_flow_slice *slice);

/* value.c: how many arguments an operation computes a number from, 1 or 2; 0: it is none of those.
 * What such a node is for two numbers (for one: `b` is not used), to be cut to its width. */
unsigned wsi_flow_takes(enum ws_flow_op op);
uint64_t wsi_flow_compute(const struct ws_flow_node *node, uint64_t a, uint64_t b);

#endif
