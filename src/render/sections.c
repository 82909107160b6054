/* SPDX-License-Identifier: Apache-2.0 */
#include "render/sections.h"

unsigned wsi_sections(const struct ws_report *report, bool brief,
		      enum wsi_section order[WSI_N_SECTIONS])
{
	bool hang = report->verdict == WS_VERDICT_HANG;
	unsigned n = 0;
	order[n++] = WSI_SECTION_CAUSE;
	order[n++] = WSI_SECTION_NEXT;
	if (hang)
		order[n++] = WSI_SECTION_WAITS;
	order[n++] = WSI_SECTION_FAULT;
	if (brief)
		return n;
	for (int section = WSI_SECTION_ACCESS; section < WSI_N_SECTIONS; section++) {
		if (section == WSI_SECTION_MAP && !hang)
			order[n++] = WSI_SECTION_WAITS;
		order[n++] = (enum wsi_section)section;
	}
	return n;
}
