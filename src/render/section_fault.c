/* SPDX-License-Identifier: Apache-2.0 */
/* The exception, how precise it is, who and where. */
#include "report/build.h"

#include "render/sections.h"
#include "render/words.h"

static void assertion(struct wsi_page *page, const struct ws_report_assertion *assertion)
{
	if (assertion->status != WS_OK)
		return;
	wsi_label(page, "Assertion");
	if (assertion->why) {
		wsi_say(page, "its text is not known: %s", assertion->why);
		return;
	}
	if (assertion->message.len)
		wsi_str(page, WSI_CODE, assertion->message);
	else
		wsi_render_run(page, WSI_NONE, "(message not known)");
	if (assertion->file.len || assertion->line) {
		wsi_label(page, "");
		wsi_say(page, "at ");
		wsi_say_path(page, assertion->file.len ? assertion->file : ws_str_of("?"),
			     assertion->line);
	}
	if (assertion->function.len) {
		wsi_label(page, "");
		wsi_say(page, "in ");
		wsi_str(page, WSI_CODE, assertion->function);
	}
}

static void exception(struct wsi_page *page, const struct ws_report_exception *e)
{
	wsi_label(page, "Exception");
	wsi_say(page, "%s", e->label);
	if (e->name) {
		wsi_say(page, ", ");
		wsi_render_run(page, WSI_CODE, "%s", e->name);
		wsi_say(page, " (%u)", e->code);
	}
	if (e->cuda_gdb) {
		wsi_say(page, ", cuda-gdb: ");
		wsi_render_run(page, WSI_CODE, "%s", e->cuda_gdb);
	}
	if (e->text_status == WS_OK) {
		wsi_label(page, "Driver");
		wsi_str(page, WSI_PLAIN, e->text);
	}
	assertion(page, &e->assertion);
	if (page->rich) {
		wsi_render_fact_claim(page, "Precision", &e->precision);
	} else if (e->precision.text) {
		wsi_label(page, "Precision");
		wsi_say(page, "%s", e->precision.text);
	}
}

/* Who can be guilty, where that is not just cuda-gdb's focus. */
static void suspects(struct wsi_page *page, const struct ws_report_exception *e)
{
	bool range = !e->suspect_stands_out && e->first_suspect.lane != e->last_suspect.lane;
	if (!page->rich || (!range && e->suspect.lane == e->at.lane))
		return;
	wsi_label(page, range ? "Suspects" : "Suspect");
	wsi_say_thread(page, range ? &e->first_suspect : &e->suspect);
	if (!range)
		return;
	wsi_say(page, ", to thread ");
	wsi_dim(page, e->last_suspect.thread);
	wsi_say(page, ", lane %u: %u suspects", e->last_suspect.lane,
		wsi_count_bits(e->lanes_suspect));
}

static void focus(struct wsi_page *page, const struct ws_report_exception *e)
{
	const struct ws_report_thread *at = &e->at;
	wsi_label(page, "Focus");
	if (e->kernel != WS_NONE)
		wsi_say(page, "kernel %u, grid %" PRId64 ", ", page->report->kernels[e->kernel].id,
			page->report->kernels[e->kernel].grid.id);
	if (at->have_cluster && wsi_has_clusters(page->report, e)) {
		wsi_say(page, "cluster ");
		wsi_dim(page, at->cluster);
		wsi_say(page, ", ");
	}
	wsi_say_thread(page, at);
	if (wsi_focus_is_cleared(e))
		wsi_say(page, "; this lane cannot be guilty");
}

