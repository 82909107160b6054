/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text page: what its sections share. Each section of the page is one function, which prints
 * nothing when the report has nothing for it; ws_report_text() in text.c lists them in order.
 */
#ifndef WSI_RENDER_TEXT_H
#define WSI_RENDER_TEXT_H

#include <warpscope/report.h>

#include "base/base.h"

struct wsi_page {
	const struct ws_report *report;
	struct ws_text_options options;
	struct ws_out *out;
	enum ws_status status; /* of the tables */
};

/* ---- sections ---- */

/* The box below the verdict: exception, precision, place, launch. */
void wsi_text_fault(struct wsi_page *page, const struct ws_report_exception *e);
void wsi_text_frames(struct wsi_page *page, const struct ws_report_exception *e);
void wsi_text_further(struct wsi_page *page);
void wsi_text_groups(struct wsi_page *page);
void wsi_text_facts(struct wsi_page *page);
void wsi_text_code(struct wsi_page *page);
void wsi_text_diagnostics(struct wsi_page *page);
void wsi_text_advice(struct wsi_page *page);

/* ---- words ---- */

#define WSI_BOLD "\033[1m"
#define WSI_RED "\033[1;31m"
#define WSI_DIM "\033[2m"
#define WSI_PLAIN "\033[0m"

/* Writes an escape sequence where colour is on. */
void wsi_page_style(struct wsi_page *page, const char *sequence);
/* Starts a section: an empty line, the title, an empty line. */
void wsi_page_title(struct wsi_page *page, const char *text);
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
