/* SPDX-License-Identifier: Apache-2.0 */
/* The launch and its parameters, how the code was built, facts of the dump and its devices, what is
 * missing, damage, the signature, what to do next. */
#include "render/html.h"

enum { MAX_ROWS = 300, MAX_FIELDS = 64 /* of one parameter */ };

/* ---- the launch ---- */

static void launch(struct wsi_html *page, const struct ws_report_exception *e,
		   const struct ws_report_kernel *kernel)
{
	wsi_html_term(page, "Kernel");
	if (kernel->name_status == WS_OK) {
		wsi_html_raw(page, "<code class=\"name\">");
		wsi_html_str(page, kernel->name);
		wsi_html_raw(page, "</code>");
	} else {
		wsi_html_printf(page, "<span class=\"none\">%s</span>",
				ws_missing_word(kernel->name_status));
	}
	wsi_html_term_end(page);
	if (kernel->grid_status != WS_OK)
		return;
	wsi_html_term(page, "Launch");
	wsi_html_printf(page, "grid %" PRId64 ": ", kernel->grid.id);
	wsi_html_dim(page, kernel->grid.grid_dim);
	wsi_html_raw(page, " blocks of ");
	wsi_html_dim(page, kernel->grid.block_dim);
	wsi_html_raw(page, " threads");
	if (wsi_has_clusters(page->report, e)) {
		wsi_html_raw(page, ", clusters of ");
		wsi_html_dim(page, kernel->grid.cluster_dim);
	}
	if (kernel->grid.have & WS_GRID_N_REGS)
		wsi_html_printf(page, ", %u registers", kernel->grid.n_regs);
	wsi_out_resident(page->out, page->report, kernel);
	wsi_html_term_end(page);
}

/* As a number, the lowest byte first in memory; longer ones as bytes. */
static void value(struct wsi_html *page, const struct ws_report_param *param)
{
	uint64_t number = 0;
	if (param->value_status != WS_OK) {
		wsi_html_printf(page, "<span class=\"none\">%s</span>",
				ws_missing_word(param->value_status));
		return;
	}
	if (param->size_bytes <= 8 && param->value.len >= param->size_bytes) {
		for (size_t i = param->size_bytes; i > 0; i--)
			number = number << 8 | param->value.ptr[i - 1];
		wsi_html_hex(page, number);
		return;
	}
	wsi_html_raw(page, "<code>");
	for (size_t i = 0; i < param->value.len; i++)
		wsi_html_printf(page, "%s%02x", i ? " " : "", param->value.ptr[i]);
	wsi_html_printf(page, "%s</code>", param->value.len < param->size_bytes ? " ..." : "");
}

/* A value as its type reads it. */
static void read_value(struct wsi_html *page, const char *before, const char *text)
{
	wsi_html_text(page, before);
	wsi_html_raw(page, "<code>");
	wsi_html_text(page, text);
	wsi_html_raw(page, "</code>");
}

static void field_row(struct wsi_html *page, const struct ws_report_field *field)
{
	wsi_html_raw(page, "<tr><td></td><td><code>.");
	wsi_html_str(page, field->path);
	wsi_html_raw(page, "</code></td><td><code>");
	wsi_html_str(page, field->type);
	wsi_html_raw(page, "</code>");
	if (field->bit_size)
		wsi_html_printf(page, " : %u", field->bit_size);
	wsi_html_printf(page, "</td><td class=\"n\">+%u</td><td class=\"n\">%u</td><td>",
			field->offset, field->size_bytes);
	if (field->text)
		read_value(page, "", field->text);
	wsi_html_raw(page, "</td></tr>\n");
}

static void param_row(struct wsi_html *page, const struct ws_report_kernel *kernel,
		      const struct ws_report_param *param, bool named)
{
	wsi_html_printf(page, "<tr><th scope=\"row\" class=\"n\">%u</th>", param->ordinal);
	if (named) {
		wsi_html_raw(page, "<td><code>");
		wsi_html_str(page, param->name);
		wsi_html_raw(page, "</code></td><td><code>");
		wsi_html_str(page, param->type);
		wsi_html_raw(page, "</code></td>");
	}
	wsi_html_printf(page, "<td class=\"n\">0x%x</td><td class=\"n\">%u</td><td>",
			kernel->params_offset + param->offset, param->size_bytes);
	value(page, param);
	if (param->text && strncmp(param->text, "0x", 2) != 0) /* a pointer is shown as it is */
		read_value(page, " = ", param->text);
	wsi_html_raw(page, "</td></tr>\n");
	for (uint32_t i = 0; i < param->n_fields && i < MAX_FIELDS; i++)
		field_row(page, &param->fields[i]);
	if (param->n_fields > MAX_FIELDS || param->fields_cut)
		wsi_html_raw(page,
			     "<tr><td></td><td colspan=\"5\">... and more fields</td></tr>\n");
}

