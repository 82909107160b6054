/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope disas --cfg: basic blocks as text, as a graph for dot(1), and as JSON. */
#include <warpscope/flow.h>

#include "verbs/disas/disas.h"

static const struct {
	uint32_t flag;
	const char *name;
} flag_names[] = {
	{ WS_FLOW_ENTRY, "entry" },     { WS_FLOW_CALLS, "calls" },
	{ WS_FLOW_RETURNS, "returns" }, { WS_FLOW_EXITS, "exits" },
	{ WS_FLOW_LEAVES, "leaves" },   { WS_FLOW_INDIRECT, "indirect" },
	{ WS_FLOW_OPEN, "open" },       { WS_FLOW_RUNS_OUT, "runs-out" },
	{ WS_FLOW_UNKNOWN, "unknown" }, { WS_FLOW_CALLED, "called" },
};

enum { N_FLAGS = WSI_COUNT(flag_names) };

/* ---- text ---- */

static void print_block(struct wsi_disas_code *code, const struct ws_flow_block *block,
			size_t index)
{
	struct ws_out *out = code->d->out;
	ws_out_printf(out, "block %zu:", index);
	for (size_t i = 0; i < N_FLAGS; i++)
		if (block->flags & flag_names[i].flag)
			ws_out_printf(out, " %s", flag_names[i].name);
	if (block->n_pred)
		ws_out_text(out, " from");
	for (uint32_t i = 0; i < block->n_pred; i++)
		ws_out_printf(out, " %" PRIu32, block->pred[i]);
	if (block->n_succ)
		ws_out_text(out, " to");
	for (uint32_t i = 0; i < block->n_succ; i++)
		ws_out_printf(out, " %" PRIu32, block->succ[i]);
	if (block->callee != WS_FLOW_NO_BLOCK)
		ws_out_printf(out, " calling %" PRIu32, block->callee);
	ws_out_text(out, "\n");
	for (uint64_t off = block->pc; off < block->end_pc; off += WS_SASS_BYTES)
		wsi_disas_code_show_insn(code, off);
}

/* ---- DOT ---- */

static void print_dot(struct wsi_disas_code *code, const struct ws_flow_block *blocks, size_t n)
{
	struct wsi_disas *d = code->d;
	struct ws_out *out = d->out;
	ws_out_text(out, d->told.shown ? "\ndigraph \"" : "digraph \"");
	ws_out_in_quotes(out, code->function->name);
	ws_out_text(out, "\" {\n  node [shape=box, fontname=\"monospace\"];\n");
	for (size_t b = 0; b < n; b++) {
		ws_out_printf(out, "  b%zu [label=\"", b);
		for (uint64_t off = blocks[b].pc; off < blocks[b].end_pc; off += WS_SASS_BYTES) {
			struct ws_insn insn;
			char text[WS_SASS_TEXT_MAX + DISAS_NAME_TEXT_MAX];
			ws_sass_decode(code->sm, code->code.ptr + off, &insn);
			size_t len = wsi_disas_code_text(code, &insn, off, d->query->control, text,
							 sizeof text);
			ws_out_printf(out, "%04" PRIx64 "  ", off);
			ws_out_in_quotes(out, (struct ws_str){ text, len });
			ws_out_text(out, "\\l");
			d->told.n_total++;
			d->told.n_unknown += !ws_insn_explained(&insn);
		}
		ws_out_text(out, "\"];\n");
		for (uint32_t i = 0; i < blocks[b].n_succ; i++)
			ws_out_printf(out, "  b%zu -> b%" PRIu32 ";\n", b, blocks[b].succ[i]);
		if (blocks[b].callee != WS_FLOW_NO_BLOCK)
			ws_out_printf(out, "  b%zu -> b%" PRIu32 " [style=dashed];\n", b,
				      blocks[b].callee);
	}
	ws_out_text(out, "}\n");
	d->told.shown = true;
}

/* ---- JSON ---- */

static void json_numbers(struct ws_json *json, const char *key, const uint32_t *numbers, uint32_t n)
{
	ws_json_key_array_line(json, key);
	for (uint32_t i = 0; i < n; i++)
		ws_json_u64(json, numbers[i]);
	ws_json_end(json);
}

static void json_blocks(struct wsi_disas_code *code, const struct ws_flow_block *blocks, size_t n)
{
	struct ws_json *json = code->d->json;
	ws_json_key_array(json, "blocks");
	for (size_t b = 0; b < n; b++) {
		ws_json_object(json);
		ws_json_key_u64(json, "offset", blocks[b].pc);
		ws_json_key_u64(json, "end", blocks[b].end_pc);
		ws_json_key_array_line(json, "flags");
		for (size_t i = 0; i < N_FLAGS; i++)
			if (blocks[b].flags & flag_names[i].flag)
				ws_json_text(json, flag_names[i].name);
		ws_json_end(json);
		json_numbers(json, "predecessors", blocks[b].pred, blocks[b].n_pred);
		json_numbers(json, "successors", blocks[b].succ, blocks[b].n_succ);
		if (blocks[b].callee != WS_FLOW_NO_BLOCK)
			ws_json_key_u64(json, "callee", blocks[b].callee);
		ws_json_end(json);
	}
	ws_json_end(json);
}

/* ---- the function ---- */

void wsi_disas_cfg(struct wsi_disas_code *code)
{
	struct wsi_disas *d = code->d;
	struct ws_flow *flow;
	struct ws_error err;
	size_t n;
	if (ws_cubin_flow(code->cubin, code->function, 0, &flow, &err) != WS_OK) {
		wsi_disas_tell(d, &err);
		return;
	}
	const struct ws_flow_block *blocks = ws_flow_blocks(flow, &n);
	if (d->query->dot) {
		print_dot(code, blocks, n);
	} else if (d->json) {
		wsi_disas_code_show(code);
		json_blocks(code, blocks, n);
		ws_json_end(d->json);
	} else {
		wsi_disas_code_start(code);
		for (size_t i = 0; i < n; i++)
			print_block(code, &blocks[i], i);
	}
	ws_flow_destroy(flow);
}
