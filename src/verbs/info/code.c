/* SPDX-License-Identifier: Apache-2.0 */
/* info modules: the loaded cubins. */
#include "verbs/info/info.h"

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
	struct ws_code_image image = { .cubin = cubin };
	char text[24];
	ws_cubin_facts(cubin, &image.facts);
	ws_code_image_arch(&image, text);
	ws_rows_if(rows, 1, image.facts.sm);
	ws_rows_text(rows, text);
	snprintf(text, sizeof text, "%u.%u", image.facts.toolkit / 10, image.facts.toolkit % 10);
	ws_rows_if(rows, 1, image.facts.toolkit != WS_UNKNOWN);
	ws_rows_text(rows, text);
	ws_rows_text(rows, ws_cubin_lines_word(cubin));
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

static void module_row(struct ws_rows *rows, struct wsi_info *info, struct ws_cubin_set *set,
		       uint32_t index, const struct ws_module *module)
{
	const struct ws_threads *threads = info->threads;
	struct ws_cubin *cubin = NULL;
	struct ws_context context = { .id = 0 };
	enum ws_status st = ws_cubin_set_cubin(set, index, &cubin, NULL);
	bool focus = threads->have_focus && threads->focus.grid_index != WS_NONE &&
		     threads->grids[threads->focus.grid_index].module_index == index;
	ws_rows_begin(rows, focus);
	ws_rows_number(rows, index);
	ws_rows_hex(rows, module->handle, 16);
	ws_rows_number(rows, threads->devices[module->device_index].id);
	enum ws_status context_st =
		ws_target_context(threads->target, module->context_index, &context, NULL);
	ws_rows_given(rows, 1, context_st);
	ws_rows_hex(rows, context.id, 16);
	if (st == WS_OK) {
		content_cells(rows, cubin);
	} else {
		for (int i = 0; i < 5; i++)
			wsi_rows_missing(rows, st);
	}
	image_cell(rows, module->relocated_status, module->relocated);
	image_cell(rows, module->original_status, module->original);
	if (st == WS_OK && info->with_code)
		id_cell(rows, cubin);
	else
		wsi_rows_missing(rows, st == WS_OK ? WS_ABSENT : st);
	ws_rows_end(rows);
}

static void produce_code(struct ws_rows *rows, void *user)
{
	struct wsi_info *info = user;
	const struct ws_threads *threads = info->threads;
	struct ws_cubin_set *set;
	const enum ws_status st = ws_target_cubins(threads->target, &set, info->err);
	if (st != WS_OK)
		info->status = st;
	for (uint32_t i = 0; st == WS_OK && i < threads->counts.modules; i++) {
		struct ws_module module;
		if (ws_target_module(threads->target, i, &module, NULL) == WS_OK &&
		    ws_filter_number(&info->filter, WS_FILTER_device,
				     threads->devices[module.device_index].id))
			module_row(rows, info, set, i, &module);
	}
}

INFO_TABLE(modules, module_columns, produce_code)
