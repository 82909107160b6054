/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as a page of text. A sentence first, then sections: a title line, an empty line, and
 * the detail indented by four spaces, which Markdown shows unchanged. Prose that is not indented
 * carries no text of the input but the summary.
 */
#include "render/text.h"

void wsi_page_sections(struct wsi_page *page)
{
	const struct ws_report_exception *focus = page->report->focus;
	bool hang = page->report->verdict == WS_VERDICT_HANG;
	if (hang) /* who waits for what is the answer; else it is where the others are */
		wsi_text_waits(page);
	if (focus) {
		wsi_text_fault(page, focus);
		wsi_text_access(page, focus);
		wsi_text_frames(page, focus);
		wsi_text_launch(page, focus);
	}
	wsi_text_further(page);
	if (!hang)
		wsi_text_waits(page);
	wsi_text_groups(page);
	wsi_text_image(page);
	wsi_text_facts(page);
	wsi_text_code(page);
	wsi_text_diagnostics(page);
	wsi_text_signature(page);
	wsi_text_advice(page);
	wsi_page_close(page);
}

/* Fills `page`; the same for text and Markdown. */
static enum ws_status page_start(const struct ws_report *report,
				 const struct ws_text_options *options, struct ws_out *out,
				 struct wsi_page *page, struct ws_error *err)
{
	*page = (struct wsi_page){ .report = report, .out = out };
	if (options && options->size != sizeof *options)
		return wsi_fail(err, WS_ARGUMENT, WS_NO_OFFSET,
				"text options of %zu bytes, expected %zu", options->size,
				sizeof *options);
	if (options)
		page->options = *options;
	return WS_OK;
}

static enum ws_status page_status(const struct wsi_page *page, struct ws_error *err)
{
	if (page->status != WS_OK)
		return wsi_fail(err, page->status, WS_NO_OFFSET, "report text: %s",
				ws_status_text(page->status));
	return WS_OK;
}

enum ws_status ws_report_text(const struct ws_report *report, const struct ws_text_options *options,
			      struct ws_out *out, struct ws_error *err)
{
	struct wsi_page page;
	enum ws_status st = page_start(report, options, out, &page, err);
	if (st != WS_OK)
		return st;
	wsi_page_style(&page, report->verdict == WS_VERDICT_FAULT ? WSI_RED : WSI_BOLD);
	wsi_page_prose(&page, ws_str_of(report->summary));
	ws_out_text(out, ".");
	wsi_page_style(&page, WSI_PLAIN);
	wsi_page_end_line(&page);
	wsi_page_sections(&page);
	return page_status(&page, err);
}

enum ws_status ws_report_markdown(const struct ws_report *report,
				  const struct ws_text_options *options, struct ws_out *out,
				  struct ws_error *err)
{
	struct wsi_page page;
	enum ws_status st = page_start(report, options, out, &page, err);
	if (st != WS_OK)
		return st;
	page.markdown = true;
	page.options.color = false;
	ws_out_text(out, "**");
	wsi_page_prose(&page, ws_str_of(report->summary));
	ws_out_text(out, ".**\n");
	wsi_page_sections(&page);
	ws_out_printf(out, "\n<sub>warpscope %s; this page holds no contents of memory.</sub>\n",
		      ws_version());
	return page_status(&page, err);
}
