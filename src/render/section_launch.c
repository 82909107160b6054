/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel, its grid and its parameters. */
#include "render/sections.h"
#include "render/words.h"

static void value(struct wsi_page *page, const struct ws_report_param *param)
{
	if (param->value_status != WS_OK) {
		wsi_say_status(page, param->value_status);
		return;
	}
	char text[2 * WS_PARAM_BYTES + 1] = "";
	bool number = param->size_bytes <= 8; /* the lowest byte first in memory */
	size_t n = wsi_min_u64(param->value.len, number || page->rich ? WS_PARAM_BYTES : 32);
	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", param->value.ptr[number ? n - 1 - i : i]);
	wsi_render_run(page, WSI_CODE, "%s%s%s", number ? "0x" : "", text,
		       n < param->size_bytes ? "..." : "");
}

/* A long one may be cut; returns what parts it from what follows. */
static const char *type(struct wsi_page *page, struct ws_str type)
{
	bool cut = !page->rich && !page->options.full_names && type.len > WSI_WIDE_NAME;
	wsi_str(page, WSI_CODE, cut ? (struct ws_str){ type.ptr, WSI_WIDE_NAME - 3 } : type);
	return cut ? "... " : " ";
}

static void field_row(struct wsi_page *page, const struct ws_report_field *field)
{
	wsi_cell(page, "");
	wsi_say(page, "   +%u", field->offset);
	wsi_cell(page, " ");
	const char *join = type(page, field->type);
	wsi_cell(page, join);
	wsi_str(page, WSI_CODE, field->path);
	if (field->bit_size)
		wsi_say(page, " : %u", field->bit_size);
	wsi_cell(page, "");
	if (page->rich)
		wsi_say(page, "%u byte%s", field->size_bytes, wsi_plural(field->size_bytes));
	wsi_cell(page, "");
	wsi_cell(page, field->text ? " = " : "");
	if (field->text)
		wsi_render_run(page, WSI_CODE, "%s", field->text);
}

static void field_rows(struct wsi_page *page, const struct ws_report_param *param)
{
	uint32_t shown = page->options.all
				 ? param->n_fields
				 : (uint32_t)wsi_min_u64(param->n_fields, page->rich ? 64 : 16);
	for (uint32_t i = 0; i < shown; i++)
		field_row(page, &param->fields[i]);
	if (shown == param->n_fields && !param->fields_cut)
		return;
	wsi_cell_wide(page);
	if (shown < param->n_fields)
		wsi_say(page, "   ... and %s%u more field%s (--all)",
			param->fields_cut ? "at least " : "", param->n_fields - shown,
			wsi_plural(param->n_fields - shown));
	else
		wsi_say(page, "   ... and more fields");
}

static void param_row(struct wsi_page *page, const struct ws_report_kernel *kernel,
		      const struct ws_report_param *param, bool typed)
{
	bool mine = param->type.len;
	const char *join = "";
	wsi_cell(page, "");
	wsi_say(page, "%u", param->ordinal);
	if (typed) {
		wsi_cell(page, mine ? ": " : "");
		join = mine ? type(page, param->type) : "";
		wsi_cell(page, join);
		if (mine)
			wsi_str(page, WSI_CODE, param->name);
		join = mine && param->name.len ? ", " : "";
	}
	wsi_cell(page, mine ? join : ": ");
	wsi_say(page, "%u byte%s", param->size_bytes, wsi_plural(param->size_bytes));
	wsi_cell(page, " at ");
	wsi_say(page, "0x%x", kernel->params_offset + param->offset);
	wsi_cell(page, ", ");
	value(page, param);
	if (!param->text || strncmp(param->text, "0x", 2) == 0) /* a pointer is shown as it is */
		return;
	wsi_say(page, " = ");
	wsi_render_run(page, WSI_CODE, "%s", param->text);
}

