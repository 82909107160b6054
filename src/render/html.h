/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one HTML file: what its sections share. Each section is one function, which prints
 * nothing when the report has nothing for it; sections.h has their order.
 *
 * The page reads without scripts, loads nothing, and its content security policy names the hashes
 * of the one style sheet and the one script (page/), so that text of a dump could not run even if
 * it got past the escaping. For the same reason there are no style attributes: what depends on data
 * is drawn as SVG geometry or chosen by class.
 *
 * Text of the input goes through wsi_html_str() and nothing else, in element content and in quoted
 * attribute values alike.
 */
#ifndef WSI_RENDER_HTML_H
#define WSI_RENDER_HTML_H

#include <warpscope/report.h>

#include "base/base.h"
#include "render/words.h"

struct wsi_html {
	const struct ws_report *report;
	struct ws_text_options options;
	struct ws_out *out;
	enum ws_status status; /* WS_NO_MEMORY once a section had none */
};

/* ---- sections ---- */

void wsi_html_verdict(struct wsi_html *page);
/* What the exception means, and likely causes. */
void wsi_html_cause(struct wsi_html *page);
void wsi_html_next(struct wsi_html *page);
void wsi_html_map(struct wsi_html *page);
void wsi_html_fault(struct wsi_html *page);
/* A term of the box of the fault. */
void wsi_html_assertion(struct wsi_html *page, const struct ws_report_assertion *assertion);
void wsi_html_findings(struct wsi_html *page);
void wsi_html_access(struct wsi_html *page);
void wsi_html_stack(struct wsi_html *page);
void wsi_html_code(struct wsi_html *page);
void wsi_html_grids(struct wsi_html *page);
void wsi_html_waits(struct wsi_html *page);
void wsi_html_groups(struct wsi_html *page);
void wsi_html_further(struct wsi_html *page);
void wsi_html_launch(struct wsi_html *page);
void wsi_html_image(struct wsi_html *page);
void wsi_html_facts(struct wsi_html *page);
void wsi_html_diagnostics(struct wsi_html *page);
void wsi_html_signature(struct wsi_html *page);

/* The address of an access among the memory around it, as a picture. */
void wsi_html_ruler(struct wsi_html *page, const struct ws_report_access *access);
/* The data that the script shows of each warp. */
void wsi_html_map_data(struct wsi_html *page);

/* ---- words ---- */

/* Text of the input. */
void wsi_html_str(struct wsi_html *page, struct ws_str text);
void wsi_html_text(struct wsi_html *page, const char *text); /* a C string; NULL prints nothing */
/* Markup of ours: a string literal. */
#define wsi_html_raw(page, text) ws_out_text((page)->out, text)
/* The format is markup of ours; what %s and %c print is text, escaped. */
void wsi_html_printf(struct wsi_html *page, const char *format, ...) WS_PRINTF(2, 3);

/* <section> with a heading; `id` and `title` are ours. */
void wsi_html_section(struct wsi_html *page, const char *id, const char *title);
void wsi_html_section_end(struct wsi_html *page);
/* A row of a list of facts: term, then the value that the caller prints, then the end. */
void wsi_html_term(struct wsi_html *page, const char *term);
void wsi_html_term_end(struct wsi_html *page);
void wsi_html_hex(struct wsi_html *page, uint64_t value); /* "0x...", as code */
void wsi_html_dim(struct wsi_html *page, struct ws_dim3 dim);
/* The function of a place: brief, the whole name on demand. */
void wsi_html_function(struct wsi_html *page, const struct ws_report_frame *frame);
void wsi_html_line(struct wsi_html *page, const struct ws_report_frame *frame); /* "file.cu:7" */
void wsi_html_thread(struct wsi_html *page, const struct ws_report_thread *at);
/* An inference with how sure it is and why. */
void wsi_html_claim(struct wsi_html *page, const struct ws_report_claim *claim);
/* Sentences of ours in which `code` stands between backticks. */
void wsi_html_words(struct wsi_html *page, struct ws_str text);
void wsi_html_sentence(struct wsi_html *page, const char *text);
/* The frame that a user looks at first, or NULL. */
const struct ws_report_frame *wsi_html_user_frame(const struct ws_report_exception *e);

/* ---- states of threads ---- */

enum { WSI_N_STATES = WS_THREAD_DIVERGENT + 1 };

/* A sample of the state's look with its name and a count. */
void wsi_html_legend(struct wsi_html *page, const uint64_t counts[WSI_N_STATES], const char *unit);

#endif
