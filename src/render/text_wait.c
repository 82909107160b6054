/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for what: one paragraph for each wait, with who is missing. */
#include "render/text.h"

enum { MAX_SHOWN = 12, MAX_BRIEF = 2 };

static void show_place(struct wsi_page *page, const struct ws_report_wait *wait)
{
	wsi_page_label(page, "at");
	ws_out_printf(page->out, "0x%" PRIx64, wait->pc);
	if (wait->instruction) {
		ws_out_text(page->out, "  ");
		ws_out_escaped(page->out, ws_str_of(wait->instruction));
	}
	wsi_page_end_line(page);
	uint32_t user = wait->user_frame != WS_NONE ? wait->user_frame : 0;
	for (uint32_t i = 0; i < wait->n_frames; i++) {
		const struct ws_report_frame *frame = &wait->frames[i];
		if (i != 0 && i != user && i + 1 != wait->n_frames)
			continue;
		wsi_page_label(page, i == 0 ? "in" : "from");
		wsi_page_frame_name(page, frame);
		if (frame->line_status == WS_OK) {
			ws_out_text(page->out, "  ");
			ws_out_escaped(page->out, frame->file);
			if (frame->line)
				ws_out_printf(page->out, ":%u", frame->line);
		}
		wsi_page_end_line(page);
	}
}

static void show_thread(struct wsi_page *page, const struct ws_report_thread *at)
{
	if (at->block_status == WS_OK) {
		ws_out_text(page->out, "block ");
		wsi_page_dim(page, at->block);
	} else {
		ws_out_printf(page->out, "SM %u", at->sm);
	}
	if (at->lane == WS_NONE)
		return;
	ws_out_text(page->out, ", thread ");
	wsi_page_dim(page, at->thread);
}

static void show_word(struct wsi_page *page, const struct ws_report_wait *wait)
{
	if (wait->address_status == WS_OK) {
		wsi_page_label(page, "address");
		ws_out_printf(page->out, "0x%" PRIx64 " (%s%s)", wait->address,
			      ws_space_text(wait->space),
			      wait->one_address ? "" : "; that of the first thread, others differ");
		if (wait->owner.claim.text) {
			ws_out_text(page->out, ", ");
			ws_out_escaped(page->out, ws_str_of(wait->owner.claim.text));
		}
		if (wait->value_status == WS_OK)
			ws_out_printf(page->out, ", holds 0x%" PRIx64, wait->value);
		else
			ws_out_printf(page->out, ", its value: %s",
				      ws_missing_word(wait->value_status));
		wsi_page_end_line(page);
	}
	if (wait->needs) {
		wsi_page_label(page, "needs");
		ws_out_escaped(page->out, ws_str_of(wait->needs));
		wsi_page_end_line(page);
	}
	if (wait->missing_text) {
		wsi_page_label(page, "missing");
		ws_out_escaped(page->out, ws_str_of(wait->missing_text));
		wsi_page_end_line(page);
	}
}

static void show_absentee(struct wsi_page *page, const struct ws_report_absentee *one)
{
	static const char *const words[] = {
		[WS_ABSENTEE_EXITED] = "ended: can never arrive",
		[WS_ABSENTEE_FAULTED] = "faulted: can never arrive",
		[WS_ABSENTEE_TRAPPED] = "at a trap",
		[WS_ABSENTEE_WAITS] = "waiting elsewhere",
		[WS_ABSENTEE_RUNS] = "elsewhere",
		[WS_ABSENTEE_UNKNOWN] = "not in any warp of this dump",
		[WS_ABSENTEE_NOT_RESIDENT] = "not on the GPU: ended, or not started",
	};
	const struct ws_report *report = page->report;
	wsi_page_label(page, "absent");
	if (one->n_blocks)
		ws_out_printf(page->out, "%" PRIu64 " block%s %s", one->n_blocks,
			      one->n_blocks == 1 ? "" : "s", words[one->state]);
	else
		ws_out_printf(page->out, "%" PRIu64 " thread%s %s", one->n_lanes,
			      one->n_lanes == 1 ? "" : "s", words[one->state]);
	if (one->group < report->n_groups) {
		const struct ws_report_group *group = &report->groups[one->group];
		ws_out_printf(page->out, ": 0x%" PRIx64, group->pc);
		if (group->frame.function_status == WS_OK) {
			ws_out_text(page->out, " ");
			wsi_page_frame_name(page, &group->frame);
		}
	}
	if (one->example.block_status == WS_OK || one->example.sm != WS_NONE) {
		ws_out_text(page->out, " (first: ");
		show_thread(page, &one->example);
		ws_out_text(page->out, ")");
	}
	wsi_page_end_line(page);
}

static void show_wait(struct wsi_page *page, const struct ws_report_wait *wait)
{
	ws_out_printf(
		page->out, "    %" PRIu64 " thread%s of %" PRIu64 " warp%s in %" PRIu64 " block%s ",
		wait->n_lanes, wait->n_lanes == 1 ? "" : "s", wait->n_warps,
		wait->n_warps == 1 ? "" : "s", wait->n_blocks, wait->n_blocks == 1 ? "" : "s");
	ws_out_escaped(page->out, ws_str_of(wait->claim.text));
	wsi_page_end_line(page);
	show_place(page, wait);
	show_word(page, wait);
	for (uint32_t i = 0; i < wait->n_absentees; i++)
		show_absentee(page, &wait->absentees[i]);
	wsi_page_label(page, "first");
	show_thread(page, &wait->example);
	wsi_page_end_line(page);
	wsi_page_label(page, "because");
	ws_out_escaped(page->out, ws_str_of(wait->claim.evidence));
	ws_out_printf(page->out, " (%s)", ws_confidence_text(wait->claim.confidence));
	wsi_page_end_line(page);
}

void wsi_text_waits(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	if (report->n_waits == 0)
		return;
	if (report->verdict == WS_VERDICT_HANG)
		wsi_page_title(page, "Who waits for what:");
	else
		wsi_page_title_folded(page, "Who waits for what:");
	uint32_t shown = report->n_waits, most = page->options.brief ? MAX_BRIEF : MAX_SHOWN;
	if (!page->options.all && shown > most)
		shown = most;
	for (uint32_t i = 0; i < shown; i++) {
		if (i)
			wsi_page_end_line(page);
		show_wait(page, &report->waits[i]);
	}
	if (shown < report->n_waits)
		ws_out_printf(page->out, "    ... and %u more (--all)\n", report->n_waits - shown);
}
