/* SPDX-License-Identifier: Apache-2.0 */
/* What `warpscope run` does when a kernel failed: the report, and the dump as CUDA would make it.
 */
#include "run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <warpscope/core.h>
#include <warpscope/report.h>
#include <warpscope/sim_target.h>
#include <warpscope/write.h>

/* ---- CUDA's variables ---- */

static uint32_t flags_wanted(void)
{
	struct ws_str unknown = { 0 };
	uint32_t flags = ws_write_flags_parse(getenv("CUDA_COREDUMP_GENERATION_FLAGS"), &unknown);
	if (unknown.len)
		cli_warn("CUDA_COREDUMP_GENERATION_FLAGS: '%.*s' is not known", (int)unknown.len,
			 unknown.ptr);
	return flags & WS_WRITE_KNOWN_FLAGS; /* a run never aborts */
}

const char *cli_run_dump_path(void)
{
	static char path[4096]; /* the time in it is that of the first call */
	const char *on = getenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
	const char *pattern = getenv("CUDA_COREDUMP_FILE");
	if (path[0] || !on || strcmp(on, "1") != 0)
		return path[0] ? path : NULL;
	if (!ws_write_name(pattern, (int)getpid(), path, sizeof path)) {
		path[0] = '\0';
		cli_warn("CUDA_COREDUMP_FILE is too long");
		return NULL;
	}
	return path;
}

/* ---- the report ---- */

static enum ws_status print_report(struct cli *cli, const struct ws_report *report,
				   struct ws_error *err)
{
	struct ws_text_options text = { .size = sizeof text,
					.color = cli->color,
					.columns = cli->columns };
	if (!cli->json)
		return ws_report_text(report, &text, &cli->out, err);
	ws_report_json(report, &cli->out);
	return WS_OK;
}

static int write_dump(const struct ws_target *target, const char *path)
{
	struct ws_error err;
	struct ws_write_options options = {
		.size = sizeof options, .flags = flags_wanted()
	}; /* without a time: the same run gives the same bytes */
	if (ws_write_target(target, path, &options, &err) != WS_OK)
		return cli_fail(path, &err);
	cli_say("warpscope run: the dump is %s\n", path);
	return CLI_ANSWERED;
}

int run_fault(struct cli *cli, struct ws_sim *sim, bool tells, const char *dump)
{
	struct ws_report_options options = { .size = sizeof options, .path = dump };
	struct ws_target *target;
	const struct ws_report *report;
	struct ws_error err;
	int status = CLI_FOUND;
	if (ws_sim_target(sim, &target, &err) != WS_OK)
		return cli_fail(NULL, &err);
	if (!tells) {
		status = CLI_FOUND;
	} else if (ws_report_create(target, &options, &report, &err) == WS_OK) {
		if (print_report(cli, report, &err) != WS_OK)
			status = cli_fail(NULL, &err);
		ws_report_destroy(report);
	} else {
		status = cli_fail(NULL, &err);
	}
	if (dump && write_dump(target, dump) != CLI_ANSWERED)
		status = CLI_NO_ANSWER;
	ws_target_close(target);
	return status;
}
