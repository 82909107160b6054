/* SPDX-License-Identifier: Apache-2.0 */
#include "look.h"

#include <inttypes.h>
#include <string.h>

static int look_at_dump(struct frame_look *look, int argc, char **argv, struct cli_given number)
{
	struct cli_session *session = &look->session;
	struct ws_stack *stack = &look->stack;
	struct cli *cli = session->cli;
	struct ws_filter filter;
	struct ws_focus focus;
	struct ws_error err;
	const char *bad = "";
	if (!ws_filter_parse(&filter, &session->threads.at, argc, argv, &bad))
		return cli_usage(cli->verb, "'%s' is not a filter", bad);
	if (argc == 0)
		session_limit_to_suspect(session, &filter);
	if (!ws_threads_first(&session->threads, &filter, &focus)) {
		cli_say("%s: there is no such thread.\n", session->path);
		return CLI_NO_ANSWER;
	}
	ws_threads_focus_on(&session->threads, &focus);
	if (ws_stack_open(stack, &session->threads, &err) != WS_OK)
		return cli_fail(session->path, &err);
	stack->arguments = cli->frame_arguments;
	look_use_style(look, &(struct look_style){ .pretty = false });
	if (number.given && number.value >= stack->n_frames) {
		cli_say("%s: the thread has %zu frames; there is no frame %" PRIu64 ".\n",
			session->path, stack->n_frames, number.value);
		return CLI_NO_ANSWER;
	}
	size_t at = number.given ? (size_t)number.value : argc == 0 ? cli->frame : 0;
	if (ws_stack_select(stack, at < stack->n_frames ? at : 0, &err) != WS_OK)
		return cli_fail(session->path, &err);
	return CLI_ANSWERED;
}

int look_open(struct frame_look *look, struct cli *cli, const char *path, int argc, char **argv,
	      struct cli_given number)
{
	memset(look, 0, sizeof *look);
	int status = session_open(&look->session, cli, path);
	return status == CLI_ANSWERED ? look_at_dump(look, argc, argv, number) : status;
}

void look_close(struct frame_look *look)
{
	ws_stack_close(&look->stack);
	session_close(&look->session);
}

void look_print_frame(struct frame_look *look, size_t number, bool place)
{
	struct ws_error err;
	if (ws_stack_frame_text(&look->stack, number, place, &look->session.cli->out, &err) !=
	    WS_OK)
		cli_fail(look->session.path, &err);
}

/* ---- how values are shown ---- */

void look_use_style(struct frame_look *look, const struct look_style *given)
{
	struct ws_value_style style = look->session.cli->style;
	if (given->elements.given)
		style.elements = cli_most(given->elements.value);
	if (given->repeats.given)
		style.repeats = cli_most(given->repeats.value);
	style.is_pretty = (style.is_pretty || given->pretty) && !look->session.cli->json;
	ws_vars_set_style(look->stack.vars, style);
}

bool look_format(const char **text, struct ws_value_format *ret_format)
{
	const char *at = *text;
	if (*at != '/')
		return true;
	char letter = at[1];
	if (!letter || !strchr("xzduotcfasr", letter) || (at[2] && at[2] != ' ')) {
		cli_say("A format is one of x, z, d, u, o, t, c, f, a and s, not '%.*s'.\n",
			(int)strcspn(at + 1, " "), at + 1);
		return false;
	}
	ret_format->letter = letter == 'r' ? '\0' : letter; /* raw: nothing is dressed here */
	*text = at + 2 + strspn(at + 2, " ");
	return true;
}
