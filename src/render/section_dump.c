/* SPDX-License-Identifier: Apache-2.0 */
/* How the code was built, facts of the dump and its devices, what is missing, the signature. */
#include "report/build.h"

#include "render/sections.h"
#include "render/words.h"

/* Dumps of the software GPU have neither version, those of Tegra no driver's. */
static void say_versions(struct wsi_page *page, const struct ws_dump_facts *dump)
{
	wsi_label(page, "Driver");
	if (dump->driver_major)
		wsi_say(page, "%u.%u", dump->driver_major, dump->driver_minor);
	else
		wsi_say(page, "not recorded");
	if (dump->cuda_major)
		wsi_say(page, ", CUDA %u.%u", dump->cuda_major, dump->cuda_minor);
	else if (dump->generator.len) {
		wsi_say(page, ", written by ");
		wsi_str(page, WSI_PLAIN, dump->generator);
	}
}

static void dump_facts_text(struct wsi_page *page, const struct ws_dump_facts *dump)
{
	char when[WSI_TIME_TEXT];
	wsi_label(page, "Dump");
	wsi_render_run(page, WSI_CODE, "%s", dump->path);
	wsi_say(page, ", %" PRIu64 " bytes, ", dump->bytes);
	wsi_render_run(page, dump->complete ? WSI_PLAIN : WSI_STRONG,
		       dump->complete ? "complete" : "INCOMPLETE");
	if (dump->layout)
		wsi_say(page, ", layout %s", dump->layout);
	if (dump->have_metadata)
		say_versions(page, dump);
	if (dump->have_time) {
		wsi_label(page, "Written");
		wsi_say(page, "%s", wsi_time_text(dump->timestamp, when) ? when : "");
	}
	if (dump->have_flags || dump->left_out) {
		wsi_label(page, "Left out");
		wsi_say_left_out(page, dump->flags | dump->left_out);
	}
	if (dump->stripped) {
		wsi_label(page, "Stripped");
		wsi_say_stripped(page, dump->stripped);
	}
}

static void device_fact(struct wsi_page *page, const struct ws_report_device *device)
{
	if (device->status != WS_OK) {
		wsi_render_run(page, WSI_NONE, "? (%s)", ws_missing_word(device->status));
		return;
	}
	wsi_say(page, "%u: ", device->state.id);
	wsi_str(page, WSI_PLAIN, wsi_device_name(&device->state));
	wsi_say(page, ", sm_%u%u, %u SMs, %u warp%s %s", device->state.sm_major,
		device->state.sm_minor, device->state.n_sms, device->resident_warps,
		wsi_plural(device->resident_warps), wsi_resident_word(page->report));
	if (device->faulted_sms)
		wsi_say(page, ", %u SM%s with an exception", device->faulted_sms,
			wsi_plural(device->faulted_sms));
}

void wsi_section_dump(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	wsi_section(page, "facts", report->dump_status == WS_OK ? "The dump" : "The device",
		    WSI_FOLDED);
	if (report->dump_status == WS_OK)
		dump_facts_text(page, &report->dump);
	for (uint32_t i = 0; i < report->n_devices; i++) {
		wsi_label(page, i ? "" : "Devices");
		device_fact(page, &report->devices[i]);
	}
	for (uint32_t i = 0; i < report->n_missing; i++) {
		const struct ws_report_missing *missing = &report->missing[i];
		wsi_label(page, i ? "" : "Missing");
		wsi_say(page, "%s: %s.", missing->what, ws_missing_word(missing->why));
		if (!missing->advice)
			continue;
		wsi_say(page, " ");
		wsi_sentence(page, WSI_PLAIN, missing->advice);
	}
}

void wsi_section_kernels(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	uint32_t shown = wsi_render_rows(page, report->n_code);
	if (report->n_code == 0)
		return;
	wsi_section(
		page, "kernels",
		report->dump_status == WS_OK
			? "Kernels whose code is in the dump (which of them ran is not known)"
			: "Kernels whose code is on the device (which of them ran is not known)",
		WSI_FOLDED);
	for (uint32_t i = 0; i < shown; i++) {
		struct ws_str name = report->code[i];
		bool cut = !page->options.full_names && name.len > 2 * WSI_WIDE_NAME;
		wsi_render_element(page, WSI_ITEM);
		wsi_str(page, WSI_CODE,
			cut ? (struct ws_str){ name.ptr, 2 * WSI_WIDE_NAME } : name);
		wsi_say(page, cut ? "..." : "");
	}
	wsi_say_more(page, report->n_code - shown);
}

