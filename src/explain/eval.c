/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recomputes a value from what cannot have changed: constant banks, the coordinates of the thread,
 * numbers in the code; and from memory, which may have changed. The expression is a slice (flow.h);
 * if it ends at a register that the function was called with, it continues in the caller.
 */
#include "explain/explain.h"

struct slice_eval {
	const struct wsi_scene *scene;
	uint32_t lane, depth;
	unsigned *uses;
	bool by_registers; /* that still hold what the code had */
};

static bool eval_special(const struct slice_eval *eval, unsigned number, uint64_t *ret_value)
{
	const struct wsi_scene *scene = eval->scene;
	bool in_block = scene->have_block, in_context = scene->have_context;
	if (number == WS_SR_LANEID) {
		*ret_value = eval->lane;
	} else if (number >= WS_SR_TID_X && number <= WS_SR_TID_Z) {
		*ret_value = wsi_axis(scene->lane[eval->lane].thread, number - WS_SR_TID_X);
	} else if (number >= WS_SR_CTAID_X && number <= WS_SR_CTAID_Z && in_block) {
		*ret_value = wsi_axis(scene->block.idx, number - WS_SR_CTAID_X);
	} else if (number == WS_SR_SWINHI && in_context && scene->context.shared_window_base) {
		*ret_value = scene->context.shared_window_base >> 32;
	} else if (number == WS_SR_LWINHI && in_context && scene->context.local_window_base) {
		*ret_value = scene->context.local_window_base >> 32;
	} else {
		return number == WS_SR_CgaCtaId && wsi_scene_rank(scene, ret_value);
	}
	return true;
}

/* A load or a constant: `argument` is its address, or the register part of it. */
static bool slice_eval_memory(const struct slice_eval *eval, const struct ws_flow_node *node,
			      uint64_t argument, uint64_t *ret_value)
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

static bool eval_entry(const struct slice_eval *eval, const struct ws_flow_node *node,
		       uint64_t *ret_value)
{
	const struct ws_flow_slice *slice = wsi_eval_argument(eval->scene, node, eval->depth);
	if (!slice || eval->scene->arguments->n_evals == 0)
		return false;
	eval->scene->arguments->n_evals--;
	return wsi_eval(eval->scene, slice, 0, eval->lane, eval->depth + 1, ret_value, eval->uses);
}

/* A register that has had the value since. Calls on the way to the instruction are not looked into.
 */
static bool eval_kept(const struct slice_eval *eval, const struct ws_flow_node *node,
		      uint64_t *ret_value)
{
	const struct wsi_scene *scene = eval->scene;
	return eval->by_registers && eval->depth == 0 && node->keep_count * 32u == node->bits &&
	       scene->code.flow && !scene->build->classic &&
	       ws_flow_keeps(scene->code.flow, node->keep_pc, node->keep_behind,
			     scene->lane[eval->lane].pc, WS_OPERAND_REG, node->keep_number,
			     node->keep_count) &&
	       wsi_scene_register(scene, eval->lane, WS_OPERAND_REG, node->keep_number,
				  node->keep_count, ret_value) == WS_OK;
}

/* A `ws_flow_leaf_fn`. */
static bool eval_leaf(void *user, const struct ws_flow_node *node, const uint64_t *argument,
		      uint64_t *ret_value)
{
	const struct slice_eval *eval = user;
	if (!argument)
		return eval_kept(eval, node, ret_value);
	if (node->op == WS_FLOW_SPECIAL)
		return eval_special(eval, node->number, ret_value);
	if (node->op == WS_FLOW_ENTRY_REG)
		return eval_entry(eval, node, ret_value);
	if (node->op == WS_FLOW_CONSTANT)
		return slice_eval_memory(eval, node, *argument, ret_value);
	if (eval_kept(eval, node, ret_value))
		return true;
	return node->op == WS_FLOW_LOAD && slice_eval_memory(eval, node, *argument, ret_value);
}

static bool slice_eval_node(struct slice_eval *eval, const struct ws_flow_slice *slice,
			    uint16_t node, uint64_t *ret_value, unsigned *uses)
{
	unsigned own = 0;
	eval->uses = &own;
	if (!ws_flow_value(slice, node, eval_leaf, eval, ret_value))
		return false;
	*uses |= own;
	return true;
}

bool wsi_eval(const struct wsi_scene *scene, const struct ws_flow_slice *slice, uint16_t node,
	      uint32_t lane, uint32_t depth, uint64_t *ret_value, unsigned *uses)
{
	struct slice_eval eval = { .scene = scene, .lane = lane, .depth = depth };
	return slice_eval_node(&eval, slice, node, ret_value, uses);
}

bool wsi_eval_kept(const struct wsi_scene *scene, const struct ws_flow_slice *slice, uint16_t node,
		   uint32_t lane, uint32_t depth, uint64_t *ret_value, unsigned *uses)
{
	struct slice_eval eval = {
		.scene = scene, .lane = lane, .depth = depth, .by_registers = true
	};
	return slice_eval_node(&eval, slice, node, ret_value, uses);
}
