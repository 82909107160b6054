/* SPDX-License-Identifier: Apache-2.0 */
/* What the exception means, likely causes, what to try next. */
#include "render/html.h"

void wsi_html_cause(struct wsi_html *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || (!e->meaning && e->n_causes == 0))
		return;
	wsi_html_section(page, "cause", e->n_causes ? "Most likely causes" : "What it means");
	if (e->meaning) {
		wsi_html_raw(page, "<p>");
		wsi_html_sentence(page, e->meaning);
		wsi_html_raw(page, "</p>\n");
	}
	if (e->n_causes)
		wsi_html_raw(page, "<ol class=\"causes\">\n");
	for (uint32_t i = 0; i < e->n_causes; i++) {
		wsi_html_raw(page, "<li>");
		wsi_html_claim(page, &e->causes[i]);
		wsi_html_raw(page, "</li>\n");
	}
	if (e->n_causes)
		wsi_html_raw(page, "</ol>\n");
	wsi_html_section_end(page);
}

void wsi_html_next(struct wsi_html *page)
{
	const struct ws_report *report = page->report;
	if (report->n_next == 0)
		return;
	wsi_html_section(page, "next", "What to try next");
	wsi_html_raw(page, "<ul class=\"next\">\n");
	for (uint32_t i = 0; i < report->n_next; i++) {
		wsi_html_raw(page, "<li>");
		wsi_html_sentence(page, report->next[i]);
		wsi_html_raw(page, "</li>\n");
	}
	wsi_html_raw(page, "</ul>\n");
	wsi_html_section_end(page);
}
