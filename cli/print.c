/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope print DUMP EXPRESSION [FILTER...]: an expression in one thread, or with --lanes in all
 * lanes of its warp, or in all that the filter lets through. */
#include <string.h>

#include "look.h"

struct print_query {
	struct look_style style;
	struct cli_given frame;
	bool lanes;
};

const struct cli_option verb_print_options[] = {
	LOOK_STYLE_OPTIONS(struct print_query, style),
	{ "frame", 0, CLI_NUMBER, .at = offsetof(struct print_query, frame) },
	{ "lanes", 0, CLI_FLAG, .at = offsetof(struct print_query, lanes) },
	{ 0 },
};

/* The words that are a filter; none: the warp of the thread. */
static int print_filter_make(const struct frame_look *look, struct ws_filter *filter, int argc,
			     char **argv)
{
	static const enum ws_filter_word warp[] = { WS_FILTER_device, WS_FILTER_sm,
						    WS_FILTER_warp };
	const struct ws_coords *at = &look->session.threads.at;
	const char *bad;
	if (!ws_filter_parse(filter, at, argc, argv, &bad))
		return cli_usage("print", "'%s' is not a filter", bad);
	for (size_t i = 0; argc == 0 && i < sizeof warp / sizeof warp[0]; i++)
		ws_filter_current(filter, at, warp[i]);
	return CLI_ANSWERED;
}

int verb_print(struct cli *cli, int argc, char **argv)
{
	struct print_query query = { .lanes = false };
	struct ws_print print = { .expression = "" };
	struct ws_filter filter;
	struct ws_error err;
	struct frame_look look;
	int status = cli_options_take(cli, verb_print_options, &query, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	const struct ws_answer_style style = cli_style(cli);
	int at = argc > 1 && argv[1][0] == '/' && strlen(argv[1]) == 2 ? 2 : 1;
	if (argc > 1)
		print.expression = argv[1];
	if (!look_format(&print.expression, &print.format))
		return CLI_USAGE;
	if (argc <= at)
		return cli_usage("print", argc < 1 ? "which dump?" : "which expression?");
	if (at == 2)
		print.expression = argv[2];
	argc -= at + 1;
	status = look_open(&look, cli, argv[0], argc, argv + at + 1, query.frame);
	query.style.pretty &= !query.lanes;
	if (status == CLI_ANSWERED)
		look_use_style(&look, &query.style);
	if (status == CLI_ANSWERED && query.lanes) {
		print.lanes = &filter;
		status = print_filter_make(&look, &filter, argc, argv + at + 1);
	}
	if (status == CLI_ANSWERED && ws_print_answer(&look.stack, &print, &style, &err) != WS_OK)
		status = cli_fail(look.session.path, &err);
	look_close(&look);
	return status;
}
