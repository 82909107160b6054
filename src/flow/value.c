/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a slice, from those of its leaves. */
#include "base/base.h"
#include "flow/slice.h"

struct value_eval {
	const struct ws_flow_slice *slice;
	ws_flow_leaf_fn *leaf;
	void *user;
	uint64_t value[WS_FLOW_MAX_NODES];
	bool known[WS_FLOW_MAX_NODES];
};

unsigned wsi_flow_takes(enum ws_flow_op op)
{
	static const uint8_t takes[WS_FLOW_OTHER + 1] = {
		[WS_FLOW_SUB] = 2,  [WS_FLOW_MUL] = 2,  [WS_FLOW_SHL] = 2,  [WS_FLOW_SHR] = 2,
		[WS_FLOW_SAR] = 2,  [WS_FLOW_AND] = 2,  [WS_FLOW_OR] = 2,   [WS_FLOW_XOR] = 2,
		[WS_FLOW_MIN] = 2,  [WS_FLOW_MAX] = 2,  [WS_FLOW_PAIR] = 2, [WS_FLOW_NOT] = 1,
		[WS_FLOW_ZEXT] = 1, [WS_FLOW_SEXT] = 1, [WS_FLOW_LOW] = 1,  [WS_FLOW_HIGH] = 1,
	};
	return takes[op];
}

uint64_t wsi_flow_compute(const struct ws_flow_node *node, uint64_t a, uint64_t b)
{
	/* shifts of as much as the width or more give what the hardware gives: no bit */
	const uint64_t width = node->bits, count = b < width ? b : width;
	const int64_t sa = width == 64 ? (int64_t)a : (int32_t)(uint32_t)a;
	const int64_t sb = width == 64 ? (int64_t)b : (int32_t)(uint32_t)b;
	const bool less = node->is_signed ? sa < sb : a < b;
	const uint64_t value[] = {
		[WS_FLOW_SUB] = a - b,
		[WS_FLOW_MUL] = a * b,
		[WS_FLOW_SHL] = count == 64 ? 0 : a << count,
		[WS_FLOW_SHR] = count == 64 ? 0 : a >> count,
		[WS_FLOW_SAR] = (uint64_t)(sa >> (count < 64 ? count : 63)),
		[WS_FLOW_AND] = a & b,
		[WS_FLOW_OR] = a | b,
		[WS_FLOW_XOR] = a ^ b,
		[WS_FLOW_MIN] = less ? a : b,
		[WS_FLOW_MAX] = less ? b : a,
		[WS_FLOW_PAIR] = (a & UINT32_MAX) | b << 32,
		[WS_FLOW_NOT] = ~a,
		[WS_FLOW_ZEXT] = a & UINT32_MAX,
		[WS_FLOW_SEXT] = (uint64_t)(int64_t)(int32_t)(uint32_t)a,
		[WS_FLOW_LOW] = a & UINT32_MAX,
		[WS_FLOW_HIGH] = a >> 32,
	};
	return value[node->op];
}

/* Alternatives are known only when all are and are the same. */
static bool eval_same(const struct value_eval *eval, const struct ws_flow_node *node,
		      uint64_t *ret_value)
{
	for (unsigned i = 0; i < node->n_args; i++) {
		if (!eval->known[node->arg[i]] ||
		    eval->value[node->arg[i]] != eval->value[node->arg[0]])
			return false;
	}
	*ret_value = eval->value[node->arg[0]];
	return node->n_args > 0;
}

static bool eval_sum(const struct value_eval *eval, const struct ws_flow_node *node,
		     uint64_t *ret_value)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < node->n_args; i++) {
		if (!eval->known[node->arg[i]])
			return false;
		sum += eval->value[node->arg[i]];
	}
	*ret_value = sum;
	return true;
}

/* What memory holds at an address, as wide as the value. */
static bool value_eval_memory(const struct value_eval *eval, const struct ws_flow_node *node,
			      uint64_t argument, uint64_t *ret_value)
{
	if (!eval->leaf(eval->user, node, &argument, ret_value))
		return false;
	if (node->is_signed && node->bytes == 1)
		*ret_value = (uint64_t)(int64_t)(int8_t)(uint8_t)*ret_value;
	else if (node->is_signed && node->bytes == 2)
		*ret_value = (uint64_t)(int64_t)(int16_t)(uint16_t)*ret_value;
	return true;
}

/* One node whose arguments, which have greater numbers, are done. */
static bool value_eval_node(const struct value_eval *eval, const struct ws_flow_node *node,
			    uint64_t *ret_value)
{
	const unsigned n = wsi_flow_takes(node->op);
	const bool have_a = node->n_args > 0 && eval->known[node->arg[0]];
	const uint64_t a = have_a ? eval->value[node->arg[0]] : 0;
	if (n) {
		if (!have_a || node->n_args != n || !eval->known[node->arg[n - 1]])
			return false;
		*ret_value = wsi_flow_compute(node, a, eval->value[node->arg[n - 1]]);
		return true;
	}
	if (node->op == WS_FLOW_IMMEDIATE) {
		*ret_value = (uint64_t)node->value;
		return true;
	}
	if (node->op == WS_FLOW_SPECIAL || node->op == WS_FLOW_ENTRY_REG)
		return eval->leaf(eval->user, node, &(uint64_t){ 0 }, ret_value);
	if (node->op == WS_FLOW_LOAD || node->op == WS_FLOW_CONSTANT)
		return (have_a || (node->op == WS_FLOW_CONSTANT && !node->n_args)) &&
		       value_eval_memory(eval, node, a, ret_value);
	if (node->op == WS_FLOW_ADD)
		return eval_sum(eval, node, ret_value);
	return (node->op == WS_FLOW_SELECT || node->op == WS_FLOW_MERGE) &&
	       eval_same(eval, node, ret_value);
}

/* Marks the nodes that a node is made of; their numbers are greater than its own. */
static void mark_needed(const struct ws_flow_slice *slice, uint16_t node, bool *needed)
{
	needed[node] = true;
	for (size_t i = node; i < slice->n; i++) {
		for (unsigned arg = 0; needed[i] && arg < slice->node[i].n_args; arg++)
			needed[slice->node[i].arg[arg]] = true;
	}
}

bool ws_flow_value(const struct ws_flow_slice *slice, uint16_t node, ws_flow_leaf_fn *leaf,
		   void *user, uint64_t *ret_value)
{
	struct value_eval eval = { .slice = slice, .leaf = leaf, .user = user };
	bool needed[WS_FLOW_MAX_NODES] = { false };
	if (node >= slice->n)
		return false;
	mark_needed(slice, node, needed);
	for (size_t i = slice->n; i > node; i--) {
		const struct ws_flow_node *one = &slice->node[i - 1];
		if (!needed[i - 1])
			continue;
		uint64_t value = 0;
		eval.known[i - 1] = value_eval_node(&eval, one, &value) ||
				    (one->keep_count && leaf(user, one, NULL, &value));
		eval.value[i - 1] = one->bits == 32 ? value & UINT32_MAX : value;
	}
	*ret_value = eval.value[node];
	return eval.known[node];
}