/* ---- how the code was built ---- */

/* "for sm_90a, CUDA 13.0, by ptxas V13.0.88" */
static void built(struct wsi_page *page, const struct ws_cubin_facts *facts)
{
	wsi_label(page, "Built");
	if (facts->sm)
		wsi_say(page, "for sm_%u%.1s", facts->sm,
			facts->variant ? (char[]){ facts->variant, 0 } : "");
	else
		wsi_say(page, "for an unknown architecture");
	if (page->rich && facts->virtual_sm != WS_UNKNOWN)
		wsi_say(page, ", from compute_%u", facts->virtual_sm);
	if (facts->toolkit != WS_UNKNOWN)
		wsi_say(page, ", CUDA %u.%u", facts->toolkit / 10, facts->toolkit % 10);
	if (!facts->tool.len)
		return;
	wsi_say(page, ", by ");
	wsi_str(page, WSI_PLAIN, facts->tool);
	wsi_say(page, " ");
	wsi_str(page, WSI_PLAIN, wsi_tool_version(facts->tool_version));
}

static void id_fact(struct wsi_page *page, const char *label, const struct ws_code_id *id,
		    enum ws_status status)
{
	char text[WS_CODE_ID_TEXT];
	if (status != WS_OK)
		return;
	ws_code_id_text(id, text);
	wsi_label(page, label);
	wsi_render_run(page, WSI_CODE, "%s", text);
}

/* What Triton compiled the code with, by files beside images of the same code. */
static void tuned(struct wsi_page *page, const struct ws_report_image *image)
{
	for (uint32_t i = 0; i < image->n_tuned; i++) {
		const struct ws_report_tuned *one = &image->tuned[i];
		wsi_label(page, i ? "" : "Tuned");
		if (image->n_tuned > 1)
			wsi_say(page, "%s", i ? "or " : "one of these gave this code: ");
		const char *comma = "";
		for (size_t k = 0; k < WS_TUNED_OPTIONS; k++) {
			if (one->option[k])
				wsi_say(page, "%s%s %" PRIu64, comma, wsi_report_tuned_options[k],
					one->option[k]);
			comma = ", ";
		}
		wsi_say(page, ", as %s says", one->path);
		if (one->n_files > 1)
			wsi_say(page, " (and %u more)", one->n_files - 1);
		wsi_say(page, " of the same code");
	}
}

void wsi_section_image(struct wsi_page *page)
{
	const struct ws_report_image *image = &page->report->image;
	if (page->report->image_status != WS_OK)
		return;
	wsi_section(page, "build", "How the code was built", WSI_FOLDED);
	built(page, &image->facts);
	if (image->options_shown.len) {
		wsi_label(page, "Options");
		wsi_str(page, WSI_CODE, image->options_shown);
		if (image->options_left_out)
			wsi_render_run(page, WSI_SOFT, " (others may name files: --json)");
	}
	wsi_label(page, "Lines");
	wsi_say(page, "%s", wsi_lines_words(image));
	if (image->lines_borrowed_from)
		wsi_say(page, "%s", image->lines_borrowed_from);
	tuned(page, image);
	id_fact(page, "Code id", &image->code_id, image->code_id_status);
	if (page->rich)
		id_fact(page, "Image id", &image->image_id, image->image_id_status);
}

void wsi_section_signature(struct wsi_page *page)
{
	const struct ws_report *report = page->report;
	if (!report->signature)
		return;
	wsi_section(page, "signature", "Signature, the same for every dump of this bug",
		    WSI_FOLDED);
	wsi_render_element(page, WSI_PARAGRAPH);
	wsi_render_run(page, WSI_CODE, "%s", report->signature);
	if (!page->options.all && !page->rich)
		return;
	wsi_render_element(page, WSI_PARAGRAPH);
	wsi_render_run(page, WSI_SOFT, "made from: %s", report->signature_parts);
	if (!report->signature_rule)
		return;
	wsi_render_element(page, WSI_PARAGRAPH);
	wsi_render_run(page, WSI_SOFT, "by rule: %s", report->signature_rule);
}
