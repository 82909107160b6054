/* SPDX-License-Identifier: Apache-2.0 */
/* The report as one HTML file: the frame of the page. */
#include "render/html.h"
#include "render/sections.h"

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
	if (page->report->dump_status == WS_OK) { /* first: tabs show little of a title */
		wsi_html_str(page, wsi_file_name(ws_str_of(page->report->dump.path)));
		wsi_html_raw(page, ": ");
	}
	struct ws_str what = { page->report->summary, page->report->summary_head };
	for (size_t i = 0, n; i < what.len; i += n + 1) { /* no markup in a title: no backquotes */
		const char *end = memchr(what.ptr + i, '`', what.len - i);
		n = end ? (size_t)(end - what.ptr) - i : what.len - i;
		wsi_html_str(page, (struct ws_str){ what.ptr + i, n });
	}
	wsi_html_raw(page, "</title>\n<style>");
	for (size_t i = 0; i < WSI_COUNT(page_style); i++)
		wsi_html_raw(page, page_style[i]);
	wsi_html_raw(page, "</style>\n</head>\n<body>\n");
}

static void foot(struct wsi_html *page)
{
	wsi_html_printf(page,
			"<footer>Made by warpscope %s. This page contains no GPU memory contents "
			"and loads nothing.</footer>\n",
			ws_version());
	wsi_html_map_data(page);
	wsi_html_raw(page, "<script>");
	for (size_t i = 0; i < WSI_COUNT(page_script); i++)
		wsi_html_raw(page, page_script[i]);
	wsi_html_raw(page, "</script>\n</body>\n</html>\n");
}

static void page_sections(struct wsi_html *page)
{
	static void (*const write[WSI_N_SECTIONS])(struct wsi_html *) = {
		[WSI_SECTION_CAUSE] = wsi_html_cause,
		[WSI_SECTION_NEXT] = wsi_html_next,
		[WSI_SECTION_WAITS] = wsi_html_waits,
		[WSI_SECTION_FAULT] = wsi_html_fault,
		[WSI_SECTION_ACCESS] = wsi_html_access,
		[WSI_SECTION_FINDINGS] = wsi_html_findings,
		[WSI_SECTION_STACK] = wsi_html_stack,
		[WSI_SECTION_LISTING] = wsi_html_code,
		[WSI_SECTION_LAUNCH] = wsi_html_launch,
		[WSI_SECTION_FURTHER] = wsi_html_further,
		[WSI_SECTION_MAP] = wsi_html_map,
		[WSI_SECTION_GRIDS] = wsi_html_grids,
		[WSI_SECTION_GROUPS] = wsi_html_groups,
		[WSI_SECTION_IMAGE] = wsi_html_image,
		[WSI_SECTION_DUMP] = wsi_html_facts,
		[WSI_SECTION_DIAGNOSTICS] = wsi_html_diagnostics,
		[WSI_SECTION_SIGNATURE] = wsi_html_signature,
	};
	enum wsi_section order[WSI_N_SECTIONS];
	unsigned n = wsi_sections(page->report, false, order);
	for (unsigned i = 0; i < n; i++) {
		if (write[order[i]])
			write[order[i]](page);
	}
}

enum ws_status ws_report_html(const struct ws_report *report, const struct ws_text_options *options,
			      struct ws_out *out, struct ws_error *err)
{
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
	page_sections(&page);
	wsi_html_raw(&page, "</main>\n");
	foot(&page);
	if (page.status != WS_OK)
		return wsi_fail(err, page.status, WS_NO_OFFSET, "report page: %s",
				ws_status_text(page.status));
	return WS_OK;
}
