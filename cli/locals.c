/* SPDX-License-Identifier: Apache-2.0 */
/* warpscope locals DUMP [FILTER...]: arguments and variables of a frame. */
#include <stdlib.h>
#include <string.h>

#include "look.h"
#include "pattern.h"

struct locals_query {
	struct look_style style;
	struct cli_given frame;
	struct ws_locals locals; /* --only the other */
	const char *name, *type; /* regular expressions of what is shown; NULL: all */
};

static int take_only(void *query, const char *text)
{
	struct ws_locals *locals = &((struct locals_query *)query)->locals;
	locals->no_args = strcmp(text, "locals") == 0;
	locals->no_locals = strcmp(text, "args") == 0;
	return locals->no_args || locals->no_locals
		       ? CLI_ANSWERED
		       : cli_usage("locals", "--only is args or locals, not '%s'", text);
}

const struct cli_option verb_locals_options[] = {
	LOOK_STYLE_OPTIONS(struct locals_query, style),
	{ "frame", 0, CLI_NUMBER, .at = offsetof(struct locals_query, frame) },
	{ "only", 0, CLI_TAKE, .take = take_only },
	{ "name", 0, CLI_TEXT, .at = offsetof(struct locals_query, name) },
	{ "type", 0, CLI_TEXT, .at = offsetof(struct locals_query, type) },
	{ 0 },
};

struct patterns {
	struct pattern name, type;
};

/* A `ws_stack_wants_fn`. */
static bool is_asked_for(void *user, struct ws_str name, const char *type)
{
	const struct patterns *patterns = user;
	char *text = cli_copy(name.ptr, name.len);
	bool is = pattern_matches(&patterns->name, text) && pattern_matches(&patterns->type, type);
	free(text);
	return is;
}

static int show(struct frame_look *look, const struct locals_query *query,
		struct patterns *patterns)
{
	struct ws_stack *stack = &look->stack;
	struct ws_error err;
	look_use_style(look, &query->style);
	stack->wants = query->name || query->type ? is_asked_for : NULL;
	stack->wants_user = patterns;
	const struct ws_answer_style style = cli_style(look->session.cli);
	return ws_locals_answer(stack, &query->locals, &style, &err) == WS_OK
		       ? CLI_ANSWERED
		       : cli_fail(look->session.path, &err);
}

int verb_locals(struct cli *cli, int argc, char **argv)
{
	struct locals_query query = { 0 };
	struct frame_look look = { .stack = { .vars = NULL } };
	int status = cli_options_take(cli, verb_locals_options, &query, &argc, &argv);
	if (status != CLI_ANSWERED)
		return status;
	if (argc < 1)
		return cli_usage("locals", "which dump?");
	struct patterns patterns = { 0 };
	if (!pattern_init(&patterns.name, query.name ? query.name : "") ||
	    !pattern_init(&patterns.type, query.type ? query.type : ""))
		status = CLI_USAGE;
	else
		status = look_open(&look, cli, argv[0], argc - 1, argv + 1, query.frame);
	if (status == CLI_ANSWERED)
		status = show(&look, &query, &patterns);
	look_close(&look);
	pattern_fini(&patterns.name);
	pattern_fini(&patterns.type);
	return status;
}
