/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope log: what logs tell of a failure that left no dump. */
#include "cli.h"

/* ---- reading ---- */

/* Reads what the command line names; false: not all could be read, and it was told why. */
static bool read_all_logs(struct cli *cli, struct ws_log *log, int n, char **paths)
{
	bool all = true;
	for (int i = 0; i < n; i++) {
		struct ws_error err;
		bool is_cut = false;
		enum ws_status st = ws_log_read(log, paths[i], cli->size_limit, &is_cut, &err);
		if (st == WS_ABSENT)
			cli_fail_advise(paths[i], &err, "; of a dump see: warpscope report DUMP");
		else if (st != WS_OK)
			cli_fail(paths[i], &err);
		else if (is_cut)
			cli_warn_cut(paths[i]);
		all &= st == WS_OK;
	}
	return all;
}

static int log_status_of(const struct ws_log_result *result, bool all)
{
	switch (result->verdict) {
	case WS_LOG_FAILED:
		return CLI_FOUND;
	case WS_LOG_HANGS:
		return CLI_HANG;
	case WS_LOG_CANNOT_TELL:
		return CLI_CANNOT_TELL;
	case WS_LOG_NOTHING:
		break;
	}
	return all ? CLI_ANSWERED : CLI_NO_ANSWER;
}

const struct cli_option verb_log_options[] = { { 0 } };

int verb_log(struct cli *cli, int argc, char **argv)
{
	const struct ws_log_result *result;
	struct ws_log *log;
	struct ws_error err;
	int status = cli_options_take(cli, verb_log_options, NULL, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc == 0)
		return cli_usage("log", "a LOG is needed; \"-\" is standard input");
	if (ws_log_create(&log, &err) != WS_OK)
		return cli_fail(NULL, &err);
	const bool all = read_all_logs(cli, log, argc, argv);
	status = CLI_NO_ANSWER;
	if (ws_log_judge(log, &result, &err) != WS_OK) {
		cli_fail(NULL, &err);
	} else if (result->n_files) {
		status = log_status_of(result, all);
		struct ws_answer_style style = cli_style(cli);
		style.columns = cli->wrap.columns;
		if (ws_log_answer(result, &style, &err) != WS_OK)
			status = cli_fail(NULL, &err);
	}
	ws_log_destroy(log);
	return status;
}
