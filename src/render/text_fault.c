/* SPDX-License-Identifier: Apache-2.0 */
/* The box below the verdict: the exception, how precise it is, where; and the launch. */
#include "render/text.h"

#include "render/words.h"

enum { INSTRUCTION_16 = 16 }; /* bytes, when the device does not say */

static void box_exception(struct wsi_page *page, const struct ws_report_exception *e)
{
	struct ws_out *out = page->out;
	wsi_page_label(page, "exception");
	ws_out_printf(out, "%s", e->label);
	if (e->name)
		ws_out_printf(out, ", %s (%u)", e->name, e->code);
	if (e->cuda_gdb)
		ws_out_printf(out, ", cuda-gdb: %s", e->cuda_gdb);
	wsi_page_end_line(page);
	if (e->text_status == WS_OK) {
		wsi_page_label(page, "driver");
		ws_out_escaped(out, e->text);
		wsi_page_end_line(page);
	}
}

static void box_precision(struct wsi_page *page, const struct ws_report_exception *e)
{
	wsi_page_label(page, "precision");
	ws_out_printf(page->out, "%s", e->precision.text);
	wsi_page_end_line(page);
}

/* "kernel+0x120" */
static void out_offset(struct wsi_page *page, const struct ws_report_frame *frame)
{
	if (frame->owner_short.len == 0)
		return;
	ws_out_text(page->out, "  ");
	ws_out_escaped(page->out, frame->owner_short);
	ws_out_printf(page->out, "+0x%" PRIx64, frame->rel_pc);
}

static void out_distance(struct wsi_page *page, const struct ws_report_exception *e)
{
	uint32_t bytes = INSTRUCTION_16;
	for (uint32_t i = 0; i < page->report->n_devices; i++) {
		const struct ws_device *device = &page->report->devices[i].state;
		if (device->id == e->at.device && device->instruction_bytes)
			bytes = device->instruction_bytes;
	}
	bool after = e->pc >= e->errorpc;
	uint64_t distance = after ? e->pc - e->errorpc : e->errorpc - e->pc;
	if (distance == 0)
		ws_out_text(page->out, ", the same as errorpc");
	else
		ws_out_printf(page->out, ", %" PRIu64 " instruction%s %s errorpc", distance / bytes,
			      distance / bytes == 1 ? "" : "s", after ? "after" : "before");
}

static void box_addresses(struct wsi_page *page, const struct ws_report_exception *e)
{
	struct ws_out *out = page->out;
	if (e->errorpc_status == WS_OK) {
		wsi_page_label(page, "errorpc");
		ws_out_printf(out, "0x%016" PRIx64, e->errorpc);
		if (e->n_frames && e->frames[0].pc == e->errorpc)
			out_offset(page, &e->frames[0]);
		else
			ws_out_text(out, "  not in this dump's code");
		wsi_page_end_line(page);
	} else if (e->blame != WS_BLAME_NOBODY && e->blame != WS_BLAME_TRAP) {
		wsi_page_label(page, "errorpc");
		ws_out_printf(out, "%s", ws_missing_word(e->errorpc_status));
		wsi_page_end_line(page);
	}
	wsi_page_label(page, "pc");
	if (e->pc_status != WS_OK) {
		ws_out_printf(out, "%s", ws_missing_word(e->pc_status));
		wsi_page_end_line(page);
		return;
	}
	ws_out_printf(out, "0x%016" PRIx64, e->pc);
	if (e->n_frames && e->frames[0].pc == e->pc)
		out_offset(page, &e->frames[0]);
	else if (e->pc_frame)
		out_offset(page, e->pc_frame);
	if (e->errorpc_status == WS_OK)
		out_distance(page, e);
	if (e->pc_frame && e->pc_frame->line_status == WS_OK) {
		ws_out_text(out, ", ");
		ws_out_escaped(out, wsi_file_name(e->pc_frame->file));
		ws_out_printf(out, ":%u", e->pc_frame->line);
	}
	wsi_page_end_line(page);
}

void wsi_text_launch(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e || e->kernel == WS_NONE)
		return;
	const struct ws_report_kernel *kernel = &page->report->kernels[e->kernel];
	struct ws_out *out = page->out;
	wsi_page_title(page, "The launch:");
	wsi_page_label(page, "kernel");
	if (kernel->name_status == WS_OK)
		ws_out_escaped(out, wsi_page_shown_name(page, kernel->name, kernel->name_short));
	else
		ws_out_printf(out, "? (%s)", ws_missing_word(kernel->name_status));
	if (kernel->name_status == WS_OK && !page->options.full_names &&
	    kernel->name.len > WSI_WIDE_NAME)
		ws_out_printf(out, " (%zu characters in full: --full-names)", kernel->name.len);
	wsi_page_end_line(page);
	if (kernel->grid_status != WS_OK)
		return;
	wsi_page_label(page, "grid");
	wsi_page_dim(page, kernel->grid.grid_dim);
	ws_out_text(out, " blocks of ");
	wsi_page_dim(page, kernel->grid.block_dim);
	ws_out_text(out, " threads");
	if (wsi_has_clusters(page->report, e)) {
		ws_out_text(out, ", clusters of ");
		wsi_page_dim(page, kernel->grid.cluster_dim);
	}
	if (kernel->grid.have & WS_GRID_N_REGS)
		ws_out_printf(out, ", %u registers", kernel->grid.n_regs);
	wsi_out_resident(out, page->report, kernel);
	wsi_page_end_line(page);
	wsi_text_params(page, e);
}

void wsi_text_fault(struct wsi_page *page)
{
	const struct ws_report_exception *e = page->report->focus;
	if (!e)
		return;
	wsi_page_title(page, e->blame == WS_BLAME_NOBODY ? "A thread to look at:" : "The fault:");
	if (e->blame != WS_BLAME_NOBODY) {
		box_exception(page, e);
		wsi_text_assertion(page, &e->assertion);
		if (e->precision.text)
			box_precision(page, e);
	}
	wsi_page_label(page, "focus");
	wsi_page_thread(page, e);
	if (wsi_focus_is_cleared(e))
		ws_out_text(page->out, "; this lane cannot be guilty");
	wsi_page_end_line(page);
	if (e->have_target_block) {
		wsi_page_label(page, "target");
		ws_out_text(page->out, "block ");
		wsi_page_dim(page, e->target_block);
		ws_out_text(page->out, " was accessed");
		wsi_page_end_line(page);
	}
	if (e->at.warp != WS_NONE) {
		wsi_page_label(page, "lanes");
		if (e->lanes_blamed)
			ws_out_printf(page->out, "faulted 0x%08x, ", e->lanes_blamed);
		ws_out_printf(page->out, "active 0x%08x of 0x%08x", e->lanes_active,
			      e->lanes_valid);
		wsi_page_end_line(page);
	}
	box_addresses(page, e);
	if (e->access_why) {
		wsi_page_label(page, "access");
		ws_out_printf(page->out, "none to show: %s\n", e->access_why);
	}
}
