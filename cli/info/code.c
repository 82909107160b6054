/* SPDX-License-Identifier: Apache-2.0 */
/* info modules: the loaded cubins. */
#include "info/info.h"

#include <stdio.h>

static const struct ws_rows_column module_columns[] = {
	{ "Module", "module", 0 },
	{ "Handle", "handle", 0 },
	{ "Dev", "device", 0 },
	{ "Context", "context", 0 },
	{ "Arch", "arch", 0 },
	{ "CUDA", "toolkit", 0 },
	{ "Lines", "lines", 0 },
	{ "Kernels", "num_kernels", 0 },
	{ "Functions", "num_functions", 0 },
	{ "Relocated", "relocated_bytes", 0 },
	{ "Original", "original_bytes", 0 },
	{ "Identity", "code_id", WS_ROWS_WIDE | WS_ROWS_LEFT },
};

const char *info_lines_word(struct ws_cubin *cubin, const struct ws_cubin_facts *facts)
{
	if (facts->has_debug_info)
		return "-G";
	if (facts->has_lines)
		return "-lineinfo";
	switch (ws_cubin_explain_lines(cubin, NULL, 0)) {
	case WS_LINES_PRESENT:
		return "yes";
	case WS_LINES_NOT_BUILT:
		return "not built";
	case WS_LINES_REMOVED:
		return "removed";
	case WS_LINES_UNKNOWN:
		break;
	}
	return "none";
}

static void image_cell(struct ws_rows *rows, enum ws_status status, struct ws_span image)
{
	ws_rows_given(rows, 1, status);
	ws_rows_number(rows, image.len);
}

static void function_cells(struct ws_rows *rows, struct ws_cubin *cubin)
{
	const struct ws_function *functions;
	size_t n = 0, n_kernels = 0, n_defined = 0;
	enum ws_status st = ws_cubin_functions(cubin, &functions, &n, NULL);
	for (size_t i = 0; i < n && st == WS_OK; i++) {
		n_kernels += functions[i].section && functions[i].is_kernel;
		n_defined += functions[i].section != 0;
	}
	ws_rows_given(rows, 2, st);
	ws_rows_number(rows, n_kernels);
	ws_rows_number(rows, n_defined);
}

/* Cells of what is inside the image, arch to functions. */
static void content_cells(struct ws_rows *rows, struct ws_cubin *cubin)
{
	struct ws_cubin_facts facts;
	char text[24];
	ws_cubin_facts(cubin, &facts);
	snprintf(text, sizeof text, "sm_%u%.1s", facts.sm,
		 facts.variant ? (char[]){ facts.variant, 0 } : "");
	ws_rows_if(rows, 1, facts.sm);
	ws_rows_text(rows, text);
	snprintf(text, sizeof text, "%u.%u", facts.toolkit / 10, facts.toolkit % 10);
	ws_rows_if(rows, 1, facts.toolkit != WS_UNKNOWN);
	ws_rows_text(rows, text);
	ws_rows_text(rows, info_lines_word(cubin, &facts));
	function_cells(rows, cubin);
}

static void id_cell(struct ws_rows *rows, struct ws_cubin *cubin)
{
	struct ws_code_id id;
	char text[WS_CODE_ID_TEXT] = "";
	enum ws_status st = ws_cubin_image_id(cubin, &id, NULL);
	if (st == WS_OK)
		ws_code_id_text(&id, text);
	ws_rows_given(rows, 1, st);
	ws_rows_text(rows, text);
}

static void module_row(struct ws_rows *rows, struct info *info, uint32_t index,
		       const struct ws_module *module)
{
	const struct cli_session *session = &info->session;
	struct ws_cubin *cubin = NULL;
	struct ws_context context = { .id = 0 };
	enum ws_status st =
		ws_cubin_set_cubin(ws_symbols_modules(info_symbols(info)), index, &cubin, NULL);
	bool focus =
		session->threads.have_focus && session->threads.focus.grid_index != WS_NONE &&
		session->threads.grids[session->threads.focus.grid_index].module_index == index;
	ws_rows_begin(rows, focus);
	ws_rows_number(rows, index);
	ws_rows_hex(rows, module->handle, 16);
	ws_rows_number(rows, session->threads.devices[module->device_index].id);
	enum ws_status context_st =
		ws_target_context(session->target, module->context_index, &context, NULL);
	ws_rows_given(rows, 1, context_st);
	ws_rows_hex(rows, context.id, 16);
	if (st == WS_OK) {
		content_cells(rows, cubin);
	} else {
		for (int i = 0; i < 5; i++)
			ws_rows_missing(rows, st);
	}
	image_cell(rows, module->relocated_status, module->relocated);
	image_cell(rows, module->original_status, module->original);
	if (st == WS_OK && (info->wide || info->json))
		id_cell(rows, cubin);
	else
		ws_rows_missing(rows, st == WS_OK ? WS_ABSENT : st);
	ws_rows_end(rows);
}

static void produce_code(struct ws_rows *rows, void *user)
{
	struct info *info = user;
	const struct cli_session *session = &info->session;
	for (uint32_t i = 0; i < session->threads.counts.modules; i++) {
		struct ws_module module;
		if (ws_target_module(session->target, i, &module, NULL) == WS_OK &&
		    ws_filter_number(&info->filter, WS_FILTER_device,
				     session->threads.devices[module.device_index].id))
			module_row(rows, info, i, &module);
	}
}

INFO_TABLE(modules, module_columns, produce_code)
