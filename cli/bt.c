/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope bt DUMP [FILTER...]: the stack of a thread, innermost first. */
#include "look.h"

struct backtrace_query {
	struct look_style style;
	struct cli_given limit, outer;
	bool full;
	enum ws_stack_arguments arguments;
};

static int take_arguments(void *query, const char *text)
{
	struct backtrace_query *bt = query;
	return cli_frame_arguments_find(text, &bt->arguments)
		       ? CLI_ANSWERED
		       : cli_usage("bt",
				   "--frame-arguments is scalars, all, none or presence, not '%s'",
				   text);
}

const struct cli_option verb_bt_options[] = {
	LOOK_STYLE_OPTIONS(struct backtrace_query, style),
	{ "limit", 0, CLI_NUMBER, .at = offsetof(struct backtrace_query, limit) },
	{ "outer", 0, CLI_NUMBER, .at = offsetof(struct backtrace_query, outer) },
	{ "full", 0, CLI_FLAG, .at = offsetof(struct backtrace_query, full) },
	{ "frame-arguments", 0, CLI_TAKE, .take = take_arguments },
	{ 0 },
};

static int show_frames(struct frame_look *look, const struct backtrace_query *query)
{
	const struct ws_answer_style style = cli_style(look->session.cli);
	const struct ws_bt bt = { query->limit.given ? query->limit.value : UINT64_MAX,
				  query->outer.given ? query->outer.value : UINT64_MAX,
				  query->full };
	struct ws_error err;
	look_use_style(look, &query->style);
	look->stack.arguments = query->arguments;
	return ws_bt_answer(&look->stack, &bt, &style, &err) == WS_OK
		       ? CLI_ANSWERED
		       : cli_fail(look->session.path, &err);
}

int verb_bt(struct cli *cli, int argc, char **argv)
{
	struct backtrace_query query = { .arguments = cli->frame_arguments };
	struct frame_look look;
	int status = cli_options_take(cli, verb_bt_options, &query, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc < 1)
		return cli_usage("bt", "which dump?");
	status = look_open(&look, cli, argv[0], argc - 1, argv + 1, (struct cli_given){ 0 });
	if (status == CLI_ANSWERED)
		status = show_frames(&look, &query);
	look_close(&look);
	return status;
}
