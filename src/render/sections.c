/* SPDX-License-Identifier: Apache-2.0 */
#include "render/sections.h"

void wsi_sections(struct wsi_page *page)
{
	static void (*const rest[])(struct wsi_page *) = {
		wsi_section_access,      wsi_section_snapshot,  wsi_section_findings,
		wsi_section_stack,       wsi_section_variables, wsi_section_listing,
		wsi_section_launch,      wsi_section_further,   wsi_section_waits,
		wsi_section_map,         wsi_section_grids,     wsi_section_groups,
		wsi_section_image,       wsi_section_dump,      wsi_section_kernels,
		wsi_section_diagnostics, wsi_section_signature,
	};
	/* Of a hang, who waits for what is the cause; else it tells where the others are. */
	bool hang = page->report->verdict == WS_VERDICT_HANG;
	wsi_section_cause(page);
	wsi_section_next(page);
	if (hang)
		wsi_section_waits(page);
	wsi_section_fault(page);
	for (size_t i = 0; i < WSI_COUNT(rest) && !page->options.brief; i++) {
		if (rest[i] != wsi_section_waits || !hang)
			rest[i](page);
	}
}
