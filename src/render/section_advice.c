/* SPDX-License-Identifier: Apache-2.0 */
/* What the exception means, likely causes, what the state shows, what to try next; diagnostics of
 * the dump. */
#include "render/sections.h"
#include "render/words.h"

static void claims(struct wsi_page *page, const struct ws_report_claim *claims, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		wsi_render_element(page, WSI_ITEM);
		wsi_say_claim(page, &claims[i]);
	}
}

void wsi_section_cause(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || (!e->meaning && e->n_causes == 0))
		return;
	wsi_section(page, "cause", e->n_causes ? "Likely causes here" : "What it means", WSI_PROSE);
	if (e->meaning)
		wsi_lead(page, e->meaning);
	claims(page, e->causes, e->n_causes);
}

void wsi_section_findings(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->n_findings == 0)
		return;
	wsi_section(page, "findings", "What the state shows", WSI_PROSE);
	claims(page, e->findings, e->n_findings);
}

void wsi_section_next(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	if (report->n_next == 0)
		return;
	wsi_section(page, "next", "What to try next", WSI_PROSE);
	for (uint32_t i = 0; i < report->n_next; i++) {
		wsi_render_element(page, WSI_ITEM);
		wsi_sentence(page, WSI_PLAIN, report->next[i]);
	}
}

void wsi_section_diagnostics(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	uint32_t shown = wsi_render_rows(page, report->n_diagnostics);
	if (report->n_diagnostics == 0)
		return;
	wsi_section(page, "damage", "Diagnostics of the dump", WSI_FOLDED);
	for (uint32_t i = 0; i < shown; i++) {
		const struct ws_diagnostic *one = &report->diagnostics[i];
		wsi_render_element(page, WSI_ITEM);
		wsi_say(page, "%s", one->message);
		if (one->file_off != WS_NO_OFFSET)
			wsi_say(page, " (file offset 0x%" PRIx64 ")", one->file_off);
		if (one->repeats)
			wsi_say(page, ", and %" PRIu64 " more", one->repeats);
	}
	wsi_say_more(page, report->n_diagnostics - shown);
}
