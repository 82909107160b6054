/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one HTML file, and what figures are drawn with.
 *
 * The page reads without scripts, loads nothing, and its content security policy names the hashes
 * of the one style sheet and the one script (page/), so that text of a dump could not run even if
 * it got past the escaping. For the same reason there are no style attributes: what depends on data
 * is drawn as SVG geometry or chosen by class.
 *
 * Text of the input goes through `page->put` and nothing else, in element content and in quoted
 * attribute values alike.
 */
#ifndef WSI_RENDER_HTML_H
#define WSI_RENDER_HTML_H

#include "render/page.h"

/* Markup of ours: a string literal. */
#define wsi_html_raw(page, text) ws_out_text((page)->out, text)
/* The format is markup of ours; what %s and %c print is text, escaped. */
#define wsi_html_printf wsi_say

/* A page: its start up to the title; the title, with the style sheet; the end, with the script. */
void wsi_html_start(struct wsi_page *page);
void wsi_html_title(struct wsi_page *page, struct ws_str what);
void wsi_html_end(struct wsi_page *page);

/* The address of an access among the memory around it, as a picture. */
void wsi_figure_ruler(struct wsi_page *page, const struct ws_report_access *access);
/* One line of a picture of times: seconds since 1970, 0: not known; the first and the last. */
struct wsi_time_line {
	struct ws_str name;
	uint64_t first, last;
	const char *look;  /* class */
	const char *words; /* ours */
	bool marked;
};

/* When something happened, where two times are known and differ. `label` and
 * `note`, which stands below, are ours. */
void wsi_figure_times(struct wsi_page *page, const char *label, const char *note,
		      const struct wsi_time_line *lines, size_t n);
/* The data that the script shows of each warp. */
void wsi_html_map_data(struct wsi_page *page);

/* ---- states of threads ---- */

enum { WSI_N_STATES = WS_THREAD_DIVERGENT + 1 };

/* A sample of the state's look with its name and a count. */
void wsi_html_legend(struct wsi_page *page, const uint64_t counts[WSI_N_STATES], const char *unit);

#endif
