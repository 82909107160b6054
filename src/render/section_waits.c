/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for what, who has not come, and whether they still can. */
#include "report/build.h"

#include "render/sections.h"
#include "render/words.h"

enum {
	MAX_WAITS = 12,
	RICH_WAITS = 50,
	RICH_ABSENTEES = 20, /* of a wait, where more waits are shown than in text */
	BRIEF_WAITS = 2,
};

static void place_of_wait(struct wsi_page *page, const struct ws_report_wait *wait)
{
	wsi_label(page, "At");
	wsi_render_run(page, WSI_CODE, "0x%" PRIx64, wait->pc);
	if (wait->instruction) {
		wsi_say(page, "  ");
		wsi_render_run(page, WSI_CODE, "%s", wait->instruction);
	}
	uint32_t user = wait->user_frame != WS_NONE ? wait->user_frame : 0;
	for (uint32_t i = 0; i < wait->n_frames; i++) {
		const struct ws_report_frame *frame = &wait->frames[i];
		if (i != 0 && i != user && i + 1 != wait->n_frames)
			continue;
		wsi_label(page, i == 0 ? "In" : "From");
		wsi_say_function(page, frame, false);
		if (frame->line_status != WS_OK)
			continue;
		wsi_say(page, "  ");
		wsi_say_path(page, frame->file, frame->line);
	}
}

static void thread(struct wsi_page *page, const struct ws_report_thread *at)
{
	if (page->rich) {
		wsi_say_thread(page, at);
		return;
	}
	if (at->block_status == WS_OK) {
		wsi_say(page, "block ");
		wsi_dim(page, at->block);
	} else {
		wsi_say(page, "SM %u", at->sm);
	}
	if (at->lane == WS_NONE)
		return;
	wsi_say(page, ", thread ");
	wsi_dim(page, at->thread);
}

static void waited_word(struct wsi_page *page, const struct ws_report_wait *wait)
{
	if (wait->address_status == WS_OK) {
		wsi_label(page, "Address");
		wsi_render_run(page, WSI_CODE, "0x%" PRIx64, wait->address);
		wsi_say(page, " (%s%s)", ws_space_text(wait->space),
			wait->one_address ? "" : "; that of the first thread, others may differ");
		if (wait->owner.claim.text)
			wsi_say(page, ", %s", wait->owner.claim.text);
		if (wait->value_status == WS_OK) {
			wsi_say(page, ", holds ");
			wsi_render_run(page, WSI_CODE, "0x%" PRIx64, wait->value);
		} else {
			wsi_say(page, ", its value: ");
			wsi_say_status(page, wait->value_status);
		}
	}
	if (wait->needs) {
		wsi_label(page, "Needs");
		wsi_say(page, "%s", wait->needs);
	}
	if (wait->missing_text) {
		wsi_label(page, "Missing");
		wsi_say(page, "%s", wait->missing_text);
	}
}

static void absentee(struct wsi_page *page, const struct ws_report_absentee *one)
{
	static const char *const words[] = {
		[WS_ABSENTEE_EXITED] = "ended: can never arrive",
		[WS_ABSENTEE_FAULTED] = "faulted: can never arrive",
		[WS_ABSENTEE_TRAPPED] = "at a trap",
		[WS_ABSENTEE_WAITS] = "waiting elsewhere",
		[WS_ABSENTEE_RUNS] = "elsewhere",
		[WS_ABSENTEE_UNKNOWN] = "not in any warp of this ",
		[WS_ABSENTEE_NOT_RESIDENT] = "gone: ended without it",
	};
	const struct ws_report *report = page->report;
	uint64_t n = one->n_blocks ? one->n_blocks : one->n_lanes;
	wsi_label(page, "Absent");
	wsi_render_run(page, wsi_never_comes(one->state) ? WSI_NEVER : WSI_PLAIN,
		       "%" PRIu64 " %s%s %s%s", n, one->n_blocks ? "block" : "thread",
		       wsi_plural(n), words[one->state],
		       one->state == WS_ABSENTEE_UNKNOWN ? wsi_noun(report) : "");
	if (one->group < report->n_groups) {
		const struct ws_report_group *group = &report->groups[one->group];
		wsi_say(page, ": ");
		wsi_render_run(page, WSI_CODE, "0x%" PRIx64, group->pc);
		if (group->frame.function_status == WS_OK) {
			wsi_say(page, " ");
			wsi_say_function(page, &group->frame, false);
		}
	}
	if (one->example.block_status == WS_OK || one->example.sm != WS_NONE) {
		wsi_say(page, " (first: ");
		thread(page, &one->example);
		wsi_say(page, ")");
	}
	if (one->wait != WS_NONE && (one->wait < RICH_WAITS || page->options.all))
		wsi_link(page, "Wait", one->wait);
}

static void one_wait(struct wsi_page *page, const struct ws_report_wait *wait)
{
	wsi_render_element(page, WSI_PARAGRAPH);
	wsi_render_run(page, WSI_STRONG,
		       "%" PRIu64 " thread%s of %" PRIu64 " warp%s in %" PRIu64 " block%s ",
		       wait->n_lanes, wsi_plural(wait->n_lanes), wait->n_warps,
		       wsi_plural(wait->n_warps), wait->n_blocks, wsi_plural(wait->n_blocks));
	wsi_render_run(page, WSI_STRONG, "%s", wait->claim.text);
	if (page->rich && wait->collective)
		wsi_render_run(page, WSI_SOFT, " (%s)", wait->collective);
	place_of_wait(page, wait);
	if (page->rich && wait->barrier_status == WS_OK && wait->expected) {
		wsi_label(page, "Barrier");
		wsi_say(page, "%u, counts %u threads", wait->barrier, wait->expected);
	}
	waited_word(page, wait);
	uint32_t absent = wait->n_absentees;
	if (page->rich && !page->options.all && absent > RICH_ABSENTEES)
		absent = RICH_ABSENTEES;
	for (uint32_t i = 0; i < absent; i++)
		absentee(page, &wait->absentees[i]);
	if (absent < wait->n_absentees) {
		wsi_label(page, "");
		wsi_say(page, "... and %u more (--all)", wait->n_absentees - absent);
	}
	wsi_label(page, "First");
	thread(page, &wait->example);
	wsi_label(page, "Because");
	wsi_say(page, "%s ", wait->claim.evidence ? wait->claim.evidence : "");
	wsi_say(page, page->rich ? "" : "(");
	wsi_render_run(page, (enum wsi_look)wait->claim.confidence, "%s",
		       ws_confidence_text(wait->claim.confidence));
	wsi_say(page, page->rich ? "" : ")");
}

void wsi_section_waits(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	uint32_t shown = report->n_waits;
	uint32_t most = page->options.brief ? BRIEF_WAITS : page->rich ? RICH_WAITS : MAX_WAITS;
	if (report->n_waits == 0)
		return;
	wsi_section(page, "waits", "Who waits for what",
		    report->verdict == WS_VERDICT_HANG ? WSI_DETAIL : WSI_FOLDED);
	if (!page->options.all && shown > most)
		shown = most;
	for (uint32_t i = 0; i < shown; i++) {
		wsi_render_part(page, "Wait", i);
		one_wait(page, &report->waits[i]);
	}
	wsi_say_more(page, report->n_waits - shown);
}
