/* SPDX-License-Identifier: Apache-2.0 */
/* Where the source files that code names are on this machine. */
#ifndef WSI_REPORT_SEARCH_H
#define WSI_REPORT_SEARCH_H

#include <warpscope/report.h>

#include "base/base.h"
#include "base/regular.h"

enum { WSI_SOURCE_PATH = 8192, WSI_SOURCE_MAX = 16 << 20 /* bytes of a source */ };

struct wsi_source_search {
	const struct ws_report_options *options; /* borrowed: its maps and folders */
	const char *owner;                       /* of the paths: "dump" or "device" */
	uint32_t n_looked;                       /* names of paths that were looked up */
};

/* What was found. */
struct wsi_found_source {
	bool found;
	struct wsi_regular here; /* with `found` */
	bool changed;            /* as in struct ws_report_source */
	bool other_time;
	char why[256]; /* not found: what there is may not be shown; `changed`: how; or empty */
};

/* `path` is that of `file` as compiled in. */
void wsi_report_source_find(struct wsi_source_search *search, const struct ws_line_file *file,
			    const char *path, struct wsi_found_source *ret_source);
/* The line that starts at `rest`, which moves behind it; long ones are cut. */
struct ws_str wsi_report_source_line(struct ws_str *rest);

#endif
