/* SPDX-License-Identifier: Apache-2.0 */
/* A report from the path of a dump. */
#include <warpscope/verbs.h>

#include "report/build.h"

enum ws_status ws_report_create_from_file(const char *path, const struct ws_report_options *options,
					  const struct ws_report **ret_report, struct ws_error *err)
{
	struct ws_report_options chosen = { .size = options ? options->size : sizeof chosen };
	struct ws_target *target;
	if (options && options->size == sizeof chosen) /* else ws_report_create() refuses them */
		chosen = *options;
	if (!chosen.path)
		chosen.path = path;
	enum ws_status st = ws_core_open(path, NULL, &target, err);
	if (st != WS_OK)
		return st;
	st = ws_report_create(target, &chosen, ret_report, err);
	if (st == WS_OK)
		wsi_report_own(*ret_report, target);
	else
		ws_target_close(target);
	return st;
}
