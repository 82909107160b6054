/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of a thread, innermost first. */
#include "verbs/stack.h"

/* Which frames are shown: from `*ret_first` up to, not with, the one that is returned. */
static size_t chosen(const struct ws_stack *stack, const struct ws_bt *bt, size_t *ret_first)
{
	const size_t end = wsi_min_u64(stack->n_frames, bt->limit);
	*ret_first = end - wsi_min_u64(end, bt->outer);
	return end;
}

static enum ws_status bt_json(struct ws_stack *stack, const struct ws_bt *bt, struct ws_out *out,
			      struct ws_error *err)
{
	struct ws_json json;
	enum ws_status st = WS_OK;
	size_t i, end = chosen(stack, bt, &i);
	wsi_verbs_json_begin(stack->threads, "warpscope-bt-1", &json, out);
	ws_json_key_array(&json, "frames");
	for (; st == WS_OK && i < end; i++)
		st = ws_stack_frame_json(stack, i, bt->full, &json, err);
	if (st != WS_OK)
		return st;
	ws_json_end(&json);
	ws_json_key_u64(&json, "left_out",
			stack->n_frames - end + ws_vars_frames_left_out(stack->vars));
	ws_json_key_u64(&json, "in_system", ws_vars_frames_in_system(stack->vars));
	ws_json_end(&json);
	return WS_OK;
}

static enum ws_status bt_text(struct ws_stack *stack, const struct ws_bt *bt, struct ws_out *out,
			      struct ws_error *err)
{
	enum ws_status st = WS_OK;
	size_t i, end = chosen(stack, bt, &i);
	const uint32_t hidden = i == 0 ? ws_vars_frames_in_system(stack->vars) : 0;
	if (hidden)
		ws_out_printf(out, "(%u frame%s of a system call %s not shown)\n", hidden,
			      hidden == 1 ? "" : "s", hidden == 1 ? "is" : "are");
	for (; st == WS_OK && i < end; i++) {
		st = ws_stack_frame_text(stack, i, true, out, err);
		if (st == WS_OK && bt->full)
			st = wsi_stack_variables_text(stack, i, out, err);
	}
	if (end < stack->n_frames || ws_vars_frames_left_out(stack->vars))
		ws_out_text(out, "(More stack frames follow...)\n");
	return st;
}

enum ws_status ws_bt_answer(struct ws_stack *stack, const struct ws_bt *bt,
			    const struct ws_answer_style *style, struct ws_error *err)
{
	return (style->json ? bt_json : bt_text)(stack, bt, style->out, err);
}
