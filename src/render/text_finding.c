/* SPDX-License-Identifier: Apache-2.0 */
/* A failed assertion's words, and what the state shows about the kind of exception. */
#include "render/text.h"

#include "render/words.h"

void wsi_text_assertion(struct wsi_page *page, const struct ws_report_assertion *assertion)
{
	struct ws_out *out = page->out;
	if (assertion->status != WS_OK)
		return;
	wsi_page_label(page, "assertion");
	if (assertion->why) {
		ws_out_printf(out, "its text is not known: %s", assertion->why);
		wsi_page_end_line(page);
		return;
	}
	if (assertion->message.len)
		ws_out_escaped(out, assertion->message);
	else
		ws_out_text(out, "(message not known)");
	wsi_page_end_line(page);
	if (assertion->file.len || assertion->line) {
		wsi_page_label(page, "");
		ws_out_text(out, "at ");
		ws_out_escaped(out, assertion->file.len ? assertion->file : ws_str_of("?"));
		if (assertion->line)
			ws_out_printf(out, ":%u", assertion->line);
		wsi_page_end_line(page);
	}
	if (assertion->function.len) {
		wsi_page_label(page, "");
		ws_out_text(out, "in ");
		ws_out_escaped(out, assertion->function);
		wsi_page_end_line(page);
	}
}

void wsi_text_findings(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_findings == 0)
		return;
	wsi_page_title_prose(page, "What the state shows:");
	wsi_text_claims(page, e->findings, e->n_findings);
}
