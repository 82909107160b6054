/* SPDX-License-Identifier: Apache-2.0 */
/* What a memory snapshot of PyTorch tells about the addresses of the report. */
#include "render/sections.h"
#include "render/words.h"

static void facts(struct wsi_page *page, const struct ws_report_snapshot *snapshot)
{
	wsi_label(page, "Snapshot");
	wsi_render_run(page, WSI_CODE, "%s", snapshot->path);
	if (snapshot->status != WS_OK)
		return;
	wsi_say(page, ", %" PRIu64 " segment%s, %" PRIu64 " block%s, %" PRIu64 " event%s",
		snapshot->n_segments, wsi_plural(snapshot->n_segments), snapshot->n_blocks,
		wsi_plural(snapshot->n_blocks), snapshot->n_events, wsi_plural(snapshot->n_events));
	if (snapshot->inside_status == WS_OK && !snapshot->why)
		wsi_say(page, "; %" PRIu64 " of the segments %s memory of the %s",
			snapshot->n_inside, snapshot->n_inside == 1 ? "is" : "are",
			page->report->dump_status == WS_OK ? "dump" : "device");
}

/* The parameter's number, and its name where it has one. */
static void say_parameter(struct wsi_page *page, const struct ws_report_allocation *one)
{
	const struct ws_report_exception *focus = page->report->focus;
	const struct ws_report_kernel *kernel = &page->report->kernels[focus->kernel];
	wsi_say(page, "%u", one->index);
	for (uint32_t i = 0; i < kernel->n_params; i++) {
		const struct ws_report_param *param = &kernel->params[i];
		if (param->ordinal != one->index || !param->name.len)
			continue;
		wsi_say(page, " ");
		wsi_str(page, WSI_CODE, param->name);
		wsi_say(page, one->field.len ? "." : "");
		wsi_str(page, WSI_CODE, one->field);
	}
	wsi_say(page, ", ");
}

/* What an address is; of several of a kind the first says it. */
static void allocation_label(struct wsi_page *page, enum ws_allocation_use use, bool is_first)
{
	if (!is_first)
		wsi_label(page, "");
	else if (use == WS_ALLOCATION_ACCESS)
		wsi_label(page, "Address");
	else if (use == WS_ALLOCATION_BASE)
		wsi_label(page, "Base");
	else if (use == WS_ALLOCATION_INDEX)
		wsi_label(page, "Index");
	else if (use == WS_ALLOCATION_WAIT)
		wsi_label(page, "Wait");
	else
		wsi_label(page, "Parameters");
}

static void allocation(struct wsi_page *page, const struct ws_report_allocation *one)
{
	if (one->use == WS_ALLOCATION_PARAMETER)
		say_parameter(page, one);
	else if (one->use == WS_ALLOCATION_WAIT)
		wsi_say(page, "%u, ", one->index + 1);
	wsi_render_run(page, WSI_CODE, "0x%" PRIx64, one->address);
	wsi_say(page, ": ");
	wsi_sentence(page, WSI_PLAIN, one->text);
}

void wsi_section_snapshot(struct wsi_page *page)
{
	const struct ws_report_snapshot *snapshot = &page->report->snapshot;
	if (snapshot->status == WS_ABSENT)
		return;
	wsi_section(page, "snapshot", "PyTorch's memory snapshot", WSI_DETAIL);
	facts(page, snapshot);
	if (snapshot->why) {
		wsi_label(page, "Not used");
		wsi_sentence(page, WSI_STRONG, snapshot->why);
		return;
	}
	wsi_label(page, "Assumed");
	wsi_sentence(page, WSI_PLAIN, snapshot->assumed);
	for (uint32_t i = 0; i < snapshot->n_allocations; i++) {
		const struct ws_report_allocation *one = &snapshot->allocations[i];
		allocation_label(page, one->use, i == 0 || one[-1].use != one->use);
		allocation(page, one);
	}
}