static void fault_lanes(struct wsi_page *page, const struct ws_report_exception *e)
{
	if (e->at.warp == WS_NONE)
		return;
	wsi_label(page, "Lanes");
	if (e->lanes_blamed) {
		wsi_say(page, "faulted ");
		wsi_render_run(page, WSI_CODE, "0x%08x", e->lanes_blamed);
		wsi_say(page, ", ");
	}
	wsi_say(page, "active ");
	wsi_render_run(page, WSI_CODE, "0x%08x", e->lanes_active);
	wsi_say(page, " of ");
	wsi_render_run(page, WSI_CODE, "0x%08x", e->lanes_valid);
	if (!page->rich || e->blame == WS_BLAME_NOBODY)
		return;
	wsi_label(page, "In all");
	wsi_say(page, "%" PRIu64 " thread%s in %" PRIu64 " warp%s on %" PRIu64 " SM%s", e->n_lanes,
		wsi_plural(e->n_lanes), e->n_warps, wsi_plural(e->n_warps), e->n_sms,
		wsi_plural(e->n_sms));
}

static void allocation_distance(struct wsi_page *page, const struct ws_report_exception *e)
{
	uint64_t n = wsi_pc_distance(page->report, e);
	if (e->pc == e->errorpc)
		wsi_say(page, ", the same as errorpc");
	else if (e->pc_apart && e->pc_frame && e->pc_frame->function_status == WS_OK)
		wsi_say(page, ", in another image than errorpc");
	else if (!e->pc_apart)
		wsi_say(page, ", %" PRIu64 " instruction%s %s errorpc", n, wsi_plural(n),
			e->pc > e->errorpc ? "after" : "before");
}

static void errorpc(struct wsi_page *page, const struct ws_report_exception *e)
{
	bool needed = e->blame != WS_BLAME_NOBODY && e->blame != WS_BLAME_TRAP;
	if (e->errorpc_status != WS_OK && !needed)
		return;
	wsi_label(page, "errorpc");
	if (e->errorpc_status != WS_OK) {
		wsi_say_status(page, e->errorpc_status);
		return;
	}
	wsi_render_run(page, WSI_CODE, "0x%016" PRIx64, e->errorpc);
	if (e->n_frames && e->frames[0].pc == e->errorpc)
		wsi_say_offset(page, &e->frames[0]);
	else
		wsi_render_run(page, WSI_SOFT, "  not in this %s's code", wsi_noun(page->report));
}

static void pc(struct wsi_page *page, const struct ws_report_exception *e)
{
	wsi_label(page, "pc");
	if (e->pc_status != WS_OK) {
		wsi_say_status(page, e->pc_status);
		return;
	}
	wsi_render_run(page, WSI_CODE, "0x%016" PRIx64, e->pc);
	if (e->n_frames && e->frames[0].pc == e->pc)
		wsi_say_offset(page, &e->frames[0]);
	else if (e->pc_frame)
		wsi_say_offset(page, e->pc_frame);
	if (e->errorpc_status == WS_OK)
		allocation_distance(page, e);
	if (e->pc_frame && e->pc_frame->line_status == WS_OK) {
		wsi_say(page, ", ");
		wsi_str(page, WSI_CODE, wsi_report_file_name(e->pc_frame->file));
		wsi_render_run(page, WSI_CODE, ":%u", e->pc_frame->line);
	}
}

void wsi_section_fault(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e)
		return;
	bool nobody = e->blame == WS_BLAME_NOBODY;
	wsi_section(page, "fault", nobody ? "A thread to look at" : "The fault", WSI_DETAIL);
	if (!nobody)
		exception(page, e);
	suspects(page, e);
	focus(page, e);
	if (e->have_target_block) {
		wsi_label(page, "Target");
		wsi_say(page, "block ");
		wsi_dim(page, e->target_block);
		wsi_say(page, " was accessed");
	}
	if (e->is_program && e->at.block_status == WS_OK) {
		wsi_label(page, "Program");
		wsi_say(page, "the block is the program of Triton whose ids are ");
		wsi_dim(page, e->at.block);
	}
	fault_lanes(page, e);
	errorpc(page, e);
	pc(page, e);
	if (e->access_why) {
		wsi_label(page, "Access");
		wsi_say(page, "not shown: %s", e->access_why);
	}
}
