/* SPDX-License-Identifier: Apache-2.0 */
/* What the exception means, likely causes, what to try next; diagnostics of the dump. */
#include "render/text.h"

void wsi_text_diagnostics(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	struct ws_out *out = page->out;
	if (report->n_diagnostics == 0)
		return;
	wsi_page_title_folded(page, "Diagnostics of the dump:");
	uint32_t shown = wsi_page_rows(page, report->n_diagnostics);
	for (uint32_t i = 0; i < shown; i++) {
		const struct ws_diagnostic *one = &report->diagnostics[i];
		ws_out_text(out, "    ");
		ws_out_escaped(out, ws_str_of(one->message));
		if (one->file_off != WS_NO_OFFSET)
			ws_out_printf(out, " (file offset 0x%" PRIx64 ")", one->file_off);
		if (one->repeats)
			ws_out_printf(out, ", and %" PRIu64 " more", one->repeats);
		wsi_page_end_line(page);
	}
	if (shown < report->n_diagnostics)
		ws_out_printf(out, "    ... and %u more (--all)\n", report->n_diagnostics - shown);
}

void wsi_text_cause(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (e && e->meaning) {
		wsi_page_end_line(page);
		wsi_page_advice(page, e->meaning);
		wsi_page_end_line(page);
	}
	if (e && e->n_causes) {
		wsi_page_title_prose(page, "Likely causes here:");
		wsi_text_claims(page, e->causes, e->n_causes);
	}
}

void wsi_text_next(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	if (report->n_next == 0)
		return;
	wsi_page_title_prose(page, "What to try next:");
	for (uint32_t i = 0; i < report->n_next; i++) {
		ws_out_text(page->out, "- ");
		wsi_page_advice(page, report->next[i]);
		wsi_page_end_line(page);
	}
}
