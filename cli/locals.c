/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope locals DUMP [FILTER...]: arguments and variables of a frame. */
#include <string.h>

#include "look/look.h"

struct locals {
	struct look_style style;
	struct cli_given frame;
	bool no_args, no_locals; /* --only the other */
	const char *name, *type; /* regular expressions of what is shown; NULL: all */
};

static int take_only(void *query, const char *text)
{
	struct locals *locals = query;
	locals->no_args = strcmp(text, "locals") == 0;
	locals->no_locals = strcmp(text, "args") == 0;
	return locals->no_args || locals->no_locals
		       ? CLI_ANSWERED
		       : cli_usage("locals", "--only is args or locals, not '%s'", text);
}

const struct cli_option verb_locals_options[] = {
	LOOK_STYLE_OPTIONS(struct locals, style),
	{ "frame", 0, CLI_NUMBER, .at = offsetof(struct locals, frame) },
	{ "only", 0, CLI_TAKE, .take = take_only },
	{ "name", 0, CLI_TEXT, .at = offsetof(struct locals, name) },
	{ "type", 0, CLI_TEXT, .at = offsetof(struct locals, type) },
	{ 0 },
};

/* The lists, or why there are none. An exit status. */
static int show_json(struct look *look)
{
	struct cli *cli = look->session.cli;
	struct ws_json json;
	struct ws_error err;
	enum ws_status st = WS_OK;
	ws_json_begin(&json, &cli->out, "warpscope-locals-1");
	ws_json_key(&json, "focus");
	ws_threads_focus_json(&look->session.threads, &json);
	ws_json_key(&json, "frame");
	look_json_frame(look, look->at, false, &json);
	ws_json_key_array(&json, "locals");
	(void)look_list(look, false, NULL, &json, &st, &err);
	ws_json_end(&json);
	if (st != WS_OK) {
		enum ws_status params;
		ws_json_key_text(&json, "locals_why", ws_missing_word(st));
		ws_json_key_array(&json, "parameters");
		(void)look_list_params(look, NULL, &json, &params, &err);
		ws_json_end(&json);
		ws_json_key_array(&json, "registers");
		(void)look_list_held(look, NULL, &json);
		ws_json_end(&json);
	}
	ws_json_end(&json);
	return CLI_ANSWERED;
}

/* Of a function that a kernel calls, whose arguments are in registers of the compiler's choice:
 * they need not be those of the ABI. [measured: nvcc 13.0 -O3, tests/kernels/calls.cu] False: the
 * frame is none of these. */
static bool say_no_arguments(struct look *look, struct ws_out *out)
{
	const size_t last = look->n_frames - 1;
	const struct ws_frame *frame = ws_vars_frame(look->vars, look->frames[look->at].level);
	const struct ws_frame *outer = ws_vars_frame(look->vars, look->frames[last].level);
	if (frame->status != WS_OK || !frame->place.function || frame->place.function->is_kernel)
		return false;
	ws_out_text(out, "No arguments: without -G nothing tells which registers they are in.\n");
	if (outer->status == WS_OK && outer->place.function && outer->place.function->is_kernel)
		ws_out_printf(out, "Those of the kernel are in frame %zu.\n", last);
	return true;
}

/* The same of code that was not compiled with -G. `wrong` is why it has no variables. */
static int show_unnamed(struct look *look, const struct locals *locals,
			const struct ws_error *wrong)
{
	struct ws_out *out = &look->session.cli->out;
	struct ws_error err;
	enum ws_status st = WS_OK;
	if (!locals->no_args && look->frames[look->at].inlined)
		ws_out_text(out, "Parameters of the kernel, which this is inlined into:\n");
	if (!locals->no_args && look_list_params(look, out, NULL, &st, &err) == 0 && st == WS_OK)
		ws_out_text(out, "No arguments.\n");
	if (!locals->no_args && st != WS_OK && !say_no_arguments(look, out))
		return cli_fail(look->session.path, wrong);
	if (locals->no_locals)
		return CLI_ANSWERED;
	ws_out_printf(out, "No variables: %s.\n", wrong->message);
	(void)look_list_held(look, out, NULL);
	return CLI_ANSWERED;
}

static int show_text(struct look *look, const struct locals *locals)
{
	struct ws_out *out = &look->session.cli->out;
	struct ws_error err;
	enum ws_status st = WS_OK;
	bool alone = locals->no_args || locals->no_locals;
	if (!alone) {
		ws_threads_focus_text(&look->session.threads, out);
		ws_out_text(out, "\n");
		look_print_frame(look, look->at, out);
	}
	size_t n_args = locals->no_args ? 1 : look_list(look, true, out, NULL, &st, &err);
	const char *matching = locals->name || locals->type ? "matching " : "";
	if (st == WS_OK && !locals->no_args && n_args == 0)
		ws_out_printf(out, "No %sarguments.\n", matching);
	size_t n_locals =
		locals->no_locals || st != WS_OK ? 1 : look_list(look, false, out, NULL, &st, &err);
	if (st != WS_OK)
		return show_unnamed(look, locals, &err);
	if (n_locals == 0)
		ws_out_printf(out, "No %slocals.\n", matching);
	return CLI_ANSWERED;
}

int verb_locals(struct cli *cli, int argc, char **argv)
{
	struct locals locals = { 0 };
	struct look look = { .vars = NULL };
	int status = cli_options_take(cli, verb_locals_options, &locals, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc < 1)
		return cli_usage("locals", "which dump?");
	struct pattern names, types;
	const char *name = locals.name ? locals.name : "", *type = locals.type ? locals.type : "";
	if (!pattern_init(&names, name))
		return CLI_USAGE;
	if (!pattern_init(&types, type)) {
		pattern_fini(&names);
		return CLI_USAGE;
	}
	status = look_open(&look, cli, argv[0], argc - 1, argv + 1, locals.frame);
	look.names = &names;
	look.types = &types;
	if (status == CLI_ANSWERED)
		look_use_style(&look, &locals.style);
	if (status == CLI_ANSWERED)
		status = cli->json ? show_json(&look) : show_text(&look, &locals);
	look_close(&look);
	pattern_fini(&names);
	pattern_fini(&types);
	return status;
}
