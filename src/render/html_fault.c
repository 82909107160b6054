/* SPDX-License-Identifier: Apache-2.0 */
/* The head of the HTML page and the box of the fault: what, how sure, who, where. */
#include "render/html.h"

static const char *verdict_word(enum ws_verdict_kind kind)
{
	switch (kind) {
	case WS_VERDICT_FAULT:
		return "Fault";
	case WS_VERDICT_HANG:
		return "Hang suspected";
	case WS_VERDICT_NONE:
		return "No fault";
	case WS_VERDICT_UNKNOWN:
		return "Cannot tell";
	}
	return "Cannot tell";
}

/* What follows on the heading, as a sentence of its own. */
static void rest(struct wsi_html *page, const struct ws_report *report)
{
	enum { SEPARATOR = 2 };
	struct ws_str text = ws_str_of(report->summary);
	size_t taken = report->summary_head + SEPARATOR;
	if (text.len <= taken)
		return;
	text = (struct ws_str){ text.ptr + taken, text.len - taken };
	wsi_html_raw(page, "<p class=\"rest\">");
	if (*text.ptr >= 'a' && *text.ptr <= 'z') {
		wsi_html_printf(page, "%c", *text.ptr - 'a' + 'A');
		text = (struct ws_str){ text.ptr + 1, text.len - 1 };
	}
	wsi_html_words(page, text);
	wsi_html_raw(page, ".</p>\n");
}

void wsi_html_verdict(struct wsi_html *page)
{
	const struct ws_report *report = page->report;
	wsi_html_printf(page, "<header class=\"verdict %s\">\n",
			ws_verdict_kind_text(report->verdict));
	wsi_html_printf(page, "<p class=\"kind\">%s", verdict_word(report->verdict));
	if (report->dump_status == WS_OK) {
		wsi_html_raw(page, " <span class=\"dump\">in <code>");
		wsi_html_str(page, wsi_file_name(ws_str_of(report->dump.path)));
		wsi_html_raw(page, "</code></span>");
	}
	wsi_html_raw(page, "</p>\n<h1>");
	wsi_html_words(page, (struct ws_str){ report->summary, report->summary_head });
	wsi_html_raw(page, ".</h1>\n");
	rest(page, report);
	wsi_html_raw(page, "</header>\n");
}

/* ---- the box ---- */

static void exception(struct wsi_html *page, const struct ws_report_exception *e)
{
	wsi_html_term(page, "Exception");
	wsi_html_text(page, e->label);
	if (e->name)
		wsi_html_printf(page, "<br><code>%s</code> (%u)", e->name, e->code);
	if (e->cuda_gdb)
		wsi_html_printf(page, ", cuda-gdb <code>%s</code>", e->cuda_gdb);
	wsi_html_term_end(page);
	if (e->text_status == WS_OK) {
		wsi_html_term(page, "Driver");
		wsi_html_str(page, e->text);
		wsi_html_term_end(page);
	}
	wsi_html_assertion(page, &e->assertion);
	if (e->precision.text) {
		wsi_html_term(page, "Precision");
		wsi_html_claim(page, &e->precision);
		wsi_html_term_end(page);
	}
}

static void offset(struct wsi_html *page, const struct ws_report_frame *frame)
{
	if (frame->owner_short.len == 0)
		return;
	wsi_html_raw(page, " <span class=\"soft\">");
	wsi_html_str(page, frame->owner_short);
	wsi_html_printf(page, "+0x%" PRIx64 "</span>", frame->rel_pc);
}

static void address(struct wsi_html *page, const struct ws_report_exception *e, const char *term,
		    uint64_t value, enum ws_status status)
{
	wsi_html_term(page, term);
	if (status != WS_OK) {
		wsi_html_printf(page, "<span class=\"none\">%s</span>", ws_missing_word(status));
		wsi_html_term_end(page);
		return;
	}
	wsi_html_hex(page, value);
	if (e->n_frames && e->frames[0].pc == value)
		offset(page, &e->frames[0]);
	else if (e->pc_frame && e->pc_frame->pc == value)
		offset(page, e->pc_frame);
	wsi_html_term_end(page);
}

static void lanes(struct wsi_html *page, const struct ws_report_exception *e)
{
	if (e->at.warp == WS_NONE)
		return;
	wsi_html_term(page, "Lanes");
	if (e->lanes_blamed)
		wsi_html_printf(page, "faulted <code>0x%08x</code>, ", e->lanes_blamed);
	wsi_html_printf(page, "active <code>0x%08x</code> of <code>0x%08x</code>", e->lanes_active,
			e->lanes_valid);
	wsi_html_term_end(page);
	if (e->blame == WS_BLAME_NOBODY)
		return;
	wsi_html_term(page, "In all");
	wsi_html_printf(page, "%" PRIu64 " thread%s in %" PRIu64 " warp%s on %" PRIu64 " SM%s",
			e->n_lanes, wsi_plural(e->n_lanes), e->n_warps, wsi_plural(e->n_warps),
			e->n_sms, wsi_plural(e->n_sms));
	wsi_html_term_end(page);
}

/* Who can be guilty; and cuda-gdb's focus, where that is another thread. */
static void where(struct wsi_html *page, const struct ws_report_exception *e)
{
	bool range = !e->suspect_stands_out && e->first_suspect.lane != e->last_suspect.lane;
	wsi_html_term(page, e->blame == WS_BLAME_NOBODY ? "Thread" : "Where");
	wsi_html_thread(page, range ? &e->first_suspect : &e->suspect);
	if (range) {
		wsi_html_raw(page, ", to thread ");
		wsi_html_dim(page, e->last_suspect.thread);
		wsi_html_printf(page, ", lane %u: %u suspects", e->last_suspect.lane,
				wsi_count_bits(e->lanes_suspect));
	}
	wsi_html_term_end(page);
	if (e->suspect.lane == e->at.lane)
		return;
	wsi_html_term(page, "Focus");
	wsi_html_thread(page, &e->at);
	wsi_html_raw(page, wsi_focus_is_cleared(e) ? " in cuda-gdb; this lane cannot be guilty"
						   : " in cuda-gdb");
	wsi_html_term_end(page);
}

void wsi_html_fault(struct wsi_html *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e)
		return;
	bool nobody = e->blame == WS_BLAME_NOBODY;
	wsi_html_section(page, "fault", nobody ? "A thread to look at" : "The fault");
	wsi_html_raw(page, "<dl class=\"facts\">\n");
	if (!nobody)
		exception(page, e);
	where(page, e);
	if (e->have_target_block) {
		wsi_html_term(page, "Target");
		wsi_html_raw(page, "block ");
		wsi_html_dim(page, e->target_block);
		wsi_html_raw(page, " was accessed");
		wsi_html_term_end(page);
	}
	lanes(page, e);
	if (!nobody && e->blame != WS_BLAME_TRAP)
		address(page, e, "errorpc", e->errorpc, e->errorpc_status);
	address(page, e, "pc", e->pc, e->pc_status);
	if (e->access_why) {
		wsi_html_term(page, "Access");
		wsi_html_printf(page, "<span class=\"none\">none to show</span>: %s",
				e->access_why);
		wsi_html_term_end(page);
	}
	wsi_html_raw(page, "</dl>\n");
	wsi_html_section_end(page);
}
