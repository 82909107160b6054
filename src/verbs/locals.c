/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and variables of a frame; where code without debug information still names something,
 * parameters of the kernel, and what registers hold of them. */
#include <inttypes.h>
#include <stdio.h>

#include <warpscope/report.h>

#include "verbs/stack.h"

/* ---- code without debug information ---- */

/* "arg0 = 0x7f3a00000000  (float*, 8 bytes at c[0x0][0x160])"; without a type, as gdb's /x. */
static void param_show(struct ws_stack *stack, const struct ws_kernel_param *param,
		       struct ws_out *out, struct ws_json *json)
{
	const bool typed = param->type.len > 0;
	const struct ws_value_format format = { .letter = typed ? 0 : 'x' };
	if (json) {
		ws_json_object(json);
		ws_json_key_text(json, "name", param->name);
		if (ws_json_key_or_null(json, "signature_type", typed))
			ws_json_str(json, param->type);
		wsi_stack_value_json(stack, &param->value, format, json);
		ws_json_key_u64(json, "offset", param->bank_offset);
		ws_json_key_u64(json, "size", param->size_bytes);
		ws_json_end(json);
		return;
	}
	ws_out_printf(out, "%s = ", param->name);
	(void)ws_vars_print(stack->vars, &param->value, format, out);
	ws_out_text(out, "  (");
	ws_out_escaped(out, param->type);
	ws_out_printf(out, "%s%" PRIu32 " byte%s at c[0x0][0x%" PRIx32 "])\n", typed ? ", " : "",
		      param->size_bytes, param->size_bytes == 1 ? "" : "s", param->bank_offset);
}

static size_t params_show(struct ws_stack *stack, struct ws_out *out, struct ws_json *json,
			  enum ws_status *ret_status)
{
	size_t n;
	*ret_status = wsi_stack_params(stack, &n, NULL);
	for (size_t i = 0; i < n; i++)
		param_show(stack, &stack->room->params[i], out, json);
	return n;
}

static const char *doubt_text(enum ws_held_doubt doubt)
{
	return ws_confidence_text(doubt == WS_HELD_CERTAIN  ? WS_CONFIDENCE_CERTAIN
				  : doubt == WS_HELD_LIKELY ? WS_CONFIDENCE_LIKELY
							    : WS_CONFIDENCE_POSSIBLE);
}

static void held_show(struct ws_stack *stack, struct ws_out *out, struct ws_json *json)
{
	size_t n = 0;
	if (ws_vars_held(stack->vars, stack->room->held, WSI_MOST_HELD, &n, NULL) != WS_OK)
		n = 0;
	n = wsi_min_u64(n, WSI_MOST_HELD);
	if (n && !json)
		ws_out_text(out, "What registers hold, by the code:\n");
	for (size_t i = 0; i < n; i++) {
		const struct ws_held *held = &stack->room->held[i];
		const char *kind = held->kind == WS_REG_UR ? "UR" : "R";
		char name[16], value[24];
		snprintf(name, sizeof name, "%s%s%" PRIu32, kind, held->n == 2 ? "D" : "",
			 held->number);
		if (held->n == 2)
			snprintf(value, sizeof value, "0x%" PRIx64, held->value);
		else
			snprintf(value, sizeof value, "%" PRId32, (int32_t)held->value);
		if (json) {
			ws_json_object(json);
			ws_json_key_text(json, "register", name);
			ws_json_key_text(json, "value", value);
			ws_json_key_text(json, "holds", held->text);
			ws_json_key_text(json, "confidence", doubt_text(held->doubt));
			ws_json_end(json);
		} else {
			ws_out_printf(out, "$%s = %s  %s (%s)\n", name, value, held->text,
				      doubt_text(held->doubt));
		}
	}
}

/* Of a function that a kernel calls, whose arguments are in registers of the compiler's choice:
 * they need not be those of the ABI. [measured: nvcc 13.0 -O3, tests/kernels/calls.cu] False: the
 * frame is none of these. */
