/* SPDX-License-Identifier: Apache-2.0 */
#include "render/words.h"

#include <time.h>

struct ws_str wsi_file_name(struct ws_str path)
{
	for (size_t i = path.len; i > 0; i--) {
		if (path.ptr[i - 1] == '/')
			return (struct ws_str){ path.ptr + i, path.len - i };
	}
	return path;
}

const char *wsi_function_missing(enum ws_status status)
{
	return status == WS_ABSENT        ? "no code of this dump"
	       : status == WS_UNSUPPORTED ? "a host address"
					  : ws_missing_word(status);
}

bool wsi_has_clusters(const struct ws_report *report, const struct ws_report_exception *e)
{
	if (e->kernel == WS_NONE)
		return false;
	const struct ws_grid *grid = &report->kernels[e->kernel].grid;
	const struct ws_dim3 *dim = &grid->cluster_dim;
	return grid->have & WS_GRID_CLUSTER && (dim->x > 1 || dim->y > 1 || dim->z > 1);
}

bool wsi_time_text(uint32_t seconds, char text[WSI_TIME_TEXT])
{
	time_t when = (time_t)seconds;
	struct tm utc;
	return gmtime_r(&when, &utc) &&
	       strftime(text, WSI_TIME_TEXT, "%Y-%m-%d %H:%M:%S UTC", &utc);
}

/* [public doc: CUDBGCoredumpGenerationFlags] */
void wsi_out_left_out(struct ws_out *out, uint32_t flags)
{
	static const char *const skipped[] = { "module images as in the file",
					       "global memory",
					       "shared memory",
					       "local memory",
					       NULL,
					       "constant banks" };
	const char *comma = "";
	for (unsigned i = 0; i < WSI_COUNT(skipped); i++) {
		if (skipped[i] && flags >> i & 1) {
			ws_out_printf(out, "%s%s", comma, skipped[i]);
			comma = ", ";
		}
	}
	if (!*comma)
		ws_out_text(out, "nothing");
}

char wsi_state_letter(enum ws_thread_state state)
{
	static const char letters[] = { [WS_THREAD_FAULTED] = 'F',
					[WS_THREAD_TRAPPED] = 'T',
					[WS_THREAD_BARRIER] = 'B',
					[WS_THREAD_ACTIVE] = 'A',
					[WS_THREAD_DIVERGENT] = 'D' };
	return (size_t)state < sizeof letters ? letters[state] : 'D';
}
