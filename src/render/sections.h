/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections of a page and their order: the one place that text, Markdown and HTML take it from.
 * A renderer has a function for each, which prints nothing when the report has nothing for it, or
 * none where its form has no such section.
 */
#ifndef WSI_RENDER_SECTIONS_H
#define WSI_RENDER_SECTIONS_H

#include <warpscope/report.h>

enum wsi_section {
	WSI_SECTION_CAUSE,       /* what the exception means, likely causes */
	WSI_SECTION_NEXT,        /* what to try next */
	WSI_SECTION_WAITS,       /* who waits for what */
	WSI_SECTION_FAULT,       /* exception, precision, place */
	WSI_SECTION_ACCESS,      /* what the instruction did */
	WSI_SECTION_FINDINGS,    /* what the state shows about the kind of exception */
	WSI_SECTION_STACK,       /* the calls */
	WSI_SECTION_LISTING,     /* machine code around it */
	WSI_SECTION_LAUNCH,      /* kernel, grid, parameters */
	WSI_SECTION_FURTHER,     /* the other exceptions */
	WSI_SECTION_MAP,         /* picture of the devices */
	WSI_SECTION_GRIDS,       /* picture of the grids */
	WSI_SECTION_GROUPS,      /* where the threads are */
	WSI_SECTION_IMAGE,       /* how the code was built */
	WSI_SECTION_DUMP,        /* facts of the dump, what is missing */
	WSI_SECTION_KERNELS,     /* whose code is there, where it is lost which ran */
	WSI_SECTION_DIAGNOSTICS, /* damage */
	WSI_SECTION_SIGNATURE,
	WSI_N_SECTIONS
};

/*
 * The sections in the order of the page; returns how many. What the reader came for stands first:
 * cause, next step, thread. `brief` is that first screen alone. Of a hang, who waits for what is
 * the cause; else it tells where the others are.
 */
unsigned wsi_sections(const struct ws_report *report, bool brief,
		      enum wsi_section order[WSI_N_SECTIONS]);

#endif
