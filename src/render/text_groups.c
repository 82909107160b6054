/* SPDX-License-Identifier: Apache-2.0 */
/* Where the threads are: one row for each place and state. */
#include "render/text.h"

#include "render/words.h"

void wsi_text_groups(struct wsi_page *page)
{
	static const struct ws_column columns[] = {
		{ "Threads", WS_ALIGN_RIGHT }, { "Warps", WS_ALIGN_RIGHT },
		{ "State", WS_ALIGN_LEFT },    { "PC", WS_ALIGN_LEFT },
		{ "At", WS_ALIGN_CUT },        { "Called from", WS_ALIGN_CUT },
		{ "Function", WS_ALIGN_CUT },  { "First block, thread", WS_ALIGN_LEFT },
	};
	const struct ws_report *report = page->report;
	if (report->n_groups == 0)
		return;
	wsi_page_title_folded(page, "Where the threads are:");
	struct ws_table *table = wsi_page_table_start(page, columns, WSI_COUNT(columns));
	if (!table)
		return;
	uint32_t shown = wsi_page_rows(page, report->n_groups);
	for (uint32_t i = 0; i < shown; i++) {
		const struct ws_report_group *group = &report->groups[i];
		ws_table_printf(table, "%" PRIu64, group->n_lanes);
		ws_table_printf(table, "%" PRIu64, group->n_warps);
		ws_table_printf(table, "%s", ws_thread_state_text(group->state));
		ws_table_printf(table, "0x%" PRIx64, group->pc);
		if (wsi_has_place(&group->frame))
			wsi_cell_line(table, &group->frame);
		else
			ws_table_printf(table, "-");
		if (group->user.level != group->frame.level)
			wsi_cell_line(table, &group->user);
		else
			ws_table_printf(table, "-");
		wsi_cell_function(table, &group->user);
		wsi_cell_thread(table, &group->example);
	}
	wsi_page_table_done(page, table);
	uint64_t rest = 0;
	for (uint32_t i = shown; i < report->n_groups; i++)
		rest += report->groups[i].n_lanes;
	if (shown < report->n_groups)
		ws_out_printf(page->out,
			      "    ... and %" PRIu64 " threads in %u more groups (--all)\n", rest,
			      report->n_groups - shown);
}
