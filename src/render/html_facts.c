/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters, facts of the dump and its devices, what is missing, damage, what to do next. */
#include "render/html.h"

enum { MAX_ROWS = 300 };

/* ---- parameters ---- */

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

static void param_row(struct wsi_html *page, const struct ws_report_param *param, bool named)
{
	wsi_html_printf(page, "<tr><th scope=\"row\" class=\"n\">%u</th>", param->ordinal);
	if (named) {
		wsi_html_raw(page, "<td><code>");
		wsi_html_str(page, param->name);
		wsi_html_raw(page, "</code></td><td><code>");
		wsi_html_str(page, param->type);
		wsi_html_raw(page, "</code></td>");
	}
	wsi_html_printf(page, "<td class=\"n\">%u</td><td class=\"n\">%u</td><td>", param->offset,
			param->size_bytes);
	value(page, param);
	wsi_html_raw(page, "</td></tr>\n");
}

void wsi_html_params(struct wsi_html *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->kernel == WS_NONE || page->report->kernels[e->kernel].n_params == 0)
		return;
	const struct ws_report_kernel *kernel = &page->report->kernels[e->kernel];
	bool named = false;
	for (uint32_t i = 0; i < kernel->n_params; i++)
		named |= kernel->params[i].name.len || kernel->params[i].type.len;
	wsi_html_section(page, "params", "Parameters of the kernel");
	wsi_html_raw(page,
		     "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Parameters\">"
		     "<table><thead><tr><th scope=\"col\" class=\"n\">Number</th>");
	if (named)
		wsi_html_raw(page, "<th scope=\"col\">Name</th><th scope=\"col\">Type</th>");
	wsi_html_raw(page, "<th scope=\"col\" class=\"n\">Offset</th><th scope=\"col\" class=\"n\">"
			   "Bytes</th><th scope=\"col\">Value</th></tr></thead>\n<tbody>\n");
	for (uint32_t i = 0; i < kernel->n_params; i++)
		param_row(page, &kernel->params[i], named);
	wsi_html_raw(page, "</tbody></table></div>\n");
	wsi_html_section_end(page);
}

/* ---- facts ---- */

static void dump_facts(struct wsi_html *page, const struct ws_dump_facts *dump)
{
	char when[WSI_TIME_TEXT];
	wsi_html_term(page, "Dump");
	wsi_html_raw(page, "<code>");
	wsi_html_text(page, dump->path);
	wsi_html_printf(page, "</code>, %" PRIu64 " bytes, %s", dump->bytes,
			dump->complete ? "complete" : "<strong>incomplete</strong>");
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
		wsi_html_raw(page, when);
		wsi_html_term_end(page);
	}
	if (dump->have_flags) {
		wsi_html_term(page, "Left out");
		wsi_out_left_out(page->out, dump->flags);
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
			wsi_html_str(page, device->state.name);
			wsi_html_printf(page, ", sm_%u%u, %u SMs, %u warp%s resident",
					device->state.sm_major, device->state.sm_minor,
					device->state.n_sms, device->resident_warps,
					wsi_plural(device->resident_warps));
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
			   "is lost)</summary>\n<ul>\n");
	for (uint32_t i = 0; i < report->n_code && (i < MAX_ROWS || page->options.all); i++) {
		wsi_html_raw(page, "<li><code>");
		wsi_html_str(page, report->code[i]);
		wsi_html_raw(page, "</code></li>\n");
	}
	wsi_html_raw(page, "</ul></details>\n");
}

void wsi_html_facts(struct wsi_html *page)
{
	wsi_html_section(page, "facts", "Facts");
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

/* Whether a text is among those of a list. */
static bool among(const char *text, const char *const *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(text, list[i]) == 0)
			return true;
	}
	return false;
}

static void item(struct wsi_html *page, const char *text)
{
	wsi_html_raw(page, "<li>");
	wsi_html_sentence(page, text);
	wsi_html_raw(page, "</li>\n");
}

void wsi_html_advice(struct wsi_html *page)
{
	const struct ws_report *report = page->report;
	const struct ws_report_exception *e = report->focus;
	bool meant = e && e->kind;
	uint32_t n_commands = e ? e->n_commands : 0;
	if (!meant && n_commands == 0 && report->n_next == 0)
		return;
	wsi_html_section(page, "next", "What it means, and what to try next");
	if (meant) {
		wsi_html_raw(page, "<p>");
		wsi_html_sentence(page, e->kind->meaning);
		wsi_html_raw(page, " Usual causes: ");
		wsi_html_sentence(page, e->kind->causes);
		wsi_html_raw(page, ".</p>\n");
	}
	wsi_html_raw(page, "<ul class=\"next\">\n");
	for (uint32_t i = 0; i < n_commands; i++)
		item(page, e->commands[i]);
	for (uint32_t i = 0; i < report->n_next; i++) {
		if (!among(report->next[i], e ? e->commands : NULL, n_commands))
			item(page, report->next[i]);
	}
	wsi_html_raw(page, "</ul>\n");
	wsi_html_section_end(page);
}