static void params(struct wsi_html *page, const struct ws_report_kernel *kernel)
{
	bool named = false;
	for (uint32_t i = 0; i < kernel->n_params; i++)
		named |= kernel->params[i].name.len || kernel->params[i].type.len;
	wsi_html_raw(page,
		     "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Parameters\">"
		     "<table><caption>Parameters</caption><thead><tr><th scope=\"col\" "
		     "class=\"n\">Number</th>");
	if (named)
		wsi_html_raw(page, "<th scope=\"col\">Name</th><th scope=\"col\">Type</th>");
	wsi_html_raw(page,
		     "<th scope=\"col\" class=\"n\">Address</th><th scope=\"col\" class=\"n\">"
		     "Bytes</th><th scope=\"col\">Value</th></tr></thead>\n<tbody>\n");
	for (uint32_t i = 0; i < kernel->n_params; i++)
		param_row(page, kernel, &kernel->params[i], named);
	wsi_html_raw(page, "</tbody></table></div>\n");
}

void wsi_html_launch(struct wsi_html *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->kernel == WS_NONE)
		return;
	const struct ws_report_kernel *kernel = &page->report->kernels[e->kernel];
	wsi_html_section(page, "launch", "The launch");
	wsi_html_raw(page, "<dl class=\"facts\">\n");
	launch(page, e, kernel);
	wsi_html_raw(page, "</dl>\n");
	if (kernel->params_status == WS_OK && kernel->n_params)
		params(page, kernel);
	wsi_html_section_end(page);
}

/* ---- build ---- */

static void code_term(struct wsi_html *page, const char *term, struct ws_str text)
{
	wsi_html_term(page, term);
	wsi_html_raw(page, "<code>");
	wsi_html_str(page, text);
	wsi_html_raw(page, "</code>");
}

static void id_term(struct wsi_html *page, const char *term, const struct ws_code_id *id,
		    enum ws_status status)
{
	char text[WS_CODE_ID_TEXT];
	if (status != WS_OK)
		return;
	ws_code_id_text(id, text);
	code_term(page, term, ws_str_of(text));
	wsi_html_term_end(page);
}

static void built(struct wsi_html *page, const struct ws_module_facts *facts)
{
	wsi_html_term(page, "Built");
	if (facts->sm)
		wsi_html_printf(page, "for sm_%u%.1s", facts->sm,
				facts->variant ? (char[]){ facts->variant, 0 } : "");
	else
		wsi_html_raw(page, "for an unknown architecture");
	if (facts->virtual_sm != WS_UNKNOWN)
		wsi_html_printf(page, ", from compute_%u", facts->virtual_sm);
	if (facts->toolkit != WS_UNKNOWN)
		wsi_html_printf(page, ", CUDA %u.%u", facts->toolkit / 10, facts->toolkit % 10);
	if (facts->tool.len) {
		wsi_html_raw(page, ", by ");
		wsi_html_str(page, facts->tool);
		wsi_html_raw(page, " ");
		wsi_html_str(page, wsi_tool_version(facts->tool_version));
	}
	wsi_html_term_end(page);
}

void wsi_html_image(struct wsi_html *page)
{
	const struct ws_report_image *image = &page->report->image;
	if (page->report->image_status != WS_OK)
		return;
	wsi_html_section(page, "build", "How the code was built");
	wsi_html_raw(page, "<dl class=\"facts\">\n");
	built(page, &image->facts);
	if (image->options_shown.len) {
		code_term(page, "Options", image->options_shown);
		if (image->options_left_out)
			wsi_html_raw(page, " <span class=\"soft\">others may name files: they are "
					   "only in the JSON</span>");
		wsi_html_term_end(page);
	}
	wsi_html_term(page, "Lines");
	wsi_html_text(page, wsi_lines_words(image));
	wsi_html_text(page, image->lines_borrowed_from);
	wsi_html_term_end(page);
	id_term(page, "Code", &image->code_id, image->code_id_status);
	id_term(page, "Image", &image->image_id, image->image_id_status);
	wsi_html_raw(page, "</dl>\n");
	wsi_html_section_end(page);
}

void wsi_html_signature(struct wsi_html *page)
{
	const struct ws_report *report = page->report;
	if (!report->signature)
		return;
	wsi_html_section(page, "signature", "Signature");
	wsi_html_raw(page, "<p><code>");
	wsi_html_text(page, report->signature);
	wsi_html_raw(page,
		     "</code></p>\n<p class=\"soft\">The same for every dump of this bug. Its "
		     "parts: ");
	wsi_html_text(page, report->signature_parts);
	if (report->signature_rule) {
		wsi_html_raw(page, "; chosen by the rule <code>");
		wsi_html_text(page, report->signature_rule);
		wsi_html_raw(page, "</code>");
	}
	wsi_html_raw(page, ".</p>\n");
	wsi_html_section_end(page);
}

/* ---- facts ---- */

