/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections of a page. Each says nothing when the report has nothing for it. Those of figures
 * say something in a rich form only.
 */
#ifndef WSI_RENDER_SECTIONS_H
#define WSI_RENDER_SECTIONS_H

#include "render/page.h"

/* All of them in their order. What the reader came for stands first: cause, next step, thread. */
void wsi_sections(struct wsi_page *page);

void wsi_section_cause(struct wsi_page *page);       /* what the exception means, likely causes */
void wsi_section_next(struct wsi_page *page);        /* what to try next */
void wsi_section_waits(struct wsi_page *page);       /* who waits for what */
void wsi_section_fault(struct wsi_page *page);       /* exception, precision, place */
void wsi_section_access(struct wsi_page *page);      /* what the instruction did */
void wsi_section_snapshot(struct wsi_page *page);    /* whose memory the addresses are */
void wsi_section_findings(struct wsi_page *page);    /* what the state shows about the exception */
void wsi_section_stack(struct wsi_page *page);       /* the calls */
void wsi_section_variables(struct wsi_page *page);   /* names of what the access used */
void wsi_section_listing(struct wsi_page *page);     /* machine code around it */
void wsi_section_launch(struct wsi_page *page);      /* kernel, grid, parameters */
void wsi_section_further(struct wsi_page *page);     /* the other exceptions */
void wsi_section_map(struct wsi_page *page);         /* picture of the devices */
void wsi_section_grids(struct wsi_page *page);       /* picture of the grids */
void wsi_section_groups(struct wsi_page *page);      /* where the threads are */
void wsi_section_image(struct wsi_page *page);       /* how the code was built */
void wsi_section_dump(struct wsi_page *page);        /* facts of the dump, what is missing */
void wsi_section_kernels(struct wsi_page *page);     /* whose code is there, where it is lost which
							ran */
void wsi_section_diagnostics(struct wsi_page *page); /* damage */
void wsi_section_signature(struct wsi_page *page);

#endif
