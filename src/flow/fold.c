/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes expressions simpler: numbers are computed, pairs of what belongs together become one value,
 * sums of one term that term. Arguments have higher numbers, so one pass from the last node to the
 * first sees them simple already. Nodes that nothing refers to any more stay where they are.
 */
#include "base/base.h"
#include "flow/slice.h"

static struct ws_flow_node *arg_of(struct ws_flow_slice *slice, const struct ws_flow_node *node,
				   unsigned i)
{
	return &slice->node[node->arg[i]];
}

static bool is_number(const struct ws_flow_node *node)
{
	return node->op == WS_FLOW_IMMEDIATE;
}

/* A number cut to its width: of 32 bits it is kept signed. */
static int64_t cut(uint64_t value, unsigned bits)
{
	return bits == 32 ? (int32_t)(uint32_t)value : (int64_t)value;
}

static void make_number(struct ws_flow_node *node, uint64_t value)
{
	*node = (struct ws_flow_node){ .op = WS_FLOW_IMMEDIATE,
				       .bits = node->bits,
				       .value = cut(value, node->bits) };
}

/* The same value, whatever place it was asked at. */
static bool same_values(const struct ws_flow_slice *slice, uint16_t a, uint16_t b)
{
	for (unsigned depth = 0; depth < 8; depth++) {
		const struct ws_flow_node *x = &slice->node[a], *y = &slice->node[b];
		if (a == b)
			return true;
		if (x->op != y->op || x->bits != y->bits || x->bytes != y->bytes ||
		    x->number != y->number || x->kind != y->kind || x->value != y->value ||
		    x->n_args != y->n_args || x->op == WS_FLOW_NOTHING)
			return false;
		bool fixed = x->op == WS_FLOW_CONSTANT || x->op == WS_FLOW_IMMEDIATE;
		if (!fixed && x->pc != y->pc)
			return false;
		if (x->n_args == 0)
			return true;
		for (unsigned i = 1; i < x->n_args; i++)
			if (x->arg[i] != y->arg[i] &&
			    !(is_number(&slice->node[x->arg[i]]) &&
			      is_number(&slice->node[y->arg[i]]) &&
			      slice->node[x->arg[i]].value == slice->node[y->arg[i]].value))
				return false;
		a = x->arg[0];
		b = y->arg[0];
	}
	return false;
}

/* ---- sums ---- */

/* Adds up the numbers of a sum; a sum of one term is that term. */
static void flatten_sum(struct ws_flow_slice *slice, struct ws_flow_node *node)
{
	uint16_t arg[WS_FLOW_MAX_ARGS];
	uint64_t number = 0;
	unsigned n = 0;
	uint16_t number_at = UINT16_MAX;
	for (unsigned i = 0; i < node->n_args; i++) {
		const struct ws_flow_node *from = arg_of(slice, node, i);
		if (is_number(from)) {
			number += (uint64_t)from->value;
			number_at = node->arg[i];
		} else {
			arg[n++] = node->arg[i];
		}
	}
	if (n == 0) {
		make_number(node, number);
		return;
	}
	number = (uint64_t)cut(number, node->bits);
	if (number) {
		slice->node[number_at].value = (int64_t)number;
		slice->node[number_at].bits = node->bits;
		arg[n++] = number_at;
	}
	if (n == 1) {
		uint8_t bits = node->bits;
		*node = slice->node[arg[0]];
		node->bits = bits;
		return;
	}
	node->n_args = (uint8_t)n;
	memcpy(node->arg, arg, n * sizeof *arg);
}

/* ---- parts of a register ---- */

