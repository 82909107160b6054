/* SPDX-License-Identifier: Apache-2.0 */
/* A failed assertion's words, and what the state shows about the kind of exception. */
#include "render/html.h"

void wsi_html_assertion(struct wsi_html *page, const struct ws_report_assertion *assertion)
{
	if (assertion->status != WS_OK)
		return;
	wsi_html_term(page, "Assertion");
	if (assertion->why) {
		wsi_html_printf(page, "<span class=\"none\">its text is not known</span>: %s",
				assertion->why);
		wsi_html_term_end(page);
		return;
	}
	wsi_html_raw(page, "<code>");
	wsi_html_str(page, assertion->message.len ? assertion->message
						  : ws_str_of("(message not known)"));
	wsi_html_raw(page, "</code>");
	if (assertion->file.len || assertion->line) {
		wsi_html_raw(page, " at <code>");
		wsi_html_str(page, assertion->file.len ? assertion->file : ws_str_of("?"));
		if (assertion->line)
			wsi_html_printf(page, ":%u", assertion->line);
		wsi_html_raw(page, "</code>");
	}
	if (assertion->function.len) {
		wsi_html_raw(page, " in <code>");
		wsi_html_str(page, assertion->function);
		wsi_html_raw(page, "</code>");
	}
	wsi_html_term_end(page);
}

void wsi_html_findings(struct wsi_html *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_findings == 0)
		return;
	wsi_html_section(page, "findings", "What the state shows");
	wsi_html_raw(page, "<ul class=\"causes\">\n");
	for (uint32_t i = 0; i < e->n_findings; i++) {
		wsi_html_raw(page, "<li>");
		wsi_html_claim(page, &e->findings[i]);
		wsi_html_raw(page, "</li>\n");
	}
	wsi_html_raw(page, "</ul>\n");
	wsi_html_section_end(page);
}