static void params(struct wsi_page *page, const struct ws_report_kernel *kernel)
{
	static const struct ws_column untyped[] = {
		{ "Number", WS_ALIGN_RIGHT },
		{ "Size", WS_ALIGN_RIGHT },
		{ "Address", WS_ALIGN_RIGHT },
		{ "Value", WS_ALIGN_LEFT },
	};
	static const struct ws_column columns[] = {
		{ "Number", WS_ALIGN_RIGHT },  { "Type", WS_ALIGN_LEFT },
		{ "Name", WS_ALIGN_LEFT },     { "Size", WS_ALIGN_RIGHT },
		{ "Address", WS_ALIGN_RIGHT }, { "Value", WS_ALIGN_LEFT },
	};
	bool typed = false;
	for (uint32_t i = 0; i < kernel->n_params; i++)
		typed |= kernel->params[i].type.len || kernel->params[i].n_fields;
	uint32_t most = page->rich ? 300 : 16;
	uint32_t shown = page->options.all || kernel->n_params <= most ? kernel->n_params : most;
	wsi_render_table(page, &(struct wsi_page_table){ .id = "params",
							 .label = "Parameters",
							 .fact = "Parameters",
							 .column = typed ? columns : untyped,
							 .n_columns = typed ? WSI_COUNT(columns)
									    : WSI_COUNT(untyped),
							 .named = true });
	for (uint32_t i = 0; i < shown; i++) {
		param_row(page, kernel, &kernel->params[i], typed);
		field_rows(page, &kernel->params[i]);
	}
	if (shown < kernel->n_params) {
		wsi_cell_wide(page);
		wsi_say(page, "... and %u more (--all)", kernel->n_params - shown);
	}
}

/* What the image does not tell of the parameters. */
static void untold_params(struct wsi_page *page, const struct ws_report_kernel *kernel)
{
	if (kernel->hidden_bytes) {
		wsi_label(page, "Hidden");
		wsi_say(page,
			"%u bytes of parameters that the image does not describe, at 0x%x: what "
			"launches the kernel fills them in",
			kernel->hidden_bytes, kernel->hidden_offset);
	}
	if (kernel->n_unknown_attributes) {
		wsi_label(page, "Unknown");
		wsi_say(page,
			"the image has %u attribute%s of the kernel that %s not known here (the "
			"first is 0x%x): there may be more parameters",
			kernel->n_unknown_attributes, wsi_plural(kernel->n_unknown_attributes),
			kernel->n_unknown_attributes == 1 ? "is" : "are",
			kernel->first_unknown_attribute);
	}
}

static void grid(struct wsi_page *page, const struct ws_report_exception *e,
		 const struct ws_report_kernel *kernel)
{
	wsi_label(page, "Grid");
	wsi_dim(page, kernel->grid.grid_dim);
	wsi_say(page, " blocks of ");
	wsi_dim(page, kernel->grid.block_dim);
	wsi_say(page, " threads");
	if (wsi_has_clusters(page->report, e)) {
		wsi_say(page, ", clusters of ");
		wsi_dim(page, kernel->grid.cluster_dim);
	}
	if (kernel->grid.have & WS_GRID_N_REGS)
		wsi_say(page, ", %u registers", kernel->grid.n_regs);
	wsi_say_resident(page, kernel);
}

void wsi_section_launch(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->kernel == WS_NONE)
		return;
	const struct ws_report_kernel *kernel = &page->report->kernels[e->kernel];
	wsi_section(page, "launch", "The launch", WSI_DETAIL);
	wsi_label(page, "Kernel");
	if (kernel->name_status != WS_OK)
		wsi_render_run(page, WSI_NONE, "? (%s)", ws_missing_word(kernel->name_status));
	else
		wsi_str(page, WSI_CODE, wsi_shown_name(page, kernel->name, kernel->name_short));
	if (kernel->name_status == WS_OK && !page->options.full_names &&
	    kernel->name.len > WSI_WIDE_NAME)
		wsi_say(page, " (%zu characters in full: --full-names)", kernel->name.len);
	if (kernel->grid_status != WS_OK)
		return;
	grid(page, e, kernel);
	if (kernel->params_status == WS_OK && kernel->n_params)
		params(page, kernel);
	if (kernel->params_status == WS_OK)
		untold_params(page, kernel);
}