/* The bits that a value can have. */
static uint64_t bits_of(struct ws_flow_slice *slice, const struct ws_flow_node *node)
{
	bool memory = node->op == WS_FLOW_LOAD || node->op == WS_FLOW_CONSTANT;
	const struct ws_flow_node *number = node->n_args == 2 ? &slice->node[node->arg[1]] : NULL;
	if (memory && !node->is_signed && node->bytes > 0 && node->bytes < 4)
		return (UINT64_C(1) << node->bytes * 8) - 1;
	if (node->op == WS_FLOW_AND && is_number(number))
		return node->bits == 32 ? (uint32_t)number->value : (uint64_t)number->value;
	if (node->op == WS_FLOW_OR && node->n_args == 2)
		return bits_of(slice, arg_of(slice, node, 0)) | bits_of(slice, number);
	return node->bits == 32 ? UINT32_MAX : UINT64_MAX;
}

/* A mask that leaves everything, or everything that the mask within it leaves, is none; what it
 * leaves nothing of is not there. */
static void fold_mask(struct ws_flow_slice *slice, struct ws_flow_node *node)
{
	struct ws_flow_node *from = arg_of(slice, node, 0);
	uint64_t mask = bits_of(slice, node);
	for (unsigned i = 0; i < 2 && from->op == WS_FLOW_OR && from->n_args == 2; i++) {
		if (bits_of(slice, arg_of(slice, from, i)) & mask)
			continue;
		node->arg[0] = from->arg[1 - i];
		from = arg_of(slice, node, 0);
	}
	if (!(bits_of(slice, from) & ~mask))
		*node = *from;
	else if (from->op == WS_FLOW_AND && is_number(arg_of(slice, from, 1)) &&
		 !(mask & ~bits_of(slice, from))) {
		node->arg[0] = from->arg[0];
		fold_mask(slice, node);
	}
}

/* x << by >> by of a load of so many bits: it is extended by its sign. */
static void fold_sign(struct ws_flow_slice *slice, struct ws_flow_node *node)
{
	const struct ws_flow_node *shift = arg_of(slice, node, 0), *by = arg_of(slice, node, 1);
	if (shift->op != WS_FLOW_SHL || node->bits != 32 || !is_number(by) ||
	    !is_number(arg_of(slice, shift, 1)) || arg_of(slice, shift, 1)->value != by->value)
		return;
	const struct ws_flow_node *from = arg_of(slice, shift, 0);
	bool memory = from->op == WS_FLOW_LOAD || from->op == WS_FLOW_CONSTANT;
	if (!memory || from->bytes == 0 || from->bytes > 2 || from->bytes * 8 != 32 - by->value)
		return;
	struct ws_flow_node was = *node;
	*node = *from;
	node->is_signed = true;
	node->keep_pc = was.keep_pc;
	node->keep_count = was.keep_count;
	node->keep_number = was.keep_number;
	node->keep_behind = was.keep_behind;
}

/* ---- products, shifts and masks ---- */

static void fold_two(struct ws_flow_slice *slice, struct ws_flow_node *node)
{
	const struct ws_flow_node *a = arg_of(slice, node, 0), *b = arg_of(slice, node, 1);
	if (!is_number(b))
		return;
	const uint64_t y = node->bits == 32 ? (uint32_t)b->value : (uint64_t)b->value;
	if ((node->op == WS_FLOW_MUL && y == 1) ||
	    (y == 0 && node->op != WS_FLOW_MUL && node->op != WS_FLOW_AND &&
	     node->op != WS_FLOW_MIN && node->op != WS_FLOW_MAX))
		*node = *a;
	else if (node->op == WS_FLOW_AND)
		fold_mask(slice, node);
	else if (node->op == WS_FLOW_SAR)
		fold_sign(slice, node);
}

/* ---- pairs ---- */

static bool is_sign_of_half(const struct ws_flow_slice *slice, uint16_t high, uint16_t low)
{
	const struct ws_flow_node *node = &slice->node[high];
	return node->op == WS_FLOW_SAR && is_number(&slice->node[node->arg[1]]) &&
	       slice->node[node->arg[1]].value == 31 && same_values(slice, node->arg[0], low);
}

