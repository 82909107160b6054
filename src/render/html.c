/* SPDX-License-Identifier: Apache-2.0 */
/* The report as one HTML file: the frame of the page and the order of its sections. */
#include "render/html.h"

/* The style sheet, the script and the hashes of both, from page/. */
#include "page.inc"

static void head(struct wsi_html *page)
{
	wsi_html_raw(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			   "'none'; style-src " PAGE_STYLE_HASH "; script-src " PAGE_SCRIPT_HASH
			   "; base-uri 'none'; form-action 'none'\">\n"
			   "<meta name=\"viewport\" content=\"width=device-width, "
			   "initial-scale=1\">\n"
			   "<meta name=\"referrer\" content=\"no-referrer\">\n"
			   "<meta name=\"color-scheme\" content=\"light dark\">\n");
	wsi_html_printf(page, "<meta name=\"generator\" content=\"warpscope %s\">\n<title>",
			ws_version());
	wsi_html_text(page, page->report->summary);
	wsi_html_raw(page, "</title>\n<style>");
	for (size_t i = 0; i < WSI_COUNT(page_style); i++)
		wsi_html_raw(page, page_style[i]);
	wsi_html_raw(page, "</style>\n</head>\n<body>\n");
}

static void foot(struct wsi_html *page)
{
	wsi_html_printf(page,
			"<footer>Made by warpscope %s. This page holds no contents of the GPU's "
			"memory, and loads nothing.</footer>\n",
			ws_version());
	wsi_html_map_data(page);
	wsi_html_raw(page, "<script>");
	for (size_t i = 0; i < WSI_COUNT(page_script); i++)
		wsi_html_raw(page, page_script[i]);
	wsi_html_raw(page, "</script>\n</body>\n</html>\n");
}

/* Of a hang, who waits for what is the answer; else it is where the others are. */
static void waits_first(struct wsi_html *page)
{
	if (page->report->verdict == WS_VERDICT_HANG)
		wsi_html_waits(page);
}

static void waits_later(struct wsi_html *page)
{
	if (page->report->verdict != WS_VERDICT_HANG)
		wsi_html_waits(page);
}

enum ws_status ws_report_html(const struct ws_report *report, const struct ws_text_options *options,
			      struct ws_out *out, struct ws_error *err)
{
	static void (*const sections[])(struct wsi_html *) = {
		waits_first,     wsi_html_fault, wsi_html_access,      wsi_html_findings,
		wsi_html_stack,  wsi_html_code,  wsi_html_launch,      wsi_html_further,
		waits_later,     wsi_html_map,   wsi_html_grids,       wsi_html_groups,
		wsi_html_image,  wsi_html_facts, wsi_html_diagnostics, wsi_html_signature,
		wsi_html_advice,
	};
	struct wsi_html page = { .report = report, .out = out };
	if (options && options->size != sizeof *options)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"page options of %zu bytes, expected %zu", options->size,
				sizeof *options);
	if (options)
		page.options = *options;
	head(&page);
	wsi_html_verdict(&page);
	wsi_html_raw(&page, "<main>\n");
	for (size_t i = 0; i < WSI_COUNT(sections); i++)
		sections[i](&page);
	wsi_html_raw(&page, "</main>\n");
	foot(&page);
	if (page.status != WS_OK)
		return wsi_fail(err, page.status, WS_NO_OFFSET, "report page: %s",
				ws_status_text(page.status));
	return WS_OK;
}
