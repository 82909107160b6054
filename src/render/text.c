/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as a page of text. A sentence first, then sections: a title line, an empty line, and
 * the detail indented by four spaces, which Markdown shows unchanged. Prose that is not indented
 * carries no text of the input but the summary.
 */
#include "render/text.h"

/* The summary is prose: what Markdown would read as markup in it is escaped. */
static void out_prose(struct wsi_page *page, const char *text)
{
	size_t plain = strcspn(text, "<`*\\");
	while (text[plain]) {
		ws_out_escaped(page->out, (struct ws_str){ text, plain });
		ws_out_printf(page->out, "\\%c", text[plain]);
		text += plain + 1;
		plain = strcspn(text, "<`*\\");
	}
	ws_out_escaped(page->out, ws_str_of(text));
}

enum ws_status ws_report_text(const struct ws_report *report, const struct ws_text_options *options,
			      struct ws_out *out, struct ws_error *err)
{
	struct wsi_page page = { .report = report, .out = out };
	if (options && options->size != sizeof *options)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"text options of %zu bytes, "
				"expected %zu",
				options->size, sizeof *options);
	if (options)
		page.options = *options;
	wsi_page_style(&page, report->verdict == WS_VERDICT_FAULT ? WSI_RED : WSI_BOLD);
	out_prose(&page, report->summary);
	ws_out_text(out, ".");
	wsi_page_style(&page, WSI_PLAIN);
	wsi_page_end_line(&page);
	if (report->focus) {
		wsi_text_fault(&page, report->focus);
		wsi_text_frames(&page, report->focus);
	}
	wsi_text_further(&page);
	wsi_text_groups(&page);
	wsi_text_facts(&page);
	wsi_text_code(&page);
	wsi_text_diagnostics(&page);
	wsi_text_advice(&page);
	if (page.status != WS_OK)
		return wsi_fail(err, page.status, WS_NO_OFFSET, "report text: %s",
				ws_status_text(page.status));
	return WS_OK;
}
