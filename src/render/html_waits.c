/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for what, who has not come, and whether they still can. */
#include "render/html.h"

enum { MAX_WAITS = 50, MAX_ABSENTEES = 20 };

static void absentee(struct wsi_html *page, const struct ws_report_absentee *one)
{
	bool never = one->state == WS_ABSENTEE_EXITED || one->state == WS_ABSENTEE_FAULTED;
	wsi_html_raw(page, never ? "<li class=\"never\">" : "<li>");
	if (one->n_blocks)
		wsi_html_printf(page, "<b>%" PRIu64 "</b> block%s", one->n_blocks,
				wsi_plural(one->n_blocks));
	else
		wsi_html_printf(page, "<b>%" PRIu64 "</b> thread%s in %" PRIu64 " warp%s",
				one->n_lanes, wsi_plural(one->n_lanes), one->n_warps,
				wsi_plural(one->n_warps));
	wsi_html_printf(page, ": %s%s", ws_absentee_state_text(one->state),
			never ? ", never arrives" : "");
	if (one->wait != WS_NONE)
		wsi_html_printf(page, " at <a href=\"#wait%u\">wait %u</a>", one->wait,
				one->wait + 1);
	wsi_html_raw(page, " <span class=\"soft\">");
	if (one->group != WS_NONE && one->group < page->report->n_groups) {
		wsi_html_raw(page, "at ");
		wsi_html_line(page, &page->report->groups[one->group].user);
		wsi_html_raw(page, ", ");
	}
	if (one->example.block_status == WS_OK || one->example.sm != WS_NONE)
		wsi_html_thread(page, &one->example);
	wsi_html_raw(page, "</span></li>\n");
}

static void details(struct wsi_html *page, const struct ws_report_wait *wait)
{
	wsi_html_raw(page, "<dl class=\"facts\">\n");
	wsi_html_term(page, "Instruction");
	wsi_html_raw(page, "<code>");
	wsi_html_text(page, wait->instruction);
	wsi_html_raw(page, "</code> at ");
	wsi_html_hex(page, wait->pc);
	wsi_html_term_end(page);
	if (wait->barrier_status == WS_OK) {
		wsi_html_term(page, "Barrier");
		wsi_html_printf(page, "%u", wait->barrier);
		if (wait->expected)
			wsi_html_printf(page, ", counts %u threads", wait->expected);
		wsi_html_term_end(page);
	}
	if (wait->address_status == WS_OK) {
		wsi_html_term(page, "Address");
		wsi_html_hex(page, wait->address);
		wsi_html_raw(page,
			     wait->one_address ? ", the same for all" : ", of the first thread");
		if (wait->owner.claim.text) {
			wsi_html_raw(page, "; ");
			wsi_html_text(page, wait->owner.claim.text);
		}
		if (wait->value_status == WS_OK) {
			wsi_html_printf(page, "; its %u bytes are ", wait->value_bytes);
			wsi_html_hex(page, wait->value);
		} else {
			wsi_html_printf(page, "; its value: %s",
					ws_missing_word(wait->value_status));
		}
		wsi_html_term_end(page);
	}
	if (wait->needs) {
		wsi_html_term(page, "Needs");
		wsi_html_text(page, wait->needs);
		wsi_html_term_end(page);
	}
	wsi_html_term(page, "First");
	wsi_html_thread(page, &wait->example);
	wsi_html_term_end(page);
	wsi_html_raw(page, "</dl>\n");
}

static void one_wait(struct wsi_html *page, uint32_t i)
{
	const struct ws_report_wait *wait = &page->report->waits[i];
	wsi_html_printf(page,
			"<li id=\"wait%u\"><p><b>%" PRIu64 "</b> thread%s in %" PRIu64
			" warp%s of %" PRIu64 " block%s: ",
			i, wait->n_lanes, wsi_plural(wait->n_lanes), wait->n_warps,
			wsi_plural(wait->n_warps), wait->n_blocks, wsi_plural(wait->n_blocks));
	wsi_html_claim(page, &wait->claim);
	if (wait->collective) {
		wsi_html_raw(page, " <span class=\"tag\">");
		wsi_html_text(page, wait->collective);
		wsi_html_raw(page, "</span>");
	}
	wsi_html_raw(page, "</p>\n");
	if (wait->n_frames) {
		uint32_t at = wait->user_frame != WS_NONE ? wait->user_frame : 0;
		wsi_html_raw(page, "<p class=\"soft\">");
		wsi_html_function(page, &wait->frames[at]);
		wsi_html_raw(page, " at ");
		wsi_html_line(page, &wait->frames[at]);
		wsi_html_raw(page, "</p>\n");
	}
	details(page, wait);
	if (wait->missing_text) {
		wsi_html_raw(page, "<p>");
		wsi_html_text(page, wait->missing_text);
		wsi_html_raw(page, ".</p>\n");
	}
	if (wait->n_absentees) {
		wsi_html_raw(page, "<ul class=\"absentees\">\n");
		for (uint32_t k = 0; k < wait->n_absentees && k < MAX_ABSENTEES; k++)
			absentee(page, &wait->absentees[k]);
		wsi_html_raw(page, "</ul>\n");
	}
	wsi_html_raw(page, "</li>\n");
}

void wsi_html_waits(struct wsi_html *page)
{
	const struct ws_report *report = page->report;
	if (report->n_waits == 0)
		return;
	wsi_html_section(page, "waits", "Who waits for what");
	wsi_html_raw(page, "<ol class=\"waits\">\n");
	for (uint32_t i = 0; i < report->n_waits && i < MAX_WAITS; i++)
		one_wait(page, i);
	wsi_html_raw(page, "</ol>\n");
	if (report->n_waits > MAX_WAITS)
		wsi_html_printf(page, "<p class=\"soft\">and %u more</p>\n",
				report->n_waits - MAX_WAITS);
	wsi_html_section_end(page);
}