static bool say_no_arguments(struct ws_stack *stack, struct ws_out *out)
{
	const size_t last = stack->n_frames - 1;
	const struct ws_frame *frame = ws_vars_frame(stack->vars, stack->frames[stack->at].level);
	const struct ws_frame *outer = ws_vars_frame(stack->vars, stack->frames[last].level);
	if (frame->status != WS_OK || !frame->place.function || frame->place.function->is_kernel)
		return false;
	ws_out_text(out, "No arguments: without -G nothing tells which registers they are in.\n");
	if (outer->status == WS_OK && outer->place.function && outer->place.function->is_kernel)
		ws_out_printf(out, "Those of the kernel are in frame %zu.\n", last);
	return true;
}

/* `st` and `why` are why it has no variables. */
static enum ws_status unnamed_text(struct ws_stack *stack, const struct ws_locals *locals,
				   struct ws_out *out, enum ws_status st,
				   const struct ws_error *why)
{
	enum ws_status params = WS_OK;
	if (!locals->no_args && stack->frames[stack->at].inlined)
		ws_out_text(out, "Parameters of the kernel, which this is inlined into:\n");
	if (!locals->no_args && params_show(stack, out, NULL, &params) == 0 && params == WS_OK)
		ws_out_text(out, "No arguments.\n");
	if (params != WS_OK && !say_no_arguments(stack, out))
		return st;
	if (locals->no_locals)
		return WS_OK;
	ws_out_printf(out, "No variables: %s.\n", why->message);
	held_show(stack, out, NULL);
	return WS_OK;
}

/* ---- the whole ---- */

static enum ws_status locals_json(struct ws_stack *stack, struct ws_out *out, struct ws_error *err)
{
	struct ws_json json;
	enum ws_status st, params;
	wsi_verbs_json_begin(stack->threads, "warpscope-locals-1", &json, out);
	ws_json_key(&json, "frame");
	st = ws_stack_frame_json(stack, stack->at, false, &json, err);
	if (st != WS_OK)
		return st;
	ws_json_key_array(&json, "locals");
	(void)wsi_stack_list(stack, false, NULL, &json, &st, NULL);
	ws_json_end(&json);
	if (st != WS_OK) {
		ws_json_key_text(&json, "locals_why", ws_missing_word(st));
		ws_json_key_array(&json, "parameters");
		(void)params_show(stack, NULL, &json, &params);
		ws_json_end(&json);
		ws_json_key_array(&json, "registers");
		held_show(stack, NULL, &json);
		ws_json_end(&json);
	}
	ws_json_end(&json);
	return wsi_stack_status(stack, err);
}

static enum ws_status locals_text(struct ws_stack *stack, const struct ws_locals *locals,
				  struct ws_out *out, struct ws_error *err)
{
	enum ws_status st = WS_OK;
	struct ws_error why;
	if (!locals->no_args && !locals->no_locals) {
		ws_threads_focus_text(stack->threads, out);
		ws_out_text(out, "\n");
		st = ws_stack_frame_text(stack, stack->at, true, out, err);
		if (st != WS_OK)
			return st;
	}
	const char *matching = stack->wants ? "matching " : "";
	if (!locals->no_args && wsi_stack_list(stack, true, out, NULL, &st, &why) == 0 &&
	    st == WS_OK)
		ws_out_printf(out, "No %sarguments.\n", matching);
	if (st == WS_OK && !locals->no_locals &&
	    wsi_stack_list(stack, false, out, NULL, &st, &why) == 0 && st == WS_OK)
		ws_out_printf(out, "No %slocals.\n", matching);
	if (st != WS_OK)
		st = unnamed_text(stack, locals, out, st, &why);
	if (st != WS_OK && err)
		*err = why;
	return st;
}

enum ws_status ws_locals_answer(struct ws_stack *stack, const struct ws_locals *locals,
				const struct ws_answer_style *style, struct ws_error *err)
{
	return style->json ? locals_json(stack, style->out, err)
			   : locals_text(stack, locals, style->out, err);
}
