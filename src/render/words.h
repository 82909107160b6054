/* SPDX-License-Identifier: Apache-2.0 */
/* What every renderer says alike. */
#ifndef WSI_RENDER_WORDS_H
#define WSI_RENDER_WORDS_H

#include <warpscope/report.h>

#include "base/base.h"

/* The last component of a path. */
struct ws_str wsi_file_name(struct ws_str path);
/* "NVIDIA H200", or that it is lost. */
struct ws_str wsi_device_name(const struct ws_device *device);
/* Why a place has no function, in words. */
const char *wsi_function_missing(enum ws_status status);
/* How many frames from `start` on a page folds: library code between the innermost frame and the
 * user's, or further out. 0: none. */
uint32_t wsi_library_frames(const struct ws_report_exception *e, uint32_t start);
enum { WSI_LIBRARY_NAMES = 4 };
/* Of the frames `from` to before `to` the first few libraries, each once: what stands before the
 * first "::" of a function's name, or its file. */
size_t wsi_library_names(const struct ws_report_exception *e, uint32_t from, uint32_t to,
			 struct ws_str names[WSI_LIBRARY_NAMES]);
/* What the state shows of one lane of an access. */
const char *wsi_lane_verdict(const struct ws_report_access *access, uint32_t lane);
/* Whether more than the address of a frame is known: its line, or its function. */
bool wsi_has_place(const struct ws_report_frame *frame);
/* Whether the lane that cuda-gdb starts at cannot be guilty. */
bool wsi_focus_is_cleared(const struct ws_report_exception *e);
/* Whether the launch has clusters of more than one block. */
bool wsi_has_clusters(const struct ws_report *report, const struct ws_report_exception *e);
/* ", 2 of 16 blocks resident": a block that is not there has ended, or waits for room. */
void wsi_out_resident(struct ws_out *out, const struct ws_report *report,
		      const struct ws_report_kernel *kernel);
/* "resident", or "kept in this dump" when others were dropped from it. */
const char *wsi_resident_word(const struct ws_report *report);
/* What `strip` took away besides what flags leave out. */
void wsi_out_stripped(struct ws_out *out, uint32_t stripped);

/* The letter of a state in maps, in JSON and in the style sheet: F, T, B, A or D. */
char wsi_state_letter(enum ws_thread_state state);

enum { WSI_TIME_TEXT = 40 };
/* "2025-07-01 12:00:00 UTC"; false for a time that has no text. */
bool wsi_time_text(uint32_t seconds, char text[WSI_TIME_TEXT]);
/* "V13.0.88" of "Cuda compilation tools, release 13.0, V13.0.88". */
struct ws_str wsi_tool_version(struct ws_str version);
/* Whether an image has lines, and why not; the words end where the name of a debug image follows.
 */
const char *wsi_lines_words(const struct ws_report_image *image);
/* What a dump's flags say was left out, or "nothing". */
void wsi_out_left_out(struct ws_out *out, uint32_t flags);

/* "s", or nothing for one. */
const char *wsi_plural(uint64_t n);

#endif
