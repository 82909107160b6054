/* SPDX-License-Identifier: Apache-2.0 */
/* How the code was built, facts of the dump and its devices, what is missing, the signature. */
#include "render/text.h"

#include "render/words.h"

static void facts_of_dump(struct wsi_page *page, const struct ws_dump_facts *dump)
{
	struct ws_out *out = page->out;
	wsi_page_label(page, "dump");
	ws_out_escaped(out, ws_str_of(dump->path));
	ws_out_printf(out, ", %" PRIu64 " bytes, %s", dump->bytes,
		      dump->complete ? "complete" : "INCOMPLETE");
	if (dump->layout)
		ws_out_printf(out, ", layout %s", dump->layout);
	wsi_page_end_line(page);
	if (dump->have_metadata) {
		wsi_page_label(page, "driver");
		ws_out_printf(out, "%u.%u, CUDA %u.%u", dump->driver_major, dump->driver_minor,
			      dump->cuda_major, dump->cuda_minor);
		wsi_page_end_line(page);
	}
	if (dump->have_time) {
		wsi_page_label(page, "written");
		char when[WSI_TIME_TEXT];
		if (wsi_time_text(dump->timestamp, when))
			ws_out_printf(out, "%s", when);
		wsi_page_end_line(page);
	}
	if (dump->have_flags || dump->left_out) {
		wsi_page_label(page, "left out");
		wsi_out_left_out(out, dump->flags | dump->left_out);
		wsi_page_end_line(page);
	}
	if (dump->stripped) {
		wsi_page_label(page, "stripped");
		wsi_out_stripped(out, dump->stripped);
		wsi_page_end_line(page);
	}
}

/* "sm_90a of compute_90, CUDA 13.0, ptxas V13.0.88" */
static void line_built(struct wsi_page *page, const struct ws_module_facts *facts)
{
	struct ws_out *out = page->out;
	wsi_page_label(page, "built");
	if (facts->sm)
		ws_out_printf(out, "for sm_%u%.1s", facts->sm,
			      facts->variant ? (char[]){ facts->variant, 0 } : "");
	else
		ws_out_text(out, "for an unknown architecture");
	if (facts->toolkit != WS_UNKNOWN)
		ws_out_printf(out, ", CUDA %u.%u", facts->toolkit / 10, facts->toolkit % 10);
	if (facts->tool.len) {
		ws_out_text(out, ", by ");
		ws_out_escaped(out, facts->tool);
		ws_out_text(out, " ");
		ws_out_escaped(out, wsi_tool_version(facts->tool_version));
	}
	wsi_page_end_line(page);
}

static void line_options(struct wsi_page *page, const struct ws_report_image *image)
{
	if (image->options_shown.len == 0)
		return;
	wsi_page_label(page, "options");
	ws_out_escaped(page->out, image->options_shown);
	if (image->options_left_out)
		ws_out_text(page->out, " (others may name files: --json)");
	wsi_page_end_line(page);
}

void wsi_text_image(struct wsi_page *page)
{
	const struct ws_report_image *image = &page->report->image;
	char id[WS_CODE_ID_TEXT];
	if (page->report->image_status != WS_OK)
		return;
	wsi_page_title_folded(page, "How the code was built:");
	line_built(page, &image->facts);
	line_options(page, image);
	wsi_page_label(page, "lines");
	ws_out_printf(page->out, "%s", wsi_lines_words(image));
	if (image->lines_borrowed_from)
		ws_out_escaped(page->out, ws_str_of(image->lines_borrowed_from));
	wsi_page_end_line(page);
	if (image->code_id_status == WS_OK) {
		wsi_page_label(page, "code id");
		ws_code_id_text(&image->code_id, id);
		ws_out_printf(page->out, "%s", id);
		wsi_page_end_line(page);
	}
}

void wsi_text_signature(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	if (!report->signature)
		return;
	wsi_page_title_folded(page, "Signature, the same for every dump of this bug:");
	ws_out_text(page->out, "    ");
	ws_out_escaped(page->out, ws_str_of(report->signature));
	wsi_page_end_line(page);
	if (!page->options.all)
		return;
	ws_out_printf(page->out, "    made of: %s\n", report->signature_parts);
	if (report->signature_rule) {
		ws_out_text(page->out, "    by rule: ");
		ws_out_escaped(page->out, ws_str_of(report->signature_rule));
		wsi_page_end_line(page);
	}
}

void wsi_text_facts(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	struct ws_out *out = page->out;
	wsi_page_title_folded(page, "The dump:");
	if (report->dump_status == WS_OK)
		facts_of_dump(page, &report->dump);
	for (uint32_t i = 0; i < report->n_devices; i++) {
		const struct ws_report_device *device = &report->devices[i];
		wsi_page_label(page, i ? "" : "devices");
		if (device->status != WS_OK) {
			ws_out_printf(out, "? (%s)\n", ws_missing_word(device->status));
			continue;
		}
		ws_out_printf(out, "%u: ", device->state.id);
		ws_out_escaped(out, wsi_device_name(&device->state));
		ws_out_printf(out, ", sm_%u%u", device->state.sm_major, device->state.sm_minor);
		ws_out_printf(out, ", %u SMs, %u warp%s %s", device->state.n_sms,
			      device->resident_warps, device->resident_warps == 1 ? "" : "s",
			      wsi_resident_word(report));
		if (device->faulted_sms)
			ws_out_printf(out, ", %u SM%s with an exception", device->faulted_sms,
				      device->faulted_sms == 1 ? "" : "s");
		wsi_page_end_line(page);
	}
	for (uint32_t i = 0; i < report->n_missing; i++) {
		const struct ws_report_missing *missing = &report->missing[i];
		wsi_page_label(page, i ? "" : "missing");
		ws_out_escaped(out, ws_str_of(missing->what));
		ws_out_printf(out, ": %s.", ws_missing_word(missing->why));
		if (missing->advice) {
			ws_out_text(out, " ");
			ws_out_escaped(out, ws_str_of(missing->advice));
		}
		wsi_page_end_line(page);
	}
}

void wsi_text_kernels(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	if (report->n_code == 0)
		return;
	wsi_page_title_folded(
		page, "Kernels whose code is in the dump (which of them ran is not known):");
	uint32_t shown = wsi_page_rows(page, report->n_code);
	for (uint32_t i = 0; i < shown; i++) {
		struct ws_str name = report->code[i];
		ws_out_text(page->out, "    ");
		if (!page->options.full_names && name.len > 2 * WSI_WIDE_NAME) {
			ws_out_escaped(page->out, (struct ws_str){ name.ptr, 2 * WSI_WIDE_NAME });
			ws_out_text(page->out, "...");
		} else {
			ws_out_escaped(page->out, name);
		}
		wsi_page_end_line(page);
	}
	if (shown < report->n_code)
		ws_out_printf(page->out, "    ... and %u more (--all)\n", report->n_code - shown);
}