static void dump_facts(struct wsi_html *page, const struct ws_dump_facts *dump)
{
	char when[WSI_TIME_TEXT];
	wsi_html_term(page, "Dump");
	wsi_html_raw(page, "<code>");
	wsi_html_text(page, dump->path);
	wsi_html_printf(page, "</code>, %" PRIu64 " bytes, ", dump->bytes);
	wsi_html_raw(page, dump->complete ? "complete" : "<strong>incomplete</strong>");
	if (dump->layout)
		wsi_html_printf(page, ", layout %s", dump->layout);
	wsi_html_term_end(page);
	if (dump->have_metadata) {
		wsi_html_term(page, "Driver");
		wsi_html_printf(page, "%u.%u, CUDA %u.%u", dump->driver_major, dump->driver_minor,
				dump->cuda_major, dump->cuda_minor);
		wsi_html_term_end(page);
	}
	if (dump->have_time && wsi_time_text(dump->timestamp, when)) {
		wsi_html_term(page, "Written");
		wsi_html_text(page, when);
		wsi_html_term_end(page);
	}
	if (dump->have_flags || dump->left_out) {
		wsi_html_term(page, "Left out");
		wsi_out_left_out(page->out, dump->flags | dump->left_out);
		wsi_html_term_end(page);
	}
	if (dump->stripped) {
		wsi_html_term(page, "Stripped");
		wsi_out_stripped(page->out, dump->stripped);
		wsi_html_term_end(page);
	}
}

static void devices(struct wsi_html *page)
{
	for (uint32_t i = 0; i < page->report->n_devices; i++) {
		const struct ws_report_device *device = &page->report->devices[i];
		wsi_html_term(page, "Device");
		if (device->status != WS_OK) {
			wsi_html_printf(page, "<span class=\"none\">%s</span>",
					ws_missing_word(device->status));
		} else {
			wsi_html_printf(page, "%u: ", device->state.id);
			wsi_html_str(page, wsi_device_name(&device->state));
			wsi_html_printf(page, ", sm_%u%u, %u SMs, %u warp%s %s",
					device->state.sm_major, device->state.sm_minor,
					device->state.n_sms, device->resident_warps,
					wsi_plural(device->resident_warps),
					wsi_resident_word(page->report));
		}
		wsi_html_term_end(page);
	}
}

static void missing(struct wsi_html *page)
{
	for (uint32_t i = 0; i < page->report->n_missing; i++) {
		const struct ws_report_missing *one = &page->report->missing[i];
		wsi_html_term(page, "Missing");
		wsi_html_text(page, one->what);
		wsi_html_printf(page, ": %s. ", ws_missing_word(one->why));
		if (one->advice)
			wsi_html_sentence(page, one->advice);
		wsi_html_term_end(page);
	}
}

static void code(struct wsi_html *page)
{
	const struct ws_report *report = page->report;
	if (report->n_code == 0)
		return;
	wsi_html_raw(page, "<details><summary>Kernels whose code is in the dump (which of them ran "
			   "is not known)</summary>\n<ul>\n");
	for (uint32_t i = 0; i < report->n_code && (i < MAX_ROWS || page->options.all); i++) {
		wsi_html_raw(page, "<li><code>");
		wsi_html_str(page, report->code[i]);
		wsi_html_raw(page, "</code></li>\n");
	}
	wsi_html_raw(page, "</ul></details>\n");
}

void wsi_html_facts(struct wsi_html *page)
{
	wsi_html_section(page, "facts", "The dump");
	wsi_html_raw(page, "<dl class=\"facts\">\n");
	if (page->report->dump_status == WS_OK)
		dump_facts(page, &page->report->dump);
	devices(page);
	missing(page);
	wsi_html_raw(page, "</dl>\n");
	code(page);
	wsi_html_section_end(page);
}

void wsi_html_diagnostics(struct wsi_html *page)
{
	const struct ws_report *report = page->report;
	if (report->n_diagnostics == 0)
		return;
	wsi_html_section(page, "damage", "Diagnostics of the dump");
	wsi_html_raw(page, "<ul>\n");
	uint32_t shown = page->options.all || report->n_diagnostics < MAX_ROWS
				 ? report->n_diagnostics
				 : MAX_ROWS;
	for (uint32_t i = 0; i < shown; i++) {
		const struct ws_diagnostic *one = &report->diagnostics[i];
		wsi_html_raw(page, "<li>");
		wsi_html_text(page, one->message);
		if (one->file_off != WS_NO_OFFSET)
			wsi_html_printf(page, " (file offset <code>0x%" PRIx64 "</code>)",
					one->file_off);
		if (one->repeats)
			wsi_html_printf(page, ", and %" PRIu64 " more", one->repeats);
		wsi_html_raw(page, "</li>\n");
	}
	wsi_html_raw(page, "</ul>\n");
	if (shown < report->n_diagnostics)
		wsi_html_printf(page, "<p class=\"soft\">and %u more</p>\n",
				report->n_diagnostics - shown);
	wsi_html_section_end(page);
}