/* Two parts of one thing: bytes of a constant bank, of one load, of one special register. */
static bool adjoin(const struct ws_flow_slice *slice, const struct ws_flow_node *a,
		   const struct ws_flow_node *b)
{
	if (a->op != b->op || a->number != b->number || a->n_args != b->n_args || a->bytes != 4 ||
	    b->bytes != 4 || b->value != a->value + 4)
		return false;
	if (a->op == WS_FLOW_LOAD)
		return a->pc == b->pc && a->space == b->space;
	return a->op == WS_FLOW_CONSTANT &&
	       (a->n_args == 0 || same_values(slice, a->arg[0], b->arg[0]));
}

static void fold_pair(struct ws_flow_slice *slice, struct ws_flow_node *node)
{
	uint16_t low = node->arg[0], high = node->arg[1];
	const struct ws_flow_node *a = &slice->node[low], *b = &slice->node[high];
	if (is_number(b) && b->value == 0) {
		node->op = WS_FLOW_ZEXT;
		node->n_args = 1;
	} else if (is_sign_of_half(slice, high, low)) {
		node->op = WS_FLOW_SEXT;
		node->n_args = 1;
	} else if (a->op == WS_FLOW_LOW && b->op == WS_FLOW_HIGH &&
		   same_values(slice, a->arg[0], b->arg[0])) {
		*node = *arg_of(slice, a, 0);
	} else if (adjoin(slice, a, b)) {
		*node = *a;
		node->bits = 64;
		node->bytes = 8;
		node->keep_count = 0;
	}
}

static void fold_half(struct ws_flow_slice *slice, struct ws_flow_node *node)
{
	const struct ws_flow_node *from = arg_of(slice, node, 0);
	bool low = node->op == WS_FLOW_LOW;
	if (low && (from->op == WS_FLOW_ZEXT || from->op == WS_FLOW_SEXT))
		*node = *arg_of(slice, from, 0);
	else if (from->op == WS_FLOW_PAIR)
		*node = *arg_of(slice, from, low ? 0 : 1);
}

/* Parts of a merge that are the same are one. */
static void fold_choice(struct ws_flow_slice *slice, struct ws_flow_node *node)
{
	for (unsigned i = 1; i < node->n_args; i++)
		if (!same_values(slice, node->arg[0], node->arg[i]))
			return;
	if (node->n_args && arg_of(slice, node, 0)->op != WS_FLOW_AGAIN)
		*node = *arg_of(slice, node, 0);
}

/* Computes what has only numbers. */
static bool fold_numbers(struct ws_flow_slice *slice, struct ws_flow_node *node)
{
	const unsigned n = wsi_flow_takes(node->op);
	uint64_t value[2] = { 0 };
	if (!n || node->n_args != n)
		return false;
	for (unsigned i = 0; i < n; i++) {
		const struct ws_flow_node *from = arg_of(slice, node, i);
		if (!is_number(from))
			return false;
		value[i] =
			node->bits == 32 && n == 2 ? (uint32_t)from->value : (uint64_t)from->value;
	}
	make_number(node, wsi_flow_compute(node, value[0], value[1]));
	return true;
}

static void fold_node(struct ws_flow_slice *slice, struct ws_flow_node *node)
{
	if (fold_numbers(slice, node))
		return;
	if (node->op == WS_FLOW_ADD)
		flatten_sum(slice, node);
	else if (node->op == WS_FLOW_LOW || node->op == WS_FLOW_HIGH)
		fold_half(slice, node);
	else if (node->op == WS_FLOW_PAIR)
		fold_pair(slice, node);
	else if (node->op == WS_FLOW_SELECT || node->op == WS_FLOW_MERGE)
		fold_choice(slice, node);
	else if (node->op == WS_FLOW_IMMEDIATE)
		node->value = cut((uint64_t)node->value, node->bits);
	else if (wsi_flow_takes(node->op) == 2 && node->n_args == 2)
		fold_two(slice, node);
}

void wsi_fold(struct ws_flow_slice *slice)
{
	for (size_t i = slice->n; i-- > 0;)
		fold_node(slice, &slice->node[i]);
}
