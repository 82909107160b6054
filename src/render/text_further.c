/* SPDX-License-Identifier: Apache-2.0 */
/* The exceptions after the first. */
#include "render/text.h"

void wsi_text_further(struct wsi_page *page)
{
	static const struct ws_column columns[] = {
		{ "Exception", WS_ALIGN_CUT }, { "At", WS_ALIGN_CUT },
		{ "Function", WS_ALIGN_CUT },  { "First block, thread", WS_ALIGN_LEFT },
		{ "Dev", WS_ALIGN_RIGHT },     { "SM", WS_ALIGN_RIGHT },
		{ "SMs", WS_ALIGN_RIGHT },     { "Warps", WS_ALIGN_RIGHT },
		{ "Threads", WS_ALIGN_RIGHT },
	};
	const struct ws_report *report = page->report;
	if (report->n_exceptions < 2)
		return;
	wsi_page_title_folded(page, "Further exceptions in this dump:");
	struct ws_table *table = wsi_page_table_start(page, columns, WSI_COUNT(columns));
	if (!table)
		return;
	uint32_t shown = wsi_page_rows(page, report->n_exceptions - 1) + 1;
	for (uint32_t i = 1; i < shown; i++) {
		const struct ws_report_exception *e = &report->exceptions[i];
		static const struct ws_report_frame nothing = { .function_status = WS_ABSENT,
								.line_status = WS_ABSENT };
		const struct ws_report_frame *inner = e->n_frames ? &e->frames[0] : &nothing;
		const struct ws_report_frame *user =
			e->user_frame != WS_NONE ? &e->frames[e->user_frame] : inner;
		ws_table_printf(table, "%s", e->label);
		if (e->n_frames)
			wsi_cell_line(table, user);
		else
			ws_table_printf(table, "?");
		wsi_cell_function(table, user);
		wsi_cell_thread(table, &e->suspect);
		if (e->at.device == WS_NONE)
			ws_table_printf(table, "?");
		else
			ws_table_printf(table, "%u", e->at.device);
		ws_table_printf(table, "%u", e->at.sm);
		ws_table_printf(table, "%" PRIu64, e->n_sms);
		ws_table_printf(table, "%" PRIu64, e->n_warps);
		ws_table_printf(table, "%" PRIu64, e->n_lanes);
	}
	wsi_page_table_done(page, table);
	if (shown < report->n_exceptions)
		ws_out_printf(page->out, "    ... and %u more (--all)\n",
			      report->n_exceptions - shown);
}
