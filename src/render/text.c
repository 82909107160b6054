/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as a page of text. A sentence first, then sections: a title line, an empty line, and
 * the detail indented by four spaces, which Markdown shows unchanged. In prose, names of the input
 * stand in backquotes.
 */
#include "render/text.h"
#include "render/sections.h"

static void page_sections(struct wsi_page *page)
{
	static void (*const write[WSI_N_SECTIONS])(struct wsi_page *) = {
		[WSI_SECTION_CAUSE] = wsi_text_cause,
		[WSI_SECTION_NEXT] = wsi_text_next,
		[WSI_SECTION_WAITS] = wsi_text_waits,
		[WSI_SECTION_FAULT] = wsi_text_fault,
		[WSI_SECTION_ACCESS] = wsi_text_access,
		[WSI_SECTION_FINDINGS] = wsi_text_findings,
		[WSI_SECTION_STACK] = wsi_text_frames,
		[WSI_SECTION_LISTING] = wsi_text_listing,
		[WSI_SECTION_LAUNCH] = wsi_text_launch,
		[WSI_SECTION_FURTHER] = wsi_text_further,
		[WSI_SECTION_GROUPS] = wsi_text_groups,
		[WSI_SECTION_IMAGE] = wsi_text_image,
		[WSI_SECTION_DUMP] = wsi_text_facts,
		[WSI_SECTION_KERNELS] = wsi_text_kernels,
		[WSI_SECTION_DIAGNOSTICS] = wsi_text_diagnostics,
		[WSI_SECTION_SIGNATURE] = wsi_text_signature,
	};
	enum wsi_section order[WSI_N_SECTIONS];
	unsigned n = wsi_sections(page->report, page->options.brief, order);
	for (unsigned i = 0; i < n; i++) {
		if (write[order[i]])
			write[order[i]](page);
	}
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
	wsi_page_style(&page, report->verdict == WS_VERDICT_FAULT ? WS_STYLE_RED : WS_STYLE_BOLD);
	wsi_page_advice(&page, report->summary);
	ws_out_text(out, ".");
	wsi_page_style(&page, WS_STYLE_PLAIN);
	wsi_page_end_line(&page);
	page_sections(&page);
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
	wsi_page_advice(&page, report->summary);
	ws_out_text(out, ".**\n");
	page_sections(&page);
	ws_out_printf(out, "\n<sub>warpscope %s; this page contains no memory contents.</sub>\n",
		      ws_version());
	return page_status(&page, err);
}
