/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope diff: what differs between two dumps. */
#include "cli.h"

struct diff_query {
	struct cli_given limit;
};

const struct cli_option verb_diff_options[] = {
	{ "limit", 0, CLI_NUMBER, .at = offsetof(struct diff_query, limit) },
	{ 0 },
};

int verb_diff(struct cli *cli, int argc, char **argv)
{
	struct diff_query query = { .limit.value = 20 };
	struct ws_target *sides[2] = { NULL, NULL };
	struct ws_diff_counts counts;
	struct ws_error err;
	int status = cli_options_take(cli, verb_diff_options, &query, &argc, &argv);
	if (status == CLI_ANSWERED && argc != 2)
		status = cli_usage("diff", "two dumps are needed");
	for (int s = 0; s < 2 && status == CLI_ANSWERED; s++)
		status = cli_target_open(cli, argv[s], &sides[s]);
	if (status == CLI_ANSWERED) {
		const char *const paths[2] = { argv[0], argv[1] };
		const struct ws_answer_style style = cli_style(cli);
		enum ws_status st = ws_diff_answer(sides[0], sides[1], paths, query.limit.value,
						   &style, &counts, &err);
		status = st != WS_OK    ? cli_fail(NULL, &err)
			 : counts.total ? CLI_FOUND
					: CLI_ANSWERED;
	}
	for (int s = 0; s < 2; s++)
		cli_target_close(cli, sides[s]);
	return status;
}
