/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope check: whether a dump is as its format says, and where it is not. */
#include "cli.h"

enum { /* shown of one rule, unless a limit is given; the rest is counted */
       MOST_IN_TEXT = 20,
       MOST_IN_JSON = 1000,
};

struct check_query {
	struct cli_given limit;
};

const struct cli_option verb_check_options[] = {
	{ "limit", 0, CLI_NUMBER, .at = offsetof(struct check_query, limit) },
	{ 0 },
};

static int run_check(struct cli *cli, const struct ws_core *core, const char *path, uint64_t limit)
{
	struct ws_check_summary summary;
	struct ws_error err;
	const struct ws_answer_style style = cli_style(cli);
	enum ws_status st = ws_check_answer(core, path, limit, &style, &summary, &err);
	return st != WS_OK ? cli_fail(path, &err) : summary.findings ? CLI_FOUND : CLI_ANSWERED;
}

int verb_check(struct cli *cli, int argc, char **argv)
{
	struct check_query query = { 0 };
	struct ws_target *target;
	if (cli_options_take(cli, verb_check_options, &query, &argc, &argv) != CLI_ANSWERED)
		return CLI_USAGE;
	if (!query.limit.given)
		query.limit.value = cli->json ? MOST_IN_JSON : MOST_IN_TEXT;
	if (argc != 1)
		return cli_usage("check", "exactly one dump is needed");
	int status = cli_target_open(cli, argv[0], &target);
	if (status != CLI_ANSWERED)
		return status;
	const struct ws_core *core = ws_target_core(target);
	if (core) {
		status = run_check(cli, core, argv[0], query.limit.value);
	} else {
		cli_warn("%s: only a dump file can be checked", argv[0]);
		status = CLI_NO_ANSWER;
	}
	cli_target_close(cli, target);
	return status;
}
