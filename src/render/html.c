/* SPDX-License-Identifier: Apache-2.0 */
/* The report as one HTML file: the frame of the page. */
#include "render/html.h"
#include "render/sections.h"
#include "render/words.h"

/* The style sheet, the script and the hashes of both, from page/. */
#include "page.inc"

void wsi_html_start(struct wsi_page *page)
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
}

void wsi_html_title(struct wsi_page *page, struct ws_str what)
{
	for (size_t i = 0, n; i < what.len; i += n + 1) { /* no markup in a title: no backquotes */
		const char *end = memchr(what.ptr + i, '`', what.len - i);
		n = end ? (size_t)(end - what.ptr) - i : what.len - i;
		wsi_str(page, WSI_PLAIN, (struct ws_str){ what.ptr + i, n });
	}
	wsi_html_raw(page, "</title>\n<style>");
	for (size_t i = 0; i < WSI_COUNT(page_style); i++)
		wsi_html_raw(page, page_style[i]);
	wsi_html_raw(page, "</style>\n</head>\n<body>\n");
}

static void head(struct wsi_page *page)
{
	wsi_html_start(page);
	if (page->report->dump_status == WS_OK) { /* first: tabs show little of a title */
		wsi_str(page, WSI_PLAIN, wsi_report_file_name(ws_str_of(page->report->dump.path)));
		wsi_html_raw(page, ": ");
	}
	wsi_html_title(page, (struct ws_str){ page->report->summary, page->report->summary_head });
}

void wsi_html_end(struct wsi_page *page)
{
	wsi_html_printf(page,
			"<footer>Made by warpscope %s. %s This page loads nothing.</footer>\n",
			ws_version(), wsi_foot);
	if (page->report)
		wsi_html_map_data(page);
	if (page->report) { /* it is about the pictures of a dump */
		wsi_html_raw(page, "<script>");
		for (size_t i = 0; i < WSI_COUNT(page_script); i++)
			wsi_html_raw(page, page_script[i]);
		wsi_html_raw(page, "</script>\n");
	}
	wsi_html_raw(page, "</body>\n</html>\n");
}

static const char *const verdict_words[] = {
	[WS_VERDICT_FAULT] = "Fault",
	[WS_VERDICT_HANG] = "Hang suspected",
	[WS_VERDICT_NONE] = "No fault",
	[WS_VERDICT_UNKNOWN] = "Cannot tell",
};

/* What follows on the heading, as a sentence of its own. */
static void rest(struct wsi_page *page, const struct ws_report *report)
{
	enum { SEPARATOR = 2 };
	struct ws_str text = ws_str_of(report->summary);
	size_t taken = report->summary_head + SEPARATOR;
	if (text.len <= taken)
		return;
	text = (struct ws_str){ text.ptr + taken, text.len - taken };
	wsi_html_raw(page, "<p class=\"rest\">");
	if (*text.ptr >= 'a' && *text.ptr <= 'z') {
		wsi_html_printf(page, "%c", *text.ptr - 'a' + 'A');
		text = (struct ws_str){ text.ptr + 1, text.len - 1 };
	}
	page->form->sentence(page, text);
	wsi_html_raw(page, ".</p>\n");
}

static void html_verdict(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	wsi_html_printf(page, "<header class=\"verdict %s\">\n",
			ws_verdict_kind_text(report->verdict));
	wsi_html_printf(page, "<p class=\"kind\">%s", verdict_words[report->verdict]);
	if (report->dump_status == WS_OK) {
		wsi_html_raw(page, " <span class=\"dump\">in <code>");
		wsi_str(page, WSI_PLAIN, wsi_report_file_name(ws_str_of(report->dump.path)));
		wsi_html_raw(page, "</code></span>");
	}
	wsi_html_raw(page, "</p>\n<h1>");
	page->form->sentence(page, (struct ws_str){ report->summary, report->summary_head });
	wsi_html_raw(page, ".</h1>\n");
	rest(page, report);
	wsi_html_raw(page, "</header>\n");
}

enum ws_status ws_report_html(const struct ws_report *report, const struct ws_text_options *options,
			      struct ws_out *out, struct ws_error *err)
{
	struct wsi_page page;
	enum ws_status st = wsi_page_init(&page, &wsi_form_html, report, options, out, err);
	if (st != WS_OK)
		return st;
	page.options.brief = false;
	head(&page);
	html_verdict(&page);
	wsi_html_raw(&page, "<main>\n");
	wsi_sections(&page);
	st = wsi_page_fini(&page, err);
	wsi_html_raw(&page, "</main>\n");
	wsi_html_end(&page);
	return st;
}
