/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a slice, from those of its leaves. */
#include "base/base.h"
#include "flow/flow.h"

struct eval {
	const struct ws_flow_slice *slice;
	ws_flow_leaf_fn *leaf;
	void *user;
	uint64_t value[WS_FLOW_MAX_NODES];
	bool known[WS_FLOW_MAX_NODES];
};

/* Two arguments; shifts of as much as the width or more give what the hardware gives: no bit. */
static bool eval_two(const struct ws_flow_node *node, uint64_t a, uint64_t b, uint64_t *ret_value)
{
	uint64_t width = node->bits, count = b < width ? b : width;
	int64_t sa = width == 64 ? (int64_t)a : (int32_t)(uint32_t)a;
	int64_t sb = width == 64 ? (int64_t)b : (int32_t)(uint32_t)b;
	bool less = node->is_signed ? sa < sb : a < b;
	switch (node->op) {
	case WS_FLOW_SUB:
		*ret_value = a - b;
		return true;
	case WS_FLOW_MUL:
		*ret_value = a * b;
		return true;
	case WS_FLOW_SHL:
		*ret_value = count == 64 ? 0 : a << count;
		return true;
	case WS_FLOW_SHR:
		*ret_value = count == 64 ? 0 : a >> count;
		return true;
	case WS_FLOW_SAR:
		*ret_value = (uint64_t)(sa >> (count < 64 ? count : 63));
		return true;
	case WS_FLOW_AND:
		*ret_value = a & b;
		return true;
	case WS_FLOW_OR:
		*ret_value = a | b;
		return true;
	case WS_FLOW_XOR:
		*ret_value = a ^ b;
		return true;
	case WS_FLOW_MIN:
		*ret_value = less ? a : b;
		return true;
	case WS_FLOW_MAX:
		*ret_value = less ? b : a;
		return true;
	case WS_FLOW_PAIR:
		*ret_value = (a & UINT32_MAX) | b << 32;
		return true;
	case WS_FLOW_NOTHING:
	case WS_FLOW_ENTRY_REG:
	case WS_FLOW_IMMEDIATE:
	case WS_FLOW_CONSTANT:
	case WS_FLOW_SPECIAL:
	case WS_FLOW_LOAD:
	case WS_FLOW_ATOMIC:
	case WS_FLOW_ADD:
	case WS_FLOW_NOT:
	case WS_FLOW_ZEXT:
	case WS_FLOW_SEXT:
	case WS_FLOW_LOW:
	case WS_FLOW_HIGH:
	case WS_FLOW_SELECT:
	case WS_FLOW_MERGE:
	case WS_FLOW_AGAIN:
	case WS_FLOW_OTHER:
		break;
	}
	return false;
}

static bool eval_one(const struct ws_flow_node *node, uint64_t a, uint64_t *ret_value)
{
	if (node->op == WS_FLOW_NOT)
		*ret_value = ~a;
	else if (node->op == WS_FLOW_ZEXT || node->op == WS_FLOW_LOW)
		*ret_value = a & UINT32_MAX;
	else if (node->op == WS_FLOW_SEXT)
		*ret_value = (uint64_t)(int64_t)(int32_t)(uint32_t)a;
	else if (node->op == WS_FLOW_HIGH)
		*ret_value = a >> 32;
	else
		return false;
	return true;
}

/* Alternatives are known only when all are and are the same. */
static bool eval_same(const struct eval *eval, const struct ws_flow_node *node, uint64_t *ret_value)
{
	for (unsigned i = 0; i < node->n_args; i++) {
		if (!eval->known[node->arg[i]] ||
		    eval->value[node->arg[i]] != eval->value[node->arg[0]])
			return false;
	}
	*ret_value = eval->value[node->arg[0]];
	return node->n_args > 0;
}

static bool eval_sum(const struct eval *eval, const struct ws_flow_node *node, uint64_t *ret_value)
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
static bool eval_memory(const struct eval *eval, const struct ws_flow_node *node, uint64_t argument,
			uint64_t *ret_value)
{
	if (!eval->leaf(eval->user, node, argument, ret_value))
		return false;
	if (node->is_signed && node->bytes == 1)
		*ret_value = (uint64_t)(int64_t)(int8_t)(uint8_t)*ret_value;
	else if (node->is_signed && node->bytes == 2)
		*ret_value = (uint64_t)(int64_t)(int16_t)(uint16_t)*ret_value;
	return true;
}

/* One node whose arguments, which have greater numbers, are done. */
static bool eval_node(const struct eval *eval, const struct ws_flow_node *node, uint64_t *ret_value)
{
	bool have_a = node->n_args > 0 && eval->known[node->arg[0]];
	uint64_t a = have_a ? eval->value[node->arg[0]] : 0;
	switch (node->op) {
	case WS_FLOW_IMMEDIATE:
		*ret_value = (uint64_t)node->value;
		return true;
	case WS_FLOW_SPECIAL:
	case WS_FLOW_ENTRY_REG:
		return eval->leaf(eval->user, node, 0, ret_value);
	case WS_FLOW_CONSTANT:
		return (have_a || !node->n_args) && eval_memory(eval, node, a, ret_value);
	case WS_FLOW_LOAD:
		return have_a && eval_memory(eval, node, a, ret_value);
	case WS_FLOW_ADD:
		return eval_sum(eval, node, ret_value);
	case WS_FLOW_SELECT:
	case WS_FLOW_MERGE:
		return eval_same(eval, node, ret_value);
	case WS_FLOW_NOT:
	case WS_FLOW_ZEXT:
	case WS_FLOW_SEXT:
	case WS_FLOW_LOW:
	case WS_FLOW_HIGH:
		return have_a && eval_one(node, a, ret_value);
	case WS_FLOW_SUB:
	case WS_FLOW_MUL:
	case WS_FLOW_SHL:
	case WS_FLOW_SHR:
	case WS_FLOW_SAR:
	case WS_FLOW_AND:
	case WS_FLOW_OR:
	case WS_FLOW_XOR:
	case WS_FLOW_MIN:
	case WS_FLOW_MAX:
	case WS_FLOW_PAIR:
		return have_a && node->n_args == 2 && eval->known[node->arg[1]] &&
		       eval_two(node, a, eval->value[node->arg[1]], ret_value);
	case WS_FLOW_NOTHING:
	case WS_FLOW_ATOMIC:
	case WS_FLOW_AGAIN:
	case WS_FLOW_OTHER:
		break;
	}
	return false;
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
	struct eval eval = { .slice = slice, .leaf = leaf, .user = user };
	bool needed[WS_FLOW_MAX_NODES] = { false };
	if (node >= slice->n)
		return false;
	mark_needed(slice, node, needed);
	for (size_t i = slice->n; i > node; i--) {
		const struct ws_flow_node *one = &slice->node[i - 1];
		if (!needed[i - 1])
			continue;
		uint64_t value = 0;
		eval.known[i - 1] = eval_node(&eval, one, &value) ||
				    (one->keep_count && leaf(user, one, 0, &value));
		eval.value[i - 1] = one->bits == 32 ? value & UINT32_MAX : value;
	}
	*ret_value = eval.value[node];
	return eval.known[node];
}
