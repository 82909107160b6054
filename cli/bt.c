/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope bt DUMP [FILTER...]: the stack of a thread, innermost first. */
#include <inttypes.h>

#include "look/look.h"

struct bt {
	struct look_style style;
	struct cli_given limit; /* of innermost frames */
	struct cli_given outer; /* of outermost ones */
	bool full;
	enum cli_frame_arguments arguments;
};

static int take_arguments(void *query, const char *text)
{
	struct bt *bt = query;
	return cli_frame_arguments_find(text, &bt->arguments)
		       ? CLI_ANSWERED
		       : cli_usage("bt",
				   "--frame-arguments is scalars, all, none or presence, not '%s'",
				   text);
}

const struct cli_option verb_bt_options[] = {
	LOOK_STYLE_OPTIONS(struct bt, style),
	{ "limit", 0, CLI_NUMBER, .at = offsetof(struct bt, limit) },
	{ "outer", 0, CLI_NUMBER, .at = offsetof(struct bt, outer) },
	{ "full", 0, CLI_FLAG, .at = offsetof(struct bt, full) },
	{ "frame-arguments", 0, CLI_TAKE, .take = take_arguments },
	{ 0 },
};

static void show(struct look *look, const struct bt *bt)
{
	struct cli *cli = look->session.cli;
	size_t first = 0, end = look->n_frames;
	if (bt->limit.given && bt->limit.value < end)
		end = (size_t)bt->limit.value;
	if (bt->outer.given && bt->outer.value < end)
		first = end - (size_t)bt->outer.value;
	size_t left_out = look->n_frames - end + ws_vars_frames_left_out(look->vars);
	struct ws_json json;
	if (cli->json) {
		ws_json_begin(&json, &cli->out, "warpscope-bt-1");
		ws_json_key(&json, "focus");
		ws_threads_focus_json(&look->session.threads, &json);
		ws_json_key_array(&json, "frames");
		for (size_t i = first; i < end; i++)
			look_json_frame(look, i, bt->full, &json);
		ws_json_end(&json);
		ws_json_key_u64(&json, "left_out", left_out);
		ws_json_key_u64(&json, "in_system", ws_vars_frames_in_system(look->vars));
		ws_json_end(&json);
		return;
	}
	const uint32_t hidden = first == 0 ? ws_vars_frames_in_system(look->vars) : 0;
	if (hidden)
		ws_out_printf(&cli->out, "(%u frame%s of a system call %s not shown)\n", hidden,
			      hidden == 1 ? "" : "s", hidden == 1 ? "is" : "are");
	for (size_t i = first; i < end; i++) {
		look_print_frame(look, i, &cli->out);
		if (bt->full)
			look_print_variables(look, i, &cli->out);
	}
	if (left_out)
		ws_out_text(&cli->out, "(More stack frames follow...)\n");
}

int verb_bt(struct cli *cli, int argc, char **argv)
{
	struct bt bt = { .arguments = cli->frame_arguments };
	struct look look = { .vars = NULL };
	int status = cli_options_take(cli, verb_bt_options, &bt, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc < 1)
		return cli_usage("bt", "which dump?");
	status = look_open(&look, cli, argv[0], argc - 1, argv + 1, (struct cli_given){ 0 });
	if (status == CLI_ANSWERED)
		look_use_style(&look, &bt.style);
	look.arguments = bt.arguments;
	if (status == CLI_ANSWERED)
		show(&look, &bt);
	look_close(&look);
	return status;
}
