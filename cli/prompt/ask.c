/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of the prompt that are verbs of the program, too: list, ptype, whatis, and those words
 * of info that are no tables of the dump. They are the prompt's own functions, on a dump that is
 * opened without a word, and answer with --json as well.
 */
#include "prompt/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/threads.h>

struct asking {
	struct debugger d; /* first: its options fill it */
	struct cli_given frame;
};

#define ASKING_FRAME                                                         \
	{                                                                    \
		"frame", 0, CLI_NUMBER, .at = offsetof(struct asking, frame) \
	}

const struct cli_option verb_list_options[] = {
	ASKING_FRAME,
	{ "source-map", 0, CLI_TAKE, .take = debug_take_map },
	{ "source-dir", 0, CLI_TAKE, .take = debug_take_dir },
	{ 0 },
};

const struct cli_option verb_ptype_options[] = {
	ASKING_FRAME,
	{ 0 },
};

const struct cli_option verb_whatis_options[] = {
	ASKING_FRAME,
	{ 0 },
};

void debug_answer(struct debugger *d, const char *name)
{
	struct cli_session session;
	char schema[40];
	const bool is_info = strcmp(d->cli->verb, "info") == 0;
	snprintf(schema, sizeof schema, "warpscope-%s-1", d->cli->verb);
	ws_json_begin(&d->json, &d->cli->out, schema);
	if (is_info)
		ws_json_key_text(&d->json, "table", name);
	ws_json_key(&d->json, "focus");
	if (session_open(&session, d->cli, d->dump) == CLI_ANSWERED)
		ws_threads_focus_json(&session.threads, &d->json);
	else
		ws_json_null(&d->json);
	session_close(&session);
	if (is_info)
		ws_json_key_u64(&d->json, "unreadable_warps", 0);
	ws_json_key(&d->json, name);
}

/* Opens a dump, and looks at the thread that words name, else at that of the report if there is
 * one. An exit status. */
static int open_at(struct debugger *d, const char *path, int argc, char **argv,
		   struct cli_given frame)
{
	struct frame_look look;
	struct ws_target *target;
	struct ws_focus focus;
	int status = cli_target_open(d->cli, path, &target);
	if (status != CLI_ANSWERED)
		return status;
	d->dump = cli_copy(path, strlen(path));
	status = debug_use(d, target);
	if (status != CLI_ANSWERED ||
	    (argc == 0 && !frame.given && ws_focus_find(d->target, &focus, NULL) != WS_OK))
		return status;
	status = look_open(&look, d->cli, path, argc, argv, frame);
	if (status == CLI_ANSWERED) {
		(void)debug_focus_on(d, look.session.threads.focus.warp_index,
				     look.session.threads.focus.lane);
		debug_frame_on(d, &look.stack, look.stack.at);
	}
	look_close(&look);
	return status;
}

/* Whether words begin a filter: "kernel 0", but not "kernel", which may be a function's name. */
static bool is_filter(int argc, char **argv)
{
	return argc > 1 && ws_filter_is_word(argv[0]) && !ws_filter_is_word(argv[1]);
}

/* The word that a question is about, "" for none; the words of a filter are left. */
static const char *subject_take(int *argc, char ***argv)
{
	if (*argc == 0 || is_filter(*argc, *argv))
		return "";
	--*argc;
	return *(*argv)++;
}

typedef bool answer_fn(struct debugger *d, const char *text);

/* A verb with a dump, a subject and a filter. `word`: of info. */
static int ask_verb(struct asking *asking, const char *path, int argc, char **argv,
		    answer_fn *answer, const char *word)
{
	struct debugger *d = &asking->d;
	const char *text = subject_take(&argc, &argv);
	int status = debug_begin(d);
	if (status == CLI_ANSWERED)
		status = open_at(d, path, argc, argv, asking->frame);
	if (status == CLI_ANSWERED)
		status = (answer ? answer(d, text) : debug_info_answer(d, word, text))
				 ? CLI_ANSWERED
				 : CLI_NO_ANSWER;
	if (status == CLI_ANSWERED && d->cli->json)
		ws_json_end(&d->json);
	debug_close(d);
	debug_fini(d);
	return status;
}

int debug_info_verb(struct cli *cli, const char *path, int argc, char **argv,
		    struct cli_given frame, struct cli_sources *sources)
{
	struct asking asking = { .d = { .cli = cli, .sources = *sources }, .frame = frame };
	*sources = (struct cli_sources){ 0 };
	return ask_verb(&asking, path, argc - 1, argv + 1, NULL, argv[0]);
}

static int verb(struct cli *cli, const struct cli_option *options, int argc, char **argv,
		answer_fn *answer)
{
	struct asking asking = { .d = { .cli = cli } };
	int status = cli_options_take(cli, options, &asking, &argc, &argv);
	if (status == CLI_ANSWERED && argc == 0)
		status = cli_usage(cli->verb, "which dump?");
	if (status == CLI_ANSWERED && (answer == debug_type || answer == debug_type_name) &&
	    (argc == 1 || is_filter(argc - 1, argv + 1)))
		status = cli_usage(cli->verb, "which type or expression?");
	if (status == CLI_ANSWERED)
		return ask_verb(&asking, argv[0], argc - 1, argv + 1, answer, NULL);
	debug_fini(&asking.d);
	return status;
}

int verb_list(struct cli *cli, int argc, char **argv)
{
	return verb(cli, verb_list_options, argc, argv, debug_list_lines);
}

int verb_ptype(struct cli *cli, int argc, char **argv)
{
	return verb(cli, verb_ptype_options, argc, argv, debug_type);
}

int verb_whatis(struct cli *cli, int argc, char **argv)
{
	return verb(cli, verb_whatis_options, argc, argv, debug_type_name);
}
