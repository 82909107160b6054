/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WSI_LIBRARY_H
#define WSI_LIBRARY_H

#include <warpscope/report.h>

#include "base/base.h"

/* Whether a source path lies in a folder of library code (data/library-paths.txt). */
bool wsi_library_path(struct ws_str path);
/* Whether a name fits a pattern, in which "*" is any number of characters. */
bool wsi_report_name_matches(struct ws_str name, struct ws_str pattern);
/* The last component of a path. */
struct ws_str wsi_report_file_name(struct ws_str path);
/* How many frames from `start` on a page folds: library code between the innermost frame and the
 * user's, or further out. 0: none. */
uint32_t wsi_library_frames(const struct ws_report_exception *e, uint32_t start);
enum { WSI_LIBRARY_NAMES = 4 };
/* Of the frames `from` to before `to` the first few libraries, each once: what stands before the
 * first "::" of a function's name, or its file. */
size_t wsi_library_names(const struct ws_report_exception *e, uint32_t from, uint32_t to,
			 struct ws_str names[WSI_LIBRARY_NAMES]);

#endif
