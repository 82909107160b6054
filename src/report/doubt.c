/* SPDX-License-Identifier: Apache-2.0 */
/* Reports impossible rows as diagnostics of a report. */
#include "report/build.h"

enum ws_status wsi_diagnose_doubt(struct wsi_build *build, const struct ws_doubt *doubt)
{
	static const char *const what[] = { [WS_HIDES_NOTHING] = "row",
					    [WS_HIDES_HANG] = "block or grid",
					    [WS_HIDES_FAULT] = "SM, warp or lane" };
	struct ws_error err = { .status = WS_MALFORMED, .file_off = WS_NO_OFFSET };
	(void)snprintf(err.message, sizeof err.message, "%s", doubt->message);
	return wsi_diagnose(build, what[doubt->hides], doubt->hides, &err);
}

struct noting {
	struct wsi_build *build;
	enum ws_status status;
};

static void note_report_doubt(void *user, const struct ws_doubt *doubt)
{
	struct noting *noting = user;
	if (wsi_diagnose_doubt(noting->build, doubt) != WS_OK)
		noting->status = WS_NO_MEMORY;
}

enum ws_status wsi_report_grid_doubts(struct wsi_build *build, const struct ws_grid *grid)
{
	struct noting noting = { build, WS_OK };
	ws_grid_doubts(grid, note_report_doubt, &noting);
	return noting.status;
}
