/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page as text and as Markdown: what its sections share. Each section is one function, which
 * prints nothing when the report has nothing for it; sections.h has their order. A section starts
 * with one of the titles below. The lines of its detail start with at least four spaces, so that
 * they cannot end the block that Markdown shows them in; whatever comes from the input is printed
 * by ws_out_escaped() there. In prose it stands between backquotes, which wsi_page_advice() knows.
 */
#ifndef WSI_RENDER_TEXT_H
#define WSI_RENDER_TEXT_H

#include <warpscope/out.h>
#include <warpscope/report.h>

#include "base/base.h"

struct wsi_page {
	const struct ws_report *report;
	struct ws_text_options options;
	struct ws_out *out;
	enum ws_status status; /* of the tables */
	bool markdown;
	enum wsi_page_open { WSI_OPEN_NOTHING, WSI_OPEN_BLOCK, WSI_OPEN_FOLDED } open;
};

/* ---- sections ---- */

/* What the exception means, and likely causes. */
void wsi_text_cause(struct wsi_page *page);
void wsi_text_next(struct wsi_page *page);
/* Exception, precision, place. */
void wsi_text_fault(struct wsi_page *page);
/* What the instruction did. */
void wsi_text_access(struct wsi_page *page);
/* What the state shows about the kind of exception. */
void wsi_text_findings(struct wsi_page *page);
void wsi_text_frames(struct wsi_page *page);
/* The machine code around it. */
void wsi_text_listing(struct wsi_page *page);
/* The kernel, its grid and its parameters. */
void wsi_text_launch(struct wsi_page *page);
void wsi_text_further(struct wsi_page *page);
void wsi_text_waits(struct wsi_page *page);
void wsi_text_groups(struct wsi_page *page);
void wsi_text_image(struct wsi_page *page);
void wsi_text_facts(struct wsi_page *page);
void wsi_text_kernels(struct wsi_page *page);
void wsi_text_diagnostics(struct wsi_page *page);
void wsi_text_signature(struct wsi_page *page);

/* Lines of the launch: the parameters. */
void wsi_text_params(struct wsi_page *page, const struct ws_report_exception *e);
/* Lines of a box: what a failed assertion says. */
void wsi_text_assertion(struct wsi_page *page, const struct ws_report_assertion *assertion);
/* A list in prose. */
void wsi_text_claims(struct wsi_page *page, const struct ws_report_claim *claims, uint32_t n);

/* ---- words ---- */

/* Changes the style where colour is on. */
void wsi_page_style(struct wsi_page *page, enum ws_style style);
/* Starts the detail of a section that has no title. */
void wsi_page_detail(struct wsi_page *page);
/* Starts a section of detail. `text` is ours and ends in a colon. */
void wsi_page_title(struct wsi_page *page, const char *text);
/* The same for one that Markdown folds: long, and not what is read first. */
void wsi_page_title_folded(struct wsi_page *page, const char *text);
/* Starts a section of prose. */
void wsi_page_title_prose(struct wsi_page *page, const char *text);
/* Ends what a title started; the titles do it too. */
void wsi_page_close(struct wsi_page *page);
/* Prose with text of the input in it: what Markdown would read as markup is escaped. */
void wsi_page_prose(struct wsi_page *page, struct ws_str text);
/* The same, but what stands between backticks is code. */
void wsi_page_advice(struct wsi_page *page, const char *text);
/* Starts a line "    label      " of a box. */
void wsi_page_label(struct wsi_page *page, const char *text);
void wsi_page_end_line(struct wsi_page *page);
void wsi_page_frame_name(struct wsi_page *page, const struct ws_report_frame *frame);
void wsi_page_dim(struct wsi_page *page, struct ws_dim3 dim);
/* Where the focus is, in cuda-gdb's order of coordinates. */
void wsi_page_thread(struct wsi_page *page, const struct ws_report_exception *e);

enum { WSI_WIDE_NAME = 76 }; /* C++ names up to here are shown whole */

/* The C++ name to show: whole when it is not too long, or when it was asked for. */
struct ws_str wsi_page_shown_name(const struct wsi_page *page, struct ws_str full,
				  struct ws_str brief);

/* ---- tables ---- */

/* NULL when memory is out, which `page->status` then says. */
struct ws_table *wsi_page_table_start(struct wsi_page *page, const struct ws_column *columns,
				      size_t n);
/* Prints and destroys the table. */
void wsi_page_table_done(struct wsi_page *page, struct ws_table *table);
void wsi_cell_line(struct ws_table *table, const struct ws_report_frame *frame);
void wsi_cell_function(struct ws_table *table, const struct ws_report_frame *frame);
void wsi_cell_thread(struct ws_table *table, const struct ws_report_thread *at);
/* How many of `n` rows to show: a screenful, unless all are asked for. */
uint32_t wsi_page_rows(const struct wsi_page *page, uint32_t n);

#endif
