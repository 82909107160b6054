/* SPDX-License-Identifier: Apache-2.0 */
/* What several sections say. */
#ifndef WSI_RENDER_WORDS_H
#define WSI_RENDER_WORDS_H

#include "render/page.h"
#include "report/library.h"

/* "NVIDIA H200", or that it is lost. */
struct ws_str wsi_device_name(const struct ws_device *device);
/* Whether more than the address of a frame is known: its line, or its function. */
bool wsi_has_place(const struct ws_report_frame *frame);
/* Whether the lane that cuda-gdb starts at cannot be guilty. */
bool wsi_focus_is_cleared(const struct ws_report_exception *e);
/* Whether the launch has clusters of more than one block. */
bool wsi_has_clusters(const struct ws_report *report, const struct ws_report_exception *e);
/* The frame that a user looks at first, or NULL. */
const struct ws_report_frame *wsi_user_frame(const struct ws_report_frame *frames, uint32_t n,
					     uint32_t user);
/* "resident", or "kept in this dump" when others were dropped from it. */
const char *wsi_resident_word(const struct ws_report *report);
/* The letter of a state in maps, in JSON and in the style sheet: F, T, B, A or D. */
char wsi_render_state_letter(enum ws_thread_state state);
/* The last sentence of a page, the same in every form: which values of registers and memory pages
 * show. The help and the manual quote it. */
extern const char wsi_foot[];
enum { WSI_TIME_TEXT = 40 };
/* "2025-07-01 12:00:00 UTC"; false for a time that has no text. */
bool wsi_time_text(uint32_t seconds, char text[WSI_TIME_TEXT]);
/* "V13.0.88" of "Cuda compilation tools, release 13.0, V13.0.88". */
struct ws_str wsi_tool_version(struct ws_str version);
/* Whether an image has lines, and why not; the words end where the name of a debug image follows.
 */
const char *wsi_lines_words(const struct ws_report_image *image);
/* "s", or nothing for one. */
const char *wsi_plural(uint64_t n);

/* How many of `n` rows to show, unless all are asked for. */
uint32_t wsi_render_rows(const struct wsi_page *page, uint32_t n);
enum { WSI_WIDE_NAME = 76 }; /* C++ names up to here are shown whole */
/* The C++ name to show: whole when it is not too long, or when it was asked for. */
struct ws_str wsi_shown_name(const struct wsi_page *page, struct ws_str full, struct ws_str brief);

/* ---- in an element ---- */

/* ", 2 of 16 blocks resident": a block that is not there has ended, or waits for room. */
void wsi_say_resident(struct wsi_page *page, const struct ws_report_kernel *kernel);
/* What `strip` took away besides what flags leave out. */
void wsi_say_stripped(struct wsi_page *page, uint32_t stripped);
/* What a dump's flags say was left out, or "nothing". */
void wsi_say_left_out(struct wsi_page *page, uint32_t flags);
/* Why something is not there. */
void wsi_say_status(struct wsi_page *page, enum ws_status status);
void wsi_say_function(struct wsi_page *page, const struct ws_report_frame *frame, bool brief);
/* "  kernel+0x120" */
void wsi_say_offset(struct wsi_page *page, const struct ws_report_frame *frame);
void wsi_say_path(struct wsi_page *page, struct ws_str file, uint32_t line);   /* "/a/file.cu:7" */
void wsi_say_line(struct wsi_page *page, const struct ws_report_frame *frame); /* "file.cu:7" */
/* "device 0, sm 2, warp 1, lane 0": as far as they are known. */
void wsi_say_hardware(struct wsi_page *page, const struct ws_report_thread *at);
/* "block (0,0,0), thread (1,0,0), device 0, ..." */
void wsi_say_thread(struct wsi_page *page, const struct ws_report_thread *at);
/* An inference with how sure it is and why. */
void wsi_say_claim(struct wsi_page *page, const struct ws_report_claim *claim);

/* ---- elements ---- */

/* "... and 3 more", unless there are none. */
void wsi_say_more(struct wsi_page *page, uint32_t n);
/* A cell with block and thread. */
void wsi_cell_thread(struct wsi_page *page, const struct ws_report_thread *at);
/* A fact that was inferred, if it was. */
void wsi_render_fact_claim(struct wsi_page *page, const char *label,
			   const struct ws_report_claim *claim);

#endif
