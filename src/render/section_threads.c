/* SPDX-License-Identifier: Apache-2.0 */
/* Where the threads are: one row for each place and state; and the exceptions after the first. */
#include "render/sections.h"
#include "render/words.h"

static void cell_line(struct wsi_page *page, const struct ws_report_frame *frame, bool known)
{
	wsi_cell(page, "");
	if (known)
		wsi_say_line(page, frame);
	else
		wsi_say(page, "-");
}

static void cell_function(struct wsi_page *page, const struct ws_report_frame *frame)
{
	wsi_cell(page, "");
	wsi_say_function(page, frame, !page->rich);
}

static void cell_number(struct wsi_page *page, uint64_t number)
{
	wsi_cell(page, "");
	wsi_say(page, "%" PRIu64, number);
}

void wsi_section_groups(struct wsi_page *page)
{
	static const struct ws_column columns[] = {
		{ "Threads", WS_ALIGN_RIGHT }, { "Warps", WS_ALIGN_RIGHT },
		{ "State", WS_ALIGN_LEFT },    { "PC", WS_ALIGN_LEFT },
		{ "At", WS_ALIGN_LEFT },       { "Called from", WS_ALIGN_LEFT },
		{ "Function", WS_ALIGN_LEFT }, { "First block, thread", WS_ALIGN_LEFT },
	};
	const struct ws_report *report = page->report;
	uint32_t shown = wsi_render_rows(page, report->n_groups);
	uint64_t rest = 0;
	if (report->n_groups == 0)
		return;
	wsi_section(page, "threads", "Where the threads are", WSI_FOLDED);
	wsi_render_table(page, &(struct wsi_page_table){ .id = "groups",
							 .label = "Threads by place",
							 .column = columns,
							 .n_columns = WSI_COUNT(columns),
							 .filter = true });
	for (uint32_t i = 0; i < shown; i++) {
		const struct ws_report_group *group = &report->groups[i];
		cell_number(page, group->n_lanes);
		cell_number(page, group->n_warps);
		wsi_cell(page, "");
		wsi_render_run(page, WSI_FAULTED + (enum wsi_look)group->state, "%s",
			       ws_thread_state_text(group->state));
		wsi_cell(page, "");
		wsi_render_run(page, WSI_CODE, "0x%" PRIx64, group->pc);
		cell_line(page, &group->frame, wsi_has_place(&group->frame));
		cell_line(page, &group->user, group->user.level != group->frame.level);
		cell_function(page, &group->user);
		wsi_cell_thread(page, &group->example);
	}
	for (uint32_t i = shown; i < report->n_groups; i++)
		rest += report->groups[i].n_lanes;
	if (shown == report->n_groups)
		return;
	wsi_render_element(page, WSI_MORE);
	wsi_say(page, "%" PRIu64 " thread%s in %u more group%s (--all)", rest, wsi_plural(rest),
		report->n_groups - shown, wsi_plural(report->n_groups - shown));
}

void wsi_section_further(struct wsi_page *page)
{
	static const struct ws_column columns[] = {
		{ "Exception", WS_ALIGN_LEFT }, { "At", WS_ALIGN_LEFT },
		{ "Function", WS_ALIGN_LEFT },  { "First block, thread", WS_ALIGN_LEFT },
		{ "Dev", WS_ALIGN_RIGHT },      { "SM", WS_ALIGN_RIGHT },
		{ "SMs", WS_ALIGN_RIGHT },      { "Warps", WS_ALIGN_RIGHT },
		{ "Threads", WS_ALIGN_RIGHT },
	};
	static const struct ws_report_frame nothing = { .function_status = WS_ABSENT };
	const struct ws_report *report = page->report;
	if (report->n_exceptions < 2)
		return;
	uint32_t shown = wsi_render_rows(page, report->n_exceptions - 1) + 1;
	wsi_section(page, "further",
		    report->dump_status == WS_OK ? "Other exceptions in this dump"
						 : "Other exceptions on this device",
		    WSI_FOLDED);
	wsi_render_table(page, &(struct wsi_page_table){ .id = "further",
							 .label = "Other exceptions",
							 .column = columns,
							 .n_columns = WSI_COUNT(columns) });
	for (uint32_t i = 1; i < shown; i++) {
		const struct ws_report_exception *e = &report->exceptions[i];
		const struct ws_report_frame *user =
			wsi_user_frame(e->frames, e->n_frames, e->user_frame);
		wsi_cell(page, "");
		wsi_say(page, "%s", e->label);
		wsi_cell(page, "");
		if (user)
			wsi_say_line(page, user);
		else
			wsi_say(page, "?");
		cell_function(page, user ? user : &nothing);
		wsi_cell_thread(page, &e->suspect);
		if (e->at.device == WS_NONE) {
			wsi_cell(page, "");
			wsi_say(page, "?");
		} else {
			cell_number(page, e->at.device);
		}
		cell_number(page, e->at.sm);
		cell_number(page, e->n_sms);
		cell_number(page, e->n_warps);
		cell_number(page, e->n_lanes);
	}
	wsi_say_more(page, report->n_exceptions - shown);
}
