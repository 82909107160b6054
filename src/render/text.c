/* SPDX-License-Identifier: Apache-2.0 */
/* The report as a page of text and as Markdown: a sentence first, then the sections. */
#include "render/sections.h"
#include "render/words.h"

enum ws_status ws_report_text(const struct ws_report *report, const struct ws_text_options *options,
			      struct ws_out *out, struct ws_error *err)
{
	struct wsi_page page;
	enum ws_status st = wsi_page_init(&page, &wsi_form_text, report, options, out, err);
	if (st != WS_OK)
		return st;
	if (page.options.color)
		ws_out_style(out,
			     report->verdict == WS_VERDICT_FAULT ? WS_STYLE_RED : WS_STYLE_BOLD);
	wsi_sentence(&page, WSI_PLAIN, report->summary);
	ws_out_text(out, ".");
	if (page.options.color)
		ws_out_style(out, WS_STYLE_PLAIN);
	ws_out_text(out, "\n");
	wsi_sections(&page);
	st = wsi_page_fini(&page, err);
	if (!page.options.brief)
		ws_out_printf(out, "\n%s\n", wsi_foot);
	return st;
}

enum ws_status ws_report_markdown(const struct ws_report *report,
				  const struct ws_text_options *options, struct ws_out *out,
				  struct ws_error *err)
{
	struct wsi_page page;
	enum ws_status st = wsi_page_init(&page, &wsi_form_markdown, report, options, out, err);
	if (st != WS_OK)
		return st;
	page.options.color = false;
	ws_out_text(out, "**");
	wsi_sentence(&page, WSI_PLAIN, report->summary);
	ws_out_text(out, ".**\n");
	wsi_sections(&page);
	st = wsi_page_fini(&page, err);
	ws_out_printf(out, "\n<sub>Made by warpscope %s. %s</sub>\n", ws_version(), wsi_foot);
	return st;
}
