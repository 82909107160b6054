/* SPDX-License-Identifier: Apache-2.0 */
/* Where the threads are, and the exceptions after the first. */
#include "render/html.h"

enum { MAX_ROWS = 300 }; /* of a table, unless all are asked for */

static uint32_t rows(const struct wsi_html *page, uint32_t n)
{
	return page->options.all || n < MAX_ROWS ? n : MAX_ROWS;
}

static void group_row(struct wsi_html *page, uint32_t i)
{
	const struct ws_report_group *group = &page->report->groups[i];
	char letter = wsi_state_letter(group->state);
	wsi_html_printf(
		page,
		"<tr data-group=\"%u\"><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
		"</td><td><span class=\"state %c\">%s</span></td><td>",
		i, group->n_lanes, group->n_warps, letter, ws_thread_state_text(group->state));
	if (wsi_has_place(&group->frame))
		wsi_html_line(page, &group->frame);
	else
		wsi_html_raw(page, "-");
	wsi_html_raw(page, "</td><td>");
	if (group->user.level != group->frame.level)
		wsi_html_line(page, &group->user);
	wsi_html_raw(page, "</td><td>");
	wsi_html_function(page, &group->user);
	wsi_html_raw(page, "</td><td>");
	wsi_html_hex(page, group->pc);
	wsi_html_raw(page, "</td><td>");
	wsi_html_thread(page, &group->example);
	wsi_html_raw(page, "</td></tr>\n");
}

void wsi_html_groups(struct wsi_html *page)
{
	const struct ws_report *report = page->report;
	if (report->n_groups == 0)
		return;
	uint32_t shown = rows(page, report->n_groups);
	wsi_html_section(page, "threads", "Where the threads are");
	wsi_html_raw(
		page,
		"<p class=\"tools\" hidden><label>Filter <input id=\"filter\" type=\"search\" "
		"autocomplete=\"off\"></label> <span id=\"filtered\" role=\"status\"></span></p>\n"
		"<div class=\"wide tall\" tabindex=\"0\" role=\"region\" aria-label=\"Threads by "
		"place\">"
		"<table class=\"groups\" id=\"groups\"><thead><tr><th scope=\"col\" class=\"n\">"
		"Threads</th><th scope=\"col\" class=\"n\">Warps</th><th scope=\"col\">State</th>"
		"<th scope=\"col\">At</th><th scope=\"col\">Called from</th><th scope=\"col\">"
		"Function</th><th scope=\"col\">PC</th><th scope=\"col\">First thread</th></tr>"
		"</thead>\n<tbody>\n");
	for (uint32_t i = 0; i < shown; i++)
		group_row(page, i);
	wsi_html_raw(page, "</tbody></table></div>\n");
	uint64_t rest = 0;
	for (uint32_t i = shown; i < report->n_groups; i++)
		rest += report->groups[i].n_lanes;
	if (rest)
		wsi_html_printf(page,
				"<p class=\"soft\">and %" PRIu64 " threads at %u more places "
				"(<code>--all</code>)</p>\n",
				rest, report->n_groups - shown);
	wsi_html_section_end(page);
}

static void further_row(struct wsi_html *page, const struct ws_report_exception *e)
{
	const struct ws_report_frame *user = wsi_html_user_frame(e);
	wsi_html_raw(page, "<tr><td>");
	wsi_html_text(page, e->label);
	wsi_html_raw(page, "</td><td>");
	if (user)
		wsi_html_line(page, user);
	wsi_html_raw(page, "</td><td>");
	if (user)
		wsi_html_function(page, user);
	wsi_html_raw(page, "</td><td>");
	wsi_html_thread(page, &e->suspect);
	wsi_html_printf(page,
			"</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%" PRIu64
			"</td><td class=\"n\">%" PRIu64 "</td></tr>\n",
			e->n_sms, e->n_warps, e->n_lanes);
}

void wsi_html_further(struct wsi_html *page)
{
	const struct ws_report *report = page->report;
	if (report->n_exceptions < 2)
		return;
	uint32_t shown = rows(page, report->n_exceptions);
	wsi_html_section(page, "further", "Further exceptions in this dump");
	wsi_html_raw(
		page,
		"<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Further "
		"exceptions\"><table class=\"further\"><thead><tr><th "
		"scope=\"col\">Exception</th><th scope=\"col\">"
		"At</th><th scope=\"col\">Function</th><th scope=\"col\">First thread</th><th "
		"scope=\"col\" class=\"n\">SMs</th><th scope=\"col\" class=\"n\">Warps</th><th "
		"scope=\"col\" class=\"n\">Threads</th></tr></thead>\n<tbody>\n");
	for (uint32_t i = 1; i < shown; i++)
		further_row(page, &report->exceptions[i]);
	wsi_html_raw(page, "</tbody></table></div>\n");
	if (shown < report->n_exceptions)
		wsi_html_printf(page, "<p class=\"soft\">and %u more (<code>--all</code>)</p>\n",
				report->n_exceptions - shown);
	wsi_html_section_end(page);
}
