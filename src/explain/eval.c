/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recomputes a value from what cannot have changed: constant banks, the coordinates of the thread,
 * numbers in the code; and from memory, which may have changed. The expression is a slice (flow.h);
 * if it ends at a register that the function was called with, it continues in the caller.
 */
#include "explain/explain.h"

struct eval {
	const struct wsi_scene *scene;
	const struct ws_flow_slice *slice;
	uint32_t lane, depth;
	unsigned *uses;
	uint64_t value[WS_FLOW_MAX_NODES];
	bool known[WS_FLOW_MAX_NODES];
};

static uint32_t axis_of(struct ws_dim3 dim, uint32_t axis)
{
	return axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z;
}

/* A block's number in its cluster. */
static bool cluster_rank(const struct wsi_scene *scene, uint64_t *ret_rank)
{
	*ret_rank = wsi_dim3_rank(scene->block.idx, scene->block.cluster_dim);
	return scene->have_block && scene->block.have & WS_BLOCK_CLUSTER_DIM;
}

static bool eval_special(const struct eval *eval, unsigned number, uint64_t *ret_value)
{
	const struct wsi_scene *scene = eval->scene;
	bool in_block = scene->have_block, in_context = scene->have_context;
	if (number == WS_SR_LANEID) {
		*ret_value = eval->lane;
	} else if (number >= WS_SR_TID_X && number <= WS_SR_TID_Z) {
		*ret_value = axis_of(scene->lane[eval->lane].thread, number - WS_SR_TID_X);
	} else if (number >= WS_SR_CTAID_X && number <= WS_SR_CTAID_Z && in_block) {
		*ret_value = axis_of(scene->block.idx, number - WS_SR_CTAID_X);
	} else if (number == WS_SR_SWINHI && in_context && scene->context.shared_window_base) {
		*ret_value = scene->context.shared_window_base >> 32;
	} else if (number == WS_SR_LWINHI && in_context && scene->context.local_window_base) {
		*ret_value = scene->context.local_window_base >> 32;
	} else {
		return number == WS_SR_CgaCtaId && cluster_rank(scene, ret_value);
	}
	return true;
}

/* A load or a constant: `argument` is its address, or the register part of it. */
static bool eval_memory(const struct eval *eval, const struct ws_flow_node *node, uint64_t argument,
			uint64_t *ret_value)
{
	unsigned size = node->bytes ? node->bytes : node->bits / 8u;
	if (size > 8)
		return false;
	if (node->op == WS_FLOW_CONSTANT)
		return wsi_scene_memory(eval->scene, eval->lane, WS_SPACE_CONST, node->number,
					(uint64_t)node->value + argument, size, ret_value) == WS_OK;
	*eval->uses |= WSI_EVAL_MEMORY;
	return wsi_scene_memory(eval->scene, eval->lane, wsi_space_of(node->space), 0,
				argument + (uint64_t)node->value, size, ret_value) == WS_OK;
}

const struct ws_flow_slice *wsi_eval_argument(const struct wsi_scene *scene,
					      const struct ws_flow_node *node, uint32_t depth)
{
	struct wsi_arguments *known = scene->arguments;
	if (depth >= scene->n_callers || !scene->callers[depth].code.flow || !known)
		return NULL;
	for (uint32_t i = 0; i < known->n; i++) {
		const struct wsi_argument *one = &known->at[i];
		if (one->depth == depth && one->kind == node->kind && one->number == node->number &&
		    one->bits == node->bits)
			return one->slice;
	}
	if (known->n == WSI_COUNT(known->at))
		return NULL;
	const struct wsi_caller *caller = &scene->callers[depth];
	struct wsi_argument *one = &known->at[known->n++];
	*one = (struct wsi_argument){ depth, node->kind, node->bits, node->number,
				      wsi_zalloc(sizeof *one->slice) };
	if (one->slice &&
	    ws_flow_slice(caller->code.flow, caller->call_pc, (enum ws_operand_kind)node->kind,
			  node->number, node->bits, one->slice, NULL) != WS_OK) {
		wsi_free(one->slice);
		one->slice = NULL;
	}
	return one->slice;
}

static bool eval_entry(const struct eval *eval, const struct ws_flow_node *node,
		       uint64_t *ret_value)
{
	const struct ws_flow_slice *slice = wsi_eval_argument(eval->scene, node, eval->depth);
	if (!slice || eval->scene->arguments->n_evals == 0)
		return false;
	eval->scene->arguments->n_evals--;
	return wsi_eval(eval->scene, slice, 0, eval->lane, eval->depth + 1, ret_value, eval->uses);
}

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
		return eval_special(eval, node->number, ret_value);
	case WS_FLOW_ENTRY_REG:
		return eval_entry(eval, node, ret_value);
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

bool wsi_eval(const struct wsi_scene *scene, const struct ws_flow_slice *slice, uint16_t node,
	      uint32_t lane, uint32_t depth, uint64_t *ret_value, unsigned *uses)
{
	struct eval eval = {
		.scene = scene, .slice = slice, .lane = lane, .depth = depth, .uses = uses
	};
	bool needed[WS_FLOW_MAX_NODES] = { false };
	unsigned own = 0;
	eval.uses = &own;
	mark_needed(slice, node, needed);
	for (size_t i = slice->n; i > node; i--) {
		const struct ws_flow_node *one = &slice->node[i - 1];
		if (!needed[i - 1])
			continue;
		uint64_t value = 0;
		eval.known[i - 1] = eval_node(&eval, one, &value);
		eval.value[i - 1] = one->bits == 32 ? value & UINT32_MAX : value;
	}
	if (!eval.known[node])
		return false;
	*ret_value = eval.value[node];
	*uses |= own;
	return true;
}
